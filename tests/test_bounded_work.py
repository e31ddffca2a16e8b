"""Work that grows with the file and no faster, and findings that do not grow, whatever a file holds."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from commands import laid
from effort import grows_no_faster

import seldio
from seldio import formats
from seldio.answers.reading import read as read_reply
from seldio.answers.words import plainly, unsure
from seldio.conversion.frames import rescaled
from seldio.errors import DataError, InvalidData
from seldio.formats import ItemFormat, LabelFormat
from seldio.scores.ranking import read_scores

CASES = Path(__file__).parent / "cases"
#: Pieces of which a file can hold any number, and that are special to some syntax.
PIECES = (
    *("0", "-", " ", "\n", "\r", ",", ";", ":", '"', "\\", "\\ud800", "#"),
    *("[", "{", '{"a":', '"a":1,', "</a>", "<a>", "&amp;", "<!--", "1,2,3,4,5\n", "1,", "- a\n", "1e5,", "é,", "\u2028"),
)  # fmt: skip


def samples() -> list[Path]:
    """A file of each format, the first of its example."""
    folders = sorted([*(CASES / "formats").iterdir(), *(CASES / "formats-items").iterdir()])
    return [
        next(path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "rows.jsonl")
        for folder in folders
    ]


def check(tmp_path: Path, name: str, made: Callable[[int], bytes], size: int) -> None:
    """That a file which *made* gives is validated in linear time, with no more findings."""
    place = tmp_path / name
    counts: dict[int, int] = {}

    def work(size: int) -> None:
        place.write_bytes(made(size))
        counts[size] = len(seldio.validate(place).findings)

    assert grows_no_faster(work, size)
    assert counts[2 * size] <= max(counts[size] + 5, 150)


def in_turn() -> Iterator[Any]:
    """Each piece with an example of each syntax, and with another one of it than the piece before: all dialects of a
    syntax have one reader.
    """
    syntaxes: dict[tuple[str, str, bool], list[Path]] = {}
    for path in samples():
        name = path.parent.name
        syntax = type(formats.named(name, LabelFormat) or formats.get(name, ItemFormat)).__name__
        headed = not path.read_bytes()[:1].isdigit()
        syntaxes.setdefault((syntax, path.suffix, headed), []).append(path)
    for examples in syntaxes.values():
        assert len(examples) <= len(PIECES)
        for number, piece in enumerate(PIECES):
            example = examples[number % len(examples)]
            yield pytest.param(example, piece, id=f"{example.parent.name}-{piece!a}")


@pytest.mark.parametrize(("example", "piece"), [*in_turn()])
@pytest.mark.slow
def test_a_run_of_anything_behind_a_valid_head(tmp_path: Path, example: Path, piece: str) -> None:
    data = example.read_bytes()
    for head in (data, data[: len(data) // 2]):
        check(tmp_path, example.name, lambda size, head=head: head + (piece * size).encode("utf-8"), 20_000)


def elan(annotations: str, value: str = "speech") -> bytes:
    """A document with one annotation that has times, and others that depend on something."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ANNOTATION_DOCUMENT FORMAT="3.0">\n'
        '<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/>\n<TIME_ORDER>\n'
        '<TIME_SLOT TIME_SLOT_ID="ts1" TIME_VALUE="0"/>\n<TIME_SLOT TIME_SLOT_ID="ts2" TIME_VALUE="900"/>\n'
        '</TIME_ORDER>\n<TIER TIER_ID="events">\n<ANNOTATION>'
        '<ALIGNABLE_ANNOTATION ANNOTATION_ID="a0" TIME_SLOT_REF1="ts1" TIME_SLOT_REF2="ts2">'
        f"<ANNOTATION_VALUE>{value}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>\n</TIER>\n"
        f'<TIER TIER_ID="notes">\n{annotations}</TIER>\n</ANNOTATION_DOCUMENT>\n'
    ).encode()


