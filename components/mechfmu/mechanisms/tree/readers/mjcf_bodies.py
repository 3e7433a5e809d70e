"""Bodies and joints of a compiled MJCF model.

A body of MuJoCo may have several joints. Each acts in the axes that the ones before it have turned, about a point
that is fixed in the body. With T_0 the pose of the body in its parent, the pose with joint coordinates q is

    T(q) = T_0 J_1(q_1) ... J_n(q_n),   J_i = shift(p_i) motion_i(q_i - ref_i) shift(-p_i)                          (1)

so that a body with n joints becomes a chain of n joints, the first n - 1 of which carry bodies without mass. Joint i
stands at p_i - p_(i-1) in the frame of the one before it, its axes turned (or shifted) by -ref_i, so that the
coordinates of the tree are those of MuJoCo; the body's own frame is at -p_n in the moving frame of the last one. A
free joint counts from the pose that the file gives the body: with all coordinates zero the tree is as in the file.

Bodies that are fixed to the world are the base; other bodies without joints are fixed to their parents. Names: those of
the file. A body without a name is called body_<number>; a joint without one has the name of its body, with a number
where the body has several.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ....multibody.rotations import from_quaternion
from ....multibody.tree import Body, BodyShape, Joint
from .common import Placed, flat, tidy
from .meshes.piece import hex_colour, piece_of
from .meshes.shapes import Meshes

KINDS = ("free", "spherical", "prismatic", "revolute")  # by MuJoCo's number of the joint type
SPHERE, CAPSULE, CYLINDER, BOX, MESH = 2, 3, 5, 6, 7  # MuJoCo's numbers of the types of geoms
VISIBLE_GROUPS = 3  # groups 0, 1, 2 are shown by default
NOT_DRAWN = 0.0  # alpha
CONSTRAINTS = ("CONTACT", "EQUALITY", "FRICTIONLOSS", "LIMIT")


class Elements:
    """What the compiler made of a file: the model with its arrays, and the specification with names and lines."""

    def __init__(self, specification: Any, model: Any, lines_of_options: Mapping[str, int]):
        self.specification, self.model, self.lines_of_options = specification, model, lines_of_options
        self._lines: dict[str, dict[int, int]] = {}  # by kind and number of the element

    # --- names and lines ----------------------------------------------------------------------------------------------

    def line_of(self, kind: str, number: int) -> int:
        """The line of an element; kind: bodies, joints, actuators, ... as the specification calls the list."""
        if kind not in self._lines:
            elements = list(getattr(self.specification, kind))
            names = {"bodies": self.model.body, "joints": self.model.joint}.get(kind)
            numbers = [int(e.id) if hasattr(e, "id") else _number(e, i, names) for i, e in enumerate(elements)]
            found = [re.search(r"line (\d+)", str(e.info)) for e in elements]
            self._lines[kind] = {i: int(line[1]) for i, line in zip(numbers, found, strict=True) if line}
        return self._lines[kind].get(number, 0)

    def line_of_joint(self, i: int) -> int:
        return self.line_of("joints", i)

    def name_of(self, kind: str, number: int) -> str:
        """kind: body, joint, actuator, ... as the model calls it."""
        return str(getattr(self.model, kind)(number).name)

    @cached_property
    def body_names(self) -> list[str]:
        names = [self.name_of("body", b) for b in range(self.model.nbody)]
        return _unique([name or f"body_{b}" for b, name in enumerate(names)])

    @cached_property
    def joint_names(self) -> list[str]:
        found = []
        for j in range(self.model.njnt):
            body = int(self.model.jnt_bodyid[j])
            number = f"_{j - self.model.body_jntadr[body] + 1}" if self.model.body_jntnum[body] > 1 else ""
            found.append(self.name_of("joint", j) or f"{self.body_names[body]}{number}")
        return _unique(found)

    # --- bodies and joints --------------------------------------------------------------------------------------------

    @cached_property
    def moving(self) -> list[int]:
        """The bodies that are not fixed to the world."""
        return [b for b in range(1, self.model.nbody) if self.model.body_weldid[b] != 0]

    def chains(self) -> tuple[list[tuple[Body, int]], dict[int, Joint], dict[str, Placed]]:
        """Bodies with their lines, joints by number, and poses of the bodies' frames in the moving frames.

        Bodies that are fixed to others get joints with negative numbers.
        """
        bodies: list[tuple[Body, int]] = []
        joints: dict[int, Joint] = {}
        poses: dict[str, Placed] = {}
        taken = set(self.body_names)
        self._order: list[int] = []
        for b in self.moving:
            line = self.line_of("bodies", b)
            name = self.body_names[b]
            parent, R, position = self._placement(b)
            first, count = int(self.model.body_jntadr[b]), int(self.model.body_jntnum[b])
            before = np.zeros(3)
            for i in range(first, first + count):
                last = i == first + count - 1
                child = name if last else _new(f"{name}_{self.joint_names[i]}", taken)
                at = self._point(i)
                joints[i] = self._joint(i, child, parent, R, position + R @ (at - before))
                self._order.append(i)
                if not last:
                    bodies.append((Body(child), line))
                parent, R, position, before = child, np.eye(3), np.zeros(3), at
            if count and before.any():
                poses[name] = (np.eye(3), -before)
            if not count:
                joints[-b] = Joint(name, "fixed", name, parent, flat(position), flat(R))
                self._order.append(-b)
            bodies.append((self._body(b), line))
        return bodies, self._with_unique_names(joints), poses

    def in_order(self, joints: Mapping[int, Joint]) -> list[Joint]:
        return [joints[i] for i in self._order]

    def _with_unique_names(self, joints: dict[int, Joint]) -> dict[int, Joint]:
        """A fixed joint has the name of its body unless a joint of the file has it."""
        taken = {joint.name for i, joint in joints.items() if i >= 0}
        return {i: j if i >= 0 else replace(j, name=_new(j.name, taken)) for i, j in joints.items()}

    def _placement(self, b: int) -> tuple[str, np.ndarray, np.ndarray]:
        """Parent, rotation and position of a body in it; bodies that are fixed to the world are the base."""
        R, position, parent = self._rotation("body_quat", b), self.model.body_pos[b].copy(), b
        while True:
            parent = int(self.model.body_parentid[parent])
            if parent == 0:
                return "", R, position
            if self.model.body_weldid[parent] != 0:
                return self.body_names[parent], R, position
            outer = self._rotation("body_quat", parent)
            R, position = tidy(outer @ R), self.model.body_pos[parent] + outer @ position

    def _point(self, i: int) -> np.ndarray:
        """p of (1); a slide may stand anywhere, a free joint in the origin."""
        turns = KINDS[self.model.jnt_type[i]] in ("revolute", "spherical")
        return np.array(self.model.jnt_pos[i]) if turns else np.zeros(3)

    def _joint(self, i: int, child: str, parent: str, R: np.ndarray, position: np.ndarray) -> Joint:
        m = self.model
        kind, dof, at = KINDS[m.jnt_type[i]], int(m.jnt_dofadr[i]), int(m.jnt_qposadr[i])
        axis = np.array(m.jnt_axis[i])
        passive: dict[str, Any] = {}
        if kind != "free":
            passive = {
                "stiffness": 0.0 if disabled(m, "SPRING") else float(m.jnt_stiffness[i]),
                "damping": 0.0 if disabled(m, "DAMPER") else float(m.dof_damping[dof]),
                "friction": 0.0 if disabled(m, "FRICTIONLOSS") else float(m.dof_frictionloss[dof]),
                "armature": float(m.dof_armature[dof]),
            }
        if kind in ("prismatic", "revolute"):
            ref = float(m.qpos0[at])
            passive["axis"] = flat(axis)
            passive["rest"] = float(m.qpos_spring[at]) if m.jnt_stiffness[i] else 0.0
            if m.jnt_limited[i] and not disabled(m, "LIMIT"):
                passive |= {"lower": float(m.jnt_range[i][0]), "upper": float(m.jnt_range[i][1])}
            if kind == "revolute" and ref:
                R = tidy(R @ _about(axis, -ref))
            elif ref:
                position = position - ref * (R @ axis)
        return Joint(self.joint_names[i], kind, child, parent, flat(position), flat(R), **passive)

    def _body(self, b: int) -> Body:
        m = self.model
        R = self._rotation("body_iquat", b)
        J = R @ np.diag(m.body_inertia[b]) @ R.T
        inertia = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        return Body(self.body_names[b], float(m.body_mass[b]), flat(m.body_ipos[b]), flat(np.array(inertia)))

    def _rotation(self, array: str, number: int) -> np.ndarray:
        return tidy(np.asarray(from_quaternion(np.array(getattr(self.model, array)[number]))))

    # --- shapes -------------------------------------------------------------------------------------------------------

    def shapes(self, meshes: Meshes | None = None) -> list[BodyShape]:
        """Boxes, spheres, cylinders, capsules and meshes that MuJoCo shows by default, on bodies that move."""
        found: list[BodyShape] = []
        m = self.model
        for g in range(m.ngeom):
            body, size, kind = int(m.geom_bodyid[g]), m.geom_size[g], int(m.geom_type[g])
            if m.body_weldid[body] == 0 or m.geom_group[g] >= VISIBLE_GROUPS or m.geom_rgba[g][3] <= NOT_DRAWN:
                continue
            R, position, name = self._rotation("geom_quat", g), np.array(m.geom_pos[g]), self.body_names[body]
            first = len(found)
            if kind == BOX:
                found.append(BodyShape(name, "box", flat(2 * size), flat(position), flat(R)))
            elif kind in (CYLINDER, CAPSULE):
                length = float(2 * size[1])
                found.append(BodyShape(name, "cylinder", (float(size[0]), length), flat(position), flat(R)))
            if kind in (SPHERE, CAPSULE):
                ends = (position,) if kind == SPHERE else (position + R[:, 2] * size[1], position - R[:, 2] * size[1])
                found += [BodyShape(name, "sphere", (float(size[0]),), flat(end)) for end in ends]
            if meshes:
                colour = self._colour(g)
                found[first:] = [replace(shape, colour=colour) for shape in found[first:]]
                if kind == MESH:
                    found += self._mesh(g, meshes, (R, position), colour)
        return meshes.finished(found) if meshes else found

    def _mesh(self, g: int, meshes: Meshes, pose: Placed, colour: str) -> list[BodyShape]:
        """The triangles of a geom, in its frame; none if there are too many."""
        m, k = self.model, int(self.model.geom_dataid[g])
        v, f = int(m.mesh_vertadr[k]), int(m.mesh_faceadr[k])
        vertices, triangles = m.mesh_vert[v : v + m.mesh_vertnum[k]], m.mesh_face[f : f + m.mesh_facenum[k]]
        body = self.body_names[int(m.geom_bodyid[g])]
        return meshes.collected(f"mesh {m.mesh(k).name}", body, lambda: [piece_of(vertices, triangles)], pose, colour)

    def _colour(self, g: int) -> str:
        m, material = self.model, int(self.model.geom_matid[g])
        return hex_colour(m.geom_rgba[g] if material < 0 else m.mat_rgba[material])


def _number(element: Any, number: int, names: Any) -> int:
    """The number of an element in the model; in MuJoCo 3 lists of bodies and joints are in another order."""
    if names is None:
        return number
    return int(names(element.name).id) if element.name else -1


def disabled(m: Any, flag: str) -> bool:
    """Whether the model switches a part of the physics off, by itself or with all constraints."""
    import mujoco

    flags = (flag, "CONSTRAINT") if flag in CONSTRAINTS else (flag,)
    bits = (getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", None) for name in flags)
    return any(bit is not None and bool(m.opt.disableflags & int(bit)) for bit in bits)


def _about(axis: np.ndarray, angle: float) -> np.ndarray:
    half = 0.5 * angle
    return np.asarray(from_quaternion(np.array([np.cos(half), *(np.sin(half) * axis)])))


def _new(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken."""
    made, count = name, 1
    while made in taken:
        count += 1
        made = f"{name}_{count}"
    taken.add(made)
    return made


def _unique(names: list[str]) -> list[str]:
    taken: set[str] = set()
    return [_new(name, taken) for name in names]
