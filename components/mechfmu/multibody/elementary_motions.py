"""Elementary motions of a frame against its placement: fixed, turn about an axis, slide along an axis, ball.

Each kind is a class that gives the sweeps of separate_bodies.py, inverse_dynamics.py and kinematics.py what depends on
the kind of motion; the equation numbers are those of separate_bodies.py. Arguments that mean the same everywhere:

    R                  rotation of the motion, frame components to placement components; None: the axes stay parallel
    q, v               coordinates and rates of the whole tree
    omega, a, alpha    angular velocity, acceleration of the origin, angular acceleration, in the axes of the frame;
                       where R is an argument, given in those of the placement
    F, N               force, and moment about the origin
    A, B, D            the blocks of M*, (5)
    armature           inertias of rotors, by rate, (8)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .rotations import about, cross, from_quaternion, others, quaternion_product
from .symmetric_blocks import (
    Block,
    added,
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
Armature = Mapping[int, Array]


class Elimination(NamedTuple):
    """What (7) leaves for the outward sweep.

    For a turn or slide, M* S is the force b and the moment d; for a ball, b is B U^-1, and d is U^-1 D, or None where
    this is the identity.
    """

    U_inverse: Any
    b: Any
    d: Any
    u: Array


Eliminated = tuple[Elimination | None, Blocks, ForceMoment]  # and M*, Q* after it
Solved = tuple[dict[int, Array], Array, Array]  # accelerations of the rates, by rate; a, alpha
Relieved = tuple[list[Array], list[Array], ForceMoment]  # S^T H, U^-1 S^T H, and H after the elimination


@dataclass(frozen=True)
class Fixed:
    """No motion. The other kinds derive from it and override what differs."""

    axis: int
    q: int  # first coordinate
    v: int  # first rate

    coordinates: ClassVar[int] = 0
    rates: ClassVar[int] = 0

    @property
    def e(self) -> np.ndarray:
        """Unit vector of the axis."""
        return np.eye(3)[self.axis]

    def rotation(self, q: Array) -> Array:
        return None

    # --- forward dynamics ---------------------------------------------------------------------------------------------

    def bias(self, q: Array, v: Array, omega: Array, a: Array) -> Rates:
        """omega, and the part a', alpha' of the accelerations (2)-(4) that does not depend on accelerations.

        omega, a': those of the placement, in the axes of the frame.
        """
        return omega, a, 0.0 * omega

    def eliminate(self, tau: Array, blocks: Blocks, wrench: ForceMoment, armature: Armature) -> Eliminated:
        """(7), (8). blocks: A, B, D of M*; wrench: F, N of Q*."""
        return None, blocks, wrench

    def relieve(self, eliminated: Elimination | None, F: Array, N: Array) -> Relieved:
        """What the elimination does to a wrench H = (F, N) that acts on the frame: H - M* S U^-1 S^T H."""
        return [], [], (F, N)

    def blocks_to_placement(self, R: Array, q: Array, A: Block, B: Block, D: Block) -> Blocks:
        """M* about the placement's origin, in its axes; A, B, D as `eliminate` left them."""
        return A, B, D

    def moment_to_placement(self, q: Array, F: Array, N: Array) -> Array:
        """N about the placement's origin, in the axes of the frame."""
        return N

    def carry(self, q: Array, a: Array, alpha: Array) -> Array:
        """a of the frame from a, alpha of the placement, without that of the rates and a'; in the axes of the frame."""
        return a

    def solve(self, eliminated: Elimination | None, a: Array, alpha: Array) -> Solved:
        """Accelerations of the rates, and a, alpha with them; a, alpha in the axes of the frame."""
        return {}, a, alpha

    # --- inverse dynamics ---------------------------------------------------------------------------------------------

    def accelerate(self, R: Array, q: Array, v: Array, vdot: Array, omega: Array, a: Array, alpha: Array) -> Rates:
        """omega, a, alpha of (2)-(4) with known accelerations of the rates."""
        return omega, a, alpha

    def project(self, F: Array, N: Array) -> dict[int, Array]:
        """S^T (F, N), by rate."""
        return {}

    # --- kinematics ---------------------------------------------------------------------------------------------------

    def speed(self, v: Array) -> Array:
        """Velocity of the origin against the placement."""
        return np.zeros(3)

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
        U_inverse = 1.0 / U
        bU, dU = [x * U_inverse for x in b], [x * U_inverse for x in d]
        A_new, D_new = outer_removed(A, bU, b, gone=rows), outer_removed(D, dU, d, gone=columns)
        B_new = [[0.0 if i in rows or j in columns else B[i][j] - b[i] * dU[j] for j in range(3)] for i in range(3)]
        wrench = F - np.stack(bU) * u, N - np.stack(dU) * u
        return Elimination(U_inverse, b, d, u), (A_new, B_new, D_new), wrench

    def relieve(self, eliminated: Elimination | None, F: Array, N: Array) -> Relieved:
        assert eliminated is not None
        (h,) = self.project(F, N).values()
        g = eliminated.U_inverse * h
        return [h], [g], (F - np.stack(eliminated.b) * g, N - np.stack(eliminated.d) * g)

    def _solve(self, eliminated: Elimination | None, a: Array, alpha: Array) -> Array:
        assert eliminated is not None
        U_inverse, b, d, u = eliminated
        return U_inverse * (u - np.stack(b) @ a - np.stack(d) @ alpha)


