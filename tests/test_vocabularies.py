"""Class lists: as the challenges published them, and mapped by name."""

from __future__ import annotations

import pytest

from seldio.errors import UsageError
from seldio.formats import LABEL_FORMATS
from seldio.vocabularies import names, spelling, vocabulary

#: By hand from the baselines' ``unique_classes``.
PUBLISHED = {
    "tau-sse-2019": "knock drawer clearthroat phone keysDrop speech keyboard pageturn cough doorslam laughter",
    "tau-nigens-2020": "alarm baby crash dog engine female_scream female_speech fire footsteps knock male_scream "
    "male_speech phone piano",
    "tau-nigens-2021": "alarm baby crash dog female_scream female_speech footsteps knock male_scream male_speech "
    "phone piano",
}  # fmt: skip
STARSS = (
    "Female speech, woman speaking", "Male speech, man speaking", "Clapping", "Telephone", "Laughter",
    "Domestic sounds", "Walk, footsteps", "Door, open or close", "Music", "Musical instrument", "Water tap, faucet",
    "Bell", "Knock",
)  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_indices_are_those_of_the_baselines(name: str) -> None:
    expected = PUBLISHED[name].split()
    assert len(expected) == len(vocabulary(name))
    assert list(range(len(expected))) == [vocabulary(name).indices[spelling(label)] for label in expected]


def test_starss_has_thirteen_classes() -> None:
    assert list(STARSS) == [vocabulary("starss").label(index) for index in range(13)]
    assert len(vocabulary("starss")) == 13


@pytest.mark.parametrize("name", names())
def test_no_spelling_means_two_classes(name: str) -> None:
    spellings = [{spelling(text) for text in row} for row in vocabulary(name).classes]
    assert sum(map(len, spellings)) == len(set().union(*spellings))
    assert vocabulary(name).title
    assert vocabulary(name).source.startswith("https://")


def test_every_format_has_a_vocabulary() -> None:
    for format in LABEL_FORMATS:
        for name in (format.vocabulary, *format.alias_vocabularies.values()):
            assert name in names()
        assert set(format.alias_vocabularies) <= set(format.aliases)


def test_no_two_formats_share_a_name() -> None:
    every = [name for format in LABEL_FORMATS for name in (format.name, *format.aliases)]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize(
    ("name", "index", "expected"),
    [("starss", 12, "Knock"), ("starss", 13, "class 13"), ("starss", -1, "class -1"), ("so-dataset", 47, "string_instrument"),
     ("so-dataset", 0, "class 0"), ("so-dataset", 62, "class 62")],
)  # fmt: skip
def test_labels(name: str, index: int, expected: str) -> None:
    assert expected == vocabulary(name).label(index)


@pytest.mark.parametrize(
    "name", ["Female speech, woman speaking", "female_speech", "FEMALE-SPEECH", "Female_speech_and_woman_speaking"]
)
def test_spellings_of_one_class(name: str) -> None:
    assert vocabulary("starss").indices[spelling(name)] == 0


def test_mapping_by_name() -> None:
    old, new = vocabulary("tau-nigens-2020"), vocabulary("tau-nigens-2021")
    assert old.mapping(new) == {0: 0, 1: 1, 2: 2, 3: 3, 5: 4, 6: 5, 8: 6, 9: 7, 10: 8, 11: 9, 12: 10, 13: 11}
    assert {index: index for index in range(13)} == vocabulary("starss").mapping(vocabulary("starss"))
    # female speech, footsteps, knock, male speech, phone
    assert old.mapping(vocabulary("starss")) == {6: 0, 8: 6, 9: 12, 11: 1, 12: 3}


def test_mapping_back_and_forth() -> None:
    for one in map(vocabulary, names()):
        for other in map(vocabulary, names()):
            back = other.mapping(one)
            assert all(index == back[target] for index, target in one.mapping(other).items())


def test_so_dataset_knows_its_size() -> None:
    assert len(vocabulary("so-dataset")) == 63


def test_unknown_vocabularies_are_listed() -> None:
    with pytest.raises(UsageError, match=r"unknown vocabulary 'x'; choose from .*starss"):
        vocabulary("x")
    with pytest.raises(UsageError):
        vocabulary("../starss")
