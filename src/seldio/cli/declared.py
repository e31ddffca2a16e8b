"""Commands from functions: a signature and its docstring are the arguments, the options and the help of a command."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand

from seldio.cli.completion import COMPLETIONS, completing
from seldio.cli.guard import guarded
from seldio.errors import PYTHON_NAMES, ExitCode, UsageError
from seldio.renamed import RENAMED_OPTIONS, renewed
from seldio.text import printable

#: Help of options that belong to the command line alone.
_HELP = {
    "json": "print JSON.",
    "output": "report: its form: text, json, csv, markdown, html or latex; json and csv keep every digit.",
    "out": "report: write it to this file.",
    "details": "report: print every table and notice, and the meaning of the columns.",
    "table": "report: only this table, such as overall; not with json.",
    "workers": "number of processes, or ray: the Ray cluster at RAY_ADDRESS. Results do not depend on it.",
}
#: The first word of a help text that names its section.
_SECTIONS = {
    "labels": "Scoring labels", "answers": "Scoring answers", "judge": "Language model as judge", "report": "Report",
    "questions": "Questions from labels", "recordings": "Recordings", "rules": "Rules", "repair": "Repair",
    "card": "Dataset card",
}  # fmt: skip
_SHORT = {"format": "-f", "reference": "-r", "profile": "-p", "predictions": "-p", "message": "-m"}
#: How the value of an option is called, where it is not by its type.
_VALUES = {
    name: value
    for value, names in {
        "FORMAT": "target format reference_format new_format predictions_format",
        "FORM": "output", "FIELD=KEY,…": "fields reference_fields", "FIELD=VALUE": "fill given",
        "HEADER=FIELD[:UNIT]": "column", "NAME=NUMBER": "threshold margin", "KEY=VALUE": "judge_set",
        "KIND,…": "intervals", "FIELDS": "allow_loss", "CODES": "select ignore", "SEVERITY": "fail_on",
        "SECONDS": "window hop", "DB": "gain", "TASKS": "tasks", "NAMES": "metrics",
        "MODEL": "judge", "URL": "judge_url", "N|ray": "workers", "N|balanced[=N]": "total",
        "[files|parquet|audiofolder]": "kind", "USER/NAME": "repo", "BRANCH": "revision", "TEXT": "message title",
        "CODE": "language", "PATTERN": "include", "LABEL": "label", "YEAR": "year", "PDF": "technical_report",
        "OUTPUTS": "development", "NAME=VALUE,…": "settings", "WAY": "azimuth", "SIDE": "zero",
        "PATH": "out reference development_reference",
        "FILE": "baseline write_baseline config items judgements meta citation audio video questions",
    }.items()
    for name in names.split()
}  # fmt: skip


def verb(function: Callable[..., Any] | None = None, /, **arguments: str) -> Callable[..., Callable[..., None]]:
    """Make a command of a body: it takes its own parameters, and those of *function* as a dict in front of them.

    Args:
        function: of the package, which the body calls.
        arguments: the parameters that are arguments of the command, with their names in its help; ``…`` at the end:
            one or several.
    """

    def declared(body: Callable[..., ExitCode]) -> Callable[..., None]:
        of_function = {} if function is None else dict(inspect.signature(function).parameters)
        of_body = dict(inspect.signature(body).parameters)
        if function is not None:
            of_body.pop(next(iter(of_body)))
        summary, helps = _docstring(function or body)
        helps = {**_HELP, **helps, **_docstring(body)[1]}
        signature = of_function | of_body
        parameters = [_parameter(signature[name], helps[name], value) for name, value in arguments.items()]
        parameters += [_parameter(signature[name], helps.get(name, "")) for name in signature if name not in arguments]
        # the options by their names of before 0.3, which no help shows
        for name, old in RENAMED_OPTIONS.get(body.__name__, {}).items():
            annotation = "str" if old.unset is None else "bool"
            parameter = inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=old.unset, annotation=annotation
            )
            parameters.append(_parameter(parameter, "", hidden=True))

        def run(**values: Any) -> ExitCode:
            if body.__name__ in RENAMED_OPTIONS:
                values, notes = renewed(body.__name__, values)
                for note in notes:
                    typer.echo(f"seldio: {note}", err=True)
            values = {name: _named(name, value, signature[name]) for name, value in values.items()}
            mine = {name: values[name] for name in of_body}
            return body({name: values[name] for name in of_function}, **mine) if function is not None else body(**mine)

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__doc__, run.__name__ = summary, body.__name__
        return guarded(run)

    return declared


def _docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return what a docstring says of the whole, and of each argument for the command line, without its markup.

    ``:func:`score``` is seldio score, ``*deep*`` is --deep.
    """
    text = re.sub(r":func:`(\w+)`", r"seldio \1", inspect.getdoc(function) or "")
    text = re.sub(r"\*(\w+)\*", lambda match: f"--{match[1].replace('_', '-')}", text).replace("``", "")
    about, _, listed = text.partition("Args:\n")
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", re.split(r"\n\n\w", listed)[0], re.MULTILINE)
    return about.strip(), {name: " ".join(entry.split()).split(" In Python")[0] for name, entry in entries}


