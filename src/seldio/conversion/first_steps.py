"""The commands that make a dataset of labels and recordings that are in a folder: nothing is asked, nothing written."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from seldio.catalogues.look import named_like_labels
from seldio.conversion.frames import are_events, has, numbered
from seldio.conversion.inputs import read_tables
from seldio.conversion.losses import plan
from seldio.conversion.outputs import clip_tables
from seldio.errors import InvalidData, SeldioError, UsageError
from seldio.files import open_source
from seldio.files.names import media_type, plain_stem, suffix_of
from seldio.files.sources import OWN
from seldio.findings import raise_errors
from seldio.formats import LabelFormat, get, stem_of
from seldio.formats.cells import number_in
from seldio.schema.frames import event_table
from seldio.schema.own_columns import GIVEN, ZEROS
from seldio.text import clipped, listed, plural, printable

#: The dataset that the commands make, and its only split.
DATASET, SPLIT = "dataset", "dev-train-own"
#: Where a file of several clips becomes a file for each.
_BY_CLIP = "by-clip"
#: What is written into a command for what only a person knows.
_ASKED = {"azimuth": "DEGREES", "elevation": "DEGREES", "distance": "METRES"}
_UNLABELLED = (
    "# no labels here yet. Mark the sounds in Audacity (Ctrl+B), say where they are in the text of each label,",
    "#   dog az=30 el=10 dist=2",
    "# (degrees, +90 is left and up; metres), and export the labels with File > Export Other > Export Labels. Then:",
)


class LabelledFile(NamedTuple):
    """The labels of one clip."""

    path: Path
    clip: str
    table: pa.Table
    format: LabelFormat
    missing: tuple[str, ...] = ()  # what STARSS23 needs and it does not have
    whole: pa.Table | None = None  # all labels of its file, where that holds other clips too


def proposed(path: Path, said: Mapping[str, Any], *, write: bool) -> list[str]:
    """The lines that propose a ``dataset.toml`` for tables that no format has; empty where there are none.

    Args:
        path: the folder, or a file of it; of an archive, the lines unpack it.
        said: the fields of :class:`seldio.conversion.new_dataset.SaidOfColumns`, numbers as ``FIELD=VALUE``.
        write: whether it is written.

    Raises:
        UsageError: it cannot be written, or what is *said* makes no sense.
    """
    if not path.exists():
        raise UsageError(f"no such file or folder: {printable(str(path))}")
    from seldio.conversion.new_dataset import NewDataset, SaidOfColumns, as_toml

    for option, words in (
        ("azimuth", ("clockwise", "counter-clockwise")),
        ("zero", (*ZEROS,)),
    ):
        if said[option] not in (None, *words):
            raise UsageError(f"--{option} {clipped(said[option])}: choose from {', '.join(words)}")
    given = {}
    for text in said["given"]:
        name, _, value = text.partition("=")
        if name not in GIVEN or number_in(value) is None:
            raise UsageError(f"seldio new --given {clipped(text)}: write FIELD=VALUE, such as elevation=0")
        given[name] = number_in(value)
    with open_source(path, raise_errors) as source:
        if source.archived:
            to = str(path.with_name(stem_of(stem_of(path.name))))
            unpack = ["unzip", str(path), "-d", to] if source.kind == "zip" else ["tar", "-xf", str(path), "-C", to]
            made = [] if source.kind == "zip" else [shlex.join(["mkdir", "-p", to])]
            return ["# archives cannot be written to: unpack it first", *made, shlex.join(unpack),
                    shlex.join(["seldio", "new", to])]  # fmt: skip
        found = NewDataset(source, SaidOfColumns(**{**said, "given": given}))
        if not found.tables:
            if write:
                raise UsageError(f"{printable(str(path))} has no tables with columns that no format has")
            return []
        if write:
            place = found.write()
            return [f"{printable(str(place))} written. Now: seldio info {shlex.quote(str(path))}"]
        ready = [] if [*found.open_questions] else ["", f"# run the same command with --write to save this as {OWN}"]
        return [*found.lines(), "", *as_toml(found.record).splitlines(), *ready]


def first_steps(path: Path) -> Iterator[str]:
    """The lines of a shell script that makes a dataset like STARSS23 of what is at *path*.

    Args:
        path: a file of labels, or a folder with labels and recordings.

    Raises:
        UsageError: there is no such file or folder.
        InvalidData: labels cannot be read.
    """
    folder = path if path.is_dir() else path.parent
    sounds = {
        plain_stem(file.name): file
        for file in sorted(folder.iterdir())
        if media_type(file.name) == "audio" and file.is_file()
    }
    labels = list(_labels(path, folder))

    if not labels:
        yield from _UNLABELLED
        name = next(iter(sounds), "recording")
        sound = sounds.get(name, folder / f"{name}.wav")
        labels = [LabelledFile(folder / f"{name}.txt", name, event_table(pa.table({"clip": []})), get("audacity"))]
        sounds = {name: sound}
    else:
        files = plural(len({one.path for one in labels}), "label file")
        yield f"# {files} ({listed(sorted({one.format.name for one in labels}))})"
    missing = [field for field in _ASKED if any(field in one.missing for one in labels)]
    some = any(has(one.table, "distance") or not one.table.num_rows for one in labels)
    target = "starss23" if some else "starss22"
    if target == "starss22":
        missing.remove("distance")
        yield "# no distances: the format of STARSS22, which has none; with dist=METRES in the labels that of STARSS23"
    if missing:
        yield f"# some labels have no {' and no '.join(missing)}: write az=… el=… dist=… into their text, or"
        yield "# replace the words in capitals by one value for all of them"
    split: set[Path] = set()
    for number, one in enumerate(labels, 1):
        yield from _commands(one, number, sounds.get(one.clip), target, one.path in split)
        split |= {one.path} if one.whole is not None else set()
    yield f"seldio validate {DATASET}{' --deep' if sounds else ''}"


def _labels(path: Path, folder: Path) -> Iterator[LabelledFile]:
    """The label files at *path*, each by itself."""
    with open_source(folder, raise_errors) as source:
        files = [folder / entry.name for entry in source if "/" not in entry.name and named_like_labels(entry)]
    for file in [path] if path.is_file() else files:
        try:
            tables = read_tables(file)
        except InvalidData:
            raise
        except SeldioError:  # a table of something else
            continue
        for table, format in tables:
            if format.role == "label" and table.num_rows:
                yield from _labelled(file, table, format)


def _labelled(file: Path, table: pa.Table, format: LabelFormat) -> Iterator[LabelledFile]:
    """The clips of a file of labels with numbers for its sources."""
    if are_events(table):
        table = numbered(table)
    missing = tuple(field for field in _ASKED if field not in table.column_names or table[field].null_count)
    clips = list(clip_tables(table))
    for clip, rows in clips:
        name = clip.clip if format.clips_by == "rows" else stem_of(file.name)
        yield LabelledFile(file, name, rows, format, missing, table if len(clips) > 1 else None)


def _commands(one: LabelledFile, number: int, sound: Path | None, target: str, split: bool) -> Iterator[str]:
    """The commands for one clip; *split*: its file of several clips has become a file for each already."""
    name = f"fold3_room1_mix{number:03}"
    labels, audio = (f"{DATASET}/{top}/{SPLIT}" for top in ("metadata_dev", "foa_dev"))
    folders = shlex.join([audio, labels] if sound is not None else [labels])
    copied = shlex.join(["cp", str(sound), f"{audio}/{name}.{suffix_of(sound.name)}"]) if sound is not None else ""
    if sound is None:
        yield f"# there is no recording called {printable(one.clip)}: copy it to {audio}/{name}.wav"
    if number == 1:
        yield " && ".join([f"mkdir -p {folders}", *([copied] if copied else [])])
    elif copied:
        yield copied
    place = f"{labels}/{name}.csv"
    if one.whole is None:
        yield from _converted(one, target, place)
        return
    if not split:
        yield from _converted(one._replace(table=one.whole), target, _BY_CLIP)
    yield shlex.join(["mv", f"{_BY_CLIP}/{one.clip.replace('/', '_')}.csv", place])


def _converted(one: LabelledFile, target: str, place: str) -> Iterator[str]:
    """The command that converts labels, below what is lost."""
    line = ["seldio", "convert", str(one.path), "--to", target, "-o", place]
    line += ["--fill", "source=count"] if not one.table.num_rows or are_events(one.table) else []
    missing = [field for field in one.missing if not (field == "distance" and target == "starss22")]
    for field in missing:
        line += ["--fill", f"{field}={_ASKED[field]}"]
    losses = plan(one.table, one.format, get(target), dict.fromkeys(missing, 1.0)).losses
    for field, what in losses.items():
        yield f"# lost: {field}, {printable(what)}"
    lost = [*losses] if one.table.num_rows else ["frame"]  # times that a hand sets lie between frames
    line += ["--allow-loss", ",".join(lost)] if lost else []
    yield shlex.join(line)
