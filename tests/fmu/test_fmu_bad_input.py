"""Invalid input to an FMU: no crash, an error status, a message that names the problem, and a usable instance."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from helpers.build import Build
from helpers.fmu_client import Host, Refused, Slave

DISCARD, ERROR = 2, 3


def still_works(slave: Slave) -> None:
    """From any phase on: the instance can be brought to step, and moves."""
    before = slave["joint[1].rate"]
    slave.step(0.05)
    assert slave["joint[1].rate"] != before
    assert math.isfinite(slave["tip.x"])


def test_a_mistake_is_an_error_not_the_end(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2)).initialize()
    mistakes: list[Callable[[], object]] = [
        lambda: slave.set({"joint[1].torque": math.nan}),
        lambda: slave.set({"link[1].mass": 2.0}),
        lambda: slave.call("getReal", [100000]),
        lambda: slave.call("doStep", 0.0, -1.0),
        lambda: slave.call("doStep", 5.0, 0.1),
        lambda: slave.call("exitInitializationMode"),
    ]
    for mistake in mistakes:
        with pytest.raises(Refused) as refusal:
            mistake()
        assert refusal.value.status == ERROR
    still_works(slave)


BAD_PARAMETERS = {
    "zero mass": ("link[1].mass", 0.0, "greater than 0"),
    "negative mass": ("link[2].mass", -1.0, "greater than 0"),
    "zero length": ("link[1].length", 0.0, "greater than 0"),
    "negative length": ("link[2].length", -0.5, "greater than 0"),
    "negative inertia": ("link[1].inertia", -1e-3, "at least 0"),
    "negative damping": ("joint[1].damping", -0.1, "at least 0"),
    "negative stiffness": ("joint[2].stiffness", -1.0, "at least 0"),
    "zero friction speed": ("joint[1].friction_speed", 0.0, "greater than 0"),
    "NaN angle": ("joint[1].angle_start", math.nan, "finite"),
    "infinite rate": ("joint[2].rate_start", math.inf, "finite"),
    "infinite gravity": ("gravity", -math.inf, "finite"),
    "NaN torque": ("joint[1].torque", math.nan, "finite"),
    "infinite tip force": ("tip.force_x", math.inf, "finite"),
    "negative solver step": ("solver.max_step", -1.0, "at least 0"),
    "tolerance too large": ("solver.relative_tolerance", 1.0, "at most 0.01"),
}


def test_bad_values_are_refused_before_and_in_initialization(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2))
    for name, value, why in BAD_PARAMETERS.values():
        with pytest.raises(Refused) as refusal:
            slave.set({name: value})
        assert name in str(refusal.value) and why in str(refusal.value)
    slave.enter()
    for name, value, why in BAD_PARAMETERS.values():
        before = slave[name]
        with pytest.raises(Refused) as refusal:
            slave.set({name: value})
        assert name in str(refusal.value) and why in str(refusal.value)
        assert slave[name] == before
    slave.call("exitInitializationMode")
    still_works(slave)


def test_the_last_link_needs_inertia_about_its_joint(fmu: Build, host: Host) -> None:
    """Each value alone is fine; together they make the equations singular, which shows when initialization ends."""
    slave = host.open(fmu(links=2)).enter({"link[2].com": 0.0, "link[2].inertia": 0.0})
    with pytest.raises(Refused, match="last link") as refusal:
        slave.call("exitInitializationMode")
    assert "com" in str(refusal.value) and "inertia" in str(refusal.value)
    slave.set({"link[2].com": 0.1})
    slave.call("exitInitializationMode")
    still_works(slave)


def test_an_inner_link_may_be_without_inertia(fmu: Build, host: Host) -> None:
    """A point in a joint is carried by its followers: not to be refused with the last one."""
    still_works(host.open(fmu(links=2)).initialize({"link[1].com": 0.0, "link[1].inertia": 0.0}))


def test_bad_input_between_steps(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2)).initialize({"joint[1].torque": 2.0})
    for value in (math.nan, math.inf):
        slave.step(0.01)
        with pytest.raises(Refused, match=r"joint\[1\]\.torque.*finite"):
            slave.set({"joint[1].torque": value})
        assert slave["joint[1].torque"] == 2.0
    still_works(slave)


def test_one_bad_value_among_good_ones_sets_none(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2)).enter()
    before = slave.get("link[1].mass", "link[2].mass")
    with pytest.raises(Refused, match=r"link\[2\]\.mass"):
        slave.set({"link[1].mass": 3.0, "link[2].mass": -3.0})
    assert slave.get("link[1].mass", "link[2].mass") == before


# --- calls that make no sense -----------------------------------------------------------------------------------------

NO_SUCH_REFERENCE = 100000


READERS = ("getReal", "getInteger", "getBoolean", "getString")
WRITERS = {"setReal": 1.0, "setInteger": 1, "setBoolean": 1}


def test_unknown_value_references(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2)).initialize()
    for function in READERS:
        with pytest.raises(Refused, match=str(NO_SUCH_REFERENCE)):
            slave.call(function, [NO_SUCH_REFERENCE])
    for function, value in WRITERS.items():
        with pytest.raises(Refused, match=str(NO_SUCH_REFERENCE)):
            slave.call(function, [NO_SUCH_REFERENCE], [value])
    still_works(slave)


def test_wrong_type(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2)).initialize()
    torque = [slave.references["joint[1].torque"]]
    for function in READERS[1:]:
        with pytest.raises(Refused, match=r"joint\[1\]\.torque.*Real"):
            slave.call(function, torque)
    for function in ("setInteger", "setBoolean"):
        with pytest.raises(Refused, match=r"joint\[1\]\.torque.*Real"):
            slave.call(function, torque, [WRITERS[function]])
    still_works(slave)


def test_a_guess_for_a_state_that_is_not_its_start_gets_a_warning(fmu: Build, host: Host) -> None:
    """Hosts set all start values of the description; a user who sets a state must learn that its parameter counts."""
    slave = host.open(fmu(links=2))
    slave.set({"joint[1].angle_start": 0.5})
    slave.set({"joint[1].angle": 0.5})
    assert host.said == ""
    slave.set({"joint[1].angle": 0.25})
    assert "joint[1].angle = 0.25 has no effect" in host.said
    still_works(slave.initialize())


def test_what_is_computed_cannot_be_set(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2)).initialize()
    for name in ("tip.x", "joint[1].angle", "energy.total", "der(joint[1].rate)"):
        with pytest.raises(Refused) as refusal:
            slave.set({name: 1.0})
        assert name in str(refusal.value)
    still_works(slave)


def test_step_of_nonsensical_size(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2)).initialize()
    for h in (0.0, -0.01, math.nan, math.inf):
        with pytest.raises(Refused, match="step"):
            slave.call("doStep", 0.0, h)
        assert slave.discarded()[0] == 0.0
    still_works(slave)


def test_step_from_a_time_where_the_simulation_is_not(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2)).initialize()
    slave.step(0.01)
    for t in (0.5, -0.01, 0.010001, math.nan):
        with pytest.raises(Refused, match="step"):
            slave.call("doStep", t, 0.01)
        assert slave.discarded()[0] == 0.01
    still_works(slave)


def test_step_before_initialization(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2))
    with pytest.raises(Refused, match=r"step.*instantiated"):
        slave.step(0.01)
    slave.enter()
    with pytest.raises(Refused, match=r"step.*initiali[sz]ation"):
        slave.step(0.01)
    slave.call("exitInitializationMode")
    still_works(slave)


def test_calls_in_the_wrong_order(fmu: Build, host: Host) -> None:
    """Initialization that ends before it begins, terminate before the start, initialization twice."""
    slave = host.open(fmu(links=2))
    for call, why in (("exitInitializationMode", "initialization"), ("terminate", "terminate")):
        with pytest.raises(Refused, match=why):
            slave.call(call)
    slave.initialize()
    with pytest.raises(Refused, match="initialization"):
        slave.call("enterInitializationMode")
    still_works(slave)


def test_after_the_end_nothing_moves_until_reset(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2)).initialize()
    slave.step(0.01)
    slave.call("terminate")
    with pytest.raises(Refused, match=r"step.*terminated"):
        slave.step(0.01)
    slave.reset()
    still_works(slave.initialize())


def test_bad_tolerance_and_start_time_of_the_experiment(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2))
    for tolerance in (-1e-6, math.nan):
        with pytest.raises(Refused, match="tolerance"):
            slave.enter(tolerance=tolerance)
        slave.reset()
    for start in (math.nan, math.inf):
        with pytest.raises(Refused, match="start time"):
            slave.enter(t=start)
        slave.reset()
    still_works(slave.initialize())


def test_a_step_the_solver_cannot_make_is_discarded(fmu: Build, host: Host) -> None:
    """The state before the step is still valid, and the host may go on from it with another input."""
    slave = host.open(fmu(links=2)).initialize()
    slave.step(0.01)
    before = slave.get("joint[1].angle", "joint[1].rate")
    slave.set({"joint[1].torque": 1e200})
    with pytest.raises(Refused, match=r"0\.01") as refusal:
        slave.call("doStep", 0.01, 0.01)
    assert refusal.value.status == DISCARD
    assert slave.discarded()[0] == pytest.approx(0.01)
    slave.set({"joint[1].torque": 0.0})
    assert slave.get("joint[1].angle", "joint[1].rate") == before
    still_works(slave)


# --- logging ----------------------------------------------------------------------------------------------------------


def test_many_refusals_do_no_harm(fmu: Build, host: Host) -> None:
    """A host that tries again and again: every refusal alike, nothing wears out."""
    slave = host.open(fmu(links=2)).initialize()
    for _ in range(100):
        with pytest.raises(Refused, match=str(NO_SUCH_REFERENCE)):
            slave.call("getReal", [NO_SUCH_REFERENCE])
    still_works(slave)
    slave.free()
    still_works(host.open(fmu(links=2), "another").initialize())


def test_a_good_run_is_silent(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2))
    assert host.said == ""
    slave.initialize()
    assert host.said == ""
    slave.step(0.1)
    assert host.said == ""


def test_a_message_names_the_instance_that_failed(fmu: Build, host: Host) -> None:
    """Also with logging off, as most hosts run: a bare status helps nobody."""
    slave = host.open(fmu(links=2), "left leg", logging=False).enter()
    with pytest.raises(Refused):
        slave.set({"link[1].mass": -1.0})
    assert "left leg" in host.said and "link[1].mass" in host.said
