"""JSON and JSON Lines, strict: one syntax for loading (the sink raises) and for checking (it collects).

:func:`proven` reads at the speed of the parser; where a text may not be strict, :func:`problems` goes through it token
by token and says in plain words what is wrong. Duplicate keys (SYN202) and a byte order mark (SYN103) are reported and
read over; after every other error there is no document.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from pydantic_core import from_json

from seldio.errors import InvalidData
from seldio.findings import Finding, Severity, Sink
from seldio.formats.base import Place, TextLines
from seldio.reader_rules import READER_RULES
from seldio.text import clipped, plural

Pointer = tuple[str | int, ...]
#: How many arrays and objects may stand inside each other.
MAX_DEPTH = 64
_CLIP = 100

LENIENT = json.JSONDecoder()
_SYNTAX = json.JSONDecoder(parse_int=float)  # numbers of any length
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_LINE_FEED = re.compile("\n")
_SPACE = re.compile(r"[ \t\n\r]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],:]|[^ \t\n\r{}\[\],:"]+', re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<float>(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
_CONSTANTS = ("NaN", "Infinity", "-Infinity")
# Half of a surrogate pair, where escaped backslashes are masked.
_LONE = re.compile(
    r"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)


class JsonProblem(NamedTuple):
    """A problem between two offsets; *cut*: text after the end could have made it right."""

    start: int
    end: int
    message: str
    hint: str | None = None
    code: str = "SYN201"
    cut: bool = False


class JsonSource(TextLines):
    """A text and where it comes from; nothing but LF, behind a CR or not, ends a line."""

    def __init__(self, text: str, path: str = "", first_line: int = 1) -> None:
        super().__init__(text, first_line, _LINE_FEED)
        self.path = path

    def place(self, start: int, end: int, value: str | None = None) -> Place:
        """See :meth:`TextLines.place`; the value is clipped."""
        shown = self.text[start : min(end, start + _CLIP)] + "…" * (end - start > _CLIP) if value is None else value
        return super().place(start, end, shown)

    def at(self, offset: int) -> str:
        """Return the place of an offset in words."""
        place = self.place(offset, offset)
        return f"line {place.line:,}, column {place.column:,}"

    def finding(self, what: JsonProblem, severity: Severity | None = None) -> Finding:
        """Return the finding for a problem; its severity is that of the rule unless one is given."""
        rule, place = READER_RULES[what.code], self.place(what.start, what.end)
        finding = place.finding(rule, self.path, what.message, what.hint, fixable=False)
        return finding if severity is None else replace(finding, severity=severity)


def skip(text: str, pos: int) -> int:
    """Return the offset of the next character that is not whitespace."""
    return _SPACE.match(text, pos).end()  # type: ignore[union-attr]


def proven(texts: Sequence[bytes]) -> list[Any] | None:
    """Return what texts hold, read at full speed; None where one of them may not be strict JSON.

    The parser takes a key that appears twice: then the texts have more quotation marks than their values.
    """
    try:
        values = [from_json(text, allow_inf_nan=False, cache_strings="keys") for text in texts]
        data = b"".join(texts)
        escaped = _ESCAPED.findall(data).count(b'\\"') if b"\\" in data else 0
        quotes = int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord('"'))) - escaped
        return values if quotes == 2 * _texts_in(values) else None
    except ValueError:
        return None


def _texts_in(values: Sequence[Any], depth: int = 0) -> int:
    """Count the keys and texts in *values*; raise ValueError if they are nested too deep or numbers are too large."""
    count = 0
    types = set(map(type, values))
    for kind in types:
        alike: Sequence[Any] = values if len(types) == 1 else [value for value in values if type(value) is kind]
        if kind in (dict, list) and depth == MAX_DEPTH:
            raise ValueError
        if kind is str:
            count += len(alike)
        elif kind is dict:
            shapes: dict[tuple[str, ...], list[dict[str, Any]]] = {}
            for value in alike:
                shapes.setdefault((*value,), []).append(value)
            for keys, same in shapes.items():
                columns = zip(*map(dict.values, same), strict=True)
                count += len(keys) * len(same) + sum(_texts_in(column, depth + 1) for column in columns)
        elif kind is list:
            count += _texts_in([*chain.from_iterable(alike)], depth + 1)
        elif kind in (int, float):
            fit = all(map(math.isfinite, alike)) if kind is float else -(2**63) <= min(alike) <= max(alike) < 2**63
            if not fit:
                raise ValueError
    return count


# --- what is wrong with broken JSON -----------------------------------------------------------------

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
# What should have come, by the first words of the scanner's message.
_WANTED = {"Expecting value": "a value", "Expecting property": "a key in quotes", "Expecting ':'": "a colon"}


def problems(source: JsonSource, *, lines: bool = False) -> list[JsonProblem]:
    """Return all that is wrong with a text, in its order, up to the first break of the syntax."""
    text = source.text
    if (nul := text.find("\0")) >= 0:
        message = f"{plural(text.count(chr(0)), 'NUL byte')} in the text"
        return [
            JsonProblem(nul, nul + 1, message, "they come from a crash while writing: write the file again", "SYN104")
        ]
    fault = _fault(text)
    wrong, brackets, last = _token_problems(source, len(text) if fault is None else fault.pos)
    if fault is not None and len(brackets) <= MAX_DEPTH:
        wrong.append(_explained(source, fault, last, brackets, lines))
    return wrong


def _fault(text: str) -> json.JSONDecodeError | None:
    """Return the scanner's error where the syntax of a text breaks; None where it does not."""
    try:
        _SYNTAX.decode(text)
    except json.JSONDecodeError as error:
        return error
    except RecursionError:  # the tokens show where it is too deep
        return None
    return None


