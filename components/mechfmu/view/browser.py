"""A browser without a window, for pictures of pages: a page that we serve to it sends them back, one by one."""

from __future__ import annotations

import os
import queue
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CHOICE = "MECHFMU_BROWSER"  # environment variable: the path of a browser, or "none"
PROGRAMS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "microsoft-edge-stable", "msedge"),
)
PLACES = {  # where programs are that are not on the PATH
    "darwin": ("/Applications", "~/Applications"),
    "win32": ("%ProgramFiles%", "%ProgramFiles(x86)%", "%LocalAppData%"),
}
INSIDE = {
    "darwin": tuple(f"{n}.app/Contents/MacOS/{n}" for n in ("Google Chrome", "Chromium", "Microsoft Edge")),
    "win32": ("Google/Chrome/Application/chrome.exe", "Microsoft/Edge/Application/msedge.exe"),
}
FLAGS = (
    *("--headless", "--no-first-run", "--no-default-browser-check", "--disable-extensions", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--mute-audio"),
    *("--disable-breakpad", "--disable-crash-reporter", "--no-proxy-server"),
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
)
PATIENCE = 60.0  # s, for one picture; the first one includes the start of the browser
WAITING = 3  # pictures that wait to be taken
CLOSING = 5.0  # s


class BrowserError(Exception):
    """The browser did not do its work; the text says why."""


def find_browser() -> Path:
    """Return the Chromium, Chrome or Edge of this machine; BrowserError: there is none."""
    if chosen := os.environ.get(CHOICE):
        found = shutil.which(str(Path(chosen).expanduser()))
        if chosen == "none" or not found:
            raise BrowserError(f"{CHOICE} is {chosen}" + ("" if chosen == "none" else ", which is not a program"))
        return Path(found)
    places = [Path(os.path.expandvars(p)).expanduser() for p in PLACES.get(sys.platform, ())]
    candidates = [*PROGRAMS, *(place / program for place in places for program in INSIDE[sys.platform])]
    for candidate in candidates:
        if found := shutil.which(str(candidate)):
            return Path(found)
    raise BrowserError("no Chromium, Chrome or Edge was found")


def pictures(page: str, count: int, browser: Path, ratio: int = 1) -> Generator[bytes, None, None]:
    """Yield the `count` pictures, PNG files, that a page posts to `picture`; it posts to `problem` what fails.

    ratio: pixels of the screen for each pixel of the page
    """
    arrived: queue.Queue[bytes | str] = queue.Queue(WAITING)
    with _served(page, arrived) as address, _running(browser, address, ratio) as process:
        for number in range(1, count + 1):
            yield _next(arrived, process, f"{browser.name}: picture {number} of {count}")


def _next(arrived: queue.Queue[bytes | str], process: subprocess.Popen[bytes], what: str) -> bytes:
    waited = 0.0
    while True:
        try:
            found = arrived.get(timeout=0.2)
        except queue.Empty:
            waited += 0.2
            if process.poll() is not None:
                raise BrowserError(f"{what} did not come, it ended (exit status {process.returncode})") from None
            if waited > PATIENCE:
                raise BrowserError(f"{what} did not come within {PATIENCE:g} s") from None
            continue
        if isinstance(found, str):
            raise BrowserError(found)
        return found


@contextmanager
def _served(page: str, arrived: queue.Queue[bytes | str]) -> Iterator[str]:
    """Serve a page to this machine only, at an address that nobody else knows; what it posts is put into `arrived`."""
    path = f"/{secrets.token_urlsafe(16)}/"
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(page.encode() if self.path == path else None)

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            problem = content.decode(errors="replace")
            known: dict[str, bytes | str] = {f"{path}picture": content, f"{path}problem": problem}
            if self.path in known:
                while not ended.is_set():
                    with suppress(queue.Full):
                        arrived.put(known[self.path], timeout=0.2)
                        break
            self._answer(b"" if self.path in known else None)

        def _answer(self, content: bytes | None) -> None:
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, format: str, *args: object) -> None:
            pass

        def handle(self) -> None:
            with suppress(ConnectionError):  # the browser was closed
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}{path}"
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def _running(browser: Path, address: str, ratio: int) -> Iterator[subprocess.Popen[bytes]]:
    """Open an address in a browser with a fresh profile; afterwards neither of them is left."""
    with tempfile.TemporaryDirectory(prefix="mechfmu-film-", ignore_cleanup_errors=True) as profile:
        command = [str(browser), *FLAGS, f"--user-data-dir={profile}", f"--force-device-scale-factor={ratio}", address]
        if sys.platform != "win32" and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # without it, it does not start for the administrator
        nothing = subprocess.DEVNULL
        try:  # in a session of its own, which can be ended as a whole
            process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
        except OSError as error:
            raise BrowserError(f"{browser.name} does not start: {error.strerror or error}") from None
        try:
            yield process
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a browser and the processes that it started."""
    for hard in (False, True):
        if sys.platform == "win32":
            force = ["/F"] if hard else []
            subprocess.run(["taskkill", "/T", *force, "/PID", str(process.pid)], capture_output=True, check=False)
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL if hard else signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(CLOSING)
