"""The solver of the native FMU, tested as SciPy tests its own: errors in units of the tolerance on problems with known
solutions, orders of convergence, evaluations, the choice of the method, events, and failures without a solution."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from helpers.native_build import Native
from helpers.native_fmi import DISCARD, Fmu, Refused
from helpers.native_solver import (
    ARRIVED,
    AUTOMATIC,
    EVENT,
    EXPLICIT,
    IMPLICIT,
    STEP_TOO_SMALL,
    TOO_MANY_EVALUATIONS,
    CMemory,
    Function,
    Problem,
    Run,
    Solver,
    compiled_solver,
)
from helpers.tolerances import EVENT_AT, NATIVE_GLOBAL_ERROR, ORDER, STIFF, STIFF_ERROR, WORK
from mechfmu import LinkChain

pytest_plugins = ("helpers.native_fixtures",)


@pytest.fixture(scope="module")
def solver(native: Native) -> Solver:
    return compiled_solver(native)


# --- problems with known solutions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """A problem, its solution, and until when it is followed."""

    name: str
    rates: Function
    solution: Callable[[float], np.ndarray]
    end: float

    def problem(self) -> Problem:
        return Problem(self.rates, self.solution(0.0).size)

    def error(self, x: np.ndarray, tolerance: float) -> float:
        """At the end, in units of the tolerance."""
        wanted = self.solution(self.end)
        return float(np.sqrt(np.mean(((x - wanted) / (tolerance * (1 + np.abs(wanted)))) ** 2)))


ECCENTRICITY = 0.6


def kepler(t, x):
    cube = (x[0] * x[0] + x[1] * x[1]) ** 1.5
    return x[2], x[3], -x[0] / cube, -x[1] / cube


def kepler_solution(t: float) -> np.ndarray:
    """From Kepler's equation M = E - e sin E."""
    e, mean = ECCENTRICITY, t % (2 * math.pi)
    anomaly = brentq(lambda a: a - e * math.sin(a) - mean, -1.0, 8.0, xtol=1e-15)
    c, s, r, b = math.cos(anomaly), math.sin(anomaly), 1 - e * math.cos(anomaly), math.sqrt(1 - e * e)
    return np.array([c - e, b * s, -s / r, b * c / r])


MOON = 0.012277471
ARENSTORF = np.array([0.994, 0.0, 0.0, -2.00158510637908252240537862224])  # an orbit around earth and moon that closes
PERIOD = 17.0652165601579625588917206249


def arenstorf(t, s):
    x, y, vx, vy = s
    earth, moon = ((x + MOON) ** 2 + y * y) ** 1.5, ((x - 1 + MOON) ** 2 + y * y) ** 1.5
    return (
        vx,
        vy,
        x + 2 * vy - (1 - MOON) * (x + MOON) / earth - MOON * (x - 1 + MOON) / moon,
        y - 2 * vx - (1 - MOON) * y / earth - MOON * y / moon,
    )


def decay(rate: float) -> Function:
    """Prothero and Robinson: whatever the start, every state soon is cos t, the faster the stiffer."""
    return lambda t, x: [-rate * (value - np.cos(t)) - np.sin(t) for value in x]


OSCILLATOR = Known("oscillator", lambda t, x: (x[1], -x[0]), lambda t: np.array([math.cos(t), -math.sin(t)]), 20.0)
CLOCKED = Known(
    "non-autonomous",
    lambda t, x: (x[0] * np.cos(t), -2 * t * x[1] * x[1]),
    lambda t: np.array([math.exp(math.sin(t)), 1 / (1 + t * t)]),
    10.0,
)
KEPLER = Known("Kepler", kepler, kepler_solution, 20.0)
CLOSED = Known("Arenstorf", arenstorf, lambda t: ARENSTORF, PERIOD)  # known at the start and after a period
DECAY = Known("decay to a cosine", decay(10.0), lambda t: np.array([math.cos(t)]), 10.0)
SMOOTH = (OSCILLATOR, CLOCKED, KEPLER, CLOSED, DECAY)


def named(*problems: Known) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("known", problems, ids=lambda k: k.name)


# --- accuracy and work ------------------------------------------------------------------------------------------------