def _token_problems(source: JsonSource, end: int) -> tuple[list[JsonProblem], list[int], int]:
    """Return what is wrong with the content of tokens before *end*, the brackets open there, and the token there.

    The text is not read on where it is nested too deep.
    """
    wrong: list[JsonProblem] = []
    brackets: list[int] = []
    keys_of: list[dict[str, int] | None] = []  # of the objects that are open, with their offsets; None for arrays
    before = ""
    for match in _TOKEN.finditer(source.text):
        token, (start, stop) = match.group(), match.span()
        if stop > end:
            return wrong, brackets, start
        if token in ("[", "{"):
            brackets.append(start)
            keys_of.append({} if token == "{" else None)
            if len(brackets) > MAX_DEPTH:
                message = f"arrays and objects nested deeper than {MAX_DEPTH} levels"
                wrong.append(JsonProblem(start, stop, message, "data of this kind is never nested this deeply"))
                break
        elif token in ("]", "}"):
            brackets.pop()
            keys_of.pop()
        elif token[0] != '"':
            wrong += _number_problems(token, start)
        else:
            for half in _LONE.finditer(token.replace("\\\\", "__")) if "\\u" in token else ():
                message = f"{half.group()} is half of a surrogate pair, not a character"
                hint = "write the character itself, or both halves"
                wrong.append(JsonProblem(start + half.start(), start + half.end(), message, hint))
            keys = keys_of[-1] if keys_of and before in ("{", ",") else None
            key = "" if keys is None else json.loads(token)
            if keys is not None and key in keys:
                message = f'the key "{clipped(key)}" appears twice in its object, first in {source.at(keys[key])}'
                hint = "remove one: most readers silently keep the last"
                wrong.append(JsonProblem(start, stop, message, hint, "SYN202"))
            elif keys is not None:
                keys[key] = start
        before = token
    return wrong, brackets, len(source.text)


def _number_problems(word: str, start: int) -> Iterator[JsonProblem]:
    end = start + len(word)
    number = _NUMBER.fullmatch(word)
    if word in _CONSTANTS:
        yield JsonProblem(start, end, f"{word} is not JSON", "write null, or leave the key out", "SYN203")
    elif number is not None and number["float"] and math.isinf(float(word)):
        message = f"{clipped(word, 30)} is larger than any float"
        yield JsonProblem(start, end, message, "the largest float is about 1.8e308")
    elif number is not None and not number["float"] and (len(word) > 20 or not -(2**63) <= int(word) < 2**63):
        message = f"{clipped(word, 30)} does not fit in 64 bits"
        yield JsonProblem(start, end, message, "if it is a name, put it in double quotes")


