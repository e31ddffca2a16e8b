"""One call to an OpenAI-compatible server, through huggingface_hub; every way it can fail gets a name."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from seldio.errors import UsageError
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
    """A call without an answer.

    Args:
        reason: for people.
        again: whether another try may help.
        wait: seconds that the server asks to wait.
        hopeless: whether every other request will fail too.
    """

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
        UsageError: it is no http address, or holds a password.
    """
    try:
        parts = urlsplit(base_url.strip())
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise UsageError(f"{clipped(base_url)} is no address of a server, e.g. http://localhost:8000/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise UsageError(f"the judge's address may hold no password, query or #: put the token into {TOKEN}")
    return base_url.strip().rstrip("/")


class Client:
    """A server and a model; for any number of threads.

    Args:
        base_url: up to and with ``/v1``.
        model: as the server names it.
        token: sent as bearer; never shown.
        timeout: seconds without a byte from the server.
        temperature: of the model.
        max_tokens: of a reply.
        json_mode: whether to ask the server for JSON (``response_format``); some refuse that.
    """

    def __init__(
        self, base_url: str, model: str, token: str | None, timeout: float, temperature: float, max_tokens: int,
        json_mode: bool,
    ) -> None:  # fmt: skip
        from huggingface_hub import InferenceClient

        self._token = token
        self._chat = InferenceClient(base_url=base_url, api_key=token or _NO_TOKEN, timeout=timeout)
        self._options: dict[str, Any] = {"model": model, "temperature": temperature, "max_tokens": max_tokens}
        if json_mode:
            self._options["response_format"] = {"type": "json_object"}

    def ask(self, messages: Sequence[Mapping[str, str]]) -> Answer:
        """Make one call.

        Raises:
            CallFailed: there is no answer.
        """
        from huggingface_hub import errors

        transport: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]  # of httpx or httpx2
        try:
            reply = self._chat.chat.completions.create(messages=[dict(each) for each in messages], **self._options)
        except errors.OfflineModeIsEnabled as error:
            raise CallFailed("HF_HUB_OFFLINE is set: unset it to ask a judge", again=False, hopeless=True) from error
        except errors.HfHubHTTPError as error:
            raise self._refused(error.response, str(error.server_message or "")) from error
        except TimeoutError as error:
            raise CallFailed("the server did not answer in time", again=True) from error
        except transport as error:
            raise CallFailed(self._safe(f"{type(error).__name__}: {error}"), again=True) from error
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            raise CallFailed("the server's answer is no chat completion", again=True) from error
        return self._answer(reply)

    def _answer(self, reply: object) -> Answer:
        """The parts that count, each only if it is of its type: servers say all kinds of things."""
        choices = getattr(reply, "choices", None)
        message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
        if not hasattr(message, "content"):
            raise CallFailed("the server's answer is no chat completion", again=True)
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
