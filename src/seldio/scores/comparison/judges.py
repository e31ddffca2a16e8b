"""Judgements of the same answers compared: a judge with itself, with another judge, or with people.

Files of judgements are JSON Lines with ``id`` and ``judgement`` (see :mod:`seldio.scores.judge.messages`). A judgement
in the form of JASCO's is read as it is meant, *points* being what it is worth; of objects each field is compared by
itself, with a field that is missing or null as a category of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from seldio.errors import DataError, UsageError
from seldio.files.sources import Place, path_of
from seldio.reports.tables import Cell, Column, Interval, Notice, ScoreReport, Table, in_order
from seldio.scores.answers import judgements_of
from seldio.scores.comparison.pairs import same_systems, system_names
from seldio.scores.jasco.judging import of as read_jasco
from seldio.scores.judge.messages import Judgement
from seldio.scores.proportions import confusion, kappa_interval, wilson
from seldio.scores.resampling import ENOUGH, FEWEST, Resampling, interval_cells
from seldio.text import listed, plural


def compare_judgements(
    judges: Sequence[Place], people: Place | None, draw: Resampling, *, allow_missing: bool = False, most: int = 10
) -> ScoreReport:
    """How far judgements of the same answers agree.

    Args:
        judges: a file of judgements of each run or judge.
        people: judgements to compare each with, such as those of people; without, the files are compared in pairs.
        draw: how answers are resampled for the intervals of kappa.
        allow_missing: compare the answers that all files have where some lack others.
        most: how many of the answers that they disagree about are listed.

    Raises:
        UsageError: a file cannot be read, or there is nothing to compare with.
        DataError: a line is not a judgement, or files lack answers.
    """
    paths = [*judges, *([people] if people is not None else [])]
    if len(paths) < 2:
        raise UsageError("one file of judgements has nothing to be compared with: give another run, or --reference")
    names, files = system_names(paths), [judgements_of(path_of(path)) for path in paths]
    ids, left_out = _common(names, files, allow_missing)
    read = [{id: _fields(found[id]) for id in ids} for found in files]
    fields = sorted({field for found in read for each in found.values() for field in each}, key=_order)
    last = len(paths) - 1
    pairs = [(one, last) for one in range(last)] if people is not None else list(combinations(range(len(paths)), 2))
    rows: list[tuple[Cell, ...]] = []
    differing: dict[str, list[str]] = {}
    alone: dict[str, None] = {}  # fields that only one side ever has
    for one, other in pairs:
        for field in fields:
            first, second = ([found[id].get(field, _NOTHING) for id in ids] for found in (read[one], read[other]))
            if {*first} == {_NOTHING} or {*second} == {_NOTHING}:
                if {*first} != {*second}:
                    alone.setdefault(field, None)
                continue
            rows.append((f"{names[one]}, {names[other]}: {field}", *_agreement(first, second, draw)))
            for id, a, b in zip(ids, first, second, strict=True):
                if a != b:
                    differing.setdefault(id, []).append(field)
    if not rows:
        raise DataError(f"the judgements have no field in common (only one file has {listed(list(alone))})")
    tables = [Table("agreement", _title(people is not None), _COLUMNS, tuple(rows))]
    if differing and most:
        order = sorted(ids, key=lambda id: -len(differing.get(id, ())))[:most]
        shown = tuple(
            (id, len(differing[id]), listed(list(dict.fromkeys(differing[id])), 4)) for id in order if id in differing
        )
        heads = (Column("id", "answer"), Column("fields", "differences", "", 0), Column("which", "fields"))
        title = f"{len(shown):,} of {plural(len(differing), 'answer')} that are judged differently"
        tables.append(Table("answers", title, heads, shown, aside=True))
    head = f"{plural(len(judges), 'judge')} and {names[-1]}" if people is not None else f"{plural(len(paths), 'run')}"
    title = "agreement with a reference, such as people" if people is not None else "repeatability of judgements"
    settings = {"resamples": draw.resamples, "seed": draw.seed, "allow_missing": allow_missing}
    same = same_systems(names, paths, lambda a, b: files[a] == files[b], "the same judgements")
    told = in_order([*same, *_notices(left_out, rows, len(ids), list(alone))])
    return ScoreReport(head, "", title, plural(len(ids), "answer"), tuple(tables), told, settings)


def _title(people: bool) -> str:
    return f"agreement {'with the reference' if people else 'of the runs'}, field by field, 95 % confidence intervals"


_COLUMNS = (
    Column("pair", "judgements"),
    Column("items", "answers", "", 0, None, "answers that both judge"),
    Column("agreement", "agreement", "%", 1, "higher", "share of answers with the same judgement (Wilson's interval)"),
    Column("kappa", "kappa", "", 3, "higher", "Cohen's kappa: agreement beyond chance, 1 at most; bootstrap interval"),
    Column("categories", "categories", "", 0, None, "different judgements that occur"),
)


def _agreement(first: Sequence[str], second: Sequence[str], draw: Resampling) -> tuple[Cell, ...]:
    names, codes = confusion(first, second)
    same, count = int((codes[0] == codes[1]).sum()), codes.shape[1]
    both = np.array([(same / count, *wilson(same, count)), kappa_interval(codes, len(names), draw)])
    share, beyond = interval_cells(both[:, 0], both[:, 1], both[:, 2], count >= FEWEST, [False, count < ENOUGH])
    # free numbers and texts are nearly each a category
    return count, share, beyond if len(names) <= _MANY else None, len(names)


#: Categories beyond which kappa says nothing.
_MANY = 20
#: What stands for a field without a value.
_NOTHING = "—"


def _common(
    names: Sequence[str], files: Sequence[Mapping[str, Judgement]], allow_missing: bool
) -> tuple[list[str], int]:
    """The answers that all files judge, in the order of the first, and how many others there are."""
    shared = [id for id in files[0] if all(id in found for found in files)]
    every = dict.fromkeys(id for found in files for id in found)
    lacking = {name: [id for id in every if id not in found] for name, found in zip(names, files, strict=True)}
    if not shared:
        raise DataError("the files have no answer in common: they are joined by id")
    if not allow_missing and any(lacking.values()):
        texts = [f"{name} lacks {plural(len(ids), 'answer')} ({listed(ids)})" for name, ids in lacking.items() if ids]
        raise DataError(f"{'; '.join(texts)}. Judge them, or use --allow-missing to compare those that all have")
    return shared, len(every) - len(shared)


def _fields(judgement: Judgement) -> dict[str, str]:
    """What a judgement says, field by field, as text."""
    jasco = read_jasco(judgement)
    if jasco.rating is not None or jasco.orientation is not None:
        said = {"rating": jasco.rating, "orientation": jasco.orientation, "points": jasco.points}
        return {name: _NOTHING if value is None else str(value) for name, value in said.items()}
    if isinstance(judgement, str):
        return {"judgement": " ".join(judgement.casefold().split())}
    return dict(_leaves(judgement, ""))


#: Free words of a judge, which are not a judgement.
_FREE = ("notes", "request", "explanation", "reason")


def _leaves(value: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for key, inner in value.items():
        if not prefix and key in _FREE:
            continue
        if isinstance(inner, dict):
            yield from _leaves(inner, f"{prefix}{key}.")
        elif inner is not None and inner != []:
            yield f"{prefix}{key}", inner.casefold() if isinstance(inner, str) else json.dumps(inner, sort_keys=True)


def _order(field: str) -> tuple[bool, str]:
    """What is compared with the right answer comes before what was read."""
    return field.startswith("prediction."), field


def _notices(left_out: int, rows: Sequence[tuple[Cell, ...]], count: int, alone: list[str]) -> Iterator[Notice]:
    if left_out:
        text = f"compared over the answers that all files judge; {plural(left_out, 'answer')} left out"
        yield Notice("common-answers", text, grave=True)
    if alone:
        text = f"only one side ever judges {listed(alone, 5)}: not compared"
        yield Notice("one-sided", text)
    if count < FEWEST:
        yield Notice("few-units", f"{plural(count, 'answer')} are too few to generalize from", grave=True)
    elif count < ENOUGH:
        yield Notice("few-units", f"* only {count} answers: intervals of kappa are a little too narrow")
    if any(isinstance(row[3], Interval) and np.isnan(row[3].value) for row in rows):
        text = "kappa is not defined where every judgement is the same: there is nothing that chance could get wrong"
        yield Notice("one-category", text)
