"""Draw the pictures that are kept in the repository:   python build_scripts/make_pictures.py [MECHANISM ...]

The icons of these mechanisms; without names all icons and the README's animation. Run it after a drawing changed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from mechfmu import LinkChain
from mechfmu.mechanisms import find, names

ROOT = Path(__file__).resolve().parent.parent


def icon(key: str) -> None:
    """96 x 96 pixels: the mechanism a moment after its start."""
    mechanism = find(key)()
    result = mechanism.simulate(stop=0.3, step=0.1)
    figure = plt.figure(figsize=(0.96, 0.96), dpi=100)
    axes = figure.add_axes((0.06, 0.06, 0.88, 0.88))
    strokes = mechanism.strokes(result.at(-1))
    if not strokes:  # a controller: a block with a signal in and out
        strokes = [(np.array([0.0, 1.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0, 0.0])), (np.array([-0.6, 0.0]), np.array([0.5, 0.5])),
                   (np.array([1.0, 1.6]), np.array([0.5, 0.5]))]  # fmt: skip
    for x, y in strokes:
        axes.plot(x, y, "-o", color="#1769aa", linewidth=3, markersize=4, markerfacecolor="white", solid_capstyle="round")
    axes.set_aspect("equal")
    axes.axis("off")
    figure.savefig(mechanism.folder / "icon.png", transparent=True, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    chosen = sys.argv[1:]
    for key in chosen or names():
        icon(key)
    if not chosen:
        LinkChain(links=10).simulate(stop=4.0, step=0.02).animate(ROOT / "docs" / "link_chain.gif", fps=25)