@named(*SMOOTH)
@pytest.mark.parametrize("method", (EXPLICIT, IMPLICIT, AUTOMATIC), ids=("explicit", "implicit", "automatic"))
@pytest.mark.parametrize("tolerance", (1e-3, 1e-4, 1e-6, 1e-8, 1e-10))
def test_the_error_is_of_the_size_of_the_tolerance(solver: Solver, known: Known, method: int, tolerance: float) -> None:
    run = solver.run(known.problem(), known.solution(0.0), known.end, tolerance, method)
    assert run.outcome == ARRIVED
    assert run.t == known.end
    assert known.error(run.x, tolerance) < NATIVE_GLOBAL_ERROR[known.name]


@named(*SMOOTH)
def test_a_tighter_tolerance_is_more_accurate_and_costs_more(solver: Solver, known: Known) -> None:
    runs = [solver.run(known.problem(), known.solution(0.0), known.end, tolerance) for tolerance in (1e-3, 1e-6, 1e-9)]
    errors = [known.error(run.x, 1.0) for run in runs]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert runs[0].evaluations < runs[1].evaluations < runs[2].evaluations


@named(OSCILLATOR, CLOCKED, KEPLER, CLOSED)
@pytest.mark.parametrize("tolerance", (1e-3, 1e-6, 1e-9, 1e-12))
def test_the_work_is_that_of_scipys_dop853(solver: Solver, known: Known, tolerance: float) -> None:
    run = solver.run(known.problem(), known.solution(0.0), known.end, tolerance)
    scipys = solve_ivp(known.rates, (0.0, known.end), known.solution(0.0), "DOP853", rtol=tolerance, atol=tolerance)
    assert run.evaluations <= WORK * scipys.nfev


def test_a_run_in_many_pieces_remembers_its_step_size(solver: Solver) -> None:
    """Communication steps shorten the solver's own, but do not restart it: first steps of 1e-6 s would need ten times
    as many."""
    problem, memory, x = OSCILLATOR.problem(), CMemory(), OSCILLATOR.solution(0.0)
    for i in range(100):
        x = solver.run(problem, x, (i + 1) * 0.2, 1e-6, t=i * 0.2, memory=memory).x
    assert problem.evaluations < 100 * 14 + 60, (
        "a piece of 0.2 s is one step of 13 evaluations; finding the step size takes a few more"
    )
    assert OSCILLATOR.error(x, 1e-6) < NATIVE_GLOBAL_ERROR["oscillator"]


# --- order ------------------------------------------------------------------------------------------------------------


def errors_of_fixed_steps(
    solver: Solver, known: Known, implicit: bool, end: float, counts: tuple[int, ...]
) -> np.ndarray:
    errors = []
    for count in counts:
        problem, x, h = known.problem(), known.solution(0.0), end / count
        for i in range(count):
            x, _, _ = solver.step(problem, implicit, i * h, h, x)
        errors.append(np.abs(x - known.solution(end)).max())
    return np.array(errors)


def orders(errors: np.ndarray) -> np.ndarray:
    return np.log2(errors[:-1] / errors[1:])


@pytest.mark.parametrize(
    ("known", "end", "counts"),
    ((OSCILLATOR, 20.0, (16, 32, 64)), (CLOCKED, 2.0, (4, 8, 16)), (KEPLER, 1.6, (16, 32, 64))),
    ids=lambda v: getattr(v, "name", ""),
)
def test_the_explicit_method_has_order_8(solver: Solver, known: Known, end: float, counts: tuple[int, ...]) -> None:
    assert orders(errors_of_fixed_steps(solver, known, False, end, counts))[-1] > 8 - ORDER


@pytest.mark.parametrize(
    ("known", "end", "counts"),
    ((OSCILLATOR, 20.0, (32, 64, 128)), (CLOCKED, 2.0, (16, 32, 64)), (KEPLER, 2 * math.pi, (128, 256, 512))),
    ids=lambda v: getattr(v, "name", ""),
)
def test_the_implicit_method_has_order_5(solver: Solver, known: Known, end: float, counts: tuple[int, ...]) -> None:
    """The second problem depends on time, so that the coefficients of df/dt count too."""
    assert orders(errors_of_fixed_steps(solver, known, True, end, counts))[-1] > 5 - ORDER


INSIDE = np.linspace(0.05, 0.95, 19)


