"""AUD312 to AUD314: how loud, and how late, the channels of recordings are; what needs no labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from seldio.findings import Finding
from seldio.rules.collection import Found
from seldio.rules.deep_fit import Fit, Fits
from seldio.rules.deep_pieces import Floats
from seldio.rules.deep_pooled import MANY
from seldio.rules.registry import WARNING, rule

#: To be named, a wrong gain leaves at most this part of what is unlike a sound field: of a clip, of four or more.
_LEFT, _LEFT_TOGETHER = 0.5, 0.65
#: Decibels by which W is quieter in FuMa, at most (in N3D the other three are 4.8 dB louder); what a room may do.
_FUMA, _SMALL = 3.9, 3.0
#: Another gain that leaves at most this many times as much is named as well.
_NEARLY = 1.3
#: Largest difference of a capsule from the others, decibels below 500 Hz, and seconds.
_CAPSULE, _LATE = 3.0, 0.0004


@rule("AUD312", WARNING)
def foa_gains(fits: Fits, found: Found) -> Iterator[Finding]:
    """FOA with a channel that is louder or quieter than a sound field permits.

    In SN3D, X² + Y² + Z² is W² for a wave from any direction, and so for any sum of independent waves, in each
    second and band. A channel with another gain breaks this whenever sound comes from its side; no room does
    so. N3D (Y, Z and X 4.8 dB louder), FuMa (W 3 dB quieter), another channel in the place of W and a wrong
    gain are recognised by what is left once they are undone: at most half in one recording, two thirds in four
    or more together. Directions, intensity vectors, diffuseness and beams are off until then. No labels are
    needed to hear it. One channel that is too quiet is heard less well than one that is too loud.

    Example:
        fold3_room4_mix001.wav: Y, Z and X together are 4.8 dB louder than W: N3D instead of SN3D?

    Fix:
        Divide Y, Z and X by the square root of 3 (N3D to SN3D), undo the gain of the channel, or use the
        original.

    Reference: SN3D, DCASE 2023 Task 3; AmbiX, Nachbar et al. 2011; diffuse sound, Merimaa and Pulkki 2005.
    """
    told = [fit for fit in fits.all if fit.intact and fit.kind != "order" and fit.levels is not None]
    heard = [(fit, fit.levels.unlike) for fit in told if fit.levels is not None and fit.levels.unlike is not None]
    for fit, unlike in heard:
        said = _gain(unlike, _LEFT)
        if said is not None:
            yield found(fit.recording, f"{fit.file}: {said[0]}", said[1])
    if len(heard) >= MANY:
        said = _gain(np.mean([unlike for _, unlike in heard], axis=0), _LEFT_TOGETHER)
        if said is not None:
            yield found(fits.collection.path, f"in all {len(heard):,} FOA recordings together, {said[0]}", said[1])


def _gain(unlike: Floats, limit: float) -> tuple[str, str] | None:
    """In words, which gain explains best what is unlike a sound field, and what to do; None if none does so well.

    Where all sound comes from one side, two gains may do so nearly as well.
    """
    from seldio.media.intensity import GAINS

    best, *others = np.argsort(unlike[1:], kind="stable").tolist()
    if unlike[1 + best] >= limit * unlike[0] or 0 < abs(GAINS[best].decibels) < _SMALL:
        return None
    said, hint = _explained(*GAINS[best])
    rivals = (
        other for other in others
        if GAINS[other].channel != GAINS[best].channel and not 0 < abs(GAINS[other].decibels) < _SMALL
        and unlike[1 + other] < min(limit * unlike[0], _NEARLY * unlike[1 + best])
    )  # fmt: skip
    rival = next(rivals, None)
    return (said if rival is None else f"{said} (nearly as likely: {_explained(*GAINS[rival])[0]})"), hint


def _explained(channel: int, decibels: float) -> tuple[str, str]:
    """A gain in words, and what to do."""
    name = f"channel {channel + 1} ({'WYZX'[channel]})"
    if not decibels:
        return (
            f"{name} sounds like W: it is as loud as the other three together",
            "put the channels in order W, Y, Z, X",
        )
    if channel:
        side = "louder" if decibels > 0 else "quieter"
        return (
            f"{name} is about {abs(decibels):g} dB {side} than a sound field permits",
            "use the original, or undo the gain of the channel",
        )
    if decibels > 0:
        return (
            f"Y, Z and X together are about {decibels:g} dB quieter than W",
            "use the original, or undo the gain of W",
        )
    if -decibels < _FUMA:
        return (
            f"Y, Z and X together are about {-decibels:g} dB louder than W: W of FuMa instead of SN3D?",
            "multiply W by the square root of 2, or use the original",
        )
    return (
        f"Y, Z and X together are about {-decibels:g} dB louder than W: N3D instead of SN3D?",
        "divide Y, Z and X by the square root of 3, or use the original",
    )


@rule("AUD313", WARNING)
def capsules_differ(fits: Fits, found: Found) -> Iterator[Finding]:
    """A capsule of MIC that is louder, quieter or later than the other three.

    Below 500 Hz all four capsules hear the same, equally loud, and within 0.4 ms. A capsule that differs by 3
    dB or more, or by more than 0.4 ms, has another gain, a channel was moved in time, or the channels are not
    from one converter. Directions are then wrong, by amounts that depend on frequency. No labels are needed
    to hear it.

    Example:
        fold3_room4_mix001.wav: capsule M2 is 6.0 dB quieter than the others

    Fix:
        Use the original, or undo the gain or delay of the channel.

    Reference: spherical arrays, Rafaely 2015; generalised cross-correlation (PHAT), Knapp and Carter 1976.
    """
    for fit in fits.all:
        if fit.levels is None or fit.taken is not None or fit.turned:
            continue
        hint = "use the original, or undo the gain or delay of the channel"
        for number, level in enumerate(fit.levels.capsules, 1):
            if abs(level) >= _CAPSULE:
                side = "louder" if level > 0 else "quieter"
                said = f"{fit.file}: capsule M{number} is {abs(level):.1f} dB {side} than the others"
                yield found(fit.recording, said, hint)
        for number, late in enumerate(fit.levels.delays, 1):
            if abs(late) > _LATE:
                side = "later" if late > 0 else "earlier"
                said = f"{fit.file}: capsule M{number} is {1000 * abs(late):.1f} ms {side} than the others"
                yield found(fit.recording, said, hint)


#: Seconds of a piece in which two recordings are compared, and most seconds by which they are apart.
_PIECE, _REACH = 5.0, 1.0
#: Smallest correlation of the levels of two recordings, and fewest pieces (and share of them) that reach it.
_ALIKE, _PIECES, _SHARE = 0.8, 3, 0.6
#: Smallest shift, step and drift over the recording that is reported, s; smallest difference in level, dB.
_APART, _LOUD = 0.015, 3.0
#: Largest mean error (s) of a line or a step that explains shifts.
_STRAY = 0.005


class Apart(NamedTuple):
    """How one recording of a clip differs from another: seconds by which it is later, piece by piece, and decibels."""

    time: Floats  # the middle of each piece that can be compared, s
    late: Floats  # seconds by which it is later there
    louder: float  # decibels by which it is louder


def apart(one: Fit, other: Fit) -> Apart | None:
    """How *other* differs from *one*; None where too little is alike."""
    if one.envelope is None or other.envelope is None:
        return None
    size, reach = round(_PIECE / one.window), round(_REACH / one.window)
    count = min(len(one.envelope), len(other.envelope))
    time, late = [], []
    pieces = range(reach, count - size - reach + 1, size)
    for first in pieces:
        here = one.envelope[first : first + size].astype(np.float64)
        there = sliding_window_view(other.envelope[first - reach : first + size + reach].astype(np.float64), size)
        match = _correlation(here, there)
        best = int(np.argmax(match))
        if match[best] >= _ALIKE and 0 < best < len(match) - 1:
            low, middle, high = match[best - 1 : best + 2]
            fine = (low - high) / (2 * (low - 2 * middle + high)) if low - 2 * middle + high else 0.0
            time.append((first + size / 2) * one.window)
            late.append((best - reach + fine) * one.window)
    if len(time) < max(_PIECES, _SHARE * len(pieces)):
        return None
    loud = one.envelope[:count] > np.quantile(one.envelope[:count], 0.5)
    return Apart(
        np.array(time), np.array(late), float(np.median((other.envelope[:count] - one.envelope[:count])[loud]))
    )


def _correlation(here: Floats, there: Floats) -> Floats:
    """Of a vector with each row of a matrix."""
    here, there = here - here.mean(), there - there.mean(axis=1, keepdims=True)
    size = np.linalg.norm(here) * np.linalg.norm(there, axis=1)
    return np.asarray(np.divide(there @ here, size, out=np.zeros(len(there)), where=size > 0))


@rule("AUD314", WARNING)
def arrays_apart(fits: Fits, found: Found) -> Iterator[Finding]:
    """FOA and MIC of a clip that are not at the same time, or not equally loud.

    Both were made from the same recording, sample by sample. W and the mean of the capsules hear the same
    below 500 Hz, so their levels rise and fall together. They are compared in pieces of 5 s: a constant shift
    (from 15 ms), a step, where samples were dropped or inserted, or a drift, where a clock was wrong. From
    four clips on, the difference in level is compared with that of the other clips (3 dB). A shift that
    labels explain is AUD308.

    Example:
        from 24 s on, MIC is 43 ms earlier than before: samples were dropped

    Fix:
        Use the originals of both.

    Reference: DCASE 2023 Task 3, both formats are extracted from the same Eigenmike recordings.
    """
    shifted = {fit.recording for fit, _ in fits.timings}
    pairs = []
    for foa in (fit for fit in fits.all if fit.format == "foa" and fit.intact):
        for mic in (fit for fit in fits.siblings(foa) if fit.format == "mic"):
            between = apart(foa, mic)
            if between is None:
                continue
            pairs.append((mic, between.louder))
            said = None if {foa.recording, mic.recording} & shifted else _in_time(between)
            if said is not None:
                yield found(mic.recording, f"{mic.file}: {said}", f"compare with {foa.recording}; use the originals")
    usual = float(np.median([louder for _, louder in pairs])) if len(pairs) >= MANY else None
    for mic, louder in pairs if usual is not None else ():
        more = louder - (usual or 0.0)
        if abs(more) >= _LOUD:
            side = "louder" if more > 0 else "quieter"
            said = f"{mic.file}: MIC is {abs(more):.1f} dB {side} relative to FOA than those of the other clips"
            yield found(mic.recording, said, "use the originals of both")


def _in_time(between: Apart) -> str | None:
    """In words, how MIC differs from FOA in time; None if it does not."""
    time, late = between.time, between.late
    middle = float(np.median(late))
    if np.abs(late - middle).mean() < _STRAY:
        side = "later" if middle > 0 else "earlier"
        return f"MIC is {1000 * abs(middle):.0f} ms {side} than FOA" if abs(middle) >= _APART else None
    slope, start = np.polyfit(time, late, 1)
    steps = [(np.abs(late[:at] - np.median(late[:at])).sum() + np.abs(late[at:] - np.median(late[at:])).sum(), at)
             for at in range(1, len(late))]  # fmt: skip
    cost, at = min(steps)
    line = float(np.abs(late - slope * time - start).mean())
    if min(line, cost / len(late)) >= _STRAY:
        return None
    if line <= cost / len(late):
        side = "slower" if slope > 0 else "faster"
        known = abs(slope) * (time[-1] - time[0]) >= _APART
        return f"the clock of MIC is {1e6 * abs(slope):.0f} ppm {side} than that of FOA" if known else None
    jump = float(np.median(late[at:]) - np.median(late[:at]))
    side, what = ("earlier", "dropped") if jump < 0 else ("later", "inserted")
    when = (time[at - 1] + time[at]) / 2
    return (
        f"from about {when:.0f} s on, MIC is {1000 * abs(jump):.0f} ms {side} than before: samples were {what}"
        if abs(jump) >= _APART else None
    )  # fmt: skip
