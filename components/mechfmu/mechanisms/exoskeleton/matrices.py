"""The exoskeleton's equations in matrix form, for any number of links: the form to read (recursion.py: to run).

    A q'' + B q'^2 + g C + 2 D (l' q') + E l'' + I' q' = F                                          (25')
    G q'' + H q'^2 + g K + 2 L (l' q') + P l''         = S                                          (26')

q = (x, y, phi_1..phi_n). Every vector has n + 2 entries: q'^2 = (x'^2, y'^2, phi_i'^2), (l' q') = (0, 0, l_i' phi_i'),
I' q' = (0, 0, Iext_i' phi_i'), l'' = (0, 0, l_i''). Rows and columns of x and y come first; entries that are not in the
table below are zero, so the first two rows of (26') are empty.

    mu_i = m_i c_i   + masses beyond i         nu_i = m_i c_i^2 + masses beyond i         M = all masses
    w_ij = nu_i (i = j), mu of the outer one (same branch), 0 (different branches)
    wr = w + diag(jr),  wa = w + diag(ja)

           row x                       row y                       row i, column j             s_ij = sin(phi_i - phi_j)
    A      M;  -sigma_i mu_i l_i S_i   M;  sigma_i mu_i l_i C_i    delta_ij Iext_i + wr_ij l_i l_j c_ij; A symmetric
    B      -sigma_i mu_i l_i C_i       -sigma_i mu_i l_i S_i       w_ij l_i l_j s_ij
    C      0                           M                           sigma_i mu_i l_i C_i        (a column)
    D      -sigma_i mu_i S_i           sigma_i mu_i C_i            wr_ij l_i c_ij
    E      sigma_i mu_i C_i            sigma_i mu_i S_i            -w_ij l_i s_ij
    G      the transpose of E
    H                                                              -wr_ij l_j c_ij
    K                                                              sigma_i mu_i S_i            (a column)
    L                                                              w_ij s_ij
    P                                                              wa_ij c_ij

Right-hand sides, with R_b the reaction on the foot of leg b, which acts on every link of that leg, and an external
force Q on the hip, if any:

    F_x, F_y = sum of the R_b + Q     F_i = tau_i + sigma_i l_i t_i . R_b
    S_i      = -k_i (l_i - l0_i) - d_i l_i' + Fa_i + sigma_i u_i . R_b
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .topology import Limbs


class Links(NamedTuple):
    """The constants of the links, one number each."""

    m: np.ndarray
    n: np.ndarray  # fraction of the length from the lower end to the mass centre
    l0: np.ndarray
    k: np.ndarray
    d: np.ndarray
    jr: np.ndarray  # inertia of rotation over length squared
    ja: np.ndarray  # axial inertia


class State(NamedTuple):
    q: np.ndarray  # (x, y, phi_1..phi_n)
    qd: np.ndarray
    l: np.ndarray
    ld: np.ndarray


class Loads(NamedTuple):
    tau: np.ndarray  # (n,) sum of the hinge moments on each link
    Fa: np.ndarray  # (n,) axial actuators, positive: lengthening
    R: np.ndarray  # (2, 2) forces on the feet
    I: np.ndarray  # (n,) Iext
    Id: np.ndarray  # (n,) its rate
    push: tuple[float, float] = (0.0, 0.0)  # force on the hip from outside


class Matrices(NamedTuple):
    """The matrices and columns of (25') and (26') under the paper's names, and the two right-hand sides."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    E: np.ndarray
    G: np.ndarray
    H: np.ndarray
    K: np.ndarray
    L: np.ndarray
    P: np.ndarray
    F: np.ndarray
    S: np.ndarray


