"""A mass that falls on the ground, by power series with 40 digits: the law of the ground, integrated independently.

Above the ground the mass flies, s = v t - g t^2 / 2. In it, with the depth y and its rate u, the law is a polynomial,

    y' = u ,   u' = g - k / m  y^2 (1 + d u)

so the coefficients of the series of y and u follow from those before them by products of series.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext

DIGITS, TERMS = 40, 32
STEP = Decimal("0.001")  # s; a series of 32 terms has converged there if the contact takes some milliseconds

Series = list[Decimal]


@dataclass(frozen=True)
class Fall:
    """Gravity, stiffness over mass, damping; the mass starts at rest in this height."""

    g: Decimal
    k: Decimal
    d: Decimal
    height: Decimal


def heights(fall: Fall, times: Sequence[Decimal]) -> list[float]:
    """Height above the ground, negative in it, at these rising times."""
    with localcontext() as context:
        context.prec = DIGITS
        pieces, found = _pieces(fall), []
        begin, end, series = next(pieces)
        for t in times:
            while t > end:
                begin, end, series = next(pieces)
            found.append(float(_value(series, t - begin)))
    return found


def _pieces(fall: Fall) -> Iterator[tuple[Decimal, Decimal, Series]]:
    """Times from and to, and the series of the height between them."""
    t, speed, height = Decimal(0), Decimal(0), fall.height
    while True:
        flight = (speed + (speed * speed + 2 * fall.g * height).sqrt()) / fall.g
        yield t, t + flight, [height, speed, -fall.g / 2]
        t, y, u, height = t + flight, Decimal(0), fall.g * flight - speed, Decimal(0)
        while True:
            depth = _depth_series(fall, y, u)
            step = STEP if _value(depth, STEP) > 0 else _leaving_time(depth)
            yield t, t + step, [-a for a in depth]
            t, y, u = t + step, _value(depth, step), _value(_derivative(depth), step)
            if step != STEP:
                break
        speed = -u


def _depth_series(fall: Fall, y: Decimal, u: Decimal) -> Series:
    depth, rate = [y], [u]
    square: Series = []
    for n in range(TERMS):
        square.append(_product(depth, depth, n))
        force = _product(square, [1 + fall.d * rate[0], *(fall.d * b for b in rate[1:])], n)
        depth.append(rate[n] / (n + 1))
        rate.append(((fall.g if n == 0 else 0) - fall.k * force) / (n + 1))
    return depth


def _product(a: Series, b: Series, n: int) -> Decimal:
    return sum((a[i] * b[n - i] for i in range(n + 1)), Decimal(0))


def _value(series: Series, t: Decimal) -> Decimal:
    value = Decimal(0)
    for a in reversed(series):
        value = value * t + a
    return value


def _derivative(series: Series) -> Series:
    return [n * a for n, a in enumerate(series)][1:]


def _leaving_time(depth: Series) -> Decimal:
    """By Newton's method, from the end of the step."""
    t, rate = STEP, _derivative(depth)
    for _ in range(50):
        t -= _value(depth, t) / _value(rate, t)
    return t
