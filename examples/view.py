"""A clip as a page: labels, predictions and questions together, to be opened in a browser.

Run it anywhere: it makes its own small data set in a temporary folder. ``seldio view CLIP`` does the same.
"""

import tempfile
from pathlib import Path

import seldio
from seldio.synth.tree import write_demo

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    write_demo(root)
    labels = root / "starss23/metadata_dev/dev-train-tau/fold3_room4_mix001.csv"
    seldio.convert(root / "starss23/metadata_dev", root / "qa.jsonl", "items")

    page = seldio.view(
        labels, root / "page.html", predictions=root / "submission/mix001.csv", questions=root / "qa.jsonl"
    )

    print(f"{page.clip}: {page.events} events, {page.predictions} predicted, {page.questions} questions")
    print(f"{page.findings} findings, each at its place in time")
    print(f"{len(page.html) / 1000:.0f} kB in one file, which opens without a network")