def _parameter(
    parameter: inspect.Parameter, text: str, argument: str | None = None, *, hidden: bool = False
) -> inspect.Parameter:
    """Return a parameter as typer takes it: an argument of that name in the help, or an option."""
    name, annotation, default = parameter.name, str(parameter.annotation), parameter.default
    if isinstance(default, typer.models.OptionInfo):
        return parameter.replace(annotation=bool, kind=parameter.KEYWORD_ONLY)
    kind, value = _KINDS.get(re.split(r"\W", annotation)[0], (str, "NAME"))
    if choices := re.match(r"Literal\[(.+?)\]", annotation):
        value = f"[{re.sub('[^a-z-]+', '|', choices[1]).strip('|')}]"
    section = None
    if (head := re.match(r"(\w+): ", text)) is not None and head[1] in _SECTIONS:
        section, text = _SECTIONS[head[1]], text[head.end() :]
    several = argument is not None and argument.endswith("…")
    if kind == list[str] or several:
        kind, default = list[str], ... if default is parameter.empty else list(default or ())
    shared: dict[str, Any] = {
        "help": text[:1].upper() + text[1:],
        "rich_help_panel": section,
        "autocompletion": COMPLETIONS.get(name),
        "hidden": hidden,
    }
    default = ... if default is parameter.empty else "" if default == () else default
    if argument is not None:
        shared["metavar"] = argument.rstrip("…")
        return parameter.replace(
            annotation=kind, default=typer.Argument(default, **shared), kind=parameter.KEYWORD_ONLY
        )
    option = f"--{_OPTION_NAMES.get(name, name).replace('_', '-')}" if name != "out" else "-o"
    names = [option] if kind is not bool or default is False else [f"{option}/--no-{option[2:]}"]
    if kind is not bool:
        shared["metavar"] = _VALUES.get(name, value)
        names += [_SHORT[name]] if name in _SHORT else []
        if value.startswith("["):
            shared["autocompletion"] = completing(lambda: dict.fromkeys(value[1:-1].split("|"), ""))
    shared["show_default"] = not (default is None or default is False or default in ("", ...) or kind == list[str])
    optional = kind | None if default is None else kind
    return parameter.replace(
        annotation=optional, default=typer.Option(default, *names, **shared), kind=parameter.KEYWORD_ONLY
    )


#: The options of these arguments.
_OPTION_NAMES = {argument: option for option, argument in PYTHON_NAMES.items()}


#: The type of an option by the first type of its annotation, and how its value is called.
_KINDS: dict[str, tuple[Any, str]] = {
    "bool": (bool, ""),
    "int": (int, "N"),
    "float": (float, "NUMBER"),
    "Path": (str, "PATH"),
    "Mapping": (list[str], "NAME=VALUE"),
    "Sequence": (list[str], "FILE"),
}


# --- values given as NAME=VALUE ---------------------------------------------------------------------------------------

_EXAMPLES = {"fill": "distance=2.5 (metres)", "threshold": "distance=0.5", "margin": "azimuth=10"}


def _named(name: str, value: Any, parameter: inspect.Parameter) -> Any:
    """Return the value of an option; of one that is repeated as NAME=VALUE, a dict.

    Raises:
        UsageError: an item has another form, or a name is given several values.
    """
    annotation = str(parameter.annotation)
    if not annotation.startswith("Mapping["):
        return value
    option, example = f"--{name.replace('_', '-')}", _EXAMPLES.get(name, "retries=2")
    numbers = annotation.startswith("Mapping[str, float]")
    expected = f"expected NAME={'NUMBER' if numbers else 'VALUE'}, such as {example}"
    texts: dict[str, str] = {}
    for item in value:
        key, equals, text = item.partition("=")
        if not key.strip() or not equals:
            raise UsageError(f"{option} {item}: {expected}")
        if (before := texts.setdefault(key.strip(), text)) != text:
            raise UsageError(f"{option} {key.strip()} was given {_often([before, text])}; it takes one value")
    if not numbers:
        return texts
    values = {}
    for key, text in texts.items():
        try:
            values[key] = float(text)
        except ValueError:
            raise UsageError(f"{option} {key}={text}: {expected}") from None
    return values


def _often(values: Sequence[str]) -> str:
    many = "twice" if len(values) == 2 else f"{len(values)} times"
    return f"{many} ({', '.join(map(printable, values))})"


# --- the command of typer ---------------------------------------------------------------------------------------------


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
        """Return the arguments as people write them: ``PATH...``, not ``{PATH}...``."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse options; refuse one of a single value that is given twice."""
        if not ctx.resilient_parsing:
            parser = self.make_parser(ctx)
            options = [parameter for parameter in self.get_params(ctx) if parameter.param_type_name == "option"]
            single = [option for option in options if not (option.multiple or getattr(option, "is_flag", False))]
            for option in single:
                gathering = copy.copy(option)
                gathering.multiple = True
                gathering.add_to_parser(parser, ctx)
            given: Mapping[str, Any] = parser.parse_args(args=list(args))[0]
            for option in single:
                if len(values := given.get(option.name) or ()) > 1:
                    ctx.fail(f"{max(option.opts, key=len)} was given {_often(values)}; it takes one value")
            if given.get("json") and (form := given.get("output") or ["json"]) != ["json"]:
                ctx.fail(f"--json is short for --output json, and --output {printable(form[0])} was given too")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the options that belong to no section, then each section."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record, usual = parameter.get_help_record(ctx), "Options"
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
