"""QAI3: the recordings that questions are about, judged by their headers.

Each recording is opened once, and only its header is read. What each benchmark expects of
its recordings is data: :attr:`seldio.benchmarks.Benchmark.recordings`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio.benchmarks import find
from seldio.files import Entry
from seldio.findings import Finding
from seldio.rules import Check
from seldio.rules.collection import MANY, MakeFinding, probed
from seldio.rules.item_table import ItemTable
from seldio.schema.arrays import pc
from seldio.text import clipped, plural, printable

if TYPE_CHECKING:
    from seldio.media.audio import Probe

#: The file that a path of an item names.
Find = Callable[[str], "Entry | None"]
#: What the recordings of a benchmark have in common, see :attr:`seldio.benchmarks.Benchmark.recordings`.
Expected = Mapping[str, Any]
#: What is wrong with a recording, by its header, in words that follow its name, and what to do.
Faults = Iterator[tuple[str, str]]
#: Seconds by which a time may be past the end: the last label frame may be partial.
SLACK = 0.1


class NamedRecording(NamedTuple):
    """A recording and where it is first mentioned."""

    path: str  # as the first item has it, without ``./``
    row: int  # number of the first item that mentions it
    number: int  # its place among the recordings of that item
    probe: Probe | None  # its header; None where it cannot be read
    fault: str | None  # why it cannot
    ours: bool  # whether that item is one of the benchmark, as far as it tells


class Audio:
    """The recordings that the questions of a file refer to."""

    def __init__(self, table: ItemTable, look: Find) -> None:
        self.table, benchmark = table, find(table.format)
        self.expected: Expected = benchmark.recordings if benchmark is not None else {}
        #: those that exist, by path, and the first mention of each that is missing
        self.recordings: dict[str, NamedRecording] = {}
        self.missing: list[int] = []
        paths, ours = table.paths, np.ones(len(table), bool)
        for field in benchmark.fields if benchmark is not None and table.asks else ():
            if field.name == self.expected.get("where"):
                ours = np.array(pc.is_in(table.field(field), value_set=pa.array(field.values)).to_pylist(), bool)
        mentions = np.unique(paths.name, return_index=True)[1].tolist() if table.asks else ()
        # ``./a.wav`` is ``a.wav``
        both = {*paths.names} if any(name.startswith("./") for name in paths.names) else ()
        for name, unsafe, mention in zip(paths.names, paths.unsafe, mentions, strict=False):
            path, row, number = name.removeprefix("./"), int(paths.row[mention]), int(paths.place[mention])
            if unsafe or (path != name and path in both):
                continue  # unsafe paths are QAI108
            if (entry := look(path)) is None:
                self.missing.append(mention)
            else:
                self.recordings[path] = NamedRecording(path, row, number, *probed(entry), bool(ours[row]))

    @cached_property
    def readable(self) -> list[tuple[NamedRecording, Probe]]:
        """Those that can be read, with their headers."""
        opened = ((recording, recording.probe) for recording in self.recordings.values())
        return [(recording, probe) for recording, probe in opened if probe is not None and probe.frames]


def _by_header(faults: Callable[[NamedRecording, Probe, Expected], Faults]) -> Check:
    """Make a rule of what is wrong with recordings; a fault that all of them have is one finding."""

    @wraps(faults)
    def check(audio: Audio, finding: MakeFinding) -> Iterator[Finding]:
        by_fault: dict[tuple[str, str], list[NamedRecording]] = {}
        for recording, probe in audio.readable:
            for fault in faults(recording, probe, audio.expected):
                by_fault.setdefault(fault, []).append(recording)
        for (wrong, hint), recordings in by_fault.items():
            shared = len(recordings) == len(audio.readable) >= MANY
            for recording in recordings[:1] if shared else recordings:
                message, them = f"{clipped(recording.path)} {wrong}", "it"
                if shared:
                    verb = wrong.replace("has", "have", 1).replace("lasts", "last", 1)
                    message, them = f"all {len(recordings):,} recordings {verb}", "them"
                yield finding(recording.row, "audio", message, hint.format(them), recording.number)

    return check


def audio_missing(audio: Audio, finding: MakeFinding) -> Iterator[Finding]:
    paths = audio.table.paths
    for mention in audio.missing if audio.recordings else ():
        message = f"the recording {clipped(paths.names[paths.name[mention]].removeprefix('./'))} is missing"
        yield finding(int(paths.row[mention]), "audio", message, None, int(paths.place[mention]))


def audio_unreadable(audio: Audio, finding: MakeFinding) -> Iterator[Finding]:
    for recording in audio.recordings.values():
        probe, why = recording.probe, f"cannot be read as audio: {printable(recording.fault or '')}"
        if probe is not None:
            cut_off = f"ends at {probe.seconds:.3f} s: {probe.cut_off}" if probe.cut_off else ""
            why = cut_off if probe.frames else "has no samples"
        if why:
            yield finding(recording.row, "audio", f"{clipped(recording.path)} {why}", None, recording.number)


@_by_header
def audio_rate(recording: NamedRecording, probe: Probe, expected: Expected) -> Faults:
    rate, channels = expected.get("rate", probe.rate), expected.get("channels", probe.channels)
    if probe.rate not in (rate, expected.get("known", {}).get(recording.path)):
        wrong = f"has a rate of {probe.rate:,} Hz, but the benchmark's recordings are at {rate:,} Hz"
        yield wrong, "resample {}"
    if probe.channels != channels:
        count, usual = plural(probe.channels, "channel"), plural(channels, "channel")
        yield f"has {count}, but the benchmark's recordings have {usual}", "use the original of {}"


@_by_header
def audio_too_long(recording: NamedRecording, probe: Probe, expected: Expected) -> Faults:
    most, (least, longest) = expected.get("heard", math.inf), expected.get("seconds", (0.0, math.inf))
    length = f"lasts {probe.seconds:.1f} s"
    if probe.seconds > most:
        yield f"{length}, but models hear only the first {most:g} s", "cut {} into clips"
    if recording.ours and not least - SLACK <= probe.seconds <= longest + SLACK:
        wrong = f"{length}, but recordings of the benchmark last {least:g} to {longest:g} s"
        yield wrong, "cut {0}, or download {0} again"


def audio_not_checked(audio: Audio, finding: MakeFinding) -> Iterator[Finding]:
    if audio.missing and not audio.recordings:
        count = len(audio.missing)
        missing = "the recording was not found" if count == 1 else f"none of {count:,} recordings found"
        yield finding(None, None, f"{missing}: not checked")


def time_outside_audio(audio: Audio, finding: MakeFinding) -> Iterator[Finding]:
    table, aside = audio.table, audio.expected.get("aside")
    lengths = {recording.path: probe.seconds for recording, probe in audio.readable if not probe.cut_off}
    columns = [table.values(field) for field in _TIMES] if lengths else []
    for row, (recordings, start, end, span, onset, events) in enumerate(zip(*columns, strict=True)):
        seconds = lengths.get(recordings[0].removeprefix("./")) if len(recordings) == 1 else None
        if seconds is None:
            continue
        times: list[tuple[str, str, int | None, float]] = []
        if span is not None and (start is None or end is None):  # of an item with both, QAI105 needs no recording
            times.append(("time_span", "answer_meta", None, max(span)))
        if onset is not None:
            times.append(("onset_time", "answer_meta", None, onset))
        for place, event in enumerate(events or ()):
            ends = [time for time in (event["onset"], event["offset"]) if time is not None]
            if ends:
                times.append((f"the end of {clipped(event['class_name'], 30)}", "events", place, max(ends)))
        start = _seconds(table.further("start")[row]) if start is None and aside else start
        end = _seconds(table.further("end")[row]) if end is None and aside else end
        last = seconds
        if start is not None and end is not None and end < start:
            continue  # that is QAI105, and the length of the part is unknown
        if start is not None and start >= seconds:
            times = [("start", "start", None, start)]
        elif end is not None and end > seconds + SLACK:
            times = [("end", "end", None, end)]
        else:
            last = (min(end, seconds) if end is not None else seconds) - (start or 0.0)
            times = [time for time in times if time[-1] > last + SLACK]
        for what, field, number, time in times:
            thing = "recording" if end is None or field in ("start", "end") else "clip"
            message = f"{what} is {time:g} s, but the {thing} ends at {last:.3f} s"
            yield finding(row, field, message, None, number)


_TIMES = ("audio", "start", "end", "answer_meta.time_span", "answer_meta.onset_time", "events")


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


RECORDING_RULES = (
    audio_missing,
    audio_unreadable,
    audio_rate,
    audio_too_long,
    audio_not_checked,
    time_outside_audio,
)
