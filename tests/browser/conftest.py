"""A real Chromium, without a window and without a network, and the pages it is shown."""

from __future__ import annotations

import base64
import json
import os
import shutil
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scenes import Scene, make_scene
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

#: Where Debian puts them; the environment may say otherwise.
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")


WIDE, NARROW = (1280, 1000), (375, 800)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A driver of a browser that may reach nothing: every host name leads nowhere."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no chromium and chromedriver here: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1280,900",
        "--host-resolver-rules=MAP * ~NOTFOUND", "--autoplay-policy=no-user-gesture-required", "--mute-audio",
        "--force-device-scale-factor=1", "--hide-scrollbars",
    ):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_page_load_timeout(30)
    driver.set_script_timeout(30)
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return make_scene(tmp_path_factory.mktemp("scene"))


class Browser:
    """A page in the browser, and questions about it."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver, self.folder = driver, folder

    def open(self, html: bytes, name: str = "page.html") -> None:
        """Show a page from file://; what the browser said before is forgotten."""
        path = self.folder / name
        path.write_bytes(html)
        self.visit(path)

    def visit(self, path: Path) -> None:
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(path.as_uri())

    def screen(self, size: tuple[int, int], dark: bool = False, calm: bool = False) -> None:
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"},
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def said(self) -> list[str]:
        """What stands in the console: errors and warnings."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def network(self, method: str) -> list[dict[str, Any]]:
        """What happened on the network since this was asked last."""
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        return [each["params"] for each in events if each["method"] == f"Network.{method}"]

    def requests(self) -> list[str]:
        """Addresses that were asked for, but for those inside the page."""
        sent = (each["request"]["url"] for each in self.network("requestWillBeSent"))
        return [address for address in sent if not address.startswith("data:")]

    def js(self, code: str, *arguments: Any) -> Any:
        return self.driver.execute_script(code, *arguments)

    def barriers(self) -> list[str]:
        """What axe finds that keeps people from using the page."""
        self.js(files("axe_core_python").joinpath("axe.min.js").read_text("utf-8"))
        code = (
            "const done = arguments[0]; axe.run().then((found) => done(found.violations.flatMap("
            "(each) => each.nodes.map((node) => `${each.id}: ${node.html}`))), (error) => done([String(error)]))"
        )
        found: list[str] = self.driver.execute_async_script(code)
        return found

    def find(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def press(self, *keys: str) -> None:
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    @property
    def time(self) -> float:
        return float(self.js("return Number(document.getElementById('seek').value)"))

    @property
    def length(self) -> float:
        return float(self.js("return Number(document.getElementById('seek').max)"))

    def pixels(self, canvas: str) -> np.ndarray[Any, Any]:
        """A canvas as an array of shape (height, width, 4)."""
        code = (
            "const c = document.getElementById(arguments[0]);"
            "const bytes = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            "let text = ''; for (let i = 0; i < bytes.length; i += 8192)"
            "  text += String.fromCharCode(...bytes.subarray(i, i + 8192));"
            "return [c.width, c.height, btoa(text)]"
        )
        width, height, text = self.js(code, canvas)
        return np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width, 4)

    def wait(self, code: str, seconds: float = 10) -> None:
        end = time.monotonic() + seconds
        while not self.js(f"return Boolean({code})"):
            assert time.monotonic() < end, f"never became true: {code}"
            time.sleep(0.03)


@pytest.fixture
def browser(chromium: Any, tmp_path: Path) -> Iterator[Browser]:
    browser = Browser(chromium, tmp_path)
    browser.screen(WIDE)
    yield browser
    chromium.get("about:blank")
