"""Scores of sound event localization and detection, by the official programs of each year and by definition."""
