"""Defects of loading, instantiation, calling sequences and steps: D1, D2, D3, D5."""

from __future__ import annotations

from .case import Case
from .description import CATEGORIES, CS

GUID_QUOTE = 'FMI 2.1.5: "It must be identical to the one stored inside the fmi2Instantiate function"'
NAME_QUOTE = 'FMI 2.1.5: "instanceName is the name of the FMU instance that calls this function."'
FILE_QUOTE = 'FMI 2.1.5: "Mandatory: file with absolute path (either including or omitting the authority component)"'
LOG_QUOTE = 'FMI 2.1.5: "logger should only be called for log categories that were enabled"'
CATEGORY_QUOTE = 'FMI 2.1.5: "The allowed values for category are defined in the modelDescription.xml file"'
PRESENT = 'FMI 2.3: "it is required that all functions specified for Model Exchange and/or Co-Simulation are present"'
TABLE_ME, TABLE_CS = "FMI 3.2.3, table of allowed calls", "FMI 4.2.4, table of allowed calls"
FREE_NULL = "FMI 2.1.5, 3.2.3 and 4.2.4: fmi2FreeInstance is allowed"
END = 'FMI 4.2.2: "The slave must integrate until time instant tc_i+1 = tc_i + hc_i."'


def case(
    defect: str,
    rule: str,
    what: str,
    point: str = "",
    quote: str = "",
    cls: str = "error",
    also: tuple[str, ...] = (),
    **more: object,
) -> Case:
    return Case(defect, cls, rule, point, what, defect=defect, quote=quote, also=also, **more)  # type: ignore[arg-type]


def loading(name: str, what: str, old: bytes, new: bytes, quote: str = PRESENT) -> Case:
    return Case(name, "error", "D1", "loading", what, patch=((old, new),), quote=quote, also=("S14",))


D1: list[Case] = [
    loading("d1_no_cancel_step", "fmi2CancelStep is not exported.", b"\0fmi2CancelStep\0", b"\0fmi2Cancel_tep\0"),
    loading(
        "d1_no_nominals",
        "fmi2GetNominalsOfContinuousStates is not exported.",
        b"\0fmi2GetNominalsOfContinuousStates\0",
        b"\0fmi2GetNominals_fContinuousStates\0",
    ),
    Case(  # S14, not D1: on another machine the library might be there
        "d1_library_missing",
        "warning",
        "S14",
        "loading",
        "The library needs another library that does not exist.",
        patch=((b"\0libm.so.6\0", b"\0libq.so.6\0"),),
        quote='FMI 2.3: "FMUs should contain all resources that are required to load and execute"',
    ),
    loading(
        "d1_symbol_missing",
        "The library needs a function that no library has.",
        b"\0cpow\0",
        b"\0cpoq\0",
        'FMI 2.3: "FMUs should contain all resources that are required to load and execute"',
    ),
    case(
        "d1_types_platform",
        "D1",
        "fmi2GetTypesPlatform returns the platform of FMI 1.0.",
        "loading",
        'FMI 2.1.4: "has fmi2TypesPlatform set to default (so this function usually returns default)"',
    ),
    case(
        "d1_version_of_fmi_1",
        "D1",
        "fmi2GetVersion returns 1.0.",
        "loading",
        'FMI 2.1.4: "The standard header file as documented in this specification has version 2.0"',
    ),
    case(
        "d1_version_with_patch",
        "D1",
        "fmi2GetVersion returns 2.0.4.",
        "loading",
        'FMI 2.1.4: "The standard header file as documented in this specification has version 2.0"',
    ),
    case("d1_abort_at_exit", "D1", "The process aborts when it ends.", "loading", cls="warning"),
    case("d1_hang_at_exit", "D1", "The process never ends.", "a hang", cls="warning"),
]

GUID, NAME, RESOURCES = "empty and near GUID", "long and UTF-8 names", "empty resource location"

