"""Defects of equations and events: D9, D10, D11, D12, D14, D15."""

from __future__ import annotations

from .case import Case
from .description import INDEX

DEPENDS = 'FMI 2.2.8: "Otherwise the Unknown depends on the Knowns defined by the given ScalarVariable indices."'
SEEDS = 'FMI 2.1.9: "it computes the directional derivative vector dvUnknown from the seed vector dvKnown"'
SAME = (
    'FMI 2.2.8: "when exporting a model both in Model Exchange and Co-Simulation format; then the '
    'model structure is identical"'
)
FEED, DIRECTION = "dependencies: late and non-linear feed-through", "directional derivatives"
EVENTS, ITERATION = "event indicators against state and time events", "event iteration that never ends"
NOMINALS, ORDER, SET_TIME = "nominals", "order of states", "SetTime"
CHANGED = "valuesOfContinuousStatesChanged"


def case(
    defect: str,
    rule: str,
    what: str,
    point: str,
    quote: str = "",
    cls: str = "error",
    also: tuple[str, ...] = (),
    **more: object,
) -> Case:
    return Case(defect, cls, rule, point, what, defect=defect, quote=quote, also=also, **more)  # type: ignore[arg-type]


def depends(name: str, what: str, also: tuple[str, ...] = ("D10",)) -> Case:
    return case("d9_" + name, "D9", what, FEED, DEPENDS, also=also)


D9: list[Case] = [
    depends(
        "late_feedthrough", "An output depends on an input that is not listed, but only after 77 % of the experiment."
    ),
    depends("dead_zone", "An output depends on an input that is not listed, but only above 12 degC."),
    depends("saturated", "An output depends on an input that is not listed, but only above 4 W."),
    depends(
        "cubic", "An output depends on an input that is not listed, with zero slope at its start value.", ("D10", "D15")
    ),
    depends("discrete_input", "A continuous output depends on a discrete input that is not listed."),
    depends("integer_input", "An output depends on an Integer input that is not listed."),
    depends("sensor_by_window", "An output depends on a Boolean input that is not listed."),
    depends("state", "An output depends on a state that is not listed."),
    depends("derivative", "A derivative depends on an input that is not listed."),
    depends("derivative_late", "A derivative depends on an input that is not listed, but only late."),
    depends(
        "initial",
        "A calculated parameter depends on a parameter that is not listed under InitialUnknowns.",
        ("D4", "D10"),
    ),
    depends("initial_input", "A calculated parameter depends on an input in Initialization Mode.", ("D4", "D10")),
    depends("status_by_persons", "A String output depends on an Integer input that is not listed, above 3."),
    depends("phase_by_request", "An enumeration output depends on an enumeration input that is not listed."),
    Case(
        "d9_sensor_lists_nothing",
        "error",
        "D9",
        FEED,
        "An output has an empty list, but depends on a state.",
        xml=(
            (
                f'index="{INDEX["T_sensor"]}" dependencies="{INDEX["room.T"]}"',
                f'index="{INDEX["T_sensor"]}" dependencies=""',
            ),
        ),
        quote=DEPENDS,
        also=("D10",),
    ),
    Case(
        "d9_factor_not_constant",
        "error",
        "D9",
        FEED,
        "A factor is declared constant, but depends on a tunable parameter.",
        xml=(
            (
                'index="44" dependencies="29 33 36"',
                'index="44" dependencies="29 33 36" dependenciesKind="constant dependent constant"',
            ),
        ),
        quote=(
            'FMI 2.2.8: "constant: constant factor, c * v where c is an expression that is evaluated before '
            'fmi2EnterInitializationMode is called"'
        ),
    ),
]


def direction(name: str, what: str, point: str = DIRECTION, also: tuple[str, ...] = ()) -> Case:
    return case("d10_" + name, "D10", what, point, SEEDS, also=also)


