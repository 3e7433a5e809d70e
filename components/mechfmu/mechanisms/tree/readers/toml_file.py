"""Reader of the TOML description of a tree; docs/tree_format.md defines the format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ....model.mechanism import did_you_mean
from ....multibody.attachments import ContactSphere, FramePoint
from ....multibody.following import FOLLOWING
from ....multibody.tree import GRAVITY, MOTIONS, SIZES, Body, BodyShape, BodyTree, Joint
from .arranged import arranged, check_connections
from .common import (
    MAX_ATTACHED,
    MAX_BODIES,
    MAX_NUMBER,
    Fault,
    Placed,
    Report,
    Source,
    as_user_error,
    check_count,
    check_name,
    contents,
    flat,
    legal_name,
    no_report,
    printable,
)
from .toml_tables import TABLES, LineNumbers, TomlTable, check_keys, parsed_toml

MAX_BYTES = 10_000_000  # a tree of 5000 bodies has 3 MB

TOP_KEYS = ("name", "gravity", *TABLES)
BODY_KEYS = ("name", "mass", "com", "inertia")
PLACE_KEYS = ("name", "kind", "parent", "child", "position", "rotation", "child_position", "child_rotation")
PASSIVE_KEYS = ("stiffness", "rest", "damping", "friction", "friction_speed")
LIMIT_KEYS = ("lower", "upper", "effort")
COUPLING_KEYS = ("mimic", "multiplier", "offset")
JOINT_KEYS = (*PLACE_KEYS, "axis", *PASSIVE_KEYS, "armature", *LIMIT_KEYS, *COUPLING_KEYS)
SHAPE_KEYS = ("body", "kind", "size", "position", "rotation", "colour", "mesh")
FRAME_KEYS = ("name", "body", "position", "rotation")
CONTACT_KEYS = ("name", "body", "position", "radius")


def read_toml(path_or_text: Source, inertia: str = "refuse", report: Report = no_report) -> BodyTree:
    """The tree of a TOML file (or of a text of several lines); inertia, report: as in arranged.judged."""
    is_text = isinstance(path_or_text, str) and "\n" in path_or_text
    where, data = contents(path_or_text, is_text, MAX_BYTES)
    with as_user_error(where):
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Fault("is not UTF-8 text", data.count(b"\n", 0, error.start) + 1) from None
        given = parsed_toml(text)
        lines = LineNumbers(text, given)
        check_keys(given, TOP_KEYS, "the file", lambda key: lines.of_key("", 0, key))
        default = Path(where).stem if not is_text and not isinstance(path_or_text, bytes) else "tree"
        return _tree(given, legal_name(default)[:100], lines, inertia, report)


def _tree(given: dict[str, Any], default: str, lines: LineNumbers, inertia: str, report: Report) -> BodyTree:
    name = given.get("name", default)
    if not isinstance(name, str) or legal_name(check_name(name, "the file", lines.of_key("", 0, "name"))) != name:
        raise Fault(
            f"name {printable(name)}: must be a text of letters, digits and _ that does not begin with a digit",
            lines.of_key("", 0, "name"),
        )
    for kind in TABLES:
        if not isinstance(given.get(kind, []), list):
            raise Fault(f"{kind} must be a list of tables: write [[{kind}]] before each", lines.of_key("", 0, kind))
        check_count(len(given.get(kind, [])), kind, MAX_BODIES if kind in ("body", "joint") else MAX_ATTACHED)
        if kind in TABLES[:2] and not given.get(kind):
            raise Fault(f"has no [[{kind}]]")

    def tables(kind: str, keys: tuple[str, ...]) -> list[TomlTable]:
        return [TomlTable(kind, i, table, lines, keys) for i, table in enumerate(given.get(kind, []))]

    bodies = [_body(table) for table in tables("body", BODY_KEYS)]
    found = [_joint(table) for table in tables("joint", JOINT_KEYS)]
    joints = [(joint, line) for joint, line, _ in found]
    check_connections(bodies, joints, "body")
    carried = {j.child for j, _ in joints}
    for body, line in bodies:
        if body.name not in carried:
            raise Fault(f"body {printable(body.name)}: no joint carries it", line)
    shapes = [_shape(table, carried) for table in tables("shape", SHAPE_KEYS)]
    attached: list[tuple[FramePoint | ContactSphere, int]] = []
    attached += [(_frame(table), table.line) for table in tables("frame", FRAME_KEYS)]
    attached += [(_contact(table), table.line) for table in tables("contact", CONTACT_KEYS)]
    poses = {joint.child: pose for joint, _, pose in found if pose is not None}
    tree = arranged(name, bodies, joints, poses, "body", shapes, inertia, report, attached)
    return replace(tree, gravity=_gravity(given, lines))


def _gravity(given: dict[str, Any], lines: LineNumbers) -> float:
    value, line = given.get("gravity", GRAVITY), lines.of_key("", 0, "gravity")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Fault(f"gravity {printable(value)}: must be a number in m/s2", line)
    if not 0.0 <= value <= MAX_NUMBER:
        raise Fault(f"gravity {printable(value)} m/s2: must be finite and not negative, it is along -z", line)
    return float(value)


def _body(table: TomlTable) -> tuple[Body, int]:
    mass, com = table.number("mass"), table.vector("com", (0.0, 0.0, 0.0))
    if "inertia" not in table.given and mass > 0:
        raise Fault(f"{table.what}: has a mass and no inertia; that of a point is [0, 0, 0, 0, 0, 0]", table.line)
    return Body(table.name, mass, com, table.inertia() if "inertia" in table.given else (0.0,) * 6), table.line


def _joint(table: TomlTable) -> tuple[Joint, int, Placed | None]:
    """The joint, its line, and the frame of the body in the joint's moving frame, where it is another one."""
    kind = table.text("kind")
    if kind not in MOTIONS:
        hint = f"{did_you_mean(kind, MOTIONS)} (known: {', '.join(MOTIONS)})"
        raise table.fault("kind", f"unknown kind {printable(kind)}{hint}")
    has_axis = any(axis is None for _, axis in MOTIONS[kind])
    joint = Joint(table.name, kind, table.text("child"), table.text("parent", ""))
    for keys, allowed in (
        (("axis",), has_axis),
        (PASSIVE_KEYS, kind not in ("fixed", "free")),
        (("rest",), kind != "spherical"),
        (("armature",), joint.rates > 0),
        (LIMIT_KEYS, joint.rates == 1),
        (COUPLING_KEYS, kind in FOLLOWING),
    ):
        for key in keys:
            if key in table.given and not allowed:
                raise table.fault(key, f"a {kind} joint has no {key}")
    axis = np.array(table.vector("axis", (0.0, 0.0, 1.0)))
    length = np.linalg.norm(axis)
    if not length > 1e-9:
        raise table.fault("axis", "its axis is zero")
    position, rotation = table.vector("position", (0.0, 0.0, 0.0)), flat(table.rotation("rotation"))
    passive: Any = {key: table.number(key, getattr(joint, key)) for key in (*PASSIVE_KEYS, "armature")}
    limits: Any = {key: table.optional(key) for key in LIMIT_KEYS}
    joint = replace(joint, position=position, rotation=rotation, axis=flat(axis / length), **passive, **limits)
    joint = _coupled(joint, table)
    if joint.effort is not None and joint.effort < 0:
        raise table.fault("effort", f"effort {joint.effort:g} is negative")
    if "child_position" in table.given or "child_rotation" in table.given:
        origin = np.array(table.vector("child_position", (0.0, 0.0, 0.0)))
        return joint, table.line, (table.rotation("child_rotation"), origin)
    return joint, table.line, None


