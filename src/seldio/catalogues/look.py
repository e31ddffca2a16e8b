"""What the files of a source are: labels of which format, questions or predictions, or none of these; and reading them.

Every verb begins here: a file that begins or is called like JSON of labels, Parquet, questions or predictions is
recognised by that; tables of labels are grouped, and each group is distinguished by what is in its rows (``detect``).
"""

from __future__ import annotations

import dataclasses
import os
import posixpath
import re
import shlex
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache
from typing import BinaryIO, Literal, NamedTuple, Protocol, cast

from seldio import formats
from seldio.errors import InvalidData, UsageError
from seldio.files.names import suffix_of
from seldio.findings import Finding, Severity, Sink
from seldio.formats import LabelFormat, LabelReading, TextFile, cells, stem_of
from seldio.formats.base import PARQUET_MAGIC
from seldio.formats.datasets import COUNTED
from seldio.formats.detect import Candidate, Detection, Wanted, choose_layout, closest, detect, means_the_same, offered
from seldio.formats.diagnosis import plain_lines
from seldio.formats.dialects import DIALECTS, OUTSIDE
from seldio.formats.evidence import signature
from seldio.formats.label_csv import Dialect
from seldio.reader_rules import READER_RULES, reader_rule
from seldio.schema.events import COLUMNS
from seldio.text import clipped, plural
from seldio.vocabularies import short, vocabulary

#: What ends so is left alone, unless it begins like labels of a tool.
TEXTS = (".txt", ".tsv")
PARQUET_SUFFIX = ".parquet"


@dataclasses.dataclass(frozen=True)
class Recognised:
    """A group of files of one format, read."""

    reading: LabelReading  # their rows
    named: bool  # whether the user named the format
    evidence: str  # why the format was chosen; empty where it was named or where no file has a row


def clip_names(names: Sequence[str]) -> list[str]:
    """A clip name for each file name: the stem, with its folders where stems repeat."""
    stems = [stem_of(posixpath.basename(name)) for name in names]
    counts = Counter(stems)
    clips = [stem_of(name) if counts[stem] > 1 else stem for name, stem in zip(names, stems, strict=True)]
    # a table holds text; bytes of a name that are not UTF-8 are escaped
    return [clip if clip.isascii() else clip.encode(errors="backslashreplace").decode() for clip in clips]


@cache
def suffixes() -> tuple[str, ...]:
    """How names of label files end; everything else in a folder is left alone."""
    found = dict.fromkeys(one.suffix for one in formats.index() if one.holds == "events")
    return tuple(suffix for suffix in found if suffix not in (*TEXTS, PARQUET_SUFFIX))


def read_files(files: Sequence[TextFile], sink: Sink, format: LabelFormat | None = None) -> list[Recognised]:
    """Read *files*, each under its right format; what is wrong, and what stays ambiguous, goes to *sink*.

    Files of one folder with the same number of columns, header and kind of numbers are looked at
    together. A group that the evidence does not decide is read like the rest of its folder, or like
    files of the same shape elsewhere; if those do not decide either, it is a finding and not read.
    """
    if format is not None:
        files = [in_utf8(file, sink) for file in files] if format.suffix == ".csv" else files
        groups = [[file] for file in files] if format.role == "table" else [list(files)]
        return [Recognised(format.read(group, sink), True, "") for group in groups if group]
    found = files_by_layout(usable(files, sink), sink).layouts
    return [Recognised(format.read(members, sink), False, why) for format, members, why in found]


def usable(files: Iterable[TextFile], sink: Sink) -> list[TextFile]:
    """*files* in UTF-8; those that are not text, and JSON without labels, become findings instead."""
    kept = []
    for file in [in_utf8(file, sink) for file in files]:
        if not _is_parquet(file) and (problem := cells.encoding_problem(file.path, file.data)) is not None:
            sink(problem)
        elif not _foreign_json(file, sink):
            kept.append(file)
    return kept


class ByLayout(NamedTuple):
    """What label files are."""

    layouts: list[tuple[LabelFormat, list[TextFile], str]]  # the files of each format, with the evidence for it
    lists: list[TextFile]  # tables of words, which are passed over


