/* The FMI 2.0 functions of a Python FMU. Each checks that the call is legal in the present phase (calls.h) and forwards
 * it to the Python process of the FMU. When that process ends, calls to its instances return fmi2Fatal; the host is not
 * affected. */
#include "calls.h"
#include "child.h"
#include "messages.h"
#include "protocol.h"
#include "watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Component component;
    int phase;
    double t, stop_time;
    Child *child;
    unsigned number;
    Buffer request, reply;
    Watch watches[KIND_STRING]; /* Real, Integer, Boolean */
    int unchanged; /* since the last step: values that are read now will probably be read after the next step, too */
} Instance;

static void changed(Instance *self) {
    self->unchanged = 0;
    for (int kind = 0; kind < KIND_STRING; kind++) watch_clear(&self->watches[kind]);
}

/* --- calls to the process ----------------------------------------------------------------------------------------- */

static Buffer *begin(Instance *self, Operation operation) {
    begin_request(&self->request, operation, self->number);
    return &self->request;
}

static void log_messages(Instance *self, unsigned count) {
    for (unsigned i = 0; i < count && !self->reply.broken; i++) {
        const fmi2Status status = (fmi2Status)take_u32(&self->reply);
        const size_t category_size = take_u32(&self->reply), text_size = take_u32(&self->reply);
        const char *category = take(&self->reply, category_size + 1), *text = take(&self->reply, text_size + 1);
        if (category && text) send_text(&self->component.callbacks, self->component.name, status, category, text);
    }
}

/* Sends the request, logs the messages of the reply and returns its status. The results follow in self->reply. */
static fmi2Status call(Instance *self) {
    if (!child_is_ours(self->child))
        return report(
            self, fmi2Error,
            "this instance belongs to the process from which this one was forked: instantiate the FMU again here");
    if (self->request.broken) return report(self, fmi2Error, "there is not enough memory for the call");
    if (!child_exchange(self->child, &self->request, &self->reply)) {
        char text[EXIT_REPORT + 64];
        changed(self);
        snprintf(text, sizeof text, "the Python process of this FMU has ended: %s", self->child->exit_report);
        send_text(&self->component.callbacks, self->component.name, fmi2Fatal, CATEGORY_NAMES[LOG_FATAL], text);
        return fmi2Fatal;
    }
    const unsigned status = take_u32(&self->reply);
    log_messages(self, take_u32(&self->reply));
    if (self->reply.broken || status > fmi2Fatal)
        return report(self, fmi2Error,
                      "the reply of the Python process is damaged: does the slave write into its channel?");
    return (fmi2Status)status;
}

/* A call without arguments and results that changes the phase unless it fails. */
static fmi2Status enter(Instance *self, Operation operation, Phase phase) {
    begin(self, operation);
    changed(self);
    const fmi2Status status = call(self);
    if (status <= fmi2Warning) self->phase = phase;
    return status;
}

/* --- lifecycle ---------------------------------------------------------------------------------------------------- */

/* The folder of the resources: fmuResourceLocation, or else beside this library, as in every extracted FMU. */
static char *find_resources(const char *uri) {
    char *named = resources_of_uri(uri), *own = library_folder();
    char *beside = own ? path_join(own, "../../resources") : NULL;
    char *candidates[] = {named, beside};
    char *found = NULL;
    for (size_t i = 0; i < 2; i++) {
        char *script = candidates[i] ? path_join(candidates[i], "mechfmu_start.py") : NULL;
        if (!found && script && file_exists(script))
            found = candidates[i];
        else
            free(candidates[i]);
        free(script);
    }
    free(own);
    char *full = found ? full_path(found) : NULL; /* one name for one folder: its instances share a process */
    if (full) free(found);
    return full ? full : found;
}

static void release(Instance *self) {
    if (self->child) child_release(self->child);
    buffer_release(&self->request);
    buffer_release(&self->reply);
    for (int kind = 0; kind < KIND_STRING; kind++) watch_release(&self->watches[kind]);
    component_release(&self->component);
    free(self);
}

