"""Every verb sees the same clips and rows in every layout of every example, or says in a sentence why it does not.

What does not hold yet stands in ``one_catalogue.txt``, a line for each verb of a layout of an example; the file only
gets shorter: a line whose verb is right fails, too.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest
from effort import some
from layouts import CASES, LAYOUTS, REPLIES, Example, label_examples, question_examples, tables

import seldio
from seldio.data import export

LISTED = Path(__file__).with_name("one_catalogue.txt")


class Asked(NamedTuple):
    """An example as it lies on the disk, and a folder for what a verb writes."""

    example: Example
    path: Path
    out: Path


class Differs(Exception):
    """What a verb sees is not what is there."""


class NoMeaning(Exception):
    """The verb is not for such files."""


def agree(seen: object, there: object, what: str) -> None:
    if seen != there:
        raise Differs(f"{what}: {seen}, not {there}"[:200])


def rows_of(table: Any) -> dict[str, int]:
    """The rows of each clip of a table of events, clips without rows included."""
    told = json.loads((table.schema.metadata or {}).get(b"seldio", b"{}"))
    return {file["clip"]: 0 for file in told.get("files", ())} | Counter(table["clip"].to_pylist())


def of_table(asked: Asked, table: Any) -> None:
    """That a table holds what the example does."""
    if asked.example.of_labels:
        agree(rows_of(table), asked.example.clips, "rows by clip")
    else:
        agree(table.num_rows, asked.example.rows, "rows")


def of_dataset(asked: Asked, data: Any) -> None:
    """That a data set does."""
    if asked.example.of_labels:
        agree({clip: len(table) for clip, table in data.events.items()}, asked.example.clips, "rows by clip")
        agree(set(data.clips["clip"].to_pylist()), set(asked.example.clips), "clips of the index")
        if asked.example.audio:
            sound = data.clips.select(["foa", "mic", "stereo", "audio"]).to_pylist()
            agree(sum(any(clip.values()) for clip in sound), len(asked.example.clips), "clips with a recording")
    else:
        agree(len(data.items), asked.example.rows, "questions")


def labels_only(verb: Callable[[Asked], None]) -> Callable[[Asked], None]:
    @functools.wraps(verb)
    def only(asked: Asked) -> None:
        if not asked.example.of_labels:
            raise NoMeaning
        verb(asked)

    return only


def info(asked: Asked) -> None:
    told = seldio.info(asked.path)
    groups = told.get("groups" if asked.example.of_labels else "items", ())
    if "LAY118" in told.get("findings", ()):
        raise seldio.UsageError("nothing was looked at")
    agree(sum(group["rows"] for group in groups), asked.example.rows, "rows")
    if asked.example.of_labels:
        agree(sum(group["clips"] for group in groups), len(asked.example.clips), "clips")


def read(asked: Asked) -> None:
    of_table(asked, seldio.read(asked.path))


def validate(asked: Asked) -> None:
    found = seldio.validate(asked.path)
    if any(one.code == "LAY118" for one in found.findings):
        raise seldio.UsageError("nothing was checked")
    if found.files < len(asked.example.held):
        raise Differs(f"{found.files} files of {len(asked.example.held)} checked")


@labels_only
def against_itself(asked: Asked) -> None:
    """Every clip of a set is one of the set."""
    wrong = {"SUB101", "SUB102", "SUB110"}
    found = seldio.validate(asked.path, reference=asked.path).findings
    agree({one.code: one.message for one in found if one.code in wrong}, {}, "clips")


def convert(asked: Asked) -> None:
    replies = asked.example.format in REPLIES
    target = "parquet" if asked.example.of_labels else "predictions-parquet" if replies else "items-parquet"
    done = seldio.convert(asked.path, asked.out / "to.parquet", target)
    of_table(asked, pq.read_table(asked.out / "to.parquet"))
    agree(done.rows[1], asked.example.rows, "rows that it says")


def open_(asked: Asked) -> None:
    of_dataset(asked, seldio.open(asked.path))


@labels_only
def windows(asked: Asked) -> None:
    some = seldio.open(asked.path).windows(audio="any" if asked.example.audio else None, seconds=5, target="rows")
    agree({some[n]["clip"] for n in range(len(some))}, set(asked.example.clips), "clips")


@labels_only
def score(asked: Asked) -> None:
    report = seldio.score(asked.path, asked.path, table="clips", average="micro")
    agree(set(report.to_pandas("clips")["clip"]), set(asked.example.clips), "clips")


def diff(asked: Asked) -> None:
    found = seldio.diff(asked.path, asked.path)
    agree(found.same, True, "the same")
    count = re.search(r"([\d,]+) (clip|question|item|repl|prediction)", found.over)
    if count is not None:
        expected = len(asked.example.clips) if count[2] == "clip" else asked.example.rows
        agree(int(count[1].replace(",", "")), expected, count[2])


@labels_only
def view(asked: Asked) -> None:
    clips = asked.example.clips
    shown = {clip: bool(seldio.view(asked.path, io.BytesIO(), clip=clip if len(clips) > 1 else None, no_media=True).events)
             for clip in clips}  # fmt: skip
    agree(shown, {clip: bool(rows) for clip, rows in clips.items()}, "clips with events")


def export_to(kind: str) -> Callable[[Asked], None]:
    def exported(asked: Asked) -> None:
        export(asked.path, asked.out / "ex", kind)
        back = {Path(name).name for name in seldio.convert(asked.out / "ex", asked.out / "back", "files").written}
        if missing := {Path(name).name for name in asked.example.held} - back:
            raise Differs(f"not given back: {sorted(missing)}")
        if asked.example.format not in REPLIES:
            try:
                data = seldio.open(asked.out / "ex")
            except seldio.SeldioError as error:
                raise Differs(f"wrote what it cannot open: {error}") from error
            of_dataset(asked, data)

    return exported


def push(asked: Asked) -> None:
    pushed = seldio.push(asked.path, "user/name", dry_run=True)
    if pushed.refused:
        raise seldio.UsageError("; ".join(one.message for one in pushed.report.findings)[:150])
    going = {Path(file.name).name for file in pushed.files}
    packed = {name for name in going if name.endswith((".zip", ".tar.gz"))}
    if not packed and (left := {Path(name).name for name in asked.example.held} - going):
        raise Differs(f"left behind: {sorted(left)}")


VERBS: dict[str, Callable[[Asked], None]] = {
    "info": info, "read": read, "validate": validate, "validate -r": against_itself, "convert": convert,
    "open": open_, "windows": windows, "score": score, "diff": diff,
    "view": view, "export parquet": export_to("parquet"), "export webdataset": export_to("webdataset"),
    "push": push,
}  # fmt: skip
QUICK_VERBS = ("info", "read", "validate -r", "convert", "open", "windows", "diff", "view", "export parquet")
#: In `make test`: the labels of every other format, and what is most unlike in the layouts where verbs differ most.
QUICK = some([(path.name, "folder") for path in sorted((CASES / "formats").iterdir())], 2)
QUICK += [("dcase2026", "tree"), ("raven", "several"), ("jams", "annotators"), ("audacity", "zip"), ("mmau", "mixed")]


def outcome(verb: str, asked: Asked) -> tuple[str, str]:
    """The verb, with how it fails, and what it says; twice nothing where it is right."""
    asked.out.mkdir(parents=True)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            VERBS[verb](asked)
    except NoMeaning:
        return "", ""
    except seldio.SeldioError as error:
        return f"{verb} refuses", " ".join(str(error).split())
    except Differs as difference:
        return f"{verb} differs", str(difference)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is no sentence
        return f"{verb} breaks", f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(asked.out, ignore_errors=True)
    return "", ""


def outcomes(example: Example, layout: str, verbs: Iterable[str], folder: Path) -> dict[str, str]:
    """What is not right in one layout: verbs, with how they fail, and what they say."""
    laid = LAYOUTS[layout](example)
    if laid is None:
        return {}
    path = laid.write(folder / "in")
    found = dict(outcome(verb, Asked(laid, path, folder / "out" / verb.replace(" ", "-"))) for verb in verbs)
    return {how: text for how, text in found.items() if how}


@functools.cache
def examples() -> dict[str, Example]:
    with tempfile.TemporaryDirectory() as folder:
        return {one.name: one for one in (*label_examples(), *question_examples(), *tables(Path(folder)))}


def listed() -> dict[tuple[str, str], set[str]]:
    """What is known not to be right, by example and layout."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for line in LISTED.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            example, layout, verbs = line.split(" | ")
            found[example, layout] |= set(verbs.split(", "))
    return found


def compared(example: str, layout: str, verbs: Collection[str], folder: Path) -> None:
    found = outcomes(examples()[example], layout, verbs, folder)
    known = {how for how in listed()[example, layout] if how.rpartition(" ")[0] in verbs}
    assert {how: text for how, text in found.items() if how not in known} == {}, "none may come"
    assert known - set(found) == set(), "these are gone: take them out of one_catalogue.txt"


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.mark.parametrize(("example", "layout"), QUICK)
def test_verbs_see_the_same(example: str, layout: str, tmp_path: Path) -> None:
    compared(example, layout, QUICK_VERBS, tmp_path)


NAMES = sorted(path.name for name in ("formats", "formats-items") for path in (CASES / name).iterdir())
NAMES += ["parquet", "items-parquet", "predictions-parquet", "jasco", "jasco-predictions", "adqa-submission", "ruenvaqa",
          "ruenvaqa-submission"]  # fmt: skip


def test_every_format_has_an_example() -> None:
    assert set(NAMES) == set(examples()) == {one.name for one in seldio.formats.index()}


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("example", NAMES)
def test_all_verbs_see_the_same(example: str, layout: str, tmp_path: Path) -> None:
    compared(example, layout, VERBS, tmp_path)
