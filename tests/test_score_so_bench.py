"""Scores of SO-Bench: the official numbers, the join, and what is read without a judge."""

from __future__ import annotations

import json
import math
import re

import pyarrow as pa
import pytest
from commands import noticed, rows_of
from effort import examples, grows_no_faster
from hypothesis import given, settings
from hypothesis import strategies as st

from seldio import synth
from seldio.answers.extract import AnsweredQuestion, Names, extract, faults, judgement
from seldio.errors import DataError, SeldioError, UsageError
from seldio.schema.qa import AnswerMeta, Item, Prediction
from seldio.scores.judge import Malformed, read
from seldio.scores.so_bench import (
    PROFILES,
    cache_key,
    count,
    evaluate,
    from_cache,
    join_answers,
    official_fallback,
    to_judge,
)
from seldio.tasks import generate
from seldio.tasks.specs import PUBLISHED

OVERRIDES = {"broader": "broader", "ds": "source_time", "st": "span_policy"}
CARD = PROFILES["so-bench"]


def score(*given, **options):
    return count(*given, **options).report("predictions")


def test_the_official_numbers(official):
    text = (official / "so-bench-scoring.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == 100
    for row in rows:
        check_golden(row)


def check_golden(row):
    expected, record = row["expected"], row.get("record")
    if "text" in row:
        assert expected == official_fallback(row["text"])
        return
    if row["note"] == "cache_key":
        fields = ("task_name", "question", "answer", "prediction", "prediction_raw")
        assert expected == cache_key(*map(record.get, fields))
        return
    profile = CARD.changed(**{OVERRIDES[name]: value for name, value in row["overrides"].items()})
    text = record.get("prediction_cleaned") or record.get("prediction") or ""
    truth = answered(record["task_name"], record.get("answer"), record.get("canonical_answer"),
                     record.get("answer_meta") or {}, text)  # fmt: skip
    outcome = evaluate(truth, row["judgement"], profile)
    found = {"correct": outcome.correct, "metric_type": outcome.metric, "parseable": int(outcome.parseable)}
    found |= outcome.details
    if "raises" in expected:
        assert found.pop("scoring_error").startswith(expected["raises"])
        expected = expected["upstream_row"]
    assert expected == found


def answered(task, answer, canonical, meta, text):
    return AnsweredQuestion("", task, "", answer or "", canonical, meta, text)


def outcome(task, meta, profile=CARD, **said):
    return evaluate(answered(task, None, None, meta, ""), judgement(said), profile)


@pytest.mark.parametrize("said", [math.inf, 1e300, -1e9])
def test_an_angle_that_the_official_program_never_finishes_with(said):
    found = outcome("estimate_azimuth", {"azimuth_deg": 0.0}, angle_deg=said)
    assert ("scoring_error", 0.0) == (found.metric, found.correct)


@pytest.mark.parametrize(
    ("name", "distance", "onset"), [("so-bench", 1.0, 0.2), ("so-bench-paper", 0.5, 0.4), ("so-bench-legacy", 0.3, 0.4)]
)
def test_profiles(name, distance, onset):
    profile = PROFILES[name]
    assert (20.0, 10.0, distance, onset) == (profile.azimuth, profile.elevation, profile.distance, profile.onset)
    said = outcome("estimate_distance", {"distance_m": 10.0}, profile, distance_m=12.9)
    assert said.correct == float(profile.relative)
    assert abs(said.details["distance_error_m"] - 2.9) < 1e-9


NAMES = Names(["dog", "cat", "bird",
    "string instrument", "crackle", "vehicle", "telephone alarm", "guitar", "bell", "dog", "camera", "glass", "doorbell",
    "Water tap, faucet",
])  # fmt: skip
LOCATION = ("identify_source_by_location", "What is the sound source to the front-left?", "string instrument", {})
BARK = ("identify_source_by_location", "What is to the left?", "dog", {})
DOA = ("identify_source_by_doa", "Which source is at azimuth 30 degrees?", "water tap, faucet", {})
HOP = ("multi_hop", "After the dog has ended, which sound starts behind?", "telephone alarm", {})
SIDE = ("relative_left_right", "Is the crackle left or right of the vehicle?", "crackle is to the right of vehicle.", {})  # fmt: skip
LEFT = ("relative_left_right", "Is the crackle to the left of the vehicle?", "crackle is to the right of vehicle.", {})
HIGHER = ("compare_elevation", "Which is higher: the guitar or the bell?", "guitar", {})
CLOSER = ("compare_distance", "Which is closer to the listener: the guitar or the bell?", "guitar", {})
LIST = ("detect_source", "What is audible?", "camera from 0.0s to 9.6s, glass from 0.0s to 0.3s", {})
SPACE = ("spatial_temporal", "What is active at 1.0s?", "dog from front-left.", {"time_span": [0.0, 2.0]})
MOTION = ("classify_motion", "How does it move?", "stationary", {})


@pytest.mark.parametrize(
    ("about", "text", "correct"),
    [
        (LOCATION, "A string instrument is the sound source coming from the front-left.", 1),
        (LOCATION, "String_Instruments", 1), (LOCATION, "a stringed instrument, to the left", 1),
        (LOCATION, "guitar", None), (LOCATION, "music", None), (BARK, "a cat", 0), (BARK, "a bird", None), (LOCATION, "a dog", 0), (LOCATION, "a kazoo", None),
        (LOCATION, "not a string instrument", None), (LOCATION, "dog or string instrument", None),
        (LOCATION, "a string instrument and a kazoo", None), (LOCATION, "", 0), (DOA, "A faucet", 1),
        (DOA, "Water tap, faucet.", 1), (DOA, "the door bell", 0), (HOP, "After the dog, a telephone alarm starts.", 1),
        (HOP, "the dog", None), (HOP, "After the dog ends, the guitar starts", 0), (HOP, "a telephone", None),
        (SIDE, "right", 1), (SIDE, "left", 0), (SIDE, "rightmost, not left", 1), (SIDE, "Not left.", 1),
        (SIDE, "The vehicle is to the left of the crackle.", 1), (SIDE, "The vehicle is right of the crackle", 0),
        (SIDE, "To the right of the vehicle is the crackle.", 1), (SIDE, "That's right, it is left", 0),
        (SIDE, "To the left of the crackle is the vehicle.", 1), (SIDE, "left or right", None),
        (SIDE, "The crackle is on the right and the vehicle is on the left", 1), (SIDE, "the vehicle's right", None),
        (SIDE, "The dog is to the right", None), (LEFT, "No.", 1), (LEFT, "Yes", 0), (SIDE, "Yes", None),
        (HIGHER, "guitar", 1), (HIGHER, "The bell", 0), (HIGHER, "The guitar is higher than the bell.", 1),
        (HIGHER, "The bell is lower than the guitar.", 1), (HIGHER, "The bell is higher", 0),
        (HIGHER, "Compared to the bell, the guitar is higher.", 1), (HIGHER, "They are at the same height.", 0),
        (HIGHER, "The guitar is not higher than the bell", None), (HIGHER, "dog", None), (HIGHER, "The bell is below", 1),
        (HIGHER, "The guitar and the bell", None), (HIGHER, "the higher one is the bell", 0),
        (CLOSER, "The bell is farther from the listener than the guitar.", 1), (CLOSER, "the bell is nearer", 0),
        (CLOSER, "The guitar is 2 m away, the bell 3 m", None), (LIST, "glass, camera", 1),
        (LIST, "Glass breaking and a camera click are audible.", 1), (LIST, "camera", None),
        (LIST, "camera 0-9 s, glass 0-1 s, kazoo 1-3 s", None), (LIST, "a dog from 1 to 2 s", 0),
        (SPACE, "dog, front left, 0-2 s", 1), (SPACE, "A barking dog to the left and in front, 1.0s-2.0s", 0.5),
        (SPACE, "dog from the back-right, 0 to 2 s", 0), (SPACE, "dog from the left from 0 to 2 s", None),
        (HIGHER, "Either the guitar or the bell is higher", None), (HIGHER, "It doesn't sound like the bell", None),
        (LOCATION, "There is no dog", None), (SPACE, "dog, front or left, 0-2 s", None),
        (SPACE, "dog from the front-left", 0), (SPACE, "guitar from front-left 0.0s to 2.0s", 0),
        (MOTION, "It stays in the same place", 1), (MOTION, "It is not stationary", 0), (MOTION, "unclear", None),
    ],
)  # fmt: skip
def test_names_and_comparisons(about, text, correct):
    task, question, canonical, meta = about
    found = extract(AnsweredQuestion("1", task, question, canonical, canonical, meta, text), NAMES)
    assert found is None or not faults(found, task)
    assert correct == (found and evaluate(answered(task, canonical, canonical, meta, text), found, CARD).correct)


BITS = ("3", "-4.5", "m", "s", "°", "to", "from", "not", "left", "right", "the", "is", "higher", "than", "bell", "guitar",
        "dog", ",", ".", "two", ":")  # fmt: skip


@settings(max_examples=examples(150))
@given(st.sampled_from([LOCATION, SIDE, HIGHER, LIST, SPACE, MOTION, ("estimate_azimuth", "", "30", {}),
                        ("estimate_distance", "", "3", {}), ("detect_time", "", "3", {}), ("count_sources", "", "3", {})]),
       st.text(max_size=40) | st.lists(st.sampled_from(BITS), max_size=12).map(" ".join))  # fmt: skip
def test_any_text_is_read_or_left_to_the_judge(about, text):
    task, question, canonical, meta = about
    found = extract(AnsweredQuestion("1", task, question, canonical, canonical, meta, text), NAMES)
    if found is not None:
        assert not faults(found, task)
        assert 0.0 <= evaluate(answered(task, canonical, canonical, meta, text), found, CARD).correct <= 1.0


@pytest.mark.parametrize("bit", ["from 1 to ", "not left ", "is higher than the bell ", "<think>"])
def test_the_time_for_long_texts_grows_with_them_and_no_faster(bit):
    for task, question, canonical, meta in (LOCATION, SIDE, HIGHER, LIST, SPACE, MOTION, ("estimate_azimuth", "", "", {}),
                                            ("detect_time", "", "", {}), ("estimate_distance", "", "", {})):  # fmt: skip

        def work(length, about=(task, question, canonical, canonical, meta)):
            extract(AnsweredQuestion("1", *about, (bit * length)[:length]), NAMES)

        assert all(grows_no_faster(work, length) for length in (2000, 25_000)), task


@pytest.fixture(scope="module")
def items():
    tables = [synth.labels(f"mix{seed:03}", synth.scene(seed, 60.0, 10)) for seed in range(20)]
    made = generate(pa.concat_tables([*tables], promote_options="permissive"), seed=5, per_task=40).items
    speech = 'The speaker says, "please bring the red boxes".'
    made.append(Item(id="speech", audio=["s.wav"], task="speech_content", question="What is said?", answer=speech,
                     canonical_answer="please bring the red boxes"))  # fmt: skip
    assert {*PUBLISHED} == {item.task for item in made}
    return made


def said(item, text):
    return Prediction(id=item.id, audio=item.audio, task=item.task, prediction=text)


def test_right_answers_score_one_without_a_judge(items):
    report = score(items, [said(item, item.answer) for item in items], CARD)
    assert 1.0 == report.overall["accuracy"] == report.overall["macro"] == report.overall["decided"]
    for task, row in rows_of(report, "tasks").items():
        assert (1.0, 1.0, row["n"], 0) == (row["accuracy"], row["parse_rate"], row["offline"], row["undecided"]), task


#: The words of the opposite answer.
TURNED = {"left": "right", "right": "left", "higher": "lower", "lower": "higher", "closer": "farther",
          "farther": "closer", "to": "from", "from": "to"}  # fmt: skip
#: Texts that are wrong for sure, by task.
WRONG = {
    "estimate_azimuth": lambda meta, item: f"{(meta.azimuth_deg + 30 + 180) % 360 - 180:g} degrees",
    "estimate_elevation": lambda meta, item: f"{meta.elevation_deg + 15:g} degrees",
    "estimate_distance": lambda meta, item: f"{meta.distance_m + 1.5:g} m",
    "onset_from_location": lambda meta, item: f"{meta.onset_time + 1:g} s",
    "count_sources": lambda meta, item: f"There are {meta.active_count + 1} sources.",
    "detect_time": lambda meta, item: "from 90 s to 91 s",
    "relative_left_right": lambda meta, item: re.sub("(left|right)", lambda side: TURNED[side[0]], item.answer),
    **dict.fromkeys(("compare_elevation", "compare_distance"), lambda meta, item: " ".join(
        TURNED.get(word, word) for word in item.answer.split(" "))),
    "classify_motion": lambda meta, item: (
        "It moves away" if item.canonical_answer in ("stationary", "approaching") else "It stays in place."),
    "speech_content": lambda meta, item: "nobody says anything",
}  # fmt: skip


def wrong(item):
    return WRONG.get(item.task, lambda *_: "a purple kazoo")(item.answer_meta, item)


def test_short_answers_score_one_but_where_they_lack_the_interval(items):
    report = score(items, [said(item, item.canonical_answer) for item in items], CARD)
    assert {"spatial_temporal"} == {task for task, row in rows_of(report, "tasks").items() if row["accuracy"] < 1}


def test_both_numbers_are_given_where_nobody_decided(items):
    names = [item for item in items if item.task == "identify_source_by_doa"]
    half = [said(item, item.answer if place % 2 else "a kazoo") for place, item in enumerate(names)]
    report = score(names, half, CARD)
    decided = len(names) // 2
    assert noticed(report)["no-verdict"].grave
    assert (decided / len(names), 1.0) == (report.overall["accuracy"], report.overall["decided_accuracy"])
    assert rows_of(report, "tasks")["identify_source_by_doa"]["undecided"] == len(names) - decided


def test_the_judge_decides_the_rest(items):
    asked = []

    def judge(requests):
        asked.extend(requests)
        return [judgement(None, {"source_match": True}) for _ in requests]

    names = [item for item in items if item.task == "multi_hop"][:4]
    rows = [said(item, "a kazoo") for item in names[:2]] + [said(item, item.answer) for item in names[2:]]
    report = score(names, rows, CARD, judge=judge)
    assert 1.0 == report.overall["accuracy"]
    assert [item.id for item in names[:2]] == [request.id for request in asked]
    assert (2, 2) == tuple(rows_of(report, "tasks")["multi_hop"][how] for how in ("offline", "judge"))
    asked.clear()
    score(items, [said(item, item.answer) for item in items], CARD, judge=judge, offline="none")
    assert len(items) - 1 == len(asked)  # all but the transcripts, as the official program
    silent = score(names, rows, CARD, judge=lambda requests: [None] * len(requests))
    assert 2 == rows_of(silent, "tasks")["multi_hop"]["undecided"]
    with pytest.raises(SeldioError, match="asked 2 times and answered 1 times"):
        score(names, rows, CARD, judge=lambda requests: [None])


def test_judgements_of_the_official_cache_are_used_again():
    item = Item(id="q", task="multi_hop", question="Which?", answer="A.", canonical_answer="telephone")
    row = Prediction(id="q", prediction="B", extra={"prediction_raw": "<s>B"})
    good = {"cache_key": cache_key("multi_hop", "Which?", "A.", "B", "<s>B"),
            "judgement": judgement(None, {"source_match": True})}  # fmt: skip
    bad = good | {"judgement": judgement(notes="local regex fallback only; api_error=x")}
    assert 1.0 == score([item], [row], CARD, judge=from_cache([good])).overall["accuracy"]
    assert 0.0 == score([item], [row], CARD, judge=from_cache([good, bad])).overall["decided"]
    judged = {"cache_key": good["cache_key"], "llm_judgement": good["judgement"]}
    assert 1.0 == score([item], [row], CARD, judge=from_cache([judged])).overall["accuracy"]


def test_the_official_fallback_is_worse():
    item = Item(id="q", task="detect_time", question="When?", answer="", answer_meta=AnswerMeta(time_span=[18.4, 20.0]))
    row = Prediction(id="q", prediction="from 18.4s-20.0s")
    ours, theirs = (
        score([item], [row], CARD, offline=way).overall["accuracy"] for way in ("extract", "official-fallback")
    )
    assert (1.0, 0.0) == (ours, theirs)
    with pytest.raises(UsageError, match="official-fallback"):
        score([item], [row], CARD, offline="regex")  # type: ignore[arg-type]


def question(name, audio="a.wav", task="estimate_azimuth", **more):
    return Item(id=name, audio=[f"audio/test/{audio}"], task=task, question="?", answer=f"answer {name}",
                answer_meta=AnswerMeta(azimuth_deg=0.0), **more)  # fmt: skip


def answer(name, audio="a.wav", task="estimate_azimuth", **more):
    return Prediction(id=name, audio=[f"audio/test/{audio}"], task=task, prediction="0", extra=more or None)


TWO = [question("p"), question("q")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([answer("p"), answer("x")], "1 prediction with the qa_id of no question: x"),
        ([answer("p"), answer("p")], "1 question answered more than once: p"),
        ([answer("p"), answer(None)], "1 prediction without qa_id: number 2"),
        ([answer("p", "b.wav"), answer("q")], "1 prediction with another recording than its question: p"),
        ([answer("p", task="detect_time"), answer("q")], "1 prediction with another task than its question: p"),
    ],
)
def test_the_strict_join_stops_at_what_does_not_fit(rows, message):
    with pytest.raises(DataError, match=message):
        join_answers(TWO, rows)


