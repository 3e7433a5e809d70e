"""Reader of SDF, the models of Gazebo, from version 1.7 on.

What is read: the one <model> of the file, alone or in a <world>, with its nested models.

    <link>     pose, <inertial> (pose, mass, inertia; as SDF defines it, 1 kg and 1 kg m2 where nothing is given);
               boxes, cylinders, spheres and capsules of <visual>, or of <collision>, for the drawing
    <joint>    revolute, continuous, prismatic, fixed, ball; universal and revolute2 become two revolute joints, NAME
               and NAME_2, with a body without mass between them. <axis>: xyz with expressed_in, <dynamics> (damping,
               friction, spring_stiffness, spring_reference), <limit> (lower, upper, effort), <mimic>
    <frame>    attached_to, pose; every pose may have relative_to (sdf_frames.py)

A model floats unless a joint holds it at the world: base=None. Its root link then is carried by a free joint `base`,
which counts from where the file puts the link. Links that fixed joints hold at the world are the base, whatever their
inertia, and so is the root link with base="fixed".

What concerns pictures, collisions and solvers is not read. What else a file may ask for is in IGNORED. Elements that
SDF does not have are reported (sdf_unknown.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....model.mechanism import did_you_mean
from ....multibody.attachments import FramePoint
from ....multibody.tree import GRAVITY, Body, BodyTree, Joint
from .arranged import arranged, check_connections
from .common import (
    Fault,
    Placed,
    Report,
    Source,
    as_user_error,
    check_count,
    contents,
    flat,
    legal_name,
    no_report,
    numbers,
    printable,
)
from .meshes.shapes import Meshes
from .sdf_elements import AXES, KINDS, axis_of, inertial_body, shapes_of
from .sdf_frames import MODEL, SAME, WORLD, Frames, PlacedFrame, is_true, read_pose
from .sdf_unknown import report_unknown
from .unsupported import Unsupported, ignored_words
from .xml_tree import Element, all_of, attribute, one, parsed, tag

MAX_BYTES = 10_000_000
MAX_NESTED = 20  # models within models
WORLD_GRAVITY = 9.8  # m/s2 along -z, as SDF defines it for a <world> without <gravity>
FIRST_VERSION = (1, 7)  # earlier ones have other rules for frames
IGNORED = {  # word of --ignore -> what it leaves out
    "mimic": "<mimic>: every joint moves on its own",
    "sensor": "sensors",
    "plugin": "plugins",
    "include": "included models",
    "gripper": "grippers",
    "gravity": "gravity of the world that is not along -z: it is 9.81 m/s2 there; links without gravity",
    "static": "that nested models stand still: they move like others",
    "kinematic": "that links do not react to forces: they move like others",
    "fluid": "added mass, wind, velocity_decay",
    "actor": "actors",
}


@dataclass(frozen=True)
class Scoped:
    """An element with the full name that it has outside its model, and the prefix of names in its model."""

    element: Element
    name: str
    prefix: str

    @property
    def what(self) -> str:
        return f"{tag(self.element)} {printable(self.name)}"

    @property
    def line(self) -> int:
        return int(self.element.sourceline or 0)


def read_sdf(
    path_or_text: Source,
    base: str | None = None,
    inertia: str = "refuse",
    ignore: Iterable[str] = (),
    report: Report = no_report,
    meshes: Meshes | None = None,
) -> BodyTree:
    """The tree of an SDF file (or of a text that begins with "<").

    base: "fixed", the root link is held, "free", it floats, or None, as the file says. inertia, report: as in
    arranged.judged. ignore: words of IGNORED. meshes: where those of the file are; None: they are not drawn.
    """
    words = ignored_words(ignore, IGNORED, "an SDF file")
    is_text = isinstance(path_or_text, str) and path_or_text.lstrip("\ufeff \t\r\n").startswith("<")
    where, data = contents(path_or_text, is_text, MAX_BYTES)
    with as_user_error(where):
        root = parsed(data, "utf-8" if is_text else None)
        unsupported = Unsupported(words)
        model = _only_model(root, unsupported)
        reader = ModelReader(unsupported)
        reader.collect(model, "", 0)
        reader.frames.check()
        tree = reader.tree(str(model.get("name") or "robot"), base, inertia, report, meshes)
        gravity = _gravity(model.getparent(), unsupported)
        unsupported.check()
        report_unknown(model, report)
        return replace(tree, gravity=gravity)


def _only_model(root: Element, unsupported: Unsupported) -> Element:
    if tag(root) != "sdf":
        raise Fault(f"is not an SDF file: its root element is <{printable(tag(root))}>, not <sdf>", root.sourceline)
    version = attribute(root, "version", "the file")
    digits = version.strip().split(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 5 for part in digits):
        raise Fault(f"version {printable(version)}: is not a version of SDF", root.sourceline)
    if tuple(map(int, digits)) < FIRST_VERSION:
        hint = "1.7 is the first one; `gz sdf -p FILE` writes the newest"
        raise Fault(f"version {version} of SDF is not supported: {hint}", root.sourceline)
    places = [root, *all_of(root, "world")]
    models = [model for place in places for model in all_of(place, "model")]
    moving = [m for m in models if not is_true(getattr(one(m, "static", "model"), "text", None))]
    for place in places:
        for word in ("include", "plugin", "actor"):
            for element in all_of(place, word):
                unsupported.add(word, f"<{word}> {printable(element.get('name', ''))}".rstrip(), element.sourceline)
        for element in all_of(place, "joint"):
            name = printable(element.get("name", ""))
            raise Fault(f"joint {name}: a joint of the world, outside of models, is not supported", element.sourceline)
    if not models:
        unsupported.check()
    if not moving:
        raise Fault("has no <model> that can move" if models else "has no <model>", root.sourceline)
    if len(moving) > 1:
        name = printable(moving[1].get("name", ""))
        raise Fault(
            f"model {name}: there is a second one that is not static; a tree is one model", moving[1].sourceline
        )
    return moving[0]


def _gravity(world: Element, unsupported: Unsupported) -> float:
    """The start value of the FMU's parameter: a model without a world has the usual one."""
    gravity = one(world, "gravity", "world")
    if gravity is None:
        return WORLD_GRAVITY if tag(world) == "world" else GRAVITY
    x, y, z = numbers(gravity.text or "", 3, "world: gravity", gravity.sourceline)
    if max(abs(x), abs(y), z) > 1e-12:
        note = f"which an FMU has along -z only; without it, gravity is {GRAVITY} m/s2 along -z"
        unsupported.add("gravity", f"gravity {x:g} {y:g} {z:g} m/s2, {note}", gravity.sourceline)
        return GRAVITY
    return max(-z, 0.0)