@named(OSCILLATOR, CLOCKED, KEPLER)
@pytest.mark.parametrize(
    ("implicit", "order", "sizes"),
    ((False, 7, (0.4, 0.2, 0.1)), (True, 4, (0.1, 0.05, 0.025))),
    ids=("explicit", "implicit"),
)
def test_order_of_the_dense_output(
    solver: Solver, known: Known, implicit: bool, order: int, sizes: tuple[float, ...]
) -> None:
    """The worst error inside one step from an exact point is of one order more than the interpolation."""
    errors, t = [], 1.1
    for h in sizes:
        _, inside, _ = solver.step(known.problem(), implicit, t, h, known.solution(t), list(INSIDE))
        errors.append(
            max(np.abs(x - known.solution(t + theta * h)).max() for theta, x in zip(INSIDE, inside, strict=True))
        )
    assert orders(np.array(errors))[-1] > order + 1 - ORDER


@named(OSCILLATOR, CLOCKED, KEPLER)
@pytest.mark.parametrize("implicit", (False, True), ids=("explicit", "implicit"))
def test_the_dense_output_meets_the_ends_of_the_step(solver: Solver, known: Known, implicit: bool) -> None:
    end, (first, last), _ = solver.step(known.problem(), implicit, 1.1, 0.2, known.solution(1.1), (0.0, 1.0))
    assert first == pytest.approx(known.solution(1.1), abs=1e-15)
    assert last == pytest.approx(end, abs=1e-15)


@named(OSCILLATOR, CLOCKED, KEPLER)
@pytest.mark.parametrize("implicit", (False, True), ids=("explicit", "implicit"))
def test_the_estimate_covers_the_error_of_a_step(solver: Solver, known: Known, implicit: bool) -> None:
    """An estimate that is too small by chance once is a weakness of every method; on the whole it must not be."""
    covered = []
    for t in np.linspace(0.3, 3.0, 28):
        x, _, estimate = solver.step(known.problem(), implicit, t, 0.3, known.solution(t))
        wanted = known.solution(t + 0.3)
        scale = 1 + np.maximum(np.abs(known.solution(t)), np.abs(x))
        covered.append(estimate > np.sqrt(np.mean(((x - wanted) / scale) ** 2)))
    assert np.mean(covered) > 0.8


# --- stiffness --------------------------------------------------------------------------------------------------------


@named(OSCILLATOR, CLOCKED, KEPLER, CLOSED, DECAY)
@pytest.mark.parametrize("tolerance", (1e-3, 1e-6, 1e-9, 1e-12))
def test_problems_that_are_not_stiff_stay_with_the_explicit_method(
    solver: Solver, known: Known, tolerance: float
) -> None:
    run = solver.run(known.problem(), known.solution(0.0), known.end, tolerance)
    assert not run.stiff
    assert run.tangents == 0


@pytest.mark.parametrize("rate", (1e3, 1e4, 1e5, 1e6))
@pytest.mark.parametrize("tolerance", (1e-3, 1e-6))
def test_stiffness_is_noticed_and_does_not_cost(solver: Solver, rate: float, tolerance: float) -> None:
    problem, wanted = Problem(decay(rate), 1), math.cos(10.0)
    run = solver.run(problem, [1.0], 10.0, tolerance)
    assert run.stiff
    assert run.steps < 100, "stability alone would ask the explicit method for 1,600 steps at a rate of 1,000"
    assert abs(run.x[0] - wanted) < NATIVE_GLOBAL_ERROR["decay to a cosine"] * tolerance * (1 + abs(wanted))


def test_the_implicit_method_needs_far_fewer_steps(solver: Solver) -> None:
    runs = {
        method: solver.run(Problem(decay(1e3), 1), [1.0], 10.0, 1e-6, method)
        for method in (EXPLICIT, IMPLICIT, AUTOMATIC)
    }
    assert not runs[EXPLICIT].stiff and runs[EXPLICIT].tangents == 0, "explicit stays explicit"
    assert runs[IMPLICIT].steps * 20 < runs[EXPLICIT].steps
    assert runs[AUTOMATIC].steps * 20 < runs[EXPLICIT].steps
    assert runs[IMPLICIT].tangents <= 2 * runs[IMPLICIT].steps, (
        "one Jacobian of one column and one time derivative for a step"
    )


def van_der_pol(stiffness: float) -> Function:
    return lambda t, x: (x[1], stiffness * ((1 - x[0] * x[0]) * x[1]) - x[0])


