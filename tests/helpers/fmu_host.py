"""Runs FMUs in a process of its own for the tests: one JSON request per line in, one JSON answer per line out.

The process cannot import mechfmu, so that a test proves that the FMU works without it. FMUs are driven through FMPy's
low-level interface; every answer contains the status of the call and the messages of the FMU (log and standard error).
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from itertools import count
from typing import Any

import fmpy
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import (
    FMU2Slave,
    fmi2CallbackAllocateMemoryTYPE,
    fmi2CallbackFreeMemoryTYPE,
    fmi2CallbackFunctions,
    fmi2CallbackLoggerTYPE,
)
from fmpy.logging import addLoggerProxy

sys.modules["mechfmu"] = None  # type: ignore[assignment]  # importing it raises ImportError

answers = os.fdopen(os.dup(1), "w")  # so that what an FMU prints does not mix with the answers
noise = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the process)
os.dup2(noise.fileno(), 1)
os.dup2(noise.fileno(), 2)

logged: list[str] = []
slaves: dict[int, FMU2Slave] = {}
states: dict[int, Any] = {}
numbers = count()
extracted: dict[str, str] = {}
keep: list[Any] = []  # callbacks must outlive the instances


def said() -> str:
    """Return what was logged and printed since the last answer."""
    ctypes.CDLL(None).fflush(None)
    sys.stdout.flush()
    sys.stderr.flush()
    noise.seek(0)
    text = "\n".join([*logged, noise.read().decode(errors="replace")])
    noise.seek(0)
    noise.truncate()
    logged.clear()
    return text.strip()


def callbacks() -> fmi2CallbackFunctions:
    def log(environment: Any, instance: bytes, status: int, category: bytes | None, message: bytes) -> None:
        logged.append(f"[{instance.decode()}] {message.decode()}")

    functions = fmi2CallbackFunctions()
    functions.logger = fmi2CallbackLoggerTYPE(log)
    functions.allocateMemory = fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
    functions.freeMemory = fmi2CallbackFreeMemoryTYPE(fmpy.free)
    addLoggerProxy(ctypes.byref(functions))
    keep.append(functions)
    return functions


def open_(fmu: str, name: str, logging: bool, guid: str | None) -> dict[str, Any]:
    """Instantiate an FMU (a file, or the folder of an extracted one)."""
    if fmu not in extracted:
        extracted[fmu] = fmu if os.path.isdir(fmu) else fmpy.extract(fmu)  # noqa: PTH112
    description = fmpy.read_model_description(extracted[fmu])
    slave = FMU2Slave(
        guid=guid or description.guid,
        unzipDirectory=extracted[fmu],
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName=name,
    )
    slave.instantiate(callbacks=callbacks(), loggingOn=logging)
    slaves[number := next(numbers)] = slave
    return dict(slave=number, variables={v.name: (v.valueReference, v.type) for v in description.modelVariables})


def run(
    slave: int, t: float, steps: list[float], outputs: list[int], inputs: list[int], values: list[list[float]]
) -> list[list[float]]:
    """Steps of the given sizes; before step i the inputs get values[i]. The outputs after every step."""
    rows = []
    for i, h in enumerate(steps):
        if inputs:
            slaves[slave].setReal(inputs, values[i])
        slaves[slave].doStep(t, h)
        t += h
        rows.append(slaves[slave].getReal(outputs))
    return rows


def call(slave: int, function: str, arguments: list[Any]) -> Any:
    return getattr(slaves[slave], function)(*arguments)


def save(slave: int) -> int:
    states[number := next(numbers)] = slaves[slave].getFMUstate()
    return number


def restore(slave: int, state: int) -> None:
    slaves[slave].setFMUstate(states[state])


def forget(slave: int, state: int) -> None:
    slaves[slave].freeFMUstate(states.pop(state))


def to_bytes(slave: int, state: int) -> str:
    return slaves[slave].serializeFMUstate(states[state]).hex()


def from_bytes(slave: int, data: str) -> int:
    states[number := next(numbers)] = slaves[slave].deSerializeFMUstate(bytes.fromhex(data))
    return number


def discarded(slave: int) -> tuple[float, bool]:
    """Return what a host queries after a discarded step: the last successful time, and whether the FMU wants to end."""
    return slaves[slave].getRealStatus(2), slaves[slave].getBooleanStatus(3)


def free(slave: int) -> None:
    slaves.pop(slave).freeInstance()


FUNCTIONS = {
    f.__name__.rstrip("_"): f for f in (open_, run, call, save, restore, forget, to_bytes, from_bytes, discarded, free)
}

for line in sys.stdin:
    request = json.loads(line)
    answer: dict[str, Any] = dict(status=0, value=None)
    try:
        answer["value"] = FUNCTIONS[request.pop("do")](**request)
    except FMICallException as error:
        answer["status"] = error.status
    except Exception as error:  # raised by FMPy when instantiation fails
        answer.update(status=3, problem=f"{type(error).__name__}: {error}")
    answer["said"] = said()
    print(json.dumps(answer, default=bytes.decode), file=answers, flush=True)  # texts are bytes
