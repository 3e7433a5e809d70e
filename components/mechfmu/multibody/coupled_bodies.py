"""The method of separate bodies for trees in which joints follow others: O(n), exact, without the coupling's forces.

A group is a set of turns and slides whose rates are fixed multiples of one: v_m = k_m xd. Frames, symbols and equations
(1)-(8) are those of separate_bodies.py, but the bias a' is taken in before a motion is eliminated: in (7) stands
Q* - M* a' instead of Q*. The motion of a member cannot be eliminated where it is met, because its group has members
elsewhere: its acceleration x stays open on the way inwards. The reaction on a frame outboard of which groups g are
open, and the equations of these groups, are

    R = M* a + sum_g H_g x_g - Q*,        H_g^T a + sum_h E_gh x_h = f_g,                                           (9)

with scalars E, f and a wrench H for each group. The bias a' of a motion is taken in by f_g <- f_g - H_g^T a'. A member
S of group g with the multiple k, the motor moment tau and the armature I transmits S^T R = tau - I k x; it adds

    E_gg += k^2 (S^T M* S + I) + 2 k S^T H_g,    E_gh += k S^T H_h,    f_g += k (tau + S^T Q*),    H_g += k M* S    (10)

and leaves M* as it is. The elimination (7) of a motion that is in no group, U and u as there, is

    H_g <- H_g - M* S U^-1 S^T H_g,   E_gh <- E_gh - H_g^T S U^-1 S^T H_h,   f_g <- f_g - H_g^T S U^-1 u            (11)

in addition. As soon as all members of g are outboard of a frame, its equation determines x_g there:

    x_g = E_gg^-1 (f_g - H_g^T a - sum_h E_gh x_h),                                                                (12)
    M* <- M* - H_g E_gg^-1 H_g^T,    Q* <- Q* - H_g E_gg^-1 f_g,    and so for H_h, E_hi, f_h of the others.        (13)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..model.block_boundaries import block_boundary
from .elementary_motions import Armature, Blocks, Elimination, ForceMoment
from .frames import BASE, Bodies, Frame
from .separate_bodies import TreeMotion, single_bodies, to_frame, to_parent, velocities, without_bias, wrench_to_parent
from .symmetric_blocks import added, outer_removed, times, transposed_times

Array = Any


@dataclass(frozen=True)
class Member:
    """A turn or slide that belongs to a group: its rate is `multiple` times that of the group."""

    group: int  # the frame of the member whose multiple is 1, the leader
    multiple: float


Members = Mapping[int, Member]  # by frame


@dataclass
class OpenGroups:
    """H, E and f of (9) of the groups that are open outboard of a frame."""

    H: dict[int, ForceMoment] = field(default_factory=dict)
    E: dict[tuple[int, int], Array] = field(default_factory=dict)  # g <= h; those missing are zero
    f: dict[int, Array] = field(default_factory=dict)

    def add(self, g: int, h: int, value: Array) -> None:
        pair = (min(g, h), max(g, h))
        self.E[pair] = self.E[pair] + value if pair in self.E else value

    def merge(self, other: OpenGroups, H: Mapping[int, ForceMoment]) -> None:
        """Add the groups of a branch; H: its wrenches in the axes of this frame."""
        for g, (F, N) in H.items():
            before = self.H.get(g)
            self.H[g] = (F, N) if before is None else (before[0] + F, before[1] + N)
            self.f[g] = self.f[g] + other.f[g] if g in self.f else other.f[g]
        for (g, h), value in other.E.items():
            self.add(g, h, value)


@dataclass(frozen=True)
class ClosedGroup:
    """What (12) needs on the way outwards."""

    group: int
    E_inverse: Array
    H: ForceMoment
    f: Array
    coupled: dict[int, Array]  # E_gh of the groups still open


@dataclass(frozen=True)
class Inward:
    """What the inward sweep leaves for the outward one, by frame."""

    M: list[Blocks]
    Q: list[ForceMoment]
    H: list[dict[int, ForceMoment]]
    eliminated: list[Elimination | None]
    resisted: list[dict[int, list[Array]]]  # S^T H_g of (11)
    closed: dict[int, list[ClosedGroup]]


def closing_frames(frames: Sequence[Frame], members: Members) -> dict[int, list[int]]:
    """Return the groups that are closed at each frame: the outermost one inboard of all members of the group."""
    common: dict[int, list[int]] = {}
    for k, member in members.items():
        path, at = [], k
        while at != BASE:
            at = frames[at].parent
            path.append(at)
        path = path[::-1]
        before = common.get(member.group, path)
        common[member.group] = [a for a, b in zip(before, path, strict=False) if a == b]
    found: dict[int, list[int]] = {}
    for group, shared in common.items():
        found.setdefault(shared[-1], []).append(group)
    return found


def coupling_cost(frames: Sequence[Frame], members: Members) -> int:
    """Return the number of elements E of (9) in all frames: what groups that are open side by side cost."""
    closing = closing_frames(frames, members)
    behind: dict[int, set[int]] = {k: set() for k in (BASE, *range(len(frames)))}
    cost = 0
    for k in reversed(range(len(frames))):
        behind[k] -= set(closing.get(k, ()))
        if k in members:
            behind[k].add(members[k].group)
        cost += len(behind[k]) ** 2
        behind[frames[k].parent] |= behind.pop(k)
    return cost + len(behind[BASE]) ** 2


def coupled_forward_dynamics(
    frames: Sequence[Frame],
    bodies: Bodies,
    q: Array,
    v: Array,
    tau: Array,
    loads: dict[int, ForceMoment],
    a_0: Array,
    alpha_0: Array,
    omega_0: Array,
    armature: Armature,
    members: Members,
) -> TreeMotion:
    """Return accelerations and reactions as `forward_dynamics` does; q, v, tau of all joints, followers included."""
    R = [frame.rotation_to_parent(q) for frame in frames]
    zero = 0.0 * a_0[0]
    omega, bias = velocities(frames, R, q, v, omega_0, zero)
    M, Q = single_bodies(frames, bodies, omega, loads, zero)
    inward = _inwards(frames, R, q, tau, bias, M, Q, armature, members)
    vdot, a, x = _outwards(frames, R, q, a_0, alpha_0, bias, inward, members)
    reaction = []
    for (A, B, D), (F, N), H, (a_k, alpha_k) in zip(inward.M, inward.Q, inward.H, a, strict=True):
        F = times(A, a_k) + times(B, alpha_k) - F + sum(H_F * x[g] for g, (H_F, _) in H.items())
        N = transposed_times(B, a_k) + times(D, alpha_k) - N + sum(H_N * x[g] for g, (_, H_N) in H.items())
        reaction.append((F, N))  # (9)
    return TreeMotion(np.stack([vdot[i] for i in range(len(vdot))]), omega, a, reaction)


def _inwards(
    frames: Sequence[Frame],
    R: list[Array],
    q: Array,
    tau: Array,
    bias: list[tuple[Array, Array]],
    M: list[Blocks],
    Q: list[ForceMoment],
    armature: Armature,
    members: Members,
) -> Inward:
    """Eliminate motions, open groups at their members and close them where all members are outboard."""
    closing = closing_frames(frames, members)
    groups = {k: OpenGroups() for k in (BASE, *range(len(frames)))}
    inward = Inward(M, Q, [{} for _ in frames], [None] * len(frames), [{} for _ in frames], {})
    for k in reversed(range(len(frames))):
        frame, own = frames[k], groups[k]
        for g in closing.get(k, ()):
            M[k], Q[k], closed = _close(g, M[k], Q[k], own)
            inward.closed.setdefault(k, []).append(closed)
        inward.H[k].update(own.H)
        blocks, wrench = M[k], without_bias(M[k], Q[k], bias[k])
        for g, (F, N) in own.H.items():
            own.f[g] = own.f[g] - F @ bias[k][0] - N @ bias[k][1]
        if k in members:
            _open(members[k], frame, tau, armature, blocks, wrench, own)
        else:
            inward.eliminated[k], blocks, wrench = frame.elementary.eliminate(tau, blocks, wrench, armature)
            inward.resisted[k].update(_relieve(frame, inward.eliminated[k], own))
        H = {g: wrench_to_parent(frame, R[k], q, *H_g) for g, H_g in own.H.items()}
        groups[frame.parent].merge(own, H)
        if frame.parent != BASE:
            (A, B, D), (F, N) = to_parent(frame, R[k], q, blocks, wrench)
            (A_p, B_p, D_p), (F_p, N_p) = M[frame.parent], Q[frame.parent]
            M[frame.parent] = (added(A_p, A, True), added(B_p, B, False), added(D_p, D, True))
            Q[frame.parent] = (F_p + F, N_p + N)
            block_boundary(inward.eliminated[k], M[frame.parent], Q[frame.parent])
    for g in closing.get(BASE, ()):
        inward.closed.setdefault(BASE, []).append(_closed(g, groups[BASE])[0])
    return inward


def _open(
    member: Member, frame: Frame, tau: Array, armature: Armature, blocks: Blocks, wrench: ForceMoment, own: OpenGroups
) -> None:
    """(10)"""
    g, multiple, axis = member.group, member.multiple, frame.axis
    (A, B, D), project = blocks, frame.elementary.project
    if frame.motion == "turn":
        b, d = [B[i][axis] for i in range(3)], [D[i][axis] for i in range(3)]
        inertia = d[axis]
    else:
        b, d = [A[i][axis] for i in range(3)], [B[axis][i] for i in range(3)]
        inertia = b[axis]
    ((rate, along),) = project(*wrench).items()
    for h, H_h in own.H.items():
        (resisted,) = project(*H_h).values()
        own.add(g, h, (2.0 if g == h else 1.0) * multiple * resisted)
    own.add(g, g, multiple**2 * (inertia + armature.get(rate, 0.0)))
    force = multiple * (tau[rate] + along)
    own.f[g] = own.f[g] + force if g in own.f else force
    F, N = np.stack([multiple * x for x in b]), np.stack([multiple * x for x in d])
    own.H[g] = (own.H[g][0] + F, own.H[g][1] + N) if g in own.H else (F, N)


def _relieve(frame: Frame, eliminated: Elimination | None, own: OpenGroups) -> dict[int, list[Array]]:
    """(11); the S^T H_g."""
    if eliminated is None:
        return {}
    resisted, solved = {}, {}
    for g, H_g in own.H.items():
        resisted[g], solved[g], own.H[g] = frame.elementary.relieve(eliminated, *H_g)
    u = [eliminated.u] if frame.rates == 1 else [eliminated.u[i] for i in range(frame.rates)]
    for g in resisted:
        own.f[g] = own.f[g] - sum(a * b for a, b in zip(solved[g], u, strict=True))
        for h in (h for h in resisted if h >= g):
            own.add(g, h, -sum(a * b for a, b in zip(solved[g], resisted[h], strict=True)))
    return resisted


def _close(g: int, blocks: Blocks, wrench: ForceMoment, own: OpenGroups) -> tuple[Blocks, ForceMoment, ClosedGroup]:
    """(13)"""
    closed, (bU, dU) = _closed(g, own)
    (A, B, D), (b, d) = blocks, closed.H
    B_new = [[B[i][j] - b[i] * dU[j] for j in range(3)] for i in range(3)]
    blocks = outer_removed(A, list(bU), list(b)), B_new, outer_removed(D, list(dU), list(d))
    return blocks, (wrench[0] - bU * closed.f, wrench[1] - dU * closed.f), closed


def _closed(g: int, own: OpenGroups) -> tuple[ClosedGroup, ForceMoment]:
    """Take group g out of the open ones, (13) without M* and Q*; also H_g E_gg^-1."""
    E_inverse = 1.0 / own.E.pop((g, g))
    (b, d), f = own.H.pop(g), own.f.pop(g)
    bU, dU = b * E_inverse, d * E_inverse
    pairs = {h: (min(g, h), max(g, h)) for h in own.H}
    coupled = {h: own.E.pop(pair) for h, pair in pairs.items() if pair in own.E}
    for h, E_gh in coupled.items():
        own.H[h] = own.H[h][0] - bU * E_gh, own.H[h][1] - dU * E_gh
        own.f[h] = own.f[h] - E_gh * E_inverse * f
        for i in (i for i in coupled if i >= h):
            own.add(h, i, -E_gh * E_inverse * coupled[i])
    return ClosedGroup(g, E_inverse, (b, d), f, coupled), (bU, dU)


def _outwards(
    frames: Sequence[Frame],
    R: list[Array],
    q: Array,
    a_0: Array,
    alpha_0: Array,
    bias: list[tuple[Array, Array]],
    inward: Inward,
    members: Members,
) -> tuple[dict[int, Array], list[tuple[Array, Array]], dict[int, Array]]:
    """Accelerations of the rates, by rate, of the frames, and of the groups."""
    vdot: dict[int, Array] = {}
    x: dict[int, Array] = {}
    found: list[tuple[Array, Array]] = []
    _solve_groups(inward.closed.get(BASE, ()), a_0, alpha_0, x)
    for k, frame in enumerate(frames):
        a, alpha = (a_0, alpha_0) if frame.parent == BASE else found[frame.parent]
        a, alpha = to_frame(frame, R[k], q, a, alpha)
        eliminated = inward.eliminated[k]
        if k in members:  # the rate is known
            eliminated = Elimination(1.0, [0.0] * 3, [0.0] * 3, members[k].multiple * x[members[k].group])
        elif eliminated is not None:
            u = eliminated.u
            for g, h in inward.resisted[k].items():
                u = u - (h[0] if frame.rates == 1 else np.stack(h)) * x[g]
            eliminated = eliminated._replace(u=u)
        rates, a, alpha = frame.elementary.solve(eliminated, a, alpha)
        vdot |= rates
        a, alpha = a + bias[k][0], alpha + bias[k][1]
        found.append((a, alpha))
        block_boundary(a, alpha)
        _solve_groups(inward.closed.get(k, ()), a, alpha, x)
    return vdot, found, x


def _solve_groups(closed: Sequence[ClosedGroup], a: Array, alpha: Array, x: dict[int, Array]) -> None:
    """(12), the group that was closed last first."""
    for one in reversed(closed):
        open_groups = sum(E_gh * x[h] for h, E_gh in one.coupled.items())
        x[one.group] = one.E_inverse * (one.f - one.H[0] @ a - one.H[1] @ alpha - open_groups)