def robertson(t, y):
    slow, fast, fastest = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
    return -slow + fast, slow - fast - fastest, fastest


ROBERTSON_AT_40 = np.array([0.7158270687194, 9.185534764558e-6, 0.2841637457458])  # published with many solvers


@pytest.mark.parametrize("method", (IMPLICIT, AUTOMATIC), ids=("implicit", "automatic"))
@pytest.mark.parametrize("tolerance", (1e-4, 1e-6, 1e-8))
def test_van_der_pol_through_a_jump(solver: Solver, method: int, tolerance: float) -> None:
    """Slow for 800 s, then a jump within 10 ms, then slow again; against scipy's Radau."""
    k = 1000.0
    reference = solve_ivp(
        van_der_pol(k), (0.0, 1000.0), [2.0, 0.0], "Radau", rtol=1e-10, atol=1e-10,
        jac=lambda t, x: np.array([[0.0, 1.0], [-2 * k * x[0] * x[1] - 1, k * (1 - x[0] ** 2)]]),
    ).y[:, -1]  # fmt: skip
    run = solver.run(Problem(van_der_pol(k), 2), [2.0, 0.0], 1000.0, tolerance, method)
    assert run.outcome == ARRIVED and run.stiff
    assert run.steps < 600
    assert np.abs((run.x - reference) / (1 + np.abs(reference))).max() < STIFF_ERROR * tolerance


@pytest.mark.parametrize("method", (IMPLICIT, AUTOMATIC), ids=("implicit", "automatic"))
@pytest.mark.parametrize("tolerance", (1e-6, 1e-8, 1e-9))
def test_robertsons_reaction(solver: Solver, method: int, tolerance: float) -> None:
    run = solver.run(Problem(robertson, 3), [1.0, 0.0, 0.0], 40.0, tolerance, method)
    assert run.outcome == ARRIVED and run.stiff
    assert run.steps < 120
    assert np.abs(run.x - ROBERTSON_AT_40).max() < STIFF_ERROR * tolerance


def test_a_stiff_problem_stays_stiff_in_the_next_run(solver: Solver) -> None:
    """Detected once, it is kept from one communication step to the next, unless the explicit method is chosen."""
    memory = CMemory()
    first = solver.run(Problem(decay(1e5), 1), [1.0], 1.0, 1e-6, memory=memory)
    assert first.stiff
    assert solver.run(Problem(decay(1e5), 1), first.x, 1.1, 1e-6, t=1.0, memory=memory).steps < 10
    assert solver.run(OSCILLATOR.problem(), [1.0, 0.0], 1.0, 1e-6, EXPLICIT, memory=memory).tangents == 0


def test_in_short_runs_a_jacobian_costs_more_than_explicit_steps(solver: Solver) -> None:
    """20 states: a Jacobian takes as long as 100 evaluations, and 1 ms needs 2 explicit steps, 100 ms need 164."""
    n, memory, x, t = 20, CMemory(), np.ones(20), 0.0

    def run(seconds: float) -> Run:
        nonlocal x, t
        done = solver.run(Problem(decay(1e4), n), x, t + seconds, 1e-6, t=t, memory=memory)
        x, t = done.x, t + seconds
        return done

    assert all(run(0.001).tangents == 0 for _ in range(50)) and not memory.stiff
    long = run(0.1)
    assert long.tangents > 0 and long.steps < 40
    assert run(0.001).tangents == 0 and run(0.1).tangents > 0, "the choice follows the length of the run"
    assert np.max(np.abs(x - math.cos(t))) < NATIVE_GLOBAL_ERROR["decay to a cosine"] * 1e-6 * 2


# --- events -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", (EXPLICIT, IMPLICIT), ids=("explicit", "implicit"))
@pytest.mark.parametrize("level", (0.9, 0.5, 0.0, -0.3, -0.9, -0.99))
def test_the_time_of_an_event(solver: Solver, method: int, level: float) -> None:
    problem = Problem(OSCILLATOR.rates, 2, lambda t, x: (x[0] - level,), 1)
    run = solver.run(problem, [1.0, 0.0], 20.0, 1e-10, method)
    assert run.outcome == EVENT and run.guard == 0
    assert abs(run.t - math.acos(level)) < EVENT_AT / (1 - level**2) ** 0.5, (
        "the flatter the crossing, the less sharp its time"
    )
    assert run.x == pytest.approx(OSCILLATOR.solution(run.t), abs=1e-8)
    assert run.x[0] <= level, "the guard is negative, so that it cannot cause the event again"


