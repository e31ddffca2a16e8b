"""What seldio says of everything at hand, kept in files, so that a change shows what it changes.

    python tests/frozen.py               compare with tests/frozen/ and print each difference; exit code 1 if there is one
    python tests/frozen.py --write       keep what is said now
    python tests/frozen.py findings      only this part: findings, help

- *findings*: what `validate` finds in each folder, and in some files of each folder, of the examples (tests/cases) and,
  where ``SELDIO_SHARED`` names it, of real data and of bad inputs.
- *help*: what `--help` of each command prints.

Differences are not failures: a change lists those that it means to make.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

TESTS = Path(__file__).resolve().parent
KEPT = TESTS / "frozen"
SHARED = Path(os.environ.get("SELDIO_SHARED", TESTS.parents[1] / "shared"))
#: Files of a folder that are also checked by themselves, and lines that are kept of one report.
ALONE, MOST = 6, 60


def _targets() -> Iterator[tuple[str, Path]]:
    """What is validated: a name that is the same on each machine, and the path."""
    for name, root in (("cases", TESTS / "cases"), ("data", SHARED / "data"), ("corpora", SHARED / "corpora")):
        folders = sorted(path for path in (root, *root.rglob("*")) if path.is_dir()) if root.is_dir() else []
        for folder in folders:
            files = sorted(path for path in folder.iterdir() if path.is_file())
            for path in (folder, *files[: ALONE if len(files) <= 200 else 2]) if files else ():
                yield f"{name}/{path.relative_to(root)}", path


def _findings(path: Path) -> list[str]:
    import seldio

    try:
        report = seldio.validate(path)
    except seldio.SeldioError as error:
        return [f"{type(error).__name__}: {error}".replace(str(path), "PATH")]
    lines = [
        f"{one.path}:{one.line or ''}:{one.column or ''} {one.code} {one.severity.value}{'*' * one.fixable} "
        f"x{one.count} {one.message} | {one.hint or ''}".replace(str(path), "PATH").replace(str(TESTS), "TESTS")
        for one in report.findings
    ]
    return [f"{report.files} files, {len(lines)} findings", *lines[:MOST]]


def _help(command: str) -> list[str]:
    sys.path.insert(0, str(TESTS))
    from pages import in_process

    return in_process([*command.split(), "--help"])[0].splitlines()


def _part(name: str) -> dict[str, list[str]]:
    """What is said now, by target."""
    if name == "help":
        import typer.main

        from seldio.cli import app

        commands = ["", *typer.main.get_command(app).commands]  # type: ignore[attr-defined]
        return {f"seldio {command}".strip(): _help(command) for command in commands}
    targets = list(_targets())
    with ProcessPoolExecutor(2) as pool:
        said = pool.map(_findings, [path for _, path in targets], chunksize=20)
        return dict(zip((target for target, _ in targets), said, strict=True))


def _kept(name: str) -> dict[str, list[str]]:
    path = KEPT / f"{name}.json.gz"
    return json.loads(gzip.decompress(path.read_bytes())) if path.exists() else {}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="findings, help; by default both")
    parser.add_argument("--write", action="store_true", help="keep what is said now")
    options = parser.parse_args()
    different = 0
    for name in options.parts or ("findings", "help"):
        now, before = _part(name), _kept(name)
        if options.write:
            KEPT.mkdir(exist_ok=True)
            text = json.dumps(now, ensure_ascii=False, indent=0, sort_keys=True)
            (KEPT / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
            continue
        changed = [target for target in sorted({*now, *before}) if now.get(target) != before.get(target)]
        # without the real data, what is kept of them says nothing
        changed = [target for target in changed if target in now or target.startswith("cases/") or name != "findings"]
        for target in changed:
            print(f"=== {name}: {target}")
            print(
                "\n".join(
                    difflib.unified_diff(before.get(target, []), now.get(target, []), "before", "now", "", "", 0, "")
                )
            )
        print(f"{name}: {len(changed)} of {len(now)} differ")
        different += len(changed)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
