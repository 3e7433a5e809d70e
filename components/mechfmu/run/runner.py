"""Many runs of one FMU in one process: loaded once, the instance used again and again."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import signal
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy import fmi2

from ..mechanisms import UserError, near
from .listening import WARNING, listener
from .simulate import mechanism_of, read_description, start_value, times, unit_name
from .sweep_spec import KEPT, Spec

_DO_STEP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int)
_ENGINE_RUN = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, *[ctypes.c_void_p, ctypes.c_size_t] * 2, ctypes.c_void_p)
_GET_REAL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


def check_spec(spec: Spec, fmu: str | Path) -> None:
    """UserError unless the FMU has everything that the sweep varies, sets and records."""
    description = read_description(fmu)
    if description.fmiVersion != "2.0" or description.coSimulation is None:
        raise UserError(f"{fmu} cannot be swept: it is no FMI 2.0 FMU for Co-Simulation")
    variables = {v.name: v for v in description.modelVariables}
    for name in (*spec.record, *spec.vary, *spec.set):
        if name not in variables:
            raise UserError(f"{Path(fmu).name} has no variable {name}{near(name, variables)}")
    for name in spec.record:
        if variables[name].type == "String":
            raise UserError(f"{name} cannot be recorded: it is a text")
    for name, value in (*spec.set.items(), *zip(spec.names, spec.cases()[0].tolist(), strict=True)):
        if variables[name].type in ("Integer", "Enumeration", "Boolean") and isinstance(value, float) and not value.is_integer():
            raise UserError(f"{name} = {value:g}: must be a whole number")
        start_value(
            variables[name], int(value) if variables[name].type in ("Integer", "Enumeration", "Boolean") and isinstance(value, float) else value, variables
        )
    times(0.0, spec.stop, spec.step)


def units_of(fmu: str | Path) -> dict[str, str]:
    return {v.name: unit_name(v) for v in read_description(fmu).modelVariables}


class Runner:
    """One instance of an FMU. A run is: reset, set, initialize, step and record.

    folder    where the FMU is unpacked; None: a temporary one
    engine    fmu: the FMU's own library; c: the equations of one of our FMUs, compiled here (a Python FMU then runs at full speed, too)
    """

    def __init__(self, file: Path, engine: str = "fmu", folder: Path | None = None):
        self.description = fmpy.read_model_description(str(file), validate=False)
        self.variables = {v.name: v for v in self.description.modelVariables}
        self.folder = fmpy.extract(str(file), None if folder is None else str(folder))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)  # for those who do not close
        self.said = ""
        self.callbacks = listener(self._hear)
        self.base: dict[str, Any] = {}
        self.engine = engine
        self.fmu = self._instance() if engine == "fmu" else self._compiled(file)
        self.fmu.instantiate(callbacks=self.callbacks, loggingOn=True)

    def _hear(self, words: str) -> None:
        self.said = words

    def _instance(self, **changed: Any) -> Any:
        d = self.description
        usual = dict(guid=d.guid, unzipDirectory=self.folder, modelIdentifier=d.coSimulation.modelIdentifier, instanceName="sweep")
        return fmi2.FMU2Slave(**{**usual, **changed})

    def _compiled(self, file: Path) -> Any:
        from ..engines.compiled import GUID, library  # what an FMU alone does not need would double the time that a worker takes to start

        mechanism = mechanism_of(file)
        if mechanism is None:
            raise UserError("the engine c is for FMUs that mechfmu built")
        known = {s.name: s.start for s in mechanism.table.of("parameter", "input")}
        own = {v.name: v.start for v in self.description.modelVariables if v.name in known and v.start is not None}
        self.base = {name: value for name, value in own.items() if float(value) != known[name]}  # start values chosen when the FMU was built
        return self._instance(guid=GUID, libraryPath=library(mechanism)._name)

    def chunk(self, spec: Spec, cases: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """The results of these cases, one row each, and what went wrong, empty where nothing did.

        Where only inputs vary, all runs start from one initialized state; otherwise each one is initialized.
        """
        results, reasons = np.full((len(cases), len(spec.columns)), np.nan), [""] * len(cases)
        run = self._run(spec)
        only_inputs = all(self.variables[name].causality == "input" for name in spec.names)
        clone = only_inputs and self.description.coSimulation.canGetAndSetFMUstate
        state = None
        for i, case in enumerate(cases):
            self.said = ""
            try:
                if state is not None:
                    self.fmu.setFMUstate(state)
                    self._set(dict(zip(spec.names, case.tolist(), strict=True)))
                else:
                    self.begin({**spec.set, **dict(zip(spec.names, case.tolist(), strict=True))}, spec.tolerance)
                    state = self.fmu.getFMUstate() if clone else None
                results[i] = run()
            except Exception as error:  # an FMU's refusal belongs into the table, it does not stop the sweep
                reasons[i] = self.said or str(error) or type(error).__name__
                results[i] = np.nan
        if state is not None:
            self.fmu.freeFMUstate(state)
        return results, reasons

    def begin(self, values: Mapping[str, Any], tolerance: float | None = None) -> None:
        """A new run with these values, initialized."""
        self.fmu.reset()
        self._set({**self.base, **values})
        self.fmu.setupExperiment(startTime=0.0, tolerance=tolerance)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def close(self) -> None:
        self.fmu.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _set(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            variable = self.variables[name]
            if variable.type == "Real":
                self.fmu.setReal([variable.valueReference], [float(value)])
            else:
                whole = variable.type in ("Integer", "Enumeration", "Boolean") and isinstance(value, float)
                proper = start_value(variable, int(value) if whole else value)
                getattr(self.fmu, f"set{'Integer' if variable.type == 'Enumeration' else variable.type}")([variable.valueReference], [proper])

    def _run(self, spec: Spec) -> Callable[[], np.ndarray]:
        """A function that steps through a run and returns what is kept of it."""
        # only the end matters, and the FMU controls its own step size inside: one step does
        at_once = tuple(spec.keep) == ("final",) and self.description.coSimulation.canHandleVariableCommunicationStepSize
        grid = times(0.0, spec.stop, spec.stop if at_once else spec.step)
        recorded = [self.variables[name] for name in spec.record]
        rows = np.zeros((len(grid), len(recorded)))
        go = self._compiled_loop(grid, recorded, rows) if self.engine == "c" and all(v.type == "Real" for v in recorded) else self._loop(grid, recorded, rows)

        def run() -> np.ndarray:
            go()
            signals = np.ascontiguousarray(rows.T)
            return np.stack([KEPT[what](signals) for what in spec.keep], axis=1).ravel()

        return run

    def _loop(self, grid: np.ndarray, recorded: Sequence[Any], rows: np.ndarray) -> Callable[[], None]:
        """A function that steps through the grid and reads a row at each point."""
        read, step, c = self._reader(recorded, rows), self._function("fmi2DoStep", _DO_STEP), self.fmu.component
        steps = [(k, t, t_next - t) for k, (t, t_next) in enumerate(pairwise(grid.tolist()), 1)]

        def go() -> None:
            read(0)
            for k, t, h in steps:
                if step(c, t, h, 1) > WARNING:
                    raise RuntimeError(f"the step from t = {t:g} s failed")
                read(k)

        return go

    def _compiled_loop(self, grid: np.ndarray, recorded: Sequence[Any], rows: np.ndarray) -> Callable[[], None]:
        """The same in one call of the compiled engine."""
        references = np.array([v.valueReference for v in recorded], dtype=np.uint32)
        run = self._function("engine_run", _ENGINE_RUN)
        arguments = (self.fmu.component, grid.ctypes.data, len(grid), references.ctypes.data, len(references), rows.ctypes.data)

        def go(kept: Any = references) -> None:  # kept: the call needs its memory
            if (reached := run(*arguments)) < len(grid):
                raise RuntimeError(f"the step from t = {grid[max(reached - 1, 0)]:g} s failed")

        return go

    def _function(self, name: str, prototype: Any) -> Any:
        """A function of the FMU, called directly: FMPy's own wrapper takes longer than some FMUs."""
        return prototype((name, self.fmu.dll))

    def _reader(self, recorded: Sequence[Any], rows: np.ndarray) -> Callable[[int], None]:
        """A function that reads all recorded variables into a row."""
        if any(v.type != "Real" for v in recorded):

            def slowly(k: int) -> None:
                rows[k] = [self._get(v) for v in recorded]

            return slowly
        count = len(recorded)
        references = (ctypes.c_uint * count)(*(v.valueReference for v in recorded))
        places = [rows.ctypes.data + k * rows.strides[0] for k in range(len(rows))]
        c, get = self.fmu.component, self._function("fmi2GetReal", _GET_REAL)

        def read(k: int) -> None:
            if get(c, references, count, places[k]) > WARNING:
                raise RuntimeError("the results cannot be read")

        return read

    def _get(self, variable: Any) -> float:
        kind = "Integer" if variable.type == "Enumeration" else variable.type
        return float(getattr(self.fmu, f"get{kind}")([variable.valueReference])[0])


def dask_setup(worker: Any) -> None:
    """Called by local workers when they start. Ctrl-C reaches all processes of a terminal; these leave it to the client, who closes them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@lru_cache(maxsize=4)
def _runner(content: bytes, engine: str, folder: str) -> Runner:
    """The runner of this process for an FMU."""
    name = hashlib.sha256(content).hexdigest()[:32]
    file = Path(folder) / f"{name}.fmu"
    file.write_bytes(content)
    return Runner(file, engine, file.with_suffix(""))


def run_chunk(content: bytes, engine: str, spec: Spec, cases: np.ndarray) -> tuple[np.ndarray, list[str], float]:
    """What a worker does; the FMU comes as bytes, because the worker may be on another machine. Results, reasons, and how many seconds it took."""
    from distributed import get_worker

    mine = _runner(content, engine, get_worker().local_directory)  # Dask clears the folder away, also after workers that were killed
    began = time.perf_counter()
    return *mine.chunk(spec, cases), time.perf_counter() - began
