"""D9 and D10: what depends on what, and how strongly, found by changing one thing at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..findings import Finding, rule
from . import binding
from .binding import STATUS, WARNING
from .experiments import accepted_excitation
from .model import UnknownDependencies, Value, ModelVariable
from .session import Session
from .instance import CallFailed, FmuInstance

NOTICED = 1e-8  # relative change of an unknown that is more than rounding
MAX_KNOWNS = 400


@dataclass(frozen=True)
class ProbePoint:
    """A place where to look: an instance in some state, with its knowns and how to change them."""

    instance: FmuInstance
    knowns: list[ModelVariable]
    put: Callable[[ModelVariable, Value], bool]  # whether the FMU took the value


def _changed(v: ModelVariable, value: Value, size: float) -> Value | None:
    """Another value of a variable, a little away from this one."""
    if v.type == "Real":
        step = size * max(v.scale, abs(float(value)))
        return next((x for x in (float(value) + step, float(value) - step) if v.inside(x)), None)
    if v.type == "Boolean":
        return not value
    if v.type == "Integer":
        return next(
            (
                x
                for x in (int(value) + 1, int(value) - 1)
                if v.inside(x) and (v.min is not None or v.causality == "input")
            ),
            None,
        )
    return None


def _running(s: Session, instance: FmuInstance) -> ProbePoint:
    """Inputs, and in Model Exchange the states."""
    states = {index: i for i, index in enumerate(s.model.states)} if instance.kind == "ModelExchange" else {}
    inputs = [
        v
        for v in s.model.of("input", types=("Real", "Integer", "Boolean"))
        if instance.kind == "CoSimulation" or v.type == "Real"
    ]
    knowns = [*inputs, *(s.model.by_index[i] for i in states if i in s.model.by_index)]

    def put(v: ModelVariable, value: Value) -> bool:
        if v.index in states:
            x = instance.states()
            x[states[v.index]] = float(value)
            return instance.call("fmi2SetContinuousStates", binding.reals(x), len(x)) <= WARNING
        return _set(instance, v, value)

    return ProbePoint(instance, knowns[:MAX_KNOWNS], put)


def _initial(s: Session, instance: FmuInstance) -> ProbePoint:
    """Inputs and everything that starts exactly."""
    knowns = [
        v
        for v in s.model.variables
        if v.causality in ("input", "parameter") or (v.initial == "exact" and v.variability != "constant")
    ]
    return ProbePoint(
        instance,
        [v for v in knowns if v.type != "String" and v.causality != "independent"][:MAX_KNOWNS],
        lambda v, value: _set(instance, v, value),
    )


def _set(instance: FmuInstance, v: ModelVariable, value: Value) -> bool:
    try:
        instance.set({v: value})
    except CallFailed:
        return False
    return True


def _places(s: Session) -> Iterator[tuple[str, Callable[[], ProbePoint], tuple[UnknownDependencies, ...]]]:
    """(name, how to get there, the unknowns): initialization, and several moments of a simulation."""
    yield "InitialUnknowns", lambda: _initial(s, s.new_instance().go_to("initialization mode")), s.model.initial_unknowns
    excitation = accepted_excitation(s)
    for count in (0, 3, 17):

        def run(count: int = count) -> ProbePoint:
            instance = s.new_instance().enter_run_state()
            instance.run(s.steps(count)[:count], (), excitation)
            return _running(s, instance)

        unknowns = s.model.outputs + (s.model.derivatives if s.kind == "ModelExchange" else ())
        yield f"Outputs after {count} steps", run, unknowns


@rule("D9", "dependencies", "2.2.8")
def dependencies(s: Session) -> Iterator[Finding]:
    """No unknown changes with a known that it does not list in its dependencies; no output is said, or by saying nothing understood, to depend on inputs
    when it depends on none: that makes false algebraic loops."""
    inputs = {v.index for v in s.model.of("input")}
    seen: dict[int, set[int]] = {
        d.index: set() for d in s.model.outputs
    }  # output -> inputs that were seen to change it
    tried: set[int] = set()
    findings_text: set[tuple[str, int, int]] = set()
    for place, reach, unknowns in _places(s):
        listed = [d for d in unknowns if d.index in s.model.by_index and s.model.by_index[d.index].type != "String"]
        if not listed or not s.attempt(place):
            continue
        variables = [s.model.by_index[d.index] for d in listed]
        point = reach()
        for known in point.knowns:
            if s.time_used(0.7):
                yield Finding(
                    place, "time was up before all knowns were tried", "more time (--timeout)", severity="note"
                )
                break
            effects = _effects(point, known, variables)
            if effects is None:
                point.instance.free()
                point = reach()
                continue
            tried.add(known.index)
            for d, v, effect in zip(listed, variables, effects, strict=True):
                if effect is None or d.index == known.index:
                    continue
                if known.index in inputs and d.index in seen:
                    seen[d.index].add(known.index)
                element = place.split()[0]
                if d.on is not None and known.index not in d.on and (element, d.index, known.index) not in findings_text:
                    findings_text.add((element, d.index, known.index))
                    if sum(e == element for e, _, _ in findings_text) <= 20:
                        yield Finding(
                            f"{v.where} in ModelStructure",
                            f'it changes with "{known.name}" ({effect[0]:.6g} -> {effect[1]:.6g}), which is not in its dependencies',
                            f"{known.index} in the dependencies of {element}",
                            line=d.line,
                        )
        point.instance.free()
    yield from _absent(s, seen, inputs, tried)


def _absent(s: Session, seen: dict[int, set[int]], inputs: set[int], tried: set[int]) -> Iterator[Finding]:
    """Outputs that no input was seen to change, though they are said to depend on inputs."""
    for d in s.model.outputs:
        v = s.model.by_index.get(d.index)
        declared = (inputs if d.on is None else inputs & set(d.on)) & tried
        if v is None or v.type == "String" or not declared or seen[d.index]:
            continue
        # a state never follows an input at once; another output may do so elsewhere, and if its author says so that is as good as proof
        certain = d.on is None or d.index in s.model.states
        how = (
            "has no dependencies, which means all inputs"
            if d.on is None
            else f"lists {len(declared)} inputs in its dependencies"
        )
        expected = 'dependencies without inputs, e.g. dependencies=""'
        problem = f"it {how}, but no input changes it at once"
        yield Finding(
            f"{v.where} in ModelStructure", problem, expected, severity="warning" if certain else "note", line=d.line
        )


def _effects(point: ProbePoint, known: ModelVariable, unknowns: Sequence[ModelVariable]) -> list[tuple[float, float] | None] | None:
    """For each unknown: its values before and after a change of `known` if they differ, else None. None when the FMU does not take the change."""
    try:
        (value,) = point.instance.get([known])
        before = point.instance.numbers(unknowns)
        found: list[tuple[float, float] | None] = [None] * len(unknowns)
        for size in (1e-3, 0.1):
            other = _changed(known, value, size)
            if other is None:
                return found
            if not point.put(known, other):
                return None if found == [None] * len(unknowns) else found
            after = point.instance.numbers(unknowns)
            for i, (v, a, b) in enumerate(zip(unknowns, before, after, strict=True)):
                if abs(a - b) > NOTICED * max(abs(a), abs(b), 1e-6 * (v.nominal or 1.0)):
                    found[i] = (a, b)
            if known.type != "Real":
                break
        return found if point.put(known, value) else None
    except CallFailed:
        return None


@rule("D10", "directional derivatives", "2.1.9")
def directional_derivatives(s: Session) -> Iterator[Finding]:
    """fmi2GetDirectionalDerivative agrees with central differences, in initialization mode and at several moments of a simulation."""
    if not s.model.flag(s.kind, "providesDirectionalDerivative"):
        return
    for place, reach, unknowns in _places(s):
        reals = [
            v
            for d in unknowns
            if (v := s.model.by_index.get(d.index)) is not None and v.type == "Real" and v.variability == "continuous"
        ]
        if not reals or not s.attempt(place):
            continue
        point = reach()
        wrong = 0
        for known in point.knowns:
            if known.type != "Real" or s.time_used(0.7):
                continue
            targets = [v for v in reals if v.index != known.index]
            exact = binding.reals([0.0] * len(targets))
            status = point.instance.call("fmi2GetDirectionalDerivative", *_seeded(targets, known), exact)
            if status > WARNING:
                yield Finding(
                    "fmi2GetDirectionalDerivative",
                    f'it returns {STATUS[status]} for the known "{known.name}" ({place}{_said(s)})',
                    "fmi2OK",
                    line=known.line,
                )
                break
            measured = _differences(point, known, targets)
            if measured is None:
                point.instance.free()
                point = reach()
                continue
            for v, dd, (fd, doubt) in zip(targets, exact, measured, strict=True):
                if not abs(dd - fd) <= doubt and math.isfinite(fd):
                    wrong += 1
                    if wrong <= 5:
                        yield Finding(
                            v.where,
                            f'its derivative with respect to "{known.name}" is {dd:.6g} ({place})',
                            f"{fd:.6g} by central differences",
                            line=v.line,
                        )
        point.instance.free()


def _said(s: Session) -> str:
    return f": {s.last_message()}" if s.last_message() else ""


def _seeded(unknowns: Sequence[ModelVariable], known: ModelVariable) -> tuple[object, ...]:
    return (
        binding.references([v.reference for v in unknowns]),
        len(unknowns),
        binding.references([known.reference]),
        1,
        binding.reals([1.0]),
    )


def _differences(point: ProbePoint, known: ModelVariable, unknowns: Sequence[ModelVariable]) -> list[tuple[float, float]] | None:
    """Central differences with two steps, extrapolated, and how much they can be trusted; None when the FMU does not take the changes."""
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
