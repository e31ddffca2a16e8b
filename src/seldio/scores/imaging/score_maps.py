"""From paths to a report: energy maps of a system against those of labels."""

from __future__ import annotations

import dataclasses
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from seldio.catalogues.parts import Part
from seldio.check.labels import Faults
from seldio.errors import DataError, UsageError
from seldio.files.sources import Place, path_of, reopened
from seldio.findings import raise_errors
from seldio.formats import get as get_format
from seldio.reports.tables import ScoreReport
from seldio.schema.arrays import to_numpy
from seldio.scores.imaging import profiles
from seldio.scores.imaging.count import Annotations, Detections, ImagingScore, paired, scored
from seldio.scores.imaging.profiles import PREDICTION, SKIPPED, Average, ImagingProfile
from seldio.scores.imaging.report import ImagingCase, MapFacts, notices, tables
from seldio.scores.imaging.resampled import with_intervals
from seldio.scores.resampling import Intervals
from seldio.scores.seld.join import Compared, SharedPart, SideLabels, join, reference_labels, settled
from seldio.scores.seld.rows import WORD
from seldio.scores.seld.scoring import by_clip
from seldio.scores.signatures import Signature, of_labels
from seldio.text import plural, printable
from seldio.vocabularies import vocabulary


@dataclasses.dataclass(frozen=True)
class ImagingOptions:
    """How energy maps are scored."""

    profile: str | None = None  # name of the version; that of the labels' dataset by default
    average: Average | None = None  # macro or micro; the profile's first by default
    by_clip: bool = False  # with the scores of each clip
    intervals: Intervals | None = None  # with 95 % confidence intervals, by bootstrap alone
    split: str | None = None  # score the clips of this split of the reference alone
    allow_missing: bool = False  # score the clips that have a prediction and a reference where others lack one
    force: bool = False  # score labels and predictions in which there are errors too


