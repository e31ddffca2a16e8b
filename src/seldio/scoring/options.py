"""How labels are scored, as a user says it."""

from __future__ import annotations

import dataclasses

from seldio.errors import UsageError
from seldio.scores.seld import profiles
from seldio.scores.seld.limits import Limits
from seldio.scores.seld.metrics import Average
from seldio.scores.seld.profiles import Profile


@dataclasses.dataclass(frozen=True)
class SeldOptions:
    """How labels are scored.

    Args:
        profile: name of the way of scoring; by default ``dcase2025`` for stereo labels, else ``dcase2023``.
        average: macro or micro; the profile's first by default.
        angle: degrees that a prediction may be off; the profile's by default, as the next two.
        distance: metres that it may be off.
        relative: distance error over distance.
        onscreen: whether it must agree on being in the picture.
        classes: vocabulary of the classes; the profile's by default.
        jackknife: with 95 % confidence intervals.
        official_points: with the point values that the official jackknife prints.
        by_clip: with the scores of each clip.
        recordings: the recordings that were labelled, which tell where a clip ends; where they are beside the
            labels in a data set tree they are found.
        allow_missing: score the clips that have a prediction and a reference where others lack one.
        force: score labels and predictions in which there are errors too.
    """

    profile: str | None = None
    average: Average | None = None
    angle: float | None = None
    distance: float | None = None
    relative: float | None = None
    onscreen: bool = False
    classes: str | None = None
    jackknife: bool = False
    official_points: bool = False
    by_clip: bool = False
    recordings: str | None = None
    allow_missing: bool = False
    force: bool = False

    def limits(self, profile: Profile) -> Limits:
        """The thresholds of the profile, those of the options in their place.

        Raises:
            UsageError: one is no threshold, the profile does not look at it, or does not know the average.
        """
        if self.average is not None and self.average not in profile.averages:
            raise UsageError(f"{profile.name} has no {self.average} average, only {', '.join(profile.averages)}")
        self._check(profile)
        usual = profile.limits
        return Limits(
            usual.angle if self.angle is None else self.angle,
            usual.distance if self.distance is None else self.distance * profile.metre,
            usual.relative if self.relative is None else self.relative,
            usual.onscreen or self.onscreen,
        )

    def _check(self, profile: Profile) -> None:
        for name in ("angle", "distance", "relative"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise UsageError(f"--{name} is a threshold, not {value:g}")
        for name, column in _COLUMNS.items():
            value = getattr(self, name)
            if value is not None and value is not False and not profile.has(column):
                able = [each.name for each in profiles.PROFILES if each.has(column)]
                raise UsageError(
                    f"--{name} changes nothing in {profile.name}, which does not look at it; use {' or '.join(able)}"
                )


#: The score that shows whether a profile looks at what a threshold is about.
_COLUMNS = {"distance": "DistE", "relative": "RelDistE", "onscreen": "OnscreenAcc"}