def test_the_strict_join_takes_any_folder_and_counts_what_is_missing_as_wrong():
    row = answer("q").model_copy(update={"audio": ["/home/me/data/audio/test/a.wav"]})
    report = score(TWO, [row], CARD)
    assert (0.5, 1.0, 0.5) == tuple(report.overall[name] for name in ("accuracy", "decided_accuracy", "decided"))
    assert "p" in noticed(report)["missing-predictions"].text
    with pytest.raises(DataError, match="id of several questions: p"):
        join_answers([question("p"), question("p", "b.wav")], [])
    with pytest.raises(DataError, match="nothing to score"):
        score([], [], CARD)


@pytest.mark.parametrize(
    ("questions", "rows", "pairs", "trap"),
    [
        (TWO, [answer("p"), answer("x")], [(0, 0), (1, 1)], "wrong-id"),
        (TWO, [answer("p"), answer("p")], [(0, 0), (1, 1)], "wrong-id"),
        (TWO, [answer(None), answer(None)], [(0, 0), (1, 1)], "line"),
        (TWO, [answer("p", "b.wav"), answer("q")], [(0, 0), (1, 1)], "audio"),
        (TWO, [answer("q"), answer("p", task="detect_time")], [(1, 0), (0, 1)], "task"),
        ([question("1"), question("0")], [answer(None), answer(None)], [(1, 0), (0, 1)], "number"),
        (TWO, [answer("x", answer="Answer  q"), answer("p")], [(1, 0), (0, 1)], "content"),
        (TWO, [answer(None, pair_id="q"), answer("p")], [(1, 0), (0, 1)], "number"),
        ([question("p"), question("p", "b.wav")], [answer("p", "b.wav")], [(1, 0)], "repeated"),
    ],
)
def test_the_official_join_falls_into_its_traps_and_says_so(questions, rows, pairs, trap):
    found = join_answers(questions, rows, "official")
    assert pairs == found.pairs
    names = {notice.name for notice in found.notices}
    assert f"official-join-{trap}" in names


