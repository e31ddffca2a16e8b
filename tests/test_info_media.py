"""``seldio info`` on recordings and videos: channels, rate, length, peak and level by channel."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner
from videos import make

from seldio.cli import app

RATE = 24_000


def sine(seconds: float = 2.0) -> Any:
    """Four channels: peaks of 0, -6.02 and -20 dB, and one without sound; shape (frames, 4)."""
    wave = np.sin(2 * np.pi * 1000 * (np.arange(round(seconds * RATE)) + 0.5) / RATE) / np.sin(2 * np.pi * 5.5 / 24)
    return np.outer(wave, [0.999, 0.5, 0.1, 0.0])


def wav(path: Path, data: Any = None, **options: Any) -> Path:
    soundfile.write(path, sine() if data is None else data, RATE, **{"subtype": "PCM_16", **options})
    return path


def info(path: Path) -> str:
    done = CliRunner().invoke(app, ["info", str(path)])
    assert done.exit_code == 0, done.stderr
    return done.stdout


def media(path: Path) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["info", str(path), "--json"])
    assert done.exit_code == 0, done.stderr
    (found,) = json.loads(done.stdout)["media"]
    return dict(found)


def test_a_recording_has_its_numbers(tmp_path: Path) -> None:
    found = media(wav(tmp_path / "a.wav"))

    assert (found["kind"], found["type"]) == ("recording", "WAV PCM_16")
    assert (found["channels"], found["rate"], found["frames"], found["seconds"]) == (4, RATE, 48_000, 2.0)
    assert [each["peak"] for each in found["by_channel"][:3]] == pytest.approx([0, -6.02, -20], abs=0.05)
    assert [each["level"] for each in found["by_channel"][:3]] == pytest.approx([-2.97, -8.99, -22.97], abs=0.05)
    assert found["by_channel"][3] == {"peak": None, "level": None}
    assert found["peak"] == found["by_channel"][0]["peak"]
    assert "fault" not in found


def test_people_read_it_too(tmp_path: Path) -> None:
    text = info(wav(tmp_path / "a.flac", format="FLAC"))

    assert "recording  FLAC PCM_16" in text
    assert "channels    4 at 24,000 Hz" in text
    assert "length      2.000 s (48,000 frames)" in text
    assert "levels      channel 1: -2.9 dBFS, peak 0.0 dBFS" in text
    assert text.rstrip().endswith("channel 4: silence")


def test_what_is_cut_off_says_so(tmp_path: Path) -> None:
    data = io.BytesIO()
    soundfile.write(data, sine(8.0), RATE, format="OGG", subtype="VORBIS")
    (tmp_path / "a.ogg").write_bytes(data.getvalue()[:-3000])
    text = info(tmp_path / "a.ogg")

    assert "fault       its last Ogg page is missing" in text
    assert "AUD102" in text


def test_a_video_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(make(30, sound=(1.0, 2)))
    found = media(tmp_path / "a.mp4")

    assert (found["kind"], found["width"], found["height"], found["pictures"]) == ("video", 192, 96, 30)
    assert found["rate"] == pytest.approx(29.97, abs=0.001)
    assert (found["start"], found["end"]) == pytest.approx((0, 1.001))
    text = info(tmp_path / "a.mp4")
    assert "video  MP4 H264" in text
    assert "frames      30 of 192 × 96 at 29.97 fps" in text


@pytest.mark.parametrize("name", ["a.wav", "a.mp4", "a.m4a"])
def test_what_is_none_is_left_to_validate(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("<html>")
    assert "recording" not in info(tmp_path / name)
