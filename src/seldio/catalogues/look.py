"""Detect the files of a source (labels of which format, questions, predictions, or none of these) and read them.

Every verb begins here: a file that begins or is called like JSON of labels, Parquet, questions or predictions is
recognised by that; tables of labels are grouped, and each group is distinguished by what is in its rows (``detect``).
"""

from __future__ import annotations

import dataclasses
import os
import posixpath
import re
import shlex
from collections.abc import Container, Iterable, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Literal

from seldio import formats
from seldio.errors import InvalidData, UsageError
from seldio.files import Entry
from seldio.files.names import suffix_of
from seldio.findings import Finding, Severity, Sink
from seldio.formats import LabelFormat, TextFile, cells, stem_of
from seldio.formats.base import PARQUET_MAGIC
from seldio.formats.detect import Detection, LabelRows, closest, detect, means_the_same, width_and_header
from seldio.formats.dialects import DIALECTS, OUTSIDE
from seldio.formats.label_csv import Dialect
from seldio.reader_rules import READER_RULES
from seldio.schema.events import COLUMNS
from seldio.text import clipped, listed, plural, printable
from seldio.vocabularies import short, vocabulary

if TYPE_CHECKING:
    from seldio.scores.seld.join import Wanted

#: What ends so is left alone, unless it begins like labels of a tool.
TEXTS = (".txt", ".tsv")
PARQUET_SUFFIX = ".parquet"


@cache
def suffixes() -> tuple[str, ...]:
    """Return how names of label files end; everything else in a folder is left alone."""
    every = dict.fromkeys(listing.suffix for listing in formats.index() if listing.holds == "events")
    return tuple(suffix for suffix in every if suffix not in (*TEXTS, PARQUET_SUFFIX))


def usable(files: Iterable[TextFile], sink: Sink) -> list[TextFile]:
    """Return *files* in UTF-8; those that are not text, and JSON without labels, become findings instead."""
    texts = []
    for file in [in_utf8(file, sink) for file in files]:
        if not _is_parquet(file) and (problem := cells.encoding_problem(file.path, file.data)) is not None:
            sink(problem)
        elif not _foreign_json(file, sink):
            texts.append(file)
    return texts


@dataclasses.dataclass(eq=False)
class Alike:
    """Files of one folder with rows of one shape, which are the same kind of thing."""

    place: str  # their folder; of a table of many clips, its path
    shown: str  # the format that their first bytes show; empty for tables of numbers
    shape: tuple[int, str]  # the number of cells of their first row, and the header
    files: list[TextFile] = dataclasses.field(default_factory=list)
    detection: Detection = dataclasses.field(init=False)  # of tables of numbers

    @cached_property
    def words(self) -> bool:
        """Whether they are tables of words."""
        return not self.shown and not self.detection.empty and all(map(wordy, self.files))


def detected(files: Sequence[TextFile]) -> list[Alike]:
    """Detect what usable *files* are; nothing is read but what they hold.

    Each Parquet table is taken by itself, as it holds many clips. If a folder gives too little evidence, its shape is
    looked at in all folders.
    """
    groups: dict[tuple[str, str, tuple[int, str]], Alike] = {}
    for file in files:
        shown = by_content(file)
        place = file.path if shown == "parquet" else posixpath.dirname(file.name)  # in an export, paths are others
        key = (place, shown, (0, "") if shown else width_and_header(file.data))
        groups.setdefault(key, Alike(*key)).files.append(file)
    by_shape: dict[tuple[int, str], list[Alike]] = {}
    for group in (group for group in groups.values() if not group.shown):
        group.detection = detect(group.files)
        by_shape.setdefault(group.shape, []).append(group)
    for same in by_shape.values():
        unsure = [group for group in same if group.detection.remaining]
        if unsure and len(same) > 1:
            every = detect([file for group in same for file in group.files])
            for group in unsure:
                if every.format in [candidate.format for candidate in group.detection.candidates]:
                    group.detection = every
    return [*groups.values()]


#: A format with files, the evidence for it, and whether it is the likeliest of several that remain, which is an error
#: already.
LabelLayout = tuple[LabelFormat, list[TextFile], str, bool]