def test_the_official_join_leaves_out_what_is_missing_and_stops_where_the_program_does():
    report = score(TWO, [answer("q")], CARD, join="official")
    assert 0.5 == report.overall["decided"]
    assert "missing-predictions" in noticed(report)
    with pytest.raises(DataError, match=r"prediction 2 \(x\): it belongs to no question"):
        join_answers(TWO, [answer("p"), answer("x", "b.wav")], "official")
    with pytest.raises(DataError, match="answered already"):
        join_answers(TWO, [answer("p"), answer("p", "b.wav")], "official")
    with pytest.raises(DataError, match="prediction 3"):
        join_answers(TWO, [answer("p"), answer("q"), answer("p")], "official")


def test_the_onset_trap_is_kept():
    right = [
        outcome("onset_from_location", {"onset_time": n / 10}, onset_time_s=(n + 2) / 10).correct for n in range(200)
    ]
    assert 111 == sum(right)  # counted with the official program


def test_what_may_mislead_is_told(items):
    item = Item(id="q", task="estimate_elevation", question="?", answer_meta=AnswerMeta(elevation_deg=5.0))
    row = Prediction(id="q", prediction="unclear")
    report = score([item], [row], CARD, judge=lambda _: [judgement({"angle_deg": 7})])
    assert 1.0 == report.overall["accuracy"]
    assert noticed(report)["azimuth-as-elevation"].grave
    report = score([item], [row], CARD, judge=lambda _: [judgement({"elevation_deg": "7 deg"})])
    assert "ValueError" in noticed(report)["scoring-errors"].text
    bare = item.model_copy(update={"answer_meta": None})
    assert "no-truth" in noticed(score([bare], [Prediction(id="q", prediction="7")], CARD))
    other = item.model_copy(update={"task": "detect_motion", "answer": "Moving "})
    report = score([other], [Prediction(id="q", prediction="moving")], CARD)
    assert (1.0, "unknown-tasks") == (report.overall["accuracy"], report.notices[0].name)
    assert "not-the-whole-program" in noticed(score([other], [row], PROFILES["so-bench-legacy"]))
    full = score(items, [said(item, item.answer) for item in items], CARD)
    assert {"other-questions", "read-offline"} <= {*noticed(full)}


