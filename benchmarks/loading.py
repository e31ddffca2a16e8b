"""How quickly windows go through a stream: against the bare reader, with two workers, and after a resume.

``python benchmarks/loading.py`` also compares with lhotse, soundata and datasets, as far as they are installed.
"""

from __future__ import annotations

import io
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from threading import RLock

import numpy as np
import soundfile
from data import scene_files

import seldio
from seldio import clock
from seldio.data import Stream, Windows
from seldio.data.targets import ClipLabels
from seldio.media.audio import Decoder, probe
from seldio.media.recording import Recording

RATE, SECONDS, WINDOW, CLIPS = 24_000, 60, 5, 8
FRAMES = WINDOW * RATE
#: Windows of 5 s in SO-Dataset's 400,000 clips, about.
MANY = 2_000_000
COUNT = 20_000_000


def make(folder: Path) -> Windows:
    """Windows of 5 s, one each second, over some minutes of FOA in WAV files of 16 bits."""
    rng = np.random.default_rng(7)
    place = folder / "foa_dev" / "dev-train-tau"
    place.mkdir(parents=True)
    for number in range(CLIPS):
        noise = rng.integers(-(2**15), 2**15, (SECONDS * RATE, 4), np.int16)
        soundfile.write(place / f"fold3_room4_mix{number:03d}.wav", noise, RATE)
    return seldio.windows(folder, seconds=WINDOW, hop=1)


def main() -> None:
    """Print one line for each row."""
    with tempfile.TemporaryDirectory() as folder:
        windows = make(Path(folder))
        against_the_bare_reader(windows, Path(folder))
        two_workers(windows)
        a_loader(Path(folder))
        flac(Path(folder))
        resume()
        others(windows, Path(folder))
        cold_labels(Path(folder))