@pytest.mark.parametrize("method", (EXPLICIT, IMPLICIT), ids=("explicit", "implicit"))
@pytest.mark.parametrize("when", (1e-7, 0.001, 1.2345, 7.0, 19.9999))
def test_an_event_at_a_given_time(solver: Solver, method: int, when: float) -> None:
    run = solver.run(Problem(OSCILLATOR.rates, 2, lambda t, x: (when - t,), 1), [1.0, 0.0], 20.0, 1e-10, method)
    assert run.outcome == EVENT
    assert 0 <= run.t - when < EVENT_AT
    assert run.x == pytest.approx(OSCILLATOR.solution(when), abs=1e-8)


@pytest.mark.parametrize("method", (EXPLICIT, IMPLICIT), ids=("explicit", "implicit"))
@pytest.mark.parametrize(("a", "b"), ((1.0, 1.1), (1.1, 1.0), (1.0, 1.0 + 1e-8), (1.0 + 1e-8, 1.0), (2.5, 0.01)))
def test_of_two_guards_in_one_step_the_earlier_wins(solver: Solver, method: int, a: float, b: float) -> None:
    """A loose tolerance makes steps that pass both."""
    run = solver.run(Problem(OSCILLATOR.rates, 2, lambda t, x: (a - t, b - t), 2), [1.0, 0.0], 20.0, 1e-3, method)
    assert run.outcome == EVENT
    assert run.guard == (0 if a < b else 1)
    assert abs(run.t - min(a, b)) < EVENT_AT


def test_a_guard_that_becomes_positive_is_not_an_event(solver: Solver) -> None:
    run = solver.run(Problem(OSCILLATOR.rates, 2, lambda t, x: (t - 5.0,), 1), [1.0, 0.0], 20.0, 1e-6)
    assert run.outcome == ARRIVED and run.t == 20.0


def test_events_do_not_change_the_trajectory(solver: Solver) -> None:
    """Continued after each event, as an instance does; a guard that crosses zero in every period is found in each."""
    memory, t, x, times = CMemory(), 0.0, np.array([1.0, 0.0]), []
    while True:
        run = solver.run(Problem(OSCILLATOR.rates, 2, lambda t, x: (x[0],), 1), x, 20.0, 1e-10, t=t, memory=memory)
        t, x = run.t, run.x
        if run.outcome == ARRIVED:
            break
        times.append(t)
    assert times == pytest.approx([math.pi / 2, 5 * math.pi / 2, 9 * math.pi / 2], abs=EVENT_AT)
    assert x == pytest.approx(OSCILLATOR.solution(20.0), abs=1e-8)


# --- where there is no solution ---------------------------------------------------------------------------------------

METHODS = pytest.mark.parametrize("method", (EXPLICIT, IMPLICIT, AUTOMATIC), ids=("explicit", "implicit", "automatic"))


@METHODS
def test_a_limit_of_evaluations_ends_the_run_where_it_is(solver: Solver, method: int) -> None:
    run = solver.run(OSCILLATOR.problem(), [1.0, 0.0], 1e4, 1e-6, method, evaluation_limit=500)
    assert run.outcome == TOO_MANY_EVALUATIONS and 500 <= run.evaluations + run.tangents <= 512, (
        "the limit is checked between steps"
    )
    assert 0 < run.t < 1e4
    assert run.x == pytest.approx(OSCILLATOR.solution(run.t), abs=1e-4), "t and x belong together"


@METHODS
def test_a_solution_that_runs_to_infinity(solver: Solver, method: int) -> None:
    """x = 1 / (1 - t)"""
    run = solver.run(Problem(lambda t, x: (x[0] * x[0],), 1), [1.0], 3.0, 1e-6, method)
    assert run.outcome == STEP_TOO_SMALL
    assert run.t == pytest.approx(1.0, abs=1e-5)
    assert np.isfinite(run.x).all()


@METHODS
@pytest.mark.parametrize("bad", (math.nan, math.inf, -math.inf))
def test_rates_that_stop_being_finite(solver: Solver, method: int, bad: float) -> None:
    run = solver.run(Problem(lambda t, x: (bad if x[0].real > 2 else 1.0,), 1), [1.0], 3.0, 1e-6, method)
    assert run.outcome == STEP_TOO_SMALL
    assert run.t == pytest.approx(1.0, abs=1e-6) and run.x[0] == pytest.approx(2.0, abs=1e-6)
    assert run.steps < 1000