def test_word_error_rates_are_summed_up_as_in_the_official_program(items):
    (speech,) = (item for item in items if item.task == "speech_content")
    words = {
        "answer": "The speaker says, 'please bring the 1 red boxes'.",
        "canonical_answer": "please bring the 1 red boxes",
    }
    spoken = [speech.model_copy(update={"id": f"speech{number}", **words}) for number in range(5)]
    texts = ["", "The man says: please bring the 1 red boxes", "please bring the red boxes", "boxes", "one " * 20]
    report = score(spoken, [said(item, text) for item, text in zip(spoken, texts, strict=True)], CARD)
    table = next(table for table in report.tables if table.name == "speech")
    values = dict(table.rows)
    for item, text, rate in zip(spoken, texts, (1.0, 0.0, 1 / 6, 5 / 6, 20 / 6), strict=True):
        truth = answered("speech_content", item.answer, item.canonical_answer, {}, text)
        assert rate == evaluate(truth, judgement(), CARD).details["wer"]
    assert math.isclose(values["wer_mean"], (1 + 0 + 1 / 6 + 5 / 6 + 20 / 6) / 5)
    assert math.isclose(values["wer_clipped_mean"], (1 + 0 + 1 / 6 + 5 / 6 + 1) / 5)
    assert (0.4, 0.4, 0.8) == tuple(values[f"acc_wer_le_{limit}"] for limit in (0.3, 0.5, 1.0))
    assert 0.4 == report.overall["accuracy"]


