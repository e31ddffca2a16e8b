"""What a command loads: it starts quickly where it loads what it needs, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer.main
from commands import laid
from releases import older

from seldio.cli import app

#: Libraries that take long to load, and that one line of labels needs for nothing.
HEAVY = ("pandas", "scipy", "soundfile", "av", "jsonschema", "huggingface_hub", "yaml", "rapidfuzz", "matplotlib")
#: What typer would load to convert options.
BESIDE = ("pydantic", "email.message", "importlib.metadata")
SCRIPT = """
import json, sys
arguments, of_typer = sys.argv[1:], set()
if arguments[0] == "read":
    import seldio
    seldio.read(arguments[1])
else:
    import typer.main
    of_typer = set(sys.modules)  # old ones load rich whatever they are asked
    from seldio.cli import main
    sys.argv = ["seldio", *arguments]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
print("LOADED", json.dumps(sorted(set(sys.modules) - of_typer)))
"""


def loaded(*arguments: object) -> set[str]:
    """The modules that are loaded once a command has ended, in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return set(json.loads(run.stdout.rpartition("LOADED ")[2]))


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("start") / "mix001.csv"
    path.write_text("0,1,0,-50,30,200\n")
    return path


def of_seldio(modules: set[str]) -> list[str]:
    return sorted(name for name in modules if name == "seldio" or name.startswith("seldio."))


def test_reading_one_line_loads_little(line: Path) -> None:
    modules = loaded("read", line)
    assert len(of_seldio(modules)) <= 45, of_seldio(modules)
    assert [name for name in (*HEAVY, "pydantic", "pyarrow.parquet", "rich") if name in modules] == []


@pytest.mark.parametrize(
    ("command", "most"),
    [(("validate", "LINE"), 75), (("info", "LINE"), 78), (("score", "LINE", "-r", "LINE"), 95),
     (("convert", "LINE", "--to", "starss22", "-o", "OUT", "--allow-loss", "all"), 90)],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_a_command_on_one_line_loads_no_library_that_it_does_not_need(
    command: tuple[str, ...], most: int, line: Path, tmp_path: Path
) -> None:
    given = [str(line) if part == "LINE" else str(tmp_path / "out.csv") if part == "OUT" else part for part in command]
    modules = loaded(*given)
    assert [name for name in (*HEAVY, *BESIDE, "pyarrow.parquet") if name in modules] == []
    beside = {"rich": ("score",), "pyarrow.compute": (), "concurrent.futures": ()}
    if not older("numpy", "2.0"):  # which loads it by itself
        beside["numpy.ma"] = ("score",)
    assert [name for name, users in beside.items() if name in modules and command[0] not in users] == []
    assert len(of_seldio(modules)) <= most, of_seldio(modules)


@pytest.mark.parametrize("command", [("--help",), ("formats",), ("rule", "--all"), ("rule", "LAB303")], ids=" ".join)
def test_lists_load_neither_rules_nor_formats_nor_arrays(command: tuple[str, ...]) -> None:
    modules = loaded(*command)
    assert [name for name in (*HEAVY, *BESIDE, "socket", "rich", "numpy", "pyarrow") if name in modules] == []


@pytest.mark.parametrize(
    "value", [None, "", "x", "3", 3, 0.5, "local", Path("x"), (), [], ("a", "b"), ["a", ""]], ids=repr
)
def test_values_of_options_are_those_that_typer_would_make(value: object) -> None:
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        context = command.make_context(name, [], resilient_parsing=True)
        for parameter in command.get_params(context):
            if parameter.callback is None:
                expected = outcome(type(parameter).process_value, parameter, context, value)
                assert outcome(parameter.process_value, context, value) == expected, (name, parameter.name)


def outcome(process: Callable[..., object], *given: object) -> tuple[object, ...]:
    try:
        made = process(*given)
    except Exception as error:  # noqa: BLE001 - whatever it is, both have to raise it
        return type(error), str(error)
    return type(made), made


#: Runs commands of seldio, one after the other, in an interpreter that has none of the libraries.
RUN = """
import contextlib, io, json, sys

absent = set(sys.argv[1].split(","))

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from seldio.cli import main

done = []
for command in json.loads(sys.argv[2]):
    sys.argv = ["seldio", *command]
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            main()
        except SystemExit as end:
            code = end.code
    done.append((code, out.buffer.getvalue().decode()))
print(json.dumps(done))
"""


def run(folder: Path, *commands: str) -> list[tuple[int, str]]:
    """The exit codes and the output of *commands* without the libraries."""
    split = json.dumps([command.split() for command in commands])
    done = subprocess.run([sys.executable, "-c", RUN, "av,rapidfuzz,huggingface_hub", split], cwd=folder, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert 0 == done.returncode, done.stderr
    return [(code or 0, text) for code, text in json.loads(done.stdout)]


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    rows = {n: "".join(f"{frame},{n},0,{10 * n},-5,150\n" for frame in range(600)) for n in (1, 2)}
    return laid(tmp_path / "labels", {f"fold4_room1_mix00{n}.csv": text for n, text in rows.items()})


def test_labels_are_checked_converted_and_scored(labels: Path) -> None:
    bad = labels.parent / "fold4_room1_mix003.csv"
    bad.write_text("0,77,0,10,0,150\n")

    results = run(
        labels.parent,
        "validate labels -f starss23",
        "validate fold4_room1_mix003.csv -f starss23",
        "info labels",
        "convert labels -f starss23 --to dcase2023-submission --allow-loss source,distance -o out",
        "convert labels -f starss23 --to sobench-qa -o qa.jsonl --total 5",
        "validate qa.jsonl",
        "score out -r labels",
        "view labels/fold4_room1_mix001.csv -f starss23 -o page.html",
    )

    assert [0, 1, 0, 0, 0, 0, 0, 0] == [code for code, _ in results], results
    assert "LAB102" in results[1][1]
    assert (labels.parent / "page.html").exists()


@pytest.mark.slow
def test_what_needs_a_library_says_which(labels: Path) -> None:
    video = "video_dev/dev-test-tau/fold4_room2_mix001.mp4"
    laid(
        labels, {"metadata_dev/dev-test-tau/fold4_room2_mix001.csv": "0,1,0,10,-5,150\n", video: b"\0\0\0\x20ftypisom"}
    )
    for path in labels.glob("*.csv"):
        path.unlink()
    needs = "validate .", "pull someone/something", "validate hf://datasets/someone/something"
    results = run(labels, *needs)

    for (code, text), library in zip(results, ("av", "huggingface_hub", "huggingface_hub"), strict=True):
        assert 3 == code
        assert text.startswith(f"seldio: {library} is not installed")
        assert text.endswith(f"pip install {library}\n")
