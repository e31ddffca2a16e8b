"""All rules: how one is defined, which ones apply to what, and the loop that runs them.

A rule is a generator function with ``@rule``. Its name is the rule's name, the annotations of its first parameters say
what it checks (questions, a tree, a package, recordings), and its last parameter, ``found``, creates its findings, so
that code, severity and fixability are written once. Its page is ``pages/CODE.md``, whose first line its docstring
repeats. Rules that an extension defines this way run like all others, those for labels too; their docstring is their
page. The rules of seldio for labels are functions of columns (:mod:`seldio.rules.base`).

A module of rules is loaded when there is something that its rules look at, or when one of them is asked for by its
code. What lists rules (``seldio rule --all``, ``--select``, completion) reads :data:`INDEX`, which loads none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple

from seldio import plugins
from seldio.errors import UsageError
from seldio.findings import Finding, Fix, Rule, Severity, Sink
from seldio.reader_rules import READER_RULES, RECORDS
from seldio.text import meant

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

#: The modules of rules. Those of one subject run in this order.
FAMILIES = (
    "submissions", "clip_names", "file_sets", "package_rules", "package_meta", "layout",
    "tree_gaps", "own_dataset", "ignored", "hub", "items", "item_values", "item_choices",
    "item_answers", "item_instructions", "mera", "predictions", "item_audio", "audio", "deep",
    "deep_levels", "video",
)  # fmt: skip


class ListedRule(NamedTuple):
    """What is known of a rule without loading it; ``make index`` writes these into ``rules/index.json``."""

    code: str
    name: str
    severity: Severity
    fix: Fix
    summary: str
    subject: tuple[str, ...]
    module: str  # that defines it; empty for what is a record in ``rules.toml``
    explains: tuple[str, ...] = ()

    @classmethod
    def of(cls, rule: Rule) -> ListedRule:
        """That of a rule that is loaded."""
        function = getattr(rule.check, "func", rule.check)
        function = getattr(getattr(function, "__self__", None), "wrong", function)  # of what a dataset prescribes
        summary, module = rule.summary, function.__module__
        return cls(rule.code, rule.name, rule.severity, rule.fix, summary, rule.subject, module, rule.explains)

    @property
    def record(self) -> Rule:
        """The rule with its page; one of seldio without what checks it, for which no module has to be loaded."""
        own = not self.module or self.module.startswith("seldio.")
        return Rule(self.code, self.name, self.severity, self.fix) if own else CATALOGUE[self.code]


#: The rules that are loaded, by code, and by what they check.
_LOADED: dict[str, Rule] = dict(READER_RULES)
_BY_SUBJECT: dict[tuple[str, ...], list[Rule]] = {}


def register(one: Rule) -> Rule:
    """Add a rule to the catalogue; two rules with the same code are an error."""
    if _LOADED.setdefault(one.code, one) is not one:
        raise ValueError(f"two rules with the code {one.code}")
    _BY_SUBJECT.setdefault(one.subject, []).append(one)
    return one


@cache
def index() -> Mapping[str, ListedRule]:
    """The rules by code, in the order in which those of one subject run; extensions come last."""
    listed = (ListedRule(code, name, Severity(severity), *rest)
              for code, name, severity, *rest in plugins.index("rules"))  # fmt: skip
    outside = map(ListedRule.of, plugins.added("rules", Rule))  # they register themselves when they are created
    recorded = (ListedRule(code, rule.name, rule.severity, rule.fix, RECORDS[code]["summary"], (), "", rule.explains)
                for code, rule in READER_RULES.items())  # fmt: skip
    return {one.code: one for one in (*recorded, *listed, *outside)}


class _Catalogue(Mapping[str, Rule]):
    """Every rule by its code, including those that readers report; each is loaded when it is asked for."""

    def __getitem__(self, code: str) -> Rule:
        listed = index()[code]
        if code not in _LOADED:
            import_module(listed.module)
        return _LOADED[code]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(index()))

    def __len__(self) -> int:
        return len(index())

    def __contains__(self, code: object) -> bool:
        return code in index()


CATALOGUE: Mapping[str, Rule] = _Catalogue()


def rule(
    code: str, severity: Severity, fix: Fix = "none", *, needs: str = "", explains: str = ""
) -> Callable[[Callable[..., Iterator[Finding]]], Rule]:
    """Make a rule from a generator function, and register it; names of columns and codes are separated by spaces."""

    def made(check: Callable[..., Iterator[Finding]]) -> Rule:
        kinds = list(check.__annotations__.values())[: check.__code__.co_argcount - 1]
        subject = tuple(kind if isinstance(kind, str) else kind.__name__ for kind in kinds)
        name, columns = check.__name__.replace("_", "-"), frozenset(needs.split())
        return register(Rule(code, name, severity, fix, check, subject, columns, tuple(explains.split())))

    return made


def rules_for(*subject: type) -> tuple[Rule, ...]:
    """The rules that check objects of these classes, in the order in which they run."""
    return _rules_for(tuple(kind.__name__ for kind in subject))


@cache
def _rules_for(subject: tuple[str, ...]) -> tuple[Rule, ...]:
    order = {code: number for number, code in enumerate(index())}
    for module in {one.module: None for one in index().values() if one.subject == subject and one.module}:
        import_module(module)
    found = _BY_SUBJECT.get(subject, [])
    return tuple(sorted(found, key=lambda one: order.get(one.code, len(order))))


def run(subject: Any, sink: Sink) -> None:
    """Pass the findings of all rules about *subject* to *sink*; see :func:`findings`."""
    for finding in findings(subject):
        sink(finding)


def findings(
    subject: Any, *, chosen: Iterable[Rule] | None = None, skip: Container[str] = (),
    at: Callable[..., Finding] | None = None,
) -> Iterator[Finding]:  # fmt: skip
    """The findings of rules about *subject*.

    Args:
        subject: what the rules check; a plain tuple for rules that check several objects at once. Its parts that have
            rules of their own (its attribute ``subjects``) follow after it.
        chosen: the rules; all that look at such a *subject* if None.
        skip: the codes of rules that are left out.
        at: creates the findings of a rule, which is its first argument; if None, the method ``finding`` of *subject*,
            or that of the rule where the subject has no such method.
    """
    subjects = subject if type(subject) is tuple else (subject,)
    at = at or getattr(subjects[0], "finding", None)
    for one in rules_for(*map(type, subjects)) if chosen is None else chosen:
        fits = not one.needs or one.needs <= subject.fields
        if one.check is not None and one.code not in skip and fits:
            yield from one.check(*subjects, one.at if at is None else partial(at, one))
    for inner in getattr(subject, "subjects", ()) if chosen is None else ():
        yield from findings(inner, skip=skip)


def unexplained(found: Iterable[Finding], source: str) -> list[Finding]:
    """What was *found*, without what others of it account for: one cause is said once.

    What a rule :attr:`~seldio.findings.Rule.explains` is left out where one of its findings is about the same file, or
    one of both is about the whole *source*. What is left out explains nothing itself.
    """
    left = list(found)
    codes = {one.code for one in left}
    for rule in (one for code, one in index().items() if one.explains and code in codes):
        if paths := {one.path for one in left if one.code == rule.code}:
            where = None if source in paths else {source, *paths}
            left = [one for one in left
                    if not (one.code.startswith(rule.explains) and (where is None or one.path in where))]  # fmt: skip
    return left


def get(code: str) -> Rule:
    """The rule with this code, in any case; UsageError if there is none."""
    try:
        return CATALOGUE[code.upper()]
    except KeyError:
        raise _unknown(code) from None


def find(text: str) -> list[ListedRule]:
    """The rules whose code begins with *text*, else the one with that name, else those whose title contains it."""
    word, name = text.strip().lower(), re.sub(r"[\s_]+", "-", text.strip().lower())
    every = [index()[code] for code in sorted(index())]
    found = (
        [rule for rule in every if word and rule.code.startswith(word.upper())]
        or [rule for rule in every if rule.name == name]
        or [rule for rule in every if word and (name in rule.name or word in rule.summary.lower())]
    )
    if not found:
        raise _unknown(text)
    return found


def _unknown(text: str) -> UsageError:
    names = [key for rule in index().values() for key in (rule.code.lower(), rule.name)]
    return UsageError(f"no rule {text!r}{meant(text, names) or '; seldio rule --all lists them'}")
