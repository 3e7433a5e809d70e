"""What a force at any point of a mechanism does to its motion, in terms of the mechanism's inputs.

A live page lets the user pull a body with a spring. The force F at a point r of the drawing enters through the inputs u
that do the same work: with the free velocities w of the mechanism,

    power of the force     F . dr/dt = F . J_r w                                                          (1)
    power of the inputs    d(energy.input)/dt = u . B ,   B = J_u w                                       (2)
    equal for every w:     J_u^T u = J_r^T F                                                              (3)

If (3) has a solution, these inputs are the force; if not, the mechanism has no input for it. dr/dt and B are recorded;
both are linear in w, so the page finds J_r and J_u column by column.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi
import numpy as np

from ..model import Mechanism
from ..model.drawing import Drawing
from .c_text import Code, c_function
from .recorded_drawing import RecordedDrawing
from .recording import ARGUMENTS, recording_of

VELOCITIES = "mechfmu_velocities"  # the C function: t, x, d, p -> B, then the rates of the drawing's geometry
WORK = "energy.input"


@dataclass(frozen=True)
class RecordedVelocities:
    """The graph, the inputs of (2), and the free velocities among the states, each by its position in its vector."""

    graph: casadi.Function
    inputs: tuple[int, ...]
    free: tuple[int, ...]
    geometry: int  # how many of the drawing's first numbers have rates

    def c_code(self) -> Code:
        return c_function(self.graph, VELOCITIES)


def recorded_velocities(mechanism: Mechanism, drawing: RecordedDrawing) -> RecordedVelocities | None:
    """Return the velocities of a mechanism; None if it counts no work of inputs or has no moving geometry."""
    recorded, table = recording_of(mechanism), mechanism.table
    work = table.by_name.get(WORK)
    count = geometry_count(drawing.start)
    if work is None or work.role != "state" or not count or not table.u.size:
        return None
    point = [recorded.symbols[a] for a in ARGUMENTS]
    t, x, d, u, p = point
    (rates,), (outputs,) = recorded.rates.call(point), recorded.outputs.call(point)
    known = {"state": x, "discrete": d, "input": u, "output": outputs, "derivative": rates}
    known |= {"parameter": p, "constant": p}
    scalars = [table.by_name[name] for name in drawing.names]
    values = casadi.vertcat(*(known[s.role][s.index] for s in scalars))
    (frame,) = drawing.graph.call([values])
    geometry = frame[:count]

    positions = _dependent(geometry, x)
    at_rest = casadi.substitute([rates, geometry], [u], [casadi.SX.zeros(table.u.size)])
    change = at_rest[0][[int(i) for i in np.flatnonzero(positions)]]
    velocities = _dependent(change, x) & ~positions
    prescribed = [i for i in range(x.numel()) if rates[i].is_symbolic()]  # by an input: the motion of the base
    free = tuple(int(i) for i in np.flatnonzero(velocities) if i not in prescribed)
    power = casadi.gradient(rates[work.index], u)
    (power,) = casadi.substitute([power], [u], [casadi.SX.zeros(table.u.size)])
    moving = casadi.jtimes(at_rest[1], x, at_rest[0])
    if not free or _dependent(moving, u).any():
        return None
    inputs = tuple(i for i in range(u.numel()) if f"u_{i}" not in {rates[k].name() for k in prescribed})
    result = casadi.cse(casadi.vertcat(power[list(inputs)], moving))
    arguments = casadi.vertcat(t, x, d, p)
    graph = casadi.Function("velocities", [arguments], [result], ["values"], ["out"])
    return RecordedVelocities(graph, inputs, free, count)


def geometry_count(drawing: Drawing) -> int:
    """How many of the first numbers of a drawing are points and poses of the mechanism, its surroundings included."""
    points = sum(np.size(line) for line in (*drawing.lines, *drawing.outlines, *drawing.ground))
    return points + sum(2 * len(f.at) for f in drawing.floors) + 12 * len(drawing.solids)


def _dependent(expression: casadi.SX, symbols: casadi.SX) -> np.ndarray:
    """Which symbols an expression depends on."""
    if not expression.numel() or not symbols.numel():
        return np.zeros(symbols.numel(), dtype=bool)
    pattern = casadi.jacobian_sparsity(expression, symbols)
    found = np.zeros(symbols.numel(), dtype=bool)
    found[list(pattern.get_col())] = True
    return found
