"""Shell completion of values; what it needs is loaded when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

Pairs = Iterable[tuple[str, str]]


def _formats() -> Pairs:
    from seldio.formats import index

    return ((name, format.title) for format in index() for name in (format.name, *format.aliases))


def _targets() -> Pairs:
    from seldio.conversion.dispatch import STORED

    yield from _formats()
    yield from ((name, "recordings of the other microphone format") for name in ("foa", "mic"))
    yield from ((name, "a whole dataset") for name in STORED)


def _datasets() -> Pairs:
    from seldio.formats.about import every

    return ((known.name, known.title) for known in every())


def _profiles() -> Pairs:
    from seldio.scores.scorers import profile_titles

    return profile_titles()


def _rules() -> Pairs:
    from seldio.rules import CATALOGUE

    return ((name, rule.summary) for rule in CATALOGUE.values() for name in (rule.code, rule.name))


def _vocabularies() -> Pairs:
    from seldio.vocabularies import names, vocabulary

    return ((name, vocabulary(name).title) for name in names())


def _tasks() -> Pairs:
    from seldio.tasks.specs import ASKED

    return ((name, "") for name in ASKED)


def _fields() -> Pairs:
    from seldio.schema.events import COLUMNS

    return ((name, "") for name in ("all", *COLUMNS))


def _outputs() -> Pairs:
    from seldio.reports import OUTPUTS

    return ((name, "") for name in OUTPUTS)


def _schemas() -> Pairs:
    from seldio.schemas import SCHEMAS

    return ((name, "") for name in SCHEMAS)


def one_of(*names: str) -> Callable[[str], Iterator[tuple[str, str]]]:
    """Return what completes an option that takes one of *names*."""
    return _completer(lambda: ((name, "") for name in names))


def _completer(pairs: Callable[[], Pairs]) -> Callable[[str], Iterator[tuple[str, str]]]:
    """Return what completes the name behind the last comma, with its title."""

    def complete(incomplete: str) -> Iterator[tuple[str, str]]:
        before, comma, last = incomplete.rpartition(",")
        for name, title in pairs():
            if name.lower().startswith(last.lower()):
                yield f"{before}{comma}{name}", title

    return complete


#: What completes the value of an option, by its name.
COMPLETIONS: dict[str, Any] = {
    **dict.fromkeys(("format", "reference_format", "new_format", "predictions_format"), _completer(_formats)),
    **dict.fromkeys(("select", "ignore", "code"), _completer(_rules)),
    "target": _completer(_targets),
    "profile": _completer(_profiles),
    "classes": _completer(_vocabularies),
    "tasks": _completer(_tasks),
    "allow_loss": _completer(_fields),
    "output": _completer(_outputs),
    "names": _completer(_datasets),
    "record": _completer(_schemas),
    "fail_on": one_of("error", "warning", "info"),
}
