"""D6: the state of the FMU."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import byref, c_size_t, c_void_p

from ..findings import Finding, rule
from .binding import STATUS, WARNING
from .experiments import unlike, willing
from .session import Session
from .unit import Refused, Unit

Saved = tuple[c_void_p, float, str, float | None]


def save(unit: Unit) -> Saved:
    handle = c_void_p()
    unit.must("fmi2GetFMUstate", byref(handle))
    return handle, unit.t, unit.state, unit.next_event


def restore(unit: Unit, saved: Saved) -> None:
    unit.must("fmi2SetFMUstate", saved[0])
    _, unit.t, unit.state, unit.next_event = saved


@rule("D6", "saved states of the FMU", "2.1.8")
def fmu_state(s: Session) -> Iterator[Finding]:
    """A restored state repeats the simulation to the last bit, also when several states are kept, and serialized into a second instance; freeing a
    NULL state is ignored."""
    if not s.model.flag(s.kind, "canGetAndSetFMUstate"):
        return
    try:
        if s.attempt("replay"):
            yield from _replay(s)
        if s.attempt("initialization"):
            yield from _initialization(s)
        if s.attempt("nested states"):
            yield from _nested(s)
        if s.model.flag(s.kind, "canSerializeFMUstate") and s.attempt("serialized state"):
            yield from _serialized(s)
        if s.attempt("freeing"):
            yield from _freeing(s)
    except Refused as error:
        yield Finding(
            error.function, f"{error} ({error.state})", "fmi2OK: the FMU can get and set its state", severity="error"
        )


def _replay(s: Session) -> Iterator[Finding]:
    drive, variables, steps = willing(s), s.model.everything, s.steps(10)
    unit = s.fresh().run_state()
    unit.run(steps[: len(steps) // 2], (), drive)
    saved = save(unit)
    first = unit.run(steps, variables, drive)
    restore(unit, saved)
    again = unit.run(steps, variables, drive)
    yield from unlike(s, variables, first, again, "a replay from a restored state differs", ("first run", "replay"))
    unit.free()


def _initialization(s: Session) -> Iterator[Finding]:
    """A state that was saved in initialization mode brings the instance back there."""
    unit = s.fresh().to("initialization mode")
    saved = save(unit)
    first = [unit.get(s.model.everything)]
    unit.run_state()
    unit.run(s.steps(3), ())
    restore(unit, saved)
    again = [unit.get(s.model.everything)]
    yield from unlike(
        s, s.model.everything, first, again, "a state of initialization mode is not restored", ("saved", "restored")
    )
    unit.run_state()
    unit.free()


def _nested(s: Session) -> Iterator[Finding]:
    drive, variables, steps = willing(s), s.model.everything, s.steps(3)
    unit = s.fresh().run_state()
    states, values = [], []
    for _ in range(3):
        unit.run(steps, (), drive)
        states.append(save(unit))
        values.append(unit.get(variables))
    for i in (1, 0, 2, 0):
        restore(unit, states[i])
        yield from unlike(
            s,
            variables,
            [values[i]],
            [unit.get(variables)],
            f"state {i + 1} of 3 kept at once is not restored",
            ("saved", "restored"),
        )
    unit.must("fmi2FreeFMUstate", byref(states[0][0]))
    restore(unit, states[2])
    yield from unlike(
        s,
        variables,
        [values[2]],
        [unit.get(variables)],
        "a state is lost when another one is freed",
        ("saved", "restored"),
    )
    unit.must("fmi2GetFMUstate", byref(states[1][0]))  # a handle may be used again
    unit.run(steps, (), drive)
    unit.must("fmi2SetFMUstate", states[1][0])
    yield from unlike(
        s,
        variables,
        [values[2]],
        [unit.get(variables)],
        "a state saved into a used handle is not restored",
        ("saved", "restored"),
    )
    unit.free()


def _serialized(s: Session) -> Iterator[Finding]:
    drive, variables, steps = willing(s), s.model.everything, s.steps(10)
    unit = s.fresh().run_state()
    unit.run(steps[: len(steps) // 2], (), drive)
    saved = save(unit)
    size = c_size_t(0)
    unit.must("fmi2SerializedFMUstateSize", saved[0], byref(size))
    if not 0 < size.value < 1 << 31:
        yield Finding("fmi2SerializedFMUstateSize", f"it says {size.value}", "a number of bytes")
        return
    data = ctypes.create_string_buffer(size.value)
    unit.must("fmi2SerializeFMUstate", saved[0], ctypes.cast(data, c_void_p), size.value)
    first = unit.run(steps, variables, drive)
    unit.must("fmi2FreeFMUstate", byref(saved[0]))
    unit.free()
    other = s.fresh().run_state()
    handle = c_void_p()
    other.must("fmi2DeSerializeFMUstate", ctypes.cast(data, c_void_p), size.value, byref(handle))
    restore(other, (handle, *saved[1:]))
    again = other.run(steps, variables, drive)
    yield from unlike(
        s,
        variables,
        first,
        again,
        "a replay from a serialized state in a second instance differs",
        ("first instance", "second instance"),
    )
    other.must("fmi2FreeFMUstate", byref(handle))
    other.free()


def _freeing(s: Session) -> Iterator[Finding]:
    unit = s.fresh().run_state()
    nothing = c_void_p()
    status = unit.call("fmi2FreeFMUstate", byref(nothing), note=" (a NULL state)")
    if status > WARNING:
        yield Finding("fmi2FreeFMUstate", f"it returns {STATUS[status]} for a NULL state", "fmi2OK: it is ignored")
    handle = save(unit)[0]
    unit.must("fmi2FreeFMUstate", byref(handle))
    if handle.value:
        yield Finding(
            "fmi2FreeFMUstate",
            "it leaves the pointer to the freed state",
            "a NULL pointer in its argument",
            severity="warning",
        )
    unit.free()
