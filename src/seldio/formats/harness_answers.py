"""The option that a reply names, for the task of lmms-eval that seldio writes: its file of functions begins with this.

It depends on nothing, so that the task runs without seldio, and its number is the same wherever it is worked out.
"""

from __future__ import annotations

import re

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
THOUGHTS = r"(?:think(?:ing)?|thoughts?|reasoning)"
THOUGHT = re.compile(rf"<{THOUGHTS}>.*?(?:</{THOUGHTS}>|\Z)|\A.*</{THOUGHTS}>", re.DOTALL | re.IGNORECASE)
#: What marks the answer; the last of each counts.
MARKED = (
    re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL | re.IGNORECASE),
    re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}"),
    re.compile(
        r"\b(?:answer|ответ|(?:correct|right|best) (?:option|choice))[\"'*_`\s]{0,9}(?:\bis\b|[:=—\n]|- )"
        r"[^\w(]{0,20}(.*)",
        re.IGNORECASE,
    ),
)
LABEL = re.compile(
    r"[\W_]*(?:(?i:option|choice|вариант)\W+)?([A-Z]|[a-z](?=[\W_]*\Z))(?![^\W_])(?:[).:\]*_]+|(?=[\W_]*\Z))(.*)",
    re.DOTALL,
)
SEVERAL = re.compile(r"\b(?:or|and|not|или|и|не)\b|\(?\b[A-Z][).:]")
DENIED = re.compile(r"(?:n't|n’t|\bnot|\bnever|\bне)\b[^.;:\n]{0,40}\b(?:answer|option|choice|ответ)", re.IGNORECASE)


def plain(text: str) -> str:
    """The words of a text."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def chosen(text: str, options: list[str]) -> str | None:
    """The option that a reply names by its text or its letter; None where it names none, or several."""
    text = THOUGHT.sub(" ", text).strip()
    if DENIED.search(text) or text.rstrip("*_`\"' ").endswith("?"):
        return None
    for mark in MARKED:
        if found := mark.findall(text):
            return named(found[-1].strip().partition("\n")[0], options)
    return named(text, options) or named(text.rpartition("\n")[2], options)


def named(text: str, options: list[str]) -> str | None:
    """The option whose text a text is, or that it begins with the letter of."""
    for option in options:
        if plain(text) == plain(option):
            return option
    label = LABEL.match(text.strip())
    number = LETTERS.index(label[1].upper()) if label else len(options)
    if label is None or number >= len(options):
        return None
    rest, option = label[2], options[number]
    others = [other for other in options if other != option and f" {plain(other)} " in f" {plain(rest)} "]
    return option if plain(rest) == plain(option) or not (others or SEVERAL.search(rest)) else None
