"""Which change of the table in :mod:`seldio.changes` explains what is heard.

Reordered or inverted channels, swapped sides and quarter turns are the 48 ways to permute and invert the axes front,
left and up; a constant rotation is any other turn about the vertical. (For MIC, 24 of the 48 are the orders of the four
capsules.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from seldio.changes import BETWEEN_SIDES, Change, turn_of, turned
from seldio.media.arrays import SIDES, Format
from seldio.media.intensity import XYZ
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
class HeardCause:
    """A change of the table, as it is heard in recordings."""

    change: Change
    kind: str  # ``mirrored``, ``flipped``, ``reversed`` (front and back), ``inverted``, ``order`` or ``rotated``
    what: str  # its description; empty for labels that fit
    hint: str  # what to do
    penalty: float = 0.0  # how much less likely it is a priori, as a log-likelihood
    channel: str = ""  # the channel of FOA that has the same effect if inverted; empty if there is none

    @property
    def turn(self) -> Floats:
        """The matrix that turns measured into labelled directions, shape (3, 3)."""
        return np.asarray(turn_of(self.change))

    @property
    def in_labels(self) -> HeardCause:
        """The same change as a fault of labels, where it is described in terms of channels."""
        if self.kind == "inverted" and np.array_equal(self.turn, -np.eye(3)):
            return _opposite(self.change, "mic")
        return _axes(self.change) if self.kind in ("order", "inverted") else self


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The cause that explains the measurements, with its evidence."""

    cause: HeardCause  # the most likely one
    rival: HeardCause | None  # another cause that is nearly as likely, if there is one
    events: int  # isolated events
    places: int  # places that are heard
    before: float  # median error over places as labelled, degrees
    after: float  # the same after correction
    sure: bool = True  # whether enough places say so; if not, it is a warning


# --- the catalogue ---------------------------------------------------------------------------------------------

#: What to do about changes in labels as well as in channels, and the channel of FOA that has the same effect inverted.
_HINTS: Mapping[str, tuple[str, str]] = {
    "mirrored": ("flip the sign of all azimuths (+90 is left)", "Y"),
    "flipped": ("flip the sign of all elevations (up is positive)", "Z"),
    "reversed": ("replace each azimuth with 180 degrees minus its value (0 is the front)", "X"),
}
FITS = HeardCause(turned(0), "", "", "")


@lru_cache(maxsize=2)
def causes(format: Format) -> tuple[HeardCause, ...]:
    """Return all causes that a recording of this format may have, labels that fit first."""
    rows: dict[bytes, Change] = {}
    for change in BETWEEN_SIDES:
        turn = turn_of(change)
        if np.array_equal(np.abs(turn) @ np.abs(turn).T, np.eye(3)):
            rows.setdefault(turn.astype(np.int8).tobytes(), change)
    fits = np.eye(3, dtype=np.int8).tobytes()
    plain = [_plain(change, format) for turn, change in rows.items() if turn != fits]
    return FITS, *plain, *(rotation(degrees) for degrees in range(-175, 180, 5) if degrees % 90)


def _plain(change: Change, format: Format) -> HeardCause:
    """Return a change of the axes where W is W."""
    turn = turn_of(change)
    if change.name in _HINTS:
        hint, channel = _HINTS[change.name]
        field, _, how = change.made.partition(" ")
        return HeardCause(change, change.name, f"{field}s look {how}", hint, channel=channel * (format == "foa"))
    if turn[2, 2] == 1 and np.linalg.det(turn) > 0:
        return rotation(round(np.degrees(np.arctan2(turn[1, 0], turn[0, 0]))))
    if np.array_equal(turn, -np.eye(3)):
        return _opposite(change, format)
    if format == "foa":
        return _foa_order(change)
    # an order of the capsules, or a turn that no order of them produces
    sides, moved = SIDES.tolist(), (SIDES @ turn.T).tolist()
    if any(side not in sides for side in moved):
        return _axes(change)
    order = [sides.index(side) for side in moved]
    what = f"channels look as if in the order {', '.join(f'M{capsule + 1}' for capsule in order)}"
    exchanged = sum(place != capsule for place, capsule in enumerate(order))
    return HeardCause(change, "order", what, "put them in the order M1, M2, M3, M4", 1.0 if exchanged == 2 else 3.0)


