"""Whatever an FMU contains or does, the check completes, and no files are left behind."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from helpers.binary_files import PE_X86_64, mach_o, pe
from helpers.check_defect import XML
from helpers.check_helpers import SECONDS, CheckDefect, caught, findings_text
from helpers.check_zoo import DEFECTS, MISBEHAVING, Defect, write_fmu
from mechfmu.check import description, isolation
from mechfmu.check.checker import RULES, CannotCheck, Options, Report, check_fmu
from mechfmu.check.dynamic import child
from mechfmu.check.model_data import host_platform
from mechfmu.check.processes import RuleProcesses
from mechfmu.check.report.as_junit import to_junit
from mechfmu.check.report.as_text import print_report
from mechfmu.console import Console

pytest_plugins = ("helpers.check_fixtures",)


def private_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files from now on, where the test can look for files left behind."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setenv("TMPDIR", str(place))
    return place


HARMFUL = [d for d in DEFECTS if d.rule == "S1" and d.name in ("parent", "absolute", "link", "bomb")]


@pytest.mark.parametrize("defect", [*HARMFUL, MISBEHAVING["exit"], MISBEHAVING["null"]], ids=lambda d: d.name)
def test_nothing_is_left_behind(
    defect: Defect, check_defect: CheckDefect, zoo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_fmu(zoo_folder, defect)  # compiled outside the private folder
    private = private_folder(tmp_path, monkeypatch)
    report = check_defect(defect, "S", "D1", "D5", "R2", robustness=True)
    assert {f.rule for f in report.findings} == {defect.rule}, findings_text(report)
    assert list(private.iterdir()) == []
    assert not Path("/tmp/mechfmu_zoo_outside.txt").exists()
    assert not (zoo_folder / "outside.txt").exists() and not (zoo_folder.parent / "outside.txt").exists()


def test_a_crash_of_both_kinds_is_one_cause(check_defect: CheckDefect) -> None:
    report = check_defect(MISBEHAVING["null"], "R2", robustness=True)
    crashes = [group for group in report.groups if group.first.crash]
    functions = {group.first.cause for group in crashes}
    assert len(functions) == len(crashes) > 1, "one cause for each function"
    assert all(group.kinds == ("CoSimulation", "ModelExchange") for group in crashes)


def test_a_hang_costs_its_time_limit_once(check_defect: CheckDefect) -> None:
    began = time.monotonic()
    report = check_defect(MISBEHAVING["hang"])
    (finding,) = report.counted
    assert finding.rule == "D5" and "no answer within" in finding.problem and finding.where.startswith("fmi2DoStep")
    assert all(r.skipped for r in report.results if r.rule.id in ("D3", "D4", "D6", "D11"))
    assert SECONDS < time.monotonic() - began < 2 * SECONDS


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory a process uses")
def test_memory_is_limited(check_defect: CheckDefect, monkeypatch: pytest.MonkeyPatch) -> None:
    """An FMU that takes 2 GB is stopped on the way, and the check completes."""
    monkeypatch.setattr(isolation, "RESIDENT_LIMIT", 500_000_000)
    (finding,) = check_defect(MISBEHAVING["memory"], "D5").counted
    assert (finding.rule, finding.severity) == ("D5", "warning") and "more than 0.5 GB of memory" in finding.problem


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each rule starts a new Python")
def test_a_request_whose_folder_is_gone_ends_quietly(
    processes: RuleProcesses, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert processes.start(tmp_path / "gone").wait(20.0) == 0
    assert capfd.readouterr().err == ""


def test_the_fmu_s_process_has_no_modules_of_ours() -> None:
    """FMUs with Python code share the interpreter of the process, which must not have loaded our modules or NumPy."""
    code = f"""
import importlib, importlib.util, sys
spec = importlib.util.spec_from_file_location("child", {child.__file__!r})
child = importlib.util.module_from_spec(spec); spec.loader.exec_module(child)
child.load_package()
importlib.import_module(child.ALIAS + ".dynamic")
print(sorted(m for m in sys.modules if m.split(".")[0] in ("mechfmu", "numpy", "lxml", "fmpy")))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/")
    assert result.stdout.strip() == "[]"


def test_without_a_binary_for_this_platform_only_the_file_is_checked(check_defect: CheckDefect) -> None:
    def elsewhere(files: dict[str, bytes]) -> None:
        name = next(n for n in files if n.startswith("binaries/"))
        del files[name]
        files[f"binaries/{other}/Zoo.{'dylib' if other == 'darwin64' else 'dll'}"] = content

    other, content = ("win64", pe(PE_X86_64)) if host_platform() != "win64" else ("darwin64", mach_o())
    report = check_defect(Defect("", "elsewhere", "", change=elsewhere))
    assert report.static_only == f"there is none for {host_platform()}, only for {other}"
    assert all(
        r.skipped == f"the binary was not run: {report.static_only}"
        for r in report.results
        if r.rule.id.startswith("D")
    )
    assert not any(r.skipped for r in report.results if r.rule.id.startswith("S"))
    assert report.exit_status == 0 and replace(report, options=Options(strict=True)).exit_status == 2
    output = io.StringIO()
    print_report(report, Console(output))
    assert f"no error or warning in the file; the binary was not run: {report.static_only}" in output.getvalue()


