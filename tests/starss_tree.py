"""A small data set in STARSS23's folders: recordings that number their own samples, and labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

from seldio import formats
from seldio.formats import ItemFormat
from seldio.schema.qa import Item

#: Few samples a second keep it quick; a label frame has a whole number of them.
RATE = 1_000
CLIPS = (("dev-train-sony", "fold3_room21_mix001", 2.0), ("dev-train-tau", "fold3_room4_mix001", 1.25),
         ("dev-test-tau", "fold4_room2_mix001", 0.7))  # fmt: skip
LABELS = {
    "fold3_room21_mix001": "0,1,0,90,0,150\n0,1,1,0,0,250\n1,1,0,0,90,150\n5,4,0,180,0,300\n",
    "fold3_room4_mix001": "3,1,0,-90,0,100\n3,1,1,0,0,100\n3,1,2,90,0,100\n3,1,3,45,0,100\n12,2,0,0,0,50\n",
    "fold4_room2_mix001": "",
}


def sound(number: int, seconds: float) -> np.ndarray:
    """The samples of clip *number*, shape (frames, 4): no two alike."""
    frames = round(seconds * RATE)
    return (np.arange(frames * 4).reshape(frames, 4) + 10_000 * number - 15_000).astype(np.int16)


def write(root: Path) -> Path:
    """The data set below *root*."""
    for number, (split, clip, seconds) in enumerate(CLIPS):
        for folder, suffix in (("foa_dev", "wav"), ("metadata_dev", "csv")):
            path = root / folder / split / f"{clip}.{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            if suffix == "wav":
                soundfile.write(path, sound(number, seconds), RATE, subtype="PCM_16")
            else:
                path.write_text(LABELS[clip], "utf-8")
    return root


#: Of a part of one recording, and of a whole one.
QUESTIONS = (
    {"id": "a", "audio": ["foa_dev/dev-train-tau/fold3_room4_mix001.wav"], "start": 0.7, "end": 1.1,
     "task": "count_sources", "question": "How many?", "answer": "4", "split": "train"},
    {"id": "b", "audio": ["foa_dev/dev-test-tau/fold4_room2_mix001.wav"], "task": "detect_time",
     "question": "When?", "options": ["now", "never"], "answer": "never", "split": "test"},
)  # fmt: skip


def write_questions(root: Path) -> Path:
    """Questions about the data set below *root*, in it."""
    rows = [Item.model_validate(question) for question in QUESTIONS]
    (root / "questions.jsonl").write_bytes(formats.get("items", ItemFormat).write(rows))
    return root