def score_maps(
    predictions: Place,
    reference: Place,
    options: ImagingOptions | None = None,
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
    options = options or ImagingOptions()
    case = scored_maps(predictions, reference, options, format, reference_format)
    report = report_of(path_of(predictions), case)
    if options.intervals is None:
        return report
    if options.intervals.jackknife:
        raise UsageError("--intervals jackknife does not apply to energy maps; choose bootstrap")
    return with_intervals(report, case, options.intervals.resampling)


def report_of(system: str, case: ImagingCase) -> ScoreReport:
    """Return the report on a case."""
    profile = case.profile
    settings = {"average": case.average, "iou": ", ".join(f"{value:g}" for value in profile.thresholds),
                "program": profile.program}  # fmt: skip
    over = f"{plural(len(case.counted), 'clip')}, {len(case.labels)} classes, {case.average} average"
    return ScoreReport(
        system, profile.name, profile.title, over, tables(system, case), notices(case), settings,
        str(case.signature or ""), lead=profile.lead,
    )  # fmt: skip


def verified(known: Signature, predictions: Place, reference: Place, **formats: str | None) -> Signature:
    """Return the signature of the files at hand, read as a score with the signature *known* reads them."""
    asked: Any = {"split": known.options.get("split")}
    asked |= {name: name in known.options for name in ("allow_missing", "force")}
    case = scored_maps(predictions, reference, ImagingOptions(profile=known.profile, **asked), **formats)
    assert case.signature is not None
    return case.signature


def scored_maps(
    predictions: Place, reference: Place, options: ImagingOptions, format: str | None = None,
    reference_format: str | None = None,
) -> ImagingCase:  # fmt: skip
    """Return the scores of a system, and all that is to be said about them; see :func:`score_maps`."""
    profile = profiles.get(options.profile or profiles.PROFILES[0].name)
    average = options.average or profile.averages[0]
    if average not in profile.averages:
        raise UsageError(f"{profile.name} has no {average} average, only {', '.join(profile.averages)}")
    layout, reference_layout = (None if name is None else get_format(name) for name in (format, reference_format))
    with reopened(reference, raise_errors) as labels, reopened(predictions, raise_errors) as outputs:
        truth = reference_labels(labels, reference_layout, options.split)
        compared = join(truth, outputs, layout, allow_missing=options.allow_missing)
        for side, path in ((compared.reference, reference), (compared.prediction, predictions)):
            if "segmentation" not in side.fields:
                raise UsageError(
                    f"{printable(path_of(path))} is {side.layout.name}, which has no energy maps, and {profile.name} "
                    "scores nothing else. To score directions against directions, name a profile of labels, such as "
                    "dcase2023"
                )
        compared, skipped = _without_skipped(compared, profile)
        classes = vocabulary(profile.vocabulary)
        work = MapCounting(len(classes))
        found = sum(compared.each(work, "scoring"), start=MapsCounted())
        sides = (compared.reference, found.wrong), (compared.prediction, found.amiss)
        forced = settled(sides, options.force)
    score = found.score(profile, len(classes))
    by_clip = {}
    if options.by_clip:
        by_clip = {clip: MapsCounted((one,)).score(profile, len(classes))
                   for clip, one in zip(compared.clips, found.clips, strict=True)}  # fmt: skip
    return ImagingCase(
        profile, average, score, found.detections(len(classes)), [classes.label(n) for n in range(len(classes))],
        found.reference, found.prediction, _files(truth), _files(compared.prediction), compared.left_out,
        skipped, tuple(map(str, forced)), by_clip, dict(zip(compared.clips, found.clips, strict=True)),
        of_labels(profile.name, {name: getattr(options, name) for name in _SIGNED}, found.digests),
    )  # fmt: skip


def _without_skipped(compared: Compared, profile: ImagingProfile) -> tuple[Compared, tuple[str, ...]]:
    """The comparison without the predictions that the program skips for their names, and the names of these files.

    Raises:
        DataError: it skips all of them.
    """
    side = compared.prediction
    named = {clip: name for clip, (name, _) in side.files.items()} if isinstance(side.held, Part) else {}
    ending = SKIPPED.removeprefix("X")
    skipped = [clip for clip in compared.clips if named.get(clip, "").endswith(ending)]
    if skipped and len(skipped) == len(compared.clips):
        raise DataError(
            f"all {plural(len(skipped), 'file')} of predictions are called {SKIPPED}: the program of {profile.name} "
            f"leaves them out, since it looks for labels called {SKIPPED.replace('.json', '_std.json')}: nothing "
            f"is left to score. Call them {PREDICTION}"
        )
    left = [clip for clip in compared.clips if clip not in set(skipped)]
    return compared._replace(clips=left), tuple(named[clip] for clip in skipped)


def _files(side: SideLabels) -> tuple[tuple[str, int], ...]:
    part = side.held
    return tuple((file.entry.name, file.entry.size) for file in part.files) if isinstance(part, Part) else ()


# --- counting, a part after the other ---------------------------------------------------------------


#: Options that shape the numbers of a score, as its signature has them.
_SIGNED = ("average", "split", "allow_missing", "force")


def digest_of_maps(clip: str, table: pa.Table | None) -> int:
    """Return a digest of a clip's rows with their maps, in any order; see :func:`seldio.scores.seld.rows.digest`."""
    name = clip.rpartition("/")[2].encode("utf-8", "surrogatepass") + b"\0"
    total = int.from_bytes(sha256(name).digest()[:8], "little")
    if table is None or not table.num_rows:
        return total & WORD
    fields = [name for name in _MARKED if name in table.column_names]
    columns = np.stack([np.round(np.asarray(to_numpy(table[field]), np.float64), 6) + 0.0 for field in fields], axis=1)
    maps = table["segmentation"].combine_chunks()
    starts, inner = to_numpy(maps.offsets), maps.values
    while pa.types.is_list(inner.type):
        starts, inner = to_numpy(inner.offsets)[starts], inner.values
    values = np.asarray(to_numpy(inner), np.float64)
    for row, (start, stop) in enumerate(pairwise(starts.tolist())):
        text = name + columns[row].tobytes() + values[start:stop].tobytes()
        total += int.from_bytes(sha256(text).digest()[:8], "little")
    return total & WORD


#: Columns of a map's row.
_MARKED = ("frame", "class_id", "source", "azimuth", "elevation", "distance", "score")


@dataclasses.dataclass(frozen=True)
class MapsCounted:
    """The counts of some clips; parts add up in the order of their clips."""

    clips: tuple[Detections, ...] = ()
    reference: MapFacts = dataclasses.field(default_factory=MapFacts)  # what is notable about the labels
    prediction: MapFacts = dataclasses.field(default_factory=MapFacts)
    wrong: Faults = dataclasses.field(default_factory=Faults)  # errors in labels
    amiss: Faults = dataclasses.field(default_factory=Faults)  # errors in predictions
    digests: tuple[int, int] = (0, 0)  # of the rows of both sides

    def __add__(self, other: MapsCounted) -> MapsCounted:
        return MapsCounted(
            self.clips + other.clips, self.reference + other.reference, self.prediction + other.prediction,
            self.wrong + other.wrong, self.amiss + other.amiss,
            ((self.digests[0] + other.digests[0]) & WORD, (self.digests[1] + other.digests[1]) & WORD),
        )  # fmt: skip

    def detections(self, classes: int) -> Detections:
        """Return all detections in the program's order."""
        return Detections.joined(self.clips, classes)

    def score(self, profile: ImagingProfile, classes: int) -> ImagingScore:
        """Return the scores."""
        return scored(self.detections(classes), profile.thresholds, undetected=profile.undetected)


@dataclasses.dataclass(frozen=True)
class MapCounting:
    """The work on a part."""

    classes: int  # how many the vocabulary has

    def __call__(self, part: SharedPart) -> MapsCounted:
        """Return the counts of *part*.

        Raises:
            InvalidData: something in a file is wrong.
        """
        (labels, wrong), (outputs, amiss) = part.first.rows(), part.second.rows()
        references, predictions = by_clip(labels), by_clip(outputs)
        total = MapsCounted(wrong=wrong, amiss=amiss)
        for clip in part.clips:
            a, b = references.get(clip), predictions.get(clip)
            sides = Annotations(a), Annotations(b)
            of_labels, of_detections = (MapFacts.of(side, self.classes) for side in sides)
            signed = digest_of_maps(clip, a), digest_of_maps(clip, b)
            pairs = (paired(*sides, self.classes),)
            total += MapsCounted(pairs, of_labels, of_detections, digests=signed)
        return total
