"""How many of anything a plain text says that there are: *two rings*, *twice*, *a dog and a cat*, *nobody*."""

from __future__ import annotations

from itertools import pairwise

from seldio.answers.languages import regex, words
from seldio.answers.quantities import Quantity, count, joined, only, quantities

#: Numbers in words that no number word tells.
_ONCE = regex(r"(?<!at )\b(?:(once)|(twice)|(thrice))\b(?! (?:as|more|the|an?|every|per|each)\b)")
_DOZEN = regex(r"\b(?:(half a dozen)|(a dozen)|(?:a (?:couple|pair)))\b(?! of\b)")
#: A number of which another one is a part.
_OUT_OF = regex(
    r"(?:\A\W*of|\bout of|\bof (?:the|these|those|all))(?: (?:the|these|those|all|a total of))* \d+\b"
    r"(?: (?:sources?|sounds?|events?)\b)?,?"
)
_ANY, _ONE = regex(r"\d|\b(?:one|none)\b"), regex(r"\bone\b")
_TOTAL = regex(r"\s*(?:[a-z-]+\s+){0,2}?(?:in total|total|altogether|overall|in all)\b")
_OR_SO = regex(r"\b(?:possibly|maybe|perhaps|or)\s+\Z")
#: Behind a number and what it counts: something else that may count as well.
_AND_MORE = regex(
    r"[^.;:()\d]{0,60}?(?:,\s*(?:an?|one|\d+|some)\s+[a-z]"
    r"|\b(?:and|plus|with(?! (?:an? )?(?:[a-z]+ )?(?:interval|pause|gap|break)s?\b)|as well as|then|each|per)\b)"
)
#: Before a number that is part of another one.
_OF_WHICH = regex(r"\bof (?:which|whom|them|these|those) \Z")
_NO = r"(?:no|zero|0|not any)"
_NONE = regex(
    r"\A\W*(?:(?:there (?:is|are|was|were)|i (?:can )?(?:hear|detect)) )?(?:nobody|no one|none|nothing|never)"
    r"(?: at all| of (?:them|these|those)|, i (?:think|believe)| (?:is|are|was|were) [a-z]+ing\b(?: [a-z]+){0,3}"
    r"| (?:speaks?|talks?|sings?)| (?:can be|is|was|are|were) heard)?\W*\Z"
    r"|\A\W*(?:it|he|she|they|(?:the )?[a-z]+) never [a-z]+\W*\Z|\A\W*there (?:are|were)(?: not|n't) any\W*\Z"
    r"|\A\W*i (?:do not|don't|can't|cannot) (?:hear|detect) any\W*\Z"
    rf"|\A\W*(?:there(?:'s| is| are| was| were) |i (?:can )?(?:hear|detect) )?{_NO} (?!(?:{words('no_count')})\b)"
    r"[a-z-]+(?: [a-z-]+){0,6}\W*\Z"
)
_SINGLE = regex(
    r"\A\W*(?:there(?:'s| is| was) |i (?:can )?hear )?(?:just |only )?a single [a-z]+\b"
    r"|\A\W*(?:(?:qq|is|it|only) )*one(?: qq)?\W*\Z"
)
#: Before a number that is a name, and no count.
_CALLED = regex(r"\b(?:version|task|option|choice|question|scene|clip|track|channel|part|step)\s+\Z")
#: One thing of a list.
_THING = rf"(?:an?|one) (?!(?:{words('many')})\b)[a-z-]+(?: (?!(?:and|or|with|of|then)\b)[a-z-]+){{0,3}}"
_LIST = regex(rf"\A\W*(?:there(?:'s| is| are) |i (?:can )?hear )?({_THING}(?:, {_THING}){{0,9}},? and {_THING})\W*\Z")
_NEXT = regex(r",? and |, ")


def number_of(text: str) -> int | None:
    """The one number of things, or of times, in a plain text."""
    text = _ONCE.sub(lambda found: f"{found.lastindex} times", text)
    text = _DOZEN.sub(lambda found: {1: "6", 2: "12"}.get(found.lastindex or 0, "2"), text)
    if _ANY.search(part := _OUT_OF.sub(" ", text)) and part != text:
        text = _ONE.sub("1", part)
    if (sources := count(text)) is not None:
        return sources
    numbers = quantities(text)
    found = [each for each in numbers if not each.kind or text[each.start : each.end].endswith(("times", "x"))]
    found = [each for each in found if not _OF_WHICH.search(text, max(0, each.start - 12), each.start)] or found
    if found and ("single" in text or any(_CALLED.search(text, max(0, one.start - 12), one.start) for one in found)):
        return None
    if not found:
        things = _LIST.match(text)
        return len(_NEXT.split(things[1])) if things else 0 if _NONE.match(text) else 1 if _SINGLE.match(text) else None
    found = [each for each in found if _TOTAL.match(text, each.end)] or found
    value = None if any(_unsure(text, each) for each in found) else only(each.value for each in found)
    if value is None or any(joined(text, one, two) and two in found for one, two in pairwise(numbers)):
        return None
    return int(value) if value.is_integer() and value < 1e9 else None


def _unsure(text: str, each: Quantity) -> bool:
    """Whether a number may not be all that is counted."""
    if each.bound or each.signed or each.doubtful or _OR_SO.search(text, max(0, each.start - 20), each.start):
        return True
    return bool(_AND_MORE.match(text, each.end)) and not _TOTAL.match(text, each.end)
