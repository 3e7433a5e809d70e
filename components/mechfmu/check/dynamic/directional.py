"""D10: fmi2GetDirectionalDerivative against differences of the FMU's own values."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..findings import Finding, rule
from . import binding
from .binding import STATUS, WARNING
from .differences import Derivative, along, derivative, time_derivative
from .instance import CONTINUOUS_TIME, EVENT_MODE, STEP_COMPLETE, CallFailed, FmuInstance, SimulationTerminated
from .model import Model, ModelVariable, UnknownDependencies
from .probes import Bench, initial_bench, initial_knowns, journey, leave_initialization
from .session import Session

POINTS = (0.0, 0.11, 0.33, 0.52, 0.74, 0.87, 0.96)
COMMUNICATION_POINTS = (1, 2, 5, 11, 30, 80)
FEW_KNOWNS = 100  # up to here each known is looked at alone, else all at once and a sample
MANY_KNOWNS = 1000  # from here on, there are fewer points and directions
SAMPLE = 20
MANY_PAIRS = 200_000  # of unknowns and knowns, at a communication point
DIRECTIONS = 4
BUDGET = 0.6  # fraction of the rule's time
SEED = -2.5  # a seed other than 1
CONSISTENT = 0.02  # relative: results of numerical differentiation with other seeds differ slightly
ROUNDING = 1e-12  # of a derivative, relative to the largest one for the same known: terms of that size may cancel
UNCHANGED = 1e-7  # relative change of a value that counts as none


@rule("D10", "directional derivatives", "2.1.9")
def directional_derivatives(s: Session) -> Iterator[Finding]:
    """fmi2GetDirectionalDerivative agrees with central differences, for each known and for several at once, with seeds
    of any size and sign, however often it is called, in initialization mode and at several times of a simulation; it
    changes no values."""
    if not s.model.flag(s.kind, "providesDirectionalDerivative"):
        return
    if s.attempt("initialization mode"):
        yield from _initialization(s)
    if s.kind == "ModelExchange" and s.attempt("simulation"):
        many = len(s.model.of("input")) + len(s.model.states) > MANY_KNOWNS
        for bench in journey(s, POINTS[::2] if many else POINTS, BUDGET):
            knowns = [v for v in bench.knowns if v.type == "Real"]
            structure = Structure(s.model, _running_unknowns(s.model, bench.mode))
            yield from _examine(s, bench, structure, knowns)
            if bench.mode == CONTINUOUS_TIME and not bench.broken:
                yield from _examine_time(s, bench, structure)
    if s.kind == "CoSimulation" and s.attempt("communication points"):
        yield from _communication_points(s)


class Structure:
    """The unknowns of one mode and the pairs (unknown, known) that are declared."""

    def __init__(self, model: Model, unknowns: Sequence[UnknownDependencies]):
        listed = {d.index: d for d in unknowns}  # an output that is also a derivative counts once
        self.unknowns = [model.by_index[i] for i in listed if model.by_index[i].type == "Real"]
        self._on = {i: None if d.on is None else frozenset(d.on) for i, d in listed.items()}
        self._states = {model.by_index[i].reference for i in model.state_positions}

    def declared(self, unknown: ModelVariable, known: ModelVariable) -> bool:
        on = self._on[unknown.index]
        return on is None or known.index in on

    def is_state(self, unknown: ModelVariable) -> bool:
        """Whether the unknown is a state, whose derivative with respect to itself FMUs leave out."""
        return unknown.reference in self._states


def _running_unknowns(model: Model, mode: str) -> list[UnknownDependencies]:
    variability = ("continuous",) if mode == CONTINUOUS_TIME else ("continuous", "discrete")
    outputs = [d for d in model.outputs if model.by_index[d.index].variability in variability]
    return [*outputs, *model.derivatives]


def _initialization(s: Session) -> Iterator[Finding]:
    knowns = [v for v in initial_knowns(s.model) if v.type == "Real"]
    structure = Structure(s.model, s.model.initial_unknowns)
    if not knowns or not structure.unknowns:
        return
    try:
        bench = initial_bench(s, knowns)
    except CallFailed as error:
        s.not_judged(f"initialization mode with the start values set ({error})")
        return
    yield from _examine(s, bench, structure, knowns)
    if bench.broken:
        bench.instance.free()
    else:
        leave_initialization(bench)


# --- one call ---------------------------------------------------------------------------------------------------------


class DerivativeFailed(Exception):
    """fmi2GetDirectionalDerivative did not succeed."""


def _derivatives(
    instance: FmuInstance, unknowns: Sequence[ModelVariable], knowns: Sequence[ModelVariable], seeds: Sequence[float]
) -> list[float]:
    result = binding.reals([math.nan] * len(unknowns))
    unknown_references = binding.references([v.reference for v in unknowns])
    known_references = binding.references([v.reference for v in knowns])
    seed_values = binding.reals(seeds)
    sizes = (unknown_references, len(unknowns), known_references, len(knowns))
    status = instance.call("fmi2GetDirectionalDerivative", *sizes, seed_values, result)
    if status > WARNING:
        name = STATUS[status] if status < len(STATUS) else str(status)
        raise DerivativeFailed(f"it returned {name} for {_names(knowns)}{instance.session.reason()}")
    return list(result)


def _names(knowns: Sequence[ModelVariable]) -> str:
    return f'"{knowns[0].name}"' if len(knowns) == 1 else f"{len(knowns)} knowns at once"


def _wrong(v: ModelVariable, problem: str, expected: str) -> Finding:
    return v.finding(problem, expected, sentence="directional-derivative")


# --- a point where knowns can be varied -------------------------------------------------------------------------------


@dataclass
class Column:
    """A known, the derivatives that the FMU gave, and the measured ones."""

    known: ModelVariable
    given: list[float]
    measured: list[Derivative]


def _examine(s: Session, bench: Bench, structure: Structure, knowns: Sequence[ModelVariable]) -> Iterator[Finding]:
    unknowns = structure.unknowns
    if not unknowns or not knowns:
        return
    try:
        before = _snapshot(bench.instance)
        columns: list[Column] = []
        single: Sequence[ModelVariable] = knowns
        if len(knowns) > FEW_KNOWNS:
            yield from _all_at_once(bench, structure, knowns)
            single = random.Random(5).sample(list(knowns), SAMPLE if len(knowns) <= MANY_KNOWNS else 2)
        for known in single:
            if s.time_used(BUDGET):
                s.not_judged(f"{len(single) - len(columns)} of {len(single)} knowns at t = {bench.t:.6g} (time budget)")
                break
            column = _column(bench, unknowns, known)
            columns.append(column)
            yield from _compare(bench, structure, column, unknowns)
        if columns:
            yield from _several(bench, structure, columns)
        bench.restore(bench.knowns)
        yield from _side_effects(bench, before, _snapshot(bench.instance))
    except DerivativeFailed as error:
        problem = f"{error} ({bench.place})"
        yield Finding("fmi2GetDirectionalDerivative", problem, "fmi2OK", sentence="directional-derivative")
        bench.broken = True
    except CallFailed as error:
        s.not_judged(f"derivatives at t = {bench.t:.6g} ({error})")
        bench.broken = True


def _compare(
    bench: Bench, structure: Structure, column: Column, unknowns: Sequence[ModelVariable]
) -> Iterator[Finding]:
    """A single known: seeds 1, 1 again, another one, and 0."""
    known = column.known
    calls = [(1.0, column.given)]
    calls += [(seed, _derivatives(bench.instance, unknowns, [known], [seed])) for seed in (1.0, SEED, 0.0)]
    for i, (v, d) in enumerate(zip(unknowns, column.measured, strict=True)):
        if not _judged(structure, v, known, d):
            continue
        for n, (seed, given) in enumerate(calls):
            if not abs(given[i] - seed * d.value) <= max(abs(seed), 0.1) * d.uncertainty:
                times = ", in the second call" if n == 1 else ""
                problem = (
                    f'its derivative with respect to "{known.name}" is {given[i]:.6g} for the seed {seed:g}{times} '
                    f"({bench.place})"
                )
                yield _wrong(v, problem, f"{seed * d.value:.6g} ± {abs(seed) * d.uncertainty:.1g} by differences")
                break


def _judged(structure: Structure, v: ModelVariable, known: ModelVariable, d: Derivative) -> bool:
    """A pair that is not declared is D9's matter, unless there is no dependency."""
    if not math.isfinite(d.uncertainty) or (structure.is_state(v) and v.reference == known.reference):
        return False
    return structure.declared(v, known) or abs(d.value) <= d.uncertainty


