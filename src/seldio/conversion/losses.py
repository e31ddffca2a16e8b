"""What a conversion loses, lacks and changes, worked out before anything is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from seldio.conversion.carry import folds, resolved
from seldio.conversion.changes import milliseconds, notes
from seldio.conversion.facts import Facts
from seldio.conversion.frames import takes_events
from seldio.conversion.measuring import MOVABLE, TIMES, complete, measured, untimed
from seldio.formats import Format
from seldio.formats.dcase_json import JsonFormat
from seldio.formats.label_csv import Dialect
from seldio.text import listed, plural
from seldio.vocabularies import vocabulary

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a conversion means for the data.

    Args:
        losses: fields whose information the target cannot carry, with what is lost.
        missing: fields that the target needs and the table lacks, with how.
        notes: what changes without a loss: rounding, units, numbers of classes.
    """

    losses: dict[str, str]
    missing: dict[str, str]
    notes: list[str]


def plan(table: pa.Table, source: Format, target: Format, fill: Mapping[str, Any] = NOTHING) -> Plan:
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


def planned(facts: Facts, source: Format, target: Format, fill: Mapping[str, Any] = NOTHING) -> Plan:
    """The plan for tables of the label format *source* of which *facts* are known."""
    if target.role == "table" or not facts.table.rows:
        return Plan({}, {}, [])
    missing = dict(_missing(facts, target))
    whole = complete(facts, target)
    losses = dict(_losses(facts, source, target)) if whole else {}
    idle = [
        f"--fill {field} has no use: every row has its own" for field in fill if not facts.counts[f"filled {field}"]
    ]
    return Plan(losses, missing, [*idle, *(notes(facts, source, target) if whole else [])])


# --- what the target needs -------------------------------------------------------------------------


def _missing(facts: Facts, target: Format) -> Iterator[tuple[str, str]]:
    needs = (*target.needs, "class_id") if "class_id" in target.carries else target.needs
    for field in dict.fromkeys(needs):
        unknown = (
            untimed(facts.table) if field in TIMES
            else facts.counts["unclassed"] if field == "class_id"
            else facts.table.unknown(field)
        )  # fmt: skip
        if unknown and not _does_without(facts, field, target):
            many = f"{unknown:,} of {plural(facts.table.rows, 'row')} have none"
            yield field, "the table has none" if unknown == facts.table.rows else many


def _does_without(facts: Facts, field: str, target: Format) -> bool:
    """Whether the target can be written although *field* is unknown in some rows."""
    if field == "distance":  # that some distances are unknown is a loss, where there is no mark for it
        return (
            _marks_unknown(target) is not None
            or facts.table.has("distance")
            or (isinstance(target, JsonFormat) and "distance" in facts.table.known)
        )
    return field in ("azimuth", "elevation") and "segmentation" in {*facts.table.known} & {*target.carries}


def _marks_unknown(target: Format) -> int | None:
    """The number that stands for an unknown distance."""
    return target.unknown_distance if isinstance(target, Dialect) else None


# --- what the target cannot carry ------------------------------------------------------------------


def _losses(facts: Facts, source: Format, target: Format) -> Iterator[tuple[str, str]]:
    """Fields, and what of them is lost."""
    yield from _time_losses(facts, source, target)
    if foreign := facts.names.get("lost"):
        yield "class_id", _lost_classes(foreign, source, target)
    for field, describe in _DESCRIPTIONS.items():
        if field in facts.table.known and field not in target.carries and (what := describe(facts)):
            yield field, what
    if "x" not in target.carries and (what := _norm(facts, source)):
        yield from dict.fromkeys("xyz", what).items()
    if folds(source, target) and (behind := facts.counts["behind"]):
        rows = plural(facts.table.rows, "row")
        yield "azimuth", f"front or back: {behind:,} of {rows} lie behind and are folded to the front"
    if isinstance(target, Dialect) and (what := _unknown_distances(facts, target)):
        yield "distance", what
    if "extra" not in target.carries and (keys := _further_keys(facts)):
        yield "extra", f"further keys: {listed(keys)}"


