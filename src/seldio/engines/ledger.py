"""What finished parts of some work have given, kept in a folder, so that the same work resumes where it was broken off.

The folder holds a file for each part, named after a hash of what it was made from, each whole or not there. The
manifest is written when all is done.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import io
import json
import pickle
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from seldio.errors import UsageError
from seldio.files import make_folder, write_bytes
from seldio.text import plural, printable

NAME = "seldio-parts.json"
VERSION = 1
_SUFFIX = ".part"
_DIGEST = 32
#: What results are made of beside seldio's own records and plain values.
_PLAIN = {
    "builtins": {"set", "frozenset", "bytearray", "complex", "slice", "range"},
    "collections": {"Counter", "OrderedDict", "deque", "defaultdict"},
    "fractions": {"Fraction"},
    "numpy": {"ndarray", "dtype"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
}


class Ledger:
    """Results by what they were made from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._used: dict[str, int] = {}
        items = [item for item in folder.iterdir() if not item.name.startswith(".")] if folder.is_dir() else []
        if any(item.suffix != _SUFFIX and item.name != NAME for item in items):
            raise UsageError(f"{printable(str(folder))} holds something else: choose a new folder for finished parts")
        make_folder(folder)
        self._note(done=False)

    def __contains__(self, name: str) -> bool:
        return self._path(name).is_file() and self._read(name) is not None

    def get(self, name: str) -> Any:
        """A result that was kept."""
        data = self._read(name)
        assert data is not None
        self._used[name] = _DIGEST + len(data)
        return _Records(io.BytesIO(data)).load()

    def results(self) -> Iterator[Any]:
        """All results that were kept and can still be read, those of other work and of earlier runs too."""
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            with suppress(pickle.UnpicklingError, AttributeError, ImportError, IndexError, TypeError, EOFError):
                if (data := self._read(path.stem)) is not None:
                    yield _Records(io.BytesIO(data)).load()

    def _read(self, name: str) -> bytes | None:
        """What a file holds; None where it is damaged, so that the result has to be worked out again."""
        data = self._path(name).read_bytes()
        return data[_DIGEST:] if hashlib.sha256(data[_DIGEST:]).digest() == data[:_DIGEST] else None

    def put(self, name: str, result: Any) -> None:
        """Keep a result."""
        data = pickle.dumps(result, protocol=5)
        write_bytes(self._path(name), hashlib.sha256(data).digest() + data)
        self._used[name] = _DIGEST + len(data)

    @property
    def rest(self) -> str:
        """What is kept and how it goes on, for people."""
        many = plural(len(self._used), "finished part") if self._used else "no finished part yet"
        return f"{many} kept in {printable(str(self.folder))}: run the same command again to resume"

    def finish(self) -> None:
        """Take away what this run had no use for, and write the manifest."""
        for path in self.folder.glob(f"*{_SUFFIX}"):
            if path.stem not in self._used:
                path.unlink(missing_ok=True)
        self._note(done=True)

    def _note(self, done: bool) -> None:
        parts = [{"name": name + _SUFFIX, "bytes": size} for name, size in sorted(self._used.items())]
        text = json.dumps({"seldio_parts": VERSION, "finished": done, "parts": parts}, indent=1)
        write_bytes(self.folder / NAME, text.encode() + b"\n")

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{_SUFFIX}"


def name_of(work: Callable[..., Any], key: object) -> str:
    """The name of a result: a hash of the version, the work with its fields, and what it depends on otherwise."""
    from seldio import __version__

    what = work if dataclasses.is_dataclass(work) else f"{work.__module__}.{work.__qualname__}"
    return hashlib.sha256(repr((VERSION, __version__, what, key)).encode(errors="backslashreplace")).hexdigest()


class _Records(pickle.Unpickler):
    """Reads records, and nothing that could run: classes of seldio that only hold fields, plain values and arrays."""

    def find_class(self, module: str, name: str) -> Any:
        """A class that may be in a result."""
        if name in _PLAIN.get(module, ()):
            return super().find_class(module, name)
        if (module, name) == ("builtins", "getattr"):  # how Python before 3.11.4 writes a member of an enumeration
            return _member
        if module.startswith("seldio.") and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and _only_fields(found):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not a part of a result")


def _member(kind: object, name: str) -> Any:
    if not isinstance(kind, enum.EnumMeta):
        raise pickle.UnpicklingError(f"{name} of {kind!r} is not a part of a result")
    return kind[name]


def _only_fields(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) or issubclass(kind, tuple | enum.Enum) or hasattr(kind, "model_fields")
