"""What stands outside the package: each kind of thing is added by one record, with an example, and used from the shell.

``tests/outside/lab2027`` is a folder such as people would have; ``SELDIO_PLUGINS`` names it (docs/extending.md).
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from processes import Forked, Seldio, forking, other_process
from test_package import META

import seldio as package

LAB = Path(__file__).parent / "outside" / "lab2027"
EXAMPLES = LAB / "examples"


PROCESSES = ExitStack()


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    with PROCESSES:
        yield


@cache
def started() -> Seldio:
    """A process that has the things of the lab, for all commands: they are loaded once, when seldio is imported."""
    return PROCESSES.enter_context(other_process({"SELDIO_PLUGINS": str(LAB)}))


def seldio(*arguments: object) -> tuple[int, str, str]:
    """The exit code, output and messages of the command line with the things of the lab."""
    shown, notes, code = started()(list(map(str, arguments)), True)
    return code, shown, notes


@cache
def forked() -> Forked:
    return PROCESSES.enter_context(forking())


def fresh(*arguments: object, plugins: object = LAB, folder: Path | None = None) -> tuple[int, str, str]:
    """The same in a process of its own, with the things of *plugins*."""
    words = list(map(str, arguments))
    shown, notes, code = forked()(words, {"SELDIO_PLUGINS": str(plugins)}, str(folder or Path.cwd()))
    return code, shown, notes


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A copy of the examples that can be changed."""
    return Path(shutil.copytree(EXAMPLES, tmp_path / "LAB2027"))


# --- a label dialect and its vocabulary ------------------------------------------------------------


@pytest.mark.slow
def test_a_dialect_is_listed_with_its_page() -> None:
    assert re.search("lab2027 +labels of our lab: frame, class, source", seldio("formats")[1])
    page = seldio("formats", "lab2027")[1]
    assert "columns     t,sound,track,azi,ele,range" in page
    assert "classes     3 of lab2027: Sounds of our lab" in page


def test_a_dialect_is_found_from_its_content() -> None:
    code, shown, _ = seldio("info", EXAMPLES)
    assert code == 0
    assert "lab2027  labels of our lab" in shown
    assert "evidence    its header line" in shown
    assert "6  Knocking" in shown


@pytest.mark.slow
def test_labels_are_validated(data: Path) -> None:
    assert seldio("validate", EXAMPLES) == (0, "All clean: 3 files.\n", "")
    file = data / "metadata_dev/dev-test/fold2_room91_mix001.csv"
    file.write_text(file.read_text().replace("2,1,0,0,5,2500", "2,3,0,0,95,2500"))
    code, shown, _ = seldio("validate", file, "--format", "lab2027")
    assert code == 1
    assert ":2:3  LAB102 error class 3 is outside [0, 2]\n" in shown
    assert ":2:9  LAB104 error elevation 95 is outside [-90, 90]\n" in shown


@pytest.mark.slow
def test_labels_are_converted_there_and_back(tmp_path: Path) -> None:
    there, back = tmp_path / "there", tmp_path / "back"
    code, _, notes = seldio("convert", EXAMPLES, "--to", "starss23", "-o", there)
    assert (code, "distances in millimetres are converted to centimetres" in notes) == (0, True)
    first = (there / "metadata_dev/dev-train/fold1_room90_mix001.csv").read_text()
    assert first.splitlines()[:4] == ["0,12,0,30,0,150", "1,12,0,30,0,150", "2,12,0,31,0,151", "5,8,1,-90,10,200"]

    assert seldio("convert", there, "--to", "lab2027", "-o", back)[0] == 0
    files = sorted(file.relative_to(EXAMPLES) for file in EXAMPLES.rglob("*.csv"))
    assert {file: (back / file).read_bytes() for file in files} == {
        file: (EXAMPLES / file).read_bytes() for file in files
    }


# --- a layout of questions -------------------------------------------------------------------------


@pytest.mark.slow
def test_questions_are_found_checked_and_converted_there_and_back(tmp_path: Path) -> None:
    questions = LAB / "questions.jsonl"
    assert "lab2027-qa  questions of our lab" in seldio("info", questions)[1]
    assert "Ready, with 1 info in 1 file." in seldio("validate", questions)[1]  # the recordings are not there

    there, back = tmp_path / "items.jsonl", tmp_path / "back.jsonl"
    assert seldio("convert", questions, "--to", "items", "-o", there)[0] == 0
    assert '"question":' in there.read_text().replace(" ", "")
    assert seldio("convert", there, "--to", "lab2027-qa", "-o", back)[0] == 0
    assert back.read_bytes() == questions.read_bytes()


