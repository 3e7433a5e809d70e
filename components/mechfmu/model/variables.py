"""The table of a mechanism's variables.

A row stands for a scalar or for an array of like scalars: `Row("tau", "joint[{k}].torque", "input", size=3)` is u.tau
in the equations and joint[1..3].torque in the FMU. Engines, modelDescription, documentation, plots and error messages
read this table; nothing else lists the variables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Literal, get_args

import numpy as np

from .errors import Mistake, UserError, did_you_mean
from .units import per_second, unit

Role = Literal["parameter", "constant", "input", "state", "discrete", "output", "derivative"]
Kind = Literal["Real", "Integer", "Boolean"]
Start = float | Sequence[float]


@dataclass(frozen=True)
class Row:
    """One row of the table.

    symbol       its name in the equations, as in the specification
    name         its name in the FMU; `{k}` counts from 1; or the names of all elements
    role         parameter, input, state (also an output), discrete (discrete state, also an output), output;
                 the table itself adds the derivatives of the states, and makes a parameter a constant
    unit         a product of SI units (N.m/A, mm), "1" for a ratio; every Real row has one
    size         None: a scalar; otherwise the number of elements
    start        parameters and inputs only: the default, one for all or one per element
    min, max     inclusive limits; `above` is an exclusive lower limit
    items        names of the values 1, 2, ... of an Integer (not an Enumeration, which some hosts cannot set)
    """

    symbol: str
    name: str | tuple[str, ...]
    role: Role
    description: str
    unit: str = ""
    size: int | None = None
    start: Start = 0.0
    min: float | None = None
    max: float | None = None
    above: float | None = None
    nominal: float | None = None
    kind: Kind = "Real"
    items: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the row here, where the traceback leads to the line in which it is written."""
        if self.role not in get_args(Role):
            hint = did_you_mean(self.role, get_args(Role))
            roles = "parameter, input, state, discrete, output"
            raise Mistake(f"{self.symbol}: there is no role {self.role}{hint} (roles: {roles})")
        if self.kind not in get_args(Kind):
            hint = did_you_mean(self.kind, get_args(Kind))
            raise Mistake(f"{self.symbol}: there is no kind {self.kind}{hint} (kinds: {', '.join(get_args(Kind))})")
        if not self.unit and self.kind == "Real":
            raise Mistake(f"{self.symbol}: {self._missing()}")
        try:
            object.__setattr__(self, "unit", unit(self.unit or "1").name)
            self.starts()
            self.names()
        except UserError as error:
            raise Mistake(f"{self.symbol}: {error}") from None
        except TypeError:
            allowed = "a number, or a number for each element"
            raise Mistake(f"{self.symbol}: start = {self.start!r}: must be {allowed}") from None

    def _missing(self) -> str:
        with suppress(UserError):
            return f"its description is missing before the unit {unit(self.description).name}"
        return 'its unit is missing: write it after the description, "1" for a ratio'

    @property
    def count(self) -> int:
        return 1 if self.size is None else self.size

    def names(self) -> list[str]:
        if isinstance(self.name, tuple):
            if len(self.name) != self.count:
                raise Mistake(f"{self.symbol}: {len(self.name)} names for {self.count} elements")
            return list(self.name)
        return [self.name.format(k=i + 1) for i in range(self.count)]

    def starts(self) -> list[float]:
        if isinstance(self.start, str):
            raise TypeError
        if isinstance(self.start, (int, float)):
            return [float(self.start)] * self.count
        if len(self.start) != self.count:
            raise Mistake(f"{self.symbol}: {len(self.start)} start values for {self.count} elements")
        return [float(s) for s in self.start]


@dataclass(frozen=True)
class Scalar:
    """One element of a row: a ScalarVariable of the FMU."""

    name: str
    description: str
    row: Row
    index: int  # position in the flat vector of its row's role
    start: float
    constant: bool = False  # a parameter whose value is part of the equations; it keeps its place in the flat vector

    @property
    def role(self) -> Role:
        return "constant" if self.constant else self.row.role

    @property
    def unit(self) -> str:
        return self.row.unit

    def violation(self, value: float) -> str | None:
        """Return why `value` is not allowed, or None."""
        row = self.row
        unit = "" if row.unit == "1" else f" {row.unit}"
        if not math.isfinite(value):
            return f"{self.name} = {value}: must be a finite number"
        if row.kind != "Real" and not float(value).is_integer():
            return f"{self.name} = {value:g}: must be a whole number"
        if row.above is not None and value <= row.above:
            return f"{self.name} = {value:g}{unit}: must be greater than {row.above:g}"
        if row.min is not None and value < row.min:
            return f"{self.name} = {value:g}{unit}: must be at least {row.min:g}"
        if row.max is not None and value > row.max:
            return f"{self.name} = {value:g}{unit}: must be at most {row.max:g}"
        return None


class MissingPart(Mistake, AttributeError):
    """A symbol that is not in the table."""


