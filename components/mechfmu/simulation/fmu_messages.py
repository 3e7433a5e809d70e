"""Log messages of a running FMU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from fmpy import fmi2

WARNING = 1  # the FMI status fmi2Warning; greater ones are failures


def message_logger(on_error: Callable[[str], None], on_warning: Callable[[str], None] = lambda text: None) -> Any:
    """Return callbacks for an FMI 2.0 FMU that pass on the last line of every message about a failure or a warning.

    They must be kept as long as the FMU is used.
    """

    def log(environment: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        if status >= WARNING and message.strip():
            line = message.decode(errors="replace").strip().splitlines()[-1]
            (on_error if status > WARNING else on_warning)(line)

    callbacks = fmi2.fmi2CallbackFunctions()
    callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(log)
    callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(fmi2.calloc)
    callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(fmi2.free)
    fmi2.addLoggerProxy(ctypes.byref(callbacks))
    return callbacks
