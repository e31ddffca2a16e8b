"""QAI: whether questions are those of their benchmark: how many, of which tasks, with which values and options.

What a benchmark has is data, see :mod:`seldio.benchmarks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa

from seldio.benchmarks import Benchmark, FieldValues, find
from seldio.findings import Finding
from seldio.formats.about import with_address
from seldio.rules.collection import Found
from seldio.rules.item_table import ItemTable, rows_where
from seldio.schema.arrays import pc
from seldio.text import clipped, listed, plural, printable

#: How far the share of a value may be from that of the benchmark: its counts are not published.
_SHARE = 0.05


def not_the_whole_benchmark(table: ItemTable, found: Found) -> Iterator[Finding]:
    known = _benchmark_of(table)
    if known is None:
        return
    if 2 * len(table) > known.sizes[0] and (missing := _missing(known, table)) and _at_the_end(known, missing):
        hint = with_address("the file seems to be cut off: download it again", known.format)
        yield found(0, "id", _some(known, table, missing), hint)
    if abs(len(table) - known.sizes[0]) < known.near:
        again = with_address("download the benchmark again", known.format)
        for field, wrong in _differences(known, table):
            message = f"the {field} counts are not those of {known.title}: {'; '.join(wrong[:4])}"
            yield found(0, field, message, again)
        if len(table) not in known.sizes and not any("weight" in task for task in known.tasks.values()):
            message = f"{len(table):,} questions, but {known.title} has {' or '.join(map(str, known.sizes))}"
            yield found(0, "id", message, again)


def subset_of_a_benchmark(table: ItemTable, found: Found) -> Iterator[Finding]:
    known = _benchmark_of(table)
    if known is None:
        return
    most, missing = 2 * len(table) > known.sizes[0], _missing(known, table)
    cut = most and bool(missing) and _at_the_end(known, missing)
    many = most and not known.numbered and len(table) <= known.sizes[0] - known.near
    if (missing and not cut) or many:
        hint = f"a score of them is not a score of {known.title}"
        yield found(0, "id", _some(known, table, missing), hint)


def _benchmark_of(table: ItemTable) -> Benchmark | None:
    """Return the benchmark that questions may be some of; None where all of them were made from labels."""
    known = find(table.format)
    if known is None or not known.sizes:
        return None
    elsewhere = (table.field(one).null_count == len(table) for one in known.fields if one.unless)
    return None if any(elsewhere) else known


def _some(known: Benchmark, table: ItemTable, missing: Sequence[int]) -> str:
    which = f": {_runs(missing)} missing" if missing else ""
    return f"{len(table):,} of the {known.sizes[0]:,} questions of {known.title}{which}"


def _at_the_end(known: Benchmark, missing: Sequence[int]) -> bool:
    return list(missing) == [*range(missing[0], known.sizes[0] + 1)]


def _missing(known: Benchmark, table: ItemTable) -> list[int]:
    """The numbers that are missing among the ids, where all ids are such numbers."""
    ids, whole = table.values("id"), range(1, known.sizes[0] + 1)
    if not known.numbered or not ids:
        return []
    numbers = {int(id) if id is not None and re.fullmatch("[1-9][0-9]{0,9}", id) else 0 for id in ids}
    return [number for number in whole if number not in numbers] if numbers <= {*whole} else []


def _runs(numbers: Sequence[int]) -> str:
    """Sorted numbers, runs of them in short."""
    breaks = [0, *(place for place, (one, other) in enumerate(pairwise(numbers), 1) if other != one + 1), len(numbers)]
    runs = [(numbers[first], numbers[last - 1]) for first, last in pairwise(breaks)]
    return listed([str(one) if one == other else f"{one} to {other}" for one, other in runs], 4)


def _differences(known: Benchmark, table: ItemTable) -> Iterator[tuple[str, list[str]]]:
    """Yield each field whose counts differ from those of the benchmark, with sentences about its values."""
    wanted = {name: task["weight"] for name, task in known.tasks.items() if "weight" in task}
    counts = _counts(table.column("task"))
    if wanted and counts != wanted:
        wrong = [f"{name}: {counts.get(name, 0)} instead of {n}" for name, n in wanted.items() if counts.get(name) != n]
        wrong += [f"{printable(str(name))} is not one of its tasks" for name in counts if name not in wanted]
        yield "task", wrong
    for one in known.fields:
        counts = _counts(table.field(one)) if one.shares else {}
        are = {name: counts.get(name, 0) / len(table) for name in one.shares}
        wrong = [
            f"{are[name]:.0%} are {name} instead of {share:.0%}"
            for name, share in one.shares.items()
            if abs(are[name] - share) > _SHARE
        ]
        if wrong:
            yield one.field, wrong


def _counts(column: pa.Array) -> dict[str, int]:
    """How often each value of a column is there, in their order."""
    return {each["values"].as_py(): each["counts"].as_py() for each in pc.value_counts(column)}


def _meant(value: str, known: Sequence[str] | Mapping[str, object]) -> str | None:
    """The known value that differs only in case and signs."""
    return {_plain(one): one for one in known}.get(_plain(value))


def _plain(text: str) -> str:
    return re.sub(r"[\W_]", "", text.lower())


def unknown_task(table: ItemTable, found: Found) -> Iterator[Finding]:
    known = find(table.home)
    if known is not None and known.tasks:
        yield from _strange(
            known, FieldValues(name="task", values=(*known.tasks,), column="task", needed=True), table, found
        )


def value_of_another_benchmark(table: ItemTable, found: Found) -> Iterator[Finding]:
    known = find(table.home)
    if known is not None:
        for one in known.fields:
            yield from _strange(known, one, table, found)


def _strange(known: Benchmark, one: FieldValues, table: ItemTable, found: Found) -> Iterator[Finding]:
    """Yield a finding for each value that a field of a benchmark does not allow, once for the file."""
    column = table.field(one)
    has = one.has or listed([*one.values], 6) or "one for each question"
    if one.needed and (one.values or one.wrong):  # else an empty one is told of elsewhere
        column = pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), ""), None, column)
    if one.needed and (missing := rows_where(column.is_null())):
        message = f"the question has no {one.name}{_in(len(missing))}"
        yield found(missing[0], one.field, message, f"write it: {known.title} has {has}")
    if not one.values and not one.wrong:
        return
    values = column.drop_null()
    listed_values = pc.is_in(values, value_set=pa.array(one.values, pa.string()))
    strange = pc.invert(listed_values) if one.values else pc.match_substring_regex(values, one.wrong)
    for value, count in _counts(values.filter(strange)).items():
        meant = _meant(value, one.values)
        message = f"{one.name} is {clipped(value) or 'empty'}{_in(count)}, but {known.title} has {has}"
        hint = f"write {meant}" if meant else f"choose from {', '.join(one.values)}" if one.values else "correct it"
        yield found(pc.index(column, value).as_py(), one.field, message, hint)


def _in(count: int) -> str:
    return f", in {count:,} questions" if count > 1 else ""


def field_of_another_task(table: ItemTable, found: Found) -> Iterator[Finding]:
    known = find(table.home)
    if known is None or not known.tasks:
        return
    for one in known.fields:
        right = known.of_tasks[one.name]

        def other(task: str, value: str, one: FieldValues = one, right: Mapping[str, str] = right) -> str | None:
            wrong = value in one.values and value != right.get(task, value)
            return f"{one.name} is {value}, but that of {task} is {right[task]}" if wrong else None

        for row, message in table.judged(("task", one), other) if right else ():
            yield found(row, one.field, message, f"correct the task, or write {right[table.value(row, 'task')]}")
    options = table.judged(("task", "options"), lambda task, given: _options(known.tasks.get(task, {}), given or ()))
    for row, wrong in options:
        field = "options" if table.value(row, "options") else "question"
        yield found(row, field, f"{table.value(row, 'task')} has {wrong}", "correct the task or the options")


def _options(task: Mapping[str, Any], options: Sequence[str]) -> str | None:
    """Return the options of a task that a question lacks; None where both agree."""
    wanted, count = task.get("options"), task.get("count")
    if wanted is not None and sorted(option.lower() for option in options) != sorted(wanted):
        shown = listed([clipped(option, 20) for option in options], 4) if options else "none"
        return f"the options {' and '.join(wanted)}, but this question has {shown}"
    if count is not None and len(options) != count:
        return f"{count} options, but this question has {plural(len(options), 'option')}"
    return None


BENCHMARK_RULES = (
    not_the_whole_benchmark,
    subset_of_a_benchmark,
    unknown_task,
    value_of_another_benchmark,
    field_of_another_task,
)
