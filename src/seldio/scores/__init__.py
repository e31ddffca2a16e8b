"""Scorers: from tables and rows to numbers that agree with the official programs."""
