"""Wittenburg's method for trees with rotational joints: A qdd = B from incidence matrix, path matrix, augmented bodies.

The graph. Bodies are vertices, joints are arcs; joint a carries body a. Arc a leads from body i+(a) to
body i-(a), in either direction:

        base o---->----(1)---->----(2)         arcs 1, 2, 4 point away from the base, arc 3 is reversed
                        |
                        +----<----(3)---->----(4)

    S_ia = +1 if arc a starts at body i, -1 if it ends there, else 0; S_0a alike for the base                      (1)
    T_ai = +1 / -1 if arc a is on the path from the base to body i and points towards / away from the base, else 0  (2)
    T S = E,   S_0 T = -1^T

Body i is before j, and j after i, if i lies on the path from the base to j.

Constants of the bodies. m_i, J_i: mass and inertia about the mass centre; c_ia: mass centre of body i ->
joint a, for every joint on it.

    d_ij = sum_a T_aj S_ia c_ia                        j = i: mass centre -> inboard joint                         (3)
                                                       j after i: joint to j -> inboard joint
    b_i0 = (1/M) sum_j m_j d_ij ,  M = sum_j m_j       barycentre -> inboard joint of the augmented body           (4)
    K_i  = J_i + sum_j m_j (d_ij.d_ij E - d_ij d_ij^T) its inertia about the inboard joint                         (5)

All three are fixed in body i. In (3) the indices matter: a printed source has sum_a T_ai S_ja c_ja, a vector of
body j, which is wrong as soon as one body hangs on another, although A stays symmetric with it. From here on
everything is resolved in world axes.

Kinematics. p_al: axis of turn l of joint a, fixed in what comes before this turn; it turns i- relative to i+, so it
is minus the axis of the joint if the arc is reversed. Omega_a: angular velocity of i- relative to i+. Sums over
pairs of turns go from i+ to i-.

    Omega_a = sum_l p_al qd_al ,   omega = omega_0 1 - T^T Omega                                                   (6)
    phi_a = sum_{k<l} (p_ak x p_al) qd_ak qd_al ,   f_a = phi_a + omega_{i-(a)} x Omega_a                          (7)
    omegad = omegad_0 1 - T^T (p^T qdd + f)                                                                        (8)
    rdd_i = rdd_0i - sum_j (omegad_j x d_ji + omega_j x (omega_j x d_ji))
    rdd_0i = rdd_0 + omegad_0 x c + omega_0 x (omega_0 x c)                                                        (9)
    c: from the reference point of the base to the base joint of the branch of body i

The acceleration (9) belongs to the branch; one rdd_0 for all bodies is right only for a single joint on the base, in
its reference point. A spherical joint with a quaternion has the rates Omega in the axes of the child: p are these axes,
and phi = 0 because they are fixed in it.

Dynamics. The equations of motion of the augmented bodies are K omegad = M' + M_ext + S (Y + Y^c), with

    K_ij = M (b_j0.d_ij E - b_j0 d_ij^T), i before j;   K_ji = K_ij^T;   K_ii = K_i;   else 0                     (10)
    M'_i = -omega_i x K_i omega_i - M sum_{j after i} d_ij x (omega_j x (omega_j x b_j0))                         (11)
           - M b_i0 x (sum_{j before i} omega_j x (omega_j x d_ji) - rdd_0i) - sum_{j = i or after i} d_ij x F_j

F_j: external force in mass centre j, weight included; M_ext: external moments about the mass centres; Y: moment of the
drive of a joint, Y^c: of its constraint; body i receives S_ia (Y + Y^c)_a. The drive does tau = -p.Y and the constraint
no work, p.Y^c = 0; (8) then gives

    A = (pT) K (pT)^T ,   B = -(pT) (K (T^T f - omegad_0 1) + M' + M_ext) + tau ,   A qdd = B                     (12)

where pT is p times T. A positive tau turns the child relative to its parent, whatever the direction of the
arc. Then the loads of the joints,

    X = T (m rdd - F) ,   Y + Y^c = T (K omegad - M' - M_ext)      force and moment about the joint point         (13)
    Y_a = -p (p^T p)^-1 tau                                        of the drive: in the space of the axes        (14)

A is singular where the axes of a joint with three angles lie in a plane: second angle 0 or pi (euler_zxz), pi/2 or
-pi/2 (cardan_xyz, cardan_zyx). A quaternion has no singularity. The second angle is not checked here.

Coordinates and rates are those of `BodyTree.frames()`, so that qdd here and vdot of the method of
separate bodies are the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ...multibody.frames import BASE, Bodies
from ...multibody.rotations import cross, from_quaternion, tilde
from ...multibody.tree import MOTIONS, BodyTree, TreeError

Array = Any
ROTATIONAL = tuple(
    kind for kind, motions in MOTIONS.items() if all(motion in ("turn", "ball") for motion, _ in motions)
)
E = np.eye(3)


@dataclass(frozen=True, eq=False)
class Arc:
    """A joint, placed in its parent at `position` with the axes `rotation`; a quaternion has no `axes` of turns."""

    start: int  # i+, or BASE
    end: int  # i-, or BASE
    position: np.ndarray
    rotation: np.ndarray
    axes: tuple[np.ndarray, ...]  # in the axes of the joint; turn l moves those after it
    q: slice
    v: slice


@dataclass(frozen=True, eq=False)
class Graph:
    """Bodies and joints of a tree, numbered alike from 0, with the matrices (1) and (2)."""

    arcs: tuple[Arc, ...]
    parent: tuple[int, ...]  # a body, or BASE
    S_0: np.ndarray  # (n,)
    S: np.ndarray  # (n, n)
    T: np.ndarray  # (n, n)

    @property
    def n(self) -> int:
        return len(self.arcs)

    def before(self, i: int) -> list[int]:
        """The bodies between the base and body i, from the base on."""
        return [j for j in range(self.n) if j != i and self.T[j, i]]

    def after(self, i: int) -> list[int]:
        return [j for j in range(self.n) if j != i and self.T[i, j]]

    def branch(self, i: int) -> Arc:
        """The joint on the base that carries body i."""
        return self.arcs[(*self.before(i), i)[0]]


@dataclass(frozen=True)
class Base:
    """Motion of the base, in world axes."""

    A_0: Array  # rotation, base components to world components
    rdd_0: Array  # acceleration of its reference point
    omega_0: Array
    omegad_0: Array


AT_REST = Base(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))


@dataclass(frozen=True)
class AugmentedBodies:
    """(3) to (5), each in the axes of body i."""

    M: Array
    d: dict[tuple[int, int], Array]
    b: list[Array]
    K: list[Array]


@dataclass(frozen=True)
class Equations:
    """A qdd = B, and what it was made of, in world axes."""

    A: Array  # (N, N) mass matrix
    B: Array  # (N,)
    rotation: list[Array]  # axes of body i: its components to world components
    omega: Array  # (n, 3)
    p: list[Array]  # axes of joint a, one per row
    f: Array  # (n, 3)
    d: dict[tuple[int, int], Array]
    K: Array  # (3n, 3n)
    moments: Array  # (n, 3): M' + M_ext
    forces: Array  # (n, 3): F
    m: Array
    rdd_0: list[Array]  # of the branch of body i
    omegad_0: Array
    tau: Array


@dataclass(frozen=True)
class JointLoads:
    """World axes, moments about the joint points.

    Body i receives S_ia times the loads of joint a: its own body S[a, a] times them.
    """

    X: Array  # (n, 3) forces
    Y: Array  # (n, 3) moments of the drives
    Y_c: Array  # (n, 3) moments of the constraints
    omegad: Array  # (n, 3) angular accelerations of the bodies
    rdd: Array  # (n, 3) accelerations of the mass centres


def graph(tree: BodyTree, reversed_arcs: Iterable[str] = ()) -> Graph:
    """The graph of a checked tree.

    Arcs lead from parent to child, those of the joints named in `reversed_arcs` from child to parent.
    """
    n = len(tree.joints)
    backwards = set(reversed_arcs)
    if unknown := sorted(backwards - {joint.name for joint in tree.joints}):
        raise TreeError(f"joint {unknown[0]}: its arc cannot be reversed, there is no such joint")
    number = {"": BASE} | {body.name: i for i, body in enumerate(tree.bodies)}
    parent = tuple(number[joint.parent] for joint in tree.joints)
    arcs: list[Arc] = []
    q = v = 0
    for a, joint in enumerate(tree.joints):
        if joint.kind not in ROTATIONAL:
            allowed = f"Wittenburg's method is for rotational joints ({', '.join(ROTATIONAL)})"
            raise TreeError(f"joint {joint.name}: {allowed}, not for {joint.kind}")
        own = np.array(joint.axis) / np.linalg.norm(joint.axis)
        axes = tuple(own if axis is None else E[axis] for motion, axis in MOTIONS[joint.kind] if motion == "turn")
        start, end = (a, parent[a]) if joint.name in backwards else (parent[a], a)
        position, rotation = np.array(joint.position), np.reshape(joint.rotation, (3, 3))
        own_q, own_v = slice(q, q + joint.coordinates), slice(v, v + joint.rates)
        arcs.append(Arc(start, end, position, rotation, axes, own_q, own_v))
        q, v = q + joint.coordinates, v + joint.rates

    vertices = (BASE, *range(n))
    incidence = np.array([[(arc.start == i) - (arc.end == i) for arc in arcs] for i in vertices], dtype=float)  # (1)
    T = np.zeros((n, n))
    for i in range(n):
        a = i  # walk from body i to the base: joint a leads from body a to its parent
        while a != BASE:
            T[a, i] = 1.0 if arcs[a].start == a else -1.0  # (2)
            a = parent[a]
    return Graph(tuple(arcs), parent, incidence[0], incidence[1:], T)


def augmented_bodies(graph: Graph, bodies: Bodies) -> AugmentedBodies:
    """The constants of the bodies, (3) to (5)."""
    n, S, T, m = graph.n, graph.S, graph.T, bodies.m
    M = sum(m[i] for i in range(n))
    arcs, pairs = range(n), [(i, j) for i in range(n) for j in range(n)]
    c = {(i, a): (0.0 if a == i else graph.arcs[a].position) - bodies.c[i] for i, a in pairs if S[i, a]}

    def joint_to_joint(i: int, j: int) -> Array:  # (3)
        terms = (T[a, j] * S[i, a] * c[i, a] for a in arcs if T[a, j] * S[i, a])
        return sum(terms, start=np.zeros(3))

    d = {(i, j): joint_to_joint(i, j) for i, j in pairs}
    b = [sum(m[j] * d[i, j] for j in range(n)) / M for i in range(n)]  # (4)
    K = [_matrix(bodies.J[i]) + sum(m[j] * _steiner(d[i, j], d[i, j]) for j in range(n)) for i in range(n)]  # (5)
    return AugmentedBodies(M, d, b, K)


def equations(
    graph: Graph,
    bodies: Bodies,
    q: Array,
    v: Array,
    tau: Array,
    gravity: Array,
    base: Base = AT_REST,
    loads: Mapping[int, tuple[Array, Array]] | None = None,
) -> Equations:
    """A and B of (12).

    Rates are v; tau belongs to the rates; loads: external (force in the mass centre, moment
    about it) by body, world axes.
    """
    n, T = graph.n, graph.T
    augmented = augmented_bodies(graph, bodies)
    M, m = augmented.M, bodies.m
    rotation, p = _axes(graph, q, base)
    omega, f = _velocities(graph, v, p, base)

    # augmented bodies in world axes
    d = {(i, j): rotation[i] @ d_ij for (i, j), d_ij in augmented.d.items()}
    b = [rotation[i] @ augmented.b[i] for i in range(n)]
    K = {(i, i): rotation[i] @ augmented.K[i] @ rotation[i].T for i in range(n)}
    for i in range(n):
        for j in graph.after(i):
            K[i, j] = M * _steiner(d[i, j], b[j])  # (10)
            K[j, i] = K[i, j].T

    # forces and moments
    weights = [m[i] * gravity for i in range(n)]
    loads = loads or {}
    F = [weights[i] + loads[i][0] if i in loads else weights[i] for i in range(n)]
    joint_points = [base.A_0 @ graph.branch(i).position for i in range(n)]
    rdd_0 = [base.rdd_0 + cross(base.omegad_0, c) + _centripetal(base.omega_0, c) for c in joint_points]  # (9)
    moments = []
    for i in range(n):
        before, after = graph.before(i), graph.after(i)
        M_i = -cross(omega[i], K[i, i] @ omega[i])  # (11)
        M_i = M_i - M * sum(cross(d[i, j], _centripetal(omega[j], b[j])) for j in after)
        M_i = M_i - M * cross(b[i], sum(_centripetal(omega[j], d[j, i]) for j in before) - rdd_0[i])
        M_i = M_i - sum(cross(d[i, j], F[j]) for j in (i, *after))
        moments.append(M_i + loads[i][1] if i in loads else M_i)

    # A qdd = B
    pT = np.concatenate([np.concatenate([T[a, i] * p[a] for i in range(n)], axis=1) for a in range(n)], axis=0)
    zero = np.zeros((3, 3))
    K_all = np.concatenate([np.concatenate([K.get((i, j), zero) for j in range(n)], axis=1) for i in range(n)], axis=0)
    A = pT @ K_all @ pT.T  # (12)
    B = tau - pT @ (K_all @ _flat(T.T @ f - base.omegad_0) + np.concatenate(moments))
    return Equations(
        A, B, rotation, omega, p, f, d, K_all, np.stack(moments), np.stack(F), m, rdd_0, base.omegad_0, tau
    )


def _axes(graph: Graph, q: Array, base: Base) -> tuple[list[Array], list[Array]]:
    """Outwards: axes of the bodies, and axes p of the turns."""
    rotation: list[Array] = []
    p: list[Array] = []
    for a, arc in enumerate(graph.arcs):
        R = (base.A_0 if graph.parent[a] == BASE else rotation[graph.parent[a]]) @ arc.rotation
        if arc.axes:
            turns = []
            for e, angle in zip(arc.axes, range(arc.q.start, arc.q.stop), strict=True):
                turns.append(R @ e)
                R = R @ _turn(e, q[angle])
            axes = np.stack(turns)
        else:
            R = R @ from_quaternion(q[arc.q])
            axes = R.T
        rotation.append(R)
        p.append(-graph.S[a, a] * axes)
    return rotation, p


def _velocities(graph: Graph, v: Array, p: list[Array], base: Base) -> tuple[Array, Array]:
    """omega and f, (6) and (7)."""
    Omega = np.stack([v[arc.v] @ p[a] for a, arc in enumerate(graph.arcs)])
    omega = base.omega_0 - graph.T.T @ Omega  # (6)
    f_a = []
    for a, arc in enumerate(graph.arcs):
        w = base.omega_0 if arc.end == BASE else omega[arc.end]
        # the turns of the joint go from parent to child; along a reversed arc every pair has the opposite order
        phi = [
            -graph.S[a, a] * cross(p[a][k], p[a][l]) * (v[arc.v.start + k] * v[arc.v.start + l])
            for k, l in combinations(range(len(arc.axes)), 2)
        ]
        f_a.append(sum(phi) + cross(w, Omega[a]))  # (7)
    return omega, np.stack(f_a)


def joint_loads(graph: Graph, eq: Equations, qdd: Array) -> JointLoads:
    """The loads of the joints, (13) and (14), and the accelerations of the bodies, (8), for given qdd."""
    n, T, p, d = graph.n, graph.T, eq.p, eq.d
    Omegad = np.stack([qdd[arc.v] @ p[a] for a, arc in enumerate(graph.arcs)]) + eq.f
    omegad = eq.omegad_0 - T.T @ Omegad  # (8)
    carried = [
        sum(cross(omegad[j], d[j, i]) + _centripetal(eq.omega[j], d[j, i]) for j in (*graph.before(i), i))
        for i in range(n)
    ]
    rdd = np.stack([eq.rdd_0[i] - carried[i] for i in range(n)])
    X = T @ (np.stack([eq.m[i] * rdd[i] for i in range(n)]) - eq.forces)  # (13)
    total = T @ (np.reshape(eq.K @ _flat(omegad), (n, 3)) - eq.moments)
    Y = -np.stack([_dual(p[a], arc.axes, eq.tau[arc.v]) for a, arc in enumerate(graph.arcs)])  # (14)
    return JointLoads(X, Y, total - Y, omegad, rdd)


def _turn(e: np.ndarray, angle: Array) -> Array:
    """The matrix of a turn about the constant unit vector e."""
    along = np.outer(e, e)
    return along + np.cos(angle) * (E - along) + np.sin(angle) * tilde(e)


def _dual(p: Array, axes: tuple[np.ndarray, ...], tau: Array) -> Array:
    """The moment y in the space of the axes p with p.y = tau. Only three angles have axes that are not orthonormal."""
    return np.linalg.solve(p, tau) if len(axes) == 3 else tau @ p


def _centripetal(w: Array, r: Array) -> Array:
    return cross(w, cross(w, r))


def _steiner(d: Array, b: Array) -> Array:
    """b.d E - b d^T"""
    return (b @ d) * E - np.outer(b, d)


def _matrix(J: Array) -> Array:
    """The symmetric matrix of xx, yy, zz, xy, xz, yz."""
    return np.stack([np.stack([J[0], J[3], J[4]]), np.stack([J[3], J[1], J[5]]), np.stack([J[4], J[5], J[2]])])


def _flat(x: Array) -> Array:
    """Rows one after the other."""
    return np.concatenate([x[i] for i in range(x.shape[0])])