def files_by_layout(
    groups: Sequence[Alike], sink: Sink, wanted: Wanted | None = None, *, others: bool = False
) -> tuple[list[LabelLayout], list[TextFile]]:
    """Return files by their formats, each format with its evidence; and the tables of words, which are passed over.

    Files of which several formats remain are findings, and so are those that no format fits. Tables of words are
    passed over where there is anything else, be it elsewhere (*others*). Where it is known what the files are *wanted*
    for, that decides between formats that the evidence leaves, which is a finding as well.
    """
    layouts: dict[tuple[str, str, bool], LabelLayout] = {}
    lists: list[TextFile] = []
    read: list[tuple[Alike, LabelFormat]] = []
    beside: list[Alike] = []  # files without rows, or of no known format
    words = any(group.words for group in groups)
    names = {_without_numbers(file) for group in groups if words and not group.words for file in group.files}

    def take(group: Alike, format: LabelFormat, why: str, asked: bool = False) -> None:
        which = (format.name, group.place if format.role == "table" else "", asked)
        layouts.setdefault(which, (formats.get(format.name), [], why, asked))[1].extend(group.files)

    for group in groups:
        if group.shown:
            take(group, formats.get(group.shown), "its first bytes")
            continue
        detection = group.detection
        if group.words and (names or others) and all(_is_list(file, names) for file in group.files):
            sink(_passed_over(group.files))
            lists += group.files
        elif group.words:
            _report_undecided(group.files, Detection(LabelRows(detection.rows.files)), sink, wanted)
        elif (format := _decided(group, sink, wanted)) is not None:
            read.append((group, format))
            take(group, format, detection.evidence)
        elif detection.remaining:
            _report_undecided(group.files, detection, sink, wanted)
            if wanted is None:  # what is found in the rows of the likeliest is worth knowing as well
                remaining = [candidate.format for candidate in detection.candidates]
                names_of_formats = listed([format.name for format in remaining], 4)
                read.append((group, remaining[0]))
                take(group, remaining[0], f"the most specific of {names_of_formats}", True)
        else:
            beside.append(group)
    for group in beside:
        by_place = sorted(read, key=lambda other: (other[0].place != group.place, -len(other[0].files)))
        near, same_format = by_place[0] if by_place else (None, None)
        empty = group.detection.empty
        fewer = near is not None and near.place == group.place and len(near.files) > len(group.files)
        if near is not None and same_format is not None and (empty or fewer):
            take(group, same_format, f"like {near.files[0].path}")
        elif not empty:
            _report_undecided(group.files, group.detection, sink, wanted)
        elif near is None and all(other.detection.empty for other in beside):
            take(group, DIALECTS[0], "")  # files without a single row mean the same in every format
    for _, files, *_ in layouts.values():
        files.sort(key=lambda file: file.name)
    return [*layouts.values()], lists


def _decided(group: Alike, sink: Sink, wanted: Wanted | None) -> Dialect | None:
    """Return the format of files with rows; report SYN902 if another one cannot be ruled out."""
    detection = group.detection
    format, others = wanted.chosen(detection) if wanted is not None else (detection.format, [])
    if format is not None and others:
        names = " or ".join(dict.fromkeys(other.name for other in others))
        message, hint = f"read as {format.name}; the content also fits {names}", f"if so, use --format {others[0].name}"
    elif format is not None and wanted is None:
        for other in detection.alike:
            if other.vocabulary != format.vocabulary or not means_the_same(other, format):
                others.append(other)
        at = format.index("class_id")
        if at is not None and at < detection.rows.width and not re.search(r"\b20\d\d\b", detection.evidence):
            # the class list of another year, where the names of the files do not tell the year
            most = detection.rows.columns[at].ends[1]
            for alias, classes in format.alias_vocabularies.items():
                if alias.startswith("dcase") and most < len(vocabulary(classes)):
                    others.append(dataclasses.replace(format, name=alias, vocabulary=classes))
        names = " or ".join(dict.fromkeys(f"{other.name} (classes of {short(other.vocabulary)})" for other in others))
        message = f"read as {format.name} (classes of {short(format.vocabulary)}); it could also be {names}"
        hint = f"Evidence for {format.name}: {detection.evidence}"
        hint = f"if so, use --format {others[0].name}. {hint}" if others else ""
    if others:
        sink(READER_RULES["SYN902"].at(group.files[0].path, message, hint, 1))
    return format


