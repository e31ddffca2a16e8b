"""Labels against audio (AUD301 to AUD310): what is planted is found and named, and nothing else is said."""

from __future__ import annotations

import dataclasses
import json
import shutil
import zipfile
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import soundfile
from commands import invoke, laid
from effort import examples, some
from hypothesis import given, settings
from hypothesis import strategies as st

from seldio import geometry, validate
from seldio.findings import Finding
from seldio.media.arrays import CHANNELS, SIDES, Format
from seldio.media.encoding import render
from seldio.media.intensity import SoundField, listen
from seldio.media.recording import Recording
from seldio.reports.json_report import schema_file
from seldio.rules.deep import Fit, LabelledClip, timing
from seldio.rules.deep_causes import judge, rotation
from seldio.rules.deep_pieces import joined, label_frames, pieces, shift, sound_frames

RATE = 24_000


FORMATS: tuple[Format, ...] = ("foa", "mic")
Row = tuple[int, int, int, int, int, int]
#: FOA in diffuse noise: W, Y, Z, X.
DIFFUSE = np.array([1, 3**-0.5, 3**-0.5, 3**-0.5])[:, np.newaxis]


@dataclasses.dataclass(frozen=True)
class Clip:
    """Label rows as STARSS23 has them, and the sound of both formats, shape (4, frames), 16 bits."""

    rows: tuple[Row, ...]
    sound: dict[Format, Any]


