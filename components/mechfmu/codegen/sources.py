"""The files of fmu_src/: beside components/ in a checkout, inside the package when it is installed from a wheel."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent.parent


def fmu_source(name: str) -> Path:
    """The path of a file or folder of fmu_src/."""
    for root in (PACKAGE / "_fmu_src", PACKAGE.parent.parent / "fmu_src"):
        if (root / name).exists():
            return root / name
    raise FileNotFoundError(f"fmu_src/{name} is missing: the installation of mechfmu is incomplete")


def license_file() -> Path:
    """The licence of mechfmu itself."""
    return next(file for file in (PACKAGE / "_fmu_src" / "LICENSE", PACKAGE.parent.parent / "LICENSE") if file.exists())


def c_sources(*folders: str) -> dict[str, str]:
    """File name -> text of all C files and headers in these folders of fmu_src/, which are put into one folder."""
    files = [f for folder in folders for f in sorted(fmu_source(folder).iterdir()) if f.suffix in (".c", ".h")]
    return {f.name: f.read_text(encoding="utf-8") for f in files}


NATIVE = ("fmi", "native")  # the runtime of native FMUs
WASM_HOST = "wasm"  # what the runtime needs in addition as WebAssembly
