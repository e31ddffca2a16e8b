"""The events of one clip as they are drawn, and the colours of their classes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio import clock
from seldio.conversion.carry import with_directions
from seldio.conversion.frames import are_events, class_keys, frames_of, grouped
from seldio.vocabularies import vocabulary

Ints = np.ndarray[Any, np.dtype[np.int64]]

#: The colours of classes, the same in a plot and on the page, by index; the next one is always far from those before.
#:
#: They were chosen by a search for the greatest least difference (CIE76 in CIELAB) between any two of them as seen
#: with normal, protanopic, deuteranopic and tritanopic eyes (Machado, Oliveira and Fernandes 2009, severity 1). No
#: two come closer than 23 there, and all stand out from white (contrast of 1.75 at least) and from black (2.2).
#: A picture never tells classes apart by colour alone: their names are there too.
COLOURS: tuple[str, ...] = (
    "#0000ff", "#ff2700", "#d8b1ff", "#89143b", "#62d89d", "#4e3b76", "#d862ff", "#8900c4", "#9dc462", "#9d0000",
    "#ffb100", "#8976b1", "#4e7676", "#9d764e",
)  # fmt: skip


def with_frames(table: pa.Table, hop: Fraction) -> tuple[pa.Table, Fraction]:
    """Event frames with directions wherever these follow, and the seconds between them; events become frames."""
    table = with_directions(table)
    return (frames_of(table, clock.HOP), clock.HOP) if are_events(table) else (table, hop)


class EventRows(NamedTuple):
    """The rows of an event, ascending, with the name and number of its class and the number of its source."""

    name: str
    class_id: int | None
    source: int | None
    rows: Ints


def events_of(table: pa.Table, hop: Fraction, class_list: str) -> Iterator[EventRows]:
    """Yield the events in the event frames of a clip by onset; every row is in one of them."""
    if not table.num_rows or "frame" not in table.column_names:
        return
    (keys, codes), events, words = class_keys(table), grouped(table, hop), vocabulary(class_list)
    sources = table["source"].to_pylist() if "source" in table.column_names else None
    for number in range(len(events)):
        rows = events.trajectory(number)
        class_id, name = keys[int(codes[rows[0]])]
        shown = name or words.label(-1 if class_id is None else class_id)
        yield EventRows(shown, class_id, sources[rows[0]] if sources is not None else None, rows)
