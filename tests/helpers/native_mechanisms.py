"""Mechanisms with features that the link chain lacks.

Time in the equations, several events, constraints, all types of variables, requirements with texts.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np

from helpers.paths import TESTS
from mechfmu.model.mechanism import Array, Mechanism, Note, Option
from mechfmu.model.variables import Row

FILES = TESTS / "extra_mechanisms" / "bouncing_ball"  # about.html and icon.png, which every mechanism must have


class TwoBalls(Mechanism):
    """Two balls over one floor, each with its own event; they do not collide."""

    key = "two_balls"
    title = "Two balls that bounce on the floor"
    event_names = ("impact[1]", "impact[2]")
    stop_time = 1.0

    @cached_property
    def folder(self) -> Path:
        return FILES

    def rows(self) -> tuple[Row, ...]:
        return (
            Row("g", "gravity", "parameter", "acceleration of gravity", "m/s2", start=10.0, above=0.0),
            Row("e", "restitution", "parameter", "speed after over speed before an impact", "1", start=0.5, above=0.0),
            Row("y0", "ball[{k}].height_start", "parameter", "start height of ball {k}", "m", 2, (1.3, 0.7), above=0.0),
            Row("y", "ball[{k}].height", "state", "height of ball {k}", "m", 2),
            Row("v", "ball[{k}].velocity", "state", "velocity of ball {k}, upwards", "m/s", 2),
            Row("count", "ball[{k}].bounces", "discrete", "number of impacts of ball {k}", size=2, kind="Integer"),
            Row("energy", "energy", "output", "energy of both", "J"),
        )

    def initial(self, p: Array) -> tuple[Array, Array]:
        p = self.table.p(p)
        return self.table.x.pack(y=p.y0, v=0.0 * p.y0), np.zeros(2)

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, p = self.table.x(x), self.table.p(p)
        return self.table.x.pack(y=x.v, v=-p.g + 0.0 * x.v)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, p = self.table.x(x), self.table.p(p)
        return np.stack([np.sum(0.5 * x.v**2 + p.g * x.y)])

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return self.table.x(x).y

    def jump(self, t: Array, x: Array, d: Array, u: Array, p: Array, event: str) -> tuple[Array, Array]:
        x, p = self.table.x(x), self.table.p(p)
        this = np.array([float(event == name) for name in self.event_names])
        return self.table.x.pack(y=(1 - this) * x.y, v=(1 - this) * x.v - this * p.e * x.v), d + this


class Driven(Mechanism):
    """A mass on a spring, driven by time and by an input through a gear; an event records that it has become fast."""

    key = "driven"
    title = "A driven oscillator"
    event_names = ("becomes_fast",)
    stop_time = 2.0
    requirement_texts = ('the spring must be stiffer than 1 N/m ("100 %" of the least)',)

    @cached_property
    def folder(self) -> Path:
        return FILES

    def rows(self) -> tuple[Row, ...]:
        return (
            Row("k", "spring", "parameter", "stiffness of the spring, in N/m", "1", start=4.0, min=0.0),
            Row("a", "drive.amplitude", "parameter", "amplitude of the drive", "N", start=1.5),
            Row("w", "drive.rate", "parameter", "angular rate of the drive", "rad/s", start=3.0),
            Row("gear", "gear", "parameter", "how many times the input acts", start=2, min=1, max=3, kind="Integer"),
            Row("on", "drive.on", "parameter", "whether the clock drives", start=1, min=0, max=1, kind="Boolean"),
            Row("limit", "limit", "parameter", "speed from which on it counts as fast", "m/s", start=0.7),
            Row("x0", "position_start", "parameter", "position at the start", "m", start=0.2),
            Row("f", "force", "input", "force on the mass", "N"),
            Row("s", "position", "state", "position", "m", nominal=0.5),
            Row("v", "velocity", "state", "velocity", "m/s"),
            Row("fast", "fast", "discrete", "it has been fast", kind="Boolean"),
            Row("drive", "drive.force", "output", "force of the drive", "N"),
            Row("power", "power", "output", "power of drive and input", "W"),
        )

    def requirements(self, p: Array) -> Array:
        return np.stack([self.table.p(p).k - 1.0])

    def initial(self, p: Array) -> tuple[Array, Array]:
        p = self.table.p(p)
        return self.table.x.pack(s=p.x0, v=0.1 * p.x0**2), np.zeros(1)

    def _drive(self, t: Array, p: Array) -> Array:
        return p.on * p.a * np.cos(p.w * t)

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, u, p = self.table.x(x), self.table.u(u), self.table.p(p)
        return self.table.x.pack(s=x.v, v=-p.k * x.s + self._drive(t, p) + p.gear * u.f)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, u, p = self.table.x(x), self.table.u(u), self.table.p(p)
        drive = self._drive(t, p)
        return self.table.y.pack(drive=drive, power=(drive + p.gear * u.f) * x.v)

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return np.stack([self.table.p(p).limit - self.table.x(x).v])

    def jump(self, t: Array, x: Array, d: Array, u: Array, p: Array, event: str) -> tuple[Array, Array]:
        return x, 1.0 + 0.0 * d


class Wheel(Mechanism):
    """A point on the unit circle in two coordinates; its equations drift off the circle, the projection returns it."""

    key = "wheel"
    title = "A point on a circle"
    option_list = (Option("drift", 1e-3, "how fast the equations leave the circle [1/s]"),)
    stop_time = 2.0

    @cached_property
    def folder(self) -> Path:
        return FILES

    def rows(self) -> tuple[Row, ...]:
        return (
            Row("w", "rate", "parameter", "angular rate", "rad/s", start=2.0),
            Row("x", "x", "state", "horizontal position", "m"),
            Row("y", "y", "state", "vertical position", "m"),
            Row("r", "radius", "output", "distance from the centre", "m"),
        )

    def initial(self, p: Array) -> tuple[Array, Array]:
        return self.table.x.pack(x=1.0 + 0.0 * self.table.p(p).w, y=0.0), np.zeros(0)

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x, p, away = self.table.x(x), self.table.p(p), self.options["drift"]
        return self.table.x.pack(x=away * x.x - p.w * x.y, y=away * x.y + p.w * x.x)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        x = self.table.x(x)
        return np.stack([np.sqrt(x.x**2 + x.y**2)])

    def project(self, x: Array, d: Array, p: Array) -> Array:
        return x / np.sqrt(np.sum(x**2))


class Watched(Mechanism):
    """A point that moves at constant speed; a warning at 1 m, an error at 2 m."""

    key = "watched"
    title = "A point on a line with an end"
    event_names: tuple[str, ...] = ("halfway", "end")
    event_notes = {"halfway": Note("the end is near (50 % of the way)"), "end": Note("the end is reached", stop=True)}
    stop_time = 1.0

    @cached_property
    def folder(self) -> Path:
        return FILES

    def rows(self) -> tuple[Row, ...]:
        return (
            Row("v", "speed", "parameter", "speed", "m/s", start=0.5),
            Row("s0", "position_start", "parameter", "position at the start", "m"),
            Row("s", "position", "state", "position", "m"),
        )

    def initial(self, p: Array) -> tuple[Array, Array]:
        return np.stack([self.table.p(p).s0]), np.zeros(0)

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return np.stack([self.table.p(p).v])

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return np.zeros(0)

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        s = self.table.x(x).s
        return np.stack([1.0 - s, 2.0 - s])


class Flicker(Watched):
    """A switch that one event turns on at 1 s, and another turns off again at once, endlessly."""

    key = "flicker"
    title = "A switch that flickers"
    event_names = ("turned_on", "turned_off")
    event_notes = {}

    def rows(self) -> tuple[Row, ...]:
        return (*super().rows(), Row("on", "on", "discrete", "whether it is on", min=0, max=1, kind="Boolean"))

    def initial(self, p: Array) -> tuple[Array, Array]:
        return super().initial(p)[0], np.zeros(1)

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return np.stack([np.where(d[0] > 0, 1.0, 1.0 - t), np.where(d[0] > 0, -1.0, 1.0)])

    def jump(self, t: Array, x: Array, d: Array, u: Array, p: Array, event: str) -> tuple[Array, Array]:
        return x, 0.0 * d + (1.0 if event == "turned_on" else 0.0)


class Sawtooth(Watched):
    """A point that returns to the start whenever it has come 1 m; every return is reported, the third specially."""

    key = "sawtooth"
    title = "A point that returns"
    event_names = ("tick", "third")
    event_notes = {"tick": Note("tick"), "third": Note("the third")}

    def rows(self) -> tuple[Row, ...]:
        return (*super().rows(), Row("ticks", "ticks", "discrete", "number of returns", kind="Integer"))

    def initial(self, p: Array) -> tuple[Array, Array]:
        return super().initial(p)[0], np.zeros(1)

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return np.stack([1.0 - self.table.x(x).s, 2.5 - d[0]])

    def jump(self, t: Array, x: Array, d: Array, u: Array, p: Array, event: str) -> tuple[Array, Array]:
        return (x - 1.0, d + 1.0) if event == "tick" else (x, d)
