"""The golden data of the exoskeleton, as arguments of the equations and as variables of the FMU."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from helpers.paths import GOLDEN_DATA
from mechfmu.mechanisms.exoskeleton import contact, recursion
from mechfmu.mechanisms.exoskeleton import matrices as dense
from mechfmu.mechanisms.exoskeleton.blocks import plus, times_general
from mechfmu.mechanisms.exoskeleton.topology import Limbs

FOLDER = GOLDEN_DATA / "exoskeleton"
PARAMETERS = {
    "mass": "m",
    "com_fraction": "n",
    "rest_length": "l0",
    "stiffness": "ks",
    "damping": "d",
    "axial_inertia": "ja",
}


def load(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text())


class Case(NamedTuple):
    """A system in a state, under loads."""

    limbs: Limbs
    links: dense.Links
    state: dense.State
    loads: dense.Loads
    g: float
    fixed: np.ndarray | None = None  # links whose l'' is given
    ldd: np.ndarray | None = None

    def with_(self, **changes: Any) -> Case:
        return self._replace(**changes)

    @property
    def v(self) -> np.ndarray:
        return np.concatenate([self.state.qd, self.state.ld])


def case(limbs: Limbs, data: Any) -> Case:
    p, s, i = data["params"], data["state"], data["inputs"]
    array = np.array
    links = dense.Links(*(array(p[k]) for k in ("m", "n", "l0", "ks", "d", "jr", "ja")))
    state = dense.State(*(array(s[k]) for k in ("q", "qd", "l", "ld")))
    R = array(i.get("R", [0.0] * 4)).reshape(2, 2)
    loads = dense.Loads(array(limbs.moments(i["M"], i["MH"])), array(i["Fa"]), R, array(i["I"]), array(i["Id"]))
    made = Case(limbs, links, state, loads, p["g"])
    if "locked_links" in data:
        fixed, ldd = np.zeros(limbs.n), np.zeros(limbs.n)
        for number, value in zip(data["locked_links"], data["ldd_prescribed"], strict=True):
            fixed[number - 1], ldd[number - 1] = 1.0, value
        made = made.with_(fixed=fixed, ldd=ldd)
    return made


def random_case(limbs: Limbs, random: np.random.Generator, length_inertia: bool = False) -> Case:
    """Any system in any state: everything acts."""
    n = limbs.n
    m, l0 = random.uniform(3, 30, n), random.uniform(0.2, 1.0, n)
    jr = random.uniform(0.5, 5, n) if length_inertia else np.zeros(n)
    links = dense.Links(
        m, random.uniform(0.3, 0.7, n), l0, random.uniform(1e4, 1e5, n), random.uniform(0, 500, n), jr, m / 12
    )
    q = np.concatenate([random.uniform(-1, 1, 2), random.uniform(0.7, 2.4, n)])
    state = dense.State(q, random.uniform(-3, 3, n + 2), l0 * random.uniform(0.9, 1.1, n), random.uniform(-0.7, 0.7, n))
    tau = np.array(limbs.moments(random.uniform(-60, 60, n), random.uniform(-60, 60, 2)))
    inertia = (
        (np.zeros(n), np.zeros(n)) if length_inertia else (random.uniform(0.1, 2, n), random.uniform(-0.5, 0.5, n))
    )
    return Case(
        limbs,
        links,
        state,
        dense.Loads(tau, random.uniform(-200, 200, n), random.uniform(-500, 800, (2, 2)), *inertia),
        9.81,
    )


def link_states(c: Case) -> recursion.LinkStates:
    phi, w = c.state.q[2:], c.state.qd[2:]
    ldd = np.zeros(c.limbs.n) if c.ldd is None else c.ldd
    constants = dict(m=c.links.m, c=c.limbs.c(c.links.n), jr=c.links.jr, ja=c.links.ja, I=c.loads.I)
    motion = dict(cos=np.cos(phi), sin=np.sin(phi), w=w, l=c.state.l, ld=c.state.ld)
    return recursion.LinkStates(**constants, **motion, fixed=c.fixed, ldd=ldd)


def swept(c: Case) -> tuple[recursion.LinkStates, recursion.InwardSweep]:
    spring = -c.links.k * (c.state.l - c.links.l0) - c.links.d * c.state.ld + c.loads.Fa
    links = link_states(c)
    forces = recursion.internal_forces(c.limbs, links, spring, c.loads.tau, c.loads.Id)
    return links, recursion.inward_sweep(c.limbs, links, forces)


def fast(c: Case) -> np.ndarray:
    """(q'', l'') by the recursion."""
    links, sweep = swept(c)
    return flat(recursion.outward_sweep(c.limbs, links, sweep, c.g, [tuple(r) for r in c.loads.R]))


def flat(motion: recursion.Accelerations) -> np.ndarray:
    return np.concatenate([[motion.x, motion.y], motion.phi, motion.l])


def system(c: Case) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix and force of the matrix form."""
    return dense.system(dense.matrices(c.limbs, c.links, c.state, c.loads), c.state, c.loads.Id, c.g)


def slow(c: Case) -> np.ndarray:
    """(q'', l'') by the matrices."""
    return np.linalg.solve(*system(c))


