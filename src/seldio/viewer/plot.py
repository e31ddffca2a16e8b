"""From a path to a picture or a film: what to read, what to draw, where to write."""

# Plain strings, as in seldio.files.
# ruff: noqa: PTH118, PTH119, PTH122

from __future__ import annotations

import dataclasses
import html
import os
from base64 import b64encode
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import quote

from seldio.errors import UsageError
from seldio.files import name_fault
from seldio.text import Displayed, clipped, plural, printable
from seldio.viewer.canvas import KINDS as SUFFIXES
from seldio.viewer.canvas import check_installed, kind_of, rendered, save

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from seldio.reports.tables import ScoreReport
    from seldio.viewer.tracks import EventTrack, PlottedLabels

Path = str | os.PathLike[str]

#: What can be drawn, each with a phrase about it.
KINDS: dict[str, str] = {
    "timeline": "the events of a clip by class",
    "directions": "azimuth and elevation over time",
    "map": "where events were, and energy maps, on a panorama",
    "statistics": "classes, overlaps, directions and rooms of a set",
    "scores": "bars by class, of a score file or computed",
    "video": "the clip's video with labels and sound, as mp4",
}
#: Options that only one kind of picture has; others would ignore them in silence.
_ONLY = {"profile": "scores", "allow_missing": "scores", "table": "scores",
         "audio": "video", "video": "video", "width": "video"}  # fmt: skip


@dataclasses.dataclass(frozen=True, repr=False)
class Plotted(Displayed):
    """What was written; a notebook shows the picture or the film.

    Args:
        path: of the file.
        kind: one of :data:`KINDS`.
        notes: what there is to know, a line each.
        figure: the picture as a figure of matplotlib, to be changed and saved again; None for a film.
    """

    path: str
    kind: str
    notes: tuple[str, ...] = ()
    figure: Figure | None = dataclasses.field(default=None, compare=False)

    def __str__(self) -> str:
        return "\n".join([self.path, *map(printable, self.notes)])

    def _repr_png_(self) -> bytes | None:
        return rendered(self.figure, "png") if self.figure is not None and not self.notes else None

    def _repr_html_(self) -> str | None:
        if self.figure is not None and not self.notes:
            return None  # the picture is shown by itself, also where HTML is not
        shown = f'<video controls width="100%" src="{html.escape(quote(os.fsencode(self.path)))}"></video>'
        if self.figure is not None:
            shown = f'<img src="data:image/png;base64,{b64encode(rendered(self.figure, "png")).decode()}">'
        return f"{shown}{super()._repr_html_()}"


def plot(
    source: Path,
    out: Path | None = None,
    *,
    kind: str | None = None,
    predictions: Path | None = None,
    clip: str | None = None,
    format: str | None = None,
    predictions_format: str | None = None,
    profile: str | None = None,
    allow_missing: bool = False,
    table: str | None = None,
    audio: Path | None = None,
    video: Path | None = None,
    width: int | None = None,
) -> Plotted:
    """Draw *source* and write the picture.

    Args:
        source: labels or outputs (a file, folder or archive); for scores also a file of ``seldio score --json``.
        out: the file, its kind by its suffix; in the present folder and named after what is drawn by default.
        kind: one of :data:`KINDS`; by default the timeline of a clip, or the statistics of several.
        predictions: of a system, drawn together with the labels, or scored against them.
        clip: the one to draw.
        format: format of the source; found from its content by default.
        predictions_format: the format of the predictions; detected by default.
        profile: scores: the way of scoring.
        allow_missing: scores: score the clips that both have, where others lack a side.
        table: scores: which table, e.g. ``rooms``.
        audio: video: the recording; by default the one found with the labels.
        video: video: the video, found in the same way.
        width: video: pixels across.

    Raises:
        InvalidData: something in the files is wrong.
        UsageError: the request makes no sense.
        DataError: the files do not fit.
        SeldioError: matplotlib is missing, or the disk fails.
    """
    if kind is not None and kind not in KINDS:
        raise UsageError(f"unknown kind of picture {clipped(kind)}; choose from {', '.join(KINDS)}")
    path = None if out is None else os.fspath(out)
    if kind is None and path is not None and path.lower().endswith(".mp4"):
        kind = "video"
    if path is not None and kind != "video":
        kind_of(path)
    elif path is not None and not path.lower().endswith(".mp4"):
        raise UsageError(f"{clipped(path, 200)}: the name of a video must end with .mp4")
    special = {"profile": profile, "allow_missing": allow_missing, "table": table,
               "audio": audio, "video": video, "width": width}  # fmt: skip
    for option, value in special.items():
        if value not in (None, False) and kind != _ONLY[option]:
            raise UsageError(f"--{option.replace('_', '-')} is for --kind {_ONLY[option]}")
    if kind in ("statistics", "scores") and clip is not None:
        raise UsageError(f"--clip: {kind} are of a whole set; name the file of the clip as the source")
    if predictions_format is not None and predictions is None:
        raise UsageError("--predictions-format requires --predictions")
    check_installed()
    if kind == "scores":
        return _scores(source, path, predictions, format, predictions_format, profile, allow_missing, table)
    from seldio.viewer import plots
    from seldio.viewer.tracks import choose_clip, read_labels, tracks

    labels = read_labels(source, format)
    if kind == "statistics" or (kind is None and clip is None and len(labels.clips) != 1):
        if predictions is not None:
            raise UsageError(
                "statistics describe one set: leave out --predictions, or give them as SOURCE instead; for a "
                "picture of both, choose a clip with --clip, or --kind scores"
            )
        return _statistics(labels, path)
    clip, kind = choose_clip(labels, clip), kind or "timeline"
    reference, faults, predicted = tracks(labels, clip), labels.faults, None
    if predictions is not None:
        system = read_labels(predictions, predictions_format)
        # a single file of one clip counts whatever its name is
        alone = system.single and len(system.clips) == 1
        name = None if alone else clip if clip in system.clips else clip.rpartition("/")[2]
        predicted, faults = tracks(system, choose_clip(system, name)), (*faults, *system.faults)
    path = path or _default_path(clip, kind)
    if kind == "video":
        file = labels.path if labels.single else os.path.join(labels.path, labels.file(clip))
        return Plotted(path, kind, (*faults, *_film(file, audio, video, reference, predicted or [], path, width)))
    if kind == "map":
        from seldio.viewer.maps import energies

        return _saved(plots.directions_map(reference, predicted, clip, energies(labels, clip)), path, kind, faults)
    draw = {"timeline": plots.timeline, "directions": plots.directions}[kind]
    return _saved(draw(reference, predicted, clip), path, kind, faults)


