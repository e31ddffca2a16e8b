"""The tasks of SO-Bench, one record each, and items of them from labels, in English or Russian."""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from functools import cache, partial
from itertools import combinations, repeat
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from seldio.schema.qa import AnswerMeta, Item, trusted
from seldio.tasks.names import Name, name_of
from seldio.tasks.scene import AUDIO, LONGEST, RIVALS, ItemPlace, Scene, SceneEvent, ask_all, cells, only_cell, tenths
from seldio.tasks.specs import ASKED, DEFAULTS, PUBLISHED, Margins
from seldio.tasks.task import ENGLISH, NAMELESS, Code, Say, Task, Why, digest, wordings_in

#: Why a candidate is skipped; words that reports show, as well as those of :mod:`seldio.tasks.task`.
BACK = "the azimuth is ±180: two numbers are right"
POLE = "the source is above or below: its azimuth means little"
BEHIND = "left and right are not clear behind or above the listener"
SLIGHT = "it moves a little"
MIXED = "its direction and its distance both change"
NOTHING_AFTER = "no single event follows in a clear direction"
#: Of numbers that are asked for: the unit, the same in keys, and the digits after the point.
_ESTIMATES: Mapping[str, tuple[Literal["degrees", "metres"], str, int]] = {
    "azimuth": ("degrees", "deg", 1),
    "elevation": ("degrees", "deg", 1),
    "distance": ("metres", "m", 2),
}
#: Longer lists are not asked for.
MOST_EVENTS = 8
#: Degrees; at higher elevations azimuths are not asked for.
HIGHEST = 70.0
#: Seconds; motion of shorter events is not asked about.
LONG_ENOUGH = 1.0


_UNKNOWN = dict.fromkeys(AnswerMeta.model_fields)


def meta(**values: float | list[float]) -> AnswerMeta:
    """Return the truth as numbers, with these keys."""
    return trusted(AnswerMeta, {**_UNKNOWN, **values})


#: The meta of tasks that have none.
NO_META = meta()
#: How many moments of an event or clip are tried.
TRIES = 4


def first_class(item: Item) -> str | None:
    """Return the class of the first event that *item* is about: answers with times are alike where it is the same."""
    return item.events[0].class_name if item.events else None


