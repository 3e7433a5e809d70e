"""The c engine: a mechanism compiled for this computer, kept in a cache and loaded with ctypes.

`CEngine` has the functions of the contract; `CompiledInstance` is the complete runtime of the native FMU, solver
included, with the methods of `Instance`.
"""

from __future__ import annotations

import ctypes
import hashlib
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..codegen.c_model import model_c
from ..codegen.cache import cached_library
from ..codegen.compiler import FLAGS, GENERATED_FLAGS, PLATFORMS, compile_sources, default_compiler, host_platform
from ..codegen.sources import NATIVE, c_sources, fmu_source
from ..model import Mechanism, UserError
from ..model.mechanism import Identity, mechanism_of_identity
from ..model.variables import Scalar
from .integration import IntegrationError

GUID = "engine"


@lru_cache(maxsize=64)
def _library(identity: Identity) -> ctypes.CDLL:
    mechanism = mechanism_of_identity(identity)
    own = {"engine.c": fmu_source("engine/engine.c").read_text(encoding="utf-8")}
    return compiled_library(mechanism.key, (c_sources(*NATIVE), own), {"model.c": model_c(mechanism, GUID, {})})


def compiled_library(name: str, groups: Sequence[Mapping[str, str]], generated: Mapping[str, str]) -> ctypes.CDLL:
    """Load a library of C files for this computer, from the cache if they were compiled before."""
    compiler, host = default_compiler(), host_platform()
    files = {file: text for group in (*groups, generated) for file, text in group.items()}
    digest = hashlib.sha256(
        "\0".join([compiler, host, *FLAGS, *GENERATED_FLAGS, *(f"{k}\0{v}" for k, v in sorted(files.items()))]).encode()
    ).hexdigest()[:24]

    def make(target: Path) -> None:
        compile_sources(groups, target, host, compiler, generated=generated)

    with cached_library(f"{name}_{digest}", PLATFORMS[host].suffix, make) as file:
        return ctypes.CDLL(str(file))


