"""``seldio convert`` to a way of storing a data set as a whole, and back."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from seldio.conversion.sources import Conversion
from seldio.data.exporting import export
from seldio.data.manifest import Manifest
from seldio.data.reading import read_back
from seldio.errors import UsageError
from seldio.text import plural


@dataclasses.dataclass(frozen=True)
class Stored(Conversion):
    """What an export or the way back did.

    Args:
        bytes: of the files written.
    """

    bytes: int = 0

    def lines(self) -> Iterator[str]:
        """What was done, for people."""
        size = f"{self.bytes:,} bytes"
        yield (
            f"{' and '.join(self.formats)} to {self.target}: {plural(self.clips, 'clip')} from "
            f"{plural(self.files, 'file')}, in {plural(len(self.written), 'file')} ({size})"
        )
        yield from (f"  {note}" for note in self.notes)


def convert_stored(
    path: str | os.PathLike[str], out: str | os.PathLike[str] | BinaryIO, to: str, format: str | None
) -> Stored:
    """Export a data set, or with *files* make the files again that an export was made from.

    Raises:
        UsageError: *out* is a stream; and what :func:`export` and :func:`read_back` raise.
    """
    if not isinstance(out, str | os.PathLike):
        raise UsageError(f"--to {to} writes a folder: name it with -o")
    if to == "files":
        manifest = Manifest.load(Path(path))
        names = read_back(path, out)
        sizes = sum((Path(out) / name).stat().st_size for name in names)
        return _stored(manifest, (manifest.kind,), to, len(manifest.files), [Path(out) / name for name in names], sizes)
    manifest = export(path, out, to.removeprefix("hf-"), format=format)
    written = [Path(out) / file.name for file in manifest.files]
    layout, files = manifest.statistics["layout"], sum(manifest.statistics["files"].values())
    return _stored(manifest, (layout,), to, files, written, sum(file.bytes for file in manifest.files))


def _stored(
    manifest: Manifest, formats: tuple[str, ...], to: str, files: int, written: list[Path], size: int
) -> Stored:
    clips = manifest.statistics["clips"]
    others = manifest.statistics["files"]["other"]
    return Stored(
        formats=formats, target=to, files=files, written=tuple(map(str, written)), clips=clips, rows=(clips, clips),
        losses={}, notes=(f"{plural(others, 'file')} of no clip copied as is",) if others else (), findings=(),
        bytes=size,
    )  # fmt: skip
