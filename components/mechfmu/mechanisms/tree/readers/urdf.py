"""Reader of URDF, the robot descriptions of ROS.

What is read:

    <link>      name; <inertial> with <origin>, <mass>, <inertia> (turned into the link's axes). A link without
                <inertial> has no mass.
    <joint>     name, type; <parent>, <child>, <origin>, <axis> (made a unit vector; x if it is missing, as in URDF's
                definition), <dynamics> damping and friction, <limit> lower, upper (if one is missing it is 0; if both
                are missing there is no limit) and effort (0: not given), <mimic> joint, multiplier (1), offset (0).
    <transmission>    rotor inertias, see transmissions.py

    revolute, continuous, prismatic, fixed    the kinds of multibody/tree.py; continuous is revolute without limits
    floating                                  kind free
    planar                                    moves in the plane orthogonal to <axis>. A planar joint of
                                              multibody/tree.py moves along x, y and about z, so the joint's frame is
                                              turned by the smallest rotation that takes z to the axis (for -z: half a
                                              turn about x)

Frames that can be asked for are <sensor> elements, and the root link when it is held (links that move are bodies of the
tree). Spheres and the corners of boxes of <collision> can become contacts. See urdf_attachments.py.

Boxes, cylinders, spheres and meshes of <visual> (boxes, cylinders and spheres of <collision>, for a link that has none
there) are kept for the drawing, see urdf_shapes.py. Joints that close loops and springs between links are refused, see
urdf_unsupported.py. Everything else (gazebo, ...) does not concern dynamics and is ignored, whatever it contains, and
so are a shape with a mistake and the <mimic> of a fixed joint; what is unknown in links and joints is reported, see
urdf_unknown.py. The root link is the base: fixed (base="fixed": its inertia does not matter and is dropped) or carried
by a free joint called "base". Names that variables of an FMU cannot have are changed, see common.legal_names.

Safe: no DOCTYPE, hence no entities; no network, no other files but meshes in known folders; limits of size and depth.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ....model.mechanism import UserError, did_you_mean
from ....multibody.tree import Body, BodyTree, Joint
from .arranged import arranged, check_connections
from .common import (
    Fault,
    Placed,
    Report,
    Source,
    as_user_error,
    check_count,
    check_name,
    contents,
    flat,
    no_report,
    number,
    numbers,
    printable,
    tidy,
    turned_inertia,
)
from .meshes.shapes import Meshes
from .transmissions import with_rotors
from .unsupported import ignored_words
from .urdf_attachments import attachments
from .urdf_elements import origin_of as _origin
from .urdf_shapes import urdf_shapes
from .urdf_unknown import report_unknown
from .urdf_unsupported import check_supported
from .xml_tree import Element, parsed
from .xml_tree import all_of as _all
from .xml_tree import attribute as _attribute
from .xml_tree import one as _one
from .xml_tree import tag as _tag

IGNORED = {  # word of --ignore -> what it leaves out
    "mimic": "<mimic>: every joint moves on its own",
    "transmission": "inertias of rotors",
    "free": "damping, friction and limits of floating joints",
    "planar": "limits of planar joints",
    "loop": "joints that close loops, and those of Drake",
    "spring": "springs, dampers and bushings between links",
}
MAX_BYTES = 10_000_000
KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}


def read_urdf(
    path_or_text: Source,
    base: str = "fixed",
    inertia: str = "refuse",
    ignore: Iterable[str] = (),
    report: Report = no_report,
    meshes: Meshes | None = None,
) -> BodyTree:
    """The tree of a URDF file (or of a text that begins with "<").

    base: "fixed", the root link is held, or "free", it floats. inertia, report: as in arranged.judged. ignore: elements
    to leave out, words of IGNORED. meshes: where those of the file are; None: they are not drawn.
    """
    words = ignored_words(ignore, IGNORED, "a URDF file")
    if base not in ("fixed", "free"):
        raise UserError(f"base={printable(base)}: must be fixed or free")
    is_text = isinstance(path_or_text, str) and path_or_text.lstrip("\ufeff \t\r\n").startswith("<")
    where, data = contents(path_or_text, is_text, MAX_BYTES)
    with as_user_error(where):
        robot = _parsed(data, "utf-8" if is_text else None)
        name = robot.get("name") or (
            Path(where).stem if not is_text and not isinstance(path_or_text, bytes) else "robot"
        )
        return _tree(robot, check_name(name, "robot", robot.sourceline), base, words, (inertia, report), meshes)


def _parsed(data: bytes, encoding: str | None) -> Element:
    root = parsed(data, encoding)
    for element in root.xpath("(//*[contains(namespace-uri(), 'xacro')])[1]"):
        raise Fault("is a xacro file: its name must end in .xacro", element.sourceline)
    if _tag(root) != "robot":
        raise Fault(f"is not a URDF file: its root element is <{printable(_tag(root))}>, not <robot>", root.sourceline)
    return root


def _tree(
    robot: Element, name: str, base: str, ignore: Collection[str], judgement: tuple[str, Report], meshes: Meshes | None
) -> BodyTree:
    elements = {tag: list(_all(robot, tag)) for tag in ("link", "joint", "transmission")}
    for tag, them in elements.items():
        check_count(len(them), tag)
    report_unknown(robot, judgement[1])
    links, found = [_link(e) for e in elements["link"]], [_joint(e, ignore) for e in elements["joint"]]
    check_supported(robot, ignore)
    joints = with_rotors([(joint, line) for joint, line, _ in found], elements["transmission"], ignore)
    poses = {joint.child: pose for joint, _, pose in found if pose is not None}
    if not links:
        raise Fault("has no link", robot.sourceline)
    check_connections(links, joints, "link")

    carried = {j.child for j, _ in joints}
    roots = [(body, line) for body, line in links if body.name not in carried]
    if not roots:
        raise Fault("has no root link: its joints form a loop", joints[0][1])
    if len(roots) > 1:
        names = ", ".join(printable(b.name) for b, _ in roots[:5]) + (", ..." if len(roots) > 5 else "")
        second, line = printable(roots[1][0].name), roots[1][1]
        raise Fault(f"link {second}: is a second root link ({names}); all but one must be the child of a joint", line)
    ((root, line),) = roots
    what = f"link {printable(root.name)}"
    shapes = urdf_shapes(robot, elements["link"], meshes)
    rigid = _fixed_together(root.name, [b for b, _ in links], [j for j, _ in joints])
    if base == "free":
        if not sum(body.mass for body in rigid) > 0:
            raise Fault(f"{what}: the root link cannot float: neither it nor a link fixed to it has mass", line)
        taken = {j.name for j, _ in joints}
        own = next(n for n in ("base", "base_joint", *(f"base_{i}" for i in range(len(taken) + 1))) if n not in taken)
        joints = [(Joint(own, "free", root.name), line), *joints]
    else:
        can_float = any(body.mass > 0 for body in rigid) and any(any(body.inertia) for body in rigid)
        free = "--base free"
        remedy = f"{free} lets {{}} float" if can_float else f"with mass and inertia, {free} would let {{}} float"
        if len(links) == 1:
            raise Fault(f"{what}: is the only link and the base, so nothing can move; {remedy.format('it')}", line)
        if not any(j.rates for j, _ in joints):
            floats = remedy.format("the robot")
            raise Fault(f"no joint of the tree can move: every joint is fixed; {floats}", line)
        links = [(b, at) for b, at in links if b is not root]
        joints = [(replace(j, parent="") if j.parent == root.name else j, at) for j, at in joints]
    attached = attachments(robot, "" if base == "free" else root.name, judgement[1])
    return arranged(name, links, joints, poses, "link", shapes, *judgement, attached)


def _fixed_together(root: str, bodies: list[Body], joints: list[Joint]) -> list[Body]:
    """A link and all that is fixed to it."""
    group = {root}
    fixed: dict[str, list[str]] = {}
    for joint in joints:
        if joint.kind == "fixed":
            fixed.setdefault(joint.parent, []).append(joint.child)
    waiting = [root]
    while waiting:
        new = [c for c in fixed.get(waiting.pop(), []) if c not in group]
        group.update(new)
        waiting.extend(new)
    return [body for body in bodies if body.name in group]


def _link(element: Element) -> tuple[Body, int]:
    line = element.sourceline
    name = check_name(element.get("name", ""), "link", line)
    what = f"link {printable(name)}"
    inertial = _one(element, "inertial", what)
    if inertial is None:
        return Body(name), line
    R, com = _origin(inertial, what)
    mass = _one(inertial, "mass", what, needed=True)
    inertia = _one(inertial, "inertia", what, needed=True)
    m = number(_attribute(mass, "value", what), f"{what}: mass", mass.sourceline)
    J = tuple(
        number(_attribute(inertia, f"i{s}", what), f"{what}: inertia i{s}", inertia.sourceline)
        for s in ("xx", "yy", "zz", "xy", "xz", "yz")
    )
    return Body(name, m, flat(com), turned_inertia(R, J)), line


def _joint(element: Element, ignore: Collection[str] = ()) -> tuple[Joint, int, Placed | None]:
    """The joint, its line, and the child's own frame in the joint's moving frame, where it is another one."""
    line = element.sourceline
    name = check_name(element.get("name", ""), "joint", line)
    what = f"joint {printable(name)}"
    kind = _attribute(element, "type", what)
    if kind not in KINDS:
        hint = f"{did_you_mean(kind, KINDS)} (known: {', '.join(KINDS)})"
        raise Fault(f"{what}: unknown type {printable(kind)}{hint}", line)
    parent, child = (_attribute(_one(element, role, what, needed=True), "link", what) for role in ("parent", "child"))
    if not parent or not child:
        raise Fault(f"{what}: its {'child' if parent else 'parent'} has no name", line)
    R, position = _origin(element, what)
    joint = Joint(name, KINDS[kind], child, parent, flat(position), flat(R))
    if kind == "fixed":
        return joint, line, None
    joint = _with_dynamics(joint, element, what)
    if kind == "floating":
        if "free" not in ignore and (joint.damping or joint.friction):
            raise Fault(f"{what}: a floating joint has no damping and no friction; --ignore free leaves them out", line)
        joint = replace(joint, damping=0.0, friction=0.0)
    joint = joint if "mimic" in ignore else _with_mimic(joint, element, what)
    if KINDS[kind] in ("free", "planar") and KINDS[kind] not in ignore:
        _check_no_limits(element, what, kind)
    if kind == "floating":
        return joint, line, None
    axis = _axis(element, what)
    if kind == "planar":
        Q = _z_to(axis)
        return replace(joint, rotation=flat(R @ Q)), line, None if np.array_equal(Q, np.eye(3)) else (Q.T, np.zeros(3))
    return _with_limits(replace(joint, axis=flat(axis)), element, what, kind), line, None


def _with_dynamics(joint: Joint, element: Element, what: str) -> Joint:
    dynamics = _one(element, "dynamics", what)
    if dynamics is None:
        return joint
    damping, friction = (
        number(dynamics.get(key, "0"), f"{what}: {key}", dynamics.sourceline) for key in ("damping", "friction")
    )
    return replace(joint, damping=damping, friction=friction)


def _with_mimic(joint: Joint, element: Element, what: str) -> Joint:
    mimic = _one(element, "mimic", what)
    if mimic is None:
        return joint
    multiplier, offset = (
        number(mimic.get(key, default), f"{what}: mimic {key}", mimic.sourceline)
        for key, default in (("multiplier", "1"), ("offset", "0"))
    )
    leader = check_name(_attribute(mimic, "joint", what), f"{what}: mimic", mimic.sourceline)
    return replace(joint, mimic=leader, multiplier=multiplier, offset=offset)


def _check_no_limits(element: Element, what: str, kind: str) -> None:
    """Check that a joint of several coordinates has no limits but those that mean none: velocity, and zeros."""
    limit = _one(element, "limit", what)
    for key in ("lower", "upper", "effort") if limit is not None else ():
        if number(limit.get(key, "0"), f"{what}: limit {key}", limit.sourceline, largest=np.finfo(float).max):
            text = f"a {kind} joint has no limit {key}; --ignore {KINDS[kind]} leaves its limits out"
            raise Fault(f"{what}: {text}", limit.sourceline)


def _with_limits(joint: Joint, element: Element, what: str, kind: str) -> Joint:
    """Limits may be as large as a double: some writers mean "none" by that."""
    limit = _one(element, "limit", what)
    if limit is None:
        return joint
    value = {
        k: number(limit.get(k, "0"), f"{what}: limit {k}", limit.sourceline, largest=np.finfo(float).max)
        for k in ("lower", "upper", "effort")
    }
    if value["effort"] < 0:
        raise Fault(f"{what}: limit effort {value['effort']:g} is negative", limit.sourceline)
    if kind != "continuous" and (limit.get("lower") is not None or limit.get("upper") is not None):
        joint = replace(joint, lower=value["lower"], upper=value["upper"])
    return replace(joint, effort=value["effort"] or None)


def _axis(element: Element, what: str) -> np.ndarray:
    axis = _one(element, "axis", what)
    if axis is None:
        return np.array([1.0, 0.0, 0.0])
    a = np.array(numbers(_attribute(axis, "xyz", what), 3, f"{what}: axis xyz", axis.sourceline))
    length = np.linalg.norm(a)
    if not length > 1e-9:
        raise Fault(f"{what}: its axis is zero", axis.sourceline)
    return a / length


def _z_to(axis: np.ndarray) -> np.ndarray:
    """The smallest rotation from z to the axis: half turns about z and about the middle between z and the axis."""
    middle = axis + np.array([0.0, 0.0, 1.0])
    length = np.linalg.norm(middle)
    if not length > 1e-9:
        return np.diag([1.0, -1.0, -1.0])
    h = middle / length
    return tidy((2 * np.outer(h, h) - np.eye(3)) @ np.diag([-1.0, -1.0, 1.0]))
