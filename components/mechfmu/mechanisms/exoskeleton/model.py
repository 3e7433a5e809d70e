"""Deformable exoskeleton: a planar tree of rods that meet at the hip and can change their lengths, in flight and on its feet.

              o head
              |                     phi_i  absolute angles, l_i lengths; link 1 = shank of leg 1 ... (numbering: mechanisms/exoskeleton/topology.py)
              |  body               every link: spring k (l - l0), damper d l', actuator Fa along it, or a locked or prescribed length
        MH1   o   MH2   hip (x, y)  every hinge: moment M, +M on the lower and -M on the upper link, with a spring and a damper if wanted
             / \\
      leg 1 o   o leg 2             M_1 and M_(k+p) are the ankles: they act on the ground, so only while the foot stands on it
           /     \\
     R_1  o       o  R_2            R_b: reaction on foot b
    ---------------------- ground

    phase    0 flight      1 foot 1 pinned      2 foot 2 pinned      3 both

    touch-down   gap falls through 0: a plastic (or restituting) impact of all feet that close then             mechanisms/exoskeleton/contact.py
    lift-off     R_y of a pinned foot falls through 0: it is released, velocities stay

The equations of motion stand in mechanisms/exoskeleton/matrices.py (to read) and mechanisms/exoskeleton/recursion.py (to run).
"""

from __future__ import annotations

from functools import cached_property
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ...model.drawing import Arrow, Drawing, Moment, floor
from ...model.mechanism import Array, Mechanism, Note, Option
from ...model.variables import Row
from . import matrices as dense
from .anthropometry import person
from .contact import Impact, Support, impact, independence, solve, support
from .events import Event, EventKind, events
from .kinematics import Points, Whole, points, whole
from .recursion import Body, Feet, Folded, Force, Motion, Vector, feet, fold, internal_forces, plus, respond, unfold
from .topology import Limbs

RELEASE = 1e-9  # N: a foot is released when its reaction pulls by more
NEAR = 1e-8  # m: feet closer to the ground than this land together
ROOM = 1e-10  # m: a released foot lands this much lower, unless it has risen by as much before. What it gains in speed there must be below the capture speed
DWELL = 1e-6  # s that a foot stays pinned at least
LONG_DWELL = 1e-3  # s, when it lands without having risen: released from a no-slip pin a foot can sink at once, where a real one would slide
SHORTEST = 0.2  # of the rest length
AT_GROUND = 1e-6  # m: a foot that starts closer to the ground than this and rests is pinned there (contact=automatic)
DEEP = 0.01  # m: a foot that is deeper in the ground has been missed by the host's event location
PIN_MISFIT, PIN_SPEED = (
    1e-3,
    1e-3,
)  # m, m/s: what a foot that is to be pinned at the start may be off; the start state is brought onto the pins
SINGULAR = 1e-9  # of the hip's inertia: about the square of the angle between the links
SPREAD = 0.25  # rad: the legs' slant in the default posture
DROP = 0.05  # m above the ground in the default posture


def _slow(v: Vector) -> Array:
    """A foot rests, or nearly."""
    return v[0] ** 2 + v[1] ** 2 <= PIN_SPEED**2


