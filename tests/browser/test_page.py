"""The page of ``seldio view`` in a real browser: from file://, without a network, by keyboard, narrow and dark."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import json_lines
from conftest import Browser
from scenes import CLIP, Scene
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from videos import make as make_video

import seldio
from seldio.media.video import Video
from seldio.viewer.page import COLOURS, Page


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def view(source: Path, **options: Any) -> Page:
    """The page about *source*, written nowhere."""
    return seldio.view(source, io.BytesIO(), **options)


@pytest.fixture(scope="module")
def full(scene: Scene) -> bytes:
    return view(scene.labels, predictions=scene.predictions.parent, questions=scene.questions).html


@pytest.fixture(scope="module")
def silent(scene: Scene) -> bytes:
    page = view(scene.labels, predictions=scene.predictions, questions=scene.questions, no_media=True)
    return page.html


def test_it_loads_from_a_file_in_silence_and_asks_for_nothing(browser: Browser, full: bytes) -> None:
    browser.open(full)
    browser.wait("document.getElementById('video').readyState > 1")

    assert [] == browser.said()
    assert ["file"] == [address.partition(":")[0] for address in browser.requests()]
    assert CLIP == browser.find("h1").text
    assert "11 events" in browser.find("#about").text


def test_the_policy_stops_what_a_page_could_do(browser: Browser, silent: bytes) -> None:
    browser.open(silent)
    browser.js("const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s)")
    browser.js("new Image().src = 'http://example.com/a.png'")

    assert browser.js("return window.ran") is None
    assert any("Content Security Policy" in line for line in browser.said())
    assert ["csp"] == [each.get("blockedReason") for each in browser.network("loadingFailed")]


def test_sources_are_drawn_where_they_are(browser: Browser, tmp_path: Path) -> None:
    """One source at +90 (left), 30 up: a spot in the left half, above the middle, and nothing on the right."""
    labels = tmp_path / "fold3_room4_mix001.csv"
    labels.write_text("".join(f"{frame},4,1,90,30,150\n" for frame in range(10, 40)))
    browser.open(view(labels).html)
    browser.press(Keys.HOME)  # where nothing sounds yet
    before = browser.pixels("panorama")
    browser.js(
        "document.getElementById('seek').value = 2; document.getElementById('seek').dispatchEvent(new Event('input'))"
    )
    changed = (browser.pixels("panorama") != before).any(axis=2)
    height, width = changed.shape
    spot = browser.pixels("panorama")[round(height * 60 / 180), round(width * 90 / 360)]

    assert rgb(COLOURS[4]) == tuple(spot[:3])
    assert changed[: height // 2, : width // 2].any()
    assert not changed[:, width // 2 :].any()
    assert not changed[height // 2 :].any()


def test_a_source_behind_is_drawn_on_both_edges(browser: Browser, tmp_path: Path) -> None:
    labels = tmp_path / "fold3_room4_mix001.csv"
    labels.write_text("".join(f"{frame},4,1,{180 if frame % 2 else -180},0,150\n" for frame in range(40)))
    browser.open(view(labels).html)
    for key in (".", "."):
        browser.press(key)
        pixels = browser.pixels("panorama")
        row = pixels[pixels.shape[0] // 2]

        assert rgb(COLOURS[4]) == tuple(row[3][:3]) == tuple(row[-4][:3])


def test_it_opens_where_label_and_prediction_meet(browser: Browser, silent: bytes, full: bytes) -> None:
    """The beginning of most clips is silent, and would look as if nothing were there."""
    browser.open(silent)
    met = "sides[1].events.flatMap((event) => event.runs.filter((run) => run.met)).map((run) => run.t)"
    first = browser.js(f"return Math.min(...{met})")
    assert browser.time == pytest.approx(first)
    browser.open(full)
    browser.wait("document.getElementById('video').readyState > 1")
    assert browser.time == pytest.approx(first, abs=0.01)
    browser.wait(f"Math.abs(document.getElementById('video').currentTime - {first}) < 0.05")


def test_the_keys(browser: Browser, silent: bytes) -> None:
    browser.open(silent)
    browser.press(Keys.HOME)
    browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert browser.time == pytest.approx(3)
    browser.press(Keys.ARROW_LEFT)
    assert browser.time == pytest.approx(2)
    browser.press(".", ".", ",")
    assert browser.time == pytest.approx(2.1)
    browser.press(Keys.END)
    assert browser.time == pytest.approx(browser.length)
    browser.press(Keys.HOME)
    assert browser.time == 0
    browser.press("+")
    assert "5 s" == browser.find("#span").text
    browser.press("-")
    assert "all" == browser.find("#span").text


def test_a_hundred_frames_on_is_frame_100(browser: Browser, full: bytes) -> None:
    """The clock of a player is rounded; stepping must not get stuck on it, nor skip a frame."""
    browser.open(full)
    browser.wait("document.getElementById('video').readyState > 1")
    browser.press(Keys.HOME)
    for count in range(1, 101):
        browser.press(".")
        assert f"frame {count}" == browser.find("#frame").text


def test_the_clock_stops_at_the_end_and_starts_anew(browser: Browser, silent: bytes) -> None:
    browser.open(silent)
    browser.press(Keys.END, Keys.ARROW_LEFT, ".", ".", ".", ".", ".", ".", Keys.SPACE)
    browser.wait("document.getElementById('play').getAttribute('aria-label') === 'Play'")
    assert browser.time == pytest.approx(browser.length)
    browser.press(Keys.SPACE)
    browser.wait("Number(document.getElementById('seek').value) < 10")
    browser.press(Keys.SPACE)


def test_the_player_keeps_the_time(browser: Browser, full: bytes) -> None:
    browser.open(full)
    browser.wait("document.getElementById('video').readyState > 2")
    assert browser.js("return document.getElementById('video').duration") == pytest.approx(20, abs=0.15)
    browser.press(Keys.ARROW_RIGHT, Keys.SPACE)
    browser.wait("document.getElementById('video').currentTime > 1.4")
    browser.press("m")
    assert browser.js("return document.getElementById('video').muted") is True
    browser.press(Keys.SPACE)
    browser.wait("document.getElementById('video').paused")

    assert browser.time == pytest.approx(browser.js("return document.getElementById('video').currentTime"), abs=0.11)
    assert [] == browser.said()


def test_the_picture_is_that_of_the_time(browser: Browser, full: bytes, scene: Scene) -> None:
    browser.open(full)
    browser.wait("document.getElementById('video').readyState > 1")
    browser.press(Keys.HOME)
    for _ in range(9):
        browser.press(Keys.ARROW_RIGHT)
    browser.wait("!document.getElementById('video').seeking")
    code = (
        "const v = document.getElementById('video'), c = document.createElement('canvas'); c.width = 64; c.height = 32;"
        "const x = c.getContext('2d'); x.drawImage(v, 0, 0, 64, 32); return Array.from(x.getImageData(0, 0, 64, 32).data)"
    )
    seen = np.array(browser.js(code), float).reshape(32, 64, 4)[..., :3]
    path = next(scene.root.rglob("*.mp4"))
    with Video(path) as video:
        wanted = video.pictures([90], size=(64, 32))[0].astype(float)
        other = video.pictures([20], size=(64, 32))[0].astype(float)

    assert np.abs(seen - wanted).mean() < 6 < np.abs(wanted - other).mean() + 6
    assert np.abs(seen - wanted).mean() < np.abs(seen - other).mean()


def test_findings_lead_to_their_time(browser: Browser, silent: bytes) -> None:
    browser.open(silent)
    assert "not compared with the audio" in browser.find("#findings .remark").text
    assert browser.find("#findings li .task").text.startswith(("error, labels", "warning, labels", "info, labels"))
    item = browser.find("#findings li .jump")
    minutes, _, seconds = item.text.partition(":")
    item.click()
    assert browser.time == pytest.approx(60 * int(minutes) + float(seconds))
    browser.press(Keys.HOME, "n")
    first = browser.time
    browser.press("n")
    assert 0 < first < browser.time
    browser.press("b")
    assert browser.time == first


def test_a_click_into_the_timeline_seeks(browser: Browser, silent: bytes) -> None:
    browser.open(silent)
    canvas = browser.find("#timeline")
    ActionChains(browser.driver).move_to_element_with_offset(
        canvas, canvas.size["width"] // 2 - 10, 0
    ).click().perform()

    assert browser.time > browser.length - 1


def test_questions_lead_to_their_proof(browser: Browser, silent: bytes) -> None:
    browser.open(silent)
    assert 2 == len(browser.driver.find_elements(By.CSS_SELECTOR, "#questions ol > li"))
    assert "ru" == browser.find("#questions ol > li:nth-child(2)").get_attribute("lang")
    browser.find("#questions summary").click()
    browser.find("#questions details .jump").click()

    assert browser.time == pytest.approx(6)  # 1 s into a part that begins at 5 s
    assert "here" in browser.find("#questions ol > li").get_attribute("class")


def test_predictions_come_and_go(browser: Browser, silent: bytes) -> None:
    browser.open(silent)
    for _ in range(10):
        browser.press(Keys.ARROW_RIGHT)
    with_them = browser.pixels("panorama")
    assert "predicted" in browser.find("#active").text
    browser.press("p")
    assert "false" == browser.find("#predicted").get_attribute("aria-pressed")
    assert "predicted" not in browser.find("#active").text
    assert (browser.pixels("panorama") != with_them).any()


def test_all_that_acts_can_be_reached_and_has_a_name(browser: Browser, full: bytes) -> None:
    browser.open(full)
    tree = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    acting = [node for node in tree if node.get("role", {}).get("value") in ("button", "slider", "image", "img")]
    nameless = [
        node["role"]["value"] for node in acting if not node.get("name", {}).get("value") and not node["ignored"]
    ]

    assert len(acting) > 8
    assert [] == nameless
    browser.press(Keys.TAB)
    outline = browser.js("return getComputedStyle(document.activeElement).outlineStyle")
    assert "solid" == outline


NAUGHTY = (
    "</script><script>window.ran = 1</script>",
    "<!--<script>",
    "<img src=x onerror='window.ran = 1'>",
    "]]>\"'`${window.ran = 1}&lt;\u2028\u2029",
)


def test_no_text_becomes_a_script(browser: Browser, tmp_path: Path) -> None:
    stem = "<img src=x onerror=window.ran=1>"
    labels = tmp_path / f"{stem}.csv"
    labels.write_text("10,1,0,30,5,100\n11,1,0,30,<script>window.ran=1</script>,100\n12,1,0,30,5,100\n")
    records = [
        {"id": text, "audio": [f"{stem}.wav"], "task": text, "question": text, "options": [text], "answer": text,
         "events": [{"class_name": text, "onset": 1.0}]}
        for text in NAUGHTY
    ]  # fmt: skip
    questions = json_lines(tmp_path / "qa.jsonl", records)
    browser.open(view(labels, format="starss23", questions=questions).html)

    assert stem == browser.find("h1").text
    assert 4 == len(browser.driver.find_elements(By.CSS_SELECTOR, "#questions ol > li"))
    assert NAUGHTY[0] in browser.find("#questions").text
    assert browser.driver.find_elements(By.TAG_NAME, "img") == []
    assert browser.js("return window.ran") is None
    assert [] == browser.said()


def test_linked_media_play_from_where_they_are(browser: Browser, scene: Scene) -> None:
    page = seldio.view(scene.labels, browser.folder / "linked.html", link_media=True)
    browser.open(page.html)
    browser.wait("document.getElementById('audio').readyState > 1 && document.getElementById('video').readyState > 1")
    browser.press(Keys.ARROW_RIGHT, Keys.SPACE)
    browser.wait("document.getElementById('audio').currentTime > 1.5")
    browser.press(Keys.SPACE)

    apart = "document.getElementById('audio').currentTime - document.getElementById('video').currentTime"
    assert abs(browser.js(f"return {apart}")) < 0.2
    assert [] == browser.said()


def test_a_picture_that_is_no_panorama_stands_above_it(browser: Browser, tmp_path: Path) -> None:
    labels = tmp_path / "a.csv"
    labels.write_text("".join(f"{frame},4,1,90,30,150\n" for frame in range(40)))
    labels.with_suffix(".mp4").write_bytes(make_video(30, size=(160, 120)))
    browser.open(view(labels).html)
    browser.wait("document.getElementById('video').readyState > 1")
    box = "document.getElementById('{}').getBoundingClientRect()"

    assert browser.js(f"return {box.format('video')}.bottom <= {box.format('panorama')}.top + 1")
    assert browser.js(f"return {box.format('video')}.height > 100")


def test_every_moment_of_a_finding_is_marked_up_to_the_last_one(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "fold3_room4_mix001.csv"
    path.write_text("".join(f"{frame},{99 if frame % 2 else 1},1,-50,30,181\n" for frame in range(1400)))
    browser.open(view(path, format="starss23").html)
    assert "1 finding at 700 places" in browser.find("#findings h2").text

    browser.press("n")
    assert browser.time == pytest.approx(0.1)
    browser.press("n")
    assert browser.time == pytest.approx(0.3)
    browser.press(Keys.END, "b")
    assert browser.time == pytest.approx(139.9)
    pixels = browser.js(
        "const c = document.querySelector('#timeline'), k = c.width / c.clientWidth, { left, right } = layout();"
        "return [0.02, 0.5, 0.98].map((at) => [...c.getContext('2d').getImageData("
        "Math.round((left + at * (right - left)) * k), Math.round(6 * k), 1, 1).data]);"
    )
    assert np.abs(np.array(pixels)[:, :3] - rgb("#b91c1c")).max() < 8, "the colour of errors, at the end as well"
