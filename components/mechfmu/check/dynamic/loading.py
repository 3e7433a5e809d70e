"""D1: the library; and the nominal lifecycle, on which all other rules rely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..findings import Finding, rule
from .binding import EXCHANGE, OF_KIND
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
MISSING_DEPENDENCY = "cannot open shared object file"  # how the system's loader says that another library is missing


def nominal_lifecycle(s: Session) -> Iterator[Finding]:
    """Instantiate, initialize, read, run, terminate, free, as any importer does. A failure here is a finding of the
    rule about the function that failed."""
    try:
        _choose_step_size(s)
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


def _choose_step_size(s: Session) -> None:
    """Where the FMU declares no step size, take one that it accepts."""
    if s.kind != "CoSimulation" or s.model.step_declared:
        return
    for factor in STEP_FACTORS:
        h = s.model.step_size * factor
        try:
            instance = s.new_instance().enter_run_state()
            for _ in range(2):
                instance.step(h)
            instance.free()
        except InstantiationFailed:
            return
        except CallFailed:
            if s.fatal:  # no smaller step can follow
                raise
            continue
        except SimulationTerminated:
            continue
        if factor != 1:
            s.report(step_size=h)
            s.model = replace(s.model, step_size=h)
        return


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
            expected = f"every function of {s.kind}"
            yield Finding(name, "the library does not export it", expected, sentence="functions-present")
    for name, right, sentence in (
        ("fmi2GetVersion", b"2.0", "version"),
        ("fmi2GetTypesPlatform", b"default", "types-platform"),
    ):
        if library.has(name) and (value := library.call("", name)) != right:
            text = value.decode(errors="replace") if value else "NULL"
            yield Finding(name, f"it returns {text!r}", repr(right.decode()), sentence=sentence)
