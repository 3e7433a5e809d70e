"""What a dynamic rule works with: the FMU's library, its model, instances, its log messages, and the way to report."""

from __future__ import annotations

import ctypes
import json
import math
import mmap
import os
import time
from collections.abc import Callable
from ctypes import byref, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .binding import CO_SIMULATION, MODEL_EXCHANGE, Callbacks, Library, Logger
from .model import Model, ModelVariable
from .instance import FmuInstance

TRACE_SIZE = 1024
ENVIRONMENT = 0x5EED  # must come back with every message
TYPE = {"ModelExchange": MODEL_EXCHANGE, "CoSimulation": CO_SIMULATION}


@dataclass(frozen=True)
class Message:
    """One call of the logger."""

    environment: int | None
    instance: str | None
    status: int
    category: str | None
    text: str | None


class Trace:
    """A small file in memory that says what the process is doing; it outlives a crash."""

    def __init__(self, file: Path):
        file.write_bytes(bytes(TRACE_SIZE))
        with file.open("r+b") as stream:
            self._memory = mmap.mmap(stream.fileno(), TRACE_SIZE)

    def __call__(self, text: str) -> None:
        data = text.encode(errors="replace")[:TRACE_SIZE]
        self._memory[:TRACE_SIZE] = data.ljust(TRACE_SIZE, b"\0")


class Session:
    def __init__(self, job: dict[str, Any], folder: Path):
        self.model = Model.from_dict(job["model"])
        self.kind: str = job["kind"]
        self.fmu = Path(job["fmu"])
        self.seconds: float = job["seconds"]
        self.random: int = job["random"]
        self.seed: int = job["seed"]
        self._done = set(job["done"])
        self._proxy: str | None = job["logger_proxy"]
        self._began = time.monotonic()
        self._events = os.open(folder / "events.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._units: list[FmuInstance] = []
        self._libraries: dict[str, Library] = {}
        self._kept: list[Any] = []
        self.log: list[Message] = []
        self.trace = Trace(folder / "trace")

    # --- reporting ------------------------------------------------------------------------------------------------------

    def report(self, **event: Any) -> None:
        os.write(self._events, json.dumps(event).encode() + b"\n")

    def attempt(self, name: str) -> bool:
        """Whether this part of a rule is still to be tried: not when an earlier process did not survive it."""
        if name in self._done:
            return False
        self.report(attempt=name)
        return True

    def time_used(self, part: float) -> bool:
        """Whether this part of the time limit is used up."""
        return time.monotonic() - self._began > part * self.seconds

    # --- the FMU --------------------------------------------------------------------------------------------------------

    def library_of(self, kind: str) -> Library:
        identifier = self.model.interfaces[kind]["modelIdentifier"]
        if identifier not in self._libraries:
            self._libraries[identifier] = Library(self.model.interfaces[kind]["library"], self.trace)
        return self._libraries[identifier]

    @property
    def library(self) -> Library:
        return self.library_of(self.kind)

    @property
    def resources(self) -> str:
        return (self.fmu / "resources").as_uri()

    def callbacks(self) -> Callbacks:
        def logger(
            environment: int | None, instance: bytes | None, status: int, category: bytes | None, text: bytes | None
        ) -> None:
            decoded = (None if b is None else b.decode(errors="replace") for b in (instance, category, text))
            name, group, message = decoded
            self.log.append(Message(environment, name, status, group, message))

        libc = ctypes.CDLL(None) if os.name != "nt" else ctypes.cdll.msvcrt
        found = Callbacks(
            Logger(logger), ctypes.cast(libc.calloc, c_void_p), ctypes.cast(libc.free, c_void_p), None, ENVIRONMENT
        )
        self._kept.append(found)
        if self._proxy:  # puts the values into messages with %s and the like, which Python cannot
            ctypes.CDLL(self._proxy).addLoggerProxy(byref(found))
        return found

    def instantiate(
        self, name: str = "checked", guid: str | None = None, logging: bool = True, buffers: list[Any] | None = None
    ) -> FmuInstance | None:
        """An instance, or None when the FMU refuses. `buffers` gets the memory of name and GUID, which the FMU must have copied."""
        texts = [
            ctypes.create_string_buffer((name).encode()),
            ctypes.create_string_buffer((self.model.guid if guid is None else guid).encode()),
        ]
        if buffers is not None:
            buffers.extend(texts)
        callbacks = self.callbacks()
        component = self.library.call(
            "", "fmi2Instantiate", ctypes.cast(texts[0], ctypes.c_char_p), TYPE[self.kind], ctypes.cast(texts[1], ctypes.c_char_p), self.resources.encode(),
            byref(callbacks), 0, int(logging),
        )  # fmt: skip
        if not component:
            return None
        instance = FmuInstance(self, component, self.kind, callbacks)
        self._units.append(instance)
        return instance

    def new_instance(self) -> FmuInstance:
        """An instance by the book; that this works was seen before any rule."""
        instance = self.instantiate()
        if instance is None:
            raise InstantiationFailed(f"fmi2Instantiate returned NULL{f' ({said})' if (said := self.last_message()) else ''}")
        return instance

    def forget(self, instance: FmuInstance) -> None:
        if unit in self._units:
            self._units.remove(instance)
        self._kept.clear()
        self._kept.extend(u._keep for u in self._units)

    def free_all(self) -> None:
        for unit in list(self._units):
            instance.free()

    def last_message(self) -> str:
        """The last message of the FMU, short."""
        return " ".join((self.log[-1].text or "").split())[:300] if self.log else ""

    # --- experiments ------------------------------------------------------------------------------------------------------

    def steps(self, most: int) -> list[float]:
        """Communication steps from the start, at most so many and not beyond the default experiment."""
        m = self.model
        return [m.step_size] * max(1, min(most, math.floor((m.stop_time - m.start_time) / m.step_size + 1e-9)))

    def excitation(self, amplitude: float = 0.05) -> Callable[[float], dict[ModelVariable, float]] | None:
        """Smooth inputs near their start values, so that things move; None when the FMU has no continuous inputs or does not like them."""
        inputs = [
            v
            for v in self.model.of("input", types=("Real",))
            if v.variability == "continuous" and isinstance(v.start, float)
        ]

        def values(t: float) -> dict[ModelVariable, float]:
            wanted = {
                v: float(v.start or 0.0) + amplitude * v.scale * math.sin(1.0 + 0.7 * i + 3.0 * t)
                for i, v in enumerate(inputs)
            }
            return {v: x for v, x in wanted.items() if v.inside(x)}

        return values if inputs else None


class InstantiationFailed(Exception):
    """The FMU did not instantiate."""
