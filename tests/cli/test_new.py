"""`mechfmu new`, completion in the shell, and pacing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.command_line import done, refused
from helpers.paths import ROOT
from mechfmu.mechanisms import add_folder
from mechfmu.model import UserError
from mechfmu.simulation.time_grid import pace


def test_a_new_mechanism_works_and_passes_its_own_tests(tmp_path: Path) -> None:
    told = done("new", "heavy_spring", folder=tmp_path)
    assert "mechfmu build heavy_spring" in told
    assert str(tmp_path) not in told, "paths are relative, as the folder was given"
    written = {f.name for f in (tmp_path / "heavy_spring").iterdir()} - {"__pycache__"}
    assert written == {"__init__.py", "model.py", "about.html", "icon.png"}
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "test_heavy_spring.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert tested.returncode == 0 and "5 passed" in tested.stdout, tested.stdout
    ruff = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--config", ROOT / "pyproject.toml", "heavy_spring"],
        cwd=tmp_path,
        capture_output=True,
    )
    assert ruff.returncode == 0, ruff.stdout
    done("build", "heavy_spring", "--kind", "both", "--option", "mass=2", folder=tmp_path)
    assert "energy.total" in done("simulate", "HeavySpring.python.fmu", "--stop", 0.5, folder=tmp_path)
    done("simulate", "HeavySpring.fmu", "--stop", 0.5, "--animate", "animation.html", folder=tmp_path)
    assert "eigenvalue" in done("linearize", "HeavySpring.fmu", folder=tmp_path)
    refused(
        "linearize",
        "../HeavySpring.fmu",
        folder=tmp_path / "heavy_spring",
        words=("built from a mechanism heavy_spring that is not here",),
    )
    assert "spring.stiffness" in done("list", "heavy_spring", folder=tmp_path)
    refused("new", "heavy_spring", folder=tmp_path, words=("already exists",))


@pytest.mark.parametrize(
    ("arguments", "words"),
    (
        (("new", "Heavy"), ("lower-case letters",)),
        (("new", "2fast"), ("lower-case letters",)),
        (("new", "a-b"), ("lower-case letters",)),
        (("new", "numpy"), ("name of an installed module",)),
        (("new", "class"), ("is a Python keyword",)),
        (("new", "link_chain"), ("a mechanism link_chain already exists",)),
        (("build", "empty"), ("model.py is missing",)),
    ),
)
def test_invalid_input(tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    (tmp_path / "empty").mkdir()
    refused(*arguments, folder=tmp_path, words=words)


def test_a_folder_that_hides_a_mechanism_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "link_chain").mkdir()
    (tmp_path / "link_chain" / "model.py").write_text("")
    with pytest.raises(UserError, match="a mechanism link_chain already exists"):
        add_folder(tmp_path / "link_chain")


@pytest.mark.skipif(sys.platform == "win32", reason="argcomplete answers shells of Unix")
@pytest.mark.parametrize(
    ("line", "expected"),
    (
        ("mechfmu bui", "build"),
        ("mechfmu build link", "link_chain"),
        ("mechfmu simulate --sto", "--stop"),
        ("mechfmu build link_chain --option ", "links="),
        ("mechfmu build --kind ", "both"),
        ("mechfmu check --only S2,D1", "S2,D12"),
        ("mechfmu cosim new --ready fig", "figure2"),
    ),
)
def test_the_shell_completes(tmp_path: Path, line: str, expected: str) -> None:
    answer = tmp_path / "answer"
    environment = os.environ | {
        "_ARGCOMPLETE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "IFS": "\n",
    }
    command = [sys.executable, "-c", "import sys; sys.argv = ['mechfmu']; from mechfmu.cli import entry; entry()"]
    subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, timeout=60)
    assert expected in [word.strip() for word in answer.read_text().replace("\v", "\n").splitlines()]


def test_pacing_waits_and_reports() -> None:
    told: list[float] = []
    began = time.monotonic()
    paced = pace(2.0, told.append)
    paced(0.4)
    assert time.monotonic() - began >= 0.2 and told == [0.4]
    for factor in (0.0, -1.0, float("nan")):
        with pytest.raises(UserError, match="realtime"):
            pace(factor, told.append)
