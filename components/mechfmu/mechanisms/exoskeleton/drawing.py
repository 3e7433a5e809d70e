"""The drawing of the exoskeleton from the values of its variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model.drawing import Arrow, Drawing, Floor, Moment, constant
from .topology import Limbs

Array = Any


def strokes(limbs: Limbs, value: Any) -> list[tuple[Array, Array]]:
    """Body and legs, from the hip outwards."""
    legs_and_body = [limbs.branches[k] for k in (2, 0, 1)]
    names = [["hip.{}", *(f"link[{i + 1}].end_{{}}" for i in branch)] for branch in legs_and_body]
    return [(_coordinates(branch, "x", value), _coordinates(branch, "y", value)) for branch in names]


def _coordinates(points: list[str], axis: str, value: Any) -> Array:
    return np.stack([value(point.format(axis)) for point in points])


def drawing(limbs: Limbs, on_ground: bool, pushed: bool, value: Any) -> Drawing:
    """The links, the ground, its reactions on the feet, thrusts, the push on the hip and the moments of the motors."""
    ends = [np.stack([value(f"link[{i + 1}].end_{a}") for a in "xy"]) for i in range(limbs.n)]
    hip = np.stack([value("hip.x"), value("hip.y")])
    reach = 0.9 * max(sum(constant(value, f"link[{i + 1}].rest_length") for i in leg) for leg in limbs.legs)
    pushes = [Arrow("push", "force", hip, np.stack([value(f"push.force_{a}") for a in "xy"]))] if pushed else []
    below = [np.stack([value("hip.x"), value("ground.height")])] if on_ground else []
    return Drawing(
        [np.column_stack(stroke) for stroke in strokes(limbs, value)],
        floors=[Floor(at, np.array([0.0, 1.0]), reach) for at in below],
        arrows=[*pushes, *_arrows(limbs, hip, ends, value)],
        moments=_moments(limbs, hip, ends, value),
    )


def _arrows(limbs: Limbs, hip: Array, ends: list[Array], value: Any) -> list[Arrow]:
    """Reactions on the feet and thrusts of the links."""
    arrows = []
    for b, shank in enumerate(limbs.shanks, 1):
        reaction = np.stack([value(f"foot[{b}].reaction_{a}") for a in "xy"])
        arrows.append(Arrow(f"foot[{b}].reaction", "reaction", ends[shank], reaction))
    for branch in limbs.branches:
        for i, start in zip(branch, [hip, *(ends[i] for i in branch)], strict=False):
            outwards = (ends[i] - start) / value(f"link[{i + 1}].length")
            thrust = value(f"link[{i + 1}].thrust") * outwards
            arrows.append(Arrow(f"link[{i + 1}].thrust", "reaction", start, thrust, inner=True))
    return arrows


def _moments(limbs: Limbs, hip: Array, ends: list[Array], value: Any) -> list[Moment]:
    """Moments of the hips, on the thighs so that the two are apart; of the ground on the feet; of the inner hinges."""
    thighs = [0.7 * hip + 0.3 * ends[leg[0]] for leg in limbs.legs]
    moments = [Moment(f"hip.moment[{b}]", at, value(f"hip.moment[{b}]")) for b, at in enumerate(thighs, 1)]
    for b, shank in enumerate(limbs.shanks, 1):
        moments.append(Moment(f"foot[{b}].ankle_moment", ends[shank], -value(f"foot[{b}].ankle_moment")))
    for i in limbs.inner_hinges:
        lower, upper = limbs.lower_and_upper(i)
        assert lower is not None
        in_a_leg = i < limbs.k + limbs.p  # where the lower link is the outer one
        at, sign = (ends[upper], 1.0) if in_a_leg else (ends[lower], -1.0)
        moments.append(Moment(f"link[{i + 1}].moment", at, sign * value(f"link[{i + 1}].moment")))
    return moments
