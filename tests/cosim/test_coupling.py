"""Faults of couplings: steps that are too long, results that are not numbers, FMUs that crash, warnings of FMUs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from helpers.check_zoo import Defect, write_fmu
from helpers.processes import within
from helpers.tolerances import FINE_STEP, TIME_GRID
from mechfmu import LinkChain, PidController
from mechfmu.cosim.connections import Port
from mechfmu.cosim.divergence import JumpDetector, StepTooLong, rounded_down
from mechfmu.cosim.system import System
from mechfmu.fmu.build import build
from mechfmu.mechanisms import make
from mechfmu.model import UserError
from mechfmu.simulation.flags import first_of_each, raised_flags

JOINTS = range(1, 4)


@pytest.fixture(scope="session")
def held(tmp_path_factory: pytest.TempPathFactory) -> System:
    """Three links held by stiff PID controllers: a step of 10 ms is far too long, 1 ms is short enough."""
    folder = tmp_path_factory.mktemp("held")
    (plant,), (control,) = build(LinkChain(links=3), folder), build(PidController(channels=3), folder)
    wires: dict[str, str] = {}
    values: dict[str, float] = {"control.reference[1]": 1.2}
    for k in JOINTS:
        wires |= {
            f"plant.joint[{k}].angle": f"control.measurement[{k}]",
            f"plant.joint[{k}].rate": f"control.measurement_rate[{k}]",
        }
        wires |= {f"control.output[{k}]": f"plant.joint[{k}].torque"}
        values |= {
            f"control.gain.{name}[{k}]": gain
            for name, gain in (("proportional", 200.0), ("integral", 100.0), ("derivative", 20.0))
        }
    return System("held", {"plant": plant, "control": control}, wires, values, 2.0, 0.01)


@pytest.fixture(scope="session")
def rigid(held: System, tmp_path_factory: pytest.TempPathFactory) -> System:
    """The same with FMUs that cannot save their states."""
    folder = tmp_path_factory.mktemp("rigid")
    for file in held.fmus.values():
        with zipfile.ZipFile(file) as old, zipfile.ZipFile(folder / Path(file).name, "w") as new:
            for name in old.namelist():
                text = old.read(name)
                new.writestr(name, text.replace(b'canGetAndSetFMUstate="true"', b'canGetAndSetFMUstate="false"'))
    return replace(held, fmus={name: folder / Path(file).name for name, file in held.fmus.items()})


ANGLE = "plant.joint[1].angle"


def test_a_coupling_that_diverges_ends_with_a_proposed_step(held: System) -> None:
    message = r"the coupling diverges with steps of 0.01 s: at t = .* is short enough \(--step (\S+)\)"
    with pytest.raises(UserError, match=message) as told:
        held.simulate(adaptive=False)
    step = float(re.findall(r"--step (\S+?)\)", str(told.value))[0])
    assert 1e-4 <= step <= 2e-3
    fine, adapted = held.simulate(step=step, adaptive=False)[ANGLE], held.simulate()[ANGLE]
    assert fine[-1] == pytest.approx(adapted[-1], abs=FINE_STEP)


def test_steps_adapt_by_default_and_results_keep_the_step(held: System) -> None:
    result = held.simulate()
    assert np.allclose(result.t, np.linspace(0.0, 2.0, 201), atol=TIME_GRID)
    assert result[ANGLE][-1] == pytest.approx(held.simulate(step=2e-4, adaptive=False)[ANGLE][-1], abs=FINE_STEP)


def test_steps_that_are_a_little_long_get_a_warning(held: System) -> None:
    with pytest.warns(RuntimeWarning, match="steps of 0.0013 s are long for this coupling: .* is better"):
        held.simulate(step=0.0013, stop=0.4, adaptive=False)


@pytest.mark.parametrize("step", (0.002, 0.003, 0.005))
def test_without_saved_states_signals_that_jump_are_noticed(rigid: System, step: float) -> None:
    """Whether the oscillation grows or is limited by the chain's motion."""
    with pytest.raises((UserError, RuntimeWarning), match="from step to step"):
        rigid.simulate(step=step)


def test_without_saved_states_a_good_step_gives_no_warning(rigid: System) -> None:
    rigid.simulate(step=0.0005, stop=0.5)


@pytest.mark.parametrize("name", ("figure2", "exoskeleton_pd"))
def test_builtin_systems_run_without_warnings(ready: Callable[[str], System], name: str) -> None:
    ready(name).simulate(stop=0.5)


