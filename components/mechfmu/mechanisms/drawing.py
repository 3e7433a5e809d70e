"""How a mechanism looks at one moment: lines, solids and arrows, in metres.

Points have two components (a planar mechanism: x to the right, y up) or three (z up); one drawing keeps to one of the two. Every drawing of a
mechanism has the same solids and arrows in the same order, only elsewhere; lines may come and go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Array = Any


@dataclass(frozen=True)
class Solid:
    """A simple solid, its middle at `position`, its axes the columns of `rotation`. Only for drawings with three components.

    box          size: lengths along x, y, z
    cylinder     size: radius, length along z
    sphere       size: radius
    """

    kind: Literal["box", "cylinder", "sphere"]
    size: tuple[float, ...]
    position: Array
    rotation: Array
    group: int = 0  # solids of one group have one colour; -1: what stands still
    real: bool = True  # False: it stands for a body whose shape is not known


@dataclass(frozen=True)
class Arrow:
    """A force in N that acts at a point: one from outside, or the reaction of a joint or the ground."""

    name: str
    kind: Literal["force", "reaction"]
    at: Array
    force: Array


@dataclass(frozen=True)
class Drawing:
    lines: Sequence[Array] = ()  # polylines of the mechanism, one point per row
    ground: Sequence[Array] = ()  # polylines of what stands still around it, taken from the first drawing
    solids: Sequence[Solid] = ()
    arrows: Sequence[Arrow] = ()
    traced: Sequence[Array] = ()  # points that leave a trail; without any, the end of the first line does

    def __bool__(self) -> bool:
        """Whether there is anything to see."""
        return bool(len(self.lines) or len(self.solids))

    @property
    def trail_points(self) -> list[Array]:
        return [np.asarray(p) for p in self.traced] or [np.asarray(line)[-1] for line in self.lines[:1]]


def from_strokes(strokes: Sequence[tuple[Array, Array]]) -> Drawing:
    """The drawing of polylines (x, y)."""
    return Drawing([np.column_stack(stroke) for stroke in strokes])


def support(at: Array, size: float) -> list[Array]:
    """A place where a planar mechanism is held: a short line, hatched on its lower side."""
    x, y = at
    hatches = [np.array([[x + s * size, y], [x + (s - 0.3) * size, y - 0.3 * size]]) for s in np.linspace(-0.7, 1.0, 6)]
    return [np.array([[x - size, y], [x + size, y]]), *hatches]
