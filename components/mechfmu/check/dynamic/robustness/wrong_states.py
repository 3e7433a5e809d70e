"""R1: calls in the wrong state."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, rule
from ..binding import FATAL, OF_KIND, WARNING
from ..instance import (
    CONTINUOUS_TIME,
    EVENT_MODE,
    INITIALIZATION,
    INSTANTIATED,
    STATES_OF,
    STEP_COMPLETE,
    TERMINATED,
    TYPES,
    FmuInstance,
)
from ..session import Session
from ..stirring import FAILURES
from .arguments import supported, valid_arguments

ALL = frozenset({INSTANTIATED, INITIALIZATION, STEP_COMPLETE, EVENT_MODE, CONTINUOUS_TIME, TERMINATED})
BEFORE = frozenset({INSTANTIATED, INITIALIZATION})
# function -> states in which the tables of 3.2.3 and 4.2.4 do not allow it
FORBIDDEN: dict[str, frozenset[str]] = {
    "fmi2SetupExperiment": ALL - {INSTANTIATED},
    "fmi2EnterInitializationMode": ALL - {INSTANTIATED},
    "fmi2ExitInitializationMode": ALL - {INITIALIZATION},
    "fmi2Terminate": BEFORE | {TERMINATED},
    **{f"fmi2Get{t}": frozenset({INSTANTIATED}) for t in TYPES},
    "fmi2SetReal": frozenset({TERMINATED}),
    **{f"fmi2Set{t}": frozenset({CONTINUOUS_TIME, TERMINATED}) for t in TYPES if t != "Real"},
    "fmi2EnterEventMode": ALL - {EVENT_MODE, CONTINUOUS_TIME},
    "fmi2NewDiscreteStates": ALL - {EVENT_MODE},
    "fmi2EnterContinuousTimeMode": ALL - {EVENT_MODE},
    "fmi2CompletedIntegratorStep": ALL - {CONTINUOUS_TIME},
    "fmi2SetTime": ALL - {EVENT_MODE, CONTINUOUS_TIME},
    "fmi2SetContinuousStates": ALL - {CONTINUOUS_TIME},
    "fmi2GetDerivatives": frozenset({INSTANTIATED}),
    "fmi2GetEventIndicators": frozenset({INSTANTIATED}),
    "fmi2GetContinuousStates": frozenset({INSTANTIATED}),
    "fmi2DoStep": ALL - {STEP_COMPLETE},
    "fmi2CancelStep": ALL,
    "fmi2SetRealInputDerivatives": frozenset({TERMINATED}),
    "fmi2GetRealOutputDerivatives": BEFORE,
    "fmi2GetDirectionalDerivative": frozenset({INSTANTIATED}),
    **{f"fmi2Get{t}Status": BEFORE for t in ("", *TYPES)},
}
# what an instance of the other interface type must not do; there, other functions do no harm
ACTIONS = frozenset(
    {
        "fmi2DoStep",
        "fmi2EnterEventMode",
        "fmi2NewDiscreteStates",
        "fmi2EnterContinuousTimeMode",
        "fmi2CompletedIntegratorStep",
        "fmi2SetTime",
        "fmi2SetContinuousStates",
    }
)


@rule("R1", "calls in the wrong state", "3.2.3, 4.2.4")
def wrong_states(s: Session) -> Iterator[Finding]:
    """A function that is called in a state in which it is not allowed, or of the other interface type, returns
    fmi2Error and does not crash."""
    for name in FORBIDDEN:
        if s.time_used(0.85):
            s.not_judged("some functions: the time budget was used up")
            return
        if s.library.has(name):
            yield from _in_all_states(s, name)


def _in_all_states(s: Session, name: str) -> Iterator[Finding]:
    own = name in OF_KIND[s.kind]
    if not own and name not in ACTIONS:
        return
    accepted = []
    for state in STATES_OF[s.kind]:
        if (own and state not in FORBIDDEN[name]) or not s.attempt(f"{name} {state}"):
            continue
        instance = _instance_in(s, state)
        if instance is None:
            continue
        arguments = valid_arguments(instance, name) if supported(instance, name) else None
        status = FATAL if arguments is None else instance.call(name, *arguments)
        if status <= WARNING:
            accepted.append(state)
        instance.free()
    if accepted:
        reason = "it is not allowed there" if own else f"it is not a function of {s.kind}"
        yield Finding(
            name, f"it succeeds in the state{'s' * (len(accepted) > 1)} {', '.join(accepted)}", f"fmi2Error: {reason}"
        )


def _instance_in(s: Session, state: str) -> FmuInstance | None:
    """A new instance in this state, or None if the FMU does not reach it."""
    instance = s.new_instance()
    try:
        return instance.go_to(state)
    except FAILURES:
        instance.free()
        return None
