"""Cases of the whole life of an FMU: the default experiment, leaks, and faults of the host (D13, D16, R1 to R4)."""

from __future__ import annotations

from .case import Case


def case(rule: str, point: str, name: str, what: str, cls: str = "warning", **more: object) -> Case:
    return Case(name, cls, rule, point, what, defect=str(more.pop("defect", name)), **more)  # type: ignore[arg-type]


P = "aborts and errors halfway"
HALFWAY = [
    case(
        "D13",
        P,
        "abort_late",
        "The FMU aborts after 65 % of its default experiment: 2.1.3 every call returns a status.",
        "error",
    ),
    case("D13", P, "segv_late", "The FMU crashes after 65 % of its default experiment (2.1.3).", "error"),
    case("D13", P, "exit_late", "The FMU calls exit(0) after 65 % of its default experiment (2.1.3).", "error"),
    case("D13", P, "error_late", "Every step after 65 % of the default experiment is an error."),
    case("D13", P, "fatal_late", "A step after 65 % of the default experiment is a fatal error."),
    case(
        "D13", "terminate requests, discarded steps", "discards", "Every ninth step of the default size is discarded."
    ),
    case("D13", "NaN late", "nan_late", "An output is NaN after 65 % of the default experiment."),
    case("D13", "NaN late", "nan_one_step", "An output is NaN at three points of the default experiment only."),
    case("D13", "NaN late", "infinite_late", "An output is infinite after 65 % of the default experiment."),
    case(
        "D13",
        "values outside of their type",
        "range_late",
        "An output leaves its own min and max after 75 % of the default experiment.",
        also=("D14",),  # by a jump without an event
    ),
    case("D13", "slow calls, a hang", "slow_once", "One step takes 3 s, all others microseconds."),
    case("D13", "slow calls, a hang", "slow_steps", "Every step takes 0.12 s."),
    case(
        "D13",
        "slow calls, a hang",
        "hang_late",
        "A step after 65 % of the default experiment never returns, asleep.",
        "error",
    ),
    case(
        "D13",
        "slow calls, a hang",
        "spin_late",
        "A step after 65 % of the default experiment never returns, busy.",
        "error",
    ),
    case("D13", "memory growth per step", "memory_steps", "Every step leaks 200 kB.", "error", also=("D16",)),
    case("D13", "memory growth per step", "memory_events", "Every event leaks 400 kB.", "error"),
    case("D13", "file descriptors", "fd_steps", "Every step leaves one file descriptor open.", "error", also=("D16",)),
    case("D13", "threads", "thread_steps", "Every late step leaves a thread behind.", "error"),
    case("D13", "child processes", "child_late", "A child process runs on after the experiment.", "error"),
    case("D13", "child processes", "zombies", "Late steps leave dead child processes that nobody waits for.", "error"),
    case("D13", "files left behind", "file_here", "A trace file is left in the working folder."),
    case("D13", "files left behind", "file_temporary", "A trace file is left in the temporary folder."),
    case("D13", "files left behind", "file_lock", "Every instance leaves a lock file in the working folder."),
    case(
        "D13",
        "values outside of their type",
        "enum_zero_based",
        "An enumeration output counts down to 0, which is no item of its type: 2.2.3 Item.",
        "error",
        also=("D8",),
    ),
    case(
        "D13",
        "settings of the process",
        "chdir_late",
        'The working folder is changed and stays so: 2.1 "provided these '
        'changes are restored before leaving the function".',
        "error",
    ),
    case(
        "D13",
        "settings of the process",
        "rounding_late",
        "The rounding mode of the processor is changed and stays so (2.1, same sentence).",
        "error",
        also=("D7",),
    ),
    case(
        "D13",
        "settings of the process",
        "signal_taken",
        "SIGINT is ignored from then on (2.1, same sentence).",
        "error",
    ),
    case("D13", "settings of the process", "flush_late", "Very small numbers become 0 (2.1, same sentence).", "error"),
    case("D13", "settings of the process", "mask_late", "The umask stays changed (2.1, same sentence).", "error"),
    case(
        "D13",
        "strings",
        "text_latin",
        '2.1.2 "UTF8 encoded": strings are in Latin-1 from then on.',
        "error",
        also=("D4", "D14"),
    ),
    case("D13", "settings of the process", "prints", "Every step prints to the standard output of the host."),
]

