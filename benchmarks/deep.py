"""Rates of detection and false alarms of ``seldio validate --deep``, on synthetic scenes with rooms and noise.

``python benchmarks/deep.py [SCENES [FIRST]]`` renders SCENES scenes from seed FIRST on (by default 100 from 0; 60 or
120 s, 14 events per minute that move and overlap), each in one of 20 rooms, compares them with their labels as they are
and with an error of each kind, and prints the tables of ``docs/concepts/listening.md``. The last table says which file
is blamed where one of labels, FOA and MIC is wrong. The same seeds give the same numbers.

``python benchmarks/deep.py --labels FOLDER [CLIPS [KEPT]]`` does the same on scenes with the structure of real labels,
see :mod:`deep_labels`.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from seldio.media import audio
from seldio.media.arrays import Format
from seldio.media.intensity import SoundField, array_of, inverted, listen
from seldio.media.recording import Recording
from seldio.rules import findings
from seldio.rules.collection import Collection
from seldio.rules.deep import DEEP_RULES, FORMATS, Fit, Fits, LabelledClip, timing
from seldio.rules.deep_causes import HEARD, PLACES
from seldio.rules.deep_pieces import Shift, label_frames
from seldio.synth import labels, scene
from seldio.synth.recording import RATE, RecordingOptions, record

REVERBERATIONS = (0.0, 0.25, 0.4, 0.6, 0.8)
NOISES = (0, 10, 20, 30)
HOP = Fraction(1, 10)


@dataclasses.dataclass(frozen=True)
class Scene:
    """A scene: its room, its labels, and what both recordings hold."""

    seed: int
    reverberation: float
    snr: int
    rows: LabelledClip
    fields: dict[Format, SoundField]
    turned: SoundField  # of MIC with the sign of one capsule changed


def made(seed: int) -> Scene:
    """The scene of a seed."""
    reverberation, snr = REVERBERATIONS[seed % 5], NOISES[seed // 5 % 4]
    seconds = 120.0 if seed % 3 == 2 else 60.0
    tracks = scene(seed, seconds, int(14 * seconds / 60))
    waves = record(tracks, seconds, seed, RecordingOptions(reverberation, snr))
    table = labels(str(seed), tracks)
    columns = [np.asarray(table[name].to_numpy(), np.float64) for name in ("frame", "azimuth", "elevation")]
    event = 100 * table["class_id"].to_numpy().astype(np.int64) + table["source"].to_numpy()
    rows = LabelledClip(str(seed), columns[0].astype(np.int64), columns[1], columns[2], event, HOP)
    fields = {format: field(waves[format], format) for format in FORMATS}
    signs = np.array([1, 1, -1, 1], np.int16)[:, np.newaxis]
    return Scene(seed, reverberation, snr, rows, fields, field(waves["mic"] * signs, "mic"))


def field(sound: Any, format: Format) -> SoundField:
    """What is heard in a recording."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.wav")
        with path.open("wb") as stream:
            audio.write_wav(stream, sound, RATE)
        with Recording(path) as recording:
            return listen(recording, format, HOP)


# --- errors ------------------------------------------------------------------------------------------------

Change = Callable[[LabelledClip, SoundField], tuple[LabelledClip, SoundField]]


def relabelled(azimuth: Callable[[Any], Any] = lambda a: a, sign: int = 1, late: int = 0) -> Change:
    """Labels with other azimuths, the sign of elevations changed, or later."""

    def change(rows: LabelledClip, heard: SoundField) -> tuple[LabelledClip, SoundField]:
        new = azimuth(rows.azimuth)
        return dataclasses.replace(rows, frame=rows.frame + late, azimuth=new, elevation=sign * rows.elevation), heard

    return change


def channels(order: tuple[int, ...], signs: tuple[int, ...] = (1, 1, 1, 1)) -> Change:
    """Channels of FOA (or of MIC made into FOA) in another order and with other signs."""
    return lambda rows, heard: (rows, mixed(order, signs)(heard))


