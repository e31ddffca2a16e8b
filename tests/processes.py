"""seldio commands in another process with settings of its own, which loads once what seldio imports."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from pages import run_here

#: Runs a command and tells what it prints, what of it to standard error if that is kept apart, and its exit code.
Seldio: TypeAlias = Callable[[list[str], bool], tuple[str, str, int]]


@contextlib.contextmanager
def other_process(settings: dict[str, str]) -> Iterator[Seldio]:
    """:func:`pages.run_here` in another process, with *settings* in its environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", **settings}
    with subprocess.Popen(
        [sys.executable, __file__], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answered = process.stdin, process.stdout

        def run(arguments: list[str], apart: bool) -> tuple[str, str, int]:
            print(json.dumps([arguments, apart]), file=asked, flush=True)
            printed, aside, code = json.loads(answered.readline())
            return printed, aside, code

        yield run


def _serve() -> None:
    """Run the commands that standard input names, a line of JSON each, and answer in the same way."""
    answers = sys.stdout
    for line in sys.stdin:
        arguments, apart = json.loads(line)
        print(json.dumps(run_here(arguments, apart)), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
