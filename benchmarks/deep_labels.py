"""Rates of ``seldio validate --deep`` on scenes with the structure of real labels, beside a plain baseline.

``python benchmarks/deep.py --labels FOLDER [CLIPS [KEPT]]``: each label file below FOLDER (STARSS22, STARSS23) becomes
a scene whose sources sound when and where its labels say, in a room with 0.25, 0.4 or 0.6 s of reverberation and
20 dB above noise. Its labels and channels then get one error after the other. The baseline takes the intensity vector
of each label frame with one source and chooses the best of 48 exchanges of axes and all rotations; it always names one.
Sets of 16 clips get the same error of direction in all clips. What is heard is kept in the folder KEPT, if given.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from deep import Change, channels, field, files, relabelled

from seldio import geometry
from seldio.catalogues.trees import read_tree
from seldio.media.arrays import Format
from seldio.media.intensity import SoundField
from seldio.rules import findings
from seldio.rules.collection import Collection
from seldio.rules.deep import DEEP_RULES, FORMATS, Fit, Fits, LabelledClip
from seldio.rules.deep_causes import causes
from seldio.synth import Track
from seldio.synth.recording import RecordingOptions, record

REVERBERATIONS = (0.25, 0.4, 0.6)
SNR, SET = 20.0, 16
#: Longest clip, seconds; a source that jumps by more degrees is another one.
_LONGEST, _JUMP = 300.0, 25.0


class Scene(NamedTuple):
    """The labels of a real clip, and what is heard in both formats of a scene that sounds like them."""

    name: str
    rows: LabelledClip
    fields: dict[Format, SoundField]


def tracks(rows: np.ndarray, rng: np.random.Generator) -> list[Track]:
    """The sources of label rows (frame, class, source, azimuth, elevation), each at some distance."""
    found, kinds = [], rows[:, 1].astype(int) * 1000 + rows[:, 2].astype(int)
    for kind in np.unique(kinds):
        left = rows[kinds == kind]
        left = left[np.argsort(left[:, 0], kind="stable")]
        while len(left):
            first = np.unique(left[:, 0], return_index=True)[1]
            one, left = left[first], np.delete(left, first, axis=0)
            unit = np.stack(geometry.to_cartesian(one[:, 3], one[:, 4]), axis=1)
            far = np.degrees(np.arccos(np.clip((unit[1:] * unit[:-1]).sum(axis=1), -1, 1))) > _JUMP
            for part in np.split(np.arange(len(one)), np.flatnonzero((np.diff(one[:, 0]) != 1) | far) + 1):
                places = rng.uniform(0.9, 1.4) * unit[part]
                found.append(Track(int(kind // 1000) % 13, int(kind % 1000), int(one[part[0], 0]), places))
    return sorted(found, key=lambda track: track.first)


def made(number: int, path: Path, seed: int, kept: Path | None) -> Scene:
    """The scene of a label file; *number* chooses the room."""
    name = f"{number:03d}_{path.stem}"
    rows = np.loadtxt(path, delimiter=",", ndmin=2)
    stored = kept / f"{name}.npz" if kept is not None else None
    if stored is not None and stored.exists():
        arrays = np.load(stored)
        fields = {format: SoundField(arrays[format], arrays[f"{format}raw"]) for format in FORMATS}
    else:
        seconds = min(float(rows[:, 0].max() + 11) / 10, _LONGEST)
        waves = record(
            tracks(rows, np.random.default_rng(seed)), seconds, seed, RecordingOptions(REVERBERATIONS[number % 3], SNR)
        )
        fields = {format: field(waves[format], format) for format in FORMATS}
        if stored is not None:
            some = {format: one.covariance for format, one in fields.items()}
            np.savez(stored, **some, **{f"{format}raw": one.raw for format, one in fields.items()})
    event = 100_000 * rows[:, 1].astype(np.int64) + rows[:, 2].astype(np.int64)
    frame = rows[:, 0].astype(np.int64)
    place = read_tree([f"metadata_dev/dev-train-tau/{path.name}"]).places[0]  # whose name tells the room
    return Scene(
        name, LabelledClip(f"{name}.csv", frame, rows[:, 3], rows[:, 4], event, Fraction(1, 10), 1, place), fields
    )


#: By name: the change, the rule that has to name it, and what the baseline has to choose; empty where it cannot.
ERRORS: dict[str, tuple[Change, str, str]] = {
    "azimuth mirrored": (relabelled(lambda a: -a), "AUD301", "mirrored"),
    "elevation flipped": (relabelled(sign=-1), "AUD302", "flipped"),
    "rotated by 90°": (relabelled(lambda a: a + 90), "AUD304", "rotated"),
    "rotated by 180°": (relabelled(lambda a: a + 180), "AUD304", "rotated"),
    "FuMa order": (channels((0, 3, 1, 2)), "AUD305", "order"),
    "X and Y swapped": (channels((0, 3, 2, 1)), "AUD305", "order"),
    "Y and Z swapped": (channels((0, 2, 1, 3)), "AUD305", "order"),
    "W inverted": (channels((0, 1, 2, 3), (-1, 1, 1, 1)), "AUD305", "inverted"),
    "rotated by 20°": (relabelled(lambda a: a + 20), "AUD304", "rotated"),
    "0.5 s early": (relabelled(late=-5), "AUD308", ""),
    "1.2 s late": (relabelled(late=12), "AUD308", ""),
}


def fit(scene: Scene, format: Format, change: Change | None = None) -> Fit:
    """A recording of a scene compared with its labels."""
    rows, heard = (scene.rows, scene.fields[format]) if change is None else change(scene.rows, scene.fields[format])
    return Fit(scene.name, rows, f"{scene.name}.wav", None, format, None, (), heard)


def said(fits: Sequence[Fit]) -> Counter[str]:
    """What is said of some recordings: the rules; those about all together with a star."""
    told = findings(DEEP_RULES, Fits(Collection("", "folder", (), ()), fits))
    return Counter(one.code + "*" * one.message.startswith("in all ") for one in told)


def baseline(one: Fit) -> str:
    """The kind of cause with the smallest median error over label frames with one source."""
    labels, sound = one.label_frames, one.sound_frames
    alone = labels.alone[: len(sound)] & (sound.weight > 0.1)
    if not alone.any():
        return "nothing"
    cosines = [
        np.einsum("ka,ab,kb->k", labels.direction[: len(sound)][alone], np.array(cause.turn), sound.direction[alone])
        for cause in _CANDIDATES
    ]
    return _CANDIDATES[int(np.argmax(np.median(cosines, axis=1)))].kind


_CANDIDATES = causes("foa")


def tried(scene: Scene) -> dict[str, tuple[str, bool]]:
    """By error: how it is named (``error``, ``warning``, ``wrong``, ``silent``), whether the baseline is right."""
    found = {}
    for name, (change, code, kind) in ERRORS.items():
        one = fit(scene, "foa", change)
        codes = said([one])
        tier = "warning" if one.verdict is not None and not one.verdict.sure else "error"
        named = tier if code in codes else "badly" if "AUD310" in codes else "wrong" if codes else "silent"
        found[name] = named, bool(kind) and baseline(one) == kind
    clean = [fit(scene, format) for format in FORMATS]
    found["none"] = "wrong" if any(said([one]) for one in clean) else "silent", baseline(clean[0]) == ""
    return found


def report(scenes: Sequence[Scene], results: Sequence[dict[str, tuple[str, bool]]]) -> Iterator[str]:
    """The tables."""
    yield "| error in one clip | named | as an error | as a warning | fits badly | wrong | baseline |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name, (_, _, kind) in {"none": (None, "", "none"), **ERRORS}.items():
        counts = Counter(one[name][0] for one in results)
        named = counts["error"] + counts["warning"]
        right = f"{sum(one[name][1] for one in results)} right" if kind else "-"
        yield (f"| {name} | {named} of {len(results)} | {counts['error']} | {counts['warning']} | {counts['badly']} | "
               f"{counts['wrong']} | {right} |")  # fmt: skip
    sets = [scenes[first : first + SET] for first in range(0, len(scenes) - SET + 1, SET)]
    yield ""
    yield f"| error in all {SET} clips of a set | named | wrong |"
    yield "| --- | --- | --- |"
    both = [said([fit(scene, format) for scene in some for format in FORMATS]) for some in sets]
    yield f"| none (FOA and MIC) | 0 of {len(sets)} | {sum(bool(one) for one in both)} |"
    for name, (change, code) in {name: one[:2] for name, one in ERRORS.items() if one[2]}.items():
        told = [said([fit(scene, "foa", change) for scene in some]) for some in sets]
        named = sum(f"{code}*" in one for one in told)
        wrong = sum(any(key.endswith("*") and key != f"{code}*" for key in one) for one in told)
        yield f"| {name} | {named} of {len(sets)} | {wrong} |"


def main(words: Sequence[str]) -> None:
    """Print the tables."""
    paths = sorted(path for path in Path(words[0]).rglob("*.csv"))
    order = np.random.default_rng(5).permutation(len(paths)).tolist()
    count = min(int(words[1]) if len(words) > 1 else len(paths), len(paths))
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(2) as pool:
        kept = Path(words[2]) if len(words) > 2 else Path(folder)
        chosen = [paths[number] for number in order[:count]]
        scenes = list(pool.map(partial(made, kept=kept), range(count), chosen, order[:count]))
        results = list(pool.map(tried, scenes))
    print(f"{count} clips of {len(paths)}, {SNR:g} dB", *report(scenes, results), "", *files(scenes[:40]), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