def matrices(limbs: Limbs, links: Links, state: State, loads: Loads) -> Matrices:
    n, sigma, c = limbs.n, limbs.sigma, limbs.c(links.n)
    mu, w = _masses(limbs, links.m, c)
    wr, wa = w + np.diag(links.jr), w + np.diag(links.ja)
    total = np.sum(links.m)
    phi, l, ld = state.q[2:], state.l, state.ld
    S, C = np.sin(phi), np.cos(phi)
    s, c_ = np.sin(np.subtract.outer(phi, phi)), np.cos(np.subtract.outer(phi, phi))
    u, t = np.stack([C, S]), np.stack([-S, C])

    def bordered(x: np.ndarray, y: np.ndarray, inner: np.ndarray) -> np.ndarray:
        """The (n+2) x (n+2) matrix with rows x and y and the n x n rest."""
        return np.block([[np.zeros((2, 2)), np.stack([x, y])], [np.zeros((n, 2)), inner]])

    l_row, l_column = l.reshape(1, n), l.reshape(n, 1)
    A = bordered(-sigma * mu * l * S, sigma * mu * l * C, np.diag(loads.I) + wr * l_column * l_row * c_)
    A[:2, :2] = total * np.eye(2)
    A[2:, :2] = A[:2, 2:].T
    E = bordered(sigma * mu * C, sigma * mu * S, -w * l_column * s)
    R = np.zeros((2, n))  # the reaction on the foot of each link's own leg; none for the body
    for leg, force in zip(limbs.legs, loads.R, strict=True):
        R[:, list(leg)] = np.reshape(force, (2, 1))
    spring = -links.k * (l - links.l0) - links.d * ld + loads.Fa
    return Matrices(
        A=A,
        B=bordered(-sigma * mu * l * C, -sigma * mu * l * S, w * l_column * l_row * s),
        C=np.concatenate([[0.0, total], sigma * mu * l * C]),
        D=bordered(-sigma * mu * S, sigma * mu * C, wr * l_column * c_),
        E=E,
        G=E.T,
        H=bordered(0 * l, 0 * l, -wr * l_row * c_),
        K=np.concatenate([[0.0, 0.0], sigma * mu * S]),
        L=bordered(0 * l, 0 * l, w * s),
        P=bordered(0 * l, 0 * l, wa * c_),
        F=np.concatenate([np.sum(loads.R, axis=0) + loads.push, loads.tau + sigma * l * np.sum(t * R, axis=0)]),
        S=np.concatenate([[0.0, 0.0], spring + sigma * np.sum(u * R, axis=0)]),
    )


def _masses(limbs: Limbs, m: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first mass moments mu_i and the second ones w_ij, divided by the lengths."""
    mu, w = np.zeros(limbs.n), np.zeros((limbs.n, limbs.n))
    for branch in limbs.branches:
        beyond = 0.0
        for position in reversed(range(len(branch))):
            i = branch[position]
            mu[i] = m[i] * c[i] + beyond
            w[i, i] = m[i] * c[i] ** 2 + beyond
            for j in branch[:position]:  # i is the outer one of the two
                w[i, j] = w[j, i] = mu[i]
            beyond += m[i]
    return mu, w


def system(matrices: Matrices, state: State, Id: np.ndarray, g: float) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix and force of (25'), (26') for the unknowns (q'', l''), without the empty rows and columns."""
    m = matrices
    pad = np.zeros(2)
    squares = state.qd**2
    mixed = np.concatenate([pad, state.ld * state.qd[2:]])
    inertia = np.concatenate([pad, Id * state.qd[2:]])
    mass = np.block([[m.A, m.E[:, 2:]], [m.G[2:, :], m.P[2:, 2:]]])
    force = np.concatenate(
        [
            m.F - m.B @ squares - g * m.C - 2 * m.D @ mixed - inertia,
            (m.S - m.H @ squares - g * m.K - 2 * m.L @ mixed)[2:],
        ]
    )
    return mass, force


def foot_jacobian(limbs: Limbs, foot: int, state: State) -> tuple[np.ndarray, np.ndarray]:
    """J of one foot (0 or 1): its velocity is J (q', l'); and J' (q', l')."""
    n, phi, l = limbs.n, state.q[2:], state.l
    u, t = np.stack([np.cos(phi), np.sin(phi)]), np.stack([-np.sin(phi), np.cos(phi)])
    leg, J = list(limbs.legs[foot]), np.zeros((2, 2 * n + 2))
    sigma = limbs.sigma
    J[:, :2] = np.eye(2)
    J[:, [2 + i for i in leg]] = (sigma * l * t)[:, leg]
    J[:, [2 + n + i for i in leg]] = (sigma * u)[:, leg]
    rate = sigma * (-l * state.qd[2:] ** 2 * u + 2 * state.ld * state.qd[2:] * t)
    return J, np.sum(rate[:, leg], axis=1)
