"""The clip table: one row for each recording of a dataset, with the paths of its files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from seldio.schema.numbers import NotNegative

if TYPE_CHECKING:
    from seldio.schema import arrow_types

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


def clip_table(clips: Iterable[Clip]) -> arrow_types.Table:
    """Return the Arrow table of *clips*, one row each, with the columns ``CLIP_SCHEMA``."""
    rows = [vars(clip) for clip in clips]
    return cast("arrow_types.Table", pa.Table.from_pylist(rows, schema=CLIP_SCHEMA))
