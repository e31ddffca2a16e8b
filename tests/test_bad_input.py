"""Bad input to every command that takes a file: an exit code and plain words, never a traceback."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import invoke, laid
from effort import examples, some
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from layouts import wav

from seldio.files.archives import zipped
from seldio.synth.tree import write_demo

#: Names whose content is one thing and whose suffix says another; some that a terminal or CI system would obey.
NAMES = ("x.csv", "fold4_room23_mix001.csv", "x.json", "x.jsonl", "x.parquet", "x.zip", "x.tar", "x.csv.gz", "x.wav", "x.mp4",
         "x.tsv", "x", "x.tar.gz", "##vso[x].csv", "::error::x.json")  # fmt: skip
LABELS = "0,1,0,-50,30\n1,1,0,-49,30\n2,3,1,10,0\n"
ITEM = {"id": "m1", "audio_id": "./m1.wav", "question": "Who?", "choices": ["a", "b"], "answer": "b", "task": "sound"}
WAV = wav(0.1, 24_000, 4)
PREDICTION = {"id": "m1", "prediction": "b"}


def _tar(files: dict[str, bytes], pax: dict[str, str] | None = None) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.pax_headers = len(data), pax or {}
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def _parquet(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Good files of each kind, which are broken then."""
    folder = tmp_path_factory.mktemp("seeds")
    write_demo(folder / "tree")
    labels = next(path for path in sorted((folder / "tree" / "starss23").rglob("*.csv"))).read_bytes()
    laid(folder, {"a/x.csv": labels, "b/x.csv": labels})
    scores, table = folder / "scores.json", folder / "labels.parquet"
    invoke("score", folder / "a", "-r", folder / "b", "--output", "json", "-o", scores)
    invoke("convert", folder / "a" / "x.csv", "--to", "parquet", "-o", table)
    text = LABELS.encode()
    found = [
        text, labels, b"frame,class,azimuth,elevation,distance\n0,1,-50,30,120\n", json.dumps([ITEM] * 3).encode(),
        f"{json.dumps(ITEM)}\n{json.dumps(PREDICTION)}\n".encode(), json.dumps({"data": [ITEM]}).encode(),
        json.dumps([PREDICTION]).encode(), scores.read_bytes(), table.read_bytes(), WAV, gzip.compress(text),
        zipped({"metadata_dev/dev-test-tau/fold4_room2_mix001.csv": text}), _tar({"a/b.csv": text}),
        b"id,question,answer\n1,Who?,me\n", b"system,F,ER\na,0.5,0.3\nb,0.4,0.2\n",
        _parquet(pa.table({"clip": ["a"], "frame": [0], "class_id": [1]})),
    ]  # fmt: skip
    assert all(found)
    return found


#: What breaks programs: pieces that stand anywhere in a file.
PIECES = (b"\r", b"\x00", b'"', b"\xff\xfe", b"\xef\xbb\xbf", b"\n" * 3, b"," * 50, b"[" * 3000, b"{" * 3000, b"1e999", b"-0", b"NaN", b"9" * 400,
          b"\xed\xa0\x80", b"\\ud800", b"9" * 5000, b"a" * 140_000, b"\x1b[2J", b"::error::x\n", b"##vso[x]", "−5°".encode(),
          b"PK\x03\x04", b"PAR1", b"RIFF", b"\x1f\x8b", b"1_000", "\u0663".encode(), b'"a\r"\r')  # fmt: skip


def broken(seed: bytes, chance: random.Random) -> bytes:
    """*seed* with some damage: cut, changed, doubled, shuffled, or with something in it that does not belong there."""
    data = bytearray(seed)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(6):
            case 0:
                del data[at:]
            case 1 if data:
                data[at % len(data)] = chance.randrange(256)
            case 2:
                data[at:at] = chance.choice(PIECES)
            case 3:
                data[at:at] = data[: chance.randrange(1, 400)]
            case 4:
                del data[at : at + chance.randrange(1, 60)]
            case _:
                data[at : at + 8] = chance.randbytes(8)
    return bytes(data)