#: By name: the formats, the change, and the kind (or label frames) that has to be found.
ERRORS: dict[str, tuple[tuple[Format, ...], Change, str]] = {
    "azimuth mirrored": (FORMATS, relabelled(lambda a: -a), "mirrored"),
    "elevation flipped": (FORMATS, relabelled(sign=-1), "flipped"),
    "front and back swapped": (FORMATS, relabelled(lambda a: 180 - a), "reversed"),
    "rotated by 90°": (FORMATS, relabelled(lambda a: a + 90), "rotated"),
    "rotated by -37°": (FORMATS, relabelled(lambda a: a - 37), "rotated"),
    "rotated by 20°": (FORMATS, relabelled(lambda a: a + 20), "rotated"),
    "FuMa order": (("foa",), channels((0, 3, 1, 2)), "order"),
    "X and Y swapped": (("foa",), channels((0, 3, 2, 1)), "order"),
    "Y and Z swapped": (("foa",), channels((0, 2, 1, 3)), "order"),
    "W at the end": (("foa",), channels((3, 1, 2, 0)), "order"),
    "W inverted": (("foa",), channels((0, 1, 2, 3), (-1, 1, 1, 1)), "inverted"),
    "M2 and M3 swapped": (("mic",), channels((0, 3, 2, 1)), "order"),
    "0.5 s early": (FORMATS, relabelled(late=-5), "-5"),
    "0.7 s late": (FORMATS, relabelled(late=7), "7"),
    "3 s late": (FORMATS, relabelled(late=30), "30"),
}


def found(fit: Fit, every: dict[str, Any]) -> str:
    """What is said of a recording: a kind, label frames, or the clip; empty if nothing."""
    if fit.taken is not None:
        return f"looks like {fit.taken}"
    if fit.turned:
        return "capsule"
    if fit.verdict is not None:
        return fit.verdict.cause.kind
    told = timing(fit, every)
    return "" if told is None else str(told.frames) if isinstance(told, Shift) else f"clip {told.clip}"


def right(wanted: str, said: str) -> bool:
    """Whether it is the cause; shifts to 0.2 s."""
    shift = wanted.lstrip("-").isdigit() and said.lstrip("-").isdigit()
    return abs(int(wanted) - int(said)) <= 2 if shift else wanted == said


# --- which file ----------------------------------------------------------------------------------------------


def moved(heard: SoundField, late: int) -> SoundField:
    """A recording that begins *late* label frames later (earlier, if negative)."""
    covariance = np.roll(heard.covariance, late, axis=0)
    covariance[slice(0, late) if late > 0 else slice(late, None)] = 0
    return dataclasses.replace(heard, covariance=covariance)


def mixed(order: tuple[int, ...], signs: tuple[float, ...]) -> Callable[[SoundField], SoundField]:
    """A recording whose channels, as FOA, have another order and other signs."""
    mix = np.eye(4)[list(order)] * np.array(signs)[:, np.newaxis]
    return lambda heard: dataclasses.replace(heard, covariance=mix @ heard.covariance.astype(np.float64) @ mix.T)


#: By name: what labels or one recording get, where the other recording is right.
LABELS: dict[str, Change] = {
    "labels mirrored": relabelled(lambda a: -a),
    "labels rotated by 30°": relabelled(lambda a: a + 30),
    "labels 0.5 s early": relabelled(late=-5),
}
SOUND: dict[str, Callable[[SoundField], SoundField]] = {
    "turned by 90°": mixed((0, 3, 2, 1), (1, 1, 1, -1)),
    "mirrored": mixed((0, 1, 2, 3), (1, -1, 1, 1)),
    "0.5 s late": lambda heard: moved(heard, 5),
    "1 s early": lambda heard: moved(heard, -10),
}


def blamed(rows: LabelledClip, fields: dict[Format, SoundField]) -> set[str]:
    """The files that are said to be at fault: ``labels``, ``foa``, ``mic``."""
    rows = dataclasses.replace(rows, path="labels")
    those = [Fit("a", rows, format, None, format, None, (), fields[format]) for format in FORMATS]
    fits = Fits(Collection("", "folder", (), ()), those)
    return {finding.path for finding in findings(DEEP_RULES, fits)}


def files(scenes: list[Scene]) -> Iterator[str]:
    """How often which file is named, of labels and two recordings of which one is wrong."""
    yield "| fault | the file that is wrong | another file, or two | none |"
    yield "| --- | --- | --- | --- |"
    yield _named("none", "", [blamed(one.rows, one.fields) for one in scenes])
    for name, change in LABELS.items():
        yield _named(name, "labels", [blamed(change(one.rows, one.fields["foa"])[0], one.fields) for one in scenes])
    for format in FORMATS:
        for name, fault in SOUND.items():
            those = [blamed(one.rows, {**one.fields, format: fault(one.fields[format])}) for one in scenes]
            yield _named(f"{format.upper()} {name}", format, those)


def _named(fault: str, wrong: str, those: list[set[str]]) -> str:
    right = sum(said == {wrong} for said in those)
    silent = sum(not said for said in those)
    return f"| {fault} | {right} | {len(those) - right - silent} | {silent} |"


