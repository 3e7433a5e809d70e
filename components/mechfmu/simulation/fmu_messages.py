"""What an FMU says while it runs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from fmpy import fmi2

WARNING = 1  # the worst status that is no failure


def message_logger(hear: Callable[[str], None], warn: Callable[[str], None] = lambda text: None) -> Any:
    """Callbacks for an FMI 2.0 FMU that pass on the last line of every message about a failure, and of every warning. They must live as long as the FMU."""

    def log(environment: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        if status >= WARNING and message.strip():
            (hear if status > WARNING else warn)(message.decode(errors="replace").strip().splitlines()[-1])

    callbacks = fmi2.fmi2CallbackFunctions()
    callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(log)
    callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(fmi2.calloc)
    callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(fmi2.free)
    fmi2.addLoggerProxy(ctypes.byref(callbacks))
    return callbacks
