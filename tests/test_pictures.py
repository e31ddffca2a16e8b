"""Pictures show what the labels say: checked on the artists, in the files, and picture by picture in films."""

from __future__ import annotations

import dataclasses
import io
import itertools
import re
import subprocess
import sys
import wave
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Kept
from effort import examples, some
from hypothesis import given, settings
from hypothesis import strategies as st

from seldio import geometry
from seldio.errors import DataError, UsageError
from seldio.viewer import canvas as colours
from seldio.viewer.tracks import JUMP, EventTrack, classes, line, pieces, read_labels, tracks

NTSC = Fraction(30_000, 1_001)
HOP = Fraction(1, 10)
#: Frame, class, source, azimuth, elevation, distance in cm: a bell that passes behind, a knock of one frame.
ROWS = (
    *((frame, 11, 0, azimuth, 10, 150) for frame, azimuth in enumerate((170, 174, 178, -178, -174), 3)),
    *((frame, 1, 1, 90, 0, 200) for frame in range(6)),
    (20, 12, 0, -90, -40, 100),
)
TEXT = "".join(",".join(map(str, row)) + "\n" for row in sorted(ROWS))


def seldio(*args: object, cwd: Path | None = None) -> Any:
    command = [sys.executable, "-W", "error", "-m", "seldio", *map(str, args)]
    return subprocess.run(command, cwd=cwd, capture_output=True, check=False)


