"""Several systems held against each other: differences with intervals, tests, ranks, and where they differ.

:mod:`~seldio.scores.comparison.pairs` compares systems, each of which is a matrix of clips and a function of its sum;
:mod:`~seldio.scores.comparison.clips` and :mod:`~seldio.scores.comparison.answers` bring these.
"""
