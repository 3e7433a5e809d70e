"""The WebAssembly library of a mechanism in a live page: the C code of its native FMU, its drawing, its velocities."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..codegen.c_model import PREAMBLE, model_c
from ..codegen.c_text import Code
from ..codegen.cache import cached_library
from ..codegen.compiler import WASM, compile_sources
from ..codegen.recorded_drawing import DRAW, RecordedDrawing, recorded_drawing
from ..codegen.recorded_velocities import VELOCITIES, RecordedVelocities, recorded_velocities
from ..codegen.sources import c_sources
from ..model import Mechanism

GUID = "live"
RUNTIME = ("fmi", "native", "wasm")
LIVE = "mechfmu_set_parameter"


@dataclass(frozen=True)
class LiveLibrary:
    """The module, and what was recorded for it."""

    wasm: bytes
    drawing: RecordedDrawing | None
    velocities: RecordedVelocities | None
    work: dict[str, int]  # length of the work array of each exported function


def live_library(mechanism: Mechanism, starts: Mapping[str, float]) -> LiveLibrary:
    """Record and compile a mechanism with some start values changed; it is compiled once for the same code."""
    values = mechanism.start_values(starts)
    drawing = recorded_drawing(mechanism, values)
    seen = drawing if drawing.start else None
    velocities = recorded_velocities(mechanism, seen) if seen else None
    codes: dict[str, Code] = {}
    if seen:
        codes[DRAW] = seen.c_code()
    if velocities:
        codes[VELOCITIES] = velocities.c_code()
    generated = {"model.c": model_c(mechanism, GUID, starts)}
    generated |= {"drawing.c": _text([codes[name] for name in codes])} if codes else {}
    runtime, own = c_sources(*RUNTIME), c_sources("live")
    exports = (LIVE, *codes)
    files = {**runtime, **own, **generated, "exports": " ".join(exports)}
    digest = hashlib.sha256("\0".join(f"{k}\0{v}" for k, v in sorted(files.items())).encode()).hexdigest()[:24]

    def make(target: Path) -> None:
        compile_sources((runtime, own), target, WASM, "zig", exports=exports, generated=generated)

    with cached_library(f"live_{mechanism.key}_{digest}", ".wasm", make) as file:
        wasm = file.read_bytes()
    return LiveLibrary(wasm, seen, velocities, {name: code.work for name, code in codes.items()})


def _text(codes: list[Code]) -> str:
    return "\n".join([PREAMBLE, *(code.text for code in codes)])
