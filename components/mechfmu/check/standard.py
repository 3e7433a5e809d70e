"""The sentences of the FMI 2.0 standard that errors cite, by key.

Each sentence is quoted word for word from edition 2.0.5, without its markup; [...] marks what is left out.
"""

from __future__ import annotations

from typing import NamedTuple


class Sentence(NamedTuple):
    section: str
    text: str


SENTENCES: dict[str, Sentence] = {
    # --- 2.1: functions of both interface types ------------------------------------------------------------------
    "global-settings": Sentence(
        "2.1",
        "An FMI function may change settings of the process/thread in which it is called (such as floating point "
        "control registers), provided these changes are restored before leaving the function or before a callback "
        "function is called.",
    ),
    "library-name": Sentence("2.1.1", "the modelIdentifier attribute is used as library name."),
    "c-identifier": Sentence(
        "2.1.1",
        "Since modelIdentifier is used as prefix of a C-function name it must fulfill the restrictions on C-function "
        "names (only letters, digits and/or underscores are allowed).",
    ),
    "functions-present": Sentence(
        "2.3",
        "Specifically it is required that all functions specified for Model Exchange and/or Co-Simulation are present, "
        "even if they are only needed for capabilities that the FMU does not support.",
    ),
    "string-copied": Sentence(
        "2.1.2",
        "the FMI function must copy the string before it returns and store it in the internal FMU memory, because "
        "there is no guarantee for the lifetime of the string after the function has returned.",
    ),
    "constant-not-set": Sentence(
        "2.1.2",
        "If a function in the following sections is called with a wrong fmi2ValueReference value [...] then the "
        "function has to return with an error",
    ),
    "boolean-values": Sentence("2.1.2", "Data type for Boolean numbers (only two values: fmi2False, fmi2True)"),
    "string-type": Sentence("2.1.2", "Data type for character strings ('\\0' terminated, UTF8 encoded)"),
    "same-handle-same-value": Sentence(
        "2.1.2", "Variables of the same base type that have the same handle, always have identical values"
    ),
    "status": Sentence(
        "2.1.3",
        "This section defines the status flag [...] that is returned by all functions to indicate the success of the "
        "function call",
    ),
    "warning-logged": Sentence(
        "2.1.3",
        "Function logger was called in the model (see below), and it is expected that this function has shown the "
        "prepared information message to the user.",
    ),
    "discard-where-defined": Sentence(
        "2.1.3", "this return status is only possible if explicitly defined for the corresponding function"
    ),
    "pending-where-defined": Sentence("2.1.3", "Can be returned only by fmi2DoStep and by fmi2GetStatus"),
    "discard-logged": Sentence(
        "2.1.3",
        "In both cases, function logger was called in the FMU (see below), and it is expected that this function has "
        "shown the prepared information message to the user if the FMU was called in debug mode (loggingOn = "
        "fmi2True).",
    ),
    "error-logged": Sentence(
        "2.1.3",
        "Function logger was called in the FMU (see below), and it is expected that this function has shown the "
        "prepared information message to the user.",
    ),
    "fatal-logged": Sentence(
        "2.1.3",
        "Function logger was called in the FMU (see below), and it is expected that this function has shown the "
        "prepared information message to the user. It is not possible to call any other function for any of the FMU "
        "instances.",
    ),
    "reset-after-error": Sentence(
        "2.1.3", "It is also possible to reset the instance of the FMU by calling fmi2Reset."
    ),
    "other-instances": Sentence(
        "2.1.3", "Further processing is possible after this call; especially other FMU instances are not affected."
    ),
    "types-platform": Sentence(
        "2.1.4",
        "The standard header file, as documented in this specification, has fmi2TypesPlatform set to default (so this "
        "function usually returns default).",
    ),
    "version": Sentence(
        "2.1.4",
        'The standard header file as documented in this specification has version "2.0" (so this function usually '
        'returns "2.0").',
    ),
    "new-instance": Sentence("2.1.5", "The function returns a new instance of an FMU."),
    "null-logged": Sentence(
        "2.1.5",
        "If a null pointer is returned, then instantiation failed. In that case, functions->logger is called with "
        "detailed information about the reason.",
    ),
    "many-instances": Sentence(
        "2.1.5",
        "An FMU can be instantiated many times (provided capability flag canBeInstantiatedOnlyOncePerProcess = false).",
    ),
    "guid": Sentence(
        "2.1.5",
        "It must be identical to the one stored inside the fmi2Instantiate function; otherwise the C code and the XML "
        "file of the FMU are not consistent with each other.",
    ),
    "guid-check": Sentence(
        "2.1.5",
        "Argument fmuGUID is used to check that the modelDescription.xml file (see section 2.3) is compatible with the "
        "C code of the FMU.",
    ),
    "resource-location": Sentence(
        "2.1.5",
        'The following schemes must be understood by the FMU: Mandatory: "file" with absolute path (either including '
        "or omitting the authority component)",
    ),
    "logging-off": Sentence("2.1.5", "If loggingOn = fmi2False, debug logging is disabled."),
    "resource-uri": Sentence(
        "2.1.5",
        "Argument fmuResourceLocation is a URI according to the IETF RFC3986 syntax to indicate the location to the "
        "resources directory of the unzipped FMU archive.",
    ),
    "environment-passed": Sentence(
        "2.1.5",
        "a pointer to the environment is provided (componentEnvironment) that needs to be passed to the logger "
        "function",
    ),
    "logger-name": Sentence("2.1.5", "instanceName is the name of the FMU instance that calls this function."),
    "logger-message": Sentence("2.1.5", "Argument message is a string that contains the message to log."),
    "logger-format": Sentence(
        "2.1.5",
        "It may contain line-breaks (\\n), but should not have a trailing line break and is provided in the same way "
        "and with the same format control as in function printf from the C standard library.",
    ),
    "log-categories": Sentence(
        "2.1.5",
        "The allowed values for category are defined in the modelDescription.xml file via the element "
        "<fmiModelDescription><LogCategories>",
    ),
    "no-log-categories": Sentence("2.1.5", "If the FMU does not define any log categories, category must be NULL."),
    "step-finished": Sentence(
        "2.1.5",
        "If a pointer to a function is provided, it must be called by the FMU after a completed communication step.",
    ),
    "memory-callbacks-unused": Sentence(
        "2.1.5",
        "If attribute canNotUseMemoryManagementFunctions = true [...], then function allocateMemory is not used in the "
        "FMU and a void pointer can be provided.",
    ),
    "memory-callbacks": Sentence(
        "2.1.5",
        "If this attribute has a value of false (which is the default), the FMU must not use malloc, calloc or other "
        "memory allocation functions.",
    ),
    "free-null": Sentence(
        "2.1.5", "If a null pointer is provided for c, the function call is ignored (does not have an effect)."
    ),
    "free-all": Sentence(
        "2.1.5",
        "frees all the allocated memory and other resources that have been allocated by the functions of the FMU "
        "interface.",
    ),
    "debug-logging": Sentence(
        "2.1.5",
        "If loggingOn == fmi2True, debug logging is enabled for the log categories specified in categories, otherwise "
        "it is disabled.",
    ),
    "start-time": Sentence("2.1.6", "Argument startTime is the fixed initial value of the independent variable"),
    "no-stop-time": Sentence(
        "2.1.6",
        "If stopTimeDefined = fmi2False, then no final value of the independent variable is defined and argument "
        "stopTime is meaningless.",
    ),
    "past-stop-time": Sentence(
        "2.1.6", "if the environment tries to compute past stopTime the FMU has to return fmi2Status = fmi2Error."
    ),
    "final-values": Sentence(
        "2.1.6",
        "After calling this function, the final values of all variables can be inquired with the fmi2GetXXX(..) "
        "functions.",
    ),
    "reset": Sentence(
        "2.1.6",
        "The FMU goes into the same state as if fmi2Instantiate would have been called. All variables have their "
        "default values.",
    ),
    "get-discard": Sentence(
        "2.1.7",
        "For ModelExchange: fmi2Status = fmi2Discard is possible for fmi2GetReal only, but not for fmi2GetInteger, "
        "fmi2GetBoolean, fmi2GetString",
    ),
    "get-actual": Sentence("2.1.7", "Get actual values of variables by providing their variable references."),
    "set-values": Sentence(
        "2.1.7",
        "Set parameters, inputs, and start values, and re-initialize caching of variables that depend on these "
        "variables",
    ),
    "set-string-copied": Sentence(
        "2.1.7",
        "All strings passed as arguments to fmi2SetString must be copied inside this function, because there is no "
        "guarantee of the lifetime of strings when this function returns.",
    ),
    "fmu-state": Sentence(
        "2.1.8", "The FMU has an internal state consisting of all values that are needed to continue a simulation."
    ),
    "set-state": Sentence(
        "2.1.8",
        "fmi2SetFMUstate copies the content of the previously copied FMUstate back and uses it as actual new FMU "
        "state. The FMUstate copy still exists.",
    ),
    "free-state-null": Sentence("2.1.8", "If a null pointer is provided, the call is ignored."),
    "free-state-returns-null": Sentence("2.1.8", "The function returns a null pointer in argument FMUstate."),
    "free-state": Sentence(
        "2.1.8",
        "fmi2FreeFMUstate frees all memory and other resources allocated with the fmi2GetFMUstate call for this "
        "FMUstate.",
    ),
    "state-supported": Sentence(
        "2.1.8",
        "These functions are only supported by the FMU, if the optional capability flag canGetAndSetFMUstate [...] in "
        "the XML file is explicitly set to true",
    ),
    "deserialize": Sentence(
        "2.1.8",
        "fmi2DeSerializeFMUstate deserializes the byte vector serializedState of length size, constructs a copy of "
        "the FMU state and returns FMUstate, the pointer to this copy.",
    ),
    "serialized-size": Sentence(
        "2.1.8",
        "fmi2SerializedFMUstateSize returns the size of the byte vector, in order that FMUstate can be stored in it.",
    ),
    "serialize": Sentence(
        "2.1.8",
        "fmi2SerializeFMUstate serializes the data which is referenced by pointer FMUstate and copies this data in to "
        "the byte vector serializedState of length size, that must be provided by the environment.",
    ),
    "directional-derivative": Sentence(
        "2.1.9",
        "If the capability attribute providesDirectionalDerivative is true, fmi2GetDirectionalDerivative computes a "
        "linear combination of the partial derivatives of h with respect to the selected input variables",
    ),
    # --- 2.2: the model description ------------------------------------------------------------------------------
    "xml": Sentence(
        "2.2", "All static information related to an FMU is stored in the text file modelDescription.xml in XML format."
    ),
    "schema": Sentence(
        "2.2",
        'The structure of this XML file is defined with the schema file "fmiModelDescription.xsd". [...] The normative '
        "definition are the above mentioned schema files",
    ),
    "encoding": Sentence(
        "2.2",
        "The first line of an XML file, such as modelDescription.xml, must contain the encoding scheme of the XML "
        "file. It is required that the encoding scheme is always UTF-8",
    ),
    "double": Sentence("2.2", "IEEE double-precision 64-bit floating point type"),
    "special-values": Sentence(
        "2.2", "The special values NAN, INF, +INF, and -INF for variables values are not allowed in the FMI XML files."
    ),
    "fmi-version": Sentence("2.2.1", 'The value for this version is "2.0".'),
    "interface-types": Sentence(
        "2.2.1",
        "At least one element of ModelExchange or CoSimulation must be present to identify the type of the FMU.",
    ),
    "unit-unique": Sentence(
        "2.2.2",
        'A Unit is defined by its name attribute such as "N.m" or "N*m" or "Nm", which must be unique with respect to '
        "all other defined elements of the UnitDefinitions list.",
    ),
    "display-unit-unique": Sentence(
        "2.2.2",
        "The attribute name must be unique with respect to all other names of the DisplayUnit definitions of the same "
        "Unit",
    ),
    "type-unique": Sentence(
        "2.2.3", 'Attribute "name" must be unique with respect to all other elements of the TypeDefinitions list.'
    ),
    "type-not-variable": Sentence(
        "2.2.3", '"name" of a "SimpleType" must be different to all "name" attributes of ScalarVariables'
    ),
    "unit-declared": Sentence(
        "2.2.3",
        "Unit of the variable defined with UnitDefinitions.Unit.name that is used for the model equations. [For "
        'example, "N.m": in this case a Unit.name = "N.m" must be present under UnitDefinitions.',
    ),
    "display-unit": Sentence(
        "2.2.3",
        "It is an error if displayUnit is defined in element Real, but unit is not, or unit is not defined under "
        "<UnitDefinitions><Unit>.",
    ),
    "enumeration": Sentence("2.2.3", 'Item of an enumeration has a sequence of "name" and "value" pairs.'),
    "item-unique": Sentence(
        "2.2.3",
        "The values can be any integer number but must be unique within the same enumeration (in order that the "
        'mapping between "name" and "value" is bijective).',
    ),
    "max-min": Sentence("2.2.3, fmi2AttributeGroups.xsd", "max >= min required"),
    "nominal": Sentence("2.2.3, fmi2AttributeGroups.xsd", "nominal > 0.0 required"),
    "category-unique": Sentence(
        "2.2.4",
        'The "name" attribute of "Category" must be unique with respect to all other elements of the LogCategories '
        "list.",
    ),
    "tool-unique": Sentence(
        "2.2.6", 'Attribute "name" must be unique with respect to all other elements of the VendorAnnotation list.'
    ),
    "variable-unique": Sentence("2.2.7", "The full, unique name of the variable."),
    "parameter-initial": Sentence(
        "2.2.7", '"parameter": Independent parameter [...] initial must be exact or not present (meaning exact).'
    ),
    "calculated-parameter": Sentence(
        "2.2.7",
        '"calculatedParameter": A data value that is constant during the simulation and is computed during '
        "initialization or when tunable parameters change.",
    ),
    "calculated-initial": Sentence(
        "2.2.7",
        '"calculatedParameter": [...] initial must be "approx", "calculated" or not present (meaning calculated).',
    ),
    "no-initial": Sentence(
        "2.2.7", 'It is not allowed to provide a value for initial if causality = "input" or "independent"'
    ),
    "initial-table": Sentence(
        "2.2.7",
        "If initial is not present, its value is defined by the following tables based on the values of causality and "
        "variability: [...] possible values",
    ),
    "combinations": Sentence("2.2.7", "The following combinations of variability/causality settings are allowed:"),
    "continuous-real": Sentence("2.2.7", 'Only a variable of type = "Real" can be "continuous".'),
    "one-independent": Sentence("2.2.7", 'At most one ScalarVariable of an FMU can be defined as "independent".'),
    "independent-real": Sentence(
        "2.2.7",
        'If one variable is defined as "independent", it must be defined as "Real" without a "start" attribute.',
    ),
    "state-causality": Sentence("2.2.7", 'A continuous-time state must have causality = "local" or "output"'),
    "start-required": Sentence(
        "2.2.7",
        'If initial = "exact" or "approx", or causality = "input", a start value must be provided. [...] Variables '
        'with causality = "parameter" or "input", as well as variables with variability = "constant", must have a '
        '"start" value.',
    ),
    "start-forbidden": Sentence(
        "2.2.7", 'If initial = "calculated", or causality = "independent", it is not allowed to provide a start value.'
    ),
    "start-limits": Sentence("2.2.7, fmi2ScalarVariable.xsd", "max >= start >= min required"),
    "declared-type": Sentence("2.2.7", "If present, name of type defined with TypeDefinitions / SimpleType."),
    "enumeration-type": Sentence(
        "2.2.7",
        "For Enumeration it is required, because the Enumeration items are defined in TypeDefinitions / SimpleType.",
    ),
    "several-sets-exchange": Sentence(
        "2.2.7",
        "canHandleMultipleSetPerTimeInstant [...] Only for ModelExchange (if only CoSimulation FMU, this attribute "
        "must not be present.",
    ),
    "several-sets-input": Sentence("2.2.7", 'Only for variables with variability = "input":'),
    "reinit-exchange": Sentence(
        "2.2.7", "reinit [...] Only for ModelExchange (if only CoSimulation FMU, this attribute must not be present."
    ),
    "reinit-false": Sentence("2.2.7", "If false, state will not be reinitialized at an event by the FMU."),
    "reinit-state": Sentence("2.2.7", "Can only be present for a continuous-time state."),
    "alias-set": Sentence(
        "2.2.7",
        "Variables a and b that can both be set with fmi2SetXXX, or variable a that can be set with fmiSetXXX and "
        'variable b that is defined with causality = "independent", cannot be alias variables',
    ),
    "alias-start": Sentence(
        "2.2.7",
        'At most one variable of the same alias set of variables with variability ≠ "constant" can have a start '
        "attribute.",
    ),
    "alias-constant": Sentence(
        "2.2.7",
        'A variable with variability = "constant" can only be aliased to another variable with variability = '
        '"constant". It is then required that the start values of all aliased (constant) variables are identical.',
    ),
    "alias-unit": Sentence(
        "2.2.7",
        "All variables of the same alias set must all have either no <Unit> element defined, or all of them must have "
        "the same <Unit name> and the same <Unit><BaseUnit> definitions.",
    ),
    "derivative-index": Sentence(
        "2.2.7", 'If present, this variable is the derivative of variable with ScalarVariable index "derivative".'
    ),
    "derivative-attribute": Sentence(
        "2.2.7",
        "All ScalarVariables listed in this element must have attribute derivative (in order that the continuous-time "
        "states are uniquely defined).",
    ),
    "outputs-only": Sentence(
        "2.2.8",
        "Ordered list of all outputs, in other words, a list of ScalarVariable indices where every corresponding "
        'ScalarVariable must have causality = "output"',
    ),
    "outputs-all": Sentence("2.2.8", 'every variable with causality="output" must be listed here'),
    "state-derivative": Sentence(
        "2.2.8",
        "Ordered list of all state derivatives, in other words, a list of ScalarVariable indices where every "
        "corresponding ScalarVariable must be a state derivative. [Note that only continuous Real variables are listed "
        "here.",
    ),
    "derivatives-count": Sentence(
        "2.2.8",
        "The number of Unknown elements in the Derivatives element uniquely defines the number of continuous time "
        "state variables",
    ),
    "initial-unknowns": Sentence(
        "2.2.8",
        'This list consists of all variables with causality = "output" and (initial = "approx" or "calculated"), and '
        'causality = "calculatedParameter" and all continuous-time states and all state derivatives (defined with '
        'element <Derivatives> from <ModelStructure>) with initial = "approx" or "calculated"',
    ),
    "initial-once": Sentence("2.2.8", "The resulting list is not allowed to have duplicates"),
    "initial-order": Sentence(
        "2.2.8", "The Unknowns in this list must be ordered according to their ScalarVariable index"
    ),
    "unknown-index": Sentence("2.2.8", "The ScalarVariable index of the Unknown"),
    "known-index": Sentence(
        "2.2.8", "Otherwise the Unknown depends on the Knowns defined by the given ScalarVariable indices."
    ),
    "dependencies-order": Sentence(
        "2.2.8", "The indices are ordered according to magnitude, starting with the smallest index."
    ),
    "dependency-kinds": Sentence(
        "2.2.8",
        "If dependenciesKind is present, dependencies must be present and must have the same number of list elements.",
    ),
    "kind-real": Sentence("2.2.8", "Only for Real unknowns"),
    "kind-initial": Sentence("2.2.8", "and not for InitialUnknowns for Initialization Mode"),
    "names": Sentence("2.2.9", "The names must be unique, non-empty strings."),
    "flat-names": Sentence(
        "2.2.9", "any Unicode character without carriage return (#xD), line feed (#xA) nor tab (#x9)"
    ),
    "structured-names": Sentence(
        "2.2.9", 'The precise syntax is [...] name = identifier | "der(" identifier ["," unsignedInteger ] ")"'
    ),
    "array-order": Sentence(
        "2.2.9",
        "All array elements are given in a consecutive sequence of ScalarVariables. Elements of multi-dimensional "
        'arrays are ordered according to "row major" order that is elements of the last index are given in sequence.',
    ),
    "fixed": Sentence("2.2.7", "The value of the variable is fixed after initialization"),
    "constant": Sentence("2.2.7", '"constant": The value of the variable never changes.'),
    "tunable": Sentence(
        "2.2.7",
        "The value of the variable is constant between external events (ModelExchange) and between Communication "
        'Points (Co-Simulation) due to changing variables with causality = "parameter" or "input" and variability = '
        '"tunable".',
    ),
    "tunable-computed": Sentence(
        "2.2.7",
        'Whenever a parameter or input signal with variability = "tunable" changes, an event is triggered externally '
        "(ModelExchange), or the change is performed at the next Communication Point (Co-Simulation) and the variables "
        'with variability = "tunable" and causality = "calculatedParameter" or "output" must be newly computed.',
    ),
    "discrete-me": Sentence(
        "2.2.7",
        "ModelExchange: The value of the variable is constant between external and internal events (= time, state, "
        "step events defined implicitly in the FMU).",
    ),
    "start-exact": Sentence("2.2.7", '"exact": The variable is initialized with the start value'),
    "start-stored": Sentence(
        "2.2.7", "Initial or guess value of variable. This value is also stored in the C functions."
    ),
    "constant-start": Sentence("2.2.7", 'If variability = "constant", the start value is the value of the constant.'),
    "start-input": Sentence(
        "2.2.7",
        'If fmiSetXXX is not called on a variable with causality = "input", then the FMU must use the start value as '
        "value of this input.",
    ),
    "set-before": Sentence(
        "2.2.7",
        'fmi2SetXXX can be called on any variable with variability ≠ "constant" before initialization (before calling '
        'fmi2EnterInitializationMode) if initial = "exact" or "approx"',
    ),
    "set-during": Sentence(
        "2.2.7",
        'fmi2SetXXX can be called on any variable with variability ≠ "constant" during initialization (after calling '
        "fmi2EnterInitializationMode and before fmi2ExitInitializationMode is called)",
    ),
    "set-tunable": Sentence(
        "2.2.7",
        "fmi2SetXXX can be called on any variable for ModelExchange at an event instant [...], and for Co-Simulation "
        'at every communication point, if causality = "parameter" and variability = "tunable"',
    ),
    "independent-value": Sentence(
        "2.2.7",
        "Instead, its value is initialized with fmi2SetupExperiment and after initialization set by fmi2SetTime for "
        "ModelExchange and by arguments currentCommunicationPoint and communicationStepSize of fmi2DoStep for "
        "CoSimulation.",
    ),
    "dependencies": Sentence(
        "2.2.8", "Optional attribute defining the dependencies of the unknown (directly or indirectly via auxiliary"
    ),
    "dependencies-none": Sentence("2.2.8", "If present as empty list, the Unknown depends on none of the Knowns."),
    "dependencies-listed": Sentence(
        "2.2.8", "Otherwise the Unknown depends on the Knowns defined by the given ScalarVariable indices."
    ),
    "kind-constant": Sentence(
        "2.2.8",
        '"constant": constant factor, [...] where [...] is an expression that is evaluated before '
        "fmi2EnterInitializationMode is called.",
    ),
    "kind-fixed": Sentence(
        "2.2.8",
        '"fixed": fixed factor, [...] where [...] is an expression that is evaluated before '
        "fmi2ExitInitializationMode is called.",
    ),
    "kind-tunable": Sentence(
        "2.2.8",
        '"tunable": tunable factor, [...] where [...] is an expression that is evaluated before '
        "fmi2ExitInitializationMode is called and in Event Mode due to an external event (ModelExchange)",
    ),
    "kind-discrete": Sentence(
        "2.2.8",
        '"discrete": discrete factor, [...] where [...] is an expression that is evaluated before '
        "fmi2ExitInitializationMode is called and in Event Mode due to an external or internal event",
    ),
    # --- 2.3: distribution ---------------------------------------------------------------------------------------
    "zip": Sentence("2.3", "All relevant files are stored in a ZIP file with a pre-defined structure."),
    "extension": Sentence("2.3", 'The extension of the ZIP file must be ".fmu"'),
    "compression": Sentence(
        "2.3",
        "The compression method for all files stored in the ZIP archive must be either 8 (deflate), or 0 (store).",
    ),
    "bit-3": Sentence(
        "2.3", "Only files stored using compression method 8 (deflate) may be stored with general purpose bit 3 set."
    ),
    "zip-version": Sentence(
        "2.3",
        "The field version needed to extract of the archive must not be higher than 2.0, and encryption must not be "
        "employed.",
    ),
    "zip-split": Sentence("2.3", "The archive must not be a split or spanned ZIP archive."),
    "zip-links": Sentence("2.3", "Links must not be used inside the ZIP archive."),
    "zip-paths": Sentence(
        "2.3",
        'Note especially section 4.4.17 states that backslashes "\\" are forbidden as path separator only forward '
        'slashes "/" are allowed.',
    ),
    "zip-format": Sentence(
        "2.3",
        "The zip format specification can be found here https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT",
    ),
    "description-file": Sentence("2.3", "modelDescription.xml // Description of FMU (required file)"),
    "implementation": Sentence(
        "2.3",
        "The FMU must be distributed with at least one implementation, in other words, either sources or one of the "
        "binaries for a particular machine.",
    ),
    "all-functions": Sentence(
        "2.3",
        "Specifically it is required that all functions specified for Model Exchange and/or Co-Simulation are present, "
        "even if they are only needed for capabilities that the FMU does not support.",
    ),
    "platforms": Sentence(
        "2.3",
        'The following names are standardized: for Windows: "win32", "win64"- for Linux: "linux32", "linux64", for '
        'Macintosh: "darwin32", "darwin64" where "32" stands for "32-bit x86" and "64" for "64-bit x86" respectively.',
    ),
    "sources": Sentence(
        "2.3",
        "all needed C sources and C header files to compile and link the FMU with exception of: fmi2TypesPlatform.h , "
        "fmi2FunctionTypes.h and fmi2Functions.h",
    ),
    "source-files": Sentence(
        "2.2.1, fmi2ModelDescription.xsd",
        'List of source file names that are present in the "sources" directory of the FMU and need to be compiled in '
        "order to generate the binary of the FMU",
    ),
    "sources-listed": Sentence(
        "2.3",
        "All C source file names that need to be defined in a compiler directive have to be defined in the XML file "
        "under structure <ModelExchange><SourceFiles> and <CoSimulation><SourceFiles>.",
    ),
    # --- 3.3.1 and 4.3.1: capability flags ------------------------------------------------------------------------
    "serialize-flag": Sentence(
        "3.3.1, 4.3.1", "If this is the case, then flag canGetAndSetFMUstate must be true as well."
    ),
    "library-named": Sentence(
        "3.3.1, 4.3.1", "modelIdentifier is also used as name of the static library or DLL/SharedObject."
    ),
    # --- 3: Model Exchange ---------------------------------------------------------------------------------------
    "continuous-functions": Sentence(
        "3.1", "(=continuous functions with respect to all input arguments inside the respective mode)."
    ),
    "me-calls": Sentence(
        "3.2.3",
        "Every implementation of the FMI must support calling sequences of the functions according to the following "
        "state chart",
    ),
    "set-time": Sentence("3.2.1", "Set a new time instant and re-initialize caching of variables that depend on time"),
    "set-states": Sentence(
        "3.2.1", "Set a new (continuous) state vector and re-initialize caching of variables that depend on the states."
    ),
    "values-changed": Sentence(
        "3.2.2",
        "If no element of the continuous state vector has changed its value, valuesOfContinuousStatesChanged must "
        "return fmi2False.",
    ),
    "values-changed-true": Sentence(
        "3.2.2",
        "If valuesOfContinuousStatesChanged = fmi2True, then at least one element of the continuous state vector has "
        "changed its value due to the function call.",
    ),
    "nominals-changed": Sentence(
        "3.2.2",
        "If nominalsOfContinuousStatesChanged = fmi2True, then the nominal values of the states have changed due to "
        "the function call and can be inquired with fmi2GetNominalsOfContinuousStates.",
    ),
    "event-iteration": Sentence(
        "3.2.2",
        "Depending on the connection with other FMUs, the environment shall [...] call fmi2EnterContinuousTimeMode if "
        "all FMUs return newDiscreteStatesNeeded = fmi2False.",
    ),
    "nominal-positive": Sentence("3.2.2", "Note that it is required that x_nominal[i] > 0.0."),
    "next-event-time": Sentence(
        "3.2.2",
        "If nextEventTimeDefined = fmi2True, then the simulation shall integrate at most until time = nextEventTime, "
        "and shall call fmi2EnterEventMode at this time instant.",
    ),
    "indicator-not-zero": Sentence("3.2.2", "The FMU must guarantee that at an event restart z_j ≠ 0"),
    "indicator": Sentence(
        "3.2.2",
        "A state event is triggered when the domain of an event indicator changes from z_j > 0 to z_j <= 0 or vice "
        "versa.",
    ),
    "derivative-order": Sentence(
        "3.2.2",
        "The ordering of the elements of the derivatives vector is identical to the ordering of the state vector",
    ),
    "derivatives-current": Sentence(
        "3.2.2",
        "Compute state derivatives and event indicators at the current time instant and for the current states.",
    ),
    "derivatives-vector": Sentence("3.2.2", 'The derivatives are returned as a vector with "nx" elements.'),
    "indicators-vector": Sentence("3.2.2", 'The event indicators are returned as a vector with "ni" elements.'),
    "nominals": Sentence("3.2.2", "Return the nominal values of the continuous states."),
    "state-vector": Sentence("3.2.2", "Return the new (continuous) state vector x."),
    "completed-not-needed": Sentence(
        "3.3.1",
        "If true, function fmi2CompletedIntegratorStep need not be called (this gives a slightly more efficient "
        "integration). If it is called, it has no effect.",
    ),
    "back-in-time": Sentence(
        "3.2.2",
        "After fmi2CompletedIntegratorStep is called, it is still allowed to go back in time (calling fmi2SetTime) and "
        "inquire values of variables at previous time instants with fmi2GetXXX",
    ),
    # --- 4: Co-Simulation ----------------------------------------------------------------------------------------
    "cs-calls": Sentence("4.2.4", "The following state machine defines the supported calling sequences."),
    "input-derivatives": Sentence(
        "4.3.1",
        "The slave is able to interpolate continuous inputs. Calling of fmi2SetRealInputDerivatives(..) has an effect "
        "for the slave.",
    ),
    "output-derivatives": Sentence(
        "4.3.1",
        "The slave is able to provide derivatives of outputs with maximum order. Calling of "
        "fmi2GetRealOutputDerivatives(..) is allowed up to the order defined by maxOutputDerivativeOrder.",
    ),
    "set-input-derivatives": Sentence("4.2.1", "Sets the n-th time derivative of real input variables."),
    "output-derivative-values": Sentence("4.2.1", "Retrieves the n-th derivative of output values."),
    "integrate-exactly": Sentence("4.2.2", "The slave must integrate until time instant tc_{i+1} = tc_i + hc_i."),
    "step-ok": Sentence("4.2.2", "fmi2OK - if the communication step was computed successfully until its end."),
    "step-error": Sentence("4.2.2", "fmi2Error - the communication step could not be carried out at all."),
    "variable-step": Sentence(
        "4.3.1",
        "The slave can handle variable communication step size. The communication step size (parameter "
        "communicationStepSize of fmi2DoStep(..)) has not to be constant for each call.",
    ),
    "asynchronous": Sentence(
        "4.3.1", "This flag describes the ability to carry out the fmi2DoStep(..) call asynchronously."
    ),
    "pending": Sentence(
        "4.2.3",
        "The function delivers fmi2Pending if the computation is not finished. Otherwise the function returns the "
        "result of the asynchronously executed fmi2DoStep call.",
    ),
    "last-successful-time": Sentence(
        "4.2.3",
        "Returns the end time of the last successfully completed communication step. Can be called after "
        "fmi2DoStep(..) returned fmi2Discard.",
    ),
    "terminated": Sentence(
        "4.2.3",
        "Returns fmi2True, if the slave wants to terminate the simulation. Can be called after fmi2DoStep(..) returned "
        "fmi2Discard.",
    ),
}
