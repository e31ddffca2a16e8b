"""Shell completion of values; what it needs is loaded when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

#: The schemas; listed here because loading them is slow. A test checks that the list is complete.
SCHEMA_NAMES = (
    "clip", "dataset", "event", "item", "prediction", "items", "so-bench", "jasco", "ruenvaqa", "report",
    "scores", "description", "conversion", "package", "push", "pull", "formats", "rules", "error",
)  # fmt: skip
Pairs = Iterable[tuple[str, str]]


def one_of(*names: str) -> Callable[[str], list[str]]:
    """Return what completes an option that takes one of *names*."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def _completer(pairs: Callable[[], Pairs]) -> Callable[[str], Iterator[tuple[str, str]]]:
    """Return what completes a name, with its title."""

    def complete(incomplete: str) -> Iterator[tuple[str, str]]:
        yield from ((name, title) for name, title in pairs() if name.startswith(incomplete))

    return complete


def _last(pairs: Callable[[], Pairs]) -> Callable[[str], Iterator[tuple[str, str]]]:
    """Return what completes the name behind the last comma."""

    def complete(incomplete: str) -> Iterator[tuple[str, str]]:
        before, comma, last = incomplete.rpartition(",")
        yield from ((f"{before}{comma}{name}", title) for name, title in _completer(pairs)(last))

    return complete


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


def _codes() -> Pairs:
    from seldio.rules import CATALOGUE

    return ((rule.code, rule.summary) for rule in CATALOGUE.values())


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


def complete_rules(incomplete: str) -> Iterator[tuple[str, str]]:
    """Return the rules whose code or name begins with *incomplete*, with their summaries."""
    from seldio.rules import CATALOGUE

    yield from _completer(_codes)(incomplete.upper())
    yield from (
        (rule.name, rule.summary) for rule in CATALOGUE.values() if rule.name.startswith(incomplete.lower() or " ")
    )


complete_formats, complete_targets, complete_profiles = map(_completer, (_formats, _targets, _profiles))
#: What completes the value of an option, by its name.
COMPLETIONS: dict[str, Any] = {
    "format": complete_formats, "reference_format": complete_formats, "new_format": complete_formats,
    "predictions_format": complete_formats, "target": complete_targets, "profile": complete_profiles,
    "select": _last(_codes), "ignore": _last(_codes), "classes": _completer(_vocabularies), "tasks": _last(_tasks),
    "allow_loss": _last(_fields), "output": _completer(_outputs), "names": _completer(_datasets),
    "fail_on": one_of("error", "warning", "info"), "code": complete_rules, "record": one_of(*SCHEMA_NAMES),
}  # fmt: skip
