"""The exoskeleton's equations: two forms that agree, symmetries, conserved quantities, energy balance."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.exo_cases import everything_acts
from helpers.exo_golden import (
    Case,
    fast,
    jacobian,
    load,
    moments,
    pinned_fast,
    pinned_slow,
    random_case,
    slow,
    starts,
    swept,
    system,
    worst,
)
from helpers.tolerances import (
    EXO_ENERGY,
    EXO_ENGINES,
    EXO_GOLDEN,
    EXO_IDENTITY,
    EXO_POWER,
    EXO_TRAJECTORY,
    FORMS,
    STRAIGHT,
)
from mechfmu import Exoskeleton
from mechfmu.codegen.recording import ARGUMENTS, recording_of
from mechfmu.mechanisms.exoskeleton import matrices as dense
from mechfmu.mechanisms.exoskeleton import recursion
from mechfmu.mechanisms.exoskeleton.topology import Limbs
from mechfmu.simulation.engines import engine

SHAPES = [Limbs(1, 1, 1), Limbs(2, 2, 2), Limbs(3, 2, 4), Limbs(1, 4, 2), Limbs(5, 1, 1)]
shapes = pytest.mark.parametrize("limbs", SHAPES, ids=lambda s: f"k{s.k}p{s.p}r{s.r}")


def random_cases(limbs: Limbs, count: int = 10) -> list[Case]:
    random = np.random.default_rng(limbs.n)
    return [random_case(limbs, random, length_inertia=bool(i % 2)) for i in range(count)]


# --- two forms --------------------------------------------------------------------------------------------------------


@shapes
def test_matrices_and_recursion_agree(limbs: Limbs) -> None:
    assert max(worst(fast(c), slow(c)) for c in random_cases(limbs)) < FORMS


@shapes
@pytest.mark.parametrize("feet", ([0], [1], [0, 1]), ids=("foot 1", "foot 2", "both"))
def test_they_agree_with_pinned_feet_and_given_lengths(limbs: Limbs, feet: list[int]) -> None:
    random = np.random.default_rng(7)
    for c in random_cases(limbs, 6):
        fixed = random.integers(0, 2, limbs.n).astype(float)
        c = c.with_(fixed=fixed, ldd=fixed * random.uniform(-2, 2, limbs.n))
        for found, wanted in zip(pinned_fast(c, feet), pinned_slow(c, feet), strict=True):
            assert np.max(np.abs(wanted)) == 0 or worst(found, wanted) < FORMS


@shapes
def test_inverse_dynamics_gives_the_forces_back(limbs: Limbs) -> None:
    """A third way: outward accelerations, inward sums of forces, row by row as in the specification."""
    for c in random_cases(limbs):
        acc = fast(c)
        s, sigma, cc = c.state, limbs.sigma, limbs.c(c.links.n)
        phi, w, phi_acc, l_acc = s.q[2:], s.qd[2:], acc[2 : limbs.n + 2], acc[limbs.n + 2 :]
        u, t = np.stack([np.cos(phi), np.sin(phi)], 1), np.stack([-np.sin(phi), np.cos(phi)], 1)
        hip = np.zeros(2)
        for leg, branch in enumerate(limbs.branches):
            a, centre = acc[:2], {}
            for i in branch:
                e = sigma[i] * (
                    (l_acc[i] - s.l[i] * w[i] ** 2) * u[i] + (s.l[i] * phi_acc[i] + 2 * s.ld[i] * w[i]) * t[i]
                )
                centre[i], a = a + cc[i] * e, a + e
            f = -c.loads.R[leg] if leg < 2 else np.zeros(2)
            for i in reversed(branch):
                weight = c.links.m[i] * (centre[i] + [0, c.g])
                force = f + cc[i] * weight
                f = f + weight
                turning = (
                    c.loads.I[i] * phi_acc[i]
                    + c.loads.Id[i] * w[i]
                    + c.links.jr[i] * (s.l[i] ** 2 * phi_acc[i] + 2 * s.l[i] * s.ld[i] * w[i])
                )
                assert sigma[i] * s.l[i] * t[i] @ force + turning == pytest.approx(c.loads.tau[i], abs=EXO_POWER)
                spring = -c.links.k[i] * (s.l[i] - c.links.l0[i]) - c.links.d[i] * s.ld[i] + c.loads.Fa[i]
                axial = sigma[i] * u[i] @ force + c.links.ja[i] * l_acc[i] - c.links.jr[i] * s.l[i] * w[i] ** 2
                assert axial == pytest.approx(spring, abs=EXO_POWER)
            hip = hip + f
        assert hip == pytest.approx([0, 0], abs=EXO_POWER)


@shapes
def test_mass_matrix(limbs: Limbs) -> None:
    for c in random_cases(limbs, 4):
        matrices = dense.matrices(limbs, c.links, c.state, c.loads)
        mass, _ = system(c)
        assert np.array_equal(matrices.G, matrices.E.T) and worst(mass, mass.T) < EXO_IDENTITY
        assert np.linalg.eigvalsh(mass).min() > 0
        assert 0.5 * c.v @ mass @ c.v == pytest.approx(kinetic(c), rel=EXO_IDENTITY), "the energy it stands for"


def kinetic(c: Case) -> float:
    """From the velocities of the mass centres, found by differentiating their positions with complex steps."""
    h = 1e-30
    q, l = c.state.q + 1j * h * c.state.qd, c.state.l + 1j * h * c.state.ld
    total = 0.0
    for branch in c.limbs.branches:
        at = q[:2]
        for i in branch:
            step = c.limbs.sigma[i] * l[i] * np.array([np.cos(q[2 + i]), np.sin(q[2 + i])])
            speed = (at + c.limbs.c(c.links.n)[i] * step).imag / h
            at = at + step
            inertia = c.loads.I[i] + c.links.jr[i] * c.state.l[i] ** 2
            total += 0.5 * (
                c.links.m[i] * speed @ speed + inertia * c.state.qd[2 + i] ** 2 + c.links.ja[i] * c.state.ld[i] ** 2
            )
    return total


def test_singular_only_without_axial_inertia_and_with_all_links_parallel() -> None:
    limbs = Limbs(2, 2, 2)
    c = random_cases(limbs, 1)[0]
    upright = c.state._replace(q=np.concatenate([c.state.q[:2], np.full(6, np.pi / 2)]))
    without = c.links._replace(ja=np.zeros(6))

    def smallest(links: dense.Links, state: dense.State) -> float:
        values = np.linalg.eigvalsh(system(c.with_(links=links, state=state))[0])
        return float(values.min() / values.max())

    assert smallest(c.links, upright) > 1e-4
    assert abs(smallest(without, upright)) < 1e-12
    spread = upright._replace(q=upright.q + np.concatenate([[0, 0], 0.1 * np.array([1, 1, -1, -1, 0, 0])]))
    assert smallest(without, spread) > 1e-6


# --- symmetries -------------------------------------------------------------------------------------------------------


def swapped(c: Case) -> tuple[Case, np.ndarray]:
    """Leg 1 and leg 2 exchange their names; and the order of the links."""
    limbs = c.limbs
    order = np.array([*reversed(range(limbs.k + limbs.p)), *range(limbs.k + limbs.p, limbs.n)])
    q = np.concatenate([[0, 1], 2 + order])
    state = dense.State(c.state.q[q], c.state.qd[q], c.state.l[order], c.state.ld[order])
    loads = dense.Loads(c.loads.tau[order], c.loads.Fa[order], c.loads.R[::-1], c.loads.I[order], c.loads.Id[order])
    return Case(
        Limbs(limbs.p, limbs.k, limbs.r), dense.Links(*(v[order] for v in c.links)), state, loads, c.g
    ), np.concatenate([q, limbs.n + 2 + order])


@shapes
@pytest.mark.parametrize("form", (slow, fast), ids=("matrices", "recursion"))
def test_the_legs_can_be_swapped(limbs: Limbs, form: Any) -> None:
    for c in random_cases(limbs, 4):
        other, order = swapped(c)
        assert worst(form(other), form(c)[order]) < EXO_IDENTITY


def test_swapping_the_legs_swaps_the_hinge_moments() -> None:
    limbs = Limbs(3, 2, 2)
    M, MH = np.arange(1.0, 8.0), np.array([10.0, 20.0])
    order = [4, 3, 2, 1, 0, 5, 6]
    assert np.array(limbs.moments(M, MH))[order] == pytest.approx(Limbs(2, 3, 2).moments(M[order], MH[::-1]))
    assert sum(limbs.moments(M, MH)) == pytest.approx(-M[0] - M[4]), "all but the ankles are internal"


@shapes
@pytest.mark.parametrize("form", (slow, fast), ids=("matrices", "recursion"))
def test_mirror_and_translation(limbs: Limbs, form: Any) -> None:
    n = limbs.n
    sign = np.concatenate([[-1, 1], -np.ones(n)])
    for c in random_cases(limbs, 4):
        s, offset = c.state, np.concatenate([[0, 0], np.full(n, np.pi)])
        state = dense.State(offset + sign * s.q, sign * s.qd, s.l, s.ld)
        mirrored = c.with_(state=state, loads=c.loads._replace(tau=-c.loads.tau, R=c.loads.R * [-1, 1]))
        assert worst(form(mirrored), np.concatenate([sign, np.ones(n)]) * form(c)) < EXO_IDENTITY
        moved = c.with_(state=s._replace(q=s.q + np.concatenate([[3.0, -2.0], np.zeros(n)])))
        assert worst(form(moved), form(c)) < EXO_IDENTITY


def test_straight_limbs_of_two_links_are_limbs_of_one() -> None:
    random = np.random.default_rng(3)
    three, six = Exoskeleton.three_link(contact="flight"), Exoskeleton.six_link(contact="flight")
    for _ in range(5):
        values = {name: random.uniform(-2, 2) for name in ("hip.velocity_x_start", "hip.velocity_y_start")}
        angle, rate = random.uniform(0.5, 2.5, 3), random.uniform(-3, 3, 3)

        def energy(m: Exoskeleton, values: Any = values, angle: Any = angle, rate: Any = rate) -> float:
            per_limb = m.limbs.n // 3
            own = {f"link[{i + 1}].angle_start": angle[i // per_limb] for i in range(m.limbs.n)}
            own |= {f"link[{i + 1}].rate_start": rate[i // per_limb] for i in range(m.limbs.n)}
            return float(m.table.y(m.outputs(*m.start(values | own))).kinetic)

        assert energy(six) == pytest.approx(energy(three), rel=STRAIGHT)


# --- energy and momentum ----------------------------------------------------------------------------------------------


def along_the_motion(m: Exoskeleton, outputs: tuple[str, ...], at: Any) -> dict[str, float]:
    """Exact time derivatives of outputs along the motion, a prescribed inertia included."""
    graphs, table = recording_of(m), m.table
    symbols = [graphs.symbols[a] for a in ARGUMENTS]
    y, dx = graphs.outputs.call(symbols)[0], graphs.rates.call(symbols)[0]
    u_dot = casadi.SX.zeros(table.u.size)
    if m.options["inertia"] == "prescribed":
        u_dot[table.u.part("I")] = graphs.symbols["u"][table.u.part("Id")]
    rate = casadi.jtimes(y, casadi.vertcat(graphs.symbols["x"], graphs.symbols["u"]), casadi.vertcat(dx, u_dot))
    values = np.array(casadi.Function("rate", symbols, [rate])(*at)).ravel()
    return {name: float(values[table.by_name[name].index]) for name in outputs}


OPTIONS = [dict(contact=c, inertia=i, lengths=l) for c, i, l in (
    ("external", "prescribed", "prescribed"), ("external", "length", "free"), ("automatic", "prescribed", "free"),
    ("automatic", "constant", "prescribed"),
    ("pinned", "length", "prescribed"), ("flight", "prescribed", "prescribed"))]  # fmt: skip


@pytest.mark.parametrize("pinned", ((0, 0), (1, 0), (0, 1), (1, 1)), ids=("flight", "foot 1", "foot 2", "both"))
@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(o.values()))
def test_power_balance_with_every_input_active(options: dict[str, str], pinned: tuple[int, int]) -> None:
    """The energy changes by the power of all forces.

    E' = -sum d l'^2 - 1/2 sum I' phi'^2 + sum M (phi_lower' - phi_upper') + sum Fa l' + sum R . v_foot, and the powers
    of hinge dampers and of given lengths, N l'.
    """
    if any(pinned) and options["contact"] not in ("automatic", "pinned"):
        pinned = (0, 0)
    m = Exoskeleton(leg1=2, leg2=1, body=2, **options)
    n = m.limbs.n
    for seed in range(3):
        t, x, d, u, p = everything_acts(m, seed, pinned)
        p = np.array(p)
        if m.configuration.prescribed:  # one link follows its input
            p[m.table.by_name["link[1].prescribed"].index] = 1.0
        X, U, P = m.table.x(x), m.table.u(u), m.table.p(p)
        y, rates = m.table.y(m.outputs(t, x, d, u, p)), m.table.x(m.rates(t, x, d, u, p))
        change = along_the_motion(m, ("energy.total",), (t, x, d, u, p))["energy.total"]
        scale = max(abs(change), 100.0)
        assert abs(change - (rates.work - rates.loss)) < EXO_POWER * scale

        # the same from the hinges' list: (moment, lower, upper) with the ground at rest
        w = dict(enumerate(X.w, start=1)) | {0: 0.0}  # type: ignore[arg-type]
        hinges = [
            (y.ankle[0], 0, 1),
            (U.M[1], 1, 2),
            (y.ankle[1], 0, 3),
            (U.M[3], 4, 5),
            (U.MH[0], 2, 4),
            (U.MH[1], 3, 4),
        ]
        springs = [(P.d_h[0], 1, 2), (P.d_h[1], 4, 5), (P.d_H[0], 2, 4), (P.d_H[1], 3, 4)]
        power = sum(M * (w[lower] - w[upper]) for M, lower, upper in hinges) - sum(
            c * (w[a] - w[b]) ** 2 for c, a, b in springs
        )
        power += U.Fa @ X.ld - P.d @ X.ld**2
        if options["inertia"] == "prescribed":
            power -= 0.5 * U.Id @ X.w**2
        if m.configuration.prescribed:
            residual = y.thrust[0] - (-P.k[0] * (X.l[0] - P.l0[0]) - P.d[0] * X.ld[0] + U.Fa[0])
            power += residual * X.ld[0]
        if options["contact"] == "external":
            power += U.Fx @ y.foot_vx + U.Fy @ y.foot_vy
        assert abs(change - power) < EXO_POWER * scale
        assert n == 5


@pytest.mark.parametrize("pinned", ((1, 0), (0, 1), (1, 1)), ids=("foot 1", "foot 2", "both"))
def test_reactions_are_what_changes_the_momentum(pinned: tuple[int, int]) -> None:
    """sum R = dP/dt + M g; the moment of reactions and ankles about the mass centre is the rate of H_c."""
    m = Exoskeleton(contact="automatic")
    for seed in range(3):
        at = everything_acts(m, seed, pinned)
        y, P = m.table.y(m.outputs(*at)), m.table.p(at[4])
        total = P.m.sum()
        change = along_the_motion(
            m, ("com.velocity_x", "com.velocity_y", "momentum.angular", "com.x", "foot[1].x", "foot[2].y"), at
        )
        assert y.Rx.sum() == pytest.approx(total * change["com.velocity_x"], rel=EXO_POWER, abs=EXO_POWER)
        assert y.Ry.sum() == pytest.approx(total * (change["com.velocity_y"] + P.gravity), rel=EXO_POWER)
        moment = np.sum((y.foot_x - y.com_x) * y.Ry - (y.foot_y - y.com_y) * y.Rx) - y.ankle.sum()
        assert change["momentum.angular"] == pytest.approx(moment, rel=EXO_POWER)


def test_standing_balances_its_moments() -> None:
    data = load("static_6link_double")
    m = Exoskeleton.six_link(contact="pinned")
    at = m.start(
        starts(data["params"], data["state"]["q"], data["state"]["l"])
        | moments(m.limbs, data["inputs"]["M"], data["inputs"]["MH"])
    )
    y = m.table.y(m.outputs(*at))
    moment = np.sum((y.foot_x - y.com_x) * y.Ry - (y.foot_y - y.com_y) * y.Rx)
    assert abs(moment) < EXO_GOLDEN * 735
    assert np.all(y.thrust[:4] > 0), "the legs are compressed"


def test_flight_conserves_momentum_under_internal_forces() -> None:
    """With inertia that changes in time, inner moments and actuators, the energy balances.

    P_x, P_y + M g t, the path of the mass centre and H_c are conserved.
    """
    m = Exoskeleton.three_link(contact="flight", inertia="prescribed")
    run, table = engine("casadi", m), m.table
    _, x, d, u, p = m.start(
        {
            "hip.velocity_x_start": 1.0,
            "hip.velocity_y_start": 2.0,
            "link[1].rate_start": 2.0,
            "link[3].rate_start": -1.0,
        }
    )
    I0 = table.p(p).I0

    def inputs(t: float) -> np.ndarray:
        U = table.u(u)
        U.I, U.Id = I0 * (1 + 0.3 * np.sin(7 * t)), I0 * 2.1 * np.cos(7 * t)
        U.MH, U.M, U.Fa = (
            np.array([30 * np.sin(5 * t), -20.0]),
            np.array([40.0, 40.0]),
            np.array([100.0, -50.0, 80 * np.cos(9 * t)]),
        )
        return table.u.pack(**vars(U))

    times = np.linspace(0, 0.5, 11)
    motion = solve_ivp(
        lambda t, y: run.rates(t, y, d, inputs(t), p), (0, 0.5), x, "DOP853", times, rtol=1e-11, atol=1e-11
    ).y.T
    y = [table.y(run.outputs(t, s, d, inputs(t), p)) for t, s in zip(times, motion, strict=True)]
    first, gravity = y[0], table.p(p).gravity
    for t, s, now in zip(times, motion, y, strict=True):
        X = table.x(s)
        assert now.com_vx == pytest.approx(
            first.com_vx, abs=EXO_TRAJECTORY
        ) and now.com_vy + gravity * t == pytest.approx(first.com_vy, abs=EXO_TRAJECTORY)
        assert now.com_x == pytest.approx(first.com_x + first.com_vx * t, abs=EXO_TRAJECTORY)
        assert now.com_y == pytest.approx(first.com_y + first.com_vy * t - gravity * t**2 / 2, abs=EXO_TRAJECTORY)
        assert now.Hc == pytest.approx(first.Hc, abs=EXO_TRAJECTORY)
        assert now.total == pytest.approx(first.total + X.work - X.loss, abs=EXO_ENERGY)
    assert abs(table.x(motion[-1]).shape_work) > 0.1, "the changing inertia has done work"
    assert not np.any(first.ankle), "ankles have nothing to stand on"


def test_feeding_length_dependent_inertia_as_prescribed_loses_a_term() -> None:
    """Why inertia=length exists: the same I(t) through the inputs leaves out -jr l phi'^2 in the length rows."""
    links, random = Limbs(1, 1, 1), np.random.default_rng(1)
    c = random_case(links, random, length_inertia=True)
    I, Id = c.links.jr * c.state.l**2, 2 * c.links.jr * c.state.l * c.state.ld
    fed = c.with_(links=c.links._replace(jr=np.zeros(3)), loads=c.loads._replace(I=I, Id=Id))
    matrices = [dense.matrices(links, one.links, one.state, one.loads) for one in (c, fed)]
    (mass, force), (mass_fed, force_fed) = (
        dense.system(k, c.state, one.loads.Id, c.g) for k, one in zip(matrices, (c, fed), strict=True)
    )
    assert worst(mass_fed, mass) < EXO_IDENTITY
    missing = np.concatenate([np.zeros(5), c.links.jr * c.state.l * c.state.qd[2:] ** 2])
    assert worst(force - force_fed, missing) < EXO_POWER