_HEAD = 4096


def by_content(file: TextFile) -> str:
    """Return the format shown by the first bytes, or by the name if these do not; empty if neither shows it."""
    if _is_parquet(file):
        return "parquet"
    return file.told.name if file.told is not None and file.told.holds == "events" else ""


def _is_parquet(file: TextFile) -> bool:
    """Return whether a file begins like Parquet, or has the name of one, be it empty or damaged."""
    return file.data.startswith(PARQUET_MAGIC) or file.name.lower().endswith(PARQUET_SUFFIX)


_WORD = re.compile(rb"(?i)(?!(nan|inf|infinity)\Z)[a-z]")


def wordy(file: TextFile) -> bool:
    """Return whether most cells of a table are words, so that it holds no labels."""
    lines = [line for line in cells.plain_lines(file.data[:_HEAD]).split(b"\n") if line.strip()][1:]
    texts = [cell.strip(b' "') for line in lines for cell in re.split(rb"[,;\t|]", line)]
    return 2 * sum(_WORD.match(text) is not None for text in texts) > len(texts)


def in_utf8(file: TextFile, sink: Sink) -> TextFile:
    """Return a file in UTF-16 as the same in UTF-8, with a finding; any other as it is."""
    text = None if _is_parquet(file) else cells.from_utf16(file.data)
    if text is None:
        return file
    problem = cells.encoding_problem(file.path, file.data)
    assert problem is not None
    sink(dataclasses.replace(problem, fixable=True))
    return dataclasses.replace(file, data=text.encode(), stored=file.data)


