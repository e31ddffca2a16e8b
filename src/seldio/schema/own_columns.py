"""Fields, units, directions of azimuths and kinds of cells that a dataset's own columns may have."""

from __future__ import annotations

import math

_LENGTHS, _ANGLES, _TIMES = ("m", "cm", "mm"), ("degrees", "radians"), ("s", "ms", "samples")
#: The fields, each with the units that its numbers may be in, the usual one first.
FIELDS: dict[str, tuple[str, ...]] = {
    "clip": (), "frame": ("frames", *_TIMES), "onset": _TIMES, "offset": _TIMES, "duration": _TIMES, "class_id": (),
    "class_name": (), "source": (), "azimuth": _ANGLES, "elevation": _ANGLES, "distance": _LENGTHS, "x": _LENGTHS,
    "y": _LENGTHS, "z": _LENGTHS, "onscreen": (), "score": (),
}  # fmt: skip
#: What a unit is multiplied by to give frames, seconds, degrees or metres; samples, to be divided by their rate.
UNITS = {
    "frames": 1.0, "s": 1.0, "ms": 0.001, "samples": 1.0,
    "degrees": 1.0, "radians": math.degrees(1), "m": 1.0, "cm": 0.01, "mm": 0.001,
}  # fmt: skip
#: Where azimuth 0 may be.
ZEROS = {"front": 0.0, "left": 90.0, "right": -90.0, "back": 180.0}
#: What may be the same of all rows and stand in no column.
GIVEN = ("azimuth", "elevation", "distance", "source", "class_id")
#: What a cell of a column may be; :mod:`seldio.formats.cells` reads and writes it.
KINDS = ("int", "whole", "real", "real3", "real3inf", "flag", "name", "zero", "text")