D2: list[Case] = [
    case("d2_guid_not_checked", "D2", "Any GUID is accepted.", GUID, GUID_QUOTE),
    case("d2_guid_empty", "D2", "An empty GUID is accepted.", GUID, GUID_QUOTE),
    case("d2_guid_prefix", "D2", "Only the first twenty characters of the GUID are compared.", GUID, GUID_QUOTE),
    case("d2_guid_case", "D2", "The GUID is compared without regard to case.", GUID, GUID_QUOTE),
    case("d2_guid_braces", "D2", "The GUID is accepted without its braces.", GUID, GUID_QUOTE),
    case("d2_guid_longer", "D2", "A GUID that continues after the right one is accepted.", GUID, GUID_QUOTE),
    case(
        "d2_own_guid_refused_in_me",
        "D2",
        "Model Exchange cannot be instantiated at all.",
        GUID,
        'FMI 2.1.5: "The function returns a new instance of an FMU."',
        also=("D3", "D13", "D14", "D11", "D7", "D16"),
    ),
    case(
        "d2_name_ascii_only",
        "D2",
        "An instance name outside ASCII is refused.",
        NAME,
        'FMI 2.1.2: "fmi2String: ... UTF-8 encoded"',
    ),
    case(
        "d2_name_too_long",
        "D2",
        "An instance name of more than 100 bytes is refused.",
        NAME,
        "FMI 2.1.5 demands only that the name is not empty",
    ),
    case("d2_name_truncated", "D2", "Messages have the first 31 bytes of the instance name.", NAME, NAME_QUOTE),
    case(
        "d2_name_not_copied",
        "D2",
        "The pointer to the instance name is kept.",
        NAME,
        'FMI 2.1.2: "the FMI function must copy the string before it returns"',
    ),
    case("d2_name_of_model", "D2", "Messages have the name of the model instead of the instance.", NAME, NAME_QUOTE),
    case(
        "d2_location_needs_authority", "D2", "A location without authority (file:/) is refused.", RESOURCES, FILE_QUOTE
    ),
    case(
        "d2_location_no_authority",
        "D2",
        "A location with an empty authority (file:///) is refused.",
        RESOURCES,
        FILE_QUOTE,
        also=("D3", "D13", "D14", "D5", "D4"),
    ),
    case(
        "d2_location_percent",
        "D2",
        "A location with percent-encoded characters is refused.",
        RESOURCES,
        'FMI 2.1.5: "is a URI according to the" IETF RFC3986',
    ),
    case(
        "d2_location_empty_refused",
        "D2",
        "An empty location is refused although nothing is read from it.",
        RESOURCES,
        cls="warning",
    ),
    case("d2_location_empty_crash", "D2", "An empty location crashes.", RESOURCES, cls="warning"),
    case(
        "d2_null_without_message",
        "D2",
        "A refused instantiation logs no reason.",
        "logging",
        'FMI 2.1.5: "In that case, functions->logger is called with detailed information about the reason."',
    ),
    case(
        "d2_error_without_message",
        "D2",
        "fmi2Error comes without a message.",
        "logging",
        'FMI 2.1.3: fmi2Error: "Function logger was called in the FMU"',
        also=("D5",),
    ),
    case(
        "d2_environment_lost",
        "D2",
        "The logger gets a null pointer instead of the environment.",
        "logging",
        (
            'FMI 2.1.5: "a pointer to the environment is provided (componentEnvironment) that needs to be '
            'passed to the logger function"'
        ),
    ),
    case("d2_category_undeclared", "D2", "A message has a category that is not declared.", "logging", CATEGORY_QUOTE),
    case(
        "d2_category_null",
        "D2",
        "A message has no category although categories are declared.",
        "logging",
        CATEGORY_QUOTE,
    ),
    Case(
        "d2_category_without_list",
        "error",
        "D2",
        "logging",
        "Messages have categories although the description declares none.",
        xml=((CATEGORIES, ""),),
        quote='FMI 2.1.5: "If the FMU does not define any log categories, category must be a null pointer."',
    ),
    case(
        "d2_category_refused",
        "D2",
        "fmi2SetDebugLogging refuses a declared category.",
        "logging",
        'FMI 2.1.5: "The allowed values of categories are defined in the modelDescription.xml file"',
    ),
    case("d2_logs_when_off", "D2", "Events are logged although logging is off.", "logging", LOG_QUOTE),
    case(
        "d2_logging_stays_on",
        "D2",
        "fmi2SetDebugLogging cannot switch logging off.",
        "logging",
        (
            'FMI 2.1.5: "debug logging is enabled for the log categories specified in categories, otherwise '
            'it is disabled"'
        ),
    ),
    case(
        "d2_categories_ignored", "D2", "Any enabled category enables the events too.", "logging", LOG_QUOTE, "warning"
    ),
    case(
        "d2_trailing_newline",
        "D2",
        "Messages end with a line break.",
        "logging",
        'FMI 2.1.5: "should not have a trailing line break"',
        cls="warning",
    ),
    case(
        "d2_format_in_message",
        "D2",
        "A message has a percent sign that is no printf format.",
        "logging",
        'FMI 2.1.5: "with the same format control as in function printf"',
        also=tuple(f"D{i}" for i in range(1, 17)),  # an importer that calls vsnprintf may crash with it
    ),
    case(
        "d2_visible_waits",
        "D2",
        "With visible = true, instantiation waits for the user for ever.",
        "a hang",
        'FMI 2.1.5: "acknowledgment is non-blocking"',
    ),
    case(
        "d2_uses_missing_allocator",
        "D2",
        "allocateMemory is called although the flag says that it is not used.",
        "instantiation",
        'FMI 2.1.5: "allocateMemory is not used in the FMU and a void pointer can be provided"',
    ),
]


