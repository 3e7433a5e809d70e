"""Derivatives along a curve by automatic differentiation: truncated Taylor series as arguments of plain NumPy code.

A Jet stands for  a(tau) = a_0 + a_1 tau + ... + a_n tau^n  up to terms of higher order; with a_0 alone it is a
constant. Every NumPy function it meets is applied to the whole series, so evaluating f on q + q' tau gives f and its
derivative along q', and with a third coefficient the second (times 1/2):

    f(Jet((q, dq, ddq / 2))).c  =  (f, f', f''/2)

The coefficients are whatever the equations are evaluated with, numbers or an engine's symbols, so the derivatives
belong to the same graph as the equations. Products follow Cauchy's rule (1); a function g is integrated from its own
derivative (2), which is a function one order lower:

    (a b)_k = sum_i a_i b_{k-i}                                                                          (1)
    g(a)' = g'(a) a'      hence      k g(a)_k = sum_i i a_i g'(a)_{k-i}                                  (2)

An engine's symbol does not support jets, so in `symbol * jet` the symbol must be made a
`constant` first; numbers need not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

Array = Any


class Jet(NDArrayOperatorsMixin):
    """A truncated Taylor series with array coefficients `c`."""

    def __init__(self, coefficients: tuple[Array, ...]):
        self.c = coefficients

    def __repr__(self) -> str:
        return f"Jet({self.c})"

    def __getitem__(self, where: Any) -> Jet:
        return Jet(tuple(c[where] for c in self.c))

    def __len__(self) -> int:
        return len(self.c[0])

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        if function in COMPARISONS:
            return constant(function(*(_jet(a).c[0] for a in inputs)))
        if function in FUNCTIONS:
            return FUNCTIONS[function](*(_jet(a) for a in inputs))
        return _composed(function, _jet(inputs[0])) if function in DERIVATIVES else NotImplemented

    def __array_function__(self, function: Any, types: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if function is np.where:
            condition, a, b = inputs
            return _chosen(_jet(condition).c[0], _jet(a), _jet(b))
        return _linear(function, inputs, options) if function in LINEAR else NotImplemented


def constant(value: Array) -> Jet:
    """A value that does not change along the curve."""
    return Jet((value,))


def constants(values: Any) -> Any:
    """The same named tuple with constants in place of values."""
    return type(values)(*map(constant, values))


def time_jet(t: Array, order: int) -> Jet:
    """Time along the curve, t + tau."""
    return Jet((t, 1.0, *(0.0,) * (order - 1)))


def coefficient(value: Array, k: int) -> Array:
    """Coefficient k of a jet; of a value that no jet went into, zero for k > 0."""
    c = _jet(value).c
    return c[k] if k < len(c) else 0.0 * c[0]


def _jet(value: Array) -> Jet:
    return value if isinstance(value, Jet) else Jet((value,))


def _count(a: Jet, b: Jet) -> int:
    """Number of coefficients of a result of both.

    Two series truncated at different orders do not fit: the shorter one lacks coefficients.
    """
    counts = {len(a.c), len(b.c)} - {1}
    if len(counts) > 1:
        raise ValueError(f"jets of different orders: {sorted(n - 1 for n in counts)}")
    return counts.pop() if counts else 1


def _sum(terms: list[Array]) -> Array:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _bilinear(product: Callable[[Array, Array], Array]) -> Callable[[Jet, Jet], Jet]:
    def multiply(a: Jet, b: Jet) -> Jet:
        pairs = [[(i, k - i) for i in range(k + 1) if i < len(a.c) and k - i < len(b.c)] for k in range(_count(a, b))]
        return Jet(tuple(_sum([product(a.c[i], b.c[j]) for i, j in each]) for each in pairs))  # (1)

    return multiply


def _added(a: Jet, b: Jet) -> Jet:
    return Jet(tuple(coefficient(a, k) + coefficient(b, k) for k in range(_count(a, b))))


def _divided(a: Jet, b: Jet) -> Jet:
    """c b = a solved for c, coefficient by coefficient."""
    c: list[Array] = []
    for k in range(_count(a, b)):
        terms = [-b.c[i] * c[k - i] for i in range(1, k + 1) if i < len(b.c)]
        c.append(_sum([a.c[k], *terms] if k < len(a.c) else terms) / b.c[0])
    return Jet(tuple(c))


def _power(a: Any, exponent: Jet) -> Jet:
    (n,) = exponent.c
    if isinstance(n, (int, float, np.number)) and n >= 1 and float(n).is_integer():
        return a if n == 1 else a * _power(a, Jet((n - 1,)))
    result: Jet = np.exp(n * np.log(a))
    return result


def _chosen(condition: Array, a: Jet, b: Jet) -> Jet:
    return Jet(tuple(np.where(condition, coefficient(a, k), coefficient(b, k)) for k in range(_count(a, b))))


def _rate(a: Jet) -> Jet:
    return Jet(tuple(k * a.c[k] for k in range(1, len(a.c))))


def _integral(first: Array, rate: Jet) -> Jet:
    return Jet((first, *(r / (k + 1) for k, r in enumerate(rate.c))))


def _composed(g: Any, a: Any) -> Jet:
    if len(a.c) == 1:
        return Jet((g(a.c[0]),))
    return _integral(g(a.c[0]), DERIVATIVES[g](Jet(a.c[:-1])) * _rate(a))  # (2)


def _arctan2(y: Jet, x: Jet) -> Jet:
    count = _count(x, y)
    x, y = (Jet(tuple(coefficient(a, k) for k in range(count))) for a in (x, y))
    first = np.arctan2(y.c[0], x.c[0])
    if count == 1:
        return Jet((first,))
    x_low, y_low = Jet(x.c[:-1]), Jet(y.c[:-1])
    return _integral(first, (x_low * _rate(y) - y_low * _rate(x)) / (x_low * x_low + y_low * y_low))


def _linear(function: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> Jet:
    """A function of one array, or of a list of arrays, applied to every coefficient."""
    first, rest = inputs[0], inputs[1:]
    if isinstance(first, Jet):
        return Jet(tuple(function(c, *rest, **options) for c in first.c))
    longest = max((_jet(a) for a in first), key=lambda a: len(a.c))
    count = max(_count(_jet(a), longest) for a in first)
    return Jet(tuple(function([coefficient(a, k) for a in first], *rest, **options) for k in range(count)))


COMPARISONS = {np.less, np.less_equal, np.greater, np.greater_equal}
LINEAR = {np.stack, np.concatenate, np.sum, np.cumsum, np.reshape, np.transpose}
FUNCTIONS: dict[Any, Callable[..., Jet]] = {
    np.add: _added,
    np.subtract: lambda a, b: _added(a, -b),
    np.negative: lambda a: Jet(tuple(-c for c in a.c)),
    np.positive: lambda a: a,
    np.multiply: _bilinear(lambda a, b: a * b),
    np.matmul: _bilinear(lambda a, b: a @ b),
    np.divide: _divided,
    np.power: _power,
    np.arctan2: _arctan2,
    np.absolute: lambda a: _chosen(a.c[0] < 0, -a, a),
    np.maximum: lambda a, b: _chosen(a.c[0] > b.c[0], a, b),
    np.minimum: lambda a, b: _chosen(a.c[0] < b.c[0], a, b),
}
DERIVATIVES: dict[Any, Callable[[Any], Any]] = {
    np.sin: np.cos,
    np.cos: lambda a: -np.sin(a),
    np.tan: lambda a: 1.0 + np.tan(a) ** 2,
    np.sqrt: lambda a: 0.5 / np.sqrt(a),
    np.exp: np.exp,
    np.log: lambda a: 1.0 / a,
    np.tanh: lambda a: 1.0 - np.tanh(a) ** 2,
    np.arctan: lambda a: 1.0 / (1.0 + a**2),
}
