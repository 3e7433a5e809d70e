"""Live pages in a real browser: they run alone, as the native FMU does, and obey the user's hands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import needs
from helpers.build import Build
from helpers.look_browser import Browser
from helpers.look_cases import crane, robot_file
from helpers.look_firefox import Firefox
from mechfmu import LinkChain
from mechfmu.cosim.system import System
from mechfmu.live.page import MAX_BYTES, LivePage, live_mechanism, live_system
from mechfmu.mechanisms import make
from mechfmu.mechanisms.tree.model import Tree

actions = needs.module("selenium.webdriver.common.action_chains")
interaction = needs.module("selenium.webdriver.common.actions.pointer_input")

MEMBERS = ("link_chain", "spherical_arm", "exoskeleton", "wheeled_cart", "tree")
STEPS = 40
SAME = 1e-9
PHONE, DESKTOP = (390, 844), (1280, 800)

# an input that acts in the trajectories, so that inputs are compared as well
PUSHED = {
    "link_chain": {"tip.force_x": 3.0},
    "spherical_arm": {"joint[1].torque[1]": 2.0},
    "exoskeleton": {"link[2].moment": 5.0},
    "wheeled_cart": {"wheel.left_torque": 1.5},
    "tree": {},
}

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

    def all_rows(self) -> int:
        return len(self.browser.all("aside .row"))

    def pause(self) -> None:
        self.js("livePage.play(false)")

    def place(self, part: str = "") -> tuple[float, float, dict[str, Any]]:
        """Return client coordinates at which a body is picked that can be pulled, and the pick."""
        found = self.js(PLACE, part)
        assert found, "no body is seen that can be pulled"
        return found[0], found[1], found[2]


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def live(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Live]:
    """live("link_chain"): the page of a mechanism, made when first asked for."""
    folder = tmp_path_factory.mktemp("live")

    def get(key: str, make_page: Callable[[], str] | None = None) -> Live:
        file = folder / f"{key}.html"
        if not file.exists():
            LivePage(make_page() if make_page else live_mechanism(make(key))).save(file)
        return Live(browser, file)

    return get


@pytest.mark.parametrize("key", MEMBERS)
@pytest.mark.parametrize("kind", ["native"], indirect=True)
def test_a_page_runs_alone_and_as_the_native_fmu(live: Callable[..., Live], fmu: Build, key: str) -> None:
    page = live(key)
    assert page.file.stat().st_size <= MAX_BYTES
    page.open()
    page.browser.wait(lambda: page.js("return livePage.simulation.t > 0.1"), "the mechanism does not move")
    page.pause()
    start = page.js("livePage.reset(); return [...livePage.simulation.draw()]")
    names, rows = page.run(values=tuple(("", name, value) for name, value in PUSHED[key].items()))
    assert page.frame().tolist() == start, "reset is not the start"

    step = page.js("return livePage.data.step")
    system = System("alone", {"m": fmu(key)}, stop=STEPS * step, step=step)
    native = system.simulate(inputs={f"m.{name}": value for name, value in PUSHED[key].items()}, adaptive=False)
    expected = np.column_stack([native[f"m.{name}"] for name in names])[1:]
    assert np.max(np.abs(rows - expected) / (1 + np.abs(expected))) < SAME
    assert page.browser.errors() == []
    assert page.browser.requests() == [page.file.as_uri()]


@pytest.mark.parametrize("key", MEMBERS)
def test_a_page_fits_a_phone(live: Callable[..., Live], key: str) -> None:
    page = live(key)
    page.open(size=PHONE)
    page.pause()
    assert page.js("return document.scrollingElement.scrollWidth") <= PHONE[0]
    for part in ("canvas", "button.play", "aside"):
        box = page.js("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", part)
        assert box["left"] >= 0 and box["right"] <= PHONE[0] and box["height"] > 30, part
    assert len(np.unique(page.browser.picture("canvas").reshape(-1, 3), axis=0)) > 20, "nothing is drawn"


@pytest.mark.parametrize("key", ["link_chain", "spherical_arm"])
def test_a_body_follows_the_pointer(live: Callable[..., Live], key: str) -> None:
    page = live(key)
    page.open()
    page.pause()
    page.js("livePage.reset(); livePage.view.show(livePage.simulation.frame); livePage.view.render()")
    x, y, _ = page.place()
    pull = [80, -60]
    canvas = page.browser.find("canvas")
    box = page.js("return arguments[0].getBoundingClientRect().toJSON()", canvas)
    middle = (box["left"] + box["width"] / 2, box["top"] + box["height"] / 2)
    chain = actions.ActionChains(page.browser.driver, duration=20)
    chain.move_to_element_with_offset(canvas, round(x - middle[0]), round(y - middle[1])).click_and_hold()
    chain.move_by_offset(*pull).perform()
    apart = "const h = livePage.hands, { grip, part, target } = h.held; const p = grip.position("
    apart += "livePage.simulation.frame.subarray(part.offset)); return Math.hypot(...p.map((c, k) => c - target[k]))"
    before = page.js(apart)
    page.js("for (let i = 0; i < 120; i++) { livePage.hands.beforeStep(); livePage.simulation.step(livePage.data.step);"
            "livePage.simulation.draw(); }")  # fmt: skip
    assert page.js("return livePage.simulation.extra.size") > 0
    assert page.js(apart) < 0.6 * before
    chain = actions.ActionChains(page.browser.driver)
    chain.release().perform()
    assert page.js("return [livePage.hands.held, livePage.simulation.extra.size]") == [None, 0]
    assert page.browser.errors() == []


def test_sliders_act_and_refuse(live: Callable[..., Live]) -> None:
    page = live("link_chain")
    page.open()
    page.pause()
    _, heavy = page.run(5)
    set_value = """
      const [label, value] = arguments, input = document.querySelector(`input.number[aria-label^="${label}"]`);
      input.value = value; input.dispatchEvent(new Event("change"));
      return input.closest(".row").querySelector(".problem").textContent;"""
    assert page.js(set_value, "gravity", "0") == ""
    names, light = page.run(5)
    k = names.index("joint[1].angle")
    assert abs(light[-1, k] - light[0, k]) < 1e-6 < abs(heavy[-1, k] - heavy[0, k])
    page.js("for (const group of document.querySelectorAll('details.group')) group.open = true")
    page.browser.wait(lambda: page.all_rows() > 50, "the groups are not filled")
    assert "greater than 0" in page.js(set_value, "link[1].mass", "-1")
    assert "number" in page.js(set_value, "link[1].mass", "much")
    assert page.js("return livePage.simulation.members[0].settings.has('link[1].mass')") is False


def test_a_push_moves_the_tip(live: Callable[..., Live]) -> None:
    page = live("link_chain")
    page.open()
    page.pause()
    speeds = page.js("""
      const { simulation, hands, data } = livePage, read = simulation.reader([["", "tip.velocity_x"]]);
      livePage.reset();
      document.querySelector(".pushes button:nth-of-type(2)").click();
      const seen = [];
      for (let i = 0; i < 12; i++) {
        hands.beforeStep();
        simulation.step(data.step);
        simulation.draw();
        seen.push(read()[0]);
      }
      hands.beforeStep();
      return [...seen, simulation.extra.size];""")
    assert max(speeds[:-1]) > 0.1
    assert speeds[-1] == 0


def test_a_link_carries_the_settings(live: Callable[..., Live]) -> None:
    page = live("link_chain")
    page.open("#gravity=1.62&speed=0.5&theme=dark&link[1].mass=oops")
    found = page.js("""const { simulation, clock } = livePage;
      return [simulation.members[0].settings.get("gravity"), clock.speed, document.documentElement.dataset.theme,
              simulation.members[0].settings.size];""")
    assert found == [1.62, 0.5, "dark", 1]
    page.open("#link[1].mass=-1")
    assert "not possible" in page.browser.find(".problem-box").text


def test_a_failed_step_is_told(live: Callable[..., Live]) -> None:
    page = live("exoskeleton")
    page.open()
    page.pause()
    page.js("try { for (;;) livePage.simulation.step(0.01) } catch {} livePage.play()")
    page.browser.wait(lambda: "fallen" in page.browser.find(".problem-box").text, "the message of the FMU is not shown")
    page.browser.find("footer button:nth-of-type(3)").click()
    assert not page.browser.find(".problem-box").is_displayed()
    assert page.js("return livePage.failed") is False


def test_a_system_with_its_controller(live: Callable[..., Live], ready: Callable[[str], System]) -> None:
    page = live("figure2", lambda: live_system(ready("figure2")))
    page.open()
    page.pause()
    names, rows = page.run()
    native = ready("figure2").simulate(stop=STEPS * page.js("return livePage.data.step"), adaptive=False)
    expected = np.column_stack([native[name] if name in native.names else np.zeros(STEPS + 1) for name in names])[1:]
    known = [k for k, name in enumerate(names) if name in native.names]
    assert len(known) > 20
    assert np.max((np.abs(rows - expected) / (1 + np.abs(expected)))[:, known]) < SAME
    moved = page.js("""
      const member = livePage.simulation.byName.get("world"), { movable } = member.data;
      const before = member.instance.get([movable[0].x, movable[0].y]).slice();
      const held = { member, movable: movable[0], target: [0, 0] };
      const change = (name, value) => livePage.simulation.change(member, member.variables.get(name), value);
      change(movable[0].set_x, before[0] + 0.5);
      return member.instance.get([movable[0].x])[0] - before[0];""")
    assert moved == pytest.approx(0.5)
    box = page.browser.find("input.connected")
    box.click()
    assert page.js("return livePage.simulation.connected") is False
    assert page.browser.errors() == []


def test_a_robot_with_meshes_and_hostile_names(live: Callable[..., Live], tmp_path: Path) -> None:
    hostile = '</script><img src=x onerror="globalThis.hacked=1">'
    model = crane(tmp_path).tree.to_json().replace("crane", hostile.replace('"', "'").replace("'", '\\"'))
    page = live("hostile", lambda: live_mechanism(Tree(model=model)))
    page.open()
    page.pause()
    assert page.js("return globalThis.hacked") is None
    assert page.browser.errors() == []
    panda = live("panda", lambda: live_mechanism(Tree.from_file(robot_file("panda.urdf"))))
    panda.open()
    panda.browser.wait(lambda: panda.js("return livePage.simulation.t > 0.05"), "the robot does not move")
    panda.pause()
    assert panda.place("solid")
    assert panda.browser.errors() == []


def test_a_page_in_a_notebook(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "notebook.html"
    file.write_text(f"<!DOCTYPE html><html><body>{LinkChain(links=2).live()._repr_html_()}</body></html>")
    browser.open(file)
    browser.driver.switch_to.frame(browser.find("iframe"))
    try:
        browser.wait(lambda: browser.js("return (globalThis.livePage?.simulation.t ?? 0) > 0.05"), "it does not run")
    finally:
        browser.driver.switch_to.default_content()
    assert browser.errors() == []


def test_a_page_in_firefox(live: Callable[..., Live]) -> None:
    file, firefox = live("link_chain").file, Firefox()
    try:
        firefox.open(file)
        firefox.wait(lambda: firefox.js("(globalThis.livePage?.simulation.t ?? 0) > 0.1"), "the chain does not move")
        seen = "[...Array(30).keys()].some((k) => livePage.view.pick(30 * k, 12 * k) !== null)"
        firefox.js(f"{seen}, livePage.view.render()")
        assert firefox.errors == []
    finally:
        firefox.close()