def _saved(figure: Figure, path: str, kind: str, notes: tuple[str, ...]) -> Plotted:
    save(figure, path)
    return Plotted(path, kind, notes, figure)


def _default_path(name: str, kind: str) -> str:
    """Where to write what is named *name*, if nothing is said."""
    stem = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    stem = stem if stem and name_fault(stem) is None and stem not in (".", "..", "-", "<stdin>") else "seldio"
    return f"{stem}-{kind}.{'mp4' if kind == 'video' else next(iter(SUFFIXES))}"


def _scores(
    source: Path, path: str | None, predictions: Path | None, format: str | None, predictions_format: str | None,
    profile: str | None, allow_missing: bool, table: str | None,
) -> Plotted:  # fmt: skip
    from seldio.viewer import charts

    if predictions is None:
        if profile is not None or format is not None or allow_missing:
            raise UsageError(
                "--profile, --format and --allow-missing require --predictions: a score file is drawn as it is"
            )
        reports = charts.read_reports(source)
    else:
        from seldio.scores.contents import profile_for_maps

        layouts = {"format": predictions_format, "reference_format": format}
        if maps := profile_for_maps(predictions, source, profile, **layouts):
            from seldio.scores.imaging.score_maps import ImagingOptions, score_maps

            options = ImagingOptions(maps, allow_missing=allow_missing, force=True)
            report = score_maps(predictions, source, options, **layouts)
            return _bars((report,), source, path, table)
        from seldio.scores.seld.score_labels import SeldOptions, score_labels

        chosen = SeldOptions(jackknife=True, allow_missing=allow_missing, force=True)  # a notice says so
        chosen = chosen if profile is None else dataclasses.replace(chosen, profile=profile)
        reports = (
            score_labels(predictions, source, chosen, format=predictions_format, reference_format=format),
        )  # fmt: skip
    return _bars(reports, source, path, table)


def _bars(reports: Sequence[ScoreReport], source: Path, path: str | None, table: str | None) -> Plotted:
    from seldio.viewer import charts

    path = path or _default_path(os.fspath(source).removesuffix(".json"), "scores")
    notes = tuple(n.text for report in reports for n in report.notices if n.grave)
    return _saved(charts.draw_scores(reports, table), path, "scores", notes)


def _statistics(labels: PlottedLabels, path: str | None) -> Plotted:
    from seldio.viewer import charts

    name = os.path.splitext(labels.path)[0] if labels.single else labels.path
    path = path or _default_path(name, "statistics")
    title = os.path.basename(labels.path.rstrip("/" + os.sep))
    return _saved(charts.draw_statistics(charts.statistics(labels), title), path, "statistics", labels.faults)


def _film(
    labels: str, audio: Path | None, video: Path | None,
    reference: list[EventTrack], predictions: list[EventTrack], path: str, width: int | None,
) -> tuple[str, ...]:  # fmt: skip
    """Write the film about a label file; return what there is to know."""
    from seldio.data.clip_media import media_of
    from seldio.media.audio import NotAudio
    from seldio.media.video import Video
    from seldio.media.video_writing import sound
    from seldio.viewer.film import film

    clip = media_of(labels, audio, video)
    recording, pictures = clip.played, clip.files.get("video")
    for entry in (recording, pictures):
        if entry is not None and os.path.realpath(entry.path) == os.path.realpath(path):
            raise UsageError(f"{printable(path)} is a file of the clip: choose another file with -o")
    with ExitStack() as stack:
        ground = stack.enter_context(Video(pictures.path)) if pictures is not None else None
        track = None
        if recording is not None:
            try:
                track = sound(stack.enter_context(recording.open()), clip.array)
            except NotAudio as error:
                raise NotAudio(f"{printable(recording.path)} cannot be read as audio: {error.text}") from error
        made = film(path, reference, predictions, video=ground, sound=track, width=width)
    rate = f"{float(made.rate):.2f}".rstrip("0").rstrip(".")
    return (
        f"{plural(made.pictures, 'picture')} of {made.size[0]} × {made.size[1]}, {rate} a second",
        f"on {pictures.path}" if pictures is not None else "no video found next to the labels: a plain panorama",
        f"sound of {recording.path}: {made.sound}" if recording is not None
        else "no recording found next to the labels: no sound (use --audio FILE)",
    )  # fmt: skip
