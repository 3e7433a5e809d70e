"""Dependencies of unknowns on knowns (ModelStructure), found from the recorded equations.

With them a host closes plant-controller loops without false algebraic loops: positions and velocities do not depend
directly on the inputs, accelerations and reactions do.

A set of knowns is an integer whose bit r stands for value reference r. The dependencies of an operation are then the
bitwise or of those of its operands, and the sets of 1,000 bodies take a second.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi

from ..codegen.program import INPUT, OUTPUT, VALUE, Program
from ..codegen.recording import ARGUMENTS, recording_of
from ..model import Mechanism
from ..model.variables import Role, Table

MAX_LISTED = 300_000  # entries; beyond it (chains of hundreds of links) dense rows are omitted, which means "all"
ARGUMENT_OF: dict[Role, str] = {"parameter": "p", "input": "u", "state": "x"}

Rows = dict[str, list[int] | None]
Sets = dict[str, list[int]]  # for each argument (t, x, d, u, p) the set of knowns behind each of its elements


@dataclass(frozen=True)
class Dependencies:
    """For each unknown by name the value references of the knowns that it depends on, ascending; None: all."""

    running: Rows  # outputs and derivatives, on inputs and continuous states
    initial: Rows  # the same and the states, on parameters and inputs, in Initialization Mode


def dependencies(mechanism: Mechanism) -> Dependencies:
    """Return the dependencies of a mechanism's outputs, states and derivatives."""
    graphs, table = recording_of(mechanism), mechanism.table

    def rows(sets: Sets, knowns: int) -> Rows:
        """Return the dependencies of the unknowns when those of the arguments are `sets`."""
        found: dict[Role, list[int]] = {
            "output": _through(graphs.outputs, sets)[0],
            "derivative": _through(graphs.rates, sets)[0],
            "state": sets["x"],
            "discrete": sets["d"],
        }
        return _listed({s.name: values[s.index] for role, values in found.items() for s in table.of(role)}, knowns)

    running = _knowns(table, "input", "state")
    initial = _knowns(table, "parameter", "input")
    initial["x"], initial["d"] = _through(graphs.initial, initial)  # the start state comes from the parameters
    return Dependencies(rows(running, table.u.size + table.x.size), rows(initial, table.p.size + table.u.size))


def _knowns(table: Table, *roles: Role) -> Sets:
    """Return the sets when variables of these roles are known: each depends on itself, the others on nothing."""
    sizes = {"t": 1, "x": table.x.size, "d": table.d.size, "u": table.u.size, "p": table.p.size}
    sets: Sets = {argument: [0] * size for argument, size in sizes.items()}
    for reference, scalar in enumerate(table.scalars):
        if scalar.role in roles:
            sets[ARGUMENT_OF[scalar.role]][scalar.index] = 1 << reference
    return sets


def _through(graph: casadi.Function, sets: Sets) -> list[list[int]]:
    """Return the dependencies of each element of each result of a graph."""
    program = Program.of(graph)
    arguments = [sets[a] for a in ARGUMENTS]
    results = [[0] * graph.size1_out(i) for i in range(graph.n_out())]
    values: list[int] = []
    operations = zip(program.operation.tolist(), program.kind.tolist(), program.number.tolist(), strict=True)
    for operation, kinds, numbers in operations:
        found = 0
        for kind, number in zip(kinds, numbers, strict=False):
            if kind == VALUE:
                found |= values[number]
            elif INPUT <= kind < INPUT + len(arguments):
                found |= arguments[kind - INPUT][number]
        values.append(found)
        if operation >= OUTPUT:
            results[operation - OUTPUT][numbers[2]] = found
    return results


def _listed(sets: dict[str, int], knowns: int) -> Rows:
    many = sum(s.bit_count() for s in sets.values()) > MAX_LISTED
    return {name: None if many and 2 * s.bit_count() > knowns else _references(s) for name, s in sets.items()}


def _references(found: int) -> list[int]:
    """Return the positions of the set bits."""
    references = []
    while found:
        lowest = found & -found
        references.append(lowest.bit_length() - 1)
        found ^= lowest
    return references
