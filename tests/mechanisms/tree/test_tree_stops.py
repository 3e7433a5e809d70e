"""Elastic stops at the limits of joints: they hold, they push only, and every joule is accounted for."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.fmu_client import Host
from helpers.tolerances import STOP_BALANCE, STOP_DEPTH, STOP_LOSS, STOP_SPEED, TIGHT, TREE_POWER
from helpers.tree_cases import BuildTree, Point, mechanism_of, rate_along
from mechfmu.multibody.tree import Body, BodyTree, Joint

pytest_plugins = ["helpers.tree_fixtures"]

LOWER, UPPER = -0.5, 0.8
PENDULUM = BodyTree(
    "Stopped",
    (
        Body("rod", 2.0, (0.0, 0.0, -0.4), (0.1, 0.1, 0.01, 0.0, 0.0, 0.0)),
        Body("bob", 0.5, (0.0, 0.0, 0.0), (0.01, 0.01, 0.01, 0.0, 0.0, 0.0)),
    ),
    (
        Joint("swing", "revolute", "rod", axis=(0.0, 1.0, 0.0), lower=LOWER, upper=UPPER),
        Joint("slide", "prismatic", "bob", "rod", (0.0, 0.0, -0.3), axis=(0.0, 0.0, -1.0), lower=0.0, upper=0.2),
    ),
)
STARTS = {"swing.rate_start": 6.0, "slide.position_start": 0.1}


@pytest.mark.parametrize("dissipation", (0.0, 0.1))
def test_the_energy_balance_over_many_impacts(dissipation: float) -> None:
    start = {**STARTS, "stops.dissipation": dissipation}
    result = mechanism_of(PENDULUM, stops="elastic").simulate(stop=2.0, step=0.01, start=start, tolerance=TIGHT)
    total, lost = result["energy.total"], result["energy.dissipated"]
    assert np.max(np.abs(total - total[0] + lost)) < STOP_BALANCE * result["energy.kinetic"].max()
    assert (lost[-1] > 1.0) == (dissipation > 0)
    assert result["swing.angle"].max() > UPPER  # it did meet its stops
    assert result["swing.angle"].min() < LOWER


def test_joints_stay_near_their_limits() -> None:
    """At most as deep as the whole energy would press a spring of this stiffness."""
    free, held = (
        mechanism_of(PENDULUM, stops=stops).simulate(stop=1.0, step=0.005, start=STARTS, tolerance=TIGHT)
        for stops in ("none", "elastic")
    )
    energy = held["energy.kinetic"][0] + 2.5 * 9.81 * 2.0
    depth = np.sqrt(2 * energy / 1e4)
    assert held["swing.angle"].max() < UPPER + depth
    assert held["swing.angle"].min() > LOWER - depth
    assert held["slide.position"].max() < 0.2 + depth
    assert held["slide.position"].min() > -depth
    assert free["swing.angle"].max() > UPPER + 2 * depth  # without stops, limits have no effect


def test_a_joint_comes_to_rest_on_its_stop() -> None:
    """The slide hangs on its lower end: k depth = m g."""
    start = {"swing.damping": 5.0, "slide.position_start": 0.15, "stops.stiffness": 2000.0, "slide.damping": 20.0}
    result = mechanism_of(PENDULUM, stops="elastic").simulate(stop=6.0, step=0.1, start=start, tolerance=TIGHT)
    assert result["slide.position"][-1] - 0.2 == pytest.approx(0.5 * 9.81 / 2000.0, rel=STOP_DEPTH)
    assert abs(result["slide.speed"][-1]) < STOP_SPEED


@pytest.mark.parametrize(
    ("angle", "rate"),
    ((0.85, 2.0), (0.85, -2.0), (-0.55, -2.0), (-0.55, 2.0)),
    ids=("into", "out of", "into lower", "out of lower"),
)
def test_power_balance_inside_a_stop(angle: float, rate: float) -> None:
    point = Point(
        mechanism_of(PENDULUM, stops="elastic"),
        {"slide.position_start": 0.1},
        {"swing.angle": angle, "swing.rate": rate, "slide.speed": 0.3},
    )
    lost = point.rate("energy.dissipated")
    (total,) = rate_along(point, ["energy.total"])
    assert lost == pytest.approx(1e4 * 0.1 * 0.05 * rate**2, rel=STOP_LOSS)
    assert abs(total + lost) < TREE_POWER * (lost + abs(point["energy.total"]))


def test_stops_push_harder_against_motion_into_them() -> None:
    mechanism = mechanism_of(PENDULUM, stops="elastic")
    pushes = [
        Point(mechanism, {}, {"swing.angle": 0.85, "swing.rate": rate})["swing.acceleration"]
        for rate in (2.0, 0.0, -2.0)
    ]
    assert pushes[0] < pushes[1] < pushes[2] < 0


def test_stops_have_no_effect_within_the_limits() -> None:
    wanted = ("swing.acceleration", "slide.acceleration", "energy.total")
    start = {"swing.angle_start": 0.7, "slide.position_start": 0.1, "swing.rate_start": 1.0}
    elastic, none = (Point(mechanism_of(PENDULUM, stops=stops), start).get(*wanted) for stops in ("elastic", "none"))
    assert elastic.tolist() == none.tolist()


def test_stops_in_an_fmu(tree_fmu: BuildTree, host: Host) -> None:
    slave = host.open(tree_fmu(mechanism_of(PENDULUM, stops="elastic"))).initialize(STARTS, tolerance=TIGHT)
    before, kinetic = slave.get("energy.total", "energy.kinetic")
    rows = slave.run([0.01] * 100, ["swing.angle", "energy.total", "energy.dissipated"])
    assert UPPER < rows[:, 0].max() < UPPER + 0.2
    assert np.max(np.abs(rows[:, 1] + rows[:, 2] - before)) < STOP_BALANCE * kinetic
    assert rows[-1, 2] > 0.5
