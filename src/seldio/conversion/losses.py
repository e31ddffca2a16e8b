"""What a conversion loses, lacks and changes: told by facts before anything is written, and refused or allowed."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from seldio.catalogues.parts import resolved
from seldio.conversion.carry import FILLABLE, carried, filled, folds, given_class
from seldio.conversion.facts import MOVABLE, TIMES, Facts, complete, decimals, measured, untimed
from seldio.conversion.frames import takes_events
from seldio.errors import LossError, UsageError
from seldio.formats import LabelFormat
from seldio.formats.base import UNITS
from seldio.formats.dcase_json import JsonFormat
from seldio.formats.label_csv import Dialect
from seldio.schema.events import COLUMNS
from seldio.text import listed, plural
from seldio.vocabularies import short, vocabulary

NOTHING: Mapping[str, Any] = MappingProxyType({})
#: The name that allows every loss.
ALL = "all"
#: What is shown as a value to fill in where 0 would be a wrong one: no source is 0 m away.
_EXAMPLES = {"distance": "METRES"}


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a conversion means for the data."""

    losses: dict[str, str]  # fields whose information the target cannot carry, with what is lost
    missing: dict[str, str]  # fields that the target needs and the table lacks, with how
    notes: list[str]  # what changes without a loss: rounding, units, numbers of classes


def plan(table: pa.Table, source: LabelFormat, target: LabelFormat, fill: Mapping[str, Any] = NOTHING) -> Plan:
    """Work out what converting *table* from *source* to *target* loses, lacks and changes.

    Args:
        table: an event table.
        source: the format it was read from, or the Parquet format.
        target: the format to write.
        fill: values for fields that are unknown, by field.

    Raises:
        UsageError: *fill* names a field that cannot be filled, or holds a value that cannot be one.
        DataError: times are far beyond what a recording has.
    """
    source = resolved(source, table)
    return planned(measured(table, source, target, fill), source, target, fill)


def planned(facts: Facts, source: LabelFormat, target: LabelFormat, fill: Mapping[str, Any] = NOTHING) -> Plan:
    """The plan for tables of the label format *source* of which *facts* are known."""
    if target.role == "table" or not facts.table.rows:
        return Plan({}, {}, [])
    missing = dict(_missing(facts, target))
    whole = complete(facts, target)
    losses = dict(_losses(facts, source, target)) if whole else {}
    idle = [
        f"--fill {field} has no effect: every row already has a value"
        for field in fill
        if not facts.counts[f"filled {field}"]
    ]
    return Plan(losses, missing, [*idle, *(notes(facts, source, target) if whole else [])])


# --- what the target needs -------------------------------------------------------------------------


def _missing(facts: Facts, target: LabelFormat) -> Iterator[tuple[str, str]]:
    needs = (*target.needs, "class_id") if "class_id" in target.carries else target.needs
    for field in dict.fromkeys(needs):
        unknown = (
            untimed(facts.table) if field in TIMES
            else facts.counts["unclassed"] if field == "class_id"
            else facts.counts["no distance"] if field == "distance" and facts.table.has("distance")
            else facts.table.unknown(field)
        )  # fmt: skip
        if unknown and not _does_without(facts, field, unknown, target):
            many = f"{unknown:,} of {plural(facts.table.rows, 'row')} have none"
            yield field, "the table has none" if unknown == facts.table.rows else many


def _does_without(facts: Facts, field: str, unknown: int, target: LabelFormat) -> bool:
    """Whether the target can be written although *field* is unknown in some rows."""
    if field == "distance":  # unknown ones are never written as 0: a format has a mark for them, or needs a value
        if isinstance(target, Dialect):
            return target.unknown_distance is not None
        return isinstance(target, JsonFormat) and "distance" in facts.table.known
    if field in ("azimuth", "elevation"):  # that some rows have no direction at all is a loss
        left_out = unknown == facts.counts["nowhere"] < facts.table.rows
        return left_out or "segmentation" in {*facts.table.known} & {*target.carries}
    return False


# --- what the target cannot carry ------------------------------------------------------------------


