"""Sweeps: the cases, the results of every run, and that nothing is lost when workers, clients or runs fail."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import needs
from helpers.command_line import done, refused
from helpers.sweep_units import NewProcesses
from helpers.tolerances import SOLVER_METHODS
from mechfmu import LinkChain
from mechfmu.fmu.build import build
from mechfmu.model import UserError
from mechfmu.simulation.simulate import simulate_fmu
from mechfmu.sweep import run_process
from mechfmu.sweep.batch_runner import BatchRunner, why_not_batch
from mechfmu.sweep.folder import MANIFEST, RESUME, finished_runs, locked, parts
from mechfmu.sweep.run_process import Job
from mechfmu.sweep.runner import Part, Runner
from mechfmu.sweep.specification import Range, Spec, read_spec
from mechfmu.sweep.sweep import sweep

parquet = needs.module("pyarrow.parquet")

DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="LinkChain" guid="1"><ModelVariables/></fmiModelDescription>"""

SWING = Spec(
    vary={"joint[1].angle_start": Range(-1.0, 1.0), "gravity": Range(1.0, 10.0)},
    record=["tip.x", "energy.kinetic"],
    stop=0.2,
    step=0.02,
    method="latin_hypercube",
    count=450,
    seed=7,
    keep=("final", "max"),
)


@pytest.fixture(scope="session")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs.package("distributed")
    needs.package("pyarrow")
    (file,) = build(LinkChain(links=2), tmp_path_factory.mktemp("swept"))
    return file


@pytest.fixture(scope="session")
def truth(chain: Path) -> np.ndarray:
    """The results of SWING, one run after the other in this process."""
    results, reasons = Runner(chain).chunk(SWING, SWING.cases())
    assert not any(reasons)
    return results


def is_correct(result: Any, truth: np.ndarray, spec: Spec = SWING) -> bool:
    """Whether every run is there once, with its own values and exactly the results of the run in this process."""
    table = result.table
    same = [np.array_equal(np.asarray(table[name]), truth[:, j]) for j, name in enumerate(spec.columns)]
    cases = [np.array_equal(np.asarray(table[name]), spec.cases()[:, j]) for j, name in enumerate(spec.names)]
    return table["run"].to_pylist() == list(range(spec.runs)) and all(same) and all(cases)


# --- one process ------------------------------------------------------------------------------------------------------


def test_a_run_equals_that_of_fmpy(chain: Path) -> None:
    spec = replace(SWING, count=3, keep=("final", "min", "max", "mean"), tolerance=1e-9)
    results, _ = Runner(chain).chunk(spec, spec.cases())
    for case, found in zip(spec.cases(), results, strict=True):
        run = simulate_fmu(chain, spec.stop, spec.step, dict(zip(spec.names, case, strict=True)), tolerance=1e-9)
        expected = [f(run[name]) for name in spec.record for f in (lambda s: s[-1], np.min, np.max, np.mean)]
        assert np.array_equal(found, expected)


def test_an_instance_keeps_nothing_of_the_run_before(chain: Path) -> None:
    cases, runner = SWING.cases()[:20], Runner(chain)
    forwards, _ = runner.chunk(SWING, cases)
    backwards, _ = runner.chunk(SWING, cases[::-1])
    assert np.array_equal(forwards, backwards[::-1])


def test_a_run_equals_that_of_fmpy_when_only_the_end_is_kept_or_only_inputs_vary(chain: Path) -> None:
    varied: dict[str, Any] = {
        "joint[1].torque": [-1.0, 2.0],
        "solver.relative_tolerance": [1e-3, 1e-8],
        "solver.method": ["explicit", "implicit"],
    }
    for name, values in varied.items():
        spec = Spec(vary={name: values}, record=["tip.x"], stop=0.5, step=0.03)
        expected = [simulate_fmu(chain, 0.5, 0.03, {name: v})["tip.x"][-1] for v in values]
        for runner in (Runner(chain), BatchRunner(chain)):
            results, reasons = runner.chunk(spec, spec.cases())
            assert not any(reasons) and results[:, 0].tolist() == expected


