"""Saved indices: the same datasets and windows, and nothing that has changed is taken for what it was."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import soundfile
import starss_tree as data

import seldio
from seldio.data import Windows, saved_index
from seldio.data.arrow_tables import Events
from seldio.errors import DataError, InvalidData, SeldioError, UsageError

OPTIONS: dict[str, Any] = {"seconds": 0.5, "hop": 0.3, "target": "accdoa"}
KEY = b"seldio index"
CLIP, OTHER = "fold3_room21_mix001", "fold3_room4_mix001"


def aged(root: Path, by: float = 60) -> Path:
    """The tree as if it had been there for a while: what has just changed proves nothing."""
    then = time.time() - by
    for place in (root, *root.rglob("*")):
        os.utime(place, (then, then))
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return aged(data.write(tmp_path / "starss23"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "starss23.index"


def label_file(root: Path, clip: str = CLIP) -> Path:
    return next(root.rglob(f"{clip}.csv"))


def inode(file: Path) -> tuple[int, int]:
    """What differs when the file has been made anew."""
    return file.stat().st_ino, file.stat().st_mtime_ns


def same(one: Windows, other: Windows) -> bool:
    return len(one) == len(other) and all(
        mine.keys() == its.keys() and all(np.array_equal(mine[name], its[name]) for name in mine)
        for mine, its in zip(one, other, strict=True)
    )


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The label files that were checked."""
    from seldio.data import arrow_tables

    found: list[str] = []
    vet = arrow_tables.vet

    def counting(some: Any) -> Any:
        some = list(some)
        found.extend(part.origin.clip for one in some for part in one.reading.parts)
        return vet(some)

    monkeypatch.setattr(arrow_tables, "vet", counting)
    return found


# --- the same ----------------------------------------------------------------------------------------------


def test_windows_of_an_index_are_those_of_the_folder(root: Path, file: Path) -> None:
    plain = seldio.windows(root, **OPTIONS)
    made = seldio.windows(root, index=file, **OPTIONS)
    before = inode(file)
    opened = seldio.windows(root, index=file, **OPTIONS)

    assert before == inode(file)
    assert same(plain, made)
    assert same(plain, opened)
    assert repr(plain) == repr(opened)
    assert same(plain, pickle.loads(pickle.dumps(opened)))
    assert plain.lengths() == opened.lengths()


def test_datasets_of_an_index_are_those_of_the_folder(root: Path, file: Path) -> None:
    data.write_questions(root)
    aged(root)
    plain = seldio.open(root)
    seldio.open(root, index=file)
    opened = seldio.open(root, index=file)

    assert repr(plain) == repr(opened)
    assert plain.clips == opened.clips
    assert plain.statistics() == opened.statistics()
    assert plain.events.table() == opened.events.table()
    assert list(plain.items) == list(opened.items)
    assert plain.splits.keys() == opened.splits.keys()
    assert plain.media[CLIP].foa.read().tolist() == opened.media[CLIP].foa.read().tolist()
    for chosen in ({"split": "dev-train"}, {"room": 4}, {"class_": 2}, {"clip": "*mix001"}):
        one, other = (list(some.select(**chosen).media) for some in (plain, opened))
        assert one == other
    assert ["a"] == [item.id for item in pickle.loads(pickle.dumps(opened)).select(split="dev-train").items]
    assert same(plain.windows(items=True), opened.windows(items=True))
    assert plain.clips == pickle.loads(pickle.dumps(plain)).clips


def test_labels_that_passed_are_not_checked_again(root: Path, file: Path, checks: list[str]) -> None:
    seldio.open(root, index=file)
    assert 3 == len(checks)
    checks.clear()

    events = seldio.open(root, index=file).events
    assert 9 == events.table().num_rows
    assert not checks
    assert isinstance(pickle.loads(pickle.dumps(events)), Events)


@pytest.mark.slow
def test_workers_make_the_same_index(root: Path, file: Path) -> None:
    seldio.open(root, index=file)
    other = file.with_suffix(".2")
    with seldio.running(2):
        seldio.open(root, index=other)

    assert file.read_bytes() == other.read_bytes()


