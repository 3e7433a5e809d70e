"""A process for an FMU, so that an FMU that crashes, exits or hangs does not harm this process.

Both sides exchange pickled messages over the standard input and output of the process. It is a Python process that
calls the function serve of a module:

    parent     process = FmuProcess("mechfmu.sweep.run_process"); process.send(message); answer = process.receive()
    process    receive, answer = connect_to_parent(); message = receive(); answer(...)
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any

END_TIMEOUT = 10.0  # s, from the end of its answers to the end of a process
END = object()  # the last request: the parent has closed the connection or has ended


class FmuProcess:
    """The process as seen by its parent.

    printed       a file for what it prints; None: nothing is kept
    own_session   kill reaches all that it started, too. Not for many short messages: Linux shares the processors out
                  between sessions, and a message between two of them waits its turn
    """

    def __init__(self, module: str, printed: IO[bytes] | None = None, own_session: bool = False):
        self._own_group = own_session and os.name == "posix"
        start = f"import sys; sys.path[:] = {sys.path!r}; from {module} import serve; serve()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed or subprocess.DEVNULL,
            start_new_session=own_session,
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
        """Wait for the process to end by itself, then kill it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(END_TIMEOUT)
        self.kill()
        self.process.wait()

    def kill(self) -> None:
        if self.process.returncode is None:  # not polled again: what an ended process started may still run
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL) if self._own_group else self.process.kill()

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


def connect_to_parent() -> tuple[Callable[[], Any], Callable[[Any], None]]:
    """Return the functions that receive a request, END when the parent has closed the connection, and answer it.

    What the FMU prints to standard output goes to standard error.
    """
    pipe_in, pipe_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent

    def receive() -> Any:
        try:
            return pickle.load(pipe_in)
        except Exception:
            return END

    def answer(message: Any) -> None:
        with contextlib.suppress(OSError):  # the parent has ended: the next request is END
            pickle.dump(message, pipe_out)
            pipe_out.flush()

    return receive, answer


def end_after_parent() -> None:
    """End this process END_TIMEOUT seconds after its parent, even if the FMU hangs. Has no effect on Windows."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        time.sleep(END_TIMEOUT)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