def test_a_failed_run_is_recorded_with_its_reason(chain: Path) -> None:
    spec = Spec(vary={"link[1].mass": [1.0, -1.0, 2.0]}, record=["tip.x"], stop=0.2, step=0.02)
    for runner in (Runner(chain), BatchRunner(chain)):
        results, reasons = runner.chunk(spec, spec.cases())
        assert np.isfinite(results[[0, 2]]).all() and np.isnan(results[1]).all()
        assert reasons == ["", "link[1].mass = -1 kg: must be greater than 0", ""]
        assert results[2] == Runner(chain).chunk(spec, spec.cases()[2:])[0]


# --- Dask -------------------------------------------------------------------------------------------------------------


def test_all_runs_and_then_none(chain: Path, truth: np.ndarray, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    result = sweep(chain, SWING, tmp_path, workers=2, progress=lambda *n: told.append(n))
    assert is_correct(result, truth)
    assert parquet.read_table(tmp_path).num_rows == SWING.runs, "other programs read the folder as one table"
    assert told[0] == (0, 0) and told[-1] == (SWING.runs, 0) and [n for n, _ in told] == sorted(n for n, _ in told)
    files = {f: f.stat().st_mtime_ns for f in parts(tmp_path)}
    again: list[tuple[int, int]] = []
    sweep(chain, SWING, tmp_path, workers=2, progress=lambda *n: again.append(n))
    assert again == [(SWING.runs, 0)] and files == {f: f.stat().st_mtime_ns for f in parts(tmp_path)}
    assert result.units == {"joint[1].angle_start": "rad", "gravity": "m/s2", "tip.x": "m", "energy.kinetic": "J"}
    result.plot(tmp_path / "swing.png")
    assert (tmp_path / "swing.png").stat().st_size > 10_000


def test_the_compiled_equations_give_the_same_numbers(chain: Path, truth: np.ndarray, tmp_path: Path) -> None:
    """Start values that were chosen when the FMU was built also hold."""
    assert is_correct(sweep(chain, SWING, tmp_path / "a", workers=1, engine="batch"), truth)
    (heavy,) = build(LinkChain(links=2), tmp_path, start={"link[2].mass": 7.0})
    spec = replace(SWING, count=4)
    a, b = (sweep(heavy, spec, tmp_path / engine, workers=1, engine=engine) for engine in ("fmu", "batch"))
    assert a.table.equals(b.table) and not np.array_equal(a["tip.x:final"], truth[:4, 0])


def test_auto_makes_many_runs_in_lanes_and_says_so(
    chain: Path, truth: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    sweep(chain, replace(SWING, count=4), tmp_path / "few", workers=1, note=said.append)
    assert not said
    monkeypatch.setattr("mechfmu.sweep.sweep.BATCH_RUNS", SWING.runs)
    result = sweep(chain, SWING, tmp_path / "many", workers=2, timeout=60.0, note=said.append)
    assert said == ["batch"] and is_correct(result, truth)
    changed = with_another_code(chain, tmp_path)
    result = sweep(changed, SWING, tmp_path / "other", workers=1, note=said.append)
    assert said[1:] == ["fmu (changed.fmu was built with another version of mechfmu or of the mechanism)"]
    assert is_correct(result, truth)


def with_another_code(fmu: Path, folder: Path) -> Path:
    """A copy of an FMU in which one C file differs."""
    changed = folder / "changed.fmu"
    with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name) + (b"/* */" if name == "sources/solver.c" else b""))
    return changed


def test_auto_leaves_the_solver_of_a_python_fmu_to_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "python.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION)
        archive.writestr("resources/model.json", '{"mechanism": "link_chain", "options": {"links": 2}}')
    assert "a Python FMU rounds differently" in why_not_batch(tmp_path / "python.fmu")


