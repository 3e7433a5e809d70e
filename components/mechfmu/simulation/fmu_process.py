"""A process for an FMU, so that an FMU that crashes, exits or hangs does not harm this process.

Both sides exchange pickled messages over the standard input and output of the process. It is a Python process that
calls the function serve of a module:

    parent     process = FmuProcess("mechfmu.sweep.run_process"); process.send(message); answer = process.receive()
    process    requests, answer = connect_to_parent(); message = requests.get(); answer(...)
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO, Any, BinaryIO

END_TIMEOUT = 10.0  # s, from the end of its answers to the end of a process
END = object()  # the last request: the parent has closed the connection or has ended


class FmuProcess:
    """The process as seen by its parent. `printed`: a file for what it prints; None: nothing is kept."""

    def __init__(self, module: str, printed: IO[bytes] | None = None):
        start = f"import sys; sys.path[:] = {sys.path!r}; from {module} import serve; serve()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed or subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self.process.stdin and self.process.stdout
        self._out, self._in = self.process.stdin, self.process.stdout

    def send(self, message: Any) -> bool:
        """Send a message; False when the process has ended."""
        try:
            pickle.dump(message, self._out)
            self._out.flush()
        except OSError:
            return False
        return True

    def receive(self) -> Any:
        """The next message, None when the process has ended."""
        try:
            return pickle.load(self._in)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self.end()
            return None

    def end(self) -> None:
        """Wait for the process to end by itself, then kill it and all that it started."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(END_TIMEOUT)
        self.kill()
        self.process.wait()

    def kill(self) -> None:
        if self.process.returncode is None:  # not polled again: what an ended process started may still run
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL) if os.name == "posix" else self.process.kill()

    def close(self) -> None:
        """Close the connection, which ends the process."""
        for pipe in (self._out, self._in):
            with contextlib.suppress(OSError):
                pipe.close()

    @property
    def exit_status(self) -> str:
        """How the process ended, in words."""
        status = self.process.returncode
        if status is None or status >= 0:
            return f"exit status {status}"
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"


# --- in the process ---------------------------------------------------------------------------------------------------


def connect_to_parent(end_timeout: float = 0.0) -> tuple[queue.SimpleQueue[Any], Callable[[Any], None]]:
    """Return the requests of the parent and the function that answers them.

    When the parent closes the connection or ends, the last request is END, and this process ends after `end_timeout`
    seconds, whatever the FMU does. What the FMU prints to standard output goes to standard error.
    """
    pipe_in, pipe_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe_in, requests, end_timeout), daemon=True).start()

    def answer(message: Any) -> None:
        with contextlib.suppress(OSError):  # the parent has ended: the next request is END
            pickle.dump(message, pipe_out)
            pipe_out.flush()

    return requests, answer


def _listen(pipe: BinaryIO, requests: queue.SimpleQueue[Any], end_timeout: float) -> None:
    try:
        while True:
            requests.put(pickle.load(pipe))
    except Exception:
        requests.put(END)
        threading.Event().wait(end_timeout)
        os._exit(0)
