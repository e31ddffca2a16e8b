"""Rates of ``AUD314``: samples dropped or inserted, clocks and shifts, planted in one recording of a clip.

``python benchmarks/deep.py --apart FOLDER`` renders six synthetic scenes and four with labels below FOLDER (those of
STARSS22), changes FOA or MIC, and counts what is said: the right cause, the file at fault or that nothing tells which.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from deep import HOP, field
from deep_labels import REVERBERATIONS, tracks

from seldio.rules import findings
from seldio.rules.collection import Collection
from seldio.rules.deep_fit import FORMATS, Fits, LabelledClip, judged
from seldio.synth import labels, scene
from seldio.synth.recording import RATE, RecordingOptions, Room, record

Waves = dict[Any, Any]


def cut(*cuts: tuple[float, int]) -> Callable[[Any], Any]:
    """The sound without some milliseconds at some seconds; zeros instead, where they are negative."""

    def change(sound: Any) -> Any:
        for second, milliseconds in sorted(cuts, reverse=True):
            at, count = int(second * RATE), RATE * milliseconds // 1000
            none = np.zeros((4, max(0, -count)), sound.dtype)
            sound = np.concatenate((sound[:, :at], none, sound[:, at + max(0, count) :]), axis=1)
        return sound

    return change


def played(late: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The sound at other times, in samples."""
    return lambda sound: np.rint([np.interp(late(np.arange(sound.shape[1])), np.arange(sound.shape[1]), row)
                                  for row in sound]).astype(np.int16)  # fmt: skip


#: By name: what is done to one recording, and a pattern of what names it.
FAULTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "20 ms dropped": (cut((30, 20)), "samples were"),
    "200 ms dropped": (cut((30, 200)), "samples were"),
    "20 ms dropped twice": (cut((20, 20), (40, 20)), "2 times"),
    "200 ms dropped twice": (cut((20, 200), (40, 200)), "2 times"),
    "100 ms dropped twice within 1.5 s": (cut((30, 100), (31.5, 100)), "2 times"),
    "200 ms of zeros": (cut((25, -200)), "samples were"),
    "clock 500 ppm off": (played(lambda at: at / 1.0005), "the clock of"),
    "shift by 300 ms": (cut((0, 300)), r" ms (earlier|later) than (FOA|MIC)"),
    "a tape that sways": (played(lambda at: at + 0.08 * RATE * np.sin(2 * np.pi * at / RATE / 9)), "no known cause"),
}


def scenes(folder: Path) -> Iterator[tuple[LabelledClip, Waves]]:
    """The labels and the recordings of each scene."""
    for seed in (0, 1, 2, 4, 5, 6):
        made, room = scene(seed, 60.0, 16), Room(reverberation=(*REVERBERATIONS, 0.0)[seed % 4])
        table = labels("a", made)
        names = ("frame", "class_id", "source", "azimuth", "elevation")
        rows = np.stack([np.asarray(table[name].to_numpy(), float) for name in names], axis=1)
        yield clip(rows), record(made, 60.0, seed, RecordingOptions(room, (20.0, 10.0)[seed // 4]))
    paths = sorted(folder.rglob("*.csv"))
    order = np.random.default_rng(5).permutation(len(paths)).tolist()
    for number in (0, 1, 2, 4):
        rows = np.loadtxt(paths[order[number]], delimiter=",", ndmin=2)
        rows = rows[rows[:, 0] < 1190]
        made = tracks(rows, np.random.default_rng(order[number]))
        options = RecordingOptions(Room(reverberation=REVERBERATIONS[number % 3]), 20.0)
        yield clip(rows), record(made, min(float(rows[:, 0].max() + 11) / 10, 120.0), order[number], options)


def clip(rows: Any) -> LabelledClip:
    """The labels of rows of frame, class, source, azimuth and elevation."""
    event = (100_000 * rows[:, 1] + rows[:, 2]).astype(np.int64)
    return LabelledClip("labels", rows[:, 0].astype(np.int64), rows[:, 3], rows[:, 4], event, HOP)


def main(words: Sequence[str]) -> None:
    """Print the table."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("none", *FAULTS)}
    for rows, waves in scenes(Path(words[0])):
        right = {format: judged("a", rows, format, None, format, None, (), field(waves[format], format))
                 for format in FORMATS}  # fmt: skip
        counts["none"]["silent" if not list(findings(Fits(Collection("", "folder", (), ()), right.values())))
                       else "wrong"] += 1  # fmt: skip
        for name, (change, said) in FAULTS.items():
            for format in FORMATS:
                heard = field(change(waves[format]), format)
                fits = {**right, format: judged("a", rows, format, None, format, None, (), heard)}
                told = list(findings(Fits(Collection("", "folder", (), ()), fits.values())))
                named = next((one for one in told if one.code == "AUD314"), None)
                outcome = "silent" if named is None else "named" if re.search(said, named.message) else "another cause"
                counts[name][outcome] += 1
                if named is not None and re.search("the labels fit|digital silence", named.message):
                    counts[name]["right file" if named.path == format else "wrong file"] += 1
    kinds = ("named", "another cause", "silent", "right file", "wrong file")
    print(f"| fault | {' | '.join(kinds)} |", "| --- |" + " --- |" * len(kinds), sep="\n")
    for name, count in counts.items():
        print(f"| {name} | {' | '.join(str(count[kind]) for kind in kinds)} |")
