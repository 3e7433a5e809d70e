"""An FMI 2.0 FMU for Co-Simulation under a controller written in Python."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, TextIO

import numpy as np

from ..model import UserError
from .controller import Controller, SampledController, sample_times
from .experiment import FmuExperiment, FmuLog
from .inputs import column_over_time
from .slaves import KINDS, LocalSlave, Origin, Read
from .time_grid import Progress

EQUAL_STEPS = 1e-6  # relative: steps that differ by no more than this, by rounding, are equal


def run_controlled(
    experiment: FmuExperiment,
    controller: Controller,
    period: float | None,
    progress: Progress,
    log: FmuLog,
    terminal: TextIO,
) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Simulate an FMU under a controller: times, outputs and Real inputs.

    The experiment's input table drives inputs that the controller does not set. `terminal` shows what the controller
    writes to standard error.
    """
    check_equal_steps(experiment, period)
    grid = experiment.grid
    run = _ControlledFmu(experiment, controller, log)
    try:
        now = float(grid[0])
        run.set(experiment.values)
        run.set_inputs(now)
        run.slave.enter_initialization(now, experiment.tolerance, float(grid[-1]))
        run.slave.exit_initialization()
        rows = []
        for sample in sample_times(grid, period):
            if sample.t > now:
                run.slave.step(now, sample.t - now, final=True)
                now = sample.t
                if sample.recorded:
                    run.set_inputs(now)
            if sample.controlled:
                outputs = run.read()
                with contextlib.redirect_stderr(terminal):
                    wanted = run.law(now, [outputs[name] for name in run.law.outputs])
                run.set(wanted)
            if sample.recorded:
                rows.append(run.read())
                if now > grid[0]:
                    progress(now)
    finally:
        run.slave.free()
    signals, inputs = (
        {v.name: np.array([row[v.name] for row in rows]) for v in variables} for variables in (run.outputs, run.inputs)
    )
    return grid, signals, inputs


class _ControlledFmu:
    """An instance of the FMU, its inputs and outputs by name, and its controller."""

    def __init__(self, experiment: FmuExperiment, controller: Controller, log: FmuLog):
        description, self._variables = experiment.description, experiment.variables
        variables = list(self._variables.values())
        self.outputs = [v for v in variables if v.causality == "output" and v.type in KINDS]
        self.inputs = [v for v in variables if v.causality == "input" and v.type == "Real"]
        self._curves = {
            name: column_over_time(self._variables[name], experiment.table["time"], column)
            for name, column in experiment.table.items()
            if name != "time"
        }
        self.law = SampledController(
            controller,
            description.modelName,
            outputs=[v.name for v in self.outputs],
            roles={v.name: v.causality for v in variables},
            kinds={v.name: v.type for v in variables if v.causality == "input"},
            driven=tuple(self._curves),
        )
        identifier = description.coSimulation.modelIdentifier
        origin = Origin(description.modelName, str(experiment.fmu), description.guid, identifier)
        self.slave = LocalSlave(origin, log.errors.append, log.warnings.append)
        self._columns = {kind: [v for v in (*self.outputs, *self.inputs) if v.type == kind] for kind in KINDS}

    @cached_property
    def _readers(self) -> dict[str, Read]:
        columns = {kind: [v.valueReference for v in own] for kind, own in self._columns.items() if own}
        return {kind: self.slave.reader(kind, references) for kind, references in columns.items()}

    def read(self) -> dict[str, float]:
        """Outputs and Real inputs."""
        return {
            v.name: float(number)
            for kind, get in self._readers.items()
            for v, number in zip(self._columns[kind], get(), strict=True)
        }

    def set(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            variable = self._variables[name]
            if variable.type not in ("Real", "String"):
                value = bool(value) if variable.type == "Boolean" else int(value)
            self.slave.set(variable.type, variable.valueReference, value)

    def set_inputs(self, t: float) -> None:
        """Set the inputs of the table to their values at time t."""
        self.set({name: curve(t) for name, curve in self._curves.items()})


def check_equal_steps(experiment: FmuExperiment, period: float | None) -> None:
    """UserError where an FMU needs equal steps and the period does not fit into them."""
    if experiment.description.coSimulation.canHandleVariableCommunicationStepSize:
        return
    points = (sample.t for sample in sample_times(experiment.grid, period))
    steps = (after - before for before, after in pairwise(points))
    step = next(steps)
    if any(abs(other - step) > EQUAL_STEPS * step for other in steps):
        raise UserError(
            f"{experiment.fmu.name} needs equal steps: choose a period that is a multiple of the step or divides it, "
            "and a span that both divide"
        )
