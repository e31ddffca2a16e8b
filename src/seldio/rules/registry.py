"""All rules: how one is written, which of them look at what, and the one loop that runs them.

A rule is a generator function with ``@rule``. Its name and docstring are the rule's name and page, its first
parameters say what it looks at (label tables, questions, a tree, a package, recordings), and its last one, ``found``,
makes its findings, so that code, severity and fixability are written once. What an extension defines this way is
checked like the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial, update_wrapper
from typing import Any

from seldio.errors import UsageError
from seldio.findings import Finding, Fix, Rule, Severity, Sink
from seldio.reader_rules import READER_RULES
from seldio.text import meant

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

#: A mask over the rows of a table; None where it marks none.
Marked = Any

#: Every rule by its code, those that readers report included.
CATALOGUE: dict[str, Rule] = dict(READER_RULES)
#: Rules by what they look at, in the order in which they run: that of their definition.
_BY_SUBJECT: dict[tuple[str, ...], list[Rule]] = {}


def register(one: Rule) -> Rule:
    """Add a rule to the catalogue, as the last one of those that look at the same; another of its code is an error."""
    if CATALOGUE.setdefault(one.code, one) is not one:
        raise ValueError(f"two rules with the code {one.code}")
    _BY_SUBJECT.setdefault(one.subject, []).append(one)
    return one


def rule(
    code: str, severity: Severity, fix: Fix = "none", *, needs: str = "", lacks: str = ""
) -> Callable[[Callable[..., Iterator[Finding]]], Rule]:
    """Make a rule of a generator function, and register it; names of columns are separated by spaces."""

    def made(check: Callable[..., Iterator[Finding]]) -> Rule:
        kinds = list(check.__annotations__.values())[: check.__code__.co_argcount - 1]
        subject = tuple(kind if isinstance(kind, str) else kind.__name__ for kind in kinds)
        name, columns = check.__name__.replace("_", "-"), (frozenset(needs.split()), frozenset(lacks.split()))
        return register(Rule(code, name, severity, fix, check, subject, *columns))

    return made


def row_rule(
    code: str, severity: Severity, fix: Fix = "none", *, field: str, message: str, hint: str, needs: str = ""
) -> Callable[[Callable[[Any], Marked]], Rule]:
    """Make a rule of a function that marks the rows of a table with one fault, and register it.

    All these rows get one sentence at *field*, in which ``{text}`` is what stands there and ``{name}`` what the method
    ``cell`` of the table gives.
    """

    def made(mask: Callable[[Any], Marked]) -> Rule:
        def check(table: Any, found: Callable[..., Finding]) -> Iterator[Finding]:
            for row in table.where(field, mask(table)):
                yield found(row, field, message.format_map(_Words(table, row, field)), hint)

        return rule(code, severity, fix, needs=needs)(update_wrapper(check, mask))

    return made


class _Words(dict[str, Any]):
    """The words for one row, each looked up when a sentence has a place for it."""

    def __init__(self, table: Any, row: int, field: str) -> None:
        self._place = table, row, field

    def __missing__(self, name: str) -> Any:
        table, row, field = self._place
        return table.text(row, field) if name == "text" else table.cell(row, name)


def rules_for(*subject: type) -> tuple[Rule, ...]:
    """The rules that look at objects of these classes, in the order in which they run."""
    return tuple(_BY_SUBJECT.get(tuple(kind.__name__ for kind in subject), ()))


def run(subject: Any, sink: Sink, *, skip: Container[str] = ()) -> None:
    """Hand what all rules find in *subject* to *sink*; see :func:`findings`."""
    for finding in findings(subject, skip=skip):
        sink(finding)


def findings(
    subject: Any, *, chosen: Iterable[Rule] | None = None, skip: Container[str] = (),
    at: Callable[..., Finding] | None = None,
) -> Iterator[Finding]:  # fmt: skip
    """What rules find in *subject*.

    Args:
        subject: what rules look at; a plain tuple for those that look at several objects at once. If it is found to
            be something else altogether (its attribute ``foreign``), the rules that are left have nothing to say.
            What it holds that rules look at by itself (its attribute ``subjects``) comes after it.
        chosen: the rules; all that look at such a *subject* if None.
        skip: the codes of rules that are left out.
        at: makes the findings of a rule, which it is given first; the method ``finding`` of *subject* if None, or
            that of the rule where there is no such method.
    """
    subjects = subject if type(subject) is tuple else (subject,)
    at = at or getattr(subjects[0], "finding", None)
    for one in rules_for(*map(type, subjects)) if chosen is None else chosen:
        fits = not one.needs or (one.needs <= subject.fields and not one.lacks & subject.fields)
        if one.check is not None and one.code not in skip and fits:
            yield from one.check(*subjects, one.at if at is None else partial(at, one))
        if getattr(subject, "foreign", False):
            return
    for inner in getattr(subject, "subjects", ()) if chosen is None else ():
        yield from findings(inner, skip=skip)


def get(code: str) -> Rule:
    """The rule with this code, in any case; UsageError if there is none."""
    try:
        return CATALOGUE[code.upper()]
    except KeyError:
        raise _unknown(code) from None


def find(text: str) -> list[Rule]:
    """The rules whose code begins with *text*, else the one of that name, else those whose title has it in it."""
    word, name = text.strip().lower(), re.sub(r"[\s_]+", "-", text.strip().lower())
    every = [CATALOGUE[code] for code in sorted(CATALOGUE)]
    found = (
        [rule for rule in every if word and rule.code.startswith(word.upper())]
        or [rule for rule in every if rule.name == name]
        or [rule for rule in every if word and (name in rule.name or word in rule.summary.lower())]
    )
    if not found:
        raise _unknown(text)
    return found


def _unknown(text: str) -> UsageError:
    names = [key for rule in CATALOGUE.values() for key in (rule.code.lower(), rule.name)]
    return UsageError(f"no rule {text!r}{meant(text, names) or '; seldio rule --all lists them'}")
