"""Shell completion of values; what it needs is loaded when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

Pairs = Iterable[tuple[str, str]]
Completer = Callable[[str], Iterator[tuple[str, str]]]


def completing(pairs: Callable[[], Pairs]) -> Completer:
    """Return what completes the name behind the last comma, with its title."""

    def complete(incomplete: str) -> Iterator[tuple[str, str]]:
        before, comma, last = incomplete.rpartition(",")
        for name, title in pairs():
            if name.lower().startswith(last.lower()):
                yield f"{before}{comma}{name}", title

    return complete


def untitled(names: Iterable[str]) -> Pairs:
    """Return names that have no titles."""
    return ((name, "") for name in names)


def _formats(formats: Any) -> Pairs:
    return ((name, format.title) for format in formats.index() for name in (format.name, *format.aliases))


def _targets(dispatch: Any) -> Pairs:
    yield from _formats(import_module("seldio.formats"))
    yield from ((name, "recordings of the other microphone format") for name in ("foa", "mic"))
    yield from ((name, "a whole dataset") for name in dispatch.STORED)


def _rules(rules: Any) -> Pairs:
    return ((name, rule.summary) for rule in rules.CATALOGUE.values() for name in (rule.code, rule.name))


#: By options: the module that knows their values, and these, each with its title.
_VALUES: dict[str, tuple[str, Callable[[Any], Pairs]]] = {
    "format reference_format new_format predictions_format": ("formats", _formats),
    "select ignore code": ("rules", _rules),
    "target": ("conversion.dispatch", _targets),
    "profile": ("scores.scorers", lambda scorers: scorers.profile_titles()),
    "classes": ("vocabularies", lambda lists: ((name, lists.vocabulary(name).title) for name in lists.names())),
    "tasks": ("tasks.specs", lambda specs: untitled(specs.ASKED)),
    "allow_loss": ("schema.events", lambda events: untitled(("all", *events.COLUMNS))),
    "output": ("reports", lambda reports: untitled(reports.OUTPUTS)),
    "names": ("formats.about", lambda about: ((dataset.name, dataset.title) for dataset in about.every())),
    "record": ("schemas", lambda schemas: untitled(schemas.SCHEMAS)),
}
#: What completes the value of an option, by its name.
COMPLETIONS: dict[str, Completer] = {
    name: completing(lambda module=module, pairs=pairs: pairs(import_module(f"seldio.{module}")))  # type: ignore[misc]
    for names, (module, pairs) in _VALUES.items()
    for name in names.split()
} | {"fail_on": completing(lambda: untitled(("error", "warning", "info")))}
