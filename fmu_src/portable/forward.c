/* The FMI 2.0 functions of a Python FMU. Each checks what can be checked here (calls.h), and hands the call to the Python process of the FMU. A process that
 * ends takes its instances with it (fmi2Fatal), but not the host. */
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
    double t;
    Child *child;
    unsigned number;
    Buffer request, reply;
    Watch watches[KIND_STRING]; /* Real, Integer, Boolean */
    int unchanged;              /* since the last step: only then values read now will be read after the next step, too */
} Instance;

static void changed(Instance *self) {
    self->unchanged = 0;
    for (int kind = 0; kind < KIND_STRING; kind++) watch_clear(&self->watches[kind]);
}

/* --- calls to the process ---------------------------------------------------------------------------------------------------------- */

static Buffer *begin(Instance *self, Operation operation) {
    begin_request(&self->request, operation, self->number);
    return &self->request;
}

static void deliver(Instance *self, unsigned count) {
    for (unsigned i = 0; i < count && !self->reply.broken; i++) {
        const fmi2Status status = (fmi2Status)take_u32(&self->reply);
        const size_t category_size = take_u32(&self->reply), text_size = take_u32(&self->reply);
        const char *category = take(&self->reply, category_size + 1), *text = take(&self->reply, text_size + 1);
        if (category && text) send_text(&self->component.callbacks, self->component.name, status, category, text);
    }
}

/* Sends the request; the status and the messages of the reply. What else it holds follows in self->reply. */
static fmi2Status call(Instance *self) {
    if (!child_is_ours(self->child))
        return report(self, fmi2Error, "this instance belongs to the process from which this one was forked: instantiate the FMU again here");
    if (self->request.broken) return report(self, fmi2Error, "there is not enough memory for the call");
    if (!child_exchange(self->child, &self->request, &self->reply)) {
        char text[LAST_WORDS + 64];
        changed(self);
        snprintf(text, sizeof text, "the Python process of this FMU has ended: %s", self->child->last_words);
        send_text(&self->component.callbacks, self->component.name, fmi2Fatal, CATEGORY_NAMES[LOG_FATAL], text);
        return fmi2Fatal;
    }
    const unsigned status = take_u32(&self->reply);
    deliver(self, take_u32(&self->reply));
    if (self->reply.broken || status > fmi2Fatal) return report(self, fmi2Error, "the reply of the Python process is damaged: does the slave write into its channel?");
    return (fmi2Status)status;
}

/* A call without arguments and results, by which an instance that is not refused enters a phase. */
static fmi2Status enter(Instance *self, Operation operation, Phase phase) {
    begin(self, operation);
    changed(self);
    const fmi2Status status = call(self);
    if (status <= fmi2Warning) self->phase = phase;
    return status;
}

/* --- lifecycle ------------------------------------------------------------------------------------------------------------------------ */

