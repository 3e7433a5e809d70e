"""D15: fmi2GetRealOutputDerivatives against difference quotients of the outputs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..findings import Finding
from . import binding
from .binding import WARNING
from .instance import STEP_COMPLETE, CallFailed, FmuInstance, SimulationTerminated, status_name
from .model import ModelVariable
from .probes import input_values
from .session import Session

BUDGET = 0.45  # fraction of the rule's time
MAX_ORDER = 2  # higher derivatives cannot be measured
STEPS = 400  # at most, of the default step size
FINE = 8  # a step of the second run is shorter by this factor, if the step size may vary
BLOCK = 10  # steps with constant inputs
SETTLE = 4  # equal steps with constant inputs before a point that is judged
SMOOTH = 0.2  # slopes over some steps are judged if they differ less than this, relative
MARGIN = 0.05  # relative, beyond the range of the slopes
ROUNDING = 1e-9  # error of an output, relative
# Error of a derivative over a step, relative to the largest value of the output in the run: after a fast transient the
# derivatives are those of the solver's errors.
ACCURACY = 1e-5
WRONG_POINTS = 3  # so many wrong values of an output are a finding


@dataclass
class Record:
    """A run: outputs and their derivatives at each communication point."""

    t: list[float] = field(default_factory=list)
    y: list[list[float]] = field(default_factory=list)
    slopes: dict[int, list[list[float]]] = field(default_factory=dict)  # by order
    steady: list[int] = field(default_factory=list)  # equal steps with constant inputs, up to this point


class SlopesFailed(Exception):
    """fmi2GetRealOutputDerivatives did not succeed."""


def output_derivatives(s: Session, order: int) -> Iterator[Finding]:
    """The first derivatives, and the second ones if declared, in runs with long and with short steps."""
    outputs = [v for v in s.model.of("output", types=("Real",)) if v.variability == "continuous"]
    if not outputs:
        return
    orders = range(1, min(order, MAX_ORDER) + 1)
    variable = s.model.flag(s.kind, "canHandleVariableCommunicationStepSize")
    first: list[float] = []  # first derivatives where outputs clearly change
    try:
        records = [_run(s, outputs, orders, divisor) for divisor in ((1, FINE) if variable else (1,))]
    except SlopesFailed as error:
        where, sentence = "fmi2GetRealOutputDerivatives", "output-derivatives"
        yield Finding(where, str(error), "fmi2OK", sentence=sentence)
        return
    for n in orders:
        for i, v in enumerate(outputs):
            judged = [slope for record in records for slope in _judged(v, record, n, i)]
            first += [slope.value for slope in judged if n == 1 and not slope.low <= 0.0 <= slope.high]
            if finding := _wrong(v, n, judged, s.model.step_size):
                yield finding
    if len(first) >= WRONG_POINTS and not any(first):
        problem = f"all first derivatives of outputs are 0, at {len(first)} points where outputs change"
        expected = f"derivatives, as maxOutputDerivativeOrder is {order}"
        yield Finding("fmi2GetRealOutputDerivatives", problem, expected, sentence="output-derivatives")
    yield from _unchanged(s, outputs, orders)


def _derivatives(instance: FmuInstance, outputs: Sequence[ModelVariable], orders: Sequence[int]) -> list[float]:
    values = binding.reals([math.nan] * len(outputs))
    references = binding.references([v.reference for v in outputs])
    status = instance.call("fmi2GetRealOutputDerivatives", references, len(outputs), binding.integers(orders), values)
    if status > WARNING:
        kinds = " and ".join(str(n) for n in sorted(set(orders)))
        what = f"derivatives of order {kinds}{instance.session.reason()}"
        raise SlopesFailed(f"it returned {status_name(status)} for {what}")
    return list(values)


def _run(s: Session, outputs: Sequence[ModelVariable], orders: Sequence[int], divisor: int) -> Record:
    """Inputs are constant for some steps, then they jump. With a divisor, one step of each such block is divided."""
    record = Record(slopes={n: [] for n in orders})
    instance = s.new_instance().go_to(STEP_COMPLETE)
    steady = 0  # equal steps with constant inputs
    try:
        for i in range(len(s.steps(STEPS))):
            if s.time_used(BUDGET):
                s.not_judged(f"output derivatives after t = {instance.t:.6g} (time budget)")
                break
            if i % BLOCK == 0:
                values = input_values(s, i // BLOCK, 0.3)
                instance.set(values)
                steady = 0 if values else steady
            short = divisor > 1 and i % BLOCK == BLOCK - 2
            steady = 0 if short or (divisor > 1 and i % BLOCK == BLOCK - 1) else steady
            for _ in range(divisor if short else 1):
                instance.step(s.model.step_size / divisor if short else s.model.step_size)
                steady += 1
                record.t.append(instance.t)
                record.y.append(instance.numbers(outputs))
                record.steady.append(steady)
                for n in orders:
                    record.slopes[n].append(_derivatives(instance, outputs, [n] * len(outputs)))
    except SimulationTerminated:
        pass
    except CallFailed as error:
        s.not_judged(f"output derivatives after t = {instance.t:.6g} ({error})")
    instance.free()
    return record


@dataclass(frozen=True)
class Slope:
    """A derivative that the FMU gave, and the limits that the outputs around it set."""

    t: float
    step: float
    value: float
    low: float
    high: float

    @property
    def wrong(self) -> bool:
        """It may be 0 because the FMU's own order is lower."""
        return self.value != 0.0 and not self.low <= self.value <= self.high

    @property
    def excess(self) -> float:
        return abs(self.value - 0.5 * (self.low + self.high)) / (self.high - self.low)


