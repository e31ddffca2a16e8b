"""The step of the GitHub Action that checks: annotations, a SARIF file and the summary of the job.

Reads the inputs of ``action.yml`` from the environment (``SELDIO_PATH`` and so on) and runs ``seldio validate`` once
for each output.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

#: GitHub refuses a summary of more than 1 MiB.
MOST_SUMMARY = 1_000_000


def main() -> int:
    """Check the files and return the exit code of ``seldio validate``."""
    given = {name: os.environ.get(f"SELDIO_{name}", "").strip() for name in ("PATH", "REFERENCE", "ARGS", "FAIL_ON")}
    paths = [line.strip() for line in given["PATH"].splitlines() if line.strip()] or ["."]
    try:
        options = [*shlex.split(given["ARGS"])]
    except ValueError as error:
        return _refused(f"args: {error}: quote them as in a shell")
    if len(os.environ.get("SELDIO_SARIF", "").strip().splitlines()) > 1:  # else its lines would be outputs, too
        return _refused("sarif: the name of one file, without line breaks")
    options += [f"--fail-on={given['FAIL_ON']}"] if given["FAIL_ON"] else []
    options += [f"--reference={given['REFERENCE']}"] if given["REFERENCE"] else []
    with tempfile.TemporaryDirectory(dir=os.environ.get("RUNNER_TEMP")) as folder:
        command = [sys.executable, "-m", "seldio", "validate", *options]
        code = _annotated([*command, "--output=github"], paths)
        if code in (0, 1):
            _write_others(command, paths, Path(folder) / "summary.md")
    _append("GITHUB_OUTPUT", f"exit-code={code}\n")
    return code


def _refused(text: str) -> int:
    """Say why nothing is checked, as wrong usage."""
    sys.stdout.write(f"::error title=seldio::{_escaped(text)}\n")
    _append("GITHUB_OUTPUT", "exit-code=2\n")
    return 2


def _escaped(text: str) -> str:
    """*text* as an annotation takes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _annotated(command: list[str], paths: list[str]) -> int:
    """Print an annotation for each finding; if it failed, one that says why."""
    done = subprocess.run([*command, "--", *paths], stderr=subprocess.PIPE, check=False)
    text = done.stderr.decode(errors="replace")
    sys.stderr.write(text)
    if done.returncode not in (0, 1):
        said = _escaped(text.strip())
        sys.stdout.write(f"::error title=seldio::{said or f'exit code {done.returncode}'}\n")
    return done.returncode


def _write_others(command: list[str], paths: list[str], page: Path) -> None:
    sarif = os.environ.get("SELDIO_SARIF", "").strip()
    if sarif:
        Path(sarif).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([*command, "--output=sarif", "-o", sarif, "--", *paths], check=False)
        _append("GITHUB_OUTPUT", f"sarif={sarif}\n")
    if os.environ.get("SELDIO_SUMMARY", "true").strip().lower() == "true" and "GITHUB_STEP_SUMMARY" in os.environ:
        subprocess.run([*command, "--output=markdown", "-o", str(page), "--", *paths], check=False)
        text = page.read_bytes()
        if len(text) > MOST_SUMMARY:
            text = text[:MOST_SUMMARY].rpartition(b"\n")[0] + b"\n\nThe report is longer than a summary may be.\n"
        _append("GITHUB_STEP_SUMMARY", "## seldio validate\n\n" + text.decode(errors="ignore"))


def _append(variable: str, text: str) -> None:
    """Append *text* to the file that GitHub names in the environment; print nothing where there is none."""
    if name := os.environ.get(variable):
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main())
