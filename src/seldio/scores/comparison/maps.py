"""Systems of semantic acoustic imaging, compared on the clips that all of them have; intervals of one system."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from seldio.errors import DataError
from seldio.files.sources import Place, path_of
from seldio.geometry import Floats
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, in_order, measured, said_of
from seldio.scores.comparison.pairs import Against, Contest, naming, same_systems, system_names
from seldio.scores.imaging.report import ImagingCase, score_columns
from seldio.scores.imaging.resampled import RankedMaps, about_classes, support_of, with_intervals
from seldio.scores.imaging.score_maps import ImagingOptions, MapsCounted, report_of, scored_maps
from seldio.scores.resampling import ENOUGH, Resampling, p_value, rooms_of, units_of, weights
from seldio.scores.signatures import of_comparison
from seldio.text import plural


def compare_maps(
    systems: Sequence[Place], reference: Place, options: ImagingOptions, draw: Resampling, *, against: Against = "all",
    lead: str | None = None, most: int = 10, format: str | None = None, reference_format: str | None = None,
) -> ScoreReport:  # fmt: skip
    """Compare the energy maps of systems with those of labels, and with each other; of one system, intervals.

    Args:
        systems: files, folders or archives with JSON of 2026.
        reference: the labels.
        options: how they are scored.
        draw: how clips or rooms are resampled.
        against: which pairs are compared.
        lead: the score whose test decides which system is better; by default that of the profile.
        most: how many of the clips that differ most are shown.
        format: the format of the predictions; detected by default.
        reference_format: the format of the reference; detected by default.

    Raises:
        InvalidData, UsageError: as :func:`~seldio.scores.imaging.score_maps.score_maps`; or a clip has no room.
        DataError: clips have no prediction or no reference, or the systems have no clip in common.
    """
    names = system_names(systems)
    cases = []
    for name, path in zip(names, systems, strict=True):
        with naming(name, len(names) > 1):
            cases.append(scored_maps(path, reference, options, format, reference_format))
    deciding = measured(score_columns(cases[0].profile), lead or cases[0].profile.lead, "--lead")
    if len(cases) == 1:
        return with_intervals(report_of(path_of(systems[0]), cases[0]), cases[0], draw)
    clips = [clip for clip in cases[0].counted if all(clip in case.counted for case in cases)]
    if not clips:
        raise DataError("the systems have no clip in common: nothing can be compared")
    unit_of = units_of(tuple(clips), rooms_of(clips), draw.over)
    counts = [[case.counted[clip] for clip in clips] for case in cases]
    profile, average = cases[0].profile, cases[0].average
    ranked = [RankedMaps.of(some, profile, average) for some in counts]
    own = np.array([one.scores(np.ones((1, len(clips))))[0][0] for one in ranked])
    drawn = np.stack([np.concatenate([one.scores(some)[0] for some in weights(draw, unit_of)]) for one in ranked], 1)
    p = [
        p_value(own[b] - own[a], _exchanged(RankedMaps.of([*counts[a], *counts[b]], profile, average)), draw, unit_of)
        for a, b in combinations(range(len(ranked)), 2)
    ]
    # to the last bit as by the program, which counts in float32
    scores = [MapsCounted(tuple(some)).score(profile, len(cases[0].labels)).averages[average] for some in counts]
    values = np.array([[one.mean, *one.aps, one.r] for one in scores])
    support, few = support_of(ranked[0], unit_of)
    contest = Contest(
        names, score_columns(profile), values, drawn, np.array(p), int(unit_of.max()) + 1, draw.over,
        f"paired permutation test over {draw.over}", deciding, against,
        support=np.full(values.shape[1], support), weak=np.full(values.shape[1], support < ENOUGH or few > 0),
    )  # fmt: skip
    found = [contest.overall(f"overall, 95 % confidence intervals by bootstrap over {draw.over}")]
    found += [contest.differences(), contest.tests(), contest.ranking()]
    if most:
        found.append(_clips(contest, ranked, clips, most))
    report = report_of("", dataclasses.replace(cases[0], counted={clip: cases[0].counted[clip] for clip in clips}))
    settings = contest.settings(draw)
    arrays = [(one.clip, one.class_id, one.hits, one.r, one.pairs) for one in ranked]
    told = [*same_systems(names, systems, lambda a, b: all(map(np.array_equal, arrays[a], arrays[b])),
                          "the same hits in every clip")]  # fmt: skip
    told += [*_about_clips(names, cases, clips), *contest.notices(), *about_classes(ranked[0], unit_of, draw.over)]
    every = [report_of("", case).notices for case in cases]
    told += said_of(names, [[note for note in notes if note.grave or note.first] for notes in every])
    return dataclasses.replace(
        report, system=f"comparison of {plural(len(names), 'system')}", tables=tuple(found), notices=in_order(told),
        settings=settings | dict(report.settings), verdict=contest.verdict() if len(cases) > 1 else "",
        lead=contest.columns[contest.lead].name,
        signature=str(of_comparison([case.signature for case in cases if case.signature], dataclasses.asdict(draw))),
    )  # fmt: skip


def _exchanged(both: RankedMaps) -> Callable[[Floats], Floats]:
    """The differences where some clips change sides; *both*: the clips of one system, then those of the other."""

    def differences(sides: Floats) -> Floats:
        one, other = (both.scores(np.hstack(some))[0] for some in ((1 - sides, sides), (sides, 1 - sides)))
        return np.asarray(other - one)

    return differences


def _clips(contest: Contest, ranked: Sequence[RankedMaps], clips: Sequence[str], most: int) -> Table:
    """The clips without which the difference of two systems would be another one."""
    lead, each = contest.lead, np.eye(len(clips))
    column = contest.columns[lead]
    influence = contest.values[:, lead][:, None] - np.array([one.scores(1 - each)[0][:, lead] for one in ranked])
    apart = np.array([influence[other] - influence[one] for one, other in contest.pairs])
    order = np.argsort(-np.nan_to_num(np.abs(apart)).max(axis=0), kind="stable")[:most]
    here = np.array([one.scores(each[order])[0][:, lead] for one in ranked])
    references = ranked[0].references.sum(axis=1).astype(int).tolist()
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (clips[clip], references[clip], *here[:, number].tolist(), *apart[:, clip].tolist())
        for number, clip in enumerate(order.tolist())
    )
    text = f"how much of the difference of {column.title} is due to this clip; it would be that much smaller without it"
    heads = [
        Column("clip", "clip"),
        Column("references", "references", "", 0, None, "labels, one for each source and frame"),
        *(dataclasses.replace(column, name=f"{column.name}_{number}", title=f"{column.title}, {name}")
          for number, name in enumerate(contest.systems, 1)),
        *(Column(f"influence_{number}", contest.headed("influence", pair), "", 4, column.better, text)
          for number, pair in enumerate(contest.pairs, 1)),
    ]  # fmt: skip
    return Table("clips", f"the clips that matter most to the difference of {column.title}", tuple(heads), rows)


def _about_clips(names: Sequence[str], cases: Sequence[ImagingCase], clips: Sequence[str]) -> list[Notice]:
    more = {name: len(case.counted) - len(clips) for name, case in zip(names, cases, strict=True)}
    counts = ", ".join(f"{name} {count:,}" for name, count in more.items() if count)
    text = f"compared over the clips that all systems have; left out are clips of {counts}"
    return [Notice("common-clips", text, grave=True)] if counts else []
