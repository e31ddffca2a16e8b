"""Questions about labels in any language: recordings cut into clips of at most 20 s, and each task asked clip by clip.

All clips of a table are cut at once, by columns; a :class:`Scene` then holds one clip for the tasks, which look at
plain Python values.

Directions are those that people say: eight sectors at three heights, straight up and straight down.
A *cell* is one of 26: ``8 * height + sector`` with the sectors counter-clockwise from the front (front,
front-left, left, …) and the heights level, above, below; then straight above and straight below. Sectors
are 45 degrees wide around their middles; *above* begins at elevation 20, *straight above* at 65.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from seldio import geometry
from seldio.errors import DataError, UsageError
from seldio.files.names import without_suffix
from seldio.formats.datasets import named_split
from seldio.schema.events import clip_codes, origin_of
from seldio.schema.qa import Item, Proof, trusted
from seldio.schema.spans import repeated, spans
from seldio.schema.splits import TEST, meaning
from seldio.tasks.names import Name, name_of
from seldio.tasks.specs import Margins, QuestionOptions, TaskSpec
from seldio.tasks.task import ENGLISH, LONGEST, NAMELESS, Say, Why, Wordings, digest, hashed
from seldio.text import clipped, plural
from seldio.vocabularies import vocabulary

if TYPE_CHECKING:
    from seldio.formats.own_dataset import OwnDatasets

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
View = TypeVar("View")
#: The reason counted for windows in which nothing sounds; their task is ``*``.
SILENT = "no source is active in the window"
#: Where items look for their audio: that of the recording, beside ``metadata_dev``.
AUDIO = "{path}.wav"


class SceneEvent(NamedTuple):
    """One event as far as it sounds in the clip."""

    number: int  # its place in the scene
    name: Name  # of its class
    class_id: int | None  # index into the vocabulary, or None
    source: int | None  # number of the source, or None where the labels have none
    first: int  # label frame (from the start of the clip) at which it begins
    end: int  # label frame after its last
    azimuth: float  # of the mean of its unit vectors, degrees, +90 is left; nan where a direction is not known
    elevation: float  # likewise
    spread: float  # the greatest angle between that mean and one of its directions, degrees
    distance: float  # mean, metres; nan where one is not known
    reach: float  # greatest distance less the least, metres
    gain: float  # last distance less the first, metres
    cells: int  # mask of the direction cells that it touches
    cell: int  # the one cell that its mean lies in for sure, else -1
    doubled: bool  # whether one of its rows may be written twice, see :func:`seldio.schema.spans.repeated`
    short: bool  # whether it is shorter than is asked about
    unsteady: str | None  # why it has no one direction; None where it has
    unplaced: str | None  # why no direction word says where it is; None where one does
    low: int  # its first row in :class:`SceneRows`
    high: int  # the row after its last


class SceneRows(NamedTuple):
    """The event frames of all clips as columns, event by event; ``units`` are unit vectors, shape (rows, 3).

    ``steady`` and ``level`` tell of each row whether direction and distance stay as they are for the margin
    ``seconds`` before and after it, within the margins ``still`` and ``metres``.
    """

    frame: Ints
    azimuth: Floats
    elevation: Floats
    distance: Floats
    units: Floats
    steady: np.ndarray[Any, np.dtype[np.bool_]]
    level: np.ndarray[Any, np.dtype[np.bool_]]


class Scene:
    """One clip and what sounds in it.

    Args:
        clip: name of the recording.
        path: its label file.
        first: label frame of the recording at which the clip begins.
        end: label frame after its last.
        events: by onset.
        rows: the event frames of all clips.

    ``alike`` has the events of each class by what it is called.
    """

    def __init__(self, clip: str, path: str, first: int, end: int, events: list[SceneEvent], rows: SceneRows) -> None:
        self.clip, self.path, self.rows = clip, path, rows
        self.first, self.length = first, end - first
        self.start, self.end = first / 10, end / 10
        self.events = events
        self.audio_id = "foa_" + digest(clip, first, end)
        self.alike: dict[str, list[SceneEvent]] = {}
        for event in events:
            self.alike.setdefault(event.name.spoken, []).append(event)
        self._proofs: dict[int, Proof] = {}
        self._closest: dict[int, float] = {}  # by event: the least angle to a row of another one, degrees

    @cached_property
    def unnamed(self) -> list[str | None]:
        """By event: why the name of its class does not single it out; None where it does."""
        repeated = {name: Why.REPEATED if len(events) > 1 else None for name, events in self.alike.items()}
        return [
            Why.DOUBLED if event.doubled else Why.SHORT if event.short else repeated[event.name.spoken]
            for event in self.events
        ]

    @cached_property
    def nameable(self) -> tuple[list[SceneEvent], list[str]]:
        """The events with a class of their own and one direction, and the reasons why others are not among them."""
        reasons = [named or event.unsteady for named, event in zip(self.unnamed, self.events, strict=True)]
        nameable_events = [event for event, reason in zip(self.events, reasons, strict=True) if reason is None]
        return nameable_events, [reason for reason in reasons if reason is not None]

    @cached_property
    def unlocated(self) -> list[str | None]:
        """By event: why no words for a direction single it out, as others come from there; None where some do."""
        reasons = [event.unplaced for event in self.events]
        for event in self.events:
            rivals = RIVALS[event.cell]
            if not event.unplaced and any(other.cells & rivals for other in self.events if other is not event):
                reasons[event.number] = Why.SHARED
        return reasons

    def is_crowded(self, event: SceneEvent, margin: float) -> bool:
        """Return whether a direction of another event is nearer than *margin* degrees to one of *event*, or may be."""
        if event.number not in self._closest:
            units = self.rows.units
            low, high = self.events[0].low, self.events[-1].high
            others = np.concatenate((units[low : event.low], units[event.high : high]))
            cosine = float((units[event.low : event.high] @ others.T).max(initial=-1))
            self._closest[event.number] = round(math.degrees(math.acos(max(-1.0, min(1.0, cosine)))), 4)
        return not self._closest[event.number] > margin

    def proof(self, event: SceneEvent) -> Proof:
        """Return *event* as a proof: degrees to 0.1 without a negative zero, metres to 0.01."""
        if event.number not in self._proofs:
            has_direction = not math.isnan(event.azimuth)
            values = {
                "class_name": event.name.label,
                "class_id": event.class_id,
                "source": event.source,
                "onset": event.first / 10,
                "offset": event.end / 10,
                "azimuth": round(event.azimuth, 1) + 0.0 if has_direction else None,
                "elevation": round(event.elevation, 1) + 0.0 if has_direction else None,
                "distance": None if math.isnan(event.distance) else round(event.distance, 2),
                "extra": None,
            }
            self._proofs[event.number] = trusted(Proof, values)
        return self._proofs[event.number]


# --- directions in words -------------------------------------------------------------------------------------
#: Half the width of a sector, where "above" begins, where "straight above" begins: degrees.
HALF, ABOVE, STRAIGHT = 22.5, 20.0, 65.0
_UP, _DOWN = 24, 25
#: The mask of a direction that is not known: it may be anywhere.
ANYWHERE = (1 << 26) - 1


#: For each cell the mask of those that its words may mean: "left" may be said of what is left and above.
RIVALS = (
    *(0x10101 << cell for cell in range(8)), *(1 << cell for cell in range(8, 24)),
    1 << _UP | 0xFF << 8, 1 << _DOWN | 0xFF << 16,
)  # fmt: skip


def cells(azimuth: Any, elevation: Any, margin: float) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return masks of the cells that directions (degrees) lie in or nearer to than *margin* degrees; not known: all."""
    turned = (np.nan_to_num(azimuth) + HALF) % 360.0
    sector = np.minimum(turned // 45.0, 7).astype(np.int64)
    inside = turned - 45.0 * sector
    near = np.left_shift(1, sector)
    near |= np.where(inside <= margin, np.left_shift(1, (sector - 1) % 8), 0)
    near |= np.where(inside >= 45.0 - margin, np.left_shift(1, (sector + 1) % 8), 0)
    high = np.abs(elevation)
    raised = (high >= ABOVE - margin) & (high <= STRAIGHT + margin)
    upward, downward = elevation > 0, elevation < 0
    mask = np.where(high <= ABOVE + margin, near, 0)
    mask |= np.where(raised & upward, near << 8, 0) | np.where(raised & downward, near << 16, 0)
    mask |= np.where(high >= STRAIGHT - margin, np.where(upward, 1 << _UP, 1 << _DOWN), 0)
    return np.where(np.isfinite(azimuth) & np.isfinite(elevation), mask, ANYWHERE)


def only_cell(mask: int) -> int:
    """Return the number of the one cell in *mask*; -1 where there are more."""
    return mask.bit_length() - 1 if mask and not mask & (mask - 1) else -1


# --- clips ---------------------------------------------------------------------------------------------------
def scenes(
    table: pa.Table,
    lengths: Mapping[str, int],
    lasts: Mapping[str, int],
    margins: Margins,
    window: int,
    hop: int,
    called: Callable[[str], Name] = name_of,
) -> Iterator[Scene]:
    """Yield the clips of *table* in which something sounds, by recording and time.

    *lengths* of recordings, *window* and *hop* are in label frames; *lasts* are the numbers of their last windows.
    """
    if not table.num_rows:
        return
    events_of_table = spans(table)
    starts = events_of_table.starts
    codes, names = clip_codes(table)
    span_clip = codes[events_of_table.rows[starts[:-1]]].astype(np.int64)
    frames = np.asarray(table["frame"].to_numpy(), np.int64)[events_of_table.rows]
    # each event in each window that it reaches into
    size = np.diff(starts)
    begin, stop = frames[starts[:-1]], frames[starts[1:] - 1]
    last = np.array([lasts[name] for name in names], np.int64)[span_clip]
    earliest = np.maximum(0, -((window - 1 - begin) // hop))
    count = np.maximum(0, np.minimum(stop // hop, last) - earliest + 1)
    span = np.repeat(np.arange(len(size)), count)
    number = np.arange(len(span)) - np.repeat(np.cumsum(count) - count, count) + earliest[span]
    offset = number * hop - begin[span]
    low, high = (starts[span] + np.clip(edge, 0, size[span]) for edge in (offset, offset + window))
    # by recording, window and onset; of one onset in the order of the spans (class, source)
    filled = np.flatnonzero(high > low)
    rank = np.argsort(np.argsort(np.array(names, dtype=object)))[span_clip[span[filled]]]
    order = filled[np.lexsort((span[filled], frames[low[filled]], number[filled], rank))]
    low, number, size = low[order], number[order], (high - low)[order]
    taken = np.arange(int(size.sum())) + np.repeat(low - (np.cumsum(size) - size), size)
    clip = span_clip[span[order]]
    places = events_of_table.rows[taken]
    rows = _rows(table, places, frames[taken], clip.repeat(size), margins)
    new = np.flatnonzero((np.diff(clip) != 0) | (np.diff(number) != 0)) + 1
    groups = list(pairwise([0, *new.tolist(), len(clip)])) if len(clip) else []
    numbers = [place for first, after in groups for place in range(after - first)]
    heads = table.take(events_of_table.rows[low])
    events = _events(heads, called, numbers, size, number * hop, rows, repeated(table)[places], margins)
    paths = {file.clip: file.name for file in origin_of(table).files}
    for first, after in groups:
        name = names[clip[first]]
        start = int(number[first]) * hop
        end = min(start + window, lengths[name])
        yield Scene(name, paths.get(name, name), start, end, events[first:after], rows)


def _rows(table: pa.Table, places: Ints, frames: Ints, clip: Ints, margins: Margins) -> SceneRows:
    """Return the rows at *places* as columns; raise DataError for one with no direction.

    The error counts those of one recording, whatever the parts.
    """
    azimuth, elevation, distance = (
        np.asarray(table[field].cast(pa.float64()).to_numpy(), np.float64)[places]
        if field in table.column_names
        else np.full(len(places), np.nan)
        for field in ("azimuth", "elevation", "distance")
    )
    if "hemisphere" in table.column_names:
        side = np.asarray(table["hemisphere"].fill_null(False).to_numpy(zero_copy_only=False))[places]
        elevation = np.where(side, np.nan, elevation)
    wrong = {"azimuth": np.abs(azimuth) > 180, "elevation": np.abs(elevation) > 90}
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
    distance = np.where(distance > 0, distance, np.nan)  # 0 stands for "not measured"
    units = np.stack(geometry.to_cartesian(azimuth, elevation), axis=1)
    # whether rows are like all rows up to the margin before and after them
    least = math.cos(math.radians(margins.still)) - 1e-12
    steady, level = np.ones(len(units), bool), np.ones(len(units), bool)
    for step in range(1, min(margins.frames + 1, len(units))):
        still = np.einsum("ij,ij->i", units[step:], units[:-step]) >= least
        near = np.abs(distance[step:] - distance[:-step]) <= margins.metres + 1e-9
        for stays, same in ((steady, still), (level, near)):
            stays[step:] &= same
            stays[:-step] &= same
    return SceneRows(frames, azimuth, elevation, distance, units, steady, level)


def _events(
    heads: pa.Table,
    called: Callable[[str], Name],
    numbers: list[int],
    size: Ints,
    shift: Ints,
    rows: SceneRows,
    twice: Any,
    margins: Margins,
) -> list[SceneEvent]:
    """Return the events whose first rows are *heads*, of *size* rows, in windows that begin at the frame *shift*."""
    nothing: list[Any] = [None] * len(heads)
    ids, written, sources = (
        heads[field].to_pylist() if field in heads.column_names else nothing
        for field in ("class_id", "class_name", "source")
    )
    classes = vocabulary(origin_of(heads).vocabulary or "starss")
    names = [
        called(classes.label(number) if number is not None else text or "unknown sound")
        for number, text in zip(ids, written, strict=True)
    ]
    high = np.cumsum(size)
    low = high - size
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
    steady = np.where(np.isnan(azimuth), Why.UNKNOWN, np.where(spread <= margins.still, "", Why.MOVES)).tolist()
    unsteady = [reason or None for reason in steady]
    unplaced = [
        Why.SHORT if brief else reason or (Why.EDGE if cell < 0 else None)
        for brief, reason, cell in zip(short, unsteady, certain, strict=True)
    ]
    judged = (certain, np.logical_or.reduceat(twice, low).tolist(), short, unsteady, unplaced)
    measured = [column.tolist() for column in columns]
    lists = (numbers, names, ids, sources, *measured, *judged, low.tolist(), high.tolist())
    return list(map(SceneEvent._make, zip(*lists, strict=True)))


# --- questions about clips ------------------------------------------------------------------------------------------


#: Of each option, the right one first, what it says of a class, a number or its own place; none of an open question.
Claims = tuple[tuple[Hashable, ...], ...]


class Draft(NamedTuple):
    """A question with its answer, before it gets its id."""

    question: str
    answer: str  # the letter of the right option where there are options
    canonical: str
    events: Sequence[SceneEvent]
    meta: Mapping[str, float | list[float]] = MappingProxyType({})
    options: list[str] | None = None
    instruction: str | None = None
    #: which answers count as the same where that is not the canonical one; to guess it does not answer the question
    group: Hashable = None
    claims: Callable[[], Claims] = tuple


class Lot(NamedTuple):
    """All that the choice of items looks at of an item, see :mod:`seldio.tasks.mix`."""

    task: str
    group: Hashable  # equal answers have one
    chance: int = 0  # the luck of the draw
    guessable: bool = False  # whether guessing the group answers the question: not so of bins of numbers
    claims: Claims = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Task(TaskSpec, Generic[View]):
    """A task with what looks at a clip and yields drafts and, for each candidate that is skipped, the reason."""

    candidates: Callable[[View, Margins, Say], Iterator[Draft | str]]


def ask_all(
    table: pa.Table,
    asked: Mapping[str, Task[View]],
    refused: Mapping[str, str],
    view_of: Callable[[Scene], View],
    make: Callable[[Scene, Task[View], Draft], dict[str, Any]],
    options: QuestionOptions,
    *,
    names: Callable[[str], Name] = name_of,
    language: Wordings = ENGLISH,
    skipped: Counter[tuple[str, str]],
    audio_pattern: str = AUDIO,
    datasets: OwnDatasets | None = None,
    recordings: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[Item, Lot]]:
    """Yield the items about all clips of *table* with what they are chosen by, and count up *skipped* on the way.

    The table and *audio_pattern* are those of :func:`seldio.tasks.generate`, *asked* are all tasks that can be asked,
    in the order in which a clip's items come, and *refused* why others cannot; *view_of* makes of a clip what the tasks
    look at, and *make* the values of a draft's item that are neither the clip's nor the draft's. *names* tells what a
    class is called in the *language* of the questions. *recordings* has the paths of recordings by label file;
    *audio_pattern* makes those of the others.
    """
    tasks, window, margins = options.tasks, options.window, options.margins
    for name in sorted(set(tasks or ()) - set(asked)):
        if name in refused:
            raise UsageError(f"{name}: {refused[name]}")
        raise UsageError(f"unknown task {name!r}; choose from {', '.join(asked)}")
    wanted = [task for name, task in asked.items() if tasks is None or name in tasks]
    hop = window if options.hop is None else options.hop
    length, step = (round(seconds * 10) if math.isfinite(seconds) else 0 for seconds in (window, hop))
    for option, seconds, count in (("window", window, length), ("hop", hop, step)):
        if count < 1 or abs(count - seconds * 10) > 1e-6:
            raise UsageError(f"{option} is a multiple of 0.1 s above 0, not {seconds!r}")
    if length > 10 * LONGEST:
        raise UsageError(f"a window is at most {LONGEST:g} s long, as the clips of the benchmarks; not {window:g}")
    if "frame" not in table.column_names or table["frame"].null_count:
        raise UsageError("questions need label frames: convert the labels to a format that has them")
    # label frames of every recording: as its file tells, at least to the end of its last event
    lengths = {file.clip: file.frames or 0 for file in origin_of(table).files}
    codes, clips = clip_codes(table)
    ends = np.zeros(len(clips), np.int64)
    np.maximum.at(ends, codes, np.asarray(table["frame"].to_numpy(), np.int64) + 1)
    lengths |= {clip: max(end, lengths.get(clip, 0)) for clip, end in zip(clips, ends.tolist(), strict=True)}
    # the last window is the first that reaches the end of the recording
    lasts = {clip: max(0, min((end - length + step - 1) // step, (end - 1) // step)) for clip, end in lengths.items()}

    def items() -> Iterator[tuple[Item, Lot]]:  # what is wrong with the options is said before the first one
        silent = sum(lasts[clip] + 1 for clip, frames in lengths.items() if frames)
        unfilled = dict.fromkeys(Item.model_fields)
        for scene in scenes(table, lengths, lasts, margins, length, step, names):
            silent -= 1
            split = options.split or told_split(scene.path, datasets) or TEST
            audio = [recordings.get(scene.path) or _audio(audio_pattern, scene, split)]
            place = {**unfilled, "audio": audio, "start": scene.start, "end": scene.end, "split": split}
            luck, view = hashed(options.seed, scene.audio_id), view_of(scene)
            for task in wanted:
                for draft in task.candidates(view, margins, Say(luck, task.name, language)):
                    if isinstance(draft, str):
                        skipped[task.name, draft] += 1
                        continue
                    question, answer, canonical, events, _, choices, instruction, group, claims = draft
                    if NAMELESS in question or NAMELESS in answer:
                        skipped[task.name, Why.NO_NAME] += 1
                        continue
                    values = {
                        **place,
                        "task": task.name,
                        "question": question,
                        "instruction": instruction,
                        "options": choices,
                        "answer": answer,
                        "canonical_answer": canonical,
                        "events": [scene.proof(event) for event in events],
                        **make(scene, task, draft),
                    }
                    drawn = (hashed(options.seed, values["id"]), group is None, claims()) if options.selects else ()
                    yield trusted(Item, values), Lot(task.name, canonical if group is None else group, *drawn)
        if silent:
            skipped["*", SILENT] += silent

    return items()


def told_split(path: str, datasets: OwnDatasets | None = None) -> str | None:
    """Return the split of a recording: as its dataset, its folder or its name tells it; None if none does."""
    split_named = datasets.split(path) if datasets is not None else None
    return meaning(split_named or named_split(path)) or split_named


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
