"""Part of D3: the status that functions return, and the message that belongs to it."""

from __future__ import annotations

from typing import Any

from ..findings import Finding
from .binding import DISCARD, ERROR, FATAL, PENDING, STATUS, WARNING, Library
from .instance import TYPES, FmuInstance, status_name
from .session import Session

VECTORS = ("fmi2GetContinuousStates", "fmi2GetDerivatives", "fmi2GetEventIndicators")
# the functions that may return fmi2Discard, besides fmi2Get<type>Status (2.1.3)
DISCARDING = {
    "ModelExchange": {*VECTORS, "fmi2SetContinuousStates", "fmi2GetReal", *(f"fmi2Set{t}" for t in TYPES)},
    "CoSimulation": {"fmi2DoStep", *(f"fmi2Set{t}" for t in TYPES)},
}
LOGGED = {WARNING: "warning-logged", ERROR: "error-logged", FATAL: "fatal-logged", DISCARD: "discard-logged"}


class WatchedLibrary(Library):
    """A library whose statuses are looked at. Findings are collected, one for each function and cause."""

    def __init__(self, s: Session):
        self._session, self._watched = s, s.library
        self.found: dict[tuple[str, str], Finding] = {}

    def has(self, name: str) -> bool:
        return self._watched.has(name)

    def call(self, note: str, name: str, *arguments: Any) -> Any:
        messages = len(self._session.log)
        result = self._watched.call(note, name, *arguments)
        if isinstance(result, int) and name not in ("fmi2Instantiate", "fmi2FreeInstance") and result:
            logged = len(self._session.log) > messages
            self._look(name, note, result, logged)
        return result

    def _look(self, name: str, note: str, status: int, logged: bool) -> None:
        asks = name.startswith("fmi2Get") and name.endswith("Status")
        if not 0 <= status < len(STATUS):
            self._add(name, f"it returns {status}{note}", "one of the six values of fmi2Status", "status")
        elif status == PENDING and name not in ("fmi2DoStep", "fmi2GetStatus"):
            self._add(name, f"it returns fmi2Pending{note}", "another status", "pending-where-defined")
        elif status == DISCARD and name not in DISCARDING[self._session.kind] and not asks:
            exchange = self._session.kind == "ModelExchange" and name.startswith("fmi2Get")
            sentence = "get-discard" if exchange and name[7:] in TYPES else "discard-where-defined"
            self._add(name, f"it returns fmi2Discard{note}", "another status", sentence)
        elif not logged and status in LOGGED and not asks:
            problem = f"it returns {status_name(status)} without a message to the logger{note}"
            self._add(name, problem, "a message that says why", LOGGED[status], "D2")

    def _add(self, name: str, problem: str, expected: str, sentence: str, rule: str = "") -> None:
        self.found.setdefault((name, sentence), Finding(name, problem, expected, sentence=sentence, rule=rule))


def watched(instance: FmuInstance, library: WatchedLibrary) -> FmuInstance:
    instance.library = library
    return instance
