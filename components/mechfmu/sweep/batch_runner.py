"""Many runs of an FMU of mechfmu in SIMD lanes: its equations, compiled here, have the bits of its own library."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..fmu.native_fmu import native_sources
from ..model import Mechanism, UserError
from ..simulation.batch import batch_library
from ..simulation.description import read_description, run_tolerance, start_time
from ..simulation.rollout import INSTANCES_PER_LANE, Runs
from ..simulation.source_mechanism import built_mechanism, mechanism_of
from ..simulation.time_grid import communication_points
from .runner import Part, proper_value
from .specification import KEPT, Spec

PART_SECONDS = 0.25  # the aimed duration of a part
PART_BYTES = 50e6  # of all recorded signals at all times
TOLERANCE = "solver.relative_tolerance"


class BatchRunner:
    """The mechanism that an FMU was built from; several runs at once in one thread."""

    once_per_process = False

    def __init__(self, file: Path):
        mechanism = mechanism_of(file)
        if mechanism is None:
            raise UserError("the engine batch is for FMUs that mechfmu built")
        self.mechanism, self.description = mechanism, read_description(file)
        self.variables = {v.name: v for v in self.description.modelVariables}
        default = {s.name: s.start for s in mechanism.table.of("parameter", "input")}
        own = {name: float(v.start) for name, v in self.variables.items() if name in default and v.start is not None}
        self._built_with = {name: value for name, value in own.items() if value != default[name]}
        self._part = INSTANCES_PER_LANE * int(batch_library(mechanism).batch_width())  # runs, more if they are short

    def runs(self, spec: Spec, cases: np.ndarray, alone: bool = False) -> Iterator[Part]:
        """The results of some cases after the other; alone: one at a time."""
        grid = communication_points(start_time(self.description), spec.stop, spec.step, True)
        most = max(1, int(PART_BYTES / (8 * len(grid) * len(spec.record))))
        first = 0
        while first < len(cases):
            size, began = 1 if alone else min(self._part, most), time.monotonic()
            yield self._run(spec, cases[first : first + size], grid)
            first += size
            if time.monotonic() - began < PART_SECONDS / 2 and size == self._part:
                self._part *= 2

    def chunk(self, spec: Spec, cases: np.ndarray) -> Part:
        """The results of these cases, one row each, and what went wrong, empty where nothing did."""
        results, reasons = zip(*self.runs(spec, cases), strict=True)
        return np.concatenate(results), [reason for part in reasons for reason in part]

    def _run(self, spec: Spec, cases: np.ndarray, grid: np.ndarray) -> Part:
        values = self._values(spec, cases)
        set_here = {name: proper_value(self.variables[name], value) for name, value in spec.set.items()}
        tolerance = None
        if spec.tolerance is not None or TOLERANCE not in values:  # otherwise that of each run holds
            tolerance = run_tolerance(self.description, spec.tolerance, set_here)
        by_name = self.mechanism.table.by_name
        runs = Runs(
            self.mechanism,
            grid,
            len(cases),
            tolerance,
            known=[by_name[name] for name in values],
            values=np.stack([np.broadcast_to(v, len(cases)) for v in values.values()], axis=1),
            driven=[],
            courses=[],
            recorded=[by_name[name] for name in spec.record],
        )
        runs.make(1, lambda done, total: None)
        recorded = np.ascontiguousarray(runs.results.transpose(0, 2, 1)).reshape(-1, len(grid))
        results = np.stack([KEPT[what](recorded) for what in spec.keep], axis=1).reshape(len(cases), -1)
        reasons = list(runs.texts(runs.messages))
        for k, row in enumerate(results):
            if reasons[k]:
                row[:] = np.nan
        for k in np.flatnonzero(~np.isfinite(results).all(axis=1)).tolist():
            named = zip(spec.columns, results[k].tolist(), strict=True)
            reasons[k] = reasons[k] or next(f"{name} is {value:g}" for name, value in named if not np.isfinite(value))
        return results, reasons

    def _values(self, spec: Spec, cases: np.ndarray) -> dict[str, Any]:
        """What is set before the runs, in the order of the FMU's variables: a number, or one for each run."""
        given: dict[str, Any] = {**self._built_with, **spec.set}
        given |= {name: spec.shown(name, column) for name, column in zip(spec.names, cases.T, strict=True)}
        numbers: dict[str, Any] = {}
        for name in self.variables:
            if name in given:
                value, variable = given[name], self.variables[name]
                if isinstance(value, list):  # texts
                    numbers[name] = np.array([proper_value(variable, text) for text in value], dtype=float)
                else:  # the numbers of cases were checked when the sweep began
                    numbers[name] = value if isinstance(value, np.ndarray) else float(proper_value(variable, value))
        return numbers


def equations_of(file: str | Path) -> tuple[Mechanism, dict[str, float]]:
    """Return the mechanism that an FMU was built from, and the start values changed then.

    UserError: the equations of the FMU are not those of the mechanism as it is here.
    """
    mechanism, starts = built_mechanism(file)
    with zipfile.ZipFile(file) as archive:
        own = {name: archive.read(name) for name in archive.namelist() if name.startswith("sources/")}
    here = native_sources(mechanism, starts, read_description(file).guid) if own else {}
    if own != {f"sources/{name}": text.encode() for name, text in here.items()}:
        raise UserError(f"{Path(file).name} was built with another version of mechfmu or of the mechanism")
    return mechanism, starts


def why_not_batch(file: Path) -> str:
    """Why the runs of an FMU in SIMD lanes might not have the bits of its own, empty if they have."""
    with zipfile.ZipFile(file) as archive:
        if not any(name.startswith("sources/") for name in archive.namelist()):
            return "the solver of a Python FMU rounds differently; --engine batch is faster"
    equations_of(file)
    return ""
