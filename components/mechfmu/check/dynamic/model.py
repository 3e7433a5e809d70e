"""The model description as plain data, sent from the checker to the process that runs the FMU."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from ..findings import Finding

Value = float | int | bool | str


@dataclass(frozen=True)
class ModelVariable:
    """A variable. `type` is the type of its C functions: an Enumeration is an Integer."""

    index: int
    name: str
    reference: int
    type: str
    causality: str
    variability: str
    initial: str | None
    start: Value | None
    min: float | None
    max: float | None
    nominal: float | None
    line: int

    @property
    def where(self) -> str:
        return f'variable "{self.name}"'

    def finding(self, problem: str, expected: str, severity: str = "") -> Finding:
        """A finding about this variable."""
        return Finding(self.where, problem, expected, line=self.line, severity=severity)

    @property
    def scale(self) -> float:
        """Its typical magnitude: nominal, or else the start value."""
        start = abs(self.start) if isinstance(self.start, (int, float)) else 0.0
        return self.nominal or (start if start > 0 else 1.0)

    def inside(self, value: float) -> bool:
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)


@dataclass(frozen=True)
class UnknownDependencies:
    """An unknown and the indices of the knowns it depends on; None: all knowns."""

    index: int
    on: tuple[int, ...] | None
    line: int


@dataclass(frozen=True)
class Model:
    """The parts of the model description that the dynamic rules use."""

    guid: str
    interfaces: dict[str, dict[str, str]]
    variables: tuple[ModelVariable, ...]
    outputs: tuple[UnknownDependencies, ...]
    derivatives: tuple[UnknownDependencies, ...]
    initial_unknowns: tuple[UnknownDependencies, ...]
    states: tuple[int, ...]  # indices of the states, in the order of the derivatives
    indicators: int
    categories: tuple[str, ...]
    start_time: float
    stop_time: float
    step_size: float
    tolerance: float | None
    reference: dict[str, Any] | None  # dict(file, t, signals, inputs)

    @cached_property
    def by_index(self) -> dict[int, ModelVariable]:
        return {v.index: v for v in self.variables}

    def of(
        self, *causalities: str, types: tuple[str, ...] = ("Real", "Integer", "Boolean", "String")
    ) -> list[ModelVariable]:
        return [v for v in self.variables if v.causality in causalities and v.type in types]

    @cached_property
    def independent(self) -> ModelVariable | None:
        return next(iter(self.of("independent", types=("Real",))), None)

    @cached_property
    def signals(self) -> list[ModelVariable]:
        """Real outputs, states and derivatives; if there are none, the continuous local variables."""
        wanted = {d.index for d in (*self.outputs, *self.derivatives)} | set(self.states)
        found = [v for v in self.variables if v.index in wanted and v.type == "Real"]
        return (found or [v for v in self.of("local") if v.type == "Real" and v.variability == "continuous"])[:500]

    @cached_property
    def everything(self) -> list[ModelVariable]:
        """All variables except constants."""
        return [v for v in self.variables if v.variability != "constant"][:2000]

    def flag(self, kind: str, name: str) -> bool:
        return self.interfaces[kind].get(name, "").strip() in ("true", "1")

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Model:
        known = {f.name: data[f.name] for f in fields(Model)}
        known["variables"] = tuple(ModelVariable(**v) for v in data["variables"])
        for name in ("outputs", "derivatives", "initial_unknowns"):
            known[name] = tuple(
                UnknownDependencies(d["index"], None if d["on"] is None else tuple(d["on"]), d["line"])
                for d in data[name]
            )
        for name in ("states", "categories"):
            known[name] = tuple(data[name])
        return Model(**known)
