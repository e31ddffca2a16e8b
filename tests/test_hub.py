"""Push, pull and ``hf://`` against a Hub on the loopback interface, with its faults; the HUB rules; cards; Croissant."""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hub_server
import huggingface_hub as hf
import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from effort import examples, some
from hub_server import TOKEN, Hub
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import seldio
from seldio import progress
from seldio.check.description import describe
from seldio.cli import app
from seldio.errors import SeldioError, UsageError
from seldio.files import Entry
from seldio.findings import Finding, Severity
from seldio.hub import client, pull, pulling, push, pushing, repository
from seldio.hub.card import BEGIN, END, read_card
from seldio.hub.layout import UploadKind, _config, features_of
from seldio.reports.bars import Bars
from seldio.rules import CATALOGUE, findings, rules_for
from seldio.rules.hub_folder import HubFolder, glob_pattern
from seldio.schemas import SCHEMAS

#: huggingface_hub itself hands files to httpx2 in the old way.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

#: Before 1.0, huggingface_hub keeps one session of requests for each thread, offline or not.
OLD = not hasattr(hf, "set_client_factory")
NEW_SESSIONS: Callable[[], None] = getattr(hf.utils, "reset_sessions", lambda: None)

REPO = "anna/sounds"
ROWS = "0,1,0,-50,30\n1,1,0,-49,30\n"


@pytest.fixture(scope="module")
def server() -> Iterator[Hub]:
    with Hub() as running:
        yield running


