"""Errors of the exoskeleton and their messages, in the library and in FMUs; the instance remains usable."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.build import Build
from helpers.exo_cases import A_FRAME
from helpers.exo_golden import state_names
from helpers.fmu_client import Host, Refused
from mechfmu import Exoskeleton
from mechfmu.mechanisms.exoskeleton.events import Event, EventKind
from mechfmu.model import UserError
from mechfmu.simulation.engines import make_instance
from mechfmu.simulation.integration import IntegrationError

THREE = dict(leg1=1, leg2=1, body=1)
UPRIGHT = {f"link[{i}].angle_start": math.pi / 2 for i in (1, 2, 3)}
STANDING = {"hip.y_start": 0.9274, "foot[1].pinned_start": 1, "foot[2].pinned_start": 1}
MASSLESS = {f"link[{i}].axial_inertia": 0.0 for i in (1, 2, 3)}

BAD_STARTS = {
    "too short": ({"link[2].length_start": 0.19 * 0.9274}, "link[2].length falls below 0.2 of its rest length"),
    "parallel without axial inertia": (UPRIGHT | MASSLESS,
        "all links are parallel at the start and have no axial inertia"),
    "legs locked and parallel": (UPRIGHT | STANDING | {"link[1].locked": 1, "link[2].locked": 1},
        "both legs are locked and parallel and both feet are pinned"),
    "below the ground": ({"hip.y_start": 0.5}, "foot[1] starts below the ground"),
    "pinned in the air": ({"foot[2].pinned_start": 1},
        "foot[2].pinned_start is set, but foot[2] starts more than 0.001 m above the ground"),
    "pinned and moving": (UPRIGHT | STANDING | {"hip.velocity_x_start": 0.5},
        "foot[1] moves by more than 0.001 m/s at the start"),
    "locked and moving": ({"link[3].locked": 1, "link[3].length_rate_start": 0.1},
        "link[3].length_rate_start must be 0: link[3].locked is set"),
}  # fmt: skip
bad_starts = pytest.mark.parametrize(("start", "text"), BAD_STARTS.values(), ids=BAD_STARTS.keys())


@bad_starts
@pytest.mark.parametrize("name", ("numpy", "casadi", "c"))
def test_a_bad_start_in_the_library(name: str, start: dict[str, float], text: str) -> None:
    with pytest.raises(UserError) as refused:
        make_instance(Exoskeleton.three_link(), start, name).initialize()
    assert text in str(refused.value) and "\n" not in str(refused.value)


@bad_starts
def test_a_bad_start_in_an_fmu(fmu: Build, host: Host, start: dict[str, float], text: str) -> None:
    """An error when initialization ends."""
    slave = host.open(fmu("exoskeleton", **THREE)).enter(start)
    with pytest.raises(Refused) as refused:
        slave.call("exitInitializationMode")
    assert text in str(refused.value)


def test_after_a_bad_start_a_new_instance_accepts_a_valid_one(fmu: Build, host: Host) -> None:
    file = fmu("exoskeleton", **THREE)
    slave = host.open(file).enter(BAD_STARTS["below the ground"][0])
    with pytest.raises(Refused):
        slave.call("exitInitializationMode")
    slave.free()
    host.open(file).initialize()


def test_starts_near_the_limits_are_accepted() -> None:
    """The same postures with a small margin are valid."""
    for start in (
        UPRIGHT | {"hip.y_start": 1.0},
        UPRIGHT | STANDING,
        UPRIGHT | STANDING | {"link[1].locked": 1},
        MASSLESS,
        {"link[2].length_start": 0.25 * 0.9274, "hip.y_start": 2.0},
        STANDING | UPRIGHT | {"hip.y_start": 0.9279},
    ):
        instance = make_instance(Exoskeleton.three_link(), start)
        instance.initialize()
        instance.step(0.0, 1e-3)
        assert np.all(np.isfinite(instance.get(instance.table.of("state", "output"))))


def test_a_start_slightly_off_the_pins_is_projected_onto_them() -> None:
    """Half a millimetre above the ground and 0.2 mm/s: the start state is projected onto the pins."""
    m = Exoskeleton.three_link()
    _, x, d, u, p = m.start(UPRIGHT | STANDING | {"hip.y_start": 0.9279, "hip.velocity_x_start": 2e-4})
    y = m.table.y(m.outputs(0.0, x, d, u, p))
    assert np.max(np.abs([*y.foot_y, *y.foot_vx, *y.foot_vy])) < 1e-12


CRUSH = {f"link[{i}].axial_force": -6e4 for i in (1, 2)}


def test_a_link_that_collapses_ends_the_step(fmu: Build, host: Host) -> None:
    """The step is discarded with its reason; without the force, the instance continues from where it was."""
    slave = host.open(fmu("exoskeleton", **THREE)).initialize(A_FRAME)
    slave.step(0.05)
    before = slave.get(*state_names(3))
    slave.set(CRUSH)
    with pytest.raises(Refused, match=r"link\[[12]\]\.length falls below 0\.2 of its rest length") as refused:
        slave.call("doStep", 0.05, 0.2)
    assert refused.value.status == 2, "fmi2Discard"
    assert slave.get(*state_names(3)) == before
    slave.set(dict.fromkeys(CRUSH, 0.0))
    slave.step(0.2)
    assert slave.get(*state_names(3)) != before


def test_locked_legs_that_are_almost_parallel() -> None:
    """A microradian apart is an error as well, one pinned foot is not; during a run an event ends the simulation."""
    m, undetermined = Exoskeleton.six_link(contact="pinned"), Event(EventKind.UNDETERMINED).name
    locked = (
        {f"link[{i}].locked": 1 for i in (1, 2, 3, 4)}
        | {f"link[{i}].angle_start": math.pi / 2 for i in range(1, 7)}
        | {"hip.y_start": 0.9274}
    )
    with pytest.raises(UserError, match="the reactions are not determined"):
        make_instance(m, locked | {"link[2].angle_start": math.pi / 2 + 1e-6}, "casadi").initialize()
    make_instance(m, locked | {"foot[2].pinned_start": 0}, "casadi").initialize()
    bent = {"link[1].angle_start": math.pi / 2 + 0.2, "link[4].angle_start": math.pi / 2 + 0.2}
    for straight, start in ((False, locked | bent), (True, locked | dict.fromkeys(bent, math.pi / 2 + 1e-8))):
        p = m.table.defaults("parameter")
        for scalar, value in m.settings(start):
            p[scalar.index] = value
        x, d = m.initial(p)
        guards = dict(zip(m.event_names, m.guards(0.0, x, d, m.table.defaults("input"), p), strict=True))
        assert (guards[undetermined] <= 0) == straight
    assert m.event_notes[undetermined].stop


def test_too_many_events_in_a_step_are_an_error() -> None:
    """Hops of 0.1 mm without loss: a second holds more of them than a step may have."""
    start = {
        **A_FRAME,
        "ground.restitution": 1.0,
        "ground.capture_speed": 0.0,
        "hip.y_start": 0.8985693798944521 + 2e-6,
    } | {f"link[{i}].locked": 1 for i in (1, 2, 3)}
    instance = make_instance(Exoskeleton.three_link(), start, "c")
    instance.initialize()
    with pytest.raises(IntegrationError, match="too many events"):
        instance.step(0.0, 5.0)
    instance.step(0.0, 1e-3)


@pytest.mark.parametrize(
    ("options", "text"),
    (
        (dict(leg1=0), "option leg1=0: must be at least 1"),
        (dict(contact="sticky"), "option contact=sticky: must be one of automatic, flight, pinned, external"),
        (dict(inertia="none"), "option inertia=none: must be one of constant, prescribed, length"),
    ),
)
def test_bad_options(options: dict[str, object], text: str) -> None:
    with pytest.raises(UserError, match=text):
        Exoskeleton(**options)
