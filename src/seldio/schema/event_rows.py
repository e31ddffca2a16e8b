"""Rows of the event table as models, for whoever works on single rows; tables have no need of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from seldio.schema.events import COLUMNS, ClipFile, Origin, with_origin
from seldio.schema.numbers import Int32, NotNegative

if TYPE_CHECKING:
    from seldio.schema import arrow_types

Degrees180 = Annotated[float, Field(ge=-180, le=180)]
Degrees90 = Annotated[float, Field(ge=-90, le=90)]


class Event(BaseModel):
    """One active source in one label frame (or, with onset and offset, one whole event).

    Angles are degrees: azimuth counter-clockwise, +90 is left; elevation up positive. Distances are
    metres, times seconds. A field that a file does not carry is None.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    clip: str = Field(min_length=1, description="The recording, usually the file name without suffix.")
    frame: NotNegative | None = Field(None, description="Label frame, 0-based, 100 ms each.")
    onset: Annotated[float, Field(ge=0)] | None = Field(None, description="Seconds; event rows only.")
    offset: Annotated[float, Field(ge=0)] | None = Field(None, description="Seconds; event rows only.")
    class_id: NotNegative | None = Field(None, description="0-based index into the vocabulary.")
    class_name: str | None = Field(None, description="The class as written, if no vocabulary has it.")
    source: Int32 | None = Field(None, description="Source or track number.")
    azimuth: Degrees180 | None = Field(None, description="Degrees, +90 is left.")
    elevation: Degrees90 | None = Field(None, description="Degrees, +90 is up.")
    distance: Annotated[float, Field(ge=0)] | None = Field(None, description="Metres.")
    x: float | None = Field(None, description="Front, as given: the norm is an activity or a distance.")
    y: float | None = Field(None, description="Left, as given.")
    z: float | None = Field(None, description="Up, as given.")
    onscreen: bool | None = Field(None, description="Whether the source is on screen.")
    hemisphere: bool | None = Field(None, description="True if the elevation is known only as up or down.")
    score: float | None = Field(None, description="Confidence of a prediction.")
    segmentation: list[list[list[float]]] | None = Field(
        None, description="Polygons of (x, y, energy) on a 360 x 180 image."
    )
    extra: str | None = Field(None, description="Further keys of the source file, as a JSON object.")


def to_events(table: Any) -> Iterator[Event]:
    """Return the rows of *table* as models, in order; raise pydantic.ValidationError for a row out of range."""
    for batch in table.to_batches(max_chunksize=4096):
        for row in batch.to_pylist():
            yield Event.model_validate(row)


def from_events(events: Iterable[Event], format: str = "", vocabulary: str = "starss") -> arrow_types.Table:
    """Return a table of *events* in their order, with the columns that at least one of them fills."""
    rows = [event.model_dump() for event in events]
    used = [name for name in COLUMNS if name == "clip" or any(row[name] is not None for row in rows)]
    table = pa.table({name: pa.array([row[name] for row in rows], COLUMNS[name]) for name in used})
    clips = dict.fromkeys(row["clip"] for row in rows)
    return with_origin(table, Origin(format, vocabulary, tuple(ClipFile(clip, f"{clip}.csv") for clip in clips)))
