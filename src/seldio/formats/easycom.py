"""Speech of EasyCom: who speaks when, in frames of a video at 20 fps.

A file is a list of utterances with ``Start_Frame``, ``End_Frame``, ``Participant_ID``, ``Transcription`` and
``Target_of_Speech``. It has no directions: these are in ``Tracked_Poses``, relative to a leg of the table, and the one
who wears the microphones turns the head. Labels come without a direction, therefore.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seldio.formats.json_text import JsonDocument
from seldio.formats.label_tools import Report, ToolLabel
from seldio.formats.tool_json import Described, JsonTool, listed_objects
from seldio.text import clipped

#: Frames per second.
_RATE = 20
_HEAD = 1 << 12
_KEYS = ("Start_Frame", "End_Frame", "Participant_ID")


@dataclasses.dataclass(frozen=True, kw_only=True)
class EasycomFormat(JsonTool):
    """The files of ``Speech_Transcriptions``."""

    vocabulary: str = "speech"

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002 - the keys tell it
        """Whether it begins with utterances."""
        head = data[:_HEAD]
        listed = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
        return 0.95 if listed and all(f'"{key}"'.encode() in head for key in _KEYS) else 0.0

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
            for label in labels
        ]  # fmt: skip


EASYCOM = EasycomFormat(
    name="easycom", title="EasyCom speech: Start_Frame, End_Frame (20 fps), Participant_ID, Transcription",
    carries=("clip", "onset", "offset", "class_id", "class_name", "source", "extra"),
    source="https://github.com/facebookresearch/EasyComDataset",
    note="Directions are not in these files; poses are relative to the table, not to the microphones.",
)  # fmt: skip
