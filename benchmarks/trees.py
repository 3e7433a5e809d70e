"""Speed of trees of bodies beside Pinocchio's articulated-body algorithm, both in compiled loops; time of builds.

    python benchmarks/trees.py [--quick] [--build]

For Linux with g++; needs `pip install ".[native,bench,dev]"`. All contenders get the same random states, and figures
are shown only when all computed the same accelerations. The exit status is 1 when they did not, or when one of the
requirements at the end is missed.
"""

from __future__ import annotations

import os

# one thread for everybody; read when NumPy is imported
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path

import numpy as np
from loops import (
    CONSTANT,
    GENERATED,
    VARIABLE,
    Burst,
    Contenders,
    GeneratedAba,
    PinocchioJoint,
    PinocchioModel,
    Report,
    build_seconds,
    check_agreement,
    contest,
    engine_bursts,
    generated_aba,
    own_operations,
    pinocchio_bursts,
    report_generated,
    status,
)

from mechfmu import SphericalArm
from mechfmu.mechanisms.tree.base import TreeMechanism
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.multibody.tree import Body, BodyTree, Joint

BODY_NUMBERS = 15  # from here on in PinocchioJoint.numbers(): mass, mass centre, inertia
POINTS = 8  # random states of each mechanism, visited in turn
KINDS, SHARES = ("revolute", "prismatic", "spherical"), (0.7, 0.2, 0.1)  # joints of the random trees
BIG_ROBOT = "talos_reduced.urdf"  # 32 driven joints

NOTES = (
    "CPU time of one thread, the fastest tenth of many short bursts; the bursts of compared contenders alternate.",
    "Engine c keeps masses, mass centres, inertias, gravity and the joints' springs, dampers and friction as "
    "parameters. Its time is that of all rates: beside the accelerations the springs, dampers and friction of all "
    "joints, a load on the tip, the rates of quaternions, and the powers of motors, load and losses. Pinocchio's aba "
    "computes the accelerations alone; its time is that of the faster of its two forms.",
    "Pinocchio's code is the one inside its own library and takes any model; engine c is compiled for the one tree.",
    "Pinocchio's generated code is its aba recorded with CasADi's scalar type, written as C by CasADi and compiled as "
    "ours with the same flags, in the form with fewer operations; all variable: masses, mass centres, inertias and "
    "gravity are arguments of both, placements of joints are constants of both.",
    "The random trees hang every body on any one before it, joints about skew axes, placed at random: 70 % revolute, "
    "20 % prismatic, 10 % spherical.",
)


def robot_file(name: str) -> Path:
    """In the installed package of robot descriptions."""
    (found,) = [f for f in files("example-robot-data") or () if f.name == name]
    return Path(str(found.locate()))


def without_mimic(name: str, folder: str) -> Path:
    """A copy of a robot's file whose following joints move on their own, as they do in Pinocchio."""
    copy = Path(folder) / name
    copy.write_text(re.sub(r"<mimic[^>]*/>", "", robot_file(name).read_text()))
    return copy


def robot(name: str) -> Tree:
    with tempfile.TemporaryDirectory() as folder:
        return Tree.from_file(without_mimic(name, folder))


