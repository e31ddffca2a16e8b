"""Convert questions and predictions: read a file, write it in memory, compare what comes back, put it in place."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from io import BytesIO
from itertools import zip_longest
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seldio import formats
from seldio.conversion.inputs import only_reading
from seldio.conversion.losses import NOTHING, allowed, checked_fields
from seldio.conversion.outputs import single_file
from seldio.conversion.report import Conversion
from seldio.errors import DataError, InvalidData, UsageError
from seldio.files import Source
from seldio.files.archives import zipped
from seldio.files.names import suffix_of
from seldio.files.sources import reopened
from seldio.findings import Finding, raise_errors
from seldio.formats.item_parquet import ItemParquet
from seldio.formats.items import ItemFormat, ItemReading, option_letter
from seldio.formats.json_items import JsonItems
from seldio.formats.mera import MERA_TASK, SUBMISSION
from seldio.formats.parquet import too_large
from seldio.schema.arrays import pc
from seldio.schema.qa import Item, Prediction, Rows
from seldio.text import clipped, listed, plural

Place = str | os.PathLike[str]
#: Fields of questions and predictions that ``--fill`` can set: one text for every row that has none.
FILLABLE = ("task", "instruction", "language", "split", "dataset")
#: So many rows are named in an error.
FEW = 3


def convert_items(
    path: Place | Source,
    out: Place | BinaryIO,
    target: ItemFormat,
    *,
    format: ItemFormat | None = None,
    allow_loss: Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
    drop_unfit: bool = False,
) -> Conversion:
    """Convert a file of questions or predictions; *fill* fills gaps, *drop_unfit* lists rows that cannot be written."""
    allow_loss = checked_fields(allow_loss, {**Item.model_fields, **Prediction.model_fields})
    for field, value in fill.items():
        if field not in FILLABLE:
            raise UsageError(f"--fill {field}: of questions, only {', '.join(FILLABLE)} can be filled")
        if field not in target.carries:
            raise UsageError(f"--fill {field}: {target.name} has no such field")
        if not isinstance(value, str) or not value:
            raise UsageError(f"--fill {field}={value}: not a text")
    place = path.path if isinstance(path, Source) else path
    with reopened(path, raise_errors) as source:
        reading = only_reading(source, format)
        if reading.format.holds != target.holds:
            if fill or drop_unfit:
                raise UsageError("--fill and --drop-unfit are for questions, not for the template of their predictions")
            if target.holds == "items":
                holds = f"{reading.format.name} holds predictions, but {target.name} holds questions"
                raise UsageError(f"{holds}: convert the questions")
            data = target.write(target.template([row for row in reading.rows if isinstance(row, Item)]))
            losses = dict[str, str]()
            dropped, count = list[tuple[str, str]](), len(reading.rows)
            notes = ["a template: the predictions are empty, for a model to fill in"]
        else:
            table, notes, dropped = _fitted(reading, target, fill, drop_unfit)
            data, losses = _written(reading, table, target, allow_loss)
            count = len(table)
        with single_file(out, [place]) as (stream, written):
            stream.write(_packed(data, out, target))
    rows, names = len(reading.rows), (reading.format.name,)
    return Conversion(names, target.name, 1, written, rows, (rows, count), losses, tuple(notes), (), tuple(dropped))


# --- what is written ------------------------------------------------------------------------------------------------


def _fitted(
    reading: ItemReading, target: ItemFormat, fill: Mapping[str, Any], drop_unfit: bool
) -> tuple[pa.Table, list[str], list[tuple[str, str]]]:
    """Return the rows that *target* accepts, notes, and rows left out; raise UsageError if none can be."""
    source, table = reading.format.name, reading.table
    notes, dropped = list[str](), list[tuple[str, str]]()
    if "options" in target.needs:
        table, count = _with_choices(reading)
        notes += [f"options of {plural(count, 'question')} made from the answers in {source}"] if count else []
    for field, value in fill.items():
        present = _filled(table, field)
        table = _with(table, field, pc.if_else(pa.array(present), table.column(field), value))
        notes += [f"--fill {field} has no effect: every row already has a value"] if present.all() else []
    # answers may be written otherwise; a table keeps those of the format that it is of
    same = target.name in (source, reading.home)
    is_other = target.holds == "items" and not (same or isinstance(target, ItemParquet))
    answers = _answers(reading, table, target) if is_other and target.answers is not None else {}
    faults, ids = defaultdict[int, list[str]](list), [*map(str, table.column("id").to_pylist())]
    for field in () if same else target.needs:
        for row in np.flatnonzero(~_filled(table, field)).tolist():
            faults[row].append(f"no {field}")
    if target.counts and is_other:
        sizes = pc.fill_null(pc.list_value_length(table.column("options")), 0).to_numpy()
        for row in np.flatnonzero(~np.isin(sizes, target.counts)).tolist():
            faults[row].append(plural(int(sizes[row]), "option") if sizes[row] else "no options")
    for row, (_, fault) in answers.items():
        if fault:
            faults[row].append(fault)
    if drop_unfit and source != target.name:
        if _refusal(table, target) is not None:  # by a single row, perhaps
            alone = {row: _refusal(table.slice(row, 1), target) for row in range(len(table)) if row not in faults}
            faults |= {row: [refusal] for row, refusal in alone.items() if refusal is not None}
        dropped = [(ids[row], "; ".join(faults[row])) for row in sorted(faults)]
    fits = [row for row in range(len(table)) if not dropped or row not in faults]
    if dropped and not fits:
        reasons = Counter(why for _, why in dropped)
        shown = listed([f"{number:,}: {why}" for why, number in reasons.most_common()], FEW)
        raise UsageError(f"{target.name} cannot be made from {source}: no row fits ({shown})")
    refusal = _odd_sounds(table.take(fits), target) or _alike(table.take(fits), target)
    if refusal is not None or (faults and not dropped):
        why = refusal or _why_not([(ids[row], fault) for row, each in faults.items() for fault in each], target)
        raise UsageError(f"{target.name} cannot be made from {source}: {why}")
    texts = table.column("answer").to_pylist() if answers else []
    changed = sum(texts[row] != answers[row][0] for row in fits if row in answers)
    if changed:
        kind = "letters" if target.answers == "letter" else "texts"
        notes.append(f"{plural(changed, 'answer')} written as option {kind}")
        written = [answers[row][0] if row in answers else text for row, text in enumerate(texts)]
        table = _with(table, "answer", pa.array(written, pa.string()))
    return (table.take(fits) if dropped else table), notes, dropped


def _with(table: pa.Table, field: str, column: Any) -> pa.Table:
    place = table.schema.names.index(field)
    return table.set_column(place, table.schema.field(place), column)


def _with_choices(reading: ItemReading) -> tuple[pa.Table, int]:
    """Return the rows with options made of the wrong answers that their format holds, and of how many questions."""
    table, choices = reading.table, reading.format.choices
    if choices is None:
        return table, 0
    options = [choices(row) if isinstance(row, Item) else None for row in reading.rows]
    column = pa.array(options, table.schema.field("options").type)
    return _with(table, "options", column), len(column) - column.null_count


def _answers(reading: ItemReading, table: pa.Table, target: ItemFormat) -> dict[int, tuple[str, str]]:
    """Return the right answers of rows with options as *target* writes them, or why one cannot be written so."""
    home = formats.named(reading.home, ItemFormat) or reading.format
    # what reads letters and texts takes any answer as it is, and validation says what is wrong with it
    choice, answers = target.answers in ("letter", "text") and not target.letters, dict[int, tuple[str, str]]()
    both = zip(table.column("answer").to_pylist(), table.column("options").to_pylist(), strict=True)
    for row, (answer, texts) in enumerate(both):
        meant = home.meant(answer, texts) if texts and answer else None
        if meant is None:
            continue
        if len(meant) == 1:
            (index,) = meant
            alike = [place for place, text in enumerate(texts) if text == texts[index]]
            if target.answers == "letter":
                answers[row] = option_letter(index), ""
            elif len(alike) == 1 or answer == texts[index] or (target.letters and answer in texts):
                answers[row] = texts[index], ""
            elif not target.letters:  # the way back would not be clear
                names = " and ".join(option_letter(place) for place in alike)
                answers[row] = answer, f"the answer is the text of options {names}"
        elif choice and not (target.answers == "text" and answer in texts and home.answers == "text"):
            letters = " or ".join(option_letter(index) for index in sorted(meant))
            answers[row] = answer, f"the answer is {f'option {letters}' if meant else 'none of the options'}"
    return answers


def _why_not(faults: Iterable[tuple[str, str]], target: ItemFormat) -> str:
    ids: dict[str, list[str]] = {}
    for id, fault in faults:
        ids.setdefault(fault, []).append(clipped(id, 40))
    parts = [f"{plural(len(names), 'row')}: {fault} ({listed(names, FEW)})" for fault, names in ids.items()]
    more = f"; {len(parts) - FEW:,} other reasons" if len(parts) > FEW else ""
    counts = f" (it takes questions with {' or '.join(map(str, target.counts))} options)" if target.counts else ""
    fills = " ".join(f"--fill {field}=TEXT" for field in FILLABLE if f"no {field}" in ids)
    hint = f"To set one value for all, use {fills}" if fills else "Correct them"
    return f"{'; '.join(parts[:FEW])}{more}{counts}. {hint}, or leave them out with --drop-unfit"


def _alike(table: pa.Table, target: ItemFormat) -> str | None:
    """Return why predictions cannot be told apart in *target*; None where they can, or could not be before."""
    if target.holds != "predictions" or "prompt" in target.carries:
        return None
    alike = len(table) - pc.count_distinct(table.column("id")).as_py()
    differ = alike and table.group_by(["id", "prompt"]).aggregate([]).num_rows == len(table)
    has = plural(alike, "prediction has", "predictions have")
    return f"{has} the id of another one, and only prompts, which it lacks, tell them apart" if differ else None


def _odd_sounds(table: pa.Table, target: ItemFormat) -> str | None:
    if not target.sounds:
        return None
    names = pc.list_flatten(table.column("audio"))
    taken = pc.match_substring_regex(names, rf"(?i)\.(?:{'|'.join(target.sounds)})$")
    other = names.filter(pc.invert(taken)).unique().to_pylist()
    kinds = " and ".join(target.sounds)
    return f"it takes {kinds} recordings, not {listed(other, 3)}: convert the recordings" if other else None


def _refusal(table: pa.Table, target: ItemFormat) -> str | None:
    if (refusal := _odd_sounds(table, target)) is not None:
        return refusal
    try:
        target.write(Rows(table, target.model))
    except InvalidData as error:
        return error.finding.message
    return None


def _written(
    reading: ItemReading, table: pa.Table, target: ItemFormat, allow_loss: Collection[str]
) -> tuple[bytes, dict[str, str]]:
    """Return the file and the losses of its rows; raise UsageError if it would be read as another format."""
    origin = target.origin_of(reading)
    if reading.format.name == target.name:
        return target.write(Rows(table, target.model), origin), allowed(reading.lost, target.name, allow_loss)
    marked, seen = table, None
    if isinstance(target, JsonItems) and target.empty:
        head = target.write(Rows(table.slice(0, 1), target.model), origin)
        seen = formats.format_of_file(head, f"out{target.suffix}")
        for field, value in target.empty.items() if seen is None else ():
            column = table.column(field)
            marked = _with(marked, field, pc.coalesce(column, pa.scalar(value, column.type)))
    data = target.write(Rows(marked, target.model), origin)
    if isinstance(target, ItemParquet) and (large := too_large(pq.read_metadata(BytesIO(data)))) is not None:
        raise _unreadable(target, len(table), large.message)
    losses = allowed(reading.lost | _losses(table, marked, target, origin), target.name, allow_loss)
    if isinstance(target, JsonItems) and seen not in (None, target):
        missing = [field for field in target.empty if not table.column(field)[0].is_valid]
        keys = listed([target.key_of(field, {}) for field in missing])
        raise UsageError(
            f"{target.name} cannot be made from {reading.format.name}: the first row has no "
            f"{' or '.join(missing)} ({keys}), so that the file would be read as {seen.name}"
        )
    return data, losses


def _losses(table: pa.Table, marked: pa.Table, target: ItemFormat, origin: dict[str, object] | None) -> dict[str, str]:
    held_fields = {field for field in table.schema.names if field in target.carries and field not in target.ignored}
    counts = {field: int(_filled(table, field).sum()) for field in table.schema.names if field not in held_fields}
    reasons = {field: f"; {reason}" for field, reason in target.ignored.items()}
    losses = {field: plural(count, "row") + reasons.get(field, "") for field, count in counts.items() if count}
    doubtful = target.doubtful(table)
    if not len(doubtful):
        return losses
    findings: list[Finding] = []
    data = target.write(Rows(marked.take(doubtful), target.model), origin)
    again = target.read(data, "the output", findings.append)
    if again is None and findings:
        raise _unreadable(target, len(doubtful), findings[0].message)
    before, after = table.take(doubtful), table.schema.empty_table() if again is None else again.table
    for field in (field for field in target.carries if field in table.schema.names):
        if count := _altered(before.column(field), after.column(field), field, target):
            losses[field] = f"not the same in {plural(count, 'row')}"
    return losses


def _altered(before: pa.ChunkedArray, after: pa.ChunkedArray, field: str, target: ItemFormat) -> int:
    """Count the filled values of a column that differ *after*; of further keys, those that are not all there."""
    if before.equals(after):
        return 0
    nothing: tuple[object, ...] = (None, "", [], "{}" if field == "extra" else "")
    common = getattr(target, "language", None) if field == "language" else None  # which no record says
    both = zip_longest(before.to_pylist(), after.to_pylist()[: len(before)])
    return sum(
        value not in nothing
        and value != other
        and (common is None or value != common)
        and not (field == "extra" and _holds(other, value))
        for value, other in both
    )


def _holds(text: str | None, part: str) -> bool:
    whole = {} if text is None else json.loads(text)
    return all(key in whole and whole[key] == value for key, value in json.loads(part).items())


def _filled(table: pa.Table, field: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    if field not in table.schema.names:
        return np.zeros(len(table), bool)
    column = table.column(field)
    present = column.is_valid()
    if pa.types.is_list(column.type):
        present = pc.greater(pc.fill_null(pc.list_value_length(column), 0), 0)
    elif pa.types.is_string(column.type):
        present = pc.fill_null(pc.not_equal(column, "{}" if field == "extra" else ""), False)
    return np.asarray(present.to_numpy(), bool)


def _unreadable(target: ItemFormat, rows: int, why: str) -> DataError:
    return DataError(
        f"{target.name} cannot hold these {plural(rows, 'row')}: the result could not be read back "
        f"({why}). Nothing was written"
    )


def _packed(data: bytes, out: Place | BinaryIO, target: ItemFormat) -> bytes:
    """Return the file, zipped (as MERA takes it) if the output of a submission is called one."""
    name = os.fspath(out) if isinstance(out, str | os.PathLike) else ""
    if suffix_of(str(name)) != "zip":
        return data
    if target is SUBMISSION:
        return zipped({f"{MERA_TASK}.json": data})
    raise UsageError(
        f"{target.name} is written as one file, not an archive: use -o with a name that does not end in .zip"
    )
