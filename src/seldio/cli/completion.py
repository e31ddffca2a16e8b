"""Shell completion of values; what it needs is loaded when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

Titles = Mapping[str, str]
Completer = Callable[[str], Iterator[tuple[str, str]]]


def completing(titles: Callable[[], Titles]) -> Completer:
    """Return what completes the name behind the last comma, with its title."""

    def complete(incomplete: str) -> Iterator[tuple[str, str]]:
        before, comma, last = incomplete.rpartition(",")
        for name, title in titles().items():
            if name.lower().startswith(last.lower()):
                yield f"{before}{comma}{name}", title

    return complete


def _formats(formats: Any) -> Titles:
    return {name: format.title for format in formats.index() for name in (format.name, *format.aliases)}


def _targets(dispatch: Any) -> Titles:
    recordings = dict.fromkeys(("foa", "mic"), "recordings of the other microphone format")
    stored = dict.fromkeys(dispatch.STORED, "a whole dataset")
    return {**_formats(import_module("seldio.formats")), **recordings, **stored}


def _rules(rules: Any) -> Titles:
    return {name: rule.summary for rule in rules.CATALOGUE.values() for name in (rule.code, rule.name)}


#: By options: the module that knows their values, and these, each with its title.
_VALUES: dict[str, tuple[str, Callable[[Any], Titles]]] = {
    "format reference_format new_format predictions_format": ("formats", _formats),
    "select ignore code": ("rules", _rules),
    "target": ("conversion.dispatch", _targets),
    "profile": ("scores.scorers", lambda scorers: dict(scorers.profile_titles())),
    "classes": ("vocabularies", lambda lists: {name: lists.vocabulary(name).title for name in lists.names()}),
    "tasks": ("tasks.specs", lambda specs: dict.fromkeys(specs.ASKED, "")),
    "allow_loss": ("schema.events", lambda events: dict.fromkeys(("all", *events.COLUMNS), "")),
    "output": ("reports", lambda reports: dict.fromkeys(reports.OUTPUTS, "")),
    "names": ("formats.about", lambda about: {dataset.name: dataset.title for dataset in about.every()}),
    "record": ("schemas", lambda schemas: dict.fromkeys(schemas.SCHEMAS, "")),
}
#: What completes the value of an option, by its name.
COMPLETIONS: dict[str, Completer] = {
    name: completing(lambda module=module, titles=titles: titles(import_module(f"seldio.{module}")))  # type: ignore[misc]
    for names, (module, titles) in _VALUES.items()
    for name in names.split()
} | {"fail_on": completing(lambda: dict.fromkeys(("error", "warning", "info"), ""))}
