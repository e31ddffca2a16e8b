"""Names of columns, tiers, controls and keys by the field that they hold: one table for all tools."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

#: The unit at the end of a title.
UNIT = re.compile(
    r"(?i)[\s_.(\[-]+(?P<unit>s|sec|seconds?|ms|hz|deg|degrees?|°|rad|radians?|m|met(?:er|re)s?|cm|mm)[)\]]?$"
)


@cache
def plain_title(title: str) -> str:
    """Return a title in the form in which titles are compared: without its unit, its speaker (``@…``) and signs."""
    return re.sub(r"[\W_]+", "", UNIT.sub("", re.sub(r"\s*[(\[@].*", "", title) or title).lower())


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
#: The names of each field that are certain, and all of them, as :func:`plain_title` has them.
NAMES: Mapping[str, list[str]] = {
    field: [plain_title(name) for name in row.get("names", ())] for field, row in _TABLE.items()
}
LIKELY: Mapping[str, list[str]] = {
    field: [*NAMES[field], *map(plain_title, row.get("guesses", ()))] for field, row in _TABLE.items()
}


def column_of(field: str, titles: Iterable[str]) -> str | None:
    """Return the title that is the likeliest to hold a field; None where none is called so."""
    titles_by_plain = {plain_title(title): title for title in reversed([*titles])}
    return next((titles_by_plain[name] for name in NAMES[field] if name in titles_by_plain), None)
