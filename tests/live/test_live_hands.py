"""Live pages under the user's hands: pulls, pushes, sliders, keys, fingers; with and without controllers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers import needs
from helpers.live_pages import PHONE, RUN_ON, Live
from helpers.paths import ROOT
from mechfmu.cli import main
from mechfmu.cosim.system import System
from mechfmu.live.page import live_system

pytest_plugins = ("helpers.live_fixtures",)

actions = needs.module("selenium.webdriver.common.action_chains")
builder = needs.module("selenium.webdriver.common.actions.action_builder")
keys = needs.module("selenium.webdriver.common.keys").Keys

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
    page.js("livePage.view.show(livePage.simulation.frame); livePage.hands.show(); livePage.view.render()")
    page.browser.keep_screenshot(f"live_{key}_pulled")
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

    def back() -> bool:  # on a busy machine the second click may come too late to be a double click
        actions.ActionChains(page.browser.driver).double_click(page.browser.find(".row .name")).perform()
        return bool(page.js(gravity) == pytest.approx(9.81))

    page.browser.wait(back, "a double click does not bring the start value back")

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
