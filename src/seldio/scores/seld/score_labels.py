"""From paths to a report: what is compared, how, by which clips, and what is counted.

Where a sample fits much better with the predictions changed, they are scored again: that is a probable cause.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import TypeAlias

from seldio.check.labels import settle
from seldio.conversion import losses
from seldio.errors import SeldioError, UsageError
from seldio.files import Source
from seldio.files.sources import Place, path_of, reopened
from seldio.findings import raise_errors
from seldio.formats import LabelFormat, get
from seldio.formats.base import OF_SYSTEMS
from seldio.formats.datasets import of_dialect
from seldio.reports.tables import ScoreReport
from seldio.scores.resampling import Intervals
from seldio.scores.seld import profiles
from seldio.scores.seld.causes import probable_causes, sampled
from seldio.scores.seld.counting import NOTHING, Average, Thresholds, digest, event_frames
from seldio.scores.seld.join import USUAL, SideLabels, class_lists, join, reference_labels, rows_of
from seldio.scores.seld.profiles import SeldProfile
from seldio.scores.seld.report import ScoredSide, SeldCase, worst_clips
from seldio.scores.seld.scoring import SeldScore, count_sides, grid_lengths
from seldio.scores.signatures import signature
from seldio.text import listed, printable
from seldio.vocabularies import short, vocabulary


@dataclasses.dataclass(frozen=True)
class ClipOptions:
    """How labels, or the energy maps of labels, are scored."""

    #: name of the way of scoring; by default ``dcase2025`` for stereo labels, else ``dcase2023``
    profile: str | None = None
    average: Average | None = None  # macro or micro; the profile's first by default
    intervals: Intervals | None = None  # with 95 % confidence intervals
    by_clip: bool = False  # with the scores of each clip
    split: str | None = None  # score the clips of this split of the reference alone
    allow_missing: bool = False  # score the clips that have a prediction and a reference where others lack one
    force: bool = False  # score labels and predictions in which there are errors too


@dataclasses.dataclass(frozen=True)
class SeldOptions(ClipOptions):
    """How labels are scored."""

    #: how far a prediction may be off: angle (degrees), distance (metres), relative; those of the profile by default
    threshold: Mapping[str, float] = dataclasses.field(default_factory=dict)
    onscreen: bool = False  # whether it must agree on being in the picture
    classes: str | None = None  # vocabulary of the classes; that of the labels by default
    errors: bool = False  # with what the lost F is made of
    baselines: bool = False  # with the published results of the profile, where they are over the same clips

    def limits(self, profile: SeldProfile) -> Thresholds:
        """Return the thresholds of the profile, those of the options in their place.

        Raises:
            UsageError: one is not a threshold, or the profile does not use it or does not know the average.
        """
        if self.average is not None and self.average not in profile.averages:
            raise UsageError(f"{profile.name} has no {self.average} average, only {', '.join(profile.averages)}")
        for name, value in self.threshold.items():
            if name not in ("angle", "distance", "relative"):
                raise UsageError(f"unknown threshold {printable(name)}; labels have angle, distance and relative")
            if not value >= 0:
                raise UsageError(f"--threshold {name}={value:g}: a threshold is 0 or greater")
        # the score that shows whether a profile looks at what a threshold is about
        for name, column in (("distance", "DistE"), ("relative", "RelDistE"), ("onscreen", "OnscreenAcc")):
            given = self.onscreen if name == "onscreen" else name in self.threshold
            if given and column not in profile.names:
                able = " or ".join(each.name for each in profiles.PROFILES if column in each.names)
                option = "--onscreen" if name == "onscreen" else f"--threshold {name}"
                raise UsageError(f"{option} changes nothing in {profile.name}: use {able}")
        changed = dict(self.threshold)
        if "distance" in changed:
            changed["distance"] *= profile.metre
        return dataclasses.replace(profile.limits, **changed, onscreen=profile.limits.onscreen or self.onscreen)


def score_labels(
    predictions: Place,
    reference: Place,
    options: SeldOptions | None = None,
    *,
    format: str | None = None,
    reference_format: str | None = None,
) -> ScoreReport:
    """Score the outputs of a system against labels, files, folders or archives; see :func:`seldio.score`.

    Raises:
        InvalidData: something in the files is wrong.
        UsageError: an option makes no sense, a field is missing, or there is nothing to score.
        DataError: clips have no prediction, or no reference.
    """
    options = options or SeldOptions()
    with opened_reference(reference, options, reference_format) as labels:
        case = scored_case(predictions, labels, options, format)
    report = case.report(path_of(predictions))
    formats = {"format": reference_format, "predictions_format": format}
    worst = worst_clips(case, path_of(reference), path_of(predictions), formats)
    report = dataclasses.replace(report, tables=(*report.tables, worst))
    if not options.baselines:
        return report
    from seldio.scores.published import with_baselines

    changed = [
        name
        for name in ("angle", "distance", "relative", "onscreen")
        if getattr(case.limits, name) != getattr(case.profile.limits, name)
    ]
    return with_baselines(report, case.score.clips, [*changed, *["classes"] * (options.classes is not None)])


#: Labels that systems are scored against, whose source is open; by which profile; and what reads those of some clips,
#: once for systems that all have them.
OpenReference: TypeAlias = tuple[SideLabels, SeldProfile, Callable[[tuple[str, ...]], ScoredSide]]


@contextmanager
def opened_reference(reference: Place, options: SeldOptions, format: str | None = None) -> Iterator[OpenReference]:
    """Open the labels of *reference*; the default profile is that of their dataset, or else fits their content.

    Raises:
        InvalidData, UnknownFormat, UsageError: it holds no labels of one format, or none of the split.
    """
    profile = None if options.profile is None else profiles.get(options.profile)  # before anything is read
    layout = None if format is None else get(format)
    with reopened(reference, raise_errors) as source:
        labels = reference_labels(source, layout, options.split, profile)
        if profile is None:
            stereo = "distance" in labels.filled and labels.filled.isdisjoint(("elevation", "z"))
            default = "dcase2025" if stereo else USUAL  # stereo labels have distances and no elevations
            default = next((row.profile for row in of_dialect(labels.layout.name) if row.profile), default)
            if default not in {each.name for each in profiles.PROFILES}:
                raise UsageError(
                    f"{labels.layout.name} holds energy maps: seldio score compares them. To use directions only, name "
                    "a profile of labels, such as dcase2023"
                )
            profile = profiles.get(default)
        yield labels, profile, lru_cache(maxsize=1)(partial(_rows, labels))


def scored_case(
    predictions: Place, reference: OpenReference, options: SeldOptions, format: str | None = None
) -> SeldCase:
    """Return all that a report of :func:`score_labels` is made of; what it raises is the same."""
    truth, profile, read = reference
    layout = None if format is None else get(format)
    limits = options.limits(profile)
    with reopened(predictions, raise_errors) as outputs:
        compared = join(truth, outputs, layout, allow_missing=options.allow_missing)
        dropped = compared.prediction.layout.name in profile.drops
        class_list = options.classes or truth.layout.vocabulary
        class_list = get(class_list).vocabulary if class_list.endswith(".toml") else class_list
        classes = vocabulary(class_list)
        clips = tuple(compared.clips)
        labels = read(clips)
        written = _rows(compared.prediction, clips, None if options.classes else class_list, "predicted row")
        scored = dataclasses.replace(written, rows=NOTHING) if dropped else written
        a, b = labels.rows, scored.rows
        if limits.onscreen and any(len(side) and side.onscreen is None for side in (a, b)):
            raise UsageError("--onscreen requires labels and predictions with on-screen flags")
        forced = tuple(str(error) for side in (labels, written) for error in settle(side.readings, options.force))
        counting = profile, limits, len(classes), len(clips)
        counts = count_sides(a, b, *counting)
        score = SeldScore(profile, options.average or profile.averages[0], clips, counts)
    chosen = (
        *(f"the reference is {text.replace('--format', '--reference-format')}" for text in truth.remarks),
        *(f"the prediction is {text}" for text in compared.prediction.remarks),
    )
    causes = () if dropped else tuple(probable_causes(score, a, b, limits, len(classes)))
    given = {name: getattr(options, name) for name in _SIGNED} | dict(options.threshold)
    signed = signature(profile.name, given, labels.digest, written.digest)
    mistakes = None
    if options.errors:
        from seldio.scores.seld.mistakes import count

        mistakes = count(a, b, *counting)
    return SeldCase(
        profile,
        limits,
        score,
        [classes.label(n) for n in range(len(classes))],
        labels,
        scored,
        grid_lengths(profile, a, len(clips)),
        signed,
        options.intervals or Intervals(),
        len(written.rows) - len(b),
        chosen,
        compared.left_out,
        compared.hint,
        by_clip=options.by_clip,
        named=options.profile is not None,
        forced=forced,
        causes=causes,
        mistakes=mistakes,
    )


#: Options that shape the numbers of a score, as its signature has them.
_SIGNED = ("average", "onscreen", "classes", "split", "allow_missing", "force")


# --- rows, and what they may need -------------------------------------------------------------------


def _rows(
    side: SideLabels, clips: tuple[str, ...], class_list: str | None = None, noun: str = "reference row"
) -> ScoredSide:
    """Read the rows of *clips*; with a *class_list*, their classes are mapped to it where they are of another list.

    Outputs of systems have the class list of their labels.

    Raises:
        InvalidData: something in a file is wrong.
        UsageError: there are no frames, classes or directions, or a class is not in the list.
    """
    (table, read), layout = rows_of(side.of_clips(clips)), side.layout
    other = class_list is not None and layout.role not in OF_SYSTEMS and class_list not in class_lists(layout).values()
    if table is not None and table.num_rows and class_list is not None and other:
        target = dataclasses.replace(layout, vocabulary=class_list, carries=("class_id",))
        mapped = losses.classes(table, layout, target)
        if mapped.lost:
            raise UsageError(
                f"the prediction is {layout.name} with the classes of {short(layout.vocabulary)}, the reference has "
                f"those of {short(class_list)}, where there is no {listed(sorted(mapped.lost), 5)}: rename these "
                "classes or take them away, or name the class list that the numbers of both sides index (--classes)"
            )
        table = table.set_column(table.column_names.index("class_id"), "class_id", mapped.ids)
    rows = NOTHING if table is None else event_frames(table, {clip: number for number, clip in enumerate(clips)})
    return ScoredSide(rows, noun, layout.name, [*side.readings, *read], *digest(rows, clips))


def misfits(predictions: Source, reference: str, layout: LabelFormat | None) -> tuple[str, ...]:
    """Return the :func:`probable_causes` of up to ``TRIED`` clips, by the usual profile; none if none can be scored."""
    try:
        with opened_reference(reference, SeldOptions()) as (truth, profile, read):
            compared = join(truth, predictions, layout, allow_missing=True)
            clips, class_list = tuple(sampled(compared.clips)), truth.layout.vocabulary
            a, b = read(clips).rows, _rows(compared.prediction, clips, class_list).rows
        counting = profile.limits, len(vocabulary(class_list))
        score = SeldScore(profile, profile.averages[0], clips, count_sides(a, b, profile, *counting, len(clips)))
        return tuple(map(str, probable_causes(score, a, b, *counting)))
    except SeldioError:  # what is wrong with the files is said of them
        return ()