def _losses(facts: Facts, source: LabelFormat, target: LabelFormat) -> Iterator[tuple[str, str]]:
    """Fields, and what of them is lost."""
    yield from _time_losses(facts, source, target)
    if foreign := facts.names.get("lost"):
        yield "class_id", _lost_classes(foreign, source, target)
    for field in _DESCRIBED:
        if field in facts.table.known and field not in target.carries and (what := _description(facts, field)):
            yield field, what
    if "x" not in target.carries and (what := _norm(facts, source)):
        yield from dict.fromkeys("xyz", what).items()
    if lost := facts.counts["nowhere"]:
        many = f"{lost:,} of {plural(facts.table.rows, 'row')} have none, nor an elevation, and are left out"
        yield "azimuth", f"{many}; --fill azimuth=DEGREES gives them one"
    if folds(source, target) and (behind := facts.counts["behind"]):
        rows = plural(facts.table.rows, "row")
        yield "azimuth", f"front or back: {behind:,} of {rows} lie behind and are folded to the front"
    keys = {**facts.names.get("keys of files", {}), **facts.names.get("keys of rows", {})}
    if further := [key for key in keys if key != "annotations"]:
        yield "extra", f"additional keys: {listed(further)}"


def _time_losses(facts: Facts, source: LabelFormat, target: LabelFormat) -> Iterator[tuple[str, str]]:
    if facts.table.are_events and not takes_events(target):
        if what := _between_frames(facts, target):
            yield "frame", what
    elif not facts.table.are_events and takes_events(target):
        events = plural(facts.counts["events"], "event")
        for field in MOVABLE:
            if moving := facts.counts[f"moving {field}"]:
                yield field, f"it changes in {moving:,} of {events}; the value of the middle frame is kept"
    elif not facts.table.are_events and source.hop < target.hop:
        what = f"frames of {milliseconds(source)} are merged into frames of {milliseconds(target)}"
        yield "frame", f"{what}: {plural(facts.table.rows, 'row')} become {facts.counts['rescaled']:,}"


def _between_frames(facts: Facts, target: LabelFormat) -> str:
    """What is lost when events become frames; empty if the frames tell the events exactly."""
    rows, off = facts.table.rows - facts.counts["pieces"], facts.counts["between frames"]
    if off:
        return (
            f"{off:,} of {2 * rows:,} onsets and offsets fall between frames of {milliseconds(target)}: "
            "an event fills every frame that it touches"
        )
    merged = rows - facts.counts["separate"]
    return (
        f"{merged:,} of {plural(rows, 'event')} touch another of the same class and are merged with it"
        if merged > 0
        else ""
    )


def _lost_classes(lost: Mapping[str, int], source: LabelFormat, target: LabelFormat) -> str:
    """The classes that the target's list does not have, most rows first."""
    ordered = sorted(lost.items(), key=lambda item: (-item[1], item[0]))
    names = listed([f'"{name}" ({plural(rows, "row")})' for name, rows in ordered], most=20)
    other = [alias for alias, name in target.alias_vocabularies.items() if name == source.vocabulary]
    hint = f" ({other[0]} is the same format with the classes of {short(source.vocabulary)})" if other else ""
    classes = len(vocabulary(target.vocabulary))
    return f"{names} not among the {classes} classes of {short(target.vocabulary)}{hint}; their rows are left out"


def _norm(facts: Facts, source: LabelFormat) -> str:
    """The norm of (x, y, z); nothing where it is 1 throughout."""
    low, high = facts.least.get("norm", 1.0), facts.most.get("norm", 1.0)
    if max(abs(low - 1.0), abs(high - 1.0)) <= 1e-6:
        return ""
    what = "a distance or an activity" if source.role == "label" else "an activity"
    return f"the norm, {what} ({low:.2f} to {high:.2f})"


#: Columns of which something is said where the target lacks them, with the unit of their values.
_DESCRIBED = {
    "source": "", "elevation": "°", "distance": " m", "onscreen": "", "hemisphere": "", "score": "", "segmentation": "",
}  # fmt: skip


def _description(facts: Facts, field: str) -> str:
    """What a column holds; empty where it says nothing."""
    low, high = facts.least.get(field), facts.most.get(field)
    if field == "source" and low == high:
        return "" if low in (0, -1, None) else f"the number {low}"  # a constant 0 or -1 says nothing
    if field == "source":
        return f"the numbers {low} to {high}"
    if field == "onscreen":
        known = facts.table.known["onscreen"]
        return f"whether the source is on screen ({plural(known, 'row')})" if known else ""
    if field == "hemisphere":
        open_ended = facts.counts["hemisphere"]
        return f"{plural(open_ended, 'elevation')} known only as up or down; written as ±90" if open_ended else ""
    if field == "segmentation":
        maps = facts.counts["maps"]
        return f"the energy maps of {plural(maps, 'row')}" if maps else ""
    return "" if low is None else f"values from {low:g} to {high:g}{_DESCRIBED[field]}"


# --- what changes without a loss: it is always said ------------------------------------------------------------------


def milliseconds(format: LabelFormat) -> str:
    """The length of a format's frames, for people."""
    return f"{float(format.hop * 1000):g} ms"


