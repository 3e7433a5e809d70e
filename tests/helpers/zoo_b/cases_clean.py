"""Strictly compliant units that use the freedoms of the standard; nothing may be found in them."""

from __future__ import annotations

from dataclasses import replace

from .case import LIBRARY, Case
from .describe import LOGGING, Description, Row
from .platforms import ARM64, I386, MACHO_ARM64, MACHO_X64, PE_I386, PE_X64, elf, macho, pe

ALL_FLAGS = (
    'canGetAndSetFMUstate="true" canSerializeFMUstate="true" providesDirectionalDerivative="true"',
    'canInterpolateInputs="true" maxOutputDerivativeOrder="1"',
)
ASYNCHRONOUS = ("canInterpolate", 'canRunAsynchronuously="true" canInterpolate')
INDICATORS = (' numberOfEventIndicators="4"', "")
REINIT = (' reinit="true"', "")
EXPERIMENT = 'startTime="0" stopTime="20" tolerance="1e-6" stepSize="0.1"'


def clean(name: str, what: str, **more: object) -> Case:
    return Case(f"clean_{name}", "clean", "", "freedoms of the standard", what, **more)  # type: ignore[arg-type]


def experiment(attributes: str):
    return lambda table: replace(table, experiment=attributes)


def only(element: str):
    """Removes the element of the other interface type."""
    other = "CoSimulation" if element == "ModelExchange" else "ModelExchange"

    def change(table: Description) -> Description:
        if other == "CoSimulation":
            return replace(table, slave="REMOVE")
        return replace(table, exchange="REMOVE", indicators=0)

    return change


def unlisted(table: Description) -> Description:
    """No list of dependencies anywhere."""
    return replace(
        table,
        outputs=dict.fromkeys(table.outputs, "*"),
        derivatives=dict.fromkeys(table.derivatives, "*"),
        initial=dict.fromkeys(table.initial, "*"),
    )


def timeless(table: Description) -> Description:
    """The independent variable is not listed."""

    def rest(part: dict[str, str]) -> dict[str, str]:
        return {key: words.replace(" time", "").replace("time", "") for key, words in part.items()}

    rows = tuple(row for row in table.rows if row.key != "time")
    return replace(
        table, rows=rows, outputs=rest(table.outputs), derivatives=rest(table.derivatives), initial=rest(table.initial)
    )


ODD = ["höhe 1 [m]", 'tank <2> & "level"', "a.b[", "der(x", "100 %s %d", "水位", "{x}#1", "'", "..", "πr²"]


def flat(table: Description) -> Description:
    """Flat names with every kind of character."""
    rows = list(table.rows)
    for number, odd in enumerate(ODD):
        rows[10 + 5 * number] = replace(rows[10 + 5 * number], name=odd)
    return replace(table, rows=tuple(rows))


def aliases(table: Description) -> Description:
    more = (
        Row("a1", "alias.valve", 140, "Real", "local", "continuous", "calculated"),
        Row("a2", "alias.w", 152, "Real", "local", "continuous", "calculated"),
        Row("a3", "alias.command", 175, "Real", "local", "discrete", "calculated"),
        Row("a4", "alias.text", 403, "String", "local", "discrete", "calculated"),
        Row("a5", "alias.pulses", 204, "Integer", "local", "discrete", "calculated"),
        Row("a6", "alias.enable", 302, "Boolean", "local", "discrete", "calculated"),
        Row("a7", "alias.mode", 208, "Enumeration", "local", "tunable", "calculated", more=' declaredType="PumpMode"'),
        Row("a8", "alias.gravity", 182, "Real", "local", "constant", "exact", "9.81"),
        Row("a9", "alias.revision", 405, "String", "output", "constant", "exact", "rev C"),
    )
    return replace(table, rows=table.rows + more, outputs={**table.outputs, "a9": ""})


def platform(folder: str, extension: str, data: bytes) -> tuple:
    return ("add", f"binaries/{folder}/tankpair.{extension}", data)


