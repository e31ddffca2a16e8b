"""Scores of sound event localization and detection, as the official programs of DCASE Task 3 compute them."""
