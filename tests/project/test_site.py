"""The site of the documentation: light, without dead links, alone on the disk, and as wide as a phone."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers import needs
from helpers.look_browser import Browser
from helpers.paths import BUILD_SCRIPTS, ROOT

needs.package("nbclient", whole_file=True)  # gallery.py imports it
sys.path.append(str(BUILD_SCRIPTS))
import gallery  # noqa: E402
from live_gallery import Exhibit, exhibits  # noqa: E402
from site_files import problems_of, share_scripts  # noqa: E402

from mechfmu import LinkChain, __version__  # noqa: E402
from mechfmu.check.checker import Options, check_fmu  # noqa: E402
from mechfmu.check.report.as_html import to_html  # noqa: E402

PHONE, DESKTOP = (390, 844), (1280, 900)
FRAME = "iframe.live-page"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with one live page and one FMU, without notebooks."""
    out = tmp_path_factory.mktemp("out")
    (fmu,) = LinkChain(links=2).build(out)
    report = check_fmu(fmu, Options(only=("S",)))
    (out / "LinkChain.check.html").write_text(to_html([report], __version__), encoding="utf-8")
    facts = {fmu.name: {"size": "1 kB", "checked": "1/1"}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gallery, "NOTEBOOKS", [])
        patch.setattr(gallery, "exhibits", lambda: [e for e in exhibits() if e.name == gallery.FRONT])
        first, problems = gallery.write_site(out, facts, "legend")
    assert problems == []  # no dead links and anchors, nothing from elsewhere; mkdocs has no warnings
    return first.parent


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


def test_every_page_is_there_and_all_formulas_are_drawn(site: Path) -> None:
    pages = [f for f in site.rglob("*.html") if "gallery" not in f.parts]
    assert len(pages) >= len(list((ROOT / "docs").rglob("*.md")))
    plain = {
        f: re.sub(r"<(pre|code|script)\b.*?</\1>", "", f.read_text(encoding="utf-8"), flags=re.DOTALL) for f in pages
    }
    assert [f.name for f, text in plain.items() if "$" in text or "formula-0" in text] == []
    assert "<math" in plain[site / "link_chain.html"]


def test_the_api_reference_has_the_docstrings(site: Path) -> None:
    text = re.sub(r"<[^>]+>", "", (site / "api" / "mechanisms.html").read_text(encoding="utf-8"))
    assert "A planar chain of rods" in text and "number of rods" in text  # docstring and option of a mechanism
    assert '{"joint[1].angle_start": 0.5}' in text.replace("&quot;", '"')  # of a table made from columns
    fields = (site / "api" / "simulation.html").read_text(encoding="utf-8")
    assert re.search(r"<td><code>title</code></td>\s*<td>of plots and pages</td>", fields)


def test_what_is_wrong_with_a_site_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="there"><a href="b.html">b</a> <a href="#there">c</a> <a href="#gone">d</a> <img src="x.png">'
        '<a href="https://example.com">e</a> <script src="https://example.com/x.js"></script>'
    )
    (tmp_path / "large.bin").write_bytes(bytes(2_000_000))
    assert problems_of(tmp_path, 1_500_000) == [
        "a.html: there is no b.html",
        "a.html: there is no anchor #gone",
        "a.html: there is no x.png",
        "a.html loads https://example.com/x.js",
        "the site has 2.0 MB, allowed 1.5; the largest: large.bin 2.0 MB, a.html 0.0 MB",
    ]


def test_pages_share_long_scripts(tmp_path: Path) -> None:
    long, policy = "x = 1;\n" * 20_000, '<meta http-equiv="Content-Security-Policy" content="...">'
    for place in ("a.html", "below/b.html"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        module = f'<script type="module">{long}2</script>'
        (tmp_path / place).write_text(f"<script>{long}</script>{policy}<script>short()</script>{module}")
    share_scripts(tmp_path, tmp_path / "scripts")
    library, program = sorted((tmp_path / "scripts").iterdir(), key=lambda file: file.stat().st_size)
    assert (library.read_text(), program.read_text()) == (long, f"{long}2")
    shared = (
        f'<script src="../scripts/{library.name}"></script><script defer src="../scripts/{program.name}"></script>\n'
    )
    assert (tmp_path / "below" / "b.html").read_text() == f"{shared}{policy}<script>short()</script>"


def test_every_live_page_has_what_the_gallery_shows() -> None:
    shown: list[Exhibit] = exhibits()
    assert len({e.name for e in shown}) == len(shown) >= 10
    assert {e.group for e in shown} >= {"Mechanisms", "Controlled systems"}


def test_no_page_is_wider_than_a_phone_or_asks_the_network(site: Path, browser: Browser) -> None:
    browser.size(*PHONE)
    wide, asked, errors = {}, [], []
    for page in sorted(site.rglob("*.html")):
        if "examples" in page.parts or page.name == "404.html":  # blocks of code; what a server shows under any address
            continue
        browser.open(page)
        width = browser.js("return document.documentElement.scrollWidth")
        if width > PHONE[0]:
            wide[page.relative_to(site).as_posix()] = width
        asked += [address for address in browser.requests() if not address.startswith("file:")]
        errors += browser.errors()
    assert wide == {} and asked == [] and errors == []


def test_the_gallery_offers_the_fmu_with_its_variables_and_report(site: Path) -> None:
    files = {f.name for f in (site / "gallery").iterdir()}
    assert files >= {"LinkChain.fmu", "LinkChain.variables.html", "LinkChain.check.html"}  # links are checked above


def test_the_first_page_runs_and_the_gallery_runs_what_is_pressed(site: Path, browser: Browser) -> None:
    browser.size(*PHONE)
    browser.open(site / "index.html")
    assert _time_in(browser) > 0.1
    browser.open(site / "gallery.html")
    assert browser.all(FRAME) == []  # nothing runs before it is pressed
    poster = browser.find("a.live-poster")
    assert browser.js("return arguments[0].querySelector('img').naturalWidth", poster) == 640
    poster.click()
    assert _time_in(browser) > 0.1 and not poster.is_displayed()
    assert [a for a in browser.requests() if not a.startswith("file:")] == [] and browser.errors() == []


def _time_in(browser: Browser) -> float:
    """The simulated time of the live page in this page, after it has begun."""
    browser.driver.switch_to.frame(browser.find(FRAME))
    try:
        return float(
            browser.wait(lambda: browser.js("return livePage.simulation.t > 0.1 && livePage.simulation.t"), "")
        )
    finally:
        browser.driver.switch_to.default_content()


def test_the_search_works_from_the_disk(site: Path, browser: Browser) -> None:
    browser.size(*DESKTOP)
    browser.open(site / "faq.html")
    browser.find(".md-search__input").send_keys("quaternion")
    found = browser.wait(lambda: browser.all(".md-search-result__item a"), "the search finds nothing")
    assert any("spherical_arm.html" in a.get_attribute("href") for a in found)
    assert browser.errors() == []
