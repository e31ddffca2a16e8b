"""Questions from labels: each one answered again from the raw rows by an oracle, and what is skipped."""

from __future__ import annotations

import re
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
from seldio.schema.qa import ITEM_SCHEMA, Item, Rows, to_table
from seldio.tasks import REFUSED, SILENT, SO_BENCH, TASKS, Margins, generate, select, stream, targets
from seldio.tasks.scene import RIVALS, cells, only_cell
from seldio.tasks.specs import ASKED, PUBLISHED
from seldio.tasks.task import ENGLISH

NEED_DISTANCE = {"estimate_distance", "compare_distance"}
FIELDS = ("frame", "class_id", "source", "azimuth", "elevation", "distance")


def make(rows, clip="a", fields=FIELDS):
    """A table of *rows* (clip "a", or first the clip)."""
    rows = [row if len(row) > len(fields) else (clip, *row) for row in rows]
    columns = list(zip(*rows, strict=True)) or [()] * (len(fields) + 1)
    return pa.table({f: pa.array(c, COLUMNS[f]) for f, c in zip(("clip", *fields), columns, strict=True)})


def event(class_id, first, end, azimuth=0, elevation=0, distance=2.0, source=0):
    """Rows of an event that stays where it is."""
    return [(frame, class_id, source, azimuth, elevation, distance) for frame in range(first, end)]


def raw(table):
    """The rows of each clip, as the oracle wants them."""
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
    """Items of one task about rows of a table, and why others were skipped."""
    table = make(rows)
    made = generate(table, seed=3, tasks=[task], audio_pattern="{clip}", **options)
    check_all(table, made.items)
    return made.items, {reason: number for (_, reason), number in made.skipped.items()}


@pytest.fixture(scope="module")
def real(shared):
    table = seldio.read(shared / "data" / "starss22-labels" / "metadata_dev")
    return table, generate(table, seed=7, audio_pattern="{clip}")


def walkers(seed):
    """Sources that come nearer or go away."""
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


def test_what_is_known_of_a_task_goes_with_what_makes_its_questions() -> None:
    assert tuple(TASKS) == ASKED
    for name, task in TASKS.items():
        assert vars(PUBLISHED[name]).items() <= vars(task).items(), name


@pytest.mark.slow
def test_real_labels_answer_all_tasks_without_distance(real):
    table, made = real
    counts = Counter(item.task for item in made.items)
    assert set(counts) == set(TASKS) - NEED_DISTANCE
    assert min(counts.values()) >= 30
    assert {"stationary", "moving"} == {i.canonical_answer for i in made.items if i.task == "classify_motion"}
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


@pytest.mark.slow
def test_overlapping_and_short_windows(synthetic):
    table, _ = synthetic
    made = generate(table, seed=1, window=7.5, hop=3.3, audio_pattern="{clip}", per_task=150)
    assert all(item.end - item.start <= 7.5 + 1e-9 for item in made.items)
    assert {round(item.start * 10) % 33 for item in made.items} == {0}
    check_all(table, made.items)


def test_ids_and_keys(real):
    _, made = real
    assert len({item.id for item in made.items}) == len(made.items)
    for item in made.items:
        assert re.fullmatch(r"qa_[0-9a-f]{20}", item.id)
        assert list(item.extra) == ["question_class", "answer_format", "audio_id"]
        assert re.fullmatch(r"foa_[0-9a-f]{20}", item.extra["audio_id"])
        assert item.extra["question_class"] == TASKS[item.task].question_class
        assert "{" not in item.question + item.answer
    assert list(Rows(to_table(made.items[:300], ITEM_SCHEMA), Item)) == made.items[:300]


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
        parts += stream(table.filter(mask), seed=7, audio_pattern="{clip}", skipped=skipped)
    assert parts == made.items
    assert skipped == made.skipped


def test_tasks_do_not_depend_on_each_other(synthetic):
    table, made = synthetic
    few = generate(table, seed=7, tasks={"multi_hop", "count_sources"}, audio_pattern="{clip}")
    assert few.items == [item for item in made.items if item.task in ("multi_hop", "count_sources")]
    other = generate(table, seed=8, tasks={"multi_hop"}, audio_pattern="{clip}").items
    assert {item.question for item in other} != {item.question for item in few.items if item.task == "multi_hop"}


@pytest.mark.slow
def test_balance_and_limits(real, synthetic):
    _, made = synthetic
    few = select(made.items, 7, per_task=5)
    assert set(Counter(item.task for item in few).values()) == {5}
    assert few == [item for item in made.items if item in few]
    assert {i.id for i in few} == {i.id for i in select(made.items[::-1], 7, per_task=5)}
    assert {i.id for i in few} != {i.id for i in select(made.items, 8, per_task=5)}
    balanced = Counter(item.task for item in select(made.items, 7, balance=True))
    assert balanced["estimate_azimuth"] == pytest.approx(balanced["multi_hop"] * 1152 / 333, abs=4)
    table, whole = real
    assert generate(table, seed=7, balance=True, per_task=50, audio_pattern="{clip}").items == select(
        whole.items, 7, balance=True, per_task=50
    )


def test_targets():
    assert targets({"multi_hop": 10, "count_sources": 0}) == {"multi_hop": 10}
    assert targets(SO_BENCH, balance=True) == SO_BENCH
    half = targets(dict.fromkeys(SO_BENCH, 9999), balance=True, per_task=100)
    assert half["estimate_elevation"] == 100
    assert half["count_sources"] == 2
    assert targets({"multi_hop": 1, "estimate_azimuth": 500}, balance=True) == {"multi_hop": 1, "estimate_azimuth": 3}
    assert targets({}, balance=True) == {}