def test_a_folder_that_was_moved_opens_with_its_index(root: Path, file: Path) -> None:
    windows = seldio.windows(root, index=file, **OPTIONS)
    expected, before = windows[1], inode(file)
    moved = root.rename(root.parent / "elsewhere")

    assert np.array_equal(expected["audio"], seldio.windows(moved, index=file, **OPTIONS)[1]["audio"])
    assert before == inode(file)


def test_an_index_does_not_depend_on_the_working_folder(
    root: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.chdir(root.parent)
    windows = seldio.windows(root.name, index=file.name, **OPTIONS)
    monkeypatch.chdir(root)

    assert len(windows) == len(list(windows))
    assert windows._sources[0].recordings[0].path.startswith("starss23")


# --- what has changed --------------------------------------------------------------------------------------


def test_files_that_are_added_or_removed_are_noticed(root: Path, file: Path) -> None:
    assert 3 == len(seldio.open(root, index=file).rows)

    label_file(root).unlink()
    next(root.rglob(f"{CLIP}.wav")).unlink()
    assert [OTHER, "fold4_room2_mix001"] == sorted(seldio.open(root, index=file).rows)

    (root / "foa_dev" / "new").mkdir()
    soundfile.write(root / "foa_dev" / "new" / "fold3_room9_mix009.wav", data.sound(1, 1.0), data.RATE)
    assert "fold3_room9_mix009" in seldio.open(root, index=file).rows


def test_what_is_removed_while_it_is_open_is_named(root: Path, file: Path) -> None:
    windows = seldio.windows(root, index=file, **OPTIONS)
    next(root.rglob("fold4_room2_mix001.wav")).unlink()

    with pytest.raises(SeldioError, match=r"starss23 has no file \S*fold4_room2_mix001.wav any more: open it again"):
        list(windows)


def test_folders_that_have_just_changed_prove_nothing(root: Path, file: Path) -> None:
    folder = label_file(root).parent
    now = time.time_ns() + 10**12  # however long this test takes
    os.utime(folder, ns=(now, now))
    seldio.open(root, index=file)

    label_file(root).unlink()
    os.utime(folder, ns=(now, now))  # as a clock with large steps would have it
    assert CLIP not in seldio.open(root, index=file).events


def test_a_recording_that_has_changed_is_refused(root: Path, file: Path) -> None:
    seldio.open(root, index=file)
    path = next(root.rglob(f"{CLIP}.wav"))
    soundfile.write(path, data.sound(1, 1.5), data.RATE)

    windows = seldio.windows(root, index=file, **OPTIONS)
    message = r"mix001.wav has changed: it has 1,500 frames at 1000 Hz, and had 2,000 frames at 1000 Hz"
    with pytest.raises(DataError, match=message):
        list(windows)


def test_labels_that_have_changed_are_read_and_checked_again(root: Path, file: Path, checks: list[str]) -> None:
    seldio.open(root, index=file)
    checks.clear()
    path = label_file(root)

    path.write_text("7,5,0,10,20,150\n", "utf-8")
    events = seldio.open(root, index=file).events
    assert [7] == events[CLIP]["frame"].to_pylist()
    assert 4 < events[OTHER].num_rows
    assert [CLIP] == checks

    path.write_text("7,5,0,10,200,150\n", "utf-8")
    with pytest.raises(InvalidData, match=r"mix001\.csv:1:10"):
        _ = seldio.open(root, index=file).events[CLIP]


def test_the_layout_of_a_file_that_has_changed_is_told_anew(root: Path, file: Path) -> None:
    seldio.open(root, index=file)
    for path in root.rglob("*.csv"):
        rows = [line.split(",") for line in path.read_text("utf-8").splitlines()]
        path.write_text("".join(f"{','.join(row[:5])}\n" for row in rows), "utf-8")

    events, plain = seldio.open(root, index=file).events, seldio.open(root).events
    assert plain[CLIP].drop_columns([]) == events[CLIP]
    assert plain.format(CLIP) == events.format(CLIP)


def test_labels_with_errors_are_not_those_that_passed(root: Path, file: Path) -> None:
    label_file(root).write_text("7,5,0,10,200,150\n", "utf-8")
    aged(root)
    seldio.open(root, index=file)

    dataset = seldio.open(root, index=file)
    assert 5 == dataset.events[OTHER].num_rows
    with pytest.raises(InvalidData, match=r"mix001\.csv:1:10"):
        _ = dataset.events[CLIP]
    assert 1 == seldio.open(root, index=file, force=True).events[CLIP].num_rows


def test_a_recording_that_cannot_be_read_stops_only_who_wants_to_hear_it(root: Path, file: Path) -> None:
    next(root.rglob(f"{CLIP}.wav")).write_bytes(b"no sound")
    aged(root)
    dataset = seldio.open(root, index=file)

    assert len(dataset.select(room=4).windows(**OPTIONS))
    with pytest.raises(SeldioError, match=r"mix001\.wav cannot be read as audio"):
        dataset.windows(**OPTIONS)


# --- what is not an index --------------------------------------------------------------------------------------


def test_a_copy_elsewhere_is_another_dataset(root: Path, file: Path, tmp_path: Path) -> None:
    seldio.open(root, index=file)
    copy = aged(Path(shutil.copytree(root, tmp_path / "copy")), 30)

    with pytest.raises(UsageError, match=r"is the index of \S*starss23, and \S*copy has other folders or times"):
        seldio.open(copy, index=file)


def test_another_file_is_never_overwritten(root: Path, tmp_path: Path) -> None:
    table = tmp_path / "mine.parquet"
    pq.write_table(pa.table({"a": [1]}), table)
    text = tmp_path / "mine.txt"
    text.write_text("mine", "utf-8")

    with pytest.raises(UsageError, match=r"mine\.parquet is not an index that seldio has saved, and stays as it is"):
        seldio.open(root, index=table)
    with pytest.raises(UsageError, match=r"mine\.txt cannot be read as an index .*: name another file"):
        seldio.open(root, index=text)
    assert "mine" == text.read_text("utf-8")


def test_a_damaged_index_is_named(root: Path, file: Path) -> None:
    seldio.open(root, index=file)
    whole = file.read_bytes()

    for part in (whole[: len(whole) // 2], whole[:4] + b"\0" * (len(whole) - 8) + whole[-4:], b""):
        file.write_bytes(part)
        with pytest.raises(
            UsageError, match=r"starss23\.index cannot be read as an index .*: name another file, or delete it"
        ):
            seldio.open(root, index=file)


def test_an_index_of_another_form_is_named_and_one_of_another_version_made_anew(
    root: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(saved_index, "VERSION", 0)
        seldio.open(root, index=file)
    with pytest.raises(UsageError, match=r"was saved by seldio \S* in another form: delete it"):
        seldio.open(root, index=file)

    file.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(saved_index, "_version", lambda: "0.0")
        seldio.open(root, index=file)
        before = inode(file)
        seldio.open(root, index=file)
        assert before == inode(file)
    seldio.open(root, index=file)
    assert before != inode(file)


def test_an_index_belongs_to_a_format(root: Path, file: Path) -> None:
    seldio.open(root, index=file, format="starss23")

    with pytest.raises(UsageError, match=r"was made with format='starss23': name the same"):
        seldio.open(root, index=file)


def test_what_has_no_index(root: Path, file: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "tree"), "zip", root)
    exported = tmp_path / "exported"
    seldio.export(root, exported, "webdataset")

    for path, index, message in (
        (archive, file, r"tree\.zip is a file: open it without index="),
        (exported, file, r"exported holds tables or shards"),
        (root, root / "index", r"would be one of the files of"),
        (root, tmp_path / "no" / "index", r"there is no folder for the index"),
        (tmp_path / "nothing", file, r"no such file or folder"),
        (tmp_path / "empty", file, r"empty holds no recording, video, labels or questions"),
    ):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(UsageError, match=message):
            seldio.open(path, index=index)
    (root / "mic_dev").symlink_to(root / "foa_dev")
    with pytest.raises(UsageError, match=r"mic_dev is a link to a folder"):
        seldio.open(root, index=file)
    assert not file.exists()


# --- damage ------------------------------------------------------------------------------------------------

#: What stands in the place of a value of the metadata.
ODD: tuple[Any, ...] = (None, [], {}, "", "x" * 999, -1, 2**70, 1.5, True, ["a"], {"a": "b"}, {"": 5}, {"": None}, "\0")


def mutants(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Damaged indices: other metadata, other columns, other rows, and other bytes."""
    whole = pq.read_table(pa.BufferReader(data))
    metadata = dict(whole.schema.metadata)
    about = json.loads(metadata[KEY])

    def written(table: pa.Table, told: Any = about) -> bytes:
        out = pa.BufferOutputStream()
        pq.write_table(table.replace_schema_metadata(metadata | {KEY: json.dumps(told).encode()}), out)
        return bytes(out.getvalue())

    for field in about:
        yield f"no {field}", written(whole, {name: value for name, value in about.items() if name != field})
        for odd in ODD:
            if odd != about[field]:
                yield f"{field}={odd!r:.20}", written(whole, about | {field: odd})
    for odd in (*ODD, about | {"more": 1}):
        yield f"{odd!r:.20}", written(whole, odd)
    names = whole.column_names
    for name in names:
        yield f"no column {name}", written(whole.drop_columns([name]))
        yield f"{name} twice", written(whole.append_column(name, whole[name]))
        other = next((n for n in names if n > name and whole[n].type == whole[name].type), None)
        if other is not None and whole[other] != whole[name]:
            places = {name: names.index(other), other: names.index(name)}
            order = [places.get(n, names.index(n)) for n in names]
            yield f"{name} is {other}", written(whole.select(order).rename_columns(names))
        if whole[name].null_count < len(whole):
            empty = pa.nulls(len(whole), whole[name].type)
            yield f"empty {name}", written(whole.set_column(names.index(name), whole.schema.field(name), empty))
        if pa.types.is_int64(whole[name].type) and whole[name].null_count < len(whole):
            more = pc.add(whole[name], 1)
            yield f"{name} and 1", written(whole.set_column(names.index(name), whole.schema.field(name), more))
    yield "no rows", written(whole.slice(0, 0))
    yield "rows in another order", written(whole.take([2, 0, 1]))
    yield "a row twice", written(whole.take([0, 0, 1, 2]))
    for end in range(0, len(data), len(data) // 25):
        yield f"cut at {end}", data[:end]
    rng = np.random.default_rng(7)
    for at in rng.integers(0, len(data), 60).tolist():
        changed = bytearray(data)
        changed[at] ^= int(rng.integers(1, 256))
        yield f"byte {at}", bytes(changed)


def test_damaged_indices_end_in_a_sentence(root: Path, file: Path, tmp_path: Path) -> None:
    plain = seldio.windows(root, index=file, **OPTIONS)
    count = refused = 0
    for what, bytes_ in mutants(file.read_bytes()):
        damaged = tmp_path / "damaged.index"
        damaged.write_bytes(bytes_)
        count += 1
        try:
            found = seldio.windows(root, index=damaged, **OPTIONS)
        except UsageError as error:
            refused += "\n" not in error.text
        else:
            assert same(plain, found), what
    assert count > 300
    assert refused > count * 0.9


def test_an_index_of_any_rows_is_whole(root: Path, file: Path) -> None:
    """The sum does not depend on how Arrow keeps the columns: as they were made, or as Parquet gives them."""
    seldio.open(root, index=file)
    stored = pq.read_table(file)
    data = stored.schema.metadata[KEY]
    again = pa.table([pa.array(c.to_pylist(), c.type) for c in stored.columns], schema=stored.schema)
    parts = pa.concat_tables([stored.slice(0, 1), stored.slice(1)])

    assert saved_index._digest(stored, data) == saved_index._digest(again, data) == saved_index._digest(parts, data)
