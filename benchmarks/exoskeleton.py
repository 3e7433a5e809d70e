"""Speed of the exoskeleton in compiled loops: O(n) recursion, matrices and Pinocchio, and a step with contact.

    python benchmarks/exoskeleton.py [--quick]

For Linux with g++; needs `pip install ".[native,bench]"`. All contenders get the same random states, and figures are
shown only when all computed the same accelerations. The exit status is 1 when they did not, or when one of the
requirements at the end is missed.
"""

from __future__ import annotations

import os

# one thread for everybody; read when NumPy is imported
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import ctypes
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from loops import (
    Burst,
    PinocchioJoint,
    PinocchioModel,
    Report,
    check_agreement,
    compiled_loop,
    contest,
    engine_bursts,
    pinocchio_bursts,
    pointer,
    status,
)

from mechfmu import Exoskeleton
from mechfmu.codegen.compiler import host_platform
from mechfmu.codegen.sources import fmu_source
from mechfmu.mechanisms.exoskeleton.topology import Limbs

POINTS = 8  # random states of each size, visited in turn
SIZES = {3: Limbs(1, 1, 1), 6: Limbs(2, 2, 2), 9: Limbs(3, 3, 3), 30: Limbs(10, 10, 10), 120: Limbs(40, 40, 40)}
STEP, STEPS, TOLERANCE = 0.001, 1000, 1e-6  # a second in steps of a millisecond

NOTES = (
    "CPU time of one thread, the fastest tenth of many short bursts; the bursts of compared contenders alternate.",
    "Engine c keeps all parameters variable, computes the springs and dampers of links and hinges and the energy "
    "balance as well, and decides for every link whether its length is free or locked. The dense form is hand-written "
    "C: mass matrix and force, Cholesky, two triangular solves.",
    "Pinocchio's aba runs on the rigid tree with the lengths of the state: two sliding joints for the hip and a hinge "
    "for each link. The faster of its two forms counts. Its code is the one inside its own library and takes any "
    "model.",
    "The step with contact is the mean over a drop from 5 cm and what follows in a second: 0.1 s in flight, then "
    "mostly on both feet.",
)


def model(limbs: Limbs) -> Exoskeleton:
    return Exoskeleton(leg1=limbs.k, leg2=limbs.p, body=limbs.r, contact="flight")


