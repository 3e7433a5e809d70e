"""Events of the exoskeleton: their names, guards, jumps and notes.

    touch-down   the gap of a foot crosses zero: a plastic (or restituting) impact of all feet that close at that time
    lift-off     R_y of a pinned foot crosses zero: the foot is released, velocities stay

The functions take the parts of the table under their symbols: states X, discrete states D, inputs U, parameters P.
"""

from __future__ import annotations

from enum import Enum
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ...model.mechanism import Note
from .configuration import Configuration
from .contact import Support, impact, independence
from .dynamics import add_velocity, changed, energy, inertia, project_onto_pins, stance, sweep_without_forces
from .kinematics import LinkPoints, link_points
from .recursion import foot_force_response, foot_mobility

Array = Any

RELEASE = 1e-9  # N: a foot is released when its reaction pulls by more
LANDING_GAP = 1e-8  # m: feet closer to the ground than this land together
REARM_GAP = 1e-10  # m: a released foot lands this much lower, unless it has risen by as much since then. The speed that
# it gains over this height must be below the capture speed
DWELL = 1e-6  # s: a foot stays pinned for at least this time
LONG_DWELL = 1e-3  # s: for this time, when it lands without having risen. Released from a no-slip pin, a foot can sink
# at once where a real one would slide
SHORTEST = 0.2  # of the rest length
DEEP = 0.01  # m: the host's event location has missed a foot that is deeper in the ground
SINGULAR = 1e-9  # of the hip's inertia: about the square of the angle between the links


class EventKind(Enum):
    TOUCH_DOWN = "touch_down"  # a foot reaches the ground: impact
    LIFT_OFF = "lift_off"  # a pinned foot is released
    RISE = "rise"  # a released foot has risen: from now on it lands at the ground, no longer lower
    SLIP = "slip"  # a pinned foot begins or ceases to need more friction than ground.friction
    FALLEN = "fallen"  # the body is below the ground
    TOO_DEEP = "foot_too_deep"  # a foot that is not pinned is below the ground
    UNDETERMINED = "reactions_undetermined"  # both feet are pinned, both legs are rigid and parallel
    TOO_SHORT = "too_short"  # a link


FOOT_EVENTS = (EventKind.TOUCH_DOWN, EventKind.LIFT_OFF, EventKind.RISE, EventKind.SLIP)


class Event(NamedTuple):
    kind: EventKind
    number: int = 0  # of the foot or link, from 1; 0: there is only one such event

    @property
    def name(self) -> str:
        """touch_down[1], too_short[3], fallen."""
        return f"{self.kind.value}[{self.number}]" if self.number else self.kind.value


def events(config: Configuration) -> dict[str, Event]:
    """All events by name, in the order of their guards."""
    found: list[Event] = []
    if config.contact == "automatic":
        found += [Event(kind, foot) for kind in FOOT_EVENTS for foot in (1, 2)]
        found += [Event(EventKind.FALLEN), Event(EventKind.TOO_DEEP)]
    if config.grounded:
        found.append(Event(EventKind.UNDETERMINED))
    found += [Event(EventKind.TOO_SHORT, link) for link in range(1, config.limbs.n + 1)]
    return {event.name: event for event in found}


def notes(config: Configuration) -> dict[str, Note]:
    """Messages of the events that end the simulation, by the event's name."""
    found = {
        Event(EventKind.TOO_SHORT, i): f"link[{i}].length falls below {SHORTEST:g} of its rest length"
        for i in range(1, config.limbs.n + 1)
    }
    if config.grounded:
        found[Event(EventKind.UNDETERMINED)] = (
            "both legs are locked and parallel and both feet are pinned: the reactions are not determined"
        )
    if config.contact == "automatic":
        cure = "set ground.falls_end to false to continue"
        found[Event(EventKind.FALLEN)] = (
            f"the hip, a knee, the waist or the head is below the ground: it has fallen ({cure})"
        )
        found[Event(EventKind.TOO_DEEP)] = (
            f"a foot is more than {DEEP:g} m below the ground: the host has not located its touch-down ({cure})"
        )
    return {event.name: Note(text, stop=True) for event, text in found.items()}


# --- guards -----------------------------------------------------------------------------------------------------------


