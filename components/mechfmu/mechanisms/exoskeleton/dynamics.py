"""Forces and accelerations of the exoskeleton in its present phase, and its energy.

The functions take the parts of the table under their symbols: states X, discrete states D, inputs U, parameters P.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from .blocks import Vector, plus
from .configuration import Configuration
from .contact import Support, solve, support
from .kinematics import LinkPoints, Totals, link_points, totals
from .recursion import (
    Accelerations,
    FootMobility,
    InwardSweep,
    LinkForces,
    LinkStates,
    foot_force_response,
    foot_mobility,
    internal_forces,
    inward_sweep,
    outward_sweep,
)
from .topology import Limbs

Array = Any


class InternalLoads(NamedTuple):
    """Forces and moments inside the mechanism, apart from the ankles."""

    spring: Array  # along the links
    M: list[Array]  # hinge moments, springs and dampers included
    MH: Array
    loss: Array  # power


class Posture(NamedTuple):
    """Links without forces on them, swept inward, and the mobility of the feet."""

    links: LinkStates
    sweep: InwardSweep
    mobility: FootMobility
    points: LinkPoints


class Stance(NamedTuple):
    """Links with all forces on them, swept inward, and the ground's forces on pinned feet."""

    links: LinkStates
    sweep: InwardSweep
    internal: InternalLoads
    ground: Support
    mobility: FootMobility
    points: LinkPoints


def changed(part: Any, **values: Any) -> SimpleNamespace:
    """A copy of a part of the table with some symbols replaced."""
    return SimpleNamespace(**{**vars(part), **values})


# --- accelerations ----------------------------------------------------------------------------------------------------


def dynamics(
    config: Configuration, X: Any, D: Any, U: Any, P: Any
) -> tuple[InternalLoads, Support, Accelerations, LinkPoints]:
    """Forces and accelerations in the present phase."""
    if config.grounded:
        links, sweep, internal, ground, _, points = stance(config, X, D, U, P)
    else:
        links, sweep, internal = _without_feet(config, X, U, P)
        ground, points = _given_support(config, U), link_points(config.limbs, X, P)
    at_feet = () if config.contact == "flight" else (ground.R, ground.ankles)
    return internal, ground, outward_sweep(config.limbs, links, sweep, P.gravity, *at_feet), points


def _without_feet(config: Configuration, X: Any, U: Any, P: Any) -> tuple[LinkStates, InwardSweep, InternalLoads]:
    """The inward sweep with all forces except those on the feet."""
    I, I_rate = inertia(config, U, P)
    links = links_of(config, X, P, I, _given_length_acceleration(config, X, U, P))
    internal = _internal_loads(config, X, U, P)
    tau = config.limbs.moments(internal.M, internal.MH)
    sweep = inward_sweep(config.limbs, links, internal_forces(config.limbs, links, internal.spring, tau, I_rate))
    if config.pushed:
        sweep = sweep._replace(bc=plus(sweep.bc, (U.push_x, U.push_y)))
    return links, sweep, internal


def _given_support(config: Configuration, U: Any) -> Support:
    """Feet that are never pinned: forces from inputs, or none."""
    if config.contact == "external":
        return Support(((U.Fx[0], U.Fy[0]), (U.Fx[1], U.Fy[1])), _ankle_inputs(config.limbs, U))
    zero = 0.0 * U.MH[0]
    return Support(((zero, zero), (zero, zero)), (zero, zero))


def stance(config: Configuration, X: Any, D: Any, U: Any, P: Any) -> Stance:
    """Reactions and ankle moments of pinned feet: their accelerations vanish, or bring them back to their anchors."""
    limbs = config.limbs
    points = link_points(config.limbs, X, P)
    links, sweep, internal = _without_feet(config, X, U, P)
    mobility = foot_mobility(limbs, links, sweep, P.gravity)
    a_wanted: list[Vector] = []
    for b in range(2):
        at, v = points.foot(limbs, b), points.foot_velocity(limbs, b)
        off = (at[0] - D.ax[b], at[1] - D.ay[b])
        # (4) of contact.py, s = P.stab
        a_wanted.append((-2 * P.stab * v[0] - P.stab**2 * off[0], -2 * P.stab * v[1] - P.stab**2 * off[1]))
    half_length = P.a_foot if config.contact == "automatic" else None
    ground = support(mobility, [D.pinned[b] for b in range(2)], a_wanted, _ankle_inputs(limbs, U), half_length)
    return Stance(links, sweep, internal, ground, mobility, points)


