"""One run of an FMU: times, start values and inputs, checked against its model description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from fmpy.model_description import ModelDescription

from ..model import UserError, did_you_mean
from .description import run_tolerance, start_time, start_value
from .fmu_messages import WARNING
from .inputs import InputTable, input_signals, read_input_table
from .time_grid import times

DEFAULT_STOP, DEFAULT_STEPS = 1.0, 500  # of an FMU without a default experiment: s after the start, and steps


@dataclass(frozen=True)
class FmuExperiment:
    """What is simulated, and how."""

    fmu: Path
    description: ModelDescription
    t_start: float
    t_stop: float
    step: float
    values: Mapping[str, Any]  # start values of parameters and inputs
    tolerance: float | None
    table: InputTable  # empty: the inputs are constant
    inputs: np.ndarray | None  # the table in FMPy's format

    @cached_property
    def variables(self) -> dict[str, Any]:
        return {v.name: v for v in self.description.modelVariables}

    @property
    def grid(self) -> np.ndarray:
        return times(self.t_start, self.t_stop, self.step)


@dataclass
class FmuLog:
    """The log messages of an FMU: the last line of each."""

    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def logger(self, environment: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        """The callback for FMPy."""
        if status >= WARNING and message:
            line = message.decode(errors="replace").strip().splitlines()[-1]
            (self.errors if status > WARNING else self.warnings).append(line)


def fmu_experiment(
    fmu: str | Path,
    description: ModelDescription,
    stop: float | None,
    step: float | None,
    start: Mapping[str, Any] | None,
    input_csv: str | Path | None,
    tolerance: float | None,
) -> FmuExperiment:
    """Check what the user wants and complete it from the FMU's default experiment."""
    default, t_start = description.defaultExperiment, start_time(description)
    if stop is None:
        stop = float(default.stopTime) if default and default.stopTime else t_start + DEFAULT_STOP
    if step is None:
        step = float(default.stepSize) if default and default.stepSize else (stop - t_start) / DEFAULT_STEPS
    times(t_start, stop, step)  # raises a UserError for impossible values
    variables = {v.name: v for v in description.modelVariables}
    values = {}
    for name, value in (start or {}).items():
        if name not in variables:
            raise UserError(f"{Path(fmu).name} has no variable {name}{did_you_mean(name, variables)}")
        values[name] = start_value(variables[name], value, variables, description.unitDefinitions)
    tolerance = run_tolerance(description, tolerance, values)
    table = read_input_table(input_csv) if input_csv is not None else {}
    inputs = input_signals(table, variables, values, str(input_csv)) if table else None
    return FmuExperiment(Path(fmu), description, t_start, stop, step, values, tolerance, table, inputs)
