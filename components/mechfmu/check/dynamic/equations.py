"""D9 and D10: dependencies and directional derivatives, checked by changing one known at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..findings import Finding, rule
from . import binding
from .binding import STATUS, WARNING
from .experiments import accepted_excitation
from .instance import INITIALIZATION, CallFailed, FmuInstance
from .model import ModelVariable, UnknownDependencies, Value
from .session import Session

MIN_CHANGE = 1e-8  # relative change of an unknown that is more than rounding
MAX_KNOWNS = 400
MAX_FINDINGS = 20  # undeclared dependencies of one element
MAX_WRONG_DERIVATIVES = 5  # findings at one probe point
PROBE_STEPS = (0, 3, 17)  # steps of a simulation after which the unknowns are probed


@dataclass(frozen=True)
class ProbePoint:
    """An instance in some state, its knowns, and a function that sets one of them
    and returns whether that succeeded."""

    instance: FmuInstance
    knowns: list[ModelVariable]
    put: Callable[[ModelVariable, Value], bool]


def _changed(v: ModelVariable, value: Value, size: float) -> Value | None:
    """Another legal value near this one, or None."""
    candidates: tuple[Value, ...] = ()
    if v.type == "Real":
        step = size * max(v.scale, abs(float(value)))
        candidates = (float(value) + step, float(value) - step)
    elif v.type == "Boolean":
        return not value
    elif v.type == "Integer" and (v.min is not None or v.causality == "input"):
        candidates = (int(value) + 1, int(value) - 1)
    return next((x for x in candidates if v.inside(float(x))), None)


def _running(s: Session, instance: FmuInstance) -> ProbePoint:
    """The knowns are the inputs and, in Model Exchange, the states."""
    exchange = instance.kind == "ModelExchange"
    states = {index: i for i, index in enumerate(s.model.states)} if exchange else {}
    inputs = s.model.of("input", types=("Real",) if exchange else ("Real", "Integer", "Boolean"))
    knowns = [*inputs, *(s.model.by_index[i] for i in states if i in s.model.by_index)]

    def put(v: ModelVariable, value: Value) -> bool:
        if v.index in states:
            x = instance.states()
            x[states[v.index]] = float(value)
            return instance.call("fmi2SetContinuousStates", binding.reals(x), len(x)) <= WARNING
        return _set(instance, v, value)

    return ProbePoint(instance, knowns[:MAX_KNOWNS], put)


def _initial(s: Session, instance: FmuInstance) -> ProbePoint:
    """The knowns are the inputs, the parameters and all variables with initial exact."""

    def known(v: ModelVariable) -> bool:
        return v.causality in ("input", "parameter") or (v.initial == "exact" and v.variability != "constant")

    knowns = [v for v in s.model.variables if known(v) and v.type != "String" and v.causality != "independent"]
    return ProbePoint(instance, knowns[:MAX_KNOWNS], lambda v, value: _set(instance, v, value))


def _set(instance: FmuInstance, v: ModelVariable, value: Value) -> bool:
    try:
        instance.set({v: value})
    except CallFailed:
        return False
    return True


Probe = tuple[str, Callable[[], ProbePoint], tuple[UnknownDependencies, ...]]


def _probes(s: Session) -> Iterator[Probe]:
    """(name, function that makes the probe point, unknowns): initialization, and several times of a simulation."""
    yield "InitialUnknowns", lambda: _initial(s, s.new_instance().go_to(INITIALIZATION)), s.model.initial_unknowns
    excitation = accepted_excitation(s)
    for count in PROBE_STEPS:

        def simulate(count: int = count) -> ProbePoint:
            instance = s.new_instance().enter_run_state()
            instance.run(s.steps(count)[:count], (), excitation)
            return _running(s, instance)

        unknowns = s.model.outputs + (s.model.derivatives if s.kind == "ModelExchange" else ())
        yield f"Outputs after {count} steps", simulate, unknowns


# --- D9 ---------------------------------------------------------------------------------------------------------------


@dataclass
class Observed:
    """What was seen at all probe points."""

    inputs: set[int]
    changed_by: dict[int, set[int]]  # output -> inputs that changed it
    tried: set[int] = field(default_factory=set)  # knowns
    reported: set[tuple[str, int, int]] = field(default_factory=set)  # (element, unknown, known)


@rule("D9", "dependencies", "2.2.8")
def dependencies(s: Session) -> Iterator[Finding]:
    """No unknown changes with a known that is not in its dependencies; no output declares, or implies by omitting
    dependencies, that it depends on inputs if it depends on none, since that makes false algebraic loops."""
    observed = Observed({v.index for v in s.model.of("input")}, {d.index: set() for d in s.model.outputs})
    for place, make_point, unknowns in _probes(s):
        listed = [d for d in unknowns if d.index in s.model.by_index and s.model.by_index[d.index].type != "String"]
        if not listed or not s.attempt(place):
            continue
        variables = [s.model.by_index[d.index] for d in listed]
        point = make_point()
        for known in point.knowns:
            if s.time_used(0.7):
                problem = "the time limit was reached before all knowns were tried"
                yield Finding(place, problem, "more time (--timeout)", severity="note")
                break
            effects = _effects(point, known, variables)
            if effects is None:
                point.instance.free()
                point = make_point()
                continue
            observed.tried.add(known.index)
            for d, v, effect in zip(listed, variables, effects, strict=True):
                if effect is not None and d.index != known.index:
                    yield from _undeclared(observed, place.split()[0], d, v, known, effect)
        point.instance.free()
    yield from _unneeded(s, observed)


def _undeclared(
    observed: Observed,
    element: str,
    d: UnknownDependencies,
    v: ModelVariable,
    known: ModelVariable,
    effect: tuple[float, float],
) -> Iterator[Finding]:
    """A finding if an unknown changed with a known that it does not list."""
    if known.index in observed.inputs and d.index in observed.changed_by:
        observed.changed_by[d.index].add(known.index)
    case = (element, d.index, known.index)
    if d.on is None or known.index in d.on or case in observed.reported:
        return
    observed.reported.add(case)
    if sum(e == element for e, _, _ in observed.reported) <= MAX_FINDINGS:
        values = f"{effect[0]:.6g} -> {effect[1]:.6g}"
        problem = f'it changes with "{known.name}" ({values}), which is not in its dependencies'
        expected = f"{known.index} in the dependencies of {element}"
        yield Finding(f"{v.where} in ModelStructure", problem, expected, line=d.line)


def _unneeded(s: Session, observed: Observed) -> Iterator[Finding]:
    """Outputs with dependencies on inputs that no input changed."""
    for d in s.model.outputs:
        v = s.model.by_index.get(d.index)
        declared = (observed.inputs if d.on is None else observed.inputs & set(d.on)) & observed.tried
        if v is None or v.type == "String" or not declared or observed.changed_by[d.index]:
            continue
        # certain without dependencies and for a state, which no input changes at once; another output may depend on an
        # input at other points, as its author declares
        certain = d.on is None or d.index in s.model.states
        listed = f"lists {len(declared)} inputs in its dependencies"
        reason = "has no dependencies, which means all inputs" if d.on is None else listed
        problem, expected = (
            f"it {reason}, but no input changes it at once",
            'dependencies without inputs, e.g. dependencies=""',
        )
        severity = "warning" if certain else "note"
        yield Finding(f"{v.where} in ModelStructure", problem, expected, severity=severity, line=d.line)


Effects = list[tuple[float, float] | None]


def _effects(point: ProbePoint, known: ModelVariable, unknowns: Sequence[ModelVariable]) -> Effects | None:
    """For each unknown its values before and after a change of `known`, or None if they are the same. None instead of a
    list if the FMU does not accept the change."""
    try:
        (value,) = point.instance.get([known])
        before = point.instance.numbers(unknowns)
        found: Effects = [None] * len(unknowns)
        for size in (1e-3, 0.1):
            other = _changed(known, value, size)
            if other is None:
                return found
            if not point.put(known, other):
                return None if found == [None] * len(unknowns) else found
            after = point.instance.numbers(unknowns)
            for i, (v, a, b) in enumerate(zip(unknowns, before, after, strict=True)):
                if abs(a - b) > MIN_CHANGE * max(abs(a), abs(b), 1e-6 * (v.nominal or 1.0)):
                    found[i] = (a, b)
            if known.type != "Real":
                break
        return found if point.put(known, value) else None
    except CallFailed:
        return None


# --- D10 --------------------------------------------------------------------------------------------------------------


@rule("D10", "directional derivatives", "2.1.9")
def directional_derivatives(s: Session) -> Iterator[Finding]:
    """fmi2GetDirectionalDerivative agrees with central differences, in initialization mode and at several times of a
    simulation."""
    if not s.model.flag(s.kind, "providesDirectionalDerivative"):
        return
    for place, make_point, unknowns in _probes(s):
        variables = [s.model.by_index[d.index] for d in unknowns if d.index in s.model.by_index]
        reals = [v for v in variables if v.type == "Real" and v.variability == "continuous"]
        if not reals or not s.attempt(place):
            continue
        point = make_point()
        wrong = 0
        for known in point.knowns:
            if known.type != "Real" or s.time_used(0.7):
                continue
            targets = [v for v in reals if v.index != known.index]
            exact = binding.reals([0.0] * len(targets))
            status = point.instance.call("fmi2GetDirectionalDerivative", *_seed_arguments(targets, known), exact)
            if status > WARNING:
                message = f": {s.last_message()}" if s.last_message() else ""
                problem = f'it returns {STATUS[status]} for the known "{known.name}" ({place}{message})'
                yield Finding("fmi2GetDirectionalDerivative", problem, "fmi2OK", line=known.line)
                break
            measured = _differences(point, known, targets)
            if measured is None:
                point.instance.free()
                point = make_point()
                continue
            for v, derivative, (difference, uncertainty) in zip(targets, exact, measured, strict=True):
                if not abs(derivative - difference) <= uncertainty and math.isfinite(difference):
                    wrong += 1
                    if wrong <= MAX_WRONG_DERIVATIVES:
                        problem = f'its derivative with respect to "{known.name}" is {derivative:.6g} ({place})'
                        yield v.finding(problem, f"{difference:.6g} by central differences")
        point.instance.free()


def _seed_arguments(unknowns: Sequence[ModelVariable], known: ModelVariable) -> tuple[object, ...]:
    unknown_references = binding.references([v.reference for v in unknowns])
    return unknown_references, len(unknowns), binding.references([known.reference]), 1, binding.reals([1.0])


def _differences(
    point: ProbePoint, known: ModelVariable, unknowns: Sequence[ModelVariable]
) -> list[tuple[float, float]] | None:
    """For each unknown the central difference, extrapolated from two step sizes, and its
    uncertainty. None if the FMU does not accept the changes."""
    try:
        (value,) = point.instance.numbers([known])
        here = point.instance.numbers(unknowns)
        rows = []
        steps = [size * max(known.scale, abs(value)) for size in (1e-4, 5e-5)]
        if not all(known.inside(value + sign * h) for h in steps for sign in (1, -1)):
            return [(math.nan, math.inf)] * len(unknowns)
        for h in steps:
            sides = []
            for sign in (1.0, -1.0):
                if not point.put(known, value + sign * h):
                    return None
                sides.append(point.instance.numbers(unknowns))
            rows.append([(a - b) / (2 * h) for a, b in zip(*sides, strict=True)])
        if not point.put(known, value):
            return None
    except CallFailed:
        return None
    found = []
    for y, coarse, fine in zip(here, *rows, strict=True):
        best = (4 * fine - coarse) / 3
        rounding = 1e-13 * max(abs(y), 1e-3) / steps[1]
        found.append((best, 10 * abs(coarse - fine) + 1e-5 * abs(best) + 100 * rounding + 1e-9))
    return found
