"""Tracks beside TrackEval: ``python benchmarks/tracks.py FOLDER``.

FOLDER is a checkout of TrackEval, which is not part of seldio. Its HOTA, CLEAR and Identity metrics get each class of
each clip as a sequence, with the similarities of all rows ready made; seldio has the rows alone, and works out their
angles. Both end in HOTA, IDF1 and identity switches, which have to agree.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pyarrow as pa

from seldio import synth
from seldio.scores.seld import tracking
from seldio.scores.seld.pairing import SPHERICAL
from seldio.scores.seld.rows import EventFrames, event_frames

CLIPS, SECONDS, SPOTS, CLASSES, ANGLE = 20, 60.0, 20, 13, 20.0


def main() -> None:
    """Make the data, run both, check that they agree, and print the ratio."""
    metrics = load(Path(sys.argv[1]).resolve())
    reference, prediction = sides()
    sequences = [found for clip in range(CLIPS) for label in range(CLASSES)
                 if (found := sequence(reference, prediction, clip, label)) is not None]  # fmt: skip
    names = [f"clip{number}" for number in range(CLIPS)]
    mine, theirs = [], []
    for _ in range(3):
        start = time.perf_counter()
        each = [[metric.eval_sequence(one) for one in sequences] for metric in metrics]
        theirs.append(time.perf_counter() - start)
        for _ in range(3):
            start = time.perf_counter()
            counts = tracking.count(reference, prediction, names, SPHERICAL, ANGLE, CLASSES)
            mine.append(time.perf_counter() - start)
    hota, clear, identity = (
        metric.combine_sequences(dict(enumerate(some))) for metric, some in zip(metrics, each, strict=True)
    )
    (own,) = tracking.values(tracking.pooled(counts))[0]
    np.testing.assert_allclose(own[[0, 4]], [np.mean(hota["HOTA"]), identity["IDF1"]], rtol=1e-9)
    assert counts.switches.sum() == clear["IDSW"]
    a, b = float(np.median(mine)), float(np.median(theirs))
    rows = f"{len(reference):,} reference rows, {len(prediction):,} predicted rows"
    print(f"{CLIPS} clips, {rows}, {len(sequences)} classes of clips")
    print(f"HOTA, IDF1, identity switches    {a:6.3f} s   TrackEval {b:6.2f} s   1/{b / a:.1f}")


def load(folder: Path) -> list[Any]:
    """Its metrics; what it has for data of its own is replaced by empty modules."""
    sys.path.insert(0, str(folder))
    sys.modules |= {f"trackeval.{name}": MagicMock() for name in ("eval", "datasets", "plotting")}
    vars(np).update(float=float, int=int, bool=bool)  # names that numpy no longer has
    from trackeval import metrics

    quiet = {"PRINT_CONFIG": False}
    return [metrics.HOTA(), metrics.CLEAR(quiet), metrics.Identity(quiet)]


def sides() -> tuple[EventFrames, EventFrames]:
    """Labels, and a system that misses rows, errs by some degrees and changes its numbers now and then."""
    luck, index = np.random.default_rng(1), {f"clip{number}": number for number in range(CLIPS)}
    tables: tuple[list[pa.Table], list[pa.Table]] = ([], [])
    for number in range(CLIPS):
        table = synth.labels(f"clip{number}", synth.scene(number, SECONDS, SPOTS)).replace_schema_metadata()
        columns = {name: table[name] for name in ("clip", "frame", "class_id", "source", "azimuth", "elevation")}
        columns["clip"] = columns["clip"].cast(pa.string())
        source, azimuth = (columns[name].to_numpy() for name in ("source", "azimuth"))
        _, first = np.unique(np.stack([columns[name].to_numpy() for name in ("frame", "class_id", "source")]),
                             axis=1, return_index=True)  # fmt: skip
        off = 15 * np.sin(0.37 * columns["frame"].to_numpy() + source)
        changed = columns | {
            "source": pa.array(source + 1 + 10 * (columns["frame"].to_numpy() // 50 % 3), pa.int32()),
            "azimuth": pa.array(np.round((azimuth + off + 180) % 360 - 180, 4)),
        }
        tables[0].append(pa.table(columns).take(np.sort(first)))
        tables[1].append(pa.table(changed).take(np.sort(first[luck.random(len(first)) < 0.85])))
    a, b = (event_frames(pa.concat_tables(some), index) for some in tables)
    return a, b


def sequence(reference: EventFrames, prediction: EventFrames, clip: int, label: int) -> dict[str, Any] | None:
    """A class of a clip as TrackEval wants it: by frame the numbers of both sides from 0 on, and their similarities."""
    sides = reference, prediction
    some = [side.take(np.flatnonzero((side.clip == clip) & (side.class_id == label))) for side in sides]
    if not any(len(side) for side in some):
        return None
    whole = [SPHERICAL.prepare(side) for side in some]
    ids = [np.unique(side.source, return_inverse=True) for side in some]
    frames = np.unique(np.concatenate([side.frame for side in some]))
    by_frame: list[list[Any]] = [[], [], []]
    for frame in frames.tolist():
        rows = [np.flatnonzero(side.frame == frame) for side in some]
        angle = SPHERICAL.between(whole[0][:, rows[0]][:, :, None], whole[1][:, rows[1]][:, None, :])
        by_frame[2].append(np.maximum(1 - np.round(angle, 5) / (2 * ANGLE), 0).reshape(len(rows[0]), len(rows[1])))
        for number in range(2):
            by_frame[number].append(ids[number][1][rows[number]])
    return {
        "num_timesteps": len(frames), "gt_ids": by_frame[0], "tracker_ids": by_frame[1],
        "similarity_scores": by_frame[2], "num_gt_ids": len(ids[0][0]), "num_tracker_ids": len(ids[1][0]),
        "num_gt_dets": len(some[0]), "num_tracker_dets": len(some[1]),
    }  # fmt: skip


if __name__ == "__main__":
    main()
