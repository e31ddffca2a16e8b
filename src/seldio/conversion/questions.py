"""Questions made from labels: file by file, and the same bytes with any workers."""

from __future__ import annotations

import dataclasses
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import compress
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
import pyarrow as pa

from seldio import benchmarks, formats
from seldio.catalogues import own_datasets
from seldio.catalogues.parts import Part
from seldio.check.labels import Faults, vet
from seldio.conversion.clip_audio import RATE, RecordingFinder, cut
from seldio.conversion.inputs import label_parts, local_files
from seldio.conversion.outputs import single_file
from seldio.conversion.report import QuestionsMade, SoundOfQuestions
from seldio.errors import SeldioError, UsageError
from seldio.files import Source
from seldio.files.names import is_zip
from seldio.findings import raise_errors
from seldio.formats import get
from seldio.formats.items import ItemFormat
from seldio.formats.json_items import JsonItems
from seldio.formats.qa_json import ITEMS
from seldio.parallel import parallel_map
from seldio.rules.ignored import why_no_labels
from seldio.schema.events import origin_of
from seldio.schema.qa import Item
from seldio.schema.splits import TEST
from seldio.tasks import english, mix
from seldio.tasks.even import UNEVEN
from seldio.tasks.generation import told_split
from seldio.tasks.specs import QuestionOptions
from seldio.tasks.task import hashed
from seldio.text import clipped, listed, plural, printable

Place = str | os.PathLike[str]
Mask = np.ndarray[Any, np.dtype[np.bool_]]
#: What every question has; a target that cannot carry all of it is none for labels.
ESSENTIAL = frozenset({"id", "audio", "task", "question", "answer", "canonical_answer"})
#: The target whose questions are Russian, with options.
RUSSIAN = "ruenvaqa"
#: What to do where clips cannot be cut.
_UNCUT = "--no-audio makes the questions without cutting the recordings"
#: Bytes of labels that are asked about together: their questions are many times as long.
PART = 1 << 18


# --- what is done with a part -----------------------------------------------------------------------------------------


@dataclasses.dataclass
class QuestionTally:
    """Counts of asked and skipped questions, by task, and by task and reason; formats and number of recordings."""

    asked: Counter[str] = dataclasses.field(default_factory=Counter)
    skipped: Counter[tuple[str, str]] = dataclasses.field(default_factory=Counter)
    layouts: dict[str, None] = dataclasses.field(default_factory=dict)
    splits: Counter[str | None] = dataclasses.field(default_factory=Counter)  # of recordings; None: nothing tells it
    unheard: list[str] = dataclasses.field(default_factory=list)  # clips whose recording is not here
    faults: Faults = dataclasses.field(default_factory=Faults)

    def add(self, other: QuestionTally) -> None:
        """Count what was made of another part too."""
        self.asked += other.asked
        self.skipped += other.skipped
        self.layouts |= other.layouts
        self.splits += other.splits
        self.unheard += other.unheard
        self.faults += other.faults


class QuestionBatch(NamedTuple):
    """The texts of a part's items, and the keys to choose them by."""

    texts: list[bytes]
    keys: mix.Keys
    tally: QuestionTally


@dataclasses.dataclass(frozen=True)
class MakingQuestions:
    """Make items of the labels of a part, as texts of a format."""

    options: dict[str, Any]
    russian: bool
    text: str
    keyed: bool
    balance: bool
    force: bool
    finder: RecordingFinder
    folder: Path | None  # of the questions, from which paths of recordings count; None where the clips are cut out

    def __call__(self, part: Part) -> QuestionBatch:
        """Ask about the labels of *part*."""
        module = task_module(self.russian)
        labels = part.labels(raise_errors)
        faults = vet(labels)
        if not self.force and faults.errors()[0]:
            labels = []  # nothing is asked in the end
        tally = QuestionTally(faults=faults)
        texts: list[bytes] = []
        keys: list[tuple[Any, ...]] = []
        for table, layout in ((recognized.reading.table, recognized.reading.format) for recognized in labels):
            recordings = self._recordings(table)
            text = formats.get(ITEMS.name if recordings and self.folder is None else self.text, ItemFormat)
            tally.layouts[layout.name] = None
            tally.splits.update(told_split(file.name, self.options.get("own")) for file in origin_of(table).files)
            tally.unheard += [file.clip for file in origin_of(table).files if file.name not in recordings]
            for item in module.stream(table, skipped=tally.skipped, recordings=recordings, **self.options):
                texts.append(encoded(item, cast("JsonItems", text)))
                tally.asked[item.task] += 1
                if self.keyed:
                    keys.append(mix.key(item, self.options["seed"], balance=self.balance))
        return QuestionBatch(texts, mix.as_keys(keys, balance=self.balance), tally)

    def _recordings(self, table: pa.Table) -> dict[str, str]:
        files = origin_of(table).files
        found = ((file.name, self.finder.find(file.name, file.clip)) for file in files)
        recordings = ((name, recording) for name, recording in found if recording)
        if self.folder is None:
            return {name: recording.name for name, recording in recordings}
        return {name: recording.named_from(self.folder) for name, recording in recordings}


