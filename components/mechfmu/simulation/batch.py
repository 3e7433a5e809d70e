"""Many instances of a mechanism at once, compiled for the SIMD lanes of this computer.

Every instance has the native FMU's own solver, with its own step sizes and events; what several solvers need next is
calculated together, one instance per lane (fmu_src/batch). A lane does the same operations in the same order as an
instance alone, so it has the same bits, whatever its neighbours do.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from ..codegen.c_model import model_c, model_lanes
from ..codegen.sources import NATIVE, c_sources
from ..model import Mechanism, UserError, did_you_mean
from ..model.mechanism import Identity, mechanism_of_identity
from ..model.variables import Scalar
from .compiled import GUID, compiled_library

INSTRUCTION_SETS = {"avx512": (8, "avx512f,avx512dq,avx512vl"), "avx2": (4, "avx2"), "plain": (2, "")}
"""Lanes and features for the compiler; plain: those that every processor of the platform has (SSE2, NEON)."""

MESSAGE_LENGTH = 512  # as in fmu_src/batch/batch.h


def instruction_set() -> str:
    """The widest instruction set of this processor, or that of the environment variable MECHFMU_SIMD."""
    if chosen := os.environ.get("MECHFMU_SIMD"):
        if chosen not in INSTRUCTION_SETS:
            raise UserError(f"MECHFMU_SIMD={chosen}: must be one of {', '.join(INSTRUCTION_SETS)}")
        return chosen
    features: Mapping[str, bool] = {}
    for module in ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):  # NumPy 2 and 1
        with suppress(ImportError, AttributeError):
            features = importlib.import_module(module).__cpu_features__
            break
    if all(features.get(name) for name in ("AVX512F", "AVX512DQ", "AVX512VL")):
        return "avx512"
    return "avx2" if features.get("AVX2") else "plain"


def _target_header(name: str) -> str:
    lanes, features = INSTRUCTION_SETS[name]
    lines = [
        "/* The SIMD lanes of the functions that follow, and their instruction set. */",
        f"#define LANES {lanes}",
        "#if defined __clang__",
        f'#pragma clang attribute push(__attribute__((target("{features}"))), apply_to = function)',
        '#define LANES_END _Pragma("clang attribute pop")',
        "#elif defined __GNUC__",
        f'#pragma GCC target("{features}")',
        "#endif",
    ]
    if not features:
        del lines[2:]
    return "\n".join([*lines, "#ifndef LANES_END", "#define LANES_END", "#endif", ""])


def batch_files(mechanism: Mechanism, simd: str) -> dict[str, str]:
    """The C files of a batch beside the runtime and the mechanism's own."""
    return {**c_sources("batch"), "lanes_target.h": _target_header(simd), "model_lanes.h": model_lanes(mechanism)}


@lru_cache(maxsize=64)
def _library(identity: Identity, simd: str) -> ctypes.CDLL:
    mechanism = mechanism_of_identity(identity)
    generated = {"model.c": model_c(mechanism, GUID, {})}
    groups = c_sources(*NATIVE), batch_files(mechanism, simd)
    found = compiled_library(f"{mechanism.key}_batch", groups, generated)
    found.batch_new.restype = ctypes.c_void_p
    found.batch_width.restype = ctypes.c_size_t
    found.batch_error.restype = found.batch_warning.restype = ctypes.c_char_p
    return found


def batch_library(mechanism: Mechanism) -> ctypes.CDLL:
    """The compiled mechanism with its functions for lanes; mechanisms of one identity share it."""
    return _library(mechanism.identity, instruction_set())


def references(mechanism: Mechanism) -> Mapping[str, int]:
    """The value reference of every variable."""
    return {s.name: i for i, s in enumerate(mechanism.table.scalars)}


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def settable(mechanism: Mechanism, name: str, *roles: str) -> Scalar:
    """The variable of this name, if it has one of these roles; otherwise UserError."""
    scalar = mechanism.table.by_name.get(name)
    if scalar is None:
        raise UserError(f"{mechanism.name} has no variable {name}{did_you_mean(name, mechanism.table.by_name)}")
    if scalar.constant:
        raise UserError(f"{name} cannot be set: it is a constant")
    if scalar.role not in roles:
        raise UserError(f"{name} cannot be set: only {' and '.join(f'{role}s' for role in roles)} can")
    return scalar


def readable(mechanism: Mechanism, names: Sequence[str]) -> list[Scalar]:
    """The variables of these names; UserError if there is none of a name."""
    for name in names:
        if name not in mechanism.table.by_name:
            raise UserError(f"{mechanism.name} has no variable {name}{did_you_mean(name, mechanism.table.by_name)}")
    return [mechanism.table.by_name[name] for name in names]


