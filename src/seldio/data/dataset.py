"""One dataset, whatever it is made of: clips, labels, questions, recordings and videos."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from fnmatch import fnmatchcase
from functools import cached_property
from inspect import signature
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa

from seldio import formats
from seldio.catalogues.look import named_like_labels
from seldio.catalogues.trees import TYPES
from seldio.check.facts import label_counts
from seldio.data.arrow_tables import Events, Items
from seldio.data.index import ClipMedia, Index, holds_predictions
from seldio.errors import UsageError
from seldio.files import open_source
from seldio.files.names import suffix_of
from seldio.findings import raise_errors
from seldio.formats import get
from seldio.schema.arrays import pc
from seldio.schema.clips import RECORDINGS, Clip, clip_table
from seldio.text import listed, meant, plural, printable
from seldio.vocabularies import spelling, vocabulary

if TYPE_CHECKING:
    from seldio.data.windowing import WindowOptions, Windows
    from seldio.schema import arrow_types

#: A field of questions, and the values of which it has one.
_Condition = tuple[str, tuple[str | int, ...]]
#: A value to select by, or several.
Wanted = str | int | Collection[str] | Collection[int] | None
#: What a user can do where the labels of one of several clips cannot be read.
_REMEDY = "; select(clip=[…]) with the other clips leaves this file unread"


class Dataset(AbstractContextManager["Dataset"]):
    """A dataset: tables of clips, events and questions, recordings and videos; a context manager.

    Everything is a lazy view: when it is opened, files are read only if their names do not tell what they hold. It can
    be pickled, and used by several threads; each process opens the files, or the archive that they are in, for itself.

    Args:
        index: what the source holds.
        clips: those of them that are chosen.
        questions: conditions that questions must meet.
    """

    def __init__(
        self, index: Index, clips: Mapping[str, Clip] | None = None, questions: tuple[_Condition, ...] = ()
    ) -> None:
        self.index, self._chosen, self._conditions = index, clips, questions

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the dataset; nothing stays open, each file is opened when it is read."""

    def __repr__(self) -> str:
        path = self.index.source.path
        name = PurePosixPath(path.replace("\\", "/")).name or path
        media = [kind for kind in (*RECORDINGS, "video") if any(getattr(clip, kind) for clip in self.rows.values())]
        clips = plural(len(self.rows), "clip")
        return f"Dataset({name!r}, {self.layout}, {clips}, {' and '.join(media) or 'no media'})"

    @property
    def layout(self) -> str:
        """The dataset tree, such as ``starss23``; ``loose`` if none is known."""
        return self.index.tree.layout

    @cached_property
    def clips(self) -> arrow_types.Table:
        """A row for each recording, see :class:`seldio.schema.clips.Clip`."""
        return clip_table(self.rows.values())

    @cached_property
    def events(self) -> Events:
        """The event tables by clip, read when they are asked for."""
        files = self.index.label_files
        chosen = {name: files[name] for name in self.rows if name in files}
        return self.index.events(chosen, _REMEDY if len(chosen) > 1 else "")

    @cached_property
    def items(self) -> Items:
        """The questions.

        Raises:
            InvalidData: the first thing wrong, with file, line and column.
            UsageError: there are predictions, and not the questions that they answer.
        """
        if (format := self._questions.predictions) and not self.index.items.rows:
            raise UsageError(holds_predictions(self.index.source, format))
        return self._questions

    @cached_property
    def _questions(self) -> Items:
        everything = self.index.items
        if self._chosen is None and not self._conditions:
            return everything
        clip_of = self.index.clip_of
        return Items(
            [
                (item, file)
                for item, file in everything.rows
                if all(_meets(getattr(item, field), values) for field, values in self._conditions)
                and all((clip := clip_of(path, file)) is None or clip in self.rows for path in item.audio)
            ],
            everything.predictions,
        )

    @cached_property
    def media(self) -> Mapping[str, ClipMedia]:
        """Recordings and videos by clip; none is opened before it is asked for."""
        return {name: ClipMedia.of(clip, self.index.entries) for name, clip in self.rows.items()}

    @property
    def splits(self) -> dict[str, Dataset]:
        """A dataset for each split of the clips, or else of the questions, in the order of their names."""
        named = {clip.split for clip in self.rows.values()} - {None} or {item.split for item in self._questions}
        return {name: self._where("split", name) for name in sorted(filter(None, named))}

    def select(
        self,
        *,
        split: Wanted = None,
        room: Wanted = None,
        class_: Wanted = None,
        task: Wanted = None,
        **columns: Wanted,
    ) -> Dataset:
        """Return a part of the dataset; all conditions hold together, and of several values any one is enough.

        Args:
            split: names of splits; ``dev-train`` means ``dev-train-sony`` and ``dev-train-tau`` too, and ``*`` and
                ``?`` stand for anything. Questions follow their clips; a name that no clip has is one of theirs.
            room: numbers of rooms.
            class_: names or numbers of classes: clips in which one of them sounds.
            task: kinds of questions; clips stay as they are. Questions about recordings that are not clips stay too,
                whatever clips are selected.
            columns: any other column of the clip table, such as ``set``, ``site``, ``fold``, ``clip``.

        Raises:
            UsageError: there is no such column or class, or a name is given where the column has numbers.
            InvalidData: labels, which *class_* needs, are wrong.
        """
        if unknown := columns.keys() - Clip.model_fields.keys():
            choices = ", ".join(Clip.model_fields)
            raise UsageError(f"the clip table has no column {listed(sorted(unknown))}; choose from {choices}")
        selected = self
        for field, wanted in {"split": split, "room": room, **columns}.items():
            selected = selected._where(field, wanted)
        if class_ is not None:
            indices = vocabulary(selected.events.vocabulary).indices
            numbers = []
            for label in _several(class_):
                if not isinstance(label, int) and spelling(label) not in indices:
                    choices = ", ".join(indices)
                    raise UsageError(f"no class {label!r} in the class list of these labels; choose from {choices}")
                numbers.append(label if isinstance(label, int) else indices[spelling(label)])
            classes = pa.array(numbers, pa.int32())
            clips = {
                name: selected.rows[name]
                for name, table in selected.events.items()
                if "class_id" in table.column_names and pc.any(pc.is_in(table["class_id"], classes)).as_py()
            }
            selected = Dataset(selected.index, clips, selected._conditions)
        if task is not None:
            conditions = (*selected._conditions, ("task", _several(task)))
            selected = Dataset(selected.index, selected._chosen, conditions)
        return selected

    def windows(self, **options: Unpack[WindowOptions]) -> Windows:
        """Return windows over the clips, or the questions with their audio; see :class:`seldio.data.Windows`."""
        from seldio.data.windowing import Windows

        _, *names = signature(Windows).parameters
        for name in options.keys() - set(names):
            hint = meant(name, names)
            if name in signature(self.select).parameters:
                hint = f": select first, as in seldio.open(…).select({name}=…).windows(…)"
            raise UsageError(f"windows have no option {name}{hint}")
        return Windows(self, **options)

    def statistics(self) -> dict[str, Any]:
        """Count clips, splits, rooms and files, of the labels' classes and overlaps, and of the questions' tasks.

        Reads all labels and questions.

        Raises:
            InvalidData: the first thing wrong, with file, line and column.
        """
        rows = self.rows
        counts: dict[str, Any] = {"layout": self.layout, "clips": len(rows)}
        counts |= {f"{field}s": _counts(getattr(clip, field) for clip in rows.values()) for field in ("split", "room")}
        counts["files"] = _counts(field for clip in rows.values() for field in clip.files)
        if self.events:
            table = self.events.table()
            counts["events"] = {
                "silent_clips": len(self.events) - len(pc.unique(table["clip"])),
                "rows": table.num_rows,
                **label_counts(table, self.events.hop, self.events.vocabulary),
            }
        if self._questions:
            counts["items"] = {
                "rows": len(self._questions),
                **{
                    f"{field}s": _counts(getattr(item, field) for item in self._questions)
                    for field in ("task", "split")
                },
            }
        return counts

    @property
    def rows(self) -> Mapping[str, Clip]:
        """The chosen clips by name."""
        return self.index.clips if self._chosen is None else self._chosen

    def _where(self, field: str, wanted: Wanted) -> Dataset:
        if wanted is None:
            return self
        values, column = _several(wanted), {name: getattr(clip, field) for name, clip in self.rows.items()}
        texts = [value for value in values if isinstance(value, str) and not value.isdecimal()]
        if texts and any(isinstance(value, int) for value in column.values()):
            raise UsageError(f"{field} {listed(texts)}: the column {field} of the clip table has numbers, such as 22")
        chosen_values = {value for value in {*column.values()} if _meets(value, values)}
        clips = {name: clip for name, clip in self.rows.items() if column[name] in chosen_values}
        if field == "split" and not clips:  # then it is one of questions, or none at all
            chosen = self._chosen if any(_meets(item.split, values) for item in self._questions) else clips
            return Dataset(self.index, chosen, (*self._conditions, ("split", values)))
        return Dataset(self.index, clips, self._conditions)


