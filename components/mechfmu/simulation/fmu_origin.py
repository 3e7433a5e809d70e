"""Which program built an FMU."""

from __future__ import annotations

import zipfile
from pathlib import Path


def built_by_mechfmu(fmu: str | Path) -> bool:
    with zipfile.ZipFile(fmu) as archive:
        return "resources/model.json" in archive.namelist()
