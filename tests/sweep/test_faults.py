"""Faults around the program: damaged caches, full disks, killed builds, steps that take too many evaluations."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from helpers.build import Build
from helpers.processes import alive, within
from mechfmu import LinkChain
from mechfmu.analysis.linear import linearize
from mechfmu.cli import main
from mechfmu.codegen.cache import cached_library
from mechfmu.codegen.compiler import host_platform
from mechfmu.fmu.archive import write_archive
from mechfmu.model import UserError
from mechfmu.simulation import compiled, instance
from mechfmu.simulation.engines import make_instance
from mechfmu.simulation.integration import IntegrationError
from mechfmu.simulation.limits import EVALUATION_LIMIT
from mechfmu.simulation.result import DisplayUnit, Result

LIBRARY = bytes(range(256)) * 20


# --- the cache of compiled libraries ----------------------------------------------------------------------------------


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], bytes]]:
    """Return the bytes of a chain's library, made by a fake compiler whose calls load.compiled counts."""

    def compile_sources(groups: object, target: Path, *more: object, **others: object) -> None:
        if not target.parent.is_dir():
            raise FileNotFoundError(target.parent)
        target.write_bytes(LIBRARY)
        call.compiled += 1  # type: ignore[attr-defined]

    def call() -> bytes:
        compiled._library.cache_clear()
        return compiled.library(LinkChain(links=1))  # type: ignore[return-value]

    call.compiled = 0  # type: ignore[attr-defined]
    monkeypatch.setattr(compiled, "compile_sources", compile_sources)
    monkeypatch.setattr("ctypes.CDLL", lambda file: Path(file).read_bytes())
    yield call
    compiled._library.cache_clear()


