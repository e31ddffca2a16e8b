"""What finished parts of some work have given, kept in a folder, so that the same work resumes where it was broken off.

The folder holds a file for each part, named after a hash of what it was made from, each whole or not there. The
manifest is written when all is done. What a file holds is taken for nothing but data: see :mod:`seldio.engines.kept`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from seldio.errors import SeldioWarning, UsageError
from seldio.files import make_folder, write_bytes
from seldio.files.writing import alone, remove
from seldio.text import plural, printable

NAME = "seldio-parts.json"
VERSION = 2
_SUFFIX = ".part"
_LOCK = "seldio.lock"
#: The names of files of ours; what else ends in ``.part`` may be a download of somebody.
_OWN = re.compile(r"([0-9a-f]{64}|earlier)\.part")
#: A file that is larger holds no result.
_MOST = 1 << 31


class Ledger:
    """Results by what they were made from, in a folder, which the user names or which is *below* the one he names."""

    def __init__(self, folder: Path, below: Path | None = None) -> None:
        self.folder, self._below = folder, below or folder
        self._used: dict[str, int] = {}
        self._unfit: dict[str, str] = {}
        make_folder(folder, below)
        for item in folder.iterdir():
            if item.is_symlink():
                raise UsageError(f"{printable(str(item))} is a link, which is not followed: remove it")
            if _OWN.fullmatch(item.name) is None and item.name not in (NAME, _LOCK) and item.name[0] != ".":
                shown = printable(str(folder))
                raise UsageError(f"{shown} holds something else: choose a new folder for finished parts")
        self._note(done=False)

    @staticmethod
    def is_one(folder: Path) -> bool:
        """Whether a folder is one of finished parts, as its manifest says."""
        try:
            note = folder / NAME
            return note.is_file() and bool(json.loads(note.read_bytes())["seldio_parts"] == VERSION)
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return False

    @staticmethod
    def alone(folder: Path, below: Path, what: str) -> AbstractContextManager[None]:
        """Keep others out of a folder of finished parts, which is made if needed: SeldioError if *what* others do."""
        return alone(folder / _LOCK, below, what)

    @staticmethod
    def name_of(work: Callable[..., Any], key: object) -> str:
        """The name of a result: a hash of the version, the work with its fields, and what it depends on otherwise."""
        from seldio import __version__

        what = work if dataclasses.is_dataclass(work) else f"{work.__module__}.{work.__qualname__}"
        return hashlib.sha256(repr((VERSION, __version__, what, key)).encode(errors="backslashreplace")).hexdigest()

    def __contains__(self, name: str) -> bool:
        return self._path(name).is_file()

    def get(self, name: str, kind: Any, count: int | None = None) -> list[Any] | None:
        """Results of a type that were kept; None where a file holds none, or another number than *count*."""
        if (found := self._read(name, kind, count)) is not None:
            self._used[name] = self._path(name).stat().st_size
        return found

    def results(self, kind: Any) -> Iterator[list[Any]]:
        """All results of a type that were kept, those of other work and of earlier runs too."""
        found = (self._read(path.stem, kind, None) for path in self._files())
        return (results for results in found if results is not None)

    def _read(self, name: str, kind: Any, count: int | None) -> list[Any] | None:
        from seldio.engines.kept import unpacked

        path = self._path(name)
        try:
            if path.stat().st_size > _MOST:
                raise ValueError("is too large")
            found: list[Any] = unpacked(path.read_bytes(), name, kind)
            if count not in (None, len(found)):
                raise ValueError(f"holds {plural(len(found), 'result')} of {count}")
        except OSError as error:
            self._unfit[name] = f"cannot be read ({error.strerror or error})"
        except ValueError as error:
            self._unfit[name] = str(error)
        else:
            return found
        return None

    def _files(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if _OWN.fullmatch(path.name) and path.is_file())

    def put(self, name: str, kind: Any, results: list[Any]) -> None:
        """Keep results of a type, if they are not too large."""
        from seldio.engines.kept import packed

        if (data := packed(name, kind, results)) is not None:
            write_bytes(self._path(name), data, self._below)
            self._used[name] = len(data)

    @property
    def rest(self) -> str:
        """What is kept and how it goes on, for people."""
        many = plural(len(self._used), "finished part") if self._used else "no finished part yet"
        return f"{many} kept in {printable(str(self.folder))}: run the same command again to resume"

    def finish(self) -> None:
        """Take away what this run had no use for, write the manifest, and say what could not be used."""
        for path in self._files():
            if path.stem not in self._used:
                remove(path, self._below)
        self._note(done=True)
        if self._unfit:
            name, why = next(iter(self._unfit.items()))
            what = "result was" if len(self._unfit) == 1 else "results were"
            warnings.warn(
                f"{len(self._unfit):,} kept {what} computed again: {printable(str(self._path(name)))} {why}",
                SeldioWarning, stacklevel=2,
            )  # fmt: skip
            self._unfit.clear()

    def _note(self, done: bool) -> None:
        parts = [{"name": name + _SUFFIX, "bytes": size} for name, size in sorted(self._used.items())]
        text = json.dumps({"seldio_parts": VERSION, "finished": done, "parts": parts}, indent=1)
        write_bytes(self.folder / NAME, text.encode() + b"\n", self._below)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"
