"""A base that accelerates and turns, against frames in which it does not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.chains import Case, general_case, off_by
from helpers.tolerances import COMMUNICATION_STEP, IDENTITY, TIGHT
from mechfmu import LinkChain

SIZES = (1, 2, 7)
sizes_and_seeds = pytest.mark.parametrize(("n", "seed"), [(n, seed) for n in SIZES for seed in (0, 1, 2)])


def on_fixed_base(case: Case, **changes: object) -> Case:
    """The same rods and relative state on a base that stands still."""
    x, u = case.chain.table.x(case.x), case.chain.table.u(case.u)
    fixed = LinkChain(links=case.chain.links)
    start = Case(fixed, np.zeros(fixed.table.x.size), np.zeros(fixed.table.u.size), case.p)
    return start.set(**(dict(q=x.q, dq=x.dq, tau=u.tau, tip_fx=u.tip_fx, tip_fy=u.tip_fy, tip_m=u.tip_m) | changes))


def not_turning(case: Case) -> Case:
    return case.set(base_angle=0.0, base_w=0.0, base_eps=0.0)


@sizes_and_seeds
def test_vertical_acceleration_adds_to_gravity(n: int, seed: int) -> None:
    case = not_turning(general_case(n, "moving", seed)).set(base_ax=0.0)
    rise = float(case.chain.table.u(case.u).base_ay)
    fixed = on_fixed_base(case, gravity=case.chain.table.p(case.p).gravity + rise).outputs()
    found = case.outputs()
    assert off_by(found["qdd"], fixed["qdd"]) < IDENTITY
    assert off_by([*found["Rx"], *found["Ry"]], [*fixed["Rx"], *fixed["Ry"]]) < IDENTITY


@sizes_and_seeds
def test_any_linear_acceleration_is_gravity_in_another_direction(n: int, seed: int) -> None:
    """With a_0 the chain feels the weight -m (a_0 + g e_y): a fixed chain, turned so that this points down."""
    case = not_turning(general_case(n, "moving", seed))
    x, u, p = case.chain.table.x(case.x), case.chain.table.u(case.u), case.chain.table.p(case.p)
    ax, ay = float(u.base_ax), float(p.gravity + u.base_ay)
    turn = math.atan2(ax, ay)  # counter-clockwise: (ax, ay) becomes upright
    c, s = math.cos(turn), math.sin(turn)
    first = np.append(turn, np.zeros(n - 1))
    fixed = on_fixed_base(
        case,
        gravity=math.hypot(ax, ay),
        q=x.q + first,
        q_ref=p.q_ref + first,
        tip_fx=c * u.tip_fx - s * u.tip_fy,
        tip_fy=s * u.tip_fx + c * u.tip_fy,
    ).outputs()
    found = case.outputs()
    assert off_by(found["qdd"], fixed["qdd"]) < IDENTITY
    assert off_by(c * found["Rx"] - s * found["Ry"], fixed["Rx"]) < IDENTITY
    assert off_by(s * found["Rx"] + c * found["Ry"], fixed["Ry"]) < IDENTITY


def test_a_falling_base_makes_the_chain_weightless() -> None:
    """Along a trajectory, not only at its start."""
    start = {"joint[1].angle_start": 0.3, "joint[2].rate_start": 2.0}
    falling = LinkChain(links=3, base="moving").simulate(
        stop=1, step=0.1, start=start | {"base.acceleration_y": -9.81}, tolerance=TIGHT
    )
    weightless = LinkChain(links=3).simulate(stop=1, step=0.1, start=start | {"gravity": 0.0}, tolerance=TIGHT)
    assert falling["base.y"] == pytest.approx(-9.81 / 2 * falling.t**2, abs=COMMUNICATION_STEP)
    for k in (1, 2, 3):
        assert falling[f"joint[{k}].angle"] == pytest.approx(weightless[f"joint[{k}].angle"], abs=COMMUNICATION_STEP)


@sizes_and_seeds
def test_a_turning_base_is_a_turned_first_joint(n: int, seed: int) -> None:
    """The base turns about joint 1, so that in the world only the angle of rod 1 is counted differently.

    th_1 = base angle + q_1, and likewise rate and acceleration. The moment in the joint is that of the relative motion.
    """
    case = general_case(n, "moving", seed).set(base_ax=0.0, base_ay=0.0)
    x, u, p = case.chain.table.x(case.x), case.chain.table.u(case.u), case.chain.table.p(case.p)
    moment = u.tau - p.k * (x.q - p.q_ref) - p.d * x.dq - p.tc * np.tanh(x.dq / p.vs)
    first = np.eye(n)[0]
    fixed = on_fixed_base(
        case, q=x.q + first * x.base_angle, dq=x.dq + first * x.base_w, tau=moment, k=0.0, d=0.0, tc=0.0
    ).outputs()
    found = case.outputs()
    assert off_by(found["qdd"] + first * u.base_eps, fixed["qdd"]) < IDENTITY
    assert off_by([*found["Rx"], *found["Ry"]], [*fixed["Rx"], *fixed["Ry"]]) < IDENTITY


def test_the_base_follows_its_accelerations() -> None:
    start = {"base.acceleration_x": 0.4, "base.acceleration_y": -0.6, "base.angular_acceleration": 1.2}
    result = LinkChain(links=2, base="moving").simulate(stop=2, step=0.25, start=start, tolerance=TIGHT)
    t = result.t
    for position, rate, a in (
        ("base.x", "base.velocity_x", 0.4),
        ("base.y", "base.velocity_y", -0.6),
        ("base.angle", "base.rate", 1.2),
    ):
        assert result[position] == pytest.approx(a * t**2 / 2, abs=COMMUNICATION_STEP)
        assert result[rate] == pytest.approx(a * t, abs=COMMUNICATION_STEP)
