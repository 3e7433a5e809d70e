"""Running a system in libcosim, the co-simulation library of the Open Simulation Platform (PyPI: libcosimpy)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from lxml import etree  # type: ignore[import-untyped]

from ..model import UserError
from ..simulation.result import Result
from ..simulation.time_grid import Progress, times
from .ssp import STRUCTURE, structure_of
from .system_result import component_and_kind, grouped, outputs_of, result_of

if TYPE_CHECKING:
    from .system import System

NANOSECONDS = 1e9


def simulate_in_libcosim(system: System, progress: Progress) -> Result:
    """All outputs after each step (libcosim has none before the first); steps are equal and whole nanoseconds."""
    try:
        from libcosimpy.CosimExecution import CosimExecution
        from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
        from libcosimpy.CosimObserver import CosimObserver
    except ImportError:
        raise UserError("libcosim is not installed: pip install libcosimpy") from None
    stop, h = system.stop_time, system.step_size
    step = round(h * NANOSECONDS)
    count = len(times(0.0, stop, h)) - 1
    if abs(count * step - stop * NANOSECONDS) > count or step <= 0:
        raise UserError(
            f"libcosim makes equal steps of whole nanoseconds: {stop:g} s is not a multiple of the step {h:g} s"
        )
    log_output_level(CosimLogLevel.FATAL)
    with tempfile.TemporaryDirectory(prefix="mechfmu-libcosim-") as folder:
        _unpack(system, Path(folder))
        try:
            execution = CosimExecution.from_ssp_file(folder, step)
            observer = CosimObserver.create_last_value()
            execution.add_observer(observer)
            read = _reader(system, execution, observer)
            rows = []
            for k in range(count):
                if not execution.step():
                    raise RuntimeError(_last_error())
                rows.append(read())
                progress((k + 1) * h)
        except (AssertionError, RuntimeError) as error:
            raise UserError(f"libcosim did not run the system {system.name}: {_last_error() or error}") from None
        finally:
            observer = execution = None  # frees the FMUs before their files are deleted
    return result_of(system, [(k + 1) * h for k in range(count)], rows)


def _unpack(system: System, folder: Path) -> None:
    """Write the system as a folder.

    libcosim has neither units nor enumerations: conversions are written as transformations, items as numbers.
    """
    sources = {name: f"{name}.fmu" for name in system.fmus}
    for name, source in sources.items():
        (folder / source).write_bytes(Path(system.fmus[name]).read_bytes())
    explicit = replace(system, transforms={str(c.target): (c.factor, c.offset) for c in system.connections})
    structure = structure_of(explicit, sources, numbered=True)
    (folder / STRUCTURE).write_bytes(etree.tostring(structure, xml_declaration=True, encoding="UTF-8"))


def _reader(system: System, execution: Any, observer: Any) -> Callable[[], np.ndarray]:
    """A function that reads all outputs."""
    reads = []
    for ports in grouped(system, outputs_of(system)):
        component, kind = component_and_kind(system, ports[0])
        index = execution.slave_index_from_instance_name(component)
        last = getattr(observer, f"last_{kind.lower()}_values")
        reads.append((last, index, [system.variable(p).valueReference for p in ports]))
    return lambda: np.concatenate([np.array(last(index, references), dtype=float) for last, index, references in reads])


def _last_error() -> str:
    from libcosimpy._internal import get_last_error_message

    return str(get_last_error_message())
