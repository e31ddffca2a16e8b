"""What texts do not say for sure is read as nothing: denials, ranges, alternatives, and numbers of something else."""

from __future__ import annotations

from itertools import product

import pytest
from effort import as_one

from seldio.answers import bearings, measures, quantities
from seldio.answers.plain_text import plainly

READERS = {
    "azimuth": (measures.azimuth, "{} degrees"),
    "elevation": (measures.elevation, "{} degrees"),
    "distance": (measures.metres, "{} m"),
    "onset": (measures.onset, "{} s"),
    "count": (quantities.count, "{} sources"),
}
each = pytest.mark.parametrize("about", READERS)

#: Around any number: the text then gives another one, several, or none.
DENIALS = (
    "not {}", "not at {}", "It is not {}.", "It isn't {}.", "It doesn't come from {}.", "It cannot be {}", "never {}",
    "It is anything but {}", "neither {} nor more", "rather than {}", "It's no longer {}", "other than {}",
    "It is not, as one might think, {}", "It is definitely not close to {}", "without {}", "I am not sure it is {}",
    "I don't think that it is {}", "There is no {}",
)  # fmt: skip
LIMITS = (
    "less than {}", "more than about {}", "at least {}", "at most {}", "up to {}", "no more than {}", "{} or more",
    "{} or less", "{} or higher", "within {}", "exceeding {}", "a maximum of {}", "a minimum of {}", "{} at most",
    "{} at least", "over {}", "under {}", "a difference of {}", "an error of {}", "a margin of {}",
)  # fmt: skip
PLAIN = ("{}", "It is {}.", "about {}", "It's {}, I think.", "Exactly {}!", "**{}**", "Answer: {}", "No, it is {}.")


@as_one
@each
@pytest.mark.parametrize("frame", PLAIN)
def test_plain_numbers_are_read(about: str, frame: str) -> None:
    reader, quantity = READERS[about]
    assert reader(plainly(frame.format(quantity.format(3)))) == 3


@as_one
@each
@pytest.mark.parametrize("frame", DENIALS + LIMITS)
def test_denials_and_limits_are_not(about: str, frame: str) -> None:
    reader, quantity = READERS[about]
    assert reader(plainly(frame.format(quantity.format(3)))) is None


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


SIDES = {"left": 1, "right": -1}