def files_by_layout(
    files: Sequence[TextFile], sink: Sink, wanted: Wanted | None = None, *, others: bool = False
) -> ByLayout:
    """Usable *files* by their formats, each format with its evidence; nothing is read but what they hold.

    Each Parquet table is taken by itself, as it holds many clips.

    Files whose format the evidence does not decide are findings and left out. Tables of words are passed over where
    there is anything else, be it elsewhere (*others*). Where it is known what the files are *wanted* for, that
    decides between formats that the evidence leaves, which is a finding as well.
    """
    groups = _groups(files)
    found = {key: None if by_content(group[0]) else _detected(group) for key, group in groups.items()}
    by_tree = _told_by_tree(found, groups)
    found |= by_tree
    choices = {
        key: choose_layout(own, wanted)
        for key, own in found.items() if own is not None and wanted is not None and key not in by_tree
    }  # fmt: skip
    found |= {
        key: choice.detection for key, choice in choices.items() if cast("Detection", found[key]).format is not None
    }
    chosen: dict[tuple[str, str], tuple[list[TextFile], str]] = {}
    words = {key for key, own in found.items() if own is not None and own.foreign and not own.empty}
    names = {_without_numbers(file) for key in groups.keys() - words for file in groups[key]}
    lists: list[TextFile] = []
    for key, group in groups.items():
        if key in words and (names or others) and all(_is_list(file, names) for file in group):
            sink(_passed_over(group))
            lists += group
            continue
        format, why = _choice(key, found, groups)
        choice = choices.get(key)
        if (
            choice is not None
            and choice.detection.format is not None
            and (format is None or found[key] is choice.detection)
        ):
            format, why = choice.detection.format, choice.detection.evidence
            choice.report(group[0].path, sink)
        if format is None:
            _report_undecided(group, cast("Detection", found[key]), sink, wanted)
            continue
        if wanted is None and key not in by_tree:
            _report_alike(group, found[key], format, sink)
        alone = key[0] if format.role == "table" else ""
        chosen.setdefault((format.name, alone), ([], why))[0].extend(group)
    order = {file.path: number for number, file in enumerate(files)}
    layouts = [
        (formats.get(name), sorted(members, key=lambda file: order[file.path]), why)
        for (name, _), (members, why) in chosen.items()
    ]
    return ByLayout(layouts, lists)


Key = tuple[str, int, str, bool]
_HEAD = 4096


def _groups(files: Iterable[TextFile]) -> dict[Key, list[TextFile]]:
    """Files by folder, width, header and kind of numbers; files without rows have width 0."""
    groups: dict[Key, list[TextFile]] = {}
    for file in files:
        name = by_content(file)
        shape = (-1, name, False) if name else signature(file.data)
        place = file.path if name == "parquet" else posixpath.dirname(file.name)  # in an export, paths are others
        groups.setdefault((place, *shape), []).append(file)
    return groups


def by_content(file: TextFile) -> str:
    """The format shown by the first bytes, or by the name if these do not; empty if neither shows it."""
    if _is_parquet(file):
        return "parquet"
    return file.told.name if file.told is not None and file.told.holds == "events" else ""


def _is_parquet(file: TextFile) -> bool:
    """Whether a file begins like Parquet, or has the name of one, be it empty or damaged."""
    return file.data.startswith(PARQUET_MAGIC) or file.name.lower().endswith(PARQUET_SUFFIX)


def _detected(group: Sequence[TextFile]) -> Detection:
    """What label files seem to be; nothing of labels where most of their cells are words."""
    found = detect(group)
    return Detection(found.sample, empty=found.empty, foreign=True) if all(map(wordy, group)) else found


_WORD = re.compile(rb"(?i)(?!(nan|inf|infinity)\Z)[a-z]")


def wordy(file: TextFile) -> bool:
    """Whether most cells of a table are words, so that it holds no labels."""
    lines = [line for line in plain_lines(file.data[:_HEAD]).split(b"\n") if line.strip()][1:]
    cells = [cell.strip(b' "') for line in lines for cell in re.split(rb"[,;\t|]", line)]
    return 2 * sum(_WORD.match(cell) is not None for cell in cells) > len(cells)


