"""The result of a simulation: time, named signals with units, and ways to look at them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..mechanisms import Mechanism, UserError, near
from ..mechanisms.units import UNITS


@dataclass(frozen=True)
class Shown:
    """How a signal is shown to a person: shown value = factor * value + offset, in `unit`."""

    unit: str = ""
    factor: float = 1.0
    offset: float = 0.0


def shown(unit: str) -> Shown:
    """How signals of one of our own units are shown."""
    display = UNITS[unit].preferred_display
    return Shown(display, UNITS[unit].display[display]) if display else Shown("" if unit == "1" else unit)


@dataclass(frozen=True)
class Result:
    """`result.t`, `result["tip.x"]`, `result.names`; `plot`, `animate`, `to_csv`."""

    title: str
    t: np.ndarray
    signals: Mapping[str, np.ndarray]
    shown: Mapping[str, Shown]
    constants: Mapping[str, float] = field(default_factory=dict)
    mechanism: Mechanism | None = None

    @property
    def names(self) -> list[str]:
        return list(self.signals)

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self.signals[name]
        except KeyError:
            raise UserError(f"the result has no signal {name}{near(name, self.signals)}") from None

    def at(self, i: int) -> Callable[[str], float]:
        """The values of sample i by name, parameters included."""
        return lambda name: float(self.signals[name][i]) if name in self.signals else float(self.constants[name])

    def to_csv(self, file: str | Path) -> Path:
        """Write time and all signals, in SI units, with enough digits to read back the same numbers."""
        path = Path(file)
        try:
            with path.open("w", newline="", encoding="utf-8") as stream:
                rows = csv.writer(stream, lineterminator="\n")
                rows.writerow(["time", *self.names])
                rows.writerows([repr(float(v)) for v in row] for row in zip(self.t, *self.signals.values(), strict=True))
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror or error}") from None
        return path

    def plot(self, names: Sequence[str] | None = None, file: str | Path | None = None) -> Any:
        """Draw signals over time, one panel per unit; into a file (png, svg, pdf), or on the screen."""
        from .plot import plot

        return plot(self, names, file)

    def animate(self, file: str | Path | None = None, fps: float = 25.0, speed: float = 1.0) -> Any:
        """Draw the mechanism moving; into a file (gif, html), or on the screen."""
        from .animate import animate

        return animate(self, file, fps, speed)
