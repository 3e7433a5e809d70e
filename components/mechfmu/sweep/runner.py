"""Many runs of one FMU in one process. Each is, call by call, the run that `mechfmu simulate` makes with FMPy.

An FMU that mechfmu built is loaded once and reset for each run. Any other one is loaded and instantiated again for
each run: fmi2Reset, a saved state or a second instance may keep something of the run before.
"""

from __future__ import annotations

import ctypes
import shutil
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy import fmi2, simulation

from ..model import UserError, did_you_mean
from ..simulation.description import read_description, run_tolerance, start_time, start_value, unit_name
from ..simulation.fmu_messages import WARNING, message_logger
from ..simulation.fmu_origin import built_by_mechfmu
from ..simulation.inputs import input_signals
from ..simulation.time_grid import communication_points, reaches, times
from .specification import INPUTS, KEPT, Spec

Part = tuple[
    np.ndarray, list[str]
]  # the results of some runs, one row each, and why they failed, empty if they did not

ERROR, FATAL = 3, 4  # statuses of FMI
_WHOLE = ("Integer", "Enumeration", "Boolean")

_DO_STEP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int)
_GET_REAL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


def check_spec(spec: Spec, fmu: str | Path) -> None:
    """UserError unless the FMU has everything that the sweep varies, sets and records."""
    description = read_description(fmu)
    if description.fmiVersion != "2.0" or description.coSimulation is None:
        raise UserError(f"{fmu} cannot be swept: it is not an FMI 2.0 FMU for Co-Simulation")
    variables = {v.name: v for v in description.modelVariables}
    own = [name for name in spec.names if not (spec.inputs and name == INPUTS)]
    for name in (*spec.record, *own, *spec.set):
        if name not in variables:
            raise UserError(f"{Path(fmu).name} has no variable {name}{did_you_mean(name, variables)}")
    for name in spec.record:
        if variables[name].type == "String":
            raise UserError(f"{name} cannot be recorded: it is a text")
    for name, value in spec.set.items():
        proper_value(variables[name], value, variables)
    for name, column in zip(spec.names, spec.cases().T, strict=True):
        if name in own:  # of Real numbers the first one shows all mistakes
            numbers = variables[name].type == "Real" and name not in spec.texts
            for value in spec.shown(name, column[:1] if numbers else np.unique(column)):
                proper_value(variables[name], value, variables)
    for label, table in spec.inputs.items():
        input_signals(table, variables, {}, f"inputs {label}")
    start, variable_step = start_time(description), description.coSimulation.canHandleVariableCommunicationStepSize
    times(start, spec.stop, spec.step)
    if variable_step:
        return
    last = communication_points(start, spec.stop, spec.step, False)[-1]
    if not reaches(last, spec.stop, spec.step):
        raise UserError(
            f"{Path(fmu).name} has a fixed communication step (canHandleVariableCommunicationStepSize is false): "
            f"the time from {start:g} s to {spec.stop:g} s must be a multiple of the step {spec.step:g} s"
        )


def proper_value(variable: Any, value: Any, names: Mapping[str, Any] | None = None) -> Any:
    """A value of a case as the FMU takes it, or UserError."""
    if variable.type in _WHOLE and isinstance(value, float):
        if not value.is_integer():
            raise UserError(f"{variable.name} = {value:g}: must be a whole number")
        value = int(value)
    return start_value(variable, value, names or ())


def units_of(fmu: str | Path) -> dict[str, str]:
    return {v.name: unit_name(v) for v in read_description(fmu).modelVariables}


class RunError(RuntimeError):
    """A run failed; `status` is that of the FMI call."""

    def __init__(self, text: str, status: int = ERROR):
        super().__init__(text)
        self.status = status


class RunPlan:
    """The steps of all runs with the same communication points, and memory for what is recorded at each point."""

    def __init__(self, points: np.ndarray, recorded: Sequence[Any]):
        self.points, self.recorded = points, recorded
        self.steps = [(k, t, t_next - t) for k, (t, t_next) in enumerate(pairwise(points.tolist()), 1)]
        self.rows = np.zeros((len(points), len(recorded)))
        self.places = [self.rows.ctypes.data + k * self.rows.strides[0] for k in range(len(self.rows))]
        self.references = np.array([v.valueReference for v in recorded], dtype=np.uint32)
        self.real = all(v.type == "Real" for v in recorded)


