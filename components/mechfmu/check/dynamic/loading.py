"""D1: the library; and the nominal lifecycle, on which all other rules rely."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from ..findings import MISSING_FUNCTION, Finding, rule
from .binding import CAPABILITY_OF, EXCHANGE, OF_KIND, WARNING
from .copies import POSSIBLE, in_copy
from .instance import (
    INITIALIZATION,
    MAX_EVENT_ITERATIONS,
    TERMINATED,
    CallFailed,
    EndlessEventIteration,
    NotJudged,
    SimulationTerminated,
)
from .runs import run_steps
from .session import InstantiationFailed, Session

LIFECYCLE = "lifecycle"  # stands for the nominal lifecycle where a rule's id is expected
END_OF_PROCESS = "the end of the process"  # stands for a function's name when the process ends
STEP_FACTORS = (1, 0.1, 0.01, 1e-3, 1e-4, 1e-5)
TRIAL_STEPS, ENOUGH_STEPS = 100, 2  # to find out which step size and stop time the FMU accepts
TRIAL_SECONDS = 2.0
MISSING_DEPENDENCY = "cannot open shared object file"  # how the system's loader says that another library is missing


def nominal_lifecycle(s: Session) -> Iterator[Finding]:
    """Instantiate, initialize, read, run, terminate, free, as any importer does. A failure here is a finding of the
    rule about the function that failed."""
    try:
        _choose_experiment(s)
        instance = s.new_instance()
        instance.go_to(INITIALIZATION)
        instance.get(instance.readable())
        instance.enter_run_state()
        run_steps(instance, s.steps(3), s.model.everything)
        instance.go_to(TERMINATED)
        instance.free()
    except InstantiationFailed as error:
        if s.model.flag(s.kind, "needsExecutionTool"):
            s.report(unusable=f"the FMU needs a tool that may be missing here: {error}")
            return
        problem = f"{error} for the FMU's own GUID"
        yield Finding("fmi2Instantiate", problem, "an instance", sentence="new-instance", rule="D2", kind=s.kind)
    except CallFailed as error:
        problem, owner = f"{error} in a plain simulation", responsible_rule(error.function)
        yield Finding(error.function, problem, "fmi2OK", sentence=error.sentence, rule=owner, kind=s.kind)
    except EndlessEventIteration:
        yield endless_iteration(s.kind)
    except (SimulationTerminated, NotJudged):
        pass


def _choose_experiment(s: Session) -> None:
    """Where the FMU declares no step size or no stop time, take what it accepts. Each trial is in a copy of this
    process: it may fail for good, and an FMU may be instantiated only once per process."""
    m = s.model
    if s.kind != "CoSimulation" or (m.step_declared and m.stop_declared) or not POSSIBLE:
        return
    s.library.has("fmi2Instantiate")  # loads the library
    wanted = min(TRIAL_STEPS, len(s.steps(TRIAL_STEPS))) if m.stop_declared else TRIAL_STEPS
    best, steps = m.step_size, 0
    for factor in (1,) if m.step_declared else STEP_FACTORS:
        reached, failed = in_copy(partial(_steps_reached, s, m.step_size * factor, wanted)) or (0, True)
        if reached > steps:
            best, steps = m.step_size * factor, reached
        if reached >= ENOUGH_STEPS and (m.stop_declared or not failed):
            break
    if steps < ENOUGH_STEPS:
        return
    found: dict[str, Any] = dict(step_size=best)
    if not m.stop_declared and (best != m.step_size or steps < wanted):
        found["stop_time"] = m.start_time + steps * best
    if found != dict(step_size=m.step_size):
        s.report(experiment=found)
        s.model = replace(m, **found)


def _steps_reached(s: Session, h: float, count: int) -> tuple[int, bool]:
    """The number of steps of this size that succeed in a short time, and whether one failed."""
    instance = s.new_instance().enter_run_state()
    end = time.monotonic() + TRIAL_SECONDS
    for i in range(count):
        if i >= ENOUGH_STEPS and time.monotonic() > end:
            return i, False
        if instance.try_step(h) > WARNING:
            return i, True
        instance.t += h
    return count, False


def endless_iteration(kind: str) -> Finding:
    """The finding that continuous-time mode cannot be entered."""
    problem = f"newDiscreteStatesNeeded is true after {MAX_EVENT_ITERATIONS:,} calls in a row"
    where, wanted = "fmi2NewDiscreteStates", "an event iteration that ends"
    return Finding(where, problem, wanted, sentence="event-iteration", rule="D14", kind=kind)


def responsible_rule(place: str) -> str:
    """The rule about a place: a function, or the loading of the library."""
    if "fmi2Instantiate" in place:
        return "D2"
    if "fmi2DoStep" in place:
        return "D5"
    if any(name in place for name in EXCHANGE if name != "fmi2GetNominalsOfContinuousStates"):
        return "D14"
    return "D3" if "fmi2" in place else "D1"


@rule("D1", "loading the library", "2.1.1 - 2.1.4, 2.3")
def loads(s: Session) -> Iterator[Finding]:
    """The library loads without an unresolved dependency and exports every function of its interface type;
    fmi2GetVersion returns 2.0, fmi2GetTypesPlatform default; a process that has used it exits normally."""
    try:
        library = s.library
    except OSError as error:
        where = f"library {s.model.interfaces[s.kind]['modelIdentifier']}"
        text = str(error).replace(str(s.fmu), "").lstrip("/")
        if MISSING_DEPENDENCY in text:
            s.report(unusable=f"a library that it needs is missing here ({text.partition(':')[0]})")
            s.not_judged(f"a library that it needs is missing on this machine ({text}); what it may need: S14")
        else:
            problem = f"it cannot be loaded ({text})"
            yield Finding(where, problem, "a library that can be loaded", sentence="functions-present")
        return
    for name in OF_KIND[s.kind]:
        if not library.has(name):
            problem, expected = "the library does not export it", f"every function of {s.kind}"
            yield Finding(name, problem, expected, sentence="functions-present", cause=MISSING_FUNCTION)
            if s.model.capable(s.kind, CAPABILITY_OF.get(name, "")):
                s.report(unusable=f"see D1, {name}")
    for name, right, sentence in (
        ("fmi2GetVersion", b"2.0", "version"),
        ("fmi2GetTypesPlatform", b"default", "types-platform"),
    ):
        if library.has(name) and (value := library.call("", name)) != right:
            text = value.decode(errors="replace") if value else "NULL"
            yield Finding(name, f"it returns {text!r}", repr(right.decode()), sentence=sentence)
