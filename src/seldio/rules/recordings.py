"""The recordings of a file of questions, each looked at once: headers, expectations, times behind the end."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from seldio.errors import InvalidData, SeldioError
from seldio.formats.items import ItemReading
from seldio.rules.items import unsafe
from seldio.schema.qa import Item
from seldio.text import clipped

if TYPE_CHECKING:
    from seldio.media.audio import Entry, Probe

Find = Callable[[str], "Entry | None"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Expected:
    """What a benchmark's recordings have in common; None where nothing is known.

    Args:
        rate: frames a second.
        channels: how many.
        seconds: the longest that models hear.
        known: the rates of recordings that were published with another one, by path.
        aside: whether further keys ``start`` and ``end`` tell the part of the recording that is meant, as in
            questions that seldio made without cutting the audio.
    """

    rate: int | None = None
    channels: int | None = None
    seconds: float | None = None
    known: Mapping[str, int] = dataclasses.field(default_factory=dict)
    aside: bool = False


#: By item format. SO-Bench's loader stops at other rates and channel counts, and uses the first 20 s. Of the
#: 606 recordings of ruEnvAQA one is known (44,100 Hz, mono) and MERA's tasks differ, so nothing is expected there.
EXPECTED: dict[str, Expected] = {
    "so-bench": Expected(rate=16_000, channels=4, seconds=20.0, aside=True),
    "so-dataset-qa": Expected(rate=16_000, channels=4, seconds=20.0),
    "jasco": Expected(rate=16_000, channels=1, known={"dataset/v0/47.wav": 48_000}),
}
#: Seconds that a time may lie behind the end: the last label frame need not be full.
SLACK = 0.1


@dataclasses.dataclass(frozen=True)
class Recording:
    """A recording and where it is first named.

    Args:
        path: as the first item has it, without ``./``.
        row: number of the first item that names it.
        number: its place among the recordings of that item.
        entry: the file; None where there is none.
        probe: its header; None where it cannot be read.
        fault: why it cannot.
    """

    path: str
    row: int
    number: int
    entry: Entry | None
    probe: Probe | None = None
    fault: str | None = None


class Audio:
    """The recordings of a file of questions, each looked at once."""

    def __init__(self, reading: ItemReading, find: Find) -> None:
        self.reading = reading
        self.expected = EXPECTED.get(reading.format.name, Expected())
        self.recordings: dict[str, Recording] = {}
        for row, item in enumerate(reading.rows):
            for number, path in enumerate(item.audio if isinstance(item, Item) else ()):
                name = plain(path)
                if name not in self.recordings and not unsafe(path):  # what is unsafe is QAI108
                    self.recordings[name] = _looked_at(name, row, number, find(name))

    @property
    def here(self) -> list[Recording]:
        """Those that are there."""
        return [one for one in self.recordings.values() if one.entry is not None]

    @property
    def heard(self) -> Iterator[tuple[Recording, Probe]]:
        """Those that can be read, with their headers."""
        for one in self.recordings.values():
            if one.probe is not None and one.probe.frames:
                yield one, one.probe


def plain(path: str) -> str:
    """A path without the folder that it starts in: ``./a.wav`` is ``a.wav``."""
    return path.removeprefix("./")


def _looked_at(path: str, row: int, number: int, entry: Entry | None) -> Recording:
    return Recording(path, row, number, entry, *(probed(entry) if entry is not None else (None, None)))


def probed(entry: Entry) -> tuple[Probe | None, str | None]:
    """The header of a recording, or why it cannot be read."""
    from seldio.media.audio import probe_entry

    try:
        return probe_entry(entry), None
    except InvalidData as error:
        return None, error.finding.message
    except SeldioError as error:
        return None, str(error)


class Late(NamedTuple):
    """A time behind the end of what it counts in.

    Args:
        what: the time, for people.
        field: of the item.
        number: its place in that field, where it is a list.
        time: in seconds.
        end: the end, in seconds.
        clip: whether that is the end of a part of the recording.
    """

    what: str
    field: str
    number: int | None
    time: float
    end: float
    clip: bool


def late(item: Item, seconds: float, aside: bool) -> Iterator[Late]:
    """The times of *item* that lie behind the end of its recording, *seconds* long, or of its part of it."""
    start, end = _part(item, aside)
    if start is not None and end is not None and end < start:
        return  # that is QAI105, and nobody knows how long the part is
    if start is not None and start >= seconds:
        yield Late("start", "start", None, start, seconds, False)
        return
    if end is not None and end > seconds + SLACK:
        yield Late("end", "end", None, end, seconds, False)
        return
    length = (min(end, seconds) if end is not None else seconds) - (start or 0.0)
    told = item.start is not None and item.end is not None
    for what, field, number, time in _times(item):
        if time > length + SLACK and not (told and what == "time_span"):  # that is QAI105, without a recording
            yield Late(what, field, number, time, length, end is not None)


def _part(item: Item, aside: bool) -> tuple[float | None, float | None]:
    """Start and end of the part of the recording that an item is about, *aside* or not."""
    given = (item.extra or {}) if aside else {}
    start = item.start if item.start is not None else given.get("start")
    end = item.end if item.end is not None else given.get("end")
    return _seconds(start), _seconds(end)


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _times(item: Item) -> Iterable[tuple[str, str, int | None, float]]:
    """What an item says of times, each with its field, counted from the start of its clip."""
    meta = item.answer_meta
    if meta is not None and meta.time_span is not None:
        yield "time_span", "answer_meta", None, max(meta.time_span)
    if meta is not None and meta.onset_time is not None:
        yield "onset_time", "answer_meta", None, meta.onset_time
    for number, event in enumerate(item.events or ()):
        last = max((time for time in (event.onset, event.offset) if time is not None), default=None)
        if last is not None:
            yield f"the end of {clipped(event.class_name, 30)}", "events", number, last
