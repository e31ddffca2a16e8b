"""Answers generated questions from raw label rows: plain Python, nothing of seldio.tasks."""

from __future__ import annotations

import math
import re
from collections import defaultdict

CLASSES = (
    "Female speech, woman speaking", "Male speech, man speaking", "Clapping", "Telephone", "Laughter",
    "Domestic sounds", "Walk, footsteps", "Door, open or close", "Music", "Musical instrument",
    "Water tap, faucet", "Bell", "Knock",
)  # fmt: skip
NAMES = [name.lower() for name in CLASSES]
#: How questions call these classes.
SPOKEN = dict(zip((
    "woman speaking", "man speaking", "clapping", "telephone", "laughter", "domestic sounds", "footsteps", "door",
    "music", "musical instrument", "water tap", "bell", "knocking",
), NAMES, strict=True))  # fmt: skip
ANY_NAME = "|".join(sorted(map(re.escape, SPOKEN), key=len, reverse=True))
SECTORS = {
    "front": 0, "front-left": 45, "left": 90, "back-left": 135, "back": 180, "back-right": -135, "right": -90,
    "front-right": -45,
}  # fmt: skip
META = {
    "detect_time": {"time_span"}, "spatial_temporal": {"time_span"}, "estimate_azimuth": {"azimuth_deg"},
    "estimate_elevation": {"elevation_deg"}, "estimate_distance": {"distance_m"},
    "onset_from_location": {"onset_time"}, "count_sources": {"active_count"},
}  # fmt: skip
SECTOR, STILL, WIDE = 5.0, 5.0, 5


class Run(list):
    """Rows (frame, class, source, azimuth, elevation, distance) of one event; frames from the window's start."""

    @property
    def name(self):
        return NAMES[self[0][1]]

    @property
    def span(self):
        return self[0][0] / 10, (self[-1][0] + 1) / 10

    def mean(self):
        x = sum(math.cos(math.radians(r[3])) * math.cos(math.radians(r[4])) for r in self)
        y = sum(math.sin(math.radians(r[3])) * math.cos(math.radians(r[4])) for r in self)
        z = sum(math.sin(math.radians(r[4])) for r in self)
        return math.degrees(math.atan2(y, x)), math.degrees(math.atan2(z, math.hypot(x, y)))

    def spread(self):
        mean = self.mean()
        return max(angle(mean, place) for place in {row[3:5] for row in self})


def angle(one, other):
    """Degrees between two directions, by the dot product."""
    (a, e), (b, f) = ([math.radians(v) for v in pair] for pair in (one, other))
    dot = math.sin(e) * math.sin(f) + math.cos(e) * math.cos(f) * math.cos(a - b)
    return math.degrees(math.acos(max(-1.0, min(1.0, dot))))


def turn(one, other):
    """From the azimuth *other* to *one*, counter-clockwise, in (-180, 180]."""
    difference = (one - other) % 360
    return difference - 360 if difference > 180 else difference


def runs(rows, start, end):
    """The events of a window, from the rows of its recording."""
    low, high = round(start * 10), round(end * 10)
    tracks, seen = defaultdict(list), defaultdict(int)
    for frame, *rest in sorted(rows, key=lambda row: row[0]):  # stable: file order inside a frame
        key = (rest[0], rest[1])
        rank = seen[key, frame]
        seen[key, frame] += 1
        if low <= frame < high:
            tracks[*key, rank].append((frame - low, *rest))
    found = []
    for track in tracks.values():
        for row in track:
            if row is not track[0] and row[0] == found[-1][-1][0] + 1:
                found[-1].append(row)
            else:
                found.append(Run([row]))
    return found


def named(found, question):
    """The one run of each class that the question names, in order."""
    names = list(dict.fromkeys(re.findall(rf"(?<![\w-])({ANY_NAME})(?![\w-])", question)))
    chosen = [[run for run in found if run.name == SPOKEN[name]] for name in names]
    assert all(len(group) == 1 for group in chosen), question
    return [group[0] for group in chosen]


def moment(question):
    """The label frame that the question speaks of."""
    times = re.findall(r"(\d+\.\d)s\b", question)
    return round(float(times[0]) * 10) if times else None


def pointed(question):
    """The direction that the question names: (sector or None, height or None)."""
    if straight := re.search(r"straight (above|below)", question):
        return None, straight[1]
    sectors = "|".join(sorted(SECTORS, key=len, reverse=True))
    found = re.search(rf"(?:in (front) of|(behind)|(?:to|from) the ({sectors})\b)(?: and (above|below))?", question)
    return ("back" if found[2] else found[1] or found[3]), found[4]