static Instance *new_instance(const char *name, const fmi2CallbackFunctions *callbacks, fmi2Boolean logging,
                              Child *child) {
    Instance *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->child = child;
    self->phase = INSTANTIATED;
    self->stop_time = INFINITY;
    self->watches[KIND_REAL].width = sizeof(fmi2Real);
    self->watches[KIND_INTEGER].width = self->watches[KIND_BOOLEAN].width = sizeof(fmi2Integer);
    self->number = child_number(child);
    if (component_init(&self->component, name, fmi2CoSimulation, callbacks, logging, &self->phase, &self->t,
                       &self->stop_time))
        return self;
    self->child = NULL; /* it still belongs to the caller */
    release(self);
    return NULL;
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean loggingOn) {
    const char *error = instantiation_error(instanceName, fmuType, fmuGUID, functions);
    if (!error && fmuType != fmi2CoSimulation) error = "this FMU is for Co-Simulation only";
    char *folder = error ? NULL : find_resources(fmuResourceLocation);
    if (!error && !folder)
        error = "the resources of the FMU are missing: the file mechfmu_start.py is neither where fmuResourceLocation "
                "says nor beside the library";
    Buffer why = {0}, warning = {0};
    Child *child = error ? NULL : child_acquire(folder, &why, &warning);
    if (!error && !child) error = why.broken ? "there is not enough memory" : why.data;
    if (child && strcmp(fmuGUID, child->guid) != 0) error = WRONG_GUID;
    Instance *self = error ? NULL : new_instance(instanceName, functions, loggingOn, child);
    if (!self) {
        report_early(functions, instanceName, error ? error : "there is not enough memory");
        if (child) child_release(child);
    } else {
        if (warning.size > 1)
            send_text(functions, instanceName, fmi2Warning, CATEGORY_NAMES[LOG_WARNING], warning.data);
        Buffer *request = begin(self, OP_INSTANTIATE);
        put_text(request, instanceName, strlen(instanceName));
        put_text(request, folder, strlen(folder));
        put_u32(request, visible != fmi2False);
        put_u32(request, loggingOn != fmi2False);
        if (call(self) > fmi2Warning) {
            release(self);
            self = NULL;
        }
    }
    buffer_release(&why);
    buffer_release(&warning);
    free(folder);
    return self;
}

void fmi2FreeInstance(fmi2Component c) {
    Instance *self = c;
    if (!self) return;
    begin(self, OP_FREE);
    if (child_is_ours(self->child) && child_exchange(self->child, &self->request, &self->reply)) {
        take_u32(&self->reply);
        log_messages(self, take_u32(&self->reply));
    }
    release(self);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories,
                               const fmi2String categories[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_LOGGING) && given(self, categories, nCategories));
    Buffer *request = begin(self, OP_LOGGING);
    put_u32(request, loggingOn != fmi2False);
    put_u32(request, (unsigned)nCategories);
    for (size_t i = 0; i < nCategories; i++) {
        const char *category = categories[i] ? categories[i] : "(null)";
        put_text(request, category, strlen(category));
    }
    return call(self);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real startTime,
                               fmi2Boolean stopTimeDefined, fmi2Real stopTime) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SETUP) &&
            valid_experiment(self, toleranceDefined, tolerance, startTime, stopTimeDefined, stopTime));
    Buffer *request = begin(self, OP_SETUP);
    put_real(request, toleranceDefined ? tolerance : NAN);
    put_real(request, startTime);
    put_real(request, stopTimeDefined ? stopTime : NAN);
    changed(self);
    const fmi2Status status = call(self);
    if (status <= fmi2Warning) {
        self->t = startTime;
        self->stop_time = stopTimeDefined ? stopTime : INFINITY;
    }
    return status;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    REQUIRE(legal(c, &CALL_ENTER_INITIALIZATION));
    return enter(c, OP_ENTER, INITIALIZING);
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    REQUIRE(legal(c, &CALL_EXIT_INITIALIZATION));
    return enter(c, OP_EXIT, STEPPING);
}

fmi2Status fmi2Terminate(fmi2Component c) {
    REQUIRE(legal(c, &CALL_TERMINATE));
    return enter(c, OP_TERMINATE, TERMINATED);
}

