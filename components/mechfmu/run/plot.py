"""Signals over time, one panel per unit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from ..mechanisms import UserError
from .result import Result

PANELS_AT_MOST = 6
CURVES_AT_MOST = 10
COLOURS = plt.get_cmap("viridis")


def plot(result: Result, names: Sequence[str] | None = None, file: str | Path | None = None) -> Any:
    """The figure of some signals (default: all, the first few units), saved to `file` or shown."""
    panels: dict[str, list[str]] = {}
    for name in names or result.names:
        result[name]  # refuses an unknown name
        panels.setdefault(result.shown[name].unit, []).append(name)
    chosen = list(panels.items())[:PANELS_AT_MOST]
    if not chosen:
        raise UserError("there is nothing to plot: the result has no signals")
    figure, all_axes = plt.subplots(len(chosen), 1, sharex=True, figsize=(9, 1.2 + 1.9 * len(chosen)), squeeze=False, layout="constrained")
    for axes, (unit, curves) in zip(all_axes[:, 0], chosen, strict=True):
        drawn = curves[:CURVES_AT_MOST]
        for name, colour in zip(drawn, COLOURS(np.linspace(0.05, 0.85, len(drawn))), strict=True):
            how = result.shown[name]
            axes.plot(result.t, how.factor * result[name] + how.offset, label=name, color=colour, linewidth=1.2)
        axes.set_ylabel(f"[{unit or '1'}]")
        axes.grid(alpha=0.3)
        more = len(curves) - len(drawn)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7, frameon=False, title=f"and {more} more" if more else None, title_fontsize=7)
    all_axes[-1, 0].set_xlabel("time [s]")
    all_axes[0, 0].set_title(result.title)
    return finish(figure, file)


def finish(figure: Any, file: str | Path | None) -> Any:
    """Save the figure, or show it."""
    if file is None:
        plt.show()
        return figure
    try:
        figure.savefig(file, dpi=120)
    except (OSError, ValueError) as error:
        raise UserError(f"cannot write {file}: {error}") from None
    finally:
        plt.close(figure)
    return figure
