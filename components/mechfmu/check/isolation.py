"""Running a dynamic rule in a process of its own: whatever the FMU does there, the checker hears of it and goes on."""

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .dynamic.loading import PROVOKED, owner
from .findings import Finding

CHILD = Path(__file__).parent / "dynamic" / "child.py"
MEMORY = 8_000_000_000  # bytes of address space
FILE_SIZE = 200_000_000  # bytes that an FMU may write into one file
DEATHS = 40  # processes that a rule may cost
HANGS = 2


@dataclass
class Outcome:
    """What came of a rule and a kind of FMU."""

    findings: list[Finding] = field(default_factory=list)
    fatal: bool = False  # the process died or the FMU refused what every host does
    bug: str = ""  # of the checker
    seconds: float = 0.0


@dataclass(frozen=True)
class Limits:
    seconds: float = 60.0
    memory: int = MEMORY
    random: int = 0  # random calls in D3
    seed: int = 0


def run_rule(rule: str, kind: str, model: dict[str, Any], fmu: Path, scratch: Path, limits: Limits) -> Outcome:
    """Run one rule ("life" for the plain life before all rules). After a death the rest of the rule is run in a new process."""
    outcome = Outcome()
    began = time.monotonic()
    done: list[str] = []
    hangs = 0
    for _ in range(DEATHS):
        with tempfile.TemporaryDirectory(prefix="job_", dir=scratch, ignore_cleanup_errors=True) as name:
            folder = Path(name)
            job = dict(
                rule=rule, kind=kind, model=model, fmu=str(fmu), done=done, seconds=limits.seconds, memory=limits.memory, file_size=FILE_SIZE,
                random=limits.random, seed=limits.seed, logger_proxy=_logger_proxy(),
            )  # fmt: skip
            (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
            status = _run(folder, limits.seconds)
            events = _events(folder)
            trace = _trace(folder)
            noise = _noise(folder)
        outcome.findings += [Finding.from_dict(e["finding"]) for e in events if "finding" in e]
        done += [e["attempt"] for e in events if "attempt" in e]
        outcome.bug = next((e["bug"] for e in events if "bug" in e), outcome.bug)
        stopped = next((e["stopped"] for e in events if "stopped" in e), None)
        finished = any("done" in e for e in events)
        if stopped is not None:
            outcome.findings.append(_found(rule, kind, "a legal call", stopped, "fmi2OK"))
            outcome.fatal = True
        elif not finished and not outcome.bug:
            if not trace.endswith(f"{PROVOKED})"):
                outcome.findings.append(_death(rule, kind, status, trace, noise, limits.seconds))
            outcome.fatal = True
            hangs += status is None
            if any("attempt" in e for e in events) and hangs < HANGS and rule != "life":
                continue
        elif status != 0 and not outcome.bug:
            outcome.findings.append(_death("D1", kind, status, trace, noise, limits.seconds))
        break
    outcome.seconds = time.monotonic() - began
    return outcome


def _found(rule: str, kind: str, where: str, problem: str, expected: str) -> Finding:
    return Finding(
        where, problem, expected, severity="error", rule=owner(problem) if rule == "life" else rule, kind=kind
    )


def _death(rule: str, kind: str, status: int | None, trace: str, noise: str, seconds: float) -> Finding:
    if status is None:
        problem = f"no answer within {seconds:g} s"
    elif status < 0:
        try:
            problem = f"the process was killed by {signal.Signals(-status).name}"
        except ValueError:
            problem = f"the process was killed by signal {-status}"
    else:
        problem = f"the process ended with exit status {status}"
    said = f" ({noise})" if noise else ""
    place = trace or "before the library was loaded"
    place = place[3:] if place.startswith("in fmi2") else place
    return Finding(
        place,
        problem + said,
        "the call to return",
        severity="error",
        rule=owner(trace) if rule == "life" else rule,
        kind=kind,
    )


def _run(folder: Path, seconds: float) -> int | None:
    """The exit status of the process, or None when it had to be killed."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment |= dict(
        TMPDIR=str(folder), TMP=str(folder), TEMP=str(folder), PYTHONDONTWRITEBYTECODE="1", PYTHONUNBUFFERED="1"
    )
    own_group: dict[str, Any] = dict(start_new_session=True) if os.name == "posix" else {}
    with (folder / "noise").open("wb") as noise:
        process = subprocess.Popen(
            [sys.executable, str(CHILD), str(folder)], stdin=subprocess.DEVNULL, stdout=noise, stderr=noise, cwd=folder, env=environment, **own_group,
        )  # fmt: skip
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The process and whatever it started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()


def _events(folder: Path) -> list[dict[str, Any]]:
    """What the process has reported; a line that was cut off is none."""
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


def _noise(folder: Path) -> str:
    """The last line that the FMU printed."""
    try:
        with (folder / "noise").open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - 2000))
            lines = stream.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")


def _logger_proxy() -> str | None:
    """FMPy's little library that puts the values into a log message's placeholders."""
    spec = importlib.util.find_spec("fmpy")
    if spec is None or spec.origin is None or sys.platform != "linux":
        return None
    file = Path(spec.origin).parent / "logging" / "linux64" / "logging.so"
    return str(file) if file.is_file() else None
