"""AUD3: labels compared with the audio. Each rule reports one cause, and only with evidence from many positions.

``docs/concepts/listening.md`` describes the method, with rates of detection and false alarms; the measurements come
from :mod:`seldio.rules.deep_fit`.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import TypeVar

import numpy as np

from seldio.catalogues.trees import Tree
from seldio.files import Entry
from seldio.files.entries import packed
from seldio.files.sources import Lookup
from seldio.findings import Finding, Sink
from seldio.formats import LabelReading
from seldio.media.arrays import Format
from seldio.media.intensity import GAINS, Floats
from seldio.parallel import parallel_map
from seldio.rules.collection import Collection, Found, grouped
from seldio.rules.deep_causes import Verdict
from seldio.rules.deep_evidence import Heard, share_within, together
from seldio.rules.deep_evidence import heard as summary
from seldio.rules.deep_fit import (
    FORMATS,
    IN_LABELS,
    MANY,
    BlamedCause,
    Fit,
    Fits,
    HeardClip,
    Pair,
    Symptom,
    compared,
    pairs_of,
    rows_of,
)
from seldio.rules.deep_timing import Other, Shift
from seldio.rules.registry import ERROR, WARNING, findings
from seldio.text import listed, plural, printable

_Timing = TypeVar("_Timing", Shift, Other)


def directions(kind: str, fits: Fits, found: Found) -> Iterator[Finding]:
    """Yield a finding for each file with a cause of this kind, and one for all clips together if they share it."""
    for fault in fits.faults:
        if fault.cause.kind == kind:
            what, hint = _explained(fault, "recording of the clip")
            path = fault.fits[0].labels if fault.in_labels else fault.fits[0].recording
            sure = any(fit.verdict is not None and fit.verdict.sure for fit in fault.fits)
            few = "" if sure else "few places, but clear: "
            said = f"{few}{what} ({_evidence(fault.verdict)}; {_names(fault.fits)})"
            yield found(path, said, hint, severity=ERROR if sure else WARNING)
    for fault in fits.shared:
        if fault.cause.kind == kind:
            what, hint = _explained(fault, "recordings")
            formats = Counter(fit.format for fit in fault.fits)
            counts = " and ".join(f"{count:,} {format.upper()}" for format, count in formats.items())
            places = [fit.labels_place if fault.agree is False else fit.place for fit in fault.fits]
            path = fits.collection.spot([place for place in places if place is not None])
            yield found(path, f"in all {counts} recordings together, {what} ({_evidence(fault.verdict)})", hint)


def _explained(fault: BlamedCause, siblings: str) -> tuple[str, str]:
    """Return problem and hint; *siblings* is the term for the other recordings of the clips here.

    An inverted channel of FOA looks like mirrored labels: only the other array can tell which it is.
    """
    cause, agree, formats = fault.verdict.cause, fault.agree, [fit.format for fit in fault.fits]
    turned = f"channel {cause.channel} is inverted"
    undo = f"flip the sign of channel {cause.channel}"
    if agree and cause.channel:
        return f"{turned}, since the labels fit the other {siblings}", f"use the original, or {undo}"
    if agree and cause.kind in IN_LABELS:
        these = f"{formats[0].upper()} recording{'s' if len(formats) > 1 else ''}"
        return f"{cause.what}, but only in the {these}: the labels fit the other {siblings}", "use the original"
    if agree is None and cause.channel and "mic" not in formats:
        hint = f"{cause.hint}; or, if the recording is at fault, {undo}"
        return f"{cause.what}, or {turned}: FOA alone cannot tell", hint
    return fault.cause.what, fault.cause.hint


def _evidence(verdict: Verdict) -> str:
    rival = f"; nearly as likely: {verdict.rival.what}" if verdict.rival is not None else ""
    return (
        f"{plural(verdict.events, 'isolated event')} at {plural(verdict.places, 'position')} {verdict.before:.0f}° off "
        f"as labelled, {verdict.after:.0f}° after correction{rival}"
    )


def by_file(fits: Fits, kind: type[_Timing]) -> Iterator[tuple[Fit, _Timing, bool | None, str]]:
    """Each file at fault for a wrong time or clip, once, whichever recordings show it.

    With the clearest recording and its verdict, whether its siblings agree with the labels (see
    :meth:`Fits.agree_in_time`; then it is at fault, else the labels), and the names of all.
    """
    shown = ((fit, one, fits.agree_in_time(fit, one)) for fit, one in fits.timings if isinstance(one, kind))
    groups = grouped(shown, lambda one: (one[0].recording if one[2] else one[0].labels, bool(one[2])))
    for group in groups.values():
        fit, clearest, agree = max(group, key=lambda one: one[1].after)
        yield fit, clearest, agree, _names([fit for fit, _, _ in group])


def _names(fits: list[Fit]) -> str:
    return " and ".join(f"{fit.file} as {fit.format.upper()}" for fit in fits)


def azimuths_mirrored(fits: Fits, found: Found) -> Iterator[Finding]:
    return directions("mirrored", fits, found)


def elevations_upside_down(fits: Fits, found: Found) -> Iterator[Finding]:
    return directions("flipped", fits, found)


def front_and_back_exchanged(fits: Fits, found: Found) -> Iterator[Finding]:
    return directions("reversed", fits, found)


def azimuths_rotated(fits: Fits, found: Found) -> Iterator[Finding]:
    return directions("rotated", fits, found)


def channels_exchanged(fits: Fits, found: Found) -> Iterator[Finding]:
    return directions("order", fits, found)


def channels_inverted(fits: Fits, found: Found) -> Iterator[Finding]:
    yield from directions("inverted", fits, found)
    yield from fits.told(_turned(fits), found)


def _turned(fits: Fits) -> Iterator[Symptom]:
    """Yield the capsules that are inverted."""
    for fit in fits.all:
        if fit.turned and fit.taken is None:
            numbers = listed([str(channel + 1) for channel in fit.turned])
            what = f"channel {numbers} is" if len(fit.turned) == 1 else f"channels {numbers} are"
            yield Symptom(fit, f"{what} inverted relative to the rest", "use the original")


def other_array(fits: Fits, found: Found) -> Iterator[Finding]:
    why = {
        "mic": "they are equally loud and nearly identical at low frequencies",
        "foa": "the first is as loud as the others together, and they differ at low frequencies",
    }
    symptoms = (
        Symptom(
            fit,
            f"the channels look like {fit.taken.upper()}, not {fit.format.upper()}: {why[fit.taken]}",
            f"use the {fit.format.upper()} recording",
        )
        for fit in fits.all if fit.taken is not None
    )  # fmt: skip
    yield from fits.told(symptoms, found)


def labels_shifted(fits: Fits, found: Found) -> Iterator[Finding]:
    for fit, one, agree, names in by_file(fits, Shift):
        time = f"{float(abs(one.frames) * fit.hop):.1f} s"
        count, moved = plural(abs(one.frames) * fit.step, "label frame"), f"{-one.frames * fit.step:+d}"
        fits_now = f"{100 * one.before:.0f} % of isolated label frames fit as labelled, {100 * one.after:.0f} % after"
        if agree:
            side = "early" if one.frames > 0 else "late"
            message = (
                f"{fit.file} ({fit.format.upper()}) sounds {time} {side} ({count}) relative to the labels, which fit "
                f"the other recording of the clip: {fits_now} the shift"
            )
            yield found(fit.recording, message, "use the original recording")
        else:
            side = "late" if one.frames > 0 else "early"
            hint = f"add {moved} to each frame number"
            hint += "" if agree is False else "; if the recording was trimmed or padded, use the original instead"
            yield found(fit.labels, f"labels look {time} {side} ({count}): {fits_now} the shift ({names})", hint)


def labels_of_another_clip(fits: Fits, found: Found) -> Iterator[Finding]:
    for fit, one, agree, names in by_file(fits, Other):
        share = f"{printable(one.clip)} fits {100 * one.after:.0f} % of isolated label frames"
        if agree:
            message = (
                f"{fit.file} ({fit.format.upper()}) sounds like another clip: {share}; its own labels fit "
                f"{100 * one.before:.0f} %, but also the other recording of the clip"
            )
            yield found(fit.recording, message, "use the recording that belongs to the labels")
        else:
            message = f"the labels seem to belong to another clip: {share}, these {100 * one.before:.0f} % ({names})"
            yield found(fit.labels, message, "check which name is right")


def labels_fit_badly(fits: Fits, found: Found) -> Iterator[Finding]:
    for fit, share, middle, frames, other in fits.misfits:
        numbers = (
            f"{100 * share:.0f} % of {plural(frames, 'label frame')} within 30°, the median is {middle:.0f}° off "
            f"({_names([fit])})"
        )
        if other:
            message = f"the labels fit the other recording of the clip, but not this one, for no known cause: {numbers}"
            yield found(fit.recording, message, "use the original recording")
        else:
            message = f"the labels fit badly, and no known cause explains it: {numbers}"
            yield found(fit.labels, message, "listen to it with seldio view --deep, or compare both with the originals")


#: Fewest seconds and places, and smallest share within 30 degrees, of labels that fit.
_SECONDS, _PLACES, _SHARE = 5.0, 2, 0.5


def heard(fits: Fits, unheard: Iterable[Heard] = ()) -> list[Heard]:
    """Return what was heard of labels, recording by recording, then in all audible recordings of a format."""
    blamed = {fit.recording for fault in (*fits.faults, *fits.shared) for fit in fault.fits}
    blamed |= {fit.recording for fit, _ in fits.timings}
    wrong = {fit.labels for fit, *_ in fits.misfits}
    found = [*unheard]
    for fit in fits.all:
        one = summary(fit.evidence, fit.names, "fits", None, fit.clip, fit.recording, fit.format, float(fit.hop))
        outcome, why = _outcome(fit, one, fit.recording in blamed or fit.labels in wrong)
        found.append(dataclasses.replace(one, outcome=outcome, why=why))
    found.sort(key=lambda one: (one.clip or "", one.format, one.recording))
    for format in FORMATS:
        those = [fit for fit in fits.all if fit.format == format and fit.intact and len(fit.evidence)]
        if len(those) > 1:
            names = {kind: name for fit in those for kind, name in fit.names.items()}
            every = together([fit.evidence for fit in those])
            outcome = "contradicted" if share_within(every) < _SHARE else "fits"
            found.append(summary(every, names, outcome, None, None, fits.collection.path, format, float(those[0].hop)))
    return found


def _outcome(fit: Fit, one: Heard, blamed: bool) -> tuple[str, str | None]:
    """Return whether labels fit a recording; and why that is unclear, or why nothing was heard."""
    if not fit.intact:
        return "contradicted", "its channels look wrong"
    if blamed:
        return "contradicted", None
    labels = fit.label_frames
    if not one.events:
        if not labels.active.any():
            return "not heard", "there are no labels within the recording"
        if labels.alone.any():
            return "not heard", "no clear direction where one source is alone: noise, reverberation or silence"
        if not len(fit.pieces[0]):
            return "not heard", "no label frame has a single direction"
        return "unclear", "several sources are active in all label frames"
    if one.seconds < _SECONDS:
        return "unclear", f"a single source is heard for {one.seconds:g} s only"
    if one.share is not None and one.share < _SHARE:
        return "unclear", "the labels fit badly, but no cause is clear"
    if one.places < _PLACES:
        return "unclear", "all sound comes from one direction"
    return "fits", _remaining(fit, one)


#: Degrees beyond which a mean difference remains; log-likelihood by which labels must fit better than mirrored ones.
_REMAINS, _TOLD = 5.0, 3.0


def _remaining(fit: Fit, one: Heard) -> str | None:
    """By how much labels that fit are off, and what cannot be heard of them; None if nothing is left to say."""
    said = []
    sides = ((one.azimuth, "to the left", "to the right"), (one.elevation, "upwards", "downwards"))
    for mean, more, less in sides:
        if mean is not None and (mean.low > _REMAINS or mean.high < -_REMAINS):
            said.append(f"{abs(mean.value):.0f}° {more if mean.value > 0 else less} remain")
    flips = np.stack([np.eye(3), *(np.diag(np.where(np.arange(3) == axis, -1.0, 1.0)) for axis in range(3))])
    fits, *mirrored = fit.pieces[0].evidence(flips).sum(axis=1).tolist()
    for name, likelihood in zip(("front or back", "left or right", "elevation"), mirrored, strict=True):
        if fits - likelihood <= _TOLD:
            said.append(f"{name} cannot be heard")
    return f"but {', and '.join(said)}" if said else None


# --- levels of FOA, which need no labels -------------------------------------------------------------------------

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
    best, *others = np.argsort(unlike[1:], kind="stable").tolist()
    if unlike[1 + best] >= limit * unlike[0] or 0 < abs(GAINS[best].decibels) < _SMALL:
        return None
    said, hint = _gain_explained(*GAINS[best])
    rivals = (
        other for other in others
        if GAINS[other].channel != GAINS[best].channel and not 0 < abs(GAINS[other].decibels) < _SMALL
        and unlike[1 + other] < min(limit * unlike[0], _NEARLY * unlike[1 + best])
    )  # fmt: skip
    rival = next(rivals, None)
    return said, "" if rival is None else f" (nearly as likely: {_gain_explained(*GAINS[rival])[0]})", hint


def _gain_explained(channel: int, decibels: float) -> tuple[str, str]:
    """Return a gain in words, and what to do."""
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


DEEP_RULES = (
    azimuths_mirrored,
    elevations_upside_down,
    front_and_back_exchanged,
    azimuths_rotated,
    channels_exchanged,
    channels_inverted,
    other_array,
    labels_shifted,
    labels_of_another_clip,
    labels_fit_badly,
    foa_gains,
)


def report(fits: Fits, sink: Sink) -> None:
    """Pass to *sink* what the sound says of the labels."""
    for finding in findings(DEEP_RULES, fits):
        sink(finding)


def check_fit(collection: Collection, tree: Tree, lookup: Lookup, sink: Sink) -> list[Heard]:
    """Compare labels with the audio of their recordings; *lookup* finds recordings that are not in the source.

    Returns:
        What was heard in each recording, then in all recordings of a format together.
    """
    found = list(pairs_of(collection, tree, lookup))
    pairs = [one for one in found if isinstance(one, Pair)]
    what, here = "comparing labels with the audio", packed(pair.entry for pair in pairs)
    compares = list(parallel_map(compared, pairs, what=what, size=attrgetter("size"), here=here))
    fits = Fits(collection, (fit for fit in compares if isinstance(fit, Fit)))
    report(fits, sink)
    return heard(fits, (one for one in (*found, *compares) if isinstance(one, Heard)))


def check_clip(
    reading: LabelReading, recordings: Sequence[tuple[Entry, Format | None]], sink: Sink
) -> HeardClip | None:  # fmt: skip
    """Compare the labels of one clip with its recordings, at least one; their format is None if unknown.

    Returns:
        What was heard; None if there was nothing to compare (directions, and four channels).
    """
    collection = Collection(recordings[0][0].path, "file", tuple(entry for entry, _ in recordings), (reading,))
    clip, found = reading.parts[0].origin.clip, [rows for rows in rows_of(collection).values() if len(rows.frame)]
    pairs = (Pair(clip, rows, entry, None, format) for rows in found for entry, format in recordings)
    fits = Fits(collection, (fit for fit in map(compared, pairs) if isinstance(fit, Fit)))
    report(fits, sink)
    if not fits.all:
        return None
    first = fits.all[0]
    each_one = [one for one in heard(fits) if one.clip is not None]
    return HeardClip(each_one, first.sound_frames, float(first.hop))
