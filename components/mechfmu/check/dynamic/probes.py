"""Points of an FMU's life at which the knowns of its equations are varied: initialization mode, and in Model Exchange
event mode and continuous-time mode at many times of the default experiment."""

from __future__ import annotations

import contextlib
import math
import random
import zlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

from . import binding
from .binding import DISCARD
from .instance import (
    CONTINUOUS_TIME,
    EVENT_MODE,
    INITIALIZATION,
    CallFailed,
    EndlessEventIteration,
    FmuInstance,
    NotJudged,
    SimulationTerminated,
)
from .integration import ExchangeRun
from .model import Model, ModelVariable, Value
from .session import Session

NUMERIC = ("Real", "Integer", "Boolean")
AMPLITUDES = (0.3, 0.03, 0.0)  # of the inputs relative to their magnitude; the next one if the FMU fails with the last
LARGEST_RATIO = 1e3  # a limit (min, max) further away than this multiple of the variable's magnitude is not tried
TOLERANCE = 1e-3  # of the integration: any plausible point will do
ORDER_STEP = 1e-7  # relative change of a state, to see which variable follows
JOURNEY_SECONDS = 6.0  # of processor time for one simulation with its stops
MAX_RESTARTS = 20  # of a simulation, after a change that the FMU answered with an error
TRAVEL_ERRORS = (CallFailed, EndlessEventIteration, NotJudged, SimulationTerminated)


@dataclass
class Bench:
    """An instance at one point, its knowns and their values there. `put` changes knowns, `restore` undoes it."""

    instance: FmuInstance
    knowns: list[ModelVariable]
    base: dict[int, Value]  # by index of the known
    x: list[float] = field(default_factory=list)  # the continuous states, if they are knowns
    t: float = 0.0
    broken: bool = False  # a call failed: the instance is of no further use

    @property
    def mode(self) -> str:
        return self.instance.state

    @property
    def place(self) -> str:
        return f"{self.mode}, t = {self.t:.6g}"

    def is_state(self, v: ModelVariable) -> bool:
        return bool(self.x) and v.index in self.instance.model.state_positions

    def put(self, values: dict[ModelVariable, Value]) -> None:
        """Set these knowns. States and time that are not among them have their values of this point."""
        positions = self.instance.model.state_positions if self.x else {}
        x, inputs = binding.reals(self.x), {}
        changed = False
        for v, value in values.items():
            if v.index in positions:
                x[positions[v.index]] = float(value)
                changed = True
            elif v.causality == "independent":
                self.instance.call_checked("fmi2SetTime", float(value))
            else:
                inputs[v] = value
        if changed:
            self.instance.call_checked("fmi2SetContinuousStates", x, len(x))
        if inputs:
            self.instance.set(inputs)

    def restore(self, knowns: Sequence[ModelVariable]) -> None:
        self.put({v: self.base[v.index] for v in knowns})

    def values_with(self, values: dict[ModelVariable, Value], variables: Sequence[ModelVariable]) -> list[float] | None:
        """The variables with these values of knowns, which are undone again. None if the FMU discards the change."""
        try:
            self.put(values)
            found = self.read(variables)
        except CallFailed as error:
            if error.status != DISCARD:
                raise
            found = None
        self.restore(list(values))
        return found

    def read(self, variables: Sequence[ModelVariable]) -> list[float]:
        """Values as numbers; a string is represented by its checksum."""
        values = self.instance.get(variables)
        return [v if isinstance(v, float) else _number(v) for v in values]


def _number(value: Value) -> float:
    return float(zlib.crc32(value.encode()) if isinstance(value, str) else value)


def initial_knowns(model: Model) -> list[ModelVariable]:
    """The knowns of initialization mode (2.2.8) without time; strings last, since changing them may be an error."""
    exact = [v for v in model.variables if v.initial == "exact" and v.variability != "constant"]
    listed = {v.index: v for v in (*model.of("input"), *exact) if v.causality != "independent"}
    return sorted(listed.values(), key=lambda v: v.type == "String")


def initial_bench(s: Session, knowns: Sequence[ModelVariable]) -> Bench:
    """A new instance in initialization mode with the start values."""
    instance = s.new_instance().go_to(INITIALIZATION)
    base: dict[int, Value] = {v.index: start_value(v) for v in knowns}
    bench = Bench(instance, list(knowns), base, t=s.model.start_time)
    try:
        bench.restore(knowns)
    except CallFailed:
        instance.free()
        raise
    return bench


