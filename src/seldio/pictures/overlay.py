"""A film of a clip: its video, or a plain panorama, with the labels and predictions drawn where they are heard."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from seldio import clock, geometry
from seldio.errors import DataError, UsageError
from seldio.files import atomic_write
from seldio.pictures.canvas import check_installed
from seldio.pictures.sprites import Sprite, disc, paste, ring, words
from seldio.pictures.tracks import Track, classes, named

if TYPE_CHECKING:
    from seldio.media.compact import Sound
    from seldio.media.video import Picture, Video

#: Pixels across, unless the video is smaller.
WIDTH = 640
#: Pixels across that a film may have.
_WIDEST = 4096
#: Small letters stay sharp at this quality.
_OPTIONS = {"preset": "veryfast", "crf": "20"}
#: The ground where there is no video: grey, with lines every 45 and 30 degrees.
_GROUND, _LINES, _AXES = 70, 95, 130


@dataclasses.dataclass(frozen=True)
class Film:
    """What was written.

    Args:
        pictures: how many.
        rate: pictures a second.
        size: width and height.
        sound: what was done to the recording, empty where nothing is heard.
        video: whether a video is below, and not a plain panorama.
    """

    pictures: int
    rate: Fraction
    size: tuple[int, int]
    sound: str
    video: bool


@dataclasses.dataclass(frozen=True)
class Mark:
    """A source in a label frame: its place in pixels and what is drawn there."""

    x: int
    y: int
    name: str
    colour: str
    predicted: bool


class Marks:
    """The marks of each label frame.

    Args:
        reference: events of the clip.
        predictions: what a system heard.
        size: of the pictures.
    """

    def __init__(self, reference: Sequence[Track], predictions: Sequence[Track], size: tuple[int, int]) -> None:
        rows = classes(reference, predictions)
        self._by_frame: dict[tuple[Fraction, int], list[Mark]] = {}
        self._hops: list[Fraction] = []
        for predicted, side in ((False, reference), (True, predictions)):
            for track in side:
                name = named(track, rows)
                self._add(track, name, rows[name], predicted, size)

    def _add(self, track: Track, name: str, colour: str, predicted: bool, size: tuple[int, int]) -> None:
        if track.hop not in self._hops:
            self._hops.append(track.hop)
        known = ~np.isnan(track.azimuth + track.elevation)
        x, y = geometry.to_pixels(track.azimuth[known], track.elevation[known], *size)
        places = np.rint(np.stack((x, y), axis=1)).astype(np.int64).tolist()
        for frame, (column, row) in zip(track.frames[known].tolist(), places, strict=True):
            mark = Mark(column % size[0], row, name, colour, predicted)
            self._by_frame.setdefault((track.hop, frame), []).append(mark)

    def at(self, time: Fraction) -> list[Mark]:
        """What sounds at *time* (seconds): predictions last, so that they are drawn on top."""
        found = [m for hop in self._hops for m in self._by_frame.get((hop, clock.label_frame(time, hop)), ())]
        return sorted(found, key=lambda mark: mark.predicted)


def film(
    out: str | os.PathLike[str],
    reference: Sequence[Track],
    predictions: Sequence[Track] = (),
    *,
    video: Video | None = None,
    sound: Sound | None = None,
    width: int | None = None,
) -> Film:
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
        sound: what is heard; see :func:`seldio.media.compact.sound`.
        width: pixels across; the video's up to :data:`WIDTH` by default.

    Raises:
        DataError: the video is no panorama.
        UsageError: no such width, or nothing to show.
        SeldioError: the disk fails, or there is no encoder.
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
    pictures = _drawn(_grounds(video, count, rate, size), rate, Marks(reference, predictions, size), size)
    with atomic_write(out) as stream:
        _write(stream, pictures, size, rate, sound)
    return Film(count, rate, size, sound.told if sound is not None else "", video is not None)


def _write(
    stream: BinaryIO, pictures: Iterable[Picture], size: tuple[int, int], rate: Fraction, sound: Sound | None
) -> None:  # fmt: skip
    """Encode pictures and sound, a second of each in turn."""
    from seldio.media.encode import VideoWriter

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
    """Width and height of the film, both even.

    Raises:
        DataError: the video is no panorama.
        UsageError: no such width.
    """
    if video is not None and abs(video.size[0] / video.size[1] - 2) > 0.02:
        raise DataError(
            f"the video has pictures of {video.size[0]} × {video.size[1]} pixels, and a panorama is twice as wide as "
            "high: directions have no known place in it"
        )
    chosen = width if width is not None else min(WIDTH, video.size[0] if video is not None else WIDTH)
    if not 64 <= chosen <= _WIDEST:
        raise UsageError(f"no film of {chosen} pixels across: choose from 64 to {_WIDEST:,}")
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


def _drawn(grounds: Iterable[Any], rate: Fraction, marks: Marks, size: tuple[int, int]) -> Iterator[Picture]:
    body = max(9.0, size[1] / 26)
    before, laid = None, []
    for number, picture in enumerate(grounds):
        time = clock.video_time(number, rate)
        shown = marks.at(time)
        if shown != before:
            before, laid = shown, _layout(shown, size, body)
        for sprite, x, y in (*laid, (_time(time, body), 2, 2)):
            paste(picture, sprite, x, y)
        yield picture


def _time(time: Fraction, body: float) -> Sprite:
    return words(f"{math.floor(time * 10) / 10:.1f} s", body, "#000000")


def _layout(marks: Sequence[Mark], size: tuple[int, int], body: float) -> list[tuple[Sprite, int, int]]:
    """Where each sprite goes: marks at their places, and their names beside them, clear of each other."""
    radius = max(4, size[1] // 45)
    placed, taken = [], [(0, 0, round(body * 5), round(body * 2))]  # the time stands there
    for mark in marks:
        # a ring around a disc of the same place leaves both seen
        sprite = ring(radius * 2, mark.colour) if mark.predicted else disc(radius, mark.colour)
        x, y = mark.x - sprite.width // 2, mark.y - sprite.height // 2
        placed.append((sprite, x, y))
        taken.append((x, y, x + sprite.width, y + sprite.height))
    for mark in marks:
        sprite = words(mark.name, body, mark.colour, mark.predicted)
        x, y = _free(sprite, mark, radius * 2 + 4, size, taken)
        taken.append((x, y, x + sprite.width, y + sprite.height))
        placed.append((sprite, x, y))
    return placed


def _free(sprite: Sprite, mark: Mark, away: int, size: tuple[int, int], taken: Sequence[Any]) -> tuple[int, int]:
    """The place for a name above its mark or else below, moved until it covers no other; inside the picture."""
    x = min(max(0, mark.x - sprite.width // 2), max(0, size[0] - sprite.width))
    above, below = mark.y - away - sprite.height, mark.y + away
    tries = [y for step in range(8) for y in (above - step * sprite.height, below + step * sprite.height)]
    inside = [y for y in tries if 0 <= y <= size[1] - sprite.height] or [0]
    free = (y for y in inside if all(_apart((x, y, x + sprite.width, y + sprite.height), box) for box in taken))
    return x, next(free, inside[0])


def _apart(one: Sequence[int], other: Sequence[int]) -> bool:
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
