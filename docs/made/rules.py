"""A page for each rule, and their index by family."""

from __future__ import annotations

import inspect
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from seldio import validate
from seldio.check.reference import load
from seldio.findings import Finding, Rule, Severity
from seldio.formats import json_text, yaml_text
from seldio.formats.about import KnownDataset, every
from seldio.rules import CATALOGUE, findings, rule_of
from seldio.rules.hub import HUB_RULES
from seldio.rules.labels import ROW_RULES
from seldio.rules.misreadings import FILE_RULES
from seldio.schema.events import COLUMNS
from seldio.text import printable

from . import ROOT, code, empty_folder, examples, excerpt, facts, page, run, table

FAMILIES = {
    "SYN": ("Syntax", "bytes, lines and cells"),
    "LAB": ("Labels", "values, rows and misreadings"),
    "SUB": ("Submissions", "output files and DCASE packages"),
    "LAY": ("Layout", "folders of datasets"),
    "AUD": ("Audio", "headers and samples of recordings, and labels compared with the audio"),
    "VID": ("Video", "packets, clock and pictures"),
    "QAI": ("Questions", "questions and their answers"),
    "PRD": ("Predictions", "answers of models"),
    "SAF": ("Safety", "archives, names and terminals"),
    "DAT": ("Datasets", "what `dataset.toml` says, and what contradicts it"),
    "HUB": ("The Hub", "what it refuses or cannot show"),
}
SEVERITIES = {
    "error": "the data is wrong, and results made from it are too",
    "warning": "probably not what you want",
    "info": "good to know",
}
REPAIRS = {"none": "by hand", "safe": "`seldio validate --fix`", "unsafe": "`seldio validate --unsafe-fixes`"}
#: The columns that rules for labels need.
NEEDED = {
    rule_of(check).code: [name for name in inspect.signature(check).parameters if name in COLUMNS]
    for check in (*FILE_RULES, *ROW_RULES)
}
#: Of what repairs may do, whose changes how values are spelled, and what others change.
SPELLED, SPELLING = "spelling", {
    "SYN102", "SYN120", "SYN122", "SYN123", "SYN125", "SYN131", "SYN132", "SYN137", "SYN503",
}  # fmt: skip
CHANGED = {
    "LAB103": {"values": "azimuth wrapped"},
    "LAB201": {"order": "by frame"},
    "LAB202": {"rows": "repeated ones go"},
    "LAB301": {"values": "azimuth radians to degrees, elevation radians to degrees"},
    "LAB303": {"values": "azimuth wrapped"},
    "LAB304": {"values": "azimuth exchanged, elevation exchanged", "columns": "exchanged"},
    "LAB305": {"values": "class_id less 1"},
    "LAB308": {"values": "distance metres and centimetres"},
    "LAB316": {"values": "frame seconds to frames"},
    "LAB320": {"values": "frame exchanged, class_id exchanged", "columns": "exchanged"},
    "QAI121": {"values": "answer letter or text of the same option"},
    "QAI128": {"values": "answer letter or text of the same option"},
    "SYN114": {"columns": "one goes"},
    "SYN124": {"columns": "an empty one goes"},
    "SYN125": {"columns": "halves joined"},
    "SYN145": {"columns": "one goes"},
}
CASES = ROOT / "tests/cases/rules"
#: How many names of files are shown, and from how many bytes on their size.
MOST, LARGE = 12, 10**9
#: Pages that show what takes too long to be made here.
ELSEWHERE = {
    "AUD3": "[Listening](../../concepts/listening.md) shows such findings.",
    "VID1": "[The video clock](../../concepts/video-clock.md) says how frames and labels go together.",
}
#: Examples come without recordings, which questions would otherwise miss.
_ASIDE = "QAI309"


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of each page."""
    yield "rules.md", _index()
    for rule in CATALOGUE.values():
        yield f"rules/{rule.code}.md", _page(rule)


def _index() -> str:
    lines = [
        (
            f"The {len(CATALOGUE)} rules that `seldio validate` applies, each with a page of its own. "
            "`seldio rule CODE` prints the same text in the terminal, and reports link to the pages. "
            "`seldio rule WORD` searches the titles."
        ),
        "",
    ]
    lines += [f"- **{severity}**: {meaning}" for severity, meaning in SEVERITIES.items()]
    lines.append("- `--fix` or `--unsafe-fixes`: this option of `seldio validate` repairs it")
    lines.append("")
    for prefix, (title, what) in FAMILIES.items():
        chosen = [rule for code, rule in CATALOGUE.items() if code.startswith(prefix)]
        lines += [f"## {title} ({prefix})", "", f"{len(chosen)} rules about {what}.", ""]
        repair = {"none": "", "safe": " `--fix`", "unsafe": " `--unsafe-fixes`"}
        rows = [(f"[{r.code}](rules/{r.code}.md)", r.severity.value, r.summary + repair[r.fix]) for r in chosen]
        lines += table(("code", "severity", "what"), rows)
    return page("Rules", *lines, *_repairs())


def _repairs() -> Iterator[str]:
    """List what each repair may do."""
    rows = []
    fixable = [rule for rule in CATALOGUE.values() if rule.fix != "none"]
    for rule in sorted(fixable, key=lambda rule: (rule.fix, rule.code)):
        option = "`--fix`" if rule.fix == "safe" else "`--unsafe-fixes`"
        allowed = {"values": SPELLED if rule.code in SPELLING else "kept"} | CHANGED.get(rule.code, {})
        rest = [allowed.get(what, "kept") for what in ("values", "rows", "columns", "order")]
        rows.append((f"[{rule.code}](rules/{rule.code}.md)", option, rule.summary, *rest))
    yield from ("## What each repair may do", "")
    yield "seldio compares the rows before and after a repair with this list, and writes no more than that."
    yield ""
    yield from table(("rule", "option", "what", "values", "rows", "columns", "order"), rows)


def _page(rule: Rule) -> str:
    family, what = FAMILIES[rule.code[:3]]
    needs = ", ".join(f"`{name}`" for name in NEEDED.get(rule.code, ()))
    lines = [rule.summary.replace("``", "`"), ""]
    lines += facts(
        ("Severity", f"{rule.severity.value} ({SEVERITIES[rule.severity.value]})"),
        ("Repair", REPAIRS[rule.fix]),
        ("Applies to", f"labels with {needs}" if needs else ""),
        ("Family", f"[{family}](../rules.md), {what}"),
        ("To ignore it", f"`seldio validate --ignore {rule.code}`, or `ignore` in `seldio.toml`"),
    )
    for paragraph in rule.explanation.split("\n\n"):
        lines += [*_paragraph(paragraph), ""]
    if known := [known for known in every() if re.search(rf"\b{_short(known)}\b", rule.explanation)]:
        links = ", ".join(f"[{_short(one)}](../datasets/{one.name}.md)" for one in known)
        lines += [f"**Licence, citation, download:** {links}", ""]
    folder = CASES / rule.code
    if folder.is_dir():
        lines += _examples(rule, folder)
    elif rule.code in examples.EXAMPLES:
        lines += ["## Bad example", "", *_made(rule, examples.EXAMPLES[rule.code]())]
    elif rule.code in examples.HUB:
        lines += ["## Bad example", "", *_uploaded(rule, *examples.HUB[rule.code]())]
    elif rule.code[:4] in ELSEWHERE:
        lines += [ELSEWHERE[rule.code[:4]], ""]
    return page(f"{rule.code}: {rule.name.replace('-', ' ')}", *lines, orphan=True)


def _short(known: KnownDataset) -> str:
    return known.title.partition(":")[0]


def _paragraph(paragraph: str) -> Iterator[str]:
    head, _, rest = paragraph.partition("\n")
    if head in ("Example:", "Fix:") and rest:
        body = [line.removeprefix("    ") for line in rest.split("\n")]
        yield from (f"**{head}**", "")
        yield from code("\n".join(body)) if head == "Example:" else [line.replace("``", "`") for line in body]
    else:
        yield paragraph.replace("``", "`").replace("Reference: ", "**Reference:** ", 1)


# --- examples, with what is printed ---------------------------------------------------------------------------


def _examples(rule: Rule, folder: Path) -> Iterator[str]:
    """A bad example with its finding and a good one."""
    options: dict[str, Any] = {}
    if (folder / "case.json").exists():
        options = json.loads((folder / "case.json").read_text("utf-8"))
    shared = {key: value for key, value in options.items() if not isinstance(value, dict)}
    cases = sorted(path.name for path in folder.iterdir() if path.name != "case.json")
    for kind, title in (("bad", "Bad example"), ("good", "Good example")):
        chosen = sorted((name for name in cases if name.startswith(kind)), key=lambda name: (len(name), name))
        if chosen:
            own = options.get(chosen[0], {})
            yield from (f"## {title}", "", *_example(rule, folder / chosen[0], shared | own))


def _example(rule: Rule, path: Path, options: dict[str, Any]) -> Iterator[str]:
    with empty_folder() as here:
        target = here / path.name
        if path.is_dir():
            shutil.copytree(path, target)
        else:
            shutil.copyfile(path, target)
        found = [finding for finding in _findings(path.name, options) if finding.code == rule.code]
        yield from _content(target, found)
        if "reader" in options:
            yield from code("\n".join(printable(str(finding)) for finding in found) or "nothing found")
            return
        format = f" --format {options['format']}" if options.get("format") else ""
        reference = f" --reference {options['reference']}" if "reference" in options else ""
        yield from code(run(f"seldio validate {path.name}{format}{reference} --select {rule.code}"), "console")


def _made(rule: Rule, files: examples.Files) -> Iterator[str]:
    """An example that is made on the spot: its files, those that can be read, and what is found in them."""
    command = examples.command(rule.code, files)
    with empty_folder() as here:
        examples.write(here, files)
        printed = run(command)
        assert f" {rule.code} " in printed.partition("\n")[2], f"{rule.code} is not found in its example: {printed}"
        told = printed.partition("\n")[2]
        text = [name for name, data in files.items() if data.strip() and b"\0" not in data[:4000]]
        named = sorted((name for name in text if name in told), key=told.index)
        if len(files) > 1 or not text:
            yield from code(_listing(files, told))
        for name in named[:1] or text * (len(files) == 1):
            place = re.search(rf"{re.escape(Path(name).name)}:(\d+)", told)
            if len(files) > 1 or name not in command:
                yield from (f"In `{name}`:", "")
            yield from _text(here / name, files[name], int(place[1]) if place else None)
        yield from code(printed, "console")


def _listing(files: Iterable[str], printed: str = "") -> str:
    """Up to twelve names, first those that the report names and what is next to them."""
    near = {clip.rpartition("_")[0] or clip for clip in re.findall(r"(?:fold\d_room\d+_)?mix\d+", printed)}
    order = sorted(files, key=lambda name: (name not in printed, not any(each in name for each in near), name))
    return "\n".join([*sorted(order[:MOST]), *[f"… and {len(order) - MOST:,} more"] * (len(order) > MOST)])


def _uploaded(rule: Rule, files: dict[str, bytes | int], card: dict[str, Any] | None) -> Iterator[str]:
    """An example of what the Hub would get: names with sizes, the head of the card, and what `seldio push` says."""
    found = [finding for finding in findings(HUB_RULES, examples.hub_folder(files, card)) if finding.code == rule.code]
    assert found, rule.code
    if files:
        yield from code(_listing(name if isinstance(data, bytes) or data < LARGE else f"{name}  ({data / 10**9:.0f} GB)"
                                 for name, data in files.items()))  # fmt: skip
    for name, data in files.items():
        if (
            data != examples.TABLE.get(name)
            and isinstance(data, bytes)
            and b"\0" not in data[:4000]
            and not name.endswith(".parquet")
            and len(files) < MOST
        ):
            yield from (f"In `{name}`:", "", *code(excerpt(data.decode())))
    if card is None or "configs" in card or rule.code.startswith("HUB6"):
        head = "license: [mit" if card is None else yaml.safe_dump(card, sort_keys=False)
        yield from ("At the top of `README.md`:", "", *code(excerpt(f"---\n{head.rstrip()}\n---", most=14), "yaml"))
    refused = rule.severity is Severity.ERROR
    yield from (f"`seldio push` says{', and uploads nothing' if refused else ''}:", "")
    said = [f"{each.severity.value}  {each}{f' ({each.hint})' if each.hint else ''}" for each in found]
    yield from code("\n".join(printable(each) for each in said[:3]))


def _findings(name: str, options: dict[str, Any]) -> list[Finding]:
    found: list[Finding] = []
    if options.get("reader") == "json-lines":
        list(json_text.parse_lines(Path(name).read_bytes(), name, found.append))
    elif options.get("reader") == "yaml":
        yaml_text.parse(Path(name).read_bytes(), name, found.append)
    else:
        reference = load(options["reference"]) if "reference" in options else None
        found = validate(name, format=options.get("format"), reference=reference).findings
    return found


def _content(path: Path, found: list[Finding]) -> Iterator[str]:
    """Show an example: a file near the first finding, a folder as its list and the file of that finding."""
    line = found[0].line if found else None
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        named = [file for file in files if found and found[0].path.endswith(file.relative_to(path).as_posix())]
        rest = len(files) - 12
        listing = [f"{path.name}/{file.relative_to(path).as_posix()}" for file in files[:12]]
        yield from code("\n".join([*listing, f"… and {rest} more"] if rest > 0 else listing))
        path = (named or files)[0]
        yield from (f"In `{path.name}`:", "")
    yield from _text(path, path.read_bytes(), line)


def _text(path: Path, data: bytes, line: int | None) -> Iterator[str]:
    """Show the content of a file near a line."""
    if not data:
        yield from ("The file is empty.", "")
    elif path.suffix in (".json", ".jsonl") and (shown := _record(data, line)):
        yield from code("\n".join(map(printable, excerpt(shown, most=30).split("\n"))), "json")
    elif b"\0" in data[:4000] or not data[:4000].isascii():
        shown = data[:160].decode("latin-1") if b"\0" in data[:4000] else data.decode("utf-8", "backslashreplace")
        yield from code("\n".join(printable(each) for each in excerpt(shown, line).split("\n")))
    else:
        text = data.decode("ascii").replace("\r", "␍")
        yield from code("\n".join(printable(each) for each in excerpt(text, line).split("\n")))


def _record(data: bytes, line: int | None) -> str:
    """The record of a file of JSON that stands in a line, a key a line; empty where it cannot be parsed."""
    try:
        text = data.decode("utf-8")
        lines = [text] if text.lstrip().startswith("[") or text.count("{\n") else text.splitlines()
        record = json.loads(lines[(line or 1) - 1 if len(lines) > 1 else 0])
    except (ValueError, IndexError):
        return ""
    return json.dumps(record[:1] if isinstance(record, list) else record, indent=2, ensure_ascii=False)
