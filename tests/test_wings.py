"""Each wing comes off: with its modules hidden, everything else works as before, and who asks for it reads its name."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import soundfile
import wing_tests
from hidden import hidden_with, hide

from seldio import wings

NAMES = tuple(wing.name for wing in wings.OWN)
CASES = Path(__file__).parent / "cases"
QUESTION = {
    "instruction": "Прослушайте <audio> и ответьте на вопрос: {question}\nA. {option_a}\nB. {option_b}\nОтвет:",
    "inputs": {"question": "Где?", "audio": "samples/audio1.wav", "option_a": "на улице", "option_b": "дома"},
    "outputs": "A",
    "meta": {"id": 1},
}
#: Commands by what they try, on the files that :func:`files` makes.
COMMANDS: Mapping[str, str] = {
    "validate file": "validate mix001.csv",
    "validate folder": "validate starss23",
    "validate 2026": "validate dcase2026",
    "validate questions": "validate questions.jsonl",
    "validate MERA": "validate mera.json",
    "validate submission": "validate mera.zip",
    "verdict of MERA": "validate mera.zip --output mera",
    "validate package": "validate package",
    "validate --deep video": "validate --deep clip.mp4",
    "validate --deep": "validate --deep mix001.csv",
    "info": "info mix001.csv",
    "info of a video": "info clip.mp4",
    "validate video": "validate clip.mp4",
    "convert": "convert mix001.csv --to dcase2026 -o converted.json",
    "convert ELAN": "convert elan --to raven -o converted.txt",
    "convert questions": "convert questions.jsonl --to items -o converted.jsonl",
    "ask": "convert starss23 --to so-bench -o asked.jsonl --per-task 1",
    "convert to a harness": "convert questions.jsonl --to inspect -o inspect.jsonl",
    "score answers": "score answers.jsonl -r questions.jsonl",
    "score": "score starss23 -r starss23",
    "score maps": "score dcase2026 -r dcase2026",
    "profiles": "score --profiles",
    "compare": "compare starss23 starss23 -r starss23",
    "diff": "diff starss23 starss23",
    "view": "view mix001.csv -o page.html",
    "view with sound": "view heard/mix001.csv --audio heard/mix001.wav -o heard.html",
    "new": "new starss23",
    "schema": "schema event",
    "demo": "demo made --no-media --no-run",
    "pull": "info hf://nowhere",
    "formats": "formats",
    "format": "formats elan",
    "rule": "rule LAB103",
    "rule --all": "rule --all",
    "--select": "validate mix001.csv --select PRD12",
    "rules of MERA": "rule PRD121",
    "--help": "--help",
}
#: Those whose output lists what is there, and lacks the lines of what is not.
LISTS = ("formats", "profiles", "rule --all", "--help")
#: What needs each wing; all else works without it.
ASKS: Mapping[str, tuple[str, ...]] = {
    "mera": ("validate submission", "verdict of MERA", "rules of MERA", "--select"),
    "challenge": ("validate package",),
    "importers": ("convert ELAN", "format", "read ELAN"),
    "listening": ("validate --deep", "validate --deep video"),
    "video": ("validate --deep video", "view with sound"),
    "compare": ("compare",),
    "diff": ("diff",),
    "viewer": ("view", "view with sound"),
    "hub": ("pull",),
    "seld": ("score", "compare", "diff"),
    "imaging": ("score maps",),
    "scoring": ("score", "compare", "profiles"),
    "answers": ("score answers",),
    "harnesses": ("convert to a harness",),
    "synth": ("demo",),
    "ask": ("ask",),
}
#: The same from Python, which is only called where the wing is hidden.
CALLS: Mapping[str, str] = {
    "scoring": "seldio.rank('starss23')",
    "seld": "seldio.score('starss23', 'starss23')",
    "imaging": "seldio.score('dcase2026', 'dcase2026')",
    "answers": "seldio.score('answers.jsonl', 'questions.jsonl')",
    "mera": "seldio.validate('mera.zip')",
    "compare": "seldio.compare(['starss23', 'starss23'], 'starss23')",
    "diff": "seldio.diff('starss23', 'starss23')",
    "ask": "seldio.convert('starss23', 'asked.jsonl', 'so-bench')",
    "importers": "seldio.read('elan')",
    "harnesses": "seldio.convert('questions.jsonl', 'inspect.jsonl', 'inspect')",
    "challenge": "seldio.validate('package')",
    "listening": "seldio.validate('mix001.csv', deep=True)",
    "video": "seldio.view('heard/mix001.csv', 'heard.html', audio='heard/mix001.wav')",
    "viewer": "seldio.view('mix001.csv', 'page.html')",
    "hub": "seldio.read('hf://someone/something')",
    "cluster": "cluster()",
}


class Outcome(NamedTuple):
    """What a command ended with."""

    code: int
    output: list[str]
    error: list[str]


def files(folder: Path) -> None:
    """What the commands work on."""
    from test_package import META, A

    row = "0,1,0,-50,30,200\n1,1,0,-50,30,200\n"
    (folder / "mix001.csv").write_text(row)
    (folder / "clip.mp4").write_text("no video")
    (folder / "heard").mkdir()
    (folder / "heard/mix001.csv").write_text(row)
    soundfile.write(folder / "heard/mix001.wav", np.full((2400, 4), 0.25, np.float32), 24000)
    for name in ("elan", "starss23", "dcase2026"):
        (folder / name).mkdir()
        for path in (CASES / "formats" / name).iterdir():
            if path.suffix != ".jsonl":
                (folder / name / path.name).write_bytes(path.read_bytes())
    question = (CASES / "formats-items/so-bench/qa.jsonl").read_text("utf-8").splitlines()[0]
    (folder / "questions.jsonl").write_text(f"{question}\n", "utf-8")
    reply = {"qa_id": json.loads(question)["qa_id"], "prediction": json.loads(question)["answer"]}
    (folder / "answers.jsonl").write_text(json.dumps(reply))
    (folder / "mera.json").write_text(json.dumps({"access": "public", "data": [QUESTION]}, ensure_ascii=False))
    with zipfile.ZipFile(folder / "mera.zip", "w") as archive:
        answers = {"data": {"test": [{"outputs": "Б", "meta": {"id": 1}}]}}
        archive.writestr("ruEnvAQA.json", json.dumps(answers, ensure_ascii=False))
    system = folder / "package/task3a" / A
    (system / A).mkdir(parents=True)
    (system / f"{A}.meta.yaml").write_text(META)
    (system / A / "mix001.csv").write_text(row)


def ran(line: str) -> Outcome:
    """What a command prints and ends with, in this process."""
    from seldio.cli import main

    out, error, code = io.StringIO(), io.StringIO(), 0
    sys.argv = ["seldio", *line.split()]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Outcome(code, out.getvalue().splitlines(), error.getvalue().splitlines())


def outcomes() -> dict[str, Outcome]:
    """What all commands end with, and what Python's functions return."""
    import seldio

    found = {"read": Outcome(0, [str(seldio.read("mix001.csv").to_pylist())], [])}
    found["open"] = Outcome(0, [str(seldio.open("starss23").clips.to_pylist())], [])
    first = seldio.windows("heard", seconds=0.1, target="multi-accdoa")[0]
    found["windows"] = Outcome(0, [str(first["audio"].sum()), str(first["target"].sum())], [])
    try:
        found["read ELAN"] = Outcome(0, [str(seldio.read("elan").num_rows)], [])
    except seldio.UsageError as error:
        found["read ELAN"] = Outcome(2, [], [error.text])
    return found | {name: ran(line) for name, line in COMMANDS.items()}


