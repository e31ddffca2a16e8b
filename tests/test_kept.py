"""Results on disk: whatever a file holds, it becomes a value of the type that was asked for, or nothing."""

from __future__ import annotations

import ast
import collections
import dataclasses
import hashlib
import json
import os
import pickle
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio.check.labels import LabelCheck
from seldio.conversion.labels import Packing, Surveying, WritingFiles
from seldio.conversion.questions import MakingQuestions
from seldio.data import export
from seldio.data.export_table import _rate
from seldio.data.exporting import WriteFile
from seldio.data.window_sources import sound_facts
from seldio.differences.labels import Comparing
from seldio.engines import each, running
from seldio.engines.kept import codec, packed, results_of, unpacked
from seldio.engines.ledger import Ledger
from seldio.errors import InvalidData, SeldioWarning
from seldio.files import open_source
from seldio.findings import Finding, Severity, raise_errors
from seldio.formats import LabelFormat, get
from seldio.rules.audio import _levels
from seldio.rules.collection import probed
from seldio.rules.deep_fit import compared
from seldio.rules.tree_video import _facts, decoded
from seldio.schema.events import ClipFile, Origin, with_origin
from seldio.schema.frames import event_table
from seldio.schema.streams import TableBytes, checked_stream, to_stream
from seldio.scores.imaging.score_maps import MapCounting
from seldio.scores.seld.score_labels import Counting
from seldio.synth import CLIPS
from seldio.synth.tree import write_tree

NAME = "0" * 64


class Inner(NamedTuple):
    text: str
    rate: float


@dataclasses.dataclass(frozen=True)
class Everything:
    """A field of each kind."""

    whole: int
    number: float
    yes: bool
    kind: Literal["foa", "mic"]
    severity: Severity
    share: Fraction
    data: bytes
    table: TableBytes
    inner: tuple[Inner, ...]
    pair: tuple[int, str | None]
    either: Finding | Inner | None
    names: set[str]
    frozen: frozenset[str]
    counts: Counter[tuple[str, int]]
    found: dict[str, list[int]]
    some: Mapping[int, str]
    floats: np.ndarray[Any, np.dtype[np.float64]]
    any: np.ndarray[Any, Any]
    format: str | LabelFormat


def everything() -> Everything:
    return Everything(
        1 << 70, float("-inf"), True, "mic", Severity.ERROR, Fraction(30000, 1001), b"\0\xff",
        to_stream(pa.table({"clip": pa.array(["a", "b", "a"]).dictionary_encode(), "x": [[1.5], [], None]})),
        (Inner("\udcff\n", float("nan")), Inner("", 0.1 + 0.2)), (-3, None),
        Finding("SYN101", Severity.ERROR, "x", "a.csv", 3), {"b", "a"}, frozenset("c"), Counter({("a", 1): 2}),
        {"z": [1], "a": []}, {3: "x"}, np.arange(6.0).reshape(2, 1, 3),
        np.array([(1, 0.5)], [("task", "<u8"), ("even", "<f4")]),
        dataclasses.replace(get("starss23"), vocabulary="dcase2019"),
    )  # fmt: skip


def test_each_kind_of_value_comes_back() -> None:
    one = everything()
    data = packed(NAME, Everything, one)
    assert data is not None
    assert data == packed(NAME, Everything, everything())
    found = unpacked(data, NAME, Everything)
    for field in dataclasses.fields(Everything):
        expected, value = getattr(one, field.name), getattr(found, field.name)
        assert type(expected) is type(value), field.name
        if isinstance(expected, np.ndarray):
            assert (expected.dtype, expected.shape) == (value.dtype, value.shape)
            assert expected.tobytes() == value.tobytes()
            value[:] = value  # what is added to must be writable
        elif isinstance(expected, set | frozenset):
            assert expected == value, "sets print in any order"
        else:
            assert repr(expected) == repr(value)
    assert list(one.found) == list(found.found), "in its order"


@pytest.mark.parametrize(
    "work",
    [
        Comparing, Counting, LabelCheck, MakingQuestions, MapCounting, Packing, Surveying, WriteFile, WritingFiles,
        _facts, _levels, _rate, compared, decoded, probed, sound_facts,
    ],
    ids=lambda work: work.__name__,
)  # fmt: skip
def test_the_results_of_all_work_can_be_kept(work: Any) -> None:
    instance = object.__new__(work) if isinstance(work, type) else work
    codec(results_of(instance))


# --- what else a file may hold ---------------------------------------------------------------------------------


