"""The walking controller: its law on the pendulum that it assumes, and the 6-link exoskeleton walking as FMUs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from helpers.paths import EXAMPLES
from helpers.tolerances import BELOW, CAPTURE_POINT, ENGINES, IDENTITY, MASSLESS_LEGS, WALK_BALANCE
from mechfmu import Exoskeleton, WalkingController
from mechfmu.cosim.system import System
from mechfmu.mechanisms.exoskeleton.posture import posture_angles
from mechfmu.simulation.engines import engine
from mechfmu.simulation.result import Result

CONTROLLER = WalkingController()
LEGS = {"foot[1]": "foot[2]", "link[2]": "link[3]", "link[1]": "link[4]", "hip.moment[1]": "hip.moment[2]"}


def measured(seed: int = 3) -> dict[str, float]:
    """Random inputs of the controller, the hip above the feet."""
    random = np.random.default_rng(seed)
    inputs = {s.name: float(random.uniform(-0.3, 0.3)) for s in CONTROLLER.table.of("input")}
    return inputs | {"hip.y": 0.85, "link[5].angle": 1.5}


def outputs(values: dict[str, float], t: float = 0.0, name: str = "numpy") -> dict[str, float]:
    _, x, d, u, p = CONTROLLER.start(values)
    found = engine(name, CONTROLLER).outputs(t, x, d, u, p)
    return {s.name: float(found[s.index]) for s in CONTROLLER.table.of("output")}


# --- the law ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gain", (1.0, 0.9, 1.1))
def test_steps_of_the_pendulum_tend_to_the_wanted_length(gain: float) -> None:
    """Closed form: with (3) the error of the capture point is (1 - k) exp(omega T) times as large after each step."""
    S, T, omega = 0.4, 0.5, np.sqrt(9.81 / 0.9)
    values = {
        "gait.step_length": S,
        "gait.step_time": T,
        "pendulum.height": 0.9,
        "placement.gain": gain,
        "placement.reach": 9.0,
    }
    grows, b = np.exp(omega * T), S / (np.exp(omega * T) - 1)
    foot, x, v, errors = 0.0, 0.1, 0.3, []
    for _ in range(6):
        errors.append(x + v / omega - foot - b)
        early, late = ((x - foot) * np.cosh(omega * t) + v / omega * np.sinh(omega * t) for t in (0.2, T))
        rate = [omega * (x - foot) * np.sinh(omega * t) + v * np.cosh(omega * t) for t in (0.2, T)]
        places = [
            outputs(values | {"foot[1].x": foot, "com.x": foot + at, "com.velocity_x": w}, t)["placement.x"]
            for t, at, w in ((0.2, early, rate[0]), (T, late, rate[1]))
        ]
        assert places[0] == pytest.approx(places[1], abs=1e-12), "the place is known early in the step"
        x, v, foot = foot + late, rate[1], places[1]
    assert np.allclose(errors[1:], (1 - gain) * grows * np.array(errors[:-1]), rtol=0, atol=CAPTURE_POINT)


def test_the_stance_leg_exerts_the_wanted_force() -> None:
    """Massless legs of locked length: the ground's vertical force is that of (9), the body's moment that of (8)."""
    exo = Exoskeleton.six_link()
    start = {
        f"link[{i}].angle_start": float(a)
        for i, a in enumerate(posture_angles((0.1, 0.85), ((0.0, 0.0), (-0.1, 0.1)), lean=0.1), 1)
    }
    start |= {"hip.x_start": 0.1, "hip.y_start": 0.85, "foot[1].pinned_start": 1.0} | {
        f"link[{i}].locked": 1.0 for i in range(1, 7)
    }
    start |= {f"link[{i}].{name}": 1e-9 for i in range(1, 5) for name in ("mass", "inertia", "axial_inertia")}
    t, x, d, u, p = exo.start(start)
    values = {name: float(v) for name, v in _values(exo, t, x, d, u, p).items() if name in CONTROLLER.table.by_name}
    off = dict.fromkeys(("swing.stiffness", "swing.damping", "swing.weight", "support.damping", "knee.stiffness"), 0.0)
    found = outputs({k: v for k, v in values.items() if CONTROLLER.table.by_name[k].role == "input"} | off)
    assert abs(found["link[1].moment"]) > 10 and abs(found["hip.moment[1]"]) > 50
    moments = {
        name: value
        for name, value in found.items()
        if name in exo.table.by_name and exo.table.by_name[name].role == "input"
    }
    t, x, d, u, p = exo.start(start | moments)
    acts = _values(exo, t, x, d, u, p)
    assert acts["foot[1].ankle_moment"] == pytest.approx(found["link[1].moment"], rel=1e-12)
    assert acts["foot[1].reaction_y"] == pytest.approx(670 + 6000 * (0.86 - 0.85), rel=MASSLESS_LEGS)
    assert -found["hip.moment[1]"] - found["hip.moment[2]"] == pytest.approx(1500 * 0.05, rel=1e-12), (
        "lean 0.05 instead of 0.1"
    )


def _values(exo: Exoskeleton, *at: np.ndarray) -> dict[str, float]:
    t, x, d, u, p = at
    parts = {"state": x, "discrete": d, "output": exo.outputs(t, x, d, u, p)}
    return {s.name: float(parts[s.role][s.index]) for s in exo.table.of("state", "discrete", "output")}


def test_legs_are_alike() -> None:
    """Identity: with the legs exchanged, the moments are exchanged."""

    def exchanged(values: dict[str, float]) -> dict[str, float]:
        other = {**LEGS, **{b: a for a, b in LEGS.items()}}

        def swap(name: str) -> str:
            return next((name.replace(a, b, 1) for a, b in other.items() if name.startswith(a)), name)

        return {swap(name): value for name, value in values.items()}

    one = measured()
    assert outputs(exchanged(one) | {"stance_start": 2.0}, 0.3) == exchanged(outputs(one, 0.3))


@pytest.mark.parametrize("stance", (1.0, 2.0))
def test_engines_agree(stance: float) -> None:
    for t in (0.1, 0.47, 0.6):
        wanted = outputs(measured() | {"stance_start": stance, "lift_x_start": 0.1}, t)
        for name in ("casadi", "c"):
            found = outputs(measured() | {"stance_start": stance, "lift_x_start": 0.1}, t, name)
            assert max(abs(found[n] - wanted[n]) for n in wanted) < ENGINES * max(map(abs, wanted.values()))


def test_legs_change_roles_at_touch_down_but_not_too_early() -> None:
    landed = measured() | {
        "foot[1].x": 0.5,
        "foot[2].x": 0.8,
        "foot[1].y": 0.02,
        "foot[2].y": 0.02,
        "foot[2].velocity_x": 0.0,
        "foot[2].velocity_y": 0.0,
    }
    for swings in ({"foot[2].y": 0.03}, {"foot[2].velocity_x": 0.1}, {"foot[2].velocity_y": -0.1}, {"hip.y": 0.0}):
        assert CONTROLLER.guards(0.21, *CONTROLLER.start(landed | swings)[1:])[0] > 0
    _, x, d, u, p = CONTROLLER.start(landed)
    (early,), (due,) = CONTROLLER.guards(0.19, x, d, u, p), CONTROLLER.guards(0.21, x, d, u, p)
    assert due < 0 < early
    _, after = CONTROLLER.jump(0.21, x, d, u, p, "leg_change")
    D = CONTROLLER.table.d(after)
    assert (D.stance, D.steps, D.began, D.lift_x) == (2.0, 1.0, 0.21, 0.5) and D.length == pytest.approx(0.3)
    assert CONTROLLER.guards(0.21, x, after, u, p)[0] > 0


# --- a force on the hip -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("contact", ("flight", "automatic"))
def test_a_push_enters_the_equations_and_the_energy_balance(contact: str) -> None:
    """Against the matrices of (25'), (26'), and by the power of the force."""
    exo, push = Exoskeleton.six_link(contact=contact, push="hip"), np.array([80.0, -30.0])
    t, x, d, u, p = exo.start(
        {"push.force_x": push[0], "push.force_y": push[1], "hip.velocity_x_start": 0.7, "hip.velocity_y_start": 0.4}
    )
    still = exo.start({"hip.velocity_x_start": 0.7, "hip.velocity_y_start": 0.4})
    m, change = exo.matrices(t, x, d, u, p), exo.table.x(exo.rates(t, x, d, u, p) - exo.rates(*still))
    added = np.concatenate([[change.vx, change.vy], change.w, change.ld])
    mass = np.block([[m.A, m.E[:, 2:]], [m.G[2:, :], m.P[2:, 2:]]])
    assert np.allclose(mass @ added, np.concatenate([push, np.zeros(12)]), rtol=0, atol=IDENTITY * 80)
    assert np.allclose(m.F - exo.matrices(*still).F, np.concatenate([push, np.zeros(6)]), rtol=0, atol=IDENTITY * 80)
    assert change.work == pytest.approx(push @ [0.7, 0.4])


# --- walking ----------------------------------------------------------------------------------------------------------


def check_walk(result: Result, steps: int = 20) -> None:
    """At least 20 steps on alternating feet and 5 m, upright, above the ground, with its energy balance closed."""
    exo = {name: result[f"exo.{name}"] for name in ("hip.x", "hip.y", "link[5].angle", "foot[1].y", "foot[2].y")}
    changes = np.flatnonzero(np.diff(result["control.steps"])) + 1
    assert len(changes) >= steps and result["control.steps"][-1] == len(changes)
    assert list(result["control.stance"][changes]) == [2.0, 1.0] * (len(changes) // 2) + [2.0] * (len(changes) % 2), (
        "left, right, left"
    )
    for i in changes:
        touched = result[f"exo.foot[{result['control.stance'][i]:.0f}].touch_time"][i]
        assert 0 < result.t[i] - touched < 0.005, "the foot that stands from now on has just touched down"
    assert exo["hip.x"][-1] - exo["hip.x"][0] >= 5.0
    assert np.degrees(np.max(np.abs(exo["link[5].angle"] - np.pi / 2))) < 10 and exo["hip.y"].min() > 0.8
    assert min(exo["foot[1].y"].min(), exo["foot[2].y"].min()) > -BELOW
    total, work, loss = (result[f"exo.energy.{name}"] for name in ("total", "input", "dissipated"))
    assert np.max(np.abs(total - total[0] - work + loss)) < WALK_BALANCE * loss[-1]


def lengths(result: Result) -> np.ndarray:
    return result["control.step.length"][np.flatnonzero(np.diff(result["control.steps"])) + 1]


@pytest.fixture(scope="module")
def walk(ready: Callable[[str], System]) -> System:
    return ready("walk")


@pytest.fixture(scope="module")
def undisturbed(walk: System) -> Result:
    return walk.simulate(stop=11.0)


def test_the_exoskeleton_walks(undisturbed: Result) -> None:
    check_walk(undisturbed)
    assert np.ptp(lengths(undisturbed)[8:]) < 1e-3, "a periodic gait"
    assert np.mean(undisturbed["exo.phase"] == 0) == 0, "walking: one foot or both on the ground"


def test_half_the_communication_step_hardly_changes_the_walk(walk: System, undisturbed: Result) -> None:
    finer = walk.simulate(stop=7.0, step=0.0005)
    check_walk(finer, steps=13)
    assert abs(finer["exo.hip.x"][-1] - undisturbed["exo.hip.x"][7000]) < 0.05
    count = len(lengths(finer))
    assert lengths(finer)[-1] == pytest.approx(lengths(undisturbed)[count - 1], abs=0.005)


def check_recovery(pushed: Result, undisturbed: Result, force: float, at: float) -> None:
    """60 N s on the hip change the speed by 0.8 m/s: one long or short step, and the old gait is back."""
    check_walk(pushed)
    usual = lengths(undisturbed)[-1]
    assert np.max(np.sign(force) * (lengths(pushed) - usual)) > 0.1
    assert np.max(np.abs(lengths(pushed)[-4:] - usual)) < 1e-3
    jump = pushed["exo.com.velocity_x"][:11001] - undisturbed["exo.com.velocity_x"]
    assert np.sign(force) * jump[round(1000 * at) + 100] > 0.5 and abs(jump[round(1000 * at) - 1]) < 1e-12


def test_it_recovers_from_a_push_forwards_in_the_example(
    ready: Callable[[str], System], undisturbed: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import exo_walk

    monkeypatch.setattr(exo_walk, "build_builtin", lambda name, folder: ready(name))
    result = exo_walk.simulate()
    check_recovery(result, undisturbed, exo_walk.PUSH, exo_walk.AT)
    assert exo_walk.step_lengths(result).max() > 0.6 and exo_walk.PUSH == 600.0
    assert exo_walk.balance(result, "exo.") < WALK_BALANCE * result["exo.energy.dissipated"][-1]
