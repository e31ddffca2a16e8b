"""Decide what a conversion is of (labels, questions, recordings or a dataset) and where its source is."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from seldio import formats
from seldio.catalogues import Catalogue
from seldio.conversion.outputs import earlier_output
from seldio.conversion.report import Conversion
from seldio.errors import UnknownFormat, UsageError
from seldio.files import Source
from seldio.files.sources import beside, no_such, path_of, reopened
from seldio.findings import raise_errors
from seldio.formats import Format, LabelFormat, get
from seldio.formats.datasets import of_dialect
from seldio.tasks.specs import QuestionOptions
from seldio.text import meant, printable

Place = str | os.PathLike[str]
#: Ways to store a dataset as a whole, and the way back.
STORED = ("hf-parquet", "webdataset", "audiofolder", "videofolder", "files")
_NOT_QUESTIONS = "--drop-unfit leaves out questions or predictions: the source has to hold some"
#: Names of datasets whose years have formats of their own: the files tell which.
FAMILIES = ("starss",)


def convert_any(
    path: Any,  # a place, or a source of labels or questions
    out: Place | BinaryIO,
    to: LabelFormat | str,
    format: LabelFormat | str | None,
    allow_loss: Collection[str],
    fill: Mapping[str, Any],
    options: QuestionOptions,
    gain: float | None = None,
    drop_unfit: bool = False,
    overwrite: bool = False,
) -> Conversion:
    """Convert *path* by the function for what it holds; labels become questions if the target holds these."""
    if not isinstance(out, str | os.PathLike) and not hasattr(out, "write"):
        raise UsageError(f"the output is a path or a binary stream, not {type(out).__name__}")
    if not isinstance(fill, Mapping):
        raise UsageError(f"--fill: values by field, such as --fill distance=2.5, not {type(fill).__name__}")
    if isinstance(path, str):
        path, format_named = resolved(path)
        format = format_named if format is None else format
    items = isinstance(to, str) and (to == "parquet" or formats.of_questions(to) is not None)
    if drop_unfit and not items:
        raise UsageError(_NOT_QUESTIONS)
    if overwrite and to not in STORED[:-1]:
        raise UsageError(f"--overwrite is for what stores a whole dataset: {', '.join(STORED[:-1])}")

    def as_labels(source: Any) -> Conversion:
        from seldio.conversion.labels import convert_source

        return convert_source(source, out, to, format=format, allow_loss=allow_loss, fill=fill, force=options.force)

    if isinstance(to, LabelFormat) or isinstance(format, LabelFormat):
        return as_labels(path)
    if isinstance(path, Source) and formats.named(to, Format) is None:
        raise UsageError(f"data in memory becomes labels or questions, not {printable(to)}: pass the path of files")
    if to in ("foa", "mic"):
        from seldio.conversion.recordings import Array, convert_array

        if format not in (None, "foa", "mic"):
            raise UsageError(f"--to {to} converts recordings: --format foa or mic says which array they are of")
        array = cast("Array | None", format)
        return convert_array(path, out, cast("Array", to), audio=bool(options.audio), gain=gain or 0.0, said=array)
    if gain is not None:
        raise UsageError("--gain needs --to mic or --to foa: no other target makes array recordings")
    if to in STORED:
        from seldio.data.exporting import convert_stored

        return convert_stored(path, out, to, format, force=options.force, overwrite=overwrite)
    if formats.named(to, Format) is None:
        raise formats.unknown(to, (*STORED, "foa", "mic"))
    if not items:
        return as_labels(path)
    item_format = formats.of_questions(format) if format is not None else None
    with reopened(path, raise_errors) as source:
        tables = not source.single and to == "parquet"  # the table of many files is one of labels
        earlier = earlier_output(source.path, out) if isinstance(out, str | os.PathLike) else None
        files = Catalogue(source, without=earlier) if format in (None, "parquet") and not tables else None
        content = item_format if files is None else files.asked
        target = formats.of_questions(f"{content.holds}-parquet" if content and to == "parquet" else to)
        if drop_unfit and content is None:
            raise UsageError(_NOT_QUESTIONS)
        if target is None:
            return as_labels(source if path_of(path) == "-" else path)  # opened again, which reports warnings
        if content is not None:
            for part in () if source.single or files is None else files.labels:
                if part.format is not None:
                    raise UsageError(
                        f"{printable(source.path)} holds questions ({content.name}) and labels "
                        f"({printable(part.files[0].entry.name)}): name the file or folder that is meant, or its "
                        "format with --format"
                    )
            from seldio.conversion.items import convert_items

            return convert_items(
                source, out, target, format=item_format, allow_loss=allow_loss, fill=fill, drop_unfit=drop_unfit
            )
        if foreign := sorted(fill.keys() - {"language", "split"}):
            raise UsageError(
                f"--fill {printable(foreign[0])}: questions made from labels have all their fields; choose from "
                "language, split"
            )
        from seldio.conversion.questions import make_questions

        options = dataclasses.replace(options, language=fill.get("language"), split=fill.get("split"))
        return make_questions(files if files and format is None else Catalogue(source, format), out, target, options)


# --- where datasets usually are --------------------------------------------------------------------------------------


def named(source: str) -> str | None:
    """Return the format that *source* names; None for a dataset whose files tell it."""
    return None if source in FAMILIES else get(source).name


def resolved(source: str) -> tuple[str, str | None]:
    """Return the source to read, and the name of its format if *source* is one."""
    if source == "-" or os.path.lexists(source) or source.startswith("hf://"):
        return source, None
    if os.sep in source or "." in source:
        raise no_such(source)
    format = formats.named(source, LabelFormat)
    if format is None:
        names = [name for row in formats.index() if row.holds == "events" for name in (row.name, *row.aliases)]
        close = meant(source, [*names, *beside(source)])
        raise UnknownFormat(f"no such file, folder or format: {printable(source)}{close}")
    usual = [name for row in of_dialect(format.name) for name in row.usual] or [format.name]
    extra = [Path(os.environ["SELDIO_DATA"])] if os.environ.get("SELDIO_DATA") else []
    places = [place / name for place in (Path(), Path("data"), *extra, Path.home() / "datasets") for name in usual]
    folder = next((place for place in places if place.is_dir()), None)
    if folder is None:
        tried = "\n  ".join(str(place) for place in places)
        raise UsageError(f"no {format.name} data in the usual places; pass its folder instead. Tried:\n  {tried}")
    labels = next((folder / name for name in ("metadata_dev", "annotations") if (folder / name).is_dir()), folder)
    return str(labels), named(source)
