"""Imports point one way: core <- mechanisms <- engines <- packaging <- check, run <- cli."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from helpers.paths import PACKAGE

LAYERS = {"core": 0, "mechanisms": 1, "engines": 2, "packaging": 3, "check": 4, "run": 4, "cli": 5, "__main__": 6}

# the two conveniences of a mechanism at the keyboard, which reach up when they are called
EXCEPTIONS = {("model/mechanism.py", "simulate", "run"), ("model/mechanism.py", "build", "packaging")}


def imports(text: str, package: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(function around it, part of mechfmu it imports) for every import of a module that lies in mechfmu.`package`."""

    def visit(node: ast.AST, function: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            inside = child.name if isinstance(child, ast.FunctionDef) else function
            if isinstance(child, ast.ImportFrom):
                base = ("mechfmu", *package)[: 1 + len(package) + 1 - child.level] if child.level else ()
                target = (*base, *(child.module.split(".") if child.module else ()))
                for name in child.names:
                    yield inside, part_of((*target, name.name))
            elif isinstance(child, ast.Import):
                for name in child.names:
                    yield inside, part_of(tuple(name.name.split(".")))
            else:
                yield from visit(child, inside)

    yield from ((f, part) for f, part in visit(ast.parse(text), "") if part in LAYERS)


def part_of(module: tuple[str, ...]) -> str:
    return module[1] if module[0] == "mechfmu" and len(module) > 1 else ""


def violations(text: str, file: str) -> set[tuple[str, str, str]]:
    """(file, function, part) for every import that points up or sideways."""
    parts = Path(file).with_suffix("").parts
    own = LAYERS[parts[0]]
    found = imports(text, parts[:-1])
    return {(file, function, part) for function, part in found if part != parts[0] and LAYERS[part] >= own}


def test_no_import_points_up() -> None:
    files = [f for f in PACKAGE.rglob("*.py") if f != PACKAGE / "__init__.py"]
    assert len(files) > 10
    found = {v for f in files for v in violations(f.read_text(), f.relative_to(PACKAGE).as_posix())}
    assert found == EXCEPTIONS


def test_the_package_itself_imports_only_mechanisms() -> None:
    """It is loaded first and bundled into every Python FMU."""
    found = {part for _, part in imports((PACKAGE / "__init__.py").read_text(), ())}
    assert found == {"mechanisms"}


def test_this_check_finds_what_it_looks_for() -> None:
    text = """
import mechfmu.view.plot
from ..cli import main
from .. import packaging
from ..model import Mechanism
if TYPE_CHECKING:
    from ..run.result import Result
def late():
    from ..check import report
"""
    wanted = {("", "run"), ("", "cli"), ("", "packaging"), ("late", "check")}
    assert {(function, part) for _, function, part in violations(text, "engines/x.py")} == wanted
