"""The score of predictions for SO-Bench: each judged offline where its text allows it, else by a judge."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Literal

from seldio.answers.extract import extract
from seldio.answers.judgements import AnsweredQuestion, Judge, Judgement, judgement
from seldio.answers.names import Names, names_in
from seldio.errors import DataError, SeldioError, UsageError
from seldio.reports.tables import ScoreReport
from seldio.schema.qa import Item, Prediction
from seldio.scores.so_bench.evaluate import How, Scored, evaluate
from seldio.scores.so_bench.join import How as Join
from seldio.scores.so_bench.join import JoinedAnswers
from seldio.scores.so_bench.join import join as joined_by
from seldio.scores.so_bench.judging import cache_key
from seldio.scores.so_bench.profiles import AnswerProfile
from seldio.scores.so_bench.report import SoBenchCase, by_task, notices, tables
from seldio.tasks.english import PUBLISHED
from seldio.text import plural

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def official_fallback(text: str) -> Judgement:
    """The judgement that the official program makes up from *text* alone, when its judge does not answer.

    Kept to repeat published numbers that were made so, never to read predictions well: the first number counts for
    everything, the hyphen of ``18.4s-20.0s`` is a minus sign, ``1,200`` is 1 and ``.5`` is 5, and no sound has a name.
    """
    numbers = [float(found) for found in _NUMBER.findall(text)]
    first = numbers[0] if numbers else None
    plain = " ".join(text.lower().split())
    said = {
        "angle_deg": first,
        "elevation_deg": first,
        "distance_m": first,
        "time_span": sorted(numbers[:2]) if len(numbers) > 1 else None,
        "onset_time_s": first,
        "count": None if first is None else int(first),
        "yes_no": next((word for word in ("no", "yes") if re.search(rf"\b{word}\b", plain)), None),
        "left_right": _first_of(plain, "left", "right"),
        "height_relation": _first_of(plain, "higher", "lower", "same"),
        "distance_relation": _first_of(plain, "closer", "farther", "same"),
    }
    return judgement(said, notes="local regex fallback only")


def _first_of(text: str, *choices: str) -> str | None:
    return next((choice for choice in choices if choice in text), None)


#: ``extract``: read what can be read, the judge for the rest; ``none``: the judge for all but transcripts, as
#: the official program; ``official-fallback``: the same, with its fallback where the judge says nothing.
Offline = Literal["extract", "none", "official-fallback"]


def text_of(row: Prediction) -> str:
    """The text that the official program scores: prediction_cleaned, else prediction, else prediction_raw."""
    extra = row.extra or {}
    for text in (extra.get("prediction_cleaned"), row.prediction, extra.get("prediction_raw")):
        if text:
            return text if isinstance(text, str) else str(text)
    return ""


def score_records(
    items: Sequence[Item],
    predictions: Sequence[Prediction],
    joined: JoinedAnswers,
    profile: AnswerProfile,
    judge: Judge | None = None,
    offline: Offline = "extract",
) -> list[Scored]:
    """The questions of a join, scored: the answered ones in its order, then the others.

    Raises:
        UsageError: a way of reading offline that does not exist.
        SeldioError: the judge gave back fewer or more judgements than it was asked for.
    """
    if offline not in ("extract", "none", "official-fallback"):
        raise UsageError(f"no way {offline!r} to read offline; there are extract, none, official-fallback")
    answered = [(items[pair.item], predictions[pair.prediction]) for pair in joined.pairs]
    requests = [_request(item, row) for item, row in answered]
    found = _offline(requests, items, offline)
    how: list[How] = ["undecided" if each is None else "offline" for each in found]
    if judge is not None:
        _ask(judge, requests, answered, found, how)
    if offline == "official-fallback":
        for place, each in enumerate(found):
            if each is None:
                found[place], how[place] = official_fallback(requests[place].prediction), "fallback"
    rows = [
        Scored(
            item,
            request.prediction,
            way,
            verdict,
            evaluate(request, verdict, profile) if verdict is not None else None,
        )
        for (item, _), request, way, verdict in zip(answered, requests, how, found, strict=True)
    ]
    return rows + [Scored(items[number], "", "missing") for number in joined.missing]


def _request(item: Item, row: Prediction) -> AnsweredQuestion:
    meta = {} if item.answer_meta is None else item.answer_meta.__dict__
    truth = {key: value for key, value in meta.items() if value is not None}
    canonical = item.canonical_answer
    return AnsweredQuestion(item.id, item.task or "", item.question, item.answer or "", canonical, truth, text_of(row))


def _offline(requests: Sequence[AnsweredQuestion], items: Sequence[Item], offline: Offline) -> list[Judgement | None]:
    """What can be judged without a judge; with ``none`` only what the official program judges so."""
    names = Names(name for item in items for name in names_in(item.task, item.answer, item.canonical_answer))
    local = {"speech_content"} if offline != "extract" else None
    return [
        extract(request, names) if local is None or request.task in local or request.task not in PUBLISHED else None
        for request in requests
    ]


def _ask(
    judge: Judge, requests: Sequence[AnsweredQuestion], answered: Sequence[tuple[Item, Prediction]],
    found: list[Judgement | None], how: list[How],
) -> None:  # fmt: skip
    """Have the judge fill the gaps in *found*."""
    open_ones = [place for place, each in enumerate(found) if each is None]
    if not open_ones:
        return
    asked = [dataclasses.replace(requests[place], key=_key(*answered[place])) for place in open_ones]
    verdicts = judge(asked)
    if len(verdicts) != len(asked):
        raise SeldioError(f"the judge was asked {len(asked)} times and answered {len(verdicts)} times")
    for place, verdict in zip(open_ones, verdicts, strict=True):
        if verdict is not None:
            found[place], how[place] = verdict, "judge"


def _key(item: Item, row: Prediction) -> str:
    raw = (row.extra or {}).get("prediction_raw")
    return cache_key(item.task, item.question, item.answer, row.prediction, raw if isinstance(raw, str) else None)


def score(
    items: Sequence[Item],
    predictions: Sequence[Prediction],
    profile: AnswerProfile,
    *,
    judge: Judge | None = None,
    join: Join = "strict",
    offline: Offline = "extract",
    system: str = "predictions",
) -> tuple[ScoreReport, list[Scored]]:
    """The score of *predictions* for the questions *items*, and the questions one by one.

    Args:
        items: the questions with their answers.
        predictions: in any order; joined by id.
        profile: thresholds and policies, see :mod:`seldio.scores.so_bench.profiles`; :meth:`Profile.changed` sets
            others.
        judge: decides what the texts do not tell; what it leaves open stays without verdict.
        join: ``official`` joins as the official program does, and tells where that is not by id.
        offline: what is decided without a judge.
        system: the name of what is scored.

    Raises:
        DataError: the predictions do not fit the questions, or there is nothing to score.
        UsageError: a way of reading that does not exist.
    """
    found = joined_by(items, predictions, join)
    rows = score_records(items, predictions, found, profile, judge, offline)
    if not rows:
        raise DataError("there is nothing to score: no question has a prediction, or there is no question")
    tasks = len(by_task(rows))
    over = f"{plural(len(rows), 'question')} of {plural(tasks, 'task')}"
    settings = profile.settings() | {"join": join, "offline": offline, "judge": judge is not None}
    report = ScoreReport(
        system,
        profile.name,
        profile.title,
        over,
        tables(system, rows),
        notices(SoBenchCase(rows, found, profile)),
        settings,
    )
    return report, rows
