"""Hooks of mkdocs: pages and sections from elsewhere in the project, examples as pages, links to other files, formulas,
and what the theme brings that is not needed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "README.md": "index.md"}
LANGUAGES = {".py": "python", ".toml": "toml", ".urdf": "xml"}
EXAMPLES = {
    f: f"{f.relative_to(ROOT).as_posix()}.md"
    for f in sorted((ROOT / "examples").rglob("*"))
    if f.suffix in LANGUAGES and f.stat().st_size
}
FORMULA = re.compile(
    r"(?P<code>^```.*?^```$|`[^`\n]+`)|\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$\s](?:[^$]*[^$\s])?)\$",
    re.MULTILINE | re.DOTALL,
)
SECTION = "<!-- README: {} -->"  # in a page: stands for the text between two such lines in README.md
GALLERY = "<!-- gallery -->"  # in a page: what build_scripts/gallery.py writes there
NO_GALLERY = "*This copy of the documentation has no gallery: `python3 build_scripts/demo.py` makes one with it.*"
NOT_NEEDED = "assets/javascripts/lunr"  # for other languages
LONG = 40  # characters of a formula in the text that may be wider than a phone
UNSEARCHED = "---\nsearch: {exclude: true}\n---\n\n"  # begins a page that the search does not find
KEPT = "formula-{}-kept"  # stands for a formula while Markdown is at work, which would take underscores for emphasis


def on_files(files: Files, config: Any) -> Files:
    for page, source in ELSEWHERE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    for example, page in EXAMPLES.items():
        place, code = example.relative_to(ROOT).as_posix(), example.read_text(encoding="utf-8")
        text = f"{UNSEARCHED}# {example.name}\n\n`{place}`\n\n```{LANGUAGES[example.suffix]}\n{code}```\n"
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Replace links to files that are not pages by their names; set formulas aside for on_page_content."""
    page.formulas = []
    markdown = with_sections(markdown).replace(GALLERY, NO_GALLERY)

    def aside(found: re.Match[str]) -> str:
        if found["code"]:
            return found[0]
        kind = "block" if found["block"] else "inline"
        look = "long" if kind == "inline" and len(found[kind]) > LONG else kind
        page.formulas.append(f'<span class="formula-{look}">{convert(found[kind], display=kind)}</span>')
        return KEPT.format(len(page.formulas) - 1)

    markdown = FORMULA.sub(aside, markdown)
    source, docs = page.file.src_uri, Path(config["docs_dir"]).resolve()
    here = ROOT if source in ELSEWHERE else ROOT / "docs" / Path(source).parent

    def plain(link: re.Match[str]) -> str:
        text, target = link[1], link[2]
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not path:
            return link[0]
        inside, place = (docs / Path(source).parent / path).resolve(), (here / path).resolve()
        if docs in inside.parents and (inside.exists() or inside.name in ELSEWHERE):
            return link[0]
        if not place.exists():
            raise PluginError(f"{source}: there is no file {path}")
        shown = PAGES.get(place.name) if place.parent == ROOT else EXAMPLES.get(place)
        if ROOT / "docs" in place.parents:
            shown = place.relative_to(ROOT / "docs").as_posix()
        if shown:
            return f"[{text}]({'../' * source.count('/')}{shown}{'#' + anchor if anchor else ''})"
        return text if text.startswith("`") else f"{text} (`{place.relative_to(ROOT).as_posix()}`)"

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", plain, markdown)


def with_sections(markdown: str) -> str:
    """Return a page with the sections of README.md that it asks for."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    def section(found: re.Match[str]) -> str:
        try:
            _, text, _ = readme.split(found[0])
        except ValueError:
            raise PluginError(f"README.md does not have two lines {found[0]}") from None
        return text.strip()

    return re.sub(SECTION.format(r"\w+"), section, markdown)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    for number, formula in enumerate(page.formulas):
        html = html.replace(KEPT.format(number), formula)
    return html


def on_post_page(html: str, **_: Any) -> str:
    """Remove indentation outside code: a fifth of a page."""
    parts = re.split(r"(<pre.*?</pre>|<script.*?</script>)", html, flags=re.DOTALL)
    return "".join(part if k % 2 else re.sub(r"\s*\n\s*", "\n", part) for k, part in enumerate(parts))


def on_post_build(config: Any, **_: Any) -> None:
    """Remove what the theme brings for developers and other languages."""
    site = Path(config["site_dir"])
    shutil.rmtree(site / NOT_NEEDED)
    for place in site.rglob("*.map"):
        place.unlink()
