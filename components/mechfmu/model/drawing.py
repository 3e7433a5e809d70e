"""The drawing of a mechanism at one time: lines, solids and arrows, in metres.

Points have two components (a planar mechanism: x to the right, y up) or three (z up), all points of one drawing the
same number. All drawings of one mechanism have the same solids, arrows and moments in the same order, at different
positions; their lines may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

Array = Any


@dataclass(frozen=True)
class Solid:
    """A simple solid, centred at `position`; the columns of `rotation` are its axes. Only for drawings in space.

    box          size: lengths along x, y, z
    cylinder     size: radius, length along z
    sphere       size: radius
    mesh         size: lengths of its bounding box; surface: its vertices around the middle of the box, and triangles
    """

    kind: Literal["box", "cylinder", "sphere", "mesh"]
    size: tuple[float, ...]
    position: Array
    rotation: Array
    group: int = 0  # solids of one group have one colour; -1: what stands still
    real: bool = True  # False: it stands for a body whose shape is not known
    colour: str = ""  # "#rrggbb"; empty: that of the group
    surface: tuple[Array, Array] | None = None


@dataclass(frozen=True)
class Arrow:
    """A force in N that acts at a point: one from outside, or the reaction of a joint or the ground."""

    name: str
    kind: Literal["force", "reaction"]
    at: Array
    force: Array


@dataclass(frozen=True)
class Moment:
    """A moment in N m of a motor or a load, as it acts on the outer body.

    In the plane a number, positive counter-clockwise; in space a vector.
    """

    name: str
    at: Array
    moment: Array


@dataclass(frozen=True)
class Drawing:
    lines: Sequence[Array] = ()  # polylines of the mechanism, one point per row: rods between joints
    ground: Sequence[Array] = ()  # polylines of what is around it, filled where they close
    solids: Sequence[Solid] = ()
    arrows: Sequence[Arrow] = ()
    traced: Sequence[Array] = ()  # points that leave a trail; without any, the end of the first line does
    outlines: Sequence[
        Array
    ] = ()  # thin polylines of the mechanism, filled where they close: bodies of a planar drawing
    moments: Sequence[Moment] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to see."""
        return any(len(part) for part in (self.lines, self.outlines, self.ground, self.solids))

    @property
    def dimension(self) -> int:
        """2 or 3, of a drawing that is not empty."""
        return 3 if self.solids else int(np.shape([*self.lines, *self.outlines, *self.ground][0])[-1])

    @property
    def trail_points(self) -> list[Array]:
        return [np.asarray(p) for p in self.traced] or [np.asarray(line)[-1] for line in self.lines[:1]]


def from_strokes(strokes: Sequence[tuple[Array, Array]]) -> Drawing:
    """The drawing of polylines (x, y)."""
    return Drawing([np.column_stack(stroke) for stroke in strokes])


def overlaid(drawings: Sequence[Drawing]) -> Drawing:
    """Several mechanisms in one drawing. If one is in space, planar ones are omitted: their plane is unknown."""
    seen = [d for d in drawings if d]
    dimension = max((d.dimension for d in seen), default=2)
    seen = [d for d in seen if d.dimension == dimension]
    parts = {f.name: [part for d in seen for part in getattr(d, f.name)] for f in fields(Drawing)}
    return Drawing(**parts | {"traced": [point for d in seen for point in d.trail_points]})


def joined(lines: Sequence[Array], dimension: int) -> np.ndarray:
    """Polylines one after the other, a row of NaN after each."""
    gap = np.full((1, dimension), np.nan)
    return np.concatenate(
        [np.zeros((0, dimension)), *(part for line in lines for part in (np.asarray(line, dtype=float), gap))]
    )


def support(at: Array, size: float) -> list[Array]:
    """A support of a planar mechanism: a short line, hatched on its lower side."""
    x, y = at
    return _hatched(x - size, x + size, y, x + size * np.linspace(-0.7, 1.0, 6), 0.3 * size)


def floor(x: float, y: float, reach: float) -> list[Array]:
    """Level ground around x. It moves with x, but its hatches do not, so that a walker is seen to advance."""
    apart = reach / 8
    hatches = apart * np.arange(np.ceil((x - reach) / apart), (x + reach) / apart)
    return _hatched(x - reach, x + reach, y, hatches, 0.5 * apart)


def _hatched(left: float, right: float, y: float, hatches: Array, length: float) -> list[Array]:
    return [np.array([[left, y], [right, y]]), *(np.array([[x, y], [x - length, y - length]]) for x in hatches)]
