"""Label files and event tables of every dialect, for property tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from effort import some
from hypothesis import strategies as st

from seldio import geometry
from seldio.formats import TextFile
from seldio.formats.dialects import DIALECTS
from seldio.formats.label_csv import Dialect
from seldio.schema.events import COLUMNS, ClipFile
from seldio.vocabularies import vocabulary

BOM = b"\xef\xbb\xbf"
#: Each kind of column, with a header and without; `make test-slow` takes them all.
dialects = pytest.mark.parametrize("dialect", some(DIALECTS, 6, 2, 7, 14, 15), ids=lambda dialect: dialect.name)


def text_file(data: bytes, name: str = "mix001.csv") -> TextFile:
    """*data* as a file called *name*."""
    return TextFile(name, name.rsplit("/", 1)[-1], name.rsplit("/", 1)[-1].removesuffix(".csv"), data)


_INT = st.one_of(
    st.integers(0, 20).map(str),
    st.integers(-999_999_999, 999_999_999).map(str),
    st.sampled_from(["-0", "007", "000000000000", "-0000000000123", "0123456789"]),
)
_WHOLE = st.one_of(
    _INT,
    _INT,
    st.integers(-180_000, 180_000).map(lambda number: f"{number / 1000:.3f}"),
    st.sampled_from(["24.0", "5.", ".5", "-.25", "0.123456789012345678901234567890123456789012345", "-0.0"]),
)
_REAL = st.one_of(
    _WHOLE,
    st.floats(-1, 1).map(repr),
    st.floats(-1e8, 1e8).map(repr),
    st.sampled_from(
        ["1e-05", "2.5e+3", "1e5", "999999999e99", "1.e2", "3e-320", "0000000000001e1", f"0.{'0' * 42}1e3"]
    ),
)
_NAME = st.one_of(
    st.sampled_from(["speech", "Knock", "door slam", "Ж", "犬", "12", "a.b", "NA", "null", "e1", "Female speech"]),
    st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters='",=+@-'), min_size=1, max_size=8),
).filter(lambda name: name != "NOTHING")
_CELLS = {
    "int": _INT,
    "whole": _WHOLE,
    "real": _REAL,
    "real3": _REAL,
    "real3inf": _REAL | st.sampled_from(["inf", "-inf"]),
    "flag": st.sampled_from("01"),
    "name": _NAME,
    "zero": st.sampled_from(["0", "0.0"]) | _REAL,
}
_PLAIN_CELLS = _CELLS | {
    "int": st.integers(0, 500).map(str),
    "whole": st.integers(-180, 180).map(str),
    "real": st.floats(-2, 2).map(repr),
    "zero": st.just("0"),
}


@st.composite
def label_files(draw: st.DrawFn, dialect: Dialect, most: int = 6) -> bytes:
    """A file that the grammar of *dialect* accepts; its line ends may be CR LF, its header is right."""
    kinds = [part.kind for part in dialect.columns]
    cells = draw(st.sampled_from([_CELLS, _PLAIN_CELLS]))
    separator = draw(st.sampled_from([",", ",", ", "]))
    rows = [separator.join(draw(cells[kind]) for kind in kinds) for _ in range(draw(st.integers(0, most)))]
    newline = draw(st.sampled_from(["\n", dialect.newline, "\r\n"]))
    lines = [dialect.header, *rows] if dialect.header else rows
    end = newline if lines and draw(st.integers(0, 3)) else ""
    return (newline.join(lines) + end).encode()


ODD_CELLS = (
    "1_0", " 7", "7 ", "+3", "24.0", "24.5", "nan", "-inf", "inf", "1e3", "1E3", "٣", "１２", "0x1F", '"5"', '"', "",
    "-", "--1", ".", "1e", "1e999", "12345678901", "9" * 400, "=1+1", "@x", "\t4", "\x1b[2J", "\u202e", "1;2", "x,y",
    "\xa05", "e", "-.5", "0000000001", "1e-0005", "12345678901e-5", "2147483647", "a\x0cb", "\x0b", "٣.٥", "01", "2",
)  # fmt: skip


@st.composite
def broken_files(draw: st.DrawFn, dialect: Dialect) -> bytes:
    """A file of *dialect* with bytes inserted, deleted and replaced, and cells swapped for odd ones."""
    data = draw(label_files(dialect))
    for _ in range(draw(st.integers(1, 3))):
        how = draw(st.sampled_from(["cell", "cell", "insert", "delete", "replace", "line"]))
        at = draw(st.integers(0, len(data)))
        if how == "cell":
            start = max(data.rfind(b",", 0, at), data.rfind(b"\n", 0, at)) + 1
            ends = [
                end for end in (data.find(b",", start), data.find(b"\r", start), data.find(b"\n", start)) if end >= 0
            ]
            data = data[:start] + draw(st.sampled_from(ODD_CELLS)).encode() + data[min(ends, default=len(data)) :]
        elif how == "line":
            start = data.rfind(b"\n", 0, at) + 1
            line = draw(
                st.sampled_from([b"\n", b"  \n", b"\x0c\n", b"\r", b"frame,class\n", b"1,2\n", b"a;b;c;d;e;f\n", BOM])
            )
            data = data[:start] + line + data[start:]
        else:
            new = b"" if how == "delete" else bytes(draw(st.lists(_BYTES, min_size=1, max_size=3)))
            data = data[:at] + new + data[at + (how != "insert") :]
    return data


_BYTES = st.one_of(
    st.sampled_from(list(b"0123456789,-.e+ \t\r\n\"';|_xinfa\x00\x0c\x1b\xc2\xe2\x80\xff")), st.integers(0, 255)
)


_NUMBERS: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-5, 999_999_999),
    "whole": st.integers(-360, 360),
    "real": st.floats(-1e8, 1e8),
    "real3": st.integers(-360_000, 360_000).map(lambda number: number / 1000),
    "real3inf": st.integers(-90_000, 90_000).map(lambda number: number / 1000),
    "flag": st.booleans(),
}


@st.composite
def event_tables(draw: st.DrawFn, dialect: Dialect, most: int = 6) -> tuple[pa.Table, ClipFile]:
    """One clip's table with the columns that a file of *dialect* gives, and the clip's file."""
    rows = draw(st.integers(0, most))
    columns: dict[str, list[Any]] = {
        part.field: [draw(_NUMBERS[part.kind]) for _ in range(rows)]
        for part in dialect.columns
        if part.kind not in ("name", "zero")
    }
    if "distance" in columns:
        columns["distance"] = _distances(draw, dialect, rows)
    if dialect.kind("class_name"):
        columns |= _classes(draw, dialect, rows)
    if dialect.kind("elevation") == "real3inf":
        above = [draw(st.integers(0, 3)) == 0 for _ in range(rows)]
        pairs = zip(columns["elevation"], above, strict=True)
        columns["elevation"] = [np.copysign(90.0, value) if far else value for value, far in pairs]
        columns |= {"hemisphere": above} if any(above) else {}
    if "x" in columns:
        axes = [np.array(columns[axis], np.float64) for axis in "xyz"]
        columns["azimuth"], columns["elevation"] = (angle.tolist() for angle in geometry.to_polar(*axes))
    frames = None
    if dialect.silence:
        columns["frame"] = sorted(draw(st.integers(0, 9)) for _ in range(rows))
        frames = max(columns["frame"], default=-1) + 1 + draw(st.integers(0, 2))
    arrays = {name: pa.array(columns[name], COLUMNS[name]) for name in COLUMNS if name in columns}
    clip = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["mix001"]))
    newline = draw(st.sampled_from(["\n", "\r\n"])) if rows > 1 else "\n"
    final = draw(st.booleans()) or not rows
    return pa.table({"clip": clip, **arrays}), ClipFile("mix001", "mix001.csv", newline, final, frames)


def _distances(draw: st.DrawFn, dialect: Dialect, rows: int) -> list[float | None]:
    assert dialect.metre is not None
    kind = dialect.kind("distance")
    numbers = (
        st.integers(0, 100_000).map(lambda n: n / dialect.metre) if kind == "whole" else _NUMBERS[str(kind)].map(abs)
    )
    return [draw(numbers | st.none() if dialect.unknown_distance is not None else numbers) for _ in range(rows)]


def _classes(draw: st.DrawFn, dialect: Dialect, rows: int) -> dict[str, list[Any]]:
    """Class numbers with their names left out, and names that the vocabulary does not have."""
    known = st.integers(0, len(vocabulary(dialect.vocabulary)) - 1).map(lambda index: (index, None))
    unknown = st.sampled_from(["dog", "Wasser", "x y"]).map(lambda name: (None, name))
    pairs = [draw(known | unknown) for _ in range(rows)]
    names = [name for _, name in pairs]
    return {"class_id": [index for index, _ in pairs]} | ({"class_name": names} if any(names) else {})


#: Folders of real files, and their layouts.
REAL = {
    "starss22-labels": "starss22",
    "starss23-predictions/system-a-cartesian": "dcase2024-output",
    "starss23-predictions/system-a-polar": "dcase2024-submission",
    "starss23-predictions/system-b-cartesian": "dcase2024-output",
    "dcase2020-predictions": "dcase2020-submission",
    "dcase2020-baseline-predictions": "dcase2020-output",
    "tau-nigens2020-labels": "dcase2020",
    "tau-sse2019-labels": "dcase2019",
    "spatialscaper-labels": "spatialscaper",
}
