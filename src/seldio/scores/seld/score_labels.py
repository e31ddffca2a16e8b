"""From paths to a report: what is compared, how, by which clips, and what is counted in each part of them.

Where a sample fits much better with the predictions changed, they are scored again: that is a probable cause.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any
from zlib import crc32

import numpy as np

from seldio.changes import change_named, shifted
from seldio.check.vetting import Faults
from seldio.errors import SeldioError, UsageError
from seldio.files import Source, open_source
from seldio.files.sources import Place, is_path_of_own, path_of, reopened
from seldio.findings import raise_errors
from seldio.formats import LabelFormat, get
from seldio.parallel import parallel_map
from seldio.reports.tables import ScoreReport
from seldio.scores import signatures
from seldio.scores.resampling import Intervals, rooms_of
from seldio.scores.seld import causes, mistakes, profiles
from seldio.scores.seld.causes import ProbableCause, Suspect, Trial
from seldio.scores.seld.join import (
    ClipRows,
    Compared,
    SharedPart,
    join,
    reference_labels,
    settled,
    shared_parts,
    usual_profile,
    with_class_list,
)
from seldio.scores.seld.metrics import Average, Counts, Thresholds
from seldio.scores.seld.mistakes import Mistakes
from seldio.scores.seld.profiles import SeldProfile
from seldio.scores.seld.report import SeldCase, notices, tables, worst_clips
from seldio.scores.seld.rows import NOTHING, WORD, EventFrames, Ints, SideFacts, digest, event_frames, facts_of
from seldio.scores.seld.scoring import SeldScore, count_sides, grid_lengths
from seldio.scores.signatures import Signature
from seldio.text import plural, printable
from seldio.vocabularies import vocabulary


@dataclasses.dataclass(frozen=True)
class SeldOptions:
    """How labels are scored."""

    #: name of the way of scoring; by default ``dcase2025`` for stereo labels, else ``dcase2023``
    profile: str | None = None
    average: Average | None = None  # macro or micro; the profile's first by default
    #: how far a prediction may be off: angle (degrees), distance (metres), relative; those of the profile by default
    threshold: Mapping[str, float] = dataclasses.field(default_factory=dict)
    onscreen: bool = False  # whether it must agree on being in the picture
    classes: str | None = None  # vocabulary of the classes; that of the labels by default
    intervals: Intervals | None = None  # with 95 % confidence intervals
    by_clip: bool = False  # with the scores of each clip
    errors: bool = False  # with what the lost F is made of
    split: str | None = None  # score the clips of this split of the reference alone
    allow_missing: bool = False  # score the clips that have a prediction and a reference where others lack one
    force: bool = False  # score labels and predictions in which there are errors too
    baselines: bool = False  # with the published results of the profile, where they are over the same clips

    def limits(self, profile: SeldProfile) -> Thresholds:
        """The thresholds of the profile, those of the options in their place.

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
                raise UsageError(f"{option} changes nothing in {profile.name}, which does not look at it; use {able}")
        if self.errors and "F" not in profile.names:
            raise UsageError(f"--table errors explains the F of a profile, and {profile.name} has none")
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
    sort: str | None = None,
) -> ScoreReport:
    """Score the outputs of a system against labels.

    Rows are read and counted a few clips at a time, where :func:`seldio.running` says; sums by clip are kept.

    Args:
        predictions: files, a folder or an archive in any format of labels or outputs.
        reference: the labels, in the same way.
        options: how; by default as the labels ask for.
        format: the format of the predictions; found from their content if not given.
        reference_format: the format of the reference; detected by default.
        sort: the measure by which clips are the worst; by default that of the profile which decides.

    Returns:
        Scores over all clips, by class and by room, and what there is to know about them.

    Raises:
        InvalidData: something in the files is wrong.
        UsageError: an option makes no sense, a field is missing, or there is nothing to score.
        DataError: clips have no prediction, or no reference.
    """
    options = options or SeldOptions()
    case = scored_case(predictions, reference, options, format, reference_format)
    report = report_of(path_of(predictions), case)
    formats = {"format": reference_format, "predictions_format": format}
    worst = worst_clips(case, sort, path_of(reference), path_of(predictions), formats)
    report = dataclasses.replace(report, tables=(*report.tables, worst))
    if not options.baselines:
        return report
    from seldio.scores.published import with_baselines

    changed = [name for name in ("angle", "distance", "relative", "onscreen")
               if getattr(case.limits, name) != getattr(case.profile.limits, name)]  # fmt: skip
    return with_baselines(report, case.score.clips, [*changed, *["classes"] * (options.classes is not None)])


