"""A model on a server that speaks OpenAI's chat completions, and the SQLite file of its replies.

The file keeps the text of a reply, never the verdict: whoever reads it applies the rules of today, no reply is paid for
twice, and a stopped run goes on. A request whose replies say nothing is given up after a few runs.
"""

from __future__ import annotations

import dataclasses
import math
import os
import random
import re
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from seldio import progress
from seldio.errors import SeldioError, UsageError, needing
from seldio.reports.tables import Cell, Column, Notice, Table
from seldio.scores.judge.messages import JudgeRequest, Malformed, Reply, read
from seldio.text import clipped, listed, plural, printable

TOKEN = "SELDIO_JUDGE_TOKEN"
_HUGGING_FACE = (".huggingface.co", ".huggingface.cloud", ".hf.space")
#: In place of a token: with none, huggingface_hub would send the saved one of the Hub to any server.
_NO_TOKEN = "no-token"
_SHORTEST_SECRET = 6  # characters; a shorter one is part of many words
_HOPELESS = {401, 402, 403, 404, 405}  # the answer to any request will be the same
_PASSING = {408, 409, 425, 429}
_LONGEST_WAIT = 300.0  # seconds, whatever the server asks for
_BYTES_PER_TOKEN = 4
_SHOWN = 4000  # characters of a bad reply that the judge is shown again
_GRACE = 5.0  # seconds to wait, at a stop, for calls that are under way
_MOST_UNREAD = 3  # runs without a reply that can be read, after which a request is given up
_MOST_REFUSED = 20  # requests in a row without such a reply, after which the judge is not asked any more
_APPLICATION, _FORMAT = 0x5E1D_10, 1  # tell our files from other SQLite files
_SCHEMA = (
    "CREATE TABLE replies (key TEXT PRIMARY KEY, text TEXT NOT NULL, model TEXT, tokens_in INTEGER, "
    "tokens_out INTEGER, task TEXT NOT NULL) WITHOUT ROWID"
)
_UNREAD = "CREATE TABLE IF NOT EXISTS unread (key TEXT PRIMARY KEY, runs INTEGER NOT NULL) WITHOUT ROWID"
_FIND = "SELECT text, model, tokens_in, tokens_out, coalesce(runs, 0) FROM replies LEFT JOIN unread USING (key) WHERE key = ?"  # noqa: E501


