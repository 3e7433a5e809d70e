"""Trees that cannot be: nothing resists a joint's motion, or names that are none; and near misses, which are taken."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from helpers.tree_cases import KINDS, mechanism_of
from helpers.trees import random_state, random_tree, separate_bodies
from mechfmu.mechanisms.computed_torque.model import ComputedTorque
from mechfmu.mechanisms.tree.model import EXAMPLE
from mechfmu.model import UserError
from mechfmu.multibody.tree import Body, BodyTree, Joint, TreeError

ROUND = (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)
SLANTED = (0.0, 0.6, 0.8)
LUMP = Body("lump", 1.0, (0.3, 0.2, -0.4), ROUND)


def tree(*parts: tuple[Joint, Body]) -> BodyTree:
    return BodyTree("refused", tuple(body for _, body in parts), tuple(joint for joint, _ in parts))


def chain(
    *kinds: str, body: Body = LUMP, axis: tuple[float, ...] = SLANTED, offset: tuple[float, ...] = (0.0, 0.0, 0.0)
) -> BodyTree:
    """Joints in one point (or each at `offset` from the last), bodies without mass between them, a lump at the end."""
    bodies = [*(Body(f"between{k}") for k in range(len(kinds) - 1)), body]
    parents = ["", *(b.name for b in bodies)]
    return tree(
        *(
            (Joint(f"j{k}", kind, b.name, parents[k], offset if k else (0.0, 0.0, 0.0), axis=axis), b)
            for k, (kind, b) in enumerate(zip(kinds, bodies, strict=True))
        )
    )


SINGULAR = {
    "a point mass on a hinge's axis": (
        chain("revolute", body=Body("point", 1.0, tuple(0.7 * x for x in SLANTED))),
        "j0",
    ),
    "a point mass in a hinge": (chain("revolute", body=Body("point", 1.0)), "j0"),
    "a thin rod along a hinge's axis": (
        chain("revolute", body=Body("rod", 1.0, (0.0, 0.0, 0.5), (0.1, 0.1, 0.0, 0.0, 0.0, 0.0)), axis=(0.0, 0.0, 1.0)),
        "j0",
    ),
    "a point mass on a ball joint": (chain("spherical", body=Body("point", 1.0, (0.3, 0.2, -0.4))), "j0"),
    "a thin rod on a ball joint": (
        chain("spherical", body=Body("rod", 1.0, (0.0, 0.0, 0.5), (0.1, 0.1, 0.0, 0.0, 0.0, 0.0))),
        "j0",
    ),
    "a point mass that floats": (chain("free", body=Body("point", 1.0)), "j0"),
    "two hinges about one axis": (chain("revolute", "revolute"), "j0"),
    "two hinges about one axis, apart": (chain("revolute", "revolute", offset=SLANTED), "j0"),
    "two slides along one axis": (chain("prismatic", "prismatic"), "j0"),
    "a hinge and a ball in one point": (chain("revolute", "spherical"), "j0"),
    "a hinge behind a ball in one point": (chain("spherical", "revolute"), "j0"),
    "two balls in one point": (chain("spherical", "spherical"), "j0"),
    "cylindrical and hinge about one axis": (chain("revolute", "cylindrical"), "j0"),
    "a slide in the plane of another joint": (chain("prismatic", "planar", axis=(0.6, 0.8, 0.0)), "j0"),
}


@pytest.mark.parametrize("what", SINGULAR)
def test_a_joint_that_nothing_resists_is_rejected_by_name(what: str) -> None:
    data, joint = SINGULAR[what]
    with pytest.raises(TreeError, match=f"^joint {joint}: nothing resists its motion"):
        data.check()
    with pytest.raises(UserError, match=f"^joint {joint}: nothing resists its motion"):
        _ = mechanism_of(data).table
    with pytest.raises(UserError, match=f"^joint {joint}: "):
        _ = ComputedTorque(model=data.to_json()).table


def test_the_joint_behind_a_good_one_is_named() -> None:
    good, bad = (
        (Joint("good", "revolute", "lump", axis=SLANTED), LUMP),
        (Joint("bad", "revolute", "point", "lump"), Body("point", 1.0, (0.0, 0.0, 0.2))),
    )
    with pytest.raises(TreeError, match=r"^joint bad: nothing resists"):
        tree(good, bad).check()


NEARLY = {
    "a point mass beside a hinge's axis": chain(
        "revolute", body=Body("point", 1.0, (1e-3, 0.0, 0.0)), axis=(0.0, 0.0, 1.0)
    ),
    "a rod with a little thickness": chain(
        "spherical", body=Body("rod", 1.0, (0.0, 0.0, 0.5), (0.1, 0.1, 1e-7, 0.0, 0.0, 0.0))
    ),
    "two parallel hinges apart": chain("revolute", "revolute", offset=(0.1, 0.0, 0.0), axis=(0.0, 0.0, 1.0)),
    "a light body between two hinges": tree(
        (Joint("j0", "revolute", "between"), Body("between", 1e-3, (0.0, 0.0, 0.0), (1e-6, 1e-6, 1e-6, 0.0, 0.0, 0.0))),
        (Joint("j1", "revolute", "lump", "between"), LUMP),
    ),
    "three crossed hinges in one point": tree(
        (Joint("j0", "revolute", "a", axis=(1.0, 0.0, 0.0)), Body("a")),
        (Joint("j1", "revolute", "b", "a", axis=(0.0, 1.0, 0.0)), Body("b")),
        (Joint("j2", "revolute", "lump", "b", axis=(1.0, 0.0, 0.0)), LUMP),
    ),
}


@pytest.mark.parametrize("what", NEARLY)
def test_a_nearly_singular_tree_is_accepted_and_moves(what: str) -> None:
    """The second half: what is let through can be computed."""
    data = NEARLY[what]
    data.check()
    state = random_state(np.random.default_rng(1), data)
    assert np.all(np.isfinite(separate_bodies(data, state).vdot))


@pytest.mark.parametrize("seed", range(10))
def test_random_trees_of_all_kinds_are_accepted(seed: int) -> None:
    random = np.random.default_rng(seed)
    random_tree(random, [str(k) for k in random.permutation(KINDS)])  # checks itself


@pytest.mark.parametrize(
    "name", ("{}", "arm{k}", "a.b", "{0}", "a%sb", 'a"b', "a\nb", "", "1a", "a\\b", "<b>", "naïve")
)
@pytest.mark.parametrize("what", ("joint", "body"))
def test_invalid_names_are_rejected(what: str, name: str) -> None:
    first = EXAMPLE.joints[0]
    if what == "joint":
        data = replace(EXAMPLE, joints=(replace(first, name=name), *EXAMPLE.joints[1:]))
    else:
        others = [replace(j, parent=name) for j in EXAMPLE.joints[1:]]
        data = replace(
            EXAMPLE,
            bodies=(replace(EXAMPLE.bodies[0], name=name), *EXAMPLE.bodies[1:]),
            joints=(replace(first, child=name), *others),
        )
    with pytest.raises(UserError, match=re.escape(f"{what} {name!r}: a name is made of")):
        _ = mechanism_of(data).table


@pytest.mark.parametrize("field, count", (("position", 3), ("rotation", 9), ("axis", 3)))
def test_a_list_of_the_wrong_length_is_rejected(field: str, count: int) -> None:
    data = replace(EXAMPLE, joints=(replace(EXAMPLE.joints[0], **{field: (1.0, 2.0)}), *EXAMPLE.joints[1:]))
    with pytest.raises(UserError, match=rf"^joint waist: {field} must be {count} numbers"):
        _ = mechanism_of(data).table


@pytest.mark.parametrize("field, value", (("position", 1.0), ("axis", "abc"), ("damping", "much"), ("name", 5)))
def test_a_model_of_the_wrong_types_is_rejected(field: str, value: object) -> None:
    data = replace(EXAMPLE, joints=(replace(EXAMPLE.joints[0], **{field: value}), *EXAMPLE.joints[1:]))
    with pytest.raises(UserError, match=r"^option model is not the description of a tree: "):
        _ = mechanism_of(data).table