def notes(facts: Facts, source: LabelFormat, target: LabelFormat) -> list[str]:
    """Sentences about what changes when tables of which *facts* are known go from *source* to *target*."""
    parts = (
        _classes(facts, source, target),
        _times(facts, source, target),
        _rounding(facts, target),
        _values(facts, source, target),
        _clips(facts, target),
    )
    return [note for part in parts for note in part]


def _classes(facts: Facts, source: LabelFormat, target: LabelFormat) -> Iterator[str]:
    if source.vocabulary != target.vocabulary:
        yield f"classes of {short(source.vocabulary)} are mapped to those of {short(target.vocabulary)} by name"
    if given := facts.names.get("given"):
        names = listed([f'"{name}" ({plural(rows, "row")})' for name, rows in given.items()], most=20)
        yield f"{names} not in {short(target.vocabulary)}, written as {listed(list(facts.names['given as']))}"
    if foreign := facts.names.get("foreign"):
        names = listed([f'"{name}"' for name in sorted(foreign)], most=20)
        many = plural(len(foreign), "class", "classes")
        yield f"{many} not in {short(target.vocabulary)}, written by name: {names}"
    if spelled := facts.names.get("spelled"):
        yield f"the spelling of classes is not kept: {listed(sorted(spelled))}"


def _times(facts: Facts, source: LabelFormat, target: LabelFormat) -> Iterator[str]:
    rows, timed = facts.table.rows, facts.timed.rows
    if facts.table.are_events and not takes_events(target):
        pieces = facts.counts["pieces"]
        become = "becomes" if rows - pieces == 1 else "become"
        yield f"{plural(rows - pieces, 'event')} {become} {plural(timed, 'event frame')}"
    elif not facts.table.are_events and takes_events(target):
        yield f"{plural(rows, 'event frame')} become {plural(timed, 'event')}"
    elif not facts.table.are_events and source.hop > target.hop:
        times = int(source.hop / target.hop)
        yield f"each frame of {milliseconds(source)} becomes {times} frames of {milliseconds(target)}"


def _rounding(facts: Facts, target: LabelFormat) -> Iterator[str]:
    """By how much directions and distances are rounded."""
    directions = {field: _deviation(facts, field, target) for field in ("azimuth", "elevation")}
    changed = [field for field, (_, most) in directions.items() if most]
    if changed:
        left = max(directions[field][0] for field in changed)
        most = max(directions[field][1] for field in changed)
        are = "are" if len(changed) == 2 else "is"
        what = "three decimals" if left else "whole degrees"
        yield f"{' and '.join(changed)} {are} rounded to {what}, by up to {_shown(most, left)}°"
    if (most := facts.most.get("rounding of times", 0.0)) > 0 and target.time_decimals is not None:
        yield f"times are rounded to {target.time_decimals} decimals, by up to {1000 * most:.3g} ms"
    left, most = _deviation(facts, "distance", target)
    if most and isinstance(target, Dialect):
        what = "three decimals" if left else f"whole {UNITS[target.metre or 1][1]}"
        amount = f"{_shown(most, left)} {UNITS[target.metre or 1][0]}"
        yield f"distance is rounded to {what}, by up to {amount}"


def _deviation(facts: Facts, field: str, target: LabelFormat) -> tuple[int, float]:
    """The decimals that the target leaves to *field*, and the most that rounding to them changes."""
    most = facts.most.get(f"rounding of {field}", 0.0)
    return decimals(target, field) or 0, most if most > 1e-6 else 0.0


def _shown(most: float, left: int) -> str:
    """An amount with two digits more than are left, rounded up."""
    return f"{np.ceil(most * 10 ** (left + 2) - 1e-6) / 10 ** (left + 2):.{left + 2}f}"


def _values(facts: Facts, source: LabelFormat, target: LabelFormat) -> Iterator[str]:
    """Distances in other units, and values that the target has and the table does not."""
    timed = facts.timed
    ours, theirs = getattr(target, "metre", None), getattr(source, "metre", None)
    if ours and theirs and ours != theirs and timed.has("distance") and "distance" in target.carries:
        yield f"distances in {UNITS[theirs][1]} are converted to {UNITS[ours][1]}"
    if "x" in target.carries and "x" not in timed.known:
        yield "x, y and z are written as unit vectors: the table has no activity"
    fills = target.fills if isinstance(target, (Dialect, JsonFormat)) else {}
    for field, value in fills.items():
        if not timed.has(field):
            yield f"{field} is written as {value}: the table has none"
    if isinstance(target, Dialect) and target.unknown_distance is not None and not timed.has("distance"):
        yield f"distance is written as {target.unknown_distance}, unknown: the table has none"
    if isinstance(target, JsonFormat) and not isinstance(source, JsonFormat):
        if source.role != "label" and not timed.has("score"):
            yield "score is left out: the official scorer reads it as 0 (--fill score=1 sets it)"
        if "distance" in timed.known and (unknown := timed.unknown("distance")):
            yield f"distance is left out of {plural(unknown, 'row')}: the official scorer reads it as 0"
    if isinstance(source, Dialect) and source.folded and not (isinstance(target, Dialect) and target.folded):
        yield "azimuth is folded: front and back cannot be distinguished"