def test_the_prompt_holds_everything_and_keeps_the_prediction_apart():
    asked = set()
    for task, spec in PUBLISHED.items():
        meta = {"azimuth_deg": 3.5, "onset_time": None}
        sent = to_judge(AnsweredQuestion("1", task, "Q?", "The answer.", "short one", meta, "Say yes!"))
        assert all(part in sent.user for part in ("Q?", "Say yes!"))
        truth = [part in sent.user for part in ("The answer.", "short one", '{"azimuth_deg": 3.5}')]
        blind = spec.answer == "number" or task == "detect_time"  # what it has not seen it cannot read into the text
        timeless = task in ("spatial_temporal", "detect_source")
        assert truth == [not blind, not blind, not blind and not timeless], task
        assert "Say yes!" not in sent.system
        asked.add(sent.system.split("This task: ")[1].split("\n")[0])
    assert len(asked) >= 11  # an instruction of its own for each kind of task


def test_a_judge_that_reads_times_is_not_shown_them():
    answer, meta = "The dog from the front-left is active from 3.2s to 5.75 seconds.", {"time_span": [3.2, 5.75]}
    for task, short in (("spatial_temporal", "dog from front-left."), ("detect_source", "dog from 3.2s to 5.75s")):
        asked = ("1", task, "What is active at 4.0s?", answer, short, meta, "a hound, 3 to 5 s")
        sent = to_judge(AnsweredQuestion(*asked))
        assert all(part in sent.user for part in ("dog from", "front-left", "4.0s", "a hound, 3 to 5 s"))
        assert not any(part in sent.user for part in ("3.2", "5.75", "time_span"))


