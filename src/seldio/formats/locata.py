"""The recordings of LOCATA: who speaks when, and where, as a microphone array sees it.

A folder ``taskN/recordingN/ARRAY`` holds text tables with a header: ``position_array_ARRAY.txt`` has the place and
rotation of the array in the room at each moment, ``position_source_NAME.txt`` the places of a talker or loudspeaker,
``required_time.txt`` the moments, with a flag where these are valid, and ``VAD_ARRAY_NAME.txt`` whether the source is
active, a row for each sample of the recording. The first of them is the label file, and the others are read with it.

As in the official evaluation (``get_truth.m``, ``read_ground_truth.m``), a source at *h* is at ``Rᵀ (h - p)`` for an
array at *p* with ``R[i, j] = rotation_ij``; the array's y axis is the front, and azimuths turn counter-clockwise. The
official elevation counts from the zenith, here it counts from the horizon.

Time is that of the recording, which begins with the first row of ``audio_array_timestamps_ARRAY.txt``; without that
file, with the first moment of ``required_time.txt``, as the official evaluation takes it.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from seldio.findings import Finding, Sink
from seldio.formats import poses
from seldio.formats.base import Needed, Place, TextFile
from seldio.formats.label_tools import ToolFormat, ToolLabel, ToolPart
from seldio.formats.trajectories import placed
from seldio.reader_rules import READER_RULES
from seldio.schema.events import ClipFile
from seldio.text import clipped, plural

#: Samples per second of all recordings, of which files of voice activity have a row each.
RATE = 48_000
_HEAD = 4096
_TIME = ("year", "month", "day", "hour", "minute", "second")
_PLACE = ("x", "y", "z")
_ROTATION = tuple(f"rotation_{i}{j}" for i in "123" for j in "123")
#: Seconds by which the moments of two files may differ: those of one tracking system are the same.
_APART = 0.01
#: No part of a date or time is larger.
_LARGE = 10_000
_CELL = re.compile(r"[^,\t ]+")
_NAME = re.compile(r"position_array_(\w+)\.txt$")


class PoseTable:
    """A table of numbers with a header; findings about it lead to their line and column."""

    def __init__(self, file: TextFile, wanted: Sequence[str], sink: Sink) -> None:
        self.file, self._sink, self.sound = file, sink, True
        self.lines = file.data.decode("utf-8-sig", errors="replace").splitlines()
        self.numbers = [number for number, line in enumerate(self.lines) if line.strip()]  # of lines, from 0
        first = self.lines[self.numbers[0]] if self.numbers else ""
        self.names = _CELL.findall(first)
        self._values = np.empty((0, len(self.names)))
        if lacking := [name for name in wanted if name not in self.names]:
            self.report("SYN113", 1, 1, f"no {plural(len(lacking), 'column')} {', '.join(lacking)}", None)
            return
        body = [self.lines[number] for number in self.numbers[1:]]
        text = "\n".join(body).replace(",", " ")
        try:  # numpy warns where there is nothing at all
            values = np.loadtxt(io.StringIO(text), comments=None, ndmin=2) if text.strip() else np.empty((0, 0))
        except ValueError:
            values = np.empty((0, 0))
        if body and values.shape == (len(body), len(self.names)):
            self._values = values
        elif not body:
            self.report("SYN501", 1, 1, "no row under the header", None)
        else:
            self._diagnose()

    def __len__(self) -> int:
        return len(self._values)

    def columns(self, names: Sequence[str]) -> poses.Floats:
        """Some columns, (n, k)."""
        return self._values[:, [self.names.index(name) for name in names]]

    def line(self, row: int) -> int:
        """The line of a row, from 1."""
        return self.numbers[row + 1] + 1

    def report(self, code: str, line: int, column: int, message: str, hint: str | None, cell: str = "") -> None:
        """Say what is wrong at a place of the file, which is then not sound."""
        self.sound = False
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        self._sink(READER_RULES[code].at(
            self.file.path, message, hint, line, column, cell or None, clipped(text, 400),
            end_column=column + len(cell),
        ))  # fmt: skip

    def _diagnose(self) -> None:
        """Report the first rows that are not as many numbers as the header has names."""
        for number in self.numbers[1:]:
            cells = list(_CELL.finditer(self.lines[number]))
            if len(cells) != len(self.names):
                message = f"{plural(len(cells), 'cell')} in a table of {plural(len(self.names), 'column')}"
                self.report("SYN501", number + 1, 1, message, "the cells of a row are those of the header")
                return
            for name, cell in zip(self.names, cells, strict=True):
                try:
                    float(cell[0])
                except ValueError:
                    message = f"{name} is {clipped(cell[0], 30)}, not a number"
                    self.report("SYN502", number + 1, cell.start() + 1, message, None, cell[0])
                    return
        self.report("SYN501", 1, 1, "the rows are not numbers as they are usually written", None)

    def seconds(self, origin: dt.date | None = None) -> tuple[poses.Floats, dt.date]:
        """The moments of its rows, in seconds since the beginning of a day, and that day: the first if not given."""
        values = self.columns(_TIME)
        odd = np.flatnonzero(~(np.abs(values) <= _LARGE).all(axis=1))
        if len(odd):
            self.report("SYN502", self.line(int(odd[0])), 1, "the moment is not made of usual numbers", None)
            return np.zeros(len(values)), origin or dt.date.min
        days, which = np.unique(values[:, :3], axis=0, return_inverse=True)
        ordinals = []
        for number, day in enumerate(days.tolist()):
            try:
                ordinals.append(dt.date(*(int(part) for part in day)).toordinal())
            except (ValueError, OverflowError):
                row = int(np.flatnonzero(which.ravel() == number)[0])
                self.report("SYN502", self.line(row), 1, "year, month and day do not make a date", None)
                return np.zeros(len(values)), origin or dt.date.min
        origin = origin or dt.date.fromordinal(min(ordinals))
        passed = (np.array(ordinals)[which.ravel()] - origin.toordinal()) * 86_400.0
        times: poses.Floats = passed + values[:, 3] * 3600 + values[:, 4] * 60 + values[:, 5]
        back = np.flatnonzero(~(np.diff(times, prepend=times[:1]) >= 0))
        if len(back):
            message = "the time is before that of the row above"
            self.report("SYN502", self.line(int(back[0])), 1, message, "rows are in the order of their moments")
        return times, origin


@dataclasses.dataclass(frozen=True, kw_only=True)
class LocataFormat(ToolFormat):
    """The recordings of LOCATA by their ``position_array_ARRAY.txt``."""

    vocabulary: str = "speech"

    def likes(self, data: bytes, name: str) -> float:
        """Whether it is called the places of an array, or its first line names those of microphones."""
        head = data[:_HEAD].removeprefix(b"\xef\xbb\xbf").split(b"\n")[0].decode(errors="replace")
        names = set(_CELL.findall(head.strip()))
        there = {*_TIME, *_PLACE, *_ROTATION} <= names and ("mic1_x" in names or _NAME.search(name) is not None)
        return 0.95 if there else 0.0

    def companions(self, place: str, clip: str) -> tuple[Needed, ...]:  # noqa: ARG002 - by its own name
        """See :meth:`LabelFormat.companions`."""
        array = _array(place)
        return (
            Needed("required_time.txt"),
            Needed(f"audio_array_timestamps_{array}.txt", most=_HEAD),
            Needed("position_source_*.txt"),
            Needed(f"VAD_{array}_*.txt"),
        )

    def parts(self, file: TextFile, sink: Sink) -> Iterator[ToolPart]:
        """See :meth:`ToolFormat.parts`; the place of a row is that of the array as its event begins."""
        reader = _Recording(file, sink)
        part = ToolPart(file, ClipFile(file.clip, file.name), reader.place)
        part.labels = reader.labels()
        part.readable = not reader.wrong
        yield part

    def directed(self, labels: Sequence[ToolLabel], clip: ClipFile, file: TextFile, sink: Sink) -> Sequence[ToolLabel]:  # noqa: ARG002 - they have their directions
        """See :meth:`ToolFormat.directed`."""
        return labels

    def text(self, labels: Sequence[ToolLabel], file: ClipFile) -> str:
        """Not written, see :attr:`Format.only_read`."""
        raise NotImplementedError(self.only_read)


def _array(name: str) -> str:
    match = _NAME.search(name)
    return match[1] if match else ""


class _Recording:
    """A recording as it is read."""

    def __init__(self, file: TextFile, sink: Sink) -> None:
        self.file, self._sink, self.wrong = file, sink, False
        self.array = self._table(file, (*_TIME, *_PLACE, *_ROTATION))
        self.beside: Mapping[str, TextFile] = {one.name.rpartition("/")[2]: one for one in file.beside}
        self._day, self._clock = dt.date.min, np.zeros(0)  # of required_time.txt

    def _table(self, file: TextFile, wanted: Sequence[str]) -> PoseTable:
        return PoseTable(file, wanted, self._take)

    def _take(self, finding: Finding) -> None:
        self.wrong = True
        self._sink(finding)

    def _lacks(self, what: str, why: str) -> None:
        hint = "the files of a recording belong into one folder, as LOCATA has them"
        self._take(READER_RULES["SYN509"].at(self.file.path, f"there is no {what} next to it: {why}", hint, 1))

    def place(self, row: Any) -> Place:
        """The line of a row of the array."""
        line = self.array.line(min(int(row), len(self.array) - 1)) if len(self.array) else 1
        text = clipped(self.array.lines[line - 1] if line <= len(self.array.lines) else "", 400)
        return Place(line, 1, 1 + len(text), text, text)

    def labels(self) -> list[ToolLabel]:
        """The labels of all sources, in pieces that have one direction each; none after a finding."""
        sources = {name[len("position_source_") : -4]: one for name, one in self.beside.items()
                   if name.startswith("position_source_")}  # fmt: skip
        required = self.beside.get("required_time.txt")
        if not self.array.sound:
            return []
        if required is None:
            self._lacks("required_time.txt", "nothing says which of its moments are valid")
            return []
        if not sources:
            self._lacks("position_source_NAME.txt", "where the sources are is not known")
            return []
        times, valid = self._moments(required)
        tracks, found = {}, []
        numbers = _numbers(sorted(sources))
        for name, file in sorted(sources.items()):
            vad = self.beside.get(f"VAD_{_array(self.file.name)}_{name}.txt")
            if vad is None:
                self._lacks(f"VAD_{_array(self.file.name)}_{name}.txt", f"nothing says when {name} is active")
                continue
            table = self._table(file, (*_TIME, *_PLACE))
            if self._agrees(table, times):
                tracks[numbers[name]] = self._track(table, times, valid)
            for start, stop in self._active(vad):
                at = int(np.clip(np.searchsorted(times, start, side="right") - 1, 0, len(times) - 1))
                own: dict[str, Any] = {"": at}
                label = ToolLabel(start, stop, "speech", own, {"source": float(numbers[name])}, {"name": name})
                found.append(label)
        if self.wrong:
            return []
        found.sort(key=lambda label: label.onset)
        return placed(found, lambda label: tracks[int(label.values["source"])])

    def _moments(self, required: TextFile) -> tuple[poses.Floats, poses.Flags]:
        """The moments of the tracking system in seconds of the recording, and which of them are valid."""
        table = self._table(required, (*_TIME, "valid_flag"))
        if not table.sound:
            return np.zeros(len(self.array)), np.zeros(len(self.array), dtype=bool)
        times, self._day = table.seconds()
        self._clock, start = times, times[0]
        audio = self.beside.get(f"audio_array_timestamps_{_array(self.file.name)}.txt")
        if audio is not None:  # its head: whole lines
            whole = dataclasses.replace(audio, data=audio.data[: audio.data.rfind(b"\n") + 1] or audio.data)
            stamps = self._table(whole, _TIME)
            if stamps.sound:
                start = stamps.seconds(self._day)[0][0]
        self._agrees(self.array, times - start)
        rotations = self.array.columns(_ROTATION).reshape(-1, 3, 3)
        flags = table.columns(("valid_flag",))[:, 0]
        if len(odd := np.flatnonzero((flags != 0) & (flags != 1))):
            table.report(
                "SYN502", table.line(int(odd[0])), 1, f"valid_flag is {flags[odd[0]]:g}, neither 0 nor 1", None
            )
        valid = flags == 1
        if len(valid) == len(rotations):
            bad = np.flatnonzero(valid & np.isfinite(rotations).all(axis=(1, 2)) & ~poses.are_rotations(rotations))
            if len(bad):
                message = f"rotation_11 to rotation_33 do not make a rotation, in {plural(len(bad), 'valid row')}"
                self.array.report("SYN502", self.array.line(int(bad[0])), 1, message, None)
        return times - start, valid

    def _agrees(self, table: PoseTable, times: poses.Floats) -> bool:
        """Whether a table has a row for each moment; a finding says where it has not."""
        if not table.sound or self.wrong:
            return False
        if len(table) != len(times):
            message = f"{plural(len(table), 'row')}, but required_time.txt has {len(times)}: they are the same moments"
            self._take(READER_RULES["SYN509"].at(table.file.path, message, None, 1))
            return False
        own = table.seconds(self._day)[0]
        late = np.flatnonzero(np.abs(own - self._clock) > _APART)
        if len(late):
            message = f"another moment than that of required_time.txt, in {plural(len(late), 'row')}"
            table.report("SYN509", table.line(int(late[0])), 1, message, "the files belong to one recording")
        return table.sound

    def _track(self, table: PoseTable, times: poses.Floats, valid: poses.Flags) -> Any:
        array, source = self.array.columns(_PLACE), table.columns(_PLACE)
        rotations = self.array.columns(_ROTATION).reshape(-1, 3, 3)
        return poses.track(times, source, array, rotations, poses.FRONT_Y, valid)

    def _active(self, vad: TextFile) -> list[tuple[float, float]]:
        """From when to when a source is active, in seconds."""
        flags = _plain_flags(vad.data)
        if flags is None:  # written in another way, or wrong
            table = self._table(vad, ())
            if not table.sound:
                return []
            if len(table.names) != 1:
                table.report("SYN501", 1, 1, f"{len(table.names)} columns, but voice activity has one", None)
                return []
            flags = table.columns(table.names)[:, 0]
        odd = np.flatnonzero((flags != 0) & (flags != 1))
        if len(odd):  # never of plain ones
            line = table.line(int(odd[0]))
            cell = table.lines[line - 1].strip()
            table.report("SYN502", line, 1, f"{table.names[0]} is {clipped(cell, 30)}, neither 0 nor 1", None, cell)
            return []
        edges = np.flatnonzero(np.diff(flags, prepend=0, append=0))
        times = np.round(edges / RATE, 6).tolist()
        return list(zip(times[::2], times[1::2], strict=True))


def _plain_flags(data: bytes) -> Any:
    """The rows of a header and lines of 0 or 1, of which there are millions; None of anything else."""
    body = np.frombuffer(data.partition(b"\n")[2].replace(b"\r", b"").rstrip(b"\n") + b"\n", np.uint8)
    values, ends = body[::2], body[1::2]
    plain = len(values) == len(ends) and (ends == 10).all() and ((values == 48) | (values == 49)).all()
    return (values - 48).astype(np.float64) if plain and not data[:1].isdigit() else None


def _numbers(names: Sequence[str]) -> dict[str, int]:
    """A number for each source: that in its name, or its place among them where two have one number."""
    own = [re.search(r"[0-9]{1,6}$", name) for name in names]
    found = [int(match[0]) for match in own if match is not None]
    alike = len(set(found)) < len(names)
    return dict(zip(names, range(len(names)) if alike else found, strict=True))


LOCATA = LocataFormat(
    name="locata",
    title="LOCATA: places of an array (position_array_NAME.txt) and, next to it, of sources, and when they are active",
    suffix=".txt",
    also=(".tsv",),
    stem=r"\Aposition_array_(?=\w+\Z)",
    alone=(
        (
            r"(position_source|VAD|audio_array_timestamps|audio_source_timestamps)_\w+\.txt|required_time\.txt",
            "a part of a recording of LOCATA",
            "position_array_ARRAY.txt",
        ),
    ),
    carries=("clip", "onset", "offset", "class_id", "source", "azimuth", "elevation", "distance", "extra"),
    source="https://github.com/cevers/sap_locata_io",
    only_read="its tables hold places in a room and of each microphone, which labels do not have",
    note="The files required_time.txt, position_source_NAME.txt and VAD_ARRAY_NAME.txt are read from the same folder. "
    "Azimuth 0 is the array's y axis; the official elevation counts from the zenith.",
)
