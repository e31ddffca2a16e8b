"""Reasons why directions differ, and which of them explains the measurements.

Reordered or inverted channels, swapped sides and quarter turns are the 48 ways to permute and invert the axes front,
left and up; a constant rotation is any other turn about the vertical. (For MIC, 24 of the 48 are the orders of the four
capsules.)
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from seldio.media.arrays import SIDES, Format
from seldio.media.intensity import others
from seldio.rules.deep_pieces import Floats, Pieces

#: Requirements of a verdict. Fewest places, pieces (of up to 2 s, at one place) and label frames that are heard:
PLACES, HEARD, FRAMES = 4, 5, 50
#: smallest log-likelihood by which the cause explains them better than the unchanged labels do,
MARGIN = 10.0
#: and better than the next cause, unless that one is reported as well;
CLEAR = 3.0
#: smallest share of the places that fit within this many degrees after correction;
FIT, WITHIN = 0.7, 30.0
#: smallest degrees and factor by which the mean error (each capped) falls.
GAIN, FACTOR, CAP = 6.0, 1.3, 90.0
#: Where fewer places are heard, a warning: largest angle between two of them, at least; smallest share that fits after
#: correction, largest median error then and smallest median error before.
APART, FIT_FEW, AFTER, BEFORE = 30.0, 0.8, 22.0, 35.0
#: Where two places are heard, many turns fit: only causes that are not less likely than this are concluded.
PLAIN = 1.0
#: Smallest rotation that is reported, in degrees: rooms and annotators cause smaller ones.
SMALLEST = 12
_DRAWS = 400


@dataclasses.dataclass(frozen=True)
class Cause:
    """One reason why directions differ."""

    kind: str  # ``mirrored``, ``flipped``, ``reversed`` (front and back), ``inverted``, ``order`` or ``rotated``
    what: str  # its description; empty for labels that fit
    hint: str  # what to do
    turn: tuple[tuple[float, ...], ...]  # matrix that turns measured into labelled directions, shape (3, 3)
    reference: int = 0  # the channel that holds W
    penalty: float = 0.0  # how much less likely it is a priori, as a log-likelihood
    channel: str = ""  # the channel of FOA that has the same effect if inverted; empty if there is none


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The cause that explains the measurements, with its evidence."""

    cause: Cause  # the most likely one
    rival: Cause | None  # another cause that is nearly as likely, if there is one
    events: int  # isolated events
    places: int  # places that are heard
    before: float  # median error over places as labelled, degrees
    after: float  # the same after correction
    sure: bool = True  # whether enough places say so; if not, it is a warning


FITS = Cause("", "", "", ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))


# --- the catalogue ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def causes(format: Format) -> tuple[Cause, ...]:
    """All causes that a recording of this format may have, labels that fit first."""
    orders = [np.eye(3)[list(order)] for order in itertools.permutations(range(3))]
    signs = list(itertools.product((1.0, -1.0), repeat=3))
    found = [FITS]
    for reference in range(4 if format == "foa" else 1):
        for turn in (np.diag(sign) @ order for order in orders for sign in signs):
            found += [_exchange(turn, reference, format)] if reference or not np.array_equal(turn, np.eye(3)) else []
    for degrees in (d for d in range(-175, 180, 5) if d % 90):
        found.append(rotation(degrees))
        found.append(rotation(degrees, mirrored=True))
    return tuple(found)


def _matrix(turn: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in turn.tolist())


#: Causes in labels as well as in channels, by the signs of front, left and up: kind, sentence, hint, and the channel
#: of FOA that has the same effect if it is inverted.
_SIGNS: Mapping[tuple[float, ...], tuple[str, str, str, str]] = {
    (1, -1, 1): ("mirrored", "azimuths look mirrored: left and right are swapped",
                 "flip the sign of all azimuths (+90 is left)", "Y"),
    (1, 1, -1): ("flipped", "elevations look upside down: up and down are swapped",
                 "flip the sign of all elevations (up is positive)", "Z"),
    (-1, 1, 1): ("reversed", "front and back look swapped: azimuth a means 180 - a",
                 "replace each azimuth with 180 degrees minus its value (0 is the front)", "X"),
    (-1, -1, -1): ("inverted", "all directions look reversed, as if channel W were inverted",
                   "use the original, or flip the sign of W", ""),
}  # fmt: skip


