"""Replies kept in a SQLite file, so that no judgement is paid for twice and a stopped run goes on.

The text of a reply is kept, never the verdict made of it: whoever reads the cache reads the reply anew,
with today's rules. Calls that failed are not kept.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import NamedTuple

from seldio.errors import SeldioError, UsageError
from seldio.text import printable

_APPLICATION = 0x5E1D_10  # tells our files from other SQLite files
_FORMAT = 1
_SCHEMA = """
CREATE TABLE replies (
    key TEXT PRIMARY KEY, text TEXT NOT NULL, model TEXT, tokens_in INTEGER, tokens_out INTEGER, task TEXT NOT NULL
) WITHOUT ROWID
"""
_BUSY = 30.0  # seconds to wait for another process


class Entry(NamedTuple):
    """A reply that was received."""

    text: str
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    task: str


class Cache:
    """A cache file, made where there is none; None for one in memory. For one thread, and any number of processes.

    Args:
        path: the file.
        copy: look at a copy of the file, if there is one, and leave the file and its folder as they are.

    Raises:
        UsageError: its folder does not exist.
        SeldioError: the file is damaged, of something else, or cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str] | None, *, copy: bool = False) -> None:
        self.path = None if path is None else os.fspath(path)
        if self.path is not None and not os.path.isdir(os.path.dirname(os.path.abspath(self.path))):  # noqa: PTH100, PTH112, PTH120
            raise UsageError(f"cannot make the judge's cache {printable(self.path)}: its folder does not exist")
        self._copy = tempfile.TemporaryDirectory(prefix="seldio-") if copy and self.path is not None else None
        opened = self.path or ":memory:" if self._copy is None else _copied(str(self.path), self._copy.name)
        with self._told():
            self._base = sqlite3.connect(opened, timeout=_BUSY, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._base.close()
                raise

    def _prepare(self) -> None:
        """Look and make in one transaction: another process may be about to make the same file."""
        with self._transaction():
            if not self._is_ours():
                self._base.execute(f"PRAGMA application_id={_APPLICATION}")
                self._base.execute(f"PRAGMA user_version={_FORMAT}")
                self._base.execute(_SCHEMA)
        with suppress(sqlite3.OperationalError):  # another process is just opening it: whoever comes next does this
            self._base.execute("PRAGMA journal_mode=WAL")
        self._base.execute("PRAGMA synchronous=NORMAL")

    def _is_ours(self) -> bool:
        """Whether the file is a cache; False where it is new."""
        application, version, tables = (
            self._base.execute(query).fetchone()[0]
            for query in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        )
        if tables and application != _APPLICATION:
            raise SeldioError(f"{self._name} is a SQLite file, but no judge's cache of seldio: name another file")
        if tables and version != _FORMAT:
            raise SeldioError(
                f"{self._name} is a judge's cache of another version of seldio ({version}, not {_FORMAT}): "
                "name another file, or use that version"
            )
        return bool(tables)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")

    @property
    def _name(self) -> str:
        return printable(self.path or "the cache in memory")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """SQLite's errors as ours."""
        try:
            yield
        except sqlite3.OperationalError as error:
            hint = "another run may be using it; " if "locked" in str(error) else ""
            raise SeldioError(
                f"cannot use the judge's cache {self._name}: {error}; {hint}or name another file"
            ) from error
        except sqlite3.DatabaseError as error:
            raise SeldioError(
                f"the judge's cache {self._name} is damaged or no SQLite file ({error}): move it away "
                "to begin a new one; its judgements will be asked for again"
            ) from error

    def find(self, keys: Iterable[str]) -> dict[str, Entry]:
        """Those of *keys* that are there."""
        found: dict[str, Entry] = {}
        with self._told():
            for key in keys:
                query = "SELECT text, model, tokens_in, tokens_out, task FROM replies WHERE key = ?"
                with closing(self._base.execute(query, (key,))) as cursor:
                    if row := cursor.fetchone():
                        found[key] = self._entry(row)
        return found

    def _entry(self, row: tuple[object, ...]) -> Entry:
        if not all(isinstance(row[place], str) for place in (0, 4)):
            raise SeldioError(f"the judge's cache {self._name} is damaged (a reply is no text): move it away")
        return Entry(*row)  # type: ignore[arg-type]

    def keep(self, key: str, entry: Entry) -> None:
        """Add a reply, safe on the disk when this returns; one that is there already is replaced."""
        with self._told():
            self._base.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?)", (key, *entry))

    def close(self) -> None:
        """Close the file."""
        self._base.close()
        if self._copy is not None:
            self._copy.cleanup()


def _copied(path: str, folder: str) -> str:
    """A copy of the SQLite file at *path*, with what is not merged into it yet; where there is none, a new file."""
    copy = os.path.join(folder, "cache.sqlite")  # noqa: PTH118
    for end in ("", "-wal"):
        if os.path.isfile(path + end):  # noqa: PTH113
            try:
                shutil.copyfile(path + end, copy + end)
            except OSError as error:
                raise SeldioError(f"cannot read the judge's cache {printable(path)}: {error.strerror}") from error
    return copy
