"""Rotor inertias from the <transmission> elements of a URDF file.

A rotor of inertia j behind a reduction n resists its joint with the armature n^2 j. The files carry them as

    <actuator>  <mechanicalReduction>n</mechanicalReduction>  <rotorInertia>j</rotorInertia> or <motorInertia>
                <drake:gear_ratio value="n"/>                 <drake:rotor_inertia value="j"/>

in the actuator, in the joint, or in the transmission itself; the first one found counts. Without a rotor inertia a
reduction has no effect: the FMU's inputs are the torques in the joints.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ....model.mechanism import did_you_mean
from ....multibody.tree import Joint
from .common import Fault, number, printable
from .xml_tree import Element

INERTIAS = ("rotorInertia", "motorInertia", "rotor_inertia")
REDUCTIONS = ("mechanicalReduction", "gear_ratio")


def with_rotors(
    joints: Sequence[tuple[Joint, int]], transmissions: Sequence[Element], ignore: Collection[str] = ()
) -> list[tuple[Joint, int]]:
    """Return the joints, each with its line, with the armature that transmissions give them."""
    rates = {joint.name: joint.rates for joint, _ in joints}
    found: dict[str, float] = {}
    for element in transmissions if "transmission" not in ignore else ():
        driven = [e for e in element.iterchildren() if _local(e) == "joint"]
        actuators = [e for e in element.iterchildren() if _local(e) == "actuator"]
        inertia = _number([*actuators, *driven, element], INERTIAS)
        if inertia is None:
            continue
        what, line = f"transmission {printable(element.get('name') or '')}".rstrip(), element.sourceline
        if len(driven) != 1 or len(actuators) > 1:
            counts = f"{len(driven)} joints and {len(actuators)} actuators"
            remedy = "a rotor inertia needs one of each; --ignore transmission leaves it out"
            raise Fault(f"{what}: has {counts}: {remedy}", line)
        name = driven[0].get("name") or ""
        if name not in rates:
            raise Fault(f"{what}: joint {printable(name)} does not exist{did_you_mean(name, rates)}", line)
        if name in found:
            raise Fault(f"{what}: joint {printable(name)} has another rotor inertia already", line)
        if inertia < 0:
            raise Fault(f"{what}: rotor inertia {inertia:g} is negative", line)
        reduction = _number([*actuators, *driven, element], REDUCTIONS)
        found[name] = inertia * (1.0 if reduction is None else reduction) ** 2
    return [  # a fixed joint does not turn its motor
        (replace(j, armature=found[j.name]) if j.name in found and j.rates else j, line) for j, line in joints
    ]


def _number(elements: Sequence[Element], tags: Sequence[str]) -> float | None:
    """The first number in a child with one of these tags, as its text or as its attribute value."""
    for element in elements:
        for child in element.iterchildren():
            if _local(child) in tags:
                text = (child.get("value") or child.text or "").strip()
                return number(text, f"transmission: {_local(child)}", child.sourceline)
    return None


def _local(element: Element) -> str:
    """The tag without namespace and prefix, declared or not."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2]
