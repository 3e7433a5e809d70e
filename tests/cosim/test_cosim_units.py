"""Units of connected FMUs: a radian is 1, whether a tool writes it among the base units or not.

mechfmu does, OpenModelica does not.
"""

from __future__ import annotations

import zipfile
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from helpers.tolerances import UNIT_FACTOR, UNIT_VALUE
from mechfmu.cosim.connections import Port, SignalUnit, conversion
from mechfmu.cosim.system import System
from mechfmu.model import UserError

DEGREE = np.pi / 180

# The unit section of an FMU that OpenModelica exports: its base units have no radian.
OPENMODELICA = f"""
    <Unit name="1"><BaseUnit/></Unit>
    <Unit name="rad"><BaseUnit/><DisplayUnit name="deg" factor="{1 / DEGREE!r}"/></Unit>
    <Unit name="deg"><BaseUnit factor="{DEGREE!r}"/></Unit>
    <Unit name="rad/s"><BaseUnit s="-1"/><DisplayUnit name="deg/s" factor="{1 / DEGREE!r}"/></Unit>
    <Unit name="deg/s"><BaseUnit s="-1" factor="{DEGREE!r}"/></Unit>
    <Unit name="rpm"><BaseUnit s="-1" factor="{2 * np.pi / 60!r}"/></Unit>
    <Unit name="N.m"><BaseUnit kg="1" m="2" s="-2"/></Unit>
    <Unit name="m/s"><BaseUnit m="1" s="-1"/></Unit>
"""
OURS = f"""
    <Unit name="rad"><BaseUnit rad="1"/><DisplayUnit name="deg" factor="{1 / DEGREE!r}"/></Unit>
    <Unit name="deg"><BaseUnit rad="1" factor="{DEGREE!r}"/></Unit>
    <Unit name="rad/s"><BaseUnit rad="1" s="-1"/></Unit>
    <Unit name="deg/s"><BaseUnit rad="1" s="-1" factor="{DEGREE!r}"/></Unit>
    <Unit name="N.m"><BaseUnit kg="1" m="2" s="-2"/></Unit>
    <Unit name="N.m/rad"><BaseUnit kg="1" m="2" s="-2" rad="-1"/></Unit>
    <Unit name="m/s"><BaseUnit m="1" s="-1"/></Unit>
"""


def fmu(file: Path, units: str, display: str = "") -> Path:
    """An FMU for Co-Simulation with an output, an input and a parameter of every unit, which cannot run.

    Its variables are `out.rad/s`, `in.rad/s`, `par.rad/s` and so on.
    """
    names = [part.split('"')[0] for part in units.split('<Unit name="')[1:]]
    start = 'start="0.0"'
    kinds = (
        ("out", 'causality="output" variability="continuous"', ""),
        ("in", 'causality="input" variability="continuous"', start),
        ("par", 'causality="parameter" variability="fixed"', start),
    )
    variables = [
        f'<ScalarVariable name="{kind}.{name}" valueReference="{i}" {causality}>'
        f'<Real unit="{name}" {value} {display}/></ScalarVariable>'
        for i, (name, (kind, causality, value)) in enumerate(product(names, kinds))
    ]
    text = (
        '<fmiModelDescription fmiVersion="2.0" modelName="M" guid="{1}"><CoSimulation modelIdentifier="M"/>'
        f"<UnitDefinitions>{units}</UnitDefinitions><ModelVariables>{''.join(variables)}</ModelVariables>"
        "<ModelStructure/></fmiModelDescription>"
    )
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("modelDescription.xml", text)
    return file


@pytest.fixture
def parts(tmp_path: Path) -> dict[str, Path]:
    return {"om": fmu(tmp_path / "om.fmu", OPENMODELICA), "ours": fmu(tmp_path / "ours.fmu", OURS)}


@pytest.mark.parametrize(
    ("source", "target", "factor"),
    (
        ("om.out.rad/s", "ours.in.rad/s", 1.0),
        ("ours.out.rad/s", "om.in.rad/s", 1.0),
        ("om.out.rad", "ours.in.rad", 1.0),
        ("ours.out.rad", "om.in.rad", 1.0),
        ("om.out.deg", "ours.in.rad", DEGREE),
        ("ours.out.deg", "om.in.rad", DEGREE),
        ("ours.out.rad", "om.in.deg", 1 / DEGREE),
        ("om.out.deg", "ours.in.deg", 1.0),
        ("om.out.deg", "om.in.rad", DEGREE),
        ("om.out.deg/s", "ours.in.rad/s", DEGREE),
        ("ours.out.rad/s", "om.in.deg/s", 1 / DEGREE),
        ("om.out.rpm", "ours.in.rad/s", 2 * np.pi / 60),
        ("ours.out.N.m/rad", "om.in.N.m", 1.0),
        ("ours.out.deg", "om.in.1", 1.0),  # to and from a plain number values pass unchanged
        ("om.out.1", "ours.in.deg", 1.0),
        ("om.out.1", "ours.in.N.m", 1.0),
    ),
)
def test_a_radian_counts_as_1(parts: dict[str, Path], source: str, target: str, factor: float) -> None:
    (connection,) = System("s", parts, {source: target}).connections
    assert connection.factor == pytest.approx(factor, rel=UNIT_FACTOR) and connection.offset == 0.0


@pytest.mark.parametrize(
    ("source", "target"),
    (("om.out.rad/s", "ours.in.m/s"), ("ours.out.rad/s", "om.in.m/s"), ("ours.out.rad", "ours.in.N.m")),
)
def test_other_base_units_still_have_to_agree(parts: dict[str, Path], source: str, target: str) -> None:
    with pytest.raises(UserError, match=f"{source} cannot feed {target}: .* cannot be converted to "):
        System("s", parts, {source: target})


def test_a_display_unit_does_not_change_values(tmp_path: Path) -> None:
    om = fmu(tmp_path / "om.fmu", OPENMODELICA, 'displayUnit="deg"')
    ours = fmu(tmp_path / "ours.fmu", OURS)
    (connection,) = System("s", {"om": om, "ours": ours}, {"om.out.rad": "ours.in.rad"}).connections
    assert (connection.factor, connection.offset) == (1.0, 0.0)


@pytest.mark.parametrize("component", ("om", "ours"))
@pytest.mark.parametrize(("unit", "radians"), (("deg", -np.pi / 2), ("rad", -90.0)))
def test_a_parameter_in_degrees(
    parts: dict[str, Path], tmp_path: Path, component: str, unit: str, radians: float
) -> None:
    """By the display unit of its variable: `deg` is one of rad in both descriptions."""
    file = System("s", parts, {}, {f"{component}.par.rad": -90.0}, stop=1.0).save(tmp_path / "s.ssp")
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(tmp_path / "degrees.ssp", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            assert name != "SystemStructure.ssd" or content.count(b'value="-90.0" unit="rad"') == 1
            new.writestr(name, content.replace(b'value="-90.0" unit="rad"', f'value="-90.0" unit="{unit}"'.encode()))
    value = System.load(tmp_path / "degrees.ssp").values[Port(component, "par.rad")]
    assert value == pytest.approx(radians, rel=UNIT_VALUE)


def test_units_with_a_factor_and_no_dimension() -> None:
    percent, per_mille = SignalUnit("%", (), 0.01), SignalUnit("permille", (), 0.001)
    one, metre = SignalUnit("1", ()), SignalUnit("m", (0, 1))
    assert conversion(percent, per_mille)[0] == pytest.approx(10.0)
    for pair in ((percent, one), (percent, metre), (metre, percent)):
        assert conversion(*pair) == (1.0, 0.0)
