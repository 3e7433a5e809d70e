"""What must hold in every state of every chain: power, momentum, joint moments, mirror symmetry."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.chains import Case, general_case, general_parameters, motion, off_by, rate_of
from helpers.tolerances import ENERGY, IDENTITY, TIGHT
from mechfmu import LinkChain
from mechfmu.mechanisms.link_chain.equations import forward_dynamics

SIZES = (1, 2, 7)
BASES = ("fixed", "moving")
SEEDS = (0, 1, 2)

general = pytest.mark.parametrize(
    "case",
    [
        pytest.param(general_case(n, base, seed), id=f"{base}-n{n}-{seed}")
        for base in BASES
        for n in SIZES
        for seed in SEEDS
    ],
)


def along(case: Case, function) -> np.ndarray:
    """The rate of function(state) along the motion."""
    return rate_of(function, case.x, case.chain.rates(*case.arguments))


@general
def test_power_balance(case: Case) -> None:
    """d(total)/dt = power of the inputs - losses, term by term as the library integrates them."""

    def total(x: np.ndarray) -> np.ndarray:
        return case.chain.table.y(case.chain.outputs(0.0, x, np.zeros(0), case.u, case.p)).total

    rates = case.rates()
    assert rates["loss"] > 0
    scale = np.abs([rates["work"], rates["loss"]]).max()
    assert abs(along(case, total) - (rates["work"] - rates["loss"])) < IDENTITY * scale


@general
def test_energies_from_first_principles(case: Case) -> None:
    p, x, m = case.chain.table.p(case.p), case.chain.table.x(case.x), motion(case)
    kinetic = np.sum(p.m * (m.vx**2 + m.vy**2) + p.J * m.w**2) / 2
    potential = np.sum(p.m * p.gravity * m.y) + np.sum(p.k * (x.q - p.q_ref) ** 2) / 2
    y = case.outputs()
    assert off_by([y["kinetic"], y["potential"], y["total"]], [kinetic, potential, kinetic + potential]) < IDENTITY


@general
def test_the_base_carries_the_change_of_momentum(case: Case) -> None:
    """Newton for the whole chain: reaction in joint 1 + weight + force on the tip = rate of the linear momentum."""
    p, u, y = case.chain.table.p(case.p), case.chain.table.u(case.u), case.outputs()
    force = np.array([y["Rx"][0] + u.tip_fx, y["Ry"][0] + u.tip_fy - np.sum(p.m) * p.gravity])
    assert off_by(force, along(case, lambda x: motion(case, x).linear_momentum(p.m))) < IDENTITY


@general
def test_reactions_hold_every_rod(case: Case) -> None:
    """Newton rod by rod: the reactions at both ends, weight and tip force make the mass times its acceleration."""
    p, u, y = case.chain.table.p(case.p), case.chain.table.u(case.u), case.outputs()
    ax = along(case, lambda x: motion(case, x).vx)
    ay = along(case, lambda x: motion(case, x).vy)
    fx = y["Rx"] - np.append(y["Rx"][1:], -u.tip_fx)
    fy = y["Ry"] - np.append(y["Ry"][1:], -u.tip_fy) - p.m * p.gravity
    assert off_by(np.concatenate([fx, fy]), np.concatenate([p.m * ax, p.m * ay])) < IDENTITY


@pytest.mark.parametrize("n", SIZES)
def test_reactions_turn_every_rod(n: int) -> None:
    """Euler rod by rod: the moments of both reactions about the mass centre and the joint moments make J wd."""
    random = np.random.default_rng(n)
    th = random.uniform(-3, 3, n)
    e = np.stack([np.cos(th), np.sin(th)])
    l, lc, m, J = random.uniform(0.3, 1.0, (4, n))
    tau, tip_force, tip_moment, eps_0 = random.uniform(-5, 5, n), random.uniform(-20, 20, 2), 3.0, 0.7
    a_0, w = random.uniform(-3, 3, 2), random.uniform(-3, 3, n)
    motion = forward_dynamics(e, w, tau, tip_force, tip_moment, a_0, eps_0, l, lc, m, J)
    inner, outer = motion.R, np.vstack([motion.R[1:], -tip_force])
    joint_moments = tau - np.append(tau[1:], -tip_moment)
    about_centre = cross(-lc * e, inner) - cross((l - lc) * e, outer)
    wd = eps_0 + np.cumsum(motion.qdd)
    assert off_by(joint_moments + about_centre, J * wd) < IDENTITY


def cross(arms: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """The moments of forces (n, 2) with arms (2, n)."""
    return arms[0] * forces[:, 1] - arms[1] * forces[:, 0]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("seed", SEEDS)
def test_angular_momentum_about_the_pivot(n: int, seed: int) -> None:
    """Without gravity only the moment in joint 1 changes it, whatever the inner joints do.

    The control shows that joint 1 does.
    """
    case = general_case(n, "fixed", seed).set(gravity=0.0, tip_fx=0.0, tip_fy=0.0, tip_m=0.0)
    p = case.chain.table.p(case.p)
    loose = {symbol: np.append(0.0, getattr(p, symbol)[1:]) for symbol in ("k", "d", "tc")}
    torques = case.chain.table.u(case.u).tau

    def rate_of_momentum(first: float) -> float:
        c = case.set(**loose, tau=np.append(first, torques[1:]))
        return float(along(c, lambda x: motion(c, x).angular_momentum(p.m, p.J)))

    scale = max(1.0, abs(float(motion(case).angular_momentum(p.m, p.J))))
    assert abs(rate_of_momentum(0.0)) < IDENTITY * scale
    assert rate_of_momentum(1.5) == pytest.approx(1.5, abs=IDENTITY * scale)


def test_angular_momentum_along_a_trajectory() -> None:
    start = {"gravity": 0.0} | {f"joint[{k}].rate_start": r for k, r in enumerate((2.0, -1.0, 3.0), 1)}
    chain = LinkChain(links=3)
    inputs = {"joint[3].torque": lambda t: 0.3 * math.sin(3 * t)}
    result = chain.simulate(stop=2, step=0.05, start=start, inputs=inputs, tolerance=TIGHT)
    _, x, _, u, p = chain.start(start)
    case = Case(chain, x, u, p)
    momenta = []
    for i in range(len(result.t)):
        now = case.set(
            q=[result[f"joint[{k}].angle"][i] for k in (1, 2, 3)], dq=[result[f"joint[{k}].rate"][i] for k in (1, 2, 3)]
        )
        momenta.append(float(motion(now).angular_momentum(chain.table.p(p).m, chain.table.p(p).J)))
    assert abs(momenta[0]) > 1
    assert momenta == pytest.approx([momenta[0]] * len(momenta), rel=ENERGY)


@pytest.mark.parametrize("base", BASES)
def test_energy_balance_with_everything_on(base: str) -> None:
    """total = initial total + input - dissipated, along a trajectory with every input, spring, damper and friction."""
    chain = LinkChain(links=4, base=base)
    names = [s.name for s in chain.table.of("input")]
    inputs = {name: (lambda t, i=i: 2.0 * math.sin((1.0 + 0.3 * i) * t + i)) for i, name in enumerate(names)}
    result = chain.simulate(stop=2, step=0.02, start=general_parameters(chain, seed=5), inputs=inputs, tolerance=TIGHT)
    balance = result["energy.total"] - result["energy.total"][0] - result["energy.input"] + result["energy.dissipated"]
    scale = np.abs(result["energy.total"]).max()
    assert result["energy.total"] == pytest.approx(
        result["energy.kinetic"] + result["energy.potential"], abs=IDENTITY * scale
    )
    assert np.abs(result["energy.input"]).max() > 0.01 * scale, "the inputs do too little for this to prove anything"
    assert result["energy.dissipated"][-1] > 0.01 * scale, "the losses are too small for this to prove anything"
    assert np.all(np.diff(result["energy.dissipated"]) > 0)
    assert np.abs(balance).max() < ENERGY * scale


def mirrored(case: Case) -> Case:
    """The image of a case in a vertical mirror."""
    x, u, p = case.chain.table.x(case.x), case.chain.table.u(case.u), case.chain.table.p(case.p)
    flipped = np.append(math.pi - x.q[0], -x.q[1:])
    rest = np.append(math.pi - p.q_ref[0], -p.q_ref[1:])
    base = {}
    if case.chain.moving:
        base = {"base_x": -x.base_x, "base_y": x.base_y, "base_angle": -x.base_angle}
        base |= {"base_vx": -x.base_vx, "base_vy": x.base_vy, "base_w": -x.base_w}
        base |= {"base_ax": -u.base_ax, "base_ay": u.base_ay, "base_eps": -u.base_eps}
    return case.set(
        q=flipped, dq=-x.dq, q_ref=rest, tau=-u.tau, tip_fx=-u.tip_fx, tip_fy=u.tip_fy, tip_m=-u.tip_m, **base
    )


@general
def test_mirror_symmetry(case: Case) -> None:
    y, image = case.outputs(), mirrored(case).outputs()
    odd = ("qdd", "Rx", "tip_x", "tip_vx")
    even = ("Ry", "tip_y", "tip_vy", "kinetic", "potential", "total")
    assert all(off_by(image[s], -y[s]) < IDENTITY for s in odd)
    assert all(off_by(image[s], y[s]) < IDENTITY for s in even)


@general
def test_tip_velocity_is_the_rate_of_the_tip(case: Case) -> None:
    def tip(symbol: str):
        return lambda x: getattr(case.chain.table.y(case.chain.outputs(0.0, x, np.zeros(0), case.u, case.p)), symbol)

    y = case.outputs()
    assert off_by([along(case, tip("tip_x")), along(case, tip("tip_y"))], [y["tip_vx"], y["tip_vy"]]) < IDENTITY
