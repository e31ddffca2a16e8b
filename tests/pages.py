"""Runs what a page of the documentation shows: commands, Python and the files it asks the reader to write.

``python tests/pages.py PAGE...`` runs the pages and writes the output that they should show into them.

What a page may hold, each run in the order of the page, in an empty folder of its own:

- ```` ```console ````: lines with ``$ `` are commands, lines with ``> `` continue them, the rest is what they print.
  ``$ echo $?`` shows the exit code of the command before it.
- ```` ```python ````: run in one namespace for the page. A block ```` ```output ```` right after it is what it prints.
- ```` ```{code-block} KIND ```` with ``:caption: NAME``: a file, written into the folder.
- ```` ```sh ````: commands that cannot run here, such as those that need a network; the options of each ``seldio``
  command must exist.
- ``<!-- before: COMMAND -->``: a command that the reader does not see. ``demo`` makes the labels of `seldio demo`,
  ``scenes SECONDS`` four clips with sound of this length in ``starss23``, ``record events.csv`` the recordings that
  this file describes; everything else is a command of the shell. ``hub`` starts a Hub on this machine, to which the
  commands after it speak as anna.
- ``<!-- needs: MODULE -->``: the page is skipped where this module cannot be imported.
- ``<!-- slow -->``: `make test` leaves the page out, `make test-slow` runs it.

A start of Python takes a second, so a seldio command runs in this process, also where its output goes into a file or
another program; with a Hub, in one process for the page, as clients read their settings only once.

A line ``…`` stands for any lines, ``…`` inside a line for any text.
"""

from __future__ import annotations

import atexit
import contextlib
import csv
import difflib
import functools
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
SLOW = re.compile(r"^<!-- slow -->$", re.MULTILINE)
#: A seldio command, and where its standard output goes.
COMMAND = re.compile(r"seldio (?P<arguments>[^|>&;$`*]*)(?<! [012])(?P<rest>[|>][^&$`*]*)?", re.DOTALL)
COMMENT = re.compile(r"^<!-- (?P<key>before|needs): (?P<value>.*?) -->$", re.MULTILINE)
#: What the pages begin with that are made from the code.
GENERATED = "<!-- made from the code"
#: Kinds of blocks that show something to read, and are not run.
SHOWN = {"text", "csv", "json", "yaml", "toml", "mermaid", ""}

#: Runs a command and tells what it prints, what of it to standard error if that is kept apart, and its exit code.
Seldio: TypeAlias = Callable[[list[str], bool], tuple[str, str, int]]


