"""How our label files are laid out."""

from __future__ import annotations

from seldio.formats.label_csv import Dialect, column

DIALECTS = (
    Dialect(
        name="lab2027",
        title="labels of our lab: frame, class, source, azimuth, elevation, distance in mm",
        role="label",
        years="2027",
        header="t,sound,track,azi,ele,range",
        columns=(
            column("frame", "int"),
            column("class_id", "int"),
            column("source", "int"),
            column("azimuth", "whole"),
            column("elevation", "whole"),
            column("distance", "whole"),
        ),
        metre=1000,
        vocabulary="lab2027",
    ),
)