def file_of(record: object, buffers: list[bytes] | None = None, **changed: Any) -> bytes:
    """A file as seldio writes them, with any content."""
    text = record if isinstance(record, str) else json.dumps(record)
    schema = pa.schema([pa.field("data", changed.get("type", pa.large_binary()))], {"seldio_result": text})
    options = pa.ipc.IpcWriteOptions(compression=changed.get("compression"))
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, schema, options=options) as writer:
        writer.write_table(pa.table([pa.array(buffers or [], changed.get("type", pa.large_binary()))], schema))
    return signed(stream.getvalue().to_pybytes())


def signed(data: bytes) -> bytes:
    return data + hashlib.sha256(data).digest()


def holding(result: object, buffers: list[bytes] | None = None, **changed: Any) -> bytes:
    """A file with a result of the right name."""
    return file_of({"seldio_result": 1, "name": NAME, "result": result}, buffers, **changed)


Numbers = np.ndarray[Any, np.dtype[np.float64]]


class Made:
    """What must never be made by reading a file."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("made",)


#: By what is wrong: a file, the type that is asked for, and what is said of it.
MALFORMED: dict[str, tuple[bytes | Callable[[], bytes], Any, str]] = {
    "empty": (b"", int, "is damaged"),
    "no file of ours": (b"x" * 4000, int, "is damaged"),
    "cut short": (holding(1)[:-1], int, "is damaged"),
    "changed": (holding(1).replace(b'"result": 1', b'"result": 2'), int, "is damaged"),
    "a pickle": (signed(pickle.dumps(Made())), int, "is not a stream of Arrow"),
    "a pickle as version 1 had it": (hashlib.sha256(pickle.dumps(3)).digest() + pickle.dumps(3), int, "is damaged"),
    "text": (signed(b'{"seldio_result": 1}'), int, "is not a stream of Arrow"),
    "half a stream": (signed(holding(1)[:-32][:200]), int, "is not a stream of Arrow"),
    "an empty stream": (signed(b""), int, "is not a stream of Arrow"),
    "another table": (signed(to_stream(pa.table({"a": [1]}))), int, "does not hold a result"),
    "other columns": (holding(1, [], type=pa.utf8()), int, "does not hold a result"),
    "compressed": (holding(0, [bytes(1 << 26)], compression="zstd"), bytes, "is compressed"),
    "no JSON": (file_of("{"), int, "Expecting"),
    "nothing": (file_of(""), int, "does not hold a result"),
    "NaN": (holding(float("nan")), float, "holds NaN, which is not JSON"),
    "no record": (file_of([1]), int, "does not hold such a result"),
    "a null": (file_of(None), int, "does not hold such a result"),
    "more keys": (file_of({"seldio_result": 1, "name": NAME, "result": 1, "class": "os.system"}), int, "of another"),
    "another version": (file_of({"seldio_result": 2, "name": NAME, "result": 1}), int, "of another version"),
    "another key": (file_of({"seldio_result": 1, "name": "1" * 64, "result": 1}), int, "the result of other work"),
    "deep": (file_of('{"seldio_result":1,"name":"' + NAME + '","result":' + "[" * 10**6), int, "such a result"),
    "deep and whole": (holding(json.loads("[" * 400 + "]" * 400)), list[int], "in the place of a whole number"),
    "long digits": (file_of('{"seldio_result":1,"name":"' + NAME + '","result":' + "9" * 10**5 + "}"), int, "digits"),
    "a huge number": (holding(1 << 300), int, "in the place of a whole number"),
    "text for a number": (holding("1"), int, "in the place of a whole number"),
    "true for a number": (holding(True), int, "in the place of a whole number"),
    "a fraction for a number": (holding(1.0), int, "in the place of a whole number"),
    "a number for text": (holding(1), str, "in the place of a str"),
    "a list for text": (holding(["a"]), str, "in the place of a str"),
    "text for a list": (holding("ab"), list[str], "in the place of a list"),
    "a mapping for a list": (holding({"a": 1}), list[str], "in the place of a list"),
    "null": (holding(None), str, "in the place of a str"),
    "a long exponent": (holding("1e10000000"), Fraction, "does not hold such a result"),
    "a number without end": (holding("1e10000000"), float, "in the place of a whole number"),
    "a part of nothing": (holding([1, 0]), Fraction, "an invalid fraction"),
    "a fraction of three": (holding([1, 2, 3]), Fraction, "too many"),
    "a fraction of texts": (holding(["1", "2"]), Fraction, "in the place of a whole number"),
    "an unknown name": (holding("starss99"), LabelFormat, "in the place of a list"),
    "an unknown format": (holding(["os.system", "a", [1, 10], None, ""]), LabelFormat, "names an unknown format"),
    "no member": (holding("__class__"), Severity, "such a result"),
    "another member": (holding("mro"), Severity, "such a result"),
    "too many fields": (holding(["a", 1.0, 2]), Inner, "longer"),
    "too few fields": (holding(["a"]), Inner, "shorter"),
    "fields by name": (holding({"text": "a", "rate": 1}), Inner, "in the place of a list"),
    "no such type": (holding([7, "a"]), int | str, "holds another type"),
    "a type from behind": (holding([-1, "a"]), int | str, "holds another type"),
    "another type of two": (holding([0, "a"]), int | str, "in the place of a whole number"),
    "a type that is no number": (holding([True, "a"]), int | str, "in the place of a whole number"),
    "none of the choices": (holding("amb"), Literal["foa", "mic"], "which is none of foa, mic"),
    "true for a choice": (holding(True), Literal[1, 2], "which is none of 1, 2"),
    "bytes that are not there": (holding(1, [b"a"]), bytes, "lacks bytes"),
    "bytes from behind": (holding(-1, [b"a"]), bytes, "lacks bytes"),
    "null for bytes": (holding(0, [None]), bytes, "does not hold such a result"),  # type: ignore[list-item]
    "an array of objects": (holding(["|O", [1], 0], [bytes(8)]), Numbers, "an array of no numbers"),
    "an array of records of objects": (holding([[["a", "|O"]], [1], 0], [bytes(8)]), Any, "an array of no numbers"),
    "an array of a class": (holding(["os.system", [1], 0], [bytes(8)]), Any, "an array of no numbers"),
    "an array of other numbers": (holding(["<i8", [1], 0], [bytes(8)]), Numbers, "of another kind or size"),
    "a larger array": (holding(["<f8", [1 << 60], 0], [bytes(8)]), Numbers, "of another kind or size"),
    "an array that overflows": (holding(["<f8", [1 << 62, 8], 0], [b""]), Numbers, "of another kind or size"),
    "a negative size": (holding(["<f8", [-1], 0], [bytes(8)]), Numbers, "a negative size"),
    "a size of text": (holding(["<f8", ["1"], 0], [bytes(8)]), Numbers, "in the place of a whole number"),
    "an array of many axes": (holding(["<f8", [1] * 100, 0], [bytes(8)]), Numbers, "dim"),
    "numbers of no size": (holding(["<f3", [1], 0], [bytes(3)]), Numbers, "does not hold such a result"),
    "keys that are lists": (holding([[["a"], 1]]), dict[str, int], "in the place of a str"),
    "half a pair": (holding([["a"]]), dict[str, int], "shorter"),
    "a count of text": (holding([["a", "1"]]), Counter[str], "in the place of a whole number"),
    "no table": (holding(0, [b"no table"]), TableBytes, "is not a stream of Arrow"),
    "half a table": (holding(0, [everything().table[:300]]), TableBytes, "is not a stream of Arrow"),
    "what is never kept": (holding("/etc/passwd"), Path, "a Path cannot be kept"),
}  # fmt: skip


@pytest.mark.parametrize("case", MALFORMED)
def test_whatever_a_file_holds_is_refused_in_a_sentence(case: str, tmp_path: Path) -> None:
    data, kind, why = MALFORMED[case]
    ledger = Ledger(tmp_path)
    (tmp_path / f"{NAME}.part").write_bytes(data)  # type: ignore[arg-type]
    assert ledger.get(NAME, kind) is None
    with pytest.warns(
        SeldioWarning, match=r"^1 kept result was computed again: \S*part (is|holds|lacks|does not hold)\b"
    ) as told:
        ledger.finish()
    assert 1 == len(told)
    assert "\n" not in str(told[0].message)
    assert why in str(told[0].message)


def doubled(number: int) -> int:
    return 2 * number


@pytest.mark.parametrize("data", [signed(pickle.dumps([4])), holding([4, 5]), holding(["4"]), holding([4])])
def test_work_is_done_again_where_a_file_holds_something_else(data: bytes, tmp_path: Path) -> None:
    def done() -> list[int]:
        with running(1, resume=tmp_path):
            return list(each(doubled, [2], key=str))

    assert [4] == done()
    (path,) = tmp_path.glob("*.part")
    path.write_bytes(data)
    with pytest.warns(SeldioWarning, match="1 kept result was computed again"):
        assert [4] == done()
    path.write_bytes(signed(data[:-32].replace(NAME.encode(), path.stem.encode())))
    if data == holding([4]):
        assert [4] == done(), "what is right is believed"
    else:
        with pytest.warns(SeldioWarning, match="1 kept result was computed again"):
            assert [4] == done()


@settings(max_examples=examples(200), deadline=None)
@given(data=st.data())
def test_no_change_of_a_file_does_more_than_that(data: st.DataObject) -> None:
    """Bytes are exchanged and dropped, and the checksum made right again."""
    whole = bytearray(packed(NAME, Everything, everything()) or b"")[:-32]
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(whole) - 1))
        whole[place : place + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    try:
        found = unpacked(signed(bytes(whole)), NAME, Everything)
    except ValueError:
        return
    assert isinstance(found, Everything)


def test_tables_are_checked_before_they_are_read() -> None:
    table = pa.table({"a": pa.array(["x", "y"])})
    assert table == checked_stream(to_stream(table))
    data = bytearray(to_stream(table))
    data[data.index(b"\0\0\0\0\1\0\0\0\2\0\0\0") + 4] = 200  # where the second text begins
    with pytest.raises(ValueError, match="is not a stream of Arrow"):
        checked_stream(bytes(data))
    for way in ("lz4", "zstd"):
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, table.schema, options=pa.ipc.IpcWriteOptions(compression=way)) as writer:
            writer.write_table(table)
        with pytest.raises(ValueError, match="is compressed"):
            checked_stream(stream.getvalue().to_pybytes())


def test_a_result_that_is_too_large_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seldio.engines.kept._MOST", 100)
    for _ in range(2):
        with running(1, resume=tmp_path):
            assert [2] == list(each(doubled, [1], key=str))
    assert [] == list(tmp_path.glob("*.part"))


def test_a_command_says_it_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from seldio.cli import main

    write_tree(tmp_path / "data", 3, seconds=3.0, clips=CLIPS[:1], media=[])
    monkeypatch.setattr("sys.argv", ["seldio", "validate", str(tmp_path / "data"), "--resume", str(tmp_path / "r")])
    for expected in (False, True):
        with pytest.raises(SystemExit) as ended:
            main()
        assert 0 == ended.value.code
        said = capfd.readouterr().err
        assert expected == (said.startswith("seldio: 1 kept result was computed again: ") and 1 == said.count("\n"))
        (path,) = (tmp_path / "r").glob("*.part")
        path.write_bytes(signed(pickle.dumps(Made())))


def test_what_seldio_keeps_is_no_data(tmp_path: Path) -> None:
    """A folder or an archive may hold such files; they are not read, copied or put together again."""
    row = "0,1,0,10,0,120\n"
    for name in ("a.csv", f"{NAME}.part", "earlier.part", "seldio-parts.json", ".seldio-export/b.csv"):
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "in" / name).write_text(row)
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as packed:
        for path in sorted((tmp_path / "in").rglob("*")):
            packed.write(path, path.relative_to(tmp_path / "in"))
    for place in (tmp_path / "in", tmp_path / "in.zip"):
        with open_source(place, raise_errors) as source:
            assert ["a.csv"] == [entry.name for entry in source]
    assert ["a.csv"] == [file.name for file in export(tmp_path / "in", tmp_path / "out", "files").files]


def test_no_conversion_writes_what_seldio_keeps(tmp_path: Path) -> None:
    name = ".seldio-export/x.csv"
    row = pa.table({"clip": ["a"], "frame": [0], "class_id": [1], "azimuth": [1.0], "elevation": [1.0]})
    table = with_origin(event_table(row), Origin("starss23", "starss", (ClipFile("a", name),)))
    with pytest.raises(InvalidData, match="is one that seldio keeps its work under"):
        seldio.write(table, tmp_path / "out", "starss22", fill={"source": 0}, allow_loss="all")
    assert not (tmp_path / "out" / name).exists()


# --- no pickle -------------------------------------------------------------------------------------------------

#: What may be made of objects in memory, and why.
IN_MEMORY = {
    "engines/cluster.py": "finds the paths in a part on its way to a node; it writes nothing and reads nothing"
}
_PICKLING = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}


def test_no_module_imports_pickle() -> None:
    source = Path(seldio.__file__).parent
    found = collections.defaultdict(set)
    for path in source.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if any(name in text for name in (*_PICKLING, "allow_pickle")) else ():
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.partition(".")[0] in _PICKLING for name in names):
                found[path.relative_to(source).as_posix()].add("import")
            if isinstance(node, ast.Attribute) and node.attr in ("load", "loads", "Unpickler") and (
                isinstance(node.value, ast.Name) and node.value.id in _PICKLING
            ):  # fmt: skip
                found[path.relative_to(source).as_posix()].add("reads")
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                found[path.relative_to(source).as_posix()].add("reads")
    assert {place: {"import"} for place in IN_MEMORY} == found
