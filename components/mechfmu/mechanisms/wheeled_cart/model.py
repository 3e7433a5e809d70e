"""Wheeled cart: body with two driven rear wheels and a steered front wheel on level ground. Equations: equations.py.

front=rigid     the front wheel does not slide sideways: five rolling constraints, state (q1..q7, w, sg)
front=free      it slides sideways without force, state (q1..q7, v, om, sg): the plant for which the method of
                programmed constraints was published
front=viscous   it slides with the side force -c_lat slip, which approaches `rigid` like 1/c_lat

Friction on wheel i is b q_i' + t_r tanh(q_i'/v_r), on the steering b_s q3'; all zero by default, as
are the torque limits (0: none).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ...model.drawing import Arrow, Drawing, Moment
from ...model.mechanism import Array, Mechanism, Option
from ...model.variables import Role, Row
from .equations import (
    Constants,
    Drive,
    axle_accelerations,
    constants_of,
    free_accelerations,
    front_speeds,
    ground_forces,
    kinetic_energy,
    pose_rates,
    rigid_accelerations,
    rolling_rows,
    side_force,
    slip_of,
    wheel_rates,
)
from .parameters import cart_of, limited
from .variables import cart_rows

TREADS = 8  # marks around a wheel, by which it is seen to roll


class _Motion(NamedTuple):
    """Speeds and what follows from them."""

    dq: Array  # q1' .. q7'
    v: Array
    om: Array
    w: Array
    slip: Array
    drive: Drive  # moments with friction
    work: Array  # power of the inputs
    loss: Array  # power lost
    rates: tuple[Array, ...]  # of w, sg or of v, om, sg
    f: Array  # side force on the front wheel
    dv: Array
    dom: Array


class WheeledCart(Mechanism):
    """The cart as a plant: torques in, motion out."""

    key = "wheeled_cart"
    title = "Three-wheeled cart with rear drive and front steering"
    option_list = (
        Option(
            "front", "rigid", "what the ground does to the front wheel sideways", choices=("rigid", "free", "viscous")
        ),
    )

    @property
    def rigid(self) -> bool:
        return bool(self.options["front"] == "rigid")

    @property
    def viscous(self) -> bool:
        return bool(self.options["front"] == "viscous")

    def rows(self) -> tuple[Row, ...]:
        return cart_rows(self.options["front"])

    # --- the equations ------------------------------------------------------------------------------------------------

    def initial(self, p: Array) -> tuple[Array, Array]:
        p = self.table.p(p)
        speeds = {"w": p.w_start} if self.rigid else {"v": p.v_start, "om": p.om_start}
        pose = {"q1": p.x_start, "q2": p.y_start, "q3": p.steering_start, "q4": p.heading_start}
        x = self.table.x.pack(**pose, **speeds, rolled=p.wheels_start, sg=p.sg_start, work=0.0, loss=0.0)
        return x, np.zeros(0)

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        k = constants_of(cart_of(self.table.p(p)))
        m = self._motion(self.table.x(x), self.table.u(u), self.table.p(p), k)
        speeds = dict(zip(("w", "sg") if self.rigid else ("v", "om", "sg"), m.rates, strict=True))
        return self.table.x.pack(
            q1=m.dq[0], q2=m.dq[1], q3=m.dq[2], q4=m.dq[3], rolled=m.dq[4:], work=m.work, loss=m.loss, **speeds
        )

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        k = constants_of(cart_of(self.table.p(p)))
        x = self.table.x(x)
        m = self._motion(x, self.table.u(u), self.table.p(p), k)
        q = np.stack([x.q1, x.q2, x.q3, x.q4])
        rows = rolling_rows(q, m.dq, k)
        held = [rows[i] for i in ((0, 1, 2, 3, 4) if self.rigid else (0, 1, 2, 4))]
        residual = np.abs(held[0])
        for row in held[1:]:
            residual = np.maximum(residual, np.abs(row))
        c, s = np.cos(x.q4), np.sin(x.q4)
        forward, left = m.dv - k.l2 * m.om**2, m.v * m.om + k.l2 * m.dom  # of M, along and across the body
        kinetic = kinetic_energy(x.q4, m.dq, k)
        speeds = {"v": m.v, "om": m.om} if self.rigid else {"w": m.w}
        accelerations = {"ax": forward * c - left * s, "ay": forward * s + left * c, "dsg": m.rates[-1]}
        energies = {"kinetic": kinetic, "potential": 0.0, "total": kinetic}
        speeds |= {"vx": m.dq[0], "vy": m.dq[1], "rolling": m.dq[4:], "slip": m.slip}
        return self.table.y.pack(residual=residual, f=m.f, **speeds, **accelerations, **energies)

    def _motion(self, x: Any, u: Any, p: Any, k: Constants) -> _Motion:
        v, om = front_speeds(x.q3, x.w, k) if self.rigid else (x.v, x.om)
        w = x.w if self.rigid else v * np.cos(x.q3) + k.L * om * np.sin(x.q3)
        rolling = np.stack(wheel_rates(x.q3, v, om, k))
        slip = slip_of(x.q3, v, om, k)
        M1, M2, R3 = limited(u.M1, p.M_max), limited(u.M2, p.M_max), limited(u.R3, p.R_max)
        drag = p.b * rolling + p.t_r * np.tanh(rolling / p.v_r)
        drive = Drive(M1 - drag[1], M2 - drag[2], R3 - p.b_s * x.sg, -drag[0])
        f = -p.c_lat * slip if self.viscous else 0.0 * slip
        loss = np.sum(drag * rolling) + p.b_s * x.sg**2 - f * slip
        if self.rigid:
            dw, dsg = rigid_accelerations(x.q3, x.w, x.sg, drive, k)
            dv, dom = axle_accelerations(x.q3, x.w, x.sg, dw, k)
            f = side_force(x.q3, x.w, x.sg, dw, dsg, drive, k)
            rates: tuple[Array, ...] = (dw, dsg)
        else:
            a = free_accelerations(x.q3, v, om, x.sg, drive, f, k)
            dv, dom, rates = a[0], a[1], (a[0], a[1], a[2])
        dq = np.concatenate([np.stack([*pose_rates(x.q4, v, om, k), x.sg, om]), rolling])
        work = M1 * rolling[1] + M2 * rolling[2] + R3 * x.sg
        return _Motion(dq, v, om, w, slip, drive, work, loss, rates, f, dv, dom)

    # --- the drawing --------------------------------------------------------------------------------------------------

    @property
    def live_start(self) -> Mapping[str, float]:
        """It drives in a circle."""
        return {"front.speed_start": 1.2}

    def strokes(self, value: Any) -> list[tuple[Array, Array]]:
        """Outline of the body with the axles, and the three wheels, from above."""
        pose = [value(name) for name in ("pose.x", "pose.y", "pose.heading", "steering.angle")]
        sizes = [value(name) for name in ("geometry.front", "geometry.rear", "geometry.half_track", "wheel.radius")]
        return cart_strokes(*pose, *sizes)

    def drawing(self, value: Any) -> Drawing:
        """The cart from above: rolling wheels, the forces of the ground on them, and the motors' forces and moments."""

        def values_of(role: Role) -> SimpleNamespace:
            found = {row.symbol: (row.size, [value(n) for n in row.names()]) for row in self.rows() if row.role == role}
            return SimpleNamespace(
                **{s: np.stack(numbers) if size else numbers[0] for s, (size, numbers) in found.items()}
            )

        x, u, p = values_of("state"), values_of("input"), values_of("parameter")
        k = constants_of(cart_of(p))
        m = self._motion(x, u, p, k)
        body, fork = _axes(x.q4), _axes(x.q3 + x.q4)  # columns: forward, to the left
        M = np.stack([x.q1, x.q2])
        front, left, right = (M + body @ np.stack(at) for at in ((k.l1, 0.0), (-k.l2, k.h), (-k.l2, -k.h)))
        wheels = [(front, fork, x.rolled[0]), (left, body, x.rolled[1]), (right, body, x.rolled[2])]

        F5, F6, F7, S = ground_forces(x.q3, m.v, m.om, x.sg, m.dv, m.dom, m.drive, m.f, k)
        held = {
            "front wheel": (front, fork @ np.stack([F5, m.f])),
            "rear left wheel": (left, body @ np.stack([F6, 0.0])),
            "rear right wheel": (right, body @ np.stack([F7, 0.0])),
            "rear axle": ((left + right) / 2, body @ np.stack([0.0, S])),
        }
        arrows = [Arrow(name, "reaction", *where) for name, where in held.items()]
        motors = (("wheel.left_torque", left, 1.0, u.M1), ("wheel.right_torque", right, -1.0, u.M2))
        for name, wheel, side, torque in motors:
            drive = limited(torque, p.M_max) / k.r
            beside = wheel + body @ np.stack([0.0, side * 0.5 * k.r])
            arrows.append(Arrow(name, "force", beside, body @ np.stack([drive, 0.0])))
        outlines = [np.stack([front, left, right, front]), *(line for w in wheels for line in _wheel(*w, k.r))]
        steering = Moment("steering.torque", front, limited(u.R3, p.R_max))
        return Drawing(arrows=arrows, traced=[M], moments=[steering], outlines=outlines)


