"""Replies of a model in a list of your own: scored with intervals, the doubtful ones listed, a table for a paper.

Run it anywhere: it makes its own few questions in a temporary folder.
"""

import json
import tempfile
from pathlib import Path

import seldio

SOUNDS = ["dog barking", "rain", "car horn", "violin"]
RIGHT = [*SOUNDS, *SOUNDS]
REPLIES = ["dog barking", "B", "It is the car horn.", "I cannot tell.", "rain", "rain", "**car horn**", "violin"]

questions = [
    {"id": f"q{n}", "audio": [f"{n}.wav"], "question": "What is heard?", "options": SOUNDS, "answer": right}
    for n, right in enumerate(RIGHT)
]
replies = [{"sample_id": f"q{n}", "response_text": text, "model": "mine"} for n, text in enumerate(REPLIES)]

with tempfile.TemporaryDirectory() as folder:
    items = Path(folder) / "items.jsonl"
    fields = {"id": "sample_id", "prediction": "response_text"}
    report = seldio.score(replies, questions, fields=fields, items=items)
    for row in map(json.loads, items.read_text("utf-8").splitlines()):
        print(f"{row['verdict']:<17} {row['reply']!r:<22} {row['doubt']}")

_, _, recordings, accuracy, _, how = report.table("intervals").rows[0]
print(f"accuracy {accuracy.value:.2f} [{accuracy.low:.2f}, {accuracy.high:.2f}] over {recordings} recordings, {how}")
differs = seldio.verify(report.signature, replies, questions, fields=fields)
print(f"the same files have the same signature: {not differs}")
