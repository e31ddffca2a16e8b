"""What is exported, and pyarrow's bare way to write the same."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import data
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import soundfile

from seldio.data.exporting import FILE, ExportPlan, write_clips
from seldio.data.index import Index
from seldio.files import open_source
from seldio.findings import raise_errors
from seldio.formats import get
from seldio.formats.parquet import write_parquet

Pair = tuple[Callable[[], object], Callable[[], object]]


def labels(rows: int) -> Pair:
    """A table of labels."""
    table = get("starss23").read(data.text_files(168, rows), raise_errors).table
    return (
        lambda: write_parquet(table, io.BytesIO(), {"class_id": pa.int64()}),
        lambda: pq.write_table(table, io.BytesIO()),
    )


def _recordings(folder: Path, number: int) -> list[Path]:
    """WAV files of 3.84 MB each."""
    rng = np.random.default_rng(7)
    paths = [folder / f"clip{index:03d}.wav" for index in range(number)]
    for path in paths:
        soundfile.write(path, rng.integers(-9000, 9000, (480_000, 4)).astype(np.int16), 24_000)
    return paths


def clips(folder: Path, number: int) -> Pair:
    """Recordings of 20 s with four channels, read and put into a file."""
    paths = _recordings(folder, number)
    plan = ExportPlan(Index(open_source(folder, raise_errors)), "foa")

    def ours() -> None:
        with (folder / "ours.out").open("wb") as stream:
            write_clips(plan.rows, pa.table(plan.columns(plan.rows)), plan.schema, stream)

    def bare() -> None:
        rows = [{"bytes": path.read_bytes(), "path": path.name} for path in paths]
        made = pa.table({"audio": pa.array(rows, FILE)})
        pq.write_table(made, folder / "bare.out", compression="none", use_dictionary=False)

    return ours, bare
