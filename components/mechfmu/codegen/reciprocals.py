"""Divisions by the same value: one reciprocal, and products with it.

A division takes a processor several times as long as a product. CasADi writes the product with a reciprocal as a
division again, x * (1 / y) = x / y, so this can only be undone in the program.
"""

from __future__ import annotations

from collections import Counter

import casadi
import numpy as np

Row = tuple[int, tuple[int, int], tuple[int, int, int]]  # operation, kinds and numbers, as in Program


def with_reciprocals(
    operation: np.ndarray, kind: np.ndarray, number: np.ndarray, value: int, none: int
) -> tuple[list[Row], np.ndarray]:
    """Return the instructions with shared reciprocals, and how many of them come before each old instruction.

    value, none   kinds of operands: a value of the program, and none
    """
    divides = (operation == casadi.OP_DIV) & (kind[:, 1] == value)
    inverts = (operation == casadi.OP_INV) & (kind[:, 0] == value)
    divisors = Counter(number[divides, 1].tolist()) + Counter(number[inverts, 0].tolist())
    shared = {divisor for divisor, count in divisors.items() if count > 1}
    rows: list[Row] = []
    before = np.zeros(len(operation) + 1, dtype=np.int64)
    renumbered = np.zeros(len(operation), dtype=np.int64)
    reciprocal: dict[int, int] = {}
    for k, (code, kinds, numbers) in enumerate(zip(operation.tolist(), kind.tolist(), number.tolist(), strict=True)):
        before[k] = len(rows)
        a, b = (int(renumbered[n]) if t == value else n for t, n in zip(kinds, numbers, strict=False))
        divisor = numbers[1] if divides[k] else numbers[0] if inverts[k] else -1
        if divisor in shared and divisor not in reciprocal:
            reciprocal[divisor] = len(rows)
            rows.append((casadi.OP_INV, (value, none), (int(renumbered[divisor]), 0, 0)))
        if divisor in shared and inverts[k]:
            renumbered[k] = reciprocal[divisor]
            continue
        renumbered[k] = len(rows)
        if divisor in shared:
            rows.append((casadi.OP_MUL, (kinds[0], value), (a, reciprocal[divisor], 0)))
        else:
            rows.append((code, (kinds[0], kinds[1]), (a, b, numbers[2])))
    before[-1] = len(rows)
    return rows, before
