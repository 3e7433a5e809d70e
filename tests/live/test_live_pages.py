"""Live pages in a real browser: they run alone, as the native FMU does, in real time, also on a phone."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers.build import Build
from helpers.live_pages import PHONE, STEPS, Live
from helpers.look_browser import Browser
from helpers.look_cases import crane, robot_file
from helpers.look_firefox import Firefox
from mechfmu import Exoskeleton, LinkChain, WheeledCart
from mechfmu.cli import main
from mechfmu.cosim.builtin import BUILTIN
from mechfmu.cosim.system import System
from mechfmu.live.page import MAX_BYTES, live_mechanism, live_system
from mechfmu.mechanisms.tree.model import Tree

pytest_plugins = ("helpers.live_fixtures",)

MEMBERS = ("link_chain", "spherical_arm", "exoskeleton", "wheeled_cart", "tree")
SAME = 1e-9
REAL_TIME = 10  # s

# an input that acts in the trajectories, so that inputs are compared as well
PUSHED = {
    "link_chain": {"tip.force_x": 3.0},
    "spherical_arm": {"joint[1].torque[1]": 2.0},
    "exoskeleton": {"link[2].moment": 5.0},
    "wheeled_cart": {"wheel.left_torque": 1.5},
    "tree": {},
}


@pytest.mark.parametrize("key", MEMBERS)
@pytest.mark.parametrize("kind", ["native"], indirect=True)
def test_a_page_runs_alone_and_as_the_native_fmu(live: Callable[..., Live], fmu: Build, key: str) -> None:
    page = live(key)
    assert page.file.stat().st_size <= MAX_BYTES
    page.open()
    page.browser.wait(lambda: page.js("return livePage.simulation.t > 0.1"), "the mechanism does not move")
    page.pause()
    page.browser.keep_screenshot(f"live_{key}")
    start = page.js("livePage.reset(); return [...livePage.simulation.draw()]")
    names, rows = page.run(values=tuple(("", name, value) for name, value in PUSHED[key].items()))
    assert page.frame().tolist() == start, "reset is not the start"

    assert difference(page, fmu(key), names, rows, PUSHED[key]) < SAME
    assert page.browser.errors() == []
    assert page.browser.requests() == [page.file.as_uri()]


def difference(page: Live, fmu: Path, names: list[str], rows: np.ndarray, values: dict[str, float]) -> float:
    """Return the largest difference from the native FMU with the same parameters and inputs, relative to the largest
    value of the variable: the acceleration of a link on a stiff spring passes through zero, its terms do not."""
    step = page.js("return livePage.data.step")
    system = System(
        "alone", {"m": fmu}, set={f"m.{name}": x for name, x in values.items()}, stop=STEPS * step, step=step
    )
    native = system.simulate(adaptive=False)
    expected = np.column_stack([native[f"m.{name}"] for name in names])[1:]
    return float(np.max(np.abs(rows - expected) / (1 + np.max(np.abs(expected), axis=0))))


@pytest.mark.parametrize("key", MEMBERS)
@pytest.mark.parametrize("kind", ["native"], indirect=True)
def test_a_page_fits_a_phone_and_runs_there_as_the_native_fmu(live: Callable[..., Live], fmu: Build, key: str) -> None:
    page = live(key)
    page.open(size=PHONE)
    page.pause()
    values = PUSHED[key] or {"gravity": 5.0}
    for name, value in values.items():
        assert page.slide(name, value) == "", "the slider refuses the value"
    start = page.js("livePage.reset(); return [...livePage.simulation.draw()]")
    names, rows = page.run()
    assert difference(page, fmu(key), names, rows, values) < SAME
    assert page.frame().tolist() == start, "reset is not the start"
    page.browser.keep_screenshot(f"live_{key}_phone")
    assert page.js("return document.scrollingElement.scrollWidth") <= PHONE[0]
    for part in ("canvas", "button.play", "aside"):
        box = page.js("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", part)
        assert box["left"] >= 0 and box["right"] <= PHONE[0] and box["height"] > 30, part
    assert len(np.unique(page.browser.picture("canvas").reshape(-1, 3), axis=0)) > 20, "nothing is drawn"


def test_a_link_carries_the_settings(live: Callable[..., Live]) -> None:
    page = live("link_chain")
    page.open("#gravity=1.62&speed=0.5&theme=dark&link[1].mass=oops")
    found = page.js("""const { simulation, clock } = livePage;
      return [simulation.members[0].settings.get("gravity"), clock.speed, document.documentElement.dataset.theme,
              simulation.members[0].settings.size];""")
    assert found == [1.62, 0.5, "dark", 1]
    assert "link[1].mass: must be a number" in page.browser.find(".problem-box").text
    page.open("#gravity=1.62&link[1].mass=-1")
    assert "not possible" in page.browser.find(".problem-box").text
    assert page.js("return [...livePage.simulation.members[0].settings]") == [["gravity", 1.62]]


def test_the_camera_follows_a_robot_that_falls(live: Callable[..., Live], tmp_path: Path) -> None:
    inertia = '<mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    shape = '<visual><geometry><box size="0.3 0.2 0.1"/></geometry></visual>'
    file = tmp_path / "box.urdf"
    file.write_text(f'<robot name="box"><link name="box"><inertial>{inertia}</inertial>{shape}</link></robot>')
    page = live("falling", lambda: live_mechanism(Tree.from_file(file, base="free")))
    page.open()
    t, *middle = page.js("""livePage.play(false);
      const { simulation, view } = livePage;
      for (let i = 0; i < 30; i++) {
        for (let k = 0; k < 12; k++) livePage.step();
        view.show(simulation.frame);
        view.render();
      }
      const { x, y } = view.centre.clone().project(view.orbit.camera);
      return [simulation.t, x, y];""")
    assert t > 2.9
    assert np.max(np.abs(middle)) < 0.8, "it has left the view"


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


@pytest.mark.parametrize("key", ["link_chain", "standing", "spherical_arm", "panda", "walk"])
def test_a_page_runs_in_real_time(live: Callable[..., Live], ready: Callable[[str], System], key: str) -> None:
    make_page = {
        "standing": lambda: Exoskeleton().live().html,
        "panda": lambda: live_mechanism(Tree.from_file(robot_file("panda.urdf"))),
        "walk": lambda: live_system(ready("walk")),
    }
    page = live(key, make_page.get(key))
    page.open(size=PHONE)
    begun = page.js("""
      globalThis.saidSo = false;
      setInterval(() => (saidSo ||= !livePage.parts.slow.hidden), 20);
      livePage.reset();
      livePage.play(true);
      return livePage.clock.last / 1000;""")
    time.sleep(REAL_TIME)
    t, last_frame, said_so = page.js("return [livePage.simulation.t, livePage.clock.last / 1000, saidSo]")
    assert t >= 0.95 * (last_frame - begun) > 1 or said_so
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
    panda.browser.keep_screenshot("live_panda")
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