def leave_initialization(bench: Bench) -> None:
    """End the instance in the usual way, with its start values."""
    with contextlib.suppress(CallFailed):
        bench.base = {v.index: start_value(v) for v in bench.knowns}
        bench.restore(bench.knowns)
        bench.instance.exit_initialization()
        bench.instance.call_checked("fmi2Terminate")
    bench.instance.free()


def stirred(knowns: Sequence[ModelVariable], generator: random.Random) -> dict[int, Value]:
    """Start values by index, half of which are replaced by others; strings are kept."""
    values: dict[int, Value] = {}
    for v in knowns:
        start = start_value(v)
        others = changes(v, start) if v.type != "String" else []
        values[v.index] = generator.choice(others) if others and generator.random() < 0.5 else start
    return values


def start_value(v: ModelVariable) -> Value:
    if v.start is not None:
        return v.start
    if v.type == "String":
        return ""
    return False if v.type == "Boolean" else (v.items[0] if v.items else 0) if v.type == "Integer" else 0.0


def input_values(s: Session, segment: int, amplitude: float) -> dict[ModelVariable, Value]:
    """Values of the inputs in a segment of the simulation: near the start values, others in each segment."""
    values: dict[ModelVariable, Value] = {}
    if amplitude == 0.0:
        return values
    for i, v in enumerate(s.model.of("input", types=NUMERIC)):
        start = start_value(v)
        if v.type == "Real":
            wave = math.sin(1.0 + 0.7 * i + 2.4 * segment)
            wanted = float(start) + amplitude * v.scale * wave
            other = wanted if v.inside(wanted) else v.other_value(0.3 * amplitude * (1.0 + wave))
        else:
            other = v.other_value() if segment % 2 else start
        if other is not None:
            values[v] = other
    return values


def changes(v: ModelVariable, value: Value, cautious: bool = False) -> list[Value]:
    """Other legal values, from near to far. `cautious`: only such that are not far away. A parameter keeps its sign,
    since a period or a number of elements that is 0 or negative has no meaning."""
    parameter = v.causality == "parameter"
    if v.type == "Boolean":
        return [not value]
    if v.type == "String":
        return [f"{value} changed"]
    if v.type == "Integer":
        integers = v.items or tuple(int(value) + d for d in ((1,) if parameter else (1, -1, 7)))
        return list[Value](x for x in integers if x != value and v.inside(x))[:4]
    here = float(value)
    size = max(v.scale, abs(here))
    if parameter:
        candidates = [here * (1.0 + f) if here else f * size for f in (1e-3, -0.1, 0.5, 1.0)]
    else:
        candidates = [here + f * size for f in ((1e-3, -1e-2, 0.1) if cautious else (1e-3, -0.1, 1.0, -1.0))]
    if not cautious and not parameter:
        limits = [x for x in (v.min, v.max) if x is not None and abs(x) <= LARGEST_RATIO * size]
        candidates += [*limits, 0.0]
    legal = [
        x
        for x in candidates
        if math.isfinite(x) and abs(x - here) >= 1e-6 * (abs(here) if parameter and here else size) and v.inside(x)
    ]
    return list(dict.fromkeys(legal))


# --- Model Exchange: a simulation with stops ------------------------------------------------------------------------


def journey(
    s: Session, fractions: Sequence[float], budget: float, amplitudes: Sequence[float] = AMPLITUDES
) -> Iterator[Bench]:
    """Simulate the default experiment and stop at these fractions of it, in continuous-time mode and then in event
    mode, where the inputs get new values. If the user has set `broken`, the next point is reached anew."""
    left = list(fractions)
    for amplitude in amplitudes:
        travel = Travel(s, amplitude, budget)
        left = yield from travel.run(left)
        if not left:
            return
        if travel.out_of_time():
            break
        if amplitude and not input_values(s, 0, amplitude):
            break  # without inputs, every attempt is the same
    s.not_judged(f"the time from t = {time_of(s, left[0]):.6g} on ({travel.reason})")