def token_for(base_url: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the token for a server: ``SELDIO_JUDGE_TOKEN``; ``HF_TOKEN`` goes to hosts of Hugging Face alone."""
    if token := environ.get(TOKEN, "").strip():
        return token
    host = "." + (urlsplit(base_url).hostname or "")
    return (environ.get("HF_TOKEN", "").strip() or None) if host.endswith(_HUGGING_FACE) else None


# --- the cache -------------------------------------------------------------------------------------


class CachedReply(NamedTuple):
    """A reply that was received."""

    text: str
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    unread: int = 0  # the runs in which none could be read


class Cache:
    """A cache file, made where there is none; in memory without a path. For one thread, and any number of processes.

    Raises:
        UsageError: its folder does not exist.
        SeldioError: the file is damaged, of something else, or cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str] | None, *, read_only: bool = False) -> None:
        self.path = None if path is None else os.fspath(path)
        if self.path is not None and not Path(self.path).absolute().parent.is_dir():
            raise UsageError(f"cannot make the judge's cache {printable(self.path)}: its folder does not exist")
        place = self.path or ":memory:"
        if read_only and self.path is not None:
            place = f"{Path(self.path).absolute().as_uri()}?mode=ro" if Path(self.path).is_file() else ":memory:"
        with self._sqlite_errors():
            self._base = sqlite3.connect(place, timeout=30, isolation_level=None, uri=place.startswith("file:"))
            try:
                if not place.startswith("file:"):
                    self._prepare()
                elif not self._is_ours():
                    raise SeldioError(f"{printable(place)} is empty: it holds no replies of a judge")
            except BaseException:
                self._base.close()
                raise

    def _prepare(self) -> None:
        with self._transaction():  # another process may be about to make the same file
            if not self._is_ours():
                self._base.execute(f"PRAGMA application_id={_APPLICATION}")
                self._base.execute(f"PRAGMA user_version={_FORMAT}")
                self._base.execute(_SCHEMA)
            self._base.execute(_UNREAD)
        with suppress(sqlite3.OperationalError):  # another process is just opening it: whoever comes next does this
            self._base.execute("PRAGMA journal_mode=WAL")
        self._base.execute("PRAGMA synchronous=NORMAL")

    def _is_ours(self) -> bool:
        """Return whether the file is a cache; False where it is new."""
        queries = ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        application, version, tables = (self._base.execute(query).fetchone()[0] for query in queries)
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

    def find(self, key: str) -> CachedReply | None:
        """Return the reply of a key."""
        with self._sqlite_errors():
            row = self._base.execute(_FIND, (key,)).fetchone()
        if row and not isinstance(row[0], str):
            raise SeldioError(f"the judge's cache {self._name} is damaged (a reply is not text): move it away")
        return CachedReply(*row) if row else None

    def keep(self, key: str, reply: CachedReply, task: str = "") -> None:
        """Write a reply, in place of one that is there; unread runs add up until a reply can be read."""
        with self._sqlite_errors(), self._transaction():
            self._base.execute("REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?)", (key, *reply[:-1], task))
            if reply.unread:
                add = "INSERT INTO unread VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET runs = runs + excluded.runs"
                self._base.execute(add, (key, reply.unread))
            else:
                self._base.execute("DELETE FROM unread WHERE key = ?", (key,))

    def close(self) -> None:
        """Close the file."""
        self._base.close()


# --- counts ----------------------------------------------------------------------------------------


@dataclasses.dataclass
class JudgeTally:
    """Counts of a run."""

    asked: int = 0  # requests
    cached: int = 0  # of these, those whose reply was in the cache
    verdicts: int = 0  # those with a verdict
    no_verdict: int = 0  # those with a reply that could not be read
    failed: int = 0  # those that the server did not answer
    calls: int = 0  # to the server that came back with a reply
    tokens_in: int = 0  # sent, as far as the server counts
    tokens_out: int = 0  # received
    models: Counter[str] = dataclasses.field(default_factory=Counter)  # how often each replied, by its own name
    refused: Counter[str] = dataclasses.field(default_factory=Counter)  # why replies were none, and how often
    errors: Counter[str] = dataclasses.field(default_factory=Counter)  # why there was no reply, and how often

    def add(self, replies: Sequence[Reply]) -> None:
        """Count what came back."""
        for reply in replies:
            self.asked += 1
            self.cached += reply.cached
            self.failed += reply.failed
            self.verdicts += reply.verdict is not None
            self.no_verdict += reply.verdict is None and not reply.failed
            if reply.model is not None:
                self.models[reply.model] += 1
            if reply.error is not None:
                (self.errors if reply.failed else self.refused)[reply.error] += 1

    def table(self) -> Table:
        """Return the counts, for a report."""
        names = ("asked", "cached", "verdicts", "no_verdict", "failed", "calls", "tokens_in", "tokens_out")
        rows: list[tuple[Cell, ...]] = [(name, getattr(self, name)) for name in names]
        rows += [(f"replied by {clipped(name)}", number) for name, number in sorted(self.models.items())]
        for reasons, what in ((self.refused, "no verdict"), (self.errors, "no reply")):
            rows += [(f"{what}: {clipped(why, 120)}", number) for why, number in reasons.most_common(5)]
        columns = (Column("what", "what"), Column("count", "count", digits=4))
        return Table("judge", "what judging took", columns, tuple(rows))

    def notices(self) -> tuple[Notice, ...]:
        """Return what to know before the numbers, where some replies give no verdict."""
        if not self.refused:
            return ()
        replies = self.asked - self.failed
        reasons = [f"{clipped(why, 90)} ({number:,})" for why, number in self.refused.most_common(3)]
        verbs = ("reply of the judge was refused and gives", "replies of the judge were refused and give")
        text = f"{self.refused.total():,} of {replies:,} {verbs[replies != 1]} no verdict: "
        return (Notice("refused-replies", text + listed(reasons, 3, len(self.refused)), grave=True, first=True),)


