"""The exoskeleton's FMUs of both kinds against golden data, and what their interface promises."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import fmpy.validation
import numpy as np
import pytest

from helpers.build import Build
from helpers.description import Description
from helpers.exo_golden import REACTIONS, acceleration_names, drop, load, moments, starts, state_names, worst
from helpers.fmu_client import Host, Slave
from helpers.native_build import run
from helpers.tolerances import (
    DRIFT,
    EXO_ENERGY,
    EXO_EVENT_TIME,
    EXO_GOLDEN,
    EXO_TIGHT,
    EXO_TRAJECTORY,
    HYBRID_STATE,
    LOSS,
    MODEL_EXCHANGE,
)
from mechfmu import Exoskeleton
from mechfmu.mechanisms.exoskeleton.topology import Limbs

THREE = dict(leg1=1, leg2=1, body=1)
BALANCE = ("energy.total", "energy.input", "energy.dissipated")


def balance(rows: np.ndarray) -> np.ndarray:
    """What the energy balance misses, from rows of BALANCE."""
    total, put_in, lost = rows.T
    return total - total[0] - put_in + lost


@pytest.mark.parametrize("inertia", ("prescribed", "length"))
def test_accelerations(fmu: Build, host: Host, inertia: str) -> None:
    """In Initialization Mode, for every state of the data: parameters and inputs can be set again and again there."""
    data, limbs = load("acc_3link"), Limbs(1, 1, 1)
    slave: Slave = host.open(fmu("exoskeleton", **THREE, contact="external", inertia=inertia)).enter()
    count = 0
    for c in data["cases"]:
        if (c["mode"] == "length_inertia") != (inertia == "length"):
            continue
        p, s, i = c["params"], c["state"], c["inputs"]
        I0 = [jr * l0**2 for jr, l0 in zip(p["jr"], p["l0"], strict=True)] if inertia == "length" else None
        values = starts(p, s["q"], s["l"], s["qd"], s["ld"], I0) | moments(limbs, i["M"], i["MH"])
        values |= {f"link[{k + 1}].axial_force": i["Fa"][k] for k in range(3)} | dict(
            zip(("foot[1].force_x", "foot[1].force_y", "foot[2].force_x", "foot[2].force_y"), i["R"], strict=True)
        )
        if inertia == "prescribed":
            values |= {f"link[{k + 1}].inertia_input": i["I"][k] for k in range(3)} | {
                f"link[{k + 1}].inertia_rate_input": i["Id"][k] for k in range(3)
            }
        slave.set(values)
        assert worst(slave.get(*acceleration_names(3)), c["expect"]["qdd"] + c["expect"]["ldd"]) < EXO_GOLDEN
        assert slave.get(*REACTIONS) == pytest.approx(i["R"])
        count += 1
    assert count == (18 if inertia == "prescribed" else 6)


def test_flight_and_standing(fmu: Build, host: Host) -> None:
    """The 6-link model: a flight high above the ground without touch-down, then lasting equilibrium on both feet."""
    data, file = load("flight_6link"), fmu("exoskeleton")
    start = starts(data["params"], data["q"][0], data["l"][0], data["qd"][0], data["ld"][0]) | {"ground.height": -100.0}
    slave = host.open(file).initialize(start, EXO_TIGHT)
    names = [*state_names(6), "momentum.angular", *BALANCE]
    rows = np.vstack([slave.get(*names), slave.run([0.01] * 100, names)])
    assert np.max(np.abs(rows[:, :28] - np.hstack([data[k] for k in ("q", "l", "qd", "ld")]))) < EXO_TRAJECTORY
    assert np.max(np.abs(rows[:, 28] - data["Hc"])) < EXO_TRAJECTORY
    assert np.max(np.abs(rows[:, 29] - data["E"])) < EXO_ENERGY and np.max(np.abs(balance(rows[:, 29:]))) < EXO_ENERGY
    slave.free()

    data = load("static_6link_double")
    start = starts(data["params"], data["state"]["q"], data["state"]["l"]) | moments(
        Limbs(2, 2, 2), data["inputs"]["M"], data["inputs"]["MH"]
    )
    slave = host.open(file).initialize(start | {"foot[1].pinned_start": 1, "foot[2].pinned_start": 1}, EXO_TIGHT)
    assert np.max(np.abs(slave.get(*acceleration_names(6)))) < EXO_GOLDEN * 9.81
    assert worst(slave.get(*REACTIONS), data["expect"]["reactions"]) < EXO_GOLDEN
    before = slave.get(*state_names(6))
    slave.step(0.05)
    assert slave.get(*state_names(6)) == pytest.approx(before, abs=EXO_TRAJECTORY)
    assert slave.get("phase", "events") == [3, 0]


def test_double_support(fmu: Build, host: Host) -> None:
    data = load("pinned_3link_double")
    start = starts(data["params"], data["q"][0], data["l"][0], data["qd"][0], data["ld"][0])
    slave = host.open(fmu("exoskeleton", **THREE, contact="pinned")).initialize(start, EXO_TIGHT)
    names = [*state_names(3), *REACTIONS, "foot[1].x", "foot[1].y", "foot[2].x", "foot[2].y"]
    rows = np.vstack([slave.get(*names), slave.run([0.01] * 50, names)])
    assert np.max(np.abs(rows[:, :16] - np.hstack([data[k] for k in ("q", "l", "qd", "ld")]))) < EXO_TRAJECTORY
    assert worst(rows[:, 16:20], data["reactions"]) < EXO_TRAJECTORY
    assert np.max(np.abs(rows[:, 20:] - [*data["anchors"]["1"], *data["anchors"]["2"]])) < DRIFT


@pytest.mark.parametrize("step", (0.001, 0.01, 0.05), ids=lambda s: f"{s:g}s")
def test_the_drop_with_its_events(fmu: Build, host: Host, step: float) -> None:
    """Events lie inside the communication steps; with 50 ms there are two in one."""
    data, start = drop()
    slave = host.open(fmu("exoskeleton", **THREE)).initialize(start, EXO_TIGHT)
    names = [*state_names(3), "last_event_time", "impact_energy_loss", *BALANCE, "foot[1].y", "foot[2].y"]
    rows, phases = [slave.get(*names)], [0.0]
    per_sample = max(1, round(0.01 / step))
    for i in range(1, round(1.0 / step) + 1):
        slave.step(step, (i - 1) * step)
        if i % per_sample == 0:
            rows.append(slave.get(*names))
            phases.append(slave["phase"])
    found, every = np.array(rows), max(1, round(step / 0.01))
    assert np.max(np.abs(found[:, :16] - data["states"][::every])) < HYBRID_STATE
    assert phases == [sum(p) for p in data["pinned"][::every]]
    assert slave["events"] == len(data["events"])
    for time, loss in found[1:, 16:18]:
        happened = [e for e in data["events"] if abs(e["t"] - time) < EXO_EVENT_TIME]
        assert happened or time == 0.0
        if happened and happened[0]["kind"] == "touch":
            assert loss == pytest.approx(happened[0]["energy_loss"], abs=LOSS)
    assert np.max(np.abs(balance(found[:, 18:21]))) < EXO_ENERGY
    assert found[:, 21:].min() > -DRIFT


def test_a_restored_state_repeats_the_events(fmu: Build, host: Host) -> None:
    """Phase, anchors, dwell and guards are part of the FMU state; a replay is the same to the last bit."""
    _, start = drop()
    slave = host.open(fmu("exoskeleton", **THREE)).initialize(start)
    slave.step(0.15)
    assert slave["phase"] == 3
    state = slave.save()

    def go_on() -> list[list[float]]:
        rows = []
        for _ in range(4):
            slave.step(0.1)
            rows.append(slave.get(*state_names(3), "phase", "events", "energy.dissipated", *REACTIONS))
        return rows

    once = go_on()
    assert once[-1][17] == 5
    slave.restore(state)
    assert go_on() == once


FMPY = """
import json, sys
sys.modules["mechfmu"] = None
import fmpy
file, job = sys.argv[1], json.loads(sys.argv[2])
result = fmpy.simulate_fmu(file, fmi_type="ModelExchange", stop_time=job["stop"], output_interval=0.01,
                           relative_tolerance=1e-8, start_values=job["start"], output=job["output"], record_events=True)