def time_of(s: Session, fraction: float) -> float:
    """The time at this fraction of the default experiment."""
    return s.model.start_time + fraction * (s.model.stop_time - s.model.start_time)


class Travel:
    """One attempt to get through the experiment."""

    def __init__(self, s: Session, amplitude: float, budget: float):
        self.s, self.amplitude = s, amplitude
        self.segment = 0
        self.restarts = 0
        self.reason = ""
        self.out_of_time = s.limit(budget, JOURNEY_SECONDS)

    def run(self, fractions: Sequence[float]) -> Generator[Bench, None, list[float]]:
        """Yields the points; returns the fractions that were not reached."""
        instance: FmuInstance | None = None
        for i, fraction in enumerate(fractions):
            try:
                if instance is None:
                    instance = self.s.new_instance().go_to(EVENT_MODE)
                    if fraction == 0.0 and not (yield from self._stop(instance)):
                        instance = None
                        instance = self.s.new_instance().go_to(EVENT_MODE)
                    self._continue(instance)
                self._advance(instance, time_of(self.s, fraction))
                if not (yield from self._stop(instance)):
                    instance = None
                    continue
                instance.enter_event_mode()
                if not (yield from self._stop(instance)):
                    instance = None
                    continue
                self._continue(instance)
            except TRAVEL_ERRORS as error:
                self.reason = str(error) or type(error).__name__
                if instance is not None:
                    instance.free()
                return list(fractions[i:])
            if self.restarts > MAX_RESTARTS:
                self.reason = f"{MAX_RESTARTS} changes of knowns led to errors"
                return list(fractions[i + 1 :])
        if instance is not None:
            instance.free()
        return []

    def arrive(self, t: float) -> FmuInstance:
        """A new instance in continuous-time mode at this time. Each call makes the same simulation."""
        self.segment = 0
        instance = self.s.new_instance().go_to(EVENT_MODE)
        self._continue(instance)
        self._advance(instance, t)
        return instance

    def _stop(self, instance: FmuInstance) -> Generator[Bench, None, bool]:
        """A point. Returns whether the instance can go on."""
        bench = _running_bench(instance)
        yield bench
        if bench.broken:
            self.restarts += 1
            instance.free()
            return False
        return True

    def _continue(self, instance: FmuInstance) -> None:
        """New inputs for the next segment, in event mode."""
        self.segment += 1
        values = input_values(self.s, self.segment, self.amplitude)
        instance.set({v: x for v, x in values.items() if instance.settable(v)})
        instance.iterate_events()

    def _advance(self, instance: FmuInstance, t: float) -> None:
        if t > instance.t:
            run = ExchangeRun(instance, TOLERANCE, out_of_time=self.out_of_time)
            run.run([t], lambda t: None)


def _running_bench(instance: FmuInstance) -> Bench:
    """Event mode: the knowns are the inputs; continuous-time mode: continuous inputs, states and time. Inputs that may
    be set only once at a time instant are not among them."""
    m = instance.model
    inputs = [v for v in m.of("input") if instance.settable(v) and not v.set_once]
    base: dict[int, Value] = dict(zip([v.index for v in inputs], instance.get(inputs), strict=True))
    bench = Bench(instance, inputs, base, t=instance.t)
    if instance.state == CONTINUOUS_TIME:
        bench.x = _ordered_states(instance)
        for index, i in m.state_positions.items():
            base[index] = bench.x[i]
        bench.knowns = [*inputs, *(m.by_index[index] for index in m.state_positions)]
        if m.independent is not None:
            base[m.independent.index] = instance.t
    return bench


def _ordered_states(instance: FmuInstance) -> list[float]:
    """The states. Raises NotJudged if the elements of the vector are not the variables of ModelStructure, so that it is
    not known which state is varied."""
    m, x = instance.model, instance.states()
    variables = [m.by_index[index] for index in m.state_positions]
    moved = [xi + ORDER_STEP * (i + 1) * (abs(xi) or 1.0) for i, xi in enumerate(x)]
    for values in (moved, x) if x else ():
        instance.set_states(values)
        for i, found in zip(m.state_positions.values(), instance.numbers(variables), strict=True):
            if abs(found - values[i]) > 1e-9 * abs(values[i]):
                instance.set_states(x)
                raise NotJudged("the states are not those of ModelStructure, a finding of D14")
    return x