def scored_case(
    predictions: Place, reference: Place, options: SeldOptions, format: str | None = None,
    reference_format: str | None = None,
) -> SeldCase:  # fmt: skip
    """All that a report of :func:`score_labels` is made of; the arguments and what it raises are the same."""
    named = None if options.profile is None else profiles.get(options.profile)  # before anything is read
    layout, reference_layout = (None if name is None else get(name) for name in (format, reference_format))
    with reopened(reference, raise_errors) as labels, reopened(predictions, raise_errors) as outputs:
        truth = reference_labels(labels, reference_layout, options.split, named)
        profile = named or usual_profile(truth)
        limits = options.limits(profile)
        compared = join(truth, outputs, layout, allow_missing=options.allow_missing)
        dropped = compared.prediction.layout.name in profile.drops
        class_list = options.classes or truth.layout.vocabulary
        class_list = get(class_list).vocabulary if is_path_of_own(class_list) else class_list
        classes = vocabulary(class_list)
        mapped = None if options.classes else compared.prediction.layout
        work = Counting(
            profile.name, limits, class_list, mapped=mapped, dropped=dropped, errors=options.errors, signed=True
        )
        counted = count(work, compared)
        score = SeldScore(profile, options.average or profile.averages[0], tuple(compared.clips), counted.counts)
        sides = (compared.reference, counted.reference), (compared.prediction, counted.prediction)
        forced = tuple(map(str, settled(sides, options.force)))
        plain = dataclasses.replace(work, errors=False, signed=False)
        found = () if dropped else tuple(probable_causes(score, counted, plain, compared))
    if any(0 < rows.elevations < rows.all for rows in (counted.facts.reference, counted.facts.prediction)):
        raise UsageError("scoring requires a direction in every row")
    given = {name: getattr(options, name) for name in _SIGNED} | dict(options.threshold)
    drawn = options.intervals or Intervals()
    return SeldCase(
        profile, limits, score, counted.facts, [classes.label(n) for n in range(len(classes))],
        compared.prediction.layout.name, truth.layout.name, compared.remarks, compared.left_out, compared.split,
        intervals=drawn.jackknife, bootstrap=drawn.resampling if drawn.bootstrap else None, by_clip=options.by_clip,
        named=named is not None, forced=forced, causes=found, mistakes=counted.mistakes if options.errors else None,
        signature=signatures.of_labels(profile.name, given, counted.digests),
    )  # fmt: skip


#: Options that shape the numbers of a score, as its signature has them.
_SIGNED = ("average", "onscreen", "classes", "split", "allow_missing", "force")


def verified(known: Signature, predictions: Place, reference: Place, **formats: str | None) -> Signature:
    """The signature of the files at hand, read as a score with the signature *known* reads them.

    Raises:
        InvalidData, UsageError, DataError: as :func:`score_labels`.
    """
    asked: Any = {name: known.options.get(name) for name in ("classes", "split")}
    asked |= {name: name in known.options for name in ("allow_missing", "force")}
    case = scored_case(predictions, reference, SeldOptions(profile=known.profile, **asked), **formats)
    assert case.signature is not None
    return case.signature


def report_of(system: str, case: SeldCase) -> ScoreReport:
    """The report of a case."""
    profile, average, limits = case.profile, case.score.average, case.limits
    over = f"{plural(len(case.score.clips), 'clip')}, {len(case.labels)} classes"
    settings = {
        "average": average,
        "angle": limits.angle,
        "distance": None if math.isinf(limits.distance) else limits.distance,
        "relative_distance": None if math.isinf(limits.relative) else limits.relative,
        "onscreen": limits.onscreen,
        "program": profile.program,
    }
    return ScoreReport(
        system,
        profile.name,
        profile.title,
        f"{over}, {average} average",
        tables(system, case),
        notices(case),
        settings,
        str(case.signature),
        lead=profile.lead,
    )


