"""Warnings about elements and attributes of an SDF model that the specification (sdformat.org, 1.7 to 1.12) lacks.

Only what the reader reads is looked through; an element or attribute with a namespace belongs to somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....model.mechanism import did_you_mean
from .common import Report, printable
from .xml_tree import Element

MAX_WARNINGS = 10

AXIS = "initial_position xyz dynamics limit mimic"
INERTIAL = "mass density auto_inertia_params pose inertia fluid_added_mass"
LINK = "pose inertial gravity enable_wind kinematic must_be_base_link velocity_decay"
MODEL = "static pose frame link joint model include gripper model_state enable_wind allow_auto_disable"
JOINT = "parent child pose axis axis2 gearbox_ratio gearbox_reference_body thread_pitch screw_thread_pitch"
EVERYWHERE = (  # what has no effect on the dynamics, or is named by --ignore
    "visual collision sensor light plugin projector audio audio_sink audio_source battery particle_emitter physics "
    "self_collide"
)
ELEMENTS: Mapping[str, str] = {  # element that is looked through -> what may be in it
    "model": MODEL,
    "link": LINK,
    "inertial": INERTIAL,
    "inertia": "ixx iyy izz ixy ixz iyz",
    "frame": "pose",
    "joint": JOINT,
    "axis": AXIS,
    "axis2": AXIS,
    "xyz": "",
    "dynamics": "damping friction spring_reference spring_stiffness",
    "limit": "lower upper effort velocity stiffness dissipation",
    "mimic": "multiplier offset reference",
    "pose": "",
}
ATTRIBUTES: Mapping[str, str] = {
    "model": "name namespace canonical_link placement_frame",
    "link": "name",
    "inertial": "auto",
    "frame": "name attached_to",
    "joint": "name type",
    "xyz": "expressed_in",
    "mimic": "joint axis",
    "pose": "relative_to rotation_format degrees",
}


def report_unknown(model: Element, report: Report) -> None:
    """Report each kind of unknown element and attribute once, with the line of the first one."""
    found: dict[tuple[str, str], list[tuple[str, int]]] = {}
    waiting = [(model, "")]
    while waiting:
        element, outer = waiting.pop()
        kind = _name(element)
        name = element.get("name")
        what = f"{kind} {printable(name)}" if name else outer
        for key in map(str, element.attrib):
            allowed = ATTRIBUTES.get(kind, "").split()
            if not _is_foreign(key) and key not in allowed:
                text = f"attribute {printable(key)} of <{kind}> is unknown and ignored{did_you_mean(key, allowed)}"
                found.setdefault((kind, text), []).append((what, element.sourceline))
        allowed = [*ELEMENTS[kind].split(), *EVERYWHERE.split()]
        inner = []
        for child in element.iterchildren("*"):
            key = _name(child)
            if child.prefix is not None or _is_foreign(key):
                continue
            if key not in allowed:
                text = f"<{printable(key)}> in <{kind}> is unknown and ignored{did_you_mean(key, allowed)}"
                found.setdefault((kind, text), []).append((what, child.sourceline))
            elif key in ELEMENTS:
                inner.append((child, what))
        waiting += reversed(inner)
    for (_, text), places in list(found.items())[:MAX_WARNINGS]:
        what, line = places[0]
        more = f" ({len(places) - 1} more of this kind)" if len(places) > 1 else ""
        report(f"{what}: {text}{more}", line)
    if len(found) > MAX_WARNINGS:
        report(f"{len(found) - MAX_WARNINGS} more kinds of unknown elements and attributes are ignored", 0)


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _is_foreign(name: str) -> bool:
    return name.startswith("{") or ":" in name
