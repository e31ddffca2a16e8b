"""Write what the documentation takes from the code.

``python docs/generate.py`` rewrites the files that are kept in the repository: the schemas, the index, and the
pictures of a report and of the code. ``--check`` says which are out of step, ``--schemas`` writes the schemas only.

``python docs/generate.py --reference`` writes the reference into ``docs/reference``, which is not kept: ``conf.py``
does the same whenever the documentation is built. ``--to FOLDER`` writes it elsewhere. ``--index`` writes the
index of formats only.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path

from made import about, commands, data, formats, house, llms, python, rules, tasks
from rich.console import Console
from rich.text import Text

from seldio import validate
from seldio.reports import Options, render
from seldio.rules import CATALOGUE
from seldio.synth.tree import write_demo

ROOT = Path(__file__).resolve().parent.parent
#: Where the reference is written.
REFERENCE = ROOT / "docs/reference"
#: What of it is copied as it is to the top of the html output.
EXTRA = "extra"


def pages() -> dict[str, str]:
    """Return every generated file with its content."""
    return (
        {"docs/report.svg": picture(), "docs/house.svg": house.picture()} | data.schema_files() | formats.index_file()
    )


def picture() -> str:
    """A report as it looks in a terminal, on the demo's submission."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_demo(Path())
        report = validate("submission/mix004.csv", format="dcase2023-submission")
        report.add(validate("submission/mix002.csv", format="dcase2023-submission").findings)
        report.files += 1
        shown = "".join(render(report, "text", Options(CATALOGUE, color=True, width=124)))
    console = Console(record=True, width=124, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(shown.rstrip("\n")), soft_wrap=True)  # a last empty line is a matter of rich
    drawn = console.export_svg(title="seldio validate submission/", unique_id="seldio")
    # the fonts would come from the network
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL) + "\n"


# --- the reference ------------------------------------------------------------------------------------------------


def reference() -> dict[str, str]:
    """Every file of the reference by its path in the folder; what is below ``extra`` is copied as it is."""
    found = {
        path: text for module in (commands, rules, formats, tasks, python, data, about) for path, text in module.pages()
    }
    extra = data.schema_files()
    extra["llms.txt"] = llms.text(_written() | {f"reference/{path}": text for path, text in found.items()})
    return found | {f"{EXTRA}/{path}": text for path, text in extra.items()}


def _written() -> dict[str, str]:
    """The pages that people wrote, by their path below ``docs``; the first one first."""
    docs = ROOT / "docs"
    paths = [
        path for path in sorted(docs.rglob("*.md")) if path.relative_to(docs).parts[0] not in ("_build", "reference")
    ]
    paths.sort(key=lambda path: (path.name != "index.md", path))
    return {path.relative_to(docs).as_posix(): path.read_text("utf-8") for path in paths}


def write_reference(folder: Path) -> None:
    """Write the reference; files that have not changed are left alone, others in the folder go."""
    wanted = reference()
    for path in folder.rglob("*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    for path, text in wanted.items():
        if _present(folder / path) != text:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")


def _present(file: Path) -> str | None:
    return file.read_text("utf-8") if file.is_file() else None


def main(arguments: list[str]) -> int:
    """Write the files, or compare them."""
    if "--reference" in arguments:
        write_reference(Path(arguments[arguments.index("--to") + 1]) if "--to" in arguments else REFERENCE)
        return 0
    if "--schemas" in arguments or "--index" in arguments:
        wanted = data.schema_files() if "--schemas" in arguments else formats.index_file()
    else:
        wanted = pages()
    stale = [name for name, text in wanted.items() if _present(ROOT / name) != text]
    if "--check" in arguments:
        print("\n".join(f"out of step: {name}" for name in stale) or "all in step")
        return bool(stale)
    for name in stale:
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(wanted[name], "utf-8")
        print(f"written: {name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
