"""Small cases in which the last bit decides, with the answers that the official programs gave when they were run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from commands import laid, noticed

from seldio.errors import DataError, UsageError
from seldio.reports.tables import ScoreReport
from seldio.scores.resampling import Intervals
from seldio.scores.seld.score_labels import SeldOptions, score_labels

HEADER = "frame,class,source,azimuth,distance,onscreen\n"

#: Two references in one place: which of them a prediction goes to hangs on the last bit of the angles of x, y, z.
TWINS_2023 = (
    "10,8,10,-21,-35\n10,8,-1,178,41\n10,8,3,178,41\n11,8,1,-179,0\n11,8,2,70,0\n",
    (
        "10,8,0,-0.3369883798448493,0.14611686756843734,0.3392472444420607,0.5\n"
        "10,8,2,0.539176386448879,0.452422707008753,-0.5113731694944517,1.0\n"
        "10,8,11,-0.922086502259122,0.14604415459112044,0.35836794954530027,4.0\n"
        "11,8,10,3.061616997868383e-17,0.5,0.0,2.0\n"
    ),
)
TWINS_2024 = (
    (
        "25,4,0,40,-20,100\n25,4,1,0,0,0\n25,4,2,26,32,200\n25,4,0,130,0,1\n25,4,4,130,0,1\n25,4,5,10,0,50\n"
        "25,4,6,28,-45,333\n25,4,7,28,-45,333\n27,2,6,15,86,0\n"
    ),
    (
        "25,4,12,-0.2975575246933318,0.8175325800837403,0.0,0.0\n"
        "25,4,1,-0.2975575246933318,0.8175325800837403,0.0,0.11\n"
        "25,4,0,0.8008868351311391,0.008959121685470714,0.3397057718853959,4.0\n25,4,-1,1.0,0.0,0.0,0.0\n"
        "25,4,4,-0.15926959541041566,-0.13364305876663443,0.9781476007338056,1.0\n"
        "25,4,0,-0.43301270189221935,0.24999999999999997,0.0,0.02\n"
        "25,4,0,0.9254165783983234,0.16317591116653482,0.3420201433256687,1.01\n"
    ),
)
#: Eleven sources of a class and more; a negative number is a track of its own and pushes none of the ten out.
CROWD_2025 = (
    HEADER + "7,9,2,-30,200,1\n10,2,0,-39,0,0\n",
    HEADER + "7,9,-1,20,50,0\n7,9,0,-30,201,0\n7,9,2,-30,200,1\n7,9,3,20,101,0\n7,9,4,104,100,1\n7,9,5,40,101,1\n"
    "7,9,0,-50,50,0\n7,9,6,-30,200,1\n7,9,8,20,101,0\n7,9,-1,30,100,1\n7,9,10,-120,400,0\n",
)  # fmt: skip


def scored(folder: Path, reference: str, prediction: str, options: SeldOptions) -> ScoreReport:
    laid(folder, {"ref/a.csv": reference, "pred/a.csv": prediction})
    return score_labels(folder / "pred", folder / "ref", options)


@pytest.mark.parametrize(
    ("profile", "files", "expected"),
    [
        ("dcase2023", TWINS_2023,
         [0.6666666666666666, 0.3333333333333333, 29.23028634374498, 1.0, 0.3739309532552014]),
        ("dcase2024", TWINS_2024,
         [0.75, 0.13333333333333333, 38.340274693225176, 1.1071428571428572, 1.4967095667095598, 0.875,
          0.8587925864832332]),
        ("dcase2025", CROWD_2025, [0.16666666666666666, 0.0, 0.9999999999999998, 0.004999999999999999, 0.0]),
    ],
)  # fmt: skip
def test_the_last_bit(tmp_path: Path, profile: str, files: tuple[str, str], expected: list[float]) -> None:
    done = scored(tmp_path, *files, SeldOptions(profile, "micro", force=True))  # azimuths beyond ±90 in 2025
    np.testing.assert_allclose([value for value in done.overall.values() if isinstance(value, float)], expected, 1e-9)


@pytest.mark.parametrize(("azimuth", "found", "expected"), [(9.17, 29.17, 0), (22.13, 42.13, 1), (-79.62, -59.62, 1)])
def test_azimuths_are_rounded_as_the_program_of_2025_wraps_them(
    tmp_path: Path, azimuth: float, found: float, expected: float
) -> None:
    rows = (HEADER + f"1,0,0,{azimuth},100,1\n5,0,0,0,100,1\n", HEADER + f"1,0,0,{found},100,1\n")
    done = scored(tmp_path, *rows, SeldOptions("dcase2025", "micro"))
    assert done.overall["F"] == pytest.approx(expected)


def test_centimetres_come_back_as_they_were_written(tmp_path: Path) -> None:
    """0.29 * 100 is less than 29: 79 cm would be more than half a metre away."""
    rows = (HEADER + "1,0,0,0,29,1\n5,0,0,0,100,1\n", HEADER + "1,0,0,0,79,1\n")
    done = scored(tmp_path, *rows, SeldOptions("dcase2025", "micro", threshold={"distance": 0.5, "relative": 9.0}))
    assert done.overall["F"] == pytest.approx(1)


STEREO = HEADER + "1,0,0,10,100,1\n5,0,0,20,120,0\n9,3,0,20,120,0\n"
OUTPUT = "1,0,0,1.0,0.0,0.0,1.0\n12,0,0,1.0,0.0,0.0,1.0\n"


def test_stereo_labels_bring_their_profile(tmp_path: Path) -> None:
    done = scored(tmp_path, STEREO, STEREO, SeldOptions())
    assert done.profile == "dcase2025"
    assert "no-elevation" not in noticed(done)
    forced = score_labels(
        tmp_path / "pred", tmp_path / "ref", SeldOptions("dcase2023", intervals=Intervals(jackknife=True))
    )
    assert {"no-elevation", "one-clip"} <= noticed(forced).keys()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (SeldOptions(threshold={"distance": 1.0}), "distance changes nothing in dcase2023.*use dcase2024 or dcase2025"),
        (SeldOptions("dcase2024-angles", threshold={"relative": 1.0}), "relative changes nothing in dcase2024-angles"),
        (SeldOptions("dcase2024", onscreen=True), "onscreen=True changes nothing in dcase2024.*dcase2025"),
        (SeldOptions("dcase2025", onscreen=True), "onscreen=True requires"),
    ],
)
def test_thresholds_that_nothing_looks_at(tmp_path: Path, options: SeldOptions, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        scored(tmp_path, OUTPUT, OUTPUT, options)


def test_a_package_of_several_systems(tmp_path: Path) -> None:
    laid(tmp_path, {"ref/a.csv": "1,0,0,0,0\n", "package/one/a.csv": OUTPUT, "package/two/a.csv": OUTPUT})
    with pytest.raises(DataError, match=r"folders \(one, two\): score one of these at a time"):
        score_labels(tmp_path / "package", tmp_path / "ref")
