"""Baseline: findings that are accepted, so that only new ones count.

A finding is recognized by its fingerprint: rule, cause and place, without numbers that vary from run to run and without
line numbers. FMUs are known by their path relative to the folder of the baseline, or by their name if they are
elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cannot_check import CannotCheck
from .findings import Finding

FORMAT = "mechfmu check baseline"
VERSION = 1
_QUOTED_OR_NUMBER = re.compile(r"""("[^"]*"|'[^']*')|[-+]?\b\d[\w.+-]*""")


def fingerprint(finding: Finding) -> str:
    """A hash of rule, cause and place; names in quotes belong to the place, numbers do not."""
    where = _QUOTED_OR_NUMBER.sub(lambda match: match[1] or "…", finding.where)
    return hashlib.sha256("\n".join((*finding.group, where)).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Baseline:
    """The accepted fingerprints of each FMU."""

    folder: Path
    fmus: dict[str, frozenset[str]]

    def accepted(self, fmu: Path) -> frozenset[str]:
        return self.fmus.get(_key(fmu, self.folder), frozenset())


def _key(fmu: Path, folder: Path) -> str:
    fmu, folder = fmu.resolve(), folder.resolve()
    return fmu.relative_to(folder).as_posix() if fmu.is_relative_to(folder) else fmu.name


def read_baseline(file: Path) -> Baseline:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CannotCheck(f"there is no baseline {file} (--write-baseline {file} creates it)") from None
    except OSError as error:
        raise CannotCheck(f"the baseline {file} cannot be read: {error.strerror}") from None
    except ValueError:
        raise CannotCheck(f"{file} is not a baseline of mechfmu check: it is not JSON") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") != VERSION:
        raise CannotCheck(f'{file} is not a baseline of mechfmu check: no "format": "{FORMAT}", "version": {VERSION}')
    try:
        fmus = {name: frozenset(str(f["fingerprint"]) for f in found) for name, found in data["fmus"].items()}
    except (AttributeError, KeyError, TypeError):
        raise CannotCheck(f"the baseline {file} is damaged: --write-baseline {file} writes a new one") from None
    return Baseline(file.parent, fmus)


def write_baseline(fmus: Iterable[tuple[Path, Iterable[Finding]]], folder: Path) -> str:
    """The text of a baseline in `folder` that accepts these findings. The texts in it are for human readers."""
    found: dict[str, dict[str, Any]] = {}
    for fmu, findings in fmus:
        entries = found.setdefault(_key(fmu, folder), {})
        for f in findings:
            entry = dict(fingerprint=fingerprint(f), rule=f.rule, where=f.where, problem=f.problem)
            entries.setdefault(entry["fingerprint"], entry)
    lists = {name: sorted(entries.values(), key=_order) for name, entries in sorted(found.items())}
    return json.dumps(dict(format=FORMAT, version=VERSION, fmus=lists), indent=1, ensure_ascii=False) + "\n"


def _order(entry: dict[str, str]) -> tuple[str, str, str]:
    return entry["rule"], entry["where"], entry["fingerprint"]
