"""Questions in any language: recordings cut into clips, all at once and by columns; then each task, clip by clip."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio import geometry
from seldio.errors import DataError, UsageError
from seldio.files.names import without_suffix
from seldio.formats.datasets import named_split
from seldio.schema.events import clip_codes, origin_of
from seldio.schema.qa import Item, trusted
from seldio.schema.spans import repeated, spans
from seldio.schema.splits import TEST, meaning
from seldio.tasks.margins import DEFAULTS, Margins
from seldio.tasks.scene import Floats, Ints, Scene, SceneEvent, SceneRows, cells, only_cell
from seldio.tasks.task import EDGE, MOVES, SHORT, UNKNOWN, Made, Name, Say, Task, View, hashed, name_of
from seldio.tasks.wordings import ENGLISH, Wordings
from seldio.text import clipped, plural
from seldio.vocabularies import vocabulary

if TYPE_CHECKING:
    from seldio.formats.own_dataset import OwnDatasets

#: The reason counted for windows in which nothing sounds; their task is ``*``.
SILENT = "no source is active in the window"
#: Where items look for their audio: that of the recording, beside ``metadata_dev``.
AUDIO = "{path}.wav"
#: Seconds; the clips of SO-Bench and of ruEnvAQA are no longer.
LONGEST = 20.0


class ItemPlace(NamedTuple):
    """Which clip an item is about: the scene, the path of its audio, and the split."""

    scene: Scene
    audio: list[str]
    split: str

    def item(self, task: Task[Any, Any], draft: Any, **more: Any) -> Item:
        """Return the item of *task* with the question and events of a *draft*, and *more* values."""
        scene, values = self.scene, dict.fromkeys(Item.model_fields)
        events = [scene.proof(event) for event in draft.events]
        values |= {"audio": self.audio, "start": scene.start, "end": scene.end, "task": task.name, "split": self.split}
        return trusted(Item, values | {"question": draft.question, "events": events} | more)


def ask_all(
    table: pa.Table,
    askable: Mapping[str, Task[View, Made]],
    refused: Mapping[str, str],
    view_of: Callable[[Scene], View],
    make: Callable[[ItemPlace, Task[View, Made], Made], Item | str],
    *,
    names: Callable[[str], Name] = name_of,
    language: Wordings = ENGLISH,
    seed: int,
    skipped: Counter[tuple[str, str]],
    tasks: Collection[str] | None = None,
    window: float = LONGEST,
    hop: float = LONGEST,
    margins: Margins = DEFAULTS,
    audio_pattern: str = AUDIO,
    split: str | None = None,
    own: OwnDatasets | None = None,
    recordings: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Item]:
    """Yield the items of *tasks* about all clips of *table*, and count up *skipped* on the way.

    The table and the keywords are those of :func:`seldio.tasks.generate`, *askable* are all tasks that can be asked,
    in the order in which a clip's items come, and *refused* why others cannot; *view_of* makes of a clip what the tasks
    look at, and *make* the item of a draft, or the reason why there is none. *names* tells what a class is called in
    the *language* of the questions. *recordings* has the paths of recordings by label file; *audio_pattern* makes those
    of the others.
    """
    answered = {name: task.candidates for name, task in askable.items() if task.candidates is not None}
    for name in sorted(set(tasks or ()) - set(answered)):
        if name in refused:
            raise UsageError(f"{name}: {refused[name]}")
        raise UsageError(f"unknown task {name!r}; choose from {', '.join(answered)}")
    wanted = [(askable[name], candidates) for name, candidates in answered.items() if tasks is None or name in tasks]
    length, step = _label_frames("window", window), _label_frames("hop", hop)
    if length > 10 * LONGEST:
        raise UsageError(f"a window is at most {LONGEST:g} s long, as the clips of the benchmarks; not {window:g}")
    if "frame" not in table.column_names or table["frame"].null_count:
        raise UsageError("questions need label frames: convert the labels to a format that has them")

    def items() -> Iterator[Item]:
        counts = recording_frames(table).values()
        silent = sum(int(last_window(frames, length, step)) + 1 for frames in counts if frames)
        for scene in scenes(table, margins, length, step, names):
            silent -= 1
            split_of_clip = split or told_split(scene.path, own) or TEST
            place = ItemPlace(
                scene, [recordings.get(scene.path) or _audio(audio_pattern, scene, split_of_clip)], split_of_clip
            )
            luck, view = hashed(seed, scene.audio_id), view_of(scene)
            for task, candidates in wanted:
                for draft in candidates(view, margins, Say(luck, task.name, task.wordings, language)):
                    made = draft if isinstance(draft, str) else make(place, task, draft)
                    if isinstance(made, str):
                        skipped[task.name, made] += 1
                    else:
                        yield made
        if silent:
            skipped["*", SILENT] += silent

    return items()


def told_split(path: str, datasets: OwnDatasets | None = None) -> str | None:
    """The split of a recording, as its dataset, the folder of its labels or its name tells it; None if none does."""
    split_named = datasets.split(path) if datasets is not None else None
    return meaning(split_named or named_split(path)) or split_named


def _label_frames(option: str, seconds: float) -> int:
    """Convert seconds to label frames: a whole number, at least one."""
    frames = round(seconds * 10) if math.isfinite(seconds) else 0
    if frames < 1 or abs(frames - seconds * 10) > 1e-6:
        raise UsageError(f"{option} is a multiple of 0.1 s above 0, not {seconds!r}")
    return frames


def recording_place(label_file: str) -> str:
    """Return the usual path, without suffix, of a label file's recording: ``foa_dev/a`` of ``metadata_dev/a.csv``."""
    place = without_suffix(label_file)
    return "foa_" + place.removeprefix("metadata_") if place.startswith("metadata_") else place