class Turn(_OneAxis):
    """Rotation about a coordinate axis, (2)."""

    def rotation(self, q: Array) -> Array:
        return about(self.axis, np.cos(q[self.q]), np.sin(q[self.q]))

    def bias(self, q: Array, v: Array, omega: Array, a: Array) -> Rates:
        spin = self.e * v[self.v]
        return omega + spin, a, cross(omega, spin)

    def eliminate(self, tau: Array, blocks: Blocks, wrench: ForceMoment, armature: Armature) -> Eliminated:
        k, (_, B, D), (_, N) = self.axis, blocks, wrench
        b, d = [B[i][k] for i in range(3)], [D[i][k] for i in range(3)]
        u = tau[self.v] + N[k]
        if self.v in armature:
            return self._eliminate(d[k] + armature[self.v], b, d, u, blocks, wrench, zero=((), ()))
        return self._eliminate(d[k], b, d, u, blocks, wrench, zero=((), (k,)))

    def blocks_to_placement(self, R: Array, q: Array, A: Block, B: Block, D: Block) -> Blocks:
        i, j = others(self.axis)
        axis, cos, sin = self.axis, R[i, i], R[j, i]
        return turned(A, axis, cos, sin), turned_general(B, axis, cos, sin), turned(D, axis, cos, sin)

    def solve(self, eliminated: Elimination | None, a: Array, alpha: Array) -> Solved:
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

    def speed(self, v: Array) -> Array:
        return self.e * v[self.v]

    def bias(self, q: Array, v: Array, omega: Array, a: Array) -> Rates:
        offset = self.offset(q)
        return omega, a + 2 * cross(omega, self.e * v[self.v]) + cross(omega, cross(omega, offset)), 0.0 * omega

    def eliminate(self, tau: Array, blocks: Blocks, wrench: ForceMoment, armature: Armature) -> Eliminated:
        k, (A, B, _), (F, _) = self.axis, blocks, wrench
        b, d = [A[i][k] for i in range(3)], [B[k][i] for i in range(3)]
        u = tau[self.v] + F[k]
        if self.v in armature:
            return self._eliminate(b[k] + armature[self.v], b, d, u, blocks, wrench, zero=((), ()))
        return self._eliminate(b[k], b, d, u, blocks, wrench, zero=((k,), ()))

    def blocks_to_placement(self, R: Array, q: Array, A: Block, B: Block, D: Block) -> Blocks:
        return A, *shifted(A, B, D, self.offset(q))

    def moment_to_placement(self, q: Array, F: Array, N: Array) -> Array:
        return N + cross(self.offset(q), F)

    def carry(self, q: Array, a: Array, alpha: Array) -> Array:
        return a + cross(alpha, self.offset(q))

    def solve(self, eliminated: Elimination | None, a: Array, alpha: Array) -> Solved:
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

    def bias(self, q: Array, v: Array, omega: Array, a: Array) -> Rates:
        spin = self._rates(v)
        return omega + spin, a, cross(omega, spin)

    def eliminate(self, tau: Array, blocks: Blocks, wrench: ForceMoment, armature: Armature) -> Eliminated:
        """U is D, so that of M* only A remains, and of Q* the moment -tau.

        With an armature I, U = D + I E: of B remains I B U^-1, of D remains I (E - I U^-1).
        """
        (A, B, D), (F, N) = blocks, wrench
        rotor = armature.get(self.v)
        if rotor is not None:
            D = added(D, symmetric({(i, i): rotor for i in range(3)}), True)
        U_inverse = inverse(D)
        u = self._rates(tau) + N
        BU = [[sum(B[i][k] * U_inverse[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
        upper = [(i, j) for i in range(3) for j in range(i, 3)]
        A_new = symmetric({(i, j): A[i][j] - sum(BU[i][k] * B[j][k] for k in range(3)) for i, j in upper})
        if rotor is None:
            none = symmetric({})
            return Elimination(U_inverse, BU, None, u), (A_new, none, none), (F - times(BU, u), -self._rates(tau))
        UD = symmetric({(i, j): (1.0 if i == j else 0.0) - rotor * U_inverse[i][j] for i, j in upper})
        B_new = [[rotor * x for x in row] for row in BU]
        D_new = symmetric({(i, j): rotor * UD[i][j] for i, j in upper})
        wrench = F - times(BU, u), rotor * times(U_inverse, u) - self._rates(tau)
        return Elimination(U_inverse, BU, UD, u), (A_new, B_new, D_new), wrench

    def relieve(self, eliminated: Elimination | None, F: Array, N: Array) -> Relieved:
        assert eliminated is not None
        h, g = N, times(eliminated.U_inverse, N)
        N_new = 0.0 * N if eliminated.d is None else N - transposed_times(eliminated.d, N)
        return [h[i] for i in range(3)], [g[i] for i in range(3)], (F - times(eliminated.b, h), N_new)

    def blocks_to_placement(self, R: Array, q: Array, A: Block, B: Block, D: Block) -> Blocks:
        if all(isinstance(x, float) and x == 0.0 for X in (B, D) for row in X for x in row):
            return rotated(A, R), B, D
        return rotated(A, R), rotated_general(B, R), rotated(D, R)

    def solve(self, eliminated: Elimination | None, a: Array, alpha: Array) -> Solved:
        assert eliminated is not None
        known = alpha if eliminated.d is None else times(eliminated.d, alpha)
        omegad = times(eliminated.U_inverse, eliminated.u) - transposed_times(eliminated.b, a) - known
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
