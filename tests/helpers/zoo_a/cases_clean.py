"""Strictly compliant units that use the freedom of the standard."""

from __future__ import annotations

from . import binaries as b
from .archive import STORE, Archive
from .case import Case
from .cases_life import ASYNC
from .cases_package import ARM_LINUX, LINUX32, MAC, WIN32, WIN64, adds, changes
from .description import CATEGORIES, CS, EXPERIMENT, ME, Edit

OPTIONAL = (' canGetAndSetFMUstate="true" canSerializeFMUstate="true" providesDirectionalDerivative="true"', "")
MEMORY = ' canNotUseMemoryManagementFunctions="true"'
ONCE = ' canBeInstantiatedOnlyOncePerProcess="true"/>'


def clean(name: str, what: str, *xml: Edit, defect: str = "none", **more: object) -> Case:
    return Case("clean_" + name, "clean", "", "freedom", what, xml=xml, defect=defect, **more)  # type: ignore[arg-type]


def experiment(stop: str, size: str) -> Edit:
    return EXPERIMENT, f'  <DefaultExperiment startTime="0" stopTime="{stop}" tolerance="1e-6" stepSize="{size}"/>\n'


def lab(kind: str, what: str) -> Case:
    return clean(kind, what, defect=kind, unit="Lab")


def flags(name: str, what: str, old: str, new: str) -> Case:
    """A flag about something that the unit does not have: tools set them for all their units."""
    return clean(f"flag_{name}", what, (old, f"{old} {new}"), defect="lab_events", unit="Lab")


def stored(a: Archive) -> None:
    for entry in a.entries:
        entry.method = STORE


def described(a: Archive) -> None:
    for entry in a.entries:
        entry.descriptor = True


