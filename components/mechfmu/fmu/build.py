"""Build the FMUs of a mechanism, native and Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ..codegen.compiler import STANDARD_PLATFORMS, WASM, check_compiler, default_compiler, host_platform
from ..codegen.recording import recording_of
from ..model import Mechanism, UserError
from ..model.baking import parameters_named
from .archive import make_folder
from .native_fmu import write_native_fmu
from .portable_library import all_platforms
from .python_fmu import write_python_fmu

KINDS = ("native", "python")
SUFFIX = {"native": ".fmu", "python": ".python.fmu"}


def build(
    mechanism: Mechanism,
    folder: str | Path = ".",
    kind: str = "native",
    start: Mapping[str, float | str] | None = None,
    platforms: Sequence[str] | None = None,
    compiler: str | None = None,
    progress: Callable[[str], None] = lambda text: None,
    bake: str | Iterable[str] = (),
) -> list[Path]:
    """Write the FMUs of a mechanism into `folder` and return the files written; see MechanismMethods.build."""
    if kind not in (*KINDS, "both"):
        raise UserError(f"kind {kind}: must be {', '.join(KINDS)} or both")
    kinds = KINDS if kind == "both" else (kind,)
    tool = compiler or default_compiler()
    wanted = {
        "native": chosen_platforms(platforms or [host_platform()]),
        "python": [p for p in chosen_platforms(platforms or all_platforms(tool)) if p != WASM],
    }
    if "python" in kinds and not wanted["python"]:
        raise UserError("platform wasm is for native FMUs: name another one for the Python FMU, or use --kind native")
    for platform in {p for k in kinds for p in wanted[k]}:
        check_compiler(tool, platform)
    mechanism, start = with_constants(mechanism, bake, start or {})
    starts = {scalar.name: value for scalar, value in mechanism.settings(start)}
    recording_of(mechanism)  # these three raise a UserError before any work is done: the equations can be recorded,
    mechanism.start(starts)  # the parameters are consistent,
    mechanism.check_drawing(starts)  # and the mechanism can be drawn
    targets = {k: Path(folder) / f"{mechanism.name}{SUFFIX[k]}" for k in kinds}
    make_folder(Path(folder))
    if "native" in targets:
        write_native_fmu(mechanism, targets["native"], starts, wanted["native"], tool, progress)
    if "python" in targets:
        write_python_fmu(mechanism, targets["python"], starts, wanted["python"], tool, progress)
    return list(targets.values())


def with_constants(
    mechanism: Mechanism, bake: str | Iterable[str], start: Mapping[str, float | str]
) -> tuple[Mechanism, dict[str, float | str]]:
    """Return the mechanism with these parameters as constants, and the start values of all others."""
    chosen = {s.name for s in parameters_named(mechanism.table, bake)}
    values = {name: value for name, value in start.items() if name in chosen}
    made = mechanism.baked(chosen, values) if chosen else mechanism
    return made, {name: value for name, value in start.items() if name not in chosen}


def chosen_platforms(names: Sequence[str]) -> list[str]:
    """Return the platforms of these names without repetition; `all` stands for every one of FMI 2.0."""
    known = {name: [name] for name in STANDARD_PLATFORMS} | {"wasm": [WASM], "all": list(STANDARD_PLATFORMS)}
    for name in names:
        if name not in known:
            raise UserError(f"platform {name}: must be one of {', '.join(STANDARD_PLATFORMS)}, wasm, or all")
    return list(dict.fromkeys(platform for name in names for platform in known[name]))
