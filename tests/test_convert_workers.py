"""Labels to labels shard by shard: the same files and words as all at once, with workers, and after a kill."""

from __future__ import annotations

import io
import os
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seldio import catalogues, synth
from seldio.check import vetting
from seldio.conversion import labels as conversion
from seldio.conversion.labels import convert_source
from seldio.conversion.report import Conversion
from seldio.errors import InvalidData, SeldioError
from seldio.findings import raise_errors
from seldio.formats import get, parquet
from seldio.formats.parquet import read_parquet, write_clips, write_parquet
from seldio.parallel import running
from seldio.schema.events import ClipFile, Origin, clip_codes, with_origin

pytestmark = pytest.mark.slow


def cut_small(patch: pytest.MonkeyPatch, size: int) -> None:
    """Parts of so many bytes, of which nothing is kept."""
    patch.setattr(catalogues, "CUT", size)
    patch.setattr(catalogues, "HOLD", -1)
    patch.setattr(conversion, "KEPT", -1)
    patch.setattr(conversion, "PART", size)


@pytest.fixture
def sharded(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is no single file goes in shards of two or three files."""
    cut_small(monkeypatch, 3_000)


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve label files in two folders, one silent, one with CR LF, one without its last line end, and a readme."""
    folder = tmp_path_factory.mktemp("set") / "metadata_dev"
    for number in range(12):
        table = synth.labels("m", synth.scene(number, 8.0, 3))
        data = get("starss23").write(table, ClipFile("m", "m.csv"))
        data = {3: b"", 5: data.replace(b"\n", b"\r\n"), 9: data[:-1]}.get(number, data)
        path = folder / ("dev-test", "dev-train")[number % 2] / f"mix{(7 * number) % 12:03}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / "README.md").write_bytes(b"labels")
    return folder


def contents(place: Path) -> dict[str, bytes]:
    """The files below a folder, or a file, by their names."""
    files = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in files}


def outcome(source: Path, out: Path, to: str, **options: Any) -> tuple[object, dict[str, bytes]]:
    """What converting gives, be it an error, and what lies there then."""
    try:
        done: object = convert_source(source, out, to, **options)
    except SeldioError as error:
        done = type(error), str(error)
    if isinstance(done, Conversion):
        done = {**vars(done), "written": [os.path.relpath(path, out) for path in done.written]}
    return done, contents(out) if out.exists() else {}


# --- shards give what the whole gives ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("to", "fill"),
    [
        ("starss23", {}), ("dcase2023-submission", {}), ("dcase2024-output", {}), ("dcase2026", {}), ("parquet", {}),
        ("dcase2019", {"distance": 1}), ("seld-studio", {}), ("dcase2025", {"onscreen": 1}), ("so-dataset", {}),
    ],
)  # fmt: skip
def test_workers_change_nothing(
    labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str, fill: dict[str, int]
) -> None:
    options: dict[str, Any] = {"allow_loss": ["all"], "fill": fill}
    expected = outcome(labels, tmp_path / "whole", to, **options)
    for number, size in enumerate((1, 3_000, 10**9)):
        cut_small(monkeypatch, size)
        assert expected == outcome(labels, tmp_path / f"shards{number}", to, **options)
    assert isinstance(expected[0], dict)
    assert len(expected[1]) == (1 if to == "parquet" else 12)


def test_two_processes_change_nothing(labels: Path, tmp_path: Path, sharded: None) -> None:
    bad = _with_bad_file(labels, tmp_path / "bad")
    targets = ("dcase2024-submission", "parquet")
    alone = [outcome(labels, tmp_path / f"alone-{to}", to, allow_loss=["all"]) for to in targets]
    with running(2):
        assert alone == [outcome(labels, tmp_path / f"two-{to}", to, allow_loss=["all"]) for to in targets]
        for to in targets:
            with pytest.raises(InvalidData, match=r"b\.csv:1:1"):
                convert_source(bad, tmp_path / "none", to)
    assert all(isinstance(done, dict) for done, _ in alone)
    assert not (tmp_path / "none").exists()


def _with_bad_file(labels: Path, folder: Path) -> Path:
    folder.mkdir()
    for path in labels.rglob("*.csv"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "b.csv").write_bytes(b"nonsense,1,2,3,4,5\n")
    return folder


