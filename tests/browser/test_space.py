"""The Hugging Face Space in a real browser: files go in, the report and the page of a clip come out."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import CHROMIUM, DRIVER
from selenium import webdriver
from selenium.webdriver.common.by import By

ROOT = Path(__file__).parents[2]
GOOD = "".join(f"{frame},1,0,-50,30,200\n" for frame in range(40))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The Space, served on this machine."""
    pytest.importorskip("gradio")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(port), "GRADIO_ANALYTICS_ENABLED": "False",
        "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT / "src"),
        "GRADIO_TEMP_DIR": str(tmp_path_factory.mktemp("gradio")),
    }  # fmt: skip
    log = tmp_path_factory.mktemp("log") / "log"
    with log.open("wb") as out:
        server = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT / "examples/space", env=environment, stdout=out,
                                  stderr=out)  # fmt: skip
    url = f"http://127.0.0.1:{port}/"
    try:
        wait(lambda: server.poll() is not None or answers(url), 120)
        assert server.poll() is None, log.read_text()
        yield url
    finally:
        server.terminate()
        server.wait(20)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


def wait(true: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.2)
    return value


@pytest.fixture
def driver() -> Iterator[Any]:
    """A browser that reaches this machine only."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no chromium and chromedriver here: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1280,1400",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--no-proxy-server",
    ):  # fmt: skip
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    browser.set_page_load_timeout(60)
    yield browser
    browser.quit()


def text(driver: Any, selector: str) -> str:
    return " ".join(one.text for one in driver.find_elements(By.CSS_SELECTOR, selector))


def wait_in_frame(driver: Any, selector: str, *texts: str) -> None:
    """Wait until the document in a frame shows all *texts*."""
    frame = wait(lambda: driver.find_elements(By.CSS_SELECTOR, f"{selector} iframe"))[0]
    driver.switch_to.frame(frame)
    try:
        wait(lambda: all(one in driver.find_element(By.TAG_NAME, "body").text for one in texts))
    finally:
        driver.switch_to.default_content()


@pytest.mark.timeout(400)
def test_dropped_files_give_a_report_and_a_page(address: str, driver: Any, tmp_path: Path, shots: Path) -> None:
    paths = [tmp_path / "fold3_room4_mix001.csv", tmp_path / "fold3_room4_mix002.csv"]
    paths[0].write_text(GOOD)
    paths[1].write_text(GOOD.replace("7,1,0", "7,77,0", 1))
    driver.get(address)
    field = wait(lambda: driver.find_elements(By.CSS_SELECTOR, "#files input[type=file]"))[0]

    field.send_keys("\n".join(map(str, paths)))

    wait(lambda: "1 error" in text(driver, "#verdict"))
    wait_in_frame(driver, "#report", "LAB102")
    button = wait(lambda: [one for one in driver.find_elements(By.CSS_SELECTOR, "#look") if one.is_displayed()])[0]
    driver.execute_script("arguments[0].click()", button)
    wait_in_frame(driver, "#page", "fold3_room4_mix001", "frame 0")  # the frame is written by the script of the page
    driver.execute_script("document.querySelector('#page iframe').scrollIntoView()")
    driver.save_screenshot(str(shots / "space.png"))


@pytest.mark.timeout(400)
def test_the_example_can_be_tried(address: str, driver: Any, shots: Path) -> None:
    driver.get(address)
    button = wait(lambda: driver.find_elements(By.CSS_SELECTOR, "#example"))[0]
    wait(button.is_enabled)
    time.sleep(1)  # until the page listens

    button.click()

    wait(lambda: "errors in 4 files" in text(driver, "#verdict"))
    wait_in_frame(driver, "#report", "LAB102")
    driver.save_screenshot(str(shots / "space-example.png"))
