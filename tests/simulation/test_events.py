"""Guards and jumps: a bouncing ball with a closed-form solution, in every engine and with any communication step."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from helpers.bouncing_ball import GRAVITY, HEIGHT, impacts, on_paper
from helpers.tolerances import ENGINES, EVENT_TIME, IMPACT_STATE, TIGHTEST
from mechfmu.mechanisms import make
from mechfmu.model import Mechanism
from mechfmu.simulation.engines import NAMES, engine
from mechfmu.simulation.instance import Instance
from mechfmu.simulation.integration import IntegrationError, SolverState, integrate

pytestmark = pytest.mark.usefixtures("extra_mechanisms")


def ball(restitution: float = 0.5) -> Mechanism:
    return make("bouncing_ball", restitution=restitution)


def started(restitution: float, name: str = "casadi", tolerance: float | None = None) -> Instance:
    """At the default tolerance one step of the solver spans a flight: the case in which impacts could be missed."""
    model = ball(restitution)
    instance = Instance(model, None, engine(name, model))
    instance.initialize(tolerance=tolerance)
    return instance


def values(instance: Instance) -> list[float]:
    return instance.get(instance.table.of("state", "discrete"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("step", (0.01, 0.07, 0.3, 1.1))
@pytest.mark.parametrize("restitution", (0.5, 0.8))
@pytest.mark.parametrize("tolerance", (None, TIGHTEST), ids=("default", "tight"))
def test_the_ball_bounces_as_on_paper(tolerance: float | None, restitution: float, step: float, name: str) -> None:
    """Impacts inside a step, at its end, and several within one: the floor is never passed."""
    instance = started(restitution, name, tolerance)
    for i in range(1, math.floor(1.43 / step) + 1):
        instance.step((i - 1) * step, step)
        height, velocity, bounces = on_paper(restitution, i * step)
        if min(abs(impacts(restitution, 10) - i * step)) < EVENT_TIME:
            continue  # on an impact both sides of it are right
        assert values(instance) == pytest.approx([height, velocity, bounces], abs=IMPACT_STATE), f"t = {i * step}"


@pytest.mark.parametrize("name", NAMES)
def test_time_of_an_event(name: str) -> None:
    """The integration ends just after the impact, when the guard is negative."""
    run, mechanism = engine(name, ball()), ball()
    t, x, d, u, p = mechanism.start()

    def rates(s: float, y: np.ndarray) -> np.ndarray:
        return run.rates(s, y, d, u, p)

    def guards(s: float, y: np.ndarray) -> np.ndarray:
        return run.guards(s, y, d, u, p)

    end = integrate(rates, t, 10.0, x, SolverState(), TIGHTEST, guards=guards)
    assert end.event is not None and end.event.first == 0
    assert 0.0 <= end.t - impacts(0.5, 1)[0] < EVENT_TIME
    assert end.x == pytest.approx([0.0, -5.0], abs=IMPACT_STATE)


@pytest.mark.parametrize("name", NAMES)
def test_every_impact_leaves_the_share_of_the_energy(name: str) -> None:
    restitution = 0.8
    instance = started(restitution, name)
    energy = instance.table.by_name["ball.energy"]
    times = [0.0, *(np.append(impacts(restitution, 5)[1:], 3.0) + impacts(restitution, 5)) / 2]
    for bounces, (t, t_next) in enumerate(pairwise(times), 1):
        instance.step(t, t_next - t)
        (found,) = instance.get([energy])
        assert found == pytest.approx(GRAVITY * HEIGHT * restitution ** (2 * bounces), rel=IMPACT_STATE)


@pytest.mark.parametrize("beyond", (-1e-11, 0.0, 1e-15, 1e-12, 5e-11, 1e-10, 1e-9))
def test_an_event_at_the_very_end_of_a_step(beyond: float) -> None:
    """The impact is at 0.5 s; a host's step ends there up to rounding, and the next one goes on from it."""
    instance = started(0.5)
    instance.step(0.0, 0.5 + beyond)
    instance.step(0.5 + beyond, 0.25)
    assert values(instance) == pytest.approx(on_paper(0.5, 0.75 + beyond), abs=IMPACT_STATE)


def test_an_input_changes_the_next_impact() -> None:
    instance = started(0.5)
    instance.set([instance.table.by_name["ball.thrust"]], [GRAVITY / 2])
    instance.step(0.0, 0.9)
    half = GRAVITY / 2
    first = math.sqrt(2 * HEIGHT / half)
    speed, since = 0.5 * half * first, 0.9 - first
    assert values(instance) == pytest.approx(
        [speed * since - half * since**2 / 2, speed - half * since, 1], abs=IMPACT_STATE
    )


@pytest.mark.parametrize("name", ("casadi",))
def test_too_many_events_are_refused_and_the_instance_stays_where_it_was(name: str) -> None:
    """A lossless ball that bounces every 0.9 ms: more impacts in a second than a communication step may have."""
    hop = 1e-6
    flight = 2 * math.sqrt(2 * hop / GRAVITY)
    model = ball(1.0)
    instance = Instance(model, {"ball.height_start": hop, "solver.max_step": flight / 4}, engine(name, model))
    instance.initialize()
    before = instance.save()
    with pytest.raises(IntegrationError, match=r"more than 1000 events .* the last was impact"):
        instance.step(0.0, 1.0)
    assert instance.save() == before
    instance.step(0.0, 2 * flight)
    height, _, bounces = values(instance)
    assert height == pytest.approx(hop, abs=IMPACT_STATE)
    assert bounces == 2


def test_engines_agree_on_guards_and_jumps() -> None:
    plain, other = engine("numpy", ball()), engine("casadi", ball())
    _, _, _, u, p = ball().start()
    for seed in range(5):
        random = np.random.default_rng(seed)
        x, d = random.uniform(-3, 3, 2), np.array([float(seed)])
        assert other.guards(0.0, x, d, u, p) == pytest.approx(plain.guards(0.0, x, d, u, p), rel=ENGINES)
        for found, wanted in zip(
            other.jump(0.0, x, d, u, p, "impact"), plain.jump(0.0, x, d, u, p, "impact"), strict=True
        ):
            assert found == pytest.approx(wanted, rel=ENGINES, abs=ENGINES)


def test_a_state_saved_between_impacts_repeats_the_same_bits() -> None:
    instance = started(0.8)
    instance.step(0.0, 0.6)
    saved = instance.save()
    instance.step(0.6, 0.25)
    once = instance.save()
    instance.restore(saved)
    instance.step(0.6, 0.25)
    assert instance.save() == once
