"""Push, pull and ``hf://`` with a stand-in for the client of the Hub; the HUB rules; cards."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pytest
import yaml
from commands import contents, invoke, laid
from hub_stand_in import HubStandIn, answer
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError
from layouts import wav

import seldio
from seldio.check.description import describe
from seldio.errors import SeldioError, UsageError
from seldio.files import Entry
from seldio.findings import Severity
from seldio.hub import pull, push, repository
from seldio.hub.card import BEGIN, END
from seldio.hub.pushing import UploadKind
from seldio.rules import CATALOGUE, findings
from seldio.rules.hub import HUB_RULES, HubFolder
from seldio.schemas import SCHEMAS

REPO = "anna/sounds"
ROWS = "0,1,0,-50,30\n1,1,0,-49,30\n"
TOKEN = "hf_" + "TokenOfTheTests" * 2
FILES = {"a.csv": b"1,2\n" * 50, "deep/b.wav": bytes(range(256)) * 40, "README.md": b"# x\n"}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> HubStandIn:
    stand_in = HubStandIn(tmp_path / "hub")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr("seldio.hub.repository.client", lambda: stand_in)
    repository._head.cache_clear()
    return stand_in


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Labels of two splits, questions, a recording and a text."""
    files = {
        "metadata_dev/dev-train-sony/fold3_room21_mix001.csv": ROWS,
        "metadata_dev/dev-train-sony/fold3_room21_mix002.csv": "3,0,0,10,0\n",
        "metadata_dev/dev-test-sony/fold4_room23_mix001.csv": ROWS,
        "qa/test.jsonl": '{"question": "Left?", "answer": "yes"}\n',
        "LICENSE": "MIT\n",
        ".env": "TOKEN=1\n",
        "notes.xyz": "not data\n",
        "foa_dev/a.wav": wav(0.1, 24_000, 4),
    }
    return laid(tmp_path / "data", files)


def starss(top: Path) -> Path:
    for place in ("train-sony/fold3_room21_mix001", "train-sony/fold3_room21_mix002", "test-sony/fold4_room23_mix001"):
        laid(top, {f"metadata_dev/dev-{place}.csv": ROWS, f"foa_dev/dev-{place}.wav": wav(1.0, 24_000, 4)})
    return top


def cli(*arguments: str) -> tuple[int, str]:
    result = invoke(*arguments)
    return result.exit_code, result.output


def front(text: str) -> dict[str, Any]:
    return yaml.safe_load(text.split("---\n")[1])


def configs_of(card: str) -> dict[str, dict[str, Any]]:
    return {config["config_name"]: config for config in front(card)["configs"]}