@pytest.mark.parametrize("ratio", (-2.0, 2.0, -5.0))
def test_signals_that_grow_from_step_to_step_end_the_run(ratio: float) -> None:
    jumps = JumpDetector([Port("plant", "x")])
    with pytest.raises(StepTooLong, match=r"plant\.x (changes more and more|jumps) from step to step"):
        for k in range(20):
            jumps.add(0.1 * k, 0.1, np.array([1e-3 * ratio**k]))
    calm = JumpDetector([Port("plant", "x")])
    for k in range(200):
        calm.add(0.1 * k, 0.1, np.array([np.sin(0.3 * k) + 0.01 * k]))
    assert not list(calm.warnings())


def test_steps_are_rounded_down() -> None:
    assert [rounded_down(x) for x in (0.00099999999, 0.0042, 0.7)] == pytest.approx([0.001, 0.002, 0.5])


# --- FMUs of other tools ----------------------------------------------------------------------------------------------


def zoo(folder: Path, binary: str) -> System:
    """An oscillator."""
    return System("zoo", {"unit": write_fmu(folder, Defect("", binary or "fine", "", binary))}, {}, {}, 1.0, 0.05)


def test_nan_ends_the_run_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"unit\.\S+ is nan at t = 0\.\d+ s"):
        zoo(tmp_path, "late-nan").simulate(adaptive=False)


@pytest.mark.parametrize("adaptive", (False, None))
def test_a_crash_is_an_error_with_the_name_of_the_fmu(tmp_path: Path, adaptive: bool | None) -> None:
    with pytest.raises(UserError, match=r"unit crashed in the step from t = 0\.\d+ s: SIG"):
        zoo(tmp_path, "late-crash").simulate(adaptive=adaptive)


def test_a_process_of_its_own_changes_no_number(tmp_path: Path) -> None:
    runs = [zoo(tmp_path, "").simulate(isolated=apart) for apart in (True, False, None)]
    assert all(np.array_equal(run["unit.x"], runs[0]["unit.x"]) for run in runs)


ISOLATED = """
import sys, time
from pathlib import Path
from mechfmu.simulation.description import read_description
from mechfmu.simulation.slaves import IsolatedSlave, Origin
fmu = sys.argv[1]
description = read_description(fmu)
slave = IsolatedSlave(Origin("unit", fmu, description.guid, description.coSimulation.modelIdentifier), print, print)
slave.enter_initialization()
slave.exit_initialization()
Path("loaded").write_text("")
time.sleep(600)
"""


def test_the_process_of_an_fmu_ends_with_its_master_and_leaves_no_files(tmp_path: Path) -> None:
    (file,) = zoo(tmp_path, "").fmus.values()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    master = subprocess.Popen([sys.executable, "-c", ISOLATED, str(file)], cwd=tmp_path, env=environment)
    try:
        assert within(60, (tmp_path / "loaded").exists)
        isolated = psutil.Process(master.pid).children()
        assert len(isolated) == 1 and list(scratch.iterdir())
    finally:
        master.kill()
        master.wait()
    assert not psutil.wait_procs(isolated, timeout=20)[1] and not list(scratch.iterdir())


# --- warnings --------------------------------------------------------------------------------------------


def test_the_cart_warns_when_it_touches_an_obstacle() -> None:
    """A pose that moves through the first obstacle, whatever the controller says."""
    controller = make("cart_controller")
    with pytest.warns(RuntimeWarning, match=r"at t = \S+ s: the cart touches obstacle\[1\]") as told:
        controller.simulate(stop=4.0, step=0.05, inputs={"pose.x": lambda t: -4.5 + t, "pose.y": 0.0})
    assert len(told) == 1


def test_flags_and_warnings_are_reported_once() -> None:
    t = np.array([0.0, 1.0, 2.0, 3.0])
    descriptions = {"a": "1 when it is hot, otherwise 0", "b": "a number", "c": "1 while held, otherwise 0"}
    told = raised_flags(descriptions, t, dict.fromkeys("abc", np.array([0, 1, 0, 1])))
    assert told == ["a: it is hot, first at t = 1 s, for 1 s in total", "c: held, first at t = 1 s, for 1 s in total"]
    assert first_of_each(["at t = 1 s: ouch", "at t = 2 s: ouch", "other"]) == ["at t = 1 s: ouch", "other"]
