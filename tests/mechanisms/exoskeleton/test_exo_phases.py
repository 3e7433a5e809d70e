"""Phases of the exoskeleton: impacts, lift-off, rest on two feet, inputs that jump, ankles, slip, given lengths."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from helpers import needs
from helpers.exo_cases import A_FRAME, everything_acts
from helpers.exo_golden import worst
from helpers.native_mechanisms import TwoBalls
from helpers.tolerances import (
    DRIFT,
    EXO_ENERGY,
    EXO_ENGINES,
    EXO_GOLDEN,
    EXO_IDENTITY,
    EXO_POWER,
    EXO_TIGHT,
    FORMS,
    HOPS_BALANCE,
    IMPACT_STATE,
    IMPACT_VELOCITY,
    IMPULSE,
    LOSS,
    LOSS_RATIO,
    PRESCRIBED_LENGTH,
    REBOUND,
    STOPPED_FOOT,
)
from mechfmu import Exoskeleton
from mechfmu.mechanisms.exoskeleton import matrices as dense
from mechfmu.mechanisms.exoskeleton.events import Event, EventKind
from mechfmu.mechanisms.exoskeleton.kinematics import link_points
from mechfmu.simulation.engines import NAMES, engine, make_instance
from mechfmu.simulation.instance import Instance

pinocchio = needs.module("pinocchio")
TOUCH_DOWN = [Event(EventKind.TOUCH_DOWN, foot).name for foot in (1, 2)]


def value(instance: Any, *names: str) -> list[float]:
    return instance.get([instance.table.by_name[n] for n in names])


def put(instance: Any, **values: float) -> None:
    known = {n.replace("[", "_").replace("]", "").replace(".", "_"): n for n in instance.table.by_name}
    instance.set([instance.table.by_name[known[n]] for n in values], list(values.values()))


def started(
    name: str = "casadi", start: dict[str, float] | None = None, tolerance: float = EXO_TIGHT, **options: Any
) -> Any:
    instance = make_instance(Exoskeleton.three_link(**options), start, name)
    instance.initialize(tolerance=tolerance)
    return instance


# --- impacts ----------------------------------------------------------------------------------------------------------


def landing(m: Exoskeleton, seed: int, pinned: tuple[int, int], arriving: tuple[int, int]) -> tuple[Any, ...]:
    """A random motion with some feet pinned (and at rest) and others just at the ground."""
    t, x, d, u, p = everything_acts(m, seed, pinned)
    X, D, P = m.table.x(x), m.table.d(d), m.table.p(p)
    place = link_points(m.limbs, X, P)
    P.y_ground = place.foot(m.limbs, int(np.flatnonzero(np.maximum(pinned, arriving))[0]))[1]
    second = arriving[1] and (pinned[0] or arriving[0])
    if second:  # turn the second leg until its foot is at the ground as well
        at, hip = place.foot(m.limbs, 1), np.array([X.x, X.y])
        arm = np.array(at) - hip
        angle = np.arcsin(np.clip((P.y_ground - hip[1]) / np.hypot(*arm), -1, 1))
        for i in m.limbs.legs[1]:
            X.phi[i] += -angle - np.pi - np.arctan2(arm[1], arm[0]) + (np.pi + 2 * angle if arm[0] >= 0 else 0)
    place = link_points(m.limbs, X, P)
    D.ay = np.full(2, P.y_ground)
    D.armed = 1 - D.pinned
    return t, m.table.x.pack(**vars(X)), m.table.d.pack(**vars(D)), u, m.table.p.pack(**vars(P))


def dense_view(m: Exoskeleton, x: Any, p: Any, u: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass matrix, Jacobian of both feet, velocities."""
    X, P = m.table.x(x), m.table.p(p)
    state = dense.State(np.concatenate([[X.x, X.y], X.phi]), np.concatenate([[X.vx, X.vy], X.w]), X.l, X.ld)
    zero = np.zeros(m.limbs.n)
    links, loads = (
        dense.Links(P.m, P.n, P.l0, P.k, P.d, zero, P.ja),
        dense.Loads(zero, zero, np.zeros((2, 2)), P.I0, zero),
    )
    mass, _ = dense.system(dense.matrices(m.limbs, links, state, loads), state, zero, P.gravity)
    J = np.vstack([dense.foot_jacobian(m.limbs, b, state)[0] for b in range(2)])
    return mass, J, np.concatenate([state.qd, state.ld])


