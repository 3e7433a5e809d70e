"""The guidance field: golden data, what it promises, and what the article's field does instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

from helpers.cart_cases import golden, golden_guidance, scenario_objects
from helpers.chains import off_by
from helpers.published_field import A, B, published
from helpers.tolerances import FIELD, FIELD_DERIVATIVE, FIELD_SYMMETRY, PUBLISHED_FIELD, ROUNDING
from mechfmu.control import guidance as guidance_module
from mechfmu.control.guidance import (
    FAR,
    Obstacle,
    Target,
    article_field,
    distances,
    inflated,
    influence_needed,
    proximity,
    safe_field,
    separation,
    speed_bound,
    weights,
)
from mechfmu.control.jets import Jet, coefficient, time_jet
from mechfmu.mechanisms.scenario.variables import OBSTACLES, TARGET, outline

DATA = golden("guidance_field")
G = golden_guidance()
STARTS = ((-4.5, 0.8), (-4.5, 2.6), (3.8, 2.9), (1.0, 2.9), (-3.0, -1.5))


def moving(field: Any, target: Target, obstacles: list[Obstacle], *parameters: Any):
    """field as the right-hand side of a differential equation, target and obstacles at t = 0."""

    def rates(t: float, x: np.ndarray) -> list[float]:
        now = target._replace(x=target.x + t * target.vx, y=target.y + t * target.vy)
        return list(field(x[0], x[1], now, [o.after(t) for o in obstacles], *parameters))

    return rates


def follow(
    field: Any,
    start: tuple[float, float],
    stop: float,
    target: Target,
    obstacles: list[Obstacle],
    *parameters: Any,
    method: str = "DOP853",
):
    """The path, the smallest distance to a boundary on it, and the distance from the target at its end."""
    times = np.linspace(0.0, stop, 401)
    solution = solve_ivp(
        moving(field, target, obstacles, *parameters), (0.0, stop), start, method, t_eval=times, rtol=1e-8, atol=1e-10
    )
    assert solution.success, solution.message
    x, y = solution.y
    clearance = min(np.min(d) for d in distances(x, y, [o.after(times) for o in obstacles]))
    return x, y, clearance, float(np.hypot(x[-1] - target.x - stop * target.vx, y[-1] - target.y - stop * target.vy))


def random_obstacle(random: np.random.Generator) -> Obstacle:
    a, b = random.uniform(0.4, 2.0, 2)
    return Obstacle(
        *random.uniform(-5, 5, 2),
        *random.uniform(-0.5, 0.5, 2),
        random.uniform(-3, 3),
        random.uniform(-0.4, 0.4),
        a,
        b,
        random.choice([-1.0, 1.0]),
    )


def random_scenario(seed: int, count: int = 3) -> tuple[np.random.Generator, Target, list[Obstacle]]:
    """Obstacles that do not overlap."""
    random = np.random.default_rng(seed)
    while True:
        obstacles = [random_obstacle(random) for _ in range(count)]
        if all(separation(a, b) > 0 for i, a in enumerate(obstacles) for b in obstacles[i + 1 :]):
            return random, Target(*random.uniform(-5, 5, 2), *random.uniform(-0.3, 0.3, 2)), obstacles


# --- golden data ------------------------------------------------------------------------------------------------------


def test_values() -> None:
    for point in DATA["points"]:
        target, obstacles = scenario_objects(DATA["scenarios"][point["scenario"]], point["t"])
        assert np.max(np.abs(np.array(safe_field(*point["x"], target, obstacles, G)) - point["F"])) < FIELD
        assert np.max(np.abs(np.array(distances(*point["x"], obstacles)) - point["delta"])) < FIELD


def test_derivatives() -> None:
    """In space and time, by jets."""
    for point in DATA["points"]:
        target, obstacles = scenario_objects(DATA["scenarios"][point["scenario"]], point["t"])
        x, t = point["x"], time_jet(0.0, 1)
        columns = [safe_field(Jet((x[0], 1.0 - j)), Jet((x[1], float(j))), target, obstacles, G) for j in (0, 1)]
        slope = np.array([[coefficient(F, 1) for F in column] for column in columns]).T
        assert off_by(slope, point["dF_dx"]) < FIELD_DERIVATIVE
        later = target._replace(x=t * target.vx + target.x, y=t * target.vy + target.y)
        found = [coefficient(F, 1) for F in safe_field(*x, later, [o.after(t) for o in obstacles], G)]
        assert off_by(found, point["dF_dt"]) < FIELD_DERIVATIVE


# --- promises ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", (0.0, 0.1, 0.5))
def test_no_boundary_is_crossed_inwards(beta: float) -> None:
    """(F - V) . n = gam (p - m) > 0 everywhere on every boundary, moving and rotating as it may."""
    for seed in range(30):
        _, target, obstacles = random_scenario(seed)
        for o in obstacles:
            x, y = outline(o, 200)
            F = safe_field(x, y, target, obstacles, G._replace(beta=beta))
            near = proximity(x, y, o)
            assert np.max(np.abs(near.delta)) < ROUNDING
            inwards = (F[0] - near.V[0]) * near.n[0] + (F[1] - near.V[1]) * near.n[1]
            assert np.min(inwards) > 0.0


def test_the_target_is_a_stable_node_with_the_target_s_velocity() -> None:
    target, obstacles = TARGET, list(OBSTACLES)
    assert safe_field(target.x, target.y, target, obstacles, G) == pytest.approx((target.vx, target.vy), abs=ROUNDING)
    for j in (0, 1):
        F = safe_field(Jet((target.x, 1.0 - j)), Jet((target.y, float(j))), target, obstacles, G)
        assert [coefficient(f, 1) for f in F] == pytest.approx([-G.K * (j == 0), -G.K * (j == 1)], abs=ROUNDING)


def test_speed_bound() -> None:
    largest = 0.0
    for seed in range(40):
        random, target, obstacles = random_scenario(seed)
        x, y = random.uniform(-8, 8, (2, 4000))
        outside = np.min(distances(x, y, obstacles), axis=0) > 0
        F = safe_field(x, y, target, obstacles, G)
        largest = max(largest, float(np.max(np.hypot(*F)[outside]) / speed_bound(target, obstacles, G)))
    assert 0.3 < largest < 1.0


def test_the_field_turns_and_moves_with_the_world() -> None:
    for seed in range(10):
        random, target, obstacles = random_scenario(seed)
        turn, sx, sy = random.uniform(-3, 3), *random.uniform(-4, 4, 2)
        c, s = np.cos(turn), np.sin(turn)

        def moved(x, y, c=c, s=s, sx=sx, sy=sy):
            return c * x - s * y + sx, s * x + c * y + sy

        def turned(x, y, c=c, s=s):
            return c * x - s * y, s * x + c * y

        x, y = random.uniform(-6, 6, (2, 100))
        there = Target(*moved(target.x, target.y), *turned(target.vx, target.vy))
        others = [Obstacle(*moved(o.x, o.y), *turned(o.vx, o.vy), o.angle + turn, *o[5:]) for o in obstacles]
        wanted = turned(*safe_field(x, y, target, obstacles, G))
        found = np.array(safe_field(*moved(x, y), there, others, G))
        assert np.max(np.abs(found - wanted)) < FIELD_SYMMETRY


def test_mirror() -> None:
    for seed in range(10):
        random, target, obstacles = random_scenario(seed)
        x, y = random.uniform(-6, 6, (2, 100))
        there = [o._replace(y=-o.y, vy=-o.vy, angle=-o.angle, rate=-o.rate, side=-o.side) for o in obstacles]
        F = safe_field(x, y, target, obstacles, G)
        image = safe_field(x, -y, target._replace(y=-target.y, vy=-target.vy), there, G)
        assert np.max(np.abs(image[0] - F[0])) < ROUNDING
        assert np.max(np.abs(image[1] + F[1])) < ROUNDING


def test_an_obstacle_that_is_not_there_has_no_effect() -> None:
    _, target, obstacles = random_scenario(1)
    away = [*obstacles[:2], obstacles[2]._replace(active=0.0)]
    x, y = outline(obstacles[2])
    assert (
        np.max(np.abs(np.array(safe_field(x, y, target, away, G)) - safe_field(x, y, target, obstacles[:2], G)))
        < ROUNDING
    )
    assert np.all(distances(x, y, away)[2] == FAR)


def test_weights() -> None:
    assert weights([0.7]) == pytest.approx([0.49])
    assert weights([1.0, 0.4, 0.0]) == pytest.approx([1.0, 0.0, 0.0])
    assert all(np.isfinite(weights([1.0, 1.0])))


def test_inside_an_obstacle_it_leads_out() -> None:
    """Also from its centre, where no direction is defined, it does not give NaN."""
    o = Obstacle(0.0, 0.0, 0.1, -0.2, 0.4, 0.3, 1.5, 0.6, 1.0)
    target = Target(6.0, 0.0, 0.0, 0.0)
    _, _, clearance, miss = follow(safe_field, (0.3, -0.2), 40.0, target, [o], G)
    assert clearance < -0.2
    assert miss < 1e-3
    assert np.all(np.isfinite(safe_field(0.0, 0.0, target, [o], G)))


@pytest.mark.parametrize("start", STARTS)
def test_every_start_of_figure_2_reaches_the_target(start: tuple[float, float]) -> None:
    """Within 20 s when the second ellipse is passed on the right.

    On the left, the start right above its centre lingers near its saddle and needs 23 s.
    """
    right = [OBSTACLES[0], OBSTACLES[1]._replace(side=-1.0)]
    _, _, clearance, miss = follow(safe_field, start, 20.0, TARGET, right, G)
    assert miss < 7e-3
    assert clearance >= 0.02
    _, _, clearance, miss = follow(safe_field, start, 23.0, TARGET, list(OBSTACLES), G)
    assert miss < 7e-3
    assert clearance > 0.017


def test_swirl_leaves_the_saddle_behind_an_obstacle() -> None:
    """A start exactly behind the obstacle, seen from the target, stays stuck without swirl and passes with it."""
    o, target, start = Obstacle(2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.8, 0.8, 1.0), Target(0.0, 0.0, 0.0, 0.0), (5.0, 0.0)
    assert follow(safe_field, start, 60.0, target, [o], G._replace(beta=0.0))[3] > 2.0
    assert follow(safe_field, start, 60.0, target, [o], G)[3] < 1e-3


def test_removing_the_approach_along_the_normal_makes_a_trap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flat ellipse broadside to a near target: along r the point gets round it, along n it does not."""
    o, target = Obstacle(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.4, 1.0), Target(0.3, -1.0, 0.0, 0.0)
    starts = [(x, 1.5) for x in (-0.6, -0.2, 0.2, 0.6)]
    assert max(follow(safe_field, start, 120.0, target, [o], G)[3] for start in starts) < 1e-3
    plain = proximity
    monkeypatch.setattr(guidance_module, "proximity", lambda x, y, o: (k := plain(x, y, o))._replace(r=k.n))
    assert max(follow(safe_field, start, 120.0, target, [o], G)[3] for start in starts) > 1.0


