"""A film of a clip: its video, or a plain panorama, with the labels and predictions drawn where they are heard."""

from __future__ import annotations

import dataclasses
import functools
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from seldio import clock, geometry
from seldio.errors import DataError, UsageError
from seldio.files import atomic_write
from seldio.media.video import Picture
from seldio.viewer.canvas import check_installed, ink, rgb, style
from seldio.viewer.tracks import EventTrack, classes, row_name

if TYPE_CHECKING:
    from seldio.media.video import Picture, Video
    from seldio.media.video_writing import Downmix


Share = np.ndarray[Any, np.dtype[np.uint16]]


class Sprite(NamedTuple):
    """A picture with how much of what is below shows through."""

    colour: Share  # red, green and blue times what covers, 0 to 255 · 256, shape (height, width, 3)
    below: Share  # what is left of the picture below, 0 to 256, shape (height, width, 1)

    @property
    def width(self) -> int:
        """In pixels."""
        return len(self.below[0])

    @property
    def height(self) -> int:
        """In pixels."""
        return len(self.below)


def _sprite(colour: Any, cover: Any) -> Sprite:
    """A sprite of colours (0 to 255) and of how much they cover (0 to 1)."""
    share = np.rint(np.asarray(cover)[..., None] * 256)
    return Sprite(np.asarray(np.rint(colour) * share, np.uint16), np.asarray(256 - share, np.uint16))


def paste(picture: Picture, sprite: Sprite, x: int, y: int) -> None:
    """Lay *sprite* on *picture*, its upper left corner at column *x* and row *y*.

    What sticks out at the left or right goes on at the other edge, as directions do behind the listener; what
    sticks out above or below is cut off.
    """
    height, width = picture.shape[:2]
    top, bottom = max(0, y), min(height, y + sprite.height)
    x %= width
    drawn = 0
    while top < bottom and drawn < min(sprite.width, width):
        start = (x + drawn) % width
        some = min(sprite.width - drawn, width - start)
        rows, columns = slice(top - y, bottom - y), slice(drawn, drawn + some)
        part = picture[top:bottom, start : start + some]
        part[:] = (part * sprite.below[rows, columns] + sprite.colour[rows, columns]) >> 8
        drawn += some


@functools.lru_cache(maxsize=512)
def disc(radius: int, colour: str, hollow: bool = False) -> Sprite:
    """A filled circle with a white and a dark rim for references, or a ring with a dark rim for predictions."""
    reach = radius + 3
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    away = np.hypot(x, y)
    rim = max(2.0, radius / 4)
    inside = _within(away, radius)
    cover = _within(away, radius + 1.5) - (_within(away, radius - rim - 1.5) if hollow else 0.0)
    shown = inside - (_within(away, radius - rim) if hollow else 0.0)
    dark, own = np.array([20.0, 20.0, 20.0]), np.array(rgb(colour), np.float64)
    mixed = own * shown[..., None] + dark * (1 - shown[..., None])
    if not hollow:  # a thin white line apart from the dark one: seen on any ground
        edge = _within(away, radius) - _within(away, radius - 1)
        mixed = mixed * (1 - edge[..., None]) + 255.0 * edge[..., None]
    return _sprite(mixed, np.clip(cover, 0, 1))


def _within(away: Any, radius: float) -> Any:
    """How much of each pixel lies within *radius*, smooth at the edge."""
    return np.clip(radius + 0.5 - away, 0.0, 1.0)


@functools.lru_cache(maxsize=512)
def words(text: str, pixels: float, colour: str, hollow: bool = False) -> Sprite:
    """*text*, *pixels* high, on a plate of its colour; where *hollow* (predictions), on black with a line around it."""
    shape = _letters(text, pixels)
    pad = max(2, round(pixels / 5))
    inked = np.pad(shape, pad)
    ground, letters = ("#141414", "#ffffff") if hollow else (colour, ink(colour))
    share = inked[..., None]
    mixed = np.array(rgb(letters)) * share + np.array(rgb(ground)) * (1 - share)
    if hollow:
        for side in (mixed[:1], mixed[-1:], mixed[:, :1], mixed[:, -1:]):
            side[...] = rgb(colour)
    return _sprite(mixed, np.full(inked.shape, 0.88))