def chosen_by_trial(
    mass: np.ndarray, J: np.ndarray, v: np.ndarray, candidates: list[int]
) -> tuple[list[int], np.ndarray, float] | None:
    """The specification's rule by brute force: feet, velocities after, loss; None when no set fits."""
    for size in (2, 1):
        for feet in ([0, 1], [0], [1]):
            if len(feet) != size or not set(feet) <= set(candidates):
                continue
            rows = [2 * b + i for b in feet for i in range(2)]
            inverse = np.linalg.inv(mass)
            Lambda = -np.linalg.solve(J[rows] @ inverse @ J[rows].T, J[rows] @ v)
            after = v + inverse @ J[rows].T @ Lambda
            others = [2 * b + 1 for b in candidates if b not in feet]
            if np.all(Lambda[1::2] >= 0) and np.all(J[others] @ after >= 0):
                return feet, after, 0.5 * (J[rows] @ v) @ np.linalg.solve(J[rows] @ inverse @ J[rows].T, J[rows] @ v)
    return None


def velocities(m: Exoskeleton, x: Any) -> np.ndarray:
    X = m.table.x(x)
    return np.concatenate([[X.vx, X.vy], X.w, X.ld])


@pytest.mark.parametrize("name", NAMES)
def test_which_feet_take_part_in_an_impact(name: str) -> None:
    """Against brute force, for landings in flight, beside a pinned foot, and of both feet at once."""
    m = Exoskeleton.three_link()
    run = engine(name, m)
    seen: dict[tuple[int, ...], int] = {}
    for seed, (pinned, arriving) in product(
        range(25), (((0, 0), (1, 0)), ((0, 0), (0, 1)), ((1, 0), (0, 1)), ((0, 0), (1, 1)))
    ):
        t, x, d, u, p = landing(m, seed, pinned, arriving)
        mass, J, v = dense_view(m, x, p, u)
        feet_v, place = J @ v, link_points(m.limbs, m.table.x(x), m.table.p(p))
        gap = [place.foot(m.limbs, b)[1] - m.table.p(p).y_ground for b in range(2)]
        near = [abs(g) < 1e-9 for g in gap]
        candidates = [b for b in range(2) if pinned[b] or (near[b] and feet_v[2 * b + 1] < 0)]
        landed = [b for b in candidates if not pinned[b]]
        if not landed or min(gap) < -1e-9:
            continue
        x_new, d_new = run.jump(t, x, d, u, p, TOUCH_DOWN[landed[0]])
        D, found = m.table.d(d_new), velocities(m, x_new)
        wanted = chosen_by_trial(mass, J, v, candidates)
        lost = 0.5 * v @ mass @ v - 0.5 * found @ mass @ found
        assert D.last_loss == pytest.approx(lost, rel=LOSS_RATIO, abs=LOSS) and D.last_loss >= 0
        assert m.table.x(x_new).loss == pytest.approx(D.last_loss, rel=LOSS_RATIO, abs=LOSS)
        if wanted is None:
            assert [b for b in range(2) if D.pinned[b]] == landed, "feet that close are stopped in any case"
            continue
        feet, after, loss = wanted
        assert [b for b in range(2) if D.pinned[b]] == feet
        assert worst(found, after) < IMPACT_VELOCITY and D.last_loss == pytest.approx(loss, rel=LOSS_RATIO, abs=LOSS)
        assert D.phase == sum((b + 1) for b in feet) and D.events == 1
        rows = [2 * b + i for b in feet for i in range(2)]
        assert np.max(np.abs((J @ found)[rows])) < STOPPED_FOOT, "J v+ = 0"
        momentum = mass[:2] @ (found - v)  # of everything: the rows of x and y
        Lambda = np.linalg.solve(J[rows] @ np.linalg.inv(mass) @ J[rows].T, -(J @ v)[rows])
        assert momentum == pytest.approx(Lambda.reshape(-1, 2).sum(axis=0), rel=IMPULSE, abs=IMPULSE), (
            "momentum jump = sum of the impulses"
        )
        seen[(*pinned, 9, *feet)] = seen.get((*pinned, 9, *feet), 0) + 1
    assert seen.get((0, 0, 9, 0, 1)) and seen.get((1, 0, 9, 1)) and seen.get((0, 0, 9, 0)), (
        f"both feet at once, the other foot thrown up, one foot: {seen}"
    )


