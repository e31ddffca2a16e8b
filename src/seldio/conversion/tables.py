"""Convert an event table, or refuse to."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from seldio.conversion.carry import FILLABLE, carried, filled, resolved
from seldio.conversion.losses import NOTHING, Plan, plan
from seldio.errors import LossError, UsageError
from seldio.formats import Format
from seldio.schema.events import COLUMNS

#: The name that allows every loss.
ALL = "all"
#: What is shown as a value to fill in where 0 would be a wrong one: no source is 0 m away.
_EXAMPLES = {"distance": "METRES"}


@dataclasses.dataclass(frozen=True)
class Converted:
    """A table as its target holds it, and what that meant for the data."""

    table: pa.Table
    plan: Plan


def convert(
    table: pa.Table,
    source: Format,
    target: Format,
    *,
    allow_loss: Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
) -> Converted:
    """*table* with the fields, classes, frames and files of *target*, ready for ``target.write``.

    Values are not rounded here: the writer does that.

    Args:
        table: an event table.
        source: the format it was read from, or the Parquet format.
        target: the format to write.
        allow_loss: fields whose loss is accepted; ``all`` for every one.
        fill: values for fields that are unknown, by field.

    Raises:
        LossError: the target cannot carry a field, and its loss is not allowed.
        UsageError: the target needs a field that the table lacks, or a name or value makes no sense.
    """
    allow_loss = checked_names(allow_loss)
    planned = plan(table, source, target, fill)
    refuse(planned, target, allow_loss)
    return Converted(carry_out(table, source, target, fill), planned)


def carry_out(table: pa.Table, source: Format, target: Format, fill: Mapping[str, Any] = NOTHING) -> pa.Table:
    """*table* as *target* holds it, once a plan has said what that means."""
    source = resolved(source, table)
    return carried(filled(table, target, fill), source, target)


def checked_names(allow_loss: Collection[str]) -> tuple[str, ...]:
    """The names, or UsageError unless every one is that of a column of an event table, or ``all``."""
    return checked_fields(allow_loss, COLUMNS)


def checked_fields(allow_loss: Collection[str], known: Iterable[str]) -> tuple[str, ...]:
    """The names, or UsageError unless every one is one of *known*, or ``all``; a text has commas between them."""
    given = allow_loss.split(",") if isinstance(allow_loss, str) else allow_loss
    wanted, names = tuple(name.strip() for name in given), (*known, ALL)
    if unknown := [name for name in wanted if name and name not in names]:
        fields = ", ".join(names)
        raise UsageError(f"--allow-loss {','.join(unknown)}: no such field; there are {fields}")
    return wanted


def merged(plans: Sequence[Plan]) -> Plan:
    """Plans of several tables as one; what they say of one field stands side by side."""
    losses: dict[str, str] = {}
    missing: dict[str, str] = {}
    for one in plans:
        for joined, new in ((losses, one.losses), (missing, one.missing)):
            for field, what in new.items():
                joined[field] = f"{joined[field]}; {what}" if field in joined else what
    return Plan(losses, missing, list(dict.fromkeys(note for one in plans for note in one.notes)))


def refuse(planned: Plan, target: Format, allow_loss: Collection[str]) -> None:
    """Raise what stands against a plan: UsageError for missing fields, LossError for losses not allowed."""
    if planned.missing:
        reasons = "; ".join(f"{field}: {why}" for field, why in planned.missing.items())
        fills = " ".join(
            f"--fill {field}={_EXAMPLES.get(field, '0')}" for field in planned.missing if field in FILLABLE
        )
        metres = " (metres, whatever the unit of the layout)" if "distance" in planned.missing else ""
        hint = f" To set one value for all: {fills}{metres}" if fills else ""
        raise UsageError(f"{target.name} needs {', '.join(planned.missing)} ({reasons}).{hint}")
    refused = {field: what for field, what in planned.losses.items() if not {field, ALL} & set(allow_loss)}
    if refused:
        raise LossError(target.name, refused)
