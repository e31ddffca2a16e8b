"""Detection: the right layout, or none and the reasons; never a wrong one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import laid
from conftest import Kept
from effort import examples, some
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import REAL, text_file

import seldio
from seldio import synth
from seldio.formats import TextFile, get
from seldio.formats.detect import Detection, detect
from seldio.schema.events import ClipFile


def detected(text: str, name: str = "a.csv") -> Detection:
    return detect([text_file(text.encode(), name)])


def name_of(detection: Detection) -> str | None:
    return detection.format.name if detection.format else None


def candidates(detection: Detection) -> set[str]:
    return {candidate.format.name for candidate in detection.candidates}


def assert_right_or_undecided(detection: Detection, right: str) -> None:
    """The layout itself, or one that means the same and names it; else no layout, and it among the candidates."""
    if detection.format is None:
        assert right in candidates(detection)
    else:
        assert right in {detection.format.name, *(format.name for format in detection.alike)}


FILES = REAL | {"so-bench/annotations": "so-dataset"}


@pytest.mark.parametrize(("folder", "name"), FILES.items())
def test_folders_of_real_files(kept: Kept, folder: str, name: str) -> None:
    paths = sorted((kept / folder).rglob("*.csv"))
    assert name == name_of(detect([TextFile(str(path), path.name, path.stem, path.read_bytes()) for path in paths]))
    assert name == name_of(detect([text_file(path.read_bytes()) for path in paths]))


#: From real labels and predictions (lines as cells), the same scenes in layouts of which no real file is at hand.
MADE: dict[str, tuple[str, Callable[[list[str]], str]]] = {
    "starss23": ("starss22-labels", lambda c: ",".join([*c, "215"])),
    "dcase2023-submission": ("starss22-labels", lambda c: ",".join(c[:2] + c[3:])),
    "dcase2024-submission": ("starss22-labels", lambda c: ",".join([*c[:2], *c[3:], "215"])),
    "spatialscaper": ("starss22-labels", lambda c: ",".join([*c, "2.150"])),
    "dcase2020-output": ("starss23-predictions/system-a-cartesian", lambda c: ",".join(c[:6])),
    "dcase2023-output": ("starss23-predictions/system-b-cartesian", lambda c: ",".join([*c[:6], "0"])),
    "sony-av-output": ("dcase2020-predictions", lambda c: ",".join(c[:2] + c[3:])),
}


SOURCES = [(folder, name, None) for folder, name in FILES.items()] + [
    (folder, name, made) for name, (folder, made) in MADE.items()
]


@pytest.mark.parametrize(("folder", "name", "made"), SOURCES, ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("rows", some([1, 2, 3, 12], 3))
def test_a_few_rows_of_real_files_never_get_a_wrong_layout(
    kept: Kept, folder: str, name: str, made: Callable[[list[str]], str] | None, rows: int
) -> None:
    head = 1 if name == "dcase2019" else 0
    for path in sorted((kept / folder).rglob("*.csv"))[::8]:
        lines = path.read_bytes().decode().splitlines(keepends=True)
        lines = [made(line.rstrip().split(",")) + "\n" for line in lines] if made else lines
        for start in range(head, len(lines) - 1, max(1, len(lines) // 4)):
            chosen = [line for line in lines[start : start + rows] if line.endswith("\n")]
            if chosen:
                assert_right_or_undecided(detected("".join(lines[:head] + chosen)), name)


_FRAME = st.integers(0, 599)
_AZIMUTH = st.integers(-180, 180)
_ELEVATION = st.integers(-60, 80)
_CM = st.integers(20, 900)
_FLOAT = st.floats(-0.999, 0.999).filter(lambda value: "." in repr(value) and "e" not in repr(value))
_DEGREES = st.floats(-179.5, 179.5).map(lambda value: round(value, 6) or 0.5).filter(lambda value: value % 1)
_GRID = st.integers(-17, 18).map(lambda value: 10 * value)
PLAUSIBLE: dict[str, tuple[st.SearchStrategy[object], ...]] = {
    "starss22": (_FRAME, st.integers(0, 12), st.integers(0, 4), _AZIMUTH, _ELEVATION),
    "starss23": (_FRAME, st.integers(0, 12), st.integers(0, 4), _AZIMUTH, _ELEVATION, _CM),
    "dcase2019-output": (_FRAME, st.integers(0, 10), _GRID, st.integers(-4, 4).map(lambda value: 10 * value)),
    "dcase2020": (_FRAME, st.integers(0, 13), st.integers(0, 2), _AZIMUTH, _ELEVATION),
    "dcase2020-submission": (_FRAME, st.integers(0, 13), st.integers(-1, 2), _DEGREES, st.floats(-44.9, 44.9).map(lambda value: round(value, 5) + 0.000001)),
    "dcase2020-output": (_FRAME, st.integers(0, 13), st.just(0), _FLOAT, _FLOAT, _FLOAT),
    "dcase2023-output": (_FRAME, st.integers(0, 12), st.just(0), _FLOAT, _FLOAT, _FLOAT, st.just(0)),
    "dcase2024-output": (_FRAME, st.integers(0, 12), st.just(0), _FLOAT, _FLOAT, _FLOAT, st.floats(0.0, 9.0)),
    "dcase2023-submission": (_FRAME, st.integers(0, 12), _AZIMUTH, _ELEVATION),
    "dcase2024-submission": (_FRAME, st.integers(0, 12), _AZIMUTH, _ELEVATION, st.integers(0, 900)),
    "sony-av-output": (_FRAME, st.integers(0, 12), _DEGREES, _DEGREES.map(lambda value: value / 2)),
    "dcase2025": (st.integers(0, 49), st.integers(0, 12), st.integers(0, 3), st.integers(-90, 90), _CM, st.integers(0, 1)),
    "spatialscaper": (_FRAME, st.integers(0, 12), st.integers(0, 5), _AZIMUTH, _ELEVATION, st.integers(300, 9000).map(lambda mm: f"{mm / 1000:.3f}")),
    "so-dataset": (_FRAME, st.integers(0, 62), st.integers(0, 3), _DEGREES.map(lambda value: f"{value:.3f}"), _ELEVATION.map(lambda value: f"{value:.3f}"), st.integers(20, 900) | st.just(-1)),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAUSIBLE)
@given(st.data())
@settings(max_examples=examples(80))
def test_one_to_three_plausible_rows_never_get_a_wrong_layout(name: str, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(*PLAUSIBLE[name]), min_size=1, max_size=3))
    text = "".join(",".join(map(str, row)) + "\n" for row in rows)
    assert_right_or_undecided(detected(text), name)


def scene(row: str, rows: int = 40) -> str:
    """*row* as a format string of the frame number n, with values that move."""
    return "".join(
        row.format(n=n, a=3 * n - 60, e=n % 30 - 10, s=n % 3, d=150 + n, f=0.5 + n / 1000) + "\n" for n in range(rows)
    )


#: Rows, and the format that their values or their header tell.
TOLD = [
    ("{n},1,0,{f},-0.31,0.12", "dcase2020-output"),
    ("{n},1,{s},{a},{e},{d}", "starss23"),
    ("{n},1,{s},{a},{e},2.{d}", "spatialscaper"),
    ("{n},1,{s},{a}.125,{e}.500,{d}", "so-dataset"),
    ("{n},1,{s},{a},{e}", "starss22"),
    ("{n}\t1\t{s}\t{a}\t{e}", "starss22"),
    ("{n},13,{s},{a},{e}", "dcase2020"),
    ("{n},1,{a},{e},{d}", "dcase2024-submission"),
    ("{n},1,-1,{a}.25,{e}.5", "dcase2020-submission"),
    ("{n},1,0,{f},-0.31,0.12,2.{d}", "dcase2024-output"),
    ("{n},14,0,{f},-0.31,0.12,2.{d}", "dcase2024-output"),
    ("30{n}00,1,{a},{e}", "dcase2023-submission"),
    ("{n},1,{a}.5,{e}.25", "sony-av-output"),
    ("speech,{n}.5,{n}.75,0,10,1", "dcase2019"),
    ("{n},dog,0.5,0.5,0.5", "seld-studio"),
]
#: Rows of which two formats remain, and these.
ASKED = [
    ("6,1,5,-6,46\n", {"starss22", "dcase2020", "dcase2024-submission"}),
    ("9,8,0,-0.516,-0.0149,0.0713,0.0\n", {"dcase2023-output", "dcase2024-output"}),
    ("18,8,-10,-10\n19,8,-10,-10\n", {"dcase2019-output", "dcase2023-submission"}),
    *((scene(f"{{n}},{number},{{a}},{{e}}"), {"dcase2019-output", "dcase2023-submission"}) for number in (1, -1)),
]


@pytest.mark.parametrize(("row", "expected"), TOLD)
def test_values_tell_a_format(row: str, expected: str) -> None:
    assert expected == name_of(detected(scene(row)))
    assert expected == name_of(detected(scene(row) + "40,1"))  # a torn tail


@pytest.mark.parametrize(("text", "formats"), ASKED)
def test_two_formats_that_remain_are_named(text: str, formats: set[str]) -> None:
    found = detected(text)
    assert (found.format, candidates(found), len(found.candidates)) == (None, formats, len(formats))


def test_a_header_or_a_name_decides() -> None:
    assert name_of(detected("frame,class,azimuth,elevation,distance\n6,1,5,-6,46\n")) == "dcase2024-submission"
    assert name_of(detected("frame,class,x,y,z\n0,NOTHING,0,0,0\n")) == "seld-studio"
    same = scene("{n},1,{s},{a},{e}")
    assert [format.name for format in detected(same).alike] == ["dcase2020"]
    assert name_of(detected(same, "dcase2021/metadata_dev/a.csv")) == "dcase2020"


def test_six_columns_of_2025_with_and_without_their_header() -> None:
    header = "frame,class,source,azimuth,distance,onscreen\n"
    rows = scene("{n},1,{s},{e},{d},0")
    for text in (header + rows, header, header + scene("{n},1,{s},{a}9,{d},2"), rows):
        assert name_of(detected(text)) == "dcase2025"
    # sources closer than 90 cm: elevations and distances of 0 and 1 cm, or distances and a flag?
    undecided = detected(scene("{n},1,{s},{e},2{s},0"))
    assert undecided.format is None
    assert {"dcase2025", "starss23"} <= candidates(undecided)


@pytest.mark.parametrize("index", [True, False])
def test_a_row_index_grows_by_one(index: bool) -> None:
    """Events of a clip in the order of their classes: frames ascend, and classes do."""
    rows = [f"{10 + n},{n // 8},1,{n - 40},5,150" for n in range(60) if index or n % 9]
    found = detected("".join(f"{n},{row}\n" if index else f"{row}\n" for n, row in enumerate(rows)))
    assert (name_of(found), found.rows.change is not None) == ("starss23", index)


@pytest.mark.parametrize("text", ["1,2,3\n", "1\n", "hello world\n", "0,1,0,5,5,5,5,5,5,5\n", "", "\r\n\r\n", "\ufeff"])
def test_what_no_layout_has(text: str) -> None:
    found = detected(text)
    assert (found.format, found.candidates, found.evidence) == (None, (), "")
    assert found.empty == (not text.strip("\r\n\ufeff"))


@given(st.text("0123456789,.-\n;e infa", max_size=80))
@settings(max_examples=examples(200))
def test_any_numbers_raise_nothing(text: str) -> None:
    found = detected(text)
    assert found.format in (None, *(candidate.format for candidate in found.candidates[:1]))


def test_a_few_impossible_values_do_not_make_another_layout() -> None:
    """They are told by the rules, with line and column; a layout is what most rows say."""
    files = []
    for number in range(40):
        table = synth.labels("m", synth.scene(number, 30.0, 8))
        files.append(text_file(get("starss23").write(table, ClipFile("m", "m.csv")), f"mix{number:03}.csv"))
    for row in (b"8,1,0,400,10,200\n", b"8,1,99,40,10,200\n", b"8,1.5,0,40,10,200\n", b"8,1,0,40,10,-200\n"):
        spoiled = [*files[:-1], dataclasses.replace(files[-1], data=files[-1].data + row)]
        assert name_of(detect(spoiled)) == "starss23", row


def test_outputs_of_2019_off_the_grid_of_its_labels(tmp_path: Path) -> None:
    rows = scene("{n},1,{a},{e}")
    named = laid(tmp_path / "named", {f"split0_{n}.csv": rows for n in range(3)})
    assert [group["format"] for group in seldio.info(named)["groups"]] == ["dcase2019-output"]
    (found,) = seldio.validate(laid(tmp_path / "other", {"a.csv": rows})).findings
    assert found.code == "SYN903"
    assert "dcase2023-submission or dcase2019-output" in found.message
    assert "dcase2019-output: all 40 rows within its ranges, but not in the steps of its labels" in str(found.hint)
    found, unsorted = seldio.validate(laid(tmp_path / "few", {"a.csv": "6,1,5,-6,46\n2,1,5,-6,46\n"})).findings
    assert (found.code, unsorted.code, unsorted.line) == ("SYN903", "LAB201", 2)
    for name in ("starss22", "dcase2024-submission", "--format", "dataset.toml"):
        assert name in f"{found.message} {found.hint}"
