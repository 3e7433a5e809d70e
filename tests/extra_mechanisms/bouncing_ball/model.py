"""A ball that falls on the floor: the smallest mechanism with an event, a jump and a discrete state.

      o   y, v          y'' = -g between the impacts;  at an impact v := -e v, one more bounce is counted
      |
------+------ floor
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model import Array, Mechanism, Option, Row


class BouncingBall(Mechanism):
    key = "bouncing_ball"
    title = "A ball that bounces on the floor"
    option_list = (Option("restitution", 0.5, "speed after an impact over speed before it", above=0.0),)
    stop_time = 1.0
    event_names = ("impact",)

    def rows(self) -> tuple[Row, ...]:
        return (
            Row("g", "gravity", "parameter", "acceleration of gravity", "m/s2", start=10.0, above=0.0),
            Row("y_start", "ball.height_start", "parameter", "height at the start", "m", start=1.25, above=0.0),
            Row("f", "ball.thrust", "input", "upward acceleration by a thruster", "m/s2"),
            Row("y", "ball.height", "state", "height above the floor", "m"),
            Row("v", "ball.velocity", "state", "velocity, upwards", "m/s"),
            Row("count", "ball.bounces", "discrete", "number of impacts so far", kind="Integer"),
            Row("energy", "ball.energy", "output", "energy per unit of mass, over that of 1 kg", "J"),
        )

    def initial(self, p: Array) -> tuple[Array, Array]:
        p = self.table.p(p)
        return self.table.x.pack(y=p.y_start, v=0.0), self.table.d.pack(count=0.0)

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, u, p = self.table.x(x), self.table.u(u), self.table.p(p)
        return self.table.x.pack(y=x.v, v=u.f - p.g)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, p = self.table.x(x), self.table.p(p)
        return self.table.y.pack(energy=0.5 * x.v**2 + p.g * x.y)

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return np.stack([self.table.x(x).y])

    def jump(self, t: Array, x: Array, d: Array, u: Array, p: Array, event: str) -> tuple[Array, Array]:
        x, d = self.table.x(x), self.table.d(d)
        return self.table.x.pack(y=0.0 * x.y, v=-self.options["restitution"] * x.v), self.table.d.pack(
            count=d.count + 1.0
        )

    def strokes(self, value: Any) -> list[tuple[Array, Array]]:
        return [(np.zeros(2), np.stack([0.0, value("ball.height")]))]
