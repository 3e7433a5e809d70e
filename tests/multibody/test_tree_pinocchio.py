"""Random trees of every kind of joint against Pinocchio, which shares nothing with the library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.chains import off_by
from helpers.pinocchio_tree import PinocchioTree
from helpers.tolerances import ENGINES, IDENTITY, OTHER_CODE
from helpers.tree_cases import ACCELERATIONS, KINDS, XYZ, Point, load_of, mechanism_of, names, start_of, wrench_names
from helpers.trees import TreeState, random_state, random_tree
from mechfmu.multibody.tree import BodyTree
from mechfmu.simulation.engines import NAMES

MOVING = [kind for kind in KINDS if kind != "fixed"]

some_trees = st.tuples(
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=9).filter(
        lambda kinds: any(kind != "fixed" for kind in kinds)
    ),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
often = settings(max_examples=40, deadline=None, derandomize=True)


def case_of(
    kinds: list[str] | tuple[str, ...], seed: int, coordinate_axes: bool
) -> tuple[BodyTree, TreeState, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    tree = random_tree(random, kinds, coordinate_axes=coordinate_axes)
    return tree, random_state(random, tree), random.uniform(-5.0, 5.0, 3), random.uniform(-2.0, 2.0, 3)


def assert_as_pinocchio(
    tree: BodyTree, state: TreeState, force: np.ndarray, moment: np.ndarray, engine: str = "numpy"
) -> None:
    start = start_of(tree, state.q, state.v, state.tau) | load_of(force, moment)
    found = Point(mechanism_of(tree), start, engine=engine)
    wanted = PinocchioTree(tree, np.array([0.0, 0.0, -9.81])).solve(state.q, state.v, state.tau, force, moment)
    assert off_by(found.get(*names(tree, ACCELERATIONS)), wanted.vdot) < OTHER_CODE
    assert off_by(found.get(*wrench_names(tree)), wanted.wrench.ravel()) < OTHER_CODE


@often
@given(some_trees)
def test_random_trees(case: tuple[list[str], int, bool]) -> None:
    assert_as_pinocchio(*case_of(*case))


@pytest.mark.parametrize("parents", ((0, 1, 2), (0, 0, 0), (0, 1, 1)), ids=("chain", "star", "fork"))
@pytest.mark.parametrize("kind", MOVING)
def test_three_joints_of_each_kind(kind: str, parents: tuple[int, ...]) -> None:
    random = np.random.default_rng(11)
    tree = random_tree(random, [kind] * 3, parents)
    assert_as_pinocchio(tree, random_state(random, tree), random.uniform(-5.0, 5.0, 3), random.uniform(-2.0, 2.0, 3))


@pytest.mark.parametrize("engine", NAMES)
def test_one_tree_with_every_kind_in_every_engine(engine: str) -> None:
    tree, state, force, moment = case_of(KINDS, 3, False)
    assert_as_pinocchio(tree, state, force, moment, engine)
    start = start_of(tree, state.q, state.v, state.tau) | load_of(force, moment)
    plain, other = Point(mechanism_of(tree), start), Point(mechanism_of(tree), start, engine=engine)
    for part in plain.mechanism.table.y.rows:
        assert off_by(other.get(*part.names()), plain.get(*part.names())) < ENGINES, part.symbol
    for part in plain.mechanism.table.x.rows:
        where = plain.mechanism.table.x.part(part.symbol)
        assert off_by(other.rates()[where], plain.rates()[where]) < ENGINES, part.symbol


@often
@given(some_trees)
def test_random_trees_on_a_base_that_moves(case: tuple[list[str], int, bool]) -> None:
    """Any motion of the base: shifted, turned, moving, turning and both accelerated.

    Pinocchio leads it by a joint without mass.
    """
    tree, state, force, moment = case_of(*case)
    random = np.random.default_rng(case[1])
    r, rd, w, rdd, eps = random.uniform(-2.0, 2.0, (5, 3))
    e = random.normal(size=4)
    e /= np.linalg.norm(e)
    vectors = {"base.acceleration_": rdd, "base.angular_acceleration_": eps}
    states = {"base.": r, "base.velocity_": rd, "base.rate_": w}
    inputs, moved = (
        {f"{prefix}{a}": vector[i] for prefix, vector in group.items() for i, a in enumerate(XYZ)}
        for group in (vectors, states)
    )
    moved |= {f"base.quaternion[{k + 1}]": e[k] for k in range(4)}
    found = Point(
        mechanism_of(tree, base="moving"),
        start_of(tree, state.q, state.v, state.tau) | load_of(force, moment) | inputs,
        moved,
    )
    wanted = PinocchioTree(tree, np.array([0.0, 0.0, -9.81]), led=True).led_solve(
        (r, e, rd, w, rdd, eps), state.q, state.v, state.tau, force, moment
    )
    assert off_by(found.get(*names(tree, ACCELERATIONS)), wanted.vdot) < OTHER_CODE
    assert off_by(found.get(*wrench_names(tree)), wanted.wrench.ravel()) < OTHER_CODE


@often
@given(some_trees)
def test_the_constraint_in_a_joint_does_no_work(case: tuple[list[str], int, bool]) -> None:
    """S^T R = tau, and nothing is left of it when the drive is taken out; the axes S are Pinocchio's."""
    tree, state, force, moment = case_of(*case)
    found = Point(mechanism_of(tree), start_of(tree, state.q, state.v, state.tau) | load_of(force, moment))
    axes = PinocchioTree(tree, np.array([0.0, 0.0, -9.81])).solve(state.q, state.v, state.tau, force, moment).S
    wrenches = found.get(*wrench_names(tree)).reshape(-1, 6)
    at, scale = 0, np.abs(wrenches).max()
    for S, R in zip(axes, wrenches, strict=True):
        tau = state.tau[at : at + S.shape[1]]
        at += S.shape[1]
        assert np.max(np.abs(S.T @ R - tau)) < IDENTITY * scale
        slides = np.abs(S[:3]).max(axis=0) > 0.5  # slides come first, so turns have no linear part
        turns = ~slides
        drive = np.concatenate(
            [np.linalg.pinv(S[:3, slides].T) @ tau[slides], np.linalg.pinv(S[3:, turns].T) @ tau[turns]]
        )
        assert np.max(np.abs(S.T @ (R - drive))) < IDENTITY * scale
    assert at == len(state.tau)
