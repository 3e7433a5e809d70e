"""Many runs of an FMU with different values, on Dask: on this computer, or on a cluster by its scheduler's address.

The cases are cut into chunks. Workers compute chunks in processes that only make runs (run_process.py), so that an FMU
that crashes or hangs costs one run; the process that started the sweep writes finished runs to Parquet files
(folder.py). After an interruption the same command computes only the runs that are not on disk. When a worker of a
cluster dies, others compute its chunks again.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..fmu.archive import make_folder
from ..model import UserError
from ..model.extras import require
from .folder import RESUME, claim_folder, finished_runs, locked, read_results, units_in, write_part
from .run_process import Chunk, Job, end_processes, run_chunk
from .runner import check_spec, units_of
from .specification import Spec

FIRST_CHUNK, LARGEST_CHUNK = 20, 1000  # runs
CHUNK_SECONDS = 0.3  # the aimed duration of a chunk
CHUNKS_AHEAD = 3  # per worker, submitted before they are needed
CONNECT_TIMEOUT = 10  # s, for a scheduler to answer and to have workers when the sweep begins
RESTART_TIMEOUT = 600  # s, until a cluster that lost all its workers has a new one
BATCH_RUNS = 5000  # from which on the engine auto compiles for SIMD lanes, which may take longer than fewer runs
MAX_LOSSES = 5  # of workers that had this run, until the run is recorded as failed

DASK_SETTINGS = {  # Dask's monitoring of itself, a hundred times a second, slows workers down
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}

Progress = Callable[[int, int], None]  # called with how many runs are done and how many of them failed


@dataclass(frozen=True)
class SweepResult:
    """The results of a sweep: `result["tip.x"]` has a value for each run."""

    spec: Spec
    folder: Path

    @property
    def table(self) -> Any:
        """A pyarrow table with a row for each run: `run`, the varied values, the results, and `reason` of a failure."""
        return read_results(self.folder)

    @property
    def units(self) -> dict[str, str]:
        """The units of the columns."""
        return units_in(self.folder)

    def __getitem__(self, name: str) -> np.ndarray:
        return np.asarray(self.table[name])

    def plot(self, file: str | Path | None = None) -> Any:
        """Draw every result over every varied value, and over both where there are two; into a file, or return it."""
        from .plot import plot_sweep

        return plot_sweep(self, file)


def sweep(
    fmu: str | Path,
    spec: Spec,
    folder: str | Path,
    scheduler: str | None = None,
    workers: int | None = None,
    engine: str = "auto",
    restart: bool = False,
    progress: Progress = lambda done, failed: None,
    warn: Callable[[str], None] = lambda text: None,
    timeout: float | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> SweepResult:
    """Run all cases of a sweep whose results are not in a folder yet; return the results of all.

    fmu         the file
    spec        what varies, and what is kept
    folder      where the results are; a sweep that was interrupted continues there
    scheduler   address of a Dask scheduler; None: processes on this computer
    workers     number of these processes; default: one per processor
    engine      fmu: the FMU's own library, one run after the other; batch: the equations of an FMU that mechfmu built,
                compiled by the workers, several runs at once in SIMD lanes; auto: batch for many runs of an FMU whose
                own library gives the same numbers, to the last bit
    restart     delete what the folder holds, even of another sweep
    timeout     s of real time for one run; a run that takes longer is ended and recorded as failed
    note        called with the engine that auto has chosen, and why
    """
    _check_arguments(workers, engine, timeout, spec)
    check_spec(spec, fmu)
    content, target = Path(fmu).read_bytes(), Path(folder)
    make_folder(target)
    with locked(target):
        claim_folder(target, spec, spec.identity(content), units_of(fmu), restart)
        cases = spec.cases()
        runs, failed = finished_runs(target)
        missing = np.setdiff1d(np.arange(len(cases)), runs)
        progress(len(cases) - len(missing), failed)
        if len(missing):
            if engine == "auto" and (spec.inputs or len(missing) < BATCH_RUNS):
                engine = "fmu"
            job = Job(content, engine, spec, timeout, Path(fmu).name)
            with (
                _cluster(scheduler, workers) as client,
                contextlib.closing(Dispatcher(client, job, cases, missing).chunks()) as chunks,
            ):
                noted = {""}
                for runs, chunk in chunks:
                    results, reasons = chunk.results, chunk.reasons
                    write_part(target, spec, runs, cases[runs], results, reasons)
                    for run, reason in zip(runs, reasons, strict=True):
                        if reason:
                            warn(f"run {run}: {reason}")
                    if chunk.engine not in noted:
                        noted.add(chunk.engine)
                        note(chunk.engine)
                    failed += sum(map(bool, reasons))
                    missing = np.setdiff1d(missing, runs, assume_unique=True)
                    progress(len(cases) - len(missing), failed)
    return SweepResult(spec, target)


def _check_arguments(workers: int | None, engine: str, timeout: float | None, spec: Spec) -> None:
    if engine not in ("auto", "fmu", "batch"):
        raise UserError(f"engine {engine}: must be auto, fmu or batch")
    if engine == "batch" and spec.inputs:
        raise UserError("engine batch: it has no tables of inputs over time; use the engine fmu")
    require("distributed", "pyarrow")
    if workers is not None and workers < 1:
        raise UserError(f"workers {workers}: must be at least 1")
    if timeout is not None and not (math.isfinite(timeout) and timeout > 0):
        raise UserError(f"timeout {timeout:g}: must be greater than 0")


# --- Dask -------------------------------------------------------------------------------------------------------------


@contextmanager
def _cluster(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """A client of the cluster at this address, or of a local one: threads that each control a process for runs."""
    import dask
    from distributed import Client, LocalCluster

    if scheduler is None:
        settings = {"processes": False, "dashboard_address": "127.0.0.1:0", "silence_logs": 50, "memory_limit": 0}
        threads = workers or os.cpu_count() or 1
        with (
            dask.config.set(DASK_SETTINGS),
            LocalCluster(n_workers=1, threads_per_worker=threads, **settings) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=CONNECT_TIMEOUT)
    except (OSError, ValueError) as error:
        raise UserError(f"there is no Dask scheduler at {scheduler}: {str(error).splitlines()[0]}") from None
    with client:
        yield client


def _run_on_worker(job: Job, cases: np.ndarray) -> Chunk:
    from distributed import get_worker

    return run_chunk(job, cases, get_worker().local_directory)  # Dask also removes the folders of killed workers


FinishedRuns = tuple[np.ndarray, Chunk]  # their numbers, and their results


class Dispatcher:
    """Submits the missing runs in chunks and collects the results."""

    def __init__(self, client: Any, job: Job, cases: np.ndarray, missing: np.ndarray):
        from distributed import as_completed

        self.client, self.job, self.cases = client, job, cases
        self._rest, self._size = missing, FIRST_CHUNK
        self._to_retry: list[np.ndarray] = []  # chunks whose worker died
        self._losses: Counter[int] = Counter()  # of workers, by run
        self._submitted: dict[Any, np.ndarray] = {}
        self._completed = as_completed()
        self._shared: Any = None  # the job on the workers

    def chunks(self) -> Generator[FinishedRuns, None, None]:
        """Chunks as they are finished."""
        from distributed.scheduler import KilledWorker

        self._share_job(CONNECT_TIMEOUT, "the Dask scheduler has no workers: start some with  dask worker ADDRESS")
        try:
            self._submit_more()
            for future in self._completed:
                runs = self._submitted.pop(future)
                try:
                    chunk = future.result()
                except (KilledWorker, CancelledError):  # its worker died, or all that had the job
                    yield from self._retry_lost_runs(runs)
                else:
                    finished = len(chunk.results)
                    wanted = round(CHUNK_SECONDS * finished / max(chunk.seconds, 1e-6))
                    self._size = min(max(wanted, 1), LARGEST_CHUNK)
                    self._rest = np.concatenate([runs[finished:], self._rest])  # of a chunk that took too long
                    yield runs[:finished], chunk
                future.release()
                self._submit_more()
        finally:
            with contextlib.suppress(Exception):  # of a cluster that has ended
                self.client.run(end_processes, self.job.token)

    def _share_job(self, timeout: float, otherwise: str) -> None:
        """Send the job to all workers."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                self.client.wait_for_workers(1, timeout=max(deadline - time.monotonic(), 0.1))
                self._shared = self.client.scatter([self.job], broadcast=True, hash=False)[0]
                return
            except (TimeoutError, OSError, ValueError, KeyError):  # no workers, or they are leaving
                if time.monotonic() > deadline:
                    raise UserError(otherwise) from None
            except Exception as error:
                reason = f"perhaps because their version of mechfmu differs: {error}"
                raise UserError(f"the workers cannot read the sweep, {reason}") from None
            time.sleep(0.2)

    def _submit_more(self) -> None:
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        threads = max(1, sum(w["nthreads"] for w in workers))
        while (self._to_retry or len(self._rest)) and len(self._submitted) < CHUNKS_AHEAD * threads:
            if self._to_retry:
                self._submit(self._to_retry.pop())
            else:
                size = min(self._size, math.ceil(len(self._rest) / threads))
                self._submit(self._rest[:size])
                self._rest = self._rest[size:]

    def _submit(self, runs: np.ndarray) -> None:
        key = f"mechfmu-{runs[0]}-{len(runs)}-{time.monotonic_ns()}"
        future = self.client.submit(_run_on_worker, self._shared, self.cases[runs], pure=False, key=key)
        self._submitted[future] = runs
        self._completed.add(future)

    def _retry_lost_runs(self, runs: np.ndarray) -> Iterator[FinishedRuns]:
        """After the loss of a worker: retry its runs in smaller chunks; after MAX_LOSSES losses a run has failed."""
        self._share_job(RESTART_TIMEOUT, f"the Dask scheduler has had no workers for {RESTART_TIMEOUT} s; {RESUME}")
        self._losses.update(runs.tolist())
        if len(runs) > 1:
            self._to_retry += np.array_split(runs, 2)
        elif self._losses[int(runs[0])] < MAX_LOSSES:
            self._to_retry.append(runs)
        else:
            nothing = np.full((1, len(self.job.spec.columns)), np.nan)
            yield runs, Chunk(nothing, [f"its worker was lost {MAX_LOSSES} times"], 0.0, "")
