"""Findings and scores as the same few sections: what they are, tables, and notices before and behind them.

Outputs for people write these sections; what they say of findings in one line is the same everywhere too.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from seldio.findings import SINGLY, Finding, Report, Rule, Severity
from seldio.reports.tables import (
    Column,
    Interval,
    Notice,
    Options,
    Phrase,
    ScoreReport,
    Subject,
    Table,
    in_order,
    said_of,
    side_by_side,
)
from seldio.text import listed, plural, printable

if TYPE_CHECKING:
    from seldio.rules.deep_pieces import Heard


class Section(NamedTuple):
    """A section of a report; texts are printable."""

    headline: str = ""  # what was scored, and in which profile; or what the sections behind it have in common
    title: str = ""  # what this is, in a sentence
    over: str | None = None  # what the numbers of one report are over; None of what is about several, and of findings
    settings: str = ""  # options that shape the numbers, those that are in use
    urgent: Sequence[Notice] = ()  # grave notices, to be read before the tables
    tables: Sequence[Table] = ()  # in their order
    notices: Sequence[Notice] = ()  # to be read behind them
    signature: str = ""  # what the numbers rest on
    verdict: str = ""  # what a comparison comes to
    lead: str = ""  # the column that is read first, where there are more than fit


def sections(subject: Subject, options: Options) -> list[Section]:
    """Return the sections to show: of findings the rules and places, of scores the systems side by side, then each."""
    if isinstance(subject, Report):
        return [_findings(subject, options)]
    several, first = len(subject) > 1, subject[0]
    profiles = [f", profile {report.profile}" if report.profile else "" for report in subject]
    headlines = [printable(report.system + profile) for report, profile in zip(subject, profiles, strict=True)]
    # notices to read before the numbers, those of several systems once for one cause
    distinct = len({report.system for report in subject}) == len(subject)
    names = [report.system for report in subject] if distinct else headlines
    grave = [[notice for notice in report.notices if notice.grave or notice.first] for report in subject]
    urgent = in_order(said_of(names, grave))
    if options.table is not None:
        table = side_by_side(subject, options.table).briefly
        headline = printable(table.title) if several else f"{headlines[0]}: {printable(table.title)}"
        signature = "" if several else printable(first.signature)
        return [Section(headline, urgent=urgent, tables=[table], lead=first.lead, signature=signature)]
    shown = [
        Section(
            headline,
            printable(report.title),
            printable(report.over),
            _settings(report.settings),
            urgent=() if several else urgent,
            tables=[table.briefly for table in (report.tables[1:] if several else report.tables)],
            notices=[notice for notice in report.notices if not (notice.grave or notice.first)],
            signature=printable(report.signature),
            verdict=printable(report.verdict),
            lead=report.lead,
        )
        for headline, report in zip(headlines, subject, strict=True)
    ]
    if several:
        shown.insert(0, Section("Systems", urgent=urgent, tables=[side_by_side(subject).briefly], lead=first.lead))
    return shown


def meanings(subject: Subject, options: Options) -> list[tuple[str, str]]:
    """Return title and meaning of the columns of the tables of scores that are shown, each once; printable."""
    if isinstance(subject, Report):
        return []
    everything = (table for report in subject for table in report.tables)
    tables = everything if options.table is None else [side_by_side(subject, options.table)]
    columns = [column for table in tables for column in table.columns if column.meaning]
    return list(dict.fromkeys((printable(column.title), printable(column.meaning)) for column in columns))


def details(subject: Sequence[ScoreReport]) -> str:
    """Return a sentence on what a report of scores without its details leaves out; empty if that is nothing."""
    tables = [table for report in subject for table in report.tables]
    titles = dict.fromkeys(printable(table.title) for table in tables if table.aside and table.rows)
    beyond = [(table.name, len(table.rows) - table.top) for table in tables if table.top is not None]
    rows = [f"{plural(count, 'more row')} of {printable(name)}" for name, count in beyond if count > 0]
    small = sum(not (notice.grave or notice.first) for report in subject for notice in report.notices)
    notices = [plural(small, "more notice")] if small else []
    meaning = ["the meaning of the columns"] if meanings(subject, Options()) else []
    left_out = [*titles, *dict.fromkeys(rows), *notices, *meaning]
    return f"--details adds: {'; '.join(left_out)}." if left_out else ""


def _settings(settings: Mapping[str, object]) -> str:
    used = {name: value for name, value in settings.items() if value is not None and value is not False}
    values = {
        name: "yes" if value is True else f"{value:g}" if isinstance(value, float) else value
        for name, value in used.items()
    }
    return printable(", ".join(f"{name} {value}" for name, value in values.items()))


# --- findings ----------------------------------------------------------------------------------------------


def _findings(report: Report, options: Options) -> Section:
    """Return the summary, a table by rule, and a table of findings, at most a given number per rule."""
    shown, hidden = by_cause(report.findings, options.max_per_rule)
    places = []
    for group in shown:
        finding = group[0]
        where = ("code", place(finding)), ("text", f", {spread(group, report)}" if len(group) > 1 else "")
        mark = (("text", " "), ("code", "[*]")) if finding.fixable else ()
        hint = (("break", " "), ("text", f"Hint: {finding.hint}")) if finding.hint else ()
        text = ("text", message(finding)), *hint
        places.append((Phrase(where), Phrase((_linked(finding), *mark)), Phrase(text)))
    columns = tuple(Column(head, head) for head in ("Place", "Rule", "Message"))
    tables = [rules_table(report, options), Table("findings", "findings", columns, tuple(places))] if places else []
    tables += listening(report, options)
    notices = [*(more(code, count) for code, count in hidden.items()), *silence(report)]
    return Section(title=conclusion(report), tables=tables, notices=[Notice("", text) for text in notices])


def rules_table(report: Report, options: Options) -> Table:
    """Return how many findings each rule has."""
    rows = tuple(
        (Phrase((_linked(same[0]),)), name_of(code, options.catalogue), worst(same).value, len(same))
        for code, same in by_code(report).items()
    )
    columns = tuple(Column(head, head) for head in ("Rule", "Name", "Severity", "Findings"))
    return Table("rules", "rules", columns, rows)


def _linked(finding: Finding) -> tuple[str, str]:
    return finding.url or "text", finding.code


def by_code(report: Report) -> dict[str, list[Finding]]:
    """Return the findings of each rule, codes sorted."""
    groups: dict[str, list[Finding]] = {code: [] for code in report.by_rule()}
    for finding in report.findings:
        groups[finding.code].append(finding)
    return groups


def worst(findings: Iterable[Finding]) -> Severity:
    """Return the worst severity of findings; info where there are none."""
    severities = (finding.severity for finding in findings)
    return min(severities, key=lambda severity: severity.rank, default=Severity.INFO)


#: Outcomes of listening, the worst first.
_OUTCOMES = ("contradicted", "unclear", "not heard", "fits")
#: The columns of what was heard.
_HEARD = (
    Column("recording", "Recording"),
    Column("outcome", "Labels"),
    Column("events", "Events", meaning="events that were heard alone"),
    Column("places", "Places", meaning="places that they are at, cells of about 20°"),
    Column("seconds", "Heard", "s", 0),
    Column("median", "Median", "°", 1),
    Column("share", "In 30°", "%", 0),
    Column("azimuth", "Azimuth", "°", 1),
    Column("elevation", "Elevation", "°", 1),
)


def listening(report: Report, options: Options) -> list[Table]:
    """Return a table of what was heard in the audio under the labels, if compared: the worst clips, then all."""
    if not report.heard:
        return []
    together = [heard for heard in report.heard if heard.clip is None]
    clips = [heard for heard in report.heard if heard.clip is not None]
    clips.sort(key=lambda heard: (_OUTCOMES.index(heard.outcome), 1.0 if heard.share is None else heard.share))
    shown = clips[: options.max_per_rule or None]
    better = f"; {len(clips) - len(shown):,} more fit as well or better" if len(shown) < len(clips) else ""
    rows = []
    for heard in [*shown, *together]:
        means = (None if mean is None else Interval(*mean) for mean in (heard.azimuth, heard.elevation))
        measures = heard.events or None, heard.places or None, heard.seconds or None, heard.median, heard.share
        rows.append((_recording(heard), heard.outcome, *measures, *means))
    tables = [Table("listening", f"Labels compared with the recordings{better}", _HEARD, tuple(rows))]
    if options.statistics:
        kinds = tuple(
            (f"{kind.name} ({heard.format.upper()})", kind.events, kind.seconds, kind.median, kind.share)
            for heard in together or report.heard
            for kind in heard.classes
        )
        head = (Column("class", "Class"), *_HEARD[2:3], *_HEARD[4:7])
        tables += [Table("classes", "What was heard of each class", head, kinds)] if kinds else []
    return tables


def _recording(heard: Heard) -> str:
    name = "all clips" if heard.clip is None else heard.clip
    return f"{name} ({heard.format.upper()})" if heard.format else name


def silence(report: Report) -> list[str]:
    """Return why nothing is said of the labels of some recordings, each reason once."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for heard in report.heard:
        if heard.why is not None and heard.outcome != "contradicted":
            reasons.setdefault((heard.outcome, heard.why), []).append(_recording(heard))
    return [
        f"{listed(names) if len(names) <= SINGLY else plural(len(names), 'recording')}: {outcome}, {why}"
        for (outcome, why), names in reasons.items()
    ]


