"""Pictures of label frames are those of a full decode, whatever the container; bad videos end in findings."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import soundfile
from commands import laid
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from videos import NTSC, bars, begun_at, make, number, recording

import seldio
from seldio import clock, validate
from seldio.catalogues.trees import read_tree
from seldio.errors import DataError, UsageError
from seldio.files import open_source
from seldio.findings import Finding
from seldio.media import video as videos
from seldio.media.video import NotVideo, Video
from seldio.rules.collection import Collection
from seldio.rules.video import check_videos

QUICK = {"preset": "ultrafast"}
DROPPED = [at for at in range(66) if at % 11 != 5]
VARIABLE = [at * 3000 + at * 37 % 1500 for at in range(60)]
#: Every kind of file, with the options that make it.
KINDS: dict[str, dict[str, Any]] = {
    "mp4": {},
    "mp4 without B pictures": {"between": 0},
    "mp4 in parts": {"muxing": {"movflags": "frag_keyframe+empty_moov"}},
    "mov": {"container": "mov"},
    "mkv": {"container": "matroska"},
    "hevc": {"codec": "libx265", "x265-params": "log-level=none"},
    "mpeg4": {"codec": "mpeg4"},
    "vp9": {"codec": "libvpx-vp9", "container": "webm", "deadline": "realtime", "cpu-used": "8"},
    "open groups": {"x264-params": "open-gop=1", "container": "matroska"},
    "starts late": {"stamps": range(15, 75)},
    "starts early": {"stamps": range(-15, 45)},
    "dropped": {"stamps": DROPPED},
    "dropped mkv": {"stamps": DROPPED, "container": "matroska"},
    "variable": {"stamps": VARIABLE, "time_base": Fraction(1, 90_000)},
    "25": {"rate": Fraction(25)},
}


@functools.cache
def made(kind: str) -> bytes:
    quick = {} if KINDS[kind].keys() & {"codec", "x264-params"} else {"preset": "veryfast"}
    return make(**KINDS[kind], **quick)


def decoded(data: bytes) -> list[int]:
    with av.open(io.BytesIO(data)) as file:
        return [number(frame.to_ndarray(format="rgb24")) for frame in file.decode(video=0)]


def shown(data: bytes, label_frames: range | list[int], **options: Any) -> list[int]:
    with Video(io.BytesIO(data)) as video:
        return [number(picture) for _, picture in video.frames_at(label_frames, **options)]


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_are_those_of_a_full_decode(kind: str) -> None:
    data = made(kind)
    whole = decoded(data)
    with Video(io.BytesIO(data)) as video:
        numbers = video.numbers(range(25))
        there = np.flatnonzero(numbers >= 0).tolist()
        wanted = [whole[at] for at in numbers[there]]

        assert video.frames == len(whole)
        assert len(there) >= 14
        assert [number(picture) for _, picture in video.frames_at(there)] == wanted
        assert [number(picture) for _, picture in video.frames_at(there[::-5], size=(96, 48))] == wanted[::-5]


@functools.cache
def long(between: int, container: str) -> tuple[bytes, list[int]]:
    data = make(300, between=between, gop=40, container=container, **QUICK)
    return data, decoded(data)


@pytest.mark.slow
@settings(max_examples=examples(12))
@given(
    wanted=st.lists(st.integers(0, 99), min_size=1, max_size=6),
    between=st.sampled_from([0, 3]),
    container=st.sampled_from(["mp4", "matroska"]),
)
def test_any_label_frames_in_any_order(wanted: list[int], between: int, container: str) -> None:
    data, whole = long(between, container)

    assert shown(data, wanted) == [whole[clock.video_frame(frame)] for frame in wanted]


@pytest.mark.slow
def test_threads_may_share_a_video() -> None:
    data, whole = long(3, "mp4")
    with Video(io.BytesIO(data), threads=1) as video, ThreadPoolExecutor(4) as pool:
        asked = [list(range(start, 100, 7)) for start in range(8)]
        found = pool.map(lambda frames: [number(p) for _, p in video.frames_at(frames)], asked)

        assert list(found) == [[whole[clock.video_frame(k)] for k in frames] for frames in asked]


def test_the_file_that_was_opened_is_read_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(made("mp4"))
    with path.open("rb") as stream, Video(stream) as of_stream, Video(path) as video:
        assert stream.seek(0) == 0  # it is the caller's, and stays open
        path.unlink()
        path.write_bytes(made("25"))
        expected = shown(made("mp4"), range(20))
        assert expected == [number(picture) for picture in video.pictures(range(20))]
        stream.close()
        assert expected == [number(picture) for picture in of_stream.pictures(range(20))]
    with pytest.raises(NotVideo, match="it has been closed"):
        video.pictures([0])


def test_a_late_start_moves_the_pictures() -> None:
    with Video(io.BytesIO(made("starts late"))) as video:
        assert float(video.start) == pytest.approx(0.5, abs=1e-3)
        assert video.numbers(range(7)).tolist() == [-1] * 5 + [1, 4]
        assert video.numbers(range(3), convention="dcase2024").tolist() == [0, 3, 6]


def test_an_early_start_is_cut_off() -> None:
    assert shown(made("starts early"), [0]) == [16]  # 15 pictures before time 0


@pytest.mark.parametrize("kind", ["dropped", "dropped mkv", "variable"])
def test_time_stamps_decide_over_numbers(kind: str) -> None:
    base = Fraction(1, 90_000) if kind == "variable" else 1 / NTSC
    stamps = [stamp * base for stamp in (VARIABLE if kind == "variable" else DROPPED)]
    frames = range(19)
    nearest = [min(range(60), key=lambda at, k=k: abs(stamps[at] - clock.centre(k))) for k in frames]

    assert shown(made(kind), frames) == nearest
    assert shown(made(kind), frames, convention="dcase2024") == [3 * frame for frame in frames]


def test_label_frames_without_a_picture() -> None:
    data = made("mp4")
    with pytest.raises(DataError, match=r"5 label frames without a picture, first 20 \(2 s\).* to 2.002 s; missing="):
        shown(data, range(25))
    assert shown(data, range(18, 25), missing="skip") == [55, 58]
    assert shown(data, range(18, 25), missing="hold") == [55, 58] + [59] * 5
    assert shown(made("starts late"), range(7), missing="hold") == [0] * 5 + [1, 4]
    with pytest.raises(UsageError, match=r"missing='nearest' .* choose error, hold or skip"):
        shown(data, range(18, 25), missing="nearest")


def test_the_rate_of_a_video_with_variable_rate_is_its_mean(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(make(30, rate=Fraction(30), stamps=[n * (1 if n < 15 else 3) for n in range(30)], **QUICK))
    with Video(path) as video:
        mean = 30 / (float(video.end) - float(video.start))
        assert float(video.mean_rate) == pytest.approx(mean) != float(video.rate)
    assert f"at {mean:.6g} fps on average (variable)" in str(seldio.info(path))


@pytest.mark.parametrize(
    ("turn", "rotation", "size"), [(90, 90, (96, 192)), (180, 180, (192, 96)), (-90, 270, (96, 192))]
)
def test_pictures_are_turned_as_in_players(turn: int, rotation: int, size: tuple[int, int], tmp_path: Path) -> None:
    path = tmp_path / "foa_dev.mp4"
    path.write_bytes(make(3, rotation=turn, **QUICK))
    with Video(path) as video:
        ((_, picture),) = video.frames_at([0])
        ((_, small),) = video.frames_at([0], size=(96, 96))
        assert (video.rotation, video.size, picture.shape[:2]) == (rotation, size, size[::-1])
    straight = np.rot90(picture, -turn // 90)
    assert 1 == number(straight) == number(np.rot90(small, -turn // 90))
    assert np.abs(straight[:, :, 0].astype(int) - bars(1)).mean() < 30
    shown = str(seldio.info(path))
    assert f"{size[0]} × {size[1]}" in shown
    assert f"rotated     by {rotation}° counter-clockwise" in shown


LISTS = {
    "ffconcat": "ffconcat version 1.0\nfile real.mp4\n",
    "hls": "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nreal.mp4\n#EXT-X-ENDLIST\n",
    "dash": '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period/></MPD>',
    "sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n",
    "page": "<!DOCTYPE html><html></html>",
}


@pytest.mark.parametrize("kind", LISTS)
def test_a_text_opens_nothing_else(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real.mp4").write_bytes(made("mp4"))
    (tmp_path / "list.mp4").write_text(LISTS[kind])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotVideo, match=r"list\.mp4 cannot be read as video: it is a text"):
        Video("list.mp4")


@pytest.mark.parametrize("kind", ["ffconcat", "hls", "sdp"])
def test_the_second_barrier_holds_alone(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were such a container let through, the files that it names would stay closed all the same."""
    named = tmp_path / "named.mp4"
    named.write_bytes(made("mp4"))
    options = {"protocol_whitelist": videos._OPTIONS["protocol_whitelist"], "safe": "0"}
    monkeypatch.setattr(videos, "_OPTIONS", options)
    with pytest.raises(NotVideo):
        Video(io.BytesIO(LISTS[kind].replace("real.mp4", str(named)).encode()))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "no MP4, MOV, Matroska or WebM file"),
        (make(3, container="avi"), "no MP4, MOV, Matroska or WebM file.*converts others"),
        (recording(), "no video stream"),
        (made("mp4")[:2000], "no MP4, MOV, Matroska or WebM file, or it is damaged"),
    ],
    ids=["empty", "png", "avi", "sound", "without index"],
)
def test_what_is_no_video(data: bytes, why: str) -> None:
    with pytest.raises(NotVideo, match=why):
        Video(io.BytesIO(data))


