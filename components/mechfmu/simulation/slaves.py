"""The FMUs of a system as the master uses them: in this process, or each in a process of its own.

A library that crashes ends its process. Behind `IsolatedSlave` this is not the master's process: the crash becomes an
error with the FMU's name.
"""

from __future__ import annotations

import contextlib
import ctypes
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import fmpy
import numpy as np
from fmpy import fmi2

from ..model import UserError
from .fmu_messages import message_logger
from .fmu_process import END, FmuProcess, connect_to_parent, end_after_parent

KINDS: dict[str, tuple[str, Any]] = {  # of variables: the name of their FMI functions, their C type
    "Real": ("Real", ctypes.c_double),
    "Integer": ("Integer", ctypes.c_int),
    "Enumeration": ("Integer", ctypes.c_int),
    "Boolean": ("Boolean", ctypes.c_int),
}
START_TIMEOUT = 60.0  # s for the process of an FMU to start
READY = "ready"

Read = Callable[[], np.ndarray]
Write = Callable[[np.ndarray], None]


@dataclass(frozen=True)
class Origin:
    """Where an FMU comes from: enough to load it in another process."""

    name: str
    file: str
    guid: str
    model_identifier: str


class Slave(Protocol):
    """One FMU of the system."""

    def reader(self, kind: str, references: Sequence[int]) -> Read: ...
    def writer(self, kind: str, references: Sequence[int]) -> Write: ...
    def set(self, kind: str, reference: int, value: Any) -> None: ...
    def enter_initialization(self) -> None: ...
    def exit_initialization(self) -> None: ...
    def step(self, t: float, h: float, final: bool) -> None: ...
    def save(self) -> Any: ...
    def restore(self, state: Any) -> None: ...
    def forget(self, state: Any) -> None: ...
    def free(self) -> None: ...


class LocalSlave:
    """An FMU in this process; its messages about failures go to `on_error`, its warnings to `on_warning`."""

    def __init__(
        self, origin: Origin, on_error: Callable[[str], None], on_warning: Callable[[str], None] = lambda text: None
    ):
        self._running = False
        self._folder = fmpy.extract(origin.file)
        identity = {"guid": origin.guid, "modelIdentifier": origin.model_identifier, "instanceName": origin.name}
        self._fmu = fmi2.FMU2Slave(unzipDirectory=self._folder, **identity)
        self._callbacks = message_logger(on_error, on_warning)
        self._fmu.instantiate(callbacks=self._callbacks, loggingOn=True)

    def reader(self, kind: str, references: Sequence[int]) -> Read:
        values, arguments, view = self._buffer(kind, references)
        get = getattr(self._fmu, f"fmi2Get{KINDS[kind][0]}")

        def read() -> np.ndarray:
            get(self._fmu.component, *arguments, values)
            return view

        return read

    def writer(self, kind: str, references: Sequence[int]) -> Write:
        values, arguments, view = self._buffer(kind, references)
        put = getattr(self._fmu, f"fmi2Set{KINDS[kind][0]}")

        def write(numbers: np.ndarray) -> None:
            view[:] = numbers
            put(self._fmu.component, *arguments, values)

        return write

    def _buffer(self, kind: str, references: Sequence[int]) -> tuple[Any, tuple[Any, int], np.ndarray]:
        """A C array, the references and their count, and the array's NumPy view."""
        values = (KINDS[kind][1] * len(references))()
        return values, ((ctypes.c_uint * len(references))(*references), len(references)), np.ctypeslib.as_array(values)

    def set(self, kind: str, reference: int, value: Any) -> None:
        getattr(self._fmu, f"set{'Integer' if kind == 'Enumeration' else kind}")([reference], [value])

    def enter_initialization(
        self, start: float = 0.0, tolerance: float | None = None, stop: float | None = None
    ) -> None:
        self._fmu.setupExperiment(startTime=start, tolerance=tolerance, stopTime=stop)
        self._fmu.enterInitializationMode()

    def exit_initialization(self) -> None:
        self._fmu.exitInitializationMode()
        self._running = True

    def step(self, t: float, h: float, final: bool) -> None:
        self._fmu.doStep(t, h, noSetFMUStatePriorToCurrentPoint=fmi2.fmi2True if final else fmi2.fmi2False)

    def save(self) -> Any:
        return self._fmu.getFMUstate()

    def restore(self, state: Any) -> None:
        self._fmu.setFMUstate(state)

    def forget(self, state: Any) -> None:
        self._fmu.freeFMUstate(state)

    def free(self) -> None:
        with contextlib.suppress(Exception):
            if self._running:
                self._fmu.terminate()
        with contextlib.suppress(Exception):
            self._fmu.freeInstance()
        shutil.rmtree(self._folder, ignore_errors=True)


# --- another process --------------------------------------------------------------------------------------------------


