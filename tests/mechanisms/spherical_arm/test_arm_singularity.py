"""Where Euler angles are singular: quaternions pass through.

The angles warn, then stop, in the library and in both kinds of FMU.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from helpers.fmu_client import Host, Refused
from helpers.tolerances import ARM_FORMS, ARM_SAMPLED_MINIMUM, BALANCE, NORM, TIGHT
from helpers.tree_cases import ARM, BuildTree
from helpers.tree_golden import arm_of, product
from mechfmu.mechanisms.spherical_arm.model import SphericalArm
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.model import UserError
from mechfmu.multibody.tree import Body, BodyTree, Joint
from mechfmu.simulation.engines import make_instance
from mechfmu.simulation.integration import IntegrationError

pytest_plugins = ["helpers.tree_fixtures"]

WARNING, STOP = "come near their singularity (|sin phi_2| < 0.01)", "are at their singularity (|sin phi_2| < 0.0001)"
RATE, ANGLE = (
    -2.0,
    0.5,
)  # of the second angle of joint 1; without weight and with everything else straight it turns at this rate at first


def towards(form: str) -> dict[str, float]:
    """The straight arm in the plane across x, without weight.

    Only the second angles move, and that of joint 1 passes zero.
    """
    first, straight = (ANGLE, 0.0), (np.pi / 2, 0.0)
    start = {"gravity": 0.0, "joint[3].angle_start": 0.0, "joint[3].rate_start": 0.0}
    for j, (angle, third) in enumerate((first, straight), start=1):
        rate = RATE if j == 1 else 0.0
        if form == "euler":
            start |= {f"joint[{j}].angle_start[{k}]": value for k, value in enumerate((0.0, angle, third), start=1)}
            start |= {f"joint[{j}].rate_start[{k}]": value for k, value in enumerate((0.0, rate, 0.0), start=1)}
        else:
            e = product(np.array([np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
            start |= {f"joint[{j}].quaternion_start[{k}]": value for k, value in enumerate(e.tolist(), start=1)}
            start |= {f"joint[{j}].rate_start[{k}]": value for k, value in enumerate((rate, 0.0, 0.0), start=1)}
    return start


# --- the library ------------------------------------------------------------------------------------------------------


def test_the_angles_warn_and_stop() -> None:
    instance = make_instance(SphericalArm(state="euler"), towards("euler"))
    instance.initialize(tolerance=TIGHT)
    singularity = instance.table.by_name["singularity"]
    t, h = 0.0, 0.002
    with (
        pytest.warns(RuntimeWarning) as warned,
        pytest.raises(IntegrationError, match=r"at t = 0\.\d+ s: .*use state=quaternion") as stopped,
    ):
        while t < 1.0:
            instance.step(t, h)
            t += h
    assert STOP in str(stopped.value)
    assert [str(w.message) for w in warned if WARNING in str(w.message)], [str(w.message) for w in warned]
    assert len(warned) == 1  # once, not at every step
    assert 1e-4 <= instance.get([singularity])[0] < 1e-2  # the state before the refused step is still good
    assert np.isfinite(instance.get(instance.table.of("output"))).all()


def test_the_numpy_engine_stops_with_the_same_words_and_no_other_warning() -> None:
    """At the singularity itself the equations divide by zero; the stop comes before."""
    instance = make_instance(SphericalArm(state="euler"), towards("euler"), "numpy")
    instance.initialize()  # of the default tolerance: the numpy engine is slow
    t, h = 0.0, 0.02
    with warnings.catch_warnings(record=True) as warned, pytest.raises(IntegrationError, match=r"use state=quaternion"):
        warnings.simplefilter("always")
        while t < 1.0:
            instance.step(t, h)
            t += h
    assert [WARNING in str(w.message) for w in warned] == [True], [str(w.message) for w in warned]


@pytest.mark.parametrize("side", (1, -1))
@pytest.mark.parametrize("h", (0.01, 0.1, 1.0))
def test_no_step_is_so_long_that_it_gets_past_the_singularity(h: float, side: int) -> None:
    """Straight through it the angles stay smooth and nothing makes the solver's steps small."""
    start = towards("euler") | {"joint[1].angle_start[2]": side * ANGLE, "joint[1].rate_start[2]": side * RATE}
    instance = make_instance(SphericalArm(state="euler"), start)
    instance.initialize()
    with (
        pytest.warns(RuntimeWarning, match="come near"),
        pytest.raises(IntegrationError, match="are at their singularity"),
    ):
        for i in range(round(1.0 / h)):
            instance.step(i * h, h)


def test_the_message_of_a_tree_names_the_alternative() -> None:
    tree = BodyTree(
        "top", (Body("b", 1.0, (0.0, 0.0, 0.1), (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)),), (Joint("gimbal", "cardan_xyz", "b"),)
    )
    mechanism = Tree(model=tree.to_json())
    assert [note.text.rpartition(": ")[2] for note in mechanism.event_notes.values()] == [
        "describe the joint as kind spherical"
    ] * 2
    with pytest.raises(
        UserError, match=r"^gimbal: its angles start at their singularity .*: describe the joint as kind spherical"
    ):
        mechanism.start({"gimbal.angle_start[2]": np.pi / 2})


