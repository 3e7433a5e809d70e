"""Imports point one way, those inside functions too; the checker stands alone, but for the output of text."""

from __future__ import annotations

import graphlib
import sys
from functools import cache

import pytest

from helpers.paths import BUILD_SCRIPTS, DOCS

sys.path.append(str(BUILD_SCRIPTS))
from import_graph import by_part, graph, imports, modules, svg


@cache
def texts() -> dict[tuple[str, ...], str]:
    return modules()


@cache
def imported() -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    return graph(texts())


ORDER = (
    *("console", "model", "check", "atomic_file", "multibody", "control", "mechanisms", "codegen", "simulation", "fmu"),
    *("view", "sweep", "cosim", "live", "analysis", "facade", "cli", "__main__"),
)


def backward(parts: dict[str, set[str]]) -> set[tuple[str, str]]:
    """(importer, imported) where the imported part stands above."""
    return {(a, b) for a, others in parts.items() for b in others if ORDER.index(b) >= ORDER.index(a)}


def test_no_import_points_up() -> None:
    parts = by_part(imported())
    assert set(parts) == set(ORDER)
    assert backward(parts) == set()


def test_no_modules_import_each_other() -> None:
    edges = {m: {other for other in others if other} for m, others in imported().items() if m}
    assert len(list(graphlib.TopologicalSorter(edges).static_order())) == len(edges)


def test_the_checker_imports_nothing_of_the_rest_but_the_output_of_text() -> None:
    parts = by_part(imported())
    assert parts["check"] == {"console"} and parts["console"] == set()


PLANTED = (
    "from ..fmu.build import build",
    "from .. import cli",
    "import mechfmu.view.plot",
    "from mechfmu.cosim import system",
    "def later():\n    from ..sweep.runner import Runner",
    "def later():\n    if True:\n        import mechfmu.fmu.build",
)


def planted(text: str) -> dict[str, set[str]]:
    """The imports between parts when a module of the simulation also has this text."""
    module = ("simulation", "result")
    changed = texts() | {module: f"{texts()[module]}\n{text}\n"}
    return by_part(imported() | {module: imports(module, changed, is_package=False)})


@pytest.mark.parametrize("text", PLANTED)
def test_a_planted_import_is_found(text: str) -> None:
    assert backward(planted(text))


def test_what_only_type_checkers_read_does_not_count() -> None:
    assert not backward(planted("if TYPE_CHECKING:\n    from ..cli import main"))


def test_the_picture_in_the_documentation_is_up_to_date() -> None:
    drawn = (DOCS / "imports.svg").read_text(encoding="utf-8")
    assert drawn == svg(by_part(imported())), "draw it again: python build_scripts/import_graph.py docs/imports.svg"
