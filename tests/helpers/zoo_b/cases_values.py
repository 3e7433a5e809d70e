"""Cases of loading, instantiation, calls, values, saved states, reset and start values (D1 to D8)."""

from __future__ import annotations

from .case import Case


def case(rule: str, point: str, name: str, what: str, cls: str = "error", **more: object) -> Case:
    return Case(name, cls, rule, point, what, defect=str(more.pop("defect", name)), **more)  # type: ignore[arg-type]


P = "loading"
LOADING = [
    case("D1", P, "version", '2.1.4 "version 2.0 (so this function usually returns 2.0)": fmi2GetVersion says 2.0.4.'),
    case(
        "D1", P, "platform", '2.1.4 fmi2GetTypesPlatform "returns default" for the standard header: it says standard32.'
    ),
    case("D1", P, "load_abort", "The library aborts while it is loaded."),
    case("D1", P, "load_exit", "The library ends the process while it is loaded (a license check)."),
    case("D1", P, "exit_crash", "The library crashes when it is unloaded or the process ends.", "warning"),
    case("D1", P, "exit_status", "The library changes the exit status of the process when it ends.", "warning"),
    case(
        "D1",
        P,
        "missing_cancel",
        '2.3 "all functions specified ... are present": fmi2CancelStep is missing.',
        defect="",
        patch=((b"fmi2CancelStep\0", b"fmi2CancelStop\0"),),
        also=("S14",),
    ),
    case(
        "D1",
        P,
        "missing_nominals",
        '2.3 "all functions specified ... are present": fmi2GetNominalsOfContinuousStates is missing.',
        defect="",
        also=("S14",),
        patch=((b"fmi2GetNominalsOfContinuousStates\0", b"fmi2GetNominalContinuousStates___\0"),),
    ),
    case(
        "D1",
        P,
        "unresolved",
        "The library needs a function of the tool's run-time library that nothing provides.",
        defect="",
        variant="unresolved",
        also=("S14",),
    ),
]

P = "instantiation: GUID"
Q = '2.1.5 "It must be identical to the one stored inside the fmi2Instantiate function"'
GUIDS = [
    case("D2", P, "guid_ignored", f"Any GUID is accepted: {Q}."),
    case("D2", P, "guid_empty", f"The empty GUID is accepted: {Q}."),
    case("D2", P, "guid_prefix", f"Only the first 20 characters of the GUID are compared: {Q}."),
    case("D2", P, "guid_length", f"A beginning of the GUID is accepted, as strncmp with the wrong length does: {Q}."),
    case("D2", P, "guid_longer", f"Characters behind the GUID are ignored: {Q}."),
]

P = "instantiation: names"
NAMES = [
    case(
        "D2",
        P,
        "name_short",
        'The logger gets a name cut to 31 characters: 2.1.5 "instanceName is the name of the FMU '
        'instance that calls this function".',
    ),
    case("D2", P, "name_long_crash", "An instance name of more than 255 bytes crashes the FMU."),
    case(
        "D2",
        P,
        "name_ascii",
        'Letters outside ASCII in the instance name become question marks: 2.1.2 strings are "UTF-8 encoded".',
    ),
    case("D2", P, "name_utf8_refused", "An instance name with letters outside ASCII is refused (2.1.2 UTF-8)."),
    case(
        "D2",
        P,
        "name_borrowed",
        'The instance name is not copied: 2.1.5 "all pointers passed into this function are '
        'only valid during the extent of the call".',
    ),
]

P = "instantiation: resource location"
LOCATIONS = [
    case(
        "D2",
        P,
        "location_authority",
        'file:/path is refused: 2.1.5 "file with absolute path (either including or '
        'omitting the authority component)".',
    ),
    case(
        "D2",
        P,
        "location_localhost",
        'file://localhost/path is refused: 2.1.5 "either including or omitting the authority component".',
        "warning",
    ),
    case(
        "D2",
        P,
        "location_raw",
        'A resource is not found if the path has percent-encoded characters: 2.1.5 "a URI '
        'according to the IETF RFC3986 syntax".',
    ),
    case(
        "D2",
        P,
        "location_empty",
        'An empty resource location is refused although nothing is read from it; 4.2.5 passes "".',
        "warning",
    ),
]

