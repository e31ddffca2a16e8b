"""The options of windows (rate, type, transform), how long streams are, and how elements become batches."""

from __future__ import annotations

import math
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import starss_tree as data
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio.data import Stream, collate
from seldio.errors import DataError, MissingLibrary, SeldioError, UsageError
from seldio.media.recording import Recording

Sound = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WORKER", "NUM_WORKERS", "RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return data.write(tmp_path_factory.mktemp("tree") / "starss23")


def tree_of(folder: Path, files: dict[str, tuple[Sound, int, str]]) -> Path:
    """A folder of FOA recordings: samples of shape (frames, channels), rate and libsndfile's kind of samples."""
    for name, (sound, rate, subtype) in files.items():
        path = folder / "foa_dev" / "dev-train-x" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, sound, rate, subtype=subtype)
    return folder


def noise(frames: int, seed: int = 1) -> Sound:
    return np.random.default_rng(seed).integers(-(2**15), 2**15, (frames, 4)).astype(np.int16)


@pytest.mark.parametrize(("name", "subtype"), [("a.wav", "PCM_16"), ("a.wav", "PCM_U8"), ("a.flac", "PCM_16"),
                                               ("a.flac", "PCM_S8"), ("a.aiff", "PCM_16")])  # fmt: skip
def test_int16_are_the_samples_of_the_file(name: str, subtype: str, tmp_path: Path) -> None:
    soundfile.write(tmp_path / name, noise(2_500), 1_000, subtype=subtype)
    expected, _ = soundfile.read(tmp_path / name, dtype="int16")
    recording = Recording(tmp_path / name)

    found = recording.read(-3, 2_510, pad=True, dtype="int16")

    assert np.int16 == found.dtype
    assert np.array_equal(expected.T, found[:, 3:-7])
    assert not found[:, :3].any()
    assert not found[:, -7:].any()
    assert np.array_equal(recording.read(), found[:, 3:-7] / np.float32(32768))


def test_windows_of_int16_are_those_of_float32(root: Path) -> None:
    options: dict[str, Any] = {"seconds": 0.5, "hop": 0.3, "target": "accdoa"}
    whole, exact = seldio.windows(root, **options), seldio.windows(root, dtype="int16", **options)

    assert "int16" == exact.signature["audio"][1] == exact[0]["audio"].dtype.name
    for one, other in zip(whole, exact, strict=True):
        assert np.array_equal(one["audio"], other["audio"] / np.float32(32768))
        assert all(np.array_equal(one[name], other[name]) for name in one if name != "audio")


@pytest.mark.parametrize("subtype", ["PCM_24", "FLOAT"])
def test_int16_refuses_what_it_would_round(subtype: str, tmp_path: Path) -> None:
    tree_of(tmp_path, {"fold1_room1_mix001.wav": (noise(1_000) / 32768, 1_000, subtype)})

    with pytest.raises(DataError, match=f"fold1_room1_mix001 has samples of another kind .{subtype}., which int16"):
        seldio.windows(tmp_path, seconds=0.5, dtype="int16")
    with pytest.raises(UsageError, match=r"mix001\.wav has samples of another kind"):
        Recording(next(tmp_path.rglob("*.wav"))).read(dtype="int16")


