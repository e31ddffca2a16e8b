"""Clips cut out of recordings: sample by sample where they should be, whole, alike on every run."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from seldio.conversion.clip_audio import cut
from seldio.errors import SeldioError, UsageError
from seldio.media.audio import Decoder, NotAudio, margin, probe, resample
from seldio.schema.qa import Item

PATH = "foa_dev/dev-train-sony/fold3_room21_mix001.wav"
Sound = np.ndarray[Any, Any]
linked = pytest.mark.skipif(sys.platform == "win32", reason="Windows needs a right of its own to make links")


def item(start: float | None = 0.0, end: float | None = 1.0, name: str | None = "foa_a", **more: Any) -> Item:
    extra = {"question_class": "detect"} | ({"audio_id": name} if name is not None else {})
    fields: dict[str, Any] = {"id": "qa_1", "audio": [PATH], "split": "test", "question": "?"}
    return Item(**(fields | {"start": start, "end": end, "extra": extra} | more))


def record(root: Path, sound: Sound, rate: int = 24_000, path: str = PATH, subtype: str = "PCM_16") -> Path:
    """Write *sound*, shape (channels, frames)."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(file, sound.T, rate, subtype=subtype)
    return file


def tones(rate: int, seconds: float, start: float = 0.0) -> Sound:
    """Four channels, each with tones of its own: at most 7 kHz, the amplitude under 1."""
    t = start + np.arange(round(seconds * rate)) / rate
    pitches = ((110, 3_000), (440, 5_000), (1_000, 6_500), (2_000, 7_000))
    return np.stack([0.4 * np.sin(2 * np.pi * a * t + 0.3) + 0.4 * np.sin(2 * np.pi * b * t) for a, b in pitches])


def decibel(error: Sound, ideal: Sound) -> float:
    return float(20 * np.log10(np.sqrt((error**2).mean()) / np.sqrt((ideal**2).mean())))


def clip(out: Path, name: str = "foa_a") -> tuple[Sound, int]:
    sound, rate = soundfile.read(out / "audio" / "test" / f"{name}.wav", always_2d=True)
    return sound.T, rate


@pytest.mark.parametrize("rate", [24_000, 44_100])
def test_clips_are_the_recording_at_another_rate(rate: int, tmp_path: Path) -> None:
    record(tmp_path, tones(rate, 4.0), rate, subtype="FLOAT")
    list(cut([item(0.7, 3.3)], tmp_path, tmp_path / "out"))
    made, _ = clip(tmp_path / "out")
    ideal = tones(16_000, 2.6, round(0.7 * rate) / rate)
    assert made.shape == ideal.shape == (4, 41_600)
    for channel in range(4):
        assert decibel(made[channel] - ideal[channel], ideal[channel]) < -75
    assert np.abs(made - ideal).max() < 10 ** (-60 / 20)  # at the edges of the clip too


def test_what_16_khz_cannot_hold_is_gone(tmp_path: Path) -> None:
    t = np.arange(48_000) / 24_000
    record(tmp_path, np.stack([0.9 * np.sin(2 * np.pi * pitch * t) for pitch in (8_400, 9_000, 10_000, 11_500)]))
    list(cut([item(0.5, 1.5)], tmp_path, tmp_path / "out"))
    assert np.abs(clip(tmp_path / "out")[0]).max() <= 2 / 32768


def test_at_the_same_rate_not_a_bit_changes(tmp_path: Path) -> None:
    sound = np.random.default_rng(2).integers(-32768, 32768, (4, 32_000), np.int16)
    record(tmp_path, sound, 16_000)
    list(cut([item(0.5, 1.7)], tmp_path, tmp_path / "out"))
    written, _ = soundfile.read(tmp_path / "out/audio/test/foa_a.wav", dtype="int16")
    assert np.array_equal(written.T, sound[:, 8_000:27_200])


