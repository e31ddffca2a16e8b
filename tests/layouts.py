"""Every example of every format, and the ways in which its files may lie; what they hold does not come from seldio."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import tarfile
import wave
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from commands import laid

CASES = Path(__file__).parent / "cases"
#: What holds replies to questions; all other formats of questions hold questions.
REPLIES = {"predictions", "predictions-parquet", "inspect-log", "so-bench-predictions", "jasco-predictions",
           "adqa-submission", "ruenvaqa-submission"}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Example:
    """Files of one format, as they lie below a folder, and what they hold."""

    name: str
    format: str
    files: Mapping[str, bytes]
    #: of each file that holds something, its rows by clip; of questions and replies, their number under ""
    held: Mapping[str, Mapping[str, int]]
    of_labels: bool = True
    audio: tuple[str, ...] = ()  # the recordings that questions name
    source: str = "."  # what is asked about, below the folder

    @property
    def clips(self) -> dict[str, int]:
        """The rows of each clip."""
        return {clip: rows for own in self.held.values() for clip, rows in own.items()}

    @property
    def rows(self) -> int:
        return sum(self.clips.values()) if self.of_labels else sum(own[""] for own in self.held.values())

    def write(self, folder: Path) -> Path:
        """The files below *folder*; the path to ask about."""
        return laid(folder, self.files) / self.source


def clip_of(name: str) -> str:
    """The clip that a file of labels is of, as whoever wrote the file says it."""
    return re.sub(r"_(std|inference)$", "", re.sub(r"(?i)\.table\.1\.selections$", "", Path(name).stem))


def _of(folder: Path) -> tuple[dict[str, bytes], list[dict[str, object]]]:
    """The files of an example, and the rows that are said to be in them."""
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    return files, [json.loads(line) for line in files.pop("rows.jsonl").decode().splitlines()]


def label_examples() -> Iterator[Example]:
    for folder in sorted((CASES / "formats").iterdir()):
        files, rows = _of(folder)
        clips = Counter(clip_of(f"{row['clip']}.x") for row in rows)
        one_each = {name: {clip_of(name): clips[clip_of(name)]} for name in files}
        yield Example(folder.name, folder.name, files, one_each)


_QUESTION = {"instruction": "{question} {option_a} {option_b}", "outputs": "A", "meta": {"id": 1, "categories": {
    "task_type": "Audio captioning", "source_dataset": "CLOTHO-AQA", "knowledge": "common"}},
    "inputs": {"question": "Что?", "audio": "samples/audio001.wav", "option_a": "Да", "option_b": "Нет"}}  # fmt: skip
_JASCO = (
    "id,audio,n_frames,audio_sound,spoken_text,prompt,with_speech,audio_only_target,speech_only_target,target_keywords,"
    "tgt_text,allm_output"
)
#: Formats without an example of their own: their files, and how many questions or replies they hold.
_SMALL: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "jasco": ("v0.csv", 1, (
        "audio_id,Audio,Speech,Audio-Only Answer,Speech-Only Answer,Correct Answer,Correct Answer Keyword",
        "1,Waves,Let us build.,At the beach.,Building.,A sandcastle.,sandcastle")),
    "jasco-predictions": ("out.csv", 1, (
        _JASCO,
        "1,dataset/v0/1.wav,150010,Waves,Let us build.,What?,True,At the beach.,Building.,sandcastle,A sandcastle.,A fort")),
    "adqa-submission": ("output.csv", 2, ("question,answer", "dev_0001,A door closing", "dev_0002,A woman")),
    "ruenvaqa": ("test.json", 1, (json.dumps({"access": "public", "data": [_QUESTION]}, ensure_ascii=False),)),
    "ruenvaqa-submission": ("ruEnvAQA.json", 1, ('{"data": {"test": [{"outputs": "A", "meta": {"id": 1}}]}}',)),
}  # fmt: skip


def question_examples() -> Iterator[Example]:
    """Those of questions and of replies."""
    for folder in sorted((CASES / "formats-items").iterdir()):
        files, rows = _of(folder)
        audio = [str(name).removeprefix("./") for row in rows for name in row.get("audio") or ()]  # type: ignore[attr-defined]
        yield Example(folder.name, folder.name, files, {next(iter(files)): {"": len(rows)}}, False, tuple(audio))
    for name, (file, count, lines) in _SMALL.items():
        data = ("\n".join(lines) + "\n").encode()
        yield Example(name, name, {file: data}, {file: {"": count}}, False)


def tables(folder: Path) -> Iterator[Example]:
    """The formats of tables, which only seldio writes."""
    import seldio

    by_name = {one.name: one for one in (*label_examples(), *question_examples())}
    for source, target in (("starss23", "parquet"), ("mmau", "items-parquet"), ("predictions", "predictions-parquet")):
        example = by_name[source]
        given = example.write(folder / source)
        seldio.convert(given, folder / f"{target}.parquet", target)
        held = example.clips if example.of_labels else {"": example.rows}
        data = {"table.parquet": (folder / f"{target}.parquet").read_bytes()}
        yield Example(target, target, data, {"table.parquet": held}, example.of_labels)


def several(one: Example) -> Example | None:
    """A file of more than one recording, where the format has such files."""
    name, data = next(iter(one.files.items()))
    held: dict[str, int]
    if one.format == "label-studio":
        second = json.loads(data.replace(b"kitchen_4", b"hall_9"))
        second[0]["id"] = 99
        data, held = json.dumps(json.loads(data) + second).encode(), {"kitchen_4": 3, "hall_9": 3}
    elif one.format == "raven":
        rows = (("kitchen", 1, 10), ("kitchen", 2, 20), ("hall", 3, 30))
        lines = ["Selection\tBegin Time (s)\tEnd Time (s)\tBegin File\tFile Offset (s)\tAnnotation"]
        lines += [f"{n}\t{n}.0\t{n}.5\t{clip}.wav\t{n}.0\tKnock az={az} el=0 dist=1" for clip, n, az in rows]
        name, data, held = "all.txt", "\n".join([*lines, ""]).encode(), {"kitchen": 2, "hall": 1}
    else:
        return None
    return dataclasses.replace(one, files={name: data}, held={name: held})


def annotators(one: Example) -> Example | None:
    """The labels of two people of one recording, in one file."""
    if one.format != "jams":
        return None
    name, data = next(iter(one.files.items()))
    value = json.loads(data)
    second = json.loads(json.dumps(value["annotations"][0]))
    second["annotation_metadata"] = {"annotator": {"name": "BO"}}
    value["annotations"] = [value["annotations"][0], second]
    held = {f"{clip_of(name)}_by{n}": 3 for n in (1, 2)}
    return dataclasses.replace(one, files={name: json.dumps(value).encode()}, held={name: held})


def below(one: Example, folder: str) -> Example:
    """The same, in a folder."""
    files, held = ({f"{folder}/{name}": value for name, value in of.items()} for of in (one.files, one.held))
    return dataclasses.replace(one, files=files, held=held)  # type: ignore[arg-type]


def first(one: Example) -> Example:
    """A file by itself, with what has to be beside it."""
    name = next((name for name, own in one.held.items() if sum(own.values())), next(iter(one.held)))
    files = {path: data for path, data in one.files.items() if path == name or path not in one.held}
    return dataclasses.replace(one, files=files, held={name: one.held[name]}, source=name)


def packed(one: Example, archive: str) -> Example:
    """The folder ``set`` in an archive."""
    made = io.BytesIO()
    if archive.endswith(".zip"):
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
            for name, data in one.files.items():
                file.writestr(f"set/{name}", data)
    else:
        with tarfile.open(fileobj=made, mode="w:gz") as tar:
            for name, data in one.files.items():
                member = tarfile.TarInfo(f"set/{name}")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
    return dataclasses.replace(one, files={archive: made.getvalue()}, source=archive)


def copies(one: Example) -> Example | None:
    """Three copies of a file, called as other clips."""
    alone = first(one)
    if len(alone.files) > 1 or len(alone.clips) > 1 or not one.of_labels or one.format in ("label-studio", "parquet"):
        return None
    ((name, data),) = alone.files.items()
    stem, dot, suffix = name.partition(".")
    number = re.search(r"\d+(?=\D*$)", stem)
    if number is None:
        return None
    files, held = {}, {}
    for n in range(3):
        other = f"{stem[: number.start()]}{int(number[0]) + n:0{len(number[0])}}{stem[number.end() :]}{dot}{suffix}"
        files[other], held[other] = data, {clip_of(other): one.rows if len(one.held) == 1 else alone.rows}
    return dataclasses.replace(one, files=files, held=held)


def wav(seconds: float, rate: int, channels: int) -> bytes:
    """A recording of noise."""
    made = io.BytesIO()
    noise = np.random.default_rng(channels).integers(-900, 900, (round(seconds * rate), channels), dtype=np.int16)
    with wave.open(made, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(noise.tobytes())
    return made.getvalue()


def with_audio(one: Example | None) -> Example | None:
    """Recordings beside labels, called as their clips; those that questions name, where they say."""
    if one is None or not (one.of_labels or all(name.endswith(".wav") for name in one.audio)):
        return None
    clips = {re.sub(r"_by\d$", "", clip): f"{re.sub(r'_by[0-9]$', '', clip)}.wav" for clip in one.clips}
    sound = wav(8.0, 8_000, 4) if one.of_labels else wav(1.0, 8_000, 1)
    names = tuple(clips.values()) if one.of_labels else one.audio
    return dataclasses.replace(one, files={**one.files, **dict.fromkeys(names, sound)}, audio=names) if names else None


#: The folders of data sets: of labels with what the file is called, and of recordings.
_TREES = {
    "starss22": ("metadata_dev/dev-test-tau/{}.csv", ("foa_dev/dev-test-tau/{}.wav", "mic_dev/dev-test-tau/{}.wav"), 4),
    "starss23": ("metadata_dev/dev-test-tau/{}.csv", ("foa_dev/dev-test-tau/{}.wav", "mic_dev/dev-test-tau/{}.wav"), 4),
    "dcase2020": ("metadata_dev/{}.csv", ("foa_dev/{}.wav", "mic_dev/{}.wav"), 4),
    "dcase2025": ("metadata_dev/dev-test/{}.csv", ("stereo_dev/dev-test/{}.wav",), 2),
    "dcase2026": ("labels_dev/dev-test/{}_std.json", ("eigen_dev/dev-test/{}.wav",), 32),
}  # fmt: skip


def tree(one: Example) -> Example | None:
    """As the data set of the format lies."""
    if one.format not in _TREES:
        return None
    labels, recordings, channels = _TREES[one.format]
    files = {labels.format(clip_of(name)): data for name, data in one.files.items()}
    held = {labels.format(clip_of(name)): own for name, own in one.held.items()}
    audio = {name.format(clip): wav(8.0, 8_000, channels) for clip in one.clips for name in recordings}
    return dataclasses.replace(one, files=files | audio, held=held, audio=tuple(audio))


_LITTER = {"README.md": b"# A set\n", ".DS_Store": b"\0\0\0\1Bud1", "notes.docx": b"PK\3\4 no zip", "LICENSE": b"MIT\n",
           "room.png": b"\x89PNG\r\n\x1a\n", "class_names.tsv": b"0\tfemale\n1\tmale\n", "config.yaml": b"rate: 1\n"}  # fmt: skip
_ASKED = json.dumps({"id": "q1", "audio": ["a.wav"], "question": "What?", "answer": "A knock"}).encode() + b"\n"


def beside(one: Example, files: Mapping[str, bytes]) -> Example:
    """*one* with other files beside it."""
    return dataclasses.replace(one, files={**one.files, **files})


def mixed(one: Example) -> Example:
    """A question beside labels, or labels beside questions."""
    labels = {"fold4_room23_mix001.csv": b"4,8,0,14,0,150\n5,8,0,14,0,150\n"}
    return beside(one, {"more.jsonl": _ASKED} if one.of_labels else labels)


LAYOUTS: dict[str, Callable[[Example], Example | None]] = {
    "file": first,
    "folder": lambda one: below(one, "set"),
    "deep": lambda one: below(one, "set/a/b"),
    "zip": lambda one: packed(one, "set.zip"),
    "tar.gz": lambda one: packed(one, "set.tar.gz"),
    "copies": copies,
    "several": several,
    "annotators": annotators,
    "audio": with_audio,
    "tree": tree,
    "litter": lambda one: beside(one, _LITTER),
    "mixed": mixed,
}
