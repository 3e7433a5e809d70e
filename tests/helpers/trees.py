"""Trees of bodies for the tests.

Those of the golden data, random ones, and the method of separate bodies as their oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechfmu.mechanisms.spherical_arm.wittenburg import Base
from mechfmu.multibody.frames import Bodies, Frame
from mechfmu.multibody.separate_bodies import forward_dynamics
from mechfmu.multibody.tree import Body, BodyTree, Joint

ANGLES = ("euler_zxz", "cardan_xyz", "cardan_zyx")
ROTATIONAL = ("revolute", "universal", *ANGLES, "spherical")


def rows(J: np.ndarray) -> tuple[float, ...]:
    """A symmetric matrix as xx, yy, zz, xy, xz, yz."""
    return tuple(float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


def matrix(J: Sequence[float]) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = J
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def parameters(tree: BodyTree) -> Bodies:
    """Masses, mass centres and inertias in the bodies' own axes."""
    return Bodies(
        np.array([b.mass for b in tree.bodies]),
        np.array([b.com for b in tree.bodies]),
        np.array([b.inertia for b in tree.bodies]),
    )


def golden_tree(model: dict, quaternions: bool = False) -> BodyTree:
    """The tree of a golden model.

    There a body's axes are in its mass centre; here in its inboard joint, parallel to the child side of it
    (Gc). With `quaternions`, as in the golden quaternion_form: quaternions in place of angles, from child to
    parent, with the mount Gp in them.
    """
    axes, com = {0: np.eye(3)}, {0: np.zeros(3)}
    bodies, joints = [], []
    for k, data in enumerate(model["bodies"], start=1):
        joint, parent = data["joint"], data["parent"]
        Gp, Gc, cp, cc = (np.array(joint[name]) for name in ("Gp", "Gc", "cp", "cc"))
        axes[k], com[k] = Gc, -Gc.T @ cc
        kind = {"quaternion": "spherical"}.get(joint["kind"], joint["kind"])
        if quaternions and kind in ANGLES:
            kind, Gp = "spherical", np.eye(3)
        position, rotation = com[parent] + axes[parent].T @ cp, axes[parent].T @ Gp
        bodies.append(Body(f"body {k}", data["mass"], tuple(com[k]), rows(Gc.T @ np.array(data["J"]) @ Gc)))
        parent_name = f"body {parent}" if parent else ""
        axis = tuple(joint["axis"] or (0.0, 0.0, 1.0))
        joints.append(
            Joint(f"joint {k}", kind, f"body {k}", parent_name, tuple(position), tuple(rotation.ravel()), axis)
        )
    tree = BodyTree("golden", tuple(bodies), tuple(joints))
    tree.check()
    return tree


def random_rotation(random: np.random.Generator) -> np.ndarray:
    Q, R = np.linalg.qr(random.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)


def random_tree(
    random: np.random.Generator,
    kinds: Sequence[str],
    parents: Sequence[int] | None = None,
    coordinate_axes: bool = False,
) -> BodyTree:
    """One joint of each of these kinds, on a random body before it or on the base.

    Or on `parents`, counted from 1; 0: the base.
    """
    bodies, joints = [], []
    for k, kind in enumerate(kinds, start=1):
        parent = int(random.integers(0, k)) if parents is None else parents[k - 1]
        points = random.normal(size=(3, 6))  # a body of six equal points has a physical inertia
        inertia = 0.01 * sum(p @ p * np.eye(3) - np.outer(p, p) for p in points.T)
        axis = np.eye(3)[random.integers(3)] * random.choice([-1, 1]) if coordinate_axes else random.normal(size=3)
        bodies.append(
            Body(f"b{k}", float(random.uniform(0.5, 3.0)), tuple(random.uniform(-0.4, 0.4, 3)), rows(inertia))
        )
        where = tuple(random.uniform(-0.5, 0.5, 3)), tuple(random_rotation(random).ravel()), tuple(axis)
        joints.append(Joint(f"j{k}", kind, f"b{k}", f"b{parent}" if parent else "", *where))
    tree = BodyTree("random", tuple(bodies), tuple(joints))
    tree.check()
    return tree


@dataclass
class TreeState:
    """A tree in motion: coordinates, rates, drives, a moving base and loads.

    A load is a force in the mass centre and a moment about it, in world axes.
    """

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    base: Base
    loads: dict[int, tuple[np.ndarray, np.ndarray]]
    gravity: np.ndarray


def random_state(random: np.random.Generator, tree: BodyTree) -> TreeState:
    """Everything moves; second angles stay away from where Euler and Cardan angles are singular."""
    q: list[float] = []
    for joint in tree.joints:
        own = random.uniform(-3.0, 3.0, joint.coordinates)
        if joint.kind in ANGLES:
            own[1] = random.choice([-1, 1]) * random.uniform(*((0.6, 2.5) if joint.kind == "euler_zxz" else (0.1, 0.9)))
        if joint.kind in ("spherical", "free"):
            own[-4:] /= np.linalg.norm(own[-4:])
        q.extend(own)
    rates = sum(joint.rates for joint in tree.joints)
    base = Base(random_rotation(random), *random.uniform(-3.0, 3.0, (3, 3)))
    loaded = [i for i in range(len(tree.bodies)) if random.random() < 0.7]
    loads = {i: (random.uniform(-5.0, 5.0, 3), random.uniform(-2.0, 2.0, 3)) for i in loaded}
    return TreeState(
        np.array(q),
        random.uniform(-2.0, 2.0, rates),
        random.uniform(-4.0, 4.0, rates),
        base,
        loads,
        random.uniform(-10.0, 10.0, 3),
    )


@dataclass
class SeparateBodies:
    """Results of the method of separate bodies for a state.

    Accelerations, and the load of each joint on its child in world axes.
    """

    vdot: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    omegad: np.ndarray


def separate_bodies(tree: BodyTree, state: TreeState) -> SeparateBodies:
    """The same case by separate_bodies.py, which uses the axes of the frames and loads about their origins."""
    frames, frame_of, turns = tree.frames()
    own = parameters(tree)
    c = np.array([W.T @ c for W, c in zip(turns, own.c, strict=True)])
    J = np.array([rows(W.T @ matrix(J) @ W) for W, J in zip(turns, own.J, strict=True)])
    axes = world_axes(frames, state)
    loads = {}
    for i, (F, M) in state.loads.items():
        R = axes[frame_of[i]]
        loads[frame_of[i]] = (R.T @ F, R.T @ M + np.cross(c[i], R.T @ F))
    A_0, base = state.base.A_0, state.base
    inside = (A_0.T @ x for x in (base.rdd_0 - state.gravity, base.omegad_0, base.omega_0))
    motion = forward_dynamics(frames, Bodies(own.m, c, J), state.q, state.v, state.tau, loads, *inside)
    force, moment = (np.array([axes[k] @ motion.reaction[k][part] for k in frame_of]) for part in (0, 1))
    return SeparateBodies(motion.vdot, force, moment, np.array([axes[k] @ motion.a[k][1] for k in frame_of]))


def world_axes(frames: Sequence[Frame], state: TreeState) -> list[np.ndarray]:
    axes: list[np.ndarray] = []
    for frame in frames:
        R = (state.base.A_0 if frame.parent < 0 else axes[frame.parent]) @ frame.R0
        moved = frame.rotation(state.q)
        axes.append(R if moved is None else R @ moved)
    return axes
