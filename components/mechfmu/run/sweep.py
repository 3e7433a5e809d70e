"""Many runs of an FMU with different values, on Dask: processes of this machine, or a cluster by the address of its scheduler.

The cases are cut into chunks. Workers compute chunks; whoever started the sweep writes each finished one to a Parquet file of its own. What is on
disk is finished: after an interruption the same command does only the rest. A worker that dies costs nothing but the time for its chunks: in the end
they are made again, one at a time. When one of them kills its worker again it is halved, until the run is found that does so, which is noted.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..engines.files import whole
from ..mechanisms import UserError
from ..packaging.archive import make_folder
from . import runner
from .runner import check_spec, run_chunk, units_of
from .sweep_spec import Spec

FIRST, SECONDS, MOST = 20, 0.3, 1000  # runs in the first chunks; what later ones shall take; runs in any chunk
AHEAD = 3  # chunks per worker under way
PATIENCE = 10  # s, with a scheduler that does not answer
DEATHS = 2  # of workers that had nothing but this run, until it is blamed
MANIFEST = "_sweep.json"  # names with an underscore are no data to whoever reads the folder as one Parquet table

QUIET = {  # Dask's looks at itself, a hundred times a second, which slow workers down
    "distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "1s", "distributed.admin.system-monitor.interval": "10s",
}  # fmt: skip
ANEW = "choose another folder, or begin anew with --restart (in Python restart=True)"

Progress = Callable[[int, int], None]  # told how many runs are done and how many failed


@dataclass(frozen=True)
class SweepResult:
    """`table`: a pyarrow table with a row for each run: run, the varied values, the results, reason (empty unless the run failed)."""

    spec: Spec
    folder: Path

    @property
    def table(self) -> Any:
        from pyarrow import parquet

        return parquet.read_table([str(f) for f in parts(self.folder)]).sort_by("run")

    @property
    def units(self) -> dict[str, str]:
        return dict(json.loads((self.folder / MANIFEST).read_text())["units"])

    def __getitem__(self, name: str) -> np.ndarray:
        return np.asarray(self.table[name])

    def plot(self, file: str | Path | None = None) -> Any:
        """Every result over every varied value."""
        from .sweep_plot import plot_sweep

        return plot_sweep(self, file)


def sweep(
    fmu: str | Path, spec: Spec, folder: str | Path, scheduler: str | None = None, workers: int | None = None, engine: str = "fmu",
    restart: bool = False, progress: Progress = lambda done, failed: None, warn: Callable[[str], None] = lambda text: None,
) -> SweepResult:  # fmt: skip
    """Run all cases that `folder` does not hold yet.

    scheduler   address of a Dask scheduler; None: processes of this machine, `workers` of them (default: one per processor)
    engine      fmu: the FMU as it is; c: the equations of an FMU of ours, compiled by the worker
    restart     forget what the folder holds, even of another sweep
    """
    if engine not in ("fmu", "c"):
        raise UserError(f"engine {engine}: must be fmu or c")
    try:
        import distributed  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise UserError(f'sweeps need Dask and Parquet, but {error.name} is not there: in the checkout  pip install ".[sweep]"') from None
    if workers is not None and workers < 1:
        raise UserError(f"workers {workers}: must be at least 1")
    check_spec(spec, fmu)
    content, target = Path(fmu).read_bytes(), Path(folder)
    make_folder(target)
    _claim(target, spec, spec.identity(content), units_of(fmu), restart)
    cases = spec.cases()
    missing = np.setdiff1d(np.arange(len(cases)), _finished(target))
    failed = _failed(target)
    progress(len(cases) - len(missing), failed)
    if len(missing):
        with _cluster(scheduler, workers) as client:
            for runs, results, reasons in _compute(client, content, engine, spec, cases, missing, warn):
                _write(target, spec, runs, cases[runs], results, reasons)
                failed += sum(map(bool, reasons))
                missing = np.setdiff1d(missing, runs, assume_unique=True)
                progress(len(cases) - len(missing), failed)
    return SweepResult(spec, target)


# --- the folder -----------------------------------------------------------------------------------------------------------


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))


def _claim(folder: Path, spec: Spec, identity: str, units: Mapping[str, str], restart: bool) -> None:
    """The folder belongs to one sweep of one FMU, for its results must not be mixed with others."""
    manifest = folder / MANIFEST
    if restart:
        for file in (*parts(folder), manifest):
            file.unlink(missing_ok=True)
    if manifest.exists():
        try:
            found = json.loads(manifest.read_text())["identity"]
        except (ValueError, KeyError, TypeError):
            raise UserError(f"{manifest} is damaged: {ANEW}") from None
        if found != identity:
            raise UserError(f"{folder} holds the results of another sweep: {ANEW}")
        return
    if parts(folder):
        raise UserError(f"{folder} holds results of unknown origin: {ANEW}")
    with whole(manifest) as file:
        file.write_text(json.dumps({"identity": identity, "runs": spec.runs, "units": {n: units.get(n, "") for n in (*spec.names, *spec.record)}}, indent=1))


def _finished(folder: Path) -> np.ndarray:
    from pyarrow import ArrowInvalid, parquet

    found = []
    for file in parts(folder):
        try:
            found.append(np.asarray(parquet.read_table(file, columns=["run"])["run"]))
        except (ArrowInvalid, OSError, KeyError):
            file.unlink()  # cannot come from us, since parts appear whole; its runs are made again
    return np.concatenate(found) if found else np.zeros(0, dtype=int)


def _failed(folder: Path) -> int:
    from pyarrow import parquet

    return sum(sum(bool(r) for r in parquet.read_table(f, columns=["reason"])["reason"].to_pylist()) for f in parts(folder))


def _write(folder: Path, spec: Spec, runs: np.ndarray, cases: np.ndarray, results: np.ndarray, reasons: Sequence[str]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {"run": runs}
    columns |= dict(zip(spec.names, cases.T, strict=True)) | dict(zip(spec.columns, results.T, strict=True)) | {"reason": list(reasons)}
    with whole(folder / f"part-{runs[0]:09d}-{len(runs)}.parquet") as file:
        parquet.write_table(pa.table(columns), file)


# --- Dask -----------------------------------------------------------------------------------------------------------------


@contextmanager
def _cluster(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """A client of the cluster at this address, or of one made here."""
    import dask
    from distributed import Client, LocalCluster

    if scheduler is None:
        with (
            _main_hidden(),
            dask.config.set(QUIET),
            LocalCluster(
                n_workers=workers or os.cpu_count() or 1,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",
                silence_logs=50,
                memory_limit=0,
                preload=[runner.__name__],
                scheduler_kwargs={"allowed_failures": 0},  # we try again ourselves, with smaller chunks
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise UserError(f"there is no Dask scheduler at {scheduler}: {str(error).splitlines()[0]}") from None
    with client:
        yield client


@contextmanager
def _main_hidden() -> Iterator[None]:
    """New processes do not run the caller's script: workers need nothing of it, and without `if __name__ == "__main__"` it would start a sweep in each."""
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {name: vars(main).pop(name) for name in ("__file__", "__spec__") if name in vars(main)}
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(hidden)