P = "logging"
LOGGING = [
    case(
        "D2",
        P,
        "log_category",
        'An undeclared category: 2.1.5 "The allowed values for category are defined in the modelDescription.xml file".',
    ),
    case("D2", P, "log_category_null", "No category although some are declared (2.1.5, same sentence)."),
    case(
        "D2",
        P,
        "log_name",
        'The logger gets the name of the model: 2.1.5 "instanceName is the name of the FMU instance".',
    ),
    case(
        "D2",
        P,
        "log_environment",
        'The logger gets no environment: 2.1.5 "componentEnvironment ... needs to be passed to the logger function".',
    ),
    case(
        "D2",
        P,
        "log_percent",
        'Percent signs stay in the message: 2.1.5 "with the same format control as in function printf".',
    ),
    case("D2", P, "log_newline", 'A line break at the end: 2.1.5 "should not have a trailing line break".', "warning"),
    case(
        "D2",
        P,
        "log_always",
        'Messages though logging is off: 2.1.5 "logger should only be called for log categories that were enabled".',
    ),
    case(
        "D2",
        P,
        "debug_ignored",
        'fmi2SetDebugLogging has no effect: 2.1.5 "If loggingOn == fmi2True, debug logging is '
        'enabled ..., otherwise it is disabled".',
    ),
    case(
        "D2",
        P,
        "debug_none_refused",
        'nCategories = 0 is refused: 2.1.5 "If nCategories == 0, loggingOn applies to all log categories".',
        also=("D3",),
    ),
    case("D2", P, "debug_known_refused", "A declared category is refused (2.1.5)."),
    case(
        "D2",
        P,
        "refusal_silent",
        'No message with a null pointer: 2.1.5 "In that case, functions->logger is called '
        'with detailed information about the reason".',
    ),
    case("D2", P, "visible_refused", "visible = fmi2True is refused (2.1.5)."),
    case("D2", P, "logging_refused", "loggingOn = fmi2True is refused (2.1.5)."),
]

P = "calls allowed in each state"
T = "the table of 3.2.3 allows it"
CALLS = [
    case("D3", P, "terminate_event_refused", f"fmi2Terminate is refused in event mode, {T}."),
    case("D3", P, "reset_init_refused", f"fmi2Reset is refused in initialization mode, {T}."),
    case("D3", P, "reset_terminated_refused", f"fmi2Reset is refused after fmi2Terminate, {T}."),
    case("D3", P, "free_in_init_crash", f"fmi2FreeInstance crashes in initialization mode, {T}."),
    case("D3", P, "free_in_event_crash", f"fmi2FreeInstance crashes in event mode, {T}."),
    case("D3", P, "derivatives_init_refused", f"fmi2GetDerivatives is refused in initialization mode, {T}."),
    case("D3", P, "indicators_init_refused", f"fmi2GetEventIndicators is refused in initialization mode, {T}."),
    case(
        "D3", P, "nominals_early_refused", f"fmi2GetNominalsOfContinuousStates is refused before initialization, {T}."
    ),
    case("D3", P, "debug_in_continuous", f"fmi2SetDebugLogging is refused in continuous-time mode, {T}."),
    case(
        "D3",
        P,
        "state_set_refused",
        "fmi2SetReal of a state is refused in continuous-time mode, condition 5 of 3.2.3 allows it.",
    ),
    case("D3", P, "event_twice_refused", f"fmi2EnterEventMode is refused in event mode, {T}."),
    case(
        "D3",
        P,
        "init_input_refused",
        "Inputs cannot be set in initialization mode, condition 3 of 3.2.3 allows it.",
        also=("D4",),
    ),
    case(
        "D3",
        P,
        "event_tunable_refused",
        "A tunable String parameter cannot be set in event mode, condition 4 of 3.2.3 allows it.",
        also=("D4",),
    ),
    case(
        "D3",
        P,
        "step_tunable_refused",
        "A tunable enumeration cannot be set at a communication point, condition 6 of 4.2.4 allows it.",
        also=("D4",),
    ),
    case(
        "D3",
        P,
        "setup_needs_stop",
        'stopTimeDefined = fmi2False is refused: 2.1.6 "then no final value ... is defined".',
    ),
]

