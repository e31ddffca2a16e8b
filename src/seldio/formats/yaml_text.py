"""YAML as plain values and their places; the one home of PyYAML.

Nothing but the core of YAML is read: null, booleans, numbers, text, lists and mappings. No tag makes an
object, dates stay text, and limits hold for size, depth and what aliases would grow to. Keys that appear twice (SYN403)
and a byte order mark (SYN103) are reported and read over; after every other error there is no document.

PyYAML refuses tabs before comments and inside a line (yaml/pyyaml#450, #594). YAML allows them and libyaml
reads them; the organisers' template for Task 3 has them; so they are read here.

ruamel.yaml, which keeps places, was measured in its stead (0.19.1): it refuses the same tabs, and with them all three
templates; it ends at the first key that appears twice, knows where a value begins but not where it ends, reads ``yes``
as text where the organisers' PyYAML reads true, and takes 1.9 times as long. Limits, aliases, tags and
messages would have to stay here as they are: that is all of this module but the class ``_Loader``.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from typing import Any, NamedTuple, NoReturn

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
_MERGE = _CORE + "merge"
_SCALARS = frozenset(_CORE + name for name in ("null", "bool", "int", "float", "str"))
_TAG = re.compile(r"![^\s,\[\]{}]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
# What PyYAML raises; all but the first are slips of its own.
_FAILURES = (yaml.YAMLError, ValueError, OverflowError, LookupError)


class YamlProblem(NamedTuple):
    """A problem between two offsets."""

    code: str
    start: int
    end: int
    message: str
    hint: str


class _RefusedError(Exception):
    def __init__(self, *problem: Any) -> None:
        self.problem = YamlProblem(*problem)


def _span(lines: TextLines, start: int, end: int) -> Place:
    line, column, _, _, excerpt = lines.place(start, start)
    text = lines.text[start : min(end, start + len(excerpt) - column + 1, start + _CLIP)]
    text = text.rstrip() or text
    return Place(line, column, column + len(text), text, excerpt)


_Members = dict[int, dict[Any, tuple[yaml.Node, yaml.Node]]]


class YamlDocument:
    """A value read from YAML, and where each part of it stands."""

    __slots__ = ("_members", "_root", "_source", "value")

    def __init__(self, value: Any, source: TextLines, root: yaml.Node | None, members: _Members) -> None:
        self.value = value
        self._source, self._root, self._members = source, root, members

    def locate(self, pointer: Pointer, key: bool = False) -> Place:
        """The place of the value that keys and indices lead to; with *key*, of the key before it.

        A value of several lines ends with its first one. Of a key that appears twice, the last counts.
        A pointer that leads nowhere is a KeyError.
        """
        name = node = self._root
        for step in pointer:
            name, node = self._members[id(node)][step]
        target = name if key else node
        if target is None:  # an empty file
            return _span(self._source, 0, 0)
        return _span(self._source, target.start_mark.index, target.end_mark.index)


def parse(data: bytes, path: str, sink: Sink) -> YamlDocument | None:
    """Read one YAML document; None, after a finding of severity error, where it cannot be read."""
    if len(data) > MAX_BYTES:
        message = f"{len(data):,} bytes of YAML: more than {MAX_BYTES:,} are not read"
        sink(READER_RULES["SYN404"].at(path, message, "a meta file has about 4,000 bytes; is this the right file?"))
        return None
    if data.startswith(BOM_UTF8):
        sink(READER_RULES["SYN103"].at(
            path, "the file begins with a byte order mark", "save it as UTF-8 without BOM", 1, 1, "\ufeff", "",
            end_column=1, fixable=False,
        ))  # fmt: skip
    if (finding := encoding_problem(path, data)) is not None:
        sink(finding)
        return None
    source = TextLines(data.removeprefix(BOM_UTF8).decode())
    builder = _Builder(source)
    document = builder.run()
    for code, start, end, message, hint in builder.problems:
        line, column, _, value, excerpt = _span(source, start, end)
        sink(READER_RULES[code].at(path, message, hint, line, column, value, excerpt, fixable=False))
    return document


class _Loader(yaml.SafeLoader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = self.count = 0

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

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.count += 1
        self.depth += 1
        if self.depth > MAX_DEPTH or self.count > MAX_VALUES:
            start = self.peek_event().start_mark.index  # type: ignore[no-untyped-call]  # not typed there
            what = f"{MAX_DEPTH} levels" if self.depth > MAX_DEPTH else f"{MAX_VALUES:,} values"
            hint = "no meta file is that deep or long; is this the right file?"
            raise _RefusedError("SYN404", start, start + 1, f"more than {what}; reading stopped there", hint)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


_Loader.yaml_implicit_resolvers = {  # without dates and "=", which are not of the core
    first: [(tag, pattern) for tag, pattern in patterns if tag in _SCALARS or tag == _MERGE]
    for first, patterns in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _is_merge(node: yaml.Node) -> bool:
    return node.tag == _MERGE and node.value == "<<"


class _Builder:
    def __init__(self, source: TextLines) -> None:
        self.source = source
        self.problems: list[YamlProblem] = []
        self.members: _Members = {}
        self._depth = self._count = 0  # of values, aliases written out

    def run(self) -> YamlDocument | None:
        """The document; None where a problem is worse than a key that appears twice."""
        root: yaml.Node | None = None
        value: Any = None
        try:
            self.loader = _Loader(self.source.text)
            root = self.loader.get_single_node()
            if root is not None:
                value = self.value(root)
        except _RefusedError as refusal:
            self.problems.append(refusal.problem)
        except _FAILURES as error:
            self.problems.append(self.explain(error))
        if any(problem.code != "SYN403" for problem in self.problems):
            return None
        return YamlDocument(value, self.source, root, self.members)

    def explain(self, error: Exception) -> YamlProblem:
        """Translate PyYAML's error into plain words."""
        if isinstance(error, yaml.reader.ReaderError):
            start = error.position
            what = f"not valid YAML: an invisible control character ({printable(self.source.text[start])})"
            return YamlProblem("SYN401", start, start + 1, what, "remove it")
        if not isinstance(error, yaml.MarkedYAMLError):
            start = self.loader.get_mark().index
            what = "not valid YAML: an escape or directive out of range"
            return YamlProblem("SYN401", start, start + 1, what, "write the character itself")
        said, end = f"{error.context or ''}: {error.problem or ''}", len(self.source.text)
        rows = [(*row, error.context_mark) for row in _BEGUN] + [(*row, error.problem_mark) for row in _SAID]
        for pattern, message, hint, mark in rows:
            if match := re.search(pattern, said):
                detail = clipped(match[match.lastindex or 0].strip(": "), 120)
                start = end if mark is None else min(mark.index, end)
                return YamlProblem("SYN401", start, start + 1, f"not valid YAML: {message.format(detail)}", hint)
        raise AssertionError(said)

    def value(self, node: yaml.Node) -> Any:
        """The value of a node; aliases are written out, within the limits."""
        self._count += 1
        self._depth += 1
        if self._count > MAX_VALUES or self._depth > MAX_DEPTH:
            message = f"aliases that grow to more than {MAX_VALUES:,} values or {MAX_DEPTH} levels"
            self.refuse("SYN404", node, message, "write the values out instead of the aliases")
        value = self.content(node)
        self._depth -= 1
        return value

    def content(self, node: yaml.Node) -> Any:
        """The value of a node by its kind."""
        if isinstance(node, yaml.ScalarNode) and node.tag in _SCALARS:
            return self.scalar(node)
        if isinstance(node, yaml.SequenceNode) and node.tag == _CORE + "seq":
            self.members[id(node)] = {place: (item, item) for place, item in enumerate(node.value)}
            return [self.value(item) for item in node.value]
        if isinstance(node, yaml.MappingNode) and node.tag == _CORE + "map":
            self.members[id(node)] = self.pairs(node)
            return {key: self.value(value) for key, (_, value) in self.members[id(node)].items()}
        return node.value if _is_merge(node) else self.foreign(node)

    def scalar(self, node: yaml.ScalarNode) -> Any:
        if node.tag == _CORE + "str" or len(node.value) > _MAX_DIGITS:
            if _SURROGATE.search(node.value):
                message = "not valid YAML: half a surrogate pair, not a character"
                self.refuse("SYN401", node, message, "write the character itself")
            return node.value
        try:
            return self.loader.construct_object(node)
        except (ValueError, LookupError, OverflowError):
            kind = node.tag.removeprefix(_CORE)
            self.refuse(
                "SYN401", node, f"not valid YAML: {clipped(node.value, 40)} is no {kind}", f"remove the tag !!{kind}"
            )

    def pairs(self, node: yaml.MappingNode) -> dict[Any, tuple[yaml.Node, yaml.Node]]:
        """The key and value nodes of a mapping, with what ``<<`` takes over."""
        values: dict[Any, tuple[yaml.Node, yaml.Node]] = {}
        taken: dict[Any, tuple[yaml.Node, yaml.Node]] = {}
        for key_node, value_node in node.value:
            if _is_merge(key_node):
                taken = self.merged(value_node) | taken
                continue
            key = self.key(key_node)
            if key in values:
                line = self.source.line(values[key][0].start_mark.index)
                message = f"the key {clipped(str(key))} appears twice, first in line {line}"
                start, end = key_node.start_mark.index, key_node.end_mark.index
                hint = "remove one of them: the last one silently wins"
                self.problems.append(YamlProblem("SYN403", start, end, message, hint))
            values[key] = key_node, value_node
        return taken | values

    def key(self, node: yaml.Node) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            message = "not valid YAML: a key that is a list or mapping"
            self.refuse("SYN401", node, message, "a key is a word; put text with brackets in quotes")
        return self.value(node)

    def merged(self, node: yaml.Node) -> dict[Any, tuple[yaml.Node, yaml.Node]]:
        """The pairs of one mapping or a list of them, the first ones winning."""
        taken: dict[Any, tuple[yaml.Node, yaml.Node]] = {}
        for source in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if not isinstance(self.value(source), dict):
                self.refuse("SYN401", node, "not valid YAML: << can only merge mappings", "remove it")
            taken = self.members[id(source)] | taken
        return taken

    def foreign(self, node: yaml.Node) -> None:
        """Report a tag that is not core YAML, or precedes the wrong kind of value."""
        tag = node.tag
        shown = clipped(f"!!{tag.removeprefix(_CORE)}" if tag.startswith(_CORE) else tag)
        why = "it is not core YAML and is not read"
        if "python" in tag:
            why = "it could run code and is ignored"
        elif tag in _SCALARS or tag in (_CORE + "seq", _CORE + "map"):
            why = "the value is of another kind"
        match = _TAG.search(self.source.text, node.start_mark.index, node.end_mark.index)
        start, end = match.span() if match else (node.start_mark.index, node.end_mark.index)
        hint = "remove the tag; !!null is all a meta file needs"
        self.problems.append(YamlProblem("SYN402", start, end, f"the tag {shown}: {why}", hint))

    def refuse(self, code: str, node: yaml.Node, message: str, hint: str) -> NoReturn:
        raise _RefusedError(code, node.start_mark.index, node.end_mark.index, message, hint)


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