@pytest.fixture
def soxr() -> Any:
    return pytest.importorskip("soxr", reason="soxr is not installed: make test installs it")


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 44_100])
def test_windows_of_files_of_any_rate_have_the_same_length_and_samples(soxr: Any, rate: int, tmp_path: Path) -> None:
    rates = {"a.wav": 24_000, "b.flac": 44_100, "c.wav": 16_000}
    sounds = {name: noise(int(2.37 * here), here) // 4 for name, here in rates.items()}
    tree_of(tmp_path, {name: (sound, rates[name], "PCM_16") for name, sound in sounds.items()})
    windows = seldio.windows(tmp_path, seconds=0.5, rate=rate)

    assert {(4, rate // 2)} == {one["audio"].shape for one in windows}
    assert {rate} == {int(one["rate"]) for one in windows}
    for name, sound in sounds.items():
        expected = soxr.resample(sound / np.float32(32768), rates[name], rate, "HQ")
        mine = [one for one in windows if one["clip"] == name.partition(".")[0]]
        joined = np.concatenate([one["audio"] for one in mine], axis=1)
        assert len(expected) == sum(int(one["length"]) for one in mine)
        assert np.abs(expected.T - joined[:, : len(expected)]).max() < 5e-7
        assert not joined[:, len(expected) :].any()


def test_sound_of_different_rates_goes_into_one_batch_at_one_rate_only(soxr: Any, tmp_path: Path) -> None:
    tree_of(tmp_path, {f"{rate}.wav": (noise(2 * rate), rate, "PCM_16") for rate in (8_000, 24_000, 48_000)})
    mixed = seldio.windows(tmp_path, seconds=0.5)

    assert mixed.sound_rate is None
    assert ((4, None), "float32") == mixed.signature["audio"]
    for pad in (None, 0, {"audio": 0}):
        with pytest.raises(UsageError, match=r"8,000, 24,000, 48,000 samples per second.*rate=48000"):
            collate(list(mixed), pad)
    assert 12 == len(collate(list(mixed), {"audio": "list"})["audio"])
    with pytest.raises(UsageError, match="rate=48000"):
        list(mixed.stream().batch(12, pad=0))
    one = seldio.windows(tmp_path, seconds=0.5, rate=16_000)
    assert (16_000, ((4, 8_000), "float32")) == (one.sound_rate, one.signature["audio"])
    assert (12, 4, 8_000) == collate(list(one))["audio"].shape
    same = seldio.windows(tmp_path, seconds=0.5).sound_rate, seldio.windows(tmp_path / "foa_dev").sound_rate
    assert (None, None) == same


@settings(max_examples=examples(25), deadline=None)
@given(st.sampled_from([8_000, 11_025, 22_050, 24_000, 48_000]), st.sampled_from([8_000, 16_000, 22_050, 32_000]),
       st.integers(0, 9_000), st.integers(0, 4_000))  # fmt: skip
def test_any_part_is_that_of_the_resampled_whole(here: int, rate: int, start: int, frames: int) -> None:
    soxr = pytest.importorskip("soxr", reason="soxr is not installed: make test installs it")
    from seldio.media.recording import frames_at, read_at

    place = Path(__file__).parent / "cases"
    sound = np.random.default_rng(here).uniform(-1, 1, (7_001, 2)).astype(np.float32)

    class Whole(Recording):
        rate, channels = here, 2  # type: ignore[assignment]

        def __len__(self) -> int:
            return len(sound)

        def read(self, start: int = 0, frames: int | None = None, *_: Any, **__: Any) -> Any:
            assert frames is not None
            assert 0 <= start <= start + frames <= len(sound)
            return sound[start : start + frames].T

    whole = Whole(place)
    expected = soxr.resample(sound, here, rate, "HQ")[start : start + frames].T

    found = read_at(whole, rate, start, frames)

    assert (2, frames) == found.shape
    assert frames_at(whole, rate) == round(len(sound) * rate / here + 1e-9)
    assert np.abs(found[:, : expected.shape[1]] - expected).max(initial=0) < 2e-6
    assert not found[:, expected.shape[1] :].any()


def test_resampled_int16_are_rounded_and_kept_within_full_scale(soxr: Any, tmp_path: Path) -> None:
    square = np.where(np.arange(3_000)[:, np.newaxis] // 50 % 2, 32767, -32768).astype(np.int16).repeat(4, axis=1)
    tree_of(tmp_path, {"a.wav": (square, 1_000, "PCM_16")})
    options: dict[str, Any] = {"seconds": 1.5, "rate": 1_500}

    exact = seldio.windows(tmp_path, **options)[0]["audio"]
    found = seldio.windows(tmp_path, dtype="int16", **options)[0]["audio"]

    assert np.abs(exact).max() > 1  # a filter overshoots
    assert np.array_equal(np.clip(np.rint(exact * 32768), -32768, 32767), found)


def test_the_rate_of_the_files_needs_no_library(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soxr", None)

    windows = seldio.windows(root, seconds=0.5, rate=data.RATE)

    assert np.array_equal(seldio.windows(root, seconds=0.5)[1]["audio"], windows[1]["audio"])
    with pytest.raises(MissingLibrary, match=r"windows at another rate .rate=. need it: pip install soxr"):
        seldio.windows(root, seconds=0.5, rate=2 * data.RATE)


def louder(element: dict[str, Any]) -> dict[str, Any]:
    """In place, as many are."""
    element["audio"] *= 2
    element["level"] = np.abs(element["audio"]).mean(axis=1)
    return element


def test_a_transform_is_applied_to_each_element_wherever_it_is_asked_for(root: Path) -> None:
    plain, windows = seldio.windows(root, seconds=0.5), seldio.windows(root, seconds=0.5, transform=louder)

    for one, other, streamed in zip(plain, windows, windows.stream(), strict=True):
        assert np.array_equal(2 * one["audio"], other["audio"])
        assert np.array_equal(other["level"], streamed["level"])
    assert np.array_equal(windows[3]["audio"], windows[3]["audio"])  # it was given a copy of its own
    assert np.array_equal(windows[3]["audio"], pickle.loads(pickle.dumps(windows))[3]["audio"])
    assert (((4,), "float32"), ((4, 500), "float32")) == (windows.signature["level"], windows.signature["audio"])
    assert "transform=louder" in repr(windows)


def spectrum(element: dict[str, Any]) -> dict[str, Any]:
    levels = np.abs(np.fft.rfft(element["audio"], axis=-1)).astype(np.float32)  # as numpy 2 has it
    return {"clip": element["clip"], "spectrum": levels[:, ::2]}


def test_the_signature_is_that_behind_the_transform(root: Path) -> None:
    fixed, whole = (seldio.windows(root, seconds=seconds, transform=spectrum) for seconds in (0.5, None))

    assert {"clip": ((), "string"), "spectrum": ((4, 126), "float32")} == fixed.signature
    assert ((4, None), "float32") == whole.signature["spectrum"]
    with pytest.raises(UsageError, match="transform=tuple must return a mapping, with the same names each time"):
        _ = seldio.windows(root, transform=tuple).signature


def test_batches_of_whole_clips_have_the_same_parts_behind_a_transform(root: Path) -> None:
    batches = list(seldio.windows(root, transform=spectrum).stream().batch(1, pad={"spectrum": 0}))

    assert [(1, 176), (1, 501), (1, 313)] == [batch["spectrum_mask"].shape for batch in batches]


def test_a_transform_that_forgets_its_result_is_named(root: Path) -> None:
    with pytest.raises(UsageError, match=r"transform=.*<lambda> returned None"):
        seldio.windows(root, seconds=0.5, transform=lambda element: element.update(gain=1))[0]


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 30), st.integers(1, 4), st.integers(1, 3), st.sampled_from([None, "drop", "repeat"]),
       st.none() | st.integers(1, 7), st.booleans(), st.integers(0, 9))  # fmt: skip
def test_a_stream_is_as_long_as_its_next_pass(
    length: int, ranks: int, workers: int, even: Any, size: int | None, drop: bool, taken: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORLD_SIZE", str(ranks))
        patch.setenv("NUM_WORKERS", str(workers))
        for rank in range(ranks):
            for worker in range(workers):
                patch.setenv("RANK", str(rank))
                patch.setenv("WORKER", str(worker))
                stream = Stream(range(length), seed=3, even=even if length >= ranks else None)
                stream = stream if size is None else stream.batch(size, drop_last=drop)
                assert len(stream) == sum(1 for _ in stream)

                iterator = iter(stream)
                for _ in range(taken):
                    next(iterator, None)
                later = Stream(range(length), seed=3, even=even if length >= ranks else None)
                later = later if size is None else later.batch(size, drop_last=drop)
                later.load_state_dict(stream.state_dict())
                assert len(later) == sum(1 for _ in later)
                later.set_epoch(7)
                assert len(later) == len(stream) == sum(1 for _ in later)


@pytest.mark.parametrize("channels", [2, 5, 32])
def test_four_channels_are_needed_where_foa_lies(channels: int, tmp_path: Path) -> None:
    place = tmp_path / "foa_dev/dev-train-x/fold3_room1_mix001.wav"
    place.parent.mkdir(parents=True)
    soundfile.write(place, np.ones((8_000, channels), np.int16), 8_000)
    with pytest.raises(DataError, match=rf"mix001\.wav has {channels} channels, but FOA has 4"):
        seldio.windows(tmp_path, seconds=0.5)
    assert 2 == len(seldio.windows(tmp_path, seconds=0.5, audio=None))


def test_a_header_without_length_is_not_silence(tmp_path: Path) -> None:
    tree_of(tmp_path, {"fold3_room1_mix001.wav": (noise(8_000), 8_000, "PCM_16")})
    place = next(tmp_path.rglob("*.wav"))
    whole = place.read_bytes()
    place.write_bytes(whole[:40] + bytes(4) + whole[44:])
    with pytest.raises(SeldioError, match=r"mix001\.wav says in its header that it has no sound, but 64,000 bytes"):
        seldio.windows(tmp_path, seconds=0.5)
    place.write_bytes(whole[:40] + bytes(4))
    assert [0] == [int(one["length"]) for one in seldio.windows(tmp_path, seconds=0.5)]


def two_arrays(folder: Path, mic: int = 1_200) -> Path:
    for array, frames, seed in (("foa", 1_200, 1), ("mic", mic, 2)):
        place = folder / f"{array}_dev" / "dev-train-x" / "fold3_room1_mix001.wav"
        place.parent.mkdir(parents=True)
        soundfile.write(place, noise(frames, seed), 1_000, subtype="PCM_16")
    return folder


def test_both_arrays_are_in_one_window(tmp_path: Path) -> None:
    windows = seldio.windows(two_arrays(tmp_path), seconds=0.5, audio=("foa", "mic"))

    for name, array in (("audio", "foa"), ("audio_2", "mic")):
        alone = seldio.windows(tmp_path, seconds=0.5, audio=array)
        assert all(np.array_equal(one[name], other["audio"]) for one, other in zip(windows, alone, strict=True))
        assert alone.signature["audio"] == windows.signature[name]
    assert {"rate_2", "length_2"} <= windows[0].keys()
    for wrong in ((), ("foa", "foa"), ("foa", "any"), ("foa", "nothing")):
        with pytest.raises(UsageError):
            seldio.windows(tmp_path, audio=wrong)


def test_arrays_that_are_not_equally_long_are_refused(tmp_path: Path) -> None:
    two_arrays(tmp_path, mic=1_300)
    with pytest.raises(DataError, match=r"mix001 has 1,200 samples at 1,000 Hz in foa .*1,300 samples"):
        seldio.windows(tmp_path, audio=("foa", "mic"))


def test_without_texts_a_clip_is_its_number_which_decode_knows(root: Path) -> None:
    options: dict[str, Any] = {"seconds": 0.5, "target": "multi-accdoa"}
    named, numbered = seldio.windows(root, **options), seldio.windows(root, texts=False, **options)

    clips = list(named.lengths())
    assert [window["clip"] for window in named] == [clips[window["clip"]] for window in numbered]
    assert ((), "int64") == numbered.signature["clip"]
    batches = [collate(numbered[at : at + 3]) for at in range(0, len(numbered), 3)]
    assert all(isinstance(part, np.ndarray) for batch in batches for part in batch.values())
    expected = seldio.decode(((window, window["target"]) for window in named), named)
    assert expected == seldio.decode(((batch, batch["target"]) for batch in batches), numbered)
    with pytest.raises(UsageError, match=f"clip number {len(clips)} of {len(clips)}"):
        seldio.decode([({**batches[0], "clip": np.full(3, len(clips))}, batches[0]["target"])], numbered)


def test_wrong_calls_say_what_to_write(root: Path) -> None:
    windows = seldio.windows(root, seconds=0.5, target="accdoa")
    with pytest.raises(UsageError, match=r"one of these is a int"):
        seldio.decode([1, 2, 3], windows)
    with pytest.raises(UsageError, match=r"no option split: select first, .*select\(split=…\)"):
        seldio.windows(root, split="dev-train")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match=r"no option second.*did you mean seconds"):
        seldio.windows(root, second=1)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match=r"unknown target 'acddoa'; did you mean accdoa\?"):
        seldio.windows(root, target="acddoa")  # type: ignore[arg-type]


def test_a_batch_stacks_arrays_and_lists_texts(root: Path) -> None:
    windows = seldio.windows(root, seconds=0.5, target="accdoa")

    batch = collate(windows[:3])

    assert np.array_equal(np.stack([one["audio"] for one in windows[:3]]), batch["audio"])
    assert ((3, 5, 3, 13), (3,), (3, 2)) == tuple(batch[name].shape for name in ("target", "start", "frames"))
    assert [one["clip"] for one in windows[:3]] == batch["clip"]


def test_rows_of_labels_are_padded_or_listed(root: Path) -> None:
    everything = seldio.windows(root, seconds=0.5, target="rows", audio=None)
    windows = everything[2:6]

    with pytest.raises(UsageError, match="target has different lengths"):
        collate(windows)
    padded = collate(windows, {"target": math.nan})
    listed = collate(windows, {"target": "list"})

    assert (4, max(len(one["target"]) for one in windows), 7) == padded["target"].shape
    assert [len(one["target"]) for one in windows] == padded["target_mask"].sum(axis=1).tolist()
    assert all(
        np.array_equal(one["target"], rows, equal_nan=True) for one, rows in zip(windows, listed["target"], strict=True)
    )
    assert isinstance(collate(windows[:1], {"target": "list"})["target"], list)  # as in all other batches
    assert isinstance(collate(windows, "list")["target"], list)
    assert isinstance(collate(windows, "list")["frames"], np.ndarray)
    assert {list} == {type(batch["target"]) for batch in everything.stream().batch(2, pad="list")}


def test_batches_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(UsageError, match="the batch is empty"):
        collate([])
    with pytest.raises(UsageError, match="torch is not imported"):
        collate([1, 2], tensors=True)
