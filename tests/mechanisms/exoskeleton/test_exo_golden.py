"""The exoskeleton against golden data, in the library: both forms of the equations, and motions by the engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.exo_golden import (
    REACTIONS,
    Case,
    acceleration_names,
    case,
    drop,
    fast,
    jacobian,
    load,
    moments,
    pinned_fast,
    pinned_slow,
    slow,
    starts,
    state_names,
    swept,
    system,
    worst,
)
from helpers.tolerances import (
    DRIFT,
    EXO_ENERGY,
    EXO_EVENT_TIME,
    EXO_GOLDEN,
    EXO_TIGHT,
    EXO_TRAJECTORY,
    HYBRID_STATE,
    LOSS,
)
from mechfmu import Exoskeleton
from mechfmu.mechanisms.exoskeleton import contact, recursion
from mechfmu.mechanisms.exoskeleton import matrices as dense
from mechfmu.mechanisms.exoskeleton.topology import Limbs
from mechfmu.simulation.engines import NAMES, engine, make_instance


def cases(name: str) -> list[tuple[Case, Any]]:
    data = load(name)
    limbs = Limbs(*(data.get(k, 1) for k in "kpr"))
    return [(case(limbs, c), c) for c in data["cases"]]


@pytest.mark.parametrize("form", (slow, fast), ids=("matrices", "recursion"))
@pytest.mark.parametrize("name", ("acc_3link", "acc_6link"))
def test_accelerations(name: str, form: Any) -> None:
    found = [worst(form(c), data["expect"]["qdd"] + data["expect"]["ldd"]) for c, data in cases(name)]
    assert len(found) == 24 and max(found) < EXO_GOLDEN


@pytest.mark.parametrize("name", ("acc_3link", "acc_6link"))
def test_mass_matrix_and_force(name: str) -> None:
    given = [(system(c), data["expect"]) for c, data in cases(name) if "force" in data["expect"]]
    assert len(given) == 2
    for (mass, force), expect in given:
        assert worst(mass.ravel(), expect["mass_matrix_rowmajor"]) < EXO_GOLDEN
        assert worst(force, expect["force"]) < EXO_GOLDEN


@pytest.mark.parametrize("form", (pinned_slow, pinned_fast), ids=("matrices", "recursion"))
def test_pinned_feet_and_given_lengths(form: Any) -> None:
    data = cases("constrained_3link")
    assert len(data) == 18
    for c, expect in data:
        acc, R, axial = form(c, [foot - 1 for foot in expect["pinned_feet"]])
        assert worst(acc, expect["expect"]["qdd"] + expect["expect"]["ldd"]) < EXO_GOLDEN
        assert worst(R, expect["expect"]["reactions"]) < EXO_GOLDEN
        if expect["locked_links"]:
            assert (
                worst(axial[[i - 1 for i in expect["locked_links"]]], expect["expect"]["axial_multipliers"])
                < EXO_GOLDEN
            )


def test_impacts() -> None:
    data = cases("impact_3link")
    assert len(data) == 9
    for c, expect in data:
        feet = [foot - 1 for foot in expect["feet"]]
        links, sweep = swept(c)
        mobility = recursion.foot_mobility(c.limbs, links, sweep, c.g)
        v = [tuple(jacobian(c, [foot])[0] @ c.v) for foot in range(2)]
        Lambda = contact.solve(mobility.Om, [float(foot in feet) for foot in range(2)], [(-x, -y) for x, y in v])
        added = recursion.foot_force_response(c.limbs, links, sweep, Lambda)
        after = c.v + np.concatenate([[added.x, added.y], added.phi, added.l])
        assert worst(after, expect["expect"]["qd_plus"] + expect["expect"]["ld_plus"]) < EXO_GOLDEN
        assert worst([Lambda[foot] for foot in feet], np.reshape(expect["expect"]["impulses"], (-1, 2))) < EXO_GOLDEN
        loss = -0.5 * sum(np.dot(Lambda[foot], v[foot]) for foot in range(2))
        assert loss == pytest.approx(expect["expect"]["kinetic_energy_loss"], rel=EXO_GOLDEN)


@pytest.mark.parametrize("name", NAMES)
def test_double_support_in_every_engine(name: str) -> None:
    """The cases with both feet pinned, as phases of the mechanism; the reactions include the given foot forces."""
    m = Exoskeleton.three_link(contact="pinned", inertia="prescribed", lengths="prescribed")
    run, table = engine(name, m), m.table
    chosen = [(c, data) for c, data in cases("constrained_3link") if data["pinned_feet"] == [1, 2]]
    assert len(chosen) == 6
    for c, data in chosen:
        settings = starts(data["params"], data["state"]["q"], data["state"]["l"])
        settings |= {f"link[{i}].prescribed": float(i in data["locked_links"]) for i in (1, 2, 3)}
        settings["ground.stabilization"] = 0.0  # the data has feet that move
        u, p = table.defaults("input"), table.defaults("parameter")
        inputs = moments(c.limbs, data["inputs"]["M"], data["inputs"]["MH"])
        for i in range(3):
            inputs |= {f"link[{i + 1}].axial_force": c.loads.Fa[i], f"link[{i + 1}].inertia_input": c.loads.I[i]}
            inputs |= {
                f"link[{i + 1}].inertia_rate_input": c.loads.Id[i],
                f"link[{i + 1}].length_acceleration_input": c.ldd[i],
            }
        for scalar, value in m.settings(settings | inputs):
            (u if scalar.role == "input" else p)[scalar.index] = value
        s = c.state
        x = table.x.pack(
            x=s.q[0],
            y=s.q[1],
            phi=s.q[2:],
            l=s.l,
            vx=s.qd[0],
            vy=s.qd[1],
            w=s.qd[2:],
            ld=s.ld,
            work=0.0,
            loss=0.0,
            shape_work=0.0,
        )
        d = table.d.pack(**{row.symbol: np.ones(row.count) for row in table.d.rows})
        y = table.y(run.outputs(0.0, x, d, u, p))
        assert (
            worst([y.x_acc, y.y_acc, *y.phi_acc, *y.l_acc], data["expect"]["qdd"] + data["expect"]["ldd"]) < EXO_GOLDEN
        )
        reactions = np.array(data["expect"]["reactions"]).reshape(2, 2) + c.loads.R
        assert worst(np.stack([y.Rx, y.Ry], axis=1), reactions) < EXO_GOLDEN


# --- motions ----------------------------------------------------------------------------------------------------------


def signals(result: Any, names: list[str]) -> np.ndarray:
    return np.stack([result[n] for n in names], axis=1)


@pytest.mark.parametrize("name", ("casadi", "c"))
def test_flight(name: str) -> None:
    data = load("flight_6link")
    start = starts(data["params"], data["q"][0], data["l"][0], data["qd"][0], data["ld"][0])
    result = Exoskeleton.six_link(contact="flight").simulate(
        stop=1.0, step=0.01, start=start, engine=name, tolerance=EXO_TIGHT
    )
    wanted = np.hstack([data[k] for k in ("q", "l", "qd", "ld")])
    assert np.max(np.abs(signals(result, state_names(6)) - wanted)) < EXO_TRAJECTORY
    assert np.max(np.abs(signals(result, ["com.x", "com.y"]) - data["com"])) < EXO_TRAJECTORY
    assert np.max(np.abs(result["momentum.angular"] - data["Hc"])) < EXO_TRAJECTORY
    assert np.max(np.abs(result["energy.total"] - data["E"])) < EXO_ENERGY


@pytest.mark.parametrize("name", ("casadi", "c"))
def test_double_support_without_losses(name: str) -> None:
    data = load("pinned_3link_double")
    start = starts(data["params"], data["q"][0], data["l"][0], data["qd"][0], data["ld"][0])
    result = Exoskeleton.three_link(contact="pinned").simulate(
        stop=0.5, step=0.01, start=start, engine=name, tolerance=EXO_TIGHT
    )
    wanted = np.hstack([data[k] for k in ("q", "l", "qd", "ld")])
    assert np.max(np.abs(signals(result, state_names(3)) - wanted)) < EXO_TRAJECTORY
    assert worst(signals(result, REACTIONS), data["reactions"]) < EXO_TRAJECTORY
    assert np.max(np.abs(result["energy.total"] - data["E"])) < EXO_ENERGY
    for b in (1, 2):
        assert np.max(np.abs(signals(result, [f"foot[{b}].x", f"foot[{b}].y"]) - data["anchors"][str(b)])) < DRIFT


@pytest.mark.parametrize("name", NAMES)
def test_standing(name: str) -> None:
    """Equilibrium: nothing accelerates, the reactions carry the weight; and it stays so in the hybrid model."""
    data = load("static_6link_double")
    start = starts(data["params"], data["state"]["q"], data["state"]["l"]) | moments(
        Limbs(2, 2, 2), data["inputs"]["M"], data["inputs"]["MH"]
    )
    for how in ("automatic",) if name == "c" else ("pinned", "automatic"):  # compiling takes long
        m = Exoskeleton.six_link(contact=how)
        t, x, d, u, p = m.start(start | {"foot[1].pinned_start": 1, "foot[2].pinned_start": 1})
        y = m.table.y(engine(name, m).outputs(t, x, d, u, p))
        assert np.max(np.abs([y.x_acc, y.y_acc, *y.phi_acc, *y.l_acc])) < EXO_GOLDEN * 9.81
        assert worst([y.Rx[0], y.Ry[0], y.Rx[1], y.Ry[1]], data["expect"]["reactions"]) < EXO_GOLDEN
        assert y.Ry.sum() == pytest.approx(data["expect"]["weight"], rel=EXO_GOLDEN)


@pytest.mark.parametrize("name", ("casadi", "c"))
def test_the_drop_with_its_events(name: str) -> None:
    data, start = drop()
    m = Exoskeleton.three_link()
    instance = make_instance(m, start, name)
    instance.initialize(tolerance=EXO_TIGHT)
    pick = [
        m.table.by_name[n]
        for n in (*state_names(3), "phase", "events", "last_event_time", "impact_energy_loss", *REACTIONS)
    ]
    events: list[tuple[float, float, float]] = []
    for i in range(1, 101):
        instance.step((i - 1) * 0.01, 0.01)
        *state, phase, count, time, loss, r1x, r1y, r2x, r2y = instance.get(pick)
        assert np.max(np.abs(np.array(state) - data["states"][i])) < HYBRID_STATE
        assert phase == sum(data["pinned"][i])
        if data["reactions"][i]:
            assert worst([r1x, r1y, r2x, r2y], data["reactions"][i]) < HYBRID_STATE
        if count > len(events):
            events.append((time, phase, loss))
    assert len(events) == len(data["events"]) == 5
    for (time, phase, loss), expect in zip(events, data["events"], strict=True):
        assert time == pytest.approx(expect["t"], abs=EXO_EVENT_TIME)
        assert phase == sum(expect["phase_after"])
        if expect["kind"] == "touch":
            assert loss == pytest.approx(expect["energy_loss"], abs=LOSS)


@pytest.mark.parametrize("name", NAMES)
def test_accelerations_in_every_engine(name: str) -> None:
    """The same 48 states through the mechanism, with forces from outside and all three kinds of inertia."""
    for file in ("acc_3link", "acc_6link"):
        for c, data in cases(file):
            links = c.limbs.n
            length = data["mode"] == "length_inertia"
            inertia = "length" if length else "prescribed"
            m = Exoskeleton(leg1=c.limbs.k, leg2=c.limbs.p, body=c.limbs.r, contact="external", inertia=inertia)
            state = (data["state"][key] for key in ("q", "l", "qd", "ld"))
            values = starts(data["params"], *state, list(c.links.jr * c.links.l0**2) if length else None)
            values |= moments(c.limbs, data["inputs"]["M"], data["inputs"]["MH"])
            values |= {f"foot[{b + 1}].force_{a}": c.loads.R[b][i] for b in range(2) for i, a in enumerate("xy")}
            values |= {f"link[{i + 1}].axial_force": c.loads.Fa[i] for i in range(links)}
            if not length:
                values |= {f"link[{i + 1}].inertia_input": c.loads.I[i] for i in range(links)}
                values |= {f"link[{i + 1}].inertia_rate_input": c.loads.Id[i] for i in range(links)}
            at = m.start(values)
            y = m.table.y(engine(name, m).outputs(*at))
            wanted = data["expect"]["qdd"] + data["expect"]["ldd"]
            assert worst([y.x_acc, y.y_acc, *y.phi_acc, *y.l_acc], wanted) < EXO_GOLDEN
            matrices = m.matrices(*at)
            assert matrices.A.shape == (links + 2, links + 2) and np.array_equal(matrices.G, matrices.E.T)
            right = dense.matrices(c.limbs, c.links, c.state, c.loads)
            assert worst([*matrices.F, *matrices.S], [*right.F, *right.S]) < EXO_GOLDEN


def test_names_of_the_golden_data_are_those_of_the_fmu() -> None:
    names = Exoskeleton.six_link().table.by_name
    assert set(state_names(6)) | set(acceleration_names(6)) | set(REACTIONS) <= set(names)
