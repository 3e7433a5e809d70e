"""The pages in a real browser: they load without errors and network, play, pause, and draw the mechanism to scale."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import rgb_to_hsv, to_rgb

from helpers import needs
from helpers.look_browser import Browser
from helpers.look_cases import chain, crane
from mechfmu.fmu.documentation import index_html
from mechfmu.mechanisms import make, names
from mechfmu.simulation.result import Result

actions = needs.module("selenium.webdriver.common.action_chains")
widgets = needs.module("selenium.webdriver.support.ui")

BLUE, GREEN, RED = "#1769aa", "#2b8a3e", "#c2255c"  # mechanism, reactions, forces
PURPLE, ORANGE = "#862e9c", "#e8890c"  # moments, trail
PIXEL = 1e-6  # m: coordinates are 32-bit floats in the page


@dataclasses.dataclass
class Page:
    browser: Browser
    file: Path
    result: Result
    size: tuple[int, int] = (1280, 800)

    @property
    def time(self) -> float:
        return float(self.browser.js("return document.getElementById('scrub').value"))

    def show(self) -> None:
        """Show the page at its start, with everything visible; it is only opened if it is not open already."""
        self.browser.size(*self.size)
        if self.browser.driver.current_url != self.file.as_uri():
            self.open()
        self.browser.js("""
            const $ = id => document.getElementById(id);
            const set = (id, what) => { Object.assign($(id), what); $(id).dispatchEvent(new Event("change")); };
            if ($("play").getAttribute("aria-label") === "pause") $("play").click();
            for (const id of ["force", "reaction", "moment", "repeat"]) set(id, { checked: true });
            set("speed", { value: 1 }); set("trail", { value: 1 }); set("bodies", { value: 1 });""")
        self.seek(0.0)

    def open(self) -> None:
        self.browser.open(self.file)
        self.browser.wait(lambda: self.browser.find("#time").text, "the page was not loaded")

    def seek(self, t: float) -> int:
        """Move the slider, wait until the frame is drawn, and return the frame."""
        move = "const s = document.getElementById('scrub'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))"
        self.browser.js(move, t)
        self.settle(self.frame_at(t))
        return self.frame_at(t)

    def frame_at(self, t: float) -> int:
        return int(np.searchsorted(self.result.t, t + 1e-9) - 1)

    def settle(self, frame: int) -> None:
        """Wait until a frame is on the screen."""
        stage = self.browser.find("#stage")
        self.browser.wait(lambda: stage.get_attribute("data-frame") == str(frame), f"frame {frame} was not drawn")
        two_frames = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        self.browser.driver.execute_async_script(two_frames)

    def change(self, what: Callable[[], None]) -> None:
        """Do something that redraws the frame, and wait for it."""
        forget = "const s = document.getElementById('stage'), f = s.dataset.frame; delete s.dataset.frame; return f"
        frame = self.browser.js(forget)
        what()
        self.settle(int(frame))

    def select(self, name: str, text: str) -> None:
        self.change(lambda: widgets.Select(self.browser.find(f"#{name}")).select_by_visible_text(text))

    def trace(self, name: str) -> np.ndarray:
        """Return the points of a part of the drawing, NaN between lines."""
        find = "const d = document.getElementById('stage').data.find(d => d.name === arguments[0]);"
        columns = self.browser.js(f"{find} return [d.x, d.y, d.z]", name)
        return np.transpose([column for column in columns if column is not None]).astype(float)

    def notes(self) -> list[tuple[float, float]]:
        """Return the scales above the drawing: metres and newtons, degrees and newton metres."""
        found = re.findall(r"([\d.]+)(?: m|°) ≙ ([\d.]+) N", self.browser.find("#scale").text)
        return [(float(a), float(b)) for a, b in found]

    def pixels(self, colour: str) -> int:
        """Return the number of pixels of the drawing that have this colour, in any light."""
        hue, saturation, value = np.moveaxis(rgb_to_hsv(self.browser.picture("#stage") / 255), 2, 0)
        apart = np.abs((hue - rgb_to_hsv(to_rgb(colour))[0] + 0.5) % 1 - 0.5)
        return int(np.sum((apart < 1 / 30) & (saturation > 0.35) & (value > 0.4)))


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
    found = {}
    for name, result in results.items():
        result.animate(folder / f"{name}.html")
        found[name] = Page(browser, folder / f"{name}.html", result)
    found["crane"].size = (1000, 620)  # without a graphics card every pixel in space costs
    return found


@pytest.fixture(scope="module", params=["chain", "crane"])
def any_page(request: pytest.FixtureRequest, pages: dict[str, Page]) -> Page:
    return pages[request.param]


@pytest.fixture
def page(any_page: Page) -> Page:
    any_page.show()
    return any_page


@pytest.fixture
def flat(pages: dict[str, Page]) -> Page:
    pages["chain"].show()
    return pages["chain"]


@pytest.fixture
def round_(pages: dict[str, Page]) -> Page:
    pages["crane"].show()
    return pages["crane"]


# --- both kinds of drawing --------------------------------------------------------------------------------------------


def test_loads_without_errors_and_without_the_network(page: Page) -> None:
    page.open()
    page.browser.find("#play").click()
    page.browser.wait(lambda: page.time > 0.3, "it does not play")
    assert page.browser.errors() == []
    assert page.browser.requests() == [page.file.as_uri()]


def test_plays_and_pauses(page: Page) -> None:
    play = page.browser.find("#play")
    assert page.time == 0.0 and play.get_attribute("aria-label") == "play"
    widgets.Select(page.browser.find("#speed")).select_by_visible_text(
        "0.1 ×"
    )  # far from the end, however slow the browser is
    play.click()
    page.browser.wait(lambda: page.time > 0.05, "it does not play")
    assert play.get_attribute("aria-label") == "pause"
    play.click()
    stopped = page.time
    page.browser.driver.execute_async_script("setTimeout(arguments[0], 300)")
    assert page.time == stopped > 0.05 and play.get_attribute("aria-label") == "play"
    shown = re.fullmatch(r"t = (\d\.\d\d) s of 2 s", page.browser.find("#time").text)
    assert shown and float(shown[1]) == pytest.approx(stopped, abs=0.0051)  # rounded, halves either way


def test_the_picture_shows_the_mechanism_moving(page: Page) -> None:
    page.seek(0.0)
    before = page.browser.picture("#stage")
    assert page.pixels(BLUE) > 300
    page.seek(0.9)
    after = page.browser.picture("#stage")
    assert page.pixels(BLUE) > 300
    assert np.sum(np.abs(after - before).max(axis=2) > 60) > 1000  # pixels


def test_scrubbing_shows_the_values_of_that_moment(page: Page) -> None:
    """By a click on the slider, as a user does it: the middle of the slider is the middle of the time."""
    actions.ActionChains(page.browser.driver).move_to_element(page.browser.find("#scrub")).click().perform()
    page.browser.wait(lambda: abs(page.time - 1.0) < 0.02, f"the slider's middle is {page.time}")
    frame = page.frame_at(page.time)
    page.settle(frame)
    value, unit = page.browser.find('#chips b[data-name="energy.kinetic"]').text.split()
    wanted = page.result["energy.kinetic"][frame]
    assert unit == "J" and float(value) == pytest.approx(wanted, rel=1e-3)  # four digits are shown
    cursor, plots = (
        page.browser.js("return document.getElementById(arguments[0]).getBoundingClientRect()", name)
        for name in ("cursor", "plots")
    )
    left, right = plots["left"] + 62, plots["right"] - 14  # the margins of the plot
    assert cursor["left"] == pytest.approx(left + page.time / 2.0 * (right - left), abs=1.5)


def test_forces_reactions_moments_and_trails_can_be_hidden(page: Page) -> None:
    page.seek(0.5)
    page.select("trail", "all")
    if page.browser.find("#bodies").is_displayed():
        page.select("bodies", "edges")
    shown = {colour: page.pixels(colour) for colour in (GREEN, RED, PURPLE, ORANGE)}
    for box in ("#force", "#reaction", "#moment"):
        page.change(page.browser.find(box).click)
    page.select("trail", "off")
    for colour, count in shown.items():
        assert count >= 10 and page.pixels(colour) <= count / 5, (colour, count)


def test_another_signal_is_shown_and_hidden(page: Page) -> None:
    browser, name = page.browser, page.result.names[-6]
    count = len(browser.all("#chips li"))
    browser.find("#add").send_keys(name + "\n")
    browser.wait(lambda: len(browser.all("#chips li")) == count + 1, "the signal is not shown")
    curve = browser.js(
        "const c = document.getElementById('plots').data; return [c[c.length - 1].name, Array.from(c[c.length - 1].y)]"
    )
    how = page.result.shown[name]
    assert curve[0] == name and curve[1] == pytest.approx(how.factor * page.result[name] + how.offset)
    browser.find(f'button[title="hide {name}"]').click()
    assert len(browser.all("#chips li")) == count and browser.errors() == []


@pytest.mark.parametrize("width", [1280, 390])
def test_fits_the_window(page: Page, width: int) -> None:
    page.browser.size(width, 800)
    page.browser.wait(lambda: page.browser.js("return window.innerWidth") == width, "the window has another size")
    widths = "[document.querySelector('#stage .main-svg'), document.getElementById('stage')].map(e => e.clientWidth)"
    fits = f"const [drawing, stage] = {widths}; return drawing <= stage"
    page.browser.wait(lambda: page.browser.js(fits), "the drawing is wider than its place")
    assert page.browser.js("return document.documentElement.scrollWidth") <= width
    controls = ("#play", "#scrub", "#speed", "#trail", "#reaction", "#moment", "#repeat")
    for selector in controls:  # visible without scrolling
        place = page.browser.js("return document.querySelector(arguments[0]).getBoundingClientRect()", selector)
        assert place["left"] >= 0 and place["right"] <= width and place["top"] >= 0 and place["bottom"] <= 800, selector
    stage = page.browser.js("return document.getElementById('stage').getBoundingClientRect()")
    assert stage["width"] > 0.5 * width - 60 and stage["height"] > 300


# --- planar -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", ["0.1", "0.5"])
def test_speed(flat: Page, speed: str) -> None:
    """Over many frames of the browser, time advances `speed` times as fast as its clock."""
    widgets.Select(flat.browser.find("#speed")).select_by_value(speed)
    flat.browser.find("#play").click()
    now, t = flat.browser.driver.execute_async_script("""
        const done = arguments[0], now = [], t = [];
        const sample = at => {
          now.push(at / 1000);
          t.push(Number(document.getElementById("scrub").value));
          if (now.length > 3 && now[now.length - 1] > now[0] + 0.6) done([now, t]); else requestAnimationFrame(sample);
        };
        requestAnimationFrame(sample);""")
    longest = max(b - a for a, b in pairwise(now))
    factor = float(speed)  # within one frame: the first may be sampled before its tick, the last after it
    assert t[-1] - t[0] == pytest.approx(factor * (now[-1] - now[0]), abs=factor * longest)


def test_the_end_and_the_repetition(flat: Page) -> None:
    flat.browser.find("#repeat").click()
    flat.seek(1.9)
    flat.browser.find("#play").click()
    flat.browser.wait(lambda: flat.time == 2.0, "it does not get to the end")
    play = flat.browser.find("#play")
    flat.browser.wait(lambda: play.get_attribute("aria-label") == "play", "it does not stop at the end")
    flat.browser.find("#repeat").click()
    flat.browser.find("#play").click()  # from the start
    flat.browser.wait(lambda: 0.1 < flat.time < 1.9, "it does not start again")


def test_the_chain_is_where_it_is_and_to_scale(flat: Page) -> None:
    for t in (0.0, 0.73, 2.0):
        frame = flat.seek(t)
        (line,) = flat.result.mechanism.drawing(flat.result.at(frame)).lines
        assert np.allclose(flat.trace("lines")[:5], line, rtol=0, atol=PIXEL)
    pixels_per_metre = "const l = document.getElementById('stage')._fullLayout; return [l.xaxis._m, -l.yaxis._m]"
    along_x, along_y = flat.browser.js(pixels_per_metre)
    assert along_x == pytest.approx(along_y, rel=1e-9)
    (metres, newtons), _ = flat.notes()
    start, _, _, tip = flat.trace("reaction")[:4]  # neck and wing between them
    force = np.hypot(flat.result["joint[1].reaction_x"][-1], flat.result["joint[1].reaction_y"][-1])
    assert np.linalg.norm(tip - start) / force == pytest.approx(metres / newtons, rel=0.05)  # the note has two digits


def test_a_moment_is_an_arc_around_its_joint(flat: Page) -> None:
    """Its length follows the scale above the drawing; a positive moment turns to the left."""
    for t in (0.2, 1.2):
        frame = flat.seek(t)
        _, (degrees, newton_metres) = flat.notes()
        arc = flat.trace("moment")[:-1]  # the only one: from the neck to its start, back to the neck, and its head
        assert np.isfinite(arc).all()
        start, tip = arc[24], arc[-3]
        assert np.linalg.norm(start) == pytest.approx(np.linalg.norm(tip), rel=1e-5)  # the joint is in the origin
        swept = np.unwrap(np.arctan2(arc[24:-4, 1], arc[24:-4, 0]))
        head = (np.arctan2(tip[1], tip[0]) - swept[-1] + np.pi) % (2 * np.pi) - np.pi
        angle = np.degrees(swept[-1] - swept[0]) + np.degrees(head)
        moment = flat.result.inputs["joint[1].torque"][frame]
        assert angle == pytest.approx(moment * degrees / newton_metres, rel=0.05) and abs(moment) > 1


def test_space_plays_and_a_click_in_a_plot_seeks(flat: Page) -> None:
    flat.browser.find("body").send_keys(" ")
    flat.browser.wait(lambda: flat.time > 0.1, "space does not play")
    flat.browser.find("body").send_keys(" ")
    plots = flat.browser.find("#plots")
    x, y = plots.size["width"] // 4, -plots.size["height"] // 4
    hand = actions.ActionChains(flat.browser.driver)
    hand.move_to_element_with_offset(plots, x, y).pause(0.3).click().perform()
    flat.browser.wait(lambda: flat.time > 1.2, f"the click did not seek, t = {flat.time}")


def test_names_are_text(browser: Browser, tmp_path: Path) -> None:
    """The names in an FMU may be any text."""
    evil = "</script><script>document.title = 'broken'</script><b>x"
    result = dataclasses.replace(
        chain(),
        title=evil,
        signals={evil: chain()["tip.x"], **chain().signals},
        shown={evil: chain().shown["tip.x"], **chain().shown},
    )
    result.animate(tmp_path / "evil.html", signals=[evil])
    page = Page(browser, tmp_path / "evil.html", result)
    page.show()
    assert browser.driver.title == evil == browser.find("h1").text
    assert evil in browser.find("#chips li").text and browser.errors() == []


# --- in space ---------------------------------------------------------------------------------------------------------


def test_the_shapes_are_where_they_are(round_: Page) -> None:
    """The corners of the box, which does not move, and the middle of the sphere, which does."""
    for t in (0.0, 1.0):
        frame = round_.seek(t)
        vertices = round_.trace("bodies")
        box, *_, sphere = round_.result.mechanism.drawing(round_.result.at(frame)).solids
        corners = [vertices[:8].min(axis=0), vertices[:8].max(axis=0)]
        assert box.kind == "box" and np.allclose(corners, [[-0.3, -0.3, 0.0], [0.3, 0.3, 0.1]], rtol=0, atol=PIXEL)
        ball = vertices[-222:]  # 11 rings of 20 and two ends
        middle = (ball.min(axis=0) + ball.max(axis=0)) / 2
        assert sphere.kind == "sphere" and np.allclose(middle, sphere.position, rtol=0, atol=PIXEL)
        assert np.linalg.norm(ball[:-2] - sphere.position, axis=1) == pytest.approx(0.1, abs=10 * PIXEL)


def test_a_moment_in_space_is_an_arc_about_its_axis(round_: Page) -> None:
    frame = round_.seek(0.5)
    drawing = round_.result.mechanism.drawing(round_.result.at(frame))
    (moment,) = (m for m in drawing.moments if m.name == "luff.torque")
    _, (degrees, newton_metres) = round_.notes()
    arc = round_.trace("moment")
    assert len(arc) == 26 * 8 + 1  # rings of eight points, and the tip
    path = np.array([*arc[:-9].reshape(-1, 8, 3).mean(axis=1), arc[-1]]) - moment.at
    axis = moment.moment / np.linalg.norm(moment.moment)
    assert np.allclose(path @ axis, 0.0, atol=10 * PIXEL) and np.ptp(np.linalg.norm(path, axis=1)) < 10 * PIXEL
    steps = [np.arctan2(np.cross(a, b) @ axis, a @ b) for a, b in pairwise(path)]
    assert min(steps) > 0 and np.degrees(sum(steps)) == pytest.approx(20.0 * degrees / newton_metres, rel=0.05)


def test_bodies_of_glass_let_arrows_through(round_: Page) -> None:
    round_.seek(0.5)
    solid, arrows = round_.pixels(BLUE), round_.pixels(GREEN)
    round_.select("bodies", "edges")
    assert solid > 300 and round_.pixels(BLUE) < solid / 5
    assert round_.pixels(GREEN) > arrows + 20


def test_the_view_can_be_turned_while_it_plays(round_: Page) -> None:
    """And stays as it was turned when the next frames are drawn.

    Plotly sets the camera's clock 0.5 s ahead with every frame and ignores the pointer until then. No frame is drawn
    while the button is down, so the pointer moves on until the view follows it.
    """
    saved = "const e = document.getElementById('stage').layout.scene.camera.eye; return [e.x, e.y, e.z]"
    live = "const e = document.getElementById('stage')._fullLayout.scene._scene.getCamera().eye; return [e.x, e.y, e.z]"
    browser = round_.browser
    before = browser.js(saved)
    browser.find("#play").click()
    browser.wait(lambda: round_.time > 0.1, "it does not play")
    actions.ActionChains(browser.driver).move_to_element(browser.find("#stage")).click_and_hold().perform()

    def follows() -> bool:
        actions.ActionChains(browser.driver, duration=50).move_by_offset(10, 3).pause(0.1).perform()
        return bool(np.linalg.norm(np.subtract(browser.js(live), before)) > 0.1)

    browser.wait(follows, "the view does not follow the pointer")
    actions.ActionChains(browser.driver).release().perform()
    turned = browser.wait(lambda: (now := browser.js(saved)) != before and now, "the view did not turn")
    assert np.linalg.norm(np.subtract(turned, before)) > 0.1
    time = round_.time
    browser.wait(lambda: round_.time != time, "it does not continue to play")
    browser.find("#play").click()
    round_.seek(1.5)
    assert browser.js(saved) == pytest.approx(turned)


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


def test_the_player_in_a_notebook_plays(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><body>{chain()._repr_html_()}</body>", encoding="utf-8")
    browser.size(1280, 800)
    browser.open(tmp_path / "notebook.html")
    browser.driver.switch_to.frame(browser.all("iframe")[0])
    browser.wait(lambda: len(browser.all("#stage .trace")) > 0, "the mechanism is not drawn")
    (before,) = (e.text for e in browser.all("#time"))
    browser.all("#play")[0].click()
    browser.wait(lambda: browser.all("#time")[0].text != before, "it does not play")
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