def task_module(russian: bool) -> ModuleType:
    """The module with the tasks."""
    if not russian:
        return english
    from seldio.tasks import russian as module

    return module


def encoded(item: Item, target: JsonItems) -> bytes:
    """The text of *item* as a record of *target*, without what stands between records."""
    return target.layout.record(target.record(item)).encode()


@dataclasses.dataclass(frozen=True)
class CuttingSound:
    """Cut the audio that items of the format ``items`` ask about out of recordings."""

    root: str  # where the recordings are
    out: str  # the folder for ``audio/``
    text: str  # the format of the texts that come out
    rate: int
    channels: int | None  # that the recordings need; None for any number

    def __call__(self, texts: Sequence[bytes]) -> tuple[list[bytes], list[str]]:
        """The items with their new audio, and what was odd about it."""
        target, remarks = cast("JsonItems", formats.get(self.text, ItemFormat)), list[str]()
        given = map(Item.model_validate_json, texts)
        items = cut(given, self.root, self.out, rate=self.rate, channels=self.channels, say=remarks.append)
        return [encoded(item, target) for item in items], remarks


# --- the whole --------------------------------------------------------------------------------------------------------


def make_questions(
    source: Source, out: Place | BinaryIO, target: ItemFormat, *, format: str | None, options: QuestionOptions
) -> QuestionsMade:
    """Make questions from labels; nothing is written unless everything is right."""
    check_target(target)
    place = _place(out, target, options.split or TEST)
    text_format = target.name if isinstance(target, JsonItems) else ITEMS.name
    cuts = isinstance(place, Path) and options.audio is not False
    work = MakingQuestions(
        options.options() | {"own": own_datasets(source, raise_errors)} | _spoken(target, options.language),
        target.name == RUSSIAN,
        text_format,
        options.selects,
        options.balance,
        options.force,
        RecordingFinder.of(source),
        None if cuts else place.parent if isinstance(place, Path) else Path(),
    )
    module = task_module(work.russian)
    parts = label_parts(source, get(format) if format is not None else None, raise_errors, by_clip=True, size=PART)
    if not parts:
        raise UsageError(f"no labels in {printable(source.path)}{why_no_labels(source)}")
    tally, batches = QuestionTally(), list[QuestionBatch]()
    made = parallel_map(
        work, parts, what="making questions", size=attrgetter("size"), here=any(part.packed for part in parts)
    )
    for batch in made:
        tally.add(batch.tally)
        batches.append(batch)
    forced = tally.faults.settle(options.force)
    kept, texts = _chosen(batches, tally, options, module)
    remarks = list[str]()
    if "answer_meta" not in target.carries and target.name != RUSSIAN:
        remarks.append(f"{target.name} cannot hold answer_meta, the answer as numbers")
    sound = _sound(tally, cuts)
    if sound == "whole":
        remarks.append(f"the audio paths lead to whole recordings: a model hears {_heard(target)}")
    if options.split is None:
        splits = {split or TEST for split in tally.splits}
        place = _place(out, target, splits.pop() if len(splits) == 1 else "questions")
        if unknown := tally.splits[None]:
            remarks.append(
                f"nothing tells the split of {plural(unknown, 'recording')}: written as {TEST}; "
                "--fill split=NAME says which"
            )
    sources = [source.path, *local_files(parts)]
    with _telling_what_stays(place, sound), single_file(place, sources) as (stream, written):
        if sound == "cut":
            assert isinstance(place, Path)
            measures = _recordings_of(target)
            rate, channels = measures.get("rate", RATE), measures.get("channels")
            cutting = CuttingSound(source.path, str(place.parent), text_format, rate, channels)
            cutouts = [*parallel_map(cutting, texts, what="cutting audio")]
            texts = [batch for batch, _ in cutouts]
            remarks += [remark for _, batch in cutouts for remark in batch]
        _write(stream, texts, target)
    remarks += [*map(str, forced), *_none_left(tally, kept, options, module)]
    return _report(parts, tally, target, written, kept, module, tuple(remarks), sound)


