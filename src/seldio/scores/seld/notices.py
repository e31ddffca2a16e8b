"""What there is to know about a SELD score: where the official program and the data lead astray."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from seldio.scores.result import Notice
from seldio.scores.seld.measures import FOLDED
from seldio.scores.seld.profiles import Profile
from seldio.scores.seld.scoring import SeldScore
from seldio.scores.seld.sides import Ints, Side
from seldio.text import listed, plural


@dataclasses.dataclass(frozen=True)
class Case:
    """What a notice may look at.

    Args:
        profile: of the score.
        score: itself.
        reference: rows that were given.
        prediction: likewise.
        lengths: label frames of each clip that count.
        labels: name of each class.
        layout: of the prediction.
        reference_layout: of the reference.
        left_out: clips that were not counted, for want of a prediction and for want of a reference.
        intervals: whether confidence intervals are shown.
    """

    profile: Profile
    score: SeldScore
    reference: Side
    prediction: Side
    lengths: Ints
    labels: Sequence[str]
    layout: str
    reference_layout: str = ""
    left_out: tuple[int, int] = (0, 0)
    intervals: bool = False

    @property
    def official(self) -> bool:
        """Whether the score stands for that of a program."""
        return self.profile.horizon != "all"


def notices(case: Case) -> tuple[Notice, ...]:
    """All that apply, the grave ones first."""
    found = [notice for check in _CHECKS for notice in check(case)]
    return tuple(sorted(found, key=lambda notice: not notice.grave))


def _misread(case: Case) -> Iterator[Notice]:
    if sentence := case.profile.misread.get(case.layout):
        text = f"the prediction is {case.layout}, which seldio reads for what it is; {sentence}"
        yield Notice("misread", text, grave=True)


def _swapped(case: Case) -> Iterator[Notice]:
    if case.reference_layout.endswith(("-output", "-submission")):
        text = f"the reference is {case.reference_layout}, what systems write: make sure that the two are not swapped"
        yield Notice("reference-is-output", text, grave=True)


def _one_clip(case: Case) -> Iterator[Notice]:
    if case.intervals and len(case.lengths) < 2:
        yield Notice("one-clip", "intervals by leaving out one clip at a time need two clips or more: there are none")


def _unused(case: Case) -> Iterator[Notice]:
    """What both sides say and the profile does not look at, or cannot."""
    sides = [side for side in (case.reference, case.prediction) if len(side)]
    if case.profile.measure is not FOLDED and any(side.elevation is None for side in sides):
        text = "labels without elevation (stereo) are scored as if all were 0; dcase2025 is the profile for them"
        yield Notice("no-elevation", text, grave=True)
    elif "distance" not in case.profile.needs and len(sides) == 2 and all(side.distance is not None for side in sides):
        yield Notice("distance-unused", "both sides have distances, which only dcase2024 and dcase2025 look at")


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
    there = np.bincount(case.reference.clip, minlength=len(case.lengths)) > 0
    empty = int((~there).sum())
    if not empty or not case.official:
        return
    if case.profile.name == "dcase2025":
        alarms = int((~there[case.prediction.clip]).sum())
        text = f"{plural(empty, 'clip')} without labels: the {plural(alarms, 'prediction')} in them cost nothing"
        yield Notice("empty-reference", text, grave=alarms > 0)
    elif isinstance(case.profile.horizon, str):
        text = f"{plural(empty, 'clip')} without labels: the official program ends with ValueError, here they count 0"
        yield Notice("empty-reference", text)


def _horizon(case: Case) -> Iterator[Notice]:
    if not case.official:
        return
    step = 10 if case.profile.horizon == "last-second" else 1
    ends = -(-case.lengths // step) * step
    for side, noun in ((case.reference, "reference row"), (case.prediction, "predicted row")):
        beyond = int((side.frame >= ends[side.clip]).sum())
        if beyond:
            text = (
                f"{plural(beyond, noun)} not scored: the program counts frames only {_HORIZONS[case.profile.horizon]}"
            )
            yield Notice("last-frame", text)


_HORIZONS = {
    "last-second": "up to the second of the last labelled frame, and not that frame where it is a multiple of 10",
    "before-last": "before the last labelled one, which is never scored",
    600: "below 600 (60 s)",
}


def _outside(case: Case) -> Iterator[Notice]:
    for side, noun in ((case.reference, "reference row"), (case.prediction, "predicted row")):
        foreign = int(((side.class_id < 0) | (side.class_id >= len(case.labels))).sum())
        if foreign:
            beyond = f"a class beyond {len(case.labels) - 1}"
            text = f"{plural(foreign, noun)} with {beyond} not scored; the program never says so"
            yield Notice("foreign-class", text, grave=True)
        early = int((side.frame < 0).sum())
        if early:
            yield Notice("negative-frame", f"{plural(early, noun)} with a negative frame not scored", grave=True)


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
    if not case.official or case.profile.horizon not in ("last-second", 600):
        return
    side = case.reference
    keys = (side.clip * (int(side.frame.max(initial=0)) + 1) + side.frame) * (len(case.labels) + 1) + side.class_id
    _, many = np.unique(keys, return_counts=True)
    shared = int((many > 1).sum())
    if shared:
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
    _misread, _swapped, _unused, _one_clip, _left_out, _empty_references, _horizon, _outside, _absent, _row_order,
    _zero_matches,
)  # fmt: skip
