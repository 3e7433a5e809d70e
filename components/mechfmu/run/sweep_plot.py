"""A sweep at a glance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np

from .plot import finish
from .sweep_spec import Range

if TYPE_CHECKING:
    from .sweep import SweepResult

SHOWN = 5  # varied values and results at most
POINTS = 20_000  # drawn at most


def plot_sweep(result: SweepResult, file: str | Path | None = None) -> Any:
    """Each result over each varied value, and in the last column how it is distributed."""
    varied, results, table = result.spec.names[:SHOWN], result.spec.columns[:SHOWN], result.table
    some = np.linspace(0, table.num_rows - 1, min(POINTS, table.num_rows)).astype(int)
    units = result.units
    figure, axes = plt.subplots(
        len(results), len(varied) + 1, figsize=(2.6 * len(varied) + 2.2, 2.1 * len(results) + 0.8), squeeze=False, layout="constrained",
        sharey="row", width_ratios=[1.0] * len(varied) + [0.5],
    )  # fmt: skip
    for row, name in zip(axes, results, strict=True):
        values = np.asarray(table[name])
        for cell, over in zip(row, varied, strict=False):
            cell.plot(np.asarray(table[over])[some], values[some], ".", markersize=max(1.0, 5.0 - np.log10(len(some))), alpha=0.6, color="#31688e")
            cell.grid(alpha=0.3)
        row[-1].hist(values[np.isfinite(values)], bins=40, orientation="horizontal", color="#35b779")
        row[0].set_ylabel(labelled(name, units.get(name.rpartition(":")[0] or name, "")), fontsize=8)
    for cell, over in zip(axes[-1], varied, strict=False):
        cell.set_xlabel(labelled(over, units[over]), fontsize=8)
        varying = result.spec.vary[over]
        if isinstance(varying, Range) and varying.log:
            for above in axes[:, varied.index(over)]:
                above.set_xscale("log")
    axes[-1, -1].set_xlabel("runs", fontsize=8)
    failed = sum(bool(reason) for reason in table["reason"].to_pylist())
    figure.suptitle(f"{table.num_rows} runs" + (f", {failed} of them failed" if failed else ""))
    return finish(figure, file)


def labelled(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit and unit != "1" else name
