"""The private environment `.venv` of this checkout: made on the first run, found good in milliseconds on the next.

Only the standard library is used here. A stamp inside the environment says what it was made from; it is taken away
before any work on the environment and written when the work is done, so an environment without a stamp is half-made and
is made again.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv"
STAMP = FOLDER / "mechfmu-stamp.json"
PYTHON = FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

# settings of the user's own environment that would lead Python or pip out of ours, or compile our modules in every
# process anew
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "__PYVENV_LAUNCHER__")
FOREIGN += ("PYTHONDONTWRITEBYTECODE",)

# how pip's output looks when it cannot get at packages, and its lines that explain nothing
UNREACHABLE = re.compile(
    r"Retrying \(|NewConnectionError|Max retries|name resolution|timed out|ProxyError|No matching distribution"
)
TRIVIAL = re.compile(
    r"\[(notice|end of output)\]|^(note:|hint:|\[|╰|│|×|Traceback)|subprocess-exited-with-error|^ERROR: Exception:$",
    re.IGNORECASE,
)


class Problem(Exception):
    """Why there is no environment, in a line or two for the user."""


def run(program: Sequence[str], arguments: Sequence[str], extras: Sequence[str]) -> int:
    """Run a program (a script, or -m and a module) in the environment, in the checkout, and return its exit status."""
    try:
        ensure(extras)
        status = subprocess.call([str(PYTHON), *program, *arguments], cwd=ROOT, env=_environ())
    except Problem as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return status if status >= 0 else 128 - status  # ended by a signal: as a shell says it


def ensure(extras: Iterable[str]) -> None:
    """Make the environment have the project and these extras; do nothing when it has."""
    found = _read_stamp()
    wanted = _stamp(extras)
    same_place = bool(found) and all(found[k] == wanted[k] for k in ("python", "root")) and PYTHON.exists()
    if same_place and found["project"] == wanted["project"] and set(wanted["extras"]) <= set(found["extras"]):
        return
    _refuse_unwritable()
    if same_place:
        wanted = _stamp({*wanted["extras"], *found["extras"]})  # what is there stays
        STAMP.unlink()
    else:
        _create()
    _install(wanted["extras"])
    STAMP.write_text(json.dumps(wanted, indent=1), encoding="utf-8")


def _stamp(extras: Iterable[str]) -> dict[str, Any]:
    """What an environment depends on. Its place belongs to it, because environments cannot be moved."""
    project = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    return dict(python=sys.version, root=str(ROOT), project=project, extras=sorted(set(extras)))


def _read_stamp() -> dict[str, Any]:
    try:
        stamp: dict[str, Any] = json.loads(STAMP.read_text(encoding="utf-8"))
        return stamp if stamp.keys() == _stamp(()).keys() else {}
    except (OSError, ValueError, AttributeError):
        return {}


def _environ() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in FOREIGN}
    return {**kept, "VIRTUAL_ENV": str(FOLDER), "PATH": str(PYTHON.parent) + os.pathsep + kept.get("PATH", os.defpath)}


def _refuse_unwritable() -> None:
    try:
        tempfile.TemporaryFile(dir=ROOT).close()
    except OSError as error:
        raise Problem(
            f"cannot write into {ROOT} ({error.strerror}): the environment .venv and the results go there"
        ) from None


def _create() -> None:
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise Problem(
            f"this Python ({sys.executable}) cannot make environments: its module venv or ensurepip is missing.\n"
            f"Install it (Debian, Ubuntu: sudo apt install python{version}-venv) or use a Python from python.org."
        )
    try:
        if FOLDER.is_symlink() or FOLDER.is_file():
            FOLDER.unlink()
        elif FOLDER.exists():
            shutil.rmtree(FOLDER)
    except OSError as error:
        raise Problem(f"cannot replace the old environment {FOLDER}: {error.strerror} ({error.filename})") from None
    status, lines = _follow("making the environment .venv", [sys.executable, "-m", "venv", str(FOLDER)])
    if status != 0:
        raise Problem(f"could not make the environment {FOLDER}: {_telling(lines)}")


def _install(extras: Sequence[str]) -> None:
    requirement = f".[{','.join(extras)}]" if extras else "."
    pip = [
        str(PYTHON),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        "--progress-bar",
        "off",
        "--editable",
        requirement,
    ]
    status, lines = _follow(
        f"installing mechfmu with {', '.join(extras) or 'no extras'} (the first time takes some minutes)", pip
    )
    if status != 0:
        reason = (
            "a package cannot be downloaded. Is there a network?"
            if any(UNREACHABLE.search(line) for line in lines)
            else "pip failed."
        )
        raise Problem(f"could not install mechfmu into .venv: {reason}\npip says: {_telling(lines)}")


def _telling(lines: Sequence[str]) -> str:
    """The line of a failed command that tells most: its last error, or else its last words."""
    said = [line.strip() for line in lines if line.strip()]
    errors = [line for line in said if re.match(r"[\w.]*error\b", line, re.IGNORECASE) and not TRIVIAL.search(line)]
    return (errors or [line for line in said if not TRIVIAL.search(line)] or ["nothing"])[-1]


def _follow(title: str, command: Sequence[str]) -> tuple[int, list[str]]:
    """Run a command and show progress: on a terminal the time and the last line of output, else its main steps."""
    print(title, flush=True)
    began, lines = time.monotonic(), [""]
    terminal = sys.stdout.isatty()
    process = subprocess.Popen(
        command, cwd=ROOT, env=_environ(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )

    def read() -> None:
        for line in process.stdout or ():
            lines.append(line.rstrip())
            if not terminal and line.startswith(("Collecting", "Building", "Installing")):
                print("  " + _short(line.partition(" (from")[0].rstrip(), 110), flush=True)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        while reader.is_alive():
            reader.join(0.2)
            if terminal:
                room = shutil.get_terminal_size().columns - 12
                print(
                    f"\r\033[K  {time.monotonic() - began:4.0f} s  {_short(lines[-1].strip(), room)}",
                    end="",
                    flush=True,
                )
    except BaseException:
        process.terminate()
        raise
    finally:
        process.wait()
        if terminal:
            print("\r\033[K", end="", flush=True)
    return process.returncode, lines


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: max(length - 3, 0)] + "..."