def _letters(text: str, pixels: float) -> Any:
    """How much ink each pixel of *text* has, 0 to 1, cut to the ink in width and to the body in height."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style():
        width = int(pixels * (len(text) + 2)) + 8
        figure = Figure(figsize=(width / 100, pixels * 2 / 100), dpi=100, facecolor="white")
        canvas: Any = FigureCanvasAgg(figure)
        figure.text(0.0, 0.5, text, fontsize=pixels * 0.72, va="center_baseline", ha="left", color="black")
        canvas.draw()
        shape = 1.0 - np.asarray(canvas.buffer_rgba())[..., 0] / 255.0
    used = np.flatnonzero(shape.any(axis=0))
    middle, half = shape.shape[0] // 2, round(pixels * 0.62)
    body = shape[middle - half : middle + half]
    return body[:, used[0] : used[-1] + 1] if len(used) else body[:, :1]


#: Pixels across, unless the video is smaller.
WIDTH = 640
#: Pixels across that a film may have.
_WIDEST = 4096
#: Small letters stay sharp at this quality.
_OPTIONS = {"preset": "veryfast", "crf": "20"}
#: The ground where there is no video: grey, with lines every 45 and 30 degrees.
_GROUND, _LINES, _AXES = 70, 95, 130


@dataclasses.dataclass(frozen=True)
class WrittenFilm:
    """What was written."""

    pictures: int  # how many
    rate: Fraction  # pictures a second
    size: tuple[int, int]  # width and height
    sound: str  # what was done to the recording, empty where nothing is heard
    video: bool  # whether a video is below, and not a plain panorama


@dataclasses.dataclass(frozen=True)
class FilmMark:
    """A source in a label frame: its place in pixels and what is drawn there."""

    x: int
    y: int
    name: str
    colour: str
    predicted: bool


class FilmMarks:
    """The marks of each label frame, for pictures of *size*."""

    def __init__(
        self, reference: Sequence[EventTrack], predictions: Sequence[EventTrack], size: tuple[int, int]
    ) -> None:
        rows = classes(reference, predictions)
        self._by_frame: dict[tuple[Fraction, int], list[FilmMark]] = {}
        self._hops: list[Fraction] = []
        for predicted, track in [(False, track) for track in reference] + [(True, track) for track in predictions]:
            name = row_name(track, rows)
            if track.hop not in self._hops:
                self._hops.append(track.hop)
            known = ~np.isnan(track.azimuth + track.elevation)
            x, y = geometry.to_pixels(track.azimuth[known], track.elevation[known], *size)
            places = np.rint(np.stack((x, y), axis=1)).astype(np.int64).tolist()
            for frame, (column, row) in zip(track.frames[known].tolist(), places, strict=True):
                mark = FilmMark(column % size[0], row, name, rows[name], predicted)
                self._by_frame.setdefault((track.hop, frame), []).append(mark)

    def at(self, time: Fraction) -> list[FilmMark]:
        """What sounds at *time* (seconds): predictions last, so that they are drawn on top."""
        found = [m for hop in self._hops for m in self._by_frame.get((hop, clock.label_frame(time, hop)), ())]
        return sorted(found, key=lambda mark: mark.predicted)


def film(
    out: str | os.PathLike[str],
    reference: Sequence[EventTrack],
    predictions: Sequence[EventTrack] = (),
    *,
    video: Video | None = None,
    sound: Downmix | None = None,
    width: int | None = None,
) -> WrittenFilm:
    """Write an MP4 film of a clip with its labels: discs for references, rings for predictions, and class names.

    Picture *n* is shown at ``n / rate`` seconds and bears the labels of the label frame that begins then or has
    begun last. Its ground is the picture of the video that is nearest in time by the time stamps; where the video
    has none, and without a video, it is a grey panorama with its middle at the front. The film ends with what
    lasts longest: video, recording or labels.

    Args:
        out: the file, which appears whole or not at all.
        reference: events of the clip.
        predictions: what a system heard.
        video: an equirectangular panorama, azimuth +180 at its left edge.
        sound: what is heard; see :func:`seldio.media.video_writing.sound`.
        width: pixels across; the video's up to :data:`WIDTH` by default.
    """
    check_installed()
    size = _size(video, width)
    rate = Fraction(video.rate) if video is not None else clock.NTSC
    ends = [Fraction(int(track.frames[-1]) + 1) * track.hop for track in (*reference, *predictions)]
    ends += [video.scan.end] if video is not None else []
    ends += [Fraction(sound.frames, sound.rate)] if sound is not None else []
    count = math.ceil(max(ends, default=Fraction(0)) * rate)
    if not count:
        raise UsageError("nothing to show: the clip has no events, no recording and no video")
    pictures = _drawn(_grounds(video, count, rate, size), rate, FilmMarks(reference, predictions, size), size)
    with atomic_write(out) as stream:
        _write(stream, pictures, size, rate, sound)
    return WrittenFilm(count, rate, size, sound.description if sound is not None else "", video is not None)


def _write(
    stream: BinaryIO, pictures: Iterable[Picture], size: tuple[int, int], rate: Fraction, sound: Downmix | None
) -> None:  # fmt: skip
    """Encode pictures and sound, a second of each in turn."""
    from seldio.media.video_writing import VideoWriter

    track = (sound.encoded, len(sound.weights)) if sound is not None else None
    blocks = sound.blocks() if sound is not None else iter(())
    with VideoWriter(stream, size, rate, track, _OPTIONS) as writer:
        for number, picture in enumerate(pictures):
            if number % max(1, round(rate)) == 0 and (block := next(blocks, None)) is not None:
                writer.sound(block)
            writer.picture(picture)
        for block in blocks:
            writer.sound(block)


def _size(video: Video | None, width: int | None) -> tuple[int, int]:
    """Width and height of the film, both even."""
    if video is not None and abs(video.size[0] / video.size[1] - 2) > 0.02:
        raise DataError(
            f"the video has pictures of {video.size[0]} × {video.size[1]} pixels, and a panorama is twice as wide as "
            "high: directions have no known place in it"
        )
    chosen = width if width is not None else min(WIDTH, video.size[0] if video is not None else WIDTH)
    if not 64 <= chosen <= _WIDEST:
        raise UsageError(f"no video of {chosen} pixels width: choose from 64 to {_WIDEST:,}")
    return chosen // 4 * 4, chosen // 4 * 2


def _grounds(video: Video | None, count: int, rate: Fraction, size: tuple[int, int]) -> Iterator[Picture]:
    """What lies below the marks, a picture that may be drawn on for each picture of the film."""
    plain = panorama(size)
    frames = range(count)
    found: Iterator[tuple[int, Picture]] = iter(())
    if video is not None:
        found = video.frames_at(frames, convention="start", size=size, hop=1 / rate, missing="skip")
    following = next(found, None)
    for number in frames:
        if following is not None and following[0] == number:
            yield following[1].copy()  # pictures may share an array
            following = next(found, None)
        else:
            yield plain.copy()


def panorama(size: tuple[int, int]) -> Picture:
    """A grey panorama of *size* (width, height): lines every 45 degrees of azimuth and 30 of elevation."""
    width, height = size
    picture = np.full((height, width, 3), _GROUND, np.uint8)
    for axis, degrees in ((0, range(-60, 61, 30)), (1, range(-180, 180, 45))):
        for angle in degrees:
            place = geometry.to_pixels(*((0, angle) if axis == 0 else (angle, 0)), width, height)[1 - axis]
            line = (slice(None), round(float(place)) % width) if axis else (round(float(place)), slice(None))
            picture[line] = _AXES if angle == 0 else _LINES
    body = height / 24
    for angle, text in ((90, "left"), (0, "front"), (-90, "right"), (180, "behind")):
        sprite = words(text, body, "#464646")
        middle = round(float(geometry.to_pixels(angle, 0, width, height)[0])) - sprite.width // 2
        for x in (middle,) if angle != 180 else (2, width - sprite.width - 2):
            paste(picture, sprite, x, height - sprite.height - 2)
    return picture


def _drawn(grounds: Iterable[Any], rate: Fraction, marks: FilmMarks, size: tuple[int, int]) -> Iterator[Picture]:
    body = max(9.0, size[1] / 26)
    before, laid = None, []
    for number, picture in enumerate(grounds):
        time = clock.video_time(number, rate)
        shown = marks.at(time)
        if shown != before:
            before, laid = shown, _layout(shown, size, body)
        clock_sprite = words(f"{math.floor(time * 10) / 10:.1f} s", body, "#000000")
        for sprite, x, y in (*laid, (clock_sprite, 2, 2)):
            paste(picture, sprite, x, y)
        yield picture


def _layout(marks: Sequence[FilmMark], size: tuple[int, int], body: float) -> list[tuple[Sprite, int, int]]:
    """Where each sprite goes: marks at their places, with their names next to them, clear of each other."""
    radius = max(4, size[1] // 45)
    placed, taken = [], [(0, 0, round(body * 5), round(body * 2))]  # the time stands there
    for mark in marks:
        # a ring around a disc of the same place leaves both seen
        sprite = disc(radius * 2, mark.colour, hollow=True) if mark.predicted else disc(radius, mark.colour)
        x, y = mark.x - sprite.width // 2, mark.y - sprite.height // 2
        placed.append((sprite, x, y))
        taken.append((x, y, x + sprite.width, y + sprite.height))
    for mark in marks:
        sprite = words(mark.name, body, mark.colour, mark.predicted)
        x, y = _free(sprite, mark, radius * 2 + 4, size, taken)
        taken.append((x, y, x + sprite.width, y + sprite.height))
        placed.append((sprite, x, y))
    return placed


def _free(sprite: Sprite, mark: FilmMark, away: int, size: tuple[int, int], taken: Sequence[Any]) -> tuple[int, int]:
    """The place for a name above its mark or else below, moved until it covers no other; inside the picture."""
    x = min(max(0, mark.x - sprite.width // 2), max(0, size[0] - sprite.width))
    above, below = mark.y - away - sprite.height, mark.y + away
    tries = [y for step in range(8) for y in (above - step * sprite.height, below + step * sprite.height)]
    inside = [y for y in tries if 0 <= y <= size[1] - sprite.height] or [0]
    right = x + sprite.width
    above_or_below = [box for box in taken if not (right <= box[0] or box[2] <= x)]
    free = (y for y in inside if all(y + sprite.height <= box[1] or box[3] <= y for box in above_or_below))
    return x, next(free, inside[0])
