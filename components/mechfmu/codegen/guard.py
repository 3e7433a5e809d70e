"""Runs a program that must not outlive the one that asked for it: python guard.py PROGRAM ARGUMENT...

Standard input is a pipe whose other end the asking process holds. When it closes, because that process is done with the program or has died in whatever
way, the program and everything that it has started is killed. A compiler starts others, so that no death signal of the system reaches them all.
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
        os.killpg(0, signal.SIGKILL)  # the session that this process was started in, itself included
    subprocess.run(["taskkill", "/F", "/T", "/PID", str(program.pid)], capture_output=True, check=False)
    os._exit(1)


if __name__ == "__main__":
    started = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    threading.Thread(target=watch, args=[started], daemon=True).start()
    status = started.wait()
    sys.stderr.flush()
    os._exit(status if status >= 0 else 128 - status)  # as a shell does it
