"""Simulating a mechanism in this process, without an FMU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..model import Mechanism, UserError
from ..model.variables import Role, Scalar
from .controller import Controller, SampledController, check_controller, sample_times
from .inputs import Input, over_time
from .result import Result, display_unit
from .time_grid import Progress, times

OUTPUT_ROLES: tuple[Role, ...] = ("state", "discrete", "output")  # of the variables that are outputs of the FMU


def simulate_mechanism(
    mechanism: Mechanism,
    stop: float | None = None,
    step: float | None = None,
    start: Mapping[str, float] | None = None,
    inputs: Mapping[str, Input] | None = None,
    tolerance: float | None = None,
    engine: str = "casadi",
    progress: Progress = lambda t: None,
    controller: Controller | None = None,
    period: float | None = None,
) -> Result:
    """Simulate without an FMU; see Mechanism.simulate."""
    from .engines import make_instance  # SciPy and CasADi, which running an FMU does not need

    check_controller(controller, period)
    table = mechanism.table
    driven = {
        scalar: over_time(scalar.name, (inputs or {})[scalar.name])
        for scalar, _ in mechanism.settings(dict.fromkeys(inputs or {}, 0.0))
    }
    instance = make_instance(mechanism, start, engine)
    grid = times(0.0, mechanism.stop_time if stop is None else stop, mechanism.step_size if step is None else step)
    outputs, driving = table.of(*OUTPUT_ROLES), table.of("input")
    recorded = [*outputs, *driving]
    sampled = _sampled(controller, mechanism, list(driven)) if controller else None

    def set_inputs(t: float) -> None:
        instance.set(list(driven), [f(t) for f in driven.values()])

    set_inputs(0.0)
    instance.initialize(tolerance=tolerance)
    rows, now = [], 0.0
    for sample in sample_times(grid, period):
        if sample.t > now:
            instance.step(now, sample.t - now)
            now = sample.t
            if sample.recorded:
                set_inputs(now)  # so that feed-through outputs belong to the inputs of their own time
        if sampled and sample.controlled:
            wanted = sampled(now, instance.get(outputs))
            try:
                instance.set([table.by_name[name] for name in wanted], list(wanted.values()))
            except UserError as error:  # limits
                raise UserError(f"the controller sets at t = {now:g} s: {error}") from None
        if sample.recorded:
            rows.append(instance.get(recorded))
            if now > 0.0:
                progress(now)
    data = {s.name: d for s, d in zip(recorded, np.array(rows).T, strict=True)}
    signals, input_values = ({s.name: data[s.name] for s in scalars} for scalars in (outputs, driving))
    units = {s.name: display_unit(s.unit) for s in outputs}
    parameters = table.of("parameter", "constant")
    constants = {s.name: v for s, v in zip(parameters, instance.get(parameters), strict=True)}
    return Result(mechanism.name, grid, signals, units, constants, mechanism, input_values)


def _sampled(controller: Controller, mechanism: Mechanism, driven: Sequence[Scalar]) -> SampledController:
    table = mechanism.table
    return SampledController(
        controller,
        mechanism.name,
        outputs=[s.name for s in table.of(*OUTPUT_ROLES)],
        roles={s.name: "output" if s.role in OUTPUT_ROLES else s.role for s in table.scalars},
        kinds={s.name: s.row.kind for s in table.of("input")},
        driven=[s.name for s in driven],
    )
