"""Controller of the wheeled cart: the torques with which M moves as a guidance field says, to the target and around the obstacles.

    pose, steering, speed of the cart ->+----------------------------------+
    target -------------------------->  | F: guidance field                | -> wheel.left_torque, wheel.right_torque, steering.torque
    obstacles ------------------------->| y, z: programmed constraints     | -> clearances, violations, flags
                                        +----------------------------------+

No state, no clock: target and obstacles are what they are now, and they are taken to go on with their velocities. The guidance field stands in
control/guidance.py, the programmed constraints and the torques in mechanisms/cart_controller/program.py. Obstacles are inflated by the footprint of the cart first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...control.guidance import (
    Guidance,
    Obstacle,
    apart,
    article_field,
    distances,
    inflated,
    influence_needed,
    present,
    safe_field,
)
from ...control.jets import constant, constants
from ...model.mechanism import Array, Mechanism, Note, Option
from ...model.variables import Row
from ..wheeled_cart.equations import Constants, constants_of
from ..wheeled_cart.shared import CART_ROWS, START, cart_of, limited, obstacles_of, scenario_rows, target_of
from .program import Gains, Law, free_law, rigid_law

STARTS_INSIDE, OBSTACLES_OVERLAP, TARGET_BLOCKED = "starts_inside", "obstacles_overlap", "target_blocked"  # events
ARTICLE = {"a": 3.2, "b": 8.4}  # the published rates of approach


class CartController(Mechanism):
    """State of the cart, target and obstacles in; torques out. Its parameters are those of the cart it believes in."""

    key = "cart_controller"
    title = "Controller of the wheeled cart: programmed constraints on a guidance field around moving obstacles"
    option_list = (
        Option("obstacles", 2, "number of obstacles", min=1, max=20),
        Option(
            "front",
            "rigid",
            "the law for a front wheel that does not slide sideways, or for one that does",
            choices=("rigid", "free"),
        ),
        Option(
            "guidance",
            "safe",
            "the field that keeps off the obstacles, or the published one with its failures",
            choices=("safe", "article"),
        ),
    )
    stop_time = 20.0

    @property
    def count(self) -> int:
        return int(self.options["obstacles"])

    @property
    def rigid(self) -> bool:
        return bool(self.options["front"] == "rigid")

    @property
    def safe(self) -> bool:
        return bool(self.options["guidance"] == "safe")

    def rows(self) -> tuple[Row, ...]:
        n = self.count
        safe = [
            Row("K", "guidance.gain", "parameter", "rate of approach near the target", "1/s", start=0.8, above=0.0),
            Row(
                "vc",
                "guidance.cruise_speed",
                "parameter",
                "speed far from the target, relative to it",
                "m/s",
                start=0.6,
                above=0.0,
            ),
            Row(
                "d",
                "guidance.influence",
                "parameter",
                "distance at which an obstacle begins to act",
                "m",
                start=0.5,
                above=0.0,
            ),
            Row(
                "eps",
                "guidance.smoothing",
                "parameter",
                "speed over which braking before an obstacle sets in",
                "m/s",
                start=0.05,
                above=0.0,
            ),
            Row(
                "beta",
                "guidance.swirl",
                "parameter",
                "share of the removed approach that becomes motion around the obstacle",
                "1",
                start=0.1,
                min=0.0,
            ),
            Row(
                "kout",
                "guidance.push_out",
                "parameter",
                "rate of leaving an obstacle that was entered",
                "1/s",
                start=1.0,
                min=0.0,
            ),
        ]
        article = [
            Row("fa", "guidance.rate_x", "parameter", "a of the published field", "1", start=ARTICLE["a"], above=0.0),
            Row("fb", "guidance.rate_y", "parameter", "b of the published field", "1", start=ARTICLE["b"], above=0.0),
        ]
        allocation = [
            Row(
                "allocation",
                "constraint.allocation",
                "parameter",
                "how the rear wheels share the drive: least effort, or no side load on the front wheel",
                start=1,
                min=1,
                max=2,
                kind="Integer",
                items=("minimum_norm", "zero_side_load"),
            )
        ]
        speeds = (
            [
                Row(
                    "w",
                    "front.speed",
                    "input",
                    "ground speed of the front wheel along its own plane",
                    "m/s",
                    start=START["speed"],
                )
            ]
            if self.rigid
            else [
                Row("vx", "pose.velocity_x", "input", "velocity of M, x", "m/s", start=START["speed"]),
                Row("vy", "pose.velocity_y", "input", "velocity of M, y", "m/s"),
            ]
        )
        needed = [
            Row(
                "needed",
                "guidance.influence_needed",
                "output",
                "influence distance with which the wheel torques can brake in time",
                "m",
            )
        ]
        z = ["constraint.z"] if self.rigid else ["constraint.z_x", "constraint.z_y"]
        return (
            *CART_ROWS,
            *(safe if self.safe else article),
            Row("Rc", "guidance.footprint", "parameter", "largest distance from M to a point of the cart; 0: only M keeps off the obstacles", "m",
                min=0.0),
            Row("k_0", "constraint.k0", "parameter", "decay of the steering violation y: y'' = -k0 y - k1 y'", "1/s2", start=16.0, above=0.0),
            Row("k_1", "constraint.k1", "parameter", "its damping", "1/s", start=8.0, above=0.0),
            Row("k_z", "constraint.kz", "parameter", "decay of the speed violation z: z' = -kz z", "1/s", start=3.0, above=0.0),
            Row("es", "constraint.damping", "parameter", "speed below which steering is damped, not inverted; 0: exact, singular where the field vanishes",
                "m/s", start=0.03, min=0.0),
            Row("kd", "constraint.rate_gain", "parameter", "decay of the steering rate where it is damped", "1/s", start=4.0, min=0.0),
            *(allocation if self.rigid else ()),
            Row("M_max", "limit.wheel_torque", "parameter", "largest torque of a rear wheel; 0: no limit", "N.m", start=10.0, min=0.0),
            Row("R_max", "limit.steering_torque", "parameter", "largest steering torque; 0: no limit", "N.m", start=1.0, min=0.0),
            Row("q1", "pose.x", "input", "position of M, x", "m", start=START["x"]),
            Row("q2", "pose.y", "input", "position of M, y", "m", start=START["y"]),
            Row("q4", "pose.heading", "input", "heading", "rad", start=START["heading"]),
            Row("q3", "steering.angle", "input", "steering angle", "rad", start=START["steering"]),
            Row("sg", "steering.rate", "input", "rate of the steering angle", "rad/s"),
            *speeds,
            *scenario_rows("input", n),
            Row("M1", "wheel.left_torque", "output", "torque for the rear left wheel, within its limit", "N.m"),
            Row("M2", "wheel.right_torque", "output", "torque for the rear right wheel, within its limit", "N.m"),
            Row("R3", "steering.torque", "output", "steering torque, within its limit", "N.m"),
            Row("M1_asked", "wheel.left_torque_requested", "output", "torque of the rear left wheel without limit", "N.m"),
            Row("M2_asked", "wheel.right_torque_requested", "output", "torque of the rear right wheel without limit", "N.m"),
            Row("R3_asked", "steering.torque_requested", "output", "steering torque without limit", "N.m"),
            Row("F1", "guidance.velocity_x", "output", "velocity that M shall have, x", "m/s"),
            Row("F2", "guidance.velocity_y", "output", "velocity that M shall have, y", "m/s"),
            Row("y", "constraint.y", "output", "sideways speed the front wheel would have if M moved as it shall", "m/s"),
            Row("y_rate", "constraint.y_rate", "output", "its rate", "m/s2"),
            Row("z", tuple(z), "output", "violation of the speed", "m/s", len(z)),
            Row("theta3", "constraint.theta3", "output", "dy/d(steering angle): where it vanishes, steering has no effect on y", "m/s"),
            Row("w_desired", "front.speed_desired", "output", "speed the front wheel shall have", "m/s"),
            Row("clearance", "clearance[{k}]", "output", "distance of M to the boundary of obstacle {k}, inflated by the footprint; 1e6: not there", "m", n),
            Row("clearance_min", "clearance_min", "output", "smallest of the clearances", "m"),
            *(needed if self.safe else ()),
            *(Row(symbol, symbol, "output", f"1 when {text}, otherwise 0", "1") for symbol, text in self._flags().items()),
        )  # fmt: skip

    def _flags(self) -> dict[str, str]:
        flags = {
            "inside_obstacle": "M is inside an inflated obstacle",
            "overlapping_obstacles": "two inflated obstacles overlap",
            "target_blocked": "the target is inside an inflated obstacle",
            "steering_degraded": "steering hardly acts on y and is damped",
            "saturated": "a torque is at its limit",
        }
        return flags | (
            {"influence_short": "the influence distance is shorter than braking may need"} if self.safe else {}
        )

    # --- the start ----------------------------------------------------------------------------------------------------

    @property
    def event_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return (STARTS_INSIDE, OBSTACLES_OVERLAP, TARGET_BLOCKED, *self._touches)

    @property
    def _touches(self) -> list[str]:
        return [f"touches_obstacle[{k}]" for k in range(1, self.count + 1)]

    @property
    def event_notes(self) -> dict[str, Note]:  # type: ignore[override]
        inflated = "(inflated by guidance.footprint)"
        return {
            STARTS_INSIDE: Note(f"the cart starts inside an obstacle {inflated}", stop=True, only_at_start=True),
            OBSTACLES_OVERLAP: Note(f"two obstacles overlap {inflated}", stop=True, only_at_start=True),
            TARGET_BLOCKED: Note(f"the target is inside an obstacle {inflated}", stop=True, only_at_start=True),
        } | {event: Note(f"the cart touches obstacle[{k}] {inflated}") for k, event in enumerate(self._touches, 1)}

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        U, P = self.table.u(u), self.table.p(p)
        obstacles, target = self._obstacles(U, P), target_of(U)
        clearance = distances(U.q1, U.q2, obstacles)
        found = {
            STARTS_INSIDE: _least(clearance),
            OBSTACLES_OVERLAP: _separation(obstacles),
            TARGET_BLOCKED: _least(distances(target.x, target.y, obstacles)),
        } | dict(zip(self._touches, clearance, strict=True))
        return np.stack([found[event] for event in self.event_names])

    def initial(self, p: Array) -> tuple[Array, Array]:
        return np.zeros(0), np.zeros(0)

    # --- the equations ------------------------------------------------------------------------------------------------

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return np.zeros(0)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        U, P = self.table.u(u), self.table.p(p)
        k, obstacles, target = constants_of(cart_of(P)), self._obstacles(U, P), target_of(U)
        law = self._law(U, P, k, obstacles)
        M1, M2, R3 = limited(law.M1, P.M_max), limited(law.M2, P.M_max), limited(law.R3, P.R_max)
        F1, F2 = self._field(target, obstacles, P)(constant(U.q1), constant(U.q2), constant(0.0))
        clearance = distances(U.q1, U.q2, obstacles)
        beyond = np.abs(law.M1 - M1) + np.abs(law.M2 - M2) + np.abs(law.R3 - R3)
        found = {
            "inside_obstacle": _least(clearance) < 0.0,
            "overlapping_obstacles": _separation(obstacles) <= 0.0,
            "target_blocked": _least(distances(target.x, target.y, obstacles)) <= 0.0,
            "steering_degraded": np.abs(law.theta3) < P.es,
            "saturated": beyond > 0.0,
        }
        extra = {}
        if self.safe:
            has_limit = P.M_max > 0.0
            needed = influence_needed(obstacles, P.vc, 2.0 * np.where(has_limit, P.M_max, 1.0) / (k.r * k.ae))
            extra["needed"] = np.where(has_limit, needed, 0.0)
            found["influence_short"] = P.d < extra["needed"]
        return self.table.y.pack(
            M1=M1, M2=M2, R3=R3, M1_asked=law.M1, M2_asked=law.M2, R3_asked=law.R3, F1=F1.c[0], F2=F2.c[0], y=law.y, y_rate=law.y_rate, z=law.z,
            theta3=law.theta3, w_desired=law.w_desired, clearance=np.stack(clearance), clearance_min=_least(clearance),
            **extra, **{name: np.where(flag, 1.0, 0.0) for name, flag in found.items()},
        )  # fmt: skip

    def _obstacles(self, U: Any, P: Any) -> list[Obstacle]:
        return [inflated(present(o), P.Rc) for o in obstacles_of(U, self.count)]

    def _field(self, target: Any, obstacles: list[Obstacle], P: Any) -> Any:
        """field(q1, q2, t) on jets; t counts from now."""
        target, obstacles = constants(target), [constants(o) for o in obstacles]
        guidance: Any = (
            constants(Guidance(P.K, P.vc, P.d, P.eps, P.beta, P.kout))
            if self.safe
            else (constant(P.fa), constant(P.fb))
        )

        def field(q1: Array, q2: Array, t: Array) -> tuple[Array, Array]:
            later = (
                target._replace(x=t * target.vx + target.x, y=t * target.vy + target.y),
                [o.after(t) for o in obstacles],
            )
            return safe_field(q1, q2, *later, guidance) if self.safe else article_field(q1, q2, *later, *guidance)

        return field

    def _law(self, U: Any, P: Any, k: Constants, obstacles: list[Obstacle]) -> Law:
        field, gains = self._field(target_of(U), obstacles, P), Gains(P.k_0, P.k_1, P.k_z, P.es, P.kd)
        q = np.stack([U.q1, U.q2, U.q3, U.q4])
        if self.rigid:
            return rigid_law(field, q, U.w, U.sg, k, gains, P.allocation - 1.0)
        return free_law(field, q, np.stack([U.vx, U.vy, U.sg]), k, gains)


def _least(values: list[Array]) -> Array:
    smallest = values[0]
    for value in values[1:]:
        smallest = np.minimum(smallest, value)
    return smallest


def _separation(obstacles: list[Obstacle]) -> Array:
    """Positive when no two obstacles that are there overlap."""
    pairs = [(a, b) for i, a in enumerate(obstacles) for b in obstacles[i + 1 :]]
    return (
        _least([np.where(a.active * b.active > 0.25, apart(a, b), 1.0) for a, b in pairs])
        if pairs
        else 1.0 + 0.0 * obstacles[0].x
    )
