"""Trees from files through the command line: build, list, --base, --controller, --option stops=elastic."""

from __future__ import annotations

from pathlib import Path

import fmpy
import pytest

from mechfmu.cli import main

URDF = """<robot name="two_links">
 <link name="foot">
  <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
 </link>
 <link name="leg">
  <inertial>
   <origin xyz="0 0 0.2"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/>
  </inertial>
 </link>
 <joint name="knee" type="revolute"><parent link="foot"/><child link="leg"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="10" velocity="5"/><dynamics damping="0.3"/></joint>
</robot>"""
TOML = """name = "pendulum"
[[body]]
name = "rod"
mass = 1.0
com = [0.0, 0.0, -0.5]
inertia = { xx = 0.1, yy = 0.1, zz = 0.01 }
[[joint]]
name = "pivot"
kind = "revolute"
child = "rod"
axis = [0.0, 1.0, 0.0]
"""


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    file = tmp_path / "robot.urdf"
    file.write_text(URDF)
    return file


def variables(folder: Path) -> dict[str, str]:
    """Return the variables of the one FMU in a folder, with their causality."""
    (file,) = folder.iterdir()
    return {v.name: v.causality for v in fmpy.read_model_description(str(file)).modelVariables}


def build(file: Path, folder: Path, *options: str) -> int:
    return main(["build", str(file), "-o", str(folder), "--kind", "python", *options])


def test_build_gives_the_native_fmu_in_one_command(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build", str(urdf), "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "two_links.fmu").is_file()
    assert "two_links.fmu" in capsys.readouterr().out
    result = fmpy.simulate_fmu(
        str(tmp_path / "out" / "two_links.fmu"),
        stop_time=0.1,
        start_values={"knee.angle_start": 0.5},
        output=["knee.angle"],
    )
    assert result["knee.angle"][0] == 0.5
    assert result["knee.angle"][-1] > 0.5  # an upright leg falls


def test_names_of_the_file_are_names_of_variables(urdf: Path, tmp_path: Path) -> None:
    assert build(urdf, tmp_path / "out") == 0
    found = variables(tmp_path / "out")
    for name, causality in {
        "knee.angle": "output",
        "knee.torque": "input",
        "knee.damping": "parameter",
        "leg.mass": "parameter",
    }.items():
        assert found[name] == causality
    assert "base.acceleration_x" not in found
    assert "stops.stiffness" not in found


def test_base_moving(urdf: Path, tmp_path: Path) -> None:
    assert build(urdf, tmp_path / "out", "--base", "moving") == 0
    assert variables(tmp_path / "out")["base.acceleration_x"] == "input"


def test_base_free(urdf: Path, tmp_path: Path) -> None:
    assert build(urdf, tmp_path / "out", "--base", "free") == 0
    found = variables(tmp_path / "out")
    assert sum(name.endswith(".quaternion_start[4]") for name in found) == 1
    assert found["foot.mass"] == "parameter"


def test_elastic_stops(urdf: Path, tmp_path: Path) -> None:
    assert build(urdf, tmp_path / "out", "--option", "stops=elastic") == 0
    assert variables(tmp_path / "out")["stops.stiffness"] == "parameter"


def test_the_controller(urdf: Path, tmp_path: Path) -> None:
    assert build(urdf, tmp_path / "out", "--controller") == 0
    assert (tmp_path / "out" / "two_links_controller.python.fmu").is_file()
    found = variables(tmp_path / "out")
    assert found["knee.angle"] == "input"
    assert found["knee.angle_reference"] == "input"
    assert found["knee.torque"] == "output"


def test_the_gravity_controller_has_no_reference(urdf: Path, tmp_path: Path) -> None:
    assert build(urdf, tmp_path / "out", "--controller", "--option", "law=gravity") == 0
    assert "knee.angle_reference" not in variables(tmp_path / "out")


def test_a_toml_file(tmp_path: Path) -> None:
    file = tmp_path / "pendulum.toml"
    file.write_text(TOML)
    assert build(file, tmp_path / "out", "--start", "pivot.angle_start=0.25") == 0
    (fmu,) = (tmp_path / "out").iterdir()
    assert fmu.name == "pendulum.python.fmu"
    start = {v.name: v.start for v in fmpy.read_model_description(str(fmu)).modelVariables}
    assert float(start["pivot.angle_start"]) == 0.25