@METHODS
def test_rates_that_are_not_finite_at_the_start(solver: Solver, method: int) -> None:
    run = solver.run(Problem(lambda t, x: (math.nan,), 1), [1.0], 3.0, 1e-6, method)
    assert run.outcome == STEP_TOO_SMALL
    assert run.t == 0.0 and run.x[0] == 1.0


@METHODS
def test_the_largest_step_is_honoured(solver: Solver, method: int) -> None:
    """With a loose tolerance only max_step keeps the steps small: then the error falls with the order of the method."""
    errors = []
    for h in (0.5, 0.25):
        run = solver.run(OSCILLATOR.problem(), [1.0, 0.0], 20.0, 1e-1, method, max_step=h)
        assert run.steps >= 20 / h
        errors.append(OSCILLATOR.error(run.x, 1.0))
    assert math.log2(errors[0] / errors[1]) > (5 if method == IMPLICIT else 8) - ORDER


@METHODS
@pytest.mark.parametrize("length", (0.0, 1e-300, 1e-17))
def test_a_run_of_no_length(solver: Solver, method: int, length: float) -> None:
    """An event at the very end of a communication step leaves nothing to do after it."""
    run = solver.run(OSCILLATOR.problem(), [1.0, 0.0], 0.5 + length, 1e-6, method, t=0.5, evaluation_limit=10_000)
    assert run.outcome == ARRIVED and run.t == 0.5
    assert list(run.x) == [1.0, 0.0]


def test_nothing_to_integrate(solver: Solver) -> None:
    run = solver.run(Problem(lambda t, x: (), 0), [], 3.0, 1e-6)
    assert run.outcome == ARRIVED and run.t == 3.0


# --- through the FMU --------------------------------------------------------------------------------------------------

METHOD = {"explicit": 1, "implicit": 2, "automatic": 3}
STIFF_START = {
    **{f"joint[{k}].stiffness": 1e6 for k in (2, 3)},
    **{f"joint[{k}].damping": 100.0 for k in (2, 3)},
    **{f"link[{k}].mass": 0.02 for k in (2, 3)},
    **{f"link[{k}].inertia": 2e-4 for k in (2, 3)},
    "joint[1].angle_start": 0.2,
    "joint[1].rate_start": 3.0,
}
ANGLES = [f"joint[{k}].angle" for k in (1, 2, 3)]


@pytest.fixture(scope="module")
def chain(native: Native) -> Fmu:
    return Fmu(LinkChain(links=3), native.binary(LinkChain(links=3)))


def end_of(chain: Fmu, method: str, start: dict[str, float], step: float, count: int) -> np.ndarray:
    instance = chain.open()
    instance.set_integer({"solver.method": METHOD[method]})
    return instance.initialize(start).run([step] * count, ANGLES)[-1]


def test_the_parameter_chooses_the_method(chain: Fmu) -> None:
    """On a smooth motion automatic is explicit to the last bit, and implicit is another method with the same result."""
    start = {"joint[2].stiffness": 5.0}
    ends = {method: end_of(chain, method, start, 0.1, 10) for method in METHOD}
    assert np.array_equal(ends["automatic"], ends["explicit"])
    assert not np.array_equal(ends["implicit"], ends["explicit"])
    assert ends["implicit"] == pytest.approx(ends["explicit"], abs=STIFF)


def test_a_stiff_chain_by_every_method(chain: Fmu) -> None:
    """Microseconds to seconds: implicit and automatic arrive; the explicit method reaches its limit of evaluations in a
    long step, and arrives in short ones."""
    implicit, automatic = (end_of(chain, method, STIFF_START, 1.0, 1) for method in ("implicit", "automatic"))
    assert implicit == pytest.approx(automatic, abs=STIFF)
    with pytest.raises(Refused, match="200000 evaluations of the equations were not enough") as refused:
        end_of(chain, "explicit", STIFF_START, 1.0, 1)
    assert refused.value.status == DISCARD
    short = end_of(chain, "explicit", STIFF_START, 0.001, 20)
    assert short == pytest.approx(end_of(chain, "implicit", STIFF_START, 0.001, 20), abs=STIFF)
