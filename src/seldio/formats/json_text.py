"""JSON and JSON Lines, strict: one syntax for loading (the sink raises) and for checking (it collects).

The scanner of the standard library reads. Where it takes more than JSON, cheap looks at the bytes
tell whether a closer look is needed. Only when something is wrong does :class:`_Walk` go through the
text token by token, to say what and where.

Duplicate keys (SYN202) and a byte order mark (SYN103) are reported and read over; after every other
error there is no document.
"""

from __future__ import annotations

import io
import json
import math
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, groupby
from typing import Any, NamedTuple

from seldio.errors import InvalidData
from seldio.findings import Finding, Severity, Sink
from seldio.text import clipped, plural

#: How many arrays and objects may stand inside each other.
MAX_DEPTH = 64
_CLIP = 100


class Span(NamedTuple):
    """A place in a file: 1-based line, column and end column (characters), its text and its line.

    *text* is as it stands in the file, clipped. What runs over several lines ends, for
    *end_column*, with its first line.
    """

    line: int
    column: int
    end_column: int
    text: str
    excerpt: str


class _Problem(NamedTuple):
    """What is wrong between two offsets; *torn*: text behind the end could have made it right."""

    code: str
    start: int
    end: int
    message: str
    hint: str | None = None
    torn: bool = False


class _Source:
    """A text and where it comes from: offsets become lines and columns."""

    __slots__ = ("_excerpt", "_index", "_starts", "first_line", "path", "text")

    def __init__(self, text: str, path: str = "", first_line: int = 1) -> None:
        self.text, self.path, self.first_line = text, path, first_line
        self._starts = array("Q")
        self._index, self._excerpt = -1, ""

    def span(self, start: int, end: int) -> Span:
        """The place between two offsets."""
        if not self._starts:
            lengths = (len(line) + 1 for line in self.text.split("\n"))
            self._starts = array("Q", accumulate(lengths, initial=0))
        index = bisect_right(self._starts, start) - 1
        begin, behind = self._starts[index : index + 2]
        if index != self._index:  # findings that follow each other in one line share its text
            self._index, self._excerpt = index, self.text[begin : behind - 1].removesuffix("\r")
        stop = max(min(end, begin + len(self._excerpt)), start)
        text = self.text[start : min(end, start + _CLIP)] + "…" * (end - start > _CLIP)
        return Span(self.first_line + index, start - begin + 1, stop - begin + 1, text, self._excerpt)

    def place(self, offset: int) -> str:
        """An offset in words."""
        span = self.span(offset, offset)
        return f"line {span.line:,}, column {span.column:,}"

    def finding(self, what: _Problem, severity: Severity = Severity.ERROR, fixable: bool = False) -> Finding:
        """The finding for a problem."""
        line, column, end_column, text, excerpt = self.span(what.start, what.end)
        return Finding(what.code, severity, what.message, self.path, line, column, end_column, text,
                       what.hint, fixable, excerpt)  # fmt: skip


class JsonDocument:
    """A value read from JSON, and where each part of it stands."""

    __slots__ = ("_members", "_source", "value")

    def __init__(self, value: Any, source: _Source) -> None:
        self.value = value
        self._source = source
        self._members: dict[int, tuple[Any, array[int]]] = {}

    @property
    def first_line(self) -> int:
        """The physical line of the file on which the document begins."""
        return self._source.first_line

    def locate(self, pointer: tuple[str | int, ...], *, key: bool = False) -> Span:
        """The place of the value that keys and indices lead to; with *key*, of the key before it.

        Of a key that stands twice, the last counts. A pointer that leads nowhere is a LookupError.
        """
        return self._source.span(*self._offsets(pointer, key))

    def finding(self, code: str, severity: Severity, message: str, pointer: tuple[str | int, ...], *,
                key: bool = False, hint: str | None = None, fixable: bool = False) -> Finding:  # fmt: skip
        """A finding at the place of a value, or of its key."""
        problem = _Problem(code, *self._offsets(pointer, key), message, hint)
        return self._source.finding(problem, severity, fixable)

    def _offsets(self, pointer: tuple[str | int, ...], key: bool) -> tuple[int, int]:
        text = self._source.text
        start, end = _skip(text, 0), len(text.rstrip(" \t\r\n"))
        for depth, step in enumerate(pointer, 1):
            if start not in self._members:  # each container is scanned once
                self._members[start] = _members(text, start)
            names, offsets = self._members[start]
            if isinstance(names, dict) != isinstance(step, str):
                raise KeyError(step)
            place = 4 * names[step]
            key_start, key_end, start, end = offsets[place : place + 4]
            if key and depth == len(pointer) and isinstance(step, str):
                return key_start, key_end
        return start, end


