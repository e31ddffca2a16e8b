"""Repairs: what is wrong goes, what is right stays byte for byte, and a second repair finds nothing to do."""

from __future__ import annotations

import gzip
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from commands import contents, invoke
from effort import examples, some
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import BOM, broken_files, dialects, text_file
from test_files import make_tar, make_zip
from test_rules import ALL, Case

import seldio
from seldio.check import repair
from seldio.check.labels import label_findings
from seldio.check.repair import Fixed, fix
from seldio.findings import Finding, Severity
from seldio.formats import LabelReading, get
from seldio.formats.label_csv import Dialect
from seldio.rules import CATALOGUE

FIXABLE = [case for case in ALL if case.bad and CATALOGUE[case.code].fix != "none"]


def lines_of(data: bytes) -> list[bytes]:
    """Lines with their ends; written without seldio."""
    return re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", data)


def in_utf8(data: bytes) -> bytes:
    """A text in UTF-16 as UTF-8; any other as it is."""
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return data.decode("utf-16" if marked else "utf-16-le").encode() if marked or data[1:2] == b"\0" else data


def copy(case: Case, folder: Path) -> Path:
    target = folder / case.path.name
    (shutil.copytree if case.path.is_dir() else shutil.copyfile)(case.path, target)
    return target


def mend(path: Path, format: str | None, unsafe: bool) -> tuple[str, list[Finding]]:
    """Repair on disk; what was said, and what is found then."""
    done = seldio.validate(path, format=format, fix=not unsafe, unsafe_fixes=unsafe)
    return done.remark, done.findings


@pytest.mark.parametrize("case", some(FIXABLE, 2), ids=str)
def test_examples_are_repaired(case: Case, tmp_path: Path) -> None:
    path, format = copy(case, tmp_path), case.options.get("format")
    unsafe = CATALOGUE[case.code].fix == "unsafe"
    before, found = contents(tmp_path), seldio.validate(path, format=format).findings
    if unsafe:
        assert mend(path, format, unsafe=False)[0].startswith("Nothing ")
        assert contents(tmp_path) == before
    said, left = mend(path, format, unsafe)
    after = contents(tmp_path)
    if not any(finding.fixable for finding in found if finding.code == case.code):
        assert said.startswith("Nothing ")
        assert after == before
        return
    assert case.code not in {finding.code for finding in left}
    assert errors(left) <= errors(found)
    for name, data in before.items():
        file = str(path.parent / name)
        mine = [finding for finding in found if finding.path == file and finding.code == case.code]
        runs = [run for finding in mine for run in finding.ranges or ((finding.line or 0, finding.line or 0),)]
        marked: set[int | None] = {line for low, high in runs for line in range(low, high + 1)}
        assert_untouched(case.code, lines_of(in_utf8(data)), lines_of(after[name]), marked)
    assert mend(path, format, unsafe)[0].startswith("Nothing ")
    assert contents(tmp_path) == after


def errors(findings: Iterable[Finding]) -> set[str]:
    return {finding.code for finding in findings if finding.severity is Severity.ERROR}


def assert_untouched(code: str, before: list[bytes], after: list[bytes], marked: set[int | None]) -> None:
    """What a rule's repair may change: ends, an order, whole lines, or the lines that were reported."""
    if code in ("SYN105", "SYN106"):
        assert [line.rstrip(b"\r\n") for line in after] == [line.rstrip(b"\r\n") for line in before]
    elif code == "SYN103":
        assert [BOM + after[0], *after[1:]] == before
    elif code == "SYN112":
        assert after[1:] == before
    elif code == "SYN145":  # a column goes from every row, and the header with it
        assert [line.rstrip(b"\n").rpartition(b",")[0] for line in before[1:]] == [line.rstrip(b"\n") for line in after]
    elif code in ("SYN110", "SYN111", "LAB202"):
        rest = iter(before)
        assert all(line in rest for line in after)
        assert len(before) - len(after) >= 1
    elif code == "LAB201":
        assert Counter(line.rstrip(b"\r\n") for line in after) == Counter(line.rstrip(b"\r\n") for line in before)
        assert [line[-1:] for line in after] == [line[-1:] if line[-1:] == b"\n" else after[-1][-1:] for line in before]
    else:
        assert len(after) == len(before)
        if code in ("SYN122", "SYN123", "SYN132", "SYN137", "SYN131", "LAB103"):
            pairs = zip(before, after, strict=True)
            assert {number for number, (old, new) in enumerate(pairs, 1) if old != new} <= marked


def run(*arguments: str, data: bytes | None = None) -> str:
    result = invoke(*arguments, input=data)
    assert result.exit_code in (0, 1), result.output
    return result.stdout


def patched(data: bytes, diff: list[str]) -> bytes:
    """*data* with a unified diff applied by its line numbers; line ends other than LF are shown as signs."""
    old, new, position, previous = lines_of(data), [], 0, ""
    for line in diff[2:]:
        if line == r"\ UTF-16 becomes UTF-8":
            return in_utf8(data)
        if match := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            start = int(match[1]) - (match[2] != "0")
            new += old[position:start]
            position = start
        elif line.startswith("\\"):
            new = [*new[:-1], new[-1].rstrip(b"\r\n")] if previous in " +" else new
        else:
            text, end = re.fullmatch(r"(.*?)(␍␊|␍)?", line[1:]).groups()  # type: ignore[union-attr]
            position += line[0] in " -"
            new += [text.encode() + {"␍␊": b"\r\n", "␍": b"\r"}.get(end, b"\n")] if line[0] in " +" else []
            previous = line[0]
    return b"".join([*new, *old[position:]])