# --- footprint, overlap, design rule ----------------------------------------------------------------------------------


def test_inflated_ellipses_contain_the_footprint() -> None:
    """Every point at distance Rc from the ellipse lies within; adding Rc to both semi-axes is not enough."""
    for a, b, Rc in ((3.0, 1.5, 0.65), (6.0, 2.25, 0.65), (1.0, 0.2, 1.0), (1.0, 1.0, 0.3)):
        o = Obstacle(0.4, -0.3, 0.0, 0.0, 0.7, 0.0, a, b, 1.0)
        x, y = outline(o, 400)
        n = proximity(x, y, o).n
        out = x + Rc * n[0], y + Rc * n[1]
        assert np.max(proximity(*out, inflated(o, Rc)).delta) < ROUNDING
        assert a == b or np.max(proximity(*out, o._replace(a=a + Rc, b=b + Rc)).delta) > 1e-3
    big = [inflated(Obstacle(0, 0, 0, 0, 0, 0, a, b, 1), 0.65) for a, b in ((3.0, 1.5), (6.0, 2.25))]
    assert [(round(float(o.a), 3), round(float(o.b), 3)) for o in big] == [
        (3.682, 2.177),
        (6.722, 2.961),
    ]  # of the scenario at the scale of the cart


def test_two_ellipses_are_apart_or_not() -> None:
    """Against points on both boundaries."""
    random = np.random.default_rng(0)
    found = {True: 0, False: 0}
    for _ in range(400):
        a, b = random_obstacle(random), random_obstacle(random)
        b = b._replace(x=a.x + random.uniform(-3, 3), y=a.y + random.uniform(-3, 3))
        gap = min(np.min(proximity(*outline(a, 2000), b).delta), np.min(proximity(*outline(b, 2000), a).delta))
        if abs(gap) > 1e-4:  # points cannot resolve touching
            assert (separation(a, b) > 0) == (gap > 0)
            found[bool(gap > 0)] += 1
    assert min(found.values()) > 50
    outer, inner = Obstacle(0, 0, 0, 0, 0, 0, 3, 2, 1), Obstacle(0.2, 0.1, 0, 0, 1, 0, 0.5, 0.4, 1)
    assert separation(outer, inner) <= 0 and separation(inner, outer) <= 0  # one inside the other