@pytest.mark.parametrize("kind", ["files", "parquet", "audiofolder"])
def test_a_dry_run_needs_no_network(
    hub: HubStandIn, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_answer(*_: object, **__: object) -> None:
        raise ConnectionError(f"no route, says {TOKEN}")

    monkeypatch.setattr(hub, "dataset_info", no_answer)
    tree = starss(tmp_path / "starss")
    code, text = cli("push", str(tree), "--repo", REPO, "--as", kind, "--dry-run")
    assert code == 0, text
    assert re.search(r"^  \? +[\d,]+  README.md$", text, re.MULTILINE)
    assert "Not compared with the Hub: cannot look up anna/sounds on the Hub: no route, says hf_…" in text
    record = json.loads(cli("push", str(tree), "--repo", REPO, "--as", kind, "--dry-run", "--json")[1])
    jsonschema.Draft202012Validator(SCHEMAS["push"]()).validate(record)
    assert cli("push", str(tree), "--repo", REPO, "--as", kind)[0] == 3


@pytest.mark.parametrize("dry", [["--dry-run"], []])
def test_errors_in_the_data_stop_a_push(hub: HubStandIn, tree: Path, dry: list[str]) -> None:
    (tree / "metadata_dev/dev-train-sony/fold3_room21_mix002.csv").write_text("3,0,0,400,0\n", "utf-8")
    code, text = cli("push", str(tree), "--repo", REPO, *dry)
    assert code == 1
    assert re.search(r"error  \S*fold3_room21_mix002.csv:1:7: LAB\d+ ", text)
    assert "Nothing was uploaded" in text
    assert not hub.private
    assert cli("push", str(tree), "--repo", REPO, "--force", *dry)[0] == 0


def test_classes_of_two_lists_are_not_published(hub: HubStandIn, tmp_path: Path) -> None:
    laid(tmp_path / "own", {f"k{number}.csv": f"{ROWS}2,1,0,-48,{number}\n3,2,0,10,-5\n" for number in range(3)})
    for kind in ("files", "parquet"):
        code, text = cli("push", str(tmp_path / "own"), "--repo", REPO, "--as", kind)
        assert code == 2
        assert "starss (--format starss22) or tau-nigens-2020 (--format dcase2020)" in text
    assert not hub.private
    for name in ("dcase2020", "starss22"):
        code, text = cli("push", str(tmp_path / "own"), "--repo", REPO, "--format", name, "--dry-run")
        assert code == 0, text
        assert name in text


def test_what_is_pushed_comes_back_byte_for_byte(hub: HubStandIn, tree: Path, tmp_path: Path) -> None:
    before = contents(tree)
    code, text = cli("push", str(tree), "--repo", REPO, "--dry-run", "--license", "mit")
    assert code == 0
    for name in ("fold3_room21_mix002.csv", "foa_dev/a.wav", "qa/test.jsonl", "LICENSE", "README.md"):
        assert re.search(rf"\+ +[\d,]+  \S*{re.escape(name)}", text)
    assert "Not uploaded: 2 names: .env, notes.xyz" in text
    assert not hub.private
    assert contents(tree) == before
    done = push(tree, REPO, private=True, license="mit")
    assert done.commit == hub.sha(REPO)
    assert hub.private == {REPO: True}
    sent = {name: data for name, data in contents(tree).items() if name not in (".env", "notes.xyz")}
    assert hub.files(REPO) == sent | {"README.md": done.card.encode()}
    pulled = pull(REPO, tmp_path / "got")
    assert contents(tmp_path / "got") == hub.files(REPO)
    assert set(pulled.fetched) == set(hub.files(REPO))
    assert not any("seldio-pull" in path.name for path in tmp_path.iterdir())


DESCRIBED = """\
name = "yard"
title = "Yard sounds"
license = "CC-BY-4.0"

[classes]
"dog bark" = { ru = "лай собаки" }
bird = {}

[labels]
given = { elevation = 0 }
columns = [
  { header = "time", field = "frame", unit = "s" },
  { header = "label", field = "class_name" },
  { header = "azimuth", field = "azimuth", direction = "clockwise" },
]

[splits]
train = { folders = ["first"] }
test = { clips = ["b"] }
"""


@pytest.mark.parametrize("kind", ["files", "parquet", "audiofolder"])
def test_a_dataset_that_is_pulled_still_says_what_it_is(hub: HubStandIn, tmp_path: Path, kind: UploadKind) -> None:
    yard = laid(tmp_path / "yard", {
        "dataset.toml": DESCRIBED,
        "first/a.csv": "time,label,azimuth\n0.0,dog bark,270\n0.1,dog bark,271\n",
        "second/b.csv": "time,label,azimuth\n0.0,bird,270\n0.1,bird,271.5\n",
        "first/a.wav": wav(1.0, 24_000, 4),
        "second/b.wav": wav(1.0, 24_000, 4),
    })  # fmt: skip
    push(yard, REPO, kind=kind)
    pull(REPO, tmp_path / "got")
    assert [str(one) for one in seldio.validate(tmp_path / "got").findings if one.severity is Severity.ERROR] == []
    (said,) = describe(tmp_path / "got")["datasets"]
    assert (said["title"], said["classes"], said["splits"]) == ("Yard sounds", ["dog bark", "bird"], ["train", "test"])
    clips = seldio.open(tmp_path / "got").clips
    assert dict(zip(clips["clip"].to_pylist(), clips["split"].to_pylist(), strict=True)) == {"a": "train", "b": "test"}


def test_only_what_changed_is_sent(hub: HubStandIn, tree: Path) -> None:
    push(tree, REPO)
    assert push(tree, REPO).commit is None
    (tree / "qa/test.jsonl").write_text('{"question": "Right?", "answer": "no!"}\n', "utf-8")
    done = push(tree, REPO)
    assert {file.name for file in done.files if file.state == "changed"} == set(hub.sent[-1]) >= {"qa/test.jsonl"}
    assert "foa_dev/a.wav" not in hub.sent[-1]


def test_an_archive_is_unpacked_and_files_of_others_stay(hub: HubStandIn, tree: Path, tmp_path: Path) -> None:
    hub.make(REPO, {"extra/theirs.csv": b"1,2\n"})
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", tree)
    code, text = cli("push", archive, "--repo", REPO)
    assert code == 0, text
    assert "Kept on the Hub though not in the source: 1 file: extra/theirs.csv" in text
    assert hub.files(REPO)["extra/theirs.csv"] == b"1,2\n"
    assert hub.files(REPO)["foa_dev/a.wav"] == (tree / "foa_dev/a.wav").read_bytes()


def test_a_public_data_set_does_not_become_private(hub: HubStandIn, tree: Path) -> None:
    hub.make(REPO, {"a.csv": b"1\n"})
    code, text = cli("push", str(tree), "--repo", REPO, "--private")
    assert code == 2
    assert "is public" in text


def test_what_an_export_left_is_removed(hub: HubStandIn, tmp_path: Path) -> None:
    root = starss(tmp_path / "data")
    push(root, REPO, kind="parquet")
    before = set(hub.files(REPO))
    hub.make(REPO, {"theirs.csv": b"1\n", "labels/mine.parquet": b"PAR1"})
    for path in root.rglob("fold4*"):
        path.unlink()
    code, text = cli("push", str(root), "--repo", REPO, "--as", "parquet", "--dry-run")
    assert code == 0, text
    removed = re.findall(r"^  - +(\S+)$", text.partition("The card:")[0], re.MULTILINE)
    assert removed == ["data/test-00000-of-00001.parquet", "labels/test-00000-of-00001.parquet"]
    assert before < set(hub.files(REPO))

    done = push(root, REPO, kind="parquet")
    assert set(hub.files(REPO)) == (before - set(removed)) | {"theirs.csv", "labels/mine.parquet"}
    patterns = [row["path"] for config in configs_of(done.card).values() for row in config["data_files"]]
    assert not any(fnmatch("labels/mine.parquet", pattern) for pattern in patterns)
    hub.make(REPO, {"manifest.json": b"[]"})
    assert push(root, REPO, kind="parquet").removed == ()


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [(answer(HfHubHTTPError, 403), 2, "does not accept the token"), (answer(GatedRepoError, 403), 2, "grant you access"),
     (answer(HfHubHTTPError, 412), 3, "someone else changed it"), (answer(HfHubHTTPError, 500, f"no {TOKEN}"), 3, "no hf_…"),
     (RuntimeError("\x1b[2J::error::x"), 3, "cannot push to anna/sounds: ")],
)  # fmt: skip
def test_errors_of_the_hub_are_plain_words(hub: HubStandIn, tree: Path, error: Exception, code: int, said: str) -> None:
    hub.fails = error
    found, text = cli("push", str(tree), "--repo", REPO)
    assert (found, said in text, TOKEN in text, "\x1b" in text) == (code, True, False, False), text
    assert cli("push", str(tree), "--repo", REPO)[0] == 0


