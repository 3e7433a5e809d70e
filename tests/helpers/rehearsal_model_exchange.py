"""Model Exchange hosts: a variable-step solver of SciPy used step by step, zero crossings located on its dense output.

    VariableStep   parameters before initialisation, CompletedIntegratorStep at accepted steps only: FMPy, OMSimulator,
                   any tool with CVode
    OpenModelica   the calls of its import block, in its order
    Euler          fixed steps, no root finding: an event when a sign changed over the step, as fmuCheck does

Trial and rejected steps, Newton iterations and difference quotients of the Jacobian are the solvers' own: the FMU sees
every one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.integrate import BDF, LSODA, RK45, OdeSolver, Radau

from helpers.native_fmi import MODEL_EXCHANGE
from helpers.rehearsal_fmu import HostGaveUp, ImportedFmu, Instance
from helpers.rehearsal_job import Job, Run, Signal, signal_of

SOLVERS: dict[str, type[OdeSolver]] = {"BDF": BDF, "Radau": Radau, "RK45": RK45, "LSODA": LSODA}

LONGEST_STEP = 1 / 50  # of the experiment: FMPy's default for CVode
MOST_STEPS = 8_000  # of one experiment: a user has stopped it by then
CHATTERING_EVENTS, CHATTERING_SPACING = (
    20,
    1e-6,
)  # so many events in a row, each within so many seconds after the one before
TIME_ROUNDING = 100 * np.finfo(float).eps  # relative: CVode locates a root to this
BISECTION = 1e-9  # s: OpenModelica locates a zero crossing to this
OUTPUT_POINTS = 500  # of OpenModelica's default experiment: relations are also evaluated there


class Chattering(HostGaveUp):
    """Event after event without progress."""


class Progress:
    """Watches the events of a run."""

    def __init__(self, run: Run):
        self.run, self.last, self.row = run, -np.inf, 0

    def event(self, t: float) -> None:
        self.row = self.row + 1 if t - self.last < CHATTERING_SPACING else 0
        self.last = t
        if self.row >= CHATTERING_EVENTS:
            spacing = f"each within {CHATTERING_SPACING:g} s after the one before"
            raise Chattering(f"chattering at t = {t:.6g} s: {CHATTERING_EVENTS} events, {spacing}")

    def step(self, t: float) -> None:
        self.run.steps += 1
        if self.run.steps > MOST_STEPS:
            raise HostGaveUp(f"{MOST_STEPS} steps and only at t = {t:.6g} s")


@dataclass(frozen=True)
class VariableStep:
    """The ordinary call order of Model Exchange."""

    solver: str = "BDF"
    tolerance: float = 1e-6
    honour_step_events: bool = True

    @property
    def name(self) -> str:
        return self.solver

    signal = "ramp"

    def run(self, fmu: ImportedFmu, job: Job) -> Run:
        return Integration(self, fmu, job).run()

    # --- the calls ----------------------------------------------------------------------------------------------------

    def initialize(self, sim: Integration) -> float:
        """Enter event mode, handle the initial event, enter continuous-time mode; the time of the next time event."""
        instance = sim.instance
        instance.set_parameters(("Real", "Integer", "Boolean", "Enumeration"), dict(sim.job.parameters))
        instance.inputs.set(sim.inputs(0.0))
        instance.do("fmi2SetupExperiment", 1, self.tolerance, 0.0, 1, sim.job.stop)
        instance.do("fmi2EnterInitializationMode")
        instance.do("fmi2ExitInitializationMode")
        _, next_event = instance.event_iteration()
        instance.do("fmi2EnterContinuousTimeMode")
        return next_event

    def evaluate(self, sim: Integration, t: float, x: np.ndarray) -> np.ndarray:
        """The derivatives, for a state that the solver tries."""
        sim.put(t, x)
        return sim.instance.derivatives()

    def indicators(self, sim: Integration, t: float, x: np.ndarray) -> np.ndarray:
        sim.put(t, x)
        return sim.instance.indicators()

    def accept(self, sim: Integration, t: float, x: np.ndarray) -> bool:
        """The end of an accepted step: whether the FMU asks for event mode."""
        sim.put(t, x)
        return sim.instance.completed_step()

    def event(self, sim: Integration, t: float, x: np.ndarray) -> tuple[np.ndarray, float]:
        """Event mode and back: the states, and the time of the next time event."""
        instance = sim.instance
        instance.do("fmi2EnterEventMode")
        changed, next_event = instance.event_iteration()
        instance.do("fmi2EnterContinuousTimeMode")
        return (instance.states() if changed else x), next_event

    # --- where it looks for zero crossings ----------------------------------------------------------------------------

    def checkpoints(self, job: Job, t_old: float, t: float) -> np.ndarray:
        return np.array([t])

    def precision(self, t: float) -> float:
        return TIME_ROUNDING * max(1.0, abs(t))


@dataclass(frozen=True)
class OpenModelica(VariableStep):
    """Parameters after initialisation, unconnected inputs 0, states set in event mode, CompletedIntegratorStep always.

    It is called at every evaluation. Enumerations have no setter in the import block.
    """

    @property
    def name(self) -> str:
        return "OpenModelica"

    signal = "zero"

    def initialize(self, sim: Integration) -> float:
        instance = sim.instance
        instance.do("fmi2SetupExperiment", 0, 0.0, 0.0, 0, 0.0)
        instance.do("fmi2EnterInitializationMode")
        instance.do("fmi2ExitInitializationMode")
        instance.set_parameters(("Real", "Integer", "Boolean"), dict(sim.job.parameters))
        sim.put(0.0, instance.states())
        instance.derivatives()
        instance.indicators()
        instance.outputs.get()
        _, next_event = instance.event_iteration()
        instance.do("fmi2EnterContinuousTimeMode")
        return next_event

    def _block(self, sim: Integration, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
        """All equations of the block: derivatives, event indicators, and whether event mode is requested."""
        sim.put(t, x)
        instance = sim.instance
        dx, z = instance.derivatives(), instance.indicators()
        instance.outputs.get()
        return dx, z, instance.completed_step()

    def evaluate(self, sim: Integration, t: float, x: np.ndarray) -> np.ndarray:
        return self._block(sim, t, x)[0]

    def indicators(self, sim: Integration, t: float, x: np.ndarray) -> np.ndarray:
        return self._block(sim, t, x)[1]

    def accept(self, sim: Integration, t: float, x: np.ndarray) -> bool:
        return self._block(sim, t, x)[2]

    def event(self, sim: Integration, t: float, x: np.ndarray) -> tuple[np.ndarray, float]:
        instance = sim.instance
        instance.do("fmi2EnterEventMode")
        instance.inputs.set(sim.inputs(t))
        instance.set_states(x)
        changed, next_event = instance.event_iteration()
        instance.do("fmi2EnterContinuousTimeMode")
        return (instance.states() if changed else x), next_event

    def checkpoints(self, job: Job, t_old: float, t: float) -> np.ndarray:
        interval = job.stop / OUTPUT_POINTS
        points = np.arange(np.floor(t_old / interval) + 1, np.ceil(t / interval)) * interval
        return np.append(points[(points > t_old) & (points < t)], t)

    def precision(self, t: float) -> float:
        return BISECTION


class Integration:
    """One experiment of a host with a variable-step solver."""

    def __init__(self, host: VariableStep, fmu: ImportedFmu, job: Job):
        self.host, self.job = host, job
        self.instance: Instance = fmu.instance(MODEL_EXCHANGE)
        self.inputs = signal_of(fmu.description, job)
        self.n = fmu.description.states
        self.result = Run(self.instance.outputs.names)
        self.progress = Progress(self.result)
        self.evaluated = 0.0
        self.has_inputs = bool(self.instance.inputs.variables)

    def put(self, t: float, x: np.ndarray) -> None:
        self.instance.do("fmi2SetTime", t)
        if self.has_inputs:
            self.instance.inputs.set(self.inputs(t))
        if self.n:
            self.instance.set_states(x[: self.n])

    def run(self) -> Run:
        self.next_event = self.host.initialize(self)
        t, x = 0.0, self.instance.states()
        self.result.look(self.instance.outputs.get())
        while t < self.job.stop - self.host.precision(self.job.stop):
            t, x = self._between_events(t, x)
        self.put(self.job.stop, x)
        self.result.values = self.instance.outputs.get()
        self.instance.do("fmi2Terminate")
        self.instance.free()
        return self.result

    def _between_events(self, t: float, x: np.ndarray) -> tuple[float, np.ndarray]:
        """From one event to the next, or to the end: a solver starts afresh."""
        end = min(self.job.stop, self.next_event)
        solver = self._solver(t, x, end)
        z = self.host.indicators(self, t, x)
        while solver.status == "running":
            with np.errstate(invalid="ignore"):  # SciPy's BDF subtracts rows of a table that it has not filled yet
                said = solver.step()
            if not np.all(np.isfinite(solver.y)):
                raise HostGaveUp(f"{self.host.solver}: the states are not finite at t = {solver.t:.6g} s")
            if solver.status == "failed":
                raise HostGaveUp(f"{self.host.solver} stopped at t = {solver.t:.6g} s: {said}")
            self.progress.step(solver.t)
            crossing = self._zero_crossing(solver, z > 0) if len(z) else None
            if crossing is not None:
                self.host.accept(self, crossing, state := self._at(solver, crossing))
                self.result.state_events += 1
                return crossing, self._event(crossing, state)
            asked = self.host.accept(self, solver.t, solver.y)
            if solver.t >= self.next_event:
                self.result.time_events += 1
                return solver.t, self._event(solver.t, solver.y[: self.n])
            if asked and self.host.honour_step_events:
                self.result.step_events += 1
                return solver.t, self._event(solver.t, solver.y[: self.n])
        return solver.t, solver.y[: self.n]

    def _solver(self, t: float, x: np.ndarray, end: float) -> OdeSolver:
        host, nominals = self.host, self.instance.nominals()
        if not self.n:  # solvers want a state: tools add one that rests
            x, nominals = np.zeros(1), np.ones(1)
        limits = dict(max_step=LONGEST_STEP * self.job.stop, rtol=host.tolerance, atol=host.tolerance * nominals)
        return SOLVERS[host.solver](self._rates, t, x, end, **limits)

    def _rates(self, t: float, x: np.ndarray) -> np.ndarray:
        self.result.evaluations += 1
        self.result.returns += t < self.evaluated
        self.evaluated = t
        dx = self.host.evaluate(self, t, x)
        return dx if self.n else np.zeros(1)

    def _event(self, t: float, x: np.ndarray) -> np.ndarray:
        self.progress.event(t)
        x, self.next_event = self.host.event(self, t, x)
        self.result.look(self.instance.outputs.get())
        return x

    def _at(self, solver: OdeSolver, t: float) -> np.ndarray:
        return solver.y[: self.n] if t == solver.t else np.asarray(solver.dense_output()(t))[: self.n]

    def _zero_crossing(self, solver: OdeSolver, before: np.ndarray) -> float | None:
        """The time just after the first sign change in the last step, by bisection on dense output; None: no change."""
        left = solver.t_old
        for right in self.host.checkpoints(self.job, solver.t_old, solver.t):
            if not np.array_equal(self.host.indicators(self, right, self._at(solver, right)) > 0, before):
                break
            left = right
        else:
            return None
        dense = solver.dense_output()
        while right - left > self.host.precision(right):
            middle = 0.5 * (left + right)
            if np.array_equal(self.host.indicators(self, middle, np.asarray(dense(middle))[: self.n]) > 0, before):
                left = middle
            else:
                right = middle
        return float(right)


@dataclass(frozen=True)
class Euler:
    """Fixed steps in the manner of fmuCheck."""

    step: float = 1e-4
    signal = "ramp"
    name = "Euler"

    def run(self, fmu: ImportedFmu, job: Job) -> Run:
        """Richardson extrapolation from two step sizes: a second-order error remains if the host is of first order."""
        coarse, fine = self.with_step(fmu, job, self.step), self.with_step(fmu, job, self.step / 2)
        real = [v.kind == "Real" for v in fmu.description.of("output")]
        return replace(fine, values=np.where(real, 2 * fine.values - coarse.values, fine.values))

    def with_step(self, fmu: ImportedFmu, job: Job, h: float) -> Run:
        instance, inputs = fmu.instance(MODEL_EXCHANGE), signal_of(fmu.description, job)
        run = Run(instance.outputs.names)
        progress = Progress(run)
        next_event = self._initialize(instance, job, inputs)
        x, signs = instance.states(), instance.indicators() > 0
        run.look(instance.outputs.get())
        for i in range(1, (count := round(job.stop / h)) + 1):
            x, t = x + h * instance.derivatives(), job.stop * i / count
            instance.do("fmi2SetTime", t)
            instance.inputs.set(inputs(t))
            instance.set_states(x)
            asked, crossed, due = (
                instance.completed_step(),
                not np.array_equal(instance.indicators() > 0, signs),
                t >= next_event,
            )
            if not (asked or crossed or due):
                continue
            run.state_events += crossed
            run.time_events += due and not crossed
            run.step_events += asked and not crossed and not due
            progress.event(t)
            instance.do("fmi2EnterEventMode")
            changed, next_event = instance.event_iteration()
            instance.do("fmi2EnterContinuousTimeMode")
            x = instance.states() if changed else x
            signs = instance.indicators() > 0
            run.look(instance.outputs.get())
        run.steps, run.values = count, instance.outputs.get()
        instance.do("fmi2Terminate")
        instance.free()
        return run

    def _initialize(self, instance: Instance, job: Job, inputs: Signal) -> float:
        instance.set_parameters(("Real", "Integer", "Boolean", "Enumeration"), dict(job.parameters))
        instance.inputs.set(inputs(0.0))
        instance.do("fmi2SetupExperiment", 0, 0.0, 0.0, 1, job.stop)
        instance.do("fmi2EnterInitializationMode")
        instance.do("fmi2ExitInitializationMode")
        _, next_event = instance.event_iteration()
        instance.do("fmi2EnterContinuousTimeMode")
        return next_event
