"""Link chain: n rods in a vertical plane, hinged one after the other, by the method of separate bodies.

        base (x, y, angle)
          o---------o              q_k   angle of rod k against rod k-1 (rod 1: against the base), counter-clockwise
         joint 1     \\             th_k  absolute angle, the running sum of q
                      \\  rod 2
                       o           joint k: motor tau_k, spring k (q - q_ref), damper d qd, friction tc tanh(qd / vs)
                        \\
                         * tip     tip: force (Fx, Fy) and moment, on the last rod

x to the right, y up, gravity along -y. The equations of motion are in mechanisms/link_chain/equations.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model.drawing import Arrow, Drawing, Moment, constant, support
from ...model.energy import ENERGY, ENERGY_OUTPUTS, ENERGY_STATES
from ...model.mechanism import Array, Mechanism, Option
from ...model.variables import Row
from .equations import ChainMotion, forward_dynamics


class LinkChain(Mechanism):
    """A planar chain of rods with driven, elastic, damped joints, on a fixed or moving base."""

    key = "link_chain"
    title = "Planar chain of rods by the O(n) method of separate bodies"
    option_list = (
        Option("links", 10, "number of rods", min=1, max=2000),
        Option("base", "fixed", "the base stands still, or follows acceleration inputs", choices=("fixed", "moving")),
        Option("length", 1.0, "total length of the uniform chain that the default parameters describe [m]", above=0.0),
        Option("mass", 10.0, "total mass of that chain [kg]", above=0.0),
        ENERGY,
    )
    requirement_texts = (
        "the last link has no inertia about its joint: link[n].com and link[n].inertia must not both be zero",
    )

    @property
    def links(self) -> int:
        return int(self.options["links"])

    @property
    def moving(self) -> bool:
        return bool(self.options["base"] == "moving")

    @property
    def counts_energy(self) -> bool:
        return bool(self.options["energy"] == "on")

    def rows(self) -> tuple[Row, ...]:
        n = self.links
        length, mass = self.options["length"] / n, self.options["mass"] / n
        base_inputs = (
            Row("base_ax", "base.acceleration_x", "input", "acceleration of the base, horizontal", "m/s2"),
            Row("base_ay", "base.acceleration_y", "input", "acceleration of the base, vertical", "m/s2"),
            Row("base_eps", "base.angular_acceleration", "input", "angular acceleration of the base", "rad/s2"),
        )
        base_states = (
            Row("base_x", "base.x", "state", "position of the base, horizontal", "m"),
            Row("base_y", "base.y", "state", "position of the base, vertical", "m"),
            Row("base_angle", "base.angle", "state", "angle of the base", "rad"),
            Row("base_vx", "base.velocity_x", "state", "velocity of the base, horizontal", "m/s"),
            Row("base_vy", "base.velocity_y", "state", "velocity of the base, vertical", "m/s"),
            Row("base_w", "base.rate", "state", "angular velocity of the base", "rad/s"),
        )
        return (
            Row("gravity", "gravity", "parameter", "acceleration of gravity, along -y", "m/s2", start=9.81),
            Row("l", "link[{k}].length", "parameter", "length of rod {k}, joint to joint", "m", n, length, above=0.0),
            Row("lc", "link[{k}].com", "parameter", "distance from joint {k} to the mass centre of rod {k}", "m", n,
                length / 2),
            Row("m", "link[{k}].mass", "parameter", "mass of rod {k}", "kg", n, mass, above=0.0),
            Row("J", "link[{k}].inertia", "parameter", "moment of inertia of rod {k} about its mass centre", "kg.m2", n,
                mass * length**2 / 12, min=0.0),
            Row("k", "joint[{k}].stiffness", "parameter", "stiffness of the spring in joint {k}", "N.m/rad", n,
                min=0.0),
            Row("q_ref", "joint[{k}].rest_angle", "parameter", "angle at which the spring in joint {k} is relaxed",
                "rad", n),
            Row("d", "joint[{k}].damping", "parameter", "viscous damping in joint {k}", "N.m.s/rad", n, min=0.0),
            Row("tc", "joint[{k}].friction", "parameter", "dry friction moment in joint {k}", "N.m", n, min=0.0),
            Row("vs", "joint[{k}].friction_speed", "parameter",
                "rate at which the dry friction in joint {k} reaches 76 percent", "rad/s", n, 0.1, above=0.0),
            Row("q_start", "joint[{k}].angle_start", "parameter", "angle of joint {k} at the start", "rad", n,
                (-1.0,) + (0.0,) * (n - 1)),
            Row("dq_start", "joint[{k}].rate_start", "parameter", "angular velocity of joint {k} at the start", "rad/s",
                n),
            Row("tau", "joint[{k}].torque", "input", "motor moment in joint {k}, on rod {k} from rod {j}", "N.m", n),
            Row("tip_fx", "tip.force_x", "input", "horizontal force on the tip", "N"),
            Row("tip_fy", "tip.force_y", "input", "vertical force on the tip", "N"),
            Row("tip_m", "tip.moment", "input", "moment on the last rod", "N.m"),
            *(base_inputs if self.moving else ()),
            Row("q", "joint[{k}].angle", "state", "angle of rod {k} against rod {j} (rod 0: the base)", "rad", n),
            Row("dq", "joint[{k}].rate", "state", "angular velocity of joint {k}", "rad/s", n),
            *(base_states if self.moving else ()),
            *(ENERGY_STATES if self.counts_energy else ()),
            Row("qdd", "joint[{k}].acceleration", "output", "angular acceleration of joint {k}", "rad/s2", n),
            Row("Rx", "joint[{k}].reaction_x", "output", "horizontal force of rod {j} on rod {k} (rod 0: the base)",
                "N", n),
            Row("Ry", "joint[{k}].reaction_y", "output", "vertical force of rod {j} on rod {k} (rod 0: the base)",
                "N", n),
            Row("tip_x", "tip.x", "output", "horizontal position of the tip", "m"),
            Row("tip_y", "tip.y", "output", "vertical position of the tip", "m"),
            Row("tip_angle", "tip.angle", "output", "absolute angle of the last rod", "rad"),
            Row("tip_vx", "tip.velocity_x", "output", "horizontal velocity of the tip", "m/s"),
            Row("tip_vy", "tip.velocity_y", "output", "vertical velocity of the tip", "m/s"),
            *(ENERGY_OUTPUTS if self.counts_energy else ()),
        )  # fmt: skip

    # --- the equations ------------------------------------------------------------------------------------------------

    def initial(self, p: Array) -> tuple[Array, Array]:
        p = self.table.p(p)
        names = ("base_x", "base_y", "base_angle", "base_vx", "base_vy", "base_w")
        base = dict.fromkeys(names, 0.0) if self.moving else {}
        energy = {"work": 0.0, "loss": 0.0} if self.counts_energy else {}
        return self.table.x.pack(q=p.q_start, dq=p.dq_start, **base, **energy), np.zeros(0)

    def requirements(self, p: Array) -> Array:
        p = self.table.p(p)
        return np.stack([p.J[-1] + p.m[-1] * p.lc[-1] ** 2])  # U_n; inner rods gain U from their followers

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, u, p = self.table.x(x), self.table.u(u), self.table.p(p)
        pose = self._pose(x, p)
        tau, loss = self._joint_moments(x, u, p)
        motion = self._motion(x, u, p, pose, tau)
        work = np.sum(u.tau * x.dq) + u.tip_fx * pose["vx"][-1] + u.tip_fy * pose["vy"][-1] + u.tip_m * pose["w"][-1]
        base = {}
        if self.moving:
            F = motion.R[0]
            work = work + F[0] * x.base_vx + F[1] * x.base_vy + tau[0] * x.base_w  # of the base on rod 1
            base = {"base_x": x.base_vx, "base_y": x.base_vy, "base_angle": x.base_w}
            base |= {"base_vx": u.base_ax, "base_vy": u.base_ay, "base_w": u.base_eps}
        energy = {"work": work, "loss": loss} if self.counts_energy else {}
        return self.table.x.pack(q=x.dq, dq=motion.qdd, **base, **energy)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, u, p = self.table.x(x), self.table.u(u), self.table.p(p)
        pose = self._pose(x, p)
        tau, _ = self._joint_moments(x, u, p)
        motion = self._motion(x, u, p, pose, tau)

        # mass centres, from the joints inboard of them
        cos, sin, w = pose["e"][0], pose["e"][1], pose["w"]
        com_y = pose["y"][:-1] + p.lc * sin
        com_vx = pose["vx"][:-1] - p.lc * sin * w
        com_vy = pose["vy"][:-1] + p.lc * cos * w
        kinetic = 0.5 * np.sum(p.m * (com_vx**2 + com_vy**2) + p.J * w**2)
        potential = p.gravity * np.sum(p.m * com_y) + 0.5 * np.sum(p.k * (x.q - p.q_ref) ** 2)
        reactions = {"Rx": motion.R[:, 0], "Ry": motion.R[:, 1]}
        tip = {f"tip_{name}": pose[name][-1] for name in ("x", "y", "vx", "vy")} | {"tip_angle": pose["th"][-1]}
        energies = {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}
        energies = energies if self.counts_energy else {}
        return self.table.y.pack(qdd=motion.qdd, **reactions, **tip, **energies)

    def _pose(self, x: Any, p: Any) -> dict[str, Array]:
        """Angles, rates, and the n+1 joint points (the last is the tip) with their velocities, all by running sums."""
        zero = 0.0 * x.q[0]
        base = (x.base_x, x.base_y, x.base_angle, x.base_vx, x.base_vy, x.base_w) if self.moving else (zero,) * 6
        x_0, y_0, th_0, vx_0, vy_0, w_0 = base
        th = th_0 + np.cumsum(x.q)
        w = w_0 + np.cumsum(x.dq)
        cos, sin = np.cos(th), np.sin(th)
        return dict(
            th=th,
            w=w,
            e=np.stack([cos, sin]),
            x=_running_sum(x_0, p.l * cos),
            y=_running_sum(y_0, p.l * sin),
            vx=_running_sum(vx_0, -p.l * sin * w),
            vy=_running_sum(vy_0, p.l * cos * w),
        )

    def _joint_moments(self, x: Any, u: Any, p: Any) -> tuple[Array, Array]:
        """The whole moment in each joint, and the power lost in dampers and friction."""
        resisting = p.d * x.dq + p.tc * np.tanh(x.dq / p.vs)
        return u.tau - p.k * (x.q - p.q_ref) - resisting, np.sum(resisting * x.dq)

    def _motion(self, x: Any, u: Any, p: Any, pose: dict[str, Array], tau: Array) -> ChainMotion:
        zero = 0.0 * x.q[0]
        tip_force = np.stack([u.tip_fx, u.tip_fy])
        a_0, eps_0 = np.stack([zero, p.gravity]), zero
        if self.moving:
            a_0, eps_0 = a_0 + np.stack([u.base_ax, u.base_ay]), u.base_eps
        return forward_dynamics(pose["e"], pose["w"], tau, tip_force, u.tip_m, a_0, eps_0, p.l, p.lc, p.m, p.J)

    # --- the drawing --------------------------------------------------------------------------------------------------

    def strokes(self, value: Any) -> list[tuple[Array, Array]]:
        """The rods as one polyline from the base to the tip."""
        k = range(1, self.links + 1)
        x_0, y_0, th_0 = (value("base.x"), value("base.y"), value("base.angle")) if self.moving else (0.0, 0.0, 0.0)
        th = th_0 + np.cumsum(np.stack([value(f"joint[{i}].angle") for i in k]))
        lengths = np.stack([value(f"link[{i}].length") for i in k])
        return [(_running_sum(x_0, lengths * np.cos(th)), _running_sum(y_0, lengths * np.sin(th)))]

    def drawing(self, value: Any) -> Drawing:
        """The rods, where they hang, the reactions and motors in their joints, and the load on the tip."""
        points = np.column_stack(self.strokes(value)[0])
        joints = range(1, self.links + 1)
        reactions = [np.stack([value(f"joint[{k}].reaction_{a}") for a in "xy"]) for k in joints]
        forces = [
            Arrow(f"joint[{k}].reaction", "reaction", points[k - 1], reactions[k - 1], inner=True) for k in joints
        ]
        load = Arrow("tip.force", "force", points[-1], np.stack([value("tip.force_x"), value("tip.force_y")]))
        motors = [Moment(f"joint[{k}].torque", points[k - 1], value(f"joint[{k}].torque")) for k in joints]
        turned = Moment("tip.moment", points[-1], value("tip.moment"))
        length = sum(constant(value, f"link[{k}].length") for k in joints)
        ground = [] if self.moving else support((0.0, 0.0), 0.06 * length)
        return Drawing([points], ground, arrows=[load, *forces], moments=[turned, *motors])


def _running_sum(first: Array, increments: Array) -> Array:
    """first, first + i_1, first + i_1 + i_2, ... (n+1 values)"""
    return first + np.concatenate([np.zeros(1), np.cumsum(increments)])
