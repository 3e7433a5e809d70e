"""Building FMUs: one call for all kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ..mechanisms import Mechanism, UserError
from .archive import make_folder
from .python_fmu import write_python_fmu

KINDS = ("python",)


def build(
    mechanism: Mechanism, folder: str | Path = ".", kind: str = "python", start: Mapping[str, float] | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> list[Path]:  # fmt: skip
    """Write the FMU of a mechanism into `folder` and return the files written.

    start      start values of parameters and inputs that differ from the defaults: {"joint[1].angle_start": 0.5}
    progress   is told what is being done
    """
    if kind not in KINDS:
        raise UserError(f"kind {kind}: this version builds {', '.join(KINDS)}")
    starts = {scalar.name: value for scalar, value in mechanism.settings(start or {})}
    mechanism.start(starts)  # refuses parameters that do not fit together, before any work is done
    target = Path(folder) / f"{mechanism.name}.python.fmu"
    make_folder(target.parent)  # better refused before the work than after it
    progress(f"{target.name}: recording the equations, packing")
    write_python_fmu(mechanism, target, starts)
    return [target]
