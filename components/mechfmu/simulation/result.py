"""The result of a simulation: time and named signals with units."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic_file import atomic_write
from ..model import Mechanism, UserError, did_you_mean
from ..model.extras import require
from ..model.mechanism import look_up
from ..model.units import unit as unit_of
from .scene import MissingMechanism, Scene

TABLES = (".csv", ".parquet", ".mat")


def check_table_file(file: str | Path) -> None:
    """UserError when results cannot be written into files of this kind."""
    if Path(file).suffix not in TABLES:
        raise UserError(f"cannot write {file}: the file must end in {' or '.join(TABLES)}")
    if Path(file).suffix == ".parquet":
        require("pyarrow")


@dataclass(frozen=True)
class DisplayUnit:
    """The unit in which a signal is displayed: displayed value = factor * value + offset, in `unit`."""

    unit: str = ""
    factor: float = 1.0
    offset: float = 0.0
    own: str = ""  # the unit of the value itself, if it is another one


def display_unit(unit: str) -> DisplayUnit:
    """The display unit of signals in a unit of mechfmu."""
    display = unit_of(unit).preferred_display
    if display:
        return DisplayUnit(display, unit_of(unit).display[display], own=unit)
    return DisplayUnit("" if unit == "1" else unit)


@dataclass(frozen=True)
class Result:
    """The result of a simulation: `result.t` has the times, `result["tip.x"]` a signal, in SI units."""

    title: str  # of plots and pages
    t: np.ndarray  # s
    signals: Mapping[str, np.ndarray]  # by name
    shown: Mapping[str, DisplayUnit]  # display units of the signals
    constants: Mapping[str, float] = field(default_factory=dict)  # parameters, and inputs that did not change
    mechanism: Mechanism | Scene | MissingMechanism | None = None  # to be drawn
    inputs: Mapping[str, np.ndarray] = field(default_factory=dict)  # Real inputs of the run

    def __repr__(self) -> str:
        end = f" to t = {self.t[-1]:g} s" if len(self.t) else ""
        return f"<Result of {self.title}: {len(self.t)} points{end}, {len(self.signals)} signals>"

    @property
    def names(self) -> list[str]:
        """The names of all signals."""
        return list(self.signals)

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self.signals[name]
        except KeyError:
            raise UserError(f"the result has no signal {name}{did_you_mean(name, self.signals)}") from None

    def at(self, i: int) -> Callable[[str], float]:
        """Return a function that gives the value of a variable at sample i, inputs and parameters included."""
        series = {**self.inputs, **self.signals}
        return lambda name: float(series[name][i]) if name in series else float(look_up(self.constants, name))

    def until(self, t: float) -> Result:
        """Return the part of the result up to time t."""
        keep = self.t <= t
        signals, inputs = ({n: s[keep] for n, s in series.items()} for series in (self.signals, self.inputs))
        return replace(self, t=self.t[keep], signals=signals, inputs=inputs)

    def to_csv(self, file: str | Path) -> Path:
        """Write time and all signals, in SI units, with enough digits to read back the same numbers."""
        path = Path(file)
        with atomic_write(path) as target, target.open("w", newline="", encoding="utf-8") as stream:
            rows = csv.writer(stream, lineterminator="\n")
            rows.writerow(["time", *self.names])
            rows.writerows([repr(float(v)) for v in row] for row in zip(self.t, *self.signals.values(), strict=True))
        return path

    def save(self, file: str | Path) -> Path:
        """Write time and all signals as .csv, .parquet, or .mat.

        .mat (MATLAB, Octave): names become legal identifiers; the variable `names` has the original ones.
        """
        path = Path(file)
        check_table_file(path)
        if path.suffix == ".csv":
            return self.to_csv(path)
        columns = {"time": self.t, **self.signals}
        with atomic_write(path) as target:
            if path.suffix == ".parquet":
                pyarrow, parquet = _pyarrow()
                parquet.write_table(pyarrow.table(columns), target)
            else:
                from scipy.io import savemat

                legal = {re.sub(r"\W+", "_", name).strip("_"): values for name, values in columns.items()}
                savemat(target, {**legal, "names": np.array(list(columns), dtype=object)}, long_field_names=True)
        return path


def _pyarrow() -> tuple[Any, Any]:
    require("pyarrow")
    import pyarrow
    from pyarrow import parquet

    return pyarrow, parquet
