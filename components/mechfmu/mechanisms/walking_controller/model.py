"""Walking controller of the 6-link exoskeleton: virtual forces, and foot placement by the capture point.

    positions and velocities of hip, knees,      +---------------------------------+
    feet and mass centre ----------------------->|  stance leg: carries, balances  |-> hip.moment[1..2], knees, waist
    angles of body and hinges ------------------>|  swing leg: the next step       |-> ankle of the stance leg
                                                 +---------------------------------+

One leg is the stance leg (s), the other the swing leg (w). They change roles when the swing foot has landed, that is
when it rests at the height of the other one, not earlier than gait.minimum_time after the last change; tau is the time
since then. x is forwards; r is a point, and a cross product stands for its only component.

Where to step. The mass centre c above a foot at p_s moves like a pendulum of height z, omega = sqrt(g/z); its capture
point is

    xi = c_x + c_x'/omega ,        xi' = omega (xi - p_s)                                                      (1)

A gait of steps S, each of duration T, begins each step with xi = p_s + b and ends it one step further:

    b exp(omega T) = S + b    ->    b = S / (exp(omega T) - 1)                                                 (2)

The swing foot goes to where this holds, as predicted from the present capture point:

    p = p_s + S + k (xi_T - p_s - S - b) ,        xi_T = p_s + (xi - p_s) exp(omega (T - tau))                 (3)

within `placement.reach` of the hip. k = 1 corrects all of the error in one step. During the step, the ankle shifts the
centre of pressure by

    a = ka (xi - p_s - b exp(omega tau))   within its limit ,        M_ankle = -a R_y                          (4)

How to get there. The swing foot is drawn along a path from where it left the ground (x_0) to p, with
q = tau/(arrival T), r = tau/T, both at most 1:

    x_d = x_0 + (p - x_0) q^3 (10 - 15 q + 6 q^2)
    y_d = h sin^2(pi r), and after T downwards with the speed `swing.descent`                                  (5)
    F = K (r_d - r_w) + D (r_d' - r_w') + (0, W)                                                               (6)
    M_hip,w = (r_w - r_hip) x F        M_knee,w = (r_w - r_knee) x F                                           (7)

How to stand. The body is held by both hips, the hip by the stance leg, as if the leg had no mass:

    M_hip,s = -M_hip,w - [kt (pi/2 - lean - phi_5) - dt phi_5']                                                (8)
    R_y = N + ky (y_hip* - y_hip) - dy y_hip'   at least `support.force_min`                                   (9)
    R_x from  M_hip,s + (r_s - r_hip) x R - M_ankle = 0         M_knee,s = M_ankle - (r_s - r_knee) x R       (10)

The waist is held straight by a spring and a damper; a spring keeps nearly straight knees from bending backwards.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...model.mechanism import Array, Mechanism
from ...model.variables import Row

LOWEST = 0.1  # m: a leg whose hip is less than this above its foot does not walk; keeps (10) finite

LEG_CHANGE = "leg_change"  # the event


PARAMETERS = (
    Row("S", "gait.step_length", "parameter", "length of a step that the controller aims at", "m", start=0.45),
    Row("T", "gait.step_time", "parameter", "duration of a step", "s", start=0.5, above=0.0),
    Row("T_min", "gait.minimum_time", "parameter", "a step does not end earlier than this after its beginning", "s",
        start=0.2, above=0.0),
    Row("y_landed", "landing.height", "parameter", "a foot less than this above the other one, and slow, has landed",
        "m", start=1e-3, above=0.0),
    Row("v_landed", "landing.speed", "parameter", "a foot slower than this, and low, has landed", "m/s", start=0.01,
        above=0.0),
    Row("gravity", "gravity", "parameter", "acceleration of gravity", "m/s2", start=9.81, above=0.0),
    Row("z", "pendulum.height", "parameter", "height of the mass centre above the ground, as the capture point sees it",
        "m", start=1.0, above=0.0),
    Row("k", "placement.gain", "parameter", "share of the error of the capture point that the next step corrects", "1",
        start=0.9, min=0.0),
    Row("reach", "placement.reach", "parameter", "largest horizontal distance of the next step from the hip", "m",
        start=0.45, min=0.0),
    Row("ka", "ankle.gain", "parameter", "shift of the centre of pressure per error of the capture point", "1",
        start=1.5, min=0.0),
    Row("a_max", "ankle.limit", "parameter", "largest shift of the centre of pressure; 0: no ankle moment", "m",
        start=0.08, min=0.0),
    Row("y_d", "support.height", "parameter", "height of the hip above the stance foot", "m", start=0.86, above=0.0),
    Row("N", "support.force", "parameter", "force with which the stance leg carries the hip at that height", "N",
        start=670.0, min=0.0),
    Row("ky", "support.stiffness", "parameter", "more of it per error of the height", "N/m", start=6000.0, min=0.0),
    Row("dy", "support.damping", "parameter", "less of it per vertical velocity of the hip", "N.s/m", start=1000.0,
        min=0.0),
    Row("N_min", "support.force_min", "parameter", "smallest force with which the stance leg carries the hip", "N",
        start=50.0, min=0.0),
    Row("lean", "body.lean", "parameter", "angle by which the body leans forwards", "rad", start=0.05),
    Row("kt", "body.stiffness", "parameter", "moment on the body per error of its angle", "N.m/rad", start=1500.0,
        min=0.0),
    Row("dt", "body.damping", "parameter", "moment against the angular velocity of the body", "N.m.s/rad", start=200.0,
        min=0.0),
    Row("kw", "waist.stiffness", "parameter", "moment that straightens the waist, per angle", "N.m/rad", start=2000.0,
        min=0.0),
    Row("dw", "waist.damping", "parameter", "moment against the rate of the waist", "N.m.s/rad", start=100.0, min=0.0),
    Row("h", "swing.clearance", "parameter", "height of the swing foot in the middle of a step", "m", start=0.08,
        min=0.0),
    Row("K", "swing.stiffness", "parameter", "force on the swing foot per distance from its path", "N/m", start=2500.0,
        min=0.0),
    Row("D", "swing.damping", "parameter", "force on the swing foot per difference of velocity", "N.s/m", start=150.0,
        min=0.0),
    Row("W", "swing.weight", "parameter", "force on the swing foot that carries the leg", "N", start=60.0, min=0.0),
    Row("arrival", "swing.arrival", "parameter", "part of the step after which the swing foot is above its place", "1",
        start=0.9, above=0.0),
    Row("descent", "swing.descent", "parameter", "downward speed of the swing foot when the time of the step is over",
        "m/s", start=0.3, min=0.0),
    Row("bend", "knee.bend_min", "parameter", "bend of a knee below which a spring keeps it from going straight", "rad",
        start=0.15),
    Row("kk", "knee.stiffness", "parameter", "stiffness of that spring", "N.m/rad", start=1500.0, min=0.0),
    Row("first", "stance_start", "parameter", "the leg that stands first", start=1, min=1, max=2, kind="Integer"),
    Row("lift_start", "lift_x_start", "parameter", "where the other foot is at the start, horizontal", "m"),
)  # fmt: skip

INPUTS = (
    Row("hip_x", "hip.x", "input", "horizontal position of the hip", "m"),
    Row("hip_y", "hip.y", "input", "vertical position of the hip", "m"),
    Row("hip_vy", "hip.velocity_y", "input", "vertical velocity of the hip", "m/s"),
    Row("knee_x", ("link[2].end_x", "link[3].end_x"), "input", "horizontal position of the knee", "m", 2),
    Row("knee_y", ("link[2].end_y", "link[3].end_y"), "input", "vertical position of the knee", "m", 2),
    Row("foot_x", "foot[{k}].x", "input", "horizontal position of foot {k}", "m", 2),
    Row("foot_y", "foot[{k}].y", "input", "vertical position of foot {k}", "m", 2),
    Row("foot_vx", "foot[{k}].velocity_x", "input", "horizontal velocity of foot {k}", "m/s", 2),
    Row("foot_vy", "foot[{k}].velocity_y", "input", "vertical velocity of foot {k}", "m/s", 2),
    Row("com_x", "com.x", "input", "horizontal position of the mass centre", "m"),
    Row("com_vx", "com.velocity_x", "input", "horizontal velocity of the mass centre", "m/s"),
    Row("body", "link[5].angle", "input", "absolute angle of the body", "rad"),
    Row("body_rate", "link[5].rate", "input", "angular velocity of the body", "rad/s"),
    Row("knee", ("link[2].hinge_angle", "link[3].hinge_angle"), "input", "angle of the shank minus that of the thigh",
        "rad", 2),
    Row("waist", "link[6].hinge_angle", "input", "angle of the lower minus that of the upper part of the body", "rad"),
    Row("waist_rate", "link[6].hinge_rate", "input", "rate of that angle", "rad/s"),
)  # fmt: skip

DISCRETE_STATES = (
    Row("stance", "stance", "discrete", "the leg that stands", kind="Integer"),
    Row("steps", "steps", "discrete", "number of steps so far", kind="Integer"),
    Row("began", "step.start_time", "discrete", "when the present step began", "s"),
    Row("lift_x", "step.lift_x", "discrete", "where the swing foot was then, horizontal", "m"),
    Row("length", "step.length", "discrete", "length of the last step", "m"),
)

OUTPUTS = (
    Row("MH", "hip.moment[{k}]", "output", "hip moment: + on leg {k}, - on the body", "N.m", 2),
    Row("MK", ("link[2].moment", "link[3].moment"), "output", "knee moment: + on the shank, - on the thigh", "N.m", 2),
    Row(
        "MA", ("link[1].moment", "link[4].moment"), "output", "ankle moment: + on the ground, - on the shank", "N.m", 2
    ),
    Row("MW", "link[6].moment", "output", "waist moment: + on the lower, - on the upper part of the body", "N.m"),
    Row("capture", "capture.x", "output", "capture point, horizontal", "m"),
    Row("pressure", "ankle.pressure_x", "output", "shift of the centre of pressure from the stance foot", "m"),
    Row("place", "placement.x", "output", "desired position of the next touch-down, horizontal", "m"),
    Row("path_x", "swing.x", "output", "desired position of the swing foot, horizontal", "m"),
    Row("path_y", "swing.y", "output", "desired height of the swing foot above the stance foot", "m"),
)


class Step(NamedTuple):
    """The present step."""

    tau: Array
    capture: Array  # xi
    pressure: Array  # a
    place: Array  # p
    x: Array  # of the swing foot: path and velocity
    y: Array
    vx: Array
    vy: Array


class WalkingController(Mechanism):
    """Moments from measurements of a 6-link exoskeleton, by gait, supported weight and gains, without its model."""

    key = "walking_controller"
    title = "Walking controller of the 6-link exoskeleton: virtual forces, and foot placement by the capture point"

    def rows(self) -> tuple[Row, ...]:
        return (*PARAMETERS, *INPUTS, *DISCRETE_STATES, *OUTPUTS)

    def initial(self, p: Array) -> tuple[Array, Array]:
        P = self.table.p(p)
        zero = 0.0 * P.T
        return np.zeros(0), self.table.d.pack(stance=P.first, steps=zero, began=zero, lift_x=P.lift_start, length=zero)

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return np.zeros(0)

    # --- the change of legs -------------------------------------------------------------------------------------------

    event_names = (LEG_CHANGE,)

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        """Crosses zero when the swing foot is low and slow, the hip above it, and the step has lasted long enough."""
        D, U, P = self.table.d(d), self.table.u(u), self.table.p(p)
        foot_y = _swing(D, U.foot_y)
        low, upright = foot_y - _stance(D, U.foot_y) - P.y_landed, U.hip_y - foot_y - LOWEST
        slow = _swing(D, U.foot_vx) ** 2 + _swing(D, U.foot_vy) ** 2 - P.v_landed**2
        return np.stack([np.maximum(np.maximum(low, slow), np.maximum(-upright, D.began + P.T_min - t))])

    def jump(self, t: Array, x: Array, d: Array, u: Array, p: Array, event: str) -> tuple[Array, Array]:
        D, U = self.table.d(d), self.table.u(u)
        old, new = _stance(D, U.foot_x), _swing(D, U.foot_x)
        return x, self.table.d.pack(
            stance=3.0 - D.stance, steps=D.steps + 1.0, began=t + 0.0 * D.began, lift_x=old, length=new - old
        )

    # --- the law ------------------------------------------------------------------------------------------------------

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        D, U, P = self.table.d(d), self.table.u(u), self.table.p(p)
        step = self._step(t, D, U, P)
        foot_x, foot_y = _swing(D, U.foot_x), _swing(D, U.foot_y)
        ground = _stance(D, U.foot_y)
        Fx = P.K * (step.x - foot_x) + P.D * (step.vx - _swing(D, U.foot_vx))  # (6)
        Fy = P.K * (ground + step.y - foot_y) + P.D * (step.vy - _swing(D, U.foot_vy)) + P.W
        hip_w = (foot_x - U.hip_x) * Fy - (foot_y - U.hip_y) * Fx  # (7)
        knee_w = (foot_x - _swing(D, U.knee_x)) * Fy - (foot_y - _swing(D, U.knee_y)) * Fx
        hip_s = -hip_w - P.kt * (np.pi / 2 - P.lean - U.body) + P.dt * U.body_rate  # (8)
        Ry = np.maximum(P.N + P.ky * (P.y_d - (U.hip_y - ground)) - P.dy * U.hip_vy, P.N_min)  # (9)
        foot_x = _stance(D, U.foot_x)
        ankle = -step.pressure * Ry  # (4)
        Rx = -((foot_x - U.hip_x) * Ry + hip_s - ankle) / np.maximum(U.hip_y - ground, LOWEST)  # (10)
        knee_s = ankle - (foot_x - _stance(D, U.knee_x)) * Ry + (ground - _stance(D, U.knee_y)) * Rx
        return self.table.y.pack(
            MH=_by_leg(D, hip_s, hip_w),
            MK=_by_leg(D, knee_s, knee_w) - P.kk * np.maximum(P.bend + U.knee, 0.0),
            MA=_by_leg(D, ankle, 0.0 * ankle),
            MW=-P.kw * U.waist - P.dw * U.waist_rate,
            capture=step.capture,
            pressure=step.pressure,
            place=step.place,
            path_x=step.x,
            path_y=step.y,
        )

    def _step(self, t: Array, D: Any, U: Any, P: Any) -> Step:
        """(1)-(5)"""
        tau, omega, stands = t - D.began, np.sqrt(P.gravity / P.z), _stance(D, U.foot_x)
        within = np.minimum(np.maximum(tau, 0.0), P.T)
        late = tau - within
        ahead = U.com_x + U.com_vx / omega - stands  # (1)
        b = P.S / (np.exp(omega * P.T) - 1.0)  # (2)
        place = stands + P.S + P.k * (ahead * np.exp(omega * (P.T - within)) - P.S - b)  # (3)
        place = np.minimum(np.maximum(place, U.hip_x - P.reach), U.hip_x + P.reach)
        pressure = np.minimum(np.maximum(P.ka * (ahead - b * np.exp(omega * within)), -P.a_max), P.a_max)  # (4)
        q, r = np.minimum(within / (P.arrival * P.T), 1.0), within / P.T  # (5)
        way = place - D.lift_x
        x = D.lift_x + way * q**3 * (10.0 - 15.0 * q + 6.0 * q**2)
        vx = way * 30.0 * q**2 * (1.0 - q) ** 2 / (P.arrival * P.T)
        y = P.h * np.sin(np.pi * r) ** 2 - P.descent * late
        vy = np.where(late > 0, -P.descent, P.h * np.pi * np.sin(2 * np.pi * r) / P.T)
        return Step(tau, stands + ahead, pressure, place, x, y, vx, vy)


def _stance(D: Any, of_legs: Array) -> Array:
    return np.where(D.stance > 1.5, of_legs[1], of_legs[0])


def _swing(D: Any, of_legs: Array) -> Array:
    return np.where(D.stance > 1.5, of_legs[0], of_legs[1])


def _by_leg(D: Any, stance: Array, swing: Array) -> Array:
    """The values of leg 1 and leg 2."""
    return np.stack([np.where(D.stance > 1.5, swing, stance), np.where(D.stance > 1.5, stance, swing)])
