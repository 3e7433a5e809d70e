"""The FMUs of a system as the master sees them: in this process, or each in a process of its own.

A foreign library that crashes takes its process with it. Behind `IsolatedSlave` that is not the master's: the crash becomes an error with the FMU's name.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any, Protocol

import fmpy
import numpy as np
from fmpy import fmi2

from ..model import UserError
from .fmu_messages import message_logger

KINDS: dict[str, tuple[str, Any]] = {  # of variables: their functions, their C type
    "Real": ("Real", ctypes.c_double),
    "Integer": ("Integer", ctypes.c_int),
    "Enumeration": ("Integer", ctypes.c_int),
    "Boolean": ("Boolean", ctypes.c_int),
}
START_TIMEOUT = 60.0  # s for the process of an FMU to begin
END_TIMEOUT = 10.0  # s for it to end by itself

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
    """An FMU in this process; `hear` is told its messages about failures, `warn` its warnings."""

    def __init__(self, origin: Origin, hear: Callable[[str], None], warn: Callable[[str], None] = lambda text: None):
        self._running = False
        self._folder = fmpy.extract(origin.file)
        self._fmu = fmi2.FMU2Slave(
            guid=origin.guid,
            unzipDirectory=self._folder,
            modelIdentifier=origin.model_identifier,
            instanceName=origin.name,
        )
        self._callbacks = message_logger(hear, warn)
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


# --- another process ------------------------------------------------------------------------------------------------------


class IsolatedSlave:
    """An FMU in a process of its own. Only readings wait for its answer: a failure before is told with the next of them."""

    def __init__(self, origin: Origin, hear: Callable[[str], None], warn: Callable[[str], None]):
        self._name, self._hear, self._warn, self._now = origin.name, hear, warn, "at the start"
        self._pending = self._states = 0
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  what the process prints
        key = os.urandom(16)
        with Listener(authkey=key) as door:
            environment = os.environ | {"PYTHONPATH": os.pathsep.join(p or str(Path.cwd()) for p in sys.path)}
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(door.address)],
                stdin=subprocess.PIPE,
                stdout=self._said,
                stderr=self._said,
                env=environment,
            )
            assert self._process.stdin
            self._process.stdin.write(key.hex().encode() + b"\n")
            self._process.stdin.flush()
            self._connection = _accepted(door, self._process)
        self._ask("load", origin)

    def _tell(self, what: str, *arguments: Any) -> None:
        """A call that needs no answer now."""
        try:
            self._connection.send((what, arguments))
        except OSError:
            raise UserError(f"{self._name} crashed {self._now}: {self._last_words()}") from None
        self._pending += 1

    def _ask(self, what: str, *arguments: Any) -> Any:
        """The answer to a call, and the failure of one before."""
        self._tell(what, *arguments)
        answer, first = None, None
        while self._pending:
            try:
                heard, warned, problem, answer = self._connection.recv()
            except (EOFError, OSError):
                raise UserError(f"{self._name} crashed {self._now}: {self._last_words()}") from None
            self._pending -= 1
            for text in heard:
                self._hear(text)
            for text in warned:
                self._warn(text)
            first = first or problem
        if first is not None:
            raise RuntimeError(first)
        return answer

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_TIMEOUT)
        code = self._process.poll()
        how = (
            "its process does not answer"
            if code is None
            else f"exit status {code}"
            if code >= 0
            else signal.Signals(-code).name
        )
        self._said.seek(0)
        printed = self._said.read().decode(errors="replace").strip().splitlines()
        return f"{how} ({printed[-1]})" if printed else how

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
        self._connection.close()
        assert self._process.stdin
        self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_TIMEOUT)
        self._process.kill()
        self._process.wait()
        self._said.close()


def _accepted(door: Listener, process: subprocess.Popen[bytes]) -> Connection:
    """The connection of the process, unless it ends or takes too long before it makes one."""
    import threading

    found: list[Connection] = []
    waiting = threading.Thread(target=lambda: found.append(door.accept()), daemon=True)
    waiting.start()
    end = time.monotonic() + START_TIMEOUT
    while waiting.is_alive() and time.monotonic() < end and process.poll() is None:
        waiting.join(0.05)
    if not found:
        process.kill()
        raise UserError("the process for an isolated FMU does not start")
    return found[0]


def serve(connection: Connection) -> None:
    """Answer calls until the master is gone or says free."""
    heard: list[str] = []
    warned: list[str] = []
    slave: LocalSlave | None = None
    prepared: list[Any] = []
    states: dict[int, Any] = {}
    while True:
        try:
            what, arguments = connection.recv()
        except EOFError:
            break
        answer: Any = None
        problem = None
        try:
            if what == "load":
                slave = LocalSlave(arguments[0], heard.append, warned.append)
            elif slave is None:
                raise RuntimeError("there is no FMU")
            elif what in ("reader", "writer"):
                prepared.append(getattr(slave, what)(*arguments))
                answer = len(prepared) - 1
            elif what == "read":
                answer = prepared[arguments[0]]().copy()
            elif what == "write":
                prepared[arguments[0]](arguments[1])
            elif what == "save":
                states[arguments[0]] = slave.save()
            elif what in ("restore", "forget"):
                getattr(slave, what)(states[arguments[0]] if what == "restore" else states.pop(arguments[0]))
            else:
                getattr(slave, what)(*arguments)
        except Exception as error:
            problem = str(error) or type(error).__name__
        connection.send((heard[:], warned[:], problem, answer))
        heard.clear()
        warned.clear()
        if what == "free":
            break
    if slave is not None and what != "free":
        slave.free()


if __name__ == "__main__":
    with Client(sys.argv[1], authkey=bytes.fromhex(sys.stdin.readline().strip())) as line:
        serve(line)
