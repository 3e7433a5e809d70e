"""Defects of the whole life and of robustness: D13, D16, R1-R4."""

from __future__ import annotations

from .case import Case

LIFE = "the whole life"
RUNS = (
    'FMI 3.2.3 (and 4.2.4 for Co-Simulation): "Every implementation of the FMI must support calling '
    'sequences of the functions"'
)
FREES = 'FMI 2.1.5: "frees all the allocated memory and other resources that have been allocated"'


def life(name: str, what: str, cls: str = "error", quote: str = "", also: tuple[str, ...] = ()) -> Case:
    return Case("d13_" + name, cls, "D13", LIFE, what, defect="d13_" + name, quote=quote, also=also)


D13: list[Case] = [
    life("abort_late", "The FMU aborts after 77 % of its default experiment.", quote=RUNS),
    life("crash_late", "The FMU reads an invalid address after 77 % of its default experiment.", quote=RUNS),
    life("exit_late", "The FMU ends the process after 77 % of its default experiment.", quote=RUNS),
    life("error_late", "fmi2DoStep returns fmi2Error after 77 % of the default experiment.", "warning", also=("D11",)),
    life(
        "fatal_late",
        "fmi2DoStep returns fmi2Fatal after 77 % of the default experiment.",
        "warning",
        also=("D11", "D14"),
    ),
    life(
        "error_late_me",
        "fmi2GetDerivatives returns fmi2Error after 77 % of the default experiment.",
        "warning",
        also=("D11",),
    ),
    life("hang_late", "fmi2DoStep does not return after 77 % of the default experiment.", quote=RUNS, also=("D11",)),
    life(
        "hang_late_me",
        "fmi2GetDerivatives does not return after 77 % of the default experiment.",
        quote=RUNS,
        also=("D7", "D11"),
    ),
    life("nan_late", "An output is NaN after 77 % of the experiment.", "warning", also=("D10", "D9", "D11")),
    life("nan_once", "An output is NaN at a single point late in the experiment.", "warning"),
    life("infinite_late", "An output is infinite after 77 % of the experiment.", "warning", also=("D10", "D9", "D11")),
    life(
        "nan_derivative_late",
        "A derivative is NaN after 77 % of the experiment.",
        "warning",
        also=("D14", "D11", "D10", "D9", "D15"),
    ),
    life("out_of_range", "An output leaves its range after 77 % of the experiment.", "warning", also=("D14",)),
    life("discards_late", "fmi2DoStep discards a step late.", "warning", also=("D11", "D5")),
    life("memory_per_step", "Each step loses 256 kB of memory.", quote=FREES, also=("D16",)),
    life("history_grows", "The FMU keeps 64 kB of results per step until it is freed.", "warning"),
    life("descriptor_per_step", "Each step leaves a file open.", quote=FREES, also=("D16",)),
    life("pipe_left", "Every twentieth step leaves a pipe open.", quote=FREES, also=("D16",)),
    life("thread_left", "Every 25th step leaves a thread behind.", quote=FREES, also=("D16",)),
    life("child_left", "The hundredth step leaves a child process behind.", quote=FREES, also=("D16",)),
    life("zombie_left", "Every fiftieth step leaves a zombie process behind.", quote=FREES, also=("D16",)),
    life("file_left", "Each step writes to a file in the folder for temporary files.", "warning"),
    life("log_in_folder", "Each step writes to a file in the current folder.", "warning"),
    life(
        "changes_folder",
        "The 150th step changes the current folder of the process.",
        "error",
        'FMI 2.1: "FMI functions must not change global settings which affect other processes/threads."',
    ),
    life("slow_late", "Some steps late in the experiment take 3 s each.", "warning"),
    life("slow_always", "Each step of 0.25 s takes 0.3 s.", "warning"),
]


def leak(name: str, what: str, also: tuple[str, ...] = (), cls: str = "error", quote: str = FREES) -> Case:
    return Case("d16_" + name, cls, "D16", "leaks", what, defect="d16_" + name, quote=quote, also=also)