def test_build_warns_of_contacts_that_start_inside_the_ground(
    urdf: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mechfmu.fmu.build.build", lambda *_, **__: [])
    assert main(["build", str(urdf), "--contact", "leg:0.1", "--start", "ground.height=3"]) == 0
    assert "warning: contact leg starts " in capsys.readouterr().out


def test_list_shows_the_tree(urdf: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechfmu.cli.terminal.OUT.fixed_width", 200)
    assert main(["list", str(urdf)]) == 0
    text = capsys.readouterr().out
    assert "two_links: base" in text
    assert "knee (revolute) - leg, 2 kg" in text
    assert "knee.angle_start" in text and "stops.stiffness" not in text
    assert main(["list", str(urdf), "--option", "stops=elastic"]) == 0
    assert "stops.stiffness" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    (
        (["--base", "flying"], "must be fixed, moving or free"),
        (["--option", "stops=rubber"], "stops=rubber: must be one of none, elastic"),
        (["--option", "links=3"], "no option links"),
        (["--controller", "--option", "law=none"], "law=none: must be one of"),
        (["--controller", "--base", "free"], "joint base is free: it has no motor"),
        (["--controller", "--base", "moving"], "--base moving is for the tree"),
        (["--start", "knee.angle_start=2"], "knee.angle_start = 2 rad: must be at most 1"),
        (["--start", "hip.angle_start=0"], "has no variable hip.angle_start"),
    ),
)
def test_invalid_options_leave_no_file(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert build(urdf, tmp_path / "out", *options) == 2
    text = capsys.readouterr().err
    assert message in text
    assert text.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", (["--base", "free"], ["--controller"], ["--ignore", "sensor"]))
def test_options_of_files_are_not_for_mechanisms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    assert main(["build", "link_chain", "-o", str(tmp_path / "out"), *option]) == 2
    assert "is for .urdf, .toml and other robot files" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_joint_with_a_reserved_name_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(URDF.replace('"knee"', '"tip"'))
    assert build(file, tmp_path / "out") == 2
    assert "joint tip: rename it" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


# --- names of files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, text", (("robot.URDF", URDF), ("Robot.Toml", TOML)))
def test_the_ending_of_a_file_may_be_written_large(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert main(["list", str(tmp_path / name)]) == 0


@pytest.mark.parametrize(
    "name, said",
    (
        ("robot.json", "a robot description must end in .urdf, .xacro, .sdf, .xml"),
        ("robot.sdf", "is not an SDF file: its root element is <robot>"),
    ),
)
@pytest.mark.parametrize("command", ("build", "list"))
def test_other_files_get_a_hint(
    name: str, said: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(URDF)
    assert main([command, str(tmp_path / name), *(["-o", str(tmp_path / "out")] if command == "build" else [])]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    (
        (["list", "{file}", "--ignore", "wheels"], "unknown for a URDF file (it has: mimic, transmission, free, "),
        (["build", "{file}", "--inertia", "hope"], "inertia=hope: must be one of refuse, warn, repair"),
        (["build", "{file}", "--option", "effort=some"], "option effort=some: must be one of limited, unlimited"),
        (["list", "link_chain", "--inertia", "warn"], "--inertia is for .urdf, .toml and other robot files"),
        (["list", "--base", "free"], "--base is for one mechanism: mechfmu list NAME --base ..."),
    ),
)
def test_wrong_options_for_a_file(
    arguments: list[str], message: str, urdf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([argument.format(file=urdf) for argument in arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_mimic_joint_can_be_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    second = (
        URDF[URDF.index(' <link name="leg">') : URDF.index("</robot>")].replace("knee", "hip").replace("leg", "arm")
    )
    follower = second.replace("</joint>", '<mimic joint="knee" multiplier="-1"/></joint>')
    file = tmp_path / "robot.urdf"
    file.write_text(URDF.replace("</robot>", f"{follower}</robot>"))
    assert main(["list", str(file)]) == 0
    listed = capsys.readouterr().out
    assert "hip (revolute, follows knee)" in listed
    assert "hip.angle " in listed and "hip.torque" not in listed and "hip.angle_start" not in listed
    assert main(["list", str(file), "--ignore", "mimic"]) == 0
    assert "hip.torque" in capsys.readouterr().out