def guards(config: Configuration, t: Array, X: Any, D: Any, U: Any, P: Any) -> dict[Event, Array]:
    """The guard of each event."""
    length = X.l - SHORTEST * P.l0
    found = {Event(EventKind.TOO_SHORT, i + 1): length[i] for i in range(config.limbs.n)}
    if not config.grounded:
        return found
    *_, ground, mobility, points = stance(config, X, D, U, P)
    both = D.pinned[0] * D.pinned[1]
    found[Event(EventKind.UNDETERMINED)] = np.where(both > 0, independence(mobility.Om) - 1e-3 * SINGULAR, 1.0)
    if config.contact == "automatic":
        for b in range(2):
            pinned, foot = D.pinned[b], b + 1
            grip = np.where(D.slip[b] > 0, -1.0, 1.0) * _grip(b, P, ground)
            rise = REARM_GAP - gap(config, b, points, P)
            found[Event(EventKind.TOUCH_DOWN, foot)] = _touch_down_guard(config, b, points, D, P)
            found[Event(EventKind.LIFT_OFF, foot)] = np.where(pinned > 0, _lift_off_guard(b, t, D, ground), 1.0)
            found[Event(EventKind.RISE, foot)] = np.where(pinned + D.armed[b] > 0, 1.0, rise)
            found[Event(EventKind.SLIP, foot)] = np.where(pinned > 0, grip, 1.0)
        found[Event(EventKind.FALLEN)] = np.where(P.falls_end > 0, _body_height(config, X, points, P), 1.0)
        found[Event(EventKind.TOO_DEEP)] = np.where(P.falls_end > 0, _depth_margin(config, points, D, P), 1.0)
    return found


def gap(config: Configuration, b: int, points: LinkPoints, P: Any) -> Array:
    """Height of a foot above the ground."""
    return points.foot(config.limbs, b)[1] - P.y_ground


def _touch_down_guard(config: Configuration, b: int, points: LinkPoints, D: Any, P: Any) -> Array:
    """Crosses zero when the foot is at the ground and does not rise.

    A foot that has not risen since it was released lands a little lower; otherwise rounding would set it down again.
    """
    height = gap(config, b, points, P) + np.where(D.armed[b] > 0, 0.0, REARM_GAP - D.rest[b])
    return np.where(D.pinned[b] > 0, 1.0, np.maximum(height, points.foot_velocity(config.limbs, b)[1]))


def _lift_off_guard(b: int, t: Array, D: Any, ground: Support) -> Array:
    """Crosses zero when the reaction pulls, but not before the foot's dwell time is over."""
    return np.maximum(ground.R[b][1] + RELEASE, D.hold[b] - t)


def _grip(b: int, P: Any, ground: Support) -> Array:
    return P.mu * ground.R[b][1] - np.abs(ground.R[b][0])


def _body_height(config: Configuration, X: Any, points: LinkPoints, P: Any) -> Array:
    """The lowest point of the body, feet apart, above the ground."""
    lowest = X.y - P.y_ground
    for i in range(config.limbs.n):
        if i not in config.limbs.shanks:
            lowest = np.minimum(lowest, points.end[1, i] - P.y_ground)
    return lowest


def _depth_margin(config: Configuration, points: LinkPoints, D: Any, P: Any) -> Array:
    """The lower free foot above the depth that is too deep."""
    free = [np.where(D.pinned[b] > 0, 1.0, gap(config, b, points, P) + DEEP) for b in range(2)]
    return np.minimum(free[0], free[1])


# --- jumps ------------------------------------------------------------------------------------------------------------


def jump(config: Configuration, event: Event, t: Array, X: Any, D: Any, U: Any, P: Any) -> tuple[Any, Any]:
    """X and D after an event of a foot."""
    foot = event.number - 1
    match event.kind:
        case EventKind.TOUCH_DOWN:
            return _touch_down(config, t, X, D, U, P, foot)
        case EventKind.LIFT_OFF:
            return X, _lift_off(config, t, X, D, U, P, foot)
        case EventKind.RISE:
            return X, changed(D, armed=_replaced(D.armed, foot, 1.0 + 0.0 * D.armed[foot]))
        case EventKind.SLIP:
            return X, changed(D, slip=_replaced(D.slip, foot, 1.0 - D.slip[foot]))
    raise ValueError(f"{event.name} is not an event of a foot")


def _replaced(pair: Array, foot: int, value: Array) -> Array:
    """The values of both feet with one replaced."""
    return np.stack([value if b == foot else pair[b] for b in range(2)])


