"""Deformable exoskeleton: a planar tree of rods of variable length that meet at the hip, in flight and on its feet.

              o head
              |                     phi_i  absolute angles, l_i lengths; link 1 = shank of leg 1 ... (see topology.py)
              |  body               link: spring k (l - l0), damper d l', actuator Fa along it, or a given length
        MH1   o   MH2   hip (x, y)  hinge: moment M, +M on the lower and -M on the upper link; spring, damper
             / \\
      leg 1 o   o leg 2             M_1 and M_(k+p) are the ankles: they act between foot and ground while it is pinned
           /     \\
     R_1  o       o  R_2            R_b: reaction on foot b
    ---------------------- ground

    phase    0 flight      1 foot 1 pinned      2 foot 2 pinned      3 both

    variables.py                  the table                    events.py     touch-down, lift-off and other events
    matrices.py, recursion.py     the equations of motion: to read, to run          start.py      the start state
    contact.py                    reactions and impacts        dynamics.py   forces and accelerations in a phase
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ...model.drawing import Drawing
from ...model.mechanism import Array, Mechanism, Note, Option
from ...model.variables import Row
from . import drawing, dynamics, events, start, variables
from . import matrices as dense
from .configuration import Configuration
from .topology import Limbs


class Exoskeleton(Mechanism):
    """Two legs and a body of links with variable lengths; flight, single and double support."""

    key = "exoskeleton"
    title = "Planar exoskeleton with deformable links: flight, support, impact"
    option_list = (
        Option("leg1", 2, "number of links in leg 1", min=1, max=400),
        Option("leg2", 2, "number of links in leg 2", min=1, max=400),
        Option("body", 2, "number of links in the body", min=1, max=400),
        Option(
            "contact",
            "automatic",
            "feet touch down and lift off by themselves, never do, are pinned throughout, or get forces from outside",
            choices=("automatic", "flight", "pinned", "external"),
        ),
        Option(
            "inertia",
            "constant",
            "moments of inertia of the links: constant, inputs, or proportional to the square of the length",
            choices=("constant", "prescribed", "length"),
        ),
        Option(
            "lengths",
            "free",
            "free: every link is elastic or locked; prescribed: links can also follow inputs",
            choices=("free", "prescribed"),
        ),
        Option("push", "none", "a force on the hip from outside: none, or inputs", choices=("none", "hip")),
    )
    stop_time = 0.6  # a drop, a bounce, a landing; later, touch-downs in quick succession amplify rounding
    step_size = 0.01

    @classmethod
    def three_link(cls, **options: Any) -> Exoskeleton:
        """The paper's model with straight legs and body: k = p = r = 1."""
        return cls(leg1=1, leg2=1, body=1, **options)

    @classmethod
    def six_link(cls, **options: Any) -> Exoskeleton:
        """The paper's model with knees and a waist: k = p = r = 2."""
        return cls(leg1=2, leg2=2, body=2, **options)

    @cached_property
    def limbs(self) -> Limbs:
        return Limbs(self.options["leg1"], self.options["leg2"], self.options["body"])

    @cached_property
    def configuration(self) -> Configuration:
        contact, inertia, lengths, push = (self.options[name] for name in ("contact", "inertia", "lengths", "push"))
        return Configuration(self.limbs, contact, inertia, lengths == "prescribed", push == "hip")

    def rows(self) -> tuple[Row, ...]:
        return variables.rows(self.configuration)

    # --- the start ----------------------------------------------------------------------------------------------------

    def initial(self, p: Array) -> tuple[Array, Array]:
        X, D = start.start_state(self.configuration, self.table.p(p))
        return self.table.x.pack(**vars(X)), self.table.d.pack(**vars(D))

    @property
    def requirement_texts(self) -> tuple[str, ...]:  # type: ignore[override]
        return start.requirement_texts(self.configuration)

    def requirements(self, p: Array) -> Array:
        return start.requirements(self.configuration, self.table.p(p))

    # --- the equations ------------------------------------------------------------------------------------------------

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        X, D, U, P = self.table.x(x), self.table.d(d), self.table.u(u), self.table.p(p)
        config = self.configuration
        internal, ground, acceleration, points = dynamics.dynamics(config, X, D, U, P)
        _, I_rate = dynamics.inertia(config, U, P)
        shape_work = -0.5 * np.sum(I_rate * X.w**2)
        work = np.sum(U.Fa * X.ld) + shape_work + dynamics.moment_power(self.limbs, X, U, ground.ankles)
        if config.prescribed:
            work = work + np.sum(acceleration.axial * X.ld)
        if config.contact == "external":
            for b in range(2):
                v = points.foot_velocity(self.limbs, b)
                work = work + ground.R[b][0] * v[0] + ground.R[b][1] * v[1]
        if config.pushed:
            work = work + U.push_x * X.vx + U.push_y * X.vy
        loss = np.sum(P.d * X.ld**2) + internal.loss
        velocities = dict(x=X.vx, y=X.vy, phi=X.w, l=X.ld)
        accelerations = dict(vx=acceleration.x, vy=acceleration.y, w=acceleration.phi, ld=acceleration.l)
        return self.table.x.pack(**velocities, **accelerations, work=work, loss=loss, shape_work=shape_work)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        X, D, U, P = self.table.x(x), self.table.d(d), self.table.u(u), self.table.p(p)
        config, limbs = self.configuration, self.limbs
        internal, ground, acceleration, points = dynamics.dynamics(config, X, D, U, P)
        total = dynamics.totals_of(config, X, P, dynamics.inertia(config, U, P)[0], points)
        potential = total.potential + dynamics.hinge_energy(limbs, X, P)
        foot_x, foot_y = _of_feet(points.foot(limbs, b) for b in range(2))
        foot_vx, foot_vy = _of_feet(points.foot_velocity(limbs, b) for b in range(2))
        Rx, Ry = _of_feet(ground.R)
        return self.table.y.pack(
            x_acc=acceleration.x, y_acc=acceleration.y, phi_acc=acceleration.phi, l_acc=acceleration.l,
            thrust=internal.spring + acceleration.axial,
            h=dynamics.hinge_differences(limbs, X.phi), hd=dynamics.hinge_differences(limbs, X.w),
            H=dynamics.hip_differences(limbs, X.phi), Hd=dynamics.hip_differences(limbs, X.w),
            end_x=points.end[0], end_y=points.end[1], head_x=points.end[0, -1], head_y=points.end[1, -1],
            foot_x=foot_x, foot_y=foot_y, foot_vx=foot_vx, foot_vy=foot_vy, gap=foot_y - P.y_ground,
            Rx=Rx, Ry=Ry, ankle=np.stack(ground.ankles),
            com_x=total.com[0], com_y=total.com[1], com_vx=total.com_velocity[0], com_vy=total.com_velocity[1],
            Hc=total.angular_momentum, kinetic=total.kinetic, potential=potential, total=total.kinetic + potential,
        )  # fmt: skip

    def matrices(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> dense.Matrices:
        """A..P, F and S of the equations (25') and (26') in the paper's notation: `m.matrices(*m.start()).A`."""
        X, D, U, P = self.table.x(x), self.table.d(d), self.table.u(u), self.table.p(p)
        config, limbs = self.configuration, self.limbs
        internal, ground, _, _ = dynamics.dynamics(config, X, D, U, P)
        I, I_rate = dynamics.inertia(config, U, P)
        links = dense.Links(P.m, P.n, P.l0, P.k, P.d, dynamics.jr(config, P), P.ja)
        state = dense.State(np.concatenate([[X.x, X.y], X.phi]), np.concatenate([[X.vx, X.vy], X.w]), X.l, X.ld)
        tau = np.array(limbs.moments(dynamics.with_ankles(limbs, internal.M, ground.ankles), internal.MH))
        push = (float(U.push_x), float(U.push_y)) if config.pushed else (0.0, 0.0)
        return dense.matrices(limbs, links, state, dense.Loads(tau, U.Fa, np.array(ground.R), I, I_rate, push))

    def project(self, x: Array, d: Array, p: Array) -> Array:
        if not self.configuration.grounded:
            return x
        X, D, P = self.table.x(x), self.table.d(d), self.table.p(p)
        on = [D.pinned[b] for b in range(2)]
        return self.table.x.pack(**vars(dynamics.project_onto_pins(self.configuration, X, D, P, on, rounds=1)))

    # --- the events ---------------------------------------------------------------------------------------------------

    @cached_property
    def _events(self) -> dict[str, events.Event]:
        return events.events(self.configuration)

    @property
    def event_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self._events)

    @property
    def event_notes(self) -> dict[str, Note]:  # type: ignore[override]
        return events.notes(self.configuration)

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        X, D, U, P = self.table.x(x), self.table.d(d), self.table.u(u), self.table.p(p)
        found = events.guards(self.configuration, t, X, D, U, P)
        return np.stack([found[event] for event in self._events.values()])

    def jump(self, t: Array, x: Array, d: Array, u: Array, p: Array, event: str) -> tuple[Array, Array]:
        if self._events[event].kind not in events.FOOT_EVENTS:
            return x, d
        X, D, U, P = self.table.x(x), self.table.d(d), self.table.u(u), self.table.p(p)
        X, D = events.jump(self.configuration, self._events[event], t, X, D, U, P)
        return self.table.x.pack(**vars(X)), self.table.d.pack(**vars(D))

    # --- the drawing --------------------------------------------------------------------------------------------------

    @property
    def live_start(self) -> Mapping[str, float]:
        """Springs in the joints, and a turn of the body: it lands on its feet, staggers and stands."""
        if self.options["contact"] != "automatic":
            return {}
        legs, hinges = range(1, len(self.limbs.legs) + 1), [i + 1 for i in self.limbs.inner_hinges]
        springs = {f"hip.stiffness[{b}]": 300.0 for b in legs} | {f"hip.damping[{b}]": 20.0 for b in legs}
        springs |= {f"hip.rest_angle[{b}]": angle for b, angle in zip(legs, (-0.25, 0.25), strict=False)}
        springs |= {f"link[{i}].hinge_stiffness": 300.0 for i in hinges}
        springs |= {f"link[{i}].hinge_damping": 20.0 for i in hinges}
        body = max(i for branch in self.limbs.branches for i in branch) + 1
        height = self.start_values()["hip.y_start"] + 0.1
        return {**springs, "hip.y_start": height, f"link[{body}].rate_start": 2.0}

    def strokes(self, value: Any) -> list[tuple[Array, Array]]:
        return drawing.strokes(self.limbs, value)

    def drawing(self, value: Any) -> Drawing:
        config = self.configuration
        return drawing.drawing(self.limbs, config.contact == "automatic", config.pushed, value)


def _of_feet(vectors: Iterable[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Horizontal and vertical components of one vector per foot."""
    x, y = zip(*vectors, strict=True)
    return np.stack(x), np.stack(y)