def lies(row, sector, height):
    """Whether the words may mean the place of *row*, or nearly so."""
    azimuth, elevation = row[3], row[4]
    up = -elevation if height == "below" else elevation
    if sector is None:
        return up >= 20 - SECTOR
    if abs(turn(azimuth, SECTORS[sector])) > 22.5 + SECTOR:
        return False
    return 20 - SECTOR <= up <= 65 + SECTOR if height else abs(elevation) <= 65 + SECTOR


def in_words(run):
    """The direction of a run in words; it must not be near an edge."""
    azimuth, elevation = run.mean()
    height = "above" if elevation > 20 else "below" if elevation < -20 else None
    assert all(abs(abs(elevation) - edge) > SECTOR - 1e-5 for edge in (20, 65))
    if abs(elevation) > 65:
        return f"straight {height}"
    sector = min(SECTORS, key=lambda name: abs(turn(azimuth, SECTORS[name])))
    assert abs(turn(azimuth, SECTORS[sector])) < 22.5 - SECTOR + 1e-5
    return f"{sector} and {height}" if height else sector


def one(candidates):
    (only,) = candidates
    return only


def there(found, question):
    """The runs that may be meant by the direction in the question."""
    words = pointed(question)
    return [run for run in found if any(lies((0, 0, 0, *place), *words) for place in {row[3:5] for row in run})]


def times(run):
    return "{:.1f}s to {:.1f}s".format(*run.span)


def at_moment(found, question, value, steady):
    """The value at the moment, of the only row of the class there; it is steady for half a second either way."""
    frame = moment(question)
    name = SPOKEN[one(set(re.findall(rf"(?<![\w-])({ANY_NAME})(?![\w-])", question)))]
    around = [row for run in found for row in run if run.name == name and abs(row[0] - frame) <= WIDE]
    assert len(around) == 2 * WIDE + 1
    row = one(row for row in around if row[0] == frame)
    assert all(steady(row, other) for other in around)
    return value(row)


def near(row, other):
    return angle(row[3:5], other[3:5]) <= STILL + 1e-6


def level(row, other):
    return abs(row[5] - other[5]) <= 0.5 + 1e-9


def estimate(found, item, what):
    question = item.question
    column = {"azimuth": 3, "elevation": 4, "distance": 5}[what]
    if moment(question) is not None:
        value = at_moment(found, question, lambda row: row[column], level if what == "distance" else near)
    else:
        run = one(named(found, question))
        if what == "distance":
            distances = [row[5] for row in run]
            assert max(distances) - min(distances) <= 0.5 + 1e-9
            value = sum(distances) / len(run)
        else:
            assert run.spread() <= STILL + 1e-6
            value = run.mean()[column - 3]
    unit = " m" if what == "distance" else " degrees"
    given = float(item.canonical_answer.removesuffix(unit))
    assert getattr(item.answer_meta, f"{what}_{'m' if unit == ' m' else 'deg'}") == given
    assert abs(given - value) <= (0.00501 if what == "distance" else 0.0501), (item, value)
    if what == "azimuth":
        assert abs(given) < 180
    return item.canonical_answer


def detect_source(found, item):
    listed = re.findall(r'(?:"([^"]+)"|([^",]+?)) from (\d+\.\d)s to (\d+\.\d)s(?:, |$)', item.canonical_answer)
    assert sorted((a or b, f"{s}s to {e}s") for a, b, s, e in listed) == sorted((r.name, times(r)) for r in found)
    assert [float(entry[2]) for entry in listed] == sorted(float(entry[2]) for entry in listed)
    assert item.answer_meta.time_span == (list(found[0].span) if len(found) == 1 else None)
    return item.canonical_answer


def by_doa(found, question):
    azimuth, elevation = map(
        float, re.search(r"azimuth (-?\d+) degrees?\b.*?elevation (-?\d+) degrees?\b", question).groups()
    )
    run = one(run for run in found if any(angle((azimuth, elevation), row[3:5]) <= 19 for row in run))
    assert run.spread() <= STILL + 1e-6
    assert not any(
        angle(row[3:5], other[3:5]) <= 20 for rival in found if rival is not run for row in run for other in rival
    )
    return run.name


def multi_hop(found, question):
    anchor = one(named(found, question))
    after = [run for run in there(found, question) if run[0][0] > anchor[-1][0] + 1 - WIDE and run is not anchor]
    run = one(after)
    assert run[0][0] >= anchor[-1][0] + 1 + WIDE
    return run.name


