"""Extensions of URDF that change the dynamics and that a tree does not support: joints that close loops, springs."""

from __future__ import annotations

from collections.abc import Collection

from .common import printable
from .unsupported import Unsupported
from .xml_tree import Element, all_of, local_tag

WORDS = {  # by element of the robot, with the prefix drake: or without it -> word of --ignore
    "loop_joint": "loop",
    "ball_constraint": "loop",
    "force_element": "spring",
    "linear_spring_damper": "spring",
    "linear_bushing_rpy": "spring",
}


def check_supported(robot: Element, ignore: Collection[str]) -> None:
    """Raise a Fault that names what is not supported, unless it is ignored."""
    unsupported = Unsupported(frozenset(ignore))
    for element in robot.iterchildren():
        if element.prefix == "drake" and local_tag(element) == "joint":
            unsupported.add("loop", f"drake:{_text(element)}", element.sourceline)
        elif word := WORDS.get(local_tag(element)):
            unsupported.add(word, _text(element), element.sourceline)
    for group in all_of(robot, "gazebo"):
        for joint in all_of(group, "joint"):
            if next(all_of(joint, "child"), None) is not None:  # others describe a joint of the robot
                unsupported.add("loop", f"{_text(joint)} in <gazebo>", joint.sourceline)
    unsupported.check()


def _text(element: Element) -> str:
    return f"{printable(local_tag(element))} {printable(element.get('name') or '')}".rstrip()
