"""Defects of values: D4, D6, D7, D8."""

from __future__ import annotations

from .case import Case

VALUES = "all parameters of all types, before and after events"
SEVERAL = "setting several at once"
KEPT = "set before initialisation kept"
STRINGS = "strings"
REPLAY = "all types in state, reset and replay rules"
COPY = (
    'FMI 2.1.8: "internal state consists especially of the values of the continuous-time states, '
    'iteration variables, parameter values, input values ... and FMU internal status information"'
)
AS_NEW = (
    'FMI 2.1.6: "The FMU goes into the same state as if fmi2Instantiate would have been called. All '
    'variables have their default values."'
)
START = 'FMI 2.2.7: "start: ... This value is also stored in the C functions."'
SETTING = 'FMI 2.2.7: "If causality = parameter, the start-value is the value of it"; 2.1.7: set values by reference'
TUNING = (
    'FMI 2.2.7: "Whenever a parameter or input signal with variability = tunable changes ... must be newly computed"'
)
CONSTANT = (
    'FMI 2.2.7: "fixed: ... after fmi2ExitInitializationMode was called the variable value does not change anymore"'
)


def case(rule: str, defect: str, what: str, point: str, quote: str, also: tuple[str, ...] = ()) -> Case:
    return Case(defect, "error", rule, point, what, defect=defect, quote=quote, also=also)


D4: list[Case] = [
    case("D4", "d4_only_first_of_several", "fmi2SetReal stores only the first of several values.", SEVERAL, SETTING),
    case("D4", "d4_eight_at_once", "fmi2SetReal stores at most eight values per call.", SEVERAL, SETTING),
    case("D4", "d4_last_integer_of_several", "fmi2SetInteger drops the last of several values.", SEVERAL, SETTING),
    case(
        "D4",
        "d4_order_of_array",
        "fmi2GetInteger fills the array in the order of the references.",
        SEVERAL,
        'FMI 2.1.7: "Argument value is a vector with the actual values of these variables."',
        also=("D13",),
    ),
    case(
        "D4",
        "d4_one_string_buffer",
        "fmi2GetString uses one buffer for all strings of a call.",
        STRINGS,
        'FMI 2.1.7: "The strings ... might be deallocated by the next call to any of the fmi2 interface functions"',
    ),
    case(
        "D4",
        "d4_string_pointer_kept",
        "fmi2SetString keeps the pointer of the host instead of a copy.",
        STRINGS,
        'FMI 2.1.2: "the FMI function must copy the string before it returns"',
        ("D6", "D7", "D13", "D16"),
    ),
    case("D4", "d4_string_truncated", "Strings are cut after 31 bytes.", STRINGS, SETTING),
    case(
        "D4",
        "d4_string_ascii",
        "Bytes outside ASCII become question marks.",
        STRINGS,
        'FMI 2.1.2: "pointer to a vector of fmi2Char characters"',
    ),
    case(
        "D4",
        "d4_null_for_empty_string",
        "An empty string is read as a null pointer.",
        STRINGS,
        "FMI 2.1.2: \"'\\0' terminated, UTF-8 encoded\"",
        ("D8",),
    ),
    case(
        "D4",
        "d4_boolean_minus_one",
        "True is read as -1.",
        VALUES,
        'FMI 2.1.2: "only two values: fmi2False, fmi2True"',
        ("D8",),
    ),
    case("D4", "d4_single_precision", "Reals are stored with single precision.", VALUES, SETTING, also=("D10",)),
    case("D4", "d4_short_integer", "Integers are stored with 16 bits.", VALUES, SETTING),
    case("D4", "d4_integers_lost", "Integer parameters that were set before initialization are lost.", KEPT, SETTING),
    case("D4", "d4_strings_lost", "String parameters that were set before initialization are lost.", KEPT, SETTING),
    case("D4", "d4_enumeration_lost", "An enumeration that was set before initialization is lost.", KEPT, SETTING),
    case("D4", "d4_booleans_lost", "A Boolean parameter that was set before initialization is lost.", KEPT, SETTING),
    case(
        "D4",
        "d4_state_start_lost",
        "The start value of a state that was set before initialization is lost.",
        KEPT,
        (
            'FMI 2.2.7: initial = exact: "the value of the variable is either the start value ... or the '
            'value provided by fmiSetXXX"'
        ),
    ),
    case(
        "D4",
        "d4_parameter_in_initialization",
        "A fixed parameter cannot be changed in Initialization Mode.",
        KEPT,
        SETTING,
        ("D9", "D10"),
    ),
    case(
        "D4",
        "d4_state_in_initialization",
        "The start of a state cannot be changed in Initialization Mode.",
        KEPT,
        SETTING,
        ("D9", "D10"),
    ),
    case("D4", "d4_tunable_real_ignored", "A tunable Real is ignored after initialization.", "tunables", TUNING),
    case("D4", "d4_tunable_string_ignored", "A tunable String is ignored after initialization.", "tunables", TUNING),
    case(
        "D4",
        "d4_tunable_enumeration_ignored",
        "A tunable enumeration is ignored after initialization.",
        "tunables",
        TUNING,
    ),
    case("D4", "d4_tunable_boolean_ignored", "A tunable Boolean is ignored after initialization.", "tunables", TUNING),
    case(
        "D4", "d4_discrete_input_ignored", "A discrete Integer input is ignored after initialization.", VALUES, SETTING
    ),
    case("D4", "d4_string_input_ignored", "A String input is ignored.", VALUES, SETTING),
    case(
        "D4",
        "d4_calculated_from_start",
        "A calculated parameter does not follow the parameters.",
        VALUES,
        'FMI 2.2.7: "calculatedParameter: ... is computed during initialization or when tunable parameters change"',
        ("D10",),
    ),
    case(
        "D4",
        "d4_label_not_followed",
        "A calculated String does not follow the parameter.",
        VALUES,
        'FMI 2.2.7: "calculatedParameter: ... is computed during initialization or when tunable parameters change"',
    ),
    case(
        "D4", "d4_event_reverts_tunable", "A time event sets a tunable Real back to its start value.", VALUES, SETTING
    ),
    case(
        "D4", "d4_event_reverts_string", "A time event sets a tunable String back to its start value.", VALUES, SETTING
    ),
    case("D4", "d4_event_resets_enumeration", "A state event sets a tunable enumeration back.", VALUES, SETTING),
    case("D4", "d4_event_resets_integer", "A state event sets a tunable Integer back.", VALUES, SETTING),
    case("D4", "d4_fixed_parameter_drifts", "A late time event changes a fixed parameter.", VALUES, CONSTANT),
]

