"""D6: saving and restoring the FMU state."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import byref, c_size_t, c_void_p

from ..findings import Finding, rule
from .binding import STATUS, WARNING
from .experiments import accepted_excitation, compare_runs
from .instance import INITIALIZATION, CallFailed, FmuInstance
from .session import Session

SavedState = tuple[c_void_p, float, str, float | None]  # FMU state; time, state and next event of the instance


def save(instance: FmuInstance) -> SavedState:
    handle = c_void_p()
    instance.call_checked("fmi2GetFMUstate", byref(handle))
    return handle, instance.t, instance.state, instance.next_event


def restore(instance: FmuInstance, saved: SavedState) -> None:
    instance.call_checked("fmi2SetFMUstate", saved[0])
    _, instance.t, instance.state, instance.next_event = saved


@rule("D6", "saved states of the FMU", "2.1.8")
def fmu_state(s: Session) -> Iterator[Finding]:
    """From a restored state, the simulation repeats bit for bit, also with several saved states and after serialization
    into a second instance; freeing a NULL state is ignored."""
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
    except CallFailed as error:
        expected = "fmi2OK: the FMU can get and set its state"
        yield Finding(error.function, f"{error} ({error.state})", expected, severity="error")


def _replay(s: Session) -> Iterator[Finding]:
    excitation, variables, steps = accepted_excitation(s), s.model.everything, s.steps(10)
    instance = s.new_instance().enter_run_state()
    instance.run(steps[: len(steps) // 2], (), excitation)
    saved = save(instance)
    first = instance.run(steps, variables, excitation)
    restore(instance, saved)
    again = instance.run(steps, variables, excitation)
    problem, labels = "a replay from a restored state differs", ("first run", "replay")
    yield from compare_runs(s, variables, first, again, problem, labels)
    instance.free()


def _initialization(s: Session) -> Iterator[Finding]:
    """A state that was saved in initialization mode restores this mode."""
    variables = s.model.everything
    instance = s.new_instance().go_to(INITIALIZATION)
    saved = save(instance)
    first = [instance.get(variables)]
    instance.enter_run_state()
    instance.run(s.steps(3), ())
    restore(instance, saved)
    again = [instance.get(variables)]
    problem = "a state of initialization mode is not restored"
    yield from compare_runs(s, variables, first, again, problem, ("saved", "restored"))
    instance.enter_run_state()
    instance.free()


def _nested(s: Session) -> Iterator[Finding]:
    excitation, variables, steps = accepted_excitation(s), s.model.everything, s.steps(3)
    instance = s.new_instance().enter_run_state()
    states, values = [], []
    for _ in range(3):
        instance.run(steps, (), excitation)
        states.append(save(instance))
        values.append(instance.get(variables))

    def compare(i: int, problem: str) -> Iterator[Finding]:
        found = [instance.get(variables)]
        return compare_runs(s, variables, [values[i]], found, problem, ("saved", "restored"))

    for i in (1, 0, 2, 0):
        restore(instance, states[i])
        yield from compare(i, f"state {i + 1} of 3 saved states is not restored")
    instance.call_checked("fmi2FreeFMUstate", byref(states[0][0]))
    restore(instance, states[2])
    yield from compare(2, "a state is lost when another one is freed")
    instance.call_checked("fmi2GetFMUstate", byref(states[1][0]))  # a handle may be reused
    instance.run(steps, (), excitation)
    instance.call_checked("fmi2SetFMUstate", states[1][0])
    yield from compare(2, "a state saved into a used handle is not restored")
    instance.free()


def _serialized(s: Session) -> Iterator[Finding]:
    excitation, variables, steps = accepted_excitation(s), s.model.everything, s.steps(10)
    instance = s.new_instance().enter_run_state()
    instance.run(steps[: len(steps) // 2], (), excitation)
    saved = save(instance)
    size = c_size_t(0)
    instance.call_checked("fmi2SerializedFMUstateSize", saved[0], byref(size))
    if not 0 < size.value < 1 << 31:
        yield Finding("fmi2SerializedFMUstateSize", f"the size is {size.value}", "a number of bytes")
        return
    data = ctypes.create_string_buffer(size.value)
    instance.call_checked("fmi2SerializeFMUstate", saved[0], ctypes.cast(data, c_void_p), size.value)
    first = instance.run(steps, variables, excitation)
    instance.call_checked("fmi2FreeFMUstate", byref(saved[0]))
    instance.free()
    other = s.new_instance().enter_run_state()
    handle = c_void_p()
    other.call_checked("fmi2DeSerializeFMUstate", ctypes.cast(data, c_void_p), size.value, byref(handle))
    restore(other, (handle, *saved[1:]))
    again = other.run(steps, variables, excitation)
    problem = "a replay from a serialized state in a second instance differs"
    yield from compare_runs(s, variables, first, again, problem, ("first instance", "second instance"))
    other.call_checked("fmi2FreeFMUstate", byref(handle))
    other.free()


def _freeing(s: Session) -> Iterator[Finding]:
    instance = s.new_instance().enter_run_state()
    null = c_void_p()
    status = instance.call("fmi2FreeFMUstate", byref(null), note=" (a NULL state)")
    if status > WARNING:
        yield Finding("fmi2FreeFMUstate", f"it returns {STATUS[status]} for a NULL state", "fmi2OK: it is ignored")
    handle = save(instance)[0]
    instance.call_checked("fmi2FreeFMUstate", byref(handle))
    if handle.value:
        problem, expected = "it does not reset the pointer to the freed state", "a NULL pointer in its argument"
        yield Finding("fmi2FreeFMUstate", problem, expected, severity="warning")
    instance.free()
