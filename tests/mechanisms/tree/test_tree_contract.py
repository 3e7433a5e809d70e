"""Names, units and causalities of the arm and of trees, what their FMUs refuse, and their files."""

from __future__ import annotations

import fmpy.validation
import numpy as np
import pytest

from helpers.description import Description
from helpers.fmu_client import Host, Refused
from helpers.tolerances import BALANCE, BASE_MOTION, NORM
from helpers.tree_cases import (
    ACCELERATIONS,
    ANGLES,
    COORDINATES,
    FORCES,
    KINDS,
    RATES,
    XYZ,
    BuildTree,
    at_start,
    mechanism_of,
)
from helpers.tree_golden import FORMS, arm_of
from helpers.trees import random_tree
from mechfmu.mechanisms.spherical_arm.model import SphericalArm
from mechfmu.mechanisms.tree.base import TreeMechanism
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.model import UserError
from mechfmu.multibody.tree import Body, BodyTree, Joint
from mechfmu.simulation.engines import make_instance

pytest_plugins = ["helpers.tree_fixtures"]

DISPLAY = {"rad": "deg", "rad/s": "deg/s", "rad/s2": "deg/s2"}
UNITS = {
    "angle": "rad",
    "position": "m",
    "quaternion": None,
    "rate": "rad/s",
    "speed": "m/s",
    "torque": "N.m",
    "force": "N",
}


def xyz(prefix: str, unit: str) -> dict[str, str]:
    return {f"{prefix}_{a}": unit for a in XYZ}


def several(name: str, count: int, unit: str | None) -> dict[str, str | None]:
    return {f"{name}[{k}]": unit for k in range(1, count + 1)}


BODY = {"mass": "kg", **{f"inertia_{s}": "kg.m2" for s in ("xx", "yy", "zz", "xy", "xz", "yz")}, **xyz("com", "m")}
TURNING = dict(stiffness="N.m/rad", damping="N.m.s/rad", friction="N.m", friction_speed="rad/s")
SLIDING = dict(stiffness="N/m", damping="N.s/m", friction="N", friction_speed="m/s")
COMMON = {"gravity": "m/s2", "solver.relative_tolerance": None, "solver.max_step": "s"}
TIP_INPUTS = {**xyz("tip.force", "N"), **xyz("tip.moment", "N.m")}
BASE_INPUTS = {**xyz("base.acceleration", "m/s2"), **xyz("base.angular_acceleration", "rad/s2")}
TIP = {
    **{f"tip.{a}": "m" for a in XYZ},
    **several("tip.quaternion", 4, None),
    **xyz("tip.velocity", "m/s"),
    **xyz("tip.rate", "rad/s"),
}
ENERGIES = {f"energy.{name}": "J" for name in ("kinetic", "potential", "total", "input", "dissipated")}
OUTPUTS = {**TIP, "momentum.vertical": "kg.m2/s", "singularity": None, **ENERGIES}


def contract_of_the_arm(form: str, moving: bool) -> dict[str, dict[str, str | None]]:
    parameters = (
        COMMON
        | {f"body[{i}].{n}": u for i in (1, 2, 3) for n, u in BODY.items()}
        | {f"joint[{j}].{n}": u for j in (1, 2, 3) for n, u in TURNING.items()}
    )
    inputs, outputs = dict(TIP_INPUTS), dict(OUTPUTS)
    for j in (1, 2):
        name, ball = f"joint[{j}]", form == "quaternion"
        parameters |= several(f"{name}.quaternion_start", 4, None) if ball else several(f"{name}.angle_start", 3, "rad")
        parameters |= several(f"{name}.rate_start", 3, "rad/s")
        inputs |= several(f"{name}.torque", 3, "N.m")
        outputs |= (
            several(f"{name}.angle", 3, "rad")
            | several(f"{name}.rate", 3, "rad/s")
            | several(f"{name}.acceleration", 3, "rad/s2")
        )
        outputs |= several(f"{name}.quaternion", 4, None) if ball else {}
    parameters |= {"joint[3].angle_start": "rad", "joint[3].rate_start": "rad/s"}
    inputs |= {"joint[3].torque": "N.m"} | (BASE_INPUTS if moving else {})
    outputs |= {"joint[3].angle": "rad", "joint[3].rate": "rad/s", "joint[3].acceleration": "rad/s2"}
    for j in (1, 2, 3):
        outputs |= xyz(f"joint[{j}].force", "N") | xyz(f"joint[{j}].moment", "N.m")
    return {"parameter": parameters, "input": inputs, "output": outputs}