D10: list[Case] = [
    direction("seed_is_one", "Every seed counts as 1.", DIRECTION + ": seeds"),
    direction("state_sign", "The derivative with respect to a state has the wrong sign.", DIRECTION + ": seeds"),
    direction("last_known_only", "Only the last of several knowns counts.", DIRECTION + ": several knowns"),
    direction("unknowns_reversed", "Several unknowns are returned in reverse order.", DIRECTION + ": several knowns"),
    direction("accumulates", "The result is added to what is in the array.", DIRECTION + ": accumulation"),
    direction(
        "sets_the_known",
        "The call changes the value of the known.",
        DIRECTION + ": accumulation",
        ("D4", "D9", "D6", "D14"),
    ),
    direction("ambient_missing", "The derivative with respect to an input is 0."),
    direction("price_missing", "The derivative with respect to a discrete input is 0 in Event Mode."),
    direction("parameter_missing", "The derivative with respect to a parameter is 0 in Initialization Mode."),
    direction("state_after_service", "The derivative with respect to a state is wrong after the late event."),
    direction("row_missing", "The derivative of an output is 0."),
    direction("row_linear", "The derivative of an output is wrong by 0.1 %."),
]

D11: list[Case] = [
    case(
        "d11_other_parameter",
        "D11",
        "Co-Simulation uses another heat conductance than Model Exchange.",
        "both interface types agree",
        SAME,
        "warning",
        ("D3", "D10", "D15"),
    ),
    case(
        "d11_two_models",
        "D11",
        "An output is 1 K higher in Co-Simulation than in Model Exchange.",
        "both interface types agree",
        SAME,
        "warning",
        also=("D3",),
    ),
    case(
        "d11_small_steps_lost",
        "D11",
        "Steps below 0.02 s change time but no states.",
        "smaller steps converge",
        'FMI 4.2.2: "The slave must integrate until time instant tc_i+1 = tc_i + hc_i."',
        also=("D5", "D15"),
    ),
    case(
        "d11_filter_per_step",
        "D11",
        "A filter is applied once per step, so that smaller steps give another result.",
        "smaller steps converge",
        cls="warning",
        also=("D15", "D5"),
    ),
]

D12: list[Case] = [
    case(
        "d12_drift",
        "D12",
        "A sensor drifts after half of the experiment; the reference does not.",
        "reference result",
        cls="warning",
        reference=True,
        also=("D9", "D15"),  # the drift is a function of time, which is not among the dependencies
    ),
    case(
        "d12_wrong_unit",
        "D12",
        "The cost is 8 % higher than in the reference.",
        "reference result",
        cls="warning",
        reference=True,
    ),
]

ZEROS = 'FMI 3.2.2: "The FMU must guarantee that at an event restart z_j is not 0"'
FROZEN = 'FMI 3.1: "All discrete-time variables are fixed during this phase" (Continuous-Time Mode)'
NEXT = (
    'FMI 3.2.2: "the simulation shall integrate at most until time = nextEventTime, and shall call '
    'fmi2EnterEventMode at this time instant"'
)
VALUES = (
    'FMI 3.2.2: "If no element of the continuous state vector has changed its value, '
    'valuesOfContinuousStatesChanged must return fmi2False."'
)
POSITIVE = 'FMI 3.2.2: "Note that it is required that x_nominal[i] > 0.0."'
SORTED = (
    'FMI 3.2.2: "The ordering of the elements of the derivatives vector is identical to the '
    'ordering of the state vector"'
)
BACK = 'FMI 3.2.2: "After fmi2CompletedIntegratorStep is called, it is still allowed to go back in time"'
RETURNS = 'FMI 3.2.2: "The function returns enterEventMode to signal to the environment"'


def event(name: str, what: str, point: str, quote: str, also: tuple[str, ...] = (), **more: object) -> Case:
    return case("d14_" + name, "D14", what, point, quote, also=also, **more)


