"""Any cut of a data set into parts gives the same results: for all verbs, workers, in memory or not."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import laid
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import seldio
import seldio.catalogues as cutting
from seldio import synth, validate
from seldio.catalogues.parts import Part
from seldio.conversion import questions
from seldio.formats import get
from seldio.parallel import running
from seldio.reports import render
from seldio.schema.events import ClipFile
from seldio.scores.resampling import Intervals
from seldio.scores.seld import join as joining
from seldio.scores.seld.score_labels import SeldOptions, score_labels


@contextmanager
def cut(size: int, held: bool) -> Iterator[None]:
    """Inside, data sets are cut into parts of *size* bytes, and files of questions are *held*, or read twice."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Part.cut, "__defaults__", (size,))
        patch.setattr(cutting, "HOLD", held * (1 << 30))
        patch.setattr(joining, "PART", size)
        patch.setattr(questions, "PART", min(size, questions.PART))
        yield


def scored(path: Path) -> object:
    """Labels against themselves, with what is wrong in them."""
    report = score_labels(path, path, SeldOptions(intervals=Intervals(jackknife=True), by_clip=True, force=True))
    return "".join(render([report], "json"))


def differing(path: Path) -> object:
    """What changed since a version in which one clip has fewer rows, and another one none."""
    with tempfile.TemporaryDirectory() as folder:
        old = Path(shutil.copytree(path, Path(folder) / "old"))
        shortened, emptied = sorted(old.rglob("*.csv"))[1:3]
        shortened.write_text("".join(shortened.read_text().splitlines(keepends=True)[:-5]))
        emptied.write_text("")
        return dataclasses.replace(seldio.diff(old, path, force=True), system="")


def converted(path: Path, target: str) -> object:
    """What is said of a conversion, and the bytes that it writes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.file"
        done = seldio.convert(path, out, target, allow_loss="all")
        return done.as_dict() | {"written": len(done.written)}, out.read_bytes()


#: What is done with a data set, by the name of that.
VERBS: dict[str, list[Callable[[Path], object]]] = {
    "angles": [lambda path: validate(path).findings, scored, differing],
    "mixed": [
        lambda path: (validate(path).files, validate(path, reference="mix001..mix044").findings),
        lambda path: str(seldio.info(path)),
        lambda path: validate(path, unsafe_fixes=True, diff=True).changes,
    ],
    "sound": [lambda path: converted(path, "so-bench")],
    "asked": [lambda path: [converted(path, target) for target in ("items", "so-dataset-qa", "items-parquet")]],
}


def labels(seed: int, seconds: float) -> bytes:
    return get("starss23").write(synth.labels("m", synth.scene(seed, seconds, 6)), ClipFile("m", "m.csv"))


def items(ids: list[str]) -> bytes:
    item = {"audio": ["x.wav"], "task": "source_existence", "question": "Is there a dog?", "answer": "yes"}
    return "".join(json.dumps({"id": id, **item}, sort_keys=True) + "\n" for id in ids).encode()


def mixed() -> dict[str, bytes]:
    """Forty label files and questions, some of them with something wrong."""
    files = {number: labels(number, 30.0) for number in range(40)}
    files[3] += b"nonsense,1,2,3,4,5\n"
    files[11] += b"5000,1,0,10,10,200\n"
    files[19] += b"7,99,0,10,10,200\n"
    files[27] += b"8,1,0,400,10,200\n"
    files |= {34: b"\xef\xbb\xbf" + files[34], 35: b""}
    lines = items([str(number) for number in range(240)] + ["3", "39", "3"]).split(b"\n")
    lines[20] = b'{"broken": '
    lines[30] = lines[30].replace(b"x.wav", b"../x.wav")
    lines[60:220] = [line.replace(b'"answer": "yes"', b'"answer": ""') for line in lines[60:220]]
    questions = {"qa.jsonl": b"\n".join(lines), "more.jsonl": items(["1", "2", "2"]), "note.json": b'{"x": 1}'}
    odd = {"odd.csv": b"name,colour\ncar,red\nbus,blue\n", "broken.csv": b"1,2\xff,3,4,5\n"}
    return {f"mix{number:03}.csv": data for number, data in files.items()} | questions | odd


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The data sets by name."""
    top = tmp_path_factory.mktemp("parts")
    for number in range(12):  # elevations that count from the zenith in most files, which convicts the others too
        rows = (f"{frame},1,0,{9 * frame - 150},{(95 if number % 3 else 60) + frame % 9},150\n" for frame in range(20))
        laid(top / "angles", {f"mix{number:03}.csv": "".join(rows)})
    laid(top / "mixed", mixed())
    older = "".join(f"{frame},{frame % 12},0,{9 * frame - 150},{frame % 9}\n" for frame in range(30))
    laid(top / "sound", {f"mix{number:03}.csv": labels(number, 20.0) for number in range(20)} | {"mix020.csv": b""})
    laid(top / "sound/older", {f"mix{number:03}.csv": older for number in range(21, 30)})
    laid(top / "asked", {"qa.jsonl": items([f"q{number}" for number in range(400)])})
    return {name: top / name for name in VERBS}


@pytest.fixture(scope="module")
def usual(sets: dict[str, Path]) -> dict[str, list[object]]:
    """What is given for each data set as it is cut usually."""
    return {name: [verb(sets[name]) for verb in verbs] for name, verbs in VERBS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", VERBS)
@settings(max_examples=examples(6), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(size=st.sampled_from([1, 700, 20_000]), held=st.booleans(), workers=st.sampled_from([1, 2]))
def test_any_cut_gives_the_same(
    sets: dict[str, Path], usual: dict[str, list[object]], name: str, size: int, held: bool, workers: int
) -> None:
    with cut(size, held), running(workers):
        assert usual[name] == [verb(sets[name]) for verb in VERBS[name]]


def test_the_data_sets_have_something_to_find(sets: dict[str, Path]) -> None:
    found = {"LAB102", "LAB103", "SYN130", "SYN901", "SYN101", "QAI101", "QAI108", "QAI309", "SUB101"}
    assert found <= set(validate(sets["mixed"], reference="mix001..mix044").by_rule())
    assert "LAB314" in validate(sets["angles"]).by_rule()
