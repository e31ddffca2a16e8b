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
from effort import as_one

from seldio import formats

SOURCE = Path(__file__).parents[1] / "src" / "seldio"

#: The floors, from the ground up, as in DESIGN; a file imports from its own floor and those below.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "findings", "plugins", "reader_rules", "renamed", "text", "progress"),
    ("benchmarks", "files", "geometry", "clock", "vocabularies", "changes"),
    ("schema", "media", "parallel", "reports"),
    ("formats",),
    ("catalogues",),
    ("rules", "tasks", "answers"),
    (
        "check", "conversion", "scores", "differences", "data", "synth",
    ),
    ("hub", "viewer", "schemas", "challenge", "api"),
    ("cli",),
    ("__init__", "__main__"),
)  # fmt: skip
FLOOR = {place: number for number, floor in enumerate(FLOORS) for place in floor}

#: Where each library may be imported; everything else has to go through these files.
HOMES: dict[str, tuple[str, ...]] = {
    "pydantic": ("schema/", "schemas.py", "formats/item_parquet.py"),
    "pydantic_core": ("formats/json_text.py", "schema/qa.py"),  # its JSON, which makes no models
    "rich": ("reports/",),
    "typer": ("cli/",),
    "yaml": ("formats/yaml_text.py",),
    "jsonschema": ("rules/package.py", "scores/judge.py", "reports/json_report.py"),
    "soundfile": ("media/audio.py",),
    "soxr": ("media/recording.py",),
    "av": ("media/",),
    "scipy": ("scores/", "rules/deep_pieces.py", "synth/sounds.py"),
    "pandas": ("rules/deep_pieces.py",),
    "threadpoolctl": ("scores/imaging/",),
    "huggingface_hub": ("hub/", "scores/judge.py"),
    "rapidfuzz": ("answers/matching.py", "rules/submissions.py"),
    "ray": ("parallel.py",),
    "matplotlib": ("viewer/",),
    # wherever tables are built
    "numpy": ("",),
    "pyarrow": ("",),
}
#: Heavy, so never loaded by ``import seldio``.
HEAVY = ("pandas", "pyarrow", "scipy", "av", "numpy", "pydantic", "rich", "typer", "soundfile", "matplotlib", "ray")

FILES = sorted(SOURCE.rglob("*.py"))


def place(path: Path) -> str:
    return within(path.relative_to(SOURCE).with_suffix("").parts)


def within(parts: Sequence[str]) -> str:
    """The place of a module: its top-level module or package, or a part of that with a floor of its own."""
    part = "/".join(parts[:2])
    return part if part in FLOOR else parts[0]


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


