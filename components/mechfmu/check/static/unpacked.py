"""The input of the static rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..archive import Archive
from ..description import Description


@dataclass(frozen=True)
class UnpackedFmu:
    """An unpacked FMU and its model description."""

    file: Path
    archive: Archive
    description: Description
    scratch: Path  # a private folder for temporary files
    not_judged: list[str] = field(default_factory=list)  # what a rule could not decide, for a reason of the checker