@pytest.fixture
def hub(server: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Hub:
    """An empty Hub, and a client that knows no other; its settings are patched, since others may have loaded it."""
    server.reset()
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.url)
    for module in ("constants", "file_download"):
        name = f"huggingface_hub.{module}.HUGGINGFACE_CO_URL_TEMPLATE"
        monkeypatch.setattr(name, server.url + "/{repo_id}/resolve/{revision}/{filename}", raising=False)
    NEW_SESSIONS()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True, raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    client.hub.cache_clear()
    pulling._head.cache_clear()
    client.quiet()
    return server


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds for which seldio's client would have slept; what is no client, such as a server, sleeps for real."""
    slept: list[float] = []
    monkeypatch.setattr(client, "time", SimpleNamespace(**vars(time) | {"sleep": slept.append}))
    awake = SimpleNamespace(**vars(time) | {"sleep": lambda _: None})
    for name, module in list(sys.modules.items()):
        if name.startswith("huggingface_hub.") and vars(module).get("time") is time:
            monkeypatch.setattr(module, "time", awake)
    return slept


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Labels of two splits, questions, a recording and a text."""
    root = tmp_path / "data"
    files = {
        "metadata_dev/dev-train-sony/fold3_room21_mix001.csv": ROWS,
        "metadata_dev/dev-train-sony/fold3_room21_mix002.csv": "3,0,0,10,0\n",
        "metadata_dev/dev-test-sony/fold4_room23_mix001.csv": ROWS,
        "qa/test.jsonl": '{"question": "Left?", "answer": "yes"}\n',
        "LICENSE": "MIT\n",
        ".env": "TOKEN=1\n",
        "notes.xyz": "not data\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    (root / "foa_dev").mkdir()
    (root / "foa_dev" / "a.wav").write_bytes(wav(4, 2400))
    return root


def wav(channels: int, frames: int) -> bytes:
    import soundfile

    out = io.BytesIO()
    noise = np.random.default_rng(0).normal(0, 0.1, (frames, channels))
    soundfile.write(out, noise, 24000, format="WAV", subtype="PCM_16")
    return out.getvalue()


def content(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def cli(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


# --- push ----------------------------------------------------------------------------------------------


def test_a_dry_run_shows_everything_and_changes_nothing(hub: Hub, tree: Path) -> None:
    code, text = cli("push", str(tree), "--repo", REPO, "--dry-run", "--license", "mit")
    assert code == 0
    for name in ("fold3_room21_mix002.csv", "foa_dev/a.wav", "qa/test.jsonl", "LICENSE", "README.md", "croissant.json"):
        assert re.search(rf"\+ +[\d,]+  \S*{re.escape(name)}", text)
    assert "Not uploaded: 2 names: .env, notes.xyz" in text
    assert "config_name: labels" in text
    assert not hub.repositories
    assert not hub.asked("POST", "commit|create|preupload")


@pytest.mark.parametrize("dry", [["--dry-run"], []])
def test_errors_in_the_data_stop_a_push(hub: Hub, tree: Path, dry: list[str]) -> None:
    label = tree / "metadata_dev/dev-train-sony/fold3_room21_mix002.csv"
    label.write_text("3,0,0,400,0\n", "utf-8")
    code, text = cli("push", str(tree), "--repo", REPO, *dry)
    assert code == 1
    assert re.search(r"error  \S*fold3_room21_mix002.csv:1:7: LAB\d+ ", text)
    assert "Nothing was uploaded" in text
    assert not hub.repositories
    assert cli("push", str(tree), "--repo", REPO, "--force", *dry)[0] == 0


def test_classes_of_two_lists_are_not_published(hub: Hub, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / "own").mkdir(exist_ok=True)
        (tmp_path / f"own/k{number}.csv").write_text(ROWS, "utf-8")
    for kind in ("files", "parquet"):
        code, text = cli("push", str(tmp_path / "own"), "--repo", REPO, "--as", kind)
        assert code == 2
        assert "starss (--format starss22) or tau-nigens-2020 (--format dcase2020)" in text
    assert not any(hub.files(name) for name in hub.repositories)
    for name in ("dcase2020", "starss22"):
        code, text = cli("push", str(tmp_path / "own"), "--repo", REPO, "--format", name, "--dry-run")
        assert code == 0, text
        assert name in text


def test_what_is_pushed_comes_back_byte_for_byte(hub: Hub, tree: Path, tmp_path: Path) -> None:
    done = push(tree, REPO, private=True, license="mit")
    assert len(done.commits) == 1
    assert hub.repositories[REPO].private
    sent = content(tree)
    there = hub.files(REPO)
    assert {name: there[name] for name in sent if name in there} == {
        n: sent[n] for n in sent if n not in (".env", "notes.xyz")
    }
    assert set(there) - set(sent) == {"README.md", "croissant.json"}
    got = pull(REPO, tmp_path / "got")
    back = content(tmp_path / "got")
    assert {name: back[name] for name in there} == there
    assert len(got.fetched) == len(back)
    assert not any(path.is_symlink() for path in (tmp_path / "got").rglob("*"))
    assert [path.name for path in tmp_path.iterdir() if "seldio-pull" in path.name] == []


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


@pytest.mark.parametrize("kind", ["files", "parquet", "webdataset", "audiofolder"])
def test_a_dataset_that_is_pulled_still_says_what_it_is(hub: Hub, tmp_path: Path, kind: UploadKind) -> None:
    files = {"dataset.toml": DESCRIBED}
    files |= {f"{name}.csv": f"time,label,azimuth\n0.0,{label},270\n0.1,{label},271\n"
              for name, label in (("first/a", "dog bark"), ("second/b", "bird"))}  # fmt: skip
    for name, text in files.items():
        (tmp_path / "yard" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "yard" / name).write_text(text, "utf-8")
    for name in ("first/a.wav", "second/b.wav"):
        (tmp_path / "yard" / name).write_bytes(wav(4, 24000))
    push(tmp_path / "yard", REPO, kind=kind)
    got = tmp_path / "got"
    pull(REPO, got)
    assert [str(one) for one in seldio.validate(got).findings if one.severity is Severity.ERROR] == []
    (said,) = describe(got)["datasets"]
    assert (said["title"], said["classes"], said["splits"]) == ("Yard sounds", ["dog bark", "bird"], ["train", "test"])
    clips = seldio.open(got).clips
    assert dict(zip(clips["clip"].to_pylist(), clips["split"].to_pylist(), strict=True)) == {"a": "train", "b": "test"}
    (tmp_path / "system").mkdir()
    (tmp_path / "system/b.csv").write_text("time,label,azimuth\n0.0,bird,270\n0.1,bird,271\n")
    report = seldio.score(tmp_path / "system", got, split="test")
    by_class = next(table for table in report.tables if table.name == "classes")
    assert [row[0] for row in by_class.rows] == ["dog bark", "bird"]
    assert report.tables[0].rows[0][1] == 0.0  # the error rate: columns and classes are those of the dataset
    if kind != "files":
        seldio.convert(got, tmp_path / "back", "files")
    assert (tmp_path / ("got" if kind == "files" else "back") / "dataset.toml").read_text("utf-8") == DESCRIBED


def test_a_second_push_sends_nothing(hub: Hub, tree: Path) -> None:
    first = push(tree, REPO)
    again = push(tree, REPO)
    assert again.commits == ()
    assert hub.repositories[REPO].head.oid == first.commits[-1]
    assert {step.state for step in again.plan.steps} == {"same"}


@pytest.mark.parametrize("kind", ["files", "parquet", "audiofolder"])
def test_a_first_push_of_labels_alone_is_whole(hub: Hub, tree: Path, tmp_path: Path, kind: UploadKind) -> None:
    (tree / "foa_dev/a.wav").unlink()
    push(tree, REPO, kind=kind, staging=tmp_path / "staging")
    sent = hub.files(REPO)

    assert push(tree, REPO, kind=kind, staging=tmp_path / "staging").commits == ()
    if kind == "parquet":
        read = [pq.read_table(io.BytesIO(sent[name])) for name in sent if name.startswith("labels/")]
        assert sum(table.num_rows for table in read) == 5


def test_only_what_changed_is_sent(hub: Hub, tree: Path) -> None:
    push(tree, REPO)
    (tree / "qa" / "test.jsonl").write_text('{"question": "Right?", "answer": "no!"}\n', "utf-8")
    plan = push(tree, REPO).plan
    states = {step.entry.name: step.state for step in plan.steps}
    assert states["qa/test.jsonl"] == "changed"
    assert states["foa_dev/a.wav"] == "same"
    assert hub.asked("PUT", "/lfs/") == 1  # the recording went up once


def test_files_of_others_stay(hub: Hub, tree: Path) -> None:
    hub.make(REPO, {"extra/theirs.csv": b"1,2\n"})
    code, text = cli("push", str(tree), "--repo", REPO)
    assert code == 0
    assert "Kept on the Hub though not in the source: 1 file: extra/theirs.csv" in text
    assert hub.files(REPO)["extra/theirs.csv"] == b"1,2\n"


def test_several_commits_and_a_break_between_them(hub: Hub, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushing, "BATCH_FILES", 2)
    hub.fault("POST", "/commit/", 403, skip=1)
    with pytest.raises(SeldioError, match="refuses the token"):
        push(tree, REPO)
    assert len(hub.files(REPO)) == 2
    assert "README.md" not in hub.files(REPO)
    done = push(tree, REPO)
    assert done.plan.count("same") == 2
    assert set(hub.files(REPO)) == {step.entry.name for step in done.plan.steps}
    assert len(hub.repositories[REPO].branches["main"]) == 2 + len(done.commits)


def test_another_branch(hub: Hub, tree: Path) -> None:
    push(tree, REPO, revision="next")
    assert hub.files(REPO) == {}
    assert "README.md" in hub.repositories[REPO].branches["next"][-1].tree


def test_an_archive_is_unpacked(hub: Hub, tree: Path, tmp_path: Path) -> None:

    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", tree)
    push(archive, REPO, staging=tmp_path / "staging")
    assert hub.files(REPO)["foa_dev/a.wav"] == (tree / "foa_dev" / "a.wav").read_bytes()
    assert not any("notes" in name for name in hub.files(REPO))


def test_a_public_data_set_does_not_become_private(hub: Hub, tree: Path) -> None:
    hub.make(REPO, {"a.csv": b"1\n"})
    code, text = cli("push", str(tree), "--repo", REPO, "--private")
    assert code == 2
    assert "is public" in text


@pytest.mark.slow
def test_hashes_are_worked_out_once_and_anywhere(hub: Hub, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = cli("push", str(tree), "--repo", REPO, "--workers", "2")
    assert code == 0, text
    repository._known.clear()
    read: list[str] = []
    real = repository.hashed
    monkeypatch.setattr(repository, "hashed", lambda one: (read.append(one.entry.name), real(one))[1])
    terminal = Bars(io.StringIO(), Clock())
    with progress.shown_on(terminal):
        assert push(tree, REPO).plan.count("same") == 8
    sent = [name for name in content(tree) if name not in (".env", "notes.xyz")]
    assert sorted(sent) == sorted(name for name in read if name in sent)
    size = sum(len(data) for name, data in content(tree).items() if name in sent)
    told = next(line for line in terminal.summary() if line.startswith("hashing files"))
    assert told.startswith(f"hashing files: {len(sent)}, ")
    assert f"{size / 1000:.1f} kB" in told
    # a file that has changed is read again
    (tree / "LICENSE").write_text("GPL\n")
    assert push(tree, REPO).plan.count("changed") == 1


class Clock:
    now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


STOPS = {
    "commit": (["--as", "files"], r"stopped; 2 of 8 files were sent to anna/sounds: the same command sends the rest$"),
    "look": (["--as", "files"], r"stopped before anything was sent: run the same command again$"),
    "early": (["--as", "files"], r"^seldio: stopped; no file is half-written$"),
    "export": (["--as", "parquet"], r"stopped before anything was sent: run the same command again; with --staging FOLDER"),
    "staged": (["--as", "parquet"], r"stopped; 0 of \d files are written in .*staging/parquet: run the same command again"),
}  # fmt: skip


@pytest.mark.parametrize("where", STOPS)
def test_ctrl_c_in_a_push_says_how_to_go_on(
    hub: Hub, tree: Path, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(pushing, "BATCH_FILES", 2)
    real = pushing._commit

    def once(*given: Any) -> str:
        return real(*given) if given[3] == hub.repositories[REPO].branches["main"][0].oid else stop()

    options, said = STOPS[where]
    options = [*options, *(["--staging", str(tmp_path / "staging")] if where == "staged" else [])]
    with monkeypatch.context() as patch:
        place = {
            "commit": "seldio.hub.pushing._commit",
            "look": "seldio.hub.pushing.read_head",
            "early": "seldio.hub.pushing.checked_name",
        }.get(where)
        patch.setattr(place or "seldio.data.exporting.WriteFile.__call__", once if where == "commit" else stop)
        code, text = cli("push", str(tree), "--repo", REPO, *options)
    assert code == 130
    assert re.search(said, text.strip()), text
    assert cli("push", str(tree), "--repo", REPO, *options)[0] == 0
    assert {"README.md", "croissant.json"} < set(hub.files(REPO))


# --- faults --------------------------------------------------------------------------------------------

STEPS = ("GET:/revision/", "POST:/repos/create", "POST:/validate-yaml", "POST:/preupload/", "POST:/objects/batch",
         "PUT:/lfs/", "POST:/verify", "POST:/commit/", "GET:/tree/")  # fmt: skip


@pytest.mark.parametrize("what", [429, 503, "cut"])
@pytest.mark.parametrize("step", STEPS)
def test_a_busy_hub_is_waited_for(hub: Hub, tree: Path, step: str, what: int | str) -> None:
    method, _, path = step.partition(":")
    hub.fault(method, path, what, times=2)
    done = push(tree, REPO)
    # what is cut off behind the work is not asked for again, nor is a check that the client itself does not repeat
    left = (what == "cut" and path in ("/lfs/", "/commit/")) or (OLD and path == "/verify")
    assert hub.faults[0].times == int(left)
    assert len(hub.repositories[REPO].branches["main"]) == 2, "one commit, and the first one of the Hub itself"
    assert hub.repositories[REPO].head.oid == done.commits[-1]
    assert hub.files(REPO)["foa_dev/a.wav"] == (tree / "foa_dev" / "a.wav").read_bytes()


@pytest.mark.parametrize("what", ["late 503", "late 429", "cut"])
def test_a_commit_whose_answer_is_lost_is_not_made_twice(hub: Hub, tree: Path, what: str) -> None:
    hub.fault("POST", "/commit/", what)
    done = push(tree, REPO)
    assert hub.asked("POST", "/commit/") == 1
    assert [commit.oid for commit in hub.repositories[REPO].branches["main"][1:]] == list(done.commits)


def test_somebody_else_is_never_overwritten(hub: Hub, tree: Path) -> None:
    repository = hub.make(REPO, {"qa/test.jsonl": b"{}\n"})

    def other() -> None:
        repository.add("main", "theirs", {**repository.head.tree, "theirs.csv": hub_server.Blob(b"1\n", False)})

    hub.between = other
    with pytest.raises(SeldioError, match="changed by someone else"):
        push(tree, REPO)
    assert repository.head.message == "theirs"
    push(tree, REPO)
    assert hub.files(REPO)["theirs.csv"] == b"1\n"


def test_bytes_that_arrive_wrong_are_noticed(hub: Hub, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = hub_server.base64.b64decode
    monkeypatch.setattr(hub_server.base64, "b64decode", lambda text: real(text)[:-1] + b"?")
    with pytest.raises(SeldioError, match="differ from what was sent"):
        push(tree, REPO)


def test_patience_ends(hub: Hub, tree: Path) -> None:
    hub.fault("POST", "/commit/", 503, times=100)
    with pytest.raises(SeldioError, match=r"cannot push to anna/sounds: .*503"):
        push(tree, REPO)
    assert hub.asked("POST", "/commit/") == client.TRIES


def test_the_hub_says_how_long_to_wait(hub: Hub, tree: Path, waits: list[float]) -> None:
    hub.fault("POST", "/commit/", 429, Retry_After="7")
    push(tree, REPO)
    assert sum(waits) == 7.0


LIMIT = {"RateLimit": '"api";r=0;t=55', "RateLimit_Policy": '"fixed window";"api";q=500;w=300'}


@pytest.mark.parametrize("step", ["GET:/revision/", "POST:/repos/create", "POST:/preupload/", "POST:/commit/"])
def test_a_limit_of_requests_is_waited_out_however_often(hub: Hub, tree: Path, step: str, waits: list[float]) -> None:
    """The header of the IETF draft that the Hub sends; more often than other errors are borne, with a bar."""
    method, _, path = step.partition(":")
    hub.fault(method, path, 429, times=20, **LIMIT)
    bars = Bars(io.StringIO(), Clock())
    with progress.shown_on(bars):
        done = push(tree, REPO)
    assert hub.faults[0].times == 0
    assert len(done.commits) == 1
    assert waits.count(1.0) == 20 * 55
    told = next(line for line in bars.summary() if line.startswith("waiting until the Hub allows more requests"))
    assert "1,100" in told


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"Retry_After": "3"}, 3.0), ({"RateLimit": '"resolvers";r=12;t=200', "Retry_After": "2"}, 2.0),
     ({"RateLimit": '"pages"; r=5; t=9, "resolvers"; r=0; t=4'}, 4.0)],
)  # fmt: skip
def test_a_pull_waits_as_long_as_it_should(
    hub: Hub, tmp_path: Path, headers: dict[str, str], seconds: float, waits: list[float]
) -> None:
    hub.make(REPO, {"a.csv": b"1\n"})
    hub.fault("GET", "/tree/", 429, **headers)
    pull(REPO, tmp_path / "got")
    assert sum(waits) == seconds


def test_a_wait_of_hours_is_refused(hub: Hub, tree: Path) -> None:
    hub.fault("GET", "/revision/", 429, Retry_After="86400")
    code, text = cli("push", str(tree), "--repo", REPO)
    assert code == 3
    assert "allows no requests for the next 24.0 hours" in text


def test_an_upload_address_that_is_refused_once_is_asked_for_again(hub: Hub, tree: Path) -> None:
    hub.fault("PUT", "/lfs/", 403)
    done = push(tree, REPO)
    assert len(done.commits) == 1
    assert hub.asked("POST", "/objects/batch") == 2


def test_an_upload_address_that_is_always_refused_is_no_matter_of_the_token(hub: Hub, tree: Path) -> None:
    hub.fault("PUT", "/lfs/", 403, times=100)
    code, text = cli("push", str(tree), "--repo", REPO)
    assert code == 3
    assert "upload address" in text
    assert "clock" in text
    assert "token" not in text


def test_a_token_that_is_not_valid(hub: Hub, tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hub.make(REPO, FILES, private=True)
    monkeypatch.setenv("HF_TOKEN", "hf_wrongwrongwrong")
    hub.fault("GET", "/revision/", 401, times=2)
    for arguments in (["push", str(tree), "--repo", REPO], ["pull", REPO, "-o", str(tmp_path / "got")]):
        code, text = cli(*arguments)
        assert code == 2
        assert "does not accept the token; it is mistyped, expired or revoked" in text
        assert "right to write" not in text


@pytest.mark.parametrize("status", [400, 401, 403, 500])
def test_the_token_is_never_shown(hub: Hub, tree: Path, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    echo = lambda code, text, **headers: hub_server.as_json({"error": f"bad token {TOKEN} {text}"}, code, **headers)  # noqa: E731
    monkeypatch.setattr(hub_server, "plain", echo)
    hub.fault("POST", "/commit/", status, times=100)
    code, text = cli("push", str(tree), "--repo", REPO)
    assert code in (2, 3)
    assert TOKEN not in text
    assert "cannot push to anna/sounds" in text


def test_without_a_token(hub: Hub, tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "none"))
    code, text = cli("push", str(tree), "--repo", REPO)
    assert code == 2
    assert "hf auth login" in text


# --- what is not there any more -------------------------------------------------------------------------


def starss(root: Path, clips: Mapping[str, str]) -> Path:
    """A tree with labels and recordings: clips by name, with the split folder of each."""
    for clip, split in clips.items():
        for top, suffix, data in (("metadata_dev", "csv", ROWS.encode()), ("foa_dev", "wav", wav(4, 24000))):
            (root / top / f"dev-{split}-sony").mkdir(parents=True, exist_ok=True)
            (root / top / f"dev-{split}-sony" / f"{clip}.{suffix}").write_bytes(data)
    return root


CLIPS = {"fold3_room21_mix001": "train", "fold3_room21_mix002": "train", "fold4_room23_mix001": "test"}


@pytest.mark.parametrize("kind", ["parquet", "audiofolder"])
def test_what_an_earlier_export_left_is_removed(
    hub: Hub, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seldio.data.export_shards.LABEL_CLIPS", 1)
    root = starss(tmp_path / "data", CLIPS)
    push(root, REPO, kind=kind)
    before = set(hub.files(REPO))
    repository = hub.repositories[REPO]
    theirs = {"theirs.csv": hub_server.Blob(b"1\n", False), "labels/mine.parquet": hub_server.Blob(b"PAR1", True),
              "train/foa/theirs.wav": hub_server.Blob(wav(4, 2400), True)}  # fmt: skip
    repository.add("main", "theirs", {**repository.head.tree, **theirs})

    for path in root.rglob("*mix002*"):
        path.unlink()
    for path in root.rglob("fold4*"):
        path.unlink()
    code, text = cli("push", str(root), "--repo", REPO, "--as", kind, "--dry-run")
    assert code == 0, text
    assert set(hub.files(REPO)) == before | set(theirs)
    removed = re.findall(r"^  - +(\S+)$", text.partition("The card:")[0], re.MULTILINE)
    assert len(removed) >= 3
    assert f"{len(removed)} to be removed" in text

    done = push(root, REPO, kind=kind)
    assert len(done.commits) == 1, "in the commit that brings the others"
    left = set(hub.files(REPO))
    assert before - left == set(removed)
    assert left >= set(theirs)
    listed = {file["name"] for file in json.loads(hub.files(REPO)["manifest.json"])["files"]}
    assert left == listed | set(theirs) | {"README.md", "croissant.json", "manifest.json"}
    assert "theirs.csv" in done.plan.kept
    for config in front(done.card)["configs"]:
        for row in config["data_files"]:
            patterns = [row["path"]] if isinstance(row["path"], str) else row["path"]
            fits = {name for pattern in patterns for name in left if glob_pattern(pattern).fullmatch(name)}
            assert fits
            assert not fits & set(theirs)
    assert push(root, REPO, kind=kind).commits == ()


def test_a_folder_of_recordings_that_nobody_else_writes_to_stays_one_pattern(hub: Hub, tmp_path: Path) -> None:
    root = starss(tmp_path / "data", CLIPS)
    for _ in range(2):
        done = push(root, REPO, kind="audiofolder")
        rows = front(done.card)["configs"][0]["data_files"]
        assert rows == [{"split": "train", "path": "train/**"}, {"split": "test", "path": "test/**"}]
    assert done.commits == ()


def test_what_somebody_has_changed_is_not_removed(hub: Hub, tmp_path: Path) -> None:
    root = starss(tmp_path / "data", CLIPS)
    (root / "LICENSE").write_text("MIT\n")
    (root / "NOTICE").write_text("none\n")
    push(root, REPO, kind="parquet")
    repository = hub.repositories[REPO]
    changed = {"data/test-00000-of-00001.parquet": hub_server.Blob(b"PAR1PAR1", True),
               "other/LICENSE": hub_server.Blob(b"GPL\n", False)}  # fmt: skip
    repository.add("main", "theirs", {**repository.head.tree, **changed})
    for path in [*root.rglob("fold4*"), root / "LICENSE", root / "NOTICE"]:
        path.unlink()
    plan = push(root, REPO, kind="parquet").plan
    assert set(plan.stale) == {"labels/test-00000-of-00001.parquet", "other/NOTICE"}
    assert hub.files(REPO)["data/test-00000-of-00001.parquet"] == b"PAR1PAR1"
    assert hub.files(REPO)["other/LICENSE"] == b"GPL\n"


def test_after_a_break_the_next_push_still_removes(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = starss(tmp_path / "data", CLIPS)
    push(root, REPO, kind="audiofolder")
    for path in root.rglob("fold4*"):
        path.unlink()
    starss(root, {f"fold3_room22_mix{number:03d}": "train" for number in range(1, 5)})
    monkeypatch.setattr(pushing, "BATCH_FILES", 2)
    hub.fault("POST", "/commit/", 403, skip=1)
    with pytest.raises(SeldioError, match="refuses the token"):
        push(root, REPO, kind="audiofolder")
    assert any(name.startswith("test/") for name in hub.files(REPO))
    push(root, REPO, kind="audiofolder")
    assert not any(name.startswith("test/") for name in hub.files(REPO))
    assert [name for name in hub.files(REPO) if "fold4" in name] == []


def test_a_list_of_files_that_is_none_of_ours_removes_nothing(hub: Hub, tmp_path: Path) -> None:
    root = starss(tmp_path / "data", CLIPS)
    odd = b'{"seldio_export": 1, "kind": "parquet", "files": [{"name": ["a.csv"], "bytes": 2, "sha256": ""}]}'
    for number, text in enumerate((b"[]", b"{", b'{"files": [{"name": "a.csv"}]}', odd)):
        repo = f"anna/data{number}"
        hub.make(repo, {"manifest.json": text, "a.csv": b"1\n"})
        done = push(root, repo, kind="parquet")
        assert done.plan.stale == ()
        assert "a.csv" in hub.files(repo)


def test_a_removed_label_file_that_stays_on_the_hub_is_in_no_split(hub: Hub, tree: Path) -> None:
    """Files as they are leave no list behind: what is gone from the source stays there, and is not loaded."""
    push(tree, REPO)
    gone = "metadata_dev/dev-train-sony/fold3_room21_mix002.csv"
    (tree / gone).unlink()
    done = push(tree, REPO)
    assert gone in done.plan.kept
    paths = [row["path"] for config in front(done.card)["configs"] for row in config["data_files"]]
    assert "metadata_dev/dev-train-sony/fold3_room21_mix001.csv" in paths
    assert not any(glob_pattern(path).fullmatch(gone) for path in paths)


# --- dry runs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["files", "parquet", "audiofolder"])
def test_a_dry_run_works_without_a_network(
    hub: Hub, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, waits: list[float]
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    tree = starss(tmp_path / "starss", CLIPS)
    code, text = cli("push", str(tree), "--repo", REPO, "--as", kind, "--dry-run")
    assert code == 0, text
    assert re.search(r"^  \? +[\d,]+  README.md$", text, re.MULTILINE)
    assert "not compared with the Hub" in text
    assert "Not compared with the Hub: cannot look up anna/sounds on the Hub: no answer from http://127.0.0.1:9" in text
    assert "config_name: labels" in text or kind != "parquet"
    assert not waits
    record = json.loads(cli("push", str(tree), "--repo", REPO, "--as", kind, "--dry-run", "--json")[1])
    jsonschema.Draft202012Validator(SCHEMAS["push"]()).validate(record)
    assert {file["state"] for file in record["files"]} == {"unknown"}
    assert "no answer" in record["unreachable"]
    client.hub.cache_clear()
    assert cli("push", str(tree), "--repo", REPO, "--as", kind)[0] == 3


def test_a_dry_run_works_where_the_client_is_told_to_stay_offline(
    hub: Hub, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    NEW_SESSIONS()
    code, text = cli("push", str(tree), "--repo", REPO, "--dry-run")
    assert code == 0, text
    assert "HF_HUB_OFFLINE is set" in text


@pytest.mark.parametrize("kind", ["files", "parquet", "audiofolder"])
def test_a_dry_run_leaves_no_file_behind(hub: Hub, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = starss(tmp_path / "starss", CLIPS)
    hub.make(REPO, {"README.md": b"---\nlicense: mit\n---\nText.\n"})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.chdir(tmp_path)
    before = content(tmp_path)
    code, text = cli(
        "push", str(tree), "--repo", REPO, "--as", kind, "--dry-run", "--staging", str(tmp_path / "staging")
    )
    assert code == 0, text
    assert "Text." in text
    assert content(tmp_path) == before
    assert not (tmp_path / "staging").exists()
    assert not (tmp_path / "cache").exists()
    assert list(scratch.iterdir()) == []


def test_many_files_are_counted_by_folder(hub: Hub, tree: Path) -> None:
    for number in range(100):
        (tree / "metadata_dev" / "dev-train-sony" / f"fold3_room22_mix{number:03d}.csv").write_text(ROWS)
    push(tree, REPO)
    (tree / "more").mkdir()
    for number in range(100):
        (tree / "more" / f"{number}.csv").write_text(ROWS)
    for options in (("--dry-run",), ()):
        code, text = cli("push", str(tree), "--repo", REPO, *options)
        assert code == 0, text
        assert re.search(r"^  \+ +2,600  more/  100 files$", text, re.MULTILINE)
        assert re.search(r"^  = +[\d,]+  metadata_dev/dev-train-sony/  102 files$", text, re.MULTILINE)
        assert re.search(r"^  ~ +[\d,]+  \(top folder\)  2 files$", text, re.MULTILINE)
        assert "fold3_room22_mix001.csv" not in text.partition("The card:")[0]


# --- servers that mean ill -----------------------------------------------------------------------------


def crooked(
    monkeypatch: pytest.MonkeyPatch, place: str, change: Callable[[hub_server.Answer], hub_server.Answer]
) -> None:
    """Have the Hub answer something else at one address."""

    def wrapped(handle: Callable[..., hub_server.Answer]) -> Callable[..., hub_server.Answer]:
        return (lambda *given: change(handle(*given))) if re.search(place, handle.__name__) else handle

    routes = [(verb, pattern, wrapped(handle)) for verb, pattern, handle in hub_server.ROUTES]
    monkeypatch.setattr(hub_server, "ROUTES", routes)


def changed(**values: Any) -> Callable[[hub_server.Answer], hub_server.Answer]:
    def change(answer: hub_server.Answer) -> hub_server.Answer:
        return hub_server.as_json(json.loads(answer[2]) | values, answer[0])

    return change


HASH = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    "commit", ["/../../evil", "../../../x", "a", "", HASH[:-1], HASH + "0", HASH.upper(), f"{HASH}\n", "\x1b[2J\x1b]0;x\x07", ["a"], {"a": 1}, 7,
               None, True],
)  # fmt: skip
def test_a_commit_is_40_hexadecimal_digits_or_refused(
    hub: Hub, tmp_path: Path, commit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "deep" / "down"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    hub.make(REPO, FILES)
    crooked(monkeypatch, "^info$", changed(sha=commit))
    for arguments in (["pull", REPO], ["validate", f"hf://datasets/{REPO}"]):
        code, text = cli(*arguments)
        assert code == 3
        assert "which is not a hash of 40 hexadecimal digits" in text
        assert text.isprintable() or text.replace("\n", "").isprintable()
        assert "a bug in seldio" not in text
    assert content(tmp_path) == {}
    assert not hub.asked("GET", "/resolve/")


@pytest.mark.parametrize(
    ("address", "value"),
    some(
        itertools.product(
            ["^info$", "^tree$", "^create$", "^preupload$", "^lfs_batch$", "^commit$", "^validate_yaml$"],
            [[], [1], {}, 7, None, "text", [{"path": 1}], {"files": [1]}, {"objects": 3}, [[]]],
        ),
        3,
    ),
)
def test_an_answer_of_another_shape_is_a_clean_error(
    hub: Hub, tree: Path, address: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    crooked(monkeypatch, address, lambda answer: hub_server.as_json(value))
    code, text = cli("push", str(tree), "--repo", REPO)
    assert "a bug in seldio" not in text
    assert code in (2, 3) or (code == 0 and REPO in hub.repositories), text


@pytest.mark.parametrize("value", [[], {}, 7, None, "text", [{"path": "a.csv"}], [7], [{"type": "file", "path": 7}]])
@pytest.mark.parametrize("address", ["^info$", "^tree$"])
def test_a_pull_of_an_answer_of_another_shape_is_a_clean_error(
    hub: Hub, tmp_path: Path, address: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.make(REPO, FILES)
    crooked(monkeypatch, address, lambda answer: hub_server.as_json(value))
    code, text = cli("pull", REPO, "-o", str(tmp_path / "got"))
    assert code in (2, 3), text
    assert "a bug in seldio" not in text
    assert content(tmp_path) == {}


@pytest.mark.parametrize(
    "wrong", [{"size": -1}, {"size": "12"}, {"size": 1.5}, {"size": True}, {"oid": "../../x"}, {"oid": 7}, {"oid": None},
              {"lfs": {"oid": "../x", "size": 1, "pointerSize": 1}}, {"lfs": {"size": 1}}, {"lfs": []}],
)  # fmt: skip
def test_sizes_and_hashes_that_cannot_be_are_refused(
    hub: Hub, tmp_path: Path, wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.make(REPO, {"a.csv": b"1\n"})
    crooked(monkeypatch, "^tree$", lambda answer: hub_server.as_json([one | wrong for one in json.loads(answer[2])]))
    code, text = cli("pull", REPO, "-o", str(tmp_path / "got"))
    assert code == 3, text
    assert "a bug in seldio" not in text
    assert content(tmp_path) == {}


@pytest.mark.parametrize("header", ["ETag", "X-Repo-Commit", "X-Linked-Etag"])
@pytest.mark.parametrize("value", ['"x/../../../../evil"', "..", '"a\\b"', "/etc/evil"])
def test_headers_do_not_lead_out_of_the_folder(
    hub: Hub, tmp_path: Path, header: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client makes names of files and folders of these."""
    place = tmp_path / "a" / "b" / "c" / "d"
    place.mkdir(parents=True)
    hub.make(REPO, FILES)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(place / "cache"))
    crooked(monkeypatch, "^resolve$", lambda answer: (answer[0], answer[1] | {header: value}, answer[2]))
    for arguments in (["pull", REPO, "-o", str(place / "got")], ["info", f"hf://datasets/{REPO}"]):
        code, text = cli(*arguments)
        assert code == 3, text
        assert "a bug in seldio" not in text
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_relative_to(place)]


