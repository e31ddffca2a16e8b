"""The tables of a SELD score, and what there is to know about it: where official programs and the data lead astray."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seldio.reports.tables import (
    Cell,
    Column,
    Notice,
    Phrase,
    ScoreReport,
    Table,
    UnreliableInterval,
    counted,
    in_order,
    measured,
)
from seldio.rules.collection import finer_grid
from seldio.scores.resampling import (
    ENOUGH,
    FEWEST,
    TOO_FEW,
    Intervals,
    Over,
    by_unit,
    doubt,
    interval_cells,
    rooms_of,
    units_of,
)
from seldio.scores.seld.causes import ProbableCause
from seldio.scores.seld.counting import Count, EventFrames, Floats, Ints, Thresholds, last_frames
from seldio.scores.seld.profiles import SeldProfile
from seldio.scores.seld.scoring import SeldScore
from seldio.scores.signatures import Signature
from seldio.text import listed, plural, view_command

if TYPE_CHECKING:
    from seldio.formats import LabelReading
    from seldio.scores.seld.mistakes import Mistakes


@dataclasses.dataclass(frozen=True)
class ScoredSide:
    """The rows of one side, of the clips that are scored, as they were given."""

    rows: EventFrames
    noun: str  # what to call one
    layout: str  # the format
    readings: Sequence[LabelReading]  # of its files, or of its table
    digest: int
    repeated: int  # how many rows are like another one

    def noticed(self, name: str, chosen: Any, text: str) -> list[Notice]:
        """Return a grave notice on the rows *chosen* by a mask; none if there are no such rows, or no mask."""
        count = 0 if chosen is None else int(np.count_nonzero(chosen))
        return counted(name, count, self.noun, text, True)


@dataclasses.dataclass(frozen=True)
class SeldCase:
    """A score, with all that tables and notices may look at."""

    profile: SeldProfile
    limits: Thresholds
    score: SeldScore
    labels: Sequence[str]  # name of each class
    reference: ScoredSide
    prediction: ScoredSide
    scored_frames: Ints  # how many of each clip count
    signature: Signature  # what it rests on
    intervals: Intervals  # which are shown
    dropped: int = 0  # predicted rows that the program does not read
    chosen: tuple[str, ...] = ()  # sentences about formats that the content did not decide
    left_out: tuple[int, int] = (0, 0)  # clips not counted, for want of a prediction and for want of a reference
    hint: str = ""  # what to do where all predictions are of one split of the reference, which has others too
    by_clip: bool = False  # whether the scores of each clip are shown
    named: bool = False  # whether the user named the profile
    forced: tuple[str, ...] = ()  # errors in the data, which is scored all the same
    causes: tuple[ProbableCause, ...] = ()  # the changes that the predictions seem to need
    mistakes: Mistakes | None = None  # where they are shown

    @cached_property
    def bounds_by_kind(self) -> Mapping[str, tuple[Floats, Floats]]:
        """Return the lower and upper ends of the intervals that are shown, by their kind, the bootstrap first."""
        bounds = {"bootstrap": self.score.bootstrap(self.intervals)} if self.intervals.bootstrap else {}
        return bounds | ({"jackknife": self.score.jackknife()} if self.intervals.jackknife else {})

    def over(self, kind: str) -> Over:
        """Return the units from which the intervals of a kind are drawn."""
        return self.intervals.over if kind == "bootstrap" else "clips"

    def labelled(self, classes: Sequence[bool] | Any) -> list[str]:
        """Return the names of the chosen classes."""
        return [label for label, chosen in zip(self.labels, classes, strict=True) if chosen]

    def report(self, system: str) -> ScoreReport:
        """Return the report on this score, its overall table first."""
        profile, score, limits = self.profile, self.score, self.limits
        tables = [_overall(system, self)]
        if score.average == "macro":
            kinds = list(self.bounds_by_kind) or [""]
            tables += [_classes(self, kind, aside=kind != kinds[0]) for kind in kinds]
        if len(rooms := rooms_of(score.clips)) > 1:
            rows = tuple(
                (room, len(clips), *score.present(score.counts[clips].sum(axis=0, keepdims=True))[0].tolist())
                for room, clips in rooms.items()
            )
            tables.append(Table("rooms", "by room", (Column("room", "room"), _CLIPS, *profile.columns), rows, True))
        if self.by_clip:
            columns = (Column("clip", "clip"), REFERENCES, *profile.columns)
            tables.append(Table("clips", "by clip", columns, _clip_rows(score)))
        if self.mistakes is not None:
            from seldio.scores.seld import mistakes

            tables += mistakes.tables(score, self.mistakes, limits, self.labels)
        settings = {
            "average": score.average,
            "angle": limits.angle,
            "distance": None if math.isinf(limits.distance) else limits.distance,
            "relative_distance": None if math.isinf(limits.relative) else limits.relative,
            "onscreen": limits.onscreen,
            "program": profile.program,
        }
        over = f"{plural(len(score.clips), 'clip')}, {len(self.labels)} classes, {score.average} average"
        return ScoreReport(
            system,
            profile.name,
            profile.title,
            over,
            tuple(tables),
            self.notices(),
            settings,
            str(self.signature),
            lead=profile.lead,
        )

    def notices(self) -> tuple[Notice, ...]:
        """Return all that apply: what is to be read before the numbers, then the grave ones."""
        checks = (_about_formats, _about_clips, _about_rows, _about_classes)
        return in_order(notice for check in checks for notice in check(self))

    def unsure(self, over: Over) -> Iterator[Notice]:
        """Yield whether overall intervals are marked with an asterisk, or unreliable though there are clips enough."""

        def titles(chosen: Any) -> str:
            return ", ".join(column.title for column, flag in zip(self.profile.columns, chosen, strict=True) if flag)

        support = self.score.support(over)[:, 0]
        if names := titles(support < FEWEST):
            text = f"{over} are so uneven that {names} rest on fewer than {FEWEST} in effect: their intervals are "
            yield Notice("few-clips", f"{text}unreliable; the bounds are only in JSON and CSV", grave=True)
        lean = self.score.lean(over) & (support >= FEWEST)[:, None]
        reasons = []
        if names := titles((support >= FEWEST) & (support < ENOUGH)):
            reasons.append(f"{names} rest on fewer than {ENOUGH} {over} in effect")
        if names := titles(lean.any(axis=1)):
            classes = self.labelled(lean.any(axis=0))
            text = f"{names} rest on {plural(len(classes), 'class', 'classes')} ({listed(classes, 5)}) that fewer than "
            reasons.append(f"{text}{FEWEST} {over} in effect tell about")
        if reasons:
            text = f"* the overall intervals of {', and those of '.join(reasons)}: they hold the truth less often than "
            text += "in 95 of 100 test sets" + ", those of LE and SELD far less" * bool(lean.any())
            yield Notice("weak-intervals", text, grave=True)


# --- tables ------------------------------------------------------------------------------------------------

REFERENCES = Column("references", "references", "", 0, None, "number of references, in segments or frames")
HELD = Column("held", "clips", "", 0, None, "number of clips that hold the class; of rooms where rooms are drawn")
_CLIPS = Column("clips", "clips", "", 0, None, "number of clips in this row")
RELIABLE = Column(
    "interval",
    "interval",
    digits=0,
    meaning=f"“{TOO_FEW}” where fewer than {FEWEST} clips (rooms) in effect tell of all scores; “not of” a score where "
    "they do of that, or all clips agree: the ends of intervals, which only json and csv show, cannot be relied on. An "
    f"asterisk: fewer than {ENOUGH} in effect, read it as an interval of 90 %",
)


def _clip_rows(score: SeldScore) -> tuple[tuple[Cell, ...], ...]:
    each = zip(score.clips, score.references_by_clip.tolist(), score.present(score.counts).tolist(), strict=True)
    return tuple((clip, count, *values) for clip, count, values in each)


#: How many of the worst clips are shown.
_WORST = 3


def worst_clips(case: SeldCase, reference: str, predictions: str, formats: Mapping[str, str | None]) -> Table:
    """Return the worst clips by the measure that decides, with the command that shows each where both sides are files.

    Args:
        case: the score.
        reference: the path of the labels.
        predictions: that of the predictions.
        formats: options of ``seldio view`` that name the formats, where these were named.
    """
    lead = measured(case.profile.columns, case.profile.lead)
    measure, values = case.profile.columns[lead], case.score.present(case.score.counts)[:, lead]
    worst = np.argsort(-values if measure.better == "lower" else values, kind="stable")  # those without a score last
    columns: tuple[Column, ...] = (Column("clip", "clip"), measure)
    rows: tuple[tuple[Cell, ...], ...] = tuple((case.score.clips[n], float(values[n])) for n in worst[:_WORST])
    single = Path(predictions).is_file() and len(rows) == 1  # of a single clip: no archive, which is not looked into
    if Path(reference).exists() and (single or Path(predictions).is_dir()):
        commands = (view_command(reference, str(row[0]), predictions=predictions, **formats) for row in rows)
        rows = tuple((*row, Phrase((("code", text),))) for row, text in zip(rows, commands, strict=True))
        columns = (*columns, Column("command", "command that shows it"))
    return Table("worst", f"worst clips by {measure.title}", columns, rows)


def _overall(system: str, case: SeldCase) -> Table:
    """Return the score with its intervals; those of the jackknife in a row below those of the bootstrap."""
    score, values = case.score, case.score.values()[:, 0]
    rows: list[tuple[Cell, ...]] = [] if case.bounds_by_kind else [(system, *values.tolist())]
    flags: list[str | None] = []
    for number, (kind, (low, high)) in enumerate(case.bounds_by_kind.items()):
        over, name = case.over(kind), "by the official jackknife" if number else system
        reliable = score.support(over)[:, 0] >= FEWEST
        rows.append((name, *interval_cells(values, low[:, 0], high[:, 0], reliable, score.weak(over))))
        flags.append(doubt(reliable.tolist(), score.profile.columns))
    by = " and ".join(f"{kind} over {case.over(kind)}" for kind in case.bounds_by_kind)
    title = "overall" if not by else f"overall, 95 % confidence intervals by {by}"
    if TOO_FEW in flags:
        title = "overall; too few clips for intervals"
    columns = (Column("system", "system"), *score.profile.columns)
    if any(flags):
        columns = (*columns, RELIABLE)
        rows = [(*row, flag) for row, flag in zip(rows, [*flags, flags[-1]], strict=False)]
    return Table("overall", title, columns, tuple(rows))


def _classes(case: SeldCase, kind: str, aside: bool) -> Table:
    """Return the scores of each class, with intervals of one *kind*; ER is over all classes together."""
    score = case.score
    shown = [number for number, name in enumerate(score.profile.names) if name != "ER"]
    columns = [score.profile.columns[number] for number in shown]
    references = score.counts[:, Count.REFERENCES].sum(axis=0).astype(int).tolist()
    values = score.values()[shown, 1:]
    rows: list[tuple[Cell, ...]] = [
        (label, count, *row) for label, count, row in zip(case.labels, references, values.T.tolist(), strict=True)
    ]
    if kind:
        over = case.over(kind)
        in_units = by_unit(score.counts[:, Count.REFERENCES] > 0, units_of(score.clips, over)) > 0
        with_class, support = in_units.sum(axis=0).tolist(), score.support(over)[shown, 1:]
        low, high = (end[shown, 1:] for end in case.bounds_by_kind[kind])
        for n, (label, count, *_) in enumerate(rows):
            sure, weak = support[:, n] >= FEWEST, support[:, n] < ENOUGH
            cells = interval_cells(values[:, n], low[:, n], high[:, n], sure, weak)
            flag = doubt([not isinstance(cell, UnreliableInterval) for cell in cells], columns)
            rows[n] = (label, count, with_class[n], *cells, flag)
    heads = (REFERENCES, HELD, *columns, RELIABLE) if kind else (REFERENCES, *columns)
    name, title = (f"classes-{kind}", f"by class, intervals by {kind}") if aside else ("classes", "by class")
    return Table(name, title, (Column("class", "class"), *heads), tuple(rows), aside=aside)


# --- notices -----------------------------------------------------------------------------------------------

#: The share of rows from which on what concerns them is grave: of those behind the end, no matter of the last second.
_FEW = 0.03
_OUTPUTS = ("-output", "-submission")


def _about_formats(case: SeldCase) -> Iterator[Notice]:
    """Yield what may be wrong with what was given, and which columns are not looked at."""
    reference, prediction = case.reference.layout, case.prediction.layout
    if reference.endswith(_OUTPUTS):
        text = f"the reference is {reference}, what systems write: make sure that they are not swapped"
        if not prediction.endswith(_OUTPUTS):  # if the prediction looks like labels too, there is little doubt
            text = (
                f"the reference is {reference}, what systems write, and the prediction {prediction}, a format of "
                "labels: the two are probably swapped. Give the reference with --reference"
            )
        yield Notice("reference-is-output", text, grave=True, first=True)
    for cause in case.causes:
        yield Notice("probable-cause", str(cause), grave=True, first=True)
    for text in case.forced:
        yield Notice("forced", f"scored with errors in the data: {text}", grave=True)
    for text in case.chosen:
        yield Notice("format-chosen", text, grave=True)
    if case.dropped:
        rows = plural(case.dropped, "predicted row")
        text = f"{rows} not scored: they are {prediction}, which the program silently drops. dcase2023 scores them"
        yield Notice("dropped-rows", text, grave=True, first=True)
    sentence = case.profile.misread.get(prediction)
    if sentence and len(case.prediction.rows):  # files without a row are the same in every format
        yield Notice("misread", f"the prediction is {prediction}, which seldio reads correctly; {sentence}", grave=True)
    folded, sides = case.profile.measure == "folded", (case.reference, case.prediction)
    given = [side.rows for side in sides if len(side.rows)]
    if not folded and any(rows.elevation is None for rows in given):
        text = "labels without elevation (stereo) are scored as if all were 0; dcase2025 is the profile for them"
        yield Notice("no-elevation", text, grave=True)
    # outputs of 2023 have a distance that is always 0
    elif (
        "distance" not in case.profile.needs
        and len(given) == 2
        and all(rows.distance is not None and (rows.distance != 0).any() for rows in given)
    ):
        text = f"both sides have distances, which {case.profile.name} ignores: --profile dcase2024 scores them"
        yield Notice("distance-unused", text, grave=not case.named)
    for side in sides if folded else ():
        text = "with an azimuth beyond ±90°: folded front to back, as the program does"
        yield from side.noticed("folded", np.abs(side.rows.azimuth) > 90, text)
        text = f"with an elevation, which {case.profile.name} ignores"
        yield from side.noticed("elevation-unused", side.rows.elevation, text)


def _about_clips(case: SeldCase) -> Iterator[Notice]:
    """Yield which clips are left out or empty, and whether there are intervals that nothing can be read from."""
    missing, surplus = case.left_out
    if case.hint:
        yield Notice("other-splits", f"{case.hint}, which count as missing here", grave=True, first=True)
    yield from counted("surplus-clips", surplus, "predicted clip", "without reference left out", True)
    text = (
        "of the reference without prediction left out, as the official program does silently: a system that submits "
        "only what it does well scores higher. By the published definition what they hold is missed"
    )
    yield from counted("missing-clips", missing, "clip", text, True)
    silent = np.bincount(case.reference.rows.clip, minlength=len(case.scored_frames)) == 0
    empty, alarms = int(silent.sum()), int(silent[case.prediction.rows.clip].sum())
    if empty and case.profile.name == "dcase2025":
        text = f"{plural(empty, 'clip')} without labels: the {plural(alarms, 'prediction')} in them cost nothing"
        yield Notice("empty-reference", text, grave=alarms > 0)
    elif empty and case.profile.horizon is None:
        text = f"{plural(empty, 'clip')} without labels: the official program ends with ValueError, here they count 0"
        yield Notice("empty-reference", text)
    if not (case.intervals.jackknife or case.intervals.bootstrap):
        return
    over = case.over("bootstrap" if case.intervals.bootstrap else "jackknife")
    units = len(rooms_of(case.score.clips) if over == "rooms" else case.score.clips)
    if len(case.score.clips) < 2:
        yield Notice("one-clip", "no intervals: leaving out one clip at a time requires at least two clips")
    elif units < FEWEST:
        text = f"{plural(units, over[:-1])} {'is' if units == 1 else 'are'} too few to generalize from: an interval "
        yield Notice("few-clips", f"{text}needs at least {FEWEST}; its bounds are only in JSON and CSV", grave=True)
    else:
        yield from case.unsure(over)


def _about_rows(case: SeldCase) -> Iterator[Notice]:
    """Yield which rows are not scored, or count otherwise than they seem to."""
    distance = case.reference.rows.distance
    if "RelDistE" in case.profile.names and distance is not None:
        and_seld = " and SELD" if "SELD" in case.profile.names else ""
        text = f"with a distance of 0: the relative error divides by it, so that RDE{and_seld} can be any number, up to"
        yield from case.reference.noticed("zero-distance", distance == 0, f"{text} 1e16")
    counts_as = {"reference row": "a source of its own", "predicted row": "a prediction of its own, one too many"}
    for side in (case.reference, case.prediction):
        text = "with the vector (0, 0, 0), which has no direction: scored as azimuth 0, elevation 0, as the official "
        yield from side.noticed("zero-vector", side.rows.pointless, f"{text}program does")
        number = side.rows.class_id
        text = f"with a class beyond {len(case.labels) - 1} not scored; the program never says so"
        yield from side.noticed("foreign-class", (number < 0) | (number >= len(case.labels)), text)
        yield from side.noticed("negative-frame", side.rows.frame < 0, "with a negative frame not scored")
        each = "it counts" if side.repeated == 1 else "each counts"
        text = f"like another one in every column: {each} as {counts_as[side.noun]}"
        grave = side.repeated > _FEW * len(side.rows)
        yield from counted("duplicate-rows", side.repeated, side.noun, text, grave)
    only = "before the last labelled one, which is never scored"
    if case.profile.unit > 1:
        only = "up to the last labelled second, without its last frame if that is a multiple of 10"
    if (horizon := case.profile.horizon) is not None:
        only = f"below {horizon} ({horizon / 10:g} s)"
    for side in (case.reference, case.prediction):
        count, beyond = len(side.rows), int((side.rows.frame >= case.scored_frames[side.rows.clip]).sum())
        if side is case.prediction and beyond > _FEW * count:
            why = (
                "These are false alarms in the silence after the labels, or the padding of an output that was not cut "
                "at the end of the recording"
            )
            last, truth = (last_frames(each.rows, len(case.scored_frames)) for each in (side, case.reference))
            if (factor := finer_grid(last, truth + 1, beyond, count)) is not None:
                why = (
                    f"Frames of {100 // factor} ms instead of 100 ms were counted, as most clips end {factor} times as "
                    f"late as their labels: divide frame numbers by {factor}"
                )
            share = f"{beyond:,} of {plural(count, side.noun)} ({beyond / count:.0%})"
            yield Notice("last-frame", f"{share} not scored: the program counts frames only {only}. {why}", grave=True)
        else:
            yield from counted("last-frame", beyond, side.noun, f"not scored: the program counts frames only {only}")


def _about_classes(case: SeldCase) -> Iterator[Notice]:
    """Yield how means over classes are made where a class has no reference or no match."""
    if case.score.average != "macro":
        return
    names, counts = case.profile.names, case.score.counts.sum(axis=0)
    labelled, matched = counts[Count.REFERENCES] > 0, counts[Count.MATCHED] > 0
    if absent := case.labelled(~labelled):
        text = f"no reference of {listed(absent, 5)}: in the mean over classes each counts with F 0 and LR 0"
        yield Notice("absent-classes", text + (", LE 180" if "LE" in names else ""), grave=True)
    # classes with references none of which is matched: their error is made up, or left out
    lost = case.labelled(labelled & ~matched)
    if lost and "LE" not in names:
        text = f"no prediction of {listed(lost, 5)} is matched: errors are means over the other classes"
        yield Notice("unmatched-classes", text)
    elif lost:
        mean, *by_class = case.score.values()[names.index("LE")]
        errors = np.array(by_class)[matched]
        without = f", {errors.mean():.1f}° over the classes with a match" if len(errors) else ""
        text = f"no prediction of {listed(lost, 5)} is matched: LE 180 counts for {'it' if len(lost) == 1 else 'each'}"
        text += f" in the mean (LE {mean:.1f}°{without})"
        yield Notice("unmatched-classes", text, grave=True)
    by_room = len(rooms_of(case.score.clips)) > 1
    shown = ["clip"] * case.by_clip + ["room"] * by_room
    if shown and not (case.score.counts[:, Count.REFERENCES] > 0).all():
        text = f"by {' and '.join(shown)}: means over the classes that have references there"
        also = "; false alarms of other classes show in ER" if "ER" in names else ""
        yield Notice("present-classes", text + also)
    lone = case.labelled((case.score.counts[:, Count.MATCHED] > 0).sum(axis=0) == 1) if case.intervals.jackknife else []
    if lone:
        recall = " and LR are" if "LR" in names else " is"
        text = f"without it F{recall} 0 and no error is defined, so that intervals are of means over other classes"
        if "LE" in names:
            text = "without it F and LR are 0 and LE is set to 180, which widens and shifts the intervals of F, LE, "
            text += "LR, SELD"
        yield Notice("sentinel-interval", f"all matches of {listed(lone, 5)} are in one clip: {text}", grave=True)
