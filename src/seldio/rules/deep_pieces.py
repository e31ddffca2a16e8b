"""Compare labels and audio: label frames in which it is known who is heard, put together by place.

Label frames of one event are not independent, nor are events at one place, which share their reflections. So frames
are grouped into pieces of two seconds at one place, and pieces into places; significance is judged over places. Frames
with two or three labelled directions count too, if the sound of one of them is clearly the loudest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from seldio import geometry

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]

#: Label frames of a block of time, within which frames are not independent: those at one place are one piece.
BLOCK = 20
#: Label frames with a direction that make a whole piece, and most label frames of silence within an event.
LEAST = 3
#: Directness below which a label frame is ignored; the same where several sources are active, one of which is heard.
DIRECT, _CLEARLY = 0.03, 0.15
#: Most directions of a label frame, and most label frames of a clip with more than one that are looked at.
_CROWD, _CROWDS = 3, 200
#: Labelled directions closer together than this count as one; pieces within this angle are one place. Degrees.
_TOGETHER, _PLACE = 10.0, 20.0
#: Errors of measured directions: a share is arbitrary, the rest about 18 degrees.
_ASTRAY, _SHARPNESS = 0.15, 10.0


class Spread(NamedTuple):
    """A mean with its confidence interval (95 %), in degrees."""

    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class HeardClass:
    """The result of listening to the events of one class."""

    name: str
    events: int  # events that were heard alone
    seconds: float  # how long in all
    median: float  # degrees between labels and audio
    share: float  # share of the time in which they are within 30 degrees


@dataclasses.dataclass(frozen=True)
class Heard:
    """How the labels of a clip, or of a dataset, compare with recordings of one format.

    Args:
        clip: the name of the clip; None for all of a dataset together.
        recording: the path of the recording; that of the source for a dataset.
        format: ``foa`` or ``mic``; empty if the recording is neither.
        outcome: ``fits``; ``contradicted``, which a finding explains; ``unclear`` for little or bad evidence;
            ``not heard``.
        why: in words, why it is unclear or not heard.
        events: events that were heard alone.
        places: places that they are at (cells of about 20 degrees).
        seconds: how long a single source was heard.
        median: median error over that time, degrees.
        share: share of that time in which labels and audio are within 30 degrees.
        azimuth: mean degrees by which the audio is further left than the labels.
        elevation: mean degrees by which it is higher.
        classes: the same for each class.
    """

    clip: str | None
    recording: str
    format: str
    outcome: str
    why: str | None = None
    events: int = 0
    places: int = 0
    seconds: float = 0.0
    median: float | None = None
    share: float | None = None
    azimuth: Spread | None = None
    elevation: Spread | None = None
    classes: tuple[HeardClass, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it with the keys of the json report; degrees to two decimals, shares to four."""
        values = dataclasses.asdict(self)
        for name in ("azimuth", "elevation"):
            mean = getattr(self, name)
            values[name] = None if mean is None else {key: round(value, 2) for key, value in mean._asdict().items()}
        for record in (values, *values["classes"]):
            for name, digits in (("median", 2), ("share", 4)):
                record[name] = None if record[name] is None else round(record[name], digits)
        return values | {"classes": list(values["classes"])}


@dataclasses.dataclass(frozen=True)
class LabelFrames:
    """The labels of each label frame of a clip."""

    active: Bools  # whether any source is active, shape (label frames,)
    alone: Bools  # whether all active sources are in one direction
    direction: Floats  # the unit vector to it (front, left, up), shape (label frames, 3); zeros where not alone
    event: Ints  # a number of the class and source there, -1 where not alone
    #: label frames with two or three directions, shape (k,), and the unit vectors to these, shape (k, 3, 3); of two
    #: directions the first one stands twice
    crowd: Ints
    among: Floats

    def __len__(self) -> int:
        return len(self.active)