/* The folder of the resources: where the host says, or beside this library, as in every extracted FMU. */
static char *find_resources(const char *uri) {
    char *said = resources_of_uri(uri), *own = library_folder();
    char *beside = own ? path_join(own, "../../resources") : NULL;
    char *candidates[] = {said, beside};
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

static Instance *new_instance(const char *name, const fmi2CallbackFunctions *callbacks, fmi2Boolean logging, Child *child) {
    Instance *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->child = child;
    self->phase = INSTANTIATED;
    self->watches[KIND_REAL].width = sizeof(fmi2Real);
    self->watches[KIND_INTEGER].width = self->watches[KIND_BOOLEAN].width = sizeof(fmi2Integer);
    self->number = child_number(child);
    if (component_init(&self->component, name, fmi2CoSimulation, callbacks, logging, &self->phase, &self->t)) return self;
    self->child = NULL; /* the caller's still */
    release(self);
    return NULL;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources, const fmi2CallbackFunctions *callbacks,
                              fmi2Boolean visible, fmi2Boolean logging) {
    const char *complaint = instantiation_complaint(name, type, guid, callbacks);
    if (!complaint && type != fmi2CoSimulation) complaint = "this FMU is for Co-Simulation only";
    char *folder = complaint ? NULL : find_resources(resources);
    if (!complaint && !folder) complaint = "the resources of the FMU are missing: the file mechfmu_start.py is neither where fmuResourceLocation says nor beside the library";
    Buffer why = {0}, warning = {0};
    Child *child = complaint ? NULL : child_acquire(folder, &why, &warning);
    if (!complaint && !child) complaint = why.broken ? "there is not enough memory" : why.data;
    if (child && strcmp(guid, child->guid) != 0) complaint = WRONG_GUID;
    Instance *self = complaint ? NULL : new_instance(name, callbacks, logging, child);
    if (!self) {
        report_early(callbacks, name, complaint ? complaint : "there is not enough memory");
        if (child) child_release(child);
    } else {
        if (warning.size > 1) send_text(callbacks, name, fmi2Warning, CATEGORY_NAMES[LOG_WARNING], warning.data);
        Buffer *request = begin(self, OP_INSTANTIATE);
        put_text(request, name, strlen(name));
        put_text(request, folder, strlen(folder));
        put_u32(request, visible != fmi2False);
        put_u32(request, logging != fmi2False);
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
        deliver(self, take_u32(&self->reply));
    }
    release(self);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean logging, size_t n, const fmi2String categories[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_LOGGING) && given(self, categories, n));
    Buffer *request = begin(self, OP_LOGGING);
    put_u32(request, logging != fmi2False);
    put_u32(request, (unsigned)n);
    for (size_t i = 0; i < n; i++) {
        const char *category = categories[i] ? categories[i] : "(null)";
        put_text(request, category, strlen(category));
    }
    return call(self);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start, fmi2Boolean stop_defined,
                               fmi2Real stop) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SETUP) && valid_experiment(self, tolerance_defined, tolerance, start, stop_defined, stop));
    Buffer *request = begin(self, OP_SETUP);
    put_real(request, tolerance_defined ? tolerance : NAN);
    put_real(request, start);
    put_real(request, stop_defined ? stop : NAN);
    changed(self);
    const fmi2Status status = call(self);
    if (status <= fmi2Warning) self->t = start;
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
        self->component.wants_to_stop = 0;
    }
    return status;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_earlier_state) {
    Instance *self = c;
    (void)no_earlier_state;
    REQUIRE(legal(self, &CALL_STEP) && valid_step(self, t, h));
    Buffer *request = begin(self, OP_STEP);
    put_real(request, t);
    put_real(request, h);
    int other = 0;
    for (int kind = 0; kind < KIND_STRING; kind++) other |= watch_turn(&self->watches[kind]);
    put_u32(request, (unsigned)other);
    for (int kind = 0; other && kind < KIND_STRING; kind++) {
        const Buffer *wanted = &self->watches[kind].wanted;
        put_u32(request, (unsigned)(wanted->size / sizeof(fmi2ValueReference)));
        put(request, wanted->data, wanted->size);
    }
    self->unchanged = 1;
    const fmi2Status status = call(self);
    if (status <= fmi2Warning) self->t = t + h;
    if (status > fmi2Discard) return status;
    self->component.wants_to_stop = take_u32(&self->reply) != 0;
    int filled = take_u32(&self->reply) != 0;
    for (int kind = 0; filled && kind < KIND_STRING; kind++) filled = watch_fill(&self->watches[kind], &self->reply);
    return status;
}

/* --- values ------------------------------------------------------------------------------------------------------------------------------ */

