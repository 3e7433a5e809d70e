"""Time of one evaluation of the chain's accelerations: mechfmu's engines, Pinocchio and MuJoCo, in one run.

    python benchmarks/forward_dynamics.py [--links 10 100 1000] [--quick]

Only ratios are printed: they travel from machine to machine better than microseconds do. Every contender gets the same
chain in the same random state, and figures are shown only when all of them computed the same accelerations. The exit
status is 1 when they did not, or when one of the requirements at the end is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechfmu.cli.progress import Reporter
from mechfmu.console import Console, Styled, TextTable
from mechfmu.mechanisms.link_chain.model import LinkChain
from mechfmu.simulation import engines

AGREEMENT = 1e-8  # relative to the largest acceleration; rounding alone gives up to 1e-9 (MuJoCo, 1000 links)
PINOCCHIO_LINKS_AT_MOST = 300  # its Data holds tensors of n^3 numbers: 32 GB at n = 1000

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)  # read when NumPy is loaded

Accelerate = Callable[[], np.ndarray]  # evaluates the one state it was made for

console = Console()


class Unavailable(Exception):
    """Why a contender does not take part; printed as a footnote."""


@dataclass(frozen=True)
class Case:
    """A chain and the state it is evaluated in: n rods of the example (0.1 m, 1 kg), moved and driven at random.

    The chain is coiled, not straight, because the mass matrix of a straight chain of a thousand links is so badly
    conditioned that MuJoCo's factorisation leaves only five digits to compare.
    """

    chain: LinkChain
    q: np.ndarray
    dq: np.ndarray
    tau: np.ndarray

    @staticmethod
    def of(n: int) -> Case:
        random = np.random.default_rng(n)
        return Case(
            LinkChain(links=n, length=0.1 * n, mass=1.0 * n),
            np.full(n, 0.6),
            random.normal(0, 1, n),
            random.normal(0, 1, n),
        )


# --- the contenders: each turns a case into a call without arguments --------------------------------------------------


def mechfmu_engine(name: str) -> Callable[[Case], Accelerate]:
    def make(case: Case) -> Accelerate:
        table = case.chain.table
        t, x, d, u, p = case.chain.start()
        x[table.x.part("q")], x[table.x.part("dq")], u[table.u.part("tau")] = case.q, case.dq, case.tau
        evaluator, part = engines.engine(name, case.chain), table.x.part("dq")
        return lambda: evaluator.rates(t, x, d, u, p)[part]

    return make


def pinocchio(case: Case) -> Accelerate:
    n = case.chain.links
    if n > PINOCCHIO_LINKS_AT_MOST:
        raise Unavailable(
            f"Pinocchio's Data object holds tensors of n^3 numbers, {4 * 8 * n**3 / 1e9:.0f} GB at n = {n}"
        )
    try:
        import pinocchio as pin
    except ImportError:
        raise Unavailable("Pinocchio is not installed (pip install pin)") from None
    p = case.chain.table.p(case.chain.start()[4])
    model = pin.Model()
    model.gravity.linear = np.array([0.0, -p.gravity, 0.0])
    parent = 0
    for k in range(n):
        place = pin.SE3(np.eye(3), np.array([p.l[k - 1] if k else 0.0, 0.0, 0.0]))
        parent = model.addJoint(parent, pin.JointModelRZ(), place, f"joint{k}")
        model.appendBodyToJoint(
            parent, pin.Inertia(p.m[k], np.array([p.lc[k], 0.0, 0.0]), p.J[k] * np.eye(3)), pin.SE3.Identity()
        )
    data = model.createData()
    return lambda: pin.aba(model, data, case.q, case.dq, case.tau)


def mujoco(case: Case) -> Accelerate:
    try:
        import mujoco as mj
    except ImportError:
        raise Unavailable("MuJoCo is not installed (pip install mujoco)") from None
    p = case.chain.table.p(case.chain.start()[4])
    spec = mj.MjSpec()  # and not XML, whose reader refuses a thousand nested bodies
    spec.option.gravity = [0.0, -p.gravity, 0.0]
    body = spec.worldbody
    for k in range(case.chain.links):
        body = body.add_body(
            pos=[p.l[k - 1] if k else 0.0, 0.0, 0.0],
            mass=p.m[k],
            ipos=[p.lc[k], 0.0, 0.0],
            inertia=[p.J[k]] * 3,
            explicitinertial=True,
        )
        body.add_joint(type=mj.mjtJoint.mjJNT_HINGE, axis=[0.0, 0.0, 1.0])
    model = spec.compile()
    data = mj.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = case.q, case.dq, case.tau

    def accelerate() -> np.ndarray:
        mj.mj_forward(model, data)
        return data.qacc

    return accelerate


CONTENDERS: dict[str, Callable[[Case], Accelerate]] = {
    **{name: mechfmu_engine(name) for name in engines.NAMES},
    "Pinocchio": pinocchio,
    "MuJoCo": mujoco,
}
REFERENCE = "casadi"

NOTES = (
    "CPU time of one thread, best of several bursts: an engine's rates(), Pinocchio's aba, MuJoCo's mj_forward, each "
    "called from Python. The call alone costs microseconds, which weighs on the fast ones at n = 10.",
    "The chain's equations are planar. Pinocchio and MuJoCo are general and carry full spatial data; mj_forward "
    "computes more than accelerations and factorises the mass matrix, which for a chain is cubic in n. The ratios "
    "show the price of generality, not quality.",
)


# --- measuring --------------------------------------------------------------------------------------------------------


def best_time(call: Callable[[], Any], bursts: int, burst: float) -> float:
    """CPU seconds of one call: the best of several bursts, each of about `burst` seconds but at least one call.

    The best, because everything else that runs on the machine can only make a burst slower.
    """
    began = time.thread_time()
    call()
    count = max(1, math.ceil(burst / max(time.thread_time() - began, 1e-7)))
    best = math.inf
    for _ in range(bursts):
        began = time.thread_time()
        for _ in range(count):
            call()
        best = min(best, (time.thread_time() - began) / count)
    return best


def measure(links: Sequence[int], bursts: int, burst: float) -> tuple[dict[tuple[str, int], float], list[str]]:
    """Times by contender and number of links, and reasons for missing ones. SystemExit if the contenders disagree."""
    times: dict[tuple[str, int], float] = {}
    reasons: list[str] = []
    with Reporter().status("") as update:
        for n in links:
            case = Case.of(n)
            calls: dict[str, Accelerate] = {}
            for name, make in CONTENDERS.items():
                update(f"{n} links: preparing {name}")
                try:
                    calls[name] = make(case)
                except Unavailable as reason:
                    reasons.append(str(reason))
                except (
                    Exception
                ) as error:  # an engine that cannot do this size or needs a tool must not end the others' run
                    if name == REFERENCE:
                        raise
                    reasons.append(f"{name} at n = {n}: {error}")
            update(f"{n} links: comparing the accelerations")
            check_agreement(n, {name: np.array(call()) for name, call in calls.items()})
            for name, call in calls.items():
                update(f"{n} links: timing {name}")
                times[name, n] = best_time(call, bursts, burst)
    return times, list(dict.fromkeys(reasons))


def check_agreement(n: int, accelerations: dict[str, np.ndarray]) -> None:
    right = accelerations[REFERENCE]
    for name, found in accelerations.items():
        difference = float(np.max(np.abs(found - right)) / np.max(np.abs(right)))
        if not difference <= AGREEMENT:  # written so that NaN is refused
            sys.exit(
                f"no figures: at n = {n} {name} and {REFERENCE} differ by {difference:.1e} of the largest acceleration "
                f"(allowed: {AGREEMENT:g})"
            )
    worst = max(float(np.max(np.abs(a - right)) / np.max(np.abs(right))) for a in accelerations.values())
    console.print(f"{n} links: {', '.join(accelerations)} agree to {worst:.0e}")


# --- showing ----------------------------------------------------------------------------------------------------------


def ratio(a: float | None, b: float | None, digits: int = 3) -> str:
    return "-" if a is None or b is None else f"{a / b:#.{digits}g}".rstrip(".")


def show(times: dict[tuple[str, int], float], links: Sequence[int], reasons: Sequence[str]) -> None:
    titles = (
        "time over\ncasadi's",
        "time over\nPinocchio's",
        f"time per body\nover n = {links[0]}",
        "time per body\nover n before",
    )
    table = TextTable("links\nn", "contender", *titles, right=(0, 2, 3, 4, 5))
    for i, n in enumerate(links):
        table.add_rule()
        for name in CONTENDERS:
            own = times.get((name, n))
            per_body = None if own is None else own / n
            first, before = (None if (t := times.get((name, m))) is None else t / m for m in (links[0], links[i - 1]))
            table.add_row(
                str(n),
                name,
                ratio(own, times.get((REFERENCE, n))),
                ratio(own, times.get(("Pinocchio", n))),
                ratio(per_body, first) if i else "1",
                ratio(per_body, before) if i else "",
            )
    console.print_table(table)
    for note in (*NOTES, *(f"No figure: {reason}." for reason in reasons)):
        console.print_wrapped(Styled(note, "dim"))


def requirements(times: dict[tuple[str, int], float]) -> list[tuple[str, bool]]:
    """What must hold; those whose sizes were not measured are left out."""
    found = []
    if {("numpy", 10), ("casadi", 10)} <= times.keys():
        faster = times["numpy", 10] / times["casadi", 10]
        found.append((f"casadi is at least 40 times faster than numpy at n = 10: {faster:.0f} times", faster >= 40))
    if {("casadi", 100), ("casadi", 1000)} <= times.keys():
        growth = times["casadi", 1000] / times["casadi", 100] / 10
        found.append(
            (
                f"casadi's time per body at n = 1000 is at most 1.4 times that at n = 100: {growth:.2f} times",
                growth <= 1.4,
            )
        )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare the speed of mechfmu's engines with Pinocchio and MuJoCo.")
    parser.add_argument(
        "--links",
        type=int,
        nargs="+",
        default=[10, 100, 1000],
        metavar="N",
        help="numbers of links (default: 10 100 1000)",
    )
    parser.add_argument("--quick", action="store_true", help="fewer and shorter bursts, for a first look")
    options = parser.parse_args(arguments)
    links = sorted(set(options.links))
    if links[0] < 1:
        parser.error("a chain has at least one link")
    bursts, burst = (3, 0.02) if options.quick else (15, 0.05)
    times, reasons = measure(links, bursts, burst)
    show(times, links, reasons)
    found = requirements(times)
    for text, holds in found:
        console.print(Styled(f"{'PASS' if holds else 'FAIL'}  {text}", "green" if holds else "red"))
    return 0 if all(holds for _, holds in found) else 1


if __name__ == "__main__":
    if not ONE_THREAD.keys() <= os.environ.keys():  # measure in a process in which everybody has one thread
        sys.exit(subprocess.call([sys.executable, __file__, *sys.argv[1:]], env=os.environ | ONE_THREAD))
    sys.exit(main())
