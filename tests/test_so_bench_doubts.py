"""What texts do not say for sure is read as nothing: denials, ranges, alternatives, and numbers of something else."""

from __future__ import annotations

from itertools import product

import pytest
from effort import as_one

from seldio.answers import measures
from seldio.answers.words import plainly

READERS = {
    "azimuth": (measures.azimuth, "{} degrees"),
    "elevation": (measures.elevation, "{} degrees"),
    "distance": (measures.metres, "{} m"),
    "onset": (measures.onset, "{} s"),
    "count": (measures.count, "{} sources"),
}
each = pytest.mark.parametrize("about", READERS)


@as_one
@each
@pytest.mark.parametrize(
    "frame", ["between {0} and {1}", "{0} to {1}", "{0}-{1}", "{0} or {1}", "{0} or maybe {1}", "either {0} or {1}",
              "from about {0} to {1}, hard to say", "{0}, possibly {1}", "{0}/{1}", "somewhere between {0} and {1}",
              "It is about {0} to {1}"]
)  # fmt: skip
def test_a_range_or_a_choice_has_no_value(about: str, frame: str) -> None:
    reader, quantity = READERS[about]
    last = 44 if about in ("azimuth", "elevation") else 4  # the middle of a range of few degrees is an answer
    text = plainly(
        quantity.format(frame.format(2, last)) if frame[0] == "{" else frame.format(2, quantity.format(last))
    )
    if about == "onset" and frame.startswith("from"):
        return  # "from 2 to 4 s" says when it begins
    assert reader(text) is None, text


def test_plus_or_minus_is_no_sign() -> None:
    for words in ("plus or minus", "plus/minus", "plus-minus", "positive or negative", "+/-", "±"):
        assert measures.azimuth(plainly(f"{words} 30 degrees")) is None
        assert measures.azimuth(plainly(f"40 degrees {words} 5 degrees")) == 40


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("front left", {"front", "left"}), ("in front, to the left", {"front", "left"}), ("front or left", None),
        ("left/right", None), ("to the left or to the right", None), ("It doesn't come from the left", None),
        ("neither left nor right", None), ("above or below", None), ("without the left", None),
    ],
)  # fmt: skip
def test_directions(text: str, found: set[str] | None) -> None:
    assert measures.directions(plainly(text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("not left", {"right"}), ("It isn't on the left", {"right"}), ("left, not right", {"left"}),
        ("not on the left but on the right", {"right"}), ("not sure if left", {"left", "right"}),
        ("I don't know whether it is on the left", {"left", "right"}),
    ],
)  # fmt: skip
def test_sides(text: str, found: set[str]) -> None:
    assert {side for side, _ in measures.sides(plainly(text))} == found


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("It is not moving", "stationary"), ("It doesn't move", "stationary"), ("It is not moving away", None),
        ("It does not move closer", None), ("It moves left or right", None), ("It moves left and then right", None),
        ("It doesn't seem to approach", None), ("It moves from right to left", "moving_left"),
        ("The laughter remains stationary throughout its duration.", "stationary"), ("not stationary", "moving"),
        ("It's moving away", "moving_away"), ("gets closer", "moving_toward"), ("not approaching", None), ("loud", None),
        ("moves from left to right", "moving_right"), ("It moves to the left.", "moving_left"), ("static", "stationary"),
        ("approaches, then recedes", None),
    ],
)  # fmt: skip
def test_motions(text: str, label: str | None) -> None:
    assert measures.motion(plainly(text)) == label


@pytest.mark.parametrize(("unit", "kind"), [("degrees", "azimuth"), ("m", "distance"), ("s", "onset")])
def test_denials_do_not_reach_over_the_next_number(unit: str, kind: str) -> None:
    """A value that is given beside a denied one of another kind stays."""
    others = {"degrees": "3 m", "m": "30 degrees", "s": "30 degrees"}
    for denied, glue in product(("not {}", "It isn't {}"), (". It is ", ", but ")):
        text = denied.format(others[unit]) + glue + f"2 {unit}"
        assert READERS[kind][0](plainly(text)) == 2, text
