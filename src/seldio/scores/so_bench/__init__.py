"""SO-Bench: how its answers are scored, with the official program's numbers and without its traps.

``profiles`` are the protocols as data, ``join`` says which prediction answers which question, ``judging`` is what a
judge is asked, ``evaluate`` makes a score of a judgement, ``report`` the tables and notices, and
:func:`seldio.scores.so_bench.score.score` does all of it. What can be read without a judge is read by
:mod:`seldio.answers`.
"""
