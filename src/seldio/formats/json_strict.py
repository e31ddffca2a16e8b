"""Strict JSON: what it asks for beyond what the scanner of the standard library does, and what is wrong with a text.

The first part is shared by those who load (``json_text``). The second, :class:`Walk`, goes through a text token by
token and says in plain words what is wrong: slow, and started only where strict reading has failed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from seldio.findings import Finding, Severity
from seldio.formats.base import Place, TextLines
from seldio.reader_rules import reader_rule
from seldio.text import clipped, plural

#: How many arrays and objects may stand inside each other.
MAX_DEPTH = 64
#: So many keys of one text may appear twice; then the rest of it is not read.
MOST_REPEATED = 100
_CLIP = 100

_ONE_DIGIT = bytes.maketrans(b"123456789E", b"000000000e")
_BIG_EXPONENT = re.compile(rb"0e\+?000")
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
# Half of a surrogate pair, in masked text.
LONE = re.compile(
    r"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)
_SAME_BRACKETS = bytes.maketrans(b"{}", b"[]")
_PROSE = bytes(set(range(256)) - set(b'"[]{}\\/bfnrtu'))  # all but brackets, quotes and escapes
_LINE_FEED = re.compile("\n")
_SPACE = re.compile(r"[ \t\n\r]*")


class JsonProblem(NamedTuple):
    """What is wrong between two offsets.

    *cut*: text after the end could have made it right; *last*: the text after it is not read.
    """

    code: str
    start: int
    end: int
    message: str
    hint: str | None = None
    cut: bool = False
    last: bool = False


class JsonSource(TextLines):
    """A text and where it comes from; nothing but LF, behind a CR or not, ends a line."""

    def __init__(self, text: str, path: str = "", first_line: int = 1) -> None:
        super().__init__(text, first_line, _LINE_FEED)
        self.path = path

    def place(self, start: int, end: int, value: str | None = None) -> Place:
        """See :meth:`TextLines.place`; the value is clipped."""
        shown = self.text[start : min(end, start + _CLIP)] + "…" * (end - start > _CLIP) if value is None else value
        return super().place(start, end, shown)

    def words(self, offset: int) -> str:
        """The place of an offset in words."""
        at = self.place(offset, offset)
        return f"line {at.line:,}, column {at.column:,}"

    def finding(self, what: JsonProblem, severity: Severity | None = None) -> Finding:
        """The finding for a problem; its severity is that of the rule unless one is given."""
        line, column, end_column, text, excerpt = self.place(what.start, what.end)
        return reader_rule(what.code).at(
            self.path, what.message, what.hint, line, column, text, excerpt, end_column=end_column,
            severity=severity, fixable=False,
        )  # fmt: skip


def skip(text: str, pos: int) -> int:
    """The offset of the next character that is not whitespace."""
    match = _SPACE.match(text, pos)
    return match.end() if match else pos


def masked(text: str) -> str:
    """*text*, as long as before, with other escaped backslashes: each one left begins an escape."""
    return text.replace("\\\\", "__")


def large_numbers(data: bytes) -> bool:
    """Whether there are 19 digits that follow no point, or 3 in an exponent: these may leave 64 bits."""
    digits = data.translate(_ONE_DIGIT)
    heads = digits.split(b"0" * 19)[:-1]
    return any(not head.endswith(b".") for head in heads) or _BIG_EXPONENT.search(digits) is not None


def too_deep(raw: bytes) -> bool:
    """Whether brackets nest deeper than MAX_DEPTH; exact up to the first break of the syntax."""
    raw = raw.translate(None, _PROSE)
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return False
    if b"\\" in raw:
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    structure = raw.translate(_SAME_BRACKETS, b"/bfnrtu\\").replace(b'""', b"")
    structure = b"".join(structure.split(b'"')[::2])  # without the brackets in strings
    steps = ord("[") + 1 - np.frombuffer(structure, np.int8)  # 1 in, and -1 out
    return bool(steps.cumsum(dtype=np.int64).max(initial=0) > MAX_DEPTH)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


def int64(digits: str) -> int:
    """The whole number; a ValueError if it does not fit in 64 bits."""
    if len(digits) > 20 or not -(2**63) <= (number := int(digits)) < 2**63:
        raise ValueError
    return number


def finite(digits: str) -> float:
    """The number; a ValueError if it is larger than any float."""
    if math.isinf(number := float(digits)):
        raise ValueError
    return number


def refuse(constant: str) -> None:
    """NaN and infinity are a ValueError."""
    raise ValueError(constant)


LENIENT = json.JSONDecoder()
PLAIN = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=refuse)
CAREFUL = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=refuse, parse_int=int64, parse_float=finite)


# --- what is wrong with broken JSON -----------------------------------------------------------------

_ATOM = re.compile(
    r"(?:(?P<float>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+))"
    r"|(?P<int>-?(?:0|[1-9][0-9]*))|(?P<constant>NaN|-?Infinity)|(?P<word>true|false|null))(?![\w.+-])"
)
# Tokens that are checked by their content, as the scanner checks them.
_CHECKED = {
    "constant": (refuse, "SYN203", "{} is not JSON", "write null, or leave the key out"),
    "int": (int64, "SYN204", "{} does not fit in 64 bits", "if it is a name, put it in double quotes"),
    "float": (finite, "SYN204", "{} is larger than any float", "the largest float is about 1.8e308"),
}
# What may come next, in the words of messages, and which tokens that allows.
_VALUE, _ITEM, _KEY, _MEMBER = "a value", "a value or ]", "a key in quotes", "a key in quotes or }"
_COLON, _NEXT_ITEM, _NEXT_MEMBER, _END = "a colon", "a comma or ]", "a comma or }", "the end"
_VALUES = frozenset({"string", "word", "[", "{", *_CHECKED})
_MARKS = frozenset("]},:")
_ALLOWED = {
    _VALUE: _VALUES, _ITEM: _VALUES | {"]"}, _KEY: {"string"}, _MEMBER: {"string", "}"}, _COLON: {":"},
    _NEXT_ITEM: {",", "]"}, _NEXT_MEMBER: {",", "}"}, _END: {"nothing"},
}  # fmt: skip
# What people and programs write that is not JSON: the first pattern that matches explains it.
_FOREIGN = {
    r"//[^\n]*|#[^\n]*|/\*(?s:.*?)(?:\*/|\Z)": ("{} is a comment", "remove it: JSON has no comments"),
    r"'(?:[^'\\\n]|\\.)*'?": ("{} is in single quotes", "write double quotes, as json.dumps() does"),
    r"(?:True|False|None)\b": ("{} is Python, not JSON", "write true, false or null, as json.dumps() does"),
    r"[“”„‟‘’‚«»]": ("{} is a typographic quotation mark", 'write a plain one: "'),
    r"\+[\w.+-]*": ("{} begins with a plus sign", "leave the plus sign out"),
    r"-?\.\w[\w.+-]*": ("{} has no digit before its point", "write a 0 before the point"),
    r"-?0[0-9][\w.+-]*": ("{} begins with a zero", "leave the zero out; put names like 007 in quotes"),
    r"-?[0-9][\w.+-]*|-[\w.+-]*": ("{} is not a JSON number", "write numbers like 12, -0.5 or 1e-3"),
    r"[\w$][\w$.-]*": ("{} is not in quotes", "put it in double quotes; only true, false, null and numbers go without"),
}
# Text behind the value, in a document and in a line.
_BEHIND = (
    ("{} after the end of the document", "a file holds one document; if it has one record per line, name it .jsonl"),
    (
        "{} after the record, on the same line",
        "put each record on its own line; one may have been appended to a truncated record",
    ),
)
_MAYBE_CUT = "close it, or fetch the file again: it may be cut off"
_CUT_ESCAPE = re.compile(r"\\u?[0-9a-fA-F]{0,4}\Z")
_BAD_ESCAPE = re.compile(r'\\(?:u[^"\\\s]{0,4}|(?s:.))')


class Walk:
    """A way through a text, token by token, that says all that is wrong with it.

    It ends at the first break of the syntax: *pos* is there, *wanted* says what should have come.
    """

    def __init__(self, source: JsonSource, *, lines: bool = False) -> None:
        self.source, self.text, self.lines = source, source.text, lines
        self.halves = LONE.search(masked(self.text)) is not None
        # Whether to leap over arrays and objects without fault (not at each of 64 levels again).
        self.leap = not self.halves and not too_deep(self.text.encode())
        self.pos = 0
        self.wanted = _VALUE
        self.comma = -1  # where it stands, if the last token was one
        self.open: list[tuple[int, dict[str, int]]] = []  # brackets, and the keys in them, with their offsets
        self.repeated = 0  # keys that were there before

    def problems(self) -> Iterator[JsonProblem]:
        """All that is wrong, in the order of the text."""
        if (nul := self.text.find("\0")) >= 0:
            message = f"{plural(self.text.count(chr(0)), 'NUL byte')} in the text"
            yield JsonProblem(
                "SYN104", nul, nul + 1, message, "they come from a crash while writing: write the file again"
            )
            return
        while self.pos <= len(self.text):
            self.pos = skip(self.text, self.pos)
            kind, end, value = self.token()
            if kind not in _ALLOWED[self.wanted]:
                yield self.explain(kind, end, value)
                return
            if kind in ("[", "{") and len(self.open) == MAX_DEPTH:
                message = f"arrays and objects nested deeper than {MAX_DEPTH} levels"
                yield JsonProblem("SYN206", self.pos, end, message, "data of this kind is never nested this deeply")
                return
            yield from self.string_faults(end, value) if kind == "string" else self.faults(kind, end, value)
            if self.repeated == MOST_REPEATED:
                return
            self.advance(kind, end, value)

    def token(self) -> tuple[str, int, str]:
        """Kind, end and content of the next token; "broken" for a bad string, "foreign" for no token."""
        character = self.text[self.pos : self.pos + 1]
        if character == '"':
            try:
                value, end = LENIENT.raw_decode(self.text, self.pos)
            except json.JSONDecodeError as error:
                return "broken", error.pos, error.msg
            return "string", end, value
        if character in ("[", "{") and self.leap and len(self.open) < 8:
            with suppress(ValueError):
                return "word", CAREFUL.raw_decode(self.text, self.pos)[1], ""
        if not character or character in "[]{},:":
            return character or "nothing", self.pos + 1, character
        match = _ATOM.match(self.text, self.pos)
        return (match.lastgroup or "", match.end(), match.group()) if match else ("foreign", self.pos, "")

    def faults(self, kind: str, end: int, value: str) -> Sequence[JsonProblem]:
        """What is wrong with the content of a token in a valid place."""
        if kind in _CHECKED:
            check, code, message, hint = _CHECKED[kind]
            try:
                check(value)
            except ValueError:
                return [JsonProblem(code, self.pos, end, message.format(clipped(value, 30)), hint)]
        return ()

    def string_faults(self, end: int, value: str) -> Sequence[JsonProblem]:
        """Halves of surrogate pairs, and keys that appear twice."""
        found = []
        for match in LONE.finditer(masked(self.text[self.pos : end])) if self.halves else ():
            start, stop = (self.pos + offset for offset in match.span())
            message = f"{match.group()} is half of a surrogate pair, not a character"
            hint = "write the character itself, or both halves"
            found.append(JsonProblem("SYN205", start, stop, message, hint))
        if self.wanted in (_KEY, _MEMBER) and value in self.open[-1][1]:
            first = self.source.words(self.open[-1][1][value])
            message = f'the key "{clipped(value)}" appears twice in its object, first in {first}'
            hint = "remove one: most readers silently keep the last"
            self.repeated += 1
            if last := self.repeated == MOST_REPEATED:
                message += f"; it is the {MOST_REPEATED}th such key, and the rest of the text is not read"
            found.append(JsonProblem("SYN202", self.pos, end, message, hint, last=last))
        return found

    def advance(self, kind: str, end: int, value: str) -> None:
        """Go behind a token, and know what may come next."""
        self.comma = self.pos if kind == "," else -1
        if kind in ("[", "{"):
            self.open.append((self.pos, {}))
            self.wanted = _ITEM if kind == "[" else _MEMBER
        elif kind in (",", ":"):
            self.wanted = _KEY if self.wanted is _NEXT_MEMBER else _VALUE
        elif kind == "string" and self.wanted in (_KEY, _MEMBER):
            self.open[-1][1].setdefault(value, self.pos)
            self.wanted = _COLON
        else:
            if kind in ("]", "}"):
                self.open.pop()
            in_array = self.open and self.text[self.open[-1][0]] == "["
            self.wanted = _END if not self.open else _NEXT_ITEM if in_array else _NEXT_MEMBER
        self.pos = end

    def explain(self, kind: str, end: int, value: str) -> JsonProblem:
        """Why a token is not valid in its place."""
        if kind == "nothing":
            return self.unclosed()
        if kind == "broken":
            return self.broken_string(end, value)
        wanted = f"{{}} where {self.wanted} is expected"
        problem = self.foreign() if kind == "foreign" else self.stray(end, wanted)
        if kind == "foreign" and self.text[self.pos] in "/#":
            pass
        elif self.wanted is _END:
            problem = self.stray(len(self.text.rstrip()), *_BEHIND[self.lines])
        elif self.wanted is _COLON:
            problem = self.stray(problem.end, "a colon is missing before {}", "put one between key and value")
        elif self.wanted in (_NEXT_ITEM, _NEXT_MEMBER) and kind not in _MARKS:
            hint = 'put one there; write a quotation mark inside a string as \\"'
            problem = self.stray(problem.end, "a comma is missing before {}", hint)
        elif self.comma >= 0 and kind in ("]", "}"):
            hint = "remove it: nothing follows the last comma"
            return JsonProblem("SYN201", self.comma, self.comma + 1, f"a comma before the closing {kind}", hint)
        shown = clipped(self.text[self.pos : problem.end], 20)
        return problem._replace(message=problem.message.replace("{}", shown, 1))

    def stray(self, end: int, message: str, hint: str | None = None, cut: bool = False) -> JsonProblem:
        """A problem with the text from here to *end*."""
        return JsonProblem("SYN201", self.pos, end, message, hint, cut)

    def foreign(self) -> JsonProblem:
        """What is not a JSON token."""
        for pattern, (message, hint) in _FOREIGN.items():
            if match := re.compile(pattern).match(self.text, self.pos):
                cut = bool(self.open) and match.end() == len(self.text)
                return self.stray(match.end(), message, hint, cut)
        return self.stray(self.pos + 1, f"{{}} (U+{ord(self.text[self.pos]):04X}) cannot stand here")

    def unclosed(self) -> JsonProblem:
        """The end of the text, too early."""
        if not self.open:
            return JsonProblem("SYN201", 0, 0, "the file is empty", "an empty list is written []")
        start = self.open[-1][0]
        end = self.source.words(len(self.text.rstrip()))
        message = f"the {self.text[start]} is never closed: the text ends at {end}, where {self.wanted} is expected"
        return JsonProblem("SYN201", start, start + 1, message, _MAYBE_CUT, cut=True)

    def broken_string(self, place: int, reason: str) -> JsonProblem:
        """A string that the scanner gave up at *place*."""
        escape = self.text.rfind("\\", 0, place + 1)
        bad = _BAD_ESCAPE.match(self.text, escape) if "escape" in reason else None
        if bad and not _CUT_ESCAPE.match(self.text, escape):
            message = f"{clipped(bad.group())} is not a JSON escape"
            return JsonProblem("SYN201", escape, bad.end(), message, "write a backslash as \\\\")
        if "control" not in reason:
            return self.stray(len(self.text), "the string is never closed", _MAYBE_CUT, cut=True)
        if (character := self.text[place]) in "\r\n":
            hint = "close it with a quotation mark; write a line break inside a string as \\n"
            return self.stray(place, "the string is not closed on its line", hint)
        message = f"a control character (U+{ord(character):04X}) in a string"
        return JsonProblem("SYN201", place, place + 1, message, f"write {json.dumps(character)[1:-1]}")


def first_break(text: str) -> int | None:
    """Where the syntax of a text breaks; None where it does not."""
    walk = Walk(JsonSource(text))
    for problem in walk.problems():
        if problem.last:
            return None
    return walk.pos if walk.pos <= len(text) else None
