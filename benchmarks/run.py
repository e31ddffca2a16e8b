"""Speed as ratios, side by side in one run: ``make bench``.

Each row is timed in turn with what it is compared to (A, B, A, B, …); the ratio is that of the medians.
Nothing here passes or fails: the last column is the limit that the project has set itself.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import answers
import data
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import soundfile
import stored

import seldio
from seldio import validate
from seldio.check.labels import label_findings
from seldio.findings import Finding
from seldio.formats import TextFile, get
from seldio.media.recording import Recording
from seldio.scores.so_bench import PROFILES as SO_BENCH_PROFILES
from seldio.scores.so_bench import Offline
from seldio.scores.so_bench import count as so_bench_count

COLUMNS = ["frame", "class", "source", "azimuth", "elevation", "distance"]
STARSS23 = get("starss23")


def side_by_side(
    name: str, ours: Callable[[], object], other: Callable[[], object], what: str, limit: float, rounds: int = 5
) -> float:
    """Time *ours* and *other* in turn, print the ratio and return the seconds of *ours*.

    A *limit* below 1 means so much faster.
    """
    ours(), other()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for run, kept in ((ours, times[0]), (other, times[1])):
            start = time.perf_counter()
            run()
            kept.append(time.perf_counter() - start)
    a, b = median(times[0]), median(times[1])
    target = f"at most {limit:g} x" if limit >= 1 else f"at most 1/{1 / limit:.0f}"
    ratio = f"{a / b:.2f} x" if a / b > 0.2 else f"1/{b / a:.1f}"
    print(f"{name:<46} {a * 1e3:9.1f} ms   {what:<34} {b * 1e3:9.1f} ms   {ratio:>8}   {target}", flush=True)
    return a


def main() -> None:
    """Run everything."""
    reading()
    checking()
    systematic()
    asking()
    start_up()
    answering()
    hearing()
    storing()


def reading() -> None:
    """168 files with 700,000 rows into one event table."""
    files = data.text_files(168, 700_000)
    joined = b"".join(file.data for file in files)
    rows = STARSS23.read(files, reject).table.num_rows
    name = f"read {len(files)} files, {rows:,} rows"

    def read() -> object:
        return STARSS23.read(files, reject)

    side_by_side(name, read, lambda: bare_parse(joined), "bare pyarrow.csv, joined", 1.4)
    side_by_side(name, read, lambda: line_by_line(files), "line by line", 1 / 12, 3)


def checking() -> None:
    """One million clean rows through all rules; the same with 1 % bad rows."""
    clean = data.text_files(200, 1_000_000)
    joined = b"".join(file.data for file in clean)
    bad = [data.spoiled(file, every=100) for file in clean]
    assert not check(clean), "the clean file is not clean"
    found = len(check(bad))
    side_by_side("read and check 1,000,000 clean rows", lambda: check(clean), lambda: bare_parse(joined),
                 "bare pyarrow.csv", 3.5)  # fmt: skip
    side_by_side(f"the same, 1 % bad rows ({found:,} found)", lambda: check(bad), lambda: check(clean),
                 "the clean rows", 3.0, 5)  # fmt: skip
    side_by_side("read and check 1,000,000 clean rows", lambda: check(clean), pandera_check(joined, len(clean)),
                 "pandas + pandera, same checks", 1 / 2, 3)  # fmt: skip
    side_by_side("read and check 1,000,000 clean rows", lambda: check(clean), frictionless_check(joined),
                 "frictionless", 1 / 60, 1)  # fmt: skip


def systematic() -> None:
    """Folders of 78 files with one fault in every row, against the same folder without it."""
    files = data.text_files(78, 120_000)
    with tempfile.TemporaryDirectory() as name:
        clean = _folder(Path(name, "clean"), files)
        assert not validate(clean).findings, "the clean folder is not clean"
        for fault in data.THROUGHOUT:
            folder = _folder(Path(name, fault.replace(" ", "-")), [data.throughout(file, fault) for file in files])
            report = validate(folder)
            side_by_side(f"validate {report.places:,} x {fault}", partial(validate, folder), partial(validate, clean),
                         f"{len(report.findings)} findings; without it", 2.0, 5)  # fmt: skip


def _folder(folder: Path, files: list[TextFile]) -> Path:
    folder.mkdir()
    for file in files:
        (folder / file.name).write_bytes(file.data)
    return folder


def storing() -> None:
    """Labels and recordings as Parquet for the Hub."""
    side_by_side("700,000 rows of labels as Parquet", *stored.labels(700_000), "bare pyarrow", 1.3)
    with tempfile.TemporaryDirectory() as name:
        pair = stored.clips(Path(name), 20)
        side_by_side("77 MB of recordings as Parquet, from disk", *pair, "bare pyarrow", 1.3)


def asking() -> None:
    """168 files of labels to questions: read, asked and written, on one core."""
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name, "labels"), Path(name, "qa.jsonl")
        folder.mkdir()
        for file in data.scene_files(168):
            (folder / file.name).write_bytes(file.data)

        def ask() -> object:
            return seldio.convert(folder, out, "so-bench", seed=7)

        def ask_in_russian() -> object:
            return seldio.convert(folder, out, "ruenvaqa", seed=7)

        ask()
        records = [json.loads(line) for line in out.read_text("utf-8").splitlines()]

        def dump() -> object:
            text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
            return Path(name, "floor.jsonl").write_text(text, "utf-8")

        title = f"168 label files to {len(records):,} questions"
        seconds = side_by_side(title, ask, dump, "json.dumps of the same records", 8, 5)
        print(f"{'':<46} {len(records) / seconds:9,.0f} questions a second, written out; at least 20,000", flush=True)
        side_by_side("the same labels asked in Russian", ask_in_russian, ask, "in English", 6, 5)


def answering() -> None:
    """The 7,877 answers of SO-Bench joined, read without a judge and scored, which may take 2 s."""
    items, rows = answers.so_bench()
    profile = SO_BENCH_PROFILES["so-bench"]

    def score(offline: Offline) -> Callable[[], object]:
        return lambda: so_bench_count(items, rows, profile, offline=offline).report("benchmark")

    name = f"read and score {len(items):,} answers of SO-Bench"
    side_by_side(name, score("extract"), score("official-fallback"), "by the official fallback", 4, 3)


def hearing() -> None:
    """Random windows of 5 s out of four-channel recordings of 24 kHz and 16 bits."""
    with tempfile.TemporaryDirectory() as name:
        rng = np.random.default_rng(7)
        paths = [Path(name, "foa_dev", "dev-train-tau", f"fold3_room4_mix{number:03d}.wav") for number in range(8)]
        paths[0].parent.mkdir(parents=True)
        for path in paths:
            soundfile.write(path, rng.integers(-3000, 3000, (60 * 24_000, 4), np.int16), 24_000)
        picked = [(path, int(start)) for path in paths for start in rng.integers(0, 55 * 24_000, 8)]
        recordings = {path: Recording(path) for path in paths}
        maps = {path: np.memmap(path, "<i2", "r", 44).reshape(-1, 4) for path in paths}

        def each(window: Callable[[Path, int], object]) -> Callable[[], object]:
            """All windows, each thrown away before the next, as a loader copies it into its batch."""
            return lambda: sum(1 for path, start in picked if window(path, start) is not None)

        title, ours = (
            f"{len(picked)} random windows of 5 s, 4 channels",
            each(lambda p, at: recordings[p].read(at, WINDOW)),
        )
        side_by_side(title, ours, each(by_soundfile), "soundfile, transpose, copy", 1 / 2)
        side_by_side(title, ours, each(lambda p, at: by_memmap(maps[p], at)), "bare memory-mapped convert", 1.43)


#: Frames of 5 s at 24 kHz.
WINDOW = 5 * 24_000


def by_soundfile(path: Path, start: int) -> object:
    """A window as most loaders read it."""
    return np.ascontiguousarray(soundfile.read(path, WINDOW, start, dtype="float32")[0].T)


def by_memmap(samples: np.ndarray, start: int) -> object:
    """The least that a window can cost: converted out of the map, one copy."""
    sound = samples[start : start + WINDOW].T.astype(np.float32, order="C")
    sound *= np.float32(2**-15)
    return sound


def start_up() -> None:
    """The time until the help is on the screen."""
    seldio = [sys.executable, "-m", "seldio", "--help"]
    bare = [sys.executable, "-c", "import typer, rich.console"]
    side_by_side("seldio --help", lambda: quiet(seldio), lambda: quiet(bare), "import typer, rich.console", 1.5, 15)


def quiet(command: list[str]) -> None:
    """Run a command and throw its output away."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def reject(finding: Finding) -> None:
    """A sink for files that have no findings."""
    raise AssertionError(finding)


