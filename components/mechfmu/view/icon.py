"""The icon of a mechanism, from its strokes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from ..model import Mechanism
from ..simulation.simulate import simulate_mechanism

BLOCK = (  # for controllers, which have no strokes: a block with an input and an output
    (np.array([0.0, 1.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0, 0.0])),
    (np.array([-0.6, 0.0]), np.array([0.5, 0.5])),
    (np.array([1.0, 1.6]), np.array([0.5, 0.5])),
)
LINE_STYLE: dict[str, Any] = dict(
    color="#1769aa", linewidth=3, markersize=4, markerfacecolor="white", solid_capstyle="round"
)


def draw_icon(mechanism: Mechanism) -> Path:
    """Write icon.png, 96 x 96 pixels, into the mechanism's folder: the mechanism 0.3 s after its start."""
    result = simulate_mechanism(mechanism, stop=0.3, step=0.1)
    figure = plt.figure(figsize=(0.96, 0.96), dpi=100)
    axes = figure.add_axes((0.06, 0.06, 0.88, 0.88))
    for x, y in mechanism.strokes(result.at(-1)) or BLOCK:
        axes.plot(x, y, "-o", **LINE_STYLE)
    axes.set_aspect("equal")
    axes.axis("off")
    file = mechanism.folder / "icon.png"
    figure.savefig(file, transparent=True, metadata={"Software": None})
    plt.close(figure)
    return file
