"""Part of D4: calculated parameters follow the parameters that they depend on."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding
from .initial_values import InitialValues
from .instance import SimulationTerminated, same
from .model import Model, ModelVariable, Value
from .session import Session
from .stirring import FAILURES

SHARE = 0.6  # of the time budget
SIZES = (0.3, -0.3, 3.0, -3.0, 100.0, -100.0)  # changes of a parameter, relative to its value or nominal value
NAMES = 3  # dependencies that a finding names


def calculated_parameters(s: Session, initial: InitialValues) -> Iterator[Finding]:
    """Calculated parameters, numbers and texts, that stay what they are whatever their dependencies are set to. One
    that all parameters are listed for is not judged: the list says nothing then."""
    candidates = _candidates(s.model)
    if not candidates or not initial.accepted:
        return
    plain, changed = initial.plain.after.values(), initial.early.after.values()
    for v, on in candidates.items():
        if not same(plain[v], changed[v]):
            continue
        if s.time_used(SHARE):
            s.not_judged("calculated parameters: the time budget was used up")
            return
        if _never_follows(initial, v, on, plain[v]):
            names = ", ".join(f'"{d.name}"' for d in on[:NAMES])
            problem = f"it is {plain[v]!r}, whatever is set for {names}, which it depends on"
            yield v.finding(problem, "a value that follows them", "calculated-parameter")


def _candidates(model: Model) -> dict[ModelVariable, list[ModelVariable]]:
    """Calculated parameters, and the parameters that InitialUnknowns lists for them."""
    parameters = [v for v in model.of("parameter") if v.variability != "constant"]
    found = {}
    for d in model.initial_unknowns:
        v = model.by_index.get(d.index)
        if v is None or v.causality != "calculatedParameter" or v.type not in ("Real", "String") or not d.on:
            continue
        on = [model.by_index[i] for i in d.on if i in model.by_index]
        if all(x in parameters for x in on) and (len(on) < len(parameters) or len(on) == 1):
            found[v] = on
    return found


def _never_follows(initial: InitialValues, v: ModelVariable, on: list[ModelVariable], value: Value) -> bool:
    """Whether a variable keeps its value when each of the others is changed, as far as possible. False if one of them
    cannot be changed."""
    for known in on:
        accepted = 0
        for other in _others(known):
            try:
                found = initial.initialized({known: other}).after.values()
            except (*FAILURES, SimulationTerminated):
                continue
            finally:
                initial.s.free_all()
            accepted += 1
            if not same(found[v], value):
                return False
        if not accepted:
            return False
    return True


def _others(v: ModelVariable) -> list[Value]:
    """Values that are far from the start value."""
    if v.type == "Boolean":
        return [not v.start]
    if v.type == "String":
        return [f"{v.start} changed", "x"]
    if v.items:
        return [x for x in v.items if x != v.start and v.inside(x)]
    start = float(v.start or 0.0)
    values = [start + size * max(abs(start), v.nominal or 0.0, 1e-3) for size in SIZES]
    values += [x for x in (v.min, v.max) if x is not None]
    wanted: list[Value] = list(values) if v.type == "Real" else [round(x) for x in values if abs(x) < 1 << 30]
    return [x for x in wanted if not isinstance(x, str) and v.inside(x) and x != v.start]