def assert_contract(description: Description, contract: dict[str, dict[str, str | None]]) -> None:
    for causality, wanted in contract.items():
        for name, unit in wanted.items():
            assert description.variables[name].attrib["causality"] == causality, name
            assert description.typed[name].get("unit") == unit, name
            assert description.typed[name].get("displayUnit") == DISPLAY.get(unit or ""), name
    assert {n for n, v in description.variables.items() if v.attrib["causality"] == "input"} == contract["input"].keys()
    assert all(v.attrib.get("description", "").strip() for v in description.variables.values())


@pytest.mark.parametrize("form", FORMS)
def test_the_contract_of_the_arm(tree_fmu: BuildTree, form: str) -> None:
    assert_contract(Description(tree_fmu(arm_of(form))), contract_of_the_arm(form, moving=False))


def test_the_contract_of_the_arm_on_a_moving_base(tree_fmu: BuildTree, host: Host) -> None:
    """And its energy: the power of the base is power of the inputs."""
    file = tree_fmu(SphericalArm(base="moving"))
    description = Description(file)
    assert_contract(description, contract_of_the_arm("quaternion", moving=True))
    assert fmpy.validation.validate_fmu(str(file)) == []
    slave = host.open(file).initialize(
        {"base.acceleration_x": 2.0, "base.angular_acceleration_z": 1.5, "base.angular_acceleration_x": 0.5},
        tolerance=1e-9,
    )
    before = slave["energy.total"]
    rows = slave.run(
        [0.05] * 10, ["energy.total", "energy.input", "base.x", *(f"base.quaternion[{k}]" for k in (1, 2, 3, 4))]
    )
    assert rows[-1, 1] > 1.0
    assert np.max(np.abs(rows[:, 0] - before - rows[:, 1])) < BALANCE * np.abs(rows[:, 0]).max()
    assert rows[-1, 2] == pytest.approx(2.0 * 0.5**2 / 2, rel=BASE_MOTION)
    assert np.max(np.abs(np.linalg.norm(rows[:, 3:], axis=1) - 1)) < NORM


def every_kind() -> BodyTree:
    return random_tree(np.random.default_rng(1), KINDS)


def test_the_contract_of_a_tree_with_every_kind_of_joint(tree_fmu: BuildTree) -> None:
    tree = every_kind()
    parameters = COMMON | {f"{b.name}.{n}": u for b in tree.bodies for n, u in BODY.items()}
    inputs, outputs = dict(TIP_INPUTS), dict(OUTPUTS)
    for joint in tree.joints:
        for words, group, suffix in (
            (COORDINATES, outputs, False),
            (RATES, outputs, False),
            (FORCES, inputs, False),
            (COORDINATES, parameters, True),
            (RATES, parameters, True),
        ):
            for word in words[joint.kind]:
                group[f"{joint.name}.{at_start(word) if suffix else word}"] = UNITS[word.partition("[")[0]]
        for word, rate in zip(ACCELERATIONS[joint.kind], RATES[joint.kind], strict=True):
            outputs[f"{joint.name}.{word}"] = "m/s2" if rate.startswith("speed") else "rad/s2"
        if joint.kind not in ("fixed", "free"):
            sliding = joint.kind in ("prismatic", "cylindrical", "planar")
            parameters |= {f"{joint.name}.{n}": u for n, u in (SLIDING if sliding else TURNING).items()}
        if joint.kind != "fixed":
            outputs |= xyz(f"{joint.name}.force", "N") | xyz(f"{joint.name}.moment", "N.m")
    file = tree_fmu(mechanism_of(tree))
    assert_contract(Description(file), {"parameter": parameters, "input": inputs, "output": outputs})
    assert fmpy.validation.validate_fmu(str(file)) == []


def test_positions_and_velocities_have_no_feed_through(tree_fmu: BuildTree) -> None:
    description = Description(tree_fmu(arm_of("quaternion")))
    outputs, inputs = description.unknowns("Outputs"), set(contract_of_the_arm("quaternion", moving=False)["input"])
    for name in (
        "tip.x",
        "tip.velocity_z",
        "joint[1].quaternion[2]",
        "joint[2].rate[1]",
        "joint[1].angle[2]",
        "energy.total",
        "mass_matrix[2,3]",
    ):
        assert not inputs & set(outputs[name] or inputs), name
    for name in ("joint[1].acceleration[1]", "joint[3].acceleration", "joint[2].force_z"):
        assert {"joint[3].torque", "tip.force_x"} <= set(outputs[name] or ()), name


# --- what is refused --------------------------------------------------------------------------------------------------

UNPHYSICAL = {
    "negative": ({"body[2].inertia_xx": -0.01}, "body[2]"),
    "triangle inequality": ({"body[3].inertia_zz": 0.02}, "body[3]"),
    "products too large": ({"body[1].inertia_xy": 0.08}, "body[1]"),
    "rotated triangle inequality": (
        {"body[1].inertia_xx": 0.02, "body[1].inertia_yy": 0.02, "body[1].inertia_xy": 0.015},
        "body[1]",
    ),
}
ZERO = {f"joint[2].quaternion_start[{k}]": 0.0 for k in (1, 2, 3, 4)}