def posture(config: Configuration, X: Any, P: Any) -> Posture:
    """The mobility of the feet in a state; it does not depend on the forces."""
    links, sweep = sweep_without_forces(config, X, P, P.I0)
    return Posture(links, sweep, foot_mobility(config.limbs, links, sweep, P.gravity), link_points(config.limbs, X, P))


def sweep_without_forces(config: Configuration, X: Any, P: Any, I: Array) -> tuple[LinkStates, InwardSweep]:
    """The inward sweep of the inertia alone; I: Iext."""
    links = links_of(config, X, P, I)
    return links, inward_sweep(config.limbs, links, LinkForces(0.0 * links.l, 0.0 * links.l))


def project_onto_pins(config: Configuration, X: Any, D: Any, P: Any, on: list[Array], rounds: int) -> SimpleNamespace:
    """The states closest to X, measured by the mass matrix, in which the feet that are `on` rest at their anchors.

    The velocities are corrected with the mobility before the last correction of the positions, which is as good.
    """
    limbs = config.limbs
    for _ in range(rounds):
        links, sweep, mobility, points = posture(config, X, P)
        at = [points.foot(limbs, b) for b in range(2)]
        impulses = solve(mobility.Om, on, [(D.ax[b] - at[b][0], D.ay[b] - at[b][1]) for b in range(2)])
        added = foot_force_response(limbs, links, sweep, impulses)
        X = changed(X, x=X.x + added.x, y=X.y + added.y, phi=X.phi + added.phi, l=X.l + added.l)
    points = link_points(limbs, X, P)
    v = [points.foot_velocity(limbs, b) for b in range(2)]
    impulses = solve(mobility.Om, on, [(-v[b][0], -v[b][1]) for b in range(2)])
    return add_velocity(X, foot_force_response(limbs, links, sweep, impulses))


def add_velocity(X: Any, added: Accelerations) -> SimpleNamespace:
    return changed(X, vx=X.vx + added.x, vy=X.vy + added.y, w=X.w + added.phi, ld=X.ld + added.l)


# --- links ------------------------------------------------------------------------------------------------------------


def links_of(config: Configuration, X: Any, P: Any, I: Array, ldd: Array | None = None) -> LinkStates:
    """I: Iext; ldd: the given l'' of links with a fixed length, 0 by default."""
    return LinkStates(
        m=P.m,
        c=config.limbs.c(P.n),
        jr=jr(config, P),
        ja=P.ja,
        cos=np.cos(X.phi),
        sin=np.sin(X.phi),
        w=X.w,
        l=X.l,
        ld=X.ld,
        I=I,
        fixed=np.maximum(P.locked, P.given) if config.prescribed else P.locked,
        ldd=0.0 * X.l if ldd is None else ldd,
    )


def inertia(config: Configuration, U: Any, P: Any) -> tuple[Array, Array]:
    """Iext and its rate."""
    if config.inertia == "prescribed":
        given = U.I > 0.0
        return np.where(given, U.I, P.I0), np.where(given, U.Id, 0.0)
    return (P.I0 if config.inertia == "constant" else 0.0 * P.I0), 0.0 * P.I0


def jr(config: Configuration, P: Any) -> Array:
    """Inertia of rotation over length squared."""
    return P.I0 / P.l0**2 if config.inertia == "length" else 0.0 * P.I0


def _given_length_acceleration(config: Configuration, X: Any, U: Any, P: Any) -> Array:
    """l'' of the links with a fixed length: 0 for locked ones."""
    if not config.prescribed:
        return 0.0 * X.l
    wanted = np.where(U.l_in > 0.0, U.l_in, P.l0)
    follow = U.ldd_in + 2 * P.pace * (U.ld_in - X.ld) + P.pace**2 * (wanted - X.l)
    return np.where(P.locked > 0, 0.0, follow)


