"""A humanoid with grippers: how long its FMU takes to build, and how much faster than real time it runs.

    python benchmarks/humanoid.py [--quick]

For Linux with gcc; needs `pip install ".[native,bench,dev]"`. The robot is TALOS of example-robot-data: 44 joints that
move, 12 of which follow those of the two grippers. Its pelvis is held, its motors are off. The native FMU runs in a C
host, beside MuJoCo's mj_step with the same bodies, joints, dampers and friction. Nothing is required: it prints.
"""

from __future__ import annotations

import os

# one thread for everybody; read when NumPy is imported
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import files
from pathlib import Path

import mujoco
import numpy as np
from loops import FmuHost, Report, build_seconds, contest, engine_bursts, status

from mechfmu.mechanisms.tree.model import Tree
from mechfmu.multibody.rotations import quaternion_of
from mechfmu.multibody.tree import BodyTree, Joint

ROBOT, TOLERANCE, DURATION = "talos_full_v2.urdf", 1e-6, 1.0  # s of simulated time
STEPS = (0.001, 0.01)
MUJOCO_STEP = 0.001
TINY = 1e-9  # kg m2, of small parts on fixed joints that have none in the file; MuJoCo wants some
METHODS = {1: "explicit", 3: "automatic"}  # solver.method
CASES = ((3, 0.1), (1, 0.1), (3, 1.0), (1, 1.0))  # method, and friction speed in rad/s; the default first

NOTES = (
    "CPU time of one thread, the fastest of several runs of one second. The FMU integrates with error control "
    "(tolerance 1e-6) and computes the energy balance; mj_step makes one semi-implicit Euler step of 1 ms, and holds "
    "following joints by soft constraints.",
    "The friction speed is that at which the dry friction reaches 76 percent: the smaller, the stiffer. The automatic "
    "choice is the implicit method where it is stiff and a Jacobian in each communication step pays.",
)


def robot_file(name: str = ROBOT) -> Path:
    (found,) = [f for f in files("example-robot-data") or () if f.name == name]
    return Path(str(found.locate()))


def opened(robot: Tree, method: int, friction_speed: float, folder: Path) -> FmuHost:
    """The FMU with these choices built in."""
    names = [s.name for s in robot.table.of("parameter") if s.name.endswith(".friction_speed")]
    start: dict[str, float] = dict.fromkeys(names, friction_speed) | {"solver.method": method}
    return FmuHost(robot.build(folder, start=start)[0], folder / "unpacked", TOLERANCE)


def mjcf(tree: BodyTree) -> str:
    """The same robot for MuJoCo."""
    bodies = {b.name: b for b in tree.bodies}

    def body(joint: Joint) -> str:
        b, place = bodies[joint.child], quaternion_of(np.reshape(joint.rotation, (3, 3)))
        hinge = (
            f'<joint name="{joint.name}" type="{"hinge" if joint.kind == "revolute" else "slide"}" '
            f'axis="{numbers(joint.axis)}" damping="{joint.damping}" frictionloss="{joint.friction}" '
            f'armature="{joint.armature}"/>'
        )
        inertia = f'fullinertia="{numbers(b.inertia)}"' if any(b.inertia) else f'diaginertia="{numbers(3 * (TINY,))}"'
        mass = f'<inertial pos="{numbers(b.com)}" mass="{b.mass}" {inertia}/>'
        inner = "".join(body(j) for j in tree.joints if j.parent == b.name)
        where = f'pos="{numbers(joint.position)}" quat="{numbers(tuple(place))}"'
        return f"<body {where}>{hinge if joint.rates else ''}{mass if b.mass else ''}{inner}</body>"

    couplings = "".join(
        f'<joint joint1="{j.name}" joint2="{j.mimic}" polycoef="{j.offset} {j.multiplier} 0 0 0"/>'
        for j in tree.joints
        if j.mimic
    )
    return (
        '<mujoco><compiler angle="radian" balanceinertia="true"/>'
        f'<option timestep="{MUJOCO_STEP}" gravity="0 0 -9.81"/>'
        f"<worldbody>{''.join(body(j) for j in tree.joints if not j.parent)}</worldbody>"
        f"<equality>{couplings}</equality></mujoco>"
    )


def numbers(values: Sequence[float]) -> str:
    return " ".join(f"{v:.17g}" for v in values)


def mujoco_seconds(model: mujoco.MjModel) -> float:
    """CPU seconds of a simulated second."""
    data, count = mujoco.MjData(model), round(DURATION / MUJOCO_STEP)
    began = time.process_time()
    mujoco.mj_step(model, data, count)
    return (time.process_time() - began) / DURATION


def report_equations(report: Report, robot: Tree, rounds: int) -> None:
    """What the solver's work is made of."""
    _, x, _, u, p = robot.start({})
    bursts, _ = engine_bursts(robot, np.tile(x, (1, 1)), np.tile(u, (1, 1)), p)
    times = contest(bursts, rounds)
    rates, derivative = times["engine c"], times["directional derivative"]
    report.line("rates of all states", len(x), rates)
    jacobian = derivative * len(x)
    report.line("Jacobian, by directional derivatives", len(x), jacobian, f"{jacobian / rates:.0f} times the rates")
    report.section()


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the FMU of a humanoid with grippers.")
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    options = parser.parse_args()
    if not sys.platform.startswith("linux") or not shutil.which("gcc"):
        sys.exit("this benchmark needs Linux and gcc")
    rounds = 2 if options.quick else 7
    report, robot = Report("size", NOTES), Tree.from_file(robot_file())
    with status("") as update, tempfile.TemporaryDirectory() as temporary:
        update("building with an empty cache")
        wall, used = build_seconds(str(robot_file()))
        report.line(f"build of the native FMU of {ROBOT}", robot.nv, wall, f"{used:.0f} s of CPU time")
        report.section()
        update("rates and Jacobian")
        report_equations(report, robot, 10 * rounds)
        model = mujoco.MjModel.from_xml_string(mjcf(robot.tree))
        units = {}
        for method, speed in CASES:
            update(f"building with solver.method {method}, friction speed {speed}")
            units[method, speed] = opened(robot, method, speed, Path(temporary) / f"{method}_{speed}")
        update("runs")
        other = min(mujoco_seconds(model) for _ in range(rounds))
        for step in STEPS:
            for (method, speed), unit in units.items():
                own = min(unit.seconds(step, round(DURATION / step)) for _ in range(rounds)) / DURATION
                ratio = f"{1 / own:.3g} times real time, {own / other:.2g} times MuJoCo's time"
                what = f"{1000 * step:g} ms step, {METHODS[method]}, friction speed {speed}"
                report.line(what, robot.nv, own * step, ratio)
            report.section()
        report.line("1 ms step, MuJoCo", model.nv, other * MUJOCO_STEP, f"{1 / other:.3g} times real time")
    return report.show()


if __name__ == "__main__":
    sys.exit(main())
