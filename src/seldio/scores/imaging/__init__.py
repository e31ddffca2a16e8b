"""Semantic acoustic imaging (DCASE 2026 Task 3): energy maps of sources, compared with those of labels.

``energy_maps`` draws the polygons of an annotation as the official program does, ``count`` pairs the maps of each frame
and class and scores them, ``report`` presents the result, and ``score_maps`` goes from paths to a report.
"""