P = "values after terminate"
Q = '2.1.6 "the final values of all variables can be inquired with the fmi2GetXXX(..) functions"'
ENDED = [
    case("D3", P, "terminated_real_refused", f"Real values cannot be read after fmi2Terminate: {Q}."),
    case("D3", P, "terminated_string_refused", f"Strings cannot be read after fmi2Terminate: {Q}."),
    case("D3", P, "terminated_zero", f"One output is 0 after fmi2Terminate: {Q}."),
    case("D3", P, "terminate_clears_text", f"A String output is empty after fmi2Terminate: {Q}."),
    case("D3", P, "terminate_resets_counter", f"A counter is 0 after fmi2Terminate: {Q}."),
]

P = "getting and setting values"
VALUES = [
    case("D4", P, "string_short", "Strings are cut to 15 bytes: 2.1.7 set values are kept."),
    case("D4", P, "string_ascii", "Letters outside ASCII are lost in strings: 2.1.2 UTF-8."),
    case("D4", P, "string_empty_refused", "The empty string is refused as value of a parameter."),
    case("D4", P, "string_trimmed", "Spaces at the end of a string are lost."),
    case(
        "D4",
        P,
        "string_null",
        "An empty string is returned as a null pointer: 2.1.2 strings are vectors of characters.",
    ),
    case(
        "D4",
        P,
        "real_float",
        "Real values are stored with single precision: 2.1.2 fmi2Real is double.",
        also=("D8", "D9", "D10"),
    ),
    case("D4", P, "integer_short", "Integer values are stored in 16 bits: 2.1.2 fmi2Integer is int."),
    case("D4", P, "integer_float", "Integer values are stored as float: 2.1.2 fmi2Integer is int."),
    case("D4", P, "set_once", "A second fmi2SetReal of a parameter before initialization is ignored (2.2.7)."),
    case("D4", P, "integer_byte_tunable", "A tunable Integer parameter is stored in 8 bits."),
    case(
        "D4",
        P,
        "enum_read_shifted",
        "A tunable enumeration reads back as another item after initialization.",
        also=("D8",),
    ),
    case(
        "D4",
        P,
        "enum_tunable_ignored",
        'Setting a tunable enumeration after initialization has no effect: 2.2.7 "tunable".',
    ),
    case("D4", P, "tunable_integer_early", "Setting a tunable Integer after initialization has no effect."),
    case("D4", P, "boolean_inverted", "A tunable Boolean parameter is stored inverted.", also=("D8",)),
    case(
        "D4",
        P,
        "boolean_minus_one",
        '2.1.2 "only two values: fmi2False, fmi2True": true is returned as -1.',
        also=("D8",),
    ),
    case("D4", P, "ki_stale", 'A calculated tunable parameter does not follow: 2.2.7 "must be newly computed".'),
    case("D4", P, "volume_stale", "A calculated parameter does not follow the parameters that were set."),
]

P = "setting several at once"
SEVERAL = [
    case(
        "D4",
        P,
        "set_first_real",
        'fmi2SetReal of several variables sets the first only: 2.1.7 "a vector of nvr value handles".',
    ),
    case("D4", P, "set_first_boolean", "fmi2SetBoolean of several variables sets the first only."),
    case(
        "D4",
        P,
        "set_together",
        "fmi2SetReal of three and more variables overwrites the first with the last.",
        also=("D8", "D10"),
    ),
    case(
        "D4",
        P,
        "strings_together",
        "fmi2SetString of several variables gives all of them the first value.",
        also=("D8",),
    ),
    case(
        "D4", P, "string_buffer", "fmi2GetString of several variables returns one buffer for all of them.", also=("D8",)
    ),
    case(
        "D4",
        P,
        "order_sorted",
        "fmi2GetReal of descending value references returns the values in ascending order: "
        '2.1.7 "a vector with the actual values of these variables".',
    ),
    case("D4", P, "long_arrays_refused", "More than eight values in one call of fmi2SetXXX are refused.", also=("D3",)),
]

