"""Writes docs/check_report.md: what `mechfmu check` says about FMUs of other exporters, and whether it is right.

    .venv/bin/python build_scripts/check_report.py CACHE [--reuse]

CACHE is a folder for packages, FMUs and results; with --reuse, results in it are used again. Every finding needs an
adjudication by hand in check_report.toml, and every adjudication a finding.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from check_report_fmus import SOURCES, TOOLS, WHEELS, ForeignFmu, all_fmus, environment, made_by

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "check_report.md"
ADJUDICATIONS = Path(__file__).with_suffix(".toml")
SECONDS = 10  # time budget of a rule
KIND_NAMES = {"CoSimulation": "Co-Simulation", "ModelExchange": "Model Exchange"}
VERDICTS = ("right", "debatable", "wrong")
OUT_OF_TIME = re.compile(r"time budget|for want of time|in the time for this|takes too long|too slow")
MEASURED = (  # numbers that differ from run to run
    (re.compile(r"[\d.]+(?:e[+-]\d+)? bytes"), "some bytes"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
    (re.compile(r"\(\d+ cycles\)"), "(many cycles)"),
)

TOP = """# FMUs of other exporters

What [`mechfmu check`](check.md) says about {count} FMUs that were not made by mechfmu, and whether it is right. Anybody
can get them: they are inside packages on PyPI, or are made by exporters from there. `python3 build_scripts/test.py
--collect-only` makes the environment `.venv`; with it

```sh
.venv/bin/python build_scripts/check_report.py CACHE
```

fetches or makes the FMUs in the folder `CACHE`, checks them with a time budget of {seconds} s for each rule, and writes
this page. It was written on Linux (linux64). All FMUs in these packages are listed; copies of one file count once.

| source | FMUs |
|---|---|
{sources}
The verdict on every finding was given by hand, from the text of the standard and from the FMU's code where it can be
read (`build_scripts/check_report.toml`): *right* (the FMU breaks the sentence that is quoted, or a warning is
justified), *debatable*, or *wrong* (a false alarm). The script fails if a finding has no such verdict.

{summary}

These figures do not tell how often the checker is wrong about other FMUs: the same FMUs were used to correct it. False
alarms that they showed were fixed before this page was written, among them a signal handler of the C library
that counted as one of the FMU, a log function of the checker that was removed too early, and a library that is missing
on this machine.

