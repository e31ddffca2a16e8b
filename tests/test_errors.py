"""Messages name options on the command line, and arguments in Python."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from pathlib import Path

import pytest

import seldio
from seldio.errors import LossError, MissingLibrary, UsageError, in_python, needing


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("use --fill distance=METRES --fill source=0 (…)", 'use fill={"distance": METRES, "source": 0} (…)'),
        ("--fill distance=far: not a valid distance", 'fill={"distance": "far"}: not a valid distance'),
        ("--fill colour: only distance can be filled", 'fill="colour": only distance can be filled'),
        ("use --allow-loss source,distance", 'use allow_loss="source,distance"'),
        ("--allow-loss x,y: unknown field", 'allow_loss="x,y": unknown field'),
        ("choose one with --format. Or: --format starss23.", 'choose one with format=. Or: format="starss23".'),
        ("read it with --format dcase2020-output, or not", 'read it with format="dcase2020-output", or not'),
        ("--format reads it; --force continues", "format= reads it; force=True continues"),
        ("--gain needs --to mic or --to foa: no", 'gain= needs target="mic" or target="foa": no'),
        ("--intervals: one of; --intervals seed=-1: a seed is", 'intervals: one of; intervals="seed=-1": a seed is'),
        ("--gain 70.5: choose decibels", "gain=70.5: choose decibels"),
        ("--citation refs.bib: cannot be read", 'citation="refs.bib": cannot be read'),
        ("use -o FILE or -o with a name", "use out=FILE or out= with a name"),
        ("written by seldio score --json", "written by seldio score --json"),
        ("a pre--force, - o and my-o", "a pre--force, - o and my-o"),
        ("--column T=frame:s, or none", 'column={"T": "frame:s"}, or none'),
        ("--judge-set retries=x: expected a number", 'judge_set={"retries": "x"}: expected a number'),
    ],
)
def test_options_become_arguments(written: str, read: str) -> None:
    assert read == in_python(written)
    assert (written, read) == (UsageError(written).text, str(UsageError(written)))


def test_every_option_in_an_exception_is_an_argument() -> None:
    functions = filter(inspect.isfunction, (getattr(seldio, name) for name in seldio.__all__))
    known = {name for function in functions for name in inspect.signature(function).parameters}
    named = set()
    for path in Path(seldio.__file__).parent.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "--" in text and path.parent.name != "cli" else ():
            if isinstance(node, ast.Raise) and node.exc is not None:
                said = ast.unparse(node.exc)
                named |= {*re.findall(r"\b(\w+)=", in_python(said))} - {*re.findall(r"\b(\w+)=", said)}
    assert named - known == set()
    assert len(named) > 20


def test_a_loss_names_the_argument() -> None:
    losses = {"source": "the numbers 0 to 4", "distance": "all"}
    for fields in (["source"], ["source", "distance"]):
        error = LossError("dcase2023-submission", {field: losses[field] for field in fields})
        assert str(error).endswith(f'To accept this loss, use allow_loss="{",".join(fields)}"')
        assert error.text.endswith(f"To accept this loss, use --allow-loss {','.join(fields)}")


def test_a_missing_library_says_what_to_install() -> None:
    with pytest.raises(MissingLibrary) as caught, needing("av"):
        raise ModuleNotFoundError("No module named 'av.error'", name="av.error")
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == "av is not installed, and videos, resampling and deep checks need it: pip install av"
    assert isinstance(error, seldio.SeldioError)
    assert isinstance(error, ImportError)
    with pytest.raises(MissingLibrary, match=r"need 999\.1: pip install 'av>=999\.1'$"), needing("av", "999.1"):
        raise AssertionError("not reached")
    with needing("av", "1.10.1"):
        pass
    with pytest.raises(ModuleNotFoundError, match="other"), needing("av"):
        raise ModuleNotFoundError("No module named 'other'", name="other")