def refusal(name: str, what: str, quote: str = TABLE_ME, also: tuple[str, ...] = ()) -> Case:
    return case("d3_" + name, "D3", what, "calls allowed in each state", quote, also=also)


D3: list[Case] = [
    refusal("no_reset_initializing", "fmi2Reset is refused in Initialization Mode.", also=("D7",)),
    refusal("no_reset_instantiated", "fmi2Reset is refused before initialization.", also=("D7",)),
    refusal("no_reset_continuous", "fmi2Reset is refused in Continuous-Time Mode.", also=("D7",)),
    refusal("no_reading_terminated", "Nothing can be read after fmi2Terminate.", TABLE_CS),
    refusal("no_strings_terminated", "Strings cannot be read after fmi2Terminate.", TABLE_CS),
    refusal(
        "zero_after_terminate",
        "All Reals are 0 after fmi2Terminate.",
        'FMI 2.1.6: "After calling this function, the final values of all variables can be inquired"',
    ),
    refusal(
        "parameters_gone_after_terminate",
        "Parameters have their start values after fmi2Terminate.",
        'FMI 2.1.6: "After calling this function, the final values of all variables can be inquired"',
    ),
    refusal("no_booleans_initializing", "Boolean outputs cannot be read in Initialization Mode."),
    refusal("no_nominals_instantiated", "Nominal values cannot be read before initialization."),
    refusal("no_indicators_initializing", "Event indicators cannot be read in Initialization Mode."),
    refusal("no_indicators_terminated", "Event indicators cannot be read after fmi2Terminate."),
    refusal("no_rates_initializing", "fmi2GetDerivatives is refused in Initialization Mode."),
    refusal(
        "no_state_by_reference",
        "fmi2SetReal of a state is refused in Continuous-Time Mode.",
        "FMI 3.2.3, condition 5: for a continuous-time state variable",
        ("D9", "D10"),
    ),
    refusal("no_event_mode_twice", "fmi2EnterEventMode is refused in Event Mode."),
    refusal("no_terminate_in_event_mode", "fmi2Terminate is refused in Event Mode."),
    refusal("no_logging_later", "fmi2SetDebugLogging is refused after initialization.", TABLE_CS, ("D2",)),
    refusal(
        "no_parameter_in_initialization",
        "Parameters cannot be set in Initialization Mode.",
        "FMI 3.2.3, condition 3: initial = exact",
        ("D4", "D9", "D10"),
    ),
    refusal(
        "no_tunable_after_start",
        "Tunable parameters cannot be set after initialization.",
        "FMI 4.2.4, condition 6: parameters with variability = tunable",
        ("D4",),
    ),
    refusal("no_strings_in_event_mode", "Strings cannot be set in Event Mode.", also=("D4", "D9")),
    refusal("no_state_terminated", "fmi2GetFMUstate is refused after fmi2Terminate.", TABLE_CS, ("D6",)),
    refusal("no_state_instantiated", "fmi2GetFMUstate is refused before initialization.", TABLE_CS, ("D6",)),
    refusal(
        "no_derivative_initializing", "Directional derivatives are refused in Initialization Mode.", TABLE_CS, ("D10",)
    ),
    refusal("no_derivative_terminated", "Directional derivatives are refused after fmi2Terminate.", TABLE_CS),
    refusal("no_slopes_instantiated", "Input derivatives are refused before initialization.", TABLE_CS, ("D15",)),
    refusal(
        "status_crashes",
        "A status that is not available crashes.",
        'FMI 4.2.3: "If a status is required which cannot be retrieved by the slave it returns fmi2Discard."',
    ),
    refusal(
        "free_instantiated_crashes",
        "fmi2FreeInstance crashes before initialization.",
        FREE_NULL,
        ("D2", "D16", "D1", "D6", "D7"),
    ),
    refusal("free_initializing_crashes", "fmi2FreeInstance crashes in Initialization Mode.", FREE_NULL),
    refusal(
        "free_without_terminate_crashes",
        "fmi2FreeInstance crashes without fmi2Terminate.",
        FREE_NULL,
        ("D4", "D5", "D6", "D7", "D9", "D10", "D13", "D14"),
    ),
]