def place(finding: Finding) -> str:
    """Return ``path:line:column`` as far as they are known; not yet made printable."""
    return ":".join(str(part) for part in (finding.path, finding.line, finding.column) if part is not None)


def fix_mark(fixable: bool) -> str:
    """Return the mark of what ``--fix`` or ``--unsafe-fixes`` can repair."""
    return " [*]" if fixable else ""


#: The path of a file, not of a folder.
_FILE = re.compile(r"\.[A-Za-z0-9]{1,8}$")
#: Ranges of lines that are named to people.
_RANGES = 3


def runs(finding: Finding) -> list[str]:
    """Return the ranges of lines of a finding, such as ``12`` and ``20-31``."""
    return [str(first) if first == last else f"{first}-{last}" for first, last in finding.ranges]


def message(finding: Finding) -> str:
    """Return the message, with how often and in which lines where a finding stands for several places."""
    if finding.count == 1:
        return finding.message
    shown = runs(finding)[:_RANGES]
    further = ", …" if len(finding.ranges) > _RANGES or finding.unlisted else ""
    noun = "line" if shown == [str(finding.line)] else "lines"
    lines = f", {noun} {', '.join(shown)}{further}" if shown else ""
    return f"{finding.message} ({finding.count:,} times{lines})"


def name_of(code: str, catalogue: Mapping[str, Rule]) -> str:
    """Return the name of a rule, printable; empty when the catalogue does not know the code."""
    return printable(catalogue[code].name) if code in catalogue else ""