def check(files: list[TextFile]) -> list[Finding]:
    """Read and run all label rules."""
    found: list[Finding] = []
    reading = dataclasses.replace(STARSS23.read(files, found.append), named=True)
    return [*found, *(finding for finding, _ in label_findings(reading))]


def bare_parse(content: bytes) -> pa.Table:
    """The least that reading can cost."""
    return pyarrow.csv.read_csv(pa.BufferReader(content), read_options=pyarrow.csv.ReadOptions(column_names=COLUMNS))


def line_by_line(files: list[TextFile]) -> list[dict[int, list[list[float]]]]:
    """What a loader does that reads a row at a time into a dictionary of frames."""
    found = []
    for file in files:
        frames: dict[int, list[list[float]]] = {}
        for line in file.data.decode().splitlines():
            cells = line.strip().split(",")
            row = [int(cells[1]), int(cells[2]), float(cells[3]), float(cells[4]), float(cells[5])]
            frames.setdefault(int(cells[0]), []).append(row)
        found.append(frames)
    return found


def pandera_check(content: bytes, files: int) -> Callable[[], object]:
    """The same checks with pandas and pandera: types, ranges, order, duplicates, overlaps."""
    import pandera.pandas as pandera

    def bounded(low: int, high: int) -> pandera.Column:
        return pandera.Column(int, pandera.Check.in_range(low, high))

    schema = pandera.DataFrameSchema(
        {
            "frame": bounded(0, 10**7),
            "class": bounded(0, 12),
            "source": bounded(0, 1000),
            "azimuth": bounded(-180, 180),
            "elevation": bounded(-90, 90),
            "distance": bounded(0, 10_000),
        },
        checks=[
            pandera.Check(lambda df: (df["frame"].diff() >= 0) | (df["clip"].diff() != 0)),
            pandera.Check(lambda df: ~df.duplicated()),
            pandera.Check(lambda df: ~df.duplicated(["clip", "frame", "class", "source"])),
            pandera.Check(lambda df: df.groupby(["clip", "frame"])["class"].transform("size") <= 6),
        ],
    )

    def run() -> object:
        table = pd.read_csv(pa.BufferReader(content), names=COLUMNS)
        table["clip"] = np.repeat(np.arange(files), len(table) // files)
        return schema.validate(table, lazy=True)

    return run


def frictionless_check(content: bytes) -> Callable[[], object]:
    """Types and ranges with frictionless."""
    from frictionless import Dialect, Resource, Schema, fields

    limits = dict(zip(COLUMNS, [(0, 10**7), (0, 12), (0, 1000), (-180, 180), (-90, 90), (0, 10_000)], strict=True))
    schema = Schema(
        fields=[
            fields.IntegerField(name=name, constraints={"minimum": low, "maximum": high})
            for name, (low, high) in limits.items()
        ]
    )

    def run() -> object:
        report = Resource(data=content, format="csv", schema=schema, dialect=Dialect(header=False)).validate()
        assert report.valid, report
        return report

    return run


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")  # what is too small for a number is 0, as it should be
    main()
