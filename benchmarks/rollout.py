"""Many runs at once: in SIMD lanes beside the engine c, and beside MuJoCo's rollout on the same robot.

    python benchmarks/rollout.py [--quick]

Needs `pip install ".[native,bench]"`. Everything runs on one thread. The runs are one second long, with an output every
10 ms; those in lanes must have the bits of the others. MuJoCo gets the largest time step with which its error is not
above that of mechfmu. The exit status is 1 when a requirement at the end is missed.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from collections.abc import Callable

import mujoco
import mujoco.rollout
import numpy as np
from humanoid import mjcf, robot_file
from loops import Report, status

from mechfmu import LinkChain, SphericalArm, WheeledCart
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.model import Mechanism
from mechfmu.simulation.batch import INSTRUCTION_SETS, instruction_set
from mechfmu.simulation.compiled import CompiledInstance

STOP, STEP = 1.0, 0.01
RUNS = 4096
SINGLE_RUNS = 64  # of the engine c in a burst
MUJOCO_RUNS = 256
RECORDED = 12  # outputs: more would measure how fast the system gives memory
ROBOT = "ur5_robot.urdf"
REFERENCE_TOLERANCE = 1e-12
MUJOCO_STEPS = [STEP / n for n in (1, 2, 3, 4, 5, 6, 8, 10, 15, 20)]
MOST_OVER_MUJOCO, LEAST_OVER_SCALAR = 1 / 5, 3.0

NOTES = (
    "CPU time of one thread, the fastest of several bursts. Twelve outputs are recorded every 10 ms; starting "
    "an instance is included, on both sides in compiled code.",
    "MuJoCo integrates with its Runge-Kutta method of order 4, without contacts, with the largest step whose error is "
    "not above that of mechfmu, which integrates with error control (tolerance 1e-6) and computes the energy balance.",
)

Burst = Callable[[], float]  # -> seconds of one run


def starts_of(mechanism: Mechanism, count: int) -> dict[str, np.ndarray]:
    """Random angles and speeds at the start."""
    random = np.random.default_rng(1)
    endings = ("angle_start", "rate_start", "rate_start[1]", "rate_start[2]", "rate_start[3]", "speed_start")
    names = [s.name for s in mechanism.table.of("parameter") if s.name.endswith(endings)]
    return {name: random.uniform(-1, 1, count) for name in names}


class SingleRuns:
    """Runs with the engine c, one after the other, from one C call each."""

    def __init__(self, mechanism: Mechanism, starts: dict[str, np.ndarray], outputs: list[str], grid: np.ndarray):
        self.instance = CompiledInstance(mechanism)
        references = {s.name: i for i, s in enumerate(mechanism.table.scalars)}
        self.set, self.get = (np.array([references[n] for n in names], dtype=np.uint32) for names in (starts, outputs))
        self.values, self.grid = np.column_stack(list(starts.values())), grid
        self.results = np.zeros((len(self.values), len(grid), len(outputs)))

    def seconds(self) -> float:
        fmi, c = self.instance._fmi, self.instance._component
        set_size, get_size, points = (ctypes.c_size_t(len(a)) for a in (self.set, self.get, self.grid))
        places = [ctypes.c_void_p(a.ctypes.data) for a in (self.set, self.get, self.grid)]
        zero = ctypes.c_double(0.0)
        began = time.process_time()
        for row, results in zip(self.values, self.results, strict=True):
            fmi.fmi2Reset(c)
            fmi.fmi2SetReal(c, places[0], set_size, ctypes.c_void_p(row.ctypes.data))
            fmi.fmi2SetupExperiment(c, 0, zero, zero, 0, zero)
            fmi.fmi2EnterInitializationMode(c)
            fmi.fmi2ExitInitializationMode(c)
            fmi.engine_run(c, places[2], points, places[1], get_size, ctypes.c_void_p(results.ctypes.data))
        return (time.process_time() - began) / len(self.values)


def fastest(bursts: dict[str, Burst], rounds: int) -> dict[str, float]:
    """The fastest burst of each, in turn."""
    seconds = dict.fromkeys(bursts, np.inf)
    for _ in range(rounds):
        for name, burst in bursts.items():
            seconds[name] = min(seconds[name], burst())
    return seconds


def timed(call: Callable[[], object], runs: int) -> float:
    began = time.process_time()
    call()
    return (time.process_time() - began) / runs


def beside_engine_c(mechanism: Mechanism, rounds: int) -> tuple[float, float]:
    """Seconds of a run alone and in a batch."""
    outputs = [s.name for s in mechanism.table.of("output", "state")][:RECORDED]
    starts = starts_of(mechanism, RUNS)
    batch = mechanism.rollout(starts, stop=STOP, step=STEP, outputs=outputs, threads=1)
    single = SingleRuns(mechanism, {n: v[:SINGLE_RUNS].copy() for n, v in starts.items()}, outputs, batch.t)
    single.seconds()
    if any(batch.reasons) or not np.array_equal(single.results, batch.values[:SINGLE_RUNS]):
        sys.exit(f"{mechanism.name}: the runs in lanes do not have the bits of the others")

    def in_lanes() -> float:
        call = lambda: mechanism.rollout(starts, stop=STOP, step=STEP, outputs=outputs, threads=1)  # noqa: E731
        return timed(call, RUNS)

    found = fastest({"alone": single.seconds, "in lanes": in_lanes}, rounds)
    return found["alone"], found["in lanes"]


class MujocoRuns:
    """The same robot in MuJoCo, with its method of order four."""

    def __init__(self, robot: Tree, state: np.ndarray, step: float):
        self.model = mujoco.MjModel.from_xml_string(mjcf(robot.tree))
        self.model.opt.timestep, self.model.opt.integrator = step, mujoco.mjtIntegrator.mjINT_RK4
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self.data = mujoco.MjData(self.model)
        self.steps, self.stride = round(STOP / step), round(STEP / step)
        size = mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self.start = np.zeros((len(state), size))
        self.start[:, 1 : 1 + self.model.nq + self.model.nv] = state

    def run(self) -> np.ndarray:
        """The joint angles at the outputs."""
        states, _ = mujoco.rollout.rollout(self.model, self.data, self.start, nstep=self.steps)
        return states[:, self.stride - 1 :: self.stride, 1 : 1 + self.model.nq]


def beside_mujoco(rounds: int) -> tuple[float, float, float, float, float]:
    """Seconds of a run of mechfmu and MuJoCo, MuJoCo's step, and the largest errors of an angle."""
    robot = Tree.from_file(robot_file(ROBOT))
    names = [s.name for s in robot.table.of("state") if s.name.endswith(".angle")]
    starts = starts_of(robot, RUNS)
    rates = [name.replace("angle", "rate") for name in names]
    state = np.column_stack([starts[f"{name}_start"] for name in (*names, *rates)])
    options = dict(stop=STOP, step=STEP, outputs=names, threads=1)
    few = {name: values[:SINGLE_RUNS] for name, values in starts.items()}
    right = robot.rollout(few, tolerance=REFERENCE_TOLERANCE, **options).values  # type: ignore[arg-type]
    own_error = np.abs(robot.rollout(few, **options).values - right).max()  # type: ignore[arg-type]
    for step in MUJOCO_STEPS:
        error = np.abs(MujocoRuns(robot, state[:SINGLE_RUNS], step).run() - right[:, 1:]).max()
        if error <= own_error:
            break
    other = MujocoRuns(robot, state[:MUJOCO_RUNS], step)
    bursts = {
        "mechfmu": lambda: timed(lambda: robot.rollout(starts, **options), RUNS),  # type: ignore[arg-type]
        "MuJoCo": lambda: timed(other.run, MUJOCO_RUNS),
    }
    found = fastest(bursts, rounds)
    return found["mechfmu"], found["MuJoCo"], step, own_error, error


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure many runs at once.")
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    rounds = 2 if parser.parse_args().quick else 7
    simd = instruction_set()
    report = Report("runs", NOTES)
    with status("") as update:
        for mechanism in (LinkChain(links=10), SphericalArm(), WheeledCart()):
            update(mechanism.name)
            alone, in_lanes = beside_engine_c(mechanism, rounds)
            ratio = alone / in_lanes
            report.line(f"{mechanism.name}: a run with the engine c", 1, alone)
            report.line(
                f"a run in {INSTRUCTION_SETS[simd][0]} lanes ({simd})", RUNS, in_lanes, f"{ratio:.2f} times faster"
            )
            report.require(f"{mechanism.name}: in lanes at least 3 times the engine c", ratio >= LEAST_OVER_SCALAR)
        report.section()
        update(ROBOT)
        own, other, step, own_error, error = beside_mujoco(rounds)
    report.line(f"{ROBOT}: a run in lanes, largest error {own_error:.1e} rad", RUNS, own)
    what = f"MuJoCo's rollout, steps of {1000 * step:.3g} ms, error {error:.1e} rad"
    report.line(what, MUJOCO_RUNS, other, f"{other / own:.1f} times as long")
    report.require("at least 5 times MuJoCo's rollout", own <= other * MOST_OVER_MUJOCO)
    return report.show()


if __name__ == "__main__":
    sys.exit(main())