def test_a_pull_replaces_nothing_without_being_told(hub: HubStandIn, tmp_path: Path) -> None:
    hub.make(REPO, FILES)
    out = laid(tmp_path / "got", {"mine.txt": "mine", "README.md": "old", "a.csv": FILES["a.csv"].decode()})
    code, text = cli("pull", REPO, "-o", str(out))
    assert code == 2
    assert "1 file in" in text
    assert "README.md. Choose another folder, or use --overwrite" in text
    assert (out / "README.md").read_text() == "old"
    with pytest.raises(UsageError, match="overwrite=True"):
        pull(REPO, out)

    done = pull(REPO, out, overwrite=True)
    assert (done.same, set(done.fetched)) == (1, {"deep/b.wav", "README.md"})
    assert contents(out) == FILES | {"mine.txt": b"mine"}
    assert not (out / ".cache").exists()
    assert pull(REPO, out).fetched == ()


def test_some_files_of_a_commit_and_the_record(hub: HubStandIn, tmp_path: Path) -> None:
    hub.make(REPO, FILES)
    arguments = ["pull", f"{REPO}@{hub.sha(REPO)}", "-o", str(tmp_path / "got"), "--include", "*.wav", "--json"]
    record = json.loads(invoke(*arguments).stdout)
    jsonschema.Draft202012Validator(SCHEMAS["pull"]()).validate(record)
    assert contents(tmp_path / "got") == {"deep/b.wav": FILES["deep/b.wav"]}
    assert record["commit"] == hub.sha(REPO)


