"""The static site: documentation, executed notebooks, and a gallery of what the demonstration made."""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path

from live_gallery import Exhibit, exhibits, write_exhibit
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from nbclient.exceptions import CellExecutionError
from notebooks import NOTEBOOKS, executed, page
from site_files import problems_of, share_scripts, shrink_films, shrink_plot

from mechfmu.mechanisms import make, names
from mechfmu.model import Mechanism

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "docs" / "benchmarks.md"
NATIVE, PYTHON = ".fmu", ".python.fmu"
FIRST = ("link_chain", "spherical_arm", "tree", "exoskeleton", "wheeled_cart")  # then other mechanisms
HELPERS = {
    "cart_controller": "wheeled_cart",
    "scenario": "wheeled_cart",
    "computed_torque": "trees",
    "pid_controller": "cosim",
    "walking_controller": "exoskeleton",
}  # last, with their pages
PAGES = {"tree": "trees", **HELPERS}

Facts = Mapping[str, Mapping[str, str]]  # by FMU: what was found out about it, by title

GALLERY_MARK = "<!-- gallery -->"  # in docs/gallery.md, for what was made here
FRONT = "link_chain"  # the live page on the first page, instead of this picture:
FRONT_PICTURE = re.compile(r"!\[[^\]]*\]\(link_chain\.gif\)")
TABLES = """## FMUs

What `python3 build_scripts/demo.py` built, checked and simulated on the machine that made these pages. Native FMUs can
be downloaded; `mechfmu build NAME --kind python` makes the others. [Benchmarks](benchmarks.md) describes how the
figures below the tables were measured.

```text
{legend}
```
"""
MAX_SITE = 15_000_000  # bytes

Facts = Mapping[str, Mapping[str, str]]  # by FMU: what was found out about it, by title
Progress = Callable[[str], None]


def write_site(out: Path, facts: Facts, legend: str, progress: Progress = lambda text: None) -> tuple[Path, list[str]]:
    """Build the site in out/site from docs/, the notebooks and `out`; return its first page and what is wrong."""
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        shutil.copytree(ROOT / "docs", docs, ignore=shutil.ignore_patterns("__pycache__"))
        assets = docs / "gallery"
        assets.mkdir()
        shown = live_gallery(out / "live", assets, progress)
        fill(docs / "gallery.md", GALLERY_MARK, "\n\n".join([shown, tables(out, assets, facts, legend)]))
        fill(docs / "index.md", FRONT_PICTURE, front_page(assets))
        pages = []
        for notebook in NOTEBOOKS:
            progress(f"running the notebook {notebook.stem}")
            try:
                pages.append(notebook_page(notebook, docs))
            except CellExecutionError as error:
                problems.append(f"{notebook.name}: {error.ename}: {error.evalue}")
        share_scripts(docs, docs / "scripts")
        shrink_films(docs)
        progress("writing the site")
        build_pages(docs, out / "site", pages)
    return out / "site" / "index.html", problems + problems_of(out / "site", MAX_SITE)


