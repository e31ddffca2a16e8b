"""A page for each command: its options, and what runs of it print."""

from __future__ import annotations

import inspect
import os
import shutil
import tempfile
import typing
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import typer.main

from seldio.cli import app
from seldio.synth.tree import write_demo

from . import code, empty_folder, page, run, table

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # what pages show does not depend on a network
#: What is run for a page, in a folder with the labels and the submission of `seldio demo`; ``-o`` leaves files there.
RUNS = {
    "validate": (
        "seldio validate starss23",
        "seldio validate submission/mix004.csv --format dcase2023-submission",
        "seldio validate submission --format dcase2023-submission --output concise --select LAB",
    ),
    "convert": (
        "seldio convert starss23 --to dcase2023-output --allow-loss distance -o outputs",
        "seldio convert starss23 --to so-bench --total 50 -o questions.jsonl",
    ),
    "score": (
        "seldio score output --reference starss23 --profile dcase2023",
        "seldio score --profiles",
    ),
    "compare": ("seldio compare output perfect --reference starss23 --profile dcase2023",),
    "rank": ("seldio rank first.json second.json",),
    "package": (
        "seldio package submission --year 2023 --label Politis_TAU_task3a_1 --reference mix001..mix005 -o package.zip",
    ),
    "diff": ("seldio diff starss23/metadata_dev converted",),
    "info": ("seldio info starss23", "seldio info jasco"),
    "cite": ("seldio cite", "seldio cite jasco"),
    "view": ("seldio view starss23/metadata_dev/dev-test-tau/fold4_room2_mix001.csv --no-media -o clip.html",),
    "plot": ("seldio plot starss23 --clip fold4_room2_mix001 -o clip.png",),
    "formats": ("seldio formats starss23",),
    "rule": ("seldio rule LAB303", "seldio rule radians"),
    "schema": ("seldio schema", "seldio schema prediction"),
    "push": ("seldio push starss23 --repo you/tiny-starss --dry-run",),
    "demo": ("seldio demo --no-media --no-run",),
}
#: What is run before a command and not shown.
BEFORE = {
    "compare": ("seldio convert starss23 --to dcase2023-output --allow-loss distance -o perfect",),
    "diff": ("seldio convert starss23 --to dcase2023-output --allow-loss distance -o converted",),
    "package": ("seldio validate submission --unsafe-fixes",),
    "rank": (
        "seldio convert starss23 --to dcase2023-output --allow-loss distance -o perfect",
        "seldio score output -r starss23 --profile dcase2023 --json -o first.json",
        "seldio score perfect -r starss23 --profile dcase2023 --json -o second.json",
    ),
}
#: How many lines of the output are shown.
CUT = {"push": 9}
#: What is not run here: it needs a network, replies of a model or labels of one's own (pages of the guides run it).
SHOWN = {
    "new": ("seldio new yard --azimuth clockwise --given elevation=0 --write",),
    "pull": ("seldio pull you/tiny-starss -o tiny-starss",),
    "verify": ('seldio verify "$(cat signature.txt)" replies.csv questions.jsonl',),
}
EXIT_CODES = ((0, "clean"), (1, "findings"), (2, "wrong usage: an option, a name, a file that does not exist"),
              (3, "failure: the disk, the network, data that cannot be read"))  # fmt: skip


def commands() -> dict[str, Any]:
    """Every command of the command line."""
    return typer.main.get_command(app).commands  # type: ignore[attr-defined, no-any-return]


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of each page."""
    yield "commands.md", _index()
    with tempfile.TemporaryDirectory() as demo:
        write_demo(Path(demo))
        for name, command in commands().items():
            yield f"commands/{name}.md", _page(name, command, None if name == "demo" else Path(demo))


def _index() -> str:
    rows = [(f"[seldio {name}](commands/{name}.md)", (each.help or "").strip()) for name, each in commands().items()]
    lines = [*table(("command", "what"), rows), "Every command prints its options with `--help`.", ""]
    lines += ["## Exit codes", "", *table(("code", "meaning"), EXIT_CODES)]
    lines += [
        "## Completion",
        "",
        (
            "`seldio --install-completion` makes the shell complete options, and the names of formats, rules, "
            "profiles, tasks and outputs."
        ),
        "",
        "```{toctree}",
        ":hidden:",
        "",
        *(f"commands/{name}" for name in commands()),
        "```",
    ]
    return page("Commands", *lines)


def _page(name: str, command: Any, data: Path | None) -> str:
    """The page of a command, with examples that run on *data*."""
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    kinds = typing.get_type_hints(inspect.unwrap(command.callback))
    usage = " ".join(_usage(each) for each in arguments)
    lines = [(command.help or "").strip(), "", *code(f"seldio {name} [OPTIONS] {usage}".rstrip())]
    if arguments:
        rows = [(f"`{_usage(each)}`", getattr(each, "help", "") or "") for each in arguments]
        lines += ["## Arguments", "", *table(("argument", "what"), rows)]
    for section in dict.fromkeys(each.rich_help_panel for each in options):
        rows = [_option(each, kinds) for each in options if each.rich_help_panel == section]
        given = any(row[2] for row in rows)
        head = ("option", "what", "default")[: 2 + given]
        lines += [f"## {section or 'Options'}", "", *table(head, [row[: 2 + given] for row in rows])]
    lines += ["## Example", ""]
    if name in SHOWN:
        lines += code("\n".join(SHOWN[name]), "sh")
    with empty_folder() as folder:
        if data is not None:
            shutil.copytree(data, folder, dirs_exist_ok=True)
        run(*BEFORE.get(name, ()))
        for each in RUNS.get(name, ()):
            lines += code(_cut(run(each), CUT.get(name)), "console")
    return page(f"seldio {name}", *lines)


def _cut(shown: str, most: int | None) -> str:
    lines = shown.split("\n")
    return shown if most is None or len(lines) <= most else "\n".join([*lines[:most], "…"])


def _usage(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    usage = f"{name.strip('{}')}{'…' if argument.nargs == -1 else ''}"
    return usage if argument.required else f"[{usage}]"


def _option(option: Any, kinds: dict[str, Any]) -> tuple[str, str, str]:
    """Names with the value, what it does with the choices there are, and the default."""
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    default, said = option.default, getattr(option, "help", "") or ""
    unset = default is None or default is False or default in ([], ()) or callable(default)
    shown = "" if unset else getattr(default, "value", default)
    shown = option.opts[0] if shown is True else shown
    if not option.is_flag:
        choices, value = _value(option.metavar or "", kinds.get(option.name))
        names += f" *{value}*" if value else ""
        said += f" One of {', '.join(f'`{each}`' for each in choices)}." if choices else ""
    return names, said, f"`{shown}`" if shown != "" else ""


def _value(metavar: str, kind: Any) -> tuple[list[str], str]:
    """The choices for the value of an option, and what it is called."""
    if metavar.startswith("["):
        return metavar.strip("[]").split("|"), ""
    parts = [each for each in typing.get_args(kind) or (kind,) if each is not type(None)]
    first = parts[0] if parts else str
    if inspect.isclass(first) and issubclass(first, Enum):
        return [str(each.value) for each in first], ""
    known = {int: "N", float: "N", Path: "PATH"}
    return [], metavar or known.get(first, "TEXT")