def _explained(
    source: JsonSource, fault: json.JSONDecodeError, start: int, brackets: list[int], lines: bool
) -> JsonProblem:
    """Explain what stands at the token at *start*, where the syntax breaks, or what is missing there."""
    text, reason = source.text, fault.msg
    character = text[start : start + 1]
    wanted = next((what for words, what in _WANTED.items() if reason.startswith(words)), "a comma")
    if character == '"' and "Expecting" not in reason and reason != "Extra data":
        return _broken_string(text, start, fault)
    if not character and not brackets:
        return JsonProblem(0, 0, "the file is empty", "an empty list is written []")
    if not character:
        opening, place = brackets[-1], source.at(len(text.rstrip()))
        message = f"the {text[opening]} is never closed: the text ends at {place}, where {wanted} is expected"
        return JsonProblem(opening, opening + 1, message, _MAYBE_CUT, cut=True)
    if character == "," and reason.startswith("Illegal trailing"):  # as the scanner of Python 3.13 tells it
        start = skip(text, start + 1)
        character = text[start]
    foreign = None if character in '"[]{},:' else _foreign(text, start, bool(brackets))
    if foreign is not None and (fault.pos > start or character in "/#"):
        return foreign
    if reason == "Extra data":
        return _stray(text, start, len(text.rstrip()), *_BEHIND[lines])
    end = start + 1 if foreign is None else foreign.end
    with suppress(ValueError, RecursionError):
        end = LENIENT.raw_decode(text, start)[1] if foreign is None else end
    if reason.startswith("Expecting ':'"):
        return _stray(text, start, end, "a colon is missing before {}", "put one between key and value")
    if reason.startswith("Expecting ','") and character not in "]},:":
        hint = 'put one there; write a quotation mark inside a string as \\"'
        return _stray(text, start, end, "a comma is missing before {}", hint)
    before = text[:start].rstrip()
    if character in "]}" and before.endswith(","):
        message = f"a comma before the closing {character}"
        return JsonProblem(len(before) - 1, len(before), message, "remove it: nothing follows the last comma")
    return foreign or _stray(text, start, end, f"{{}} where {wanted} is expected")


def _stray(text: str, start: int, end: int, message: str, hint: str | None = None, cut: bool = False) -> JsonProblem:
    """Return a problem with a part of a text, which stands for {} in the message."""
    return JsonProblem(start, end, message.replace("{}", clipped(text[start:end], 20), 1), hint, cut=cut)


def _foreign(text: str, start: int, inside: bool) -> JsonProblem | None:
    token = _TOKEN.match(text, start)
    if token is None or _NUMBER.fullmatch(token[0]) or token[0] in ("true", "false", "null", *_CONSTANTS):
        return None
    for pattern, (message, hint) in _FOREIGN.items():
        if match := re.compile(pattern).match(text, start):
            return _stray(text, start, match.end(), message, hint, inside and match.end() == len(text))
    return _stray(text, start, start + 1, f"{{}} (U+{ord(text[start]):04X}) cannot stand here")


def _broken_string(text: str, start: int, fault: json.JSONDecodeError) -> JsonProblem:
    place = fault.pos
    escape = text.rfind("\\", 0, place + 1)
    bad = _BAD_ESCAPE.match(text, escape) if "escape" in fault.msg else None
    if bad and not _CUT_ESCAPE.match(text, escape):
        message = f"{clipped(bad.group())} is not a JSON escape"
        return JsonProblem(escape, bad.end(), message, "write a backslash as \\\\")
    if "control" not in fault.msg:
        return _stray(text, start, len(text), "the string is never closed", _MAYBE_CUT, cut=True)
    if (character := text[place]) in "\r\n":
        hint = "close it with a quotation mark; write a line break inside a string as \\n"
        return _stray(text, start, place, "the string is not closed on its line", hint)
    message = f"a control character (U+{ord(character):04X}) in a string"
    return JsonProblem(place, place + 1, message, f"write {json.dumps(character)[1:-1]}")


# --- documents and their places ---------------------------------------------------------------------