ASYNC = CS.replace("/>", ' canRunAsynchronuously="true"/>')


def step(
    name: str, what: str, quote: str = END, point: str = "steps", also: tuple[str, ...] = (), **more: object
) -> Case:
    return case("d5_" + name, "D5", what, point, quote, also=also, **more)


D5: list[Case] = [
    step(
        "exact_time",
        "A communication point that differs by rounding is refused.",
        'FMI 4.2.2: "in order to handle a mismatch between the master and the FMU state of the slave"',
        also=("D11", "D13"),
    ),
    step("float_time", "The end of a step is rounded to single precision.", also=("D11",)),
    step("time_behind", "The independent variable is that of the beginning of the step.", also=("D3",)),
    step("multiples_only", "Only multiples of the internal step size of 0.02 s are computed.", also=("D11", "D15")),
    step(
        "start_time_ignored",
        "Time starts with 0 whatever fmi2SetupExperiment says.",
        'FMI 2.1.6: "startTime is the fixed initial value of the independent variable"',
    ),
    step(
        "constant_step",
        "Another step size than the first is refused although it is declared.",
        'FMI 4.3.1: "The slave can handle variable communication step size."',
        also=("D11", "D6"),
    ),
    step(
        "no_short_steps",
        "Steps below 0.05 s are refused.",
        'FMI 4.3.1: "The slave can handle variable communication step size."',
        also=("D11", "D15"),
    ),
    step(
        "default_stop_time",
        "Steps beyond the default stop time are refused though no stop time is defined.",
        'FMI 2.1.6: "If stopTimeDefined = fmi2False, then no final value of the independent variable is defined"',
        "beyond the stop time",
    ),
    step(
        "past_stop_time",
        "A step past the defined stop time is computed.",
        'FMI 2.1.6: "if the environment tries to compute past stopTime the FMU has to return fmi2Status = fmi2Error"',
        "beyond the stop time",
    ),
    step(
        "past_stop_time_discards",
        "A step past the defined stop time returns fmi2Discard.",
        'FMI 2.1.6: "if the environment tries to compute past stopTime the FMU has to return fmi2Status = fmi2Error"',
        "beyond the stop time",
    ),
    case(
        "d5_past_stop_time_me",
        "R3",
        "Model Exchange accepts integrator steps past the defined stop time.",
        "beyond the stop time",
        cls="robustness",
    ),
    step(
        "flag_refused",
        "noSetFMUStatePriorToCurrentPoint = false is refused.",
        'FMI 4.2.2: "the slave can use this flag to flush a result buffer"',
        "back in time",
        ("D3", "D6", "D13"),
    ),
    step(
        "last_time_wrong",
        "fmi2LastSuccessfulTime of a discarded step is the end of the step.",
        'FMI 4.2.3: "Returns the end time of the last successfully completed communication step."',
        "discarded steps",
        ("D13", "D11"),
    ),
    step(
        "status_fails",
        "The status functions fail after a discarded step.",
        'FMI 4.2.3: "Can be called after fmi2DoStep(..) returned fmi2Discard."',
        "discarded steps",
        ("D13", "D11", "D3"),
    ),
    step(
        "pending_undeclared",
        "Steps are pending although canRunAsynchronuously is not set.",
        'FMI 4.3.1: "This flag describes the ability to carry out the fmi2DoStep(..) call asynchronously."',
        "pending steps",
        ("D3", "D11", "D13", "D15", "D6"),
    ),
    step(
        "pending_forever",
        "A pending step never finishes.",
        'FMI 2.1.3: fmi2Pending: "starts to compute"',
        "a hang",
        ("D13",),
        xml=((CS, ASYNC),),
    ),
    step(
        "pending_without_callback",
        "stepFinished is not called after a pending step.",
        (
            'FMI 2.1.5: "If a pointer to a function is provided, it must be called by the FMU after a '
            'completed communication step."'
        ),
        "pending steps",
        xml=((CS, ASYNC),),
    ),
    step(
        "pending_lost_status",
        "fmi2GetStatus returns fmi2Error for a step that was computed.",
        'FMI 4.2.3: "Otherwise the function returns the result of the asynchronously executed fmi2DoStep call."',
        "pending steps",
        ("D13",),
        xml=((CS, ASYNC),),
    ),
]

CASES: list[Case] = D1 + D2 + D3 + D5