def cluster() -> None:
    """Ask for work on a Ray cluster."""
    import seldio

    with seldio.running(ray=True):
        seldio.validate("starss23")


def called(gone: set[str]) -> dict[str, Outcome]:
    """What Python's functions raise where the wings that they need are hidden."""
    import seldio

    found = {}
    for name in gone & CALLS.keys():
        try:
            eval(CALLS[name], {"seldio": seldio, "cluster": cluster})
            found[CALLS[name]] = Outcome(0, [], [])
        except seldio.UsageError as error:
            found[CALLS[name]] = Outcome(2, [], [error.text])
    return found


def without(wing: str, folder: Path) -> dict[str, Outcome]:
    """The outcomes in a process of its own, in which a wing is hidden."""
    files(folder)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    environment.pop("COLUMNS", None)  # lists are not wrapped then, which would depend on what is in them
    call = [sys.executable, str(Path(__file__)), wing]
    run = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return {name: Outcome(*outcome) for name, outcome in json.loads(run.stdout).items()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """The outcomes with nothing hidden."""
    return without("", tmp_path_factory.mktemp("whole"))


def test_what_is_asked_of_wings_is_asked_of_those_that_there_are() -> None:
    assert {*ASKS} | {*CALLS} == {*NAMES}


def test_the_commands_work_where_nothing_is_hidden(whole: dict[str, Outcome]) -> None:
    wrong = {name: outcome for name, outcome in whole.items() if outcome.code not in (0, 1)}

    assert {*wrong} <= {"info of a video", "pull"}, wrong  # there is no video, and no Hub
    assert not [outcome for outcome in whole.values() if "wing" in "".join(outcome.error)]


@pytest.mark.parametrize(
    "wing", [pytest.param(wing, marks=() if wing == "mera" else pytest.mark.slow) for wing in NAMES]
)
def test_a_wing_comes_off(wing: str, whole: dict[str, Outcome], tmp_path: Path) -> None:
    names = hidden_with(wing)
    titles = {
        f"needs the wing {one.name} ({one.title}), which is not installed" for one in wings.OWN if one.name in names
    }
    asked = {name for gone in names for name in (*ASKS.get(gone, ()), CALLS.get(gone, ""))}
    unchecked = {"info of a video", "validate video"} if "video" in names else {}

    for name, outcome in without(wing, tmp_path).items():
        if name in asked:
            assert outcome.code == 2, (name, outcome)
            assert any(outcome.error[-1].endswith(title) for title in titles), (name, outcome)
        elif name in unchecked:
            assert (0, True) == (outcome.code, "VID117" in "".join(outcome.output)), (name, outcome)
        elif name in LISTS:
            assert outcome.code == 0
            shown, usual = ({" ".join(line.split()) for line in some} for some in (outcome.output, whole[name].output))
            assert shown <= usual, name  # but for the blanks: columns are as wide as their longest name
        else:
            assert outcome == whole[name], name


@pytest.mark.slow
@pytest.mark.timeout(1800)  # a part of the suite runs inside: minutes on a machine that does other work as well
@pytest.mark.parametrize("wing", NAMES)
def test_the_tests_of_all_else_pass_without_a_wing(wing: str) -> None:
    folder = Path(__file__).parent
    call = [sys.executable, "-m", "pytest", "-q", "-p", "hidden", "-p", "no:cacheprovider", "-m", "not slow"]
    environment = os.environ | {"PYTHONPATH": str(folder), "SELDIO_HIDDEN": wing}
    run = subprocess.run(
        [*call, *wing_tests.files(hidden_with(wing))],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed is not None
    assert int(passed[1]) > 400


if __name__ == "__main__":
    names = hide(sys.argv[1]) if sys.argv[1] else set()
    json.dump(outcomes() | called(names), sys.stdout, ensure_ascii=True)
