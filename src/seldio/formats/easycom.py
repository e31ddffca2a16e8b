"""Speech of EasyCom: who speaks when, in frames of a video at 20 fps.

A file of ``Speech_Transcriptions`` is a list of utterances with ``Start_Frame``, ``End_Frame``, ``Participant_ID``,
``Transcription`` and ``Target_of_Speech``. Directions come from the file of the same session and name in
``Tracked_Poses``: a list of frames with the place and rotation of each head, in the coordinates of the room (x left,
y up, z forward, metres). Participant 2 wears the glasses with the microphones: nobody else's voice was recorded by a
microphone of its own but those of 3 to 7, and the restaurant server, 1, is not tracked (``README.md``). Rotations go
from the axes of the glasses, in which the README gives the places of the microphones, to those of the room, as in
SPEAR's ``SPEAR_read_participant_relative_position.m``. What the wearer and the server say has no direction.
"""

from __future__ import annotations

import dataclasses
import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from seldio.findings import Finding, Sink
from seldio.formats import poses
from seldio.formats.base import TRAJECTORY, Needed, TextFile
from seldio.formats.json_text import JsonDocument, parse
from seldio.formats.label_tools import Report, ToolLabel
from seldio.formats.tool_json import Described, JsonTool, listed_objects
from seldio.formats.trajectories import Track, placed, united
from seldio.reader_rules import READER_RULES
from seldio.schema.events import ClipFile
from seldio.text import clipped

#: Frames per second.
_RATE = 20
_HEAD = 1 << 12
#: By how much the square of the norm of a quaternion may differ from 1.
_UNIT = 0.02
_KEYS = ("Start_Frame", "End_Frame", "Participant_ID")
#: The participant with the microphones.
WEARER = 2
_PLACE = ("Position_X", "Position_Y", "Position_Z")
_TURN = ("Quaternion_X", "Quaternion_Y", "Quaternion_Z", "Quaternion_W")


@dataclasses.dataclass(frozen=True, kw_only=True)
class EasycomFormat(JsonTool):
    """The files of ``Speech_Transcriptions``."""

    vocabulary: str = "speech"

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002 - the keys tell it
        """Whether it begins with utterances."""
        head = data[:_HEAD]
        listed = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
        return 0.95 if listed and all(f'"{key}"'.encode() in head for key in _KEYS) else 0.0

    def companions(self, place: str, clip: str) -> tuple[Needed, ...]:
        """See :meth:`LabelFormat.companions`: the poses of the same minute."""
        session, name = posixpath.split(place.replace("\\", "/"))
        return (*super().companions(place, clip), Needed(f"Tracked_Poses/{posixpath.basename(session)}/{name}"))

    def directed(
        self, labels: Sequence[ToolLabel], clip: ClipFile, file: TextFile, sink: Sink
    ) -> Sequence[ToolLabel]:  # fmt: skip
        """See :meth:`ToolFormat.directed`."""
        for beside in file.beside:
            if not beside.name.endswith(TRAJECTORY):
                tracks = tracks_of(beside, sink)
                labels = placed(labels, lambda label, of=tracks: of.get(int(label.values["source"])))  # type: ignore[misc]
        return super().directed(labels, clip, file, sink)

    def described(self, document: JsonDocument, clip: str, report: Report) -> Iterator[Described]:
        """See :meth:`JsonTool.described`."""
        found = Described(clip, ())
        for number, row in enumerate(listed_objects(document.value, (), "utterances", report)):
            if not isinstance(row, dict):
                continue
            numbers = [row.get(key) for key in _KEYS]
            good = True
            for key, value in zip(_KEYS, numbers, strict=True):
                if type(value) is not int or not 0 <= value < 1 << 31:
                    shown = clipped(json.dumps(value, ensure_ascii=False), 30) if key in row else "missing"
                    place = (number, key) if key in row else (number,)
                    report("SYN502", place, f"{key} is {shown}, not a frame or an id", None)
                    good = False
            if not good:
                continue
            first, last, who = (int(value or 0) for value in numbers)
            at: dict[str, Any] = {"": (number,), "onset": (number, "Start_Frame"), "offset": (number, "End_Frame")}
            label = ToolLabel(first / _RATE, last / _RATE, "speech", at, {"source": float(who)})
            label.at["source"] = (number, "Participant_ID")
            label.extra = {key: value for key, value in row.items() if key not in _KEYS}
            found.labels.append(label)
        yield found

    def content(self, labels: Sequence[ToolLabel], clip: str, extra: Mapping[str, Any]) -> Any:  # noqa: ARG002
        """See :meth:`JsonTool.content`."""
        return [
            {
                "Start_Frame": round(label.onset * _RATE), "End_Frame": round(label.offset * _RATE),
                "Participant_ID": int(label.values.get("source", 0)), **label.extra,
            }
            for label in united(labels)
        ]  # fmt: skip


