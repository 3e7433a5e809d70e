"""What a URDF file says about sensors and feet: frames that can be asked for, and spheres that can touch the ground.

    <sensor name="imu"><parent link="trunk"/><origin .../></sensor>                 a frame on this link
    <gazebo reference="trunk"><sensor name="imu"><pose>x y z roll pitch yaw</pose>  likewise
    <collision> <sphere/>                                                           a sphere
    <collision> <box/>                                                              eight points, its corners

A <pose> may have degrees and rotation_format, as in SDF. A sensor with the name of a link or of another sensor gets the
suffix _sensor, and a number from the second on. One with a mistake is left out, as other programs' elements are, and
this is reported; then it cannot be asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain, count, islice, product

import numpy as np

from ....multibody.attachments import ContactSphere, FramePoint
from .common import MAX_ATTACHED, MAX_BODIES, Fault, Report, flat, legal_name, no_report, printable
from .sdf_frames import read_pose
from .urdf_elements import origin_of, size_of
from .xml_tree import Element, all_of, attribute, one, tag

Attached = list[tuple[FramePoint | ContactSphere, int]]  # each with its line


def attachments(robot: Element, held: str, report: Report = no_report) -> Attached:
    """Return the frames and contact spheres. held: the root link, if it is the base. report: gets what is left out."""
    links = {str(e.get("name")): e for e in all_of(robot, "link")}
    found: Attached = []
    used: set[str] = set()
    alike: Counter[str] = Counter()
    taken = {legal_name(name) for name in links if name != held}
    if held:
        found.append((FramePoint(legal_name(held)), links[held].sourceline))
        taken.add(legal_name(held))
    faults: list[Fault] = []
    for point, line in islice(_sensors(robot, links, faults), MAX_BODIES):
        numbered = (f"{point.name}_sensor_{i}" for i in count(max(2, alike[point.name])))
        name = next(n for n in chain((point.name, f"{point.name}_sensor"), numbered) if n not in taken)
        taken.add(name)
        alike[point.name] += 1
        found.append((replace(point, name=name, body="" if point.body == held else point.body), line))
    if faults:
        them = f"it and {len(faults) - 1} more are left out" if len(faults) > 1 else "it is left out"
        report(f"{faults[0]}; {them}", faults[0].line)
    for name, link in links.items():
        if name != held:
            found += [(sphere, link.sourceline) for sphere in _spheres(link, name, used)]
    return found


def _sensors(robot: Element, links: Collection[str], faults: list[Fault]) -> Iterator[tuple[FramePoint, int]]:
    """The frames of sensors on links, with their lines; what is wrong with others is added to the faults."""
    joints = {joint.get("name") for joint in all_of(robot, "joint")}
    groups: list[Element] = [robot, *all_of(robot, "gazebo")]
    for group, element in ((g, e) for g in groups for e in all_of(g, "sensor")):
        what = f"sensor {printable(element.get('name') or '')}".rstrip()
        try:
            name = attribute(element, "name", what)
            if group is robot:
                parent = one(element, "parent", what, needed=True)
                if parent.get("link") is None and parent.get("joint") is not None:
                    continue  # a force-torque sensor, which --frame JOINT gives
                body = attribute(parent, "link", what)
                R, position = origin_of(element, what)
            else:
                body = attribute(group, "reference", what)
                if body not in links and body in joints:
                    continue  # likewise
                (R, position), relative = read_pose(element, what)
                if relative not in ("", body):
                    text = f"relative_to {printable(relative)} is not its link {printable(body)}"
                    raise Fault(f"{what}: {text}", element.sourceline)
            if body not in links:
                raise Fault(f"{what}: link {printable(body)} does not exist", element.sourceline)
        except Fault as fault:
            faults.append(fault)
        else:
            yield FramePoint(legal_name(name), body, flat(position), flat(R)), element.sourceline


def _spheres(link: Element, name: str, used: set[str]) -> list[ContactSphere]:
    """The spheres, and the corners of the boxes as points, of a link's <collision> elements.

    They have the name of the link, and a number if there are several. `used`: names of those before; these are added.
    """
    found: list[tuple[np.ndarray, float]] = []
    for element in all_of(link, "collision"):
        if len(used) + len(found) > MAX_ATTACHED:
            text = f"there are more than {MAX_ATTACHED} spheres and corners of boxes in the collision shapes up to here"
            raise Fault(f"link {printable(name)}: {text}", element.sourceline)
        try:
            R, position = origin_of(element, "")
            for geometry in all_of(element, "geometry"):
                for solid in (e for e in geometry.iterchildren() if e.prefix is None):
                    size = size_of(solid)
                    if not size or not min(size) > 0:
                        continue
                    if tag(solid) == "sphere":
                        found.append((position, size[0]))
                    elif tag(solid) == "box":
                        corners = product(*((-s / 2, s / 2) for s in size))
                        found += [(position + R @ np.array(corner), 0.0) for corner in corners]
        except Fault:
            continue
    plain = legal_name(name)
    names = [plain] if len(found) == 1 and plain not in used else []
    numbered = (f"{plain}_{i}" for i in count(1))
    names += [next(n for n in numbered if n not in used) for _ in range(len(found) - len(names))]
    used.update(names)
    return [ContactSphere(n, name, flat(r), radius) for n, (r, radius) in zip(names, found, strict=True)]