@cache
def clip(seed: int, events: int = 14, snr: float = 20.0, pause: int = 3) -> Clip:
    """Events of noise one after the other, each with an echo from a side wall, in diffuse noise."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    waves = {format: rng.standard_normal((4, (events * (12 + pause) + 10) * 2400)) for format in FORMATS}
    for name, wave in waves.items():
        wave *= 10 ** (-snr / 20) * (DIFFUSE if name == "foa" else 0.3)
    frame = 3
    for number in range(events):
        azimuth, elevation = int(rng.integers(-180, 180)), int(rng.integers(-50, 45))
        length = int(rng.integers(7, 12))
        rows += [(frame + k, number % 13, 0, azimuth, elevation, 200) for k in range(length)]
        burst = rng.standard_normal(length * 2400)
        for name, wave in waves.items():
            wave[:, frame * 2400 :][:, : len(burst)] += render(burst, azimuth, elevation, RATE, name)
            wave[:, frame * 2400 + 170 :][:, : len(burst)] += 0.4 * render(burst, 180 - azimuth, elevation, RATE, name)
        frame += length + pause
    return Clip(tuple(rows), {name: np.rint(3000 * wave).astype(np.int16) for name, wave in waves.items()})


def saved(path: Path, sound: Any, rate: int = RATE) -> Path:
    assert sound.dtype == np.int16, "floats would be cut off at 1"
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, sound.T, rate, subtype="PCM_16")
    return path


def field(folder: Path, sound: Any, format: Format, rate: int = RATE) -> SoundField:
    with Recording(saved(folder / "a.wav", sound, rate)) as recording:
        return listen(recording, format)


def said_of(rows: tuple[Row, ...], count: int = 2000) -> Any:
    frame, label, source, azimuth, elevation, _ = np.array(rows).T
    return label_frames(frame, azimuth.astype(float), elevation.astype(float), label * 100 + source, count)


@settings(max_examples=examples(8))
@given(st.floats(-180, 180), st.floats(-85, 85), st.sampled_from(FORMATS), st.sampled_from([16_000, 24_000, 44_100]))
def test_a_plane_wave_is_heard_where_it_comes_from(
    tmp_path_factory: pytest.TempPathFactory, azimuth: float, elevation: float, format: Format, rate: int
) -> None:
    wave = np.concatenate((np.zeros(rate), np.random.default_rng(1).standard_normal(rate))) * 2000
    made = field(
        tmp_path_factory.mktemp("wave"),
        np.rint(render(wave, azimuth, elevation, rate, format)).astype(np.int16),
        format,
        rate,
    )

    directions = made.directions()[12:19]
    azimuths, elevations = geometry.to_polar(*directions.T)

    assert len(made) == 20
    assert (geometry.great_circle(azimuths, elevations, azimuth, elevation) < (1 if format == "foa" else 6)).all()
    assert (np.linalg.norm(directions, axis=1) > (0.8 if format == "foa" else 0.75)).all()
    assert (made.activity()[12:19] > 1).all()


def foa(*names: str) -> tuple[list[int], Any]:
    """The order and signs that make a recording whose channels are these, such as -Y."""
    order = [CHANNELS["foa"].index(name.removeprefix("-")) for name in names]
    return order, np.array([-1 if name.startswith("-") else 1 for name in names], np.int16)[:, np.newaxis]


@pytest.mark.parametrize(
    ("names", "kind", "words"),
    [
        (("W", "X", "Y", "Z"), "order", "W, X, Y, Z (FuMa)"),
        (("W", "X", "Z", "Y"), "order", "W, X, Z, Y"),
        (("W", "Z", "Y", "X"), "order", "W, Z, Y, X"),
        (("W", "-Y", "Z", "X"), "mirrored", "left and right"),
        (("W", "Y", "-Z", "X"), "flipped", "up and down"),
        (("W", "Y", "Z", "-X"), "reversed", "front and back"),
        (("-W", "Y", "Z", "X"), "inverted", "as if channel W were inverted"),
        (("W", "-Y", "-Z", "X"), "inverted", "Y and Z"),
        (("W", "-Y", "Z", "-X"), "rotated", "180"),
    ],
)
def test_channels_of_foa_are_named(tmp_path: Path, names: tuple[str, ...], kind: str, words: str) -> None:
    order, signs = foa(*names)
    made = field(tmp_path, clip(3).sound["foa"][order] * signs, "foa")

    verdict = judge(pieces(said_of(clip(3).rows), made.directions()), "foa")

    assert verdict is not None
    assert verdict.cause.kind == kind
    assert words in verdict.cause.what
    assert verdict.after < 10 < verdict.before
    assert verdict.events == 14


@pytest.mark.parametrize("order", [(1, 0, 2, 3), (0, 2, 1, 3), (3, 1, 2, 0), (1, 2, 0, 3), (3, 2, 1, 0)])
def test_capsules_of_mic_are_named(tmp_path: Path, order: tuple[int, ...]) -> None:
    made = field(tmp_path, clip(3).sound["mic"][list(order)], "mic")

    verdict = judge(pieces(said_of(clip(3).rows), made.directions()), "mic")

    assert verdict is not None
    if verdict.cause.kind == "order":
        assert verdict.cause.what.endswith(", ".join(f"M{channel + 1}" for channel in order))
    else:
        assert verdict.cause.kind == "rotated", "half a circle exchanges M1 with M4 and M2 with M3"
        assert (SIDES[list(order)] == SIDES * [-1, -1, 1]).all()


Change = Callable[[int, int], tuple[int, int]]
WRONG: dict[str, Change] = {
    "mirrored": lambda az, el: (-az, el),
    "flipped": lambda az, el: (az, -el),
    "reversed": lambda az, el: (180 - az, el),
}


@pytest.mark.parametrize("format", FORMATS)
def test_wrong_labels_are_named_and_right_ones_left_alone(tmp_path: Path, format: Format) -> None:
    scenes = [clip(4, snr=5.0), clip(3)]
    for one in scenes:
        directions = field(tmp_path, one.sound[format], format).directions()

        def verdict(change: Change, one: Clip = one, directions: Any = directions) -> Any:
            rows = tuple((row[0], row[1], row[2], *change(row[3], row[4]), row[5]) for row in one.rows)
            return judge(pieces(said_of(rows), directions), format)

        assert verdict(lambda az, el: (az, el)) is None
        for kind, change in WRONG.items():
            assert verdict(change).cause.kind == kind
        for degrees in (-90, -37, 45, 141, 180):
            found = verdict(lambda az, el, degrees=degrees: (az + degrees, el)).cause
            assert found.kind == "rotated"
            assert abs(np.trace(np.array(found.turn) @ np.array(rotation(-degrees).turn)) - 3) < 0.05
        strangers = said_of(clip(90 + scenes.index(one)).rows)
        assert judge(pieces(strangers, directions), format) is None, "no cause makes chance fit"


def test_a_few_events_or_one_place_tell_nothing(tmp_path: Path) -> None:
    short = clip(7, events=3)
    directions = field(tmp_path, short.sound["foa"], "foa").directions()
    mirrored = tuple((k, c, s, -az, el, d) for k, c, s, az, el, d in short.rows)

    alone = pieces(said_of(mirrored), directions)
    assert judge(alone, "foa") is None
    first = mirrored[0]
    at_one_place = pieces(said_of(tuple((row[0], *first[1:]) for row in mirrored)), directions)
    assert at_one_place.places == 1
    assert judge(joined([at_one_place] * 20), "foa") is None
    assert judge(joined([alone] * 20), "foa") is not None, "many clips together do tell"


@pytest.mark.slow
def test_labels_of_a_stranger_fit_badly(tmp_path: Path) -> None:
    (found,) = deep(tree(tmp_path, [dataclasses.replace(clip(20, events=30), rows=clip(91, events=30).rows)]))

    assert (found.code, found.severity.value, Path(found.path).suffix) == ("AUD310", "warning", ".csv")
    assert "no known cause" in found.message


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_shifts_are_measured_in_label_frames(tmp_path: Path, format: Format) -> None:
    one = clip(8, events=30)
    made = field(tmp_path, one.sound[format], format)
    sound = sound_frames(made.directions(), made.activity())

    def found(late: int) -> Any:
        return shift(said_of(tuple((row[0] + late, *row[1:]) for row in one.rows), len(made) + 100), sound)

    assert [found(late) for late in (-2, 0, 2)] == [None, None, None]
    assert [found(late).frames for late in (-60, -12, -5, 5, 9, 31, 70)] == [-60, -12, -5, 5, 9, 31, 70]
    assert found(31).after > 0.9 > found(31).before


@pytest.mark.parametrize(("events", "told"), [(4, False), (7, True)])
def test_a_shift_of_a_few_events_may_be_chance(tmp_path: Path, events: int, told: bool) -> None:
    one = clip(10, events=events, pause=14)
    made = field(tmp_path, one.sound["foa"], "foa")
    labels = said_of(tuple((row[0] + 9, *row[1:]) for row in one.rows), len(made) + 100)

    assert len(made) > 84, "long enough for any shift"
    assert (shift(labels, sound_frames(made.directions(), made.activity())) is not None) is told


@pytest.mark.slow
@pytest.mark.parametrize("step", some([5, 1, 20], 3))
def test_finer_label_frames_ask_for_as_much(tmp_path: Path, step: int) -> None:
    """Frames of 20 ms or 5 ms are put together: a shift is told from 0.4 s on, and not in clips of a few seconds."""
    one = clip(8, events=30)
    saved(tmp_path / "a.wav", one.sound["foa"])
    frame, label, source, azimuth, elevation, _ = np.array(one.rows).T
    finer = (frame[:, np.newaxis] * step + np.arange(step)).ravel()
    event, azimuth, elevation = (np.repeat(x, step) for x in (label * 100 + source, azimuth, elevation))

    def found(late: int, seconds: float = 100) -> Any:
        rows = LabelledClip(
            "a.csv", finer + late, azimuth * 1.0, elevation * 1.0, event, Fraction(1, 10 * step)
        ).coarse()
        with Recording(saved(tmp_path / "b.wav", one.sound["foa"][:, : int(seconds * RATE)])) as recording:
            heard = listen(recording, "foa", rows.hop)
        fit = Fit("a", rows, "b.wav", None, "foa", None, (), heard)
        return timing(fit, {})

    assert (found(0), found(2 * step), found(-step)) == (None, None, None)
    late = found(12 * step)
    assert 12 == late.frames
    assert [found(5 * step, seconds) for seconds in (0.5, 2, 4, 8)] == [None] * 4


def text(rows: Any) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


NAMES = ("fold3_room4_mix002", "fold3_room4_mix003")


def tree(folder: Path, clips: list[Clip]) -> Path:
    for name, one in zip(NAMES, clips, strict=False):
        for format in FORMATS:
            saved(folder / f"{format}_dev/dev-train-tau/{name}.wav", one.sound[format])
        laid(folder, {f"metadata_dev/dev-train-tau/{name}.csv": text(one.rows)})
    return folder


def deep(path: Path) -> list[Finding]:
    """What is said of sound; the set is small, and what it lacks is another rule's."""
    return [one for one in validate(path, deep=True).findings if one.code.startswith("AUD")]