def _choice(
    key: Key, found: dict[Key, Detection | None], groups: dict[Key, list[TextFile]]
) -> tuple[LabelFormat | None, str]:
    """The format of a group with the reason for it, looking around where it does not tell by itself."""
    own = found[key]
    if own is None:
        return formats.get(key[2]), "its first bytes"
    if own.format is not None:
        return own.format, own.evidence
    if own.foreign and not own.empty:
        return None, ""
    around = [other for other in found if other[0] == key[0]] + list(found)
    around.sort(key=lambda other: -len(groups[other]) if other[0] == key[0] else 0)
    for other in around:
        detection = found[other]
        if detection is None or detection.format is None:
            continue
        fits = any(candidate.format == detection.format for candidate in own.candidates)
        if own.empty or fits or (other[0] == key[0] and len(groups[other]) > len(groups[key])):
            return detection.format, f"like {groups[other][0].path}"
    # files without a single row mean the same in every format
    return (DIALECTS[0], "") if own.empty else (None, "")


_COUNTED = [one for one in DIALECTS if any(one.name in row.dialects for row in COUNTED.values())]


def _told_by_tree(
    found: Mapping[Key, Detection | None], groups: Mapping[Key, Sequence[TextFile]]
) -> dict[Key, Detection]:
    """What groups are by their folders and names, where these are those of a dataset whose recordings are known.

    What is in the files then says how they deviate from it, and never that they are something else. Outside of
    folders of labels, what they hold has to mean the same, or files next to them have to be sure labels of it: outputs
    have these names, too.
    """
    unsure = {
        key: own for key, own in found.items()
        if own is not None and own.sample.rows and not own.sample.indexed and own.sample.shape is None
        and not own.foreign and own.sample.width in {len(one.columns) for one in _COUNTED}
        and (own.format is None or own.alike or own.format not in _COUNTED)
        # an own format without folders of its own may lie in any
        and not any(one.format in OUTSIDE and one.format not in _COUNTED for one in own.possible)
        and not (own.format is not None and own.format.header)
    }  # fmt: skip
    if not unsure:
        return {}
    from seldio.catalogues.trees import named_labels

    tree, labels = named_labels([file.path for group in groups.values() for file in group])
    names = {name for row in COUNTED.values() if row.related & tree.row.related for name in row.dialects}
    told = {}
    for key, own in unsure.items():
        sure = [labels[file.path] for file in groups[key] if file.path in labels]
        format = next((one for one in _COUNTED if one.name in names and len(one.columns) == own.sample.width), None)
        if format is None or 2 * len(sure) <= len(groups[key]):
            continue
        fits = own.format is None or format in [one.format for one in own.possible]
        if not fits and format.name not in tree.row.dialects:
            continue  # a related dataset has as many columns, but what they hold contradicts it
        same = own.format is not None and own.format.role == "label" and means_the_same(own.format, format)
        beside = (one for at, one in found.items() if at[0] == key[0] and one is not None and not one.alike)
        if not (all(sure) or same or any(one.format == format for one in beside)):
            continue
        why = Candidate(format, 0, (f"{tree.row.title} by its {tree.evidence}",))
        told[key] = dataclasses.replace(own, format=format, candidates=(why,), possible=(why,), alike=())
    return told


def in_utf8(file: TextFile, sink: Sink) -> TextFile:
    """A file in UTF-16 as the same in UTF-8, with a finding; any other as it is."""
    text = None if _is_parquet(file) else cells.from_utf16(file.data)
    if text is None:
        return file
    problem = cells.encoding_problem(file.path, file.data)
    assert problem is not None
    sink(dataclasses.replace(problem, fixable=True))
    return dataclasses.replace(file, data=text.encode(), stored=file.data)


def _foreign_json(file: TextFile, sink: Sink) -> bool:
    """Whether a file is JSON, or wants to be, and not that of labels; a finding says what it holds or where it breaks.

    Its commas would be counted as those of a table otherwise, and the wrong thing be said about it.
    """
    start = file.data.lstrip()[:1]
    named = file.name.lower().endswith((".json", ".jsonl", ".ndjson"))
    likely = not start or start in (b"{", b"[") or (named and start not in b"+-.0123456789")
    silent = not start and not file.name.lower().endswith((".jsonl", ".ndjson"))  # of labels: nothing sounds
    if silent or not likely or by_content(file):
        return False
    from seldio.formats.json_records import in_lines
    from seldio.formats.json_text import parse, parse_lines

    lines = in_lines(file.data, file.path)
    wrong: list[Finding] = []
    documents = list(parse_lines(file.data, file.path, wrong.append)) if lines else [
        parse(file.data, file.path, wrong.append)
    ]  # fmt: skip
    if wrong:
        for finding in wrong:
            sink(finding)
        return True
    value = documents[0].value if documents and documents[0] is not None else None
    message = f"no known format: {_content(value, bool(documents), lines)}"
    from seldio.formats.own_keys import proposal

    hint = (isinstance(value, dict | list) and proposal(file.data, file.path)) or _LAYOUTS
    sink(READER_RULES["SYN901"].at(file.path, message, hint, 1))
    return True


