"""Exoskeletons in states that several tests begin with."""

from __future__ import annotations

import numpy as np

from mechfmu import Exoskeleton
from mechfmu.mechanisms.exoskeleton.kinematics import link_points

A_FRAME = {
    "hip.stiffness[1]": 1500.0,
    "hip.stiffness[2]": 1500.0,
    "hip.damping[1]": 40.0,
    "hip.damping[2]": 40.0,
    "hip.rest_angle[1]": -0.25,
    "hip.rest_angle[2]": 0.25,
}  # springs at the hips that hold the default posture


def everything_acts(
    m: Exoskeleton, seed: int, pinned: tuple[int, int]
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A random state with random parameters and inputs; pinned feet stand still where they are."""
    random, n = np.random.default_rng(seed), m.limbs.n
    t, x, d, u, p = m.start()
    X, D, P = m.table.x(x), m.table.d(d), m.table.p(p)
    X.phi, X.l = X.phi + random.uniform(-0.4, 0.4, n), X.l * random.uniform(0.9, 1.1, n)
    X.vx, X.vy, X.w, X.ld = (
        random.uniform(-1, 1),
        random.uniform(-1, 1),
        random.uniform(-2, 2, n),
        random.uniform(-0.5, 0.5, n),
    )
    P.k_h, P.d_h, P.rest_h = (
        P.k_h + random.uniform(0, 90, len(P.k_h)),
        P.d_h + random.uniform(0, 9, len(P.d_h)),
        P.rest_h + 0.2,
    )
    P.k_H, P.d_H = P.k_H + random.uniform(0, 90, 2), P.d_H + random.uniform(0, 9, 2)
    p = m.table.p.pack(**vars(P))
    x = m.table.x.pack(**vars(X))
    if m.configuration.contact in ("automatic", "pinned"):
        place = link_points(m.limbs, m.table.x(x), P)
        D.pinned = np.array(pinned, dtype=float)
        D.ax, D.ay = (np.array([place.foot(m.limbs, b)[i] for b in range(2)]) for i in range(2))
        d = m.table.d.pack(**vars(D))
        x = np.asarray(m.project(x, d, p))
    U = m.table.u(u)
    U.M, U.MH, U.Fa = random.uniform(-50, 50, n - 1), random.uniform(-50, 50, 2), random.uniform(-300, 300, n)
    if m.options["inertia"] == "prescribed":
        U.I, U.Id = random.uniform(0.2, 2, n), random.uniform(-0.5, 0.5, n)
    if m.configuration.prescribed:
        U.ldd_in = random.uniform(-3, 3, n)
    if m.configuration.contact == "external":
        U.Fx, U.Fy = random.uniform(-300, 300, 2), random.uniform(-300, 800, 2)
    return t, x, d, m.table.u.pack(**vars(U)), p
