"""Options with the names of before 0.3, which are accepted until 0.4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from seldio.errors import UsageError
from seldio.text import printable


class RenamedOption(NamedTuple):
    """The current name of an option that 0.3 renamed."""

    option: str
    key: str  # the name in front of its value, or what a switch is now
    unset: bool | None = None  # the value with which a switch says nothing; None if it is no switch


_THRESHOLDS = {name: RenamedOption("threshold", name) for name in ("angle", "distance", "relative")}
_INTERVALS = {
    "jackknife": RenamedOption("intervals", "jackknife", unset=False),
    "bootstrap": RenamedOption("intervals", "bootstrap", unset=False),
    "resamples": RenamedOption("intervals", "bootstrap"),
    "over": RenamedOption("intervals", "over"),
    "seed": RenamedOption("intervals", "seed"),
}
_JUDGING = {
    f"judge_{name}": RenamedOption("judge_set", name)
    for name in ("cache", "concurrency", "timeout", "retries", "max_tokens", "temperature", "prompt")
}
#: The options of each command by their old names.
RENAMED_OPTIONS = {
    "score": {
        **_THRESHOLDS,
        **_INTERVALS,
        **_JUDGING,
        "judge_again": RenamedOption("judge_set", "again=yes", unset=False),
        "judge_json": RenamedOption("judge_set", "json=no", unset=True),
        "by_clip": RenamedOption("table", "all", unset=False),
        "errors": RenamedOption("table", "all", unset=False),
    },
    "compare": {**_THRESHOLDS, **_INTERVALS},
    "convert": {
        "balance": RenamedOption("total", "balanced", unset=False),
        "split": RenamedOption("fill", "split"),
        "language": RenamedOption("fill", "language"),
    },
}
_MAPPINGS = ("threshold", "judge_set", "fill")
#: The tables that have what an old switch added.
_TABLES = {"by_clip": ("clips", "all"), "errors": ("errors", "confusions", "all")}


def renewed(command: str, options: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the options of a command by their present names, and a sentence about each that had an old one.

    Raises:
        UsageError: an option says something else than its old name, which was given too.
    """
    present, notes = dict(options), []
    if present.get("resamples") is not None:  # of a bootstrap, which stood beside it
        present.pop("bootstrap", None)
    for name, (option, key, unset) in RENAMED_OPTIONS[command].items():
        value = present.pop(name, None)
        if value is None or value == unset:
            continue
        text = f"{key}={value}" if unset is None else key
        key, _, word = key.partition("=")
        before = present.get(option)
        together = _together(name, option, before, text, {key: value if unset is None else word})
        is_now = f"--{name.replace('_', '-')} is --{option.replace('_', '-')} {text} now"
        if together is None:
            raise UsageError(f"{is_now}, which cannot be joined with {printable(str(before))}: give all of it there")
        present[option] = together
        notes.append(f"{is_now}; the old name is accepted until 0.4")
    return present, notes


def _together(name: str, option: str, before: Any, text: str, entry: Mapping[str, Any]) -> Any:
    """Return the value of an option that has *text*, or *entry*, as well as the value *before*; None if it cannot."""
    if isinstance(before, list):  # of the command line, which sees to names that are given twice
        return [*before, text]
    if option in _MAPPINGS:
        values = before or {}
        return {**values, **entry} if all(values.get(key, value) == value for key, value in entry.items()) else None
    if before is None:
        return text
    if option == "total":
        return before if str(before).startswith(text) else f"{text}={before}"
    if option == "intervals":
        return f"{before},{text}" if isinstance(before, str) else None
    return before if before in _TABLES[name] else None