def _foreign_json(file: TextFile, sink: Sink) -> bool:
    """Return whether a file is JSON, or wants to be, and not that of labels; report what it holds or where it breaks.

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
    records = parse_lines(file.data, file.path, wrong.append) if lines else None
    documents = [parse(file.data, file.path, wrong.append)] if records is None else list(records)
    if wrong:
        for finding in wrong:
            sink(finding)
        return True
    value = documents[0].value if documents and documents[0] is not None else None
    first_record = value[0] if isinstance(value, list) and value else value
    if not documents:
        contents = "no record in the file"
    elif not isinstance(first_record, dict) or not first_record:
        contents = "JSON without an object that has keys"
    else:
        kind = "JSON records" if lines or isinstance(value, list) else "a JSON object"
        unlisted = f", and {len(first_record) - 8} more" if len(first_record) > 8 else ""
        contents = f"{kind} with the keys {', '.join(clipped(key, 30) for key in list(first_record)[:8])}{unlisted}"
    from seldio.formats.own_keys import proposal

    hint = (isinstance(value, dict | list) and proposal(file.data, file.path)) or _LAYOUTS
    sink(READER_RULES["SYN901"].at(file.path, f"no known format: {contents}", hint, 1))
    return True


_LAYOUTS = "seldio formats lists the formats; --format NAME reads the file as one of them"


def _without_numbers(file: TextFile) -> str:
    """Return the part that names of label files of a dataset share; a list of rooms has a different one."""
    return re.sub(r"\d+", "", stem_of(posixpath.basename(file.name)))


def _is_list(file: TextFile, names: Container[str]) -> bool:
    """Return whether a table of words has no column of labels in its header, and is not called like label files.

    *names*: what these are called, without numbers.
    """
    if _without_numbers(file) in names:
        return False
    header = cells.plain_lines(file.data[:_HEAD]).partition(b"\n")[0].decode(errors="replace").lower()
    return _TITLES.isdisjoint(cell.strip(' "') for cell in re.split(r"[,;\t|]", header))


#: How columns of labels are called; a list of clips has a column of these, too.
_TITLES = {"time", "start", "end", "label", "class", *COLUMNS}.union(*(row.titles for row in DIALECTS)) - {"clip"}


def _passed_over(group: Sequence[TextFile]) -> Finding:
    """Report SYN901 as a warning: a table of words, such as a list of rooms, where there are labels or questions."""
    more = f", and {plural(len(group) - 1, 'more file')} like it" if len(group) > 1 else ""
    message = f"passed over: a table of words{more}, which no format of labels has"
    hint = "if it holds labels, convert it separately, with --format NAME"
    return READER_RULES["SYN901"].at(group[0].path, message, hint, 1, severity=Severity.WARNING)


def _report_undecided(group: Sequence[TextFile], detection: Detection, sink: Sink, wanted: Wanted | None) -> None:
    """Report SYN901 where no format fits, and SYN903 where several do."""
    more = f" ({plural(len(group) - 1, 'more file')} like it)" if len(group) > 1 else ""
    candidates = detection.candidates
    offered = [each for each in candidates if wanted is None or each.format.role in wanted.roles]
    shown, column = (offered or candidates)[:4], None
    names = " or ".join(dict.fromkeys(candidate.format.name for candidate in shown))
    if detection.rows.indexed:
        code, column = "SYN114", 1
        message = "the first column has no name: it is a row index, not data"
        hint = "in pandas, use to_csv(path, index=False), with header=False if the format has no header"
    elif (change := detection.rows.change) is not None:
        code, column, message = change.code, 1, change.why
        hint = f"{change.hint}; choose the format with --format ({names} would fit)"
    elif detection.blank:
        hint = "leave out rows in which nothing was detected"
        for file in group:
            sink(READER_RULES["LAB315"].at(file.path, "every cell of every row is 0", hint, 1))
        return
    elif not candidates:
        path, width = group[0].path, detection.rows.width or len(detection.rows.header)
        code, message = "SYN901", f"no known format: rows of {plural(width, 'column')}"
        hint = _LAYOUTS
        if width > 1 and suffix_of(path) in ("csv", "tsv", "txt") and os.path.isfile(path):  # noqa: PTH113
            hint = f"seldio new {printable(shlex.quote(path))} describes columns of your own; {hint}"
        near = closest(detection.rows)
        hint = f"{near}; {hint}" if near else hint
    else:
        code, message = "SYN903", f"this may be {names}"
        why = "; ".join(f"{candidate.format.name}: {candidate.evidence}" for candidate in shown)
        hint = f"choose one with --format, or in a dataset.toml, which seldio info --write makes. {why}"
    sink(READER_RULES[code].at(group[0].path, message + more, hint, 1, column, fixable=False))


_CLASSES = re.compile(r"([\w.-]+) \(classes of ([\w.-]+)\)")


def check_classes(findings: Iterable[Finding], by_name: bool) -> None:
    """See that class numbers can be those of one list alone, before their names go to others.

    *by_name*: names of folders and files tell the dataset, so that only formats of the user may have other classes.

    Raises:
        UsageError: they can be those of several.
    """
    outside = {dialect.vocabulary for dialect in OUTSIDE}
    for finding in findings:
        first, *others = _CLASSES.findall(finding.message) if finding.code == "SYN902" else [("", "")]
        others = [pair for pair in others if pair[1] != first[1]]
        lists = dict([first, *(pair for pair in others if not by_name or pair[1] in outside)])
        if len(lists) > 1:
            names = " or ".join(f"{classes} (--format {name})" for name, classes in lists.items())
            raise UsageError(f"{finding.path}: the class numbers may be those of {names}: name the format")


# --- Parquet files, most of which are none of seldio's ----------------------------------------------

#: What a table holds; *damaged*: its footer cannot be read, so that it may hold anything.
Content = Literal["labels", "items", "other", "damaged"]


def content(file: Entry) -> Content:
    """Return the kind of data that a Parquet file contains.

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
    of_events = sum(name in COLUMNS for name in schema.names)
    if "clip" in schema.names and 1 < of_events > len(schema.names) / 2:
        return "labels"
    return "items" if formats.of_table(schema) is not None else "other"


def begins_like_numbers(file: Entry) -> bool:
    """Return whether the first byte of a file is a digit, as of no question and of no table with names of columns."""
    return file.head(1).isdigit()


def named_like_labels(file: Entry) -> bool:
    """Return whether a file may hold labels, by its name; of text files, by how they begin."""
    name = file.name.lower()
    if not name.endswith(TEXTS):
        return name.endswith(suffixes())
    try:
        head = file.head(_HEAD)
    except InvalidData:  # one that cannot be opened is no label file
        return False
    format = formats.format_of_file(head, file.name)
    return format is not None and format.holds == "events" and format.name != "dcase2026"
