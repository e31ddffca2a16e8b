"""Which questions take directions or distances to answer: those, a recording of one channel cannot answer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seldio.schema.arrays import pc
from seldio.tasks.specs import PUBLISHED

#: Tasks of SO-Bench, and of one's own, that do.
SPATIAL = tuple(task.name for task in PUBLISHED.values() if task.spatial)
#: Truths that are places.
_PLACES = ("azimuth_deg", "elevation_deg", "distance_m")
#: Words of questions of other benchmarks that ask for nothing else.
_HEARER = r"(you|the listener|the microphone)"
_WORDS = (
    r"(?i)\b(azimuth|elevation|(which|what) direction|direction of arrival|how far|(to|on|from) (the|your|its) "
    r"(left|right)|(left|right)[- ](hand )?(side|channel|ear)|left or right|right or left|clockwise|"
    rf"(in front of|behind) {_HEARER})\b"
)


def spatial(table: pa.Table) -> npt.NDArray[np.bool_]:
    """Which questions of a table of items take directions or distances: by their task, their truth or their words."""
    is_spatial = pc.fill_null(pc.is_in(table["task"], value_set=pa.array(SPATIAL)), False)
    metas = table["answer_meta"].combine_chunks()
    for name in _PLACES:
        is_spatial = pc.or_(is_spatial, pc.is_valid(pc.struct_field(metas, name)))
    words = pc.fill_null(pc.match_substring_regex(table["question"], _WORDS), False)
    return np.asarray(pc.or_(is_spatial, words).to_numpy(zero_copy_only=False), bool)