def _clips(facts: Facts, target: LabelFormat) -> Iterator[str]:
    """What clips have that the target does not."""
    if long := facts.counts["long clips"]:
        limit = f"the {target.clip_frames:,} that every {target.name} clip has"
        yield f"{plural(long, 'clip')} with frames past {limit}"
    if (longer := facts.counts["silent ends"]) and not (isinstance(target, Dialect) and target.silence):
        yield f"silent frames are not listed: the length of {plural(longer, 'clip')} is not kept"


# --- what is allowed --------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Converted:
    """A table as its target holds it, and what that meant for the data."""

    table: pa.Table
    plan: Plan


def convert(
    table: pa.Table,
    source: LabelFormat,
    target: LabelFormat,
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
        allow_loss: fields whose loss is accepted; ``all`` accepts every loss. fill: values for fields that are unknown,
            by field.

    Raises:
        LossError: the target cannot carry a field, and its loss is not allowed.
        UsageError: the target needs a field that the table lacks, or a name or value makes no sense.
    """
    allow_loss = checked_names(allow_loss)
    planned = plan(table, source, target, fill)
    refuse(planned, target, allow_loss)
    return Converted(carry_out(table, source, target, fill), planned)


def carry_out(table: pa.Table, source: LabelFormat, target: LabelFormat, fill: Mapping[str, Any] = NOTHING) -> pa.Table:
    """*table* as *target* holds it, once a plan has said what that means."""
    source = resolved(source, table)
    return carried(filled(table, target, fill), source, target, given_class(fill, target))


def checked_names(allow_loss: Collection[str]) -> tuple[str, ...]:
    """The names, or UsageError unless every one is that of a column of an event table, or ``all``."""
    return checked_fields(allow_loss, COLUMNS)


def checked_fields(allow_loss: Collection[str], known: Iterable[str]) -> tuple[str, ...]:
    """The names, or UsageError unless every one is one of *known*, or ``all``; a text has commas between them."""
    given = allow_loss.split(",") if isinstance(allow_loss, str) else allow_loss
    wanted, names = tuple(name.strip() for name in given), (*known, ALL)
    if unknown := [name for name in wanted if name and name not in names]:
        fields = ", ".join(names)
        raise UsageError(f"--allow-loss {','.join(unknown)}: unknown field; choose from {fields}")
    return wanted


def merged(plans: Sequence[Plan]) -> Plan:
    """Plans of several tables as one; what they say of one field is joined."""
    losses: dict[str, str] = {}
    missing: dict[str, str] = {}
    for one in plans:
        for joined, new in ((losses, one.losses), (missing, one.missing)):
            for field, what in new.items():
                joined[field] = f"{joined[field]}; {what}" if field in joined else what
    return Plan(losses, missing, list(dict.fromkeys(note for one in plans for note in one.notes)))


def refuse(planned: Plan, target: LabelFormat, allow_loss: Collection[str]) -> None:
    """Raise what prevents a plan: UsageError for missing fields, LossError for losses not allowed."""
    if planned.missing:
        reasons = "; ".join(f"{field} ({why})" for field, why in planned.missing.items())
        fills = " ".join(
            f"--fill {field}={_EXAMPLES.get(field, '0')}" for field in planned.missing if field in FILLABLE
        )
        metres = " (metres, whatever the format uses)" if "distance" in planned.missing else ""
        hint = f" To set one value for all, use {fills}{metres}" if fills else ""
        raise UsageError(f"{target.name} needs {reasons}.{hint}")
    allowed(planned.losses, target.name, allow_loss)


def allowed(losses: Mapping[str, str], target: str, allow_loss: Collection[str]) -> Mapping[str, str]:
    """*losses* of a conversion to *target*, or LossError unless all are allowed."""
    refused = {field: what for field, what in losses.items() if not {field, ALL} & set(allow_loss)}
    if refused:
        raise LossError(target, refused)
    return losses