@pytest.mark.slow
def test_a_right_tree_is_clean_and_a_wrong_one_is_so_only_when_asked(tmp_path: Path) -> None:
    assert deep(tree(tmp_path / "good", [clip(20), clip(21)])) == []
    wrong = tree(tmp_path / "bad", [planted(clip(20), **CASES["AUD301"][0])])
    assert not [one for one in validate(wrong).findings if one.code.startswith("AUD3")]


def planted(one: Clip, **changes: Any) -> Clip:
    """A clip with other rows, or other channels in one format."""
    rows = tuple(changes.get("row", lambda *row: row)(*row) for row in one.rows)
    return Clip(rows, {name: changes.get(name, lambda x: x)(sound) for name, sound in one.sound.items()})


def delayed(frames: int) -> Callable[[Any], Any]:
    """The sound so many label frames later (earlier, if negative), as long as before."""

    def change(sound: Any) -> Any:
        moved, samples = np.zeros_like(sound), frames * RATE // 10
        if samples >= 0:
            moved[:, samples:] = sound[:, : sound.shape[1] - samples]
        else:
            moved[:, :samples] = sound[:, -samples:]
        return moved

    return change


def relabelled(azimuth: Callable[[int], int] = lambda az: az, sign: int = 1, late: int = 0) -> dict[str, Any]:
    """The change of rows to other azimuths, the sign of elevations changed, or later."""
    return {"row": lambda k, c, s, az, el, d: (k + late, c, s, int(geometry.wrap(azimuth(az))), sign * el, d)}


