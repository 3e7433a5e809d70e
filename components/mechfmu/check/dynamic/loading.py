"""D1 and D2: the library, and the birth of an instance. Before them, a plain life by the book, which every other rule relies on."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from ..findings import Finding, rule
from . import binding
from .binding import ERROR, OF_KIND, WARNING
from .session import ENVIRONMENT, InstantiationFailed, Session
from .instance import SimulationTerminated, CallFailed, FmuInstance

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


def nominal_lifecycle(s: Session) -> Iterator[Finding]:
    """Instantiate, initialize, read, run, terminate, free, as any host does it. What fails here belongs to the rule about the function that failed."""
    try:
        instance = s.new_instance()
        instance.go_to("initialization mode")
        instance.get(s.model.everything)
        instance.enter_run_state()
        instance.run(s.steps(10), s.model.everything)
        instance.go_to("terminated")
        instance.free()
    except InstantiationFailed as error:
        yield Finding(
            "fmi2Instantiate",
            f"{error} for the FMU's own GUID",
            "an instance",
            severity="error",
            rule="D2",
            kind=s.kind,
        )
    except CallFailed as error:
        yield Finding(
            error.function,
            f"{error} ({error.state}) in a plain simulation",
            "fmi2OK",
            severity="error",
            rule=responsible_rule(error.function),
            kind=s.kind,
        )
    except SimulationTerminated:
        pass


def responsible_rule(place: str) -> str:
    """The rule that a failure at this place belongs to."""
    if "fmi2Instantiate" in place:
        return "D2"
    if "fmi2DoStep" in place:
        return "D5"
    return "D3" if "fmi2" in place else "D1"


@rule("D1", "the library loads and leaves", "2.1.1 - 2.1.4")
def loads(s: Session) -> Iterator[Finding]:
    """The library loads without an unresolved dependency and exports every function of its interface type; fmi2GetVersion is 2.0, fmi2GetTypesPlatform
    default; a process that has used it ends well."""
    try:
        library = s.library
    except OSError as error:
        name = s.model.interfaces[s.kind]["modelIdentifier"]
        yield Finding(
            f"library {name}",
            f"it cannot be loaded ({str(error).replace(str(s.fmu), '')})",
            "a library without unresolved dependencies",
        )
        return
    for name in OF_KIND[s.kind]:
        if not library.has(name):
            needed = name not in OPTIONAL or s.model.flag(s.kind, OPTIONAL[name])
            yield Finding(
                name,
                "the library does not export it",
                f"every function of {s.kind}",
                severity="error" if needed else "warning",
            )
    for name, expected in (("fmi2GetVersion", b"2.0"), ("fmi2GetTypesPlatform", b"default")):
        if library.has(name) and (value := library.call("", name)) != expected:
            yield Finding(
                name, f"it returns {value.decode(errors='replace') if value else 'NULL'!r}", repr(expected.decode())
            )


PROVOKED_MESSAGE = "to hear a message"  # a crash there is not D2's business: D4 makes the same call


def provoke_messages(instance: FmuInstance) -> None:
    """Calls that an FMU has something to say about."""
    unknown = binding.references(
        [min(max((v.reference for v in instance.model.variables), default=0) + 1_000_003, 0xFFFFFFFE)]
    )
    instance.call("fmi2GetReal", unknown, 1, binding.reals([0.0]), note=f" (a reference that does not exist, {PROVOKED_MESSAGE})")
    instance.call("fmi2SetReal", unknown, 1, binding.reals([0.0]), note=f" (a reference that does not exist, {PROVOKED_MESSAGE})")


@rule("D2", "GUID, instance name, logging", "2.1.5")
def instantiation_and_logging(s: Session) -> Iterator[Finding]:
    """A wrong GUID is refused with a message; the instance's name is copied; the logger gets the environment and the name, and only categories that are
    declared; loggingOn and fmi2SetDebugLogging are respected."""
    if s.attempt("a wrong GUID"):
        instance = s.instantiate(guid="{00000000-wrong-guid-0000-000000000000}")
        if instance is not None:
            yield Finding(
                "fmi2Instantiate",
                "it accepts a wrong GUID",
                "NULL: model description and binary need not belong together",
            )
            instance.free()
        elif not s.log:
            yield Finding(
                "fmi2Instantiate",
                "it refuses a wrong GUID without a message",
                "a message to the logger",
                severity="warning",
            )
    used: set[str | None] = set()
    if s.attempt("messages"):
        yield from _messages(s, used)
    if s.attempt("logging switched off"):
        s.log.clear()
        instance = s.instantiate(logging=False)
        if instance is not None:
            instance.go_to("initialization mode").enter_run_state()
            instance.run(s.steps(2), ())
            if quiet := [m for m in s.log if m.status == 0]:
                yield Finding(
                    "logger",
                    f'a message though loggingOn is false: "{quiet[0].text}"',
                    "no debug messages",
                    severity="warning",
                )
            s.log.clear()
            provoke_messages(instance)
            if s.log:
                yield Finding(
                    "logger",
                    f'errors are logged though loggingOn is false: "{s.last_message()}"',
                    "silence, or a good reason",
                    severity="note",
                )
            instance.free()
    if s.attempt("log categories"):
        yield from _categories(s, used)


def _messages(s: Session, used: set[str | None]) -> Iterator[Finding]:
    s.log.clear()
    name = "name that must be copied"
    buffers: list[ctypes.Array[ctypes.c_char]] = []
    instance = s.instantiate(name, buffers=buffers)
    if instance is None:
        return
    for buffer in buffers:
        ctypes.memset(buffer, ord("X"), len(buffer) - 1)  # what a host does that reuses its memory
    instance.go_to("initialization mode")
    provoke_messages(instance)
    messages, s.log = s.log, []
    instance.free()
    used.update(m.category for m in messages)
    for m in messages:
        if m.environment != ENVIRONMENT:
            yield Finding(
                "logger",
                f"it is called with the environment {m.environment}",
                "componentEnvironment of the callback functions",
            )
        if m.instance != name:
            why = (
                "the instance's name was not copied"
                if m.instance and set(m.instance) <= {"X"}
                else f"it is called with the instance name {m.instance!r}"
            )
            yield Finding("logger", why, f"the name given to fmi2Instantiate, {name!r}")
        if m.text is None:
            yield Finding("logger", "it is called without a message", "a text")
        if s.model.categories and m.category not in s.model.categories:
            yield Finding(
                "logger",
                f"category {m.category!r}",
                f"one that is declared in LogCategories: {', '.join(s.model.categories)}",
                severity="warning",
            )
        if (
            m.environment != ENVIRONMENT
            or m.instance != name
            or m.text is None
            or (s.model.categories and m.category not in s.model.categories)
        ):
            return  # the others will be alike


def _categories(s: Session, used: set[str | None]) -> Iterator[Finding]:
    other = next((c for c in s.model.categories if c not in used and c != "logAll"), None)
    if other is not None:
        instance = s.new_instance().go_to("initialization mode")
        status = instance.call("fmi2SetDebugLogging", 1, 1, binding.strings([other.encode()]))
        if status > WARNING:
            yield Finding(
                "fmi2SetDebugLogging",
                f"{binding.STATUS[status]} for the declared category {other}",
                "fmi2OK",
                severity="warning",
            )
        s.log.clear()
        instance.enter_run_state()
        instance.run(s.steps(2), ())
        provoke_messages(instance)
        # errors are worth hearing whatever is switched on
        if wrong := [m for m in s.log if m.category != other and m.status < ERROR]:
            problem = f"a message of category {wrong[0].category} though only {other} is switched on"
            yield Finding("logger", problem, f"messages of {other} only", severity="warning")
        instance.free()
    instance = s.new_instance().go_to("initialization mode")
    instance.call("fmi2SetDebugLogging", 0, 0, None)
    s.log.clear()
    instance.enter_run_state()
    instance.run(s.steps(2), ())
    if quiet := [m for m in s.log if m.status == 0]:
        yield Finding(
            "logger",
            f'a message after fmi2SetDebugLogging(false): "{quiet[0].text}"',
            "no debug messages",
            severity="warning",
        )
    instance.free()
