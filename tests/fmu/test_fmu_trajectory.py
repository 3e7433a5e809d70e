"""Results of the FMU: the golden trajectory, its reference result, and the same motion for any communication step."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import casadi
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.build import Build
from helpers.chains import general_parameters
from helpers.fmu_client import Host, Slave
from helpers.paths import GOLDEN_DATA
from helpers.tolerances import (
    CAPPED,
    COMMUNICATION_STEP,
    DEFAULT,
    GOLDEN_ANGLE,
    GOLDEN_RATE,
    IMPORTERS,
    REFERENCE_RESULT,
    SOLVER_SETTING,
    STIFF,
    TIGHT,
    TIGHTEST,
)
from mechfmu import LinkChain
from mechfmu.codegen.recording import ARGUMENTS, recording_of
from mechfmu.simulation.engines import engine

EXAMPLE = json.loads((GOLDEN_DATA / "chain_example_n10.json").read_text())


def test_the_golden_example_over_ten_seconds(fmu: Build, host: Host) -> None:
    """The promise of the project: steps of 10 ms, tolerance 1e-9, within 1e-6 rad of a 128-bit reference."""
    names = [f"joint[{k}].{signal}" for signal in ("angle", "rate") for k in range(1, 11)]
    rows = host.open(fmu(links=10)).initialize(tolerance=TIGHT).run([0.01] * 1000, names)[9::10]
    reference = EXAMPLE["reference"]
    assert np.max(np.abs(rows[:, :10] - reference["q"][1:])) < GOLDEN_ANGLE
    assert np.max(np.abs(rows[:, 10:] - reference["dq"][1:])) < GOLDEN_RATE


def test_the_fmu_and_the_library_move_alike(fmu: Build, host: Host) -> None:
    """With everything switched on, every output; so the FMU tests need not repeat the physics tests."""
    chain = LinkChain(links=3, base="moving")
    start = general_parameters(chain, seed=3)
    inputs = [s.name for s in chain.table.of("input")]
    signals = {name: (lambda t, i=i: 2.0 * np.sin((1 + 0.2 * i) * t + i)) for i, name in enumerate(inputs)}
    wanted = chain.simulate(stop=1, step=0.02, start=start, inputs=signals, tolerance=TIGHT)
    times = wanted.t
    slave = host.open(fmu(links=3, base="moving")).initialize(
        start | {n: float(f(0.0)) for n, f in signals.items()}, TIGHT
    )
    states = [s.name for s in chain.table.of("state")]
    held = {name: [float(f(t)) for t in times[:-1]] for name, f in signals.items()}
    rows = slave.run(np.diff(times).tolist(), states, held)
    for i, name in enumerate(states):
        scale = max(1.0, np.abs(wanted[name]).max())
        assert rows[:, i] == pytest.approx(wanted[name][1:], abs=COMMUNICATION_STEP * scale), name
    slave.set({n: float(f(times[-1])) for n, f in signals.items()})
    outputs = [s.name for s in chain.table.of("output")]
    for name, value in zip(outputs, slave.get(*outputs), strict=True):
        scale = max(1.0, np.abs(wanted[name]).max())
        assert value == pytest.approx(wanted[name][-1], abs=COMMUNICATION_STEP * scale), name


def test_the_reference_result_inside_the_fmu_is_reproduced(fmu: Build, host: Host) -> None:
    file = fmu(links=3)
    with zipfile.ZipFile(file) as archive:
        table = list(csv.reader(io.StringIO(archive.read("documentation/reference_result.csv").decode())))
    names, values = table[0], np.array(table[1:], dtype=float)
    assert names[0] == "time"
    assert values[-1, 0] == 1.0
    assert "tip.x" in names and "joint[3].reaction_y" in names
    slave = host.open(file).initialize(tolerance=TIGHT)
    first = slave.get(*names[1:])
    rows = np.vstack([first, slave.run(np.diff(values[:, 0]).tolist(), names[1:])])
    for i, name in enumerate(names[1:]):
        wanted = values[:, i + 1]
        assert rows[:, i] == pytest.approx(wanted, abs=REFERENCE_RESULT * max(1.0, np.abs(wanted).max())), name


# --- the communication step -------------------------------------------------------------------------------------------

ANGLES = [f"joint[{k}].angle" for k in (1, 2, 3)]
END = 1.998  # s: whole numbers of 1 ms and 37 ms


def end_of(slave: Slave, steps: list[float]) -> np.ndarray:
    assert sum(steps) == pytest.approx(END)
    return slave.run(steps, ANGLES)[-1]


def random_steps(seed: int) -> list[float]:
    """From microseconds to a third of a second."""
    random = np.random.default_rng(seed)
    steps: list[float] = []
    while sum(steps) < END:
        steps.append(float(min(10 ** random.uniform(-6, -0.5), END - sum(steps))))
    return [h for h in steps if h > 1e-12]


def test_the_communication_step_does_not_matter(fmu: Build, host: Host) -> None:
    choices = {
        "1 ms": [0.001] * 1998,
        "10 ms": [0.01] * 199 + [0.008],
        "37 ms": [0.037] * 54,
        "1 s": [1.0, 0.998],
        "random": random_steps(1),
        "random again": random_steps(2),
    }
    start = {"joint[1].angle_start": -0.5, "joint[2].damping": 0.05, "joint[3].stiffness": 2.0, "joint[3].torque": 0.5}
    ends = {
        name: end_of(host.open(fmu(links=3), name).initialize(start, TIGHT), steps) for name, steps in choices.items()
    }
    for name, end in ends.items():
        assert end == pytest.approx(ends["1 ms"], abs=COMMUNICATION_STEP), name
    assert np.abs(ends["1 ms"] - [-0.5, 0, 0]).max() > 0.1


def test_the_default_tolerance_holds_for_any_step_too(fmu: Build, host: Host) -> None:
    """Without a tolerance from the host the parameter rules, 1e-6 by default."""
    reference = end_of(host.open(fmu(links=3), "tight").initialize(tolerance=TIGHTEST), [0.037] * 54)
    for h, count in ((0.037, 54), (0.999, 2)):
        end = end_of(host.open(fmu(links=3), f"{h}").initialize(), [h] * count)
        assert 0 < np.abs(end - reference).max() < DEFAULT


def test_tolerance_of_the_experiment_overrides_the_parameter(fmu: Build, host: Host) -> None:
    def error(name: str, parameter: float, tolerance: float | None) -> float:
        slave = host.open(fmu(links=3), name).initialize({"solver.relative_tolerance": parameter}, tolerance)
        return float(np.abs(end_of(slave, [0.999, 0.999]) - reference).max())

    reference = end_of(host.open(fmu(links=3), "reference").initialize(tolerance=TIGHTEST), [0.999, 0.999])
    assert error("parameter", 1e-10, None) < SOLVER_SETTING < error("loose", 1e-3, None)
    assert error("experiment", 1e-3, 1e-10) < SOLVER_SETTING < error("overridden", 1e-10, 1e-3)


def test_largest_internal_step_is_honoured(fmu: Build, host: Host) -> None:
    """At a very loose tolerance only solver.max_step keeps the solution accurate."""

    def error(max_step: float) -> float:
        slave = host.open(fmu(links=3), f"{max_step}").initialize({"solver.max_step": max_step}, 1e-2)
        return float(np.abs(end_of(slave, [0.111] * 18) - reference).max())

    reference = end_of(host.open(fmu(links=3), "reference").initialize(tolerance=TIGHTEST), [0.111] * 18)
    assert error(2e-3) < CAPPED < error(0.0)


def test_a_time_that_does_not_start_at_zero(fmu: Build, host: Host) -> None:
    """The chain knows no clock: started at 100 s it does the same."""
    late = host.open(fmu(links=3), "late").initialize(t=100.0, tolerance=TIGHT)
    assert late.discarded()[0] == 100.0
    early = host.open(fmu(links=3), "early").initialize(tolerance=TIGHT)
    assert late.run([0.05] * 10, ANGLES) == pytest.approx(early.run([0.05] * 10, ANGLES), abs=COMMUNICATION_STEP)
    assert late.discarded()[0] == pytest.approx(100.5, abs=IMPORTERS)


def test_a_host_whose_clock_is_off_by_rounding(fmu: Build, host: Host) -> None:
    """Masters add up time in different ways; a difference of 3e-12 s must neither stop nor shift the simulation."""
    slave = host.open(fmu(links=3)).initialize(tolerance=TIGHT)
    for i in range(50):
        slave.call("doStep", i * 0.01 + (3e-12 if i % 2 else -3e-12 * (i > 0)), 0.01)
    exact = host.open(fmu(links=3), "exact").initialize(tolerance=TIGHT)
    assert slave.get(*ANGLES) == pytest.approx(exact.run([0.01] * 50, ANGLES)[-1].tolist(), abs=COMMUNICATION_STEP)


# --- stiffness --------------------------------------------------------------------------------------------------------

STIFF_START = {
    **{f"joint[{k}].stiffness": 1e6 for k in (2, 3)},
    **{f"joint[{k}].damping": 100.0 for k in (2, 3)},
    **{f"link[{k}].mass": 0.02 for k in (2, 3)},
    **{f"link[{k}].inertia": 2e-4 for k in (2, 3)},
    "joint[1].angle_start": 0.2,
    "joint[1].rate_start": 3.0,
    "joint[2].rest_angle": 0.3,
    "joint[3].angle_start": -0.1,
    "tip.force_y": -5.0,
}


def reference_of(chain: LinkChain, start: dict[str, float], times: list[float]) -> np.ndarray:
    """Angles at the given times by an implicit method, with an exact Jacobian and a tolerance far below the FMU's."""
    t, x, d, u, p = chain.start(start)
    graphs, run = recording_of(chain), engine("casadi", chain)
    arguments = [graphs.symbols[a] for a in ARGUMENTS]
    jacobian = casadi.Function("J", arguments, [casadi.jacobian(graphs.rates.call(arguments)[0], graphs.symbols["x"])])
    rates, slopes = lambda s, y: run.rates(s, y, d, u, p), lambda s, y: np.array(jacobian(s, y, d, u, p))
    solution = solve_ivp(rates, (t, times[-1]), x, "Radau", times, rtol=1e-9, atol=1e-9, jac=slopes)
    assert solution.success
    return solution.y[chain.table.x.part("q")].T


@pytest.mark.parametrize(("h", "until"), ((0.001, 0.05), (0.1, 1.0)))
def test_a_stiff_chain_runs_and_agrees_with_a_tight_reference(fmu: Build, host: Host, h: float, until: float) -> None:
    """Springs of 1e6 N.m/rad between rods of 20 g on a swinging rod: time constants from microseconds to seconds."""
    times = [until * i / 10 for i in range(1, 11)]
    wanted = reference_of(LinkChain(links=3), STIFF_START, times)
    count = round(until / h)
    rows = host.open(fmu(links=3)).initialize(STIFF_START).run([h] * count, ANGLES)[count // 10 - 1 :: count // 10]
    assert rows == pytest.approx(wanted, abs=STIFF)