def by_cause(findings: Sequence[Finding], most: int | None) -> tuple[list[list[Finding]], dict[str, int]]:
    """Group findings for people: single ones, and those with one cause in many files together.

    Args:
        findings: in their order.
        most: how many of these each rule may have; None for all findings, one by one.

    Returns:
        Groups of one or many findings, and by code how many more findings there are.
    """
    files: dict[str, int] = {}
    for finding in findings:
        files.setdefault(finding.path, len(files))
    # what is to be known about a whole file behind what is wrong in it
    findings = sorted(
        findings, key=lambda each: (files[each.path], each.severity is Severity.INFO and each.column is None)
    )
    if most is None:
        return [[finding] for finding in findings], {}
    cause = attrgetter("code", "severity", "hint")
    same: dict[Any, list[Finding]] = {}
    for finding in findings:
        same.setdefault(cause(finding), []).append(finding)
    wide = {name for name, group in same.items() if files_of(group) > SINGLY}
    shown: list[list[Finding]] = []
    groups: Counter[str] = Counter()
    for finding in findings:
        group = same.pop(cause(finding), []) if cause(finding) in wide else [finding]
        groups[finding.code] += bool(group)
        if group and groups[finding.code] <= most:
            shown.append(group)
    left = Counter(finding.code for finding in findings)
    left.subtract(finding.code for group in shown for finding in group)
    return shown, {code: left[code] for code in sorted(left) if left[code]}