def _audio(pattern: str, scene: Scene, split: str) -> str:
    place = recording_place(scene.path)
    try:
        return pattern.format(audio_id=scene.audio_id, clip=scene.clip, split=split, path=place)
    except (KeyError, IndexError, ValueError) as error:
        raise UsageError(f"{pattern!r} may hold {{audio_id}}, {{clip}}, {{split}} and {{path}}: {error}") from error


# --- clips ---------------------------------------------------------------------------------------------------
class _Pieces(NamedTuple):
    """Events cut at the ends of windows: the span each came from, its window, its rows there."""

    span: Ints
    window: Ints
    low: Ints
    high: Ints


def scenes(
    table: pa.Table, margins: Margins, window: int, hop: int, called: Callable[[str], Name] = name_of
) -> Iterator[Scene]:
    """The clips of *table* in which something sounds, by recording and time; *window* and *hop* in label frames."""
    if not table.num_rows:
        return
    found_spans = spans(table)
    codes, names = clip_codes(table)
    span_clip = codes[found_spans.rows[found_spans.starts[:-1]]].astype(np.int64)
    lengths = recording_frames(table)
    frames = np.asarray(table["frame"].to_numpy(), np.int64)[found_spans.rows]
    ends = np.array([lengths[name] for name in names], np.int64)
    pieces = _cut(frames, found_spans.starts, last_window(ends, window, hop)[span_clip], window, hop)
    rank = np.argsort(np.argsort(np.array(names, dtype=object)))[span_clip[pieces.span]]
    # by recording, window and onset; of one onset in the order of the spans (class, source)
    order = np.lexsort((pieces.span, frames[pieces.low], pieces.window, rank))
    pieces = _Pieces(*(column[order] for column in pieces))
    size = pieces.high - pieces.low
    taken = np.arange(int(size.sum())) + np.repeat(pieces.low - (np.cumsum(size) - size), size)
    rows = _rows(table, found_spans.rows[taken], frames[taken], margins)
    _check_directions(table, found_spans.rows[taken], span_clip[pieces.span].repeat(size), rows)
    clip = span_clip[pieces.span]
    new = np.flatnonzero((np.diff(clip) != 0) | (np.diff(pieces.window) != 0)) + 1
    groups = list(pairwise([0, *new.tolist(), len(clip)])) if len(clip) else []
    numbers = [number for low, high in groups for number in range(high - low)]
    doubled = repeated(table)[found_spans.rows[taken]]
    events = _events(table, found_spans.rows[pieces.low], pieces, numbers, rows, doubled, hop, margins, called)
    means = np.stack(geometry.to_cartesian([e.azimuth for e in events], [e.elevation for e in events]), axis=1)
    paths = {file.clip: file.name for file in origin_of(table).files}
    for low, high in groups:
        name = names[span_clip[pieces.span[low]]]
        first = int(pieces.window[low]) * hop
        end = min(first + window, lengths[name])
        yield Scene(name, paths.get(name, name), first, end, events[low:high], rows, means[low:high])


