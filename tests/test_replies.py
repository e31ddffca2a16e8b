"""What is read in replies, held against what people say that they say."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from commands import invoke, records_of
from effort import grows_no_faster

from seldio.answers import words
from seldio.answers.extract import AnsweredQuestion, Names, extract
from seldio.answers.matching import letter_of
from seldio.answers.measures import QUANTITIES
from seldio.answers.reading import read
from seldio.answers.words import plainly
from seldio.scores.so_bench import PROFILES, evaluate

CASES = Path(__file__).parent / "cases" / "answers"
INSTRUMENTS = ["violin", "flute", "guitar", "piano"]
YES_AND_NO = ["Yes", "No"]
#: The readers of quantities, by what was asked.
READERS = {"azimuth": "azimuth", "elevation": "elevation", "distance": "distance", "time": "onset"}
#: The task of each quantity of ``labelled.jsonl``, the key of what is read, and the question and its answer.
TASKS = {
    "azimuth": ("estimate_azimuth", "angle_deg", "?", "?"),
    "elevation": ("estimate_elevation", "elevation_deg", "?", "?"),
    "distance": ("estimate_distance", "distance_m", "?", "?"),
    "onset": ("onset_from_location", "onset_time_s", "?", "?"),
    "span": ("detect_time", "time_span", "?", "?"),
    "count": ("count_sources", "count", "?", "?"),
    "motion": ("classify_motion", "motion_label", "?", "stationary"),
    "side": ("relative_left_right", "left_right", "Is the crackle left or right of the vehicle?",
             "crackle is to the right of vehicle."),
}  # fmt: skip
NAMES = Names(["crackle", "vehicle"])

Labelled = tuple[str, list[str], str, Any]  # reply, options, question, the option that it gives or None


def rows(name: str) -> list[Any]:
    return records_of(CASES / f"{name}.jsonl")


def of_two_readers() -> Iterator[Labelled]:
    """Yield the replies with options, or with yes and no, about which both readers agree."""
    for row in rows("two-readers"):
        options = row.get("options") or YES_AND_NO
        first, second = (label["says"] or None for label in row["labels"])
        if row["kind"] != "quantity" and first == second:
            says = options[first - 1] if isinstance(first, int) else first and first.capitalize()
            yield row["reply"], options, row["question"], says


def of_one_author(half: str) -> Iterator[Labelled]:
    """Yield the replies with options of one half of ``labelled.jsonl``, where both labels agree."""
    for row_half, need, asked, reply, first, second in rows("labelled"):
        if row_half == half and need != "meaning" and isinstance(asked, list) and agree(first, second):
            yield reply, asked, "", None if first == "refused" else first


def agree(first: Any, second: Any) -> bool:
    return bool(first == second or {first, second} <= {None, "refused"})


def blind() -> Iterator[Labelled]:
    for options, question, reply, says in rows("blind"):
        yield reply, options, question, says


def older(name: str) -> Iterator[Labelled]:
    for options, reply, says in rows(name):
        yield reply, options, "", says


@pytest.mark.parametrize(
    ("labelled", "right", "wrong"),
    [
        (of_two_readers(), 927, 2),
        (blind(), 267, 1),
        (of_one_author("develop"), 362, 0),
        (of_one_author("held out"), 409, 0),
        (older("replies"), 229, 0),
        (older("sentences"), 583, 11),
    ],
    ids=["two readers", "blind", "labelled, develop", "labelled, held out", "replies", "sentences"],
)
def test_options_are_read_as_people_read_them(labelled: Iterator[Labelled], right: int, wrong: int) -> None:
    found = [(reply, says, read(reply, options, question).option) for reply, options, question, says in labelled]
    misread = [row for row in found if row[2] not in (None, row[1])]
    as_labelled = sum(says == option for _, says, option in found)
    print(f"{as_labelled} of {len(found)} replies read as labelled, {len(misread)} wrongly")

    assert as_labelled >= right
    assert len(misread) <= wrong, misread


@pytest.mark.slow
def test_refusals_are_told_from_replies_that_say_something_else() -> None:
    labelled = [row for row in rows("labelled") if isinstance(row[2], list)]
    refused = Counter((row[4] == "refused", read(row[3], row[2]).state == "refused") for row in labelled)
    read_as_refused = sum(
        read(reply, asked).state == "refused"
        for _, _, asked, reply, first, _ in labelled
        if first not in (None, "refused")
    )
    assert refused[True, True] >= 0.95 * (refused[True, True] + refused[True, False])
    assert read_as_refused <= 0.01 * len(labelled)


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_what_stands_before_a_search_hides_nothing_from_it(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ([row["reply"] for row in rows("two-readers")] + [text for _, text, _ in ROWS])[::step]
    found = [(words.stripped(text), plainly(text)) for text in texts]
    for patterns, guard in ((words.REPLIES, "markup"), (words._RE, "may_announce"), (words._RE, "respellable")):
        monkeypatch.setattr(patterns, guard, re.compile(""))

    assert found == [(words.stripped(text), plainly(text)) for text in texts]


BITS = ("<think>", "answer: ", "the answer is ", "flute ", "**flute** ", "not ", "\\boxed{", "or ", "\n", "B) ", "Ответ: ",
        "<answer>", "answer ", "a violin, ", "A/B ", "A or B ", "A. B. ", "no, flute ", "так ")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("bit", BITS)
def test_the_time_for_long_replies_grows_with_them_and_no_faster(bit: str) -> None:
    assert grows_no_faster(lambda length: read(bit * (length // len(bit)), INSTRUMENTS), 50_000)


@pytest.mark.parametrize("bit", BITS)
def test_the_time_for_all_of_a_reply_grows_no_faster_where_nothing_is_left_out(
    bit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "READ_OF_END", 1 << 20)

    assert grows_no_faster(lambda length: read(bit * (length // len(bit)), INSTRUMENTS), 1_000)


@pytest.mark.parametrize("options", [["dog", "cat", "rain"], ["A dog barks", "A cat meows", "Rain falls"]])
def test_restated_options_are_no_answer(options: list[str]) -> None:
    heads = ("", "Options:\n", "The options are: ", "Варианты:\n", "Let's consider each option:\n")
    for head, joint, mark in product(heads, ("\n", " ", "; "), ("{}. ", "{}) ", "({}) ", "- ")):
        listed = head + joint.join(mark.format(letter) + option for letter, option in zip("ABC", options, strict=True))
        for reply in (listed, listed[:-2]):
            assert read(reply, options).option is None, reply


ANNOUNCED = (
    *("{x}", "{x}.", "The answer is {x}", "Answer: {x}", 'The correct answer is: "{x}".', "<answer>{x}</answer>"),
    *("({l}) {x}", "{l}. {x}", "**{l}. {x}**", "\\boxed{{{x}}}", "<think>It may be {y}.</think>{x}"),
    "{l}. {x}. If you have any other questions, feel free to ask!",
    "The answer is {l}. {x}. Let me know if anything could be clearer.",
)


@pytest.mark.slow
def test_every_announced_option_of_real_questions_is_read(shared: Path) -> None:
    """Options with signs at which a sentence could be cut, and every fortieth of the others."""
    questions = json.loads((shared / "data/mmau/mmau-test-mini.json").read_text("utf-8"))
    unread = []
    signs = 0
    for number, question in enumerate(questions):
        options = question["choices"]
        for place, option in enumerate(options):
            special = any(sign in option for sign in (";", " (", ":"))
            signs += special
            letters = len({*options}) < len(options) or len(option) == 1
            if letters or not (special or number % 40 == 0):
                continue
            for form in ANNOUNCED:
                reply = form.format(x=option, l="ABCDEFGH"[place], y=options[place - 1])
                if read(reply, options, question["question"]).option != option:
                    unread.append((reply, options))
    assert signs > 100
    assert unread == []


@pytest.mark.parametrize(
    ("question", "reply", "options", "says"),
    [
        ("", "It is F Major.", ["A Major", "C Major"], None),
        ("", "It is F Major.", ["A Major", "F Major"], "F Major"),
        ("", "C", ["C#", "C"], "C"),
        ("", "C#", ["C", "D"], None),
        ("", "Cat? No, dog.", ["dog", "rain", "cat"], "dog"),
        ("", "It sounds like a flute at first. But wait.", INSTRUMENTS, None),
        ("", "It cannot be determined.", ["rain", "It cannot be determined."], "It cannot be determined."),
        ("", "(A) violin (B) flute", INSTRUMENTS, None),
        ("", "I chose flute over piano.", INSTRUMENTS, "flute"),
        ("", "Do I hear a flute?", INSTRUMENTS, None),
        ("", "flute", ["flute", "flute", "drum"], "flute"),
        ("Is the car closer than the dog?", "The car is farther away.", YES_AND_NO, "No"),
        ("Is the car closer than the dog?", "The car is closer.", YES_AND_NO, "Yes"),
        ("Is there a dog?", "There is a dog.", YES_AND_NO, "Yes"),
        ("Is there a dog?", "I cannot hear the recording.", YES_AND_NO, None),
    ],
)
def test_what_is_near_an_option_is_not_it(question: str, reply: str, options: list[str], says: str | None) -> None:
    assert read(reply, options, question).option == says


def test_situations_are_read_by_seldio_score(tmp_path: Path) -> None:
    situations = rows("situations")
    for name in ("questions", "replies"):
        with (tmp_path / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for number, (options, reply, _) in enumerate(situations):
                question = {"task": "t", "question": "What is heard?", "options": options, "answer": options[0]}
                row = question | {"audio": [f"{number}.wav"]} if name == "questions" else {"prediction": reply}
                file.write(json.dumps({"id": str(number)} | row) + "\n")
    paths = [str(tmp_path / name) for name in ("replies.jsonl", "questions.jsonl", "items.jsonl")]
    done = invoke("score", paths[0], "-r", paths[1], "--items", paths[2])

    assert done.exit_code == 0, done.output
    listed = records_of(Path(paths[2]))
    assert {row["reply"]: row["read"] for row in listed} == {reply: says or "" for _, reply, says in situations}


def test_numbers_in_replies_are_read_as_a_person_reads_them() -> None:
    found = [(asked, reply, says, QUANTITIES[asked](plainly(reply))) for asked, reply, says in rows("quantities")]

    assert [] == [row for row in found if row[3] != (row[2] if row[2] is None else pytest.approx(row[2], abs=0.01))]


def same(one: Any, other: Any, quantity: str) -> bool:
    """Return whether two readings are one: up to a hundredth, a turn apart for azimuths, anywhere in a range."""
    if isinstance(other, list):
        return isinstance(one, list | tuple) or (one is not None and min(other) - 1e-6 <= one <= max(other) + 1e-6)
    if one is None or other is None or isinstance(one, list | tuple):
        return bool(one == other)
    turn = quantity == "azimuth" and abs(abs(one - other) - 360) < 1e-6
    return bool(turn or abs(one - other) <= 0.011 * max(1, abs(other)))


def test_quantities_are_read_as_two_people_read_them() -> None:
    found = []
    for row in rows("two-readers"):
        first, second = (label["says"] for label in row["labels"])
        if row.get("quantity") in READERS and same(first, second, row["quantity"]):
            value = QUANTITIES[READERS[row["quantity"]]](plainly(row["reply"]))
            found.append((row["reply"], first, value, same(value, first, row["quantity"])))
    wrong = [row for row in found if row[2] is not None and not row[3]]

    assert sum(right for *_, right in found) >= 265
    assert len(wrong) <= 1, wrong


def test_most_quantities_of_the_half_held_out_are_read() -> None:
    found = []
    for half, need, asked, reply, first, second in rows("labelled"):
        if half == "held out" and need != "meaning" and isinstance(asked, str) and agree(first, second):
            task, key, question, answer = TASKS[asked]
            judged: Any = extract(AnsweredQuestion("1", task, question, answer, answer, {}, reply), NAMES)
            value = judged and judged["prediction"][key]
            label = None if first == "refused" else first
            number = isinstance(label, int | float) and value is not None
            right = abs(value - label) < 0.02 or abs(value) == abs(label) == 180 if number else value == label
            found.append((reply, label, value, right))
    wrong = [row for row in found if row[2] is not None and not row[3]]

    assert sum(right for *_, right in found) >= 266
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["2 m, no, ", "1, 2 and ", "второй ", "so, ", "but no, "])
def test_the_time_for_long_quantities_grows_with_them_and_no_faster(piece: str) -> None:
    def read_quantities(length: int) -> None:
        text = plainly(piece * (length // len(piece)))
        for asked in ("azimuth", "distance", "onset", "active sources"):
            QUANTITIES[asked](text)

    assert grows_no_faster(read_quantities, 2_000)


ROWS: list[tuple[str, str, Any]] = [tuple(row) for name in ("phrasings", "russian") for row in rows(name)]
#: The tasks whose answer is a number, with the key of the right one, and a value of it that nothing in the table says.
NUMBERS = {
    "azimuth": ("estimate_azimuth", "azimuth_deg", 7.7),
    "elevation": ("estimate_elevation", "elevation_deg", 7.7),
    "distance": ("estimate_distance", "distance_m", 7.7),
    "onset": ("onset_from_location", "onset_time", 7.7),
    "span": ("detect_time", "time_span", [7.7, 8.8]),
    "count": ("count_sources", "active_count", 77),
}
#: The others: task, question and right answer.
WORDS = {
    "source": ("identify_source_by_location", "What is the sound source to the front-left?", "dog"),
    "higher": ("compare_elevation", "Which is higher: the guitar or the bell?", "guitar"),
    "side": (
        "relative_left_right",
        "Is the crackle left or right of the vehicle?",
        "crackle is to the right of vehicle.",
    ),
    "motion": ("classify_motion", "How does it move?", "stationary"),
}
TABLE_NAMES = Names(["guitar", "bell", "dog", "crackle", "vehicle"])
TIGHT = PROFILES["so-bench"].changed(azimuth=0.01, elevation=0.01, distance=0.02, onset=0.01)


def asked_about(about: str, reads: Any, text: str) -> AnsweredQuestion:
    if about in NUMBERS:
        task, key, other = NUMBERS[about]
        truth = other if reads in (None, "nothing") else reads
        return AnsweredQuestion("1", task, "?", str(truth), str(truth), {key: truth}, text)
    task, question, answer = WORDS[about]
    return AnsweredQuestion("1", task, question, answer, answer, {}, text)


def read_out(about: str, text: str, reads: Any) -> Any:
    """What is read out of an answer, in the words of the table; ``"wrong"`` for another number than the right one."""
    if about == "letter":
        found = letter_of(text)
        return found and found.latin
    question = asked_about(about, reads, text)
    judged = extract(question, TABLE_NAMES)
    outcome = judged and evaluate(question, judged, TIGHT)
    if outcome is None or about in WORDS:
        return outcome and outcome.correct
    if not outcome.parseable:
        return "nothing"
    return reads if outcome.correct > 0.999 else f"wrong: {judged}"


@pytest.mark.slow
@pytest.mark.parametrize("about", sorted({about for about, _, _ in ROWS}))
def test_answers_say_what_they_mean(about: str) -> None:
    rows = [(text, read_out(about, text, says), says) for what, text, says in ROWS if what == about]

    assert rows
    assert [] == [row for row in rows if row[1] != row[2]]