def commands(path: str, other: str, out: str) -> Iterator[list[str]]:
    """What can be done with a file."""
    yield ["validate", path]
    yield ["validate", path, "--reference", other, "--output", "json"]
    yield ["validate", path, "--diff"]
    for target in ("dcase2026", "parquet", "items", "dcase2024"):
        yield ["convert", path, "--to", target, "-o", f"{out}/made-{target}", "--allow-loss", "all"]
    yield ["convert", path, "--to", "sobench-qa", "-o", f"{out}/questions.jsonl"]
    yield ["score", path, "--reference", other]
    yield ["score", other, "--reference", path]
    yield ["rank", path]
    yield ["rank", path, other]
    yield ["info", path]
    yield ["info", path, "--json"]
    yield ["view", path, "-o", f"{out}/page.html"]
    yield ["view", other, "--predictions", path, "--questions", path, "-o", f"{out}/page.html"]
    yield ["plot", path, "-o", f"{out}/picture.png"]
    yield ["plot", other, "--predictions", path, "-o", f"{out}/picture.png"]


def said(arguments: list[str]) -> str:
    """What a command says, which is neither a traceback nor anything that a terminal or CI system would obey."""
    done = invoke(*arguments)
    text = f"{arguments}\n{done.output}"
    assert done.exception is None or isinstance(done.exception, SystemExit), f"{text}\n{done.exception!r}"
    assert done.exit_code in (0, 1, 2, 3), text
    assert not re.search(r"Traceback|a bug in seldio|\x1b|##\w*\[", done.output), text
    assert not re.search(r"^\s*::", done.output, re.MULTILINE), text
    assert done.exit_code < 2 or done.output.strip(), text
    return str(done.output)


KINDS = ("validate", "convert", "score", "rank", "info", "view", "plot")


@pytest.mark.slow
@pytest.mark.parametrize("command", KINDS)
@settings(max_examples=examples(20), deadline=None, suppress_health_check=list(HealthCheck))
@given(chance=st.randoms(use_true_random=False), name=st.sampled_from(NAMES))
def test_broken_files(
    command: str, seeds: list[bytes], tmp_path_factory: pytest.TempPathFactory, chance: random.Random, name: str
) -> None:
    folder = tmp_path_factory.mktemp("broken")
    (folder / "other").mkdir()
    path, other = folder / name, folder / "other" / name
    path.write_bytes(broken(chance.choice(seeds), chance))
    other.write_bytes(chance.choice([LABELS.encode(), chance.choice(seeds)]))
    for arguments in commands(str(path), str(other), str(folder)):
        if arguments[0] == command:
            said(arguments)