def label_frames(frame: Ints, azimuth: Floats, elevation: Floats, event: Ints, count: int) -> LabelFrames:
    """Return the first *count* label frames of the rows of one clip; *event* is a number of the class and source.

    Unknown azimuths and elevations are NaN.
    """
    inside = (frame >= 0) & (frame < count)
    frame, event, azimuth, elevation = frame[inside], event[inside], azimuth[inside], elevation[inside]
    directed = np.isfinite(azimuth) & np.isfinite(elevation)
    angles = (np.where(directed, angle, 0.0) for angle in (azimuth, elevation))
    units = np.stack(geometry.to_cartesian(*angles), axis=1)
    rows = np.bincount(frame, minlength=count)
    total = np.zeros((count, 3))
    np.add.at(total, frame, units)
    length = np.linalg.norm(total, axis=1)
    alone = (rows > 0) & (length > rows * np.cos(np.radians(_TOGETHER / 2)))
    alone[frame[~directed]] = False
    direction = np.where(alone[:, np.newaxis], total / np.maximum(length, 1e-9)[:, np.newaxis], 0.0)
    of = np.full(count, -1, np.int64)
    of[frame] = event
    few = (rows > 1) & (rows <= _CROWD) & ~alone
    few[frame[~directed]] = False
    crowded = np.flatnonzero(few[frame])
    crowded = crowded[np.argsort(frame[crowded], kind="stable")]
    crowd, first, counts = np.unique(frame[crowded], return_index=True, return_counts=True)
    among = np.repeat(units[crowded[first]][:, np.newaxis], _CROWD, axis=1)
    for number in range(1, _CROWD):
        more = counts > number
        among[more, number] = units[crowded[first[more] + number]]
    return LabelFrames(rows > 0, alone, direction, np.where(alone, of, -1), crowd, among)


@dataclasses.dataclass(frozen=True)
class Pieces:
    """The agreement of labels and audio in one or more clips, piece by piece.

    A piece is all that is heard at one place within two seconds, whatever events it belongs to: labels that jump with
    every label frame count as much as those that stand still.
    """

    #: for n pieces, the mean of ``u vᵀ`` over its label frames, with unit vectors u as labelled and v as measured,
    #: weighted by directness, for each of the directions that are labelled there (all alike, mostly): shape
    #: (n, 3, 3, 3). The mean cosine between a label and measurements, turned by Q, is ``(agreement * Q).sum()``.
    agreement: np.ndarray[Any, np.dtype[np.float32]]
    place: Ints  # a number of the place (and clip) of each piece, or of its places together; shape (n,), in order
    cell: Ints  # a number of the place of each of its directions: shape (n, 3)
    frames: Ints  # label frames in each piece, shape (n,)
    middle: Floats  # the labelled unit vectors of each piece, the means of its label frames: shape (n, 3, 3)
    events: int  # how many events they are from

    def __len__(self) -> int:
        return len(self.agreement)

    @cached_property
    def _starts(self) -> Ints:
        """The first piece of each place."""
        return np.flatnonzero(np.diff(self.place, prepend=-1))

    @cached_property
    def support(self) -> Floats:
        """How many whole pieces there are at each place; pieces of one or two label frames count in part."""
        return np.asarray(np.add.reduceat(np.minimum(1.0, self.frames / LEAST), self._starts)) if len(self) else NONE

    @property
    def places(self) -> int:
        """How many places are heard."""
        return len(self.heard()[0])

    def heard(self, turn: Floats | None = None) -> tuple[Ints, Floats]:
        """Return the places that are heard if the audio is turned by a matrix: their numbers, and unit vectors (n, 3).

        Where several directions are labelled, it is the nearest one. A place counts if it has a whole piece.
        """
        near = np.argmax(self._each(np.eye(3) if turn is None else turn), axis=1)
        every, rows = np.arange(len(self)), self.frames[:, np.newaxis]
        cells, of = np.unique(self.cell[every, near], return_inverse=True)
        total = np.zeros((len(cells), 3))
        np.add.at(total, of.ravel(), self.middle[every, near] * rows)
        whole = np.bincount(of.ravel(), np.minimum(1.0, self.frames / LEAST), len(cells)) >= 1
        return cells[whole], np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9))[whole]

    def _each(self, turn: Floats) -> Floats:
        """Return the mean cosines between each label and audio turned by a matrix: shape (pieces, 3)."""
        return np.asarray(np.tensordot(self.agreement, turn, axes=([2, 3], [0, 1])), np.float64)

    def cosines(self, turn: Floats) -> Floats:
        """Return the mean cosines between the nearest label and audio turned by a matrix: shape (pieces,)."""
        return np.asarray(self._each(turn).max(axis=1, initial=-1.0))

    def errors(self, turn: Floats) -> Floats:
        """Return the angle (degrees) of each place with a whole piece, turned by a matrix: shape (places,)."""
        cosines = self._by_place(self.cosines(turn))[self.support >= 1]
        return np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0)))

    def evidence(self, turned: Floats) -> Floats:
        """Return the log-likelihood of each place, relative to a random direction, for q matrices: shape (q, places).

        Many pieces at one place prove little more than three.
        """
        rows = (self._by_place(likelihood(self._each(turn))) * np.minimum(self.support, 3) for turn in turned)
        return np.array(list(rows))

    def _by_place(self, values: Floats) -> Floats:
        """Return the mean over the label frames of each place of a value of each piece."""
        if not len(self):
            return NONE
        total = np.add.reduceat(values * self.frames, self._starts)
        return np.asarray(total / np.add.reduceat(self.frames, self._starts))


