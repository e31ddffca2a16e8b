"""Directions and time: known values, and properties that hold everywhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seldio import clock, geometry

azimuths = st.floats(-180, 180)


#: azimuth, elevation, x (front), y (left), z (up)
KNOWN = [
    (0, 0, 1, 0, 0), (90, 0, 0, 1, 0), (-90, 0, 0, -1, 0), (180, 0, -1, 0, 0), (0, 90, 0, 0, 1), (0, -90, 0, 0, -1),
    (45, 0, 0.5**0.5, 0.5**0.5, 0), (0, 30, 0.75**0.5, 0, 0.5), (90, -60, 0, 0.5, -(0.75**0.5)), (-135, 0, -(0.5**0.5), -(0.5**0.5), 0),
]  # fmt: skip


elevations = st.floats(-90, 90)


@pytest.mark.parametrize(("azimuth", "elevation", "x", "y", "z"), KNOWN)
def test_known_directions(azimuth: float, elevation: float, x: float, y: float, z: float) -> None:
    assert pytest.approx((x, y, z), abs=1e-15) == geometry.to_cartesian(azimuth, elevation)
    for norm in (1.0, 0.001, 7.0):
        polar = geometry.to_polar(norm * x, norm * y, norm * z)
        assert pytest.approx((0 if abs(elevation) == 90 else azimuth, elevation), abs=1e-12) == polar


def test_the_zero_vector_is_the_front() -> None:
    assert geometry.to_polar(0.0, 0.0, 0.0) == (0.0, 0.0)


@given(azimuths, st.floats(-89.9, 89.9))
def test_polar_and_back(azimuth: float, elevation: float) -> None:
    again = geometry.to_polar(*geometry.to_cartesian(azimuth, elevation))
    assert pytest.approx(0, abs=1e-6) == geometry.great_circle(azimuth, elevation, *again)


@pytest.mark.parametrize(
    ("azimuth", "expected"),
    [(180, 180), (-180, -180), (181, -179), (-181, 179), (360, 0), (540, -180), (-540, -180), (720.5, 0.5), (359, -1)],
)
def test_wrap(azimuth: float, expected: float) -> None:
    assert expected == geometry.wrap(azimuth)


@given(st.floats(-1e6, 1e6))
def test_wrapped_azimuths_are_in_range_and_stay(azimuth: float) -> None:
    wrapped = geometry.wrap(azimuth)
    assert -180 <= wrapped <= 180
    assert wrapped == geometry.wrap(wrapped)
    assert pytest.approx(0, abs=1e-6) == (azimuth - wrapped + 180) % 360 - 180


@pytest.mark.parametrize(
    ("azimuth", "expected"), [(0, 0), (90, 90), (-90, -90), (91, 89), (180, 0), (-180, 0), (-135, -45), (270, -90)]
)
def test_fold(azimuth: float, expected: float) -> None:
    assert expected == geometry.fold(azimuth)


@given(azimuths)
def test_folding_keeps_left_and_right(azimuth: float) -> None:
    folded = geometry.fold(azimuth)
    assert pytest.approx(np.sin(np.radians(azimuth)), abs=1e-12) == np.sin(np.radians(folded))
    assert abs(folded) <= 90


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [((0, 0), (0, 0), 0), ((0, 0), (90, 0), 90), ((0, 0), (180, 0), 180), ((170, 0), (-170, 0), 20), ((-180, 10), (180, 10), 0),
     ((0, 90), (123, 90), 0), ((0, 80), (180, 80), 20), ((0, -90), (0, 90), 180), ((0, 45), (90, 0), 90)],
)  # fmt: skip
def test_great_circle(one: tuple[float, float], other: tuple[float, float], expected: float) -> None:
    assert pytest.approx(expected, abs=1e-6) == geometry.great_circle(*one, *other)


@given(azimuths, elevations, azimuths, elevations)
def test_great_circle_is_the_angle_between_vectors(az1: float, el1: float, az2: float, el2: float) -> None:
    angle = geometry.great_circle(az1, el1, az2, el2)
    dot = np.dot(geometry.to_cartesian(az1, el1), geometry.to_cartesian(az2, el2))
    assert pytest.approx(dot, abs=1e-12) == np.cos(np.radians(angle))
    assert pytest.approx(angle, abs=1e-9) == geometry.great_circle(az2, el2, az1, el1)


def test_great_circle_of_tiny_angles_does_not_vanish() -> None:
    """The arc cosine of a dot product is 0 here."""
    assert pytest.approx(1e-7, rel=1e-6) == geometry.great_circle(10, 20, 10, 20 + 1e-7)


@pytest.mark.parametrize(
    ("x", "y", "azimuth", "elevation"),
    [(180, 89.5, 0, 0), (0, 0, 180, 90), (90, 179, 90, -90), (270, 0, -90, 90), (359, 89.5, -179, 0)],
)
def test_pixels(x: float, y: float, azimuth: float, elevation: float) -> None:
    assert (azimuth, elevation) == geometry.from_pixels(x, y)
    assert (x, y) == geometry.to_pixels(azimuth, elevation)


@given(azimuths, elevations)
def test_pixels_and_back(azimuth: float, elevation: float) -> None:
    x, y = geometry.to_pixels(azimuth, elevation)
    assert 0 <= x < 360
    assert 0 <= y <= 179
    assert pytest.approx(0, abs=1e-6) == geometry.great_circle(azimuth, elevation, *geometry.from_pixels(x, y))


def test_columns_beyond_the_picture_wrap_around_it() -> None:
    azimuth, elevation = geometry.from_pixels([-10, 0, 360, 370, 730], 89.5)
    assert [-170, 180, -180, 170, 170] == azimuth.tolist()
    assert 0 == elevation
    assert geometry.to_pixels(np.nextafter(180, 360), 0)[0] == 0
    assert geometry.to_pixels(540, 0)[0] == 0


def test_larger_pictures() -> None:
    assert geometry.to_pixels(0, 0, 1920, 960) == (960, 479.5)


@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [(1.2, 1.3, 12, 12), (1.2, 1.30000009, 12, 12), (1.19999991, 1.3, 12, 12), (1.25, 1.26, 12, 12), (1.25, 1.35, 12, 13),
     (0, 0.1, 0, 0), (0.0, 60.0, 0, 599), (1.2, 1.2, 12, 12), (0.29999999999999993, 0.4, 3, 3), (5.7, 5.799999999999999, 57, 57)],
)  # fmt: skip
def test_frames_that_an_event_touches(start: float, end: float, first: int, last: int) -> None:
    assert range(first, last + 1) == clock.frames_between(start, end)


@given(
    st.integers(0, 36_000),
    st.integers(1, 600),
    st.sampled_from([Fraction(1, 10), Fraction(1, 50), Fraction(1001, 30000)]),
)
def test_frames_come_back_from_their_times(first: int, count: int, hop: Fraction) -> None:
    frames = range(first, first + count)
    assert frames == clock.frames_between(clock.onset(first, hop), clock.offset(frames[-1], hop), hop)
