"""JASCO: joint audio-speech co-reasoning, scored by a language model as judge.

``count.join`` matches answers to questions, ``count.count`` reads the judge's texts and counts
them in both ways, ``report.tables`` and ``report.notices`` present the result, and ``report.score`` is all four;
``judging`` has the questions to the judge, and reads its texts.
"""
