"""docs/check.md says what the checker does, and the pytest fixture does what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from helpers.check_docs import PAGE, up_to_date
from helpers.check_zoo import DEFECTS, Defect, write_fmu
from mechfmu.check.checker import RULES
from mechfmu.check.pytest_plugin import IDS


def test_the_tables_are_those_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert up_to_date(text) == text, "run python tests/check_docs.py"


def test_the_plugin_knows_all_rules() -> None:
    """It does not import them, to be quick."""
    assert tuple(r.id for r in RULES) == IDS


def no_binary(files: dict[str, bytes]) -> None:
    del files[next(n for n in files if n.startswith("binaries/"))]


def test_three_lines_make_tests_of_the_rules(tmp_path: Path) -> None:
    """With the lines of the page, for an FMU with one defect and no binary: one rule fails, the other
    static ones pass, the dynamic ones are skipped."""
    defect = next(d for d in DEFECTS if (d.rule, d.name) == ("S11", "stop"))
    fmu = write_fmu(tmp_path, Defect("S11", "stop", "", xml=defect.xml, change=no_binary))
    (lines,) = re.findall(r"```python\n(def test_compliance.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    (tmp_path / "test_mine.py").write_text(lines.replace("build/MyModel.fmu", str(fmu)))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert re.search(r"1 failed, 12 passed, 12 skipped", result.stdout), result.stdout
    assert (
        "FAILED test_mine.py::test_compliance[S11]" in result.stdout
        and "stopTime is 2 and startTime is 3" in result.stdout
    )
