"""Several FMUs connected to one system. Mistakes are found when a system is made, not when it runs.

System("loop", {"plant": "LinkChain.fmu", "control": "PidController.fmu"},
       connect={"plant.joint[1].angle": "control.measurement[1]", "control.output[1]": "plant.joint[1].torque"},
       set={"plant.gravity": 1.62}, stop=5)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fmpy.model_description import ModelDescription, ScalarVariable

from ..model import UserError, did_you_mean
from ..simulation.description import read_description, start_value, unit_name
from ..simulation.inputs import Input, over_time
from ..simulation.result import Result
from ..simulation.time_grid import times
from .connections import Connection, Port, SignalUnit, conversion
from .libcosim import simulate_in_libcosim
from .master import simulate_in_master
from .ssp import read_ssp, write_ssp

DEFAULT_STOP = 10.0  # s: where neither the user nor an FMU has a stop time
DEFAULT_STEPS = 500  # to the stop time, where neither has a step size


@dataclass(frozen=True)
class System:
    """Several FMUs and their connections; variables are named "fmu.variable". Mistakes are found when it is made."""

    name: str  # of the system
    fmus: Mapping[str, str | Path]  # the files, by the names that the FMUs have in the system
    connect: Mapping[str, str | Iterable[str]] = field(default_factory=dict)  # output to input, or to several inputs
    set: Mapping[str, Any] = field(default_factory=dict)  # values of parameters and unconnected inputs
    stop: float | None = None  # s; None: the longest stop time of the FMUs
    step: float | None = None  # s; None: the shortest step size of the FMUs
    transforms: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """By target: factor and offset, on top of the conversion of units."""
    keep: Any = None
    """What must exist as long as the system: the folder of its unpacked FMUs."""

    def __repr__(self) -> str:
        return f"<System {self.name}: {', '.join(self.fmus)}; {len(self.connections)} connections>"

    def __post_init__(self) -> None:
        for name in self.fmus:
            if not name or "." in name:
                raise UserError(f"FMU {name}: a name in a system must not be empty and has no dot")
        if not self.fmus:
            raise UserError("a system needs at least one FMU")
        for name, description in self.descriptions.items():
            if description.fmiVersion != "2.0" or description.coSimulation is None:
                raise UserError(f"{self.fmus[name]} cannot take part: it is not an FMI 2.0 FMU for Co-Simulation")
        assert self.connections is not None and self.values is not None  # computed now, so that mistakes are found
        times(0.0, self.stop_time, self.step_size)

    @cached_property
    def descriptions(self) -> dict[str, ModelDescription]:
        return {name: read_description(file) for name, file in self.fmus.items()}

    @cached_property
    def variables(self) -> dict[str, dict[str, ScalarVariable]]:
        return {name: {v.name: v for v in d.modelVariables} for name, d in self.descriptions.items()}

    @cached_property
    def connections(self) -> tuple[Connection, ...]:
        pairs = [
            (Port.of(s), Port.of(t))
            for s, targets in self.connect.items()
            for t in ([targets] if isinstance(targets, str) else targets)
        ]
        fed: dict[Port, Port] = {}
        for source, target in pairs:
            if target in fed:
                raise UserError(f"{target} is fed twice: by {fed[target]} and by {source}")
            fed[target] = source
        return tuple(self._connection(s, t, *self.transforms.get(str(t), (1.0, 0.0))) for s, t in pairs)

    def _connection(self, source: Port, target: Port, factor: float, offset: float) -> Connection:
        a, b = self.variable(source), self.variable(target)
        if a.causality != "output":
            raise UserError(f"{source} cannot feed {target}: {source} is not an output")
        if b.causality != "input":
            raise UserError(f"{source} cannot feed {target}: {target} is not an input")
        kinds = ["Integer" if v.type == "Enumeration" else v.type for v in (a, b)]
        if kinds[0] != kinds[1] or kinds[0] == "String":
            raise UserError(f"{source} ({a.type}) cannot feed {target} ({b.type})")
        if kinds[0] != "Real":
            return Connection(source, target)
        try:
            f, o = conversion(self.unit(source), self.unit(target))
        except ValueError as error:
            raise UserError(f"{source} cannot feed {target}: {error}") from None
        return Connection(source, target, factor * f, factor * o + offset)

    @cached_property
    def values(self) -> dict[Port, Any]:
        """The values set before the start, as the FMUs take them."""
        targets = {c.target for c in self.connections}
        found = {}
        for name, value in self.set.items():
            port = Port.of(name)
            if port in targets:
                raise UserError(f"{port} cannot be set: it is connected")
            variable = self.variable(port)
            units = self.descriptions[port.component].unitDefinitions
            found[port] = start_value(variable, value, self.variables[port.component], units)
        return found

    def free_input(self, name: str) -> Port:
        """A Real input that is not connected, by its name."""
        port = Port.of(name)
        variable = self.variable(port)
        if variable.causality != "input" or variable.type != "Real":
            raise UserError(f"{port} cannot be driven: it is not a Real input")
        if port in {c.target for c in self.connections}:
            raise UserError(f"{port} cannot be driven: it is connected")
        return port

    def variable(self, port: Port) -> ScalarVariable:
        component, name = port.component, port.variable
        if component not in self.fmus:
            raise UserError(f"{port}: there is no FMU {component} in the system{did_you_mean(component, self.fmus)}")
        try:
            return self.variables[component][name]
        except KeyError:
            proposal = did_you_mean(name, self.variables[component])
            raise UserError(f"{component} has no variable {name}{proposal}") from None

    def unit(self, port: Port) -> SignalUnit | None:
        name = unit_name(self.variable(port))
        units = self.descriptions[port.component].unitDefinitions
        return next((SignalUnit.of(u) for u in units if u.name == name), None)

    @property
    def stop_time(self) -> float:
        """The end of a run [s]."""
        return self.stop if self.stop is not None else max(self._experiments("stopTime"), default=DEFAULT_STOP)

    @property
    def step_size(self) -> float:
        """The communication step [s]."""
        default = self.stop_time / DEFAULT_STEPS
        return self.step if self.step is not None else min(self._experiments("stepSize"), default=default)

    def _experiments(self, attribute: str) -> list[float]:
        """An attribute of the FMUs' default experiments, where it is given."""
        experiments = [d.defaultExperiment for d in self.descriptions.values() if d.defaultExperiment]
        return [float(value) for e in experiments if (value := getattr(e, attribute))]

    def save(self, file: str | Path) -> Path:
        """Write an SSP file with all FMUs inside and return its path."""
        return write_ssp(self, Path(file))

    @classmethod
    def load(cls, file: str | Path) -> System:
        """Return the system in an SSP file."""
        return read_ssp(Path(file), cls)

    def simulate(
        self,
        stop: float | None = None,
        step: float | None = None,
        set: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Input] | None = None,
        adaptive: float | bool | None = None,
        isolated: bool | None = None,
        master: str = "fmpy",
        progress: Callable[[float], None] = lambda t: None,
        warn: Callable[[str], None] | None = None,
    ) -> Result:
        """Run the system; the result has all outputs of all FMUs, as "fmu.variable".

        stop, step   in s; default: the system's own
        set          parameters and unconnected inputs, on top of the system's own
        inputs       unconnected inputs by name, each a number, a function of time, or a table (times, values) that is
                     interpolated linearly; held over each step
        adaptive     relative error of the connected signals in a step: steps are divided until it is kept, which needs
                     FMUs that can save their state. None: 1e-4 where they can, else fixed steps; False: fixed steps
        isolated     every FMU runs in a process of its own, so that one that crashes does not end this process.
                     None: those that mechfmu did not build
        master       fmpy (the embedded one) or libcosim
        progress     called with the simulation time after each step
        warn         called with warnings about algebraic loops and steps that are too long. None: Python's warnings
        """
        chosen = replace(
            self,
            set={**self.set, **(set or {})},
            stop=self.stop_time if stop is None else stop,
            step=self.step_size if step is None else step,
        )
        driven = {chosen.free_input(name): over_time(name, given) for name, given in (inputs or {}).items()}
        if master == "fmpy":
            return simulate_in_master(chosen, driven, adaptive, isolated, progress, warn or _warn)
        if master != "libcosim":
            raise UserError(f"master {master}: must be fmpy or libcosim")
        if driven:
            raise UserError("the master libcosim does not support inputs over time; use the master fmpy")
        if adaptive:
            raise UserError("the master libcosim does not support adaptive steps; use the master fmpy")
        return simulate_in_libcosim(chosen, progress)


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=3)


def joined(system: System, a: str, b: str) -> dict[str, str]:
    """Return connections between two FMUs, both ways: each output to the input of the other that has its name."""
    for name in (a, b):
        if name not in system.fmus:
            raise UserError(f"there is no FMU {name} in the system{did_you_mean(name, system.fmus)}")
    found: dict[str, str] = {}
    for source, target in ((a, b), (b, a)):
        inputs = {v.name for v in system.variables[target].values() if v.causality == "input"}
        outputs = [n for n, v in system.variables[source].items() if v.causality == "output"]
        found |= {f"{source}.{n}": f"{target}.{n}" for n in outputs if n in inputs}
    if not found:
        raise UserError(f"no output of {a} or {b} has the name of an input of the other")
    return found
