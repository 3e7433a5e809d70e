"""What a Python FMU carries of mechfmu: the modules that the mechanism and the engine import, and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ..model import Mechanism

PACKAGE = Path(__file__).parent.parent
RUN = ("mechanisms", "simulation.instance")  # what the slave calls, see fmu_src/python/mechanism_slave.py

Module = tuple[str, ...]  # ("model", "units") is mechfmu.model.units


def bundled_files(mechanism: Mechanism) -> dict[Path, bytes]:
    """Path in the bundle -> content, of all modules that a slave of the mechanism needs, and of the packages around them."""
    own = ("mechanisms", mechanism.key)
    waiting: list[Module] = [(*own, "model"), *(tuple(name.split(".")) for name in RUN)]
    found: dict[Module, Path] = {}
    while waiting:
        module = waiting.pop()
        if module in found:
            continue
        file = _file(module, own, mechanism.folder)
        if file is None:  # a name of the module before the last dot
            continue
        found[module] = file
        waiting += [module[:k] for k in range(1, len(module))]  # importing a.b.c runs the packages a and a.b first
        waiting += imports(file.read_text(encoding="utf-8"), module if file.name == "__init__.py" else module[:-1])
    paths = {_place(module, file): file.read_bytes() for module, file in found.items()}
    return dict(sorted({Path("__init__.py"): b"", **paths}.items()))  # the package itself only leads to the rest


def imports(text: str, package: Module) -> Iterator[Module]:
    """The modules of mechfmu that a module of `package` imports, at once or in its functions; names in them count as modules, too."""
    for node in _executed(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) + 1 - node.level] + tuple(node.module.split(".") if node.module else ())
            yield base
            yield from ((*base, name.name) for name in node.names)


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes, but not what only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            yield from (n for branch in child.orelse for n in (branch, *_executed(branch)))
        else:
            yield child
            yield from _executed(child)


def _file(module: Module, own: Module, folder: Path) -> Path | None:
    """The file of a module; the mechanism's own folder may lie outside the package."""
    place = folder.joinpath(*module[2:]) if module[:2] == own else PACKAGE.joinpath(*module)
    if place.is_dir() and (place / "__init__.py").exists() and module:
        return place / "__init__.py"
    file = place.with_name(f"{place.name}.py")
    return file if module and file.exists() else None


def _place(module: Module, file: Path) -> Path:
    return Path(*module, "__init__.py") if file.name == "__init__.py" else Path(*module).with_suffix(".py")