def test_wrong_bytes_never_get_in_place(hub: HubStandIn, tmp_path: Path) -> None:
    hub.make(REPO, FILES)
    hub.sends = b"other"
    with pytest.raises(SeldioError, match=r"do not match their hash: README\.md, a\.csv, deep/b\.wav"):
        pull(REPO, tmp_path / "got")
    assert not (tmp_path / "got").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows lets few users make links")
@pytest.mark.parametrize(
    "place",
    ["got/deep", "got/deep/b.wav", "got/a.csv", "got/.cache", ".got.seldio-pull-{}", ".got.seldio-pull-{}/deep"],
)
def test_a_pull_follows_no_links(hub: HubStandIn, tmp_path: Path, place: str) -> None:
    hub.make(REPO, FILES)
    laid(tmp_path / "mine", {"b.wav": "mine"})
    link = tmp_path / place.format(hub.sha(REPO)[:12])
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / ("mine/b.wav" if link.suffix in (".wav", ".csv") else "mine"))
    with pytest.raises(UsageError, match=rf"{re.escape(str(link))} is a link"):
        pull(REPO, tmp_path / "got", overwrite=True)
    assert contents(tmp_path / "mine") == {"b.wav": b"mine"}


@pytest.mark.parametrize("name", [".git/config", "a/.GIT/hooks/post-checkout", "c:/x.csv", "con"])
def test_names_that_mean_something_here_are_refused(hub: HubStandIn, tmp_path: Path, name: str) -> None:
    hub.make(REPO, {name: b"1\n"})
    with pytest.raises(SeldioError, match="unsafe as file names here"):
        pull(REPO, tmp_path / "got")
    assert not (tmp_path / "got").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pull", "anna/none"], "no such dataset"),
        (["pull", f"{REPO}@none"], "no such branch, tag or commit"),
        (["pull", REPO, "--include", "*.none"], "no file matching"),
        (["pull", "none"], "write USER/NAME"),
        (["validate", "hf://models/x/y"], "write hf://datasets/USER/NAME"),
        (["validate", f"hf://datasets/{REPO}/none"], "no none in anna/sounds"),
        (["push", "nowhere", "--repo", REPO], "no such file or folder"),
    ],
)  # fmt: skip
def test_wrong_usage(hub: HubStandIn, arguments: list[str], said: str) -> None:
    hub.make(REPO, FILES)
    code, text = cli(*arguments)
    assert code == 2
    assert said in text


def test_a_source_on_the_hub_is_validated_in_place(hub: HubStandIn) -> None:
    name = "metadata_dev/dev-test-sony/fold4_room23_mix001.csv"
    hub.make(REPO, {name: b"0,1,0,-50,30\n1,1,0,-249,30\n"})
    report = seldio.validate(f"hf://datasets/{REPO}")
    wrong = [finding for finding in report.findings if finding.code == "LAB103"]
    assert [(f.path, f.line) for f in wrong] == [(f"hf://datasets/{REPO}/{name}", 2)]
    assert not [finding for finding in report.findings if finding.code.startswith("SAF")]
    seldio.validate(f"hf://datasets/{REPO}/{name}")
    assert hub.downloads == [name]


def test_labels_on_the_hub_are_a_reference(hub: HubStandIn, tmp_path: Path) -> None:
    labels = {f"{number}.csv": f"{ROWS}9,3,0,0,0\n" for number in range(3)}
    hub.make(REPO, {f"labels/{name}": text.encode() for name, text in labels.items()})
    given = str(laid(tmp_path / "given", labels))
    address = f"hf://datasets/{REPO}/labels"
    for one, other in ((address, given), (given, address), (address, address)):
        code, text = cli("score", one, "-r", other, "--json")
        assert code == 0, text


def test_an_export_on_the_hub_is_what_it_was_made_from(hub: HubStandIn, tmp_path: Path) -> None:
    root = starss(tmp_path / "data")
    push(root, REPO, kind="parquet")
    there, here = seldio.open(f"hf://datasets/{REPO}"), seldio.open(root)
    assert here.clips.equals(there.clips)
    assert pa.table(here.events).equals(pa.table(there.events))


def test_more_than_a_limit_is_not_fetched(hub: HubStandIn) -> None:
    from seldio.files import Limits, open_source

    hub.make(REPO, FILES)
    with pytest.raises(UsageError, match="seldio pull"):
        open_source(f"hf://datasets/{REPO}", print, Limits(total_bytes=100))
    assert not hub.downloads


