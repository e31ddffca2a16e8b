"""Sphinx settings."""

import importlib.metadata

project = "seldio"
author = "the seldio authors"
project_copyright = f"2026, {author}"
release = importlib.metadata.version("seldio")

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
html_theme = "furo"
