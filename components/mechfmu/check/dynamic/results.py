"""D11 and D12: simulations, compared with each other and with the FMU's reference result."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator

from ..findings import Finding, Plot, rule
from .compare import worst_difference
from .experiments import accepted_excitation
from .instance import CallFailed, Excitation, SimulationTerminated
from .model import ModelVariable
from .session import Session

# differences as fractions of a signal's range
CONVERGED = 2e-3  # smaller differences come from the solver's tolerance
CS_VERSUS_ME = 2e-2  # mean over time: a coarse solver in the FMU against a fine one in the checker
REFERENCE = 1e-2
FINE_RUN = 1e-3  # mean over time, between two Model Exchange runs

ABSOLUTE_TOLERANCES = 10  # multiples of the tolerance: forces and accelerations are less accurate than states
REFERENCE_TOLERANCE = 1e-8  # for runs against a reference: the model is checked, not its default tolerance
CONVERGENCE_FACTOR = 0.8  # halving the step must reduce the difference at least by this factor
SUBSTEPS = (4, 8, 16, 64)  # of the Model Exchange integration, tried until two runs agree


def _run(
    s: Session,
    kind: str,
    steps: list[float],
    signals: list[ModelVariable],
    excitation: Excitation | None = None,
    substeps: int = 1,
    tolerance: float | None = None,
) -> list[list[float]] | None:
    """A simulation; None if a call fails or the FMU terminates it."""
    before, s.kind = s.kind, kind
    instance = s.new_instance()
    instance.tolerance = tolerance or instance.tolerance
    try:
        rows = instance.enter_run_state().run(steps, signals, excitation, substeps)
        return [[float(v) for v in row] for row in rows]
    except (CallFailed, SimulationTerminated):
        return None
    finally:
        instance.free()
        s.kind = before


def fine_run(
    s: Session, steps: list[float], signals: list[ModelVariable], excitation: Excitation | None = None
) -> list[list[float]] | None:
    """A Model Exchange run with so many substeps that more of them do not change the result; None if there is none."""
    previous = None
    for substeps in SUBSTEPS:
        rows = _run(s, "ModelExchange", steps, signals, excitation, substeps)
        if rows is None or s.time_used(0.8):
            return None
        if previous is not None:
            worst = worst_difference(previous, rows, mean=True)
            if worst is None or worst.relative < FINE_RUN:
                return rows
        previous = rows
    return None


@rule("D11", "convergence, Co-Simulation against Model Exchange", "4.1, 4.2", kinds=("CoSimulation",))
def convergence(s: Session) -> Iterator[Finding]:
    """The result converges with smaller communication steps; Co-Simulation and Model Exchange of one FMU give the same
    result."""
    signals = s.model.signals
    if not signals:
        return
    if s.attempt("smaller steps"):
        yield from _smaller_steps(s, signals)
    if "ModelExchange" in s.model.interfaces and s.attempt("against Model Exchange"):
        yield from _against_model_exchange(s, signals)


def _smaller_steps(s: Session, signals: list[ModelVariable]) -> Iterator[Finding]:
    """Runs with three step sizes. Inputs are constant, since they are held over a step and would depend on its size."""
    h = s.model.step_size
    span = min(40 * h, s.model.stop_time - s.model.start_time)
    coarse = max(1, int(span / (4 * h) + 1e-9))
    runs = []
    for division in (1, 2, 4):
        rows = _run(s, "CoSimulation", [4 * h / division] * (coarse * division), signals)
        if rows is not None:
            runs.append(rows[::division])
    if len(runs) == 3:
        yield from _not_converged(s, signals, runs, 4 * h)


def _not_converged(
    s: Session, signals: list[ModelVariable], runs: list[list[list[float]]], h: float
) -> Iterator[Finding]:
    """The first signal that does not converge."""
    tolerance = ABSOLUTE_TOLERANCES * (s.model.tolerance or 0.0)
    for column, v in enumerate(signals):
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
        yield Finding(v.where, problem, "decreasing changes", line=v.line, plot=Plot(v.name, t, lines))
        return


def _against_model_exchange(s: Session, signals: list[ModelVariable]) -> Iterator[Finding]:
    steps = s.steps(50)
    excitation = accepted_excitation(s)
    cs = _run(s, "CoSimulation", steps, signals, excitation)
    me = fine_run(s, steps, signals, excitation)
    if cs is None or me is None:
        return  # the checker's integration is not accurate enough for this model
    worst = worst_difference(cs, me, mean=True)
    if worst and not worst.relative <= CS_VERSUS_ME:
        v = signals[worst.column]
        lines = {"Co-Simulation": _column(cs, worst.column), "Model Exchange": _column(me, worst.column)}
        difference = f"{worst.absolute:.3g} on average, {worst.relative:.0%} of its range"
        problem = f"Co-Simulation and Model Exchange differ by {difference}"
        plot = Plot(v.name, _times(s, steps), lines)
        yield Finding(v.where, problem, "the same result", line=v.line, plot=plot)


def _times(s: Session, steps: list[float]) -> tuple[float, ...]:
    return tuple(s.model.start_time + sum(steps[:i]) for i in range(len(steps) + 1))


def _column(rows: list[list[float]], column: int) -> tuple[float, ...]:
    return tuple(row[column] for row in rows)


@rule("D12", "the reference result inside the FMU", "2.3")
def reference_result(s: Session) -> Iterator[Finding]:
    """A simulation with the default start values reproduces the FMU's reference result, a CSV file with the time and
    variables of the FMU."""
    reference = s.model.reference
    if reference is None:
        return
    by_name = {v.name: v for v in s.model.variables}
    signals = [by_name[name] for name in reference["signals"]]
    t: list[float] = reference["t"]
    steps = [b - a for a, b in itertools.pairwise(t)]
    excitation = _recorded(reference["inputs"], by_name) if reference["inputs"] else None
    if s.kind == "CoSimulation":
        rows = _run(s, "CoSimulation", steps, signals, excitation, tolerance=REFERENCE_TOLERANCE)
    else:
        rows = fine_run(s, steps, signals, excitation)
    if rows is None:
        return
    for column, v in enumerate(signals):
        expected = reference["signals"][v.name]
        found = _column(rows, column)
        allowed = REFERENCE * max(max(expected) - min(expected), 1e-2 * max(abs(x) for x in expected), 1e-4)
        for i, x in enumerate(found):
            neighbours = expected[max(0, i - 1) : i + 2]  # a jump may be one sample earlier or later
            if not min(neighbours) - allowed <= x <= max(neighbours) + allowed:
                plot = Plot(v.name, tuple(t), {"reference": tuple(expected), "this FMU": found})
                problem, wanted = f"it is {x:.6g} at t = {t[i]:g}", f"{expected[i]:.6g}, as in {reference['file']}"
                yield Finding(v.where, problem, wanted, line=v.line, plot=plot)
                break


def _recorded(inputs: dict[str, list[float]], by_name: dict[str, ModelVariable]) -> Excitation:
    """Inputs from a file, constant between its samples."""
    times = inputs["time"]

    def values(t: float) -> dict[ModelVariable, float]:
        i = max(0, bisect_right(times, t + 1e-9) - 1)
        return {by_name[name]: column[i] for name, column in inputs.items() if name != "time"}

    return values
