"""Invalid input on the command line: exit status 2, one line that names the problem, no traceback, no files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.build import Build
from helpers.command_line import mechfmu, refused
from mechfmu.fmu.build import KINDS

BUILD = {
    "no links": (["link_chain", "--option", "links=0"], ("links=0", "at least 1")),
    "links in words": (["link_chain", "--option", "links=two"], ("links=two", "whole number")),
    "unknown option": (["link_chain", "--option", "rods=3"], ("rods", "links")),
    "option without value": (["link_chain", "--option", "links"], ("--option links", "name=value")),
    "unknown base": (["link_chain", "--option", "base=wheels"], ("base=wheels", "fixed, moving")),
    "unknown mechanism": (["link_chian"], ("link_chian", "link_chain")),
    "no mechanism": ([], ("NAME",)),
    "unknown argument": (["link_chain", "--links", "3"], ("--links",)),
    "unknown kind": (["link_chain", "--kind", "paper"], ("paper", "native", "python")),
    "unknown variable": (
        ["link_chain", "--start", "joint[1].angel_start=1"],
        ("joint[1].angel_start", "joint[1].angle_start"),
    ),
    "output as start value": (["link_chain", "--start", "tip.x=1"], ("tip.x", "cannot be set")),
    "zero mass": (["link_chain", "--start", "link[1].mass=0"], ("link[1].mass", "greater than 0")),
    "negative length": (["link_chain", "--start", "link[1].length=-1"], ("link[1].length", "greater than 0")),
    "negative inertia": (["link_chain", "--start", "link[1].inertia=-1"], ("link[1].inertia", "at least 0")),
    "NaN angle": (["link_chain", "--start", "joint[1].angle_start=nan"], ("joint[1].angle_start", "finite")),
    "words as number": (["link_chain", "--start", "gravity=much"], ("gravity", "much", "number")),
    "massless end": (
        ["link_chain", "--option", "links=1", "--start", "link[1].com=0", "--start", "link[1].inertia=0"],
        ("last link", "inertia"),
    ),
    "folder below a file": (["link_chain", "-o", "file/out"], ("file/out", "cannot write")),
    "folders that are not there": (
        ["link_chain", "-o", "folde/a/b"],
        ("there is no folder folde (only the last level of a path is created); did you mean folder?",),
    ),
    "another quantity": (
        ["link_chain", "--start", "joint[1].angle_start=5mm"],
        ("joint[1].angle_start = 5mm: mm does not fit its unit, which is rad",),
    ),
}


@pytest.mark.parametrize(("arguments", "words"), BUILD.values(), ids=BUILD.keys())
def test_build(arguments: list[str], words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file is no folder")
    (tmp_path / "folder").mkdir()
    refused("build", *arguments, folder=tmp_path, words=words)


def test_unknown_command(tmp_path: Path) -> None:
    refused("bulid", folder=tmp_path, words=("there is no command bulid; did you mean build?",))
    refused("build", "link_chain", "--outptu", "x", folder=tmp_path, words=("--outptu x; did you mean --output?",))


SIMULATE = {
    "unknown variable": (["--set", "joint[1].angel=1"], ("joint[1].angel", "did you mean joint[1].angle")),
    "value without name": (["--set", "=1"], ("--set =1", "name=value")),
    "name without value": (["--set", "gravity"], ("--set gravity", "name=value")),
    "words as number": (["--set", "gravity=much"], ("gravity", "much")),
    "state": (["--set", "joint[1].angle=0.5"], ("joint[1].angle cannot be set", "joint[1].angle_start")),
    "output": (["--set", "tip.x=1"], ("tip.x", "set")),
    "stop in words": (["--stop", "soon"], ("--stop", "soon")),
    "another quantity": (["--set", "link[1].mass=5mm"], ("link[1].mass = 5mm: mm does not fit its unit, which is kg",)),
    "stop in metres": (["--stop", "5mm"], ("--stop", "5mm", "which is s")),
    "negative stop": (["--stop=-1"], ("stop time -1",)),
    "no step": (["--step", "0"], ("step 0", "greater than 0")),
    "negative step": (["--step=-0.1"], ("step -0.1", "greater than 0")),
    "NaN stop": (["--stop", "nan"], ("stop time nan",)),
    "missing inputs": (["--input", "none.csv"], ("none.csv",)),
    "inputs that are no table": (["--input", "bad.csv"], ("bad.csv",)),
    "inputs without time": (["--input", "no_time.csv"], ("no_time.csv", "time")),
    "inputs that are none": (["--input", "no_input.csv"], ("no_input.csv", "tip.x")),
    "inputs with a gap": (["--input", "gap.csv"], ("gap.csv", "joint[1].torque")),
    "inputs that go back in time": (["--input", "back.csv"], ("back.csv", "time")),
    "empty inputs": (["--input", "empty.csv"], ("empty.csv",)),
    "unknown signal to plot": (["--plot", "x.png", "--signals", "tip.x,tip.z"], ("tip.z",)),
    "unknown picture format": (["--plot", "x.xyz"], ("x.xyz", "png")),
    "unknown film format": (["--animate", "x.xyz"], ("x.xyz", ".gif")),
    "unknown table format": (["-o", "x.xlsx"], ("x.xlsx", ".csv or .parquet or .mat")),
    "table below a file": (["-o", "bad.csv/result.csv"], ("bad.csv", "cannot write")),
    "table is a folder": (["-o", "folder"], ("folder", "cannot write")),
}

REFUSED_BY_THE_FMU = {
    "zero mass": (["--set", "link[1].mass=0"], ("link[1].mass", "greater than 0")),
    "negative inertia": (["--set", "link[2].inertia=-1"], ("link[2].inertia", "at least 0")),
    "massless end": (["--set", "link[2].com=0", "--set", "link[2].inertia=0"], ("last link", "inertia")),
    "NaN angle": (["--set", "joint[1].angle_start=nan"], ("joint[1].angle_start", "finite")),
    "infinite torque": (["--set", "joint[1].torque=inf"], ("joint[1].torque", "finite")),
    "torque beyond all bounds": (["--set", "joint[1].torque=1e200"], ("t = 0",)),
    "negative tolerance": (["--tolerance=-1"], ("tolerance", "-1")),
}

TABLES = {
    "bad.csv": "time;joint[1].torque\n0;1\n1,2,3\n4\n",
    "no_time.csv": "t,joint[1].torque\n0,1\n1,2\n",
    "no_input.csv": "time,tip.x\n0,1\n1,2\n",
    "gap.csv": "time,joint[1].torque\n0,1\n1,\n",
    "back.csv": "time,joint[1].torque\n0,1\n1,2\n0.5,3\n",
    "empty.csv": "",
}


@pytest.mark.parametrize("kind", KINDS[:1])
@pytest.mark.parametrize(("arguments", "words"), SIMULATE.values(), ids=SIMULATE.keys())
def test_simulate(fmu: Build, arguments: list[str], words: tuple[str, ...], tmp_path: Path) -> None:
    """Every mistake is found before anything is written, even when another output was asked for."""
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder").mkdir()
    chosen = [*arguments] if "-o" in arguments else [*arguments, "-o", "result.csv"]
    stop = [] if any(a.startswith("--stop") for a in arguments) else ["--stop", "0.1"]
    refused("simulate", fmu(links=2), *stop, *chosen, folder=tmp_path, words=words)


@pytest.mark.parametrize(("arguments", "words"), REFUSED_BY_THE_FMU.values(), ids=REFUSED_BY_THE_FMU.keys())
def test_what_the_fmu_refuses_is_passed_on(
    fmu: Build, arguments: list[str], words: tuple[str, ...], tmp_path: Path
) -> None:
    """The FMU's own words, once."""
    refused("simulate", fmu(links=2), "--stop", "0.1", *arguments, "-o", "result.csv", folder=tmp_path, words=words)