def test_the_card_is_complete(hub: HubStandIn, tree: Path) -> None:
    citation = "@misc{sounds, title={Sounds}}"
    card = push(tree, REPO, license="cc-by-4.0", language=["en"], title="Sounds", citation=citation).card
    assert {"language", "license", "pretty_name", "tags", "task_categories", "size_categories"} <= set(front(card))
    labels = configs_of(card)["labels"]
    assert [row["split"] for row in labels["data_files"]] == ["train", "test"]
    assert labels["names"] == ["frame", "class_id", "source", "azimuth", "elevation"]
    assert "@misc{sounds" in card
    assert f'qa = load_dataset("{REPO}", "qa")  # test' in card
    assert front(card)["size_categories"] == ["n<1K"]
    assert str(tree) not in card
    assert f"{tree.name}/metadata_dev" not in card


def test_the_split_of_questions_is_that_of_their_records(hub: HubStandIn, tmp_path: Path) -> None:
    record = {"id": "1", "audio": ["a.wav"], "question": "What?", "answer": "A bell.", "split": "test"}
    for split, expected in (("test", "test"), (None, "train")):
        lines = {"qa.jsonl": json.dumps(record | {"split": split}) + "\n"}
        card = push(laid(tmp_path / "qa", lines), REPO, dry_run=True).card
        assert [row["split"] for row in configs_of(card)["qa"]["data_files"]] == [expected]


def test_labels_with_a_header_are_one_configuration(hub: HubStandIn, tmp_path: Path) -> None:
    """Of any number of clips; a file without a row is left out, and types are those of all files."""
    files = {"dataset.toml": DESCRIBED.partition("[splits]")[0] + '[splits]\ntest = { folders = ["b"] }\n'}
    files |= {f"{'ab'[n % 2]}/{n}.csv": f"time,label,azimuth\n0.0,bird,{n + n % 3 / 2:g}\n" for n in range(12)}
    files["b/empty.csv"] = "time,label,azimuth\n"
    card = push(laid(tmp_path / "yard", files), REPO, dry_run=True).card
    assert set(configs_of(card)) == {"labels"}
    paths = {row["split"]: row["path"] for row in configs_of(card)["labels"]["data_files"]}
    assert paths["train"] == "a/*.csv"
    assert paths["test"] == [f"b/{n}.csv" for n in (1, 11, 3, 5, 7, 9)]
    (info,) = front(card)["dataset_info"]
    assert {row["name"]: row["dtype"] for row in info["features"]} == {
        "time": "float64", "label": "string", "azimuth": "float64",
    }  # fmt: skip


def test_what_people_wrote_is_kept(hub: HubStandIn, tree: Path) -> None:
    (tree / "README.md").write_text("---\nlicense: mit\nmine: [1, 2]\ntags: [own]\n---\n# Own title\n\nOwn text.\n")
    first = push(tree, REPO).card
    values = front(first)
    assert (values["license"], values["mine"], values["tags"]) == ("mit", [1, 2], ["own"])
    assert "# Own title\n\nOwn text.\n" in first
    (tree / "README.md").write_text(first.replace("Own text.", "New text."))
    (tree / "qa/train.jsonl").write_text('{"question": "Up?", "answer": "no"}\n')
    second = push(tree, REPO).card
    assert second.count(BEGIN) == second.count(END) == 1
    assert "New text." in second
    assert [row["split"] for row in configs_of(second)["qa"]["data_files"]] == ["train", "test"]


def test_a_card_that_was_edited_on_the_hub_is_kept(hub: HubStandIn, tree: Path) -> None:
    hub.make(REPO, {"README.md": b"---\nlicense: cc0-1.0\n---\nEdited there.\n"})
    card = push(tree, REPO).card
    assert front(card)["license"] == "cc0-1.0"
    assert "Edited there." in hub.files(REPO)["README.md"].decode()


@pytest.mark.parametrize("values", ["license: [mit", "- a", "1: x"])
def test_a_card_that_cannot_be_read_stops_the_push(hub: HubStandIn, tree: Path, values: str) -> None:
    (tree / "README.md").write_text(f"---\n{values}\n---\ntext\n")
    code, text = cli("push", str(tree), "--repo", REPO)
    assert code == 1
    assert "HUB601" in text
    assert values != "license: [mit" or re.search(r"README\.md:\d+:\d+: SYN4", text)
    assert not hub.private