def test_a_second_jump_at_the_same_time_has_no_effect() -> None:
    """The guards of both feet cross zero together; the first jump lands both feet."""
    m = Exoskeleton.three_link()
    t, x, d, u, p = landing(m, 0, (0, 0), (1, 1))
    X = m.table.x(x)
    X.vx, X.vy, X.w, X.ld = 0.1, -1.0, 0 * X.w, 0 * X.ld
    x, d = m.jump(t, m.table.x.pack(**vars(X)), d, u, p, TOUCH_DOWN[0])
    assert m.table.d(d).phase == 3
    again = m.jump(t, x, d, u, p, TOUCH_DOWN[1])
    assert np.array_equal(again[0], x) and np.array_equal(again[1], d)


@pytest.mark.parametrize("name", NAMES)
def test_engines_agree_on_landings(name: str) -> None:
    m = Exoskeleton.three_link()
    run = engine(name, m)
    for seed in range(4):
        t, x, d, u, p = landing(m, seed, (1, 0), (0, 1))
        for event in (TOUCH_DOWN[1], Event(EventKind.LIFT_OFF, 1).name):
            for found, wanted in zip(run.jump(t, x, d, u, p, event), m.jump(t, x, d, u, p, event), strict=True):
                assert worst(found, wanted) < EXO_ENGINES


@pytest.mark.parametrize("name", ("casadi", "c"))
def test_restitution(name: str) -> None:
    """A symmetric drop on locked legs: the feet rebound with e times their speed until the hops are slow."""
    e = 0.5
    start = {**A_FRAME, "ground.restitution": e, "ground.capture_speed": 0.05} | {
        f"link[{i}].locked": 1 for i in (1, 2, 3)
    }
    instance = started(name, start)
    fall = np.sqrt(2 * 0.05 / 9.81)
    instance.step(0.0, fall - 1e-6)
    before = value(instance, "foot[1].velocity_y", "foot[2].velocity_y")
    total = value(instance, "energy.total")[0]
    instance.step(fall - 1e-6, 2e-6)
    after = value(instance, "foot[1].velocity_y", "foot[2].velocity_y")
    assert value(instance, "phase", "events") == [0, 1]
    assert np.array(after) == pytest.approx(-e * np.array(before), rel=REBOUND)
    assert total - value(instance, "energy.total")[0] == pytest.approx(
        value(instance, "impact_energy_loss")[0], rel=REBOUND
    )
    t = fall + 1e-6
    for _ in range(100):
        instance.step(t, 0.01)
        t += 0.01
        assert min(value(instance, "foot[1].gap", "foot[2].gap")) > -1e-8
    assert value(instance, "phase")[0] == 3, "at rest on both feet"
    assert 3 <= value(instance, "events")[0] < 100
    total_now, work, lost = value(instance, "energy.total", "energy.input", "energy.dissipated")
    assert total_now == pytest.approx(total - lost + work, abs=HOPS_BALANCE)


# --- support ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("casadi", "c"))
def test_lift_off_leaves_the_velocities(name: str) -> None:
    """A jump by lengthening the legs: lift-off without an impact, a flight without reactions, a landing.

    Feet do not move while they are pinned.
    """
    instance = started(
        name, {**A_FRAME, "hip.y_start": 0.8985693798944521, "foot[1].pinned_start": 1, "foot[2].pinned_start": 1}
    )
    put(instance, link_1_axial_force=1500.0, link_2_axial_force=1500.0)
    lost, feet, t, phases = 0.0, value(instance, "foot[1].x", "foot[2].x"), 0.0, [3.0]
    for _ in range(80):
        instance.step(t, 0.005)
        t += 0.005
        phase, loss = value(instance, "phase", "impact_energy_loss")
        if phase != phases[-1]:
            phases.append(phase)
            if len(phases) == 2:
                put(instance, link_1_axial_force=0.0, link_2_axial_force=0.0)
                assert value(instance, "foot[1].reaction_y", "foot[2].reaction_y") == [0, 0]
        if len(phases) == 1:
            assert value(instance, "foot[1].x", "foot[2].x") == pytest.approx(feet, abs=DRIFT) and loss == 0
        lost = loss
    assert phases[:3] == [3, 0, 3] and lost > 0


