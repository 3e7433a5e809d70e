"""Draw the pictures that are kept in the repository:   python build_scripts/make_pictures.py [MECHANISM ...]

The icons of these mechanisms; without names all icons and the README's films. Run it after a drawing changed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from PIL import Image, ImageSequence

from mechfmu import LinkChain, SphericalArm
from mechfmu.mechanisms import make, names
from mechfmu.simulation.result import Result
from mechfmu.view.icon import draw_icon
from mechfmu.view.solids import COLOURS, mesh

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LIGHT = np.array([0.4, -0.7, 0.6])  # where it comes from


def films() -> None:
    """The four mechanisms in motion."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        LinkChain(links=10).simulate(stop=4.0, step=0.02).animate(work / "chain.gif", fps=25)
        save(frames_of(work / "chain.gif"), DOCS / "link_chain.gif", fps=25)
        start = {
            f"joint[{j}].rate_start[{a}]": rate
            for j, rates in ((1, (2.5, 2.0, 1.0)), (2, (-3.0, 2.0, 0.0)))
            for a, rate in enumerate(rates, 1)
        }
        save(
            in_space(SphericalArm().simulate(stop=4.0, step=0.01, start=start), fps=20),
            DOCS / "spherical_arm.gif",
            fps=20,
        )
        sys.path.append(str(ROOT / "examples"))
        from exo_walk import simulate

        save(walking(simulate(stop=8.2), fps=20, since=4.0), DOCS / "exoskeleton.gif", fps=20)
        subprocess.run([sys.executable, str(ROOT / "examples" / "cart_figure2.py")], cwd=work, check=True)
        save(frames_of(work / "cart_figure2_cart.gif")[:150:2], DOCS / "wheeled_cart.gif", fps=10)
        shutil.copy(work / "cart_figure2_cart.png", DOCS / "wheeled_cart.png")


def frames_of(film: Path) -> list[Image.Image]:
    with Image.open(film) as opened:
        return [frame.convert("RGB") for frame in ImageSequence.Iterator(opened)]


def save(frames: list[Image.Image], file: Path, fps: float) -> None:
    """With the same colours in all frames: then the file holds of each only what changes."""
    colours = frames[len(frames) // 2].quantize(128)
    small = [frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames]
    small[0].save(file, save_all=True, append_images=small[1:], duration=round(1000 / fps), loop=0)


def walking(result: Result, fps: float, since: float) -> list[Image.Image]:
    """The exoskeleton as the camera follows it; where its feet were, and the push."""
    figure, axes = plt.subplots(figsize=(6, 4.6), dpi=72, layout="constrained")
    axes.set(aspect="equal", ylim=(-0.12, 1.5), xlim=(-1.1, 1.1), yticks=(), xticks=np.arange(0, 50, 0.5))
    axes.fill_between((-5.0, 50.0), -1.0, 0.0, color="#e4e9ee", zorder=0)
    axes.plot((-5.0, 50.0), (0.0, 0.0), color="#7b8794", linewidth=1.5)
    looks = dict(linewidth=7, marker="o", markersize=7, markerfacecolor="white", solid_capstyle="round")
    limbs = {
        (4, 3): "#d9480f",
        (1, 2): "#1769aa",
        (6, 5): "#0d3c61",
    }  # links from the tip to the hip: leg 2 is behind, the body in front
    lines = {links: axes.plot([], [], color=colour, **looks)[0] for links, colour in limbs.items()}
    (prints,) = axes.plot([], [], "^", color="#7b8794", markersize=6)
    text = axes.text(0.02, 0.97, "", transform=axes.transAxes, va="top", family="monospace")
    touched = [(float(result["exo.foot[1].anchor_x"][0]), 0.0)]
    touched += [
        (float(result["exo.foot[1].x" if result["control.stance"][i] < 1.5 else "exo.foot[2].x"][i]), result.t[i])
        for i in np.flatnonzero(np.diff(result["control.steps"])) + 1
    ]
    frames = []
    for i in np.searchsorted(result.t, np.arange(since, result.t[-1] + 1e-9, 1 / fps) - 1e-9):
        hip = np.array([result["exo.hip.x"][i], result["exo.hip.y"][i]])
        for links, line in lines.items():
            ends = [[result[f"exo.link[{k}].end_{a}"][i] for a in "xy"] for k in links]
            line.set_data(*np.array([*ends, hip]).T)
        before = [x for x, t in touched if t <= result.t[i]]
        prints.set_data(before, np.full(len(before), -0.04))
        axes.set_xlim(hip[0] - 1.1, hip[0] + 1.1)
        force = result.inputs["exo.push.force_x"][
            max(0, i - 100) : i + 1
        ].max()  # a tenth of a second is short for the eye: the arrow stays a little
        arrow = (
            axes.annotate("", hip, hip - [0.0009 * force, 0.0], arrowprops=dict(color="#e03131", width=4, headwidth=12))
            if force > 0
            else None
        )
        text.set_text(
            f"{hip[0]:5.2f} m   {result.t[i]:5.2f} s   step {len(before) - 1:2d}"
            + (f"   pushed: {force:.0f} N" if arrow else "")
        )
        figure.canvas.draw()
        frames.append(Image.fromarray(np.array(figure.canvas.buffer_rgba())[:, :, :3]))
        if arrow:
            arrow.remove()
    plt.close(figure)
    return frames


def in_space(result: Result, fps: float) -> list[Image.Image]:
    """The solids of a mechanism, and behind them a second of the path of its tip and its shadow."""
    assert result.mechanism is not None
    drawings = [result.mechanism.drawing(result.at(i)) for i in range(len(result.t))]
    path = np.array([d.trail_points[0] for d in drawings])
    reach, floor = 0.8 * float(np.max(np.abs(path[:, :2]))), 1.1 * float(np.min(path[:, 2]))
    figure = plt.figure(figsize=(6, 5.1), dpi=72)
    axes = figure.add_axes((-0.1, -0.07, 1.2, 1.2), projection="3d", computed_zorder=False)
    axes.view_init(elev=18, azim=-62)
    axes.set(
        xlim=(-reach, reach), ylim=(-reach, reach), zlim=(floor, 0.1), xticklabels=(), yticklabels=(), zticklabels=()
    )
    axes.set_aspect("equal")
    frames = []
    for i in np.searchsorted(result.t, np.arange(0.0, result.t[-1] + 1e-9, 1 / fps) - 1e-9):
        for old in (*axes.collections, *axes.lines):
            old.remove()
        trail = path[(result.t > result.t[i] - 1.0) & (result.t <= result.t[i])]
        axes.plot(trail[:, 0], trail[:, 1], floor, color="#9fb3c8", zorder=0)
        axes.plot(*trail.T, color="#d9480f", linewidth=1.2, zorder=1)
        for solid in drawings[i].solids:
            vertices, faces, _ = mesh(solid)
            corners = (vertices @ np.asarray(solid.rotation).T + solid.position)[np.array(faces)]
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            bright = 0.75 + 0.25 * (normals @ LIGHT) / np.linalg.norm(normals, axis=1)
            colours = bright[:, None] * to_rgb(COLOURS[solid.group % len(COLOURS)])
            axes.add_collection3d(Poly3DCollection(corners, facecolors=colours, zorder=9 - solid.group))
        figure.canvas.draw()
        frames.append(Image.fromarray(np.array(figure.canvas.buffer_rgba())[:, :, :3]))
    plt.close(figure)
    return frames


if __name__ == "__main__":
    chosen = sys.argv[1:]
    for key in chosen or names():
        draw_icon(make(key))
    if not chosen:
        films()