def _frame(table: TomlTable) -> FramePoint:
    position = table.vector("position", (0.0, 0.0, 0.0))
    return FramePoint(table.name, table.text("body", ""), position, flat(table.rotation("rotation")))


def _contact(table: TomlTable) -> ContactSphere:
    radius = table.number("radius")
    if radius < 0:
        raise table.fault("radius", f"radius {radius:g} is negative")
    return ContactSphere(table.name, table.text("body"), table.vector("position", (0.0, 0.0, 0.0)), radius)


def _coupled(joint: Joint, table: TomlTable) -> Joint:
    """The joint with what it follows."""
    if "mimic" not in table.given:
        for key in COUPLING_KEYS[1:]:
            if key in table.given:
                raise table.fault(key, f"{key} is for a joint with mimic, the name of the joint that it follows")
        return joint
    multiplier, offset = table.number("multiplier", 1.0), table.number("offset", 0.0)
    return replace(joint, mimic=table.text("mimic"), multiplier=multiplier, offset=offset)


def _shape(table: TomlTable, bodies: set[str]) -> BodyShape:
    kind: Any = table.text("kind")
    if kind not in SIZES:
        hint = f"{did_you_mean(kind, SIZES)} (known: {', '.join(SIZES)})"
        raise table.fault("kind", f"unknown kind {printable(kind)}{hint}")
    if "size" not in table.given:
        raise Fault(f"{table.what}: needs a size", table.line)
    size = table.vector("size", (0.0,) * SIZES[kind])
    if not min(size) >= 0:
        raise table.fault("size", "its size is negative")
    body, position = table.text("body", ""), table.vector("position", (0.0, 0.0, 0.0))
    if body and body not in bodies:
        raise table.fault("body", f"its body {printable(body)} does not exist{did_you_mean(body, bodies)}")
    look = table.text("colour", ""), table.text("mesh", "")
    return BodyShape(body, kind, size, position, flat(table.rotation("rotation")), *look)
