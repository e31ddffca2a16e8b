"""Score the outputs of a system against labels: from paths to a report."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence

import pyarrow as pa

from seldio import timeline
from seldio.conversion.carry import resolved
from seldio.conversion.frames import are_events, frames_of, rescaled
from seldio.conversion.inputs import read_single
from seldio.errors import DataError, UsageError
from seldio.formats import Format
from seldio.schema.events import origin_of
from seldio.scores.result import ScoreReport
from seldio.scores.seld import measures, metrics, profiles
from seldio.scores.seld.limits import Limits
from seldio.scores.seld.metrics import Average
from seldio.scores.seld.notices import Case
from seldio.scores.seld.profiles import Profile
from seldio.scores.seld.report import report
from seldio.scores.seld.scoring import horizons, score_sides
from seldio.scores.seld.sides import side
from seldio.text import listed, plural
from seldio.vocabularies import vocabulary

Path = str | os.PathLike[str]


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
        allow_missing: score the clips that have a prediction and a reference where others lack one.
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
    allow_missing: bool = False


def score_labels(
    predictions: Path,
    reference: Path,
    options: SeldOptions | None = None,
    *,
    format: str | None = None,
    reference_format: str | None = None,
) -> ScoreReport:
    """Score the outputs of a system against labels.

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
    truth, of_reference = _table(reference, reference_format)
    profile = named or profiles.get(_usual(truth))
    _check_average(options, profile)
    limits = _limits(options, profile)
    given, layout = _table(predictions, format)
    clips, left_out = _clips(truth, given, options.allow_missing, profile)
    labels = vocabulary(options.classes or profile.vocabulary)

    ways = {profile: limits}
    if profile.score is metrics.classic and profile.measure is measures.SPHERICAL:
        published = profiles.get("corrected")
        ways[published] = dataclasses.replace(published.limits, angle=limits.angle)
    index = {clip: number for number, clip in enumerate(clips)}
    sides = side(truth, index), side(given, index)
    if limits.onscreen and any(len(each) and each.onscreen is None for each in sides):
        raise UsageError("--onscreen needs labels and predictions that say what is in the picture")
    score, *others = score_sides(*sides, clips, ways, len(labels), options.average)
    case = Case(
        profile, score, *sides, horizons(profile, *sides, len(clips)), [labels.label(n) for n in range(len(labels))],
        layout, of_reference, left_out, options.jackknife,
    )  # fmt: skip
    return report(
        os.fspath(predictions), case, limits, jackknife=options.jackknife, official_points=options.official_points,
        by_clip=options.by_clip, published=others[0] if others else None,
    )  # fmt: skip


def _table(path: Path, format: str | None) -> tuple[pa.Table, str]:
    """The labels of a source with frames of 100 ms, and the name of their layout.

    Raises:
        UsageError: it holds none, or several layouts.
    """
    table, given, _ = read_single(path, format)
    layout = resolved(given, table)
    return _framed(table, layout), layout.name


def _framed(table: pa.Table, layout: Format) -> pa.Table:
    """*table* in label frames of 100 ms."""
    if not table.num_rows:
        return table
    if are_events(table):
        return frames_of(table, timeline.HOP)
    return table if layout.hop == timeline.HOP else rescaled(table, layout.hop, timeline.HOP)


def _clips(
    truth: pa.Table, given: pa.Table, allow_missing: bool, profile: Profile
) -> tuple[list[str], tuple[int, int]]:
    """The clips to score in alphabetic order, and how many lack a prediction, or a reference.

    Raises:
        DataError: a clip lacks its prediction or its reference.
    """
    expected, found = _names(truth), _names(given)
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


def _names(table: pa.Table) -> set[str]:
    """All clips of a table, silent ones too."""
    return {file.clip for file in origin_of(table).files}


def _usual(truth: pa.Table) -> str:
    """The profile of labels that nobody named one for: stereo labels have distances and no elevations."""
    known = {name for name in truth.column_names if truth[name].null_count < truth.num_rows}
    return "dcase2025" if "distance" in known and not known & {"elevation", "z"} else "dcase2023"


def _limits(options: SeldOptions, profile: Profile) -> Limits:
    """The thresholds of the profile, those of the options in their place.

    Raises:
        UsageError: one is no threshold, or the profile does not look at it.
    """
    for name in ("angle", "distance", "relative"):
        value = getattr(options, name)
        if value is not None and not value >= 0:
            raise UsageError(f"--{name} is a threshold, not {value:g}")
    scores = {column.name for column in profile.columns}
    needed = {"distance": "DistE", "relative": "RelDistE", "onscreen": "OnscreenAcc"}
    for name, column in needed.items():
        if getattr(options, name) not in (None, False) and column not in scores:
            able = [each.name for each in profiles.PROFILES if column in {one.name for one in each.columns}]
            raise UsageError(
                f"--{name} changes nothing in {profile.name}, which does not look at it; use {' or '.join(able)}"
            )
    usual = profile.limits
    return Limits(
        usual.angle if options.angle is None else options.angle,
        usual.distance if options.distance is None else options.distance * profile.metre,
        usual.relative if options.relative is None else options.relative,
        usual.onscreen or options.onscreen,
    )


def _check_average(options: SeldOptions, profile: Profile) -> None:
    """Raise UsageError where a profile does not know the average."""
    if options.average is not None and options.average not in profile.averages:
        raise UsageError(f"{profile.name} has no {options.average} average, only {', '.join(profile.averages)}")
