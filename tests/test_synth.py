"""Scenes sound and look like their labels say: directions, times, levels, pictures, files, bytes."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from commands import laid

import seldio
from seldio import clock, geometry
from seldio.formats import get
from seldio.media import arrays
from seldio.media.recording import Recording
from seldio.media.video import Video
from seldio.schema.events import origin_of
from seldio.synth import CLIPS, Track, labels, scene
from seldio.synth.outputs import write_outputs
from seldio.synth.recording import RATE, RecordingOptions, record
from seldio.synth.sounds import LEVEL, PEAK, SOUNDS, sound
from seldio.synth.tree import COLOURS, plant, write_clip, write_tree

OPEN = RecordingOptions(reverberation=0, snr=None)
HOP = RATE // 10
Array = np.ndarray[Any, Any]


def standing(azimuth: float, elevation: float, frames: int = 10, first: int = 3) -> Track:
    """A source in one place, at 1.5 m."""
    return Track(10, 0, first, np.tile(1.5 * np.array(geometry.to_cartesian(azimuth, elevation)), (frames, 1)))


def walking(
    start: float, end: float, frames: int = 40, first: int = 2, elevation: float = -10, class_id: int = 10
) -> Track:
    """A source on an arc at 1.5 m; the azimuths may go beyond 180."""
    path = geometry.to_cartesian(np.linspace(start, end, frames), elevation)
    return Track(class_id, 1, first, 1.5 * np.stack(path, axis=1))


def intensity(foa: Array, frame: int) -> tuple[float, float]:
    """Where the sound of a label frame comes from (degrees), by the mean of W times X, Y, Z."""
    w, y, z, x = foa[:, frame * HOP : (frame + 1) * HOP].astype(np.float64)
    azimuth, elevation = geometry.to_polar(*(np.mean(w * part) for part in (x, y, z)))
    return float(azimuth), float(elevation)


def off(foa: Array, track: Track) -> Array:
    """The angle between intensity and label, for each label frame of a track."""
    table = labels("m", [track])
    rows = zip(*(table[name].to_pylist() for name in ("frame", "azimuth", "elevation")), strict=True)
    return np.array([float(geometry.great_circle(az, el, *intensity(foa, frame))) for frame, az, el in rows])


@pytest.mark.parametrize(
    ("track", "most"),
    [
        *((standing(*place, frames=4), 0.2) for place in ((-180, -60), (-37, 35), (64, -60), (90, 35))),
        *((walking(*ends), 1.2) for ends in ((-30, 100), (150, 230), (-170, -250))),  # labels are rounded by up to 0.7
    ],
)
def test_foa_points_at_the_label_of_each_frame(track: Track, most: float) -> None:
    assert off(record([track], 5.0, 2, OPEN)["foa"], track).max() < most


@pytest.mark.parametrize("class_id", range(len(SOUNDS)))
def test_every_class_sounds_in_every_label_frame(class_id: int) -> None:
    for frames in (1, 8, 37):
        wave = sound(class_id, frames * HOP, RATE, np.random.default_rng(class_id))
        level = np.sqrt(np.mean(wave.reshape(frames, HOP).astype(np.float64) ** 2, axis=1))
        assert (wave.shape, wave.dtype) == ((frames * HOP,), np.float32)
        assert np.abs(wave).max() <= PEAK * 1.0001
        assert level.min() > 0.02 * np.sqrt(np.mean(wave**2)), "every frame"
        assert np.sqrt(np.mean(wave**2)) <= LEVEL * 1.0001
        assert np.abs(wave[[0, -1]]).max() < 1e-3, "no click at the edges"


@pytest.mark.parametrize("direction", [(30.0, 10.0), (-100.0, -35.0), (170.0, 50.0)])
def test_mic_channels_differ_as_the_sphere_has_it(direction: tuple[float, float]) -> None:
    wave = record([standing(*direction, frames=10, first=0)], 1.0, 4, OPEN)
    sounds = np.fft.rfft(wave["mic"] / 32768)
    source = np.fft.rfft(wave["foa"][0] / 32768)
    frequencies = np.fft.rfftfreq(RATE, 1 / RATE)

    for low in (700, 1500, 3000, 5000, 7000):
        some = (frequencies >= low) & (frequencies < low + 100)
        seen = (sounds[:, some] * source[some].conj()).sum(axis=1) / (np.abs(source[some]) ** 2).sum()
        wanted = arrays.mic_response(*direction, [low + 50])[0, 0]
        assert np.abs(np.angle(seen / wanted)).max() < 0.12
        assert np.abs(np.abs(seen) / np.abs(wanted) - 1).max() < 0.1


def blob(picture: Array, class_id: int, near: float = 60) -> tuple[float, float, int]:
    """Azimuth and elevation of the middle of the pixels in the colour of a class, and how many there are."""
    height, width = picture.shape[:2]
    tint = COLOURS[class_id] / np.linalg.norm(COLOURS[class_id])
    strength = picture.astype(float) @ tint
    other = np.linalg.norm(picture - strength[..., None] * tint, axis=-1)
    rows, columns = np.nonzero((other < near) & (strength > 0.66 * np.linalg.norm(COLOURS[class_id])))
    azimuth, elevation = geometry.from_pixels(columns, rows, width, height)
    x, y, z = geometry.to_cartesian(azimuth, elevation)
    weight = np.cos(np.radians(elevation))
    middle = geometry.to_polar(*(np.sum(weight * part) for part in (x, y, z)))
    return float(middle[0]), float(middle[1]), len(rows)


def test_the_video_shows_each_label_frame_where_its_label_says(tmp_path: Path) -> None:
    track = walking(160, 220, frames=24, first=3, elevation=15, class_id=1)  # over the seam, 25 degrees a second
    table = write_clip(tmp_path, "m", "s", [track], 3.0, 1, media=["video"], size=(640, 320))

    with Video(tmp_path / "video_dev/s/m.mp4") as video:
        assert clock.NTSC == video.rate
        assert (640, 320) == video.size
        assert 90 == video.frames, "3 s at 29.97 are 89.9"
        assert [k / clock.NTSC for k in range(90)] == [Fraction(t) * video.time_base for t in video.times.tolist()]
        wanted = table["frame"].to_pylist()
        seen = [blob(picture, 1) for _, picture in video.frames_at(wanted)]
        times = np.array([float(number / clock.NTSC) for number in video.numbers(wanted).tolist()])
    azimuth, elevation = table["azimuth"].to_numpy(), table["elevation"].to_numpy()
    places = np.array([one[:2] for one in seen]).T
    wrong = geometry.great_circle(places[0], places[1], azimuth, elevation)
    assert wrong.max() < 1.2, "half a degree by rounding, 0.4 by the time of the picture, the rest by pixels"
    assert wrong.mean() < 0.6
    true, _ = geometry.to_polar(*track.at(times).T)
    assert abs(np.mean(geometry.wrap(places[0] - true))) < 0.4, "the picture before or after is off by 0.83"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set") / "starss23"
    write_tree(folder, 7, seconds=2.0, size=(64, 32))
    return folder


def test_labels_are_what_was_rendered_and_clean(tree: Path) -> None:
    assert set(seldio.validate(tree).by_rule()) <= {"LAY114", "AUD111"}, "a part of STARSS23, in shorter clips"
    for number, (clip, split) in enumerate(CLIPS, 1):
        table = labels(clip, scene(7 + number, 2.0, 1))
        written = get("starss23").write(table, origin_of(table).files[0])

        assert written == (tree / "metadata_dev" / split / f"{clip}.csv").read_bytes()
        heard = record(scene(7 + number, 2.0, 1), 2.0, 7 + number)
        for name in ("foa", "mic"):
            with Recording(tree / f"{name}_dev" / split / f"{clip}.wav") as sounds:
                assert np.array_equal(sounds.read() * 32768, heard[name])


def test_an_imaginary_system_errs_as_much_as_asked(tmp_path: Path) -> None:
    clips = [(f"fold4_room1_mix{number:03d}", "dev-test-tau") for number in range(1, 7)]
    tables = write_tree(tmp_path / "starss23", 7, clips=clips, media=())
    found = []
    for errors in (0.0, 1.0, 2.0):
        write_outputs(tmp_path / f"output-{errors}", tables, 3, errors)
        assert not seldio.validate(tmp_path / f"output-{errors}").findings
        scores = seldio.score(tmp_path / f"output-{errors}", reference=tmp_path / "starss23/metadata_dev")
        found.append(next(table for table in scores.tables if table.name == "overall").rows[0][2])
    assert 1.0 == found[0]
    assert 0.9 > found[1] > found[2] > 0.2


CLIP = "dev-test-tau/fold4_room2_mix001"


@pytest.mark.parametrize(
    ("fault", "labels", "channels"),
    [
        ("late-by-1.2-s", "12,3,0,150,-20,100\n19,3,0,-180,20,110\n", [0, 1, 2, 3]),
        ("channels-swapped", "0,3,0,150,-20,100\n7,3,0,-180,20,110\n", [0, 3, 2, 1]),
    ],
)
def test_a_fault_changes_labels_or_sound(tmp_path: Path, fault: str, labels: str, channels: list[int]) -> None:
    csv, wav = f"metadata_dev/{CLIP}.csv", f"foa_dev/{CLIP}.wav"
    laid(tmp_path / "tree", {csv: "0,3,0,150,-20,100\n7,3,0,-180,20,110\n", wav: b""})
    samples = np.arange(16, dtype=np.int16).reshape(4, 4)
    soundfile.write(tmp_path / "tree" / wav, samples, 24_000, subtype="PCM_16")
    plant(tmp_path / "tree", tmp_path / "planted", CLIP)

    assert (tmp_path / "planted" / fault / csv).read_text() == labels
    assert np.array_equal(soundfile.read(tmp_path / "planted" / fault / wav, dtype="int16")[0], samples[:, channels])
