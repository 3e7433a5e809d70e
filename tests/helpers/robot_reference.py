"""Accelerations of robots with mimic joints by Pinocchio, which reads the same file by itself.

Pinocchio lets every joint move on its own, with the mass matrix M and the bias h. With the constant matrix G of the
mimic elements, which are read here with Python's XML parser, v = G v_r, and

    G^T M G vdot_r = tau_r - G^T h                                                                                 (1)
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from helpers import needs

pin = needs.module("pinocchio")

MAX_CONDITION = 1e5  # of the mass matrix with ones on its diagonal


def mimics_of(text: str) -> dict[str, tuple[str, float, float]]:
    """Mimic joints of a URDF text: the joint at the end of the chain, multiplier, offset."""
    direct = {}
    for joint in ElementTree.fromstring(text).findall("joint"):
        mimic = joint.find("mimic")
        if mimic is not None and joint.get("type") != "fixed":
            given = mimic.get("joint", ""), float(mimic.get("multiplier", 1)), float(mimic.get("offset", 0))
            direct[joint.get("name", "")] = given
    found = {}
    for name, (leader, multiplier, offset) in direct.items():
        while leader in direct:
            leader, m, o = direct[leader]
            multiplier, offset = multiplier * m, multiplier * o + offset
        found[name] = leader, multiplier, offset
    return found


def legal(name: str) -> str:
    """The name in an FMU, for the names of these files."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def without_mimics(text: str) -> str:
    return re.sub(r"<mimic\b[^>]*/>", "", text)


@dataclass
class RobotState:
    """Start values and inputs of the FMU, and the accelerations that it must have, by name."""

    start: dict[str, float]
    wanted: dict[str, float]