@pytest.mark.parametrize(
    ("task", "value", "fault"),
    [
        ("estimate_azimuth", 3, "is an object, not int"),
        ("estimate_azimuth", {"semantic": {}}, "prediction is missing"),
        ("estimate_azimuth", {"prediction": [1], "semantic": {}}, "prediction is no object"),
        ("estimate_azimuth", judgement({"angle_deg": "left"}), "prediction.angle_deg is not a number"),
        ("count_sources", judgement({"count": 2.5}), "prediction.count is not a whole number"),
        ("detect_time", judgement({"time_span": [1]}), "prediction.time_span is not a pair of numbers"),
        ("classify_motion", judgement(None, {"motion_match": "true"}), "semantic.motion_match is neither true nor false"),
        ("compare_distance", judgement(None, {"relation_match": 1}), "semantic.relation_match is neither true nor false"),
        ("multi_hop", {"semantic": {"source_match": "yes", "source_match_level": "near"}}, "semantic.source_match is neither"),
        ("spatial_temporal", judgement({"time_span": [1, 2]}, {"direction_match": "no"}), "semantic.direction_match is neither"),
    ],
)  # fmt: skip
def test_faults_of_judgements(task, value, fault):
    assert any(fault in text for text in faults(value, task))
    assert not faults(judgement(), task)


