"""A minimal host with ctypes: the result of the base unit, used as reference."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, Structure, byref, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from pathlib import Path

from .description import GUID, VARIABLES

LOGGER = CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p)
ALLOCATE = CFUNCTYPE(c_void_p, c_size_t, c_size_t)
FREE = CFUNCTYPE(None, c_void_p)
FINISHED = CFUNCTYPE(None, c_void_p, c_int)


class Callbacks(Structure):
    _fields_ = [
        ("logger", LOGGER),
        ("allocate", ALLOCATE),
        ("release", FREE),
        ("finished", FINISHED),
        ("environment", c_void_p),
    ]


class EventInfo(Structure):
    _fields_ = [
        ("needed", c_int),
        ("terminate", c_int),
        ("nominals", c_int),
        ("values", c_int),
        ("defined", c_int),
        ("next", c_double),
    ]


class Host:
    """One instance of an FMU library, with the messages it logged."""

    def __init__(
        self,
        library: Path,
        kind: int = 1,
        guid: str = GUID,
        name: str = "host",
        logging: bool = False,
        location: str = "file:///tmp/resources",
        visible: bool = False,
        memory: bool = False,
    ) -> None:
        self.lib = ctypes.CDLL(str(library))
        self.messages: list[tuple[str, int, str, str]] = []
        self.finished: list[int] = []
        self.lib.fmi2Instantiate.restype = c_void_p
        libc = ctypes.CDLL(None)
        libc.calloc.restype = c_void_p
        libc.calloc.argtypes = [c_size_t, c_size_t]
        libc.free.argtypes = [c_void_p]

        def log(_: object, who: bytes, status: int, category: bytes, text: bytes) -> None:
            self.messages.append((who.decode(), status, (category or b"").decode(), text.decode()))

        self.callbacks = Callbacks(
            LOGGER(log),
            ALLOCATE(lambda n, s: libc.calloc(n, s)) if memory else ALLOCATE(),
            FREE(lambda p: libc.free(p)) if memory else FREE(),
            FINISHED(lambda _, s: self.finished.append(s)),
            None,
        )
        self.c = self.lib.fmi2Instantiate(
            name.encode(), kind, guid.encode(), location.encode(), byref(self.callbacks), int(visible), int(logging)
        )

    def call(self, name: str, *args: object) -> int:
        return getattr(self.lib, "fmi2" + name)(c_void_p(self.c), *args)

    def setup(self, start: float = 0.0, stop: float | None = None) -> int:
        return self.call("SetupExperiment", 0, c_double(0), c_double(start), int(stop is not None), c_double(stop or 0))

    def initialize(self, start: float = 0.0, stop: float | None = None) -> int:
        return max(self.setup(start, stop), self.call("EnterInitializationMode"), self.call("ExitInitializationMode"))

    def real(self, *refs: int) -> list[float]:
        values = (c_double * len(refs))()
        self.status = self.call("GetReal", (c_uint * len(refs))(*refs), c_size_t(len(refs)), values)
        return list(values)

    def integer(self, *refs: int, function: str = "GetInteger") -> list[int]:
        values = (c_int * len(refs))()
        self.status = self.call(function, (c_uint * len(refs))(*refs), c_size_t(len(refs)), values)
        return list(values)

    def string(self, *refs: int) -> list[str | None]:
        values = (c_char_p * len(refs))()
        self.status = self.call("GetString", (c_uint * len(refs))(*refs), c_size_t(len(refs)), values)
        return [None if v is None else v.decode() for v in values]

    def set(self, kind: str, values: dict[int, float | int | str]) -> int:
        types = {"Real": c_double, "Integer": c_int, "Boolean": c_int, "String": c_char_p}
        raw = [v.encode() if isinstance(v, str) else v for v in values.values()]
        n = len(raw)
        return self.call("Set" + kind, (c_uint * n)(*values), c_size_t(n), (types[kind] * n)(*raw))

    def step(self, t: float, h: float, flag: int = 1) -> int:
        return self.call("DoStep", c_double(t), c_double(h), flag)

    def update(self) -> EventInfo:
        info = EventInfo()
        for _ in range(50):
            self.status = self.call("NewDiscreteStates", byref(info))
            if not info.needed:
                break
        return info


def result(library: Path, stop: float = 60.0, size: float = 0.25) -> str:
    """The continuous outputs at the communication points, as comma-separated values."""
    outputs = [v for v in VARIABLES if v.kind == "Real" and v.causality == "output" and v.variability == "continuous"]
    host = Host(library)
    if host.initialize():
        raise RuntimeError("the unit does not initialize")
    rows = [",".join(["time", *(v.name for v in outputs)])]
    for k in range(round(stop / size) + 1):
        rows.append(",".join(f"{x:.12g}" for x in [k * size, *host.real(*(v.reference for v in outputs))]))
        if k < round(stop / size) and host.step(k * size, size):
            raise RuntimeError("a step failed")
    host.call("FreeInstance")
    return "\n".join(rows) + "\n"


__all__ = ["EventInfo", "Host", "result"]
