"""Recordings of LOCATA and EasyCom as these datasets write them, with an array that moves and turns in a room.

Written without seldio: a direction as the array sees it is put into the room by SciPy's rotations, so that reading it
back goes the other way by other code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

Floats = np.ndarray[Any, np.dtype[np.float64]]
TIME = ("year", "month", "day", "hour", "minute", "second")
TURN = tuple(f"rotation_{i}{j}" for i in "123" for j in "123")


class Pose(NamedTuple):
    """Where an array is in each of n moments, and how it is turned: from its own axes to those of the room."""

    places: Floats  # (n, 3)
    turns: Rotation  # n of them

    @classmethod
    def moving(cls, count: int, seed: int) -> Pose:
        """An array that walks and turns about all three axes."""
        draw = np.random.default_rng(seed)
        way = draw.uniform(-1, 1, (2, 3)) @ np.diag([2.0, 2.0, 0.5])
        share = np.linspace(0, 1, count)[:, None]
        angles = draw.uniform(-180, 180, 3) + share * draw.uniform(-90, 90, 3)
        return cls(way[0] + share * (way[1] - way[0]), Rotation.from_euler("zyx", angles, degrees=True))


def seen(azimuth: Any, elevation: Any, distance: Any, axes: Mapping[str, Sequence[float]]) -> Floats:
    """Places (n, 3) in the array's own axes; *axes* say where its front, left and up are."""
    azimuth, elevation = np.radians(azimuth), np.radians(elevation)
    front, left, up = (np.array(axes[name], dtype=float) for name in ("front", "left", "up"))
    flat = np.cos(elevation) * np.asarray(distance)
    return (
        np.outer(flat * np.cos(azimuth), front)
        + np.outer(flat * np.sin(azimuth), left)
        + np.outer(np.asarray(distance) * np.sin(elevation), up)
    )


LOCATA = {"front": (0, 1, 0), "left": (-1, 0, 0), "up": (0, 0, 1)}
EASYCOM = {"front": (0, 0, 1), "left": (1, 0, 0), "up": (0, 1, 0)}


def in_room(pose: Pose, places: Floats) -> Floats:
    """Places in the array's own axes, as they are in the room."""
    return np.asarray(pose.turns.apply(places) + pose.places)


def stamp(seconds: float) -> tuple[object, ...]:
    """A moment of 25 January 2017, *seconds* after 15:40:25.064."""
    total = 25.064 + seconds
    return 2017, 1, 25, 15, 40 + int(total // 60), f"{total % 60:.6f}"


def table(path: Path, names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A text table with tabs."""
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in (names, *rows)))


def write_locata(
    folder: Path, times: Sequence[float], pose: Pose, sources: Mapping[str, Floats],
    active: Mapping[str, Sequence[tuple[float, float]]], *, valid: Sequence[int] | None = None, late: float = 0.0,
) -> Path:  # fmt: skip
    """A recording; *sources* are places as the array sees them, *active* seconds of the sound.

    The sound begins *late* seconds after the first moment. Gives the label file.
    """
    array = folder.name
    folder.mkdir(parents=True)
    turns = pose.turns.as_matrix().reshape(-1, 9)
    mics = [name for m in (1, 2) for name in (f"mic{m}_x", f"mic{m}_y", f"mic{m}_z")]
    vectors = ("ref_vec_x", "ref_vec_y", "ref_vec_z")
    table(folder / f"position_array_{array}.txt", (*TIME, "x", "y", "z", *vectors, *TURN, *mics), [
        (*stamp(t), *map(repr, p), 0, 1, 0, *map(repr, turn), *[0.1] * 6)
        for t, p, turn in zip(times, pose.places.tolist(), turns.tolist(), strict=True)
    ])  # fmt: skip
    flags = valid if valid is not None else [1] * len(times)
    required = [(*stamp(t), flag) for t, flag in zip(times, flags, strict=True)]
    table(folder / "required_time.txt", (*TIME, "valid_flag"), required)
    samples = [stamp(late + number / 48_000) for number in range(3)]
    table(folder / f"audio_array_timestamps_{array}.txt", TIME, samples)
    still = np.eye(3).ravel()
    for name, places in sources.items():
        rows = [(*stamp(t), *map(repr, p), 0, 1, 0, *still) for t, p in
                zip(times, in_room(pose, places).tolist(), strict=True)]  # fmt: skip
        table(folder / f"position_source_{name}.txt", (*TIME, "x", "y", "z", *vectors, *TURN), rows)
        flags = np.zeros(round(48_000 * (times[-1] - late)), np.uint8)
        for start, stop in active[name]:
            flags[round(48_000 * start) : round(48_000 * stop)] = 1
        vad = b"VAD\n" + (flags[:, None] * np.array([1, 0], np.uint8) + np.array([48, 10], np.uint8)).tobytes()
        (folder / f"VAD_{array}_{name}.txt").write_bytes(vad)
    return folder / f"position_array_{array}.txt"


def write_easycom(
    main: Path, pose: Pose, people: Mapping[int, Floats], speech: Sequence[Mapping[str, Any]],
    name: str = "00-00-000", upside_down: Sequence[int] = (),
) -> Path:  # fmt: skip
    """A minute of a session at 20 frames per second; *people* are places as participant 2 sees them.

    Gives the label file.
    """
    there = {2: pose.places, **{who: in_room(pose, places) for who, places in people.items()}}
    turns = pose.turns.as_quat()
    frames = []
    for frame in range(len(turns)):
        every = []
        for who, places in there.items():
            turn = turns[frame] if who == 2 else [0.0, 0.0, 0.0, 1.0]
            place = {f"Position_{axis}": value for axis, value in zip("XYZ", places[frame].tolist(), strict=True)}
            every.append({
                "Participant_ID": who, **place,
                **{f"Quaternion_{axis}": float(value) for axis, value in zip("XYZW", turn, strict=True)},
                "isUpSideDown": who == 2 and frame in upside_down,
            })  # fmt: skip
        frames.append({"Frame_Number": frame + 1, "Participants": every})
    for kind, content in (("Tracked_Poses", frames), ("Speech_Transcriptions", speech)):
        (main / kind / "Session_1").mkdir(parents=True, exist_ok=True)
        (main / kind / "Session_1" / f"{name}.json").write_text(json.dumps(content))
    return main / "Speech_Transcriptions" / "Session_1" / f"{name}.json"
