"""SO-Bench: how its answers are scored, with the official program's numbers and without its traps.

``profiles`` are the protocols as data, ``join`` tells which prediction answers which question, ``extract`` reads
what can be read without a judge, ``prompt`` is what a judge is told, ``evaluate`` makes a score of a judgement,
``aggregate`` and ``notices`` the report, and :func:`seldio.scores.so_bench.score.score` does all of it.
"""
