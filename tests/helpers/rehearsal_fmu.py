"""An FMU as an importing tool knows it: modelDescription.xml and the binary, nothing of mechfmu's tables.

Value references, types, causalities and dependencies come from the XML. A warning does not stop a host, an error does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ctypes import byref, c_int, c_void_p
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from helpers.native_fmi import (
    DISCARD,
    INTEGERS,
    MODEL_EXCHANGE,
    REALS,
    REFERENCES,
    WARNING,
    Component,
    EventInfo,
    Fmu,
    Refused,
)
from mechfmu.model import Mechanism

CALL = {
    "Real": "Real",
    "Integer": "Integer",
    "Enumeration": "Integer",
    "Boolean": "Boolean",
}  # an enumeration is an Integer to FMI 2.0
EVENT_ITERATIONS = 50  # calls of NewDiscreteStates at one event; a host gives up later than the FMU should need


class HostGaveUp(Exception):
    """What a user of the host would see instead of a result."""


@dataclass(frozen=True)
class Variable:
    """A ScalarVariable. `inputs`: those that it depends on without a step in between; None: not declared, so all."""

    name: str
    reference: int
    kind: str
    causality: str
    start: float | None
    low: float
    high: float
    inputs: frozenset[str] | None = None


class Description:
    """What modelDescription.xml says."""

    def __init__(self, file: Path):
        root = ElementTree.parse(file).getroot()
        scalars = root.findall("ModelVariables/ScalarVariable")
        names = [s.attrib["name"] for s in scalars]
        inputs = {s.attrib["name"] for s in scalars if s.get("causality") == "input"}
        direct = {
            names[int(u.attrib["index"]) - 1]: _direct(u, names, inputs)
            for u in root.findall("ModelStructure/Outputs/Unknown")
        }
        self.variables = {s.attrib["name"]: _variable(s, direct.get(s.attrib["name"])) for s in scalars}
        self.states = len(root.findall("ModelStructure/Derivatives/Unknown"))
        self.indicators = int(root.get("numberOfEventIndicators", "0"))
        experiment = root.find("DefaultExperiment")
        assert experiment is not None
        self.stop, self.step = float(experiment.attrib["stopTime"]), float(experiment.attrib["stepSize"])

    def of(self, causality: str) -> list[Variable]:
        return [v for v in self.variables.values() if v.causality == causality]


def _direct(unknown: Element, names: list[str], inputs: set[str]) -> frozenset[str] | None:
    declared = unknown.get("dependencies")
    return None if declared is None else frozenset(names[int(i) - 1] for i in declared.split()) & inputs


def _variable(scalar: Element, inputs: frozenset[str] | None) -> Variable:
    typed = next(e for e in scalar if e.tag in CALL)
    start = typed.get("start")
    value = None if start is None else float({"true": "1", "false": "0"}.get(start, start))
    name, reference = scalar.attrib["name"], int(scalar.attrib["valueReference"])
    low, high = float(typed.get("min", "-inf")), float(typed.get("max", "inf"))
    return Variable(name, reference, typed.tag, scalar.get("causality", "local"), value, low, high, inputs)


class ImportedFmu(Fmu):
    """A loaded FMU with its description."""

    def __init__(self, mechanism: Mechanism, binary: Path):
        super().__init__(mechanism, binary)
        self.description = Description(binary.parent.parent.parent / "modelDescription.xml")
        self.reference = {v.name: v.reference for v in self.description.variables.values()}

    def instance(self, kind: int, name: str = "instance") -> Instance:
        return Instance(self, kind, name, False, self.guid)


class Instance(Component):
    """An instance whose arrays are allocated once: an evaluation is made thousands of times."""

    fmu: ImportedFmu

    def __init__(self, fmu: ImportedFmu, kind: int, name: str, logging: bool, guid: str):
        super().__init__(fmu, kind, name, logging, guid)
        about = fmu.description
        self.inputs = Values(self, about.of("input"))
        self.outputs = Values(self, about.of("output"))
        self._event, self._end, self._info = c_int(), c_int(), EventInfo()
        if kind == MODEL_EXCHANGE:
            self._x, self._dx, self._nominals = (Reals(about.states) for _ in range(3))
            self._z = Reals(about.indicators)

    def do(self, function: str, *arguments: Any) -> None:
        status = self(function, *arguments)
        if status > WARNING:
            raise Refused(
                status, f"{function}: {self.said}" if status != DISCARD else f"{function} discarded: {self.said}"
            )

    # --- parameters ---------------------------------------------------------------------------------------------------

    def set_parameters(self, kinds: Iterable[str], changed: Mapping[str, float]) -> None:
        """All parameters of these types, changed or not, as tools do that keep their own copy of the values."""
        chosen = [v for v in self.fmu.description.of("parameter") if v.kind in set(kinds)]
        Values(self, chosen).set([changed.get(v.name, v.start) for v in chosen])

    # --- Model Exchange -----------------------------------------------------------------------------------------------

    def states(self) -> np.ndarray:
        self.do("fmi2GetContinuousStates", self._x.pointer, self._x.size)
        return self._x.array.copy()

    def set_states(self, x: Any) -> None:
        self._x.array[:] = x
        self.do("fmi2SetContinuousStates", self._x.pointer, self._x.size)

    def derivatives(self) -> np.ndarray:
        self.do("fmi2GetDerivatives", self._dx.pointer, self._dx.size)
        return self._dx.array.copy()

    def indicators(self) -> np.ndarray:
        self.do("fmi2GetEventIndicators", self._z.pointer, self._z.size)
        return self._z.array.copy()

    def nominals(self) -> np.ndarray:
        self.do("fmi2GetNominalsOfContinuousStates", self._nominals.pointer, self._nominals.size)
        return self._nominals.array.copy()

    def completed_step(self) -> bool:
        """Whether the FMU asks for event mode."""
        self.do("fmi2CompletedIntegratorStep", 1, byref(self._event), byref(self._end))
        if self._end.value:
            raise HostGaveUp(f"the FMU ends the simulation: {self.said}")
        return bool(self._event.value)

    def event_iteration(self) -> tuple[bool, float]:
        """NewDiscreteStates until nothing changes; whether states changed, and the time of the next time event."""
        changed = False
        for _ in range(EVENT_ITERATIONS):
            self.do("fmi2NewDiscreteStates", byref(self._info))
            if self._info.terminateSimulation:
                raise HostGaveUp(f"the FMU ends the simulation: {self.said}")
            changed |= bool(self._info.valuesOfContinuousStatesChanged)
            if not self._info.newDiscreteStatesNeeded:
                return changed, self._info.nextEventTime if self._info.nextEventTimeDefined else np.inf
        raise HostGaveUp(f"the event iteration has not ended after {EVENT_ITERATIONS} calls of fmi2NewDiscreteStates")

    # --- FMU state ----------------------------------------------------------------------------------------------------

    def save(self, state: c_void_p | None = None) -> c_void_p:
        state = state or c_void_p()
        self.do("fmi2GetFMUstate", byref(state))
        return state

    def load(self, state: c_void_p) -> None:
        self.do("fmi2SetFMUstate", state)

    def forget(self, state: c_void_p) -> None:
        self.do("fmi2FreeFMUstate", byref(state))


class Reals:
    """An array that C writes into."""

    def __init__(self, size: int):
        self.array, self.size = np.zeros(size), size
        self.pointer = self.array.ctypes.data_as(REALS)


class Values:
    """Variables that are read or set together, with one call for each type."""

    def __init__(self, instance: Instance, variables: Iterable[Variable]):
        self.instance, self.variables = instance, list(variables)
        kinds = [CALL[v.kind] for v in self.variables]
        self._parts = [
            _Part(kind, [i for i, k in enumerate(kinds) if k == kind], self.variables) for kind in sorted(set(kinds))
        ]

    @cached_property
    def names(self) -> list[str]:
        return [v.name for v in self.variables]

    def get(self) -> np.ndarray:
        found = np.empty(len(self.variables))
        for part in self._parts:
            self.instance.do(f"fmi2Get{part.kind}", part.references, part.size, part.pointer)
            found[part.places] = part.array
        return found

    def set(self, values: Any) -> None:
        for part in self._parts:
            part.array[:] = [values[i] for i in part.places]
            self.instance.do(f"fmi2Set{part.kind}", part.references, part.size, part.pointer)


class _Part:
    """Those of one type."""

    def __init__(self, kind: str, places: list[int], variables: list[Variable]):
        self.kind, self.places, self.size = kind, places, len(places)
        self._references = np.array([variables[i].reference for i in places], dtype=np.uint32)
        self.references = self._references.ctypes.data_as(REFERENCES)
        self.array: np.ndarray = np.zeros(self.size, dtype=float if kind == "Real" else np.int32)
        self.pointer = self.array.ctypes.data_as(REALS if kind == "Real" else INTEGERS)