def _time_losses(facts: Facts, source: Format, target: Format) -> Iterator[tuple[str, str]]:
    if facts.table.are_events and not takes_events(target):
        if what := _between_frames(facts, target):
            yield "frame", what
    elif not facts.table.are_events and takes_events(target):
        events = plural(facts.counts["events"], "event")
        for field in MOVABLE:
            if moving := facts.counts[f"moving {field}"]:
                yield field, f"it changes in {moving:,} of {events}; the middle frame's is kept"
    elif not facts.table.are_events and source.hop < target.hop:
        what = f"frames of {milliseconds(source)} fall together in frames of {milliseconds(target)}"
        yield "frame", f"{what}: {plural(facts.table.rows, 'row')} become {facts.counts['rescaled']:,}"


def _between_frames(facts: Facts, target: Format) -> str:
    """What is lost when events become frames; empty if the frames tell the events exactly."""
    rows, off = facts.table.rows, facts.counts["between frames"]
    if off:
        return (
            f"{off:,} of {2 * rows:,} onsets and offsets lie between frames of {milliseconds(target)}: "
            "an event fills each frame that it touches"
        )
    merged = rows - facts.counts["separate"]
    return (
        f"{merged:,} of {plural(rows, 'event')} touch another of their class and become one with it"
        if merged > 0
        else ""
    )


def _lost_classes(lost: Mapping[str, int], source: Format, target: Format) -> str:
    """The classes that the target's list does not have, most rows first."""
    ordered = sorted(lost.items(), key=lambda item: (-item[1], item[0]))
    names = listed([f'"{name}" ({plural(rows, "row")})' for name, rows in ordered], most=20)
    other = [alias for alias, name in target.alias_vocabularies.items() if name == source.vocabulary]
    hint = f" ({other[0]} is the same layout with the classes of {source.vocabulary})" if other else ""
    classes = len(vocabulary(target.vocabulary))
    return f"{names} not among the {classes} classes of {target.vocabulary}{hint}; their rows are left out"


def _norm(facts: Facts, source: Format) -> str:
    """The norm of (x, y, z); nothing where it is 1 throughout."""
    low, high = facts.least.get("norm", 1.0), facts.most.get("norm", 1.0)
    if max(abs(low - 1.0), abs(high - 1.0)) <= 1e-6:
        return ""
    what = "a distance or an activity" if source.role == "label" else "an activity"
    return f"the norm, {what} ({low:.2f} to {high:.2f})"


def _unknown_distances(facts: Facts, target: Dialect) -> str:
    if "distance" not in target.carries or target.unknown_distance is not None or not facts.table.has("distance"):
        return ""
    unknown, rows = facts.table.unknown("distance"), plural(facts.table.rows, "row")
    return f"{unknown:,} of {rows} have none; 0 is written for it" if unknown else ""


def _further_keys(facts: Facts) -> list[str]:
    """Keys of the source files, and of their rows, that are no fields."""
    keys = {**facts.names.get("keys of files", {}), **facts.names.get("keys of rows", {})}
    return [key for key in keys if key != "annotations"]


# --- what columns hold -----------------------------------------------------------------------------


def _source(facts: Facts) -> str:
    """Numbers of sources; a constant 0 or -1 says nothing."""
    if "source" not in facts.least:
        return ""
    low, high = facts.least["source"], facts.most["source"]
    if low == high:
        return "" if low in (0, -1) else f"the number {low}"
    return f"the numbers {low} to {high}"


def _range(field: str, unit: str) -> Callable[[Facts], str]:
    def describe(facts: Facts) -> str:
        return f"values from {facts.least[field]:g} to {facts.most[field]:g}{unit}" if field in facts.least else ""

    return describe


def _onscreen(facts: Facts) -> str:
    known = facts.table.known["onscreen"]
    return f"whether the source is in the picture ({plural(known, 'row')})" if known else ""


def _hemisphere(facts: Facts) -> str:
    open_ended = facts.counts["hemisphere"]
    return f"{plural(open_ended, 'elevation')} known only as up or down; ±90 is written" if open_ended else ""


def _segmentation(facts: Facts) -> str:
    maps = facts.counts["maps"]
    return f"the energy maps of {plural(maps, 'row')}" if maps else ""


_DESCRIPTIONS: dict[str, Callable[[Facts], str]] = {
    "source": _source,
    "elevation": _range("elevation", "°"),
    "distance": _range("distance", " m"),
    "onscreen": _onscreen,
    "hemisphere": _hemisphere,
    "score": _range("score", ""),
    "segmentation": _segmentation,
}
