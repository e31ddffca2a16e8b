"""From paths to a report: what is compared, how, and by which clips."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from operator import attrgetter

from seldio.conversion.vetting import joined
from seldio.engines import each
from seldio.errors import DataError, UnknownFormat, UsageError
from seldio.files import Source, open_source
from seldio.findings import raise_errors
from seldio.formats import Format, get
from seldio.formats.choice import Wanted, years
from seldio.scores.result import ScoreReport
from seldio.scores.seld import official, pairing, probable_causes, profiles
from seldio.scores.seld.counts import Counts, Thresholds
from seldio.scores.seld.official import Average
from seldio.scores.seld.profiles import SeldProfile
from seldio.scores.seld.seld_count import Counted, Counting, better, parts
from seldio.scores.seld.seld_join import Labels, lengths, side
from seldio.scores.seld.seld_notices import SeldCase
from seldio.scores.seld.seld_score import SeldScore
from seldio.scores.seld.seld_tables import report
from seldio.scores.seld.sides import NOTHING, SideFacts
from seldio.text import listed, plural
from seldio.vocabularies import vocabulary


@dataclasses.dataclass(frozen=True)
class SeldOptions:
    """How labels are scored.

    Args:
        profile: name of the way of scoring; by default ``dcase2025`` for stereo labels, else ``dcase2023``.
        average: macro or micro; the profile's first by default.
        angle: degrees that a prediction may be off; the profile's by default, as the next two.
        distance: metres that it may be off.
        relative: distance error over distance.
        onscreen: whether it must agree on being in the picture.
        classes: vocabulary of the classes; the profile's by default.
        jackknife: with 95 % confidence intervals.
        official_points: with the point values that the official jackknife prints.
        by_clip: with the scores of each clip.
        recordings: the recordings that were labelled, which tell where a clip ends; where they are beside the
            labels in a data set tree they are found.
        allow_missing: score the clips that have a prediction and a reference where others lack one.
        force: score labels and predictions in which there are errors too.
    """

    profile: str | None = None
    average: Average | None = None
    angle: float | None = None
    distance: float | None = None
    relative: float | None = None
    onscreen: bool = False
    classes: str | None = None
    jackknife: bool = False
    official_points: bool = False
    by_clip: bool = False
    recordings: str | None = None
    allow_missing: bool = False
    force: bool = False

    def limits(self, profile: SeldProfile) -> Thresholds:
        """The thresholds of the profile, those of the options in their place.

        Raises:
            UsageError: one is no threshold, the profile does not look at it, or does not know the average.
        """
        if self.average is not None and self.average not in profile.averages:
            raise UsageError(f"{profile.name} has no {self.average} average, only {', '.join(profile.averages)}")
        self._check(profile)
        usual = profile.limits
        return Thresholds(
            usual.angle if self.angle is None else self.angle,
            usual.distance if self.distance is None else self.distance * profile.metre,
            usual.relative if self.relative is None else self.relative,
            usual.onscreen or self.onscreen,
        )

    def _check(self, profile: SeldProfile) -> None:
        for name in ("angle", "distance", "relative"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise UsageError(f"--{name} is a threshold, not {value:g}")
        for name, column in _COLUMNS.items():
            value = getattr(self, name)
            if value is not None and value is not False and not profile.has(column):
                able = [each.name for each in profiles.PROFILES if each.has(column)]
                raise UsageError(
                    f"--{name} changes nothing in {profile.name}, which does not look at it; use {' or '.join(able)}"
                )


#: The score that shows whether a profile looks at what a threshold is about.
_COLUMNS = {"distance": "DistE", "relative": "RelDistE", "onscreen": "OnscreenAcc"}


Path = str | os.PathLike[str]
#: The profile where nobody names one and the labels do not ask for another.
USUAL = "dcase2023"


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
    told = [None if name is None else get(name) for name in (reference_format, format)]
    with open_source(reference, raise_errors) as labels, open_source(predictions, raise_errors) as outputs:
        truth = _truth(labels, told[0], named)
        profile = named or profiles.get(_usual(truth))
        limits = options.limits(profile)
        given = side(outputs, told[1], Wanted(("output", "submission"), _years(profile, named, truth)))
        clips, left_out = _clips(set(truth.sizes), set(given.sizes), options.allow_missing, profile)
        classes = vocabulary(options.classes or profile.vocabulary)
        ways = _ways(profile, limits)
        work = Counting(tuple((way.name, thresholds) for way, thresholds in ways.items()), len(classes))
        frames = _lengths(truth, clips, ways, options.recordings)
        some = parts(truth, given, clips, frames)
        counted = list(each(work, some, what="scoring", size=attrgetter("size"), key=attrgetter("stamp")))
        forced = _settled(truth, given, counted, options.force)
        score, *others = _scores(counted, ways, clips, len(classes), options.average)
        lags = sum((one.lags for one in counted), start=probable_causes.lags(NOTHING, NOTHING))
        cause = better(score, lags, work, some, (truth, given), frames)
    case = SeldCase(
        profile, limits, score, _seen(counted), [classes.label(n) for n in range(len(classes))], given.layout.name,
        truth.layout.name, _remarks(truth, given), left_out, intervals=options.jackknife,
        official_points=options.official_points, by_clip=options.by_clip, named=named is not None,
        published=others[0] if others else None, forced=forced, better=cause,
    )  # fmt: skip
    return report(os.fspath(predictions), case)


def _lengths(
    truth: Labels, clips: Sequence[str], ways: Iterable[SeldProfile], recordings: str | None
) -> dict[str, int]:
    """Label frames of the recordings, as far as they are known and a profile looks at them.

    Raises:
        UsageError: recordings are named, and none does.
    """
    if any(not way.official for way in ways):
        return lengths(truth, clips, recordings)
    if recordings is not None:
        raise UsageError(
            f"--recordings changes nothing in {next(iter(ways)).name}, whose program goes by the labels; "
            "use corrected, or dcase2023, which has it beside"
        )
    return {}


def _truth(source: Source, told: Format | None, profile: SeldProfile | None) -> Labels:
    """The reference; its layout is said by an option of another name."""
    try:
        return side(source, told, Wanted(("label",), (profile or profiles.get(USUAL)).years))
    except UnknownFormat as error:
        raise UnknownFormat(_reference_option(str(error))) from None


def _reference_option(text: str) -> str:
    return text.replace("--format", "--reference-format")


def _years(profile: SeldProfile, named: SeldProfile | None, truth: Labels) -> tuple[int, ...]:
    """The years that predictions are likely to be of: of a profile that was named or fits the labels, else theirs."""
    of_labels = years(truth.layout)
    return of_labels if named is None and of_labels and not set(of_labels) & set(profile.years) else profile.years


def _remarks(truth: Labels, given: Labels) -> tuple[str, ...]:
    """What there is to say about layouts that were chosen."""
    return (
        *(f"the reference is {_reference_option(remark)}" for remark in truth.remarks),
        *(f"the prediction is {remark}" for remark in given.remarks),
    )


def _settled(truth: Labels, given: Labels, counted: Sequence[Counted], force: bool) -> tuple[str, ...]:
    """What is wrong in labels and predictions, and was forced.

    Raises:
        InvalidData: something is, and was not.
    """
    reference, prediction = zip(*(one.faults for one in counted), strict=True) if counted else ((), ())
    return tuple(
        str(finding)
        for side, faults in ((truth, reference), (given, prediction))
        for finding in joined([side.faults, *faults]).settle(force)
    )


def _scores(
    counted: Sequence[Counted], ways: Iterable[SeldProfile], clips: Sequence[str], classes: int, average: Average | None
) -> list[SeldScore]:
    """The score by each profile, over the clips of all parts."""
    first, *_ = ways
    none = Counts.zeros(0, classes)
    return [
        SeldScore(
            way, average or first.averages[0], tuple(clips),
            Counts.joined([none, *(one.counts[number] for one in counted)]),
        )
        for number, way in enumerate(ways)
    ]  # fmt: skip


def _ways(profile: SeldProfile, limits: Thresholds) -> dict[SeldProfile, Thresholds]:
    """The profile, and the published definition where its scores are of the same kind."""
    ways = {profile: limits}
    if profile.score is official.classic and profile.measure is pairing.SPHERICAL:
        published = profiles.get("corrected")
        ways[published] = dataclasses.replace(published.limits, angle=limits.angle)
    return ways


def _seen(counted: Sequence[Counted]) -> SideFacts:
    """What is notable about all rows.

    Raises:
        UsageError: only some of them have a direction.
    """
    found = sum((one.seen for one in counted), start=SideFacts())
    if any(0 < rows.elevations < rows.all for rows in (found.reference, found.prediction)):
        raise UsageError("scores need a direction in every row")
    return found


def _usual(truth: Labels) -> str:
    """The profile of labels that nobody named one for: stereo labels have distances and no elevations."""
    known: set[str] = set()
    heights = {"elevation", "z"} & truth.fields
    for table in truth.tables() if "distance" in truth.fields else ():
        known |= {name for name in table.column_names if table[name].null_count < table.num_rows}
        if known & heights or ("distance" in known and not heights):
            break
    return "dcase2025" if "distance" in known and not known & heights else USUAL


def _clips(
    expected: set[str], found: set[str], allow_missing: bool, profile: SeldProfile
) -> tuple[list[str], tuple[int, int]]:
    """The clips to score in alphabetic order, and how many lack a prediction, or a reference.

    Raises:
        DataError: a clip lacks its prediction or its reference.
    """
    missing, surplus = sorted(expected - found), sorted(found - expected)
    if surplus and not expected & found:
        raise DataError(
            f"no clip is in both: the reference has {listed(sorted(expected), 3)}, the predictions {listed(surplus, 3)}"
            + _several_systems(expected, surplus)
        )
    if surplus and not allow_missing:
        raise DataError(
            f"{plural(len(surplus), 'predicted clip')} without reference: {listed(surplus)}. "
            "The official program ends with KeyError there. Take these files away, add their labels, or leave "
            "them out with --allow-missing"
        )
    if missing and not allow_missing:
        raise DataError(
            f"{plural(len(missing), 'clip')} of the reference without prediction: {listed(missing)}. "
            "The official program would leave them out of the score without a word. An empty file says that "
            "nothing was found; --allow-missing scores the other clips alone"
        )
    counted = expected if profile.missing else expected & found
    return sorted(counted), (len(expected) - len(counted), len(surplus))


def _several_systems(expected: set[str], surplus: Sequence[str]) -> str:
    """What to do where only the folders of the predictions are in the way, as in a package of several systems."""
    last = {name.rpartition("/")[2] for name in expected}
    folders = sorted({name.rpartition("/")[0] for name in surplus if name.rpartition("/")[2] in last} - {""})
    if not folders:
        return ""
    return f". The names fit without their folders ({listed(folders, 5)}): score one of these at a time"