fmi2Status fmi2Reset(fmi2Component c) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_RESET));
    const fmi2Status status = enter(self, OP_RESET, INSTANTIATED);
    if (status <= fmi2Warning) {
        self->t = 0;
        self->stop_time = INFINITY;
        self->component.wants_to_stop = 0;
    }
    return status;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
                      fmi2Boolean noSetFMUStatePriorToCurrentPoint) {
    Instance *self = c;
    (void)noSetFMUStatePriorToCurrentPoint;
    REQUIRE(legal(self, &CALL_STEP) && valid_step(self, currentCommunicationPoint, communicationStepSize));
    Buffer *request = begin(self, OP_STEP);
    put_real(request, currentCommunicationPoint);
    put_real(request, communicationStepSize);
    int other = 0;
    for (int kind = 0; kind < KIND_STRING; kind++) other |= watch_begin_step(&self->watches[kind]);
    put_u32(request, (unsigned)other);
    for (int kind = 0; other && kind < KIND_STRING; kind++) {
        const Buffer *wanted = &self->watches[kind].wanted;
        put_u32(request, (unsigned)(wanted->size / sizeof(fmi2ValueReference)));
        put(request, wanted->data, wanted->size);
    }
    self->unchanged = 1;
    const fmi2Status status = call(self);
    if (status <= fmi2Warning) self->t = currentCommunicationPoint + communicationStepSize;
    if (status > fmi2Discard) return status;
    self->component.wants_to_stop = take_u32(&self->reply) != 0;
    int filled = take_u32(&self->reply) != 0;
    for (int kind = 0; filled && kind < KIND_STRING; kind++) filled = watch_fill(&self->watches[kind], &self->reply);
    return status;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static fmi2Status get(Instance *self, ValueKind kind, const fmi2ValueReference vr[], size_t n, void *values) {
    REQUIRE(legal(self, &CALL_GET) && given(self, vr, n) && given(self, values, n));
    if (n == 0) return fmi2OK;
    if (self->unchanged && kind != KIND_STRING && child_runs(self->child) &&
        watch_read(&self->watches[kind], vr, n, values))
        return fmi2OK;
    Buffer *request = begin(self, OP_GET);
    put_u32(request, kind);
    put_u32(request, (unsigned)n);
    put(request, vr, n * sizeof *vr);
    const fmi2Status status = call(self);
    if (status > fmi2Warning) return status;
    if (kind == KIND_STRING) {
        fmi2String *texts = values; /* valid until the next call */
        size_t size;
        for (size_t i = 0; i < n; i++) texts[i] = take_text(&self->reply, &size);
    } else {
        const size_t bytes = n * self->watches[kind].width;
        const void *got = take(&self->reply, bytes);
        if (got) memcpy(values, got, bytes);
    }
    return self->reply.broken
               ? report(self, fmi2Error, "the Python process has sent fewer than %lu values", (unsigned long)n)
               : status;
}

static fmi2Status set(Instance *self, ValueKind kind, const fmi2ValueReference vr[], size_t n, const void *values) {
    REQUIRE(legal(self, &CALL_SET) && given(self, vr, n) && given(self, values, n));
    if (n == 0) return fmi2OK;
    Buffer *request = begin(self, OP_SET);
    put_u32(request, kind);
    put_u32(request, (unsigned)n);
    put(request, vr, n * sizeof *vr);
    if (kind == KIND_STRING) {
        const fmi2String *texts = values;
        for (size_t i = 0; i < n; i++) {
            if (!texts[i])
                return report(self, fmi2Error, "value %lu of %lu is a null pointer", (unsigned long)i + 1,
                              (unsigned long)n);
            put_text(request, texts[i], strlen(texts[i]));
        }
    } else {
        put(request, values, n * self->watches[kind].width);
    }
    changed(self);
    return call(self);
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[]) {
    return get(c, KIND_REAL, vr, nvr, value);
}
fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Integer value[]) {
    return get(c, KIND_INTEGER, vr, nvr, value);
}
fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Boolean value[]) {
    return get(c, KIND_BOOLEAN, vr, nvr, value);
}
fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2String value[]) {
    return get(c, KIND_STRING, vr, nvr, value);
}
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Real value[]) {
    return set(c, KIND_REAL, vr, nvr, value);
}
fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Integer value[]) {
    return set(c, KIND_INTEGER, vr, nvr, value);
}
fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Boolean value[]) {
    return set(c, KIND_BOOLEAN, vr, nvr, value);
}
fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2String value[]) {
    return set(c, KIND_STRING, vr, nvr, value);
}

