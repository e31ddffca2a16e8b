"""The tables of a SELD score."""

from __future__ import annotations

from collections.abc import Sequence

from seldio.reports.tables import Cell, Column, Interval, Table
from seldio.scores.seld.seld_notices import SeldCase
from seldio.scores.seld.seld_score import SeldScore
from seldio.scores.seld.sides import Floats

_REFERENCES = Column("references", "references", "", 0, None, "references counted, in segments or frames")
_CLIPS = Column("clips", "clips", "", 0, None, "clips that the row is over")


def tables(system: str, case: SeldCase) -> tuple[Table, ...]:
    """All tables of a score, the overall one first.

    Args:
        system: the name of what was scored.
        case: the score, what it was made of and what is to be shown.
    """
    score = case.score
    found = [_overall(system, score, case.intervals, case.official_points)]
    if case.published is not None:
        found.append(_definition(score, case.published))
    if score.average == "macro":
        found.append(_classes(score, case.labels, case.intervals))
    if len(score.rooms) > 1:
        found.append(_rooms(score))
    if case.by_clip:
        found.append(_clips(score))
    return tuple(found)


def _overall(system: str, score: SeldScore, jackknife: bool, official_points: bool) -> Table:
    values = score.values().overall[0]
    rows = [(system, *values.tolist())]
    if jackknife:
        low, high = score.jackknife()
        rows = [(system, *_intervals(values, low.overall[0], high.overall[0]))]
    if official_points:
        rows.append(("as the official jackknife prints it", *score.left_out().overall[-1].tolist()))
    title = "overall" + (", 95 % confidence intervals by jackknife over clips" if jackknife else "")
    return Table("overall", title, (Column("system", "system"), *score.profile.columns), tuple(rows))


def _definition(score: SeldScore, published: SeldScore) -> Table:
    """The score beside that of the published definition, for the scores that both have."""
    official = dict(zip(_names(score), score.values().overall[0].tolist(), strict=True))
    other = dict(zip(_names(published), published.values().overall[0].tolist(), strict=True))
    columns = [column for column in score.profile.columns if column.name in other]
    rows: tuple[tuple[Cell, ...], ...] = (
        (score.profile.name, *(official[column.name] for column in columns)),
        (published.profile.name, *(other[column.name] for column in columns)),
        ("difference", *(official[column.name] - other[column.name] for column in columns)),
    )
    return Table("definition", "beside the published definition", (Column("profile", "profile"), *columns), rows)


def _classes(score: SeldScore, labels: Sequence[str], jackknife: bool) -> Table:
    values = score.values().by_class
    assert values is not None
    ends = [end.by_class for end in score.jackknife()] if jackknife else []
    counts = score.counts.references.sum(axis=0).astype(int).tolist()
    columns = [column for column in score.profile.columns if column.name != "ER"]
    kept = [number for number, column in enumerate(score.profile.columns) if column.name != "ER"]
    rows: list[tuple[Cell, ...]] = []
    for number, label in enumerate(labels):
        cells = (
            _intervals(*(array[0, kept, number] for array in (values, *ends) if array is not None))
            if ends
            else values[0, kept, number].tolist()
        )
        rows.append((label, counts[number], *cells))
    return Table("classes", "by class", (Column("class", "class"), _REFERENCES, *columns), tuple(rows))


def _rooms(score: SeldScore) -> Table:
    rows = tuple((room, len(clips), *score.there(clips)[0].tolist()) for room, clips in score.rooms.items())
    return Table("rooms", "by room", (Column("room", "room"), _CLIPS, *score.profile.columns), rows)


def _clips(score: SeldScore) -> Table:
    each = score.each_there()
    references = score.counts.references.sum(axis=1).astype(int).tolist()
    rows = tuple((clip, references[number], *each[number].tolist()) for number, clip in enumerate(score.clips))
    return Table("clips", "by clip", (Column("clip", "clip"), _REFERENCES, *score.profile.columns), rows)


def _names(score: SeldScore) -> list[str]:
    return [column.name for column in score.profile.columns]


def _intervals(values: Floats, low: Floats, high: Floats) -> tuple[Cell, ...]:
    return tuple(Interval(*ends) for ends in zip(values.tolist(), low.tolist(), high.tolist(), strict=True))
