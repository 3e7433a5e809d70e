"""Systems of FMUs: the file format, the order of signal exchange, and both masters against the monolithic solution."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import fmpy.ssp
import numpy as np
import pytest
from lxml import etree
from scipy.integrate import solve_ivp

from helpers import needs
from helpers.command_line import done, mechfmu, refused
from helpers.tolerances import (
    ARITHMETIC,
    ARM_POSTURE,
    ARM_RATE,
    COUPLED_ALONE,
    COUPLED_ENERGY,
    FEEDTHROUGH,
    FEEDTHROUGH_TORQUE,
    PYTHON_FMU,
    SWAY,
    SWAY_WEIGHT,
    TIME_GRID,
)
from mechfmu import LinkChain, PidController
from mechfmu.cosim.builtin import BUILTIN, build_builtin
from mechfmu.cosim.connections import Connection, Port, SignalUnit, conversion
from mechfmu.cosim.exchange_order import declared_dependencies, exchange_order
from mechfmu.cosim.ssp import NAMESPACES
from mechfmu.cosim.system import System, joined
from mechfmu.fmu.build import build
from mechfmu.model import UserError
from mechfmu.simulation.engines import engine
from mechfmu.simulation.scene import Scene

STOP = 1.0
REFERENCE, KP, KD = np.array([0.5, 0.0]), np.array([80.0, 20.0]), np.array([10.0, 2.0])
START = np.array([-1.0, 0.3])


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("system")
    (plant,), (control,) = build(LinkChain(links=2), folder), build(PidController(channels=2), folder)
    return {"plant": plant, "control": control}


def loop(parts: dict[str, Path], **changes: Any) -> System:
    """A chain whose two joints are held by PD controllers."""
    connect = {}
    for k in (1, 2):
        connect |= {
            f"plant.joint[{k}].angle": f"control.measurement[{k}]",
            f"plant.joint[{k}].rate": f"control.measurement_rate[{k}]",
        }
        connect |= {f"control.output[{k}]": f"plant.joint[{k}].torque"}
    values: dict[str, Any] = {f"plant.joint[{k + 1}].angle_start": START[k] for k in range(2)}
    for name, numbers in (("gain.proportional", KP), ("gain.derivative", KD), ("reference", REFERENCE)):
        values |= {f"control.{name}[{k + 1}]": float(numbers[k]) for k in range(2)}
    return replace(System("loop", parts, connect, values, STOP, 0.01), **changes)


@pytest.fixture(scope="session")
def monolithic() -> Callable[[np.ndarray], np.ndarray]:
    """The angles of the same loop, integrated as one system of equations with the controller inside."""
    chain = LinkChain(links=2)
    rates, table = engine("casadi", chain).rates, chain.table
    _, x, d, u, p = chain.start({f"joint[{k + 1}].angle_start": START[k] for k in range(2)})

    def f(t: float, x: np.ndarray) -> np.ndarray:
        X = table.x(x)
        torques = u.copy()
        torques[table.u.part("tau")] = KP * (REFERENCE - X.q) - KD * X.dq
        return rates(t, x, d, torques, p)

    solution = solve_ivp(f, (0.0, STOP), x, method="DOP853", rtol=1e-12, atol=1e-12, dense_output=True)
    return lambda t: solution.sol(t)[table.x.part("q")]


def angles(result: Any) -> np.ndarray:
    return np.array([result["plant.joint[1].angle"], result["plant.joint[2].angle"]])


# --- the masters ------------------------------------------------------------------------------------------------------


def errors(
    system: System, truth: Callable[[np.ndarray], np.ndarray], steps: tuple[float, ...], master: str
) -> np.ndarray:
    results = [system.simulate(step=h, adaptive=False, master=master, warn=lambda text: None) for h in steps]
    return np.array([np.max(np.abs(angles(r) - truth(r.t))) for r in results])


@pytest.mark.parametrize("master", ("fmpy", "libcosim"))
def test_the_error_of_the_coupling_is_of_first_order(parts: dict[str, Path], monolithic: Any, master: str) -> None:
    """Held inputs make an error proportional to the step; extrapolated to step zero it vanishes to second order."""
    needs.master(master)
    steps = (0.004, 0.002, 0.001, 0.0005)
    found = errors(loop(parts), monolithic, steps, master)
    orders = np.log2(found[:-1] / found[1:])
    assert np.all(np.abs(orders - 1.0) < 0.1), orders
    fine, finer = (
        loop(parts).simulate(step=h, adaptive=False, master=master, warn=lambda text: None) for h in steps[-2:]
    )
    same = np.searchsorted(finer.t, fine.t - 1e-9)
    extrapolated = 2 * angles(finer)[:, same] - angles(fine)
    assert np.max(np.abs(extrapolated - monolithic(fine.t))) < 0.02 * found[-1]


def test_the_embedded_master_exchanges_signals_without_delay(parts: dict[str, Path]) -> None:
    """At every point the recorded torque belongs to the recorded angles, although the controller has feedthrough."""
    result = loop(parts).simulate(step=0.02)
    for k in (1, 2):
        angle, rate = result[f"plant.joint[{k}].angle"], result[f"plant.joint[{k}].rate"]
        torque = KP[k - 1] * (REFERENCE[k - 1] - angle) - KD[k - 1] * rate
        assert np.allclose(result[f"control.output[{k}]"], torque, rtol=FEEDTHROUGH, atol=FEEDTHROUGH_TORQUE)


def test_adaptive_steps_keep_the_error_of_a_step(parts: dict[str, Path], monolithic: Any) -> None:
    """The error of a step is of second order: tolerance^-1/2 steps with an error of a tolerance each."""
    found = []
    for tolerance in (1e-3, 1e-5):
        result = loop(parts).simulate(step=0.1, adaptive=tolerance)
        assert np.allclose(result.t, np.linspace(0.0, STOP, 11), atol=TIME_GRID)
        found.append(np.max(np.abs(angles(result) - monolithic(result.t))))
    assert found[1] < np.sqrt(1e-5) and 7 < found[0] / found[1] < 14


def test_python_fmus_take_part(tmp_path: Path) -> None:
    """In a process of their own, because they share their interpreter with their host."""
    done("build", "link_chain", "--option", "links=2", "--kind", "both", folder=tmp_path)
    done("build", "pid_controller", "--option", "channels=2", "--kind", "both", folder=tmp_path)
    wires = [f"--connect=plant.joint[{k}].angle=control.measurement[{k}]" for k in (1, 2)] + [
        f"--connect=control.output[{k}]=plant.joint[{k}].torque" for k in (1, 2)
    ]
    outputs = {}
    for kind in ("", ".python"):
        fmus = ("--fmu", f"plant=LinkChain{kind}.fmu", "--fmu", f"control=PidController{kind}.fmu")
        accurate = ("--set", "plant.solver.relative_tolerance=1e-9")
        done("cosim", "new", f"loop{kind}.ssp", *fmus, *wires, "--stop", 0.5, *accurate, folder=tmp_path)
        done("cosim", f"loop{kind}.ssp", "-o", f"loop{kind}.csv", folder=tmp_path)
        outputs[kind] = np.genfromtxt(tmp_path / f"loop{kind}.csv", delimiter=",", names=True, deletechars="")
    for name in outputs[""].dtype.names:
        assert np.allclose(outputs[""][name], outputs[".python"][name], rtol=PYTHON_FMU, atol=PYTHON_FMU), name


def test_the_message_of_an_fmu_that_fails(parts: dict[str, Path]) -> None:
    with pytest.raises(UserError, match=r"the system loop did not start: .*link\[1\].mass"):
        loop(parts).simulate(set={"plant.link[1].mass": -1.0})
    message = (
        r"the system loop stopped at t = [\d.]+ s: the step to t = .* evaluations of the equations were not enough"
    )
    with pytest.raises(UserError, match=message):
        loop(parts).simulate(set={"control.gain.proportional[1]": 1e300})


# --- the order of exchange ------------------------------------------------------------------------------------------


def ports(text: str) -> list[Port]:
    return [Port.of(word) for word in text.split()]


def test_an_output_is_read_after_the_inputs_it_depends_on() -> None:
    wires = [Connection(*ports(w)) for w in ("a.x b.u", "b.y c.u", "c.y a.v", "b.z a.w")]
    through = {("b.y", "b.u"), ("c.y", "c.u")}
    order, loops = exchange_order(wires, lambda output, target: (str(output), str(target)) in through)
    assert [sorted(map(str, wave)) for wave in order] == [["a.x", "b.z"], ["b.y"], ["c.y"]]
    assert loops == []


def test_a_loop_is_found_and_named() -> None:
    wires = [Connection(*ports(w)) for w in ("s.y a.r", "a.y b.u", "b.y a.u", "a.z c.u")]
    through = {("a.y", "a.u"), ("b.y", "b.u"), ("a.z", "a.r"), ("a.y", "a.r")}
    order, loops = exchange_order(wires, lambda output, target: (str(output), str(target)) in through)
    assert sorted(map(str, loops[0])) == ["a.y", "b.y"] and len(loops) == 1
    assert sorted(str(p) for wave in order for p in wave) == ["a.y", "a.z", "b.y", "s.y"]


def test_loops_follow_the_declared_dependencies(parts: dict[str, Path]) -> None:
    """Angles and rates do not depend on torques, accelerations do."""
    warnings: list[str] = []
    assert exchange_order(loop(parts).connections, declared_dependencies(loop(parts), "outputs"))[1] == []
    wires = {"plant.joint[1].acceleration": "control.measurement[1]", "control.output[1]": "plant.joint[1].torque"}
    System("f", parts, wires, stop=0.02).simulate(warn=warnings.append)
    assert "the tolerance was not kept in" in warnings[-1]
    assert [text for text in warnings if "algebraic loop" in text] == warnings[:1]
    assert "plant.joint[1].acceleration -> control.output[1]" in warnings[0] + warnings[0]


# --- files ------------------------------------------------------------------------------------------------------------


def structure(file: Path) -> str:
    with zipfile.ZipFile(file) as archive:
        return archive.read("SystemStructure.ssd").decode()


def rewritten(file: Path, target: Path, text: str, extra: dict[str, str] | None = None) -> Path:
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, text if name == "SystemStructure.ssd" else old.read(name))
        for name, content in (extra or {}).items():
            new.writestr(name, content)
    return target


def test_a_system_comes_back_from_its_file(parts: dict[str, Path], tmp_path: Path) -> None:
    system = loop(parts, transforms={"plant.joint[2].torque": (2.0, 0.25)})
    system = replace(system, set={**system.set, "plant.solver.method": "implicit"})
    back = System.load(system.save(tmp_path / "loop.ssp"))
    for attribute in ("connections", "values", "stop_time", "step_size"):
        assert getattr(back, attribute) == getattr(system, attribute)
    assert {c.factor for c in back.connections} == {1.0, 2.0}
    assert np.array_equal(angles(back.simulate()), angles(system.simulate()))
    assert (tmp_path / "loop.ssp").read_bytes() == system.save(tmp_path / "again.ssp").read_bytes()


def test_the_file_follows_the_standards_schema(parts: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(fmpy.ssp.__file__).parent / "schema"
    schema = etree.XMLSchema(etree.parse(str(folder / "SystemStructureDescription.xsd")))
    values = etree.XMLSchema(etree.parse(str(folder / "SystemStructureParameterValues.xsd")))
    tree = etree.fromstring(structure(loop(parts).save(tmp_path / "loop.ssp")).encode())
    assert schema.validate(tree), schema.error_log
    sets = tree.findall(".//ssv:ParameterSet", NAMESPACES)
    assert len(sets) == 2
    for parameter_set in sets:
        assert values.validate(etree.fromstring(etree.tostring(parameter_set))), values.error_log
    assert {u.get("name") for u in tree.iter(f"{{{NAMESPACES['ssc']}}}Unit")} >= {"rad", "N.m", "J"}


def test_fmpy_reads_the_file(parts: dict[str, Path], tmp_path: Path) -> None:
    from fmpy.ssp.ssd import read_ssd

    found = read_ssd(str(loop(parts).save(tmp_path / "loop.ssp"))).system
    assert [e.name for e in found.elements] == ["plant", "control"]
    ends = {(c.startElement, c.startConnector, c.endElement, c.endConnector) for c in found.connections}
    assert ends == {
        (c.source.component, c.source.variable, c.target.component, c.target.variable) for c in loop(parts).connections
    }


def test_parameters_from_a_file_for_the_whole_system(parts: dict[str, Path], tmp_path: Path) -> None:
    """An external .ssv file, bound to the system with a prefix, with a value in degrees."""
    ssv = (
        f'<ssv:ParameterSet xmlns:ssv="{NAMESPACES["ssv"]}" version="1.0" name="p"><ssv:Parameters>'
        '<ssv:Parameter name="gravity"><ssv:Real value="1.62"/></ssv:Parameter>'
        '<ssv:Parameter name="joint[1].angle_start"><ssv:Real value="-90" unit="deg"/></ssv:Parameter>'
        "</ssv:Parameters></ssv:ParameterSet>"
    )
    bare = System("bare", parts, stop=1.0).save(tmp_path / "bare.ssp")
    binding = '<ssd:ParameterBinding source="resources/p.ssv" prefix="plant."/>'
    bindings = f"<ssd:ParameterBindings>{binding}</ssd:ParameterBindings>"
    text = structure(bare).replace("<ssd:Elements>", f"{bindings}<ssd:Elements>", 1)
    system = System.load(rewritten(bare, tmp_path / "bound.ssp", text, {"resources/p.ssv": ssv}))
    assert system.values[Port("plant", "gravity")] == 1.62
    assert system.values[Port("plant", "joint[1].angle_start")] == pytest.approx(-np.pi / 2, rel=ARITHMETIC)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    (
        ("<ssd:System ", "<ssd:Sistem ", "not valid XML"),
        ('source="resources/plant.fmu"', 'source="resources/plan.fmu"', "has no file resources/plan.fmu inside"),
        ('source="resources/plant.fmu"', 'source="../../etc/passwd"', "has no file ../../etc/passwd inside"),
        (
            'endConnector="joint[1].torque"',
            'endConnector="joint[1].tork"',
            "plant has no variable joint[1].tork; did you mean joint[1].torque",
        ),
        ('endElement="plant"', 'endElement="plan"', "there is no FMU plan in the system"),
        ('stopTime="1.0"', 'stopTime="soon"', "SystemStructure.ssd:\\d+: stopTime soon: must be a number"),
        ('stopTime="1.0"', 'stopTime="-1"', "stop time -1: must be after"),
        (
            'type="application/x-fmu-sharedlibrary"',
            'type="application/x-ssp-package"',
            "SystemStructure.ssd:\\d+: plant: systems inside systems",
        ),
        ('implementation="CoSimulation"', 'implementation="ModelExchange"', "only Co-Simulation is supported"),
        ('name="control" type', 'name="plant" type', "there are two of this name"),
        ('<ssv:Real value="80.0"/>', '<ssv:Real value="many"/>', r"gain.proportional\[1\] = many: must be a number"),
        ('<ssv:Parameter name="reference[1]"', '<ssv:Parameter name="output[1]"', "cannot be set: it is computed"),
    ),
)
def test_mistakes_in_a_file(parts: dict[str, Path], tmp_path: Path, old: str, new: str, message: str) -> None:
    good = loop(parts).save(tmp_path / "good.ssp")
    text = structure(good)
    assert old in text
    with pytest.raises(UserError, match=message if "\\" in message else re.escape(message)):
        System.load(rewritten(good, tmp_path / "bad.ssp", text.replace(old, new, 1)))


# --- systems ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("connect", "values", "message"),
    (
        ({"plant.tip.x": "control.output[1]"}, {}, "control.output[1] is not an input"),
        ({"plant.gravity": "control.reference[1]"}, {}, "plant.gravity is not an output"),
        ({"plant.tip.x": "plant.joint[1].torque"}, {}, "m cannot be converted to N.m"),
        ({"plant.tip.x": ["control.reference[1]", "control.reference[1]"]}, {}, "control.reference[1] is fed twice"),
        ({"plant.tip.x": "control.reference[1]"}, {"control.reference[1]": 1}, "cannot be set: it is connected"),
        ({"tip": "control.reference[1]"}, {}, "tip: must look like fmu.variable"),
        ({}, {"plant.tip.x": 1}, "tip.x cannot be set: it is computed"),
        ({}, {"plant.gravity": "heavy"}, "gravity = heavy: must be a number"),
    ),
)
def test_mistakes_in_a_system(
    parts: dict[str, Path], connect: dict[str, Any], values: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        System("faulty", parts, connect, values)


def test_names_of_fmus(parts: dict[str, Path]) -> None:
    with pytest.raises(UserError, match="has no dot"):
        System("s", {"a.b": parts["plant"]})
    with pytest.raises(UserError, match="at least one FMU"):
        System("s", {})


def test_units_are_converted(parts: dict[str, Path], tmp_path: Path) -> None:
    """A controller that measures in degrees, by a changed description, gets degrees and still holds the chain."""
    with zipfile.ZipFile(parts["control"]) as old, zipfile.ZipFile(tmp_path / "degrees.fmu", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "modelDescription.xml":
                text = content.decode()
                unit = f'<Unit name="degree"><BaseUnit rad="1" factor="{np.pi / 180!r}"/></Unit>'
                text = text.replace("<UnitDefinitions>", f"<UnitDefinitions>{unit}", 1)
                text, count = re.subn(r'(name="measurement\[\d\]"[^>]*>\s*<Real)', r'\1 unit="degree"', text)
                assert count == 2
                content = text.encode()
            new.writestr(name, content)
    system = loop({**parts, "control": tmp_path / "degrees.fmu"})
    system = replace(system, set={**system.set, **{f"control.gain.proportional[{k}]": 1.0 for k in (1, 2)}})
    assert {round(c.factor, 6) for c in system.connections} == {1.0, round(180 / np.pi, 6)}
    for master in ("fmpy", "libcosim"):
        needs.master(master)
        result = system.simulate(master=master)
        shown = REFERENCE[0] - result["control.error[1]"]  # the measurement, in degrees
        lag = 1 if master == "libcosim" else 0  # it passes on at the next step
        angle = np.rad2deg(result["plant.joint[1].angle"])
        assert np.allclose(shown[lag:], angle[: len(shown) - lag], rtol=ARITHMETIC)


def test_conversions() -> None:
    metre, foot = SignalUnit("m", (0, 1), 1.0), SignalUnit("ft", (0, 1), 0.3048)
    celsius, kelvin = SignalUnit("degC", (0, 0, 1), 1.0, 273.15), SignalUnit("K", (0, 0, 1))
    assert conversion(foot, metre) == (0.3048, 0.0)
    assert conversion(metre, metre) == (1.0, 0.0)
    assert conversion(celsius, kelvin) == (1.0, 273.15)
    assert conversion(kelvin, celsius) == (1.0, -273.15)
    assert conversion(None, metre) == conversion(SignalUnit("1", ()), metre) == (1.0, 0.0)
    with pytest.raises(ValueError, match="m cannot be converted to K"):
        conversion(metre, kelvin)


def test_adaptive_steps_need_fmus_that_can(parts: dict[str, Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(parts["plant"]) as old, zipfile.ZipFile(tmp_path / "plant.fmu", "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'canGetAndSetFMUstate="true"', b'canGetAndSetFMUstate="false"'))
    with pytest.raises(UserError, match="plant cannot save its state"):
        System("s", {"plant": tmp_path / "plant.fmu"}).simulate(adaptive=1e-3)
    for tolerance in (0.0, -1.0, 2.0, float("nan")):
        with pytest.raises(UserError, match="must be between 0 and 1"):
            loop(parts).simulate(adaptive=tolerance)


# --- inputs over time -------------------------------------------------------------------------------------------------


def test_inputs_over_time_act_as_on_the_mechanism_alone(parts: dict[str, Path]) -> None:
    """A function and a table; held over each step, and recorded in the result."""
    torque = lambda t: 3.0 * np.sin(4.0 * t)  # noqa: E731
    table = ([0.0, 0.5, 0.5, 1.0], [0.0, 1.0, -2.0, 0.0])
    alone = LinkChain(links=2).simulate(
        stop=1.0, step=0.01, inputs={"joint[1].torque": torque, "joint[2].torque": table}, engine="c"
    )
    system = System("alone", {"plant": parts["plant"]}, stop=1.0, step=0.01)
    result = system.simulate(inputs={"plant.joint[1].torque": torque, "plant.joint[2].torque": table})
    for name in ("tip.x", "joint[2].angle", "energy.input", "joint[1].acceleration"):
        assert np.max(np.abs(result[f"plant.{name}"] - alone[name])) < COUPLED_ALONE, name
    assert np.array_equal(result.inputs["plant.joint[1].torque"], alone.inputs["joint[1].torque"])


@pytest.mark.parametrize(
    ("name", "value", "words"),
    (
        ("plant.joint[1].torque", 1.0, "is connected"),
        ("plant.joint[1].angle", 1.0, "is not a Real input"),
        ("plant.joint[1].torqe", 1.0, "did you mean"),
        ("control.reference[1]", "much", "must be a number, a function of time"),
    ),
)
def test_mistakes_in_inputs(parts: dict[str, Path], name: str, value: object, words: str) -> None:
    with pytest.raises(UserError, match=words):
        loop(parts).simulate(inputs={name: value})  # type: ignore[dict-item]


# --- built-in systems -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILTIN)
def test_builtin_systems_have_no_algebraic_loop_and_run_in_both_masters(
    ready: Callable[[str], System], name: str
) -> None:
    system = ready(name)
    assert exchange_order(system.connections, declared_dependencies(system, "outputs"))[1] == []
    for master in ("fmpy", "libcosim"):
        needs.master(master)
        result = system.simulate(stop=0.2, master=master)
        assert all(np.all(np.isfinite(result[n])) for n in result.names)


def test_without_gravity_the_chain_keeps_its_kinetic_energy(ready: Callable[[str], System]) -> None:
    """To the first order of the step, and its gravity is not small: left alone the chain gains 20 times the energy."""
    system = ready("chain_gravity_compensation")
    drift = []
    for h in (0.004, 0.002):
        kinetic = system.simulate(stop=2.0, step=h, adaptive=False, warn=lambda text: None)["chain.energy.kinetic"]
        drift.append(np.max(np.abs(kinetic / kinetic[0] - 1.0)))
    assert drift[1] < 0.05 and 1.8 < drift[0] / drift[1] < 2.2
    values = {k: v for k, v in system.set.items() if k.startswith("chain.")}
    alone = System("alone", {"chain": system.fmus["chain"]}, {}, values, 2.0, 0.01).simulate()
    assert np.max(alone["chain.energy.kinetic"]) > 20 * alone["chain.energy.kinetic"][0]


def test_the_arm_reaches_its_posture(ready: Callable[[str], System]) -> None:
    system = ready("arm_computed_torque")
    result = system.simulate()
    reference = float(system.set["control.joint[3].angle_reference"])
    assert result["arm.joint[3].angle"][-1] == pytest.approx(reference, abs=ARM_POSTURE)
    assert abs(result["arm.joint[1].quaternion[1]"][-1]) == pytest.approx(1.0, abs=ARM_POSTURE)
    assert np.all(np.abs([result[f"arm.joint[1].rate[{a}]"][-1] for a in (1, 2, 3)]) < ARM_RATE)


def test_an_unknown_builtin_system(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean arm_computed_torque"):
        build_builtin("arm_computed_torqe", tmp_path)


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command(parts: dict[str, Path], tmp_path: Path) -> None:
    fmus = ("--fmu", f"plant={parts['plant']}", "--fmu", f"control={parts['control']}")
    wires = [
        f"--connect={wire}"
        for wire in ("plant.joint[1].angle=control.measurement[1]", "control.output[1]=plant.joint[1].torque")
    ]
    assert "2 FMUs, 2 connections" in done(
        "cosim", "new", "loop.ssp", *fmus, *wires, "--stop", 0.1, "--set", "plant.gravity=0", folder=tmp_path
    )
    (tmp_path / "push.csv").write_text("time,plant.joint[2].torque\n0,0\n0.1,100\n")
    files = ("--input", "push.csv", "-o", "loop.csv", "--plot", "loop.png", "--animate", "loop.html")
    told = done("cosim", "loop.ssp", *files, "--signals", "plant.tip.x,control.output[1]", folder=tmp_path)
    assert "10 steps to t = 0.1 s" in told and (tmp_path / "loop.png").stat().st_size > 5000
    assert '"chosen":["plant.tip.x","control.output[1]"]' in (tmp_path / "loop.html").read_text(encoding="utf-8")
    table = np.genfromtxt(tmp_path / "loop.csv", delimiter=",", names=True, deletechars="")
    assert len(table) == 11 and "plant.energy.total" in table.dtype.names
    assert table["plant.joint[2].rate"][-1] > 1.0, "pushed"
    assert "plant.tip.x" in done("cosim", "loop.ssp", "--adaptive", 0.001, "--set", "plant.gravity=1", folder=tmp_path)
    needs.master("libcosim")
    assert "5 steps" in done("cosim", "loop.ssp", "--step", 0.02, "--master", "libcosim", folder=tmp_path).replace(
        "4 steps", "5 steps"
    )
    assert "arm_computed_torque" in done("cosim", "new", "--ready", "?", folder=tmp_path)


def test_joined_by_equal_names(parts: dict[str, Path]) -> None:
    twins = System("twins", {"a": parts["plant"], "b": parts["control"]})
    with pytest.raises(UserError, match="no output of a or b has the name of an input"):
        joined(twins, "a", "b")
    with pytest.raises(UserError, match="there is no FMU c"):
        joined(twins, "a", "c")


@pytest.mark.parametrize(
    ("arguments", "words"),
    (
        (("loop.ssp",), ("no file loop.ssp",)),
        (("text.ssp",), ("is not a zip file",)),
        (("new", "loop.txt", "--fmu", "a=b.fmu"), ("must end in .ssp",)),
        (("new",), ("the one file to write",)),
        (("new", "loop.ssp"), ("at least one FMU",)),
        (("new", "loop.ssp", "--fmu", "a=b.fmu"), ("no file b.fmu",)),
        (("new", "loop.ssp", "--fmu", "a"), ("--fmu a: must look like name=value",)),
        (("new", "loop.ssp", "--ready", "figure3"), ("no built-in system figure3",)),
        (("text.ssp", "--ready", "figure2"), ("mechfmu cosim new text.ssp --ready",)),
        (("a.ssp", "b.ssp"), ("one system at a time",)),
        (("text.ssp", "--plot", "a.bmp"), ("must end in",)),
        (("text.ssp", "--animate", "a.avi"), ("must end in",)),
    ),
)
def test_mistakes_in_commands(tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    (tmp_path / "text.ssp").write_text("no zip")
    refused("cosim", *arguments, folder=tmp_path, words=words)


def test_a_warning_about_a_loop_is_shown(parts: dict[str, Path], tmp_path: Path) -> None:
    fmus = ("--fmu", f"plant={parts['plant']}", "--fmu", f"control={parts['control']}")
    wires = [
        f"--connect={wire}"
        for wire in ("plant.joint[1].acceleration=control.measurement[1]", "control.output[1]=plant.joint[1].torque")
    ]
    done("cosim", "new", "loop.ssp", *fmus, *wires, "--stop", 0.02, folder=tmp_path)
    assert "algebraic loop" in mechfmu("cosim", "loop.ssp", folder=tmp_path).stderr


# --- the cart among obstacles -----------------------------------------------------------------------------------------


def distance(result: Any) -> np.ndarray:
    return np.hypot(result["cart.pose.x"] - result["world.target.x"], result["cart.pose.y"] - result["world.target.y"])


@pytest.mark.parametrize("step", (0.001, 0.01, 0.1))
def test_the_cart_keeps_off_the_obstacles_and_reaches_the_target(ready: Callable[[str], System], step: float) -> None:
    """The three FMUs of figure 2, with steps from 1 to 100 ms."""
    result = ready("figure2").simulate(step=step)
    assert np.min(result["control.clearance_min"]) > 0.02
    assert distance(result)[0] > 4 and distance(result)[-1] < 0.007


def test_the_members_of_a_system_are_drawn_together(ready: Callable[[str], System]) -> None:
    """Cart and world, as each of them draws itself; the cart's motors as its controller drives them."""
    result = ready("figure2").simulate(stop=1.0, step=0.1, set={"cart.wheel.radius": 0.2})
    assert isinstance(result.mechanism, Scene)
    value = result.at(7)
    parts = BUILTIN["figure2"].parts()
    cart, world = (parts[name].drawing(lambda v, name=name: value(f"{name}.{v}")) for name in ("cart", "world"))
    scene = result.mechanism.drawing(value)
    assert all(np.array_equal(a, b) for a, b in zip(scene.outlines, cart.outlines, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(scene.ground, world.ground, strict=True))
    traced = [(value(f"{name}.x"), value(f"{name}.y")) for name in ("cart.pose", "world.target")]
    assert [tuple(point) for point in scene.traced] == traced
    left = next(a.force for a in scene.arrows if a.name == "wheel.left_torque")
    assert np.linalg.norm(left) == pytest.approx(abs(result["control.wheel.left_torque"][7]) / 0.2)
    assert np.linalg.norm(left) > 0.1
    assert result.inputs["control.pose.x"] == pytest.approx(result["cart.pose.x"])


def test_both_masters_converge_to_the_same_path(ready: Callable[[str], System]) -> None:
    """They exchange signals in a different order, which makes a difference in proportion to the step."""
    needs.master("libcosim")
    gaps = []
    for step in (0.02, 0.01, 0.005):
        a, b = (ready("figure2").simulate(stop=4.0, step=step, master=master) for master in ("fmpy", "libcosim"))
        gaps.append(np.max(np.abs(a["cart.pose.x"][1:] - b["cart.pose.x"])))
    assert gaps[0] < 0.02 and all(1.6 < x / y < 2.4 for x, y in pairwise(gaps)), gaps


def test_the_exoskeleton_lands_and_stands(ready: Callable[[str], System]) -> None:
    result = ready("exoskeleton_pd").simulate()
    assert result["exo.phase"][0] == 0 and result["exo.phase"][-1] == 3 and result["exo.impact_energy_loss"][-1] > 0
    assert result["exo.hip.y"][-1] > 0.85 and np.ptp(result["exo.hip.y"][-200:]) < SWAY
    total = result["exo.energy.total"]
    balance = total - total[0] - result["exo.energy.input"] + result["exo.energy.dissipated"]
    assert np.max(np.abs(balance)) < COUPLED_ENERGY
    weight = result["exo.foot[1].reaction_y"][-1] + result["exo.foot[2].reaction_y"][-1]
    parameters = BUILTIN["exoskeleton_pd"].parts()["exo"].table.of("parameter")
    mass = sum(s.start for s in parameters if s.name.endswith(".mass"))
    assert weight == pytest.approx(9.81 * mass, rel=SWAY_WEIGHT)
