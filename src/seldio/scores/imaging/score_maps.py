"""Score energy maps: from paths to a report, its tables, and where program and data lead astray."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from hashlib import sha256
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from seldio.catalogues.parts import Part
from seldio.check.labels import settle
from seldio.errors import DataError, UsageError
from seldio.files.sources import Place, path_of, reopened
from seldio.findings import raise_errors
from seldio.formats import LabelReading
from seldio.formats import get as get_format
from seldio.geometry import Ints
from seldio.parallel import parallel_map
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, counted, in_order
from seldio.schema.arrays import to_numpy
from seldio.scores.imaging.maps import (
    AVERAGES,
    PROFILE,
    PROGRAM,
    THRESHOLDS,
    Annotations,
    Detections,
    MapScores,
    paired,
)
from seldio.scores.resampling import (
    ENOUGH,
    FEWEST,
    Intervals,
    Over,
    interval,
    interval_cells,
    resampled,
    units_of,
)
from seldio.scores.scorers import MAPS
from seldio.scores.seld.counting import WORD
from seldio.scores.seld.join import SharedPart, join, reference_labels, rows_of, shared_parts
from seldio.scores.seld.score_labels import ClipOptions
from seldio.scores.seld.scoring import by_clip
from seldio.scores.signatures import Signature, signature
from seldio.text import listed, plural, printable
from seldio.vocabularies import vocabulary

_R = Column(
    "r", "Pearson r", "", 4, "higher", "correlation of energy in the area of the label, mean over matched pairs"
)
#: The scores: mAP, which decides in a comparison, AP at each threshold, and Pearson r.
SCORES: tuple[Column, ...] = (
    Column("mAP", "mAP", "", 4, "higher", "average precision of energy maps, mean over the IoU thresholds"),
    *(
        Column(f"AP{100 * t:.0f}", f"AP@{100 * t:.0f}", "", 4, "higher", f"average precision at an IoU of {t:.2f}")
        for t in THRESHOLDS
    ),
    _R,
)
_REFERENCES = Column("references", "references", "", 0, None, "labels, one for each source and frame")
_DETECTIONS = Column("detections", "detections", "", 0, None, "predicted maps")
_PAIRS = Column("pairs", "pairs", "", 0, None, "pairs that have a Pearson r")
#: How the program pairs files: a prediction and a label of the clip ``X``; what the first version called predictions,
#: for which it finds no label, so that it leaves them out; and the bytes of a file of predictions at which it ends.
PREDICTION, SKIPPED, LARGEST = "X.json", "X_inference.json", 20 << 20


@dataclasses.dataclass(frozen=True)
class ImagingCase:
    """A score, with all that tables and notices may look at."""

    score: MapScores
    labels: Sequence[str]  # name of each class
    reference: Counter[str]  # how many rows are notable, and why
    prediction: Counter[str]
    files: Sequence[tuple[str, int]]  # names and bytes of the predictions
    left_out: tuple[int, int]  # clips not counted, for want of a prediction and for want of a reference
    skipped: list[str]  # files of predictions that the program leaves out for their names, and so does the score
    forced: Sequence[str]  # errors in the data, which is scored all the same
    by_clip: bool  # whether the scores of each clip are shown
    signature: Signature

    @cached_property
    def references(self) -> Ints:
        """Return how many labels each class has."""
        return np.asarray(self.score.references.sum(axis=0).astype(np.int64))

    @cached_property
    def detections(self) -> Ints:
        """Return how many detections of each class there are."""
        return np.bincount(self.score.class_id, minlength=len(self.labels))

    def report(self, system: str) -> ScoreReport:
        """Return the report on this score."""
        score, whole = self.score, np.ones((1, len(self.score.clips)))
        averages: tuple[tuple[Cell, ...], ...] = tuple(
            (name, *MapScores(score.detections, name).scores(whole)[0].tolist()) for name in AVERAGES
        )
        meaning = Column("average", "average", "", 0, None, "macro: mean over classes; micro: all detections together")
        counts = zip(self.labels, self.references.tolist(), self.detections.tolist(), strict=True)
        numbers = zip(score.by_class(whole)[0].tolist(), score.pairs.sum(axis=0).astype(int).tolist(), strict=True)
        classes = [(*row, *values, pairs) for row, (values, pairs) in zip(counts, numbers, strict=True) if any(row[1:])]
        heads = (Column("class", "class"), _REFERENCES, _DETECTIONS, *SCORES, _PAIRS)
        overall = ((system, *score.scores(whole)[0].tolist()),)
        tables = [
            Table("overall", "overall", (Column("system", "system"), *SCORES), overall),
            Table("averages", "by average", (meaning, *SCORES), averages),
            Table("classes", "by class", heads, tuple(classes)),
        ]
        if self.by_clip:
            each = zip(score.clips, score.references_by_clip.tolist(), score.alone().tolist(), strict=True)
            rows = tuple((clip, count, *values) for clip, count, values in each)
            tables.append(Table("clips", "by clip", (Column("clip", "clip"), _REFERENCES, *SCORES), rows))
        thresholds = ", ".join(f"{value:g}" for value in THRESHOLDS)
        over = f"{plural(len(score.clips), 'clip')}, {len(self.labels)} classes, {score.average} average"
        return ScoreReport(
            system,
            PROFILE,
            MAPS[PROFILE],
            over,
            tuple(tables),
            self.notices(),
            {"average": score.average, "iou": thresholds, "program": PROGRAM},
            str(self.signature),
            lead=SCORES[0].name,
        )

    def notices(self) -> tuple[Notice, ...]:
        """Return the notices that apply: first those to read before the numbers, then the grave ones."""
        return in_order(_notices(self))

    def with_bootstrap(self, system: str, draw: Intervals) -> ScoreReport:
        """Return the report with bootstrap intervals of the overall scores.

        Raises:
            UsageError: a clip has no room.
        """
        report, unit_of = self.report(system), units_of(self.score.clips, draw.over)
        units, support = int(unit_of.max()) + 1, self.score.support(draw.over)[:, 0]
        ends = interval(resampled(self.score, draw, unit_of), units)
        values = self.score.scores(np.ones((1, len(self.score.clips))))[0]
        cells = interval_cells(values, *ends, support >= FEWEST, self.score.weak(draw.over))
        title = f"overall, 95 % confidence intervals by bootstrap over {draw.over}"
        table = dataclasses.replace(report.tables[0], title=title, rows=((system, *cells),))
        about = [*report.notices, *self.unsure(draw.over)]
        if support[0] < FEWEST:
            text = f"{units:,} {draw.over} ({support[0]:.1f} in effect) are too few to generalize from: "
            about.append(Notice("few-units", f"{text}the bounds of intervals are only in JSON and CSV", grave=True))
        return dataclasses.replace(report, tables=(table, *report.tables[1:]), notices=in_order(about))

    def unsure(self, over: Over) -> Iterator[Notice]:
        """Yield whether resamples can be without classes, which moves the mean over classes, or clips are few."""
        support, few = float(self.score.support(over)[0, 0]), self.score.few_classes(over)
        if few and support >= FEWEST:
            text = (
                f"* {plural(few, 'class', 'classes')} in fewer than {FEWEST} {over} in effect: resamples without them "
                "leave them out of the mean, and detections of them cost nothing there, so that intervals of AP lie "
                "too high. --average micro is less affected"
            )
            yield Notice("few-clips", text, grave=True)
        elif FEWEST <= support < ENOUGH:
            yield Notice("weak-intervals", f"* {support:.1f} {over} in effect: read intervals as those of 90 %")


# --- notices -----------------------------------------------------------------------------------------------


def _notices(case: ImagingCase) -> Iterator[Notice]:
    """Yield all that apply."""
    given = case.prediction
    if case.reference["rows"] > case.reference["unscored"] and given["rows"] == given["unscored"]:
        text = "the reference has scores and the prediction has none: they are probably swapped. Give the labels with "
        yield Notice("reference-is-output", f"{text}--reference", grave=True, first=True)
    for text in case.forced:
        yield Notice("forced", f"scored with errors in the data: {text}", grave=True)
    if given["thin"] > 0.5 * given["rows"]:
        text = (
            f"{given['thin']:,} of {plural(given['rows'], 'detection')} with less than three points in a polygon, "
            "drawn as single pixels: a direction without an energy map, such as one converted from CSV, overlaps with "
            "hardly any label"
        )
        yield Notice("single-points", text, grave=True, first=True)
    yield from _about_files(case)
    for rows, noun in ((case.reference, "label"), (given, "detection")):
        text = f"of a class beyond {len(case.labels) - 1} not scored; the program never says so"
        yield from counted("foreign-class", rows["foreign"], noun, text, True)
        text = "without a point of energy: an empty map, whose overlap is 0 with any other"
        yield from counted("empty-maps", rows["empty"], noun, text, rows["empty"] > 0.1 * rows["rows"])
    yield from counted("no-score", given["unscored"], "detection", "without a score: 0 counts", True)
    score, macro = case.score, case.score.average == "macro"
    low, high = score.bounds()
    if low < high:
        ranked = np.column_stack((score.class_id if macro else np.zeros(len(score.clip)), score.score))
        _, many = np.unique(ranked, axis=0, return_counts=True)
        text = (
            f"{plural(int(many[many > 1].sum()), 'detection')} with the score of another one: the program leaves their "
            f"order open, so that mAP is anything from {low:.4f} to {high:.4f}"
        )
        yield Notice("equal-scores", text, grave=high - low > 0.001)
    unlabelled = (case.references == 0) & (case.detections > 0)
    if unlabelled.any():
        detections = plural(int(case.detections[unlabelled].sum()), "detection")
        names = listed([label for label, chosen in zip(case.labels, unlabelled, strict=True) if chosen], 5)
        text = f"{detections} of {names}, of which there is no label: they cost nothing in the mean over classes"
        yield Notice("unlabelled-classes", text, grave=macro)
    undetected = (case.references > 0) & (case.detections == 0)
    if undetected.any():
        names = listed([label for label, chosen in zip(case.labels, undetected, strict=True) if chosen], 5)
        text = f"no detection of {names}: AP 0 counts for each, and they are not in the mean of Pearson r"
        yield Notice("undetected-classes", text)


def _about_files(case: ImagingCase) -> Iterator[Notice]:
    """Yield notices on files that the program would not find, or not accept, and on clips that are left out."""
    if case.skipped:
        text = f"{plural(len(case.skipped), 'file')} of predictions called {SKIPPED} left out, as the program does "
        text += f"silently ({listed(case.skipped, 2)}): it looks for a label {SKIPPED.replace('.json', '_std.json')}. "
        yield Notice("skipped-files", f"{text}Call them {PREDICTION}", grave=True, first=True)
    named = re.compile(re.escape(PREDICTION).replace("X", ".+"))
    astray = [
        name for name, _ in case.files if not named.fullmatch(name.rpartition("/")[2]) or name.endswith("_std.json")
    ]
    if astray:
        text = (
            f"{plural(len(astray), 'file')} of predictions not named {PREDICTION} ({listed(astray, 2)}): the program "
            "looks for a label X_std.json of the same X, finds none, and leaves the clip out without an error. Here "
            "the files are paired by their clip"
        )
        yield Notice("prediction-names", text, grave=True)
    if large := [name for name, size in case.files if size > LARGEST]:
        text = f"{plural(len(large), 'file')} of predictions over {LARGEST >> 20} MiB ({listed(large, 2)}): the "
        yield Notice("large-files", f"{text}program ends with an error at the first one, without any score", grave=True)
    missing, surplus = case.left_out
    yield from counted("surplus-clips", surplus, "predicted clip", "without reference left out", True)
    text = "of the reference without prediction left out, as the program does silently: a system that submits only "
    yield from counted("missing-clips", missing, "clip", f"{text}what it does well scores higher", True)


def score_maps(
    predictions: Place,
    reference: Place,
    options: ClipOptions | None = None,
    *,
    format: str | None = None,
    reference_format: str | None = None,
) -> ScoreReport:
    """Score energy maps against those of labels.

    Clips are read and counted where :func:`seldio.running` says; of each, only numbers for its detections are kept.

    Raises:
        InvalidData: something in the files is wrong.
        UsageError: an option makes no sense, or a side has no energy maps.
        DataError: clips have no prediction, or no reference.
    """
    options = options or ClipOptions()
    case = scored_maps(predictions, reference, options, format, reference_format)
    if options.intervals is None:
        return case.report(path_of(predictions))
    if options.intervals.jackknife:
        raise UsageError("--intervals jackknife does not apply to energy maps; choose bootstrap")
    return case.with_bootstrap(path_of(predictions), options.intervals)


def scored_maps(
    predictions: Place,
    reference: Place,
    options: ClipOptions,
    format: str | None = None,
    reference_format: str | None = None,
) -> ImagingCase:
    """Return the scores of a system, and all that is to be said about them; see :func:`score_maps`."""
    average = options.average or AVERAGES[0]
    if average not in AVERAGES:
        raise UsageError(f"{PROFILE} has no {average} average, only {', '.join(AVERAGES)}")
    layout, reference_layout = (None if name is None else get_format(name) for name in (format, reference_format))
    classes = vocabulary("starss")
    with reopened(reference, raise_errors) as labels, reopened(predictions, raise_errors) as outputs:
        truth = reference_labels(labels, reference_layout, options.split)
        compared = join(truth, outputs, layout, allow_missing=options.allow_missing)
        for side, path in ((truth, reference), (compared.prediction, predictions)):
            if "segmentation" not in side.fields:
                raise UsageError(
                    f"{printable(path_of(path))} is {side.layout.name}, which has no energy maps, and {PROFILE} scores "
                    "nothing else. To score directions against directions, name a profile of labels, such as dcase2023"
                )
        held = compared.prediction.held
        files = {file.clip: file.entry for file in held.files} if isinstance(held, Part) else {}
        ending = SKIPPED.removeprefix("X")
        skipped = {clip: files[clip].name for clip in compared.clips if clip in files}
        skipped = {clip: name for clip, name in skipped.items() if name.endswith(ending)}
        if skipped and len(skipped) == len(compared.clips):
            raise DataError(
                f"all {plural(len(skipped), 'file')} of predictions are called {SKIPPED}: the program of {PROFILE} "
                f"leaves them out, since it looks for labels called {SKIPPED.replace('.json', '_std.json')}: nothing "
                f"is left to score. Call them {PREDICTION}"
            )
        scored = [clip for clip in compared.clips if clip not in skipped]
        shared = shared_parts(truth, compared.prediction, scored)
        # what is packed would be unpacked anew by other processes
        here = any(isinstance(side.held, Part) and side.held.packed for side in (truth, compared.prediction))
        work = partial(_counted, len(classes))
        parts = [*parallel_map(work, shared, what="scoring", size=attrgetter("size"), here=here)]
        errors = settle([*truth.readings, *chain(*(read for _, read, _ in parts))], options.force)
        errors += settle([*compared.prediction.readings, *chain(*(read for *_, read in parts))], options.force)
    clips = [clip for of_part, *_ in parts for clip in of_part]
    first, second = (sum(clip.digests[side] for clip in clips) & WORD for side in (0, 1))
    return ImagingCase(
        MapScores({name: clip.detections for name, clip in zip(scored, clips, strict=True)}, average),
        [classes.label(number) for number in range(len(classes))],
        sum((clip.reference for clip in clips), Counter()),
        sum((clip.prediction for clip in clips), Counter()),
        [(entry.name, entry.size) for entry in files.values()],
        compared.left_out,
        [*skipped.values()],
        [str(error) for error in errors],
        options.by_clip,
        signature(PROFILE, {name: getattr(options, name) for name in _SIGNED}, first, second),
    )


#: Options that shape the numbers of a score, as its signature has them.
_SIGNED = ("average", "split", "allow_missing", "force")


# --- counting, a part after the other ---------------------------------------------------------------


class CountedClip(NamedTuple):
    """A clip, without its maps."""

    detections: Detections
    reference: Counter[str]  # how many of its labels are notable, and why
    prediction: Counter[str]
    digests: tuple[int, int]  # of the rows of both sides


#: Columns of a map's row, as its digest has them.
_MARKED = ("frame", "class_id", "source", "azimuth", "elevation", "distance", "score")


def _counted(classes: int, part: SharedPart) -> tuple[list[CountedClip], list[LabelReading], list[LabelReading]]:
    """Count the clips of a part; return what was read of both sides too.

    Raises:
        InvalidData: something in a file is wrong.
    """
    (labels, read), (outputs, outputs_read) = rows_of(part.first), rows_of(part.second)
    tables, clips = (by_clip(labels), by_clip(outputs)), []
    for clip in part.clips:
        name = clip.rpartition("/")[2].encode("utf-8", "surrogatepass") + b"\0"
        sides, facts, digests = [], [], []
        for table in (side.get(clip) for side in tables):
            side = Annotations(table)
            ends = side.polygons[side.rows]
            full = np.flatnonzero(np.diff(ends))
            peaks = np.maximum.reduceat(side.single[:, 2], ends[full]) if len(full) else np.zeros(0)
            owner = np.repeat(np.arange(len(side)), np.diff(side.rows))
            large = np.bincount(owner[np.diff(side.polygons) >= 3], minlength=len(side))
            sides.append(side)
            facts.append(
                Counter(
                    rows=len(side),
                    unscored=side.unscored,
                    empty=len(side) - int(np.count_nonzero(peaks > 0)),
                    thin=int(np.count_nonzero((peaks > 0) & (large[full] == 0))),
                    foreign=sum(not 0 <= number < classes for number in side.classes),
                )
            )
            # of the rows with their maps, in any order; see counting.digest
            total = int.from_bytes(sha256(name).digest()[:8], "little")
            columns = [] if table is None else [table[field] for field in _MARKED if field in table.column_names]
            numbers = [np.round(np.asarray(to_numpy(column), np.float64), 6) + 0.0 for column in columns]
            for row, values in enumerate(zip(*numbers, strict=True)):
                points, stops = side.shape(row)
                text = name + np.array([*values, *stops]).tobytes() + points.tobytes()
                total += int.from_bytes(sha256(text).digest()[:8], "little")
            digests.append(total & WORD)
        (a, b), (label_facts, facts_of_detections), (first, second) = sides, facts, digests
        clips.append(CountedClip(paired(a, b, classes), label_facts, facts_of_detections, (first, second)))
    return clips, read, outputs_read
