"""Motors of an MJCF model as limits of joints, and `equality/joint` as couplings of joints.

A motor of MuJoCo exerts gear * gain * ctrl on its joint; the input of the tree is this torque (or force) itself. Its
limits are those of ctrl and of the actuator's force, in terms of the joint

    |gear| * (gain * ctrlrange  intersected with  forcerange)                                                       (1)

which must be the same in both directions: a joint of a tree has one `effort`. With <flag clampctrl="disable"/> only
forcerange counts. Motors of one joint add up; the joint's
own actuatorfrcrange limits their sum. Rotor inertia and damping of a motor, seen from the joint, are gear^2 times those
of the file. Of a servo whose law is left out (--ignore actuator) the range of its force, rotor inertia and damping
stay.

`equality/joint` with a linear polynomial says, with qpos0 the coordinates of the pose in the file,

    q_1 - qpos0_1 = c_0 + c_1 (q_2 - qpos0_2)   ->   multiplier c_1,  offset c_0 + qpos0_1 - c_1 qpos0_2             (2)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ....multibody.tree import Joint
from .common import printable
from .mjcf_bodies import Elements, disabled
from .unsupported import Unsupported

JOINT, JOINT_IN_PARENT = 0, 1  # MuJoCo's numbers of transmissions
EQUALITY_OF_JOINTS = 2
HINGE_OR_SLIDE = 2  # types of joints from this number on
Range = tuple[float, float]
EVERYTHING: Range = (-np.inf, np.inf)


def with_motors(elements: Elements, joints: dict[int, Joint], unsupported: Unsupported) -> dict[int, Joint]:
    """The joints with effort, rotor inertia and damping of their motors."""
    m, found = elements.model, dict(joints)
    ranges: dict[int, Range] = {}
    for a in range(len(m.actuator_trntype)):
        i = int(m.actuator_trnid[a][0])
        reason = _not_a_motor(m, a, i)
        if reason:
            what = f"actuator {printable(elements.name_of('actuator', a))}".rstrip()
            unsupported.add("actuator", f"{what} {reason}", elements.line_of("actuators", a))
            if m.actuator_trntype[a] not in (JOINT, JOINT_IN_PARENT) or m.jnt_type[i] < HINGE_OR_SLIDE:
                continue
        gear = float(m.actuator_gear[a][0])
        armature, damping = (gear**2 * float(_of(m, f"actuator_{word}", a)) for word in ("armature", "damping"))
        found[i] = replace(found[i], armature=found[i].armature + armature, damping=found[i].damping + damping)
        low, high = ranges.get(i, (0.0, 0.0))
        own = _range(m, a, is_motor=not reason)
        ranges[i] = (low + own[0], high + own[1])
    for i, joint in joints.items():
        if i < 0 or joint.rates != 1:
            continue
        low, high = ranges.get(i, EVERYTHING)
        if m.jnt_actfrclimited[i]:
            low, high = max(low, float(m.jnt_actfrcrange[i][0])), min(high, float(m.jnt_actfrcrange[i][1]))
        if np.isfinite([low, high]).any() and not np.isclose(low, -high, rtol=1e-9, atol=0):
            text = f"the motor of joint {printable(joint.name)} has limits {low:g} .. {high:g} that are not symmetric"
            unsupported.add("actuator", text, elements.line_of_joint(i))
        elif high == 0.0:
            text = f"the motor of joint {printable(joint.name)} can do nothing: its gear or its limits are zero"
            unsupported.add("actuator", text, elements.line_of_joint(i))
        elif np.isfinite(high):
            found[i] = replace(found[i], effort=float(high))
    return found


def _not_a_motor(m: Any, a: int, joint: int) -> str:
    """Why an actuator is not a motor on a hinge or slide; empty: it is one."""
    if m.actuator_trntype[a] not in (JOINT, JOINT_IN_PARENT):
        return "does not act on a joint"
    if m.jnt_type[joint] < HINGE_OR_SLIDE:
        return "acts on a ball or free joint"
    if m.actuator_gaintype[a] or m.actuator_biastype[a] or m.actuator_dyntype[a]:
        return "is not a motor (gain, bias or dynamics)"
    if np.any(_of(m, "actuator_dampingpoly", a)) or np.any(_of(m, "actuator_delay", a)):
        return "is not a motor (polynomial damping or delay)"
    return ""


def _range(m: Any, a: int, is_motor: bool) -> Range:
    """(1); the ctrl of a servo is not a force, and does not count."""
    low, high = EVERYTHING
    gear, gain = float(m.actuator_gear[a][0]), float(m.actuator_gainprm[a][0])
    if m.actuator_ctrllimited[a] and is_motor and not disabled(m, "CLAMPCTRL"):
        low, high = sorted(gain * float(limit) for limit in m.actuator_ctrlrange[a])
    if m.actuator_forcelimited[a]:
        low, high = max(low, float(m.actuator_forcerange[a][0])), min(high, float(m.actuator_forcerange[a][1]))
    if gear == 0.0:
        return 0.0, 0.0
    low, high = sorted((gear * low, gear * high))
    return low, high


def _of(m: Any, array: str, number: int) -> Any:
    """An entry of an array that older versions of MuJoCo do not have."""
    return getattr(m, array)[number] if hasattr(m, array) else 0.0


def coupled(elements: Elements, joints: dict[int, Joint], unsupported: Unsupported) -> dict[int, Joint]:
    """The joints with the couplings of the model, (2)."""
    m, found = elements.model, dict(joints)
    on_joints = (a for a, kind in enumerate(m.actuator_trntype) if kind in (JOINT, JOINT_IN_PARENT))
    driven = {int(m.actuator_trnid[a][0]) for a in on_joints}
    for e in range(m.neq):
        if not m.eq_active0[e] or disabled(m, "EQUALITY"):
            continue
        line, name = elements.line_of("equalities", e), printable(elements.name_of("eq", e))
        one, other, c = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e]
        what = f"equality {name}".rstrip()
        if m.eq_type[e] != EQUALITY_OF_JOINTS:
            unsupported.add("equality", f"{what} does not couple two joints", line)
        elif other < 0 or np.any(c[2:5]) or c[1] == 0.0:
            unsupported.add("equality", f"{what} couples joints by other than a linear polynomial", line)
        elif "mimic" in unsupported.ignore:
            continue
        elif found[one].mimic:
            unsupported.add("equality", f"{what} is a second one of joint {printable(found[one].name)}", line)
        else:
            start, lead = (float(m.qpos0[m.jnt_qposadr[i]]) for i in (one, other))
            offset = float(c[0]) + start - float(c[1]) * lead
            found[one] = replace(found[one], mimic=found[other].name, multiplier=float(c[1]), offset=offset)
            if one in driven:
                text = f"the motor of joint {printable(found[one].name)}, which follows joint"
                unsupported.add("actuator", f"{text} {printable(found[other].name)}", line)
    return found
