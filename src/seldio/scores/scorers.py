"""The ways of scoring: which ones there are, without loading any, and by which model they may have judged."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import NamedTuple

from seldio import plugins


class ListedProfile(NamedTuple):
    """What is known of a profile without loading it; ``make index`` writes these into ``scores/index.json``."""

    name: str
    title: str
    scores: str  # labels, maps or answers


@cache
def index() -> tuple[ListedProfile, ...]:
    """All profiles: those of seldio, then those in files of datasets from outside."""
    listed = tuple(ListedProfile(*row) for row in plugins.index("scores"))
    if not plugins.data_folders():
        return listed
    from seldio.scores.seld.profiles import PROFILES

    names = {profile.name for profile in listed}
    outside = (profile for profile in PROFILES if profile.name not in names)
    return (*listed, *(ListedProfile(one.name, one.title, "labels") for one in outside))


def what(profile: str) -> str | None:
    """What the profile called *profile* scores: labels, maps or answers; None where none has that name."""
    return next((one.scores for one in index() if one.name == profile), None)


def profile_titles() -> list[tuple[str, str]]:
    """All ways of scoring: name and title."""
    return [(one.name, one.title) for one in index()]


@dataclasses.dataclass(frozen=True)
class JudgeOptions:
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
