"""D1 and D2: the library, instantiation and logging; and the nominal lifecycle, on which all other rules rely."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

from ..findings import Finding, rule
from . import binding
from .binding import ERROR, OF_KIND, WARNING
from .instance import INITIALIZATION, TERMINATED, CallFailed, FmuInstance, SimulationTerminated
from .model import ModelVariable
from .session import ENVIRONMENT, InstantiationFailed, Message, Session

OPTIONAL = {
    "fmi2GetFMUstate": "canGetAndSetFMUstate",
    "fmi2SetFMUstate": "canGetAndSetFMUstate",
    "fmi2FreeFMUstate": "canGetAndSetFMUstate",
    "fmi2SerializedFMUstateSize": "canSerializeFMUstate",
    "fmi2SerializeFMUstate": "canSerializeFMUstate",
    "fmi2DeSerializeFMUstate": "canSerializeFMUstate",
    "fmi2GetDirectionalDerivative": "providesDirectionalDerivative",
    "fmi2SetRealInputDerivatives": "canInterpolateInputs",
}
LIFECYCLE = "lifecycle"  # stands for the nominal lifecycle where a rule's id is expected


def nominal_lifecycle(s: Session) -> Iterator[Finding]:
    """Instantiate, initialize, read, run, terminate, free, as any importer does. A failure here is a
    finding of the rule about the function that failed."""
    try:
        instance = s.new_instance()
        instance.go_to(INITIALIZATION)
        instance.get(s.model.everything)
        instance.enter_run_state()
        instance.run(s.steps(10), s.model.everything)
        instance.go_to(TERMINATED)
        instance.free()
    except InstantiationFailed as error:
        problem = f"{error} for the FMU's own GUID"
        yield Finding("fmi2Instantiate", problem, "an instance", severity="error", rule="D2", kind=s.kind)
    except CallFailed as error:
        problem, owner = f"{error} ({error.state}) in a plain simulation", responsible_rule(error.function)
        yield Finding(error.function, problem, "fmi2OK", severity="error", rule=owner, kind=s.kind)
    except SimulationTerminated:
        pass


def responsible_rule(place: str) -> str:
    """The rule about a place: a function, or the loading of the library."""
    if "fmi2Instantiate" in place:
        return "D2"
    if "fmi2DoStep" in place:
        return "D5"
    return "D3" if "fmi2" in place else "D1"


@rule("D1", "loading the library", "2.1.1 - 2.1.4")
def loads(s: Session) -> Iterator[Finding]:
    """The library loads without an unresolved dependency and exports every function of its interface type;
    fmi2GetVersion returns 2.0, fmi2GetTypesPlatform default; a process that has used it exits normally."""
    try:
        library = s.library
    except OSError as error:
        where = f"library {s.model.interfaces[s.kind]['modelIdentifier']}"
        problem = f"it cannot be loaded ({str(error).replace(str(s.fmu), '')})"
        yield Finding(where, problem, "a library without unresolved dependencies")
        return
    for name in OF_KIND[s.kind]:
        if not library.has(name):
            needed = name not in OPTIONAL or s.model.flag(s.kind, OPTIONAL[name])
            severity = "error" if needed else "warning"
            yield Finding(name, "the library does not export it", f"every function of {s.kind}", severity=severity)
    for name, expected in (("fmi2GetVersion", b"2.0"), ("fmi2GetTypesPlatform", b"default")):
        if library.has(name) and (value := library.call("", name)) != expected:
            text = value.decode(errors="replace") if value else "NULL"
            yield Finding(name, f"it returns {text!r}", repr(expected.decode()))


PROVOKED_MESSAGE = "to provoke a message"  # a crash in such a call is found by D4, which makes the same call


def unknown_reference(variables: Sequence[ModelVariable]) -> int:
    """A value reference that does not exist. There may be hidden variables right after the last one."""
    return min(max((v.reference for v in variables), default=0) + 1_000_003, 0xFFFFFFFE)


def provoke_messages(instance: FmuInstance) -> None:
    """Make calls that an FMU should log an error about."""
    references = binding.references([unknown_reference(instance.model.variables)])
    for name in ("fmi2GetReal", "fmi2SetReal"):
        note = f" (a reference that does not exist, {PROVOKED_MESSAGE})"
        instance.call(name, references, 1, binding.reals([0.0]), note=note)


@rule("D2", "GUID, instance name, logging", "2.1.5")
def instantiation_and_logging(s: Session) -> Iterator[Finding]:
    """A wrong GUID is rejected with a message; the instance name is copied; the logger gets the environment and the
    instance name, and only declared categories; loggingOn and fmi2SetDebugLogging are respected."""
    if s.attempt("a wrong GUID"):
        instance = s.instantiate(guid="{00000000-wrong-guid-0000-000000000000}")
        if instance is not None:
            expected = "NULL: the GUID ensures that model description and binary match"
            yield Finding("fmi2Instantiate", "it accepts a wrong GUID", expected)
            instance.free()
        elif not s.log:
            problem = "it rejects a wrong GUID without a message"
            yield Finding("fmi2Instantiate", problem, "a message to the logger", severity="warning")
    used: set[str | None] = set()
    if s.attempt("messages"):
        yield from _messages(s, used)
    if s.attempt("logging switched off"):
        yield from _logging_off(s)
    if s.attempt("log categories"):
        yield from _categories(s, used)


def _logging_off(s: Session) -> Iterator[Finding]:
    s.log.clear()
    instance = s.instantiate(logging=False)
    if instance is None:
        return
    instance.go_to(INITIALIZATION).enter_run_state()
    instance.run(s.steps(2), ())
    if messages := [m for m in s.log if m.status == 0]:
        problem = f'a message although loggingOn is false: "{messages[0].text}"'
        yield Finding("logger", problem, "no debug messages", severity="warning")
    s.log.clear()
    provoke_messages(instance)
    if s.log:
        problem = f'errors are logged although loggingOn is false: "{s.last_message()}"'
        yield Finding("logger", problem, "no messages", severity="note")
    instance.free()


def _messages(s: Session, used: set[str | None]) -> Iterator[Finding]:
    """Check the arguments of the logger. `used` receives the categories of the messages."""
    s.log.clear()
    name = "name that must be copied"
    buffers: list[ctypes.Array[ctypes.c_char]] = []
    instance = s.instantiate(name, buffers=buffers)
    if instance is None:
        return
    for buffer in buffers:
        ctypes.memset(buffer, ord("X"), len(buffer) - 1)  # an importer may reuse its memory
    instance.go_to(INITIALIZATION)
    provoke_messages(instance)
    messages, s.log = s.log, []
    instance.free()
    used.update(m.category for m in messages)
    for m in messages:
        findings = list(_message_findings(s, m, name))
        yield from findings
        if findings:
            return  # the other messages would repeat them


def _message_findings(s: Session, m: Message, name: str) -> Iterator[Finding]:
    if m.environment != ENVIRONMENT:
        problem = f"it is called with the environment {m.environment}"
        yield Finding("logger", problem, "componentEnvironment of the callback functions")
    if m.instance != name:
        overwritten = m.instance and set(m.instance) <= {"X"}
        problem = f"it is called with the instance name {m.instance!r}"
        expected = f"the name given to fmi2Instantiate, {name!r}"
        yield Finding("logger", "the instance name was not copied" if overwritten else problem, expected)
    if m.text is None:
        yield Finding("logger", "it is called without a message", "a text")
    if s.model.categories and m.category not in s.model.categories:
        expected = f"one that is declared in LogCategories: {', '.join(s.model.categories)}"
        yield Finding("logger", f"category {m.category!r}", expected, severity="warning")


def _categories(s: Session, used: set[str | None]) -> Iterator[Finding]:
    other = next((c for c in s.model.categories if c not in used and c != "logAll"), None)
    if other is not None:
        instance = s.new_instance().go_to(INITIALIZATION)
        status = instance.call("fmi2SetDebugLogging", 1, 1, binding.strings([other.encode()]))
        if status > WARNING:
            problem = f"{binding.STATUS[status]} for the declared category {other}"
            yield Finding("fmi2SetDebugLogging", problem, "fmi2OK", severity="warning")
        s.log.clear()
        instance.enter_run_state()
        instance.run(s.steps(2), ())
        provoke_messages(instance)
        # errors may be logged whatever is switched on
        if wrong := [m for m in s.log if m.category != other and m.status < ERROR]:
            problem = f"a message of category {wrong[0].category} although only {other} is switched on"
            yield Finding("logger", problem, f"messages of {other} only", severity="warning")
        instance.free()
    instance = s.new_instance().go_to(INITIALIZATION)
    instance.call("fmi2SetDebugLogging", 0, 0, None)
    s.log.clear()
    instance.enter_run_state()
    instance.run(s.steps(2), ())
    if messages := [m for m in s.log if m.status == 0]:
        problem = f'a message after fmi2SetDebugLogging(false): "{messages[0].text}"'
        yield Finding("logger", problem, "no debug messages", severity="warning")
    instance.free()