@pytest.mark.parametrize("name", ("casadi", "c"))
def test_an_input_that_jumps_can_lift_the_feet(name: str) -> None:
    """Pulled up between two steps, the feet leave at once, not in a later step."""
    instance = started(
        name, {**A_FRAME, "hip.y_start": 0.8985693798944521, "foot[1].pinned_start": 1, "foot[2].pinned_start": 1}
    )
    for i in range(20):
        instance.step(i * 0.01, 0.01)
    assert value(instance, "phase", "events") == [3, 0]
    put(instance, link_1_axial_force=-4000.0, link_2_axial_force=-4000.0)
    assert max(value(instance, "foot[1].reaction_y", "foot[2].reaction_y")) < 0
    instance.step(0.2, 0.001)
    phase, events, time = value(instance, "phase", "events", "last_event_time")
    assert (phase, events) == (0, 1) and time == pytest.approx(0.2, abs=1e-9)
    assert min(value(instance, "foot[1].gap", "foot[2].gap")) > 0


def test_simultaneous_events_in_the_python_engine() -> None:
    """Both balls land at the same time: both bounce, as in the native runtime."""
    for later in (0.0, 1e-12, 1e-10):
        instance = Instance(TwoBalls(), {"ball[1].height_start": 1.3, "ball[2].height_start": 1.3 + later})
        instance.initialize()
        instance.step(0.0, 0.6)
        first, second = value(instance, "ball[1].height", "ball[2].height")
        assert value(instance, "ball[1].bounces", "ball[2].bounces") == [1, 1]
        assert first == pytest.approx(second, abs=IMPACT_STATE) and first > 0


def test_external_reactions_are_the_pinned_ones() -> None:
    """A ground outside that applies just the reactions gives the same accelerations."""
    inside, outside = Exoskeleton.six_link(contact="pinned"), Exoskeleton.six_link(contact="external")
    t, x, d, u, p = everything_acts(inside, 5, (1, 1))
    y = inside.table.y(inside.outputs(t, x, d, u, p))
    U = outside.table.u(outside.start()[3])
    for symbol, part in vars(inside.table.u(u)).items():
        setattr(U, symbol, part)
    U.Fx, U.Fy = y.Rx, y.Ry
    other = outside.table.y(outside.outputs(t, x, outside.start()[2], outside.table.u.pack(**vars(U)), p))
    assert worst(other.phi_acc, y.phi_acc) < EXO_IDENTITY and worst(other.l_acc, y.l_acc) < EXO_IDENTITY


def test_ankles() -> None:
    """Nothing in flight; on the ground as much as the foot can carry; on bilateral pins all of it."""
    m = Exoskeleton.six_link()
    for seed, pinned in enumerate(((0, 0), (1, 0), (0, 1), (1, 1), (1, 1))):
        t, x, d, u, p = everything_acts(m, seed, pinned)
        U, X, P = m.table.u(u), m.table.x(x), m.table.p(p)
        X.l, X.ld = 0.97 * P.l0, 0 * X.ld  # compressed, so that the feet push
        X.w, X.vx, X.vy = 0 * X.w, 0.0, 0.0
        x = m.table.x.pack(**vars(X))
        for asked in (5.0, -5.0, 1e4, -1e4):
            U.M = np.full(5, 3.0)
            U.M[0] = U.M[3] = asked
            y = m.table.y(m.outputs(t, x, d, m.table.u.pack(**vars(U)), p))
            for b in range(2):
                if not pinned[b]:
                    assert y.ankle[b] == 0 and y.Ry[b] == 0
                elif y.Ry[b] > 0:
                    limit = P.a_foot * y.Ry[b]
                    assert abs(y.ankle[b]) <= limit * (1 + 1e-3)
                    if abs(asked) == 1e4:
                        assert y.ankle[b] == pytest.approx(np.sign(asked) * limit, rel=1e-3), "at its limit"
                    elif limit > 5.5:
                        assert y.ankle[b] == pytest.approx(asked, rel=EXO_GOLDEN)
    bilateral = Exoskeleton.six_link(contact="pinned")
    y = bilateral.table.y(bilateral.outputs(*bilateral.start({"link[1].moment": 1e4})))
    assert y.ankle == pytest.approx([1e4, 0.0])