class Draft(NamedTuple):
    """A question with its answer, before it gets its ids."""

    question: str
    answer: str
    canonical: str
    meta: AnswerMeta
    events: tuple[SceneEvent, ...]


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
    reasons: Literal["unnamed", "unlocated"] | None = None,
) -> Callable[[Scene, Margins, Say], Iterator[Draft | str]]:
    """Make what asks about one event the candidates of a task: of all events, but for those with *reasons* not to."""

    def candidates(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
        skipped = repeat(None) if reasons is None else getattr(scene, reasons)
        for event, reason in zip(scene.events, skipped, strict=False):
            yield reason or ask(scene, event, margins, say)

    return candidates


def each_pair(
    ask: Callable[[SceneEvent, SceneEvent, Margins, Say], Draft | str],
) -> Callable[[Scene, Margins, Say], Iterator[Draft | str]]:
    """Make *ask* the candidates of a task: of all pairs, each in one order or the other; why events are in none."""

    def candidates(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
        events, reasons = scene.nameable
        yield from reasons
        for event, other in combinations(events, 2):
            yield ask(event, other, margins, say) if say.below(2) else ask(other, event, margins, say)

    return candidates


# --- what sounds, when and where -------------------------------------------------------------------------------------


def span(event: SceneEvent) -> AnswerMeta:
    """Return the interval of *event* as meta."""
    return meta(time_span=[event.first / 10, event.end / 10])


def detect_time(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:  # noqa: ARG001
    """Ask for the times of a class that sounds once."""
    name, times = event.name, f"{ENGLISH.time(event.first)} to {ENGLISH.time(event.end)}"
    return Draft(say.ask(name), say.tell(name, **say.times(event)), times, span(event), (event,))


def detect_source(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """Ask for all events of a clip with their times, by onset."""
    events = scene.events
    if len(events) > MOST_EVENTS:
        yield f"more than {MOST_EVENTS} events"
    elif any(event.doubled for event in events):
        yield Why.DOUBLED
    elif any(event.short for event in events):
        yield Why.SHORT
    else:
        ordered = sorted(events, key=lambda event: (event.first, event.name.plain, event.end))
        listed = ", ".join(f"{e.name.said} from {ENGLISH.time(e.first)} to {ENGLISH.time(e.end)}" for e in ordered)
        part = say.language.words["listed"]
        heard = say.language.listed(part.format_map(e.name.words | say.times(e)) for e in ordered)
        truth = span(events[0]) if len(events) == 1 else NO_META
        yield Draft(say.ask(), say.tell(listed=heard), listed, truth, tuple(ordered))


def count_sources(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """Ask how many sources sound at a moment around which none begins or ends; different numbers, at most four."""
    asked = set()
    for frame in moments(0, scene.length, say):
        active = [event for event in scene.events if event.first <= frame < event.end]
        count = len(active)
        if reason := _uncounted(scene, active, frame, margins):
            yield reason
        elif count not in asked:
            asked.add(count)
            answer = say.tell(of=say.language.plural(count), count=str(count))
            question = say.ask(t=say.language.time(frame))
            yield Draft(question, answer, str(count), meta(active_count=count), tuple(active))


def _uncounted(scene: Scene, active: list[SceneEvent], frame: int, margins: Margins) -> str | None:
    """Return why the number of sources at *frame* is uncertain; an actor who makes two sounds may be one or two."""
    low, high = frame - margins.frames, frame + margins.frames
    if not active:
        return "no source is active at that moment"
    if bisect_right(scene.edges, low) < bisect_right(scene.edges, high):  # one begins or ends
        return Why.UNSTEADY
    if any(event.doubled for event in active):
        return Why.DOUBLED
    actors = [event.source for event in active if event.source]
    return "one actor makes two sounds" if len(set(actors)) < len(actors) else None


def identify_source_by_doa(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask for the class at an azimuth and elevation that no other event is, or may be, near."""
    reason = Why.SHORT if event.short else event.unsteady
    if reason or scene.is_crowded(event, margins.azimuth):
        return reason or Why.SHARED
    angles = {"azimuth": event.azimuth, "elevation": event.elevation}
    words: dict[str, Any] = {
        name: say.language.counted(round(angle) + 0.0, "degrees") for name, angle in angles.items()
    }
    return Draft(say.ask(**words), say.tell(event.name, **words), event.name.plain, NO_META, (event,))


def identify_source_by_location(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask for the class that sounds in a direction given in words."""
    if scene.is_crowded(event, margins.azimuth):
        return Why.SHARED
    words = say.direction(event)
    return Draft(say.ask(**words), say.tell(event.name, **words), event.name.plain, NO_META, (event,))


def onset_from_location(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask when the sound from a direction begins; not of what sounds already when the clip begins."""
    if event.first == 0:
        return "it sounds already at the start"
    if scene.is_crowded(event, margins.azimuth):
        return Why.SHARED
    words, truth = say.direction(event), meta(onset_time=event.first / 10)
    answer = say.tell(**words, t=say.language.time(event.first))
    return Draft(say.ask(**words), answer, ENGLISH.time(event.first), truth, (event,))


# --- numbers ---------------------------------------------------------------------------------------
# A source that stays where it is, of a class that sounds once, is asked about as a whole; any other at a moment around
# which it does and nothing else of its class sounds.


def _estimate(
    scene: Scene, event: SceneEvent, margins: Margins, say: Say, *, field: Literal["azimuth", "elevation", "distance"]
) -> Draft | str:
    """Ask for the azimuth (positive to the left) or elevation to 0.1 degrees, or the distance to 0.01 m."""
    asked = _steady(scene, event, margins, say, distance=field == "distance")
    if isinstance(asked, str):
        return asked
    event, time = asked
    unit, short, digits = _ESTIMATES[field]
    value = round(getattr(event, field), digits) + 0.0
    if field == "azimuth" and abs(tenths(event.elevation)) > HIGHEST:
        return POLE
    if field == "azimuth" and abs(value) == 180:
        return BACK
    way, canonical = int(bool(time)), f"{ENGLISH.number(value)} {'m' if unit == 'metres' else unit}"
    answer = say.tell(event.name, way=way, t=time, value=say.language.counted(value, unit))
    truth = meta(**{f"{field}_{short}": value})
    return Draft(say.ask(event.name, way=way, t=time), answer, canonical, truth, (event,))


def _steady(
    scene: Scene, event: SceneEvent, margins: Margins, say: Say, *, distance: bool = False
) -> tuple[SceneEvent, str] | str:
    """Return *event* as a whole or at a moment, and the time; or why its direction (or *distance*) is unsteady."""
    rows = scene.rows
    value, change, most, steady = event.azimuth, event.spread, margins.still, rows.steady
    if distance:
        value, change, most, steady = event.distance, event.reach, margins.metres, rows.level
    if event.short or math.isnan(value):
        return Why.SHORT if event.short else Why.NO_DISTANCE if distance else Why.UNKNOWN
    alike = [other for other in scene.alike[event.name.spoken] if other is not event]
    if change <= most and not alike:
        return event, ""
    wide = margins.frames
    for frame in moments(event.first + wide, event.end - wide, say):
        row = event.low + frame - event.first
        if steady[row] and not (alike and sounds(alike, frame - wide, frame + wide)):
            azimuth, elevation, metres = (float(column[row]) for column in rows[1:4])
            # a proof of its own
            moment = event._replace(number=-1 - row, azimuth=azimuth, elevation=elevation, distance=metres)
            return moment, say.language.time(frame)
    return Why.UNSTEADY


def compare_elevation(event: SceneEvent, other: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask which of two sources is higher, or lower, as an angle."""
    if round(abs(event.elevation - other.elevation), 6) <= margins.elevation:
        return Why.CLOSE
    return _compared(event, other, say, "elevation")


def compare_distance(event: SceneEvent, other: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask which of two sources is closer to the listener, or farther."""
    if math.isnan(event.distance + other.distance):
        return Why.NO_DISTANCE
    if max(event.reach, other.reach) > margins.metres:
        return Why.MOVES
    if round(abs(event.distance - other.distance), 6) <= margins.metres:
        return Why.CLOSE
    return _compared(event, other, say, "distance")


def _compared(event: SceneEvent, other: SceneEvent, say: Say, key: str) -> Draft:
    side = say.below(2)
    winner, loser = sorted((event, other), key=attrgetter(key), reverse=bool(side))
    more = say.language.words[key][side]
    which = say.language.words["which"][event.name.plural or other.name.plural]
    question = say.ask(event.name, other.name, more=more, which=which)
    answer = say.tell(winner.name, loser.name, more=more)
    return Draft(question, answer, winner.name.plain, NO_META, (event, other))


def relative_left_right(event: SceneEvent, other: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask on which side of another source a source is, where turning and looking agree on it.

    Left is where the azimuth is greater by the shorter way round, and also where the place is farther left
    of the listener. Behind the listener the two contradict each other.
    """
    turn = (event.azimuth - other.azimuth + 180) % 360 - 180
    aside = _lateral(event) - _lateral(other)
    if min(abs(turn), abs(aside)) <= margins.azimuth:
        return Why.CLOSE
    if abs(turn) >= 180 - margins.azimuth or (turn > 0) != (aside > 0):
        return BEHIND
    x, y = event.name, other.name
    canonical = f"{x.said} {x.verb} to the {'left' if turn > 0 else 'right'} of {y.said}."
    answer = say.tell(x, y, side=say.language.words["lateral"][turn > 0])
    return Draft(say.ask(x, y), answer, canonical, NO_META, (event, other))


def _lateral(event: SceneEvent) -> float:
    """Return the angle from the median plane, degrees: 90 is left, -90 right."""
    azimuth, elevation = math.radians(event.azimuth), math.radians(event.elevation)
    return math.degrees(math.asin(max(-1.0, min(1.0, math.sin(azimuth) * math.cos(elevation)))))


def multi_hop(scene: Scene, anchor: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask for the class that starts in a direction after something else has ended."""
    after = [event for event in scene.events if not event.unplaced and _follows(scene, anchor, event, margins)]
    if not after:
        return NOTHING_AFTER
    event = say.pick(after)
    words = say.direction(event)
    question, answer = say.ask(anchor.name, **words), say.tell(anchor.name, event.name, **words)
    return Draft(question, answer, event.name.plain, NO_META, (anchor, event))


def _follows(scene: Scene, anchor: SceneEvent, event: SceneEvent, margins: Margins) -> bool:
    """Return whether *event* starts after *anchor* has ended, and no other event in its direction may do so."""
    if event.first < anchor.end + margins.frames or event.name.spoken == anchor.name.spoken:
        return False
    rivals, earliest = RIVALS[event.cell], anchor.end - margins.frames
    return not any(o.first > earliest and o.cells & rivals for o in scene.events if o is not event)


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
    answer = say.tell(event.name, **say.direction(event), **say.times(event))
    canonical = f"{event.name.plain} from {say.language.directions[event.cell].short}."
    return Draft(say.ask(t=say.language.time(frame)), answer, canonical, span(event), (event,))


#: The answers about motion, in the order in which they are worded.
MOTIONS = ("stationary", "moving", "approaching", "receding")


def classify_motion(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:  # noqa: ARG001
    """Ask whether a source stays, moves, approaches or recedes; only about the direction if distances are unknown."""
    motion, name = _motion(event, margins), event.name
    if motion not in MOTIONS:
        return motion
    way = int(math.isnan(event.distance))
    answer = say.tell(name, way=way, of=MOTIONS.index(motion))
    return Draft(say.ask(name, way=way), answer, motion, NO_META, (event,))


def _motion(event: SceneEvent, margins: Margins) -> str:
    """Return the motion of *event*, or the reason why it is not clear, such as going to and fro."""
    if event.short or event.end - event.first < 10 * LONG_ENOUGH:
        return Why.SHORT
    if math.isnan(event.azimuth):
        return Why.UNKNOWN
    turns = event.spread > margins.moving
    if not turns and event.spread > margins.still:
        return SLIGHT
    if math.isnan(event.distance) or event.reach <= margins.metres:
        return "moving" if turns else "stationary"
    if turns:
        return MIXED
    if abs(event.gain) <= margins.metres or abs(event.gain) < 0.8 * event.reach:
        return Why.MOVES
    return "approaching" if event.gain < 0 else "receding"


# --- what could be guessed -------------------------------------------------------------------------------------------


def _direction(item: Item) -> tuple[Hashable, ...]:
    if not item.events:
        return ()
    event = item.events[0]
    return ("elevation", round(event.elevation or 0)), ("azimuth", round(event.azimuth or 0))


def _cell(item: Item) -> tuple[Hashable, ...]:
    if not item.events:
        return ()
    event = item.events[0]
    return (only_cell(int(cells(event.azimuth or 0.0, event.elevation or 0.0, 0.0))),)


def _most(item: Item, field: str) -> list[list[Hashable]] | None:
    """Claim that one class has more of *field* than the other, and that the source named first is right."""
    if item.events is None or len(item.events) != 2:
        return None
    one, other = item.events
    more, less = (one, other) if (getattr(one, field) or 0) >= (getattr(other, field) or 0) else (other, one)
    first = item.canonical_answer == name_of(str(one.class_name)).plain
    return [[("more", more.class_name), ("first", first)], [("more", less.class_name), ("first", not first)]]


def _leftmost(item: Item) -> list[list[Hashable]] | None:
    """Claim that one class is left of the other, and that the first one is."""
    if item.events is None or len(item.events) != 2:
        return None
    one, other = (event.class_name for event in item.events)
    left = _is_left(item)
    return [[("left", one if left else other), ("side", left)], [("left", other if left else one), ("side", not left)]]


def _is_left(item: Item) -> bool:
    return " left of " in (item.canonical_answer or "")


# --- the tasks -------------------------------------------------------------------------------------------------------
_MAKERS: Mapping[str, Mapping[str, Any]] = {
    "detect_time": {"candidates": each_event(detect_time, "unnamed"), "alike": first_class},
    "detect_source": {"candidates": detect_source, "alike": first_class},
    "count_sources": {"candidates": count_sources},
    "identify_source_by_doa": {"candidates": each_event(identify_source_by_doa), "contexts": _direction},
    "identify_source_by_location": {
        "candidates": each_event(identify_source_by_location, "unlocated"),
        "contexts": _cell,
    },
    "onset_from_location": {"candidates": each_event(onset_from_location, "unlocated")},
    "estimate_azimuth": {"candidates": each_event(partial(_estimate, field="azimuth"))},
    "estimate_elevation": {"candidates": each_event(partial(_estimate, field="elevation"))},
    "estimate_distance": {"candidates": each_event(partial(_estimate, field="distance"))},
    "multi_hop": {"candidates": each_event(multi_hop, "unnamed")},
    "spatial_temporal": {"candidates": each_event(spatial_temporal), "alike": first_class},
    "compare_elevation": {"candidates": each_pair(compare_elevation), "claims": partial(_most, field="elevation")},
    "compare_distance": {"candidates": each_pair(compare_distance), "claims": partial(_most, field="distance")},
    "relative_left_right": {"candidates": each_pair(relative_left_right), "claims": _leftmost, "alike": _is_left},
    "classify_motion": {
        "candidates": each_event(classify_motion, "unnamed"),
        "contexts": lambda item: (first_class(item),),
    },
}
#: Those that labels can answer, in the order in which a clip's items come.
TASKS: dict[str, Task[Scene, Draft]] = {
    name: Task(**vars(PUBLISHED[name]), wordings=ENGLISH.ways[name], **_MAKERS[name]) for name in ASKED
}
#: Tasks that labels cannot answer, with the reason.
REFUSED = {task.name: task.refused for task in PUBLISHED.values() if task.refused}
#: The proportions of what is made of labels: these numbers, of the tasks that labels can answer.
SO_BENCH = {name: PUBLISHED[name].weight for name in PUBLISHED if name in TASKS}


@cache
def worded(language: Code) -> dict[str, Task[Scene, Draft]]:
    """Return the tasks as they are asked in a language."""
    if language == "en":
        return TASKS
    ways = wordings_in(language).ways
    return {name: dataclasses.replace(task, wordings=ways[name]) for name, task in TASKS.items() if name in ways}


def stream(table: pa.Table, *, language: Code = "en", **options: Any) -> Iterator[Item]:
    """Yield the items of :func:`seldio.tasks.generate` one by one, before any selection; *skipped* is counted up."""
    names: Callable[[str], Name] = name_of
    if language == "ru":
        from seldio.tasks.russian import russian_name

        own = options.get("own")
        names = partial(russian_name, own=own.nouns if own else ())
    asked = worded(language)
    refused = REFUSED | {name: "it is asked in English only" for name in TASKS if name not in asked}
    make, wordings = partial(_item, language), wordings_in(language)
    return ask_all(table, asked, refused, lambda scene: scene, make, names=names, language=wordings, **options)


def _item(language: Code, place: ItemPlace, task: Task[Scene, Draft], draft: Draft) -> Item | str:
    """Return the item of a draft, or the reason if a class has no name in the language."""
    if NAMELESS in draft.question or NAMELESS in draft.answer:
        return Why.NO_NAME
    audio_id = place.scene.audio_id
    extra = {"question_class": task.question_class, "answer_format": "structured_text", "audio_id": audio_id}
    answers = {"answer": draft.answer, "canonical_answer": draft.canonical, "answer_meta": draft.meta}
    number = digest(audio_id, task.name, draft.question, draft.answer)
    return place.item(task, draft, id=f"qa_{number}", language=language, extra=extra, **answers)


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

    The items of a recording depend on its name, its labels and the options alone, so that shards may be made
    apart and put together; then *per_task* and *balance*, which look at all items, are for :func:`select`.

    Args:
        table: an event table with ``clip`` and ``frame`` (100 ms), in any row order; angles in degrees,
            azimuth positive to the left, distances in metres.
        seed: chooses wordings, moments, orders of pairs and, with *per_task* or *balance*, items.
        tasks: names of ``TASKS``; all by default.
        window: seconds of a clip, at most 20; recordings are cut into such clips.
        hop: seconds from the start of one clip to the start of the next.
        margins: what must differ by how much.
        per_task: maximum number of items of a task.
        balance: the proportions of SO-Bench, see :func:`targets`, and answers that cannot be guessed from the text;
            what is left out for that is counted as skipped.
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
    skipped: Counter[tuple[str, str]] = Counter()
    clips = {"window": window, "hop": hop, "margins": margins, "audio_pattern": audio_pattern, "split": split}
    items = stream(table, seed=seed, tasks=tasks, language=language, skipped=skipped, **clips)
    from seldio.tasks.mix import select

    return Generated(select(list(items), seed, per_task=per_task, balance=balance, skipped=skipped), skipped)
