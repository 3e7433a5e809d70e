"""Runs a program that must not outlive its parent: python guard.py PROGRAM ARGUMENT...

Standard input is a pipe whose other end the parent holds. When it closes, because the parent is done with the program
or has died, the program and all processes that it has started are killed. A compiler starts others, which the death
signal of the operating system would not reach.
"""

import os
import signal
import subprocess
import sys
import threading


def watch(program: "subprocess.Popen[bytes]") -> None:
    while os.read(0, 1):
        pass
    if os.name == "posix":
        os.killpg(0, signal.SIGKILL)  # the process group of this process, itself included
    subprocess.run(["taskkill", "/F", "/T", "/PID", str(program.pid)], capture_output=True, check=False)
    os._exit(1)


if __name__ == "__main__":
    started = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    threading.Thread(target=watch, args=[started], daemon=True).start()
    status = started.wait()
    sys.stderr.flush()
    os._exit(status if status >= 0 else 128 - status)  # as shells do