LOAD = """
import io, sys
import soundfile
from datasets import DatasetDict
loaded = {}
for repo, code in zip(sys.argv[1::2], sys.argv[2::2]):
    exec(code, loaded)
    for name, value in list(loaded.items()):
        if isinstance(value, DatasetDict):
            print(repo, name, {split: value[split].num_rows for split in value})
            loaded.pop(name)
            if name == "labels":
                print(value["train"].features)
            if "parquet" in repo and name == "data":
                media = value["train"].with_format("arrow")[:]["audio"][0].as_py()["bytes"]
                print(soundfile.read(io.BytesIO(media))[0].shape, type(value["train"].features["audio"]).__name__)
"""


def test_datasets_loads_what_was_pushed(hub: HubStandIn, tmp_path: Path) -> None:
    """By the example of each card, in a process of its own, where the name of a dataset is a folder."""
    root = starss(tmp_path / "starss22")
    files = {"dataset.toml": DESCRIBED}
    files |= {f"{'first' if n % 2 else 'second'}/{n}.csv": f"time,label,azimuth\n0,bird,{n + n % 3 / 2:g}\n0.5,bird,3\n"
              for n in range(12)}  # fmt: skip
    files |= {"second/b.csv": "time,label,azimuth\n0.5,bird,3\n", "second/none.csv": "time,label,azimuth\n"}
    yard = laid(tmp_path / "yard", files)
    cards = {
        "anna/files": push(root, "anna/files").card,
        "anna/parquet": push(root, "anna/parquet", kind="parquet").card,
        "anna/yard": push(yard, "anna/yard").card,
    }
    env = os.environ | {"HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"}
    code = {repo: card.split("```python\n")[1].split("```")[0] for repo, card in cards.items()}
    command = [sys.executable, "-c", LOAD, *(text for pair in code.items() for text in pair)]
    run = subprocess.run(command, env=env, cwd=hub.folder, capture_output=True, text=True, check=False)
    if "No module named 'datasets'" in run.stderr:
        pytest.skip("datasets is not installed (group test-frameworks)")
    assert run.returncode == 0, run.stderr[-3000:]
    lines = run.stdout.splitlines()
    assert {line for line in lines if line.startswith("anna/")} == {
        "anna/files labels {'train': 4, 'test': 2}",
        "anna/parquet data {'train': 2, 'test': 1}",
        "anna/parquet labels {'train': 4, 'test': 2}",
        "anna/yard labels {'train': 24, 'test': 1}",
    }
    assert "(24000, 4) Audio" in lines
    assert "{'time': Value('float64'), 'label': Value('string'), 'azimuth': Value('float64')}" in lines


def folder(files: Mapping[str, int], card: dict[str, Any] | None = None) -> HubFolder:
    content = partial(io.BytesIO, b"x\n")
    made = [Entry(name, name, size, 2**40, None, content) for name, size in sorted(files.items())]
    return HubFolder("data", made, {"license": "mit"} if card is None else card)


#: For each rule what it finds something in, and what it does not.
CASES: dict[str, tuple[Callable[[], HubFolder], Callable[[], HubFolder]]] = {
    "HUB101": (lambda: folder({f"a/{n}.wav": 1 for n in range(10_001)}), lambda: folder({f"{n % 2}/{n}.wav": 1 for n in range(10_001)})),
    "HUB101 in all": (lambda: folder({f"{n % 99}/{n}.wav": 1 for n in range(100_001)}), lambda: folder({f"{n % 99}/{n}.wav": 1 for n in range(100_000)})),
    "HUB601": (lambda: HubFolder("data", [], None), lambda: folder({})),
    "HUB603": (lambda: folder({}, {"pretty_name": "x"}), lambda: folder({})),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("code", CASES)
def test_each_rule_finds_its_own_and_nothing_else(code: str) -> None:
    bad, good = CASES[code]
    wrong = list(findings(HUB_RULES, bad()))
    assert {finding.code for finding in wrong} == {code[:6]}
    for finding in wrong:
        assert finding.severity is (Severity.WARNING if "in all" in code else CATALOGUE[code].severity)
        assert finding.hint
        assert "\n" not in finding.message + finding.hint
    assert code[:6] not in {finding.code for finding in findings(HUB_RULES, good())}