@pytest.mark.parametrize("name", ("casadi", "c"))
def test_the_slip_flag(name: str) -> None:
    """On slippery ground the spread legs would slide apart; the flag follows the reactions, both ways."""
    for mu, slips in ((0.05, True), (0.8, False)):
        start = (
            A_FRAME | {f"foot[{b}].pinned_start": 1 for b in (1, 2)} | {f"hip.stiffness[{b}]": 100.0 for b in (1, 2)}
        )
        instance = started(name, start | {"ground.friction": mu, "hip.y_start": 0.8985693798944521})
        found = []
        for i in range(40):
            instance.step(i * 0.005, 0.005)
            flag, pinned, rx, ry = value(
                instance, "foot[1].slip", "foot[1].pinned", "foot[1].reaction_x", "foot[1].reaction_y"
            )
            if pinned and abs(abs(rx) - mu * ry) > 1e-6 * ry:
                assert bool(flag) == (abs(rx) > mu * ry)
            found.append(bool(flag))
        assert any(found) == slips


# --- lengths ----------------------------------------------------------------------------------------------------------


def test_locked_links_are_rigid() -> None:
    """Against the matrices without their rows and columns; the thrust is the residual of the length row."""
    m = Exoskeleton.six_link(contact="external")
    for seed in range(4):
        t, x, d, u, p = everything_acts(m, seed, (0, 0))
        X, P = m.table.x(x), m.table.p(p)
        P.locked = np.array([1.0, 1, 0, 1, 0, 1])
        X.ld = X.ld * (1 - P.locked)
        x, p = m.table.x.pack(**vars(X)), m.table.p.pack(**vars(P))
        y, U = m.table.y(m.outputs(t, x, d, u, p)), m.table.u(u)
        state = dense.State(np.concatenate([[X.x, X.y], X.phi]), np.concatenate([[X.vx, X.vy], X.w]), X.l, X.ld)
        mass, force = dense.system(m.matrices(t, x, d, u, p), state, np.zeros(6), P.gravity)
        free = [i for i in range(14) if i < 8 or not P.locked[i - 8]]
        acc = np.zeros(14)
        acc[free] = np.linalg.solve(mass[np.ix_(free, free)], force[free])
        # the mechanism's own springs of the hinges are in F already; its accelerations must be these
        assert worst([y.x_acc, y.y_acc, *y.phi_acc, *y.l_acc], acc) < EXO_POWER
        residual = (mass @ acc - force)[8:]
        spring = -P.k * (X.l - P.l0) - P.d * X.ld + U.Fa
        assert worst(y.thrust, spring + residual) < EXO_POWER


def test_locked_links_move_like_a_rigid_tree_in_pinocchio() -> None:
    """Two slides for the hip, a hinge for each link; angles there are relative within a limb."""
    m = Exoskeleton.six_link(contact="flight")
    limbs = m.limbs
    for seed in range(3):
        t, x, d, u, p = everything_acts(m, seed, (0, 0))
        X, P = m.table.x(x), m.table.p(p)
        P.locked, X.ld = np.ones(6), np.zeros(6)
        x, p = m.table.x.pack(**vars(X)), m.table.p.pack(**vars(P))
        y = m.table.y(m.outputs(t, x, d, u, p))
        tau = m.matrices(t, x, d, u, p).F[2:]

        model = pinocchio.Model()
        model.gravity.linear = np.array([0.0, -P.gravity, 0.0])
        hip = model.addJoint(0, pinocchio.JointModelPX(), pinocchio.SE3.Identity(), "x")
        hip = model.addJoint(hip, pinocchio.JointModelPY(), pinocchio.SE3.Identity(), "y")
        q, v, force, order = [X.x, X.y], [X.vx, X.vy], [0.0, 0.0], []
        for branch in limbs.branches:
            parent, place, inner = hip, np.zeros(3), None
            for position, i in enumerate(branch):
                joint = model.addJoint(parent, pinocchio.JointModelRZ(), pinocchio.SE3(np.eye(3), place), f"link {i}")
                reach = np.array([limbs.sigma[i] * X.l[i], 0.0, 0.0])
                model.appendBodyToJoint(
                    joint,
                    pinocchio.Inertia(P.m[i], limbs.c(P.n)[i] * reach, P.I0[i] * np.eye(3)),
                    pinocchio.SE3.Identity(),
                )
                q.append(X.phi[i] - (0.0 if inner is None else X.phi[inner]))
                v.append(X.w[i] - (0.0 if inner is None else X.w[inner]))
                force.append(sum(tau[j] for j in branch[position:]))
                order.append((i, inner))
                parent, place, inner = joint, reach, i
        acc = pinocchio.aba(model, model.createData(), *(np.array(values) for values in (q, v, force)))
        phi_acc = np.zeros(6)
        for k, (i, inner) in enumerate(order):
            phi_acc[i] = acc[2 + k] + (0.0 if inner is None else phi_acc[inner])
        assert worst([y.x_acc, y.y_acc, *y.phi_acc], [acc[0], acc[1], *phi_acc]) < FORMS