# --- counting, a part after the other ---------------------------------------------------------------

#: Clips that changes are tried on.
TRIED = 128


def sampled(clips: Iterable[str], most: int) -> list[str]:
    """At most a given number of *clips*, chosen by their names alone: one clip more changes at most one of them."""
    return sorted(sorted(clips, key=lambda clip: (crc32(clip.encode("utf-8", "surrogatepass")), clip))[:most])


@dataclasses.dataclass(frozen=True)
class Counted:
    """What was counted in a part; parts add up in the order of their clips."""

    pieces: tuple[Counts, ...]  # of each part, by clip and class
    mistakes: Mistakes  # where they were asked for
    facts: SideFacts = dataclasses.field(default_factory=SideFacts)  # what is notable about the rows
    reference: Faults = dataclasses.field(default_factory=Faults)  # errors
    prediction: Faults = dataclasses.field(default_factory=Faults)  # errors
    lags: Ints = dataclasses.field(default_factory=causes.NO_LAGS.copy)  # how far onsets are apart, over a few clips
    samples: tuple[tuple[EventFrames, EventFrames], ...] = ()  # of each part, some rows of both sides
    digests: tuple[int, int] = (0, 0)  # of the rows of both sides, where they are signed

    def __add__(self, other: Counted) -> Counted:
        return Counted(
            self.pieces + other.pieces, self.mistakes + other.mistakes, self.facts + other.facts,
            self.reference + other.reference, self.prediction + other.prediction,
            self.lags + other.lags, self.samples + other.samples,
            ((self.digests[0] + other.digests[0]) & WORD, (self.digests[1] + other.digests[1]) & WORD),
        )  # fmt: skip

    @property
    def counts(self) -> Counts:
        """Of all clips."""
        return Counts.joined(self.pieces)


@dataclasses.dataclass(frozen=True)
class Counting:
    """The work on a part."""

    profile: str  # its name
    limits: Thresholds
    class_list: str  # by which the classes of both sides are counted
    change: str = ""  # name of a change of the predictions
    mapped: LabelFormat | None = None  # of the predictions, where their classes may be those of another list
    dropped: bool = False  # whether the program reads no row of the prediction
    errors: bool = False  # whether mistakes are counted
    signed: bool = False  # whether digests of the rows are made
    tried: frozenset[str] = frozenset()  # clips that changes are tried on

    @property
    def classes(self) -> int:
        """How many there are."""
        return len(vocabulary(self.class_list))

    @property
    def nothing(self) -> Counted:
        """What there is in no part at all."""
        return Counted((Counts.zeros(0, self.classes),), Mistakes.none(self.classes), samples=((NOTHING, NOTHING),))

    def __call__(self, part: SharedPart) -> Counted:
        """What there is in *part*.

        Raises:
            InvalidData: something in a file is wrong.
            UsageError: a side lacks a field that a profile needs.
        """
        a, wrong = self._side(part.first, part.clips)
        b, amiss = self._side(part.second, part.files, self.mapped)
        digests = (digest(a, part.clips), digest(b, part.clips)) if self.signed else (0, 0)
        unread = len(b) if self.dropped else 0
        if self.dropped:
            b = NOTHING
        profile, limits, clips = profiles.get(self.profile), self.limits, len(part.clips)
        if limits.onscreen and any(len(side) and side.onscreen is None for side in (a, b)):
            raise UsageError("--onscreen requires labels and predictions with on-screen flags")
        changed = causes.applied(change_named(self.change), b) if self.change else b
        counts = count_sides(a, changed, profile, limits, self.classes, clips)
        found = Mistakes.none(self.classes)
        if self.errors:
            found = mistakes.count(a, b, profile, limits, self.classes, clips)
        ends = grid_lengths(profile, a, clips)
        notable = dataclasses.replace(facts_of(a, b, ends, self.classes, profile.ordered), dropped=unread)
        tried = [number for number, clip in enumerate(part.clips) if clip in self.tried]
        lags, samples = causes.lags(a, b, tried), (causes.sample(a, tried), causes.sample(b, tried))
        return Counted((counts,), found, notable, wrong, amiss, lags, (samples,), digests)

    def _side(
        self, some: ClipRows, clips: Sequence[str], mapped: LabelFormat | None = None
    ) -> tuple[EventFrames, Faults]:
        table, faults = some.rows()
        if table is None:
            return NOTHING, faults
        if mapped is not None and table.num_rows:
            table = with_class_list(table, mapped, self.class_list)
        return event_frames(table, {clip: number for number, clip in enumerate(clips)}), faults


