"""[tool.mechfmu.check] in pyproject.toml, and the FMUs that arguments stand for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers.check_zoo import CLEAN, DEFECTS, write_fmu
from mechfmu.check.cannot_check import CannotCheck
from mechfmu.check.configuration import ProjectSettings, find_configuration
from mechfmu.check.fmu_files import find_fmus
from mechfmu.cli import main


def configure(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.mechfmu.check]\n{text}\n", encoding="utf-8")


def test_every_key(tmp_path: Path) -> None:
    configure(
        tmp_path,
        'only = ["S", "D6"]\nskip = ["S4"]\nrobustness = true\nstrict = false\nbaseline = "ci/base.json"\n'
        "call-timeout = 5\ntime-budget = 0.5\njobs = 2",
    )
    assert find_configuration(tmp_path) == ProjectSettings(
        ("S", "D6"), ("S4",), True, False, tmp_path / "ci/base.json", 5.0, 0.5, 2, tmp_path / "pyproject.toml"
    )


def test_the_nearest_file_with_the_section_applies(tmp_path: Path) -> None:
    configure(tmp_path, "jobs = 1")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert find_configuration(below).jobs == 1
    configure(below, "jobs = 2")
    assert find_configuration(below).jobs == 2


def test_without_a_section_there_are_no_settings(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
    assert find_configuration(tmp_path).file is None or tmp_path not in find_configuration(tmp_path).file.parents


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("skipp = []", "has no key skipp: did you mean skip?"),
        ("colour = 1", "has no key colour (there are only, skip, robustness"),
        ('skip = "S1"', 'skip = "S1": must be a list of rules'),
        ("only = [1]", "only = [1]: must be a list of rules"),
        ("robustness = 1", "robustness = 1: must be true or false"),
        ("jobs = true", "jobs = true: must be a whole number"),
        ("jobs = -1", "jobs = -1: must be a whole number"),
        ("time-budget = 0", "time-budget = 0: must be a number of seconds greater than 0"),
        ('call-timeout = "5 s"', 'call-timeout = "5 s": must be a number of seconds'),
        ("call-timeout = nan", "call-timeout = nan: must be a number of seconds"),
        ("baseline = 3", "baseline = 3: must be the name of a file"),
        ("jobs = = 3", "is not valid TOML"),
        ('only = ["D99"]', "there is no rule D99"),
        ('only = ["R1"]', "R1 is about robustness: add --robustness"),
        ('baseline = "missing.json"', "there is no baseline"),
    ],
)
def test_a_mistake_is_one_line(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    configure(tmp_path, text)
    (tmp_path / "a.fmu").write_bytes(b"")
    assert main(["check", "a.fmu"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line or ("R1" in message and "no rule R1" in line), line
    assert "pyproject.toml" in line or "baseline" in text


def test_the_command_line_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fmu = str(write_fmu(tmp_path, next(d for d in DEFECTS if (d.rule, d.name) == ("S11", "stop"))))
    configure(tmp_path, 'only = ["S"]\nskip = ["S11"]')
    assert main(["check", fmu]) == 0
    assert main(["check", fmu, "--skip", "S4"]) == 1
    assert main(["check", fmu, "--skip", "S11", "--only", "S11,S3"]) == 0
    assert main(["check", fmu, "--call-timeout", "0"]) == 2


def test_a_folder_stands_for_all_fmus_below_it(tmp_path: Path) -> None:
    names = ["a/x.fmu", "a/b/y.FMU", "z.fmu", "a/readme.txt"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert {f.relative_to(tmp_path).as_posix() for f in find_fmus([str(tmp_path)])} == {*names} - {"a/readme.txt"}
    assert [f.name for f in find_fmus([str(tmp_path / "a/*.fmu"), str(tmp_path / "a" / "x.fmu")])] == ["x.fmu"]
    assert {f.name for f in find_fmus([str(tmp_path / "**/*.fmu")])} == {"x.fmu", "z.fmu"}


def test_arguments_that_stand_for_no_fmu(tmp_path: Path) -> None:
    (tmp_path / "modelDescription.xml").write_text("")
    for argument, message in {
        str(tmp_path): "no *.fmu file below .*: it is an unpacked FMU",
        str(tmp_path / "*.fmu"): "no FMU matches",
        str(tmp_path / "x.fmu"): "there is no file",
    }.items():
        with pytest.raises(CannotCheck, match=message.replace("*.fmu", r"\*\.fmu")):
            find_fmus([argument])


def version(folder: Path, text: str) -> Path:
    defect = next(d for d in DEFECTS if d.rule == "S3" and "2.0.1" in d.what)
    (pair,) = defect.xml
    xml = ((pair[0], re.sub(r'fmiVersion="[^"]*"', f'fmiVersion="{text}"', pair[1])),)
    return write_fmu(folder, type(defect)("S3", f"version{text}", "", xml=xml))


@pytest.mark.parametrize("number", ["1.0", "3.0", "3.0-beta.2", "4"])
def test_another_version_of_fmi_is_one_line(number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = version(tmp_path, number)
    assert main(["check", str(file)]) == 2
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        f"mechfmu check: {file} is an FMU of FMI {number}; mechfmu check knows FMI 2.0 only"
    ]
    assert captured.out == ""


def test_one_fmu_that_cannot_be_checked_does_not_hide_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    version(tmp_path, "1.0")
    write_fmu(tmp_path, CLEAN["both"])
    assert main(["check", str(tmp_path), "--only", "S3"]) == 2
    text = capsys.readouterr().out
    assert "not checked: " in text and "FMI 1.0" in text and "no error or warning" in text
