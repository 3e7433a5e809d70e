"""Live pages in Chromium: pictures per second, time of the script for each, and the speed of the simulation.

    python benchmarks/live.py [PAGE ...] [--seconds 10] [--size 1280x720]

For all pages of the gallery, or those that are named; needs Chromium with its driver, `pip install
".[native,plot,bench,dev]"`, and for the robots the package example-robot-data. Without a graphics card the browser
draws in software. The exit status is 1 when a page does not run in real time or its script takes longer than 1/60 s.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loops import console, status
from selenium import webdriver

from mechfmu.console import Styled, TextTable

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "build_scripts"))
from live_gallery import exhibits

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
)
SIZES = ("390x844", "1280x720")  # of a phone, of a small window
SETTLED = 2.0  # s, after which the quality of the picture has settled
REAL_TIME, BUDGET = 0.98, 1000 / 60  # of the wall clock; ms for the script of one picture

# before the page: what its functions take that the browser calls for each frame, with what they leave for afterwards
COUNT = """
globalThis.counted = { frames: 0, script: 0, last: null };
const request = requestAnimationFrame.bind(globalThis);
globalThis.requestAnimationFrame = (call) => request((now) => {
  const begun = performance.now();
  if (counted.last !== now) counted.frames += 1;
  counted.last = now;
  call(now);
  queueMicrotask(() => (counted.script += performance.now() - begun));
});
"""
MEASURE = """
const [seconds, done] = arguments, { simulation, view } = livePage;
const [t, begun] = [simulation.t, performance.now()];
Object.assign(counted, { frames: 0, script: 0 });
setTimeout(() => {
  const passed = (performance.now() - begun) / 1000, { ratio, shadows } = view.quality.level;
  done({
    rate: counted.frames / passed, script: counted.script / counted.frames, speed: (simulation.t - t) / passed,
    quality: `${Math.round(100 * ratio)} %${shadows ? ", shadows" : ""}`, failed: livePage.failed,
  });
}, 1000 * seconds);
"""


@contextmanager
def chromium() -> Iterator[Any]:
    options, service = webdriver.ChromeOptions(), webdriver.ChromeService(shutil.which("chromedriver"))
    options.binary_location = str(shutil.which("chromium"))
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=service)
    try:
        driver.set_script_timeout(600)
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": COUNT})
        yield driver
    finally:
        driver.quit()


def measured(driver: Any, page: Path, size: str, seconds: float) -> dict[str, Any]:
    width, height = map(int, size.split("x"))
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    driver.get("about:blank")
    driver.get(page.as_uri())
    while not driver.execute_script("return globalThis.livePage !== undefined"):
        time.sleep(0.05)
    time.sleep(SETTLED)
    found: dict[str, Any] = driver.execute_async_script(MEASURE, seconds)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="names of pages, such as link_chain (default: all)")
    parser.add_argument("--seconds", type=float, default=10.0, help="for which each page is measured")
    parser.add_argument("--size", action="append", help=f"of the window (default: {' and '.join(SIZES)})")
    options = parser.parse_args()
    known = {exhibit.name: exhibit for exhibit in exhibits()}
    if unknown := [name for name in options.pages if name not in known]:
        parser.error(f"there is no page {unknown[0]}; there are {', '.join(known)}")
    if missing := [program for program in ("chromium", "chromedriver") if not shutil.which(program)]:
        sys.exit(f"this benchmark needs {' and '.join(missing)}")
    table = TextTable("page", "window", "pictures/s", "script/picture", "simulated/real time", "pixels")
    slow = []
    with tempfile.TemporaryDirectory() as temporary, status("") as update:
        pages = {}
        for name in options.pages or known:
            pages[name] = Path(temporary) / f"{name}.html"
            pages[name].write_text(known[name].page(update), encoding="utf-8")
        for name, page in pages.items():
            for size in options.size or SIZES:
                update(f"running {name}, {size}")
                with chromium() as driver:
                    found = measured(driver, page, size, options.seconds)
                rate, script, speed = found["rate"], found["script"], found["speed"]
                table.add_row(name, size, f"{rate:.1f}", f"{script:.1f} ms", f"{speed:.3f}", found["quality"])
                if speed < REAL_TIME or script > BUDGET or found["failed"]:
                    slow.append(f"{name} ({size})")
    console.print_table(table)
    text = "every page runs in real time, its script in less than 1/60 s"
    console.print(Styled(f"FAIL  {', '.join(slow)}" if slow else f"PASS  {text}", "red" if slow else "green"))
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