def _opposite(change: Change, format: Format) -> HeardCause:
    if format == "mic":
        return HeardCause(change, "inverted", "all directions look reversed", "reverse all directions")
    what = "all directions look reversed, as if channel W were inverted"
    return HeardCause(change, "inverted", what, "use the original, or flip the sign of W")


def _foa_order(change: Change) -> HeardCause:
    turn, slots = turn_of(change), XYZ
    names = ["W"] * 4
    for axis, slot in zip(*np.nonzero(turn), strict=True):
        names[slots[slot]] = ("-" if turn[axis, slot] < 0 else "") + "XYZ"[axis]
    inverted = [name[1:] for name in names if name.startswith("-")]
    if [name.removeprefix("-") for name in names] == ["W", "Y", "Z", "X"]:
        what = f"channels {' and '.join(inverted)} look inverted"
        return HeardCause(change, "inverted", what, "use the original, or flip their signs", 2.0)
    fuma = names == ["W", "X", "Y", "Z"]
    what = f"channels look as if in the order {', '.join(names)}{' (FuMa)' if fuma else ''}, not W, Y, Z, X (ACN)"
    penalty = (0.0 if fuma else 1.0) + 4.0 * bool(inverted)
    hint = "put them in the order W, Y, Z, X (SN3D)" + ("; FuMa also has W 3 dB lower" if fuma else "")
    return HeardCause(change, "order", what, hint, penalty)


def _axes(change: Change) -> HeardCause:
    """Return a turn that no order of channels produces, or that two recordings of a clip share: it is in the labels."""
    what = f"directions look as if their {change.made}"
    return HeardCause(change, "order", what, "check how the directions were computed", 5.0)


@lru_cache(maxsize=512)
def rotation(degrees: int) -> HeardCause:
    """Return what adds the same angle to all azimuths."""
    what = f"azimuths look rotated by {degrees:+d} degrees"
    hint = f"add {-degrees:+d} degrees to each azimuth, or check where the front is"
    return HeardCause(turned(degrees), "rotated", what, hint, 3.0 if degrees % 90 else 0.0)


# --- the verdict -----------------------------------------------------------------------------------------------


def judge(plain: Pieces, format: Format) -> Verdict | None:
    """Return the cause that explains the pieces; None if none is clear."""
    if plain.support.sum() < HEARD or plain.frames.sum() < FRAMES:
        return None
    fits = plain.evidence(np.eye(3)[np.newaxis])[0]
    best, rival, evidence = _best(plain, format)
    gain = evidence - fits
    if best is FITS or gain.sum() - best.penalty < MARGIN:
        return None
    draws = np.random.default_rng(0).integers(0, len(gain), (_DRAWS, len(gain)))
    if np.quantile(gain[draws].sum(axis=1), 0.01) <= best.penalty:  # it must be large whichever places were sampled
        return None
    turn = best.turn
    before, after = plain.errors(np.eye(3)), plain.errors(turn)
    mean_before, mean_after = np.minimum(before, CAP).mean(), np.minimum(after, CAP).mean()
    places, directions = plain.heard(turn)
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


def _best(pieces: Pieces, format: Format) -> tuple[HeardCause, HeardCause | None, Floats]:
    """Return the most likely cause, one that is nearly as likely and of another kind, and the evidence by place."""
    possible = causes(format)
    rows = pieces.evidence(np.array([cause.turn for cause in possible]))
    scores = rows.sum(axis=1) - np.array([cause.penalty for cause in possible])
    first = int(np.argmax(scores))
    best, evidence = possible[first], rows[first]
    if best.kind == "rotated" and best.penalty:
        # to the degree; labels that fit, if it is small
        middle = round(float(np.degrees(np.arctan2(best.turn[1, 0], best.turn[0, 0]))))
        angles = [(degrees + 180) % 360 - 180 for degrees in range(middle - 4, middle + 5)]
        evidences = pieces.evidence(np.array([rotation(degrees).turn for degrees in angles]))
        finest = int(np.argmax(evidences.sum(axis=1)))
        best, evidence = rotation(angles[finest]), evidences[finest]
        best = FITS if abs(angles[finest]) < SMALLEST else best
    near = [n for n in np.argsort(-scores).tolist() if scores[n] > scores[first] - CLEAR]
    for other in (possible[number] for number in near if number != first):
        cosine = (np.trace(best.turn.T @ other.turn) - 1) / 2
        few_degrees = cosine > np.cos(np.radians(16))
        if not (few_degrees and best.kind == other.kind):
            return best, other, evidence
    return best, None, evidence
