"""Runs each dynamic rule in a separate process, so that a crash or a hang of the FMU is a finding and the check
continues.

A time limit is one of a single call: a call that does not return within it is a finding. The rule as a whole has a
budget; what does not fit into it is not judged, which is never the FMU's fault.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from .dynamic.instance import ONLY_ONE
from .dynamic.loading import LIFECYCLE, responsible_rule
from .dynamic.trace import LastCalls
from .findings import LEGAL_CALL, Finding
from .processes import RuleProcess, RuleProcesses

RESIDENT_LIMIT = 8_000_000_000  # bytes of memory in use; memory that is only reserved does not count
MAX_PROCESSES = 40  # for one rule: after a crash, a new process continues
MAX_HANGS = 2  # of one rule
POLL = 0.05  # s
CRASH_SENTENCES = {"fmi2FreeInstance (NULL)": "free-null", "fmi2FreeFMUstate (a NULL state)": "free-state-null"}
BUDGET_FACTOR = 3  # a rule looks at its budget itself; this much later it is stopped


@dataclass
class Outcome:
    """The result of one rule for one kind of FMU."""

    findings: list[Finding] = field(default_factory=list)
    not_judged: list[str] = field(default_factory=list)
    experiment: dict[str, float] = field(default_factory=dict)  # what the FMU accepts, where it declares none
    tables: list[dict[str, Any]] = field(default_factory=list)
    unusable: str = ""  # why the FMU cannot be run here, without being at fault
    fatal: bool = False  # the process crashed, or a call that every importer makes failed
    bug: str = ""  # an error of the checker itself
    seconds: float = 0.0


@dataclass(frozen=True)
class Limits:
    """The time limit of a call, the time budget of a rule, and the random calls of R4."""

    call_seconds: float = 30.0
    rule_seconds: float = 60.0
    random: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Ending:
    """How a process ended."""

    status: int | None  # exit status, None: it was killed
    reason: str = ""  # why it was killed: "call", "budget" or "memory"


def run_rule(
    rule: str, kind: str, model: Path, fmu: Path, scratch: Path, limits: Limits, processes: RuleProcesses
) -> Outcome:
    """Run one rule, or LIFECYCLE. After a crash, the rest of the rule runs in a new process."""
    outcome = Outcome()
    began = time.monotonic()
    done: list[str] = []
    hangs = 0
    for _ in range(MAX_PROCESSES):
        with tempfile.TemporaryDirectory(prefix="job_", dir=scratch, ignore_cleanup_errors=True) as name:
            folder = Path(name)
            job = dict(rule=rule, kind=kind, model=str(model), fmu=str(fmu), done=done, **asdict(limits))
            job["logger_proxy"] = _logger_proxy()
            (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
            ending = _run(folder, limits, processes)
            events, calls, output = _events(folder), LastCalls.read(folder / "trace"), _last_output(folder)
        finished = _record(outcome, events, done)
        if stopped := next((e["stopped"] for e in events if "stopped" in e), None):
            outcome.findings.append(_stopped_finding(rule, kind, stopped))
            outcome.fatal = True
        elif any("spent" in e for e in events):
            if any("attempt" in e for e in events):
                continue
            outcome.not_judged.append("a function returned fmi2Fatal")
        elif ending.reason == "budget":
            outcome.not_judged.append(f"the rule did not end within {BUDGET_FACTOR} times its time budget")
        elif not finished and any("again" in e for e in events):
            outcome.not_judged.append(ONLY_ONE)
        elif not finished and not outcome.bug:
            owner = responsible_rule(calls.current) if rule == LIFECYCLE else rule
            crash = _crash_finding(owner, kind, ending, calls, output, limits)
            part = next((f" ({e['attempt']})" for e in reversed(events) if "attempt" in e), "")
            crash = replace(crash, problem=crash.problem + part)
            outcome.findings.append(crash if _legal(events) else replace(crash, sentence=""))
            outcome.fatal = True
            hangs += ending.status is None
            if any("attempt" in e for e in events) and hangs < MAX_HANGS and rule != LIFECYCLE:
                continue
        elif ending.status != 0 and not outcome.bug:
            crash = _crash_finding("D1", kind, ending, calls, output, limits)
            outcome.findings.append(replace(crash, sentence="", expected="a normal end"))  # the standard is silent
        break
    if outcome.bug and any(f.crash for f in outcome.findings):  # an FMU that destroys memory may destroy the checker's
        outcome.not_judged.append(f"an error in the checker's process, after a crash ({_last_line(outcome.bug)})")
        outcome.bug = ""
    outcome.seconds = time.monotonic() - began
    return outcome


def _legal(events: Sequence[dict[str, Any]]) -> bool:
    """Whether what the process did last is legal beyond doubt."""
    return next((e["legal"] for e in reversed(events) if "attempt" in e), True)


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def _record(outcome: Outcome, events: Sequence[dict[str, Any]], done: list[str]) -> bool:
    """Add what a process reported. Returns whether it came to its end."""
    outcome.findings += [Finding.from_dict(e["finding"]) for e in events if "finding" in e]
    outcome.not_judged += [e["not_judged"] for e in events if "not_judged" in e]
    outcome.unusable = next((e["unusable"] for e in events if "unusable" in e), outcome.unusable)
    outcome.experiment = next((e["experiment"] for e in events if "experiment" in e), outcome.experiment)
    outcome.tables += [e["table"] for e in events if "table" in e]
    done += [e["attempt"] for e in events if "attempt" in e]
    outcome.bug = next((e["bug"] for e in events if "bug" in e), outcome.bug)
    return any("done" in e for e in events)


def _stopped_finding(rule: str, kind: str, stopped: dict[str, str]) -> Finding:
    """A legal call failed, and the rule could not go on."""
    owner = responsible_rule(stopped["text"]) if rule == LIFECYCLE else rule
    sentence = stopped["sentence"] or ("cs-calls" if kind == "CoSimulation" else "me-calls")
    return Finding(LEGAL_CALL, stopped["text"], "fmi2OK", sentence=sentence, rule=owner, kind=kind)


def _crash_finding(rule: str, kind: str, ending: Ending, calls: LastCalls, output: str, limits: Limits) -> Finding:
    """The process died in a call, or was killed because of it."""
    if ending.reason == "memory":
        problem = f"the process uses more than {RESIDENT_LIMIT / 1e9:g} GB of memory"
        known: dict[str, Any] = dict(rule=rule, kind=kind, crash=True, cause=_cause(calls.current, problem))
        return Finding(calls.current, problem, "a moderate use of memory", **known)
    if ending.status is None:
        problem = f"no answer within {limits.call_seconds:g} s"
    elif ending.status < 0:
        try:
            problem = f"the process was killed by {signal.Signals(-ending.status).name}"
        except ValueError:
            problem = f"the process was killed by signal {-ending.status}"
    else:
        problem = f"the process ended with exit status {ending.status}"
    place = calls.current or "before the library was loaded"
    place += "" if calls.busy or not calls.current else " (returned; before the next call)"
    cause = _cause(place, problem)
    problem += f" ({output})" if output else ""
    problem += f"; the call before: {calls.previous}" if calls.previous else ""
    known = dict(rule=rule, kind=kind, crash=True, cause=cause)
    sentence = CRASH_SENTENCES.get(calls.current, "status")
    return Finding(place, problem, "the call to return", sentence=sentence, **known)


def _cause(place: str, problem: str) -> str:
    """What a crash has in common with that of the other kind of FMU: the function and what happened."""
    function = re.search(r"\bfmi2\w+", place)
    return f"{function[0] if function else place}: {problem}"


def _run(folder: Path, limits: Limits, processes: RuleProcesses) -> Ending:
    """Run the process until it ends, a call takes too long, or the rule's budget is far exceeded."""
    (folder / "work").mkdir()
    process = processes.start(folder)
    try:
        return _watch(process, folder / "trace", limits)
    finally:
        process.kill()


def _watch(process: RuleProcess, trace: Path, limits: Limits) -> Ending:
    end = time.monotonic() + BUDGET_FACTOR * limits.rule_seconds + limits.call_seconds
    while True:
        status = process.wait(POLL)
        if status is not None:
            return Ending(status)
        calls = LastCalls.read(trace)
        if calls.busy and calls.seconds > limits.call_seconds:
            return Ending(None, "call")
        if time.monotonic() > end:
            return Ending(None, "budget")
        if _resident(process.pid) > RESIDENT_LIMIT:
            return Ending(None, "memory")


def _resident(pid: int) -> int:
    """Bytes of memory that a process uses; 0 where this is not known."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    except (OSError, ValueError, IndexError):
        return 0


def _events(folder: Path) -> list[dict[str, Any]]:
    """The events that the process reported; a truncated last line is ignored."""
    events = []
    with contextlib.suppress(OSError):
        for line in (folder / "events.jsonl").read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                events.append(json.loads(line))
    return [e for e in events if isinstance(e, dict)]


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
