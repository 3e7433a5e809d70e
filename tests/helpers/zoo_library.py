"""The libraries of the test FMUs of zoo_a and zoo_b, compiled once per version of their sources."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

OPTIONS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden")


def compiled_library(name: str, sources: Sequence[Path], options: Sequence[str], cache: Path) -> Path:
    """The library of these sources and the headers beside them, kept in `cache`, which several processes may share."""
    state = hashlib.sha256(repr(options).encode())
    for path in [*sources, *sorted(sources[0].parent.glob("*.h"))]:
        state.update(path.read_bytes())
    library = cache / f"{name}_{state.hexdigest()[:16]}.so"
    if not library.exists():
        cache.mkdir(parents=True, exist_ok=True)
        draft = library.with_suffix(f".{os.getpid()}")
        command = ["cc", *OPTIONS, *options, "-o", str(draft), *map(str, sources), "-lm", "-pthread"]
        subprocess.run(command, check=True)
        draft.replace(library)
    return library