def fill(page: Path, mark: str | re.Pattern[str], text: str) -> None:
    """Put a text in the place of the one mark of a page."""
    pattern = mark if isinstance(mark, re.Pattern) else re.compile(re.escape(mark))
    filled, count = pattern.subn(lambda found: text, page.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(f"{page.name} has {pattern.pattern} {count} times, not once")
    page.write_text(filled, encoding="utf-8")


def build_pages(docs: Path, site: Path, notebooks: list[str]) -> None:
    """Run mkdocs; any warning is an error."""
    settings = load_config(str(ROOT / "mkdocs.yml"), docs_dir=str(docs), site_dir=str(site.resolve()), strict=True)
    for part in settings.nav:
        for chapter in part.get("Tutorials", ()):
            if isinstance(chapter, dict) and "Notebooks" in chapter:
                chapter["Notebooks"] += notebooks
    logging.getLogger("mkdocs").setLevel(logging.WARNING)
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # news about the theme
    mkdocs_build(settings)


def notebook_page(notebook: Path, docs: Path) -> str:
    """Run a notebook and add it to the pages, where the page about notebooks then links to it; its place there."""
    place, about = docs / "notebooks", docs / "notebooks.md"
    found = executed(notebook, docs)
    (place / f"{notebook.stem}.md").write_text(page(found, notebook.stem, place), encoding="utf-8")
    for picture in place.glob(f"{notebook.stem}_*.png"):
        shrink_plot(picture, picture)
    for file in (place / "out").rglob("*"):
        if file.is_file() and file.suffix != ".html":
            file.unlink()  # what the cells wrote besides pages: FMUs, results
    text = about.read_text(encoding="utf-8")
    about.write_text(
        text.replace(f"../examples/notebooks/{notebook.name}", f"notebooks/{notebook.stem}.md"), encoding="utf-8"
    )
    return f"notebooks/{notebook.stem}.md"


def live_gallery(made: Path, assets: Path, progress: Progress) -> str:
    """Make the live pages in the folder `made`, copy them to the assets, and return a picture of each to press."""
    made.mkdir(parents=True, exist_ok=True)
    groups: dict[str, list[str]] = {}
    for exhibit in exhibits():
        write_exhibit(exhibit, made, progress)
        page, picture = made / f"{exhibit.name}.html", made / f"{exhibit.name}.jpg"
        for file in (page, picture):
            if file.exists():
                shutil.copy(file, assets)
        if not picture.exists():
            shutil.copy(make(exhibit.mechanism).folder / "icon.png", assets / f"{exhibit.name}.icon.png")
        groups.setdefault(exhibit.group, []).append(poster(exhibit, picture.exists()))
    if "Robots" not in groups:
        groups["Robots"] = ["`python3 build_scripts/demo.py --robots` shows robots as well."]
    parts = [
        f'## {title}\n\n<div class="gallery" markdown>\n\n{"".join(shown)}\n</div>' for title, shown in groups.items()
    ]
    return "\n\n".join(parts)


def poster(exhibit: Exhibit, has_picture: bool) -> str:
    """A figure with a picture that becomes the live page when it is pressed (docs/live.js)."""
    address, title = f"gallery/{exhibit.name}.html", escape(exhibit.title)
    shown, kind = (f"{exhibit.name}.jpg", "") if has_picture else (f"{exhibit.name}.icon.png", ' class="icon"')
    image = f'<img src="gallery/{shown}"{kind} alt="{title}" width="640" height="360" loading="lazy">'
    return (
        f'<figure markdown>\n<a class="live-poster" href="{address}" title="{title}">{image}</a>\n'
        f'<figcaption markdown="span">**{title}.** {exhibit.text}</figcaption>\n</figure>\n\n'
    )


def front_page(assets: Path) -> str:
    """The live page at the top of the first page; its picture until it is there."""
    address, title = f"gallery/{FRONT}.html", "a chain of ten links: pull at it"
    if not (assets / f"{FRONT}.html").exists():
        raise ValueError(f"there is no live page {FRONT} for the first page")
    return f'<div data-live="{address}" data-title="{title}"><a href="{address}">{title}</a></div>'


def tables(out: Path, assets: Path, facts: Facts, legend: str) -> str:
    """The FMUs: of mechanisms first, then of what controls and surrounds them."""
    others = [key for key in names() if key not in (*FIRST, *HELPERS)]
    measured = benchmarks()
    shown = (*FIRST, *others, *HELPERS)
    parts = [section(make(key), out, assets, facts, measured.get(key, "")) for key in shown]
    parts.insert(0, TABLES.format(legend=legend))
    return "\n\n".join(parts) + "\n"


def benchmarks() -> dict[str, str]:
    """The sections of the page about benchmarks whose titles are keys of mechanisms."""
    parts = re.split(r"^## (\w+)\n", BENCHMARKS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {key: text.strip() for key, text in zip(parts[1::2], parts[2::2], strict=True)}


def section(mechanism: Mechanism, out: Path, assets: Path, facts: Facts, benchmark: str) -> str:
    """One mechanism: FMUs with their check reports, signals, variables, theory, benchmarks."""
    name, key = mechanism.name, mechanism.key
    parts = [f"### {name}", f"{mechanism.title} (`mechfmu build {key}`)."]
    fmus = [f"{name}{suffix}" for suffix in (NATIVE, PYTHON) if f"{name}{suffix}" in facts]
    if not fmus:
        return "\n\n".join([*parts, "Not built: see the output of the demonstration."])
    if (out / f"{name}.png").exists():
        shrink_plot(out / f"{name}.png", assets / f"{name}.png")
    files = [fmu for fmu in fmus if not fmu.endswith(PYTHON)]
    for file in (*files, *(f"{fmu}.check.html".replace(".fmu", "") for fmu in fmus)):
        if (out / file).exists():
            shutil.copy(out / file, assets)
    with zipfile.ZipFile(out / fmus[0]) as archive:
        (assets / f"{name}.variables.html").write_bytes(archive.read("documentation/index.html"))
    links = [f'<a href="gallery/{name}.variables.html">equations and variables</a>']
    if (assets / f"{name}.png").exists():
        links.append(f'<a href="gallery/{name}.png">signals over time</a>')
    if (theory := ROOT / "docs" / f"{PAGES.get(key, key)}.md").exists():
        links.append(f"theory: [{first_title(theory)}]({theory.name})")
    return "\n\n".join(
        [*parts, " · ".join(links), fmu_table(fmus, facts), *([f"**Benchmarks.** {benchmark}"] if benchmark else [])]
    )


def fmu_table(fmus: list[str], facts: Facts) -> str:
    """What was found out about the FMUs; the native ones can be downloaded."""
    titles = list(facts[fmus[0]])
    rows = [["FMU", *titles], ["---"] * (1 + len(titles))]
    for fmu in fmus:
        found = dict(facts[fmu])
        found["checked"] = f'<a href="gallery/{fmu.removesuffix(".fmu")}.check.html">{found["checked"]}</a>'
        shown = f"`{fmu}`" if fmu.endswith(PYTHON) else f'<a href="gallery/{fmu}" download>{fmu}</a>'
        rows.append([shown, *found.values()])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def first_title(page: Path) -> str:
    return page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
