"""Label files whose names end in .CSV, as Windows programs write them, are read by every command."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from seldio.cli import app

#: Commands that read labels, in a folder with the labels in ``ref`` and two systems in ``one`` and ``two``.
COMMANDS = {
    "validate": "validate ref",
    "validate one file": "validate ref/fold4_room23_mix001.csv",
    "validate a submission": "validate one -r ref",
    "convert": "convert ref --to dcase2023-submission --allow-loss source,distance -o out",
    "convert to parquet": "convert ref --to parquet -o out.parquet",
    "score": "score one -r ref",
    "compare": "compare -r ref one two --resamples 100",
    "diff": "diff ref one",
    "info": "info ref",
    "view": "view ref --clip fold4_room23_mix002 -o page.html",
    "plot": "plot ref --clip fold4_room23_mix002 -o clip.svg",
    "push": "push ref --repo user/name --format starss23 --dry-run",
}

#: What is said of such names besides, as the programs of the challenges look for .csv.
BESIDES = {
    "validate": "SUB103",
    "validate one file": "SUB103",
    "validate a submission": "SUB110",
    "info": "SUB103",
    "view": "1 finding",
    "plot": "1 finding",
    "push": "SUB103",
}


def laid(folder: Path, suffix: str) -> Path:
    for name, turn in (("ref", 0), ("one", 2), ("two", 5)):
        (folder / name).mkdir(parents=True)
        for clip in (1, 2):
            rows = "".join(
                f"{frame},{frame // 30 + clip},{int(frame // 30 + clip != 3)},{frame - 50 + turn},{5 * clip - 20},{150 + frame}\n"
                for frame in range(90)
            )
            (folder / name / f"fold4_room23_mix00{clip}{suffix}").write_text(rows, "utf-8")
    return folder


@pytest.mark.parametrize("what", COMMANDS)
def test_a_suffix_in_capitals_is_read(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    said, made = [], []
    for suffix in (".csv", ".CSV"):
        folder = laid(tmp_path / suffix[1:], suffix)
        monkeypatch.chdir(folder)
        done = CliRunner().invoke(app, COMMANDS[what].replace("mix001.csv", f"mix001{suffix}").split())
        refused = what == "diff" or (what == "validate a submission" and suffix == ".CSV")
        assert done.exit_code == refused, done.output
        said.append(done.output.replace(".CSV", ".csv"))
        made.append(sorted(path.name for path in folder.rglob("*") if path.parent.name not in ("ref", "one", "two")))
    assert made[0] == made[1]
    if what in BESIDES:
        assert [BESIDES[what] in text for text in said] == [False, True]
    else:
        assert said[0] == said[1]
