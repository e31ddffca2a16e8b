"""Questions from labels: each one answered again from the raw rows by an oracle, and what is skipped."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import oracle
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import seldio
from seldio import synth
from seldio.errors import UsageError
from seldio.schema.events import COLUMNS, ClipFile, Origin, with_origin
from seldio.tasks import REFUSED, SILENT, SO_BENCH, TASKS, generate, stream, targets
from seldio.tasks.specs import QuestionOptions

FIELDS = ("frame", "class_id", "source", "azimuth", "elevation", "distance")


def make(rows, clip="a", fields=FIELDS):
    """A table of *rows* (clip "a", or first the clip)."""
    rows = [row if len(row) > len(fields) else (clip, *row) for row in rows]
    columns = list(zip(*rows, strict=True)) or [()] * (len(fields) + 1)
    return pa.table({f: pa.array(c, COLUMNS[f]) for f, c in zip(("clip", *fields), columns, strict=True)})


def event(class_id, first, end, azimuth=0, elevation=0, distance=2.0, source=0):
    return [(frame, class_id, source, azimuth, elevation, distance) for frame in range(first, end)]


def raw(table):
    rows = defaultdict(list)
    for row in table.to_pylist():
        rows[row["clip"]].append(tuple(row.get(field) for field in FIELDS))
    return rows


def check_all(table, items):
    rows, found = raw(table), {}
    for item in items:
        key = item.audio[0], item.start, item.end
        if key not in found:
            found[key] = oracle.runs(rows[key[0]], item.start, item.end)
        oracle.check(item, found[key])


def ask(rows, task, **options):
    table = make(rows)
    made = generate(table, seed=3, tasks=[task], audio_pattern="{clip}", **options)
    check_all(table, made.items)
    return made.items, {reason: number for (_, reason), number in made.skipped.items()}


@pytest.fixture(scope="module")
def real(shared):
    table = seldio.read(shared / "data" / "starss22-labels" / "metadata_dev")
    return table, generate(table, seed=7, audio_pattern="{clip}")


def walkers(seed):
    rng = np.random.default_rng(seed)
    tracks = []
    for number, class_id in enumerate(rng.permutation(13)[:3]):
        bearing, path = rng.uniform(-3, 3), np.linspace(*rng.permutation([1.0, 3.5]), 45)
        xyz = np.stack((path * np.cos(bearing), path * np.sin(bearing), 0 * path), axis=1)
        tracks.append(synth.Track(int(class_id), number, 10 + 60 * number, xyz))
    return tracks


@pytest.fixture(scope="module")
def synthetic():
    tables = [synth.labels(f"mix{seed:03}", synth.scene(seed, 60.0, 10)) for seed in range(40)]
    tables += [synth.labels(f"walk{seed:03}", walkers(seed)) for seed in range(4)]
    table = pa.concat_tables(table.replace_schema_metadata() for table in tables).unify_dictionaries()
    return table, generate(table, seed=7, audio_pattern="{clip}")


@pytest.mark.slow
def test_real_labels_answer_all_tasks_without_distance(real):
    table, made = real
    counts = Counter(item.task for item in made.items)
    assert set(counts) == set(TASKS) - {"estimate_distance", "compare_distance"}
    assert min(counts.values()) >= 30
    check_all(table, made.items)


@pytest.mark.slow
def test_synthetic_labels_answer_all_tasks(synthetic):
    table, made = synthetic
    counts = Counter(item.task for item in made.items)
    assert set(counts) == set(TASKS)
    motions = {item.canonical_answer for item in made.items if item.task == "classify_motion"}
    assert motions == {"stationary", "moving", "approaching", "receding"}
    check_all(table, made.items)


def test_the_oracle_notices(synthetic):
    table, made = synthetic
    rows, first = raw(table), {item.task: item for item in made.items}
    assert set(first) == set(TASKS)
    for item in first.values():
        found = oracle.runs(rows[item.audio[0]], item.start, item.end)
        oracle.check(item, found)
        other = next(i for i in made.items if i.task == item.task and i.canonical_answer != item.canonical_answer)
        with pytest.raises(AssertionError):
            oracle.check(item.model_copy(update={"canonical_answer": other.canonical_answer}), found)


def test_one_item_to_the_letter():
    (item,), skipped = ask(event(11, 185, 200, 67, -37), "detect_time")
    assert (item.answer, item.canonical_answer) == ("The bell is audible from 18.5s to 20.0s.", "18.5s to 20.0s")
    assert item.answer_meta.model_dump(exclude_none=True) == {"time_span": [18.5, 20.0]}
    assert (item.start, item.end, item.split, item.language) == (0.0, 20.0, "test", "en")
    assert item.id == "qa_f189dcfd6fd799e696f6"
    assert skipped == {}


@pytest.mark.slow
def test_same_items_whatever_the_order_and_the_shards(synthetic):
    table, made = synthetic
    rng = np.random.default_rng(0)
    shuffled = table.take(rng.permutation(len(table)))
    assert generate(shuffled, seed=7, audio_pattern="{clip}") == made
    clips = sorted(set(table["clip"].to_pylist()))
    parts, skipped = [], Counter()
    for shard in (clips[:7], clips[7:30], clips[30:]):
        mask = pa.array([clip in shard for clip in table["clip"].to_pylist()])
        parts += stream(table.filter(mask), QuestionOptions(seed=7), audio_pattern="{clip}", skipped=skipped)
    assert [item for item, _ in parts] == made.items
    assert skipped == made.skipped


def test_tasks_do_not_depend_on_each_other(synthetic):
    table, made = synthetic
    few = generate(table, seed=7, tasks={"multi_hop", "count_sources"}, audio_pattern="{clip}")
    assert few.items == [item for item in made.items if item.task in ("multi_hop", "count_sources")]
    other = generate(table, seed=8, tasks={"multi_hop"}, audio_pattern="{clip}").items
    assert {item.question for item in other} != {item.question for item in few.items if item.task == "multi_hop"}


def test_targets():
    assert targets({"multi_hop": 10, "count_sources": 0}) == {"multi_hop": 10}
    assert targets(SO_BENCH, balance=True) == SO_BENCH
    half = targets(dict.fromkeys(SO_BENCH, 9999), balance=True, per_task=100)
    assert half["estimate_elevation"] == 100
    assert half["count_sources"] == 2
    assert targets({"multi_hop": 1, "estimate_azimuth": 500}, balance=True) == {"multi_hop": 1, "estimate_azimuth": 3}
    assert targets({}, balance=True) == {}


def test_speech_content_is_refused():
    with pytest.raises(UsageError, match="not the words"):
        generate(make(event(0, 0, 20)), seed=1, tasks=["speech_content"])
    with pytest.raises(UsageError, match="choose from detect_time"):
        generate(make(event(0, 0, 20)), seed=1, tasks=["nonsense"])
    assert set(REFUSED) | set(TASKS) == {*SO_BENCH, "speech_content"}


@pytest.mark.parametrize(
    "options", [{"window": 20.1}, {"window": 0}, {"hop": 0.05}, {"hop": float("nan")}, {"audio_pattern": "{x}"}]
)
def test_wrong_options(options):
    with pytest.raises(UsageError):
        generate(make(event(0, 0, 20)), seed=1, **options)


def test_tables_without_anything():
    assert generate(make([]), seed=1).items == []
    bare = make([(frame, 3) for frame in range(30)], fields=("frame", "class_id"))
    made = generate(bare, seed=1)
    assert {item.task for item in made.items} == {"detect_time", "detect_source", "count_sources"}
    assert made.skipped["estimate_azimuth", "its direction is not known"] == 1


def test_silent_windows_are_counted():
    made = generate(make(event(0, 450, 460)), seed=1)
    assert made.skipped["*", SILENT] == 2
    origin = Origin("starss23", "starss", (ClipFile("a", "metadata_dev/dev-test-tau/a.csv", frames=1000),))
    made = generate(with_origin(make(event(0, 450, 460)), origin), seed=1)
    assert made.skipped["*", SILENT] == 4
    assert made.items[0].audio == ["foa_dev/dev-test-tau/a.wav"]
    assert (made.items[0].start, made.items[0].end) == (40.0, 60.0)


def test_unknown_distances():
    for unknown in (None, 0.0):
        items, skipped = ask(event(11, 0, 9, 0, 0, unknown), "estimate_distance")
        assert not items
        assert skipped == {"its distance is not known": 1}
    both = event(11, 0, 9, 0, 0, None) + event(3, 0, 9, 90)
    assert ask(both, "compare_distance")[1] == {"its distance is not known": 1}


def test_one_actor_with_two_sounds_is_not_counted():
    rows = event(0, 0, 200, source=2) + event(6, 0, 200, source=2)
    items, skipped = ask(rows, "count_sources")
    assert not items
    assert "one actor makes two sounds" in skipped


LAUGHTER = event(4, 0, 48, 30)


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        (LAUGHTER, False),  # the same rows twice
        (LAUGHTER[:1], False),  # one of them twice
        (event(4, 0, 48, 30, source=5), False),  # two sources of one class at one place
        (event(4, 0, 48, 90, source=0), True),  # 0 is no number of a source: two places are two sources
        (event(4, 0, 48, 90, source=5), True),
        (event(6, 0, 48, 30), True),  # another class at that place
    ],
)
def test_rows_that_may_be_written_twice_are_neither_listed_nor_counted(more, asked):
    for task in ("detect_source", "count_sources"):
        items, skipped = ask(LAUGHTER + more, task)
        assert bool(items) is asked, task
        assert ("one of its rows may be written twice" in skipped) is not asked


tracks = st.lists(
    st.tuples(
        st.integers(0, 12), st.integers(0, 3), st.integers(0, 90), st.integers(1, 60),
        st.integers(-180, 180), st.integers(-90, 90), st.sampled_from([None, 0.5, 1.0, 1.4, 2.0, 3.5]),
        st.integers(-2, 2), st.sampled_from([0.0, 0.0, 0.02, -0.005]),
    ),
    min_size=1, max_size=6,
)  # fmt: skip


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(tracks, st.sampled_from([20.0, 5.0]), st.sampled_from([20.0, 3.0]), st.integers(0, 99))
def test_small_random_tables(drawn, window, hop, seed):
    rows = [
        (first + n, label, source, (az + 180 + step * n) % 360 - 180, el, dist and round(max(0.3, dist + gain * n), 2))
        for label, source, first, length, az, el, dist, step, gain in drawn
        for n in range(length)
    ]
    table = make(rows)
    made = generate(table, seed=seed, window=window, hop=hop, audio_pattern="{clip}")
    check_all(table, made.items)
    assert made == generate(table, seed=seed, window=window, hop=hop, audio_pattern="{clip}")
