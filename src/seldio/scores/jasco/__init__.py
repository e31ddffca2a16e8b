"""JASCO: joint audio-speech co-reasoning, scored by a language model as judge.

``count.join`` says which questions a file answers, ``count.count`` reads the judge's texts and counts them in both
ways, ``report.tables`` and ``report.notices`` say what comes out, and ``report.score`` is all four; ``judging`` is what
the judge is asked, and how its texts are read.
"""
