"""Plots of signals over time, one panel per unit: a picture (png, svg, pdf), or an interactive page (html)."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from ..atomic_file import atomic_write
from ..model import UserError
from ..simulation.result import Result

MAX_PANELS = 6
MAX_CURVES = 10  # of one panel
COLOURS = ("#1769aa", "#d9480f", "#2b8a3e", "#862e9c", "#b08900", "#0b7285", "#c2255c", "#495057", "#74b816", "#5f3dc4")
GRID, INK = "#e4e9ef", "#616e7c"
MIN_SPAN = 1e-6  # of a panel, relative to the size of its curves: below it, only rounding errors would be seen
FILE_BACKENDS = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")  # of matplotlib: they cannot show figures

Panels = list[tuple[str, list[str], int]]  # unit, names of the curves, number of signals omitted


def plot(result: Result, names: Sequence[str] | None = None, file: str | Path | None = None) -> Any:
    """Plot some signals (default: the first few of the first few units) into `file` or on the screen."""
    if file is None:
        check_display()
    panels = _panels(result, names)
    if not panels:
        raise UserError("there is nothing to plot: the result has no signals")
    title = result.title
    if not names and (missing := signals_without_plot(result)):
        title += f" ({len(result.names) - len(missing)} of {len(result.names)} signals)"
    if file is not None and str(file).endswith(".html"):
        return _page(result, panels, title, Path(file))
    return _picture(result, panels, title, file)


def png_plot(result: Result, panels: int) -> bytes:
    """Return a PNG of the first panels."""
    stream = io.BytesIO()
    _picture(result, _panels(result, None)[:panels], result.title, stream)
    return stream.getvalue()


def check_display() -> None:
    """Raise a UserError when figures cannot be shown, neither in a window nor in Jupyter."""
    if plt.get_backend().lower() in FILE_BACKENDS:
        raise UserError("there is no display: give a file name")


def signals_without_plot(result: Result, names: Sequence[str] | None = None) -> list[str]:
    """Return the signals that the plot omits."""
    drawn = {name for _, curves, _ in _panels(result, names) for name in curves}
    return [name for name in names or result.names if name not in drawn]


def _panels(result: Result, names: Sequence[str] | None) -> Panels:
    """Return one panel for each unit; more for a unit with many of the given names."""
    units: dict[str, list[str]] = {}
    for name in names or result.names:
        result[name]  # raises a UserError for an unknown name
        units.setdefault(result.shown[name].unit, []).append(name)
    if names:
        starts = [(unit, i) for unit, curves in units.items() for i in range(0, len(curves), MAX_CURVES)]
        return [(unit, units[unit][i : i + MAX_CURVES], 0) for unit, i in starts]
    panels = [(unit, curves[:MAX_CURVES], len(curves[MAX_CURVES:])) for unit, curves in units.items()]
    return panels[:MAX_PANELS]


def constant_range(curves: Sequence[np.ndarray]) -> tuple[float, float] | None:
    """Return the limits of a panel whose curves are constant except for rounding; None: the default limits apply."""
    values = np.concatenate([curve[np.isfinite(curve)] for curve in curves])
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    span = MIN_SPAN * max(abs(low), abs(high))
    return None if high - low >= span else ((low + high - span) / 2, (low + high + span) / 2)


def _display_values(result: Result, name: str) -> np.ndarray:
    how = result.shown[name]
    return how.factor * result[name] + how.offset


def _picture(result: Result, panels: Panels, title: str, file: str | Path | io.BytesIO | None) -> Any:
    size = (9, 1.2 + 1.9 * len(panels))
    figure, all_axes = plt.subplots(len(panels), 1, sharex=True, figsize=size, squeeze=False, layout="constrained")
    for axes, (unit, curves, more) in zip(all_axes[:, 0], panels, strict=True):
        for name, colour in zip(curves, COLOURS, strict=False):
            axes.plot(result.t, _display_values(result, name), label=name, color=colour, linewidth=1.2)
        axes.set_ylim(constant_range([_display_values(result, name) for name in curves]))
        axes.ticklabel_format(axis="y", useOffset=False)
        axes.set_ylabel(f"[{unit or '1'}]")
        axes.grid(alpha=0.3)
        note = dict(title=f"and {more} more" if more else None, title_fontsize=7)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7, frameon=False, **note)
    all_axes[-1, 0].set_xlabel("time [s]")
    all_axes[0, 0].set_title(title)
    return save_or_show(figure, file)


def save_or_show(figure: Any, file: str | Path | io.BytesIO | None) -> Any:
    """Save the figure to a file, or show it."""
    if file is None:
        plt.show()
        return figure
    try:
        with contextlib.nullcontext(file) if isinstance(file, io.BytesIO) else atomic_write(Path(file)) as target:
            figure.savefig(target, dpi=120)
    except ValueError as error:
        raise UserError(f"cannot write {file}: {error}") from None
    finally:
        plt.close(figure)
    return figure


def _page(result: Result, panels: Panels, title: str, file: Path) -> Any:
    """Write a self-contained page: a legend per panel, a click on it hides a curve, all panels share the time axis."""
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=len(panels), cols=1, shared_xaxes=True, vertical_spacing=0.14 / (len(panels) + 1))
    for row, (unit, curves, more) in enumerate(panels, start=1):
        legend = "legend" if row == 1 else f"legend{row}"
        values = [_display_values(result, name) for name in curves]
        for name, y, colour in zip(curves, values, COLOURS, strict=False):
            line = dict(color=colour, width=1.6, simplify=False)
            figure.add_scatter(x=result.t, y=y, name=name, mode="lines", line=line, legend=legend, row=row, col=1)
        figure.update_yaxes(title_text=f"[{unit or '1'}]", range=constant_range(values), row=row, col=1)
        top = figure.layout[f"yaxis{row if row > 1 else ''}"].domain[1]
        count = dict(text=f"{len(curves)} of {len(curves) + more}" if more else "", font_size=11)
        figure.update_layout({legend: dict(x=1.01, y=top, yanchor="top", tracegroupgap=0, font_size=11, title=count)})
    figure.update_xaxes(title_text="time [s]", row=len(panels), col=1)
    figure.update_xaxes(gridcolor=GRID, zeroline=False)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor="#cbd2d9")
    figure.update_layout(
        title=dict(text=title, font=dict(size=18, color="#1f2933")),
        font=dict(family='system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif', size=12, color=INK),
        hovermode="x",
        plot_bgcolor="#fff",
        paper_bgcolor="#fff",
        height=150 + 210 * len(panels),
        margin=dict(l=70, r=20, t=60, b=50),
        showlegend=True,
    )
    removed = ["sendChartToCloud", "select2d", "lasso2d"]
    config = dict(responsive=True, displaylogo=False, plotlyServerURL="", modeBarButtonsToRemove=removed)
    with atomic_write(file) as target:
        figure.write_html(target, config=config, include_plotlyjs=True, div_id="plot")
    return figure
