#!/usr/bin/env -S uv run --script

# /// script
# dependencies = ["nox>=2025.10.14"]
# ///

"""The same checks as the Makefile, each in an environment of its own."""

from __future__ import annotations

import nox

PROJECT = nox.project.load_toml("pyproject.toml")

nox.needs_version = ">=2025.10.14"
nox.options.default_venv_backend = "uv|virtualenv"


@nox.session
def lint(session: nox.Session) -> None:
    """Run all pre-commit hooks on all files."""
    session.install("pre-commit")
    session.run("pre-commit", "run", "--all-files", "--show-diff-on-failure", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests."""
    session.install("-e.", *nox.project.dependency_groups(PROJECT, "test"))
    session.run("pytest", *(session.posargs or ["-n", "2"]))


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation; a warning is an error."""
    session.install("-e.", *nox.project.dependency_groups(PROJECT, "docs"))
    session.run("sphinx-build", "-W", "--keep-going", "docs", "docs/_build/html", *session.posargs)


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Build the source distribution and the wheel into dist/."""
    session.install("build")
    session.run("python", "-m", "build", *session.posargs)


if __name__ == "__main__":
    nox.main()