CASES: list[Case] = [
    clean("base", "The base unit; fmi2SetXXX out of range returns fmi2Discard."),
    clean("reference", "The base unit with its reference result.", reference=True),
    clean("callbacks_kept", "The pointer to the callbacks is kept.", defect="callbacks_kept"),
    clean("only_me", "Only Model Exchange.", (CS, "")),
    clean("only_cs", "Only Co-Simulation.", (ME, ""), (' reinit="true"', ""), (' numberOfEventIndicators="2"', "")),
    clean(
        "platforms",
        "Libraries for five more platforms.",
        archive=(
            adds(LINUX32, b.elf(b.I386, 32)),
            adds(ARM_LINUX, b.elf(b.AARCH64, 64, glibc="GLIBC_2.17")),
            adds(WIN32, b.pe(b.PE_I386)),
            adds(WIN64, b.pe(b.PE_AMD64)),
            adds(MAC, b.macho(b.MACH_X86_64)),
        ),
    ),
    clean("stored", "All files are stored without compression.", archive=(stored,)),
    clean("descriptors", "All files have data descriptors behind them.", archive=(described,)),
    clean(
        "extra",
        "There are files in the folder extra, a license and folder entries.",
        archive=(
            adds("extra/com.example/notes.txt"),
            adds("documentation/licenses/license.txt"),
            adds("resources/maps/", b"", method=STORE, mode=0o040755),
        ),
    ),
    clean(
        "strict_inputs", "Inputs cannot be set before initialization (4.2.4, condition 1).", defect="c_strict_inputs"
    ),
    clean(
        "strict_reads",
        "In Initialization Mode only outputs and InitialUnknowns can be read (condition 2).",
        defect="c_strict_reads",
    ),
    clean(
        "strict_get_after_set",
        "fmi2GetXXX after fmi2SetXXX is refused without a step in between (4.2.4).",
        defect="c_strict_get_after_set",
    ),
    clean("pending", "Steps are pending and finish in a thread.", (CS, ASYNC), defect="c_pending"),
    clean("pending_now_and_then", "Every other step is pending.", (CS, ASYNC), defect="c_pending_now_and_then"),
    clean(
        "once_per_process",
        "One instance per process.",
        (ME, ME.replace("/>", ONCE)),
        (CS, CS.replace("/>", ONCE)),
        defect="c_once_per_process",
    ),
    clean("address_space", "16 GB of address space are reserved, none is used.", defect="c_address_space"),
    clean("slow_start", "Instantiation takes 5 s.", defect="c_slow_start"),
    clean("accepts_out_of_range", "Inputs out of their range are accepted.", defect="c_accepts_out_of_range"),
    clean(
        "terminates_itself",
        "The unit stops the simulation beyond its default stop time, with a message.",
        defect="c_terminates_itself",
    ),
    clean(
        "constant_step",
        "The step size must not change, as declared.",
        (' canHandleVariableCommunicationStepSize="true"', ""),
        defect="c_constant_step",
    ),
    clean(
        "no_optional_functions",
        "Optional functions return fmi2Error because their flags are false.",
        OPTIONAL,
        OPTIONAL,
        (' canInterpolateInputs="true" maxOutputDerivativeOrder="1"', ""),
        defect="c_no_optional_functions",
    ),
    clean("difference_quotients", "Directional derivatives are difference quotients.", defect="c_difference_quotients"),
    clean("random", "A random-number generator is part of the saved state.", defect="c_random"),
    clean(
        "callbacks_allocate",
        "Memory comes from the callbacks of the host.",
        ("*" + MEMORY, ""),
        defect="c_callbacks_allocate",
    ),
    clean(
        "mode_dependent",
        "An output depends on an input only after the late event, as declared.",
        defect="c_mode_dependent",
    ),
    clean("log_every_call", "Every call logs a message when logging is on.", defect="c_log_every_call"),
    clean(
        "category_null",
        "No log categories: the category is a null pointer.",
        (CATEGORIES, ""),
        defect="c_category_null",
    ),
    clean("printf_formats", "Messages have printf formats with arguments.", defect="c_printf_formats"),
    clean("warns", "Some calls return fmi2Warning, with a message.", defect="c_warns"),
    clean(
        "odd_names",
        "Flat names have odd characters.",
        ('variableNamingConvention="structured"', ""),
        ('name="T_sensor"', 'name="T sensor [°C] / &quot;main&quot; &lt;1&gt;"'),
        ('name="Q_out"', 'name="%Q;,#out&amp;"'),
        ('name="cost"', 'name="Kosten (€)"'),
        ('name="price"', 'name="1.5 prix à payer"'),
    ),
    clean("huge_references", "Value references are above 4,000,000,000.", defect="c_huge_references"),
    clean(
        "no_dependencies",
        "No dependencies are listed for outputs.",
        ('index="42" dependencies="36"', 'index="42"'),
        ('index="43" dependencies="29 36"', 'index="43"'),
    ),
    clean("no_experiment", "There is no default experiment.", (EXPERIMENT, "")),
    clean("step_not_dividing", "The step size does not divide the span.", experiment("60", "0.7")),
    clean("stop_before_step", "The stop time is before the end of the first step.", experiment("0.1", "0.25")),
    clean(
        "late_start",
        "The experiment starts at 15 s.",
        (EXPERIMENT, '  <DefaultExperiment startTime="15" stopTime="50" stepSize="0.25"/>\n'),
    ),
    lab("lab_time_only", "No variable but time."),
    lab("lab_events", "No states, but events; no InitialUnknowns, since the output has a start value."),
    lab("lab_every_step", "A time event at every step."),
    lab("lab_stiff", "Eigenvalues -1e6 and -1."),
    lab("lab_relay", "A relay with 200 state events, without chattering."),
    lab("lab_many", "2,000 variables."),
    lab("lab_long", "An experiment of 1e7 s."),
    lab("lab_short", "An experiment of 2e-6 s."),
    clean(
        "no_entry_point",
        "The documentation has no index.html.",
        archive=(changes("documentation/index.html", name="documentation/readme.html"),),
    ),
    clean(
        "flag_once_in_one_type",
        "One library for both interface types can be instantiated once in one of them only.",
        (ME, ME.replace("/>", ONCE)),
    ),
    flags(
        "interpolates_no_inputs",
        "Inputs are interpolated, but there are no continuous inputs.",
        'canHandleVariableCommunicationStepSize="true"',
        'canInterpolateInputs="true"',
    ),
    flags(
        "differentiates_no_outputs",
        "Output derivatives of order 2 are provided, but no output is Real.",
        'canHandleVariableCommunicationStepSize="true"',
        'maxOutputDerivativeOrder="2"',
    ),
    flags(
        "linearizes_nothing",
        "Directional derivatives are provided, but there are neither Real inputs nor states.",
        "<ModelExchange",
        'providesDirectionalDerivative="true"',
    ),
    clean(
        "terminates_me",
        "fmi2NewDiscreteStates asks for the end of the simulation within the default experiment.",
        defect="c_terminates_me",
    ),
    clean(
        "terminates_step",
        "fmi2CompletedIntegratorStep asks for the end of the simulation within the default experiment.",
        defect="c_terminates_step",
    ),
    clean(
        "terminates_cs",
        "fmi2DoStep asks for the end of the simulation within the default experiment.",
        defect="c_terminates_cs",
    ),
]
