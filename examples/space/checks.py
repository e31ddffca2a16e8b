"""What the Space does with the files it is given; nothing here knows of Gradio."""

from __future__ import annotations

import html
import io
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import seldio
from seldio.formats import FORMATS
from seldio.reports import Options, render
from seldio.rules import CATALOGUE

#: What the menu of formats offers first.
AUTOMATIC = "detect automatically"
NAMES = [AUTOMATIC, *(format.name for format in FORMATS)]
#: Forms of the report to download, with their file names.
DOWNLOADS = {"html": "report.html", "sarif": "report.sarif", "csv": "findings.csv"}


class Checked(NamedTuple):
    """The result of a check."""

    verdict: str  # one line of Markdown
    report: str  # an HTML document
    files: list[str]  # the report to download
    clips: list[str]  # those that can be looked at


def gathered(paths: Sequence[str]) -> Path:
    """One path for the files that were dropped: a single one as it is, several in a folder."""
    if len(paths) == 1:
        return Path(paths[0])
    folder = Path(tempfile.mkdtemp(prefix="seldio-")) / "files"
    folder.mkdir()
    for path in map(Path, paths):
        shutil.copyfile(path, folder / path.name)
    return folder


def check(paths: Sequence[str], format: str = AUTOMATIC) -> Checked:
    """Check the files."""
    source = gathered(paths)
    report = seldio.validate(source, format=None if format == AUTOMATIC else format)
    folder = Path(tempfile.mkdtemp(prefix="seldio-"))
    texts = {}
    for form, name in DOWNLOADS.items():
        # people are shown names, not where the server keeps the files
        text = "".join(render(report, form, Options(CATALOGUE)))
        texts[form] = text.replace(f"{source}/", "").replace(f"{source.parent}/", "")
        (folder / name).write_text(texts[form], "utf-8")
    document = texts["html"].replace("<head>", '<head>\n<base target="_blank">', 1)  # links leave the frame
    return Checked(verdict(report), document, [str(folder / name) for name in DOWNLOADS.values()], clips(source))


def verdict(report: seldio.Report) -> str:
    """What the report comes to, in one line."""
    counts = report.summary()
    files = f"{counts['files']:,} file{'s' if counts['files'] != 1 else ''}"
    if counts["errors"]:
        return f"### {counts['errors']:,} error{'s' if counts['errors'] != 1 else ''} in {files}"
    if counts["warnings"]:
        return f"### No errors, {counts['warnings']:,} warning{'s' if counts['warnings'] != 1 else ''} in {files}"
    return f"### Clean: {files}"


def clips(source: Path) -> list[str]:
    """The clips that have labels; none for questions and for what cannot be read."""
    try:
        with seldio.open(source, force=True) as dataset:
            return dataset.clips.column("clip").to_pylist()
    except seldio.SeldioError:
        return []


def page(paths: Sequence[str], clip: str | None = None) -> str:
    """The page about a clip, as an HTML document."""
    stream = io.BytesIO()
    seldio.view(gathered(paths), stream, clip=clip)
    return stream.getvalue().decode()


def framed(document: str, height: int) -> str:
    """An HTML document in a frame of its own, where it can do nothing to the page around it."""
    text = html.escape(document, quote=True)
    text = text.replace("$", "&#36;").replace("{", "&#123;")  # Gradio takes HTML for a template
    may = "allow-scripts allow-popups allow-popups-to-escape-sandbox"
    return f'<iframe sandbox="{may}" style="width:100%;height:{height}px;border:0" srcdoc="{text}"></iframe>'


def example() -> str:
    """A zip archive of a small submission with the usual mistakes."""
    from seldio.synth.tree import write_demo

    folder = Path(tempfile.mkdtemp(prefix="seldio-"))
    write_demo(folder / "demo", media=False)
    return shutil.make_archive(str(folder / "submission"), "zip", folder / "demo" / "submission")
