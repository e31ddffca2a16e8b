"""Systems of semantic acoustic imaging, compared on the clips that all of them have; intervals of one system."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from seldio.files.sources import Place, path_of
from seldio.reports.tables import ScoreReport, measured
from seldio.scores.comparison.pairs import Against, Contest, common, each_system, left_out, same_systems, tested
from seldio.scores.imaging.count import MapScores
from seldio.scores.imaging.report import SCORES, about_classes, support_of, with_intervals
from seldio.scores.imaging.score_maps import ImagingOptions, scored_maps
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
    deciding = measured(SCORES, lead or SCORES[0].name, "--lead")
    if len(cases) == 1:
        return with_intervals(cases[0].report(path_of(systems[0])), cases[0], draw)
    clips = common([case.clips for case in cases])
    unit_of = units_of(clips, draw.over)
    scores = []
    for case in cases:
        detections = dict(zip(case.clips, case.score.clips, strict=True))
        scores.append(MapScores([detections[clip] for clip in clips], case.score.average))
    whole, each_clip = np.ones((1, len(clips))), np.eye(len(clips))
    values = np.array([score.scores(whole)[0] for score in scores])
    trial = tested(scores, values, draw, unit_of)
    support, few = support_of(scores[0], unit_of)
    contest = Contest(
        names, SCORES, values, trial.drawn, trial.p, int(unit_of.max()) + 1, draw.over, deciding, against,
        support=np.full(values.shape[1], support), weak=np.full(values.shape[1], support < ENOUGH or few > 0),
    )  # fmt: skip
    tables = []
    if most:
        alone, without = (np.array([score.scores(each)[:, deciding] for score in scores])
                          for each in (each_clip, 1 - each_clip))  # fmt: skip
        references = scores[0].references.sum(axis=1).astype(int).tolist()
        tables.append(contest.clips(clips, references, alone, without, most))
    report = dataclasses.replace(cases[0], score=scores[0], clips=clips).report("")
    arrays = [(score.clip, score.class_id, score.overlap, score.r, score.pairs) for score in scores]
    about = [*same_systems(names, lambda a, b: all(map(np.array_equal, arrays[a], arrays[b])),
                           "the same hits in every clip")]  # fmt: skip
    about += left_out({name: len(case.clips) - len(clips) for name, case in zip(names, cases, strict=True)})
    about += [*contest.notices(draw), *about_classes(scores[0], unit_of, draw.over)]
    every = [case.report("").notices for case in cases]
    return contest.report(report, tables, about, every, draw, [case.signature for case in cases])
