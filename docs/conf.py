"""Sphinx settings. The reference is made from the code before every build, wherever it is built."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402
from furo.navigation import get_navigation_tree  # noqa: E402
from made import llms  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402

generate.write_reference(generate.REFERENCE)

project = "seldio"
author = "the seldio authors"
project_copyright = f"2026, {author}"
release = importlib.metadata.version("seldio")

extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design", "notfound.extension"]
copybutton_prompt_text = r"\$ |> "
copybutton_prompt_is_regexp = True
notfound_template = "page.html"
notfound_no_urls_prefix = not os.environ.get("READTHEDOCS")
exclude_patterns = ["_build", "made", f"reference/{generate.EXTRA}"]
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"seldio {release}"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["seldio.css"]
smartquotes_action = "qe"  # -- is an option, no dash
html_extra_path = [f"reference/{generate.EXTRA}"]
#: Where the repository is, from whoever builds the pages; without it, no page offers to be edited.
REPOSITORY = os.environ.get("READTHEDOCS_GIT_CLONE_URL", "").removesuffix(".git") or "/".join(
    os.environ[name] for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY") if name in os.environ
)
html_theme_options = (
    {"source_repository": REPOSITORY, "source_branch": "main", "source_directory": "docs/"} if REPOSITORY else {}
)
suppress_warnings = ["misc.highlighting_failure"]  # files shown as examples of what is wrong

#: Links in the sidebar: all pages of a long reference would hide the rest.
SIDEBAR = 40

#: Pages that moved, and where to: addresses that people and older versions of seldio have still lead somewhere.
MOVED = {
    "howto/convert-and-look": "howto/convert",
    "howto/convert-data": "howto/convert",
    "howto/severity": "howto/check-and-repair",
    "howto/known-findings": "howto/check-and-repair",
    "howto/fix": "howto/check-and-repair",
    "howto/frameworks": "howto/load",
    "howto/feed-a-network": "howto/load",
    "howto/load-with-datasets": "howto/load",
    "howto/open-a-dataset": "howto/python",
    "howto/harnesses": "howto/convert-questions",
    "howto/plot": "howto/view",
    "tutorials/score": "concepts/scores",
}

#: What people search for, by the page that answers it; an entry that ends with ``/`` is of all pages in a folder.
SEARCH = {
    "": "sound event localization and detection, SELD",
    "index": "ambisonics validator, DCASE submission check, SELD metrics python, STARSS23, DCASE Task 3, SO-Bench, "
    "JASCO, ruEnvAQA, audio question answering",
    "reference/commands/validate": "ambisonics validator, DCASE submission check, label checker, linter",
    "reference/commands/score": "SELD metrics python, DCASE Task 3 score, location-dependent F-score, F20",
    "reference/commands/convert": "convert STARSS23, DCASE label format converter, FOA to MIC",
    "reference/commands/view": "STARSS23 viewer, ambisonics player, 360 video labels",
    "reference/rules": "DCASE submission check, SELD label errors",
    "reference/formats": "DCASE label format, STARSS23 csv columns, DCASE output format",
    "reference/profiles": "SELD metrics python, DCASE 2023 metrics, DCASE 2024 metrics, SO-Bench scorer",
    "concepts/azimuth": "azimuth convention, azimuth sign, left or right, clockwise, mirrored labels",
    "concepts/channels": "ambisonics channel order, ACN, SN3D, N3D, FuMa, AmbiX, W Y Z X, FOA to MIC, Eigenmike, "
    "rigid sphere, array response, steering vectors",
    "concepts/frames": "label frame, hop, 100 ms, 20 ms, off by one, onset, offset",
    "concepts/listening": "check labels with audio, intensity vector, wrong labels, validate --deep",
    "concepts/official-programs": "SELD metrics wrong, DCASE baseline bug, F 0 %, jackknife, macro F-score",
    "concepts/replies": "MMAU accuracy, exact match, parsing, ruEnvAQA, MMAR",
    "concepts/radians": "degrees or radians, distance in cm or m, DCASE columns",
    "concepts/video-clock": "29.97 fps, 30000/1001, video alignment, drift, frame rate, STARSS23 video",
    "reference/tasks/": "spatial audio question answering, SO-Bench task",
    "reference/formats/": "file format, columns, DCASE, STARSS",
    "reference/rules/": "validate, error, warning",
}


def _words(page: str) -> str:
    """The search words of a page."""
    return ", ".join(
        words
        for place, words in SEARCH.items()
        if place in ("", page) or (place[-1:] == "/" and page.startswith(place))
    )


def _with_metadata(_app: object, page: str, source: list[str]) -> None:
    """Give a page that says nothing of itself its first sentence as description, and its search words."""
    text = source[0]
    if "html_meta" in text[:400]:
        return
    described = llms.first_sentence(text).replace("\\", "").replace('"', "'")
    meta = f'myst:\n  html_meta:\n    description: "{described}"\n    keywords: "{_words(page)}"\n'
    source[0] = text.replace("---\n", f"---\n{meta}", 1) if text.startswith("---\n") else f"---\n{meta}---\n{text}"


def _without_edit(_app: object, page: str, _template: str, context: dict[str, object], _doctree: object) -> None:
    """Pages that are made from the code have no file that could be edited, but those of rules."""
    code = page.removeprefix("reference/rules/")
    if page.startswith("reference/") and REPOSITORY:
        context["theme_source_repository"] = ""
        if (HERE.parent / f"src/seldio/rules/pages/{code}.md").exists():
            context["theme_source_edit_link"] = f"{REPOSITORY}/edit/main/src/seldio/rules/pages/{code}.md"


def _short_sidebar(_app: object, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Next to the parts, the sidebar lists the pages of the part that is read, where these are few."""
    if "toctree" in context:
        common = {"titles_only": True, "includehidden": True}
        tree = context["toctree"](collapse=True, maxdepth=-1, **common)
        if tree.count("<a ") > SIDEBAR:
            tree = context["toctree"](collapse=False, maxdepth=1, **common)
        context["furo_navigation_tree"] = get_navigation_tree(tree)


def _redirects(app: Sphinx, failed: Exception | None) -> None:
    """A page at each old address that leads to the new one."""
    for old, new in {} if failed or app.builder.format != "html" else MOVED.items():
        target = f"{'../' * old.count('/')}{new}.html"
        page = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={target}">'
        Path(app.outdir, f"{old}.html").write_text(f'{page}<a href="{target}">This page has moved.</a>\n', "utf-8")


def setup(app: Sphinx) -> None:
    """See Sphinx."""
    app.connect("source-read", _with_metadata)
    app.connect("html-page-context", _without_edit)
    app.connect("html-page-context", _short_sidebar, priority=900)  # after that of the theme
    app.connect("build-finished", _redirects)