static fmi2Status get(Instance *self, ValueKind kind, const fmi2ValueReference vr[], size_t n, void *values) {
    REQUIRE(legal(self, &CALL_GET) && given(self, vr, n) && given(self, values, n));
    if (n == 0) return fmi2OK;
    if (self->unchanged && kind != KIND_STRING && child_runs(self->child) && watch_read(&self->watches[kind], vr, n, values)) return fmi2OK;
    Buffer *request = begin(self, OP_GET);
    put_u32(request, kind);
    put_u32(request, (unsigned)n);
    put(request, vr, n * sizeof *vr);
    const fmi2Status status = call(self);
    if (status > fmi2Warning) return status;
    if (kind == KIND_STRING) {
        fmi2String *texts = values; /* they live until the next call */
        size_t size;
        for (size_t i = 0; i < n; i++) texts[i] = take_text(&self->reply, &size);
    } else {
        const size_t bytes = n * self->watches[kind].width;
        const void *got = take(&self->reply, bytes);
        if (got) memcpy(values, got, bytes);
    }
    return self->reply.broken ? report(self, fmi2Error, "the Python process has sent fewer than %lu values", (unsigned long)n) : status;
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
            if (!texts[i]) return report(self, fmi2Error, "value %lu of %lu is a null pointer", (unsigned long)i + 1, (unsigned long)n);
            put_text(request, texts[i], strlen(texts[i]));
        }
    } else {
        put(request, values, n * self->watches[kind].width);
    }
    changed(self);
    return call(self);
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[]) { return get(c, KIND_REAL, vr, n, values); }
fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer values[]) { return get(c, KIND_INTEGER, vr, n, values); }
fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean values[]) { return get(c, KIND_BOOLEAN, vr, n, values); }
fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String values[]) { return get(c, KIND_STRING, vr, n, values); }
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[]) { return set(c, KIND_REAL, vr, n, values); }
fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer values[]) { return set(c, KIND_INTEGER, vr, n, values); }
fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean values[]) { return set(c, KIND_BOOLEAN, vr, n, values); }
fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String values[]) { return set(c, KIND_STRING, vr, n, values); }

/* --- the whole state ------------------------------------------------------------------------------------------------------------------------ */

/* A saved state: the Python process keeps what the slave has saved, here is its number. */
typedef struct {
    char format[8];
    char guid[40];
    unsigned number; /* of the state in the process */
    const Child *child;
    int phase;
    double t;
    Buffer bytes;    /* serialised, once it was asked for */
} Saved;

/* What a serialised state begins with. */
typedef struct {
    char format[8];
    char guid[40];
    int phase, unused;
    double t;
} Header;

static const char FORMAT[8] = {'m', 'e', 'c', 'h', 'p', 'y', '0', '1'};

static int fits(Instance *self, const Saved *saved) {
    if (memcmp(saved->format, FORMAT, sizeof FORMAT) == 0 && strncmp(saved->guid, self->child->guid, sizeof saved->guid - 1) == 0 && saved->child == self->child)
        return 1;
    report(self, fmi2Error, "this is not a state of this FMU");
    return 0;
}

/* A new or the given state, filled by the request that has been begun with `operation` and the state's number. */
static Saved *prepared(Instance *self, fmi2FMUstate *state) {
    Saved *saved = *state;
    if (saved) return fits(self, saved) ? saved : NULL;
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

static fmi2Status keep(fmi2Status status, Saved *saved, fmi2FMUstate *state, int phase, double t) {
    if (status <= fmi2Warning) {
        saved->phase = phase;
        saved->t = t;
        buffer_clear(&saved->bytes);
        *state = saved;
    } else if (*state != saved) {
        free(saved);
    }
    return status;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, state, 1));
    Saved *saved = prepared(self, state);
    REQUIRE(saved);
    put_u32(begin(self, OP_SAVE), saved->number);
    return keep(call(self), saved, state, self->phase, self->t);
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
    Instance *self = c;
    const Saved *saved = state;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, saved, 1) && fits(self, saved));
    put_u32(begin(self, OP_RESTORE), saved->number);
    changed(self);
    const fmi2Status status = call(self);
    if (status <= fmi2Warning) {
        self->phase = saved->phase;
        self->t = saved->t;
        self->component.wants_to_stop = 0;
    }
    return status;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU));
    Saved *saved = state ? *state : NULL;
    if (!saved) return fmi2OK;
    REQUIRE(fits(self, saved));
    put_u32(begin(self, OP_FORGET), saved->number);
    buffer_release(&saved->bytes);
    free(saved);
    *state = NULL;
    return call(self);
}