#: What is changed, by the rule that says so; the folder of the file that is at fault, and words of the message.
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "AUD301": (relabelled(lambda az: -az), "metadata", ""),
    "AUD302": (relabelled(sign=-1), "metadata", ""),
    "AUD303": (relabelled(lambda az: 180 - az), "metadata", ""),
    "AUD304": (relabelled(lambda az: az + 60), "metadata", ""),
    "AUD305": ({"foa": lambda x: x[[0, 1, 3, 2]]}, "foa", ""),
    "AUD305 inverted": ({"mic": lambda x: x * np.array([[1], [1], [-1], [1]], np.int16)}, "mic", ""),
    "AUD305 FOA": ({"mic": lambda x: clip(21, 30).sound["foa"][:, : x.shape[1]]}, "mic", ""),
    "AUD308": (relabelled(late=8), "metadata", ""),
    "AUD304 by 20": (relabelled(lambda az: az + 20), "metadata", "rotated by"),
    "AUD305 opposite": (relabelled(lambda az: az + 180, -1), "metadata", "reversed"),
    "AUD304 of FOA": ({"foa": lambda x: x[[0, 3, 2, 1]] * np.array([[1], [1], [1], [-1]], np.int16)}, "foa", "only"),
    "AUD308 of FOA": ({"foa": delayed(5)}, "foa", "0.5 s late"),
    "AUD308 of MIC": ({"mic": delayed(5)}, "mic", "0.5 s late"),
}


@pytest.mark.parametrize("name", some(CASES, 20, 4, 5, 6, 7))
def test_each_error_has_its_rule_and_the_file_that_is_at_fault(name: str, tmp_path: Path) -> None:
    changes, folder, words = CASES[name]
    (one,) = deep(tree(tmp_path, [planted(clip(20, events=30), **changes)]))

    assert (one.code, one.path.split("/")[-3]) == (name[:6], f"{folder}_dev")
    assert words in one.message
    assert one.hint


