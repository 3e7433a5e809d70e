"""Speed of a quadruped that stands on the ground, in steps of 1 ms, beside MuJoCo's mj_step.

    python benchmarks/contact.py [--quick]

For Linux with gcc; needs `pip install ".[native,bench,dev]"`. The robot is Solo 12 of example-robot-data, its joints
are held by springs and dampers, its feet are spheres. MuJoCo gets the same bodies, joints, springs, dampers and
spheres. The native FMU runs in a C host, MuJoCo in its own loop; both are measured when the robot stands, and both must
then carry its weight. The exit status is 1 when they do not, or when the requirement at the end is missed.
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
from importlib.metadata import files
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from loops import FmuHost, Report, status

from mechfmu.mechanisms.tree.model import Tree
from mechfmu.multibody.rotations import quaternion_of

STEP, SETTLE, TOLERANCE, RADIUS = 0.001, 2000, 1e-6, 0.015
STIFFNESS, DAMPING, HEIGHT = 15.0, 0.3, 0.235  # of the joints, N m/rad and N m s/rad; of the base at the start, m
LEGS = {"FL": 1.0, "FR": 1.0, "HL": -1.0, "HR": -1.0}
STANCE = {
    f"{leg}_{joint}": angle * sign
    for leg, sign in LEGS.items()
    for joint, angle in (("HAA", 0.0), ("HFE", 0.8), ("KFE", -1.6))
}
METHODS = {1: "explicit", 3: "automatic"}  # solver.method
CASES = ((0.1, 3), (0.05, 3), (0.05, 1), (0.01, 3), (0.01, 1))  # friction speed in m/s and method, the default first

NOTES = (
    "CPU time of one thread, the fastest of several runs of a standing robot. The FMU integrates with error control "
    "(tolerance 1e-6) and computes the energy balance; mj_step makes one semi-implicit Euler step of 1 ms without.",
    "The friction speed is that below which feet creep instead of sticking: the smaller, the stiffer.",
)


def solo() -> Tree:
    (file,) = [f for f in files("example-robot-data") or () if f.name == "solo12.urdf"]
    return Tree.from_file(str(file.locate()), base="free", contacts=[f"{leg}_FOOT:{RADIUS}" for leg in LEGS])


def starts() -> dict[str, float]:
    found = {"base.position_start[3]": HEIGHT}
    for joint, angle in STANCE.items():
        found |= {f"{joint}.angle_start": angle, f"{joint}.rest_angle": angle}
        found |= {f"{joint}.stiffness": STIFFNESS, f"{joint}.damping": DAMPING}
    return found


class FmuOnTheGround:
    """The native FMU in the small C host; its start values are built in."""

    def __init__(self, robot: Tree, friction_speed: float, method: int, folder: Path):
        folder.mkdir()
        chosen = {"contact.friction_speed": friction_speed, "solver.method": method}
        fmu = robot.build(folder, start=starts() | chosen)[0]
        self.host = FmuHost(fmu, folder / "unpacked", TOLERANCE)

    def step_seconds(self, count: int) -> float:
        """CPU seconds of one step of the standing robot: those of a long run less those in which it settles."""
        return (self.host.seconds(STEP, SETTLE + count) - self.host.seconds(STEP, SETTLE)) / count


def mjcf(robot: Tree) -> str:
    """The same robot for MuJoCo."""
    tree, feet = robot.tree, {c.body for c in robot.tree.contacts}

    def numbers(values: tuple[float, ...]) -> str:
        return " ".join(f"{v:.17g}" for v in values)

    def body(name: str) -> str:
        joint = next(j for j in tree.joints if j.child == name)
        b = next(b for b in tree.bodies if b.name == name)
        e = quaternion_of(np.reshape(joint.rotation, (3, 3)))
        kind = {
            "free": "<freejoint/>",
            "fixed": "",
            "revolute": f'<joint name="{joint.name}" axis="{numbers(joint.axis)}" stiffness="{STIFFNESS}" '
            f'damping="{DAMPING}" springref="{STANCE.get(joint.name, 0.0)}"/>',
        }[joint.kind]
        mass = (
            f'<inertial pos="{numbers(b.com)}" mass="{b.mass}" fullinertia="{numbers(b.inertia)}"/>' if b.mass else ""
        )
        foot = f'<geom type="sphere" size="{RADIUS}"/>' if name in feet else ""
        inner = "".join(body(j.child) for j in tree.joints if j.parent == name)
        place = f'pos="{numbers(joint.position)}" quat="{numbers(tuple(e))}"'
        return f'<body name="{name}" {place}>{kind}{mass}{foot}{inner}</body>'

    return (
        '<mujoco><compiler angle="radian"/>'
        f'<option timestep="{STEP}" gravity="0 0 -9.81"/><worldbody><geom type="plane" size="1 1 1"/>'
        f"{''.join(body(j.child) for j in tree.joints if not j.parent)}</worldbody></mujoco>"
    )


class MujocoOnTheGround:
    """The same in MuJoCo, standing."""

    def __init__(self, robot: Tree):
        self.model = mujoco.MjModel.from_xml_string(mjcf(robot))
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:7] = [0.0, 0.0, HEIGHT, 1.0, 0.0, 0.0, 0.0]
        for joint, angle in STANCE.items():
            self.data.joint(joint).qpos[0] = angle
        mujoco.mj_step(self.model, self.data, 2 * SETTLE)

    def step_seconds(self, count: int) -> float:
        began = time.process_time()
        mujoco.mj_step(self.model, self.data, count)
        return (time.process_time() - began) / count

    def carried(self) -> float:
        force, total = np.zeros(6), 0.0
        for k in range(self.data.ncon):
            mujoco.mj_contactForce(self.model, self.data, k, force)
            total += force[0]
        return total


def carried_by_the_fmu(robot: Tree) -> float:
    """By the engine casadi, whose equations are those of the FMU."""
    result = robot.simulate(stop=4.0, step=0.5, start=starts())
    return float(sum(result[f"{leg}_FOOT.force_z"][-1] for leg in LEGS))


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure a standing quadruped in steps of 1 ms, beside MuJoCo.")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    options = parser.parse_args()
    if not sys.platform.startswith("linux") or not shutil.which("gcc"):
        sys.exit("this benchmark needs Linux and gcc")
    rounds, count = (3, 1000) if options.quick else (15, 3000)
    report, robot = Report("friction speed, m/s", NOTES), solo()
    with status("") as update, tempfile.TemporaryDirectory() as temporary:
        update("MuJoCo")
        other = MujocoOnTheGround(robot)
        units: dict[Any, FmuOnTheGround | MujocoOnTheGround] = {"MuJoCo": other}
        for case in CASES:
            update(f"building the FMU with the friction speed {case[0]}")
            units[case] = FmuOnTheGround(robot, *case, Path(temporary) / "_".join(map(str, case)))
        taken: dict[Any, list[float]] = {case: [] for case in units}
        for k in range(rounds):
            update(f"round {k + 1} of {rounds}")
            for case, unit in units.items():
                taken[case].append(unit.step_seconds(count))
        best = {case: min(times) for case, times in taken.items()}
        update("what the feet carry")
        carried = {"FMU": carried_by_the_fmu(robot), "MuJoCo": other.carried()}
    for case in CASES:
        ratio = f"{STEP / best[case]:.0f} times real time, {best[case] / best['MuJoCo']:.2g} times mj_step"
        report.line(f"1 ms step, FMU, {METHODS[case[1]]}", str(case[0]), best[case], ratio)
    report.line("1 ms step, MuJoCo", "", best["MuJoCo"], f"{STEP / best['MuJoCo']:.0f} times real time")
    weight = 9.81 * sum(b.mass for b in robot.tree.bodies)
    for name, force in carried.items():
        report.require(f"{name}: the feet carry {force:.4f} N of {weight:.4f} N", abs(force / weight - 1) < 1e-3)
    fast = STEP / best[CASES[0]]
    report.require(f"a standing quadruped is at least 100 times faster than real time: {fast:.0f} times", fast >= 100)
    return report.show()


if __name__ == "__main__":
    sys.exit(main())