def depending(number: int, on: int | str) -> str:
    return (
        f'<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a{number}" ANNOTATION_REF="a{on}">'
        "<ANNOTATION_VALUE>é</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>\n"
    )


def tasks(count: int) -> bytes:
    document = json.loads((CASES / "formats/label-studio/kitchen_4.json").read_bytes())
    return json.dumps(document + [numbered(document[0], number) for number in range(count)]).encode()


def of_2026(rows: int, points: int) -> bytes:
    frames = [{"metadata_frame_index": n, "instance_id": 1, "category_id": 8, "distance": 231.5} for n in range(rows)]
    maps = [[[n % 360, 90.0, 0.5] for n in range(points)]]
    return json.dumps({"annotations": [frame | {"segmentation": maps} for frame in frames]}).encode()


def options(count: int, *, alike: bool = False) -> bytes:
    texts = [f"option {number * (not alike)}" for number in range(count)]
    return json.dumps({"id": "a", "question": "b", "options": texts, "answer": texts[-1]}).encode() + b"\n"


#: What one format alone can hold any number of.
OWN: dict[str, tuple[str, Callable[[int], bytes], int]] = {
    "annotations in a chain": ("k.eaf", lambda n: elan("".join(depending(i, i - 1) for i in range(n, 0, -1))), 2_500),
    "annotations in a circle": ("k.eaf", lambda n: elan("".join(depending(i, i % n + 1) for i in range(1, n + 1))), 2_500),
    "annotations of one": ("k.eaf", lambda n: elan("".join(depending(i, 0) for i in range(1, n + 1))), 2_500),
    "annotations of none": ("k.eaf", lambda n: elan("".join(depending(i, "x") for i in range(1, n + 1))), 2_500),
    "references to characters": ("k.eaf", lambda n: elan("", "a&amp;" * n), 10_000),
    "elements of no use": ("k.eaf", lambda n: elan("<a>é</a>\n" * n), 10_000),
    "repeated keys in a line": ("q.jsonl", lambda n: b'{"question": "a", "answer": "b"' + b', "k": 1' * n + b"}\n", 20_000),
    "repeated keys in lines": ("q.jsonl", lambda n: b'{"question": "a", "answer": "b", "answer": "c"}\n' * n, 2_000),
    "different keys in a line": (
        "q.jsonl", lambda n: ('{"question": "a", "answer": "b"' + "".join(f', "k{i}": 1' for i in range(n)) + "}\n").encode(),
        10_000,
    ),
    "tasks of Label Studio": ("tasks.json", tasks, 300),
    "annotations of 2026": ("mix001_std.json", lambda n: of_2026(n, 1), 1_000),
    "points of a map": ("mix001_std.json", lambda n: of_2026(1, n), 4_000),
    "options of a question": ("q.jsonl", lambda n: options(n + 2), 2_000),
    "equal options of a question": ("q.jsonl", lambda n: options(n + 2, alike=True), 2_000),
    "shapes of records": (
        "q.jsonl", lambda n: "".join(f'{{"question": "a", "answer": "b", "k{i}": 1}}\n' for i in range(n)).encode(), 1_000,
    ),
}  # fmt: skip


def numbered(value: object, number: int) -> object:
    """A value with the number in each of its texts, as another one of the same kind: before a suffix, if it has one."""
    if isinstance(value, str):
        return re.sub(r"(?=\.\w+\Z)|(?<!\Z)\Z", str(number), value, count=1)
    if isinstance(value, list):
        return [numbered(each, number) for each in value]
    return {key: numbered(each, number) for key, each in value.items()} if isinstance(value, dict) else value


@pytest.mark.slow
@pytest.mark.parametrize("kind", OWN)
def test_what_one_format_can_hold_any_number_of(tmp_path: Path, kind: str) -> None:
    name, made, size = OWN[kind]
    check(tmp_path, name, made, size)