def test_rare_answers_are_kept(real):
    _, made = real
    motion = [item for item in made.items if item.task == "classify_motion"]
    kept = Counter(item.canonical_answer for item in select(motion, 7, per_task=20))
    assert kept == {"stationary": 10, "moving": 10}


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


def test_names_without_numbers():
    table = make([(frame, "Dog_bark") for frame in range(30)], fields=("frame", "class_name"))
    item = generate(table, seed=1, tasks=["detect_time"]).items[0]
    assert item.answer == "The dog bark is audible from 0.0s to 3.0s."
    assert (item.events[0].class_name, item.events[0].class_id) == ("Dog_bark", None)


def test_means_at_the_back():
    rows = [(f, 11, 0, az, 0, 2.0) for f, az in enumerate([-179, 179, 180, -180, 178, 178])]
    (item,), _ = ask(rows, "estimate_azimuth")
    assert item.canonical_answer == "179.3 degrees"
    items, skipped = ask(event(11, 0, 9, -180), "estimate_azimuth")
    assert items == []
    assert skipped == {"the azimuth is ±180: two numbers are right": 1}
    assert ask(event(11, 0, 9, 10, 80), "estimate_azimuth")[1] == {
        "the source is above or below: its azimuth means little": 1
    }
    (item,), _ = ask(event(11, 0, 9, -180), "identify_source_by_location")
    assert "back" in item.answer


def test_moving_sources_are_asked_about_at_a_time():
    rows = [(f, 11, 0, f, 0, 2.0) for f in range(60)]
    items, _ = ask(rows, "estimate_azimuth", margins=Margins(still=6))
    assert "s is" in items[0].answer
    (proof,) = items[0].events
    assert proof.azimuth == items[0].answer_meta.azimuth_deg
    assert ask(rows, "identify_source_by_doa")[1] == {"the source moves": 1}
    assert ask(rows, "classify_motion")[0][0].canonical_answer == "moving"


def test_unknown_distances():
    for unknown in (None, 0.0):
        items, skipped = ask(event(11, 0, 9, 0, 0, unknown), "estimate_distance")
        assert not items
        assert skipped == {"its distance is not known": 1}
    both = event(11, 0, 9, 0, 0, None) + event(3, 0, 9, 90)
    assert ask(both, "compare_distance")[1] == {"its distance is not known": 1}


def test_ties():
    both = event(11, 0, 9, 0, 0, 2.0) + event(3, 0, 9, 15, 10, 2.5)
    for task in ("compare_elevation", "compare_distance", "relative_left_right"):
        items, skipped = ask(both, task)
        assert not items
        assert skipped == {"the difference is within the margin": 1}


@pytest.mark.parametrize(
    ("one", "other", "side"),
    [(40, 0, "left"), (-40, 0, "right"), (90, 20, "left"), (170, -90, None), (150, -150, None)],
)
def test_left_and_right(one, other, side):
    items, skipped = ask(event(11, 0, 9, one) + event(3, 0, 9, other), "relative_left_right")
    if side is None:
        assert not items
        assert sum(skipped.values()) == 1
    else:
        back = {"left": "right", "right": "left"}[side]
        said = items[0].answer, items[0].canonical_answer
        assert said in (
            (f"The bell is to the {side} of the telephone.", f"bell is to the {side} of telephone."),
            (f"The telephone is to the {back} of the bell.", f"telephone is to the {back} of bell."),
        )


def test_commas_in_names():
    rows = event(10, 0, 9) + event(11, 3, 9, 90)
    (item,), _ = ask(rows, "detect_source")
    assert item.canonical_answer == '"water tap, faucet" from 0.0s to 0.9s, bell from 0.3s to 0.9s'
    (item, _), _ = ask(rows, "identify_source_by_doa")
    assert item.canonical_answer == "water tap, faucet"


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


def test_one_source_number_in_two_places_is_neither_listed_nor_counted():
    for source, asked in ((0, True), (3, False)):
        items, skipped = ask(event(4, 0, 48, 30, source=source) + event(4, 0, 48, 90, source=source), "detect_source")
        assert bool(items) is asked
        assert ("one of its rows may be written twice" in skipped) is not asked


def test_bare_words_cover_all_heights():
    rows = event(11, 0, 9, 90, 0) + event(3, 0, 9, 90, 40)
    items, skipped = ask(rows, "identify_source_by_location")
    assert [item.canonical_answer for item in items] == ["telephone"]
    assert skipped == {"another event shares the direction": 1}


def test_cells():
    numbers = [only_cell(int(mask)) for mask in cells(np.arange(-180.0, 181, 45), np.zeros(9), 5)]
    assert [ENGLISH.directions[n].short for n in numbers] == [
        "back", "back-right", "right", "front-right", "front", "front-left", "left", "back-left", "back",
    ]  # fmt: skip
    assert (
        ENGLISH.directions[only_cell(int(cells(67.057 - 20, -36.558, 5)))].place
        == "to the front-left and below the listener"
    )
    assert ENGLISH.directions[only_cell(int(cells(10.0, 80.0, 5)))].short == "straight above"
    assert int(cells(float("nan"), 0.0, 5)) == (1 << 26) - 1
    assert all(rivals >> number & 1 for number, rivals in enumerate(RIVALS))
    assert only_cell(0) == only_cell(3) == -1


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
