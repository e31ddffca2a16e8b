"""All rules: their catalogue, the loop that runs them, and how an extension makes one.

A rule is a record in ``rules.toml`` and a generator function that is called like it. Modules list their functions in
tuples, in the order in which they run. A function gets what it looks at and ``finding``, which makes its findings. An
extension makes its rules with ``@rule``: the annotations of the first parameters say what they look at, and the
docstring is their page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cache, partial
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from seldio import plugins
from seldio.errors import UsageError
from seldio.findings import DOCS, Finding, Fix, Rule, Severity
from seldio.reader_rules import READER_RULES
from seldio.text import meant

if TYPE_CHECKING:
    from seldio.rules.base import Labels as Labels

    CATALOGUE: Mapping[str, Rule]

__all__ = ["CATALOGUE", "ERROR", "INFO", "WARNING", "Labels", "find", "findings", "rule", "unexplained"]

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
Check = Callable[..., Iterator[Finding]]
#: Where a user finds the code that is meant.
WHERE_LISTED = f"seldio rule --all lists them, {DOCS}gone.html those that are part of another one now"
_BY_NAME = {rule.name: rule for rule in READER_RULES.values()}


@cache
def catalogue() -> Mapping[str, Rule]:
    """Return all rules by code, those of extensions as well.

    Raises:
        ValueError: two rules have the same code.
    """
    rules = dict(READER_RULES)
    for rule in plugins.added("rules", Rule):
        if rule.code in rules:
            raise ValueError(f"two rules with the code {rule.code}")
        rules[rule.code] = rule
    return dict(sorted(rules.items()))


def rule(code: str, severity: Severity, fix: Fix = "none", *, needs: str = "") -> Callable[[Check], Rule]:
    """Make a rule of an extension from a generator function; *needs* are names of columns, separated by spaces."""

    def made(check: Check) -> Rule:
        kinds = list(check.__annotations__.values())[: check.__code__.co_argcount - 1]
        subject = tuple(kind if isinstance(kind, str) else kind.__name__ for kind in kinds)
        name, summary = check.__name__.replace("_", "-"), cleandoc(check.__doc__ or "").partition("\n")[0]
        return Rule(code, name, severity, fix, check, subject, frozenset(needs.split()), summary=summary)

    return made


def rule_of(check: Callable[..., Any]) -> Rule:
    """Return the rule that a function checks, which is called like it."""
    return _BY_NAME[check.__name__.replace("_", "-")]


def findings(
    checks: Iterable[Check], *subjects: Any, skip: Container[str] = (), at: Callable[..., Any] | None = None
) -> Iterator[Any]:
    """Yield what functions and the rules of extensions find in *subjects*, but for the codes *skip*.

    The method ``finding`` of the first subject makes the findings of a rule, or that of the rule where the subject has
    none; *at* takes its place.
    """
    at = at or getattr(subjects[0], "finding", None)
    kinds = tuple(type(subject).__name__ for subject in subjects)
    added = [(rule, rule.check) for rule in plugins.added("rules", Rule) if rule.subject == kinds]
    for rule, check in [*((rule_of(check), check) for check in checks), *added]:
        if check is not None and rule.code not in skip and (not rule.needs or rule.needs <= subjects[0].fields):
            yield from check(*subjects, rule.at if at is None else partial(at, rule))


def unexplained(findings: Iterable[Finding], source: str) -> list[Finding]:
    """Return *findings* without what others of them account for: one cause is said once.

    What a rule :attr:`~seldio.findings.Rule.explains` is left out where one of its findings is about the same file, or
    one of both is about the whole *source*. What is left out explains nothing itself.
    """
    left = list(findings)
    codes = {finding.code for finding in left}
    for rule in (rule for rule in READER_RULES.values() if rule.explains and rule.code in codes):
        paths = {finding.path for finding in left if finding.code == rule.code}
        where = {finding.path for finding in left} if source in paths else {source, *paths}
        if paths:
            left = [each for each in left if not (each.code.startswith(rule.explains) and each.path in where)]
    return left


def find(text: str) -> list[Rule]:
    """Return the rules whose code begins with *text*, else the one of that name, else those with it in their title."""
    word, name = text.strip().lower(), re.sub(r"[\s_]+", "-", text.strip().lower())
    rules = catalogue().values()
    fits = (
        [rule for rule in rules if word and rule.code.startswith(word.upper())]
        or [rule for rule in rules if rule.name == name]
        or [rule for rule in rules if word and (name in rule.name or word in rule.summary.lower())]
    )
    if not fits:
        is_code = re.fullmatch(r"[a-z]{3}\d{3}", word)  # another number is another rule
        names = [key for rule in rules for key in (rule.name, rule.code.lower())[: 1 if is_code else 2]]
        raise UsageError(f"no rule {text!r}{meant(text, names) or f'; {WHERE_LISTED}'}")
    return fits


def __getattr__(name: str) -> Any:
    if name == "CATALOGUE":  # with the rules of extensions, which import this package
        return catalogue()
    if name == "Labels":  # what rules of extensions about labels name; whoever looks for a rule needs no arrays
        from seldio.rules.base import Labels

        return Labels
    raise AttributeError(f"module 'seldio.rules' has no attribute {name!r}")