@pytest.mark.parametrize("kind", [kind for kind in OWN if kind.startswith("annotations in")])
def test_what_depends_on_a_time_in_the_end_is_kept(tmp_path: Path, kind: str) -> None:
    """Each of a chain belongs to its beginning; none of a circle does, and each is told."""
    place = tmp_path / "k.eaf"
    place.write_bytes(OWN[kind][1](300))
    report = seldio.validate(place)
    lost = sum(finding.count for finding in report.findings if finding.code == "SYN501")
    assert lost == (300 if kind.endswith("circle") else 0)


def test_many_repeated_keys_are_one_finding(tmp_path: Path) -> None:
    place = tmp_path / "q.jsonl"
    place.write_bytes(b'{"question": "a", "answer": "b"' + b', "k": 1' * 10_000 + b"}\n")
    assert [("SYN202", 9_999)] == [(finding.code, finding.count) for finding in seldio.validate(place).findings]


def test_numbers_far_apart_in_names(tmp_path: Path) -> None:
    laid(tmp_path, {f"x_{number}.csv": "0,1,0,10,20\n" for number in (10**7, 2 * 10**7)})
    tracemalloc.start()
    seldio.validate(tmp_path, format="starss22")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**28


def test_a_reference_without_end_is_not_scored(tmp_path: Path) -> None:
    laid(tmp_path, {"fold4_room23_mix001.csv": "0,1,0,10,20,100\n999999999,1,0,10,20,100\n"})
    with pytest.raises(DataError, match="999,999,999 in the reference, but no recording is longer"):
        seldio.score(tmp_path, reference=tmp_path, format="starss23", force=True)


def test_frames_of_a_frame_without_end() -> None:
    table = pa.table({"clip": ["a"] * 30, "frame": [0] * 30})
    with pytest.raises(DataError, match="30 rows would become 120,000,000"):
        rescaled(table, Fraction(80_000), Fraction(1, 50))


def test_tags_without_end(tmp_path: Path) -> None:
    (tmp_path / "k.eaf").write_bytes(elan("<a/>" * 2_000_000))
    assert "2,000,000 tags" in seldio.validate(tmp_path).findings[0].message


def test_columns_without_end(tmp_path: Path) -> None:
    check(tmp_path, "fold4_room23_mix001.csv", lambda n: (b"%d" + b",7" * n + b"\n") * 40 % tuple(range(40)), 100)


@pytest.mark.parametrize(
    ("head", "piece"),
    [("", "1.1 "), ("answer", "1 degrees "), ("ответ: ", "answer "), ("**", "answer:\n"), ("", "yes "),
     ("ответ: ", "слева "), ("answer", "a**"), ("", "<think>"), ("**", "?")],
)  # fmt: skip
def test_replies_without_end(head: str, piece: str) -> None:
    def read(size: int) -> None:
        text = head + piece * size
        unsure(plainly(text), numeric=True)
        read_reply(text, ["yes", "no"])
        read_reply(text, ["violin", "flute"])

    assert grows_no_faster(read, 2_000)


def test_marks_behind_the_word_answer_without_end() -> None:
    assert grows_no_faster(lambda size: plainly("answer" + "*" * size), 8_000)


@pytest.mark.parametrize("line", ["a  ", "1  ,", "1\t \t", "1 , "])
def test_notes_next_to_labels_without_end(tmp_path: Path, line: str) -> None:
    (tmp_path / "notes.txt").write_text(line * 1_000 + "!\n")
    (report,) = seldio.validate(tmp_path).findings
    assert report.code == "LAY118"


def test_options_of_a_scored_question_without_end() -> None:
    def score(size: int) -> None:
        texts = [f"option {number}" for number in range(size)]
        read_reply("The answer is option 3.", texts)
        read_reply("option 3", texts)

    assert grows_no_faster(score, 2_000)


def test_files_of_scores_have_an_end(tmp_path: Path) -> None:
    place = tmp_path / "scores.json"
    place.write_bytes(b"[" + b"{}," * 6_000_000 + b"{}]")
    with pytest.raises(InvalidData, match="16,777,216 bytes"):
        read_scores(place)
