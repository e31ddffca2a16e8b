"""Tables of words beside labels: passed over where they are lists, an error where they may be damaged labels."""

from __future__ import annotations

from pathlib import Path

import pytest

import seldio

HEADED = "frame,class,source,azimuth,distance,onscreen\n" + "".join(f"{n},1,0,{n - 20},150,0\n" for n in range(40))
PLAIN = "".join(f"{n},1,0,{n - 50},10,{150 + n}\n" for n in range(60))


def laid(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


@pytest.mark.parametrize("labels", [HEADED, PLAIN], ids=["headed", "plain"])
def test_a_list_is_passed_over_by_every_verb(labels: str, tmp_path: Path) -> None:
    folder = laid(tmp_path, mix001=labels, mix002=labels, rooms="clip,room\nmix001,kitchen\nmix002,hall\n")
    assert [one.code for one in seldio.validate(folder) if one.path.endswith("rooms.csv")] == ["SYN901"]
    assert set(seldio.open(folder).events) == {"mix001", "mix002"}
    done = seldio.convert(folder, folder / "out.parquet", "parquet")
    assert done.rows[1] == 2 * (len(labels.splitlines()) - labels.startswith("frame"))


def test_a_list_that_is_no_text_is_an_error_for_every_verb(tmp_path: Path) -> None:
    folder = laid(tmp_path, mix001=PLAIN, mix002=PLAIN)
    (folder / "rooms.csv").write_bytes("clip,room\nmix001,küche\n".encode("latin-1"))
    assert [one.code for one in seldio.validate(folder) if one.severity.value == "error"] == ["SYN101"]
    with pytest.raises(seldio.SeldioError, match=r"rooms\.csv"):
        list(seldio.open(folder).events.items())


@pytest.mark.parametrize("labels", [HEADED, PLAIN], ids=["headed", "plain"])
def test_words_in_a_file_that_is_called_like_labels_are_an_error(labels: str, tmp_path: Path) -> None:
    folder = laid(tmp_path, mix001=labels, mix003=labels, mix002="one,two,three\nno,data,here\n")
    assert [one.code for one in seldio.validate(folder) if one.severity.value == "error"] == ["SYN901"]
    with pytest.raises(seldio.SeldioError, match=r"mix002\.csv"):
        list(seldio.open(folder).events.items())


def test_a_header_of_labels_is_an_error_whatever_the_file_is_called(tmp_path: Path) -> None:
    folder = laid(tmp_path, street=PLAIN, park="time,label,where\none,dog,left\ntwo,cat,right\n")
    assert [one.code for one in seldio.validate(folder) if one.severity.value == "error"] == ["SYN901"]
    with pytest.raises(seldio.SeldioError, match=r"park\.csv"):
        seldio.convert(folder, tmp_path / "out.parquet", "parquet")
