"""Several systems held against each other: differences with intervals, tests, ranks, and where they differ.

:mod:`~seldio.scores.comparison.pairs` makes the tables that labels and answers share, from scores of resamples;
:mod:`~seldio.scores.comparison.labels` and :mod:`~seldio.scores.comparison.answers` make these.
"""
