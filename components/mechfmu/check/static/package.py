"""What the static rules look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..archive import Archive
from ..description import Description


@dataclass(frozen=True)
class Package:
    """An unpacked FMU and its model description."""

    file: Path
    archive: Archive
    description: Description
    scratch: Path  # a private folder for temporary files