/* --- FMU state ---------------------------------------------------------------------------------------------------- */

/* A saved state: the Python process keeps the data of the slave under a number. */
typedef struct {
    char format[8];
    char guid[40];
    unsigned number; /* of the state in the process */
    const Child *child;
    int phase;
    double t, stop_time;
    Buffer bytes; /* the serialized state, once it was requested */
} Saved;

/* The beginning of a serialized state. */
typedef struct {
    char format[8];
    char guid[40];
    int phase, unused;
    double t, stop_time;
} Header;

static const char FORMAT[8] = {'m', 'e', 'c', 'h', 'p', 'y', '0', '2'};

static int check_state(Instance *self, const Saved *saved) {
    if (memcmp(saved->format, FORMAT, sizeof FORMAT) == 0 &&
        strncmp(saved->guid, self->child->guid, sizeof saved->guid - 1) == 0 && saved->child == self->child)
        return 1;
    report(self, fmi2Error, "this is not a state of this FMU");
    return 0;
}

/* The given state, or a new one; NULL after an error. */
static Saved *prepare_state(Instance *self, fmi2FMUstate *state) {
    Saved *saved = *state;
    if (saved) return check_state(self, saved) ? saved : NULL;
    saved = calloc(1, sizeof *saved);
    if (!saved) {
        report(self, fmi2Error, "there is not enough memory for the state");
        return NULL;
    }
    memcpy(saved->format, FORMAT, sizeof FORMAT);
    strncpy(saved->guid, self->child->guid, sizeof saved->guid - 1);
    saved->child = self->child;
    saved->number = child_number(self->child);
    return saved;
}

/* Completes a state after the call that has filled it. */
static fmi2Status complete_state(fmi2Status status, Saved *saved, fmi2FMUstate *state, int phase, double t,
                                 double stop_time) {
    if (status <= fmi2Warning) {
        saved->phase = phase;
        saved->t = t;
        saved->stop_time = stop_time;
        buffer_clear(&saved->bytes);
        *state = saved;
    } else if (*state != saved) {
        free(saved);
    }
    return status;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *FMUstate) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, FMUstate, 1));
    Saved *saved = prepare_state(self, FMUstate);
    REQUIRE(saved);
    put_u32(begin(self, OP_SAVE), saved->number);
    return complete_state(call(self), saved, FMUstate, self->phase, self->t, self->stop_time);
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate FMUstate) {
    Instance *self = c;
    const Saved *saved = FMUstate;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, saved, 1) && check_state(self, saved));
    put_u32(begin(self, OP_RESTORE), saved->number);
    changed(self);
    const fmi2Status status = call(self);
    if (status <= fmi2Warning) {
        self->phase = saved->phase;
        self->t = saved->t;
        self->stop_time = saved->stop_time;
        self->component.wants_to_stop = 0;
    }
    return status;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *FMUstate) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU));
    Saved *saved = FMUstate ? *FMUstate : NULL;
    if (!saved) return fmi2OK;
    REQUIRE(check_state(self, saved));
    put_u32(begin(self, OP_FORGET), saved->number);
    buffer_release(&saved->bytes);
    free(saved);
    *FMUstate = NULL;
    return call(self);
}

