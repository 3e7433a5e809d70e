"""What the documentation tool does beside its usual work: links to files of the project that are no pages, pages that stand elsewhere in it, formulas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "README.md": "index.md"}
FORMULA = re.compile(r"(?P<code>^```.*?^```$|`[^`\n]+`)|\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$\s](?:[^$]*[^$\s])?)\$", re.MULTILINE | re.DOTALL)
KEPT = "formula-{}-kept"  # stands for a formula while Markdown is at work, which would take underscores for emphasis


def on_files(files: Files, config: Any) -> Files:
    for page, source in ELSEWHERE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """A link to a source file becomes its name, after a look whether the file is there. Formulas are put aside."""
    page.formulas = []

    def aside(found: re.Match[str]) -> str:
        if found["code"]:
            return found[0]
        page.formulas.append(convert(found["block"] or found["inline"], display="block" if found["block"] else "inline"))
        return KEPT.format(len(page.formulas) - 1)

    markdown = FORMULA.sub(aside, markdown)
    source = page.file.src_uri
    here = ROOT if source in ELSEWHERE else ROOT / "docs" / Path(source).parent

    def plain(link: re.Match[str]) -> str:
        text, target = link[1], link[2]
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not path or (Path(config["docs_dir"], source).parent / path).exists():
            return link[0]
        place = (here / path).resolve()
        if place.parent == ROOT / "docs" and place.name in ELSEWHERE:
            return link[0]
        if not place.exists():
            raise PluginError(f"{source}: there is no file {path}")
        if place.parent == ROOT and place.name in PAGES:
            return f"[{text}]({'../' * source.count('/')}{PAGES[place.name]}{'#' + anchor if anchor else ''})"
        if ROOT / "docs" in place.parents:
            return f"[{text}]({'../' * source.count('/')}{place.relative_to(ROOT / 'docs').as_posix()}{'#' + anchor if anchor else ''})"
        return text if text.startswith("`") else f"{text} (`{place.relative_to(ROOT).as_posix()}`)"

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", plain, markdown)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    for number, formula in enumerate(page.formulas):
        html = html.replace(KEPT.format(number), formula)
    return html
