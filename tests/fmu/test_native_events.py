"""Events of the native FMU: impacts with a closed-form solution, in Co-Simulation and Model Exchange, single,
simultaneous, and at the ends of steps."""

from __future__ import annotations

import json
import math
import sys
from contextlib import nullcontext
from ctypes import byref
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.native_build import Native, extra, run
from helpers.native_fmi import (
    DISCARD,
    ERROR,
    MODEL_EXCHANGE,
    OK,
    WARNING,
    Component,
    EventInfo,
    Fmu,
    integers,
    reals,
    references,
)
from helpers.native_mechanisms import Driven, Flicker, Sawtooth, TwoBalls, Watched, Wheel
from helpers.tolerances import IMPACT, IMPACT_CVODE, SMALL_MODEL
from mechfmu.simulation.flags import first_of_each
from mechfmu.simulation.instance import Instance
from mechfmu.simulation.integration import IntegrationError
from mechfmu.simulation.limits import EVENT_LIMIT

pytest_plugins = ("helpers.native_fixtures",)

GRAVITY, HEIGHT, RESTITUTION = 10.0, 1.25, 0.5  # the ball's defaults: first impact at 0.5 s with 5 m/s


def impacts(height: float = HEIGHT, restitution: float = RESTITUTION, count: int = 60) -> np.ndarray:
    """Times of the first impacts."""
    first = math.sqrt(2 * height / GRAVITY)
    return first + np.append(0.0, np.cumsum(2 * first * restitution ** np.arange(1, count)))


def on_paper(t: float, height: float = HEIGHT, restitution: float = RESTITUTION) -> tuple[float, float, int]:
    """Height, velocity and number of impacts at time t."""
    times = impacts(height, restitution)
    bounces = int(np.searchsorted(times, t, side="right"))
    if bounces == 0:
        return height - GRAVITY * t**2 / 2, -GRAVITY * t, 0
    speed, since = math.sqrt(2 * GRAVITY * height) * restitution**bounces, t - times[bounces - 1]
    return speed * since - GRAVITY * since**2 / 2, speed - GRAVITY * since, bounces


@pytest.fixture(scope="module")
def ball(native: Native) -> Fmu:
    mechanism = extra("bouncing_ball")
    return Fmu(mechanism, native.binary(mechanism))


@pytest.fixture(scope="module")
def two_balls(native: Native) -> Fmu:
    return Fmu(TwoBalls(), native.binary(TwoBalls()))


def motion(instance: Component) -> tuple[float, float, int]:
    height, velocity = instance.get("ball.height", "ball.velocity")
    return height, velocity, instance.get_integer("ball.bounces")


# --- Co-Simulation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", (0.01, 0.07, 0.3, 0.6, 1.1, 1.4))
@pytest.mark.parametrize("method", (1, 2, 3), ids=("explicit", "implicit", "automatic"))
@pytest.mark.parametrize("tolerance", (None, 1e-10), ids=("default", "tight"))
def test_the_ball_bounces_as_on_paper(ball: Fmu, step: float, method: int, tolerance: float | None) -> None:
    """Impacts inside a step, at its end, and several in one. Free fall has no integration error, so the step-size
    control would allow a whole flight in one step."""
    instance = ball.open()
    instance.set_integer({"solver.method": method})
    instance.initialize(tolerance=tolerance)
    for i in range(1, math.floor(1.43 / step) + 1):
        instance.step(step)
        if min(abs(impacts() - i * step)) < IMPACT:
            continue  # on an impact both sides of it are right
        assert motion(instance) == pytest.approx(on_paper(i * step), abs=10 * IMPACT), f"t = {i * step}"


@pytest.mark.parametrize("beyond", (-1e-9, -1e-11, 0.0, 1e-15, 1e-12, 5e-11, 1e-10, 1e-9))
def test_an_impact_at_the_very_end_of_a_step(ball: Fmu, beyond: float) -> None:
    instance = ball.open().initialize()
    instance.step(0.5 + beyond)
    instance.step(0.25)
    assert motion(instance) == pytest.approx(on_paper(0.75 + beyond), abs=10 * IMPACT)


