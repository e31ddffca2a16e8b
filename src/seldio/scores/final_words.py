"""What a model's text says in the end: without its thoughts, and only what is in its last box."""

from __future__ import annotations

import re

#: Thoughts between their marks; to the end where they are cut off, from the beginning where only their end is left.
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_BOX = "\\boxed{"
_LATEX = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox)\s*\{([^{}]*)\}")


def final_words(text: str) -> str:
    r"""*text* without thoughts; where it has a box of LaTeX, what is in the last one.

    >>> final_words("<think>A?</think> The answer is $\\boxed{\\text{B}}$.")
    'B'
    """
    if "think" in text.lower():
        text = _THOUGHT.sub(" ", text)
        text = _THOUGHT_END.split(text)[-1]
    if _BOX in text:
        text = _boxed(text.rpartition(_BOX)[2])
    if "\\" in text:
        text = _LATEX.sub(r"\1", text)
    return text.strip()


def _boxed(text: str) -> str:
    """What stands before the brace that closes a box."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            return text[:place]
    return text