def _axes(angle: Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([np.stack([c, -s]), np.stack([s, c])])


def _wheel(at: Array, axes: Array, rolled: Array, r: Array) -> list[Array]:
    """A wheel from above, and the marks on its upper half; those below are points under the wheel."""
    half = 0.25 * r
    corners = [(r, half), (-r, half), (-r, -half), (r, -half), (r, half)]
    lines = [[at + axes @ np.stack(corner) for corner in corners]]
    for k in range(TREADS):
        angle = rolled + 2 * np.pi * k / TREADS
        above = np.where(np.cos(angle) > 0, 1.0, 0.0)
        lines.append([at + axes @ (above * np.stack([r * np.sin(angle), side])) for side in (half, -half)])
    return [np.stack(points) for points in lines]


def cart_strokes(
    x: float, y: float, heading: float, steering: float, l1: float, l2: float, h: float, r: float
) -> list[tuple[Array, Array]]:
    """The cart seen from above: body, rear left, rear right and front wheel."""
    c, s, ahead, left = np.cos(heading), np.sin(heading), r * np.cos(steering), r * np.sin(steering)

    def placed(points: list[tuple[Any, Any]]) -> tuple[Array, Array]:
        return np.stack([x + c * a - s * b for a, b in points]), np.stack([y + s * a + c * b for a, b in points])

    body = [(l1, 0.0), (-l2, h), (-l2, -h), (l1, 0.0)]
    front = [(l1 - ahead, -left), (l1 + ahead, left)]
    rear = [[(-l2 - r, side * h), (-l2 + r, side * h)] for side in (1.0, -1.0)]
    return [placed(p) for p in (body, *rear, front)]
