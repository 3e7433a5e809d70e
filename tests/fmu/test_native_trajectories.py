"""The golden example as a native FMU, in Co-Simulation and Model Exchange, in five hosts, each in its own process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers import needs
from helpers.native_build import Native, run
from helpers.native_fmi import MODEL_EXCHANGE, Component, Fmu
from helpers.paths import TESTS
from helpers.tolerances import CASADI, CVODE, CVODE_RATE, GOLDEN_ANGLE, GOLDEN_RATE, SAME_BINARY, TANGENT, TIGHT
from mechfmu import LinkChain

pytest_plugins = ("helpers.native_fixtures",)

EXAMPLE = json.loads((TESTS / "golden" / "chain_example_n10.json").read_text())
ANGLES = [f"joint[{k}].angle" for k in range(1, 11)]
RATES = [f"joint[{k}].rate" for k in range(1, 11)]
GOLDEN = np.hstack([EXAMPLE["reference"]["q"], EXAMPLE["reference"]["dq"]])[1:]  # at 0.1 s, 0.2 s, ... 10 s
STEP, COUNT = 0.01, 1000


@pytest.fixture(scope="module")
def chain(native: Native) -> Fmu:
    return Fmu(LinkChain(links=10), native.binary(LinkChain(links=10)))


@pytest.fixture(scope="module")
def co_simulation(chain: Fmu) -> np.ndarray:
    """Angles and rates every 0.1 s, by steps of 10 ms at a tolerance of 1e-9."""
    return chain.open().initialize(tolerance=TIGHT).run([STEP] * COUNT, ANGLES + RATES)[9::10]


def assert_golden(rows: np.ndarray, angle: float = GOLDEN_ANGLE, rate: float = GOLDEN_RATE) -> None:
    assert rows.shape == GOLDEN.shape
    assert np.abs(rows - GOLDEN)[:, :10].max() < angle
    assert np.abs(rows - GOLDEN)[:, 10:].max() < rate


def test_co_simulation_is_golden(co_simulation: np.ndarray) -> None:
    assert_golden(co_simulation)


@pytest.mark.parametrize("h", (0.001, 0.1, 1.0))
def test_co_simulation_is_golden_with_any_step(chain: Fmu, h: float) -> None:
    instance = chain.open().initialize(tolerance=TIGHT)
    rows = instance.run([h] * round(10 / h), ANGLES + RATES)
    every = max(1, round(0.1 / h))
    wanted = GOLDEN[round(max(h, 0.1) / 0.1) - 1 :: round(max(h, 0.1) / 0.1)]
    assert np.abs(rows[every - 1 :: every] - wanted)[:, :10].max() < GOLDEN_ANGLE


# --- Model Exchange ---------------------------------------------------------------------------------------------------


def ordered(instance: Component) -> list[str]:
    return [s.name for s in sorted(instance.fmu.mechanism.table.of("state"), key=lambda s: s.index)]


def test_model_exchange_is_golden(chain: Fmu, co_simulation: np.ndarray) -> None:
    """Integrated by scipy at 1e-12, so that only the FMU's derivatives count."""
    instance = chain.open(MODEL_EXCHANGE).continuous()

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        instance.do("fmi2SetTime", t)
        instance.set_states(x)
        return instance.derivatives()

    start = instance.states()
    times = EXAMPLE["t"][1:]
    solution = solve_ivp(rates, (0.0, 10.0), start, "DOP853", times, rtol=1e-12, atol=1e-12)
    names = ordered(instance)
    rows = solution.y.T[:, [names.index(n) for n in ANGLES + RATES]]
    assert_golden(rows)
    assert np.abs(rows - co_simulation)[:, :10].max() < GOLDEN_ANGLE


def test_outputs_in_model_exchange_are_those_of_co_simulation(chain: Fmu) -> None:
    """At the same point both interface types must show the same numbers, to the last bit."""
    stepped = chain.open().initialize({"joint[3].torque": 0.5})
    stepped.step(0.2)
    exchanged = chain.open(MODEL_EXCHANGE).continuous({"joint[3].torque": 0.5})
    exchanged.do("fmi2SetTime", 0.2)
    exchanged.set_states(stepped.get(*ordered(stepped)))
    outputs = [s.name for s in chain.mechanism.table.of("input", "state", "output", "derivative")]
    assert np.array_equal(exchanged.get(*outputs), stepped.get(*outputs))


# --- other hosts ------------------------------------------------------------------------------------------------------

FMPY = """
import json, sys
sys.modules["mechfmu"] = None
import fmpy
result = fmpy.simulate_fmu(sys.argv[1], fmi_type=sys.argv[2], stop_time=10.0, output_interval=0.01,
                           relative_tolerance=float(sys.argv[3]), output=json.loads(sys.argv[4]))
print(json.dumps([[float(v) for v in row] for row in result.tolist()]))
"""


