"""The clip table: one row for each recording of a dataset, with the paths of its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, Self, get_args

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from seldio.schema.arrays import pc
from seldio.schema.numbers import NotNegative

FilePath = Annotated[str, Field(min_length=1)]
#: What a recording is, and the field of a clip that it stands in; the first one there is meant where none is named.
Array = Literal["foa", "mic", "stereo", "audio"]
RECORDINGS: tuple[Array, ...] = get_args(Array)


class Clip(BaseModel):
    """One recording and the files that belong to it.

    Paths are POSIX paths below the root of the dataset. What the names do not tell is None, and so
    are missing files.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    clip: str = Field(min_length=1, description="The recording: its file name without suffix.")
    layout: str = Field(min_length=1, description="The dataset layout, e.g. starss23; loose if unknown.")
    set: Literal["dev", "eval"] | None = Field(None, description="Development or evaluation set.")
    split: str | None = Field(None, description="The split, e.g. dev-train-sony.")
    site: Literal["sony", "tau"] | None = Field(None, description="Who recorded it.")
    fold: NotNegative | None = Field(None, description="Fold number; the split number in 2019.")
    room: NotNegative | None = Field(None, description="Room number; the impulse response number in 2019.")
    mix: NotNegative | None = Field(None, description="Recording number within its room.")
    foa: FilePath | None = Field(None, description="First-order Ambisonics recording.")
    mic: FilePath | None = Field(None, description="Tetrahedral microphone array recording.")
    stereo: FilePath | None = Field(None, description="Stereo recording (2025).")
    audio: FilePath | None = Field(None, description="A recording whose array format no folder states.")
    metadata: FilePath | None = Field(None, description="Labels.")
    video: FilePath | None = Field(None, description="Video.")

    @property
    def files(self) -> dict[str, str]:
        """The paths of its files by field: its recordings in the order of ``RECORDINGS``, its video and its labels."""
        others = {field: path for field, path in (("video", self.video), ("metadata", self.metadata)) if path}
        return {**self.recordings, **others}

    @property
    def recordings(self) -> dict[str, str]:
        """The paths of its recordings by array."""
        paths = {array: getattr(self, array) for array in RECORDINGS}
        return {array: path for array, path in paths.items() if path is not None}


_WORD = pa.dictionary(pa.int32(), pa.string())
_TYPES = {"layout": _WORD, "set": _WORD, "split": _WORD, "site": _WORD}
_NUMBERS = ("fold", "room", "mix")
#: Every column of a clip table with its Arrow type, in the order of the fields of :class:`Clip`.
CLIP_SCHEMA = pa.schema(
    [(name, pa.int32() if name in _NUMBERS else _TYPES.get(name, pa.string())) for name in Clip.model_fields]
)


class ClipTable(Mapping[str, Clip]):
    """Clips by name, held as columns: a row becomes a model when it is asked for.

    Args:
        table: the columns ``name`` (of the clip within its dataset, which is its ``clip`` unless several are called so)
            and those of ``CLIP_SCHEMA``.
        models: the rows, and perhaps others, where there are models already.
    """

    def __init__(self, table: pa.Table, models: Mapping[str, Clip] | None = None) -> None:
        self.table, self._models = table, models

    @classmethod
    def of(cls, clips: Mapping[str, Clip]) -> Self:
        """Return the table of *clips*, in their order."""
        columns = {"name": pa.array(list(clips), pa.string())}
        for field in CLIP_SCHEMA:
            columns[field.name] = pa.array([getattr(clip, field.name) for clip in clips.values()], field.type)
        return cls(pa.table(columns), clips)

    def __getstate__(self) -> pa.Table:
        return self.table

    def __setstate__(self, table: pa.Table) -> None:
        self.__init__(table)  # type: ignore[misc]

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __getitem__(self, name: str) -> Clip:
        if self._models is not None and name in self._rows:
            return self._models[name]
        row = self._rows[name]
        return Clip.model_construct(**{field: self.table[field][row].as_py() for field in CLIP_SCHEMA.names})

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.table["name"].to_pylist())}

    def column(self, field: str) -> pa.ChunkedArray:
        """Return a column as plain values, with texts for dictionary values."""
        column = self.table[field]
        return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column

    def where(self, field: str, wanted: Sequence[Any]) -> ClipTable:
        """Return the clips that have one of *wanted* in a column; None is one of the values that there may be."""
        column = self.column(field)
        return ClipTable(self.table.filter(pc.is_in(column, pa.array(wanted, column.type))), self._models)
