"""The icon of a mechanism, drawn from its own strokes."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from ..model import Mechanism
from ..simulation.simulate import simulate_mechanism

BLOCK = (  # a controller has nothing to draw: a block with a signal in and out
    (np.array([0.0, 1.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0, 0.0])),
    (np.array([-0.6, 0.0]), np.array([0.5, 0.5])),
    (np.array([1.0, 1.6]), np.array([0.5, 0.5])),
)


def draw_icon(mechanism: Mechanism) -> Path:
    """Write icon.png, 96 x 96 pixels, into the mechanism's folder: the mechanism a moment after its start."""
    result = simulate_mechanism(mechanism, stop=0.3, step=0.1)
    figure = plt.figure(figsize=(0.96, 0.96), dpi=100)
    axes = figure.add_axes((0.06, 0.06, 0.88, 0.88))
    for x, y in mechanism.strokes(result.at(-1)) or BLOCK:
        axes.plot(
            x, y, "-o", color="#1769aa", linewidth=3, markersize=4, markerfacecolor="white", solid_capstyle="round"
        )
    axes.set_aspect("equal")
    axes.axis("off")
    file = mechanism.folder / "icon.png"
    figure.savefig(file, transparent=True, metadata={"Software": None})
    plt.close(figure)
    return file
