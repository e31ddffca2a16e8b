"""Scores of sound event localization and detection, as the official programs of DCASE Task 3 compute them.

``seld_join.join`` finds what is compared, ``seld_count.count`` counts it part by part, ``seld_tables.tables`` makes the
tables of the sums, and ``seld_notices.notices`` says what there is to know about them; ``score_labels`` is all four.
"""
