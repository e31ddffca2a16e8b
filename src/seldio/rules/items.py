"""QAI and PRD: questions, their answers and predictions, one file at a time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import formats
from seldio.files import name_fault
from seldio.files.names import plain_stem
from seldio.findings import Finding
from seldio.rules.collection import Found
from seldio.rules.item_table import ABSOLUTE, ItemTable, rows_where
from seldio.schema.arrays import pc
from seldio.text import clipped, listed, printable

#: The benchmarks whose answers are public.
PUBLIC = ("so-bench", "so-dataset-qa")


def repeated_id(table: ItemTable, found: Found) -> Iterator[Finding]:
    rows, first = table.repeated([table.table["id"]], table.known("id"))

    def message(row: int) -> str:
        return f"the id {table.cell(row, 'id')} already appears in line {table.line(first[row])}"

    if len(rows):
        yield found(rows, "id", message)


def times_of_item(table: ItemTable, found: Found) -> Iterator[Finding]:
    start, end = table.numbers("start"), table.numbers("end")
    first, last = table.spans
    reversed_ = end < start
    late = (last > end - start + 0.05) & ~reversed_  # where it is, the length of the clip is unknown
    for row in rows_where(reversed_ | (last < first) | late):
        if reversed_[row]:
            yield found(row, "end", f"the end, {end[row]:g} s, is before the start, {start[row]:g} s")
        if last[row] < first[row]:
            yield found(row, "answer_meta", f"time_span: {last[row]:g} s is before {first[row]:g} s")
        elif late[row]:
            message = f"time_span ends at {last[row]:g} s, but the clip at {end[row] - start[row]:g} s"
            yield found(row, "answer_meta", message, "times count from the start of the clip")


def unsafe_audio_path(table: ItemTable, found: Found) -> Iterator[Finding]:
    faults = [why if table.asks or why != ABSOLUTE else None for why in table.paths.unsafe]
    yield from _mentions(table, faults, "write paths relative to the root of the dataset", found)


def _mentions(table: ItemTable, faults: Sequence[str | None], hint: str, found: Found) -> Iterator[Finding]:
    """A finding at each mention of a path with a fault."""
    paths = table.paths
    for mention in rows_where(np.array([fault is not None for fault in faults], bool)[paths.name]):
        name = paths.name[mention]
        message = f"the audio path {clipped(paths.names[name])} {faults[name]}"
        yield found(int(paths.row[mention]), "audio", message, hint, int(paths.place[mention]))


def _are_usual(paths: pa.Array) -> pa.BooleanArray:
    """Which paths are valid on every system, judged by their characters alone: most are."""
    return pc.and_not(pc.match_substring_regex(paths, _USUAL), pc.match_substring_regex(paths, _UNUSUAL))


#: Folders and a name of plain letters, none of them longer than any system allows.
_USUAL = r"^(?:\w[\w.-]{0,99}/){0,5}\w[\w.-]{0,99}$"
#: Faults of such names: names of devices on Windows, and a trailing dot.
_UNUSUAL = r"(?i)(?:^|/)(?:con|prn|aux|nul|com\d|lpt\d)(?:[./]|$)|\.(?:/|$)"


def awkward_audio_path(table: ItemTable, found: Found) -> Iterator[Finding]:
    named = pc.list_flatten(table.column("audio"))
    if pc.all(_are_usual(named)).as_py():
        lower = pc.utf8_lower(named)
        if lower.equals(named) or pc.count_distinct(lower).as_py() == pc.count_distinct(named).as_py():
            return
    spellings: dict[str, str] = {}
    faults: list[str | None] = []
    for path, why in zip(table.paths.names, table.paths.unsafe, strict=True):
        fault = None
        if why is None:
            fault = name_fault(path.removeprefix("./")) if "{" not in path else None
            composed = unicodedata.normalize("NFC", path)
            if composed != path:
                fault = "is written with separate accents (NFD)"
            if (other := spellings.setdefault(composed.casefold(), path)) != path:
                fault = f"differs from {printable(other)} only in case or accents"
        faults.append(fault)
    yield from _mentions(table, faults, "rename the recording", found)


def empty_question(table: ItemTable, found: Found) -> Iterator[Finding]:
    for row in rows_where(table.blank("question")):
        yield found(row, "question", f"the question {table.cell(row, 'id')} is empty")


def no_answer(table: ItemTable, found: Found) -> Iterator[Finding]:
    public = table.home in (*PUBLIC, "jasco")
    for row in rows_where(table.blank("answer")) if public else ():
        yield found(row, "answer", f"the question {table.cell(row, 'id')} has no answer")


def answer_missing_among_others(table: ItemTable, found: Found) -> Iterator[Finding]:
    if table.home in (*PUBLIC, "jasco"):  # of which QAI112 tells each
        return
    missing = rows_where(pc.and_(table.blank("answer"), table.blank("canonical_answer")))
    if missing and 2 * len(missing) < len(table):
        ids = table.column("id").take(pa.array(missing)).to_pylist()
        has = "has" if len(missing) == 1 else "have"
        message = f"{len(missing):,} of {len(table):,} questions {has} no answer, while the others do: "
        message += listed([clipped(id, 40) for id in ids], 3)
        yield found(missing[0], "answer", message)


def same_question_twice(table: ItemTable, found: Found) -> Iterator[Finding]:
    asked: list[Any] = [table.table[field] for field in ("question", "audio", "start", "end")]
    choices, groups = table.distinct("options")
    numbers: dict[tuple[str, ...], int] = {}
    in_any_order = [numbers.setdefault(tuple(sorted(options or ())), len(numbers)) for (options,) in choices]
    asked.append(np.array(in_any_order, np.int64)[groups.number])
    keys = sorted({key for format in formats.ITEM_FORMATS for key in format.recording})
    asked += [pa.array(map(str, table.further(key)), pa.string()) for key in keys]
    rows, first = table.repeated(asked, np.bincount(table.paths.row, minlength=len(table)) > 0, unless="id")

    def message(row: int) -> str:
        id = clipped(table.value(first[row], "id"), 40)
        return f"the question and its recording are those of {id}, in line {table.line(first[row])}"

    if len(rows):
        yield found(rows, "question", message)


def english_question(table: ItemTable, found: Found) -> Iterator[Finding]:
    russian = pc.equal(table.column("language"), "ru")
    if not pc.any(russian).as_py():
        return
    for row in rows_where(pc.and_(russian, pc.match_substring_regex(table.column("question"), _ENGLISH))):
        question = table.value(row, "question")
        latin, other = len(_LATIN.findall(question)), len(_CYRILLIC.findall(question))
        if latin > 4 * other:
            message = f"the question is in English ({latin / (latin + other):.0%} of its letters are Latin)"
            yield found(row, "question", message)


#: What English questions have and names of classes do not.
_ENGLISH = r"(?i)\b(?:what|which|who|whose|where|when|why|how|is|are|was|were|do|does|did|can)\b"
_LATIN, _CYRILLIC = re.compile("[A-Za-z]"), re.compile("[\u0400-\u04ff]")


def audio_id_of_another(table: ItemTable, found: Found) -> Iterator[Finding]:
    if table.home not in PUBLIC:
        return
    paths, names = table.paths, table.further("audio_id")
    stems = [plain_stem(path) for path in paths.names]
    whole = ~(table.known("start") | table.known("end")) & (np.bincount(paths.row, minlength=len(table)) == 1)
    for row, path in zip(paths.row.tolist(), paths.name.tolist(), strict=True):
        name = names[row]
        if isinstance(name, str) and stems[path] and stems[path] != name and whole[row]:
            message = f"the audio_id is {clipped(name)}, but the recording is {clipped(paths.names[path])}"
            yield found(row, "audio_id", message)


def repeated_prediction(table: ItemTable, found: Found) -> Iterator[Finding]:
    rows, first = table.repeated([table.table["id"], table.table["prompt"]], table.known("id"))

    def message(row: int) -> str:
        return f"a second prediction for {table.cell(row, 'id')}; the first is in line {table.line(first[row])}"

    if len(rows):
        yield found(rows, "id", message)


def empty_prediction(table: ItemTable, found: Found) -> Iterator[Finding]:
    for row in rows_where(table.blank("prediction")):
        yield found(row, "prediction", f"no prediction for {table.cell(row, 'id')}")


PATH_RULES = (unsafe_audio_path, awkward_audio_path)
QUESTION_RULES = (
    repeated_id,
    times_of_item,
    empty_question,
    no_answer,
    answer_missing_among_others,
    same_question_twice,
    english_question,
    audio_id_of_another,
)
PREDICTION_RULES = (repeated_prediction, empty_prediction)
