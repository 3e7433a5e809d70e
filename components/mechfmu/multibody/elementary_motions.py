"""Elementary motions of a frame against its placement: fixed, turn about an axis, slide along an axis, ball.

Each kind is a class that gives the sweeps of separate_bodies.py, inverse_dynamics.py and kinematics.py what depends on
the kind of motion; the equation numbers are those of separate_bodies.py. Arguments that mean the same everywhere:

    R                  rotation of the motion, frame components to placement components; None: the axes stay parallel
    q, v               coordinates and rates of the whole tree
    omega, a, alpha    angular velocity, acceleration of the origin, angular acceleration; given in the axes of the
                       placement, returned in those of the frame
    F, N               force, and moment about the origin
    A, B, D            the blocks of M*, (5)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .rotations import about, cross, from_quaternion, others, quaternion_product
from .symmetric_blocks import (
    Block,
    inverse,
    outer_removed,
    rotated,
    rotated_general,
    shifted,
    symmetric,
    times,
    transposed_times,
    turned,
    turned_general,
)

Array = Any
Blocks = tuple[Block, Block, Block]  # A, B, D
ForceMoment = tuple[Array, Array]  # F, N
Zeros = tuple[tuple[int, ...], tuple[int, ...]]  # indices of forces, of moments
Rates = tuple[Array, Array, Array]  # omega, a, alpha
Place = tuple[Array, Array, Array, Array, Array]  # A, e, r, rdot, omega


class Elimination(NamedTuple):
    """What (7) leaves for the outward sweep.

    For a turn or slide, M* S is the force b and the moment d; for a ball, b is B U^-1.
    """

    U_inverse: Any
    b: Any
    d: Any
    u: Array


Eliminated = tuple[Elimination | None, Blocks, ForceMoment]  # and M*, Q* after it
Solved = tuple[dict[int, Array], Array, Array]  # accelerations of the rates, by rate; a, alpha


@dataclass(frozen=True)
class Fixed:
    """No motion. The other kinds derive from it and override what differs."""

    axis: int
    q: int  # first coordinate
    v: int  # first rate
    armature: float = 0.0  # reflected rotor inertia, added to U

    coordinates: ClassVar[int] = 0
    rates: ClassVar[int] = 0

    @property
    def e(self) -> np.ndarray:
        """Unit vector of the axis."""
        return np.eye(3)[self.axis]

    def rotation(self, q: Array) -> Array:
        return None

    # --- forward dynamics ---------------------------------------------------------------------------------------------

    def bias(self, R: Array, q: Array, v: Array, omega: Array, a: Array, alpha: Array) -> Rates:
        """omega, and the part a', alpha' of the accelerations (2)-(4) that does not depend on accelerations."""
        return omega, a, alpha

    def eliminate(self, tau: Array, blocks: Blocks, wrench: ForceMoment) -> Eliminated:
        """(7). blocks: A, B, D of M*; wrench: F, N of Q* - M* a'."""
        return None, blocks, wrench

    def blocks_to_placement(self, R: Array, q: Array, A: Block, B: Block, D: Block) -> Blocks:
        """M* about the placement's origin, in its axes; A, B, D as `eliminate` left them."""
        return A, B, D

    def wrench_to_placement(self, R: Array, q: Array, F: Array, N: Array) -> ForceMoment:
        return F, N

    def solve(self, eliminated: Elimination | None, R: Array, q: Array, a: Array, alpha: Array) -> Solved:
        """Accelerations of the rates, and a, alpha without a', alpha'."""
        return {}, a, alpha

    # --- inverse dynamics ---------------------------------------------------------------------------------------------

    def accelerate(self, R: Array, q: Array, v: Array, vdot: Array, omega: Array, a: Array, alpha: Array) -> Rates:
        """omega, a, alpha of (2)-(4) with known accelerations of the rates."""
        return omega, a, alpha

    def project(self, F: Array, N: Array) -> dict[int, Array]:
        """S^T (F, N), by rate."""
        return {}

    # --- kinematics ---------------------------------------------------------------------------------------------------

    def displace(self, q: Array, v: Array, A: Array, e: Array, r: Array, rdot: Array, omega: Array) -> Place:
        """Rotation, quaternion, origin, its velocity and angular velocity of the frame, from those of the placement."""
        return A, e, r, rdot, omega


