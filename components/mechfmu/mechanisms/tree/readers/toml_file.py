"""Reader of the TOML description of a tree; docs/tree_format.md defines the format.

The TOML parser of Python gives no line numbers once a file is read, so the lines of tables and keys are found in the
text, from which strings and comments have been blanked out. This text also shows what would make the parser slow or
overrun its stack: deep nesting and endless dotted keys.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from ....model.mechanism import did_you_mean
from ....multibody.attachments import ContactSphere, FramePoint
from ....multibody.following import FOLLOWING
from ....multibody.rotations import from_quaternion
from ....multibody.tree import MOTIONS, SIZES, Body, BodyShape, BodyTree, Joint
from .arranged import arranged, check_connections
from .common import (
    MAX_ATTACHED,
    MAX_BODIES,
    Fault,
    Placed,
    Report,
    Source,
    as_user_error,
    check_count,
    check_name,
    contents,
    flat,
    from_rpy,
    in_range,
    legal_name,
    no_report,
    printable,
    tidy,
)

MAX_BYTES = 10_000_000  # a tree of 5000 bodies has 3 MB
MAX_DEPTH = 8  # of brackets; the format needs 3
MAX_DOTS = 3  # in a key; the format needs 1

INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")
TABLES = ("body", "joint", "shape", "frame", "contact")
TOP_KEYS = ("name", *TABLES)
BODY_KEYS = ("name", "mass", "com", "inertia")
PLACE_KEYS = ("name", "kind", "parent", "child", "position", "rotation", "child_position", "child_rotation")
PASSIVE_KEYS = ("stiffness", "rest", "damping", "friction", "friction_speed")
LIMIT_KEYS = ("lower", "upper", "effort")
COUPLING_KEYS = ("mimic", "multiplier", "offset")
JOINT_KEYS = (*PLACE_KEYS, "axis", *PASSIVE_KEYS, "armature", *LIMIT_KEYS, *COUPLING_KEYS)
SHAPE_KEYS = ("body", "kind", "size", "position", "rotation", "colour", "mesh")
FRAME_KEYS = ("name", "body", "position", "rotation")
CONTACT_KEYS = ("name", "body", "position", "radius")
ROTATIONS = ("rpy", "quaternion", "matrix")

_HIDDEN = re.compile(  # strings and comments, each in one step, closed or not
    r'"""(?:\\.|[^\\])*?(?:"""|\\?\Z)' r"|'''.*?(?:'''|\Z)" r'|"(?:\\[^\n]|[^"\\\n])*"?' r"|'[^'\n]*'?" r"|#[^\n]*",
    re.DOTALL,
)
_TABLE = re.compile(r"\[\[[ \t]*([A-Za-z0-9_-]+)[ \t]*\]\]")
_KEY = re.compile(r"\[?[ \t]*(?:joint|body|shape|frame|contact)?[ \t]*\.?[ \t]*([A-Za-z0-9_-]+)[ \t]*[.=\]]")


def read_toml(path_or_text: Source, inertia: str = "refuse", report: Report = no_report) -> BodyTree:
    """The tree of a TOML file (or of a text of several lines); inertia, report: as in arranged.judged."""
    is_text = isinstance(path_or_text, str) and "\n" in path_or_text
    where, data = contents(path_or_text, is_text, MAX_BYTES)
    with as_user_error(where):
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Fault("is not UTF-8 text", data.count(b"\n", 0, error.start) + 1) from None
        given = _parsed(text)
        lines = LineNumbers(text, given)
        _check_keys(given, TOP_KEYS, "the file", lambda key: lines.of_key("", 0, key))
        default = Path(where).stem if not is_text and not isinstance(path_or_text, bytes) else "tree"
        return _tree(given, legal_name(default)[:100], lines, inertia, report)


def _parsed(text: str) -> dict[str, Any]:
    hidden = _blanked(text)
    depth = 0
    for found in re.finditer(r"[\[\]{}]", hidden):
        depth = depth + 1 if found[0] in "[{" else max(depth - 1, 0)
        if depth > MAX_DEPTH:
            raise Fault("brackets are nested too deeply", hidden.count("\n", 0, found.start()) + 1)
    line = 1
    for piece in re.split(r"([^\w\-. \t])", hidden):  # a dotted key is one piece
        line += piece.count("\n")
        if piece.count(".") > MAX_DOTS:
            raise Fault("a key has too many parts", line)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also from int(), for a number of 5000 digits
        message = str(error)
        place = re.search(r" ?\(at (?:line (\d+), column \d+|end of document)\)", message)
        line = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else 0
        raise Fault(f"is not valid TOML: {printable(message[: place.start()] if place else message)}", line) from None


def _blanked(text: str) -> str:
    """The text with strings and comments made letters: as long, and with the same lines."""
    return _HIDDEN.sub(lambda found: re.sub(r"[^\n]", "s" if found[0][0] != "#" else " ", found[0]), text)


class LineNumbers:
    """The lines of the tables and keys of a file."""

    def __init__(self, text: str, given: dict[str, Any]):
        self.tables: dict[str, list[int]] = {"": [0]}
        self.keys: dict[tuple[str, int, str], int] = {}
        kind, index = "", 0
        for number, line in enumerate(_blanked(text).split("\n"), 1):
            line = line.strip()
            if table := _TABLE.match(line):
                kind = table[1]
                self.tables.setdefault(kind, []).append(number)
                index = len(self.tables[kind]) - 1
            elif key := _KEY.match(line):
                self.keys.setdefault((kind, index, key[1]), number)
        for kind in TABLES:  # written in a way that this class does not understand
            if not isinstance(given.get(kind), list) or len(given[kind]) != len(self.tables.get(kind, [])):
                self.tables[kind] = []

    def of_table(self, kind: str, index: int) -> int:
        table = self.tables.get(kind, [])
        return table[index] if index < len(table) else self.keys.get(("", 0, kind), 0)

    def of_key(self, kind: str, index: int, key: str) -> int:
        if index < len(self.tables.get(kind, [])) and (kind, index, key) in self.keys:
            return self.keys[kind, index, key]
        return self.of_table(kind, index) if kind else self.of_table(key, 0)


class TomlTable:
    """One [[body]], [[joint]] or other table: its checked values, and messages about it."""

    def __init__(self, kind: str, index: int, given: Any, lines: LineNumbers, keys: tuple[str, ...]):
        self.kind, self.index, self.lines = kind, index, lines
        self.line = lines.of_table(kind, index)
        self.what = f"{kind} {index + 1}"
        if not isinstance(given, dict):
            raise Fault(f"{self.what}: must be a table", self.line)
        self.given = given
        if "name" in keys:
            self._read_name()
        _check_keys(given, keys, self.what, self.line_of)

    def _read_name(self) -> None:
        name = check_name(self.text("name"), self.what, self.line_of("name"))
        if legal_name(name) != name:
            rule = "a name is made of letters, digits and _ and does not begin with a digit"
            raise Fault(f"{self.kind} {printable(name)}: {rule}", self.line_of("name"))
        self.name, self.what = name, f"{self.kind} {printable(name)}"

    def line_of(self, key: str) -> int:
        return self.lines.of_key(self.kind, self.index, key)

    def fault(self, key: str, message: str) -> Fault:
        return Fault(f"{self.what}: {message}", self.line_of(key))

    def text(self, key: str, default: str | None = None) -> str:
        value = self.given.get(key, default)
        if value is None:
            raise Fault(f"{self.what}: needs a {key}", self.line)
        if not isinstance(value, str):
            raise self.fault(key, f"{key} must be a text in quotation marks")
        return value

    def number(self, key: str, default: float = 0.0) -> float:
        return self._number(key, self.given.get(key, default), key)

    def optional(self, key: str) -> float | None:
        return self.number(key) if key in self.given else None

    def vector(self, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
        return self._vector(key, self.given.get(key, list(default)), key, len(default))

    def _number(self, key: str, value: Any, what: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.fault(key, f"{what} must be a number")
        try:
            return in_range(float(value), f"{self.what}: {what}", self.line_of(key))
        except OverflowError:
            raise self.fault(key, f"{what} is too large") from None

    def _vector(self, key: str, value: Any, what: str, count: int) -> tuple[float, ...]:
        if not isinstance(value, list) or len(value) != count:
            raise self.fault(key, f"{what} must be a list of {count} numbers")
        return tuple(self._number(key, v, what) for v in value)

    def inertia(self) -> tuple[float, ...]:
        given = self.given["inertia"]
        if not isinstance(given, dict):
            return self._vector("inertia", given, "inertia", 6)
        _check_keys(given, INERTIA, f"{self.what}: inertia", lambda _: self.line_of("inertia"))
        for key in INERTIA[:3]:
            if key not in given:
                raise self.fault("inertia", f"inertia needs {key}")
        return tuple(self._number("inertia", given.get(key, 0.0), f"inertia {key}") for key in INERTIA)

    def rotation(self, key: str) -> np.ndarray:
        """A rotation matrix. Rounded numbers are made a rotation again; anything worse is an error."""
        given = self.given.get(key, {"rpy": [0, 0, 0]})
        if not isinstance(given, dict) or len(given) != 1:
            forms = ", ".join(f"{{ {form} = [...] }}" for form in ROTATIONS)
            raise self.fault(key, f"{key} must be one of {forms}")
        _check_keys(given, ROTATIONS, f"{self.what}: {key}", lambda _: self.line_of(key))
        ((form, value),) = given.items()
        if form == "rpy":
            return from_rpy(self._vector(key, value, f"{key} rpy", 3))
        if form == "quaternion":
            e = np.array(self._vector(key, value, f"{key} quaternion", 4))
            length = float(np.linalg.norm(e))
            if not abs(length - 1) < 1e-6:
                raise self.fault(key, f"{key}: the quaternion's length is {length:g}, not 1")
            return tidy(np.asarray(from_quaternion(e / length)))
        if not isinstance(value, list) or len(value) != 3:
            raise self.fault(key, f"{key} matrix must be a list of 3 rows")
        R = np.array([self._vector(key, row, f"{key} matrix: each row", 3) for row in value])
        if not np.max(np.abs(R @ R.T - np.eye(3))) < 1e-6 or not np.linalg.det(R) > 0:
            raise self.fault(key, f"{key}: the matrix is not a rotation")
        U, _, V = np.linalg.svd(R)
        return tidy(R if np.max(np.abs(R @ R.T - np.eye(3))) < 1e-14 else U @ V)


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
    return arranged(name, bodies, joints, poses, "body", shapes, inertia, report, attached)


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


def _check_keys(given: Iterable[str], known: tuple[str, ...], what: str, line_of: Any) -> None:
    for key in given:
        if key not in known:
            hint = f"{did_you_mean(key, known)} (known: {', '.join(known)})"
            raise Fault(f"{what}: unknown key {printable(key)}{hint}", line_of(key))
