"""The values of many variables at one instant, and the differences between two runs. All variables of a type are read
in one call, and values become Python objects only where the bytes differ."""

from __future__ import annotations

import math
import re
from array import array as packed
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from ..findings import Finding, Plot
from . import binding
from .binding import DISCARD, WARNING
from .instance import INITIALIZATION, INSTANTIATED, TYPES, FmuInstance, IllegalCall, NotJudged, empty_array, same
from .model import ModelVariable, Value

SMALLEST = 1e-6  # of a variable's scale: differences are compared with at least this size
EXACT = 1e-9  # relative difference of results that the same calculation gave
CODES = {"Real": "d", "Integer": "i", "Boolean": "i"}
Part = bytes | tuple[bytes | None, ...]


class Reader:
    """Reads the same variables again and again."""

    def __init__(self, variables: Sequence[ModelVariable]):
        self.variables = list(variables)
        self._groups = []
        for kind in TYPES:
            group = [v for v in variables if v.type == kind]
            if group:
                self._groups.append((kind, group, binding.references([v.reference for v in group])))

    def read(self, instance: FmuInstance) -> ValueSnapshot:
        """The present values. Raises NotJudged if a Model Exchange FMU discards the evaluation, which it may do."""
        self._check_legal(instance)
        parts: list[Part] = []
        for kind, group, references in self._groups:
            values = empty_array(kind, len(group))
            status = instance.call(f"fmi2Get{kind}", references, len(group), values)
            if status == DISCARD and kind == "Real" and instance.kind == "ModelExchange":
                raise NotJudged(f"the FMU discards fmi2GetReal at t = {instance.t:g}")
            if status not in (0, WARNING):
                raise instance.failure(f"fmi2Get{kind}", status)
            parts.append(tuple(values) if kind == "String" else bytes(values))
        return ValueSnapshot(self, instance.t, tuple(parts))

    def _check_legal(self, instance: FmuInstance) -> None:
        if instance.must_step or instance.state == INSTANTIATED:
            raise IllegalCall(f"reading in the state {instance.state}")
        if instance.state == INITIALIZATION and not set(self.variables) <= set(instance.model.initial_readable):
            raise IllegalCall("reading a variable that is not in InitialUnknowns in initialization mode")

    def unpack(self, parts: Sequence[Part]) -> Iterator[tuple[ModelVariable, Value]]:
        for (kind, group, _), part in zip(self._groups, parts, strict=True):
            yield from zip(group, _values(kind, part), strict=True)


@dataclass(frozen=True)
class ValueSnapshot:
    """The values of the reader's variables at one instant."""

    reader: Reader
    t: float
    parts: tuple[Part, ...]

    def values(self) -> dict[ModelVariable, Value]:
        return dict(self.reader.unpack(self.parts))

    def differences(self, other: ValueSnapshot) -> Iterator[tuple[ModelVariable, Value, Value]]:
        """The variables whose values differ, with the value here and there."""
        if self.parts == other.parts:
            return
        pairs = zip(self.reader.unpack(self.parts), self.reader.unpack(other.parts), strict=True)
        for (v, x), (_, y) in pairs:
            if not same(x, y):
                yield v, x, y


def _values(kind: str, part: Any) -> Sequence[Value]:
    if kind == "String":
        return ["" if text is None else text.decode(errors="replace") for text in part]
    numbers = packed(CODES[kind])
    numbers.frombytes(part)
    return [bool(x) if x in (0, 1) else x for x in numbers] if kind == "Boolean" else numbers


def close(x: Value, y: Value, tolerance: float, size: float) -> bool:
    """Whether two values are equal within a tolerance relative to `size` and to themselves."""
    if same(x, y):
        return True
    if isinstance(x, (str, bool)) or isinstance(y, (str, bool)) or not isinstance(x, float):
        return False
    if not (math.isfinite(x) and math.isfinite(y)):
        return False
    return abs(x - y) <= tolerance * max(size, abs(x), abs(y))


@dataclass(frozen=True)
class Comparison:
    """What two runs are, and what it means if they differ."""

    problem: str
    sentence: str
    labels: tuple[str, str]
    tolerance: float = EXACT  # a smaller difference is not an error, but reported as a warning
    ignored: AbstractSet[ModelVariable] = frozenset()

    def findings(self, expected: Sequence[ValueSnapshot], found: Sequence[ValueSnapshot]) -> Iterator[Finding]:
        """One for each variable that differs, in the order in which they begin to differ."""
        first: dict[ModelVariable, tuple[int, Value, Value]] = {}
        for row, (ours, theirs) in enumerate(zip(expected, found, strict=False)):
            for v, x, y in ours.differences(theirs):
                known = first.get(v)
                if v in self.ignored or (known is not None and not close(known[1], known[2], *self._limits(v))):
                    continue
                if known is None or not close(x, y, *self._limits(v)):
                    first[v] = (row, x, y)
        shown = False
        tiny = {v: close(x, y, *self._limits(v)) for v, (_, x, y) in first.items()}
        for v, (row, x, y) in sorted(first.items(), key=lambda item: item[1][0]):
            small = tiny[v]
            if small and not all(tiny.values()):
                continue  # a consequence of the greater ones
            plot = None if shown or small else self._plot(v, expected, found)
            shown = shown or plot is not None
            text = f"{self.problem}: at t = {expected[row].t:g} it is {y!r}, not {x!r}"
            wanted = "the same value, to the last bit" if small else "the same value"
            cause = re.sub(r" \([^)]*\)", "", self.problem)  # without the state in which it was found
            yield v.finding(text, wanted, "" if small else self.sentence, plot=plot, cause=cause)

    def _limits(self, v: ModelVariable) -> tuple[float, float]:
        return self.tolerance, SMALLEST * v.scale if isinstance(v.start, (float, type(None))) else SMALLEST

    def _plot(self, v: ModelVariable, expected: Sequence[ValueSnapshot], found: Sequence[ValueSnapshot]) -> Plot | None:
        rows = list(zip(expected, found, strict=False))
        if len(rows) < 2 or v.type == "String" or len(rows) * len(expected[0].reader.variables) > 500_000:
            return None
        times = tuple(ours.t for ours, _ in rows)
        lines = [tuple(float(pair[i].values()[v]) for pair in rows) for i in (0, 1)]
        return Plot(v.name, times, {self.labels[0]: lines[0], self.labels[1]: lines[1]})


def varying(expected: Sequence[ValueSnapshot], found: Sequence[ValueSnapshot]) -> set[ModelVariable]:
    """The variables that differ between two runs."""
    return {v for ours, theirs in zip(expected, found, strict=False) for v, _, _ in ours.differences(theirs)}
