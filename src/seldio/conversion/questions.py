"""Questions made from labels: file by file, and the same bytes with any workers."""

from __future__ import annotations

import dataclasses
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import compress
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, cast

from seldio import benchmarks, formats
from seldio.catalogues import Catalogue
from seldio.catalogues.parts import Part
from seldio.check.labels import first_errors, settle
from seldio.conversion.clip_audio import RATE, RecordingFinder, cut
from seldio.conversion.inputs import label_parts, raising_unknown
from seldio.conversion.outputs import single_file
from seldio.conversion.report import QuestionsMade, SoundOfQuestions
from seldio.errors import SeldioError, UsageError
from seldio.files.names import suffix_of
from seldio.findings import raise_errors
from seldio.formats import LabelReading, get
from seldio.formats.items import ItemFormat
from seldio.formats.json_items import ITEMS, JsonItems
from seldio.formats.own_dataset import OwnDatasets
from seldio.parallel import parallel_map
from seldio.schema.arrays import uncollected
from seldio.schema.events import origin_of
from seldio.schema.qa import Item
from seldio.schema.splits import TEST
from seldio.tasks import mix, so_bench
from seldio.tasks.scene import Lot, told_split
from seldio.tasks.specs import QuestionOptions
from seldio.text import clipped, listed, plural, printable

Place = str | os.PathLike[str]
#: What every question has; a target that cannot carry all of it is none for labels.
ESSENTIAL = frozenset({"id", "audio", "task", "question", "answer", "canonical_answer"})
#: The target whose questions are Russian, with options.
RUSSIAN = "ruenvaqa"
#: What to do where clips cannot be cut.
_UNCUT = "--no-audio makes the questions without cutting the recordings"
#: Bytes of labels that are asked about together: their questions are many times as long.
PART = 1 << 18


@dataclasses.dataclass
class QuestionBatch:
    """The items of some labels as texts, what they are chosen by, and counts by task, and by task and reason."""

    readings: list[LabelReading] = dataclasses.field(default_factory=list)
    texts: list[str] = dataclasses.field(default_factory=list)
    lots: list[Lot] = dataclasses.field(default_factory=list)
    asked: Counter[str] = dataclasses.field(default_factory=Counter)
    skipped: Counter[tuple[str, str]] = dataclasses.field(default_factory=Counter)
    layouts: dict[str, None] = dataclasses.field(default_factory=dict)
    splits: Counter[str | None] = dataclasses.field(default_factory=Counter)  # of recordings; None: nothing tells it
    unheard: list[str] = dataclasses.field(default_factory=list)  # clips whose recording is not here

    def add(self, other: QuestionBatch) -> None:
        """Count what was made of other labels too; their texts stay where they are."""
        self.readings += other.readings
        self.lots += other.lots
        self.asked += other.asked
        self.skipped += other.skipped
        self.layouts |= other.layouts
        self.splits += other.splits
        self.unheard += other.unheard


def asked_about(
    part: Part, target: str, options: QuestionOptions, datasets: OwnDatasets | None, finder: RecordingFinder
) -> QuestionBatch:
    """Make items of the labels of a part, as texts of *target*."""
    batch = QuestionBatch(part.labels(raise_errors))
    if not options.force and first_errors(batch.readings)[0]:
        return batch  # of impossible directions nothing can be asked
    for table, layout in ((reading.table, reading.format) for reading in batch.readings):
        files = origin_of(table).files
        places = {file.name: finder.find(file.name, file.clip) for file in files}
        recordings = {name: place for name, place in places.items() if place is not None}
        text = get(target, ItemFormat)
        if not isinstance(text, JsonItems) or (recordings and finder.folder is None):
            text = ITEMS
        batch.layouts[layout.name] = None
        batch.splits.update(told_split(file.name, datasets) for file in files)
        batch.unheard += [file.clip for file in files if file.name not in recordings]
        with uncollected():
            more = {"skipped": batch.skipped, "datasets": datasets, "recordings": recordings}
            items = [*task_module(target).stream(table, options, **more)]
            batch.texts += encoded((item for item, _ in items), text)
        batch.asked.update(lot.task for _, lot in items)
        if options.selects:
            batch.lots += [lot for _, lot in items]
    return batch


def task_module(target: str) -> ModuleType:
    """Return the module with the tasks that are asked in a format."""
    if target != RUSSIAN:
        return so_bench
    from seldio.tasks import russian

    return russian


def encoded(items: Iterable[Item], target: JsonItems) -> list[str]:
    """Return the texts of *items* as records of *target*, without what stands between records."""
    texts = []
    for item in items:
        values = vars(item) | {
            "answer_meta": None if item.answer_meta is None else vars(item.answer_meta),
            "events": None if item.events is None else [*map(vars, item.events)],
        }
        texts.append(target.layout.record(target.record(values)))
    return texts