@pytest.mark.parametrize(
    ("layout", "texts", "fill"),
    [
        ("dcase2023-output", ["0,1,0,1.0,0.0,0.0,0\n", "5,1,0,0.0,1.0,0.0,2.5\n", "", "7,1,0,1.0,0.0,0.0,0\n"], {}),
        ("so-dataset", ["0,1,0,10,20,-1\r\n", "0,2,0,10,20,35\r\n"], {"distance": 2}),
        ("dcase2019", ["sound_event_recording,start_time,end_time,ele,azi,dist\nknock,0.0,0.5,0,10,1\n",
                       "sound_event_recording,start_time,end_time,ele,azi,dist\ncough,0.1,0.7,0,-170,2\n"], {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("to", ["parquet", "dcase2026", "dcase2024-output", "seld-studio"])
def test_columns_that_only_some_shards_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, texts: list[str], fill: dict[str, int], to: str
) -> None:
    (tmp_path / "in").mkdir()
    for number, text in enumerate(texts):
        (tmp_path / f"in/mix{number}.csv").write_bytes(text.encode())
    options: dict[str, Any] = {
        "format": layout,
        "allow_loss": ["all"],
        "fill": {} if to in ("parquet", "seld-studio") else fill,
    }
    whole = outcome(tmp_path / "in", tmp_path / "whole", to, **options)
    cut_small(monkeypatch, 1)
    assert whole == outcome(tmp_path / "in", tmp_path / "parts", to, **options)
    assert isinstance(whole[0], dict)


@pytest.mark.usefixtures("sharded")
def test_archives_and_streams(labels: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name, data in contents(labels).items():
            archive.writestr(name, data)
    with running(2):
        convert_source(tmp_path / "x.zip", tmp_path / "out", "starss23")
        convert_source(tmp_path / "x.zip", tmp_path / "a.parquet", "parquet")
    assert contents(tmp_path / "out") == {name: data for name, data in contents(labels).items() if name != "README.md"}
    stream = io.BytesIO()
    assert ("-",) == convert_source(labels, stream, "parquet").written
    assert stream.getvalue() == (tmp_path / "a.parquet").read_bytes()


# --- Parquet a row group at a time ------------------------------------------------------------------------------------


@given(rows=st.lists(st.integers(0, 9), max_size=30), cuts=st.sets(st.integers(0, 30)), few=st.sampled_from([0, 1000]))
def test_parts_make_the_table_of_the_whole(rows: list[int], cuts: set[int], few: int) -> None:
    files = tuple(ClipFile(f"c{number}", f"c{number}.csv") for number in range(len(rows)))
    codes = np.repeat(np.arange(len(rows), dtype=np.int32), rows)
    frames = pa.array(np.arange(len(codes)), pa.int32())
    names = [file.clip for file in files]
    table = pa.table({"clip": pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string())), "frame": frames})
    whole, parts = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "GROUP_CLIPS", 4)
        patch.setattr(parquet, "GROUP_ROWS", 15)
        patch.setattr(parquet, "FEW_CLIPS", few)
        write_parquet(with_origin(table, Origin("starss23", "starss", files)), whole)
        numbered = pa.table({"clip": pa.array(codes, pa.int32()), "frame": frames})
        ends = np.cumsum([0, *rows])
        bounds = sorted({0, len(codes), *(int(ends[min(cut, len(rows))]) for cut in cuts)})
        pieces = [numbered.slice(low, high - low) for low, high in zip(bounds, [*bounds[1:], len(codes)], strict=True)]
        write_clips(pieces, parts, Origin("starss23", "starss", files), names, table.schema)
    assert whole.getvalue() == parts.getvalue()
    again = read_parquet(whole.getvalue(), "x.parquet", raise_errors)
    assert again is not None
    assert again.column_names == ["clip", "frame"]
    assert clip_codes(again)[1] == names
    assert again["frame"].to_pylist() == frames.to_pylist()
    assert clip_codes(again)[0].tolist() == codes.tolist()


def test_files_do_not_grow_with_the_square_of_their_clips(monkeypatch: pytest.MonkeyPatch) -> None:
    def size(clips: int) -> int:
        names = [f"fold1_room{number % 16}_mix{number:06}" for number in range(clips)]
        table = pa.table({"clip": pa.DictionaryArray.from_arrays(pa.array(range(clips), pa.int32()), pa.array(names)),
                          "frame": pa.array(range(clips), pa.int32())})  # fmt: skip
        stream = io.BytesIO()
        write_parquet(table, stream)
        assert (clips + 99) // 100 == pq.ParquetFile(stream).num_row_groups
        return len(stream.getvalue())

    assert size(8_000) < 4.4 * size(2_000)


# --- memory and the command line --------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["starss22", "parquet"])
def test_memory_does_not_grow_with_the_labels(labels: Path, tmp_path: Path, sharded: None, to: str,
                                              monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    cut_small(monkeypatch, 100_000)
    monkeypatch.setattr(parquet, "GROUP_CLIPS", 3)
    monkeypatch.setattr(vetting, "MOST_ROWS", 1_000)
    text = b"".join(path.read_bytes().replace(b"\r", b"").rstrip(b"\n") + b"\n" for path in sorted(labels.rglob("*.csv"))
                    if path.stat().st_size)  # fmt: skip
    peaks, sizes = [], []
    for times in (1, 4):
        folder = tmp_path / str(times)
        folder.mkdir()
        for number in range(15 * times):
            (folder / f"mix{number:03}.csv").write_bytes(text)
        convert_source(folder, tmp_path / f"warm{times}", to, format="starss23", allow_loss=["all"])
        before = pa.total_allocated_bytes()
        tracemalloc.start()
        convert_source(folder, tmp_path / f"out{times}", to, format="starss23", allow_loss=["all"])
        peaks.append(tracemalloc.get_traced_memory()[1] + pa.total_allocated_bytes() - before)
        tracemalloc.stop()
        sizes.append(sum(map(len, contents(folder).values())))
    assert sizes[1] - sizes[0] > 300_000
    assert peaks[1] - peaks[0] < (sizes[1] - sizes[0]) / 4
