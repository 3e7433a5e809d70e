"""Who imports whom in the package, lazy imports included:   python3 build_scripts/import_graph.py

Prints the parts of the package (folders, and files beside them) from the bottom to the top, each with the parts that it
imports. What stands under `if TYPE_CHECKING` is not imported and does not count.
"""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator, Mapping
from pathlib import Path

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


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            yield from (n for branch in child.orelse for n in (branch, *executed(branch)))
        else:
            yield child
            yield from executed(child)


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


def main() -> None:
    parts = by_part(graph(modules()))
    width = max(map(len, parts))
    for part in graphlib.TopologicalSorter(parts).static_order():
        print(f"{part:{width}}  {'  '.join(sorted(parts[part])) or '-'}")


if __name__ == "__main__":
    main()
