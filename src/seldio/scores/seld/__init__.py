"""Scores of sound event localization and detection, as the official programs of DCASE Task 3 compute them.

``join.join`` finds what is compared, ``score_labels.count`` counts it part by part, ``report.tables`` makes the tables
of the sums, and ``report.notices`` says what there is to know about them; ``score_labels.score_labels`` is all four.
"""