def _several(bench: Bench, structure: Structure, columns: Sequence[Column]) -> Iterator[Finding]:
    """All knowns at once, with the unknowns in reverse order, against the sum of the measured derivatives."""
    generator = random.Random(7)
    seeds = [generator.choice((-1.0, 1.0)) * generator.uniform(0.5, 2.0) * c.known.scale for c in columns]
    knowns = [c.known for c in columns]
    unknowns = structure.unknowns
    given = _derivatives(bench.instance, unknowns[::-1], knowns, seeds)[::-1]
    for i, v in enumerate(unknowns):
        row = [c.measured[i] for c in columns]
        if not all(_judged(structure, v, c.known, c.measured[i]) for c in columns):
            continue
        total = sum(seed * d.value for seed, d in zip(seeds, row, strict=True))
        limit = sum(abs(seed) * (d.uncertainty + 1e-3 * abs(d.value)) for seed, d in zip(seeds, row, strict=True))
        if not abs(given[i] - total) <= limit and all(_column_right(structure, i, c) for c in columns):
            problem = f"its derivative for {_names(knowns)} is {given[i]:.6g} ({bench.place})"
            yield _wrong(v, problem, f"{total:.6g}, the sum of those for each known")


def _all_at_once(bench: Bench, structure: Structure, knowns: Sequence[ModelVariable]) -> Iterator[Finding]:
    """Many knowns: random directions, in which each known changes. A wrong result is traced to single knowns."""
    generator = random.Random(9)
    unknowns = [v for v in structure.unknowns if not structure.is_state(v)]
    reported: set[int] = set()
    for _ in range(0 if not unknowns else DIRECTIONS if len(knowns) <= MANY_KNOWNS else 1):
        direction = {
            k: generator.choice((-1.0, 1.0))
            * generator.uniform(0.5, 1.0)
            * max(k.scale, abs(float(bench.base[k.index])))
            for k in knowns
        }
        given = _derivatives(bench.instance, unknowns, list(direction), list(direction.values()))
        for v, value, d in zip(unknowns, given, along(bench, direction, unknowns), strict=True):
            if abs(value - d.value) <= d.uncertainty or not math.isfinite(d.uncertainty) or v.index in reported:
                continue
            reported.add(v.index)
            columns = [_column(bench, [v], k) for k in knowns if structure.declared(v, k)]
            wrong = [f for c in columns for f in _compare(bench, structure, c, [v])]
            total = sum(direction[c.known] * c.given[0] for c in columns)
            if not wrong and not abs(total - value) <= d.uncertainty:  # else a dependency is not declared: D9
                problem = f"its derivative for {_names(knowns)} is {value:.6g} ({bench.place})"
                wrong = [_wrong(v, problem, f"{total:.6g}, the sum of those for each known")]
            yield from wrong