@dataclasses.dataclass(frozen=True)
class JudgePlan:
    """What a run would take (``--dry-run``)."""

    requests: int  # all
    cached: int  # whose reply is in the cache
    calls: int  # to be made, if every reply is good at once
    tokens_in: int  # estimated: a token for each four bytes of UTF-8
    tokens_out: int  # at most

    def __str__(self) -> str:
        return (
            f"{plural(self.requests, 'request')}, {self.cached:,} of them in the cache: {plural(self.calls, 'call')}, "
            f"about {self.tokens_in:,} tokens in, at most {self.tokens_out:,} out"
        )


# --- the judge -------------------------------------------------------------------------------------


class CallFailed(Exception):
    """A call without an answer; *wait*: seconds that the server asks for, *hopeless*: all other calls will fail too."""

    def __init__(self, reason: str, *, again: bool, wait: float | None = None, hopeless: bool = False) -> None:
        super().__init__(reason)
        self.again, self.wait, self.hopeless = again, wait, hopeless


@dataclasses.dataclass
class _Outcome:
    """What a thread hands back for a request."""

    reply: CachedReply = dataclasses.field(default_factory=lambda: CachedReply(""))
    calls: int = 0
    failure: BaseException | None = None
    why: str = ""  # the last reply could not be read

    def add(self, answer: CachedReply) -> None:
        tokens_in, tokens_out = (_plus(self.reply[place], answer[place]) for place in (2, 3))
        self.reply = CachedReply(answer.text, answer.model, tokens_in, tokens_out)
        self.calls += 1


def _plus(total: Any, more: Any) -> int | None:
    return total if more is None else (total or 0) + more


