"""Replies kept in a SQLite file, so that no judgement is paid for twice and a stopped run goes on.

The text of a reply is kept, never the verdict made of it: whoever reads the cache reads the reply anew,
with today's rules. Calls that failed are not kept. A request whose replies say nothing is gave up after a few runs.
"""

from __future__ import annotations

import dataclasses
import math
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from queue import Empty
from typing import NamedTuple, Self

from seldio import progress
from seldio.errors import SeldioError, UsageError
from seldio.scores.judge.client import Client, Crew, JudgeOutcome, Pace, checked_url, token_for
from seldio.scores.judge.costs import JudgePlan, JudgeTally
from seldio.scores.judge.messages import JudgeRequest, Malformed, Reply, read
from seldio.text import clipped, plural, printable

_APPLICATION = 0x5E1D_10  # tells our files from other SQLite files
_FORMAT = 1
_SCHEMA = """
CREATE TABLE replies (
    key TEXT PRIMARY KEY, text TEXT NOT NULL, model TEXT, tokens_in INTEGER, tokens_out INTEGER, task TEXT NOT NULL
) WITHOUT ROWID
"""
#: Runs whose reply could not be read; a table of its own, so that caches made before there was one go on.
_UNREAD = "CREATE TABLE IF NOT EXISTS unread (key TEXT PRIMARY KEY, runs INTEGER NOT NULL) WITHOUT ROWID"
_BUSY = 30.0  # seconds to wait for another process


class CachedReply(NamedTuple):
    """A reply that was received; *unread* counts the runs in which none could be read."""

    text: str
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    task: str
    unread: int = 0


class Cache:
    """A cache file, made where there is none; None for one in memory. For one thread, and any number of processes.

    A *copy* leaves the file and its folder as they are.

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
        with self._sqlite_errors():
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
            self._base.execute(_UNREAD)
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
            raise SeldioError(f"{self._name} is a SQLite file, but not a judge cache of seldio: use another file")
        if tables and version != _FORMAT:
            raise SeldioError(
                f"{self._name} is a judge cache of another version of seldio ({version}, not {_FORMAT}): "
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
    def _sqlite_errors(self) -> Iterator[None]:
        """SQLite's errors as ours."""
        try:
            yield
        except sqlite3.OperationalError as error:
            hint = "another run may be using it; " if "locked" in str(error) else ""
            raise SeldioError(
                f"cannot use the judge's cache {self._name}: {error}; {hint}or use another file"
            ) from error
        except sqlite3.DatabaseError as error:
            raise SeldioError(
                f"the judge's cache {self._name} is damaged or not a SQLite file ({error}): move it away "
                "to begin a new one; its judgements will be asked for again"
            ) from error

    def find(self, keys: Iterable[str]) -> dict[str, CachedReply]:
        """Those of *keys* that are there."""
        found: dict[str, CachedReply] = {}
        with self._sqlite_errors():
            for key in keys:
                query = (
                    "SELECT text, model, tokens_in, tokens_out, task, coalesce(runs, 0) "
                    "FROM replies LEFT JOIN unread USING (key) WHERE key = ?"
                )
                with closing(self._base.execute(query, (key,))) as cursor:
                    if row := cursor.fetchone():
                        found[key] = self._entry(row)
        return found

    def _entry(self, row: tuple[object, ...]) -> CachedReply:
        if not all(isinstance(row[place], str) for place in (0, 4)):
            raise SeldioError(f"the judge's cache {self._name} is damaged (a reply is not text): move it away")
        return CachedReply(*row)  # type: ignore[arg-type]

    def keep(self, key: str, entry: CachedReply) -> None:
        """Add a reply, safe on the disk when this returns; one that is there already is replaced.

        Unread runs add up, until a reply can be read.
        """
        with self._sqlite_errors(), self._transaction():
            self._base.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?)", (key, *entry[:-1]))
            if entry.unread:
                add = "INSERT INTO unread VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET runs = runs + excluded.runs"
                self._base.execute(add, (key, entry.unread))
            else:
                self._base.execute("DELETE FROM unread WHERE key = ?", (key,))

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


# --- the judge -------------------------------------------------------------------------------------

_BYTES_PER_TOKEN = 4
_GRACE = 5.0  # seconds to wait, at a stop, for calls that are under way
_MOST_UNREAD = 3  # runs without a reply that can be read, after which a request is given up
_MOST_REFUSED = 20  # requests in a row without such a reply, after which the judge is not asked any more


