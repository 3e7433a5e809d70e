"""Runs of an FMU in processes of their own, so that an FMU that crashes, exits or hangs does not harm other runs.

A worker keeps such processes and sends them cases. Each answers run by run:

    worker -> process   (file of the FMU, folder to unpack it in, engine, spec), then repeatedly (cases, alone, seconds)
    process -> worker   (READY, several, engine) or (ERROR, message), then (results, reasons) of the next runs, and END
                        or LAST

It sends END early when the seconds are over, and LAST when the FMU allows one run per process; the worker then sends
the rest again, in the second case to another process. When the process exits unexpectedly, the run in progress is
the first one that it has not answered. A process that makes several runs at once is told to make each alone then.
"""

from __future__ import annotations

import os
import queue
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import UserError
from ..simulation import fmu_process
from ..simulation.fmu_process import FmuProcess, connect_to_parent
from .runner import Part, Runner
from .specification import Spec

if TYPE_CHECKING:
    from .batch_runner import BatchRunner

READY, ERROR, END, LAST = "ready", "error", "end", "last"
DEATHS = 2  # of processes with this run, until it is blamed: something else may have killed the first one
STARTS = 3  # of a process that ends before it is ready
IDLE = 600  # s without work until a process ends itself
CHUNK_SECONDS = 2.0  # after which a chunk is returned, finished or not: little is lost and all workers are busy


@dataclass(frozen=True)
class Job:
    """What all runs of a sweep have in common; the FMU as bytes, because the worker may be on another machine.

    timeout    s, the limit for one run; None: no limit
    name       of the FMU's file, for messages
    """

    content: bytes
    engine: str
    spec: Spec
    timeout: float | None = None
    name: str = "swept.fmu"
    token: str = field(default_factory=lambda: uuid.uuid4().hex)


@dataclass(frozen=True)
class Chunk:
    """The first runs of those that were wanted."""

    results: np.ndarray  # one row each
    reasons: list[str]  # why they failed, empty if they did not
    seconds: float  # that they took
    engine: str  # which engine made them, and why, if that was to be found out


# --- the worker -------------------------------------------------------------------------------------------------------


class RunProcess:
    """A process that makes runs, as seen by its worker."""

    def __init__(self, job: Job, folder: str | None):
        self.folder = Path(tempfile.mkdtemp(prefix="mechfmu-", dir=folder))
        self.timeout = job.timeout
        self.died = False
        self.late: int | None = None  # number of the answer that took too long
        self._watched: tuple[int, float] | None = None  # number of the next answer, and when it must have come
        self._count = 0
        self._usable = True
        self._closed = threading.Event()
        self._process = FmuProcess(__name__, own_session=True)
        try:
            file = self.folder / job.name
            file.write_bytes(job.content)
            self._process.send((str(file), str(self.folder / "fmu"), job.engine, job.spec))
            answer = self._process.receive()
        except BaseException:
            self.close()
            raise
        if answer is None or answer[0] == ERROR:
            self.close()
            raise EOFError(self.exit_status) if answer is None else UserError(answer[1])
        _, self.makes_several, self.engine = answer
        if self.timeout is not None:
            threading.Thread(target=self._watch, daemon=True).start()

    def runs(self, cases: np.ndarray, alone: bool, seconds: float) -> Iterator[Part]:
        """The answers, as long as they come. When there are fewer than cases, `died` and `is_late` are the reason."""
        self._await_answer()
        self._process.send((cases, alone, seconds))
        while (answer := self._process.receive()) is not None and answer not in (END, LAST):
            self._await_answer()
            yield answer
        self._watched = None
        self.died, self._usable = answer is None, answer == END

    @property
    def alive(self) -> bool:
        return self._usable and not self._closed.is_set() and self._process.process.poll() is None

    @property
    def is_late(self) -> bool:
        """Whether the process was ended because an answer did not come."""
        return self.late == self._count

    @property
    def exit_status(self) -> str:
        return self._process.exit_status

    def close(self) -> None:
        """End the process and all that it started, and remove its folder."""
        self._closed.set()
        self._process.kill()
        self._process.process.wait()
        self._process.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _await_answer(self) -> None:
        self._count += 1
        if self.timeout is not None:
            self._watched = self._count, time.monotonic() + self.timeout

    def _watch(self) -> None:
        assert self.timeout is not None
        while not self._closed.wait(min(self.timeout / 10, 0.2)):
            if (watched := self._watched) and time.monotonic() > watched[1]:
                self.late = watched[0]
                return self._process.kill()


_idle: dict[str, list[RunProcess]] = {}  # processes of this worker that wait for work, by the token of their sweep
_busy: dict[str, list[RunProcess]] = {}
_ended: set[str] = set()
_lock = threading.Lock()


