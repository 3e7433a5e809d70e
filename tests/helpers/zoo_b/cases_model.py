"""Cases of the mathematics: dependencies, derivatives, agreement, events (D9 to D12, D14, D15)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from .case import Case
from .describe import Description


def case(rule: str, point: str, name: str, what: str, cls: str = "error", **more: object) -> Case:
    return Case(name, cls, rule, point, what, defect=str(more.pop("defect", name)), **more)  # type: ignore[arg-type]


def depends(section: str, key: str, words: str):
    def change(table: Description) -> Description:
        return replace(table, **{section: {**getattr(table, section), key: words}})

    return change


P = "dependencies"
Q = '2.2.8 "Otherwise the Unknown depends on the Knowns defined by the given ScalarVariable indices"'
DEPENDENCIES = [
    case(
        "D9",
        P,
        "depends_output",
        f"An output depends on an input that is not listed: {Q}.",
        defect="",
        table=depends("outputs", "q_valve", "h1 h2"),
    ),
    case(
        "D9",
        P,
        "depends_boolean",
        f"A Boolean output depends on a Boolean input that is not listed: {Q}.",
        defect="",
        table=depends("outputs", "running", ""),
    ),
    case(
        "D9",
        P,
        "depends_discrete",
        f"A discrete output depends on a discrete input that is not listed: {Q}.",
        defect="",
        table=depends("outputs", "set_scaled", ""),
    ),
    case(
        "D9",
        P,
        "depends_derivative",
        f"A derivative depends on a state that is not listed: {Q}.",
        defect="",
        table=depends("derivatives", "der_h2", "u_valve h1 time"),
    ),
    case(
        "D9",
        P,
        "depends_time",
        f"An output depends on the time, which is not listed: {Q}.",
        defect="",
        table=depends("outputs", "rain", ""),
    ),
    case(
        "D9",
        P,
        "depends_initial",
        f"An initial unknown depends on a parameter that is not listed: {Q}.",
        defect="",
        table=depends("initial", "q_valve", "u_valve h1 h2 fluid"),
    ),
    case(
        "D9",
        P,
        "depends_initial_enum",
        f"An initial unknown depends on an enumeration that is not listed: {Q}.",
        defect="",
        table=depends("initial", "der_vol", "k_drain h2"),
    ),
    case(
        "D9",
        P,
        "depends_initial_text",
        f"A String unknown depends on a String parameter that is not listed: {Q}.",
        defect="",
        table=depends("initial", "alarm", "h_high alarm_delay h2 mute label"),
    ),
    case(
        "D9",
        P,
        "kind_constant",
        'A non-linear dependency is declared as constant factor: 2.2.8 "c * v".',
        defect="",
        table=depends("outputs", "q_valve", "u_valve h1 h2|dependent constant dependent"),
    ),
    case(
        "D9",
        P,
        "kind_fixed",
        'A factor that changes at events is declared as fixed: 2.2.8 "evaluated before fmi2ExitInitializationMode".',
        defect="",
        table=depends("outputs", "q_over", "h1|fixed"),
    ),
]

P = "late and non-linear feed-through"
FEED = [
    case("D9", P, "feed_late", f"After the leak begins an output depends on an input that is not listed: {Q}."),
    case("D9", P, "feed_square", f"An output depends on the square of an input that is 0 at the start: {Q}."),
    case("D9", P, "feed_threshold", f"An output depends on an input above a threshold only: {Q}."),
    case("D9", P, "feed_state_late", f"After the leak begins an output depends on a state that is not listed: {Q}."),
    case("D9", P, "feed_initial", f"In initialization mode an output depends on an input that is not listed: {Q}."),
    case("D9", P, "feed_event", f"In event mode a discrete output depends on a state that is not listed: {Q}."),
    case("D9", P, "feed_derivative", f"A derivative depends on a state that is not listed, non-linearly: {Q}."),
]

Q = '2.1.9 "computes a linear combination of the partial derivatives of h with respect to the selected input variables"'
DIRECTIONS = [
    case("D10", "directional derivatives: seeds", "dd_unit_seed", f"Every seed is taken for 1: {Q}.", also=("D15",)),
    case("D10", "directional derivatives: seeds", "dd_abs_seed", f"The sign of a seed is lost: {Q}.", also=("D15",)),
    case("D10", "directional derivatives: several knowns", "dd_first_known", f"Only the first known counts: {Q}."),
    case("D10", "directional derivatives: several knowns", "dd_one_known", f"Several knowns are refused: {Q}."),
    case("D10", "directional derivatives: several knowns", "dd_reversed", f"Several unknowns come in reverse: {Q}."),
    case(
        "D10",
        "directional derivatives: accumulation",
        "dd_accumulates",
        f"Earlier results are added by halves: {Q}.",
        also=("D15",),
    ),
    case(
        "D10",
        "directional derivatives: accumulation",
        "dd_adds",
        f"The result is added to what the array held: {Q}.",
        also=("D15",),
    ),
    case("D10", "directional derivatives", "dd_sign", f"The derivatives of one unknown have the wrong sign: {Q}."),
    case("D10", "directional derivatives", "dd_late", f"After the leak begins one derivative is wrong: {Q}."),
    case(
        "D10",
        "directional derivatives",
        "dd_stale",
        f"The derivatives are those of an earlier point: {Q}.",
        also=("D15",),  # the unit computes the derivatives of its outputs from them
    ),
    case("D10", "directional derivatives", "dd_no_time", f"The derivative for the independent variable is 0: {Q}."),
    case("D10", "directional derivatives", "dd_initial_zero", f"All derivatives are 0 in initialization mode: {Q}."),
    case(
        "D10",
        "directional derivatives",
        "dd_initial_refused",
        "The call is refused in initialization mode, 3.2.3 allows it.",
        also=("D3",),
    ),
    case("D10", "directional derivatives", "dd_disturbs", "The call changes a state."),
]

P = "Co-Simulation against Model Exchange"
AGREE = [
    case("D11", P, "cs_other_area", "The two interface types use different parameters.", "warning"),
    case("D11", P, "cs_no_overflow", "The solver inside knows no overflow.", "warning"),
    case(
        "D11",
        P,
        "cs_sample_by_step",
        "The controller is sampled at every communication point instead of every 0.4 s, "
        "so smaller steps do not converge.",
        "warning",
    ),
    case(
        "D11",
        P,
        "cs_whole_substeps",
        "The solver makes whole substeps of 0.03 s and drops the rest.",
        "warning",
        also=("D15",),
    ),
    case(
        "D11",
        P,
        "me_no_time_events",
        "Model Exchange announces no time events, so that the controller never runs.",
        "warning",
        also=("D14",),
    ),
]


def shifted(column: int, first: int, by: float) -> str:
    """The reference results with one column moved from a row on."""
    lines = (Path(__file__).resolve().parent / "tank_ref.csv").read_text().splitlines()
    for number in range(first, len(lines)):
        words = lines[number].split(",")
        words[column] = repr(float(words[column]) + by)
        lines[number] = ",".join(words)
    return "\n".join([*lines, ""])


P = "reference result"
REFERENCES = [
    case(
        "D12",
        P,
        "reference_late",
        "A level differs from the reference file after 80 % of the experiment.",
        "warning",
        defect="",
        reference=shifted(1, 160, 0.2),
    ),
    case(
        "D12",
        P,
        "reference_flow",
        "A flow differs from the reference file all the time.",
        "warning",
        defect="",
        reference=shifted(2, 1, -0.05),
    ),
]

P = "event indicators against state and time events"
Q = '3.2.2 "A state event is triggered when the domain of an event indicator changes"'
INDICATORS = [
    case(
        "D14",
        P,
        "indicators_three",
        "The description promises 3 event indicators, the library has 4.",
        defect="",
        xml=(('numberOfEventIndicators="4"', 'numberOfEventIndicators="3"'),),
        also=("D3",),
    ),
    case(
        "D14",
        P,
        "indicators_five",
        "The description promises 5 event indicators, the library has 4.",
        defect="",
        xml=(('numberOfEventIndicators="4"', 'numberOfEventIndicators="5"'),),
        also=("D3",),
    ),
    case("D14", P, "indicator_missing", f"The flow meter counts without a change of sign: {Q}.", also=("D11",)),
    case("D14", P, "indicator_missing_low", f"The low level alarm has no change of sign: {Q}.", also=("D11",)),
    case("D14", P, "indicator_nan", "An event indicator is NaN after the leak begins."),
    case("D14", P, "indicator_infinite", "An event indicator is infinite after the leak begins."),
    case(
        "D14",
        P,
        "indicator_zero",
        'A small indicator is rounded to 0 after the event: 3.2.2 "The FMU must guarantee '
        'that at an event restart z_j != 0".',
    ),
    case("D14", P, "indicator_zero_after_event", "An indicator is 0 after the leak begins (3.2.2, same sentence)."),
    case(
        "D14",
        P,
        "leak_without_event",
        "The leak begins in continuous-time mode without an event: 3.1 f is continuous between events.",
        also=("D11",),
    ),
    case(
        "D14",
        P,
        "alarm_without_event",
        'A discrete String changes in continuous-time mode: 2.2.7 discrete "is constant '
        'between external and internal events".',
        also=("D9",),
    ),
    case(
        "D14",
        P,
        "running_without_event",
        "A discrete counter changes in continuous-time mode (2.2.7, same sentence).",
        also=("D4", "D9"),
    ),
    case(
        "D14",
        P,
        "next_event_past",
        '3.2.2 nextEventTime: "the simulation shall integrate at most until time = nextEventTime": it is in the past.',
    ),
    case("D14", P, "next_event_nan", "nextEventTime is NaN after the leak begins (3.2.2)."),
    case("D14", P, "start_event_past", "The first nextEventTime lies before the start time (3.2.2)."),
]

EVENTS = [
    case(
        "D14",
        "event iteration that never ends",
        "iteration_endless",
        "newDiscreteStatesNeeded is always true (3.2.2).",
        also=("D11", "D13"),
    ),
    case(
        "D14",
        "event iteration that never ends",
        "iteration_endless_late",
        "newDiscreteStatesNeeded stays true once the leak has begun (3.2.2).",
        also=("D11", "D13"),
    ),
    case(
        "D14",
        "terminateSimulation",
        "me_stops_at_start",
        "terminateSimulation is true at the first event, without a "
        'message: 3.2.2 "it is assumed that an appropriate message is printed by the logger".',
        also=("D13",),
        cls="warning",
    ),
    case(
        "D14",
        "terminateSimulation",
        "me_stops_late",
        "terminateSimulation is true at a late event, without a message (3.2.2, same sentence).",
        also=("D13",),
        cls="warning",
    ),
    case(
        "D14",
        "reinit",
        "reinit_missing",
        '2.2.7 "If false, state will not be reinitialized at an event": an event changes a state without reinit.',
        defect="",
        xml=((' reinit="true"', ""),),
    ),
    case(
        "D14",
        "valuesOfContinuousStatesChanged",
        "values_always",
        '3.2.2 "If no element ... has changed its value, '
        'valuesOfContinuousStatesChanged must return fmi2False": it is always true.',
    ),
    case(
        "D14",
        "valuesOfContinuousStatesChanged",
        "values_at_samples",
        "It is true at every fifth sample, where no state changes (3.2.2, same sentence).",
    ),
    case(
        "D14",
        "valuesOfContinuousStatesChanged",
        "values_never",
        "A state changes at an event and the flag is false (3.2.2).",
        also=("D11",),
    ),
    case(
        "D14",
        "valuesOfContinuousStatesChanged",
        "values_jump",
        "A state jumps late and the flag is false (3.2.2).",
        also=("D11",),
    ),
    case("D14", "nominals", "nominals_always", "nominalsOfContinuousStatesChanged is always true (3.2.2)."),
    case("D14", "nominals", "nominal_unannounced", "A nominal value changes late and the flag is false (3.2.2)."),
    case("D14", "nominals", "nominal_zero", '3.2.2 "it is required that x_nominal[i] > 0.0": one is 0.'),
    case("D14", "nominals", "nominal_negative", '3.2.2 "it is required that x_nominal[i] > 0.0": one is -1.'),
    case(
        "D14",
        "order of states",
        "states_reversed",
        'States and derivatives come in reverse: 2.2.8 Derivatives is the "Ordered list of all state derivatives".',
    ),
    case(
        "D14",
        "order of states",
        "derivatives_swapped",
        'Two derivatives are swapped: 3.2.2 "The ordering of the elements '
        'of the derivatives vector is identical to the ordering of the state vector".',
        also=("D9", "D10", "D11", "D13"),
    ),
    case(
        "D14",
        "order of states",
        "set_states_skips_last",
        "fmi2SetContinuousStates leaves the last state (3.2.1).",
        also=("D9", "D10", "D11"),
    ),
    case(
        "D14",
        "order of states",
        "order_in_description",
        "The description lists two derivatives in another order than the library.",
        defect="",
        table=lambda d: replace(d, derivatives={k: d.derivatives[k] for k in ("der_h2", "der_h1", "der_w", "der_vol")}),
    ),
    case(
        "D14",
        "SetTime",
        "settime_stale",
        '3.2.1 fmi2SetTime: "re-initialize caching of variables that depend on time": an output keeps its value.',
        also=("D9", "D10", "D11"),
    ),
    case(
        "D14",
        "SetTime",
        "settime_accumulates",
        '3.2.2 "it is still allowed to go back in time": going back changes an output for good.',
    ),
    case("D14", "SetTime", "settime_back_refused", "Going back in time within the last step is refused (3.2.2)."),
    case(
        "D14",
        "SetTime",
        "states_stale",
        '3.2.1 fmi2SetContinuousStates: "re-initialize caching of variables that depend '
        'on the states": a derivative keeps its value.',
        also=("D4", "D9", "D10", "D11"),
    ),
    case(
        "D14",
        "completedIntegratorStep",
        "completed_drifts",
        "fmi2CompletedIntegratorStep changes a state (3.2.2).",
        also=("D11",),
    ),
    case(
        "D14",
        "completedIntegratorStep",
        "completed_hidden",
        "The description says that the call is not needed, but it "
        'changes a state: 3.3.1 "If it is called, it has no effect".',
        also=("D11",),
        xml=(("<ModelExchange ", '<ModelExchange completedIntegratorStepNotNeeded="true" '),),
    ),
    case(
        "D14",
        "completedIntegratorStep",
        "completed_counts",
        "fmi2CompletedIntegratorStep changes a discrete variable outside of an event (2.2.7).",
        also=("D4", "D11"),
    ),
]

P = "output derivatives"
INOUT = [
    case(
        "D15",
        P,
        "rates_zero",
        'All output derivatives are 0: 4.3.1 "provide derivatives of outputs with maximum order".',
    ),
    case("D15", P, "rates_late", "Output derivatives have the wrong sign after 65 % of the experiment (4.2.1)."),
    case("D15", P, "rates_reversed", "Derivatives of several outputs come in reverse (4.2.1)."),
    case(
        "D15",
        P,
        "rates_second",
        'maxOutputDerivativeOrder is 2, order 2 is refused: 4.3.1 "allowed up to the order defined".',
        defect="",
        xml=(('maxOutputDerivativeOrder="1"', 'maxOutputDerivativeOrder="2"'),),
    ),
    case(
        "D15",
        "input interpolation as declared",
        "slopes_ignored",
        '4.3.1 canInterpolateInputs "Calling of fmi2SetRealInputDerivatives(..) has an effect": it has none.',
    ),
    case("D15", "input interpolation as declared", "slopes_twice", "Input derivatives count twice (4.2.1)."),
    case(
        "D15",
        "input interpolation as declared",
        "slopes_first_input",
        "Derivatives of the second input have no effect (4.3.1 canInterpolateInputs).",
    ),
    case(
        "D15",
        "input interpolation as declared",
        "slopes_refused",
        "fmi2SetRealInputDerivatives is an error though canInterpolateInputs is true (4.3.1).",
        also=("D3",),
    ),
]

CASES = [*DEPENDENCIES, *FEED, *DIRECTIONS, *AGREE, *REFERENCES, *INDICATORS, *EVENTS, *INOUT]