@as_one
@pytest.mark.parametrize(("side", "sign"), SIDES.items())
@pytest.mark.parametrize(
    ("text", "value"),
    [
        # counted from the front, in the half that the words name
        ("{} degrees to the @", 20), ("in front, {} degrees to the @", 20), ("front-@, {} degrees to the @", 20),
        ("behind, {} degrees to the @", 160), ("{} degrees @ of the listener", 20), ("{} degrees @ of center", 20),
        ("behind the listener, {} degrees to the @", 20), ("{} degrees to the @, behind you", 20),
        ("back-@, {} degrees @", 20), ("in the rear @, {} degrees to the @", 20), ("in front, {} degrees to the @", 160),
        # counted from elsewhere
        ("{} degrees @ of the piano", 20), ("{} degrees to the @ of a dog", 20), ("{} degrees from the @", 20),
        ("{} degrees off the @", 20), ("{} degrees from behind, on the @", 20), ("{} degrees further to the @", 20),
        ("{} degrees more to the @ than the bell", 20), ("{} degrees away from the @ wall", 20),
        # another thing
        ("@, with a spread of {} degrees", 20), ("{} degrees wide, on the @", 20), ("a cone of {} degrees to the @", 20),
        # either side
        ("{} degrees left or right", 20), ("{} degrees to the right or to the left", 20), ("{} degrees left/right", 20),
        ("{} degrees to either side", 20), ("{} degrees on both sides, left and right", 20),
    ],
)  # fmt: skip
def test_angles_that_are_counted_from_elsewhere(side: str, sign: int, text: str, value: int) -> None:
    right = ("{} degrees to the @", "in front, {} degrees to the @", "front-@, {} degrees to the @",
             "behind, {} degrees to the @", "{} degrees @ of the listener", "{} degrees @ of center")  # fmt: skip
    contradictory = text.startswith("in front") and value > 90
    expected = sign * value if text in right and not contradictory else None
    assert measures.azimuth(plainly(text.format(value).replace("@", side))) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10 degrees above the horizon", 10), ("10 degrees below ear level", -10), ("10 degrees up", 10),
        ("10 degrees above the listener", 10), ("10 degrees above the dog", None), ("10 degrees up or down", None),
        ("10 degrees higher than the bell", None), ("10 degrees above or below", None), ("-10 degrees or lower", None),
        ("10 degrees above and 40 degrees to the left", 10), ("40 degrees to the left and 10 degrees up", 10),
    ],
)  # fmt: skip
def test_elevations(text: str, value: float | None) -> None:
    assert measures.elevation(plainly(text)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 m to the left", 2), ("2 m in front of the listener", 2), ("2 m away from the listener", 2),
        ("2 m from the microphone", 2), ("2 m from you", 2), ("2 m (6.6 ft) away", 2), ("2 m away, from the left", 2),
        ("2 m from the guitar", None), ("2 m away from a wall", None), ("2 m closer than the bell", None),
        ("3 m to the left and 3 m in front", None), ("3 m ahead and 3.05 m up", None), ("2 m apart", None),
        ("a 2 m wide room", None), ("a person 2 m tall", None), ("2 m farther", None), ("2+ m", None),
        ("2 m farther than the dog", None), ("a room 5 m long", None), ("twice 2 m", None),
    ],
)  # fmt: skip
def test_distances(text: str, value: float | None) -> None:
    assert measures.metres(plainly(text)) == value


