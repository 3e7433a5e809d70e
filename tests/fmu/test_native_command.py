"""`mechfmu build` for native FMUs: the files, and one line with exit status 2 for every mistake."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from helpers.native_fmi import Fmu
from mechfmu import LinkChain
from mechfmu.cli import main
from mechfmu.codegen import compiler
from mechfmu.codegen.compiler import PLATFORMS, host_platform

ROD = ("build", "link_chain", "--option", "links=1")


def binaries(file: Path) -> set[str]:
    with zipfile.ZipFile(file) as archive:
        return {name for name in archive.namelist() if name.startswith("binaries/")}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the error message, which is one line."""
    assert main([*ROD, *arguments]) == 2
    captured = capsys.readouterr()
    (line,) = captured.err.strip().splitlines()
    assert "Traceback" not in line
    return line


def test_native_for_this_machine_is_the_default(tmp_path: Path) -> None:
    """As a user calls it, in a process of its own; nothing is printed but the file written."""
    done = subprocess.run([sys.executable, "-m", "mechfmu", *ROD, "-o", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [f.name for f in tmp_path.iterdir()] == ["LinkChain.fmu"]
    assert done.stdout.startswith(f"wrote {tmp_path / 'LinkChain.fmu'} (")
    host = host_platform()
    assert binaries(tmp_path / "LinkChain.fmu") == {f"binaries/{host}/LinkChain{PLATFORMS[host].suffix}"}


def test_several_platforms(tmp_path: Path) -> None:
    assert (
        main([*ROD, "-o", str(tmp_path), "--platform", "linux64", "--platform", "win64", "--platform", "linux64"]) == 0
    )
    assert binaries(tmp_path / "LinkChain.fmu") == {"binaries/linux64/LinkChain.so", "binaries/win64/LinkChain.dll"}


def test_both_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ROD, "-o", str(tmp_path), "--kind", "both"]) == 0
    assert sorted(f.name for f in tmp_path.iterdir()) == ["LinkChain.fmu", "LinkChain.python.fmu"]
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there is no system compiler to count on")
def test_the_systems_compiler(tmp_path: Path) -> None:
    assert main([*ROD, "-o", str(tmp_path), "--compiler", "cc"]) == 0
    with zipfile.ZipFile(tmp_path / "LinkChain.fmu") as archive:
        archive.extractall(tmp_path / "fmu")
    host = host_platform()
    fmu = Fmu(LinkChain(links=1), tmp_path / "fmu" / "binaries" / host / f"LinkChain{PLATFORMS[host].suffix}")
    instance = fmu.open().initialize()
    instance.step(0.1)
    assert -1.2 < instance["joint[1].angle"] < -1.0


def test_start_values(tmp_path: Path) -> None:
    assert (
        main([*ROD, "-o", str(tmp_path), "--start", "joint[1].angle_start=0.5", "--start", "solver.method=implicit"])
        == 0
    )
    with zipfile.ZipFile(tmp_path / "LinkChain.fmu") as archive:
        text = archive.read("modelDescription.xml").decode()
    assert 'start="0.5"' in text and '<Integer min="1" max="3" start="2"' in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    (
        (("--platform", "linux32"), "platform linux32: must be one of linux64, win64, darwin64, wasm, or all"),
        (("--platform", "wasm", "--compiler", "cc"), f"builds for {host_platform()} only, not for wasm32"),
        (("--platform", "wasm", "--kind", "python"), "platform wasm is for native FMUs"),
        (("--compiler", "msvc"), "compiler msvc: must be zig or cc"),
        (("--kind", "fast"), "kind fast: must be native, python or both"),
        (("--start", "solver.method=fastest"), "solver.method = fastest: must be one of explicit, implicit, automatic"),
        (("--start", "joint[1].angle=1"), "joint[1].angle cannot be set"),
        (("--start", "link[1].mass=-1"), "link[1].mass = -1 kg: must be greater than 0"),
    ),
)
def test_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], text: str) -> None:
    assert text in refused(capsys, "-o", str(tmp_path), *arguments)
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_the_systems_compiler_cannot_build_for_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = next(p for p in PLATFORMS if p != host_platform())
    line = refused(capsys, "-o", str(tmp_path), "--compiler", "cc", "--platform", other)
    assert f"builds for {host_platform()} only, not for {other}: use --compiler zig" in line
    monkeypatch.setattr(compiler, "has_zig", lambda: False)
    assert "pip install ziglang" in refused(capsys, "-o", str(tmp_path), "--platform", "all")
    assert not list(tmp_path.iterdir())


def test_no_compiler_at_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what to install."""
    monkeypatch.setattr(compiler, "has_zig", lambda: False)
    monkeypatch.setenv("CC", "there-is-no-such-compiler")
    assert "pip install ziglang" in refused(capsys, "-o", str(tmp_path))
    assert "pip install ziglang" in refused(capsys, "-o", str(tmp_path), "--compiler", "zig")
    assert "neither $CC nor cc" in refused(capsys, "-o", str(tmp_path), "--compiler", "cc")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands for the compiler")
def test_a_compiler_that_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line of its output, and no incomplete FMU."""
    script = tmp_path / "broken"
    script.write_text("#!/bin/sh\necho 'some remark' >&2\necho 'model.c:1: error: out of luck' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    line = refused(capsys, "-o", str(tmp_path / "out"), "--compiler", "cc")
    assert "the C compiler failed: model.c:1: error: out of luck" in line
    assert not list((tmp_path / "out").iterdir())
