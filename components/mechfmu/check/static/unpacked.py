"""The input of the static rules."""

from __future__ import annotations

from dataclasses import dataclass
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
