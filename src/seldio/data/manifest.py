"""What an export has written, as its manifest tells."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seldio.errors import DataError, UsageError
from seldio.text import printable

NAME = "manifest.json"
VERSION = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """One file of an export.

    Args:
        name: POSIX path below the folder of the export.
        bytes: its size.
        sha256: of its content.
        split: the split that it belongs to; None for what is of no split.
        rows: clips in it, or rows of labels; 0 for what is no table.
        origin: the file of the source that it is a copy of; None where it holds several.
    """

    name: str
    bytes: int
    sha256: str
    split: str | None = None
    rows: int = 0
    origin: str | None = None


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What an export consists of.

    Args:
        kind: parquet, webdataset, audiofolder, videofolder or files.
        files: everything written, sorted by name.
        features: by configuration, the columns as the library ``datasets`` describes them.
        statistics: clips, clips of each split, files of each kind, bytes of the source.
    """

    kind: str
    files: tuple[Written, ...]
    features: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    statistics: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def to_json(self) -> bytes:
        """The content of ``manifest.json``; the same export gives the same bytes everywhere."""
        record = {"seldio_export": VERSION, **dataclasses.asdict(self)}
        return (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode(errors="backslashreplace")

    @staticmethod
    def load(folder: Path) -> Manifest:
        """The manifest of an export.

        Raises:
            UsageError: the folder holds none, so it is no export or one that was broken off.
            DataError: it cannot be read.
        """
        path = folder / NAME
        if not path.is_file():
            raise UsageError(f"{printable(str(folder))} is no finished export of seldio: it holds no {NAME}")
        return Manifest.parse(path.read_bytes(), str(path))

    @staticmethod
    def parse(data: bytes, path: str) -> Manifest:
        """The manifest that a file holds; *path* is what messages call it.

        Raises:
            DataError: it cannot be read.
        """
        try:
            record = json.loads(data)
            if record.pop("seldio_export") != VERSION:
                raise DataError(f"{printable(path)} is of another version of seldio: read it with that one")
            return Manifest(**record | {"files": tuple(Written(**file) for file in record["files"])})
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise DataError(f"{printable(path)} cannot be read: export again, or fetch it again") from None