def _exchange(turn: Floats, reference: int, format: Format) -> Cause:
    """The cause of one of the 48 matrices."""
    known = _SIGNS.get(tuple(np.diag(turn).tolist()))
    if not reference and known is not None:
        kind, what, hint, channel = known
        if format == "mic" and kind == "inverted":
            what, hint = "all directions look reversed", "reverse all directions"
        return Cause(kind, what, hint, _matrix(turn), channel=channel if format == "foa" else "")
    if not reference and turn[2, 2] == 1 and np.linalg.det(turn) > 0:
        return rotation(round(np.degrees(np.arctan2(turn[1, 0], turn[0, 0]))))
    return _foa_order(turn, reference) if format == "foa" else _mic_order(turn)


def _foa_order(turn: Floats, reference: int) -> Cause:
    rest = others(reference)
    names = ["W"] * 4
    for axis, slot in zip(*np.nonzero(turn), strict=True):
        names[rest[slot]] = ("-" if turn[axis, slot] < 0 else "") + "XYZ"[axis]
    signs = sum(name.startswith("-") for name in names)
    shown = ", ".join(names)
    straight = [name.removeprefix("-") for name in names] == ["W", "Y", "Z", "X"]
    if straight:
        what = f"channels {' and '.join(n[1:] for n in names if n.startswith('-'))} look inverted"
        return Cause("inverted", what, "use the original, or flip their signs", _matrix(turn), 0, 2.0)
    fuma = names == ["W", "X", "Y", "Z"]
    what = f"channels look as if in the order {shown}{' (FuMa)' if fuma else ''}, not W, Y, Z, X (ACN)"
    penalty = (0.0 if fuma else 1.0) + 4.0 * bool(signs) + 4.0 * bool(reference)
    hint = "put them in the order W, Y, Z, X (SN3D)" + ("; FuMa also has W 3 dB lower" if fuma else "")
    return Cause("order", what, hint, _matrix(turn), reference, penalty)


def _mic_order(turn: Floats) -> Cause:
    """An order of the capsules, or a turn that no order of them produces."""
    sides, moved = SIDES.tolist(), (SIDES @ turn.T).tolist()
    if any(side not in sides for side in moved):
        return _axes(turn)
    order = [sides.index(side) for side in moved]
    exchanged = sum(place != capsule for place, capsule in enumerate(order))
    what = f"channels look as if in the order {', '.join(f'M{m + 1}' for m in order)}"
    hint = "put them in the order M1, M2, M3, M4"
    return Cause("order", what, hint, _matrix(turn), 0, 1.0 if exchanged == 2 else 3.0)


def _axes(turn: Floats) -> Cause:
    """A turn that no order of channels produces, or that two recordings of a clip share: it is in the labels."""
    words = ", ".join(("-" if row.sum() < 0 else "") + "xyz"[int(np.abs(row).argmax())] for row in turn)
    what = f"directions look as if their axes x, y, z (front, left, up) were {words}"
    return Cause("order", what, "check how the directions were computed", _matrix(turn), 0, 5.0)


def in_labels(cause: Cause) -> Cause:
    """The same turn as a fault of labels, for causes that are described in terms of channels."""
    if cause.kind == "inverted" and cause.turn == _matrix(-np.eye(3)):
        return _exchange(-np.eye(3), 0, "mic")
    return _axes(np.array(cause.turn)) if cause.kind in ("order", "inverted") else cause


def rotation(degrees: int, mirrored: bool = False) -> Cause:
    """All azimuths off by the same angle, and perhaps with the opposite sign as well."""
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    if mirrored:
        what = f"azimuths look mirrored and rotated: azimuth a means {degrees} - a"
        hint = f"replace each azimuth with {degrees} degrees minus its value"
        return Cause("mirrored", what, hint, _matrix(turn @ np.diag([1.0, -1, 1])), 0, 6.0)
    what = f"azimuths look rotated by {degrees:+d} degrees"
    hint = f"add {-degrees:+d} degrees to each azimuth, or check where the front is"
    return Cause("rotated", what, hint, _matrix(np.round(turn, 15)), 0, 3.0 if degrees % 90 else 0.0)


