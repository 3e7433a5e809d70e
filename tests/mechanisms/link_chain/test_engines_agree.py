"""The engines do the same sums, and Pinocchio, which shares nothing with them, gets the same accelerations."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import pinocchio_chain
from helpers.chains import general_case, off_by
from helpers.tolerances import ENGINES, OTHER_CODE
from mechfmu.simulation.engines import NAMES, engine

SIZES = (1, 2, 7, 50)
BASES = ("fixed", "moving")

sizes_and_bases = pytest.mark.parametrize(("n", "base"), [(n, base) for n in SIZES for base in BASES])


@pytest.mark.parametrize("name", [name for name in NAMES if name != "numpy"])
@sizes_and_bases
def test_engines_agree_on_random_states(n: int, base: str, name: str) -> None:
    for seed in range(3):
        case = general_case(n, base, seed)
        plain, other = engine("numpy", case.chain), engine(name, case.chain)
        for part in case.chain.table.x.rows:
            where = case.chain.table.x.part(part.symbol)
            assert off_by(other.rates(*case.arguments)[where], plain.rates(*case.arguments)[where]) < ENGINES, (
                part.symbol
            )
        for part in case.chain.table.y.rows:
            where = case.chain.table.y.part(part.symbol)
            assert off_by(other.outputs(*case.arguments)[where], plain.outputs(*case.arguments)[where]) < ENGINES, (
                part.symbol
            )
        assert np.array_equal(other.initial(case.p)[0], plain.initial(case.p)[0])
        assert off_by(other.requirements(case.p), plain.requirements(case.p)) < ENGINES
        assert np.array_equal(other.project(case.x, np.zeros(0), case.p), case.x)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", SIZES)
def test_articulated_bodies_of_pinocchio(n: int, name: str) -> None:
    for seed in range(3):
        case = general_case(n, "fixed", seed).set(tip_fx=0.0, tip_fy=0.0, tip_m=0.0)
        qdd = case.chain.table.y(engine(name, case.chain).outputs(*case.arguments)).qdd
        assert off_by(qdd, pinocchio_chain.aba(case)) < OTHER_CODE


@sizes_and_bases
def test_pinocchio_with_a_prescribed_base_and_a_load_on_the_tip(n: int, base: str) -> None:
    """A dense mass matrix, partitioned for the base's given acceleration.

    The base's effort is the reaction in joint 1.
    """
    for seed in range(3):
        case = general_case(n, base, seed)
        y = case.outputs()
        qdd, reaction = pinocchio_chain.solve(case)
        assert off_by(y["qdd"], qdd) < OTHER_CODE
        assert off_by([y["Rx"][0], y["Ry"][0]], reaction[:2]) < OTHER_CODE
        assert reaction[2] == pytest.approx(pinocchio_chain.joint_moments(case)[0], abs=OTHER_CODE * np.abs(qdd).max())