D6: list[Case] = [
    case("D6", f"d6_forgets_{key}", f"The FMU state does not contain {text}.", REPLAY, COPY, also)
    for key, text, also in (
        ("string", "a tunable String", ()),
        ("string_input", "a String input", ()),
        ("integers", "a tunable Integer", ()),
        ("enumeration", "a tunable enumeration", ()),
        ("boolean", "a tunable Boolean", ()),
        ("relay", "the relay", ()),
        ("counter", "the counter of switches", ()),
        ("tunable", "a tunable Real", ()),
        ("fixed_parameter", "a fixed parameter", ()),
        ("input", "a continuous input", ()),
        ("discrete_input", "a discrete Integer input", ()),
        ("day", "the day of the schedule", ()),
        ("time", "the time", ("D5",)),
        ("phase", "the mode", ()),
        ("service", "the discrete state that changes late", ()),
        ("slopes", "the derivatives of the inputs", ()),
        ("random", "the random-number generator", ()),
        ("energy", "a continuous state", ()),
    )
] + [
    case("D6", "d6_rounds_states", "A state is saved with single precision.", REPLAY, COPY),
    case(
        "D6",
        "d6_one_state_only",
        "All saved states share one memory.",
        REPLAY,
        'FMI 2.1.8: "If on entry *FMUstate == NULL, a new allocation is required."',
    ),
    case(
        "D6",
        "d6_state_used_up",
        "fmi2SetFMUstate frees the state.",
        REPLAY,
        'FMI 2.1.8: "The FMUstate copy still exists."',
        also=("D5",),
    ),
    case(
        "D6",
        "d6_no_way_back",
        "A state of an earlier time is refused.",
        "back in time",
        'FMI 2.1.8: "This allows to restart a simulation from a previous FMU state"',
        ("D3", "D5", "D14"),
    ),
    case(
        "D6",
        "d6_pointer_stays",
        "fmi2FreeFMUstate does not return a null pointer.",
        REPLAY,
        'FMI 2.1.8: "The function returns a null pointer in argument FMUstate."',
    ),
    case(
        "D6",
        "d6_free_null_fails",
        "fmi2FreeFMUstate of a null pointer is an error.",
        REPLAY,
        'FMI 2.1.8: "If a null pointer is provided, the call is ignored."',
    ),
    case(
        "D6",
        "d6_free_null_crashes",
        "fmi2FreeFMUstate of a null pointer crashes.",
        REPLAY,
        'FMI 2.1.8: "If a null pointer is provided, the call is ignored."',
        ("R4",),
    ),
    case(
        "D6",
        "d6_size_too_small",
        "The size of the byte vector is 16 bytes too small: the FMU writes behind it.",
        REPLAY,
        'FMI 2.1.8: "copies this data in to the byte vector serializedState of length size"',
        also=("D3",),
    ),
    case("D6", "d6_bytes_without_strings", "The bytes of a state do not contain a String.", REPLAY, COPY),
    case("D6", "d6_bytes_without_counter", "The bytes of a state do not contain a counter.", REPLAY, COPY),
    case(
        "D6",
        "d6_bytes_of_own_instance",
        "The bytes of a state are refused by another instance.",
        REPLAY,
        'FMI 2.1.8: "Whenever needed, the byte vector can be loaded from file and deserialized"',
    ),
]