# --- counting ----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Try:
    """One recording with one error: what was found, and whether there was enough to hear."""

    format: Format
    error: str
    scene: Scene
    enough: bool
    outcome: str


def tries(one: Scene, scenes: list[Scene], every: dict[str, Any]) -> Iterator[Try]:
    """All errors on both recordings of a scene, and none."""
    swapped = scenes[(one.seed * 7 + 11) % len(scenes)]
    swapped = swapped if swapped.seed != one.seed else scenes[one.seed - 1]
    name = str(one.seed)

    for format in FORMATS:
        heard = one.fields[format]

        def run(
            rows: LabelledClip, heard: SoundField, known: dict[str, Any], clip: str = name, format: Format = format
        ) -> tuple[Fit, str]:
            looks = array_of(heard.raw)
            turned = inverted(heard.raw) if format == "mic" else ()
            fit = Fit(clip, rows, f"{clip}.wav", None, format, looks if looks != format else None, turned, heard)
            return fit, found(fit, known)

        plain, said = run(one.rows, heard, every)
        enough = plain.pieces.events >= 10 and plain.pieces.places >= PLACES
        yield Try(format, "none", one, enough, "wrong" if said else "silent")
        for error, (formats, change, wanted) in ERRORS.items():
            if format in formats:
                said = run(*change(one.rows, heard), every)[1]
                yield Try(format, error, one, enough, _outcome(wanted, said))
        labelled = dataclasses.replace(swapped.rows, path=name)
        known = {**every, str(swapped.seed): plain.label_frames}
        said = run(labelled, heard, known)[1]
        yield Try(format, "labels of another clip", one, enough, _outcome(f"clip {swapped.seed}", said))
        absent = {clip: those for clip, those in every.items() if clip != name}
        said = run(labelled, heard, absent)[1]
        yield Try(format, "labels of a clip outside the dataset", one, enough, "wrong" if said else "silent")
    yield Try("mic", "M3 inverted", one, True, _outcome("capsule", run(one.rows, one.turned, every)[1]))


def _outcome(wanted: str, said: str) -> str:
    return "found" if right(wanted, said) else "wrong" if said else "silent"


def table(all_tries: list[Try]) -> Iterator[str]:
    """The rates by error, in four groups of recordings."""
    groups: dict[str, Callable[[Try], bool]] = {
        "all": lambda one: one.scene.snr >= 0,
        "10 dB, 0.6 s or better": lambda one: one.scene.snr >= 10 and one.scene.reverberation <= 0.6,
        "20 dB, 0.4 s or better": lambda one: one.scene.snr >= 20 and one.scene.reverberation <= 0.4,
        "the same, 10 events or more": lambda one: (
            one.scene.snr >= 20 and one.scene.reverberation <= 0.4 and one.enough
        ),
    }
    yield f"| error | format | {' | '.join(groups)} |"
    yield "| --- | --- |" + " --- |" * len(groups)
    for error in dict.fromkeys(one.error for one in all_tries):
        for format in FORMATS:
            those = [one for one in all_tries if one.error == error and one.format == format]
            cells = [_cell(Counter(one.outcome for one in those if chosen(one))) for chosen in groups.values()]
            if those:
                yield f"| {error} | {format.upper()} | {' | '.join(cells)} |"


def _cell(counts: Counter[str]) -> str:
    total = counts.total()
    if not total:
        return ""
    wrong = f", {counts['wrong']} wrong" if counts["wrong"] else ""
    if "found" not in counts and "silent" in counts:
        return f"{counts['found']} of {total}{wrong}"
    return f"{counts['found']} of {total} ({round(100 * counts['found'] / total)} %){wrong}"


def main() -> None:
    """Print the tables."""
    if sys.argv[1:2] == ["--labels"]:
        import deep_labels

        return deep_labels.main(sys.argv[2:])
    count, first = ([int(word) for word in sys.argv[1:]] + [100, 0][len(sys.argv) - 1 :])[:2]
    with ProcessPoolExecutor(2) as pool:
        scenes = list(islice(pool.map(made, range(first, first + count)), count))
    every = {
        rows.path: label_frames(rows.frame, rows.azimuth, rows.elevation, rows.event, len(fields["foa"]))
        for rows, fields in ((one.rows, one.fields) for one in scenes)
    }
    results = [result for one in scenes for result in tries(one, scenes, every)]
    print(f"{count} scenes; verdicts need {HEARD} pieces at {PLACES} places", *table(results), sep="\n")
    print(*files(scenes), sep="\n")
    return None


if __name__ == "__main__":
    main()
