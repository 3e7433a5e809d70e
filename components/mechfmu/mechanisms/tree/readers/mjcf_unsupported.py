"""Features of an MJCF model that a tree does not support."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .common import printable
from .mjcf_bodies import KINDS, Elements, disabled
from .unsupported import Unsupported

GRAVITY = 9.81  # the start value of the FMU's parameter
IGNORED = {  # word of --ignore -> what it leaves out
    "tendon": "tendons",
    "sensor": "sensors",
    "actuator": "actuators other than motors of hinges and slides, and limits that are not symmetric",
    "mimic": "linear couplings of two joints (equality/joint): every joint moves on its own",
    "equality": "equality constraints other than linear couplings of two joints",
    "contact": "the warning that contacts are not simulated",
    "fluid": "forces of the medium (density, viscosity, wind)",
    "gravity": "gravity other than 9.81 m/s2 along -z",
    "gravcomp": "gravity compensation of bodies",
    "free": "stiffness, damping, friction and armature of free joints",
    "ball": "limits and spring references of ball joints",
    "polynomial": "nonlinear stiffness and damping",
    "plugin": "plugins",
    "flex": "deformable objects",
    "mocap": "the motion of mocap bodies, which stay where they are",
}


def note_unsupported(elements: Elements, unsupported: Unsupported) -> None:
    """Add everything but actuators and equalities, which mjcf_motors.py knows."""
    m = elements.model
    for word, kind, plural in (("tendon", "tendon", "tendons"), ("sensor", "sensor", "sensors")):
        for number in range(getattr(m, f"n{kind}")):
            text = f"{word} {printable(elements.name_of(kind, number))}".rstrip()
            unsupported.add(word, text, elements.line_of(plural, number))
    for b in range(1, m.nbody):
        what, line = f"body {printable(elements.body_names[b])}", elements.line_of("bodies", b)
        if m.body_gravcomp[b]:
            unsupported.add("gravcomp", f"gravcomp of {what}", line)
        if m.body_mocapid[b] >= 0:
            unsupported.add("mocap", f"mocap {what}", line)
    for i in range(m.njnt):
        _note_joint(elements, i, unsupported)
    for word, plural, count in (("plugin", "plugins", m.nplugin), ("flex", "flexes", m.nflex)):
        for number in range(count):
            unsupported.add(word, f"<{word}>", elements.line_of(plural, number))
    _note_options(m, elements.lines_of_options, unsupported)


def _note_joint(elements: Elements, i: int, unsupported: Unsupported) -> None:
    m = elements.model
    kind, dof, at = KINDS[m.jnt_type[i]], int(m.jnt_dofadr[i]), int(m.jnt_qposadr[i])
    what, line = f"joint {printable(elements.joint_names[i])}", elements.line_of_joint(i)
    poly = [*np.ravel(getattr(m, "jnt_stiffnesspoly", np.zeros((m.njnt, 1)))[i])]
    poly += [*np.ravel(getattr(m, "dof_dampingpoly", np.zeros((m.nv, 1)))[dof])]
    if any(poly) or np.any(getattr(m, "jnt_springyield", np.zeros(m.njnt))[i]):
        unsupported.add("polynomial", f"nonlinear stiffness or damping of {what}", line)
    if kind == "free":
        own = {"stiffness": m.jnt_stiffness[i]} | {
            word: getattr(m, f"dof_{word}")[dof : dof + 6].any() for word in ("damping", "frictionloss", "armature")
        }
        if any(own.values()):
            words = ", ".join(word for word, value in own.items() if value)
            unsupported.add("free", f"{words} of the free {what}", line)
    if kind == "spherical":
        if m.jnt_limited[i]:
            unsupported.add("ball", f"the range of the ball {what}", line)
        if m.jnt_stiffness[i] and not np.allclose(m.qpos_spring[at : at + 4], (1, 0, 0, 0), rtol=0, atol=1e-12):
            unsupported.add("ball", f"the spring reference of the ball {what}", line)


def _note_options(m: Any, lines: Mapping[str, int], unsupported: Unsupported) -> None:
    if (m.opt.density or m.opt.viscosity) and len(m.body_mass) > 1:
        values = f"density {m.opt.density:g}, viscosity {m.opt.viscosity:g}"
        line = lines.get("density") or lines.get("viscosity", 0)
        unsupported.add("fluid", f"forces of the medium ({values})", line)
    x, y, z = (0.0, 0.0, 0.0) if disabled(m, "GRAVITY") else (float(g) for g in m.opt.gravity)
    if not np.allclose((x, y, z), (0.0, 0.0, -GRAVITY), rtol=0, atol=1e-12):
        note = f"which the FMU has along -z only, as its parameter gravity with the start value {GRAVITY}"
        unsupported.add("gravity", f"gravity {x:g} {y:g} {z:g} m/s2, {note}", lines.get("gravity", 0))


def contact_count(m: Any) -> int:
    """How many pairs of bodies could touch: those whose bits allow it and that the model does not exclude."""
    if disabled(m, "CONTACT"):
        return 0
    weld = m.body_weldid  # bodies that are fixed to each other are one
    bits = np.zeros((m.nbody, 2), dtype=np.int64)
    for column, array in enumerate((m.geom_contype, m.geom_conaffinity)):
        np.bitwise_or.at(bits[:, column], weld[m.geom_bodyid], array)

    def match(one: Sequence[int], other: Sequence[int]) -> bool:
        return bool((one[0] & other[1]) | (other[0] & one[1]))

    groups = sorted(Counter(tuple(int(x) for x in bits[b]) for b in set(weld.tolist())).items())
    pairs = 0
    for i, (one, count) in enumerate(groups):
        pairs += count * (count - 1) // 2 if match(one, one) else 0
        pairs += sum(count * others for other, others in groups[i + 1 :] if match(one, other))
    excluded = {frozenset((int(weld[s >> 16]), int(weld[s & 0xFFFF]))) for s in m.exclude_signature}
    if not disabled(m, "FILTERPARENT"):  # bodies that a joint connects do not touch, unless one of them is the world
        ends = ((b, int(weld[m.body_parentid[b]])) for b in set(weld.tolist()) - {0})
        excluded |= {frozenset(pair) for pair in ends if pair[1]}
    pairs -= sum(len(pair) == 2 and match(*(bits[b] for b in pair)) for pair in excluded)
    return pairs + int(m.npair)
