"""The events of the exoskeleton, by name: of a foot (touch_down[1]), of a link (too_short[3]), or of all of it (fallen)."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class EventKind(Enum):
    TOUCH_DOWN = "touch_down"  # a foot reaches the ground: impact
    LIFT_OFF = "lift_off"  # a pinned foot is released
    RISE = "rise"  # a released foot has cleared the ground and may land at its height again
    SLIP = "slip"  # a pinned foot begins or ceases to need more friction than there is
    FALLEN = "fallen"  # the body is below the ground
    TOO_DEEP = "foot_too_deep"  # a foot is below the ground although it is not pinned
    UNDETERMINED = "reactions_undetermined"  # both feet are pinned and the legs are rigid and parallel
    TOO_SHORT = "too_short"  # a link


OF_A_FOOT = (EventKind.TOUCH_DOWN, EventKind.LIFT_OFF, EventKind.RISE, EventKind.SLIP)


class Event(NamedTuple):
    kind: EventKind
    number: int = 0  # of the foot or link, from 1; 0: there is only one such event

    @property
    def name(self) -> str:
        return f"{self.kind.value}[{self.number}]" if self.number else self.kind.value


def events(contact: str, link_count: int) -> dict[str, Event]:
    """All events by name, in the order of their guards."""
    found: list[Event] = []
    if contact == "automatic":
        found += [Event(kind, foot) for kind in OF_A_FOOT for foot in (1, 2)]
        found += [Event(EventKind.FALLEN), Event(EventKind.TOO_DEEP)]
    if contact in ("automatic", "pinned"):
        found.append(Event(EventKind.UNDETERMINED))
    found += [Event(EventKind.TOO_SHORT, link) for link in range(1, link_count + 1)]
    return {event.name: event for event in found}
