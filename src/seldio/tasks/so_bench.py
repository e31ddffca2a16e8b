"""The tasks of SO-Bench, one record each, and items of them from labels, in English or Russian."""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import combinations, repeat
from operator import attrgetter
from typing import Any, Literal, cast

import pyarrow as pa

from seldio.schema.arrays import uncollected
from seldio.schema.qa import AnswerMeta, Item, trusted
from seldio.tasks.names import Name, name_of
from seldio.tasks.scene import AUDIO, RIVALS, Claims, Draft, Lot, Scene, SceneEvent, Task, ask_all
from seldio.tasks.specs import ASKED, DEFAULTS, PUBLISHED, Margins, QuestionOptions
from seldio.tasks.task import ENGLISH, LONGEST, Code, Say, Why, digest, wordings_in

#: Why a candidate is skipped; words that reports show, as well as those of :mod:`seldio.tasks.task`.
BACK = "the azimuth is ±180: two numbers are right"
POLE = "the source is above or below: its azimuth means little"
BEHIND = "left and right are not clear behind or above the listener"
SLIGHT = "it moves a little"
MIXED = "its direction and its distance both change"
NOTHING_AFTER = "no single event follows in a clear direction"
#: Of numbers that are asked for: the unit, the same in keys, the digits after the point, and the width of the bins in
#: which they count as the same answer.
_ESTIMATES: Mapping[str, tuple[Literal["degrees", "metres"], str, int, float]] = {
    "azimuth": ("degrees", "deg", 1, 45.0),
    "elevation": ("degrees", "deg", 1, 15.0),
    "distance": ("metres", "m", 2, 1.0),
}
#: Label frames: the same of onsets.
_ONSETS = 50
#: Longer lists are not asked for.
MOST_EVENTS = 8
#: Degrees; at higher elevations azimuths are not asked for.
HIGHEST = 70.0
#: Seconds; motion of shorter events is not asked about.
LONG_ENOUGH = 1.0


#: The meta of tasks that have none, and keys that a task does not use.
_UNKNOWN = dict.fromkeys(AnswerMeta.model_fields)
NO_META = trusted(AnswerMeta, _UNKNOWN)
#: How many moments of an event or clip are tried.
TRIES = 4


