"""The arm and the trees of the golden data, in every engine.

Accelerations, joint loads, energies, mass matrices, and a motion of 5 s.
"""

from __future__ import annotations

import numpy as np
import pytest

from helpers.chains import off_by
from helpers.tolerances import GOLDEN, TRAJECTORY_TOLERANCE
from helpers.tree_cases import (
    ACCELERATIONS,
    ARM,
    GOLDEN_TREES,
    Point,
    golden_arm,
    golden_random_tree,
    mechanism_of,
    names,
    start_of,
    wrench_names,
)
from helpers.tree_golden import (
    FORMS,
    arm_of,
    arm_start,
    assert_golden,
    assert_golden_arm,
    assert_golden_trajectory,
    trajectory_signals,
)
from mechfmu.mechanisms.spherical_arm.model import SphericalArm
from mechfmu.simulation.engines import NAMES

AS_TREES = [(variant, form, engine) for variant in ARM["variants"] for form in FORMS for engine in NAMES]


@pytest.mark.parametrize(
    ("variant", "form", "engine"), [c for c in AS_TREES if c[::2] != ("mounted", "c")]
)  # those are the next test's
def test_the_arm_as_a_tree(variant: str, form: str, engine: str) -> None:
    """Both mountings in both state forms; here a quaternion contains the mounting, as in the golden data."""
    tree = golden_arm(variant, quaternions=form == "quaternion")
    for data in ARM["variants"][variant]["states"]:
        own = data["quaternion_form"] if form == "quaternion" else data
        found = Point(mechanism_of(tree), start_of(tree, own["q"], own["v"], own["tau"]), engine=engine)
        assert off_by(found.get(*names(tree, ACCELERATIONS)), own["vdot" if form == "quaternion" else "qdd"]) < GOLDEN
        assert_golden(found, tree, data)


@pytest.mark.parametrize("engine", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_the_spherical_arm(form: str, engine: str) -> None:
    """The arm of the library is the mounted one; with its mass matrix from the second method."""
    arm = arm_of(form)
    for data in ARM["variants"]["mounted"]["states"]:
        assert_golden_arm(Point(arm, arm_start(form, data), engine=engine), form, data)


@pytest.mark.parametrize("engine", NAMES)
@pytest.mark.parametrize("name", GOLDEN_TREES)
def test_trees(name: str, engine: str) -> None:
    tree = golden_random_tree(name)
    for data in GOLDEN_TREES[name]["cases"]:
        found = Point(mechanism_of(tree), start_of(tree, data["q"], data["v"], data["tau"]), engine=engine)
        assert off_by(found.get(*names(tree, ACCELERATIONS)), data["vdot"]) < GOLDEN
        assert_golden(found, tree, data)


@pytest.mark.parametrize("engine", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_five_seconds_of_the_arm(form: str, engine: str) -> None:
    stop = (
        1.0 if engine == "numpy" else 5.0
    )  # the functions as written are slow, and elsewhere shown to be those of the other engines
    result = arm_of(form).simulate(stop=stop, step=0.1, tolerance=TRAJECTORY_TOLERANCE, engine=engine)
    rows = np.stack([result[name] for name in trajectory_signals(form)], axis=1)
    assert np.allclose(result.t, ARM["trajectory"]["t"][: len(result.t)], rtol=0, atol=1e-12)
    assert_golden_trajectory(form, rows)


def test_the_start_of_the_arm_is_that_of_the_golden_motion() -> None:
    trajectory = ARM["trajectory"]
    point = Point(SphericalArm(state="euler"), {})
    assert point.get(
        *(f"joint[{j}].{word}[{k}]" for word in ("angle", "rate") for j in (1, 2) for k in (1, 2, 3))
    ).tolist() == [*trajectory["q"][0][:6], *trajectory["v"][0][:6]]
    assert point.get("joint[3].angle", "joint[3].rate").tolist() == [trajectory["q"][0][6], trajectory["v"][0][6]]


def test_the_wrenches_of_the_golden_data_tell_force_from_moment() -> None:
    """A negative control: force and moment exchanged would not pass."""
    tree = golden_arm("mounted", quaternions=False)
    data = ARM["variants"]["mounted"]["states"][0]
    wrench = (
        Point(mechanism_of(tree), start_of(tree, data["q"], data["v"], data["tau"]))
        .get(*wrench_names(tree))
        .reshape(-1, 6)
    )
    assert off_by(np.roll(wrench, 3, axis=1), data["joint_wrench"]) > 0.1