print(json.dumps({name: [float(v) for v in result[name]] for name in result.dtype.names}))
"""


@pytest.mark.parametrize("kind", ("native",))
def test_the_drop_in_model_exchange(fmu: Build, tmp_path: Path) -> None:
    """CVode and FMPy handle event indicators and new states. Both sides of an event are recorded."""
    data, start = drop()
    job = dict(stop=1.0, start=start, output=[*state_names(3), "phase", "events", *BALANCE])
    done = run([sys.executable, "-c", FMPY, fmu("exoskeleton", **THREE), json.dumps(job)], cwd=tmp_path)
    result = {name: np.array(values) for name, values in json.loads(done.stdout.splitlines()[-1]).items()}
    times, phase, events = (result[name] for name in ("time", "phase", "events"))
    found = np.stack([result[name] for name in state_names(3)], axis=1)
    jumps = np.flatnonzero(np.diff(events) > 0)
    assert times[jumps] == pytest.approx([e["t"] for e in data["events"]], abs=EXO_EVENT_TIME)
    assert phase[jumps + 1].tolist() == [sum(e["phase_after"]) for e in data["events"]]
    for jump, event in zip(jumps, data["events"], strict=True):
        if event["kind"] == "touch":
            assert found[jump] == pytest.approx(event["state_before"], abs=MODEL_EXCHANGE)
            assert found[jump + 1] == pytest.approx(event["state_after"], abs=MODEL_EXCHANGE)
    for t, wanted in zip(data["t"], data["states"], strict=True):
        at = int(np.argmin(np.abs(times - t)))
        assert found[at] == pytest.approx(wanted, abs=MODEL_EXCHANGE)
    assert np.max(np.abs(balance(np.stack([result[name] for name in BALANCE], axis=1)))) < MODEL_EXCHANGE


CONTRACT = {
    "parameter": [
        "link[{i}].mass", "link[{i}].com_fraction", "link[{i}].rest_length", "link[{i}].inertia", "link[{i}].stiffness",
        "link[{i}].damping", "link[{i}].axial_inertia", "link[{i}].locked", "ground.height", "ground.friction",
        "ground.restitution", "hip.x_start", "hip.y_start", "hip.velocity_x_start", "hip.velocity_y_start",
        "link[{i}].angle_start", "link[{i}].rate_start", "link[{i}].length_start", "link[{i}].length_rate_start",
        "foot[{b}].pinned_start", "gravity", "solver.relative_tolerance", "solver.max_step",
    ],
    "input": ["hip.moment[{b}]", "link[{i}].axial_force"],
    "output": [
        "hip.x", "hip.y", "hip.velocity_x", "hip.velocity_y", "hip.acceleration_x", "hip.acceleration_y",
        "link[{i}].angle", "link[{i}].rate", "link[{i}].acceleration", "link[{i}].length", "link[{i}].length_rate",
        "link[{i}].length_acceleration", "link[{i}].thrust", "foot[{b}].x", "foot[{b}].y", "foot[{b}].velocity_x",
        "foot[{b}].velocity_y", "foot[{b}].reaction_x", "foot[{b}].reaction_y", "foot[{b}].pinned", "head.x", "head.y",
        "phase", "events", "impact_energy_loss", "com.x", "com.y", "com.velocity_x", "com.velocity_y",
        "momentum.angular", "energy.kinetic", "energy.potential", "energy.total", "energy.input", "energy.dissipated",
    ],
}  # fmt: skip


def test_the_file(fmu: Build, kind: str) -> None:
    """Names, types, units and dependencies of the specified variables; the rules of the standard."""
    file = fmu("exoskeleton", **THREE)
    assert fmpy.validation.validate_fmu(str(file)) == []
    description = Description(file)
    for causality, names in CONTRACT.items():
        for pattern in names:
            for name in {pattern.format(i=i, b=b) for i in (1, 2, 3) for b in (1, 2)}:
                assert description.variables[name].attrib["causality"] == causality, name
    moments_of = [i for i in (1, 2, 3) if f"link[{i}].moment" in description.variables]
    assert moments_of == [1, 2], "the first link of the body has none"
    assert description.variables["phase"].find("Integer") is not None
    assert description.variables["foot[1].pinned"].find("Boolean") is not None
    outputs = description.unknowns("Outputs")
    inputs = {n for n, v in description.variables.items() if v.attrib["causality"] == "input"}
    for name in ("hip.x", "link[1].rate", "foot[1].velocity_y", "com.x", "energy.kinetic", "phase"):
        assert not inputs & set(outputs[name] or ()), f"{name} has no direct feed-through"
    assert "hip.moment[1]" in (outputs["foot[1].reaction_y"] or inputs)
    if kind == "native":
        root = description.root
        assert root.find("ModelExchange") is not None
        assert int(root.attrib["numberOfEventIndicators"]) == len(Exoskeleton.three_link().event_names)


def test_options_add_the_inputs_of_the_contract() -> None:
    prescribed = Exoskeleton(inertia="prescribed").table.by_name
    assert all(
        prescribed[f"link[{i}].{n}"].role == "input"
        for i in range(1, 7)
        for n in ("inertia_input", "inertia_rate_input")
    )
    external = Exoskeleton(contact="external").table.by_name
    assert all(external[f"foot[{b}].force_{a}"].role == "input" for b in (1, 2) for a in "xy")
    assert [i for i in range(1, 7) if f"link[{i}].moment" in external] == [1, 2, 3, 4, 6]