class RobotReference:
    """A robot in Pinocchio. Joints are matched by name; characters that an FMU cannot have become underscores."""

    def __init__(self, text: str, base: str = "fixed", mimic: bool = True, held: Collection[str] = ()):
        """held: joints of the FMU that do not move because nothing they carry has mass."""
        root = (pin.JointModelFreeFlyer(),) if base == "free" else ()
        plain = without_mimics(text)
        self.model = pin.buildModelFromXML(plain, *root)
        locked = [k for k in range(1, self.model.njoints) if legal(self.model.names[k]) in held]
        if locked:
            self.model = pin.buildReducedModel(self.model, locked, pin.neutral(self.model))
        self.data = self.model.createData()
        self.mimics = mimics_of(text) if mimic else {}
        kinds = {j.get("name"): j.get("type") for j in ElementTree.fromstring(plain).findall("joint")}
        self.slides = {name for name, kind in kinds.items() if kind == "prismatic"}
        model = self.model
        self.moving = [k for k in range(1, model.njoints) if model.names[k] not in self.mimics]
        columns = {k: sum(model.nvs[i] for i in self.moving[:n]) for n, k in enumerate(self.moving)}
        self.G = np.zeros((model.nv, sum(model.nvs[k] for k in self.moving)))
        for k in range(1, model.njoints):
            leader, multiplier, _ = self.mimics.get(model.names[k], (model.names[k], 1.0, 0.0))
            at = columns[model.getJointId(leader)]
            self.G[model.idx_vs[k] : model.idx_vs[k] + model.nvs[k], at : at + model.nvs[k]] = multiplier * np.eye(
                model.nvs[k]
            )

    def state(self, seed: int) -> RobotState:
        """A random state; its torques give accelerations of like size in all joints.

        States in which the mass matrix is nearly singular are drawn again: there two algorithms of Pinocchio differ as
        much from each other as from ours (5e-7 at a condition of 6e10 for icub, whose head has nearly no inertia).
        """
        random = np.random.default_rng(seed)
        while (found := self._state(random)) is None:
            pass
        return found

    def _state(self, random: np.random.Generator) -> RobotState | None:
        model = self.model
        angle: dict[str, float] = {}
        for k in self.moving:
            at = model.idx_qs[k]
            low, high = (max(model.lowerPositionLimit[at], -3.0), min(model.upperPositionLimit[at], 3.0))
            angle[model.names[k]] = random.uniform(*((low, high) if model.nqs[k] == 1 else (-3.0, 3.0)))
        q, e = pin.neutral(model), random.normal(size=4)
        for k in range(1, model.njoints):
            at, (leader, multiplier, offset) = model.idx_qs[k], self.mimics.get(model.names[k], (model.names[k], 1, 0))
            if model.nvs[k] == 6:
                q[at : at + 7] = [*random.uniform(-1.0, 1.0, 3), *(e / np.linalg.norm(e))]
                continue
            assert model.nvs[k] == 1, f"joint {model.names[k]}: a kind that is not compared"
            value = multiplier * angle[leader] + offset
            q[at : at + model.nqs[k]] = [value] if model.nqs[k] == 1 else [np.cos(value), np.sin(value)]
        v_r, wanted = random.uniform(-1.0, 1.0, (2, self.G.shape[1]))
        v = self.G @ v_r
        upper = np.triu(pin.crba(model, self.data, q))
        M = upper + np.triu(upper, 1).T
        reduced = self.G.T @ M @ self.G
        scale = 1 / np.sqrt(np.abs(np.diag(reduced)))
        if np.linalg.cond(scale[:, None] * reduced * scale) > MAX_CONDITION:
            return None
        h = np.array(pin.nonLinearEffects(model, self.data, q, v))
        tau = self.G.T @ (M @ self.G @ (5.0 * wanted) + h)
        vdot = self.G @ np.linalg.solve(reduced, tau - self.G.T @ h)  # (1)
        return self._named(q, v, tau, vdot, angle)

    def _named(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, vdot: np.ndarray, angle: dict[str, float]
    ) -> RobotState:
        start: dict[str, float] = {}
        wanted: dict[str, float] = {}
        at_tau = 0
        for k in range(1, self.model.njoints):
            joint, at_q, at = self.model.names[k], self.model.idx_qs[k], self.model.idx_vs[k]
            if self.model.nvs[k] == 6:  # speeds: here the world's, there the body's
                A = pin.Quaternion(q[at_q + 6], *q[at_q + 3 : at_q + 6]).toRotationMatrix()
                groups = {
                    "position_start": q[at_q : at_q + 3],
                    "quaternion_start": q[[at_q + 6, at_q + 3, at_q + 4, at_q + 5]],
                    "speed_start": A @ v[at : at + 3],
                    "rate_start": v[at + 3 : at + 6],
                    "force": A @ tau[at_tau : at_tau + 3],
                    "torque": tau[at_tau + 3 : at_tau + 6],
                }
                start |= {f"base.{word}[{i + 1}]": x for word, values in groups.items() for i, x in enumerate(values)}
                linear = A @ (vdot[at : at + 3] + np.cross(v[at + 3 : at + 6], v[at : at + 3]))
                wanted |= {f"base.linear_acceleration[{i + 1}]": x for i, x in enumerate(linear)}
                wanted |= {f"base.angular_acceleration[{i + 1}]": x for i, x in enumerate(vdot[at + 3 : at + 6])}
                at_tau += 6
                continue
            name = legal(joint)
            wanted[f"{name}.acceleration"] = vdot[at]
            start |= {f"{name}.damping": 0.0, f"{name}.friction": 0.0}  # Pinocchio has neither here
            if k in self.moving:
                words = ("position", "speed", "force") if joint in self.slides else ("angle", "rate", "torque")
                values = (angle[joint], v[at], tau[at_tau])
                start |= {f"{name}.{word}": x for word, x in zip(_start_words(words), values, strict=True)}
                at_tau += 1
        return RobotState({n: float(x) for n, x in start.items()}, {n: float(x) for n, x in wanted.items()})


def _start_words(words: tuple[str, str, str]) -> tuple[str, str, str]:
    return f"{words[0]}_start", f"{words[1]}_start", words[2]
