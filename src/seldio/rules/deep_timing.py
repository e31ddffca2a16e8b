"""Labels that are early or late, and labels that belong to another clip: timing and directions of the audio."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from seldio.rules.deep_pieces import Bools, Floats, Ints, LabelFrames, likelihood, places, runs

#: Most label frames by which labels are shifted.
FURTHEST = 100
#: Smallest shift that is reported, in label frames: reverberation and annotators cause smaller ones.
SMALLEST = 4
#: Label frames of a block; frames within one are not independent.
_BLOCK = 20
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

    def turned(self, turn: Floats) -> AudibleFrames:
        """Return the same, with directions turned by a matrix."""
        return dataclasses.replace(self, direction=self.direction @ turn.T)


def sound_frames(directions: Floats, activity: Floats) -> AudibleFrames:
    """Directions (label frames, 3) whose lengths are their directness, and activity, made comparable."""
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
    where, when = (there - here for there, here in zip(rows[best], rows[far], strict=True))
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
    blocks = np.add.reduceat(gain, np.arange(0, len(gain), _BLOCK))
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
    """The share of label frames with one direction that the audio matches within 30 degrees, weighted by directness."""
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


def other(own: str, labels: Mapping[str, LabelFrames], sound: AudibleFrames) -> Other | None:
    """Return the clip whose labels fit the audio far better than its own; None if there is none."""
    here = np.sum(evidence(labels[own], sound), axis=0)
    count = min(len(labels[own]), len(sound))
    if (labels[own].alone[:count] & (sound.weight[:count] > _HEARD)).sum() < _HEARD_ALONE:
        return None
    before = fitting(labels[own], sound)
    found = {name: np.sum(evidence(frames, sound), axis=0) for name, frames in labels.items() if name != own}
    if before >= FIT or not found:
        return None
    first, *others = sorted(found, key=lambda name: (-found[name].sum(), name))
    rivals = [here, *(found[name] for name in others[:1])]
    after = fitting(labels[first], sound)
    sure = all(_sure(found[first] - rival, _CLIP) for rival in rivals) and _various(labels[first], sound)
    return Other(first, before, after, float(found[first].sum())) if sure and after >= max(FIT, 1.5 * before) else None