def _several(wanted: Wanted) -> tuple[str | int, ...]:
    return () if wanted is None else (wanted,) if isinstance(wanted, str | int) else tuple(wanted)


def _meets(value: object, wanted: Collection[str | int]) -> bool:
    """Return whether *value* is one of those wanted; a name also if it goes on behind a hyphen, or fits a pattern."""
    texts = [str(text) for text in wanted]
    if isinstance(value, str):
        return any(value == text or value.startswith(f"{text}-") or fnmatchcase(value, text) for text in texts)
    return value in wanted or (isinstance(value, int) and any(t.isdecimal() and int(t) == value for t in texts))


def _counts(values: Iterable[Any]) -> dict[str, int]:
    counts = Counter(value for value in values if value is not None)
    return {str(value): counts[value] for value in sorted(counts)}


def open_dataset(path: str | os.PathLike[str], *, format: str | None = None, force: bool = False) -> Dataset:
    """Open a dataset: any folder, archive, export of :mod:`seldio.data` or file that seldio reads.

    Files are read only if their names do not tell what they hold; the others are read when they are asked for.

    Args:
        path: what to open, such as ``starss23/``, ``jasco/``, ``labels.zip`` or ``questions.jsonl``.
        format: the format of all label files, or of all files of questions; found from their content if not given.
        force: give labels in which there are errors too, such as angles in radians or classes that do not exist.

    Raises:
        UsageError: nothing has that name, or nothing in it is a recording, a video, labels or questions.
        SeldioError: the disk fails.
    """
    items = formats.of_questions(format) if format is not None else None
    labels = get(format) if format is not None and items is None else None
    index = Index(open_source(path, raise_errors), labels, items, force=force)
    source = index.source
    of_questions = (format.suffix.lstrip(".") for format in formats.index() if format.holds != "events")
    suffixes = {*TYPES, *of_questions, "parquet", *(["tsv"] if index.own else [])}
    named = any(suffix_of(entry.name) in suffixes or named_like_labels(entry) for entry in source)
    if not named and not (source.single and source.entries):
        raise UsageError(f"{printable(source.path)} holds no recording, video, labels or questions")
    asked = index.content.asked
    if asked is not None and asked.holds == "predictions" and not index.clips and not len(index.items):
        raise UsageError(holds_predictions(source, asked.name))
    return Dataset(index)
