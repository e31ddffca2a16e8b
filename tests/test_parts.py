"""Any cut of a data set into parts gives the same results: for all verbs, workers, in memory or not."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import seldio
import seldio.catalogues as cutting
from seldio import synth, validate
from seldio.check.reference import load
from seldio.conversion import questions
from seldio.formats import get
from seldio.parallel import running
from seldio.reports import render
from seldio.schema.events import ClipFile
from seldio.scores.resampling import Intervals
from seldio.scores.seld import join as joining
from seldio.scores.seld.score_labels import SeldOptions, score_labels

ITEM = {"audio": ["x.wav"], "task": "source_existence", "question": "Is there a dog?", "answer": "yes"}


@contextmanager
def cut(size: int, held: bool) -> Iterator[None]:
    """Inside, data sets are cut into parts of *size* bytes, and files of questions are *held*, or read twice."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "CUT", size)
        patch.setattr(cutting, "HOLD", held * (1 << 30))
        patch.setattr(joining, "PART", size)
        patch.setattr(questions, "PART", min(size, questions.PART))
        yield


def checked(path: Path) -> object:
    report = validate(path)
    return report.files, report.findings


def expected(path: Path) -> object:
    return validate(path, reference=load("mix001..mix044")).findings


def scored(path: Path) -> object:
    """Labels against themselves, with what is wrong in them."""
    report = score_labels(path, path, SeldOptions(intervals=Intervals(jackknife=True), by_clip=True, force=True))
    return "".join(render([report], "json"))


def differing(path: Path) -> object:
    """What changed since a version in which one clip has fewer rows, and another one none."""
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "old"
        shutil.copytree(path, old)
        shortened, emptied = sorted(old.rglob("*.csv"))[1:3]
        shortened.write_text("".join(shortened.read_text().splitlines(keepends=True)[:-5]))
        emptied.write_text("")
        report = seldio.diff(old, path, force=True)
        return dataclasses.replace(report, system="")


def described(path: Path) -> object:
    found = seldio.info(path)
    return json.dumps(found), str(found)


def repaired(path: Path) -> object:
    """What a repair would change."""
    return seldio.validate(path, unsafe_fixes=True, diff=True).changes


