"""What each verb does in a second with one process and with two, and what that means for SO-Dataset's size.

``python benchmarks/scale.py [FOLDER]``: the data (about 1 GB) is made in FOLDER, by default a temporary one.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import soundfile

import seldio
from seldio import synth
from seldio.formats import get
from seldio.parallel import running
from seldio.schema.events import ClipFile

#: SO-Dataset: clips of 20 s with four channels at 16 kHz, their bytes, and the questions about them.
CLIPS, BYTES, ITEMS = 400_000, 1.1e12, 2_100_000
#: Label rows of so many clips, at 200 label frames with one and a half sources.
ROWS = CLIPS * 300
RATE, SECONDS = 16_000, 20
SOUNDS, LINKS, QUESTIONS, LABELS = 200, 8_000, 40_000, 400
#: Files of labels under further names, so many that they are worked on in parts.
MORE = 6_000


class Verb(NamedTuple):
    """Something to be timed: what it counts, how many of these it did, and how many there are at full size."""

    name: str
    unit: str
    count: float
    whole: float
    run: Callable[[], object]


def main(place: Path) -> None:
    """Print a line for each verb."""
    names = ("sounds", "many", "items", "few", "labels")
    sounds, many, items, few, labels = (place / name for name in names)
    size = make_sounds(sounds)
    make_links(sounds, many, LINKS, "clip{:06d}.wav")
    make_items(items)
    rows = make_labels(few) * MORE // LABELS
    make_links(few, labels, MORE, "mix{:06d}.csv")
    out = place / "out"
    verbs = [
        Verb("validate: headers", "recordings", LINKS, CLIPS, lambda: seldio.validate(many)),
        Verb("validate: questions", "questions", QUESTIONS, ITEMS, lambda: seldio.validate(items)),
        Verb("validate: labels", "rows", rows, ROWS, lambda: seldio.validate(labels)),
        Verb("validate --deep", "bytes", size, BYTES, lambda: seldio.validate(sounds, deep=True)),
        Verb(
            "convert labels",
            "rows",
            rows,
            ROWS,
            lambda: seldio.convert(labels, out, "dcase2024-output", allow_loss=["all"]),
        ),
        Verb("labels to questions", "questions", ask(few, out), ITEMS, lambda: ask(few, out)),
        Verb("score", "rows", rows, ROWS, lambda: seldio.score(labels, labels, profile="dcase2023")),
        Verb("export to Parquet", "bytes", size, BYTES, lambda: export(sounds, out)),
    ]
    for verb in verbs:
        one, two = (timed(verb.run, workers, out) for workers in (1, 2))
        print(f"{verb.name:<22} {verb.count / one:15,.0f} {verb.unit} a second; two processes {one / two:4.2f} x; "
              f"all of SO-Dataset {hours(verb.whole * one / verb.count)} on one processor", flush=True)  # fmt: skip


def timed(run: Callable[[], object], workers: int, out: Path) -> float:
    """The better of two; processes are there before the clock starts."""
    best = float("inf")
    for _ in range(2):
        shutil.rmtree(out, ignore_errors=True)
        with running(workers):
            warm(workers)
            start = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - start)
    return best


def warm(workers: int) -> None:
    """Let each process load what it needs."""
    from seldio.parallel import parallel_map

    list(parallel_map(_loaded, range(4 * workers)))


def _loaded(_: int) -> None:
    import seldio.check.validation
    import seldio.data.export_table
    import seldio.scores.seld.score_labels
    import seldio.tasks

    assert seldio.check.validation
    time.sleep(0.5)


def convert(labels: Path, out: Path) -> None:
    """Labels in another layout."""
    seldio.convert(labels, out, "dcase2024-output", allow_loss=["all"])


def ask(labels: Path, out: Path) -> int:
    """Questions about all labels, in one file; how many."""
    out.mkdir(exist_ok=True)
    return seldio.convert(labels, out / "qa.jsonl", "so-bench").rows[1]


def export(sounds: Path, out: Path) -> None:
    """As the Hub has it."""
    from seldio.data import export as exported

    exported(sounds, out, "parquet", shard_bytes=64 << 20)


def make_sounds(folder: Path) -> int:
    """Recordings of noise; their bytes."""
    folder.mkdir()
    noise = np.random.default_rng(7).integers(-9000, 9000, (RATE * (SECONDS + 1), 4), np.int16)
    for number in range(SOUNDS):
        soundfile.write(folder / f"clip{number:06d}.wav", noise[number * 17 : number * 17 + RATE * SECONDS], RATE)
    return sum(path.stat().st_size for path in folder.iterdir())


def make_links(files: Path, folder: Path, count: int, name: str) -> None:
    """The same files under many names."""
    folder.mkdir()
    those = sorted(files.iterdir())
    for number in range(count):
        os.link(those[number % len(those)], folder / name.format(number))


def make_items(folder: Path) -> None:
    """Questions in the layout of SO-Bench, in eight files."""
    folder.mkdir()
    for part in range(8):
        lines = (json.dumps(question(number)) for number in range(part, QUESTIONS, 8))
        (folder / f"part{part}.jsonl").write_text("\n".join(lines) + "\n")


def question(number: int) -> dict[str, object]:
    """A record with a number of its own."""
    return {
        "qa_id": f"q{number}", "split": "test", "audio_id": f"clip{number // 5:06d}",
        "audio_path": f"audio/test/clip{number // 5:06d}.wav", "task_name": "detect_time", "question_class": "detect",
        "answer_format": "structured_text", "question": f"When is the dog, number {number}, heard?",
        "answer": "The dog is heard from 18.5s to 20.0s.", "canonical_answer": "18.5s to 20.0s",
        "answer_meta": {"time_span": [18.5, 20.0]},
    }  # fmt: skip


def make_labels(folder: Path) -> int:
    """Labels of scenes of a minute; their rows."""
    folder.mkdir()
    rows = 0
    for number in range(LABELS):
        table = synth.labels("m", synth.scene(number, 60.0, 14))
        rows += table.num_rows
        (folder / f"fold3_room4_mix{number:03d}.csv").write_bytes(get("starss23").write(table, ClipFile("m", "m.csv")))
    return rows


def hours(seconds: float) -> str:
    """A time for people."""
    return f"{seconds / 3600:,.1f} h" if seconds >= 3600 else f"{seconds / 60:,.1f} min"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
