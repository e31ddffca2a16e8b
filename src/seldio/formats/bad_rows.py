"""Bad rows that are alike: what was seen in one row is matched in runs of others, as fast as good rows.

A systematic fault (every cell in quotes, frames written as 24.0) is in every row. The first such row is looked at
cell by cell; its *shape* then matches all rows that have the same faults in the same cells, whatever their digits.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property

from seldio.formats.cells import KINDS, CellProblem

#: So many shapes are learned of the files that are read together; rows of further shapes are looked at one by one.
MOST_SHAPES = 64
#: Cells longer than this are not learned.
_LONGEST = 40
#: A byte that no learned cell holds as it is: controls, and what makes up a character beyond ASCII.
_PLAIN = rb'[^,"\x00-\x1f\x7f-\xff]'
_RAGGED = _PLAIN + rb"*+(?>(?:" + rb'"' + _PLAIN + rb'*+"' + _PLAIN + rb"*+)*)"
_DIGITS = re.compile(r"(\.?)([0-9]++)|[^0-9.]++|\.")
_WORD = re.compile(r"[A-Za-z_]++(?>(?:[ -][A-Za-z_]++)*)")
_ANY_WORD = rb"(?!(?i:nan|inf|infinity)[,\n])[A-Za-z_]++(?>(?:[ -][A-Za-z_]++)*)"
#: Where digits do not stand for any others: exponents and other bases.
_SPECIAL = re.compile(r"[0-9.][eE]|[0-9][xXoObB]")


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """What one shape of rows has wrong: *cells* cells of a row, of one code."""

    code: str
    fixable: bool
    cells: int


@dataclasses.dataclass(frozen=True, slots=True)
class BadRow:
    """Rows with the same faults in the same cells."""

    pattern: bytes  # matches such a line, with its end
    faults: tuple[Fault, ...]  # what is wrong with each
    kept: bool = False  # whether the rows can only mean one thing
    dropped: bytes = b""  # bytes to leave out to make them readable, where they are kept
    replaced: tuple[tuple[bytes, bytes], ...] = ()  # characters to put others instead of, then
    pointed: bool = False  # whether whole numbers with a point and zeros are left in them

    def readable(self, rows: bytes) -> bytes:
        """*rows* of this shape as the grammar wants them, but for points with zeros."""
        rows = rows.translate(None, self.dropped) if self.dropped else rows
        for old, new in self.replaced:
            rows = rows.replace(old, new)
        return rows


#: Lines with nothing in them.
BLANK = BadRow(rb"[ \t\v\f]*+\n", (Fault("SYN110", True, 1),))


class BadRows:
    """The shapes of rows in files of one format, learned while they are read; *most* of them at the most."""

    def __init__(self, kinds: Sequence[str], most: int = MOST_SHAPES) -> None:
        self.kinds, self.most = kinds, most
        self.known: list[BadRow] = [BLANK][:most]
        cells = [_number(kind) for kind in kinds]
        self._cells = [cells[0], *(rb" *+" + cell for cell in cells[1:])]
        whole = [KINDS[kind].pattern for kind in kinds]
        self._good = rb",".join(self._cells) + rb"\n|" + rb", *+".join(whole) + rb"\n"

    @cached_property
    def scanner(self) -> re.Pattern[bytes]:
        """Runs of good rows (no group), of rows of each known shape (a group each), and any other line."""
        # (?!) takes the place back to the start of a row that fails half-way, which Python before 3.11.5 forgets
        shapes = [rb"((?:" + shape.pattern + rb"|(?!))++)" for shape in self.known]
        return re.compile(rb"|".join([rb"(?:" + self._good + rb"|(?!))++", *shapes, rb"([^\n]*+\n)"]))

    def learn(self, row: str, parts: Sequence[str], problems: Sequence[CellProblem | None]) -> None:
        """Remember the shape of *row*, with *parts* between its commas and what is wrong with each, if it can be."""
        bad = [(number, problem) for number, problem in enumerate(problems) if problem is not None]
        if not bad or len(self.known) >= self.most:
            return
        patterns = list(self._cells)
        for number, problem in bad:
            pattern = _alike(parts[number], self.kinds[number], problem)
            if pattern is None:
                return
            patterns[number] = pattern
        faults: dict[tuple[str, bool], int] = {}
        for _, problem in bad:
            faults[problem.code, problem.fixable] = faults.get((problem.code, problem.fixable), 0) + 1
        found = tuple(Fault(*key, count) for key, count in faults.items())
        shape = BadRow(rb",".join(patterns) + rb"\n", found)
        if all(problem.repaired is not None for _, problem in bad):
            kept = _kept(shape, row, parts, problems, self.kinds)
            if kept is None:
                return
            shape = kept
        self._remember(shape)

    def learn_ragged(self, row: str, width: int) -> None:
        """Remember rows of *width* cells, too many or too few."""
        pattern = rb",".join([_RAGGED] * width) + rb"\n"
        if width <= 4 * len(self.kinds) and re.fullmatch(pattern, row.encode() + b"\n"):
            self._remember(BadRow(pattern, (Fault("SYN121", False, 1),)))

    def _remember(self, shape: BadRow) -> None:
        if len(self.known) < self.most and all(shape.pattern != other.pattern for other in self.known):
            self.known.append(shape)
            self.__dict__.pop("scanner", None)


def _number(kind: str) -> bytes:
    """What matches nearly all cells of *kind*, and nothing else, in less time than their grammar takes."""
    return {"int": rb"-?+[0-9]{1,9}+", "whole": rb"-?+(?:[0-9]{1,9}+(?>(?:\.[0-9]*+)?)|\.[0-9]++)"}.get(
        kind, KINDS[kind].pattern
    )


def _alike(cell: str, kind: str, problem: CellProblem) -> bytes | None:
    """What matches cells with the same problem as *cell*, in a column of *kind*; None where that is hard to say."""
    if len(cell) > _LONGEST or problem.code == "SAF201":
        return None
    if problem.code == "SYN130" and _WORD.fullmatch(cell):
        return _ANY_WORD
    if problem.repaired and cell.count(problem.repaired) == 1:  # a good cell with something around it
        before, behind = (re.escape(text.encode()) for text in cell.split(problem.repaired))
        if not re.search(rb"[0-9.]", before + behind):
            return before + (rb"(?![0-9]{10})" if b"+" in before else b"") + _number(kind) + behind
    if _SPECIAL.search(cell):
        return None
    if kind == "flag":  # 0 and 1 are no digits like others there
        return re.escape(cell.encode())
    pieces = []
    for match in _DIGITS.finditer(cell):
        point, digits = match[1], match[2]
        if digits is None:
            pieces.append(re.escape(match[0].encode()))
        elif point and not digits.strip("0"):
            pieces.append(rb"\.0++(?![0-9])")
        elif point:
            pieces.append(rb"\.0*+[1-9][0-9]*+")
        elif len(digits) > 9:
            return None
        else:
            pieces.append(rb"[0-9]{1,9}+(?![0-9])")
    if pieces and pieces[0] == rb"\-" and len(pieces) > 1 and cell[1].isdigit():
        pieces[0] = rb"-?+"
    elif pieces and cell[0].isdigit():
        pieces.insert(0, rb"-?+")
    return b"".join(pieces)


def _kept(
    shape: BadRow, row: str, parts: Sequence[str], problems: Sequence[CellProblem | None], kinds: Sequence[str]
) -> BadRow | None:
    """*shape* with the way to make its rows readable; None where no replacement of characters does it."""
    if {"name", "text"} & {*kinds}:  # what is odd in a number may be a letter of a name
        return None
    pointed = [problem is not None and problem.code == "SYN132" for problem in problems]
    meant = [
        part if problem is None or point else problem.repaired
        for part, problem, point in zip(parts, problems, pointed, strict=True)
    ]
    changed = [(part, problem.repaired or "") for part, problem in zip(parts, problems, strict=True) if problem]
    odd = {character for part, repaired in changed for character in part if character not in repaired} - {".", "0"}
    if "+" in odd and set(kinds) & {"real", "real3", "real3inf", "zero"}:  # it may stand in an exponent
        return None
    dropped = "".join(sorted(character for character in odd if character.isascii())).encode()
    # what looks like a minus becomes one, signs of units go
    replaced = tuple(
        (character.encode(), b"-" if unicodedata.category(character) in ("Pd", "Sm") else b"")
        for character in sorted(odd) if not character.isascii()
    )  # fmt: skip
    whole = BadRow(shape.pattern, shape.faults, True, dropped, replaced, any(pointed))
    # spaces in front of good cells may go or stay
    both = whole.readable(row.encode()), ",".join(map(str, meant)).encode()
    return whole if both[0].replace(b" ", b"") == both[1].replace(b" ", b"") else None
