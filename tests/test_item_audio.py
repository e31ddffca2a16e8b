"""QAI3: recordings of questions that are missing, broken, of another kind, or shorter than what is asked."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from commands import invoke, laid
from hypothesis import given
from hypothesis import strategies as st

from seldio import validate
from seldio.findings import Finding, Severity
from seldio.media.audio import read_header
from seldio.rules import CATALOGUE

CASES = Path(__file__).parent / "cases" / "rules"
linked = pytest.mark.skipif(sys.platform == "win32", reason="Windows needs a right of its own to make links")


def wav(seconds: float = 1.0, rate: int = 16_000, channels: int = 4, **more: Any) -> bytes:
    stream = io.BytesIO()
    soundfile.write(stream, np.zeros((round(seconds * rate), channels)), rate, **({"format": "WAV"} | more))
    return stream.getvalue()


def chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def with_chunks(data: bytes, before: bytes = b"", after: bytes = b"") -> bytes:
    at = data.index(b"data")
    body = data[12:at] + before + data[at:] + after
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WAVE" + body


def question(number: int = 1, audio: str = "audio/test/foa_a.wav", **more: Any) -> dict[str, Any]:
    return {
        "qa_id": f"qa_{number:020}", "split": "test", "audio_id": Path(audio).stem, "audio_path": audio,
        "task_name": "count_sources", "question_class": "detect", "answer_format": "structured_text",
        "question": f"How many? (part {number})", "answer": "There is 1 source active.", "canonical_answer": "1",
        "answer_meta": {"active_count": 1},
    } | more  # fmt: skip


def timed(span: list[float], **more: Any) -> dict[str, Any]:
    text = f"{span[0]}s to {span[1]}s"
    return question(
        task_name="detect_time", answer=text, canonical_answer=text, answer_meta={"time_span": span}, **more
    )


def tree(root: Path, records: list[dict[str, Any]], audio: dict[str, bytes], name: str = "qa/test.jsonl") -> Path:
    return laid(root, {name: "".join(json.dumps(one) + "\n" for one in records), **audio}) / name


def found(path: Path, **more: Any) -> list[Finding]:
    return [finding for finding in validate(path, **more).findings if finding.code.startswith("QAI3")]


def codes(path: Path, **more: Any) -> list[str]:
    return [finding.code for finding in found(path, **more)]


def one(tmp_path: Path, data: bytes, record: dict[str, Any] | None = None) -> list[Finding]:
    file = tree(tmp_path, [record or question()], {"audio/test/foa_a.wav": data})
    alone, whole = found(file), found(tmp_path)
    assert [(f.code, f.message, f.line, f.column) for f in alone] == [
        (f.code, f.message, f.line, f.column) for f in whole
    ]
    for finding in alone:
        assert finding.severity is CATALOGUE[finding.code].severity
    return alone


RIGHT = {
    "flac": (wav(format="FLAC", subtype="PCM_16"), {}),
    "chunks after the data": (with_chunks(wav(), after=chunk(b"LIST", b"INFOISFT\x03\0\0\0ab\0")), {}),
    "an open length": (wav()[:40] + b"\xff\xff\xff\xff" + wav()[44:], {}),
    "up to the end": (wav(2.0), timed([0.0, 2.0])),
    "up to the last label frame": (wav(2.0), timed([1.9, 2.1])),
    "a part": (wav(2.0), timed([0.5, 1.0], start=1.0, end=2.0)),
}


@pytest.mark.parametrize("what", RIGHT)
def test_recordings_that_are_as_they_should(what: str, tmp_path: Path) -> None:
    data, record = RIGHT[what]
    assert one(tmp_path, data, record) == []


def test_a_file_of_questions_alone_is_clean_with_one_note(tmp_path: Path) -> None:
    file = tree(tmp_path, [question(1), question(2), question(3, "audio/test/foa_b.wav")], {})
    for path in (file, tmp_path):
        [finding] = validate(path).findings
        assert (finding.code, finding.severity, finding.line) == ("QAI309", Severity.INFO, None)
        assert finding.message == "none of 2 recordings found: not checked"
    assert invoke("validate", file).exit_code == 0


def test_missing_recordings_once_each(tmp_path: Path) -> None:
    records = [question(1), question(2, "audio/test/foa_b.wav"), question(3, "./audio/test/foa_b.wav")]
    records += [question(4, "audio/test/foa_b.wav"), question(5, "audio/test/foa_c.wav")]
    file = tree(tmp_path, records, {"audio/test/foa_a.wav": wav()})
    assert [(finding.code, finding.line) for finding in found(file)] == [("QAI301", 2), ("QAI301", 5)]


#: A recording and the question about it, what is found, and words of the message.
WRONG: dict[str, tuple[bytes, dict[str, Any], str, str]] = {
    "0 bytes": (b"", {}, "QAI302", "foa_a.wav"),
    "half a header": (wav()[:30], {}, "QAI302", "foa_a.wav"),
    "no data chunk": (wav()[:36], {}, "QAI302", "foa_a.wav"),
    "cut off": (wav(2.0)[: 44 + 8 * 16_000], timed([1.2, 1.6]), "QAI302", "ends at 1.000 s: 128,000 bytes of sound are missing"),
    "48 kHz": (wav(rate=48_000), {}, "QAI304", "48,000 Hz, but the benchmark's recordings are at 16,000 Hz"),
    "mono": (wav(channels=1), {}, "QAI304", "1 channel"),
    "more than is heard": (wav(20.5), {}, "QAI306", ""),
    "a span behind the end": (wav(2.0), timed([1.0, 2.5]), "QAI307", "time_span is 2.5 s, but the recording ends at 2.000 s"),
    "an onset behind the end": (wav(2.0), question(answer_meta={"onset_time": 2.2}, canonical_answer="2.2"), "QAI307", "onset_time is 2.2 s"),
    "an end behind the end": (wav(2.0), question(start=1.0, end=2.5), "QAI307", "end is 2.5 s, but the recording ends"),
    "a start behind the end": (wav(2.0), question(start=2.0, end=3.0), "QAI307", "start is 2 s, but the recording ends"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_a_recording(what: str, tmp_path: Path) -> None:
    data, record, code, words = WRONG[what]
    [finding] = one(tmp_path, data, record)
    assert finding.code == code
    assert words in finding.message
    assert not re.search(r"Error opening|<.*>|\.$|\n", finding.message)  # what libraries say of themselves


@pytest.mark.parametrize(
    ("seconds", "source", "wrong"),
    [(5.0, "CLOTHO-AQA", False), (4.5, "CLOTHO-AQA", True), (60.0, "MUSIC-AVQA", True), (60.0, "starss23", False)],
)
def test_recordings_of_ruenvaqa_last_5_to_20_seconds(seconds: float, source: str, wrong: bool, tmp_path: Path) -> None:
    record = json.loads((CASES / "QAI126" / "good.json").read_text("utf-8"))
    record["data"] = record["data"][:1]
    record["data"][0]["meta"]["categories"]["source_dataset"] = source
    file = tree(tmp_path, [], {"samples/audio001.wav": wav(seconds, channels=1)}, "test.json")
    file.write_text(json.dumps(record, ensure_ascii=False, indent=4), "utf-8")
    assert codes(file) == ["QAI306"] * wrong


def test_what_all_recordings_share_is_said_once(tmp_path: Path) -> None:
    names = [f"audio/test/foa_{number}.wav" for number in range(6)]
    records = [question(number, name) for number, name in enumerate(names)]
    file = tree(tmp_path, records, dict.fromkeys(names, wav(rate=24_000)))
    [finding] = found(file)
    assert finding.message.startswith("all 6 recordings have a rate of 24,000 Hz")
    (tmp_path / names[5]).write_bytes(wav())
    assert codes(file) == ["QAI304"] * 5


def test_times_of_proofs_and_parts(tmp_path: Path) -> None:
    event = {"class_name": "bell", "onset": 0.5, "offset": 1.9}
    base = {"id": "1", "audio": ["a.wav"], "question": "When?", "answer": "now", "task": "x"}
    records = [
        {**base, "start": 1.0, "end": 2.5, "events": [event]},
        {**base, "id": "2", "start": 1.0, "end": 3.0, "events": [event]},
        {**base, "id": "3", "start": 1.0, "end": 3.5},
        {**base, "id": "4", "events": [event, {**event, "offset": 3.6}]},
        {**base, "id": "5", "audio": ["a.wav", "a.wav"], "events": [{**event, "offset": 3.6}]},  # of which one?
    ]
    file = tree(tmp_path, records, {"a.wav": wav(3.0, 24_000, 2)}, "items.jsonl")
    findings = found(file, format="items")
    assert [(f.code, f.line) for f in findings] == [("QAI307", 1), ("QAI307", 3), ("QAI307", 4)]
    assert "the end of bell is 1.9 s, but the clip ends at 1.500 s" in findings[0].message


@pytest.mark.parametrize(
    ("place", "kind"),
    [("test.jsonl", "file"), ("qa/test.jsonl", "folder"), ("data/qa/v1/test.jsonl", "zip"), ("qa/test.jsonl", "gzip"),
     ("data/qa/v1/test.jsonl", "file"), ("qa/test.jsonl", "folder of questions")],
)  # fmt: skip
def test_paths_count_from_the_folder_or_one_above(place: str, kind: str, tmp_path: Path) -> None:
    file = tree(tmp_path / "set", [question()], {"audio/test/foa_a.wav": wav(rate=8_000)}, place)
    path = {"file": file, "folder": tmp_path / "set", "folder of questions": file.parent}.get(kind)
    if kind == "gzip":
        path = file.with_name("test.jsonl.gz")
        path.write_bytes(gzip.compress(file.read_bytes()))
    if kind == "zip":
        path = Path(shutil.make_archive(str(tmp_path / "set"), "zip", tmp_path / "set"))
    assert path is not None
    assert codes(path, format="so-bench") == ["QAI304"]


@linked
@pytest.mark.parametrize("path", ["../outside.wav", "audio/../../outside.wav", "link.wav", "folder/outside.wav"])
def test_nothing_outside_is_opened(path: str, tmp_path: Path) -> None:
    (tmp_path / "outside.wav").write_bytes(wav(rate=8_000))
    audio = {"audio/test/foa_a.wav": wav(), "audio/test/foa_b.wav": wav()}
    file = tree(tmp_path / "a/b/c/d/set", [question(1), question(2, path)], audio)
    (file.parent / "link.wav").symlink_to(tmp_path / "outside.wav")
    (file.parent / "folder").symlink_to(tmp_path)
    assert codes(file) == (["QAI301"] if ".." not in path else [])  # an unsafe path is QAI108 alone
    assert ("QAI108" in validate(file).by_rule()) == (".." in path)


@linked
def test_links_inside_are_followed_and_those_of_the_hub(tmp_path: Path) -> None:
    file = tree(tmp_path / "set", [question()], {"store/1.wav": wav(rate=8_000)})
    (tmp_path / "set/audio/test").mkdir(parents=True)
    (tmp_path / "set/audio/test/foa_a.wav").symlink_to("../../store/1.wav")
    assert codes(file) == ["QAI304"]
    cache = tmp_path / "hub/datasets--a--b"
    shutil.copytree(tmp_path / "set", cache / "snapshots/0123", symlinks=True)
    (cache / "blobs").mkdir()
    (cache / "snapshots/0123/store/1.wav").rename(cache / "blobs/abc")
    link = cache / "snapshots/0123/audio/test/foa_a.wav"
    link.unlink()
    link.symlink_to("../../../../blobs/abc")
    assert codes(cache / "snapshots/0123/qa/test.jsonl") == ["QAI304"]


JASCO = (
    "audio_id,Audio,Speech,Audio-Only Answer,Speech-Only Answer,Correct Answer,Correct Answer Keyword\n"
    + "".join(f"{number},rain,hello,a,b,c,c\n" for number in (46, 47, 48))
)  # fmt: skip


def test_jasco_and_its_odd_recording(tmp_path: Path) -> None:
    audio = {f"dataset/v0/{number}.wav": wav(rate=16_000, channels=1) for number in (46, 47, 48)}
    audio["dataset/v0/47.wav"] = with_chunks(wav(rate=48_000, channels=1), after=chunk(b"LIST", b"INFO"))
    file = tree(tmp_path, [], {"dataset/v0/v0.csv": JASCO.encode(), **audio}, "empty")
    assert found(tmp_path / "dataset/v0/v0.csv") == []
    (tmp_path / "dataset/v0/46.wav").write_bytes(wav(rate=48_000, channels=2))
    assert codes(tmp_path) == ["QAI304", "QAI304"]
    assert file.exists()


@given(cut=st.integers(0, 1050), before=st.binary(max_size=9), after=st.binary(max_size=9))
def test_missing_bytes_are_counted_to_the_byte(cut: int, before: bytes, after: bytes) -> None:
    last = chunk(b"LIST", after)
    data = with_chunks(wav(500 / 16_000, channels=1), before=chunk(b"junk", before), after=last)
    end = len(data) - len(last)  # of 1,000 bytes of sound
    stream = io.BytesIO(data[: len(data) - cut])
    header, whole = read_header(stream), len(data) - cut >= end - 1000  # the header is there
    assert (header.missing if header else 0) == (max(0, end - (len(data) - cut)) if whole else 0)
    assert stream.tell() == 0
