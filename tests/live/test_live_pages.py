"""Live pages in a real browser: they run alone, as the native FMU does, and obey the user's hands."""

from __future__ import annotations

import json
import time
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
from helpers.paths import ROOT
from mechfmu import Exoskeleton, LinkChain, WheeledCart
from mechfmu.cli import main
from mechfmu.cosim.builtin import BUILTIN
from mechfmu.cosim.system import System
from mechfmu.live.page import MAX_BYTES, LivePage, live_mechanism, live_system
from mechfmu.mechanisms import make
from mechfmu.mechanisms.tree.model import Tree

actions = needs.module("selenium.webdriver.common.action_chains")
builder = needs.module("selenium.webdriver.common.actions.action_builder")
keys = needs.module("selenium.webdriver.common.keys").Keys

MEMBERS = ("link_chain", "spherical_arm", "exoskeleton", "wheeled_cart", "tree")
STEPS = 40
SAME = 1e-9
REAL_TIME = 10  # s
PHONE, DESKTOP = (390, 844), (900, 620)

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


HOLD = """
const [push, steps, free, names] = arguments, { simulation, hands } = livePage;
livePage.play(false);
const run = (n) => { for (let i = 0; i < n; i++) livePage.step(); };
const held = hands.pushed(), numbers = () => simulation.frame.subarray(held.part.offset);
const read = simulation.reader(names), before = held.grip.position(numbers());
const values = [[...read()]];
hands.held = { ...held, target: before.map((c, k) => c + push[k] * hands.size) };
run(steps);
const moved = Math.hypot(...held.grip.position(numbers()).map((c, k) => c - before[k])) / hands.size;
values.push([...read()]);
hands.release();
run(free);
return [moved, ...values, [...read()]];
"""

