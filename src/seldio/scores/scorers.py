"""The ways of scoring: which ones there are, without loading any."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from seldio import plugins


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
    return (*listed, *(ListedProfile(profile.name, profile.title, "labels") for profile in outside))


def scored_content(profile: str) -> str | None:
    """Return the content that a profile scores: labels, maps or answers; None for a profile that is not listed."""
    return next((each.scores for each in index() if each.name == profile), None)


def profile_titles() -> list[tuple[str, str]]:
    """Return all ways of scoring: name and title."""
    return [(profile.name, profile.title) for profile in index()]
