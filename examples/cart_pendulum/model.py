"""Cart and pendulum: a cart on a rail, pushed by a force, with a rod hinged to it.

          |<-- s -->|
    ------+---------[ cart ]--> F        s    position of the cart, to the right
                       o                 q    angle of the rod from hanging straight down, counter-clockwise
                        \\                lc   hinge to mass centre
                         * COM           M    mass of the cart;  m, J  mass and central inertia of the rod
                          \\

The mass centre is at (s + lc sin q, -lc cos q). With that, Lagrange's equations are

    (M + m) s''      + m lc cos q  q''  =  F + m lc sin q  q'^2          (1)
    m lc cos q  s''  + (J + m lc^2) q'' =  -m g lc sin q - d q'          (2)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model import Array, Mechanism, Option, Row


class CartPendulum(Mechanism):
    """A cart on a rail with a pendulum, driven by a force."""

    key = "cart_pendulum"
    title = "Cart on a rail with a pendulum"
    option_list = (
        Option("length", 1.0, "length of the uniform rod that the default parameters describe [m]", above=0.0),
    )

    def rows(self) -> tuple[Row, ...]:
        length, mass = self.options["length"], 0.5
        inertia = mass * length**2 / 12
        return (
            Row("gravity", "gravity", "parameter", "acceleration of gravity, downwards", "m/s2", start=9.81),
            Row("M", "cart.mass", "parameter", "mass of the cart", "kg", start=1.0, above=0.0),
            Row("m", "rod.mass", "parameter", "mass of the rod", "kg", start=mass, above=0.0),
            Row("l", "rod.length", "parameter", "length of the rod, for the drawing", "m", start=length, above=0.0),
            Row("lc", "rod.com", "parameter", "distance from hinge to mass centre", "m", start=length / 2, above=0.0),
            Row("J", "rod.inertia", "parameter", "inertia about the mass centre", "kg.m2", start=inertia, min=0.0),
            Row("d", "hinge.damping", "parameter", "viscous damping in the hinge", "N.m.s/rad", min=0.0),
            Row("s_start", "cart.position_start", "parameter", "position of the cart at the start", "m"),
            Row("v_start", "cart.velocity_start", "parameter", "velocity of the cart at the start", "m/s"),
            Row("q_start", "hinge.angle_start", "parameter", "angle of the rod at the start", "rad", start=2.5),
            Row("dq_start", "hinge.rate_start", "parameter", "angular velocity of the rod at the start", "rad/s"),
            Row("F", "cart.force", "input", "force on the cart, to the right", "N"),
            Row("s", "cart.position", "state", "position of the cart", "m"),
            Row("v", "cart.velocity", "state", "velocity of the cart", "m/s"),
            Row("q", "hinge.angle", "state", "angle of the rod from hanging straight down", "rad"),
            Row("dq", "hinge.rate", "state", "angular velocity of the rod", "rad/s"),
            Row("work", "energy.input", "state", "work done by the force since the start", "J"),
            Row("loss", "energy.dissipated", "state", "energy lost in the hinge since the start", "J"),
            Row("kinetic", "energy.kinetic", "output", "kinetic energy", "J"),
            Row("potential", "energy.potential", "output", "potential energy", "J"),
            Row("total", "energy.total", "output", "kinetic and potential energy", "J"),
        )

    def initial(self, p: Array) -> tuple[Array, Array]:
        p = self.table.p(p)
        return self.table.x.pack(s=p.s_start, v=p.v_start, q=p.q_start, dq=p.dq_start, work=0.0, loss=0.0), np.zeros(0)

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, u, p = self.table.x(x), self.table.u(u), self.table.p(p)
        coupling = p.m * p.lc * np.cos(x.q)
        A = np.stack([np.stack([p.M + p.m, coupling]), np.stack([coupling, p.J + p.m * p.lc**2])])
        b = np.stack(
            [
                u.F + p.m * p.lc * np.sin(x.q) * x.dq**2,  # (1)
                -p.m * p.gravity * p.lc * np.sin(x.q) - p.d * x.dq,  # (2)
            ]
        )
        a = np.linalg.solve(A, b)
        return self.table.x.pack(s=x.v, v=a[0], q=x.dq, dq=a[1], work=u.F * x.v, loss=p.d * x.dq**2)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, p = self.table.x(x), self.table.p(p)
        vx = x.v + p.lc * np.cos(x.q) * x.dq
        vy = p.lc * np.sin(x.q) * x.dq
        kinetic = 0.5 * (p.M * x.v**2 + p.m * (vx**2 + vy**2) + p.J * x.dq**2)
        potential = -p.m * p.gravity * p.lc * np.cos(x.q)
        return self.table.y.pack(kinetic=kinetic, potential=potential, total=kinetic + potential)

    def strokes(self, value: Any) -> list[tuple[Array, Array]]:
        """The rod, and the cart as a box around the hinge."""
        s, q, l = value("cart.position"), value("hinge.angle"), value("rod.length")
        rod = np.stack([s, s + l * np.sin(q)]), np.stack([0.0, -l * np.cos(q)])
        box = s + 0.15 * l * np.array([-1, 1, 1, -1, -1]), 0.08 * l * np.array([-1, -1, 1, 1, -1])
        return [rod, box]