def _column(bench: Bench, unknowns: Sequence[ModelVariable], known: ModelVariable) -> Column:
    given = _derivatives(bench.instance, unknowns, [known], [1.0])
    return Column(known, given, derivative(bench, known, unknowns))


def _column_right(structure: Structure, i: int, c: Column) -> bool:
    return abs(c.given[i] - c.measured[i].value) <= c.measured[i].uncertainty


def _examine_time(s: Session, bench: Bench, structure: Structure) -> Iterator[Finding]:
    """The derivative with respect to the independent variable, if that is declared and the FMU provides it."""
    time, unknowns = s.model.independent, structure.unknowns
    if time is None or not unknowns:
        return
    try:
        given = _derivatives(bench.instance, unknowns, [time], [1.0])
        measured = time_derivative(bench, time, unknowns, s.model.stop_time - s.model.start_time)
    except DerivativeFailed:
        return
    except CallFailed as error:
        s.not_judged(f"derivatives with respect to time at t = {bench.t:.6g} ({error})")
        bench.broken = True
        return
    for v, value, d in zip(unknowns, given, measured, strict=True):
        if _judged(structure, v, time, d) and not abs(value - d.value) <= d.uncertainty:
            problem = f'its derivative with respect to "{time.name}" is {value:.6g} ({bench.place})'
            yield _wrong(v, problem, f"{d.value:.6g} ± {d.uncertainty:.1g} by differences")


# --- side effects -----------------------------------------------------------------------------------------------------


def _snapshot(instance: FmuInstance) -> tuple[list[ModelVariable], list[float]]:
    """Values that must not change."""
    variables = [v for v in instance.readable() if v.type != "String"]
    return variables, instance.numbers(variables)


def _side_effects(
    bench: Bench, before: tuple[list[ModelVariable], list[float]], after: tuple[list[ModelVariable], list[float]]
) -> Iterator[Finding]:
    for v, a, b in zip(before[0], before[1], after[1], strict=True):
        if math.isfinite(a) and not abs(a - b) <= UNCHANGED * max(abs(a), abs(b), v.scale):
            problem = f"after calls of fmi2GetDirectionalDerivative it is {b:.10g}, not {a:.10g} ({bench.place})"
            yield v.finding(problem, "values that only change when they are set", sentence="get-actual")


# --- Co-Simulation ----------------------------------------------------------------------------------------------------