Finished = tuple[np.ndarray, np.ndarray, list[str]]


def _compute(client: Any, content: bytes, engine: str, spec: Spec, cases: np.ndarray, missing: np.ndarray, warn: Callable[[str], None]) -> Iterator[Finished]:
    """Chunks as they are finished: their runs, results and reasons."""
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    def send() -> Any:
        """The FMU, to all workers there are."""
        try:
            return client.scatter([content], broadcast=True)[0]
        except TimeoutError:
            raise UserError("the Dask scheduler has no workers: start some with  dask worker ADDRESS") from None

    fmu = send()
    size, rest = FIRST, missing
    suspects: list[np.ndarray] = []  # chunks whose worker died
    deaths: Counter[int] = Counter()  # by run
    under_way: dict[Any, np.ndarray] = {}
    on_trial: Any = None  # the future of a suspect, which runs alone, so that nobody else can be to blame
    completed = as_completed()

    def submit(runs: np.ndarray) -> Any:
        future = client.submit(run_chunk, fmu, engine, spec, cases[runs], pure=False, key=f"mechfmu-{runs[0]}-{len(runs)}-{time.monotonic_ns()}")
        under_way[future] = runs
        completed.add(future)
        return future

    def submit_more() -> None:
        nonlocal rest, on_trial
        workers = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
        while len(rest) and len(under_way) < AHEAD * workers:
            submit(rest[:size])
            rest = rest[size:]
        if suspects and not under_way:
            on_trial = submit(suspects.pop())

    submit_more()
    for future in completed:
        runs, alone = under_way.pop(future), future is on_trial
        try:
            results, reasons, seconds = future.result()
        except (KilledWorker, CancelledError):  # its worker died, or all did that had the FMU
            fmu = send()
            if alone and len(runs) == 1:
                deaths[int(runs[0])] += 1
            if deaths[int(runs[0])] == DEATHS:
                warn(f"run {runs[0]} ended its process")
                yield runs, np.full((1, len(spec.columns)), np.nan), ["the FMU ended its process"]
            elif alone and len(runs) > 1:
                suspects += np.array_split(runs, 2)
            else:
                suspects.append(runs)
        else:
            size = min(max(round(SECONDS * len(runs) / seconds), 1), MOST)
            yield runs, results, reasons
        future.release()
        submit_more()
