"""A small data set with sound and pictures, in which sources are seen where they are heard."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from commands import json_lines, laid

from seldio.formats import get
from seldio.schema.events import origin_of
from seldio.synth import scene
from seldio.synth.tree import write_clip

CLIP, SPLIT = "fold3_room21_mix013", "dev-train-sony"
SECONDS = 20.0


class Scene(NamedTuple):
    labels: Path
    predictions: Path
    questions: Path
    root: Path


def make_scene(root: Path) -> Scene:
    """Write a clip with two planted faults: a row twice, and an elevation beyond the pole."""
    table = write_clip(root, CLIP, SPLIT, scene(11, SECONDS, 12), SECONDS, 11)
    file = origin_of(table).files[0]
    lines = get("starss23").write(table, file).decode().splitlines()
    cells = lines[-30].split(",")
    lines[-30] = ",".join([*cells[:4], "97", *cells[5:]])
    lines.insert(len(lines) // 2, lines[len(lines) // 2])
    shifted = [line.split(",") for line in get("starss23").write(table, file).decode().splitlines()]
    rows = [
        f"{f},{c},{s},{(int(az) + 12 + 180) % 360 - 180},{int(el) // 2},{d}" for f, c, s, az, el, d in shifted[4::1]
    ]
    records: list[dict[str, Any]] = [
        {
            "id": "q1", "audio": [f"{SPLIT}/{CLIP}.wav"], "start": 5.0, "end": 15.0, "task": "detect_time",
            "question": "When does the first sound of this part begin?", "answer": "At 1.0 s.",
            "events": [{"class_name": "Laughter", "onset": 1.0, "offset": 3.5, "azimuth": 90.0}],
        },
        {
            "id": "q2", "audio": [f"{SPLIT}/{CLIP}.wav"], "task": "which", "language": "ru",
            "question": "Что слышно слева?\nВыберите один ответ.", "options": ["смех", "шаги"], "answer": "смех",
        },
        {"id": "q3", "audio": ["other.wav"], "task": "which", "question": "Another clip?", "answer": "yes"},
    ]  # fmt: skip
    labels, predictions = f"metadata_dev/{SPLIT}/{CLIP}.csv", f"output/{CLIP}.csv"
    laid(root, {labels: "\n".join(lines) + "\n", predictions: "\n".join(rows) + "\n"})
    return Scene(root / labels, root / predictions, json_lines(root / "qa.jsonl", records), root)
