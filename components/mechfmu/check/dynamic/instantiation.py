"""D2: instantiation and logging."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from ..findings import Finding, rule
from .binding import Allocate, Free
from .instance import CallFailed, SimulationTerminated
from .log_messages import LONG_RUN, categories, error_logged, message_findings, plain_run, switched_logging
from .resource_reads import ResourceReads
from .session import Session

NAMES = {
    "a name with spaces": "name that must be copied",
    "a name with letters beyond ASCII": "Gerät №1 Привет 力学",
    "a name of 2,000 characters": "long" * 500,
}


@rule("D2", "instantiation and logging", "2.1.5")
def instantiation(s: Session) -> Iterator[Finding]:
    """The FMU's own GUID is accepted; another one, an empty one and a nearly right one are rejected with a message; any
    instance name, all forms of a file URI and visible = true are accepted; strings are copied; the memory functions are
    not called if the FMU does without them. The logger gets the environment, the instance name, a format of printf and
    a declared category, and a message with each error; loggingOn and fmi2SetDebugLogging are respected."""
    reads = ResourceReads(s.fmu / "resources")
    yield from _guids(s)
    for what, name in NAMES.items():
        if s.attempt(what):
            yield from _named(s, what, name)
    if s.attempt("callback functions"):
        yield from _callbacks(s)
    if not s.model.flag(s.kind, "needsExecutionTool") and s.attempt("visible = true"):
        yield from _visible(s)
    yield from _locations(s, reads)
    yield from switched_logging(s)
    if s.model.categories and s.attempt("log categories"):
        yield from categories(s)
    if s.kind == "CoSimulation" and s.attempt("an error"):
        yield from error_logged(s)


def _near(guid: str) -> str:
    """A GUID that differs in its last letter or digit."""
    at = max((i for i, c in enumerate(guid) if c.isalnum()), default=None)
    if at is None:
        return guid + "1"
    return guid[:at] + ("0" if guid[at] != "0" else "1") + guid[at + 1 :]


def _guids(s: Session) -> Iterator[Finding]:
    wrong = {
        "a wrong GUID": "{00000000-wrong-guid-0000-000000000000}",
        "an empty GUID": "",
        "a GUID that differs in one character": _near(s.model.guid),
        "the beginning of the GUID": s.model.guid[:-1],
        "the GUID and more": s.model.guid + "0",
        "the GUID with upper and lower case swapped": s.model.guid.swapcase(),
        "the GUID without braces": s.model.guid.strip("{}"),
    }
    for what, guid in wrong.items():
        if guid == s.model.guid or not s.attempt(what):
            continue
        s.log.clear()
        instance = s.instantiate(guid=guid)
        if instance is not None:
            expected = "NULL: the GUID shows whether model description and binary belong together"
            yield Finding("fmi2Instantiate", f"it accepts {what}", expected, sentence="guid-check", cause="GUID")
            instance.free()
        elif not s.log:
            problem = f"it rejects {what} without a message"
            yield Finding("fmi2Instantiate", problem, "a call of the logger", sentence="null-logged", cause="silent")


def _named(s: Session, what: str, name: str) -> Iterator[Finding]:
    s.log.clear()
    buffers: list[ctypes.Array[ctypes.c_char]] = []
    instance = s.instantiate(name, buffers=buffers, callbacks=s.callbacks(raw=True))
    if instance is None:
        problem = f"it returns NULL for {what}{s.reason()}"
        yield Finding("fmi2Instantiate", problem, "an instance", sentence="new-instance")
        return
    for buffer in buffers:
        ctypes.memset(buffer, ord("X"), len(buffer) - 1)  # an importer may reuse its memory
    instance.call("fmi2SetDebugLogging", 1, 0, None)
    plain_run(s, instance, LONG_RUN if s.kind == "CoSimulation" and what == next(iter(NAMES)) else 2)
    messages, s.log = s.log, []
    instance.free()
    for m in messages:
        findings = list(message_findings(s, m, name))
        yield from findings
        if findings:
            return  # the other messages would repeat them


def _callbacks(s: Session) -> Iterator[Finding]:
    """An FMU that says that it does without the memory functions does not call them."""
    if not s.model.flag(s.kind, "canNotUseMemoryManagementFunctions"):
        return
    used: list[str] = []
    callbacks = s.callbacks(raw=True)
    allocate, free = ctypes.cast(callbacks.allocate, Allocate), ctypes.cast(callbacks.free, Free)

    def counted_allocate(count: int, size: int) -> int | None:
        used.append("allocateMemory")
        return allocate(count, size)  # type: ignore[no-any-return]

    def counted_free(memory: int | None) -> None:
        used.append("freeMemory")
        free(memory)

    callbacks.kept = Allocate(counted_allocate), Free(counted_free)
    callbacks.allocate, callbacks.free = (ctypes.cast(f, ctypes.c_void_p).value for f in callbacks.kept)
    instance = s.instantiate(callbacks=callbacks)
    if instance is None:
        return
    plain_run(s, instance, LONG_RUN, until_message=True)
    instance.free()
    if used:
        problem = f"{used[0]} is called, although canNotUseMemoryManagementFunctions is true"
        yield Finding("callback functions", problem, "no use of it", sentence="memory-callbacks-unused")


def _visible(s: Session) -> Iterator[Finding]:
    s.log.clear()
    instance = s.instantiate(visible=True)
    if instance is None:
        problem = f"it returns NULL for visible = true{s.reason()}"
        yield Finding("fmi2Instantiate", problem, "an instance", sentence="new-instance")
        return
    plain_run(s, instance)
    instance.free()


def _locations(s: Session, reads: ResourceReads) -> Iterator[Finding]:
    """A file URI without authority, one with a host, one with encoded characters, and none at all for an FMU that does
    not read its resources."""
    understood = False
    if s.attempt("location file:/path"):
        s.log.clear()
        problem = _location_problem(s, s.resources.replace("file:///", "file:/", 1))
        understood = problem is None
        if problem:
            problem = f"{problem} for a resource location of the form file:/path"
            yield Finding("fmi2Instantiate", problem, "an instance", sentence="resource-location")
    if understood and s.attempt("location file://localhost/path", legal=False):  # an authority is rarely given
        s.log.clear()
        if problem := _location_problem(s, s.resources.replace("file:///", "file://localhost/", 1)):
            problem = f"{problem} for a resource location of the form file://localhost/path"
            yield Finding("fmi2Instantiate", problem, "an instance")
    if s.model.resources and s.attempt("location with encoded characters"):
        s.log.clear()
        link = s.work / "Ordner mit Ümlaut"
        link.symlink_to(s.fmu)
        if (problem := _location_problem(s, (link / "resources").as_uri())) is not None:
            problem = f"{problem} for a resource location with encoded characters (%20, %C3%9C)"
            yield Finding("fmi2Instantiate", problem, "an instance", sentence="resource-uri")
        link.unlink()
    if s.attempt("empty location", legal=False):
        yield from _empty_location(s, reads)


def _empty_location(s: Session, reads: ResourceReads) -> Iterator[Finding]:
    instance = s.new_instance()
    plain_run(s, instance)
    instance.free()
    if reads.possible():
        return
    s.log.clear()
    if (problem := _location_problem(s, "")) is not None:
        problem = f"{problem} for an empty resource location, although the FMU reads nothing from it"
        yield Finding("fmi2Instantiate", problem, "an instance, as in the example of section 4.2.5")


def _location_problem(s: Session, location: str) -> str | None:
    """What goes wrong with this resource location, up to the end of initialization."""
    instance = s.instantiate(resources=location)
    if instance is None:
        return f"it returns NULL{s.reason()}"
    try:
        instance.enter_run_state()
    except CallFailed as error:
        return f"initialization fails ({error})"
    except SimulationTerminated:
        return None
    instance.free()
    return None
