"""Simulating any FMU through FMPy."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fmpy
import numpy as np

from ..model import UserError
from .controlled import run_controlled
from .controller import Controller, check_controller
from .description import constants_of, display_unit_of, read_description
from .experiment import FmuExperiment, FmuLog, fmu_experiment
from .flags import first_of_each
from .fmu_messages import register_logger
from .inputs import inputs_at
from .result import Result
from .source_mechanism import drawable_mechanism
from .time_grid import Progress, reaches

MAX_WARNINGS = 10  # of an FMU, different ones

Series = dict[str, np.ndarray]


class StoppedEarly(UserError):
    """An FMU did not run to the end. result: up to where it came; None if it has no step."""

    def __init__(self, text: str, result: Result | None):
        super().__init__(text)
        self.result = result


def simulate_fmu(
    fmu: str | Path,
    stop: float | None = None,
    step: float | None = None,
    start: Mapping[str, Any] | None = None,
    input_csv: str | Path | None = None,
    tolerance: float | None = None,
    progress: Progress = lambda t: None,
    controller: Controller | None = None,
    period: float | None = None,
) -> Result:
    """Simulate any FMI 2.0 or 3.0 FMU with FMPy.

    stop, step           in s; default: those of the FMU's own experiment
    start                parameters and constant inputs by name
    input_csv            a file with a column `time` and a column for each input that changes
    tolerance            relative tolerance of the FMU's solver
    progress             called with the simulation time after each step
    controller, period   as in the method `simulate` of mechanisms, for FMI 2.0 Co-Simulation
    """
    description = read_description(fmu)
    check_controller(controller, period)
    if controller is not None and (description.fmiVersion != "2.0" or description.coSimulation is None):
        raise UserError(f"{Path(fmu).name} cannot have a controller: it is not an FMI 2.0 FMU for Co-Simulation")
    experiment, log = fmu_experiment(fmu, description, stop, step, start, input_csv, tolerance), FmuLog()
    terminal, captured = sys.stderr, io.StringIO()  # a Python FMU writes its messages to standard error
    recorders: list[Any] = []

    def result_of(t: np.ndarray, signals: Series, driven: Series) -> Result:
        units = {n: display_unit_of(experiment.variables[n], description) for n in signals}
        constants = constants_of(description, experiment.values)
        return Result(description.modelName, t, signals, units, constants, drawable_mechanism(fmu), driven)

    try:
        with contextlib.redirect_stderr(captured):
            if controller is not None:
                t, signals, driven = run_controlled(experiment, controller, period, progress, log, terminal)
            else:
                try:
                    t, signals, driven = _run_with_fmpy(experiment, progress, log, recorders)
                finally:
                    register_logger()
        if not reaches(t[-1], experiment.t_stop, experiment.step):  # FMPy ends after a discarded step without an error
            raise RuntimeError(f"it stopped at t = {t[-1]:g} s")
    except UserError:
        raise
    except Exception as error:
        written = [line.partition("] ")[2] for line in captured.getvalue().splitlines() if line.startswith("[")]
        reason = (written or log.errors or [str(error)])[-1]
        reached = _series(experiment, recorders[0].result()) if recorders else None
        early = result_of(*reached) if reached and reached[0][-1] > experiment.t_start else None
        raise StoppedEarly(f"{Path(fmu).name} did not run to the end: {reason}", early) from None
    for text in first_of_each(log.warnings)[:MAX_WARNINGS]:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    return result_of(t, signals, driven)


def _run_with_fmpy(
    experiment: FmuExperiment, progress: Progress, log: FmuLog, recorders: list[Any]
) -> tuple[np.ndarray, Series, Series]:
    """Return times, outputs and Real inputs; recorders gets what FMPy records them with, for a run that fails."""
    reached = experiment.t_start

    def step_finished(t: float, recorder: Any) -> bool:
        nonlocal reached
        recorders[:] = [recorder]
        progress(t)
        stuck = reached >= t > experiment.t_start  # FMPy repeats a discarded step without end
        reached = t
        return not (stuck or log.errors)

    data = fmpy.simulate_fmu(
        str(experiment.fmu),
        validate=False,
        start_time=experiment.t_start,
        stop_time=experiment.t_stop,
        output_interval=experiment.step,
        relative_tolerance=experiment.tolerance,
        start_values=experiment.values,
        input=experiment.inputs,
        step_finished=step_finished,
        logger=log.logger,
        debug_logging=True,
    )
    return _series(experiment, data)


def _series(experiment: FmuExperiment, data: np.ndarray) -> tuple[np.ndarray, Series, Series]:
    t = np.asarray(data["time"])
    signals = {n: np.asarray(data[n], dtype=float) for n in data.dtype.names or () if n != "time"}
    return t, signals, inputs_at(experiment.variables, experiment.inputs, experiment.values, t)