def test_influence_that_braking_needs() -> None:
    """2 (vc + V)^2/a_max with the fastest obstacle that is there."""
    fast = OBSTACLES[0]._replace(vx=0.3, vy=-0.4, rate=0.1)
    assert influence_needed([*OBSTACLES, fast], 0.6, 2.5) == pytest.approx(2 * (0.6 + 0.5 + 0.1 * 1.0) ** 2 / 2.5)
    assert influence_needed([*OBSTACLES, fast._replace(active=0.0)], 0.6, 2.5) == pytest.approx(2 * 0.85**2 / 2.5)


# --- the article's field, and its errors put back ---------------------------------------------------------------------


def test_the_published_field() -> None:
    random = np.random.default_rng(2)
    for x, y, t in random.uniform((-4, -3, 0), (3, 3, 4), (50, 3)):
        target = TARGET._replace(x=-0.1 * t)
        found = article_field(x, y, target, [o.after(t) for o in OBSTACLES], A, B)
        assert off_by(found, published(x, y, t)) < PUBLISHED_FIELD


def test_erratum_7_the_slope_of_the_second_ellipse() -> None:
    """Its boundary is carried along by the field; without the factor 1/4 in df4/dq1 it is crossed."""
    t = 1.3
    o = OBSTACLES[1].after(t)
    crossing = {0.25: 0.0, 1.0: 0.0}
    for x, y in zip(*outline(o, 60), strict=True):
        near = proximity(x, y, o)
        for slope in crossing:
            F = published(x, y, t, slope)
            crossing[slope] = max(crossing[slope], abs((F[0] - near.V[0]) * near.n[0] + (F[1] - near.V[1]) * near.n[1]))
    assert crossing[0.25] < PUBLISHED_FIELD
    assert crossing[1.0] > 0.1