@pytest.mark.parametrize("engine", ("numpy", "casadi", "c"))
@pytest.mark.parametrize("case", UNPHYSICAL)
def test_inertias_that_no_body_has(case: str, engine: str) -> None:
    start, body = UNPHYSICAL[case]
    with pytest.raises(UserError) as refused:
        make_instance(arm_of("quaternion"), start, engine).initialize()
    assert str(refused.value) == f"{body}: its inertia is not that of a body (positive, triangle inequality)"


def test_inertias_on_the_edge_are_those_of_flat_bodies_and_rods() -> None:
    """A lamina has zz = xx + yy, a rod no inertia about its length: both are bodies."""
    for edge in ({"xx": 0.02, "yy": 0.03, "zz": 0.05}, {"xx": 0.02, "yy": 0.02, "zz": 0.0}):
        make_instance(arm_of("quaternion"), {f"body[2].inertia_{k}": v for k, v in edge.items()}).initialize()


def test_unphysical_inertias_in_an_fmu(tree_fmu: BuildTree, host: Host) -> None:
    slave = host.open(tree_fmu(arm_of("quaternion")))
    for start, body in UNPHYSICAL.values():
        with pytest.raises(Refused) as refused:
            slave.initialize(start)
        assert f"{body}: its inertia is not that of a body" in str(refused.value)
        slave = host.open(tree_fmu(arm_of("quaternion")))


def test_a_quaternion_of_zeros(tree_fmu: BuildTree, host: Host) -> None:
    with pytest.raises(UserError, match=r"^joint\[2\]: its quaternion_start is zero, which is not an orientation$"):
        make_instance(SphericalArm(), ZERO).initialize()
    with pytest.raises(Refused, match=r"joint\[2\]: its quaternion_start is zero, which is not an orientation"):
        host.open(tree_fmu(arm_of("quaternion"))).initialize(ZERO)


def test_a_quaternion_of_another_length_is_normalised(tree_fmu: BuildTree, host: Host) -> None:
    slave = host.open(tree_fmu(arm_of("quaternion")))
    start = dict(zip(ZERO, (3.0, 0.0, -4.0, 0.0), strict=True))
    slave.initialize(start)
    assert np.allclose(
        slave.get(*(f"joint[2].quaternion[{k}]" for k in (1, 2, 3, 4))), (0.6, 0.0, -0.8, 0.0), rtol=0, atol=NORM
    )


SOLID = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
REFUSED = {
    "nothing moves": (
        BodyTree("t", (Body("b", 1.0),), (Joint("j", "fixed", "b"),)),
        {},
        "no joint of the tree can move",
    ),
    "a joint called tip": (
        BodyTree("t", (Body("b", 1.0, inertia=SOLID),), (Joint("tip", "revolute", "b"),)),
        {},
        "joint tip: rename it",
    ),
    "a joint called base": (
        BodyTree("t", (Body("b", 1.0, inertia=SOLID),), (Joint("base", "free", "b"),)),
        {"base": "moving"},
        "joint base: rename it",
    ),
    "a point mass on its axis": (
        BodyTree("t", (Body("b", 1.0),), (Joint("j", "revolute", "b"),)),
        {},
        "joint j: nothing resists its motion",
    ),
    "no mass": (
        BodyTree("t", (Body("b"),), (Joint("j", "revolute", "b"),)),
        {},
        "joint j moves, but neither its body b",
    ),
    "two of a name": (
        BodyTree("t", (Body("b", 1.0), Body("b", 1.0)), (Joint("i", "fixed", "b"), Joint("j", "revolute", "b"))),
        {},
        "body b: there are two",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_impossible_trees_are_rejected(case: str) -> None:
    tree, options, message = REFUSED[case]
    with pytest.raises(UserError, match=message):
        make_instance(mechanism_of(tree, **options)).initialize()


@pytest.mark.parametrize(
    "text", ("{", "[]", '{"name": "x"}', '{"name": "x", "bodies": [{"nonsense": 1}], "joints": []}')
)
def test_a_model_that_is_not_a_tree(text: str) -> None:
    with pytest.raises(UserError, match="option model is not the description of a tree"):
        _ = Tree(model=text).table


@pytest.mark.parametrize("kind", ANGLES)
def test_a_tree_with_angles_starts_by_default(kind: str) -> None:
    """Its default start is not where its angles are singular."""
    mechanism: TreeMechanism = mechanism_of(
        BodyTree("t", (Body("b", 1.0, (0.1, 0.2, 0.3), SOLID),), (Joint("j", kind, "b"),))
    )
    instance = make_instance(mechanism)
    instance.initialize()
    assert instance.get([mechanism.table.by_name["singularity"]]) == [1.0]
