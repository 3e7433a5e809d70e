"""Elements of an SDF model: inertials, axes of joints, shapes for the drawing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ....multibody.tree import Body, BodyShape
from .common import Fault, flat, numbers, printable, turned_inertia
from .meshes.piece import hex_colour
from .meshes.shapes import Meshes
from .sdf_frames import Frames, composed, is_true, read_pose, value_of
from .unsupported import Unsupported
from .xml_tree import Element, all_of, attribute, one, tag

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "ball": "spherical",
    "universal": "revolute",
    "revolute2": "revolute",
}
AXES = {  # the axes that a joint of this type has
    "revolute": ("axis",),
    "continuous": ("axis",),
    "prismatic": ("axis",),
    "universal": ("axis", "axis2"),
    "revolute2": ("axis", "axis2"),
}
TRUE, FALSE = ("true", "1"), ("false", "0")
LINK_FLAGS = (  # element of a link, word of --ignore, texts that a tree does not support
    ("gravity", "gravity", FALSE),
    ("enable_wind", "fluid", TRUE),
    ("kinematic", "kinematic", TRUE),
)
NO_LIMIT = 1e16  # SDF: a limit of this size is none
INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")


def inertial_body(link: Element, name: str, what: str, unsupported: Unsupported) -> Body:
    """The body of a link."""
    for word, kind, texts in LINK_FLAGS:
        child = one(link, word, what)
        if child is not None and (child.text or "").strip().lower() in texts:
            unsupported.add(kind, f"{word} {child.text.strip()} of {what}", child.sourceline)
    decay = one(link, "velocity_decay", what)
    if decay is not None and any(value_of(decay, word, what, 0.0) for word in ("linear", "angular")):
        unsupported.add("fluid", f"velocity_decay of {what}", decay.sourceline)
    inertial = one(link, "inertial", what)
    if inertial is None:
        return Body(name, 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 0.0, 0.0, 0.0))  # as SDF defines it
    if is_true(inertial.get("auto")):
        raise Fault(f"{what}: inertial auto=true is not supported; give mass and inertia", inertial.sourceline)
    if one(inertial, "fluid_added_mass", what) is not None:
        unsupported.add("fluid", f"fluid_added_mass of {what}", inertial.sourceline)
    (R, com), relative = read_pose(inertial, what)
    if relative:
        raise Fault(f"{what}: the pose of an inertial cannot have relative_to", inertial.sourceline)
    inertia = one(inertial, "inertia", what)
    defaults = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    J = tuple(value_of(inertia, f"i{s}", what, default) for s, default in zip(INERTIA, defaults, strict=True))
    m = value_of(inertial, "mass", what, 1.0)
    if not np.all(np.isfinite([m, *J])) or max(map(abs, (m, *J))) > 1e30:
        raise Fault(f"{what}: mass and inertia must be finite", inertial.sourceline)
    return Body(name, m, flat(com), turned_inertia(R, J))


def axis_of(
    axis: Element, prefix: str, joint: str, what: str, kind: str, frames: Frames, mimic: bool = True
) -> dict[str, Any]:
    """The fields of a Joint that an <axis> or <axis2> gives; with mimic, those of the joint that it follows too."""
    line = axis.sourceline
    xyz = one(axis, "xyz", what)
    a = np.array([0.0, 0.0, 1.0])
    if xyz is not None:
        a = np.array(numbers(xyz.text or "", 3, f"{what}: axis xyz", line))
        expressed = str(xyz.get("expressed_in", ""))
        if expressed:
            R, _ = frames.between(joint, expressed if expressed == "world" else prefix + expressed, what, line)
            a = R @ a
    length = float(np.linalg.norm(a))
    if not length > 1e-9:
        raise Fault(f"{what}: its axis is zero", line)
    dynamics, limit = one(axis, "dynamics", what), one(axis, "limit", what)
    names = {"damping": "damping", "friction": "friction", "stiffness": "spring_stiffness", "rest": "spring_reference"}
    fields: dict[str, Any] = {key: value_of(dynamics, word, what, 0.0) for key, word in names.items()}
    if not np.all(np.isfinite(list(fields.values()))):
        raise Fault(f"{what}: its dynamics must be finite", line)
    fields["axis"] = flat(a / length)
    lower, upper = value_of(limit, "lower", what, -np.inf), value_of(limit, "upper", what, np.inf)
    if kind != "continuous":
        fields |= {"lower": lower} if abs(lower) < NO_LIMIT else {}
        fields |= {"upper": upper} if abs(upper) < NO_LIMIT else {}
    effort = value_of(limit, "effort", what, np.inf)
    if 0 < effort < NO_LIMIT:  # SDF: a negative effort is none; converters of URDF files write 0 for none
        fields["effort"] = effort
    return fields | (_mimic(axis, prefix, what) if mimic else {})


def _mimic(axis: Element, prefix: str, what: str) -> dict[str, Any]:
    """position = multiplier * (position of the other joint - reference) + offset."""
    mimic = one(axis, "mimic", what)
    if mimic is None:
        return {}
    leader = prefix + attribute(mimic, "joint", what) + ("_2" if mimic.get("axis", "axis") == "axis2" else "")
    multiplier = value_of(mimic, "multiplier", what, 1.0)
    offset, reference = value_of(mimic, "offset", what, 0.0), value_of(mimic, "reference", what, 0.0)
    if not np.all(np.isfinite([multiplier, offset, reference])):
        raise Fault(f"{what}: its mimic must be finite", mimic.sourceline)
    return {"mimic": leader, "multiplier": multiplier, "offset": offset - multiplier * reference}


def shapes_of(link: Element, name: str, prefix: str, frames: Frames, meshes: Meshes | None = None) -> list[BodyShape]:
    """What can be drawn of a link; a shape with a mistake is left out."""
    found: list[BodyShape] = []
    what = f"link {printable(name)}"
    for word in ("visual", "collision"):
        if found:
            break
        for element in all_of(link, word):
            try:
                pose, relative = read_pose(element, what)
                if relative:
                    pose = composed(frames.between(name, prefix + relative, what, element.sourceline), pose)
                R, position = pose
                geometry = one(element, "geometry", what, needed=True)
                colour = _colour(element) if meshes else ""
                for solid in geometry.iterchildren():
                    if tag(solid) == "mesh" and meshes and word == "visual":
                        scale = numbers(_text(solid, "scale") or "1 1 1", 3, what, solid.sourceline)
                        found += meshes.shapes(name, _text(solid, "uri"), scale, (R, position), colour)
                    else:
                        found += [replace(s, colour=colour) for s in _solids(solid, name, R, position, what)]
            except Fault:
                continue
    return found


def _text(element: Element, name: str) -> str:
    return str(next((child.text or "" for child in all_of(element, name)), "")).strip()


def _colour(visual: Element) -> str:
    """The diffuse colour of a visual; empty without one."""
    for diffuse in (e for material in all_of(visual, "material") for e in all_of(material, "diffuse")):
        words = (diffuse.text or "").split()
        return hex_colour(numbers(" ".join(words[:3]), 3, "", diffuse.sourceline))
    return ""


def _solids(solid: Element, name: str, R: np.ndarray, position: np.ndarray, what: str) -> list[BodyShape]:
    """The shapes of one geometry: a capsule is a cylinder and two spheres."""
    place = (flat(position), flat(R))
    kind = tag(solid)
    if kind == "box":
        size = numbers(getattr(one(solid, "size", what), "text", "") or "", 3, what, solid.sourceline)
        return [BodyShape(name, "box", size, *place)] if min(size) > 0 else []
    if kind not in ("sphere", "cylinder", "capsule"):
        return []
    radius, length = value_of(solid, "radius", what, 0.5), value_of(solid, "length", what, 1.0)
    if not (0 < radius < 1e30 and 0 < length < 1e30):
        return []
    spheres = {"sphere": (0.0,), "capsule": (0.5, -0.5)}.get(kind, ())
    shapes = [BodyShape(name, "cylinder", (radius, length), *place)] if kind != "sphere" else []
    return shapes + [BodyShape(name, "sphere", (radius,), flat(position + R[:, 2] * s * length)) for s in spheres]