def spatial_temporal(found, item):
    frame = moment(item.question)
    around = [run for run in found if any(abs(row[0] - frame) < WIDE for row in run)]
    run = one(around)
    assert any(row[0] == frame for row in run)
    assert list(run.span) == item.answer_meta.time_span
    assert times(run) in item.answer
    return f"{run.name} from {in_words(run)}."


def compare(found, question, key, greater, less, margin):
    first, second = named(found, question)
    assert abs(key(first) - key(second)) > margin
    assert (greater in question) != (less in question)
    pick = max if greater in question else min
    return pick((first, second), key=key).name


def distance_of(run):
    return sum(row[5] for row in run) / len(run)


def elevation_of(run):
    assert run.spread() <= STILL + 1e-6
    return run.mean()[1]


def side(found, item):
    first, second = named(found, item.question)
    if re.search(rf"side of the {next(said for said, name in SPOKEN.items() if name == first.name)}\b", item.question):
        first, second = second, first
    (a, e), (b, f) = first.mean(), second.mean()
    y, other = (math.sin(math.radians(p)) * math.cos(math.radians(q)) for p, q in ((a, e), (b, f)))
    way = turn(a, b)
    assert 20 < abs(way) < 160
    assert (way > 0) == (y > other)
    quoted = [f'"{run.name}"' if "," in run.name else run.name for run in (first, second)]
    verb = "are" if first.name.endswith("s") and not first.name.endswith("ss") else "is"
    return f"{quoted[0]} {verb} to the {'left' if way > 0 else 'right'} of {quoted[1]}."


def motion(found, question):
    run = one(named(found, question))
    turns, distances = run.spread(), [row[5] for row in run]
    if None not in distances and max(distances) - min(distances) > 0.5 + 1e-9:
        assert turns <= 20
        return "approaching" if distances[-1] < distances[0] else "receding"
    assert turns <= STILL + 1e-6 or turns > 20
    return "moving" if turns > 20 else "stationary"


def count(found, item):
    frame = moment(item.question)
    active = [run for run in found if any(row[0] == frame for row in run)]
    for other in range(max(0, frame - WIDE), frame + WIDE + 1):
        same = [run for run in found if any(row[0] == other for row in run)]
        assert same == active or other >= round(10 * (item.end - item.start))
    actors = [run[0][2] for run in active if run[0][2]]
    assert len(actors) == len(set(actors))
    assert item.answer_meta.active_count == len(active)
    return str(len(active))


ANSWERS = {
    "detect_time": lambda found, item: times(one(named(found, item.question))),
    "detect_source": detect_source,
    "estimate_azimuth": lambda found, item: estimate(found, item, "azimuth"),
    "estimate_elevation": lambda found, item: estimate(found, item, "elevation"),
    "estimate_distance": lambda found, item: estimate(found, item, "distance"),
    "identify_source_by_doa": lambda found, item: by_doa(found, item.question),
    "identify_source_by_location": lambda found, item: one(there(found, item.question)).name,
    "onset_from_location": lambda found, item: f"{one(there(found, item.question)).span[0]:.1f}s",
    "multi_hop": lambda found, item: multi_hop(found, item.question),
    "spatial_temporal": spatial_temporal,
    "compare_elevation": lambda found, item: compare(found, item.question, elevation_of, "higher", "lower", 10),
    "compare_distance": lambda found, item: compare(found, item.question, distance_of, "farther", "closer", 0.5),
    "relative_left_right": side,
    "classify_motion": lambda found, item: motion(found, item.question),
    "count_sources": count,
}


def check(item, found):
    """Answer *item* from the events of its window; its answer, meta and proofs must agree."""
    expected = ANSWERS[item.task](found, item)
    assert item.canonical_answer == expected, item
    keys = set(item.answer_meta.model_dump(exclude_none=True))
    assert keys - {"time_span"} == META.get(item.task, set()) - {"time_span"}
    assert ("time_span" in keys) == (
        item.task in ("detect_time", "spatial_temporal") or ("detect_source" == item.task and len(found) == 1)
    )
    if item.task in ("detect_time", "spatial_temporal", "detect_source") and "time_span" in keys:
        assert (
            times(
                one(
                    r
                    for r in found
                    if list(r.span) == item.answer_meta.time_span and r.name == item.events[0].class_name.lower()
                )
            )
            in item.answer
        )
    if item.task == "onset_from_location":
        assert item.canonical_answer == f"{item.answer_meta.onset_time:.1f}s"
    for proof in item.events:
        assert any(
            (r.name, *r.span, r[0][2]) == (proof.class_name.lower(), proof.onset, proof.offset, proof.source)
            for r in found
        )
    assert item.events or item.task == "count_sources"