def test_a_worker_without_a_compiler_uses_the_library_of_the_fmu(
    chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_compiler(mechanism: object) -> None:
        raise UserError("there is no C compiler")

    monkeypatch.setattr("mechfmu.sweep.batch_runner.batch_library", no_compiler)
    runner, engine = run_process._make_runner(chain, "auto", tmp_path)
    assert isinstance(runner, Runner) and engine == "fmu (there is no C compiler)"


def test_of_runs_made_at_once_the_one_that_ends_its_process_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_process, "_take", lambda job, folder: FragileProcess())
    monkeypatch.setattr(run_process, "_give_back", lambda job, process: None)
    spec = Spec(vary={"gravity": [float(k) for k in range(10)]}, record=["tip.x"], stop=1.0, step=0.1)
    chunk = run_process.run_chunk(Job(b"", "batch", spec), spec.cases())
    expected = ["the FMU ended its process (SIGSEGV)" if k == 7 else "" for k in range(10)]
    assert chunk.reasons == expected
    assert np.array_equal(chunk.results[:, 0], [np.nan if k == 7 else k for k in range(10)], equal_nan=True)


class FragileProcess:
    """Makes four runs at once; the one with the value 7 kills it."""

    makes_several, engine, exit_status, late, is_late, died = True, "batch", "SIGSEGV", None, False, False

    def runs(self, cases: np.ndarray, alone: bool, seconds: float) -> Iterator[Part]:
        size = 1 if alone else 4
        for first in range(0, len(cases), size):
            part = cases[first : first + size]
            if 7.0 in part:
                self.died = True
                return
            yield part, [""] * len(part)


@pytest.fixture
def killed_while_running() -> Iterator[Callable[[int, int], None]]:
    """A progress function that kills one of the processes that make runs after the first chunk."""
    started, killed = NewProcesses(), []

    def progress(finished: int, failed: int) -> None:
        if finished and not killed:
            killed.append(started.now()[0])
            killed[0].kill()

    yield progress
    assert killed


@pytest.mark.parametrize("engine", ("fmu", "batch"))
def test_a_killed_process_loses_nothing(
    chain: Path, truth: np.ndarray, tmp_path: Path, killed_while_running: Any, engine: str
) -> None:
    result = sweep(chain, SWING, tmp_path, workers=2, engine=engine, progress=killed_while_running)
    assert is_correct(result, truth)


def toml(folder: Path, **changes: str) -> Path:
    text = """
    [run]
    stop = 0.2
    step = 0.02
    record = ["tip.x", "energy.kinetic"]
    keep = ["final", "max"]
    [sample]
    method = "latin_hypercube"
    count = 450
    seed = 7
    [vary]
    "joint[1].angle_start" = {from = -1, to = 1}
    gravity = {from = 1, to = 10}
    """
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    file = folder / "swing.toml"
    file.write_text(text)
    return file


@pytest.mark.skipif(os.name != "posix", reason="needs process groups and their signals")
@pytest.mark.parametrize("how", ("SIGKILL", "SIGINT"))
def test_a_client_that_ended_early_resumes(chain: Path, tmp_path: Path, how: str) -> None:
    spec = read_spec(toml(tmp_path, **{"450": "2000"}))
    command = [sys.executable, "-m", "mechfmu", "sweep", str(chain), "swing.toml", "--workers", "2"]
    process = subprocess.Popen(
        command, cwd=tmp_path, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not parts(tmp_path / "swing_results"):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, getattr(signal, how))  # also the workers, as by Ctrl-C in a terminal
    _, said = process.communicate()
    if how == "SIGINT":
        assert process.returncode == 130
        assert said.startswith("mechfmu sweep: interrupted after") and said.count("\n") == 1
    there = parts(tmp_path / "swing_results")
    assert 0 < parquet.read_table([str(f) for f in there]).num_rows < 2000
    before = {f: f.read_bytes() for f in there}
    done("sweep", chain, "swing.toml", "--plot", "swing.png", folder=tmp_path)
    assert all(f.read_bytes() == content for f, content in before.items())
    results, _ = Runner(chain).chunk(spec, spec.cases())
    table = parquet.read_table([str(f) for f in parts(tmp_path / "swing_results")]).sort_by("run")
    assert table["run"].to_pylist() == list(range(2000))
    assert all(np.array_equal(np.asarray(table[name]), results[:, j]) for j, name in enumerate(spec.columns))


