"""A real browser for the tests of pages."""

from __future__ import annotations

import io
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from helpers import needs
from helpers.needs import tool
from helpers.paths import ROOT

webdriver = needs.module("selenium.webdriver")

SCREENSHOTS = ROOT / "out" / "screenshots"  # kept for people to look at; the full lane on GitHub has them as artifact
PATIENCE = 60  # s; the browser draws in software, beside other tests
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
)


class Browser:
    """Chromium without a window. `open` shows a file and clears the logs of errors and requests."""

    def __init__(self) -> None:
        options, service = webdriver.ChromeOptions(), webdriver.ChromeService(tool("chromedriver"))
        options.binary_location = tool("chromium")
        self.profile = tempfile.TemporaryDirectory(prefix="mechfmu-browser-", ignore_cleanup_errors=True)
        for flag in (*FLAGS, f"--user-data-dir={self.profile.name}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.set_script_timeout(PATIENCE)
        self.driver.get("about:blank")

    def close(self) -> None:
        self.driver.quit()
        self.profile.cleanup()

    def size(self, width: int, height: int) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", dict(width=width, height=height, deviceScaleFactor=1, mobile=False)
        )

    def open(self, file: Path) -> None:
        self.open_address(file.as_uri())

    def open_address(self, address: str) -> None:
        self.driver.get("about:blank")
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get(address)

    def errors(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def requests(self) -> list[str]:
        """Return the addresses of all requests since the page was opened, except for data inside the page."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [address for address in asked if not address.startswith(("data:", "blob:"))]

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def js(self, code: str, *arguments: Any) -> Any:
        return self.driver.execute_script(code, *arguments)

    def wait(self, what: Callable[[], Any], why: str) -> Any:
        deadline = time.monotonic() + PATIENCE
        while not (found := what()):
            assert time.monotonic() < deadline, why
            time.sleep(0.05)
        return found

    def picture(self, selector: str) -> np.ndarray:
        """Return the picture of an element: height x width x RGB."""
        return np.asarray(Image.open(io.BytesIO(self.find(selector).screenshot_as_png)).convert("RGB"), dtype=int)

    def keep_screenshot(self, name: str) -> None:
        """Write what the window shows to SCREENSHOTS."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))
