"""What validate calls ready is accepted by every other verb, and a folder that is not what its names say is no such."""

from __future__ import annotations

import math
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import laid
from effort import some

import seldio
from seldio import formats
from seldio.errors import DataError, LossError, UnknownFormat, UsageError
from seldio.findings import Severity
from seldio.schema.events import COLUMNS
from seldio.synth.tree import write_tree

CASES = Path(__file__).parent / "cases"
LABELS = [one.name for one in formats.index() if one.holds == "events" and one.name != "dcase2026"]
ITEMS = [one.name for one in formats.index() if one.holds != "events"]
#: Requests that no finding forbids: two kinds of data for one table, class numbers of two lists, another benchmark.
ASKED = "holds 2 files|files of questions|single format|name the format|holds no labels|scoring requires|scores need"
#: What a single row, or rows of one class, leave open.
OPEN = {"SYN903", "SUB116", "SUB105", "LAY118"}


def is_ready(path: Path, **options: str) -> bool:
    return not seldio.validate(path, **options).reaches(Severity.ERROR)


def kept(path: Path, folder: Path, chance: random.Random, targets: int = 2) -> bool:
    """Use what validate calls ready in every way; return whether it did so."""
    try:
        if not is_ready(path):
            return False
        table = seldio.read(path)
    except UnknownFormat:
        raise
    except UsageError:  # no data at all, or several kinds of it
        return False
    labels = "clip" in table.column_names
    for name in chance.sample(LABELS if labels else ITEMS, targets):
        converted(path, folder / name, name, labels=labels)
    if labels and table.num_rows:
        asked(lambda: seldio.score(path, path))
    if path.is_dir():
        asked(lambda: seldio.push(path, "anna/data", dry_run=True))
    return True


def asked(work: Callable[[], object]) -> None:
    try:
        work()
    except UsageError as error:
        if not re.search(ASKED, str(error)):
            raise


def converted(path: Path, out: Path, name: str, *, labels: bool) -> None:
    """Convert to a format where that can hold the data, with all classes, and check what is written."""
    losses = [field for field in COLUMNS if not field.startswith("class")] if labels else ["all"]
    try:
        notes = seldio.convert(path, f"{out}/", name, allow_loss=losses).notes
    except (LossError, UnknownFormat, UsageError):
        return
    found = errors(out, format=name) if labels else errors(out)
    left = {*OPEN, *(["LAB102"] if any("written by name" in note for note in notes) else [])}
    assert not {code: words for code, words in found.items() if code not in left}, name


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


#: Without descriptions and meta files.
EXAMPLES = [path for path in sorted(CASES.rglob("*")) if path.suffix not in (".toml", ".yaml")]


@pytest.mark.parametrize("path", some(EXAMPLES, 32), ids=lambda path: str(path.relative_to(CASES)))
def test_what_is_ready_is_accepted(path: Path, tmp_path: Path) -> None:
    kept(path, tmp_path, random.Random(path.name))


@pytest.mark.parametrize(
    ("case", "target", "reason"),
    [
        ("rules/SYN215", "sony-av-output", "LAB301: .*; use force=True"),
        ("labels/classes-in-order", "dcase2023-output", "convert one folder at a time"),
        ("rules/QAI125/good.csv", "adqa-submission", "only prompts"),
    ],
)
def test_what_would_be_an_error_once_written_is_refused(case: str, target: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=reason):
        seldio.convert(CASES / case, f"{tmp_path / 'out'}/", target, allow_loss=["all"])
    assert not any(tmp_path.iterdir())


#: Small files of every format, of which mutants are made.
FILES = [path for path in EXAMPLES if "formats" in path.parts[-3] and path.name != "rows.jsonl"]
CELLS = ("-1", "0", "", "nan", "1e3", "0.5", "-0.87", "13", "181", "720", "100000", "None", '"', "1,5", "\u2212", "[]")


def mutant(text: str, chance: random.Random) -> str:
    """Change a line, a cell, a column, a number or a character of a file, once or twice."""
    for _ in range(chance.choice((1, 1, 2))):
        lines = text.splitlines(keepends=True) or [""]
        at, mark = chance.randrange(len(lines)), chance.choice(",,,:\t")
        cells = lines[at].split(mark)
        column = chance.randrange(len(cells))
        number = chance.choice(CELLS)
        match chance.randrange(9):
            case 0:
                cells[column] = number
            case 1:
                cells.insert(column, number)
            case 2:
                del cells[column]
            case 3:
                lines.insert(chance.randrange(len(lines)), lines[at])
            case 4:
                del lines[at + 1 :]
            case 5:
                chance.shuffle(lines)
            case 6:
                return text[: chance.randrange(len(text) + 1)]
            case 7:
                rows = [line.split(mark) for line in lines]
                return "".join(mark.join([*row[:column], number, *row[column + 1 :]]) for row in rows)
            case _:
                place = chance.randrange(len(text) + 1)
                return text[:place] + chance.choice(CELLS) + text[place + chance.randrange(3) :]
        text = "".join([*lines[:at], mark.join(cells), *lines[at + 1 :]])
    return text


