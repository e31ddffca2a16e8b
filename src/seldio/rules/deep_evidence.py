"""Measure how far labels and audio are apart, where a single source is labelled.

A row is a piece of an event, up to two seconds long. Rows of recordings and of whole datasets add up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from seldio import geometry
from seldio.rules.deep_pieces import BLOCK, DIRECT, LEAST, Floats, LabelFrames, places, runs


class Spread(NamedTuple):
    """A mean with its confidence interval (95 %), in degrees."""

    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class HeardClass:
    """The result of listening to the events of one class."""

    name: str
    events: int  # events that were heard alone
    seconds: float  # how long in all
    median: float  # degrees between labels and audio
    share: float  # share of the time in which they are within 30 degrees


@dataclasses.dataclass(frozen=True)
class Heard:
    """How the labels of a clip, or of a dataset, compare with recordings of one format.

    Args:
        clip: the name of the clip; None for all of a dataset together.
        recording: the path of the recording; that of the source for a dataset.
        format: ``foa`` or ``mic``; empty if the recording is neither.
        outcome: ``fits``; ``contradicted``, which a finding explains; ``unclear`` for little or bad evidence;
            ``not heard``.
        why: in words, why it is unclear or not heard.
        events: events that were heard alone.
        places: places that they are at (cells of about 20 degrees).
        seconds: how long a single source was heard.
        median: median error over that time, degrees.
        share: share of that time in which labels and audio are within 30 degrees.
        azimuth: mean degrees by which the audio is further left than the labels.
        elevation: mean degrees by which it is higher.
        classes: the same for each class.
    """

    clip: str | None
    recording: str
    format: str
    outcome: str
    why: str | None = None
    events: int = 0
    places: int = 0
    seconds: float = 0.0
    median: float | None = None
    share: float | None = None
    azimuth: Spread | None = None
    elevation: Spread | None = None
    classes: tuple[HeardClass, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """It with the keys of the json report; degrees to two decimals, shares to four."""
        values = dataclasses.asdict(self)
        for name in ("azimuth", "elevation"):
            mean = getattr(self, name)
            values[name] = None if mean is None else {key: round(value, 2) for key, value in mean._asdict().items()}
        for record in (values, *values["classes"]):
            for name, digits in (("median", 2), ("share", 4)):
                record[name] = None if record[name] is None else round(record[name], digits)
        return values | {"classes": list(values["classes"])}


#: Errors beyond this many degrees are not of the source that is labelled, but of another sound.
ASTRAY = 60.0
#: Within this many degrees label and audio agree.
WITHIN = 30.0
#: Label frames of one place count no more than this many for a mean over places.
MOST = 30
#: Fewest places for an interval of a mean.
_LEAST = 3
_LABELLED, _MEASURED = [*"xyz"], [*"uvw"]


def evidence_of(labels: LabelFrames, directions: Floats) -> pd.DataFrame:
    """Return the pieces of one recording; *directions* (label frames, 3) are as long as they are direct.

    Columns: label frames with a direction; the error (degrees), and how far the audio is further left and higher than
    the label; numbers of the place, the event, the class and the recording.
    """
    alone = np.flatnonzero(labels.alone[: min(len(labels), len(directions))])
    frames = pd.DataFrame({"frame": alone, "event": runs(alone, labels.event[alone]), "kind": labels.event[alone]})
    frames[_LABELLED], frames[_MEASURED] = labels.direction[alone], directions[alone]
    frames["place"] = places(labels.direction[alone])
    frames["block"], frames["kind"] = frames["frame"] // BLOCK, frames["kind"] // 100_000
    direct = frames[np.linalg.norm(frames[_MEASURED], axis=1) > DIRECT]
    groups = direct.groupby(["event", "block", "place"])
    sums = groups[_LABELLED + _MEASURED].sum()
    labelled, heard = (geometry.to_polar(*(sums[axis] for axis in axes)) for axes in (_LABELLED, _MEASURED))
    pieces = pd.DataFrame({"frames": groups.size(), "error": geometry.great_circle(*labelled, *heard)}, sums.index)
    pieces["azimuth"], pieces["elevation"] = geometry.wrap(heard[0] - labelled[0]), heard[1] - labelled[1]
    return pieces.assign(kind=groups["kind"].last(), clip=0).reset_index()


def together(recordings: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the pieces of several recordings."""
    return pd.concat([pieces.assign(clip=number) for number, pieces in enumerate(recordings)])


def share_within(pieces: pd.DataFrame) -> float:
    """Return the share of the label frames within 30 degrees."""
    return float(pieces["frames"][pieces["error"] <= WITHIN].sum() / pieces["frames"].sum())


def _median(pieces: pd.DataFrame) -> float:
    """Return the median error over label frames, degrees."""
    ordered = pieces.sort_values("error", kind="stable")
    half = ordered["frames"].cumsum().searchsorted(ordered["frames"].sum() / 2)
    return float(ordered["error"].iloc[half])


def _mean(pieces: pd.DataFrame, column: str) -> Spread | None:
    """Return the mean of a column over places, with its 95 % interval, without pieces that are astray.

    None for fewer than three places.
    """
    near = pieces[pieces["error"] <= ASTRAY]
    groups = near.assign(total=near["frames"] * near[column]).groupby(["clip", "place"])[["frames", "total"]].sum()
    count = len(groups)
    if count < _LEAST:
        return None
    means, weight = groups["total"] / groups["frames"], groups["frames"].clip(upper=MOST)
    middle = float(np.average(means, weights=weight))
    error = np.sqrt((weight**2 * (means - middle) ** 2).sum()) / weight.sum() * np.sqrt(count / (count - 1))
    wide = float(stdtrit(count - 1, 0.975) * error)
    return Spread(middle, middle - wide, middle + wide)


def heard(
    pieces: pd.DataFrame, names: Mapping[int, str], outcome: str, why: str | None, clip: str | None, recording: str,
    format: str, hop: float,
) -> Heard:  # fmt: skip
    """Return what is reported of the pieces of a recording, or of those of a dataset (*clip* is None)."""
    if not len(pieces):
        return Heard(clip, recording, format, outcome, why)
    share = share_within(pieces)
    azimuth, elevation = (_mean(pieces, column) if share >= 0.5 else None for column in ("azimuth", "elevation"))
    kinds = {number: pieces[pieces["kind"] == number] for number in np.unique(pieces["kind"]).tolist()}
    classes = tuple(
        HeardClass(names.get(number, f"class {number}"), _events(kind), _seconds(kind, hop), _median(kind),
                   share_within(kind))
        for number, kind in kinds.items()
    )  # fmt: skip
    spots = len(pieces[["clip", "place"]].drop_duplicates())
    return Heard(
        clip, recording, format, outcome, why, _events(pieces), spots, _seconds(pieces, hop), _median(pieces), share,
        azimuth, elevation, classes,
    )  # fmt: skip


def _events(pieces: pd.DataFrame) -> int:
    """Return how many events there are, each with three label frames or more."""
    return int((pieces.groupby(["clip", "event"])["frames"].sum() >= LEAST).sum())


def _seconds(pieces: pd.DataFrame, hop: float) -> float:
    return round(float(pieces["frames"].sum() * hop), 1)