D14: list[Case] = [
    Case(
        "d14_three_indicators",
        "error",
        "D14",
        EVENTS,
        "The description has one event indicator more than the library.",
        xml=(('numberOfEventIndicators="2"', 'numberOfEventIndicators="3"'),),
        quote='FMI 2.2.1: "The (fixed) number of event indicators for an FMU based on FMI for Model Exchange."',
        also=("D3", "D13", "D11"),
    ),
    event("indicator_nan_late", "An event indicator is NaN late in the experiment.", EVENTS, ZEROS, ("D13", "D11")),
    event("indicator_zero_after_event", "An event indicator is 0 after an event.", EVENTS, ZEROS, ("D11",)),
    event(
        "indicator_never_crosses",
        "The relay switches, but its indicator stays positive.",
        EVENTS,
        'FMI 3.2.2: "A state event is triggered when the domain of an event indicator changes"',
        ("D11",),
    ),
    event(
        "indicator_flat",
        "The indicator of the relay changes only after the relay has switched.",
        EVENTS,
        'FMI 3.2.2: "A state event is triggered when the domain of an event indicator changes"',
        ("D11",),
    ),
    event(
        "alarm_without_indicator",
        "The alarm switches late, but its indicator is constant.",
        EVENTS,
        'FMI 3.2.2: "A state event is triggered when the domain of an event indicator changes"',
        ("D11",),
    ),
    event(
        "indicator_moves",
        "An event indicator has another value at each call.",
        EVENTS,
        'FMI 3.2.2: "at the current time instant and for the current states"',
    ),
    event(
        "changes_between_events", "A discrete Integer changes in Continuous-Time Mode.", EVENTS, FROZEN, ("D4", "D11")
    ),
    event(
        "schedule_between_events",
        "A discrete Real changes with time in Continuous-Time Mode.",
        EVENTS,
        FROZEN,
        ("D4", "D11"),
    ),
    event("next_time_too_late", "nextEventTime is 0.4 s after the change of the schedule.", EVENTS, NEXT, ("D11",)),
    event("next_time_in_past", "nextEventTime is in the past.", EVENTS, NEXT, ("D13", "D11")),
    event("next_time_is_now", "nextEventTime is the current time after each event.", EVENTS, NEXT, ("D13", "D11")),
    event("next_time_nan", "nextEventTime is NaN after the late event.", EVENTS, NEXT, ("D13", "D11")),
    event("next_time_untouched", "nextEventTimeDefined is not written.", EVENTS, NEXT, ("D11",)),
    event(
        "terminate_untouched",
        "terminateSimulation has neither the value of true nor of false.",
        "terminateSimulation",
        'FMI 2.1.2: "only two values: fmi2False, fmi2True"',
        ("D13", "D11"),
    ),
    event(
        "never_ends",
        "newDiscreteStatesNeeded is always true.",
        ITERATION,
        'FMI 3.2.2: "call fmi2EnterContinuousTimeMode if all FMUs return newDiscreteStatesNeeded = fmi2False"',
        ("D13", "D11"),
    ),
    event(
        "never_ends_late",
        "newDiscreteStatesNeeded is always true after the late event.",
        ITERATION,
        'FMI 3.2.2: "call fmi2EnterContinuousTimeMode if all FMUs return newDiscreteStatesNeeded = fmi2False"',
        ("D13", "D11"),
    ),
    event("values_always_changed", "valuesOfContinuousStatesChanged is always true.", CHANGED, VALUES),
    event(
        "values_never_changed",
        "The energy is set to 0, but valuesOfContinuousStatesChanged is false.",
        CHANGED,
        (
            'FMI 3.2.2: "If valuesOfContinuousStatesChanged = fmi2True, then at least one element of the '
            'continuous state vector has changed"'
        ),
        ("D11",),
    ),
    event("state_jumps_on_enter", "A state changes when Continuous-Time Mode is entered.", CHANGED, VALUES, ("D11",)),
    event(
        "nominals_always_changed",
        "nominalsOfContinuousStatesChanged is always true.",
        NOMINALS,
        (
            'FMI 3.2.2: "If nominalsOfContinuousStatesChanged = fmi2True, then the nominal values of the '
            'states have changed"'
        ),
    ),
    event(
        "nominals_never_changed",
        "A nominal value changes without nominalsOfContinuousStatesChanged.",
        NOMINALS,
        (
            'FMI 3.2.2: "If nominalsOfContinuousStatesChanged = fmi2True, then the nominal values of the '
            'states have changed"'
        ),
    ),
    event("nominal_zero", "A nominal value is 0.", NOMINALS, POSITIVE),
    event("nominal_negative", "A nominal value is negative.", NOMINALS, POSITIVE),
    event("nominal_nan", "A nominal value is NaN.", NOMINALS, POSITIVE),
    event(
        "order_of_states",
        "The state vector has another order than ModelStructure.",
        ORDER,
        'FMI 2.2.8: "Derivatives: Ordered list of all state derivatives"',
    ),
    event(
        "order_of_derivatives",
        "The vector of derivatives has another order than that of states.",
        ORDER,
        SORTED,
        ("D11", "D13"),
    ),
    event(
        "order_when_set",
        "fmi2SetContinuousStates has another order than fmi2GetContinuousStates.",
        ORDER,
        SORTED,
        ("D11", "D13"),
    ),
    event(
        "order_when_read",
        "fmi2GetContinuousStates has another order than fmi2SetContinuousStates.",
        ORDER,
        SORTED,
        ("D11", "D13"),
    ),
    event(
        "states_not_set_late",
        "fmi2SetContinuousStates stores another value late in the experiment.",
        ORDER,
        SORTED,
        ("D11",),
    ),
    event(
        "set_time_ignored",
        "The independent variable does not follow fmi2SetTime.",
        SET_TIME,
        'FMI 3.2.1: "Set a new time instant and re-initialize caching of variables that depend on time"',
    ),
    event("no_way_back", "fmi2SetTime refuses to go back within the step.", SET_TIME, BACK, ("D13", "D11")),
    event(
        "counts_evaluations",
        "An output depends on the number of evaluations.",
        SET_TIME,
        'FMI 3.2.1: "re-initialize caching of variables that depend on the states"',
        ("D4", "D11", "D9", "D10", "D6"),
    ),
    event(
        "stale_derivative",
        "fmi2GetDerivatives returns the old derivatives when only the states have changed.",
        SET_TIME,
        (
            'FMI 3.2.1: "Set a new (continuous) state vector and re-initialize caching of variables that '
            'depend on the states."'
        ),
        ("D11", "D13", "D9", "D10"),
    ),
    event(
        "completed_moves_states",
        "fmi2CompletedIntegratorStep changes a state.",
        "completedIntegratorStep",
        (
            'FMI 3.2.2: "to indicate to the FMU that at this stage all inputs and state variables have '
            'valid (accepted) values"'
        ),
        ("D11",),
    ),
    event(
        "completed_untouched",
        "enterEventMode has neither the value of true nor of false.",
        "completedIntegratorStep",
        'FMI 2.1.2: "only two values: fmi2False, fmi2True"',
    ),
    event(
        "completed_always_event",
        "Every integrator step asks for Event Mode.",
        "completedIntegratorStep",
        RETURNS,
        cls="warning",
    ),
]