@pytest.mark.parametrize("name", ("casadi", "c"))
def test_locked_lengths_stay_and_nothing_is_lost(name: str) -> None:
    start = {
        **{f"link[{i}].locked": 1 for i in (1, 2, 3)},
        "link[1].rate_start": 1.0,
        "hip.velocity_x_start": 0.3,
        "hip.y_start": 3.0,
    }
    instance = started(name, start)
    lengths, total = value(instance, *(f"link[{i}].length" for i in (1, 2, 3))), value(instance, "energy.total")[0]
    for i in range(20):
        instance.step(i * 0.02, 0.02)
    assert value(instance, *(f"link[{i}].length" for i in (1, 2, 3))) == lengths
    assert value(instance, "energy.total")[0] == pytest.approx(total, abs=EXO_ENERGY)


@pytest.mark.parametrize("name", ("casadi", "c"))
def test_a_prescribed_length_follows_its_inputs(name: str) -> None:
    """By its acceleration alone, and drawn to a wanted length; the energy balance includes the work of the drive."""
    m = Exoskeleton.three_link(contact="flight", lengths="prescribed")
    for bandwidth in (0.0, 30.0):
        instance = make_instance(
            m, {"link[1].prescribed": 1, "prescribed.bandwidth": bandwidth, "hip.y_start": 2.0}, name
        )
        instance.initialize(tolerance=EXO_TIGHT)
        l0, total = value(instance, "link[1].length")[0], value(instance, "energy.total")[0]
        if bandwidth:  # critically damped
            put(instance, link_1_length_input=1.05 * l0)
        else:
            put(instance, link_1_length_acceleration_input=0.4)
        for i in range(1, 21):
            instance.step((i - 1) * 0.02, 0.02)
            t = 0.02 * i
            wanted = l0 * (1.05 - 0.05 * (1 + 30 * t) * np.exp(-30 * t)) if bandwidth else l0 + 0.2 * t**2
            assert value(instance, "link[1].length")[0] == pytest.approx(wanted, abs=PRESCRIBED_LENGTH)
        now, work, lost = value(instance, "energy.total", "energy.input", "energy.dissipated")
        assert abs(work) > 0.1 and now == pytest.approx(total + work - lost, abs=EXO_ENERGY)


@pytest.mark.parametrize("name", NAMES)
def test_the_drive_of_a_length_does_work_in_an_impact(name: str) -> None:
    """A leg is shortened as its foot lands: the energy changes by the loss and by the work of the length's drive."""
    m = Exoskeleton.three_link(lengths="prescribed")
    run, landed = engine(name, m), 0
    for seed in range(12):
        t, x, d, u, p = landing(m, seed, (0, 0), (1, 0))
        X, P = m.table.x(x), m.table.p(p)
        P.given, X.vy, X.ld = np.array([1.0, 0.0, 0.0]), -2.0, np.array([-0.8, 0.1, 0.0])
        place = link_points(m.limbs, X, P)
        if (
            min(place.foot(m.limbs, b)[1] for b in range(2)) < P.y_ground - 1e-9
            or place.foot_velocity(m.limbs, 0)[1] >= 0
        ):
            continue
        x, p = m.table.x.pack(**vars(X)), m.table.p.pack(**vars(P))
        x_new, d_new = run.jump(t, x, d, u, p, TOUCH_DOWN[0])
        after = m.table.x(x_new)
        assert m.table.d(d_new).pinned[0] == 1 and after.ld[0] == pytest.approx(X.ld[0], rel=EXO_ENGINES)
        change = m.table.y(m.outputs(t, x_new, d_new, u, p)).total - m.table.y(m.outputs(t, x, d, u, p)).total
        assert abs(after.work) > 1e-3
        assert change == pytest.approx(after.work - after.loss, rel=EXO_POWER, abs=LOSS)
        assert after.loss > 0
        landed += 1
    assert landed >= 3