class Parts(SimpleNamespace):
    """Parts of a flat vector by their symbols."""

    def __getattr__(self, symbol: str) -> Any:
        hint, symbols = did_you_mean(symbol, vars(self)), ", ".join(vars(self)) or "nothing"
        raise MissingPart(f"there is no {symbol} in this part of the table{hint} (it has: {symbols})")


class Layout:
    """The positions of the rows of one role in a flat vector: call it to name the parts, `pack` to join them."""

    def __init__(self, rows: Sequence[Row]):
        self.rows = tuple(rows)
        self._parts: dict[str, tuple[Row, slice]] = {}
        position = 0
        for row in rows:
            if row.symbol in self._parts:
                raise Mistake(f"there are two rows {row.symbol} of the role {row.role}: each needs a symbol of its own")
            self._parts[row.symbol] = (row, slice(position, position + row.count))
            position += row.count
        self.size = position

    def __call__(self, flat: Any) -> Parts:
        """Return the parts of a flat vector by their symbols: scalars as scalars, arrays as slices."""
        return Parts(
            **{
                symbol: flat[where.start] if row.size is None else flat[where]
                for symbol, (row, where) in self._parts.items()
            }
        )

    def pack(self, **values: Any) -> Any:
        """Return the flat vector of its named parts; every part must be given."""
        takes = f"(it takes: {', '.join(self._parts)})"
        for symbol in values:
            if symbol not in self._parts:
                hint = did_you_mean(symbol, self._parts)
                raise Mistake(f"pack: there is no {symbol} in this part of the table{hint} {takes}")
        if missing := [symbol for symbol in self._parts if symbol not in values]:
            raise Mistake(f"pack: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing {takes}")
        for symbol, value in values.items():
            count = self._parts[symbol][0].count
            if not isinstance(value, (list, tuple)) and np.size(value) != count:
                raise Mistake(f"pack: {symbol} has {np.size(value)} elements instead of {count}")
        if not values:
            return np.zeros(0)
        return np.concatenate([np.reshape(values[symbol], (row.count,)) for symbol, (row, _) in self._parts.items()])

    def part(self, symbol: str) -> slice:
        return self._parts[symbol][1]


def _der(name: str | tuple[str, ...]) -> str | tuple[str, ...]:
    return f"der({name})" if isinstance(name, str) else tuple(f"der({n})" for n in name)


class Table:
    """All rows of a mechanism, their scalars and their layouts. constants: values of parameters that are constant."""

    def __init__(self, rows: Sequence[Row], constants: Mapping[str, float] | None = None):
        self.rows = tuple(rows)
        self._constants = constants or {}
        self.p = Layout([r for r in rows if r.role == "parameter"])
        self.u = Layout([r for r in rows if r.role == "input"])
        self.x = Layout([r for r in rows if r.role == "state"])
        self.d = Layout([r for r in rows if r.role == "discrete"])
        self.y = Layout([r for r in rows if r.role == "output"])
        names = [s.name for s in self.scalars]
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise Mistake(f"two variables have the name {twice}: names must differ")

    @cached_property
    def scalars(self) -> tuple[Scalar, ...]:
        """Every scalar in the order of the FMU: its position is its value reference.

        Parameters, inputs, then states and outputs in the order of the table, then the derivatives of the states.
        """
        ranks = {"parameter": 0, "input": 1}
        rows = sorted(self.rows, key=lambda r: ranks.get(r.role, 2))  # sorted() is stable
        derivatives = [
            replace(r, symbol=f"der_{r.symbol}", name=_der(r.name), role="derivative", unit=per_second(r.unit),
                    description=f"rate of: {r.description}", nominal=None, min=None, max=None, above=None)
            for r in rows if r.role == "state"
        ]  # fmt: skip
        return tuple(s for row in (*rows, *derivatives) for s in self._expand(row))

    def _expand(self, row: Row) -> Iterator[Scalar]:
        layouts: dict[Role, Layout] = {"parameter": self.p, "input": self.u, "state": self.x, "derivative": self.x}
        layouts |= {"discrete": self.d, "output": self.y}
        first = layouts[row.role].part(row.symbol.removeprefix("der_")).start
        for i, (name, start) in enumerate(zip(row.names(), row.starts(), strict=True)):
            constant = name in self._constants
            value = self._constants[name] if constant else start
            yield Scalar(name, row.description.format(k=i + 1, j=i), row, first + i, value, constant)

    @cached_property
    def by_name(self) -> Mapping[str, Scalar]:
        return {s.name: s for s in self.scalars}

    def of(self, *roles: Role) -> list[Scalar]:
        return [s for s in self.scalars if s.role in roles]

    def defaults(self, role: Role) -> np.ndarray:
        """The start values of a flat vector, constants included."""
        scalars = sorted((s for s in self.scalars if s.row.role == role), key=lambda s: s.index)
        return np.array([s.start for s in scalars], dtype=float)