class Judge:
    """A model on a server that speaks OpenAI's chat completions.

    Args:
        model: as the server names it.
        base_url: of the server, e.g. ``http://localhost:8000/v1``.
        token: None for that of the environment (:func:`token_for`).
        cache: SQLite file of replies; None keeps them only as long as this object.
        concurrency: calls at a time.
        timeout: seconds without a byte from the server.
        retries: further tries of a call that failed.
        temperature: of the model.
        max_tokens: of a reply.
        again: ask again, whatever the cache holds.
        dry_run: only :meth:`plan` is used: nothing is written, not even a cache.
        json_mode: ask the server for JSON; to be switched off for servers that refuse it.
        sleep: used instead of real waiting.

    Raises:
        UsageError: an option makes no sense.
        SeldioError: the cache cannot be used.
    """

    def __init__(
        self, model: str, base_url: str, *, token: str | None = None, cache: str | os.PathLike[str] | None = None,
        concurrency: int = 8, timeout: float = 120.0, retries: int = 4, temperature: float = 0.0,
        max_tokens: int = 1024, again: bool = False, dry_run: bool = False, json_mode: bool = True,
        sleep: Callable[[float], object] | None = None,
    ) -> None:  # fmt: skip
        self.model, self.base_url = model, _checked_url(base_url)
        self.temperature, self.max_tokens = temperature, max_tokens
        _check(model, concurrency, timeout, retries, temperature, max_tokens)
        self._token = token or token_for(self.base_url)
        self._timeout, self._retries, self._concurrency = timeout, retries, concurrency
        self._again, self._json_mode = again, json_mode
        self._stop = threading.Event()
        self._sleep = sleep or self._stop.wait
        self._chat: Any = None
        self.cache = Cache(cache, read_only=dry_run)
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
        """Return what asking *requests* would take; nothing is sent."""
        keys, known = self._look_up(requests)
        todo = {key: request for key, request in zip(keys, requests, strict=True) if key not in known}
        size = sum(len((request.system + request.user).encode()) for request in todo.values())
        tokens_in, tokens_out = math.ceil(size / _BYTES_PER_TOKEN), len(todo) * self.max_tokens
        return JudgePlan(len(keys), sum(key in known for key in keys), len(todo), tokens_in, tokens_out)

    def ask(self, requests: Sequence[JudgeRequest]) -> list[Reply]:
        """Return a reply to each of *requests*, in their order; those that are word for word the same are sent once.

        A reply that does not fit the schema is sent back once with an explanation. If that does not help, there is no
        verdict, and the next run asks again, three runs in all.

        Raises:
            SeldioError: the server refuses all requests, has stopped answering, or its replies cannot be used; the
                cache fails.
            KeyboardInterrupt: with a text that says how to go on.
        """
        keys, known = self._look_up(requests)
        todo = {key: request for key, request in zip(keys, requests, strict=True) if key not in known}
        fresh = self._send(todo)
        replies = [
            _reply(request, known[key], cached=True) if key in known else _fresh(request, fresh[key])
            for key, request in zip(keys, requests, strict=True)
        ]
        self.tally.add(replies)
        return replies

    def _look_up(self, requests: Sequence[JudgeRequest]) -> tuple[list[str], dict[str, CachedReply]]:
        """Return the keys of requests, and the replies in the cache that need not be asked for again."""
        keys = [request.key(self.model, float(self.temperature)) for request in requests]
        known: dict[str, CachedReply] = {}
        for key, request in zip(keys, requests, strict=True) if not self._again else ():
            reply = self.cache.find(key)
            if reply and (reply.unread >= _MOST_UNREAD or _reply(request, reply).verdict is not None):
                known[key] = reply
        return keys, known

    def _send(self, todo: dict[str, JudgeRequest]) -> dict[str, _Outcome]:
        """Ask all of *todo*; replies are in the cache as soon as they are here."""
        outcomes: dict[str, _Outcome] = {}
        waiting, done = SimpleQueue[tuple[str, JudgeRequest]](), SimpleQueue[tuple[str, _Outcome]]()
        for each in todo.items():
            waiting.put(each)
        self._stop.clear()
        # daemons: a server that stalls cannot keep a stopped program from ending
        threads = [
            threading.Thread(target=self._work, args=(waiting, done), daemon=True)
            for _ in range(min(self._concurrency, len(todo)))
        ]
        try:
            for thread in threads:
                thread.start()
            with progress.task("asking the judge", len(todo)) as advance:
                for outcome in self._collected(todo, done, outcomes):
                    self._check_server(outcome, outcomes)
                    advance(1, 0)
        except BaseException as error:
            self._stop.set()
            end = time.monotonic() + min(_GRACE, self._timeout)
            for thread in threads:
                thread.join(max(end - time.monotonic(), 0))
            while not done.empty():
                self._take(todo, *done.get(), outcomes)
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(f"stopped. {self._kept(outcomes)}") from None
            raise
        return outcomes

    def _collected(
        self, todo: dict[str, JudgeRequest], done: SimpleQueue[tuple[str, _Outcome]], outcomes: dict[str, _Outcome]
    ) -> Iterator[_Outcome]:
        while len(outcomes) < len(todo):
            try:
                key, outcome = done.get(timeout=0.5)  # a wait without end could not be interrupted on Windows
            except Empty:
                continue
            self._take(todo, key, outcome, outcomes)
            yield outcome

    def _take(self, todo: dict[str, JudgeRequest], key: str, outcome: _Outcome, outcomes: dict[str, _Outcome]) -> None:
        if outcome.failure is not None and not isinstance(outcome.failure, CallFailed):
            raise outcome.failure
        self.tally.calls += outcome.calls
        self.tally.tokens_in += outcome.reply.tokens_in or 0
        self.tally.tokens_out += outcome.reply.tokens_out or 0
        if outcome.failure is None:
            self.cache.keep(key, outcome.reply, todo[key].task)
        outcomes[key] = outcome

    def _check_server(self, outcome: _Outcome, outcomes: dict[str, _Outcome]) -> None:
        """Raise where the server has failed too many requests in a row, or its last replies could not be read."""
        failure = outcome.failure
        latest = list(outcomes.values())[::-1]
        failed = next((n for n, each in enumerate(latest) if each.failure is None), len(latest))
        hopeless = isinstance(failure, CallFailed) and failure.hopeless
        if hopeless or failed >= max(8, 2 * self._concurrency):
            times = "" if hopeless else f" ({failed} requests in a row failed)"
            server = f"the judge at {printable(self.base_url)} cannot be used{times}: {failure}. "
            raise SeldioError(server + self._kept(outcomes))
        refused = [each for each in latest if each.failure is None][:_MOST_REFUSED]
        if len(refused) == _MOST_REFUSED and all(each.reply.unread for each in refused):
            raise SeldioError(
                f"the last {_MOST_REFUSED} replies of {printable(self.model)} cannot be used: {outcome.why}. Each was "
                f"asked for twice; try another model or --judge-max-tokens. {self._kept(outcomes)}"
            )

    def _kept(self, outcomes: dict[str, _Outcome]) -> str:
        good = plural(sum(outcome.failure is None for outcome in outcomes.values()), "reply", "replies")
        if self.cache.path is None:
            return f"Without a cache file, {good} of this run are lost: use --judge-cache"
        return f"{good} of this run are in {printable(self.cache.path)}: run the same command again to resume"

    # --- in threads

    def _work(self, waiting: SimpleQueue[tuple[str, JudgeRequest]], done: SimpleQueue[tuple[str, _Outcome]]) -> None:
        while not self._stop.is_set():
            try:
                key, request = waiting.get_nowait()
            except Empty:
                return
            outcome = _Outcome()
            try:
                self._judge(request, outcome)
            except BaseException as failure:  # noqa: BLE001 - raised again in the thread that asked
                outcome.failure = failure
                if isinstance(failure, CallFailed) and failure.hopeless:
                    self._stop.set()  # the others need not find out by themselves
            done.put((key, outcome))

    def _judge(self, request: JudgeRequest, outcome: _Outcome) -> None:
        """Ask once, and once more with an explanation if the reply cannot be read."""
        messages = request.messages()
        for last in (False, True):
            outcome.add(self._call(messages, plain=request.schema.read is not None))
            try:
                read(outcome.reply.text, request)
            except Malformed as why:
                bad = {"role": "assistant", "content": outcome.reply.text[:_SHOWN] or "(empty)"}
                messages += [bad, {"role": "user", "content": request.again(why)}]
                outcome.reply, outcome.why = outcome.reply._replace(unread=int(last)), str(why)
            else:
                return

    def _call(self, messages: list[dict[str, str]], *, plain: bool) -> CachedReply:
        """Make one call, with its retries."""
        for failures in range(self._retries + 1):
            if self._stop.is_set():
                break
            try:
                return self._asked(messages, plain=plain)
            except CallFailed as failure:
                if not failure.again or failures == self._retries:
                    raise
                wait = 2.0**failures * random.uniform(0.5, 1.5) if failure.wait is None else failure.wait
                self._sleep(min(wait, _LONGEST_WAIT))
        raise CallFailed("stopped", again=False)

    def _asked(self, messages: list[dict[str, str]], *, plain: bool) -> CachedReply:
        with needing("huggingface_hub"):
            from huggingface_hub import InferenceClient, errors

        if self._chat is None:
            self._chat = InferenceClient(
                base_url=self.base_url, api_key=self._token or _NO_TOKEN, timeout=self._timeout
            )
        transport: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]  # of httpx, httpx2 or requests
        form = {"response_format": {"type": "json_object"}} if self._json_mode and not plain else {}
        try:
            reply = self._chat.chat.completions.create(
                messages=messages, model=self.model, temperature=self.temperature, max_tokens=self.max_tokens, **form
            )
            content, usage = reply.choices[0].message.content, getattr(reply, "usage", None)
        except errors.OfflineModeIsEnabled as error:
            raise CallFailed("HF_HUB_OFFLINE is set: unset it to ask a judge", again=False, hopeless=True) from error
        except errors.HfHubHTTPError as error:
            raise self._refused(error.response, str(error.server_message or "")) from error
        except TimeoutError as error:
            raise CallFailed("the server did not answer in time", again=True) from error
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            raise CallFailed("the server's reply is not a chat completion", again=True) from error
        except (transport, OSError) as error:  # OSError: requests has more errors than those of HTTP
            raise CallFailed(self._safe(f"{type(error).__name__}: {error}"), again=True) from error
        model = getattr(reply, "model", None)
        return CachedReply(
            self._hidden(content) if isinstance(content, str) else "",
            self._hidden(model)[:200] if isinstance(model, str) else None,
            _count(usage, "prompt_tokens"),
            _count(usage, "completion_tokens"),
        )

    def _refused(self, response: Any, message: str) -> CallFailed:
        status = int(response.status_code)
        reason = self._safe(f"the server answers {status}" + (f": {message}" if message else ""))
        if status in (401, 403) and self._token is None:
            reason += f" (no token was sent: set {TOKEN})"
        header = (response.headers.get("retry-after") or "").strip()
        wait = float(header) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", header, re.ASCII) else None
        again = status >= 500 or status in _PASSING
        return CallFailed(reason, again=again, wait=wait, hopeless=status in _HOPELESS)

    def _hidden(self, text: str) -> str:
        """Return *text* without the token."""
        secret = self._token
        return text.replace(secret, "[token]") if secret and len(secret) >= _SHORTEST_SECRET else text

    def _safe(self, text: str) -> str:
        return clipped(re.sub(r"\s+", " ", self._hidden(text)).strip(), 200)


