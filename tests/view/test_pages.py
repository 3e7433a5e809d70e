"""The pages in a real browser: they load without errors and network, play, pause, and show the frames of the result."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import needs
from helpers.look_browser import Browser
from helpers.look_cases import chain, crane
from mechfmu import Scenario, WheeledCart
from mechfmu.fmu.documentation import index_html
from mechfmu.mechanisms import make, names
from mechfmu.simulation.result import Result
from mechfmu.simulation.scene import Scene
from mechfmu.view.recording import PAGE_BYTES, drawn, recording_page
from mechfmu.view.scene_data import frame_of

actions = needs.module("selenium.webdriver.common.action_chains")
widgets = needs.module("selenium.webdriver.support.ui")

SINGLE = 1e-6  # relative: numbers are 32-bit floats in the page
PHONE, DESKTOP = (390, 844), (900, 560)  # without a graphics card every pixel costs


@dataclasses.dataclass
class Page:
    browser: Browser
    file: Path
    result: Result

    @property
    def time(self) -> float:
        return float(self.js("return recording.t"))

    def open(self, address: str = "", size: tuple[int, int] = DESKTOP) -> None:
        self.browser.size(*size)
        self.browser.open(self.file)
        if address:
            self.browser.driver.get(f"{self.file.as_uri()}{address}")
            self.browser.driver.refresh()
        self.browser.wait(lambda: self.js("return globalThis.recording !== undefined"), "the page did not begin")

    def js(self, code: str, *arguments: Any) -> Any:
        return self.browser.js(code, *arguments)

    def seek(self, t: float) -> int:
        """Go to a time; return the sample of the result."""
        self.js("recording.play(false); recording.seek(arguments[0])", t)
        return int(np.searchsorted(self.result.t, t + 1e-9) - 1)

    def play(self) -> Any:
        return self.browser.find("button.play")

    def keys(self, text: str) -> None:
        self.browser.find("body").send_keys(text)

    def picture(self) -> np.ndarray:
        """Return the picture of the view after everything is drawn."""
        two_frames = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        self.browser.driver.execute_async_script(two_frames)
        return self.browser.picture(".scene")

    def option(self, text: str) -> None:
        self.js(
            "[...document.querySelectorAll('.menu label')].find((l) => l.textContent === arguments[0]).click()", text
        )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def pages(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    folder = tmp_path_factory.mktemp("pages")
    pushed = {"slew.rate_start": 2.0, "tip.force_z": -70.0, "luff.torque": -20.0}
    results = {"chain": chain(), "crane": crane(folder).simulate(stop=2.0, step=0.02, start=pushed)}
    return {
        name: Page(browser, result.animate(folder / f"{name}.html"), result)  # type: ignore[attr-defined]
        for name, result in results.items()
    }


@pytest.fixture(params=["chain", "crane"])
def page(request: pytest.FixtureRequest, pages: dict[str, Page]) -> Page:
    pages[request.param].open()
    return pages[request.param]


@pytest.fixture
def flat(pages: dict[str, Page]) -> Page:
    pages["chain"].open()
    return pages["chain"]


def test_loads_without_errors_and_without_the_network(page: Page) -> None:
    assert page.file.stat().st_size < PAGE_BYTES
    policy = page.js("return document.querySelector('meta[http-equiv]').content")
    assert "default-src 'none'" in policy and "connect-src 'none'" in policy and "unsafe-inline" not in policy
    assert page.time == 0.0 and page.play().text == "Play"
    page.play().click()
    page.browser.wait(lambda: page.time > 0.1, "it does not play")
    assert page.play().text == "Pause"
    page.play().click()
    stopped = page.time
    page.browser.driver.execute_async_script("setTimeout(arguments[0], 300)")
    assert page.time == stopped and page.play().text == "Play"
    assert page.browser.find("footer output").text == f"{stopped:.2f} s"
    assert page.browser.errors() == []
    assert page.browser.requests() == [page.file.as_uri()]


def test_frames_and_signals_are_those_of_the_result(page: Page) -> None:
    for t in (0.0, 0.73, 2.0):
        i = page.seek(t)
        expected = np.concatenate([frame_of(d) for d in drawn(page.result, i).values()])
        np.testing.assert_allclose(page.js("return [...recording.view.frame]"), expected, rtol=SINGLE, atol=SINGLE)
    columns = page.js("return [...recording.signals.samples.columns].map(([name, c]) => [name, [...c]])")
    assert len(columns) > 20
    for name, values in columns:
        how = page.result.shown[name]
        expected = how.factor * page.result[name] + how.offset
        np.testing.assert_allclose(values, expected, rtol=SINGLE, atol=SINGLE * np.max(np.abs(expected)))


def test_the_picture_shows_the_mechanism_moving_and_what_is_chosen(page: Page) -> None:
    page.js("recording.view.set({ quality: 'high' })")
    before = page.picture()
    assert len(np.unique(before.reshape(-1, 3), axis=0)) > 100
    page.seek(0.9)
    moved = page.picture()

    def differs(other: np.ndarray) -> int:
        return int(np.sum(np.abs(other - moved).max(axis=2) > 8))

    assert differs(before) > 1000
    for option in ("joint reactions", "trails", "shadows", "start pose"):
        page.option(option)
        assert differs(page.picture()) > 50, option
        page.option(option)
    assert differs(page.picture()) < 20


def test_the_slider_and_a_click_in_a_plot_choose_the_time(page: Page) -> None:
    hand = actions.ActionChains(page.browser.driver)
    hand.move_to_element(page.browser.find(".slider")).click().perform()  # the middle of the slider
    page.browser.wait(lambda: abs(page.time - 1.0) < 0.02, f"the slider's middle is {page.time}")
    frame = int(np.searchsorted(page.result.t, page.time + 1e-9) - 1)
    wanted = page.result["energy.kinetic"][frame]
    shown = "return document.querySelector('[data-key=\"energy.kinetic\"] .signals-value').textContent"
    page.browser.wait(lambda: page.js(shown).endswith("J") and float(page.js(shown).split()[0].replace("−", "-"))
                      == pytest.approx(wanted, rel=1e-3), "the value of the moment is not shown")  # fmt: skip
    plot = page.browser.find(".signals-plot")
    hand = actions.ActionChains(page.browser.driver)
    hand.move_to_element_with_offset(plot, plot.size["width"] // 4, 0).click().perform()
    page.browser.wait(lambda: 1.4 < page.time < 1.7, f"the click did not go to its time, t = {page.time}")
    assert page.browser.errors() == []


def test_keys(flat: Page) -> None:
    right, left, up, home, end = "\ue014", "\ue012", "\ue013", "\ue011", "\ue010"
    flat.keys(right + right + right + left)
    assert flat.time == pytest.approx(0.02)
    flat.keys(end)
    assert flat.time == 2.0
    flat.keys(home)
    assert flat.time == 0.0
    flat.keys(up)
    assert (
        flat.js("return recording.clock.speed") == 2
        and flat.browser.find("footer select").get_attribute("value") == "2"
    )
    flat.keys(" ")
    flat.browser.wait(lambda: flat.time > 0.1, "space does not play")
    flat.keys(" ")
    assert flat.play().text == "Play"


def test_speed_end_and_repetition(flat: Page) -> None:
    widgets.Select(flat.browser.find("footer select")).select_by_visible_text("0.5×")
    flat.play().click()
    now, t = flat.browser.driver.execute_async_script("""
        const done = arguments[0], now = [], t = [];
        const sample = (at) => {
          now.push(at / 1000);
          t.push(recording.t);
          if (now.length > 3 && now.at(-1) > now[0] + 0.6) done([now, t]); else requestAnimationFrame(sample);
        };
        requestAnimationFrame(sample);""")
    assert t[-1] - t[0] == pytest.approx(0.5 * (now[-1] - now[0]), abs=0.5 * np.max(np.diff(now)))
    flat.option("repeat")
    flat.js("recording.seek(1.95); recording.play(true)")
    flat.browser.wait(lambda: flat.time == 2.0 and flat.play().text == "Play", "it does not stop at the end")
    flat.option("repeat")
    flat.play().click()  # from the start
    flat.browser.wait(lambda: 0.05 < flat.time < 1.9, "it does not start again")


def test_the_address_and_the_theme(flat: Page) -> None:
    flat.open("#t=1.5&theme=dark&speed=0.25")
    found = flat.js("return [recording.t, document.documentElement.dataset.theme, recording.clock.speed]")
    assert found == [1.5, "dark", 0.25]
    assert flat.picture().mean() < 100
    flat.browser.find("header button").click()
    assert flat.picture().mean() > 150


def test_the_table_of_the_plots(flat: Page) -> None:
    head, *rows = flat.js("return recording.signals.csv()").splitlines()
    column = head.split(",").index("energy.kinetic [J]")
    found = np.array([[float(field) for field in row.split(",")] for row in rows])
    np.testing.assert_allclose(found[:, 0], flat.result.t, atol=1e-9)
    np.testing.assert_allclose(found[:, column], flat.result["energy.kinetic"], rtol=SINGLE, atol=SINGLE)


def test_fits_a_phone(page: Page) -> None:
    page.open(size=PHONE)
    assert page.js("return document.scrollingElement.scrollWidth") <= PHONE[0]
    for part in ("canvas", "button.play", ".slider", "footer select"):  # visible without scrolling
        box = page.js("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", part)
        assert box["left"] >= 0 and box["right"] <= PHONE[0] and box["height"] > 20 and box["bottom"] <= PHONE[1], part
    assert len(np.unique(page.picture().reshape(-1, 3), axis=0)) > 100, "nothing is drawn"


def test_the_view_can_be_turned_while_it_plays(pages: dict[str, Page]) -> None:
    page = pages["crane"]
    page.open()
    page.play().click()
    before = page.js("return recording.view.cameraState")
    hand = actions.ActionChains(page.browser.driver, duration=50)
    hand.move_to_element(page.browser.find("canvas")).click_and_hold().move_by_offset(80, 20).release().perform()
    turned = page.js("return recording.view.cameraState")
    assert abs(turned[0] - before[0]) > 0.1
    page.play().click()
    page.seek(1.5)
    page.picture()
    assert page.js("return recording.view.cameraState") == turned
    page.browser.find(".tools button").click()
    page.picture()
    assert page.js("return recording.view.cameraState") == pytest.approx(before)


def test_names_are_text(browser: Browser, tmp_path: Path) -> None:
    """The names in an FMU may be any text."""
    evil = "</script><script>document.title = 'broken'</script><b>x"
    result = dataclasses.replace(
        chain(),
        title=evil,
        signals={evil: chain()["tip.x"], **chain().signals},
        shown={evil: chain().shown["tip.x"], **chain().shown},
    )
    page = Page(browser, result.animate(tmp_path / "evil.html", signals=[evil], speed=0.3), result)  # type: ignore[attr-defined]
    page.open()
    assert browser.driver.title == evil == browser.find("h1").text
    assert browser.find(".signals-name").text == evil and browser.errors() == []
    assert browser.find("footer select").get_attribute("value") == "0.3"


def test_members_of_a_system_and_a_mechanism_that_travels(browser: Browser, tmp_path: Path) -> None:
    """The camera follows a cart that drives away, and stays where it is when there is a scenario around it."""
    cart = WheeledCart().simulate(stop=12.0, step=0.1, start={"front.speed_start": 1.0})
    (tmp_path / "cart.html").write_text(recording_page(cart), encoding="utf-8")
    page = Page(browser, tmp_path / "cart.html", cart)
    page.open()
    assert page.js("return [recording.view.shown.follow, recording.view.data.members.length]") == [True, 1]
    members = {"cart": WheeledCart(), "world": Scenario()}
    constants = {f"{m}.{n}": v for m, mechanism in members.items() for n, v in mechanism.start_values({}).items()}
    signals = {f"cart.{name}": values for name, values in cart.signals.items()}
    shown = {f"cart.{name}": how for name, how in cart.shown.items()}
    system = dataclasses.replace(cart, signals=signals, shown=shown, constants=constants, mechanism=Scene(members))
    (tmp_path / "system.html").write_text(recording_page(system), encoding="utf-8")
    page = Page(browser, tmp_path / "system.html", system)
    page.open()
    assert page.js("return recording.view.data.members.map(({ name }) => name)") == ["cart", "world"]
    page.seek(6.0)
    expected = np.concatenate([frame_of(d) for d in drawn(system, 60).values()])
    np.testing.assert_allclose(page.js("return [...recording.view.frame]"), expected, rtol=SINGLE, atol=SINGLE)
    assert browser.errors() == []


# --- documentation ----------------------------------------------------------------------------------------------------


def test_nothing_of_a_mechanisms_own_drawing_is_clipped(browser: Browser, tmp_path: Path) -> None:
    browser.size(1280, 800)
    for key in names():
        (tmp_path / "page.html").write_text(index_html(make(key), {}), encoding="utf-8")
        browser.open(tmp_path / "page.html")
        clipped = browser.js("""
            const outside = (b, frame) =>
              b.left < frame.left || b.right > frame.right || b.top < frame.top || b.bottom > frame.bottom;
            const clipped = e => outside(e.getBoundingClientRect(), e.closest("svg").getBoundingClientRect());
            return [...document.querySelectorAll("svg text")].filter(clipped).map(e => e.textContent)""")
        assert clipped == [], key


def test_the_recording_in_a_notebook_plays(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><body>{chain()._repr_html_()}</body>", encoding="utf-8")
    browser.size(1280, 800)
    browser.open(tmp_path / "notebook.html")
    browser.driver.switch_to.frame(browser.all("iframe")[0])
    browser.wait(lambda: len(browser.all("canvas")) > 0, "the mechanism is not drawn")
    before = browser.find("footer output").text
    browser.find("button.play").click()
    browser.wait(lambda: browser.find("footer output").text != before, "it does not play")
    assert browser.errors() == []


# --- plots ------------------------------------------------------------------------------------------------------------


def test_plot_page(browser: Browser, tmp_path: Path) -> None:
    result = chain()
    result.plot(["tip.x", "energy.total", "energy.kinetic"], tmp_path / "plot.html")
    browser.size(1280, 800)
    browser.open(tmp_path / "plot.html")
    browser.wait(lambda: len(browser.all("#plot .scatterlayer .trace")) == 3, "the curves are not drawn")
    assert [e.text for e in browser.all("#plot .g-ytitle, #plot .g-y2title")] == ["[m]", "[J]"]
    browser.all("#plot .legendtoggle")[0].click()
    browser.wait(
        lambda: len(browser.all("#plot .scatterlayer .trace")) == 2, "a click in the legend does not hide a curve"
    )
    assert browser.errors() == [] and browser.requests() == [(tmp_path / "plot.html").as_uri()]
    assert "cloud" not in " ".join(e.get_attribute("data-title").lower() for e in browser.all(".modebar-btn"))