def test_a_cluster_that_loses_its_only_worker_continues_with_a_new_one(
    chain: Path, truth: np.ndarray, tmp_path: Path
) -> None:
    """A scheduler and a worker in processes of their own, as on a cluster; the worker is killed and restarted."""
    address = tmp_path / "address.json"
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path)
    common = ("--scheduler-file", str(address), "--no-dashboard")
    module = (sys.executable, "-m")
    dask = [*module, "distributed.cli.dask_scheduler", *common, "--port", "0", "--host", "127.0.0.1"]
    worker = [*module, "distributed.cli.dask_worker", *common, "--nthreads", "2", "--no-nanny"]
    started = [subprocess.Popen(dask, **quiet)]  # type: ignore[call-overload]
    killed: list[int] = []

    def progress(finished: int, failed: int) -> None:
        if finished and not killed:
            killed.append(finished)
            started[1].kill()
            started[1].wait(20)
            started.append(subprocess.Popen(worker, **quiet))  # type: ignore[call-overload]

    try:
        deadline = time.monotonic() + 60
        while not address.exists():
            assert started[0].poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        started.append(subprocess.Popen(worker, **quiet))  # type: ignore[call-overload]
        scheduler = json.loads(address.read_text())["address"]
        result = sweep(chain, SWING, tmp_path / "results", scheduler=scheduler, progress=progress)
        assert is_correct(result, truth)
        assert 0 < killed[0] < SWING.runs
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(20)


