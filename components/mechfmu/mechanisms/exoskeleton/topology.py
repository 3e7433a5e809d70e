"""The topology of an exoskeleton: two legs and a body of rods that meet at the hip, and how they are numbered.

                 o  head                 links 1..k        leg 1, from the foot to the hip
                 |  n                    links k+1..k+p    leg 2, from the hip to the foot
                 |                       links k+p+1..n    body, from the hip upwards
                 |  k+p+1
            hip  o  (x, y)               phi_i  absolute angle of link i, counter-clockwise from the horizontal
           k   /   \\  k+1               u_i = (cos, sin), from foot to hip in the legs, from hip to head in the body
              o     o                    t_i = (-sin, cos)
             /       \\
         1  o         o  k+p             sigma_i = -1 in the legs, +1 in the body
          foot 1     foot 2              c_i     = 1 - n_i in the legs, n_i in the body

With sigma and c, one set of formulas serves legs and body: the vector from the end of a link at the hip's side
(proximal) to its other end (distal) is sigma_i l_i u_i, and the mass centre lies at the fraction c_i of it. n_i counts
from the lower end of the link.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Array = Any


@dataclass(frozen=True)
class Limbs:
    """k, p, r: the numbers of links in leg 1, leg 2 and the body. Link numbers count from 0 here."""

    k: int
    p: int
    r: int

    @property
    def n(self) -> int:
        return self.k + self.p + self.r

    @cached_property
    def branches(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The links of leg 1, leg 2 and the body, each from the hip outwards."""
        return (
            tuple(reversed(range(self.k))),
            tuple(range(self.k, self.k + self.p)),
            tuple(range(self.k + self.p, self.n)),
        )

    @property
    def legs(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.branches[:2]

    @property
    def shanks(self) -> tuple[int, int]:
        """The links that stand on the ground; their hinge moments are the ankles'."""
        return 0, self.k + self.p - 1

    @cached_property
    def sigma(self) -> np.ndarray:
        return np.array([-1.0] * (self.k + self.p) + [1.0] * self.r)

    def c(self, n_fraction: Array) -> Array:
        """Fraction of the way from the proximal to the distal end at which the mass centre lies."""
        return (1 - self.sigma) / 2 + self.sigma * n_fraction

    @cached_property
    def inner_hinges(self) -> tuple[int, ...]:
        """Links whose hinge moment acts between two links: all but the shanks (ankles) and the first of the body."""
        return tuple(i for i in range(self.n) if i not in (*self.shanks, self.k + self.p))

    def lower_and_upper(self, i: int) -> tuple[int | None, int]:
        """The two links between which M_i acts, + on the lower and - on the upper; None is the ground."""
        leg_1, leg_2 = i < self.k, self.k <= i < self.k + self.p
        lower = i - 1 if leg_1 or not leg_2 else i + 1
        return (None if i in self.shanks else lower), i

    def moments(self, M: Array, MH: Array) -> list[Array]:
        """tau_i, the sum of the hinge moments on each link: +M on the lower and -M on the upper link of every hinge."""
        k, first = self.k, self.k + self.p
        tau = [0.0 * MH[0] for _ in range(self.n)]
        for i in range(self.n):
            if i == first:
                continue
            lower, upper = self.lower_and_upper(i)
            tau[upper] = tau[upper] - M[i]
            if lower is not None:
                tau[lower] = tau[lower] + M[i]
        for leg, link in enumerate((k - 1, k)):
            tau[link] = tau[link] + MH[leg]
            tau[first] = tau[first] - MH[leg]
        return tau