class JsonDocument:
    """A value read from JSON, all of a text or a part of it, and where each part of it stands."""

    __slots__ = ("_members", "_pointer", "source", "value")

    def __init__(self, value: Any, source: JsonSource) -> None:
        self.value = value
        self.source = source
        self._pointer: Pointer = ()
        self._members: dict[int, dict[str | int, tuple[int, int]]] = {}

    def part(self, value: Any, pointer: Pointer) -> JsonDocument:
        """Return the document of the *value* at *pointer* inside of this one."""
        part = JsonDocument(value, self.source)
        part._pointer, part._members = (*self._pointer, *pointer), self._members
        return part

    def extent(self, pointer: Pointer = ()) -> tuple[int, int]:
        """Return where the value of keys and indices (or the closest around it; the last of equals) begins and ends."""
        text = self.source.text
        start, end = skip(text, 0), len(text.rstrip(" \t\r\n"))
        for step in (*self._pointer, *pointer):
            if start not in self._members:  # each container is scanned once
                self._members[start] = _members(text, start)
            if step not in self._members[start]:
                break
            start, end = self._members[start][step]
        return start, end

    def locate(self, pointer: Pointer = ()) -> Place:
        """Return the place of a value, see :meth:`extent`."""
        return self.source.place(*self.extent(pointer))

    def finding(
        self, code: str, message: str, pointer: Pointer = (), hint: str | None = None, severity: Severity | None = None
    ) -> Finding:
        """Return a finding at the place of a value; its severity is that of the rule unless one is given."""
        return self.source.finding(JsonProblem(*self.extent(pointer), message, hint, code), severity)


def _members(text: str, opening: int) -> dict[str | int, tuple[int, int]]:
    """Return where the value of each key or index begins and ends."""
    places: dict[str | int, tuple[int, int]] = {}
    pos = skip(text, opening + 1) if text[opening] in "[{" else len(text)
    while pos < len(text) and text[pos] not in "]}":
        name: str | int = len(places)
        if text[opening] == "{":
            name, pos = LENIENT.raw_decode(text, pos)
            pos = skip(text, skip(text, pos) + 1)
        _, end = LENIENT.raw_decode(text, pos)
        places[name] = pos, end
        pos = skip(text, end)
        pos = skip(text, pos + 1) if text[pos] == "," else pos
    return places


def parse(data: bytes, path: str, sink: Sink) -> JsonDocument | None:
    """Read one JSON document; None, after a finding of severity error, where it cannot be read."""
    reader = JsonReader(data, path, sink)
    return None if reader.wide() else reader.read(reader.data)


def parse_lines(data: bytes, path: str, sink: Sink) -> Iterator[JsonDocument]:
    """Read JSON Lines; lines that cannot be read are findings and left out; one document instead is one finding."""
    reader = JsonReader(data, path, sink, lines=True)
    if not (reader.wide() or reader.one_document()):
        yield from reader.documents(enumerate(io.BytesIO(reader.data), 1))


