"""R2: invalid arguments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ...findings import Finding, rule
from .. import binding
from ..binding import DISCARD, WARNING
from ..instance import INITIALIZATION, RUNNING, TYPES, CallFailed, array, empty_array, status_name
from ..model import ModelVariable
from ..session import Session
from .arguments import any_value, unknown_reference

LARGEST_REFERENCE = 0xFFFFFFFF
SHARE = 0.85  # of the time budget


@rule("R2", "invalid arguments", "2.1.2, 2.1.7")
def invalid_arguments(s: Session) -> Iterator[Finding]:
    """Unknown value references and those of another type, variables that cannot be set, NULL arrays, NULL strings and a
    NULL instance are refused; values out of range and NaN are refused or survived; nvr = 0 does nothing."""
    yield from _wrong_references(s)
    yield from _null_arguments(s)
    yield from _not_settable(s)
    yield from _invalid_values(s)


def _call(s: Session, state: str, name: str, arguments: tuple[Any, ...], note: str) -> int:
    """The status of a call of a new instance."""
    instance = s.new_instance().go_to(state)
    status = instance.call(name, *arguments, note=f" ({note})")
    instance.free()
    return status


def _wrong_references(s: Session) -> Iterator[Finding]:
    for kind in TYPES:
        taken = {v.reference for v in s.model.variables if v.type == kind}
        cases = [("an unknown value reference", unknown_reference(s.model.variables))]
        cases.append(("the largest value reference", LARGEST_REFERENCE))
        other = next((v for v in s.model.variables if v.type != kind and v.reference not in taken), None)
        if other is not None:
            cases.append((f"a value reference of type {other.type}", other.reference))
        for what, reference in cases:
            for verb, values in (("Get", empty_array(kind)), ("Set", any_value(kind))):
                name = f"fmi2{verb}{kind}"
                if reference in taken or not s.library.has(name) or not s.attempt(f"{name} {reference}"):
                    continue
                arguments = (binding.references([reference]), 1, values)
                status = _call(s, INITIALIZATION, name, arguments, f"{what}, {reference}")
                if status <= WARNING:
                    problem = f"it returns {status_name(status)} for {what}, {reference}"
                    yield Finding(name, problem, "fmi2Error", sentence="constant-not-set")


def _null_arguments(s: Session) -> Iterator[Finding]:
    for kind in TYPES:
        readable = next((v for v in s.model.initial_readable if v.type == kind), None)
        settable = next((v for v in _settable(s) if v.type == kind), None)
        for verb, v, values in (("Get", readable, empty_array(kind)), ("Set", settable, any_value(kind))):
            name = f"fmi2{verb}{kind}"
            if not s.library.has(name):
                continue
            if s.attempt(f"{name} nothing"):
                status = _call(s, INITIALIZATION, name, (None, 0, None), "nvr = 0")
                if status > WARNING:
                    yield Finding(name, f"it returns {status_name(status)} for nvr = 0", "fmi2OK: nothing to do")
            cases: list[tuple[str, tuple[Any, ...]]] = [("no references (vr = NULL)", (None, 1, values))]
            if v is not None:
                cases.append(("no array for the values (NULL)", (binding.references([v.reference]), 1, None)))
                if name == "fmi2SetString":
                    cases.append(("no text (NULL)", (binding.references([v.reference]), 1, empty_array(kind))))
            for what, arguments in cases:
                if (
                    s.attempt(f"{name} {what}")
                    and (status := _call(s, INITIALIZATION, name, arguments, what)) <= WARNING
                ):
                    yield Finding(name, f"it returns {status_name(status)} for {what}", "fmi2Error")
    if s.attempt("fmi2GetReal without an instance"):
        arguments = (None, binding.references([0]), 1, empty_array("Real"))
        status = s.library.call(" (instance = NULL)", "fmi2GetReal", *arguments)
        if status <= WARNING:
            problem = f"it returns {status_name(status)} for no instance (NULL)"
            yield Finding("fmi2GetReal", problem, "fmi2Error")


def _settable(s: Session) -> list[ModelVariable]:
    """Variables that may be set in initialization mode."""
    return [v for v in s.model.of("input", "parameter") if v.start is not None and v.variability != "constant"]


def _not_settable(s: Session) -> Iterator[Finding]:
    """Fixed parameters when running; calculated variables and constants at any time."""
    states = set(s.model.states)
    fixed = [v for v in s.model.of("parameter") if v.variability == "fixed"]
    calculated = [v for v in s.model.of("output", "local", "calculatedParameter") if v.initial == "calculated"]
    constant = [v for v in s.model.variables if v.variability == "constant"]
    cases = (
        (RUNNING[s.kind], fixed, "it is a fixed parameter"),
        (INITIALIZATION, [v for v in calculated if v.index not in states], "it is calculated"),
        (INITIALIZATION, constant, "it is constant"),
    )
    for state, variables, reason in cases:
        for kind in TYPES:
            v = next((v for v in variables if v.type == kind), None)
            if v is not None and _accepts(s, v, state):
                yield v.finding(f"it can be set in the state {state}", f"fmi2Error: {reason}")


def _accepts(s: Session, v: ModelVariable, state: str) -> bool:
    """Whether the FMU accepts in this state the value that the variable has after initialization."""
    name = f"fmi2Set{v.type}"
    if not s.library.has(name) or not s.attempt(f"set {v.index} {state}"):
        return False
    reference = s.new_instance().enter_run_state()
    (value,) = reference.get([v])
    reference.free()
    arguments = (binding.references([v.reference]), 1, array(v.type, [value]))
    return _call(s, state, name, arguments, f"{state}, {v.name}") <= WARNING


def _invalid_values(s: Session) -> Iterator[Finding]:
    """Values that no model can use: whatever the status, the FMU survives them and the next calls."""
    variables = [v for v in s.model.of("parameter", "input", types=("Real", "Integer")) if v.start is not None]
    for number, v in enumerate(variables):
        if s.time_used(SHARE):
            s.not_judged(f"invalid values of {len(variables) - number} variables: the time budget was used up")
            return
        invalid: list[tuple[str, float]] = [("NaN", math.nan), ("infinity", math.inf)] if v.type == "Real" else []
        if v.items:
            invalid += [("a value below all items", min(v.items) - 1), ("a value above all items", max(v.items) + 1)]
        invalid += [("a value below its min", v.min - 1)] if v.min is not None and v.min > -1e9 else []
        invalid += [("a value above its max", v.max + 1)] if v.max is not None and v.max < 1e9 else []
        accepted = [what for what, value in invalid if s.attempt(f"{what} {v.index}") and _takes(s, v, what, value)]
        if accepted:
            yield v.finding(f"it accepts {', '.join(accepted)} without an error", "fmi2Error or fmi2Discard")


def _takes(s: Session, v: ModelVariable, what: str, value: float) -> bool:
    """Whether the FMU accepts the value, in its next calls too; these are made as by an importer that goes on."""
    instance = s.new_instance().go_to(INITIALIZATION)
    note = f" ({v.name} = {what})"
    arguments = (binding.references([v.reference]), 1, array(v.type, [value]))
    status = instance.call(f"fmi2Set{v.type}", *arguments, note=note)
    if status > DISCARD:
        instance.free()
        return False
    taken = status <= WARNING
    try:
        instance.exit_initialization()
        if instance.kind == "CoSimulation":
            taken = instance.call("fmi2DoStep", instance.t, s.model.step_size, 1, note=note) <= WARNING and taken
    except CallFailed:
        taken = False
    instance.free()
    return taken
