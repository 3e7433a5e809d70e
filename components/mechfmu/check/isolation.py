"""Runs each dynamic rule in a separate process, so that a crash or a hang of the
FMU is a finding and the check continues."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .dynamic.loading import LIFECYCLE, PROVOKED_MESSAGE, responsible_rule
from .findings import Finding

CHILD = Path(__file__).parent / "dynamic" / "child.py"
MEMORY = 8_000_000_000  # bytes of address space
FILE_SIZE = 200_000_000  # bytes that an FMU may write into one file
MAX_PROCESSES = 40  # for one rule: after a crash, a new process continues
MAX_HANGS = 2  # of one rule


@dataclass
class Outcome:
    """The result of one rule for one kind of FMU."""

    findings: list[Finding] = field(default_factory=list)
    fatal: bool = False  # the process crashed, or a call that every importer makes failed
    bug: str = ""  # an error of the checker itself
    seconds: float = 0.0


@dataclass(frozen=True)
class Limits:
    """Limits of one rule, and the random calls of D3."""

    seconds: float = 60.0
    memory: int = MEMORY
    random: int = 0  # random calls in D3
    seed: int = 0


def run_rule(rule: str, kind: str, model: dict[str, Any], fmu: Path, scratch: Path, limits: Limits) -> Outcome:
    """Run one rule, or LIFECYCLE. After a crash, the rest of the rule runs in a new process."""
    outcome = Outcome()
    began = time.monotonic()
    done: list[str] = []
    hangs = 0
    for _ in range(MAX_PROCESSES):
        with tempfile.TemporaryDirectory(prefix="job_", dir=scratch, ignore_cleanup_errors=True) as name:
            folder = Path(name)
            job = dict(
                rule=rule, kind=kind, model=model, fmu=str(fmu), done=done, file_size=FILE_SIZE, **asdict(limits)
            )
            job["logger_proxy"] = _logger_proxy()
            (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
            status = _run(folder, limits.seconds)
            events = _events(folder)
            trace = _trace(folder)
            output = _last_output(folder)
        outcome.findings += [Finding.from_dict(e["finding"]) for e in events if "finding" in e]
        done += [e["attempt"] for e in events if "attempt" in e]
        outcome.bug = next((e["bug"] for e in events if "bug" in e), outcome.bug)
        stopped = next((e["stopped"] for e in events if "stopped" in e), None)
        finished = any("done" in e for e in events)
        if stopped is not None:
            owner = responsible_rule(stopped) if rule == LIFECYCLE else rule
            finding = Finding("a legal call", stopped, "fmi2OK", severity="error", rule=owner, kind=kind)
            outcome.findings.append(finding)
            outcome.fatal = True
        elif not finished and not outcome.bug:
            if not trace.endswith(f"{PROVOKED_MESSAGE})"):
                outcome.findings.append(_crash_finding(rule, kind, status, trace, output, limits.seconds))
            outcome.fatal = True
            hangs += status is None
            if any("attempt" in e for e in events) and hangs < MAX_HANGS and rule != LIFECYCLE:
                continue
        elif status != 0 and not outcome.bug:
            outcome.findings.append(_crash_finding("D1", kind, status, trace, output, limits.seconds))
        break
    outcome.seconds = time.monotonic() - began
    return outcome


def _crash_finding(rule: str, kind: str, status: int | None, trace: str, output: str, seconds: float) -> Finding:
    if status is None:
        problem = f"no answer within {seconds:g} s"
    elif status < 0:
        try:
            problem = f"the process was killed by {signal.Signals(-status).name}"
        except ValueError:
            problem = f"the process was killed by signal {-status}"
    else:
        problem = f"the process ended with exit status {status}"
    problem += f" ({output})" if output else ""
    place = trace or "before the library was loaded"
    place = place[3:] if place.startswith("in fmi2") else place
    owner = responsible_rule(trace) if rule == LIFECYCLE else rule
    return Finding(place, problem, "the call to return", severity="error", rule=owner, kind=kind)


def _run(folder: Path, seconds: float) -> int | None:
    """The exit status of the process, or None if it did not end in time and was killed."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment |= {name: str(folder) for name in ("TMPDIR", "TMP", "TEMP")}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    own_group: dict[str, Any] = dict(start_new_session=True) if os.name == "posix" else {}
    command = [sys.executable, str(CHILD), str(folder)]
    with (folder / "output").open("wb") as output:
        streams: dict[str, Any] = dict(stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        process = subprocess.Popen(command, cwd=folder, env=environment, **streams, **own_group)
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and everything it started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()


def _events(folder: Path) -> list[dict[str, Any]]:
    """The events that the process reported; a truncated last line is ignored."""
    events = []
    with contextlib.suppress(OSError):
        for line in (folder / "events.jsonl").read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                events.append(json.loads(line))
    return [e for e in events if isinstance(e, dict)]


def _trace(folder: Path) -> str:
    try:
        return (folder / "trace").read_bytes().rstrip(b"\0").decode(errors="replace")
    except OSError:
        return ""


def _last_output(folder: Path) -> str:
    """The last line that the FMU printed."""
    try:
        with (folder / "output").open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - 2000))
            lines = stream.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")


def _logger_proxy() -> str | None:
    """FMPy's library that inserts the values into the placeholders of a log message."""
    spec = importlib.util.find_spec("fmpy")
    if spec is None or spec.origin is None or sys.platform != "linux":
        return None
    file = Path(spec.origin).parent / "logging" / "linux64" / "logging.so"
    return str(file) if file.is_file() else None