@pytest.mark.skipif(sys.platform != "linux", reason="needs pipes")
def test_pipes_devices_and_folders_do_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mp4")
    for path in (tmp_path / "pipe.mp4", tmp_path, Path("/dev/zero")):
        with pytest.raises(UsageError, match="not a file"):
            Video(path)


def test_addresses_are_names_of_files() -> None:
    for name in ("http://127.0.0.1:9/x.mp4", "concat:a.mp4|b.mp4", "-x", "absent.mp4"):
        with pytest.raises(UsageError, match="no such file"):
            Video(name)


def test_what_no_video_has_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, most, why in (
        ("MOST_PIXELS", 192 * 96 - 1, "pictures have 192 × 96 pixels, over 18,431"),
        ("MOST_FRAMES", 59, "over 59 pictures"),
        ("_MOST_TICKS", 1, "time stamps are implausible"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(videos, limit, most)
            with pytest.raises(NotVideo, match=why):
                Video(io.BytesIO(made("mp4")))


def test_windows_name_the_video_that_cannot_be_read(tmp_path: Path) -> None:
    path = clip(tmp_path, make(3, container="avi"))
    windows = seldio.windows(tmp_path, video=(36, 18))
    with pytest.raises(NotVideo, match=rf"{path.name} cannot be read as video: it is no MP4"):
        windows[0]
    path.write_bytes(make(20, stamps=[at - (at == 7) for at in range(20)], between=0, container="matroska"))
    with pytest.raises(NotVideo, match=rf"{path.name} .* not every picture has a time stamp of its own"):
        windows[0]


@settings(max_examples=examples(60))
@given(
    kind=st.sampled_from(["mp4", "mkv", "mp4 in parts"]),
    spots=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=20),
    end=st.floats(0.02, 1),
)
def test_damage_ends_in_an_error_that_says_so(kind: str, spots: list[tuple[float, int]], end: float) -> None:
    data = bytearray(made(kind))
    for place, value in spots:
        data[int(place * len(data))] = value
    stream = io.BytesIO(bytes(data[: int(end * len(data))]))
    with contextlib.suppress(NotVideo), Video(stream) as video:  # nothing else comes out
        for _, picture in video.frames_at(range(0, 20, 4), size=(36, 18), missing="skip"):
            assert picture.shape == (18, 36, 3)


@functools.cache
def panorama(frames: int = 30, rate: Fraction = NTSC, first: int = 0) -> bytes:
    return make(frames, rate, stamps=range(first, first + frames), **QUICK)  # scaled down, which is no fault


def clip(
    root: Path, video: bytes | None, seconds: float = 1.0, last: int = 9, name: str = "fold3_room4_mix001"
) -> Path:
    """A clip of a STARSS23 tree; returns the place of its video."""
    homes = {top: root / f"{top}_dev" / "dev-train-tau" for top in ("foa", "mic", "video", "metadata")}
    for home in homes.values():
        home.mkdir(parents=True, exist_ok=True)
    sound = np.random.default_rng(len(name)).normal(0, 0.1, (int(seconds * 24_000), 4))
    for top in ("foa", "mic"):
        soundfile.write(homes[top] / f"{name}.wav", sound, 24_000, subtype="PCM_16")
    rows = "".join(f"{frame},1,0,10,0,200\n" for frame in range(last + 1))
    (homes["metadata"] / f"{name}.csv").write_text(rows)
    if video is not None:
        (homes["video"] / f"{name}.mp4").write_bytes(video)
    return homes["video"] / f"{name}.mp4"


def about(path: Path, code: str = "VID") -> list[Finding]:
    return [finding for finding in validate(path).findings if finding.code.startswith(code)]


def cut_off(folder: Path) -> bytes:
    data = make(30, between=0, muxing={"movflags": "faststart"}, into=folder / "x.mp4", **QUICK)
    (folder / "x.mp4").unlink()
    return data[: len(data) * 2 // 3]


BAD: dict[str, tuple[Callable[[Path], bytes], dict[str, Any], str]] = {
    "VID107 of missing frames": (
        lambda _: make(30, stamps=[at + (at >= 12) * 2 for at in range(30)], **QUICK),
        {},
        r"video frame 12 is shown at 0.467 s, but at 0.400 s according to its number and the frame rate \(frames are",
    ),
    "VID101": (lambda _: b"ffconcat version 1.0\nfile other.mp4\n", {}, "cannot be read as video: it is a text"),
    "VID101 cut off": (cut_off, {}, r"ends after \d+ of 30 frames"),
    "VID103": (lambda _: make(30, size=(192, 108), **QUICK), {}, "has frames of 192×108, not 1920×960"),
    "VID103 rate": (lambda _: panorama(25, Fraction(25)), {}, "has a frame rate of 25 fps, not 29.97"),
    "VID105": (
        lambda _: panorama(),
        {"seconds": 1.4},
        r"ends at 1.001 s, its recording at 1.400 s: the video is 0.399 s shorter",
    ),
    "VID107": (
        lambda _: panorama(first=5),
        {"seconds": 1.1},
        r"video frame 0 is shown at 0.16[67] s, .*it starts at 0.16",
    ),
}


@pytest.mark.parametrize("code", BAD)
def test_each_rule_finds_what_it_is_for(code: str, tmp_path: Path) -> None:
    build, options, message = BAD[code]
    path = clip(tmp_path, build(tmp_path), **options)
    found = about(tmp_path)

    (mine,) = (finding for finding in found if finding.code == code[:6])
    assert mine.path == str(path)
    assert mine.hint

    assert re.search(message, mine.message), mine.message
    assert {finding.code for finding in found} == {code[:6]}


def in_full(folder: Path) -> list[Finding]:
    found: list[Finding] = []
    with open_source(folder, found.append) as source:
        collection = Collection(source.path, source.kind, source.entries, [])
        check_videos(collection, read_tree([entry.name for entry in source], str(folder)), found.append)
    return found


def test_a_video_that_was_cut_without_encoding_is_whole(tmp_path: Path) -> None:
    """An edit list hides the pictures before the cut: they are there to decode the others."""
    whole = make(240, gop=60, sound=(8.0, 2))
    data = begun_at(whole, 4.5)
    (tmp_path / "a.mp4").write_bytes(data)

    assert in_full(tmp_path) == []
    with Video(io.BytesIO(data)) as video, Video(io.BytesIO(whole)) as original:
        assert video.frames == video.promised == 105, "of 240, 134.9 come before"
        for frame, picture in video.frames_at([0, 7, 30]):
            moment = clock.centre(frame, Fraction(1, 10)) + Fraction(9, 2)
            expected = min(range(240), key=lambda at: abs(at / NTSC - moment))
            assert abs(number(picture) - expected) <= 1
        assert original.frames == 240
    short = data[: int(0.8 * data.rindex(b"moov"))] + data[data.rindex(b"moov") - 4 :]
    (tmp_path / "a.mp4").write_bytes(short)
    assert {"VID101"} & {one.code for one in in_full(tmp_path)}, "what is cut off is still told"


@pytest.mark.parametrize("name", ["a.mp4", "a.m4a", "foa/a.mp4", "video_dev/dev-train-tau/fold3_room4_mix001.mp4"])
def test_sound_in_a_container_of_videos_is_no_broken_video(name: str, tmp_path: Path) -> None:
    path = laid(tmp_path, {name: recording(1.0, 4)}) / name
    (found,) = about(path if name.startswith("a.") else tmp_path)

    if name.startswith("video_dev"):
        assert (found.code, found.severity.value) == ("VID101", "error")
    else:
        assert (found.code, found.severity.value) == ("VID101", "info")
    assert "only sound (AAC, 4 channels at 24,000 Hz" in found.message