@dataclass
class Block:
    """A fenced block of a page, or a comment that has something to be done."""

    kind: str  # the language of a block, or "before"
    body: str  # what it holds
    start: int  # where the body begins in the page, in characters
    line: int  # of the page, for errors
    options: dict[str, str] = field(default_factory=dict)  # of a directive


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page in order."""
    found = [*FENCE.finditer(text), *COMMENT.finditer(text)]
    for match in sorted(found, key=lambda one: one.start()):
        line = text.count("\n", 0, match.start()) + 1
        if "key" in match.groupdict():
            if match["key"] == "before":
                yield Block("before", match["value"], match.start(), line)
            continue
        kind, body, options = match["info"].strip(), match["body"], {}
        if kind.startswith("{code-block}"):
            options = dict(re.findall(r"^:([\w-]+): *(.*)$", body, re.MULTILINE))
            body = re.sub(r"\A(?::[\w-]+:.*\n)+\n?", "", body)
            kind = "file" if "caption" in options else kind.split()[-1]
        yield Block(kind, body, match.start("body"), line, options)


def needs(text: str) -> list[str]:
    """The modules without which a page cannot run."""
    return [match["value"] for match in COMMENT.finditer(text) if match["key"] == "needs"]


class Page:
    """A page that is being run, in the current folder.

    Attributes:
        shown: what each block should show, by the place of its body in the page.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text("utf-8")
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.code = 0
        self.hub = contextlib.ExitStack()
        self.settings: dict[str, str] = {}  # of the environment, for this page alone
        self.seldio: Seldio = run_here
        self.shown: dict[tuple[int, int], str] = {}

    def run(self) -> None:
        """Run all blocks; what they show is kept, nothing is compared."""
        with self.hub:
            self._run()

    def _run(self) -> None:
        printed: str | None = None
        for block in blocks(self.text):
            if block.kind == "before" and block.body == "hub":
                self.settings = _start_hub(self.hub)
                self.seldio = self.hub.enter_context(other_process(self.settings))
            elif block.kind == "before":
                _prepare(block.body)
            elif block.kind == "console":
                self._see(block, self._session(block))
            elif block.kind == "file":
                Path(block.options["caption"]).write_text(block.body, "utf-8")
            elif block.kind == "sh":
                check_options(block.body)
            elif block.kind == "output":
                assert printed is not None, f"{self.path.name}:{block.line}: output without Python above it"
                self._see(block, printed)
            elif block.kind not in ("python", *SHOWN) and not block.kind.startswith("{"):
                raise AssertionError(f"{self.path.name}:{block.line}: blocks of {block.kind} are not run")
            printed = self._python(block) if block.kind == "python" else None

    def problems(self) -> list[str]:
        """Where the page shows something else than what was printed."""
        wrong = []
        for (start, end), printed in self.shown.items():
            expected = self.text[start:end]
            if not _alike(expected, printed):
                line = self.text.count("\n", 0, start) + 1
                wrong.append(f"{self.path.name}:{line} shows\n{expected}\nand this is printed:\n{printed}")
        return wrong

    def updated(self) -> str:
        """The page with what was printed in the place of what differs."""
        text = self.text
        for (start, end), printed in sorted(self.shown.items(), reverse=True):
            if not _alike(text[start:end], printed):
                text = text[:start] + _merged(text[start:end], printed) + text[end:]
        return text

    def _see(self, block: Block, printed: str) -> None:
        self.shown[block.start, block.start + len(block.body)] = printed

    def _session(self, block: Block) -> str:
        """What a console shows: the commands of a block with their output."""
        shown = ""
        commands = re.findall(r"^\$ (.*(?:\n> .*)*)$", block.body, re.MULTILINE)
        for command in commands:
            shown += f"$ {command}\n"
            line = re.sub(r"\\?\n> *", lambda end: " " if "\\" in end[0] else "\n", command)
            printed = f"{self.code}\n" if line == "echo $?" else self._command(line)
            shown += printed
        return shown

    def _command(self, line: str) -> str:
        match = COMMAND.fullmatch(line)
        if match is None:
            printed, self.code = _shell(line, self.settings)
            return printed
        rest = match["rest"]
        printed, aside, self.code = self.seldio(shlex.split(match["arguments"]), rest is not None)
        if rest is None:
            return printed
        shown, code = _shell(f"cat {rest}", self.settings, printed)
        self.code = self.code or code
        return aside + shown

    def _python(self, block: Block) -> str:
        stream = io.StringIO()
        code = compile("\n" * block.line + block.body, str(self.path), "exec")
        with contextlib.redirect_stdout(stream):
            exec(code, self.names)
        return _tidy(stream.getvalue())


