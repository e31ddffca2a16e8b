"""Options that several commands share, and the shell completion of their values."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from seldio import progress
from seldio.errors import ExitCode, UsageError
from seldio.text import printable

if TYPE_CHECKING:
    from seldio.reports import Options as ReportOptions
    from seldio.reports import Subject


def working(workers: str | None) -> AbstractContextManager[None]:
    """Return :func:`seldio.running` with the value of ``--workers``."""
    from seldio.parallel import running

    if workers == "ray":
        return running(ray=True)
    if workers is not None and not workers.isdecimal():
        raise UsageError(f"--workers takes a number of processes, or ray, not {printable(workers)}")
    return running(None if workers is None else int(workers))


class Unconverted:
    """Mixed into a command: a value that is of the type of its parameter already is kept.

    From 0.29, typer loads pydantic to convert even these, which takes longer than most commands.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, and ``--help``."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if "process_value" not in vars(parameter):
                parameter.process_value = partial(_processed, parameter, parameter.process_value)
        return parameters


class Command(Unconverted, TyperCommand):
    """A command whose help lists its options in sections, by their ``rich_help_panel``, as plain text."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The arguments as people write them: ``PATH...``, not ``{PATH}...``."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say what is wrong with the options as JSON too, where JSON is asked for."""
        asked = "--json" in args or "--output=json" in args or ("--output", "json") in pairwise(args)
        outs = [one + (after if one == "-o" else "") for one, after in pairwise([*args, ""]) if one.startswith("-o")]
        data = any(one.name == "to" for one in self.params)  # seldio convert
        aside = data and not any(out not in ("-o", "-o-") for out in outs)
        try:
            return self._parsed(ctx, args)
        except Exception as error:
            if asked and getattr(error, "exit_code", 0) == ExitCode.USAGE:
                said = getattr(error, "format_message", error.__str__)()
                print_error(said, ExitCode.USAGE, ExitCode.USAGE, aside=aside)
                if aside:  # it is all that is said there, as of every other error
                    raise typer.Exit(ExitCode.USAGE) from error
            raise

    def _parsed(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option that takes one value and is given several times; click would take the last one."""
        if not ctx.resilient_parsing:
            parser = self.make_parser(ctx)
            single: list[Any] = [
                one for one in self.get_params(ctx)
                if one.param_type_name == "option" and not (one.multiple or getattr(one, "is_flag", False))
            ]  # fmt: skip
            for option in single:
                gathering = copy.copy(option)
                gathering.multiple = True
                gathering.add_to_parser(parser, ctx)
            given = parser.parse_args(args=list(args))[0]
            for option in single:
                if len(values := given.get(option.name) or ()) > 1:
                    ctx.fail(f"{max(option.opts, key=len)} was given {_often(values)}; it takes one value")
            if given.get("json") and (form := given.get("output") or ["json"]) != ["json"]:
                ctx.fail(f"--json is short for --output json, and --output {printable(form[0])} was given too")
        rest = super().parse_args(ctx, args)
        for one in self.get_params(ctx):  # typer before 0.17 with click 8.3 and later lets these pass
            if one.required and ctx.params.get(one.name) is None and not ctx.resilient_parsing:
                ctx.fail(f"Missing option '{max(one.opts, key=len)}'.")
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the options that belong to no section, then each section."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            usual = "Options"
            if parameter.param_type_name == "argument" and record is not None:
                usual, record = "Arguments", (parameter.metavar or record[0], record[1].removesuffix("[required]"))
            if record is not None:
                sections.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _processed(parameter: Any, convert: Callable[[Any, Any], Any], ctx: Any, value: Any) -> Any:
    """Return the value of a parameter, which *convert* makes where it has another type, or refuses."""
    wanted = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    several = wanted == list[str] and isinstance(value, list | tuple)
    typed = several or (isinstance(wanted, type) and (value is None or isinstance(value, wanted)))
    if not typed or (parameter.required and not value):
        return convert(ctx, value)
    value = list(value) if several else value
    return value if parameter.callback is None else parameter.callback(ctx, parameter, value)


def _often(values: Sequence[str]) -> str:
    many = "twice" if len(values) == 2 else f"{len(values)} times"
    return f"{many} ({', '.join(map(printable, values))})"


WORKERS: Any = typer.Option(
    None, "--workers", metavar="N|ray", rich_help_panel="Large datasets",
    help="Number of processes, or ray: the Ray cluster at RAY_ADDRESS. Results do not depend on it.",
)  # fmt: skip
#: Options of several commands that print a report or a record.
JSON: Any = typer.Option(False, "--json", help="Print JSON.")
#: Options of commands whose report has several forms.
REPORT = "Report"
REPORT_FORM: Any = typer.Option(
    "text", metavar="FORM", rich_help_panel=REPORT,
    help="Form of the report: text, json, csv, markdown, html or latex; json and csv keep every digit.",
    autocompletion=lambda incomplete: complete_outputs(incomplete, "scores"),
)  # fmt: skip
REPORT_JSON: Any = typer.Option(False, "--json", help="Short for --output json.", rich_help_panel=REPORT)
REPORT_FILE: Any = typer.Option(
    None, "-o", metavar="FILE", help="Write the report to this file.", rich_help_panel=REPORT
)


def taken(function: Callable[..., Any], options: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """The *options* of a command that *function* takes, by name; *others* in the form that they have there."""
    return {name: value for name, value in options.items() if name in signature(function).parameters} | others


def format_option(help: str, *names: str, panel: str | None = None) -> Any:
    """An option that takes the name of a format."""
    return typer.Option(
        None, *names, metavar="FORMAT", help=help, autocompletion=complete_formats, rich_help_panel=panel
    )


def print_json(value: Mapping[str, object], *, aside: bool = False) -> None:
    """Print what a command did or knows as JSON, with the version of seldio; on standard error if *aside*."""
    from seldio.plugins import version
    from seldio.text import json_text

    progress.over()
    typer.echo(json_text({"seldio": version(), **value}, indent=2, default=str), err=aside)


def print_error(message: str, kind: ExitCode, code: int, *, aside: bool = False) -> None:
    """Print what a command that was asked for JSON failed with as JSON."""
    try:
        print_json({"error": {"kind": kind.name.lower(), "exit_code": int(code), "message": message}}, aside=aside)
    except OSError:  # standard output is full or closed
        from seldio.cli.guard import close_output

        close_output()


def print_wrapped(text: str, *, fill: bool = False) -> None:
    """Print lines for people, broken between words where the terminal is narrower; *fill*: paragraphs anew."""
    from seldio.reports.screens import wrapped

    progress.over()
    typer.echo(wrapped(text, sys.stdout, fill=fill))


def see_free(out: Path | None, *inputs: object) -> None:
    """See that a report takes the place of nothing that it is about; it may lie among that, and replace an earlier one.

    Raises:
        UsageError: it is one of the *inputs*, or a file in one of them that holds data.
    """
    from seldio.files import input_at

    given = [one for each in inputs for one in (each if isinstance(each, list | tuple) else [each])]
    if out is None or not out.is_file() or (place := input_at(out, given)) is None:
        return
    from seldio.catalogues import Catalogue
    from seldio.files import open_source

    if Path(place).is_dir():
        with open_source(out, lambda _: None) as source:
            held = [group for group in Catalogue(source).groups if group.format or group.kind in _DATA]
    if Path(place).is_file() or held:
        raise UsageError(f"-o {out}: this is one of the files that are read; choose another name")


#: What a report never takes the place of, besides files of a known format.
_DATA = ("recording", "video", "description")


def write_report(subject: Subject, output: str, options: ReportOptions, out: Path | None) -> None:
    """Write findings or scores to a file, or print them."""
    from seldio.reports import render, write

    progress.over()
    if out is None:
        write(subject, sys.stdout, output, options)
        return
    from seldio.files import atomic_write

    with atomic_write(out) as stream:
        for piece in render(subject, output, options):
            stream.write(piece.encode("utf-8", "backslashreplace"))


def clip_page(
    out: Path | None, labels: str | None, predictions: str, format: str | None = None, other: str | None = None
) -> Callable[[str], str] | None:
    """The command that writes the page of a clip into the folder of the report; None where that is printed.

    *format* and *other*: those of the labels and of the predictions, where these were named.
    """
    if out is None or labels is None:
        return None
    from seldio.reports.page import page_name
    from seldio.text import view_command

    whole = labels.rpartition(":")[0]  # before a split
    shown = whole if whole and Path(whole).exists() else labels
    given = {"predictions": predictions, "format": format, "predictions_format": other}
    return lambda clip: view_command(shown, clip, "-o", str(out.with_name(page_name(clip))), **given)


def named_texts(values: list[str], option: str, example: str, kind: str = "VALUE") -> dict[str, str]:
    """The values of an option that is repeated as NAME=VALUE.

    Raises:
        UsageError: one has another form, or a name is given several values.
    """
    found: dict[str, str] = {}
    for item in values:
        name, equals, value = item.partition("=")
        if not name.strip() or not equals:
            raise UsageError(f"{option} {item}: expected NAME={kind}, such as {example}")
        if (before := found.setdefault(name.strip(), value)) != value:
            raise UsageError(f"{option} {name.strip()} was given {_often([before, value])}; it takes one value")
    return found


def named_numbers(values: list[str], option: str, example: str) -> dict[str, float]:
    """The values of an option that is repeated as NAME=NUMBER.

    Raises:
        UsageError: one has another form, or a name is given several values.
    """
    found: dict[str, float] = {}
    for name, value in named_texts(values, option, example, "NUMBER").items():
        try:
            found[name] = float(value)
        except ValueError:
            raise UsageError(f"{option} {name}={value}: expected NAME=NUMBER, such as {example}") from None
    return found


# --- shell completion; what it needs is loaded when it runs ---------------------------------------------------

#: The schemas; listed here because loading them is slow. A test checks that the list is complete.
SCHEMA_NAMES = (
    "clip", "dataset", "event", "item", "prediction", "items", "so-bench", "jasco", "ruenvaqa", "report",
    "scores", "description", "conversion", "package", "push", "pull", "formats", "rules", "error",
)  # fmt: skip


def complete_formats(incomplete: str) -> Iterator[tuple[str, str]]:
    """The formats of labels and of questions that begin with *incomplete*, with their titles."""
    from seldio.formats import index

    for format in index():
        yield from ((name, format.title) for name in (format.name, *format.aliases) if name.startswith(incomplete))


def complete_datasets(incomplete: str) -> Iterator[tuple[str, str]]:
    """The datasets and benchmarks with a citation that begin with *incomplete*, with their titles."""
    from seldio.formats.about import every

    yield from ((known.name, known.title) for known in every() if known.name.startswith(incomplete))


def complete_targets(incomplete: str) -> Iterator[tuple[str, str]]:
    """The targets of a conversion: formats, arrays and ways to store a dataset."""
    from seldio.conversion.dispatch import STORED

    yield from complete_formats(incomplete)
    yield from (
        (name, "recordings of the other microphone format") for name in ("foa", "mic") if name.startswith(incomplete)
    )
    yield from ((name, "a whole dataset") for name in STORED if name.startswith(incomplete))


def complete_outputs(incomplete: str, kind: str) -> list[str]:
    """The outputs for ``findings`` or ``scores`` that begin with *incomplete*."""
    from seldio.reports import outputs

    return [name for name in outputs(kind) if name.startswith(incomplete)]


def complete_profiles(incomplete: str) -> Iterator[tuple[str, str]]:
    """The scoring profiles that begin with *incomplete*, with their titles."""
    from seldio.scores.scorers import profile_titles

    yield from (pair for pair in profile_titles() if pair[0].startswith(incomplete))


def complete_rules(incomplete: str) -> Iterator[tuple[str, str]]:
    """The rules whose code or name begins with *incomplete*, with their summaries."""
    from seldio.rules import CATALOGUE

    yield from complete_codes(incomplete)
    for rule in CATALOGUE.values():
        if incomplete and rule.name.startswith(incomplete.lower()):
            yield rule.name, rule.summary


def complete_codes(incomplete: str) -> Iterator[tuple[str, str]]:
    """The rule codes that complete what follows the last comma, with their summaries."""
    from seldio.rules import CATALOGUE

    before, comma, last = incomplete.rpartition(",")
    for rule in CATALOGUE.values():
        if rule.code.startswith(last.upper()):
            yield f"{before}{comma}{rule.code}", rule.summary


def complete_schemas(incomplete: str) -> list[str]:
    """The schemas that begin with *incomplete*."""
    return [name for name in SCHEMA_NAMES if name.startswith(incomplete)]


def complete_vocabularies(incomplete: str) -> Iterator[tuple[str, str]]:
    """The class vocabularies that begin with *incomplete*, with their titles."""
    from seldio.vocabularies import names, vocabulary

    yield from ((name, vocabulary(name).title) for name in names() if name.startswith(incomplete))


def complete_tasks(incomplete: str) -> Iterator[str]:
    """The tasks of questions that complete what follows the last comma."""
    from seldio.tasks.specs import ASKED

    before, comma, last = incomplete.rpartition(",")
    yield from (f"{before}{comma}{name}" for name in ASKED if name.startswith(last))


def complete_fields(incomplete: str) -> Iterator[str]:
    """The fields of labels that complete what follows the last comma."""
    from seldio.schema.events import COLUMNS

    before, comma, last = incomplete.rpartition(",")
    yield from (f"{before}{comma}{name}" for name in ("all", *COLUMNS) if name.startswith(last))


def one_of(*names: str) -> Callable[[str], list[str]]:
    """Completes an option that takes one of *names*."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


#: Options of commands that score labels or answers.
SCORING_LABELS, SCORING_ANSWERS = "Scoring labels", "Scoring answers"
SCORE_AVERAGE: Any = typer.Option(
    None,
    metavar="[macro|micro]",
    help="Average over classes (macro) or over all events (micro).",
    rich_help_panel=SCORING_LABELS,
    autocompletion=one_of("macro", "micro"),
)
SCORE_ANGLE: Any = typer.Option(
    None, metavar="DEGREES", help="Maximum angular error (°).", rich_help_panel=SCORING_LABELS
)
SCORE_DISTANCE: Any = typer.Option(
    None, metavar="METRES", help="Maximum distance error (m).", rich_help_panel=SCORING_LABELS
)
SCORE_RELATIVE: Any = typer.Option(
    None, metavar="RATIO", help="Maximum relative distance error (error / distance).", rich_help_panel=SCORING_LABELS
)
SCORE_ONSCREEN: Any = typer.Option(
    False, "--onscreen", help="Require matching on-screen flags.", rich_help_panel=SCORING_LABELS
)
SCORE_CLASSES: Any = typer.Option(
    None, metavar="NAME", help="Class list.", rich_help_panel=SCORING_LABELS, autocompletion=complete_vocabularies
)
SCORE_SPLIT: Any = typer.Option(
    None, "--split", metavar="NAME", help="Score only the clips of this split of the reference, such as dev-test."
)
ITEMS: Any = typer.Option(
    None, "--items", metavar="FILE", rich_help_panel=SCORING_ANSWERS,
    help="Write each reply with its verdict, the most doubtful first; for several systems, the questions on which they "
    "differ: .jsonl or .csv.",
)  # fmt: skip
FIELDS: Any = typer.Option(
    None, "--fields", metavar="FIELD=KEY,…",
    help="Keys or columns of predictions in a file of your own: id=sample_id,prediction=response_text.",
)  # fmt: skip
REFERENCE_FIELDS: Any = typer.Option(
    None, "--reference-fields", metavar="FIELD=KEY,…",
    help="Keys or columns of questions in a file of your own: id=n,question=asked,options=A+B+C+D,answer=right.",
)  # fmt: skip
SCORE_JOIN: Any = typer.Option(
    "strict",
    metavar="[strict|order|official]",
    autocompletion=one_of("strict", "order", "official"),
    help="Match predictions by id, by order (those without ids), or as SO-Bench's program does.",
    rich_help_panel=SCORING_ANSWERS,
)
SCORE_OFFLINE: Any = typer.Option(
    "extract",
    metavar="[extract|none|official-fallback]",
    autocompletion=one_of("extract", "none", "official-fallback"),
    help="SO-Bench without a judge: how free-text answers are scored.",
    rich_help_panel=SCORING_ANSWERS,
)
SCORE_THRESHOLD: Any = typer.Option(
    [],
    metavar="NAME=NUMBER",
    rich_help_panel=SCORING_ANSWERS,
    help="SO-Bench: maximum error; azimuth and elevation (°), distance (m), onset (s), wer. May be repeated.",
)
REPORT_DETAILS: Any = typer.Option(
    False,
    "--details",
    help="Text: every table and notice, and the meaning of the columns; the other forms always have them.",
    rich_help_panel=REPORT,
)
