"""Energy maps (DCASE 2026): write labels and detections as JSON, score them, draw them.

Run it anywhere: it makes its own small data set in a temporary folder.
"""

import json
import tempfile
from pathlib import Path

import numpy as np

import seldio

luck = np.random.default_rng(0)


def annotation(frame: int, number: int, x: float, y: float) -> dict[str, object]:
    """A source of class *number* whose energy falls off around (x, y) on a panorama of 360 x 180."""
    points = luck.normal((x, y), 8, (50, 2))
    energy = np.exp(-((points - (x, y)) ** 2).sum(axis=1) / 128)
    polygon = [
        [round(a % 360, 2), round(b, 2), round(e, 4)]
        for (a, b), e in zip(points.tolist(), energy.tolist(), strict=True)
    ]
    return {"metadata_frame_index": frame, "instance_id": 0, "category_id": number, "distance": 200.0,
            "segmentation": [polygon]}  # fmt: skip


with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    for name in ("labels", "predictions"):
        (root / name).mkdir()
    labels = [annotation(frame, 8, 90 + frame, 80) for frame in range(30)]
    detections = [annotation(frame, 8, 93 + frame, 82) | {"score": 0.9 - frame / 100} for frame in range(30)]
    # the official program pairs X.json with X_std.json
    (root / "labels/fold4_room2_mix001_std.json").write_text(json.dumps({"annotations": labels}))
    (root / "predictions/fold4_room2_mix001.json").write_text(json.dumps({"annotations": detections}))

    report = seldio.score(root / "predictions", root / "labels")
    print(f"mAP {report.overall['mAP']:.3f}  Pearson r {report.overall['r']:.3f}")
    print(seldio.info(root / "labels")["groups"][0]["maps"])
    print(seldio.plot(root / "labels", root / "clip.svg").path)
