"""SO-Bench: how its answers are scored, with the official program's numbers and without its traps.

``profiles`` are the protocols as data, ``join.join`` says which prediction answers which question, ``count.count``
scores each pair, ``report.tables`` and ``report.notices`` say what comes out, and ``report.score`` is all four.
``judging`` is what a judge is asked; what can be read without one is read by :mod:`seldio.answers`.
"""
