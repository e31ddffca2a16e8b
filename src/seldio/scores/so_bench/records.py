"""Questions with their predictions, judged one by one: offline where the text allows it, else by a judge."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

from seldio.errors import SeldioError, UsageError
from seldio.schema.qa import Item, Prediction
from seldio.scores.so_bench.evaluate import Outcome, Truth, evaluate
from seldio.scores.so_bench.extract import extract
from seldio.scores.so_bench.fallback import official_fallback
from seldio.scores.so_bench.join import Joined
from seldio.scores.so_bench.judgement import Judge, Judgement, Request, cache_key
from seldio.scores.so_bench.names import Names, names_in
from seldio.scores.so_bench.profiles import TASKS, Profile

#: ``extract``: read what can be read, the judge for the rest; ``none``: the judge for all but transcripts, as
#: the official program; ``official-fallback``: the same, with its fallback where the judge says nothing.
Offline = Literal["extract", "none", "official-fallback"]
#: Who decided: the text itself, the judge, the official fallback; nobody; or there is no prediction.
How = Literal["offline", "judge", "fallback", "undecided", "missing"]


@dataclasses.dataclass(frozen=True, slots=True)
class Scored:
    """One question, scored.

    Args:
        item: the question.
        prediction: the text that was scored; empty where there is none.
        how: who decided.
        judgement: what the score was made of.
        outcome: the score; None where nobody decided.
    """

    item: Item
    prediction: str
    how: How
    judgement: Judgement | None = None
    outcome: Outcome | None = None

    @property
    def task(self) -> str:
        """Of the question."""
        return self.item.task or ""

    @property
    def correct(self) -> float:
        """From 0 to 1; 0 where nobody decided."""
        return self.outcome.correct if self.outcome else 0.0


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
    joined: Joined,
    profile: Profile,
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
            evaluate(_truth(request), verdict, profile) if verdict is not None else None,
        )
        for (item, _), request, way, verdict in zip(answered, requests, how, found, strict=True)
    ]
    return rows + [Scored(items[number], "", "missing") for number in joined.missing]


def _request(item: Item, row: Prediction) -> Request:
    meta = {} if item.answer_meta is None else item.answer_meta.__dict__
    truth = {key: value for key, value in meta.items() if value is not None}
    canonical = item.canonical_answer
    return Request(item.id, item.task or "", item.question, item.answer or "", canonical, truth, text_of(row))


def _truth(request: Request) -> Truth:
    return Truth(request.task, request.answer, request.canonical_answer, request.meta, request.prediction)


def _offline(requests: Sequence[Request], items: Sequence[Item], offline: Offline) -> list[Judgement | None]:
    """What can be judged without a judge; with ``none`` only what the official program judges so."""
    names = Names(name for item in items for name in names_in(item))
    local = {"speech_content"} if offline != "extract" else None
    return [
        extract(request, names) if local is None or request.task in local or request.task not in TASKS else None
        for request in requests
    ]


def _ask(
    judge: Judge, requests: Sequence[Request], answered: Sequence[tuple[Item, Prediction]],
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
