"""A page for each task of questions that seldio makes from labels, and their index; and all ways of scoring."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import seldio
from seldio.schema.qa import Item
from seldio.scores import scorers
from seldio.scores.imaging import maps as maps
from seldio.scores.imaging.score_maps import SCORES as MAP_SCORES
from seldio.scores.seld.profiles import PROFILES as LABEL_PROFILES
from seldio.scores.so_bench import PROFILES as ANSWER_PROFILES
from seldio.synth.tree import write_tree
from seldio.tasks import generate, russian, so_bench
from seldio.tasks.scene import Task
from seldio.tasks.specs import QuestionOptions
from seldio.tasks.task import ENGLISH

from . import cell, empty_folder, facts, page, sentence, table

#: What the official program does that its users do not expect.
FAULTS = (
    "thresholds are compared without rounding: an onset of 2.2 s for 2.0 s is 0.2000000000000002 s away and wrong",
    "an elevation that the judge did not give is read from its azimuth",
    "the judge sees the right answer while it reads numbers out of the prediction",
    "a count is cut off, so that 2.7 counts as 2",
    "predictions that are missing are left out of the mean",
    "a judgement whose source_match and source_match_level contradict each other counts as right",
)

#: Seeds of demo scenes that are tried until every task has an example.
SEEDS = range(7, 12)
ANSWERS = {
    "number": "a number", "interval": "the times from which to which", "source": "the name of a source",
    "relation": "which of two", "motion": "how the source moves", "source and direction": "a source and its direction",
    "speech": "what is said", "choice": "one of the options",
}  # fmt: skip
#: How often questions about the labels of a scene are made, so that each wording is seen.
DRAWS = 20
#: How many questions are shown of a task whose wordings are its own.
SHOWN = 5
#: What a reader looks for in the text of an answer.
READ = {
    "azimuth": "the azimuth", "elevation": "the elevation", "distance": "the distance", "onset": "the onset",
    "interval": "the interval", "count": "the number", "source": "the name of the source",
    "sources": "the names of the sources", "source and direction": "the source and its direction",
    "comparison": "which of the two is meant", "side": "left or right", "motion": "the kind of motion",
}  # fmt: skip


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of each page."""
    english_tasks, russian_tasks = so_bench.TASKS, russian.TASKS
    items = _items()
    yield "tasks.md", _index(english_tasks, russian_tasks)
    for name, task in (english_tasks | russian_tasks).items():
        yield f"tasks/{file_of(name)}.md", _page(task, items.get(name, []), russian=name in russian_tasks)
    yield "profiles.md", _profiles()


def file_of(name: str) -> str:
    """The name of the page of a task: lower case, without blanks and brackets."""
    return re.sub(r"\W+", "-", name.lower()).strip("-")


def _items() -> dict[str, list[Item]]:
    """Questions of each task about demo scenes."""
    found: dict[str, list[Item]] = {}
    for seed in SEEDS:
        with empty_folder() as folder:
            write_tree(folder, seed, media=())
            labels = seldio.read(folder)
        for draw in range(DRAWS):
            for item in generate(labels, seed=seed + draw).items:
                found.setdefault(str(item.task), []).append(item)
        for item, _ in russian.stream(labels, QuestionOptions(seed=seed), skipped=Counter()):
            found.setdefault(str(item.task), []).append(item)
    return found


def _index(english_tasks: dict[str, Any], russian_tasks: dict[str, Any]) -> str:
    lines = [
        (
            "`seldio convert LABELS --to so-bench` asks these questions in English, `--to ruenvaqa` in Russian. "
            "Only questions with exactly one right answer are asked; `--margin` says by how much things must differ."
        ),
        "",
    ]
    for title, tasks in (("English, as in SO-Bench", english_tasks), ("Russian, as in ruEnvAQA", russian_tasks)):
        rows = [(f"[{name}](tasks/{file_of(name)}.md)", task.question_class, ANSWERS[task.answer], f"{task.weight:,}")
                for name, task in tasks.items()]  # fmt: skip
        lines += [f"## {title}", "", *table(("task", "group", "answer", "weight"), rows)]
    refused = {**so_bench.REFUSED, **russian.REFUSED}
    lines += [("The weights are the proportions that `--total` keeps to; for SO-Bench, the numbers "
              "of published questions."), ""]  # fmt: skip
    lines += ["## Tasks that labels cannot answer", ""]
    lines += ["These tasks of the benchmarks are read and scored, and not asked.", ""]
    lines += table(("task", "why"), [(f"`{name}`", why) for name, why in refused.items()])
    lines += ["```{toctree}", ":hidden:", ":glob:", "", "tasks/*", "```"]
    return page("Tasks", *lines)


def _page(task: Task[Any], items: list[Item], *, russian: bool) -> str:
    language, target = ("Russian", "ruenvaqa") if russian else ("English", "so-bench")
    style = "ruEnvAQA" if russian else "SO-Bench"
    lines = [f"A question in {language} in the style of {style}, whose answer is {ANSWERS[task.answer]}.", ""]
    lines += facts(
        ("Group", task.question_class),
        ("Asked by", f'`seldio convert LABELS --to {target} --tasks "{task.name}"`'),
        ("Weight", f"{task.weight:,}" + ("" if russian else " published questions")),
    )
    if items:
        lines += ["## Example", "", *_example(items[0])]
    lines += ["## How answers are read and scored", "", *_scored(task, russian), ""]
    lines += _wordings(task, items)
    return page(task.name, *lines)


