"""Starts the processes that run an FMU as copies of this one, which has everything imported but never loads an FMU.

A copy takes a millisecond, a new Python with NumPy and FMPy some tenths of a second. Requests come as lines of JSON on
the standard input: dict(job, folder). Answers go to the standard output: dict(job, pid) and, when the process has
ended, dict(job, status) with the status of waitpid. Linux only.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import selectors
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def load_child() -> ModuleType:
    """The module child.py beside this one, with the package of the rules imported."""
    spec = importlib.util.spec_from_file_location("_fmu_checker_child", Path(__file__).parent / "child.py")
    assert spec is not None and spec.loader is not None
    child = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(child)
    child.load_rules()
    return child


def start(streams: tuple[int, ...]) -> int:
    """Copy this process. Returns its id in the original, and 0 in the copy."""
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for stream in streams:
        os.close(stream)
    return 0


def enter(folder: Path) -> None:
    """Make the folder that of this process: its output, working directory and temporary files."""
    null = os.open(os.devnull, os.O_RDONLY)
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for source, target in ((null, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(null)
    os.close(output)
    os.chdir(folder / "work")
    os.environ |= {name: str(folder) for name in ("TMPDIR", "TMP", "TEMP")}


def run(child: ModuleType, folder: Path) -> None:
    """Run the job in this folder. If the folder is gone, the check has ended in the meantime and nobody waits."""
    try:
        enter(folder)
        child.main(folder)
    except FileNotFoundError:
        if folder.exists():
            raise
        os._exit(0)


def serve(child: ModuleType) -> None:
    """Answer requests until the standard input ends. Returns in the original and, to end normally, in some copies."""
    requests, answers = os.dup(0), os.dup(1)
    wake_reader, wake_writer = os.pipe()
    os.set_blocking(wake_reader, False)
    os.set_blocking(wake_writer, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake_writer)
    selector = selectors.DefaultSelector()
    selector.register(requests, selectors.EVENT_READ)
    selector.register(wake_reader, selectors.EVENT_READ)
    jobs: dict[int, int] = {}
    pending = b""

    def answer(**message: Any) -> None:
        os.write(answers, json.dumps(message).encode() + b"\n")

    while True:
        ready = {key.fd for key, _ in selector.select()}
        if wake_reader in ready:
            os.read(wake_reader, 4096)
        while jobs and (ended := os.waitpid(-1, os.WNOHANG))[0]:
            answer(job=jobs.pop(ended[0]), status=ended[1])
        if requests not in ready:
            continue
        data = os.read(requests, 65536)
        if not data:
            return
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            request = json.loads(line)
            folder = Path(request["folder"])
            pid = start((requests, answers, wake_reader, wake_writer, selector.fileno()))
            if pid == 0:
                run(child, folder)
                return
            jobs[pid] = request["job"]
            answer(job=request["job"], pid=pid)


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file, whose modules an FMU with Python code must not find
    if "--exchange" in sys.argv[1:]:
        import fmpy.sundials  # noqa: F401  what Model Exchange needs
    child = load_child()
    gc.freeze()  # what is imported now is not looked at by later collections
    serve(child)
