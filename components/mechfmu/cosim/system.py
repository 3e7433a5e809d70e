"""Several FMUs wired together: which there are, what is connected, what is set. All mistakes are found when a system is made.

System("loop", {"plant": "LinkChain.fmu", "control": "PidController.fmu"},
       connect={"plant.joint[1].angle": "control.measurement[1]", "control.output[1]": "plant.joint[1].torque"},
       set={"plant.gravity": 1.62}, stop=5)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fmpy.model_description import ModelDescription, ScalarVariable

from ..model import UserError, did_you_mean
from ..model.units import BASE_UNITS
from ..simulation.simulate import read_description, start_value, times, unit_name

if TYPE_CHECKING:
    from ..simulation.result import Result
    from ..simulation.simulate import Input

RADIAN = "rad"
SPAN = 10.0  # s: where neither the user nor an FMU says how long


@dataclass(frozen=True)
class Port:
    """A variable of one of the FMUs."""

    component: str
    variable: str

    def __str__(self) -> str:
        return f"{self.component}.{self.variable}"

    @staticmethod
    def of(text: str) -> Port:
        component, dot, variable = text.partition(".")
        if not (dot and component and variable):
            raise UserError(f"{text}: must look like fmu.variable")
        return Port(component, variable)


@dataclass(frozen=True)
class Connection:
    """target = factor source + offset at every communication point."""

    source: Port
    target: Port
    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class System:
    """`connect` and `set` as dictionaries with names "fmu.variable"; in `connect` the target may be a list. `save` and `load`: SSP files."""

    name: str
    fmus: Mapping[str, str | Path]
    connect: Mapping[str, str | Iterable[str]] = field(default_factory=dict)
    set: Mapping[str, Any] = field(default_factory=dict)
    stop: float | None = None
    step: float | None = None
    transforms: Mapping[str, tuple[float, float]] = field(
        default_factory=dict
    )  # by target: factor, offset, on top of unit conversion
    keep: Any = None  # what must live as long as the system: the folder of its unpacked FMUs

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
                raise UserError(f"{self.fmus[name]} cannot take part: it is no FMI 2.0 FMU for Co-Simulation")
        assert self.connections is not None and self.values is not None  # computed, so that all mistakes show now
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
            raise UserError(f"{source} cannot feed {target}: it is no output")
        if b.causality != "input":
            raise UserError(f"{source} cannot feed {target}: that is not an input")
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
        """What is set before the start, as the FMUs want it."""
        targets = {c.target for c in self.connections}
        found = {}
        for name, value in self.set.items():
            port = Port.of(name)
            if port in targets:
                raise UserError(f"{port} cannot be set: it is connected")
            found[port] = start_value(
                self.variable(port),
                value,
                self.variables[port.component],
                self.descriptions[port.component].unitDefinitions,
            )
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
        if port.component not in self.fmus:
            raise UserError(
                f"{port}: there is no FMU {port.component} in the system{did_you_mean(port.component, self.fmus)}"
            )
        try:
            return self.variables[port.component][port.variable]
        except KeyError:
            raise UserError(
                f"{port.component} has no variable {port.variable}{did_you_mean(port.variable, self.variables[port.component])}"
            ) from None

    def unit(self, port: Port) -> SignalUnit | None:
        name = unit_name(self.variable(port))
        return next(
            (SignalUnit.of(u) for u in self.descriptions[port.component].unitDefinitions if u.name == name), None
        )

    @property
    def stop_time(self) -> float:
        own = [
            float(d.defaultExperiment.stopTime)
            for d in self.descriptions.values()
            if d.defaultExperiment and d.defaultExperiment.stopTime
        ]
        return self.stop if self.stop is not None else max(own, default=SPAN)

    @property
    def step_size(self) -> float:
        own = [
            float(d.defaultExperiment.stepSize)
            for d in self.descriptions.values()
            if d.defaultExperiment and d.defaultExperiment.stepSize
        ]
        return self.step if self.step is not None else min(own, default=self.stop_time / 500)

    def save(self, file: str | Path) -> Path:
        """Write an SSP file with all FMUs inside."""
        from .ssp import write_ssp

        return write_ssp(self, Path(file))

    @staticmethod
    def load(file: str | Path) -> System:
        """The system in an SSP file."""
        from .ssp import read_ssp

        return read_ssp(Path(file))

    def simulate(
        self, stop: float | None = None, step: float | None = None, set: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Input] | None = None, adaptive: float | bool | None = None, isolated: bool | None = None,
        master: str = "fmpy", progress: Callable[[float], None] = lambda t: None, warn: Callable[[str], None] | None = None,
    ) -> Result:  # fmt: skip
        """Run it; the result has all outputs of all FMUs, as "fmu.variable".

        stop, step   in s; default: the system's own
        set          parameters and unconnected inputs, on top of the system's own
        inputs       unconnected inputs by name, each a number, a function of time, or a table (times, values), interpolated linearly; held over each step
        adaptive     relative error of the connected signals in a step: steps are divided until it is kept, which needs FMUs that save their state.
                     None: 1e-4 where they do, otherwise fixed steps;  False: fixed steps
        isolated     every FMU runs in a process of its own, so that one that crashes does not end this process. None: those that mechfmu did not make
        master       fmpy (the embedded one) or libcosim
        progress     is told the simulation time after each step
        warn         is told of algebraic loops and of steps that are too long. None: Python's warnings
        """
        from .master import simulate_system

        return simulate_system(self, stop, step, set, inputs, adaptive, isolated, master, progress, warn or _warn)


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=3)


def joined(system: System, a: str, b: str) -> dict[str, str]:
    """Connections between two FMUs, both ways, wherever an output of one has the name of an input of the other."""
    for name in (a, b):
        if name not in system.fmus:
            raise UserError(f"there is no FMU {name} in the system{did_you_mean(name, system.fmus)}")
    found: dict[str, str] = {}
    for source, target in ((a, b), (b, a)):
        inputs = {v.name for v in system.variables[target].values() if v.causality == "input"}
        found |= {
            f"{source}.{n}": f"{target}.{n}"
            for n, v in system.variables[source].items()
            if v.causality == "output" and n in inputs
        }
    if not found:
        raise UserError(f"no output of {a} or {b} has the name of an input of the other")
    return found


@dataclass(frozen=True)
class SignalUnit:
    """value in base units = factor value + offset."""

    name: str
    exponents: tuple[int, ...]  # of BASE_UNITS
    factor: float = 1.0
    offset: float = 0.0

    @staticmethod
    def of(unit: Any) -> SignalUnit:
        base = unit.baseUnit
        if base is None:
            return SignalUnit(unit.name, ())
        return SignalUnit(
            unit.name,
            tuple(int(getattr(base, b) or 0) for b in BASE_UNITS),
            float(base.factor or 1.0),
            float(base.offset or 0.0),
        )

    @property
    def dimension(self) -> dict[str, int]:
        """The exponents that count: a radian is 1, and tools differ in whether they write it (OpenModelica does not: rad/s is s^-1, rad has no exponent)."""
        return {base: e for base, e in zip(BASE_UNITS, self.exponents, strict=False) if e and base != RADIAN}

    @property
    def is_plain_number(self) -> bool:
        """No unit, or one that says nothing: 1, or a unit without base units."""
        return not any(self.exponents) and (self.factor, self.offset) == (1.0, 0.0) and self.name != RADIAN


def conversion(source: SignalUnit | None, target: SignalUnit | None) -> tuple[float, float]:
    """factor, offset from one unit to the other; ValueError when they measure different things. To and from a plain number, values pass unchanged."""
    if source is None or target is None or source.is_plain_number or target.is_plain_number:
        return 1.0, 0.0
    if source.dimension == target.dimension:
        return source.factor / target.factor, (source.offset - target.offset) / target.factor
    if not any(source.exponents) or not any(target.exponents):  # a ratio such as percent
        return 1.0, 0.0
    raise ValueError(f"{source.name} is no {target.name}")
