"""The documentation with a gallery of everything the demonstration made, as one static site that works from the disk."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import yaml

from mechfmu.mechanisms import Mechanism, make, names

ROOT = Path(__file__).resolve().parent.parent
KINDS = {".fmu": "native FMU", ".python.fmu": "Python FMU"}
PAGES = {"computed_torque": "trees", "tree": "trees", "cart_controller": "wheeled_cart", "scenario": "wheeled_cart", "pid_controller": "cosim"}


def write_site(out: Path) -> Path:
    """Build the site into out/site from docs/ and what lies in `out`; its first page."""
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        shutil.copytree(ROOT / "docs", docs, ignore=shutil.ignore_patterns("__pycache__"))
        (docs / "gallery").mkdir()
        sections = [section(make(key), out, docs / "gallery") for key in names()]
        top = "# Gallery\n\nWhat `python3 build_scripts/demo.py` built, checked and simulated.\n\n"
        (docs / "gallery.md").write_text(top + "\n".join(sections), encoding="utf-8")
        settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
        settings |= {"docs_dir": str(docs), "site_dir": str((out / "site").resolve()), "hooks": [str(ROOT / "docs" / "hooks.py")]}
        settings["nav"].insert(1, {"Gallery": "gallery.md"})
        file = Path(folder) / "mkdocs.yml"
        file.write_text(yaml.safe_dump(settings), encoding="utf-8")
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-f", str(file)], check=True, cwd=ROOT)
    return out / "site" / "index.html"


def section(mechanism: Mechanism, out: Path, assets: Path) -> str:
    """One mechanism: pictures, FMUs with their check reports, and its page of variables and equations."""
    name, lines = mechanism.name, [f"## {mechanism.name}", "", f"{mechanism.title}."]
    theory = PAGES.get(mechanism.key, mechanism.key)
    for suffix, alternative in ((".gif", "moving"), (".png", "signals over time")):
        if (picture := out / f"{name}{suffix}").exists():
            shutil.copy(picture, assets)
            lines += ["", f"![{name}, {alternative}](gallery/{picture.name})"]
    lines.append("")
    if (film := out / f"{name}.html").exists():
        shutil.copy(film, assets)
        lines.append(f'- <a href="gallery/{film.name}">look at it from all sides</a>')
    for suffix, kind in KINDS.items():
        fmu = out / f"{name}{suffix}"
        report = fmu.with_suffix(".check.html")
        shutil.copy(fmu, assets)
        shutil.copy(report, assets)
        found = json.loads(report.with_suffix(".json").read_text())
        hold = f"{found['passed']} of {found['applied']} rules hold"
        lines.append(f'- <a href="gallery/{fmu.name}">{kind}</a>, {fmu.stat().st_size / 1000:.0f} kB: <a href="gallery/{report.name}">{hold}</a>')
    with zipfile.ZipFile(out / f"{name}.fmu") as archive:
        (assets / f"{name}.variables.html").write_bytes(archive.read("documentation/index.html"))
    lines.append(f'- <a href="gallery/{name}.variables.html">equations and variables</a>; the theory: [{theory}]({theory}.md)')
    return "\n".join(lines) + "\n"
