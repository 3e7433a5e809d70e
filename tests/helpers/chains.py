"""Link chains in general position.

Random states, inputs and parameters, and quantities computed from first principles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechfmu import LinkChain


@dataclass
class Case:
    """A chain and one point at which to evaluate it."""

    chain: LinkChain
    x: np.ndarray
    u: np.ndarray
    p: np.ndarray

    @property
    def arguments(self) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return 0.0, self.x, np.zeros(0), self.u, self.p

    def rates(self) -> dict[str, np.ndarray]:
        return vars(self.chain.table.x(self.chain.rates(*self.arguments)))

    def outputs(self) -> dict[str, np.ndarray]:
        return vars(self.chain.table.y(self.chain.outputs(*self.arguments)))

    def set(self, **parts: object) -> Case:
        """The same case with some rows of x, u or p changed, by the symbols of the table."""
        layouts = {"x": self.chain.table.x, "u": self.chain.table.u, "p": self.chain.table.p}
        vectors = {"x": self.x.copy(), "u": self.u.copy(), "p": self.p.copy()}
        for symbol, value in parts.items():
            (role,) = (r for r, layout in layouts.items() if symbol in {row.symbol for row in layout.rows})
            vectors[role][layouts[role].part(symbol)] = value
        return Case(self.chain, **vectors)


def general_parameters(chain: LinkChain, seed: int) -> dict[str, float]:
    """Start values by name that make every term of the equations count.

    Rods that differ, springs, dampers, friction.
    """
    random = np.random.default_rng(seed)
    n = chain.links
    ranges = {
        "link[{k}].length": (0.5 / n, 1.5 / n),
        "link[{k}].com": (0.2 / n, 0.7 / n),
        "link[{k}].mass": (5.0 / n, 15.0 / n),
        "link[{k}].inertia": (0.5 / n**3, 1.5 / n**3),
        "joint[{k}].stiffness": (1.0, 8.0),
        "joint[{k}].rest_angle": (-0.5, 0.5),
        "joint[{k}].damping": (0.02, 0.1),
        "joint[{k}].friction": (0.05, 0.3),
        "joint[{k}].friction_speed": (0.2, 0.5),
        "joint[{k}].angle_start": (-0.8, 0.8),
        "joint[{k}].rate_start": (-1.0, 1.0),
    }
    return {
        name.format(k=k): float(random.uniform(*limits)) for name, limits in ranges.items() for k in range(1, n + 1)
    }


def general_case(n: int, base: str = "fixed", seed: int = 0) -> Case:
    """A random chain in a random state with all inputs on."""
    chain = LinkChain(links=n, base=base)
    _, x, _, u, p = chain.start(general_parameters(chain, seed))
    random = np.random.default_rng(seed + 1)
    return Case(chain, random.uniform(-2.0, 2.0, x.size), random.uniform(-5.0, 5.0, u.size), p)


@dataclass
class Motion:
    """Mass centres and velocities of the rods, written out joint by joint and not by running sums as in the library."""

    x: np.ndarray
    y: np.ndarray
    vx: np.ndarray
    vy: np.ndarray
    w: np.ndarray

    def linear_momentum(self, m: np.ndarray) -> np.ndarray:
        return np.array([np.sum(m * self.vx), np.sum(m * self.vy)])

    def angular_momentum(self, m: np.ndarray, J: np.ndarray) -> complex:
        """About the origin."""
        return np.sum(m * (self.x * self.vy - self.y * self.vx) + J * self.w)


def motion(case: Case, x: np.ndarray | None = None) -> Motion:
    """Follows the chain from the base to the tip; `x` may be complex, for complex-step derivatives."""
    flat = case.x if x is None else x
    s, p = case.chain.table.x(flat), case.chain.table.p(case.p)
    moving = case.chain.moving
    px, py, angle = (s.base_x, s.base_y, s.base_angle) if moving else (0.0, 0.0, 0.0)
    vx, vy, w = (s.base_vx, s.base_vy, s.base_w) if moving else (0.0, 0.0, 0.0)
    found: list[list[complex]] = []
    for k in range(case.chain.links):
        angle, w = angle + s.q[k], w + s.dq[k]
        c, d = np.cos(angle), np.sin(angle)
        found.append([px + p.lc[k] * c, py + p.lc[k] * d, vx - p.lc[k] * d * w, vy + p.lc[k] * c * w, w])
        px, py, vx, vy = px + p.l[k] * c, py + p.l[k] * d, vx - p.l[k] * d * w, vy + p.l[k] * c * w
    return Motion(*np.array(found).T)


def rate_of(function, x: np.ndarray, dx: np.ndarray, step: float = 1e-30) -> np.ndarray:
    """The derivative of function(x) along dx, by a complex step: exact to rounding."""
    return np.imag(function(x + 1j * step * dx)) / step


def off_by(found: object, wanted: object) -> float:
    """The largest difference over the largest wanted value; a NaN counts as infinite."""
    difference = np.max(np.abs(np.asarray(found) - np.asarray(wanted)))
    relative = float(difference / max(float(np.max(np.abs(np.asarray(wanted)))), 1e-300))
    return relative if np.isfinite(relative) else np.inf
