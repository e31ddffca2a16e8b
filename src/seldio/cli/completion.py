"""Shell completion of values; what it needs is loaded when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

Pairs = Iterable[tuple[str, str]]
Completer = Callable[[str], Iterator[tuple[str, str]]]


def one_of(*names: str) -> Completer:
    """Return what completes an option that takes one of *names*."""
    return _completer(lambda: _untitled(names))


def _completer(pairs: Callable[[], Pairs]) -> Completer:
    """Return what completes the name behind the last comma, with its title."""

    def complete(incomplete: str) -> Iterator[tuple[str, str]]:
        before, comma, last = incomplete.rpartition(",")
        for name, title in pairs():
            if name.lower().startswith(last.lower()):
                yield f"{before}{comma}{name}", title

    return complete


def _untitled(names: Iterable[str]) -> Pairs:
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
_KNOWN: dict[str, tuple[str, Callable[[Any], Pairs]]] = {
    "format reference_format new_format predictions_format": ("formats", _formats),
    "select ignore code": ("rules", _rules),
    "target": ("conversion.dispatch", _targets),
    "profile": ("scores.scorers", lambda scorers: scorers.profile_titles()),
    "classes": ("vocabularies", lambda known: ((name, known.vocabulary(name).title) for name in known.names())),
    "tasks": ("tasks.specs", lambda specs: _untitled(specs.ASKED)),
    "allow_loss": ("schema.events", lambda events: _untitled(("all", *events.COLUMNS))),
    "output": ("reports", lambda reports: _untitled(reports.OUTPUTS)),
    "names": ("formats.about", lambda about: ((known.name, known.title) for known in about.every())),
    "record": ("schemas", lambda schemas: _untitled(schemas.SCHEMAS)),
}


def _from_module(module: str, pairs: Callable[[Any], Pairs]) -> Completer:
    return _completer(lambda: pairs(import_module(f"seldio.{module}")))


#: What completes the value of an option, by its name.
COMPLETIONS: dict[str, Any] = {"fail_on": one_of("error", "warning", "info")} | {
    name: _from_module(*values) for names, values in _KNOWN.items() for name in names.split()
}
