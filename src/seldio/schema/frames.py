"""Tables from outside, DataFrames of pandas among them, and tables as such: pandas is used, but never imported here.

A DataFrame of labels has the names of classes as categories, and a unit for each column and where the rows are from in
``attrs``. Its categories of clips are all clips, so that those without rows come back as empty files.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from seldio import vocabularies
from seldio.errors import UsageError
from seldio.schema.events import COLUMNS, ClipFile, Origin, check_clips, origin_of, with_origin
from seldio.text import listed, printable

if TYPE_CHECKING:
    import pandas as pd

#: The units of columns, as ``attrs["units"]`` has them.
UNITS = {
    "onset": "s",
    "offset": "s",
    "start": "s",
    "end": "s",
    "azimuth": "°",
    "elevation": "°",
    "distance": "m",
}
#: Texts of questions that repeat.
_REPEATED = ("task", "language", "split", "dataset")


def to_pandas(table: Any) -> pd.DataFrame:
    """Return events, questions or predictions as a DataFrame, with categories for names and units in ``attrs``.

    Args:
        table: what :func:`seldio.read` returns, ``events`` or ``questions`` of :func:`seldio.open`, or any other table
            that Arrow can take in.

    Returns:
        The same rows. Of labels, ``class_name`` holds the names of the class list, in its order; ``clip`` has all
        clips as categories. Whole numbers that may be missing are ``Int32``. ``attrs["units"]`` has the unit of each
        column, ``attrs["seldio"]`` the format and the files, so that :func:`seldio.write` gives them back.

    Raises:
        UsageError: it is not a table.
    """
    labels = arrow_table(table)
    events = "clip" in labels.column_names
    origin = origin_of(labels) if events else None
    if origin is not None and "class_id" in labels.column_names and "class_name" not in labels.column_names:
        place = labels.column_names.index("class_id") + 1
        labels = labels.add_column(place, "class_name", _class_names(labels["class_id"], origin.vocabulary))
    names = [name for name in _REPEATED if name in labels.column_names]
    frame: pd.DataFrame = labels.replace_schema_metadata(None).to_pandas(categories=names)
    for field in labels.schema:
        if labels[field.name].null_count and pa.types.is_integer(field.type):
            frame[field.name] = frame[field.name].astype("Int32")
        elif labels[field.name].null_count and pa.types.is_boolean(field.type):
            frame[field.name] = frame[field.name].astype("boolean")
    if origin is not None:
        clips = dict.fromkeys([file.clip for file in origin.files])
        more = [clip for clip in frame["clip"].astype("category").cat.categories if clip not in clips]
        frame["clip"] = frame["clip"].astype("category").cat.set_categories([*clips, *more])
        frame.attrs["seldio"] = origin.to_json().decode()
    frame.attrs["units"] = {name: unit for name, unit in UNITS.items() if name in frame}
    return frame


def _class_names(numbers: pa.ChunkedArray, vocabulary: str) -> pa.DictionaryArray:
    """Return the names of classes; categories are all of the list, then those of numbers that it lacks."""
    class_list = vocabularies.vocabulary(vocabulary)
    class_numbers = numbers.combine_chunks()
    listed = range(len(class_list))
    all_numbers = [*listed, *sorted({*class_numbers.unique().to_pylist()} - {None, *listed})]
    place = {number: at for at, number in enumerate(all_numbers)}
    codes = pa.array([place.get(number) for number in class_numbers.to_pylist()], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array([class_list.label(number) for number in all_numbers]))


def arrow_table(data: Any, otherwise: str = "a table must be an Arrow table or a DataFrame, not a") -> pa.Table:
    """Return *data* as an Arrow table; of a DataFrame, an index with a name is a column, another is none.

    Args:
        data: a table.
        otherwise: how the sentence begins that refuses anything else, up to what it is.

    Raises:
        UsageError: Arrow cannot take it in, or two columns have one name.
    """
    try:
        if isinstance(data, pa.Table):
            return data
        if type(data).__module__.split(".")[0] != "pandas":
            return pa.table(data)
        named = [name for name in data.index.names if name is not None]
        if not all(isinstance(name, str) for name in (*named, *data.columns)):
            raise UsageError("the columns of the DataFrame have no names, only numbers: name them")
        if twice := sorted({name for name in [*named, *data.columns] if [*named, *data.columns].count(name) > 1}):
            raise UsageError(f"the DataFrame has {listed(twice)} twice, perhaps as its index: which one is meant?")
        frame = data.reset_index(level=named) if named else data
        return _with_files(pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None), frame)
    except (TypeError, ValueError, AttributeError, pa.ArrowException) as error:
        why = f" whose columns Arrow can hold: {error}" if hasattr(data, "columns") else ""
        raise UsageError(f"{otherwise} {type(data).__name__}{why}") from error


def _with_files(table: pa.Table, frame: pd.DataFrame) -> pa.Table:
    """Return rows with their files and without names of class numbers; raise UsageError if the two differ."""
    if "clip" not in table.column_names:
        return table
    said = frame.attrs.get("seldio")
    origin = Origin.from_json(said.encode()) if isinstance(said, str) else None
    if {"class_id", "class_name"} <= {*table.column_names} and hasattr(frame["class_name"], "cat"):
        names = frame["class_name"].cat.categories.tolist()
        candidates = [origin.vocabulary] if origin is not None else vocabularies.names()
        lists = ((candidate, vocabularies.vocabulary(candidate)) for candidate in candidates)
        labels = ((candidate, [*map(classes.label, range(len(classes)))]) for candidate, classes in lists)
        vocabulary = next((candidate for candidate, begin in labels if names[: len(begin)] == begin), None)
        if vocabulary is not None:
            origin = origin or Origin("", vocabulary, ())
            wanted = _class_names(table["class_id"].cast(COLUMNS["class_id"]), vocabulary).cast(pa.string()).to_pylist()
            for row, (name, right) in enumerate(zip(table["class_name"].to_pylist(), wanted, strict=True)):
                if name != right:
                    number = table["class_id"][row].as_py()
                    raise UsageError(
                        f"row {row + 1} of the DataFrame has class_id {number}, which is {right}, and class_name "
                        f"{printable(str(name))}: drop the column that is out of date"
                    )
            table = table.drop_columns(["class_name"])
    if origin is None:
        return table
    column = frame["clip"]
    names_in_frame = column.cat.categories if hasattr(column, "cat") else column.unique()
    clips = [str(clip) for clip in names_in_frame if isinstance(clip, str)]
    files_by_clip = {file.clip: file for file in origin.files}
    files = [files_by_clip.get(clip) or ClipFile(clip, f"{clip}.csv") for clip in clips]
    return with_origin(table, dataclasses.replace(origin, files=tuple(files)))


def event_table(data: Any) -> pa.Table:
    """Return *data*, an Arrow table or a DataFrame, as an event table; raise UsageError if it is none."""
    table = arrow_table(data, "an event table must be an Arrow table or a DataFrame, not a")
    check_clips(table)
    names = [name for name in COLUMNS if name in table.column_names]
    if unknown := [name for name in table.column_names if name not in COLUMNS]:
        raise UsageError(f"not columns of an event table: {listed(unknown)}; choose from {', '.join(COLUMNS)}")
    if all(table.schema.field(name).type == COLUMNS[name] for name in names):
        return table
    columns = {}
    for name in names:
        try:
            columns[name] = table[name].cast(COLUMNS[name])
        except pa.ArrowException:
            kind = table.schema.field(name).type
            raise UsageError(f"the column {name} holds {kind}, but an event table needs {COLUMNS[name]}") from None
    return pa.table(columns, metadata=table.schema.metadata)


def are_events(names: Iterable[str]) -> bool:
    """Return whether columns of these names are labels, not questions or replies: clips, or what only labels have."""
    given = {*names}
    return not given & {"id", "prediction", "question"} and ("clip" in given or len(given & {*COLUMNS}) > 2)
