"""Linearisation and equilibria against differences, closed forms, and frequencies that are known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat
from scipy.special import jn_zeros

from helpers.command_line import done, refused
from helpers.paths import EXAMPLES
from helpers.tolerances import (
    ARITHMETIC,
    CENTRAL_DIFFERENCE,
    CENTRAL_DIFFERENCE_STEP,
    CONSTRAINT_MODE,
    EQUILIBRIUM,
    STANDING_FOOT,
    STANDING_HIP,
    STANDING_REACTION,
)
from mechfmu import Exoskeleton, LinkChain, SphericalArm
from mechfmu.analysis.linear import linearize, start_at, start_point, trim, values_at
from mechfmu.cli import main
from mechfmu.fmu.archive import write_archive
from mechfmu.fmu.dependencies import dependencies
from mechfmu.fmu.model_description import Interface, model_description
from mechfmu.mechanisms import add_folder, make
from mechfmu.model import Mechanism, UserError
from mechfmu.simulation.engines import engine


@pytest.mark.parametrize("mechanism", (LinkChain(links=3, base="moving"), SphericalArm()), ids=repr)
def test_matrices_are_differences(mechanism: Mechanism) -> None:
    random = np.random.default_rng(5)
    at = start_point(mechanism)
    x, u = at.x + 0.1 * random.normal(size=at.x.size), random.normal(size=at.u.size)
    with pytest.warns(
        RuntimeWarning, match=r"not an equilibrium: joint\[\d\]\.rate.* changes at a rate of \d+\.?\d* rad/s2"
    ):
        linear = linearize(mechanism, point=type(at)(at.t, x, at.d, u, at.p), energies=True)
    f = engine("numpy", mechanism)
    for function, by_x, by_u in ((f.rates, linear.A, linear.B), (f.outputs, linear.C, linear.D)):
        for matrix, size, move_x in ((by_x, x.size, True), (by_u, u.size, False)):
            for j in range(size):
                e = CENTRAL_DIFFERENCE_STEP * np.eye(size)[j]
                ahead, behind = (
                    function(at.t, x + s * e, at.d, u, at.p) if move_x else function(at.t, x, at.d, u + s * e, at.p)
                    for s in (1, -1)
                )
                difference = (ahead - behind) / (2 * CENTRAL_DIFFERENCE_STEP)
                tolerance = CENTRAL_DIFFERENCE * max(1.0, np.abs(matrix).max())
                assert np.allclose(matrix[:, j], difference, rtol=0, atol=tolerance)


def test_a_pendulum_swings_at_its_frequency() -> None:
    """omega^2 = m g lc / (J + m lc^2), for a uniform rod 3 g / 2 l; with a damper 2 zeta omega = d / (J + m lc^2)."""
    rod = LinkChain(links=1, length=0.8, mass=2.0)
    point = trim(rod, {"joint[1].angle_start": -1.0, "joint[1].damping": 0.3})
    assert values_at(rod, point)["joint[1].angle"] == pytest.approx(-np.pi / 2, abs=EQUILIBRIUM)
    slowest = [m for m in linearize(rod, point=point).modes() if m[1] > 1e-6]
    assert len(slowest) == 1
    inertia = 2.0 * 0.8**2 / 3
    omega = np.sqrt(1.5 * 9.81 / 0.8)
    assert 2 * np.pi * slowest[0][1] == pytest.approx(omega, rel=EQUILIBRIUM)
    assert 2 * slowest[0][2] * omega == pytest.approx(0.3 / inertia, rel=EQUILIBRIUM)


def test_a_hanging_chain_has_the_frequencies_of_a_rope() -> None:
    """zeros of J0 over 2, times sqrt(g / L), as the number of links grows; the error falls with its square."""
    rope = jn_zeros(0, 3) / 2 * np.sqrt(9.81)
    errors = []
    for n in (20, 40):
        chain = LinkChain(links=n)
        linear = linearize(chain, point=trim(chain, {"joint[1].angle_start": -1.5}))
        modes = [2 * np.pi * m.frequency for m in linear.modes() if m.frequency > 1e-3]
        assert len(modes) == n
        errors.append(np.abs(np.array(modes[:3]) - rope))
    assert np.all(errors[1] < 5e-3 * rope) and np.all(np.abs(np.log2(errors[0] / errors[1]) - 2) < 0.2)


def test_an_inverted_pendulum_held_by_a_torque() -> None:
    """With its angle held, the torque that carries the rod is found."""
    rod = LinkChain(links=1, length=1.0, mass=2.0)
    point = trim(rod, {"joint[1].angle_start": 0.5}, free=["joint[1].torque"], hold=["joint[1].angle"])
    found = values_at(rod, point)
    assert found["joint[1].angle"] == 0.5
    assert found["joint[1].torque"] == pytest.approx(2.0 * 9.81 * 0.5 * np.cos(0.5), rel=EQUILIBRIUM)
    falling = max(m[0].real for m in linearize(LinkChain(links=1), {"joint[1].angle_start": np.pi / 2}).modes())
    assert falling == pytest.approx(np.sqrt(1.5 * 9.81), rel=EQUILIBRIUM)


def test_the_arm_comes_to_rest_with_unit_quaternions() -> None:
    arm = SphericalArm()
    point = trim(arm)
    assert np.max(np.abs(engine("numpy", arm).rates(point.t, point.x, point.d, point.u, point.p))) < EQUILIBRIUM
    q = [values_at(arm, point)[f"joint[1].quaternion[{k}]"] for k in (1, 2, 3, 4)]
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=ARITHMETIC)


WEIGHT = 75.0 * 9.81  # N, of the 6-link exoskeleton


def test_the_standing_exoskeleton() -> None:
    """Its feet stay, each carries half the weight, and for a while it stands still: the equilibrium is unstable."""
    exoskeleton = Exoskeleton(contact="pinned")
    moments = [s.name for s in exoskeleton.table.of("input") if "moment" in s.name]
    before = exoskeleton.simulate(stop=1e-3, step=1e-3)
    standing = start_at(exoskeleton, trim(exoskeleton, free=moments))
    result = exoskeleton.simulate(stop=0.2, step=0.01, start=standing)
    for foot in (1, 2):
        assert result[f"foot[{foot}].reaction_y"] == pytest.approx(WEIGHT / 2, rel=STANDING_REACTION)
        for axis in "xy":
            assert result[f"foot[{foot}].{axis}"] == pytest.approx(before[f"foot[{foot}].{axis}"][0], abs=STANDING_FOOT)
    assert np.ptp(result["hip.y"]) < STANDING_HIP and np.ptp(result["hip.x"]) < STANDING_HIP
    assert result["link[1].length"][-1] < before["link[1].length"][0] - 1e-3, "the links yield under the weight"


def test_a_posture_is_held_exactly() -> None:
    exoskeleton = Exoskeleton(contact="pinned")
    moments = [s.name for s in exoskeleton.table.of("input") if "moment" in s.name]
    found = values_at(exoskeleton, trim(exoskeleton, {"hip.y_start": 0.9}, free=moments, hold=["hip.x", "hip.y"]))
    assert found["hip.y"] == 0.9 and found["hip.x"] == 0.0 and found["energy.input"] == 0.0


def test_modes_name_their_states_and_constraints_are_marked() -> None:
    """Two rods, one with a soft and one with a stiff spring; the norm of quaternions; four coordinates of feet."""
    rods = LinkChain(links=2)
    hanging = {"joint[1].angle_start": -1.57, "joint[2].stiffness": 1e5}
    slow, fast = linearize(rods, point=trim(rods, hanging)).modes()
    assert set(slow.states) == {"joint[1].angle", "joint[1].rate"}
    assert set(fast.states) == {"joint[2].angle", "joint[2].rate"}
    arm = SphericalArm()
    held = [m for m in linearize(arm, point=trim(arm)).modes() if m.constraint]
    assert [m.eigenvalue for m in held] == pytest.approx([-20.0] * 2)
    assert all("quaternion" in s for m in held for s in m.states)
    exoskeleton = Exoskeleton(contact="pinned")
    moments = [s.name for s in exoskeleton.table.of("input") if "moment" in s.name]
    standing = trim(exoskeleton, {"hip.y_start": 0.9}, free=moments, hold=["hip.x", "hip.y"])
    pinned = [m.eigenvalue for m in linearize(exoskeleton, point=standing).modes() if m.constraint]
    assert sum(1 + (value.imag > 0) for value in pinned) == 8
    assert pinned == pytest.approx([-10.0] * len(pinned), abs=CONSTRAINT_MODE)


def test_the_exoskeleton_fmu_with_its_boolean_parameters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    legs, file = Exoskeleton(contact="pinned"), tmp_path / "a.fmu"
    interfaces = {"CoSimulation": Interface({"modelIdentifier": "a"})}
    description = model_description(legs, interfaces, {}, {"link[1].locked": 1.0}, dependencies(legs), "")
    model = json.dumps({"mechanism": legs.key, "options": legs.options}).encode()
    write_archive(file, {"modelDescription.xml": description, "resources/model.json": model})
    assert main(["linearize", str(file), "--set", "link[2].locked=false", "-o", str(tmp_path / "a.json")]) == 0
    warning = "warning: this is not an equilibrium: link[4].length_rate changes at a rate of 11.3 m/s2"
    assert warning in capsys.readouterr().err
    with pytest.warns(RuntimeWarning, match="not an equilibrium"):
        wanted = linearize(legs, {"link[1].locked": True})
    assert np.array_equal(json.loads((tmp_path / "a.json").read_text())["A"], wanted.A)
    assert main(["linearize", str(file), "--set", "link[2].locked=maybe"]) == 2
    assert "link[2].locked = maybe: must be true or false" in capsys.readouterr().err


def test_no_equilibrium() -> None:
    message = r"no equilibrium of link_chain was found near the start: joint\[1\].rate still changes"
    with pytest.raises(UserError, match=message):
        trim(LinkChain(links=1), {"joint[1].torque": 1000.0})


def test_names_that_do_not_exist() -> None:
    with pytest.raises(UserError, match=r"no input joint\[1\].torqe; did you mean joint\[1\].torque"):
        trim(LinkChain(links=1), free=["joint[1].torqe"])
    with pytest.raises(UserError, match=r"no state joint\[2\].angle"):
        trim(LinkChain(links=1), hold=["joint[2].angle"])


def test_the_command_and_its_files(tmp_path: Path) -> None:
    rod, hanging = ("link_chain", "--option", "links=1"), ("--trim", "--set", "joint[1].angle_start=-1.5")
    shown = done("linearize", *rod, *hanging, "-o", "a.npz", folder=tmp_path)
    assert "-1.5708" in shown and f"{np.sqrt(1.5 * 9.81) / 2 / np.pi:.6g}" in shown
    done("build", *rod, "--start", "gravity=1.62", folder=tmp_path)
    moon = done("linearize", "LinkChain.fmu", *hanging, "-o", "a.mat", folder=tmp_path)
    assert f"{np.sqrt(1.5 * 1.62) / 2 / np.pi:.6g}" in moon
    done("linearize", *rod, "-o", "a.json", folder=tmp_path)
    earth, lunar = np.load(tmp_path / "a.npz"), loadmat(tmp_path / "a.mat")
    start = json.loads((tmp_path / "a.json").read_text())
    assert earth["A"][1, 0] / lunar["A"][1, 0] == pytest.approx(9.81 / 1.62, rel=ARITHMETIC)
    assert list(earth["states"]) == start["states"] and start["states"][0] == "joint[1].angle"
    assert earth["x0"] == pytest.approx([-np.pi / 2, 0.0], abs=EQUILIBRIUM) and len(start["y0"]) == len(
        start["outputs"]
    )
    states, inputs, outputs = (len(earth[name]) for name in ("states", "inputs", "outputs"))
    assert earth["B"].shape == (states, inputs) and earth["D"].shape == (outputs, inputs)


def test_a_controller_is_designed_with_what_is_chosen() -> None:
    """Inputs and outputs by name; without the energies, on which nothing depends, the closed loop is stable."""
    rods = LinkChain(links=2)
    point = trim(rods, {"joint[1].angle_start": np.pi / 2}, hold=["joint[1].angle", "joint[2].angle"])
    linear = linearize(rods, point=point).select(inputs=["joint[2].torque", "joint[1].torque"], outputs=["tip.x"])
    assert linear.states == ("joint[1].angle", "joint[2].angle", "joint[1].rate", "joint[2].rate")
    assert linear.C.shape == (1, 4) and linear.x0[0] == np.pi / 2 and linear.y0 == pytest.approx([0.0], abs=ARITHMETIC)
    assert max(m[0].real for m in linear.modes()) > 1
    assert np.linalg.eigvals(linear.A - linear.B @ linear.lqr(np.eye(4), np.eye(2)).K).real.max() < -1
    complete = linearize(rods, point=point)
    assert np.array_equal(complete.B[:, [complete.inputs.index(n) for n in linear.inputs]], linear.B)
    with pytest.raises(UserError, match=r"no tip\.z; did you mean tip"):
        complete.select(outputs=["tip.z"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    (
        (("link_chain", "--free", "joint[1].torque"), ("--free is for --trim",)),
        (("link_chain", "-o", "a.txt"), ("must end in .npz",)),
        (("none.fmu",), ("no file none.fmu",)),
        (("nothing",), ("no mechanism nothing",)),
        (("link_chain", "--set", "gravty=1"), ("gravty", "did you mean gravity")),
    ),
)
def test_mistakes_in_commands(tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    refused("linearize", *arguments, folder=tmp_path, words=words)


def test_a_motor_that_holds_a_load_is_at_rest() -> None:
    """It takes in energy all the time, on which no rate depends."""
    motor = make(add_folder(EXAMPLES / "motor_pendulum"))
    point = trim(motor, {"shaft.angle_start": np.pi / 3}, free=["motor.voltage"], hold=["shaft.angle"])
    assert abs(values_at(motor, point)["shaft.rate"]) < EQUILIBRIUM and values_at(motor, point)["motor.current"] > 0.1