#: Replies of which a field is odd that the task does not read, or that the official program computes with all the same.
USABLE = (
    ("estimate_azimuth", {"prediction": {"angle_deg": 30, "count": 2.0, "motion_label": "static", "sources": "dog"}}),
    ("estimate_azimuth", {"prediction": {"angle_deg": "+30", "yes_no": "maybe"}, "semantic": "none"}),
    ("estimate_azimuth", {"prediction": {"angle_deg": 30}, "semantic": {"source_match_level": "n/a"}, "notes": 7}),
    ("estimate_elevation", {"prediction": {"elevation_deg": 30.0, "angle_deg": "?"}}),
    ("count_sources", {"prediction": {"count": 2.0, "angle_deg": "?"}, "semantic": []}),
    ("count_sources", {"prediction": {"count": "2"}}),
    ("detect_time", {"prediction": {"time_span": ["1", 2.0], "count": "many"}}),
    ("multi_hop", {"prediction": [], "semantic": {"source_match": True, "motion_match": "no"}}),
    ("multi_hop", {"semantic": {"source_match_level": "exact_or_synonym"}}),
    ("compare_distance", {"prediction": {"distance_relation": "near"}, "semantic": {"relation_match": True}}),
    ("classify_motion", {"prediction": {"motion_label": "static"}, "semantic": {"motion_match": True}}),
    ("spatial_temporal", {"prediction": {"time_span": [1, 2], "count": 1.5},
                          "semantic": {"source_match": True, "direction_match": True, "transcript_match": "?"}}),
)  # fmt: skip
RIGHT = {"azimuth_deg": 30.0, "elevation_deg": 30.0, "active_count": 2, "time_span": [1.0, 2.0]}


@pytest.mark.parametrize(("task", "value"), USABLE)
def test_what_a_task_does_not_read_refuses_no_reply(task, value):
    """The official program is the measure: it looks at nothing else, and gives these a full score."""
    asked = AnsweredQuestion("1", task, "Q?", "The answer.", "dog from front-left", RIGHT, "hm")
    for text in (json.dumps(value), json.dumps({"request": to_judge(asked).tag, **value})):
        verdict = read(text, to_judge(asked))
        assert evaluate(asked, verdict, CARD).correct == 1.0
    with pytest.raises(Malformed, match="another request"):
        read(json.dumps({"request": "0123456789ab", **value}), to_judge(asked))