@pytest.mark.parametrize(
    "name",
    [".git/config", "a/.GIT/hooks/post-checkout", "c:/x.csv", "con", "a//b", "/etc/x", ".",
     ".seldio-export/x.csv", "a/.Seldio-Export/x", "a/x.part", "X.PART", "r/seldio-parts.json"],
)  # fmt: skip
def test_names_that_mean_something_here_are_refused(hub: Hub, tmp_path: Path, name: str) -> None:
    hub.make(REPO, {name: b"1\n"})
    with pytest.raises(SeldioError, match="unsafe as file names here"):
        pull(REPO, tmp_path / "got")
    assert content(tmp_path) == {}


@pytest.mark.parametrize("where", ["error", "warning"])
def test_what_a_server_says_cannot_move_the_cursor(
    hub: Hub, tree: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = "\x1b[2J\x9b2K\u202e::error::x ##vso[task.complete]"
    if where == "error":
        crooked(monkeypatch, "^commit$", lambda _: hub_server.plain(400, evil, **{"X-Error-Message": "x"}))
    else:
        crooked(
            monkeypatch,
            "^validate_yaml$",
            lambda _: hub_server.as_json({"errors": [], "warnings": [{"message": evil}]}),
        )
    code, text = cli("push", str(tree), "--repo", REPO)
    assert code == (3 if where == "error" else 0), text
    assert text.replace("\n", "").isprintable()
    assert "##vso[" not in text


@pytest.fixture
def stranger() -> Iterator[Hub]:
    """Another host, which no token is for."""
    with Hub() as other:
        yield other


def test_the_token_does_not_follow_pages_to_another_host(
    hub: Hub, stranger: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.make(REPO, FILES)
    pages = {"Link": f'<{stranger.url}/api/more>; rel="next"'}
    crooked(monkeypatch, "^tree$", lambda answer: (answer[0], answer[1] | pages, answer[2]))
    for arguments in (["pull", REPO, "-o", str(tmp_path / "got")], ["info", f"hf://datasets/{REPO}"]):
        code, text = cli(*arguments)
        assert code == 3, text
        assert "sends the rest of its list to another host" in text
    assert stranger.requests == []
    assert content(tmp_path) == {}


def test_the_record_of_a_pull_fits_its_schema(hub: Hub, tmp_path: Path) -> None:
    hub.make(REPO, FILES)
    done = CliRunner().invoke(app, ["pull", REPO, "-o", str(tmp_path / "got"), "--json"])
    record = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMAS["pull"]()).validate(record)
    assert set(record["fetched"]) >= set(FILES)


@pytest.mark.parametrize("step", ["^info$", "^tree$", "^resolve$", "^lfs_batch$", "^commit$"])
def test_the_token_does_not_follow_redirects_to_another_host(
    hub: Hub, stranger: Hub, tree: Path, tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redirect is followed, as downloads need it, but without the token."""
    hub.make(REPO, FILES)
    place = {"Location": f"{stranger.url}/elsewhere"}
    crooked(monkeypatch, step, lambda answer: (307, answer[1] | place, answer[2]))
    cli("pull", REPO, "-o", str(tmp_path / "got"))
    cli("push", str(tree), "--repo", REPO)
    assert stranger.requests
    assert stranger.authorizations == []
    assert f"Bearer {TOKEN}" in hub.authorizations


def test_the_token_is_not_used_where_an_upload_is_confirmed_elsewhere(
    hub: Hub, stranger: Hub, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(answer: hub_server.Answer) -> hub_server.Answer:
        return answer[0], answer[1], answer[2].replace(f"{hub.url}/verify".encode(), f"{stranger.url}/verify".encode())

    crooked(monkeypatch, "^lfs_batch$", elsewhere)
    cli("push", str(tree), "--repo", REPO)
    assert ("POST", "/verify") in stranger.requests
    assert stranger.authorizations == []


XET: dict[str, Callable[[str], dict[str, str]]] = {
    "header": lambda route: {"X-Xet-Refresh-Route": route},
    "link": lambda route: {"Link": f'<{route}>; rel="xet-auth"', "X-Xet-Refresh-Route": "https://huggingface.co/api"},
}


@pytest.mark.parametrize("told", XET)
def test_the_token_does_not_follow_xet_to_another_host(
    hub: Hub, stranger: Hub, tmp_path: Path, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False, raising=False)
    hub.make(REPO, FILES, large=True)
    hub.xet = stranger.xet = lambda route: XET[told](stranger.url + route)
    stranger.make(REPO, FILES, large=True)
    for arguments in (["pull", REPO, "-o", str(tmp_path / "got")], ["info", f"hf://datasets/{REPO}"]):
        code, text = cli(*arguments)
        assert code == 3, text
        assert "sends the token for its storage to another host" in text
    assert stranger.requests == []
    assert f"Bearer {TOKEN}" in hub.authorizations
    assert not (tmp_path / "got").exists()


@pytest.mark.skipif(find_spec("hf_xet") is None, reason="no Xet storage")
@pytest.mark.parametrize("told", XET)
@pytest.mark.parametrize("where", [None, "https://huggingface.co"])
def test_a_route_of_xet_at_the_hub_is_taken(
    hub: Hub, told: str, where: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client puts the Hub that it knows in the place of the main one, so that mirrors work."""
    if where and "endpoint" not in signature(client.parse_xet_file_data_from_response).parameters:
        pytest.skip("this huggingface_hub leaves the address as it is")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", False, raising=False)
    hub.make(REPO, FILES, large=True)
    hub.xet = lambda route: XET[told]((where or hub.url) + route)
    hub.fault("GET", "/xet-read-token/", 403, times=9)  # no further: there is no storage
    with pytest.raises(SeldioError, match="refuses the token"):
        pull(REPO, tmp_path / "got")
    assert hub.asked("GET", "/xet-read-token/")


@pytest.mark.parametrize(
    ("address", "ours"),
    [
        ("https://hub.example/api", True),
        ("https://hub.example:443/api", True),
        ("http://hub.example/api", False),
        ("https://hub.example:8443/api", False),
        ("https://hub.example.org/api", False),
        ("https://hub.example@other.example/api", False),
        ("https://hub.example:99999/api", False),
        ("https://[", False),
    ],
)
def test_the_host_of_the_token_however_it_is_spelled(address: str, ours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for endpoint in ("https://hub.example", "https://Hub.Example:443/"):
        monkeypatch.setenv("HF_ENDPOINT", endpoint)
        assert client._at_hub(address) is ours


@pytest.mark.parametrize("following", ["the same", "others"])
def test_a_list_of_files_that_never_ends_is_given_up(
    hub: Hub, tmp_path: Path, following: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.make(REPO, FILES)
    monkeypatch.setattr(client, "MOST_PAGES", 20)
    numbers = iter(range(10**6))

    def endless(answer: hub_server.Answer) -> hub_server.Answer:
        number = next(numbers) if following == "others" else 0
        address = f"{hub.url}/api/datasets/{REPO}/tree/main?recursive=true&cursor={number}"
        return answer[0], answer[1] | {"Link": f'<{address}>; rel="next"'}, b"[]"

    crooked(monkeypatch, "^tree$", endless)
    code, text = cli("pull", REPO, "-o", str(tmp_path / "got"))
    assert code == 3, text
    assert ("the same page twice" if following == "the same" else "the end of its list in 20 pages") in text
    assert hub.asked("GET", "/tree/") <= 22


def test_a_hub_that_is_always_busy_is_given_up(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting as asked uses up no try, and still has an end."""
    hub.make(REPO, FILES)
    monkeypatch.setattr(client, "MOST_WAITS", 20)
    hub.fault("GET", "/api/datasets", 429, times=10**6, RateLimit='"api";r=0;t=2')
    code, text = cli("pull", REPO, "-o", str(tmp_path / "got"))
    assert code == 3, text
    assert len(hub.requests) < 200


# --- pull ----------------------------------------------------------------------------------------------

FILES = {"a.csv": b"1,2\n" * 50, "deep/b.wav": bytes(range(256)) * 40, "README.md": b"# x\n"}


@pytest.mark.parametrize("what", [429, 503, "cut", "wrong"])
def test_a_pull_is_whole_in_spite_of_faults(hub: Hub, tmp_path: Path, what: int | str) -> None:
    hub.make(REPO, FILES)
    hub.fault("GET", "/resolve/.*wav", what)
    pull(REPO, tmp_path / "got")
    assert hub.faults[0].times == 0
    assert {name: data for name, data in content(tmp_path / "got").items() if name in FILES} == FILES


def test_wrong_bytes_never_get_in_place(hub: Hub, tmp_path: Path) -> None:
    hub.make(REPO, FILES)
    hub.fault("GET", "/resolve/.*a.csv", "wrong", times=100)
    with pytest.raises(SeldioError, match=r"sent bytes for a\.csv that do not match its hash"):
        pull(REPO, tmp_path / "got")
    assert not (tmp_path / "got").exists()


def test_a_pull_goes_on_where_it_stopped(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulling, "THREADS", 1)  # else what is fetched beside the one that fails is left to chance
    hub.make(REPO, FILES)
    hub.fault("GET", "/resolve/.*wav", 403, times=1)
    with pytest.raises(SeldioError):
        pull(REPO, tmp_path / "got")
    assert not (tmp_path / "got").exists()
    before = hub.asked("GET", "/resolve/.*(csv|README)")
    assert before == 2
    pull(REPO, tmp_path / "got")
    assert hub.asked("GET", "/resolve/.*(csv|README)") == before
    assert {name: data for name, data in content(tmp_path / "got").items() if name in FILES} == FILES


def test_ctrl_c_in_a_pull_says_how_to_go_on(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulling, "THREADS", 1)
    hub.make(REPO, FILES)
    arrived: list[str] = []

    def stop(name: str) -> None:
        arrived.append(name)
        if name == "a.csv":
            raise KeyboardInterrupt

    with pytest.raises(
        KeyboardInterrupt, match="stopped; 2 of 4 files were fetched and are kept: run the same command"
    ):
        pull(REPO, tmp_path / "got", tell=stop)
    assert not (tmp_path / "got").exists()
    before = hub.asked("GET", "/resolve/.*README")
    bars = Bars(io.StringIO(), Clock())
    with progress.shown_on(bars):
        pull(REPO, tmp_path / "got")
    assert hub.asked("GET", "/resolve/.*README") == before == 1
    size = sum(map(len, FILES.values())) + len(b"*.wav filter=lfs\n")
    assert any(re.match(rf"fetching files: 4, .*, {size / 1000:.1f} kB, ", line) for line in bars.summary())
    assert {name: data for name, data in content(tmp_path / "got").items() if name in FILES} == FILES


def test_into_a_folder_that_is_there(hub: Hub, tmp_path: Path) -> None:
    hub.make(REPO, FILES)
    out = tmp_path / "got"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    (out / "a.csv").write_bytes(FILES["a.csv"])
    (out / "README.md").write_text("old")
    done = pull(REPO, out)
    assert done.same == 1
    assert set(done.fetched) == {".gitattributes", "deep/b.wav", "README.md"}
    assert content(out)["README.md"] == FILES["README.md"]
    assert (out / "mine.txt").read_text() == "mine"
    assert pull(REPO, out).fetched == ()


@pytest.mark.skipif(os.name == "nt", reason="Windows lets few users make links")
@pytest.mark.parametrize(
    "place", ["got/deep", "got/deep/b.wav", "got/a.csv", ".got.seldio-pull-{}", ".got.seldio-pull-{}/deep"]
)
def test_a_pull_follows_no_links(hub: Hub, tmp_path: Path, place: str) -> None:
    hub.make(REPO, FILES)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/b.wav").write_text("mine")
    link = tmp_path / place.format(str(repository.read_head(REPO, "main").commit)[:12])
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / ("mine/b.wav" if "." in link.name[1:] and "pull" not in link.name else "mine"))
    with pytest.raises(UsageError, match=rf"{re.escape(str(link))} is a link"):
        pull(REPO, tmp_path / "got")
    assert {"b.wav": b"mine"} == content(tmp_path / "mine")


@pytest.mark.skipif(os.name == "nt", reason="Windows lets few users make links")
@pytest.mark.parametrize(("kind", "name"), [("parquet", "parquet"), ("files", "files"), ("files", "files/a.csv")])
def test_a_staging_folder_follows_no_links(tmp_path: Path, tree: Path, kind: UploadKind, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("a.csv", ROWS)
    (tmp_path / "mine").mkdir()
    (tmp_path / "staging" / name).parent.mkdir(parents=True)
    (tmp_path / "staging" / name).symlink_to(tmp_path / "mine")
    with pytest.raises(UsageError, match="is a link"):
        pushing.prepare(str(tree if kind == "parquet" else tmp_path / "a.zip"), kind, tmp_path / "staging", [].append)
    assert [] == list((tmp_path / "mine").iterdir())


def test_some_files_of_an_old_commit(hub: Hub, tmp_path: Path) -> None:
    repository = hub.make(REPO, FILES)
    old = repository.head.oid
    repository.add("main", "later", {"a.csv": hub_server.Blob(b"new\n", False)})
    done = pull(f"{REPO}@{old}", tmp_path / "got", include=["*.wav"])
    assert content(tmp_path / "got") == {"deep/b.wav": FILES["deep/b.wav"]}
    assert done.commit == old


@pytest.mark.parametrize("name", ["../up.csv", "a/../../up.csv", "x\x1b[2J.csv"])
def test_names_that_lead_out_are_refused(hub: Hub, tmp_path: Path, name: str) -> None:
    hub.make(REPO, {name: b"1\n"})
    with pytest.raises(SeldioError, match="unsafe as file names here"):
        pull(REPO, tmp_path / "got")
    assert [path.name for path in tmp_path.iterdir()] == []


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
def test_wrong_usage(hub: Hub, arguments: list[str], said: str) -> None:
    hub.make(REPO, FILES)
    code, text = cli(*arguments)
    assert code == 2
    assert said in text


# --- hf:// ---------------------------------------------------------------------------------------------

LABELS = {"metadata_dev/dev-test-sony/fold4_room23_mix001.csv": b"0,1,0,-50,30\n1,1,0,-249,30\n"}


def test_a_source_on_the_hub_is_validated_in_place(hub: Hub, tmp_path: Path) -> None:
    hub.make(REPO, LABELS)
    report = seldio.validate(f"hf://datasets/{REPO}")
    wrong = [finding for finding in report.findings if finding.code == "LAB103"]
    assert [(f.path, f.line) for f in wrong] == [(f"hf://datasets/{REPO}/{next(iter(LABELS))}", 2)]
    assert not [finding for finding in report.findings if finding.code.startswith("SAF")]
    asked = hub.asked("GET", "/resolve/")
    seldio.validate(f"hf://datasets/{REPO}/{next(iter(LABELS))}")
    assert hub.asked("GET", "/resolve/") == asked, "what is in the cache is not fetched again"


def test_a_source_on_the_hub_is_converted_and_described(hub: Hub, tmp_path: Path) -> None:
    hub.make(REPO, {"labels.csv": ROWS.encode()})
    code, text = cli(
        "convert", f"hf://datasets/{REPO}/labels.csv", "--to", "parquet", "-o", str(tmp_path / "x.parquet")
    )
    assert code == 0, text
    assert pq.read_table(tmp_path / "x.parquet").num_rows == 2
    assert "2 with frame" in cli("info", f"hf://datasets/{REPO}@main")[1]


def test_a_clip_on_the_hub_can_be_looked_at(hub: Hub, tmp_path: Path) -> None:
    clip, split = "fold4_room23_mix001", "dev-test-sony"
    files = {f"metadata_dev/{split}/{clip}.csv": ROWS.encode(), "LICENSE": b"MIT\n"}
    files |= {f"{folder}/{split}/{clip}.wav": wav(4, 9_600) for folder in ("foa_dev", "mic_dev")}
    hub.make(REPO, files)
    page = str(tmp_path / "page.html")

    code, text = cli("view", f"hf://datasets/{REPO}/metadata_dev/{split}/{clip}.csv", "-o", page)
    assert code == 0, text
    assert f"{clip}: 1 event" in text
    assert f"sound of {clip}.wav" in text
    assert hub.asked("GET", "/resolve/") == hub.asked("GET", "/resolve/.*/(metadata|foa)_dev/"), "only what is shown"
    whole = Path(page).read_bytes()

    code, text = cli("view", f"hf://datasets/{REPO}", "-o", page)
    assert code == 0, text
    assert whole == Path(page).read_bytes()


def test_labels_on_the_hub_are_a_reference(hub: Hub, tmp_path: Path) -> None:
    hub.make(REPO, {f"labels/{number}.csv": b"0,1,0,-50,30\n1,1,0,-49,30\n9,3,0,0,0\n" for number in range(3)})
    given = tmp_path / "given"
    given.mkdir()
    for number in range(3):
        (given / f"{number}.csv").write_text("0,1,0,-50,30\n1,1,0,-49,30\n9,3,0,0,0\n")
    address = f"hf://datasets/{REPO}/labels"
    for one, other in ((address, str(given)), (str(given), address), (address, address)):
        code, text = cli("score", one, "-r", other, "--json")
        assert code == 0, text


@pytest.mark.parametrize("kind", ["parquet", "webdataset", "audiofolder"])
def test_an_export_on_the_hub_is_what_it_was_made_from(kind: str, hub: Hub, tree: Path, tmp_path: Path) -> None:
    from seldio.data import export

    for name in (".env", "notes.xyz"):
        (tree / name).unlink()
    out = tmp_path / "out"
    export(tree, out, kind)
    made = {name: data for name, data in content(out).items() if not name.startswith(".")}
    hub.make(REPO, made)
    address = f"hf://datasets/{REPO}"

    found = [(f.code, f.line, f.message) for f in seldio.validate(tree).findings]
    assert found
    assert sorted(found) == sorted((f.code, f.line, f.message) for f in seldio.validate(address).findings)
    there, here = seldio.open(address), seldio.open(tree)
    assert here.clips.equals(there.clips)
    assert pa.table(here.events).equals(pa.table(there.events))
    assert "clips       3" in cli("info", address)[1]
    assert hub.asked("GET", "/resolve/") <= len(made) + 1, "what is in the cache is not fetched again"


def test_more_than_a_limit_is_not_fetched(hub: Hub, tmp_path: Path) -> None:
    from seldio.files import Limits, open_source

    hub.make(REPO, FILES)
    with pytest.raises(UsageError, match="seldio pull"):
        open_source(f"hf://datasets/{REPO}", print, Limits(total_bytes=100))
    assert not hub.asked("GET", "/resolve/")


def test_wrong_bytes_are_not_read_from_the_hub(hub: Hub) -> None:
    hub.make(REPO, LABELS)
    hub.fault("GET", "/resolve/", "wrong", times=100)
    with pytest.raises(SeldioError, match="sent bytes"):
        seldio.validate(f"hf://datasets/{REPO}")
    hub.faults.clear()
    assert seldio.validate(f"hf://datasets/{REPO}").files == 1


# --- cards ---------------------------------------------------------------------------------------------


def front(text: str) -> dict[str, Any]:
    return yaml.safe_load(text.split("---\n")[1])


def test_the_card_is_complete_and_accepted(hub: Hub, tree: Path) -> None:
    citation = "@misc{sounds, title={Sounds}}"
    text = push(tree, REPO, license="cc-by-4.0", language=["en"], title="Sounds", citation=citation).card
    values = front(text)
    assert {"language", "license", "pretty_name", "tags", "task_categories", "size_categories", "configs"} <= set(
        values
    )
    assert values["configs"][-1]["data_files"] or values["configs"]
    labels = next(config for config in values["configs"] if config["config_name"] == "labels")
    assert [row["split"] for row in labels["data_files"]] == ["train", "test"]
    assert labels["names"][:3] == ["frame", "class_id", "source"]
    assert "@misc{sounds" in text
    assert hub_server.card_errors(text) == []
    assert hub.asked("POST", "validate-yaml") == 1
    assert hf.DatasetCard(text).data.license == "cc-by-4.0"


def test_sizes_are_those_of_clips_or_questions(hub: Hub, tmp_path: Path) -> None:
    """Not those of the rows of label files, of which a clip has hundreds."""
    for number in range(3):
        rows = "".join(f"{frame},1,0,-50,30\n" for frame in range(600))
        (tmp_path / f"mix{number:03}.csv").write_text(rows)

    assert ["n<1K"] == front(push(tmp_path, REPO, format="starss22", license="mit", language=["en"]).card)[
        "size_categories"
    ]


def test_what_people_wrote_is_kept(hub: Hub, tree: Path) -> None:
    (tree / "README.md").write_text("---\nlicense: mit\nmine: [1, 2]\ntags: [own]\n---\n# Own title\n\nOwn text.\n")
    values = front(first := push(tree, REPO).card)
    assert values["license"] == "mit"
    assert values["mine"] == [1, 2]
    assert values["tags"] == ["own"]
    assert values["configs"]
    assert "# Own title\n\nOwn text.\n" in first
    (tree / "README.md").write_text(first.replace("Own text.", "New text."))
    (tree / "qa" / "train.jsonl").write_text('{"question": "Up?", "answer": "no"}\n')
    second = push(tree, REPO).card
    assert second.count(BEGIN) == second.count(END) == 1
    assert "New text." in second
    assert [row["split"] for c in front(second)["configs"] if c["config_name"] == "qa" for row in c["data_files"]] == [
        "train", "test"]  # fmt: skip


def test_the_card_does_not_tell_where_the_data_was(hub: Hub, tree: Path, tmp_path: Path) -> None:
    plan = push(tree, REPO, license="mit", dry_run=True)
    assert "files       metadata_dev/" in plan.card
    assert str(tree) not in plan.card
    assert f"{tree.name}/metadata_dev" not in plan.card

    questions = tmp_path / "private" / "qa.jsonl"
    questions.parent.mkdir()
    question = {
        "id": "q1", "audio": ["a.wav"], "task": "speech_content", "question": "What is said?",
        "answer": 'They say "hello there".', "canonical_answer": "hello there",
    }  # fmt: skip
    questions.write_text(json.dumps(question) + "\n")
    for source in (questions, questions.parent):
        card = push(source, REPO, license="mit", dry_run=True).card
        assert "  file        qa.jsonl\n" in card
        assert "private" not in card


def test_a_card_that_was_edited_on_the_hub_is_kept(hub: Hub, tree: Path) -> None:
    hub.make(REPO, {"README.md": b"---\nlicense: cc0-1.0\n---\nEdited there.\n"})
    text = push(tree, REPO).card
    assert front(text)["license"] == "cc0-1.0"
    assert "Edited there." in hub.files(REPO)["README.md"].decode()


def test_a_card_that_cannot_be_read_stops_the_push(hub: Hub, tree: Path) -> None:
    (tree / "README.md").write_text("---\nlicense: [mit\n---\ntext\n")
    code, text = cli("push", str(tree), "--repo", REPO)
    assert code == 1
    assert re.search(r"README\.md:\d+:\d+: SYN4", text)
    assert "HUB601" in text
    assert not hub.repositories


KEYS = st.text("abcdefgh_", min_size=1, max_size=8)
VALUES = st.recursive(
    st.text(max_size=20) | st.integers() | st.booleans(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6,
)  # fmt: skip


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.text("ab\n#-é ", max_size=40))
@settings(max_examples=examples(60))
def test_values_and_text_of_any_card_survive(values: dict[str, Any], body: str) -> None:
    from seldio.hub.card import Card

    found: list[Finding] = []
    again = read_card(Card(values, body).text, "README.md", found.append)
    assert again.body == body
    if not found:
        assert again.values == values


# --- Croissant and features ----------------------------------------------------------------------------


READ_CROISSANT = """
import json, sys
import mlcroissant
data = mlcroissant.Dataset(sys.argv[1], mapping={"repo": sys.argv[2]})
assert not data.metadata.ctx.issues.errors, data.metadata.ctx.issues.report()
read = {s.name: list(data.records(s.name)) for s in data.metadata.record_sets if not s.name.startswith("clips")}
names = [s.name for s in data.metadata.record_sets]
print(json.dumps([names, read], default=lambda value: value.decode() if isinstance(value, bytes) else value.tolist()))
"""


def test_croissant_is_valid_and_its_records_can_be_read(hub: Hub, tree: Path, tmp_path: Path) -> None:
    """In a process of its own: mlcroissant and what it needs warn, and leave files open."""
    if find_spec("mlcroissant") is None:
        pytest.skip("mlcroissant is not installed (group test)")
    table = pa.table({"clip": ["a", "b"], "frames": pa.array([[1, 2], [3]]), "distance": [1.5, 2.5]})
    pq.write_table(table, tree / "events-train.parquet")
    (tree / "list.json").write_text('[{"id": 7, "text": "x"}]')
    (tree / "named.csv").write_text("id,text\n8,y\n")
    push(tree, REPO, license="mit", citation="@misc{x}", force=True)  # these tables are no labels
    place = tmp_path / "croissant.json"
    place.write_bytes(hub.files(REPO)["croissant.json"])
    run = subprocess.run(
        [sys.executable, "-c", READ_CROISSANT, place, tree], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    names, records = json.loads(run.stdout)
    assert "clips-wav" in names
    assert records["events/train"][1] == {
        "events/train/clip": "b", "events/train/frames": [3], "events/train/distance": 2.5,
    }  # fmt: skip
    assert records["qa/test"] == [{"qa/test/question": "Left?", "qa/test/answer": "yes"}]
    assert records["list/train"] == [{"list/train/id": 7, "list/train/text": "x"}]
    assert records["named/train"] == [{"named/train/id": 8, "named/train/text": "y"}]
    texts = {record["labels/train/clip"]: record["labels/train/labels"] for record in records["labels/train"]}
    assert texts == {"fold3_room21_mix001.csv": ROWS, "fold3_room21_mix002.csv": "3,0,0,10,0\n"}


def test_features_of_datasets_become_those_of_a_card() -> None:
    features = {
        "audio": {"sampling_rate": 24000, "_type": "Audio"},
        "video": {"_type": "Video"},
        "class": {"names": ["bell", "knock"], "_type": "ClassLabel"},
        "events": {"feature": {"frame": {"dtype": "int32", "_type": "Value"}}, "_type": "List"},
        "times": {"feature": {"dtype": "float64", "_type": "Value"}, "_type": "List"},
    }
    media = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema(
        [("audio", media), ("video", media), ("class", pa.int64()), ("events", pa.list_(pa.struct([("frame", pa.int32())]))),
         ("times", pa.list_(pa.float64())), ("plain", pa.float32())],
        metadata={"huggingface": json.dumps({"info": {"features": features}})},
    )  # fmt: skip
    assert features_of(schema) == [
        {"name": "audio", "dtype": {"audio": {"sampling_rate": 24000}}},
        {"name": "video", "dtype": "video"},
        {"name": "class", "dtype": {"class_label": {"names": {"0": "bell", "1": "knock"}}}},
        {"name": "events", "list": [{"name": "frame", "dtype": "int32"}]},
        {"name": "times", "list": "float64"},
        {"name": "plain", "dtype": "float32"},
    ]


LOAD = """
import io, sys
import soundfile
from datasets import load_dataset
labels = load_dataset(sys.argv[1], "labels")
print(labels["train"].num_rows, labels["test"].column_names)
clips = load_dataset(sys.argv[2])
print(type(clips["train"].features["audio"]).__name__, type(clips["train"].features["events"].feature["class"]).__name__)
media = clips["train"].with_format("arrow")[:]["audio"][0].as_py()["bytes"]
print(soundfile.read(io.BytesIO(media))[0].shape)
folder = load_dataset(sys.argv[3], streaming=True)  # else it wants torchcodec
print(list(folder), type(folder["test"].features["audio"]).__name__)
"""


@pytest.mark.parametrize(
    ("path", "labels", "name"),
    [("mmau-test-mini.json", False, "mmau-mini"), ("data/train-00000-of-00002.parquet", False, "default"),
     ("qa/test.jsonl", False, "qa"), ("a b/x.jsonl", False, "a_b-x"), ("m/x.csv", True, "labels"),
     ("labels/test-00000-of-00001.parquet", False, "labels"), ("train.csv", False, "default")],
)  # fmt: skip
def test_configurations_are_named_by_their_paths(path: str, labels: bool, name: str) -> None:
    assert _config(path, labels) == name


def test_datasets_loads_what_was_pushed(hub: Hub, tree: Path, tmp_path: Path) -> None:
    """In a process of its own: it reads its settings when it is imported."""
    root = tmp_path / "starss23"
    for split, clip in (("train", "fold3_room21_mix001"), ("test", "fold4_room23_mix001")):
        for top, suffix, data in (("metadata_dev", "csv", ROWS.encode()), ("foa_dev", "wav", wav(4, 24000))):
            (root / top / f"dev-{split}-sony").mkdir(parents=True)
            (root / top / f"dev-{split}-sony" / f"{clip}.{suffix}").write_bytes(data)
    push(tree, REPO)
    push(root, "anna/clips", kind="parquet", staging=tmp_path / "staging")
    push(root, "anna/folder", kind="audiofolder", staging=tmp_path / "staging")
    env = os.environ | {"HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    command = [sys.executable, "-c", LOAD, REPO, "anna/clips", "anna/folder"]
    run = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if "No module named 'datasets'" in run.stderr:
        pytest.skip("datasets is not installed (group test-frameworks)")
    assert run.stdout.split("\n")[:4] == [
        "3 ['frame', 'class_id', 'source', 'azimuth', 'elevation']", "Audio ClassLabel", "(24000, 4)",
        "['train', 'test'] Audio",
    ], run.stderr[-3000:]  # fmt: skip


def test_a_stored_data_set_comes_back_byte_for_byte(hub: Hub, tree: Path, tmp_path: Path) -> None:
    done = push(tree, REPO, kind="parquet", staging=tmp_path / "staging")
    assert done.plan is not None
    values = front(done.card)
    assert {info["config_name"] for info in values["dataset_info"]} == {"default", "labels"}
    assert {row["path"] for config in values["configs"] for row in config["data_files"]} >= {
        "data/train-*-of-00001.parquet"
    }
    pull(REPO, tmp_path / "got")
    staged = content(tmp_path / "staging" / "parquet")
    got = content(tmp_path / "got")
    written = {name for name in staged if not name.startswith(".")}
    assert {name: got[name] for name in written} == {name: staged[name] for name in written}
    assert push(tree, REPO, kind="parquet").commits == (), "the same bytes without the staging folder"


# --- rules ---------------------------------------------------------------------------------------------


def folder(files: Mapping[str, bytes | int], card: dict[str, Any] | None = None) -> HubFolder:
    """Files by name, with their content, or with a size only."""
    made = [
        Entry(
            name,
            name,
            data if isinstance(data, int) else len(data),
            2**40,
            None,
            partial(io.BytesIO, data if isinstance(data, bytes) else b""),
        )
        for name, data in sorted(files.items())
    ]
    return HubFolder("data", made, {"license": "mit"} if card is None else card)


def found_in(folder: HubFolder) -> list[Finding]:
    return list(findings(folder))


def parquet(**columns: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def big_group(index: bool) -> bytes:
    out = io.BytesIO()
    zeros = pa.array(np.zeros(38_000_000))
    pq.write_table(pa.table({"x": zeros}), out, use_dictionary=False, compression="zstd", row_group_size=10**9,
                   write_page_index=index, write_statistics=False)  # fmt: skip
    return out.getvalue()


def configs(*rows: tuple[str, str, str]) -> dict[str, Any]:
    names = dict.fromkeys(name for name, _, _ in rows)
    return {"license": "mit", "configs": [
        {"config_name": name, "data_files": [{"split": s, "path": p} for n, s, p in rows if n == name]} for name in names
    ]}  # fmt: skip


SECRET = b"a: 1\ntoken: hf_" + b"x" * 34 + b"\n"
KEYED = parquet(note=["fine", "AKIA" + "Q" * 16])
#: For each rule what it finds something in, and what it does not.
CASES: dict[str, tuple[Callable[[], HubFolder], Callable[[], HubFolder]]] = {
    "HUB101": (lambda: folder({f"a/{n}.wav": 1 for n in range(10_001)}), lambda: folder({f"{n % 2}/{n}.wav": 1 for n in range(10_001)})),
    "HUB102": (lambda: folder({f"{n % 99}/{n}.wav": 1 for n in range(100_001)}), lambda: folder({f"{n % 99}/{n}.wav": 1 for n in range(100_000)})),
    "HUB103": (lambda: folder({"a.wav": 500 * 10**9 + 1}), lambda: folder({"a.wav": 100 * 10**9})),
    "HUB104": (lambda: folder({"a.wav": 200 * 10**9 + 1}), lambda: folder({"a.wav": 200 * 10**9})),
    "HUB201": (lambda: folder({"a.parquet": b"PAR1"}), lambda: folder({"a.parquet": parquet(x=[1])})),
    "HUB202": (lambda: folder({"a.parquet": parquet(**{f"c{n}": [1] for n in range(1001)})}), lambda: folder({"a.parquet": parquet(**{f"c{n}": [1] for n in range(1000)})})),
    "HUB203": (lambda: folder({"a.parquet": parquet(**{"c" * 501: [1]})}), lambda: folder({"a.parquet": parquet(**{"c" * 500: [1]})})),
    "HUB204": (lambda: folder({"a.parquet": big_group(False)}), lambda: folder({"a.parquet": big_group(True)})),
    "HUB205": (
        lambda: folder({"d/a.parquet": parquet(x=[1]), "d/b.parquet": parquet(x=[1.5])}, configs(("c", "train", "d/*.parquet"))),
        lambda: folder({"d/a.parquet": parquet(x=[1]), "d/b.parquet": parquet(x=[2])}, configs(("c", "train", "d/*.parquet"))),
    ),
    "HUB301": (lambda: folder({"a.csv": b"x\n"}, configs(*(("c", f"s{n}", "a.csv") for n in range(31)))), lambda: folder({"a.csv": b"x\n"}, configs(*(("c", f"s{n}", "a.csv") for n in range(30))))),
    "HUB302": (lambda: folder({"a.csv": b"x\n"}, configs(*((f"c{n}", "train", "a.csv") for n in range(4001)))), lambda: folder({"a.csv": b"x\n"}, configs(("c", "train", "a.csv")))),
    "HUB303": (lambda: folder({"a.csv": b"x\n"}, configs(*((f"c{n}", "train", "a.csv") for n in range(101)))), lambda: folder({"a.csv": b"x\n"}, configs(*((f"c{n}", "train", "a.csv") for n in range(100))))),
    "HUB304": (
        lambda: folder({"a.csv": b"x\n", "b.jsonl": b"{}\n"}, configs(("c", "train", "a.csv"), ("c", "test", "b.jsonl"))),
        lambda: folder({"a.csv": b"x\n", "b.jsonl": b"{}\n"}, configs(("c", "train", "a.csv"), ("d", "test", "b.jsonl"))),
    ),
    "HUB305": (lambda: folder({"a.csv": b"x\n"}, configs(("c", "train", "b*.csv"))), lambda: folder({"a.csv": b"x\n"}, configs(("c", "train", "*.csv")))),
    "HUB401": (lambda: folder({"t/metadata.jsonl": b'{"file_name": "b.wav"}\n'}), lambda: folder({"t/metadata.jsonl": b'{"file_name": "b.wav"}\n', "t/b.wav": 1})),
    "HUB402": (lambda: folder({"m/metadata.csv": b"file_name,x\n../a.wav,1\n", "a.wav": 1}), lambda: folder({"metadata.csv": b"file_name,x\na.wav,1\n", "a.wav": 1})),
    "HUB403": (lambda: folder({"metadata.csv": b"file_name,x\na.wav,1\n", "a.wav": 1, "d/b.wav": 1}), lambda: folder({"metadata.csv": b"file_name,v_file_name\na.wav,b.mp4\n", "a.wav": 1, "b.mp4": 1})),
    "HUB501": (lambda: folder({"x.yaml": SECRET}), lambda: folder({"x.yaml": b"token: hf_short, sk-1, task-12345678901234567890\n"})),
    "HUB502": (lambda: folder({"a/.env": b"x\n", ".git/config": b"x\n", "id_rsa": b"x\n"}), lambda: folder({"environment.csv": b"x\n", "a.env.csv": b"x\n"})),
    "HUB503": (lambda: folder({"a.csv": b"x\n/home/anna/a.wav\n"}), lambda: folder({"a.csv": b"x\nhome/a.wav\n"})),
    "HUB601": (lambda: HubFolder("data", [], None), lambda: folder({})),
    "HUB602": (lambda: folder({}, {"license": "CC BY 4.0"}), lambda: folder({}, {"license": "cc-by-4.0", "task_categories": ["other"]})),
    "HUB603": (lambda: folder({}, {"pretty_name": "x"}), lambda: folder({})),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("code", [rule.code for rule in rules_for(HubFolder)])
def test_each_rule_finds_its_own_and_nothing_else(code: str) -> None:
    bad, good = CASES[code]
    findings = found_in(bad())
    assert {finding.code for finding in findings} == {code}
    for finding in findings:
        assert finding.severity is CATALOGUE[code].severity
        assert finding.hint
        assert "\n" not in finding.message + finding.hint
    assert code not in {finding.code for finding in found_in(good())}


def test_secrets_are_placed_and_masked(hub: Hub, tree: Path) -> None:
    (tree / "config.yaml").write_bytes(SECRET)
    code, text = cli("push", str(tree), "--repo", REPO)
    assert code == 1
    assert "config.yaml:2: HUB501 contains a Hugging Face token (hf_x…)" in text
    assert "x" * 10 not in text
    assert "Nothing was uploaded" in text
    assert not hub.repositories
    assert "x" * 10 not in cli("push", str(tree), "--repo", REPO, "--json")[1]


def test_secrets_in_columns_of_parquet() -> None:
    found = [finding for finding in found_in(folder({"a.parquet": KEYED})) if finding.code == "HUB501"]
    assert ["row 1 of column note contains an AWS key (AKIA…)"] == [finding.message for finding in found]


@given(
    st.integers(0, 3000), st.sampled_from([b"AKIA" + b"Z" * 16, b"-----BEGIN RSA PRIVATE KEY", b"https://u:pass@host"])
)
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_secret_is_found_wherever_it_stands(monkeypatch: pytest.MonkeyPatch, before: int, secret: bytes) -> None:
    from seldio.rules import hub_secrets

    monkeypatch.setattr(hub_secrets, "_PIECE", 100)
    monkeypatch.setattr(hub_secrets, "_OVERLAP", 80)
    text = b"line\n" * before + b" " + secret + b"\nrest\n" * 30
    found = [finding for finding in found_in(folder({"a.txt": text})) if finding.code == "HUB501"]
    assert [finding.line for finding in found] == [before + 1]


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [("*.csv", "a.csv", True), ("*.csv", "d/a.csv", False), ("**/*.csv", "a.csv", True), ("**/*.csv", "d/e/a.csv", True),
     ("d/**", "d/e/a.csv", True), ("t-0000[01]-?.x", "t-00001-a.x", True), ("a.csv", "aXcsv", False)],
)  # fmt: skip
def test_patterns_are_those_of_the_hub(pattern: str, name: str, fits: bool) -> None:
    assert (glob_pattern(pattern).fullmatch(name) is not None) == fits