class JsonReader:
    """One file being read, without its byte order mark."""

    def __init__(self, data: bytes, path: str, sink: Sink, *, lines: bool = False) -> None:
        self.path, self.sink, self.lines = path, sink, lines
        self.data = data.removeprefix(b"\xef\xbb\xbf")
        if len(self.data) < len(data):
            message = "the file begins with a byte order mark"
            self.report("SYN103", message, "save the file as UTF-8 without BOM", "\ufeff")

    def documents(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[JsonDocument]:
        """Yield the documents of *lines* with their numbers and line ends; blank ones in a row are one finding."""
        first = count = 0  # of the blank lines that follow each other
        for line, raw in chain(lines, [(0, b"")]):
            is_blank = not raw.strip()
            if count and not (is_blank and line == first + count):
                hint = "remove blank lines: every line of JSON Lines holds a record"
                self.report("SYN110", plural(count, "blank line"), hint, line=first)
                count = 0
            if is_blank:
                first, count = (first if count else line), count + 1
                continue
            document = self.read(raw.removesuffix(b"\n"), line, cut=raw[-1:] != b"\n")
            if document is not None and not self.array(document):
                yield document

    def report(self, code: str, message: str, hint: str, value: str | None = None, line: int = 1) -> None:
        """Report what has a line but no text to show."""
        self.sink(READER_RULES[code].at(self.path, message, hint, line, 1, value, "", end_column=1, fixable=False))

    def wide(self) -> bool:
        """Return whether the file is in UTF-16 or UTF-32, which is a finding."""
        name = next((name for name, pattern in _WIDE.items() if pattern.match(self.data)), None)
        if name is not None:
            self.report("SYN102", f"this is {name}, not UTF-8", "save the file as UTF-8 without BOM")
        return name is not None

    def read(self, raw: bytes, line: int = 1, *, cut: bool = False) -> JsonDocument | None:
        """Return one document; *cut*: it is the last of its file, and no line end follows."""
        try:
            source = JsonSource(raw.decode(), self.path, line)
        except UnicodeDecodeError as error:
            source, byte = JsonSource(raw.decode(errors="replace"), self.path, line), raw[error.start]
            start, hint = len(raw[: error.start].decode()), "save it as UTF-8, not Latin-1 or Windows-1251"
            problem = JsonProblem(start, start + 1, f"byte 0x{byte:02x} is not UTF-8", hint, "SYN101")
            if cut and error.reason == "unexpected end of data":  # the end of the file cuts a character off
                self.sink(source.finding(_torn(source)))
            else:  # as its value, the byte in Latin-1: it is no character
                self.sink(replace(source.finding(problem), value=chr(byte)))
            return None
        values = proven([raw])
        if values is not None:
            return JsonDocument(values[0], source)
        readable = True  # where all that is wrong is some duplicate keys
        for problem in problems(source, lines=self.lines):
            self.sink(source.finding(_torn(source) if cut and problem.cut else problem))
            readable &= problem.code == "SYN202"
        return JsonDocument(LENIENT.decode(source.text), source) if readable else None

    def array(self, document: JsonDocument) -> bool:
        """Return whether a line holds an array, which is a finding."""
        if isinstance(document.value, list):
            self.sink(document.finding("SYN207", "an array on one line instead of records", (), hint=_NOT_LINES))
        return isinstance(document.value, list)

    def one_document(self) -> bool:
        """Return whether the file is an array on a line, or JSON over several lines: one finding for it all."""
        start = self.data.rfind(b"\n", 0, len(self.data) - len(self.data.lstrip())) + 1
        line = self.data.count(b"\n", 0, start) + 1
        raw = io.BytesIO(self.data[start:]).readline().removesuffix(b"\n")  # without a copy of the other lines
        values = proven([raw])
        if values is not None:
            return self.array(JsonDocument(values[0], JsonSource(raw.decode(), self.path, line)))
        source = JsonSource(self.data[start:].decode(errors="replace"), self.path, line)
        first, _, remaining = source.text.partition("\n")
        second = remaining.lstrip().partition("\n")[0]
        begin = skip(first, 0)
        if not second or not first.startswith(("[", "{"), begin) or _fault(first) is None:
            return False
        fault = _fault(source.text)
        if fault is not None and (fault.pos <= len(first) or _fault(second) is None):
            return False  # the first record is truncated
        code, what = ("SYN207", "array") if first[begin] == "[" else ("SYN201", "object")
        message = f"a JSON {what} that spans several lines instead of one record per line"
        self.sink(source.finding(JsonProblem(begin, len(first), message, _NOT_LINES, code)))
        return True


_NOT_LINES = "this is JSON, not JSONL: write one object per line, or name the file .json"
# A wide encoding shows by its byte order mark, or by the zeros that ASCII characters have in it.
_WIDE = {
    "UTF-32": re.compile(rb"\xff\xfe\0\0|\0\0\xfe\xff|(?s:[^\0]\0\0\0(?:[^\0]|\Z)|\0\0\0[^\0])"),
    "UTF-16": re.compile(rb"\xff\xfe|\xfe\xff|(?s:[^\0]\0[^\0]\0|\0[^\0]\0[^\0])"),
}


def _torn(source: JsonSource) -> JsonProblem:
    hint = "the file seems to be cut off, and records after this one may be missing: write or download it again"
    return JsonProblem(0, len(source.text), "the last record is cut off: the file ends inside it", hint, "SYN108")


def shorter(value: float) -> float:
    """Return 2 for 2.0, as JSON of other programs has it; any other number as it is."""
    return int(value) if value.is_integer() else value


def dumps(value: Any, *, separators: tuple[str, str] = (", ", ": "), indent: str | None = None) -> str:
    """Write JSON without needless escapes; raise InvalidData for NaN, infinity or half of a surrogate pair."""
    try:
        text = _encode(separators, indent)(value)
        text.encode()
    except ValueError as error:
        code, what = "SYN203", str(error)
        if isinstance(error, UnicodeEncodeError):
            code, what = "SYN201", f"half of a surrogate pair, {error.object[error.start]!a}"
        raise InvalidData(READER_RULES[code].at("<value>", f"JSON cannot hold this value: {what}")) from error
    return text


@cache
def _encode(separators: tuple[str, str], indent: str | None) -> Callable[[Any], str]:
    return json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=separators, indent=indent).encode
