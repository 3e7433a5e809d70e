"""The arm and the golden trees as FMUs of both kinds, in a process without the library."""

from __future__ import annotations

import fmpy.validation
import numpy as np
import pytest

from helpers.chains import off_by
from helpers.fmu_client import Host, Slave
from helpers.tolerances import GOLDEN, TRAJECTORY_TOLERANCE
from helpers.tree_cases import (
    ACCELERATIONS,
    ARM,
    GOLDEN_TREES,
    BuildTree,
    golden_arm,
    golden_random_tree,
    mechanism_of,
    names,
    start_of,
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

pytest_plugins = ["helpers.tree_fixtures"]


def started(slave: Slave, start: dict[str, float]) -> Slave:
    slave.reset()
    return slave.initialize(start)


@pytest.mark.parametrize("form", FORMS)
def test_states_of_the_arm(tree_fmu: BuildTree, host: Host, form: str) -> None:
    slave = host.open(tree_fmu(arm_of(form)))
    for data in ARM["variants"]["mounted"]["states"]:
        assert_golden_arm(started(slave, arm_start(form, data)), form, data)


@pytest.mark.parametrize("form", FORMS)
def test_five_seconds_of_the_arm(tree_fmu: BuildTree, host: Host, form: str) -> None:
    slave = host.open(tree_fmu(arm_of(form))).initialize(tolerance=TRAJECTORY_TOLERANCE)
    first = slave.get(*trajectory_signals(form))
    rows = slave.run([0.1] * 50, trajectory_signals(form))
    assert_golden_trajectory(form, np.array([first, *rows]))


def test_states_of_the_plain_arm(tree_fmu: BuildTree, host: Host) -> None:
    tree = golden_arm("plain", quaternions=False)
    weightless = {"gravity": 0.0}  # with weight, the default motion falls into the singular pose, hanging straight
    slave = host.open(tree_fmu(mechanism_of(tree), weightless))
    for data in ARM["variants"]["plain"]["states"]:
        started(slave, start_of(tree, data["q"], data["v"], data["tau"]) | {"gravity": 9.81})
        assert off_by(slave.get(*names(tree, ACCELERATIONS)), data["qdd"]) < GOLDEN
        assert_golden(slave, tree, data)


@pytest.mark.parametrize("name", GOLDEN_TREES)
def test_states_of_the_trees(tree_fmu: BuildTree, host: Host, name: str) -> None:
    tree = golden_random_tree(name)
    slave = host.open(tree_fmu(mechanism_of(tree)))
    for data in GOLDEN_TREES[name]["cases"]:
        started(slave, start_of(tree, data["q"], data["v"], data["tau"]))
        assert off_by(slave.get(*names(tree, ACCELERATIONS)), data["vdot"]) < GOLDEN
        assert_golden(slave, tree, data)


@pytest.mark.parametrize("form", FORMS)
def test_the_arm_is_a_valid_fmu(tree_fmu: BuildTree, form: str) -> None:
    assert fmpy.validation.validate_fmu(str(tree_fmu(arm_of(form)))) == []


@pytest.mark.parametrize("name", GOLDEN_TREES)
def test_the_trees_are_valid_fmus(tree_fmu: BuildTree, name: str) -> None:
    assert fmpy.validation.validate_fmu(str(tree_fmu(mechanism_of(golden_random_tree(name))))) == []