@pytest.mark.parametrize("case", some(FIXABLE, 3), ids=str)
def test_diff_changes_nothing_and_shows_what_fix_does(case: Case, tmp_path: Path) -> None:
    path, format = copy(case, tmp_path), case.options.get("format")
    mode = "--unsafe-fixes" if CATALOGUE[case.code].fix == "unsafe" else "--fix"
    options = ["validate", str(path), mode, *(["-f", format] if format else [])]
    before = contents(tmp_path)
    shown = run(*options, "--diff").split("\n")
    assert contents(tmp_path) == before
    run(*options)
    after = contents(tmp_path)
    starts = [number for number, line in enumerate(shown) if line.startswith("--- ")] + [len(shown) - 1]
    diffs = {shown[a].removeprefix("--- "): shown[a:b] for a, b in pairwise(starts)}
    assert set(diffs) == {str(path.parent / name) for name in before if after[name] != before[name]}
    for name, data in before.items():
        diff = diffs.get(str(path.parent / name), [])
        assert patched(data, diff) == after[name]
    if not diffs:
        assert shown[0].startswith("Nothing ")


def test_diff_is_safe_to_print() -> None:
    lines = list(Fixed("a\x1b[2J.csv", BOM + b"\x1b[31m\xe2\x80\xae\n", b"0\n", ()).diff())
    assert lines == ["--- a\\x1b[2J.csv", "+++ a\\x1b[2J.csv", "@@ -1 +1 @@", "-\\ufeff\\x1b[31m\\u202e", "+0"]


def test_archives_and_standard_input_are_not_touched(tmp_path: Path) -> None:
    data = BOM + b"5,1,0,-50,+30\r\n\r\n1,1,0,-50,30\r\n"
    make_zip(tmp_path / "x.zip", ("mix001.csv", data))
    make_tar(tmp_path / "x.tar", ("mix001.csv", data))
    (tmp_path / "mix001.csv.gz").write_bytes(gzip.compress(data))
    before = contents(tmp_path)
    for name in ("x.zip", "x.tar", "mix001.csv.gz"):
        for mode in ("--fix", "--unsafe-fixes", "--diff"):
            out = invoke("validate", tmp_path / name, "-f", "starss22", mode).output
            assert "findings can be repaired once unpacked (archives are not rewritten)." in out
            assert "fixable with" not in out
        found = run("validate", str(tmp_path / name), "-f", "starss22")
        assert "SYN103" in found
        assert "fixable once unpacked: archives are not rewritten." in found
    assert "SYN103" in run("validate", "-", "-f", "starss22", "--unsafe-fixes", data=data)
    assert contents(tmp_path) == before
    (tmp_path / "mix001.csv").write_bytes(data)
    assert "<stdin>" in run("validate", "-", str(tmp_path / "mix001.csv"), "-f", "starss22", "--fix", data=data)
    assert (tmp_path / "mix001.csv").read_bytes() == b"1,1,0,-50,30\n5,1,0,-50,30\n"


def checked(data: bytes, dialect: Dialect) -> tuple[LabelReading, list[Finding]]:
    found: list[Finding] = []
    reading = dialect.read([text_file(data)], found.append)
    found += [finding for finding, _ in label_findings(reading)]
    return reading, found


def settled(data: bytes, dialect: Dialect, unsafe: bool) -> bytes:
    """*data* repaired until nothing changes."""
    for _ in range(repair.ROUNDS):
        codes = {finding.code for finding in checked(data, dialect)[1]}
        fixed = fix("mix001.csv", data, dialect, codes, unsafe)
        assert fixed.before == data
        if not fixed.codes:
            return data
        data = fixed.after
    pytest.fail(f"never ends: {data!r}")


def rows(reading: LabelReading) -> list[str]:
    """The rows by frame, in file order inside a frame."""
    table = reading.table.to_pylist()
    return [str(row) for row in sorted(table, key=lambda row: row.get("frame", 0))]


def in_order(some: list[str], among: list[str]) -> bool:
    rest = iter(among)
    return all(row in rest for row in some)


def test_rows_inside_an_open_quote_are_not_sorted_away() -> None:
    data = b'1,0,0,0.0,0.0,1.0\n0,0,0,0.0,0.0,1.0\n0,"0,0,0.0,0.0,1.0\n'
    assert settled(data, get("dcase2020-output"), unsafe=False) == data


def test_quotes_stay_where_a_comma_in_them_may_be_one_of_thousands() -> None:
    data = b'0;0;0;0;0\n0;0;0;0;"1,000"\n'
    _, found = checked(data, get("dcase2024-submission"))
    assert {finding.code: finding.fixable for finding in found} == {"SYN120": False, "SYN122": False}
    assert settled(data, get("dcase2024-submission"), unsafe=True) == data


@dialects
@given(st.data())
@settings(max_examples=examples(50))
def test_repairs_of_anything_settle(dialect: Dialect, data: st.DataObject) -> None:
    broken = data.draw(broken_files(dialect))
    before, found = checked(broken, dialect)
    fixed = settled(broken, dialect, unsafe=False)
    after, left = checked(fixed, dialect)
    # without its quotes, a file may turn out to have the same wrong number of cells in all whole rows
    if after.parts[0].readable:
        assert in_order(rows(before), rows(after))
        assert [finding for finding in left if finding.fixable and CATALOGUE[finding.code].fix == "safe"] == []
    settled(broken, dialect, unsafe=True)
    codes = {finding.code for finding in found}
    assert fix("mix001.csv", broken, dialect, codes - set(CATALOGUE)).after == broken


@given(st.binary(max_size=60), st.booleans())
def test_any_bytes_are_repaired_without_a_crash(data: bytes, unsafe: bool) -> None:
    for name in ("starss22", "dcase2025", "so-dataset", "seld-studio"):
        settled(data, get(name), unsafe)  # type: ignore[arg-type]
