"""Semantic acoustic imaging (DCASE 2026 Task 3): energy maps of sources, compared with those of labels."""
