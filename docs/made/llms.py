"""``llms.txt``: every page with its address, title and first sentence, for language models; rules are optional."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from seldio.findings import DOCS

SECTIONS = {
    "": "Start", "tutorials": "Tutorials", "howto": "How-to guides", "concepts": "Concepts", "project": "Project",
    "reference": "Reference", "formats": "Formats", "commands": "Commands", "tasks": "Tasks",
    "python": "Python", "rules": "Optional",
}  # fmt: skip


def text(pages: Mapping[str, str]) -> str:
    """The file, for *pages* by their path below ``docs/``."""
    sections: dict[str, list[str]] = {title: [] for title in SECTIONS.values()}
    for path, content in pages.items():
        folder = path.rpartition("/")[0].rpartition("/")[2]
        place = folder if path.count("/") else "" if path == "index.md" else "project"
        name = title(content)
        line = f"- [{name}]({DOCS}{path.removesuffix('.md')}.html): {first_sentence(content)}"
        sections[SECTIONS.get(place, "Project")].append(line.removesuffix(": "))
    head = [
        "# seldio",
        "",
        (
            "> Read, check, fix, convert, score and publish data for sound event localization and detection (SELD: "
            "STARSS23, DCASE Task 3) and audio question answering (SO-Bench, JASCO, ruEnvAQA)."
        ),
        "",
        "Install it with `git clone` and `pip install .`; `seldio validate FOLDER` checks a dataset or a submission.",
    ]
    blocks = [f"## {title}\n\n" + "\n".join(lines) for title, lines in sections.items() if lines]
    return "\n".join(head) + "\n\n" + "\n\n".join(blocks) + "\n"


def title(content: str) -> str:
    """The title of a page."""
    match = re.search(r"^# (.+)$", content, re.MULTILINE)
    return match[1].strip() if match else ""


def first_sentence(content: str) -> str:
    """The first sentence of the text of a page, as plain text."""
    body = re.sub(r"\A---\n.*?\n---\n", "", content, flags=re.DOTALL)
    body = re.sub(r"^(`{3,}|:{3,}).*?^\1$", "", body, flags=re.MULTILINE | re.DOTALL)
    body = re.sub(r"<!--.*?-->|<[^>]+>", "", body, flags=re.DOTALL)
    for paragraph in body.split("\n\n"):
        plain = " ".join(_plain(paragraph.split("\n")).split())
        if plain:
            match = re.match(r"(.+?[.!?])(?:\s|$)", plain)
            return (match[1] if match else plain).rstrip(":")
    return ""


def _plain(lines: Iterable[str]) -> str:
    kept = [line for line in lines if not re.match(r"\s*(#|\||!\[|[-*+] |\d+\. |\(|:::|>)", line)]
    text = re.sub(r"\{\w+\}`([^`<]+?)(?: *<[^>]*>)?`", r"\1", " ".join(kept))
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"(\*\*|__|`)", "", text)