def zipped(name: str, text: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, text)
    return stream.getvalue()


NO_FMU: dict[str, Callable[[bytes], bytes]] = {
    "text": lambda fmu: b"this is no zip file",
    "empty": lambda fmu: b"",
    "half": lambda fmu: fmu[: len(fmu) // 2],
    "scratched": lambda fmu: fmu[:2000] + b"\0" * 3000 + fmu[5000:],
    "bare": lambda fmu: zipped("readme.txt", "no model description"),
    "broken": lambda fmu: zipped("modelDescription.xml", "<fmiModelDescription"),
    "foreign": lambda fmu: zipped("modelDescription.xml", "<html/>"),
}


@pytest.mark.parametrize("kind", KINDS[:1])
@pytest.mark.parametrize("damage", NO_FMU.values(), ids=NO_FMU.keys())
def test_files_that_are_no_fmu(fmu: Build, damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "some.fmu").write_bytes(damage(fmu(links=2).read_bytes()))
    refused("simulate", "some.fmu", "--stop", "0.1", folder=tmp_path, words=("some.fmu",))


def test_an_fmu_that_is_missing_or_a_folder(tmp_path: Path) -> None:
    (tmp_path / "folder.fmu").mkdir()
    refused("simulate", "none.fmu", folder=tmp_path, words=("none.fmu", "no file"))
    refused("simulate", "folder.fmu", folder=tmp_path, words=("folder.fmu",))


def test_no_traceback_even_for_nothing_at_all(tmp_path: Path) -> None:
    result = mechfmu("simulate", folder=tmp_path)
    assert result.returncode == 2
    assert "FMU" in result.stderr and "Traceback" not in result.stderr
