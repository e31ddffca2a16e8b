"""Recordings: headers, windows, and what the AUD rules say of headers (AUD1) and samples (AUD2)."""

from __future__ import annotations

import dataclasses
import io
import os
import pickle
import struct
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from commands import laid
from hypothesis import given
from hypothesis import strategies as st

from seldio import validate
from seldio.catalogues.trees import read_tree
from seldio.errors import InvalidData, SeldioError
from seldio.files import open_source
from seldio.files.entries import plain_file
from seldio.findings import Finding, Severity, Sink, raise_errors
from seldio.media import recording as recordings
from seldio.media.audio import BLOCK, NotAudio, probe, probe_entry, read_header
from seldio.media.recording import Recording
from seldio.rules import CATALOGUE
from seldio.rules.audio import SurveyedSound, TreeFile, check_recordings, check_sounds
from seldio.rules.collection import Collection

SUBTYPES = ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"]


def noise(seconds: float = 1.0, channels: int = 4, rate: int = 24_000, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-0.5, 0.5, (round(seconds * rate), channels))


def sound(data: Any = None, rate: int = 24_000, **more: Any) -> bytes:
    """A file with *data*, shape (frames, channels); with a second of noise by default."""
    stream = io.BytesIO()
    options = {"format": "WAV", "subtype": "PCM_16"} | more
    soundfile.write(stream, noise() if data is None else data, rate, **options)
    return stream.getvalue()


def chunk(name: bytes, body: bytes, order: str = "<") -> bytes:
    return name + struct.pack(order + "I", len(body)) + body + b"\0" * (len(body) % 2)


def wav(body: bytes, tag: int, channels: int, bits: int, before: bytes = b"", after: bytes = b"") -> bytes:
    block = channels * bits // 8
    format = struct.pack("<HHIIHH", tag, channels, 24_000, 24_000 * block, block, bits)
    inside = b"WAVE" + chunk(b"fmt ", format) + before + chunk(b"data", body) + after
    return b"RIFF" + struct.pack("<I", len(inside)) + inside


def saved(folder: Path, data: bytes, name: str = "a.wav") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def by_soundfile(path: Path) -> Any:
    return soundfile.read(path, dtype="float32", always_2d=True)[0].T


@given(st.sampled_from(SUBTYPES), st.integers(1, 9), st.binary(max_size=5), st.integers(0, 40))
def test_the_header_is_what_was_written(subtype: str, channels: int, junk: bytes, frames: int) -> None:
    data = sound(np.zeros((frames, channels)), 8_000, subtype=subtype)
    at = data.index(b"data")
    header = read_header(io.BytesIO(data[:at] + chunk(b"junk", junk) + data[at:]))
    assert header is not None
    bits = {"PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "DOUBLE": 64}.get(subtype, 32)
    assert (header.channels, header.rate, header.bits) == (channels, 8_000, bits)
    assert header.tag == (3 if subtype in ("FLOAT", "DOUBLE") else 1)
    assert header.there == frames * channels * bits // 8
    assert header.rest - header.there in (0, 1)  # a pad byte
    assert header.promised == (header.there or None)


def test_members_of_archives_are_not_unpacked_for_their_header(tmp_path: Path) -> None:
    long = sound(noise(20.0))
    formats = {
        "a.wav": long,
        "b.flac": sound(noise(9.0), format="FLAC"),
        "c.ogg": sound(format="OGG", subtype="VORBIS"),
    }
    formats["cut.wav"] = long[:-4_000]
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name, data in formats.items():
            archive.writestr(name, data)
    with open_source(tmp_path / "x.zip", raise_errors) as source:
        for entry in source:
            small = dataclasses.replace(entry, _cap=300_000)
            assert probe_entry(small) == probe(io.BytesIO(formats[entry.name])), entry.name
            if entry.size > 300_000:
                with pytest.raises(InvalidData, match="SAF105"):
                    small.open()


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 0xFFFFFFF0, 0x7FFFF000, 0x7FFFFFFF, 0x80000000])
def test_lengths_that_are_left_open(size: int) -> None:
    data = sound()
    at = data.index(b"data") + 4
    header = read_header(io.BytesIO(data[:at] + struct.pack("<I", size) + data[at + 4 :]))
    assert header is not None
    assert (header.promised, header.missing, header.there) == (None, 0, 192_000)


