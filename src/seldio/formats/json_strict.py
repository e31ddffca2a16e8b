"""Strict JSON: values that are proven to be strict, and what is wrong with a text where they are not.

:func:`proven` reads at the speed of the parser. :func:`problems` goes through a text token by token and says in plain
words what is wrong: slow, and started only where the proof has failed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from pydantic_core import from_json

from seldio.findings import Finding, Severity
from seldio.formats.base import Place, TextLines
from seldio.reader_rules import reader_rule
from seldio.text import clipped, plural

#: How many arrays and objects may stand inside each other.
MAX_DEPTH = 64
#: So many keys of one text may appear twice; then the rest of it is not read.
MOST_REPEATED = 100
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


def proven(texts: Sequence[bytes]) -> list[Any] | None:
    """Return what texts hold, read at full speed; None where one of them may not be strict JSON.

    The parser takes a key that appears twice: then the texts have more quotation marks than their values.
    """
    try:
        values = [from_json(text, allow_inf_nan=False, cache_strings="keys") for text in texts]
        return values if _quotes_in(b"".join(texts)) == 2 * _texts_in(values) else None
    except ValueError:
        return None


def _quotes_in(data: bytes) -> int:
    """How many quotation marks begin or end a text in JSON."""
    quotes = np.count_nonzero(np.frombuffer(data, np.uint8) == ord('"'))
    return int(quotes) - _ESCAPED.findall(data).count(b'\\"')


def _texts_in(values: Sequence[Any], depth: int = 0) -> int:
    """How many keys and texts there are in *values*; a ValueError if some are nested too deep, or numbers too large."""
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
        elif kind in (int, float) and not (
            min(alike) >= -(2**63) and max(alike) < (2**63 if kind is int else math.inf)
        ):
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
        hint = "they come from a crash while writing: write the file again"
        return [JsonProblem("SYN104", nul, nul + 1, message, hint)]
    fault = _fault(text)
    tokens = _Tokens(source, len(text) if fault is None else fault.pos)
    tokens.check()
    stopped = bool(tokens.problems) and tokens.problems[-1].last
    return tokens.problems + ([] if fault is None or stopped else [tokens.broken(fault, lines)])


def first_break(text: str) -> int | None:
    """Return where the syntax of a text breaks; None where it does not."""
    fault = _fault(text)
    return None if fault is None else fault.pos


def _fault(text: str) -> json.JSONDecodeError | None:
    try:
        _SYNTAX.decode(text)
    except json.JSONDecodeError as error:
        return error
    except RecursionError:  # the tokens show where it is too deep
        return None
    return None


class _Tokens:
    """The tokens of a text that is JSON up to *end*."""

    def __init__(self, source: JsonSource, end: int) -> None:
        self.source, self.text, self.end = source, source.text, end
        self.problems: list[JsonProblem] = []
        self.open: list[tuple[int, dict[str, int] | None]] = []  # brackets, and the keys of objects with their offsets
        self.last = len(self.text)  # the token at which the syntax breaks
        self.repeated = 0

    def check(self) -> None:
        """Find what is wrong with the content of tokens; stop at what is nested too deep or repeats too many keys."""
        before = ""
        for match in _TOKEN.finditer(self.text):
            token, start, end = match.group(), match.start(), match.end()
            if end > self.end:
                self.last = start
                return
            if token in ("[", "{"):
                if len(self.open) == MAX_DEPTH:
                    message = f"arrays and objects nested deeper than {MAX_DEPTH} levels"
                    hint = "data of this kind is never nested this deeply"
                    self.problems.append(JsonProblem("SYN206", start, end, message, hint, last=True))
                    return
                self.open.append((start, {} if token == "{" else None))
            elif token in ("]", "}"):
                self.open.pop()
            elif token[0] == '"':
                self._string(token, start, before)
                if self.repeated == MOST_REPEATED:
                    return
            else:
                self._word(token, start)
            before = token

    def _word(self, word: str, start: int) -> None:
        end = start + len(word)
        if word in _CONSTANTS:
            hint = "write null, or leave the key out"
            self.problems.append(JsonProblem("SYN203", start, end, f"{word} is not JSON", hint))
            return
        number = _NUMBER.fullmatch(word)
        if number is None:
            return
        if number["float"] and math.isinf(float(word)):
            message = f"{clipped(word, 30)} is larger than any float"
            self.problems.append(JsonProblem("SYN204", start, end, message, "the largest float is about 1.8e308"))
        elif not number["float"] and (len(word) > 20 or not -(2**63) <= int(word) < 2**63):
            message = f"{clipped(word, 30)} does not fit in 64 bits"
            hint = "if it is a name, put it in double quotes"
            self.problems.append(JsonProblem("SYN204", start, end, message, hint))

    def _string(self, token: str, start: int, before: str) -> None:
        """Halves of surrogate pairs, and keys that appear twice."""
        for match in _LONE.finditer(token.replace("\\\\", "__")) if "\\u" in token else ():
            message = f"{match.group()} is half of a surrogate pair, not a character"
            hint = "write the character itself, or both halves"
            self.problems.append(JsonProblem("SYN205", start + match.start(), start + match.end(), message, hint))
        keys = self.open[-1][1] if self.open else None
        if keys is None or before not in ("{", ","):
            return
        key = json.loads(token)
        if key in keys:
            message = f'the key "{clipped(key)}" appears twice in its object, first in {self.source.words(keys[key])}'
            hint = "remove one: most readers silently keep the last"
            self.repeated += 1
            if last := self.repeated == MOST_REPEATED:
                message += f"; it is the {MOST_REPEATED}th such key, and the rest of the text is not read"
            self.problems.append(JsonProblem("SYN202", start, start + len(token), message, hint, last=last))
        keys.setdefault(key, start)

    def broken(self, fault: json.JSONDecodeError, lines: bool) -> JsonProblem:
        """Explain why the syntax breaks."""
        text, start = self.text, self.last
        character = text[start : start + 1]
        if character == '"' and start < len(text) and ("Expecting" not in fault.msg) and fault.msg != "Extra data":
            return self._broken_string(fault)
        if not character:
            return self._unclosed(fault)
        if character == "," and fault.msg.startswith("Illegal trailing"):  # as the scanner of Python 3.13 tells it
            start = skip(text, start + 1)
            character = text[start]
        foreign = None if character in '"[]{},:' else self._foreign()
        if foreign is not None and (fault.pos > start or character in "/#"):
            return foreign
        if fault.msg == "Extra data":
            return self._stray(len(text.rstrip()), *_BEHIND[lines])
        end = foreign.end if foreign is not None else self._value_end(start)
        if fault.msg.startswith("Expecting ':'"):
            return self._stray(end, "a colon is missing before {}", "put one between key and value")
        if fault.msg.startswith("Expecting ','") and character not in "]},:":
            hint = 'put one there; write a quotation mark inside a string as \\"'
            return self._stray(end, "a comma is missing before {}", hint)
        before = text[:start].rstrip()
        if character in "]}" and before.endswith(","):
            hint = "remove it: nothing follows the last comma"
            message = f"a comma before the closing {character}"
            return JsonProblem("SYN201", len(before) - 1, len(before), message, hint)
        return foreign or self._stray(end, f"{{}} where {self._wanted(fault)} is expected")

    def _wanted(self, fault: json.JSONDecodeError) -> str:
        return next((what for words, what in _WANTED.items() if fault.msg.startswith(words)), "a comma")

    def _value_end(self, start: int) -> int:
        try:
            return LENIENT.raw_decode(self.text, start)[1]
        except (ValueError, RecursionError):
            return start + 1

    def _stray(self, end: int, message: str, hint: str | None = None, cut: bool = False) -> JsonProblem:
        """Return a problem with the text from the last token to *end*, which stands for {} in the message."""
        shown = clipped(self.text[self.last : end], 20)
        return JsonProblem("SYN201", self.last, end, message.replace("{}", shown, 1), hint, cut)

    def _foreign(self) -> JsonProblem | None:
        """What is not a JSON token; None for one that is."""
        start = self.last
        token = _TOKEN.match(self.text, start)
        if token is None or _NUMBER.fullmatch(token[0]) or token[0] in ("true", "false", "null", *_CONSTANTS):
            return None
        for pattern, (message, hint) in _FOREIGN.items():
            if match := re.compile(pattern).match(self.text, start):
                cut = bool(self.open) and match.end() == len(self.text)
                return self._stray(match.end(), message, hint, cut)
        return self._stray(start + 1, f"{{}} (U+{ord(self.text[start]):04X}) cannot stand here")

    def _unclosed(self, fault: json.JSONDecodeError) -> JsonProblem:
        """The end of the text, too early."""
        if not self.open:
            return JsonProblem("SYN201", 0, 0, "the file is empty", "an empty list is written []")
        start = self.open[-1][0]
        end = self.source.words(len(self.text.rstrip()))
        wanted = self._wanted(fault)
        message = f"the {self.text[start]} is never closed: the text ends at {end}, where {wanted} is expected"
        return JsonProblem("SYN201", start, start + 1, message, _MAYBE_CUT, cut=True)

    def _broken_string(self, fault: json.JSONDecodeError) -> JsonProblem:
        """A string that the scanner gave up."""
        place = fault.pos
        escape = self.text.rfind("\\", 0, place + 1)
        bad = _BAD_ESCAPE.match(self.text, escape) if "escape" in fault.msg else None
        if bad and not _CUT_ESCAPE.match(self.text, escape):
            message = f"{clipped(bad.group())} is not a JSON escape"
            return JsonProblem("SYN201", escape, bad.end(), message, "write a backslash as \\\\")
        if "control" not in fault.msg:
            return self._stray(len(self.text), "the string is never closed", _MAYBE_CUT, cut=True)
        if (character := self.text[place]) in "\r\n":
            hint = "close it with a quotation mark; write a line break inside a string as \\n"
            return self._stray(place, "the string is not closed on its line", hint)
        message = f"a control character (U+{ord(character):04X}) in a string"
        return JsonProblem("SYN201", place, place + 1, message, f"write {json.dumps(character)[1:-1]}")
