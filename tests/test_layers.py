"""Imports point down, each library has one home, and nothing heavy is loaded before it is needed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "seldio"

#: The floors, from the ground up, as in DESIGN; a file imports from its own floor and those below.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "findings", "plugins", "reader_rules", "text", "progress"),
    ("files", "geometry", "clock", "vocabularies"),
    ("schema", "media", "engines", "reports"),
    ("formats",),
    ("rules", "tasks", "answers"),
    (
        "check", "conversion", "scores", "differences", "data", "synth",
    ),
    ("hub", "viewer", "schemas", "api"),
    ("cli",),
    ("__init__", "__main__"),
)  # fmt: skip
FLOOR = {place: number for number, floor in enumerate(FLOORS) for place in floor}

#: Where each library may be imported; everything else has to go through these files.
HOMES: dict[str, tuple[str, ...]] = {
    "pydantic": ("schema/", "schemas.py"),
    "pydantic_core": ("formats/json_columns.py", "formats/json_records.py"),  # its JSON, which makes no models
    "rich": ("reports/terminal.py", "reports/bars.py"),
    "typer": ("cli/",),
    "yaml": ("formats/yaml_text.py",),
    "jsonschema": ("scores/judge/",),
    "soundfile": ("media/audio.py",),
    "soxr": ("media/resampling.py",),
    "av": ("media/",),
    "scipy": ("scores/", "media/arrays.py", "tasks/even.py"),
    "huggingface_hub": ("hub/", "scores/judge/"),
    "rapidfuzz": ("answers/matching.py",),
    "ray": ("engines/cluster.py",),
    "matplotlib": ("viewer/",),
    # wherever tables are built
    "numpy": ("",),
    "pyarrow": ("",),
}
#: Heavy, so never loaded by ``import seldio``.
HEAVY = (
    "pandas",
    "pyarrow",
    "scipy",
    "av",
    "numpy",
    "pydantic",
    "rich",
    "typer",
    "soundfile",
    "matplotlib",
    "ray",
)

FILES = sorted(SOURCE.rglob("*.py"))


def place(path: Path) -> str:
    """A file's place in the table."""
    return within(path.relative_to(SOURCE).with_suffix("").parts)


def within(parts: Sequence[str]) -> str:
    """The place of a module: its top-level module or package, or a part of that with a floor of its own."""
    part = "/".join(parts[:2])
    return part if part in FLOOR else parts[0]


@cache
def imports(path: Path) -> list[tuple[str, int]]:
    """The modules a file imports, inside functions too, with their lines; those for type checkers left out."""
    return list(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    tree = ast.parse(path.read_text("utf-8"))
    typing = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in typing:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            if node.module == "seldio":
                yield from ((f"seldio.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield str(node.module), node.lineno


def test_there_is_something_to_look_at() -> None:
    assert len(FILES) > 30


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    assert place(path) in FLOOR, f"on which floor is {place(path)}? Put it into FLOORS"
    for module, line in imports(path):
        top, *rest = module.split(".")
        if top == "seldio" and module != "seldio.__version__":
            target = within(rest) if rest else "__init__"
            target = target if target in FLOOR else "__init__"
            assert FLOOR[target] <= FLOOR[place(path)], f"{path}:{line} imports {module}, from a higher floor"


def test_no_possessive_groups() -> None:
    """Python before 3.11.5 forgets where such a group began once it fails half-way; atomic groups are right."""
    wrong = re.compile(r"(?<!\|\(\?!\))\)(?:[?*+]|\{[0-9,]+\})\+.*")
    found = {path.name: wrong.findall(path.read_text("utf-8")) for path in FILES}
    assert not any(found.values()), "write (?>(?:…)*), or end the choices of the group with |(?!)"


def test_the_picture_of_the_house_shows_these_floors() -> None:
    text = (SOURCE.parents[1] / "docs/design.md").read_text("utf-8")
    drawn = {
        int(floor): {place.removesuffix("/") for place in re.findall("`([^`]+)`", places)}
        for floor, places in re.findall(r"(?m)^\| (\d) \| ([^|]+) \|", text)
    }

    assert drawn == {number: set(floor) for number, floor in enumerate(FLOORS)}


def test_every_home_is_there() -> None:
    homes = {home for places in HOMES.values() for home in places}

    assert [home for home in homes if not (SOURCE / home).exists()] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_libraries_have_one_home(path: Path) -> None:
    name = path.relative_to(SOURCE).as_posix()
    for module, line in imports(path):
        top = module.split(".")[0]
        if top != "seldio" and top not in sys.stdlib_module_names:
            assert top in HOMES, f"{path}:{line}: {top} has no home in HOMES"
            assert name.startswith(HOMES[top]), f"{path}:{line}: the home of {top} is {' or '.join(HOMES[top])}"


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after *code*."""
    text = f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r}); {code}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_seldio_loads_nothing_heavy() -> None:
    assert set() == set(HEAVY) & loaded_by("import seldio; seldio.__all__; dir(seldio)")


def test_help_loads_nothing_heavy() -> None:
    pytest.importorskip("seldio.cli")
    code = "import contextlib, io\nfrom seldio.cli import main\nwith contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n    sys.argv = ['seldio', '--help']; main()\nimport sys"
    text = f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r})\n{code}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert set() == {"pandas", "pyarrow", "scipy", "av"} & set(run.stdout.split())
