"""Energy maps beside the official program of 2026: ``python benchmarks/imaging.py evaluate.py``.

``evaluate.py`` is that of DCASE2026_Task3_SAISELD_baseline at d4df662, which is not part of seldio. Its drawing is
replaced by empty modules, and its loading and scoring is called as its ``main`` calls them. Two sets of ten clips with
50 points to each source: one in which a system gives four maps a frame, as real ones do, most of which have no label of
their class there; and one in which every detection overlaps with its label, where both draw the same maps. Times are of
the processor, as the two runs take turns; with ``OPENBLAS_NUM_THREADS=1`` the program is at its fastest, as the threads
of its linear algebra wait for each other on a busy machine. ``--memory`` shows the peak memory of seldio over ten and
over forty clips.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np

import seldio

POINTS, FRAMES, RUNS = 50, 100, 2


def main() -> None:
    """Make the data, run both, print the ratio."""
    if "--memory" in sys.argv:
        memory()
        return
    program = load(Path(sys.argv[1]))
    for name, easy in (("four maps a frame", False), ("every detection overlaps with its label", True)):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            make(root, 10, easy)
            times: list[list[float]] = [[], []]
            for _ in range(RUNS):
                found = timed(lambda root: official(program, root), root, times[0]), timed(own, root, times[1])
                assert np.allclose(*found, rtol=0, atol=1e-9), found
            slow, quick = (min(some) for some in times)
            print(f"{name}: seldio {quick:.2f} s, the official program {slow:.2f} s: 1/{slow / quick:.1f}")


def timed(run: Callable[[Path], Any], root: Path, times: list[float]) -> Any:
    """The result of *run*; how long the processor was at work goes to *times*."""
    start = time.process_time()
    result = run(root)
    times.append(time.process_time() - start)
    return result


def load(file: Path) -> Any:
    """The official program, without what it draws with."""
    for name in ("matplotlib", "matplotlib.pyplot", "matplotlib.patches", "PIL"):
        sys.modules.setdefault(name, MagicMock())
    spec = importlib.util.spec_from_file_location("evaluate", file)
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def official(program: Any, root: Path) -> tuple[float, float]:
    """Macro mAP and Pearson r by the official program."""
    total = program.EvalAccumulator()
    thresholds = program.DEFAULT_IOU_THRESHOLDS
    for path in sorted((root / "predictions").iterdir()):
        found = program.load_pred_json(str(path))
        truth = program.load_gt_json(str(root / "labels/dev-test-tau" / f"{path.stem}_std.json"))
        program.evaluate_sequence(path.stem, found, truth, total, thresholds)
    with contextlib.redirect_stdout(io.StringIO()):
        scores = program.print_results(total, thresholds)
    return scores["macro_mAP"], scores["macro_pearson_r"]


def own(root: Path) -> tuple[float, float]:
    """The same by seldio."""
    overall = seldio.score(root / "predictions", root / "labels").overall
    return overall["mAP"], overall["r"]  # type: ignore[return-value]


def make(root: Path, clips: int, easy: bool) -> None:
    """Labels and detections: sources that wander, and a system that hears them."""
    (root / "labels/dev-test-tau").mkdir(parents=True)
    (root / "predictions").mkdir()
    for number in range(clips):
        luck = np.random.default_rng(number)
        classes = luck.choice(13, 3, replace=False).tolist()
        places = np.column_stack((luck.uniform(0, 360, 3), luck.uniform(60, 120, 3)))
        labels: list[dict[str, Any]] = []
        found: list[dict[str, Any]] = []
        for frame in range(FRAMES):
            places[:, 0] = (places[:, 0] + luck.normal(0, 1, 3)) % 360
            active = [0, 1] if frame < 60 else [2]
            labels += [annotation(luck, frame, s, classes[s], places[s]) for s in active]
            for slot in range(len(active) if easy else 4):
                number_of, place = int(luck.integers(13)), np.array([luck.uniform(0, 360), luck.uniform(60, 120)])
                if easy or (slot < len(active) and luck.random() < 0.8):
                    place = places[active[slot]] + luck.normal(0, 6, 2)
                    number_of = classes[active[slot]] if easy or luck.random() < 0.6 else number_of
                found.append(annotation(luck, frame, slot, number_of, place) | {"score": round(luck.random(), 6)})
        name = f"fold4_room2_mix{number:03d}"
        for path, rows in ((f"labels/dev-test-tau/{name}_std.json", labels), (f"predictions/{name}.json", found)):
            (root / path).write_text(json.dumps({"annotations": rows}))


def annotation(luck: np.random.Generator, frame: int, source: int, number: int, place: Any) -> dict[str, Any]:
    """A map whose energy falls off from its place."""
    points = place + luck.normal(0, 8, (POINTS, 2))
    energy = np.exp(-((points - place) ** 2).sum(axis=1) / 128)
    rows = np.column_stack((points[:, 0] % 360, points[:, 1].clip(0, 180), energy)).round(4)
    return {"metadata_frame_index": frame, "instance_id": source, "category_id": number, "distance": 200.0,
            "segmentation": [rows.tolist()]}  # fmt: skip


def memory() -> None:
    """Peak memory over ten clips and over forty."""
    if sys.argv[-1].isdigit():
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), int(sys.argv[-1]), easy=False)
            own(Path(folder))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        return
    for clips in (10, 40):
        done = subprocess.run([sys.executable, __file__, "--memory", str(clips)], capture_output=True, check=True)
        print(f"{clips} clips: {int(done.stdout):,} MiB")


if __name__ == "__main__":
    main()