# --- hostile files ----------------------------------------------------------------------------------------------------


def check_bytes(tmp_path: Path, data: bytes) -> Report:
    file = tmp_path / "hostile.fmu"
    file.write_bytes(data)
    return check_fmu(file, Options(only=("S",)))


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"PK\x03\x04", b"PK\x05\x06" + bytes(18)], ids=["empty", "text", "header", "no-entries"]
)
def test_a_file_that_is_not_an_archive_is_a_finding(data: bytes, tmp_path: Path) -> None:
    report = check_bytes(tmp_path, data)
    assert caught(report) == {"S1"} and report.exit_status == 1
    assert all(r.skipped for r in report.results[1:]), "a rule that examined nothing has not passed"


@pytest.mark.parametrize(
    "xml, findings, examined, reason",
    [
        (b"<fmiModelDescription", {"S1", "S2"}, 2, "cannot be read"),
        (b"<html/>", {"S1", "S2", "S3"}, 3, "is not a model description"),
    ],
    ids=["broken", "foreign"],
)
def test_rules_with_nothing_to_examine_are_not_run(
    xml: bytes, findings: set[str], examined: int, reason: str, tmp_path: Path
) -> None:
    file = tmp_path / "some.fmu"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("modelDescription.xml", xml)
    report = check_fmu(file)
    assert caught(report) == findings and not any(r.skipped for r in report.results[:examined])
    assert all(reason in r.skipped for r in report.results[examined:])
    cases = ElementTree.fromstring(to_junit([report])).findall("testsuite/testcase")
    rules = sum(not rule.robustness for rule in RULES)
    assert [case.find("skipped") is not None for case in cases] == [False] * examined + [True] * (rules - examined)


def test_a_zip_bomb_with_a_wrong_declared_size_is_found(tmp_path: Path) -> None:
    """The declared size of the unpacked file is set to 10 bytes."""
    file = tmp_path / "bomb.fmu"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", XML)
        archive.writestr("resources/zeros.bin", bytes(30_000_000))
    data = file.read_bytes().replace(struct.pack("<L", 30_000_000), struct.pack("<L", 10))
    assert "S1" in caught(check_bytes(tmp_path, data))


def test_too_many_bytes_are_not_unpacked(check_defect: CheckDefect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechfmu.check.archive.BYTE_LIMIT", 10_000)
    report = check_defect(Defect("", "plain", ""), "S1")
    assert report.counted == [] and any("all files together have more than 10000" in t for _, t in report.not_judged)


def test_a_huge_description_is_not_read(check_defect: CheckDefect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(description, "SIZE_LIMIT", 1000)
    report = check_defect(Defect("", "plain", ""))
    assert caught(report) == set() and report.static_only
    assert any(rule == "S2" and "1000 are read" in reason for rule, reason in report.not_judged)


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">' + "".join(
        f'<!ENTITY {c} "{f"&{p};" * 50}">' for p, c in zip("bcdefgh", "cdefghi", strict=True)
    )
    text = XML.replace("<fmiModelDescription", f'{laughs}]>\n<fmiModelDescription description="&i;"', 1)
    file = tmp_path / "laughs.fmu"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("modelDescription.xml", text)
    assert "S2" in caught(check_fmu(file, Options(only=("S2",))))


def test_files_outside_are_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret")
    text = XML.replace(
        "<fmiModelDescription", f'<!DOCTYPE x [<!ENTITY s SYSTEM "file://{secret}">]>\n<fmiModelDescription', 1
    ).replace('name="label"', 'name="&s;"')
    file = tmp_path / "reader.fmu"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("modelDescription.xml", text)
    report = check_fmu(file, Options(only=("S",)))
    assert "S2" in caught(report) and "a secret" not in "".join(f.text for f in report.findings)


def test_a_file_that_is_not_there_cannot_be_checked(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.fmu", tmp_path):
        with pytest.raises(CannotCheck):
            check_fmu(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to send")
def test_an_interrupted_check_leaves_nothing(zoo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM while an FMU hangs."""
    file = write_fmu(zoo_folder, MISBEHAVING["hang"])
    private = private_folder(tmp_path, monkeypatch)
    code = "from mechfmu.cli import entry; entry()"
    command = [sys.executable, "-c", code, "check", str(file), "--call-timeout", "4"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not any(private.glob("mechfmu_check_*/scratch/job_*/trace")):
        assert process.poll() is None
        time.sleep(0.05)
    process.terminate()
    assert "interrupted" in process.communicate(timeout=60)[1] and process.returncode == 130
    assert list(private.iterdir()) == []
