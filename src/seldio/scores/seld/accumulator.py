"""Scores while a model trains: counts of one clip after the other, added up in any order and on any machine."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from seldio.errors import UsageError
from seldio.scores.seld.counts import Counts, Thresholds
from seldio.scores.seld.official import Average
from seldio.scores.seld.profiles import get
from seldio.scores.seld.scoring import SeldScore, score_tables
from seldio.vocabularies import vocabulary

#: A side of a clip: an event table, or arrays of one length by column name (frame, class_id, azimuth, elevation, …).
ClipLabels: TypeAlias = pa.Table | dict[str, Any]


class SeldAccumulator:
    """Counts of clips that come one by one, e.g. in the validation loop of a training.

    Args:
        profile: as in ``seldio score --profile``.
        average: by class (macro) or over all (micro); the profile's first by default.
        limits: thresholds; those of the profile by default.

    Raises:
        UsageError: there is no such profile or average.
    """

    def __init__(
        self, profile: str = "dcase2023", average: Average | None = None, limits: Thresholds | None = None
    ) -> None:
        self.profile = get(profile)
        self.average: Average = average or self.profile.averages[0]
        if self.average not in self.profile.averages:
            raise UsageError(f"{self.profile.name} has no {self.average} average")
        self._limits = limits or self.profile.limits
        self._classes = len(vocabulary(self.profile.vocabulary))
        self._clips: dict[str, Counts] = {}

    def update(self, clip: str, reference: ClipLabels, prediction: ClipLabels, frames: int | None = None) -> None:
        """Count a clip; one that was counted before is counted anew.

        Args:
            clip: its name.
            reference: its label rows: ``frame`` (100 ms), ``class_id``, ``azimuth`` and ``elevation`` in degrees
                (+90 is left and up) or ``x``, ``y``, ``z``, and ``distance`` in metres, ``source`` and
                ``onscreen`` where the profile asks for them.
            prediction: likewise.
            frames: label frames of the recording, if they are known; only ``corrected`` looks at them.

        Raises:
            UsageError: a column is missing.
        """
        scored = score_tables(
            _table(clip, reference),
            _table(clip, prediction),
            [clip],
            self.profile,
            classes=self._classes,
            average=self.average,
            limits=self._limits,
            frames={} if frames is None else {clip: frames},
        )
        self._clips[clip] = scored.counts

    def compute(self) -> dict[str, float]:
        """The scores over all clips so far, by name (shares from 0 to 1, angles in degrees); NaN where undefined."""
        return self.score().overall

    def score(self) -> SeldScore:
        """All counts, for scores by class or by clip and for intervals; clips in alphabetic order."""
        names = sorted(self._clips)
        counts = [self._clips[name] for name in names] or [Counts.zeros(0, self._classes)]
        return SeldScore(self.profile, self.average, tuple(names), Counts.joined(counts))

    def merge(self, other: SeldAccumulator) -> None:
        """Take over the clips that another one counted, e.g. in another process.

        A clip that both counted, as where a sampler fills up the last batches with clips from the start, counts once.

        Raises:
            UsageError: the other one counts another way, or counted another number of anything in the same clip.
        """
        if (self.profile, self.average, self._limits) != (other.profile, other.average, other._limits):
            raise UsageError("the accumulators count in different ways")
        for clip in sorted(self._clips.keys() & other._clips.keys()):
            if not self._clips[clip].same(other._clips[clip]):
                raise UsageError(
                    f"both accumulators counted {clip}, and not the same: they had other labels of it, or other "
                    "predictions. Give each clip a name of its own, and count it with one model"
                )
        self._clips |= other._clips

    def reset(self) -> None:
        """Forget all clips."""
        self._clips = {}

    def state_dict(self) -> dict[str, Any]:
        """All counts as numbers and lists that json can hold."""
        clips = {clip: [array[0].tolist() for array in counts.arrays()] for clip, counts in self._clips.items()}
        return {
            "profile": self.profile.name, "average": self.average,
            "limits": dataclasses.asdict(self._limits), "clips": clips,
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from :meth:`state_dict`.

        Raises:
            UsageError: the state is that of another way of counting, or was saved by a seldio that counted less.
        """
        same = (self.profile.name, self.average, dataclasses.asdict(self._limits))
        if (state["profile"], state["average"], state["limits"]) != same:
            raise UsageError("the state is that of another way of counting")
        if any(len(arrays) != len(dataclasses.fields(Counts)) for arrays in state["clips"].values()):
            raise UsageError("the state was saved by another version of seldio, which counted other things: count anew")
        self._clips = {
            clip: Counts(*(np.asarray(values, dtype=np.float64)[None] for values in arrays))
            for clip, arrays in state["clips"].items()
        }


def _table(clip: str, rows: ClipLabels) -> pa.Table:
    """One side as an event table about *clip* alone."""
    table = (
        rows if isinstance(rows, pa.Table) else pa.table({name: np.asarray(values) for name, values in rows.items()})
    )
    if "clip" in table.column_names:
        table = table.drop_columns("clip")
    return table.append_column("clip", pa.array([clip] * table.num_rows, pa.string()))
