"""Detect what to score: labels, energy maps of labels, or answers to questions."""

from __future__ import annotations

from seldio import formats
from seldio.catalogues import Catalogue, all_csv
from seldio.files.sources import Place, reopened
from seldio.findings import raise_errors
from seldio.formats.datasets import of_dialect
from seldio.scores.scorers import ANSWERS, MAPS


def holds_answers(path: Place, profile: str | None, format: str | None) -> bool:
    """Return whether predictions are answers to questions, by the profile, the format or the content."""
    if profile is not None:
        return profile in ANSWERS
    if format is not None:
        return formats.of_questions(format) is not None
    with reopened(path, raise_errors) as source:
        return Catalogue(source, labels=False).asked is not None


def see_labels(predictions: Place, reference: Place) -> None:
    """See that nothing but answers is compared with questions.

    Raises:
        UsageError: something else is; the message says which keys are wanted, and which are there.
    """
    if reference != "-":
        with reopened(reference, raise_errors) as source:
            asked = Catalogue(source, labels=False).asked if source.single else None
            if asked is not None and asked.holds == "items":
                from seldio.scores.answers import no_answers

                raise no_answers(predictions, source)


def profile_for_maps(
    predictions: Place, reference: Place, profile: str | None, *, format: str | None, reference_format: str | None
) -> str | None:
    """Return the profile of energy maps that the user names, or that belongs to what a side holds; None without one.

    Raises:
        UsageError: a path or a format does not exist.
    """
    if profile is not None:
        return profile if profile in MAPS else None
    for path, layout in ((reference, reference_format), (predictions, format)):
        if path == "-":
            continue
        if layout is not None:
            names = {formats.get(layout).name}
        else:
            with reopened(path, raise_errors) as source:
                parts = [] if all_csv(source) else Catalogue(source).labels
                names = {part.format.name for part in parts if part.format is not None}
        for row in (row for name in names for row in of_dialect(name)):
            if row.profile in MAPS:
                return row.profile
    return None
