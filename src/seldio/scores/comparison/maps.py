"""Systems of semantic acoustic imaging, compared on the clips that all of them have; intervals of one system."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from seldio.files.sources import Place, path_of
from seldio.reports.tables import ScoreReport, measured
from seldio.scores.comparison.pairs import Against, Contest, common, each_system, left_out, same_systems, tested
from seldio.scores.imaging.report import score_columns
from seldio.scores.imaging.resampled import RankedMaps, about_classes, support_of, with_intervals
from seldio.scores.imaging.score_maps import ImagingOptions, MapsCounted, report_of, scored_maps
from seldio.scores.resampling import ENOUGH, Resampling, units_of


def compare_maps(
    systems: Sequence[Place], reference: Place, options: ImagingOptions, draw: Resampling, *, against: Against = "all",
    lead: str | None = None, most: int = 10, format: str | None = None, reference_format: str | None = None,
) -> ScoreReport:  # fmt: skip
    """Compare the energy maps of systems with those of labels, and with each other; of one system, intervals.

    The arguments are those of :func:`seldio.compare`, *draw* how clips or rooms are resampled.

    Raises:
        InvalidData, UsageError: as :func:`~seldio.scores.imaging.score_maps.score_maps`; or a clip has no room.
        DataError: clips have no prediction or no reference, or the systems have no clip in common.
    """
    names, cases = each_system(systems, lambda path: scored_maps(path, reference, options, format, reference_format))
    deciding = measured(score_columns(cases[0].profile), lead or cases[0].profile.lead, "--lead")
    if len(cases) == 1:
        return with_intervals(report_of(path_of(systems[0]), cases[0]), cases[0], draw)
    clips = common([list(case.counted) for case in cases])
    unit_of = units_of(clips, draw.over)
    counts = [[case.counted[clip] for clip in clips] for case in cases]
    profile, average, labels = cases[0].profile, cases[0].average, cases[0].labels
    ranked = [RankedMaps.of(detections, profile, average) for detections in counts]
    # to the last bit as by the program, which counts in float32
    scores = [MapsCounted(tuple(each)).score(profile, len(labels)).averages[average] for each in counts]
    values = np.array([[score.mean, *score.aps, score.r] for score in scores])
    trial = tested(ranked, values, draw, unit_of)
    support, few = support_of(ranked[0], unit_of)
    contest = Contest(
        names, score_columns(profile), values, trial.drawn, trial.p, int(unit_of.max()) + 1, draw.over, deciding,
        against, support=np.full(values.shape[1], support), weak=np.full(values.shape[1], support < ENOUGH or few > 0),
    )  # fmt: skip
    tables = []
    if most:
        each_clip = np.eye(len(clips))
        alone, without = (np.array([maps.scores(each)[:, deciding] for maps in ranked])
                          for each in (each_clip, 1 - each_clip))  # fmt: skip
        references = ranked[0].references.sum(axis=1).astype(int).tolist()
        tables.append(contest.clips(clips, references, alone, without, most))
    report = report_of("", dataclasses.replace(cases[0], counted={clip: cases[0].counted[clip] for clip in clips}))
    arrays = [(maps.clip, maps.class_id, maps.hits, maps.r, maps.pairs) for maps in ranked]
    about = [*same_systems(names, lambda a, b: all(map(np.array_equal, arrays[a], arrays[b])),
                           "the same hits in every clip")]  # fmt: skip
    about += left_out({name: len(case.counted) - len(clips) for name, case in zip(names, cases, strict=True)})
    about += [*contest.notices(draw), *about_classes(ranked[0], unit_of, draw.over)]
    every = [report_of("", case).notices for case in cases]
    return contest.report(report, tables, about, every, draw, [case.signature for case in cases])
