"""The Hub's client: patience with a busy Hub, errors in plain words, and a token that is never shown.

A server is not trusted: what it answers is checked before it becomes part of a path, and made printable before it is
shown.
"""

from __future__ import annotations

import email.utils
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, NoReturn, TypeVar
from urllib.parse import urljoin, urlsplit

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
from huggingface_hub.utils import _http, logging
from huggingface_hub.utils._xet import parse_xet_file_data_from_response
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars

from seldio import __version__, progress
from seldio.errors import SeldioError, UsageError
from seldio.text import clipped

T = TypeVar("T")

#: Tries of one request before seldio gives up, and the seconds before the second one; each pause is twice the last.
TRIES, PAUSE, LONGEST_PAUSE = 6, 1.0, 60.0
#: Seconds that the Hub may ask to wait; its windows are of five minutes, and more than this is not waited for.
LONGEST_WAIT = 3600.0
#: Times that one request waits as the Hub asks, and pages of one list of files: what goes on longer never ends.
MOST_WAITS, MOST_PAGES = 200, 2000
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_LIMITED = frozenset({429, 503})
#: The hash of a commit, whole.
COMMIT = re.compile(r"[0-9a-f]{40}")
#: ``"api";r=0;t=55``: no request is left, and the next window opens in 55 seconds.
_RATE_LIMIT = re.compile(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d{1,9})\b")
_WAITED = "seldio_waited"
_TOKEN = re.compile(r"hf_[A-Za-z0-9]{8,}")
#: What the client's HTTP library raises, in each of its versions.
_HTTP_ERROR: type[Exception] = next(
    base for name in ("RequestException", "HTTPError") for base in HfHubHTTPError.__mro__ if base.__name__ == name
)
#: What comes out of the client where an answer has another shape than it believes.
_MISSHAPEN = (TypeError, AttributeError, LookupError, AssertionError)
#: What may come out of the client.
CLIENT_ERRORS: tuple[type[Exception], ...] = (_HTTP_ERROR, OSError, ValueError, RuntimeError, *_MISSHAPEN)


class Unreachable(SeldioError):
    """No answer came from the Hub: there is no network, or none is wanted."""


@cache
def hub() -> HfApi:
    """The client, for the Hub that ``HF_ENDPOINT`` names; the token is that of ``HF_TOKEN`` or ``hf auth login``."""
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    _watch_answers()
    return HfApi(endpoint=endpoint(), library_name="seldio", library_version=__version__)


def _watch_answers() -> None:
    """Have requests and answers checked, whatever makes the client of ``huggingface_hub``.

    From its version 1.0 on that is a client of httpx; before, it was a session of requests.
    """
    http: Any = _http
    is_httpx = hasattr(http, "set_client_factory")
    before = http._GLOBAL_CLIENT_FACTORY if is_httpx else http._GLOBAL_BACKEND_FACTORY
    if getattr(before, "watched", False):
        return

    def watched() -> Any:
        client = before()
        (_watch_httpx if is_httpx else _watch_requests)(client)
        return client

    watched.watched = True  # type: ignore[attr-defined]
    (http.set_client_factory if is_httpx else http.configure_http_backend)(watched)


def _watch_httpx(client: Any) -> None:
    hooks = client.event_hooks
    client.event_hooks = {
        **hooks,
        "request": [*hooks.get("request", []), _keep_token_at_home],
        "response": [*hooks.get("response", []), _check_answer],
    }


def _watch_requests(session: Any) -> None:
    send = session.send  # redirects go through it as well

    def watched_send(request: Any, **options: Any) -> Any:
        _keep_token_at_home(request)
        return send(request, **options)

    session.send = watched_send
    session.hooks["response"].append(lambda response, **_: _check_answer(response))


def _is_ours(request: Any) -> bool:
    """Whether seldio sends it, and nobody else with the same library."""
    return "seldio/" in request.headers.get("user-agent", "")


def _at_hub(address: str) -> bool:
    """Whether *address* is of the host, the port and the scheme that the token is for."""
    try:
        return _origin(address) == _origin(endpoint())
    except ValueError:  # it is no address
        return False


