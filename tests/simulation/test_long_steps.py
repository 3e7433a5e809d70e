"""Steps of the native solver that span several short communication steps: as accurate as without, fewer evaluations,
and forgotten when anything changes in between."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from helpers.native_build import Native
from helpers.native_fmi import Component, Fmu, integers, reals, references
from helpers.native_solver import ARRIVED, EVENT, CMemory, Problem, Run, Solver, compiled_solver
from helpers.tolerances import EVENT_AT, LONG_STEP
from mechfmu import LinkChain

pytest_plugins = ("helpers.native_fixtures",)

STEP, TOLERANCE = 0.01, 1e-6


@pytest.fixture(scope="module")
def solver(native: Native) -> Solver:
    return compiled_solver(native)


@dataclass
class Host:
    """Makes communication steps, with long steps or without."""

    solver: Solver
    problem: Problem
    x: np.ndarray
    long: bool = True

    def __post_init__(self) -> None:
        self.t, self.memory = 0.0, CMemory()
        self.long_step: Any = self.solver.long_step_of(self.problem.n) if self.long else None

    def step(self, h: float = STEP, max_step: float = 0.0) -> Run:
        run = self.solver.run(
            self.problem,
            self.x,
            self.t + h,
            TOLERANCE,
            t=self.t,
            max_step=max_step,
            memory=self.memory,
            long_step=self.long_step,
        )
        self.t, self.x = run.t, run.x
        return run

    def inside(self) -> bool:
        """Whether a long step goes on beyond the present time."""
        return bool(self.memory.long_h > 0 and self.t < self.memory.long_t + self.memory.long_h - STEP / 2)

    def go_inside(self) -> None:
        for _ in range(1000):
            self.step()
            if self.inside():
                return
        raise AssertionError("no long step was made")


def oscillator(t: float, x: Any) -> Any:
    return x[1], -x[0]


def exact(t: float) -> np.ndarray:
    return np.array([math.cos(t), -math.sin(t)])


def steps_of(host: Host, count: int) -> Iterator[float]:
    """The errors at the ends of communication steps, in units of the tolerance."""
    for _ in range(count):
        assert host.step().outcome == ARRIVED
        yield float(np.max(np.abs(host.x - exact(host.t)))) / TOLERANCE


def test_the_state_between_the_ends_is_as_accurate_and_costs_a_fraction(solver: Solver) -> None:
    long, short = (Host(solver, Problem(oscillator, 2), exact(0.0), how) for how in (True, False))
    assert max(steps_of(long, 1000)) < LONG_STEP
    assert max(steps_of(short, 1000)) < LONG_STEP
    assert long.problem.evaluations < short.problem.evaluations / 10
    assert short.memory.long_h == 0


def test_steps_of_changing_sizes(solver: Solver) -> None:
    """Larger ones than a fifth of the long step end it."""
    host, random = Host(solver, Problem(oscillator, 2), exact(0.0)), np.random.default_rng(1)
    seen = set()
    for _ in range(500):
        host.step(float(random.choice([0.003, 0.01, 0.011, 0.3])))
        seen.add(host.inside())
        assert np.max(np.abs(host.x - exact(host.t))) < LONG_STEP * TOLERANCE
    assert seen == {True, False}


def test_a_change_acts_from_the_time_at_which_it_is_made(solver: Solver) -> None:
    """The load of an oscillator changes inside a long step."""
    load = 0.0
    host = Host(solver, Problem(lambda t, x: (x[1], load - x[0]), 2), exact(0.0))
    host.go_inside()
    changed, load, host.memory.unchanged_for = host.t, 1.0, 0.0
    for _ in range(200):
        host.step()
        since = host.t - changed
        loaded = exact(host.t) + np.array([1 - math.cos(since), math.sin(since)])
        assert host.x == pytest.approx(loaded, abs=LONG_STEP * TOLERANCE)


def test_frequent_changes_cost_nothing(solver: Solver) -> None:
    """A long step is not tried before as many steps have passed without a change."""
    evaluations = []
    for long in (True, False):
        host = Host(solver, Problem(oscillator, 2), exact(0.0), long)
        for i in range(400):
            if i % 5 == 0:
                host.memory.unchanged_for = 0.0
            host.step()
        evaluations.append(host.problem.evaluations)
    assert evaluations[0] == evaluations[1]


@pytest.mark.parametrize("level", (0.9, 0.5, 0.1, -0.3, -0.9))
def test_an_event_inside_is_located_as_without(solver: Solver, level: float) -> None:
    found = []
    for long in (True, False):
        host = Host(solver, Problem(oscillator, 2, lambda t, x: (x[0] - level,), 1), exact(0.0), long)
        inside = False
        while (run := host.step()).outcome == ARRIVED:
            inside = host.inside()
            assert host.x[0] > level
        assert run.outcome == EVENT and run.guard == 0 and inside == long
        assert run.t == pytest.approx(math.acos(level), abs=LONG_STEP * TOLERANCE / (1 - level**2) ** 0.5 + EVENT_AT)
        assert run.x[0] <= level and host.memory.unchanged_for == 0.0
        found.append(run.t)
    assert found[0] == pytest.approx(found[1], abs=3 * LONG_STEP * TOLERANCE)


def test_what_comes_after_the_event_does_not_matter(solver: Solver) -> None:
    """Beyond a zero crossing the equations may be anything."""
    wild = Problem(lambda t, x: (x[1], -x[0] if t < 0.987 else math.nan), 2, lambda t, x: (0.986 - t,), 1)
    host = Host(solver, wild, exact(0.0))
    while (run := host.step(0.002)).outcome == ARRIVED:
        assert host.x == pytest.approx(exact(host.t), abs=LONG_STEP * TOLERANCE)
    assert run.outcome == EVENT and run.t == pytest.approx(0.986, abs=EVENT_AT)


def test_a_failure_beyond_the_communication_step_is_not_one(solver: Solver) -> None:
    host = Host(solver, Problem(lambda t, x: (1.0 if x[0].real < 2 else math.nan,), 1), np.zeros(1))
    for _ in range(199):
        assert host.step().outcome == ARRIVED
    assert host.x == pytest.approx(1.99, abs=TOLERANCE)


def test_the_largest_step_limits_long_ones(solver: Solver) -> None:
    times: list[float] = []

    def rates(t: float, x: Any) -> Any:
        times.append(t.real)
        return oscillator(t, x)

    host = Host(solver, Problem(rates, 2), exact(0.0))
    for _ in range(100):
        times.clear()
        host.step(max_step=0.06)
        assert max(times, default=0.0) <= host.t + 0.06
    assert host.memory.long_h == pytest.approx(0.06)


# --- through the FMU --------------------------------------------------------------------------------------------------

OUTPUTS = ["joint[1].angle", "joint[2].rate", "joint[2].acceleration", "tip.x", "energy.total"]
START = {"joint[1].angle_start": 0.4, "joint[2].rate_start": 1.5}
COUNT = 40


@pytest.fixture(scope="module")
def chain(native: Native) -> Fmu:
    return Fmu(LinkChain(links=3), native.binary(LinkChain(links=3)))


def kept(instance: Component) -> bytes:
    """The long step in the state of the instance: eight vectors at its end."""
    return instance.bytes()[-64 * instance.fmu.mechanism.table.x.size :]


def inside_long_step(chain: Fmu) -> Component:
    """Two communication steps after a long step of at least five has begun."""
    instance = chain.open().initialize(START, TOLERANCE)
    for _ in range(100):
        before = kept(instance)
        instance.step(0.001)
        if kept(instance) != before:
            instance.step(0.001)
            return instance
    raise AssertionError("no long step was made")


def test_a_state_saved_inside_repeats_the_same_bits(chain: Fmu) -> None:
    instance, other = inside_long_step(chain), chain.open().initialize()
    state, t = instance.bytes(), instance.t
    once = instance.run([0.001] * COUNT, OUTPUTS)
    end = instance.bytes()
    for again in (instance, other):
        again.restore(state)
        again.t = t
        assert np.array_equal(again.run([0.001] * COUNT, OUTPUTS), once)
        assert again.bytes() == end


def test_an_older_state_brings_its_long_step_along(chain: Fmu) -> None:
    instance = inside_long_step(chain)
    state, t = instance.bytes(), instance.t
    once = instance.run([0.001] * 3, OUTPUTS)
    instance.set({"joint[1].torque": 5.0})
    instance.run([0.01] * 20, OUTPUTS)
    instance.restore(state)
    instance.t = t
    assert np.array_equal(instance.run([0.001] * 3, OUTPUTS), once)


def test_what_is_read_inside_changes_nothing(chain: Fmu) -> None:
    """Derivatives are computed there on demand; restoring the present state forgets them."""
    rows = []
    for read in (True, False):
        instance = inside_long_step(chain)
        for _ in range(COUNT):
            instance.step(0.001)
            if read:
                instance.get(*OUTPUTS)
                instance.directional(["joint[1].acceleration"], {"joint[1].torque": 1.0})
                instance.restore(instance.bytes())
        rows.append(instance.get(*OUTPUTS))
    assert np.array_equal(*rows)


@pytest.mark.parametrize("how", ("value", "ramp"))
def test_an_input_acts_from_the_time_at_which_it_is_set(chain: Fmu, how: str) -> None:
    """As in a run whose solver begins anew there, with a tight tolerance."""
    long, rows = inside_long_step(chain), []
    tight = chain.open().initialize(START, 1e-11)
    tight.step(long.t)
    for instance in (long, tight):
        if how == "value":
            instance.set({"joint[1].torque": 2.0})
        else:
            (torque,) = instance.refs(["joint[1].torque"])
            instance.do("fmi2SetRealInputDerivatives", references([torque]), 1, integers([1]), reals([100.0]))
        rows.append(instance.run([0.001] * COUNT, OUTPUTS))
    assert rows[0] == pytest.approx(rows[1], abs=LONG_STEP * TOLERANCE)


def test_reset_forgets_the_long_step(chain: Fmu) -> None:
    instance, fresh = inside_long_step(chain), chain.open()
    instance.do("fmi2Reset")
    assert instance.bytes() == fresh.bytes()


def test_results_do_not_depend_on_the_stop_time(chain: Fmu) -> None:
    """To the last bit, as those of batches, which have none."""
    rows = []
    for defined in (0, 1):
        instance = chain.open()
        instance.set(START)
        instance.do("fmi2SetupExperiment", 1, TOLERANCE, 0.0, defined, 0.2)
        instance.do("fmi2EnterInitializationMode")
        instance.do("fmi2ExitInitializationMode")
        rows.append(instance.run([0.002] * 100, OUTPUTS))
    assert np.array_equal(*rows)


def test_derivatives_of_zero_change_nothing(chain: Fmu) -> None:
    rows = []
    for derivatives in (False, True):
        instance = inside_long_step(chain)
        if derivatives:
            (torque,) = instance.refs(["joint[1].torque"])
            instance.do("fmi2SetRealInputDerivatives", references([torque]), 1, integers([1]), reals([0.0]))
        rows.append(instance.run([0.001] * COUNT, OUTPUTS))
    assert np.array_equal(*rows)
