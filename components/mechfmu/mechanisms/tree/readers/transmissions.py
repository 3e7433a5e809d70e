"""Rotor inertias from the <transmission> elements of a URDF file.

A rotor of inertia j behind a reduction n resists its joint with the armature n^2 j. The files carry them as

    <actuator>  <mechanicalReduction>n</mechanicalReduction>  <rotorInertia>j</rotorInertia> or <motorInertia>
                <drake:gear_ratio value="n"/>                 <drake:rotor_inertia value="j"/>

in the actuator, in the joint, or in the transmission itself; several must be equal. Without a rotor inertia a
reduction has no effect: the FMU's inputs are the torques in the joints.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ....model.mechanism import did_you_mean
from ....multibody.tree import Joint
from .common import Fault, number, printable
from .xml_tree import Element, local_tag

INERTIAS = ("rotorInertia", "motorInertia", "rotor_inertia")
REDUCTIONS = ("mechanicalReduction", "gear_ratio")


def with_rotors(
    joints: Sequence[tuple[Joint, int]], transmissions: Sequence[Element], ignore: Collection[str] = ()
) -> list[tuple[Joint, int]]:
    """Return the joints, each with its line, with the armature that transmissions give them."""
    kinds = {joint.name: joint.kind for joint, _ in joints}
    found: dict[str, float] = {}
    for element in transmissions if "transmission" not in ignore else ():
        driven = [e for e in element.iterchildren() if local_tag(e) == "joint"]
        actuators = [e for e in element.iterchildren() if local_tag(e) == "actuator"]
        what, line = f"transmission {printable(element.get('name') or '')}".rstrip(), element.sourceline
        inertia = _number([*actuators, *driven, element], INERTIAS, what)
        if inertia is None:
            continue
        if len(driven) != 1 or len(actuators) > 1:
            counts = f"{len(driven)} joints and {len(actuators)} actuators"
            remedy = "a rotor inertia needs one of each; --ignore transmission leaves it out"
            raise Fault(f"{what}: has {counts}: {remedy}", line)
        name = driven[0].get("name") or ""
        if name not in kinds:
            raise Fault(f"{what}: joint {printable(name)} does not exist{did_you_mean(name, kinds)}", line)
        if name in found:
            raise Fault(f"{what}: joint {printable(name)} has another rotor inertia already", line)
        if inertia < 0:
            raise Fault(f"{what}: rotor inertia {inertia:g} is negative", line)
        if kinds[name] == "free":
            text = f"joint {printable(name)} is floating and has no rotor; --ignore transmission leaves it out"
            raise Fault(f"{what}: {text}", line)
        reduction = _number([*actuators, *driven, element], REDUCTIONS, what)
        if reduction == 0:
            raise Fault(f"{what}: its reduction is 0; it must be another number", line)
        found[name] = inertia * (1.0 if reduction is None else reduction) ** 2
    return [  # a fixed joint does not turn its motor
        (replace(j, armature=found[j.name]) if j.name in found and j.rates else j, line) for j, line in joints
    ]


def _number(elements: Sequence[Element], tags: Sequence[str], what: str) -> float | None:
    """The number in the children with one of these tags, as their text or as their attribute value."""
    found: float | None = None
    for child in (c for element in elements for c in element.iterchildren() if local_tag(c) in tags):
        text = (child.get("value") or child.text or "").strip()
        value = number(text, f"transmission: {local_tag(child)}", child.sourceline)
        if found not in (None, value):
            text = f"{local_tag(child)} is {found:g} and {value:g}; give it once, or --ignore transmission"
            raise Fault(f"{what}: {text}", child.sourceline)
        found = value
    return found