class Batch:
    """A fixed number of instances that step together, for environments of reinforcement learning.

        batch = Batch(mechanism, 64)
        batch.reset(values={"joint[1].angle_start": angles})       # numbers, or arrays with one for each instance
        batch.step(0.01, {"joint[1].torque": torques})
        batch.get(["joint[1].angle", "tip.x"])                     # 64 x 2
        batch.reset(np.flatnonzero(batch.failed), {"joint[1].angle_start": 0.1})

    An instance that has failed stays where it is, `errors` says why, until it is reset.
    """

    def __init__(self, mechanism: Mechanism, count: int, tolerance: float | None = None):
        if count < 1:
            raise UserError(f"{count} instances: there must be at least one")
        self.mechanism, self.count, self.tolerance = mechanism, count, tolerance
        self._c = batch_library(mechanism)
        self._references = references(mechanism)
        batch = self._c.batch_new(ctypes.c_size_t(count))
        if not batch:
            raise MemoryError(f"{count} instances")
        self._batch = ctypes.c_void_p(batch)
        self.reset()

    def __del__(self) -> None:
        if batch := getattr(self, "_batch", None):
            self._c.batch_free(batch)

    def reset(self, which: Any = None, values: Mapping[str, Any] | None = None) -> None:
        """Begin again with some instances, at t = 0: all, or those of these indices or of a mask.

        values   parameters and inputs by name, each a number or an array with one number for each of these instances;
                 the others have their defaults
        """
        places = self._places(which)
        scalars, columns = self._columns(values or {}, len(places), "parameter", "input")
        numbers = np.array([self._references[s.name] for s in scalars], dtype=np.uint32)
        count, tolerance = ctypes.c_size_t(len(scalars)), ctypes.c_double(self.tolerance or 0.0)
        for place, row in zip(places.tolist(), columns, strict=True):
            self._c.batch_start(self._batch, ctypes.c_size_t(place), tolerance, count, pointer(numbers), pointer(row))

    def step(self, h: float, inputs: Mapping[str, Any] | None = None, which: Any = None) -> None:
        """Make a step of h seconds with all instances, or some.

        inputs   by name, each a number or an array with one number for each of these instances; held from now on
        """
        if not (np.isfinite(h) and h > 0):
            raise UserError(f"step of size {h:g}: must be greater than 0")
        places = self._places(which)
        scalars, columns = self._columns(inputs or {}, len(places), "input")
        numbers = np.array([self._references[s.name] for s in scalars], dtype=np.uint32)
        count = ctypes.c_size_t(len(scalars))
        for place, row in zip(places.tolist(), columns, strict=True):
            self._c.batch_set(self._batch, ctypes.c_size_t(place), count, pointer(numbers), pointer(row))
        self._c.batch_step(self._batch, ctypes.c_double(h), pointer(self._mask(places)))

    def get(self, names: Sequence[str], which: Any = None) -> np.ndarray:
        """The present values of variables: an array (instances x names)."""
        places = self._places(which)
        scalars = readable(self.mechanism, names)
        numbers = np.array([self._references[s.name] for s in scalars], dtype=np.uint32)
        values = np.zeros((self.count, len(scalars)))
        count = ctypes.c_size_t(len(scalars))
        self._c.batch_get(self._batch, pointer(self._mask(places)), count, pointer(numbers), pointer(values))
        return values[places]

    @property
    def errors(self) -> list[str]:
        """For each instance why it has failed, empty where nothing went wrong."""
        return [self._c.batch_error(self._batch, ctypes.c_size_t(i)).decode() for i in range(self.count)]

    @property
    def warnings(self) -> list[str]:
        """For each instance the first warning of its last step, or of its start."""
        return [self._c.batch_warning(self._batch, ctypes.c_size_t(i)).decode() for i in range(self.count)]

    @property
    def failed(self) -> np.ndarray:
        """A mask of the instances that have failed."""
        return np.array([bool(error) for error in self.errors])

    def _places(self, which: Any) -> np.ndarray:
        if which is None:
            return np.arange(self.count)
        chosen = np.atleast_1d(np.asarray(which))
        places = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(int)
        if (chosen.dtype == bool and chosen.size != self.count) or np.any((places < 0) | (places >= self.count)):
            raise UserError(f"there are {self.count} instances: indices go from 0 to {self.count - 1}")
        return places

    def _mask(self, places: np.ndarray) -> np.ndarray:
        mask = np.zeros(self.count, dtype=np.uint8)
        mask[places] = 1
        return mask

    def _columns(self, values: Mapping[str, Any], count: int, *roles: str) -> tuple[list[Scalar], np.ndarray]:
        """The variables, and their values as one row for each instance."""
        scalars = [settable(self.mechanism, name, *roles) for name in values]
        columns = np.empty((count, len(scalars)))
        for k, scalar in enumerate(scalars):
            columns[:, k] = column(self.mechanism, scalar, values[scalar.name], count)
        return scalars, columns


def column(mechanism: Mechanism, scalar: Scalar, value: Any, count: int) -> np.ndarray:
    """A value for each of `count` runs: the same for all, or one each. Texts are numbers with units, or items."""
    given = np.asarray(value)
    if given.ndim == 0:
        (found,) = mechanism.settings({scalar.name: value})
        return np.full(count, found[1])
    if given.shape != (count,):
        raise UserError(f"{scalar.name} has the shape {given.shape}: must be a number or an array of {count} numbers")
    if given.dtype.kind in "biuf":
        return checked(scalar, given.astype(float))
    return np.array([mechanism.settings({scalar.name: v})[0][1] for v in given.tolist()])


def checked(scalar: Scalar, numbers: np.ndarray) -> np.ndarray:
    """The same numbers; UserError if one is not whole although it must be. Limits are checked run by run."""
    if scalar.row.kind != "Real" and numbers.size and not np.all(whole := numbers == np.round(numbers)):
        raise UserError(f"{scalar.name} has the value {numbers[~whole].flat[0]:g}: must be a whole number")
    return numbers


def warn_of(texts: Sequence[str]) -> None:
    """One warning for all runs that warn."""
    warned = [text for text in texts if text]
    if warned:
        runs = "1 run warns" if len(warned) == 1 else f"{len(warned)} runs warn"
        warnings.warn(f"{runs}: {warned[0]}", RuntimeWarning, stacklevel=3)
