"""``seldio view``: what goes into the page. How it behaves in a browser is tested in ``tests/browser``."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import test_deep as deep
from commands import invoke, json_lines, laid
from hypothesis import given, strategies
from videos import make as make_video

import seldio
from seldio.data.index import media_of
from seldio.errors import DataError, SeldioError, UsageError
from seldio.media import video_writing as copies
from seldio.media.audio import NotAudio, write_wav
from seldio.media.recording import Recording
from seldio.media.video import NotVideo, Video
from seldio.viewer import page as page_module
from seldio.viewer.page import Page, embedded, side
from seldio.vocabularies import vocabulary

CLIP, SPLIT = "fold3_room4_mix001", "dev-train-tau"
ROWS = "10,1,1,-50,30,181\n11,1,1,-51,30,181\n11,4,2,10,-20,243\n30,1,1,180,0,100\n"
RATE = 8_000


def view(source: Path, **options: Any) -> Page:
    """The page about *source*, written nowhere."""
    return seldio.view(source, io.BytesIO(), **options)


def wav(path: Path, sound: np.ndarray[Any, Any], rate: int = RATE) -> Path:
    """A recording of *sound*, shape (channels, frames), within -1 … 1."""
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = io.BytesIO()
    write_wav(stream, np.round(sound * 32767).astype(np.int16), rate)
    path.write_bytes(stream.getvalue())
    return path


def tone(azimuth: float, seconds: float = 1.0, rate: int = RATE) -> np.ndarray[Any, Any]:
    """A quiet tone from *azimuth* in FOA: W, Y, Z, X."""
    wave = 0.1 * np.sin(2 * np.pi * 440 * np.arange(int(seconds * rate)) / rate)
    turn = np.radians(azimuth)
    return np.outer([1, np.sin(turn), 0, np.cos(turn)], wave)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    labels, video = f"metadata_dev/{SPLIT}/{CLIP}.csv", f"video_dev/{SPLIT}/{CLIP}.mp4"
    root = laid(tmp_path / "starss23", {labels: ROWS, video: make_video(30)})
    for name in ("foa_dev", "mic_dev"):
        wav(root / f"{name}/{SPLIT}/{CLIP}.wav", tone(90))
    return root / labels


def record(page: bytes) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.decode(), re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def copied(page: bytes, kind: str) -> bytes:
    found = re.search(rf'<{kind} [^>]*src="data:{kind}/mp4;base64,([^"]*)"', page.decode())
    assert found
    return base64.b64decode(found[1])


def heard(data: bytes) -> np.ndarray[Any, Any]:
    """The sound of a media file, shape (channels, frames)."""
    with av.open(io.BytesIO(data)) as file:
        return np.concatenate([frame.to_ndarray() for frame in file.decode(audio=0)], axis=1)


def test_files_beside_the_labels_are_found_and_others_are_not(tmp_path: Path) -> None:
    labels = tmp_path / "a.csv"
    labels.write_text(ROWS)
    wav(tmp_path / "b.wav", tone(0))
    wav(tmp_path.parent / "unrelated/a.wav", tone(0))  # bears the name, in a folder that says nothing
    assert media_of(labels).played is None
    wav(tmp_path / "a.wav", tone(0))
    assert "audio" == media_of(labels).array
    assert media_of(labels).played is not None


def test_a_link_that_leads_out_of_the_tree_is_not_followed(tree: Path, tmp_path: Path) -> None:
    secret = wav(tmp_path / "elsewhere/x.wav", tone(0))
    for name in ("foa_dev", "mic_dev"):
        recording = tree.parents[2] / f"{name}/{SPLIT}/{CLIP}.wav"
        recording.unlink()
        recording.symlink_to(secret)
    assert media_of(tree).played is None


@pytest.mark.parametrize(
    ("name", "said"),
    [(CLIP, None), (f"pred_{CLIP}", None), (f"{CLIP}.output", None), ("mix001", None),
     ("output", "the predictions are called output, the labels "), ("fold3_room4_mix0010", "refused")],
)  # fmt: skip
def test_predictions_of_another_clip_are_named(tree: Path, tmp_path: Path, name: str, said: str | None) -> None:
    (tmp_path / f"{name}.csv").write_text(ROWS)
    options: dict[str, Any] = {"predictions": tmp_path / f"{name}.csv", "no_media": True}
    if said == "refused":
        with pytest.raises(UsageError, match=f"called {name}, the labels {CLIP}: .*clip"):
            view(tree, **options)
        options["clip"], said = CLIP, f"the predictions are called {name}, the labels {CLIP}"

    page = view(tree, **options)

    assert [one for one in page.media if "called" in one] == record(page.html)["media"][: said is not None]
    assert said is None or page.media[0].startswith(said)


def test_events_with_their_directions(tree: Path) -> None:
    found = record(view(tree, no_media=True).html)

    assert ["starss23", 0.1] == [found["sides"][0][key] for key in ("layout", "hop")]
    assert [
        {"c": "Male speech, man speaking", "n": 1, "f": 10, "k": 2, "s": 1, "a": [-50, -51], "e": [30, 30], "d": [1.81, 1.81]},
        {"c": vocabulary("starss").label(4), "n": 4, "f": 11, "k": 1, "s": 2, "a": [10], "e": [-20], "d": [2.43]},
        {"c": "Male speech, man speaking", "n": 1, "f": 30, "k": 1, "s": 1, "a": [180], "e": [0], "d": [1.0]},
    ] == found["sides"][0]["events"]  # fmt: skip
    assert 3.1 == found["seconds"]


rows_of_labels = strategies.lists(
    strategies.tuples(
        strategies.integers(0, 200), strategies.integers(0, 12), strategies.integers(0, 3),
        strategies.integers(-180, 180), strategies.integers(-90, 90), strategies.integers(1, 500),
    ),
    min_size=1, max_size=60,
)  # fmt: skip


@pytest.mark.slow
@given(rows_of_labels)
def test_no_row_is_lost(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, ...]]) -> None:
    """Every row of a file, repeated ones too, is in one event at its frame."""
    path = tmp_path_factory.getbasetemp() / "lost.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in sorted(rows)))
    found = side(str(path), "starss23").events
    back = [
        (event["f"] + i, event["n"], event["s"], event["a"][i], event["e"][i], round(event["d"][i] * 100))
        for event in found
        for i in range(event["k"])
    ]

    assert sorted(rows) == sorted(back)


def test_whole_events_and_vectors_are_drawn_as_well(tmp_path: Path) -> None:
    tracked = tmp_path / "split1_ir0_ov1_1.csv"
    tracked.write_text("sound_event_recording,start_time,end_time,ele,azi,dist\nkeyboard,1.0,1.5,10,-30,1\n")
    vectors = tmp_path / "v.csv"
    vectors.write_text("3,1,0,0.0,2.0,0.0\n4,1,0,0.0,2.0,0.0\n")

    (event,) = side(str(tracked), None).events
    assert ("keyboard", 10, 5, [-30] * 5) == (event["c"], event["f"], event["k"], event["a"])
    (event,) = side(str(vectors), "dcase2020-output").events
    assert ([90, 90], [0, 0]) == (event["a"], event["e"])


def test_what_is_no_clip_is_refused(tmp_path: Path) -> None:
    words = tmp_path / "words.csv"
    words.write_text("this,is\nno,label\nat,all\n")
    questions = tmp_path / "qa.jsonl"
    questions.write_text(json.dumps({"id": "1", "audio": ["a.wav"], "question": "?", "answer": "!"}) + "\n")
    laid(tmp_path, {"two/a.csv": ROWS, "two/b.csv": ROWS})
    seldio.write(seldio.read(tmp_path / "two"), tmp_path / "both.parquet", "parquet")

    with pytest.raises(DataError, match="no labels could be read"):
        view(words)
    with pytest.raises(UsageError, match="with questions="):
        view(questions)
    with pytest.raises(UsageError, match="holds 2 clips"):
        view(tmp_path / "both.parquet")


def test_findings_have_the_time_of_their_row(tmp_path: Path) -> None:
    path = tmp_path / f"{CLIP}.csv"
    path.write_text("10,1,1,-50,30,181\n\n25,1,1,-50,130,181\n26,1,1,-50,30,181\n27,torn\n40,1,1,-50,30,181\n")
    page = view(path, format="starss23")
    times = {(finding["code"], finding["line"]): finding["t"] for finding in record(page.html)["findings"]}

    assert 2.5 == next(t for (code, line), t in times.items() if line == 3)  # the elevation
    assert 2.6 == next(t for (code, line), t in times.items() if line == 5)  # not read: the row before it
    assert page.findings == len(record(page.html)["findings"])


def test_all_findings_are_in_the_page_with_all_their_moments(tmp_path: Path) -> None:
    """Faults do not seem to end, however many they are and whether they follow each other or not."""
    path = tmp_path / f"{CLIP}.csv"

    def faulty(wrong: Callable[[int], bool]) -> list[dict[str, Any]]:
        path.write_text("".join(f"{frame},{99 if wrong(frame) else 1},1,-50,30,181\n" for frame in range(3000)))
        return [one for one in record(view(path, format="starss23").html)["findings"] if one["code"] == "LAB102"]

    (one,) = faulty(lambda frame: frame % 2 == 0)
    assert (1500, 0.0, 3000) == (one["count"], one["t"], len(one["s"]))
    assert [(round(k * 0.1, 3), round(k * 0.1 + 0.1, 3)) for k in range(0, 3000, 2)] == [
        *zip(one["s"][::2], one["s"][1::2], strict=True)
    ]
    (one,) = faulty(lambda frame: frame > 9)
    assert (2990, 1.0, [1.0, 300.0]) == (one["count"], one["t"], one["s"])


@pytest.mark.slow
def test_labels_are_held_against_the_sound_where_that_is_asked_for(tmp_path: Path) -> None:
    scene = deep.clip(20)
    folder = deep.tree(tmp_path / "tree", [deep.planted(scene, row=lambda k, c, s, az, el, d: (k, c, s, -az, el, d))])
    found = record(view(folder, clip=deep.NAMES[0], no_media=True, deep=True).html)
    assert [("AUD301", "sound", None)] == [(each["code"], each["side"], each["t"]) for each in found["findings"]]
    assert "compared with the audio of" in found["held"]
    labels = folder / f"metadata_dev/dev-train-tau/{deep.NAMES[0]}.csv"
    labels.write_text(deep.text(scene.rows))
    assert "does not prove that they are right" in record(view(labels, no_media=True, deep=True).html)["held"]


def test_questions_of_the_clip_with_their_moments(tree: Path, tmp_path: Path) -> None:
    items = [
        {"id": "a", "audio": [f"{SPLIT}/{CLIP}.wav"], "start": 20.0, "end": 40.0, "question": "When?", "answer": "Then.",
         "answer_meta": {"time_span": [1.5, 2.0]}},
        {"id": "b", "audio": ["audio/test/foa_1.wav"], "question": "Cut?", "answer": "Yes.",
         "events": [{"class_name": "Bell", "onset": 1.0, "offset": 2.0, "azimuth": 90.0}],
         "extra": {"cut_from": {"audio": f"{CLIP}.wav", "start": 10.0, "end": 15.0}}},
        {"id": "c", "audio": ["another.wav"], "question": "No?", "answer": "No."},
    ]  # fmt: skip
    page = view(tree, questions=json_lines(tmp_path / "qa.jsonl", items), no_media=True)
    first, second = record(page.html)["questions"]

    assert 2 == page.questions
    assert (20.0, 40.0) == (first["start"], first["end"])
    assert [{"text": "the answer", "t": 21.5, "end": 22.0}] == first["moments"]
    assert [{"text": "Bell at 90°", "t": 11.0, "end": 12.0}] == second["moments"]


@given(strategies.dictionaries(strategies.text(), strategies.text()))
def test_no_text_can_end_the_element_it_is_in(texts: dict[str, str]) -> None:
    found = embedded(texts)

    assert not set("<>&\u2028\u2029") & set(found)
    assert texts == json.loads(found)


def test_nothing_in_the_page_leads_out_and_its_policy_knows_script_and_style_by_their_hashes(tree: Path) -> None:
    page = view(tree).html.decode()
    assert view(tree).html.decode() == page
    assert {"data"} == {address.partition(":")[0] for address in re.findall(r'(?:src|href)="([^"]*)"', page)}
    assert {"http://www.w3.org/2000/svg"} == set(re.findall(r"https?://[^\"' ]+", page))
    policy = html.unescape(re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0])
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)

    assert policy.startswith("default-src 'none'; ")
    for kind, text in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


@pytest.mark.parametrize(("azimuth", "louder"), [(90, 0), (-90, 1)])
def test_a_source_on_the_left_is_heard_on_the_left(tmp_path: Path, azimuth: float, louder: int) -> None:
    recording = Recording(wav(tmp_path / "a.wav", tone(azimuth)))
    copy = heard(copies.copy(copies.sound(recording, "foa"), None))
    power = (copy**2).mean(axis=1)

    assert power[louder] > 1e4 * power[1 - louder]
    assert np.abs(copy).max() == pytest.approx(0.89, abs=0.08)  # loud enough


@pytest.mark.parametrize(("frames", "rate"), [(100_000, 4_000_000), (4, 192_000), (0, 8_000)])
def test_what_cannot_be_played_is_refused(tmp_path: Path, frames: int, rate: int) -> None:
    with pytest.raises(NotAudio):
        copies.sound(Recording(wav(tmp_path / "a.wav", np.zeros((1, frames)), rate)))


def test_the_copy_of_a_video_keeps_its_clock(tree: Path) -> None:
    found = copied(view(tree).html, "video")
    with Video(io.BytesIO(found)) as video:
        assert ((192, 96), Fraction(10)) == (video.size, video.rate)
        assert float(video.end) == pytest.approx(30 * 1001 / 30000, abs=1 / 10)
    assert heard(found).shape[0] == 2


def test_a_video_that_begins_late_is_black_before() -> None:
    late = make_video(15, Fraction(15), stamps=range(15, 30))
    with Video(io.BytesIO(late)) as video:
        copy = copies.copy(None, video)
    with Video(io.BytesIO(copy)) as video:
        pictures = video.pictures(range(20))

    assert pictures[4].max() < 30
    assert pictures[14].max() > 200


def test_media_that_cannot_be_read_are_told_of_or_refused_if_named(tree: Path) -> None:
    recording = tree.parents[2] / f"foa_dev/{SPLIT}/{CLIP}.wav"
    video = tree.parents[2] / f"video_dev/{SPLIT}/{CLIP}.mp4"
    recording.write_text("no sound")
    video.write_text("no video")

    assert {"no sound", "no video"} == {line.partition(":")[0] for line in view(tree).media}
    with pytest.raises(NotAudio, match="cannot be read as sound"):
        view(tree, audio=recording)
    with pytest.raises(NotVideo, match="cannot be read as video"):
        view(tree, video=video)


def test_limits(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "MOST_BYTES", 100)
    with pytest.raises(SeldioError, match="link_media=True"):
        view(tree)
    monkeypatch.setattr(copies, "LONGEST", 0.5)
    with pytest.raises(SeldioError, match="minutes; a page holds up to"):
        view(tree)


def test_linked_files_are_named_from_the_page(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    page = seldio.view(tree, tmp_path / "pages/clip.html", link_media=True).html.decode()

    assert f'src="./../starss23/foa_dev/{SPLIT}/{CLIP}.wav"' in page
    assert f'src="./../starss23/video_dev/{SPLIT}/{CLIP}.mp4"' in page
    assert "media-src data: file: &#x27;self&#x27;" in page


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--link-media", "--no-media"], 2, "cannot be used together"),
        (["--audio", "absent.wav"], 2, "no such file: absent.wav"),
        (["--questions", "absent.jsonl"], 2, "no such file or folder: absent.jsonl"),
        (["-o", "absent/page.html"], 2, "its folder does not exist"),
    ],
)
def test_usage(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], code: int, told: str
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    done = invoke("view", tree, *options)

    assert code == done.exit_code
    assert told in done.stderr


def test_what_cannot_be_held_against_labels_is_told(tree: Path, tmp_path: Path) -> None:
    assert "not compared with the audio" in record(view(tree, no_media=True).html)["held"]
    alone = tmp_path / "alone.csv"
    alone.write_text(ROWS)
    assert "No recording was found" in record(view(alone, format="starss23", deep=True).html)["held"]
    stereo = wav(tmp_path / "stereo.wav", tone(90)[:2])
    told = record(view(alone, audio=stereo, format="starss23", no_media=True, deep=True).html)["held"]
    assert told.startswith("The labels could not be compared with stereo.wav")


def test_a_naughty_name_is_only_text(tmp_path: Path) -> None:
    no_text = Path(str(tmp_path), b"a\xff.csv".decode("utf-8", "surrogateescape"))
    no_text.write_text(ROWS)
    assert b"a\\\\xff" in view(no_text, format="starss23").html
    path = tmp_path / "<img src=x onerror=1>&\u202e.csv"
    path.write_text(ROWS)
    page = view(path, format="starss23").html.decode()

    assert "<img" not in page
    assert '<h1 id="clip">&lt;img src=x onerror=1&gt;&amp;\\u202e</h1>' in page
