"""Where the files of fmu_src/ are: beside components/ in a checkout, inside the package when it is installed from a wheel."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent.parent


def fmu_source(name: str) -> Path:
    """The path of a file or folder of fmu_src/."""
    for root in (PACKAGE / "_fmu_src", PACKAGE.parent.parent / "fmu_src"):
        if (root / name).exists():
            return root / name
    raise FileNotFoundError(f"fmu_src/{name} is missing: the installation of mechfmu is incomplete")