class _OneAxis(Fixed):
    """What a turn and a slide have in common: one rate, a scalar U."""

    coordinates = rates = 1

    def _eliminate(
        self, U: Array, b: list[Any], d: list[Any], u: Array, blocks: Blocks, wrench: ForceMoment, zero: Zeros
    ) -> Eliminated:
        """(7) with M* S = (b, d); `zero`: the forces and moments of M* that are known to vanish."""
        (A, B, D), (F, N) = blocks, wrench
        rows, columns = zero
        if self.armature:  # U = S^T M* S + armature: nothing vanishes
            U, rows, columns = U + self.armature, (), ()
        U_inverse = 1.0 / U
        bU, dU = [x * U_inverse for x in b], [x * U_inverse for x in d]
        A_new, D_new = outer_removed(A, bU, b, gone=rows), outer_removed(D, dU, d, gone=columns)
        B_new = [[0.0 if i in rows or j in columns else B[i][j] - b[i] * dU[j] for j in range(3)] for i in range(3)]
        wrench = F - np.stack(bU) * u, N - np.stack(dU) * u
        return Elimination(U_inverse, b, d, u), (A_new, B_new, D_new), wrench

    def _solve(self, eliminated: Elimination | None, a: Array, alpha: Array) -> Array:
        assert eliminated is not None
        U_inverse, b, d, u = eliminated
        return U_inverse * (u - np.stack(b) @ a - np.stack(d) @ alpha)


class Turn(_OneAxis):
    """Rotation about a coordinate axis, (2)."""

    def rotation(self, q: Array) -> Array:
        return about(self.axis, np.cos(q[self.q]), np.sin(q[self.q]))

    def bias(self, R: Array, q: Array, v: Array, omega: Array, a: Array, alpha: Array) -> Rates:
        spin = self.e * v[self.v]
        alpha = cross(omega, spin)
        return R.T @ (omega + spin), R.T @ a, R.T @ alpha

    def eliminate(self, tau: Array, blocks: Blocks, wrench: ForceMoment) -> Eliminated:
        k, (_, B, D), (_, N) = self.axis, blocks, wrench
        b, d = [B[i][k] for i in range(3)], [D[i][k] for i in range(3)]
        return self._eliminate(d[k], b, d, tau[self.v] + N[k], blocks, wrench, zero=((), (k,)))

    def blocks_to_placement(self, R: Array, q: Array, A: Block, B: Block, D: Block) -> Blocks:
        i, j = others(self.axis)
        axis, cos, sin = self.axis, R[i, i], R[j, i]
        return turned(A, axis, cos, sin), turned_general(B, axis, cos, sin), turned(D, axis, cos, sin)

    def wrench_to_placement(self, R: Array, q: Array, F: Array, N: Array) -> ForceMoment:
        return R @ F, R @ N

    def solve(self, eliminated: Elimination | None, R: Array, q: Array, a: Array, alpha: Array) -> Solved:
        a, alpha = R.T @ a, R.T @ alpha
        qdd = self._solve(eliminated, a, alpha)
        return {self.v: qdd}, a, alpha + self.e * qdd

    def accelerate(self, R: Array, q: Array, v: Array, vdot: Array, omega: Array, a: Array, alpha: Array) -> Rates:
        spin = self.e * v[self.v]
        alpha = alpha + self.e * vdot[self.v] + cross(omega, spin)
        return R.T @ (omega + spin), R.T @ a, R.T @ alpha

    def project(self, F: Array, N: Array) -> dict[int, Array]:
        return {self.v: N[self.axis]}

    def displace(self, q: Array, v: Array, A: Array, e: Array, r: Array, rdot: Array, omega: Array) -> Place:
        half = 0.5 * q[self.q]
        turn = np.concatenate([np.reshape(np.cos(half), (1,)), self.e * np.sin(half)])
        return A @ self.rotation(q), quaternion_product(e, turn), r, rdot, omega + A @ (self.e * v[self.v])


class Slide(_OneAxis):
    """Translation along a coordinate axis, (3)."""

    def offset(self, q: Array) -> Array:
        return self.e * q[self.q]

    def bias(self, R: Array, q: Array, v: Array, omega: Array, a: Array, alpha: Array) -> Rates:
        offset = self.offset(q)
        return omega, a + 2 * cross(omega, self.e * v[self.v]) + cross(omega, cross(omega, offset)), alpha

    def eliminate(self, tau: Array, blocks: Blocks, wrench: ForceMoment) -> Eliminated:
        k, (A, B, _), (F, _) = self.axis, blocks, wrench
        b, d = [A[i][k] for i in range(3)], [B[k][i] for i in range(3)]
        return self._eliminate(b[k], b, d, tau[self.v] + F[k], blocks, wrench, zero=((k,), ()))

    def blocks_to_placement(self, R: Array, q: Array, A: Block, B: Block, D: Block) -> Blocks:
        return A, *shifted(A, B, D, self.offset(q))

    def wrench_to_placement(self, R: Array, q: Array, F: Array, N: Array) -> ForceMoment:
        return F, N + cross(self.offset(q), F)

    def solve(self, eliminated: Elimination | None, R: Array, q: Array, a: Array, alpha: Array) -> Solved:
        a = a + cross(alpha, self.offset(q))
        qdd = self._solve(eliminated, a, alpha)
        return {self.v: qdd}, a + self.e * qdd, alpha

    def accelerate(self, R: Array, q: Array, v: Array, vdot: Array, omega: Array, a: Array, alpha: Array) -> Rates:
        offset, speed = self.offset(q), self.e * v[self.v]
        a = a + self.e * vdot[self.v] + cross(alpha, offset) + 2 * cross(omega, speed)
        return omega, a + cross(omega, cross(omega, offset)), alpha

    def project(self, F: Array, N: Array) -> dict[int, Array]:
        return {self.v: F[self.axis]}

    def displace(self, q: Array, v: Array, A: Array, e: Array, r: Array, rdot: Array, omega: Array) -> Place:
        arm = A @ self.offset(q)
        return A, e, r + arm, rdot + cross(omega, arm) + A @ (self.e * v[self.v]), omega