def _wordings(task: Task[Any], items: list[Item]) -> list[str]:
    """A question in each wording of a task, with its answer; of a task without such a list, a few questions."""
    wordings = sorted(
        (each for way in ENGLISH.ways.get(task.name, ()) for each in way.questions), key=len, reverse=True
    )
    shown: dict[str, Item] = {}
    for item in items:
        asked = (each for each in wordings if re.search(_pattern(each), item.question)) if wordings else [item.question]
        if (wording := next(iter(asked), None)) is not None:
            shown.setdefault(wording, item)
    if wordings:
        rows = [(item.question, item.answer) for item in shown.values()]
        return ["## Wordings", "", "The seed chooses the wording. One question in each:", "",
                *table(("question", "answer"), rows)]  # fmt: skip
    rows = [(item.question, *_choice(item)) for item in list(shown.values())[1 : SHOWN + 1]]
    return ["## More questions", "", *table(("question", "options", "answer"), rows)] if rows else []


def _pattern(wording: str) -> str:
    """Return a pattern for a wording in a question, whatever stands in its places."""
    return ".+".join(map(re.escape, re.split(r"\{\w+\}", wording)))


def _choice(item: Item) -> tuple[str, str]:
    """The options of a question, and its answer with its letter."""
    options = [f"{letter}. {option}" for letter, option in zip("ABCD", item.options or (), strict=False)]
    return "; ".join(options), next((each for each in options if each.startswith(f"{item.answer}.")), item.answer or "")


def _example(item: Item) -> Iterator[str]:
    yield from ("A question about a scene of `seldio demo`:", "")
    yield f"> {item.question}"
    for letter, option in zip("ABCD", item.options or (), strict=False):
        yield f"> <br>{letter}. {option}"
    yield from ("", f"Answer: **{item.answer}**", "")
    if item.canonical_answer not in (None, item.answer):
        yield from (f"Canonical answer: **{item.canonical_answer}**", "")
    if item.events:
        rows = [(each.class_name, _number(each.onset), _number(each.offset), _number(each.azimuth),
                 _number(each.elevation), _number(each.distance)) for each in item.events]  # fmt: skip
        yield from ("It follows from these labels:", "")
        yield from table(("class", "from (s)", "to (s)", "azimuth (°)", "elevation (°)", "distance (m)"), rows)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _scored(task: Task[Any], russian: bool) -> Iterator[str]:
    if russian:
        yield "An answer is right if it is the letter of the right option (exact match). Longer answers are read for a"
        yield "letter as well, and the report shows both numbers; see [profiles](../profiles.md)."
        return
    if task.read is None:
        yield "Only a judge can score it; without one it is left out."
    else:
        what = READ.get(task.read, task.read) if isinstance(task.read, str) else ANSWERS[task.answer]
        yield f"Without a judge, seldio reads {what} out of the text of the answer."
    yield f"The official measure is `{task.metric}`."
    if task.ask:
        yield from ("", f"A judge is told: {task.ask}")
    if task.threshold:
        rows = []
        for profile in ANSWER_PROFILES.values():
            limit = getattr(profile, task.threshold)
            relative = task.threshold == "distance" and profile.relative
            unit = task.unit if task.unit == "°" else f" {task.unit}"
            rows.append(
                (
                    f"`{profile.name}`",
                    f"{limit:.0%} of the true distance" if relative else f"{limit:g}{unit}",
                )
            )
        yield from ("", "An answer is right if its error is at most:", "")
        yield from table(("profile", "tolerance"), rows)
    else:
        yield "The answer is right or wrong; there is no tolerance."


# --- ways of scoring ------------------------------------------------------------------------------------------


def _profiles() -> str:
    lines = [("`seldio score --profile NAME` scores the way a challenge or benchmark does; `seldio score --profiles` "
             "lists the profiles."), "", "## Labels", ""]  # fmt: skip
    for label in LABEL_PROFILES:
        also = f"Also called {', '.join(f'`{alias}`' for alias in label.aliases)}." if label.aliases else ""
        lines += [f"### {label.name}", "", f"{sentence(label.title)} Agrees with {label.program}. {also}".rstrip(), ""]
        lines += table(("score", "what"), [(column.title, column.meaning) for column in label.columns])
        lines += [f"Averages: {', '.join(label.averages)}.", ""]
        if label.misread:
            lines += ["What the program makes of other formats, which seldio scores for what they are:", ""]
            lines += [f"- `{layout}`: {cell(text)}." for layout, text in label.misread.items()] + [""]
    lines += ["## Energy maps", ""]
    lines += [f"### {maps.PROFILE}", "", f"{sentence(scorers.MAPS[maps.PROFILE])} Agrees with {maps.PROGRAM}.", ""]
    scores = ", ".join(column.name for column in MAP_SCORES)
    lines += [f"Scores: {scores}. Averages: {', '.join(maps.AVERAGES)}.", ""]
    lines += ["## SO-Bench", ""]
    for answers in ANSWER_PROFILES.values():
        title = sentence(scorers.ANSWERS[answers.name])
        lines += [f"### {answers.name}", "", f"{title} Agrees with {answers.program}.", ""]
        lines += ["What is known to be wrong with it:", "", *(f"- {fault}" for fault in FAULTS), ""]
    rest = [(f"`{name}`", title) for name, title in scorers.ANSWERS.items() if not name.startswith("so-bench")]
    lines += ["## Other questions", "", *table(("profile", "what"), rest)]
    return page("Profiles", *lines)