@given(
    rate=st.sampled_from([8_000, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000]),
    frames=st.integers(1, 3_000),
    target=st.sampled_from([16_000, 24_000]),
)
def test_as_many_frames_as_asked(rate: int, frames: int, target: int) -> None:
    side = margin(rate, target)
    sound = np.ones((2, frames + 2 * side), np.float32)
    wanted = -(-frames * target // rate)
    made = resample(sound, rate, target, wanted)
    assert made.shape == (2, wanted)
    np.testing.assert_allclose(made, 1, atol=1e-3)


def test_items_point_to_their_clip_and_keep_where_it_came_from(tmp_path: Path) -> None:
    record(tmp_path, tones(24_000, 3.0))
    asked = [item(0.0, 2.0), item(0.0, 2.0, id="qa_2"), item(1.0, 3.0, "foa_b")]
    made = list(cut(asked, tmp_path, tmp_path / "out"))
    assert [one.audio for one in made] == [["audio/test/foa_a.wav"]] * 2 + [["audio/test/foa_b.wav"]]
    assert {(one.start, one.end) for one in made} == {(None, None)}
    assert made[2].extra == {
        "question_class": "detect", "audio_id": "foa_b", "cut_from": {"audio": PATH, "start": 1.0, "end": 3.0},
    }  # fmt: skip
    again = [one.model_copy(update={"audio": [PATH], "start": 0.0, "end": 2.0}) for one in made[:2]]
    assert [one.model_copy(update={"extra": asked[0].extra}) for one in again] == asked[:2]
    assert asked[0].audio == [PATH]
    files = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*"))
    assert files == ["audio", "audio/test", "audio/test/foa_a.wav", "audio/test/foa_b.wav"]
    info = soundfile.info(tmp_path / "out/audio/test/foa_a.wav")
    assert (info.samplerate, info.channels, info.frames, info.subtype) == (16_000, 4, 32_000, "PCM_16")


def test_a_recording_that_ends_before_its_clip(tmp_path: Path) -> None:
    record(tmp_path, tones(24_000, 1.5))
    said: list[str] = []
    list(cut([item(1.0, 3.0)], tmp_path, tmp_path / "out", say=said.append))
    made, _ = clip(tmp_path / "out")
    assert made.shape == (4, 8_000)
    assert len(said) == 1
    assert "audio/test/foa_a.wav: 0.500 s instead of 2.000 s" in said[0]
    assert PATH in said[0]
    assert decibel(made[0, :7_900] - tones(16_000, 0.5, 1.0)[0, :7_900], made[0]) < -60


def test_samples_over_full_scale_are_counted(tmp_path: Path) -> None:
    record(tmp_path, 1.5 * np.ones((4, 24_000)), subtype="FLOAT")
    said: list[str] = []
    list(cut([item(0.2, 0.3)], tmp_path, tmp_path / "out", say=said.append))
    assert "6,400 samples over full scale" in said[0]
    assert clip(tmp_path / "out")[0].max() == 32767 / 32768


def refused(items: Iterable[Item], root: Path, kind: type[SeldioError] = SeldioError) -> str:
    """The message, once nothing is left behind."""
    with pytest.raises(kind) as caught:
        list(cut(items, root, root / "out"))
    assert not [path for path in root.rglob("*") if "tmp" in path.name.removeprefix("tmp")]
    assert not list(root.rglob("foa_a.wav"))
    return str(caught.value)


@linked
@pytest.mark.parametrize("path", ["../outside.wav", "/etc/passwd", "a/../../outside.wav", "link.wav", "C:\\a.wav", "."])
def test_paths_do_not_lead_out(path: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    record(tmp_path, tones(24_000, 1.0), path="outside.wav")
    (tree / "link.wav").symlink_to("../outside.wav")
    refused([item(audio=[path])], tree)


@pytest.mark.parametrize(
    ("channels", "path", "says"),
    [(2, PATH, "2 channels"), (1, PATH, "1 channel,"), (8, PATH, "8 channels"), (4, "mic_dev/x.wav", "microphone")],
)
def test_recordings_that_are_not_foa(channels: int, path: str, says: str, tmp_path: Path) -> None:
    record(tmp_path, np.zeros((channels, 24_000)), path=path)
    text = refused([item(audio=[path])], tmp_path)
    assert says in text
    assert path in text
    assert "foa_" in text


def test_recordings_that_cannot_be_read(tmp_path: Path) -> None:
    file = record(tmp_path, tones(24_000, 1.0))
    whole = file.read_bytes()
    for data in (b"", b"frame,class\n", whole[:40], b"\x89PNG\r\n\x1a\n" + bytes(100)):
        file.write_bytes(data)
        text = refused([item()], tmp_path)
        assert PATH in text
        assert "download it again" in text
    file.write_bytes(whole[:24] + (2_147_483_647).to_bytes(4, "little") + whole[28:])
    assert "2,147,483,647 Hz" in refused([item()], tmp_path)
    record(tmp_path, np.full((4, 24_000), np.nan), subtype="FLOAT")
    assert "not numbers" in refused([item()], tmp_path)
    record(tmp_path, tones(24_000, 1.0))
    assert "ends at 1.000 s, before a clip that begins at 2 s" in refused([item(2.0, 3.0)], tmp_path)


def test_a_flac_that_breaks_off(tmp_path: Path) -> None:
    noise = np.random.default_rng(4).uniform(-0.5, 0.5, (4, 96_000))
    file = record(tmp_path, noise, path="foa_dev/x.flac")
    file.write_bytes(file.read_bytes()[:200_000])
    text = refused([item(2.0, 4.0, audio=["foa_dev/x.flac"])], tmp_path)
    assert "x.flac" in text
    assert "download it again" in text


UNCUTTABLE = {
    "no times": item(None, None),
    "no length": item(1.0, 1.0),
    "reversed": item(2.0, 1.0),
    "no recording": item(audio=[]),
    "two recordings": item(audio=[PATH, PATH]),
    "no name": item(name=None),
    "an empty name": item(name=""),
    "a name that climbs": item(name="../a"),
    "a name with a folder": item(name="a/b"),
    "a device": item(name="con"),
    "a split that climbs": item(split="../test"),
    "a hidden split": item(split=".test"),
}


@pytest.mark.parametrize("what", UNCUTTABLE)
def test_items_whose_audio_cannot_be_cut(what: str, tmp_path: Path) -> None:
    record(tmp_path, tones(24_000, 1.0))
    assert "qa_1" in refused([UNCUTTABLE[what]], tmp_path, UsageError)


def test_a_recording_is_not_written_over(tmp_path: Path) -> None:
    file = record(tmp_path, tones(24_000, 1.0), path="audio/test/foa_a.wav")
    before = file.read_bytes()
    with pytest.raises(UsageError, match="is the source recording itself"):
        list(cut([item(audio=["audio/test/foa_a.wav"])], tmp_path, tmp_path))
    assert file.read_bytes() == before
    with pytest.raises(UsageError, match=r"two clips are named audio/test/foa_b\.wav"):
        list(cut([item(n, n + 0.5, "foa_b", audio=["audio/test/foa_a.wav"]) for n in (0.0, 0.5)], tmp_path, tmp_path))


def test_only_the_part_that_is_needed_is_read(tmp_path: Path) -> None:
    class Counting(io.BytesIO):
        total = 0

        def readinto(self, buffer: Any) -> int:
            count = super().readinto(buffer)
            self.total += count
            return count

    file = record(tmp_path, tones(24_000, 10.0))
    stream = Counting(file.read_bytes())
    decoder = Decoder(stream, probe(stream), threading.RLock())
    part = np.empty((4, 2_400), np.float32)
    decoder.fill(120_000, part)
    np.testing.assert_allclose(part, tones(24_000, 0.1, 5.0), atol=1 / 32768)
    assert stream.total < 100_000 < len(stream.getvalue())
    with pytest.raises(NotAudio):
        decoder.fill(300_000, part)
    with pytest.raises(NotAudio):
        probe(io.BytesIO(b"text"))
