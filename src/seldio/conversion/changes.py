"""What a conversion changes without losing it: rounding, units, numbers of classes. It is always said."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from seldio.conversion.facts import Facts
from seldio.conversion.frames import takes_events
from seldio.conversion.measuring import decimals
from seldio.formats import Format
from seldio.formats.base import UNITS
from seldio.formats.dcase_json import JsonFormat
from seldio.formats.label_csv import Dialect
from seldio.text import listed, plural


def milliseconds(format: Format) -> str:
    """The length of a format's frames, for people."""
    return f"{float(format.hop * 1000):g} ms"


def notes(facts: Facts, source: Format, target: Format) -> list[str]:
    """Sentences about what changes when tables of which *facts* are known go from *source* to *target*."""
    parts = (
        _classes(facts, source, target),
        _times(facts, source, target),
        _rounding(facts, target),
        _units(facts, source, target),
        _values(facts, source, target),
        _clips(facts, target),
    )
    return [note for part in parts for note in part]


def _classes(facts: Facts, source: Format, target: Format) -> Iterator[str]:
    if source.vocabulary != target.vocabulary:
        yield f"classes of {source.vocabulary} become those of {target.vocabulary}, by name"
    if foreign := facts.names.get("foreign"):
        names = listed([f'"{name}"' for name in sorted(foreign)], most=20)
        many = plural(len(foreign), "class", "classes")
        yield f"{many} not in {target.vocabulary}, written by name: {names}"
    if spelled := facts.names.get("spelled"):
        yield f"the spelling of classes is not kept: {listed(sorted(spelled))}"


def _times(facts: Facts, source: Format, target: Format) -> Iterator[str]:
    rows, timed = facts.table.rows, facts.timed.rows
    if facts.table.are_events and not takes_events(target):
        yield f"{plural(rows, 'event')} become {plural(timed, 'event frame')}"
    elif not facts.table.are_events and takes_events(target):
        yield f"{plural(rows, 'event frame')} become {plural(timed, 'event')}"
    elif not facts.table.are_events and source.hop > target.hop:
        times = int(source.hop / target.hop)
        yield f"each frame of {milliseconds(source)} becomes {times} frames of {milliseconds(target)}"


def _rounding(facts: Facts, target: Format) -> Iterator[str]:
    """By how much directions and distances are rounded."""
    directions = {field: _deviation(facts, field, target) for field in ("azimuth", "elevation")}
    changed = [field for field, (_, most) in directions.items() if most]
    if changed:
        left = max(directions[field][0] for field in changed)
        most = max(directions[field][1] for field in changed)
        are = "are" if len(changed) == 2 else "is"
        what = "three decimals" if left else "whole degrees"
        yield f"{' and '.join(changed)} {are} rounded to {what}, by up to {_shown(most, left)}°"
    left, most = _deviation(facts, "distance", target)
    if most and isinstance(target, Dialect):
        what = "three decimals" if left else f"whole {UNITS[target.metre or 1][1]}"
        amount = f"{_shown(most, left)} {UNITS[target.metre or 1][0]}"
        yield f"distance is rounded to {what}, by up to {amount}"


def _deviation(facts: Facts, field: str, target: Format) -> tuple[int, float]:
    """The decimals that the target leaves to *field*, and the most that rounding to them changes."""
    most = facts.most.get(f"rounding of {field}", 0.0)
    return decimals(target, field) or 0, most if most > 1e-6 else 0.0


def _shown(most: float, left: int) -> str:
    """An amount with two digits more than are left, rounded up."""
    return f"{np.ceil(most * 10 ** (left + 2) - 1e-6) / 10 ** (left + 2):.{left + 2}f}"


def _units(facts: Facts, source: Format, target: Format) -> Iterator[str]:
    ours, theirs = getattr(target, "metre", None), getattr(source, "metre", None)
    if ours and theirs and ours != theirs and facts.timed.has("distance") and "distance" in target.carries:
        yield f"distances in {UNITS[theirs][1]} become {UNITS[ours][1]}"


def _values(facts: Facts, source: Format, target: Format) -> Iterator[str]:
    """Values that the target has and the table does not."""
    timed = facts.timed
    if "x" in target.carries and "x" not in timed.known:
        yield "x, y and z are unit vectors: the table has no activity"
    fills = target.fills if isinstance(target, (Dialect, JsonFormat)) else {}
    for field, value in fills.items():
        if not timed.has(field):
            yield f"{field} is written as {value}: the table has none"
    if isinstance(target, Dialect) and target.unknown_distance is not None and not timed.has("distance"):
        yield f"distance is written as {target.unknown_distance}, unknown: the table has none"
    if isinstance(target, JsonFormat) and not isinstance(source, JsonFormat):
        if source.role != "label" and not timed.has("score"):
            yield "score is left out: the official scorer takes it for 0 (--fill score=1 sets it)"
        if "distance" in timed.known and (unknown := timed.unknown("distance")):
            yield f"distance is left out of {plural(unknown, 'row')}: the official scorer takes it for 0"
    if isinstance(source, Dialect) and source.folded and not (isinstance(target, Dialect) and target.folded):
        yield "azimuth is folded: behind and in front are not told apart"


def _clips(facts: Facts, target: Format) -> Iterator[str]:
    """What clips have that the target does not."""
    if long := facts.counts["long clips"]:
        limit = f"the {target.clip_frames:,} of every clip of {target.name}"
        yield f"{plural(long, 'clip')} with frames beyond {limit}"
    if (longer := facts.counts["silent ends"]) and not (isinstance(target, Dialect) and target.silence):
        yield f"silent frames are not listed: the length of {plural(longer, 'clip')} is not kept"
