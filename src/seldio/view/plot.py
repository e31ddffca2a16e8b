"""From a path to a picture or a film: what to read, what to draw, where to write."""

# Plain strings, as in seldio.files.
# ruff: noqa: PTH118, PTH119, PTH122

from __future__ import annotations

import dataclasses
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from seldio.errors import UsageError
from seldio.files import name_fault
from seldio.text import clipped, plural, printable
from seldio.view.canvas import KINDS as SUFFIXES
from seldio.view.canvas import check_installed, kind_of, save

if TYPE_CHECKING:
    from seldio.view.clip_files import Files
    from seldio.view.tracks import Labels, Track

Path = str | os.PathLike[str]

#: What can be drawn, each with a phrase about it.
KINDS: dict[str, str] = {
    "timeline": "the events of a clip by class",
    "directions": "azimuth and elevation over time",
    "map": "where events were, on a panorama",
    "statistics": "classes, overlaps, directions and rooms of a set",
    "scores": "bars by class, of a score file or computed",
    "video": "the clip's video with labels and sound, as mp4",
}
_FILM = "video"


@dataclasses.dataclass(frozen=True)
class Made:
    """What was written.

    Args:
        path: of the file.
        kind: one of :data:`KINDS`.
        told: what there is to know, a line each.
    """

    path: str
    kind: str
    told: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What is asked for; None leaves the choice to seldio.

    Args:
        kind: one of :data:`KINDS`; by default the timeline of a clip, or the statistics of several.
        predictions: of a system, drawn together with the labels, or scored against them.
        clip: the one to draw.
        format: layout of the source; found from its content.
        predictions_format: that of the predictions, likewise.
        profile: scores: the way of scoring.
        allow_missing: scores: score the clips that both have, where others lack a side.
        table: scores: which table, e.g. ``rooms``.
        audio: video: the recording; by default what stands beside the labels.
        video: video: likewise.
        width: video: pixels across.
    """

    kind: str | None = None
    predictions: Path | None = None
    clip: str | None = None
    format: str | None = None
    predictions_format: str | None = None
    profile: str | None = None
    allow_missing: bool = False
    table: str | None = None
    audio: Path | None = None
    video: Path | None = None
    width: int | None = None


def make(source: Path, out: Path | None = None, wanted: Wanted | None = None) -> Made:
    """Draw *source* and write the picture.

    Args:
        source: labels or outputs (a file, folder or archive); for scores also a file of ``seldio score --json``.
        out: the file, its kind by its suffix; in the present folder and named after what is drawn by default.
        wanted: what to draw.

    Raises:
        InvalidData: something in the files is wrong.
        UsageError: the request makes no sense.
        DataError: the files do not fit.
        SeldioError: matplotlib is missing, or the disk fails.
    """
    wanted = wanted or Wanted()
    if wanted.kind is not None and wanted.kind not in KINDS:
        raise UsageError(f"no kind {clipped(wanted.kind)} of picture; there are {', '.join(KINDS)}")
    if wanted.kind is None and out is not None and os.fspath(out).lower().endswith(".mp4"):
        wanted = dataclasses.replace(wanted, kind=_FILM)
    if out is not None:
        _check_suffix(os.fspath(out), wanted.kind)
    _check_options(wanted)
    check_installed()
    if wanted.kind == "scores":
        return _scores(source, out, wanted)
    from seldio.view.tracks import read_labels

    labels = read_labels(source, wanted.format)
    several = wanted.kind is None and wanted.clip is None and len(labels.clips) != 1
    if wanted.kind == "statistics" or several:
        return _statistics(labels, out, wanted)
    return _clip(labels, out, wanted)


def _check_suffix(out: str, kind: str | None) -> None:
    """See that a file can hold what is asked for, before anything is read.

    Raises:
        UsageError: it cannot.
    """
    if kind != _FILM:
        kind_of(out)
    elif not out.lower().endswith(".mp4"):
        raise UsageError(f"{clipped(out, 200)}: a film ends with .mp4")


#: Options that only one kind of picture has.
_ONLY = dict.fromkeys(("profile", "allow_missing", "table"), "scores") | dict.fromkeys(
    ("audio", "video", "width"), _FILM
)


def _check_options(wanted: Wanted) -> None:
    """Refuse options that would be left aside in silence."""
    for option, kind in _ONLY.items():
        if getattr(wanted, option) not in (None, False) and wanted.kind != kind:
            raise UsageError(f"--{option.replace('_', '-')} is for --kind {kind}")
    if wanted.kind in ("statistics", "scores") and wanted.clip is not None:
        raise UsageError(f"--clip: {wanted.kind} are of a whole set; name the file of the clip as the source")
    if wanted.predictions_format is not None and wanted.predictions is None:
        raise UsageError("--predictions-format needs --predictions")


def _named(out: Path | None, name: str, kind: str) -> str:
    """Where to write; named after *name* where nothing is said."""
    if out is not None:
        return os.fspath(out)
    stem = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    stem = stem if stem and name_fault(stem) is None and stem not in (".", "..", "-", "<stdin>") else "seldio"
    return f"{stem}-{kind}.{'mp4' if kind == _FILM else next(iter(SUFFIXES))}"


def _scores(source: Path, out: Path | None, wanted: Wanted) -> Made:
    from seldio.view import charts

    if wanted.predictions is None:
        if wanted.profile is not None or wanted.format is not None or wanted.allow_missing:
            raise UsageError(
                "--profile, --format and --allow-missing need --predictions: a score file is drawn as it is"
            )
        reports = charts.read_reports(source)
    else:
        from seldio.scores.seld.score_labels import SeldOptions, score_labels

        chosen = SeldOptions(jackknife=True, allow_missing=wanted.allow_missing, force=True)  # a notice says so
        chosen = chosen if wanted.profile is None else dataclasses.replace(chosen, profile=wanted.profile)
        formats = {"format": wanted.predictions_format, "reference_format": wanted.format}
        reports = (score_labels(wanted.predictions, source, chosen, **formats),)
    path = _named(out, os.fspath(source).removesuffix(".json"), "scores")
    save(charts.draw_scores(reports, wanted.table), path)
    grave = [notice.text for report in reports for notice in report.notices if notice.grave]
    return Made(path, "scores", tuple(grave))


def _statistics(labels: Labels, out: Path | None, wanted: Wanted) -> Made:
    from seldio.view import charts

    if wanted.predictions is not None:
        raise UsageError(
            "statistics are of one set: leave --predictions out, or name them in place of the labels; for a picture "
            "of both choose a clip with --clip, or --kind scores"
        )
    name = os.path.splitext(labels.path)[0] if labels.single else labels.path
    path = _named(out, name, "statistics")
    title = os.path.basename(labels.path.rstrip("/" + os.sep))
    save(charts.draw_statistics(charts.statistics(labels), title), path)
    return Made(path, "statistics", labels.faults)


def _clip(labels: Labels, out: Path | None, wanted: Wanted) -> Made:
    from seldio.view import plots
    from seldio.view.tracks import chosen, tracks

    clip = chosen(labels, wanted.clip)
    reference = tracks(labels, clip)
    predictions, faults = _predictions(wanted, clip)
    faults = (*labels.faults, *faults)
    kind = wanted.kind or "timeline"
    path = _named(out, clip, kind)
    if kind == _FILM:
        return Made(path, kind, (*faults, *_film(labels, clip, reference, predictions or [], path, wanted)))
    draw = {"timeline": plots.timeline, "directions": plots.directions, "map": plots.directions_map}[kind]
    save(draw(reference, predictions, clip), path)
    return Made(path, kind, faults)


def _predictions(wanted: Wanted, clip: str) -> tuple[list[Track] | None, tuple[str, ...]]:
    """What a system heard in *clip*, and errors in it; a single file of one clip counts whatever its name is."""
    from seldio.view.tracks import chosen, read_labels, tracks

    if wanted.predictions is None:
        return None, ()
    given = read_labels(wanted.predictions, wanted.predictions_format)
    alone = given.single and len(given.clips) == 1
    name = None if alone else clip if clip in given.clips else clip.rpartition("/")[2]
    return tracks(given, chosen(given, name)), given.faults


# --- films -------------------------------------------------------------------------------------------------


def _film(
    labels: Labels, clip: str, reference: list[Track], predictions: list[Track], path: str, wanted: Wanted
) -> tuple[str, ...]:
    """Write the film; return what there is to know."""
    from seldio.media.video import Video
    from seldio.view.clip_files import files_of
    from seldio.view.film import film

    file = labels.path if labels.single else os.path.join(labels.path, labels.file(clip))
    found = files_of(file, wanted.audio, wanted.video)
    for entry in (found.audio, found.video):
        if entry is not None and os.path.realpath(entry.path) == os.path.realpath(path):
            raise UsageError(f"{printable(path)} is the clip's own file: write somewhere else")
    with ExitStack() as stack:
        video = stack.enter_context(Video(found.video.path)) if found.video is not None else None
        heard = _heard(found, stack)
        made = film(path, reference, predictions, video=video, sound=heard, width=wanted.width)
    rate = f"{float(made.rate):.2f}".rstrip("0").rstrip(".")
    told = [f"{plural(made.pictures, 'picture')} of {made.size[0]} × {made.size[1]}, {rate} a second"]
    told.append(f"on {found.video.path}" if found.video is not None else "no video beside the labels: a plain panorama")
    if found.audio is not None:
        told.append(f"sound of {found.audio.path}: {made.sound}")
    else:
        told.append("no recording beside the labels: without sound (--audio names one)")
    return tuple(told)


def _heard(found: Files, stack: ExitStack) -> Any:
    """The sound of the clip, if there is a recording.

    Raises:
        NotAudio: it cannot be read.
    """
    from seldio.media.audio import NotAudio
    from seldio.media.compact import sound

    if found.audio is None:
        return None
    try:
        return sound(stack.enter_context(found.audio.open()), found.array)
    except NotAudio as error:
        raise NotAudio(f"{printable(found.audio.path)} cannot be read as audio: {error}") from error
