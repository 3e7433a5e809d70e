"""Imitated hosts: each runs every mechanism of the package and a URDF robot, and ends where Co-Simulation ends.

The FMU receives the calls of the tools in their order: OpenModelica, CVode-like hosts with four solvers, fmuCheck,
Simulink, OMSimulator, MasterSim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil

import numpy as np
import pytest

from helpers.native_build import Native, extra
from helpers.native_fmi import MODEL_EXCHANGE
from helpers.paths import DOCS
from helpers.rehearsal_co_simulation import Simulink
from helpers.rehearsal_fmu import ImportedFmu
from helpers.rehearsal_hosts import (
    EVENT_HOSTS,
    HOSTS,
    MECHANISMS,
    ROBOT,
    TOLERANCES,
    Host,
    Outcome,
    load,
    rehearse,
    rehearse_events,
    table,
)
from helpers.rehearsal_job import Job, Run, difference, job_of, ramps, reference, with_other_start
from helpers.rehearsal_model_exchange import CHATTERING_EVENTS, Chattering, OpenModelica, Progress, VariableStep
from helpers.tolerances import (
    COARSE_GAP,
    HOST_GLOBAL_ERROR,
    KNOWN_LOSS,
    REFERENCE_ERROR,
    SAME_ERROR,
    STEP_EVENTS_PER_SECOND,
)
from mechfmu import mechanisms

pytest_plugins = ("helpers.native_fixtures",)

every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS)
Load = Callable[[str], ImportedFmu]


@pytest.fixture(scope="session")
def imported(native: Native) -> Load:
    """imported(name): the native FMU of a mechanism, loaded once."""
    loaded: dict[str, ImportedFmu] = {}

    def get(name: str) -> ImportedFmu:
        if name not in loaded:
            loaded[name] = load(native, name)
        return loaded[name]

    return get


# --- every host, every mechanism --------------------------------------------------------------------------------------


@every_mechanism
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_a_host_ends_where_co_simulation_does(imported: Load, host: Host, mechanism: str) -> None:
    outcome = rehearse(host, imported(mechanism))
    assert not outcome.violation, outcome.violation


@pytest.mark.parametrize("tolerance", TOLERANCES, ids="{:.0e}".format)
@pytest.mark.parametrize("host", EVENT_HOSTS)
def test_the_exoskeletons_events_are_those_of_co_simulation(imported: Load, host: str, tolerance: float) -> None:
    events = rehearse_events(host, tolerance, imported("exoskeleton"))
    assert not events.violation, events.violation


def test_co_simulation_of_the_exoskeleton_is_the_known_one(imported: Load) -> None:
    fmu = imported("exoskeleton")
    run = reference(fmu, job_of(fmu.description))
    assert (run["events"], run.phases) == (3, [0, 3, 0, 3])
    assert run["impact_energy_loss"] == pytest.approx(6.836, abs=KNOWN_LOSS)


@pytest.mark.parametrize("solver", HOST_GLOBAL_ERROR)
def test_feet_that_land_one_after_the_other(imported: Load, solver: str) -> None:
    """An uneven start: a landing throws the other foot up, and phases last for microseconds."""
    fmu, tolerance = imported("exoskeleton"), 1e-8
    job = with_other_start(fmu.description, replace(job_of(fmu.description), stop=0.2))
    run, wanted = VariableStep(solver, tolerance).run(fmu, job), reference(fmu, job)
    assert [run[name] for name in ("phase", "events")] == [wanted[name] for name in ("phase", "events")]
    motion = ("hip.x", "hip.y", "energy.dissipated")
    assert [run[name] for name in motion] == pytest.approx(
        [wanted[name] for name in motion], abs=HOST_GLOBAL_ERROR[solver] * tolerance + REFERENCE_ERROR
    )


@pytest.mark.parametrize("solver", HOST_GLOBAL_ERROR)
@pytest.mark.parametrize(
    "start",
    ({"link[1].angle_start": 1.34}, {"hip.velocity_x_start": 0.5, "link[2].angle_start": 1.2}),
    ids=("tilted", "running"),
)
def test_no_foot_sinks_into_the_ground_in_a_coarse_host(imported: Load, solver: str, start: dict[str, float]) -> None:
    """With errors of this size a foot is at the ground while it rises, and is caught when it no longer does."""
    fmu, tolerance = imported("exoskeleton"), 1e-4
    job = replace(job_of(fmu.description), parameters=(*start.items(), ("ground.falls_end", 0.0)))
    run, wanted = VariableStep(solver, tolerance).run(fmu, job), reference(fmu, job)
    assert abs(run["events"] - wanted["events"]) <= 2
    assert [run[f"foot[{b}].gap"] for b in (1, 2)] == pytest.approx(
        [wanted[f"foot[{b}].gap"] for b in (1, 2)], abs=COARSE_GAP
    )


@every_mechanism
@pytest.mark.parametrize("solver", ("LSODA", "RK45"))
def test_the_default_experiment_has_at_most_one_step_event_per_second(
    imported: Load, solver: str, mechanism: str
) -> None:
    fmu = imported(mechanism)
    job = Job(fmu.description.stop, fmu.description.step)
    assert VariableStep(solver).run(fmu, job).step_events <= ceil(STEP_EVENTS_PER_SECOND * job.stop)


@every_mechanism
def test_step_events_do_not_make_the_result_worse(imported: Load, mechanism: str) -> None:
    fmu = imported(mechanism)
    job = job_of(fmu.description, ramps(fmu.description))
    honoured, ignored = (
        difference(fmu, VariableStep("LSODA", 1e-6, honour).run(fmu, job), reference(fmu, job)).error
        for honour in (True, False)
    )
    assert honoured < SAME_ERROR * ignored + REFERENCE_ERROR


# --- OpenModelica -----------------------------------------------------------------------------------------------------


@every_mechanism
def test_openmodelica_finds_no_independent_variable(imported: Load, mechanism: str) -> None:
    """Its import block would declare `Real time`, and a model with the block is structurally singular."""
    assert not imported(mechanism).description.of("independent")


@every_mechanism
def test_openmodelica_can_set_every_parameter(imported: Load, mechanism: str) -> None:
    """Its import block has no setter for enumerations, and libcosim ignores them."""
    assert not [
        v.name for v in imported(mechanism).description.of("parameter") if v.kind not in ("Real", "Integer", "Boolean")
    ]


@every_mechanism
def test_start_values_set_by_openmodelica_act(imported: Load, mechanism: str) -> None:
    """After initialisation, the start values of states among them."""
    fmu = imported(mechanism)
    plain = replace(job_of(fmu.description, ramps(fmu.description)), stop=0.1)
    other = with_other_start(fmu.description, plain)
    assert difference(fmu, reference(fmu, other), reference(fmu, plain)).error > 1e-3, (
        "the other start values make a difference"
    )
    outcome = rehearse(OpenModelica(), fmu, other)
    assert not outcome.violation, outcome.violation


@every_mechanism
def test_inputs_connected_in_openmodelica_act(imported: Load, mechanism: str) -> None:
    fmu = imported(mechanism)
    outcome = rehearse(OpenModelica(), fmu, job_of(fmu.description, ramps(fmu.description)))
    assert not outcome.violation, outcome.violation


# --- Simulink ---------------------------------------------------------------------------------------------------------


@every_mechanism
def test_simulink_may_leave_all_inputs_at_zero(imported: Load, mechanism: str) -> None:
    fmu = imported(mechanism)
    outcome = rehearse(Simulink(), fmu, job_of(fmu.description, "zero", held=True))
    assert not outcome.violation, outcome.violation


def held(fmu: ImportedFmu) -> Job:
    return job_of(fmu.description, ramps(fmu.description), held=True)


@every_mechanism
def test_outputs_have_no_direct_feedthrough_but_the_declared(imported: Load, mechanism: str) -> None:
    fmu = imported(mechanism)
    assert not Simulink().undeclared_feedthrough(fmu, held(fmu))


@every_mechanism
def test_blocks_of_one_fmu_do_not_disturb_each_other(imported: Load, mechanism: str) -> None:
    fmu = imported(mechanism)
    job, other = held(fmu), with_other_start(fmu.description, held(fmu))
    together = Simulink().blocks(fmu, [job, other, job])
    alone = [Simulink().run(fmu, j) for j in (job, other, job)]
    assert all(np.array_equal(a.values, b.values) for a, b in zip(together, alone, strict=True))
    assert not np.array_equal(alone[0].values, alone[1].values)


@every_mechanism
def test_a_rerun_after_reset_gives_the_same_bits(imported: Load, mechanism: str) -> None:
    fmu = imported(mechanism)
    first, second = Simulink().again(fmu, [held(fmu)] * 2)
    assert np.array_equal(first.values, second.values)


@every_mechanism
def test_fast_restart_takes_new_parameters(imported: Load, mechanism: str) -> None:
    fmu = imported(mechanism)
    job, other = held(fmu), with_other_start(fmu.description, held(fmu))
    restarted = Simulink().again(fmu, [job, other, job])
    fresh = [Simulink().run(fmu, j) for j in (job, other, job)]
    assert all(np.array_equal(a.values, b.values) for a, b in zip(restarted, fresh, strict=True))


# --- the hosts themselves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", [h for h in HOSTS if h.name not in ("Simulink", "OMSimulator", "MasterSim")], ids=lambda host: host.name
)
def test_a_host_finds_the_impacts_of_a_ball(native: Native, host: Host) -> None:
    ball = extra("bouncing_ball")
    outcome = rehearse(host, ImportedFmu(ball, native.binary(ball)), Job(1.2, 0.01))
    assert not outcome.violation, outcome.violation


@pytest.mark.parametrize("solver", HOST_GLOBAL_ERROR)
def test_a_solver_rejects_steps_that_the_fmu_has_seen(imported: Load, solver: str) -> None:
    """Choosing the first step size goes back once."""
    fmu = imported("link_chain")
    assert VariableStep(solver).run(fmu, job_of(fmu.description)).returns > 1


def test_a_host_sees_the_descriptions_states_and_indicators(imported: Load) -> None:
    instance = imported("exoskeleton").instance(MODEL_EXCHANGE).continuous()
    assert np.all(np.isfinite(instance.derivatives())) and len(instance.states()) == len(instance.derivatives()) > 0
    assert len(instance.indicators()) > 0


def test_chattering_is_told() -> None:
    progress = Progress(Run([]))
    for k in range(5):
        progress.event(0.1 * k)
    with pytest.raises(Chattering, match=r"t = 0\.5"):
        for k in range(CHATTERING_EVENTS + 1):
            progress.event(0.5 + 1e-8 * k)


def test_the_table_tells_errors_and_failures() -> None:
    text = table(
        [Outcome("A", "Arm", 2.04e-7, ""), Outcome("B", "Arm", float("inf"), "refused"), Outcome("A", "Cart", 0.0, "")]
    )
    assert text.splitlines() == [
        "| mechanism | A | B |",
        "| --- | --- | --- |",
        "| Arm | 2e-07 | fails |",
        "| Cart | exact |  |",
        "",
        "- Arm in B: refused",
    ]


def test_the_tables_in_the_documentation_have_every_host_and_mechanism() -> None:
    """`python tests/rehearsal_hosts.py` prints them."""
    page = (DOCS / "hosts.md").read_text(encoding="utf-8")
    names = [ROBOT.stem if name == ROBOT.stem else mechanisms.find(name)().name for name in MECHANISMS]
    assert (
        f"| {' | '.join(['mechanism', *(host.name for host in HOSTS)])} |" in page
        and f"| {' | '.join(['tolerance', *EVENT_HOSTS])} |" in page
    )
    assert all(f"\n| {name} | " in page for name in (*names, *(f"{tolerance:.0e}" for tolerance in TOLERANCES)))
    assert "failed" not in page.split("## Rehearsals")[1]
