"""Known exceptions: what a library that FMUs are built on cannot do, whatever the author of the FMU does. They are shown, with the reason, but do not
count, unless --strict is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .archive import Archive
from .findings import Finding


def built_with_pythonfmu(archive: Archive) -> bool:
    """pythonfmu's library finds its slave by this file."""
    return "resources/slavemodule.txt" in archive.names


@dataclass(frozen=True)
class Known:
    """An exception: the findings of a rule whose text matches a regular expression, in FMUs that it applies to."""

    name: str
    applies: Callable[[Archive], bool]
    rule: str
    text: str
    reason: str


def _pythonfmu(name: str, rule: str, text: str, reason: str) -> Known:
    return Known(f"pythonfmu-{name}", built_with_pythonfmu, rule, text, reason)


EXCEPTIONS: tuple[Known, ...] = (
    _pythonfmu("exit", "D1", "when the process ended", "the library ends the interpreter once more when a process ends, and sometimes crashes"),
    _pythonfmu("guid", "D2", "accepts a wrong GUID", "the library does not compare the GUID, and does not hand it to the slave"),
    _pythonfmu("category", "D2", "category None", "the library reports a slave's exception without a category"),
    _pythonfmu("status", "D3", "^fmi2Get(Real|Boolean)Status", "the library answers questions about the last step before there was one"),
    _pythonfmu("null", "D4", r"\((no references|no array|instance = NULL)", "the library reads the arrays before it calls the slave, without looking for NULL"),
    _pythonfmu("free", "D6", "leaves the pointer to the freed state", "the library releases the state and leaves the host's pointer as it is"),
    _pythonfmu("leak", "D7", "leaves [0-9]+ bytes behind", "the library keeps the class of every instance and its entry in sys.path"),
)  # fmt: skip


def mark(findings: Sequence[Finding], archive: Archive) -> list[Finding]:
    """The findings, with the known ones marked."""
    fitting = [k for k in EXCEPTIONS if k.applies(archive)]
    marked = []
    for finding in findings:
        known = next((k for k in fitting if k.rule == finding.rule and re.search(k.text, finding.text)), None)
        marked.append(replace(finding, known=f"{known.name}: {known.reason}") if known else finding)
    return marked