def _count(usage: object, name: str) -> int | None:
    """Return a number of tokens from a server, if it is a whole one that fits into a cache."""
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else None


def _fresh(request: JudgeRequest, outcome: _Outcome) -> Reply:
    if outcome.failure is None:
        return _reply(request, outcome.reply)
    return Reply(request.id, None, error=str(outcome.failure), failed=True)


def _reply(request: JudgeRequest, known: CachedReply, *, cached: bool = False) -> Reply:
    tokens = (None, None) if cached else (known.tokens_in, known.tokens_out)
    verdict = error = None
    try:
        verdict = read(known.text, request)
    except Malformed as why:
        error = str(why)
        if cached:
            error += f"; gave up after {plural(known.unread, 'run')}, --judge-again asks again"
    return Reply(request.id, verdict, known.text, cached, *tokens, error, False, known.model)


# --- options ---------------------------------------------------------------------------------------


def _checked_url(base_url: str) -> str:
    try:
        parts = urlsplit(base_url.strip())
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise UsageError(f"{clipped(base_url)} is not the address of a server, such as http://localhost:8000/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise UsageError(f"the judge's address must not contain a password, query or #; put the token into {TOKEN}")
    return base_url.strip().rstrip("/")


def _check(model: str, concurrency: int, timeout: float, retries: int, temperature: float, max_tokens: int) -> None:
    """Raise for options that make no sense, before anything is sent."""
    sound = (
        (bool(model.strip()), "--judge requires the name of a model"),
        (1 <= concurrency <= 1024, f"{concurrency} parallel calls: must be from 1 to 1,024"),
        (0 < timeout < math.inf, f"a timeout of {timeout} s: must be above 0"),
        (0 <= retries <= 100, f"{retries} retries: must be from 0 to 100"),
        (0 <= temperature <= 2, f"a temperature of {temperature}: must be from 0 to 2"),
        (max_tokens >= 1, f"replies of {max_tokens} tokens: must be at least 1"),
    )
    if wrong := [text for right, text in sound if not right]:
        raise UsageError(clipped("; ".join(wrong), 300))