D7: list[Case] = [
    case("D7", f"d7_{key}", f"fmi2Reset keeps {text}.", REPLAY, AS_NEW, also)
    for key, text, also in (
        ("tunable_kept", "a tunable Real", ()),
        ("fixed_kept", "a fixed parameter", ()),
        ("input_kept", "a continuous input", ("D8",)),
        ("discrete_input_kept", "a Boolean input", ()),
        ("state_kept", "a state", ()),
        ("integer_kept", "a tunable Integer", ()),
        ("enumeration_kept", "a tunable enumeration", ()),
        ("boolean_kept", "a tunable Boolean", ()),
        ("string_kept", "a tunable String", ()),
        ("string_input_kept", "a String input", ()),
        ("counter_kept", "the counter of switches", ()),
        ("stop_time_kept", "the stop time of the last experiment", ()),
        ("slopes_kept", "the derivatives of the inputs", ()),
        ("half_after_initialization", "a parameter when it is called in Initialization Mode", ()),
        ("half_after_event_mode", "a state when it is called in Event Mode", ()),
        ("phase_kept", "the state machine in its terminated state", ("D3",)),
    )
] + [
    case(
        "D7",
        "d7_only_one_instance",
        "A second instance is refused although the flags allow it.",
        "instantiation",
        (
            'FMI 2.1.5: "An FMU can be instantiated many times (provided capability flag '
            'canBeInstantiatedOnlyOncePerProcess = false)."'
        ),
        ("D2", "D6"),
    )
]


def start(name: str, what: str, old: str, new: str, also: tuple[str, ...] = ()) -> Case:
    return Case("d8_" + name, "error", "D8", VALUES, what, xml=((old, new),), quote=START, also=also)


D8: list[Case] = [
    start(
        "fixed",
        "The start value of a fixed Real differs from that in the library.",
        '<Real unit="W" min="1" max="1000" start="20"/>',
        '<Real unit="W" min="1" max="1000" start="25"/>',
    ),
    start("tunable", "The start value of a tunable Real differs.", 'start="22.25"', 'start="22.5"'),
    start("last_digits", "The start value of a Real was written with four digits.", 'start="4.186"', 'start="4.19"'),
    start("integer", "The start value of an Integer differs.", 'start="70001"', 'start="70002"'),
    start("boolean", "The start value of a Boolean differs.", '<Boolean start="true"/>', '<Boolean start="false"/>'),
    start("string", "The start value of a String differs.", 'start="room-1"', 'start="room-2"'),
    start("tunable_string", "The start value of a tunable String differs.", 'start="none"', 'start=""'),
    start(
        "enumeration",
        "The start value of an enumeration differs.",
        'declaredType="Curve" start="1"',
        'declaredType="Curve" start="2"',
    ),
    start(
        "tunable_enumeration",
        "The start value of a tunable enumeration differs.",
        'declaredType="Profile" start="2"',
        'declaredType="Profile" start="1"',
    ),
    start("state", "The start value of a state differs.", 'nominal="40" start="20"', 'nominal="40" start="19"'),
    start("input", "The start value of a continuous input differs.", 'unit="degC" start="5"', 'unit="degC" start="6"'),
    start("discrete_input", "The start value of an Integer input differs.", 'max="50" start="1"', 'max="50" start="2"'),
    start("constant_string", "The value of a constant String differs.", 'start="zoo"', 'start="ZOO"'),
    start("constant", "The value of a constant Integer differs.", '<Integer start="7"/>', '<Integer start="8"/>'),
]

CASES: list[Case] = D4 + D6 + D7 + D8
