"""What a scene looks like: an equirectangular picture of a room in which the sources appear where they are heard.

The left edge is azimuth +180, the right edge -180, the first row elevation +90, as :func:`seldio.geometry.to_pixels`
has it. Each source is a figure in the colour of its class, from a second before it sounds until a second after; it
is pale then, and bright with a ring around it while it sounds. Nearer ones are larger and hide those behind them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from seldio import clock, geometry
from seldio.errors import UsageError
from seldio.synth import Track
from seldio.synth.recording import Room

Picture = np.ndarray[Any, np.dtype[np.uint8]]
Floats = np.ndarray[Any, np.dtype[np.float32]]

#: Width and height of a small video, and of those of STARSS23.
SMALL, FULL = (640, 320), (1920, 960)
#: Radius of a head, metres.
HEAD = 0.22
#: Seconds for which a source is seen before and after it sounds.
LINGER = 1.0
#: How bright figures are that do not sound.
_PALE = 0.45

#: Red, green, blue of each class of the STARSS vocabulary.
COLOURS = np.array([
    (240, 98, 146), (66, 165, 245), (255, 213, 79), (38, 198, 218), (255, 138, 101), (174, 174, 190), (156, 204, 101),
    (188, 140, 110), (186, 104, 200), (149, 117, 255), (79, 220, 255), (255, 238, 130), (236, 112, 70),
], np.float32)  # fmt: skip


class Painter:
    """Draws a scene at any time, as pictures of *size* (width, height), with the room as their background."""

    def __init__(self, tracks: Sequence[Track], size: tuple[int, int] = SMALL, room: Room | None = None) -> None:
        width, height = size
        if min(size) < 16 or width % 2 or height % 2:
            raise UsageError(f"pictures of {width} × {height}: both must be even, and 16 at least")
        self.size = size
        self._tracks = tracks
        self._room = room or Room()
        azimuth, _ = geometry.from_pixels(np.arange(width), 0, width, height)
        _, elevation = geometry.from_pixels(0, np.arange(height), width, height)
        self._azimuth, self._elevation = np.radians(azimuth), np.radians(elevation)
        self._empty = _background(self._azimuth, self._elevation, self._room)

    def picture(self, time: float) -> Picture:
        """The scene *time* seconds from its start, shape (height, width, 3): red, green, blue."""
        made = self._empty.copy()
        for figure in self._figures(time):
            self._draw(made, figure)
        return made

    def pictures(self, seconds: float, rate: Fraction = clock.NTSC) -> Iterator[Picture]:
        """All pictures of a clip of *seconds*, each at its own time ``k / rate``, up to the end of the clip."""
        count = -int(-(Fraction(seconds) * rate) // 1)
        return (self.picture(float(clock.video_time(number, rate))) for number in range(count))

    def _figures(self, time: float) -> Iterator[_Figure]:
        """Those to be seen at *time*, the farthest first."""
        found = []
        for track in self._tracks:
            start, end = clock.onset(track.first), clock.onset(track.end)
            if start - LINGER <= time < end + LINGER:
                position = track.at([time])[0]
                found.append(_Figure(track, position, float(np.linalg.norm(position)), start <= time < end))
        return iter(sorted(found, key=lambda figure: (figure.sounds, -figure.distance)))

    def _draw(self, made: Picture, figure: _Figure) -> None:
        colour = COLOURS[figure.track.class_id % len(COLOURS)] * (1 if figure.sounds else _PALE)
        azimuth, elevation = (float(np.radians(angle)) for angle in geometry.to_polar(*figure.position))
        radius = float(np.arcsin(min(0.9, HEAD / max(figure.distance, HEAD))))
        if figure.track.source:
            self._body(made, figure, azimuth, elevation, 0.55 * colour)
        rows, columns = self._box(azimuth, elevation, 1.5 * radius)
        away, light = self._sphere(rows, columns, azimuth, elevation, radius)
        patch = made[rows, columns].astype(np.float32)
        edge = radius / 8 + np.pi / self.size[1] / 2
        _blend(patch, np.clip((radius - away) / edge, 0, 1), colour * light[..., np.newaxis])
        if figure.sounds:
            _blend(patch, 0.8 * np.clip(1 - np.abs(away - 1.35 * radius) / edge, 0, 1), np.float32(250))
        made[rows, columns] = np.rint(patch).astype(np.uint8)

    def _body(self, made: Picture, figure: _Figure, azimuth: float, elevation: float, colour: Floats) -> None:
        """What stands between the head and the floor: a column that becomes wider downwards, and its shadow."""
        floor = float(self._room.walls[0][2])
        flat = max(float(np.hypot(*figure.position[:2])), HEAD)
        bottom = float(np.arctan2(min(floor, figure.position[2]), flat))
        radius = float(np.arctan2(1.15 * HEAD, flat))
        rows = np.flatnonzero((self._elevation < elevation) & (self._elevation > bottom))[:, np.newaxis]
        columns = self._columns(azimuth, radius)
        side = np.abs(_turn(self._azimuth[columns] - azimuth))[np.newaxis]
        down = (elevation - self._elevation[rows]) / max(elevation - bottom, 1e-6)
        patch = made[rows, columns].astype(np.float32)
        _blend(patch, np.clip((radius * (0.6 + 0.4 * down) - side) * self.size[0] / np.pi, 0, 1), colour)
        made[rows, columns] = np.rint(patch).astype(np.uint8)

    def _box(self, azimuth: float, elevation: float, radius: float) -> tuple[Any, Any]:
        """Rows and columns that hold all within *radius* (radians) of a direction; columns wrap at the seam."""
        rows = np.flatnonzero(np.abs(self._elevation - elevation) <= radius)[:, np.newaxis]
        highest = abs(elevation) + radius
        wide = np.pi if highest >= np.pi / 2 else float(np.arcsin(min(1.0, np.sin(radius) / np.cos(elevation))))
        return rows, self._columns(azimuth, wide)

    def _columns(self, azimuth: float, wide: float) -> Any:
        return np.flatnonzero(np.abs(_turn(self._azimuth - azimuth)) <= wide)

    def _sphere(self, rows: Any, columns: Any, azimuth: float, elevation: float, radius: float) -> tuple[Any, Any]:
        """The angle of pixels from a direction, and how much light a ball there gives back: from above left."""
        el, turn = self._elevation[rows].astype(np.float32), _turn(self._azimuth[columns] - azimuth).astype(np.float32)
        across = np.cos(el) * np.sin(turn)
        up = np.sin(el) * np.cos(elevation) - np.cos(el) * np.sin(elevation) * np.cos(turn)
        ahead = np.sin(el) * np.sin(elevation) + np.cos(el) * np.cos(elevation) * np.cos(turn)
        away = np.arctan2(np.hypot(across, up), ahead)
        light = 0.86 + 0.14 * np.clip((across + up) / radius, -1, 1)
        return away, light


@dataclasses.dataclass(frozen=True, slots=True)
class _Figure:
    track: Track
    position: np.ndarray[Any, np.dtype[np.float64]]
    distance: float
    sounds: bool


def _turn(angle: Any) -> Any:
    """Radians brought into -π … π."""
    return (angle + np.pi) % (2 * np.pi) - np.pi


def _blend(patch: Floats, share: Any, colour: Any) -> None:
    """Paint *colour* over *patch*, by a *share* of 0 to 1 for each pixel."""
    share = np.asarray(share, np.float32)[..., np.newaxis]
    patch += share * (colour - patch)


def _background(azimuth: Any, elevation: Any, room: Room) -> Picture:
    """Walls, floor and ceiling with lines every metre, darker with distance, and a mark every 30 degrees."""
    directions = geometry.to_cartesian(np.degrees(azimuth)[np.newaxis], np.degrees(elevation)[:, np.newaxis])
    rays = np.stack(np.broadcast_arrays(*directions), axis=-1)
    low, high = room.walls
    with np.errstate(divide="ignore"):
        reach = np.where(rays > 0, high / rays, low / np.where(rays == 0, -1e-12, rays))
    axis = np.argmin(reach, axis=-1)
    distance = np.min(reach, axis=-1)
    points = rays * distance[..., np.newaxis] - low
    base = np.array([(64, 70, 84), (56, 62, 78), (78, 66, 56)], np.float32)[axis]
    base[(axis == 2) & (rays[..., 2] > 0)] = (88, 92, 98)
    offset = np.abs(points - np.rint(points))
    np.put_along_axis(offset, axis[..., np.newaxis], 1.0, axis=-1)  # no lines along the wall that is looked at
    pixel = 2 * np.pi / len(azimuth)
    line = np.clip(1 - offset.min(axis=-1) / (0.9 * pixel * distance + 0.004), 0, 1) * np.where(axis == 2, 0.5, 0.2)
    made = (base + line[..., np.newaxis] * 60) * np.clip(1.15 - 0.08 * distance, 0.5, 1.1)[..., np.newaxis]
    away = np.abs(_turn(np.asarray(azimuth)[np.newaxis] * 12) / 12)  # from the nearest multiple of 30 degrees
    mark = (away < 0.6 * pixel) & (np.abs(np.asarray(elevation)[:, np.newaxis]) < np.radians(2))
    made[mark] = 150
    return np.asarray(np.rint(np.clip(made, 0, 255)), np.uint8)
