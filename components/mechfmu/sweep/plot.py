"""Plots of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np

from ..view.plot import save_or_show
from .specification import Range, Spec

if TYPE_CHECKING:
    from .sweep import SweepResult

SHOWN = 5  # varied values and results at most
POINTS = 20_000  # drawn at most


def plot_sweep(result: SweepResult, file: str | Path | None = None) -> Any:
    """Plot each result over each varied value, and its distribution in the last column.

    With two varied values there is a heat map over both.
    """
    spec, table, units = result.spec, result.table, result.units
    varied, results = spec.names[:SHOWN], spec.columns[:SHOWN]
    with_map = len(spec.names) == 2
    widths = [1.0] * len(varied) + [1.25] * with_map + [0.5]
    size = (2.6 * (len(varied) + with_map) + 2.2, 2.1 * len(results) + 0.8)
    figure, axes = plt.subplots(
        len(results), len(widths), figsize=size, squeeze=False, layout="constrained", width_ratios=widths
    )
    places = {name: _places(spec, name, table) for name in varied}
    drawn = np.linspace(0, table.num_rows - 1, min(POINTS, table.num_rows)).astype(int)
    for row, name in zip(axes, results, strict=True):
        values = np.asarray(table[name])
        _plot_row(row, spec, places, values, drawn)
        if with_map:
            _heat_map(figure, row[len(varied)], spec, places, values, drawn)
        row[0].set_ylabel(labelled(name, units.get(name.rpartition(":")[0] or name, "")), fontsize=8)
    for cell, over in zip(axes[-1], varied, strict=False):
        cell.set_xlabel(labelled(over, units[over]), fontsize=8)
    if with_map:
        axes[-1, 2].set_xlabel(labelled(varied[0], units[varied[0]]), fontsize=8)
        for cell in axes[:, 2]:
            cell.set_ylabel(labelled(varied[1], units[varied[1]]), fontsize=8)
    axes[-1, -1].set_xlabel("runs", fontsize=8)
    failed = sum(bool(reason) for reason in table["reason"].to_pylist())
    figure.suptitle(f"{table.num_rows} runs" + (f", {failed} of them failed" if failed else ""))
    return save_or_show(figure, file)


def _plot_row(row: Any, spec: Spec, places: dict[str, np.ndarray], values: np.ndarray, drawn: np.ndarray) -> None:
    """A result over each varied value, and its distribution."""
    style = {"markersize": max(1.0, 5.0 - np.log10(len(drawn))), "alpha": 0.6, "color": "#31688e"}
    for cell, (over, place) in zip(row, places.items(), strict=False):
        cell.plot(place[drawn], values[drawn], ".", **style)
        cell.grid(alpha=0.3)
        cell.sharey(row[0])
        _scale(cell, "x", spec, over)
    row[-1].hist(values[np.isfinite(values)], bins=40, orientation="horizontal", color="#35b779")
    row[-1].sharey(row[0])
    for cell in (*row[1 : len(places)], row[-1]):
        cell.tick_params(labelleft=False)


def _heat_map(
    figure: Any, cell: Any, spec: Spec, places: dict[str, np.ndarray], values: np.ndarray, drawn: np.ndarray
) -> None:
    """A result in colour over two varied values: areas where they form a grid, else points. Failed runs are blank."""
    first, second = spec.names
    x, y = np.unique(places[first]), np.unique(places[second])
    if spec.method == "grid" and len(x) > 1 and len(y) > 1:
        heat = np.full((len(y), len(x)), np.nan)
        heat[np.searchsorted(y, places[second]), np.searchsorted(x, places[first])] = values
        edges = _edges(x, _is_log(spec, first)), _edges(y, _is_log(spec, second))
        coloured = cell.pcolormesh(*edges, np.ma.masked_invalid(heat))
    else:
        size = max(2.0, 40.0 - 8 * np.log10(len(drawn)))
        coloured = cell.scatter(places[first][drawn], places[second][drawn], c=values[drawn], s=size)
    _scale(cell, "x", spec, first)
    _scale(cell, "y", spec, second)
    figure.colorbar(coloured, ax=cell)


def _edges(places: np.ndarray, log: bool) -> np.ndarray:
    """The borders of fields around places, half way to the next one."""
    at = np.log(places) if log else places
    middle = (at[1:] + at[:-1]) / 2
    edges = np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])
    return np.exp(edges) if log else edges


def _places(spec: Spec, name: str, table: Any) -> np.ndarray:
    """The positions of a column's values on an axis: numbers where they are, texts one after the other."""
    texts = spec.texts.get(name)
    if texts is None:
        return np.asarray(table[name])
    return np.array([texts.index(text) for text in table[name].to_pylist()], dtype=float)


def _is_log(spec: Spec, name: str) -> bool:
    varying = spec.varied[name]
    return isinstance(varying, Range) and varying.log


def _scale(cell: Any, axis: str, spec: Spec, name: str) -> None:
    if _is_log(spec, name):
        cell.set(**{f"{axis}scale": "log"})
    if texts := spec.texts.get(name):
        cell.set(**{f"{axis}ticks": range(len(texts)), f"{axis}ticklabels": texts})


def labelled(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit and unit != "1" else name