def run_chunk(job: Job, cases: np.ndarray, folder: str | None = None) -> Chunk:
    """Make the runs of the first cases: all of them unless they take long."""
    rows: list[np.ndarray] = []
    reasons: list[str] = []
    deaths, seconds, alone, engine = 0, 0.0, False, ""
    while len(rows) < len(cases) and (not rows or seconds < CHUNK_SECONDS):
        process, began = _take(job, folder), time.monotonic()
        for results, told in process.runs(cases[len(rows) :], alone, CHUNK_SECONDS - seconds):
            rows.extend(results)
            reasons.extend(told)
            deaths = 0
        seconds += time.monotonic() - began
        engine = process.engine
        _give_back(job, process)
        if not process.died or len(rows) == len(cases):
            continue
        if process.makes_several and not alone:
            alone = True  # which run it was shows when each is made alone
            continue
        blame = ""
        if process.is_late:
            blame = f"the run took longer than {job.timeout:g} s"
        elif process.late is None:
            deaths += 1
            if deaths == DEATHS:
                blame = f"the FMU ended its process ({process.exit_status})"
        if blame:
            rows.append(np.full(len(job.spec.columns), np.nan))
            reasons.append(blame)
            deaths = 0
    return Chunk(np.array(rows), reasons, seconds, engine)


def _take(job: Job, folder: str | None) -> RunProcess:
    with _lock:
        waiting = _idle.get(job.token)
        process = waiting.pop() if waiting else None
    if process is not None and process.alive:
        found = process
    else:
        if process is not None:
            process.close()
        found = _start(job, folder)
    with _lock:
        if job.token in _ended:
            found.close()
            raise RuntimeError("the sweep has ended")
        _busy.setdefault(job.token, []).append(found)
    return found


def _start(job: Job, folder: str | None) -> RunProcess:
    for attempt in range(1, STARTS + 1):
        try:
            return RunProcess(job, folder)
        except EOFError as error:
            if attempt == STARTS:
                raise UserError(f"a process for the runs cannot start: {error}") from None
        except OSError as error:
            raise UserError(f"a process for the runs cannot start: {error.strerror or error}") from None
    raise AssertionError


def _give_back(job: Job, process: RunProcess) -> None:
    """Keep a process that still runs; close one that does not."""
    alive = process.alive
    with _lock:
        if process in (busy := _busy.get(job.token, [])):
            busy.remove(process)
        if alive and job.token not in _ended:
            _idle.setdefault(job.token, []).append(process)
            return
    process.close()


def end_processes(token: str) -> None:
    """End all processes of a sweep in this worker."""
    with _lock:
        _ended.add(token)
        ended = [*_idle.pop(token, []), *_busy.pop(token, [])]
    for process in ended:
        process.close()


# --- the process ------------------------------------------------------------------------------------------------------


def serve() -> None:
    """Make runs until the worker ends."""
    receive, answer = connect_to_parent()
    requests: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=_listen, args=(receive, requests), daemon=True).start()
    file, folder, engine, spec = requests.get()
    try:
        runner, told = _make_runner(Path(file), engine, Path(folder))
    except UserError as error:
        return answer((ERROR, str(error)))
    except Exception as error:
        return answer((ERROR, f"the FMU cannot be loaded: {error}"))
    answer((READY, not isinstance(runner, Runner), told))
    while True:
        try:
            cases, alone, seconds = requests.get(timeout=IDLE)
        except queue.Empty:
            return
        until = time.monotonic() + seconds
        for result in runner.runs(spec, cases, alone):
            answer(result)
            if runner.once_per_process or time.monotonic() > until:
                break
        answer(LAST if runner.once_per_process else END)


def _make_runner(file: Path, engine: str, folder: Path) -> tuple[Runner | BatchRunner, str]:
    """Return what makes the runs, and with the engine auto which engine it is, and why."""
    if engine == "fmu":
        return Runner(file, folder), ""
    from .batch_runner import BatchRunner, why_not_batch  # takes as long to import as all the rest

    if engine == "batch":
        return BatchRunner(file), ""
    try:
        if not (reason := why_not_batch(file)):
            return BatchRunner(file), "batch"
    except UserError as error:
        reason = str(error)
    except Exception as error:  # the user's model may be under construction
        reason = f"the mechanism cannot be loaded: {type(error).__name__}: {error}"
    return Runner(file, folder), f"fmu ({reason})"


def _listen(receive: Callable[[], Any], requests: queue.Queue[Any]) -> None:
    """Take requests; this process ends with its worker, whatever the FMU does."""
    while (request := receive()) is not fmu_process.END:
        requests.put(request)
    os._exit(0)