def test_a_question_that_lacks_a_key_is_found(tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text((LAB / "questions.jsonl").read_text().replace('"reply"', '"answer"', 1))
    code, shown, _ = seldio("validate", questions)
    assert code == 1
    assert "questions.jsonl:1:1  SYN211 error" in shown


# --- a rule ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_rule_is_explained_like_the_rest() -> None:
    code, page, _ = seldio("rule", "LAB901")
    assert (code, page.splitlines()[0]) == (0, "LAB901  behind-our-walls  (warning; repaired by hand)")
    assert "plan of the rooms, 2027" in page
    assert "LAB901" in seldio("rule", "--all")[1]


@pytest.mark.slow
def test_a_rule_is_checked_and_can_be_left_out(data: Path) -> None:
    file = data / "metadata_dev/dev-test/fold2_room91_mix001.csv"
    file.write_text(file.read_text().replace("2,1,0,0,5,2500", "2,1,0,0,5,12000"))
    shown = seldio("validate", data)[1]
    assert ":2:11  LAB901 warning distance 12000 is behind our walls\n" in shown
    assert "LAB901" not in seldio("validate", data, "--ignore", "LAB901")[1]


# --- a score profile and an output -----------------------------------------------------------------


@pytest.mark.slow
def test_a_profile_scores_and_an_output_shows_it(data: Path) -> None:
    assert "lab2027              our lab: frame by frame" in seldio("score", "--profiles")[1]
    file = data / "metadata_dev/dev-test/fold2_room91_mix001.csv"
    file.write_text(file.read_text().replace("2,1,0,0,5,2500", "2,1,0,15,5,2500"))
    common = "score", data, "-r", EXAMPLES, "--profile", "lab2027"
    code, shown, _ = seldio(*common, "--average", "micro", "--output", "latex")
    assert (code, shown.splitlines()[:3]) == (
        0, ["% overall", r"\begin{tabular}{lrrrrr}", r"system & ER & F (\%) & AngE ($^\circ$) & LR (\%) & SELD \\"]
    )  # fmt: skip
    assert r" & 0.077 & 92.3 & 1.1 & 100.0 & 0.040 \\" in shown
    assert "lab2027: our lab" in " ".join(seldio(*common)[1].split())  # which wraps behind a long path


def test_an_output_that_does_not_exist_is_a_usage_error() -> None:
    expected = "seldio: unknown output 'latex' for findings; choose from text, concise, json"
    code, shown, notes = seldio("validate", EXAMPLES, "--output", "latex")
    assert (code, shown, notes.startswith(expected)) == (2, "", True)


# --- a task ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_task_is_asked_checked_scored_and_judged(tmp_path: Path) -> None:
    asked, answers = tmp_path / "qa.jsonl", tmp_path / "answers.jsonl"
    code, _, notes = seldio("convert", EXAMPLES, "--to", "so-bench", "--tasks", "first_source", "-o", asked)
    assert (code, "first_source" in notes) == (0, True)
    questions = [json.loads(line) for line in asked.read_text().splitlines()]
    assert {question["task_name"] for question in questions} == {"first_source"}
    assert "QAI113" not in seldio("validate", asked)[1]

    said = ("I hear {} first.", "It begins with a gong.")
    rows = [
        {"qa_id": question["qa_id"], "prediction": said[number % 2].format(question["canonical_answer"])}
        for number, question in enumerate(questions)
    ]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, shown, _ = seldio("score", answers, "-r", asked, "--output", "json")
    found = {table["name"]: table["rows"] for table in json.loads(shown)["reports"][0]["tables"]}
    assert (code, found["tasks"][0]["task"]) == (0, "first_source")
    assert found["tasks"][0]["accuracy"] == sum(number % 2 == 0 for number in range(len(rows))) / len(rows)

    plan = ("--judge", "model", "--judge-url", "http://localhost:1/v1", "--offline", "none", "--dry-run")
    code, shown, _ = seldio("score", answers, "-r", asked, *plan)
    assert (code, shown.startswith(f"{len(rows)} request")) == (0, True)


@pytest.mark.slow
def test_answers_are_scored_by_a_profile_of_the_lab(tmp_path: Path) -> None:
    asked, answers = tmp_path / "qa.jsonl", tmp_path / "answers.jsonl"
    assert seldio("convert", EXAMPLES, "--to", "so-bench", "--tasks", "estimate_azimuth", "-o", asked)[0] == 0
    questions = [json.loads(line) for line in asked.read_text().splitlines()]
    rows = [
        {"qa_id": question["qa_id"], "prediction": f"{question['answer_meta']['azimuth_deg'] + 7:g} degrees"}
        for question in questions
    ]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for profile, right in (("so-bench", 1.0), ("so-bench-lab2027", 0.0)):
        code, shown, _ = seldio("score", answers, "-r", asked, "-p", profile, "--json")
        assert (code, json.loads(shown)["reports"][0]["tables"][0]["rows"][0]["accuracy"]) == (0, right)
    listed = seldio("score", "--profiles")[1]
    assert "so-bench-lab2027     SO-Bench with the limits of our lab" in listed
    assert "imaging-lab2027      energy maps with one threshold of 0.1" in listed


def test_its_weight_counts_in_the_proportions_of_questions(tmp_path: Path) -> None:
    code, _, notes = seldio("convert", EXAMPLES, "--to", "so-bench", "--balance", "-o", tmp_path / "qa.jsonl")
    assert (code, "first_source" in notes) == (0, True)


# --- a data set ------------------------------------------------------------------------------------


def test_a_data_set_is_found_where_people_unpack_it(data: Path) -> None:
    code, _, notes = fresh("convert", "lab2027", "--to", "parquet", "-o", "labels.parquet", folder=data.parent)
    assert (code, notes) == (0, "lab2027 to parquet: 3 clips, 13 rows in 1 file\n")


def test_a_clip_in_the_wrong_split_is_found(data: Path) -> None:
    shutil.move(data / "metadata_dev/dev-test/fold2_room91_mix001.csv", data / "metadata_dev/dev-train")
    code, shown, _ = seldio("validate", data)
    assert code == 1
    assert "LAY106 error 1 clip in dev-train, but fold 2 belongs to dev-test: fold2_room91_mix001" in shown


@pytest.mark.slow
def test_a_name_that_no_clip_has_is_found(data: Path) -> None:
    folder = data / "metadata_dev/dev-train"
    (folder / "fold1_room90_mix001.csv").rename(folder / "kitchen.csv")
    code, shown, _ = seldio("validate", data)
    assert code == 0  # a warning
    assert "not named like the clips of the recordings of our lab" in shown


@pytest.mark.slow
def test_its_clips_are_a_reference(data: Path) -> None:
    code, shown, _ = seldio("validate", data / "metadata_dev/dev-train", "--reference", "lab2027:dev-train")
    assert (code, shown) == (0, "All clean: 2 files.\n")
    (data / "metadata_dev/dev-train/fold1_room90_mix002.csv").unlink()
    code, shown, _ = seldio("validate", data / "metadata_dev/dev-train", "--reference", "lab2027:dev-train")
    assert (code, "fold1_room90_mix002" in shown) == (1, True)


# --- what cannot be added --------------------------------------------------------------------------


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    expected = f"seldio: SELDIO_PLUGINS: no folder or package {tmp_path / 'none'}\n"
    assert fresh("info", EXAMPLES, plugins=tmp_path / "none") == (2, "", expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("RULES = (", "SyntaxError: '(' was never closed (rules.py, line 1)"),
        ("", "AttributeError: module 'broken.rules' has no attribute 'RULES'"),
        ("RULES = (1,)", "RULES must hold nothing but Rule rows"),
    ],
)
def test_a_broken_module_is_a_usage_error(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/rules.py").write_text(text)
    expected = f"seldio: SELDIO_PLUGINS: broken.rules: {expected}\n"
    assert fresh("validate", EXAMPLES, plugins=tmp_path / "broken") == (2, "", expected)


FORMAT = '[[formats]]\nname = "mine"\ntitle = "ours"\nrole = "label"\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name = ", "Invalid value (at end of document)"),
        ("title = 'ours'", "name: the key is missing"),
        ("name = 'mine'\nyear = 2027", "year: there is no such key"),
        (
            "name = 'mine'\n[tree]\nclip = '('",
            "tree.clip: is not a regular expression: missing ), unterminated subpattern",
        ),
        (f"name = 'mine'\n{FORMAT}columns = 'frame'", "formats[1].columns: 'frame' has no kind: write field:kind"),
        (
            f"name = 'mine'\n{FORMAT}columns = 'frame:float'",
            "formats[1].columns: unknown kind 'float'; choose from int, whole",
        ),
        (
            f"name = 'mine'\n{FORMAT}columns = 'azimut:int'",
            "unknown field 'azimut'; did you mean",
        ),
        (
            "name = 'm'\n[package]\nyear = 2027\nformat = 'x'\nprofile = 'x'\ntracks = ['a']\nmeta = '{a}'\noutput = ''\nreport = ''",
            "package.meta: must be a path in which {label}, {clip} or {name} may stand",
        ),
    ],
)
def test_a_broken_dataset_file_is_a_usage_error(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/mine.toml").write_text(text)
    code, shown, notes = fresh("info", EXAMPLES, plugins=tmp_path / "broken")
    assert (code, shown) == (2, "")
    assert notes.startswith("seldio: SELDIO_PLUGINS: broken/mine.toml: ")
    assert expected in notes


OWN = """name = "own2027"

[[formats]]
name = "own2027"
title = "our labels"
role = "label"
metre = 100
vocabulary = "own2027"
columns = "frame:int class_id:int source:int azimuth:whole elevation:whole distance:whole"
"""


def test_own_classes_are_not_published_as_those_of_starss(tmp_path: Path) -> None:
    """Labels with the columns and the folders of STARSS, and classes of our own."""
    (tmp_path / "own2027/vocabularies").mkdir(parents=True)
    (tmp_path / "own2027/own2027.toml").write_text(OWN, "utf-8")
    classes = '{"title": "ours", "source": "x", "classes": [["dog bark"], ["meow"]]}'
    (tmp_path / "own2027/vocabularies/own2027.json").write_text(classes, "utf-8")
    folder = tmp_path / "set/metadata_dev/dev-train-sony"
    folder.mkdir(parents=True)
    rows = "".join(f"{frame},0,0,{frame - 30},10,150\n" for frame in range(60))
    (folder / "fold3_room21_mix001.csv").write_text(rows, "utf-8")
    command = ("push", "set", "--repo", "anna/own", "--dry-run")
    refused = fresh(*command, plugins="own2027", folder=tmp_path)
    named = fresh(*command, "--format", "own2027", plugins="own2027", folder=tmp_path)

    assert refused[0] == 2
    assert "may be those of starss (--format starss23) or own2027 (--format own2027)" in refused[2]
    assert named[0] == 0, named[2]
    assert "dog bark" in named[1]
    assert "Female speech" not in named[1]


# --- a challenge year ------------------------------------------------------------------------------


def test_a_year_that_is_taken_away_comes_back_from_outside(tmp_path: Path) -> None:
    """The formats and the profiles of 2024 are in its file alone."""
    copy = Path(shutil.copytree(Path(package.__file__).parent, tmp_path / "code" / "seldio"))
    (tmp_path / "mine").mkdir()
    (copy / "datasets" / "dcase2024.toml").rename(tmp_path / "mine" / "dcase2024.toml")
    outputs = Path(__file__).parent / "cases/formats/dcase2024-submission/mix001.csv"
    labels = tmp_path / "mix001.csv"
    labels.write_text("".join(f"{frame},5,0,30,10,180\n" for frame in range(12)))
    bundle = packaged(tmp_path / "task3a", outputs.read_text())
    commands = (
        ("formats", "dcase2024-submission"), ("validate", outputs, "--format", "dcase2024-submission"),
        ("info", bundle, "--format", "dcase2024-submission"), ("info", bundle),
        ("validate", bundle, "--format", "dcase2024-submission"),
        ("convert", outputs, "--to", "parquet", "-o", tmp_path / "out.parquet"),
        ("convert", labels, "--to", "dcase2024-submission", "--allow-loss", "source"),
        ("score", outputs, "-r", labels, "-p", "dcase2024", "--json"),
    )  # fmt: skip
    where = {"PYTHONPATH": str(copy.parent)}
    with other_process(where) as hidden, other_process(where | {"SELDIO_PLUGINS": str(tmp_path / "mine")}) as outside:
        for words in ([str(word) for word in command] for command in commands):
            shown, notes, code = outside(words, True)
            assert (code, shown, notes) == seldio(*words), words
            assert (shown, notes, code) != hidden(words, True), words


def packaged(folder: Path, text: str, clips: int = 3) -> Path:
    """A submission package of one system, whose outputs are *text*."""
    name = "Own_LAB_task3a_1"
    (folder / name / name).mkdir(parents=True)
    for number in range(1, clips + 1):
        (folder / name / name / f"mix{number:03}.csv").write_text(text)
    (folder / name / f"{name}.meta.yaml").write_text(META.replace("Politis_TAU_task3a_1", name), "utf-8")
    (folder / "Own_LAB_task3a.technical_report.pdf").write_bytes(b"%PDF")
    return folder


def test_a_year_of_one_file_is_read_written_checked_scored_and_packaged(tmp_path: Path) -> None:
    """The file is that of docs/howto/next-year.md."""
    page = (Path(package.__file__).parents[2] / "docs/howto/next-year.md").read_text("utf-8")
    year = re.search(r"```\{code-block\} toml\n:caption: mine/dcase2027.toml\n\n(.*?)```", page, re.DOTALL)
    assert year is not None
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/dcase2027.toml").write_text(year[1], "utf-8")
    tree = tmp_path / "DCASE2027/metadata_dev"
    header = "frame,class,source,azimuth,elevation,distance_mm\n"
    clips = {"dev-train/fold7_room30_mix001": "8,0,-45,10,2500", "dev-train/fold7_room30_mix002": "1,0,5,0,900",
             "dev-test/fold8_room31_mix001": "12,0,90,0,1200"}  # fmt: skip
    for name, row in clips.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / f"{name}.csv").write_text(header + "".join(f"{frame},{row}\n" for frame in range(4)))
    rows = "frame,class,azimuth,elevation,distance_mm\n0,12,84,0,1300\n1,12,70,0,1300\n"
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs/fold8_room31_mix001.csv").write_text(rows)
    packaged(tmp_path / "task3a", rows)
    with other_process({"SELDIO_PLUGINS": str(tmp_path / "mine")}) as run:

        def out(*words: object) -> str:
            shown, notes, code = run([str(word) for word in words], True)
            assert (code, notes) == (0, "") or words[0] == "convert", (words, shown, notes)
            return shown

        assert "dcase2027  2027 labels" in out("info", tree)
        assert out("validate", tree.parent) == "All clean: 3 files.\n"
        out("convert", tree, "--to", "starss23", "-o", tmp_path / "there")
        out("convert", tmp_path / "there", "--to", "dcase2027", "-o", tmp_path / "back")
        for name in clips:
            assert (tmp_path / f"back/{name}.csv").read_bytes() == (tree / f"{name}.csv").read_bytes()
        assert "profile dcase2027: DCASE 2027" in out("score", tmp_path / "outputs", "-r", tree, "--split", "dev-test")
        about = out("info", tmp_path / "task3a")
        assert "dcase2027-submission  2027 submissions" in about
        clean = out("validate", tmp_path / "task3a", "-r", "mix001..mix003")
        assert clean == "All clean: 4 files.\n"
        meta = tmp_path / "task3a/Own_LAB_task3a_1/Own_LAB_task3a_1.meta.yaml"
        (tmp_path / "mine.yaml").write_text(meta.read_text("utf-8").replace("task3a", "task3"), "utf-8")
        (tmp_path / "evaluated").mkdir()
        (tmp_path / "evaluated/mix001.csv").write_text(rows)
        out("package", tmp_path / "evaluated", "--year", 2027, "--label", "Own_LAB_task3_1", "-r", "mix001..mix002",
            "--meta", tmp_path / "mine.yaml", "-o", tmp_path / "packed.zip")  # fmt: skip
        with zipfile.ZipFile(tmp_path / "packed.zip") as packed:
            names = [f"task3/Own_LAB_task3_1/Own_LAB_task3_1/mix00{number}.csv" for number in (1, 2)]
            assert [packed.read(name).decode() for name in names] == [rows, rows.partition("\n")[0] + "\n"]
        broken = tmp_path / "task3a/Own_LAB_task3a_1/Own_LAB_task3a_1/mix002.csv"
        broken.write_text(rows.replace("0,12,84,0,1300", "0,13,84,0,1300"))
        shown, _, code = run(["validate", str(tmp_path / "task3a"), "-r", "mix001..mix003"], True)
        assert (code, f"{broken}:2:3  LAB102 error class 13" in shown) == (1, True)


def test_a_folder_that_is_called_like_an_installed_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "numpy").mkdir()
    with other_process({"SELDIO_PLUGINS": str(tmp_path / "numpy")}) as run:
        printed, aside, code = run(["formats"], True)
    assert code == 2
    assert not printed
    assert re.search(r"numpy/__init__\.py has that name", aside.replace("\n", ""))


def test_a_folder_may_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real/mine").mkdir(parents=True)
    (tmp_path / "real/mine/__init__.py").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    where = {"SELDIO_PLUGINS": str(tmp_path / "link/mine"), "PYTHONPATH": str(tmp_path / "link")}
    with other_process(where) as run:
        assert run(["formats"], True)[2] == 0