def random_tree(n: int) -> Tree:
    random = np.random.default_rng(n)
    bodies, joints = [], []
    for k in range(n):
        rotation = np.linalg.qr(random.normal(size=(3, 3)))[0]
        rotation *= np.linalg.det(rotation)
        points = random.normal(size=(3, 6))  # a body of six equal points has a physical inertia
        J = 0.01 * sum(p @ p * np.eye(3) - np.outer(p, p) for p in points.T)
        inertia = tuple(float(J[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        bodies.append(Body(f"body{k}", float(random.uniform(0.5, 3.0)), tuple(random.uniform(-0.4, 0.4, 3)), inertia))
        parent = f"body{random.integers(k)}" if k else ""
        place = tuple(random.uniform(-0.5, 0.5, 3)), tuple(rotation.ravel()), tuple(random.normal(size=3))
        joints.append(Joint(f"joint{k}", str(random.choice(KINDS, p=SHARES)), f"body{k}", parent, *place))
    return Tree(model=BodyTree("random", tuple(bodies), tuple(joints)).to_json())


@dataclass
class Case:
    """A tree and the states in which it is evaluated."""

    tree: TreeMechanism
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray

    @staticmethod
    def of(tree: TreeMechanism) -> Case:
        random = np.random.default_rng(1)
        q = random.uniform(-2.0, 2.0, (POINTS, tree.nq))
        for at in quaternions(tree):
            q[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1, keepdims=True)
        return Case(tree, q, random.uniform(-1.0, 1.0, (POINTS, tree.nv)), random.uniform(-1.0, 1.0, (POINTS, tree.nv)))

    def without_laws(self) -> dict[str, float]:
        """No dampers, friction and springs: Pinocchio has none."""
        laws = (".damping", ".friction", ".stiffness")
        return {s.name: 0.0 for s in self.tree.table.of("parameter") if s.name.endswith(laws)}

    def engine(self) -> tuple[Burst, np.ndarray]:
        return self._engine(self.tree, self.without_laws())

    def constant(self) -> TreeMechanism:
        """The tree with all parameters as constants, and without energies."""
        short = type(self.tree)(**{**self.tree.options, "energy": "off"})
        return short.baked("all", self.without_laws())

    def engine_constant(self) -> tuple[Burst, np.ndarray]:
        return self._engine(self.constant(), {})

    def _engine(self, tree: TreeMechanism, start: dict[str, float]) -> tuple[Burst, np.ndarray]:
        _, x, _, u, p = tree.start(start)
        x, u = np.tile(x, (POINTS, 1)), np.tile(u, (POINTS, 1))
        nq, nv = self.tree.nq, self.tree.nv
        x[:, : nq + nv], u[:, :nv] = np.concatenate([self.q, self.v], axis=1), self.tau
        bursts, out = engine_bursts(tree, x, u, p)
        return bursts["engine c"], out[:, nq : nq + nv]

    def model(self) -> PinocchioModel:
        return PinocchioModel(pinocchio_joints(self.tree.tree), (0.0, 0.0, -9.81))

    def pinocchio_q(self) -> np.ndarray:
        """The coordinates, with the scalars of quaternions last."""
        q = self.q.copy()
        for at in quaternions(self.tree):
            q[:, at : at + 4] = self.q[:, [at + 1, at + 2, at + 3, at]]
        return q

    def pinocchio(self) -> Contenders:
        return pinocchio_bursts(self.model(), self.pinocchio_q(), self.v, self.tau)

    def generated(self, variable: bool) -> GeneratedAba:
        """Pinocchio's generated code, with masses, mass centres, inertias, gravity as arguments or as constants."""
        model = self.model()
        of_joints = np.zeros((len(model.joints), len(model.joints[0].numbers())), bool)
        of_joints[:, BODY_NUMBERS:] = variable
        mask = np.concatenate([of_joints.ravel(), [False, False, variable]])
        return generated_aba(model, mask, self.pinocchio_q(), self.v, self.tau)


def quaternions(tree: TreeMechanism) -> list[int]:
    """Where they begin among the coordinates."""
    ends = np.cumsum([j.coordinates for j in tree.tree.joints])
    return [int(end) - 4 for j, end in zip(tree.tree.joints, ends, strict=True) if j.kind == "spherical"]


def pinocchio_joints(tree: BodyTree) -> list[PinocchioJoint]:
    """The joints that move, bodies on fixed joints joined to what carries them, as Pinocchio's own reader does."""
    carried: dict[int, list[tuple[np.ndarray, np.ndarray, Body]]] = {0: []}
    at = {"": (0, np.eye(3), np.zeros(3))}
    made = []
    for joint, body in zip(tree.joints, tree.bodies, strict=True):
        parent, R, r = at[joint.parent]
        r, R = r + R @ np.array(joint.position), R @ np.reshape(joint.rotation, (3, 3))
        if joint.rates:
            made.append((joint, parent, R, r))
            parent, R, r = len(made), np.eye(3), np.zeros(3)
            carried[parent] = []
        at[body.name] = parent, R, r
        carried[parent].append((R, r, body))
    found = []
    for number, (joint, parent, R, r) in enumerate(made, start=1):
        mass, com, inertia = joined(carried[number])
        axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
        found.append(PinocchioJoint(joint.kind, parent, R, r, axis, mass, com, inertia))
    return found


def joined(bodies: list[tuple[np.ndarray, np.ndarray, Body]]) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, mass centre and inertia about it of bodies that are fixed to each other."""
    masses, places = [b.mass for _, _, b in bodies], [r + R @ np.array(b.com) for R, r, b in bodies]
    com = sum(m * c for m, c in zip(masses, places, strict=True)) / sum(masses)
    inertia = np.zeros((3, 3))
    for (R, _, body), c in zip(bodies, places, strict=True):
        xx, yy, zz, xy, xz, yz = body.inertia
        d = c - com
        inertia += R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T + body.mass * (
            d @ d * np.eye(3) - np.outer(d, d)
        )
    return sum(masses), com, inertia


def evaluations(
    what: str, tree: TreeMechanism, rounds: int, with_generated: bool = False
) -> tuple[dict[str, float], dict[str, int]]:
    """Seconds of one evaluation and numbers of operations; `Pinocchio`: its faster form."""
    case, operations = Case.of(tree), {}
    contenders = {f"engine c, {VARIABLE}": case.engine()}
    forms = case.pinocchio()
    contenders |= forms
    if with_generated:
        contenders[f"engine c, {CONSTANT}"] = case.engine_constant()
        for variant, own in ((VARIABLE, tree), (CONSTANT, case.constant())):
            generated = case.generated(variable=variant == VARIABLE)
            contenders[f"{GENERATED}, {variant}"] = generated.burst, generated.vdot
            operations[f"engine c, {variant}"] = own_operations(own)
            operations[f"{GENERATED}, {variant}"] = generated.operations
    for burst, _ in contenders.values():
        burst(POINTS)
    check_agreement(what, {name: found for name, (_, found) in contenders.items()})
    times = contest({name: burst for name, (burst, _) in contenders.items()}, rounds)
    return {**times, "Pinocchio": min(times[form] for form in forms)}, operations


CONTESTS: tuple[
    tuple[str, Callable[[], TreeMechanism], float, bool], ...
] = (  # at most so many times Pinocchio's time; whether also beside its generated code
    ("arm of 7 degrees of freedom", SphericalArm, 0.3, True),
    ("UR5", lambda: robot("ur5_robot.urdf"), 0.3, True),
    ("Panda", lambda: robot("panda.urdf"), 0.3, True),
)


def report_evaluations(report: Report, rounds: int, progress: Callable[[str], None]) -> None:
    for what, make, limit, with_generated in CONTESTS:
        progress(what)
        tree = make()
        times, operations = evaluations(what, tree, rounds, with_generated)
        own, peer = times[f"engine c, {VARIABLE}"], times["Pinocchio"]
        report.line(f"{what}, engine c", tree.nv, own)
        report.line(f"{what}, Pinocchio", tree.nv, peer, f"{peer / own:.3g} times engine c")
        report.require(
            f"{what}: engine c takes at most {limit:g} of Pinocchio's time: {own / peer:.2f}", own <= limit * peer
        )
        if with_generated:
            report_generated(report, what, tree.nv, times, operations)
        report.section()
    per_body = {}
    for n in (20, 200):
        progress(f"random tree of {n} bodies")
        tree = random_tree(n)
        times, _ = evaluations(f"random tree of {n} bodies", tree, rounds)
        own, peer = times[f"engine c, {VARIABLE}"], times["Pinocchio"]
        per_body[n] = own / tree.nv
        report.line(
            f"random tree of {n} bodies, engine c", tree.nv, own, f"{1e9 * per_body[n]:.0f} ns per degree of freedom"
        )
        report.line(
            f"random tree of {n} bodies, Pinocchio",
            tree.nv,
            peer,
            f"{1e9 * peer / tree.nv:.0f} ns per degree of freedom",
        )
    report.section()
    report.require(
        f"random tree of 200 bodies: engine c takes at most 0.55 of Pinocchio's time: {own / peer:.2f}",
        own <= 0.55 * peer,
    )
    growth = per_body[200] / per_body[20]
    report.require(
        f"engine c's time per degree of freedom with 200 bodies is at most 1.3 times that with 20: {growth:.2f} times",
        growth <= 1.3,
    )


def report_build(report: Report, progress: Callable[[str], None]) -> None:
    progress(f"building the native FMU of {BIG_ROBOT}")
    with tempfile.TemporaryDirectory() as folder:
        file = without_mimic(BIG_ROBOT, folder)
        joints, (seconds, used) = Tree.from_file(file).nv, build_seconds(str(file))
    report.line(f"build of the native FMU of {BIG_ROBOT}", joints, seconds, f"{used:.0f} s of CPU time")
    report.section()
    report.require(
        f"the native FMU of a robot with {joints} driven joints is built in at most 60 s: {seconds:.0f} s",
        seconds <= 60 and joints >= 30,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure compiled trees beside Pinocchio.")
    parser.add_argument("--quick", action="store_true", help="fewer bursts, for a first look")
    parser.add_argument("--build", action="store_true", help="also time the build of the FMU of a robot with 30 joints")
    options = parser.parse_args()
    if not sys.platform.startswith("linux") or not shutil.which("g++"):
        sys.exit("this benchmark needs Linux and g++")
    report = Report("dof", NOTES)
    with status("") as update:
        report_evaluations(report, 30 if options.quick else 300, update)
        if options.build:
            report_build(report, update)
    return report.show()


if __name__ == "__main__":
    sys.exit(main())
