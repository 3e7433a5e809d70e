"""Speed of the wheeled cart:   python benchmarks/cart.py [--seconds S]

Three native FMUs (plant, controller, scenario) in closed loop with a step of 10 ms: in the embedded master, with the
share of the time spent outside the FMUs, and in libcosim. Then one evaluation of the equations: engines, and the
guidance field for many scenarios at a time. One run, one thread.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from mechfmu import CartController, Scenario, WheeledCart
from mechfmu.console import Console, Styled, TextTable
from mechfmu.control.guidance import Guidance, Obstacle, Target, safe_field
from mechfmu.cosim.master import started
from mechfmu.cosim.system import System, joined
from mechfmu.fmu.build import build
from mechfmu.mechanisms.scenario.variables import OBSTACLES, TARGET
from mechfmu.model import Mechanism, UserError
from mechfmu.simulation.engines import engine
from mechfmu.simulation.slaves import LocalSlave

STEP, PROMISED = 0.01, 50.0
console = Console()


def figure2(folder: Path, seconds: float) -> System:
    """The three FMUs, wired by equal names."""
    files = {}
    for name, mechanism in {"cart": WheeledCart(), "control": CartController(), "world": Scenario()}.items():
        (files[name],) = build(mechanism, folder / name)
    bare = System("figure2", files)
    return System(
        "figure2",
        files,
        joined(bare, "cart", "control") | joined(bare, "world", "control"),
        {"control.guidance.influence": 0.25},
        seconds,
        STEP,
    )


class FmuTimer:
    """Counts the time spent in FMU functions: doStep, get and set, of all FMUs of the embedded master."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            before = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds += time.perf_counter() - before

        return call

    def installed(self) -> Any:
        """A context in which new slaves are timed."""
        reader, writer = LocalSlave.reader, LocalSlave.writer
        return patch.multiple(
            LocalSlave,
            step=self.timed(LocalSlave.step),
            reader=lambda *arguments: self.timed(reader(*arguments)),
            writer=lambda *arguments: self.timed(writer(*arguments)),
        )


def embedded(system: System, watched: bool) -> tuple[float, float, np.ndarray]:
    """Seconds of the steps (not of loading), seconds inside the FMUs, and the last position."""
    timer = FmuTimer()
    with timer.installed() if watched else nullcontext(), started(system, False, {}) as master:
        timer.seconds = 0.0
        before = time.perf_counter()
        result, _ = master.fixed_steps(lambda t: None, can_roll_back=False)
        seconds = time.perf_counter() - before
    return seconds, timer.seconds, np.array([result["cart.pose.x"][-1], result["cart.pose.y"][-1]])


def evaluation(mechanism: Mechanism, name: str) -> float:
    """Microseconds for one evaluation of rates and outputs."""
    e, arguments = engine(name, mechanism), mechanism.start()
    best = np.inf
    for _ in range(5):
        count, before = 0, time.perf_counter()
        while time.perf_counter() - before < 0.05:
            e.rates(*arguments)
            e.outputs(*arguments)
            count += 1
        best = min(best, (time.perf_counter() - before) / count)
    return best * 1e6


def field(n: int) -> float:
    """Microseconds per scenario for the guidance field, n scenarios at a time."""
    x, y = np.random.default_rng(0).uniform(-5, 5, (2, n))
    target, obstacles = (
        Target(*(v * np.ones(n) for v in TARGET)),
        [Obstacle(*(v * np.ones(n) for v in o)) for o in OBSTACLES],
    )
    best = np.inf
    for _ in range(20):
        before = time.perf_counter()
        safe_field(x, y, target, obstacles, Guidance(0.8, 0.6, 0.5, 0.05, 0.1, 1.0))
        best = min(best, time.perf_counter() - before)
    return best / n * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="simulated time")
    seconds = parser.parse_args().seconds
    table = TextTable("closed loop, three native FMUs, 10 ms", "times real time", "time over the embedded master")
    with tempfile.TemporaryDirectory() as folder:
        system = figure2(Path(folder), seconds)
        plain, _, end = min((embedded(system, False) for _ in range(3)), key=lambda found: found[0])
        table.add_row("embedded master, all outputs recorded", f"{seconds / plain:.0f}", "1.00")
        try:
            before = time.perf_counter()
            other = system.simulate(master="libcosim")
            took = time.perf_counter() - before
            gap = np.hypot(other["cart.pose.x"][-1] - end[0], other["cart.pose.y"][-1] - end[1])
            table.add_row(
                f"libcosim, loading included (ends {gap:.0e} m beside)", f"{seconds / took:.0f}", f"{took / plain:.2f}"
            )
        except UserError as error:
            table.add_row(f"libcosim: {error}", "-", "-")
        watched, inside, _ = min((embedded(system, True) for _ in range(3)), key=lambda found: found[0])
    console.print_table(table)
    console.print(f"share of the time outside the FMUs: {100 * (1 - inside / watched):.0f} %")
    table = TextTable(
        "one evaluation of rates and outputs", *(f"{name} over c" for name in ("numpy", "casadi")), "c [us]"
    )
    for mechanism in (WheeledCart(), CartController()):
        numbers = {name: evaluation(mechanism, name) for name in ("numpy", "casadi", "c")}
        table.add_row(
            repr(mechanism),
            f"{numbers['numpy'] / numbers['c']:.0f}",
            f"{numbers['casadi'] / numbers['c']:.1f}",
            f"{numbers['c']:.1f}",
        )
    console.print_table(table)
    one, many = field(1), field(1000)
    console.print(f"guidance field: one scenario costs {one / many:.0f} times as much alone as among 1000")
    if not seconds / plain >= PROMISED:
        text = f"FAILED  the closed loop runs {seconds / plain:.0f} times real time, {PROMISED:g} are promised"
        console.print(Styled(text, "red"))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
