"""The static site: documentation, executed notebooks, and a gallery of what the demonstration made."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import yaml
from nbclient.exceptions import CellExecutionError
from notebooks import NOTEBOOKS, executed, page

from mechfmu.mechanisms import make, names
from mechfmu.model import Mechanism

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "docs" / "benchmarks.md"
SUFFIXES = (".fmu", ".python.fmu")
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

TOP = """# Gallery

What `python3 build_scripts/demo.py` built, checked and simulated on this machine. The drawings can be played, turned
and zoomed; every FMU can be downloaded. Controllers are shown in a system that they are part of (see
`mechfmu cosim new --ready ?`). [Benchmarks](benchmarks.md) describes how the figures below the tables were measured.

```text
{legend}
```
"""


def write_site(out: Path, facts: Facts, legend: str) -> tuple[Path, list[str]]:
    """Build the site in out/site from docs/, the notebooks and `out`; return its first page and notebooks' errors."""
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        shutil.copytree(ROOT / "docs", docs, ignore=shutil.ignore_patterns("__pycache__"))
        (docs / "gallery").mkdir()
        (docs / "gallery.md").write_text(gallery(out, docs / "gallery", facts, legend), encoding="utf-8")
        shown = []
        for notebook in NOTEBOOKS:
            try:
                shown.append(notebook_page(notebook, docs))
            except CellExecutionError as error:
                problems.append(f"{notebook.name}: {error.ename}: {error.evalue}")
        settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
        settings |= {
            "docs_dir": str(docs),
            "site_dir": str((out / "site").resolve()),
            "hooks": [str(ROOT / "docs" / "hooks.py")],
        }
        settings["plugins"] = []  # browsers do not let a page on the disk search
        settings["nav"][1:1] = [{"Gallery": "gallery.md"}, {"Notebooks": ["notebooks.md", *shown]}]
        for part in settings["nav"][3:]:
            for pages in part.values():
                pages[:] = [name for name in pages if name != "notebooks.md"]
        file = Path(folder) / "mkdocs.yml"
        file.write_text(yaml.safe_dump(settings), encoding="utf-8")
        subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-f", str(file)], check=True, cwd=ROOT
        )
    return out / "site" / "index.html", problems


def notebook_page(notebook: Path, docs: Path) -> str:
    """Run a notebook and add it to the pages, where the page about notebooks then links to it; its place there."""
    place, about = docs / "notebooks", docs / "notebooks.md"
    found = executed(notebook, docs)
    (place / f"{notebook.stem}.md").write_text(page(found, notebook.stem, place), encoding="utf-8")
    text = about.read_text(encoding="utf-8")
    about.write_text(
        text.replace(f"../examples/notebooks/{notebook.name}", f"notebooks/{notebook.stem}.md"), encoding="utf-8"
    )
    return f"notebooks/{notebook.stem}.md"


def gallery(out: Path, assets: Path, facts: Facts, legend: str) -> str:
    """Mechanisms first, then what controls and surrounds them."""
    others = [key for key in names() if key not in (*FIRST, *HELPERS)]
    chapters = {"Mechanisms": (*FIRST, *others), "Controllers and surroundings": tuple(HELPERS)}
    tables = benchmarks()
    parts = [TOP.format(legend=legend)]
    for title, keys in chapters.items():
        parts += [f"## {title}", *(section(make(key), out, assets, facts, tables.get(key, "")) for key in keys)]
    return "\n\n".join(parts) + "\n"


def benchmarks() -> dict[str, str]:
    """The sections of the page about benchmarks whose titles are keys of mechanisms."""
    parts = re.split(r"^## (\w+)\n", BENCHMARKS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {key: text.strip() for key, text in zip(parts[1::2], parts[2::2], strict=True)}


def section(mechanism: Mechanism, out: Path, assets: Path, facts: Facts, benchmark: str) -> str:
    """One mechanism: its drawing or its signals, FMUs with their check reports, variables, theory, benchmarks."""
    name, key = mechanism.name, mechanism.key
    parts = [f"### {name}", f"{mechanism.title} (`mechfmu build {key}`)."]
    fmus = [f"{name}{suffix}" for suffix in SUFFIXES if f"{name}{suffix}" in facts]
    if not fmus:
        return "\n\n".join([*parts, "Not built: see the output of the demonstration."])
    for file in (f"{name}.html", f"{name}.png", *fmus, *(f"{fmu}.check.html".replace(".fmu", "") for fmu in fmus)):
        if (out / file).exists():
            shutil.copy(out / file, assets)
    if (film := assets / f"{name}.html").exists():
        parts.append(
            f'<iframe class="player" src="gallery/{film.name}" title="{name}, moving" loading="lazy"></iframe>'
        )
    elif (assets / f"{name}.png").exists():
        parts.append(f"![{name}: signals over time](gallery/{name}.png)")
    with zipfile.ZipFile(out / fmus[0]) as archive:
        (assets / f"{name}.variables.html").write_bytes(archive.read("documentation/index.html"))
    links = [f'<a href="gallery/{name}.variables.html">equations and variables</a>']
    if film.exists():
        links = [
            f'<a href="gallery/{film.name}">drawing on a page of its own</a>',
            f'<a href="gallery/{name}.png">signals over time</a>',
            *links,
        ]
    if (theory := ROOT / "docs" / f"{PAGES.get(key, key)}.md").exists():
        links.append(f"theory: [{first_title(theory)}]({theory.name})")
    return "\n\n".join(
        [*parts, " · ".join(links), fmu_table(fmus, facts), *([f"**Benchmarks.** {benchmark}"] if benchmark else [])]
    )


def fmu_table(fmus: list[str], facts: Facts) -> str:
    titles = list(facts[fmus[0]])
    rows = [["FMU", *titles], ["---"] * (1 + len(titles))]
    for fmu in fmus:
        found = dict(facts[fmu])
        found["checked"] = f'<a href="gallery/{fmu.removesuffix(".fmu")}.check.html">{found["checked"]}</a>'
        rows.append([f'<a href="gallery/{fmu}">{fmu}</a>', *found.values()])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def first_title(page: Path) -> str:
    return page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