def test_mobility_of_the_feet() -> None:
    """Om = J M^-1 J^T, and the turn of the shanks, from the recursion and from the matrices."""
    for limbs in SHAPES:
        for c in random_cases(limbs, 3):
            mass, _ = system(c)
            J, _ = jacobian(c, [0, 1])
            links, sweep = swept(c)
            mobility = recursion.foot_mobility(limbs, links, sweep, c.g)
            found = np.block([[np.reshape(mobility.Om[i][j], (2, 2)) for j in range(2)] for i in range(2)])
            inverse = np.linalg.inv(mass)
            assert worst(found, J @ inverse @ J.T) < FORMS
            shanks = inverse[[2 + limbs.shanks[0], 2 + limbs.shanks[1]]]
            assert worst(np.reshape(mobility.turn, (2, 4)), shanks @ J.T) < FORMS


# --- engines ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("casadi", "c"))
def test_engines_agree_on_everything(name: str) -> None:
    """In every phase and for every event, on random states with all inputs active."""
    m = Exoskeleton.three_link()
    other = engine(name, m)
    for seed, pinned in enumerate(((0, 0), (1, 0), (0, 1), (1, 1))):
        t, x, d, u, p = everything_acts(m, seed, pinned)
        for function in ("rates", "outputs", "guards"):
            wanted = getattr(m, function)(t, x, d, u, p)
            assert worst(getattr(other, function)(t, x, d, u, p), wanted) < EXO_ENGINES, function
        assert worst(other.project(x, d, p), m.project(x, d, p)) < EXO_ENGINES
        assert worst(other.requirements(p), m.requirements(p)) < EXO_ENGINES
        for event in m.event_names:
            for found, wanted in zip(other.jump(t, x, d, u, p, event), m.jump(t, x, d, u, p, event), strict=True):
                assert worst(found, wanted) < EXO_ENGINES, event
