"""Labels in which there are errors are not converted, scored, asked about, read or written, unless by force."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from commands import invoke, laid
from effort import some

import seldio
from seldio.data import export
from seldio.formats import LABEL_FORMATS, LabelFormat, get
from seldio.formats.label_csv import Dialect


def test_pictures_are_drawn_and_say_what_is_wrong(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = invoke("plot", folder(tmp_path, WRONG["LAB102"]) / "fold4_room1_mix001.csv", "-o", tmp_path / "a.svg")
    assert (done.exit_code, "LAB102" in done.stderr) == (0, True), done.stderr


GOOD = [f"{n},{n % 13},0,{-180 + 9 * n},{n - 20},{150 + n}" for n in range(41)]
#: Files with one kind of wrong values, by the rule that finds it.
WRONG = {
    "LAB301": [f"{n},3,0,{(-3 + n * 0.15):.3f},{(0.3 - n * 0.02):.3f},200" for n in range(40)],
    "LAB301 in few rows": [f"{n},3,0,{0.5 + n / 100:.3f},{0.3 - n / 100:.3f},200" for n in range(4)],
    "LAB101": [*GOOD, "-2,3,0,10,20,200"],
    "LAB102": [*GOOD, "37,37,0,10,20,200"],
    "LAB103": [*GOOD, "37,3,0,-300,20,200"],
    "LAB104": [*GOOD, "37,3,0,10,99,200"],
    "LAB105": [*GOOD, "37,3,0,10,20,20000"],
}
#: What a system may well write, and validate only warns of: rows twice, not in order, decimals, far past the end.
ODD = ["50,1,0,180,0,100", "50,1,0,180,0,100", "49,1,0,-180,0,100", "5800,1,0,10,0,100", "52,1,0,10.5,0,100"]


def folder(place: Path, *files: list[str]) -> Path:
    """Label files of STARSS23."""
    texts = ["".join(f"{row}\n" for row in rows) for rows in files]
    return laid(place / "labels", {f"fold4_room1_mix{number:03}.csv": text for number, text in enumerate(texts, 1)})


def converting(to: str) -> Callable[..., object]:
    return lambda labels, out, **options: seldio.convert(labels, out, to, allow_loss=["all"], **options)


def events(labels: Path, out: Path, **options: Any) -> object:
    with seldio.open(labels, **options) as data:
        return pickle.loads(pickle.dumps(data)).events.table()


#: What is done with labels in a way that needs the meaning of their rows.
WORK: dict[str, Callable[..., object]] = {
    "read": lambda labels, out, **options: seldio.read(labels, **options),
    "score": lambda labels, out, **options: seldio.score(labels, labels, reference_format=options["format"], **options),
    "open": events,
    "export": lambda labels, out, **options: export(labels, out, "parquet", **options),
    **{to: converting(to) for to in ("dcase2023-submission", "parquet", "so-bench", "ruenvaqa")},
}


@pytest.mark.parametrize(("work", "code"), some(itertools.product(WORK, WRONG), 2))
def test_wrong_labels_are_refused_unless_by_force(code: str, work: str, tmp_path: Path) -> None:
    labels, out = folder(tmp_path, WRONG[code]), tmp_path / "out"
    with pytest.raises(seldio.InvalidData, match=f"{code[:6]}.*force=True") as error:
        WORK[work](labels, out, format="starss23")
    assert (error.value.finding.code, error.value.finding.line) == (code[:6], 42 if len(WRONG[code]) > 41 else 1)
    assert not [*tmp_path.glob("out/seldio*"), *filter(Path.is_file, [out])]
    impossible = {"so-bench": ("LAB103", "LAB104"), "ruenvaqa": ("LAB103", "LAB104"), "export": ("LAB102",)}
    if code not in impossible.get(work, ()):
        assert WORK[work](labels, out, format="starss23", force=True)


@pytest.mark.parametrize("code", WRONG)
def test_a_table_is_looked_at_as_files_are(tmp_path: Path, code: str) -> None:
    table = tmp_path / "labels.parquet"
    rows = seldio.read(folder(tmp_path, GOOD, WRONG[code]), format="starss23", force=True)
    with pytest.raises(seldio.InvalidData, match=f"the table:.*{code[:6]}"):
        seldio.write(rows, table, "parquet")
    assert seldio.write(rows, table, "parquet", force=True)
    for work in WORK.values():
        with pytest.raises(seldio.InvalidData, match=code[:6]):
            work(table, tmp_path / "out", format=None)


def test_the_command_says_in_how_many_files_an_error_is(tmp_path: Path) -> None:
    labels = folder(tmp_path, GOOD, [*WRONG["LAB102"], WRONG["LAB104"][-1]], GOOD)
    command = ("convert", labels, "--to", "parquet", "-o", tmp_path / "out", "--format", "starss23")
    refused = invoke(*command)
    assert 1 == refused.exit_code
    for text in ("fold4_room1_mix002.csv:42:", "LAB102", "in 1 of 3 files", "also LAB104", "--force"):
        assert text in refused.stderr
    forced = invoke(*command, "--force")
    assert 0 == forced.exit_code
    assert "LAB102" in forced.stderr


def test_what_is_odd_is_no_error(tmp_path: Path) -> None:
    labels = folder(tmp_path, GOOD, [*GOOD, *ODD], [])
    for work in WORK.values():
        assert work(labels, tmp_path / "out", format="starss23")
        for path in sorted(tmp_path.glob("out*")):
            path.rename(tmp_path / f"old{len([*tmp_path.iterdir()])}")


def test_label_files_are_stored_as_they_are(tmp_path: Path) -> None:
    labels = folder(tmp_path, WRONG["LAB301"])
    seldio.convert(labels, tmp_path / "out", "webdataset", format="starss23")
    seldio.convert(tmp_path / "out", tmp_path / "back", "files")
    assert (labels / "fold4_room1_mix001.csv").read_bytes() == (tmp_path / "back/fold4_room1_mix001.csv").read_bytes()


ROWS = {
    "clip": ["a", "a", "b"], "frame": [0, 1, 2], "onset": [0.0, 0.1, 0.2], "offset": [0.1, 0.2, 0.3],
    "class_id": [12, 12, 12], "source": [0, 0, 1], "azimuth": [10.0, 20.0, 30.0], "elevation": [0.0, 1.0, 2.0],
    "distance": [1.0, 2.0, 1.5], "onscreen": [True, False, True], "score": [0.5, 0.5, 0.5],
}  # fmt: skip
FLOATS = ("azimuth", "elevation", "distance", "onset", "offset", "score")
HELD = [(format, field) for format in LABEL_FORMATS for field in FLOATS if field in format.carries]


def _rows(format: LabelFormat, field: str, value: float | None) -> pa.Table:
    kept = {name: list(values) for name, values in ROWS.items() if name in format.carries}
    if {"onset", "frame"} <= kept.keys():
        del kept["frame"]
    kept[field][2] = value
    return pa.table(kept)


def _refused(format: LabelFormat, table: pa.Table, folder: Path) -> str:
    """What is said of the table; nothing is written."""
    out = folder / ("out.parquet" if format.role == "table" else "out")
    with pytest.raises(seldio.SeldioError) as caught:
        seldio.write(table, out, format.name, allow_loss="all", force=True)
    assert not out.exists(), "a file was written"
    return str(caught.value)


@pytest.mark.parametrize(("format", "field"), some(HELD, 3))
def test_no_number(format: LabelFormat, field: str, tmp_path: Path) -> None:
    text = "" if format.role == "table" or field == "score" else f"{format.name} has numbers of up to nine digits"
    for value in (math.nan, -math.inf, *((-3e9, 1e300) if text else ())):
        said = _refused(format, _rows(format, field, value), tmp_path)
        reason = f" is {value}, not a finite number" if not math.isfinite(value) else f" is {value:g}: {text}"
        assert f"{field} in row 3 (row 1 of clip b){reason}" in said


def test_a_score_that_has_no_place_may_be_any_by_force(tmp_path: Path) -> None:
    table = _rows(get("starss23"), "frame", 2).append_column("score", pa.array([0.5, math.nan, None]))
    seldio.write(table, tmp_path / "out", "starss23", allow_loss="score", force=True)


@pytest.mark.parametrize(
    "format", [one for one in LABEL_FORMATS if "distance" in one.carries], ids=lambda one: one.name
)
def test_an_unknown_distance_is_no_0(format: LabelFormat, tmp_path: Path) -> None:
    """It stays unknown where the format has a word for that; where it has none, nothing is written."""
    table = _rows(format, "distance", None)
    if isinstance(format, Dialect) and format.unknown_distance is None:
        said = _refused(format, table, tmp_path)
        assert f"{format.name} needs distance (1 of 3 rows have none)" in said
        return
    out = tmp_path / ("out.parquet" if format.role == "table" else "out")
    written = seldio.write(table, out, format.name, allow_loss="all")
    read = seldio.read(written[-1], format=format.name)
    known = read["distance"].to_pylist() if "distance" in read.column_names else [None]
    assert known[-1:] in ([], [None]), "an unknown distance became a number"  # so-dataset has no knock


def test_a_polygon_with_no_number(tmp_path: Path) -> None:
    format = seldio.formats.get("dcase2026")
    table = _rows(format, "distance", 1.5)
    spots = [[[[1.0, 2.0, 1.0]]], None, [[[1.0, math.nan, 1.0]]]]
    table = table.append_column("segmentation", pa.array(spots, pa.list_(pa.list_(pa.list_(pa.float64())))))
    assert "segmentation in row 3" in _refused(format, table, tmp_path)
