"""AUD312 to AUD314: how loud, and how late, the channels of recordings are; what needs no labels."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import numpy as np

from seldio.findings import Finding
from seldio.rules.collection import Found
from seldio.rules.deep_apart import SMALLEST, Apart, at_fault
from seldio.rules.deep_fit import Fit, Fits, Symptom
from seldio.rules.deep_pieces import Floats
from seldio.rules.deep_pooled import MANY
from seldio.rules.registry import WARNING, rule
from seldio.text import listed

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
    """FOA with a channel that is louder or quieter than a sound field permits."""
    told = [fit for fit in fits.all if fit.intact and fit.kind != "order" and fit.levels is not None]
    heard = [(fit, fit.levels.unlike) for fit in told if fit.levels is not None and fit.levels.unlike is not None]
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


@rule("AUD313", WARNING)
def capsules_differ(fits: Fits, found: Found) -> Iterator[Finding]:
    """MIC capsule that is louder, quieter or later than the other three."""
    yield from fits.told(_capsules(fits), found)


def _capsules(fits: Fits) -> Iterator[Symptom]:
    """The capsules that differ."""
    for fit in fits.all:
        if fit.levels is None or fit.taken is not None or fit.turned:
            continue
        hint = "use the original, or undo the gain or delay of the channel"
        for number, level in enumerate(fit.levels.capsules, 1):
            if abs(level) >= _CAPSULE:
                side = "louder" if level > 0 else "quieter"
                yield Symptom(fit, f"capsule M{number} is {{:.1f}} dB {side} than the others", hint, abs(level))
        for number, late in enumerate(fit.levels.delays, 1):
            if abs(late) > _LATE:
                side = "later" if late > 0 else "earlier"
                what = f"capsule M{number} is {{:.1f}} ms {side} than the others"
                yield Symptom(fit, what, hint, 1000 * abs(late))


#: Smallest difference in level (dB) that is reported.
_LOUD = 3.0


@rule("AUD314", WARNING)
def arrays_apart(fits: Fits, found: Found) -> Iterator[Finding]:
    """FOA and MIC of a clip that differ in timing or level."""
    shifted = {fit.recording for fit, _ in fits.timings}
    shared = _shared(fits.apart)
    if shared:
        middle = sorted(shared, key=lambda pair: pair[2].course.later)[len(shared) // 2]
        blamed = {wrong.format: why for foa, mic, between in shared
                  for wrong, why in [at_fault(between, foa, mic)] if wrong is not None}  # fmt: skip
        format, why = next(iter(blamed.items())) if len(blamed) == 1 else ("", "the labels cannot tell which")
        there = middle[0] if format == "foa" else middle[1]
        spot = fits.collection.spot([fit.place for pair in shared for fit in pair[:2]
                                     if fit.format == there.format and fit.place is not None])  # fmt: skip
        said = _in_time(middle[2], there if format else None, why)
        yield found(spot, f"in {len(shared):,} of {len(fits.apart):,} clips, {said}", "use the originals of both")
    named = {(foa.recording, mic.recording) for foa, mic, _ in shared}
    for foa, mic, between in fits.apart:
        if (foa.recording, mic.recording) in named:
            continue
        parted = between.known and not between.constant
        if parted or not {foa.recording, mic.recording} & shifted:
            wrong, why = at_fault(between, foa, mic)
            said = _in_time(between, wrong, why)
            if said is not None:
                one, other = (foa, mic) if wrong is foa else (mic, foa)
                yield found(one.recording, f"{one.file}: {said}", f"compare with {other.recording}; use the originals")
    louder = [between.louder for _, _, between in fits.apart]
    usual = float(np.median(louder)) if len(louder) >= MANY else None
    for _, mic, between in fits.apart if usual is not None else ():
        more = between.louder - (usual or 0.0)
        if abs(more) >= _LOUD:
            side = "louder" if more > 0 else "quieter"
            said = f"{mic.file}: MIC is {abs(more):.1f} dB {side} relative to FOA than those of the other clips"
            yield found(mic.recording, said, "use the originals of both")


def _shared(pairs: list[tuple[Fit, Fit, Apart]]) -> list[tuple[Fit, Fit, Apart]]:
    """The clips whose recordings are apart by the same time, if most are."""
    moved = [pair for pair in pairs if pair[2].constant and abs(pair[2].course.later) >= SMALLEST]
    middle = median(pair[2].course.later for pair in moved) if moved else 0.0
    same = [pair for pair in moved if abs(pair[2].course.later - middle) < SMALLEST]
    return same if len(same) >= MANY and 2 * len(same) > len(pairs) else []


def _in_time(between: Apart, wrong: Fit | None, why: str) -> str | None:
    """In words, how MIC differs from FOA in time, or FOA from MIC if that is *wrong*; None if it does not."""
    one, other, sign = ("FOA", "MIC", -1) if wrong is not None and wrong.format == "foa" else ("MIC", "FOA", 1)
    course, told = between.course, f" ({why})"
    if not between.known:
        low, high = (1000 * late for late in between.range)
        span = f"MIC is {low:+.0f} to {high:+.0f} ms later"
        return f"MIC and FOA are out of step, and no known cause explains how: {span}"
    parts = []
    if course.drift:
        side = "slower" if sign * course.drift > 0 else "faster"
        parts.append(f"the clock of {one} is {1e6 * abs(course.drift):.0f} ppm {side} than that of {other}")
    if between.constant and abs(course.later) >= SMALLEST:
        side = "later" if sign * course.later > 0 else "earlier"
        parts.append(f"{one} is {1000 * abs(course.later):.0f} ms {side} than {other}")
    if course.steps:
        steps = [sign * 1000 * step.later for step in course.steps]
        more, less = f"inserted in {one}", f"dropped from {one}"
        if wrong is None:
            more, less = f"{more}, or dropped from {other}", f"{less}, or inserted in {other}"
        what = more if min(steps) > 0 else less if max(steps) < 0 else f"inserted in {one} (+) and dropped from it (-)"
        if len(steps) == 1:
            side = "later" if steps[0] > 0 else "earlier"
            since = f"from about {course.steps[0].time:.0f} s on"
            parts.append(f"{since}, {one} is {abs(steps[0]):.0f} ms {side} than before: samples were {what}")
        else:
            mixed = min(steps) < 0 < max(steps)
            each = [f"{late:+.0f} ms" if mixed else f"{abs(late):.0f} ms" for late in steps]
            when = [f"{size} at about {step.time:.1f} s" for size, step in zip(each, course.steps, strict=True)]
            parts.append(f"samples were {what} {len(steps)} times: {listed(when, 4)}")
    return f"{'; '.join(parts)}{told}" if parts else None