#: Files that broke something once, or that are made to.
ODD: dict[str, tuple[str, bytes]] = {
    "a bare CR in a table of scores": ("x.csv", b"system,F\ra,0.5\rb,0.4\r"),
    "a CR inside of a field": ("x.csv", b'system,F\n"a\rb",0.5\n'),
    "a field beyond the limit of csv": ("x.csv", b"system,F\n" + b"a" * (csv.field_size_limit() + 1) + b",0.5\n"),
    "an open quote": ("x.csv", b'system,F\n"a,0.5\n' * 50),
    "deep arrays": ("x.json", b"[" * 100_000 + b"]" * 100_000),
    "deep objects": ("x.json", b'{"a":' * 50_000 + b"}" * 50_000),
    "deep objects, open": ("x.jsonl", b'{"a":' * 100_000),
    "a number of many digits": ("x.json", b'[{"id": ' + b"9" * 10_000 + b"}]"),
    "scores that are no numbers": ("x.json", b'{"seldio_scores": 1, "reports": [[], 3, null]}'),
    "nothing": ("x.csv", b""),
    "zeros": ("x.parquet", bytes(5000)),
    "a zip of nothing": ("x.zip", zipped({})),
    "a zip with odd names": ("x.zip", zipped({"::error::x.csv": LABELS.encode(), "##vso[a].csv": b"x", "../x.csv": b"1"})),
    "a tar with many headers": ("x.tar", _tar({f"{n}.csv": b"0,1,0,0,0\n" for n in range(20)}, {f"k{n}": "v" * 50 for n in range(500)})),
    "a tar that ends early": ("x.tar", _tar({"a.csv": LABELS.encode() * 100})[:700]),
    "a header of sound alone": ("x.wav", WAV[:20]),
    "UTF-16": ("x.csv", LABELS.encode("utf-16")),
    "a spreadsheet": ("x.csv", zipped({"xl/workbook.xml": b"<x/>", "[Content_Types].xml": b"<x/>"})),
    "half of a pair": ("x.jsonl", b'{"id": "\\ud800", "question": "?", "answer": "x"}\n'),
    "infinite": ("x.csv", b"0,1,0,inf,nan\n1,1,0,1e999,-1e999\n"),
    "frames without end": ("x.csv", b"99999999999999999999,1,0,0,0\n4294967296,1,0,0,0\n"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", ODD)
def test_odd_files(what: str, tmp_path: Path) -> None:
    name, data = ODD[what]
    laid(tmp_path, {name: data, f"other/{name}": LABELS})
    for arguments in commands(str(tmp_path / name), str(tmp_path / "other" / name), str(tmp_path)):
        said(arguments)


NEVER = ("::error::a.csv", "##vso[task.complete result=Failed;].csv", "\n::error::b.csv", " ::x::.csv")


@pytest.mark.parametrize("name", some(NEVER, 2))
def test_names_of_files_command_nobody(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named alone, where the name is where a line begins, and in a folder, a zip and a message."""
    monkeypatch.chdir(tmp_path)
    rows = {name: "0,1,0,-50,300\n0,1,0,-50,300\n0,99,0,x,30\n", f"folder/{name}": "0,1,0,-500,30\n"}
    laid(tmp_path, rows | {"other.csv": LABELS, "x.zip": zipped({name: b"0,1,0,-500,30\n"})})
    for arguments in commands(name, "other.csv", "."):
        said(arguments)
    for path in ("folder", "x.zip", f"{name}x"):
        for command in ("validate", "info"):
            said([command, path])
        for output in ("text", "concise", "jsonl", "sarif", "markdown", "json"):
            said(["validate", path, "--output", output, "--statistics"])
        done = invoke("validate", path, "--output", "github")
        ours: Any = [line for line in done.output.splitlines() if line.lstrip().startswith("::")]
        assert all(re.match(r"::(error|warning|notice) file=[^:]*::", line) for line in ours)
        assert not re.search(r"##\w*\[", done.output)


def not_uploaded(folder: Path) -> None:
    done = invoke("push", folder, "--repo", "user/name", "--dry-run", env={"HF_HUB_OFFLINE": "1"})
    assert "a bug in seldio" not in done.output
    assert 3 > done.exit_code
    assert "Nothing was uploaded" in done.output


def test_a_header_that_is_not_utf8_names_no_columns(tmp_path: Path) -> None:
    header = b"sound_event_recording,start\xff\xfe_time\nx,1\n"
    not_uploaded(laid(tmp_path, {"mix001.csv": header, "mix002.csv": "0,1,0,10,0,150\n"}))


@pytest.mark.parametrize("text", [b"{broken", b"[]", b"\xff", b'{"info": 3}', b'{"info": {"features": {"clip": 3}}}', b"[" * 99_999,
                                  b'{"info": {"features": {"clip": {"_type": "Value"}}}}'])  # fmt: skip
def test_broken_metadata_of_datasets_names_no_columns(text: bytes, tmp_path: Path) -> None:
    table = pa.table({"clip": ["a"], "frame": [0], "class_id": [1]}).replace_schema_metadata({b"huggingface": text})
    (tmp_path / "x.parquet").write_bytes(_parquet(table))
    not_uploaded(tmp_path)