def files_of(findings: Iterable[Finding]) -> int:
    """Return how many files findings are in."""
    return len({finding.path for finding in findings})


def spread(group: Sequence[Finding], report: Report) -> str:
    """Return how many files a group of findings is in, such as ``in 78 of 78 files``."""
    number = files_of(group)
    return f"in {number:,} of {plural(report.files, 'file')}" if number <= report.files else f"in {number:,} files"


def others(group: Sequence[Finding]) -> str:
    """Return the places of the rest of a group, without the folder of the first one if they share it."""
    folder = group[0].path.rpartition("/")[0] + "/"
    places = [place(next(same)) for _, same in itertools.groupby(group, lambda finding: finding.path)][1:]
    if all(where.startswith(folder) for where in places):
        places = [where.removeprefix(folder) for where in places]
    return f"also in {listed(places)}"


def more(code: str, count: int) -> str:
    """Return the line that stands for findings which are counted but not displayed."""
    return f"… and {count:,} more {printable(code)}"


def verdict(report: Report) -> str:
    """Return in words, whether the data is in order, such as ``Not ready: 3 errors and 1 warning in 2 of 4 files``."""
    files = plural(report.files, "file")
    missed = [heard for heard in report.heard if heard.outcome == "not heard"]
    silent = sum(not heard.recording for heard in missed)
    unheard = f"; {plural(len(missed) - silent, 'recording')} not compared with the sound" * (len(missed) > silent)
    unheard += f"; {plural(silent, 'clip')} without a recording" * bool(silent)
    if not report.findings:
        if not report.files:
            return "Nothing was checked: 0 files."
        return f"No findings: {files}{unheard}." if unheard else f"All clean: {files}."
    *most, last = _counts(report)
    counts = f"{', '.join(most)} and {last}" if most else last
    counts += f" ({report.places:,} places)" if report.places > len(report.findings) else ""
    failed = getattr(report, "failed", report.reaches(Severity.ERROR))
    touched = files_of(report.findings)
    whole = report.files == 1 or touched > report.files or not all(_FILE.search(each.path) for each in report.findings)
    where = f"in {files}" if report.files == 1 else f"; {files} checked" if whole else f"in {touched:,} of {files}"
    text = f"{'Not ready:' if failed else 'Ready, with'} {counts} {where}".replace(" ;", ";")
    return f"{text}{unheard}."


def conclusion(report: Report) -> str:
    """Return the last line: the verdict, and what can be fixed."""
    return verdict(report) + _fixable(report)


def _counts(report: Report) -> list[str]:
    counts = ((report.count(severity), severity.value) for severity in Severity)
    return [plural(count, noun) for count, noun in counts if count]


def _fixable(report: Report) -> str:
    fixable = [finding for finding in report.findings if finding.fixable]
    here = [finding for finding in fixable if not finding.packed]
    unsafe = sum(finding.fix == "unsafe" for finding in here)
    safe, text = len(here) - unsafe, ""
    if safe and unsafe:
        text = f" {safe:,} fixable with --fix, {unsafe:,} more with --unsafe-fixes."
    elif safe or unsafe:
        text = f" {safe or unsafe:,} fixable with {'--fix' if safe else '--unsafe-fixes'}."
    packed = Counter(finding.packed for finding in fixable if finding.packed is not None)
    return text + "".join(f" {count:,} fixable once {then}: {why}." for (then, why), count in packed.items())
