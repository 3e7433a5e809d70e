"""A pendulum on the shaft of a DC motor: the voltage drives the current, the current the torque.

    R     L
+--www--mmmm--+           i    current;  V  voltage at the motor
V            (M)--o       K    torque per current, and voltage per rate: N.m/A = V.s/rad
+-------------+    \\      q    angle of the rod from hanging straight down, counter-clockwise
                    * m   J    moment of inertia about the shaft;  l  shaft to mass centre

L i'  =  V - R i - K q'                                              (1)
J q'' =  K i - m g l sin q - d q'                                    (2)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model import Array, Mechanism, Row


class MotorPendulum(Mechanism):
    """A pendulum on a DC motor, driven by a voltage."""

    key = "motor_pendulum"
    title = "Pendulum on the shaft of a DC motor"

    def rows(self) -> tuple[Row, ...]:
        return (
            Row("R", "motor.resistance", "parameter", "resistance of the winding", "Ohm", start=1.2, above=0.0),
            Row("L", "motor.inductance", "parameter", "inductance of the winding", "mH", start=20.0, above=0.0),
            Row("K", "motor.torque_constant", "parameter", "torque per current", "N.m/A", start=0.3),
            Row("J", "rod.inertia", "parameter", "moment of inertia about the shaft", "kg.m2", start=0.04, above=0.0),
            Row("m", "rod.mass", "parameter", "mass of the rod", "kg", start=0.5, min=0.0),
            Row("l", "rod.com", "parameter", "distance from the shaft to the mass centre", "m", start=0.25),
            Row("damping", "shaft.damping", "parameter", "viscous damping", "N.m.s/rad", start=1e-3, min=0.0),
            Row("gravity", "gravity", "parameter", "acceleration of gravity", "m/s2", start=9.81),
            Row("q_start", "shaft.angle_start", "parameter", "angle at the start", "rad", start=0.5),
            Row("V", "motor.voltage", "input", "voltage at the motor", "V"),
            Row("q", "shaft.angle", "state", "angle of the rod from hanging straight down", "rad"),
            Row("w", "shaft.rate", "state", "angular velocity", "rad/s"),
            Row("i", "motor.current", "state", "current", "A"),
            Row("work", "energy.input", "state", "electric energy from outside since the start", "J"),
            Row("loss", "energy.dissipated", "state", "energy lost in the winding and the damper since the start", "J"),
            Row("torque", "motor.torque", "output", "torque of the motor", "N.m"),
            Row("kinetic", "energy.kinetic", "output", "kinetic energy", "J"),
            Row("potential", "energy.potential", "output", "potential energy, and that of the magnetic field", "J"),
            Row("total", "energy.total", "output", "kinetic and potential energy", "J"),
        )

    def initial(self, p: Array) -> tuple[Array, Array]:
        p = self.table.p(p)
        return self.table.x.pack(q=p.q_start, w=0.0, i=0.0, work=0.0, loss=0.0), np.zeros(0)

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, u, p = self.table.x(x), self.table.u(u), self.table.p(p)
        di = (u.V - p.R * x.i - p.K * x.w) / (1e-3 * p.L)  # (1), L in mH
        dw = (p.K * x.i - p.m * p.gravity * p.l * np.sin(x.q) - p.damping * x.w) / p.J  # (2)
        return self.table.x.pack(q=x.w, w=dw, i=di, work=u.V * x.i, loss=p.R * x.i**2 + p.damping * x.w**2)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, p = self.table.x(x), self.table.p(p)
        kinetic = 0.5 * p.J * x.w**2
        potential = p.m * p.gravity * p.l * (1.0 - np.cos(x.q)) + 0.5e-3 * p.L * x.i**2
        return self.table.y.pack(torque=p.K * x.i, kinetic=kinetic, potential=potential, total=kinetic + potential)

    def strokes(self, value: Any) -> list[tuple[Array, Array]]:
        """The rod, twice as long as the distance to its mass centre, and the motor as a circle."""
        q, length, turn = value("shaft.angle"), 2.0 * value("rod.com"), np.linspace(0.0, 2.0 * np.pi, 25)
        rod = np.stack([0.0, length * np.sin(q)]), np.stack([0.0, -length * np.cos(q)])
        return [rod, (0.08 * np.cos(turn), 0.08 * np.sin(turn))]
