"""Finished files of exports, which the same export uses again."""