def states(m: Exoskeleton, locked: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random x, u, and p; only link moments and actuators act."""
    random, n = np.random.default_rng(m.limbs.n), m.limbs.n
    _, x, _, u, p = m.start({f"link[{i}].locked": 1 for i in range(1, n + 1)} if locked else {})
    table = m.table
    x, u = np.tile(x, (POINTS, 1)), np.tile(u, (POINTS, 1))
    for symbol, spread in (("phi", 0.3), ("w", 2.0), ("vx", 1.0), ("vy", 1.0)):
        part = table.x.part(symbol)
        x[:, part] += random.uniform(-spread, spread, (POINTS, part.stop - part.start))
    length = table.x.part("l")
    x[:, length] *= random.uniform(0.98, 1.02, (POINTS, n))
    if not locked:
        x[:, table.x.part("ld")] = random.uniform(-0.2, 0.2, (POINTS, n))
    for symbol in ("M", "MH", "Fa"):
        part = table.u.part(symbol)
        u[:, part] = random.uniform(-50, 50, (POINTS, part.stop - part.start))
    return x, u, p


def link_moments(m: Exoskeleton, u: np.ndarray) -> np.ndarray:
    """tau of every link at every point."""
    limbs, found = m.limbs, []
    for row in u:
        U = m.table.u(row)
        M = np.insert(U.M, limbs.k + limbs.p, 0.0)
        M[list(limbs.shanks)] = 0.0  # nothing to stand on
        found.append(limbs.moments(M, U.MH))
    return np.array(found)


def accelerations_of(m: Exoskeleton, rates: np.ndarray) -> np.ndarray:
    """(q'', l'') in the rates that engine c leaves; a view."""
    at = m.table.x
    return np.hstack([rates[:, at.part(symbol)] for symbol in ("vx", "vy", "w", "ld")])


# --- the matrices -----------------------------------------------------------------------------------------------------


def dense_burst(m: Exoskeleton, x: np.ndarray, u: np.ndarray, p: np.ndarray) -> tuple[Burst, np.ndarray]:
    limbs, n, P, at = m.limbs, m.limbs.n, m.table.p(p), m.table.x
    c = limbs.c(P.n)
    mu, nu = P.m * c, P.m * c**2
    branch, rank = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    for number, links in enumerate(limbs.branches):
        for place, i in enumerate(links):
            branch[i], rank[i] = number, place
            beyond = sum(P.m[j] for j in links[place + 1 :])
            mu[i] += beyond
            nu[i] += beyond
    links_data = np.concatenate([limbs.sigma, P.m, mu, nu, P.I0, P.ja, P.k, P.l0, P.d])
    points = np.ascontiguousarray(np.hstack([x[:, at.part(s)] for s in ("x", "y", "phi", "l", "vx", "vy", "w", "ld")]))
    loads = np.ascontiguousarray(np.hstack([link_moments(m, u), u[:, m.table.u.part("Fa")]]))
    A, trig, out = np.zeros((2 * n + 2, 2 * n + 2)), np.zeros(2 * n), np.zeros((POINTS, 2 * n + 2))
    loop = compiled_loop("exoskeleton_dense.c", "-lm")
    loop.dense_burst.restype = ctypes.c_double
    kept = [branch, rank, links_data, points, loads, A, trig, out]

    def burst(count: int) -> float:
        pointers = [pointer(a) for a in kept]
        sizes = [ctypes.c_size_t(size) for size in (n, POINTS, count)]
        model = [sizes[0], *pointers[:3], ctypes.c_double(P.gravity)]
        return float(loop.dense_burst(*model, sizes[1], *pointers[3:], sizes[2]))

    return burst, out


def report_forms(report: Report, rounds: int, progress: Callable[[str], None]) -> None:
    for n, limbs in SIZES.items():
        progress(f"accelerations of {n} links")
        m = model(limbs)
        x, u, p = states(m, locked=False)
        bursts, rates = engine_bursts(m, x, u, p)
        dense, out = dense_burst(m, x, u, p)
        bursts["engine c"](POINTS)
        dense(POINTS)
        check_agreement(f"{n} links", {"engine c": accelerations_of(m, rates), "matrices": out})
        found = contest({"recursion": bursts["engine c"], "matrices": dense}, rounds)
        ratio = found["matrices"] / found["recursion"]
        report.line("accelerations, O(n) recursion, engine c", n, found["recursion"])
        report.line("accelerations, matrices and Cholesky", n, found["matrices"], f"{ratio:.3g} times the recursion")
        report.require(
            f"the recursion is not slower than the matrices at n = {n}: they take {ratio:.3g} times as long", ratio >= 1
        )
    report.section()


# --- the rigid tree ---------------------------------------------------------------------------------------------------


def rigid_tree(m: Exoskeleton, l: np.ndarray, P: np.ndarray) -> tuple[list[PinocchioJoint], list[tuple[int, ...]]]:
    """Joints with links of lengths l, and for every link the links from the hip to it (itself last)."""
    limbs, P = m.limbs, m.table.p(P)
    ex, ey, ez, unit, nothing = np.eye(3)[0], np.eye(3)[1], np.eye(3)[2], np.eye(3), np.zeros((3, 3))
    joints = [
        PinocchioJoint("prismatic", 0, unit, np.zeros(3), ex, 0.0, np.zeros(3), nothing),
        PinocchioJoint("prismatic", 1, unit, np.zeros(3), ey, 0.0, np.zeros(3), nothing),
    ]
    paths: list[tuple[int, ...]] = []
    c = limbs.c(P.n)
    for branch in limbs.branches:
        parent, place, path = 2, np.zeros(3), ()
        for i in branch:
            reach = limbs.sigma[i] * l[i] * ex
            joints.append(PinocchioJoint("revolute", parent, unit, place, ez, P.m[i], c[i] * reach, P.I0[i] * unit))
            parent, place, path = len(joints), reach, (*path, i)
            paths.append(path)
    return joints, paths


def report_pinocchio(report: Report, rounds: int, progress: Callable[[str], None]) -> None:
    progress("the rigid tree")
    m = model(SIZES[6])
    x, u, p = states(m, locked=True)
    at = m.table.x
    x[:, at.part("l")] = x[0, at.part("l")]  # one rigid tree
    joints, paths = rigid_tree(m, x[0, at.part("l")], p)
    phi, w, tau = x[:, at.part("phi")], x[:, at.part("w")], link_moments(m, u)

    def relative(absolute: np.ndarray) -> np.ndarray:
        return np.stack(
            [absolute[:, path[-1]] - (absolute[:, path[-2]] if len(path) > 1 else 0.0) for path in paths], axis=1
        )

    # a moment in a hinge turns everything beyond it
    hinge = np.stack([sum(tau[:, other[-1]] for other in paths if path[-1] in other) for path in paths], axis=1)
    q = np.hstack([x[:, at.part("x")], x[:, at.part("y")], relative(phi)])
    v = np.hstack([x[:, at.part("vx")], x[:, at.part("vy")], relative(w)])
    force = np.hstack([np.zeros((POINTS, 2)), hinge])
    rigid = PinocchioModel(joints, (0.0, -m.table.p(p).gravity, 0.0))
    peers = pinocchio_bursts(rigid, *map(np.ascontiguousarray, (q, v, force)))
    bursts, rates = engine_bursts(m, x, u, p)
    for burst in (bursts["engine c"], *(peer for peer, _ in peers.values())):
        burst(POINTS)
    found = {"engine c": accelerations_of(m, rates)[:, :8]}
    for name, (_, vdot) in peers.items():
        absolute = vdot.copy()
        for path in paths:
            absolute[:, 2 + path[-1]] = sum(vdot[:, 2 + paths.index(path[: k + 1])] for k in range(len(path)))
        found[name] = absolute
    check_agreement("the 6-link model with locked lengths", found)
    times = contest({"engine c": bursts["engine c"]} | {name: burst for name, (burst, _) in peers.items()}, rounds)
    best = min(times[name] for name in peers)
    ratio = times["engine c"] / best
    report.line("accelerations, all lengths locked, engine c", 6, times["engine c"])
    for name in peers:
        report.line(f"the rigid tree, {name}", 6, times[name], f"{times[name] / times['engine c']:.3g} times engine c")
    report.section()
    report.require(
        f"engine c with locked lengths is not slower than Pinocchio's aba: {ratio:.2f} of its time (aim: 0.5)",
        ratio <= 1,
    )


# --- a step with contact ----------------------------------------------------------------------------------------------


def report_contact(report: Report, rounds: int, progress: Callable[[str], None]) -> None:
    springs = {
        f"hip.{what}[{b}]": value
        for b, rest in ((1, -0.25), (2, 0.25))
        for what, value in (("stiffness", 600.0), ("damping", 40.0), ("rest_angle", rest))
    }
    for m in (Exoskeleton.three_link(), Exoskeleton.six_link()):
        n = m.limbs.n
        knees = (
            {
                f"link[{i}].hinge_{what}": value
                for i in (2, 3, 6)
                for what, value in (("stiffness", 400.0), ("damping", 20.0))
            }
            if n == 6
            else {}
        )
        progress(f"steps of the FMU of {n} links")
        with tempfile.TemporaryDirectory() as folder:
            (fmu,) = m.build(folder, kind="native", start=springs | knees)
            with zipfile.ZipFile(fmu) as archive:
                archive.extractall(folder)
            guid = re.search(r'guid="([^"]+)"', (Path(folder) / "modelDescription.xml").read_text(encoding="utf-8"))
            assert guid is not None
            (binary,) = (Path(folder) / "binaries" / host_platform()).iterdir()
            loop = compiled_loop("fmu_host.c", "-I", str(fmu_source("fmi")))
            loop.host_open.restype, loop.host_steps.restype = ctypes.c_void_p, ctypes.c_double
            texts = str(binary).encode(), guid[1].encode()
            host = ctypes.c_void_p(loop.host_open(*texts, ctypes.c_double(TOLERANCE)))
            if not host:
                sys.exit("the FMU did not start")

            def steps(_: int, host: ctypes.c_void_p = host, loop: ctypes.CDLL = loop) -> float:
                seconds = loop.host_steps(host, ctypes.c_double(STEP), ctypes.c_size_t(STEPS))
                if seconds < 0:
                    sys.exit("a step failed")
                return float(seconds) / STEPS

            one = contest({"step": steps}, max(5, rounds // 5))["step"]
        report.line("1 ms step with contact, native FMU", n, one, f"{STEP / one:.0f} times real time")
        report.require(
            f"a step of 1 ms with contact is over 200 times faster than real time, {n} links: {STEP / one:.0f} times",
            STEP / one >= 200,
        )
    report.section()


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the exoskeleton in compiled loops.")
    parser.add_argument("--quick", action="store_true", help="fewer bursts, for a first look")
    options = parser.parse_args()
    if not sys.platform.startswith("linux") or not shutil.which("g++"):
        sys.exit("this benchmark needs Linux and g++")
    rounds = 30 if options.quick else 300
    report = Report("links", NOTES)
    with status("") as update:
        report_forms(report, rounds, update)
        report_pinocchio(report, rounds, update)
        report_contact(report, rounds, update)
    return report.show()


if __name__ == "__main__":
    sys.exit(main())