def _members(text: str, opening: int) -> tuple[dict[str, int] | range, array[int]]:
    """The ordinal of each key or index, and the offsets of each key (in arrays: none) and value."""
    names: dict[str, int] = {}
    offsets = array("Q")
    pos = _skip(text, opening + 1) if text[opening] in "[{" else len(text)
    while pos < len(text) and text[pos] not in "]}":
        key_end = start = pos
        if text[opening] == "{":
            name, key_end = _LENIENT.raw_decode(text, pos)
            names[name] = len(offsets) // 4
            start = _skip(text, _skip(text, key_end) + 1)
        _, end = _LENIENT.raw_decode(text, start)
        offsets.extend((pos, key_end, start, end))
        pos = _skip(text, end)
        pos = _skip(text, pos + 1) if text[pos] == "," else pos
    return (names if text[opening] == "{" else range(len(offsets) // 4)), offsets


def parse(data: bytes, path: str, sink: Sink) -> JsonDocument | None:
    """Read one JSON document; None, after a finding of severity error, where it cannot be read."""
    reader = _Reader(data, path, sink)
    return None if reader.wide() else reader.read(reader.data)


def parse_lines(data: bytes, path: str, sink: Sink) -> Iterator[JsonDocument]:
    r"""Read JSON Lines, one document a line; ``\n`` and nothing else ends a line.

    A line that cannot be read is a finding and is left out. A file that is one JSON document in
    place of lines is one finding, and gives nothing.
    """
    reader = _Reader(data, path, sink, lines=True)
    if reader.wide() or reader.one_document():
        return
    for blank, run in groupby(enumerate(io.BytesIO(reader.data), 1), key=lambda item: item[1].isspace()):
        if blank:
            line, count = next(run)[0], 1 + sum(1 for _ in run)
            hint = "remove it: every line of JSON Lines holds a record"
            reader.report("SYN110", plural(count, "blank line"), hint, line=line)
            continue
        for line, raw in run:
            document = reader.read(raw.removesuffix(b"\n"), line, torn=raw[-1:] != b"\n")
            if document is not None and not reader.array(document):
                yield document


class _Reader:
    """One file being read."""

    def __init__(self, data: bytes, path: str, sink: Sink, *, lines: bool = False) -> None:
        self.path, self.sink, self.lines = path, sink, lines
        self.data = data.removeprefix(b"\xef\xbb\xbf")
        if len(self.data) < len(data):
            message = "the file begins with a byte order mark"
            self.report("SYN103", message, "save the file as UTF-8 without BOM", "\ufeff")
        self.decoder = _CAREFUL if _large_numbers(self.data) else _PLAIN
        self.surrogates = b"\\" in self.data and _SURROGATE.search(self.data) is not None

    def report(self, code: str, message: str, hint: str, value: str | None = None, line: int = 1) -> None:
        """Report what has a line but no text to show."""
        self.sink(Finding(code, Severity.ERROR, message, self.path, line, 1, 1, value, hint, excerpt=""))

    def wide(self) -> bool:
        """Whether the file is in UTF-16 or UTF-32, which is a finding."""
        name = next((name for name, pattern in _WIDE.items() if pattern.match(self.data)), None)
        if name is not None:
            self.report("SYN102", f"this is {name}, not UTF-8", "save the file as UTF-8 without BOM")
        return name is not None

    def read(self, raw: bytes, line: int = 1, *, torn: bool = False) -> JsonDocument | None:
        """One document; *torn*: it is the last of its file, and no line end follows."""
        try:
            source = _Source(raw.decode(), self.path, line)
        except UnicodeDecodeError as error:
            self.undecodable(error, line, torn)
            return None
        try:
            return JsonDocument(self.strict(raw, source.text), source)
        except ValueError:
            return self.diagnose(source, torn)

    def strict(self, raw: bytes, text: str) -> Any:
        """The value; a ValueError, which need not say what or where, for all that is not strict JSON."""
        if _too_deep(raw) or (self.surrogates and _LONE.search(_masked(text))):
            raise ValueError
        return self.decoder.decode(text)

    def diagnose(self, source: _Source, torn: bool) -> JsonDocument | None:
        """Report all that is wrong; the document, where that is nothing but duplicate keys."""
        readable = True
        for problem in _Walk(source, lines=self.lines).problems():
            self.sink(source.finding(_torn(source) if torn and problem.torn else problem))
            readable &= problem.code == "SYN202"
        return JsonDocument(_LENIENT.decode(source.text), source) if readable else None

    def undecodable(self, error: UnicodeDecodeError, line: int, torn: bool) -> None:
        """Report what is not UTF-8; a character that the end of the file cuts off is a torn record."""
        source = _Source(error.object.decode(errors="replace"), self.path, line)
        start = len(error.object[: error.start].decode())
        message = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
        hint = "save the file as UTF-8; Latin-1 looks like this"
        problem = _Problem("SYN101", start, start + 1, message, hint)
        if torn and error.reason == "unexpected end of data":
            self.sink(source.finding(_torn(source)))
        else:  # as its value, the byte in Latin-1: it is no character
            self.sink(replace(source.finding(problem), value=chr(error.object[error.start])))

    def array(self, document: JsonDocument) -> bool:
        """Whether a line holds an array, which is a finding."""
        message = "an array on one line, in place of records"
        if isinstance(document.value, list):
            self.sink(document.finding("SYN207", Severity.ERROR, message, (), hint=_NOT_LINES))
        return isinstance(document.value, list)

    def one_document(self) -> bool:
        """Whether the file is an array on a line, or JSON over several lines: one finding for it all."""
        start = self.data.rfind(b"\n", 0, len(self.data) - len(self.data.lstrip())) + 1
        line = self.data.count(b"\n", 0, start) + 1
        body = self.data[start:]
        first = body.partition(b"\n")[0]
        try:
            value = self.strict(first, first.decode())
        except ValueError:
            return self.spread(_Source(body.decode(errors="replace"), self.path, line))
        return self.array(JsonDocument(value, _Source(first.decode(), self.path, line)))

    def spread(self, source: _Source) -> bool:
        """Whether the first record runs over several lines, which is a finding.

        A torn record may seem to run on as well; but then the next line is a record of its own.
        """
        first, _, rest = source.text.partition("\n")
        second = rest.lstrip().partition("\n")[0]
        start = _skip(first, 0)
        if not second or not first.startswith(("[", "{"), start) or _break(first) is None:
            return False
        place = _break(source.text)
        if place is not None and (place <= len(first) or _break(second) is None):
            return False
        code, what = ("SYN207", "array") if first[start] == "[" else ("SYN201", "object")
        message = f"a JSON {what} that runs over several lines, in place of one record a line"
        self.sink(source.finding(_Problem(code, start, len(first), message, _NOT_LINES)))
        return True


_NOT_LINES = "this is JSON, not JSONL: write one object a line, or name the file .json"
# A wide encoding shows by its byte order mark, or by the zeros that ASCII characters have in it.
_WIDE = {
    "UTF-32": re.compile(rb"\xff\xfe\0\0|\0\0\xfe\xff|(?s:[^\0]\0\0\0(?:[^\0]|\Z)|\0\0\0[^\0])"),
    "UTF-16": re.compile(rb"\xff\xfe|\xfe\xff|(?s:[^\0]\0[^\0]\0|\0[^\0]\0[^\0])"),
}
_ONE_DIGIT = bytes.maketrans(b"123456789E", b"000000000e")
_BIG_EXPONENT = re.compile(rb"0e\+?000")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
# Half of a surrogate pair, in masked text.
_LONE = re.compile(
    r"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)
_SAME_BRACKETS = bytes.maketrans(b"{}", b"[]")
_PROSE = bytes(set(range(256)) - set(b'"[]{}\\/bfnrtu'))  # all but brackets, quotes and escapes
_SPACE = re.compile(r"[ \t\n\r]*")


def _skip(text: str, pos: int) -> int:
    """The offset of the next character that is not white space."""
    match = _SPACE.match(text, pos)
    return match.end() if match else pos


def _masked(text: str) -> str:
    """*text*, as long as before, with other escaped backslashes: each one left begins an escape."""
    return text.replace("\\\\", "__")


def _torn(source: _Source) -> _Problem:
    hint = "the program that wrote it was stopped: write the record again, or remove the line"
    return _Problem("SYN108", 0, len(source.text), "the last record is torn: the file ends inside it", hint)


def _large_numbers(data: bytes) -> bool:
    """Whether there are 19 digits that follow no point, or 3 in an exponent: these may leave 64 bits."""
    digits = data.translate(_ONE_DIGIT)
    heads = digits.split(b"0" * 19)[:-1]
    return any(not head.endswith(b".") for head in heads) or _BIG_EXPONENT.search(digits) is not None


def _too_deep(raw: bytes) -> bool:
    """Whether brackets nest deeper than MAX_DEPTH; exact up to the first break of the syntax."""
    raw = raw.translate(None, _PROSE)
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return False
    if b"\\" in raw:
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    structure = raw.translate(_SAME_BRACKETS, b"/bfnrtu\\").replace(b'""', b"")
    structure = b"".join(structure.split(b'"')[::2])  # without the brackets in strings
    left = structure
    for _ in range(MAX_DEPTH):
        left = left.replace(b"[]", b"")  # takes the innermost level away
    return bool(left) and max(accumulate(ord("[") + 1 - byte for byte in structure)) > MAX_DEPTH


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


def _int64(digits: str) -> int:
    if len(digits) > 20 or not -(2**63) <= (number := int(digits)) < 2**63:
        raise ValueError
    return number


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError
    return number


def _refuse(constant: str) -> None:
    raise ValueError(constant)


_LENIENT = json.JSONDecoder()
_PLAIN = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
_CAREFUL = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse, parse_int=_int64, parse_float=_finite
)

_ATOM = re.compile(
    r"(?:(?P<float>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+))"
    r"|(?P<int>-?(?:0|[1-9][0-9]*))|(?P<constant>NaN|-?Infinity)|(?P<word>true|false|null))(?![\w.+-])"
)
# Tokens that are checked by their content, as the scanner checks them.
_CHECKED = {
    "constant": (_refuse, "SYN203", "{} is not JSON", "write null, or leave the key out"),
    "int": (_int64, "SYN204", "{} does not fit into 64 bits", "if it is a name, put it in double quotes"),
    "float": (_finite, "SYN204", "{} is larger than any float", "numbers end near 1.8e308"),
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
    r"[“”„‟‘’‚«»]": ("{} is a typographic quotation mark", 'write the plain one: "'),
    r"\+[\w.+-]*": ("{} begins with a plus sign", "leave the plus sign out"),
    r"-?\.\w[\w.+-]*": ("{} has no digit before its point", "write a 0 before the point"),
    r"-?0[0-9][\w.+-]*": ("{} begins with a zero", "leave the zero out; names like 007 stand in quotes"),
    r"-?[0-9][\w.+-]*|-[\w.+-]*": ("{} is not a number of JSON", "write numbers like 12, -0.5 or 1e-3"),
    r"[\w$][\w$.-]*": ("{} is not in quotes", "only true, false, null and numbers stand without"),
}
# Text behind the value, in a document and in a line.
_BEHIND = (
    ("{} behind the end of the document", "one document a file; with one record a line, name it .jsonl"),
    ("{} behind the record, on its line", "give each its own line; a torn record may have been appended to"),
)
_MAYBE_CUT = "close it, or fetch the file again: it may be cut off"
_CUT_ESCAPE = re.compile(r"\\u?[0-9a-fA-F]{0,4}\Z")
_BAD_ESCAPE = re.compile(r'\\(?:u[^"\\\s]{0,4}|(?s:.))')


class _Walk:
    """A way through a text, token by token, that says all that is wrong with it.

    It ends at the first break of the syntax: *pos* is there, *wanted* says what should have come.
    """

    def __init__(self, source: _Source, *, lines: bool = False) -> None:
        self.source, self.text, self.lines = source, source.text, lines
        self.halves = _LONE.search(_masked(self.text)) is not None
        # Whether to leap over arrays and objects without fault (not at each of 64 levels again).
        self.leap = not self.halves and not _too_deep(self.text.encode())
        self.pos = 0
        self.wanted = _VALUE
        self.comma = -1  # where it stands, if the last token was one
        self.open: list[tuple[int, dict[str, int]]] = []  # brackets, and the keys in them, with their offsets

    def problems(self) -> Iterator[_Problem]:
        """All that is wrong, in the order of the text."""
        if (nul := self.text.find("\0")) >= 0:
            message = f"{plural(self.text.count(chr(0)), 'NUL byte')} in the text"
            yield _Problem("SYN104", nul, nul + 1, message, "a power loss leaves zeros: write the file again")
            return
        while self.pos <= len(self.text):
            self.pos = _skip(self.text, self.pos)
            kind, end, value = self.token()
            if kind not in _ALLOWED[self.wanted]:
                yield self.explain(kind, end, value)
                return
            if kind in ("[", "{") and len(self.open) == MAX_DEPTH:
                message = f"arrays and objects nested deeper than {MAX_DEPTH} levels"
                yield _Problem("SYN206", self.pos, end, message, "no data of this kind is nested so deep")
                return
            yield from self.string_faults(end, value) if kind == "string" else self.faults(kind, end, value)
            self.advance(kind, end, value)

    def token(self) -> tuple[str, int, str]:
        """Kind, end and content of the next token; "broken" for a bad string, "foreign" for no token."""
        character = self.text[self.pos : self.pos + 1]
        if character == '"':
            try:
                value, end = _LENIENT.raw_decode(self.text, self.pos)
            except json.JSONDecodeError as error:
                return "broken", error.pos, error.msg
            return "string", end, value
        if character in ("[", "{") and self.leap and len(self.open) < 8:
            with suppress(ValueError):
                return "word", _CAREFUL.raw_decode(self.text, self.pos)[1], ""
        if not character or character in "[]{},:":
            return character or "nothing", self.pos + 1, character
        match = _ATOM.match(self.text, self.pos)
        return (match.lastgroup or "", match.end(), match.group()) if match else ("foreign", self.pos, "")

    def faults(self, kind: str, end: int, value: str) -> Sequence[_Problem]:
        """What is wrong with the content of a token that may stand where it does."""
        if kind in _CHECKED:
            check, code, message, hint = _CHECKED[kind]
            try:
                check(value)
            except ValueError:
                return [_Problem(code, self.pos, end, message.format(clipped(value, 30)), hint)]
        return ()

    def string_faults(self, end: int, value: str) -> Sequence[_Problem]:
        """Halves of surrogate pairs, and keys that stand twice."""
        found = []
        for match in _LONE.finditer(_masked(self.text[self.pos : end])) if self.halves else ():
            start, stop = (self.pos + offset for offset in match.span())
            message = f"{match.group()} is half of a surrogate pair, and no character"
            hint = "write the character itself, or both halves"
            found.append(_Problem("SYN205", start, stop, message, hint))
        if self.wanted in (_KEY, _MEMBER) and value in self.open[-1][1]:
            first = self.source.place(self.open[-1][1][value])
            message = f'the key "{clipped(value)}" stands twice in its object: first in {first}'
            hint = "remove one: most readers take the last in silence"
            found.append(_Problem("SYN202", self.pos, end, message, hint))
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

    def explain(self, kind: str, end: int, value: str) -> _Problem:
        """Why a token cannot stand where it does."""
        if kind == "nothing":
            return self.unclosed()
        if kind == "broken":
            return self.broken_string(end, value)
        wanted = f"{{}} where {self.wanted} belongs"
        problem = self.foreign() if kind == "foreign" else self.stray(end, wanted)
        if kind == "foreign" and self.text[self.pos] in "/#":
            pass
        elif self.wanted is _END:
            problem = self.stray(len(self.text.rstrip()), *_BEHIND[self.lines])
        elif self.wanted is _COLON:
            problem = self.stray(problem.end, "a colon is missing before {}", "put one between key and value")
        elif self.wanted in (_NEXT_ITEM, _NEXT_MEMBER) and kind not in _MARKS:
            hint = 'put one there; a quotation mark inside a string is written \\"'
            problem = self.stray(problem.end, "a comma is missing before {}", hint)
        elif self.comma >= 0 and kind in ("]", "}"):
            hint = "remove it: nothing follows the last comma"
            return _Problem("SYN201", self.comma, self.comma + 1, f"a comma before the closing {kind}", hint)
        shown = clipped(self.text[self.pos : problem.end], 20)
        return problem._replace(message=problem.message.replace("{}", shown, 1))

    def stray(self, end: int, message: str, hint: str | None = None, torn: bool = False) -> _Problem:
        """A problem with the text from here to *end*."""
        return _Problem("SYN201", self.pos, end, message, hint, torn)

    def foreign(self) -> _Problem:
        """What is no token of JSON."""
        for pattern, (message, hint) in _FOREIGN.items():
            if match := re.compile(pattern).match(self.text, self.pos):
                torn = bool(self.open) and match.end() == len(self.text)
                return self.stray(match.end(), message, hint, torn)
        return self.stray(self.pos + 1, f"{{}} (U+{ord(self.text[self.pos]):04X}) cannot stand here")

    def unclosed(self) -> _Problem:
        """The end of the text, too early."""
        if not self.open:
            return _Problem("SYN201", 0, 0, "the file is empty", "an empty list is written []")
        start = self.open[-1][0]
        end = self.source.place(len(self.text.rstrip()))
        message = f"the {self.text[start]} is not closed before the end, {end}, where {self.wanted} belongs"
        return _Problem("SYN201", start, start + 1, message, _MAYBE_CUT, torn=True)

    def broken_string(self, place: int, reason: str) -> _Problem:
        """A string that the scanner gave up at *place*."""
        escape = self.text.rfind("\\", 0, place + 1)
        bad = _BAD_ESCAPE.match(self.text, escape) if "escape" in reason else None
        if bad and not _CUT_ESCAPE.match(self.text, escape):
            message = f"{clipped(bad.group())} is not an escape of JSON"
            return _Problem("SYN201", escape, bad.end(), message, "a backslash itself is written \\\\")
        if "control" not in reason:
            return self.stray(len(self.text), "the string is never closed", _MAYBE_CUT, torn=True)
        if (character := self.text[place]) in "\r\n":
            hint = "close it with a quotation mark; a line break inside a string is written \\n"
            return self.stray(place, "the string is not closed on its line", hint)
        message = f"a control character (U+{ord(character):04X}) in a string"
        return _Problem("SYN201", place, place + 1, message, f"write {json.dumps(character)[1:-1]}")


def _break(text: str) -> int | None:
    """Where the syntax of a text breaks; None where it does not."""
    walk = _Walk(_Source(text))
    for _ in walk.problems():
        pass
    return walk.pos if walk.pos <= len(text) else None


def dumps(value: Any, *, separators: tuple[str, str] = (", ", ": ")) -> str:
    """JSON as seldio writes it: keys in their order, and no escapes but those that must be.

    Raises:
        InvalidData: for NaN, infinity or half of a surrogate pair.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators)
        text.encode()
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise InvalidData(_unwritable("SYN205", f"half of a surrogate pair, {half}")) from error
    except ValueError as error:
        raise InvalidData(_unwritable("SYN203", str(error))) from error
    return text


def _unwritable(code: str, what: str) -> Finding:
    return Finding(code, Severity.ERROR, f"JSON cannot hold this value: {what}", "<value>")
