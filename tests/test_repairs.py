"""No repair changes what a value means: what each may do is a list, and faults of another unit are findings alone."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import product
from pathlib import Path

import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_rules import ALL, Case
from typer.testing import CliRunner

from seldio.check import repair
from seldio.check.repair import ALLOWED, Fixed
from seldio.check.validation import Examined, examine, validate
from seldio.cli import app
from seldio.formats.label_csv import Dialect
from seldio.rules import CATALOGUE

Row = tuple[int, int, int, float, float, float]
Change = Callable[[Row, int], tuple[object, ...]]


def scene(clip: int, rows: int = 60) -> list[Row]:
    """Frame, class, source, azimuth, elevation and distance in cm, of sources all around within a room."""
    return [
        (
            n,
            (n * 7 + clip) % 13,
            n % 3,
            (n * 67 + 40 * clip) % 359 - 179,
            (n * 29) % 80 - 40,
            70 + (n * 53 + clip) % 480,
        )
        for n in range(rows)
    ]


def planted(folder: Path, change: Change, clips: int = 4) -> dict[str, bytes]:
    """Files of a set in which *change* was made to every row, given the number of its clip."""
    for clip in range(clips):
        lines = (",".join(map(str, change(row, clip))) for row in scene(clip))
        (folder / f"fold4_room23_mix00{clip + 1}.csv").write_text("".join(f"{line}\n" for line in lines))
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def cells(file: tuple[str, bytes]) -> list[list[float]]:
    return [[float(cell) for cell in line.split(",")] for line in file[1].decode().splitlines()]


def repaired(folder: Path, *options: str) -> dict[str, bytes]:
    result = CliRunner().invoke(app, ["validate", str(folder), "--unsafe-fixes", *options])
    assert result.exit_code in (0, 1), result.output
    return contents(folder)


def angles(turn: Callable[[float], float], decimals: int | None = 3) -> Change:
    return lambda r, _: (*r[:3], round(turn(r[3]), decimals), round(turn(r[4]), decimals), r[5])


def distance(change: Callable[[float, int], float]) -> Change:
    return lambda row, clip: (*row[:5], change(row[5], clip))


#: Sets in which a value may be in another unit or none at all: the change, and the codes that must be found.
IN_DOUBT: dict[str, tuple[Change, set[str]]] = {
    "metres in one file of four": (distance(lambda d, clip: d / 100 if clip == 1 else d), {"LAB308"}),
    "whole metres": (distance(lambda d, _: round(d / 100)), {"LAB308"}),
    "decimetres": (distance(lambda d, _: d / 10), {"LAB205"}),
    "sources near the microphone": (distance(lambda d, _: d // 30 + 3), {"LAB308"}),
    "shares of the longest distance": (distance(lambda d, _: round(d / 600, 3)), {"LAB308"}),
    "millimetres, or sources outdoors": (distance(lambda d, _: d * 10), {"LAB318"}),
    "millimetres in half of the files": (distance(lambda d, clip: d * 10 if clip % 2 else d), set()),
    "gradians": (angles(lambda a: a / 0.9), {"LAB103"}),
    "whole gradians": (angles(lambda a: a / 0.9, None), {"LAB103"}),
    "tenths of degrees": (angles(lambda a: a * 10, None), {"LAB103"}),
    "turns": (angles(lambda a: a / 360), {"LAB313"}),
    "azimuths in radians": (lambda r, _: (*r[:3], round(math.radians(r[3]), 4), *r[4:]), {"LAB205"}),
    "elevations in radians": (lambda r, _: (*r[:4], round(math.radians(r[4]), 4), r[5]), {"LAB205"}),
    "half degrees": (angles(lambda a: a + 0.5 if a < 0 else a - 0.5), {"LAB205"}),
    "angles from the zenith": (lambda r, _: (*r[:4], 90 - r[4], r[5]), {"LAB314"}),
    "angles from straight below": (lambda r, _: (*r[:4], 90 + r[4], r[5]), {"LAB314"}),
    "sources in front, in degrees": (angles(lambda a: a / 90 if a < 0 else a / 120), {"LAB301"}),
}  # fmt: skip


#: Sets whose distances are taken for confidences if nobody names the format.
SYN145 = {"decimetres", "shares of the longest distance"}


@pytest.mark.parametrize("what", IN_DOUBT)
def test_what_may_be_another_unit_is_a_finding_and_stays(what: str, tmp_path: Path) -> None:
    change, codes = IN_DOUBT[what]
    before = planted(tmp_path, change)
    found = validate(tmp_path, format="starss23").findings
    assert codes <= {finding.code for finding in found}
    assert repaired(tmp_path, "-f", "starss23") == before
    if what not in SYN145:
        assert repaired(tmp_path) == before


#: Sets in which every file has one fault that can be told: the change.
CERTAIN: dict[str, Change] = {
    "metres": distance(lambda d, _: d / 100),
    "radians": angles(math.radians, 5),
    "0 to 360": lambda r, _: (*r[:3], r[3] % 360, *r[4:]),
    "classes from 1": lambda r, _: (r[0], r[1] + 1, *r[2:]),
}


@pytest.mark.parametrize("what", CERTAIN)
def test_one_named_change_of_a_whole_set_is_undone(what: str, tmp_path: Path) -> None:
    right = planted(tmp_path, lambda row, _: row)
    planted(tmp_path, CERTAIN[what])
    assert list(map(cells, repaired(tmp_path, "-f", "starss23").items())) == list(map(cells, right.items()))


def test_a_class_list_that_may_be_longer_is_not_shifted(tmp_path: Path) -> None:
    before = planted(tmp_path, lambda r, _: (r[0], (2, 5, 9, 13)[r[1] % 4], *r[2:]))
    found = {(one.code, one.fixable) for one in validate(tmp_path, format="starss23").findings}
    assert found == {("LAB305", False)}
    assert repaired(tmp_path, "-f", "starss23") == before


@pytest.mark.parametrize("others", [0, 3])
def test_a_file_of_another_class_list_does_not_speak_for_its_set(others: int, tmp_path: Path) -> None:
    planted(
        tmp_path, lambda r, clip: (r[0], r[1] % 6 + 3 if clip < others else (2, 5, 9, 13)[r[1] % 4], *r[2:]), 1 + others
    )
    found = {(one.code, Path(one.path).stem[-1]) for one in validate(tmp_path, format="starss23").findings}
    # the sources are those of the classes before
    assert {one for one in found if one[0] != "LAB206"} == {("LAB102", str(others + 1))}
    assert str(others + 1) not in {stem for code, stem in found if code == "LAB206"}


def test_a_unit_is_changed_where_distances_are_known(tmp_path: Path) -> None:
    """The layout of annotations has -1 for a distance that is unknown."""
    right = planted(tmp_path, distance(lambda d, clip: -1 if (d + clip) % 3 else d))
    planted(tmp_path, distance(lambda d, clip: -1 if (d + clip) % 3 else d / 100))
    found = validate(tmp_path, format="so-dataset").findings
    assert {(one.code, one.fixable) for one in found} == {("LAB308", True)}
    assert repaired(tmp_path, "-f", "so-dataset") == right


#: Distances behind `0;1;0;-50;30;`: which of them tell that a comma stands before decimals.
COMMAS = {
    "1,234": False, "1,234;2,345": False, "12,345;7": False, "1,234,567": False,
    "1,234;50,5": True, "0,234": True, "1234,567": True, "1,23": True, "1,2345": True,
}  # fmt: skip


@pytest.mark.parametrize("distances", COMMAS)
def test_a_comma_that_may_stand_before_thousands_is_no_decimal_point(distances: str, tmp_path: Path) -> None:
    path = tmp_path / "fold4_room23_mix001.csv"
    path.write_text("".join(f"{n};1;0;-50;30;{cell}\n" for n, cell in enumerate(distances.split(";"))))
    before = path.read_bytes()
    found = [one for one in validate(tmp_path, format="spatialscaper").findings if one.code == "SYN120"]
    assert [one.fixable for one in found] == [COMMAS[distances]]
    after = repaired(tmp_path, "-f", "spatialscaper")[path.name]
    assert after == (before.replace(b",", b".").replace(b";", b",") if COMMAS[distances] else before)


# --- the list, held against what repairs do: files are read here without seldio -------------------------


def value(cell: str) -> Decimal | str:
    """What a cell says, however it is spelled."""
    text = cell.strip().strip('"').strip()
    try:
        return Decimal(text.rstrip("°").replace("\u2212", "-").replace("\u2013", "-").replace(",", "."))
    except InvalidOperation:
        return text


def read(data: bytes) -> list[list[Decimal | str]]:
    """The rows of a file that hold numbers, whatever stands between their cells and lines."""
    code = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    lines = data.decode(code).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    text = [line for line in lines if line.strip() and not line.startswith("#")]
    sign = max(";\t|, ", key=text[-1].strip().count) if text else ","
    rows = [[value(cell) for cell in (line.strip() if sign == " " else line).split(sign)] for line in text]
    return [row for row in rows if any(isinstance(cell, Decimal) for cell in row)]


Relation = Callable[[Decimal, Decimal], bool]


def near(factor: float) -> Relation:
    return lambda old, new: abs(float(old) * factor - float(new)) <= 0.501


#: What a change by its name is, written once more.
RELATIONS: dict[str, Relation] = {
    "wrapped": lambda old, new: (old - new) % 360 == 0 or (180 - old - new) % 360 == 0,
    "less 1": lambda old, new: new == old - 1,
    "radians to degrees": near(180 / math.pi),
    "metres and centimetres": lambda old, new: near(100)(old, new) or near(0.01)(old, new),
    "seconds to frames": lambda old, new: near(10)(old, new) or near(50)(old, new),
}


def shapes(old: list[list[Decimal | str]], codes: tuple[str, ...]) -> Iterator[list[list[Decimal | str]]]:
    """*old* with the rows, columns and order that repairs of *codes* may make of it."""
    allowed = [ALLOWED[code] for code in codes]
    if any(one.rows != "kept" for one in allowed):
        old = [row for at, row in enumerate(old) if row not in old[:at]]
    if any(one.columns == "an empty one goes" for one in allowed):
        old = [row[:-1] if row[-1] == "" else row for row in old]
    columns = range(max(map(len, old), default=0)) if any(one.columns == "one goes" for one in allowed) else (None,)
    swaps = [tuple(one.values) for one in allowed if one.columns == "exchanged"]
    width = max(map(len, old), default=0)
    pairs = [(a, b) for a in range(width) for b in range(a)] if swaps else [(0, 0)]
    for gone, (one, other), order in product(columns, pairs, {"kept", *(one.order for one in allowed)}):
        rows = [[cell for at, cell in enumerate(row) if at != gone] for row in old]
        if one < width and rows and len(rows[0]) > one:
            rows = [[row[{one: other, other: one}.get(at, at)] for at in range(len(row))] for row in rows]
        yield sorted(rows, key=lambda row: row[0]) if order == "by frame" else rows  # type: ignore[arg-type, return-value]


def beyond(change: Fixed, format: Dialect | None) -> bool:
    """Whether a repair did more to a file than the list says of its rules."""
    allowed = [ALLOWED[code] for code in change.codes]
    if any("answer" in one.values for one in allowed):
        return without_answers(records(change.before)) != without_answers(records(change.after))
    if any(one.columns == "halves joined" for one in allowed):
        before, after = ("".join(filter(str.isdigit, data.decode())) for data in (change.before, change.after))
        return before != after
    old, new = read(change.before), read(change.after)
    fields = [part.field for part in format.columns] if format is not None else []
    kinds = [{c.name for one in allowed for f, c in one.values.items() if f == field and c.meant} for field in fields]

    def fits(before: list[Decimal | str], after: list[Decimal | str]) -> bool:
        return len(before) == len(after) and all(
            one == other or any(
                isinstance(one, Decimal) and isinstance(other, Decimal) and RELATIONS[name](one, other)
                for name in (kinds[at] if at < len(kinds) else ())
            )
            for at, (one, other) in enumerate(zip(before, after, strict=True))
        )  # fmt: skip

    return not any(len(rows) == len(new) and all(map(fits, rows, new)) for rows in shapes(old, change.codes))


def records(data: bytes) -> object:
    try:
        return json.loads(data)
    except ValueError:
        return [json.loads(line) for line in data.splitlines()]


def without_answers(record: object) -> object:
    if isinstance(record, list):
        return [without_answers(one) for one in record]
    if not isinstance(record, dict):
        return record
    right = ("answer", "target", "outputs")
    return {key: "" if key in right else without_answers(one) for key, one in record.items()}


def too_much(path: Path, format: str | None, unsafe: bool) -> tuple[int, list[str]]:
    """How many files repairs change, and those in which they do more than the list says."""

    def check(changed: Mapping[str, bytes]) -> list[Examined]:
        return [examine(path, format=format, changed=changed)]

    examined = check({})
    layouts = {place: group.format for one in examined for group in one.labels for place in group.files}
    changes = repair.repairs(examined, unsafe, check)
    wrong = []
    for change in changes:
        layout = layouts.get(change.path)
        assert unsafe or all(CATALOGUE[code].fix == "safe" for code in change.codes)
        if beyond(change, layout if isinstance(layout, Dialect) else None):
            wrong.append(f"{change.codes}: {change.before[:80]!r} became {change.after[:80]!r}")
    return len(changes), wrong


def test_the_list_names_every_repair() -> None:
    assert set(ALLOWED) == {code for code, rule in CATALOGUE.items() if rule.fix != "none"}
    for code, allowed in ALLOWED.items():
        reads_the_same = allowed.rows == "kept" and allowed.columns in ("kept", "an empty one goes")
        if CATALOGUE[code].fix == "safe":
            assert reads_the_same
            assert not any(change.meant for change in allowed.values.values())
    assert {change.name for one in ALLOWED.values() for change in one.values.values() if change.meant} == set(RELATIONS)


FIXABLE = [case for case in ALL if case.bad and case.path is not None and case.code in ALLOWED]
CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize("case", FIXABLE, ids=str)
def test_examples_of_rules_are_changed_as_the_list_says(case: Case, tmp_path: Path) -> None:
    assert case.path is not None
    target = tmp_path / case.path.name
    (shutil.copytree if case.path.is_dir() else shutil.copyfile)(case.path, target)
    assert too_much(target, case.options.get("format"), unsafe=True)[1] == []


@pytest.mark.parametrize("kind", ["formats", "formats-items"])
def test_examples_of_formats_are_changed_as_the_list_says(kind: str) -> None:
    for folder in sorted((CASES / kind).iterdir()):
        assert too_much(folder, None, unsafe=True)[1] == [], folder.name


#: Faults of a whole set, of its values and of its text.
VALUES: dict[str, Change] = {
    "none": lambda r, _: r,
    "0 to 360": CERTAIN["0 to 360"],
    "radians": CERTAIN["radians"],
    "metres": CERTAIN["metres"],
    "millimetres": IN_DOUBT["millimetres, or sources outdoors"][0],
    "classes from 1": CERTAIN["classes from 1"],
    "seconds": lambda r, _: (r[0] / 10, *r[1:]),
    "swapped": lambda r, _: (*r[:3], r[4], r[3], r[5]),
    "whole gradians": IN_DOUBT["whole gradians"][0],
    "frame and class": lambda r, _: (r[1], r[0], *r[2:]),
    "an index": lambda r, _: (3 * r[0], *r),
    "half degrees": IN_DOUBT["half degrees"][0],
}  # fmt: skip
TEXT: dict[str, Callable[[list[str]], list[str]]] = {
    "shuffled": lambda lines: sorted(lines, key=lambda line: line[::-1]),
    "turned": lambda lines: lines[::-1],
    "twice": lambda lines: [*lines, *lines[:2]],
    "a header": lambda lines: ["frame,class,source,azimuth,elevation,distance", *lines],
    "points": lambda lines: [line.replace(",", ".0,", 1) for line in lines],
    "quotes": lambda lines: [",".join(f'"{cell}"' for cell in line.split(",")) for line in lines],
    "commas at the end": lambda lines: [f"{line}," for line in lines],
    "semicolons": lambda lines: [line.replace(",", ";") for line in lines],
    "decimal commas": lambda lines: [line.replace(",", ";").replace(".", ",") for line in lines],
    "tabs": lambda lines: [line.replace(",", "\t") for line in lines],
    "a mark": lambda lines: ["\ufeff" + lines[0], *lines[1:]],
    "CR LF": lambda lines: [line + "\r" for line in lines],
    "blank lines": lambda lines: [line + "\n" * (n % 7 == 3) for n, line in enumerate(lines)],
}  # fmt: skip


@given(st.sampled_from(sorted(VALUES)), st.lists(st.sampled_from(sorted(TEXT)), max_size=3, unique=True), st.booleans())
@example("seconds", ["decimal commas", "points"], False)
@example("seconds", ["decimal commas", "points", "quotes"], False)
@example("half degrees", ["a header", "commas at the end", "decimal commas"], False)
@settings(max_examples=examples(150), deadline=None)
def test_planted_faults_are_changed_as_the_list_says(what: str, faults: list[str], named: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planted(folder, VALUES[what], clips=3)
        for path in folder.iterdir():
            lines = path.read_text().splitlines()
            for fault in sorted(faults, key=list(TEXT).index):
                lines = TEXT[fault](lines)
            path.write_bytes("".join(f"{line}\n" for line in lines).encode())
        for unsafe in (False, True):
            assert too_much(folder, "starss23" if named else None, unsafe)[1] == []