@given(data=st.binary(max_size=400), subtype=st.sampled_from(SUBTYPES), channels=st.integers(1, 5),
       junk=st.binary(max_size=3))  # fmt: skip
def test_mapped_samples_are_those_of_libsndfile(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, subtype: str, channels: int, junk: bytes
) -> None:
    bits = {"PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "DOUBLE": 64}.get(subtype, 32)
    tag = 3 if subtype in ("FLOAT", "DOUBLE") else 1
    before = b"" if tag == 3 else chunk(b"junk", junk)
    path = saved(tmp_path_factory.mktemp("w"), wav(data, tag, channels, bits, before, chunk(b"LIST", b"INFO")))
    wanted = by_soundfile(path)
    with Recording(path) as recording:
        found = recording.read()
        assert found.dtype == np.float32
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(found, wanted)
        mapped = subtype in ("PCM_16", "PCM_32", "FLOAT") and len(recording) > 0
        assert isinstance(recording._opened, recordings._Mapped) == mapped


WAYS = {
    "16 bit": {}, "24 bit": {"subtype": "PCM_24"}, "8 bit": {"subtype": "PCM_U8"}, "floats": {"subtype": "FLOAT"},
    "extensible": {"format": "WAVEX", "subtype": "PCM_32"}, "RF64": {"format": "RF64"},
    "big end first": {"endian": "BIG"}, "24 bit, big end first": {"endian": "BIG", "subtype": "PCM_24"},
    "FLAC": {"format": "FLAC"}, "W64": {"format": "W64"}, "ADPCM": {"subtype": "ULAW"},
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_any_window_is_that_part_of_the_whole(way: str, tmp_path: Path) -> None:
    path = saved(tmp_path, sound(noise(0.5), **WAYS[way]))
    whole = by_soundfile(path)
    recording = Recording(path)
    assert (len(recording), recording.rate, recording.channels) == (12_000, 24_000, 4)
    mapped = isinstance(recording._opened, recordings._Mapped)
    assert mapped == (way in ("16 bit", "floats", "extensible", "RF64"))
    for start, frames in ((0, 12_000), (0, 0), (5_000, 1), (11_999, 1), (12_000, 0), (3, 7_001)):
        np.testing.assert_array_equal(recording.read(start, frames), whole[:, start : start + frames])
        np.testing.assert_array_equal(Recording(path).read(start, frames), whole[:, start : start + frames])
    np.testing.assert_array_equal(recording.read(11_000, 5_000), whole[:, 11_000:])
    np.testing.assert_array_equal(recording.read(11_000), whole[:, 11_000:])


@given(start=st.integers(-60, 160), frames=st.integers(0, 200), given_out=st.booleans())
def test_padding(
    tmp_path_factory: pytest.TempPathFactory, start: int, frames: int, given_out: bool
) -> None:  # fmt: skip
    path = saved(tmp_path_factory.mktemp("w"), sound(noise(100 / 24_000, 2)))
    ring = np.concatenate((np.zeros((2, 400)), by_soundfile(path), np.zeros((2, 400))), axis=1)
    out = np.full((2, frames), 7, np.float32) if given_out else None
    found = Recording(path).read(start, frames, out, pad=True)
    np.testing.assert_array_equal(found, ring[:, start + 400 : start + 400 + frames])
    if out is not None:
        assert found.base is out or found is out
        np.testing.assert_array_equal(out, found)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks at /proc")
def test_a_long_file_is_read_through_in_flat_memory(tmp_path: Path) -> None:
    def mapped() -> int:
        """Kilobytes of files in this process's memory."""
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("RssFile"))

    path = saved(tmp_path, sound(noise(200.0, seed=5)))
    before, seen = mapped(), 0
    for block in Recording(path).blocks(BLOCK):
        np.testing.assert_array_equal(block[:, :9], Recording(path).read(seen, 9))
        seen += block.shape[1]
        assert mapped() - before < 8_000
    assert seen == 200 * 24_000


@pytest.mark.parametrize("format", ["WAV", "FLAC"])
def test_pickled_and_used_by_many(format: str, tmp_path: Path) -> None:
    path = saved(tmp_path, sound(format=format))
    whole, recording = by_soundfile(path), Recording(path)
    recording.read(0, 1)
    copy = pickle.loads(pickle.dumps(recording))
    np.testing.assert_array_equal(copy.read(), whole)
    starts = np.random.default_rng(1).integers(0, 23_000, 200).tolist()
    with ThreadPoolExecutor(8) as pool:
        for start, part in zip(starts, pool.map(lambda start: recording.read(start, 1_000), starts), strict=True):
            np.testing.assert_array_equal(part, whole[:, start : start + 1_000])
    assert threading.active_count() >= 1


def test_a_file_that_shrinks_does_not_kill_the_process(tmp_path: Path) -> None:
    path = saved(tmp_path, sound(noise(5.0)))
    recording = Recording(path)
    recording.read(0, 10)
    os.truncate(path, 8_192)
    with pytest.raises(NotAudio, match="shortened after it was opened"):
        recording.read(100_000, 10)


@pytest.mark.skipif(os.name == "nt", reason="named pipes")
def test_pipes_and_folders_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.wav")
    for path in (tmp_path / "a.wav", tmp_path):
        with pytest.raises(SeldioError):
            Recording(path).read()


def test_flac_that_is_cut_off(tmp_path: Path) -> None:
    data = sound(noise(8.0), format="FLAC")
    recording = Recording(saved(tmp_path, data[: len(data) // 2], "a.flac"))
    assert len(recording) == 192_000
    assert recording.read(0, 100).shape == (4, 100)
    with pytest.raises(NotAudio):
        recording.read(180_000, 5_000)
    with pytest.raises(NotAudio):
        recording.read()


def test_a_header_that_promises_terabytes_takes_no_memory(tmp_path: Path) -> None:
    data = bytearray(sound(noise(0.2), format="FLAC"))
    data[21] |= 0x0F  # the upper bits of the 36 that count the frames
    assert probe(io.BytesIO(bytes(data))).frames > 2**35
    path = saved(tmp_path, bytes(data), "a.flac")
    for start, frames in ((2**35, 10), (0, 2**36), (0, None)):
        with pytest.raises(NotAudio):
            Recording(path).read(start, frames)
    with pytest.raises(NotAudio):
        list(Recording(path).blocks(BLOCK))
    assert Recording(path).read(0, 1_000).shape == (4, 1_000)


#: A name that no recording of STARSS23 has, of which it is known how long they are.
FOA = "foa_dev/dev-train-tau/fold3_room4_mix002.wav"
MIC = FOA.replace("foa", "mic")
LABELS = FOA.replace("foa", "metadata").replace(".wav", ".csv")


#: What is said of recordings that are read all the same.
MILDER = ("samples instead of", "has no length", "the last sample frame has only")


def found(path: Path) -> list[Finding]:
    findings = [finding for finding in validate(path).findings if finding.code.startswith("AUD")]
    for finding in findings:
        milder = any(words in finding.message for words in MILDER)
        assert finding.severity is (Severity.WARNING if milder else CATALOGUE[finding.code].severity)
        assert "\n" not in finding.message + (finding.hint or "")
    return findings


def codes(path: Path) -> list[str]:
    return [finding.code for finding in found(path)]


GOOD = {
    "two formats and labels": {FOA: sound(), MIC: sound(noise(seed=1)), LABELS: b"9,1,0,-50,30,200\n"},
    "a last label frame that is not full": {FOA: sound(noise(1.01)), LABELS: b"10,1,0,-50,30,200\n"},
    "about as long as the shortest of its split": {FOA.replace("mix002", "mix001"): sound(noise(36.5))},
    "extensible": {FOA: sound(format="WAVEX")},
    "RF64": {FOA: sound(format="RF64")},
    "every type, whole": {
        "a.ogg": sound(noise(7.0), format="OGG", subtype="VORBIS"), "b.opus": sound(noise(seed=1), format="OGG", subtype="OPUS"),
        "c.aiff": sound(noise(seed=2), format="AIFF"), "d.w64": sound(noise(seed=3), format="W64"),
    },
    "an Ogg file with a tag behind it": {"a.ogg": sound(format="OGG", subtype="VORBIS") + b"TAG" + bytes(125)},
    "a loose folder of mixed rates": {"a.wav": sound(rate=8_000), "b.flac": sound(format="FLAC", rate=48_000)},
    "stereo of 2025": {
        "stereo_dev/dev-train-tau/fold3_room4_mix001_deg000_start0000.wav": sound(noise(5.0, 2)),
    },
    "2019": {"foa_dev/split1_ir0_ov1_1.wav": sound(rate=48_000)},
    "what libsndfile does not read": {"a.m4a": b"\0\0\0\x20ftypM4A ", "notes.txt": b"x"},
}  # fmt: skip


@pytest.mark.parametrize("what", GOOD)
def test_recordings_as_they_should_be(what: str, tmp_path: Path) -> None:
    assert found(laid(tmp_path, GOOD[what])) == []


WHOLE = sound(noise(2.0))
OGG = sound(noise(7.0), format="OGG", subtype="VORBIS")
BAD: dict[str, tuple[str, str, dict[str, bytes]]] = {
    "a page": ("AUD101", "Format not recognised (it begins with <!DOCTYPE ht)", {FOA: b"<!DOCTYPE html><html></html>"}),
    "half a header": ("AUD101", "cannot be read as audio", {FOA: WHOLE[:30]}),
    "0 Hz": ("AUD101", "the header says 0 frames per second", {FOA: WHOLE[:24] + bytes(4) + WHOLE[28:]}),
    "0 channels": ("AUD101", "Channel count is zero", {FOA: WHOLE[:22] + bytes(2) + WHOLE[24:]}),
    "no samples": ("AUD101", "mix002.wav has no samples", {FOA: sound(noise(0.0))}),
    "never completed": ("AUD101", "never completed, and 384,000 bytes", {FOA: WHOLE[:40] + bytes(4) + WHOLE[44:]}),
    "cut off": ("AUD102", "ends at 1.000 s: 192,000 bytes of sound are missing", {FOA: WHOLE[: 44 + 192_000]}),
    "cut off, AIFF": ("AUD102", "1,000 bytes", {"a.aiff": sound(format="AIFF")[:-1_000]}),
    "cut off, Vorbis": ("AUD102", "its last Ogg page is missing", {"a.ogg": OGG[: int(0.65 * len(OGG))]}),
    "cut off between pages": ("AUD102", "its last Ogg page is missing", {"a.ogg": OGG[: OGG.rindex(b"OggS")]}),
    "cut off, RF64": ("AUD102", "1,000 bytes", {FOA: sound(format="RF64")[:-1_000]}),
    "FLAC": ("AUD101", "contains FLAC, but its suffix is .wav", {FOA: sound(format="FLAC")}),
    "48 kHz": ("AUD104", "has a rate of 48,000 Hz instead of 24,000 Hz", {FOA: sound(rate=48_000)}),
    "24 kHz in 2019": ("AUD104", "instead of 48,000 Hz", {"mic_dev/split1_ir0_ov1_1.wav": sound()}),
    "2 GHz": ("AUD104", "an impossible rate of 2,147,483,647 Hz", {"a.wav": WHOLE[:24] + b"\xff\xff\xff\x7f" + WHOLE[28:]}),
    "mono": ("AUD105", "has 1 channel, but FOA has 4", {FOA: sound(noise(1.0, 1))}),
    "floats": ("AUD104", "has FLOAT samples instead of PCM_16", {FOA: sound(subtype="FLOAT")}),
    "labels behind the end": (
        "AUD107", "frame 10 begins at 1 s, but fold3_room4_mix002.wav ends at 1.000 s: 2 rows past its end",
        {FOA: sound(), LABELS: b"9,1,0,-50,30,200\n10,1,0,-50,30,200\n11,1,0,-50,30,200\n"},
    ),
    "formats that differ": (
        "AUD108", "ends at 1.000 s (24,000 samples), but its MIC recording at 0.999 s (23,976)",
        {FOA: sound(), MIC: sound(noise(0.999, seed=1))},
    ),
    "an open length": ("AUD102", "has no length", {FOA: WHOLE[:40] + b"\xff\xff\xff\xff" + WHOLE[44:]}),
    "half a frame": ("AUD102", "the last sample frame has only 6 of 8 bytes", {
        FOA: wav(bytes(range(1, 251)) + bytes(44), 1, 4, 16)}),
    "shorter than all of its split": (
        "AUD111", "has 10 s, but recordings of dev-train-tau have about 40 s to 540 s",
        {FOA.replace("mix002", "mix001"): sound(noise(10.0))},
    ),
    "shorter than all of the evaluation set": (
        "AUD111", "has 10 s, but recordings of the evaluation set have about 40 s to 420 s",
        {"foa_eval/mix001.wav": sound(noise(10.0))},
    ),
    "one unlike the others": (
        "AUD110", "d.wav has 8,000 Hz and 4 channels, but 3 others here have 24,000 Hz and 4",
        {**dict.fromkeys(("a.wav", "b.wav", "c.wav"), sound()), "d.wav": sound(rate=8_000)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_recordings_that_are_wrong(what: str, tmp_path: Path) -> None:
    code, message, files = BAD[what]
    [finding] = found(laid(tmp_path, files))
    assert finding.code == code
    assert message in finding.message
    assert finding.hint


def test_what_a_folder_shares_is_said_once(tmp_path: Path) -> None:
    names = [FOA.replace("002", f"01{number}") for number in (1, 4, 5, 6)]
    root = laid(tmp_path, dict.fromkeys(names, sound(rate=48_000)))
    [finding] = found(root)
    assert finding.message.startswith("all 4 recordings in the folder have a rate of 48,000 Hz instead of 24,000 Hz")
    assert finding.path == f"{root}/foa_dev/dev-train-tau"
    saved(tmp_path, sound(), names[0])
    assert codes(root) == ["AUD104"] * 3


def test_no_recording_is_read_behind_its_header(tmp_path: Path) -> None:
    """A whole set takes a blink: 5 minutes of sound each, as holes in the file."""
    names = [f"{top}_dev/dev-train-tau/fold3_room4_mix{n:03d}.wav" for top in ("foa", "mic") for n in range(1, 20)]
    header = bytearray(wav(b"", 1, 4, 16))
    size = 300 * 24_000 * 8
    header[40:44] = struct.pack("<I", size)
    for name in names:
        os.truncate(saved(tmp_path, bytes(header), name), len(header) + size)
    with open_source(tmp_path, raise_errors) as source:
        small = [dataclasses.replace(entry, _cap=1_000) for entry in source]
        every: list[Finding] = []
        collection = Collection(source.path, source.kind, small, [])
        assert check_recordings(collection, read_tree([entry.name for entry in small]), every.append) == 38
    assert every == []


def test_odd_files_end_in_findings(shared: Path) -> None:
    for folder in (shared / "corpora/wav-hound", shared / "corpora/generated/media"):
        for path in sorted(folder.rglob("*.wav")):
            for finding in validate(path).findings:
                assert finding.code.startswith(("AUD1", "SAF")), finding
            try:
                samples = Recording(path).read()
            except NotAudio as error:
                if "2,147,483,647 Hz" in str(error):  # a second of which would fill the memory
                    continue
                with pytest.raises((soundfile.LibsndfileError, ZeroDivisionError)):
                    by_soundfile(path)
            else:
                np.testing.assert_array_equal(samples, by_soundfile(path))
    wanted = {"zero_rate": "AUD101", "data_size_ffffffff": "AUD102", "data_size_zero": "AUD101", "huge_rate": "AUD104",
              "odd_block": "AUD102", "truncated_data": "AUD102", "png": "AUD101", "empty": "AUD101"}  # fmt: skip
    for name, code in wanted.items():
        assert codes(shared / f"corpora/generated/media/{name}.wav") == [code], name


def surveyed(path: Path, sink: Sink) -> list[SurveyedSound]:
    entry = plain_file(path)
    return check_sounds([TreeFile(entry, read_tree([entry.name]).places[0])], sink)


@given(data=st.binary(max_size=120), format=st.sampled_from([b"RIFF", b"RF64", b"RIFX", b"fLaC", b"OggS", b"FORM"]))
def test_files_of_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes, format: bytes) -> None:
    path = saved(tmp_path_factory.mktemp("w"), format + b"\xff\xff\xff\x7fWAVEfmt \x10\0\0\0" + data)
    assert {code[:4] for code in codes(path)} <= {"AUD1"}
    surveyed(path, raise_errors)


def changed(change: Callable[[Any], object], seconds: float = 1.0) -> Any:
    data = noise(seconds)
    change(data)
    return data


def put(channel: Any, value: Any, part: slice = slice(None)) -> Callable[[Any], object]:
    def change(data: Any) -> None:
        data[part, channel] = value(data) if callable(value) else value

    return change


def quiet(decibels: float, burst: float = 0.0) -> Any:
    made = 10 ** (decibels / 20) * np.random.default_rng(5).standard_normal((48_000, 4))
    made[20_000:20_480] += burst * noise(0.02)
    return made


SOUNDS: dict[str, tuple[list[str], str, bytes]] = {
    "noise": ([], "", sound()),
    "long noise": ([], "", sound(noise(2.5 * BLOCK / 24_000))),
    "one peak": ([], "", sound(changed(put(0, 1.0, slice(5, 9))))),
    "all silent": (["AUD201"], "all channels are silent", sound(np.zeros((100, 4)))),
    "a silent channel": (["AUD201"], "channel 3 is silent", sound(changed(put(2, 0.0)))),
    "a channel of dither": (
        ["AUD201"], "channel 3 has only noise at -73 dB, while the loudest channel is at -11 dB",
        sound(changed(put(2, lambda data: 10 ** (-73 / 20) * np.random.default_rng(5).standard_normal(len(data))))),
    ),
    "two dead channels, one with an offset": (
        ["AUD201"], "channels 1, 3 have only noise",
        sound(changed(put([0, 2], lambda data: 2e-4 * np.random.default_rng(5).standard_normal((len(data), 2)) + [0, 5e-3]))),
    ),
    "nothing but dither": (
        ["AUD201"], "all channels have only noise at -73 dB",
        sound(10 ** (-73 / 20) * np.random.default_rng(5).standard_normal((24_000, 4))),
    ),
    "quiet, with an event": ([], "", sound(quiet(-72, 0.02))),
    "a quiet room": ([], "", sound(quiet(-66))),
    "Z 25 dB below the rest": ([], "", sound(quiet(-75, 0.01) * [1, 1, 0.05, 1])),
    "two alike": (["AUD203"], "channels 2 and 4 are identical", sound(changed(put(3, lambda data: data[:, 1])))),
    "mono four times": (["AUD203"], "all 4 channels are identical", sound(np.repeat(noise(1.0, 1), 4, axis=1))),
    "sign inverted": (
        ["AUD203"], "1 and 3 are identical with the sign", sound(changed(put(2, lambda data: -data[:, 0])), subtype="FLOAT"),
    ),
    "alike until late": ([], "", sound(changed(put(3, lambda data: data[:-1, 1], slice(0, -1)), 6.0))),
    "NaN": (["AUD205"], "3 NaN or infinite samples in channel 2", sound(changed(put(1, np.nan, slice(4, 7))), subtype="FLOAT")),
    "cut off FLAC": (["AUD206"], "a.wav: flac decoder lost sync", sound(noise(8.0), format="FLAC")[:-200_000]),
    "cut off MP3": (["AUD206"], "a.wav: it is cut off at ", sound(noise(8.0, 1), format="MP3", subtype="MPEG_LAYER_III")[:-20_000]),
}  # fmt: skip


@pytest.mark.parametrize("what", SOUNDS)
def test_what_recordings_sound_like(what: str, tmp_path: Path) -> None:
    wanted, message, data = SOUNDS[what]
    findings: list[Finding] = []
    assert surveyed(saved(tmp_path, data), findings.append)
    assert [finding.code for finding in findings] == wanted
    assert all(message in finding.message for finding in findings), findings
    assert all(finding.severity is CATALOGUE[finding.code].severity for finding in findings)


def test_the_same_recording_under_two_names(tmp_path: Path) -> None:
    """AUD207, whatever the header; silence is alike everywhere."""
    other = FOA.replace("002", "003")
    files = {
        FOA: sound(),
        MIC: sound(format="WAVEX"),
        other: sound(noise(seed=2)),
        other.replace("foa", "mic"): sound(noise(seed=3)),
    }
    deep = listened(laid(tmp_path / "a", files))
    assert [finding.code for finding in deep] == ["AUD207"]
    assert deep[0].path.endswith(MIC)
    assert FOA in deep[0].message
    silent = listened(laid(tmp_path / "b", dict.fromkeys(("a.wav", "b.wav"), sound(np.zeros((9, 1))))))
    assert [finding.code for finding in silent] == ["AUD201"] * 2


def listened(root: Path) -> list[Finding]:
    every: list[Finding] = []
    with open_source(root, raise_errors) as source:
        names = [entry.name for entry in source]
        check_recordings(
            Collection(source.path, source.kind, source.entries, []), read_tree(names), every.append, deep=True
        )
    return every
