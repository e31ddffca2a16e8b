"""AUD312: how loud the channels of FOA recordings are, which needs no labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from seldio.findings import Finding
from seldio.rules.collection import Found
from seldio.rules.deep_fit import MANY, Fits
from seldio.rules.deep_pieces import Floats

#: To be named, a wrong gain leaves at most this part of what is unlike a sound field: of a clip, of four or more.
_LEFT, _LEFT_TOGETHER = 0.5, 0.65
#: Decibels by which W is quieter in FuMa, at most (in N3D the other three are 4.8 dB louder); what a room may do.
_FUMA, _SMALL = 3.9, 3.0
#: Another gain that leaves at most this many times as much is named as well.
_NEARLY = 1.3


def foa_gains(fits: Fits, found: Found) -> Iterator[Finding]:
    told = [fit for fit in fits.all if fit.intact and fit.kind != "order"]
    heard = [(fit, fit.unlike) for fit in told if fit.unlike is not None]
    alone = [(fit, said) for fit, unlike in heard if (said := _gain(unlike, _LEFT)) is not None]
    every = _gain(np.mean([unlike for _, unlike in heard], axis=0), _LEFT_TOGETHER) if len(heard) >= MANY else None
    if every is not None:
        differ = [(fit, said) for fit, said in alone if said[0] != every[0]]
        count = len(alone) - len(differ)
        message = f"in all {len(heard):,} FOA recordings together, {every[0]}{every[1]} ({count:,} show it alone)"
        yield found(fits.collection.path, message, every[2])
        alone = differ if 2 * count > len(heard) else alone
    for fit, (what, rival, hint) in alone:
        yield found(fit.recording, f"{fit.file}: {what}{rival}", hint)


def _gain(unlike: Floats, limit: float) -> tuple[str, str, str] | None:
    """In words, which gain explains best what is unlike a sound field, its rival, and what to do.

    None if none does so well. Where all sound comes from one side, two gains may do so nearly as well.
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
    return said, "" if rival is None else f" (nearly as likely: {_explained(*GAINS[rival])[0]})", hint


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