def test_an_input_changes_the_next_impact(ball: Fmu) -> None:
    half = GRAVITY / 2
    instance = ball.open().initialize({"ball.thrust": half})
    instance.step(0.9)
    first = math.sqrt(2 * HEIGHT / half)
    speed, since = RESTITUTION * half * first, 0.9 - first
    assert motion(instance) == pytest.approx(
        (speed * since - half * since**2 / 2, speed - half * since, 1), abs=10 * IMPACT
    )


def test_an_input_on_a_ramp_changes_the_next_impact(ball: Fmu) -> None:
    """y'' = -g + 6 t has the root of 1.25 - 5 t^2 + t^3 as its impact."""
    instance = ball.open().initialize(tolerance=1e-10)
    instance.do(
        "fmi2SetRealInputDerivatives", references(instance.refs(["ball.thrust"])), 1, integers([1]), reals([6.0])
    )
    instance.step(0.7)
    (t,) = (r.real for r in np.roots([1.0, -5.0, 0.0, HEIGHT]) if abs(r.imag) < 1e-12 and 0 < r.real < 0.7)
    speed, thrust, since = RESTITUTION * (GRAVITY * t - 3 * t**2), 6 * t, 0.7 - t
    height = speed * since + (thrust - GRAVITY) * since**2 / 2 + since**3
    assert instance.get_integer("ball.bounces") == 1
    assert instance["ball.height"] == pytest.approx(height, abs=10 * IMPACT)


@pytest.mark.parametrize("step", (0.01, 0.05, 0.6, 0.9))
def test_two_balls_that_start_differently(two_balls: Fmu, step: float) -> None:
    """Either ball's impacts, whichever is first within a step, without disturbing the other."""
    instance = two_balls.open().initialize()
    heights = {1: 1.3, 2: 0.7}
    for i in range(1, math.floor(1.0 / step) + 1):
        instance.step(step)
        for k, height in heights.items():
            if min(abs(impacts(height) - i * step)) < IMPACT:
                continue
            found = (
                *instance.get(f"ball[{k}].height", f"ball[{k}].velocity"),
                instance.get_integer(f"ball[{k}].bounces"),
            )
            assert found == pytest.approx(on_paper(i * step, height), abs=10 * IMPACT), f"ball {k} at t = {i * step}"


@pytest.mark.parametrize("later", (0.0, 1e-12, 1e-10, 1e-8, -1e-12, -1e-8))
def test_two_balls_that_hit_the_floor_together(two_balls: Fmu, later: float) -> None:
    """No impact may be lost because another one was treated at the same moment."""
    instance = two_balls.open().initialize({"ball[1].height_start": 1.3, "ball[2].height_start": 1.3 + later})
    instance.step(0.6)
    for k in (1, 2):
        found = (*instance.get(f"ball[{k}].height", f"ball[{k}].velocity"), instance.get_integer(f"ball[{k}].bounces"))
        assert found == pytest.approx(on_paper(0.6, 1.3), abs=10 * IMPACT), f"ball {k}"


def test_too_many_impacts_are_refused_and_nothing_is_lost(native: Native) -> None:
    """A lossless ball that hops every 0.9 ms: a second holds more impacts than a step may have."""
    mechanism, hop = extra("bouncing_ball", restitution=1.0), 1e-6
    fmu = Fmu(mechanism, native.binary(mechanism))
    flight = 2 * math.sqrt(2 * hop / GRAVITY)
    instance = fmu.open().initialize({"ball.height_start": hop, "solver.max_step": flight / 4})
    before = instance.bytes()
    assert instance("fmi2DoStep", 0.0, 1.0, 1) == 2
    assert "too many events" in instance.said
    assert instance.bytes() == before
    instance.step(2 * flight)
    height, _, bounces = motion(instance)
    assert height == pytest.approx(hop, rel=1e-3) and bounces == 2


def test_a_state_saved_between_impacts_repeats_the_same_bits(ball: Fmu) -> None:
    instance = ball.open().initialize()
    instance.step(0.6)
    saved = instance.bytes()
    instance.step(0.3)
    once = instance.bytes()
    other = ball.open().initialize()
    assert other.restore(saved) == 0
    other.t = 0.6
    other.step(0.3)
    assert other.bytes() == once


def test_an_impact_on_the_grid_of_the_reference_result(native: Native) -> None:
    """The build computes a reference result in steps of 10 ms; a fall of 1.25 m ends exactly at the end of one."""
    assert native.fmu(TwoBalls(), start={"ball[1].height_start": 1.25}).exists()