def _recordings_of(target: ItemFormat) -> Mapping[str, Any]:
    benchmark = benchmarks.find(target.name)
    return {} if benchmark is None else benchmark.recordings


def _sound(tally: QuestionTally, cuts: bool) -> SoundOfQuestions:
    """Return how models hear the clips; raise SeldioError if some that are to be cut are missing."""
    count = tally.splits.total()
    if len(tally.unheard) == count:
        return "absent"
    if cuts and tally.unheard:
        missing = f"{plural(len(tally.unheard), 'recording')} of {count:,} {'is' if len(tally.unheard) == 1 else 'are'}"
        raise SeldioError(f"{missing} neither among nor next to the labels ({listed(tally.unheard, 3)}). {_UNCUT}")
    return "cut" if cuts else "whole"


def _heard(target: ItemFormat) -> str:
    seconds = _recordings_of(target).get("heard")
    first = f"the first {seconds:g} s of each" if seconds else "each from its beginning"
    return f"{first}, and not the part that a question is about, unless what plays it reads start and end"


def _spoken(target: ItemFormat, language: str | None) -> dict[str, Any]:
    if language not in (None, "en", "ru"):
        raise UsageError(f"unknown language {clipped(str(language))}; choose from en, ru")
    if target.name != RUSSIAN:
        return {"language": language or "en"}
    if language == "en":
        raise UsageError(f"{target.name} is asked in Russian; --to so-bench asks in either language")
    return {}


def check_target(target: ItemFormat) -> None:
    """See that labels can be asked in *target*."""
    if not _can_hold(target):
        if target.ignored:  # its questions are about whole recordings
            raise UsageError(
                f"{target.name} is made from questions: make them first (--to so-bench), then convert them"
            )
        names = ", ".join(format.name for format in formats.ITEM_FORMATS if _can_hold(format))
        raise UsageError(f"questions from labels can be written as {names}; {target.name} cannot hold them")


def _can_hold(target: ItemFormat) -> bool:
    whole = target.holds == "items" and set(target.carries) >= ESSENTIAL
    return target.name == RUSSIAN or (whole and "options" not in target.needs and not target.ignored)


def _place(out: Place | BinaryIO, target: ItemFormat, split: str) -> Path | BinaryIO:
    """The file to write: in a folder, one named after the split, or ``questions`` where there are several."""
    if not isinstance(out, str | os.PathLike):
        return out
    path = Path(out)
    if is_zip(path.name):
        raise UsageError(f"questions are written as one file, not an archive: {printable(str(path))}")
    if not path.is_dir() and not os.fspath(out).endswith(("/", os.sep)):
        return path
    if re.fullmatch(r"[\w-][\w.-]*", split) is None:
        raise UsageError(f"the split {clipped(split)} cannot name a file in {printable(str(path))}: use -o FILE")
    return path / f"{split}{target.suffix}"


def _chosen(
    batches: Sequence[QuestionBatch], tally: QuestionTally, options: QuestionOptions, module: ModuleType
) -> tuple[Mapping[str, int], list[list[bytes]]]:
    """Return how many items of each task are written, and their texts by batch; count up what is too uneven."""
    if not options.selects:
        return tally.asked, [batch.texts for batch in batches]
    keys = np.concatenate([batch.keys for batch in batches])
    keep, uneven = mix.choice(keys, tally.asked, **_limits(options, module))
    tally.skipped.update({(task, UNEVEN): number for task, number in uneven.items()})
    counts = dict(zip(*np.unique(keys["task"][keep], return_counts=True), strict=True))
    kept = {task: int(counts[code]) for task in tally.asked if (code := np.uint64(hashed(task))) in counts}
    masks = np.split(keep, np.cumsum([len(batch.keys) for batch in batches])[:-1])
    return kept, [list(compress(batch.texts, mask)) for batch, mask in zip(batches, masks, strict=True)]


def _limits(options: QuestionOptions, module: ModuleType) -> dict[str, Any]:
    weights = {name: task.weight for name, task in module.TASKS.items()}
    return {"per_task": options.per_task, "balance": options.balance, "total": options.total, "proportions": weights}


