"""Units: any product of SI units and prefixes, as FMI and Modelica write it (N.m/A, kg.m2, 1/(Ohm.s), mm).

    unit    =  factors [ "/" factor | "/(" factors ")" ]          factors  =  factor { "." factor }
    factor  =  [prefix] symbol [exponent], or 1

QUANTITIES gives a unit the name of its FMI type, DISPLAY the display units that people prefer to read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from .errors import UserError, did_you_mean


@dataclass(frozen=True)
class Unit:
    """One unit: value in SI base units = factor * value.

    `display` maps the name of a display unit to its factor: value shown = factor * value.
    """

    name: str
    exponents: Mapping[str, int]  # of kg, m, s, A, K, mol, cd, rad; none of them 0
    factor: float = 1.0
    quantity: str = ""  # the name of its type in an FMU; empty: no type
    display: Mapping[str, float] = field(default_factory=dict)

    @property
    def preferred_display(self) -> str | None:
        return next(iter(self.display), None)


BASE_UNITS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")

PREFIXES = {
    "Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "da": 1,
    "d": -1, "c": -2, "m": -3, "u": -6, "n": -9, "p": -12, "f": -15, "a": -18, "z": -21, "y": -24,
}  # fmt: skip

_PREFIXED: dict[str, tuple[dict[str, int], int]] = {  # exponents of the base units, power of ten
    "m": ({"m": 1}, 0), "g": ({"kg": 1}, -3), "s": ({"s": 1}, 0), "A": ({"A": 1}, 0), "K": ({"K": 1}, 0),
    "mol": ({"mol": 1}, 0), "cd": ({"cd": 1}, 0), "rad": ({"rad": 1}, 0), "sr": ({}, 0), "Hz": ({"s": -1}, 0),
    "N": ({"kg": 1, "m": 1, "s": -2}, 0), "Pa": ({"kg": 1, "m": -1, "s": -2}, 0),
    "J": ({"kg": 1, "m": 2, "s": -2}, 0), "W": ({"kg": 1, "m": 2, "s": -3}, 0),
    "C": ({"s": 1, "A": 1}, 0), "V": ({"kg": 1, "m": 2, "s": -3, "A": -1}, 0),
    "F": ({"kg": -1, "m": -2, "s": 4, "A": 2}, 0), "Ohm": ({"kg": 1, "m": 2, "s": -3, "A": -2}, 0),
    "S": ({"kg": -1, "m": -2, "s": 3, "A": 2}, 0), "Wb": ({"kg": 1, "m": 2, "s": -2, "A": -1}, 0),
    "T": ({"kg": 1, "s": -2, "A": -1}, 0), "H": ({"kg": 1, "m": 2, "s": -2, "A": -2}, 0),
    "lm": ({"cd": 1}, 0), "lx": ({"cd": 1, "m": -2}, 0), "Bq": ({"s": -1}, 0),
    "Gy": ({"m": 2, "s": -2}, 0), "Sv": ({"m": 2, "s": -2}, 0), "kat": ({"mol": 1, "s": -1}, 0),
    "l": ({"m": 3}, -3), "bar": ({"kg": 1, "m": -1, "s": -2}, 5),
}  # fmt: skip

_PLAIN: dict[str, tuple[dict[str, int], float]] = {  # exponents, factor; these take no prefix
    "1": ({}, 1.0),
    "deg": ({"rad": 1}, math.pi / 180.0),
    "rpm": ({"rad": 1, "s": -1}, math.pi / 30.0),
    "min": ({"s": 1}, 60.0),
    "h": ({"s": 1}, 3600.0),
    "d": ({"s": 1}, 86400.0),
}

_DEG = 180.0 / math.pi

QUANTITIES = {
    "s": "Time", "m": "Length", "m/s": "Velocity", "m/s2": "Acceleration", "kg": "Mass", "kg.m2": "MomentOfInertia",
    "rad": "Angle", "rad/s": "AngularVelocity", "rad/s2": "AngularAcceleration", "N": "Force", "N.m": "Torque",
    "N.m/rad": "RotationalStiffness", "N.m.s/rad": "RotationalDamping", "N/m": "Stiffness", "N.s/m": "Damping",
    "kg.m2/s": "AngularMomentum", "1/s": "Rate", "1/s2": "SquaredRate", "J": "Energy", "W": "Power",
    "A": "ElectricCurrent", "V": "Voltage", "C": "ElectricCharge", "Ohm": "Resistance", "H": "Inductance",
    "F": "Capacitance", "Wb": "MagneticFlux", "T": "MagneticFluxDensity", "K": "Temperature", "Pa": "Pressure",
    "Hz": "Frequency", "1": "Ratio",
}  # fmt: skip

DISPLAY = {"rad": {"deg": _DEG}, "rad/s": {"deg/s": _DEG}, "rad/s2": {"deg/s2": _DEG}}


@lru_cache(maxsize=256)
def unit(name: str) -> Unit:
    """Return the unit of this name; UserError if it is not a product of SI units."""
    exponents: dict[str, int] = {}
    ten, factor = 0, 1.0
    for symbol, power in _factors(name):
        base, more, rest = _symbol(symbol, name)
        ten, factor = ten + power * more, factor * rest**power
        for b, e in base.items():
            exponents[b] = exponents.get(b, 0) + power * e
    kept = {b: exponents[b] for b in BASE_UNITS if exponents.get(b)}
    return Unit(name, kept, float(f"1e{ten}") * factor, QUANTITIES.get(name, ""), DISPLAY.get(name, {}))


def per_second(name: str) -> str:
    """Return the unit of a time derivative: J -> W, A -> A/s, N.m/A -> N.m/(A.s)."""
    of = unit(name)
    wanted = {b: e for b in BASE_UNITS if (e := of.exponents.get(b, 0) - (b == "s"))}
    for known in QUANTITIES if of.factor == 1.0 else ():
        if unit(known).exponents == wanted:
            return known
    factors = dict.fromkeys((symbol for symbol, _ in _factors(name)), 0)
    for symbol, power in (*_factors(name), ("s", -1)):
        factors[symbol] = factors.get(symbol, 0) + power
    return _written(factors.items())


def _factors(name: str) -> list[tuple[str, int]]:
    """Symbols with prefixes, and their powers: N.m/A -> (N, 1), (m, 1), (A, -1)."""
    text = name.replace(" ", "")
    above, slash, below = text.partition("/")
    bracket = below.startswith("(") and below.endswith(")")
    if not text:
        raise UserError('a unit is missing: a plain ratio has the unit "1"')
    if re.search(r"[*^·²³]", text):
        raise UserError(f"unit {name}: write products with a dot and powers as a number: N.m, kg.m2, 1/s2")
    if "/" in below or (slash and not bracket and "." in below):
        raise UserError(f"unit {name}: one unit may follow the /, or several in brackets: m/s2, J/(kg.K)")
    found = []
    for part, sign in ((above, 1), (below[1:-1] if bracket else below, -1)):
        for factor in part.split(".") if part or sign == 1 or slash else ():
            match = re.fullmatch(r"([^\W\d]+|1)(-?\d+)?", factor)
            if not match or match[2] in ("0", "-0"):
                wrong_part = f"{factor} is not a unit" if factor else "a symbol is missing"
                raise UserError(f"unit {name}: {wrong_part} (examples: N.m, kg.m2, J/(kg.K), 1/s)")
            found.append((match[1], sign * int(match[2] or 1)))
    return found


def _symbol(symbol: str, name: str) -> tuple[dict[str, int], int, float]:
    """Exponents, power of ten and factor of one symbol, perhaps with a prefix."""
    if symbol in _PLAIN:
        return _PLAIN[symbol][0], 0, _PLAIN[symbol][1]
    if symbol in _PREFIXED:
        return *_PREFIXED[symbol], 1.0
    for prefix, ten in PREFIXES.items():
        rest = symbol.removeprefix(prefix)
        if rest != symbol and rest in _PREFIXED:
            return _PREFIXED[rest][0], _PREFIXED[rest][1] + ten, 1.0
    others = ", ".join(list(_PLAIN)[1:])
    raise UserError(
        f"unit {name}: there is no unit {symbol}{_suggestion(symbol)} (SI units with their prefixes, and {others})"
    )


def _suggestion(symbol: str) -> str:
    """A hint: Nm -> N.m, ohm -> Ohm, degree -> deg."""
    known = [*_PREFIXED, *_PLAIN]
    for candidate in known:
        if candidate.lower() == symbol.lower() or (symbol in "Ωω" and candidate == "Ohm"):
            return f"; did you mean {candidate}?"
    if parts := _split(symbol):
        return f"; did you mean {'.'.join(parts)}?"
    return did_you_mean(symbol, known)


def _split(symbol: str) -> list[str] | None:
    """The fewest symbols that make up this text without dots between them: Nm -> N, m."""
    for end in range(len(symbol), 0, -1):
        head, rest = symbol[:end], symbol[end:]
        if head in _PREFIXED or head in _PLAIN or any(head == p + s for p in PREFIXES for s in _PREFIXED):
            if not rest:
                return [head]
            if tail := _split(rest):
                return [head, *tail]
    return None


def _written(factors: Iterable[tuple[str, int]]) -> str:
    """The text of a unit from its symbols and powers."""
    above = [f"{s}{p if p > 1 else ''}" for s, p in factors if p > 0 and s != "1"]
    below = [f"{s}{-p if p < -1 else ''}" for s, p in factors if p < 0 and s != "1"]
    divisor = f"({'.'.join(below)})" if len(below) > 1 else "".join(below)
    return (".".join(above) or "1") + (f"/{divisor}" if divisor else "")


_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\D.*)")


def split_value(text: str) -> tuple[float, str] | None:
    """Return number and unit of a value such as 30deg or 5 mm; None if it is not a number with a unit."""
    match = _NUMBER.fullmatch(text.strip())
    return (float(match[1]), match[2].strip()) if match else None


def in_unit(text: str, wanted: Unit) -> float:
    """Return a value that may have a unit (0.5, 30deg, 5 mm) as a number in the unit `wanted`.

    ValueError: it is not a number; UserError: its unit does not fit. The radian counts as a base unit, because rpm and
    Hz differ by 2 pi.
    """
    try:
        return float(text)
    except ValueError:
        found = split_value(text)
    if found is None:
        raise ValueError(f"{text} is not a number")
    number, name = found
    given = unit(name)
    if given.exponents != wanted.exponents:
        if not wanted.exponents:
            raise UserError("it has no unit: give a plain number")
        raise UserError(f"{name} does not fit its unit, which is {wanted.name}")
    return number if name == wanted.name else number * (given.factor / wanted.factor)