# --- Model Exchange, by hand ------------------------------------------------------------------------------------------


def put(instance: Component, t: float, height: float, velocity: float) -> None:
    """Set time and states, as an integrator does at the end of a step."""
    instance.do("fmi2SetTime", t)
    instance.set_states([height, velocity])


def test_an_impact_call_by_call(ball: Fmu) -> None:
    instance = ball.open(MODEL_EXCHANGE).initialize()
    assert instance.indicators() == pytest.approx([HEIGHT])
    info = instance.new_discrete_states()
    assert (
        not info.newDiscreteStatesNeeded
        and not info.valuesOfContinuousStatesChanged
        and not info.nextEventTimeDefined
        and not info.terminateSimulation
    )
    instance.do("fmi2EnterContinuousTimeMode")
    put(instance, 0.4, *on_paper(0.4)[:2])
    assert not instance.completed_step()
    assert instance.indicators()[0] > 0
    put(instance, 0.5, -1e-12, -5.0)
    assert instance.indicators()[0] > 0, "rounding does not change the sign"
    put(instance, 0.5, -1e-10, -5.0)
    assert instance.indicators()[0] < 0, "the sign of the indicator changes at the event"
    instance.completed_step()
    instance.do("fmi2EnterEventMode")
    info = instance.new_discrete_states()
    assert (
        info.valuesOfContinuousStatesChanged
        and not info.newDiscreteStatesNeeded
        and not info.nominalsOfContinuousStatesChanged
    )
    assert instance.states() == pytest.approx([0.0, 2.5])
    assert motion(instance) == pytest.approx((0.0, 2.5, 1))
    info = instance.new_discrete_states()
    assert not info.valuesOfContinuousStatesChanged, "an impact happens once"
    assert instance.get_integer("ball.bounces") == 1
    instance.do("fmi2EnterContinuousTimeMode")


def test_event_mode_without_an_event_changes_nothing(ball: Fmu) -> None:
    """A host also enters it for events of others, e.g. when it switches an input."""
    instance = ball.open(MODEL_EXCHANGE).continuous()
    put(instance, 0.4, *on_paper(0.4)[:2])
    instance.completed_step()
    instance.do("fmi2EnterEventMode")
    instance.set({"ball.thrust": 3.0})
    info = instance.new_discrete_states()
    assert not info.valuesOfContinuousStatesChanged
    assert instance.states() == pytest.approx(on_paper(0.4)[:2])
    assert instance.get_integer("ball.bounces") == 0
    assert instance.derivatives() == pytest.approx([-4.0, 3.0 - GRAVITY])


def test_a_ball_that_rises_through_the_floor_is_not_an_impact(ball: Fmu) -> None:
    """It starts below the floor, which a host may do."""
    instance = ball.open(MODEL_EXCHANGE).continuous()
    put(instance, 0.1, -0.1, 5.0)
    instance.do("fmi2EnterEventMode")
    instance.new_discrete_states()
    instance.do("fmi2EnterContinuousTimeMode")
    count = instance.get_integer("ball.bounces")
    put(instance, 0.2, 0.3, 4.0)
    assert not instance.completed_step()
    instance.do("fmi2EnterEventMode")
    assert not instance.new_discrete_states().valuesOfContinuousStatesChanged
    assert instance.get_integer("ball.bounces") == count


def test_one_impact_after_the_other(ball: Fmu) -> None:
    """Two events per flight: the indicator becomes positive, then crosses zero at the next impact."""
    instance = ball.open(MODEL_EXCHANGE).continuous()
    times = impacts()
    for k in range(4):
        put(instance, times[k], -1e-13, -5.0 * RESTITUTION**k)
        assert instance.indicators()[0] > 0
        instance.completed_step()
        instance.do("fmi2EnterEventMode")
        assert instance.new_discrete_states().valuesOfContinuousStatesChanged, f"impact {k + 1}"
        assert motion(instance) == pytest.approx((0.0, 5.0 * RESTITUTION ** (k + 1), k + 1))
        instance.do("fmi2EnterContinuousTimeMode")
        assert instance.indicators()[0] < 0
        top = (times[k] + times[k + 1]) / 2
        put(instance, top, *on_paper(top)[:2])
        assert not instance.completed_step()
        assert instance.indicators()[0] > 0
        instance.do("fmi2EnterEventMode")
        assert not instance.new_discrete_states().valuesOfContinuousStatesChanged
        instance.do("fmi2EnterContinuousTimeMode")