def tracks_of(file: TextFile, sink: Sink) -> dict[int, Track]:
    """Where each participant is, as the wearer of the microphones has it; nothing after a finding."""
    wrong: list[Finding] = []
    document = parse(file.data, file.path, wrong.append)
    seen: dict[int, dict[int, list[float]]] = {}
    if document is not None:
        seen = _poses(document, wrong)
    wearer = seen.pop(WEARER, {})
    if document is not None and not wrong and not wearer:
        message = f"participant {WEARER}, who wears the microphones, never appears: directions are unknown"
        wrong.append(READER_RULES["SYN509"].at(file.path, message, None, 1))
    for finding in wrong:
        sink(finding)
    if wrong or not seen:
        return {}
    count = 1 + max(frame for found in (wearer, *seen.values()) for frame in found)
    times = np.arange(count) / _RATE
    own = _columns(wearer, count)
    rotations = poses.rotations_of(own[:, 3:])
    return {
        who: poses.track(times, _columns(found, count)[:, :3], own[:, :3], rotations, poses.FRONT_Z,
                         np.ones(count, dtype=bool))
        for who, found in seen.items()
    }  # fmt: skip


def _columns(found: Mapping[int, Sequence[float]], count: int) -> poses.Floats:
    """Place and rotation in each frame; NaN where there is none."""
    values = np.full((count, len(_PLACE) + len(_TURN)), np.nan)
    if found:
        values[list(found)] = list(found.values())
    return values


def _poses(document: JsonDocument, wrong: list[Finding]) -> dict[int, dict[int, list[float]]]:
    """Place and rotation of each participant, by frame; the rotation is NaN where it is marked as upside down."""

    def report(code: str, pointer: tuple[str | int, ...], message: str, hint: str | None = None) -> None:
        wrong.append(document.finding(code, message, pointer, hint=hint))

    seen: dict[int, dict[int, list[float]]] = {}
    if not isinstance(document.value, list):
        report("SYN212", (), "poses must be an array of frames")
        return {}
    counts: dict[str, int] = {}  # of keys that count frames: the number of the first
    for number, frame in enumerate(document.value):
        people = frame.get("Participants") if isinstance(frame, dict) else None
        if not isinstance(people, list):
            report("SYN212", (number,), "a frame must be an object with an array of Participants")
            return {}
        for key, value in frame.items():
            if type(value) is int and value != counts.setdefault(key, value - number) + number:
                message = f"{key} is {value} in frame {number} of the file: frames are missing or in another order"
                report("SYN509", (number, key), message, "directions need every frame of the video, at 20 per second")
                return {}
        for at, one in enumerate(people):
            values = [one.get(key) if isinstance(one, dict) else None for key in (*_PLACE, *_TURN)]
            who = one.get("Participant_ID") if isinstance(one, dict) else None
            odd = next((key for key, value in zip((*_PLACE, *_TURN), values, strict=True)
                        if type(value) not in (int, float)), None)  # fmt: skip
            if type(who) is not int or odd is not None:
                key = "Participant_ID" if type(who) is not int else str(odd)
                there = isinstance(one, dict) and key in one
                shown = clipped(json.dumps(one[key], ensure_ascii=False), 30) if there else "missing"
                pointer = (number, "Participants", at, key) if there else (number, "Participants", at)
                report("SYN502", pointer, f"{key} is {shown}, not a number")
                return seen
            pose = [float(value or 0.0) for value in values]
            size = sum(value * value for value in pose[3:])
            if one.get("isUpSideDown"):
                pose[3:] = [float("nan")] * 4
            elif who == WEARER and not abs(size - 1.0) <= _UNIT:
                report(
                    "SYN502",
                    (number, "Participants", at),
                    f"the norm of the quaternion is {size**0.5:.3g}, so that it does not describe a rotation",
                )
                return seen
            seen.setdefault(who, {})[number] = pose
    return seen


EASYCOM = EasycomFormat(
    name="easycom", title="EasyCom speech: Start_Frame, End_Frame (20 fps), Participant_ID, Transcription",
    carries=("clip", "onset", "offset", "class_id", "class_name", "source", "extra"),
    source="https://github.com/facebookresearch/EasyComDataset",
    note="Directions are read from Tracked_Poses, in which participant 2 wears the microphones; without that folder, "
    "labels have none.",
)  # fmt: skip
