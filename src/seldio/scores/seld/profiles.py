"""The ways of scoring labels, those of official programs, from the files of datasets."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from seldio.errors import UsageError
from seldio.formats.datasets import RECORDS
from seldio.reports.tables import Column
from seldio.scores.scorers import MAPS
from seldio.scores.seld.counting import EPSILON, SECOND, Average, Floats, Measure, Thresholds, nanmean
from seldio.text import meant

ER = Column(
    "ER", "ER", "", 3, "lower", "location-dependent error rate of all classes together: (S + D + I) over references"
)
F = Column("F", "F", "%", 1, "higher", "location-dependent F-score")
LE = Column("LE", "LE", "°", 1, "lower", "class-dependent localization error, over matched pairs near and far")
LR = Column("LR", "LR", "%", 1, "higher", "class-dependent localization recall")
SELD = Column("SELD", "SELD", "", 3, "lower", "mean of ER, 1 - F, LE / 180 and 1 - LR")
ANGLE = dataclasses.replace(LE, name="AngE", title="AngE", meaning="angular error over matched pairs")
DISTANCE = Column("DistE", "DistE", "m", 2, "lower", "distance error over matched pairs")
RELATIVE = Column("RelDistE", "RDE", "%", 1, "lower", "distance error relative to the distance")
ONSCREEN = Column("OnscreenAcc", "onscreen", "%", 1, "higher", "pairs that agree on being on screen")


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class SeldProfile:
    """One way of scoring."""

    name: str  # what users type
    title: str  # one line for people
    program: str  # what it agrees with
    measure: Measure  # the angular distance
    unit: int  # label frames that are counted together: those of a segment, or one
    columns: tuple[Column, ...]  # of the scores that it prints, in their order
    of_seld: tuple[str, ...] = ()  # those that SELD is the mean of, as losses
    nothing: float = math.nan  # the error of a class without a match
    lead: str = "SELD"  # the score whose test decides which of two systems is better
    averages: tuple[Average, ...] = ("macro", "micro")  # the first is the default
    limits: Thresholds  # the default ones
    horizon: int | None = None  # how many label frames count; by default those up to the last labelled one
    vocabulary: str = "starss"  # of the classes
    misplaced: float = 1.0  # how much a misplaced source weighs in F, where a missed or a spurious one weighs a half
    #: by format of the prediction, what the program makes of it
    misread: Mapping[str, str] = dataclasses.field(default_factory=dict)
    drops: tuple[str, ...] = ()  # formats of a prediction none of whose rows the program reads
    needs: tuple[str, ...] = ()  # fields that both sides must have
    metre: float = 1.0  # units of distance in a metre
    tracks: int = 0  # how many sources of a class a frame can have; 0 for any number
    years: tuple[int, ...] = ()  # of the challenge whose outputs it is for
    aliases: tuple[str, ...] = ()  # further names

    @property
    def names(self) -> list[str]:
        """Return the names of the scores."""
        return [column.name for column in self.columns]

    def score(self, counts: Floats, average: Average, without: Any = None) -> Floats:
        """Return the scores of sets of counts, shape [sets, scores, 1 + classes].

        First come those over all classes: means over the classes that have one, *without* those chosen, which have
        none, shape [sets, classes]. Micro scores have nothing else.
        """
        if average == "micro":
            counts = counts.sum(axis=2, keepdims=True)
        by_count = np.moveaxis(counts, 1, 0)
        true, wrong, false, missed, references, matched, angle, distance, relative, onscreen, errors = by_count

        rate = errors.sum(axis=1, keepdims=True) / (references.sum(axis=1, keepdims=True) + EPSILON)
        er = np.broadcast_to(rate, true.shape)
        f = true / (EPSILON + true + (self.misplaced * wrong + 0.5 * (false + missed)))
        lr = matched / (EPSILON + matched + missed)
        sums = {"LE": angle, "AngE": angle, "DistE": distance, "RelDistE": relative, "OnscreenAcc": onscreen}
        means = {name: np.where(matched > 0, total / (matched + EPSILON), self.nothing) for name, total in sums.items()}
        each = {"ER": er, "F": f, "LR": lr, **means}
        if self.of_seld:
            losses = each | {"F": 1 - f, "LE": each["LE"] / 180, "AngE": each["AngE"] / 180, "LR": 1 - lr}
            each["SELD"] = nanmean(np.stack([losses[name] for name in self.of_seld]), 0)
        by_class = np.stack([each[name] for name in self.names], axis=1)
        if average == "micro":
            return by_class
        if without is not None:
            by_class = np.where(without[:, None, :], np.nan, by_class)
        return np.concatenate((nanmean(by_class, 2)[:, :, None], by_class), axis=2)


#: What a profile may say in its file: the label frames that are counted together, and the scores.
UNITS = {"segments": SECOND, "frames": 1}
_SELD_2024 = dataclasses.replace(SELD, meaning="mean of 1 - F, AngE / 180 and relative distance error")
_CLASSIC = {"columns": (ER, F, LE, LR, SELD), "of_seld": ("ER", "F", "LE", "LR"), "nothing": 180.0}
_CENTIMETRES = dataclasses.replace(DISTANCE, unit="cm", digits=1)
SCORES: Mapping[str, Mapping[str, Any]] = {
    "classic": _CLASSIC,
    "classic-2021": _CLASSIC,
    "with-distance": {
        "columns": (ER, F, ANGLE, DISTANCE, RELATIVE, LR, _SELD_2024),
        "of_seld": ("F", "AngE", "RelDistE"),
    },
    "without-distance": {"columns": (ER, F, ANGLE, LR, SELD), "of_seld": ("ER", "F", "AngE", "LR")},
    "stereo": {"columns": (F, ANGLE, _CENTIMETRES, RELATIVE, ONSCREEN)},
}


def _profiles() -> Iterator[SeldProfile]:
    for row in (row for record in RECORDS for row in record.get("profiles", ())):
        fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
        if row["scores"] == "classic-2021":  # which pools all classes
            fields = {"averages": ("micro",), "misplaced": 0.5} | fields
        fields |= {"unit": UNITS[fields.pop("counts")], **SCORES[fields.pop("scores")]}
        limits = {key: fields.pop(key) for key in ("distance", "relative") if key in fields}
        yield SeldProfile(limits=Thresholds(fields.pop("angle", 20.0), **limits), **fields)


PROFILES = tuple(_profiles())


def get(name: str) -> SeldProfile:
    """Return the profile called *name*.

    Raises:
        UsageError: there is none; the message lists what there is.
    """
    for profile in PROFILES:
        if name in (profile.name, *profile.aliases):
            return profile
    names = [*(profile.name for profile in PROFILES), *MAPS]
    close = meant(name, names) or f"; choose from {', '.join(names)}"
    raise UsageError(f"unknown profile {name!r} for labels{close}")
