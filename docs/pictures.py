"""Take the pictures of pages for the documentation: ``docs/clip-light.webp`` of a clip, ``docs/results-dark.webp``, ….

``make pictures`` runs it. It needs Chromium and chromedriver (Debian: ``apt-get install chromium chromium-driver``),
and takes half a minute: the scene is recorded and filmed first. Unlike ``docs/generate.py`` it does not give the same
bytes everywhere, since browsers draw letters with the fonts that they find.
"""

from __future__ import annotations

import base64
import shutil
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

import seldio
from seldio.reports import render
from seldio.synth import CLIPS
from seldio.synth.outputs import write_outputs
from seldio.synth.tree import write_tree

HERE = Path(__file__).resolve().parent
CLIP, SPLIT = CLIPS[2]
SIZE = (1280, 890)
MOMENT = 9.3  # seconds; several sources are active


def page(folder: Path) -> Path:
    """The page of a scene with predictions, questions and two planted faults."""
    tables = write_tree(folder / "starss23", 7, clips=CLIPS[:3], media=())[2:]
    write_tree(folder / "media", 7 + 2, clips=[(CLIP, SPLIT)], size=(1280, 640))
    write_outputs(folder / "output", tables, 9)
    labels = folder / "media/metadata_dev" / SPLIT / f"{CLIP}.csv"
    seldio.convert(labels, folder / "qa.jsonl", "so-bench", seed=1, total=8)
    rows = labels.read_text().splitlines(keepends=True)
    labels.write_text("".join([*rows[:60], rows[59], *rows[60:150], _turned(rows[150]), *rows[151:]]))
    made = folder / "page.html"
    seldio.view(labels, out=made, predictions=folder / "output", questions=folder / "qa.jsonl")
    return made


def _turned(row: str) -> str:
    """A row with an azimuth out of range."""
    cells = row.split(",")
    cells[3] = str(int(cells[3]) % 360 + 360)
    return ",".join(cells)


def results(folder: Path) -> Path:
    """The page of a comparison, that of docs/howto/compare-systems.md."""
    clips = [(f"fold4_room{room}_mix{mix:03d}", SPLIT) for room in (2, 8, 10, 23, 24) for mix in range(1, 5)]
    labels = write_tree(folder / "starss23", 100, clips=clips, media=())
    for seed, (name, errors) in enumerate({"baseline": 1.0, "wider": 0.95, "deeper": 0.7}.items()):
        write_outputs(folder / name, labels, seed=seed, errors=errors)
    systems = [folder / name for name in ("baseline", "wider", "deeper")]
    report = seldio.compare(systems, folder / "starss23/metadata_dev")
    made = folder / "results.html"
    made.write_text("".join(render([report], "html")), "utf-8")
    return made


def take(address: str, scheme: str) -> bytes:
    """What a browser of the colour *scheme*, light or dark, shows at *address*."""
    chromium, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        raise SystemExit("no chromium and chromedriver here: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--mute-audio"):
        options.add_argument(argument)
    with webdriver.Chrome(options, webdriver.ChromeService(driver)) as browser:
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 1, "mobile": False},
        )
        browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        browser.get(address)
        if browser.execute_script("return document.querySelector('video') !== null"):
            _play(browser)
        browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 80})
    return base64.b64decode(shot["data"])


def _play(browser: webdriver.Chrome) -> None:
    """Go to the moment of the picture."""
    waiting = WebDriverWait(browser, 20)
    waiting.until(lambda one: one.execute_script("return document.querySelector('video').readyState >= 2"))
    browser.execute_script(
        "const bar = document.getElementById('seek'); bar.value = arguments[0]; bar.dispatchEvent(new Event('input'))",
        MOMENT,
    )
    waiting.until(lambda one: one.execute_script("return !document.querySelector('video').seeking"))


def main() -> None:
    """Make the pages, and take them in light and dark."""
    with tempfile.TemporaryDirectory() as folder:
        for name, made in (("clip", page(Path(folder, "clip"))), ("results", results(Path(folder, "results")))):
            for scheme in ("light", "dark"):
                path = HERE / f"{name}-{scheme}.webp"
                path.write_bytes(take(made.as_uri(), scheme))
                print(f"written: docs/{path.name}, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
