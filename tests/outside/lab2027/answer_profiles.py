"""How we score answers of SO-Bench."""

from __future__ import annotations

from seldio.scores.so_bench.profiles import AnswerProfile

ANSWER_PROFILES = (
    AnswerProfile(
        name="so-bench-lab2027",
        title="SO-Bench with the limits of our lab: 5° azimuth, 5° elevation",
        program="none",
        azimuth=5.0,
        elevation=5.0,
    ),
)
