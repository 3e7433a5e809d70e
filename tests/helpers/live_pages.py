"""A live page in a real browser."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from helpers.look_browser import Browser

STEPS = 40
PHONE, DESKTOP = (390, 844), (900, 620)

RUN = """
const [steps, values] = arguments, page = livePage, { simulation } = page;
page.play(false);
page.reset();
for (const [member, name, value] of values) {
  const owner = simulation.byName.get(member);
  simulation.change(owner, owner.variables.get(name), value);
}
const names = simulation.members.flatMap((m) =>
  [...m.variables.values()].filter((v) => !["parameter", "input"].includes(v.role)).map((v) => [m.name, v.name]));
const read = simulation.reader(names);
const rows = [];
for (let i = 0; i < steps; i++) { simulation.step(page.data.step); rows.push([...read()]); }
for (const [member, name] of values) simulation.byName.get(member).settings.delete(name);
page.reset();
return JSON.stringify([names, rows]);
"""

PLACE = """
const box = livePage.view.canvas.getBoundingClientRect(), found = [];
const movable = (pick) => livePage.hands.gripAt(pick);
for (let i = 2; i < 60; i++) for (let j = 2; j < 60; j++) {
  const [x, y] = [box.left + box.width * i / 62, box.top + box.height * j / 62];
  const pick = livePage.view.pick(x, y);
  if (pick && (!arguments[0] || pick.part === arguments[0]) && movable(pick)) found.push([x, y, pick]);
}
return found[Math.floor(found.length / 2)] ?? null;
"""

SLIDE = """
const [name, value] = arguments, search = document.querySelector("input.search");
search.value = name;
search.dispatchEvent(new Event("input"));
const range = [...document.querySelectorAll(".found input[type=range]")].find((found) => found.ariaLabel === name);
const number = range.closest(".row").querySelector("input.number");
number.value = String(value);
number.dispatchEvent(new Event("change"));
return range.closest(".row").querySelector(".problem").textContent;
"""

RUN_ON = """
livePage.play(false);
for (let i = 0; i < arguments[0]; i++) livePage.step();
"""


@dataclass
class Live:
    """A page in the browser."""

    browser: Browser
    file: Path

    def open(self, address: str = "", size: tuple[int, int] = DESKTOP) -> None:
        self.browser.size(*size)
        self.browser.open(self.file)
        if address:
            self.browser.driver.get(f"{self.file.as_uri()}{address}")
            self.browser.driver.refresh()
        self.browser.wait(lambda: self.js("return globalThis.livePage !== undefined"), "the page did not begin")

    def js(self, code: str, *arguments: Any) -> Any:
        return self.browser.js(code, *arguments)

    def run(self, steps: int = STEPS, values: tuple[tuple[str, str, float], ...] = ()) -> tuple[list[str], np.ndarray]:
        """Run from the start with some inputs; return the names "member.variable" and a row for each step."""
        names, rows = json.loads(self.js(RUN, steps, [list(v) for v in values]))
        return [f"{member}.{name}" if member else name for member, name in names], np.array(rows)

    def frame(self) -> np.ndarray:
        return np.array(self.js("return [...livePage.simulation.draw()]"))

    def slide(self, name: str, value: float) -> str:
        """Enter the value of a parameter or input beside its slider; return why it is refused, or ""."""
        return str(self.js(SLIDE, name, value))

    def all_rows(self) -> int:
        return len(self.browser.all("aside .row"))

    def pause(self) -> None:
        self.js("livePage.play(false)")

    def place(self, part: str = "") -> tuple[float, float, dict[str, Any]]:
        """Return client coordinates at which a body is picked that can be pulled, and the pick."""
        found = self.js(PLACE, part)
        assert found, "no body is seen that can be pulled"
        return found[0], found[1], found[2]
