"""Controller of the wheeled cart: torques that make M move with the velocity of a guidance field.

    pose, steering, speed of the cart ->+------------------------------+
    target ---------------------------->| F: guidance field            | -> torques of the rear wheels and the steering
    obstacles ------------------------->| y, z: programmed constraints | -> clearances, violations, flags
                                        +------------------------------+

It has no state and no clock: target and obstacles are inputs, and are assumed to continue with their velocities. The
guidance field is in control/guidance.py, the programmed constraints and the torques in program.py. Obstacles are
inflated by the footprint of the cart first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...control.guidance import (
    Guidance,
    Obstacle,
    article_field,
    distances,
    inflated,
    influence_needed,
    present,
    safe_field,
    separation,
)
from ...control.jets import constant, constants
from ...model.mechanism import Array, Mechanism, Note, Option
from ...model.variables import Row
from ..scenario.variables import obstacles_of, target_of
from ..wheeled_cart.equations import Constants, constants_of
from ..wheeled_cart.parameters import cart_of, limited
from .program import Gains, Law, free_law, rigid_law
from .variables import controller_rows

STARTS_INSIDE, OBSTACLES_OVERLAP, TARGET_BLOCKED = "starts_inside", "obstacles_overlap", "target_blocked"  # events


class CartController(Mechanism):
    """State of the cart, target and obstacles in; torques out. Its parameters are those of the cart it is made for."""

    key = "cart_controller"
    title = "Controller of the wheeled cart: programmed constraints on a guidance field around moving obstacles"
    option_list = (
        Option("obstacles", 2, "number of obstacles", min=1, max=20),
        Option("front", "rigid", "the law for a front wheel that does not slide sideways, or for one that does",
               choices=("rigid", "free")),
        Option("guidance", "safe", "the field that keeps off the obstacles, or the published one with its failures",
               choices=("safe", "article")),
    )  # fmt: skip
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
        return controller_rows(self.count, self.rigid, self.safe)

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
            OBSTACLES_OVERLAP: _least_separation(obstacles),
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
            "overlapping_obstacles": _least_separation(obstacles) <= 0.0,
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
        torques = {"M1": M1, "M2": M2, "R3": R3, "M1_asked": law.M1, "M2_asked": law.M2, "R3_asked": law.R3}
        constraints = {name: getattr(law, name) for name in ("y", "y_rate", "z", "theta3", "w_desired")}
        extra |= {"F1": F1.c[0], "F2": F2.c[0], "clearance": np.stack(clearance), "clearance_min": _least(clearance)}
        flags = {name: np.where(flag, 1.0, 0.0) for name, flag in found.items()}
        return self.table.y.pack(**torques, **constraints, **extra, **flags)

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


def _least_separation(obstacles: list[Obstacle]) -> Array:
    """Positive if no two active obstacles overlap."""
    pairs = [(a, b) for i, a in enumerate(obstacles) for b in obstacles[i + 1 :]]
    if not pairs:
        return 1.0 + 0.0 * obstacles[0].x
    return _least([np.where(a.active * b.active > 0.25, separation(a, b), 1.0) for a, b in pairs])
