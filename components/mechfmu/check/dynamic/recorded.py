"""Inputs from a file, for runs that are compared with a reference result."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from .instance import Excitation
from .model import ModelVariable, Value

ROUNDING = 1e-10  # relative, of times that were added up


class RecordedInputs:
    """Inputs as functions of time: those that are continuous are interpolated between the rows, the others are
    constant. Two rows with nearly the same time are a jump."""

    def __init__(self, table: Mapping[str, Sequence[float]], variables: Mapping[str, ModelVariable]):
        self.times = table["time"]
        self.columns = {variables[name]: column for name, column in table.items() if name != "time"}
        self._near = ROUNDING * max(abs(self.times[0]), abs(self.times[-1]))

    def __call__(self, t: float) -> dict[ModelVariable, Value]:
        """All inputs; at a jump those after it."""
        row = self._row(t)
        return {v: self._value(v, row, t) for v in self.columns}

    def continuous_until(self, end: float) -> Excitation:
        """The continuous inputs; at the end those before a jump."""
        continuous = [v for v in self.columns if _interpolated(v)]
        last = max(0, bisect_left(self.times, end - self._near) - 1)  # the row before the end
        return lambda t: {v: self._value(v, min(self._row(t), last), t) for v in continuous}

    @property
    def jumps(self) -> list[float]:
        """The times at which an input is not continuous."""
        found = []
        for i, (a, b) in enumerate(itertools.pairwise(self.times)):
            changed = [v for v, column in self.columns.items() if column[i] != column[i + 1]]
            if any(b - a <= self._near or not _interpolated(v) for v in changed):
                found.append(b)
        return found

    @property
    def steps(self) -> list[float]:
        """The times of the rows; of a jump, the second row."""
        return [a for a, b in itertools.pairwise(self.times) if b - a > self._near]

    def merged(self, times: Sequence[float], further: Sequence[float]) -> list[float]:
        """These times, and further ones between them."""
        low, high = self._near + times[0], times[-1] - self._near
        return sorted([*times, *(t for t in further if low < t < high and not self.among(t, times))])

    def among(self, t: float, times: Sequence[float]) -> bool:
        """Whether this time is one of these, but for rounding."""
        i = bisect_left(times, t - self._near)
        return i < len(times) and times[i] <= t + self._near

    def _row(self, t: float) -> int:
        return max(0, bisect_right(self.times, t + self._near) - 1)

    def _value(self, v: ModelVariable, row: int, t: float) -> Value:
        column, following = self.columns[v], min(row + 1, len(self.times) - 1)
        if v.type != "Real":
            return int(column[row])
        if not _interpolated(v) or following == row:
            return column[row]
        part = min(max((t - self.times[row]) / (self.times[following] - self.times[row]), 0.0), 1.0)
        return column[row] + part * (column[following] - column[row])


def _interpolated(v: ModelVariable) -> bool:
    return v.type == "Real" and v.variability == "continuous"
