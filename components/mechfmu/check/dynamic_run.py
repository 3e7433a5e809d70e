"""Runs the rules about the binary: first whether it can be used at all, then all rules in parallel."""

from __future__ import annotations

import contextlib
import marshal
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .applicability import reason_binary_not_run, reason_not_applicable
from .dynamic.loading import END_OF_PROCESS, LIFECYCLE
from .isolation import Outcome, run_rule
from .processes import RuleProcesses
from .results import Report, RuleResult
from .static.unpacked import UnpackedFmu

Progress = Callable[[str], None]
Job = tuple[RuleResult, str]  # a rule and a kind of FMU


def run_dynamic(
    report: Report,
    results: list[RuleResult],
    unpacked: UnpackedFmu,
    model: dict[str, Any] | None,
    show: Progress,
    processes: RuleProcesses | None = None,
) -> None:
    """Run these rules and record what they find. Without a model the reason is recorded."""
    report.static_only = reason_binary_not_run(unpacked.archive, unpacked.description, model)
    if report.static_only or model is None:
        for result in results:
            result.skipped = f"the binary was not run: {report.static_only}"
        return
    exchange = "ModelExchange" in model["interfaces"]
    with contextlib.nullcontext(processes) if processes else RuleProcesses(exchange) as shared:
        run = _Run(report, {r.rule.id: r for r in results}, unpacked, model, show, shared)
        jobs = run.jobs()
        run.total = len(jobs)
        outcomes = run.parallel(jobs)
    for (result, kind), outcome in zip(jobs, outcomes, strict=True):
        run.record(result.rule.id, kind, outcome)


@dataclass
class _Run:
    report: Report
    by_id: dict[str, RuleResult]
    unpacked: UnpackedFmu
    model: dict[str, Any]
    show: Progress
    processes: RuleProcesses
    started: int = 0
    total: int = 0
    failures: dict[str, str] = field(default_factory=dict)  # kind of FMU -> why it cannot be run

    def one(self, rule: str, kind: str) -> Outcome:
        self.started += 1
        self.show(f"{rule} ({self.started} of {self.total})" if self.total else rule)
        unpacked, limits = self.unpacked, self.report.options.limits
        return run_rule(rule, kind, self.model_file, unpacked.archive.folder, unpacked.scratch, limits, self.processes)

    @cached_property
    def model_file(self) -> Path:
        """The model as the processes that run the rules read it, with the kinds of FMU that can be run."""
        interfaces = {k: v for k, v in self.model["interfaces"].items() if not self.failures.get(k)}
        file = self.unpacked.scratch / "model"
        file.write_bytes(marshal.dumps({**self.model, "interfaces": interfaces}))
        return file

    def record(self, rule: str, kind: str, outcome: Outcome) -> None:
        result = self.by_id.get(rule, next(iter(self.by_id.values())))
        result.seconds += outcome.seconds
        result.tables += [dict(table, kind=kind) for table in outcome.tables]
        several = len(self.model["interfaces"]) > 1
        result.not_judged += [f"{text} [{kind}]" if several else text for text in outcome.not_judged]
        self.report.bugs += [outcome.bug] if outcome.bug else []
        for finding in outcome.findings:  # those of a rule that was not requested were found on the way to `rule`
            self.by_id.get(finding.rule, result).findings.append(finding)

    def jobs(self) -> list[Job]:
        """The rules to run, each with a kind of FMU; the others are marked as skipped or not judged."""
        kinds = list(self.model["interfaces"])
        failures = self.failures = {kind: self.prerequisites(kind) for kind in kinds}
        self.__dict__.pop("model_file", None)  # it is written anew
        jobs: list[Job] = []
        for result in self.by_id.values():
            reasons = {kind: reason_not_applicable(result.rule, self.model, kind) for kind in kinds}
            for kind in (k for k in kinds if not reasons[k] and result.rule.id != "D1"):
                if failures[kind]:
                    reasons[kind] = f"{kind} does not get that far: {failures[kind]}"
                else:
                    jobs.append((result, kind))
            if all(reasons.values()):
                different = list(dict.fromkeys(reasons.values()))
                result.skipped = "" if result.findings else "; ".join(different)
            else:
                result.not_judged += [r for k, r in reasons.items() if failures[k] and r and not result.findings]
        return jobs

    def prerequisites(self, kind: str) -> str:
        """Load the library and run the nominal lifecycle, on which all other rules rely. Returns why they failed, or
        ""."""
        for rule in ("D1", LIFECYCLE) if set(self.by_id) != {"D1"} else ("D1",):
            if rule == LIFECYCLE and kind in self.model["unusable"]:
                return str(self.model["unusable"][kind])
            outcome = self.one(rule, kind)
            self.record(rule, kind, outcome)
            if outcome.experiment:
                self.model |= outcome.experiment
                del self.model_file
            if outcome.unusable:
                return outcome.unusable
            errors = [f for f in outcome.findings if f.severity == "error" and f.where != END_OF_PROCESS]
            unusable = any("cannot be loaded" in f.problem for f in errors)
            if outcome.fatal or outcome.bug or unusable or (errors and rule == LIFECYCLE):
                causes = errors or outcome.findings
                return f"see {causes[0].rule}, {causes[0].where}" if causes else "an error of the checker"
        return ""

    def parallel(self, jobs: list[Job]) -> list[Outcome]:
        pool = ThreadPoolExecutor(self.report.options.jobs or os.cpu_count() or 1)
        interrupted = threading.Event()

        def run(job: Job) -> Outcome:
            return Outcome() if interrupted.is_set() else self.one(job[0].rule.id, job[1])

        try:
            return list(pool.map(run, jobs))
        except BaseException:  # Ctrl-C: end the rules that are running
            interrupted.set()
            self.processes.stop_all()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
