"""The start of the exoskeleton: its state, pinned feet, and the conditions that the parameters must meet."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from .configuration import Configuration
from .contact import independence
from .dynamics import project_onto_pins, sweep_without_forces
from .events import DWELL, REARM_GAP, SINGULAR, gap
from .kinematics import LinkPoints, link_points
from .recursion import foot_mobility

Array = Any

AT_GROUND = 1e-6  # m: a foot that starts closer to the ground than this and rests is pinned there (contact=automatic)
PIN_MISFIT = 1e-3  # m: the start state of a foot that is to be pinned may be off by this much; it is projected
PIN_SPEED = 1e-3  # m/s: the same for its velocity


def start_state(config: Configuration, P: Any) -> tuple[SimpleNamespace, SimpleNamespace]:
    """X and D at the start."""
    X = _given_state(P)
    points = link_points(config.limbs, X, P)
    pin = _pinned_start(config, points, P)
    pinned = np.stack(pin)
    at = [points.foot(config.limbs, b) for b in range(2)]
    foot_x, foot_y = (np.stack([foot[axis] for foot in at]) for axis in range(2))
    on_ground = config.contact == "automatic"
    height = np.stack([gap(config, b, points, P) for b in range(2)]) if on_ground else 1.0 + 0.0 * pinned
    D = SimpleNamespace(
        pinned=pinned,
        armed=np.where(height > REARM_GAP, 1.0, 0.0) * (1 - pinned),
        rest=np.minimum(height, 0.0),
        slip=0 * pinned,
        ax=foot_x,
        ay=0 * pinned + P.y_ground if on_ground else foot_y,
        touched=0 * pinned,
        hold=0 * pinned + DWELL,
        phase=pin[0] + 2 * pin[1],
        events=0.0,
        last_event=0.0,
        last_loss=0.0,
    )
    return (project_onto_pins(config, X, D, P, pin, rounds=4) if config.grounded else X), D


def _given_state(P: Any) -> SimpleNamespace:
    """X from the start parameters."""
    zero = 0.0 * P.x_start
    position = dict(x=P.x_start, y=P.y_start, phi=P.phi_start, l=P.l_start)
    velocity = dict(vx=P.vx_start, vy=P.vy_start, w=P.w_start, ld=P.ld_start)
    return SimpleNamespace(**position, **velocity, work=zero, loss=zero, shape_work=zero)


def _pinned_start(config: Configuration, points: LinkPoints, P: Any) -> list[Array]:
    """1 for feet that are to be pinned at the start, and with contact=automatic for those that rest at the ground."""
    if not config.grounded:
        return [0.0 * P.pinned_start[b] for b in range(2)]
    if config.contact == "pinned":
        return [P.pinned_start[b] for b in range(2)]
    pinned = []
    for b in range(2):
        v = points.foot_velocity(config.limbs, b)
        near = np.where(np.abs(gap(config, b, points, P)) <= AT_GROUND, 1.0, 0.0)
        slow = np.where(v[0] ** 2 + v[1] ** 2 <= PIN_SPEED**2, 1.0, 0.0)
        pinned.append(np.maximum(P.pinned_start[b], near * slow))
    return pinned


def requirement_texts(config: Configuration) -> tuple[str, ...]:
    """One message per requirement."""
    texts = [f"link[{i}].length_rate_start must be 0: link[{i}].locked is set" for i in range(1, config.limbs.n + 1)]
    texts.append(
        "all links are parallel at the start and have no axial inertia: the hip's acceleration is not determined; "
        "set link[i].axial_inertia or spread them"
    )
    if config.contact == "automatic":
        for b in (1, 2):
            texts += [
                f"foot[{b}] starts below the ground: raise hip.y_start, or change the angles and lengths at the start",
                f"foot[{b}].pinned_start is set, but foot[{b}] starts more than {PIN_MISFIT:g} m above the ground: "
                "it cannot be pinned there",
            ]
    if config.grounded:
        texts += [
            f"foot[{b}].pinned_start is set, but foot[{b}] moves by more than {PIN_SPEED:g} m/s at the start: "
            "the velocities do not fit the pins"
            for b in (1, 2)
        ]
        texts.append(
            "both legs are locked and parallel and both feet are pinned at the start: "
            "the reactions are not determined; free a length or release a foot"
        )
    return tuple(texts)


def requirements(config: Configuration, P: Any) -> Array:
    """Numbers that must be positive, in the order of their texts."""
    limbs, X = config.limbs, _given_state(P)
    points = link_points(config.limbs, X, P)
    pin = _pinned_start(config, points, P)
    links, sweep = sweep_without_forces(config, X, P, P.I0)
    W = sweep.W
    found = [1.0 - P.locked[i] * np.where(P.ld_start[i] * P.ld_start[i] > 0, 1.0, 0.0) for i in range(limbs.n)]
    found.append(W[0] * W[2] - W[1] * W[1] - SINGULAR * (W[0] + W[2]) ** 2)
    if config.contact == "automatic":
        for b in range(2):
            height = gap(config, b, points, P)
            found += [height + AT_GROUND + PIN_MISFIT * pin[b], np.where(pin[b] > 0, PIN_MISFIT - height, 1.0)]
    if config.grounded:
        speeds = [points.foot_velocity(limbs, b) for b in range(2)]
        found += [np.where(pin[b] > 0, PIN_SPEED**2 - v[0] ** 2 - v[1] ** 2, 1.0) for b, v in enumerate(speeds)]
        determined = independence(foot_mobility(limbs, links, sweep, P.gravity).Om) - SINGULAR
        found.append(np.where(pin[0] * pin[1] > 0, determined, 1.0))
    return np.stack(found)
