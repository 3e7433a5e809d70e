"""The processes in which rules run: copies of a server process where the operating system can make them, else new
ones."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Protocol

FOLDER = Path(__file__).parent / "dynamic"
START_SECONDS = 60.0  # for the server to answer
POLL = 0.1  # s


class RuleProcess(Protocol):
    """A process that runs one rule."""

    pid: int

    def wait(self, seconds: float) -> int | None:
        """The exit status (negative: the signal that ended it), or None if it still runs after this time."""

    def kill(self) -> None:
        """End it and everything it has started."""


def _environment() -> dict[str, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    return environment | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # no threads that the FMU did not start


class RuleProcesses:
    """Starts processes; a context manager that ends all of them. With `exchange`, what Model Exchange needs is
    imported beforehand."""

    def __init__(self, exchange: bool = True):
        self._running: set[RuleProcess] = set()
        self._server = _Server(exchange) if sys.platform == "linux" else None

    def start(self, folder: Path) -> RuleProcess:
        """Run the job in this folder."""
        process: RuleProcess = self._server.start(folder) if self._server else _OwnProcess(folder)
        self._running.add(process)
        return process

    def stop_all(self) -> None:
        for process in list(self._running):
            process.kill()

    def __enter__(self) -> RuleProcesses:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop_all()
        if self._server:
            self._server.close()


class _OwnProcess:
    """A new Python."""

    def __init__(self, folder: Path):
        environment = _environment() | {name: str(folder) for name in ("TMPDIR", "TMP", "TEMP")}
        own_group: dict[str, Any] = dict(start_new_session=True) if os.name == "posix" else {}
        with (folder / "output").open("wb") as output:
            streams: dict[str, Any] = dict(stdin=subprocess.DEVNULL, stdout=output, stderr=output)
            command = [sys.executable, str(FOLDER / "child.py"), str(folder)]
            self._process = subprocess.Popen(command, cwd=folder / "work", env=environment, **streams, **own_group)
        self.pid = self._process.pid

    def wait(self, seconds: float) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout=seconds)
        return None

    def kill(self) -> None:
        _kill_group(self.pid)
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()


class _Server:
    """The process dynamic/server.py, which starts the others."""

    def __init__(self, exchange: bool):
        command = [sys.executable, str(FOLDER / "server.py"), *(["--exchange"] if exchange else [])]
        pipes: dict[str, Any] = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._process = subprocess.Popen(command, env=_environment(), start_new_session=True, **pipes)
        self._lock = threading.Lock()
        self._answers: dict[int, queue.Queue[dict[str, int]]] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def start(self, folder: Path) -> RuleProcess:
        answers: queue.Queue[dict[str, int]] = queue.Queue()
        with self._lock:
            job = len(self._answers)
            self._answers[job] = answers
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(dict(job=job, folder=str(folder))).encode() + b"\n")
            self._process.stdin.flush()
        return _CopiedProcess(answers.get(timeout=START_SECONDS)["pid"], answers)

    def _read(self) -> None:
        for line in self._process.stdout or ():
            message = json.loads(line)
            self._answers[message["job"]].put(message)

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._process.stdout.close()


class _CopiedProcess:
    """A copy of the server process."""

    def __init__(self, pid: int, answers: queue.Queue[dict[str, int]]):
        self.pid, self._answers = pid, answers
        self._status: int | None = None

    def wait(self, seconds: float) -> int | None:
        end = time.monotonic() + seconds
        while self._status is None and (left := end - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):  # another thread that waits may get the answer
                self._status = os.waitstatus_to_exitcode(self._answers.get(timeout=min(left, POLL))["status"])
        return self._status

    def kill(self) -> None:
        _kill_group(self.pid)
        self.wait(START_SECONDS)


def _kill_group(pid: int) -> None:
    """Kill a process and everything that it has started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
