"""Options with the names of before 0.3, which are accepted until 0.4."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class RenamedOption(NamedTuple):
    """The present name of an option of before 0.3."""

    option: str
    key: str  # the name in front of its value, or the value of an old switch
    switch: bool = False


RENAMED_OPTIONS = {
    **{name: RenamedOption("threshold", name) for name in ("angle", "distance", "relative")},
    "jackknife": RenamedOption("intervals", "jackknife", switch=True),
    "bootstrap": RenamedOption("intervals", "bootstrap", switch=True),
    "resamples": RenamedOption("intervals", "bootstrap"),
    "over": RenamedOption("intervals", "over"),
    "seed": RenamedOption("intervals", "seed"),
    "by_clip": RenamedOption("table", "all", switch=True),
    "errors": RenamedOption("table", "all", switch=True),
    **{
        f"judge_{name}": RenamedOption("judge_set", name)
        for name in ("cache", "concurrency", "timeout", "retries", "max_tokens", "temperature", "prompt")
    },
    "judge_again": RenamedOption("judge_set", "again=yes", switch=True),
    "no_judge_json": RenamedOption("judge_set", "json=no", switch=True),
    "balance": RenamedOption("total", "balanced", switch=True),
    "split": RenamedOption("fill", "split"),
    "language": RenamedOption("fill", "language"),
}


def accepts_renamed(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function take the names of before 0.3 as well."""
    names = inspect.signature(function).parameters

    @functools.wraps(function)
    def accepting(*args: P.args, **options: P.kwargs) -> R:
        given: dict[str, Any] = dict(options)
        if given.pop("judge_json", True) is False:
            given["no_judge_json"] = True
        for name in given.keys() & RENAMED_OPTIONS.keys() - names.keys():
            option, key, switch = RENAMED_OPTIONS[name]
            value = given.pop(name)
            if option not in names:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
            if value is None or value is False:
                continue
            if option in ("threshold", "judge_set", "fill"):
                key, _, text = key.partition("=")
                given[option] = {**(given.get(option) or {}), key: text if switch else value}
            elif option == "total":
                given[option] = key if given.get(option) is None else f"{key}={given[option]}"
            else:
                parts = [given.get(option), key if switch else f"{key}={value}"]
                given[option] = ",".join(dict.fromkeys(filter(None, parts)))
        return function(*args, **given)

    return accepting


def renewed(arguments: Sequence[str], known: set[str], note: Callable[[str], object]) -> list[str]:
    """Return the arguments of a command with the options of before 0.3 as they are written now.

    Args:
        arguments: of the command line.
        known: the options of the command.
        note: takes a sentence for each option that is another one now.
    """
    renewed_arguments: list[str] = []
    intervals: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        renamed = RENAMED_OPTIONS.get(name[2:].replace("-", "_")) if name.startswith("--") else None
        option = f"--{renamed.option.replace('_', '-')}" if renamed is not None else ""
        if renamed is None or name in known or option not in known:
            renewed_arguments.append(argument)
            if argument == "--":
                renewed_arguments += rest
            continue
        text = renamed.key if renamed.switch else f"{renamed.key}={value if equals else next(rest, '')}"
        note(f"{name} is {option} {text} now; the old name is accepted until 0.4")
        if option == "--intervals":
            intervals.append(text)
        elif option != "--table" or option not in renewed_arguments:
            renewed_arguments[:0] = [option, text]
    if intervals and "--intervals" in renewed_arguments[:-1]:
        place = renewed_arguments.index("--intervals") + 1
        renewed_arguments[place] = ",".join([renewed_arguments[place], *intervals])
    elif intervals:
        renewed_arguments[:0] = ["--intervals", ",".join(intervals)]
    return renewed_arguments
