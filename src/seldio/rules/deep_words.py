"""What the rules of AUD3 say, with their evidence: each cause once, whatever recordings speak for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from seldio.findings import Finding
from seldio.rules.collection import Found
from seldio.rules.deep_causes import Verdict
from seldio.rules.deep_fit import Fit, Fits
from seldio.rules.deep_timing import Other, Shift
from seldio.rules.tree_gaps import spot
from seldio.text import plural

_Told = TypeVar("_Told", Shift, Other)
#: Causes that are most often in the labels; the others are in the recording.
_IN_LABELS = frozenset({"mirrored", "flipped", "reversed", "rotated"})


def directions(fits: Fits, kind: str, found: Found) -> Iterator[Finding]:
    """A finding for each clip with this cause, and one for all clips together where they share it."""
    groups: dict[str, list[Fit]] = {}
    for fit in fits.all:
        if fit.kind == kind:
            inside = kind in _IN_LABELS and not _sibling(fits, fit)
            groups.setdefault(fit.labels if inside else fit.recording, []).append(fit)
    for path, group in groups.items():
        verdict = group[0].verdict
        assert verdict is not None
        both = any(one.format == "mic" for one in group)
        what, hint = _explained(verdict, both, _sibling(fits, group[0]), "recording of the clip")
        yield found(path, f"{what} ({_evidence(verdict)}; {_names(group)})", hint)
    yield from _together(fits, kind, found)


def _explained(verdict: Verdict, labels: bool, channel: bool, many: str) -> tuple[str, str]:
    """What is wrong and what to do.

    An inverted channel of FOA sounds like mirrored labels: only the other array tells.

    Args:
        verdict: the cause.
        labels: whether a recording of MIC says the same, so that the labels are wrong.
        channel: whether the labels fit a recording of MIC, so that the channel is wrong.
        many: what recordings of MIC are called here.
    """
    cause = verdict.cause
    if not cause.channel or labels:
        return cause.what, cause.hint
    turned = f"channel {cause.channel} has the wrong sign"
    undo = f"change the sign of channel {cause.channel}"
    if channel:
        return f"{turned}, as the labels fit the other {many}", f"take the original, or {undo}"
    return (
        f"{cause.what}, or {turned}: FOA alone sounds the same",
        f"{cause.hint}; or {undo}, if that is what went wrong",
    )


def _sibling(fits: Fits, fit: Fit) -> bool:
    """Whether another recording of the clip agrees with the labels: then it is not those that are wrong."""
    return any(one.fits for one in fits.all if one.labels == fit.labels and one is not fit)


def _evidence(verdict: Verdict) -> str:
    rival = f"; this would explain it nearly as well: {verdict.rival.what}" if verdict.rival is not None else ""
    return (
        f"{plural(verdict.events, 'event')} alone at {plural(verdict.places, 'place')} are {verdict.before:.0f}° off "
        f"as labelled, {verdict.after:.0f}° once that is undone{rival}"
    )


def _together(fits: Fits, kind: str, found: Found) -> Iterator[Finding]:
    """What all recordings of one format share, from the places of all of them."""
    for format, (those, verdict) in fits.together.items():
        if verdict.cause.kind == kind:
            places = [fit.place for fit in those if fit.place is not None]
            path = spot(fits.collection, places) if places else fits.collection.path
            both = format == "mic" or ("mic" in fits.together and fits.together["mic"][1].cause.kind == kind)
            fitting = sum(_sibling(fits, fit) for fit in those) > len(those) / 2
            what, hint = _explained(verdict, both, fitting, "recordings")
            message = f"all {len(those):,} {format.upper()} recordings together: {what}"
            yield found(path, f"{message} ({_evidence(verdict)})", hint)


def once(told: list[tuple[Fit, _Told]]) -> Iterator[tuple[Fit, _Told, str]]:
    """Each clip once, whatever recordings speak for it: the clearest of them, what it says, and all their names."""
    groups: dict[str, list[tuple[Fit, _Told]]] = {}
    for fit, one in told:
        groups.setdefault(fit.labels, []).append((fit, one))
    for group in groups.values():
        fit, best = max(group, key=lambda pair: pair[1].after)
        yield fit, best, _names([fit for fit, _ in group])


def _names(those: list[Fit]) -> str:
    return " and ".join(f"{fit.file} as {fit.format.upper()}" for fit in those)


def percent(share: float) -> str:
    """A share in whole percent."""
    return f"{round(100 * share)} %"
