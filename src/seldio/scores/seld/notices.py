"""What there is to know about a SELD score: where the official program and the data lead astray."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from seldio.scores.result import Notice
from seldio.scores.seld.measures import FOLDED
from seldio.scores.seld.profiles import Profile
from seldio.scores.seld.scoring import SeldScore
from seldio.scores.seld.seen import Rows, Seen
from seldio.text import listed, plural


@dataclasses.dataclass(frozen=True)
class Case:
    """What a notice may look at.

    Args:
        profile: of the score.
        score: itself.
        seen: what is notable about the rows.
        labels: name of each class.
        layout: of the prediction.
        reference_layout: of the reference.
        chosen: sentences about layouts that the content did not decide.
        left_out: clips that were not counted, for want of a prediction and for want of a reference.
        intervals: whether confidence intervals are shown.
    """

    profile: Profile
    score: SeldScore
    seen: Seen
    labels: Sequence[str]
    layout: str
    reference_layout: str = ""
    chosen: tuple[str, ...] = ()
    left_out: tuple[int, int] = (0, 0)
    intervals: bool = False

    @property
    def official(self) -> bool:
        """Whether the score stands for that of a program."""
        return self.profile.official

    @property
    def sides(self) -> tuple[tuple[Rows, str], ...]:
        """The rows of both sides, and what to call one."""
        return (self.seen.reference, "reference row"), (self.seen.prediction, "predicted row")


def notices(case: Case) -> tuple[Notice, ...]:
    """All that apply, the grave ones first."""
    found = [notice for check in _CHECKS for notice in check(case)]
    return tuple(sorted(found, key=lambda notice: not notice.grave))


def _misread(case: Case) -> Iterator[Notice]:
    sentence = case.profile.misread.get(case.layout)
    if sentence and case.seen.prediction.all:  # files without a row are the same in every layout
        text = f"the prediction is {case.layout}, which seldio reads for what it is; {sentence}"
        yield Notice("misread", text, grave=True)


def _chosen(case: Case) -> Iterator[Notice]:
    for text in case.chosen:
        yield Notice("layout-chosen", text, grave=True)


def _swapped(case: Case) -> Iterator[Notice]:
    if case.reference_layout.endswith(("-output", "-submission")):
        text = f"the reference is {case.reference_layout}, what systems write: make sure that the two are not swapped"
        yield Notice("reference-is-output", text, grave=True)


def _one_clip(case: Case) -> Iterator[Notice]:
    if case.intervals and len(case.score.clips) < 2:
        yield Notice("one-clip", "intervals by leaving out one clip at a time need two clips or more: there are none")


def _unused(case: Case) -> Iterator[Notice]:
    """What both sides say and the profile does not look at, or cannot."""
    sides = [rows for rows, _ in case.sides if rows.all]
    if case.profile.measure is not FOLDED and any(not rows.elevations for rows in sides):
        text = "labels without elevation (stereo) are scored as if all were 0; dcase2025 is the profile for them"
        yield Notice("no-elevation", text, grave=True)
    elif "distance" not in case.profile.needs and len(sides) == 2 and all(rows.distances for rows in sides):
        yield Notice("distance-unused", "both sides have distances, which only dcase2024 and dcase2025 look at")


def _folded(case: Case) -> Iterator[Notice]:
    """What of directions around the listener stereo scores do not see."""
    if case.profile.measure is not FOLDED:
        return
    for rows, noun in case.sides:
        if rows.unfolded:
            beyond = f"{plural(rows.unfolded, noun)} with an azimuth beyond ±90°"
            yield Notice("folded", f"{beyond}: folded front to back, as the program does", grave=True)
        if rows.raised:
            text = f"{plural(rows.raised, noun)} with an elevation, which {case.profile.name} does not look at"
            yield Notice("elevation-unused", text, grave=True)


def _left_out(case: Case) -> Iterator[Notice]:
    missing, surplus = case.left_out
    if surplus:
        yield Notice("surplus-clips", f"{plural(surplus, 'predicted clip')} without reference left out", grave=True)
    if missing:
        yield Notice(
            "missing-clips",
            f"{plural(missing, 'clip')} of the reference without prediction left out, as the official program "
            "does without a word: a system that hands in only what it does well scores higher",
            grave=True,
        )


def _empty_references(case: Case) -> Iterator[Notice]:
    empty, alarms = case.seen.unlabelled, case.seen.alarms
    if not empty or not case.official:
        return
    if case.profile.name == "dcase2025":
        text = f"{plural(empty, 'clip')} without labels: the {plural(alarms, 'prediction')} in them cost nothing"
        yield Notice("empty-reference", text, grave=alarms > 0)
    elif isinstance(case.profile.horizon, str):
        text = f"{plural(empty, 'clip')} without labels: the official program ends with ValueError, here they count 0"
        yield Notice("empty-reference", text)


def _horizon(case: Case) -> Iterator[Notice]:
    if not case.official:
        return
    for rows, noun in case.sides:
        if rows.beyond:
            only = _HORIZONS[case.profile.horizon]
            text = f"{plural(rows.beyond, noun)} not scored: the program counts frames only {only}"
            yield Notice("last-frame", text)


_HORIZONS = {
    "last-second": "up to the second of the last labelled frame, and not that frame where it is a multiple of 10",
    "before-last": "before the last labelled one, which is never scored",
    600: "below 600 (60 s)",
}


def _outside(case: Case) -> Iterator[Notice]:
    for rows, noun in case.sides:
        if rows.foreign:
            beyond = f"a class beyond {len(case.labels) - 1}"
            text = f"{plural(rows.foreign, noun)} with {beyond} not scored; the program never says so"
            yield Notice("foreign-class", text, grave=True)
        if rows.early:
            yield Notice("negative-frame", f"{plural(rows.early, noun)} with a negative frame not scored", grave=True)


def _absent(case: Case) -> Iterator[Notice]:
    if case.score.average != "macro" or not case.official:
        return
    rows = case.score.counts.references.sum(axis=0)
    absent = [label for label, count in zip(case.labels, rows, strict=True) if not count]
    if absent:
        text = f"no reference of {listed(absent, 5)}: in the mean over classes each counts with F 0 and LR 0"
        le = ", LE 180" if "LE" in {column.name for column in case.profile.columns} else ""
        yield Notice("absent-classes", text + le, grave=True)


def _row_order(case: Case) -> Iterator[Notice]:
    if shared := case.seen.crowded:
        yield Notice(
            "row-order",
            f"{plural(shared, 'frame')} with several references of one class: the program tells them apart by "
            "the order of their rows, so that another order gives slightly different scores",
        )


def _zero_matches(case: Case) -> Iterator[Notice]:
    if not case.intervals or "LE" not in {column.name for column in case.profile.columns}:
        return
    once = (case.score.counts.matched > 0).sum(axis=0) == 1
    named = [label for label, one in zip(case.labels, once, strict=True) if one]
    if named and case.score.average == "macro" and case.official:
        yield Notice(
            "sentinel-interval",
            f"all matches of {listed(named, 5)} are in one clip: without it LE is set to 180, which "
            "widens and shifts the interval of LE and SELD",
            grave=True,
        )


_CHECKS: tuple[Callable[[Case], Iterator[Notice]], ...] = (
    _chosen, _misread, _swapped, _unused, _folded, _one_clip, _left_out, _empty_references, _horizon, _outside,
    _absent, _row_order, _zero_matches,
)  # fmt: skip