CASES = [
    clean("base", "The tank as it is."),
    clean(
        "platforms",
        "Correct libraries for every platform.",
        archive=(
            platform("win32", "dll", pe(PE_I386)),
            platform("win64", "dll", pe(PE_X64)),
            platform("linux32", "so", elf(I386, glibc="GLIBC_2.2.5")),
            platform("aarch64-linux", "so", elf(ARM64)),
            platform("darwin64", "dylib", macho(MACHO_X64)),
            platform("aarch64-darwin", "dylib", macho(MACHO_ARM64)),
        ),
    ),
    clean("callbacks_borrowed", "The struct of callbacks is not copied.", defect="callbacks_borrowed"),
    clean("strict_early", "Refuses inputs before initialization (condition 1).", defect="strict_early"),
    clean(
        "strict_init",
        "Refuses to read anything but outputs and initial unknowns in initialization mode (condition 2).",
        defect="strict_init",
    ),
    clean(
        "strict_unread",
        "Refuses fmi2GetXXX after fmi2SetXXX without a step in Co-Simulation (4.2.4).",
        defect="strict_unread",
    ),
    clean("strict_all", "All three refusals at once.", defect="strict_early,strict_init,strict_unread"),
    clean(
        "pending",
        "All steps are pending: with stepFinished in a thread, else until the third fmi2GetStatus.",
        defect="pending",
        xml=(ASYNCHRONOUS,),
    ),
    clean(
        "pending_cs",
        "All steps are pending and there is Co-Simulation only.",
        defect="pending",
        table=only("CoSimulation"),
        xml=(ASYNCHRONOUS, (' numberOfEventIndicators="0"', ""), REINIT),
    ),
    clean(
        "once",
        "One instance per process.",
        defect="once",
        xml=(("canNotUseM", 'canBeInstantiatedOnlyOncePerProcess="true" canNotUseM'),),
    ),
    clean("reserve", "Reserves 16 GB of address space.", defect="reserve"),
    clean("slow_instantiate", "fmi2Instantiate takes 5 s.", defect="slow_instantiate"),
    clean(
        "residual",
        "Where derivatives are 0, they are what the solution of an equation leaves: less than 1e-35.",
        defect="residual",
    ),
    clean(
        "discard_range",
        "Values out of range are discarded.",
        defect="set_range_discard",
        xml=(('<Real start="0.5"/>', '<Real min="0" max="1" start="0.5"/>'),),
    ),
    clean("stops_beyond", "Ends the simulation itself, but only after its default experiment.", defect="stops_beyond"),
    clean(
        "fixed_size",
        "Refuses a variable step size and does not declare it.",
        defect="fixed_size",
        xml=(('canHandleVariableCommunicationStepSize="true"', 'canHandleVariableCommunicationStepSize="false"'),),
    ),
    clean(
        "callbacks",
        "Uses the memory callbacks.",
        defect="use_callbacks",
        xml=(('canNotUseMemoryManagementFunctions="true"', 'canNotUseMemoryManagementFunctions="false"'),),
    ),
    clean(
        "flags_false",
        "No optional function works, and no flag says so.",
        defect="flags_false",
        xml=tuple((flags, "") for flags in ALL_FLAGS),
    ),
    clean("differences", "Directional derivatives by differences.", defect="dd_differences"),
    clean("aliases", "Aliases of every type.", table=aliases),
    clean("flat", "Flat names with odd characters.", table=flat, xml=(('"structured"', '"flat"'),)),
    clean("unlisted", "No dependencies are listed.", table=unlisted),
    clean("timeless", "The independent variable is not listed.", table=timeless),
    clean("only_me", "Model Exchange only.", table=only("ModelExchange")),
    clean(
        "only_cs", "Co-Simulation only.", table=only("CoSimulation"), xml=((' numberOfEventIndicators="0"', ""), REINIT)
    ),
    clean("clock", "No states and a time event at every step; no initial unknowns.", base="clock"),
    clean("relay", "A relay with some 200 state events.", base="relay"),
    clean("stiff", "Eigenvalues -1e6 and -1.", base="stiff"),
    clean("many", "2,002 variables with value references up to 4294967295.", base="many"),
    clean("time", "No variable but the time.", base="time"),
    clean("noise", "A random-number generator as part of the saved state.", base="noise"),
    clean("gears", "Outputs that follow other equations in other modes.", base="gears"),
    clean(
        "short", "An experiment of one microsecond.", table=experiment('startTime="0" stopTime="1e-6" stepSize="1e-8"')
    ),
    clean(
        "long",
        "An experiment of 10,000,000 s.",
        base="stiff",
        table=experiment('startTime="0" stopTime="1e7" stepSize="1e5"'),
    ),
    clean(
        "undivided",
        "The step size does not divide the span.",
        table=experiment('startTime="0" stopTime="20" stepSize="0.3"'),
    ),
    clean(
        "one_step",
        "The stop time comes before the end of the first step.",
        table=experiment('startTime="0" stopTime="0.05" stepSize="0.1"'),
    ),
    clean("no_experiment", "No default experiment.", table=experiment("")),
    clean(
        "later_start",
        "The default experiment starts at 5 s.",
        table=experiment('startTime="5" stopTime="25" tolerance="1e-4" stepSize="0.125"'),
    ),
    clean("log_calls", "A message in every call.", defect="log_calls"),
    clean(
        "log_none",
        "No categories, so that the category is a null pointer.",
        defect="log_without_categories,log_calls",
        xml=((LOGGING, ""),),
    ),
    clean("log_formats", "Messages with all kinds of format characters.", defect="log_formats"),
    clean("warns", "fmi2Warning now and then.", defect="warns"),
    clean("resources", "Reads a resource, percent-encoded locations included.", defect="location_read"),
    clean(
        "stored",
        "A ZIP file without compression, and nothing in it but what must be.",
        archive=(
            ("remove", "documentation/index.html"),
            ("remove", "resources/fluids.txt"),
            ("change", "modelDescription.xml", {"method": 0, "needed": 10}),
            ("change", LIBRARY, {"method": 0, "needed": 10}),
        ),
    ),
    clean(
        "flag_inputs_absent",
        "canInterpolateInputs though there is no continuous input.",
        base="clock",
        xml=(("canHandleVariable", 'canInterpolateInputs="true" canHandleVariable'),),
    ),
    clean(
        "flag_outputs_absent",
        "maxOutputDerivativeOrder though there is no Real output at all.",
        base="time",
        xml=(("canHandleVariable", 'maxOutputDerivativeOrder="2" canHandleVariable'),),
    ),
    clean(
        "flag_derivatives_absent",
        "providesDirectionalDerivative though there is no Real unknown.",
        base="time",
        xml=(("canHandleVariable", 'providesDirectionalDerivative="true" canHandleVariable'),),
    ),
    clean(
        "late_events",
        "The solver of Co-Simulation handles state events at the end of its step, up to 0.01 s late: the standard asks "
        "for no accuracy, and a simple solver has less.",
        defect="cs_late_events",
    ),
    clean("stops_late", "Ends its own default experiment at 65 %, in the legal way.", defect="stops_late"),
    clean(
        "completed_terminates",
        "fmi2CompletedIntegratorStep asks for the end at 65 % of the default experiment.",
        defect="completed_terminates",
    ),
]
