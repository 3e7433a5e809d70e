"""The modules of mechfmu inside a Python FMU: those that the mechanism and the simulation import, and no others.

Imports are read from the source text, including those inside functions. A name imported from a package may be a module,
so every imported name is looked up as a module first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ..model import Mechanism

PACKAGE = Path(__file__).parent.parent
SLAVE_IMPORTS = (("mechanisms",), ("simulation", "instance"))  # of fmu_src/python/mechanism_slave.py

Module = tuple[str, ...]  # ("model", "units") is mechfmu.model.units


def bundled_files(mechanism: Mechanism) -> dict[Path, bytes]:
    """Return path in the bundle -> content of all modules that a slave of the mechanism needs, packages included."""
    own = ("mechanisms", mechanism.key)
    pending: list[Module] = [(*own, "model"), *SLAVE_IMPORTS]
    found: dict[Module, Path] = {}
    while pending:
        module = pending.pop()
        file = None if module in found else _file(module, own, mechanism.folder)
        if file is None:  # found already, or not a module but a name in one
            continue
        found[module] = file
        pending += [module[:k] for k in range(1, len(module))]  # importing a.b.c runs the packages a and a.b first
        pending += imported_modules(file, module if file.name == "__init__.py" else module[:-1])
    contents = {_bundle_path(module, file): file.read_bytes() for module, file in found.items()}
    contents[Path("__init__.py")] = b""  # without the interface of the package: a slave imports its modules
    return dict(sorted(contents.items()))


def imported_modules(file: Path, package: Module) -> Iterator[Module]:
    """Yield the modules of mechfmu that a file of `package` imports, and every imported name as if it were one."""
    for node in executed(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) + 1 - node.level] + tuple(node.module.split(".") if node.module else ())
            yield base
            yield from ((*base, name.name) for name in node.names)


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes below `node`, except those under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            yield from (n for branch in child.orelse for n in (branch, *executed(branch)))
        else:
            yield child
            yield from executed(child)


def _file(module: Module, own: Module, folder: Path) -> Path | None:
    """Return the file of a module, None if there is none; the mechanism's own folder may be outside the package."""
    if not module:
        return None
    path = folder.joinpath(*module[2:]) if module[:2] == own else PACKAGE.joinpath(*module)
    candidates = (path / "__init__.py", path.with_name(f"{path.name}.py"))
    return next((file for file in candidates if file.is_file()), None)


def _bundle_path(module: Module, file: Path) -> Path:
    return Path(*module, "__init__.py") if file.name == "__init__.py" else Path(*module).with_suffix(".py")