RUN_ON = """
livePage.play(false);
for (let i = 0; i < arguments[0]; i++) livePage.step();
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
    page.js(RUN_ON, 120)
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
        livePage.step();
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
    box = page.browser.find("input.connected")
    box.click()
    assert page.js("return livePage.simulation.connected") is False
    assert page.browser.errors() == []


def test_the_cart_follows_a_target_that_is_moved(live: Callable[..., Live], ready: Callable[[str], System]) -> None:
    page = live("figure2", lambda: live_system(ready("figure2")))
    page.open()
    page.js(RUN_ON, 1200)
    pose = "return [...livePage.simulation.reader([['cart', 'pose.x'], ['cart', 'pose.y'], ['world', 'target.x'], "
    pose += "['world', 'target.y']])()]"
    page.js("livePage.view.show(livePage.simulation.frame); livePage.view.render()")
    x, y, target_x, target_y = page.js(pose)
    assert np.hypot(x - target_x, y - target_y) < 0.1, "the cart has not reached the target"
    at = page.js(
        """const { view } = livePage, box = view.canvas.getBoundingClientRect(), [x, y] = arguments;
      const v = view.orbit.target.clone().set(x, y, 0).project(view.orbit.camera);
      return [box.left + (v.x + 1) / 2 * box.width, box.top + (1 - v.y) / 2 * box.height];""",
        target_x,
        target_y,
    )
    mouse = builder.ActionBuilder(page.browser.driver, duration=20)
    mouse.pointer_action.move_to_location(*map(round, at)).pointer_down().move_to_location(
        round(at[0]) + 60, round(at[1]) + 40
    ).pointer_up()
    mouse.perform()
    _, _, moved_x, moved_y = page.js(pose)
    assert moved_x > target_x + 0.2 and moved_y < target_y - 0.2
    page.js(RUN_ON, 800)
    x, y, target_x, target_y = page.js(pose)
    assert np.hypot(x - target_x, y - target_y) < 0.1, "the cart has not followed"
    assert page.browser.errors() == []


def test_the_arm_holds_its_posture_while_it_is_pulled(
    live: Callable[..., Live], ready: Callable[[str], System]
) -> None:
    page = live("arm", lambda: live_system(ready("arm_computed_torque")))
    page.open()
    page.js(RUN_ON, 300)  # it moves to its posture first
    tip = [["arm", f"tip.{axis}"] for axis in "xyz"]
    moved, before, _, after = page.js(HOLD, [0.2, 0.2, 0.1], 150, 300, tip)
    assert moved > 0.05
    assert np.max(np.abs(np.array(after) - before)) < 1e-3


def test_the_exoskeleton_stands_until_it_is_pushed(live: Callable[..., Live], ready: Callable[[str], System]) -> None:
    page = live("exoskeleton_pd", lambda: live_system(ready("exoskeleton_pd")))
    page.open()
    page.js(RUN_ON, 2500)
    height = "return livePage.simulation.reader([['exo', 'hip.y']])()[0]"
    assert page.js(height) > 0.8
    for _ in range(4):
        page.browser.find(".pushes button:nth-of-type(2)").click()
        page.js(f"try {{ {RUN_ON} }} catch {{}}", 250)
    page.js(f"try {{ {RUN_ON} }} catch {{}}", 2000)
    page.js("livePage.play(true)")
    page.browser.wait(lambda: "fallen" in page.browser.find(".problem-box").text, "it has not fallen")


def test_a_robot_with_its_controller_from_the_command_line(live: Callable[..., Live], tmp_path: Path) -> None:
    file = tmp_path / "a robot that is held, größer.html"
    main(["live", str(ROOT / "examples" / "three_link_robot.urdf"), "--controller", "-o", str(file)])
    page = live("held", lambda: file.read_text(encoding="utf-8"))
    page.open()
    page.js(RUN_ON, 100)
    angles = [["robot", f"{joint}.angle"] for joint in ("shoulder", "elbow")]
    moved, before, pulled, after = page.js(HOLD, [-0.1, 0, 0.3], 200, 1000, angles)
    assert moved > 0.02
    assert np.max(np.abs(np.array(pulled) - before)) > 0.02
    assert np.max(np.abs(np.array(after) - before)) < 1e-3


def test_keys_plots_and_the_menu(live: Callable[..., Live]) -> None:
    page = live("link_chain")
    page.open()
    body = page.browser.find("body")
    playing = "return livePage.clock.playing"
    body.send_keys(" ")
    assert page.js(playing) is False
    t = page.js("return livePage.simulation.t")
    body.send_keys(keys.ARROW_RIGHT)
    assert page.js("return livePage.simulation.t") == pytest.approx(t + page.js("return livePage.data.step"))
    body.send_keys(keys.ARROW_UP)
    assert page.js("return livePage.clock.speed") == 2
    body.send_keys(keys.ARROW_DOWN, keys.ARROW_DOWN)
    assert page.js("return livePage.clock.speed") == 0.5
    body.send_keys(keys.HOME)
    assert page.js("return livePage.simulation.t") == 0

    slider = page.browser.find("input[type=range][aria-label=gravity]")
    page.js("arguments[0].value = 900; arguments[0].dispatchEvent(new Event('input'))", slider)
    gravity = "return livePage.simulation.members[0].settings.get('gravity')"
    assert page.js(gravity) > 20
    actions.ActionChains(page.browser.driver).double_click(page.browser.find(".row .name")).perform()
    assert page.js(gravity) == pytest.approx(9.81)

    page.js("for (let i = 0; i < 240; i++) document.querySelectorAll('footer button')[1].click()")
    table = page.js("return livePage.signals.csv()").splitlines()
    assert table[0].startswith("time [s],joint[1].angle [deg]") and len(table) == 242
    page.js("livePage.signals.draw()")
    plot = page.browser.find(".signals-plot")
    drag = actions.ActionChains(page.browser.driver, duration=20)
    drag.move_to_element_with_offset(plot, -100, 0).click_and_hold().move_by_offset(40, 0).release().perform()
    shown = page.js("return livePage.signals.window()")
    assert 0.1 < shown["to"] - shown["from"] < 5
    assert len(page.js("return livePage.signals.csv()").splitlines()) < 242

    page.browser.find(".options summary").click()
    assert page.js("return livePage.view.arrowScale()") == ""
    for box in page.browser.all(".options input:not(:checked)"):
        box.click()
    assert "arrow" in page.js("return livePage.view.arrowScale()"), "the reactions of the joints are not shown"
    before = page.js("return document.documentElement.dataset.theme")
    page.browser.find("header button[aria-label='dark or light']").click()
    assert page.js("return document.documentElement.dataset.theme") != before
    assert page.browser.errors() == []


def test_fingers_pull_a_body_and_zoom(live: Callable[..., Live]) -> None:
    page = live("link_chain")
    page.open(size=PHONE)
    page.pause()
    page.js("livePage.reset(); livePage.view.show(livePage.simulation.frame); livePage.view.render()")
    x, y, _ = page.place()

    def touch(kind: str, *points: tuple[float, float]) -> None:
        fingers = [{"x": px, "y": py, "id": k} for k, (px, py) in enumerate(points)]
        page.browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

    touch("touchStart", (x, y))
    touch("touchMove", (x + 40, y - 30))
    held = page.js("return livePage.hands.held?.target")
    assert held is not None, "one finger does not pull"
    touch("touchEnd")
    assert page.js("return livePage.hands.held") is None
    box = page.js("return livePage.view.canvas.getBoundingClientRect().toJSON()")
    left, low = box["left"] + 30, box["bottom"] - 30
    far = page.js("return livePage.view.orbit.distance")
    touch("touchStart", (left, low), (left + 60, low))
    touch("touchMove", (left - 10, low), (left + 120, low))
    assert page.js("return livePage.view.orbit.distance") < 0.7 * far
    touch("touchEnd")


@pytest.mark.parametrize("key", ["link_chain", "standing", "spherical_arm", "panda", "walk"])
def test_a_page_runs_in_real_time(live: Callable[..., Live], ready: Callable[[str], System], key: str) -> None:
    make_page = {
        "standing": lambda: Exoskeleton().live().html,
        "panda": lambda: live_mechanism(Tree.from_file(robot_file("panda.urdf"))),
        "walk": lambda: live_system(ready("walk")),
    }
    page = live(key, make_page.get(key))
    page.open(size=PHONE)
    start = page.js("livePage.reset(); livePage.play(true); return [livePage.simulation.t, performance.now() / 1000]")
    time.sleep(REAL_TIME)
    t, now = page.js("return [livePage.simulation.t, performance.now() / 1000]")
    says_so = page.browser.find(".notes .warning").is_displayed()
    assert says_so or t - start[0] >= 0.95 * (now - start[1])
    cost = page.js("""const { simulation, data } = livePage, n = 240;
      livePage.play(false); livePage.reset();
      const begin = performance.now();
      for (let i = 0; i < n; i++) simulation.step(data.step);
      return (performance.now() - begin) / n / 1000 / data.step;""")
    assert cost < 0.8, "a step takes longer than it lasts"


@pytest.mark.parametrize("key", [*MEMBERS, *BUILTIN])
def test_pages_are_small(live: Callable[..., Live], ready: Callable[[str], System], key: str) -> None:
    page = live(key, (lambda: live_system(ready(key))) if key in BUILTIN else None)
    assert page.file.stat().st_size <= MAX_BYTES


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


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["pid_controller"], "no drawing"),
        (["missing.fmu"], "there is no file"),
        (["bad.fmu"], "not a zip file"),
        (["missing.ssp"], "there is no file"),
        (["walk", "--controller"], "system of several"),
        (["link_chain", "--controller"], "robot files"),
        (["link_chain", "--start", "gravty=1"], "gravity"),
    ],
)
def test_a_mistake_gets_one_line(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.fmu").write_text("PK")
    assert main(["live", *words]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and told in lines[0]
    assert list(tmp_path.iterdir()) == [tmp_path / "bad.fmu"]


def test_live_start_values_stand_and_drive() -> None:
    walker, cart = Exoskeleton(), WheeledCart()
    stood = walker.simulate(stop=6, step=0.1, start=walker.live_start)
    assert stood["hip.y"][-1] > 0.8 and np.ptp(stood["hip.x"]) > 0.1, "it staggers and stands"
    assert np.ptp(cart.simulate(stop=5, step=0.1, start=cart.live_start)["pose.x"]) > 1
    assert Exoskeleton(contact="flight").live_start == {}


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
