"""Rules of CONTRIBUTING.md that are cheap to check."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from helpers.lanes import BOTH_KINDS, COMPLETE_LANE_ONLY, FULL_LANE_ONLY, LONGEST_FILES, REPEATED, SAMPLED
from helpers.paths import BUILD_SCRIPTS, DOCS, PACKAGE, ROOT, TESTS
from mechfmu.mechanisms import names

sys.path.append(str(BUILD_SCRIPTS))
import release_notes

TEST_FILES = sorted(TESTS.rglob("test_*.py"))
PAGES = [*sorted(DOCS.rglob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
COLUMNS = 120
LINES = 65  # of a function: "about 60"

KEYS = set(names())
CLASSES = {"".join(word.capitalize() for word in key.split("_")): key for key in KEYS}
MAY_NAME = {  # modules outside mechanisms/ that may name a mechanism, and which
    "__init__.py": KEYS,
    "cosim/builtin.py": KEYS,
    "analysis/lqr.py": {"pid_controller"},  # a regulator as an FMU
    "cli/": {"tree", "computed_torque"},  # a robot file, and --controller
}


def mechanisms_named(text: str) -> Iterator[str]:
    """Keys of the mechanisms that a module imports, or names in its code; docstrings and help texts do not count."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            words = {*(node.module or "").split("."), *(name.name for name in node.names)}
            yield from (key for key in KEYS if "mechanisms" in words and key in words)
        elif isinstance(node, ast.Constant) and node.value in KEYS:
            yield str(node.value)
        elif isinstance(node, ast.Name) and node.id in CLASSES:
            yield CLASSES[node.id]


def test_only_few_modules_name_a_mechanism() -> None:
    found = {
        (place, key)
        for file in sorted(PACKAGE.rglob("*.py"))
        if not (place := file.relative_to(PACKAGE).as_posix()).startswith("mechanisms/")
        for key in mechanisms_named(file.read_text(encoding="utf-8"))
        if not any(place.startswith(start) and key in allowed for start, allowed in MAY_NAME.items())
    }
    assert found == set()


@pytest.mark.parametrize(
    "text", ("from ..mechanisms.tree.model import Tree", "from mechfmu.mechanisms import scenario", "make('tree')")
)
def test_a_named_mechanism_is_found(text: str) -> None:
    assert list(mechanisms_named(text))


def test_type_checkers_know_every_mechanism() -> None:
    """At run time the package finds mechanisms from their folders; type checkers need the classes in its source."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    listed = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    assert listed == set(CLASSES)


@cache
def statements(file: Path) -> tuple[ast.Import | ast.ImportFrom | ast.ClassDef | ast.FunctionDef, ...]:
    """The imports and definitions in a Python file, those inside functions too."""
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return tuple(node for node in nodes if isinstance(node, kinds))


def test_no_test_module_imports_another() -> None:
    imported = {
        (file.name, part)
        for file in TESTS.rglob("*.py")
        for node in statements(file)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names])
        for part in name.split(".")
        if part.startswith("test_")
    }
    assert imported == set()


def test_the_table_of_slow_tests_names_tests_that_exist() -> None:
    known = {file.relative_to(TESTS).as_posix(): file.read_text(encoding="utf-8") for file in TEST_FILES}
    for entry in (*FULL_LANE_ONLY, *SAMPLED, *COMPLETE_LANE_ONLY, *REPEATED, *BOTH_KINDS, *LONGEST_FILES):
        file, _, test = entry.partition("::")
        assert file in known, f"{entry}: there is no such file"
        assert not test or f"def {test.partition('[')[0]}(" in known[file], f"{entry}: there is no such test"


def test_no_table_of_lanes_leaves_a_test_out_altogether() -> None:
    """A test of which only some cases run in the full lane has a case there, and a whole file is never left out."""
    assert all(count > 1 for count in (*REPEATED.values(), *SAMPLED.values()))
    assert not COMPLETE_LANE_ONLY.keys() & REPEATED.keys()
    assert all("::" in entry for entry in COMPLETE_LANE_ONLY)


def test_every_folder_has_tests_in_the_quick_lane() -> None:
    quick = {file.parent for file in TEST_FILES if file.relative_to(TESTS).as_posix() not in FULL_LANE_ONLY}
    assert quick == {file.parent for file in TEST_FILES}


def test_every_file_states_the_same_version() -> None:
    assert len(set(release_notes.versions().values())) == 1


def test_released_versions_have_notes() -> None:
    assert "First version." in release_notes.notes("0.1.0")
    assert release_notes.main("v0.0.0") == 1


@pytest.mark.parametrize("file", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda file: file.name)
def test_what_workflows_run_exists(file: Path) -> None:
    """Their syntax is checked by other tools, see CONTRIBUTING.md."""
    text = file.read_text(encoding="utf-8")
    assert yaml.safe_load(text)
    for script in re.findall(r"(?:build_scripts|\.ci)/[\w.]+", text):
        assert (ROOT / script).exists(), script


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_text_is_wrapped(page: Path) -> None:
    """Tables, code, formulas, headings and pictures may be longer, and words that cannot be broken."""
    text = re.sub(r"^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    free = re.compile(r"\s*(\||#|!\[|<|\$\$)")
    long = [line for line in text.splitlines() if len(line) > COLUMNS and not free.match(line)]
    assert [line for line in long if max(map(len, line.split())) < COLUMNS // 2] == []


def test_pages_of_mechanisms_are_wrapped() -> None:
    pages = [*PACKAGE.rglob("about.html"), *(ROOT / "examples").rglob("about.html")]
    long = [page for page in pages for line in page.read_text(encoding="utf-8").splitlines() if len(line) > COLUMNS]
    assert pages and long == []


def definitions(kind: type[ast.AST], *folders: Path) -> Iterator[tuple[str, ast.AST]]:
    """(file, node) of every definition of a kind in the Python files of these folders."""
    for file in (file for folder in folders for file in sorted(folder.rglob("*.py"))):
        for node in statements(file):
            if isinstance(node, kind):
                yield file.relative_to(ROOT).as_posix(), node


def test_a_class_name_means_one_thing() -> None:
    """The package itself repeats the mechanisms' classes, for type checkers."""
    own = (PACKAGE / "__init__.py").relative_to(ROOT).as_posix()
    found = Counter(node.name for file, node in definitions(ast.ClassDef, PACKAGE) if file != own)
    assert [name for name, count in found.items() if count > 1] == []


def test_functions_fit_on_a_screen() -> None:
    folders = (PACKAGE, ROOT / "fmu_src", BUILD_SCRIPTS, ROOT / "benchmarks", ROOT / "examples", TESTS)
    long = [
        f"{file}: {node.name} has {node.end_lineno - node.lineno + 1} lines"
        for file, node in definitions(ast.FunctionDef, *folders)
        if node.end_lineno - node.lineno >= LINES
    ]
    assert long == []