class Internal(NamedTuple):
    """What acts inside, apart from the ankles."""

    spring: Array  # along the links
    M: list[Array]  # hinge moments, springs and dampers included
    MH: Array
    loss: Array  # power


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
    stop_time = 0.6  # a drop, a bounce, a landing; after that feet touch and leave the ground in quick succession, which amplifies rounding
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

    @property
    def contact(self) -> str:
        return str(self.options["contact"])

    @property
    def grounded(self) -> bool:
        """Feet can be pinned."""
        return self.contact in ("automatic", "pinned")

    @property
    def prescribed(self) -> bool:
        return bool(self.options["lengths"] == "prescribed")

    @property
    def pushed(self) -> bool:
        return bool(self.options["push"] == "hip")

    # --- the variables ------------------------------------------------------------------------------------------------

    def rows(self) -> tuple[Row, ...]:
        limbs = self.limbs
        n, k, p = limbs.n, limbs.k, limbs.p
        link = person(limbs.k, limbs.p, limbs.r)
        angle = (np.pi / 2 - SPREAD,) * k + (np.pi / 2 + SPREAD,) * p + (np.pi / 2,) * limbs.r
        hip_y = max(sum(link.l0[:k]), sum(link.l0[k : k + p])) * np.cos(SPREAD) + (
            0.0 if self.contact == "pinned" else DROP
        )
        inner = limbs.inner_hinges
        hinged = tuple(i for i in range(n) if i != k + p)

        def each(links: tuple[int, ...], suffix: str) -> tuple[str, ...]:
            return tuple(f"link[{i + 1}].{suffix}" for i in links)

        inertia_inputs = (
            Row("I", "link[{k}].inertia_input", "input", "moment of inertia of link {k} about its mass centre; 0: link[{k}].inertia, constant", "kg.m2", n,
                link.I, min=0.0),
            Row("Id", "link[{k}].inertia_rate_input", "input", "rate of change of that moment of inertia", "kg.m2/s", n),
        )  # fmt: skip
        length_parameters = (
            Row("given", "link[{k}].prescribed", "parameter", "true: the length of link {k} follows its inputs", size=n, kind="Boolean", min=0, max=1),
            Row("pace", "prescribed.bandwidth", "parameter",
                "how fast prescribed lengths follow length_input and length_rate_input; 0: only length_acceleration_input counts", "1/s", min=0.0),
        )  # fmt: skip
        length_inputs = (
            Row(
                "l_in",
                "link[{k}].length_input",
                "input",
                "wanted length of link {k}, when prescribed; 0: link[{k}].rest_length",
                "m",
                n,
                link.l0,
                min=0.0,
            ),
            Row("ld_in", "link[{k}].length_rate_input", "input", "wanted rate of that length", "m/s", n),
            Row(
                "ldd_in",
                "link[{k}].length_acceleration_input",
                "input",
                "wanted acceleration of that length",
                "m/s2",
                n,
            ),
        )
        forces = (
            Row("Fx", "foot[{k}].force_x", "input", "horizontal force of the ground on foot {k}", "N", 2),
            Row("Fy", "foot[{k}].force_y", "input", "vertical force of the ground on foot {k}", "N", 2),
        )
        push = (
            Row("push_x", "push.force_x", "input", "horizontal force on the hip from outside", "N"),
            Row("push_y", "push.force_y", "input", "vertical force on the hip from outside", "N"),
        )
        ground = (
            Row("y_ground", "ground.height", "parameter", "height of the ground (contact=automatic)", "m"),
            Row("mu", "ground.friction", "parameter", "coefficient of friction beyond which a pinned foot reports slip", "1", start=0.8, min=0.0),
            Row("e", "ground.restitution", "parameter", "normal speed after an impact over that before it", "1", min=0.0, max=1.0),
            Row("v_capture", "ground.capture_speed", "parameter", "slower impacts are plastic whatever the restitution; slower feet come to rest together",
                "m/s", start=0.002, min=0.0),
            Row("stab", "ground.stabilization", "parameter", "how fast a pinned foot is drawn back to its place between two projections", "1/s",
                start=10.0, min=0.0),
            Row("a_foot", "foot.half_length", "parameter", "limit of ankle moments: at most half_length * reaction_y (contact=automatic); 0: none act",
                "m", start=0.1, min=0.0),
            Row("falls_end", "ground.falls_end", "parameter", "true: the run ends when hip, knees, waist or head come below the ground (contact=automatic)",
                start=1.0, min=0, max=1, kind="Boolean"),
            Row("pinned_start", "foot[{k}].pinned_start", "parameter",
                "true: foot {k} is pinned at the start (contact=automatic, pinned); at rest within 1e-6 m of the ground it is anyway (automatic)", size=2,
                start=float(self.contact == "pinned"), min=0, max=1, kind="Boolean"),
        )  # fmt: skip
        return (
            Row("gravity", "gravity", "parameter", "acceleration of gravity, along -y", "m/s2", start=9.81),
            Row("m", "link[{k}].mass", "parameter", "mass of link {k}", "kg", n, link.m, above=0.0),
            Row("n", "link[{k}].com_fraction", "parameter", "mass centre of link {k}: fraction of the length from its lower end", "1", n, link.n,
                min=0.0, max=1.0),
            Row("l0", "link[{k}].rest_length", "parameter", "length of link {k} at which its spring is relaxed", "m", n, link.l0, above=0.0),
            Row("I0", "link[{k}].inertia", "parameter", "moment of inertia of link {k} about its mass centre (inertia=length: at rest length)", "kg.m2", n,
                link.I, above=0.0),
            Row("k", "link[{k}].stiffness", "parameter", "axial stiffness of link {k}", "N/m", n, link.k, min=0.0),
            Row("d", "link[{k}].damping", "parameter", "axial damping of link {k}", "N.s/m", n, link.d, min=0.0),
            Row("ja", "link[{k}].axial_inertia", "parameter", "inertia of link {k} against stretching: mass/12 for a uniform rod", "kg", n, link.ja, min=0.0),
            Row("locked", "link[{k}].locked", "parameter", "true: the length of link {k} is locked", size=n, kind="Boolean", min=0, max=1),
            *(length_parameters if self.prescribed else ()),
            Row("k_h", each(inner, "hinge_stiffness"), "parameter", "stiffness of a spring in the hinge at the lower end", "N.m/rad",
                len(inner), min=0.0),
            Row("d_h", each(inner, "hinge_damping"), "parameter", "damping in that hinge", "N.m.s/rad", len(inner), min=0.0),
            Row("rest_h", each(inner, "hinge_rest_angle"), "parameter", "angle of the lower minus that of the upper link at which the spring is relaxed", "rad",
                len(inner)),
            Row("k_H", "hip.stiffness[{k}]", "parameter", "stiffness of a spring between leg {k} and body", "N.m/rad", 2, min=0.0),
            Row("d_H", "hip.damping[{k}]", "parameter", "damping between leg {k} and body", "N.m.s/rad", 2, min=0.0),
            Row("rest_H", "hip.rest_angle[{k}]", "parameter", "angle of leg {k} minus that of the body at which the spring is relaxed", "rad", 2),
            *ground,
            Row("x_start", "hip.x_start", "parameter", "horizontal position of the hip at the start", "m"),
            Row("y_start", "hip.y_start", "parameter", "vertical position of the hip at the start", "m", start=round(float(hip_y), 12)),
            Row("vx_start", "hip.velocity_x_start", "parameter", "horizontal velocity of the hip at the start", "m/s"),
            Row("vy_start", "hip.velocity_y_start", "parameter", "vertical velocity of the hip at the start", "m/s"),
            Row("phi_start", "link[{k}].angle_start", "parameter", "absolute angle of link {k} at the start", "rad", n, angle),
            Row("w_start", "link[{k}].rate_start", "parameter", "angular velocity of link {k} at the start", "rad/s", n),
            Row("l_start", "link[{k}].length_start", "parameter", "length of link {k} at the start", "m", n, link.l0, above=0.0),
            Row("ld_start", "link[{k}].length_rate_start", "parameter", "rate of the length of link {k} at the start", "m/s", n),
            Row("M", each(hinged, "moment"), "input", "moment in the hinge at the lower end: + on the lower, - on the upper link", "N.m", n - 1),
            Row("MH", "hip.moment[{k}]", "input", "hip moment: + on leg {k}, - on the body", "N.m", 2),
            Row("Fa", "link[{k}].axial_force", "input", "actuator along link {k}, positive: lengthening", "N", n),
            *(inertia_inputs if self.options["inertia"] == "prescribed" else ()),
            *(length_inputs if self.prescribed else ()),
            *(forces if self.contact == "external" else ()),
            *(push if self.pushed else ()),
            Row("x", "hip.x", "state", "horizontal position of the hip", "m"),
            Row("y", "hip.y", "state", "vertical position of the hip", "m"),
            Row("phi", "link[{k}].angle", "state", "absolute angle of link {k}, from the horizontal, foot to hip to head", "rad", n),
            Row("l", "link[{k}].length", "state", "length of link {k}", "m", n),
            Row("vx", "hip.velocity_x", "state", "horizontal velocity of the hip", "m/s"),
            Row("vy", "hip.velocity_y", "state", "vertical velocity of the hip", "m/s"),
            Row("w", "link[{k}].rate", "state", "angular velocity of link {k}", "rad/s", n),
            Row("ld", "link[{k}].length_rate", "state", "rate of the length of link {k}", "m/s", n),
            Row("work", "energy.input", "state", "work done by all inputs since the start, prescribed inertia and lengths included", "J"),
            Row("loss", "energy.dissipated", "state", "energy lost in dampers and impacts since the start", "J"),
            Row("shape_work", "energy.inertia", "state", "the part of energy.input that prescribed inertia has done", "J"),
            Row("pinned", "foot[{k}].pinned", "discrete", "foot {k} stands on the ground", size=2, kind="Boolean"),
            Row("armed", "foot[{k}].armed", "discrete", "foot {k} has risen since it was last on the ground", size=2, kind="Boolean"),
            Row("rest", "foot[{k}].release_height", "discrete", "height above the ground from which foot {k} was last released, at most 0", "m", 2),
            Row("slip", "foot[{k}].slip", "discrete", "foot {k} would slip: |reaction_x| > ground.friction * reaction_y", size=2, kind="Boolean"),
            Row("ax", "foot[{k}].anchor_x", "discrete", "where foot {k} is pinned, or was last, horizontal", "m", 2),
            Row("ay", "foot[{k}].anchor_y", "discrete", "where foot {k} is pinned, or was last, vertical", "m", 2),
            Row("touched", "foot[{k}].touch_time", "discrete", "when foot {k} last touched down", "s", 2),
            Row("hold", "foot[{k}].held_until", "discrete", "before then foot {k} is not released again", "s", 2),
            Row("phase", "phase", "discrete", "0 flight, 1 foot 1 on the ground, 2 foot 2, 3 both", kind="Integer"),
            Row("events", "events", "discrete", "number of touch-downs and lift-offs so far; those of one moment count once", kind="Integer"),
            Row("last_event", "last_event_time", "discrete", "time of the last of them", "s"),
            Row("last_loss", "impact_energy_loss", "discrete", "kinetic energy lost in the last impact", "J"),
            Row("x_acc", "hip.acceleration_x", "output", "horizontal acceleration of the hip", "m/s2"),
            Row("y_acc", "hip.acceleration_y", "output", "vertical acceleration of the hip", "m/s2"),
            Row("phi_acc", "link[{k}].acceleration", "output", "angular acceleration of link {k}", "rad/s2", n),
            Row("l_acc", "link[{k}].length_acceleration", "output", "acceleration of the length of link {k}", "m/s2", n),
            Row("thrust", "link[{k}].thrust", "output", "axial force of link {k}, positive: pushing its ends apart", "N", n),
            Row("h", each(inner, "hinge_angle"), "output", "angle of the lower minus that of the upper link in this hinge", "rad", len(inner)),
            Row("hd", each(inner, "hinge_rate"), "output", "rate of that angle", "rad/s", len(inner)),
            Row("H", "hip.angle[{k}]", "output", "angle of leg {k} minus that of the body at the hip", "rad", 2),
            Row("Hd", "hip.rate[{k}]", "output", "rate of that angle", "rad/s", 2),
            Row("end_x", "link[{k}].end_x", "output", "end of link {k} away from the hip, horizontal", "m", n),
            Row("end_y", "link[{k}].end_y", "output", "end of link {k} away from the hip, vertical", "m", n),
            Row("foot_x", "foot[{k}].x", "output", "horizontal position of foot {k}", "m", 2),
            Row("foot_y", "foot[{k}].y", "output", "vertical position of foot {k}", "m", 2),
            Row("foot_vx", "foot[{k}].velocity_x", "output", "horizontal velocity of foot {k}", "m/s", 2),
            Row("foot_vy", "foot[{k}].velocity_y", "output", "vertical velocity of foot {k}", "m/s", 2),
            Row("gap", "foot[{k}].gap", "output", "height of foot {k} above the ground", "m", 2),
            Row("Rx", "foot[{k}].reaction_x", "output", "horizontal force of the ground on foot {k}", "N", 2),
            Row("Ry", "foot[{k}].reaction_y", "output", "vertical force of the ground on foot {k}", "N", 2),
            Row("ankle", "foot[{k}].ankle_moment", "output", "moment that acts in ankle {k}, after its limits", "N.m", 2),
            Row("head_x", "head.x", "output", "horizontal position of the head", "m"),
            Row("head_y", "head.y", "output", "vertical position of the head", "m"),
            Row("com_x", "com.x", "output", "horizontal position of the mass centre", "m"),
            Row("com_y", "com.y", "output", "vertical position of the mass centre", "m"),
            Row("com_vx", "com.velocity_x", "output", "horizontal velocity of the mass centre", "m/s"),
            Row("com_vy", "com.velocity_y", "output", "vertical velocity of the mass centre", "m/s"),
            Row("Hc", "momentum.angular", "output", "angular momentum about the mass centre", "kg.m2/s"),
            Row("kinetic", "energy.kinetic", "output", "kinetic energy", "J"),
            Row("potential", "energy.potential", "output", "potential energy of weight and springs", "J"),
            Row("total", "energy.total", "output", "kinetic and potential energy", "J"),
        )  # fmt: skip

    # --- the start ----------------------------------------------------------------------------------------------------

    def initial(self, p: Array) -> tuple[Array, Array]:
        P = self.table.p(p)
        x = self._start_state(P)
        place = self._points(x, P)
        pin = self._pinned_start(place, P)
        feet_at = [place.foot(self.limbs, b) for b in range(2)]
        pinned = np.stack(pin)
        on_ground = self.contact == "automatic"
        gap = np.stack([self._gap(b, place, P) for b in range(2)]) if on_ground else 1.0 + 0.0 * pinned
        d = self.table.d.pack(
            pinned=pinned, armed=np.where(gap > ROOM, 1.0, 0.0) * (1 - pinned), rest=np.minimum(gap, 0.0), slip=0 * pinned,
            ax=np.stack([f[0] for f in feet_at]), ay=0 * pinned + P.y_ground if on_ground else np.stack([f[1] for f in feet_at]), touched=0 * pinned,
            hold=0 * pinned + DWELL,
            phase=pin[0] + 2 * pin[1], events=0.0, last_event=0.0, last_loss=0.0,
        )  # fmt: skip
        if self.grounded:
            x = self._on_pins(x, self.table.d(d), P, pin, rounds=4)
        return self.table.x.pack(**vars(x)), d

    def _start_state(self, P: Any) -> SimpleNamespace:
        zero = 0.0 * P.x_start
        start = dict(
            x=P.x_start,
            y=P.y_start,
            phi=P.phi_start,
            l=P.l_start,
            vx=P.vx_start,
            vy=P.vy_start,
            w=P.w_start,
            ld=P.ld_start,
        )
        return SimpleNamespace(**start, work=zero, loss=zero, shape_work=zero)

    def _pinned_start(self, place: Points, P: Any) -> list[Array]:
        """Feet that are to be pinned at the start, and with contact=automatic those that rest at the ground."""
        if not self.grounded:
            return [0.0 * P.pinned_start[b] for b in range(2)]
        if self.contact == "pinned":
            return [P.pinned_start[b] for b in range(2)]
        speeds = [place.foot_velocity(self.limbs, b) for b in range(2)]
        rests = [
            np.where(np.abs(self._gap(b, place, P)) <= AT_GROUND, 1.0, 0.0) * np.where(_slow(v), 1.0, 0.0)
            for b, v in enumerate(speeds)
        ]
        return [np.maximum(P.pinned_start[b], rests[b]) for b in range(2)]

    @property
    def requirement_texts(self) -> tuple[str, ...]:  # type: ignore[override]
        locked = tuple(
            f"link[{i + 1}].length_rate_start must be 0: link[{i + 1}].locked is set" for i in range(self.limbs.n)
        )
        singular = (
            "all links are parallel at the start and have no axial inertia: the hip's acceleration is not determined; set link[i].axial_inertia or spread them",
        )
        feet = tuple(
            text
            for b in (1, 2)
            for text in (
                f"foot[{b}] starts below the ground: raise hip.y_start, or change the angles and lengths at the start",
                f"foot[{b}].pinned_start is set, but foot[{b}] starts more than {PIN_MISFIT:g} m above the ground: it cannot be pinned there",
            )
        )
        pins = tuple(
            f"foot[{b}].pinned_start is set, but foot[{b}] moves by more than {PIN_SPEED:g} m/s at the start: the velocities do not fit the pins"
            for b in (1, 2)
        )
        redundant = (
            "both legs are locked and parallel and both feet are pinned at the start: the reactions are not determined; free a length or release a foot",
        )
        return (
            *locked,
            *singular,
            *(feet if self.contact == "automatic" else ()),
            *((*pins, *redundant) if self.grounded else ()),
        )

    def requirements(self, p: Array) -> Array:
        P = self.table.p(p)
        x = self._start_state(P)
        place = self._points(x, P)
        pin = self._pinned_start(place, P)
        body = self._body(x, P, P.I0)
        folded = fold(self.limbs, body, self._no_force(body))
        W = folded.W
        found = [1.0 - P.locked[i] * np.where(P.ld_start[i] * P.ld_start[i] > 0, 1.0, 0.0) for i in range(self.limbs.n)]
        found.append(W[0] * W[2] - W[1] * W[1] - SINGULAR * (W[0] + W[2]) ** 2)
        if self.contact == "automatic":
            for b in range(2):
                gap = place.foot(self.limbs, b)[1] - P.y_ground
                found += [gap + AT_GROUND + PIN_MISFIT * pin[b], np.where(pin[b] > 0, PIN_MISFIT - gap, 1.0)]
        if self.grounded:
            speeds = [place.foot_velocity(self.limbs, b) for b in range(2)]
            found += [np.where(pin[b] > 0, PIN_SPEED**2 - v[0] ** 2 - v[1] ** 2, 1.0) for b, v in enumerate(speeds)]
            both = pin[0] * pin[1]
            found.append(np.where(both > 0, independence(feet(self.limbs, body, folded, P.gravity).Om) - SINGULAR, 1.0))
        return np.stack(found)

    # --- the equations ------------------------------------------------------------------------------------------------

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        X, D, U, P = self.table.x(x), self.table.d(d), self.table.u(u), self.table.p(p)
        internal, ground, motion, place = self._dynamics(X, D, U, P)
        _, I_rate = self._inertia(U, P)
        shape_work = -0.5 * np.sum(I_rate * X.w**2)
        work = np.sum(U.Fa * X.ld) + shape_work + self._moment_power(X, U, ground.ankles)
        if self.prescribed:
            work = work + np.sum(motion.axial * X.ld)
        if self.contact == "external":
            for b in range(2):
                v = place.foot_velocity(self.limbs, b)
                work = work + ground.R[b][0] * v[0] + ground.R[b][1] * v[1]
        if self.pushed:
            work = work + U.push_x * X.vx + U.push_y * X.vy
        return self.table.x.pack(
            x=X.vx, y=X.vy, phi=X.w, l=X.ld, vx=motion.x, vy=motion.y, w=motion.phi, ld=motion.l,
            work=work, loss=np.sum(P.d * X.ld**2) + internal.loss, shape_work=shape_work,
        )  # fmt: skip

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        X, D, U, P = self.table.x(x), self.table.d(d), self.table.u(u), self.table.p(p)
        internal, ground, motion, place = self._dynamics(X, D, U, P)
        all_of_it = self._whole(X, P, self._inertia(U, P)[0], place)
        potential = all_of_it.potential + self._hinge_energy(X, P)
        feet_at, feet_v = (
            [place.foot(self.limbs, b) for b in range(2)],
            [place.foot_velocity(self.limbs, b) for b in range(2)],
        )
        foot_y = np.stack([f[1] for f in feet_at])
        return self.table.y.pack(
            x_acc=motion.x, y_acc=motion.y, phi_acc=motion.phi, l_acc=motion.l, thrust=internal.spring + motion.axial,
            h=self._hinges(X.phi), hd=self._hinges(X.w), H=self._hips(X.phi), Hd=self._hips(X.w), end_x=place.end[0], end_y=place.end[1],
            foot_x=np.stack([f[0] for f in feet_at]), foot_y=foot_y, foot_vx=np.stack([v[0] for v in feet_v]), foot_vy=np.stack([v[1] for v in feet_v]),
            gap=foot_y - P.y_ground, Rx=np.stack([r[0] for r in ground.R]), Ry=np.stack([r[1] for r in ground.R]), ankle=np.stack(ground.ankles),
            head_x=place.end[0, -1], head_y=place.end[1, -1],
            com_x=all_of_it.com[0], com_y=all_of_it.com[1], com_vx=all_of_it.com_velocity[0], com_vy=all_of_it.com_velocity[1],
            Hc=all_of_it.angular_momentum, kinetic=all_of_it.kinetic, potential=potential, total=all_of_it.kinetic + potential,
        )  # fmt: skip

    def matrices(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> dense.Matrices:
        """A..P, F and S of the equations (25') and (26') in the paper's notation, for numbers: `m.matrices(*m.start()).A`."""
        X, D, U, P = self.table.x(x), self.table.d(d), self.table.u(u), self.table.p(p)
        internal, ground, _, _ = self._dynamics(X, D, U, P)
        I, I_rate = self._inertia(U, P)
        links = dense.Links(P.m, P.n, P.l0, P.k, P.d, self._jr(P), P.ja)
        state = dense.State(np.concatenate([[X.x, X.y], X.phi]), np.concatenate([[X.vx, X.vy], X.w]), X.l, X.ld)
        tau = np.array(self.limbs.moments(self._with_ankles(internal.M, ground.ankles), internal.MH))
        push = (float(U.push_x), float(U.push_y)) if self.pushed else (0.0, 0.0)
        return dense.matrices(self.limbs, links, state, dense.Loads(tau, U.Fa, np.array(ground.R), I, I_rate, push))

    # --- phases -------------------------------------------------------------------------------------------------------

    @cached_property
    def _events(self) -> dict[str, Event]:
        return events(self.contact, self.limbs.n)

    @property
    def event_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self._events)

    @property
    def event_notes(self) -> dict[str, Note]:  # type: ignore[override]
        notes = {
            Event(EventKind.TOO_SHORT, i).name: Note(
                f"link[{i}].length falls below {SHORTEST:g} of its rest length", stop=True
            )
            for i in range(1, self.limbs.n + 1)
        }
        if self.grounded:
            notes[Event(EventKind.UNDETERMINED).name] = Note(
                "both legs are locked and parallel and both feet are pinned: the reactions are not determined",
                stop=True,
            )
        if self.contact == "automatic":
            cure = "set ground.falls_end to false to go on"
            notes[Event(EventKind.FALLEN).name] = Note(
                f"the hip, a knee, the waist or the head is below the ground: it has fallen ({cure})", stop=True
            )
            notes[Event(EventKind.TOO_DEEP).name] = Note(
                f"a foot is more than {DEEP:g} m below the ground: the host has not located its touch-down ({cure})",
                stop=True,
            )
        return notes

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        X, D, U, P = self.table.x(x), self.table.d(d), self.table.u(u), self.table.p(p)
        short = X.l - SHORTEST * P.l0
        found = {Event(EventKind.TOO_SHORT, i + 1): short[i] for i in range(self.limbs.n)}
        if self.grounded:
            *_, ground, mobility, place = self._standing(X, D, U, P)
            both = D.pinned[0] * D.pinned[1]
            found[Event(EventKind.UNDETERMINED)] = np.where(both > 0, independence(mobility.Om) - 1e-3 * SINGULAR, 1.0)
        if self.contact == "automatic":
            for b in range(2):
                found[Event(EventKind.TOUCH_DOWN, b + 1)] = self._touching(b, place, D, P)
                found[Event(EventKind.LIFT_OFF, b + 1)] = np.where(D.pinned[b] > 0, self._lifting(b, t, D, ground), 1.0)
                found[Event(EventKind.RISE, b + 1)] = np.where(
                    D.pinned[b] + D.armed[b] > 0, 1.0, ROOM - self._gap(b, place, P)
                )
                found[Event(EventKind.SLIP, b + 1)] = np.where(
                    D.pinned[b] > 0, np.where(D.slip[b] > 0, -1.0, 1.0) * self._grip(b, P, ground), 1.0
                )
            body, foot = self._heights(X, place, D, P)
            found[Event(EventKind.FALLEN)] = np.where(P.falls_end > 0, body, 1.0)
            found[Event(EventKind.TOO_DEEP)] = np.where(P.falls_end > 0, foot, 1.0)
        return np.stack([found[event] for event in self._events.values()])

    def jump(self, t: Array, x: Array, d: Array, u: Array, p: Array, event: str) -> tuple[Array, Array]:
        kind, number = self._events[event]
        match kind:
            case EventKind.TOUCH_DOWN:
                return self._touch_down(t, x, d, u, p, number - 1)
            case EventKind.LIFT_OFF:
                return self._lift_off(t, x, d, u, p, number - 1)
            case EventKind.RISE:
                return self._rise(t, x, d, u, p, number - 1)
            case EventKind.SLIP:
                return self._slip(t, x, d, u, p, number - 1)
            case _:
                return x, d

    def _heights(self, X: Any, place: Points, D: Any, P: Any) -> list[Array]:
        """The lowest point of the body above the ground, feet apart; and the lower free foot above the depth that is too deep."""
        shanks = self.limbs.shanks
        body = X.y - P.y_ground
        for i in range(self.limbs.n):
            if i not in shanks:
                body = np.minimum(body, place.end[1, i] - P.y_ground)
        free = [np.where(D.pinned[b] > 0, 1.0, self._gap(b, place, P) + DEEP) for b in range(2)]
        return [body, np.minimum(free[0], free[1])]

    def _gap(self, b: int, place: Points, P: Any) -> Array:
        return place.foot(self.limbs, b)[1] - P.y_ground

    def _touching(self, b: int, place: Points, D: Any, P: Any) -> Array:
        """Falls at touch-down: the foot is at the ground and does not rise.

        A foot that has not risen since it was released is given a little room, or rounding would set it down again.
        """
        gap = self._gap(b, place, P) + np.where(D.armed[b] > 0, 0.0, ROOM - D.rest[b])
        return np.where(D.pinned[b] > 0, 1.0, np.maximum(gap, place.foot_velocity(self.limbs, b)[1]))

    def _release(self, D: Any, released: list[Array], place: Points, P: Any) -> None:
        gap = [self._gap(b, place, P) for b in range(2)]
        D.armed = np.stack([np.where(released[b] > 0, np.where(gap[b] > ROOM, 1.0, 0.0), D.armed[b]) for b in range(2)])
        D.rest = np.stack([np.where(released[b] > 0, np.minimum(gap[b], 0.0), D.rest[b]) for b in range(2)])

    def _lifting(self, b: int, t: Array, D: Any, ground: Support) -> Array:
        """Falls at lift-off, but not before the foot has stood for a moment."""
        return np.maximum(ground.R[b][1] + RELEASE, D.hold[b] - t)

    def _grip(self, b: int, P: Any, ground: Support) -> Array:
        return P.mu * ground.R[b][1] - np.abs(ground.R[b][0])

    def _touch_down(self, t: Array, x: Array, d: Array, u: Array, p: Array, foot: int) -> tuple[Array, Array]:
        """One impact of all feet that are pinned, or at the ground and closing."""
        X, D, U, P = self.table.x(x), self.table.d(d), self.table.u(u), self.table.p(p)
        place = self._points(X, P)
        v = [place.foot_velocity(self.limbs, b) for b in range(2)]
        closing = [
            (1 - D.pinned[b]) * np.where(self._gap(b, place, P) <= NEAR, 1.0, 0.0) * np.where(v[b][1] <= 0, 1.0, 0.0)
            for b in range(2)
        ]
        happens = closing[foot]
        candidate = [np.maximum(D.pinned[b], closing[b]) for b in range(2)]
        e = [np.where(v[b][1] < -P.v_capture, P.e, 0.0) for b in range(2)]
        I, _ = self._inertia(U, P)
        body = self._body(X, P, I)
        folded = fold(self.limbs, body, self._no_force(body))
        hit = impact(feet(self.limbs, body, folded, P.gravity).Om, candidate, v, e, P.v_capture)
        X = self._after_impact(X, body, folded, hit, happens)
        stays = [hit.chosen[b] * np.where(closing[b] * e[b] > 0, 0.0, 1.0) for b in range(2)]
        pinned = [np.where(happens > 0, stays[b], D.pinned[b]) for b in range(2)]
        landed = [happens * stays[b] * closing[b] for b in range(2)]
        left = [happens * candidate[b] * (1 - stays[b]) for b in range(2)]
        feet_at = [place.foot(self.limbs, b) for b in range(2)]
        D.ax = np.stack([np.where(landed[b] > 0, feet_at[b][0], D.ax[b]) for b in range(2)])
        D.touched = np.stack([np.where(landed[b] > 0, t, D.touched[b]) for b in range(2)])
        D.hold = np.stack(
            [np.where(landed[b] > 0, t + np.where(D.armed[b] > 0, DWELL, LONG_DWELL), D.hold[b]) for b in range(2)]
        )
        self._release(D, left, place, P)
        D.last_loss = np.where(happens > 0, hit.loss, D.last_loss)
        # from where the event was found (up to rounding, or a little below) to the ground; what that changes of the energy is booked as lost
        before = self._energy(X, P, I)
        X = self._on_pins(X, D, P, [happens * pinned[b] for b in range(2)], rounds=1)
        X.loss = X.loss + happens * (before - self._energy(X, P, I))
        return self.table.x.pack(**vars(X)), self._new_phase(t, D, pinned, happens, X, U, P)

    def _after_impact(self, X: Any, body: Body, folded: Folded, hit: Impact, happens: Array) -> Any:
        added = respond(self.limbs, body, folded, [(happens * L[0], happens * L[1]) for L in hit.Lambda])
        X.vx, X.vy, X.w, X.ld = X.vx + added.x, X.vy + added.y, X.w + added.phi, X.ld + added.l
        X.loss = X.loss + happens * hit.loss
        X.work = X.work + np.sum(added.axial * body.ld)  # whoever prescribes a length holds it through the impact
        return X

    def _lift_off(self, t: Array, x: Array, d: Array, u: Array, p: Array, foot: int) -> tuple[Array, Array]:
        X, D, U, P = self.table.x(x), self.table.d(d), self.table.u(u), self.table.p(p)
        *_, ground, _, place = self._standing(X, D, U, P)
        happens = D.pinned[foot] * np.where(self._lifting(foot, t, D, ground) <= 0, 1.0, 0.0)
        pinned = [D.pinned[b] * (1 - happens) if b == foot else D.pinned[b] for b in range(2)]
        self._release(D, [happens if b == foot else 0.0 * happens for b in range(2)], place, P)
        return x, self._new_phase(t, D, pinned, happens, X, U, P)

    def _rise(self, t: Array, x: Array, d: Array, u: Array, p: Array, foot: int) -> tuple[Array, Array]:
        D = self.table.d(d)
        D.armed = np.stack([1.0 + 0.0 * D.armed[b] if b == foot else D.armed[b] for b in range(2)])
        return x, self.table.d.pack(**vars(D))

    def _slip(self, t: Array, x: Array, d: Array, u: Array, p: Array, foot: int) -> tuple[Array, Array]:
        D = self.table.d(d)
        D.slip = np.stack([1.0 - D.slip[b] if b == foot else D.slip[b] for b in range(2)])
        return x, self.table.d.pack(**vars(D))

    def _new_phase(self, t: Array, D: Any, pinned: list[Array], happens: Array, X: Any, U: Any, P: Any) -> Array:
        """The discrete state with other feet pinned: phase, count of events, slip."""
        D.pinned = np.stack(pinned)
        D.phase = pinned[0] + 2 * pinned[1]
        again = np.where(D.events > 0, 1.0, 0.0) * np.where(t <= D.last_event, 1.0, 0.0)
        D.events = D.events + happens * (1 - again)
        D.last_event = np.where(happens > 0, t, D.last_event)
        *_, ground, _, _ = self._standing(X, D, U, P)
        D.slip = np.stack([D.pinned[b] * np.where(self._grip(b, P, ground) < 0, 1.0, 0.0) for b in range(2)])
        return self.table.d.pack(**vars(D))

    def project(self, x: Array, d: Array, p: Array) -> Array:
        if not self.grounded:
            return x
        X, D, P = self.table.x(x), self.table.d(d), self.table.p(p)
        return self.table.x.pack(**vars(self._on_pins(X, D, P, [D.pinned[b] for b in range(2)], rounds=1)))

    def _on_pins(self, X: Any, D: Any, P: Any, on: list[Array], rounds: int) -> Any:
        """Positions and velocities changed as little as possible, measured by the mass matrix, so that feet that are `on` are at their anchors and rest."""
        X = SimpleNamespace(**vars(X))
        for _ in range(rounds):
            body, folded, mobility, place = self._posture(X, P)
            at = [place.foot(self.limbs, b) for b in range(2)]
            added = respond(
                self.limbs,
                body,
                folded,
                solve(mobility.Om, on, [(D.ax[b] - at[b][0], D.ay[b] - at[b][1]) for b in range(2)]),
            )
            X.x, X.y, X.phi, X.l = X.x + added.x, X.y + added.y, X.phi + added.phi, X.l + added.l
        body, folded, mobility, place = self._posture(X, P)
        v = [place.foot_velocity(self.limbs, b) for b in range(2)]
        added = respond(self.limbs, body, folded, solve(mobility.Om, on, [(-v[b][0], -v[b][1]) for b in range(2)]))
        X.vx, X.vy, X.w, X.ld = X.vx + added.x, X.vy + added.y, X.w + added.phi, X.ld + added.l
        return X

    # --- parts of the equations ---------------------------------------------------------------------------------------

    def _dynamics(self, X: Any, D: Any, U: Any, P: Any) -> tuple[Internal, Support, Motion, Points]:
        """Forces and accelerations in the present phase."""
        if self.grounded:
            body, folded, internal, ground, _, place = self._standing(X, D, U, P)
        else:
            body, folded, internal = self._free(X, U, P)
            ground, place = self._given_support(U), self._points(X, P)
        outside = () if self.contact == "flight" else (ground.R, ground.ankles)
        return internal, ground, unfold(self.limbs, body, folded, P.gravity, *outside), place

    def _free(self, X: Any, U: Any, P: Any) -> tuple[Body, Folded, Internal]:
        """Everything but the feet."""
        I, I_rate = self._inertia(U, P)
        body, internal = self._body(X, P, I, self._given_lengths(X, U, P)), self._internal(X, U, P)
        tau = self.limbs.moments(internal.M, internal.MH)
        folded = fold(self.limbs, body, internal_forces(self.limbs, body, internal.spring, tau, I_rate))
        if self.pushed:
            folded = folded._replace(bc=plus(folded.bc, (U.push_x, U.push_y)))
        return body, folded, internal

    def _given_support(self, U: Any) -> Support:
        """Feet that are never pinned: forces from outside, or none."""
        if self.contact == "external":
            return Support(((U.Fx[0], U.Fy[0]), (U.Fx[1], U.Fy[1])), self._ankle_inputs(U))
        zero = 0.0 * U.MH[0]
        return Support(((zero, zero), (zero, zero)), (zero, zero))

    def _standing(self, X: Any, D: Any, U: Any, P: Any) -> tuple[Body, Folded, Internal, Support, Feet, Points]:
        """Reactions and ankle moments of pinned feet: their accelerations are to vanish (or to bring them back to their places)."""
        limbs = self.limbs
        place = self._points(X, P)
        body, folded, internal = self._free(X, U, P)
        mobility = feet(limbs, body, folded, P.gravity)
        wanted: list[Vector] = []
        for b in range(2):
            at, v = place.foot(limbs, b), place.foot_velocity(limbs, b)
            back = (at[0] - D.ax[b], at[1] - D.ay[b])
            wanted.append((-2 * P.stab * v[0] - P.stab**2 * back[0], -2 * P.stab * v[1] - P.stab**2 * back[1]))
        half_length = P.a_foot if self.contact == "automatic" else None
        ground = support(mobility, [D.pinned[b] for b in range(2)], wanted, self._ankle_inputs(U), half_length)
        return body, folded, internal, ground, mobility, place

    def _posture(self, X: Any, P: Any) -> tuple[Body, Folded, Feet, Points]:
        """The mobility of the feet alone."""
        body = self._body(X, P, P.I0)
        folded = fold(self.limbs, body, self._no_force(body))
        return body, folded, feet(self.limbs, body, folded, P.gravity), self._points(X, P)

    def _points(self, X: Any, P: Any) -> Points:
        return points(
            self.limbs, (X.x, X.y), (X.vx, X.vy), np.cos(X.phi), np.sin(X.phi), X.w, X.l, X.ld, self.limbs.c(P.n)
        )

    def _body(self, X: Any, P: Any, I: Array, ldd: Array | None = None) -> Body:
        fixed = np.maximum(P.locked, P.given) if self.prescribed else P.locked
        c = self.limbs.c(P.n)
        return Body(
            P.m,
            c,
            self._jr(P),
            P.ja,
            np.cos(X.phi),
            np.sin(X.phi),
            X.w,
            X.l,
            X.ld,
            I,
            fixed,
            0.0 * X.l if ldd is None else ldd,
        )

    def _no_force(self, body: Body) -> Force:
        return Force(0.0 * body.l, 0.0 * body.l)

    def _inertia(self, U: Any, P: Any) -> tuple[Array, Array]:
        """Iext and its rate."""
        if self.options["inertia"] == "prescribed":
            given = U.I > 0.0
            return np.where(given, U.I, P.I0), np.where(given, U.Id, 0.0)
        return (P.I0 if self.options["inertia"] == "constant" else 0.0 * P.I0), 0.0 * P.I0

    def _jr(self, P: Any) -> Array:
        return P.I0 / P.l0**2 if self.options["inertia"] == "length" else 0.0 * P.I0

    def _given_lengths(self, X: Any, U: Any, P: Any) -> Array:
        """l'' of the links whose length is fixed: none for locked ones."""
        if not self.prescribed:
            return 0.0 * X.l
        wanted = np.where(U.l_in > 0.0, U.l_in, P.l0)
        follow = U.ldd_in + 2 * P.pace * (U.ld_in - X.ld) + P.pace**2 * (wanted - X.l)
        return np.where(P.locked > 0, 0.0, follow)

    def _hinges(self, of_links: Array) -> Array:
        """Lower minus upper link, of angles or rates, in every inner hinge."""
        pairs = [self.limbs.lower_and_upper(i) for i in self.limbs.inner_hinges]
        return np.stack([of_links[lower] - of_links[upper] for lower, upper in pairs]) if pairs else np.zeros(0)

    def _hips(self, of_links: Array) -> Array:
        """Leg minus body at both hips."""
        k, first = self.limbs.k, self.limbs.k + self.limbs.p
        return np.stack([of_links[k - 1] - of_links[first], of_links[k] - of_links[first]])

    def _internal(self, X: Any, U: Any, P: Any) -> Internal:
        """Springs and dampers along the links and in the hinges, with what drives them."""
        limbs = self.limbs
        h, hd, H, Hd = self._hinges(X.phi), self._hinges(X.w), self._hips(X.phi), self._hips(X.w)
        M = [0.0 * X.x] * limbs.n
        for j, i in enumerate(limbs.inner_hinges):
            M[i] = U.M[self._moment_index(i)] - P.k_h[j] * (h[j] - P.rest_h[j]) - P.d_h[j] * hd[j]
        MH = U.MH - P.k_H * (H - P.rest_H) - P.d_H * Hd
        loss = np.sum(P.d_H * Hd**2) + (np.sum(P.d_h * hd**2) if limbs.inner_hinges else 0.0)
        return Internal(-P.k * (X.l - P.l0) - P.d * X.ld + U.Fa, M, MH, loss)

    def _whole(self, X: Any, P: Any, I: Array, place: Points) -> Whole:
        return whole(place, X.w, X.l, X.ld, P.m, I + self._jr(P) * X.l**2, P.ja, P.k, P.l0, P.gravity)

    def _energy(self, X: Any, P: Any, I: Array) -> Array:
        all_of_it = self._whole(X, P, I, self._points(X, P))
        return all_of_it.kinetic + all_of_it.potential + self._hinge_energy(X, P)

    def _hinge_energy(self, X: Any, P: Any) -> Array:
        stored = 0.5 * np.sum(P.k_H * (self._hips(X.phi) - P.rest_H) ** 2)
        return stored + (
            0.5 * np.sum(P.k_h * (self._hinges(X.phi) - P.rest_h) ** 2) if self.limbs.inner_hinges else 0.0
        )

    def _moment_index(self, i: int) -> int:
        """Where M_i stands among the inputs: the first link of the body has none."""
        return i if i < self.limbs.k + self.limbs.p else i - 1

    def _ankle_inputs(self, U: Any) -> tuple[Array, Array]:
        first, second = self.limbs.shanks
        return U.M[self._moment_index(first)], U.M[self._moment_index(second)]

    def _with_ankles(self, M: list[Array], ankles: tuple[Array, Array]) -> list[Array]:
        place = dict(zip(self.limbs.shanks, ankles, strict=True))
        return [place.get(i, M_i) for i, M_i in enumerate(M)]

    def _moment_power(self, X: Any, U: Any, ankles: tuple[Array, Array]) -> Array:
        """M (phi_lower' - phi_upper'), summed over all hinges; of the ground phi' = 0."""
        shanks, inner = self.limbs.shanks, self.limbs.inner_hinges
        power = np.sum(U.MH * self._hips(X.w)) - ankles[0] * X.w[shanks[0]] - ankles[1] * X.w[shanks[1]]
        return power + (
            np.sum(np.stack([U.M[self._moment_index(i)] for i in inner]) * self._hinges(X.w)) if inner else 0.0
        )

    # --- the drawing --------------------------------------------------------------------------------------------------

    def drawing(self, value: Any) -> Drawing:
        """The links, the ground, its reactions on the feet, the thrusts of the links and the moments of the motors."""
        limbs = self.limbs
        ends = np.array([[value(f"link[{i + 1}].end_{a}") for a in "xy"] for i in range(limbs.n)])
        hip = np.array([value("hip.x"), value("hip.y")])
        reach = 0.9 * max(sum(value(f"link[{i + 1}].rest_length") for i in leg) for leg in limbs.legs)
        feet_at = [ends[i] for i in limbs.shanks]
        arrows = [
            Arrow(f"foot[{b}].reaction", "reaction", at, np.array([value(f"foot[{b}].reaction_{a}") for a in "xy"]))
            for b, at in enumerate(feet_at, 1)
        ]
        for branch in limbs.branches:
            for i, start in zip(branch, [hip, *ends[list(branch)]], strict=False):
                outwards = (ends[i] - start) / value(f"link[{i + 1}].length")
                arrows.append(
                    Arrow(f"link[{i + 1}].thrust", "reaction", start, value(f"link[{i + 1}].thrust") * outwards)
                )
        thighs = [0.7 * hip + 0.3 * ends[leg[0]] for leg in limbs.legs]  # not both in the same place
        moments = [Moment(f"hip.moment[{b}]", at, value(f"hip.moment[{b}]")) for b, at in enumerate(thighs, 1)]
        moments += [
            Moment(f"foot[{b}].ankle_moment", at, -value(f"foot[{b}].ankle_moment")) for b, at in enumerate(feet_at, 1)
        ]  # of the ground on the foot
        for i in limbs.inner_hinges:
            lower, upper = limbs.lower_and_upper(i)
            at, sign = (
                (ends[upper], 1.0) if i < limbs.k + limbs.p else (ends[lower], -1.0)
            )  # in the legs the lower link is the outer one
            moments.append(Moment(f"link[{i + 1}].moment", at, sign * value(f"link[{i + 1}].moment")))
        ground = floor(hip[0], value("ground.height"), reach) if self.contact == "automatic" else []
        return Drawing(
            [np.column_stack(stroke) for stroke in self.strokes(value)], ground, arrows=arrows, moments=moments
        )

    def strokes(self, value: Any) -> list[tuple[Array, Array]]:
        """Body and legs, from the hip outwards."""
        hip = (value("hip.x"), value("hip.y"))
        ends = [
            [(value(f"link[{i + 1}].end_x"), value(f"link[{i + 1}].end_y")) for i in branch]
            for branch in self.limbs.branches
        ]
        return [tuple(np.array([hip, *branch]).T) for branch in (ends[2], ends[0], ends[1])]  # type: ignore[misc]