def test_the_warning_comes_before_the_stop() -> None:
    instance = make_instance(SphericalArm(state="euler"), towards("euler"))
    instance.initialize(tolerance=TIGHT)
    t, h = 0.0, 0.002
    with pytest.warns(RuntimeWarning, match="come near") as warned:
        while not warned.list:
            instance.step(t, h)
            t += h
    assert instance.get([instance.table.by_name["singularity"]])[0] == pytest.approx(1e-2, abs=-RATE * 2 * h)


def test_quaternions_pass_through_with_the_right_energy() -> None:
    result = SphericalArm().simulate(stop=1.0, step=0.01, start=towards("quaternion"), tolerance=TIGHT)
    second = result["joint[1].angle[2]"]
    assert second.min() < 0.02  # it has passed through
    assert second[-1] > 0.5
    assert np.all(result["singularity"] == 1.0)
    total = result["energy.total"]
    assert total[0] > 0.5
    assert np.max(np.abs(total - total[0])) < BALANCE * total[0]
    for j in (1, 2):
        e = np.stack([result[f"joint[{j}].quaternion[{k}]"] for k in (1, 2, 3, 4)])
        assert np.max(np.abs(np.linalg.norm(e, axis=0) - 1)) < NORM


def test_both_forms_agree_up_to_the_stop() -> None:
    until = 0.24
    quaternion, euler = (
        SphericalArm(state=form).simulate(stop=until, step=0.02, start=towards(form), tolerance=TIGHT)
        for form in ("quaternion", "euler")
    )
    assert abs(euler["joint[1].angle[2]"][-1]) < 0.03
    for name in ("tip.x", "tip.y", "tip.z", "energy.total", "joint[3].angle"):
        assert np.max(np.abs(quaternion[name] - euler[name])) < ARM_FORMS, name


@pytest.mark.parametrize("engine", ("casadi", "c"))
@pytest.mark.parametrize("angle", (0.0, 5e-5, np.pi - 5e-5), ids=("at", "below", "at pi"))
def test_the_angles_do_not_start_there(angle: float, engine: str) -> None:
    for j in (1, 2):
        instance = make_instance(SphericalArm(state="euler"), {f"joint[{j}].angle_start[2]": angle}, engine)
        with pytest.raises(
            UserError, match=rf"^joint\[{j}\]: its angles start at their singularity \(\|sin phi_2\| < 0\.0001\)"
        ):
            instance.initialize()


def test_a_start_near_the_singularity_gives_a_warning() -> None:
    instance = make_instance(SphericalArm(state="euler"), {"joint[1].angle_start[2]": 5e-3})
    with pytest.warns(RuntimeWarning, match="come near their singularity"):
        instance.initialize()


def test_singularity_is_the_smallest_sine() -> None:
    for first, second in ((0.3, 1.0), (1.2, -0.2), (3.0, 2.0)):
        instance = make_instance(
            SphericalArm(state="euler"), {"joint[1].angle_start[2]": first, "joint[2].angle_start[2]": second}
        )
        instance.initialize()
        found = instance.get([instance.table.by_name["singularity"]])[0]
        assert found == pytest.approx(min(abs(np.sin(first)), abs(np.sin(second))), rel=1e-14)


def test_the_golden_motion_stays_away_from_it() -> None:
    result = SphericalArm(state="euler").simulate(stop=5.0, step=0.1, tolerance=TIGHT)
    wanted = ARM["trajectory"]["accuracy"]["min_abs_sin_phi2"]
    assert result["singularity"].min() == pytest.approx(wanted, abs=ARM_SAMPLED_MINIMUM)


# --- FMUs -------------------------------------------------------------------------------------------------------------


def test_an_fmu_warns_and_stops(tree_fmu: BuildTree, host: Host) -> None:
    slave = host.open(tree_fmu(arm_of("euler"))).initialize(towards("euler"), tolerance=TIGHT)
    said, h = [], 0.002
    with pytest.raises(Refused) as stopped:
        while slave.t < 1.0:
            slave.step(h)
            if host.said:
                said.append((slave.t, host.said))
    assert stopped.value.status == 2  # fmi2Discard
    assert STOP in str(stopped.value)
    assert len(said) == 1, said
    assert WARNING in said[0][1]
    assert slave["singularity"] < 1e-2
    assert said[0][0] < slave.t
    last, _ = slave.discarded()
    assert slave.t - 1e-12 <= last <= slave.t + h


def test_an_fmu_with_quaternions_passes_through(tree_fmu: BuildTree, host: Host) -> None:
    slave = host.open(tree_fmu(arm_of("quaternion"))).initialize(towards("quaternion"), tolerance=TIGHT)
    rows = slave.run(
        [0.01] * 100, ["joint[1].angle[2]", "energy.total", *(f"joint[1].quaternion[{k}]" for k in (1, 2, 3, 4))]
    )
    assert host.said == ""
    assert rows[:, 0].min() < 0.02
    assert rows[-1, 0] > 0.5
    assert np.ptp(rows[:, 1]) < BALANCE * rows[0, 1]
    assert np.max(np.abs(np.linalg.norm(rows[:, 2:], axis=1) - 1)) < NORM


@pytest.mark.parametrize("angle", (0.0, 5e-5))
def test_an_fmu_does_not_start_there(tree_fmu: BuildTree, host: Host, angle: float) -> None:
    slave = host.open(tree_fmu(arm_of("euler")))
    with pytest.raises(Refused, match=r"joint\[2\]: its angles start at their singularity"):
        slave.initialize({"joint[2].angle_start[2]": angle})
