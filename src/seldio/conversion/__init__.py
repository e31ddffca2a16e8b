"""Conversion between formats, which says what would be lost before anything is written."""
