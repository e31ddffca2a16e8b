"""Scores in Python: a system against its labels, with intervals, two systems compared, and while a model trains.

And two versions of labels: what changed, and whether one cause explains it.

Run it anywhere: it makes its own small data set in a temporary folder.
"""

import tempfile
from pathlib import Path

import numpy as np

import seldio
from seldio.synth.tree import write_demo

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    write_demo(root)
    reference = root / "starss23/metadata_dev"
    truth = seldio.read(reference)

    # a system that hears everything, ten degrees too far to the left
    azimuth = (truth["azimuth"].to_numpy() + 190) % 360 - 180
    heard = truth.set_column(truth.column_names.index("azimuth"), "azimuth", [np.round(azimuth)])
    seldio.write(heard, root / "predictions", "dcase2023-submission", allow_loss=["source", "distance"])

    report = seldio.score(root / "predictions", reference, profile="dcase2023", intervals="bootstrap")
    for name, cell in report.overall.items():
        print(f"{name:<8} {cell if isinstance(cell, str) else tuple(round(part, 3) for part in cell)}")
    for notice in report.notices:
        print(f"note: {notice.text}")

    # where its errors come from
    chosen = {"profile": "dcase2023", "table": "errors", "threshold": {"angle": 9.5}}
    report = seldio.score(root / "predictions", reference, **chosen)
    for error, count, lost, *_ in report.table("errors"):
        print(f"{error:<12} {count or '':>4}  {100 * lost:.1f} points of F")

    # is it better than one that hears everything fifteen degrees too high? Four clips are too few to tell
    raised = np.minimum(truth["elevation"].to_numpy() + 15, 90)
    higher = truth.set_column(truth.column_names.index("elevation"), "elevation", [raised])
    seldio.write(higher, root / "higher", "dcase2023-submission", allow_loss=["source", "distance"])
    systems = [root / "higher", root / "predictions"]
    compared = seldio.compare(systems, reference, profile="dcase2023")
    print(compared.to_pandas("tests").to_string(index=False))

    # what a new version of the labels changes: one rotation in all clips is one line
    seldio.write(heard, root / "turned", "starss23")
    print(seldio.diff(reference, root / "turned").to_pandas("changes").to_string(index=False))

    live = seldio.SeldAccumulator("dcase2024-angles", "micro")
    for clip in truth["clip"].unique().to_pylist():
        rows = [table.filter(np.asarray(table["clip"].to_pylist()) == clip) for table in (truth, heard)]
        live.update(clip, *rows)
    print({name: round(value, 3) for name, value in live.compute().items()})
