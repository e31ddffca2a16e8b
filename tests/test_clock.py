"""Label frames, seconds, samples and video frames are exact; each convention errs as documented."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seldio import clock
from seldio.clock import NTSC, video_error, video_frame
from seldio.errors import UsageError

FRAMES = st.integers(0, 10**7)
RATES = st.sampled_from([NTSC, Fraction(25), Fraction(30), Fraction(24_000, 1_001), Fraction(60_000, 1_001)]) | (
    st.fractions(10, 240, max_denominator=1_001)
)
HOPS = st.sampled_from([clock.HOP, Fraction(1, 50)])


def errors(name: str, last: int) -> list[float]:
    """Milliseconds by which the picture of each label frame is late."""
    return [float(video_error(frame, name)) * 1000 for frame in range(last)]


@given(frame=FRAMES, hop=HOPS, part=st.fractions(0, 1).filter(lambda part: part < 1))
def test_a_label_frame_holds_its_times(frame: int, hop: Fraction, part: Fraction) -> None:
    assert clock.label_frame((frame + part) * hop, hop) == frame
    assert clock.centre(frame, hop) - clock.seconds(frame, hop) == hop / 2
    assert clock.onset(frame, hop) == float(clock.seconds(frame, hop)) == float(frame * hop)
    assert clock.offset(frame, hop) == clock.onset(frame + 1, hop)


@given(frame=FRAMES, rate=st.sampled_from([16_000, 24_000, 44_100, 48_000, 11_025]), hop=HOPS)
def test_samples_and_label_frames_are_inverse(frame: int, rate: int, hop: Fraction) -> None:
    first = clock.sample(frame, rate, hop)
    before = -(-first.numerator // first.denominator) - 1

    assert clock.label_frame(first / rate, hop) == frame
    assert clock.label_frame(Fraction(before) / rate, hop) == frame - 1
    assert first / rate == clock.seconds(frame, hop)


@given(time=st.fractions(0, 10_000), rate=RATES)
def test_the_nearest_video_frame_is_nearest(time: Fraction, rate: Fraction) -> None:
    frame = clock.nearest_video_frame(time, rate)
    here, before, behind = (abs(clock.video_time(n, rate) - time) for n in (frame, frame - 1, frame + 1))

    assert here <= behind
    assert here < before or frame == 0


@given(frame=FRAMES, rate=RATES, hop=HOPS)
def test_the_default_errs_by_half_a_picture_at_most(frame: int, rate: Fraction, hop: Fraction) -> None:
    assert abs(video_error(frame, "centre", rate, hop)) <= 1 / (2 * rate) or video_frame(frame, rate=rate, hop=hop) == 0
    assert video_frame(frame, rate=rate, hop=hop) == video_frame(frame, "center", rate, hop)


def test_an_unknown_convention_is_usage() -> None:
    with pytest.raises(UsageError, match="unknown convention 'middle'; choose from centre, start"):
        video_frame(0, "middle")


def test_sony_s_training_cuts_off() -> None:
    late = errors("dcase2023-training", 6000)

    assert max(late) <= 0
    assert -33.4 < min(late) < -33.3
    assert np.mean(late) == pytest.approx(-16.7, abs=0.05)


def test_sony_s_inference_writes_31_chunks_of_5_minutes_early() -> None:
    early = [chunk for chunk in range(250) if clock.chunk_frame(chunk) != 12 * chunk]

    assert len(early) == 31
    assert [clock.chunk_frame(chunk) for chunk in early[:3]] == [107, 215, 371]
    assert [int(time * 10) for time in np.arange(0, 300, 1.2)] == [clock.chunk_frame(n) for n in range(250)]


def test_sony_s_inference_shows_one_picture_for_each_chunk() -> None:
    pictures = [video_frame(frame, "dcase2023-inference") for frame in range(24)]

    assert pictures == [0] * 12 + [35] * 12
    assert video_frame(107, "dcase2023-inference") == video_frame(119, "dcase2023-inference") == 323


def test_every_third_picture_runs_away() -> None:
    late = errors("dcase2024", 5401)
    other = [frame for frame in range(1001) if video_frame(frame, "dcase2024") != video_frame(frame, "start")]

    assert other[0] == 167
    assert video_error(1, "dcase2024") == Fraction(1, 10_000)
    assert next(frame for frame, error in enumerate(late) if error >= 100) == 1000
    assert [round(late[frame], 1) for frame in (599, 3000, 5400)] == [59.9, 300.0, 540.0]
    assert max(late[:50]) == pytest.approx(4.9)  # a clip of 5 s, 2025
    assert video_frame(7, "dcase2025") == 21


def test_fps_10_is_what_ffmpeg_does() -> None:
    chosen = ffmpeg_fps_10(900)
    late = errors("dcase2026", 6000)

    assert [video_frame(frame, "dcase2026") for frame in range(len(chosen))] == chosen
    assert len(chosen) > 290
    assert 16.6 < min(late) < max(late) < 50
    assert np.mean(late) == pytest.approx(33.3, abs=0.05)


def ffmpeg_fps_10(frames: int) -> list[int]:
    """The numbers of the pictures that FFmpeg's own filter keeps."""
    graph, picture, base = av.filter.Graph(), np.zeros((16, 16, 3), np.uint8), 1 / NTSC
    source = graph.add_buffer(width=16, height=16, format="rgb24", time_base=base)
    fps, sink = graph.add("fps", "10"), graph.add("buffersink")
    source.link_to(fps)
    fps.link_to(sink)
    graph.configure()
    kept: list[int] = []
    for number in range(frames):
        picture[0, 0] = (*divmod(number, 256), 0)
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame.pts, frame.time_base = number, base
        graph.push(frame)
        while True:
            try:
                high, low, _ = graph.pull().to_ndarray()[0, 0].tolist()
            except (av.error.BlockingIOError, av.error.EOFError):
                break
            kept.append(high * 256 + low)
    return kept
