"""The threads that talk to the server, and to nothing else."""

from __future__ import annotations

import dataclasses
import threading
import time
from queue import Empty, SimpleQueue

from seldio.scores.judge.client import CallFailed, Client
from seldio.scores.judge.pace import Pace
from seldio.scores.judge.replies import Malformed, read
from seldio.scores.judge.requests import Request

_SHOWN = 4000  # characters of a bad reply that the judge is shown again
_AGAIN = (
    "Your reply cannot be used: {why}. Reply again with one JSON object that fits the schema, and nothing else. "
    'Its "request" is "{tag}".'
)


@dataclasses.dataclass
class Outcome:
    """What a thread hands back for a request."""

    key: str
    text: str = ""
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    calls: int = 0
    uncounted: int = 0
    failure: CallFailed | None = None
    bug: BaseException | None = None


class Crew:
    """Threads that work through requests until there are none left, or the run is stopped.

    Args:
        client: the server.
        pace: how fast to ask.
        stop: set to end the run.
        retries: further tries of a call that failed.
        size: threads.
    """

    def __init__(self, client: Client, pace: Pace, stop: threading.Event, retries: int, size: int) -> None:
        self._client, self._pace, self._stop, self._retries = client, pace, stop, retries
        self._waiting: SimpleQueue[tuple[str, Request]] = SimpleQueue()
        self.done: SimpleQueue[Outcome] = SimpleQueue()
        # daemons: a server that stalls cannot keep a stopped program from ending
        self._threads = [
            threading.Thread(target=self._work, daemon=True, name=f"judge-{number}") for number in range(size)
        ]

    def start(self, todo: dict[str, Request]) -> None:
        """Begin with *todo*, by key."""
        for each in todo.items():
            self._waiting.put(each)
        for thread in self._threads:
            thread.start()

    def join(self, seconds: float | None = None) -> None:
        """Wait for all threads to end, so many seconds at most."""
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
            outcome = Outcome(key)
            try:
                self._judge(request, outcome)
            except CallFailed as failure:
                outcome.failure = failure
            except BaseException as bug:  # noqa: BLE001 - raised again in the thread that asked
                outcome.bug = bug
            self.done.put(outcome)
            if outcome.failure is not None and outcome.failure.hopeless:
                self._stop.set()  # the others need not find out by themselves

    def _judge(self, request: Request, outcome: Outcome) -> None:
        """Ask once, and once more with an explanation if the reply cannot be read."""
        messages = request.messages()
        for last in (False, True):
            self._call(messages, outcome)
            try:
                read(outcome.text, request)
            except Malformed as why:
                if last:
                    return
                bad = {"role": "assistant", "content": outcome.text[:_SHOWN] or "(empty)"}
                messages += [bad, {"role": "user", "content": _AGAIN.format(why=why, tag=request.tag)}]
            else:
                return

    def _call(self, messages: list[dict[str, str]], outcome: Outcome) -> None:
        """One call, with its retries; the answer goes into *outcome*."""
        for failures in range(self._retries + 1):
            self._pace.turn()
            if self._stop.is_set():
                raise CallFailed("stopped", again=False)
            try:
                answer = self._client.ask(messages)
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