def recording_frames(table: pa.Table) -> dict[str, int]:
    """Label frames of every recording: as its file tells, at least to the end of its last event."""
    codes, names = clip_codes(table)
    ends = np.zeros(len(names), np.int64)
    np.maximum.at(ends, codes, np.asarray(table["frame"].to_numpy(), np.int64) + 1)
    lengths = {file.clip: file.frames or 0 for file in origin_of(table).files}
    return lengths | {name: max(int(end), lengths.get(name, 0)) for name, end in zip(names, ends, strict=True)}


def last_window(length: Any, window: int, hop: int) -> Any:
    """The number of the last window of a recording (label frames): the first that reaches its end."""
    return np.maximum(0, np.minimum(-((window - length) // hop), (length - 1) // hop))


def _cut(frames: Ints, starts: Ints, last: Ints, window: int, hop: int) -> _Pieces:
    size = np.diff(starts)
    begin, stop = frames[starts[:-1]], frames[starts[1:] - 1]
    low = np.maximum(0, -((window - 1 - begin) // hop))
    high = np.minimum(stop // hop, last)
    count = np.maximum(0, high - low + 1)
    span = np.repeat(np.arange(len(size)), count)
    number = np.arange(len(span)) - np.repeat(np.cumsum(count) - count, count) + low[span]
    offset = number * hop - begin[span]
    first = starts[span] + np.clip(offset, 0, size[span])
    after = starts[span] + np.clip(offset + window, 0, size[span])
    keep = after > first
    return _Pieces(span[keep], number[keep], first[keep], after[keep])


def _column(table: pa.Table, field: str, rows: Ints) -> Floats:
    """Return a column of numbers; nan if there is none."""
    if field not in table.column_names:
        return np.full(len(rows), np.nan)
    return np.asarray(table[field].cast(pa.float64()).to_numpy(), np.float64)[rows]


def _rows(table: pa.Table, rows: Ints, frames: Ints, margins: Margins) -> SceneRows:
    azimuth, elevation, distance = (_column(table, field, rows) for field in ("azimuth", "elevation", "distance"))
    if "hemisphere" in table.column_names:
        side = np.asarray(table["hemisphere"].fill_null(False).to_numpy(zero_copy_only=False))[rows]
        elevation = np.where(side, np.nan, elevation)
    distance = np.where(distance > 0, distance, np.nan)  # 0 stands for "not measured"
    units = np.stack(geometry.to_cartesian(azimuth, elevation), axis=1)
    least = math.cos(math.radians(margins.still)) - 1e-12
    steady = _stays(units, lambda units_, other: np.einsum("ij,ij->i", units_, other) >= least, margins.frames)
    level = _stays(distance, lambda meters, other: np.abs(meters - other) <= margins.metres + 1e-9, margins.frames)
    return SceneRows(frames, azimuth, elevation, distance, units, steady, level)


def _check_directions(table: pa.Table, places: Ints, clip: Ints, rows: SceneRows) -> None:
    """Raise DataError for a row with no direction; it counts those of one recording, whatever the parts."""
    wrong = {"azimuth": np.abs(rows.azimuth) > 180, "elevation": np.abs(rows.elevation) > 90}
    wrong_rows = np.flatnonzero(np.logical_or(*wrong.values()))
    if len(wrong_rows):
        name = next(name for name in wrong if (wrong[name] & (clip == clip[wrong_rows[0]])).any())
        alike = places[wrong[name] & (clip == clip[wrong_rows[0]])]
        row, most = table.slice(alike[0], 1).to_pylist()[0], 180 if name == "azimuth" else 90
        count = plural(len(np.unique(alike)), "row")  # windows may overlap
        raise DataError(
            f"{name} {row[name]:g} of {clipped(str(row['clip']))} at label frame {row['frame']} is not between "
            f"-{most} and {most} degrees ({count} like it): seldio validate says where"
        )


def _stays(values: Floats, alike: Callable[[Floats, Floats], Any], wide: int) -> Any:
    """Mask the rows that are like all rows up to *wide* before and after them."""
    stays = np.ones(len(values), bool)
    for step in range(1, min(wide + 1, len(values))):
        same = alike(values[step:], values[:-step])
        stays[step:] &= same
        stays[:-step] &= same
    return stays


def _events(
    table: pa.Table, heads: Ints, pieces: _Pieces, numbers: list[int], rows: SceneRows, doubled: Any, hop: int,
    margins: Margins, called: Callable[[str], Name],
) -> list[SceneEvent]:  # fmt: skip
    size = pieces.high - pieces.low
    high = np.cumsum(size)
    low = high - size
    shift = pieces.window * hop
    # of the mean of each event's unit vectors, and the greatest angle to it
    azimuth, elevation = geometry.to_polar(*np.add.reduceat(rows.units, low).T)
    mean = np.repeat(np.stack(geometry.to_cartesian(azimuth, elevation), axis=1), size, axis=0)
    cosine = np.minimum.reduceat(np.einsum("ij,ij->i", mean, rows.units), low)
    spread = np.round(np.degrees(np.arccos(np.clip(cosine, -1, 1))), 4)
    azimuth, elevation = np.round(azimuth, 6), np.round(elevation, 6)
    reach = np.maximum.reduceat(rows.distance, low) - np.minimum.reduceat(rows.distance, low)
    columns: list[Any] = [
        rows.frame[low] - shift,
        rows.frame[high - 1] + 1 - shift,
        azimuth,
        elevation,
        spread,
        np.round(np.add.reduceat(rows.distance, low) / size, 6),
        np.round(reach, 6),
        np.round(rows.distance[high - 1] - rows.distance[low], 6),
        np.bitwise_or.reduceat(cells(rows.azimuth, rows.elevation, margins.sector), low),
    ]
    certain = [only_cell(mask) for mask in cells(azimuth, elevation, margins.sector).tolist()]
    short = (columns[1] - columns[0] < 10 * margins.shortest - 1e-6).tolist()
    steady = np.where(np.isnan(azimuth), UNKNOWN, np.where(spread <= margins.still, "", MOVES)).tolist()
    unsteady = [reason or None for reason in steady]
    unplaced = [
        SHORT if brief else reason or (EDGE if cell < 0 else None)
        for brief, reason, cell in zip(short, unsteady, certain, strict=True)
    ]
    twice = np.logical_or.reduceat(doubled, low).tolist()
    judged = (certain, twice, short, unsteady, unplaced)
    lists = (
        *_labels(table, heads, called),
        *(column.tolist() for column in columns),
        *judged,
        low.tolist(),
        high.tolist(),
    )
    return list(map(SceneEvent._make, zip(numbers, *lists, strict=True)))


def _labels(
    table: pa.Table, heads: Ints, called: Callable[[str], Name]
) -> tuple[list[Name], list[int | None], list[int | None]]:
    taken = table.take(heads)
    nothing: list[Any] = [None] * len(heads)
    ids, written, sources = (
        taken[field].to_pylist() if field in taken.column_names else nothing
        for field in ("class_id", "class_name", "source")
    )
    classes = vocabulary(origin_of(table).vocabulary or "starss")
    names = [
        called(classes.label(number) if number is not None else text or "unknown sound")
        for number, text in zip(ids, written, strict=True)
    ]
    return names, ids, sources
