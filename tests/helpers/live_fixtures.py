"""Fixtures with live pages; tests name this module in `pytest_plugins`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from helpers.live_pages import Live
from helpers.look_browser import Browser
from mechfmu.live.page import LivePage, live_mechanism
from mechfmu.mechanisms import make


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