def count(work: Counting, compared: Compared, what: str = "scoring", moved: Mapping[str, str] | None = None) -> Counted:
    """Count all clips, wherever :func:`seldio.running` says; *moved*: see :func:`shared_parts`.

    Raises:
        InvalidData, UsageError: see :class:`Counting`.
    """
    parts = shared_parts(compared.reference, compared.prediction, compared.clips, moved)
    here = any(part.packed for part in parts)
    work = dataclasses.replace(work, tried=frozenset(sampled(compared.clips, TRIED)))
    counted = parallel_map(work, parts, what=what, size=attrgetter("size"), here=here)
    return sum(counted, start=work.nothing)


#: How many times as good a score has to become by a shift in time, which onsets tell, and by any other change.
_SHIFTED, _CHANGED = 1.05, 1.5


def probable_causes(
    score: SeldScore, counted: Counted, work: Counting, compared: Compared
) -> Iterator[ProbableCause]:  # fmt: skip
    """The changes that make the score clearly better, with the F-score that they give over the clips they are about.

    All changes are tried on a sample of the rows, and the clips that one is about are scored with the best one. *work*
    is how they were *counted*.
    """
    names = sampled(score.clips, TRIED)
    chosen = np.flatnonzero(np.isin(score.clips, names))
    sizes = [len(piece) for piece in counted.pieces]
    sides = [causes.joined(list(zip(side, sizes, strict=True))) for side in zip(*counted.samples, strict=True)]
    a, b = (dataclasses.replace(side, clip=np.searchsorted(chosen, side.clip)) for side in sides)
    trial = Trial(a, b, len(names), work.classes, score.profile, work.limits)
    suspects = [(suspect, _CHANGED) for suspect in causes.suspects(trial, names, rooms_of(names))]
    if not suspects and (shift := causes.shift(counted.lags)):
        suspects.append((Suspect(shifted(shift)), _SHIFTED))
    for (change, clips, where, files), least in suspects:
        about = [names[clip] for clip in clips] if where or files else list(score.clips)
        moved = {name: names[clip] for name, clip in zip(names, files, strict=False)}
        changed = work if moved else dataclasses.replace(work, change=change.name)
        again = count(changed, compared._replace(clips=about), "scoring again", moved)
        before = score.counts.take(np.isin(score.clips, about))
        old, new = (_f(score, counts, bool(where)) for counts in (before, again.counts))
        if new > least * old:
            yield ProbableCause(change, where, old, new)


def misfits(predictions: Source, reference: str, layout: LabelFormat | None) -> tuple[str, ...]:
    """The :func:`probable_causes` of up to ``TRIED`` clips, by the usual profile; none where nothing can be scored."""
    try:
        with open_source(reference, raise_errors) as labels:
            truth = reference_labels(labels, None)
            profile = usual_profile(truth)
            compared = join(truth, predictions, layout, allow_missing=True)
            compared = compared._replace(clips=sampled(compared.clips, TRIED))
            layout = compared.prediction.layout
            work = Counting(profile.name, profile.limits, truth.layout.vocabulary, mapped=layout)
            counted = count(work, compared, "comparing with the labels")
            score = SeldScore(profile, profile.averages[0], tuple(compared.clips), counted.counts)
            return tuple(map(str, probable_causes(score, counted, work, compared)))
    except SeldioError:  # what is wrong with the files is said of them
        return ()


def _f(score: SeldScore, counts: Counts, some: bool) -> float:
    """The F-score of *counts*, over the classes that they have where these are of *some* clips only."""
    total = counts.total()
    values = score.present(total) if some else score.profile.score(total, score.average).overall
    return float(values[0, score.profile.names.index("F")])
