"""From paths to a report: energy maps of a system against those of labels."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

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
from seldio.scores.imaging.count import AVERAGES, PROFILE, Annotations, Average, Detections, MapScores, paired
from seldio.scores.imaging.report import PREDICTION, SKIPPED, ImagingCase, facts_of
from seldio.scores.resampling import Intervals, Resampling
from seldio.scores.seld.join import SharedPart, join, reference_labels, rows_of, settled
from seldio.scores.seld.rows import WORD
from seldio.scores.seld.scoring import by_clip
from seldio.scores.signatures import of_labels
from seldio.text import plural, printable
from seldio.vocabularies import vocabulary


@dataclasses.dataclass(frozen=True)
class ImagingOptions:
    """How energy maps are scored."""

    profile: str | None = None  # of energy maps there is one
    average: Average | None = None  # macro or micro; macro by default
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
    if options.intervals is None:
        return case.report(path_of(predictions))
    if options.intervals.jackknife:
        raise UsageError("--intervals jackknife does not apply to energy maps; choose bootstrap")
    return case.with_bootstrap(path_of(predictions), options.intervals.resampling)


def compare_maps(
    systems: Sequence[Place], reference: Place, options: ImagingOptions, draw: Resampling, *, format: str | None = None,
    reference_format: str | None = None, **shown: Any,
) -> ScoreReport:  # fmt: skip
    """Compare the energy maps of systems with those of labels; see :func:`.clips.compare_clips`."""
    from seldio.scores.comparison.clips import compare_clips

    formats = format, reference_format
    return compare_clips(systems, lambda path: scored_maps(path, reference, options, *formats), draw, **shown)


def scored_maps(
    predictions: Place, reference: Place, options: ImagingOptions, format: str | None = None,
    reference_format: str | None = None,
) -> ImagingCase:  # fmt: skip
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
        skipped = _skipped(compared.clips, {clip: entry.name for clip, entry in files.items()})
        compared = compared._replace(clips=[clip for clip in compared.clips if clip not in skipped])
        parts = [*compared.each(partial(_counted, len(classes)), "scoring")]
        wrong, amiss = (sum(faults, start=Faults()) for faults in zip(*(part[1:] for part in parts), strict=True))
        forced = [str(error) for error in settled([(truth, wrong), (compared.prediction, amiss)], options.force)]
    clips = [clip for counted, *_ in parts for clip in counted]
    digests = sum(clip.digests[0] for clip in clips) & WORD, sum(clip.digests[1] for clip in clips) & WORD
    return ImagingCase(
        MapScores({name: clip.detections for name, clip in zip(compared.clips, clips, strict=True)}, average),
        [classes.label(number) for number in range(len(classes))],
        sum((clip.reference for clip in clips), Counter()),
        sum((clip.prediction for clip in clips), Counter()),
        [(entry.name, entry.size) for entry in files.values()],
        compared.left_out,
        [*skipped.values()],
        forced,
        options.by_clip,
        of_labels(PROFILE, {name: getattr(options, name) for name in _SIGNED}, digests),
    )


#: Options that shape the numbers of a score, as its signature has them.
_SIGNED = ("average", "split", "allow_missing", "force")


def _skipped(clips: list[str], names: dict[str, str]) -> dict[str, str]:
    """Return the files of predictions that the program skips for their names, by clip.

    Raises:
        DataError: it skips all of them.
    """
    ending = SKIPPED.removeprefix("X")
    skipped = {clip: names[clip] for clip in clips if names.get(clip, "").endswith(ending)}
    if skipped and len(skipped) == len(clips):
        raise DataError(
            f"all {plural(len(skipped), 'file')} of predictions are called {SKIPPED}: the program of {PROFILE} leaves "
            f"them out, since it looks for labels called {SKIPPED.replace('.json', '_std.json')}: nothing is left to "
            f"score. Call them {PREDICTION}"
        )
    return skipped


# --- counting, a part after the other ---------------------------------------------------------------


class CountedClip(NamedTuple):
    """A clip, without its maps."""

    detections: Detections
    reference: Counter[str]  # what is notable about its labels, see :func:`~seldio.scores.imaging.report.facts_of`
    prediction: Counter[str]
    digests: tuple[int, int]  # of the rows of both sides


def _counted(classes: int, part: SharedPart) -> tuple[list[CountedClip], Faults, Faults]:
    """Count the clips of a part; return the errors of both sides too.

    Raises:
        InvalidData: something in a file is wrong.
    """
    (labels, wrong), (outputs, amiss) = rows_of(part.first), rows_of(part.second)
    references, predictions = by_clip(labels), by_clip(outputs)
    found = []
    for clip in part.clips:
        tables = references.get(clip), predictions.get(clip)
        a, b = map(Annotations, tables)
        digests = digest_of_maps(clip, tables[0], a), digest_of_maps(clip, tables[1], b)
        found.append(CountedClip(paired(a, b, classes), facts_of(a, classes), facts_of(b, classes), digests))
    return found, wrong, amiss


def digest_of_maps(clip: str, table: pa.Table | None, side: Annotations) -> int:
    """Return a digest of a clip's rows with their maps, in any order; see :func:`seldio.scores.seld.rows.digest`."""
    name = clip.rpartition("/")[2].encode("utf-8", "surrogatepass") + b"\0"
    total = int.from_bytes(sha256(name).digest()[:8], "little")
    known = [] if table is None else [table[field] for field in _MARKED if field in table.column_names]
    columns = [np.round(np.asarray(to_numpy(column), np.float64), 6) + 0.0 for column in known]
    for row, values in enumerate(zip(*columns, strict=True)):
        points, ends = side.shape(row)
        text = name + np.array([*values, *ends]).tobytes() + points.tobytes()
        total += int.from_bytes(sha256(text).digest()[:8], "little")
    return total & WORD


#: Columns of a map's row.
_MARKED = ("frame", "class_id", "source", "azimuth", "elevation", "distance", "score")
