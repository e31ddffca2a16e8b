"""What the rules of AUD3 say, with their evidence: each cause once, whatever recordings speak for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from seldio.findings import Finding
from seldio.rules.collection import Found
from seldio.rules.deep_causes import Cause, Verdict, in_labels
from seldio.rules.deep_fit import Fit, Fits
from seldio.rules.deep_timing import Other, Shift
from seldio.rules.tree_gaps import spot
from seldio.text import plural

Turn = tuple[tuple[float, ...], ...]
_Told = TypeVar("_Told", Shift, Other)
#: Causes that are most often in the labels; the others are in the recording.
_IN_LABELS = frozenset({"mirrored", "flipped", "reversed", "rotated"})


def directions(fits: Fits, kind: str, found: Found) -> Iterator[Finding]:
    """A finding for each clip with this cause, and one for all clips together where they share it."""
    groups: dict[tuple[str, bool | None], list[Fit]] = {}
    for fit in fits.all:
        if fit.verdict is not None:
            agree = fits.agree([fit], fit.verdict.cause)
            if _named(fit.verdict.cause, agree).kind == kind:
                path = fit.labels if _is_in_labels(kind, agree) else fit.recording
                groups.setdefault((path, agree), []).append(fit)
    for (path, agree), group in groups.items():
        verdict = group[0].verdict
        assert verdict is not None
        what, hint = _explained(verdict.cause, agree, group, "recording of the clip")
        yield found(path, f"{what} ({_evidence(verdict)}; {_names(group)})", hint)
    yield from _together(fits, kind, found)


def _named(cause: Cause, agree: bool | None) -> Cause:
    """The cause in words about the file that is at fault."""
    return in_labels(cause) if agree is False else cause


def _is_in_labels(kind: str, agree: bool | None) -> bool:
    """Whether the labels are at fault: two recordings say so, or one does and most often it is so."""
    return agree is False or (agree is None and kind in _IN_LABELS)


def _explained(cause: Cause, agree: bool | None, those: list[Fit], many: str) -> tuple[str, str]:
    """What is wrong and what to do.

    An inverted channel of FOA sounds like mirrored labels: only the other array tells.

    Args:
        cause: that of all of *those*.
        agree: whether the labels fit their siblings (so that the recordings are wrong), see :meth:`Fits.agree`.
        those: the recordings.
        many: what their siblings are called here.
    """
    turned = f"channel {cause.channel} has the wrong sign"
    undo = f"change the sign of channel {cause.channel}"
    if agree and cause.channel:
        return f"{turned}, as the labels fit the other {many}", f"take the original, or {undo}"
    if agree and cause.kind in _IN_LABELS:
        return f"{cause.what}, but only in the {_format(those)}: the labels fit the other {many}", "take the original"
    named = _named(cause, agree)
    if agree is None and cause.channel and not any(one.format == "mic" for one in those):
        return (
            f"{cause.what}, or {turned}: FOA alone sounds the same",
            f"{cause.hint}; or {undo}, if that is what went wrong",
        )
    return named.what, named.hint


def _format(those: list[Fit]) -> str:
    return f"{those[0].format.upper()} recording{'s' if len(those) > 1 else ''}"


def _evidence(verdict: Verdict) -> str:
    rival = f"; this would explain it nearly as well: {verdict.rival.what}" if verdict.rival is not None else ""
    return (
        f"{plural(verdict.events, 'event')} alone at {plural(verdict.places, 'place')} are {verdict.before:.0f}° off "
        f"as labelled, {verdict.after:.0f}° once that is undone{rival}"
    )


def _together(fits: Fits, kind: str, found: Found) -> Iterator[Finding]:
    """What all recordings of one format share, from the places of all of them; of both formats, if they agree."""
    told: dict[tuple[Turn, bool | None], list[tuple[list[Fit], Verdict]]] = {}
    for those, verdict in fits.together.values():
        agree = fits.agree(those, verdict.cause)
        if _named(verdict.cause, agree).kind == kind:
            told.setdefault((verdict.cause.turn, agree), []).append((those, verdict))
    for (_, agree), groups in told.items():
        those = [fit for group, _ in groups for fit in group]
        verdict = groups[0][1]
        what, hint = _explained(verdict.cause, agree, those, "recordings")
        counts = " and ".join(f"{len(group):,} {group[0].format.upper()}" for group, _ in groups)
        places = [fit.labelled if agree is False else fit.place for fit in those]
        inside = [place for place in places if place is not None]
        path = spot(fits.collection, inside) if inside else fits.collection.path
        yield found(path, f"all {counts} recordings together: {what} ({_evidence(verdict)})", hint)


def once(fits: Fits, kind: type[_Told]) -> Iterator[tuple[Fit, _Told, bool | None, str]]:
    """Each file that another time or clip is the fault of, once, whatever recordings speak for it.

    Yields:
        The clearest recording, what it says, whether its siblings agree with the labels (see
        :meth:`Fits.agree_in_time`; then it is at fault, else the labels), and the names of all.
    """
    groups: dict[tuple[str, bool], list[tuple[Fit, _Told, bool | None]]] = {}
    for fit, one in fits.timings:
        if isinstance(one, kind):
            agree = fits.agree_in_time(fit, one)
            groups.setdefault((fit.recording if agree else fit.labels, bool(agree)), []).append((fit, one, agree))
    for group in groups.values():
        fit, clearest, agree = max(group, key=lambda each: each[1].after)
        yield fit, clearest, agree, _names([fit for fit, _, _ in group])


def _names(those: list[Fit]) -> str:
    return " and ".join(f"{fit.file} as {fit.format.upper()}" for fit in those)


def percent(share: float) -> str:
    """A share in whole percent."""
    return f"{round(100 * share)} %"