class Judge:
    """A model on a server that speaks OpenAI's chat completions.

    Args:
        model: as the server names it.
        base_url: of the server, e.g. ``http://localhost:8000/v1``.
        token: None for that of the environment (:func:`~seldio.scores.judge.client.token_for`).
        cache: SQLite file of replies; None keeps them only as long as this object.
        concurrency: calls at a time.
        max_rpm: calls per minute; None for no limit.
        timeout: seconds without a byte from the server.
        retries: further tries of a call that failed.
        temperature: of the model.
        max_tokens: of a reply.
        again: ask again, whatever the cache holds.
        dry_run: only :meth:`plan` is used: nothing is written, not even a cache.
        json_mode: ask the server for JSON; to be switched off for servers that refuse it.
        sleep: used instead of real waiting.
        clock: seconds that never go back.

    Attributes:
        tally: counts over all that was asked so far.

    Raises:
        UsageError: an option makes no sense.
        SeldioError: the cache cannot be used.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        token: str | None = None,
        cache: str | os.PathLike[str] | None = None,
        concurrency: int = 8,
        max_rpm: float | None = None,
        timeout: float = 120.0,
        retries: int = 4,
        temperature: float = 0.0,
        max_tokens: int = 1024,
        again: bool = False,
        dry_run: bool = False,
        json_mode: bool = True,
        sleep: Callable[[float], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model, self.base_url = model, checked_url(base_url)
        self.temperature, self.max_tokens = temperature, max_tokens
        _check(model, concurrency, max_rpm, timeout, retries, temperature, max_tokens)
        self._token = token or token_for(self.base_url)
        self._timeout, self._retries, self._concurrency = timeout, retries, concurrency
        self._again, self._json_mode = again, json_mode
        self._settings = (model, float(temperature))  # what a verdict depends on; neither address nor limits
        self._stop = threading.Event()
        self._pace = Pace(max_rpm, sleep or self._stop.wait, clock)
        self._client: Client | None = None
        self.cache = Cache(cache, copy=dry_run)
        self.tally = JudgeTally()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the cache."""
        self.cache.close()

    def __repr__(self) -> str:  # never the token
        return f"Judge({self.model!r}, {self.base_url!r})"

    def plan(self, requests: Sequence[JudgeRequest]) -> JudgePlan:
        """What asking *requests* would take; nothing is sent."""
        keys, known = self._look_up(requests)
        todo = {key: request for key, request in zip(keys, requests, strict=True) if key not in known}
        size = sum(len((request.system + request.user).encode()) for request in todo.values())
        tokens_in, tokens_out = math.ceil(size / _BYTES_PER_TOKEN), len(todo) * self.max_tokens
        cached = sum(key in known for key in keys)
        return JudgePlan(len(keys), cached, len(todo), tokens_in, tokens_out)

    def ask(self, requests: Sequence[JudgeRequest]) -> list[Reply]:
        """A reply to each of *requests*, in their order.

        Requests that are word for word the same are sent once. A reply that does not fit the schema is sent back
        once with an explanation; if that does not help, there is no verdict, and the next run asks again, three runs
        in all.

        Raises:
            SeldioError: the server refuses all requests, has stopped answering, or its replies cannot be used; the
                cache fails.
            KeyboardInterrupt: with a text that says how to go on.
        """
        keys, known = self._look_up(requests)
        todo = {key: request for key, request in zip(keys, requests, strict=True) if key not in known}
        fresh = self._send(todo)
        replies: list[Reply] = []
        seen: set[str] = set()
        for key, request in zip(keys, requests, strict=True):
            entry = known.get(key)
            new = fresh.get(key)
            reply = _reply(request, entry, cached=True) if entry else _fresh(request, new) if new else None
            assert reply is not None
            if entry is None and key in seen:  # its tokens were counted with the first
                reply = dataclasses.replace(reply, tokens_in=None, tokens_out=None)
                self.tally.repeated += 1
            seen.add(key)
            replies.append(reply)
        self.tally.add(replies)
        return replies

    def _look_up(self, requests: Sequence[JudgeRequest]) -> tuple[list[str], dict[str, CachedReply]]:
        keys = [request.key(*self._settings) for request in requests]
        if self._again:
            return keys, {}
        firsts = dict(zip(keys, requests, strict=True))
        known = self.cache.find(firsts)
        return keys, {
            key: entry
            for key, entry in known.items()
            if entry.unread >= _MOST_UNREAD or _reply(firsts[key], entry).verdict is not None
        }

    def _send(self, todo: dict[str, JudgeRequest]) -> dict[str, JudgeOutcome]:
        """Ask all of *todo*; replies are in the cache as soon as they are here."""
        if not todo:
            return {}
        self._client = self._client or Client(
            self.base_url, self.model, self._token, self._timeout, self.temperature, self.max_tokens, self._json_mode
        )
        self._stop.clear()
        size = min(self._concurrency, len(todo))
        crew = Crew(self._client, self._pace, self._stop, self._retries, size)
        outcomes: dict[str, JudgeOutcome] = {}
        try:
            crew.start(todo)
            with progress.task("asking the judge", len(todo)) as advance:
                self._collect(todo, crew, outcomes, lambda: advance(1, 0))
        except BaseException as error:
            self._stop.set()
            with suppress(KeyboardInterrupt):  # a second Ctrl-C: no more waiting
                self._drain(todo, crew, outcomes)
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(f"stopped. {self._kept(outcomes)}") from None
            raise
        crew.join()
        return outcomes

    def _collect(
        self, todo: dict[str, JudgeRequest], crew: Crew, outcomes: dict[str, JudgeOutcome], advance: Callable[[], None]
    ) -> None:
        """Take in what the threads hand back.

        A server that fails as many requests in a row as this, each tried several times, is taken for gone; a model
        whose replies to many in a row are refused does not understand what it is asked.
        """
        most, row, unread = max(8, 2 * self._concurrency), 0, 0
        while len(outcomes) < len(todo):
            try:
                outcome = crew.done.get(timeout=0.5)  # a wait without end could not be interrupted on Windows
            except Empty:
                continue
            self._take(todo, outcome, outcomes)
            advance()
            row = 0 if outcome.failure is None else row + 1
            if outcome.failure is not None and (outcome.failure.hopeless or row >= most):
                times = "" if outcome.failure.hopeless else f" ({row} requests in a row failed)"
                raise SeldioError(
                    f"the judge at {printable(self.base_url)} cannot be used{times}: {outcome.failure}. "
                    + self._kept(outcomes)
                )
            unread = unread + outcome.unread if outcome.unread or outcome.failure else 0
            if unread >= _MOST_REFUSED:
                why = _fresh(todo[outcome.key], outcome).error
                raise SeldioError(
                    f"the last {unread} replies of {printable(self.model)} cannot be used: {why}. Each was asked for "
                    f"twice; try another model or --judge-max-tokens. {self._kept(outcomes)}"
                )

    def _take(self, todo: dict[str, JudgeRequest], outcome: JudgeOutcome, outcomes: dict[str, JudgeOutcome]) -> None:
        if outcome.bug is not None:
            raise outcome.bug
        self.tally.calls += outcome.calls
        self.tally.uncounted += outcome.uncounted
        self.tally.tokens_in += outcome.tokens_in or 0
        self.tally.tokens_out += outcome.tokens_out or 0
        if outcome.failure is None:
            task = todo[outcome.key].task
            entry = CachedReply(
                outcome.text, outcome.model, outcome.tokens_in, outcome.tokens_out, task, int(outcome.unread)
            )
            self.cache.keep(outcome.key, entry)
        outcomes[outcome.key] = outcome

    def _drain(self, todo: dict[str, JudgeRequest], crew: Crew, outcomes: dict[str, JudgeOutcome]) -> None:
        """Keep what is paid for already: wait a little for calls under way."""
        crew.join(min(_GRACE, self._timeout))
        while not crew.done.empty():
            outcome = crew.done.get()
            if outcome.bug is None:
                self._take(todo, outcome, outcomes)

    def _kept(self, outcomes: dict[str, JudgeOutcome]) -> str:
        good = sum(outcome.failure is None for outcome in outcomes.values())
        if self.cache.path is None:
            return f"Without a cache file, {plural(good, 'reply', 'replies')} of this run are lost: use --judge-cache"
        return (
            f"{plural(good, 'reply', 'replies')} of this run are in {printable(self.cache.path)}: "
            "run the same command again to resume"
        )


