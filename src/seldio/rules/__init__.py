"""All rules, in one explicit catalogue; the documentation and the command line are made from it."""

from __future__ import annotations

import re

from seldio.errors import UsageError
from seldio.reader_rules import READER_RULES
from seldio.rules import (
    audio,
    deep,
    hub,
    item_audio,
    items,
    labels,
    layout,
    mera,
    misreadings,
    package_rules,
    predictions,
    stored,
    submissions,
    video,
)
from seldio.rules.base import Labels, Rule
from seldio.text import meant

#: Rules that look at label tables; misreadings first, since they account for values out of range.
LABEL_RULES: tuple[Rule, ...] = (*misreadings.RULES, *labels.RULES)

#: Rules that look at all label files of one system or folder together.
SET_RULES: tuple[Rule, ...] = submissions.RULES
#: Rules for the zip that goes to the challenge.
PACKAGE_RULES: tuple[Rule, ...] = package_rules.RULES
#: Rules for the folders of a data set.
TREE_RULES: tuple[Rule, ...] = (*layout.RULES, *stored.RULES)
#: Rules for what goes to the Hub.
HUB_RULES: tuple[Rule, ...] = hub.RULES
#: Rules for questions and predictions.
ITEM_RULES: tuple[Rule, ...] = (*items.RULES, *mera.ITEM_RULES, *predictions.ITEM_RULES)

#: The modules of all rules with a check, one for each family.
FAMILIES = (
    hub,
    items,
    item_audio,
    mera,
    predictions,
    labels,
    misreadings,
    submissions,
    package_rules,
    layout,
    stored,
    audio,
    deep,
    video,
)

#: Every rule by its code, codes sorted.
CATALOGUE: dict[str, Rule] = {
    rule.code: rule
    for rule in sorted(
        (*READER_RULES.values(), *(rule for family in FAMILIES for rule in family.RULES)), key=lambda rule: rule.code
    )
}


def get(code: str) -> Rule:
    """The rule with this code, in any case.

    Raises:
        UsageError: there is none.
    """
    try:
        return CATALOGUE[code.upper()]
    except KeyError:
        raise _unknown(code) from None


def find(text: str) -> list[Rule]:
    """The rules whose code begins with *text*, else the one of that name, else those whose title has it in it.

    Raises:
        UsageError: there is none.
    """
    word, name = text.strip().lower(), re.sub(r"[\s_]+", "-", text.strip().lower())
    every = CATALOGUE.values()
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


__all__ = [
    "CATALOGUE",
    "HUB_RULES",
    "ITEM_RULES",
    "LABEL_RULES",
    "PACKAGE_RULES",
    "SET_RULES",
    "TREE_RULES",
    "Labels",
    "Rule",
    "find",
    "get",
]