P = "set before initialisation kept"
Q = '2.2.7 initial = "exact": "The variable is initialized with the start value"'
BEFORE = [
    case("D4", P, "init_loses_real", f"A Real parameter is lost when initialization begins: {Q}."),
    case("D4", P, "init_loses_integer", f"An Integer parameter is lost when initialization begins: {Q}."),
    case("D4", P, "init_loses_boolean", f"A Boolean parameter is lost when initialization begins: {Q}."),
    case("D4", P, "init_loses_string", f"A String parameter is lost when initialization begins: {Q}."),
    case("D4", P, "init_loses_enum", f"An enumeration is lost when initialization begins: {Q}."),
    case("D4", P, "init_loses_state", f"The start value of a state is lost when initialization begins: {Q}."),
    case("D4", P, "init_loses_counter", f"The start value of a counter is lost when initialization begins: {Q}."),
    case("D4", P, "init_loses_tunable", f"A tunable parameter is lost when initialization begins: {Q}."),
]

P = "Co-Simulation: steps"
STEPS = [
    case(
        "D5",
        P,
        "end_by_clock",
        'The time ends on a grid of 0.01 s: 4.2.2 "The slave must integrate until time instant tc_i + hc_i".',
        also=("D11",),
    ),
    case(
        "D5",
        P,
        "point_exact",
        "A communication point that differs by rounding (i * h) is refused: 4.2.2.",
        also=("D6", "D13"),
    ),
    case("D5", P, "variable_refused", "Another step size is refused: 4.3.1 canHandleVariableCommunicationStepSize."),
    case("D5", P, "small_refused", 'Steps below 0.02 s are refused: 4.2.2 the size "must be > 0.0".'),
    case("D5", P, "prior_refused", "noSetFMUStatePriorToCurrentPoint = fmi2False is refused (4.2.2).", also=("D6",)),
    case(
        "D5",
        P,
        "start_ignored",
        'The start time is ignored: 2.1.6 "startTime is the fixed initial value of the independent variable".',
    ),
]

P = "Co-Simulation: back in time"
BACK = [
    case(
        "D5",
        P,
        "back_refused",
        'After fmi2SetFMUstate the step from the earlier time is refused: 2.1.8 "in order to '
        'continue the simulation from it".',
        also=("D6",),
    ),
    case(
        "D6",
        P,
        "state_without_time",
        "The time is not part of the saved state, going back fails (2.1.8).",
        also=("D5",),
    ),
]

P = "Co-Simulation: beyond the stop time"
BEYOND = [
    case(
        "D5",
        P,
        "past_stop_ok",
        'Steps past a defined stop time succeed: 2.1.6 "the FMU has to return fmi2Status = fmi2Error".',
    ),
    case(
        "D5",
        P,
        "past_stop_clamps",
        "A step past a defined stop time ends there and says fmi2OK (2.1.6).",
        defect="past_stop_clamps,past_stop_ok",
    ),
    case(
        "D5",
        P,
        "beyond_default_refused",
        "The default stop time is taken for a limit although no stop time is defined: "
        '2.1.6 "then no final value of the independent variable is defined".',
    ),
]