class Runner:
    """One FMU, unpacked and loaded. A run is: begin, step and record.

    folder    where the FMU is unpacked; None: a temporary one
    """

    def __init__(self, file: Path, folder: Path | None = None):
        self.description = fmpy.read_model_description(str(file), validate=False)
        self.variables = {v.name: v for v in self.description.modelVariables}
        self.folder = fmpy.extract(str(file), None if folder is None else str(folder))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)  # also without close
        self.last_error = ""
        self.callbacks = message_logger(self._keep_error)
        self.fmu: Any = None
        self._order = {name: k for k, name in enumerate(self.variables)}
        identifier = self.description.coSimulation.modelIdentifier
        self._arguments: dict[str, Any] = dict(
            guid=self.description.guid, unzipDirectory=self.folder, modelIdentifier=identifier, requireFunctions=False
        )
        library = Path(self.folder, "binaries", fmpy.platform, identifier + fmpy.sharedLibraryExtension)
        if not library.is_file():
            raise UserError(f"the FMU cannot run here: it has no library for {fmpy.platform}")
        self._reused = built_by_mechfmu(file)

    def _keep_error(self, message: str) -> None:
        self.last_error = message

    @property
    def once_per_process(self) -> bool:
        """Whether a process can make only one run of this FMU.

        In pythonfmu's FMUs, modules and what they keep outlive an instance.
        """
        resources = Path(self.folder, "resources")
        embedded = (resources / "slavemodule.txt").is_file() and not (resources / "mechfmu_start.py").is_file()
        declared = bool(self.description.coSimulation.canBeInstantiatedOnlyOncePerProcess)
        return not self._reused and (embedded or declared)

    def chunk(self, spec: Spec, cases: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """The results of these cases, one row each, and what went wrong, empty where nothing did."""
        results, reasons = zip(*self.runs(spec, cases), strict=True)
        return np.concatenate(results), [reason for (reason,) in reasons]

    def runs(self, spec: Spec, cases: np.ndarray, alone: bool = True) -> Iterator[Part]:
        """The results of one case after the other."""
        plans: dict[str, RunPlan] = {}
        columns = [spec.shown(name, column) for name, column in zip(spec.names, cases.T, strict=True)]
        for case in zip(*(c.tolist() if isinstance(c, np.ndarray) else c for c in columns), strict=True):
            self.last_error = ""
            try:
                row = self._run(spec, {**spec.set, **dict(zip(spec.names, case, strict=True))}, plans)
                named = zip(spec.columns, row.tolist(), strict=True)
                reason = next((f"{name} is {value:g}" for name, value in named if not np.isfinite(value)), "")
                yield row[None], [reason]
            except Exception as error:  # an FMU's error is recorded in the table, it does not stop the sweep
                self._abandon(getattr(error, "status", ERROR))
                reason = self.last_error or str(error) or type(error).__name__
                yield np.full((1, len(spec.columns)), np.nan), [reason]

    def _run(self, spec: Spec, values: dict[str, Any], plans: dict[str, RunPlan]) -> np.ndarray:
        start, label = start_time(self.description), str(values.pop(INPUTS)) if spec.inputs else ""
        values = {name: proper_value(self.variables[name], value) for name, value in values.items()}
        signals = input_signals(spec.inputs[label], self.variables, values, label) if label else None
        if label not in plans:
            events = () if signals is None else simulation.Input.findEvents(signals, self.description).tolist()
            variable_step = self.description.coSimulation.canHandleVariableCommunicationStepSize
            points = communication_points(start, spec.stop, spec.step, variable_step, events)
            plans[label] = RunPlan(points, [self.variables[name] for name in spec.record])
        plan = plans[label]
        drive = self.begin(values, run_tolerance(self.description, spec.tolerance, values), start, spec.stop, signals)
        self._steps(plan, drive)
        if not self._reused:
            self.fmu.terminate()
            self._free()
        recorded = np.ascontiguousarray(plan.rows.T)
        return np.stack([KEPT[what](recorded) for what in spec.keep], axis=1).ravel()

    def begin(
        self,
        values: Mapping[str, Any],
        tolerance: float | None = None,
        start: float = 0.0,
        stop: float | None = None,
        signals: np.ndarray | None = None,
    ) -> Callable[[float], None] | None:
        """Initialize a new run. Return the function that sets time-varying signals, if any."""
        if self._reused and self.fmu is not None:
            self.fmu.reset()
        else:
            self._free()
            self.fmu = fmi2.FMU2Slave(**self._arguments)
            self.fmu.instantiate(callbacks=self.callbacks, loggingOn=True)
        fmu, inputs = self.fmu, None if signals is None else simulation.Input(self.fmu, self.description, signals)
        fmu.setupExperiment(tolerance=tolerance, startTime=start, stopTime=stop)
        ordered = sorted(values.items(), key=lambda item: self._order[item[0]])
        rest = self._set(ordered, simulation.settable_in_instantiated)
        fmu.enterInitializationMode()
        self._set(rest, simulation.settable_in_initialization_mode)
        if inputs is not None:
            inputs.apply(start)
        fmu.exitInitializationMode()
        return None if inputs is None else lambda t: inputs.apply(t, after_event=True)

    def _set(self, values: Sequence[tuple[str, Any]], settable: Callable[[Any], bool]) -> list[tuple[str, Any]]:
        """Set those that can be set now, in the order of the model description, and return the others."""
        rest = []
        for name, value in values:
            variable = self.variables[name]
            if not settable(variable):
                rest.append((name, value))
            elif variable.type == "Real":
                self.fmu.setReal([variable.valueReference], [float(value)])
            else:
                kind = "Integer" if variable.type == "Enumeration" else variable.type
                getattr(self.fmu, f"set{kind}")([variable.valueReference], [proper_value(variable, value)])
        return rest

    def close(self) -> None:
        self._free()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _free(self) -> None:
        """Free the instance and unload the library."""
        fmu, self.fmu = self.fmu, None
        if fmu is not None and fmu.component is not None:
            fmu.freeInstance()
        elif fmu is not None:
            fmu.freeLibrary()

    def _abandon(self, status: int) -> None:
        """After a failed run: free the instance, unless it can be reset.

        After fmi2Fatal no function may be called, so nothing is freed.
        """
        if status >= FATAL:
            self.fmu = None
        elif not self._reused:
            self._free()

    def _steps(self, plan: RunPlan, drive: Callable[[float], None] | None) -> None:
        """Step through the points and read a row at each of them."""
        read, step = self._reader(plan), self._function("fmi2DoStep", _DO_STEP)
        c, last = self.fmu.component, len(plan.steps)
        read(0)
        for k, t, h in plan.steps:
            if drive is not None:
                drive(t)
            if (status := step(c, t, h, 1)) > WARNING:
                raise RunError(f"the step from t = {t:g} s failed", status)
            read(k)
            if self.last_error and k < last:  # such a message also ends a run of `mechfmu simulate`
                raise RunError(self.last_error)

    def _function(self, name: str, prototype: Any) -> Any:
        """A function of the FMU, called directly: FMPy's wrapper takes longer than the step of some FMUs."""
        return prototype((name, self.fmu.dll))

    def _reader(self, plan: RunPlan) -> Callable[[int], None]:
        """A function that reads all recorded variables into a row."""
        if not plan.real:

            def read_one_by_one(k: int) -> None:
                plan.rows[k] = [self._get(v) for v in plan.recorded]

            return read_one_by_one
        c, get = self.fmu.component, self._function("fmi2GetReal", _GET_REAL)
        references, count, places = plan.references.ctypes.data, len(plan.recorded), plan.places

        def read(k: int) -> None:
            if (status := get(c, references, count, places[k])) > WARNING:
                raise RunError("the results cannot be read", status)

        return read

    def _get(self, variable: Any) -> float:
        kind = "Integer" if variable.type == "Enumeration" else variable.type
        return float(getattr(self.fmu, f"get{kind}")([variable.valueReference])[0])