def _communication_points(s: Session) -> Iterator[Finding]:
    """At a communication point nothing can be varied and read without a step. What can be seen there: results are
    linear in the seeds, additive, independent of the order and of earlier calls, and leave the simulation as it is."""
    unknowns = Structure(s.model, _running_unknowns(s.model, EVENT_MODE)).unknowns
    states = [s.model.by_index[i] for i in s.model.state_positions]
    knowns = [*s.model.of("input", types=("Real",)), *states]
    if not unknowns or not knowns:
        return
    count = max(2, min(FEW_KNOWNS, MANY_PAIRS // len(unknowns)))
    if len(knowns) > count:
        s.not_judged(f"{len(knowns) - count} of {len(knowns)} knowns at communication points")
        knowns = random.Random(5).sample(knowns, count)
    steps = s.steps(max(COMMUNICATION_POINTS))
    signals = [v for v in s.model.signals if v.type != "String"]
    try:
        plain = [_rows(s, steps, signals) for _ in range(2)]
        instance = s.new_instance().go_to(STEP_COMPLETE)
        rows = []
        for i, h in enumerate(steps, 1):
            instance.step(h)
            if i in COMMUNICATION_POINTS and not s.time_used(BUDGET):
                yield from _consistency(instance, unknowns, knowns)
            rows.append(instance.numbers(signals))
        instance.free()
    except DerivativeFailed as error:
        yield Finding("fmi2GetDirectionalDerivative", str(error), "fmi2OK", sentence="directional-derivative")
        return
    except SimulationTerminated:
        s.not_judged("communication points after the end that the FMU asked for")
        return
    if plain[0] == plain[1]:
        yield from _same_simulation(signals, plain[0], rows, s.steps(len(rows)))


def _rows(s: Session, steps: Sequence[float], signals: Sequence[ModelVariable]) -> list[list[float]]:
    instance = s.new_instance().go_to(STEP_COMPLETE)
    rows = []
    for h in steps:
        instance.step(h)
        rows.append(instance.numbers(signals))
    instance.free()
    return rows


def _same_simulation(
    signals: Sequence[ModelVariable], plain: list[list[float]], rows: list[list[float]], steps: Sequence[float]
) -> Iterator[Finding]:
    for i, v in enumerate(signals):
        for n, (a, b) in enumerate(zip(plain, rows, strict=True), 1):
            if math.isfinite(a[i]) and not abs(a[i] - b[i]) <= UNCHANGED * max(abs(a[i]), abs(b[i]), v.scale):
                problem = (
                    f"in a simulation with calls of fmi2GetDirectionalDerivative it is {b[i]:.10g} after {n} steps, "
                    f"without them {a[i]:.10g}"
                )
                yield v.finding(problem, "the same simulation", sentence="get-actual")
                break


def _consistency(
    instance: FmuInstance, unknowns: Sequence[ModelVariable], knowns: Sequence[ModelVariable]
) -> Iterator[Finding]:
    generator = random.Random(11)
    place = f"communication point t = {instance.t:.6g}"
    columns = [_derivatives(instance, unknowns, [k], [1.0]) for k in knowns]
    y = instance.numbers(unknowns)
    seeds = [generator.choice((-1.0, 1.0)) * generator.uniform(0.5, 2.0) * k.scale for k in knowns]
    together = _derivatives(instance, unknowns[::-1], knowns, seeds)[::-1]
    rounding = [ROUNDING * max(map(abs, column)) for column in columns]
    for j, k in enumerate(knowns):
        calls = {"in the second call": 1.0, f"for the seed {SEED:g}": SEED, "for the seed 0": 0.0}
        results = {text: (seed, _derivatives(instance, unknowns, [k], [seed])) for text, seed in calls.items()}
        for i, v in enumerate(unknowns):
            first = columns[j][i]
            limit = CONSISTENT * abs(first) + _natural_error(v, y[i], k) + rounding[j]
            for text, (seed, given) in results.items():
                if not abs(given[i] - seed * first) <= max(abs(seed), 0.1) * limit:
                    problem = f'its derivative with respect to "{k.name}" is {given[i]:.6g} {text} ({place})'
                    yield _wrong(v, problem, f"{seed * first:.6g}, as it is {first:.6g} for the seed 1")
                    break
    for i, v in enumerate(unknowns):
        terms = [seed * columns[j][i] for j, seed in enumerate(seeds)]
        errors = [
            abs(seed) * (_natural_error(v, y[i], k) + error)
            for seed, k, error in zip(seeds, knowns, rounding, strict=True)
        ]
        if not abs(together[i] - sum(terms)) <= CONSISTENT * sum(map(abs, terms)) + sum(errors):
            problem = f"its derivative for {_names(knowns)} is {together[i]:.6g} ({place})"
            yield _wrong(v, problem, f"{sum(terms):.6g}, the sum of those for each known")


def _natural_error(v: ModelVariable, y: float, known: ModelVariable) -> float:
    """The error of a derivative that an FMU computes by numerical differentiation."""
    return 1e-6 * max(abs(y), 1e-3 * v.scale) / known.scale