/* The bytes of a state, header included. */
static fmi2Status serialized(Instance *self, Saved *saved) {
    if (saved->bytes.size) return fmi2OK;
    put_u32(begin(self, OP_SERIALIZE), saved->number);
    const fmi2Status status = call(self);
    if (status > fmi2Warning) return status;
    size_t n = 0;
    const char *text = take_text(&self->reply, &n);
    Header header = {.phase = saved->phase, .t = saved->t};
    memcpy(header.format, FORMAT, sizeof FORMAT);
    memcpy(header.guid, saved->guid, sizeof header.guid);
    put(&saved->bytes, &header, sizeof header);
    if (text) put(&saved->bytes, text, n);
    if (text && !saved->bytes.broken) return status;
    buffer_release(&saved->bytes);
    return report(self, fmi2Error, "the state could not be serialised: there is not enough memory");
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, state, 1) && given(self, size, 1) && fits(self, state));
    const fmi2Status status = serialized(self, state);
    if (status <= fmi2Warning) *size = ((const Saved *)state)->bytes.size;
    return status;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, state, 1) && given(self, bytes, 1) && fits(self, state));
    const fmi2Status status = serialized(self, state);
    if (status > fmi2Warning) return status;
    const Buffer *have = &((const Saved *)state)->bytes;
    if (size < have->size) return report(self, fmi2Error, "the state needs %lu bytes, not %lu", (unsigned long)have->size, (unsigned long)size);
    memcpy(bytes, have->data, have->size);
    return status;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, bytes, 1) && given(self, state, 1));
    Header header;
    if (size >= sizeof header) memcpy(&header, bytes, sizeof header);
    if (size < sizeof header || memcmp(header.format, FORMAT, sizeof FORMAT) != 0 || strncmp(header.guid, self->child->guid, sizeof header.guid - 1) != 0)
        return report(self, fmi2Error, "these %lu bytes are not a state of this FMU", (unsigned long)size);
    Saved *saved = prepared(self, state);
    REQUIRE(saved);
    put_u32(begin(self, OP_DESERIALIZE), saved->number);
    put_text(&self->request, bytes + sizeof header, size - sizeof header);
    return keep(call(self), saved, state, header.phase, header.t);
}

/* --- what a slave does not offer ------------------------------------------------------------------------------------------------------------- */

static fmi2Status not_offered(fmi2Component c, const Call *when, const char *what) {
    REQUIRE(legal(c, when));
    return report(c, fmi2Error, "this FMU does not offer %s", what);
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown, const fmi2ValueReference known[],
                                        size_t n_known, const fmi2Real seed[], fmi2Real derivative[]) {
    (void)unknown, (void)n_unknown, (void)known, (void)n_known, (void)seed, (void)derivative;
    return not_offered(c, &CALL_DIRECTIONAL, "directional derivatives");
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], const fmi2Real values[]) {
    (void)vr, (void)n, (void)order, (void)values;
    return not_offered(c, &CALL_INPUT_DERIVATIVES, "derivatives of inputs");
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], fmi2Real values[]) {
    (void)vr, (void)n, (void)order, (void)values;
    return not_offered(c, &CALL_OUTPUT_DERIVATIVES, "derivatives of outputs");
}

/* Model Exchange: an instance is never in a phase in which these are legal. */
fmi2Status fmi2EnterEventMode(fmi2Component c) { return not_offered(c, &CALL_ENTER_EVENT, "Model Exchange"); }
fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) { return not_offered(c, &CALL_ENTER_CONTINUOUS, "Model Exchange"); }

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
    (void)info;
    return not_offered(c, &CALL_NEW_DISCRETE, "Model Exchange");
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_earlier_state, fmi2Boolean *enter_event_mode, fmi2Boolean *terminate) {
    (void)no_earlier_state, (void)enter_event_mode, (void)terminate;
    return not_offered(c, &CALL_COMPLETED, "Model Exchange");
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t) {
    (void)t;
    return not_offered(c, &CALL_SET_TIME, "Model Exchange");
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n) {
    (void)x, (void)n;
    return not_offered(c, &CALL_SET_STATES, "Model Exchange");
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real dx[], size_t n) {
    (void)dx, (void)n;
    return not_offered(c, &CALL_GET_CONTINUOUS, "Model Exchange");
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real g[], size_t n) {
    (void)g, (void)n;
    return not_offered(c, &CALL_GET_CONTINUOUS, "Model Exchange");
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
    (void)x, (void)n;
    return not_offered(c, &CALL_GET_CONTINUOUS, "Model Exchange");
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t n) {
    (void)nominals, (void)n;
    return not_offered(c, &CALL_GET_NOMINALS, "Model Exchange");
}
