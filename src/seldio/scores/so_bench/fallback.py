"""What the official program makes of a prediction when the judge does not answer: the first number for everything.

Kept to repeat published numbers that were made so, never to read predictions well: it takes the hyphen of
``18.4s-20.0s`` for a minus sign, 1 from ``1,200``, 5 from ``.5``, and knows no names of sounds.
"""

from __future__ import annotations

import re

from seldio.scores.so_bench.judgement import Judgement, judgement

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def official_fallback(text: str) -> Judgement:
    """The judgement that the official program makes up from *text* alone."""
    numbers = [float(found) for found in _NUMBER.findall(text)]
    first = numbers[0] if numbers else None
    plain = " ".join(text.lower().split())
    said = {
        "angle_deg": first,
        "elevation_deg": first,
        "distance_m": first,
        "time_span": sorted(numbers[:2]) if len(numbers) > 1 else None,
        "onset_time_s": first,
        "count": None if first is None else int(first),
        "yes_no": next((word for word in ("no", "yes") if re.search(rf"\b{word}\b", plain)), None),
        "left_right": _first_of(plain, "left", "right"),
        "height_relation": _first_of(plain, "higher", "lower", "same"),
        "distance_relation": _first_of(plain, "closer", "farther", "same"),
    }
    return judgement(said, notes="local regex fallback only")


def _first_of(text: str, *choices: str) -> str | None:
    return next((choice for choice in choices if choice in text), None)