_LAYOUTS = "seldio formats lists the formats; --format NAME reads the file as one of them"


def _own_columns(path: str, width: int) -> str:
    """Return the command that describes columns of one's own, where the file is a table on the disk."""
    if width < 2 or suffix_of(path) not in ("csv", "tsv", "txt") or not os.path.isfile(path):  # noqa: PTH113
        return _LAYOUTS
    return f"seldio new {shlex.quote(path)} describes columns of your own; {_LAYOUTS}"


def _content(value: object, there: bool, lines: bool) -> str:
    """What JSON holds, in words; *lines*: *value* is the first of many."""
    first = value[0] if isinstance(value, list) and value else value
    if not there:
        return "no record in the file"
    if not isinstance(first, dict) or not first:
        return "JSON without an object that has keys"
    what = "JSON records" if lines or isinstance(value, list) else "a JSON object"
    more = f", and {len(first) - 8} more" if len(first) > 8 else ""
    return f"{what} with the keys {', '.join(clipped(key, 30) for key in list(first)[:8])}{more}"


def _without_numbers(file: TextFile) -> str:
    """What is alike in the names of the label files of a dataset; a list of rooms is called otherwise."""
    return re.sub(r"\d+", "", stem_of(posixpath.basename(file.name)))


def _is_list(file: TextFile, names: Container[str]) -> bool:
    """Whether a table of words has no column of labels in its header, and is not called like label files.

    *names*: what these are called, without numbers.
    """
    if _without_numbers(file) in names:
        return False
    header = plain_lines(file.data[:_HEAD]).partition(b"\n")[0].decode(errors="replace").lower()
    return _TITLES.isdisjoint(cell.strip(' "') for cell in re.split(r"[,;\t|]", header))


#: How columns of labels are called; a list of clips has a column of these, too.
_TITLES = {"time", "start", "end", "label", "class", *COLUMNS, *(one for d in DIALECTS for one in d.titles)} - {"clip"}


def _passed_over(group: Sequence[TextFile]) -> Finding:
    """SYN901 as a warning: a table of words, such as a list of rooms, where there are labels or questions."""
    more = f", and {plural(len(group) - 1, 'more file')} like it" if len(group) > 1 else ""
    message = f"passed over: a table of words{more}, which no format of labels has"
    hint = "if it holds labels, convert it separately, with --format NAME"
    return dataclasses.replace(READER_RULES["SYN901"].at(group[0].path, message, hint, 1), severity=Severity.WARNING)


def _report_undecided(group: Sequence[TextFile], detection: Detection, sink: Sink, wanted: Wanted | None) -> None:
    """SYN901: no format fits; SYN903: several do."""
    more = f" ({plural(len(group) - 1, 'more file')} like it)" if len(group) > 1 else ""
    sample, shown, column = detection.sample, offered(detection, wanted)[:4], None
    if sample.indexed:
        code, column = "SYN114", 1
        message = "the first column has no name: it is a row index, not data"
        hint = "in pandas, use to_csv(path, index=False), with header=False if the format has no header"
    elif sample.shape is not None:
        code, column, message = sample.shape.code, 1, sample.shape.message
        names = " or ".join(dict.fromkeys(one.format.name for one in shown))
        hint = f"{sample.shape.hint}; choose the format with --format ({names} would fit)"
    elif sample.blank:
        hint = "leave out rows in which nothing was detected"
        for file in group:
            sink(reader_rule("LAB315").at(file.path, "every cell of every row is 0", hint, 1))
        return
    elif not detection.candidates:
        near = "" if detection.foreign else closest(sample)
        code, message = "SYN901", f"no known format: rows of {plural(sample.width, 'column')}"
        ways = _own_columns(group[0].path, sample.width)
        hint = f"{near}; {ways}" if near else ways
    else:
        code, message = "SYN903", f"this may be {' or '.join(one.format.name for one in shown)}"
        why = (f"{one.format.name}: {', '.join(one.evidence) or 'the number of columns'}" for one in shown)
        hint = f"choose one with --format. {'; '.join(why)}"
    sink(reader_rule(code).at(group[0].path, message + more, hint, 1, column, fixable=False))


