"""The import graph of the package, lazy imports included:   python build_scripts/import_graph.py [FILE.svg]

Prints the parts of the package (folders, and files beside them) from the bottom to the top, each with the parts that it
imports, and draws them to a file if one is named: docs/imports.svg is the picture in docs/architecture.md. Imports
under `if TYPE_CHECKING` are never executed and do not count.
"""

from __future__ import annotations

import ast
import graphlib
import sys
from collections.abc import Mapping
from pathlib import Path

from mechfmu.fmu.bundle import executed

PACKAGE = Path(__file__).resolve().parent.parent / "components" / "mechfmu"

Module = tuple[str, ...]  # ("model", "units") is mechfmu.model.units; () is the package itself


def modules(package: Path = PACKAGE) -> dict[Module, str]:
    """Module -> its text, of all modules of the package."""
    return {
        module_of(file.relative_to(package)): file.read_text(encoding="utf-8") for file in sorted(package.rglob("*.py"))
    }


def module_of(file: Path) -> Module:
    parts = file.with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imports(module: Module, texts: Mapping[Module, str], is_package: bool) -> set[Module]:
    """The modules that a module imports, at once or in its functions."""
    found: set[Module] = set()
    package = module if is_package else module[:-1]
    for node in executed(ast.parse(texts[module])):
        if isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level] if node.level else ()
            names = tuple(node.module.split(".")) if node.module else ()
            if not node.level:
                if names[0] != "mechfmu":
                    continue
                names = names[1:]
            base = (*start, *names)
            found |= {deepest((*base, name.name), texts) for name in node.names}
        elif isinstance(node, ast.Import):
            dotted = [tuple(name.name.split(".")) for name in node.names]
            found |= {deepest(name[1:], texts) for name in dotted if name[0] == "mechfmu"}
    return found - {module}


def deepest(name: Module, texts: Mapping[Module, str]) -> Module:
    """The module that a dotted name stands in, or is."""
    while name not in texts:
        name = name[:-1]
    return name


def graph(texts: Mapping[Module, str]) -> dict[Module, set[Module]]:
    """Module -> the modules it imports."""
    packages = {m[:k] for m in texts for k in range(len(m))}
    return {m: imports(m, texts, m in packages) for m in texts}


def by_part(edges: Mapping[Module, set[Module]]) -> dict[str, set[str]]:
    """The same between the parts of the package; the package itself only says its version and opens the facade."""
    parts: dict[str, set[str]] = {m[0]: set() for m in edges if m}
    for module, imported in edges.items():
        if module:
            parts[module[0]] |= {other[0] for other in imported if other and other[0] != module[0]}
    return parts


# --- the picture ------------------------------------------------------------------------------------------------------

BOX, ROW, COLUMN = (112, 30), 66, 150  # width and height of a box, distances of rows and of columns, in pixels
STYLE = """  <style>
    rect { fill: #eef4fa; stroke: #1769aa; stroke-width: 1.2 }
    text { font: 14px sans-serif; text-anchor: middle; fill: #1f2933 }
    path { fill: none; stroke: #52606d; stroke-width: 1.2; marker-end: url(#head) }
  </style>
  <defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
    <polygon points="0,1 8,4 0,7" fill="#52606d"/></marker></defs>"""


def without_implied(parts: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The imports that do not follow from others: a -> c is left out where a -> b -> c."""
    below: dict[str, set[str]] = {}  # all parts that a part reaches
    for part in graphlib.TopologicalSorter(parts).static_order():
        below[part] = parts[part].union(*(below[other] for other in parts[part]))
    return {a: {c for c in parts[a] if not any(c in below[b] for b in parts[a])} for a in parts}


def places(parts: Mapping[str, set[str]]) -> dict[str, tuple[float, int]]:
    """(column, row) of every part; the row is one above the highest part that it imports, 0 at the bottom.

    A part that imports nothing is drawn one below the lowest part that imports it.
    """
    rows: dict[str, int] = {}
    for part in graphlib.TopologicalSorter(parts).static_order():
        rows[part] = max((rows[other] + 1 for other in parts[part]), default=0)
    for part in (part for part in parts if not parts[part]):
        rows[part] = min((rows[other] for other in parts if part in parts[other]), default=1) - 1
    columns: dict[str, float] = {}
    for row in range(max(rows.values()) + 1):
        here = sorted(part for part in parts if rows[part] == row)
        here.sort(key=lambda part: _mean([columns[other] for other in parts[part]]))
        columns |= {part: k - (len(here) - 1) / 2 for k, part in enumerate(here)}
    return {part: (columns[part], rows[part]) for part in parts}


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


def svg(parts: Mapping[str, set[str]]) -> str:
    """The graph as a picture: arrows point from the importing part down to the imported one, implied ones left out."""
    place = places(parts)
    width = round(COLUMN * (1 + 2 * max(abs(column) for column, _ in place.values())))
    height = ROW * (1 + max(row for _, row in place.values()))

    def middle(part: str) -> tuple[float, float]:
        column, row = place[part]
        return width / 2 + COLUMN * column, height - ROW * (row + 0.5)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">', STYLE]
    for part, imported in sorted(without_implied(parts).items()):
        for other in sorted(imported):
            (x, y), (x_end, y_end) = middle(part), middle(other)
            y, y_end = y + BOX[1] / 2, y_end - BOX[1] / 2
            bend = (y_end - y) / 2
            curve = f"M{x:g},{y:g} C{x:g},{y + bend:g} {x_end:g},{y_end - bend:g} {x_end:g},{y_end:g}"
            lines.append(f'  <path d="{curve}"/>')
    for part in sorted(parts):
        x, y = middle(part)
        left, top = x - BOX[0] / 2, y - BOX[1] / 2
        lines.append(f'  <rect x="{left:g}" y="{top:g}" width="{BOX[0]}" height="{BOX[1]}" rx="5"/>')
        lines.append(f'  <text x="{x:g}" y="{y + 5:g}">{part}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    parts = by_part(graph(modules()))
    width = max(map(len, parts))
    for part in graphlib.TopologicalSorter(parts).static_order():
        print(f"{part:{width}}  {'  '.join(sorted(parts[part])) or '-'}")
    for file in sys.argv[1:]:
        Path(file).write_text(svg(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
