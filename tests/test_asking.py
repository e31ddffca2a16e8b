"""Labels to questions at scale: shards, workers, what is chosen, and the report of it."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import soundfile
from commands import invoke, laid, records_of
from hypothesis import given
from hypothesis import strategies as st

import seldio
from seldio import formats, synth, tasks
from seldio.conversion import questions
from seldio.conversion.dispatch import convert_any
from seldio.conversion.questions import QuestionOptions, encoded
from seldio.errors import LossError, SeldioError, UsageError
from seldio.formats import ItemFormat, get
from seldio.schema.events import ClipFile
from seldio.schema.qa import Item
from seldio.tasks import SO_BENCH
from seldio.tasks.mix import targets
from seldio.tasks.scene import Lot
from seldio.tasks.task import digest

STARSS23 = get("starss23")


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set") / "metadata_dev"
    for number in range(10):
        name = f"{('dev-train', 'dev-test')[number % 2]}/mix{(7 * number) % 10:03}.csv"
        table = synth.labels(f"m{number}", synth.scene(number, 30.0, 7))
        laid(folder, {name: STARSS23.write(table, ClipFile(f"m{number}", name))})
    return folder


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "PART", 9_000)


def converted(labels: Path, to: str = "so-bench", **options: object) -> bytes:
    out = io.BytesIO()
    convert_any(labels, out, to, None, (), {}, QuestionOptions(**{"seed": 7, **options}))  # type: ignore[arg-type]
    return out.getvalue()


def plainly(labels: Path, to: str = "so-bench", **options: object) -> bytes:
    """The same without shards: all labels in one table, all items in one list, one call of the writer."""
    found = tasks.generate(seldio.read(labels), seed=7, **options)  # type: ignore[arg-type]
    target = formats.get(to, ItemFormat)
    return target.write(found.items)


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize(
    ("to", "options"),
    [("items", {"per_task": 4}), ("so-dataset-qa", {"balance": True})],
)
def test_shards_write_what_one_table_would(labels: Path, to: str, options: dict[str, object]) -> None:
    whole = plainly(labels, to, **options)
    assert converted(labels, to, **options) == whole
    assert len(whole) > 1000


def test_items_keep_their_clip_in_a_format_without_a_field_for_it(labels: Path, tmp_path: Path) -> None:
    """A question about seconds 20 to 40 of a recording would otherwise become one about its first 20."""
    items, through, back = (tmp_path / name for name in ("items.jsonl", "through.jsonl", "back.jsonl"))
    items.write_bytes(converted(labels, "items", window=10.0))
    with pytest.raises(LossError, match="events"):
        convert_any(items, through, "so-bench", None, (), {}, QuestionOptions())
    convert_any(items, through, "so-bench", None, ("events",), {}, QuestionOptions())
    assert through.read_bytes() == converted(labels, "so-bench", window=10.0)
    convert_any(through, back, "items", None, (), {}, QuestionOptions())
    one, other = (records_of(path) for path in (items, back))
    assert [(each["start"], each["end"]) for each in one] == [(each["start"], each["end"]) for each in other]


def test_items_made_unchecked_are_valid(labels: Path) -> None:
    """Items skip validation for speed; all of them would pass, and be the same."""
    items = tasks.generate(seldio.read(labels), seed=1).items
    assert len({item.task for item in items}) > 12
    for item in items:
        assert Item.model_validate(item.model_dump()) == item
    assert converted(labels, "items-parquet", per_task=4) == plainly(labels, "items-parquet", per_task=4)
    for name in ("so-bench", "items", "so-dataset-qa"):
        target = formats.get(name, ItemFormat)
        assert target.write(items).decode() == "".join(f"{text}\n" for text in encoded(items, target))  # type: ignore[arg-type]


def reference(items: list[tuple[Item, Lot]], seed: int, wanted: dict[str, int]) -> set[str]:
    """Ids taken in turn over the answers of each task, by plain Python."""
    kept: set[str] = set()
    for task, number in wanted.items():
        seen: Counter[object] = Counter()
        order = []
        for chance, item, group in sorted((digest(seed, i.id), i, lot.group) for i, lot in items if i.task == task):
            order.append((seen[group], chance, item.id))
            seen[group] += 1
        kept.update(name for _, _, name in sorted(order)[:number])
    return kept


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize("options", [{"per_task": 5}, {"total": 77}, {"total": 77, "per_task": 9}])
def test_the_choice_is_that_of_plain_python(labels: Path, options: dict[str, object]) -> None:
    items = list(tasks.stream(seldio.read(labels), QuestionOptions(seed=5), skipped=Counter()))
    wanted = targets(Counter(lot.task for _, lot in items), **options)  # type: ignore[arg-type]
    records = map(json.loads, converted(labels, seed=5, **options).splitlines())

    assert {record["qa_id"] for record in records} == reference(items, 5, wanted)


@given(
    st.dictionaries(st.sampled_from(sorted(SO_BENCH)), st.integers(0, 3000), max_size=15), st.integers(1, 9000),
    st.none() | st.integers(1, 500), st.booleans(),
)  # fmt: skip
def test_a_total_is_kept_in_proportion(available: dict[str, int], total: int, most: int | None, balance: bool) -> None:
    before = targets(available, per_task=most, balance=balance)
    found = targets(available, per_task=most, balance=balance, total=total)

    assert sum(found.values()) == min(total, sum(before.values()))
    assert all(0 < found[task] <= before[task] for task in found)
    free = [task for task in found if found[task] < before[task]]
    scales = [(found[task] / SO_BENCH[task], 1 / SO_BENCH[task]) for task in free]
    for task in free:  # what is not used up is in proportion, to one item
        for scale, step in scales:
            assert abs(found[task] / SO_BENCH[task] - scale) <= 1 / SO_BENCH[task] + step + 1e-9


def test_the_report_counts_every_candidate(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "qa.jsonl"
    done = invoke("convert", labels, "--to", "so-bench", "-o", out, "--per-task", "4", "--json")
    record = json.loads(done.stdout)
    made = tasks.generate(seldio.read(labels), seed=0)

    assert record["asked"] == Counter(item.task for item in made.items)
    assert record["kept"] == Counter(json.loads(line)["task_name"] for line in out.read_text("utf-8").splitlines())
    counted = {(task, reason): n for task, reasons in record["skipped"].items() for reason, n in reasons.items()}
    assert counted == made.skipped
    assert record["clips"] == 10
    assert "speech_content" in record["refused"]


def test_questions_are_of_the_split_of_their_recording(tmp_path: Path) -> None:
    rows = "".join(f"{frame},{label},0,{60 * label},0,100\n" for frame in range(100) for label in (0, 1))
    places = {"dev-test-tau/a": "test", "dev-train/b": "train", "c": "test", "fold3_room21_mix001": "train"}
    laid(tmp_path / "ref/metadata_dev", {f"{name}.csv": rows for name in places})
    command = ["convert", f"{tmp_path}/ref", "--format", "starss23", "--to", "so-bench", "-o"]
    done = invoke(*command, f"{tmp_path}/qa/")

    assert 0 == done.exit_code, done.stderr
    items = records_of(tmp_path / "qa/questions.jsonl")
    assert {(item["audio_path"].rsplit("/")[-1][:5], item["split"]) for item in items} == {
        (f"{Path(name).name}.wav"[:5], split) for name, split in places.items()
    }
    assert "nothing tells the split of 1 recording: written as test" in done.stderr
    assert 0 == invoke(*command, f"{tmp_path}/all/", "--fill", "split=validation").exit_code
    told = (tmp_path / "all/validation.jsonl").read_text().splitlines()
    assert {json.loads(line)["split"] for line in told} == {"validation"}


def with_recordings(labels: Path, root: Path) -> Path:
    for name in ("mix000", "mix003"):
        file = next(labels.rglob(f"{name}.csv"))
        for kind, suffix in (("metadata_dev", ".csv"), ("foa_dev", ".wav")):
            (root / kind / file.parent.name).mkdir(parents=True, exist_ok=True)
            place = root / kind / file.parent.name / f"{name}{suffix}"
            if suffix == ".csv":
                place.write_bytes(file.read_bytes())
            else:
                soundfile.write(place, np.zeros((30 * 8000, 4), np.float32), 8000)
    return root


def test_audio_is_cut_for_russian_questions_too(labels: Path, tmp_path: Path) -> None:
    """Their ``audio_id`` stands in the meta of MERA's records, and there the clip's place in the recording goes."""
    root, out = with_recordings(labels, tmp_path / "set"), tmp_path / "qa"
    done = invoke("convert", root, "--to", "ruenvaqa", "-o", f"{out}/", "--total", "8")
    assert 0 == done.exit_code, done.stderr
    records = json.loads((out / "questions.json").read_text("utf-8"))["data"]
    assert 8 == len(records)
    for record in records:
        assert (out / record["inputs"]["audio"]).is_file()
        assert record["meta"].keys() == {"id", "categories", "audio_id", "cut_from", "qa_id"}
        assert record["meta"]["cut_from"]["audio"].startswith("foa_dev/")
    assert 0 == invoke("validate", out).exit_code


def test_audio_that_ends_too_early_for_some(labels: Path, tmp_path: Path) -> None:
    root, out = with_recordings(labels, tmp_path / "set"), tmp_path / "qa"
    last = max((root / "foa_dev").rglob("*.wav"), key=lambda path: path.name)
    whole = last.read_bytes()
    last.write_bytes(b"no sound")
    command = ["convert", str(root / "metadata_dev"), "--to", "so-bench", "-o", f"{out}/"]

    done = invoke(*command)

    assert 3 == done.exit_code
    assert f"{last}" in done.stderr.replace("\n", "")
    assert "--no-audio makes the questions without cutting" in " ".join(done.stderr.split())
    clips = {path: path.read_bytes() for path in out.rglob("*.wav")}
    assert clips
    assert not (out / "questions.jsonl").exists()
    last.write_bytes(whole)
    assert 0 == invoke(*command).exit_code
    assert clips == {path: path.read_bytes() for path in clips}
    assert {record["audio_path"] for record in records_of(out / "questions.jsonl")} == {
        path.relative_to(out).as_posix() for path in out.rglob("*.wav")
    }


@pytest.mark.parametrize("named", ["", "metadata_dev/dev-train", "one file", "labels.zip", "labels.parquet"])
def test_recordings_are_found_from_whatever_is_named(named: str, labels: Path, tmp_path: Path) -> None:
    root, out = with_recordings(labels, tmp_path), tmp_path / "qa.jsonl"
    if named == "labels.zip":
        with zipfile.ZipFile(root / named, "w") as archive:
            for path in (root / "metadata_dev").rglob("*.csv"):
                archive.write(path, path.relative_to(root).as_posix())
    elif named == "labels.parquet":
        seldio.convert(root, root / named, "parquet")
    place = next((root / "metadata_dev").rglob("*.csv")) if named == "one file" else root / named
    done = invoke("convert", place, "--to", "so-bench", "-o", out, "--total", "10")

    assert 0 == done.exit_code, done.stderr
    assert "with the clips in audio/" in done.stderr
    assert {record["cut_from"]["audio"].partition("/")[0] for record in records_of(out)} == {"foa_dev"}
    assert all((tmp_path / record["audio_path"]).is_file() for record in records_of(out))


def test_a_set_of_ones_own_is_heard_or_says_what_does_not_fit(labels: Path, tmp_path: Path) -> None:
    for number, file in enumerate(sorted(labels.rglob("*.csv"))[:3]):
        for folder in ("labels", "audio"):
            (tmp_path / f"yard/{folder}").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"yard/labels/c{number}.csv").write_bytes(file.read_bytes())
        soundfile.write(tmp_path / f"yard/audio/c{number}.wav", np.zeros((30 * 8000, 2), np.float32), 8000)
    for place in ("yard", "yard/labels"):
        out = tmp_path / f"{place.replace('/', '-')}-items"
        seldio.convert(tmp_path / place, out / "qa.json", "items")
        assert not seldio.validate(out).findings
        assert len(list(out.rglob("*.wav"))) in (5, 6)  # silent clips are not asked about
    with pytest.raises(SeldioError, match=r"has 2 channels.*audio=False makes the questions"):
        seldio.convert(tmp_path / "yard", tmp_path / "qa.jsonl", "so-bench")
    done = seldio.convert(tmp_path / "yard", tmp_path / "qa.jsonl", "so-bench", audio=False)
    assert "a model hears the first 20 s of each" in str(done)
    paths = {record["audio_path"] for record in records_of(tmp_path / "qa.jsonl")}
    assert paths <= {f"yard/audio/c{number}.wav" for number in range(3)}
    (tmp_path / "yard/audio/c1.wav").unlink()
    with pytest.raises(SeldioError, match=r"1 recording of 3 is neither among nor next to the labels \(c1\)"):
        seldio.convert(tmp_path / "yard", tmp_path / "qa.json", "items")


def test_a_folder_with_labels_and_questions_is_neither(labels: Path, tmp_path: Path) -> None:
    """Questions written among labels are found first: the labels would be left out without a word."""
    both, out = shutil.copytree(labels, tmp_path / "both"), tmp_path / "qa.jsonl"
    (both / "test.jsonl").write_bytes(converted(labels))
    with pytest.raises(UsageError, match=r"holds questions \(so-bench\) and labels \(.*csv\): name the file"):
        convert_any(both, out, "items", None, (), {}, QuestionOptions())
    assert not out.exists()
    convert_any(
        both, both / "test.jsonl", "so-bench", None, (), {}, QuestionOptions(seed=7)
    )  # written over: clear enough
    assert (both / "test.jsonl").read_bytes() == converted(labels)
    convert_any(both, out, "so-bench", "starss23", (), {}, QuestionOptions(seed=7))  # the layout says which are meant
    assert out.read_bytes() == (both / "test.jsonl").read_bytes()
