"""Commands and scripts in processes of their own that need not import everything first.

A server process imports the large packages once and forks for each request; where there is no fork, every request is a
new interpreter. Either way a command runs as a user runs it, with its own process, folder, environment, output and exit
status:

    run(["-m", "mechfmu", "list"], folder, timeout=60)
    run(["script.py"], folder, timeout=60)
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

LIBRARIES = "casadi scipy.integrate scipy.optimize scipy.linalg matplotlib.pyplot fmpy fmpy.fmi2 lxml.etree"
OWN = "cli fmu.build simulation.simulate simulation.engines cosim.system view.plot view.animate check.checker"
PRELOADED = (*LIBRARIES.split(), *(f"mechfmu.{name}" for name in OWN.split()))
SETTINGS = {"COLUMNS": "200", "MPLBACKEND": "Agg"}

_server: subprocess.Popen[str] | None = None


def run(arguments: Sequence[object], folder: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    """What Python does with these arguments in a folder."""
    words = [str(word) for word in arguments]
    if not hasattr(os, "fork"):
        environment = os.environ | SETTINGS
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout)
    server = _running()
    assert server.stdin and server.stdout
    with tempfile.TemporaryDirectory() as place:
        request = dict(arguments=words, folder=str(folder), timeout=timeout, place=place)
        request["environment"] = dict(os.environ | SETTINGS)
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        status = json.loads(server.stdout.readline())
        out, err = ((Path(place) / name).read_text(encoding="utf-8") for name in ("out", "err"))
    if status is None:
        raise subprocess.TimeoutExpired(words, timeout, out, err)
    return subprocess.CompletedProcess(words, status, out, err)


def _running() -> subprocess.Popen[str]:
    global _server
    if _server is None or _server.poll() is not None:
        command = [sys.executable, str(Path(__file__).resolve())]
        environment = os.environ | SETTINGS
        _server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        atexit.register(_server.kill)
    return _server


def serve() -> None:
    for name in PRELOADED:
        __import__(name)
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _be(request)
        print(json.dumps(_ended(child, request["timeout"])), flush=True)


def _ended(child: int, timeout: float) -> int | None:
    """The exit status; None: it took too long and was killed."""
    end = time.monotonic() + timeout
    pause = 0.001
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(0.02, 1.2 * pause)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _be(request: dict) -> None:
    """Become the process that was asked for; it does not return."""
    status = 1
    try:
        os.setsid()
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(Path(request["place"]) / name, os.O_WRONLY | os.O_CREAT), number)
        words = request["arguments"]
        try:
            if words[0] == "-m":
                sys.argv = words[1:]
                sys.path[0] = request["folder"]
                runpy.run_module(words[1], run_name="__main__", alter_sys=True)
            else:
                sys.argv = words
                sys.path[0] = str(Path(request["folder"], words[0]).parent)
                runpy.run_path(words[0], run_name="__main__")
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
        except BaseException:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


if __name__ == "__main__":
    serve()
