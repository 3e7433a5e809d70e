"""The variables of the exoskeleton: the rows of its table."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...model.variables import Row
from .anthropometry import Limb, person
from .configuration import Configuration
from .topology import Limbs

SPREAD = 0.25  # rad: the legs' slant in the default posture
DROP = 0.05  # m above the ground in the default posture


def rows(config: Configuration) -> tuple[Row, ...]:
    limbs = config.limbs
    link = person(limbs.k, limbs.p, limbs.r)
    return (
        *_link_parameters(config, link),
        *_hinge_parameters(limbs),
        *_ground_parameters(config),
        *_start_parameters(config, link),
        *_inputs(config, link),
        *_states(limbs.n),
        *_discrete_states(),
        *_link_outputs(limbs),
        *_foot_outputs(),
        *_total_outputs(),
    )


def _each(links: Iterable[int], suffix: str) -> tuple[str, ...]:
    """Names of a variable of these links."""
    return tuple(f"link[{i + 1}].{suffix}" for i in links)


def _link_parameters(config: Configuration, link: Limb) -> tuple[Row, ...]:
    n = config.limbs.n
    prescribed = (
        Row("given", "link[{k}].prescribed", "parameter", "true: the length of link {k} follows its inputs", size=n,
            kind="Boolean", min=0, max=1),
        Row("pace", "prescribed.bandwidth", "parameter",
            "how fast prescribed lengths follow length_input and length_rate_input; "
            "0: only length_acceleration_input counts", "1/s", min=0.0),
    )  # fmt: skip
    return (
        Row("gravity", "gravity", "parameter", "acceleration of gravity, along -y", "m/s2", start=9.81),
        Row("m", "link[{k}].mass", "parameter", "mass of link {k}", "kg", n, link.m, above=0.0),
        Row("n", "link[{k}].com_fraction", "parameter",
            "mass centre of link {k}: fraction of the length from its lower end", "1", n, link.n, min=0.0, max=1.0),
        Row("l0", "link[{k}].rest_length", "parameter", "length of link {k} at which its spring is relaxed", "m", n,
            link.l0, above=0.0),
        Row("I0", "link[{k}].inertia", "parameter",
            "moment of inertia of link {k} about its mass centre (inertia=length: at rest length)", "kg.m2", n, link.I,
            above=0.0),
        Row("k", "link[{k}].stiffness", "parameter", "axial stiffness of link {k}", "N/m", n, link.k, min=0.0),
        Row("d", "link[{k}].damping", "parameter", "axial damping of link {k}", "N.s/m", n, link.d, min=0.0),
        Row("ja", "link[{k}].axial_inertia", "parameter",
            "inertia of link {k} against stretching: mass/12 for a uniform rod", "kg", n, link.ja, min=0.0),
        Row("locked", "link[{k}].locked", "parameter", "true: the length of link {k} is locked", size=n, kind="Boolean",
            min=0, max=1),
        *(prescribed if config.prescribed else ()),
    )  # fmt: skip


def _hinge_parameters(limbs: Limbs) -> tuple[Row, ...]:
    inner = limbs.inner_hinges
    return (
        Row("k_h", _each(inner, "hinge_stiffness"), "parameter", "stiffness of a spring in the hinge at the lower end",
            "N.m/rad", len(inner), min=0.0),
        Row("d_h", _each(inner, "hinge_damping"), "parameter", "damping in that hinge", "N.m.s/rad", len(inner),
            min=0.0),
        Row("rest_h", _each(inner, "hinge_rest_angle"), "parameter",
            "angle of the lower minus that of the upper link at which the spring is relaxed", "rad", len(inner)),
        Row("k_H", "hip.stiffness[{k}]", "parameter", "stiffness of a spring between leg {k} and body", "N.m/rad", 2,
            min=0.0),
        Row("d_H", "hip.damping[{k}]", "parameter", "damping between leg {k} and body", "N.m.s/rad", 2, min=0.0),
        Row("rest_H", "hip.rest_angle[{k}]", "parameter",
            "angle of leg {k} minus that of the body at which the spring is relaxed", "rad", 2),
    )  # fmt: skip


def _ground_parameters(config: Configuration) -> tuple[Row, ...]:
    return (
        Row("y_ground", "ground.height", "parameter", "height of the ground (contact=automatic)", "m"),
        Row("mu", "ground.friction", "parameter", "coefficient of friction beyond which a pinned foot reports slip",
            "1", start=0.8, min=0.0),
        Row("e", "ground.restitution", "parameter", "normal speed after an impact over that before it", "1", min=0.0,
            max=1.0),
        Row("v_capture", "ground.capture_speed", "parameter",
            "slower impacts are plastic whatever the restitution; slower feet come to rest together", "m/s",
            start=0.002, min=0.0),
        Row("stab", "ground.stabilization", "parameter",
            "how fast a pinned foot is drawn back to its place between two projections", "1/s", start=10.0, min=0.0),
        Row("a_foot", "foot.half_length", "parameter",
            "limit of ankle moments: at most half_length * reaction_y (contact=automatic); 0: none act", "m", start=0.1,
            min=0.0),
        Row("falls_end", "ground.falls_end", "parameter",
            "true: the run ends when hip, knees, waist or head come below the ground (contact=automatic)", start=1.0,
            min=0, max=1, kind="Boolean"),
        Row("pinned_start", "foot[{k}].pinned_start", "parameter",
            "true: foot {k} is pinned at the start (contact=automatic, pinned); at rest within 1e-6 m of the ground it "
            "is anyway (automatic)", size=2, start=float(config.contact == "pinned"), min=0, max=1, kind="Boolean"),
    )  # fmt: skip


def _start_parameters(config: Configuration, link: Limb) -> tuple[Row, ...]:
    n, k, p, r = config.limbs.n, config.limbs.k, config.limbs.p, config.limbs.r
    angle = (np.pi / 2 - SPREAD,) * k + (np.pi / 2 + SPREAD,) * p + (np.pi / 2,) * r
    drop = 0.0 if config.contact == "pinned" else DROP
    hip_y = max(sum(link.l0[:k]), sum(link.l0[k : k + p])) * np.cos(SPREAD) + drop
    return (
        Row("x_start", "hip.x_start", "parameter", "horizontal position of the hip at the start", "m"),
        Row("y_start", "hip.y_start", "parameter", "vertical position of the hip at the start", "m",
            start=round(float(hip_y), 12)),
        Row("vx_start", "hip.velocity_x_start", "parameter", "horizontal velocity of the hip at the start", "m/s"),
        Row("vy_start", "hip.velocity_y_start", "parameter", "vertical velocity of the hip at the start", "m/s"),
        Row("phi_start", "link[{k}].angle_start", "parameter", "absolute angle of link {k} at the start", "rad", n,
            angle),
        Row("w_start", "link[{k}].rate_start", "parameter", "angular velocity of link {k} at the start", "rad/s", n),
        Row("l_start", "link[{k}].length_start", "parameter", "length of link {k} at the start", "m", n, link.l0,
            above=0.0),
        Row("ld_start", "link[{k}].length_rate_start", "parameter", "rate of the length of link {k} at the start",
            "m/s", n),
    )  # fmt: skip


def _inputs(config: Configuration, link: Limb) -> tuple[Row, ...]:
    n, first_of_body = config.limbs.n, config.limbs.k + config.limbs.p
    hinged = tuple(i for i in range(n) if i != first_of_body)
    inertia = (
        Row("I", "link[{k}].inertia_input", "input",
            "moment of inertia of link {k} about its mass centre; 0: link[{k}].inertia, constant", "kg.m2", n, link.I,
            min=0.0),
        Row("Id", "link[{k}].inertia_rate_input", "input", "rate of change of that moment of inertia", "kg.m2/s", n),
    )  # fmt: skip
    lengths = (
        Row("l_in", "link[{k}].length_input", "input",
            "desired length of link {k}, when prescribed; 0: link[{k}].rest_length", "m", n, link.l0, min=0.0),
        Row("ld_in", "link[{k}].length_rate_input", "input", "desired rate of that length", "m/s", n),
        Row("ldd_in", "link[{k}].length_acceleration_input", "input", "desired acceleration of that length", "m/s2", n),
    )  # fmt: skip
    forces = (
        Row("Fx", "foot[{k}].force_x", "input", "horizontal force of the ground on foot {k}", "N", 2),
        Row("Fy", "foot[{k}].force_y", "input", "vertical force of the ground on foot {k}", "N", 2),
    )
    push = (
        Row("push_x", "push.force_x", "input", "horizontal force on the hip from outside", "N"),
        Row("push_y", "push.force_y", "input", "vertical force on the hip from outside", "N"),
    )
    return (
        Row("M", _each(hinged, "moment"), "input",
            "moment in the hinge at the lower end: + on the lower, - on the upper link", "N.m", n - 1),
        Row("MH", "hip.moment[{k}]", "input", "hip moment: + on leg {k}, - on the body", "N.m", 2),
        Row("Fa", "link[{k}].axial_force", "input", "actuator along link {k}, positive: lengthening", "N", n),
        *(inertia if config.inertia == "prescribed" else ()),
        *(lengths if config.prescribed else ()),
        *(forces if config.contact == "external" else ()),
        *(push if config.pushed else ()),
    )  # fmt: skip


def _states(n: int) -> tuple[Row, ...]:
    return (
        Row("x", "hip.x", "state", "horizontal position of the hip", "m"),
        Row("y", "hip.y", "state", "vertical position of the hip", "m"),
        Row("phi", "link[{k}].angle", "state", "absolute angle of link {k}, from the horizontal, foot to hip to head",
            "rad", n),
        Row("l", "link[{k}].length", "state", "length of link {k}", "m", n),
        Row("vx", "hip.velocity_x", "state", "horizontal velocity of the hip", "m/s"),
        Row("vy", "hip.velocity_y", "state", "vertical velocity of the hip", "m/s"),
        Row("w", "link[{k}].rate", "state", "angular velocity of link {k}", "rad/s", n),
        Row("ld", "link[{k}].length_rate", "state", "rate of the length of link {k}", "m/s", n),
        Row("work", "energy.input", "state",
            "work done by all inputs since the start, prescribed inertia and lengths included", "J"),
        Row("loss", "energy.dissipated", "state", "energy lost in dampers and impacts since the start", "J"),
        Row("shape_work", "energy.inertia", "state", "the part of energy.input that prescribed inertia has done", "J"),
    )  # fmt: skip


def _discrete_states() -> tuple[Row, ...]:
    return (
        Row("pinned", "foot[{k}].pinned", "discrete", "foot {k} stands on the ground", size=2, kind="Boolean"),
        Row("armed", "foot[{k}].armed", "discrete", "foot {k} has risen since it was last on the ground", size=2,
            kind="Boolean"),
        Row("rest", "foot[{k}].release_height", "discrete",
            "height above the ground from which foot {k} was last released, at most 0", "m", 2),
        Row("slip", "foot[{k}].slip", "discrete", "foot {k} would slip: |reaction_x| > ground.friction * reaction_y",
            size=2, kind="Boolean"),
        Row("ax", "foot[{k}].anchor_x", "discrete", "where foot {k} is pinned, or was last, horizontal", "m", 2),
        Row("ay", "foot[{k}].anchor_y", "discrete", "where foot {k} is pinned, or was last, vertical", "m", 2),
        Row("touched", "foot[{k}].touch_time", "discrete", "when foot {k} last touched down", "s", 2),
        Row("hold", "foot[{k}].held_until", "discrete", "before then foot {k} is not released again", "s", 2),
        Row("phase", "phase", "discrete", "0 flight, 1 foot 1 on the ground, 2 foot 2, 3 both", kind="Integer"),
        Row("events", "events", "discrete",
            "number of touch-downs and lift-offs so far; those of one moment count once", kind="Integer"),
        Row("last_event", "last_event_time", "discrete", "time of the last of them", "s"),
        Row("last_loss", "impact_energy_loss", "discrete", "kinetic energy lost in the last impact", "J"),
    )  # fmt: skip


def _link_outputs(limbs: Limbs) -> tuple[Row, ...]:
    n, inner = limbs.n, limbs.inner_hinges
    return (
        Row("x_acc", "hip.acceleration_x", "output", "horizontal acceleration of the hip", "m/s2"),
        Row("y_acc", "hip.acceleration_y", "output", "vertical acceleration of the hip", "m/s2"),
        Row("phi_acc", "link[{k}].acceleration", "output", "angular acceleration of link {k}", "rad/s2", n),
        Row("l_acc", "link[{k}].length_acceleration", "output", "acceleration of the length of link {k}", "m/s2", n),
        Row("thrust", "link[{k}].thrust", "output", "axial force of link {k}, positive: pushing its ends apart", "N",
            n),
        Row("h", _each(inner, "hinge_angle"), "output", "angle of the lower minus that of the upper link in this hinge",
            "rad", len(inner)),
        Row("hd", _each(inner, "hinge_rate"), "output", "rate of that angle", "rad/s", len(inner)),
        Row("H", "hip.angle[{k}]", "output", "angle of leg {k} minus that of the body at the hip", "rad", 2),
        Row("Hd", "hip.rate[{k}]", "output", "rate of that angle", "rad/s", 2),
        Row("end_x", "link[{k}].end_x", "output", "end of link {k} away from the hip, horizontal", "m", n),
        Row("end_y", "link[{k}].end_y", "output", "end of link {k} away from the hip, vertical", "m", n),
    )  # fmt: skip


def _foot_outputs() -> tuple[Row, ...]:
    return (
        Row("foot_x", "foot[{k}].x", "output", "horizontal position of foot {k}", "m", 2),
        Row("foot_y", "foot[{k}].y", "output", "vertical position of foot {k}", "m", 2),
        Row("foot_vx", "foot[{k}].velocity_x", "output", "horizontal velocity of foot {k}", "m/s", 2),
        Row("foot_vy", "foot[{k}].velocity_y", "output", "vertical velocity of foot {k}", "m/s", 2),
        Row("gap", "foot[{k}].gap", "output", "height of foot {k} above the ground", "m", 2),
        Row("Rx", "foot[{k}].reaction_x", "output", "horizontal force of the ground on foot {k}", "N", 2),
        Row("Ry", "foot[{k}].reaction_y", "output", "vertical force of the ground on foot {k}", "N", 2),
        Row("ankle", "foot[{k}].ankle_moment", "output", "moment that acts in ankle {k}, after its limits", "N.m", 2),
    )


def _total_outputs() -> tuple[Row, ...]:
    return (
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
    )
