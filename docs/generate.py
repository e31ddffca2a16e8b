"""Write what the documentation takes from the code: rules, formats, the command line, the schemas.

``python docs/generate.py`` rewrites the files, ``--check`` says which are out of step, ``--schemas``
writes the schemas only; ``--quick`` leaves out the tables that are measured, which takes a while.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import array_errors
import clock_table
import figures
import house
import typer.main
from rich.console import Console
from rich.text import Text

import seldio
from seldio.check.description import format_record, profile_titles
from seldio.check.validation import validate
from seldio.cli import app
from seldio.findings import Rule
from seldio.formats import ITEM_FORMATS, LABEL_FORMATS
from seldio.formats.label_csv import Dialect
from seldio.reports import Options, render
from seldio.rules import CATALOGUE
from seldio.schema.events import COLUMNS, Event
from seldio.schemas import SCHEMAS
from seldio.scores.seld.profiles import PROFILES as LABEL_PROFILES
from seldio.scores.so_bench.profiles import PROFILES as ANSWER_PROFILES
from seldio.synth.tree import write_demo
from seldio.vocabularies import names, vocabulary

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = {
    "SYN": "Syntax: bytes, lines and cells",
    "LAB": "Labels: values, rows and misreadings",
    "SUB": "Submissions and packages",
    "LAY": "Layout of data set folders",
    "AUD": "Audio: headers and samples of recordings, labels against sound",
    "VID": "Video: packets, clock and pictures",
    "QAI": "Questions and answers",
    "PRD": "Predictions",
    "SAF": "Safety: archives, names and terminals",
    "HUB": "The Hub: what it refuses or cannot show",
}
MADE = "<!-- made from the code by docs/generate.py -->"


def pages(*, measured: bool = True) -> dict[str, str]:
    """Every generated file with its content; without those whose tables are *measured*, if they are not wanted."""
    found = {
        "docs/rules.md": rules_page(),
        "docs/formats.md": formats_page(),
        "docs/cli.md": cli_page(),
        "docs/api.md": api_page(),
        "docs/schema.md": schema_page(),
        "docs/profiles.md": profiles_page(),
        "docs/house.svg": house.drawing((ROOT / "docs/design.md").read_text("utf-8")),
        "docs/report.svg": picture(),
    }
    if measured:
        found["docs/concepts/channels.md"] = filled_page("docs/concepts/channels.md", array_errors.tables())
        found["docs/concepts/video-clock.md"] = filled_page("docs/concepts/video-clock.md", clock_table.tables())
    return found | figures.drawings() | schema_files()


def profiles_page() -> str:
    """All ways of scoring."""
    lines = ["# Profiles", "", MADE, "", "`seldio score --profiles` lists them.", "", "## Labels", ""]
    for label in LABEL_PROFILES:
        names = f" (also `{'`, `'.join(label.aliases)}`)" if label.aliases else ""
        lines += [f"### `{label.name}`{names}", "", f"{_sentence(label.title)} Agrees with {label.program}.", ""]
        lines += ["| score | what |", "| --- | --- |"]
        lines += [f"| {column.title} | {_cell(column.meaning)} |" for column in label.columns]
        lines += ["", f"Averages: {', '.join(label.averages)}.", ""]
        if label.misread:
            lines += ["What the program makes of other layouts, which seldio scores for what they are:", ""]
            lines += [f"- `{layout}`: {text}." for layout, text in label.misread.items()] + [""]
    lines += ["## SO-Bench", ""]
    for answers in ANSWER_PROFILES:
        lines += [f"### `{answers.name}`", "", f"{_sentence(answers.title)} Agrees with {answers.program}.", ""]
        lines += ["What is known to be wrong with it:", "", *(f"- {fault}" for fault in answers.known_faults), ""]
    lines += ["## Other questions", "", "| profile | what |", "| --- | --- |"]
    known = {profile.name for profile in (*LABEL_PROFILES, *ANSWER_PROFILES)}
    lines += [f"| `{name}` | {_cell(title)} |" for name, title in profile_titles() if name not in known]
    return "\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def schema_files() -> dict[str, str]:
    """The JSON Schemas."""
    return {
        f"schemas/{name}.schema.json": json.dumps(make(), indent=2, ensure_ascii=False) + "\n"
        for name, make in SCHEMAS.items()
    }


def rules_page() -> str:
    """All rules by family."""
    lines = ["# Rules", "", MADE, "", "`seldio rule CODE` prints one of these pages.", ""]
    for prefix, title in FAMILIES.items():
        chosen = [rule for code, rule in CATALOGUE.items() if code.startswith(prefix)]
        lines += [f"## {title}", "", "| code | severity | repaired by | what |", "| --- | --- | --- | --- |"]
        repair = {"none": "", "safe": "`--fix`", "unsafe": "`--unsafe-fixes`"}
        lines += [
            f"| [{r.code}](#{r.code.lower()}-{r.name}) | {r.severity.value} | {repair[r.fix]} | {_cell(r.summary)} |"
            for r in chosen
        ]
        for rule in chosen:
            lines += ["", *_rule(rule)]
        lines.append("")
    return "\n".join(lines)


def _rule(rule: Rule) -> Iterator[str]:
    yield from (f"### {rule.code} {rule.name}", "", rule.summary)
    for paragraph in rule.explanation.split("\n\n"):
        yield ""
        head, _, rest = paragraph.partition("\n")
        if head in ("Example:", "Fix:") and rest:
            yield from (f"**{head}**", "")
            body = [line.removeprefix("    ") for line in rest.split("\n")]
            yield from (["```text", *body, "```"] if head == "Example:" else body)
        else:
            yield paragraph.replace("``", "`")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("``", "`")


def formats_page() -> str:
    """All formats, and what each can and cannot carry."""
    lines = ["# Formats", "", MADE, "", "`seldio formats NAME` prints one of these.", ""]
    lines += ["| name | years | columns | suffix |", "| --- | --- | --- | --- |"]
    for format in LABEL_FORMATS:
        columns = ", ".join(part.field for part in format.columns) if isinstance(format, Dialect) else format.title
        lines.append(f"| [{format.name}](#{format.name}) | {format.years} | {_cell(columns)} | `{format.suffix}` |")
    for format in LABEL_FORMATS:
        record = format_record(format)
        title = f"{format.title[:1].upper()}{format.title[1:]}."
        lines += ["", f"## {format.name}", "", title, "", _cell(format.note), ""]
        unit = f"; distance in {record['distance_unit']}" if record["distance_unit"] else ""
        lines.append(f"- frames of {record['hop_seconds'] * 1000:g} ms{unit}; vocabulary `{format.vocabulary}`")
        lines.append(f"- carries {', '.join(format.carries)}")
        lacks = ", ".join(name for name in COLUMNS if name not in format.carries)
        lines.append(f"- cannot carry {lacks}" if lacks else "- carries every column there is")
        if format.aliases:
            lines.append(f"- also called {', '.join(format.aliases)}")
        if format.source:
            lines.append(f"- source: <{format.source}>")
    for format in ITEM_FORMATS:
        title = f"{format.title[:1].upper()}{format.title[1:]}."
        lines += ["", f"## {format.name}", "", title, "", _cell(format.note), ""]
        lines += [f"- holds {format.holds}, in `{format.suffix}` files", f"- carries {', '.join(format.carries)}"]
        if format.aliases:
            lines.append(f"- also called {', '.join(format.aliases)}")
        if format.source:
            lines.append(f"- source: {format.source}")
    return "\n".join([*lines, ""])


def cli_page() -> str:
    """All commands with their options."""
    command = typer.main.get_command(app)
    lines = ["# Command line", "", MADE, ""]
    lines += ["Exit codes: 0 clean, 1 findings, 2 usage, 3 could not work.", ""]
    for name, sub in command.commands.items():  # type: ignore[attr-defined]
        lines += [f"## seldio {name}", "", (sub.help or "").strip(), "", "| argument | what |", "| --- | --- |"]
        for parameter in sub.params:
            shown = " ".join(parameter.opts) if parameter.param_type_name == "option" else parameter.name.upper()
            lines.append(f"| `{shown}` | {_cell(getattr(parameter, 'help', None) or '')} |")
        lines.append("")
    return "\n".join(lines)


def api_page() -> str:
    """All public names, and what their functions give back, from their docstrings."""
    lines = [
        "# Python",
        "",
        MADE,
        "",
        "The functions are the commands, with the same words: see [Command line](cli.md).",
        "",
    ]
    lines += ["## Functions and records", ""]
    public = [(f"seldio.{name}", getattr(seldio, name)) for name in seldio.__all__]
    for name, value in public:
        lines += _api_entry(name, value)
    lines += ["## What functions give back", ""]
    for value in api_results():
        lines += _api_entry(f"{value.__module__}.{value.__qualname__}", value)
    return "\n".join(lines)


def api_results() -> list[type]:
    """The classes of the package that public functions return or take, public names aside; sorted by name."""
    public = [getattr(seldio, name) for name in seldio.__all__]
    import_module("seldio.viewer.page")  # loaded when a page is asked for
    named = {
        word for value in public if inspect.isfunction(value)
        for word in re.findall(r"[A-Z]\w+", str(inspect.signature(value).return_annotation))
    }  # fmt: skip
    found = {
        name: value
        for module in [sys.modules[name] for name in sorted(sys.modules) if name.startswith("seldio.")]
        for name, value in vars(module).items()
        if name in named and name not in seldio.__all__ and inspect.isclass(value) and "seldio." in value.__module__
    }
    return [found[name] for name in sorted(found)]


def _api_entry(name: str, value: Any) -> Iterator[str]:
    """A function, or a class with its public methods."""
    signature = "" if inspect.isclass(value) else _signature(value)
    yield from (f"### {name}", "")
    if signature:
        yield from ("```python", f"{name}{signature}", "```", "")
    yield from _api_text(inspect.getdoc(value) or "")
    for key, member in vars(value).items() if inspect.isclass(value) else ():
        if key.startswith("_") or key == "model_config":
            continue
        if isinstance(member, property):
            yield from (f"#### {key}", "", *_api_text(inspect.getdoc(member) or ""))
        elif inspect.isfunction(member):
            yield from (
                f"#### {key}",
                "",
                "```python",
                f"{key}{_signature(member)}",
                "```",
                "",
                *_api_text(inspect.getdoc(member) or ""),
            )


def _signature(function: Callable[..., Any]) -> str:
    """Parameters and result, without what a module is called where a type lives; long ones a line each."""
    signature = inspect.signature(function)
    shown = [
        str(each) for each in signature.parameters.values() if each.name != "self"
    ]  # fmt: skip
    marks = [each.kind for each in signature.parameters.values() if each.name != "self"]
    if inspect.Parameter.KEYWORD_ONLY in marks:
        shown.insert(marks.index(inspect.Parameter.KEYWORD_ONLY), "*")
    shown = [part.replace("'", "").replace("mappingproxy({})", "{}") for part in shown]
    result = str(signature.return_annotation).replace("'", "")
    one = f"({', '.join(shown)}) -> {result}"
    return one if len(one) < 90 else "(\n    " + ",\n    ".join(shown) + f",\n) -> {result}"


def _api_text(text: str) -> Iterator[str]:
    """A docstring as Markdown: names as code, its sections as lists."""
    text = re.sub(r":\w+:`~?\.?([^`]+)`", r"`\1`", text).replace("``", "`")
    for paragraph in text.split("\n\n"):
        head, _, rest = paragraph.partition("\n")
        if head in ("Args:", "Returns:", "Raises:", "Yields:"):
            yield from (f"**{head}**", "")
            if head in ("Returns:", "Yields:"):
                yield " ".join(rest.split())
            else:
                entries = (entry.split() for entry in re.split(r"\n(?! )", inspect.cleandoc(rest)))
                yield from (re.sub(r"^([\w, ]+): ", r"- `\1`: ", " ".join(entry)) for entry in entries)
        else:
            yield paragraph if ">>>" in paragraph else " ".join(paragraph.split())
        yield ""


def schema_page() -> str:
    """The columns of an event table and the vocabularies."""
    lines = ["# The event table", "", MADE, "", "One row for each active source in each label frame. A table has the"]
    lines += ["columns its files carry; `seldio schema event` prints the JSON Schema of a row.", ""]
    lines += ["| column | Arrow type | what |", "| --- | --- | --- |"]
    for name, kind in COLUMNS.items():
        lines.append(f"| {name} | `{kind}` | {_cell(Event.model_fields[name].description or _MEANING[name])} |")
    lines += ["", "## Vocabularies", ""]
    for name in names():
        words = vocabulary(name)
        lines += [f"### {name}", "", f"{words.title}. Source: <{words.source}>", ""]
        lines += [f"{number}. {spellings[0]}" for number, spellings in enumerate(words.classes) if spellings]
        lines.append("")
    return "\n".join(lines)


def filled_page(page: str, tables: dict[str, str]) -> str:
    """A page with its tables made anew; the text around them is written by hand."""
    text = (ROOT / page).read_text("utf-8")
    for name, table in tables.items():
        text, found = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end -->)", rf"\1\n{table}\n\n\2", text, flags=re.DOTALL)
        assert found == 1, f"{page} has {found} places for the table {name}"
    return text


def picture() -> str:
    """A report as it looks in a terminal, on the demo's submission."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_demo(Path())
        report = validate("submission/mix004.csv", format="dcase2023-submission")
        report.add(validate("submission/mix002.csv", format="dcase2023-submission").findings)
        report.files += 1
        shown = "".join(render(report, "text", Options(CATALOGUE, color=True, width=124)))
    console = Console(record=True, width=124, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(shown), soft_wrap=True)
    drawn = console.export_svg(title="seldio validate submission/", unique_id="seldio")
    # the fonts would come from the network
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL) + "\n"


_MEANING = {
    "onset": "Seconds at which an event begins.",
    "azimuth": "Degrees, counter-clockwise, +90 is left.",
    "elevation": "Degrees, up positive.",
    "distance": "Metres.",
}


def _present(file: Path) -> str | None:
    return file.read_text("utf-8") if file.is_file() else None


def main(arguments: list[str]) -> int:
    """Write the files, or compare them."""
    wanted = schema_files() if "--schemas" in arguments else pages(measured="--quick" not in arguments)
    stale = [name for name, text in wanted.items() if _present(ROOT / name) != text]
    if "--check" in arguments:
        print("\n".join(f"out of step: {name}" for name in stale) or "all in step")
        return bool(stale)
    for name in stale:
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(wanted[name], "utf-8")
        print(f"written: {name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
