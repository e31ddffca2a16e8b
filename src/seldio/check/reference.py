"""References to compare files with: for submissions clips and their lengths, for predictions their questions."""

from __future__ import annotations

import math
import os
import posixpath
import re

from seldio import formats
from seldio.catalogues import Catalogue
from seldio.catalogues.look import named_like_labels, wordy
from seldio.clock import HOP
from seldio.errors import InvalidData, UsageError
from seldio.files import Entry, Source, open_source, read_entries
from seldio.files.names import suffix_of
from seldio.findings import raise_errors
from seldio.formats import LabelFormat, stem_of
from seldio.formats.datasets import COUNTED, clip_range, expected_clips, named_split
from seldio.formats.items import ItemFormat
from seldio.formats.mera import MERA_TASK, gold_of, id_value, task_name
from seldio.rules.collection import Reference
from seldio.rules.item_table import ItemTable
from seldio.rules.items import repeated_id
from seldio.rules.predictions import ItemReference
from seldio.schema.qa import Item
from seldio.schema.splits import within
from seldio.text import listed, printable

#: What files are compared with: clips, questions or nothing.
AnyReference = Reference | ItemReference | None


def load(text: str) -> Reference | ItemReference:
    """Return the clips or questions that *text* names.

    It is a range (``mix001..mix079``), a split (``starss23:dev-test``, ``FOLDER:dev-test``), a text file with one clip
    a line, a folder or archive with the recordings (which tell the lengths) or the labels; a file with questions; or a
    folder or archive with the questions of MERA's tasks, a file for each, called like the task.
    """
    if re.fullmatch(r"[^/\\]*\d\.\.[^/\\]*\d", text):
        return Reference(text, dict.fromkeys(clip_range(text)))
    match = re.fullmatch(r"([\w-]+):([\w-]+)", text)
    if match and match[1] in COUNTED:
        return Reference(text, dict.fromkeys(sorted(expected_clips(*match.groups()))))
    path, _, split = text.rpartition(":")  # a split of what is there
    if os.path.exists(text) or not re.fullmatch(r"[\w-]+", split) or not os.path.exists(path):  # noqa: PTH110
        path, split = text, ""
    with open_source(path, raise_errors) as source:
        catalogue = Catalogue(source)
        if (questions := _questions(catalogue) if source.single else _tasks(source)) is not None:
            return questions
        if source.kind == "file" and catalogue.undecided and not named_like_labels(source.entries[0]):
            names = source.entries[0].read().decode("utf-8", "replace").split()
            return Reference(text, dict.fromkeys(_clip(name) for name in names))
        recordings = (entry for group in catalogue.of("recording") for entry in group.files)
        clips = {_clip(entry.name): _length(entry) for entry in recordings}
        for recording, several in _annotated(catalogue).items() if clips else ():
            if recording in clips and recording not in several:
                clips |= dict.fromkeys(several, clips.pop(recording))
        labelled = {} if any(clips.values()) else _labelled(catalogue)
        if not clips and not labelled:
            raise UsageError(f"{printable(text)} holds neither recordings nor labels")
        clips = clips or dict.fromkeys(labelled)
        if split:
            chosen = _clips_of_split(catalogue, split)
            clips = {clip: end for clip, end in clips.items() if clip in chosen}
        ends = {clip: end for clip, end in labelled.items() if end is not None and clip in clips}
        return Reference(text, clips, ends, catalogue.own)


def _clips_of_split(catalogue: Catalogue, split: str) -> set[str]:
    """Return the clips with a file in a split.

    Raises:
        UsageError: there are none.
    """
    splits = {
        _clip(entry.name): (catalogue.own.split(entry.name) if catalogue.own else None) or named_split(entry.path)
        for entry in catalogue.source
    }
    clips = {clip for clip, name in splits.items() if within(name, split)}
    if not clips:
        path = printable(catalogue.source.path)
        has = listed(sorted({name for name in splits.values() if name}), 10) or "none that its folders name"
        raise UsageError(f"{path} has no clip in the split {printable(split)}; it has {has}")
    return clips


def _questions(catalogue: Catalogue) -> ItemReference | None:
    """Return the questions of a single file; None where it holds none."""
    source = catalogue.source
    if (format := catalogue.asked) is None:
        return None
    entry = source.entries[0]
    reading = format.read(entry.read(), entry.path, raise_errors)
    items = [row for row in (reading.rows if reading is not None else ()) if isinstance(row, Item)]
    if format.holds == "predictions" and not items:
        raise UsageError(f"{printable(source.path)} holds predictions; a reference must hold the questions they answer")
    if reading is None or not reading.rows:
        raise UsageError(f"{printable(source.path)} holds no questions")
    for finding in ItemTable(reading).report([repeated_id]):
        raise_errors(finding)  # no prediction can be joined to an id that appears twice
    gold = {id_value(row.id): row.answer or "" for row in items}
    return ItemReference(source.path, reading, {MERA_TASK: gold} if reading.home == "ruenvaqa" else {})


def _tasks(source: Source) -> ItemReference | None:
    """Return the questions of MERA's tasks; None where some file is something else."""
    if not source.entries or not all(suffix_of(entry.name) == "json" for entry in source):
        return None
    tasks, questions = {}, None
    for entry, data in read_entries(source, raise_errors):
        gold, name = gold_of(data), task_name(entry.name)
        if gold is None:
            return None
        format = formats.format_of_file(data, entry.name) if name == MERA_TASK else None
        if isinstance(format, ItemFormat) and format.holds == "items":
            questions = format.read(data, entry.path, raise_errors)
        tasks[name] = gold
    return ItemReference(source.path, questions, tasks)


def _annotated(catalogue: Catalogue) -> dict[str, set[str]]:
    """Return the clips that the rows of label files name, by the recording that the file is called after."""
    clips: dict[str, set[str]] = {}
    for part in catalogue.labels:
        if isinstance(part.format, LabelFormat) and part.format.clips_by == "rows" and part.format.role != "table":
            for rows in (rows for reading in part.labels(lambda _: None) for rows in reading.parts):
                clips.setdefault(_clip(rows.file.name), set()).add(rows.origin.clip)
    return clips


def _labelled(catalogue: Catalogue) -> dict[str, int | None]:
    """Return the clips of labels, with the label frames up to the last label, as far as the labels can be read."""
    ends: dict[str, int | None] = {}
    for part in catalogue.labels:
        readings = part.labels(lambda _: None)
        for reading in readings:
            frames = reading.table["frame"].to_numpy() if "frame" in reading.table.column_names else None
            for rows in reading.parts:
                end = None
                if frames is not None:
                    last = int(frames[rows.first : rows.first + rows.rows].max(initial=-1))
                    end = math.ceil((last + 1) * reading.format.hop / HOP)
                ends[rows.origin.clip] = end
        read = {rows.file.path for reading in readings for rows in reading.parts}
        broken = (file for file in part.texts(lambda _: None) if file.path not in read and not wordy(file))
        ends |= dict.fromkeys(file.clip for file in broken)
    return ends


def _clip(name: str) -> str:
    return stem_of(posixpath.basename(name.replace("\\", "/")))


def _length(entry: Entry) -> int | None:
    from seldio.media.audio import NotAudio, probe

    try:
        with entry.open() as stream:
            return probe(stream).label_frames()
    except (NotAudio, InvalidData):
        return None