def test_erratum_8_the_target_is_not_reached() -> None:
    """Everything moves with the target: on the x axis the point trails it by the root of f1 f3 f4 = k1/a.

    The safe field does not.
    """
    world = [o._replace(vx=-0.1) for o in OBSTACLES]
    x, y, _, miss = follow(article_field, (-0.3, 0.0), 60.0, TARGET, world, A, B, method="LSODA")
    f1, f3, f4 = x[-1] + 6.0, ((x[-1] + 2 + 6.0) ** 2 - 1) / 2, ((x[-1] - 1 + 6.0) ** 2 / 4 + 4 - 1) / 2
    assert y[-1] == 0.0
    assert f1 * f3 * f4 == pytest.approx(0.1 / A, rel=1e-6)
    assert miss > 0.01
    assert follow(safe_field, (-0.3, 0.0), 60.0, TARGET, world, G)[3] < 1e-6


def test_erratum_8_lines_through_the_target_cannot_be_crossed() -> None:
    """On q1 = -k1 t the field moves with the line, on q2 = 0 along it; a start beyond the line stays beyond.

    The safe field crosses.
    """
    for s in np.linspace(-3, 3, 13) + 0.01:
        assert article_field(0.0, s, TARGET, list(OBSTACLES), A, B)[0] == pytest.approx(-0.1, rel=PUBLISHED_FIELD)
        assert article_field(s, 0.0, TARGET, list(OBSTACLES), A, B)[1] == pytest.approx(0.0, abs=PUBLISHED_FIELD)
    *_, miss = follow(article_field, (1.0, 2.9), 20.0, TARGET, list(OBSTACLES), A, B, method="LSODA")
    assert miss > 0.5  # stuck on obstacle 2
    assert follow(safe_field, (1.0, 2.9), 23.0, TARGET, list(OBSTACLES), G)[3] < 7e-3


def test_erratum_8_speed_without_bound() -> None:
    """It grows with the fifth power of the distance; the safe field stays below its bound."""

    def speed(distance: float) -> float:
        return float(np.hypot(*article_field(0.8 * distance, -0.6 * distance, TARGET, list(OBSTACLES), A, B)))

    assert speed(16.0) > 1e5
    assert speed(128.0) / speed(64.0) == pytest.approx(2**5, rel=0.1)
    assert np.hypot(*safe_field(102.4, -76.8, TARGET, list(OBSTACLES), G)) < speed_bound(TARGET, list(OBSTACLES), G)


def test_erratum_8_infinite_speed_at_a_saddle_outside_the_obstacles() -> None:
    """With ellipse 2 wholly inside a quadrant, grad f = 0 at a point outside where f_t is not 0."""
    obstacles = [OBSTACLES[0], OBSTACLES[1]._replace(x=4.0, y=1.5)]

    def gradient(s: np.ndarray) -> list[float]:
        def f(x: Any, y: Any) -> Any:
            return x * y * ((x + 2) ** 2 + 4 * y**2 - 1) * ((x - 4) ** 2 / 4 + 16 / 9 * (y - 1.5) ** 2 - 1)

        return [f(Jet((s[0], 1.0)), s[1]).c[1], f(s[0], Jet((s[1], 1.0))).c[1]]

    guesses = np.array(np.meshgrid(np.linspace(0.2, 3.0, 8), np.linspace(0.2, 2.8, 8))).reshape(2, -1).T
    roots = [r for g in guesses for r, _, ok, _ in [fsolve(gradient, g, full_output=True, xtol=1e-13)] if ok == 1]
    saddles = [r for r in roots if r[0] > 0.05 and r[1] > 0.05 and min(distances(*r, obstacles)) > 0.05]
    assert saddles
    speeds = [
        np.hypot(*article_field(saddles[0][0] + step, saddles[0][1], TARGET, obstacles, A, B)) for step in (1e-5, 1e-6)
    ]
    assert speeds[1] / speeds[0] == pytest.approx(10.0, rel=0.01)