NONE = np.zeros(0)


def likelihood(cosine: Floats) -> Floats:
    """Return the log-likelihood of an angle between label and audio, relative to a uniform distribution.

    Of several labels (the last axis), any one may be what is heard.
    """
    peak = 2 * _SHARPNESS / (1 - np.exp(-2 * _SHARPNESS))
    near = np.exp(_SHARPNESS * (cosine - 1))
    return np.asarray(np.log((1 - _ASTRAY) * peak * (near.mean(axis=-1) if near.ndim > 1 else near) + _ASTRAY))


def pieces(labels: LabelFrames, directions: Floats) -> Pieces:
    """Return pieces of what is heard alone; *directions* (label frames, 3) are as long as they are direct."""
    lengths, count = np.linalg.norm(directions, axis=1), min(len(labels), len(directions))
    direct = lengths[:count] > DIRECT
    frame = np.flatnonzero(labels.alone[:count] & direct)
    cell = places(labels.direction[frame])
    keys, piece, sizes = np.unique(np.stack((cell, frame // BLOCK)), axis=1, return_inverse=True, return_counts=True)
    piece = piece.ravel()
    middle = np.zeros((len(sizes), 3))
    np.add.at(middle, piece, labels.direction[frame])
    middle /= np.maximum(np.linalg.norm(middle, axis=1, keepdims=True), 1e-9)
    alone = np.flatnonzero(labels.alone[:count])
    events = int((np.bincount(runs(alone, labels.event[alone])[direct[alone]]) >= LEAST).sum())

    # label frames with several directions, of which one is heard clearly; some of them, where there are many
    clear = np.flatnonzero(labels.crowd < count)
    clear = clear[lengths[labels.crowd[clear]] > _CLEARLY]
    chosen = clear[np.linspace(0, len(clear) - 1, min(len(clear), _CROWDS)).astype(np.int64)]
    crowd, among = labels.crowd[chosen], labels.among[chosen]
    cells = np.concatenate(
        (np.repeat(keys[0][:, np.newaxis], _CROWD, axis=1), places(among.reshape(-1, 3)).reshape(-1, _CROWD))
    )
    middles = np.concatenate((np.repeat(middle[:, np.newaxis], _CROWD, axis=1), among))
    frames = np.concatenate((sizes, np.ones(len(crowd), np.int64)))
    place = np.unique(np.sort(cells, axis=1), axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(place, kind="stable")
    # the mean of u vᵀ in each piece, weighted by the length of the measured directions
    total = np.zeros((len(sizes), 3, 3))
    np.add.at(total, piece, labels.direction[frame][:, :, np.newaxis] * directions[frame][:, np.newaxis])
    weight = np.bincount(piece, lengths[frame], len(sizes))
    total /= np.maximum(weight, 1e-9)[:, np.newaxis, np.newaxis]
    single = np.repeat(total[:, np.newaxis], _CROWD, axis=1)
    unit = directions[crowd] / np.maximum(lengths[crowd], 1e-9)[:, np.newaxis]
    several = among[:, :, :, np.newaxis] * unit[:, np.newaxis, np.newaxis, :]
    agreement = np.concatenate((single, several))[order].astype(np.float32)
    return Pieces(agreement, place[order], cells[order], frames[order], middles[order], events)


def runs(frame: Ints, event: Ints) -> Ints:
    """Return the number of the event of each label frame; short gaps do not end an event."""
    new = (np.diff(frame) > LEAST) | (np.diff(event) != 0)
    return np.concatenate((np.zeros(min(1, len(frame)), np.int64), np.cumsum(new)))


def places(direction: Floats) -> Ints:
    """Return a number for each direction (n, 3); those in one cell of the sphere have the same."""
    azimuth, elevation = geometry.to_polar(*direction.T)
    ring = np.rint(elevation / _PLACE)
    across = np.maximum(1, np.rint(360 / _PLACE * np.cos(np.radians(ring * _PLACE))))
    return np.asarray(np.rint(azimuth / 360 * across) % across + 100 * (ring + 10), np.int64)


def joined(clips: list[Pieces]) -> Pieces:
    """Return the pieces of several clips, whose places are all distinct."""
    return Pieces(
        np.concatenate([clip.agreement for clip in clips]),
        np.concatenate([clip.place + 10_000 * number for number, clip in enumerate(clips)]),
        np.concatenate([clip.cell + 10_000 * number for number, clip in enumerate(clips)]),
        np.concatenate([clip.frames for clip in clips]),
        np.concatenate([clip.middle for clip in clips]),
        sum(clip.events for clip in clips),
    )


# --- how far labels and audio are apart where a single source is labelled --------------------------------------------

#: Errors beyond this many degrees are not of the source that is labelled, but of another sound.
ASTRAY = 60.0
#: Within this many degrees label and audio agree.
WITHIN = 30.0
#: Label frames of one place count no more than this many for a mean over places.
MOST = 30
#: Fewest places for an interval of a mean.
_FEWEST_PLACES = 3
_LABELLED, _MEASURED = [*"xyz"], [*"uvw"]


def evidence_of(labels: LabelFrames, directions: Floats) -> pd.DataFrame:
    """Return the pieces of one recording; *directions* (label frames, 3) are as long as they are direct.

    Columns: label frames with a direction; the error (degrees), and how far the audio is further left and higher than
    the label; numbers of the place, the event, the class and the recording.
    """
    alone = np.flatnonzero(labels.alone[: min(len(labels), len(directions))])
    frames = pd.DataFrame({"frame": alone, "event": runs(alone, labels.event[alone]), "kind": labels.event[alone]})
    frames[_LABELLED], frames[_MEASURED] = labels.direction[alone], directions[alone]
    frames["place"] = places(labels.direction[alone])
    frames["block"], frames["kind"] = frames["frame"] // BLOCK, frames["kind"] // 100_000
    direct = frames[np.linalg.norm(frames[_MEASURED], axis=1) > DIRECT]
    groups = direct.groupby(["event", "block", "place"])
    sums = groups[_LABELLED + _MEASURED].sum()
    labelled, heard = (geometry.to_polar(*(sums[axis] for axis in axes)) for axes in (_LABELLED, _MEASURED))
    pieces = pd.DataFrame({"frames": groups.size(), "error": geometry.great_circle(*labelled, *heard)}, sums.index)
    pieces["azimuth"], pieces["elevation"] = geometry.wrap(heard[0] - labelled[0]), heard[1] - labelled[1]
    return pieces.assign(kind=groups["kind"].last(), clip=0).reset_index()


def together(recordings: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the pieces of several recordings."""
    return pd.concat([pieces.assign(clip=number) for number, pieces in enumerate(recordings)])


def share_within(pieces: pd.DataFrame) -> float:
    """Return the share of the label frames within 30 degrees."""
    return float(pieces["frames"][pieces["error"] <= WITHIN].sum() / pieces["frames"].sum())


def _measures(pieces: pd.DataFrame, hop: float) -> tuple[int, float, float, float]:
    """Return how many events of three label frames or more there are, seconds, median error (degrees), and share."""
    events = int((pieces.groupby(["clip", "event"])["frames"].sum() >= LEAST).sum())
    ordered = pieces.sort_values("error", kind="stable")
    total = pieces["frames"].sum()
    middle = ordered["error"].iloc[ordered["frames"].cumsum().searchsorted(total / 2)]
    return events, round(float(total * hop), 1), float(middle), share_within(pieces)


def _mean(pieces: pd.DataFrame, column: str) -> Spread | None:
    """Return the mean of a column over places, with its 95 % interval, outliers left out.

    None for fewer than three places.
    """
    near = pieces[pieces["error"] <= ASTRAY]
    groups = near.assign(total=near["frames"] * near[column]).groupby(["clip", "place"])[["frames", "total"]].sum()
    count = len(groups)
    if count < _FEWEST_PLACES:
        return None
    means, weight = groups["total"] / groups["frames"], groups["frames"].clip(upper=MOST)
    middle = float(np.average(means, weights=weight))
    error = np.sqrt((weight**2 * (means - middle) ** 2).sum()) / weight.sum() * np.sqrt(count / (count - 1))
    wide = float(stdtrit(count - 1, 0.975) * error)
    return Spread(middle, middle - wide, middle + wide)


def summary(heard: Heard, pieces: pd.DataFrame, names: Mapping[int, str], hop: float) -> Heard:
    """Return *heard*, of a recording or of a dataset, with what its pieces say; *hop* in seconds."""
    if not len(pieces):
        return heard
    events, seconds, median, share = _measures(pieces, hop)
    azimuth, elevation = (_mean(pieces, column) if share >= 0.5 else None for column in ("azimuth", "elevation"))
    classes = []
    for number in np.unique(pieces["kind"]).tolist():
        measures = _measures(pieces[pieces["kind"] == number], hop)
        classes.append(HeardClass(names.get(number, f"class {number}"), *measures))
    spots = len(pieces[["clip", "place"]].drop_duplicates())
    of_all: dict[str, Any] = {"events": events, "places": spots, "seconds": seconds, "median": median, "share": share}
    return dataclasses.replace(heard, **of_all, azimuth=azimuth, elevation=elevation, classes=tuple(classes))


# --- labels that are early or late, or belong to another clip: timing and directions of the audio ---------------------

#: Most label frames by which labels are shifted.
FURTHEST = 100
#: Smallest shift that is reported, in label frames: reverberation and annotators cause smaller ones.
SMALLEST = 4
#: How much of the evidence of a label frame is its own: sound does not change much in 100 ms.
_OWN = 0.25
#: Smallest log-likelihood by which another time or clip must be better; and its part from timing.
MARGIN, _WHEN = 6.0, 0.3
#: That for the labels of another clip, of which there may be hundreds.
_CLIP = 12.0
#: The same in standard errors.
SURE = 1.7
#: Fewest label frames by which another shift must differ from the best one to be its rival.
_APART = 20
#: Fewest label frames in which a clip's own labels must be heard, before they can be those of another one.
_HEARD_ALONE = 30
#: Smallest share of the label frames that fit within 30 degrees after correction.
FIT = 0.55
#: That for shifts of more label frames than this.
_FAR, _FIT_FAR = 30, 0.7
#: Fewest places where the audio agrees with the labels, each in this many label frames of some directness.
PLACES, _FRAMES, _HEARD = 3, 3, 0.1
#: Fewest events of which that is true, before labels are reported as early or late.
EVENTS = 5
#: How much a label frame counts for each unit of its directness, up to 1.
LOUDEST = 4.0


@dataclasses.dataclass(frozen=True)
class AudibleFrames:
    """The measurements for each label frame of a recording."""

    direction: Floats  # unit vectors (front, left, up), shape (label frames, 3)
    weight: Floats  # how direct the sound is, 0 to 1, 0 where there is no direction
    level: Floats  # from -1 (as quiet as it gets) to 1 (loud)

    def __len__(self) -> int:
        return len(self.weight)


def sound_frames(directions: Floats, activity: Floats) -> AudibleFrames:
    """Return directions (label frames, 3) whose lengths are their directness, and activity, made comparable."""
    length = np.linalg.norm(directions, axis=1)
    unit = directions / np.maximum(length, 1e-9)[:, np.newaxis]
    low, high = np.quantile(activity, (0.1, 0.9)) if len(activity) else (0.0, 0.0)
    span = high - low
    level = np.clip(2 * (activity - low) / span - 1, -1, 1) if span > 0.1 else np.zeros(len(activity))
    return AudibleFrames(unit, np.minimum(1.0, LOUDEST * length), level)


@dataclasses.dataclass(frozen=True)
class Shift:
    """Labels that fit at another time."""

    frames: int  # label frames by which they are late (early, if negative)
    before: float  # share of the label frames alone that fit within 30 degrees, as labelled
    after: float  # the same after the shift
    likelihood: float  # its logarithm, after the shift


def evidence(labels: LabelFrames, sound: AudibleFrames, late: int = 0) -> tuple[Floats, Floats]:
    """Return how well labels that are *late* by some label frames fit: log-likelihood of each label frame of the sound.

    First that of directions, then that of timing.
    """
    place, inside, cosine = _moved(labels, sound, late)
    where, active = np.zeros((2, len(sound)))
    where[inside] = _OWN * likelihood(cosine) * sound.weight[inside] * labels.alone[place]
    active[inside] = labels.active[place]
    return where, _OWN * (active - active.mean()) * sound.level


def shift(labels: LabelFrames, sound: AudibleFrames) -> Shift | None:
    """Return the shift that makes labels fit the audio; None if there is none, or if the audio cannot decide."""
    far = min(FURTHEST, len(sound) // 4)
    if far <= _APART:
        return None
    rows = [evidence(labels, sound, late) for late in range(-far, far + 1)]
    totals = np.array([where.sum() + when.sum() for where, when in rows])
    best = int(np.argmax(totals))
    late = best - far
    if abs(late) < SMALLEST or abs(late) == far:
        return None
    away = np.abs(np.arange(len(rows)) - best) > _APART
    rival = int(np.argmax(np.where(away, totals, -np.inf)))
    where, when = (moved - labelled for moved, labelled in zip(rows[best], rows[far], strict=True))
    before, after = fitting(labels, sound), fitting(labels, sound, late)
    clear = (
        bool(when.sum() > _WHEN and where.sum() > -1)
        and after >= max(FIT if abs(late) <= _FAR else _FIT_FAR, before)  # there are more candidates
        and _various(labels, sound, late, EVENTS)
    )
    sure = _sure(where + when) and _sure(np.sum(rows[best], axis=0) - np.sum(rows[rival], axis=0))
    return Shift(late, before, after, float(totals[best])) if clear and sure else None


def _sure(gain: Floats, margin: float = MARGIN) -> bool:
    """Return whether the gain of label frames is large, and significant over blocks."""
    blocks = np.add.reduceat(gain, np.arange(0, len(gain), BLOCK))
    return bool(gain.sum() > margin and gain.sum() > SURE * np.sqrt((blocks**2).sum()))


def _various(labels: LabelFrames, sound: AudibleFrames, late: int = 0, events: int = 1) -> bool:
    """Return whether the audio agrees with the labels at several places and in *events*: one may be a coincidence."""
    place, inside, cosine = _moved(labels, sound, late)
    fits = labels.alone[place] & (sound.weight[inside] > _HEARD) & (cosine > np.cos(np.radians(30)))
    frame = place[fits]
    kinds = places(labels.direction[frame]), runs(frame, labels.event[frame])
    counts = [(np.unique(kind, return_counts=True)[1] >= _FRAMES).sum() for kind in kinds]
    return bool(counts[0] >= PLACES and counts[1] >= events)


def _moved(labels: LabelFrames, sound: AudibleFrames, late: int) -> tuple[Ints, Bools, Floats]:
    """Return the label frames of labels that are *late*, the matching ones of the audio, and cosines between both."""
    place = np.arange(len(sound)) + late
    inside = (place >= 0) & (place < len(labels))
    place = place[inside]
    return place, inside, np.einsum("ka,ka->k", labels.direction[place], sound.direction[inside])


def fitting(labels: LabelFrames, sound: AudibleFrames, late: int = 0) -> float:
    """Return the share, by directness, of label frames with one direction that the audio matches within 30 degrees."""
    place, inside, cosine = _moved(labels, sound, late)
    weight = sound.weight[inside] * labels.alone[place]
    whole = float(weight.sum())
    return float(weight[cosine > np.cos(np.radians(30))].sum()) / whole if whole else 0.0


@dataclasses.dataclass(frozen=True)
class Other:
    """The labels of another clip that fit the audio."""

    clip: str  # the other clip
    before: float  # share of the label frames alone that fit within 30 degrees, as labelled
    after: float  # the same with the labels of the other clip
    likelihood: float  # its logarithm, with the labels of the other clip


def other(mine: str, labels: Mapping[str, LabelFrames], sound: AudibleFrames) -> Other | None:
    """Return the clip whose labels fit the audio far better than its own; None if there is none."""
    own_labels = labels[mine]
    here = np.sum(evidence(own_labels, sound), axis=0)
    count = min(len(own_labels), len(sound))
    heard_alone = (own_labels.alone[:count] & (sound.weight[:count] > _HEARD)).sum()
    before = fitting(own_labels, sound)
    if before >= FIT or heard_alone < _HEARD_ALONE or len(labels) < 2:
        return None  # before it is compared with all other clips
    fits = {name: np.sum(evidence(frames, sound), axis=0) for name, frames in labels.items() if name != mine}
    first, *others = sorted(fits, key=lambda name: (-fits[name].sum(), name))
    rivals = [here, *(fits[name] for name in others[:1])]
    after = fitting(labels[first], sound)
    sure = all(_sure(fits[first] - rival, _CLIP) for rival in rivals) and _various(labels[first], sound)
    return Other(first, before, after, float(fits[first].sum())) if sure and after >= max(FIT, 1.5 * before) else None
