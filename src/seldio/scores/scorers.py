"""The ways of scoring: which ones there are, without loading any, and by which model they may have judged."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from seldio import plugins
from seldio.errors import UsageError
from seldio.text import meant, printable


class ListedProfile(NamedTuple):
    """The index entry of a profile, known without loading it; ``make index`` writes it into ``scores/index.json``."""

    name: str
    title: str
    scores: str  # labels, maps or answers


@cache
def index() -> tuple[ListedProfile, ...]:
    """Return all profiles: those of seldio, then those in files of datasets from outside."""
    listed = tuple(ListedProfile(*row) for row in plugins.index("scores"))
    if not plugins.data_folders():
        return listed
    from seldio.scores.seld.profiles import PROFILES

    names = {profile.name for profile in listed}
    outside = (profile for profile in PROFILES if profile.name not in names)
    return (*listed, *(ListedProfile(one.name, one.title, "labels") for one in outside))


def scored_content(profile: str) -> str | None:
    """Return the content that a profile scores: labels, maps or answers; None for a profile that is not listed."""
    return next((one.scores for one in index() if one.name == profile), None)


def profile_titles() -> list[tuple[str, str]]:
    """Return all ways of scoring: name and title."""
    return [(one.name, one.title) for one in index()]


@dataclasses.dataclass(frozen=True)
class Judging:
    """A language model that decides what texts do not tell."""

    model: str  # as its server names it
    url: str  # of the server, down to ``/v1``
    cache: str | None = None  # SQLite file of replies
    concurrency: int = 8  # calls at a time
    again: bool = False  # ask again, whatever the cache holds
    timeout: float = 120.0  # seconds without a byte from the server
    retries: int = 4  # further tries of a call that failed
    max_tokens: int = 1024  # of a reply
    temperature: float = 0.0  # of the model
    json_mode: bool = True  # ask the server for JSON; some servers refuse that
    dry_run: bool = False  # ask nothing; say what asking would take
    prompt: str = "seldio"  # the words that it is asked in: seldio's, or those that a benchmark has published

    @classmethod
    def with_settings(cls, model: str, url: str, settings: Mapping[str, Any], dry_run: bool) -> Judging:
        """Return a judge with *settings*, whose values may be texts, as ``--judge-set`` has them.

        Raises:
            UsageError: a setting is unknown, or its value is of another kind.
        """
        defaults = {field.name.removesuffix("_mode"): field.default for field in dataclasses.fields(cls)[2:]}
        values = {}
        for name, value in settings.items():
            if name not in defaults or name == "dry_run":
                names = [known for known in defaults if known != "dry_run"]
                known = f"choose from {', '.join(names)}{meant(name, names)}"
                raise UsageError(f"--judge-set {printable(name)}: no such setting; {known}")
            values["json_mode" if name == "json" else name] = _setting(name, value, type(defaults[name]))
        return cls(model, url, **values, dry_run=dry_run)


_YES_OR_NO = {"yes": True, "true": True, "no": False, "false": False}


def _setting(name: str, value: Any, kind: type) -> Any:
    """Return the value of a setting as what it is."""
    try:
        if kind is bool:
            return value if isinstance(value, bool) else _YES_OR_NO[value]
        return kind(value) if kind in (int, float) else value
    except (KeyError, ValueError):
        expected = "yes or no" if kind is bool else "a number"
        raise UsageError(f"--judge-set {name}={printable(str(value))}: expected {expected}") from None