# --- the verdict -----------------------------------------------------------------------------------------------


def judge(by_reference: Mapping[int, Pieces], format: Format) -> Verdict | None:
    """The cause that explains the pieces, by the channel that is assumed to be W; None if none is clear."""
    plain = by_reference[0]
    if plain.whole < HEARD or plain.frames.sum() < FRAMES:
        return None
    fits = plain.evidence(np.eye(3)[np.newaxis])[0]
    best, rival, evidence = _best(by_reference, format)
    gain = evidence - fits
    if best is FITS or gain.sum() - best.penalty < MARGIN:
        return None
    draws = np.random.default_rng(0).integers(0, len(gain), (_DRAWS, len(gain)))
    if np.quantile(gain[draws].sum(axis=1), 0.01) <= best.penalty:  # it must be large whichever places were sampled
        return None
    turn = np.array(best.turn)
    before, after = plain.errors(np.eye(3)), by_reference[best.reference].errors(turn)
    mean_before, mean_after = np.minimum(before, CAP).mean(), np.minimum(after, CAP).mean()
    places, directions = by_reference[best.reference].heard(turn)
    share, middle = np.mean(after <= WITHIN), (float(np.median(before)), float(np.median(after)))
    if share < FIT or mean_before < max(mean_after + GAIN, FACTOR * mean_after):
        return None
    sure = len(places) >= PLACES
    if len(places) < PLACES - 1 and best.penalty > PLAIN:
        return None
    if not sure and not (
        (directions @ directions.T).min(initial=1.0) < np.cos(np.radians(APART))
        and share >= FIT_FEW
        and middle[0] >= BEFORE
        and middle[1] <= AFTER
    ):
        return None
    return Verdict(best, rival, plain.events, len(places), *middle, sure)


def _best(by_reference: Mapping[int, Pieces], format: Format) -> tuple[Cause, Cause | None, Floats]:
    """The most likely cause, one that is nearly as likely and of another kind, and the evidence by place."""
    known = [cause for cause in causes(format) if cause.reference in by_reference]
    scores, rows = np.zeros(len(known)), [np.zeros(0)] * len(known)
    for reference, pieces in by_reference.items():
        mine = [number for number, cause in enumerate(known) if cause.reference == reference]
        found = pieces.evidence(np.array([known[number].turn for number in mine]))
        for number, row in zip(mine, found, strict=True):
            rows[number], scores[number] = row, row.sum() - known[number].penalty
    first = int(np.argmax(scores))
    best, evidence = known[first], rows[first]
    if best.kind in ("rotated", "mirrored") and best.penalty >= 3.0:
        best, evidence = _refined(best, by_reference[0])
    near = [n for n in np.argsort(-scores).tolist() if scores[n] > scores[first] - CLEAR]
    for other in (known[number] for number in near if number != first):
        cosine = (np.trace(np.array(best.turn).T @ np.array(other.turn)) - 1) / 2
        few_degrees = cosine > np.cos(np.radians(16))
        if not (few_degrees and (best.reference, best.kind) == (other.reference, other.kind)):
            return best, other, evidence
    return best, None, evidence


def _refined(cause: Cause, pieces: Pieces) -> tuple[Cause, Floats]:
    """The rotation to the degree; labels that fit, if it is small."""
    turn = np.array(cause.turn)
    mirrored = bool(np.linalg.det(turn) < 0)
    middle = round(float(np.degrees(np.arctan2(turn[1, 0], turn[0, 0]))))
    some = [rotation((degrees + 180) % 360 - 180, mirrored) for degrees in range(middle - 4, middle + 5)]
    found = pieces.evidence(np.array([one.turn for one in some]))
    best = int(np.argmax(found.sum(axis=1)))
    degrees = (middle - 4 + best + 180) % 360 - 180
    if not mirrored and abs(degrees) < SMALLEST:
        return FITS, found[best]
    return some[best], found[best]
