"""D11 and D12: simulations, compared with each other and with a reference result."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ..findings import Finding, Plot, rule
from .compare import worst_difference
from .instance import (
    INITIALIZATION,
    ONLY_ONE,
    CallFailed,
    EndlessEventIteration,
    FmuInstance,
    NotJudged,
    SimulationTerminated,
)
from .integration import EULER, METHODS, ExchangeRun, SolverFailed
from .model import ModelVariable, Value
from .recorded import RecordedInputs
from .runs import run_steps
from .session import Session
from .snapshots import close

# differences as fractions of a signal's range
CONVERGED = 2e-3  # smaller differences come from the solver's tolerance
CS_VERSUS_ME = 5e-2  # mean over time: a coarse solver in the FMU against a fine one in the checker
CS_UNEXPLAINED = 5e-3  # mean over time: a difference that a coarse solver does not explain
EXPLAINED = 0.6  # share of the difference that remains when that of a solver of first order is taken away
MOST_COARSE = 1.5  # communication steps: the longest step of a solver in the FMU
AGREE = 2e-3  # mean over time: two Model Exchange runs, as far as a model allows a comparison

ABSOLUTE_TOLERANCES = 10  # multiples of the tolerance: forces and accelerations are less accurate than states
CONVERGENCE_FACTOR = 0.8  # halving the step must reduce the difference at least by this factor
REFERENCE_TOLERANCE = 1e-8  # for runs against a reference: the model is checked, not its default tolerance
SINGLE = 0.02  # share of the samples that may be wrong, one at a time
COMPARED = 200  # communication steps of a comparison
TINY_SPAN, TINY_DIVISIONS = 4, (10, 100)  # communication steps; parts into which each is divided
MOVED = 1e-4  # of a signal's size: a change that cannot be overlooked
RUN_SECONDS = 6.0  # of processor time for one run
JUMP = 1e-9  # relative: a smaller change of an input is rounding
FINE, COARSE = 1e-8, 1e-6  # tolerances of Model Exchange runs

Rows = list[list[float]]
FAILURES = (CallFailed, SimulationTerminated, EndlessEventIteration, NotJudged)  # of a run


def _co_simulation(
    s: Session,
    steps: Sequence[float],
    signals: Sequence[ModelVariable],
    inputs: RecordedInputs | None = None,
    tolerance: float | None = None,
) -> Rows:
    """A Co-Simulation run. Raises CallFailed if a call fails, SimulationTerminated if the FMU ends it."""
    before, s.kind = s.kind, "CoSimulation"
    instance = s.new_instance()
    instance.tolerance = tolerance or instance.tolerance
    try:
        rows = run_steps(_initialized(instance, inputs), steps, signals, inputs)
        return [[float(v) for v in row] for row in rows]
    finally:
        instance.free()
        s.kind = before


def _model_exchange(
    s: Session,
    times: Sequence[float],
    signals: Sequence[ModelVariable],
    tolerance: float,
    inputs: RecordedInputs | None = None,
    euler: float = 0.0,
    seconds: float = RUN_SECONDS,
) -> Rows:
    """A Model Exchange run with the first solver that gets through, in so many seconds of processor time. Raises one of
    FAILURES otherwise. Inputs jump at the given times only. `euler`: the step of Euler's method, which is then the only
    solver."""
    before, s.kind = s.kind, "ModelExchange"
    try:
        reason = SolverFailed()
        for method in (EULER,) if euler else METHODS:
            rows: Rows = []
            instance = _initialized(s.new_instance(), inputs)
            run = ExchangeRun(instance, tolerance, method, out_of_time=s.limit(0.8, seconds))
            run.largest_step = euler or run.largest_step
            try:
                for segment in _segments(times, inputs):
                    if inputs:
                        _set_inputs(instance, inputs(segment[0]))
                        run.inputs = inputs.continuous_until(segment[-1])
                    run.run(segment, lambda t, i=instance, r=rows: r.append(i.numbers(signals)))  # type: ignore[misc]
                    if inputs and segment[-1] != times[-1]:
                        rows.pop()  # it is read again with the next inputs
                return rows
            except SolverFailed as error:
                reason = error
            finally:
                instance.free()
        raise reason
    finally:
        s.kind = before


def _or_none(run: Callable[..., Rows], *arguments: Any, **options: Any) -> Rows | None:
    """The result of a run; None if it fails, which other rules look at."""
    try:
        return run(*arguments, **options)
    except FAILURES as error:
        if str(error) == ONLY_ONE:
            raise
        return None


def _initialized(instance: FmuInstance, inputs: RecordedInputs | None) -> FmuInstance:
    """The instance, initialized with the inputs at its start time."""
    if inputs:
        instance.go_to(INITIALIZATION).set(inputs(instance.t))
    return instance.enter_run_state()


def _set_inputs(instance: FmuInstance, values: dict[ModelVariable, Value]) -> None:
    """Inputs that jump are set in event mode."""
    present = instance.get(list(values))
    if any(not close(x, values[v], JUMP, JUMP * v.scale) for v, x in zip(values, present, strict=True)):
        instance.enter_event_mode()
        instance.set(values)
        instance.iterate_events()


def _segments(times: Sequence[float], inputs: RecordedInputs | None) -> list[list[float]]:
    """Stretches in which the inputs are continuous."""
    jumps = inputs.jumps if inputs else []
    cuts = [i for i, t in enumerate(times[1:-1], start=1) if inputs and inputs.among(t, jumps)]
    return [list(times[a : b + 1]) for a, b in itertools.pairwise([0, *cuts, len(times) - 1])]


@rule("D11", "convergence, Co-Simulation against Model Exchange", "4.1, 4.2", kinds=("CoSimulation",))
def convergence(s: Session) -> Iterator[Finding]:
    """The result converges with smaller communication steps, where they may vary, and tiny steps are not lost;
    Co-Simulation and Model Exchange of one FMU give the same result, as far as the model allows a comparison and a
    coarse solver does not explain the difference."""
    signals = s.model.signals
    if not signals:
        return
    if s.attempt("tiny steps"):
        yield from _tiny_steps(s, [v for v in signals if v.variability == "continuous"])
    derivatives = {d.index for d in s.model.derivatives}  # less accurate than states, and they jump at events
    others = [v for v in signals if v.index not in derivatives]
    if others and s.attempt("smaller steps"):
        yield from _smaller_steps(s, others)
    if others and "ModelExchange" in s.model.interfaces and s.attempt("against Model Exchange"):
        yield from _against_model_exchange(s, others)


def _tiny_steps(s: Session, signals: list[ModelVariable]) -> Iterator[Finding]:
    """Many tiny steps move what a few steps move."""
    h = s.model.step_size
    usual = _or_none(_co_simulation, s, [h] * TINY_SPAN, signals)
    for division in TINY_DIVISIONS:
        steps = [h / division] * (TINY_SPAN * division)
        tiny = _or_none(_co_simulation, s, steps, signals) if usual else None
        if tiny is None or usual is None or s.time_used(0.3):
            return
        for column, v in enumerate(signals):
            first, last = usual[0][column], usual[-1][column]
            moved = abs(last - first) > MOVED * max(abs(first), abs(last), v.scale)
            if moved and all(row[column] == tiny[0][column] for row in tiny):
                problem = f"{TINY_SPAN * division} steps of {h / division:g} s do not change it"
                wanted = f"{last:.6g} instead of {first:.6g}, as after {TINY_SPAN} steps of {h:g} s"
                yield v.finding(problem, wanted, sentence="integrate-exactly", cause="tiny steps")


def _smaller_steps(s: Session, signals: list[ModelVariable]) -> Iterator[Finding]:
    """Runs with three step sizes. Inputs are constant, since they are held over a step and would depend on its size."""
    h = s.model.step_size
    span = min(COMPARED * h, s.model.stop_time - s.model.start_time)
    count = max(1, int(span / h + 1e-9))
    runs = []
    for division in (1, 2, 4):
        rows = _or_none(_co_simulation, s, [h / division] * (count * division), signals)
        if rows is None or s.time_used(0.5):
            return
        runs.append(rows[::division])
    yield from _not_converged(s, signals, runs, h)


def _not_converged(s: Session, signals: list[ModelVariable], runs: list[Rows], h: float) -> Iterator[Finding]:
    """The signals that do not converge. A sampled system may depend on its sampling, so this is no error."""
    tolerance = ABSOLUTE_TOLERANCES * (s.model.tolerance or 0.0)
    for column, v in enumerate(signals):
        if v.variability != "continuous":
            continue
        a, b, c = ([[row[column]] for row in rows] for rows in runs)
        first, second = worst_difference(a, b, mean=True), worst_difference(b, c, mean=True)
        if second is None or second.relative <= CONVERGED or second.absolute <= tolerance:
            continue
        if first is not None and second.absolute <= CONVERGENCE_FACTOR * first.absolute:
            continue
        t = tuple(s.model.start_time + i * h for i in range(len(a)))
        lines = {f"step {h / d:g} s": tuple(r[0] for r in rows) for d, rows in ((1, a), (2, b), (4, c))}
        change = first.absolute if first else 0.0
        problem = f"half the step changes it by {change:.3g}, a quarter by {second.absolute:.3g} more"
        yield v.finding(problem, "decreasing changes", plot=Plot(v.name, t, lines), cause="convergence")


def _against_model_exchange(s: Session, signals: list[ModelVariable]) -> Iterator[Finding]:
    """Compared until two Model Exchange runs with different tolerances part: a chaotic model cannot be compared longer,
    and where they do not agree at all, nothing is judged."""
    h, start = s.model.step_size, s.model.start_time
    span = s.model.stop_time - start
    count = max(1, math.floor(span / h + 1e-9))
    stride = math.ceil(count / COMPARED)
    times = [start + i * stride * h for i in range(count // stride + 1)]
    fine, coarse = (_or_none(_model_exchange, s, times, signals, tolerance) for tolerance in (FINE, COARSE))
    if fine is None or coarse is None:
        return s.not_judged("Co-Simulation was not compared with Model Exchange, since no solver gets through")
    cs = _or_none(_co_simulation, s, [h] * (stride * (len(times) - 1)), signals, tolerance=COARSE)
    if cs is None:
        return None
    cs = cs[::stride]
    end = _comparable(fine, coarse)
    worst = worst_difference(cs[:end], fine[:end], mean=True)
    if worst is None or not worst.relative > CS_UNEXPLAINED:
        return None
    if not math.isfinite(worst.relative):
        return s.not_judged(f"{signals[worst.column].name} is not finite, a finding of D13")
    if not s.model.step_declared:
        return s.not_judged("no step size is declared, and the one that was chosen may be too large for Co-Simulation")
    if worst.relative <= CS_VERSUS_ME:
        simple = _or_none(_model_exchange, s, times, signals, COARSE, euler=h)
        if simple is None or _explained(cs[:end], fine[:end], simple[:end]):
            return None
    v = signals[worst.column]
    lines = {"Co-Simulation": _column(cs, worst.column), "Model Exchange": _column(fine, worst.column)}
    difference = f"{worst.absolute:.3g} on average, {worst.relative:.1%} of its range"
    problem = f"Co-Simulation and Model Exchange differ by {difference}"
    plot = Plot(v.name, tuple(times), lines)
    yield v.finding(problem, "the same result", plot=plot, cause="both kinds")
    return None


def _explained(cs: Rows, fine: Rows, simple: Rows) -> bool:
    """Whether the error of a solver of first order explains the difference: it is the one of Euler's method with the
    communication step, multiplied by some factor."""
    import numpy as np

    true, found, euler = (np.array(rows) for rows in (fine, cs, simple))
    size = np.maximum(np.ptp(true, axis=0), 1e-3 * np.abs(true).max(axis=0)) + 1e-6
    error, pattern = np.clip((found - true) / size, -1, 1), np.clip((euler - true) / size, -1, 1)
    if float(np.median(np.abs(error), axis=0).max()) <= CS_UNEXPLAINED:
        return True  # jumps at slightly different times
    square = float((pattern * pattern).sum())
    factor = min(MOST_COARSE, max(-MOST_COARSE, float((error * pattern).sum()) / square)) if square else 0.0
    return float(np.abs(error - factor * pattern).sum()) <= EXPLAINED * float(np.abs(error).sum())


def _comparable(fine: Rows, coarse: Rows) -> int:
    """The number of rows up to which two runs agree."""
    end = len(fine)
    while end > 1:
        worst = worst_difference(fine[:end], coarse[:end], mean=True)
        if worst is None or worst.relative <= AGREE:
            return end
        end = end * 3 // 4
    return end


def _column(rows: Rows, column: int) -> tuple[float, ...]:
    return tuple(row[column] for row in rows)


@rule("D12", "the reference result", "2.3")
def reference_result(s: Session) -> Iterator[Finding]:
    """A simulation with the default start values reproduces the reference result inside the FMU, or the one given by
    --ref and --in: a CSV file with the time and variables of the FMU."""
    reference = s.model.reference
    if reference is None:
        return
    by_name = {v.name: v for v in s.model.variables}
    signals = [by_name[name] for name in reference["signals"]]
    t: list[float] = reference["t"]
    inputs = RecordedInputs(reference["inputs"], by_name) if reference["inputs"] else None
    times, compared = t, set(t)
    if inputs and s.kind == "ModelExchange":
        times = inputs.merged(t, inputs.jumps)
    elif inputs and s.model.flag(s.kind, "canHandleVariableCommunicationStepSize"):
        times = inputs.merged(t, inputs.steps)
    if s.kind == "CoSimulation":
        steps = [b - a for a, b in itertools.pairwise(times)]
        run = partial(_co_simulation, s, steps, signals, inputs, REFERENCE_TOLERANCE)
    else:
        run = partial(_model_exchange, s, times, signals, REFERENCE_TOLERANCE, inputs, seconds=s.seconds)
    try:
        rows = [row for time, row in zip(times, run(), strict=True) if time in compared]
    except FAILURES as error:
        return s.not_judged(f"the reference result was not reached: {str(error) or error.__doc__}")
    tolerance = reference.get("tolerance", 1e-2)
    for column, v in enumerate(signals):
        yield from _compare_signal(s, v, t, _column(rows, column), reference, tolerance)
    return None


def _compare_signal(
    s: Session, v: ModelVariable, t: list[float], found: Sequence[float], reference: dict, tolerance: float
) -> Iterator[Finding]:
    """One signal against the reference. A jump may be one sample earlier or later; values that are not Real must be
    the same."""
    expected: list[float] = reference["signals"][v.name]
    size = max(max(expected) - min(expected), 1e-2 * max(abs(x) for x in expected), 1e-4)
    gaps = []
    for i, x in enumerate(found):
        near = expected[max(0, i - 1) : i + 2]
        gap = max(min(near) - x, x - max(near), 0.0) / size
        gaps.append(gap if math.isfinite(gap) else math.inf)
    largest, mean = max(gaps), sum(gaps) / len(gaps)
    allowed = tolerance if v.type == "Real" else 0.0
    wrong = [gap > allowed for gap in gaps]
    # a single wrong sample is an event that falls on this very time
    passed = not any(a and b for a, b in itertools.pairwise(wrong)) and sum(wrong) <= SINGLE * len(wrong)
    row = dict(signal=v.name, kind=s.kind, largest=largest, mean=mean, tolerance=allowed, passed=passed)
    if "tolerance" in reference:  # given by the user
        s.report(table={k: (str(x) if x == math.inf else x) for k, x in row.items()})
    if not passed:
        i = wrong.index(True)
        plot = Plot(v.name, tuple(t), {"reference": tuple(expected), "this FMU": tuple(found)})
        problem, wanted = f"it is {found[i]:.6g} at t = {t[i]:g}", f"{expected[i]:.6g}, as in {reference['file']}"
        yield v.finding(problem, wanted, plot=plot, cause="reference")