def _judged(v: ModelVariable, record: Record, order: int, i: int) -> list[Slope]:
    """The derivatives at points where they are known."""
    found = []
    y = [row[i] for row in record.y]
    largest = max((abs(value) for value in y if math.isfinite(value)), default=0.0)
    for n in range(SETTLE, len(y) - 1):
        if record.steady[n] < SETTLE or record.steady[n + 1] != record.steady[n] + 1:
            continue
        limits = _range(record.t, y, order, n, 1e-3 * v.scale)
        if limits is not None:
            step = record.t[n] - record.t[n - 1]
            error = ACCURACY * largest / step**order
            low, high = limits[0] - error, limits[1] + error
            found.append(Slope(record.t[n], step, record.slopes[order][n][i], low, high))
    return found


def _wrong(v: ModelVariable, order: int, judged: Sequence[Slope], step_size: float) -> Finding | None:
    """A finding if the derivative is clearly outside of what the output does around a point, several times, and not
    only in long steps, in which a fast oscillation may look slow."""
    wrong = [slope for slope in judged if slope.wrong]
    short = [slope for slope in judged if slope.step < 0.5 * step_size]
    only_long = len(short) >= WRONG_POINTS and not any(slope.wrong for slope in short)
    if len(wrong) < WRONG_POINTS or only_long:
        return None
    worst = max(wrong, key=lambda slope: slope.excess)
    problem = (
        f"its derivative of order {order} is {worst.value:.6g} at t = {worst.t:.6g}, and wrong at {len(wrong)} points"
    )
    expected = f"{worst.low:.6g} to {worst.high:.6g}, as its values around this point show, or 0"
    return v.finding(problem, expected, sentence="output-derivative-values")


def _range(t: Sequence[float], y: Sequence[float], order: int, n: int, scale: float) -> tuple[float, float] | None:
    """The range of the difference quotients around point n, with a margin; None where they are not smooth."""
    points = range(n - SETTLE, n + 2)
    if not all(math.isfinite(y[k]) for k in points):
        return None
    h = t[n] - t[n - 1]
    slopes = [(y[k] - y[k - 1]) / (t[k] - t[k - 1]) for k in points[1:]]
    rounding = ROUNDING * max(scale, *(abs(y[k]) for k in points)) / h
    if order == 2:
        slopes = [(b - a) / h for a, b in itertools.pairwise(slopes)]
        rounding = 4.0 * rounding / h
    low, high = min(slopes), max(slopes)
    size = max(abs(low), abs(high))
    if high - low > SMOOTH * size or rounding > SMOOTH * size:
        return None
    margin = (high - low) + MARGIN * size + rounding
    return low - margin, high + margin


def _unchanged(s: Session, outputs: Sequence[ModelVariable], orders: Sequence[int]) -> Iterator[Finding]:
    """Reading derivatives, in any order and several times, gives the same values and leaves the simulation alone."""
    steps = s.steps(30)
    plain, again = (_plain_run(s, steps, outputs) for _ in range(2))
    if plain is None or plain != again:
        return
    instance = s.new_instance().go_to(STEP_COMPLETE)
    mixed = [(v, n) for n in orders for v in outputs]
    for i, h in enumerate(steps):
        instance.step(h)
        first = _derivatives(instance, [v for v, _ in mixed], [n for _, n in mixed])
        second = _derivatives(instance, [v for v, _ in mixed[::-1]], [n for _, n in mixed[::-1]])[::-1]
        for (v, n), a, b in zip(mixed, first, second, strict=True):
            if not abs(a - b) <= 1e-9 * max(abs(a), abs(b)) and math.isfinite(a):
                problem = f"its derivative of order {n} is {a:.6g}, and {b:.6g} when read again in another order"
                yield v.finding(problem, "the same value", sentence="output-derivative-values")
                return
        for v, a, b in zip(outputs, plain[i], instance.numbers(outputs), strict=True):
            if not abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-3 * v.scale) and math.isfinite(a):
                problem = f"after {i + 1} steps it is {b:.10g} if derivatives of outputs are read, else {a:.10g}"
                yield v.finding(problem, "the same simulation", sentence="get-actual")
                return
    instance.free()


def _plain_run(s: Session, steps: Sequence[float], outputs: Sequence[ModelVariable]) -> list[list[float]] | None:
    instance = s.new_instance().go_to(STEP_COMPLETE)
    rows = []
    try:
        for h in steps:
            instance.step(h)
            rows.append(instance.numbers(outputs))
    except (CallFailed, SimulationTerminated):
        return None
    instance.free()
    return rows
