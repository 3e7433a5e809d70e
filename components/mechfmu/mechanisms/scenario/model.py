"""Scenario: a target and elliptical obstacles that move uniformly, as inputs for a cart's controller.

    target    xT(t) = xT(0) + vT t          obstacle i    c_i(t) = c_i(0) + vc_i t ,  th_i(t) = th_i(0) + Om_i t

The outputs have the names of the controller's inputs. Parameters with obstacles that overlap at the start, or with the
target inside one, are an error; if that happens later, the controller's flags show it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...control.guidance import Obstacle, present, proximity, separation
from ...model.drawing import Drawing
from ...model.mechanism import Array, Mechanism, Option
from ...model.variables import Row
from .variables import OBSTACLE_VARIABLES, obstacles_of, outline, scenario_rows, target_of

AT_START = "_start"


class Scenario(Mechanism):
    """Moving target and obstacles: no states, outputs that depend on time alone."""

    key = "scenario"
    title = "Moving target and moving, rotating elliptical obstacles"
    option_list = (Option("obstacles", 2, "number of obstacles", min=1, max=50),)
    stop_time = 20.0

    @property
    def count(self) -> int:
        return int(self.options["obstacles"])

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(i, j) for i in range(self.count) for j in range(i + 1, self.count)]

    @property
    def requirement_texts(self) -> tuple[str, ...]:  # type: ignore[override]
        overlaps = [f"obstacle[{i + 1}] and obstacle[{j + 1}] overlap at the start" for i, j in self.pairs]
        return (*overlaps, *(f"the target lies inside obstacle[{i + 1}] at the start" for i in range(self.count)))

    def rows(self) -> tuple[Row, ...]:
        return (*scenario_rows("parameter", self.count, AT_START), *scenario_rows("output", self.count))

    def initial(self, p: Array) -> tuple[Array, Array]:
        return np.zeros(0), np.zeros(0)

    def requirements(self, p: Array) -> Array:
        P = self.table.p(p)
        target, obstacles = target_of(P, AT_START), [present(o) for o in obstacles_of(P, self.count, AT_START)]
        pairs = [(obstacles[i], obstacles[j]) for i, j in self.pairs]
        separate = [np.where(a.active * b.active > 0.25, separation(a, b), 1.0) for a, b in pairs]
        clear = [np.where(o.active > 0.5, proximity(target.x, target.y, o).delta, 1.0) for o in obstacles]
        return np.stack([*separate, *clear])

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return np.zeros(0)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        P = self.table.p(p)
        target, obstacles = target_of(P, AT_START), [o.after(t) for o in obstacles_of(P, self.count, AT_START)]
        target = target._replace(x=t * target.vx + target.x, y=t * target.vy + target.y)
        found = {f"T_{s}": getattr(target, s) for s in target._fields}
        found |= {f"O_{s}": np.stack([getattr(o, s) for o in obstacles]) for s in Obstacle._fields}
        return self.table.y.pack(**found)

    def strokes(self, value: Any) -> list[tuple[Array, Array]]:
        """The target as a cross, the obstacles as ellipses."""
        x, y, size = value("target.x"), value("target.y"), 0.1
        cross = (x + size * np.array([-1.0, 1.0, 0.0, 0.0, 0.0]), y + size * np.array([0.0, 0.0, 0.0, 1.0, -1.0]))
        return [cross, *(outline(o, 30) for o in self._shown(value))]

    def drawing(self, value: Any) -> Drawing:
        """The target as a ring with a cross, the obstacles around it."""
        x, y, size = value("target.x"), value("target.y"), 0.15
        turn, half = np.linspace(0.0, 2 * np.pi, 25), np.array([-1.6, 1.6])
        shapes = [(np.cos(turn), np.sin(turn)), (half, 0.0 * half), (0.0 * half, half)]
        target = [np.column_stack([x + size * right, y + size * up]) for right, up in shapes]
        obstacles = [np.column_stack(outline(o, 40)) for o in self._shown(value)]
        return Drawing(ground=[*target, *obstacles], traced=[np.stack([x, y])])

    def _shown(self, value: Any) -> list[Obstacle]:
        """The obstacles; those that are switched off shrink to points."""
        names = [name for name, _, _ in OBSTACLE_VARIABLES.values()]
        obstacles = [Obstacle(*(value(f"obstacle[{i}].{name}") for name in names)) for i in range(1, self.count + 1)]
        sizes = [np.where(np.minimum(o.active - 0.5, np.minimum(o.a, o.b)) > 0.0, 1.0, 0.0) for o in obstacles]
        return [o._replace(a=size * o.a, b=size * o.b) for o, size in zip(obstacles, sizes, strict=True)]
