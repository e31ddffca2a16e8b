"""The strict JSON and JSON Lines syntax: what it takes, what it refuses and where it says so."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seldio.errors import InvalidData
from seldio.findings import Finding, Severity
from seldio.formats.json_text import MAX_DEPTH, JsonDocument, dumps, parse, parse_lines
from seldio.text import printable

BOM = b"\xef\xbb\xbf"
Pointer = tuple[str | int, ...]


def read(data: bytes | str) -> tuple[JsonDocument | None, list[Finding]]:
    found: list[Finding] = []
    return parse(data.encode() if isinstance(data, str) else data, "x.json", found.append), found


def read_lines(data: bytes | str) -> tuple[list[JsonDocument], list[Finding]]:
    found: list[Finding] = []
    documents = parse_lines(data.encode() if isinstance(data, str) else data, "x.jsonl", found.append)
    return list(documents), found


def places(found: list[Finding]) -> list[tuple[Any, ...]]:
    return [(finding.code, finding.line, finding.column, finding.end_column, finding.value) for finding in found]


BROKEN = {
    # bytes
    "latin-1": (b'{"a":\n "caf\xe9"}', [("SYN101", 2, 6, 7, "é")]),
    "surrogate in utf-8": ("é".encode() + b'["\xed\xa0\x80"]', [("SYN101", 1, 4, 5, "í")]),
    "utf-16 mark": ('{"a": 1}'.encode("utf-16"), [("SYN102", 1, 1, 1, None)]),
    "nul": (b'{"a":\n"\0\0"}', [("SYN104", 2, 2, 3, "\0")]),
    # syntax
    "empty": ("", [("SYN201", 1, 1, 1, "")]),
    "only a mark": (BOM, [("SYN103", 1, 1, 1, "\ufeff"), ("SYN201", 1, 1, 1, "")]),
    "trailing comma in array": ("[1,\n 2 , ]", [("SYN201", 2, 4, 5, ",")]),
    "trailing comma in object": ('{"a": 1,\n}', [("SYN201", 1, 8, 9, ",")]),
    "single quotes": ("{'a': 1}", [("SYN201", 1, 2, 5, "'a'")]),
    "missing comma": ('{"é": 1\n "b": 2}', [("SYN201", 2, 2, 5, '"b"')]),
    "missing colon": ('{"a" 1}', [("SYN201", 1, 6, 7, "1")]),
    "text without quotes": ("[dog]", [("SYN201", 1, 2, 5, "dog")]),
    "unclosed string": ('{"a": "b', [("SYN201", 1, 7, 9, '"b')]),
    "string over the line end": ('{"a": "b\n"}', [("SYN201", 1, 7, 9, '"b')]),
    "unclosed array": ('{"a":\n [1, 2', [("SYN201", 2, 2, 3, "[")]),
    "closed by another": ('{"a": 1]', [("SYN201", 1, 8, 9, "]")]),
    "text behind": ('{"a": 1} x', [("SYN201", 1, 10, 11, "x")]),
    "lines in .json": ('{"a": 1}\n{"a": 2}\n', [("SYN201", 2, 1, 9, '{"a": 2}')]),
    "True": ('{"a": True}', [("SYN201", 1, 7, 11, "True")]),
    "comment": ("[1 // one\n]", [("SYN201", 1, 4, 10, "// one")]),
    "tab in string": ('["a\tb"]', [("SYN201", 1, 4, 5, "\t")]),
    "leading zero": ("[1, 007]", [("SYN201", 1, 5, 8, "007")]),
    "no digit before the point": ("[.5]", [("SYN201", 1, 2, 4, ".5")]),
    "escape u": (r'["a\u12G4"]', [("SYN201", 1, 4, 10, r"\u12G4")]),
    "windows path": ('{"p": "C:\\data"}', [("SYN201", 1, 10, 12, r"\d")]),
    # content
    "duplicate keys": ('{"a": 1,\n "é": 2, "a": 3, "a": 4}', [("SYN202", 2, 10, 13, '"a"'), ("SYN202", 2, 18, 21, '"a"')]),
    "same key elsewhere": ('{"a": {"a": [{"a": 1}, {"a": 2}]}}', []),
    "nan": ('{"a": NaN,\n"b": [Infinity, -Infinity]}', [("SYN203", 1, 7, 10, "NaN"), ("SYN203", 2, 7, 15, "Infinity"), ("SYN203", 2, 17, 26, "-Infinity")]),
    "64 bits": ("[9223372036854775807, -9223372036854775808, 0.0000000000000000000001, 1E+0000000000001]", []),
    "over 64 bits": ("[9223372036854775808]", [("SYN201", 1, 2, 21, "9223372036854775808")]),
    "overflow": ("[1e308, 1e309, -1E+999]", [("SYN201", 1, 9, 14, "1e309"), ("SYN201", 1, 16, 23, "-1E+999")]),
    "half pairs": (
        r'{"\uD800": "a\udc00\ud83d\ude00\ud83d\ud83d\ude00\\ud800"}',
        [("SYN201", 1, 3, 9, r"\uD800"), ("SYN201", 1, 14, 20, r"\udc00"), ("SYN201", 1, 32, 38, r"\ud83d")],
    ),
    "64 levels": ("[" * 64 + "]" * 64, []),
    "65 levels": ("[" * 63 + '{"a":\n[]}' + "]" * 63, [("SYN201", 2, 1, 2, "[")]),
    "deep bait": ("[" * 100_000, [("SYN201", 1, 65, 66, "[")]),
    "deep behind strings": (json.dumps(["]" * 99, '\\"]\\'])[:-1] + "," + "[" * 64 + "]" * 65, [("SYN201", 1, 178, 179, "[")]),
    # all of it is reported, up to the first break
    "several": (r'{"a": NaN, "b": "\ud800", "a": 1e999, }', [("SYN203", 1, 7, 10, "NaN"), ("SYN201", 1, 18, 24, r"\ud800"), ("SYN202", 1, 27, 30, '"a"'), ("SYN201", 1, 32, 37, "1e999"), ("SYN201", 1, 37, 38, ",")]),
    "mark": (BOM + b'{"a": NaN}', [("SYN103", 1, 1, 1, "\ufeff"), ("SYN203", 1, 7, 10, "NaN")]),
}  # fmt: skip
HARMLESS = {"SYN103", "SYN202"}


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN)
def test_findings_of_documents(case: tuple[bytes | str, list[tuple[Any, ...]]]) -> None:
    document, found = read(case[0])
    assert case[1] == places(found)
    assert {Severity.ERROR} >= {finding.severity for finding in found}
    assert (document is not None) == ({finding.code for finding in found} <= HARMLESS)
    assert all("first in line 1, column 2" in finding.message for finding in found if finding.code == "SYN202")
    assert [printable(finding.message) for finding in found] == [finding.message for finding in found]


LINES = {
    "nothing": ("", [], []),
    "two": ('{"a": 1}\n{"a": 2}\n', [1, 2], []),
    "CR LF": ('{"a": 1}\r\n{"a": 2}\r\n', [1, 2], []),
    "separators in strings": ('{"a": "x\u2028y\u2029z\u0085\u000b"}\n'.replace("\u000b", "\x7f"), [1], []),
    "mark": (BOM + b'{"a": 1}\n', [1], [("SYN103", 1, 1, 1, "\ufeff")]),
    "bad line": ('{"a": 1}\n{"a": \n{"a": 3}\n', [1, 3], [("SYN201", 2, 1, 2, "{")]),
    "first line torn at a comma": ('{"a": 1,\n{"a": 2}\n', [2], [("SYN201", 1, 1, 2, "{")]),
    "bad bytes": (b'{"a": "\xff"}\n{"a": 2}\n', [2], [("SYN101", 1, 8, 9, "ÿ")]),
    "duplicate key": ('{"a": 1}\n{"a": 1, "a": 2}\n', [1, 2], [("SYN202", 2, 10, 13, '"a"')]),
    "two on a line": ('{"a": 1}{"a": 2}\n{"a": 3}\n', [2], [("SYN201", 1, 9, 17, '{"a": 2}')]),
    "old Mac": ('{"a": 1}\r{"a": 2}\r', [], [("SYN201", 1, 10, 18, '{"a": 2}')]),
    "blank lines": ('\n{"a": 1}\n\n \t\n\r\n{"a": 2}\n\n', [2, 6], [("SYN110", 1, 1, 1, None), ("SYN110", 3, 1, 1, None), ("SYN110", 7, 1, 1, None)]),
    "torn in a string": ('{"a": 1}\n{"a": "b', [1], [("SYN108", 2, 1, 9, '{"a": "b')]),
    "torn in a character": (b'{"a": 1}\n{"a": "\xd0', [1], [("SYN108", 2, 1, 9, '{"a": "\ufffd')]),
    "torn and nothing else": ('{"a": ', [], [("SYN108", 1, 1, 7, '{"a": ')]),
    "bad, not torn": ('{"a": 1}\n{"a": True}', [1], [("SYN201", 2, 7, 11, "True")]),
    "array on a line": ('[{"a": 1}, {"a": 2}]', [], [("SYN207", 1, 1, 21, '[{"a": 1}, {"a": 2}]')]),
    "pretty array": ("\n" + json.dumps([{"a": 1}] * 99, indent=2), [], [("SYN207", 2, 1, 2, "[")]),
    "array, an element a line": ('[{"a": 1},\n{"a": 2},\n{"a": 3}]\n', [], [("SYN207", 1, 1, 11, '[{"a": 1},')]),
    "pretty objects behind each other": ((json.dumps({"a": 1}, indent=2) + "\n") * 99, [], [("SYN201", 1, 1, 2, "{")]),
    "pretty, cut off": (json.dumps({"a": ["x"] * 99}, indent=2)[:200], [], [("SYN201", 1, 1, 2, "{")]),
}  # fmt: skip


@pytest.mark.parametrize("case", LINES.values(), ids=LINES)
def test_findings_of_lines(case: tuple[bytes | str, list[int], list[tuple[Any, ...]]]) -> None:
    documents, found = read_lines(case[0])
    assert case[2] == places(found)
    assert case[1] == [document.source.first_line for document in documents]


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.text('[]{}",:\\\ue000\u2028\x7f😀'),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.text('"\\[é'), inner), max_leaves=20
)


@given(VALUES, st.booleans(), st.none() | st.integers(0, 3))
def test_every_part_is_located(value: Any, ascii_only: bool, indent: int | None) -> None:
    document, _ = read(json.dumps(value, ensure_ascii=ascii_only, indent=indent))
    assert repr(value) == repr(document.value)
    parts: list[tuple[Pointer, Any]] = [((), value)]
    while parts:
        pointer, part = parts.pop()
        start, end = document.extent(pointer)
        assert repr(json.loads(document.source.text[start:end])) == repr(part)
        line = document.source.text.count("\n", 0, start) + 1
        assert document.locate(pointer)[:2] == (line, start - document.source.text.rfind("\n", 0, start))
        if isinstance(part, list | dict):
            parts += [((*pointer, key), part[key]) for key in (part if isinstance(part, dict) else range(len(part)))]


FRAGMENTS = [
    b'"', b"\\", b"[", b"]", b"{", b"}", b",", b":", b"0", b"9" * 19, b".", b"e", b"E+400", b"-", b"+", b"NaN", b"Infinity",
    b"\\ud800", b"\\udc00", b"\\u", b"\n", b"\r", b"\t", b"\0", b"\xff", b"\xc3", b"\xa9", BOM, b"'", b"//", b"[[" * 40,
    b"]]" * 40, b'"a":1,', b"\xe2\x80\xa8", b"true", "٣".encode(), b"",
]  # fmt: skip
EDITS = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 5), st.sampled_from(FRAGMENTS)), min_size=1, max_size=5)


@given(VALUES, EDITS, st.booleans())
@example(None, [(0, 4, b"\xff\xfe")], True)
@example(None, [(0, 4, b"[\0\0\0")], True)
def test_damaged_json_is_found(value: Any, edits: list[tuple[int, int, bytes]], ascii_only: bool) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only).encode()
    for place, cut, fragment in edits:
        place %= len(data) + 1
        data = data[:place] + fragment + data[place + cut :]
    check_against_the_standard_library(data)


def check_against_the_standard_library(data: bytes) -> None:
    """What is read is what a strict use of the json module reads; all else is an error with a place."""
    document, found = read(data)
    if not any("UTF-" in finding.message and finding.value is None for finding in found):
        strict, value = strictly(data.removeprefix(BOM))
        assert strict == (document is not None)
        assert document is None or repr(value) == repr(document.value)
    errors = [finding for finding in found if finding.severity is Severity.ERROR and finding.code not in HARMLESS]
    assert (document is None) == bool(errors)
    documents, found_in_lines = read_lines(data)
    records = sum(bool(line.strip()) for line in data.removeprefix(BOM).split(b"\n"))
    assert len(documents) == records or found_in_lines
    for finding in found + found_in_lines:
        assert finding.line is not None
        assert finding.column is not None
        assert finding.end_column is not None
        assert finding.excerpt is not None
        assert 1 <= finding.line <= data.count(b"\n") + 1
        assert 1 <= finding.column <= finding.end_column <= len(finding.excerpt) + 2
        assert printable(finding.message) == finding.message


def strictly(data: bytes) -> tuple[bool, Any]:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        value = json.loads(data.decode(), parse_constant=refuse)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return False, None
    return fits(value), value


def fits(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list | dict):
        return depth < MAX_DEPTH and all(
            fits(part, depth + 1) for part in (value.values() if isinstance(value, dict) else value)
        )
    return not isinstance(value, int) or -(2**63) <= value < 2**63


@pytest.mark.parametrize(
    ("value", "code"),
    [(math.nan, "SYN203"), ([math.inf], "SYN203"), ({"a": "x\ud800"}, "SYN201"), ({"\udc00": 1}, "SYN201")],
)
def test_dumps_refuses(value: Any, code: str) -> None:
    with pytest.raises(InvalidData) as caught:
        dumps(value)
    assert code == caught.value.finding.code
    assert str(caught.value).isprintable()


@pytest.fixture
def corpus(shared: Path) -> Callable[[str], Path]:
    def find(name: str) -> Path:
        path = shared / "corpora" / name
        if not path.exists():
            pytest.skip(f"{path} is absent; SELDIO_SHARED names the folder that holds it")
        return path

    return find


def test_json_test_suite(corpus: Callable[[str], Path]) -> None:
    wrong: dict[str, Any] = {}
    for path in sorted(corpus("json-testsuite/test_parsing").glob("*.json")):
        document, found = read(path.read_bytes())
        errors = [finding for finding in found if finding.code not in HARMLESS]
        placed = all(finding.line and finding.column for finding in errors)
        fine = {
            "y": document is not None,
            "n": bool(errors) and document is None,
            "i": bool(errors) == (document is None),
        }
        if not (fine[path.name[0]] and placed):
            wrong[path.name] = found
    assert wrong == {}