class Ball(Fixed):
    """Free rotation, (4): a quaternion, and the angular velocity in the axes of the frame."""

    coordinates = 4
    rates = 3

    def _rates(self, v: Array) -> Array:
        return v[self.v : self.v + 3]

    def rotation(self, q: Array) -> Array:
        return from_quaternion(q[self.q : self.q + 4])

    def bias(self, R: Array, q: Array, v: Array, omega: Array, a: Array, alpha: Array) -> Rates:
        spin = self._rates(v)
        omega = R.T @ omega
        return omega + spin, R.T @ a, cross(omega, spin)

    def eliminate(self, tau: Array, blocks: Blocks, wrench: ForceMoment) -> Eliminated:
        """U is D, so that of M* only A remains, and of Q* the moment -tau."""
        (A, B, D), (F, N) = blocks, wrench
        if self.armature:
            return self._eliminate_with_armature(tau, blocks, wrench)
        U_inverse = inverse(D)
        u = self._rates(tau) + N
        BU = [[sum(B[i][k] * U_inverse[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
        upper = [(i, j) for i in range(3) for j in range(i, 3)]
        A_new = symmetric({(i, j): A[i][j] - sum(BU[i][k] * B[j][k] for k in range(3)) for i, j in upper})
        none = symmetric({})
        return Elimination(U_inverse, BU, None, u), (A_new, none, none), (F - times(BU, u), -self._rates(tau))

    def _eliminate_with_armature(self, tau: Array, blocks: Blocks, wrench: ForceMoment) -> Eliminated:
        """U is D + armature E, so that B and D of M* remain."""
        (A, B, D), (F, N) = blocks, wrench
        upper = [(i, j) for i in range(3) for j in range(i, 3)]
        U_inverse = inverse(symmetric({(i, j): D[i][j] + (self.armature if i == j else 0.0) for i, j in upper}))
        u = self._rates(tau) + N
        BU, DU = (
            [[sum(X[i][k] * U_inverse[k][j] for k in range(3)) for j in range(3)] for i in range(3)] for X in (B, D)
        )
        A_new = symmetric({(i, j): A[i][j] - sum(BU[i][k] * B[j][k] for k in range(3)) for i, j in upper})
        B_new = [[B[i][j] - sum(BU[i][k] * D[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
        D_new = symmetric({(i, j): D[i][j] - sum(DU[i][k] * D[k][j] for k in range(3)) for i, j in upper})
        return Elimination(U_inverse, BU, DU, u), (A_new, B_new, D_new), (F - times(BU, u), N - times(DU, u))

    def blocks_to_placement(self, R: Array, q: Array, A: Block, B: Block, D: Block) -> Blocks:
        if self.armature:
            return rotated(A, R), rotated_general(B, R), rotated(D, R)
        return rotated(A, R), B, D  # B and D are zero

    def wrench_to_placement(self, R: Array, q: Array, F: Array, N: Array) -> ForceMoment:
        return R @ F, R @ N

    def solve(self, eliminated: Elimination | None, R: Array, q: Array, a: Array, alpha: Array) -> Solved:
        assert eliminated is not None
        a, alpha = R.T @ a, R.T @ alpha
        if self.armature:
            U_inverse, BU, DU, u = eliminated
            omegad = times(U_inverse, u) - transposed_times(BU, a) - transposed_times(DU, alpha)
            return {self.v + i: omegad[i] for i in range(3)}, a, alpha + omegad
        omegad = times(eliminated.U_inverse, eliminated.u) - transposed_times(eliminated.b, a) - alpha
        return {self.v + i: omegad[i] for i in range(3)}, a, alpha + omegad

    def accelerate(self, R: Array, q: Array, v: Array, vdot: Array, omega: Array, a: Array, alpha: Array) -> Rates:
        spin = self._rates(v)
        omega = R.T @ omega
        return omega + spin, R.T @ a, R.T @ alpha + self._rates(vdot) + cross(omega, spin)

    def project(self, F: Array, N: Array) -> dict[int, Array]:
        return {self.v + i: N[i] for i in range(3)}

    def displace(self, q: Array, v: Array, A: Array, e: Array, r: Array, rdot: Array, omega: Array) -> Place:
        A = A @ self.rotation(q)
        return A, quaternion_product(e, q[self.q : self.q + 4]), r, rdot, omega + A @ self._rates(v)


KINDS: dict[str, type[Fixed]] = {"fixed": Fixed, "turn": Turn, "slide": Slide, "ball": Ball}
