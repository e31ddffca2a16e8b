"""The Hub's client: patience with a busy Hub, errors in plain words, and a token that is never shown."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NoReturn, TypeVar

from huggingface_hub import HfApi, constants, get_token
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalTokenNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import logging
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars

from seldio import __version__
from seldio.errors import SeldioError, UsageError

T = TypeVar("T")

#: Tries of one request before seldio gives up, and the seconds before the second one; each pause is twice the last.
TRIES, PAUSE, LONGEST_PAUSE = 6, 1.0, 60.0
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_TOKEN = re.compile(r"hf_[A-Za-z0-9]{8,}")
#: What the client's HTTP library raises, in each of its versions.
_HTTP_ERROR: type[Exception] = next(base for base in HfHubHTTPError.__mro__ if base.__name__ == "HTTPError")
#: What may come out of the client.
CLIENT_ERRORS: tuple[type[Exception], ...] = (_HTTP_ERROR, OSError, ValueError, RuntimeError)


@cache
def hub() -> HfApi:
    """The client, for the Hub that ``HF_ENDPOINT`` names; the token is that of ``HF_TOKEN`` or ``hf auth login``."""
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    return HfApi(endpoint=endpoint(), library_name="seldio", library_version=__version__)


def quiet() -> None:
    """No progress bars, for output that is not a terminal."""
    if not are_progress_bars_disabled():
        disable_progress_bars()


def endpoint() -> str:
    """The web address of the Hub."""
    return (os.environ.get("HF_ENDPOINT") or str(constants.ENDPOINT)).rstrip("/")


def scrubbed(text: str) -> str:
    """*text* without the token, whatever put it there."""
    token = get_token()
    if token:
        text = text.replace(token, "hf_…")
    return _TOKEN.sub("hf_…", text)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what it came from, nearest first."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error comes from."""
    for cause in _causes(error):
        response = getattr(cause, "response", None)
        if isinstance(cause, HfHubHTTPError) and response is not None:
            return int(response.status_code)
    return None


def may_pass(error: BaseException) -> bool:
    """Whether trying again may help: the Hub is busy, or the connection broke."""
    status = status_of(error)
    if status is not None:
        return status in _BUSY
    for cause in _causes(error):
        if isinstance(cause, (OfflineModeIsEnabled, HFValidationError)):
            return False
        if isinstance(cause, (_HTTP_ERROR, json.JSONDecodeError, ConnectionError, TimeoutError)):
            return True
    # the client compares what it got with what was announced
    return isinstance(error, OSError) and "Consistency check failed" in str(error)


def pause(attempt: int, error: BaseException) -> None:
    """Wait before the next try: as long as the Hub asks for, or twice as long as the last time."""
    asked = next((found for cause in _causes(error) if (found := _retry_after(cause)) is not None), None)
    time.sleep(min(LONGEST_PAUSE, PAUSE * 2**attempt if asked is None else asked))


def _retry_after(error: BaseException) -> float | None:
    text = getattr(getattr(error, "response", None), "headers", {}).get("Retry-After", "")
    return float(text) if text.isdecimal() else None


def patiently(call: Callable[[], T], deed: str) -> T:
    """The outcome of a request that changes nothing on the Hub, tried again while the Hub is busy.

    Raises:
        SeldioError: it does not work; the message begins with "cannot" and *deed*.
    """
    for attempt in range(TRIES):
        try:
            return call()
        except CLIENT_ERRORS as error:
            if isinstance(error, SeldioError) or attempt == TRIES - 1 or not may_pass(error):
                fail(error, deed)
            pause(attempt, error)
    raise AssertionError


def fail(error: BaseException, deed: str) -> NoReturn:
    """Raise what people are told of an error of the client."""
    if isinstance(error, SeldioError):
        raise error
    raise _told(error, deed) from None  # a chain would carry the request, and with it the token


def _told(error: BaseException, deed: str) -> SeldioError:
    status, causes = status_of(error), tuple(_causes(error))

    def any_of(*kinds: Any) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if any_of(OfflineModeIsEnabled):
        return SeldioError(f"cannot {deed}: HF_HUB_OFFLINE is set")
    if any_of(LocalTokenNotFoundError) or (status == 401 and not get_token()):
        return UsageError(f"cannot {deed}: no token, or the data set does not exist. Log in with `hf auth login`, "
                          "or set HF_TOKEN")  # fmt: skip
    if any_of(GatedRepoError):
        return UsageError(f"cannot {deed}: its owners have to give you access first, on {endpoint()}")
    if any_of(RevisionNotFoundError):
        return UsageError(f"cannot {deed}: no such branch, tag or commit")
    if any_of(RepositoryNotFoundError):
        return UsageError(f"cannot {deed}: no such data set on {endpoint()}, or the token may not see it")
    if status in (401, 403):
        return UsageError(f"cannot {deed}: the Hub refuses the token; it needs the right to write there")
    while error.__cause__ is not None:  # the client wraps what happened in what it was about
        error = error.__cause__
    first = next((line for line in scrubbed(str(error)).split("\n") if line.strip()), type(error).__name__)
    if any_of(HFValidationError):
        return UsageError(f"cannot {deed}: {first}")
    return SeldioError(f"cannot {deed}: {first}")
