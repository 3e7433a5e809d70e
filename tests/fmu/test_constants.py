"""Parameters baked into the equations: the same motion, less to compute, constants of the FMU."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from helpers.tolerances import IDENTITY
from mechfmu import LinkChain, SphericalArm
from mechfmu.codegen.c_model import graphs
from mechfmu.codegen.program import OUTPUT, Program
from mechfmu.model import Mechanism, UserError
from mechfmu.simulation.engines import NAMES, engine

VALUES = {"gravity": 3.7, "link[2].mass": 0.4, "joint[1].stiffness": 2.0, "joint[2].friction": 0.3}


def point(mechanism: Mechanism, start: dict[str, float]) -> tuple:
    random = np.random.default_rng(7)
    t, x, d, u, p = mechanism.start(start)
    return t, x + random.normal(0, 0.1, x.size), d, random.normal(size=u.size), p


def operations(mechanism: Mechanism) -> int:
    (rates,) = (g for g in graphs(mechanism) if g.name() == "rates")
    program = Program.of(rates)
    return int(np.sum(program.operation < OUTPUT))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bake", ("all", ["link[*].mass", "joint[2].*"]))
def test_constants_do_not_change_the_motion(name: str, bake: str | list[str]) -> None:
    chain = LinkChain(links=3)
    constant = {s.name for s in chain.baked(bake).table.of("constant")}
    baked = chain.baked(bake, {n: v for n, v in VALUES.items() if n in constant})
    at = point(chain, VALUES)
    same = point(baked, {n: v for n, v in VALUES.items() if n not in constant})
    for function in ("rates", "outputs"):
        wanted = getattr(engine("numpy", chain), function)(*at)
        found = getattr(engine(name, baked), function)(*same)
        assert np.abs(found - wanted).max() < IDENTITY * np.abs(wanted).max()


def test_an_engine_computes_with_the_constant_and_not_with_the_vector() -> None:
    chain = LinkChain(links=2).baked("gravity", {"gravity": 1.0})
    t, x, d, u, p = chain.start()
    p[chain.table.by_name["gravity"].index] = 100.0
    assert np.array_equal(engine("casadi", chain).rates(t, x, d, u, p), engine("casadi", chain).rates(*chain.start()))


def test_constants_shorten_the_equations_and_vanishing_laws_vanish() -> None:
    chain = LinkChain(links=4)
    springs = ["joint[*].stiffness", "joint[*].damping", "joint[*].friction"]
    without_laws, everything = chain.baked(springs), chain.baked("all")
    assert operations(everything) < operations(without_laws) < operations(chain)
    (rates,) = (g for g in graphs(without_laws) if g.name() == "rates")
    assert not any("tanh" in str(i) for i in rates.call(rates.sx_in())), "friction is still computed"


@pytest.mark.parametrize("make", (LinkChain, SphericalArm))
def test_without_energies_the_rest_is_the_same(make: type[Mechanism]) -> None:
    full, short = make(), make(energy="off")
    assert [s.name for s in full.table.scalars if "energy." in s.name]
    assert not [s.name for s in short.table.scalars if "energy." in s.name]
    assert operations(short) < operations(full)
    t, x, d, u, p = point(full, {})
    for vector, function in (("x", "rates"), ("y", "outputs")):
        values = {m: getattr(engine("c", m), function)(t, x[: m.table.x.size], d, u, p) for m in (full, short)}
        own = {s.symbol for s in getattr(short.table, vector).rows}
        for symbol in own:
            found, wanted = (values[m][getattr(m.table, vector).part(symbol)] for m in (short, full))
            assert np.abs(found - wanted).max() <= IDENTITY * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize(
    ("names", "message"),
    (
        ("gravty", r"there is no parameter gravty; did you mean gravity\?"),
        ("link[*].mas", r"there is no parameter link\[\*\]\.mas"),
        ("solver.method", "it is a parameter of the solver"),
        ("joint[1].torque", "only parameters can, and it is of the kind input"),
    ),
)
def test_a_name_that_cannot_be_baked(names: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        LinkChain(links=2).baked(names)


def test_all_leaves_the_solver_and_the_start() -> None:
    left = {s.row.symbol for s in LinkChain().baked("all").table.of("parameter")}
    assert left == {"q_start", "dq_start", "rtol", "method", "max_step"}
    with_start = LinkChain().baked(["all", "joint[*].angle_start"])
    assert with_start.table.by_name["joint[1].angle_start"].role == "constant"


def test_a_constant_cannot_be_set() -> None:
    chain = LinkChain(links=2).baked("gravity")
    with pytest.raises(UserError, match="gravity cannot be set: it is a constant"):
        chain.start({"gravity": 1.0})


@pytest.mark.parametrize("kind", ("native", "python"))
def test_an_fmu_shows_constants_and_refuses_to_set_them(kind: str, tmp_path: Path) -> None:
    import fmpy

    (file,) = LinkChain(links=2).build(
        tmp_path, kind, {"gravity": 1.6, "link[2].mass": 2.0}, bake=["gravity", "link[2].mass"]
    )
    root = ElementTree.fromstring(zipfile.ZipFile(file).read("modelDescription.xml"))
    constant = {
        v.get("name"): (v.get("causality"), v.get("initial"), v[0].get("start"))
        for v in root.iter("ScalarVariable")
        if v.get("variability") == "constant"
    }
    assert constant == {"gravity": ("local", "exact", "1.6"), "link[2].mass": ("local", "exact", "2.0")}
    run = fmpy.simulate_fmu(str(file), stop_time=0.2, output=["joint[1].angle", "gravity"])
    other = LinkChain(links=2).simulate(stop=0.2, step=0.01, start={"gravity": 1.6, "link[2].mass": 2.0})
    assert run["gravity"][-1] == 1.6
    assert run["joint[1].angle"][-1] == pytest.approx(other["joint[1].angle"][-1], abs=1e-6)
    description = fmpy.read_model_description(str(file))
    fmu = fmpy.instantiate_fmu(fmpy.extract(str(file), str(tmp_path / "unzipped")), description, "CoSimulation")
    with pytest.raises(fmpy.fmi1.FMICallException, match="fmi2SetReal"):
        fmu.setReal([0], [9.0])
    fmu.freeInstance()
