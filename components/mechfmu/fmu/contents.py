"""The files that native and Python FMUs share: documentation, icon, reference result."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

import numpy as np

from ..model import Mechanism, UserError
from ..simulation.instance import Instance
from ..simulation.integration import IntegrationError
from .documentation import index_html

REFERENCE_TOLERANCE = 1e-9
REFERENCE_SAMPLES = 100
REFERENCE_TIME = 1.0  # s: long enough to reveal a wrong model, short enough for chaotic ones


def common_contents(mechanism: Mechanism, starts: Mapping[str, float]) -> dict[str, bytes]:
    """Return archive name -> content."""
    return {
        "model.png": _icon(mechanism),
        "documentation/index.html": index_html(mechanism, starts).encode(),
        "documentation/reference_result.csv": reference_result(mechanism, starts).encode(),
    }


def _icon(mechanism: Mechanism) -> bytes:
    file = mechanism.folder / "icon.png"
    if not file.exists():
        raise UserError(f"{file} is missing: mechfmu.view.icon.draw_icon(mechanism) writes it")
    return file.read_bytes()


def reference_result(mechanism: Mechanism, starts: Mapping[str, float]) -> str:
    """Return all outputs over the first second of the default experiment as CSV, with the names of the FMU."""
    instance = Instance(mechanism, starts, warn=lambda text: None)
    instance.initialize(tolerance=REFERENCE_TOLERANCE)
    outputs = mechanism.table.of("state", "discrete", "output")
    times = np.linspace(0.0, min(REFERENCE_TIME, mechanism.stop_time), REFERENCE_SAMPLES + 1)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["time", *(s.name for s in outputs)])
    for previous, t in zip([None, *times], times, strict=False):
        if previous is not None:
            try:
                instance.step(previous, t - previous)
            except IntegrationError:
                break  # the mechanism ends the simulation
        rows.writerow([f"{v:.12g}" for v in (t, *instance.get(outputs))])
    return text.getvalue()
