"""Co-Simulation masters: held inputs, the FMU's own solver at its own or at the experiment's tolerance.

Simulink      all parameters before initialisation, fixed sample time, several instances, direct feed-through by
              declared dependencies, reset and rerun, fast restart
OMSimulator   connections are propagated in initialisation mode, then step, get, set
MasterSim     every step is taken back and repeated, with the same and with half the size (GetFMUstate, SetFMUstate)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from helpers.native_fmi import CO_SIMULATION
from helpers.rehearsal_fmu import HostGaveUp, ImportedFmu, Instance
from helpers.rehearsal_job import Job, Run, Signal, signal_of
from helpers.tolerances import STEP_DOUBLING

ALL_TYPES = ("Real", "Integer", "Boolean", "Enumeration")
TOUCH = 0.01  # by how much an input is changed to find direct feed-through


@dataclass(frozen=True)
class Simulink:
    """The FMU block with a fixed sample time."""

    name = "Simulink"
    signal = "ramp"

    def run(self, fmu: ImportedFmu, job: Job) -> Run:
        (run,) = self.blocks(fmu, [job])
        return run

    def blocks(self, fmu: ImportedFmu, jobs: list[Job]) -> list[Run]:
        """Several blocks of one FMU in a diagram, stepped at every sample time. The jobs differ in parameters only."""
        instances = [fmu.instance(CO_SIMULATION, f"block {i + 1}") for i in range(len(jobs))]
        for instance, job in zip(instances, jobs, strict=True):
            self.start(instance, job)
        runs = [Run(instance.outputs.names) for instance in instances]
        inputs = signal_of(fmu.description, jobs[0])
        for k in range(jobs[0].steps):
            for instance, run in zip(instances, runs, strict=True):
                self.sample(instance, run, k, jobs[0].step, inputs)
        for instance, run in zip(instances, runs, strict=True):
            run.values = instance.outputs.get()
            instance.do("fmi2Terminate")
            instance.free()
        return runs

    def start(self, instance: Instance, job: Job) -> None:
        instance.set_parameters(ALL_TYPES, dict(job.parameters))
        instance.do("fmi2SetupExperiment", 0, 0.0, 0.0, 1, job.stop)
        instance.do("fmi2EnterInitializationMode")
        instance.inputs.set(signal_of(instance.fmu.description, job)(0.0))
        instance.do("fmi2ExitInitializationMode")

    def sample(self, instance: Instance, run: Run, k: int, h: float, inputs: Signal) -> None:
        instance.inputs.set(inputs(k * h))
        run.look(instance.outputs.get())
        instance.do("fmi2DoStep", k * h, h, 1)

    def again(self, fmu: ImportedFmu, jobs: list[Job]) -> list[Run]:
        """Fast restart: one instance runs all jobs in turn, with Terminate, Reset and all parameters in between."""
        instance, runs = fmu.instance(CO_SIMULATION), []
        for job in jobs:
            self.start(instance, job)
            run, inputs = Run(instance.outputs.names), signal_of(fmu.description, job)
            for k in range(job.steps):
                self.sample(instance, run, k, job.step, inputs)
            run.values = instance.outputs.get()
            runs.append(run)
            instance.do("fmi2Terminate")
            instance.do("fmi2Reset")
        instance.free()
        return runs

    def undeclared_feedthrough(self, fmu: ImportedFmu, job: Job) -> list[str]:
        """Outputs that change with an input without a step in between, though they do not declare to depend on it."""
        instance, inputs = fmu.instance(CO_SIMULATION), signal_of(fmu.description, job)
        self.start(instance, job)
        run, found = Run(instance.outputs.names), []
        for k in range(3):
            self.sample(instance, run, k, job.step, inputs)
            values = inputs((k + 1) * job.step)
            instance.inputs.set(values)
            before = instance.outputs.get()
            for i, changed in enumerate(instance.inputs.variables):
                if not changed.low <= values[i] + TOUCH <= changed.high:
                    continue
                other = values.copy()
                other[i] += TOUCH
                instance.inputs.set(other)
                differ = np.flatnonzero(instance.outputs.get() != before)
                outputs = [instance.outputs.variables[j] for j in differ]
                found += [
                    f"{y.name} with {changed.name}"
                    for y in outputs
                    if y.inputs is not None and changed.name not in y.inputs
                ]
            instance.inputs.set(values)
            if not np.array_equal(instance.outputs.get(), before):
                found.append("outputs do not return with the inputs")
        instance.free()
        return sorted(set(found))


@dataclass(frozen=True)
class OMSimulator:
    """A co-simulation master with a fixed step."""

    tolerance: float = 1e-6
    name = "OMSimulator"
    signal = "ramp"

    def run(self, fmu: ImportedFmu, job: Job) -> Run:
        instance, source = fmu.instance(CO_SIMULATION), signal_of(fmu.description, job)
        run = Run(instance.outputs.names)
        instance.set_parameters(ALL_TYPES, dict(job.parameters))
        instance.do("fmi2SetupExperiment", 1, self.tolerance, 0.0, 1, job.stop)
        instance.do("fmi2EnterInitializationMode")
        propagated = self._propagate(instance, source)
        instance.do("fmi2ExitInitializationMode")
        if not np.array_equal(instance.outputs.get(), propagated):
            raise HostGaveUp("outputs change when initialisation mode is left: others have got wrong values from them")
        for k in range(job.steps):
            instance.do("fmi2DoStep", k * job.step, job.step, 1)
            run.look(instance.outputs.get())
            if k + 1 < job.steps:
                instance.inputs.set(source((k + 1) * job.step))
        run.values = instance.outputs.get()
        instance.do("fmi2Terminate")
        instance.free()
        return run

    def _propagate(self, instance: Instance, source: Signal) -> np.ndarray:
        """Values go round the connections until they are settled: get, set, get again."""
        instance.outputs.get()
        instance.inputs.set(source(0.0))
        first = instance.outputs.get()
        instance.inputs.set(source(0.0))
        if not np.array_equal(instance.outputs.get(), first):
            raise HostGaveUp("outputs change in initialisation mode when inputs are set to the values they have")
        return first


@dataclass(frozen=True)
class MasterSim:
    """A master that iterates: steps are repeated for convergence, and with half the size to estimate the error."""

    tolerance: float = 1e-6
    name = "MasterSim"
    signal = "ramp"

    def run(self, fmu: ImportedFmu, job: Job) -> Run:
        instance, source = fmu.instance(CO_SIMULATION), signal_of(fmu.description, job)
        run = Run(instance.outputs.names)
        instance.do("fmi2SetupExperiment", 1, self.tolerance, 0.0, 0, 0.0)
        instance.set_parameters(ALL_TYPES, dict(job.parameters))
        instance.do("fmi2EnterInitializationMode")
        instance.inputs.set(source(0.0))
        instance.outputs.get()
        instance.do("fmi2ExitInitializationMode")
        state, scale = instance.save(), np.maximum(1.0, np.abs(instance.outputs.get()))
        for k in range(job.steps):
            t, h = k * job.step, job.step
            state = instance.save(state)
            whole = self._step(instance, source(t), t, [h])
            instance.load(state)
            if not np.array_equal(self._step(instance, source(t), t, [h]), whole):
                raise HostGaveUp(f"the step at t = {t:g} s ends elsewhere when it is repeated from the saved state")
            instance.load(state)
            halves = self._step(instance, source(t), t, [h / 2, h / 2])
            run.look(halves)
            scale = np.maximum(scale, np.abs(halves))
            off = np.max(np.abs(halves - whole) / scale, initial=0.0)
            if not off < STEP_DOUBLING:
                reason = f"the step at t = {t:g} s differs by {off:.1e} from two of half the size"
                raise HostGaveUp(f"{reason}: the master reduces its step without end")
        instance.forget(state)
        run.values = instance.outputs.get()
        instance.do("fmi2Terminate")
        instance.free()
        return run

    def _step(self, instance: Instance, inputs: np.ndarray, t: float, sizes: list[float]) -> np.ndarray:
        instance.inputs.set(inputs)
        for h in sizes:
            instance.do("fmi2DoStep", t, h, 0)
            t += h
        return instance.outputs.get()
