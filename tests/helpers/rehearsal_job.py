"""What a rehearsal host is asked to do, what it answers, and the same by plain Co-Simulation at a tight tolerance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from math import isfinite
from typing import Any

import numpy as np

from helpers.native_fmi import CO_SIMULATION, integers, reals, references
from helpers.rehearsal_fmu import Description, ImportedFmu, Instance, Variable
from helpers.tolerances import REFERENCE

RAMP = 0.05  # per second, in the unit of the input: small enough for every mechanism, large enough to be noticed
SHARES = (
    1.0,
    -0.5,
    0.7,
    -0.8,
)  # of the ramp, input by input: a controller whose reference and measurement rise together has nothing to do
LONGEST = 1.0  # s: the experiments of a rehearsal are this long at most
PHASE = "phase"  # the output of a mechanism with phases: its default experiment is run to the end

Signal = Callable[[float], np.ndarray]


@dataclass(frozen=True)
class Job:
    """One experiment.

    signal      zero: inputs are not connected and 0; start: they keep their start values; ramp: they rise from there
    held        inputs are sampled at the communication points and held
    parameters  that differ from their start values
    """

    stop: float
    step: float
    signal: str = "start"
    held: bool = False
    parameters: tuple[tuple[str, float], ...] = ()

    @property
    def steps(self) -> int:
        return round(self.stop / self.step)


@dataclass
class Run:
    """The end of an experiment, and what happened on the way.

    phases       values of the output `phase`, each once in a row
    state_events, time_events, step_events    how often event mode was entered, and why
    returns      evaluations at an earlier time than the one before: rejected steps, and the stages of some methods
    scale        Co-Simulation: the largest absolute value of each output on the way
    """

    names: list[str]
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))
    phases: list[float] = field(default_factory=list)
    state_events: int = 0
    time_events: int = 0
    step_events: int = 0
    steps: int = 0
    evaluations: int = 0
    returns: int = 0
    scale: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __getitem__(self, name: str) -> float:
        return float(self.values[self.names.index(name)])

    def look(self, outputs: np.ndarray) -> None:
        if PHASE in self.names:
            now = float(outputs[self.names.index(PHASE)])
            if not self.phases or self.phases[-1] != now:
                self.phases.append(now)


def same_phases(run: Run, wanted: Run) -> bool:
    """Co-Simulation shows its phases at communication points only: all are seen if there are as many as events."""
    return PHASE not in wanted.names or run.phases == wanted.phases or len(wanted.phases) - 1 != wanted["events"]


def job_of(about: Description, signal: str = "start", held: bool = False, longest: float = LONGEST) -> Job:
    """The default experiment, shortened unless its events matter."""
    stop = about.stop if PHASE in about.variables else min(about.stop, longest)
    return Job(stop, about.step, signal, held)


def signal_of(about: Description, job: Job) -> Signal:
    """The inputs as functions of time."""
    inputs = about.of("input")
    start = np.array([0.0 if job.signal == "zero" else v.start for v in inputs])
    slope = slopes(about, job)
    return lambda t: start + slope * t


def slopes(about: Description, job: Job) -> np.ndarray:
    """Inputs with two limits keep their start values: they are choices such as `active`."""
    free = [job.signal == "ramp" and not (isfinite(v.low) and isfinite(v.high)) for v in about.of("input")]
    return np.array([RAMP * SHARES[i % len(SHARES)] if moves else 0.0 for i, moves in enumerate(free)])


def ramps(about: Description) -> str:
    """The signal that drives a mechanism; one with events keeps its default experiment."""
    return "start" if PHASE in about.variables else "ramp"


def with_other_start(about: Description, job: Job) -> Job:
    """Other start values of the states; without states, other values of all parameters that are not 0."""
    reals_ = [v for v in about.of("parameter") if v.kind == "Real" and not v.name.startswith("solver.")]
    starts = [(v, 1.01 * (v.start or 0.0) + 0.01) for v in reals_ if "_start" in v.name]
    chosen = starts or [(v, 1.01 * v.start) for v in reals_ if v.start]
    return replace(job, parameters=tuple((v.name, value) for v, value in chosen if v.low <= value <= v.high))


# --- plain Co-Simulation ----------------------------------------------------------------------------------------------


@cache
def reference(fmu: ImportedFmu, job: Job) -> Run:
    """Co-Simulation at a tight tolerance. Ramps are given by their derivatives, which makes them exact in a step."""
    about, signal = fmu.description, signal_of(fmu.description, job)
    instance = fmu.instance(CO_SIMULATION)
    instance.set_parameters(("Real", "Integer", "Boolean", "Enumeration"), dict(job.parameters))
    instance.inputs.set(signal(0.0))
    instance.initialize(tolerance=REFERENCE)
    run = Run(instance.outputs.names)
    rates = _input_rates(instance, about.of("input"), slopes(about, job))
    outputs = instance.outputs.get()
    run.scale = np.abs(outputs)
    run.look(outputs)
    for i in range(job.steps):
        instance.inputs.set(signal(i * job.step))
        if not job.held and rates:
            instance.do("fmi2SetRealInputDerivatives", *rates)
        instance.do("fmi2DoStep", i * job.step, job.step, 1)
        outputs = instance.outputs.get()
        run.scale = np.maximum(run.scale, np.abs(outputs))
        run.look(outputs)
    if not job.held:
        instance.inputs.set(signal(job.steps * job.step))
    run.values = instance.outputs.get()
    return run


def _input_rates(instance: Instance, inputs: list[Variable], slope: np.ndarray) -> tuple[Any, ...]:
    moving = [(v.reference, s) for v, s in zip(inputs, slope, strict=True) if s]
    if not moving:
        return ()
    return references(r for r, _ in moving), len(moving), integers([1] * len(moving)), reals(s for _, s in moving)


# --- comparison -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """The largest error of a continuous output, relative to max(1, size), and the discrete outputs that differ."""

    error: float
    worst: str
    other: tuple[str, ...]


def difference(fmu: ImportedFmu, run: Run, wanted: Run) -> Difference:
    kinds = [fmu.description.variables[name].kind for name in wanted.names]
    assert run.names == wanted.names and run.values.shape == wanted.values.shape
    error = np.abs(run.values - wanted.values) / np.maximum(1.0, wanted.scale)
    real = np.array([kind == "Real" for kind in kinds])
    other = tuple(
        f"{n} = {a:g}, not {b:g}"
        for n, a, b, r in zip(run.names, run.values, wanted.values, real, strict=True)
        if not r and a != b
    )
    continuous = np.where(real, np.where(np.isnan(error), np.inf, error), 0.0)
    worst = int(np.argmax(continuous)) if len(continuous) else 0
    return Difference(float(continuous.max(initial=0.0)), run.names[worst] if run.names else "", other)