def against_the_bare_reader(windows: Windows, folder: Path) -> None:
    """The same windows in the same order."""
    files = sorted(folder.rglob("*.wav"))
    places = [(w["clip"], int(w["frames"][0]) * RATE // 10) for w in windows.stream(seed=1)]
    with ExitStack() as stack:
        streams = {path.stem: stack.enter_context(path.open("rb")) for path in files}
        readers = {clip: Decoder(stream, probe(stream), RLock()) for clip, stream in streams.items()}
        part = np.empty((4, FRAMES), np.float32)
        _row(
            "a stream of windows of 5 s, shuffled", lambda: sum(1 for _ in windows.stream(seed=1)),
            "media/audio.py's Decoder, open all along", lambda: [readers[clip].fill(at, part) for clip, at in places],
            len(windows), "at least 0.9 x",
        )  # fmt: skip
        recordings = {path.stem: Recording(path) for path in files}
        _row(
            "the same", lambda: sum(1 for _ in windows.stream(seed=1)),
            "media/recording.py's Recording",
            lambda: sum(1 for clip, at in places if len(recordings[clip].read(at, FRAMES))), len(windows), "",
        )  # fmt: skip


def two_workers(windows: Windows) -> None:
    """One process and two, each with its share; the processes are there before the clock starts."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as one, context.Pool(2) as two:
        stream = windows.stream(seed=1)
        _row(
            "two processes", lambda: two.map(_consume, [stream.shard(2, 0), stream.shard(2, 1)], 1),
            "one process", lambda: one.map(_consume, [stream], 1), 4 * len(windows), "at least 1.7 x",
        )  # fmt: skip
        _row(
            "what the machine gives: two that count", lambda: two.map(_count, [COUNT // 2] * 2, 1),
            "one that counts", lambda: one.map(_count, [COUNT], 1), COUNT, "",
        )  # fmt: skip


def a_loader(folder: Path) -> None:
    """Torch's loader with two workers, in int16 and in float32, against a bare memory map of the same samples."""
    try:
        from torch.utils.data import DataLoader
    except ImportError as error:
        print(f"a loader of torch: not compared, {error}")
        return
    exact, whole = (seldio.windows(folder, seconds=WINDOW, hop=1, dtype=dtype) for dtype in ("int16", "float32"))
    maps = Maps(sorted(folder.rglob("*.wav")))
    together = partial(seldio.data.collate, tensors=True)

    def run(source: object, **options: object) -> Callable[[], object]:
        return lambda: sum(1 for _ in DataLoader(source, batch_size=8, num_workers=2, **options))

    _row("torch, 2 workers, int16, collate", run(exact, collate_fn=together), "int16 memory map", run(maps), len(maps),
         "at least 0.9 x")  # fmt: skip
    _row("the same, torch's own collate", run(exact), "int16 memory map", run(maps), len(maps), "")
    _row("the same in float32", run(whole), "int16 memory map", run(maps), len(maps), "")


class Maps:
    """What is least to be done: windows of 5 s, one each second, copied out of memory maps."""

    def __init__(self, files: list[Path]) -> None:
        self.files, self._maps = files, []

    def __len__(self) -> int:
        return CLIPS * (SECONDS - WINDOW + 1)

    def __getitem__(self, number: int) -> np.ndarray:
        if not self._maps:
            self._maps = [np.memmap(path, np.int16, "r", 44).reshape(-1, 4) for path in self.files]
        clip, start = divmod(number, SECONDS - WINDOW + 1)
        return self._maps[clip][start * RATE : start * RATE + FRAMES].T.copy()


def flac(folder: Path) -> None:
    """Windows of 5 s from anywhere in a FLAC file."""
    rng = np.random.default_rng(7)
    path = folder / "noise.flac"
    noise = np.cumsum(rng.standard_normal((SECONDS * RATE, 4)), axis=0) * 30
    soundfile.write(path, noise.clip(-30_000, 30_000).astype(np.int16), RATE)
    starts = rng.integers(0, (SECONDS - WINDOW) * RATE, 40).tolist()
    recording = Recording(path)
    with soundfile.SoundFile(path) as bare:
        for dtype in ("float32", "int16"):
            _row(
                f"FLAC, {dtype}", lambda dtype=dtype: [recording.read(at, FRAMES, dtype=dtype) for at in starts],
                "soundfile, seek and read",
                lambda dtype=dtype: [(bare.seek(at), bare.read(FRAMES, dtype=dtype)) for at in starts], len(starts),
                "at least 0.9 x",
            )  # fmt: skip
    recording.close()
    path.unlink()


def cold_labels(folder: Path) -> None:
    """Label files read for the first time: checked by all rules that stop a conversion."""
    for file in scene_files(100):
        place = folder / "labels" / "metadata_dev" / "dev-train-tau" / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.data)
    files = sorted((folder / "labels").rglob("*.csv"))

    def ours() -> None:
        events = seldio.open(folder / "labels").events
        for clip in events:
            ClipLabels.of(clip, events[clip], clock.HOP)

    def theirs() -> None:
        for path in files:
            np.loadtxt(path, delimiter=",")

    _row("label files, checked", ours, "np.loadtxt", theirs, len(files), "")


def _count(number: int) -> int:
    return sum(range(number))


def _consume(stream: Stream) -> float:
    """Go through it four times, and touch the samples as a model would."""
    return float(sum(np.square(w["audio"]).mean() for _ in range(4) for w in stream))


def resume() -> None:
    """From a state to the next element, at the beginning, in the middle and at the end."""
    longest = 0.0
    for cursor in np.linspace(0, MANY - 1, 7, dtype=int).tolist():
        stream = Stream(range(MANY), seed=1)
        state = {**stream.state_dict(), "cursor": cursor}
        start = time.perf_counter()
        stream.load_state_dict(state)
        next(iter(stream))
        longest = max(longest, time.perf_counter() - start)
    print(f"resume in {MANY:,} shuffled windows, the slowest of 7 places: {longest:.2f} s   below 1 s")


def others(windows: Windows, folder: Path) -> None:
    """The same windows through other libraries, where they are installed."""
    files = sorted(folder.rglob("*.wav"))
    for name, make_reader in (("lhotse", _lhotse), ("soundata", _soundata), ("datasets", _datasets)):
        try:
            reader = make_reader(files)
            reader()
        except (ImportError, AttributeError) as error:  # numba and coverage of other times
            print(f"{name}: not compared, {error}")
            continue
        _row("windows in order", lambda: sum(1 for _ in windows), name, reader, len(windows), "")


def _starts() -> Iterator[int]:
    return iter(range(SECONDS - WINDOW + 1))


def _lhotse(files: list[Path]) -> Callable[[], object]:
    from lhotse import Recording

    cuts = [Recording.from_file(path).to_cut() for path in files]
    return lambda: [cut.truncate(offset=at, duration=WINDOW).load_audio() for cut in cuts for at in _starts()]


def _soundata(files: list[Path]) -> Callable[[], object]:
    """Its loader of STARSS22 decodes the whole clip; windows are cut from that."""
    from soundata.datasets.starss2022 import load_audio

    def run() -> object:
        clips = (load_audio(str(path))[0] for path in files)
        return [clip[..., at * RATE : at * RATE + FRAMES].copy() for clip in clips for at in _starts()]

    return run


def _datasets(files: list[Path]) -> Callable[[], object]:
    """With audio as bytes, as its Parquet files have it, decoded by soundfile: its own decoder needs torchcodec."""
    import datasets

    table = datasets.Dataset.from_dict({"bytes": [path.read_bytes() for path in files]})

    def run() -> object:
        clips = (soundfile.read(io.BytesIO(row["bytes"]), dtype="float32", always_2d=True)[0].T for row in table)
        return [clip[:, at * RATE : at * RATE + FRAMES].copy() for clip in clips for at in _starts()]

    return run


def _row(
    name: str, ours: Callable[[], object], what: str, other: Callable[[], object], number: int, limit: str
) -> None:  # fmt: skip
    """Time both in turn and print how many windows a second each gives."""
    times: tuple[list[float], list[float]] = ([], [])
    ours(), other()
    for _ in range(7):
        for run, kept in ((ours, times[0]), (other, times[1])):
            start = time.perf_counter()
            run()
            kept.append(time.perf_counter() - start)
    a, b = median(times[0]), median(times[1])
    print(f"{name:<38} {number / a:9,.0f} /s   {what:<42} {number / b:9,.0f} /s   {b / a:6.2f} x   {limit}", flush=True)


if __name__ == "__main__":
    main()
