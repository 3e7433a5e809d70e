"""A minute of random excitation: thousands of phase changes in both kinds of FMU."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.build import Build
from helpers.exo_cases import A_FRAME
from helpers.fmu_client import Host, Slave
from helpers.tolerances import BELOW, SMOOTH_BALANCE
from mechfmu import Exoskeleton
from mechfmu.simulation.engines import make_instance

THREE = dict(leg1=1, leg2=1, body=1)
STEP, SECONDS = 0.01, 60.0
PUSH, TWIST, HOLD = 300.0, 20.0, 2  # N along the links, N.m at the hips, steps for which they are held
COMPARED = 200  # events after which rounding, amplified by impacts, tells one solver from another
START = A_FRAME | {"hip.y_start": 0.8985693798944521 + 1e-4}
INPUTS = [*(f"link[{i}].axial_force" for i in (1, 2, 3)), "hip.moment[1]", "hip.moment[2]"]
REALS = [
    "energy.total",
    "energy.input",
    "energy.dissipated",
    "foot[1].y",
    "foot[2].y",
    "hip.y",
    "foot[1].reaction_y",
    "foot[2].reaction_y",
]


def excitation() -> np.ndarray:
    random = np.random.default_rng(1)
    values = np.hstack(
        [
            random.uniform(-PUSH, PUSH, (round(SECONDS / STEP / HOLD), 3)),
            random.uniform(-TWIST, TWIST, (round(SECONDS / STEP / HOLD), 2)),
        ]
    )
    return np.repeat(values, HOLD, axis=0)


def advance(slave: Slave, forces: np.ndarray, i: int) -> tuple[int, int]:
    """One step; the phase and the number of events after it."""
    if i % HOLD == 0:
        slave.set(dict(zip(INPUTS, forces[i].tolist(), strict=True)))
    slave.step(STEP, i * STEP)
    phase, events = slave.call("getInteger", [slave.references["phase"], slave.references["events"]])
    return phase, events


@pytest.mark.parametrize("kind", ("native",))
def test_a_minute(fmu: Build, host: Host) -> None:
    slave = host.open(fmu("exoskeleton", **THREE)).initialize(START, 1e-8)
    forces = excitation()
    found = np.vstack(
        [slave.get(*REALS), slave.run([STEP] * len(forces), REALS, dict(zip(INPUTS, forces.T, strict=True)))]
    )
    assert np.all(np.isfinite(found))
    total, put_in, lost = found[:, :3].T
    exchanged = lost[-1]
    assert exchanged > 1000
    assert np.max(np.abs(total - total[0] - put_in + lost)) < SMOOTH_BALANCE * exchanged
    assert np.all(np.diff(lost) > -SMOOTH_BALANCE), "nothing comes back from dampers and impacts"
    assert found[:, 3:5].min() > -BELOW
    assert found[:, 5].min() > 0.8, "it stands to the end"
    pushed = found[:, 6:] != 0
    assert {(bool(a), bool(b)) for a, b in pushed} == {(False, False), (True, False), (False, True), (True, True)}
    assert slave["events"] > 500


@pytest.fixture(scope="module")
def sequence() -> list[tuple[int, int]]:
    """Phases and numbers of events for as long as the native runtime agrees with itself at two tight tolerances.

    Impacts amplify every difference, rounding included.
    """
    mechanism, forces = Exoskeleton.three_link(), excitation()
    pick, inputs = ([mechanism.table.by_name[n] for n in names] for names in (("phase", "events"), INPUTS))
    runs = [make_instance(mechanism, START, "c") for _ in range(2)]
    for instance, tolerance in zip(runs, (1e-10, 1e-12), strict=True):
        instance.initialize(tolerance=tolerance)
    found: list[tuple[int, int]] = []
    for i in range(len(forces)):
        for instance in runs:
            instance.set(inputs, forces[i].tolist())
            instance.step(i * STEP, STEP)
        one, other = (instance.get(pick) for instance in runs)
        if one != other or one[1] > COMPARED:
            break
        found.append((int(one[0]), int(one[1])))
    assert found[-1][1] > 100, "long enough to mean something"
    return found


def test_both_kinds_go_through_the_same_phases(fmu: Build, host: Host, sequence: list[tuple[int, int]]) -> None:
    slave, forces = host.open(fmu("exoskeleton", **THREE)).initialize(START, 1e-10), excitation()
    assert [advance(slave, forces, i) for i in range(len(sequence))] == sequence
