"""The tables of a SELD score, and what there is to know about it: where official programs and the data lead astray."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from seldio.errors import UsageError
from seldio.reports.tables import Cell, Column, Notice, Phrase, Table, UnreliableInterval, in_order, measured
from seldio.rules.submissions import finer_grid
from seldio.scores.resampling import ENOUGH, FEWEST, TOO_FEW, Over, Resampling, doubt, interval_cells
from seldio.scores.seld import mistakes
from seldio.scores.seld.causes import ProbableCause
from seldio.scores.seld.join import all_of_split
from seldio.scores.seld.metrics import Thresholds, Values
from seldio.scores.seld.mistakes import Mistakes
from seldio.scores.seld.pairing import CARTESIAN, FOLDED
from seldio.scores.seld.profiles import SeldProfile
from seldio.scores.seld.rows import RowFacts, SideFacts
from seldio.scores.seld.scoring import SeldScore
from seldio.scores.signatures import Signature
from seldio.text import listed, plural, view_command


@dataclasses.dataclass(frozen=True)
class SeldCase:
    """A score, with all that tables and notices may look at."""

    profile: SeldProfile
    limits: Thresholds
    score: SeldScore
    facts: SideFacts
    labels: Sequence[str]  # name of each class
    layout: str  # of the prediction
    reference_layout: str = ""
    chosen: tuple[str, ...] = ()  # sentences about formats that the content did not decide
    left_out: tuple[int, int] = (0, 0)  # clips not counted, for want of a prediction and for want of a reference
    split: str = ""  # that all predictions are of, where the reference has others too
    intervals: bool = False  # whether the intervals of the official jackknife are shown
    bootstrap: Resampling | None = None  # how resamples are drawn, where bootstrap intervals are shown
    by_clip: bool = False  # whether the scores of each clip are shown
    named: bool = False  # whether the user named the profile
    forced: tuple[str, ...] = ()  # errors in the data, which is scored all the same
    causes: tuple[ProbableCause, ...] = ()  # the changes that the predictions seem to need
    mistakes: Mistakes | None = None  # where they are shown
    signature: Signature | None = None  # what it rests on

    @property
    def sides(self) -> tuple[tuple[RowFacts, str], ...]:
        """The rows of both sides, and what to call one."""
        return (self.facts.reference, "reference row"), (self.facts.prediction, "predicted row")

    def has(self, name: str) -> bool:
        """Return whether there is a score called *name*."""
        return name in self.profile.names

    @cached_property
    def ends(self) -> Mapping[str, tuple[Values, Values]]:
        """The lower and upper ends of the intervals that are shown, by their kind, the bootstrap first."""
        found = {"bootstrap": self.score.bootstrap(self.bootstrap)} if self.bootstrap is not None else {}
        return found | ({"jackknife": self.score.jackknife()} if self.intervals else {})

    def over(self, kind: str) -> Over:
        """Return the units from which the intervals of a kind are drawn."""
        return self.bootstrap.over if kind == "bootstrap" and self.bootstrap is not None else "clips"

    def units(self, kind: str) -> int:
        """Return how many of those there are."""
        return len(self.score.rooms if self.over(kind) == "rooms" else self.score.clips)

    def labelled(self, classes: Sequence[bool] | Any) -> list[str]:
        """Return the names of the chosen classes."""
        return [label for label, chosen in zip(self.labels, classes, strict=True) if chosen]


# --- tables ------------------------------------------------------------------------------------------------

REFERENCES = Column("references", "references", "", 0, None, "number of references, in segments or frames")
_CLIPS = Column("clips", "clips", "", 0, None, "number of clips in this row")


def tables(system: str, case: SeldCase) -> tuple[Table, ...]:
    """Return all tables of a score, the overall one first."""
    score, columns = case.score, case.profile.columns
    found = [_overall(system, case)]
    if score.average == "macro":
        kinds = list(case.ends) or [""]
        found += [_classes(case, kind, aside=kind != kinds[0]) for kind in kinds]
    if len(score.rooms) > 1:
        rooms: list[tuple[Cell, ...]] = [
            (room, len(clips), *score.present(score.counts.take(clips).total())[0].tolist())
            for room, clips in score.rooms.items()
        ]
        found.append(Table("rooms", "by room", (Column("room", "room"), _CLIPS, *columns), tuple(rooms), True))
    if case.by_clip:
        found.append(Table("clips", "by clip", (Column("clip", "clip"), REFERENCES, *columns), _clip_rows(score)))
    if case.mistakes is not None:
        found += mistakes.tables(score, case.mistakes, case.limits, case.labels)
    return tuple(found)


def _clip_rows(score: SeldScore) -> tuple[tuple[Cell, ...], ...]:
    references = score.counts.references.sum(axis=1).astype(int).tolist()
    each = zip(score.clips, references, score.present(score.counts).tolist(), strict=True)
    return tuple((clip, count, *values) for clip, count, values in each)


#: How many of the worst clips are shown.
_WORST = 3


def worst_clips(
    case: SeldCase, measure: str | None, reference: str, predictions: str, formats: Mapping[str, str | None]
) -> Table:
    """Return the worst clips by a measure, with the command that shows each where both sides are files.

    Args:
        case: the score.
        measure: by which they are the worst; by default that of the profile which decides.
        reference: the path of the labels.
        predictions: that of the predictions.
        formats: options of ``seldio view`` that name the formats, where these were named.
    """
    every = (Column("clip", "clip"), REFERENCES, *case.profile.columns)
    lead = measured(every, case.profile.lead)
    with suppress(UsageError):  # what another table has alone sorts that one
        lead = measured(every, measure or case.profile.lead)
    table = Table("worst", f"worst clips by {every[lead].title}", every, _clip_rows(case.score)).worst_first(lead)
    columns: tuple[Column, ...] = (every[0], every[lead])
    rows: tuple[tuple[Cell, ...], ...] = tuple((row[0], row[lead]) for row in table.rows[:_WORST])
    one = Path(predictions).is_file() and len(rows) == 1  # of a single clip: no archive, which is not looked into
    if Path(reference).exists() and (one or Path(predictions).is_dir()):
        commands = (view_command(reference, str(row[0]), predictions=predictions, **formats) for row in rows)
        rows = tuple((*row, Phrase((("code", text),))) for row, text in zip(rows, commands, strict=True))
        columns = (*columns, Column("command", "command that shows it"))
    return dataclasses.replace(table, columns=columns, rows=rows)


def _overall(system: str, case: SeldCase) -> Table:
    """The score with its intervals; those of the jackknife in a row of their own below those of the bootstrap."""
    score, values = case.score, case.score.values().overall[0]
    rows: list[tuple[Cell, ...]] = [] if case.ends else [(system, *values.tolist())]
    flags: list[str | None] = []
    for number, (kind, (low, high)) in enumerate(case.ends.items()):
        over, name = case.over(kind), "by the official jackknife" if number else system
        reliable = score.support(over, pooled=True) >= FEWEST
        rows.append((name, *interval_cells(values, low.overall[0], high.overall[0], reliable, score.weak(over))))
        flags.append(doubt(reliable.tolist(), score.profile.columns))
    by = " and ".join(f"{kind} over {case.over(kind)}" for kind in case.ends)
    title = "overall" if not by else f"overall, 95 % confidence intervals by {by}"
    if TOO_FEW in flags:
        title = "overall; too few clips for intervals"
    columns = (Column("system", "system"), *score.profile.columns)
    if any(flags):
        columns = (*columns, RELIABLE)
        rows = [(*row, flag) for row, flag in zip(rows, [*flags, flags[-1]], strict=False)]
    return Table("overall", title, columns, tuple(rows))


HELD = Column("held", "clips", "", 0, None, "number of clips that hold the class; of rooms where rooms are drawn")
RELIABLE = Column(
    "interval", "interval", "", 0, None,
    f"“{TOO_FEW}” where fewer than {FEWEST} clips (rooms) in effect tell of all scores; “not of” a score where they do "
    "of that, or all clips agree: the ends of intervals, which only json and csv show, cannot be relied on",
)  # fmt: skip


def _classes(case: SeldCase, kind: str, aside: bool) -> Table:
    """Return the scores of each class, with intervals of one *kind*; ER is over all classes together."""
    score, ends = case.score, case.ends.get(kind, ())
    kept = [number for number, name in enumerate(score.profile.names) if name != "ER"]
    cells = [each.by_class[0, kept] for each in (score.values(), *ends) if each.by_class is not None]
    counts, held = score.counts.references.sum(axis=0).astype(int).tolist(), score.held(case.over(kind)).tolist()
    support = score.support(case.over(kind))[kept]
    rows: list[tuple[Cell, ...]] = []
    for number, label in enumerate(case.labels):
        values, *limits = [each[:, number] for each in cells]
        if limits:
            low, high = limits
            found = interval_cells(values, low, high, support[:, number] >= FEWEST, support[:, number] < ENOUGH)
            reliable = [not isinstance(cell, UnreliableInterval) for cell in found]
            flag = doubt(reliable, [score.profile.columns[place] for place in kept])
            rows.append((label, counts[number], held[number], *found, flag))
        else:
            rows.append((label, counts[number], *values.tolist()))
    scores = [score.profile.columns[number] for number in kept]
    columns = (REFERENCES, HELD, *scores, RELIABLE) if ends else (REFERENCES, *scores)
    name, title = (f"classes-{kind}", f"by class, intervals by {kind}") if aside else ("classes", "by class")
    return Table(name, title, (Column("class", "class"), *columns), tuple(rows), aside=aside)


# --- notices -----------------------------------------------------------------------------------------------


def notices(case: SeldCase) -> tuple[Notice, ...]:
    """Return all that apply: what is to be read before the numbers, then the grave ones."""
    return in_order(notice for check in _CHECKS for notice in check(case))


def _mistakes(case: SeldCase) -> Iterator[Notice]:
    if case.reference_layout.endswith(_OUTPUTS):
        text = f"the reference is {case.reference_layout}, what systems write: make sure that they are not swapped"
        if not case.layout.endswith(_OUTPUTS):  # if the prediction looks like labels too, there is little doubt
            text = (
                f"the reference is {case.reference_layout}, what systems write, and the prediction {case.layout}, a "
                "format of labels: the two are probably swapped. Give the reference with --reference"
            )
        yield Notice("reference-is-output", text, grave=True, first=True)
    for cause in case.causes:
        yield Notice("probable-cause", str(cause), grave=True, first=True)
    for text in case.forced:
        yield Notice("forced", f"scored with errors in the data: {text}", grave=True)
    for text in case.chosen:
        yield Notice("format-chosen", text, grave=True)
    if case.facts.dropped:
        rows = plural(case.facts.dropped, "predicted row")
        text = f"{rows} not scored: they are {case.layout}, which the program silently drops. dcase2023 scores "
        yield Notice("dropped-rows", f"{text}them", grave=True, first=True)
    sentence = case.profile.misread.get(case.layout)
    if sentence and case.facts.prediction.all:  # files without a row are the same in every format
        text = f"the prediction is {case.layout}, which seldio reads correctly; {sentence}"
        yield Notice("misread", text, grave=True)


_OUTPUTS = ("-output", "-submission")


def _unused(case: SeldCase) -> Iterator[Notice]:
    sides = [rows for rows, _ in case.sides if rows.all]
    if case.profile.measure is not FOLDED and any(not rows.elevations for rows in sides):
        text = "labels without elevation (stereo) are scored as if all were 0; dcase2025 is the profile for them"
        yield Notice("no-elevation", text, grave=True)
    # outputs of 2023 have a distance that is always 0
    elif "distance" not in case.profile.needs and len(sides) == 2 and all(r.distances > r.touching for r in sides):
        text = f"both sides have distances, which {case.profile.name} does not look at: --profile dcase2024 scores them"
        yield Notice("distance-unused", text, grave=not case.named)
    for rows, noun in case.sides if case.profile.measure is FOLDED else ():
        if rows.unfolded:
            beyond = f"{plural(rows.unfolded, noun)} with an azimuth beyond ±90°"
            yield Notice("folded", f"{beyond}: folded front to back, as the program does", grave=True)
        if rows.raised:
            text = f"{plural(rows.raised, noun)} with an elevation, which {case.profile.name} does not look at"
            yield Notice("elevation-unused", text, grave=True)


def _clips(case: SeldCase) -> Iterator[Notice]:
    if (case.intervals or case.bootstrap) and len(case.score.clips) < 2:
        yield Notice("one-clip", "no intervals: leaving out one clip at a time requires at least two clips")
    elif case.intervals or case.bootstrap:
        yield from few_clips(case)
    missing, surplus = case.left_out
    if case.split:
        yield Notice("other-splits", f"{all_of_split(case.split)}, which count as missing here", grave=True, first=True)
    if surplus:
        yield Notice("surplus-clips", f"{plural(surplus, 'predicted clip')} without reference left out", grave=True)
    if missing:
        text = f"{plural(missing, 'clip')} of the reference without prediction left out, as the official program does "
        text += (
            "silently: a system that submits only what it does well scores higher. By the published definition what "
        )
        yield Notice("missing-clips", f"{text}they hold is missed", grave=True)
    empty, alarms = case.facts.unlabelled, case.facts.alarms
    if empty and case.profile.name == "dcase2025":
        text = f"{plural(empty, 'clip')} without labels: the {plural(alarms, 'prediction')} in them cost nothing"
        yield Notice("empty-reference", text, grave=alarms > 0)
    elif empty and isinstance(case.profile.horizon, str):
        text = f"{plural(empty, 'clip')} without labels: the official program ends with ValueError, here they count 0"
        yield Notice("empty-reference", text)


def _values(case: SeldCase) -> Iterator[Notice]:
    rows = case.facts.reference.touching
    if rows and case.has("RelDistE"):
        and_seld = " and SELD" if case.has("SELD") else ""
        text = f"{plural(rows, 'reference row')} with a distance of 0: the relative error divides by it, so that RDE"
        yield Notice("zero-distance", f"{text}{and_seld} can be any number, up to 1e16", grave=True)
    for side, noun in case.sides:
        if side.pointless:
            text = f"{plural(side.pointless, noun)} with the vector (0, 0, 0), which has no direction"
            yield Notice(
                "zero-vector", f"{text}: scored as azimuth 0, elevation 0, as the official program does", grave=True
            )


def _scored(case: SeldCase) -> Iterator[Notice]:
    """Yield which rows are scored: up to which frame, and of which classes."""
    horizon = case.profile.horizon
    only = _HORIZONS[horizon] if isinstance(horizon, str) else f"below {horizon} ({horizon / 10:g} s)"
    for rows, noun in case.sides:
        count = plural(rows.beyond, noun)
        if rows is case.facts.prediction and rows.beyond > _FEW * rows.all:
            share = f"{rows.beyond:,} of {plural(rows.all, noun)} ({rows.beyond / rows.all:.0%})"
            why = "These are false alarms in the silence after the labels, or the padding of an output that was not cut"
            why += " at the end of the recording"
            if (factor := finer_grid(case.facts.fits, rows.beyond, rows.all)) is not None:
                why = f"Frames of {100 // factor} ms instead of 100 ms were counted, as most clips end {factor} times "
                why += f"as late as their labels: divide frame numbers by {factor}"
            yield Notice("last-frame", f"{share} not scored: the program counts frames only {only}. {why}", grave=True)
        elif rows.beyond:
            yield Notice("last-frame", f"{count} not scored: the program counts frames only {only}")
    for rows, noun in case.sides:
        if rows.foreign:
            beyond = f"a class beyond {len(case.labels) - 1}"
            text = f"{plural(rows.foreign, noun)} with {beyond} not scored; the program never says so"
            yield Notice("foreign-class", text, grave=True)
        if rows.early:
            yield Notice("negative-frame", f"{plural(rows.early, noun)} with a negative frame not scored", grave=True)


#: The share of predicted rows behind the end that is no longer a matter of the last second.
_FEW = 0.03
_HORIZONS = {
    "last-second": "up to the last labelled second, without its last frame if that is a multiple of 10",
    "before-last": "before the last labelled one, which is never scored",
}


def _by_class(case: SeldCase) -> Iterator[Notice]:
    if case.score.average != "macro":
        return
    counts, values = case.score.counts.total(), case.score.values()
    absent = case.labelled(counts.references[0] == 0)
    if absent:
        text = f"no reference of {listed(absent, 5)}: in the mean over classes each counts with F 0 and LR 0"
        yield Notice("absent-classes", text + (", LE 180" if case.has("LE") else ""), grave=True)
    # classes with references none of which is matched: their error is made up, or left out
    lost = case.labelled(((counts.references > 0) & (counts.matched == 0))[0])
    if lost and not case.has("LE"):
        text = f"no prediction of {listed(lost, 5)} is matched: errors are means over the other classes"
        yield Notice("unmatched-classes", text)
    elif lost and values.by_class is not None:
        errors = values.by_class[0, case.profile.names.index("LE")][counts.matched[0] > 0]
        without = f", {errors.mean():.1f}° over the classes with a match" if len(errors) else ""
        text = f"no prediction of {listed(lost, 5)} is matched: LE 180 counts for {'it' if len(lost) == 1 else 'each'}"
        text += f" in the mean (LE {case.score.overall['LE']:.1f}°{without})"
        yield Notice("unmatched-classes", text, grave=True)
    shown = [name for name, there in (("clip", case.by_clip), ("room", len(case.score.rooms) > 1)) if there]
    if shown and (case.score.counts.references == 0).any():
        text = f"by {' and '.join(shown)}: means over the classes that have references there"
        also = "; false alarms of other classes show in ER" if case.has("ER") else ""
        yield Notice("present-classes", text + also)
    if case.has("ER"):
        yield Notice(
            "pooled-er", "ER is always over all classes together, even in the macro average, and never by class"
        )


def _repeated(case: SeldCase) -> Iterator[Notice]:
    counts = (
        (case.facts.reference, "reference row", "a source of its own"),
        (case.facts.prediction, "predicted row", "a prediction of its own, one too many"),
    )
    for rows, noun, what in counts:
        if rows.repeated:
            text = f"{plural(rows.repeated, noun)} with the frame, class, source and direction of another: "
            each = "it counts" if rows.repeated == 1 else "each counts"
            yield Notice("duplicate-rows", f"{text}{each} as {what}", grave=rows.repeated > _FEW * rows.all)


def _segments(case: SeldCase) -> Iterator[Notice]:
    counts = case.score.counts
    shared, apart = int(counts.shared.sum()), int(counts.apart.sum())
    if shared:
        text = f"{plural(shared, 'match', 'matches')} more than predictions: one that turns from one reference to "
        text += "another within a second counts for each of them, and their order in the file decides which"
        yield Notice("shared-prediction", text, grave=shared > _MANY * float(counts.matched.sum()))
    if apart:
        text = f"references and predictions of a class in one second but in no common frame, {plural(apart, 'time')}"
        yield Notice("no-common-frame", f"{text}: the program counts the predictions as missed, not the references")


#: The share of matches above which it matters that predictions are shared.
_MANY = 0.1


def _ties(case: SeldCase) -> Iterator[Notice]:
    edge = int(case.score.counts.edge.sum())
    if edge and case.profile.measure is not FOLDED:  # folded azimuths are whole numbers
        what = "mean error" if case.profile.unit > 1 else "error"
        verdict = "the last bit of the program's arithmetic decides whether that is near"
        if case.profile.measure is CARTESIAN:
            verdict = "counted as too far, since the program's unit vectors are a little shorter than 1"
        text = f"{plural(edge, 'match', 'matches')} whose {what} is exactly {case.limits.angle:g}°"
        yield Notice("at-threshold", f"{text}: {verdict}")
    if shared := case.facts.crowded:
        text = f"{plural(shared, 'frame')} with several references of one class: the program tells them apart by the "
        yield Notice("row-order", text + "order of their rows, so that another order gives slightly different scores")


def _jackknife(case: SeldCase) -> Iterator[Notice]:
    """Classes whose scores jump where one clip is left out, and what the program prints instead of intervals."""
    if not case.intervals:
        return
    lone = case.labelled((case.score.counts.matched > 0).sum(axis=0) == 1) if case.score.average == "macro" else []
    if lone:
        recall = " and LR are" if case.has("LR") else " is"
        text = f"without it F{recall} 0 and no error is defined, so that intervals are of means over other classes"
        if case.has("LE"):
            text = "without it F and LR are 0 and LE is set to 180, which widens and shifts the intervals of F, LE, "
            text += "LR, SELD"
        yield Notice("sentinel-interval", f"all matches of {listed(lone, 5)} are in one clip: {text}", grave=True)
    if case.profile.jackknife:
        yield Notice("official-jackknife", _JACKKNIVES[case.profile.jackknife])


def few_clips(case: SeldCase) -> Iterator[Notice]:
    """Intervals that nothing can be read from."""
    kind = "jackknife" if case.bootstrap is None else "bootstrap"
    over, units = case.over(kind), case.units(kind)
    if units < FEWEST:
        said = f"{plural(units, over[:-1])} {'is' if units == 1 else 'are'} too few to generalize from"
        text = f"{said}: an interval needs at least {FEWEST}; its bounds are only in JSON and CSV"
        yield Notice("few-clips", text, grave=True)
        return
    score, support = case.score, case.score.support(over)
    yield from weak_scores(score, over, case.labels)
    if score.average != "macro":
        return
    held = support[score.profile.names.index("F")]
    few = case.labelled((held > 0) & (held < FEWEST))
    unmatched = case.labelled((held >= FEWEST) & (support[-1] < FEWEST))
    found = [f"fewer than {FEWEST} {over} in effect {what} {listed(some, 5)}"
             for what, some in (("hold", few), ("have a match of", unmatched)) if some]  # fmt: skip
    if found:
        text = f"{', and '.join(found)}: intervals that rest on these alone are unreliable; "
        text += "their bounds are only in JSON and CSV"
        if case.intervals and case.has("LE"):
            text += "; the jackknife's overall intervals of LE and SELD leave the range of possible values for it"
        yield Notice("few-clips", text, grave=True)
    if weak := case.labelled(((support >= FEWEST) & (support < ENOUGH)).any(axis=0)):
        text = f"* intervals of {listed(weak, 5)} rest on fewer than {ENOUGH} {over} in effect: read them as intervals "
        yield Notice("weak-classes", text + "of 90 %")
    if kind == "bootstrap" and (stuck := case.labelled((held >= FEWEST) & _stuck(case.score))):
        text = f"F or LR of {listed(stuck, 5)} is 0 or 100 % in every resample: its interval is a bound for clips of "
        yield Notice("at-boundary", f"{text}another kind that are not among these")


def weak_scores(score: SeldScore, over: Over, labels: Sequence[str]) -> Iterator[Notice]:
    """Overall intervals that are marked with an asterisk, or cannot be relied on though there are clips enough."""
    support = score.support(over, pooled=True)
    if names := _titles(score, support < FEWEST):
        text = f"{over} are so uneven that {names} rest on fewer than {FEWEST} in effect: their intervals are "
        yield Notice("few-clips", f"{text}unreliable; the bounds are only in JSON and CSV", grave=True)
    lean: Any = score.lean(over) & (support >= FEWEST)[:, None]
    reasons = []
    if names := _titles(score, (support >= FEWEST) & (support < ENOUGH)):
        reasons.append(f"{names} rest on fewer than {ENOUGH} {over} in effect")
    if names := _titles(score, lean.any(axis=1)):
        classes = [label for label, flag in zip(labels, lean.any(axis=0), strict=True) if flag]
        text = f"{names} rest on {plural(len(classes), 'class', 'classes')} ({listed(classes, 5)}) that fewer than "
        reasons.append(f"{text}{FEWEST} {over} in effect tell about")
    if reasons:
        text = f"* the overall intervals of {', and those of '.join(reasons)}: they hold the truth less often than in "
        text += "95 of 100 test sets" + ", those of LE and SELD far less" * bool(lean.any())
        yield Notice("weak-intervals", text, grave=True)


def _titles(score: SeldScore, chosen: Any) -> str:
    return ", ".join(column.title for column, flag in zip(score.profile.columns, chosen, strict=True) if flag)


def _stuck(score: SeldScore) -> Any:
    """Return for each class whether F or LR is 0 or 1, so that no resample differs."""
    values = score.values().by_class
    assert values is not None
    places = [score.profile.names.index(name) for name in ("F", "LR") if name in score.profile.names]
    return ((values[0, places] <= 1e-9) | (values[0, places] >= 1 - 1e-9)).any(axis=0)


_JACKKNIVES = {
    "without-last": "the official jackknife prints the scores without the last file of its folder instead of those "
    "over all files",
    "fails": "the program's own jackknife ends with ValueError: there are no official intervals to compare these with",
}


_CHECKS: tuple[Callable[[SeldCase], Iterator[Notice]], ...] = (
    _mistakes, _unused, _clips, _values, _scored, _by_class, _repeated, _segments, _ties, _jackknife,
)  # fmt: skip