def moments(low: int, high: int, say: Say) -> Iterator[int]:
    """Yield some label frames from *low* to *high* - 1, each once, in a random order."""
    if high > low:
        start, step = say.below(high - low), max(1, (high - low) // TRIES)
        for turn in range(min(TRIES, high - low)):
            yield low + (start + turn * step) % (high - low)


def sounds(events: list[SceneEvent], low: int, high: int) -> bool:
    """Return whether any of *events* is heard after label frame *low* and begins by *high*."""
    for event in events:  # noqa: SIM110 - asked very often, and any() takes three times as long
        if event.end > low and event.first <= high:
            return True
    return False


def each_event(
    ask: Callable[[Scene, SceneEvent, Margins, Say], Draft | str],
    reasons: Literal["unnamed", "unlocated"] | None,
    scene: Scene,
    margins: Margins,
    say: Say,
) -> Iterator[Draft | str]:
    """Yield the candidates of a task that asks about one event: of all events, but for those with *reasons* not to."""
    skipped = repeat(None) if reasons is None else getattr(scene, reasons)
    for event, reason in zip(scene.events, skipped, strict=False):
        yield reason or ask(scene, event, margins, say)


def each_pair(
    ask: Callable[[SceneEvent, SceneEvent, Margins, Say], Draft | str], scene: Scene, margins: Margins, say: Say
) -> Iterator[Draft | str]:
    """Yield the candidates of a task that asks about all pairs, in one order or the other; why events are in none."""
    events, reasons = scene.nameable
    yield from reasons
    for event, other in combinations(events, 2):
        yield ask(event, other, margins, say) if say.below(2) else ask(other, event, margins, say)


# --- what sounds, when and where -------------------------------------------------------------------------------------


def detect_time(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:  # noqa: ARG001
    """Ask for the times of a class that sounds once."""
    since, until = say.language.times[event.first], say.language.times[event.end]
    question, answer = say.ask(event.name, since=since, until=until)
    times = f"{ENGLISH.times[event.first]} to {ENGLISH.times[event.end]}"
    meta = {"time_span": [event.first / 10, event.end / 10]}
    return Draft(question, answer, times, (event,), meta, group=event.name.label)  # of one class, times are alike


def detect_source(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """Ask for all events of a clip with their times, by onset."""
    events, language = scene.events, say.language
    if len(events) > MOST_EVENTS:
        yield f"more than {MOST_EVENTS} events"
    elif any(event.doubled for event in events):
        yield Why.DOUBLED
    elif any(event.short for event in events):
        yield Why.SHORT
    else:
        ordered = sorted(events, key=lambda event: (event.first, event.name.plain, event.end))
        canonical = ", ".join(f"{e.name.said} from {ENGLISH.times[e.first]} to {ENGLISH.times[e.end]}" for e in ordered)
        part = language.words["listed"]
        *others, last = (
            part.format_map({**e.name.words, "since": language.times[e.first], "until": language.times[e.end]})
            for e in ordered
        )
        between, before_last, of_two = language.words["list"]
        joint = (before_last if len(others) > 1 else of_two) if others else ""
        question, answer = say.ask(listed=f"{between.join(others)}{joint}{last}")
        alone = {"time_span": [events[0].first / 10, events[0].end / 10]} if len(events) == 1 else {}
        yield Draft(question, answer, canonical, ordered, alone, group=ordered[0].name.label)


def count_sources(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """Ask how many sources sound at a moment around which none begins or ends; different numbers, at most four.

    An actor who makes two sounds may be one source or two.
    """
    edges = sorted([event.first for event in scene.events] + [event.end for event in scene.events])
    asked = set()
    for frame in moments(0, scene.length, say):
        active = [event for event in scene.events if event.first <= frame < event.end]
        actors = [event.source for event in active if event.source]
        count = len(active)
        if not active:
            yield "no source is active at that moment"
        elif bisect_right(edges, frame - margins.frames) < bisect_right(edges, frame + margins.frames):
            yield Why.UNSTEADY
        elif any(event.doubled for event in active):
            yield Why.DOUBLED
        elif len(set(actors)) < len(actors):
            yield "one actor makes two sounds"
        elif count not in asked:
            asked.add(count)
            time = say.language.times[frame]
            question, answer = say.ask(of=say.language.form(count), t=time, count=str(count))
            yield Draft(question, answer, str(count), tuple(active), {"active_count": count})


def identify_source_by_doa(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask for the class at an azimuth and elevation that no other event is, or may be, near."""
    reason = Why.SHORT if event.short else event.unsteady
    if reason or scene.is_crowded(event, margins.azimuth):
        return reason or Why.SHARED
    azimuth, elevation = (
        say.language.counted(round(angle) + 0.0, "degrees") for angle in (event.azimuth, event.elevation)
    )
    question, answer = say.ask(event.name, azimuth=azimuth, elevation=elevation)
    return Draft(question, answer, event.name.plain, (event,))


def identify_source_by_location(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask for the class that sounds in a direction given in words."""
    if scene.is_crowded(event, margins.azimuth):
        return Why.SHARED
    side, _, place = say.language.directions[event.cell]
    question, answer = say.ask(event.name, place=place, side=side)
    return Draft(question, answer, event.name.plain, (event,))


def onset_from_location(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask when the sound from a direction begins; not of what sounds already when the clip begins."""
    if event.first == 0:
        return "it sounds already at the start"
    if scene.is_crowded(event, margins.azimuth):
        return Why.SHARED
    side, _, place = say.language.directions[event.cell]
    question, answer = say.ask(place=place, side=side, t=say.language.times[event.first])
    meta = {"onset_time": event.first / 10}
    return Draft(question, answer, ENGLISH.times[event.first], (event,), meta, group=event.first // _ONSETS)


# --- numbers ---------------------------------------------------------------------------------------


def _estimate(
    scene: Scene, event: SceneEvent, margins: Margins, say: Say, *, field: Literal["azimuth", "elevation", "distance"]
) -> Draft | str:
    """Ask for the azimuth (positive to the left) or elevation to 0.1 degrees, or the distance to 0.01 m.

    A source that stays where it is, of a class that sounds once, is asked about as a whole; any other at a moment
    around which it does and nothing else of its class sounds.
    """
    rows = scene.rows
    value, change, most, steady = event.azimuth, event.spread, margins.still, rows.steady
    if field == "distance":
        value, change, most, steady = event.distance, event.reach, margins.metres, rows.level
    if event.short or math.isnan(value):
        return Why.SHORT if event.short else Why.NO_DISTANCE if field == "distance" else Why.UNKNOWN
    alike = [other for other in scene.alike[event.name.spoken] if other is not event]
    time = ""
    if change > most or alike:
        wide = margins.frames
        for frame in moments(event.first + wide, event.end - wide, say):
            row = event.low + frame - event.first
            if steady[row] and not (alike and sounds(alike, frame - wide, frame + wide)):
                break
        else:
            return Why.UNSTEADY
        azimuth, elevation, metres = (float(column[row]) for column in rows[1:4])
        # a number of its own has a proof of its own
        event = event._replace(number=-1 - row, azimuth=azimuth, elevation=elevation, distance=metres)
        time = say.language.times[frame]
    unit, short, digits, bin_width = _ESTIMATES[field]
    value = round(getattr(event, field), digits) + 0.0
    if field == "azimuth" and abs(round(event.elevation, 1)) > HIGHEST:
        return POLE
    if field == "azimuth" and abs(value) == 180:
        return BACK
    question, answer = say.ask(event.name, way=int(bool(time)), t=time, value=say.language.counted(value, unit))
    canonical = f"{value:g} {'m' if unit == 'metres' else unit}"
    return Draft(question, answer, canonical, (event,), {f"{field}_{short}": value}, group=int(value // bin_width))


def _compare(
    event: SceneEvent, other: SceneEvent, margins: Margins, say: Say, *, field: Literal["elevation", "distance"]
) -> Draft | str:
    """Ask which of two sources is higher or lower, as an angle, or closer to the listener or farther."""
    if field == "distance" and math.isnan(event.distance + other.distance):
        return Why.NO_DISTANCE
    if field == "distance" and max(event.reach, other.reach) > margins.metres:
        return Why.MOVES
    least = margins.metres if field == "distance" else margins.elevation
    if round(abs(getattr(event, field) - getattr(other, field)), 6) <= least:
        return Why.CLOSE
    side = say.below(2)
    winner, loser = sorted((event, other), key=attrgetter(field), reverse=bool(side))
    more = say.language.words[field][side]
    which = say.language.words["which"][event.name.plural or other.name.plural]
    question, answer = say.ask(event.name, other.name, answered=(winner.name, loser.name), more=more, which=which)
    claims = partial(_claims, event, other, winner is event, leads=(winner is event) == bool(side))
    return Draft(question, answer, winner.name.plain, (event, other), claims=claims)


def _claims(event: SceneEvent, other: SceneEvent, first: bool, leads: bool) -> Claims:
    """Claim of two classes that one of them is left of the other, or has more, and whether the *first* one is right."""
    more, less = (event.name.label, other.name.label) if leads else (other.name.label, event.name.label)
    return (("more", more), ("first", first)), (("more", less), ("first", not first))


def relative_left_right(event: SceneEvent, other: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask on which side of another source a source is, where turning and looking agree on it.

    Left is where the azimuth is greater by the shorter way round, and also where the place is farther left
    of the listener. Behind the listener the two contradict each other.
    """
    turn = (event.azimuth - other.azimuth + 180) % 360 - 180
    # angles from the median plane, degrees: 90 is left, -90 right
    sines = [math.sin(math.radians(e.azimuth)) * math.cos(math.radians(e.elevation)) for e in (event, other)]
    lateral, other_lateral = (math.degrees(math.asin(max(-1.0, min(1.0, sine)))) for sine in sines)
    aside = lateral - other_lateral
    if min(abs(turn), abs(aside)) <= margins.azimuth:
        return Why.CLOSE
    if abs(turn) >= 180 - margins.azimuth or (turn > 0) != (aside > 0):
        return BEHIND
    x, y = event.name, other.name
    left = turn > 0
    canonical = f"{x.said} {x.verb} to the {'left' if left else 'right'} of {y.said}."
    question, answer = say.ask(x, y, side=say.language.words["lateral"][left])
    claims = partial(_claims, event, other, left, leads=left)
    return Draft(question, answer, canonical, (event, other), group=left, claims=claims)


def multi_hop(scene: Scene, anchor: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask for the class that starts in a direction after something else has ended.

    No other event in its direction may do so.
    """
    after = []
    for event in scene.events:
        if event.unplaced or event.first < anchor.end + margins.frames or event.name.spoken == anchor.name.spoken:
            continue
        rivals, earliest = RIVALS[event.cell], anchor.end - margins.frames
        if not any(o.first > earliest and o.cells & rivals for o in scene.events if o is not event):
            after.append(event)
    if not after:
        return NOTHING_AFTER
    event = say.pick(after)
    side, _, place = say.language.directions[event.cell]
    question, answer = say.ask(anchor.name, event.name, place=place, side=side)
    return Draft(question, answer, event.name.plain, (anchor, event))


def spatial_temporal(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask for the class that sounds alone at a moment, with direction and times, if it sounds nowhere else."""
    if event.unplaced:
        return event.unplaced
    wide, others = margins.frames, [other for other in scene.events if other is not event]
    alike = [other for other in scene.alike[event.name.spoken] if other is not event]
    if any(other.first <= event.end + wide and event.first <= other.end + wide for other in alike):
        return Why.UNSTEADY
    alone = (f for f in moments(event.first + 1, event.end - 1, say) if not sounds(others, f - wide, f + wide))
    frame = next(alone, None)
    if frame is None:
        return Why.UNSTEADY
    times, (side, short, place) = say.language.times, say.language.directions[event.cell]
    since, until = times[event.first], times[event.end]
    question, answer = say.ask(event.name, place=place, side=side, t=times[frame], since=since, until=until)
    canonical = f"{event.name.plain} from {short}."
    meta = {"time_span": [event.first / 10, event.end / 10]}
    return Draft(question, answer, canonical, (event,), meta, group=event.name.label)


#: The answers about motion, in the order in which they are worded.
MOTIONS = ("stationary", "moving", "approaching", "receding")


def classify_motion(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:  # noqa: ARG001
    """Ask whether a source stays, moves, approaches or recedes; only about the direction if distances are unknown."""
    if event.short or event.end - event.first < 10 * LONG_ENOUGH:
        return Why.SHORT
    if math.isnan(event.azimuth):
        return Why.UNKNOWN
    turns = event.spread > margins.moving
    if not turns and event.spread > margins.still:
        return SLIGHT
    if math.isnan(event.distance) or event.reach <= margins.metres:
        motion = "moving" if turns else "stationary"
    elif turns:
        return MIXED
    elif abs(event.gain) <= margins.metres or abs(event.gain) < 0.8 * event.reach:  # it may go to and fro
        return Why.MOVES
    else:
        motion = "approaching" if event.gain < 0 else "receding"
    question, answer = say.ask(event.name, way=int(math.isnan(event.distance)), of=MOTIONS.index(motion))
    return Draft(question, answer, motion, (event,))


# --- the tasks -------------------------------------------------------------------------------------------------------
_CANDIDATES: Mapping[str, Callable[[Scene, Margins, Say], Iterator[Draft | str]]] = {
    "detect_time": partial(each_event, detect_time, "unnamed"),
    "detect_source": detect_source,
    "count_sources": count_sources,
    "identify_source_by_doa": partial(each_event, identify_source_by_doa, None),
    "identify_source_by_location": partial(each_event, identify_source_by_location, "unlocated"),
    "onset_from_location": partial(each_event, onset_from_location, "unlocated"),
    "estimate_azimuth": partial(each_event, partial(_estimate, field="azimuth"), None),
    "estimate_elevation": partial(each_event, partial(_estimate, field="elevation"), None),
    "estimate_distance": partial(each_event, partial(_estimate, field="distance"), None),
    "multi_hop": partial(each_event, multi_hop, "unnamed"),
    "spatial_temporal": partial(each_event, spatial_temporal, None),
    "compare_elevation": partial(each_pair, partial(_compare, field="elevation")),
    "compare_distance": partial(each_pair, partial(_compare, field="distance")),
    "relative_left_right": partial(each_pair, relative_left_right),
    "classify_motion": partial(each_event, classify_motion, "unnamed"),
}
#: Those that labels can answer, in the order in which a clip's items come.
TASKS: dict[str, Task[Scene]] = {name: Task(**vars(PUBLISHED[name]), candidates=_CANDIDATES[name]) for name in ASKED}
#: Tasks that labels cannot answer, with the reason.
REFUSED = {task.name: task.refused for task in PUBLISHED.values() if task.refused}
#: The proportions of what is made of labels: these numbers, of the tasks that labels can answer.
SO_BENCH = {name: PUBLISHED[name].weight for name in PUBLISHED if name in TASKS}


def stream(table: pa.Table, options: QuestionOptions, **more: Any) -> Iterator[tuple[Item, Lot]]:
    """Yield all items about the labels in *table*, with what they are chosen by; *skipped* is counted up."""
    names: Callable[[str], Name] = name_of
    language = cast("Code", options.language or "en")
    if language == "ru":
        from seldio.tasks.russian import russian_name

        datasets = more.get("datasets")
        names = partial(russian_name, class_nouns=datasets.nouns if datasets else ())
    make, wordings = partial(_item, language), wordings_in(language)
    return ask_all(table, TASKS, REFUSED, lambda scene: scene, make, options, names=names, language=wordings, **more)


def _item(language: Code, scene: Scene, task: Task[Scene], draft: Draft) -> dict[str, Any]:
    number = digest(scene.audio_id, task.name, draft.question, draft.answer)
    return {
        "id": f"qa_{number}",
        "answer_meta": trusted(AnswerMeta, {**_UNKNOWN, **draft.meta}) if draft.meta else NO_META,
        "language": language,
        "extra": {
            "question_class": task.question_class,
            "answer_format": "structured_text",
            "audio_id": scene.audio_id,
        },
    }


@dataclasses.dataclass(frozen=True)
class Generated:
    """Items, and how many candidates of each task were skipped for which reason."""

    items: list[Item]
    skipped: Counter[tuple[str, str]]


def generate(
    table: pa.Table,
    *,
    seed: int,
    tasks: Collection[str] | None = None,
    window: float = LONGEST,
    hop: float = LONGEST,
    margins: Margins = DEFAULTS,
    per_task: int | None = None,
    balance: bool = False,
    audio_pattern: str = AUDIO,
    split: str | None = None,
    language: Code = "en",
) -> Generated:
    """Return items about the labels in *table*, and what was skipped.

    The items of a recording depend on its name, its labels and the options alone, so that shards may be made apart and
    put together; *per_task* and *balance* look at all items.

    Args:
        table: an event table with ``clip`` and ``frame`` (100 ms), in any row order; angles in degrees,
            azimuth positive to the left, distances in metres.
        seed: chooses wordings, moments, orders of pairs and, with *per_task* or *balance*, items.
        tasks: names of ``TASKS``; all by default.
        window: seconds of a clip, at most 20; recordings are cut into such clips.
        hop: seconds from the start of one clip to the start of the next.
        margins: what must differ by how much.
        per_task: maximum number of items of a task.
        balance: the proportions of SO-Bench, see :func:`targets`, and no answer much more often right than by
            chance; what is left out for that is counted as skipped.
        audio_pattern: path of the audio, with ``{audio_id}``, ``{clip}``, ``{split}`` or ``{path}`` (the label
            file's path below its root without suffix, ``metadata_`` in front being ``foa_``).
        split: of the items; by default that of each recording, as the folder of its labels or its name tells it, and
            ``test`` where neither does.
        language: of questions and answers: ``en`` or ``ru``, about the same moments and with the same canonical
            answers; in Russian, what names a class without a Russian name is counted as skipped.

    Returns:
        The items by recording, clip and task, and what was skipped.

    Raises:
        UsageError: a task that does not exist or is refused, or a window that cannot be.
    """
    from seldio.tasks.mix import choice

    options = QuestionOptions(
        seed=seed,
        tasks=tasks,
        window=window,
        hop=hop,
        margins=margins,
        split=split,
        per_task=per_task,
        balance=balance,
        language=language,
    )
    skipped: Counter[tuple[str, str]] = Counter()
    with uncollected():
        items = list(stream(table, options, skipped=skipped, audio_pattern=audio_pattern))
    if not options.selects:
        return Generated([item for item, _ in items], skipped)
    chosen, uneven = choice([lot for _, lot in items], options, SO_BENCH)
    return Generated([item for item, lot in items if lot in chosen], skipped + uneven)
