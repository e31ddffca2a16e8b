"""Runs what a page of the documentation shows: commands, Python and the files it asks the reader to write.

``python tests/pages.py PAGE...`` runs the pages and fails with what they should show.

What a page may hold, each run in the order of the page, in an empty folder of its own. Nothing is done that a reader
does not see, so a page prints the command that makes what it needs, such as ``seldio demo . --no-media --no-run``:

- ```` ```console ````: lines with ``$ `` are commands, lines with ``> `` continue them, the rest is what they print.
  ``$ echo $?`` shows the exit code of the command before it, ``$ cd FOLDER`` is where the page goes on.
- ```` ```python ````: run in one namespace for the page. A block ```` ```output ```` right after it is what it prints.
- ```` ```{code-block} KIND ```` with ``:caption: NAME``: a file, written into the folder.
- ```` ```sh ````: commands that cannot run here, such as those that need a network; the options of each ``seldio``
  command must exist.
- ``<!-- needs: MODULE -->``: where this module cannot be imported, the page is skipped, or the part of it that this
  stands in if that has a heading of the second level.
- ``<!-- slow -->``: `make test` leaves the page out, `make test-slow` runs it.

A line ``…`` stands for any lines, ``…`` inside a line for any text.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
SLOW = re.compile(r"^<!-- slow -->$", re.MULTILINE)
#: A seldio command, and where its standard output goes.
COMMAND = re.compile(r"seldio (?P<arguments>[^|>&;$`*]*)(?<! [012])(?P<rest>[|>][^&$`*]*)?", re.DOTALL)
NEEDS = re.compile(r"^<!-- needs: (?P<module>.*?) -->$", re.MULTILINE)
HEADING = re.compile(r"^## ", re.MULTILINE)
#: What many pages begin with.
DEMO = ["demo", ".", "--no-media", "--no-run"]
#: What the pages begin with that are made from the code.
GENERATED = "<!-- made from the code"
#: Kinds of blocks that show something to read, and are not run.
SHOWN = {"text", "csv", "json", "yaml", "toml", "mermaid", ""}


@dataclass
class Block:
    kind: str  # the language
    body: str  # what it holds
    start: int  # where the body begins in the page, in characters
    line: int  # of the page, for errors
    options: dict[str, str] = field(default_factory=dict)  # of a directive


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page in order, without those of parts whose modules are absent."""
    fences = list(FENCE.finditer(text))
    inside = [range(*fence.span()) for fence in fences]
    parts = [one.start() for one in HEADING.finditer(text) if not any(one.start() in fence for fence in inside)]
    edges = [0, *parts, len(text)]
    left_out = [
        range(start, end)
        for start, end in itertools.pairwise(edges[1:])
        if not all(map(there, NEEDS.findall(text, start, end)))
    ]
    for match in fences:
        if any(match.start() in part for part in left_out):
            continue
        line = text.count("\n", 0, match.start()) + 1
        kind, body, options = match["info"].strip(), match["body"], {}
        if kind.startswith("{code-block}"):
            options = dict(re.findall(r"^:([\w-]+): *(.*)$", body, re.MULTILINE))
            body = re.sub(r"\A(?::[\w-]+:.*\n)+\n?", "", body)
            kind = "file" if "caption" in options else kind.split()[-1]
        yield Block(kind, body, match.start("body"), line, options)


def needs(text: str) -> list[str]:
    """The modules without which a page cannot run: those that are named above its parts."""
    first = HEADING.search(text)
    return NEEDS.findall(text, 0, first.start() if first else len(text))


def there(module: str) -> bool:
    found = find_spec(module.split(".")[0])
    return found is not None and found.origin is not None  # not a folder that is called so


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
        self.shown: dict[tuple[int, int], str] = {}

    def run(self) -> None:
        """Run all blocks; what they show is kept, nothing is compared."""
        printed: str | None = None
        for block in blocks(self.text):
            if block.kind == "console":
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
        if line.startswith("cd "):
            os.chdir(line.removeprefix("cd "))
            return ""
        match = COMMAND.fullmatch(line)
        if match is None:
            printed, self.code = _shell(line)
            return printed
        arguments, rest = shlex.split(match["arguments"]), match["rest"]
        printed, aside, self.code = _demo() if arguments == DEMO else run_here(arguments, rest is not None)
        if rest is None:
            return printed
        shown, code = _shell(f"cat {rest}", printed)
        self.code = self.code or code
        return aside + shown

    def _python(self, block: Block) -> str:
        stream = io.StringIO()
        code = compile("\n" * block.line + block.body, str(self.path), "exec")
        with contextlib.redirect_stdout(stream):
            exec(code, self.names)
        return _tidy(stream.getvalue())


def _environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}


def _shell(line: str, given: str | None = None) -> tuple[str, int]:
    """What a command of the shell prints, and its exit code; *given* is its standard input."""
    done = subprocess.run(
        ["bash", "-c", line if given is not None else f"set -o pipefail\n{line}"], env=_environment(),
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


def _tidy(text: str) -> str:
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


_KEPT: list[tuple[Path, str]] = []


def _demo() -> tuple[str, str, int]:
    """:func:`run_here` of ``DEMO``: run once, and copied then."""
    if _KEPT:
        kept, printed = _KEPT[0]
        shutil.copytree(kept, Path(), dirs_exist_ok=True)
        return printed, "", 0
    done = run_here(DEMO, False)
    folder = Path(tempfile.mkdtemp(prefix="pages-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in ("starss23", "output", "submission"):
        shutil.copytree(name, folder / name)
    _KEPT.append((folder, done[0]))
    return done


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
        shown = [param for param in known[match["command"]].params if not getattr(param, "hidden", False)]
        options = {name for param in shown for name in (*param.opts, *param.secondary_opts)}
        for option in re.findall(r"(?<=\s)-{1,2}[a-z][\w-]*", match["rest"]):
            assert option in options | {"--help"}, f"no option {option}: {line}"


def _alike(expected: str, printed: str) -> bool:
    """Whether *printed* is what a page shows, where ``…`` stands for what it leaves out."""
    lines = expected.rstrip("\n").split("\n")
    patterns = ["(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in lines]
    return re.fullmatch("".join(patterns), printed.rstrip("\n") + "\n") is not None


def pages() -> list[Path]:
    written = [path for path in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "reference"} & {*path.parts}]
    return [path for path in written if GENERATED not in path.read_text("utf-8")[:200]]


if __name__ == "__main__":
    problems = []
    for argument in sys.argv[1:]:
        page = Page(Path(argument).resolve())
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page.run()
        problems += page.problems()
    sys.exit("\n".join(problems) or None)
