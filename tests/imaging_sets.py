"""Random sets of energy maps (labels and detections as JSON of 2026) that hold what programs stumble over."""

from __future__ import annotations

from typing import Any

import numpy as np

Document = dict[str, list[dict[str, Any]]]


def imaging_set(seed: int) -> list[tuple[Document, Document]]:
    rng = np.random.default_rng(seed)
    ties = seed % 4 == 3
    return [_clip(rng, ties) for _ in range(int(rng.integers(1, 4)))]


def _clip(rng: np.random.Generator, ties: bool) -> tuple[Document, Document]:
    labels: list[dict[str, Any]] = []
    detections: list[dict[str, Any]] = []
    classes = rng.choice(13, size=int(rng.integers(1, 5)), replace=False)
    for frame in sorted(rng.choice(40, size=int(rng.integers(1, 7)), replace=False).tolist()):
        for source in range(int(rng.integers(0, 4))):
            polygons = [_polygon(rng) for _ in range(int(rng.choice([1, 1, 1, 2, 0])))]
            label = {
                "metadata_frame_index": frame, "instance_id": source, "category_id": int(rng.choice(classes)),
                "distance": float(rng.integers(50, 600)), "segmentation": polygons,
            }  # fmt: skip
            labels.append(label)
            if rng.random() < 0.75:
                near, distance = (
                    [_near(rng, polygon) for polygon in polygons],
                    label["distance"] * rng.uniform(0.5, 1.5),
                )
                detections.append({**label, "segmentation": near, "distance": round(float(distance), 1)})
        for source in range(int(rng.integers(0, 3))):
            detections.append({  # noqa: PERF401
                "metadata_frame_index": frame, "instance_id": source, "category_id": int(rng.integers(0, 13)),
                "distance": float(rng.integers(0, 600)), "segmentation": [_polygon(rng)],
            })  # fmt: skip
    for detection in detections:
        detection["score"] = round(float(rng.random()), 1 if ties else 9)
        if ties and rng.random() < 0.1:
            del detection["score"]
    return {"annotations": labels}, {"annotations": detections}


def _polygon(rng: np.random.Generator) -> list[list[float]]:
    kind = int(rng.choice(8))
    count = int(rng.choice([1, 2, 3, 4, 8, 20, 50])) if kind else 0
    centre = np.array([rng.choice([rng.uniform(0, 360), 2.0, 358.0]), rng.uniform(0, 180)])
    points = centre + rng.normal(0, rng.choice([3.0, 9.0, 20.0]), (count, 2))
    if kind == 1:  # on one line
        points = centre + np.outer(np.arange(count), [1.5, 0.5])
    if kind >= 6:  # on whole numbers
        points = np.unique(np.round(points), axis=0)
    points = np.column_stack((points[:, 0] % 360, np.clip(points[:, 1], 0, 180)))
    energies = rng.uniform(0, 1, len(points)).round(4)
    if kind == 7:
        energies[rng.random(len(points)) < 0.4] = 0.0
    return [[*map(float, np.round(point, 2)), float(e)] for point, e in zip(points, energies, strict=True)]


def _near(rng: np.random.Generator, polygon: list[list[float]]) -> list[list[float]]:
    how = int(rng.choice(4))
    if how == 0:
        return polygon
    off = rng.normal(0, (1.0, 4.0, 0.0)[how - 1], 2)
    return [
        [
            round((x + float(off[0])) % 360, 2),
            round(min(max(y + float(off[1]), 0.0), 180.0), 2),
            round(e * float(rng.uniform(0.5, 1.0)), 4),
        ]
        for x, y, e in polygon
    ]
