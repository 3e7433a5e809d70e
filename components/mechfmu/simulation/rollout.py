"""Many runs of one mechanism, in the SIMD lanes of all processors."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..model import Mechanism, UserError, did_you_mean
from ..model.variables import Role, Scalar
from .batch import MESSAGE_LENGTH, batch_library, checked, column, readable, references, settable, warn_of
from .result import Result, display_unit
from .time_grid import times

OUTPUT_ROLES: tuple[Role, ...] = ("state", "discrete", "output")
INSTANCES_PER_LANE = 4  # so that nearly always as many need the same calculation as there are lanes
POLL = 0.05  # s, between two looks at progress and interruption


@dataclass(frozen=True)
class Rollout:
    """The results of many runs: `rollout["tip.x"]` is an array (runs x times), `rollout.values` (runs x times x
    signals). The values of a failed run are NaN from its last time on, and its reason is not empty."""

    t: np.ndarray  # s
    names: tuple[str, ...]  # of the signals
    values: np.ndarray  # runs x times x signals
    reasons: tuple[str, ...]  # why a run failed; empty where nothing went wrong
    warnings: tuple[str, ...]  # the first warning of each run
    mechanism: Mechanism
    set: Mapping[str, np.ndarray] = field(default_factory=dict)  # parameters and constant inputs: one value per run

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        failed = f", {self.failed.sum()} failed" if self.failed.any() else ""
        size = f"{len(self)} runs{failed}, {len(self.t)} points, {len(self.names)} signals"
        return f"<Rollout of {self.mechanism.name}: {size}>"

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._places:
            raise UserError(f"the rollout has no signal {name}{did_you_mean(name, self.names)}")
        return self.values[:, :, self._places[name]]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}

    @property
    def failed(self) -> np.ndarray:
        """A mask of the runs that failed."""
        return np.array([bool(reason) for reason in self.reasons], dtype=bool)

    def run(self, k: int) -> Result:
        """The result of run k, up to where it failed, to be plotted or saved."""
        reached = len(self.t) if not self.reasons[k] else int(np.isfinite(self.values[k]).all(axis=1).sum())
        table = self.mechanism.table
        signals = {name: self.values[k, :reached, i] for name, i in self._places.items()}
        units = {name: display_unit(table.by_name[name].unit) for name in self.names}
        constants = {s.name: float(s.start) for s in table.of("parameter", "input")}
        constants |= {name: float(values[k]) for name, values in self.set.items()}
        inputs = {name: signals[name] for name in self.names if table.by_name[name].role == "input"}
        outputs = {name: values for name, values in signals.items() if name not in inputs}
        return Result(self.mechanism.name, self.t[:reached], outputs, units, constants, self.mechanism, inputs)


class _Plan(ctypes.Structure):
    """Rollout in fmu_src/batch/batch.h."""

    _fields_ = [
        ("n_runs", ctypes.c_size_t),
        ("n_points", ctypes.c_size_t),
        ("t", ctypes.c_void_p),
        ("tolerance", ctypes.c_double),
        ("n_set", ctypes.c_size_t),
        ("set", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("n_inputs", ctypes.c_size_t),
        ("inputs", ctypes.c_void_p),
        ("input_values", ctypes.c_void_p),
        ("input_run_strides", ctypes.c_void_p),
        ("input_point_strides", ctypes.c_void_p),
        ("n_outputs", ctypes.c_size_t),
        ("outputs", ctypes.c_void_p),
        ("results", ctypes.c_void_p),
        ("messages", ctypes.c_void_p),
        ("warnings", ctypes.c_void_p),
        ("next", ctypes.c_void_p),
        ("finished", ctypes.c_void_p),
        ("cancelled", ctypes.c_void_p),
    ]


def rollout(
    mechanism: Mechanism,
    starts: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    stop: float | None = None,
    step: float | None = None,
    outputs: Sequence[str] | None = None,
    tolerance: float | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Rollout:
    """Make many runs; see Mechanism.rollout."""
    grid = times(0.0, mechanism.stop_time if stop is None else stop, mechanism.step_size if step is None else step)
    if twice := [name for name in parameters or {} if name in (starts or {})]:
        raise UserError(f"{twice[0]} is given twice: in starts and in parameters")
    fixed = {**(starts or {}), **(parameters or {})}
    known = {name: settable(mechanism, name, "parameter", "input") for name in fixed}
    driven = {name: settable(mechanism, name, "input") for name in inputs or {}}
    if twice := [name for name in driven if name in known]:
        raise UserError(f"{twice[0]} is given twice: in inputs and as a constant")
    count = _run_count(fixed, inputs or {}, len(grid))
    columns = [column(mechanism, scalar, fixed[name], count) for name, scalar in known.items()]
    courses = [_course(scalar, (inputs or {})[name], count, len(grid)) for name, scalar in driven.items()]
    recorded = readable(mechanism, outputs) if outputs is not None else mechanism.table.of(*OUTPUT_ROLES)
    own = [np.column_stack(columns)] if columns else [np.zeros((count, 0))]
    plan = Runs(
        mechanism, grid, count, tolerance, list(known.values()), own[0], list(driven.values()), courses, recorded
    )
    plan.make(_thread_count(threads), progress)
    reasons, warned = plan.texts(plan.messages), plan.texts(plan.warnings)
    warn_of(warned)
    given = dict(zip(known, columns, strict=True))
    return Rollout(grid, tuple(s.name for s in recorded), plan.results, reasons, warned, mechanism, given)


def _thread_count(threads: int | None) -> int:
    if threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if threads < 1:
        raise UserError(f"{threads} threads: there must be at least one")
    return threads


def _run_count(fixed: Mapping[str, Any], inputs: Mapping[str, Any], points: int) -> int:
    """The number of runs: the length of the arrays, which must be equal."""
    counts = {name: np.shape(value)[0] for name, value in fixed.items() if np.ndim(value)}
    for name, value in inputs.items():
        if np.ndim(value) == 2:
            counts[name] = np.shape(value)[0]
    for name, value in inputs.items():  # one value per time, or per run
        if np.ndim(value) == 1 and np.shape(value)[0] not in (points, points - 1):
            counts[name] = np.shape(value)[0]
    if len(set(counts.values())) > 1:
        first, *others = counts
        other = next(name for name in others if counts[name] != counts[first])
        raise UserError(f"{first} has values for {counts[first]} runs, {other} for {counts[other]}")
    return next(iter(counts.values()), 1)


def _course(scalar: Scalar, value: Any, count: int, points: int) -> np.ndarray:
    """The values of an input, an array (runs x times), perhaps without copies for all runs or times."""
    given = checked(scalar, np.array(value, dtype=float, order="C"))
    if given.ndim == 1 and given.shape[0] == count and given.shape[0] not in (points, points - 1):
        given = given[:, None]
    elif given.ndim == 1:
        given = given[None, :]
    elif given.ndim == 0:
        given = given[None, None]
    if given.ndim == 2 and given.shape[1] == points - 1 > 0:  # one value per step: the last one is kept
        given = np.concatenate([given, given[:, -1:]], axis=1)
    if given.ndim != 2 or given.shape[0] not in (1, count) or given.shape[1] not in (1, points):
        raise UserError(
            f"input {scalar.name} has the shape {np.shape(value)}: must be a number, an array of {points} times or of "
            f"{count} runs, or an array of both ({count} x {points})"
        )
    return np.broadcast_to(given, (count, points))


class Runs:
    """The arrays that the C code works with, and the threads that call it."""

    def __init__(
        self,
        mechanism: Mechanism,
        grid: np.ndarray,
        count: int,
        tolerance: float | None,
        known: list[Scalar],
        values: np.ndarray,
        driven: list[Scalar],
        courses: list[np.ndarray],
        recorded: Sequence[Scalar],
    ):
        self._c, self.count = batch_library(mechanism), count
        number = references(mechanism)
        self.results = np.empty((count, len(grid), len(recorded)))
        self.messages, self.warnings = (np.zeros(count * MESSAGE_LENGTH + 1, dtype=np.uint8) for _ in range(2))
        self._next, self._finished = np.zeros(1, dtype=np.uintp), np.zeros(1, dtype=np.uintp)
        self._cancelled = np.zeros(1, dtype=np.intc)
        strides = np.array([course.strides for course in courses], dtype=np.uintp).reshape(-1, 2) // 8
        arrays = {
            "t": grid,
            "set": np.array([number[s.name] for s in known], dtype=np.uint32),
            "values": np.ascontiguousarray(values),
            "inputs": np.array([number[s.name] for s in driven], dtype=np.uint32),
            "input_values": np.array([course.ctypes.data for course in courses], dtype=np.uintp),
            "input_run_strides": np.ascontiguousarray(strides[:, 0]),
            "input_point_strides": np.ascontiguousarray(strides[:, 1]),
            "outputs": np.array([number[s.name] for s in recorded], dtype=np.uint32),
            "results": self.results,
            "messages": self.messages,
            "warnings": self.warnings,
            "next": self._next,
            "finished": self._finished,
            "cancelled": self._cancelled,
        }
        self._kept = arrays, courses
        sizes = dict(n_runs=count, n_points=len(grid), n_set=len(known), n_inputs=len(driven), n_outputs=len(recorded))
        places = {name: array.ctypes.data for name, array in arrays.items()}
        self._plan = _Plan(tolerance=tolerance or 0.0, **sizes, **places)

    def make(self, threads: int, progress: Callable[[int, int], None]) -> None:
        """Make all runs. Interrupting ends them at their next communication points."""
        workers = [threading.Thread(target=self._work, args=(threads,), daemon=True) for _ in range(threads)]
        self._error: BaseException | None = None
        try:
            for worker in workers:
                worker.start()
            while any(worker.is_alive() for worker in workers):
                workers[0].join(POLL) if workers[0].is_alive() else workers[-1].join(POLL)
                progress(int(self._finished[0]), self.count)
        finally:
            self._cancelled[0] = any(worker.is_alive() for worker in workers)
            for worker in workers:
                worker.join()
        if self._error:
            raise self._error

    def _work(self, threads: int) -> None:
        size = min(INSTANCES_PER_LANE * self._c.batch_width(), -(-self.count // threads))
        batch = self._c.batch_new(ctypes.c_size_t(size))
        if not batch:
            self._error = MemoryError("a batch of instances")
            return
        try:
            if not self._c.batch_rollout(ctypes.c_void_p(batch), ctypes.byref(self._plan)):
                self._error = MemoryError("a batch of instances")
        finally:
            self._c.batch_free(ctypes.c_void_p(batch))

    def texts(self, kept: np.ndarray) -> tuple[str, ...]:
        rows = kept[:-1].reshape(self.count, MESSAGE_LENGTH)
        found = [""] * self.count
        for k in np.flatnonzero(rows[:, 0]):
            found[k] = rows[k].tobytes().split(b"\0", 1)[0].decode(errors="replace")
        return tuple(found)