def library(mechanism: Mechanism) -> ctypes.CDLL:
    """The compiled mechanism; mechanisms of one identity share it."""
    return _library(mechanism.identity)


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class CEngine:
    """The functions of the contract in machine code."""

    def __init__(self, mechanism: Mechanism):
        self._library = library(mechanism)
        table = mechanism.table
        self._library.engine_work.restype = ctypes.c_size_t
        self._work = np.zeros(self._library.engine_work() + 1)
        vectors = {vector: getattr(table, vector).size for vector in "xdupy"}
        self._sizes = {**vectors, "g": len(mechanism.event_names), "r": len(mechanism.requirement_texts)}
        self._point = {"t": np.zeros(2), **{vector: np.zeros(vectors[vector] + 1) for vector in "xdup"}}
        self._events = {event: k for k, event in enumerate(mechanism.event_names)}
        self._pointers = [_pointer(a) for a in self._point.values()]
        self._last = _pointer(self._work)

    def _call(self, name: str, results: Sequence[str], **values: Any) -> list[np.ndarray]:
        for key, value in values.items():
            array = self._point[key]
            array[: array.size - 1] = value
        out = [np.zeros(self._sizes[r] + 1) for r in results]
        getattr(self._library, f"engine_{name}")(*self._pointers, *(_pointer(o) for o in out), self._last)
        return [o[:-1] for o in out]

    def initial(self, p: Any) -> tuple[np.ndarray, np.ndarray]:
        x, d = self._call("initial", "xd", p=p)
        return x, d

    def rates(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> np.ndarray:
        return self._call("rates", "x", t=t, x=x, d=d, u=u, p=p)[0]

    def outputs(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> np.ndarray:
        return self._call("outputs", "y", t=t, x=x, d=d, u=u, p=p)[0]

    def guards(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> np.ndarray:
        return self._call("guards", "g", t=t, x=x, d=d, u=u, p=p)[0]

    def jump(self, t: Any, x: Any, d: Any, u: Any, p: Any, event: str) -> tuple[np.ndarray, np.ndarray]:
        self._library.engine_choose(self._last, ctypes.c_size_t(self._events[event]))
        x, d = self._call("jump", "xd", t=t, x=x, d=d, u=u, p=p)
        return x, d

    def project(self, x: Any, d: Any, p: Any) -> np.ndarray:
        return self._call("project", "x", x=x, d=d, p=p)[0]

    def requirements(self, p: Any) -> np.ndarray:
        return self._call("requirements", "r", p=p)[0]

    def tangent(
        self, t: Any, x: Any, d: Any, u: Any, p: Any, t_dot: float, x_dot: Any, u_dot: Any, p_dot: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Derivative of (rates, outputs) along the direction (t_dot, x_dot, u_dot, p_dot)."""
        direction = (t_dot, x_dot, np.zeros(self._sizes["d"]), u_dot, p_dot)
        seeds = [np.ascontiguousarray(np.append(s, 0.0), dtype=float) for s in direction]
        for key, value in zip("txdup", (t, x, d, u, p), strict=True):
            array = self._point[key]
            array[: array.size - 1] = value
        dx, y = np.zeros(self._sizes["x"] + 1), np.zeros(self._sizes["y"] + 1)
        results = _pointer(dx), _pointer(y)
        self._library.engine_tangent(*self._pointers, *(_pointer(s) for s in seeds), *results, self._last)
        return dx[:-1], y[:-1]


# --- the complete runtime ---------------------------------------------------------------------------------------------

_LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)


class _Callbacks(ctypes.Structure):
    _fields_ = [
        ("logger", _LOGGER),
        ("allocate", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
        ("finished", ctypes.c_void_p),
        ("environment", ctypes.c_void_p),
    ]


class CompiledInstance:
    """A mechanism simulated by the native runtime: set, initialize, step, get, as Instance."""

    def __init__(self, mechanism: Mechanism, start: Mapping[str, float | str] | None = None):
        self.mechanism, self.table = mechanism, mechanism.table
        self._fmi = library(mechanism)
        self._fmi.fmi2Instantiate.restype = ctypes.c_void_p
        self._fmi.fmi2DoStep.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int]
        self._message = ""
        self._callbacks = _Callbacks(logger=_LOGGER(self._log))  # kept alive as long as the instance
        names = mechanism.key.encode(), 1, GUID.encode(), None  # 1: Co-Simulation
        component = self._fmi.fmi2Instantiate(*names, ctypes.byref(self._callbacks), 0, 1)
        if not component:
            raise UserError(self._message)
        self._component = ctypes.c_void_p(component)
        self._references = {s.name: i for i, s in enumerate(self.table.scalars)}
        self._getters: dict[tuple[Scalar, ...], tuple[np.ndarray, np.ndarray]] = {}
        settings = mechanism.settings(start or {})
        self.set([s for s, _ in settings], [v for _, v in settings])

    def __del__(self) -> None:
        if component := getattr(self, "_component", None):
            self._fmi.fmi2FreeInstance(component)

    def _log(self, environment: Any, name: bytes, status: int, category: bytes, message: bytes) -> None:
        self._message = message.decode(errors="replace")

    def _do(self, status: int) -> None:
        if status == 1:
            warnings.warn(self._message, RuntimeWarning, stacklevel=3)
        elif status == 2:
            raise IntegrationError(self._message)
        elif status:
            raise UserError(self._message)

    def set(self, scalars: Sequence[Scalar], values: Sequence[float]) -> None:
        for scalar, value in zip(scalars, values, strict=True):
            kind = scalar.row.kind
            reference = ctypes.c_uint(self._references[scalar.name])
            number = ctypes.c_double(value) if kind == "Real" else ctypes.c_int(int(value))
            call = getattr(self._fmi, f"fmi2Set{kind}")
            self._do(call(self._component, ctypes.byref(reference), ctypes.c_size_t(1), ctypes.byref(number)))

    def get(self, scalars: Sequence[Scalar]) -> list[float]:
        reals = tuple(s for s in scalars if s.row.kind == "Real")
        if reals not in self._getters:
            numbers = np.array([self._references[s.name] for s in reals], dtype=np.uint32)
            self._getters[reals] = numbers, np.zeros(len(reals))
        references, values = self._getters[reals]
        count = ctypes.c_size_t(len(reals))
        self._do(self._fmi.fmi2GetReal(self._component, _pointer(references), count, _pointer(values)))
        if len(reals) == len(scalars):
            return values.tolist()
        found = iter(values.tolist())
        return [next(found) if s.row.kind == "Real" else self._get_int(s) for s in scalars]

    def _get_int(self, scalar: Scalar) -> float:
        value, reference = ctypes.c_int(), ctypes.c_uint(self._references[scalar.name])
        call = getattr(self._fmi, f"fmi2Get{scalar.row.kind}")
        self._do(call(self._component, ctypes.byref(reference), ctypes.c_size_t(1), ctypes.byref(value)))
        return float(value.value)

    def initialize(self, start_time: float = 0.0, tolerance: float | None = None) -> None:
        tolerance_defined, number = int(tolerance is not None), ctypes.c_double(tolerance or 0.0)
        stop = 0, ctypes.c_double(0.0)  # not defined
        start = ctypes.c_double(start_time)
        self._do(self._fmi.fmi2SetupExperiment(self._component, tolerance_defined, number, start, *stop))
        self._do(self._fmi.fmi2EnterInitializationMode(self._component))
        self._do(self._fmi.fmi2ExitInitializationMode(self._component))

    def step(self, t: float, h: float) -> None:
        self._do(self._fmi.fmi2DoStep(self._component, t, h, 1))