class IsolatedSlave:
    """An FMU in a process of its own. Only calls with an answer wait for it: they also report earlier failures."""

    def __init__(self, origin: Origin, on_error: Callable[[str], None], on_warning: Callable[[str], None]):
        self._name, self._on_error, self._on_warning, self._now = origin.name, on_error, on_warning, "at the start"
        self._pending = self._states = 0
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115  closed by free
        self._process = FmuProcess(__name__, self._printed)
        try:
            self._wait_for_start()
            self._ask("load", origin)
        except BaseException:
            self._close()
            raise

    def _wait_for_start(self) -> None:
        timer = threading.Timer(START_TIMEOUT, self._process.kill)
        timer.start()
        try:
            if self._process.receive() != READY:
                raise UserError("the process for an isolated FMU does not start")
        finally:
            timer.cancel()

    def _tell(self, call: str, *arguments: Any) -> None:
        """A call whose answer is not needed now."""
        if not self._process.send((call, arguments)):
            raise self._crash()
        self._pending += 1

    def _ask(self, call: str, *arguments: Any) -> Any:
        """The answer to a call; RuntimeError when it or a call before has failed."""
        self._tell(call, *arguments)
        answer, first = None, None
        while self._pending:
            if (message := self._process.receive()) is None:
                raise self._crash()
            errors, warnings, problem, answer = message
            self._pending -= 1
            for text in errors:
                self._on_error(text)
            for text in warnings:
                self._on_warning(text)
            first = first or problem
        if first is not None:
            raise RuntimeError(first)
        return answer

    def _crash(self) -> UserError:
        """How the process ended, with the last line that it printed."""
        self._process.end()
        self._printed.seek(0)
        printed = self._printed.read().decode(errors="replace").strip().splitlines()
        last_line = f" ({printed[-1]})" if printed else ""
        return UserError(f"{self._name} crashed {self._now}: {self._process.exit_status}{last_line}")

    def reader(self, kind: str, references: Sequence[int]) -> Read:
        number = self._ask("reader", kind, list(references))
        return lambda: np.asarray(self._ask("read", number))

    def writer(self, kind: str, references: Sequence[int]) -> Write:
        number = self._ask("writer", kind, list(references))
        return lambda values: self._tell("write", number, values)

    def set(self, kind: str, reference: int, value: Any) -> None:
        self._tell("set", kind, reference, value)

    def enter_initialization(self) -> None:
        self._now = "in initialization"
        self._ask("enter_initialization")

    def exit_initialization(self) -> None:
        self._ask("exit_initialization")

    def step(self, t: float, h: float, final: bool) -> None:
        self._now = f"in the step from t = {t:g} s"
        self._tell("step", t, h, final)

    def save(self) -> Any:
        self._states += 1
        self._tell("save", self._states)
        return self._states

    def restore(self, state: Any) -> None:
        self._tell("restore", state)

    def forget(self, state: Any) -> None:
        self._tell("forget", state)

    def free(self) -> None:
        with contextlib.suppress(Exception):
            self._ask("free")
        self._close()

    def _close(self) -> None:
        self._process.close()
        self._process.end()
        self._printed.close()


def serve() -> None:
    """Answer calls until the master calls free or ends."""
    receive, answer = connect_to_parent()
    end_after_parent()
    answer(READY)
    server = SlaveServer()
    while (request := receive()) is not END:
        call, arguments = request
        answer(server.answer(call, arguments))
        if call == "free":
            return
    if server.slave is not None:
        server.slave.free()


class SlaveServer:
    """The slave behind an IsolatedSlave, in its process."""

    def __init__(self) -> None:
        self.slave: LocalSlave | None = None
        self._errors: list[str] = []
        self._warnings: list[str] = []
        self._prepared: list[Any] = []  # readers and writers, by number
        self._states: dict[int, Any] = {}

    def answer(self, call: str, arguments: tuple[Any, ...]) -> tuple[list[str], list[str], str | None, Any]:
        """Messages about failures, warnings, the error or None, and the result."""
        result, problem = None, None
        try:
            result = self._call(call, arguments)
        except Exception as error:
            problem = str(error) or type(error).__name__
        errors, warnings = self._errors[:], self._warnings[:]
        self._errors.clear()
        self._warnings.clear()
        return errors, warnings, problem, result

    def _call(self, call: str, arguments: tuple[Any, ...]) -> Any:
        if call == "load":
            self.slave = LocalSlave(arguments[0], self._errors.append, self._warnings.append)
            return None
        if self.slave is None:
            raise RuntimeError("there is no FMU")
        if call in ("reader", "writer"):
            self._prepared.append(getattr(self.slave, call)(*arguments))
            return len(self._prepared) - 1
        if call == "read":
            return self._prepared[arguments[0]]().copy()
        if call == "write":
            return self._prepared[arguments[0]](arguments[1])
        if call == "save":
            self._states[arguments[0]] = self.slave.save()
            return None
        if call == "restore":
            return self.slave.restore(self._states[arguments[0]])
        if call == "forget":
            return self.slave.forget(self._states.pop(arguments[0]))
        return getattr(self.slave, call)(*arguments)
