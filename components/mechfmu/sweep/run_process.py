"""Runs of an FMU in a process of their own, so that an FMU that crashes, exits or hangs harms nobody else.

A worker keeps such processes and hands them cases. Each answers run by run:

    worker -> process   (file of the FMU, folder to unpack it in, engine, spec)      then any number of times: (cases, seconds)
    process -> worker   READY or (REFUSED, message)                                  (row of results, reason) for each run, then END or LAST

It sends END early when the seconds are over, and LAST when the FMU allows one run per process; the worker then sends the rest again, in the second case to
another process. When the process ends unasked, the run it was busy with is the one it has not answered.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..model import UserError
from .specification import Spec

READY, REFUSED, END, LAST = "ready", "refused", "end", "last"
DEATHS = 2  # of processes with this run, until it is blamed: something else may have killed the first one
STARTS = 3  # of a process that ends before it is ready
ENDING = 5.0  # s, from the end of its answers to the end of a process
IDLE = 600  # s without work until a process ends itself
CHUNK_SECONDS = (
    2.0  # after which a chunk is handed back, finished or not, so that little is lost and all workers are busy
)


@dataclass(frozen=True)
class Job:
    """What all runs of a sweep have in common; the FMU comes as bytes, because the worker may be on another machine.

    timeout    s, the limit for one run; None: no limit
    """

    content: bytes
    engine: str
    spec: Spec
    timeout: float | None = None
    token: str = field(default_factory=lambda: uuid.uuid4().hex)


Answer = tuple[np.ndarray, str]


# --- the worker -------------------------------------------------------------------------------------------------------------


class RunProcess:
    """A process that makes runs, seen by its worker."""

    def __init__(self, job: Job, folder: str | None):
        self.folder = Path(tempfile.mkdtemp(prefix="mechfmu-", dir=folder))
        self.timeout = job.timeout
        self.died = False
        self.late: int | None = None  # number of the run that took too long
        self._watched: tuple[int, float] | None = None  # number of the run under way, and when it must have ended
        self._count = 0
        self._usable = True
        self._closed = threading.Event()
        start = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self.process.stdin and self.process.stdout
        self._out, self._in = self.process.stdin, self.process.stdout
        try:
            file = self.folder / "swept.fmu"
            file.write_bytes(job.content)
            self._send((str(file), str(self.folder / "fmu"), job.engine, job.spec))
            answer = self._receive()
        except BaseException:
            self.close()
            raise
        if answer is None or answer[0] == REFUSED:
            self.close()
            raise EOFError(how_it_ended(self.process.returncode)) if answer is None else UserError(answer[1])
        if self.timeout is not None:
            threading.Thread(target=self._watch, daemon=True).start()

    def runs(self, cases: np.ndarray, seconds: float) -> Iterator[Answer]:
        """The answers, as long as they come. When there are fewer than cases, `died` and `is_late` tell why."""
        self._expect()
        self._send((cases, seconds))
        while (answer := self._receive()) is not None and answer not in (END, LAST):
            self._expect()
            yield answer
        self._watched = None
        self.died, self._usable = answer is None, answer == END

    @property
    def alive(self) -> bool:
        return self._usable and not self._closed.is_set() and self.process.poll() is None

    @property
    def is_late(self) -> bool:
        """Whether the process was ended because of the run that it has not answered."""
        return self.late == self._count

    def close(self) -> None:
        """End the process and all that it started, and remove its folder."""
        self._closed.set()
        self._kill()
        self.process.wait()
        for wire in (self._out, self._in):
            with contextlib.suppress(OSError):
                wire.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _kill(self) -> None:
        if self.process.returncode is None:  # not asked anew: what an ended process started may still run
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL) if os.name == "posix" else self.process.kill()

    def _expect(self) -> None:
        """The next run begins."""
        self._count += 1
        if self.timeout is not None:
            self._watched = self._count, time.monotonic() + self.timeout

    def _watch(self) -> None:
        assert self.timeout is not None
        while not self._closed.wait(min(self.timeout / 10, 0.2)):
            if (watched := self._watched) and time.monotonic() > watched[1]:
                self.late = watched[0]
                return self._kill()

    def _send(self, message: Any) -> None:
        with contextlib.suppress(OSError):  # of a process that has ended, which whoever receives finds out
            pickle.dump(message, self._out)
            self._out.flush()

    def _receive(self) -> Any:
        """The next message, None when the process has ended."""
        try:
            return pickle.load(self._in)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(ENDING)
            self._kill()
            self.process.wait()
            return None


def how_it_ended(status: int | None) -> str:
    """An exit status in words."""
    if status is None or status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


_idle: dict[str, list[RunProcess]] = {}  # processes of this worker that wait for work, by the token of their sweep
_busy: dict[str, list[RunProcess]] = {}
_ended: set[str] = set()
_lock = threading.Lock()


def run_chunk(job: Job, cases: np.ndarray, folder: str | None = None) -> tuple[np.ndarray, list[str], float]:
    """What a worker does: the results and reasons of the first cases, of all of them unless they take long, and how many seconds they took."""
    rows: list[np.ndarray] = []
    reasons: list[str] = []
    deaths, seconds = 0, 0.0
    while len(rows) < len(cases) and (not rows or seconds < CHUNK_SECONDS):
        process, began = _take(job, folder), time.monotonic()
        for row, reason in process.runs(cases[len(rows) :], CHUNK_SECONDS - seconds):
            rows.append(row)
            reasons.append(reason)
            deaths = 0
        seconds += time.monotonic() - began
        _give_back(job, process)
        if not process.died or len(rows) == len(cases):
            continue
        blame = ""
        if process.is_late:
            blame = f"the run took longer than {job.timeout:g} s"
        elif process.late is None:
            deaths += 1
            blame = (
                f"the FMU ended its process ({how_it_ended(process.process.returncode)})" if deaths == DEATHS else ""
            )
        if blame:
            rows.append(np.full(len(job.spec.columns), np.nan))
            reasons.append(blame)
            deaths = 0
    return np.array(rows), reasons, seconds


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
    """Keep a process that lives; one that does not is put away."""
    lives = process.alive
    with _lock:
        if process in (busy := _busy.get(job.token, [])):
            busy.remove(process)
        if lives and job.token not in _ended:
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


# --- the process ------------------------------------------------------------------------------------------------------------


def serve() -> None:
    """What the process does: runs, until the worker ends."""
    wire_in, wire_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)  # what the FMU prints must not get among the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the business of who started the sweep
    requests: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=_listen, args=(wire_in, requests), daemon=True).start()

    def answer(message: Any) -> None:
        pickle.dump(message, wire_out)
        wire_out.flush()

    from .runner import Runner

    file, folder, engine, spec = requests.get()
    try:
        runner = Runner(Path(file), engine, Path(folder))
    except UserError as error:
        return answer((REFUSED, str(error)))
    except Exception as error:
        return answer((REFUSED, f"the FMU cannot be loaded: {error}"))
    answer((READY,))
    while True:
        try:
            cases, seconds = requests.get(timeout=IDLE)
        except queue.Empty:
            return
        until = time.monotonic() + seconds
        for result in runner.runs(spec, cases):
            answer(result)
            if runner.once_per_process or time.monotonic() > until:
                break
        answer(LAST if runner.once_per_process else END)


def _listen(wire: BinaryIO, requests: queue.Queue[Any]) -> None:
    """Take requests; the end of the worker is the end of this process, whatever the FMU does."""
    try:
        while True:
            requests.put(pickle.load(wire))
    except Exception:
        os._exit(0)
