"""Xacro files, expanded by the package xacro."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import needs
from mechfmu.cli import main
from mechfmu.mechanisms.tree.readers.read import read_tree
from mechfmu.model import UserError, extras

needs.package("xacro", whole_file=True)

XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="2"/>
  <xacro:include filename="$(find my_robot)/urdf/link.xacro"/>
  <link name="stand"/>
  <xacro:rod name="upper" mass="$(arg mass)"/>
  <joint name="shoulder" type="continuous"><parent link="stand"/><child link="upper"/></joint>
</robot>
"""
LINK = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="rod" params="name mass">
    <link name="${name}"><inertial><origin xyz="0.1 0 0"/><mass value="${mass}"/>
      <inertia ixx="${0.1 * mass}" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  </xacro:macro>
</robot>
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "my_robot" / "urdf"
    folder.mkdir(parents=True)
    (folder / "link.xacro").write_text(LINK)
    (folder / "arm.urdf.xacro").write_text(XACRO)
    return folder / "arm.urdf.xacro"


def test_includes_packages_macros_and_arguments(file: Path) -> None:
    tree = read_tree(file)
    assert (tree.name, tree.bodies[0].mass, tree.bodies[0].inertia[0]) == ("arm", 2.0, 0.2)
    assert read_tree(file, arguments={"mass": "1.5"}).bodies[0].mass == 1.5


def test_packages_elsewhere(file: Path, tmp_path: Path) -> None:
    """Found by the name of their folder or by that of their package.xml, in a folder with packages or in their own."""
    package = file.parents[1].rename(tmp_path / "elsewhere")
    (package / "package.xml").write_text("<package><name>my_robot</name></package>")
    alone = tmp_path / "alone" / "arm.xacro"
    alone.parent.mkdir()
    (package / "urdf" / file.name).rename(alone)
    with pytest.raises(UserError, match=r"there is no package my_robot .*; --package-path DIR"):
        read_tree(alone)
    assert read_tree(alone, package_paths=[package]).name == "arm"
    assert main(["list", str(alone), "--package-path", str(package)]) == 0
    (tmp_path / "packages").mkdir()
    package.rename(tmp_path / "packages" / "my_robot")
    assert read_tree(alone, package_paths=[tmp_path / "packages"]).name == "arm"


def test_arguments_on_the_command_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", str(file), "--option", "mass=1.25", "--option", "stops=elastic"]) == 0
    assert "1.25 kg" in capsys.readouterr().out
    assert main(["list", str(file), "--option", "mas=1"]) == 2
    assert "has no argument mas; did you mean mass? (it has: mass)" in capsys.readouterr().err


@pytest.mark.parametrize("command", (["list"], ["build", "-o", "out"], ["linearize"], ["convert"]))
def test_an_argument_with_the_name_of_an_option(
    file: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(file.parent)
    file.write_text(XACRO.replace('name="mass"', 'name="stops"').replace("arg mass", "arg stops"))
    output = ["arm.toml"] if command == ["convert"] else []
    assert main([*command, file.name, *output, "--option", "stops=elastic"]) == 2
    message = "stops is an argument of the file and an option of the mechanism; rename the argument in the file"
    assert capsys.readouterr().err == f"mechfmu {command[0]}: {file.name}: --option stops: {message}\n"


@pytest.mark.parametrize(
    "old, new, message",
    (
        ("$(arg mass)", "$(arg weight)", r"xacro: its argument weight has no value: --option weight=VALUE"),
        ('mass="$(arg mass)"', 'mass="${m}"', r"xacro: xacro: name 'm' is not defined"),
        ("$(arg mass)", "$(env NOPE)", r"xacro: xacro: environment variable 'NOPE' is not set$"),
        ("$(arg mass)", "$(eval 1/0)", r"xacro: xacro: division by zero$"),
        ("$(find my_robot)", "$(find other)", r"there is no package other beside or above the file"),
        ('<child link="upper"/>', '<child link="uper"/>', r"xacro, expanded:\d+: joint shoulder: its child uper"),
        ("</robot>", "</robo>", r"xacro:7: is not valid XML: mismatched tag"),
        ("<robot ", "<!DOCTYPE robot><robot ", r"xacro:1: a DOCTYPE is not allowed"),
        ("link.xacro", "none.xacro", r"No such file"),
    ),
)
def test_faults_are_one_line(file: Path, old: str, new: str, message: str) -> None:
    file.write_text(XACRO.replace(old, new, 1))
    with pytest.raises(UserError, match=message) as caught:
        read_tree(file)
    assert str(caught.value).isprintable()


def test_macros_without_end(file: Path) -> None:
    (file.parent / "link.xacro").write_text(LINK.replace("<link", '<xacro:rod name="a" mass="1"/><link', 1))
    with pytest.raises(UserError, match=r"macros call themselves without end|recursion"):
        read_tree(file)


def test_the_missing_package_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extras, "is_installed", lambda module: False)
    assert main(["list", str(file)]) == 2
    assert capsys.readouterr().err == 'mechfmu list needs xacro: pip install "mechfmu[robots]"\n'