def test_a_host_that_takes_back_a_step_finds_the_impact_again(ball: Fmu) -> None:
    """The end of a step beyond the floor, back to before it with the saved state, then to the impact."""
    instance = ball.open(MODEL_EXCHANGE).continuous()
    put(instance, 0.4, *on_paper(0.4)[:2])
    instance.completed_step()
    saved = instance.bytes()
    put(instance, 0.6, -0.55, -6.0)
    instance.indicators()
    assert instance.restore(saved) == 0
    put(instance, 0.5, -1e-12, -5.0)
    instance.completed_step()
    instance.do("fmi2EnterEventMode")
    assert instance.new_discrete_states().valuesOfContinuousStatesChanged
    assert instance.get_integer("ball.bounces") == 1


def test_both_balls_at_once_in_model_exchange(two_balls: Fmu) -> None:
    instance = two_balls.open(MODEL_EXCHANGE).continuous()
    instance.do("fmi2SetTime", 0.5)
    instance.set_states([-1e-13, -1e-12, -4.0, -5.0])
    instance.completed_step()
    instance.do("fmi2EnterEventMode")
    while instance.new_discrete_states().newDiscreteStatesNeeded:
        pass
    assert instance.states() == pytest.approx([0.0, 0.0, 2.0, 2.5])
    assert [instance.get_integer(f"ball[{k}].bounces") for k in (1, 2)] == [1, 1]


def test_one_ball_alone_in_model_exchange(two_balls: Fmu) -> None:
    instance = two_balls.open(MODEL_EXCHANGE).continuous()
    instance.do("fmi2SetTime", 0.5)
    instance.set_states([0.4, -1e-12, -4.0, -5.0])
    instance.completed_step()
    instance.do("fmi2EnterEventMode")
    instance.new_discrete_states()
    assert instance.states() == pytest.approx([0.4, 0.0, -4.0, 2.5])
    assert [instance.get_integer(f"ball[{k}].bounces") for k in (1, 2)] == [0, 1]


def test_wrong_numbers_of_states_and_indicators_are_refused(ball: Fmu) -> None:
    instance = ball.open(MODEL_EXCHANGE).continuous()
    before = instance.bytes()
    for function, n in (
        ("fmi2GetEventIndicators", 2),
        ("fmi2GetEventIndicators", 0),
        ("fmi2GetContinuousStates", 1),
        ("fmi2GetDerivatives", 3),
        ("fmi2SetContinuousStates", 1),
        ("fmi2GetNominalsOfContinuousStates", 4),
    ):
        assert instance(function, reals([0.0] * 4), n) == ERROR, function
        assert "but there are" in instance.said
    assert instance.bytes() == before


# --- Model Exchange, in FMPy ------------------------------------------------------------------------------------------

FMPY = """
import json, sys
sys.modules["mechfmu"] = None
import fmpy
file, job = sys.argv[1], json.loads(sys.argv[2])
result = fmpy.simulate_fmu(file, fmi_type=job["type"], stop_time=job["stop"], output_interval=job["step"],
                           relative_tolerance=job["tolerance"], start_values=job.get("start", {}),
                           output=job["output"], record_events=job["events"])
print(json.dumps([[float(v) for v in row] for row in result.tolist()]))
"""


BALL = ["ball.height", "ball.velocity", "ball.bounces"]