def _origin(address: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port, however they are spelled."""
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _keep_token_at_home(request: Any) -> None:
    """Send no token to another host, whoever leads there: a redirect, a list of pages, an address for an upload."""
    if _is_ours(request) and not _at_hub(str(request.url)):
        request.headers.pop("Authorization", None)


def _check_answer(response: Any) -> None:
    """Check what the client would take from an answer into a path, and wait where the Hub asks for that.

    The client names folders after ``X-Repo-Commit`` and files after ``ETag``, as they come.
    """
    if not _is_ours(response.request):
        return
    if (following := response.links.get("next", {}).get("url")) is not None:
        _check_next_page(urljoin(str(response.request.url), following))
    try:
        stored = parse_xet_file_data_from_response(response, endpoint())
    except TypeError:  # before 0.32 it does not put a mirror in the place of the main Hub
        stored = parse_xet_file_data_from_response(response)
    if stored is not None and not _at_hub(stored.refresh_route):  # asked by a client that has no hooks
        place = clipped(stored.refresh_route)
        raise SeldioError(f"{endpoint()} sends the token for its storage to another host ({place}): not followed")
    commit = response.headers.get("X-Repo-Commit")
    if commit is not None:
        checked_commit(commit)
    if response.request.method == "HEAD":
        for name in ("ETag", "X-Linked-ETag"):
            tag = (response.headers.get(name) or "").removeprefix("W/")  # a weak one is as good
            if re.search(r"[\\/\x00-\x1f]|\.\.", tag):
                raise SeldioError(
                    f"the server sends an {name} that a Hub never sends and that is unsafe as a file name"
                )
    if response.status_code in _LIMITED and (seconds := _wait_wanted(response.headers)) is not None:
        _wait(seconds)
        setattr(response, _WAITED, seconds)
        response.headers.pop("RateLimit", None)
        response.headers["Retry-After"] = "0"  # the client need not wait once more


#: The pages of the list that is being read.
_pages: ContextVar[set[str] | None] = ContextVar("pages", default=None)


@contextmanager
def one_list() -> Iterator[None]:
    """Around the reading of one list, which may come in pages: it ends, and stays with the host that was asked."""
    token = _pages.set(set())
    try:
        yield
    finally:
        _pages.reset(token)


def _check_next_page(address: str) -> None:
    """Refuse a next page on another host, one that was read before, and one page too many."""
    if not _at_hub(address):
        raise SeldioError(f"{endpoint()} sends the rest of its list to another host ({clipped(address)}): not followed")
    pages = _pages.get()
    if pages is None:
        return
    if address in pages:
        raise SeldioError(f"{endpoint()} leads to the same page twice, so that its list would never end")
    pages.add(address)
    if len(pages) > MOST_PAGES:
        raise SeldioError(f"{endpoint()} does not come to the end of its list in {MOST_PAGES:,} pages")


def _wait_wanted(headers: Mapping[str, str]) -> float | None:
    """Seconds for which an answer asks not to be asked again; None where it says nothing of it."""
    limit = _RATE_LIMIT.search(headers.get("RateLimit") or "")
    if limit is not None:
        return float(limit[1])
    text = (headers.get("Retry-After") or "").strip()
    try:
        if re.fullmatch(r"[0-9]{1,9}", text):
            return float(text)
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time()) if text else None
    except (ValueError, OverflowError):
        return None


def _wait(seconds: float) -> None:
    """Wait, and show for how long."""
    if seconds > LONGEST_WAIT:
        raise SeldioError(
            f"the Hub allows no requests for the next {seconds / 3600:,.1f} hours: run the same command again after "
            "that"
        )
    left = seconds
    with progress.task("waiting until the Hub allows more requests (seconds)", max(1, round(seconds))) as advance:
        while left > 0:
            time.sleep(min(1.0, left))
            left -= 1.0
            advance(1, 0)


def checked_commit(commit: object) -> str:
    """*commit* if it is the hash of one: 40 hexadecimal digits."""
    if not isinstance(commit, str) or not COMMIT.fullmatch(commit):
        raise SeldioError(
            f"the server gives the commit {clipped(str(commit))}, which is not a hash of 40 hexadecimal digits; "
            "the answer is not used"
        )
    return commit


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
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _answers(error: BaseException) -> Iterator[Any]:
    """The answers of the Hub that an error comes from."""
    answers = (getattr(cause, "response", None) for cause in _causes(error) if isinstance(cause, HfHubHTTPError))
    return (answer for answer in answers if answer is not None)


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error comes from."""
    return next((int(answer.status_code) for answer in _answers(error)), None)


def _method_of(error: BaseException) -> str | None:
    return next((str(answer.request.method) for answer in _answers(error)), None)


def _upload_refused(error: BaseException) -> bool:
    """Whether it is an address for an upload that was refused, and not the token: the next try gets a new address."""
    return status_of(error) == 403 and _method_of(error) == "PUT"


def may_pass(error: BaseException) -> bool:
    """Whether trying again may help: the Hub is busy, or the connection broke."""
    status = status_of(error)
    if status is not None:
        return status in _BUSY or _upload_refused(error)
    for cause in _causes(error):
        if isinstance(cause, (OfflineModeIsEnabled, HFValidationError)):
            return False
        if isinstance(cause, (_HTTP_ERROR, json.JSONDecodeError, ConnectionError, TimeoutError)):
            return True
    # the client compares what it got with what was announced
    return isinstance(error, OSError) and "Consistency check failed" in str(error)


def _pause(attempt: int, error: BaseException) -> int:
    """Wait before the next try, twice as long as the last time, unless the Hub was waited for as long as it asked.

    Returns:
        How many tries have been used up. Waiting out a limit of requests is none: it takes as long as it takes.
    """
    waits = (getattr(answer, _WAITED, None) for answer in _answers(error))
    waited = max((seconds for seconds in waits if seconds is not None), default=None)
    if waited is not None and waited >= 1.0:
        return attempt + (status_of(error) != 429)
    time.sleep(min(LONGEST_PAUSE, PAUSE * 2**attempt))
    return attempt + 1


def patiently(
    call: Callable[[], T], deed: str, *, quick: bool = False, settled: Callable[[], T | None] | None = None
) -> T:
    """The outcome of a request, tried again while the Hub is busy; *deed* is what it is for, in the words of messages.

    *quick* does not try again where no answer comes at all. Of a request that changes something on the Hub, *settled*
    tells after an error whether it was done all the same: its outcome, or None to try again.
    """
    attempt = waits = 0
    while True:
        try:
            return call()
        except CLIENT_ERRORS as error:
            status = status_of(error)
            again = may_pass(error) or (settled is not None and status in (409, 412))
            if not again or (quick and status is None):
                _fail(error, deed)
            if settled is not None and (outcome := settled()) is not None:
                return outcome
            if attempt == TRIES - 1 or (waits := waits + 1) == MOST_WAITS:
                _fail(error, deed)
            attempt = _pause(attempt, error)


def _fail(error: BaseException, deed: str) -> NoReturn:
    """Raise what people are told of an error of the client."""
    if isinstance(error, SeldioError):
        raise error
    raise _plain_error(error, deed) from None  # a chain would carry the request, and with it the token


def _plain_error(error: BaseException, deed: str) -> SeldioError:
    status, causes, web = status_of(error), tuple(_causes(error)), endpoint()
    right = "it has no read access here" if _method_of(error) in ("GET", "HEAD") else "it needs write access there"

    def any_of(*kinds: Any) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    known: tuple[tuple[bool, type[SeldioError], str], ...] = (
        (any_of(OfflineModeIsEnabled), Unreachable, "HF_HUB_OFFLINE is set"),
        (any_of(LocalTokenNotFoundError) or (status == 401 and not get_token()), UsageError,
         "no token, or the dataset does not exist. Log in with `hf auth login`, or set HF_TOKEN"),
        (status == 401, UsageError, (f"{web} does not accept the token; it is mistyped, expired or revoked. "
         "Log in again with `hf auth login`, or set HF_TOKEN to a valid one")),
        (any_of(GatedRepoError), UsageError, f"its owners must grant you access first, on {web}"),
        (any_of(RevisionNotFoundError), UsageError, "no such branch, tag or commit"),
        (any_of(RepositoryNotFoundError), UsageError, f"no such dataset on {web}, or the token has no access to it"),
        (_upload_refused(error), SeldioError, ("the storage behind the Hub refuses the upload address it was given "
         "(403). Such addresses expire quickly: check that the clock of this machine is right and that no proxy "
         "changes "
         "requests, then push again; what was sent is not sent again")),
        (status == 403, UsageError, f"the Hub refuses the token; {right}"),
    )  # fmt: skip
    for applies, kind, text in known:
        if applies:
            return kind(f"cannot {deed}: {text}")
    while error.__cause__ is not None:  # the client wraps what happened in what it was about
        error = error.__cause__
    first = next((line for line in scrubbed(str(error)).split("\n") if line.strip()), type(error).__name__)
    if any_of(HFValidationError):
        return UsageError(f"cannot {deed}: {first}")
    if status is None and any_of(_HTTP_ERROR, ConnectionError, TimeoutError):
        return Unreachable(f"cannot {deed}: no answer from {web} ({clipped(first, 200)})")
    if isinstance(error, _MISSHAPEN):
        return SeldioError(f"cannot {deed}: {web} sent an unexpected answer ({clipped(first, 200)})")
    return SeldioError(f"cannot {deed}: {clipped(first, 500)}")
