"""What a conversion changes without losing it: rounding, units, numbers of classes. It is always said."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from seldio.conversion.carry import classes
from seldio.conversion.columns import has
from seldio.conversion.frames import are_events, takes_events, with_times
from seldio.formats import Format
from seldio.formats.dcase_json import JsonFormat
from seldio.formats.label_csv import Dialect
from seldio.schema.events import clip_codes, origin_of
from seldio.text import listed, plural

#: Decimals that are left by each kind of column that rounds.
_DECIMALS = {"whole": 0, "real3": 3, "real3inf": 3}
_UNITS = {1: "metres", 100: "centimetres"}


def milliseconds(format: Format) -> str:
    """The length of a format's frames, for people."""
    return f"{float(format.hop * 1000):g} ms"


def notes(table: pa.Table, source: Format, target: Format) -> list[str]:
    """Sentences about what changes when *table* goes from *source* to *target*."""
    timed = with_times(table, source, target)
    parts = (
        _classes(table, source, target),
        _times(table, timed, source, target),
        _rounding(timed, target),
        _units(timed, source, target),
        _values(timed, source, target),
        _clips(timed, source, target),
    )
    return [note for part in parts for note in part]


def _classes(table: pa.Table, source: Format, target: Format) -> Iterator[str]:
    if source.vocabulary != target.vocabulary:
        yield f"classes of {source.vocabulary} become those of {target.vocabulary}, by name"
    foreign = classes(table, source, target).foreign
    if foreign:
        names = listed([f'"{name}"' for name in sorted(foreign)], most=20)
        many = plural(len(foreign), "class", "classes")
        yield f"{many} not in {target.vocabulary}, written by name: {names}"
    if "class_name" in table.column_names and "class_name" not in target.carries:
        spelled = table["class_name"].filter(table["class_id"].is_valid()).drop_null().unique().to_pylist()
        if spelled:
            yield f"the spelling of classes is not kept: {listed(sorted(spelled))}"


def _times(table: pa.Table, timed: pa.Table, source: Format, target: Format) -> Iterator[str]:
    if are_events(table) and not takes_events(target):
        yield f"{plural(table.num_rows, 'event')} become {plural(timed.num_rows, 'event frame')}"
    elif not are_events(table) and takes_events(target):
        yield f"{plural(table.num_rows, 'event frame')} become {plural(timed.num_rows, 'event')}"
    elif not are_events(table) and source.hop > target.hop:
        times = int(source.hop / target.hop)
        yield f"each frame of {milliseconds(source)} becomes {times} frames of {milliseconds(target)}"


def _rounding(table: pa.Table, target: Format) -> Iterator[str]:
    """By how much directions and distances are rounded."""
    directions = {field: _deviation(table, field, target) for field in ("azimuth", "elevation")}
    changed = [field for field, (_, most) in directions.items() if most]
    if changed:
        decimals = max(directions[field][0] for field in changed)
        most = max(directions[field][1] for field in changed)
        are = "are" if len(changed) == 2 else "is"
        what = "three decimals" if decimals else "whole degrees"
        yield f"{' and '.join(changed)} {are} rounded to {what}, by up to {_shown(most, decimals)}°"
    decimals, most = _deviation(table, "distance", target)
    if most and isinstance(target, Dialect):
        what = "three decimals" if decimals else f"whole {_UNITS[target.metre or 1]}"
        amount = f"{_shown(most, decimals)} {'cm' if target.metre == 100 else 'm'}"
        yield f"distance is rounded to {what}, by up to {amount}"


def _deviation(table: pa.Table, field: str, target: Format) -> tuple[int, float]:
    """The decimals that the target leaves to *field*, and the most that rounding to them changes."""
    decimals = _DECIMALS.get(target.kind(field) or "") if isinstance(target, Dialect) else None
    if decimals is None or not has(table, field) or not isinstance(target, Dialect):
        return 0, 0.0
    values = table[field].to_numpy() * ((target.metre or 1) if field == "distance" else 1)
    values = values[np.isfinite(values)]
    most = float(np.abs(values - np.round(values, decimals)).max(initial=0.0))
    return decimals, most if most > 1e-6 else 0.0


def _shown(most: float, decimals: int) -> str:
    """An amount with two digits more than are left, rounded up."""
    return f"{np.ceil(most * 10 ** (decimals + 2) - 1e-6) / 10 ** (decimals + 2):.{decimals + 2}f}"


def _units(table: pa.Table, source: Format, target: Format) -> Iterator[str]:
    ours, theirs = getattr(target, "metre", None), getattr(source, "metre", None)
    if ours and theirs and ours != theirs and has(table, "distance") and "distance" in target.carries:
        yield f"distances in {_UNITS[theirs]} become {_UNITS[ours]}"


def _values(table: pa.Table, source: Format, target: Format) -> Iterator[str]:
    """Values that the target has and the table does not."""
    if "x" in target.carries and "x" not in table.column_names:
        yield "x, y and z are unit vectors: the table has no activity"
    fills = target.fills if isinstance(target, (Dialect, JsonFormat)) else {}
    for field, value in fills.items():
        if not has(table, field):
            yield f"{field} is written as {value}: the table has none"
    if isinstance(target, Dialect) and target.unknown_distance is not None and not has(table, "distance"):
        yield f"distance is written as {target.unknown_distance}, unknown: the table has none"
    if isinstance(target, JsonFormat) and not isinstance(source, JsonFormat):
        if source.role != "label" and not has(table, "score"):
            yield "score is left out: the official scorer takes it for 0 (--fill score=1 sets it)"
        if "distance" in table.column_names and (unknown := table["distance"].null_count):
            yield f"distance is left out of {plural(unknown, 'row')}: the official scorer takes it for 0"
    if isinstance(source, Dialect) and source.folded and not (isinstance(target, Dialect) and target.folded):
        yield "azimuth is folded: behind and in front are not told apart"


def _clips(table: pa.Table, source: Format, target: Format) -> Iterator[str]:
    """What clips have that the target does not."""
    codes, names = clip_codes(table)
    last = np.full(len(names), -1)
    if has(table, "frame"):
        np.maximum.at(last, codes, table["frame"].to_numpy())
    fixed = target.clip_frames if target.clip_frames != source.clip_frames else None
    if fixed and (long := int((last >= fixed).sum())):
        limit = f"the {fixed:,} of every clip of {target.name}"
        yield f"{plural(long, 'clip')} with frames beyond {limit}"
    ends = dict(zip(names, last.tolist(), strict=True))
    longer = sum((file.frames or 0) > ends.get(file.clip, -1) + 1 for file in origin_of(table).files)
    if longer and not (isinstance(target, Dialect) and target.silence):
        yield f"silent frames are not listed: the length of {plural(longer, 'clip')} is not kept"