def _touch_down(
    config: Configuration, t: Array, X: Any, D: Any, U: Any, P: Any, foot: int
) -> tuple[SimpleNamespace, SimpleNamespace]:
    """One impact of all feet that are pinned, or at the ground and closing."""
    limbs, points = config.limbs, link_points(config.limbs, X, P)
    v = [points.foot_velocity(limbs, b) for b in range(2)]
    near = [np.where(gap(config, b, points, P) <= LANDING_GAP, 1.0, 0.0) for b in range(2)]
    closing = [(1 - D.pinned[b]) * near[b] * np.where(v[b][1] <= 0, 1.0, 0.0) for b in range(2)]
    happens = closing[foot]
    candidate = [np.maximum(D.pinned[b], closing[b]) for b in range(2)]
    e = [np.where(v[b][1] < -P.v_capture, P.e, 0.0) for b in range(2)]
    I, _ = inertia(config, U, P)
    links, sweep = sweep_without_forces(config, X, P, I)
    hit = impact(foot_mobility(limbs, links, sweep, P.gravity).Om, candidate, v, e, P.v_capture)
    added = foot_force_response(limbs, links, sweep, [(happens * L[0], happens * L[1]) for L in hit.Lambda])
    X = add_velocity(X, added)
    X.loss = X.loss + happens * hit.loss
    X.work = X.work + np.sum(added.axial * links.ld)  # the drive of a prescribed length holds it through the impact
    stays = [hit.chosen[b] * np.where(closing[b] * e[b] > 0, 0.0, 1.0) for b in range(2)]
    pinned = [np.where(happens > 0, stays[b], D.pinned[b]) for b in range(2)]
    landed = [happens * stays[b] * closing[b] for b in range(2)]
    left = [happens * candidate[b] * (1 - stays[b]) for b in range(2)]
    D = _released(config, _landed(config, t, D, landed, points), left, points, P)
    D.last_loss = np.where(happens > 0, hit.loss, D.last_loss)
    # The event was located at the ground up to rounding, or a little below: the change of energy that the projection
    # makes counts as a loss.
    before = energy(config, X, P, I)
    X = project_onto_pins(config, X, D, P, [happens * pinned[b] for b in range(2)], rounds=1)
    X.loss = X.loss + happens * (before - energy(config, X, P, I))
    return X, _new_phase(config, t, D, pinned, happens, X, U, P)


def _lift_off(config: Configuration, t: Array, X: Any, D: Any, U: Any, P: Any, foot: int) -> SimpleNamespace:
    *_, ground, _, points = stance(config, X, D, U, P)
    happens = D.pinned[foot] * np.where(_lift_off_guard(foot, t, D, ground) <= 0, 1.0, 0.0)
    pinned = [D.pinned[b] * (1 - happens) if b == foot else D.pinned[b] for b in range(2)]
    D = _released(config, D, [happens if b == foot else 0.0 * happens for b in range(2)], points, P)
    return _new_phase(config, t, D, pinned, happens, X, U, P)


def _landed(config: Configuration, t: Array, D: Any, landed: list[Array], points: LinkPoints) -> SimpleNamespace:
    """D with the anchors, touch-down times and dwell times of feet that have landed."""
    x = [points.foot(config.limbs, b)[0] for b in range(2)]
    dwell = [np.where(D.armed[b] > 0, DWELL, LONG_DWELL) for b in range(2)]
    return changed(
        D,
        ax=np.stack([np.where(landed[b] > 0, x[b], D.ax[b]) for b in range(2)]),
        touched=np.stack([np.where(landed[b] > 0, t, D.touched[b]) for b in range(2)]),
        hold=np.stack([np.where(landed[b] > 0, t + dwell[b], D.hold[b]) for b in range(2)]),
    )


def _released(config: Configuration, D: Any, released: list[Array], points: LinkPoints, P: Any) -> SimpleNamespace:
    """D with the heights from which feet are released."""
    height = [gap(config, b, points, P) for b in range(2)]
    armed = [np.where(height[b] > REARM_GAP, 1.0, 0.0) for b in range(2)]
    return changed(
        D,
        armed=np.stack([np.where(released[b] > 0, armed[b], D.armed[b]) for b in range(2)]),
        rest=np.stack([np.where(released[b] > 0, np.minimum(height[b], 0.0), D.rest[b]) for b in range(2)]),
    )


def _new_phase(
    config: Configuration, t: Array, D: Any, pinned: list[Array], happens: Array, X: Any, U: Any, P: Any
) -> SimpleNamespace:
    """D with these feet pinned: phase, number of events, slip."""
    again = np.where(D.events > 0, 1.0, 0.0) * np.where(t <= D.last_event, 1.0, 0.0)
    D = changed(
        D,
        pinned=np.stack(pinned),
        phase=pinned[0] + 2 * pinned[1],
        events=D.events + happens * (1 - again),
        last_event=np.where(happens > 0, t, D.last_event),
    )
    ground = stance(config, X, D, U, P).ground
    slip = [D.pinned[b] * np.where(_grip(b, P, ground) < 0, 1.0, 0.0) for b in range(2)]
    return changed(D, slip=np.stack(slip))