def _check_single_parents(joints: Sequence[Scoped], ends: Mapping[str, tuple[str, str]]) -> None:
    """Also of links that will be the base, whose joints are not in the tree."""
    carriers: dict[str, str] = {}
    for joint in joints:
        child = ends[joint.name][1]
        if child in carriers:
            text = f"link {printable(child)} has two parents, joint {printable(carriers[child])} carries it already"
            raise Fault(f"{joint.what}: {text}", joint.line)
        carriers[child] = joint.name


class ModelReader:
    """Collects frames, links and joints of a model and its nested models, and makes a tree of them."""

    def __init__(self, unsupported: Unsupported):
        self.unsupported = unsupported
        self.frames = Frames()
        self.links: list[Scoped] = []
        self.joints: list[Scoped] = []

    def collect(self, model: Element, prefix: str, depth: int) -> None:
        what = f"model {printable(model.get('name', ''))}"
        if depth > MAX_NESTED:
            raise Fault(f"{what}: models are nested too deeply", model.sourceline)
        if model.get("placement_frame"):
            raise Fault(f"{what}: placement_frame is not supported", model.sourceline)
        outer = prefix.removesuffix("::").rpartition("::")[0]
        outer = f"{outer}::" if outer else ""
        pose, relative = read_pose(model, what)
        if depth == 0 and relative not in ("", WORLD):
            raise Fault(
                f"{what}: its pose is relative to {printable(relative)}, outside of the model", model.sourceline
            )
        parent = WORLD if depth == 0 else outer + (relative or MODEL)
        self.frames.add(prefix + MODEL, PlacedFrame(parent, pose, model.sourceline, self._anchor(model, prefix)), what)
        for kind in ("link", "joint", "frame"):
            elements = list(all_of(model, kind))
            check_count(len(elements) + len(self.links), kind)
            for element in elements:
                name = str(element.get("name") or "")
                if not name or "::" in name or len(name) > 200 or name in (WORLD, MODEL):
                    raise Fault(f"{kind} {printable(name)}: needs a name of its own without ::", element.sourceline)
                self._add(Scoped(element, prefix + name, prefix))
        for flag, kind in (("static", "static"), ("enable_wind", "fluid")):
            element = one(model, flag, what)
            if element is not None and is_true(element.text):
                self.unsupported.add(kind, f"{flag} {element.text.strip()} of {what}", element.sourceline)
        for word in ("plugin", "include", "gripper"):
            for element in all_of(model, word):
                text = f"{word} {printable(element.get('name', '') or element.get('filename', ''))}".rstrip()
                self.unsupported.add(word, text, element.sourceline)
        for inner in all_of(model, "model"):
            name = str(inner.get("name") or "")
            if not name or "::" in name or len(name) > 200:
                raise Fault("model: needs a name without ::", inner.sourceline)
            self.collect(inner, f"{prefix}{name}::", depth + 1)

    def _anchor(self, model: Element, prefix: str) -> str:
        """The link to which the model's own frame is fixed: the canonical one, or its first, or a nested model's."""
        first = next(all_of(model, "link"), None)
        name = model.get("canonical_link") or (first.get("name") if first is not None else "")
        if name:
            return f"{prefix}{name}"
        inner = next(all_of(model, "model"), None)
        return f"{prefix}{inner.get('name')}::{MODEL}" if inner is not None else WORLD

    def _add(self, it: Scoped) -> None:
        kind = tag(it.element)
        pose, relative = read_pose(it.element, it.what)
        attached = ""
        usual = MODEL
        if kind == "frame":
            attached = str(it.element.get("attached_to") or MODEL)
            usual = attached
        elif kind == "joint":
            attached = usual = self._end(it, "child")
            self.joints.append(it)
        else:
            self.links.append(it)
        parent = relative or usual
        self.frames.add(
            it.name,
            PlacedFrame(
                parent if parent == WORLD else it.prefix + parent,
                pose,
                it.line,
                attached if attached in ("", WORLD) else it.prefix + attached,
            ),
            it.what,
        )
        for element in it.element.iter("{*}sensor"):
            name = printable(element.get("name", ""))
            self.unsupported.add("sensor", f"sensor {name}".rstrip(), element.sourceline)

    def _end(self, joint: Scoped, role: str) -> str:
        end = one(joint.element, role, joint.what, needed=True)
        name = (end.text or "").strip()
        if not name:
            raise Fault(f"{joint.what}: its {role} has no name", end.sourceline)
        return name

    # --- the tree -----------------------------------------------------------------------------------------------------

    def tree(self, name: str, base: str | None, inertia: str, report: Report, meshes: Meshes | None = None) -> BodyTree:
        ends = {j.name: self._ends(j) for j in self.joints}
        if not self.links:
            raise Fault("has no link")
        for joint in self.joints:
            if ends[joint.name][1] == WORLD:
                raise Fault(f"{joint.what}: the world cannot be its child", joint.line)
        held = self._held(ends, base)
        bodies = [(inertial_body(it.element, it.name, it.what, self.unsupported), it.line) for it in self.links]
        joints: list[tuple[Joint, int]] = []
        poses: dict[str, Placed] = {}
        for it in self.joints:
            parent, child = ends[it.name]
            if child in held:
                continue
            made, between, pose = self._joint(it, parent, child, held)
            joints += [(joint, it.line) for joint in made]
            bodies += [(body, it.line) for body in between]
            if pose is not SAME:
                poses[child] = pose
        joints = self._carried(joints, held, base)
        names = {body.name for body, _ in bodies if body.name not in held}
        drawn = [it for it in self.links if it.name in names]
        shapes = [s for it in drawn for s in shapes_of(it.element, it.name, it.prefix, self.frames, meshes)]
        shapes = meshes.finished(shapes) if meshes else shapes
        bodies = [(body, line) for body, line in bodies if body.name in names]
        check_connections(bodies, joints, "link")
        if not bodies:
            raise Fault("nothing can move: every link is fixed to the world; --base free lets a model float")
        return arranged(
            name[:200], bodies, joints, poses, "link", shapes, inertia, report, self._fixed_frames(held, names)
        )

    def _fixed_frames(self, held: set[str], moving: set[str]) -> list[tuple[FramePoint, int]]:
        """Links that are the base, as frames that can be asked for; one whose name another has is left out."""
        taken, found = {legal_name(name) for name in moving}, []
        for it in self.links:
            name = legal_name(it.name)
            if it.name in held and name not in taken:
                taken.add(name)
                R, position = self.frames.between(WORLD, it.name, it.what, it.line)
                found.append((FramePoint(name, "", flat(position), flat(R)), it.line))
        return found

    def _ends(self, joint: Scoped) -> tuple[str, str]:
        """The links that a joint connects, or the world."""
        found = []
        for role in ("parent", "child"):
            name = self._end(joint, role)
            full = name if name == WORLD else joint.prefix + name
            found.append(self.frames.link_of(full, f"{joint.what}: its {role}", joint.line))
        if found[0] == found[1]:
            raise Fault(f"{joint.what}: its parent and its child are the same link", joint.line)
        return found[0], found[1]

    def _held(self, ends: dict[str, tuple[str, str]], base: str | None) -> set[str]:
        """The links that are the base: fixed to the world, and the root link if it is to be held."""
        _check_single_parents(self.joints, ends)
        carried = {child for _, child in ends.values()}
        roots = [it for it in self.links if it.name not in carried]
        at_world = [name for name, (parent, _) in ends.items() if parent == WORLD]
        if len(roots) + bool(at_world) > 1:
            again = roots[-1]
            raise Fault(f"{again.what}: is a second root; every other link must be the child of a joint", again.line)
        if not roots and not at_world:
            raise Fault("has no root link: its joints form a loop", self.joints[0].line)
        if at_world and base == "free":
            raise Fault(f"joint {printable(at_world[0])} holds the model at the world, so --base free is impossible")
        held = {WORLD} | ({roots[0].name} if roots and base == "fixed" else set())
        fixed: dict[str, list[str]] = {}
        for it in self.joints:
            if it.element.get("type") == "fixed":
                fixed.setdefault(ends[it.name][0], []).append(ends[it.name][1])
        waiting = list(held)
        while waiting:
            more = [link for link in fixed.get(waiting.pop(), []) if link not in held]
            held.update(more)
            waiting += more
        return held

    def _carried(self, joints: list[tuple[Joint, int]], held: set[str], base: str | None) -> list[tuple[Joint, int]]:
        """The joints, with a free one for a root link that floats."""
        carried = {joint.child for joint, _ in joints} | held
        for it in self.links:
            if it.name not in carried:
                taken = {joint.name for joint, _ in joints}
                own = next(n for n in ("base", *(f"base_{i}" for i in range(len(taken) + 1))) if n not in taken)
                R, position = self.frames.between(WORLD, it.name, it.what, it.line)
                joints = [(Joint(own, "free", it.name, "", flat(position), flat(R)), it.line), *joints]
        return joints

    def _joint(self, it: Scoped, parent: str, child: str, held: set[str]) -> tuple[list[Joint], list[Body], Placed]:
        """The joints, the bodies between them, and the pose of the child's frame in the last moving frame."""
        kind = attribute(it.element, "type", it.what)
        if kind not in KINDS:
            hint = f"{did_you_mean(kind, KINDS)} (known: {', '.join(KINDS)})"
            raise Fault(f"{it.what}: unknown or unsupported type {printable(kind)}{hint}", it.line)
        R, position = self.frames.between(WORLD if parent in held else parent, it.name, it.what, it.line)
        pose = self.frames.between(it.name, child, it.what, it.line)
        first = Joint(it.name, KINDS[kind], child, "" if parent in held else parent, flat(position), flat(R))
        if kind not in AXES:
            return [first], [], pose
        turned: list[Any] = []
        for word in AXES[kind]:
            axis = one(it.element, word, it.what, needed=True)
            mimic = "mimic" not in self.unsupported.ignore
            turned.append(axis_of(axis, it.prefix, it.name, it.what, kind, self.frames, mimic))
        joints = [replace(first, **turned[0])]
        if len(turned) == 1:
            return joints, [], pose
        cross = f"{it.name}_cross"
        second = Joint(f"{it.name}_2", "revolute", child, cross, flat(np.zeros(3)), flat(np.eye(3)), **turned[1])
        return [replace(joints[0], child=cross), second], [Body(cross)], pose