def _environment() -> dict[str, str]:
    """What the commands of a page see: a terminal of 80 columns without colour."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}


def _shell(line: str, settings: dict[str, str], given: str | None = None) -> tuple[str, int]:
    """What a command of the shell prints, and its exit code; *given* is its standard input."""
    done = subprocess.run(
        ["bash", "-c", line if given is not None else f"set -o pipefail\n{line}"], env=_environment() | settings,
        input=None if given is None else given.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return _tidy(done.stdout.decode()), done.returncode


def in_process(arguments: list[str]) -> tuple[str, int]:
    """What a seldio command prints, and its exit code."""
    printed, _, code = run_here(arguments, False)
    return printed, code


def run_here(arguments: list[str], apart: bool) -> tuple[str, str, int]:
    """What a seldio command prints, what it prints to standard error if that is kept *apart*, and its exit code."""
    from seldio.cli import main

    raws = [io.BytesIO() for _ in range(1 + apart)]
    streams = [io.TextIOWrapper(raw, "utf-8", write_through=True) for raw in raws]
    before = dict(os.environ)
    old = sys.argv
    sys.argv = ["seldio", *arguments]
    os.environ |= {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    code: Any = 0
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[-1]):
            main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = old
        os.environ.clear()
        os.environ.update(before)
    for stream in streams:
        stream.flush()
    printed, aside = raws[0].getvalue().decode(), raws[1].getvalue().decode() if apart else ""
    return printed if apart else _tidy(printed), _tidy(aside), int(code or 0)


@contextlib.contextmanager
def other_process(settings: dict[str, str]) -> Iterator[Seldio]:
    """:func:`run_here` in one other process, with *settings* in its environment."""
    with subprocess.Popen(
        [sys.executable, __file__, "--serve"], env=_environment() | settings, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, encoding="utf-8",
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answered = process.stdin, process.stdout

        def run(arguments: list[str], apart: bool) -> tuple[str, str, int]:
            print(json.dumps([arguments, apart]), file=asked, flush=True)
            printed, aside, code = json.loads(answered.readline())
            return printed, aside, code

        yield run


def _start_hub(stack: contextlib.ExitStack) -> dict[str, str]:
    """Start the Hub of the tests; what the environment of commands says about it (read when a client is imported)."""
    import hub_server

    server = stack.enter_context(hub_server.Hub())
    home = {"HF_HOME": str(Path("hf-home").resolve()), "HF_HUB_DISABLE_XET": "1"}
    return {"HF_ENDPOINT": server.url, "HF_TOKEN": hub_server.TOKEN, "HF_HUB_OFFLINE": "0", **home}


def _tidy(text: str) -> str:
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


def _prepare(command: str) -> None:
    if command == "demo" or command.startswith("scenes "):
        shutil.copytree(_made(command), Path(), dirs_exist_ok=True)
    elif command.startswith("record "):
        _record(Path(command.removeprefix("record ")))
    else:
        subprocess.run(["bash", "-c", command], env=_environment(), check=True, capture_output=True)


@functools.cache
def _made(command: str) -> Path:
    """A folder with what *command* makes, for all pages that this process runs."""
    from seldio.synth.tree import write_demo, write_tree

    folder = Path(tempfile.mkdtemp(prefix="pages-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if command == "demo":
        write_demo(folder)
    else:
        write_tree(folder / "starss23", 7, seconds=float(command.split()[1]), media=("audio",))
    return folder


def _record(events: Path) -> None:
    """The recordings of *events*, in FOA, by somebody who counts azimuths to the left: the file counts to the right."""
    import numpy as np

    from seldio.media.audio import write_wav
    from seldio.synth import Track
    from seldio.synth.recording import record
    from seldio.vocabularies import spelling, vocabulary

    spellings = [" ".join(map(spelling, names)) for names in vocabulary("starss").classes]
    clips: dict[str, list[Track]] = {}
    for row in csv.DictReader(events.read_text("utf-8").splitlines()):
        azimuth, elevation = np.radians([-float(row["azimuth"]), float(row["elevation"])])
        direction = (np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation))
        first, end = (round(10 * float(row[name])) for name in ("start", "end"))
        number = next(number for number, names in enumerate(spellings) if spelling(row["sound"]) in names)
        place = np.tile(float(row["metres"]) * np.array(direction), (end - first, 1))
        clips.setdefault(row["recording"], []).append(Track(number, 0, first, place))
    Path("recordings").mkdir()
    for seed, (clip, tracks) in enumerate(clips.items()):
        sound = record(tracks, max(track.end for track in tracks) / 10 + 0.5, seed)["foa"]
        with Path(f"recordings/{clip}.wav").open("wb") as stream:
            write_wav(stream, sound, 24_000)


def check_options(text: str) -> None:
    """Ask of each seldio command in *text* whether it and its options exist."""
    import typer.main

    from seldio.cli import app

    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for line in re.sub(r"\\\n *", "", text).splitlines():
        match = re.search(r"(?:^|[\s|])seldio (?P<command>[a-z]\w*)(?P<rest>.*)", line.split("#")[0])
        if match is None or "=" in line.split("seldio")[0]:
            continue
        assert match["command"] in known, f"no command: {line}"
        options = {name for param in known[match["command"]].params for name in (*param.opts, *param.secondary_opts)}
        for option in re.findall(r"(?<=\s)-{1,2}[a-z][\w-]*", match["rest"]):
            assert option in options | {"--help"}, f"no option {option}: {line}"


def _alike(expected: str, printed: str) -> bool:
    """Whether *printed* is what a page shows, where ``…`` stands for what it leaves out."""
    lines = expected.rstrip("\n").split("\n")
    patterns = ["(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in lines]
    return re.fullmatch("".join(patterns), printed.rstrip("\n") + "\n") is not None


def _merged(expected: str, printed: str) -> str:
    """*printed*, left out in the places where *expected* leaves something out with ``…``."""
    old, new = expected.splitlines(), printed.splitlines()
    same = [next((one for one in old if "…" in one and one != "…" and _alike(one, line)), line) for line in new]
    merged: list[str] = []
    for what, first, end, start, stop in difflib.SequenceMatcher(None, old, same, autojunk=False).get_opcodes():
        gaps = [number for number in range(first, end) if old[number] == "…"]
        if what == "equal" or not gaps:
            merged += same[start:stop]
        else:
            after = end - gaps[-1] - 1
            merged += [*same[start:stop][: gaps[0] - first], "…", *(same[start:stop][-after:] if after else [])]
    return "".join(f"{line}\n" for line in merged)


def pages() -> list[Path]:
    """The pages that are run."""
    written = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "reference"} & {*path.parts}]
    return [ROOT / "README.md", *(path for path in written if not path.read_text("utf-8")[:200].count(GENERATED))]


def _serve() -> None:
    """Run the commands that standard input names, a line of JSON each, and answer likewise."""
    answers = sys.stdout
    for line in sys.stdin:
        arguments, apart = json.loads(line)
        print(json.dumps(run_here(arguments, apart)), file=answers, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        _serve()
        sys.exit()
    for argument in sys.argv[1:]:
        page = Page(Path(argument).resolve())
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page.run()
        page.path.write_text(page.updated(), "utf-8")