@as_one
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("It starts at 2 s", 2), ("after 2 s", 2), ("2 s into the clip", 2), ("2 s after the start of the clip", 2),
        ("2 s after the beginning", 2), ("from 2 s to 4 s", 2), ("2 s to 4 s", 2), ("[2, 4]", 2),
        ("2.0s - 4.0s", 2), ("from 2 to 4 s", 2), ("It is heard from 2 to 4 s", 2), ("It starts at 2 s, not at 4 s", 2),
        ("starts at 2 s and lasts 3 s", 2), ("In the 20 s clip it starts at 2 s", 2),
        ("a bell from 2 s to 4 s, a dog from 2 s to 5 s", 2), ("a bell from 2 s to 4 s, a dog from 3 s to 5 s", None),
        ("It lasts 2 s", None), ("It ends at 2 s", None), ("It is 2 s long", None), ("until 2 s", None),
        ("for 2 s", None), ("a duration of 2 s", None), ("in the first 2 s", None), ("the last 2 seconds", None),
        ("2 s before the end", None), ("2 s after the dog", None), ("2 s later", None), ("before 2 s", None),
        ("shortly after 2 s", None), ("It starts between 2 s and 4 s", None), ("It starts at 2 to 4 s", None),
        ("around 2-4 s", None), ("starts at about 2 s to 4 s", None), ("every 2 s", None), ("from the end, 2 s", None),
        ("It begins no later than 2 s", None), ("within the first 2 s", None), ("2 s from the end", None),
    ],
)  # fmt: skip
def test_onsets(text: str, value: float | None) -> None:
    assert measures.onset(plainly(text)) == value


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("between 2 and 4 s", (2, 4)), ("It appears between 2 s and 4 s", (2, 4)), ("heard from 2 to 4 s", (2, 4)),
        ("The onset is 2 s and the offset is 4 s", (2, 4)), ("from 2 s until the end at 4 s", (2, 4)),
        ("for the time frame 2 s to 4 s", (2, 4)), ("It begins at 2 s and lasts until 4 s", (2, 4)), ("[start, end] = [2, 4]", (2, 4)),
        ("not from 2 to 4 s", None), ("It isn't heard between 2 and 4 s", None), ("silent from 2 to 4 s", None),
        ("It starts between 2 and 3 s and ends at 5 s", None), ("It lasts 2 to 3 s", None), ("for 2 to 4 s", None),
        ("except from 2 s to 4 s", None), ("There is no sound from 2 s to 4 s", None), ("outside 2-4 s", None),
        ("It starts at 2 to 4 s", None), ("It ends between 2 and 4 s", None), ("from 2 s to 4 s or 5 s", None),
        ("from 2 or 3 s to 4 s", None), ("from 2 s to 4 s and again at 7 s", None), ("absent from 2 s to 4 s", None),
    ],
)  # fmt: skip
def test_intervals(text: str, span: tuple[float, float] | None) -> None:
    assert measures.span(plainly(text)) == span


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 sources", 2), ("There are 2 different overlapping sound sources.", 2), ("The count is 2.", 2),
        ("2 active", 2), ("2 (a dog and a cat)", 2), ("2: a dog and a cat", 2), ("2 speakers", 2), ("2 in total", 2),
        ("There are 2 sources: a dog and a cat", 2), ("one source", 1), ("a total of 2", 2),
        ("one or two sources", None), ("one or more sources", None), ("between 1 and 2 sources", None),
        ("2 to 3 sources", None), ("2-3 sources", None), ("a dog and 2 cats", None), ("2 dogs and a cat", None),
        ("a dog and 2 cats are audible", None), ("2 speakers and a dog", None), ("source 2", None), ("source 2 is active", None),
        ("2 sources on the left and 2 sources on the right", None), ("not a single source", None), ("2 dozen", None),
        ("one of the sources is a dog", None), ("fewer than 3 sources", None), ("not one source", None),
        ("the first 2 sources", None), ("2 more sources", None), ("2 other sources", None),
    ],
)  # fmt: skip
def test_counts(text: str, value: int | None) -> None:
    assert quantities.count(plainly(text)) == value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("front left", {"front", "left"}), ("in front, to the left", {"front", "left"}), ("front or left", None),
        ("left/right", None), ("to the left or to the right", None), ("It doesn't come from the left", None),
        ("neither left nor right", None), ("above or below", None), ("without the left", None),
    ],
)  # fmt: skip
def test_directions(text: str, found: set[str] | None) -> None:
    assert bearings.directions(plainly(text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("not left", {"right"}), ("It isn't on the left", {"right"}), ("left, not right", {"left"}),
        ("not on the left but on the right", {"right"}), ("not sure if left", {"left", "right"}),
        ("I don't know whether it is on the left", {"left", "right"}),
    ],
)  # fmt: skip
def test_sides(text: str, found: set[str]) -> None:
    assert {side for side, _ in bearings.sides(plainly(text))} == found


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("It is not moving", "stationary"), ("It doesn't move", "stationary"), ("It is not moving away", None),
        ("It does not move closer", None), ("It moves left or right", None), ("It moves left and then right", None),
        ("It doesn't seem to approach", None), ("It moves from right to left", "moving_left"),
    ],
)  # fmt: skip
def test_motions(text: str, label: str | None) -> None:
    assert bearings.motion(plainly(text)) == label


@pytest.mark.parametrize(("unit", "kind"), [("degrees", "azimuth"), ("m", "distance"), ("s", "onset")])
def test_denials_do_not_reach_over_the_next_number(unit: str, kind: str) -> None:
    """A value that is given beside a denied one of another kind stays."""
    others = {"degrees": "3 m", "m": "30 degrees", "s": "30 degrees"}
    for denied, glue in product(("not {}", "It isn't {}"), (". It is ", ", but ")):
        text = denied.format(others[unit]) + glue + f"2 {unit}"
        assert READERS[kind][0](plainly(text)) == 2, text
