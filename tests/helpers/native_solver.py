"""The solver of the native FMU on its own, with problems written in Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import CFUNCTYPE, POINTER, byref, c_double, c_int, c_long, c_size_t, c_void_p
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from helpers.native_build import FMI, RUNTIME, C, Native, zig_for_this_platform

EXPLICIT, IMPLICIT, AUTOMATIC = 1, 2, 3
ARRIVED, EVENT, TOO_MANY_EVALUATIONS, STEP_TOO_SMALL = range(4)

POINT = POINTER(c_double)
RATES = CFUNCTYPE(None, c_void_p, c_double, POINT, POINT)
TANGENT = CFUNCTYPE(None, c_void_p, c_double, POINT, c_double, POINT, POINT)


class CProblem(ctypes.Structure):
    _fields_ = [
        ("n", c_size_t),
        ("n_guards", c_size_t),
        ("rates", RATES),
        ("tangent", TANGENT),
        ("guards", RATES),
        ("context", c_void_p),
    ]


class CMemory(ctypes.Structure):
    _fields_ = [
        ("explicit_step", c_double),
        ("implicit_step", c_double),
        ("unchanged_for", c_double),
        ("long_t", c_double),
        ("long_h", c_double),
        ("stiff", c_int),
        ("stiff_steps", c_int),
        ("nonstiff_steps", c_int),
        ("short_step_backoff", c_int),
    ]


class COptions(ctypes.Structure):
    _fields_ = [
        ("relative_tolerance", c_double),
        ("max_step", c_double),
        ("method", c_int),
        ("evaluation_limit", c_long),
    ]


Function = Callable[[Any, Sequence[Any]], Sequence[Any]]


class Problem:
    """dx/dt = rates(t, x), with counted evaluations. The rates must accept complex numbers, for exact derivatives."""

    def __init__(self, rates: Function, n: int, guards: Function | None = None, n_guards: int = 0):
        self.n, self.evaluations, self.tangents = n, 0, 0
        small = 1e-30

        def call_rates(context: Any, t: float, x: Any, dx: Any) -> None:
            self.evaluations += 1
            for i, value in enumerate(rates(t, x[:n])):
                dx[i] = value

        def call_tangent(context: Any, t: float, x: Any, t_dot: float, x_dot: Any, dx_dot: Any) -> None:
            self.tangents += 1
            moved = rates(t + 1j * small * t_dot, [a + 1j * small * b for a, b in zip(x[:n], x_dot[:n], strict=True)])
            for i, value in enumerate(moved):
                dx_dot[i] = complex(value).imag / small

        def call_guards(context: Any, t: float, x: Any, g: Any) -> None:
            assert guards is not None
            for i, value in enumerate(guards(t, x[:n])):
                g[i] = value

        self.c = CProblem(n, n_guards, RATES(call_rates), TANGENT(call_tangent), RATES(call_guards), None)


@dataclass
class Run:
    """The result of a run and its cost."""

    outcome: int
    t: float
    x: np.ndarray
    guard: int
    steps: int
    evaluations: int
    tangents: int
    stiff: bool
    memory: CMemory = field(repr=False)


class Solver:
    def __init__(self, library: Path):
        self._c = ctypes.CDLL(str(library))
        self._c.access_solver_size.restype = c_size_t
        self._c.access_step.restype = c_double
        self._c.access_solver_size.argtypes = [c_size_t, c_size_t]
        self._c.access_long_step_size.restype, self._c.access_long_step_size.argtypes = c_size_t, [c_size_t]
        structures = [POINTER(CProblem), POINTER(COptions), POINTER(CMemory)]
        counts = [POINTER(c_size_t), POINTER(c_long)]
        self._c.access_run.argtypes = [c_void_p, *structures, POINT, c_double, POINT, POINT, *counts]
        numbers = [c_double, c_double, c_double]
        self._c.access_step.argtypes = [c_void_p, POINTER(CProblem), c_int, *numbers, POINT, c_size_t, POINT, POINT]

    def _room(self, problem: Problem) -> Any:
        size = self._c.access_solver_size(problem.n, problem.c.n_guards)
        return (c_double * (size // 8 + 1))()

    def long_step_of(self, n: int) -> Any:
        """Where a long step of n states is kept."""
        return (c_double * self._c.access_long_step_size(n))()

    def run(
        self,
        problem: Problem,
        x: Sequence[float],
        t_end: float,
        tolerance: float,
        method: int = AUTOMATIC,
        t: float = 0.0,
        max_step: float = 0.0,
        evaluation_limit: int = 10_000_000,
        memory: CMemory | None = None,
        long_step: Any = None,
    ) -> Run:
        memory, options = memory or CMemory(), COptions(tolerance, max_step, method, evaluation_limit)
        point, now, guard, steps = (c_double * max(1, len(x)))(*x), c_double(t), c_size_t(99), c_long(-1)
        evaluations, tangents = problem.evaluations, problem.tangents
        structures = byref(problem.c), byref(options), byref(memory)
        results = byref(now), point, byref(guard), byref(steps)
        outcome = self._c.access_run(self._room(problem), *structures, long_step, t_end, *results)
        cost = problem.evaluations - evaluations, problem.tangents - tangents
        end = np.array(point[: len(x)])
        return Run(outcome, now.value, end, guard.value, steps.value, *cost, bool(memory.stiff), memory)

    def step(
        self,
        problem: Problem,
        implicit: bool,
        t: float,
        h: float,
        x: Sequence[float],
        inside: Sequence[float] = (),
        tolerance: float = 1.0,
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Make one step without error control.

        Return the new point, the points at t + inside * h, and the error estimate in units of the tolerance.
        """
        n = problem.n
        point, theta = (c_double * n)(*x), (c_double * max(1, len(inside)))(*inside)
        dense = (c_double * max(1, n * len(inside)))()
        step = byref(problem.c), int(implicit), t, h, tolerance
        error = self._c.access_step(self._room(problem), *step, point, len(inside), theta, dense)
        return np.array(point[:]), np.array(dense[: n * len(inside)]).reshape(len(inside), n), error


def compiled_solver(native: Native) -> Solver:
    sources = [RUNTIME / name for name in ("solver.c", "implicit_step.c", "long_step.c")]
    flags = ["-std=c99", "-shared", "-fPIC", "-Wall", "-Wextra", f"-I{RUNTIME}", f"-I{FMI}"]
    return Solver(native.program("solver_access.so", [*sources, C / "solver_access.c"], flags, zig_for_this_platform()))
