"""What a dynamic rule works with: the FMU's library, its model, instances, log messages, and the report to the
checker."""

from __future__ import annotations

import ctypes
import json
import marshal
import math
import os
import time
from collections.abc import Callable
from ctypes import byref, c_char_p, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .binding import CO_SIMULATION, MODEL_EXCHANGE, OK, Callbacks, Library, Logger
from .instance import ONLY_ONE, Excitation, FmuInstance, NotJudged, ProcessSpent
from .model import Model, ModelVariable, Value
from .trace import Trace

ENVIRONMENT = 0x5EED  # componentEnvironment, which every log message must pass back
TYPE = {"ModelExchange": MODEL_EXCHANGE, "CoSimulation": CO_SIMULATION}


@dataclass(frozen=True)
class Message:
    """One call of the logger."""

    environment: int | None
    instance: str | None
    status: int
    category: str | None
    text: str | None


class InstantiationFailed(Exception):
    """fmi2Instantiate returned NULL."""

    sentence = "new-instance"
    discarded = False


class Session:
    """One rule and one kind of FMU in this process."""

    def __init__(self, job: dict[str, Any], folder: Path):
        self.model = Model.from_dict(marshal.loads(Path(job["model"]).read_bytes()))
        self.kind: str = job["kind"]
        self.fmu = Path(job["fmu"])
        self.work = folder / "work"  # the working directory
        self.call_seconds: float = job["call_seconds"]
        self.seconds: float = job["rule_seconds"]
        self.random: int = job["random"]
        self.seed: int = job["seed"]
        self._done = set(job["done"])
        self._proxy: str | None = job["logger_proxy"]
        self._began = time.monotonic()
        self._events = os.open(folder / "events.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._instances: list[FmuInstance] = []
        self._libraries: dict[str, Library] = {}
        self.settable: dict[str, frozenset[ModelVariable]] = {}  # by the state of an instance
        self._logger = Logger(self.add_message)
        self.log: list[Message] = []
        self._older = 0  # messages of the log that are older than the last call
        self.fatal = False  # a function has returned fmi2Fatal
        self.again = False  # a second instance in a process that may have only one: its failures prove nothing
        self._instantiated = False
        self.trace = Trace(folder / "trace")

    # --- reporting ----------------------------------------------------------------------------------------------------

    def report(self, **event: Any) -> None:
        os.write(self._events, json.dumps(event).encode() + b"\n")

    def not_judged(self, reason: str) -> None:
        """Something that the checker could not decide, which is not the FMU's fault."""
        self.report(not_judged=reason)

    def attempt(self, name: str, legal: bool = True) -> bool:
        """Whether to run this part of a rule: False if it was begun in an earlier process, which crashed. A crash is
        only an error if what the part does is legal beyond doubt."""
        if name in self._done:
            return False
        self.report(attempt=name, legal=legal)
        return True

    def time_used(self, fraction: float) -> bool:
        """Whether this fraction of the rule's time budget is used up."""
        return time.monotonic() - self._began > fraction * self.seconds

    def limit(self, fraction: float, seconds: float) -> Callable[[], bool]:
        """A function that says whether this fraction of the time budget is used up, or so much processor time since
        now: a large model does not keep the user waiting for what a part of the experiment shows as well."""
        end = time.process_time() + seconds
        return lambda: time.process_time() > end or self.time_used(fraction)

    # --- the FMU ------------------------------------------------------------------------------------------------------

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

    @property
    def printed(self) -> int:
        """Bytes that this process has written to its standard output, which is a file."""
        return os.fstat(1).st_size

    @property
    def once_per_process(self) -> bool:
        return self.model.flag(self.kind, "canBeInstantiatedOnlyOncePerProcess")

    def callbacks(self, step_finished: Any = None, raw: bool = False) -> Callbacks:
        """The functions of the environment. With `raw`, messages are logged as formats, without their arguments."""
        libc = ctypes.CDLL(None) if os.name != "nt" else ctypes.cdll.msvcrt
        allocate, free = ctypes.cast(libc.calloc, c_void_p), ctypes.cast(libc.free, c_void_p)
        finished = ctypes.cast(step_finished, c_void_p) if step_finished else None
        callbacks = Callbacks(self._logger, allocate, free, finished, ENVIRONMENT)
        callbacks.kept = step_finished
        if self._proxy and not raw:  # inserts the values into messages with %s and the like, which ctypes cannot do
            ctypes.CDLL(self._proxy).addLoggerProxy(byref(callbacks))
        return callbacks

    def add_message(
        self, environment: int | None, instance: bytes | None, status: int, category: bytes | None, text: bytes | None
    ) -> None:
        """What the logger does."""
        decoded = (None if b is None else b.decode(errors="replace") for b in (instance, category, text))
        name, group, message = decoded
        self.log.append(Message(environment, name, status, group, message))

    def instantiate(
        self,
        name: str = "checked",
        guid: str | None = None,
        logging: bool = True,
        buffers: list[Any] | None = None,
        resources: str | None = None,
        visible: bool = False,
        callbacks: Callbacks | None = None,
    ) -> FmuInstance | None:
        """A new instance, or None if fmi2Instantiate returned NULL. `buffers` receives the memory of the name and the
        GUID, which the FMU must have copied."""
        if self.fatal:
            raise ProcessSpent
        if self.once_per_process:
            self.free_all()
            if self._instantiated:
                self.again = True
                self.report(again=True)
            self._instantiated = True
        name_buffer = ctypes.create_string_buffer(name.encode())
        guid_buffer = ctypes.create_string_buffer((self.model.guid if guid is None else guid).encode())
        if buffers is not None:
            buffers.extend((name_buffer, guid_buffer))
        callbacks = callbacks or self.callbacks()
        name_pointer, guid_pointer = ctypes.cast(name_buffer, c_char_p), ctypes.cast(guid_buffer, c_char_p)
        location = (self.resources if resources is None else resources).encode()
        texts = (name_pointer, TYPE[self.kind], guid_pointer, location)
        self.begin_call("fmi2Instantiate")
        component = self.library.call("", "fmi2Instantiate", *texts, byref(callbacks), int(visible), int(logging))
        if not component:
            return None
        instance = FmuInstance(self, component, self.kind, callbacks)
        self._instances.append(instance)
        return instance

    def new_instance(self) -> FmuInstance:
        """A new instance with the FMU's own GUID. Raises InstantiationFailed."""
        instance = self.instantiate()
        if instance is None and self.again:
            raise NotJudged(ONLY_ONE)
        if instance is None:
            raise InstantiationFailed(f"fmi2Instantiate returned NULL{self.reason()}")
        return instance

    def remove(self, instance: FmuInstance) -> None:
        """Release what an instance needed, after it was freed."""
        if instance in self._instances:
            self._instances.remove(instance)

    def free_all(self) -> None:
        for instance in list(self._instances):
            instance.free()

    def begin_call(self, name: str) -> None:
        """From now on messages are about this call. A question about the status of a step still belongs to the step."""
        if not name.endswith("Status"):
            self._older = len(self.log)

    def last_message(self) -> str:
        """What the FMU logged during the last call: the last message that is not fmi2OK, or else the last one; on one
        line and at most 300 characters long."""
        messages = self.log[self._older :]
        last = next((m for m in reversed(messages) if m.status != OK), messages[-1] if messages else None)
        return " ".join((last.text or "").split())[:300] if last else ""

    def reason(self) -> str:
        """The message of the last call in parentheses, or ""."""
        message = self.last_message()
        return f" ({message})" if message else ""

    # --- experiments --------------------------------------------------------------------------------------------------

    def steps(self, limit: int) -> list[float]:
        """Communication steps from the start time: at most `limit`, and not beyond the default experiment."""
        m = self.model
        return [m.step_size] * max(1, min(limit, math.floor((m.stop_time - m.start_time) / m.step_size + 1e-9)))

    def excitation(self, amplitude: float = 0.05) -> Excitation | None:
        """Smooth inputs near their start values; None if the FMU has no continuous Real inputs."""
        reals = self.model.of("input", types=("Real",))
        inputs = [v for v in reals if v.variability == "continuous" and isinstance(v.start, float)]
        waves = [(v, float(v.start or 0.0), amplitude * v.scale, 1.0 + 0.7 * i) for i, v in enumerate(inputs)]

        def values(t: float) -> dict[ModelVariable, Value]:
            wanted = [(v, start + size * math.sin(phase + 3.0 * t)) for v, start, size, phase in waves]
            return {v: x for v, x in wanted if v.inside(x)}

        return values if inputs else None