def _cut(texts: Sequence[str], *, target: str, root: str, out: Path) -> tuple[list[str], list[str]]:
    """Cut the audio that items ask about out of the recordings in *root*; return the items, and remarks on it."""
    remarks, items, text = list[str](), map(Item.model_validate_json, texts), get(target, ItemFormat)
    benchmark = benchmarks.find(target)
    sound = benchmark.recordings if benchmark is not None else {}
    rate, channels = sound.get("rate", RATE), sound.get("channels")
    moved = cut(items, root, out, rate=rate, channels=channels, say=remarks.append)
    return encoded(moved, text if isinstance(text, JsonItems) else ITEMS), remarks


# --- the whole --------------------------------------------------------------------------------------------------------


def make_questions(
    catalogue: Catalogue, out: Place | BinaryIO, target: ItemFormat, options: QuestionOptions
) -> QuestionsMade:
    """Make questions from labels; nothing is written unless everything is right."""
    source = catalogue.source
    _refuse(target, options.language)
    for finding in catalogue.findings:
        raising_unknown(raise_errors)(finding)
    place = _place(out, target, options.split or TEST)
    cuts = isinstance(place, Path) and options.audio is not False
    folder = None if cuts else place.parent if isinstance(place, Path) else Path()
    finder = RecordingFinder.of(source, folder)
    work = partial(asked_about, target=target.name, options=options, datasets=catalogue.said, finder=finder)
    parts = [each for part in label_parts(catalogue) for each in part.by_clip().cut(PART)]
    if not parts:
        from seldio.rules.collection import why_no_labels

        raise UsageError(f"no labels in {printable(source.path)}{why_no_labels(source)}")
    here = any(part.packed for part in parts)
    batches = [*parallel_map(work, parts, what="making questions", size=attrgetter("size"), here=here)]
    made = QuestionBatch()
    for batch in batches:
        made.add(batch)
    forced = settle(made.readings, options.force)
    tasks = task_module(target.name)
    weights = {name: task.weight for name, task in tasks.TASKS.items()}
    texts, chosen, why_fewer = _chosen(batches, made, options, weights)
    sound, remarks = _heard(made, target, cuts)
    if options.split is None:
        splits = {split or TEST for split in made.splits}
        place = _place(out, target, splits.pop() if len(splits) == 1 else "questions")
        if unknown := made.splits[None]:
            remarks.append(
                f"nothing tells the split of {plural(unknown, 'recording')}: written as {TEST}; "
                "--fill split=NAME says which"
            )
    sources = [source.path, *(file.entry.real for part in parts for file in part.files if file.entry.real is not None)]
    with single_file(place, sources) as (stream, written):
        if sound == "cut":
            texts, odd = _cut_all(texts, target, source.path, cast("Path", place).parent)
            remarks += odd
        stream.write(_written([text for batch in texts for text in batch], target))
    skipped: dict[str, dict[str, int]] = {}
    for (task, reason), count in sorted(made.skipped.items()):
        skipped.setdefault(task, {})[reason] = count
    asked = {task: made.asked[task] for task in tasks.TASKS if task in made.asked or task in skipped}
    return QuestionsMade(
        formats=(" and ".join(made.layouts),),
        target=target.name,
        files=sum(len(part.files) for part in parts),
        written=written,
        clips=made.splits.total(),
        rows=(chosen.total(), chosen.total()),
        asked=asked,
        kept={task: chosen[task] for task in asked},
        skipped={task: skipped[task] for task in (*asked, "*") if task in skipped},
        refused=dict(tasks.REFUSED),
        remarks=(*remarks, *map(str, forced), *why_fewer),
        sound=sound,
    )


def _heard(made: QuestionBatch, target: ItemFormat, cuts: bool) -> tuple[SoundOfQuestions, list[str]]:
    """Return how models hear the clips, and remarks on what *target* holds of them.

    Raises:
        SeldioError: recordings that are to be cut are missing.
    """
    remarks = list[str]()
    if "answer_meta" not in target.carries and target.name != RUSSIAN:
        remarks.append(f"{target.name} cannot hold answer_meta, the answer as numbers")
    count, unheard = made.splits.total(), made.unheard
    if len(unheard) == count:
        return "absent", remarks
    if cuts and unheard:
        missing = f"{plural(len(unheard), 'recording')} of {count:,} {'is' if len(unheard) == 1 else 'are'}"
        raise SeldioError(f"{missing} neither among nor next to the labels ({listed(unheard, 3)}). {_UNCUT}")
    if cuts:
        return "cut", remarks
    benchmark = benchmarks.find(target.name)
    heard = benchmark.recordings.get("heard") if benchmark is not None else None
    first = f"the first {heard:g} s of each" if heard else "each from its beginning"
    whole = f"the audio paths lead to whole recordings: a model hears {first}"
    remarks.append(f"{whole}, and not the part that a question is about, unless what plays it reads start and end")
    return "whole", remarks


