"""What questions and answers call classes: grammar for every class, and readers that know old names and new."""

from __future__ import annotations

import itertools
import json
import re
from importlib.resources import files

import pyarrow as pa
import pytest
from effort import as_one

from seldio import synth
from seldio.answers.extract import Names
from seldio.schema.qa import Prediction
from seldio.scores.so_bench import PROFILES, count
from seldio.tasks import TASKS, generate
from seldio.tasks.names import capitalized, name_of
from seldio.tasks.russian import noun_of
from seldio.tasks.task import ENGLISH
from seldio.vocabularies import names, vocabulary

LABELS = sorted({label for name in names() for v in [vocabulary(name)] for label in map(v.label, range(len(v)))})
_SOUNDS = json.loads(files("seldio.answers").joinpath("labels.json").read_text("utf-8"))["families"]
FAMILIES = sorted({name for family in _SOUNDS.values() for name in family})
#: What no English sentence has.
ODD = re.compile(
    r"\b(the|an?) (the|an?)\b|\b(\w+) \3\b|  | [.,?]|[{}_]|\ba \"?[aeio]|\ban \"?[^aeiou8h\"]|\bsound of the [^.?]*sounds?\b"
    r"|\b(is|does) the (?:footsteps|domestic sounds|\w+ keys|dishes|scissors)\b|\b(are|do) the \w*(?:bell|speech|bus)\b"
    r"|\b1 degrees\b",
    re.IGNORECASE,
)
PLURAL = {"domestic sounds", "footsteps", "falling keys", "jangling keys", "dishes", "scissors"}


def sentences(label):
    name, other = name_of(label), name_of("Bell" if label != "Bell" else "Music")
    given = name.words | {
        "y": other.spoken, "more": "higher", "t": "1.5s", "place": "to the left of the listener", "side": "the left",
        "azimuth": "1 degree", "elevation": "-20 degrees",
    }  # fmt: skip
    for wording in itertools.chain.from_iterable(ENGLISH.ways.values()):
        yield from (question.format_map(given) for question in wording.questions)
    yield capitalized(f"{name.words['some']} {name.verb} the sound source coming from the left.")
    yield f"The {name.spoken} {name.verb} higher than the {other.spoken}."
    yield f"The audio contains {name.words['some']} from 1.0s to 2.0s."


@as_one
@pytest.mark.parametrize("label", sorted({*LABELS, *FAMILIES}))
def test_every_class_gives_grammatical_sentences(label):
    name = name_of(label)
    for sentence in sentences(label):
        assert not (found := ODD.search(sentence)), (sentence, found)
        assert sentence[0].isupper()
    assert (name.verb == "are") == (name.spoken in PLURAL)
    assert "," not in name.spoken
    assert name.words["some"] in (name.spoken, f"a {name.spoken}", f"an {name.spoken}")


def test_number_is_told_by_the_class_not_by_its_ending():
    forms = {label: (name_of(label).words["some"], name_of(label).verb) for label in (
        "Bus", "Gas", "Glass", "Domestic sounds", "Walk, footsteps", "Door, open or close", "octopus", "Hourglass",
        "hour bell", "unicycle", "umbrella", "class 14", "Music", "wind chimes", "bird singing", "ring", "ATM",
        "Scissors", "The horns", "keysDrop", "clearthroat", "knocking on door",
    )}  # fmt: skip
    assert forms == {
        "Bus": ("a bus", "is"), "Gas": ("a gas", "is"), "Glass": ("glass", "is"),
        "Domestic sounds": ("domestic sounds", "are"), "Walk, footsteps": ("footsteps", "are"),
        "Door, open or close": ("a door", "is"), "octopus": ("an octopus", "is"),
        "Hourglass": ("an hourglass", "is"), "hour bell": ("an hour bell", "is"), "unicycle": ("a unicycle", "is"),
        "umbrella": ("an umbrella", "is"), "class 14": ("a class 14 sound", "is"), "Music": ("music", "is"),
        "wind chimes": ("wind chimes", "are"), "bird singing": ("bird singing", "is"), "ring": ("a ring", "is"),
        "ATM": ("an atm", "is"), "Scissors": ("scissors", "are"), "The horns": ("horns", "are"),
        "keysDrop": ("falling keys", "are"), "clearthroat": ("throat clearing", "is"),
        "knocking on door": ("a door knock", "is"),
    }  # fmt: skip


def test_one_spoken_name_is_one_class():
    for name in names():
        classes = vocabulary(name)
        spoken = [name_of(classes.label(index)).spoken for index in range(len(classes))]
        assert len(set(spoken)) == len(spoken)
    for one, other in itertools.combinations(LABELS, 2):
        if name_of(one).spoken == name_of(other).spoken:
            assert noun_of(one) == noun_of(other)


@pytest.mark.parametrize("name", names())
def test_readers_know_a_class_by_its_name_and_by_what_it_is_called(name):
    classes = vocabulary(name)
    labels = [name_of(classes.label(index)) for index in range(len(classes))]
    known = Names(label.plain for label in labels)
    for label in labels:
        for said in (label.plain, label.spoken, label.words["some"]):
            assert {each.name for each in known.find(f"It is {said}.")} == {known.named(label.plain)}, said


@pytest.fixture(scope="module")
def items():
    tables = [synth.labels(f"mix{seed:03}", synth.scene(seed, 60.0, 10)) for seed in range(12)]
    table = pa.concat_tables(table.replace_schema_metadata() for table in tables).unify_dictionaries()
    return generate(table, seed=5, per_task=40, audio_pattern="audio/{audio_id}.wav").items


def as_before(item):
    text = item.answer
    for label in {event.class_name for event in item.events}:
        name = name_of(label)
        text = re.sub(rf"\b(?:an? )?{re.escape(name.spoken)}\b", name.said, text, flags=re.IGNORECASE)
    return text


def test_answers_are_right_in_the_names_of_classes_too(items):
    assert {item.task for item in items} == {*TASKS}
    rows = [Prediction(id=item.id, audio=item.audio, task=item.task, prediction=as_before(item)) for item in items]
    report = count(items, rows, PROFILES["so-bench"]).report("predictions")
    assert report.overall["accuracy"] == report.overall["decided"] == 1.0
