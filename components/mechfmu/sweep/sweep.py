"""Many runs of an FMU with different values, on Dask: processes of this machine, or a cluster by the address of its scheduler.

The cases are cut into chunks. Workers compute chunks, in processes that only make runs (run_process.py), so that an FMU that crashes or hangs costs one run;
whoever started the sweep writes what is finished to Parquet files (sweep_folder.py). What is on disk is finished: after an interruption the same command does
only the rest. A worker of a cluster that dies costs nothing but the time for its chunks, which others make again.
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
from .folder import claim, finished, locked, read_results, units_in, write_part
from .run_process import Job, end_processes, run_chunk
from .runner import check_spec, units_of
from .specification import Spec

FIRST, SECONDS, MOST = 20, 0.3, 1000  # runs in the first chunks; what later ones shall take; runs in any chunk
AHEAD = 3  # chunks per worker under way
PATIENCE = 10  # s, with a scheduler that does not answer or has no workers when the sweep begins
RESTART = 600  # s, until a cluster that lost all its workers has a new one
LOSSES = 5  # of workers that had this run, until it is blamed

QUIET = {  # Dask's looks at itself, a hundred times a second, which slow workers down
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}

Progress = Callable[[int, int], None]  # told how many runs are done and how many failed


@dataclass(frozen=True)
class SweepResult:
    """`table`: a pyarrow table with a row for each run: run, the varied values, the results, reason (empty unless the run failed)."""

    spec: Spec
    folder: Path

    @property
    def table(self) -> Any:
        return read_results(self.folder)

    @property
    def units(self) -> dict[str, str]:
        return units_in(self.folder)

    def __getitem__(self, name: str) -> np.ndarray:
        return np.asarray(self.table[name])

    def plot(self, file: str | Path | None = None) -> Any:
        """Every result over every varied value, and over both where there are two."""
        from .plot import plot_sweep

        return plot_sweep(self, file)


def sweep(
    fmu: str | Path, spec: Spec, folder: str | Path, scheduler: str | None = None, workers: int | None = None, engine: str = "fmu",
    restart: bool = False, progress: Progress = lambda done, failed: None, warn: Callable[[str], None] = lambda text: None,
    timeout: float | None = None,
) -> SweepResult:  # fmt: skip
    """Run all cases that `folder` does not hold yet.

    scheduler   address of a Dask scheduler; None: processes of this machine, `workers` of them (default: one per processor)
    engine      fmu: the FMU as it is; c: the equations of an FMU of ours, compiled by the worker
    restart     forget what the folder holds, even of another sweep
    timeout     s of real time for one run; one that takes longer is ended and recorded as failed
    """
    if engine not in ("fmu", "c"):
        raise UserError(f"engine {engine}: must be fmu or c")
    try:
        import distributed  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise UserError(
            f'sweeps need Dask and Parquet, but {error.name} is not there: in the checkout  pip install ".[sweep]"'
        ) from None
    if workers is not None and workers < 1:
        raise UserError(f"workers {workers}: must be at least 1")
    if timeout is not None and not (math.isfinite(timeout) and timeout > 0):
        raise UserError(f"timeout {timeout:g}: must be greater than 0")
    check_spec(spec, fmu)
    content, target = Path(fmu).read_bytes(), Path(folder)
    make_folder(target)
    with locked(target):
        claim(target, spec, spec.identity(content), units_of(fmu), restart)
        cases = spec.cases()
        runs, failed = finished(target)
        missing = np.setdiff1d(np.arange(len(cases)), runs)
        progress(len(cases) - len(missing), failed)
        if len(missing):
            job = Job(content, engine, spec, timeout)
            with (
                _cluster(scheduler, workers) as client,
                contextlib.closing(_compute(client, job, cases, missing)) as chunks,
            ):
                for runs, results, reasons in chunks:
                    write_part(target, spec, runs, cases[runs], results, reasons)
                    for run, reason in zip(runs, reasons, strict=True):
                        if reason:
                            warn(f"run {run}: {reason}")
                    failed += sum(map(bool, reasons))
                    missing = np.setdiff1d(missing, runs, assume_unique=True)
                    progress(len(cases) - len(missing), failed)
    return SweepResult(spec, target)


# --- Dask -------------------------------------------------------------------------------------------------------------


@contextmanager
def _cluster(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """A client of the cluster at this address, or of one made here: threads of this process, each of which looks after a process that makes runs."""
    import dask
    from distributed import Client, LocalCluster

    if scheduler is None:
        threads = workers or os.cpu_count() or 1
        with (
            dask.config.set(QUIET),
            LocalCluster(
                n_workers=1,
                threads_per_worker=threads,
                processes=False,
                dashboard_address="127.0.0.1:0",
                silence_logs=50,
                memory_limit=0,
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


Finished = tuple[np.ndarray, np.ndarray, list[str]]


def _on_worker(job: Job, cases: np.ndarray) -> tuple[np.ndarray, list[str], float]:
    from distributed import get_worker

    return run_chunk(
        job, cases, get_worker().local_directory
    )  # Dask clears the folder away, also after workers that were killed


def _compute(client: Any, job: Job, cases: np.ndarray, missing: np.ndarray) -> Generator[Finished, None, None]:
    """Chunks as they are finished: their runs, results and reasons."""
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    size, rest = FIRST, missing
    again: list[np.ndarray] = []  # whose worker died
    losses: Counter[int] = Counter()  # of workers, by run
    under_way: dict[Any, np.ndarray] = {}
    completed = as_completed()

    def send(patience: float, otherwise: str) -> Any:
        """The job, to all workers there are."""
        give_up = time.monotonic() + patience
        while True:
            try:
                client.wait_for_workers(1, timeout=max(give_up - time.monotonic(), 0.1))
                return client.scatter([job], broadcast=True, hash=False)[0]
            except (TimeoutError, OSError, ValueError, KeyError):  # no workers, or they leave just now
                if time.monotonic() > give_up:
                    raise UserError(otherwise) from None
            except Exception as error:
                raise UserError(
                    f"the workers do not understand the sweep, perhaps because their mechfmu is another version: {error}"
                ) from None
            time.sleep(0.2)

    def submit(runs: np.ndarray) -> None:
        future = client.submit(
            _on_worker, shared, cases[runs], pure=False, key=f"mechfmu-{runs[0]}-{len(runs)}-{time.monotonic_ns()}"
        )
        under_way[future] = runs
        completed.add(future)

    def submit_more() -> None:
        nonlocal rest
        threads = max(1, sum(w["nthreads"] for w in client.scheduler_info(n_workers=-1)["workers"].values()))
        while (again or len(rest)) and len(under_way) < AHEAD * threads:
            if again:
                submit(again.pop())
            else:
                next_size = min(size, math.ceil(len(rest) / threads))
                submit(rest[:next_size])
                rest = rest[next_size:]

    shared = send(PATIENCE, "the Dask scheduler has no workers: start some with  dask worker ADDRESS")
    try:
        submit_more()
        for future in completed:
            runs = under_way.pop(future)
            try:
                results, reasons, seconds = future.result()
            except (KilledWorker, CancelledError):  # its worker died, or all did that had the job
                shared = send(
                    RESTART,
                    f"the Dask scheduler has had no workers for {RESTART} s; finished runs are kept, the same command goes on",
                )
                losses.update(runs.tolist())
                if len(runs) > 1:
                    again += np.array_split(runs, 2)
                elif losses[int(runs[0])] < LOSSES:
                    again.append(runs)
                else:
                    yield runs, np.full((1, len(job.spec.columns)), np.nan), [f"its worker was lost {LOSSES} times"]
            else:
                size = min(max(round(SECONDS * len(results) / max(seconds, 1e-6)), 1), MOST)
                rest = np.concatenate([runs[len(results) :], rest])  # what took too long for one chunk
                yield runs[: len(results)], results, reasons
            future.release()
            submit_more()
    finally:
        with contextlib.suppress(Exception):  # of a cluster that is gone
            client.run(end_processes, job.token)
