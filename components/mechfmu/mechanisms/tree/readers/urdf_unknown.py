"""Warnings about elements and attributes that URDF does not define: mistyped ones would be lost without a word.

They are no errors, because files carry extensions of many programs. The common ones are known here and not mentioned,
and nothing with a prefix is.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....model.mechanism import did_you_mean
from .common import Report, printable
from .xml_tree import Element, tag

MAX_KINDS = 20  # of warnings about one file
INERTIA = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}

CHILDREN = {  # of each element, those that URDF defines
    "link": {"inertial", "visual", "collision"},
    "joint": {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic", "safety_controller", "calibration"},
    "inertial": {"origin", "mass", "inertia"},
}
ATTRIBUTES = {
    "link": {"name"},
    "joint": {"name", "type"},
    "origin": {"xyz", "rpy", "quat_xyzw"},
    "axis": {"xyz"},
    "limit": {"lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"},
    "dynamics": {"damping", "friction"},
    "mimic": {"joint", "multiplier", "offset"},
    "inertial": set[str](),
    "inertia": INERTIA,
    "mass": {"value"},
    "parent": {"link"},
    "child": {"link"},
}
EXTENSIONS = {  # elements and attributes of ROS, Gazebo, PyBullet and robot makers
    "link": {"type", "concave", "contact", "gazebo", "material", "self_collision_checking", "collision_checking"}
    | {"gravity", "kinematic", "self_filter", "sensor", "surface", "verbose"},
    "joint": {"dont_collapse", "gazebo", "hardwareInterface", "joint_properties", "sensor", "transmission"}
    | {"actuator", "mechanicalReduction"},
    "axis": {"rpy"},
    "limit": {"command_effort", "current", "gear_velocity"},
    "dynamics": {"D", "K", "mu_coulomb", "mu_viscous"},
}


def report_unknown(robot: Element, report: Report) -> None:
    """Report what URDF does not define: the first one of each kind, and how many more there are."""
    found: dict[tuple[str, str, str], list[tuple[str, int]]] = {}
    for owner in robot.iterchildren("{*}link", "{*}joint"):
        if owner.prefix is None:
            what = f"{tag(owner)} {printable(owner.get('name') or '')}".rstrip()
            for kind, line in _unknown(owner):
                found.setdefault(kind, []).append((what, line))
    for (sort, name, inside), places in list(found.items())[:MAX_KINDS]:
        what, line = places[0]
        known = (CHILDREN if sort == "element" else ATTRIBUTES).get(inside, set())
        shown = f"<{name}>" if sort == "element" else name
        ignored = f"and {len(places) - 1} more are ignored" if len(places) > 1 else "is ignored"
        report(f"{what}: unknown {sort} {shown} in <{inside}> {ignored}{did_you_mean(name, sorted(known))}", line)


def _unknown(element: Element) -> Iterator[tuple[tuple[str, str, str], int]]:
    """What is not known in an element and below: element or attribute, its name, its parent, and the line."""
    name = tag(element)
    extensions = EXTENSIONS.get(name, set())
    for key in element.attrib:
        if ":" not in key and "}" not in key and key not in ATTRIBUTES[name] | extensions:
            yield ("attribute", printable(key), name), element.sourceline
    for child in element.iterchildren():
        if child.prefix is not None or ":" in (inner := tag(child)):
            continue
        if inner in CHILDREN.get(name, ()):
            if inner in ATTRIBUTES:
                yield from _unknown(child)
        elif name in CHILDREN and inner not in extensions:
            yield ("element", printable(inner), name), child.sourceline