def _report_alike(group: Sequence[TextFile], detection: Detection | None, format: LabelFormat, sink: Sink) -> None:
    """SYN902: the format is likely, and another one cannot be ruled out."""
    if detection is None or not isinstance(format, Dialect) or detection.format != format:
        return
    others: list[LabelFormat] = [
        other for other in detection.alike if other.vocabulary != format.vocabulary or not means_the_same(other, format)
    ]
    others += _years_alike(format, detection)
    if others:
        names = " or ".join(dict.fromkeys(f"{other.name} (classes of {short(other.vocabulary)})" for other in others))
        message = f"read as {format.name} (classes of {short(format.vocabulary)}); it could also be {names}"
        hint = f"if so, use --format {others[0].name}. Evidence for {format.name}: {detection.evidence or 'weak'}"
        sink(READER_RULES["SYN902"].at(group[0].path, message, hint, 1))


_CLASSES = re.compile(r"([\w.-]+) \(classes of ([\w.-]+)\)")


def check_classes(findings: Iterable[Finding], told: bool) -> None:
    """See that class numbers can be those of one list alone, before their names go to others.

    *told*: names of folders and files tell the dataset, so that only formats of the user may have other classes.

    Raises:
        UsageError: they can be those of several.
    """
    own = {dialect.vocabulary for dialect in OUTSIDE}
    for finding in findings:
        first, *others = _CLASSES.findall(finding.message) if finding.code == "SYN902" else [("", "")]
        lists = dict([first, *(one for one in others if one[1] != first[1] and (not told or one[1] in own))])
        if len(lists) > 1:
            names = " or ".join(f"{classes} (--format {name})" for name, classes in lists.items())
            raise UsageError(f"{finding.path}: the class numbers may be those of {names}: name the format")


def _years_alike(format: Dialect, detection: Detection) -> list[LabelFormat]:
    """The same columns with the class list of another year, where the names of the files do not tell the year."""
    at = format.index("class_id")
    seen = detection.sample.columns[at].values if at is not None and at < len(detection.sample.columns) else ()
    if not len(seen) or any(re.search(r"\b20\d\d\b", why) for why in detection.candidates[0].evidence):
        return []
    return [
        dataclasses.replace(format, name=alias, vocabulary=classes)
        for alias, classes in format.alias_vocabularies.items()
        if alias.startswith("dcase") and max(seen) < len(vocabulary(classes))
    ]


# --- Parquet files, most of which are none of seldio's ----------------------------------------------

#: What a table holds; *damaged*: its footer cannot be read, so that it may hold anything.
Content = Literal["labels", "items", "other", "damaged"]


class NamedFile(Protocol):
    """A file of a source."""

    def head(self, count: int) -> bytes:
        """Its first bytes."""

    @property
    def name(self) -> str:
        """POSIX path below the source's root."""

    def open(self) -> BinaryIO:
        """A seekable stream of its content."""


def content(file: NamedFile) -> Content:
    """What a Parquet file holds.

    Labels are a table with a column ``clip`` of which most columns are those of an event table, so that one of a wrong
    type or a strange name is told of. Items are questions or predictions.
    """
    from seldio.files.exports import parquet_file
    from seldio.formats.parquet import DAMAGE

    try:
        with file.open() as stream:
            schema = parquet_file(stream).schema_arrow
    except (*DAMAGE, InvalidData):
        return "damaged"
    known = sum(name in COLUMNS for name in schema.names)
    if "clip" in schema.names and 1 < known > len(schema.names) / 2:
        return "labels"
    return "items" if formats.of_table(schema) is not None else "other"


def is_table(file: NamedFile, *contents: Content) -> bool:
    """Whether a file is called Parquet and holds one of *contents*."""
    return file.name.lower().endswith(PARQUET_SUFFIX) and content(file) in contents


def begins_like_numbers(file: NamedFile) -> bool:
    """Whether the first byte of a file is a digit, as of no question and of no table with names of its columns."""
    return file.head(1).isdigit()


def named_like_labels(file: NamedFile) -> bool:
    """Whether a file may hold labels, by its name; of text files, by how they begin."""
    name = file.name.lower()
    if not name.endswith(TEXTS):
        return name.endswith(suffixes())
    try:
        head = file.head(_HEAD)
    except InvalidData:  # one that cannot be opened is no label file
        return False
    return formats.of_tool(head, file.name)
