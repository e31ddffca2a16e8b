"""Scoring beside the official programs: ``python benchmarks/official.py YEAR FOLDER``.

FOLDER is a checkout of the program of that year (seld-dcase2023 or DCASE2024_seld_baseline), which is not part of
seldio. Its parts that have nothing to do with scoring (spectra, plots, a shell) are replaced by empty modules, so that
only its own loading and scoring is timed, by the
processor. With ``--jackknife`` its leave-one-out runs too, which takes minutes.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np

import seldio
from seldio import synth
from seldio.scores.resampling import Intervals
from seldio.scores.seld.profiles import get
from seldio.scores.seld.score_labels import SeldOptions, score_labels

#: Imported by the programs and of no use for scores.
UNUSED = (
    "IPython", "librosa", "librosa.feature", "sklearn", "sklearn.preprocessing", "joblib", "matplotlib",
    "matplotlib.pyplot", "matplotlib.gridspec", "cv2", "torch", "torch.nn", "torchvision", "torchvision.models",
    "torchvision.models.resnet", "torchvision.transforms", "PIL", "moviepy", "moviepy.editor",
)  # fmt: skip
FILES, SECONDS, SPOTS = 78, 210.0, 60


def main() -> None:
    """Make the data, run both, print the ratio."""
    year, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        rows = make(root, year)
        print(f"{FILES} clips, {rows[0]:,} reference rows, {rows[1]:,} predicted rows")
        official = load(folder, root)
        compare("load and score", official, ours(root, year), 1 / 40)
        if "--jackknife" in sys.argv:
            slow, quick = load(folder, root, jackknife=True), ours(root, year, jackknife=True)
            compare("load and score with jackknife", slow, quick, 1 / 2000)


def make(root: Path, year: str) -> tuple[int, int]:
    """Labels and outputs of a system that is right most of the time; how many rows there are of each."""
    luck = np.random.default_rng(1)
    (root / "reference" / "dev").mkdir(parents=True)
    (root / "output").mkdir()
    counts = [0, 0]
    for number in range(FILES):
        table = synth.labels("m", synth.scene(number, SECONDS, SPOTS))
        name = f"fold4_room{number % 9 + 1}_mix{number:03d}.csv"
        columns = [table[field].to_numpy() for field in
                   ("frame", "class_id", "source", "azimuth", "elevation", "distance")]  # fmt: skip
        lines = [f"{f},{c},{s},{az:.0f},{el:.0f},{d * 100:.0f}" for f, c, s, az, el, d in zip(*columns, strict=True)]
        (root / "reference" / "dev" / name).write_text("\n".join(lines) + "\n")
        kept = luck.random(len(lines)) < 0.8
        found = [_output(column, year) for column in zip(*(column[kept] for column in columns), strict=True)]
        (root / "output" / name).write_text("\n".join(found) + "\n")
        counts[0] += len(lines)
        counts[1] += len(found)
    return counts[0], counts[1]


def _output(row: tuple[Any, ...], year: str) -> str:
    frame, class_id, _, azimuth, elevation, distance = row
    off = 30 * np.sin(0.37 * frame + class_id)
    x, y, z = seldio.geometry.to_cartesian(azimuth + off, elevation)
    far = 0 if year == "2023" else distance * 1.1
    return f"{frame},{class_id},0,{x * 0.8:.6f},{y * 0.8:.6f},{z * 0.8:.6f},{far:.3f}"


def load(folder: Path, root: Path, jackknife: bool = False) -> Any:
    """The official program as a function without arguments that gives its scores."""
    sys.path.insert(0, str(folder))
    import scipy.optimize
    import scipy.stats  # before the empty modules stand in the way of what it looks for

    assert scipy.optimize
    assert scipy.stats
    before = {name: sys.modules.get(name) for name in UNUSED}
    sys.modules |= {name: MagicMock() for name in UNUSED}
    vars(np).update(NaN=np.nan, float=float)  # names that numpy no longer has
    import cls_compute_seld_results as program
    import parameters

    for name, module in before.items():
        if module is None:
            del sys.modules[name]
        else:
            sys.modules[name] = module
    cwd = Path.cwd()
    os.chdir(folder)
    with contextlib.redirect_stdout(io.StringIO()):
        params = parameters.get_params("3")
    os.chdir(cwd)
    params |= {"dataset_dir": str(root), "average": "macro", "lad_doa_thresh": 20, "lad_reldist_thresh": 1.0,
               "segment_based_metrics": False, "evaluate_distance": True, "unique_classes": 13}  # fmt: skip

    def run() -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            results = program.ComputeSELDResults(params, ref_files_folder=str(root / "reference"))
            return results.get_SELD_Results(str(root / "output"), is_jackknife=jackknife)

    return run


def ours(root: Path, year: str, jackknife: bool = False) -> Any:
    """The same by seldio, from files to scores."""
    options = SeldOptions(f"dcase{year}", intervals=Intervals(jackknife=jackknife))

    def run() -> Any:
        return score_labels(root / "output", root / "reference", options)

    return run


def compare(name: str, official: Any, quick: Any, limit: float) -> None:
    """Time both in turn, check that they agree, and print the ratio."""
    quick()
    theirs, mine = [], []
    for _ in range(1 if "jackknife" in name else 3):
        start = time.process_time()
        expected = official()
        theirs.append(time.process_time() - start)
        for _ in range(5):
            start = time.process_time()
            done = quick()
            mine.append(time.process_time() - start)
    columns = get(done.profile).columns
    found = [done.overall[column.name] for column in columns]
    if "jackknife" not in name:
        np.testing.assert_allclose(found, expected[: len(columns)], rtol=1e-9)
    a, b = float(np.median(mine)), float(np.median(theirs))
    print(f"{name:<32} {a:7.3f} s   official {b:8.2f} s   1/{b / a:,.0f}   at most 1/{1 / limit:,.0f}", flush=True)


if __name__ == "__main__":
    main()
