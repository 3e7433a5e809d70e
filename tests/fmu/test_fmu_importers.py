"""The FMU in the hands of others: FMPy's validation, and three independent hosts that must see one motion."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import fmpy.validation
import numpy as np
import pytest

from helpers import needs
from helpers.build import Build
from helpers.fmu_client import Host
from helpers.paths import TESTS
from helpers.tolerances import EXPLICIT_IMPLICIT, IMPORTERS

OTHER_HOSTS = TESTS / "helpers" / "other_hosts.py"
OUTPUTS = ["joint[1].angle", "joint[2].rate", "tip.x", "energy.total", "energy.input", "joint[1].reaction_y"]
START = {"joint[1].angle_start": 0.4, "joint[2].rate_start": 1.5, "joint[1].damping": 0.1, "joint[2].torque": 0.7}
STEP, COUNT = 0.01, 200


@pytest.mark.parametrize(
    "options", ({"links": 1}, {"links": 10}, {"links": 2, "base": "moving"}), ids=("one", "ten", "moving")
)
def test_fmpy_finds_nothing_to_complain_about(fmu: Build, options: dict[str, object]) -> None:
    assert fmpy.validation.validate_fmu(str(fmu(**options))) == []


@pytest.mark.parametrize("name", ("libcosim", "ecos"))
def test_another_host_sees_the_same_motion(fmu: Build, host: Host, tmp_path: Path, name: str) -> None:
    needs.master(name)
    file = fmu(links=2)
    job = dict(start=START, step=STEP, count=COUNT, outputs=OUTPUTS)
    done = subprocess.run(
        [sys.executable, OTHER_HOSTS, name, file, json.dumps(job)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = np.array(json.loads(done.stdout.splitlines()[-1]))
    wanted = host.open(file).initialize(START).run([STEP] * COUNT, OUTPUTS)
    assert np.abs(found - wanted).max() < IMPORTERS * max(1.0, np.abs(wanted).max())
    assert np.ptp(found[:, 0]) > 0.1, "the chain did not move"


@pytest.mark.parametrize("kind", ["native"])
def test_a_choice_reaches_the_fmu_in_libcosim(fmu: Build, tmp_path: Path) -> None:
    """Which ignores Enumerations: choices are Integers."""
    runs = []
    for method in (1, 2):
        job = dict(start=START | {"solver.method": method}, step=STEP, count=20, outputs=OUTPUTS)
        done = subprocess.run(
            [sys.executable, OTHER_HOSTS, "libcosim", fmu(links=2), json.dumps(job)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        runs.append(np.array(json.loads(done.stdout.splitlines()[-1])))
    assert not np.array_equal(*runs), "the explicit and the implicit method round differently"
    assert np.abs(runs[0] - runs[1]).max() < EXPLICIT_IMPLICIT


def test_fmpy_simulate_fmu(fmu: Build, host: Host, tmp_path: Path) -> None:
    """FMPy's own loop, as most people run an FMU."""
    file = fmu(links=2)
    code = (
        "import sys, json, fmpy; sys.modules['mechfmu'] = None; file, job = sys.argv[1], json.loads(sys.argv[2]);"
        "r = fmpy.simulate_fmu(file, start_values=job['start'], stop_time=job['step'] * job['count'], "
        "output_interval=job['step'], output=job['outputs']);"
        "print(json.dumps([[float(row[n]) for n in job['outputs']] for row in r[1:]]))"
    )
    job = dict(start=START, step=STEP, count=COUNT, outputs=OUTPUTS)
    done = subprocess.run(
        [sys.executable, "-c", code, file, json.dumps(job)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = np.array(json.loads(done.stdout.splitlines()[-1]))
    wanted = host.open(file).initialize(START, tolerance=1e-6).run([STEP] * COUNT, OUTPUTS)
    assert np.abs(found - wanted).max() < IMPORTERS * max(1.0, np.abs(wanted).max())
