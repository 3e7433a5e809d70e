"""The model description as plain data, sent from the checker to the process that runs the FMU."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from ..findings import Finding

Value = float | int | bool | str


@dataclass(frozen=True, eq=False)
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
    items: tuple[int, ...]  # values of an enumeration
    set_once: bool  # canHandleMultipleSetPerTimeInstant is false
    reinit: bool  # a state that events may change
    line: int

    @property
    def where(self) -> str:
        return f'variable "{self.name}"'

    def finding(self, problem: str, expected: str, sentence: str = "", **more: Any) -> Finding:
        """A finding about this variable."""
        return Finding(self.where, problem, expected, sentence=sentence, line=self.line, **more)

    @cached_property
    def scale(self) -> float:
        """Its typical magnitude: nominal, or else the start value."""
        start = abs(self.start) if isinstance(self.start, (int, float)) else 0.0
        return self.nominal or (start if start > 0 else 1.0)

    def inside(self, value: float) -> bool:
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)

    def other_value(self, size: float = 1e-3, value: Value | None = None) -> Value | None:
        """A legal value near `value` (default: the start value) that differs from it, or None if there is none."""
        value = self.start if value is None else value
        if self.type == "String":
            return f"{value or ''} changed, with letters beyond ASCII (Ä, 力) and a space at the end "
        if self.type == "Boolean":
            return not value
        if self.type == "Real":
            step = size * max(self.scale, abs(float(value or 0.0)))
            candidates: tuple[float, ...] = (float(value or 0.0) + step, float(value or 0.0) - step)
        else:
            near = (int(value or 0) + 1, int(value or 0) - 1)
            candidates = self.items or tuple(x for x in near if abs(x) < 1 << 31)  # fmi2Integer has 32 bits
        return next((x for x in candidates if x != value and self.inside(x)), None)


@dataclass(frozen=True)
class UnknownDependencies:
    """An unknown and the indices of the knowns it depends on; None: all knowns."""

    index: int
    on: tuple[int, ...] | None
    line: int
    kinds: tuple[str, ...] | None = None  # dependenciesKind


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
    step_declared: bool  # otherwise it is a choice of the checker
    stop_declared: bool  # likewise
    tolerance: float | None
    before_2_0_3: bool  # generated before that text of the standard
    reference: dict[str, Any] | None  # dict(file, t, signals, inputs)
    resources: bool  # the FMU has a folder resources

    @cached_property
    def by_index(self) -> dict[int, ModelVariable]:
        return {v.index: v for v in self.variables}

    def of(
        self, *causalities: str, types: tuple[str, ...] = ("Real", "Integer", "Boolean", "String")
    ) -> list[ModelVariable]:
        return [v for v in self.variables if v.causality in causalities and v.type in types]

    @cached_property
    def state_positions(self) -> dict[int, int]:
        """Index of the variable of each continuous state -> its position in the state vector."""
        return {index: i for i, index in enumerate(self.states) if index in self.by_index}

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
        return [v for v in self.variables if v.variability != "constant"]

    @cached_property
    def initial_readable(self) -> list[ModelVariable]:
        """The variables that may be read in initialization mode: outputs and InitialUnknowns."""
        listed = {d.index for d in self.initial_unknowns}
        return [v for v in self.variables if v.causality == "output" or v.index in listed]

    def flag(self, kind: str, name: str) -> bool:
        return self.interfaces[kind].get(name, "").strip() in ("true", "1")

    def capable(self, kind: str, flag: str) -> bool:
        """Whether the FMU has this capability, or none is needed; the highest order of derivatives is a number."""
        return not flag or self.interfaces[kind].get(flag, "").strip() not in ("", "0", "false")

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Model:
        known = {f.name: data[f.name] for f in fields(Model)}
        known["variables"] = tuple(ModelVariable(*v) for v in data["variables"])
        for name in ("outputs", "derivatives", "initial_unknowns"):
            known[name] = tuple(UnknownDependencies(*d) for d in data[name])
        for name in ("states", "categories"):
            known[name] = tuple(data[name])
        return Model(**known)
