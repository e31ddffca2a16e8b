"""The tables of a score of energy maps, and what there is to know about it: where program and data lead astray."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from seldio.reports.tables import Cell, Column, Notice, Table, in_order
from seldio.scores.imaging.count import Annotations, Detections, ImagingScore, Precision, tied
from seldio.scores.imaging.profiles import LABEL, LARGEST, PREDICTION, SKIPPED, Average, ImagingProfile, threshold_name
from seldio.scores.signatures import Signature
from seldio.text import listed, plural

MAP = Column("mAP", "mAP", "", 4, "higher", "average precision of energy maps, mean over the IoU thresholds")
R = Column("r", "Pearson r", "", 4, "higher", "correlation of energy in the area of the label, mean over matched pairs")
_REFERENCES = Column("references", "references", "", 0, None, "labels, one for each source and frame")
_DETECTIONS = Column("detections", "detections", "", 0, None, "predicted maps")
_PAIRS = Column("pairs", "pairs", "", 0, None, "pairs that have a Pearson r")


@dataclasses.dataclass(frozen=True)
class MapFacts:
    """Counts of notable rows of a side."""

    rows: int = 0
    scored: int = 0  # with a score
    empty: int = 0  # without a point of energy
    thin: int = 0  # whose polygons all have less than three points
    foreign: int = 0  # of a class that the vocabulary does not have
    distances: int = 0  # above 0

    def __add__(self, other: MapFacts) -> MapFacts:
        return MapFacts(*map(sum, zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)))

    @staticmethod
    def of(side: Annotations, classes: int) -> MapFacts:
        """Return the facts about the rows of a clip."""
        ends = side.polygons[side.rows]
        full = np.flatnonzero(np.diff(ends))
        peaks = np.maximum.reduceat(side.single[:, 2], ends[full]) if len(full) else np.zeros(0)
        owner = np.repeat(np.arange(len(side)), np.diff(side.rows))
        large = np.bincount(owner[np.diff(side.polygons) >= 3], minlength=len(side))
        empty = len(side) - int(np.count_nonzero(peaks > 0))
        thin = int(np.count_nonzero((peaks > 0) & (large[full] == 0)))
        foreign = sum(not 0 <= number < classes for number in side.classes)
        return MapFacts(len(side), len(side) - side.unscored, empty, thin, foreign, side.distances)


@dataclasses.dataclass(frozen=True)
class ImagingCase:
    """A score, with all that tables and notices may look at."""

    profile: ImagingProfile
    average: Average
    score: ImagingScore
    found: Detections  # all detections
    labels: Sequence[str]  # name of each class
    reference: MapFacts
    prediction: MapFacts
    reference_files: tuple[tuple[str, int], ...]  # names and bytes
    prediction_files: tuple[tuple[str, int], ...]
    left_out: tuple[int, int]  # clips not counted, for want of a prediction and for want of a reference
    skipped: tuple[str, ...]  # files of predictions that the program leaves out for their names, and so does the score
    forced: tuple[str, ...]  # errors in the data, which is scored all the same
    by_clip: Mapping[str, ImagingScore]  # where these are wanted
    counted: Mapping[str, Detections]  # what was counted in each clip
    signature: Signature | None = None  # what it rests on

    def labelled(self, test: Callable[[Precision], bool]) -> list[str]:
        """Return the names of the classes that pass."""
        return [label for label, one in zip(self.labels, self.score.classes, strict=True) if test(one)]


# --- tables ------------------------------------------------------------------------------------------------


def score_columns(profile: ImagingProfile) -> tuple[Column, ...]:
    """Return the scores of a profile."""
    aps = (
        Column(threshold_name(t), f"AP@{100 * t:.0f}", "", 4, "higher", f"average precision at an IoU of {t:.2f}")
        for t in profile.thresholds
    )
    return (MAP, *aps, R)


def _cells(score: ImagingScore, average: str) -> tuple[float, ...]:
    values = score.averages[average]
    return (values.mean, *values.aps.tolist(), values.r)


def tables(system: str, case: ImagingCase) -> tuple[Table, ...]:
    """Return all tables of a score, the overall one first."""
    columns, score = score_columns(case.profile), case.score
    found = [Table("overall", "overall", (Column("system", "system"), *columns),
                   ((system, *_cells(score, case.average)),))]  # fmt: skip
    averages: tuple[tuple[Cell, ...], ...] = tuple((name, *_cells(score, name)) for name in score.averages)
    meaning = Column("average", "average", "", 0, None, "macro: mean over classes; micro: all detections together")
    found.append(Table("averages", "by average", (meaning, *columns), averages))
    found.append(_classes(case))
    if case.by_clip:
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (clip, sum(c.references for c in one.classes), *_cells(one, case.average))
            for clip, one in case.by_clip.items()
        )
        found.append(Table("clips", "by clip", (Column("clip", "clip"), _REFERENCES, *columns), rows))
    return tuple(found)


def _classes(case: ImagingCase) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label, one in zip(case.labels, case.score.classes, strict=True):
        if not one.references and not one.detections:
            continue
        rows.append((label, one.references, one.detections, one.mean, *one.aps.tolist(), one.r, one.pairs))
    aps = score_columns(case.profile)[: 1 + len(case.profile.thresholds)]
    columns = (Column("class", "class"), _REFERENCES, _DETECTIONS, *aps, R, _PAIRS)
    return Table("classes", "by class", columns, tuple(rows))


# --- notices -----------------------------------------------------------------------------------------------


def notices(case: ImagingCase) -> tuple[Notice, ...]:
    """Return all that apply: what is to be read before the numbers, then the grave ones."""
    return in_order(notice for check in _CHECKS for notice in check(case))


def _mistakes(case: ImagingCase) -> Iterator[Notice]:
    if case.reference.scored and not case.prediction.scored:
        text = "the reference has scores and the prediction has none: they are probably swapped. Give the labels with "
        yield Notice("reference-is-output", f"{text}--reference", grave=True, first=True)
    for text in case.forced:
        yield Notice("forced", f"scored with errors in the data: {text}", grave=True)
    thin = case.prediction.thin
    if thin > 0.5 * case.prediction.rows:
        yield Notice(
            "single-points",
            f"{thin:,} of {plural(case.prediction.rows, 'detection')} with less than three points in a polygon, drawn "
            "as single pixels: a direction without an energy map, such as one converted from CSV, overlaps with "
            "hardly any label",
            grave=True, first=True,
        )  # fmt: skip


def _files(case: ImagingCase) -> Iterator[Notice]:
    """Files that the program would not find, or not accept; clips that are left out."""
    own, truth = (re.escape(name).replace("X", ".+") for name in (PREDICTION, LABEL))
    if case.skipped:
        text = f"{plural(len(case.skipped), 'file')} of predictions called {SKIPPED} left out, as the program does "
        text += f"silently ({listed(case.skipped, 2)}): it looks for a label {SKIPPED.replace('.json', '_std.json')}. "
        yield Notice("skipped-files", f"{text}Call them {PREDICTION}", grave=True, first=True)
    names = [name for name, _ in case.prediction_files]
    astray = [name for name in names if not re.fullmatch(own, name.rpartition("/")[2]) or name.endswith("_std.json")]
    if astray:
        yield Notice(
            "prediction-names",
            f"{plural(len(astray), 'file')} of predictions not named {PREDICTION} ({listed(astray, 2)}): the program "
            f"looks for a label {LABEL} of the same X, finds none, and leaves the clip out without an error. Here the "
            "files are paired by their clip",
            grave=True,
        )
    unlike = [name for name, _ in case.reference_files if not re.fullmatch(truth, name.rpartition("/")[2])]
    if unlike:
        text = f"{plural(len(unlike), 'file')} of labels not named {LABEL} ({listed(unlike, 2)}): "
        yield Notice("reference-names", f"{text}the program does not find them", grave=True)
    deep = [name for name, _ in case.reference_files if name.count("/") > 1]
    if deep:
        text = f"{plural(len(deep), 'file')} of labels more than one folder deep ({listed(deep, 2)}): the program does "
        yield Notice("deep-labels", f"{text}not find them")
    large = [name for name, size in case.prediction_files if size > LARGEST]
    if large:
        text = (
            f"{plural(len(large), 'file')} of predictions over {LARGEST >> 20} MiB ({listed(large, 2)}): the program "
        )
        yield Notice("large-files", f"{text}ends with an error at the first one, without any score", grave=True)
    missing, surplus = case.left_out
    if surplus:
        yield Notice("surplus-clips", f"{plural(surplus, 'predicted clip')} without reference left out", grave=True)
    if missing:
        text = f"{plural(missing, 'clip')} of the reference without prediction left out, as the program does silently: "
        yield Notice("missing-clips", f"{text}a system that submits only what it does well scores higher", grave=True)


def _rows(case: ImagingCase) -> Iterator[Notice]:
    for side, noun in ((case.reference, "label"), (case.prediction, "detection")):
        if side.foreign:
            text = f"{plural(side.foreign, noun)} of a class beyond {len(case.labels) - 1} not scored; the program "
            yield Notice("foreign-class", f"{text}never says so", grave=True)
        if side.empty:
            text = f"{plural(side.empty, noun)} without a point of energy: an empty map, whose overlap is 0 with any"
            yield Notice("empty-maps", f"{text} other", grave=side.empty > 0.1 * side.rows)
    unscored = case.prediction.rows - case.prediction.scored
    if unscored:
        yield Notice("no-score", f"{plural(unscored, 'detection')} without a score: 0 counts", grave=True)
    if case.reference.distances and case.prediction.distances:
        yield Notice(
            "distance-unused",
            f"both sides have distances, which {case.profile.name} does not look at: the program stopped scoring them "
            "on 18 May",
        )


def _equal(case: ImagingCase) -> Iterator[Notice]:
    groups = [(case.found, "micro")]
    if case.average == "macro":
        groups = [(case.found.of_class(number), "") for number in range(len(case.labels))]
    found = [tied(one, case.profile.thresholds) for one, _ in groups]
    count = sum(one for one, _, _ in found)
    if count:
        ends = []
        for low in (1, 2):
            values = [one[low] for one in found if one[low] == one[low]]
            # classes with labels and no detection
            zeros = sum(c.references > 0 and not c.detections for c in case.score.classes)
            absent = zeros if case.average == "macro" and case.profile.undetected else 0
            ends.append(sum(values) / (len(values) + absent))
        yield Notice(
            "equal-scores",
            f"{plural(count, 'detection')} with the score of another that is right where they are wrong: the program "
            f"sorts them in an order that is left open, so that mAP is anything from {ends[0]:.4f} to {ends[1]:.4f}",
            grave=ends[1] - ends[0] > 0.001,
        )


def _by_class(case: ImagingCase) -> Iterator[Notice]:
    """Yield notices about what means over classes leave out."""
    free = case.labelled(lambda one: not one.references and one.detections > 0)
    if free:
        count = sum(one.detections for one in case.score.classes if not one.references)
        text = (
            f"{plural(count, 'detection')} of {listed(free, 5)}, of which there is no label: they cost nothing in the "
        )
        yield Notice("unlabelled-classes", f"{text}mean over classes", grave=case.average == "macro")
    lost = case.labelled(lambda one: one.references > 0 and not one.detections)
    if lost and not case.profile.undetected and case.average == "macro":
        values = case.score.averages["macro"].mean
        kept = sum(one.references > 0 and one.detections > 0 for one in case.score.classes)
        right = values * kept / (kept + len(lost)) if kept else 0.0
        text = f"no detection of {listed(lost, 5)}: this version leaves the classes out of the mean, so that it pays "
        text += f"to detect nothing. With AP 0 for each, as since 30 June, mAP is {right:.4f}"
        yield Notice("undetected-classes", text, grave=True)
    elif lost:
        text = f"no detection of {listed(lost, 5)}: AP 0 counts for each, and they are not in the mean of Pearson r"
        yield Notice("undetected-classes", text)
    references = sum(one.references for one in case.score.classes)
    if references > case.score.pairs:
        text = (
            f"Pearson r is over {plural(case.score.pairs, 'pair')}, of {plural(references, 'label')}: what is missed "
        )
        yield Notice("pearson-pairs", f"{text}or found elsewhere does not lower it")


def _version(case: ImagingCase) -> Iterator[Notice]:
    if case.profile.name != "dcase2026":
        text = f"{case.profile.program}: {case.profile.changed}; dcase2026 is the current version"
        yield Notice("old-version", text, grave=True)
    if len(case.profile.thresholds) == 3:
        used = ", ".join(f"{value:.2f}" for value in case.profile.thresholds)
        yield Notice("thresholds", f"IoU thresholds are {used}; the program's help still says 0.50:0.05:0.95")


_CHECKS: tuple[Callable[[ImagingCase], Iterator[Notice]], ...] = (
    _mistakes, _files, _rows, _equal, _by_class, _version,
)  # fmt: skip