@pytest.mark.slow
def test_exchanged_labels(tmp_path: Path) -> None:  # AUD309
    one, two = clip(20), clip(21)
    found = deep(tree(tmp_path, [dataclasses.replace(one, rows=two.rows), dataclasses.replace(two, rows=one.rows)]))

    assert [one.code for one in found] == ["AUD309", "AUD309"]
    assert NAMES[1] in found[0].message


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [CASES["AUD301"][0], {"foa": lambda x: x * np.array([[1], [-1], [1], [1]], np.int16)}],
    ids=["labels", "channel Y"],
)
def test_foa_alone_cannot_tell_mirrored_labels_from_an_inverted_channel(change: Any, tmp_path: Path) -> None:
    wrong = planted(clip(20), **change)
    (both,) = deep(tree(tmp_path / "both", [wrong]))
    foa = tree(tmp_path / "foa", [wrong])
    shutil.rmtree(foa / "mic_dev")
    (one,) = deep(foa)

    assert "azimuths look mirrored" in one.message
    assert "or channel Y is inverted: FOA alone cannot tell" in one.message
    assert "azimuths" in str(one.hint)
    assert "channel Y" in str(one.hint)
    assert one.path.endswith(".csv")
    if "foa" in change:  # the labels fit MIC
        assert both.path.endswith(".wav")
        assert both.message.startswith("channel Y is inverted, since the labels fit the other recording of the clip")
        assert "azimuths" not in str(both.hint)
    else:  # both recordings say so
        assert both.path.endswith(".csv")
        assert "channel Y" not in both.message + str(both.hint)


def test_what_all_clips_share_is_said_once(tmp_path: Path) -> None:
    folder = tmp_path / "labels"
    folder.mkdir()
    for seed in range(20, 24):
        one = clip(seed, events=2 if seed == 20 else 8)
        saved(tmp_path / f"foa/{seed}.wav", one.sound["foa"])
        (folder / f"{seed}.csv").write_text(text(planted(one, **CASES["AUD301"][0]).rows))
    found = [one for one in deep(tmp_path) if one.code == "AUD301"]

    assert [Path(one.path).name for one in found] == ["foa"], "and not once more of each clip"
    assert found[0].message.startswith("in all 4 FOA recordings together, azimuths look mirrored")


def test_a_mono_recording_in_four_channels_is_one_finding(tmp_path: Path) -> None:
    mono = planted(clip(20), foa=lambda x: np.repeat(x[:1], 4, axis=0))
    folder = tree(tmp_path, [mono])
    shutil.rmtree(folder / "mic_dev")

    assert [one.code for one in deep(folder)] == ["AUD203"]


def test_elevation_that_cannot_be_heard_is_said_to_be_that(tmp_path: Path) -> None:
    """At the horizon labels that are upside down sound alike; elsewhere they do not."""

    def why(level: Callable[[int], int], folder: Path) -> list[str]:
        rng, rows = np.random.default_rng(5), []
        wave = 100 * DIFFUSE * rng.standard_normal((4, 250 * 2400))
        for number in range(16):
            place, first = (int(rng.integers(-180, 180)), level(number)), 5 + 15 * number
            rows += [(first + k, number % 13, 0, *place, 200) for k in range(10)]
            burst = 2000 * rng.standard_normal(24_000)
            wave[:, first * 2400 :][:, : len(burst)] += render(burst, *place, RATE, "foa")
        saved(folder / "foa/a.wav", np.rint(wave).astype(np.int16))
        (folder / "labels").mkdir()
        (folder / "labels/a.csv").write_text(text(rows))
        heard = validate(folder, deep=True).heard
        assert [one.outcome for one in heard] == ["fits"]
        return [str(one.why) for one in heard]

    assert why(lambda number: 0, tmp_path / "level") == ["but elevation cannot be heard"]
    assert why(lambda number: 30 - number % 5 * 15, tmp_path / "around") == ["None"]