# --- hinges -----------------------------------------------------------------------------------------------------------


def hinge_differences(limbs: Limbs, of_links: Array) -> Array:
    """Lower minus upper link, of angles or rates, in every inner hinge."""
    pairs = [limbs.lower_and_upper(i) for i in limbs.inner_hinges]
    return np.stack([of_links[lower] - of_links[upper] for lower, upper in pairs]) if pairs else np.zeros(0)


def hip_differences(limbs: Limbs, of_links: Array) -> Array:
    """Leg minus body, of angles or rates, at both hips."""
    k, first = limbs.k, limbs.k + limbs.p
    return np.stack([of_links[k - 1] - of_links[first], of_links[k] - of_links[first]])


def _internal_loads(config: Configuration, X: Any, U: Any, P: Any) -> InternalLoads:
    """Springs, dampers and actuators along the links and in the hinges."""
    limbs = config.limbs
    h, hd = hinge_differences(limbs, X.phi), hinge_differences(limbs, X.w)
    H, Hd = hip_differences(limbs, X.phi), hip_differences(limbs, X.w)
    M = [0.0 * X.x] * limbs.n
    for j, i in enumerate(limbs.inner_hinges):
        M[i] = U.M[_moment_index(limbs, i)] - P.k_h[j] * (h[j] - P.rest_h[j]) - P.d_h[j] * hd[j]
    MH = U.MH - P.k_H * (H - P.rest_H) - P.d_H * Hd
    loss = np.sum(P.d_H * Hd**2) + (np.sum(P.d_h * hd**2) if limbs.inner_hinges else 0.0)
    return InternalLoads(-P.k * (X.l - P.l0) - P.d * X.ld + U.Fa, M, MH, loss)


def _moment_index(limbs: Limbs, i: int) -> int:
    """The position of M_i among the inputs: the first link of the body has none."""
    return i if i < limbs.k + limbs.p else i - 1


def _ankle_inputs(limbs: Limbs, U: Any) -> tuple[Array, Array]:
    first, second = limbs.shanks
    return U.M[_moment_index(limbs, first)], U.M[_moment_index(limbs, second)]


def with_ankles(limbs: Limbs, M: list[Array], ankles: tuple[Array, Array]) -> list[Array]:
    """Hinge moments with those of the ankles in their positions."""
    of_shank = dict(zip(limbs.shanks, ankles, strict=True))
    return [of_shank.get(i, M_i) for i, M_i in enumerate(M)]


def moment_power(limbs: Limbs, X: Any, U: Any, ankles: tuple[Array, Array]) -> Array:
    """M (phi_lower' - phi_upper'), summed over all hinges; phi' of the ground is 0."""
    shanks, inner = limbs.shanks, limbs.inner_hinges
    power = np.sum(U.MH * hip_differences(limbs, X.w)) - ankles[0] * X.w[shanks[0]] - ankles[1] * X.w[shanks[1]]
    M = [U.M[_moment_index(limbs, i)] for i in inner]
    return power + (np.sum(np.stack(M) * hinge_differences(limbs, X.w)) if inner else 0.0)


# --- energy -----------------------------------------------------------------------------------------------------------


def totals_of(config: Configuration, X: Any, P: Any, I: Array, points: LinkPoints) -> Totals:
    return totals(points, X, P, I + jr(config, P) * X.l**2)


def energy(config: Configuration, X: Any, P: Any, I: Array) -> Array:
    """Kinetic and potential energy, that of the hinge springs included."""
    total = totals_of(config, X, P, I, link_points(config.limbs, X, P))
    return total.kinetic + total.potential + hinge_energy(config.limbs, X, P)


def hinge_energy(limbs: Limbs, X: Any, P: Any) -> Array:
    """Energy of the springs in the hinges."""
    stored = 0.5 * np.sum(P.k_H * (hip_differences(limbs, X.phi) - P.rest_H) ** 2)
    turned = hinge_differences(limbs, X.phi) - P.rest_h
    return stored + (0.5 * np.sum(P.k_h * turned**2) if limbs.inner_hinges else 0.0)