def _none_left(
    tally: QuestionTally, kept: Mapping[str, int], options: QuestionOptions, module: ModuleType
) -> Iterator[str]:
    """Yield sentences on why there are fewer than the total, which tasks have none left, and which are too uneven."""
    even = {task: count - tally.skipped[task, UNEVEN] for task, count in tally.asked.items()}
    wanted = mix.targets(even, **_limits(options, module)) if options.selects else even
    gone = [task for task in module.TASKS if tally.asked[task] and not kept.get(task)]
    made = sum(kept.values())
    number = plural(made, "question")
    if options.total is not None and made < options.total:
        limits = [name for name, on in (("--total balanced", options.balance), ("--per-task", options.per_task)) if on]
        leave = "leave" if len(limits) > 1 else "leaves"
        why = (
            f"{' and '.join(limits)} {leave} no more of the {sum(tally.asked.values()):,} that can be asked"
            if limits
            else "no more can be asked of these labels; more clips, a smaller --hop or smaller margins give more"
        )
        yield f"{number} instead of --total {options.total:,}: {why}"
    small = [task for task in gone if even[task] and not wanted.get(task)]
    uneven = "too few of them even each other's answers out; ask about more labels, or leave out --total balanced"
    for tasks, why in (
        (small, "their share of the total is less than one; a greater --total keeps some"),
        ([task for task in gone if task not in small], uneven),
    ):
        names = ", ".join(f"{task} ({tally.asked[task]:,} asked)" for task in tasks)
        if names:
            yield f"no question of {names} among the {number}: {why}"


@contextmanager
def _telling_what_stays(place: Path | BinaryIO, sound: SoundOfQuestions) -> Iterator[None]:
    try:
        yield
    except SeldioError as error:
        if sound == "cut":
            error.args = (f"{error.text}. {_UNCUT}",)
            folder = place.parent / "audio" if isinstance(place, Path) else None
            if folder is not None and folder.is_dir():
                what = "its clips are complete, and the same command continues from them; the questions are not written"
                error.args = (f"{error.text} {printable(str(folder))} is kept: {what}",)
        raise


def _write(stream: BinaryIO, texts: Iterable[list[bytes]], target: ItemFormat) -> None:
    if not isinstance(target, JsonItems):
        items = [Item.model_validate_json(text) for batch in texts for text in batch]
        named = [_numbered(item, number) for number, item in enumerate(items, 1)] if target.name == RUSSIAN else items
        stream.write(target.write(named))
        return
    layout, between = target.layout, b""
    for batch in texts:
        if batch:
            stream.write((between or layout.head.encode()) + layout.joint.encode().join(batch))
            between = layout.joint.encode()
    stream.write(layout.tail.encode() if between else layout.file([]).encode())


def _numbered(item: Item, number: int) -> Item:
    """Return *item* with a running number, as the benchmark has (32 bits); the hash of its content goes to ``meta``."""
    meta = {**((item.extra or {}).get("meta") or {}), "qa_id": f"qa_{int(item.id):x}"}  # type: ignore[dict-item]
    return item.model_copy(update={"id": str(number), "extra": {**(item.extra or {}), "meta": meta}})


def _report(
    parts: Sequence[Part], tally: QuestionTally, target: ItemFormat, written: tuple[str, ...], kept: Mapping[str, int],
    module: ModuleType, remarks: tuple[str, ...], sound: SoundOfQuestions,
) -> QuestionsMade:  # fmt: skip
    skipped: dict[str, dict[str, int]] = {}
    for (task, reason), count in tally.skipped.items():
        skipped.setdefault(task, {})[reason] = count
    asked = {task: tally.asked[task] for task in module.TASKS if task in tally.asked or task in skipped}
    number = sum(kept.values())
    return QuestionsMade(
        formats=(" and ".join(tally.layouts),),
        target=target.name,
        files=sum(len(part.files) for part in parts),
        written=written,
        clips=tally.splits.total(),
        rows=(number, number),
        losses={},
        notes=(),
        findings=(),
        asked=asked,
        kept={task: kept.get(task, 0) for task in asked},
        skipped={task: dict(sorted(skipped[task].items())) for task in (*asked, "*") if task in skipped},
        refused=dict(module.REFUSED),
        remarks=remarks,
        sound=sound,
    )