LEAKS = [
    case(
        "D16", "leaks", "leak_instance", '2.1.5 fmi2FreeInstance "frees all the allocated memory": 20 kB stay.', "error"
    ),
    case(
        "D16",
        "file descriptors",
        "leak_fd_instance",
        '2.1.5 fmi2FreeInstance "and other resources": a file descriptor stays open.',
        "error",
        also=("D13",),
    ),
    case("D16", "threads", "leak_thread_instance", "2.1.5 fmi2FreeInstance: a thread stays.", "error", also=("D13",)),
    case(
        "D16",
        "leaks",
        "leak_child_instance",
        "2.1.5 fmi2FreeInstance: a dead child process stays.",
        "error",
        also=("D13",),
    ),
    case("D13", "leaks", "child_holds", "Each instance leaves a process that keeps its files.", "error", also=("D16",)),
    case("D16", "leaks", "reset_loses_memory", "Each fmi2Reset loses 4 kB."),
    case("D16", "leaks", "leak_states", '2.1.8 fmi2FreeFMUstate "frees all memory": the copy stays.', "error"),
    case(
        "D16",
        "leaks",
        "leak_state_reuse",
        "fmi2GetFMUstate with a state of its own makes a new one and forgets the old one until the instance is freed.",
    ),
    case("D16", "leaks", "leak_data", "2.1.5 fmi2FreeInstance: the data of the model stay, 2 kB.", "error"),
]

R = "faults of the host"
WRONG = [
    case("R1", R, "r1_step_crash", "fmi2DoStep before initialization crashes.", "robustness"),
    case("R1", R, "r1_abort", "Every call in the wrong state aborts.", "robustness"),
    case("R1", R, "r1_accepts", "Calls in the wrong state succeed.", "robustness"),
    case("R2", R, "r2_null_crash", "NULL arrays crash.", "robustness"),
    case("D3", R, "r2_null_instance", "fmi2FreeInstance(NULL) crashes; 2.1.5 says that it is ignored.", "error"),
    case("R2", R, "r2_unknown_ok", "Unknown value references give fmi2OK; 2.1.2 asks for fmi2Error.", "robustness"),
    case("R2", R, "r2_unknown_abort", "An unknown value reference aborts.", "robustness"),
    case("R2", R, "r2_sets_all", "Constants, outputs and the time can be set; 2.1.2 asks for fmi2Error.", "robustness"),
    case("R2", R, "r2_zero_refused", "nvr = 0 is an error.", "robustness"),
    case("R2", R, "r2_nan_crash", "Setting NaN crashes.", "robustness"),
    case("R2", R, "r2_nan_accepted", "Setting NaN succeeds and spoils the results.", "robustness"),
    case("R2", R, "r2_enum_crash", "An enumeration without such an item crashes.", "robustness"),
    case("R2", R, "r2_enum_accepted", "An enumeration without such an item is taken for the first.", "robustness"),
    case("R3", R, "r3_hang", "A step of size 0 never returns.", "robustness"),
    case("R3", R, "r3_crash", "A step of size NaN crashes.", "robustness"),
    case("R3", R, "r3_size_accepted", "Steps of size 0 and below succeed.", "robustness"),
    case("R3", R, "r3_gap_accepted", "A gap between two steps is not noticed.", "robustness"),
    case("R3", R, "r3_back_accepted", "A step back in time without fmi2SetFMUstate is not noticed.", "robustness"),
    case("R4", R, "r4_null_crash", "fmi2SetFMUstate(NULL) crashes.", "robustness"),
    case("R4", R, "r4_unchecked", "Freed and foreign states are used as they are.", "robustness"),
    case("R4", R, "r4_bytes_crash", "Truncated and foreign bytes crash.", "robustness"),
    case("R4", R, "r4_bytes_accepted", "Truncated and foreign bytes become a state.", "robustness"),
]

CASES = [*HALFWAY, *LEAKS, *WRONG]
