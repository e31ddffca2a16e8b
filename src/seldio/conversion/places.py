"""Where data sets usually lie: ``seldio convert starss`` without a path."""

from __future__ import annotations

import os
from pathlib import Path

from seldio.errors import UsageError
from seldio.files.sources import is_remote
from seldio.formats import get
from seldio.formats.datasets import of_dialect
from seldio.text import printable

#: Names of data sets whose years have layouts of their own: the files tell which.
FAMILIES = ("starss",)


def named(source: str) -> str | None:
    """The format that *source* names; None for a data set whose files tell it.

    Raises:
        UnknownFormat: no format has that name.
    """
    return None if source in FAMILIES else get(source).name


def resolved(source: str) -> tuple[str, str | None]:
    """What to read, and the name of its format if *source* is one.

    Args:
        source: a path, or the name of a format.

    Raises:
        UsageError: a name without a path, and none of the usual places exists; the message lists them.
        UnknownFormat: *source* is neither a path nor a name.
    """
    if source == "-" or os.path.lexists(source) or is_remote(source):
        return source, None
    if os.sep in source or "." in source:
        raise UsageError(f"no such file or folder: {printable(source)}")
    format = get(source)
    usual = [name for row in of_dialect(format.name) for name in row.usual] or [format.name]
    places = [place / name for place in _roots() for name in usual]
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        tried = "\n  ".join(str(place) for place in places)
        raise UsageError(f"no data of {format.name} in the usual places; name the folder behind it. Tried\n  {tried}")
    labels = next((found / name for name in ("metadata_dev", "annotations") if (found / name).is_dir()), found)
    return str(labels), named(source)


def _roots() -> list[Path]:
    """The present folder, ``data`` below it, ``SELDIO_DATA``, and ``~/datasets``."""
    named = [Path(os.environ["SELDIO_DATA"])] if os.environ.get("SELDIO_DATA") else []
    return [Path(), Path("data"), *named, Path.home() / "datasets"]