def converted(path: Path, target: str, **options: Any) -> object:
    """What is said of a conversion, and the bytes that it writes; or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.file"
        try:
            done = seldio.convert(path, out, target, allow_loss="all", **options)
        except seldio.SeldioError as error:
            return str(error)
        record = done.as_dict() | {"written": len(done.written)}
        return record, out.read_bytes()


def as_questions(path: Path) -> object:
    return converted(path, "so-bench", force=True, total=50), converted(path, "so-bench")


def as_other_questions(path: Path) -> object:
    return converted(path, "items"), converted(path, "so-dataset-qa"), converted(path, "items-parquet")


#: What a verb gives for a data set, by its name, and the data sets that it is for.
VERBS: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "validate": (checked, ("angles", "mixed")),
    "validate --reference": (expected, ("mixed",)),
    "info": (described, ("angles", "mixed")),
    "score": (scored, ("angles",)),
    "diff": (differing, ("angles",)),
    "validate --diff": (repaired, ("mixed",)),
    "convert to questions": (as_questions, ("sound",)),
    "convert questions": (as_other_questions, ("asked",)),
}
CASES = [(verb, name) for verb, (_, names) in VERBS.items() for name in names]


def write_labels(folder: Path) -> None:
    """Forty label files, five of them with something wrong."""
    for number in range(40):
        table = synth.labels("m", synth.scene(number, 30.0, 8))
        (folder / f"mix{number:03}.csv").write_bytes(get("starss23").write(table, ClipFile("m", "m.csv")))
    wrong = {
        3: b"nonsense,1,2,3,4,5\n",
        11: b"5000,1,0,10,10,200\n",
        19: b"7,99,0,10,10,200\n",
        27: b"8,1,0,400,10,200\n",
    }
    for number, row in wrong.items():
        with (folder / f"mix{number:03}.csv").open("ab") as file:
            file.write(row)
    (folder / "mix034.csv").write_bytes(b"\xef\xbb\xbf" + (folder / "mix034.csv").read_bytes())
    (folder / "mix035.csv").write_bytes(b"")


def write_angles(folder: Path) -> None:
    """Elevations that count from the zenith in most files, which convicts the others too."""
    for number in range(12):
        rows = (f"{frame},1,0,{9 * frame - 150},{(95 if number % 3 else 60) + frame % 9},150\n" for frame in range(20))
        (folder / f"mix{number:03}.csv").write_text("".join(rows))


def write_questions(folder: Path) -> None:
    write_items(folder / "qa.jsonl", [str(number) for number in range(240)] + ["3", "39", "3"])
    lines = (folder / "qa.jsonl").read_bytes().split(b"\n")
    lines[20] = b'{"broken": '
    lines[30] = lines[30].replace(b"x.wav", b"../x.wav")
    for number in range(60, 220):
        lines[number] = lines[number].replace(b'"answer": "yes"', b'"answer": ""')
    (folder / "qa.jsonl").write_bytes(b"\n".join(lines))


def write_mixed(folder: Path) -> None:
    write_labels(folder)
    write_questions(folder)
    write_items(folder / "more.jsonl", ["1", "2", "2"])
    (folder / "odd.csv").write_bytes(b"name,colour\ncar,red\nbus,blue\n")
    (folder / "broken.csv").write_bytes(b"1,2\xff,3,4,5\n")
    (folder / "note.json").write_bytes(b'{"x": 1}')


def write_sound(folder: Path) -> None:
    """Labels of two layouts without errors, one of them silent."""
    for number in range(20):
        table = synth.labels("m", synth.scene(number, 20.0, 6))
        (folder / f"mix{number:03}.csv").write_bytes(get("starss23").write(table, ClipFile("m", "m.csv")))
    (folder / "mix020.csv").write_bytes(b"")
    (folder / "older").mkdir()
    for number in range(21, 30):
        rows = (f"{frame},{frame % 12},0,{9 * frame - 150},{frame % 9}\n" for frame in range(30))
        (folder / f"older/mix{number:03}.csv").write_text("".join(rows))


def write_asked(folder: Path) -> None:
    write_items(folder / "qa.jsonl", [f"q{number}" for number in range(400)])


def write_items(path: Path, ids: list[str], newline: str = "\n") -> None:
    lines = [json.dumps({"id": id, **ITEM}, sort_keys=True) for id in ids]
    path.write_bytes(newline.join(lines).encode() + (newline * (len(ids) % 2)).encode())


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The data sets by name."""
    writers = {"angles": write_angles, "mixed": write_mixed, "sound": write_sound, "asked": write_asked}
    top = tmp_path_factory.mktemp("parts")
    for name, write in writers.items():
        (top / name).mkdir()
        write(top / name)
    return {name: top / name for name in writers}


@pytest.fixture(scope="module")
def usual(sets: dict[str, Path]) -> dict[tuple[str, str], object]:
    """What each verb gives for each data set as it is cut usually."""
    return {(verb, name): VERBS[verb][0](sets[name]) for verb, name in CASES}


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "name"), CASES)
@settings(max_examples=examples(5), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(size=st.sampled_from([1, 700, 20_000]), held=st.booleans())
def test_any_cut_gives_the_same(
    sets: dict[str, Path], usual: dict[tuple[str, str], object], verb: str, name: str, size: int, held: bool
) -> None:
    with cut(size, held):
        assert usual[verb, name] == VERBS[verb][0](sets[name])


@pytest.mark.slow
@pytest.mark.parametrize("held", [True, False])
def test_workers_change_nothing(sets: dict[str, Path], usual: dict[tuple[str, str], object], held: bool) -> None:
    with cut(20_000, held), running(2):
        for verb, name in CASES:
            assert usual[verb, name] == VERBS[verb][0](sets[name]), (verb, name)


def test_the_data_sets_have_something_to_find(usual: dict[tuple[str, str], object]) -> None:
    def codes(verb: str, name: str) -> set[str]:
        found = usual[verb, name]
        return {one.code for one in (found[1] if isinstance(found, tuple) else found)}  # type: ignore[union-attr]

    assert "SUB101" in codes("validate --reference", "mixed")
    assert "LAB314" in codes("validate", "angles")
    assert usual["validate --diff", "mixed"]
    found = {"LAB102", "LAB103", "SYN130", "SYN901", "SYN101", "QAI101", "QAI108", "QAI309"}
    assert found <= codes("validate", "mixed")
    assert "LAB314" in str(usual["score", "angles"])
    assert isinstance(usual["convert to questions", "sound"][1], tuple)  # type: ignore[index]
    assert all(isinstance(one, tuple) for one in usual["convert questions", "asked"])  # type: ignore[attr-defined]