def track(
    azimuth: Any, elevation: Any = 0.0, first: int = 0, name: str = "Bell", class_id: int | None = 11
) -> EventTrack:
    azimuth = np.atleast_1d(np.asarray(azimuth, float))
    elevation = np.broadcast_to(np.asarray(elevation, float), azimuth.shape)
    return EventTrack(name, class_id, 0, np.arange(first, first + len(azimuth)), azimuth, elevation, HOP)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of two clips, one with a recording; the other one is silent."""
    root = tmp_path_factory.mktemp("tree")
    for folder in ("metadata_dev/dev-train-tau", "foa_dev/dev-train-tau"):
        (root / folder).mkdir(parents=True)
    (root / "metadata_dev/dev-train-tau/fold3_room4_mix001.csv").write_text(TEXT)
    (root / "metadata_dev/dev-train-tau/fold3_room6_mix002.csv").write_text("")
    sound = np.zeros((72_000, 4), "<i2")
    sound[24_000:24_240, 0] = 12_000  # a click after a second
    with wave.open(str(root / "foa_dev/dev-train-tau/fold3_room4_mix001.wav"), "wb") as file:
        file.setparams((4, 2, 24_000, 0, "NONE", ""))
        file.writeframes(sound.tobytes())
    return root


@pytest.fixture(scope="module")
def clip(tree: Path) -> list[EventTrack]:
    labels = read_labels(tree)
    assert ["fold3_room4_mix001", "fold3_room6_mix002"] == labels.clips
    assert [] == tracks(labels, "fold3_room6_mix002")
    return tracks(labels, "fold3_room4_mix001")


# --- colours -----------------------------------------------------------------------------------------------

#: Machado, Oliveira and Fernandes 2009, severity 1, on linear colours.
EYES = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def cielab(linear: Any) -> Any:
    xyz = linear @ np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]).T
    xyz = xyz / (0.9505, 1.0, 1.089)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack((116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])), axis=1)


@pytest.mark.parametrize("eye", EYES)
def test_colours_are_apart_for_every_kind_of_eye(eye: str) -> None:
    share = np.array([colours.rgb(one) for one in colours.COLOURS]) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    seen = cielab(np.clip(linear @ np.array(EYES[eye]).T, 0, 1))
    apart = [np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)]

    assert len(colours.COLOURS) > 13
    assert min(apart) > 23


def test_colours_stand_out_from_black_and_white_and_begin_anew() -> None:
    bright = [colours.luminance(one) for one in colours.COLOURS]

    assert min(1.05 / (one + 0.05) for one in bright) > 1.74
    assert min((one + 0.05) / 0.05 for one in bright) > 2.19
    assert colours.colour(0) == colours.colour(len(colours.COLOURS))
    assert {"#000000", "#ffffff"} == {colours.ink(one) for one in colours.COLOURS}


# --- lines -------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(-180, 180), st.floats(-90, 90)), min_size=1, max_size=30))
def test_no_line_runs_across_the_picture_and_no_place_is_lost(places: list[tuple[float, float]]) -> None:
    azimuth, elevation = np.array(places).T
    drawn = pieces(*line(track(azimuth, elevation))[1:])
    points = np.concatenate(drawn)

    assert all(np.abs(np.diff(piece[:, 0])).max(initial=0) <= 180 for piece in drawn)
    assert all(piece.shape[0] > 1 for piece in drawn)
    assert np.abs(points[:, 0]).max() <= 180
    assert set(places) <= set(map(tuple, points.tolist()))


def test_a_line_leaves_at_one_edge_and_goes_on_at_the_other(clip: list[EventTrack]) -> None:
    bell = next(one for one in clip if one.name == "Bell")
    time, azimuth, _ = line(bell)
    left, right = pieces(time, azimuth)

    # from 178 in the frame whose middle is 0.55 s to -178 at 0.65 s: +180 halfway
    assert [0.3, 0.35, 0.45, 0.55, 0.6] == pytest.approx(left[:, 0].tolist())
    assert [170, 170, 174, 178, 180] == left[:, 1].tolist()
    assert [-180, -178, -174, -174] == right[:, 1].tolist()
    assert [0.6, 0.65, 0.75, 0.8] == pytest.approx(right[:, 0].tolist())
    assert 1 == len(pieces(*line(bell, round=False)[::2]))


def test_edges_of_both_signs_are_one_place_and_jumps_are_gaps() -> None:
    assert [1, 1] == [len(p) for p in (pieces(*line(track([180, 179]))[:2]), pieces(*line(track([0, JUMP]))[:2]))]
    assert 2 == len(pieces(*line(track([180, -180]))[:2]))
    assert 2 == len(pieces(*line(track([0, JUMP + 1]))[:2]))
    assert 1 == len(pieces(*line(track([0, 180], [89, 89]))[1:]))  # over the top: two degrees


def test_classes_keep_their_colours_and_unnamed_ones_come_last() -> None:
    rows = classes([track(0), track(0, name="dog", class_id=None)], [track(0, name="bell", class_id=None)])

    assert {"Bell": colours.colour(11), "dog": colours.colour(13)} == rows


# --- artists -----------------------------------------------------------------------------------------------


@pytest.fixture
def plots() -> Any:
    pytest.importorskip("matplotlib")
    from seldio.viewer import plots

    return plots


def test_the_timeline_has_a_bar_for_each_event(plots: Any, clip: list[EventTrack]) -> None:
    axes = plots.timeline(clip, [track(0, first=30)], "x").axes[0]
    bars = [path.get_extents() for group in axes.collections for path in group.get_paths()]

    assert ["Male speech, man speaking", "Bell", "Knock"] == [label.get_text() for label in axes.get_yticklabels()]
    assert [(0, 0.6), (0.3, 0.8), (2.0, 2.1), (3.0, 3.1)] == [
        pytest.approx(ends) for ends in sorted((float(bar.x0), float(bar.x1)) for bar in bars)
    ]
    assert (0, 3.1 * 1.02) == pytest.approx(axes.get_xlim())  # the last event is seen to end
    assert ["/////"] == [group.get_hatch() for group in axes.collections if group.get_hatch()]


def test_sources_of_one_class_that_overlap_do_not_hide_each_other(plots: Any) -> None:
    axes = plots.timeline([track([0] * 9), track([0] * 9, first=4), track([0] * 5, first=9)]).axes[0]
    rows = sorted(float(path.get_extents().y0) for group in axes.collections for path in group.get_paths())

    assert [rows[0], rows[0], rows[0] + 1] == pytest.approx(rows)


def test_directions_and_map_hold_the_same_lines(plots: Any, clip: list[EventTrack]) -> None:
    upper, lower = plots.directions(clip, [track(0)]).axes
    panorama = plots.directions_map(clip, [track(0)]).axes[0]
    segments = [[s for group in axes.collections for s in group.get_segments()] for axes in (upper, lower, panorama)]

    assert [5, 4, 5] == list(map(len, segments))  # the bell is in two pieces where azimuth is an axis
    assert (180, -180) == panorama.get_xlim()
    assert all(np.abs(np.diff(s[:, 0])).max() < 180 for s in segments[2])
    assert {"Male speech, man speaking", "Bell", "Knock"} == {text.get_text() for text in panorama.texts}


@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None)
@given(st.lists(st.tuples(st.integers(-180, 180), st.integers(-90, 90), st.integers(0, 12)), min_size=1, max_size=40))
def test_names_cover_neither_points_nor_each_other(places: list[tuple[int, int, int]]) -> None:
    plots = pytest.importorskip("seldio.viewer.plots")
    names = [f"class {'x' * (number % 7)}{number}" for number in range(13)]
    tracks = [
        track([azimuth] * 3, [elevation] * 3, name=names[number], class_id=number)
        for azimuth, elevation, number in places
    ]
    figure = plots.directions_map(tracks)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    boxes = [text.get_bbox_patch().get_window_extent() for text in axes.texts]
    points = axes.transData.transform([(float(each.azimuth[0]), float(each.elevation[0])) for each in tracks])

    assert len(boxes) == len({each.name for each in tracks})
    assert not any(box.contains(*point) for box in boxes for point in points)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert all(axes.bbox.contains(*corner) for box in boxes for corner in box.corners())


@pytest.mark.parametrize("kind", ["timeline", "directions", "directions_map"])
def test_silence_and_odd_names_are_drawn(plots: Any, kind: str) -> None:
    from seldio.viewer.canvas import rendered

    draw = getattr(plots, kind)
    silent = draw([], [])
    odd = draw([track(0, name="$x_{a$ \u96e8 \U0001f415", class_id=None), track(np.nan)], title="\x1b[2J")

    assert any("no source is active" in text.get_text() for axes in silent.axes for text in axes.texts)
    assert rendered(silent, "png")
    assert rendered(odd, "png")


# --- statistics and scores ---------------------------------------------------------------------------------


@pytest.mark.parametrize("longest", some([1.1, 2.0, 11.0, 40.0, 600.0], 2))
def test_lengths_have_readable_numbers(tree: Path, longest: float) -> None:
    from seldio.viewer.charts import draw_statistics as draw
    from seldio.viewer.charts import statistics

    found = dataclasses.replace(statistics(read_labels(tree)), lengths=np.array([1.0, longest]))
    figure = draw(found)
    figure.canvas.draw()
    axes = next(axes for axes in figure.axes if axes.get_title(loc="left") + axes.get_title() == "events by length")
    names = [label for label in axes.get_xticklabels(which="both") if label.get_text() and label.get_visible()]
    assert 2 <= len(names) <= 8
    assert all(re.fullmatch(r"[\d.]+", label.get_text()) for label in names)
    boxes = [label.get_window_extent() for label in names]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


def test_statistics_add_up(tree: Path) -> None:
    pytest.importorskip("matplotlib")
    from seldio.viewer.charts import draw_statistics as draw
    from seldio.viewer.charts import statistics

    found = statistics(read_labels(tree))

    assert (2, 1) == (found.clips, found.silent)
    assert {"Male speech, man speaking": 0.6, "Bell": 0.5, "Knock": 0.1} == pytest.approx(found.seconds)
    assert {0: 1.2, 1: 0.6, 2: 0.3} == pytest.approx(found.polyphony)  # 21 frames to the knock
    assert ({"4": 1, "6": 1}, {"dev-train-tau": 2}) == (found.rooms, found.splits)
    assert [0.1, 0.5, 0.6] == pytest.approx(sorted(found.lengths))
    assert len(ROWS) == len(found.azimuth) == len(found.elevation) == len(found.distance)
    panels = draw(found, "set").axes
    assert [0.6, 0.5, 0.1] == pytest.approx([bar.get_width() for bar in panels[0].patches])


def test_scores_are_bars_with_their_intervals() -> None:
    pytest.importorskip("matplotlib")
    from seldio.reports.tables import Column, Interval, ScoreReport, Table
    from seldio.viewer.charts import draw_scores as draw

    columns = (Column("class", "class"), Column("references", "references"), Column("F", "F", "%", 1, "higher"))
    rows = (("Bell", 7, Interval(0.5, -0.25, 0.75)), ("$a$", 1_200, float("nan")))
    tables = (Table("overall", "", (columns[0], columns[2]), (("s", 0.25),)), Table("classes", "", columns, rows))
    report = ScoreReport("s", "dcase2023", "", "2 clips", tables)
    axes = draw([report]).axes[0]

    assert [50, 0] == [bar.get_width() for bar in axes.patches]
    assert ["Bell (7)", "$a$ (1,200)"] == [label.get_text() for label in axes.get_yticklabels()]
    assert ["50.0 [-25.0, 75.0]", "not defined"] == [text.get_text() for text in axes.texts]
    assert [[-25, 75]] == [s[:, 0].tolist() for group in axes.collections for s in group.get_segments()]
    assert [25, 25] == list(axes.lines[0].get_xdata())
    assert 2 == len(draw([report, report], "overall").axes[0].patches)
    with pytest.raises(UsageError, match="has no table rooms; choose from overall, classes"):
        draw([report], "rooms")


def test_axes_of_scores_end_where_scores_do_and_names_of_systems_are_told_apart() -> None:
    pytest.importorskip("matplotlib")
    from seldio.reports.tables import Column, Interval, ScoreReport, Table
    from seldio.viewer.charts import draw_scores as draw

    columns = (Column("class", "class"), Column("F", "F", "%", 1, "higher"), Column("LE", "LE", "°", 1, "lower"))
    rows = (
        ("Bell", Interval(0.9, 0.7, 1.2), Interval(170.0, -400.0, 200.0)),
        ("Knock", Interval(1.0, 1.0, 1.0), Interval(20.0, -1e-9, 30.0)),
    )
    table = Table("classes", "", columns, rows)
    paths = [f"/home/somebody/experiments/of/the/year/with/many/folders/system-{letter}" for letter in "ab"]
    reports = [ScoreReport(path, "dcase2023", "", "2 clips", (table,)) for path in paths]
    for drawn in (draw(reports[:1]), draw(reports)):
        assert [(0, 100), (0, 180)] == [axes.get_xlim() for axes in drawn.axes]
    for axes in draw(reports[:1]).axes:
        assert all(text.xy[0] <= axes.get_xlim()[1] for text in axes.texts), "matplotlib hides those beyond it"
    assert draw(reports[:1]).axes[1].texts[1].get_text() == "20.0 [0.0, 30.0]"
    title = drawn.get_suptitle().splitlines()
    assert [line.rstrip(",")[-10:] for line in title[:2]] == ["s/system-a", "s/system-b"]
    drawn.draw_without_rendering()
    assert drawn._suptitle.get_window_extent().x1 <= drawn.bbox.x1


# --- films -------------------------------------------------------------------------------------------------


@pytest.fixture
def overlay() -> Any:
    pytest.importorskip("matplotlib")
    from seldio.viewer import film as overlay

    return overlay


def shown(picture: Any, azimuth: float, elevation: float) -> Any:
    """The colour at a direction."""
    height, width = picture.shape[:2]
    x, y = geometry.to_pixels(azimuth, elevation, width, height)
    return picture[round(float(y)), round(float(x)) % width].astype(int)


def near(colour: Any, wanted: str) -> bool:
    return bool(np.abs(colour - colours.rgb(wanted)).max() < 40)


def test_marks_are_at_their_place_from_the_first_picture_to_the_last(overlay: Any, tmp_path: Path) -> None:
    from seldio.media.video import Video

    red, bell = colours.colour(1), colours.colour(11)
    moved = track([60, -120], 30, first=4, name="Male speech, man speaking", class_id=1)
    out = tmp_path / "x.mp4"
    made = overlay.film(out, [moved, track([180] * 10)], width=320)
    with Video(out) as video:
        pictures = video.pictures(range(made.pictures), convention="start", hop=1 / NTSC)
        stamps = [video.scan.time(number) for number in range(video.frames)]

    assert (30, (320, 160), NTSC) == (made.pictures, made.size, made.rate) == (len(pictures), video.size, video.rate)
    assert [number / NTSC for number in range(30)] == stamps
    # label frame 4 begins at 0.4 s: picture 12 (0.4004 s) is the first in it, 14 the last, 15 (0.5005 s) in frame 5
    assert list(range(12, 15)) == [n for n in range(30) if near(shown(pictures[n], 60, 30), red)]
    assert list(range(15, 18)) == [n for n in range(30) if near(shown(pictures[n], -120, 30), red)]
    assert all(near(shown(picture, edge, 0), bell) for picture in pictures for edge in (180, 178.5, -178.5))


def test_predictions_are_hollow_and_lie_around_references(overlay: Any) -> None:
    size = (640, 320)
    marks = overlay.FilmMarks([track([90] * 3)], [track([90] * 3), track([-90] * 3)], size)
    picture = next(overlay._drawn(iter([overlay.panorama(size)]), NTSC, marks, size))
    ground = overlay.panorama(size)

    assert near(shown(picture, 90, 0), colours.colour(11))
    assert (shown(ground, -90, 0) == shown(picture, -90, 0)).all()
    assert near(shown(picture, -90 + 12 * 360 / 640, 0), colours.colour(11))


def test_a_film_lies_on_the_true_clock_of_its_video(overlay: Any, tmp_path: Path) -> None:
    import videos

    from seldio.media.video import Video

    data = videos.make(24, size=(256, 128), gop=6)
    out = tmp_path / "x.mp4"
    with Video(io.BytesIO(data)) as below:
        made = overlay.film(out, [track([30], 60, first=5)], video=below)
    with Video(out) as film:
        seen = film.pictures(range(24), convention="start", hop=1 / NTSC)

    assert (24, True, (256, 128)) == (made.pictures, made.video, made.size)
    assert list(range(24)) == [videos.number(picture[96:]) for picture in seen]
    assert [15, 16, 17] == [n for n in range(24) if near(shown(seen[n], 30, 60), colours.colour(11))]


def test_what_is_no_panorama_is_refused(overlay: Any, tmp_path: Path) -> None:
    import videos

    from seldio.media.video import Video

    with Video(io.BytesIO(videos.make(3, size=(320, 180)))) as video, pytest.raises(DataError, match="twice as wide"):
        overlay.film(tmp_path / "x.mp4", [track(0)], video=video)
    with pytest.raises(UsageError, match="nothing to show"):
        overlay.film(tmp_path / "x.mp4", [])
    assert [] == list(tmp_path.iterdir())


# --- the command -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_pictures_are_files_of_their_kind_and_the_same_each_time(tree: Path, tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    from seldio.viewer.plot import plot

    files = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for file in files:
        plot(tree, file, kind="directions", predictions=tree, clip="fold3_room4_mix001")
    data = [file.read_bytes() for file in files]

    assert data[0] == data[1]
    assert b"matplotlib" not in data[0].lower()[:400]
    if suffix == "svg":
        assert ET.fromstring(data[0]).tag.endswith("svg")
    elif suffix == "png":
        assert (b"\x89PNG", 1320) == (data[0][:4], int.from_bytes(data[0][16:20]))
    else:
        assert (b"%PDF-", b"%%EOF\n") == (data[0][:5], data[0][-6:])


def test_a_film_has_the_sound_beside_its_labels_in_time(tree: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    import av

    from seldio.viewer.plot import plot

    files = [tmp_path / "a.mp4", tmp_path / "b.mp4"]
    told = [plot(tree, file, kind="video", clip="fold3_room4_mix001", width=128).notes for file in files]
    with av.open(str(files[0])) as file:
        parts = [(frame.pts * frame.time_base, frame.to_ndarray()) for frame in file.decode(audio=0)]
    wave = np.concatenate([part for _, part in parts], axis=1)
    click = float(parts[0][0]) + int(np.argmax(np.abs(wave[0]) > 0.2)) / 24_000

    assert files[0].read_bytes() == files[1].read_bytes()
    assert (2, True) == (len(wave), 1.0 == pytest.approx(click, abs=0.005))
    assert 3.0 == pytest.approx(float(parts[0][0]) + wave.shape[1] / 24_000, abs=0.05)
    assert "90 pictures of 128 × 64, 29.97 a second" in told[0]


def test_a_set_is_counted_where_no_clip_is_named(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from seldio.viewer.plot import plot

    monkeypatch.chdir(tmp_path)
    made = plot(tree)

    assert (f"{tree.name}-statistics.png", "statistics") == (made.path, made.kind)
    assert (tmp_path / made.path).stat().st_size > 1_000


@pytest.mark.slow
def test_the_command_names_what_it_wrote(tree: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = seldio("plot", tree, "--clip", "fold3_room6_mix002", cwd=tmp_path)

    assert (0, b"fold3_room6_mix002-timeline.png\n") == (done.returncode, done.stdout), done.stderr
    assert ["fold3_room6_mix002-timeline.png"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kind": "map"}, "choose one with clip="),
        ({"kind": "map", "clip": "nope"}, "has no clip nope; its clips are fold3"),
        ({"kind": "scores"}, "choose one file written by seldio score --json"),
        ({"kind": "statistics", "predictions": "x"}, "statistics describe one set"),
        ({"width": 100}, 'width= is for kind="video"'),
        ({"kind": "scores", "clip": "x"}, "of a whole set"),
        ({"kind": "pie"}, "unknown kind of picture pie; choose from timeline, directions"),
    ],
)
def test_what_makes_no_sense_is_told(tree: Path, tmp_path: Path, options: dict[str, Any], said: str) -> None:
    pytest.importorskip("matplotlib")
    from seldio.viewer.plot import plot

    with pytest.raises(UsageError, match=said):
        plot(tree, tmp_path / "x.png", **options)
    assert [] == list(tmp_path.iterdir())


def test_the_command_offers_what_can_be_drawn() -> None:
    from seldio.cli.view import PlotKind
    from seldio.viewer.plot import KINDS

    assert list(KINDS) == [kind.value for kind in PlotKind]


def test_a_suffix_says_what_is_written(tree: Path) -> None:
    from seldio.viewer.plot import plot

    for name, kind in (("x.csv", "map"), ("x.mp4", "map"), ("x.png", "video")):
        with pytest.raises(UsageError, match="must end with"):
            plot(tree, name, kind=kind)


def test_without_matplotlib_a_sentence_says_what_to_install(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from seldio.errors import SeldioError
    from seldio.viewer.plot import plot

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SeldioError, match=r"pip install 'seldio\[plot\]'") as caught:
        plot(tree)
    assert 3 == caught.value.exit_code


@pytest.mark.slow
def test_real_labels_and_predictions_are_drawn(kept: Kept, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from seldio.viewer.plot import plot

    labels = kept / "starss22-labels/metadata_dev/dev-test-sony"
    predictions = kept / "starss23-predictions/system-a-polar"
    plot(labels, tmp_path / "directions.svg", kind="directions", predictions=predictions, clip="fold4_room23_mix001")
    plot(labels, tmp_path / "scores.png", kind="scores", predictions=predictions, allow_missing=True)

    assert {"directions.svg", "scores.png"} == {path.name for path in tmp_path.iterdir()}
