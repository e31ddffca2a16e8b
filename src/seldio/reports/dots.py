"""Numbers of a table as a picture in it: a dot a row with its interval as a line, all rows on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from seldio.reports.tables import Cell, Column, Interval, Table, UnreliableInterval, WeakInterval

#: What rows are that can be compared by a measure.
_ROWS = ("system", "pair", "class", "room", "clip", "task", "question_class", "group", "condition", "error", "prompt")
#: What a table is about that has it, whatever else is in it: its columns are called so, with a number.
_ABOUT = ("influence", "difference")
#: Steps between the lines of a scale, times a power of ten; about how many there are; room for dots at the ends, in %.
_STEPS, _LINES, _MARGIN = (1, 2, 2.5, 5, 10), 4, 4
#: A scale spans at least this share of the greatest number on it, so that what hardly differs looks like that.
_LEAST = 0.2
#: Numbers from here on are no scores.
_MOST = 1e150


class Dots(NamedTuple):
    """A column of a table, and the scale on which it is drawn."""

    place: int
    low: float
    high: float
    step: float

    def drawn(self, cell: Cell) -> str:
        """The picture of a cell; empty where it has no number."""
        value, *ends = _numbers(cell)
        if not math.isfinite(value):
            return ""
        count = round((self.high - self.low) / self.step)
        lines = [self._line(self.low + self.step * number) for number in range(count + 1)]
        if ends:
            kind = "ends weak" if isinstance(cell, WeakInterval) else "ends"
            lines.append(f'<line class="{kind}" x1="{self._at(ends[0])}" x2="{self._at(ends[1])}" y1="50%" y2="50%"/>')
        return f'{"".join(lines)}<circle cx="{self._at(value)}" cy="50%" r="4.5"/>'

    def _line(self, value: float) -> str:
        zero = ' class="zero"' if abs(value) < self.step / 2 else ""
        return f'<line{zero} x1="{self._at(value)}" x2="{self._at(value)}" y1="0" y2="100%"/>'

    def _at(self, value: float) -> str:
        share = (value - self.low) / (self.high - self.low)
        return f"{_MARGIN + (100 - 2 * _MARGIN) * share:.4g}%"


def dots(table: Table, lead: str) -> Dots | None:
    """How *table* is drawn: by the measure *lead*, else its first; None where its rows cannot be compared."""
    heads, numeric, several = table.columns, table.numeric, len(table.rows) > 1
    if heads[0].name not in _ROWS:
        return None
    measures = [place for place, column in enumerate(heads) if column.better and numeric[place]]
    about = [place for place in measures if heads[place].name.partition("_")[0] in _ABOUT]
    place = next(iter([place for place in measures if heads[place].name == lead] + about + measures), None)
    if place is None:
        return None
    found = [_numbers(row[place]) for row in table.rows]
    known = [number for numbers in found for number in numbers if abs(number) < _MOST]
    if not known or not (several or any(len(numbers) > 1 for numbers in found)):
        return None
    most = 1.0 if heads[place].unit == "%" else math.inf
    return Dots(place, *_scale(known, signed=heads[0].name == "pair", whole=not heads[place].digits, most=most))


def _numbers(cell: Cell) -> list[float]:
    """A number, and the ends of its interval where these can be relied on."""
    if isinstance(cell, Interval):
        told = not isinstance(cell, UnreliableInterval) and all(map(math.isfinite, cell))
        return list(cell) if told else [cell.value]
    return [cell if isinstance(cell, int | float) else math.nan]


def _scale(
    numbers: Sequence[float], *, signed: bool = False, whole: bool = False, most: float = math.inf
) -> tuple[float, float, float]:
    """The ends of a scale that holds all numbers, and zero where they are differences, and the step of its lines.

    >>> _scale([0.46, 0.8, 1.0])
    (0.4, 1.0, 0.2)
    >>> _scale([0.008], signed=True)
    (0.0, 0.008, 0.002)
    >>> _scale([1, 3], whole=True)
    (1.0, 3.0, 1.0)
    >>> _scale([0.99, 1.0], most=1.0)
    (0.85, 1.0, 0.05)
    """
    least, greatest = (0.0 if signed else math.inf), (0.0 if signed else -math.inf)
    least, greatest = min(least, *numbers), max(greatest, *numbers)
    missing = max(_LEAST * max(abs(least), abs(greatest)) - (greatest - least), 0.0)
    low, high = least - missing / 2, greatest + missing / 2 + (least == greatest == 0)
    low, high = (max(low, 0.0) if least >= 0 else low), (min(high, most) if greatest <= most else high)
    if high - low < 1e-9:  # which no line could show
        high = low + 1.0
    rough = max((high - low) / _LINES, float(whole))
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in _STEPS if step * power >= rough * 0.999)
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return round(low, 12), round(high, 12), step


def end(column: Column, value: float) -> str:
    """An end of a scale as people read it."""
    return f"{100 * value if column.unit == '%' else value:.6g}"