def test_a_damaged_library_is_compiled_again(
    load: Callable[[], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MECHFMU_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    assert load() == load() == LIBRARY and load.compiled == 1  # type: ignore[attr-defined]
    (file,) = (tmp_path / "cache").iterdir()
    file.write_bytes(LIBRARY[:1000])
    assert load() == LIBRARY and load.compiled == 2  # type: ignore[attr-defined]
    assert [f.name for f in (tmp_path / "cache").iterdir()] == [file.name]


def test_a_cache_folder_that_cannot_be_used(
    load: Callable[[], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file")
    for place in ("cache", "cache/inside"):
        monkeypatch.setenv("MECHFMU_CACHE", str(tmp_path / place))
        with pytest.warns(RuntimeWarning, match=rf"cannot be kept in {tmp_path}/{place} \(.*set MECHFMU_CACHE"):
            assert load() == LIBRARY


def test_several_that_need_a_library_at_the_same_time_compile_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MECHFMU_CACHE", str(tmp_path))
    compiled_by: list[int] = []
    found: list[bytes] = []

    def make(target: Path) -> None:
        compiled_by.append(threading.get_ident())
        time.sleep(0.05)
        target.write_bytes(LIBRARY)

    def need() -> None:
        with cached_library("same", ".so", make) as file:
            found.append(file.read_bytes())

    threads = [threading.Thread(target=need) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [LIBRARY] * 4 and (len(compiled_by) == 1 or sys.platform == "win32")
    assert len(list(tmp_path.iterdir())) == 1


# --- a full disk ------------------------------------------------------------------------------------------------------


@contextmanager
def full_disk(room: int) -> Iterator[None]:
    """Files cannot grow beyond `room` bytes."""
    resource = pytest.importorskip("resource", reason="Windows has no limit for the size of files")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize(
    "name", ("a.csv", "a.parquet", "a.mat", "a.png", "a.html", "linear.npz", "linear.json", "a.fmu")
)
def test_an_older_file_survives_a_full_disk(tmp_path: Path, name: str) -> None:
    t = np.linspace(0, 1, 2000)
    result = Result("a", t, {"x": np.random.default_rng(0).normal(size=2000)}, {"x": DisplayUnit("m")})
    linear = linearize(LinkChain(links=20), {"gravity": 0.0})
    file = tmp_path / name
    file.write_text("the old one")
    write: Callable[[], object] = lambda: result.save(file)  # noqa: E731
    if name in ("a.png", "a.html"):
        write = lambda: result.plot(file=file)  # noqa: E731
    elif name.startswith("linear"):
        write = lambda: linear.save(file)  # noqa: E731
    elif name == "a.fmu":
        write = lambda: write_archive(file, {"a": os.urandom(100_000)})  # noqa: E731
    with full_disk(4000), pytest.raises(UserError, match=rf"cannot write {re.escape(str(file))}: .*File too large"):
        write()
    assert file.read_text() == "the old one" and [f.name for f in tmp_path.iterdir()] == [name]
    write()
    assert file.stat().st_size > 4000


# --- a killed build ---------------------------------------------------------------------------------------------------

COMPILE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from pathlib import Path
from mechfmu.codegen.compiler import compile_library
compile_library(Path("."), ["a.c"], Path("a.so"), sys.argv[1], "cc")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
@pytest.mark.parametrize("kill", ("SIGINT", "SIGTERM", "SIGKILL"))
def test_no_compiler_outlives_a_killed_build(tmp_path: Path, kill: str) -> None:
    """Neither the compiler nor what it has started."""
    cc = tmp_path / "cc"
    cc.write_text("#!/bin/sh\nsleep 60 &\necho $$ $! > pids.new\nmv pids.new pids\nwait\n")
    cc.chmod(0o755)
    command, environment = [sys.executable, "-c", COMPILE, host_platform()], os.environ | {"CC": str(cc)}
    build = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    assert within(60, (tmp_path / "pids").exists)
    pids = [int(p) for p in (tmp_path / "pids").read_text().split()]
    try:
        assert all(map(alive, pids))
        build.send_signal(getattr(signal, kill))
        build.wait(30)
        assert within(10, lambda: not any(map(alive, pids)))
    finally:
        for pid in filter(alive, pids):
            os.kill(pid, signal.SIGKILL)


# --- a step with too many evaluations ---------------------------------------------------------------------------------


def test_both_engines_stop_a_long_step_with_the_same_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance, "Budget", lambda of=instance.Budget: of(left=1000))  # Python would take some seconds
    said = []
    for engine in ("casadi", "c"):
        running = make_instance(LinkChain(links=1), {"solver.method": "explicit", "solver.max_step": 1e-6}, engine)
        running.initialize()
        with pytest.raises(IntegrationError) as stopped:
            running.step(0.0, 1.0)
        said.append(re.sub(r"stopped at t = \S+ s", "stopped", str(stopped.value)))
        running.step(0.0, 1e-5)  # it remains usable
    reason = f"the step to t = 1 s stopped: {EVALUATION_LIMIT} evaluations of the equations were not enough"
    assert said[0] == said[1] and reason in said[0]


# --- licences ---------------------------------------------------------------------------------------------------------


def test_the_licences_of_what_is_inside(fmu: Build, kind: str) -> None:
    with zipfile.ZipFile(fmu(links=2)) as archive:
        files = [name for name in archive.namelist() if "/licenses/" in name]
        texts = {name.removeprefix("documentation/licenses/"): archive.read(name).decode() for name in files}
    inside = {"license.txt": "mechfmu.txt", "mechfmu.txt": "BSD 3-Clause", "zig.txt": "Zig contributors"}
    if kind == "python":  # it has libraries for all platforms
        inside |= {"pythonfmu.txt": "MIT License", "mingw-w64.txt": "Zope Public License"}
    assert texts.keys() == inside.keys() and all(word in texts[name] for name, word in inside.items())
    assert all(name in texts["license.txt"] for name in texts if name != "license.txt")


# --- large robots -----------------------------------------------------------------------------------------------------


def test_a_long_list_is_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every body and every variable is on a line of its own, however deep the tree is."""
    n = 120
    inertia = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    links = [f'<link name="l{i}"><inertial>{inertia}</inertial></link>' for i in range(n)]
    joints = [
        f'<joint name="j{i}" type="continuous"><parent link="l{i - 1}"/><child link="l{i}"/></joint>'
        for i in range(1, n)
    ]
    (tmp_path / "chain.urdf").write_text(f'<robot name="chain">{"".join(links + joints)}</robot>')
    assert main(["list", str(tmp_path / "chain.urdf")]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    branches = [[f"l{i - 1}", "-", f"j{i}", "(revolute)", "-", f"l{i},", "1", "kg"] for i in range(2, n)]
    assert all(branch in lines for branch in branches), lines[-5:]
    assert all([f"l{i}.mass", "parameter", "kg", "1"] in [line[:4] for line in lines] for i in range(1, n))
