"""The files of the site: scripts that pages share, pictures that load quickly, and what is wrong with the pages."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from PIL import Image, ImageSequence

LONG = 100_000  # bytes of a script in a page that is worth a file: three.js, plotly.js, the script of live pages
SCRIPT = re.compile(r'<script(?: type="(module)")?>(.*?)</script>', re.DOTALL)
POLICY = '<meta http-equiv="Content-Security-Policy"'  # allows scripts in the page after it; files come before it
FILM_QUALITY = 45  # of WebP
PLOT_WIDTH, PLOT_COLOURS = 720, 48
OUTSIDE = ("http", "https", "mailto", "data", "blob", "javascript")
ADDRESSES = {"href", "src", "poster", "data-live"}  # attributes
LOADED = {"script", "link", "img", "iframe", "source"}  # elements whose addresses are loaded at once
RELATIONS_LOADED = {"stylesheet", "icon", "preload", "preconnect"}  # of link; others are for search engines


def share_scripts(folder: Path, shared: Path) -> None:
    """Move long scripts out of all pages below a folder, so that the pages share one file of each."""
    for page in folder.rglob("*.html"):
        text, modules = page.read_text(encoding="utf-8"), []

        def moved(found: re.Match[str], here: Path = page.parent, modules: list[str] = modules) -> str:
            if len(found[2]) < LONG:
                return found[0]
            file = shared / f"{hashlib.sha256(found[2].encode()).hexdigest()[:12]}.js"
            shared.mkdir(exist_ok=True)
            file.write_text(found[2], encoding="utf-8")
            address = Path(os.path.relpath(file, here)).as_posix()
            if found[1]:  # a page from the disk cannot load modules; like one, a deferred script runs at the end
                modules.append(f'<script defer src="{address}"></script>\n')
            return "" if found[1] else f'<script src="{address}"></script>'

        text = SCRIPT.sub(moved, text)
        page.write_text(text.replace(POLICY, "".join(modules) + POLICY, 1), encoding="utf-8")


def shrink_films(docs: Path) -> None:
    """Turn the GIF files of the pages into WebP files, of half their size."""
    for film in docs.rglob("*.gif"):
        with Image.open(film) as image:
            frames = [frame.convert("RGB") for frame in ImageSequence.Iterator(image)]
            options = dict(duration=image.info["duration"], loop=0, quality=FILM_QUALITY, method=2)
        frames[0].save(film.with_suffix(".webp"), save_all=True, append_images=frames[1:], **options)
        film.unlink()
    for page in docs.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r"(!\[[^\]]*\]\([^)\s]+)\.gif\)", r"\1.webp)", text), encoding="utf-8")


def shrink_plot(plot: Path, target: Path) -> None:
    """Write a plot with fewer pixels and colours."""
    with Image.open(plot) as image:
        small = image.convert("RGB")
    small.thumbnail((PLOT_WIDTH, 10 * PLOT_WIDTH))
    small.quantize(PLOT_COLOURS).save(target, optimize=True)


def problems_of(site: Path, largest: int) -> list[str]:
    """Return what is wrong with a site: its size in bytes, dead links and anchors, what it loads from elsewhere."""
    pages = sorted(site.rglob("*.html"))
    found = [problem for page in pages for problem in _of_page(page, site)]
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    if size > largest:
        found.append(f"the site has {size / 1e6:.1f} MB, allowed {largest / 1e6:g}; the largest: {_largest(site)}")
    return found


def _largest(site: Path) -> str:
    files = sorted((f for f in site.rglob("*") if f.is_file()), key=lambda f: -f.stat().st_size)
    return ", ".join(f"{f.relative_to(site).as_posix()} {f.stat().st_size / 1e6:.1f} MB" for f in files[:5])


def _of_page(page: Path, site: Path) -> Iterator[str]:
    name = page.relative_to(site).as_posix()
    if name == "404.html":  # a server shows it under any address
        return
    for address, loaded in _parsed(page).addresses:
        parts = urlsplit(address)
        if parts.scheme in OUTSIDE or address.startswith("//"):
            if loaded and parts.scheme not in ("data", "blob"):
                yield f"{name} loads {address}"
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if not target.is_file():
            yield f"{name}: there is no {address}"
        elif target.suffix == ".html" and unquote(parts.fragment) not in _parsed(target).anchors:
            yield f"{name}: there is no anchor {address}"


@cache
def _parsed(page: Path) -> Page:
    parsed = Page()
    parsed.feed(page.read_text(encoding="utf-8"))
    return parsed


class Page(HTMLParser):
    """Addresses in a page, with whether the browser loads them at once, and anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[tuple[str, bool]] = []
        self.anchors: set[str] = {"", "__skip"}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        relations = set(given.get("rel", "").split())
        loaded = tag in LOADED and (tag != "link" or bool(relations & RELATIONS_LOADED))
        self.addresses += [(given[name], loaded) for name in sorted(ADDRESSES & given.keys()) if given[name]]
