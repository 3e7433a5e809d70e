"""Different FMUs in one process: none may get another's code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from helpers.build import Build
from helpers.fmu_client import Host
from helpers.paths import ROOT
from helpers.tolerances import COMMUNICATION_STEP, IDENTITY, TIGHT
from mechfmu import LinkChain

OUTPUTS = ["joint[1].angle", "joint[2].acceleration", "tip.x", "energy.total"]


def alone(fmu_file: Path, folder: Path) -> np.ndarray:
    host = Host(folder)
    try:
        rows = host.open(fmu_file).initialize().run([0.02] * 5, OUTPUTS)
        host.close()
    finally:
        host.kill()
    return rows


def test_two_models_in_one_process(fmu: Build, fresh_host: Host, tmp_path: Path) -> None:
    files = {"two": fmu(links=2), "three": fmu(links=3), "moving": fmu(links=2, base="moving")}
    slaves = {name: fresh_host.open(file, name).initialize() for name, file in files.items()}
    for name, file in files.items():
        assert np.array_equal(slaves[name].run([0.02] * 5, OUTPUTS), alone(file, tmp_path)), name


def test_both_kinds_in_one_process(fresh_host: Host, tmp_path: Path) -> None:
    files = LinkChain(links=2).build(tmp_path, kind="both")
    assert len(files) == 2
    rows = [fresh_host.open(file, file.name).initialize(tolerance=TIGHT).run([0.02] * 5, OUTPUTS) for file in files]
    assert rows[0] == pytest.approx(rows[1], abs=COMMUNICATION_STEP)


WEIGHT = "np.stack([zero, p.gravity])"  # in the model: the acceleration of the base against gravity


def turn_gravity_around(model: Path) -> None:
    text = model.read_text()
    assert text.count(WEIGHT) == 1, "the weight is written differently now: adapt this test"
    model.write_text(text.replace(WEIGHT, WEIGHT.replace("p.gravity", "-p.gravity")))


def build_with_another_package(kind: str, folder: Path) -> Path:
    """The FMU of a library whose chain falls upwards: same names everywhere, other equations."""
    package = folder / "components" / "mechfmu"
    for part in ("components", "fmu_src"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "LICENSE", folder)
    model = package / "mechanisms" / "link_chain" / "model.py"
    turn_gravity_around(model)
    environment = os.environ | {"PYTHONPATH": str(package.parent)}
    command = [
        sys.executable,
        "-m",
        "mechfmu",
        "build",
        "link_chain",
        "--kind",
        kind,
        "--option",
        "links=2",
        "-o",
        str(folder / "out"),
    ]
    subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True, timeout=300)
    (file,) = (folder / "out").iterdir()
    return file


def test_two_versions_of_the_library_live_side_by_side(fmu: Build, kind: str, fresh_host: Host, tmp_path: Path) -> None:
    old, new = fmu(links=2), build_with_another_package(kind, tmp_path)
    slaves = [
        fresh_host.open(old, "old").initialize(),
        fresh_host.open(new, "new").initialize(),
        fresh_host.open(old, "old again").initialize(),
    ]
    accelerations = [slave["joint[1].acceleration"] for slave in slaves]
    assert accelerations[1] == pytest.approx(-accelerations[0], rel=IDENTITY)
    assert accelerations[2] == accelerations[0] != 0
    rows = [slave.run([0.02] * 5, OUTPUTS) for slave in slaves]
    assert np.array_equal(rows[0], rows[2])
    assert not np.allclose(rows[0], rows[1])


def edited_by_hand(file: Path, folder: Path) -> Path:
    """An extracted Python FMU with a changed equation and the old module names."""
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder)
    (model,) = folder.glob("resources/mechfmu_*/mechanisms/link_chain/model.py")
    turn_gravity_around(model)
    return folder


@pytest.mark.parametrize("kind", ("python",))
def test_a_changed_fmu_beside_its_original(fmu: Build, fresh_host: Host, tmp_path: Path) -> None:
    """To be changed by hand is what the readable kind is for."""
    changed = fresh_host.open(edited_by_hand(fmu(links=2), tmp_path / "edited"), "changed").initialize()
    original = fresh_host.open(fmu(links=2), "original").initialize()
    assert changed["joint[1].acceleration"] == pytest.approx(-original["joint[1].acceleration"], rel=IDENTITY)
    assert original["joint[1].acceleration"] < 0


def test_the_same_fmu_from_two_places(fmu: Build, fresh_host: Host, tmp_path: Path) -> None:
    copy = tmp_path / "copy.fmu"
    shutil.copy(fmu(links=2), copy)
    one, two = fresh_host.open(fmu(links=2), "one").initialize(), fresh_host.open(copy, "two").initialize()
    assert np.array_equal(one.run([0.02] * 5, OUTPUTS), two.run([0.02] * 5, OUTPUTS))
