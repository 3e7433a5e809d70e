"""The recorded outputs of a system as a Result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ..simulation.description import display_unit_of
from ..simulation.result import Result
from ..simulation.scene import MissingMechanism, Scene
from ..simulation.slaves import KINDS
from ..simulation.source_mechanism import drawable_mechanism
from .connections import Port

if TYPE_CHECKING:
    from .system import System

Driven = Mapping[Port, Callable[[float], float]]  # unconnected inputs over time


def outputs_of(system: System) -> list[Port]:
    return [
        Port(c, v.name)
        for c, variables in system.variables.items()
        for v in variables.values()
        if v.causality == "output" and v.type in KINDS
    ]


def component_and_kind(system: System, port: Port) -> tuple[str, str]:
    """The FMU of a port, and the name of the FMI functions that get and set it."""
    return port.component, KINDS[system.variable(port).type][0]


def grouped(system: System, ports: Iterable[Port]) -> list[list[Port]]:
    """Successive ports of the same FMU and kind together: one FMI call serves them all."""
    return [list(group) for _, group in groupby(ports, key=lambda p: component_and_kind(system, p))]


def result_of(
    system: System, t: Sequence[float], rows: Sequence[np.ndarray], driven: Driven = MappingProxyType({})
) -> Result:
    ports = outputs_of(system)
    units = {str(p): display_unit_of(system.variable(p), system.descriptions[p.component]) for p in ports}
    signals = dict(zip(map(str, ports), np.array(rows).T, strict=True))
    given = {
        Port(c, v.name): v
        for c, variables in system.variables.items()
        for v in variables.values()
        if v.type == "Real" and v.start is not None
    }
    values = {(str(p), v.causality): float(system.values.get(p, v.start)) for p, v in given.items()}
    constants = {name: value for (name, causality), value in values.items() if causality == "parameter"}
    inputs = {name: np.full(len(t), value) for (name, causality), value in values.items() if causality == "input"}
    inputs |= {str(port): np.array([value(at) for at in t]) for port, value in driven.items()}
    inputs |= {str(c.target): c.factor * signals[str(c.source)] + c.offset for c in system.connections}
    members = {name: m for name, file in system.fmus.items() if (m := drawable_mechanism(file)) is not None}
    here = {name: m for name, m in members.items() if not isinstance(m, MissingMechanism)}
    return Result(system.name, np.array(t), signals, units, constants, Scene(here or members), inputs)