@pytest.mark.parametrize("seed", some(range(100), 13))
def test_a_mutant_that_is_ready_is_accepted(seed: int, tmp_path: Path) -> None:
    """Alone and beside files of its kind, under the name of a clip."""
    chance = random.Random(seed)
    for number in range(20):
        source, folder = chance.choice(FILES), tmp_path / f"{number}"
        folder.mkdir()
        name = chance.choice([source.stem, "fold4_room23_mix004", "mix004"])
        path = folder / f"{name}{source.suffix}"
        path.write_text(mutant(source.read_text("utf-8"), chance), "utf-8")
        if chance.random() < 0.5:
            for clip in range(1, 4):
                shutil.copy(source, folder / f"{name[:-1]}{clip}{source.suffix}")
            path = folder
        kept(path, tmp_path / f"{number}-out", chance)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labels of STARSS23."""
    folder = tmp_path_factory.mktemp("tree")
    clips = [(f"fold4_room23_mix{mix:03}", "dev-test-sony") for mix in range(1, 9)]
    clips += [(f"fold3_room4_mix{mix:03}", "dev-train-tau") for mix in (1, 4, 5, 6, 7, 8)]
    write_tree(folder / "STARSS23", seed=1, clips=clips, media=())
    return folder


def rewritten(source: Path, out: Path, row: Callable[[list[str]], list[object]]) -> Path:
    """The label files of a folder with other rows."""
    for path in sorted(source.rglob("*.csv")):
        lines = [",".join(map(str, row(line.split(",")))) for line in path.read_text().split()]
        laid(out, {str(path.relative_to(source)): "\n".join(lines) + "\n"})
    return out


def errors(path: Path, **options: str) -> dict[str, str]:
    """The codes of errors, with message and hint."""
    report = seldio.validate(path, **options)
    return {one.code: f"{one.message}. {one.hint or ''}" for one in report if one.severity is Severity.ERROR}


FIVE, FOUR = (lambda row: row[:5]), (lambda row: [*row[:2], *row[3:5]])


@pytest.mark.parametrize("row", [FIVE, FOUR], ids=["five", "four"])
@pytest.mark.parametrize("metadata", ["STARSS23/metadata_dev", "starss23"])
def test_labels_of_another_format_are_no_labels_of_the_data_set(
    tree: Path, metadata: str, row: Callable[[list[str]], list[object]], tmp_path: Path
) -> None:
    found = errors(rewritten(tree / "STARSS23/metadata_dev", tmp_path / metadata, row))
    if row is FOUR and metadata == "starss23":
        assert not found  # outputs are called so as well
        return
    given, fields = ("starss22", ["distance"]) if row is FIVE else ("dcase2023-submission", ["source", "distance"])
    fill = " ".join(f"--fill {field}=VALUE" for field in fields)
    assert list(found) == ["SUB108"]
    assert f"format {given} (" in found["SUB108"]
    assert "labels of STARSS23 in format starss23 (frame, class, source, azimuth" in found["SUB108"]
    assert f"--to starss23 {fill} -o NEW-FOLDER" in found["SUB108"]


@pytest.mark.slow
@pytest.mark.parametrize("reference", [None, "starss23:eval"])
@pytest.mark.parametrize("layout", ["dcase2024-output", "starss22"])
def test_a_submission_has_the_official_layout(tree: Path, layout: str, reference: str | None, tmp_path: Path) -> None:
    done = seldio.convert(tree / "STARSS23/metadata_dev", f"{tmp_path / 'all'}/", layout, allow_loss=["all"])
    (tmp_path / "submission").mkdir()
    written = sorted(done.written)
    for number in range(1, 80):
        lines = Path(written[number % len(written)]).read_text().splitlines(keepends=True)
        (tmp_path / f"submission/mix{number:03}.csv").write_text("".join(lines[number:]))
    found = errors(tmp_path / "submission", **({"reference": reference} if reference else {}))
    assert list(found) == ["SUB109"]
    assert f"format {layout} (" in found["SUB109"]
    words = found["SUB109"].split()
    target, losses = words[words.index("--to") + 1], words[words.index("--allow-loss") + 1].split(",")
    assert target == ("dcase2024-submission" if layout == "dcase2024-output" else "dcase2023-submission")
    seldio.convert(tmp_path / "submission", f"{tmp_path / 'new/submission'}/", target, allow_loss=losses)
    assert not errors(tmp_path / "new/submission", reference="starss23:eval")


def radians(row: list[str]) -> list[object]:
    return [*row[:3], *(round(math.radians(float(cell)), 3) for cell in row[3:5]), row[5]]


@pytest.mark.parametrize(
    ("row", "code", "severity"),
    [
        (lambda row: [*row[:5], 0 if int(row[0]) % 7 == 0 else row[5]], "LAB105", Severity.WARNING),
        (radians, "LAB301", Severity.ERROR),
        (lambda row: [*row[:3], *(round(float(cell) / 400, 3) for cell in row[3:5]), row[5]], "LAB301", Severity.ERROR),
    ],
    ids=["distance 0", "radians", "perhaps radians"],
)
def test_one_file_has_the_same_finding_alone_and_in_its_folder(
    tree: Path, row: Callable[[list[str]], list[object]], code: str, severity: Severity, tmp_path: Path
) -> None:
    labels = tree / "STARSS23/metadata_dev/dev-test-sony"
    folder = rewritten(labels, tmp_path / "labels", lambda row: row)
    file = Path(shutil.copy(rewritten(labels, tmp_path / "other", row) / "fold4_room23_mix004.csv", folder))
    for place in (folder, file):
        found = {(one.code, one.severity) for one in seldio.validate(place) if one.path == str(file)}
        assert (code, severity) in found
        if severity is Severity.ERROR:
            with pytest.raises(DataError):
                seldio.read(place)