def _fresh(request: JudgeRequest, outcome: JudgeOutcome) -> Reply:
    """The reply of this run."""
    if outcome.failure is not None:
        reason = str(outcome.failure)
        return Reply(request.id, None, "", False, outcome.tokens_in, outcome.tokens_out, reason, True, outcome.model)
    entry = CachedReply(outcome.text, outcome.model, outcome.tokens_in, outcome.tokens_out, request.task)
    return _reply(request, entry)


def _reply(request: JudgeRequest, entry: CachedReply, *, cached: bool = False) -> Reply:
    """The reply in *entry*, read anew. The tokens of a cached one were paid for by another run."""
    tokens = (None, None) if cached else (entry.tokens_in, entry.tokens_out)
    try:
        verdict, error = read(entry.text, request), None
    except Malformed as why:
        verdict, error = None, str(why)
        if cached:
            error += f"; gave up after {plural(entry.unread, 'run')}, --judge-again asks again"
    return Reply(request.id, verdict, entry.text, cached, *tokens, error, False, entry.model)


def _check(
    model: str,
    concurrency: int,
    max_rpm: float | None,
    timeout: float,
    retries: int,
    temperature: float,
    max_tokens: int,
) -> None:
    """Options that make no sense are refused before anything is sent."""
    wrong = [
        text
        for sound, text in (
            (bool(model.strip()), "--judge requires the name of a model"),
            (1 <= concurrency <= 1024, f"{concurrency} parallel calls: must be from 1 to 1,024"),
            (max_rpm is None or 0 < max_rpm < math.inf, f"{max_rpm} calls per minute: must be above 0"),
            (0 < timeout < math.inf, f"a timeout of {timeout} s: must be above 0"),
            (0 <= retries <= 100, f"{retries} retries: must be from 0 to 100"),
            (0 <= temperature <= 2, f"a temperature of {temperature}: must be from 0 to 2"),
            (max_tokens >= 1, f"replies of {max_tokens} tokens: must be at least 1"),
        )
        if not sound
    ]
    if wrong:
        raise UsageError(clipped("; ".join(wrong), 300))
