"""D11 and D12: whole simulations, compared with each other and with the result that the FMU brings along."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Iterator

from ..findings import Finding, Plot, rule
from .compare import worst_difference
from .experiments import accepted_excitation
from .model import ModelVariable
from .session import Session
from .instance import Excitation, SimulationTerminated, CallFailed

SETTLED = 2e-3  # of a signal's range: differences below are the solver's tolerance, not a lack of convergence
DERIVED = 10  # tolerances: states are that accurate, forces and accelerations computed from them less so
AGREE = (
    2e-2  # of a signal's range, on average over time: what a coarse solver inside may differ from a fine one outside
)
REPRODUCED = 1e-2  # of a signal's range
TIGHT = (
    1e-8  # tolerance asked for when a reference is to be reproduced: the model is compared, not its default tolerance
)
FINE = (4, 8, 16, 64)  # internal steps of the Model Exchange integration that are tried until two agree


def _run(
    s: Session,
    kind: str,
    steps: list[float],
    signals: list[ModelVariable],
    excitation: Excitation | None = None,
    substeps: int = 1,
    tolerance: float | None = None,
) -> list[list[float]] | None:
    """A simulation; None when the FMU does not want it."""
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
    """Model Exchange, integrated so finely that twice as many steps give the same."""
    previous = None
    for substeps in FINE:
        rows = _run(s, "ModelExchange", steps, signals, excitation, substeps)
        if rows is None or s.time_used(0.8):
            return None
        if previous is not None:
            worst = worst_difference(previous, rows, mean=True)
            if worst is None or worst.relative < 1e-3:
                return rows
        previous = rows
    return None


@rule("D11", "convergence, Co-Simulation against Model Exchange", "4.1, 4.2", kinds=("CoSimulation",))
def convergence(s: Session) -> Iterator[Finding]:
    """Smaller communication steps change the result less and less; Co-Simulation and Model Exchange of one FMU give the same result."""
    signals = s.model.signals
    if not signals:
        return
    h = s.model.step_size
    span = min(40 * h, s.model.stop_time - s.model.start_time)
    coarse = max(1, int(span / (4 * h) + 1e-9))
    runs = []
    if s.attempt("smaller steps"):
        # inputs are held over a step, so that with smaller steps they would be others: they rest here
        for division in (1, 2, 4):
            rows = _run(s, "CoSimulation", [4 * h / division] * (coarse * division), signals)
            if rows is not None:
                runs.append(rows[::division])
        if len(runs) == 3:
            yield from _converges(s, signals, runs, 4 * h)
    if "ModelExchange" in s.model.interfaces and s.attempt("against Model Exchange"):
        steps = s.steps(50)
        excitation = accepted_excitation(s)
        ours = _run(s, "CoSimulation", steps, signals, excitation)
        theirs = fine_run(s, steps, signals, excitation)
        if ours is None or theirs is None:
            return  # the checker's own integration is not good enough for this model
        worst = worst_difference(ours, theirs, mean=True)
        if worst and not worst.relative <= AGREE:
            v = signals[worst.column]
            plot = Plot(
                v.name,
                _times(s, steps),
                {"Co-Simulation": _column(ours, worst.column), "Model Exchange": _column(theirs, worst.column)},
            )
            yield Finding(
                v.where,
                f"Co-Simulation and Model Exchange differ by {worst.absolute:.3g} on average, {worst.relative:.0%} of its range",
                "the same result",
                line=v.line,
                plot=plot,
            )


def _converges(s: Session, signals: list[ModelVariable], runs: list[list[list[float]]], h: float) -> Iterator[Finding]:
    for column, v in enumerate(signals):
        a, b, c = ([[row[column]] for row in rows] for rows in runs)
        first, second = worst_difference(a, b, mean=True), worst_difference(b, c, mean=True)
        if (
            second is None
            or second.relative <= SETTLED
            or second.absolute <= DERIVED * (s.model.tolerance or 0.0)
            or (first is not None and second.absolute <= 0.8 * first.absolute)
        ):
            continue
        t = tuple(s.model.start_time + i * h for i in range(len(a)))
        lines = {f"step {h / d:g} s": tuple(r[0] for r in rows) for d, rows in ((1, a), (2, b), (4, c))}
        gap = first.absolute if first else 0.0
        yield Finding(
            v.where,
            f"half the step changes it by {gap:.3g}, a quarter by {second.absolute:.3g} more",
            "changes that shrink",
            line=v.line,
            plot=Plot(v.name, t, lines),
        )
        return


def _times(s: Session, steps: list[float]) -> tuple[float, ...]:
    return tuple(s.model.start_time + sum(steps[:i]) for i in range(len(steps) + 1))


def _column(rows: list[list[float]], column: int) -> tuple[float, ...]:
    return tuple(row[column] for row in rows)


@rule("D12", "the reference result inside the FMU", "2.3")
def reference_result(s: Session) -> Iterator[Finding]:
    """A simulation with the default start values reproduces the reference result that the FMU carries (a CSV file with time and names of its variables)."""
    reference = s.model.reference
    if reference is None:
        return
    by_name = {v.name: v for v in s.model.variables}
    signals = [by_name[name] for name in reference["signals"]]
    t: list[float] = reference["t"]
    steps = [b - a for a, b in itertools.pairwise(t)]
    excitation = _recorded(reference["inputs"], by_name) if reference["inputs"] else None
    rows = (
        _run(s, "CoSimulation", steps, signals, excitation, tolerance=TIGHT)
        if s.kind == "CoSimulation"
        else fine_run(s, steps, signals, excitation)
    )
    if rows is None:
        return
    for column, v in enumerate(signals):
        expected = reference["signals"][v.name]
        found = _column(rows, column)
        allowed = REPRODUCED * max(max(expected) - min(expected), 1e-2 * max(abs(x) for x in expected), 1e-4)
        for i, x in enumerate(found):
            near = expected[max(0, i - 1) : i + 2]  # a jump may come one sample earlier or later
            if not min(near) - allowed <= x <= max(near) + allowed:
                plot = Plot(v.name, tuple(t), {"reference": tuple(expected), "this FMU": found})
                yield Finding(
                    v.where,
                    f"it is {x:.6g} at t = {t[i]:g}",
                    f"{expected[i]:.6g}, as in {reference['file']}",
                    line=v.line,
                    plot=plot,
                )
                break


def _recorded(inputs: dict[str, list[float]], by_name: dict[str, ModelVariable]) -> Callable[[float], dict[ModelVariable, float]]:
    """Inputs from a file, held between its samples."""
    times = inputs["time"]

    def values(t: float) -> dict[ModelVariable, float]:
        i = max(0, bisect_right(times, t + 1e-9) - 1)
        return {by_name[name]: column[i] for name, column in inputs.items() if name != "time"}

    return values
