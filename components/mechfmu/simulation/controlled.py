"""An FMI 2.0 FMU for Co-Simulation under a controller written in Python."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from fmpy.model_description import ModelDescription

from ..model import UserError
from .controller import Controller, SampledController, moments
from .slaves import KINDS, LocalSlave, Origin

EQUAL = 1e-6  # relative: steps that differ by no more than this, by rounding, are equal
Curves = Mapping[str, Callable[[float], float]]  # inputs as functions of time


def run_controlled(
    fmu: str | Path, description: ModelDescription, grid: np.ndarray, values: Mapping[str, Any], curves: Curves, tolerance: float | None,
    controller: Controller, period: float | None, progress: Callable[[float], None], hear: Callable[[str], None], warn: Callable[[str], None],
    terminal: TextIO,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:  # fmt: skip
    """Outputs and Real inputs at the times of the grid.

    `values` are set before the start; `curves` drive inputs that the controller leaves alone; `terminal` shows what the controller writes to standard error.
    """
    refuse_unequal_steps(fmu, description, grid, period)
    variables = {v.name: v for v in description.modelVariables}
    outputs = [v for v in variables.values() if v.causality == "output" and v.type in KINDS]
    driving = [v for v in variables.values() if v.causality == "input" and v.type == "Real"]
    roles = {v.name: v.causality for v in variables.values()}
    inputs = {v.name: v.type for v in variables.values() if v.causality == "input"}
    law = SampledController(controller, description.modelName, [v.name for v in outputs], roles, inputs, tuple(curves))
    origin = Origin(description.modelName, str(fmu), description.guid, description.coSimulation.modelIdentifier)
    slave = LocalSlave(origin, hear, warn)
    try:
        columns = {kind: [v for v in (*outputs, *driving) if v.type == kind] for kind in KINDS}
        readers = {kind: slave.reader(kind, [v.valueReference for v in own]) for kind, own in columns.items() if own}

        def read() -> dict[str, float]:
            return {
                v.name: float(number)
                for kind, get in readers.items()
                for v, number in zip(columns[kind], get(), strict=True)
            }

        def put(numbers: Mapping[str, Any]) -> None:
            for name, number in numbers.items():
                kind = variables[name].type
                slave.set(
                    kind,
                    variables[name].valueReference,
                    number if kind in ("Real", "String") else bool(number) if kind == "Boolean" else int(number),
                )

        def drive(t: float) -> None:
            put({name: curve(t) for name, curve in curves.items()})

        now = float(grid[0])
        put(values)
        drive(now)
        slave.enter_initialization(now, tolerance, float(grid[-1]))
        slave.exit_initialization()
        rows = []
        for moment in moments(grid, period):
            if moment.t > now:
                slave.step(now, moment.t - now, final=True)
                now = moment.t
                if moment.recorded:
                    drive(now)
            if moment.called:
                seen = read()
                with contextlib.redirect_stderr(terminal):
                    wanted = law(now, [seen[name] for name in law.outputs])
                put(wanted)
            if moment.recorded:
                rows.append(read())
                if now > grid[0]:
                    progress(now)
    finally:
        slave.free()
    return tuple({v.name: np.array([row[v.name] for row in rows]) for v in own} for own in (outputs, driving))  # type: ignore[return-value]


def refuse_unequal_steps(
    fmu: str | Path, description: ModelDescription, grid: np.ndarray, period: float | None
) -> None:
    """UserError where an FMU needs equal steps and the period does not fit into them."""
    if description.coSimulation.canHandleVariableCommunicationStepSize:
        return
    points = (moment.t for moment in moments(grid, period))
    steps = (after - before for before, after in pairwise(points))
    step = next(steps)
    if any(abs(other - step) > EQUAL * step for other in steps):
        raise UserError(
            f"{Path(fmu).name} needs equal steps: choose a period that is a multiple of the step or divides it, and a span that both divide"
        )