P = "Co-Simulation: discarded and pending steps"
PENDING = [
    case(
        "D5",
        P,
        "discard_last_time",
        'fmi2LastSuccessfulTime is the end of the discarded step: 4.2.3 "the end time of '
        'the last successfully completed communication step".',
        defect="discards,last_time_end",
        also=("D13",),
    ),
    case(
        "D5",
        P,
        "discard_terminated",
        "fmi2Terminated is true after every discarded step: the number of steps decides when the simulation ends.",
        "warning",
        defect="discards,terminated_true",
        also=("D13",),
    ),
    case(
        "D5",
        P,
        "discard_time_refused",
        "fmi2LastSuccessfulTime is an error after fmi2Discard (4.2.3).",
        defect="discards,last_time_refused",
        also=("D13",),
    ),
    case(
        "D5", P, "pending_undeclared", "Steps are pending though canRunAsynchronuously is false (4.3.1).", also=("D13",)
    ),
    case(
        "D5",
        P,
        "pending_no_callback",
        'stepFinished is not called: 2.1.5 "it must be called by the FMU after a completed communication step".',
        xml=(("canInterpolate", 'canRunAsynchronuously="true" canInterpolate'),),
    ),
    case(
        "D5",
        P,
        "pending_never",
        'A pending step never ends: 4.2.2 "to find out if the slave is done".',
        also=("D13",),
        xml=(("canInterpolate", 'canRunAsynchronuously="true" canInterpolate'),),
    ),
    case(
        "D5",
        P,
        "pending_status_ok",
        'fmi2GetStatus says fmi2Discard for a step that succeeded: 4.2.3 "returns the '
        'result of the asynchronously executed fmi2DoStep call".',
        xml=(("canInterpolate", 'canRunAsynchronuously="true" canInterpolate'),),
    ),
]

P = "saved states"
Q = '2.1.8 "all values that are needed to continue a simulation"'
SAVED = [
    case("D6", P, "state_without_integral", f"The integrator of the controller is not saved: {Q}."),
    case("D6", P, "state_without_operator", f"A tunable String is not saved: {Q}."),
    case("D6", P, "state_without_mode", f"A tunable enumeration is not saved: {Q}."),
    case("D6", P, "state_without_pulses", f"A counter is not saved: {Q}."),
    case("D6", P, "state_without_kp", f"A tunable Real is not saved: {Q}."),
    case("D6", P, "state_without_mute", f"A tunable Boolean is not saved: {Q}."),
    case("D6", P, "state_without_sample", f"The next sample time is not saved: {Q}."),
    case("D6", P, "state_without_boost", f"An Integer input is not saved: {Q}."),
    case("D6", P, "state_without_tag", f"A String input is not saved: {Q}."),
    case("D6", P, "state_without_input", f"A Real input is not saved: {Q}."),
    case("D6", P, "state_without_flags", f"A hidden flag of a state event is not saved: {Q}."),
    case("D6", P, "state_without_delay", f"A hidden counter before an alarm is not saved: {Q}."),
    case("D6", P, "state_without_leak", f"A flag that changes late only is not saved: {Q}."),
    case("D6", P, "state_without_alarm", f"A String output is not saved: {Q}."),
    case("D6", P, "state_without_samples", f"A local counter is not saved: {Q}."),
    case("D6", P, "state_without_slopes", f"Derivatives of inputs are not saved: {Q}."),
    case("D6", P, "state_without_phase", "The state after fmi2Terminate cannot be left by fmi2SetFMUstate (3.2.3)."),
    case(
        "D6",
        P,
        "state_only_one",
        'A second saved state overwrites the first: 2.1.8 "If on entry *FMUstate == NULL, a '
        'new allocation is required".',
    ),
    case("D6", P, "state_used_once", 'A saved state can be set once only: 2.1.8 "The FMUstate copy still exists".'),
    case("D6", P, "state_early_refused", "No state can be saved before initialization, 3.2.3 allows it.", also=("D3",)),
    case("D6", P, "state_event_refused", "No state can be saved in event mode, 3.2.3 allows it.", also=("D3",)),
    case(
        "D6", P, "state_terminated_refused", "No state can be set after fmi2Terminate, 3.2.3 allows it.", also=("D3",)
    ),
    case(
        "D6", P, "free_keeps_pointer", '2.1.8 "The function returns a null pointer in argument FMUstate": it does not.'
    ),
    case("D6", P, "free_null_refused", '2.1.8 "If a null pointer is provided, the call is ignored": it is an error.'),
    case("D6", P, "bytes_short", f"The bytes of a state lack the hidden members: {Q}."),
    case(
        "D6",
        P,
        "bytes_pointer",
        'The bytes hold an address and fit one instance only: 2.1.8 "store this vector on file".',
    ),
]

