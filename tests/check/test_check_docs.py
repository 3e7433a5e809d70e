"""docs/check.md agrees with the code, and the pytest plugin works as the page describes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.check_docs import PAGE, up_to_date
from helpers.check_zoo import DEFECTS, Defect, write_fmu
from helpers.paths import ROOT
from mechfmu.check.checker import RULES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def test_the_tables_are_those_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert up_to_date(text) == text, "run PYTHONPATH=tests python -m helpers.check_docs"


def without_binary(files: dict[str, bytes]) -> None:
    del files[next(n for n in files if n.startswith("binaries/"))]


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An FMU with a wrong stop time and without a binary."""
    defect = next(d for d in DEFECTS if (d.rule, d.name) == ("S11", "stop"))
    broken = Defect("S11", "stop", "", xml=defect.xml, change=without_binary)
    return write_fmu(tmp_path_factory.mktemp("zoo"), broken)


def run_pytest(folder: Path, fmu: Path, *options: str) -> str:
    """The output of pytest for the test of the page. Only the plugins that are named are loaded."""
    page = PAGE.read_text(encoding="utf-8")
    (test,) = re.findall(r"```python\n(def test_compliance.*?)```", page, re.S)
    (folder / "test_mine.py").write_text(test.replace("build/MyModel.fmu", str(fmu)))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_mine.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("way", ["command line", "conftest.py"])
def test_each_rule_becomes_a_test(way: str, fmu: Path, tmp_path: Path) -> None:
    """One rule fails, the other static ones pass, the dynamic ones are skipped."""
    page = PAGE.read_text(encoding="utf-8")
    if way == "command line":
        (options,) = re.findall(r"^pytest (-p \S+)", page, re.M)
        output = run_pytest(tmp_path, fmu, *options.split())
    else:
        (line,) = re.findall(r"^pytest_plugins = .*", page, re.M)
        (tmp_path / "conftest.py").write_text(line)
        output = run_pytest(tmp_path, fmu)
    static = sum(rule.id.startswith("S") for rule in RULES)
    dynamic = sum(rule.id.startswith("D") for rule in RULES)
    assert f"1 failed, {static - 1} passed, {dynamic} skipped" in output, output
    assert "FAILED test_mine.py::test_compliance[S11]" in output
    assert "stopTime is 2 and startTime is 3" in output


def test_the_plugin_loads_only_on_request(fmu: Path, tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "pytest11" not in project.get("entry-points", {})
    assert "fixture 'fmi_rule' not found" in run_pytest(tmp_path, fmu)