@pytest.mark.parametrize(
    ("places", "names", "kind"),
    [
        (2, ("W", "X", "Y", "Z"), "order"),  # FuMa: a usual mistake
        (2, ("W", "Y", "-X", "Z"), None),
        (9, ("W", "Y", "-X", "Z"), "order"),
    ],
)
def test_two_places_conclude_no_unlikely_cause(places: int, names: tuple[str, ...], kind: str | None) -> None:
    rng = np.random.default_rng(2)
    where = [(20, 35), (-130, -10)] if places == 2 else rng.uniform((-180, -50), (180, 50), (places, 2)).tolist()
    frame = np.flatnonzero(np.arange(400) % 20 < 15)
    azimuth, elevation = np.array([where[number % places] for number in frame // 20]).T
    said = label_frames(frame, azimuth, elevation, frame // 20, 400)
    order, signs = foa(*names)
    channels = np.stack((said.direction[:, 1], said.direction[:, 2], said.direction[:, 0]), axis=1)  # Y, Z, X
    wrong = (channels[:, np.array(order[1:]) - 1] * signs[1:, 0])[:, [2, 0, 1]]
    verdict = judge(pieces(said, 0.8 * wrong), "foa")

    assert (verdict.cause.kind if verdict is not None else None) == kind


@pytest.mark.slow
def test_labels_alone_find_their_recordings_and_archives_are_read_in_place(tmp_path: Path) -> None:
    wrong = planted(clip(20), **CASES["AUD301"][0])
    folder = tree(tmp_path / "tree", [wrong])
    csv = folder / f"metadata_dev/dev-train-tau/{NAMES[0]}.csv"

    (one,) = [finding for finding in deep(csv) if finding.code == "AUD301"]
    assert "as FOA and" in one.message
    assert [one.code for one in deep(folder / "metadata_dev")] == ["AUD301"]
    with zipfile.ZipFile(tmp_path / "tree.zip", "w") as archive:
        for path in sorted(folder.rglob("*.*")):
            archive.write(path, path.relative_to(tmp_path))
    assert [one.code for one in deep(tmp_path / "tree.zip")] == ["AUD301"]

    beside = tmp_path / "beside"
    beside.mkdir()
    shutil.copy(csv, beside / "a.csv")
    for format in FORMATS:
        saved(beside / "a.wav", wrong.sound[format])
        (one,) = deep(beside / "a.csv")
        assert f"a.wav as {format.upper()}" in one.message, "no folder says so; the channels do"


#: What becomes of mirrored rows and their recording, of which nothing can be said then; and the rate.
UNHEARD: dict[str, Callable[[Any, Any], tuple[Any, Any, int]]] = {
    "no rows": lambda rows, foa: ((), foa, RATE),
    "silent": lambda rows, foa: (rows, np.zeros_like(foa), RATE),
    "mono": lambda rows, foa: (rows, foa[:1], RATE),
    "stereo": lambda rows, foa: (rows, foa[:2], RATE),
    "2 kHz": lambda rows, foa: (rows, foa[:, ::12], 2_000),
    "short": lambda rows, foa: ([row for row in rows if row[0] < 50], foa[:, : 5 * RATE], RATE),
    "crowded": lambda rows, foa: (
        [(k, c, s, (az + (180, 70, -50, 0)[s]) % 360 - 180, el, d) for k, c, _, az, el, d in rows for s in range(4)],
        foa,
        RATE,
    ),
    "no distance": lambda rows, foa: ([row[:5] for row in rows], foa, RATE),
}


@pytest.mark.parametrize("change", UNHEARD)
def test_where_the_sound_cannot_tell_nothing_is_said(change: str, tmp_path: Path) -> None:
    wrong = planted(clip(20), **CASES["AUD301"][0])
    rows, foa, rate = UNHEARD[change](wrong.rows, wrong.sound["foa"])
    saved(tmp_path / f"foa_dev/dev-train-tau/{NAMES[0]}.wav", foa, rate)
    path = tmp_path / f"metadata_dev/dev-train-tau/{NAMES[0]}.csv"
    path.parent.mkdir(parents=True)
    path.write_text(text(rows))
    found = [one.code for one in deep(tmp_path) if one.code.startswith("AUD3")]

    assert found == (["AUD301"] if change == "no distance" else [])


def test_one_recording_alone_leaves_open_which_file_was_moved(tmp_path: Path) -> None:
    folder = tree(tmp_path, [planted(clip(20), foa=delayed(5))])
    shutil.rmtree(folder / "mic_dev")
    (one,) = deep(folder)

    assert (one.code, Path(one.path).suffix) == ("AUD308", ".csv")
    assert "recording" in str(one.hint)


@pytest.mark.slow
def test_a_report_says_what_was_heard_of_right_labels_and_why_nothing_was(tmp_path: Path) -> None:
    names = [f"fold3_room4_mix00{number}" for number in (2, 3, 9)]
    folder = tree(tmp_path, [clip(20), planted(clip(21), row=lambda k, c, s, az, el, d: (k, c, s, az, el + 5, d))])
    shutil.rmtree(folder / "mic_dev")
    saved(folder / f"foa_dev/dev-train-tau/{names[2]}.wav", clip(22).sound["foa"][:2])
    (folder / f"metadata_dev/dev-train-tau/{names[2]}.csv").write_text(text(clip(22).rows))
    report = validate(folder, deep=True)
    one, two, three, every = report.heard

    assert [(each.clip, each.outcome) for each in report.heard] == [
        (names[0], "fits"), (names[1], "fits"), (names[2], "not heard"), (None, "fits"),
    ]  # fmt: skip
    assert (one.events, one.places, one.share) == (14, 13, 1.0)
    assert one.median is not None
    assert one.median < 12
    assert one.azimuth is not None
    assert one.azimuth.low < 0 < one.azimuth.high
    assert two.elevation is not None
    assert two.elevation.high < 0, "labels that are too high"
    assert three.why == "the recording has 2 channels, not 4"
    assert every.events == one.events + two.events
    assert sum(each.events for each in every.classes) == every.events
    assert json.loads(report.to_json())["listening"][0]["classes"][0]["name"] == "Female speech, woman speaking"
    jsonschema.validate(json.loads(report.to_json()), schema_file())

    done = invoke("validate", folder, "--deep", "--select", "AUD3", "--statistics")
    assert done.exit_code == 0
    assert "Labels compared with the recordings" in done.stdout
    assert f"{names[2]} (FOA): not heard, the recording has 2 channels, not 4" in done.stdout
    assert "What was heard of each class" in done.stdout


def test_a_few_places_with_much_evidence_are_a_warning(tmp_path: Path) -> None:
    three = clip(7, events=3)
    mirrored = tuple((k, c, s, -az, el, d) for k, c, s, az, el, d in three.rows)
    rows = tuple((row[0] + 45 * number, *row[1:]) for number in range(3) for row in mirrored)
    sound = np.concatenate([three.sound["foa"][:, : 45 * 2400]] * 3, axis=1)
    found = judge(pieces(said_of(rows), field(tmp_path, sound, "foa").directions()), "foa")

    assert found is not None
    assert (found.cause.kind, found.sure, found.places) == ("mirrored", False, 3)


@pytest.mark.parametrize("code", some(["AUD301", "AUD305"], 2))
def test_labels_that_jump_with_every_label_frame_hide_nothing(code: str, tmp_path: Path) -> None:
    """One source number for whatever is loudest: its label jumps every 100 ms, and no event lasts."""
    rng = np.random.default_rng(3)
    places = [(int(rng.integers(-180, 180)), int(rng.integers(-40, 40))) for _ in range(8)]
    order = rng.integers(0, 8, 300)
    wave = 100 * DIFFUSE * rng.standard_normal((4, 310 * 2400))
    for frame, place in enumerate(order.tolist()):
        burst = 2000 * rng.standard_normal(2400)
        wave[:, frame * 2400 : frame * 2400 + 2400] += render(burst, *places[place], RATE, "foa")
    rows = tuple((frame, 2, 0, *places[place], 200) for frame, place in enumerate(order.tolist()))
    one = Clip(rows, {"foa": np.rint(wave).astype(np.int16)})
    turned = {
        "AUD301": {"row": CASES["AUD301"][0]["row"]},
        "AUD305": {"foa": lambda x: x * np.array([[-1], [1], [1], [1]], np.int16)},
    }
    saved(tmp_path / "a.wav", planted(one, **turned[code]).sound["foa"])
    (tmp_path / "a.csv").write_text(text(planted(one, **turned[code]).rows))

    assert [found.code for found in deep(tmp_path / "a.csv")] == [code]


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_a_recording_of_another_clip_is_at_fault_where_its_sibling_fits(format: Format, tmp_path: Path) -> None:
    one, two = clip(20), clip(21)
    found = deep(tree(tmp_path, [planted(one, **{format: lambda _: two.sound[format]}), two]))

    assert {"AUD309"} == {finding.code for finding in found if finding.code.startswith("AUD3")}
    (wrong,) = [finding for finding in found if finding.code == "AUD309"]
    assert f"{format}_dev/dev-train-tau/{NAMES[0]}.wav" in wrong.path
    assert NAMES[1] in wrong.message
