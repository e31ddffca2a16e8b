"""What is known of each challenge year and dataset, as data: a TOML file each, which is all that a new year needs.

A file says how label files are laid out (``[[formats]]``), how the tree looks and is recognized (``[tree]``), what the
recordings and videos are like, and how labels are scored (``[[profiles]]``). Formats, ranges of rules, checks of
folders, profiles and pages are made from it. Files from outside stand in the folders that ``SELDIO_PLUGINS`` names
(docs/howto/next-year.md). :mod:`seldio.schema.dataset_file` says which keys there are, and what they mean.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from seldio import plugins
from seldio.errors import UsageError

_SUFFIX = ".toml"


@cache
def records() -> tuple[Mapping[str, Any], ...]:
    """All files, read; those of seldio by their ``order``, then those from outside.

    Raises:
        UsageError: one from outside cannot be read as TOML.
    """
    own = [tomllib.loads(file.read_text("utf-8")) for file in files(__name__).iterdir() if file.name.endswith(_SUFFIX)]
    return (*sorted(own, key=lambda record: record["order"]), *_outside())


def _outside() -> Iterator[Mapping[str, Any]]:
    for folder in plugins.folders("."):
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            if file.name.endswith(_SUFFIX):
                place = f"{plugins.VARIABLE}: {folder.name}/{file.name}"
                try:
                    record = tomllib.loads(file.read_text("utf-8"))
                except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                    raise UsageError(f"{place}: {error}") from None
                yield {**record, "place": place}
