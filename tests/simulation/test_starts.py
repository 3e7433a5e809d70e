"""Difficult starts: feet at the ground, bodies that fall, an equilibrium on both feet, quaternions of other lengths."""

from __future__ import annotations

import numpy as np
import pytest

from mechfmu import Exoskeleton, SphericalArm
from mechfmu.analysis.linear import start_at, trim
from mechfmu.model import UserError
from mechfmu.simulation.integration import IntegrationError

STANDING = 0.898569379894  # m: hip.y_start with both feet at the ground
both_engines = pytest.mark.parametrize("engine", ("casadi", "c"))


@both_engines
@pytest.mark.parametrize("above", (0.0, 5e-7, -5e-7))
def test_feet_at_the_ground_start_in_contact(engine: str, above: float) -> None:
    result = Exoskeleton.three_link().simulate(stop=0.05, start={"hip.y_start": STANDING + above}, engine=engine)
    assert result["phase"][0] == 3
    assert min(result["foot[1].gap"].min(), result["foot[2].gap"].min()) > -1e-9


@both_engines
@pytest.mark.parametrize("speed", (-1.0, 0.1))
def test_feet_at_the_ground_that_move_land_when_they_close(engine: str, speed: float) -> None:
    result = Exoskeleton.three_link().simulate(
        stop=0.05, start={"hip.y_start": STANDING, "hip.velocity_y_start": speed}, engine=engine
    )
    assert result["phase"][0] == 0 and result["events"][-1] >= 1
    assert min(result["foot[1].gap"].min(), result["foot[2].gap"].min()) > -1e-9


def test_feet_clearly_below_the_ground_are_refused() -> None:
    with pytest.raises(UserError, match=r"foot\[1\] starts below the ground"):
        Exoskeleton.three_link().simulate(stop=0.1, start={"hip.y_start": STANDING - 1e-5})


def test_a_body_that_falls_ends_the_run_unless_told_otherwise() -> None:
    """Without moments in its joints it collapses."""
    with pytest.raises((IntegrationError, UserError), match="below the ground: it has fallen"):
        Exoskeleton().simulate(stop=1.0, engine="c")
    assert Exoskeleton().simulate(stop=1.0, start={"ground.falls_end": 0}, engine="c")["hip.y"][-1] < 0


def test_an_equilibrium_on_both_feet_keeps_standing() -> None:
    """Found with pinned feet; a simulation that starts there with automatic contact also begins in contact."""
    pinned, walker = (Exoskeleton.three_link(contact=contact) for contact in ("pinned", "automatic"))
    moments = [s.name for s in pinned.table.of("input") if "moment" in s.name]
    point = trim(pinned, {"ground.stabilization": 0.0}, free=moments, hold=["link[3].angle"])
    result = walker.simulate(
        stop=0.2,
        start={k: v for k, v in start_at(pinned, point).items() if k in walker.table.by_name}
        | {"hip.y_start": point.x[1] - _lowest(pinned, point)},
    )
    assert set(result["phase"]) == {3.0}
    assert np.ptp(result["hip.y"]) < 1e-3


def _lowest(mechanism: Exoskeleton, point: object) -> float:
    y = mechanism.table.y(mechanism.outputs(point.t, point.x, point.d, point.u, point.p))  # type: ignore[attr-defined]
    return float(min(y.foot_y))


@both_engines
def test_a_start_quaternion_off_unit_length_is_a_warning(engine: str) -> None:
    with pytest.warns(RuntimeWarning, match=r"joint\[1\]: its quaternion_start is not of length 1"):
        SphericalArm().simulate(stop=0.01, start={"joint[1].quaternion_start[1]": 1.0}, engine=engine)
    SphericalArm().simulate(stop=0.01, engine=engine)
