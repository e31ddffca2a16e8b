"""YAML as plain values and their places; the one home of PyYAML.

Nothing but the core of YAML is read: null, booleans, numbers, text, lists and mappings. No tag makes an
object, dates stay text, and limits hold for size, depth and what aliases would grow to. Keys that appear twice (SYN403)
and a byte order mark (SYN103) are reported and read over; after every other error there is no document.

PyYAML refuses tabs before comments and inside a line (yaml/pyyaml#450, #594). YAML allows them and libyaml
reads them; the organisers' template for Task 3 has them; so they are read here.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from typing import Any

import yaml

from seldio.findings import Sink
from seldio.formats.base import Place, TextLines
from seldio.formats.cells import encoding_problem
from seldio.reader_rules import READER_RULES
from seldio.text import clipped, printable

#: Limits for one document: bytes, values inside each other, values with all aliases written out.
MAX_BYTES, MAX_DEPTH, MAX_VALUES = 2**18, 32, 20_000
Pointer = tuple[str | int, ...]

_CLIP = 200
_MAX_DIGITS = 400  # a longer "number" is text: int() and str() refuse more than some thousand digits
_CORE = "tag:yaml.org,2002:"
_SCALARS = frozenset(_CORE + name for name in ("null", "bool", "int", "float", "str"))
_TAG = re.compile(r"![^\s,\[\]{}]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
# What PyYAML raises; all but the first are slips of its own.
_FAILURES = (yaml.YAMLError, ValueError, OverflowError, LookupError)
_TOO_LARGE = f"more than {MAX_VALUES:,} values or {MAX_DEPTH} levels, with aliases written out"


class YamlProblem(Exception):
    """A problem between two offsets; raised where it ends the reading."""

    def __init__(self, code: str, start: int, end: int, message: str, hint: str) -> None:
        self.code, self.start, self.end, self.message, self.hint = code, start, end, message, hint


def _problem(code: str, node: yaml.Node, message: str, hint: str) -> YamlProblem:
    return YamlProblem(code, node.start_mark.index, node.end_mark.index, message, hint)


def _span(lines: TextLines, start: int, end: int) -> Place:
    """Return the place between two offsets; it ends with its first line."""
    line, column, _, _, excerpt = lines.place(start, start)
    text = lines.text[start : min(end, start + len(excerpt) - column + 1, start + _CLIP)]
    text = text.rstrip() or text
    return Place(line, column, column + len(text), text, excerpt)


def parse(data: bytes, path: str, sink: Sink) -> YamlDocument | None:
    """Read one YAML document; None, after a finding of severity error, where it cannot be read."""
    if len(data) > MAX_BYTES:
        message = f"{len(data):,} bytes of YAML: more than {MAX_BYTES:,} are not read"
        sink(READER_RULES["SYN401"].at(path, message, "a meta file has about 4,000 bytes; is this the right file?"))
        return None
    if data.startswith(BOM_UTF8):
        message, hint = "the file begins with a byte order mark", "save it as UTF-8 without BOM"
        sink(Place(1, 1, 1, "\ufeff", "").finding(READER_RULES["SYN103"], path, message, hint, fixable=False))
    if (finding := encoding_problem(path, data)) is not None:
        sink(finding)
        return None
    document = YamlDocument(TextLines(data.removeprefix(BOM_UTF8).decode()))
    for problem in document.problems:
        rule, place = READER_RULES[problem.code], _span(document.lines, problem.start, problem.end)
        sink(place.finding(rule, path, problem.message, problem.hint, fixable=False))
    return document if all(problem.code == "SYN403" for problem in document.problems) else None


class _Loader(yaml.SafeLoader):
    """PyYAML up to nodes, with tabs where YAML allows them."""

    def scan_to_next_token(self) -> None:
        super().scan_to_next_token()
        while self.peek() == "\t" and (self.flow_level or not self.allow_simple_key):
            while self.peek() in " \t":
                self.forward()
            super().scan_to_next_token()

    def scan_plain_spaces(self, indent: Any, start_mark: Any) -> Any:
        length = 0
        while self.peek(length) in " \t":
            length += 1
        blanks = self.prefix(length)
        if "\t" not in blanks:
            return super().scan_plain_spaces(indent, start_mark)
        self.forward(length)
        return super().scan_plain_spaces(indent, start_mark) or [blanks]


_Loader.yaml_implicit_resolvers = {  # without dates, "=" and "<<", which are not of the core
    first: [(tag, pattern) for tag, pattern in patterns if tag in _SCALARS]
    for first, patterns in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Pairs = dict[Any, tuple[yaml.Node, yaml.Node]]


class YamlDocument:
    """A value read from YAML, where each part of it stands, and the *problems* of it."""

    def __init__(self, lines: TextLines) -> None:
        self.lines = lines
        self.value: Any = None
        self.problems: list[YamlProblem] = []
        self._members: dict[int, _Pairs] = {}  # by the identity of a node: its keys and values
        self._root: yaml.Node | None = None
        self._count = 0
        try:
            self._loader = _Loader(lines.text)
            self._root = self._loader.get_single_node()
            self.value = None if self._root is None else self._read(self._root, 1)
        except YamlProblem as problem:
            self.problems.append(problem)
        except RecursionError:
            start = self._loader.get_mark().index
            self.problems.append(YamlProblem("SYN401", start, start + 1, _TOO_LARGE, "is this the right file?"))
        except _FAILURES as error:
            self.problems.append(self._explained(error))

    def locate(self, pointer: Pointer, key: bool = False) -> Place:
        """Return the place of the value that keys and indices lead to; with *key*, of the key before it.

        A value of several lines ends with its first one. Of a key that appears twice, the last counts.
        A pointer that leads nowhere is a KeyError.
        """
        name = node = self._root
        for step in pointer:
            name, node = self._members[id(node)][step]
        target = name if key else node
        if target is None:  # an empty file
            return _span(self.lines, 0, 0)
        return _span(self.lines, target.start_mark.index, target.end_mark.index)

    def _read(self, node: yaml.Node, depth: int) -> Any:
        self._count += 1
        if self._count > MAX_VALUES or depth > MAX_DEPTH:
            start = node.start_mark.index
            raise YamlProblem("SYN401", start, start + 1, _TOO_LARGE, "is this the right file?")
        if isinstance(node, yaml.ScalarNode) and node.tag in _SCALARS:
            return self._scalar(node)
        if isinstance(node, yaml.SequenceNode) and node.tag == _CORE + "seq":
            self._members[id(node)] = {place: (item, item) for place, item in enumerate(node.value)}
            return [self._read(item, depth + 1) for item in node.value]
        if isinstance(node, yaml.MappingNode) and node.tag == _CORE + "map":
            pairs = self._members[id(node)] = self._pairs(node, depth)
            return {key: self._read(value, depth + 1) for key, (_, value) in pairs.items()}
        return self._foreign(node)

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        if node.tag == _CORE + "str" or len(node.value) > _MAX_DIGITS:
            if _SURROGATE.search(node.value):
                message = "not valid YAML: half a surrogate pair, not a character"
                raise _problem("SYN401", node, message, "write the character itself")
            return node.value
        try:
            return self._loader.construct_object(node)
        except (ValueError, LookupError, OverflowError):
            kind = node.tag.removeprefix(_CORE)
            message = f"not valid YAML: {clipped(node.value, 40)} is no {kind}"
            raise _problem("SYN401", node, message, f"remove the tag !!{kind}") from None

    def _pairs(self, node: yaml.MappingNode, depth: int) -> _Pairs:
        pairs: _Pairs = {}
        merged: _Pairs = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                message = "not valid YAML: a key that is a list or mapping"
                raise _problem("SYN401", key_node, message, "a key is a word; put text with brackets in quotes")
            if key_node.value == "<<" and key_node.style is None:
                for mapping in value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]:
                    if not isinstance(self._read(mapping, depth + 1), dict):
                        raise _problem("SYN401", value_node, "not valid YAML: << can only merge mappings", "remove it")
                    merged = self._members[id(mapping)] | merged
                continue
            key = self._read(key_node, depth + 1)
            if key in pairs:
                line = self.lines.line(pairs[key][0].start_mark.index)
                message = f"the key {clipped(str(key))} appears twice, first in line {line}"
                hint = "remove one of them: the last one silently wins"
                self.problems.append(_problem("SYN403", key_node, message, hint))
            pairs[key] = key_node, value_node
        return merged | pairs

    def _foreign(self, node: yaml.Node) -> None:
        tag = node.tag
        shown = clipped(f"!!{tag.removeprefix(_CORE)}" if tag.startswith(_CORE) else tag)
        why = "it could run code and is ignored" if "python" in tag else "it is not core YAML and is not read"
        if tag in (*_SCALARS, _CORE + "seq", _CORE + "map"):
            why = "the value is of another kind"
        problem = _problem("SYN402", node, f"the tag {shown}: {why}", "remove the tag; !!null is all a meta file needs")
        if match := _TAG.search(self.lines.text, problem.start, problem.end):
            problem.start, problem.end = match.span()
        self.problems.append(problem)

    def _explained(self, error: Exception) -> YamlProblem:
        if isinstance(error, yaml.reader.ReaderError):
            start = error.position
            what = f"not valid YAML: an invisible control character ({printable(self.lines.text[start])})"
            return YamlProblem("SYN401", start, start + 1, what, "remove it")
        if not isinstance(error, yaml.MarkedYAMLError):
            start = self._loader.get_mark().index
            what = "not valid YAML: an escape or directive out of range"
            return YamlProblem("SYN401", start, start + 1, what, "write the character itself")
        said, end = f"{error.context or ''}: {error.problem or ''}", len(self.lines.text)
        rows = [(*row, error.context_mark) for row in _BEGUN] + [(*row, error.problem_mark) for row in _SAID]
        for pattern, message, hint, mark in rows:
            if match := re.search(pattern, said):
                detail = clipped(match[match.lastindex or 0].strip(": "), 120)
                start = end if mark is None else min(mark.index, end)
                return YamlProblem("SYN401", start, start + 1, f"not valid YAML: {message.format(detail)}", hint)
        raise AssertionError(said)


# What PyYAML says, in plain words: pattern, message, hint; the first table points at where it all began.
_BEGUN = (
    (r"could not find expected ':'", "a key without a colon", "write key: value, with a space in between"),
    (r"quoted scalar.*unexpected end", "a quote that is never closed", "close it, or remove it"),
    (r"expected ',' or '[\]}]', but got '<stream end>'", "a bracket that is never closed", "close it"),
)
_SAID = (
    (r"expected ' ', but found '\\t'", "a tab right after a tag or anchor", "write a space instead"),
    (r"found character '\\t'", "a tab in the indentation", "indent with spaces"),
    (r"found character '(.+)' that", "text cannot begin with {}", "put the text in quotes"),
    (r"mapping values are not", "a colon where no key is possible",
     'indent this line like its neighbours; put text that holds ": " in quotes'),
    (r"expected ',' or '[\]}]'", "a comma or the closing bracket is missing before this", "add it"),
    (r"expected <block end>|expected the node content|expected '<document start>'",
     "unexpected content here",
     "check the indentation; put text that contains quotes or brackets in quotes as a whole"),
    (r"undefined alias", "an alias without an anchor", "put text that begins with * in quotes"),
    (r"duplicate anchor", "an anchor that is defined twice", "put text that begins with & in quotes"),
    (r"escape (character|sequence)", "a backslash that does not begin an escape", "write two, or use single quotes"),
    (r"single document", "a second document begins here", "a file holds one document: remove this line"),
    (r"(.*)", "{}", "compare it with the organisers' template"),
)  # fmt: skip