@pytest.mark.parametrize(
    ("kind", "angle", "rate"),
    (("CoSimulation", GOLDEN_ANGLE, GOLDEN_RATE), ("ModelExchange", CVODE, CVODE_RATE)),
    ids=("Co-Simulation", "Model Exchange"),
)
def test_fmpy(native: Native, tmp_path: Path, kind: str, angle: float, rate: float, co_simulation: np.ndarray) -> None:
    done = run(
        [sys.executable, "-c", FMPY, native.fmu(LinkChain(links=10)), kind, TIGHT, json.dumps(ANGLES + RATES)],
        cwd=tmp_path,
    )
    rows = np.array(json.loads(done.stdout.splitlines()[-1]))
    assert rows[-1, 0] == pytest.approx(10.0)
    assert_golden(rows[10::10, 1:], angle, rate)
    assert np.abs(rows[10::10, 1:11] - co_simulation[:, :10]).max() < (SAME_BINARY if kind == "CoSimulation" else angle)


@pytest.mark.parametrize("name", ("libcosim", "ecos"))
def test_other_masters(native: Native, tmp_path: Path, name: str, co_simulation: np.ndarray) -> None:
    """They do not set a tolerance, so the FMU's parameter is set to the same value."""
    needs.master(name)
    job = dict(start={"solver.relative_tolerance": TIGHT}, step=STEP, count=COUNT, outputs=ANGLES + RATES)
    done = run(
        [sys.executable, TESTS / "helpers" / "other_hosts.py", name, native.fmu(LinkChain(links=10)), json.dumps(job)],
        cwd=tmp_path,
    )
    rows = np.array(json.loads(done.stdout.splitlines()[-1]))[9::10]
    assert_golden(rows)
    assert np.abs(rows - co_simulation)[:, :10].max() < SAME_BINARY


CASADI_HOST = """
import json, sys
sys.modules["mechfmu"] = None
import casadi
import numpy as np
dae = casadi.DaeBuilder("chain", sys.argv[1])
start = json.loads(sys.argv[2])
names, inputs = dae.x(), dae.u()
x0 = [start.get(n, 0.0) for n in names]
u0 = [0.0] * len(inputs)
f = dae.create("f", ["t", "x", "u"], ["ode", "y"])
t, x, u = casadi.MX.sym("t"), casadi.MX.sym("x", len(names)), casadi.MX.sym("u", len(inputs))
ode, y = f(t, x, u)
point = (0.0, [0.1 * (i % 5) - 0.2 for i in range(len(names))], [0.3 * (i % 3) for i in range(len(inputs))])
jacobians = [casadi.jacobian(value, by) for value in (ode, y) for by in (x, u)]
derivatives = casadi.Function("J", [t, x, u], [ode, y, *jacobians])
integrator = casadi.integrator("I", "cvodes", dict(t=t, x=x, ode=casadi.substitute(ode, u, casadi.DM(u0))), 0.0,
                               [0.1 * i for i in range(1, 11)], dict(reltol=1e-9, abstol=1e-9))
values = [np.array(casadi.DM(v)).tolist() for v in derivatives(*point)]
trajectory = np.array(integrator(x0=x0)["xf"]).T.tolist()
print(json.dumps(dict(x=names, u=inputs, y=dae.y(), point=point, values=values, trajectory=trajectory)))
"""


@pytest.fixture(scope="module")
def in_casadi(native: Native, tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = native.folder(native.fmu(LinkChain(links=10)))
    done = run(
        [sys.executable, "-c", CASADI_HOST, folder, json.dumps({"joint[1].angle": -1.0})],
        cwd=tmp_path_factory.mktemp("casadi"),
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_casadi_integrates_the_imported_fmu(in_casadi: dict, co_simulation: np.ndarray) -> None:
    rows = np.array(in_casadi["trajectory"])[:, [in_casadi["x"].index(n) for n in ANGLES]]
    assert np.abs(rows - GOLDEN[:10, :10]).max() < CASADI
    assert np.abs(rows - co_simulation[:10, :10]).max() < CASADI


def test_casadi_sees_the_derivatives(in_casadi: dict, chain: Fmu) -> None:
    """Rates, outputs and their Jacobians as CasADi asks the FMU for them are those of our own calls."""
    instance = chain.open(MODEL_EXCHANGE).continuous()
    x, u, y, (_, x_at, u_at) = in_casadi["x"], in_casadi["u"], in_casadi["y"], in_casadi["point"]
    point = dict(zip(x, x_at, strict=True))
    instance.set_states([point[n] for n in ordered(instance)])
    instance.set(dict(zip(u, u_at, strict=True)))
    derivatives = [f"der({n})" for n in x]
    ode, out, ode_x, ode_u, out_x, out_u = (np.array(v) for v in in_casadi["values"])
    assert ode[:, 0] == pytest.approx(instance.get(*derivatives), rel=1e-14, abs=1e-14)
    assert out[:, 0] == pytest.approx(instance.get(*y), rel=1e-14, abs=1e-14)
    for found, unknowns, knowns in ((ode_x, derivatives, x), (ode_u, derivatives, u), (out_x, y, x), (out_u, y, u)):
        outputs = [n for n in unknowns if n not in x]
        rows = [unknowns.index(n) for n in outputs]
        wanted = np.column_stack([instance.directional(outputs, {k: 1.0}) for k in knowns])
        assert np.abs(found[rows] - wanted).max() < TANGENT * np.abs(wanted).max()