def test_a_scheduler_that_does_not_exist(chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechfmu.sweep.sweep.CONNECT_TIMEOUT", 0.5)
    with pytest.raises(UserError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:1"):
        sweep(chain, SWING, tmp_path, scheduler="tcp://127.0.0.1:1")


# --- the folder -------------------------------------------------------------------------------------------------------


def test_results_of_different_sweeps_are_not_mixed(chain: Path, tmp_path: Path) -> None:
    small = replace(SWING, count=3)
    sweep(chain, small, tmp_path, workers=1)
    with pytest.raises(UserError, match="another sweep"):
        sweep(chain, replace(small, seed=8), tmp_path)
    (other,) = build(LinkChain(links=3), tmp_path)
    with pytest.raises(UserError, match="another sweep"):
        sweep(other, small, tmp_path)
    (tmp_path / MANIFEST).write_text("{")
    with pytest.raises(UserError, match="is damaged"):
        sweep(chain, small, tmp_path)
    (tmp_path / MANIFEST).unlink()
    with pytest.raises(UserError, match="unknown origin"):
        sweep(chain, small, tmp_path)
    assert sweep(other, small, tmp_path, workers=1, restart=True).table.num_rows == 3


def test_damaged_parts_are_found_and_only_they_are_made_again(chain: Path, truth: np.ndarray, tmp_path: Path) -> None:
    """One that is not Parquet, and one that is, with a changed number."""
    result = sweep(chain, SWING, tmp_path, workers=1)
    cut, changed, *good = parts(tmp_path)
    before = {f: f.stat().st_mtime_ns for f in good}
    cut.write_bytes(cut.read_bytes()[:-10])
    table = parquet.read_table(changed)
    name = "tip.x:max"
    wrong = table.set_column(table.column_names.index(name), name, [np.asarray(table[name]) + 1e-12])
    parquet.write_table(wrong.replace_schema_metadata(table.schema.metadata), changed)
    with pytest.raises(UserError, match=r"is damaged.*the same sweep makes its runs again"):
        result.table  # noqa: B018
    assert is_correct(sweep(chain, SWING, tmp_path, workers=1), truth)
    assert before == {f: f.stat().st_mtime_ns for f in good}


def test_a_part_that_cannot_be_read_is_left_alone(chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(SWING, count=3)
    sweep(chain, small, tmp_path, workers=1)
    (part,) = parts(tmp_path)
    real = Path.read_bytes

    def stale(path: Path) -> bytes:
        if path == part:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", stale)
    with pytest.raises(UserError, match=f"cannot read {part}: Stale file handle"):
        sweep(chain, small, tmp_path, workers=1)
    assert part.exists()


def test_two_sweeps_do_not_share_a_folder(chain: Path, tmp_path: Path) -> None:
    small = replace(SWING, count=3)
    with (
        locked(tmp_path),
        pytest.raises(UserError, match=f"another sweep is writing into {tmp_path} \\(process {os.getpid()} on "),
    ):
        sweep(chain, small, tmp_path, restart=True)
    assert sweep(chain, small, tmp_path, workers=1).table.num_rows == 3


def test_a_full_disk_ends_in_one_line_and_loses_nothing(chain: Path, truth: np.ndarray, tmp_path: Path) -> None:
    """A limit for the size of files stands for the disk."""
    resource = pytest.importorskip("resource")
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]

    def progress(finished: int, failed: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100 if finished else hard, hard))

    try:
        with pytest.raises(UserError, match=f"cannot write into the folder {tmp_path}: File too large; {RESUME}"):
            sweep(chain, SWING, tmp_path, workers=1, progress=progress)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert 0 < len(finished_runs(tmp_path)[0]) < SWING.runs and not list(tmp_path.glob(".part*"))
    assert is_correct(sweep(chain, SWING, tmp_path, workers=1), truth)


# --- descriptions -----------------------------------------------------------------------------------------------------


def test_a_description_in_a_file(tmp_path: Path) -> None:
    assert read_spec(toml(tmp_path)) == replace(SWING, record=list(SWING.record), keep=list(SWING.keep))


def test_a_grid_has_every_combination() -> None:
    vary = {"a": [1.0, 2.0], "b": Range(0.0, 1.0, 3), "c": Range(1.0, 100.0, 3, log=True)}
    spec = replace(SWING, method="grid", count=0, vary=vary)
    assert spec.runs == 18
    cases = spec.cases()
    assert {tuple(np.round(c, 12)) for c in cases} == {
        (a, b, c) for a in (1.0, 2.0) for b in (0.0, 0.5, 1.0) for c in (1.0, 10.0, 100.0)
    }


@pytest.mark.parametrize("method", ("random", "latin_hypercube"))
def test_random_cases_depend_on_the_seed_alone(method: str) -> None:
    vary = {"a": Range(1.0, 3.0), "b": Range(1e-3, 1.0, log=True), "c": [5.0, 6.0]}
    spec = replace(SWING, method=method, count=200, vary=vary)
    cases = spec.cases()
    assert np.array_equal(cases, spec.cases()) and not np.array_equal(cases, replace(spec, seed=8).cases())
    assert cases[:, 0].min() >= 1 and cases[:, 0].max() <= 3 and set(cases[:, 2]) == {5.0, 6.0}
    assert abs(np.mean(np.log10(cases[:, 1])) + 1.5) < 0.2
    if method == "latin_hypercube":  # one value in each of 200 equal layers
        assert sorted(np.floor((cases[:, 0] - 1) * 100)) == list(range(200))


def test_cases_from_a_table(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("gravity,joint[1].angle_start\n1.62,0.5\n9.81,-0.5\n")
    file = tmp_path / "moon.toml"
    file.write_text('[run]\nstop = 1\nrecord = ["tip.x"]\n[sample]\nmethod = "csv"\nfile = "cases.csv"\n')
    spec = read_spec(file)
    assert spec.names == ["gravity", "joint[1].angle_start"] and spec.step == 0.01
    assert spec.cases().tolist() == [[1.62, 0.5], [9.81, -0.5]]
    (tmp_path / "cases.csv").write_text("gravity,joint[1].angle_start\n1.62,0.5\n9.81,half\n")
    with pytest.raises(UserError, match=r"line 3, joint\[1\].angle_start: half is not a number"):
        read_spec(file)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    (
        ("stop = 0.2", "", "[run] needs stop"),
        ("stop = 0.2", 'stop = "soon"', "stop = soon: must be a number"),
        ("stop = 0.2", "stop = 0.2\nsteps = 3", "[run] has no steps; it has: stop, step"),
        ("[sample]", "[samples]", "unknown section [samples]"),
        ("latin_hypercube", "sobol", "method sobol: must be one of grid, random"),
        ("latin_hypercube", "grid", "needs a count of at least 2"),
        ("latin_hypercube", "csv", "belong together"),
        ("count = 450", "", "needs the number of runs"),
        ("count = 450", "count = 1000000000", "at most 100000000 are allowed"),
        ('"max"]', '"median"]', "keep median: must be one of final, min, max, mean"),
        ("{from = 1, to = 10}", "{from = 1}", "must be a list of values or {from"),
        ("{from = 1, to = 10}", '{from = 1, to = 2, scale = "cubic"}', "scale cubic: must be linear or log"),
        ("{from = 1, to = 10}", '{from = 0, to = 2, scale = "log"}', "must be positive"),
        ("{from = 1, to = 10}", "{from = 1, to = inf}", "must be finite"),
        ("{from = 1, to = 10}", '["one", 2]', "must be finite numbers, or all of them texts"),
        ("[vary]", "[set]\ngravity = 1\n[vary]", "gravity is both set and varied"),
        ("stop = 0.2", "stop = ", "is not valid TOML"),
    ),
)
def test_mistakes_in_a_description(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read_spec(toml(tmp_path, **{old: new}))
    assert message in str(caught.value) and "swing.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    (
        (dict(record=["tip.z"]), "has no variable tip.z; did you mean tip"),
        (dict(vary={"gravty": [1.0]}, method="grid"), "has no variable gravty; did you mean gravity"),
        (dict(vary={"tip.x": [1.0]}, method="grid"), "tip.x cannot be set: it is computed"),
        (dict(set={"solver.method": "magic"}), "must be one of explicit, implicit, automatic"),
        (dict(vary={"solver.method": [1.5]}, method="grid"), "must be a whole number"),
        (dict(stop=-1.0), "must be after the start time"),
        (dict(step=0.0), "must be greater than 0"),
    ),
)
def test_sweeps_that_do_not_fit_the_fmu(chain: Path, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        sweep(chain, replace(SWING, **change), tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_whole_numbers_and_choices_can_vary(chain: Path) -> None:
    accurate = {"solver.relative_tolerance": 1e-9}
    spec = Spec(vary={"solver.method": [1.0, 2.0]}, record=["tip.x"], stop=0.2, step=0.02, set=accurate)
    results, reasons = Runner(chain).chunk(spec, spec.cases())
    assert not any(reasons) and 0 < abs(results[0, 0] - results[1, 0]) < SOLVER_METHODS


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_tells_what_failed(chain: Path, tmp_path: Path) -> None:
    (tmp_path / "mass.toml").write_text('[run]\nstop = 0.1\nrecord = ["tip.x"]\n[vary]\n"link[1].mass" = [-1, 1]\n')
    told = done("sweep", chain, "mass.toml", "--workers", 1, "-o", "results", folder=tmp_path)
    assert "2 runs in results, 1 of them failed" in told and "link[1].mass" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    (
        (("none.fmu", "swing.toml"), ("no file none.fmu",)),
        (("swing.toml", "swing.toml"), ("is not an FMU",)),
        (("CHAIN", "none.toml"), ("cannot read none.toml",)),
        (("CHAIN", "swing.toml", "--engine", "gpu"), ("engine gpu: must be auto, fmu or batch",)),
        (("CHAIN", "tables.toml", "--engine", "batch"), ("engine batch: it has no tables of inputs",)),
        (("CHAIN", "swing.toml", "--workers", "0"), ("workers 0: must be at least 1",)),
        (("CHAIN", "swing.toml", "--timeout", "-1"), ("timeout -1: must be greater than 0",)),
        (("CHAIN", "swing.toml", "--plot", "a.bmp"), ("must end in",)),
    ),
)
def test_mistakes_in_commands(chain: Path, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    toml(tmp_path)
    (tmp_path / "drive.csv").write_text("time,joint[1].torque\n0,0\n1,1\n")
    (tmp_path / "tables.toml").write_text('[run]\nstop = 1\nrecord = ["tip.x"]\ninputs = "drive.csv"\n')
    refused("sweep", *(chain if a == "CHAIN" else a for a in arguments), folder=tmp_path, words=words)