/* Fills the bytes of a state, header included. */
static fmi2Status serialize(Instance *self, Saved *saved) {
    if (saved->bytes.size) return fmi2OK;
    put_u32(begin(self, OP_SERIALIZE), saved->number);
    const fmi2Status status = call(self);
    if (status > fmi2Warning) return status;
    size_t n = 0;
    const char *text = take_text(&self->reply, &n);
    Header header = {.phase = saved->phase, .t = saved->t, .stop_time = saved->stop_time};
    memcpy(header.format, FORMAT, sizeof FORMAT);
    memcpy(header.guid, saved->guid, sizeof header.guid);
    put(&saved->bytes, &header, sizeof header);
    if (text) put(&saved->bytes, text, n);
    if (text && !saved->bytes.broken) return status;
    buffer_release(&saved->bytes);
    return report(self, fmi2Error, "the state could not be serialized: there is not enough memory");
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate FMUstate, size_t *size) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, FMUstate, 1) && given(self, size, 1) &&
            check_state(self, FMUstate));
    const fmi2Status status = serialize(self, FMUstate);
    if (status <= fmi2Warning) *size = ((const Saved *)FMUstate)->bytes.size;
    return status;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate FMUstate, fmi2Byte serializedState[], size_t size) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, FMUstate, 1) && given(self, serializedState, 1) &&
            check_state(self, FMUstate));
    const fmi2Status status = serialize(self, FMUstate);
    if (status > fmi2Warning) return status;
    const Buffer *have = &((const Saved *)FMUstate)->bytes;
    if (size < have->size)
        return report(self, fmi2Error, "the state needs %lu bytes, not %lu", (unsigned long)have->size,
                      (unsigned long)size);
    memcpy(serializedState, have->data, have->size);
    return status;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte serializedState[], size_t size,
                                   fmi2FMUstate *FMUstate) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, serializedState, 1) && given(self, FMUstate, 1));
    Header header;
    if (size >= sizeof header) memcpy(&header, serializedState, sizeof header);
    if (size < sizeof header || memcmp(header.format, FORMAT, sizeof FORMAT) != 0 ||
        strncmp(header.guid, self->child->guid, sizeof header.guid - 1) != 0)
        return report(self, fmi2Error, "these %lu bytes are not a state of this FMU", (unsigned long)size);
    Saved *saved = prepare_state(self, FMUstate);
    REQUIRE(saved);
    put_u32(begin(self, OP_DESERIALIZE), saved->number);
    put_text(&self->request, serializedState + sizeof header, size - sizeof header);
    return complete_state(call(self), saved, FMUstate, header.phase, header.t, header.stop_time);
}

/* --- functions that are not supported ----------------------------------------------------------------------------- */

static fmi2Status not_supported(fmi2Component c, const Call *when, const char *what) {
    REQUIRE(legal(c, when));
    return report(c, fmi2Error, "this FMU does not offer %s", what);
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference vUnknown_ref[], size_t nUnknown,
                                        const fmi2ValueReference vKnown_ref[], size_t nKnown, const fmi2Real dvKnown[],
                                        fmi2Real dvUnknown[]) {
    (void)vUnknown_ref, (void)nUnknown, (void)vKnown_ref, (void)nKnown, (void)dvKnown, (void)dvUnknown;
    return not_supported(c, &CALL_DIRECTIONAL, "directional derivatives");
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[]) {
    (void)vr, (void)nvr, (void)order, (void)value;
    return not_supported(c, &CALL_INPUT_DERIVATIVES, "derivatives of inputs");
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[]) {
    (void)vr, (void)nvr, (void)order, (void)value;
    return not_supported(c, &CALL_OUTPUT_DERIVATIVES, "derivatives of outputs");
}

/* Model Exchange: no instance is ever in a phase in which these are legal. */
fmi2Status fmi2EnterEventMode(fmi2Component c) { return not_supported(c, &CALL_ENTER_EVENT, "Model Exchange"); }
fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
    return not_supported(c, &CALL_ENTER_CONTINUOUS, "Model Exchange");
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *fmi2eventInfo) {
    (void)fmi2eventInfo;
    return not_supported(c, &CALL_NEW_DISCRETE, "Model Exchange");
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi2Boolean *enterEventMode, fmi2Boolean *terminateSimulation) {
    (void)noSetFMUStatePriorToCurrentPoint, (void)enterEventMode, (void)terminateSimulation;
    return not_supported(c, &CALL_COMPLETED, "Model Exchange");
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
    (void)time;
    return not_supported(c, &CALL_SET_TIME, "Model Exchange");
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx) {
    (void)x, (void)nx;
    return not_supported(c, &CALL_SET_STATES, "Model Exchange");
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx) {
    (void)derivatives, (void)nx;
    return not_supported(c, &CALL_GET_CONTINUOUS, "Model Exchange");
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real eventIndicators[], size_t ni) {
    (void)eventIndicators, (void)ni;
    return not_supported(c, &CALL_GET_CONTINUOUS, "Model Exchange");
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx) {
    (void)x, (void)nx;
    return not_supported(c, &CALL_GET_CONTINUOUS, "Model Exchange");
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x_nominal[], size_t nx) {
    (void)x_nominal, (void)nx;
    return not_supported(c, &CALL_GET_NOMINALS, "Model Exchange");
}