def _cut_all(
    texts: Sequence[Sequence[str]], target: ItemFormat, root: str, top: Path
) -> tuple[list[list[str]], list[str]]:
    """Cut the audio that items ask about into ``audio/`` below *top*; return the items, and remarks on it."""
    cutting = partial(_cut, target=target.name, root=root, out=top)
    try:
        cutouts = [*parallel_map(cutting, texts, what="cutting audio")]
    except SeldioError as error:
        error.args = (f"{error.text}. {_UNCUT}; whole clips stay in {printable(str(top / 'audio'))}",)
        raise
    return [batch for batch, _ in cutouts], [remark for _, remarks in cutouts for remark in remarks]


def _refuse(target: ItemFormat, language: str | None) -> None:
    """Raise UsageError if labels cannot be asked in *target* or in *language*."""
    if not _can_hold(target):
        if target.ignored:  # its questions are about whole recordings
            raise UsageError(
                f"{target.name} is made from questions: make them first (--to so-bench), then convert them"
            )
        names = ", ".join(format.name for format in formats.ITEM_FORMATS if _can_hold(format))
        raise UsageError(f"questions from labels can be written as {names}; {target.name} cannot hold them")
    if language not in (None, "en", "ru"):
        raise UsageError(f"unknown language {clipped(str(language))}; choose from en, ru")
    if target.name == RUSSIAN and language == "en":
        raise UsageError(f"{target.name} is asked in Russian; --to so-bench asks in either language")


def _can_hold(target: ItemFormat) -> bool:
    whole = target.holds == "items" and set(target.carries) >= ESSENTIAL
    return target.name == RUSSIAN or (whole and "options" not in target.needs and not target.ignored)


def _place(out: Place | BinaryIO, target: ItemFormat, split: str) -> Path | BinaryIO:
    """Return the file to write: in a folder, one named after the split, or ``questions`` where there are several."""
    if not isinstance(out, str | os.PathLike):
        return out
    path = Path(out)
    if suffix_of(path.name) == "zip":
        raise UsageError(f"questions are written as one file, not an archive: {printable(str(path))}")
    if not path.is_dir() and not os.fspath(out).endswith(("/", os.sep)):
        return path
    if re.fullmatch(r"[\w-][\w.-]*", split) is None:
        raise UsageError(f"the split {clipped(split)} cannot name a file in {printable(str(path))}: use -o FILE")
    return path / f"{split}{target.suffix}"


# --- which questions are kept -----------------------------------------------------------------------------------------


def _chosen(
    batches: Sequence[QuestionBatch], made: QuestionBatch, options: QuestionOptions, weights: Mapping[str, int]
) -> tuple[list[list[str]], Counter[str], list[str]]:
    """Return the texts to write by batch, how many there are of each task, and sentences on why there are fewer."""
    if not options.selects:
        return [batch.texts for batch in batches], made.asked, []
    keep, uneven = mix.choice(made.lots, options, weights)
    masks = [[lot in keep for lot in batch.lots] for batch in batches]
    chosen = Counter(lot.task for lot in made.lots if lot in keep)
    made.skipped += uneven
    texts = [list(compress(batch.texts, mask)) for batch, mask in zip(batches, masks, strict=True)]
    number, whys = plural(chosen.total(), "question"), list[str]()
    if options.total is not None and chosen.total() < options.total:
        limits = [name for name, on in (("--total balanced", options.balance), ("--per-task", options.per_task)) if on]
        why = "no more can be asked of these labels; more clips, a smaller --hop or smaller margins give more"
        if limits:
            leave = "leave" if len(limits) > 1 else "leaves"
            why = f"{' and '.join(limits)} {leave} no more of the {made.asked.total():,} that can be asked"
        whys.append(f"{number} instead of --total {options.total:,}: {why}")
    if lost := [f"{task} ({count:,} asked)" for task, count in made.asked.items() if not chosen[task]]:
        why = "none is left once answers are balanced" if options.balance else "its share is less than one"
        which = f"no question of {', '.join(lost)} among the {number}"
        whys.append(f"{which}: {why}; ask about more labels, or for more in all")
    return texts, chosen, whys


# --- writing ----------------------------------------------------------------------------------------------------------


def _written(texts: Sequence[str], target: ItemFormat) -> bytes:
    if isinstance(target, JsonItems):
        return target.layout.file(texts).encode()
    items = [Item.model_validate_json(text) for text in texts]
    if target.name == RUSSIAN:  # running numbers of 32 bits, as the benchmark has; the hash of the content: ``meta``
        metas = [{**((item.extra or {}).get("meta") or {}), "qa_id": f"qa_{int(item.id):x}"} for item in items]  # type: ignore[dict-item]
        items = [
            item.model_copy(update={"id": str(number), "extra": {**(item.extra or {}), "meta": meta}})
            for number, (item, meta) in enumerate(zip(items, metas, strict=True), 1)
        ]
    return target.write(items)
