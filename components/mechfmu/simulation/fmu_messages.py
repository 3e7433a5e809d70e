"""Log messages of a running FMU.

FMPy formats messages in C and passes them to one logger for the whole process: the one that was registered last, even
if it no longer exists. So one logger that always exists is registered here, and finds whose message it is.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from fmpy import fmi2

WARNING = 1  # the FMI status fmi2Warning; greater ones are failures

_numbers = itertools.count(1)
_callbacks: WeakValueDictionary[int, Any] = WeakValueDictionary()  # by componentEnvironment


def message_logger(on_error: Callable[[str], None], on_warning: Callable[[str], None] = lambda text: None) -> Any:
    """Return callbacks for an FMI 2.0 FMU that pass on the last line of every message about a failure or a warning.

    They must be kept as long as the FMU is used.
    """

    def log(environment: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        if status >= WARNING and message.strip():
            line = message.decode(errors="replace").strip().splitlines()[-1]
            (on_error if status > WARNING else on_warning)(line)

    callbacks = register_logger()
    callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(fmi2.calloc)
    callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(fmi2.free)
    callbacks.componentEnvironment = next(_numbers)
    callbacks.log = log
    _callbacks[callbacks.componentEnvironment] = callbacks
    return callbacks


def register_logger() -> Any:
    """Make the logger of this module the one of the process, also after a run of FMPy with another one."""
    callbacks = fmi2.fmi2CallbackFunctions()
    callbacks.logger = _log
    fmi2.addLoggerProxy(ctypes.byref(callbacks))
    return callbacks


def _pass_on(environment: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
    """Pass a message to its callbacks, or print it as FMPy does for an FMU without a logger."""
    callbacks = _callbacks.get(environment)
    log = fmi2.printLogMessage if callbacks is None else callbacks.log
    log(environment, instance, status, category, message)


_log = fmi2.fmi2CallbackLoggerTYPE(_pass_on)