def in_fmpy(file: Path, cwd: Path, **job: object) -> np.ndarray:
    """Return time and outputs, simulated by FMPy in a process of its own."""
    done = run([sys.executable, "-c", FMPY, file, json.dumps(job)], cwd=cwd)
    return np.array(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("step", (0.01, 0.05))
def test_impacts_in_fmpys_model_exchange(native: Native, tmp_path: Path, step: float) -> None:
    """CVode finds the impacts by the event indicator; at each one FMPy records both sides."""
    job = dict(type="ModelExchange", stop=1.2, step=step, tolerance=1e-8, output=BALL, events=True)
    rows = in_fmpy(native.fmu(extra("bouncing_ball")), tmp_path, **job)
    jumps = np.flatnonzero(np.diff(rows[:, 3]) > 0)
    assert rows[jumps, 0] == pytest.approx(impacts()[:2], abs=IMPACT_CVODE)
    away = np.min(np.abs(rows[:, 0].reshape(-1, 1) - impacts()), axis=1) > 10 * IMPACT_CVODE
    wanted = np.array([on_paper(t) for t in rows[:, 0]])
    assert np.abs(rows[away, 1:] - wanted[away]).max() < IMPACT_CVODE
    assert rows[-1, 3] == 2


def test_impacts_in_fmpys_co_simulation(native: Native, tmp_path: Path) -> None:
    job = dict(type="CoSimulation", stop=1.2, step=0.02, tolerance=1e-8, output=BALL, events=False)
    rows = in_fmpy(native.fmu(extra("bouncing_ball")), tmp_path, **job)
    away = np.min(np.abs(rows[:, 0].reshape(-1, 1) - impacts()), axis=1) > 10 * IMPACT
    wanted = np.array([on_paper(t) for t in rows[:, 0]])
    assert np.abs(rows[away, 1:] - wanted[away]).max() < 10 * IMPACT
    assert rows[-1, 3] == 2


# --- a Boolean that an event sets, types of variables -----------------------------------------------------------------


@pytest.fixture(scope="module")
def driven(native: Native) -> Fmu:
    return Fmu(Driven(), native.binary(Driven()))


def boolean(instance: Component, name: str) -> int:
    value = integers([7])
    instance.do("fmi2GetBoolean", references(instance.refs([name])), 1, value)
    return value[0]


def driven_reference(until: float, gear: int = 2, on: int = 1, force: float = 0.3) -> np.ndarray:
    m = Driven()
    _, x, d, u, p = m.start({"gear": gear, "drive.on": on, "force": force})
    return solve_ivp(lambda t, s: m.rates(t, s, d, u, p), (0.0, until), x, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


@pytest.mark.parametrize(("gear", "on"), ((1, 1), (3, 0), (2, 1)))
def test_all_types_of_variables_act(driven: Fmu, gear: int, on: int) -> None:
    """An Integer and a Boolean parameter, a time-dependent drive, a Boolean that an event sets for good."""
    instance = driven.open()
    instance.set_integer({"gear": gear})
    instance.do("fmi2SetBoolean", references(instance.refs(["drive.on"])), 1, integers([on]))
    instance.initialize({"force": 0.3}, 1e-10)
    assert (
        boolean(instance, "fast") == 0 and boolean(instance, "drive.on") == on and instance.get_integer("gear") == gear
    )
    fastest = 0.0
    for _ in range(20):
        instance.step(0.1)
        fastest = max(fastest, instance["velocity"])
    assert instance.get("position", "velocity") == pytest.approx(driven_reference(2.0, gear, on), abs=SMALL_MODEL)
    assert boolean(instance, "fast") == int(fastest > 0.7)


@pytest.mark.parametrize(
    ("function", "name", "value", "text"),
    (
        ("fmi2SetInteger", "gear", 4, "gear = 4: must be at most 3"),
        ("fmi2SetInteger", "gear", 0, "gear = 0: must be at least 1"),
        ("fmi2SetInteger", "drive.on", 1, "drive.on is of type Boolean, not Integer"),
        ("fmi2SetBoolean", "gear", 1, "gear is of type Integer, not Boolean"),
        ("fmi2SetInteger", "spring", 1, "spring is of type Real, not Integer"),
        ("fmi2SetBoolean", "fast", 1, "fast cannot be set"),
        ("fmi2SetInteger", "solver.method", 4, "solver.method = 4: must be at most 3"),
        ("fmi2SetBoolean", "solver.method", 1, "solver.method is of type Integer, not Boolean"),
    ),
)
def test_values_of_the_wrong_type_or_size_are_refused(
    driven: Fmu, function: str, name: str, value: int, text: str
) -> None:
    instance = driven.open()
    before = instance.bytes()
    assert instance(function, references(instance.refs([name])), 1, integers([value])) == ERROR
    assert text in instance.said
    assert instance.bytes() == before


def test_a_violated_requirement_is_reported_with_its_text(driven: Fmu) -> None:
    instance = driven.open().enter({"spring": 0.5})
    assert instance("fmi2ExitInitializationMode") == ERROR
    assert instance.said.replace("%%", "%") == Driven.requirement_texts[0]
    instance.set({"spring": 2.0})
    instance.do("fmi2ExitInitializationMode")


def test_nominal_values(driven: Fmu) -> None:
    instance, values = driven.open(MODEL_EXCHANGE), reals([0.0, 0.0])
    instance.do("fmi2GetNominalsOfContinuousStates", values, 2)
    assert list(values) == [0.5, 1.0]


# --- projection onto constraints --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(native: Native) -> Fmu:
    return Fmu(Wheel(), native.binary(Wheel()))


def test_co_simulation_ends_every_step_on_the_constraint(wheel: Fmu) -> None:
    """The projection keeps the angle, so the motion is known."""
    instance = wheel.open().initialize(tolerance=1e-10)
    for i in range(1, 21):
        instance.step(0.1)
        assert instance["radius"] == pytest.approx(1.0, abs=1e-15)
        assert instance.get("x", "y") == pytest.approx([math.cos(0.2 * i), math.sin(0.2 * i)], abs=SMALL_MODEL)


def test_model_exchange_projects_in_event_mode(wheel: Fmu) -> None:
    instance = wheel.open(MODEL_EXCHANGE).continuous()
    instance.set_states([0.6, 0.8])
    assert not instance.completed_step(), "on the circle there is nothing to do"
    instance.set_states([0.6 * 1.01, 0.8 * 1.01])
    assert instance.completed_step()
    assert instance["radius"] == pytest.approx(1.01), "not before event mode"
    instance.do("fmi2EnterEventMode")
    assert instance.new_discrete_states().valuesOfContinuousStatesChanged
    assert instance.states() == pytest.approx([0.6, 0.8], abs=1e-15)
    assert not instance.new_discrete_states().valuesOfContinuousStatesChanged


def test_fmpys_model_exchange_stays_on_the_constraint(native: Native, tmp_path: Path) -> None:
    """Within the bound for a host that does not set a tolerance, although the rates do not stabilize the constraint:
    a smaller bound would restart the host's solver too often."""
    job = dict(type="ModelExchange", stop=1.0, step=0.1, tolerance=1e-8, output=["x", "y"], events=False)
    rows = in_fmpy(native.fmu(Wheel()), tmp_path, **job)
    assert np.hypot(rows[:, 1], rows[:, 2]) == pytest.approx(1.0, abs=1.1e-3)
    assert math.atan2(rows[-1, 2], rows[-1, 1]) == pytest.approx(2.0, abs=IMPACT_CVODE)


# --- events with notes ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def watched(native: Native) -> Fmu:
    return Fmu(Watched(), native.binary(Watched()))


def test_a_warning_on_the_way(watched: Fmu) -> None:
    """The step succeeds with a warning."""
    instance = watched.open(logging=True).initialize({"speed": 1.0})
    assert instance("fmi2DoStep", 0.0, 1.5, 1) == WARNING
    ((_, status, category, text),) = instance.log
    assert (status, category) == (WARNING, "logStatusWarning")
    assert text.replace("%%", "%") == "at t = 1 s: the end is near (50 % of the way)"
    assert instance["position"] == pytest.approx(1.5)
    assert instance("fmi2DoStep", 1.5, 0.1, 1) == OK, "the warning comes once"


def test_a_stop_on_the_way(watched: Fmu) -> None:
    """The step is discarded with a reason, and the instance is unchanged."""
    instance = watched.open().initialize({"speed": 1.0})
    instance("fmi2DoStep", 0.0, 1.5, 1)
    before = instance.bytes()
    assert instance("fmi2DoStep", 1.5, 1.0, 1) == DISCARD
    assert "stopped at t = 2 s: the end is reached" in instance.said
    assert instance.bytes() == before
    assert instance("fmi2DoStep", 1.5, 0.4, 1) == OK


def test_a_start_beyond_the_end_is_refused(watched: Fmu) -> None:
    instance = watched.open().enter({"position_start": 3.0})
    instance.get("position")
    before = instance.bytes()
    assert instance("fmi2ExitInitializationMode") == ERROR
    assert "the end is reached" in instance.said
    assert instance.bytes() == before, "an error leaves the instance as it was"
    instance.set({"position_start": 0.5})
    assert instance("fmi2ExitInitializationMode") == OK


def test_a_start_beyond_the_warning_is_reported(watched: Fmu) -> None:
    instance = watched.open(logging=True).enter({"position_start": 1.5})
    assert instance("fmi2ExitInitializationMode") == WARNING
    assert "the end is near" in instance.said
    instance.step(0.1)


@pytest.mark.parametrize(("position", "ends"), ((1.1, False), (2.1, True)))
def test_notes_in_model_exchange(watched: Fmu, position: float, ends: bool) -> None:
    """The end is announced by terminateSimulation, which a host reads only if the call has not failed."""
    instance = watched.open(MODEL_EXCHANGE, logging=True).continuous()
    instance.do("fmi2SetTime", position)
    instance.set_states([position])
    instance.completed_step()
    instance.do("fmi2EnterEventMode")
    info = EventInfo()
    assert instance("fmi2NewDiscreteStates", byref(info)) in (OK, WARNING), instance.said
    assert bool(info.terminateSimulation) is ends
    assert ("the end is reached" if ends else "the end is near") in instance.said


@pytest.mark.parametrize("speed", (1.5, 3.0), ids=("warning", "stop"))
@pytest.mark.filterwarnings("ignore:at t = :RuntimeWarning")
def test_a_model_that_ends_early_can_be_built(native: Native, speed: float) -> None:
    """The FMU contains a reference result of one second; a motion that ends before must not prevent the build."""
    assert native.fmu(Watched(), start={"speed": speed}).exists()


def test_events_without_end_are_reported(native: Native) -> None:
    fmu = Fmu(Flicker(), native.binary(Flicker()))
    stepping = fmu.open().initialize()
    stepping.step(0.9)
    assert stepping("fmi2DoStep", 0.9, 0.2, 1) == DISCARD and "chattering" in stepping.said
    exchanged = fmu.open(MODEL_EXCHANGE).continuous()
    exchanged.do("fmi2SetTime", 1.1)
    exchanged.do("fmi2EnterEventMode")
    assert exchanged("fmi2NewDiscreteStates", byref(EventInfo())) == ERROR and "chattering" in exchanged.said
    instance = Instance(Flicker())
    instance.initialize()
    with pytest.raises(IntegrationError, match="chattering"):
        instance.step(0.0, 1.1)


@pytest.fixture(scope="module")
def sawtooth(native: Native) -> Fmu:
    return Fmu(Sawtooth(), native.binary(Sawtooth()))


def test_every_note_of_a_step_is_reported_with_the_time_of_its_first_event(sawtooth: Fmu) -> None:
    """As by a Python FMU, which also reports those that follow."""
    native, python = sawtooth.open(logging=True).initialize({"speed": 4.0}), Instance(Sawtooth(), {"speed": 4.0})
    assert native("fmi2DoStep", 0.0, 0.9, 1) == WARNING
    assert [text for *_, text in native.log] == ["at t = 0.25 s: tick", "at t = 0.75 s: the third"]
    python.initialize()
    with pytest.warns(RuntimeWarning) as warned:
        python.step(0.0, 0.9)
    assert first_of_each([str(w.message) for w in warned]) == [text for *_, text in native.log]


def test_as_many_events_as_the_limit_are_allowed_in_a_step_and_no_more(
    sawtooth: Fmu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mechfmu.simulation.instance.EVENT_LIMIT", 20)  # Python takes milliseconds for each
    for count, allowed in ((EVENT_LIMIT, True), (EVENT_LIMIT + 1, False)):
        native = sawtooth.open().initialize({"speed": count + 0.5})
        assert native("fmi2DoStep", 0.0, 1.0, 1) == (WARNING if allowed else DISCARD)
        assert allowed or "too many events" in native.said
    for count, allowed in ((20, True), (21, False)):
        instance = Instance(Sawtooth(), {"speed": count + 0.5}, warn=lambda text: None)
        instance.initialize()
        with nullcontext() if allowed else pytest.raises(IntegrationError, match=r"more than 20 events .* was tick"):
            instance.step(0.0, 1.0)
