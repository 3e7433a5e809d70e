"""The examples run as a reader would run them, and do what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers import needs
from helpers.fork_server import run
from helpers.paths import EXAMPLES


def printed(name: str, folder: Path) -> str:
    done = run([EXAMPLES / name], folder, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers_in(pattern: str, text: str) -> list[float]:
    """The groups of the first match."""
    found = re.search(pattern, text)
    assert found, text
    return [float(group) for group in found.groups()]


@pytest.mark.parametrize("name", ("pd_control.py", "arm_computed_torque.py"))
def test_controllers_bring_their_arms_to_the_reference(name: str, tmp_path: Path) -> None:
    errors = [float(e) for e in re.findall(r"error of an? \w+ +([\d.]+) deg", printed(name, tmp_path))]
    assert len(errors) > 5
    assert errors[0] > 10
    assert errors[-1] < 0.01 * errors[0]


def test_a_robot_from_a_file_falls_and_keeps_its_balance(tmp_path: Path) -> None:
    text = printed("robot_from_urdf.py", tmp_path)
    assert "3 degrees of freedom" in text
    balance, lost = numbers_in(r"holds to (\S+) J, (\S+) J were lost", text)
    assert balance < 1e-4 * lost
    assert lost > 5
    elbow = [float(a) for a in re.findall(r"elbow +(\S+) rad", text)]
    assert max(elbow) - min(elbow) > 0.5


def test_three_rods_recover_from_a_blow_by_a_law_in_python_and_in_an_fmu(tmp_path: Path) -> None:
    text = printed("three_links_upright.py", tmp_path)
    fallen, lowest = numbers_in(r"falls to (\S+) m; .* above (\S+) m", text)
    away, left = numbers_in(r"off by up to (\S+) m, at the end by (\S+) m", text)
    assert fallen < 0 < 0.99 < lowest and 0.05 < away < 0.1 and left < 1e-4
    (difference,) = numbers_in(r"differ from it by at most (\S+) ", text)
    assert difference < 1e-6


def test_a_quadruped_stands_is_pushed_and_marches(tmp_path: Path) -> None:
    needs.robot_descriptions()
    text = printed("quadruped.py", tmp_path)
    carried, weight = numbers_in(r"carry (\S+) N of (\S+) N", text)
    assert carried == pytest.approx(weight, rel=1e-3)
    moved, left = numbers_in(r"moves (\S+) mm sideways, (\S+) mm when", text)
    assert 5 < moved < 50 and abs(left) < moved
    steps = numbers_in(r"feet \[(\d), (\d), (\d), (\d)\] times", text)
    assert min(steps) >= 3
    lowest, highest = numbers_in(r"base (\S+) to (\S+) mm high", text)
    assert 210 < lowest < highest < 250  # it has not fallen


@pytest.mark.parametrize("name", ("swing.py", "shaken_chain.py", "own_mechanism.py"))
def test_the_others_run(name: str, tmp_path: Path) -> None:
    printed(name, tmp_path)
    assert any(tmp_path.iterdir())
