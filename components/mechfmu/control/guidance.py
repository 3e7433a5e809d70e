"""Guidance fields: the way to a moving target, around moving and rotating elliptical obstacles.

F(x, t) is the desired velocity of the point. It is twice continuously differentiable, because a
controller differentiates it twice.

    general structure   x' = P + Q (f_x2, -f_x1) - grad f  f_t/|grad f|^2 ,   f = f_1 f_2 ...                 (1)

carries every curve f_i = 0 along when P vanishes on it: P is the free part, Q slides along level curves, the last term
is the normal velocity of the moving curve. `safe_field` keeps this structure, with only the obstacles' boundaries as
such curves; `article_field` is the field the method was published with, kept to show its behaviour: it also makes two
lines through the target invariant, and fails as described there.

Everything is written in components, so that a number can be an array over many scenarios, a symbol or a jet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = Any

# floor of what must not vanish: the weights' denominator where two boundaries touch, distances at
# an obstacle's centre, semi-axes
TINY = 1e-12
FAR = 1e6  # m, distance of an inactive obstacle


class Target(NamedTuple):
    """Position and velocity of the target."""

    x: Array
    y: Array
    vx: Array
    vy: Array


class Obstacle(NamedTuple):
    """An ellipse."""

    x: Array  # centre
    y: Array
    vx: Array  # velocity of the centre
    vy: Array
    angle: Array  # of the axis a
    rate: Array  # of rotation
    a: Array  # semi-axes
    b: Array
    side: Array  # to swerve to: +1 left, -1 right
    active: Array = 1.0  # 0: there is no obstacle

    def after(self, tau: Array) -> Obstacle:
        """The obstacle a time tau later."""
        return self._replace(x=tau * self.vx + self.x, y=tau * self.vy + self.y, angle=tau * self.rate + self.angle)


class Guidance(NamedTuple):
    """Parameters of the safe field."""

    K: Array  # 1/s, gain near the target
    vc: Array  # m/s, cruise speed
    d: Array  # m, influence distance of an obstacle
    eps: Array  # m/s, smoothing
    beta: Array  # swirl
    kout: Array  # 1/s, push-out gain inside an obstacle


class Proximity(NamedTuple):
    """Distance and directions between a point and an obstacle."""

    delta: Array  # first-order distance to the boundary: > 0 outside, 0 on it, < 0 inside
    n: tuple[Array, Array]  # outward normal
    r: tuple[Array, Array]  # direction from the centre
    V: tuple[Array, Array]  # velocity of the obstacle's material at the point


def present(obstacle: Obstacle) -> Obstacle:
    """The obstacle if it is there.

    If it is switched off or a semi-axis is 0: a circle far away that is switched off, whatever its other numbers are.
    """
    there = np.minimum(np.minimum(obstacle.a, obstacle.b), obstacle.active) > TINY
    absent = Obstacle(FAR, FAR, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0)
    return Obstacle(*(np.where(there, value, otherwise) for value, otherwise in zip(obstacle, absent, strict=True)))


def inflated(obstacle: Obstacle, footprint: Array) -> Obstacle:
    """The ellipse that contains every point nearer than `footprint` to the obstacle.

    a'^2 = (1 + R/b0)(a^2 + b0 R) and likewise b', for any b0 > 0; here b0 = sqrt(a b)                             (2)

    Adding R to both semi-axes is not enough: that ellipse lies inside the curve at distance R.
    """
    b0 = np.sqrt(obstacle.a * obstacle.b)
    grown = 1.0 + footprint / b0
    a, b = (np.sqrt(grown * (axis**2 + b0 * footprint)) for axis in (obstacle.a, obstacle.b))
    return obstacle._replace(a=a, b=b)


def proximity(x: Array, y: Array, o: Obstacle) -> Proximity:
    """Distance and directions from an obstacle to a point.

    X = Rot^T (x - c) ,  g = (X1/a^2, X2/b^2) ,  rho = sqrt(X . g) ,  delta = rho (rho - 1)/|g| ,  n = Rot g/|g|    (3)
    """
    dx, dy = x - o.x, y - o.y
    c, s = np.cos(o.angle), np.sin(o.angle)
    X1, X2 = c * dx + s * dy, c * dy - s * dx
    g1, g2 = X1 / (o.a * o.a), X2 / (o.b * o.b)
    rho = np.sqrt(np.maximum(X1 * g1 + X2 * g2, TINY**2))
    g = np.sqrt(np.maximum(g1 * g1 + g2 * g2, TINY**2))
    distance = np.sqrt(np.maximum(dx * dx + dy * dy, TINY**2))
    n = ((c * g1 - s * g2) / g, (s * g1 + c * g2) / g)
    V = (o.vx - o.rate * dy, o.vy + o.rate * dx)
    return Proximity(rho * (rho - 1.0) / g, n, (dx / distance, dy / distance), V)


def distances(x: Array, y: Array, obstacles: list[Obstacle]) -> list[Array]:
    """First-order distances to the boundaries; FAR for inactive obstacles."""
    return [np.where(o.active > 0.5, proximity(x, y, o).delta, FAR) for o in obstacles]


def smooth_step(z: Array) -> Array:
    """From 0 (z <= 0) to 1 (z >= 1), three times continuously differentiable."""
    z = np.minimum(np.maximum(z, 0.0), 1.0)
    return z**4 * (35.0 - 84.0 * z + 70.0 * z**2 - 20.0 * z**3)


def _product(factors: list[Array]) -> Array:
    result: Array = 1.0
    for factor in factors:
        result = factor * result
    return result


def _others(values: list[Array], i: int) -> list[Array]:
    return values[:i] + values[i + 1 :]


def weights(s: list[Array]) -> list[Array]:
    """Weights of the obstacles: 1 on boundary i, s_i^2 for a single obstacle.

    w_i = s_i^2 prod_{j!=i} (1 - s_j)/D ,  D = prod (1 - s_j) + sum_k s_k prod_{j!=k} (1 - s_j)                    (4)
    """
    away = [1.0 - si for si in s]
    alone = [_product(_others(away, i)) for i in range(len(s))]
    D = _product(away) + sum(si * ai for si, ai in zip(s, alone, strict=True))
    D = np.maximum(D, TINY)
    return [si * si * ai / D for si, ai in zip(s, alone, strict=True)]


def safe_field(x: Array, y: Array, target: Target, obstacles: list[Obstacle], g: Guidance) -> tuple[Array, Array]:
    """The field that never enters an obstacle.

    F = vb + gam [u - sum w_i m_i/(r_i . n_i) (r_i + beta chi_i tau_i)]
    u = u0 - vb ,  u0 = vT - K e/sqrt(1 + K^2 |e|^2/vc^2)                                                          (5)

    vb = sum w_i V_i is the velocity of the obstacles nearby; m_i = (p_i - sqrt(p_i^2 + eps^2))/2 <= min(p_i, 0) the
    approaching part of p_i = u . n_i; gam = 1 - sum w_i (1 - r_i . n_i). On boundary i (F - V_i) . n_i = gam (p_i -
    m_i) > 0: the outside is never left. Approach is taken away along r_i, not n_i: along n_i a flat ellipse in front of
    a near target is a trap. Inside an obstacle the point is pushed out: F += -kout delta_i n_i.
    """
    ex, ey = x - target.x, y - target.y
    pull = g.K / np.sqrt(1.0 + g.K * g.K * (ex * ex + ey * ey) / (g.vc * g.vc))
    ux, uy = target.vx - pull * ex, target.vy - pull * ey
    if not obstacles:
        return ux, uy
    near = [proximity(x, y, o) for o in obstacles]
    w = weights([o.active * smooth_step((g.d - k.delta) / g.d) for o, k in zip(obstacles, near, strict=True)])
    vbx, vby = (sum(wi * k.V[i] for wi, k in zip(w, near, strict=True)) for i in range(2))
    ux, uy = ux - vbx, uy - vby
    gam: Array = 1.0
    correction_x: Array = 0.0
    correction_y: Array = 0.0
    push_x: Array = 0.0
    push_y: Array = 0.0
    for o, k, wi in zip(obstacles, near, w, strict=True):
        (nx, ny), (rx, ry) = k.n, k.r
        p = ux * nx + uy * ny
        approach = 0.5 * (p - np.sqrt(p * p + g.eps * g.eps))
        # the floor is half of the least value of r . n, except at the very centre
        along = np.maximum(rx * nx + ry * ny, o.a * o.b / (o.a * o.a + o.b * o.b))
        gam = gam - wi * (1.0 - along)
        removed, swirl = wi * approach / along, g.beta * o.side
        correction_x = correction_x + removed * (rx - swirl * ny)
        correction_y = correction_y + removed * (ry + swirl * nx)
        out = -g.kout * o.active * np.minimum(k.delta, 0.0)
        push_x, push_y = push_x + out * nx, push_y + out * ny
    return vbx + gam * (ux - correction_x) + push_x, vby + gam * (uy - correction_y) + push_y


def article_field(
    x: Array, y: Array, target: Target, obstacles: list[Obstacle], a: Array, b: Array
) -> tuple[Array, Array]:
    """The published field: (1) with

    f = f1 f2 prod f_i ,  f1, f2 = x - xT ,  f_i = (X1^2/a_i^2 + X2^2/b_i^2 - 1)/2
    Q = -1 ,  P1 = -(a - 1) f1 prod f_i ,  P2 = -(b + 1) f2 prod f_i                                               (6)

    It trails a moving target, cannot cross the lines f1 = 0 and f2 = 0, gets stuck where they meet an obstacle, and its
    speed grows with the fifth power of the distance. Where curves cross, grad f = 0 and the last term of (1) is 0/0; a
    floor keeps it finite, nothing makes it continuous.
    """
    f1, f2 = x - target.x, y - target.y
    values, slopes, rates = [f1, f2], [(1.0, 0.0), (0.0, 1.0)], [-target.vx, -target.vy]
    for o in obstacles:
        dx, dy = x - o.x, y - o.y
        c, s = np.cos(o.angle), np.sin(o.angle)
        X1, X2 = c * dx + s * dy, c * dy - s * dx
        g1, g2 = X1 / (o.a * o.a), X2 / (o.b * o.b)
        gx, gy = c * g1 - s * g2, s * g1 + c * g2
        Vx, Vy = o.vx - o.rate * dy, o.vy + o.rate * dx
        here = o.active
        values.append(here * (0.5 * (X1 * g1 + X2 * g2 - 1.0) - 1.0) + 1.0)  # 1 where there is no obstacle
        slopes.append((here * gx, here * gy))
        rates.append(-(here * (gx * Vx + gy * Vy)))  # a curve that moves with velocity V: f_t = -V . grad f
    rest = [_product(_others(values, i)) for i in range(len(values))]
    fx = sum(q * sx for q, (sx, _) in zip(rest, slopes, strict=True))
    fy = sum(q * sy for q, (_, sy) in zip(rest, slopes, strict=True))
    ft = sum(q * r for q, r in zip(rest, rates, strict=True))
    moving = ft / np.maximum(fx * fx + fy * fy, TINY)
    around = _product(values[2:])
    return -(a - 1.0) * f1 * around - fy - fx * moving, -(b + 1.0) * f2 * around + fx - fy * moving


def separation(o1: Obstacle, o2: Obstacle) -> Array:
    """Positive when two ellipses have no point in common, otherwise not.

    Scaled such that ellipse 1 is the unit circle, ellipse 2 is (y - k)^T E (y - k) = 1. The two are separate
    just when the pencil det(lambda diag(1, 1, -1) + B) = 0, B the conic matrix of ellipse 2, has two
    different positive roots. Here it is

        lambda^3 + b lambda^2 + c lambda + det E = 0
        b = tr E + 1 - k.E k ,   c = det E + |E k|^2 - tr E (k.E k - 1)                                            (7)

    whose product of roots is negative: one root is negative, and the other two are real, different and positive when
    the discriminant is positive and not all coefficients are.
    """
    c1, s1, turn = np.cos(o1.angle), np.sin(o1.angle), o2.angle - o1.angle
    dx, dy = o2.x - o1.x, o2.y - o1.y
    k1, k2 = (c1 * dx + s1 * dy) / o1.a, (c1 * dy - s1 * dx) / o1.b
    c, s = np.cos(turn), np.sin(turn)
    e11 = o1.a * o1.a * (c * c / (o2.a * o2.a) + s * s / (o2.b * o2.b))
    e22 = o1.b * o1.b * (s * s / (o2.a * o2.a) + c * c / (o2.b * o2.b))
    e12 = o1.a * o1.b * c * s * (1.0 / (o2.a * o2.a) - 1.0 / (o2.b * o2.b))
    Ek1, Ek2 = e11 * k1 + e12 * k2, e12 * k1 + e22 * k2
    trace, det, kEk = e11 + e22, e11 * e22 - e12 * e12, k1 * Ek1 + k2 * Ek2
    b, c3 = trace + 1.0 - kEk, det + Ek1 * Ek1 + Ek2 * Ek2 - trace * (kEk - 1.0)
    discriminant = 18.0 * b * c3 * det - 4.0 * b**3 * det + b * b * c3 * c3 - 4.0 * c3**3 - 27.0 * det * det
    return np.where(np.minimum(b, c3) < 0.0, discriminant, -1.0)


def speed_bound(target: Target, obstacles: list[Obstacle], g: Guidance) -> Array:
    """Upper bound of |F|, with the largest speed V of an obstacle:

    V + [(1 + kap)^2/(4 kap) + beta kap](|vT| + vc + V) + kap eps ,   kap = max (a^2 + b^2)/(2 a b)                 (8)

    A rotating obstacle counts as far as its influence reaches, rho = 1 + delta |g| <= 1 + d/min(a, b).
    """
    kap: Array = 1.0
    V: Array = 0.0
    for o in obstacles:
        kap = np.maximum(kap, (o.a**2 + o.b**2) / (2.0 * o.a * o.b))
        reach = np.maximum(o.a, o.b) * (1.0 + g.d / np.minimum(o.a, o.b))
        V = np.maximum(V, o.active * (np.sqrt(o.vx**2 + o.vy**2) + np.abs(o.rate) * reach))
    speed = np.sqrt(target.vx**2 + target.vy**2) + g.vc + V
    return V + ((1.0 + kap) ** 2 / (4.0 * kap) + g.beta * kap) * speed + kap * g.eps


def influence_needed(obstacles: list[Obstacle], vc: Array, acceleration: Array) -> Array:
    """The influence distance with which drives that accelerate a cart by `acceleration` can brake in time.

    2 v_rel^2/a_max ,   v_rel = vc + V                                                                             (9)
    """
    V: Array = 0.0 * vc
    for o in obstacles:
        V = np.maximum(V, o.active * (np.sqrt(o.vx * o.vx + o.vy * o.vy) + np.abs(o.rate) * np.maximum(o.a, o.b)))
    return 2.0 * (vc + V) * (vc + V) / acceleration
