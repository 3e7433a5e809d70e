"""Which unknown depends on which known, read off the recorded equations.

A host that knows this closes plant-controller loops without false algebraic loops: positions and velocities do not depend on the
inputs directly, accelerations and reactions do.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi

from ..engines.tracing import ARGUMENTS, traced
from ..mechanisms import Mechanism
from ..mechanisms.table import Role

LISTED_AT_MOST = 300_000  # entries; beyond it (chains of hundreds of links) dense rows are left unlisted, which means "all"
ARGUMENT_OF: dict[Role, str] = {"time": "t", "parameter": "p", "input": "u", "state": "x"}

Rows = dict[str, list[int] | None]


@dataclass(frozen=True)
class Dependencies:
    """For each unknown (by name) the value references of the knowns it depends on, ascending; None: all of them."""

    running: Rows  # outputs and derivatives, on time, inputs and continuous states
    initial: Rows  # the same and the states, on time, parameters and inputs, in Initialization Mode


def dependencies(mechanism: Mechanism) -> Dependencies:
    graphs, table = traced(mechanism), mechanism.table
    symbols = graphs.symbols
    reference = {scalar.name: i for i, scalar in enumerate(table.scalars)}

    def rows(at: dict[str, casadi.SX], knowns: tuple[Role, ...]) -> Rows:
        """The unknowns that are computed, when the arguments have the values `at`."""
        arguments = [at[a] for a in ARGUMENTS]
        values: dict[Role, casadi.SX] = {
            "output": graphs.outputs.call(arguments)[0],
            "derivative": graphs.rates.call(arguments)[0],
            "state": at["x"],
            "discrete": at["d"],
        }
        return _thinned({
            scalar.name: depends for role, value in values.items()
            for scalar, depends in zip(table.of(role), _sparsity(value, knowns), strict=True)
        }, sum(len(table.of(role)) for role in knowns))  # fmt: skip

    def _sparsity(value: casadi.SX, knowns: tuple[Role, ...]) -> list[list[int]]:
        """For each element of `value` the references of the knowns in it."""
        found: list[list[int]] = [[] for _ in range(value.numel())]
        for role in knowns:
            symbol = symbols[ARGUMENT_OF[role]]
            if symbol.numel() and value.numel():
                by_index = {s.index: reference[s.name] for s in table.of(role)}
                for row, column in zip(*casadi.jacobian_sparsity(value, symbol).get_triplet(), strict=True):
                    found[row].append(by_index[column])
        return [sorted(f) for f in found]

    x0, d0 = graphs.initial.call([symbols[a] for a in ARGUMENTS])
    return Dependencies(
        running=rows(symbols, ("time", "input", "state")),
        initial=rows({**symbols, "x": x0, "d": d0}, ("time", "parameter", "input")),
    )


def _thinned(rows: Rows, knowns: int) -> Rows:
    if sum(len(r or ()) for r in rows.values()) <= LISTED_AT_MOST:
        return rows
    return {name: None if r is not None and 2 * len(r) > knowns else r for name, r in rows.items()}
