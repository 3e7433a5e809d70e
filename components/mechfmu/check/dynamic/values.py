"""D4 and D8: getting and setting values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from ctypes import c_char_p, c_double, c_int, create_string_buffer
from typing import Any

from ..findings import Finding, rule
from . import binding
from .binding import DISCARD, OK, STATUS, WARNING
from .model import Value, ModelVariable
from .session import Session
from .instance import RUNNING, CallFailed, FmuInstance, array, same

TYPES = ("Real", "Integer", "Boolean", "String")


def _output_array(kind: str) -> Any:
    return ({"Real": c_double, "String": c_char_p}.get(kind, c_int) * 1)()


def _input_array(kind: str) -> Any:
    some: dict[str, Value] = {"Real": 0.0, "String": "text"}
    return array(kind, [some.get(kind, 0)])


def _status(status: int) -> str:
    return STATUS[status] if 0 <= status < len(STATUS) else str(status)


@rule("D4", "getting and setting values", "2.1.7")
def setting_values(s: Session) -> Iterator[Finding]:
    """What is set can be read back; what cannot be set in a state (fixed parameters after initialization, outputs) is refused; unknown references and
    references of another type are refused; NULL, no values, values out of range and NaN do no harm."""
    yield from _bad_references(s)
    yield from _null_arguments(s)
    yield from _round_trip(s)
    yield from _not_settable(s)
    yield from _invalid_values(s)


def _bad_references(s: Session) -> Iterator[Finding]:
    taken = {kind: {v.reference for v in s.model.variables if v.type == kind} for kind in TYPES}
    beyond = min(
        max((v.reference for v in s.model.variables), default=0) + 1_000_003, 0xFFFFFFFE
    )  # right behind may be hidden variables
    for kind in TYPES:
        foreign = next((v for v in s.model.variables if v.type != kind and v.reference not in taken[kind]), None)
        for what, reference in (
            ("an unknown value reference", beyond),
            ("the largest value reference", 0xFFFFFFFF),
            ("", foreign.reference if foreign else None),
        ):
            if reference is None or reference in taken[kind]:
                continue
            what = (
                what
                or f'the value reference of the {foreign.type if foreign else ""} variable "{foreign.name if foreign else ""}"'
            )
            for verb, values in (("Get", _output_array(kind)), ("Set", _input_array(kind))):
                name = f"fmi2{verb}{kind}"
                if not s.library.has(name) or not s.attempt(f"{name} {reference}"):
                    continue
                instance = s.new_instance().go_to("initialization mode")
                status = instance.call(name, binding.references([reference]), 1, values, note=f" ({what}, {reference})")
                if status <= WARNING:
                    yield Finding(
                        name,
                        f"it returns {_status(status)} for {what}, {reference}",
                        "fmi2Error",
                        line=foreign.line if foreign and reference == foreign.reference else None,
                    )
                instance.free()


def _null_arguments(s: Session) -> Iterator[Finding]:
    for kind in TYPES:
        v = next((v for v in s.model.variables if v.type == kind), None)
        for verb, values in (("Get", _output_array(kind)), ("Set", _input_array(kind))):
            name = f"fmi2{verb}{kind}"
            if not s.library.has(name):
                continue
            if s.attempt(f"{name} nothing"):
                instance = s.new_instance().go_to("initialization mode")
                if (status := instance.call(name, None, 0, None, note=" (nvr = 0)")) > WARNING:
                    yield Finding(name, f"it returns {_status(status)} for nvr = 0", "fmi2OK: there is nothing to do")
                instance.free()
            probes: list[tuple[str, tuple[Any, ...]]] = [("no references (vr = NULL)", (None, 1, values))]
            if v is not None:
                probes.append(("no array for the values (NULL)", (binding.references([v.reference]), 1, None)))
            for what, arguments in probes:
                if s.attempt(f"{name} {what}"):
                    instance = s.new_instance().go_to("initialization mode")
                    if (status := instance.call(name, *arguments, note=f" ({what})")) <= WARNING:
                        yield Finding(name, f"it returns {_status(status)} for {what}", "fmi2Error", severity="warning")
                    instance.free()
    if s.attempt("fmi2GetReal without an instance"):
        status = s.library.call(" (instance = NULL)", "fmi2GetReal", None, binding.references([0]), 1, _output_array("Real"))
        if status <= WARNING:
            yield Finding(
                "fmi2GetReal", f"it returns {_status(status)} for no instance (NULL)", "fmi2Error", severity="warning"
            )


def _test_value(v: ModelVariable) -> Value:
    """A value that the variable should take: not its start value, if there is another one within its limits."""
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
    for v in [v for v in s.model.variables if v.causality in ("parameter", "input") and v.start is not None][:300]:
        if not s.attempt(f"round trip {v.index}"):
            continue
        instance = s.new_instance().go_to("initialization mode")
        value = _test_value(v)
        if v.type == "String":
            buffer = create_string_buffer(str(value).encode())
            pointer = (c_char_p * 1)(c_char_p(bytes(buffer.value)))
            status = instance.call("fmi2SetString", binding.references([v.reference]), 1, pointer)
            pointer[0] = b"overwritten"
        else:
            status = instance.call(f"fmi2Set{v.type}", binding.references([v.reference]), 1, array(v.type, [value]))
        if status == OK:
            try:
                (read,) = instance.get([v])
            except CallFailed as error:
                yield Finding(v.where, f"set to {value!r}, then {error}", "the value that was set", line=v.line)
            else:
                if not same(read, value):
                    yield Finding(
                        v.where, f"set to {value!r}, it reads {read!r}", "the value that was set", line=v.line
                    )
        instance.free()


def _not_settable(s: Session) -> Iterator[Finding]:
    """Fixed parameters when running; outputs and calculated or constant variables at any time."""
    cases: list[tuple[str, list[ModelVariable], str]] = []
    fixed = [v for v in s.model.of("parameter") if v.variability == "fixed"]
    cases.append((RUNNING[s.kind], fixed, "it is a fixed parameter"))
    states = set(s.model.states)
    computed = [
        v
        for v in s.model.variables
        if v.causality in ("output", "local") and v.initial == "calculated" and v.index not in states
    ]
    constant = [v for v in s.model.variables if v.variability == "constant"]
    cases += [
        ("initialization mode", computed[:20], "it is calculated"),
        ("initialization mode", constant[:20], "it is constant"),
    ]
    for state, variables, why in cases:
        accepted: list[ModelVariable] = []
        for kind in TYPES:
            for v in [v for v in variables if v.type == kind][:10]:
                if not s.library.has(f"fmi2Set{kind}") or not s.attempt(f"set {v.index} {state}"):
                    continue
                instance = s.new_instance().go_to(state)
                (value,) = instance.get([v])
                if instance.call(f"fmi2Set{kind}", binding.references([v.reference]), 1, array(kind, [value])) <= WARNING:
                    accepted.append(v)
                instance.free()
        if accepted:
            v, rest = accepted[0], f" and {len(accepted) - 1} more" if len(accepted) > 1 else ""
            yield Finding(
                f"{v.where}{rest}",
                f"it can be set in the state {state}",
                f"fmi2Error: {why}",
                severity="warning",
                line=v.line,
            )


def _invalid_values(s: Session) -> Iterator[Finding]:
    """Values no model can use: whatever the answer, the FMU survives and goes on to answer."""
    for v in [
        v
        for v in s.model.variables
        if v.causality in ("parameter", "input") and v.type in ("Real", "Integer") and v.start is not None
    ][:40]:
        bad: list[tuple[str, float]] = [("NaN", math.nan), ("infinity", math.inf)] if v.type == "Real" else []
        bad += [("a value below its min", v.min - 1)] if v.min is not None and v.min > -1e9 else []
        bad += [("a value above its max", v.max + 1)] if v.max is not None and v.max < 1e9 else []
        taken = []
        for what, value in bad:
            if not s.attempt(f"{what} {v.index}"):
                continue
            instance = s.new_instance().go_to("initialization mode")
            note = f" ({v.name} = {what})"
            status = instance.call(
                f"fmi2Set{v.type}", binding.references([v.reference]), 1, array(v.type, [value]), note=note
            )
            if status <= WARNING:
                taken.append(what)
            _continue_run(instance, status, note)
            instance.free()
        if taken:
            yield Finding(
                v.where,
                f"it takes {', '.join(taken)} without complaint",
                "fmi2Error or fmi2Discard",
                severity="note",
                line=v.line,
            )


def _continue_run(instance: FmuInstance, status: int, note: str) -> None:
    """What a careless host does next; only crashes and hangs matter."""
    if status > DISCARD:
        return
    for name in ("fmi2ExitInitializationMode",):
        if instance.call(name, note=note) > WARNING:
            return
    if instance.kind == "CoSimulation":
        instance.call("fmi2DoStep", instance.t, instance.model.step_size, 1, note=note)


@rule("D8", "start values of XML and binary", "2.2.7")
def start_values(s: Session) -> Iterator[Finding]:
    """The start values in modelDescription.xml are those of the binary: what is exact, input, parameter or constant reads so in initialization mode."""
    started = [
        v for v in s.model.variables if v.start is not None and v.initial != "approx" and v.initial != "calculated"
    ]
    instance = s.new_instance().go_to("initialization mode")
    for v in started:
        (value,) = instance.get([v])
        start = v.start
        if isinstance(value, float) and isinstance(start, (int, float)):
            equal = math.isclose(value, start, rel_tol=1e-9, abs_tol=1e-300) or same(value, float(start))
        else:
            equal = value == start
        if not equal:
            yield Finding(
                v.where, f"it is {value!r} in the binary", f"{start!r}, its start value in the XML", line=v.line
            )
    instance.free()
