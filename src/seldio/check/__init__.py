"""Checking and repairing: from parts of a source to findings that count everything and stop at nothing."""