D16: list[Case] = [
    leak("instance_leaks", "Each instance loses 20 kB of memory."),
    leak("descriptor_leaks", "Each instance leaves a file open.", also=("D13",)),
    leak("thread_leaks", "Each instance leaves a thread behind.", ("D13",)),
    leak("zombie_leaks", "Each instance leaves a zombie process behind.", ("D13",)),
    leak(
        "state_leaks",
        "fmi2FreeFMUstate does not free the memory.",
        quote='FMI 2.1.8: "frees all memory and other resources allocated with the fmi2GetFMUstate call"',
    ),
    leak(
        "state_not_reused",
        "fmi2GetFMUstate does not reuse a state that it is given, and keeps it until the instance is freed.",
        cls="warning",
        quote="",
    ),
    leak("bytes_leak", "Each fmi2DeSerializeFMUstate loses 8 kB."),
]


def fragile(rule: str, name: str, what: str, point: str, also: tuple[str, ...] = ()) -> Case:
    return Case(name, "robustness", rule, point, what, defect=name, also=also)


WRONG, BAD, IMPOSSIBLE, FOREIGN = "calls in the wrong state", "invalid arguments", "impossible steps", "foreign states"

R: list[Case] = [
    fragile("R1", "r1_aborts", "A call in the wrong state aborts.", WRONG),
    fragile("R1", "r1_no_checks", "A call in the wrong state is carried out.", WRONG),
    fragile("R1", "r1_reads_too_early", "Reading before initialization crashes.", WRONG),
    fragile("R1", "r1_event_iteration_crashes", "fmi2NewDiscreteStates in Continuous-Time Mode crashes.", WRONG),
    fragile("R2", "r2_null_instance", "A null instance crashes.", BAD),
    Case(
        "r2_free_null",
        "error",
        "D3",
        BAD,
        "fmi2FreeInstance of a null pointer crashes.",
        defect="r2_free_null",
        quote='FMI 2.1.5: "If a null pointer is provided for c, the function call is ignored"',
    ),
    fragile("R2", "r2_null_array", "A null array crashes.", BAD),
    fragile("R2", "r2_null_string", "A null string crashes.", BAD),
    fragile("R2", "r2_zero_count", "An array without elements crashes.", BAD, ("D4",)),
    fragile("R2", "r2_unknown_crash", "An unknown value reference crashes.", BAD),
    fragile("R2", "r2_unknown_ok", "An unknown value reference is ignored.", BAD),
    fragile("R2", "r2_other_type", "A reference of a Real is accepted for other types.", BAD),
    fragile("R2", "r2_sets_constant", "A constant can be set.", BAD),
    fragile("R2", "r2_sets_output", "Outputs and calculated parameters can be set.", BAD),
    fragile("R2", "r2_sets_fixed_late", "Fixed parameters can be set after initialization.", BAD),
    fragile("R2", "r2_accepts_nan", "NaN is accepted as a value.", BAD),
    fragile("R2", "r2_enumeration_range", "A value that is no item of the enumeration crashes.", BAD),
    fragile("R3", "r3_zero_step", "A step of size 0 crashes.", IMPOSSIBLE),
    fragile("R3", "r3_negative_step", "A step of negative size crashes.", IMPOSSIBLE),
    fragile("R3", "r3_nan_step", "A step of size NaN does not return.", IMPOSSIBLE),
    fragile("R3", "r3_any_step_ok", "A step of size 0 or less is accepted.", IMPOSSIBLE),
    fragile("R3", "r3_gap_ok", "A step that starts later than the last one ended is accepted.", IMPOSSIBLE),
    fragile("R3", "r3_gap_crash", "A step that does not start where the last one ended crashes.", IMPOSSIBLE),
    fragile("R3", "r3_back_ok", "A step that starts before the last one ended is accepted.", "back in time"),
    fragile("R4", "r4_null_state", "Setting a null state crashes.", FOREIGN),
    fragile("R4", "r4_freed_state", "Setting a freed state crashes.", FOREIGN),
    fragile("R4", "r4_double_free", "Freeing a state twice crashes.", FOREIGN),
    fragile("R4", "r4_serialize_foreign", "Serializing a foreign state crashes.", FOREIGN),
    fragile("R4", "r4_truncated", "A truncated byte vector crashes.", FOREIGN),
    fragile("R4", "r4_no_checksum", "A changed byte vector crashes.", FOREIGN),
]

CASES: list[Case] = D13 + D16 + R