@cache
def imports(path: Path) -> list[tuple[str, int]]:
    """The modules a file imports, inside functions too, with their lines; those for type checkers left out."""
    return list(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    typing = {
        id(node)
        for block in nodes(path)
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in nodes(path):
        if id(node) in typing:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            if node.module == "seldio":
                yield from ((f"seldio.{alias.name}", node.lineno) for alias in node.names)
            else:
                modules = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from ((module if is_module(module) else str(node.module), node.lineno) for module in modules)


def is_module(name: str) -> bool:
    path = SOURCE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


@as_one
@pytest.mark.parametrize("path", FILES)
def test_imports_point_down(path: Path) -> None:
    assert place(path) in FLOOR, f"on which floor is {place(path)}? Put it into FLOORS"
    for module, line in imports(path):
        top, *rest = module.split(".")
        if top == "seldio" and module != "seldio.__version__":
            target = within(rest) if rest else "__init__"
            target = target if target in FLOOR else "__init__"
            assert FLOOR[target] <= FLOOR[place(path)], f"{path}:{line} imports {module}, from a higher floor"


def test_the_name_of_a_class_means_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(f"{path.relative_to(SOURCE)}:{node.lineno}")

    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_no_possessive_groups() -> None:
    """Python before 3.11.5 forgets where such a group began once it fails half-way; atomic groups are right."""
    wrong = re.compile(r"(?<!\|\(\?!\))\)(?:[?*+]|\{[0-9,]+\})\+.*")
    found = {path.name: wrong.findall(path.read_text("utf-8")) for path in FILES}
    assert not any(found.values()), "write (?>(?:…)*), or end the choices of the group with |(?!)"


def test_the_table_of_the_packages_shows_these_floors() -> None:
    text = (SOURCE.parents[1] / "docs/design.md").read_text("utf-8")
    drawn = {
        int(floor): {place.removesuffix("/") for place in re.findall("`([^`]+)`", places)}
        for floor, places in re.findall(r"(?m)^\| (\d) \| ([^|]+) \|", text)
    }

    assert drawn == {number: set(floor) for number, floor in enumerate(FLOORS)}
    assert [home for homes in HOMES.values() for home in homes if not (SOURCE / home).exists()] == []


@as_one
@pytest.mark.parametrize("path", FILES)
def test_libraries_have_one_home(path: Path) -> None:
    name = path.relative_to(SOURCE).as_posix()
    for module, line in imports(path):
        top = module.split(".")[0]
        if top != "seldio" and top not in sys.stdlib_module_names:
            assert top in HOMES, f"{path}:{line}: {top} has no home in HOMES"
            assert name.startswith(HOMES[top]), f"{path}:{line}: the home of {top} is {' or '.join(HOMES[top])}"


#: What writes, makes or removes without the gate: methods of paths, and functions of modules.
_DEEDS = frozenset([
    *("unlink", "rmdir", "rmtree", "mkdir", "makedirs", "removedirs", "rename", "renames", "symlink", "symlink_to", "link"),
    *("hardlink_to", "touch", "truncate", "chmod", "write_text", "copy", "copy2", "copyfile", "copytree", "mkfifo", "mknod"),
])  # fmt: skip
#: Where that is right, and why.
_OTHERS = {("cli/printing.py", "open"): "the null device, in the place of an output that nobody reads"}
#: Where files are written that the user names as such, through links too; in them the folder above is not given.
_NAMED_BY_THE_USER = {
    "challenge.py": "-o of package, and the meta file beside it", "cli/printing.py": "-o of reports", "cli/verbs.py": "-o of a response", "check/settings.py": "--write-baseline",
    "check/repair.py": "the files that were read, repaired where they lie",
    "conversion/labels.py": "-o of one table",
    "conversion/outputs.py": "the folder of -o", "conversion/recordings.py": "-o of one file", "hub/repository.py": "the folder above that of pull",
    "scores/replies.py": "--items",
    "data/exporting.py": "the folder of an export",
}  # fmt: skip
#: How many arguments come before the folder below which no link is followed.
_GATE = {"atomic_write": 1, "write_bytes": 2, "make_folder": 1, "move": 2}


def _writes(call: ast.Call) -> str | None:
    """The name of a function or method that writes to a path by itself."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    of = owner.id if isinstance(owner, ast.Name) else ""
    if name in _DEEDS and (owner is not None or name == "rmtree") and of not in ("pl", "np", "pc", "copy"):
        copies = name == "copy" and of != "shutil"  # of arrays and dicts
        return None if copies else name
    if (
        name == "replace"
        and owner is not None
        and of != "dataclasses"
        and len(call.args) + len(call.keywords) == 1
        and not call.keywords
    ):
        return name  # of a path; that of a text takes two
    if name == "write_bytes" and owner is not None:
        return name
    modes = [arg.value for arg in (*call.args, *(one.value for one in call.keywords)) if isinstance(arg, ast.Constant)]
    if name == "open" and of not in ("av", "tarfile") and any(
        isinstance(mode, str) and len(mode) < 4 and set(mode) & set("wax+") and set(mode) <= set("rwaxbt+") for mode in modes
    ):  # fmt: skip
        return name
    flags = {node.attr for arg in call.args for node in ast.walk(arg) if isinstance(node, ast.Attribute)}
    return name if name == "open" and flags & {"O_WRONLY", "O_RDWR", "O_CREAT"} else None


@as_one
@pytest.mark.parametrize("path", FILES)
def test_nobody_writes_but_the_gate(path: Path) -> None:
    name = path.relative_to(SOURCE).as_posix()
    if name == "files/writing.py":
        return
    for call in (node for node in nodes(path) if isinstance(node, ast.Call)):
        deed = _writes(call)
        assert deed is None or (name, deed) in _OTHERS, f"{path}:{call.lineno}: {deed} is not that of files/writing.py"
        function = call.func.id if isinstance(call.func, ast.Name) else ""
        if function in _GATE and len(call.args) + len(call.keywords) <= _GATE[function]:
            said = f"{path}:{call.lineno}: {function} of a file below a folder takes the folder too"
            assert name in _NAMED_BY_THE_USER, said


@pytest.mark.parametrize(
    "line",
    ["os.unlink(p)", "p.unlink()", "p.replace(q)", "os.open(p, os.O_WRONLY)", "open(p, 'wb')", "p.open('a')",
     "open(p, mode='x')", "p.write_bytes(b'')", "shutil.rmtree(p)", "p.mkdir()", "shutil.copy(p, q)", "p.write_text('')"],
)  # fmt: skip
def test_what_writes_is_seen(line: str) -> None:
    (call,) = (node for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Call))

    assert _writes(call) is not None


#: What tells by itself what a file is or which clip it is of: a test of its suffix, its stem, its first bytes.
_TELLS = re.compile(
    r"""\.endswith\(\(?(?:["']\.|\*?_?[A-Z]+\b)|partition\("\."\)|rsplit\("\.",|splitext\(|\.head\(|\.likes\("""
    r"""|removesuffix\("[_.]|(?<!format)(?<!target)(?<!own)(?<!SUBMISSION)(?<!place)\.(?:suffix|stem)\b(?!\()"""
)


#: Where these are parts of words, of modules, of outputs and of data of seldio itself.
_OF_OTHER_NAMES = (
    "benchmarks/", "errors.py", "findings.py", "formats/own_keys.py", "media/video.py", "plugins.py", "schema/events.py",
    "scores/judge.py", "scores/seld/", "tasks/", "viewer/page.py", "viewer/plot.py", "vocabularies/",
)  # fmt: skip


#: Where it belongs besides the catalogue, files/ and the modules of formats: what several of these share, and where it is
#: said what *others* make of a name or of the first bytes: the Hub, libsndfile.
_HOMES_OF_NAMES = (
    "formats/__init__.py", "formats/json_items.py", "formats/json_records.py", "formats/mera.py",
    "hub/card.py", "media/audio.py",
)  # fmt: skip


def test_only_the_catalogue_tells_what_a_file_is() -> None:
    homes = ("files/", "catalogues/", *(f"formats/{home.module}.py" for home in formats.HOMES))
    for path in FILES:
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith((*homes, *_OF_OTHER_NAMES, *_HOMES_OF_NAMES)):
            assert [] == _TELLS.findall(path.read_text("utf-8")), f"{name}: ask the catalogue what the file is"


def test_importing_seldio_loads_nothing_heavy() -> None:
    code = f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r}); import seldio; dir(seldio); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set() == set(HEAVY) & set(run.stdout.split())
