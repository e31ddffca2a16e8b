"""One model on one server, the pace at which it is asked, and the threads that ask it."""

from __future__ import annotations

import dataclasses
import os
import random
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from seldio.errors import UsageError, needing
from seldio.scores.judge.messages import JudgeRequest, Malformed, read
from seldio.text import clipped

TOKEN = "SELDIO_JUDGE_TOKEN"
_HUGGING_FACE = (".huggingface.co", ".huggingface.cloud", ".hf.space")
#: Answers to any request will be the same: no use going on.
_HOPELESS = {401, 402, 403, 404, 405}
_PASSING = {408, 409, 425, 429}
#: In place of a token: with none, huggingface_hub would send the saved one of the Hub to any server.
_NO_TOKEN = "no-token"
_SHORTEST_SECRET = 6


class Answer(NamedTuple):
    """What a server said: its text, its model, tokens in and out as far as it told."""

    text: str
    model: str | None
    tokens_in: int | None
    tokens_out: int | None


class CallFailed(Exception):
    """A call without an answer; *wait*: seconds that the server asks for, *hopeless*: all other calls will fail too."""

    def __init__(self, reason: str, *, again: bool, wait: float | None = None, hopeless: bool = False) -> None:
        super().__init__(reason)
        self.again, self.wait, self.hopeless = again, wait, hopeless


def token_for(base_url: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """The token for a server: ``SELDIO_JUDGE_TOKEN``; for hosts of Hugging Face also ``HF_TOKEN``.

    ``HF_TOKEN`` opens the Hub, so it goes to no other host.
    """
    if token := environ.get(TOKEN, "").strip():
        return token
    host = "." + (urlsplit(base_url).hostname or "")
    return (environ.get("HF_TOKEN", "").strip() or None) if host.endswith(_HUGGING_FACE) else None


def checked_url(base_url: str) -> str:
    """*base_url* without a slash at its end.

    Raises:
        UsageError: it is not an http address, or it contains a password.
    """
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


class Client:
    """A server and a model, for any number of threads; the token is sent as bearer, and never shown."""

    def __init__(
        self, base_url: str, model: str, token: str | None, timeout: float, temperature: float, max_tokens: int,
        json_mode: bool,
    ) -> None:  # fmt: skip
        with needing("huggingface_hub"):
            from huggingface_hub import InferenceClient

        self._token = token
        self._chat = InferenceClient(base_url=base_url, api_key=token or _NO_TOKEN, timeout=timeout)
        self._options: dict[str, Any] = {"model": model, "temperature": temperature, "max_tokens": max_tokens}
        self._form: dict[str, Any] = {"response_format": {"type": "json_object"}} if json_mode else {}

    def ask(self, messages: Sequence[Mapping[str, str]], *, plain: bool = False) -> Answer:
        """Make one call; the reply to a *plain* one is not JSON.

        Raises:
            CallFailed: there is no answer.
        """
        from huggingface_hub import errors

        transport: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]  # of httpx, httpx2 or requests
        try:
            form = {} if plain else self._form
            reply = self._chat.chat.completions.create(
                messages=[dict(each) for each in messages], **self._options, **form
            )
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
        return self._answer(reply)

    def _answer(self, reply: object) -> Answer:
        """The parts that count, each only if it is of its type: servers say all kinds of things."""
        choices = getattr(reply, "choices", None)
        message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
        if not hasattr(message, "content"):
            raise CallFailed("the server's reply is not a chat completion", again=True)
        usage = getattr(reply, "usage", None)
        return Answer(
            self._hidden(_text(message, "content") or ""),
            None if (name := _text(reply, "model")) is None else self._hidden(name)[:200],
            _count(usage, "prompt_tokens"),
            _count(usage, "completion_tokens"),
        )

    def _refused(self, response: Any, message: str) -> CallFailed:
        status = int(response.status_code)
        reason = self._safe(f"the server answers {status}" + (f": {message}" if message else ""))
        if status in (401, 403) and self._token is None:
            reason += f" (no token was sent: set {TOKEN})"
        again = status >= 500 or status in _PASSING
        wait = retry_after(response.headers.get("retry-after"))
        return CallFailed(reason, again=again, wait=wait, hopeless=status in _HOPELESS)

    def _hidden(self, text: str) -> str:
        """*text* without the token."""
        secret = self._token
        return text.replace(secret, "[token]") if secret and len(secret) >= _SHORTEST_SECRET else text

    def _safe(self, text: str) -> str:
        return clipped(re.sub(r"\s+", " ", self._hidden(text)).strip(), 200)


def retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a ``Retry-After`` header asks for, a number or a date; None where it asks for nothing sensible."""
    if header is None:
        return None
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", header.strip(), re.ASCII):
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max((date - (now or datetime.now(UTC))).total_seconds(), 0.0)


def _text(holder: object, name: str) -> str | None:
    value = getattr(holder, name, None)
    return value if isinstance(value, str) else None


def _count(usage: object, name: str) -> int | None:
    """A number of tokens from a server; only a whole one from 0 on that fits into a cache is believed."""
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else None


# --- pace ------------------------------------------------------------------------------------------

#: No wait is longer than this, in seconds, whatever the server says.
LONGEST = 300.0
_FIRST = 1.0


class Pace:
    """When the next call may be made, for all threads: *max_rpm* calls per minute, evenly spaced."""

    def __init__(
        self, max_rpm: float | None, sleep: Callable[[float], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._interval = 60.0 / max_rpm if max_rpm else 0.0
        self._sleep, self._clock = sleep, clock
        self._lock = threading.Lock()
        self._next = self._held = clock()

    def turn(self) -> None:
        """Wait for the turn to make a call."""
        with self._lock:
            start = max(self._clock(), self._next, self._held)
            self._next = start + self._interval
        while (left := max(start, self._held) - self._clock()) > 0:
            before = self._clock()
            self._sleep(left)
            if self._clock() - before < left / 2:
                return  # woken up: the run is stopped

    def hold(self, seconds: float) -> None:
        """Let nobody call for so long: what ``Retry-After`` asks for."""
        with self._lock:
            self._held = max(self._held, self._clock() + min(seconds, LONGEST))

    def back_off(self, failures: int) -> None:
        """Wait after failures of one request: 1, 2, 4, … seconds, give or take a half."""
        seconds = min(_FIRST * 2 ** (failures - 1), LONGEST)
        self._sleep(seconds * random.uniform(0.5, 1.5))


# --- threads ---------------------------------------------------------------------------------------

_SHOWN = 4000  # characters of a bad reply that the judge is shown again


@dataclasses.dataclass
class JudgeOutcome:
    """What a thread hands back for a request."""

    key: str
    text: str = ""
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    calls: int = 0
    uncounted: int = 0
    unread: bool = False
    failure: CallFailed | None = None
    bug: BaseException | None = None


class Crew:
    """Threads that work through requests until there are none left, or the run is stopped."""

    def __init__(self, client: Client, pace: Pace, stop: threading.Event, retries: int, size: int) -> None:
        self._client, self._pace, self._stop, self._retries = client, pace, stop, retries
        self._waiting: SimpleQueue[tuple[str, JudgeRequest]] = SimpleQueue()
        self.done: SimpleQueue[JudgeOutcome] = SimpleQueue()
        # daemons: a server that stalls cannot keep a stopped program from ending
        self._threads = [
            threading.Thread(target=self._work, daemon=True, name=f"judge-{number}") for number in range(size)
        ]

    def start(self, todo: dict[str, JudgeRequest]) -> None:
        """Begin with *todo*, by key."""
        for each in todo.items():
            self._waiting.put(each)
        for thread in self._threads:
            thread.start()

    def join(self, seconds: float | None = None) -> None:
        """Wait for all threads to end, up to a number of seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(None if end is None else max(end - time.monotonic(), 0))

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                key, request = self._waiting.get_nowait()
            except Empty:
                return
            outcome = JudgeOutcome(key)
            try:
                self._judge(request, outcome)
            except CallFailed as failure:
                outcome.failure = failure
            except BaseException as bug:  # noqa: BLE001 - raised again in the thread that asked
                outcome.bug = bug
            self.done.put(outcome)
            if outcome.failure is not None and outcome.failure.hopeless:
                self._stop.set()  # the others need not find out by themselves

    def _judge(self, request: JudgeRequest, outcome: JudgeOutcome) -> None:
        """Ask once, and once more with an explanation if the reply cannot be read."""
        messages = request.messages()
        for last in (False, True):
            self._call(messages, outcome, plain=request.schema.read is not None)
            try:
                read(outcome.text, request)
            except Malformed as why:
                outcome.unread = last
                if last:
                    return
                bad = {"role": "assistant", "content": outcome.text[:_SHOWN] or "(empty)"}
                messages += [bad, {"role": "user", "content": request.again(why)}]
            else:
                return

    def _call(self, messages: list[dict[str, str]], outcome: JudgeOutcome, *, plain: bool) -> None:
        """One call, with its retries; the answer goes into *outcome*."""
        for failures in range(self._retries + 1):
            self._pace.turn()
            if self._stop.is_set():
                raise CallFailed("stopped", again=False)
            try:
                answer = self._client.ask(messages, plain=plain)
            except CallFailed as failure:
                if not failure.again or failures == self._retries:
                    raise
                if failure.wait is not None:
                    self._pace.hold(failure.wait)
                else:
                    self._pace.back_off(failures + 1)
            else:
                outcome.text, outcome.model, outcome.calls = answer.text, answer.model, outcome.calls + 1
                outcome.uncounted += answer.tokens_in is None or answer.tokens_out is None
                outcome.tokens_in = _plus(outcome.tokens_in, answer.tokens_in)
                outcome.tokens_out = _plus(outcome.tokens_out, answer.tokens_out)
                return


def _plus(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more
