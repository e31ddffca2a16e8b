"""From paths to a report: what is compared, how, and by which clips."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterable

from seldio.check.vetting import joined
from seldio.errors import UsageError
from seldio.files import open_source
from seldio.findings import Finding, raise_errors
from seldio.formats import get
from seldio.reports.tables import ScoreReport
from seldio.scores.seld import metrics, pairing, profiles
from seldio.scores.seld.count import Counted, Counting, Way, count, parts, probable_cause
from seldio.scores.seld.join import Compared, LabelFiles, join, lengths, reference_labels, usual_profile
from seldio.scores.seld.metrics import Average, Thresholds
from seldio.scores.seld.profiles import SeldProfile
from seldio.scores.seld.report import SeldCase, notices, tables
from seldio.scores.seld.scoring import SeldScore
from seldio.text import plural
from seldio.vocabularies import vocabulary


@dataclasses.dataclass(frozen=True)
class SeldOptions:
    """How labels are scored."""

    #: name of the way of scoring; by default ``dcase2025`` for stereo labels, else ``dcase2023``
    profile: str | None = None
    average: Average | None = None  # macro or micro; the profile's first by default
    angle: float | None = None  # degrees that a prediction may be off; the profile's by default, as the next two
    distance: float | None = None  # metres that it may be off
    relative: float | None = None  # distance error over distance
    onscreen: bool = False  # whether it must agree on being in the picture
    classes: str | None = None  # vocabulary of the classes; the profile's by default
    jackknife: bool = False  # with 95 % confidence intervals
    official_points: bool = False  # with the point values that the official jackknife prints, where it prints any
    by_clip: bool = False  # with the scores of each clip
    #: the recordings that were labelled, which tell where a clip ends; where they are beside the labels in a data set
    #: tree they are found
    recordings: str | None = None
    allow_missing: bool = False  # score the clips that have a prediction and a reference where others lack one
    force: bool = False  # score labels and predictions in which there are errors too

    def limits(self, profile: SeldProfile) -> Thresholds:
        """The thresholds of the profile, those of the options in their place.

        Raises:
            UsageError: one is no threshold, the profile does not look at it, does not know the average, or has no
                official jackknife that prints point values.
        """
        if self.average is not None and self.average not in profile.averages:
            raise UsageError(f"{profile.name} has no {self.average} average, only {', '.join(profile.averages)}")
        for name in ("angle", "distance", "relative"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise UsageError(f"--{name} is a threshold, not {value:g}")
        # the score that shows whether a profile looks at what a threshold is about
        for name, column in (("distance", "DistE"), ("relative", "RelDistE"), ("onscreen", "OnscreenAcc")):
            value = getattr(self, name)  # 0 is a threshold
            if value is not None and value is not False and column not in profile.names:
                able = " or ".join(each.name for each in profiles.PROFILES if column in each.names)
                raise UsageError(f"--{name} changes nothing in {profile.name}, which does not look at it; use {able}")
        if self.official_points and profile.jackknife != "without-last":
            able = " or ".join(each.name for each in profiles.PROFILES if each.jackknife == "without-last")
            raise UsageError(
                f"--official-points has nothing to show in {profile.name}, for which no program prints point values "
                f"of a jackknife; use {able}"
            )
        usual = profile.limits
        return Thresholds(
            usual.angle if self.angle is None else self.angle,
            usual.distance if self.distance is None else self.distance * profile.metre,
            usual.relative if self.relative is None else self.relative,
            usual.onscreen or self.onscreen,
        )


Path = str | os.PathLike[str]


def score_labels(
    predictions: Path,
    reference: Path,
    options: SeldOptions | None = None,
    *,
    format: str | None = None,
    reference_format: str | None = None,
) -> ScoreReport:
    """Score the outputs of a system against labels.

    Rows are read and counted a few clips at a time, where :func:`seldio.running` says; sums by clip are kept.

    Args:
        predictions: files, a folder or an archive in any layout of labels or outputs.
        reference: the labels, likewise.
        options: how; by default as the labels ask for.
        format: the layout of the predictions; found from their content if not given.
        reference_format: the layout of the reference, likewise.

    Returns:
        Scores over all clips, by class and by room, and what there is to know about them.

    Raises:
        InvalidData: something in the files is wrong.
        UsageError: an option makes no sense, a field is missing, or there is nothing to score.
        DataError: clips have no prediction, or no reference.
    """
    options = options or SeldOptions()
    named = None if options.profile is None else profiles.get(options.profile)  # before anything is read
    layout, reference_layout = (None if name is None else get(name) for name in (format, reference_format))
    with open_source(reference, raise_errors) as labels, open_source(predictions, raise_errors) as outputs:
        truth = reference_labels(labels, reference_layout, named)
        profile = named or usual_profile(truth)
        limits = options.limits(profile)
        ways = {profile: limits}
        if profile.score is metrics.classic and profile.measure is pairing.SPHERICAL:
            published = profiles.get("corrected")  # beside scores of the same kind
            ways[published] = dataclasses.replace(published.limits, angle=limits.angle)
        compared = join(truth, outputs, layout, profile, named=named is not None, allow_missing=options.allow_missing)
        classes = vocabulary(options.classes or profile.vocabulary)
        frames = _lengths(compared, ways, options.recordings)
        work = Counting(tuple(Way(way.name, thresholds) for way, thresholds in ways.items()), len(classes))
        some = parts(compared, frames)
        counted = count(work, some)
        forced = _forced(compared, counted, options.force)
        average = options.average or profile.averages[0]
        score, *others = (
            SeldScore(way, average, tuple(compared.clips), counts)
            for way, counts in zip(ways, counted.counts, strict=True)
        )
        cause = probable_cause(score, counted.lags, work, some, compared, frames)
    if any(0 < rows.elevations < rows.all for rows in (counted.facts.reference, counted.facts.prediction)):
        raise UsageError("scores need a direction in every row")
    case = SeldCase(
        profile, limits, score, counted.facts, [classes.label(n) for n in range(len(classes))],
        compared.prediction.layout.name, truth.layout.name, compared.remarks, compared.left_out,
        intervals=options.jackknife, official_points=options.official_points, by_clip=options.by_clip,
        named=named is not None, published=others[0] if others else None, forced=forced, cause=cause,
    )  # fmt: skip
    system, over = os.fspath(predictions), f"{plural(len(score.clips), 'clip')}, {len(case.labels)} classes"
    settings = {
        "average": average,
        "angle": limits.angle,
        "distance": None if math.isinf(limits.distance) else limits.distance,
        "relative_distance": None if math.isinf(limits.relative) else limits.relative,
        "onscreen": limits.onscreen,
        "program": profile.program,
    }
    return ScoreReport(
        system, profile.name, profile.title, f"{over}, {average} average", tables(system, case), notices(case), settings
    )


def _lengths(compared: Compared, ways: Iterable[SeldProfile], recordings: str | None) -> dict[str, int]:
    """Label frames of the recordings, as far as they are known and a profile looks at them.

    Raises:
        UsageError: recordings are named, and none does.
    """
    if any(not way.official for way in ways):
        return lengths(compared.reference, compared.clips, recordings)
    if recordings is not None:
        raise UsageError(
            f"--recordings changes nothing in {next(iter(ways)).name}, whose program goes by the labels; "
            "use corrected, or dcase2023, which has it beside"
        )
    return {}


def _forced(compared: Compared, counted: Counted, force: bool) -> tuple[str, ...]:
    """What is wrong in labels and predictions, and was forced.

    Raises:
        InvalidData: something is, and was not.
    """
    found: list[Finding] = []
    for side, faults in ((compared.reference, counted.reference), (compared.prediction, counted.prediction)):
        every = joined([side.faults])
        every.add(faults, side.part if isinstance(side, LabelFiles) else None)
        found += every.settle(force)
    return tuple(map(str, found))