def jacobian(c: Case, feet: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """J and J' v of some feet (0, 1)."""
    found = [dense.foot_jacobian(c.limbs, b, c.state) for b in feet]
    return np.vstack([J for J, _ in found]), np.concatenate([rate for _, rate in found])


def pinned_fast(c: Case, feet: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Accelerations, reactions and axial multipliers with pinned feet, by the recursion; the loads' R is added."""
    links, sweep = swept(c)
    mobility = recursion.foot_mobility(c.limbs, links, sweep, c.g)
    outside = [tuple(r) for r in c.loads.R]
    free = []
    for foot in range(2):
        pushed = [times_general(mobility.Om[foot][other], outside[other]) for other in range(2)]
        free.append(plus(mobility.a[foot], plus(*pushed)))
    on = [float(foot in feet) for foot in range(2)]
    R = contact.solve(mobility.Om, on, [(-a[0], -a[1]) for a in free])
    motion = recursion.outward_sweep(c.limbs, links, sweep, c.g, [plus(R[foot], outside[foot]) for foot in range(2)])
    return flat(motion), np.array([R[foot] for foot in feet]).ravel(), motion.axial


def pinned_slow(c: Case, feet: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same from mass matrix, Jacobian and multipliers."""
    mass, force = system(c)
    J, rate = jacobian(c, feet)
    given = np.flatnonzero(c.fixed) if c.fixed is not None else np.zeros(0, dtype=int)
    rows = np.eye(len(mass))[c.limbs.n + 2 + given]
    constraint = np.vstack([J, rows])
    wanted = np.concatenate([-rate, c.ldd[given] if c.ldd is not None else []])
    size = len(wanted)
    solution = np.linalg.solve(
        np.block([[mass, -constraint.T], [constraint, np.zeros((size, size))]]), np.concatenate([force, wanted])
    )
    multipliers = solution[len(mass) :]
    axial = np.zeros(c.limbs.n)
    axial[given] = multipliers[len(rate) :]
    return solution[: len(mass)], multipliers[: len(rate)], axial


def worst(found: Any, wanted: Any) -> float:
    """Largest difference over the largest wanted element."""
    wanted = np.asarray(wanted, dtype=float)
    return float(np.max(np.abs(np.asarray(found, dtype=float) - wanted)) / np.max(np.abs(wanted)))


# --- the FMU's variables ----------------------------------------------------------------------------------------------


def starts(params: Any, q: Any, l: Any, qd: Any = None, ld: Any = None, I0: Any = None) -> dict[str, float]:
    """Parameters that set up a golden system in a state."""
    n = len(params["m"])
    found = {"gravity": params["g"], "hip.x_start": q[0], "hip.y_start": q[1]}
    for name, key in PARAMETERS.items():
        found |= {f"link[{i + 1}].{name}": params[key][i] for i in range(n)}
    inertia = I0 or params.get("I0")
    if inertia:
        found |= {f"link[{i + 1}].inertia": inertia[i] for i in range(n)}
    found |= {f"link[{i + 1}].angle_start": q[2 + i] for i in range(n)} | {
        f"link[{i + 1}].length_start": l[i] for i in range(n)
    }
    if qd is not None:
        found |= {"hip.velocity_x_start": qd[0], "hip.velocity_y_start": qd[1]}
        found |= {f"link[{i + 1}].rate_start": qd[2 + i] for i in range(n)} | {
            f"link[{i + 1}].length_rate_start": ld[i] for i in range(n)
        }
    return found


def moments(limbs: Limbs, M: Any, MH: Any) -> dict[str, float]:
    """Inputs for hinge moments."""
    return {f"link[{i + 1}].moment": M[i] for i in range(limbs.n) if i != limbs.k + limbs.p} | {
        f"hip.moment[{b + 1}]": MH[b] for b in range(2)
    }


def state_names(n: int) -> list[str]:
    """q, l, q', l'."""
    links = range(1, n + 1)
    return [
        "hip.x", "hip.y", *(f"link[{i}].angle" for i in links), *(f"link[{i}].length" for i in links),
        "hip.velocity_x", "hip.velocity_y", *(f"link[{i}].rate" for i in links),
        *(f"link[{i}].length_rate" for i in links),
    ]  # fmt: skip


def acceleration_names(n: int) -> list[str]:
    links = range(1, n + 1)
    return [
        "hip.acceleration_x",
        "hip.acceleration_y",
        *(f"link[{i}].acceleration" for i in links),
        *(f"link[{i}].length_acceleration" for i in links),
    ]


REACTIONS = [f"foot[{b}].reaction_{a}" for b in (1, 2) for a in "xy"]


def drop() -> tuple[Any, dict[str, float]]:
    """The golden drop, with its hip controller as springs and dampers, which is what it is."""
    data = load("hybrid_3link_symmetric")
    x = data["initial_state"]
    start = starts(data["params"], x[:5], x[5:8])
    for b in (1, 2):
        start |= {
            f"hip.stiffness[{b}]": data["control"]["Kp"],
            f"hip.damping[{b}]": data["control"]["Kd"],
            f"hip.rest_angle[{b}]": data["control"]["ref"][b - 1],
        }
    return data, start
