"""Changes that labels may have undergone: one table for all judges.

Each change has what undoes it and what makes it, over columns as arrays or single values, or over the cells of a row,
and its sentences. A judge reports a change if the columns, or the rows, fit once it is undone, and not before; where
two changes fit, none is repaired. Changes that depend on what a file holds are made in :mod:`seldio.formats.shapes`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np

from seldio.geometry import fold, wrap
from seldio.text import listed

#: Columns by field: arrays, or the values of a row.
Columns = Mapping[str, Any]
#: The cells of a row, as they are written.
Cells = Sequence[str]
#: Returns the columns that it changes, of those that there are; or all cells of a row.
Move = Callable[[Any], Any]
#: Seconds, and parts of other units, that a written number may be beside the one that it was rounded from.
ROUNDING = 1e-4


@dataclasses.dataclass(frozen=True)
class Change:
    """A row of the table."""

    name: str
    undo: Move
    redo: Move = lambda row: row  # what undoing loses nothing gives back: such a change takes out, or is not certain
    text: str = ""  # with it undone, after "with"
    why: str = ""  # what the mistake would be
    needs: str = "azimuth"  # a column without which it changes nothing
    improves: Literal["place", "match"] = "place"  # of events: where they are, or which of them match
    unit: bool = False  # whether values are in another unit, and so written as their column asks for it
    exchanges: tuple[str, ...] = ()  # columns that are in each other's place, as they are written
    made: str = ""  # what was done, of labels in which it was made
    code: str = ""  # the rule that reports it, of cells
    hint: str = ""  # what to do about it, of cells
    column: int = 0  # the one that it is about, from 0; 0 also where it is about all of them
    takes_out: bool = False  # whether undoing it takes that column out, whose cells nothing gives back
    certain: bool = True  # whether nothing else explains such rows as well; a repair and the first try need that

    def fits(self, columns: Columns, allowed: Callable[[Columns], bool]) -> bool:
        """Return whether columns are *allowed* once this is undone, and redoing it gives them back."""
        undone = {**columns, **self.undo(columns)}
        again = {**undone, **self.redo(undone)}
        return allowed(undone) and all(np.allclose(again[field], columns[field]) for field in columns)

    def gives_back(self, row: Cells) -> bool:
        """Return whether undoing and redoing this gives the cells of a row back, but for those that it takes out."""
        if self.takes_out:
            return True
        again = list(self.redo(self.undo(row)))
        return len(again) == len(row) and all(map(_alike, again, row))


def _alike(cell: str, other: str) -> bool:
    """Return whether two cells are written alike, or are numbers that differ by rounding errors alone."""
    if cell.strip() == other.strip():
        return True
    try:
        return abs(float(cell) - float(other)) <= ROUNDING
    except ValueError:
        return False


def _each(by: Callable[[Any], Any], *fields: str) -> Move:
    return lambda columns: {field: by(columns[field]) for field in fields if field in columns}


def _exchanged(first: str, second: str, text: str = "", why: str = "", made: str = "") -> Change:
    def exchange(columns: Columns) -> Columns:
        return {first: columns[second], second: columns[first]} if {first, second} <= columns.keys() else {}

    return Change("exchanged", exchange, exchange, text, why, second, exchanges=(first, second), made=made)


def _itself(name: str, by: Callable[[Any], Any], field: str, text: str, why: str, made: str) -> Change:
    return Change(name, _each(by, field), _each(by, field), text, why, field, made=f"{field} {made}")


def turned(degrees: float, name: str = "", text: str = "", why: str = "") -> Change:
    """Return the change that adds *degrees* to azimuths."""
    name = name or f"turned:{degrees:g}"
    made = f"azimuth turned by {abs(degrees):g}° {'to the left' if degrees > 0 else 'to the right'}"
    turn = _each(lambda azimuth: wrap(azimuth + degrees), "azimuth")
    return Change(name, _each(lambda azimuth: wrap(azimuth - degrees), "azimuth"), turn, text, why, made=made)


def raised(degrees: float) -> Change:
    """Return the change that adds *degrees* to elevations."""
    made = f"elevation {abs(degrees):g}° {'higher' if degrees > 0 else 'lower'}"
    undo = _each(lambda elevation: elevation - degrees, "elevation")
    redo = _each(lambda elevation: elevation + degrees, "elevation")
    return Change("raised", undo, redo, needs="elevation", made=made)


def scaled(field: str, factor: float, noun: str) -> Change:
    """Return the change that multiplies the values of *field*, in words *noun*."""
    undo, redo = _each(lambda value: value / factor, field), _each(lambda value: value * factor, field)
    return Change("scaled", undo, redo, needs=field, made=f"{noun} times {factor:.4g}")


def _known(by: Callable[[Any], Any]) -> Move:
    """Return what changes distances; those below 0 are unknown, and stay."""
    return _each(lambda distance: np.where(np.asarray(distance) < 0, distance, by(distance)), "distance")


def _axes(order: Sequence[int], signs: Sequence[int]) -> Change:
    matrix = np.diag(signs) @ np.eye(3)[list(order)]
    axes = ", ".join("-" * (sign < 0) + "xyz"[axis] for axis, sign in zip(order, signs, strict=True))
    text, why = f"{axes} in the place of x, y, z", "axes seem to be exchanged or turned"
    inverse = ", ".join("-" * bool(row.sum() < 0) + "xyz"[int(np.abs(row).argmax())] for row in matrix.T)
    undo, redo = partial(_rotated, matrix), partial(_rotated, matrix.T)
    made = f"axes x, y, z (front, left, up) were {inverse}"
    return Change(f"axes:{axes}", undo, redo, text, why, "elevation", made=made)


def _rotated(matrix: Any, columns: Columns) -> Columns:
    x, y, z = matrix @ directions(columns)
    return {"azimuth": np.degrees(np.arctan2(y, x)), "elevation": np.degrees(np.arcsin(np.clip(z, -1, 1)))}


def directions(columns: Columns) -> Any:
    """Return unit vectors, shape [3, rows]; elevations are 0 where there are none."""
    azimuth = np.radians(columns["azimuth"])
    elevation = np.radians(columns["elevation"]) if "elevation" in columns else 0 * azimuth
    return np.stack([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])


@lru_cache(maxsize=256)
def turn_of(change: Change) -> Any:
    """Return the matrix that turns directions as *change* does, shape (3, 3); where it does not turn, it is no turn."""
    along_axes = {"azimuth": np.array([0.0, 90.0, 0.0]), "elevation": np.array([0.0, 0.0, 90.0])}
    return np.round(directions({**along_axes, **change.redo(along_axes)}), 12)


# --- the table ----------------------------------------------------------------------------------------------------

_EITHER = "predictions or labels seem to"
_ANGLES = "azimuth", "elevation"

MIRRORED = _itself(
    "mirrored", np.negative, "azimuth", "the azimuth mirrored", f"{_EITHER} measure azimuths clockwise",
    "mirrored: left and right are swapped",
)  # fmt: skip
FLIPPED = _itself(
    "flipped", np.negative, "elevation", "the elevation negated", f"{_EITHER} measure elevations downwards",
    "negated: up and down are swapped",
)  # fmt: skip
INCLINATION = _itself(
    "inclination", lambda elevation: 90 - elevation, "elevation", "90° minus the elevation",
    f"{_EITHER} have angles from the zenith, not elevations", "measured from the zenith",
)  # fmt: skip
ANGLES_EXCHANGED = _exchanged(
    *_ANGLES, "azimuth and elevation exchanged", f"{_EITHER} have them in the other order",
    "azimuth and elevation swapped",
)  # fmt: skip
RADIANS = Change(
    "radians", _each(np.degrees, *_ANGLES), _each(np.radians, *_ANGLES), "the predicted angles read as radians",
    "they seem not to be in degrees", unit=True,
)  # fmt: skip
_UNITS = (("radians", "degrees", np.degrees, np.radians), ("degrees", "radians", np.radians, np.degrees))
_OTHER_UNITS = tuple(
    Change(
        f"{field} in {unit}",
        _each(undo, field),
        _each(redo, field),
        needs=field,
        unit=True,
        made=f"{field} in {unit} instead of {before}",
    )
    for field in _ANGLES
    for unit, before, undo, redo in _UNITS
)
REVERSED = _itself(
    "reversed", lambda azimuth: wrap(180 - azimuth), "azimuth", "front and back swapped",
    f"{_EITHER} measure azimuths from the back, clockwise",
    "measured from the back, clockwise: front and back are swapped",
)  # fmt: skip
LEFT_FIRST = _itself(
    "axes", lambda azimuth: wrap(90 - azimuth), "azimuth", "x and y exchanged",
    f"{_EITHER} measure azimuths clockwise from the left", "measured clockwise from the left: x and y are swapped",
)  # fmt: skip
METRES = Change(
    "farther", _known(lambda distance: distance * 100), _known(lambda distance: distance / 100),
    "the predicted distances times 100", "they seem to be in another unit", "distance", unit=True,
    made="distance in metres instead of centimetres",
)  # fmt: skip
CENTIMETRES = Change(
    "nearer", METRES.redo, METRES.undo, "the predicted distances divided by 100", METRES.why, "distance", unit=True,
    made="distance in centimetres instead of metres",
)  # fmt: skip
CLASSES_FROM_ONE = Change(
    "class-1", _each(lambda number: number - 1, "class_id"), _each(lambda number: number + 1, "class_id"),
    "the predicted classes 1 lower", f"{_EITHER} count classes from 1", "class_id", "match",
)  # fmt: skip
CLASSES_FROM_BELOW = Change(
    "class+1", CLASSES_FROM_ONE.redo, CLASSES_FROM_ONE.undo, "the predicted classes 1 higher", CLASSES_FROM_ONE.why,
    "class_id", "match",
)  # fmt: skip
FRAME_AND_CLASS = _exchanged("frame", "class_id")
FROM_0_TO_360 = Change("0 to 360", _each(wrap, "azimuth"), _each(lambda azimuth: azimuth % 360, "azimuth"))
FOLDED = Change("folded", _each(fold, "azimuth"), _each(lambda azimuth: azimuth, "azimuth"))
CAST_TO_BYTES = Change(
    "cast to uint8", _each(lambda azimuth: azimuth - 256 * (np.asarray(azimuth) > 127), "azimuth"),
    _each(lambda azimuth: azimuth % 256, "azimuth"), why="were cast to uint8, where -12 becomes 244",
)  # fmt: skip
DOUBLED = Change(
    "doubled", _each(lambda azimuth: azimuth / 2, "azimuth"), _each(lambda azimuth: azimuth * 2, "azimuth"),
    why="were doubled",
)  # fmt: skip
#: What columns of whole files may have undergone, by the rules that report it.
BY_RULE = {
    "LAB103": FROM_0_TO_360, "LAB301": RADIANS, "LAB303": FROM_0_TO_360, "LAB304": ANGLES_EXCHANGED,
    "LAB305": CLASSES_FROM_ONE, "LAB308": METRES, "LAB320": FRAME_AND_CLASS,
}  # fmt: skip

_TURNED = (
    turned(180, "behind", "azimuths turned by 180°", f"{_EITHER} measure them from the back"),
    turned(-90, "left", "the predicted azimuths turned by 90°", "the two seem to measure them from different axes"),
    turned(90, "right", "the predicted azimuths turned by -90°", "the two seem to measure them from different axes"),
)
_AXES = itertools.product(itertools.permutations(range(3)), itertools.product((1, -1), repeat=3))
#: What may have been made of older labels, besides turns and factors.
BETWEEN_VERSIONS = (
    *(ANGLES_EXCHANGED, *_OTHER_UNITS, MIRRORED, REVERSED, LEFT_FIRST, FLIPPED, INCLINATION, METRES, CENTIMETRES),
)
#: What predictions or labels may have that fit each other badly; the first of equally good ones is named.
BETWEEN_SIDES: tuple[Change, ...] = (
    *(MIRRORED, FLIPPED, INCLINATION, ANGLES_EXCHANGED, RADIANS, *_TURNED, REVERSED, LEFT_FIRST, METRES, CENTIMETRES),
    *(CLASSES_FROM_BELOW, CLASSES_FROM_ONE, *itertools.starmap(_axes, _AXES)),
)


def classes_permuted(numbers: Any) -> Change:
    """Return the change that is undone by reading each class as its number in *numbers*."""
    new = np.asarray(numbers)
    moved = [f"{old} as {number}" for old, number in enumerate(new.tolist()) if old != number]

    def renumber(order: Any) -> Move:
        return _each(lambda c: np.where((c >= 0) & (c < len(order)), order[c % len(order)], c), "class_id")

    return Change(
        f"classes:{','.join(map(str, new.tolist()))}",
        renumber(new),
        renumber(np.argsort(new)),
        f"predicted classes read as others ({listed(moved, 4)})",
        f"{_EITHER} have them in another order",
        "class_id",
        "match",
    )


def shifted(frames: int) -> Change:
    """Return the change that is undone by moving events by *frames* of 100 ms."""
    later, earlier = _each(lambda frame: frame + frames, "frame"), _each(lambda frame: frame - frames, "frame")
    text = f"the predictions {abs(frames) / 10:g} s {'later' if frames > 0 else 'earlier'}"
    return Change(f"shift:{frames}", later, earlier, text, "they seem to be shifted in time", "frame")


# --- azimuths that are out of range ---------------------------------------------------------------------------------

#: A wrap is certain in so many rows, and so many degrees outside of what a format has: rounding and noise get so far.
FEW_ROWS, NEAR = 10, 10


def instead_of_0_to_360(azimuth: Any) -> Iterator[Change]:
    """Yield what else than counting from 0 to 360 explains azimuths from 0 to more than 180."""
    columns = {"azimuth": np.where(azimuth == 360, 0, azimuth)}
    for change in (CAST_TO_BYTES, DOUBLED):
        whole = change.undo(columns)["azimuth"] % 1 == 0
        if whole.all() and change.fits(columns, lambda undone: bool((np.abs(undone["azimuth"]) <= 180).all())):
            yield change


def crosses_the_seam(azimuth: Any, widest: int) -> bool:
    """Return whether the azimuths outside of ±*widest* are a handful of rows just outside."""
    outside = np.abs(azimuth) > widest
    few = int(outside.sum()) <= FEW_ROWS and bool((np.abs(azimuth) <= widest + NEAR).all())
    return few and (len(azimuth) <= FEW_ROWS or bool((azimuth % 2).any()))  # else they may be doubled
