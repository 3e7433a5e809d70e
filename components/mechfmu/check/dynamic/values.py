"""D4 and D8: getting and setting values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from ctypes import c_char_p, create_string_buffer
from typing import Any

from ..findings import Finding, rule
from . import binding
from .binding import DISCARD, OK, WARNING
from .instance import INITIALIZATION, RUNNING, TYPES, CallFailed, FmuInstance, array, empty_array, same, status_name
from .loading import unknown_reference
from .model import ModelVariable, Value
from .session import Session

LARGEST_REFERENCE = 0xFFFFFFFF
MAX_ROUND_TRIPS = 300  # variables
MAX_INVALID_VALUES = 40  # variables


def _any_value(kind: str) -> Any:
    """A C array with one value for fmi2Set<kind>."""
    values: dict[str, Value] = {"Real": 0.0, "String": "text"}
    return array(kind, [values.get(kind, 0)])


@rule("D4", "getting and setting values", "2.1.7")
def setting_values(s: Session) -> Iterator[Finding]:
    """A value that was set can be read back; a variable that cannot be set in a state (fixed parameters after
    initialization, outputs) is rejected, and so are unknown references and references of another type; NULL, no values,
    values out of range and NaN do no harm."""
    yield from _bad_references(s)
    yield from _null_arguments(s)
    yield from _round_trip(s)
    yield from _not_settable(s)
    yield from _invalid_values(s)


def _bad_references(s: Session) -> Iterator[Finding]:
    for kind in TYPES:
        taken = {v.reference for v in s.model.variables if v.type == kind}
        unknown = unknown_reference(s.model.variables)
        cases = [("an unknown value reference", unknown), ("the largest value reference", LARGEST_REFERENCE)]
        other = next((v for v in s.model.variables if v.type != kind and v.reference not in taken), None)
        if other is not None:
            cases.append((f"the value reference of the {other.type} {other.where}", other.reference))
        for what, reference in cases:
            if reference not in taken:
                line = other.line if other is not None and reference == other.reference else None
                yield from _bad_reference(s, kind, what, reference, line)


def _bad_reference(s: Session, kind: str, what: str, reference: int, line: int | None) -> Iterator[Finding]:
    for verb, values in (("Get", empty_array(kind)), ("Set", _any_value(kind))):
        name = f"fmi2{verb}{kind}"
        if not s.library.has(name) or not s.attempt(f"{name} {reference}"):
            continue
        instance = s.new_instance().go_to(INITIALIZATION)
        note = f" ({what}, {reference})"
        status = instance.call(name, binding.references([reference]), 1, values, note=note)
        if status <= WARNING:
            problem = f"it returns {status_name(status)} for {what}, {reference}"
            yield Finding(name, problem, "fmi2Error", line=line)
        instance.free()


def _null_arguments(s: Session) -> Iterator[Finding]:
    for kind in TYPES:
        v = next((v for v in s.model.variables if v.type == kind), None)
        for verb, values in (("Get", empty_array(kind)), ("Set", _any_value(kind))):
            name = f"fmi2{verb}{kind}"
            if not s.library.has(name):
                continue
            if s.attempt(f"{name} nothing"):
                instance = s.new_instance().go_to(INITIALIZATION)
                if (status := instance.call(name, None, 0, None, note=" (nvr = 0)")) > WARNING:
                    problem = f"it returns {status_name(status)} for nvr = 0"
                    yield Finding(name, problem, "fmi2OK: there is nothing to do")
                instance.free()
            cases: list[tuple[str, tuple[Any, ...]]] = [("no references (vr = NULL)", (None, 1, values))]
            if v is not None:
                cases.append(("no array for the values (NULL)", (binding.references([v.reference]), 1, None)))
            for what, arguments in cases:
                if s.attempt(f"{name} {what}"):
                    instance = s.new_instance().go_to(INITIALIZATION)
                    if (status := instance.call(name, *arguments, note=f" ({what})")) <= WARNING:
                        problem = f"it returns {status_name(status)} for {what}"
                        yield Finding(name, problem, "fmi2Error", severity="warning")
                    instance.free()
    if s.attempt("fmi2GetReal without an instance"):
        arguments = (None, binding.references([0]), 1, empty_array("Real"))
        status = s.library.call(" (instance = NULL)", "fmi2GetReal", *arguments)
        if status <= WARNING:
            problem = f"it returns {status_name(status)} for no instance (NULL)"
            yield Finding("fmi2GetReal", problem, "fmi2Error", severity="warning")


def _test_value(v: ModelVariable) -> Value:
    """A legal value of the variable, other than its start value if possible."""
    if v.type == "Real":
        start = float(v.start or 0.0)
        found = [x for x in (start + 1e-3 * v.scale, start - 1e-3 * v.scale) if v.inside(x)]
        return found[0] if found else start
    if v.type == "Boolean":
        return not v.start
    if v.type == "String":
        return f"{v.start} changed"
    return int(v.start or 0)


def _round_trip(s: Session) -> Iterator[Finding]:
    variables = [v for v in s.model.of("parameter", "input") if v.start is not None]
    for v in variables[:MAX_ROUND_TRIPS]:
        if not s.attempt(f"round trip {v.index}"):
            continue
        instance = s.new_instance().go_to(INITIALIZATION)
        value, references = _test_value(v), binding.references([v.reference])
        if v.type == "String":
            buffer = create_string_buffer(str(value).encode())
            pointer = (c_char_p * 1)(c_char_p(bytes(buffer.value)))
            status = instance.call("fmi2SetString", references, 1, pointer)
            pointer[0] = b"overwritten"
        else:
            status = instance.call(f"fmi2Set{v.type}", references, 1, array(v.type, [value]))
        if status == OK:
            try:
                (read,) = instance.get([v])
            except CallFailed as error:
                yield v.finding(f"set to {value!r}, then {error}", "the value that was set")
            else:
                if not same(read, value):
                    yield v.finding(f"set to {value!r}, it reads {read!r}", "the value that was set")
        instance.free()


def _not_settable(s: Session) -> Iterator[Finding]:
    """Fixed parameters when running; outputs and calculated or constant variables at any time."""
    fixed = [v for v in s.model.of("parameter") if v.variability == "fixed"]
    states = set(s.model.states)
    candidates = [v for v in s.model.of("output", "local") if v.initial == "calculated"]
    calculated = [v for v in candidates if v.index not in states]
    constant = [v for v in s.model.variables if v.variability == "constant"]
    cases = (
        (RUNNING[s.kind], fixed, "it is a fixed parameter"),
        (INITIALIZATION, calculated[:20], "it is calculated"),
        (INITIALIZATION, constant[:20], "it is constant"),
    )
    for state, variables, reason in cases:
        accepted = [v for kind in TYPES for v in [v for v in variables if v.type == kind][:10] if _accepts(s, v, state)]
        if accepted:
            v, rest = accepted[0], f" and {len(accepted) - 1} more" if len(accepted) > 1 else ""
            problem, expected = f"it can be set in the state {state}", f"fmi2Error: {reason}"
            yield Finding(f"{v.where}{rest}", problem, expected, severity="warning", line=v.line)


def _accepts(s: Session, v: ModelVariable, state: str) -> bool:
    """Whether the FMU accepts in this state the value that the variable already has."""
    name = f"fmi2Set{v.type}"
    if not s.library.has(name) or not s.attempt(f"set {v.index} {state}"):
        return False
    instance = s.new_instance().go_to(state)
    (value,) = instance.get([v])
    status = instance.call(name, binding.references([v.reference]), 1, array(v.type, [value]))
    instance.free()
    return status <= WARNING


def _invalid_values(s: Session) -> Iterator[Finding]:
    """Values that no model can use: whatever the status, the FMU must not crash or hang, now or in the next calls."""
    variables = [v for v in s.model.of("parameter", "input", types=("Real", "Integer")) if v.start is not None]
    for v in variables[:MAX_INVALID_VALUES]:
        invalid: list[tuple[str, float]] = [("NaN", math.nan), ("infinity", math.inf)] if v.type == "Real" else []
        invalid += [("a value below its min", v.min - 1)] if v.min is not None and v.min > -1e9 else []
        invalid += [("a value above its max", v.max + 1)] if v.max is not None and v.max < 1e9 else []
        accepted = []
        for what, value in invalid:
            if not s.attempt(f"{what} {v.index}"):
                continue
            instance = s.new_instance().go_to(INITIALIZATION)
            note, values = f" ({v.name} = {what})", array(v.type, [value])
            status = instance.call(f"fmi2Set{v.type}", binding.references([v.reference]), 1, values, note=note)
            if status <= WARNING:
                accepted.append(what)
            _continue_run(instance, status, note)
            instance.free()
        if accepted:
            problem = f"it accepts {', '.join(accepted)} without an error"
            yield v.finding(problem, "fmi2Error or fmi2Discard", severity="note")


def _continue_run(instance: FmuInstance, status: int, note: str) -> None:
    """The next calls of an importer that ignores the status."""
    if status > DISCARD or instance.call("fmi2ExitInitializationMode", note=note) > WARNING:
        return
    if instance.kind == "CoSimulation":
        instance.call("fmi2DoStep", instance.t, instance.model.step_size, 1, note=note)


@rule("D8", "start values of XML and binary", "2.2.7")
def start_values(s: Session) -> Iterator[Finding]:
    """The binary has the start values of modelDescription.xml: in initialization mode, variables with initial exact,
    inputs, parameters and constants have these values."""
    started = [v for v in s.model.variables if v.start is not None and v.initial not in ("approx", "calculated")]
    instance = s.new_instance().go_to(INITIALIZATION)
    for v in started:
        (value,) = instance.get([v])
        start = v.start
        if isinstance(value, float) and isinstance(start, (int, float)):
            equal = math.isclose(value, start, rel_tol=1e-9, abs_tol=1e-300) or same(value, float(start))
        else:
            equal = value == start
        if not equal:
            yield v.finding(f"it is {value!r} in the binary", f"{start!r}, its start value in the XML")
    instance.free()
