"""Frames of an SDF model: links, joints, frames and nested models, each with a pose relative to another one.

    <pose relative_to="F">x y z roll pitch yaw</pose>

A frame without relative_to stands in the model's frame, a joint in its child, a frame with attached_to in that. Names
are those of the model in which they are written, `inner::name` leads into a nested model; here every frame has its full
name, that of the model's own frame is `__model__`. The root of all is `world`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ....model.mechanism import did_you_mean
from .common import Fault, Placed, flat, from_rpy, from_xyzw, number, numbers, printable, tidy
from .xml_tree import Element, one

WORLD = "world"
MODEL = "__model__"
SAME: Placed = (np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class PlacedFrame:
    """A frame: where it stands, and what it is fixed to."""

    parent: str  # full name of the frame in which its pose is given
    pose: Placed
    line: int
    attached_to: str = ""  # full name of the frame to which it is fixed; empty: it is a link (or the world)


@dataclass
class Frames:
    """All frames of a model by full name."""

    by_name: dict[str, PlacedFrame] = field(default_factory=dict)
    whats: dict[str, str] = field(default_factory=dict)  # what messages call them

    def add(self, name: str, frame: PlacedFrame, what: str) -> None:
        if name in self.by_name:
            other = self.by_name[name].line
            raise Fault(
                f"{what}: there is another link, joint, frame or model of this name in line {other}", frame.line
            )
        self.by_name[name], self.whats[name] = frame, what

    def known(self, name: str, what: str, line: int) -> str:
        """The name, if there is such a frame; that of a nested model stands for its own frame."""
        if name == WORLD or name in self.by_name:
            return name
        if f"{name}::{MODEL}" in self.by_name:
            return f"{name}::{MODEL}"
        raise Fault(
            f"{what}: there is no frame {printable(name)}{did_you_mean(name, map(printable, self.by_name))}", line
        )

    def check(self) -> None:
        """Every frame stands in one that exists and is fixed to one that exists, and none to itself in the end."""
        for word in ("parent", "attached_to"):
            sound = {WORLD}
            for name in self.by_name:
                path: dict[str, None] = {}
                while name not in sound and name not in path:
                    path[name] = None
                    frame, what = self.by_name[name], self.whats[name]
                    above = getattr(frame, word)
                    if not above:
                        break
                    name = self.known(above, what, frame.line)
                else:
                    if name in path:
                        loop = " -> ".join(printable(n) for n in [*list(path)[list(path).index(name) :][:5], name])
                        relation = "relative" if word == "parent" else "attached"
                        raise Fault(f"{self.whats[name]}: is {relation} to itself: {loop}", self.by_name[name].line)
                sound |= path.keys()

    def link_of(self, name: str, what: str, line: int) -> str:
        """The link to which a frame is fixed, or the world."""
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            name = self.known(name, what, line)
            if name == WORLD or not self.by_name[name].attached_to:
                return name
            name = self.by_name[name].attached_to
        raise Fault(f"{what}: its frame is attached to itself, by {printable(name)}", line)

    def between(self, outer: str, inner: str, what: str, line: int) -> Placed:
        """The pose of the frame `inner` in the frame `outer`, over as few frames as possible.

        From both frames the walk goes upwards, in turns, until one comes to where the other has been.
        """
        names = [self.known(outer, what, line), self.known(inner, what, line)]
        been: list[dict[str, Placed]] = [{names[0]: SAME}, {names[1]: SAME}]  # poses of outer and inner in these frames
        while not (common := been[0].keys() & been[1].keys()):
            moved = False
            for side in (0, 1):
                name = names[side]
                if name == WORLD:
                    continue
                above = self.known(self.by_name[name].parent, what, line)
                if above in been[side]:
                    raise Fault(f"{what}: its pose is given relative to itself, by {printable(above)}", line)
                been[side][above] = composed(self.by_name[name].pose, been[side][name])
                names[side], moved = above, True
                if above in been[1 - side]:
                    break
            assert moved  # both would be at the world, which is common
        (where,) = common
        return composed(inverted(been[0][where]), been[1][where])


def composed(outer: Placed, inner: Placed) -> Placed:
    if inner is SAME:
        return outer
    if outer is SAME:
        return inner
    return tidy(outer[0] @ inner[0]), outer[1] + outer[0] @ inner[1]


def inverted(pose: Placed) -> Placed:
    return pose if pose is SAME else (pose[0].T, -pose[0].T @ pose[1])


def read_pose(element: Element, what: str) -> tuple[Placed, str]:
    """The pose that an element has, and the name of the frame in which it is given (empty: the usual one)."""
    pose = one(element, "pose", what)
    if pose is None:
        return SAME, ""
    line, relative = pose.sourceline, str(pose.get("relative_to", ""))
    text = pose.text or ""
    kind = pose.get("rotation_format", "euler_rpy")
    if kind not in ("euler_rpy", "quat_xyzw"):
        raise Fault(f"{what}: rotation_format {printable(kind)} must be euler_rpy or quat_xyzw", line)
    if not text.strip():
        return SAME, relative
    x = numbers(text, 6 if kind == "euler_rpy" else 7, f"{what}: pose", line)
    if kind == "euler_rpy":
        R = from_rpy(flat(np.radians(x[3:])) if is_true(pose.get("degrees")) else x[3:])
    else:
        R = from_xyzw(x[3:], what, line)
    if not any(x[:3]) and np.array_equal(R, np.eye(3)):
        return SAME, relative
    return (R, np.array(x[:3])), relative


def is_true(text: str | None) -> bool:
    return (text or "").strip().lower() in ("true", "1")


def value_of(element: Element, name: str, what: str, default: float) -> float:
    """The number in a child element; the default if it is missing. "inf" is a number here."""
    child = one(element, name, what) if element is not None else None
    if child is None:
        return default
    text = (child.text or "").strip()
    if text.lower().lstrip("+-") in ("inf", "infinity"):
        return -np.inf if text.startswith("-") else np.inf
    return number(text, f"{what}: {name}", child.sourceline, largest=np.finfo(float).max)
