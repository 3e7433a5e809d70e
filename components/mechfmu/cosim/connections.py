"""Ports of FMUs, the connections between them, and the units that a connection converts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..model import UserError
from ..model.units import BASE_UNITS

RADIAN = "rad"


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
        exponents = tuple(int(getattr(base, b) or 0) for b in BASE_UNITS)
        return SignalUnit(unit.name, exponents, float(base.factor or 1.0), float(base.offset or 0.0))

    @property
    def dimension(self) -> dict[str, int]:
        """The exponents without that of the radian, which is 1: tools differ in whether they write it.

        OpenModelica does not: rad/s is s^-1, rad has no exponent.
        """
        return {base: e for base, e in zip(BASE_UNITS, self.exponents, strict=False) if e and base != RADIAN}

    @property
    def is_plain_number(self) -> bool:
        """Whether the unit is 1, or has no base units."""
        return not any(self.exponents) and (self.factor, self.offset) == (1.0, 0.0) and self.name != RADIAN


def conversion(source: SignalUnit | None, target: SignalUnit | None) -> tuple[float, float]:
    """Return factor and offset from one unit to the other; ValueError when they measure different things.

    To and from a plain number, values pass unchanged.
    """
    if source is None or target is None or source.is_plain_number or target.is_plain_number:
        return 1.0, 0.0
    if source.dimension == target.dimension:
        return source.factor / target.factor, (source.offset - target.offset) / target.factor
    if not any(source.exponents) or not any(target.exponents):  # a ratio such as percent
        return 1.0, 0.0
    raise ValueError(f"{source.name} cannot be converted to {target.name}")