P = "reset"
Q = '2.1.6 "The FMU goes into the same state as if fmi2Instantiate would have been called"'
RESET = [
    case(
        "D7", P, "second_differs", "The second instance of a process starts with another state (2.1.5).", also=("D8",)
    ),
    case("D7", P, "reset_keeps_real", f"A Real parameter survives fmi2Reset: {Q}."),
    case("D7", P, "reset_keeps_string", f"A String parameter survives fmi2Reset: {Q}."),
    case("D7", P, "reset_keeps_enum", f"A tunable enumeration survives fmi2Reset: {Q}."),
    case("D7", P, "reset_keeps_counter", f"A counter survives fmi2Reset: {Q}."),
    case("D7", P, "reset_keeps_boolean", f"A tunable Boolean survives fmi2Reset: {Q}."),
    case("D7", P, "reset_keeps_input", f"A Real input survives fmi2Reset: {Q}."),
    case("D7", P, "reset_keeps_tag", f"A String input survives fmi2Reset: {Q}."),
    case("D7", P, "reset_keeps_boost", f"An Integer input survives fmi2Reset: {Q}."),
    case("D7", P, "reset_keeps_state", f"The start value of a state survives fmi2Reset: {Q}."),
    case("D7", P, "reset_keeps_slopes", f"Derivatives of inputs survive fmi2Reset: {Q}."),
    case("D7", P, "reset_keeps_mode", f"After fmi2Reset in initialization mode this mode goes on: {Q}."),
    case(
        "D7",
        "instances",
        "shared_integral",
        'Two instances share the integrator: 2.1.5 "An FMU can be instantiated many times".',
        also=("D6", "D8", "D11"),
    ),
    case(
        "D7",
        "instances",
        "second_refused",
        'A second instance is refused: 2.1.5 "An FMU can be instantiated many '
        'times (provided canBeInstantiatedOnlyOncePerProcess = false)".',
    ),
]

P = "start values of all types"
Q = '2.2.7 start: the value "before initialization"'


def start(name: str, what: str, old: str, new: str) -> Case:
    return case("D8", P, name, f"{what} is another one in the library: {Q}.", defect="", xml=((old, new),))


STARTS = [
    start("start_real", "The start value of a Real parameter", '<Real start="0.25"/>', '<Real start="0.26"/>'),
    start("start_integer", "The start value of an Integer parameter", '<Integer start="3"/>', '<Integer start="4"/>'),
    start(
        "start_boolean", "The start value of a tunable Boolean", '<Boolean start="false"/>', '<Boolean start="true"/>'
    ),
    start("start_string", "The start value of a String parameter", 'start="TP-01"', 'start="TP-02"'),
    start("start_string_space", "The start value of a String (a space at its end)", 'start="anna"', 'start="anna "'),
    start(
        "start_enum",
        "The start value of a fixed enumeration",
        'declaredType="Fluid" start="1"',
        'declaredType="Fluid" start="2"',
    ),
    start(
        "start_enum_tunable",
        "The start value of a tunable enumeration",
        'declaredType="PumpMode" start="3"',
        'declaredType="PumpMode" start="2"',
    ),
    start("start_input", "The start value of a Real input", '<Real start="1.2"/>', '<Real start="1.1"/>'),
    start("start_input_string", "The start value of a String input", '<String start="-"/>', '<String start=""/>'),
    start(
        "start_state",
        "The start value of a state",
        'declaredType="Level" start="0.8"',
        'declaredType="Level" start="0.81"',
    ),
    start(
        "start_counter",
        "The start value of an output with initial = exact",
        'initial="exact"><Integer start="0"/>',
        'initial="exact"><Integer start="1"/>',
    ),
    start("start_constant", "The value of a constant", 'start="9.81"', 'start="9.80665"'),
    case("D8", P, "start_float", f"The start value of a Real parameter is rounded to single precision: {Q}."),
]

CASES = [
    *LOADING,
    *GUIDS,
    *NAMES,
    *LOCATIONS,
    *LOGGING,
    *CALLS,
    *ENDED,
    *VALUES,
    *SEVERAL,
    *BEFORE,
    *STEPS,
    *BACK,
    *BEYOND,
    *PENDING,
    *SAVED,
    *RESET,
    *STARTS,
]