OUTPUT = 'FMI 4.2.1: "Retrieves the n-th derivative of output values."'
INPUT = 'FMI 4.3.1: canInterpolateInputs: "Calling of fmi2SetRealInputDerivatives(..) has an effect for the slave."'
BEGIN = 'FMI 4.2.1: "Inputs and their derivatives are set with respect to the beginning of a communication time step."'


def slope(name: str, what: str, point: str, quote: str, **more: object) -> Case:
    return case("d15_" + name, "D15", what, point, quote, **more)


D15: list[Case] = [
    slope("output_zero", "The derivatives of all outputs are 0.", "output derivatives", OUTPUT),
    slope("output_per_hour", "The derivatives of outputs are per hour.", "output derivatives", OUTPUT),
    slope("output_sign", "The derivatives of outputs have the wrong sign.", "output derivatives", OUTPUT),
    slope("output_late", "The derivatives of outputs are wrong after the late event.", "output derivatives", OUTPUT),
    slope("first_output_only", "Only the first of several output derivatives is right.", "output derivatives", OUTPUT),
    slope(
        "second_is_first",
        "The second derivative is the first one.",
        "output derivatives",
        OUTPUT,
        xml=(('maxOutputDerivativeOrder="1"', 'maxOutputDerivativeOrder="2"'),),
    ),
    slope("input_slope_ignored", "Derivatives of inputs have no effect.", "input interpolation as declared", INPUT),
    slope("input_slope_twice", "Derivatives of inputs count twice.", "input interpolation as declared", BEGIN),
    slope(
        "input_slope_from_end",
        "Derivatives of inputs are used with respect to the end of the step.",
        "input interpolation as declared",
        BEGIN,
    ),
    slope(
        "first_input_only",
        "Only the first of several input derivatives is stored.",
        "input interpolation as declared",
        INPUT,
    ),
]

CASES: list[Case] = D9 + D10 + D11 + D12 + D14 + D15
