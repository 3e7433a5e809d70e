"""Draw the pictures that are kept in the repository:   python build_scripts/make_pictures.py [MECHANISM ...]

The icons of these mechanisms; without names all icons and the README's animation. Run it after a drawing changed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from mechfmu import LinkChain
from mechfmu.mechanisms import make, names
from mechfmu.run.icon import draw_icon

ROOT = Path(__file__).resolve().parent.parent

if __name__ == "__main__":
    chosen = sys.argv[1:]
    for key in chosen or names():
        draw_icon(make(key))
    if not chosen:
        LinkChain(links=10).simulate(stop=4.0, step=0.02).animate(ROOT / "docs" / "link_chain.gif", fps=25)
