"""The limbs of a person of 75 kg and 1.75 m in an exoskeleton with links that are elastic along their axes.

Masses, mass centres and radii of gyration are Dempster's, lengths Drillis and Contini's. A leg reaches down to the
sole, the shank includes the foot; the body is cut at T12/L1. A limb of one link is the straight composite of the limb
of two. Other numbers of links share the limb's mass, length and compliance evenly. The axial inertia m/12 is that of a
uniform rod that stretches evenly.
"""

from __future__ import annotations

from typing import NamedTuple


class Limb(NamedTuple):
    """One value for each link, from the lower end of the limb upwards."""

    m: tuple[float, ...]
    n: tuple[float, ...]  # fraction of the length from the lower end to the mass centre
    l0: tuple[float, ...]
    I: tuple[float, ...]
    k: tuple[float, ...]
    d: tuple[float, ...]
    ja: tuple[float, ...]

    def reversed(self) -> Limb:
        return Limb(*(tuple(reversed(values)) for values in self))


LEG = {
    1: Limb((12.075,), (0.594,), (0.9274,), (1.012,), (40e3,), (200.0,), (1.0062,)),
    2: Limb(
        (4.575, 7.5), (0.477, 0.567), (0.4987, 0.4287), (0.1467, 0.1438), (80e3, 80e3), (400.0, 400.0), (0.3813, 0.625)
    ),
}
BODY = {
    1: Limb((50.85,), (0.6261,), (0.504,), (3.1782,), (100e3,), (500.0,), (4.2375,)),
    2: Limb(
        (21.075, 29.775),
        (0.730, 0.583),
        (0.2625, 0.2415),
        (0.3630, 2.2623),
        (200e3, 200e3),
        (1000.0, 1000.0),
        (1.7562, 2.4812),
    ),
}


def limb(known: dict[int, Limb], links: int) -> Limb:
    """The limb with that many links."""
    if links in known:
        return known[links]
    one = known[1]
    m, l0, k, d = one.m[0] / links, one.l0[0] / links, one.k[0] * links, one.d[0] * links
    return Limb(*((value,) * links for value in (m, 0.5, l0, m * l0**2 / 12, k, d, m / 12)))


def person(leg_1: int, leg_2: int, body: int) -> Limb:
    """All links in the exoskeleton's numbering: leg 1 upwards, leg 2 downwards, the body upwards."""
    limbs = limb(LEG, leg_1), limb(LEG, leg_2).reversed(), limb(BODY, body)
    return Limb(*(sum(parts, ()) for parts in zip(*limbs, strict=True)))
