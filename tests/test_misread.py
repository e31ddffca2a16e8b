"""Files that mean something else than they say: one finding with the cause, and no repair that makes it worse."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from strategies import text_file
from typer.testing import CliRunner

from seldio import validate
from seldio.cli import app
from seldio.formats import get
from seldio.formats.detect import detect
from seldio.formats.label_csv import Dialect
from seldio.rules.collection import Reference

Row = tuple[float | str, ...]
Rows = list[Row]

#: frame, class, source, azimuth, elevation, distance in cm: four sources that move, in three files.
SCENES: list[Rows] = [
    [
        (frame, 3 * s + k, s, (97 * s + 40 * k + frame) % 360 - 180, (23 * s + 7 * k) % 60 - 25, 80 + 60 * s + frame)
        for frame in range(20 + k, 80)
        for s in range(4)
        if frame % 20 > 3 * s
    ]
    for k in range(3)
]  # fmt: skip
LAYOUTS: dict[str, Callable[[Row], Row]] = {
    "starss23": lambda r: r,
    "starss22": lambda r: r[:5],
    "dcase2023-submission": lambda r: (r[0], r[1], r[3], r[4]),
}


def text(rows: Rows, end: str = "\n") -> str:
    return "".join(",".join(map(str, row)) + end for row in rows)


def at(field: str, change: Callable[[float], float | str]) -> Callable[[Rows, str], str]:
    """The rows with one column changed."""

    def make(rows: Rows, layout: str) -> str:
        dialect = get(layout)
        assert isinstance(dialect, Dialect)
        place = dialect.index(field)
        assert place is not None
        return text([(*row[:place], change(float(row[place])), *row[place + 1 :]) for row in rows])

    return make


def halved(rows: Rows, layout: str) -> str:
    """Azimuth and elevation with decimals, written with commas."""
    place = get(layout).index("azimuth")  # type: ignore[attr-defined]
    return text([
        (*row[:place], f"{row[place]},{n % 9 + 1}", f"{row[place + 1]},{n % 8 + 1}", *row[place + 2 :])
        for n, row in enumerate(rows)
    ])  # fmt: skip


def tenths(rows: Rows, layout: str) -> str:
    """Elevations with decimals, written with a comma."""
    place = get(layout).index("elevation")  # type: ignore[attr-defined]
    return text([(*row[:place], f'"{row[place]},{n % 9 + 1}"', *row[place + 1 :]) for n, row in enumerate(rows)])


def both_radians(rows: Rows, layout: str) -> str:
    place = get(layout).index("azimuth")  # type: ignore[attr-defined]
    return text([
        (*row[:place], *(round(math.radians(float(v)), 4) for v in row[place : place + 2]), *row[place + 2 :])
        for row in rows
    ])  # fmt: skip


def headed(rows: Rows, layout: str) -> str:
    names = [part.field for part in get(layout).columns]  # type: ignore[attr-defined]
    return "," + ",".join(names) + "\n" + text([(n, *row) for n, row in enumerate(rows)])


NAMES = ["speech", "dog", "clapping", "telephone", "laughter", "door", "music", "knock", "bell", "tap", "walk", "cough"]

#: What is done to the files, the one finding of each of them, and the flag that undoes it (None: nothing does).
MISREAD: dict[str, tuple[Callable[[Rows, str], str | bytes], str, str | None]] = {
    "trailing comma": (lambda rows, _: text(rows, ",\n"), "SYN124", "--fix"),
    "class names in Russian": (at("class_id", lambda number: "говор" * int(number + 1)), "LAB317", None),
    "decimal comma": (halved, "SYN125", "--unsafe-fixes"),
    "decimal comma in quotes": (
        tenths, "SYN125", "--unsafe-fixes",
    ),
    "row index": (lambda rows, _: text([(n, *row) for n, row in enumerate(rows)]), "SYN114", "--unsafe-fixes"),
    "row index with a header": (headed, "SYN114", "--unsafe-fixes"),
    "frames in seconds": (at("frame", lambda frame: frame / 10), "LAB316", "--unsafe-fixes"),
    "class names": (at("class_id", lambda number: NAMES[int(number)]), "LAB317", None),
    "a minus of a word processor": (at("azimuth", lambda a: f"{a:g}".replace("-", "\u2212")), "SYN138", "--fix"),
    "degree signs": (at("elevation", lambda e: f"{e:g}°"), "SYN138", "--fix"),
    "UTF-16": (lambda rows, _: text(rows).encode("utf-16"), "SYN102", "--fix"),
    "UTF-16 without its mark": (lambda rows, _: text(rows).encode("utf-16-be"), "SYN102", "--fix"),
    "a workbook": (lambda rows, _: b"PK\x03\x04" + bytes(range(256)), "SYN115", None),
    "inclinations": (at("elevation", lambda e: int(90 - e)), "LAB314", None),
    "frame and class swapped": (lambda rows, _: text([(row[1], row[0], *row[2:]) for row in rows]), "LAB320", "--unsafe-fixes"),
    "zeros": (lambda rows, _: text([(0,) * len(row) for row in rows]), "LAB315", None),
    "radians": (both_radians, "LAB301", "--unsafe-fixes"),
    "clips in a column": (
        lambda rows, _: text([(f"mix{n // 50:03}", *row) for n, row in enumerate(rows)]), "SUB106", None,
    ),
}  # fmt: skip
#: Each of them in two layouts, one of which is named and the other found.
IN_TURN = [
    (what, [*LAYOUTS][(number + named) % len(LAYOUTS)], bool(named))
    for number, what in enumerate(MISREAD)
    for named in (0, 1)
]
#: Information that there is another layout, and a header that is left when the index is gone.
ASIDE = {"SYN902"}


def written(folder: Path, layout: str, make: Callable[[Rows, str], str | bytes]) -> dict[str, str]:
    """Three files made of the scenes; what they should hold, by name."""
    right = {}
    for number, scene in enumerate(SCENES, 1):
        rows = [LAYOUTS[layout](row) for row in scene]
        data = make(rows, layout)
        (folder / f"mix{number:03}.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
        right[f"mix{number:03}.csv"] = text(rows)
    return right


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code in (0, 1), result.output
    return result.output


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize(("what", "layout", "told"), IN_TURN)
def test_one_cause_is_one_finding_for_each_file(what: str, layout: str, told: bool, tmp_path: Path) -> None:
    make, code, _ = MISREAD[what]
    written(tmp_path, layout, make)
    found = [f for f in validate(tmp_path, format=layout if told else None).findings if f.code not in ASIDE]
    assert {f.code for f in found} == {code}
    assert len({f.path for f in found}) == 3
    assert len(found) == 3 or code == "SYN138"  # of cells, a few are findings of their own


@pytest.mark.parametrize(("what", "layout"), [case[:2] for case in IN_TURN if MISREAD[case[0]][2]])
def test_what_is_repaired_holds_what_was_meant(what: str, layout: str, tmp_path: Path) -> None:
    make, _, flag = MISREAD[what]
    right = written(tmp_path, layout, make)
    before = contents(tmp_path)
    if flag == "--unsafe-fixes":
        run("validate", str(tmp_path), "--fix", "-f", layout)
        assert contents(tmp_path) == before
    run("validate", str(tmp_path), flag or "", "-f", layout)
    after = {name: data.decode() for name, data in contents(tmp_path).items()}
    if what == "decimal comma":
        decimals = {name: halved(table(wanted), layout) for name, wanted in right.items()}
        right = {name: rejoined(kept, layout) for name, kept in decimals.items()}
    if what == "decimal comma in quotes":
        right = {name: joined_tenths(wanted, layout) for name, wanted in right.items()}
    if what in ("radians", "degree signs", "a minus of a word processor"):
        assert {n: rounded(t) for n, t in after.items()} == {n: rounded(t) for n, t in right.items()}
    else:
        assert after == right


def table(kept: str) -> Rows:
    return [tuple(line.split(",")) for line in kept.splitlines()]


def joined_tenths(kept: str, layout: str) -> str:
    place = get(layout).index("elevation")  # type: ignore[attr-defined]
    return text([
        (*row[:place], f"{row[place]}.{n % 9 + 1}", *row[place + 1 :])
        for n, row in enumerate(table(kept))
    ])  # fmt: skip


def rejoined(kept: str, layout: str) -> str:
    place = get(layout).index("azimuth")  # type: ignore[attr-defined]
    return text([
        (*row[:place], *(f"{row[n]}.{row[n + 1]}" for n in (place, place + 2)), *row[place + 4 :])
        for row in table(kept)
    ])  # fmt: skip


def rounded(kept: str) -> Rows:
    return [tuple(round(float(cell)) for cell in row) for row in table(kept)]


@pytest.mark.parametrize("what", [what for what, (_, _, flag) in MISREAD.items() if not flag])
def test_what_is_doubtful_is_not_repaired(what: str, tmp_path: Path) -> None:
    for layout in LAYOUTS:
        written(tmp_path, layout, MISREAD[what][0])
        before = contents(tmp_path)
        assert "Nothing to repair" in run("validate", str(tmp_path), "--unsafe-fixes")
        assert contents(tmp_path) == before


# --- names of classes are no annotation of seld-studio ---------------------------------------------------


def test_a_header_is_not_written_where_two_layouts_fit(tmp_path: Path) -> None:
    """A name and three small numbers are positions of seld-studio without a header, or angles and a distance."""
    (tmp_path / "a.csv").write_text("".join(f"{n},speech,1,-2,{n % 3}\n" for n in range(30)))
    before = contents(tmp_path)
    run("validate", str(tmp_path), "--fix")
    assert contents(tmp_path) == before


def test_long_vectors_are_found_and_no_unit_vectors_are_no_layout(tmp_path: Path) -> None:
    path = tmp_path / "mix001.csv"
    unit = [(n, 1, 0, 0.8 * math.cos(n), 0.8 * math.sin(n), -0.6) for n in range(40)]
    for scale, codes in ((1.0, set()), (1.7, {"LAB110"}), (20.0, {"SYN901"})):
        path.write_text(text([(*row[:3], *(round(scale * float(v), 3) for v in row[3:])) for row in unit]))
        found = [finding for finding in validate(path).findings if finding.code not in ASIDE]
        assert {finding.code for finding in found} == codes
        if scale == 20:
            assert "not unit vectors" in (found[0].hint or "")


# --- radians in few rows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("told", [False, True])
def test_few_rows_in_radians_are_a_warning_and_stay(layout: str, told: bool, tmp_path: Path) -> None:
    path = tmp_path / "mix001.csv"
    path.write_text(both_radians([LAYOUTS[layout](row) for row in SCENES[0][40:43]], layout))
    before = path.read_bytes()
    found = [f for f in validate(path, format=layout if told else None).findings if f.code not in ASIDE]
    assert [(f.code, f.severity.value, f.fixable) for f in found] == [("LAB313", "warning", False)]
    assert found[0].message == (
        "every azimuth is within ±π and every elevation within ±π/2, with decimals: probably radians; "
        "only 3 rows, so not certain"
    )
    run("validate", str(path), "--unsafe-fixes", *(["-f", layout] if told else []))
    assert path.read_bytes() == before


@pytest.mark.parametrize("layout", LAYOUTS)
def test_many_small_files_in_radians_prove_it_together(layout: str, tmp_path: Path) -> None:
    for number in range(20):
        rows = [LAYOUTS[layout](row) for row in SCENES[number % 3][9 * number : 9 * number + 8]]
        (tmp_path / f"mix{number:03}.csv").write_text(both_radians(rows, layout))
    found = [f for f in validate(tmp_path, format=layout).findings if f.code not in ASIDE]
    assert [(f.code, f.severity.value) for f in found] == [("LAB301", "error")] * 20
    run("validate", str(tmp_path), "--unsafe-fixes", "-f", layout)
    for number in range(20):
        rows = [LAYOUTS[layout](row) for row in SCENES[number % 3][9 * number : 9 * number + 8]]
        assert rounded((tmp_path / f"mix{number:03}.csv").read_text()) == [tuple(map(int, row)) for row in rows]


def test_one_source_near_the_front_among_others_is_no_radian(tmp_path: Path) -> None:
    for number, scene in enumerate(SCENES):
        rows: Rows = [(row[0], row[1], float(row[3]) + 0.25, float(row[4]) + 0.5) for row in scene]
        (tmp_path / f"mix{number:03}.csv").write_text(text(rows))
    (tmp_path / "mix009.csv").write_text("0,1,1.25,0.5\n1,1,1.5,0.75\n2,1,-0.5,0.25\n")
    assert validate(tmp_path, format="sony-av-output").findings == []


# --- distances, zeros, frames ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "said", "code"),
    [(10, "frames of 10 ms", "SUB119"), (5, "frames of 20 ms", "SUB119"), (0.2, "frames of 500 ms", "LAB307")],
)
@pytest.mark.parametrize("dense", [False, True])
def test_frames_of_another_grid_have_one_message_with_the_factor(
    rate: float, said: str, code: str, dense: bool, tmp_path: Path
) -> None:
    copies = int(rate) if dense and rate > 1 else 1
    for number in range(1, 4):
        rows = sorted({
            (int(600 / 590 * frame * rate) + n, 1, frame % 170, 10)
            for frame in range(0, 590, 1 if rate > 1 else 5) for n in range(copies)
        })  # fmt: skip
        if rate > 1 and not dense:
            rows = [(int(frame * rate), 1, frame % 170, 10) for frame in range(590)]
        (tmp_path / f"mix{number:03}.csv").write_text(text(rows))  # type: ignore[arg-type]
    known = Reference("recordings", {f"mix{number:03}": 600 for number in range(1, 4)})
    found = validate(tmp_path, format="dcase2023-submission", reference=known).findings
    grid = [f for f in found if f.code in ("LAB307", "SUB104", "SUB112", "SUB119")]
    assert [f.code for f in grid] == [code] * (1 if rate > 1 else 3)  # a grid that is too fine is said once
    assert all(said in f.message for f in grid)
    factor = f"divide by {rate:g}" if rate > 1 else f"multiply by {1 / rate:g}"
    assert all(factor in (f.hint or "") for f in grid)


def test_numbers_in_steps_name_both_ways_where_nothing_tells(tmp_path: Path) -> None:
    path = tmp_path / "mix001.csv"
    path.write_text(text([(5 * n, 1, 0, n, 10) for n in range(60)]))
    (found,) = (f for f in validate(path, format="starss22").findings if f.code == "LAB307")
    assert "frames of 20 ms were counted, or only one frame in 5 has a row" in found.message
    assert "divide by 5, or repeat each row 5 times" in (found.hint or "")


def test_a_file_cut_at_a_line_among_whole_ones(tmp_path: Path) -> None:
    written(tmp_path, "starss23", lambda rows, _: text(rows))
    path = tmp_path / "mix002.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:77]))
    (found,) = validate(tmp_path).findings
    assert (found.code, found.path, found.line) == ("LAB319", str(path), 77)
    for each in tmp_path.iterdir():
        each.write_text(each.read_text().rstrip("\n"))
    assert validate(tmp_path).findings == []


# --- names -----------------------------------------------------------------------------------------------


def test_frames_that_are_few_or_fall_are_no_classes(tmp_path: Path) -> None:
    """Swapped columns are named only where the class column counts up, far beyond the classes, in most rows."""
    clip = tmp_path / "fold4_room2_mix001.csv"
    rows = [(frame % 5, frame) for frame in range(60)]
    for some in (rows[:9], rows[::-1], [(a, b % 20) for a, b in rows], [(a + 9, b) for a, b in rows], rows[:20]):
        clip.write_text(text([(*row, 0, 10, 5) for row in some]))
        assert "LAB320" not in {f.code for f in validate(clip, format="starss22").findings}
    clip.write_text(text([(*row, 0, 10, 5) for row in rows]))
    assert "LAB320" in {f.code for f in validate(clip, format="starss22").findings}


def test_outputs_that_two_years_fit_are_read_as_one_and_the_other_is_named(tmp_path: Path) -> None:
    path = tmp_path / "fold4_room2_mix001.csv"
    path.write_text(text([(n, n % 12, 0, 0.6, -0.1, 0.2) for n in range(40)]))
    (found,) = validate(path).findings
    assert (found.code, "dcase2022-output (classes of starss)" in found.message) == ("SYN902", True)
    path.write_text(text([(n, n % 14, 0, 0.6, -0.1, 0.2) for n in range(40)]))
    assert validate(path).findings == []


# --- what is doubtful is not used ------------------------------------------------------------------------


def test_rows_that_two_shapes_explain_are_undecided() -> None:
    """Numbers that no layout has as they are, and several have with decimals joined in one way or another."""
    found = detect([text_file(b"0,0,-2,0,0,0\n")])
    assert found.format is None
    assert len({candidate.format.name for candidate in found.candidates}) == len(found.candidates)


def test_semicolons_with_one_behind_every_row(tmp_path: Path) -> None:
    path = tmp_path / "mix001.csv"
    rows = [LAYOUTS["starss22"](row) for row in SCENES[0]]
    path.write_text(text(rows, ",\n").replace(",", ";"))
    assert {finding.code for finding in validate(path, format="starss22").findings} == {"SYN120", "SYN124"}
    run("validate", str(path), "--fix", "-f", "starss22")
    assert path.read_text() == text(rows)