"""


@dataclass(frozen=True)
class Adjudication:
    """A judgement by hand about findings of one cause."""

    rule: str
    text: str  # part of the finding's text
    fmus: str  # pattern of their names
    verdict: str  # one of VERDICTS
    comment: str

    def covers(self, fmu: str, finding: Mapping[str, Any]) -> bool:
        return self.rule == finding["rule"] and self.text in finding["text"] and fnmatchcase(fmu, self.fmus)


@dataclass(frozen=True)
class Result:
    """The report of `mechfmu check` about one FMU, as in its JSON file."""

    name: str
    exporter: str
    tool: str
    report: Mapping[str, Any]  # empty: not checked
    not_checked: str = ""

    @property
    def findings(self) -> Sequence[Mapping[str, Any]]:
        return self.report.get("findings", ())


def adjudications(file: Path = ADJUDICATIONS) -> list[Adjudication]:
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    found = [Adjudication(**{"fmus": "*", **entry}) for entry in data["adjudication"]]
    assert all(a.verdict in VERDICTS for a in found), f"a verdict is one of {', '.join(VERDICTS)}"
    return found


def adjudicated(
    results: Sequence[Result], judgements: Sequence[Adjudication]
) -> dict[Adjudication, list[tuple[Result, Mapping[str, Any]]]]:
    """The findings of each adjudication. Raises SystemExit, naming them, if a finding or an adjudication is left."""
    found: dict[Adjudication, list[tuple[Result, Mapping[str, Any]]]] = {}
    problems = []
    for result in results:
        for finding in result.findings:
            judgement = next((a for a in judgements if a.covers(result.name, finding)), None)
            if judgement is None:
                problems.append(
                    f"no adjudication: {result.name}: {finding['severity']} {finding['rule']} {finding['text']}"
                )
            else:
                found.setdefault(judgement, []).append((result, finding))
    problems += [f"no such finding: {a.rule}, {a.text!r}, {a.fmus}" for a in judgements if a not in found]
    if problems:
        raise SystemExit("\n".join(problems))
    return {a: found[a] for a in judgements}


# --- checking ---------------------------------------------------------------------------------------------------------


def check(fmu: ForeignFmu, cache: Path, reuse: bool) -> Result:
    file = cache / "results" / f"{fmu.name.replace('/', '_')}.json"
    file.parent.mkdir(exist_ok=True)
    if version := re.search(r'fmiVersion="([13][^"]*)"', fmu.description):
        command = [sys.executable, "-m", "mechfmu", "check", str(fmu.file)]
        status = subprocess.run(command, env=environment(cache), capture_output=True).returncode
        return Result(fmu.name, fmu.exporter, fmu.tool, {}, f"not checked: FMI {version[1]} (exit status {status})")
    if not (reuse and file.exists()):
        print(fmu.name, flush=True)
        options = ["--json", str(file), "--time-budget", str(SECONDS)]
        command = [sys.executable, "-m", "mechfmu", "check", str(fmu.file), *options]
        subprocess.run(command, env=environment(cache), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (report,) = json.loads(file.read_text(encoding="utf-8"))["fmus"]
    if report["internal_errors"]:
        raise SystemExit(f"{fmu.name}: {report['internal_errors'][0]}")
    return Result(fmu.name, fmu.exporter, fmu.tool, report)


# --- the page ---------------------------------------------------------------------------------------------------------


def page(results: Sequence[Result], judgements: Sequence[Adjudication]) -> str:
    found = adjudicated(results, judgements)
    sources = {
        "FMUs inside wheels": WHEELS,
        "FMUs inside source archives": SOURCES,
        "exporters, and what FMUs with Python code import": TOOLS,
        "exporters in the environment": [f"{name}=={number}" for name, number in made_by().items()],
    }
    rows = "".join(f"| {title} | {', '.join(f'`{x}`' for x in sorted(items))} |\n" for title, items in sources.items())
    parts = [
        TOP.format(count=len(results), seconds=SECONDS, sources=rows, summary=_summary(results, found)),
        "## The FMUs\n\n",
        *_tables(results),
        "## The findings\n\n",
        *_findings(found),
        "## What was not judged\n\n",
        *_not_judged(results),
    ]
    return "".join(parts)


def _summary(results: Sequence[Result], found: Mapping[Adjudication, Sequence[Any]]) -> str:
    checked = [r for r in results if r.report]
    run = [r for r in checked if _was_run(r)]
    without = sum(not any(f["severity"] == "error" for f in r.findings) for r in checked)
    groups = {v: sum(len(fs) for a, fs in found.items() if a.verdict == v) for v in VERDICTS}
    counts = ", ".join(f"{n} {v}" for v, n in groups.items())
    return wrapped(
        f"Of {len(results)} FMUs, {len(checked)} are of FMI 2.0; {len(run)} of them were run, the others were examined "
        f"as files. {without} have no error. Findings, counted once for each FMU and cause: {counts}."
    )


def _was_run(result: Result) -> bool:
    """Whether the FMU ran at least through the nominal lifecycle."""
    return any(r["id"] == "D3" and r["outcome"] != "not run" for r in result.report.get("rules", ()))


def _tables(results: Sequence[Result]) -> Iterator[str]:
    for exporter in sorted({r.exporter for r in results}, key=str.lower):
        yield f"### {exporter}\n\n| FMU | exporter | kinds | examined | verdict |\n|---|---|---|---|---|\n"
        for r in (r for r in results if r.exporter == exporter):
            kinds = ", ".join(KIND_NAMES[k] for k in r.report.get("kinds", ()))
            where = "file and binary" if _was_run(r) else "file only"
            yield f"| {r.name} | {r.tool} | {kinds} | {where if r.report else ''} | {_verdict(r)} |\n"
        yield "\n"


def _verdict(result: Result) -> str:
    if not result.report:
        return result.not_checked
    counts = [(s, sum(f["severity"] == s for f in result.findings)) for s in ("error", "warning")]
    text = ", ".join(f"{n} {s}{'s' if n > 1 else ''}" for s, n in counts if n)
    return text or "no error or warning"


def _findings(found: Mapping[Adjudication, Sequence[tuple[Result, Mapping[str, Any]]]]) -> Iterator[str]:
    for a, cases in found.items():
        first = cases[0][1]
        yield f"### {first['severity']} {a.rule}: {_plain(a.text)}\n\n"
        yield wrapped(f"{', '.join(dict.fromkeys(r.name for r, _ in cases))}. For example:") + "\n\n"
        yield f"```text\n{without_measured(first['text'])}\n```\n\n"
        if first["sentence"]:
            yield wrapped(f"FMI 2.0, {first['section']}: {_plain(first['sentence'])}", "> ") + "\n\n"
        yield judgement_text(a) + "\n\n"


def judgement_text(a: Adjudication) -> str:
    """The paragraph about an adjudication."""
    return wrapped(f"**{a.verdict.capitalize()}.** {a.comment}")


def wrapped(text: str, prefix: str = "") -> str:
    return textwrap.fill(
        text, 120, initial_indent=prefix, subsequent_indent=prefix, break_long_words=False, break_on_hyphens=False
    )


def _not_judged(results: Sequence[Result]) -> Iterator[str]:
    yield wrapped(
        "Parts of rules for which the time budget was too short are not listed: which ones depends on the machine. "
        "Slow are above all the FMUs with Python code."
    )
    yield "\n\n"
    rows: dict[tuple[str, str], list[str]] = {}
    for result in results:
        if result.report.get("static_only"):
            rows.setdefault(("D", result.report["static_only"]), []).append(result.name)
            continue
        for rule, reason in _reasons(result):
            rows.setdefault((rule, reason), []).append(result.name)
    yield "| rules | reason | FMUs |\n|---|---|---|\n"
    for (rule, reason), names in rows.items():
        yield f"| {rule} | {_plain(without_measured(reason)).replace('|', '/')} | {', '.join(names)} |\n"


def _reasons(result: Result) -> Iterator[tuple[str, str]]:
    """Why rules were not run or not judged, without those that do not apply and without the time budget."""
    grouped: dict[str, list[str]] = {}
    for rule in result.report.get("rules", ()):
        stopped = [rule["reason"]] if rule["reason"] and "does not get that far" in rule["reason"] else []
        for reason in (*stopped, *rule["not_judged"]):
            if not OUT_OF_TIME.search(reason):
                grouped.setdefault(reason, []).append(rule["id"])
    for reason, rules in grouped.items():
        yield " ".join(dict.fromkeys(rules)), reason


def without_measured(text: str) -> str:
    """A text without the numbers that differ from run to run."""
    for pattern, replacement in MEASURED:
        text = pattern.sub(replacement, text)
    return text


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\<*_\[\]])", r"\\\1", text)


def main(cache: Path, reuse: bool) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    cache = cache.resolve()
    results = [check(fmu, cache, reuse) for fmu in all_fmus(cache)]
    PAGE.write_text(page(results, adjudications()), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--reuse" in sys.argv[2:])
