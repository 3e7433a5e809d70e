/* The FMI 2.0 functions of a native FMU. Each checks that the call is legal in the present phase (calls.h), checks its
 * arguments, and passes the call on to the instance. After an error the instance is unchanged and remains usable. */
#include "calls.h"
#include "event_limits.h"
#include "instance.h"
#include "messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- variables ---------------------------------------------------------------------------------------------------- */

/* A variable's name. */
typedef struct {
    char text[256];
} Name;

static Name name_of(const Row *row, size_t offset) {
    Name name;
    if (row->after)
        snprintf(name.text, sizeof name.text, "%s%lu%s", row->before, (unsigned long)offset + 1, row->after);
    else
        snprintf(name.text, sizeof name.text, "%s", row->before);
    return name;
}

static const char *kind_name(Kind kind) {
    switch (kind) {
    case REAL: return "Real";
    case INTEGER: return "Integer";
    case BOOLEAN: return "Boolean";
    }
    return "";
}

/* The row of a value reference, or NULL and a message. */
static const Row *row_of(Instance *self, fmi2ValueReference reference) {
    if (reference >= model.n_variables) {
        report(self, fmi2Error, "there is no variable with value reference %u (they go from 0 to %u)", reference,
               model.n_variables - 1);
        return NULL;
    }
    size_t low = 0, high = model.n_rows;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (model.rows[middle].reference <= reference)
            low = middle;
        else
            high = middle;
    }
    return &model.rows[low];
}

/* The same, of a certain type. */
static const Row *row_of_kind(Instance *self, fmi2ValueReference reference, Kind kind) {
    const Row *row = row_of(self, reference);
    if (!row || row->kind == kind) return row;
    report(self, fmi2Error, "%s is of type %s, not %s", name_of(row, reference - row->reference).text,
           kind_name(row->kind), kind_name(kind));
    return NULL;
}

static int check_references(Instance *self, const fmi2ValueReference vr[], size_t n, Kind kind) {
    for (size_t i = 0; i < n; i++)
        if (!row_of_kind(self, vr[i], kind)) return 0;
    return 1;
}

static double value_of(Instance *self, fmi2ValueReference reference) {
    const Row *row = row_of(self, reference);
    return instance_get(self, row, row->index + (reference - row->reference));
}

/* Whether a variable may be given this value now. */
static int check_value(Instance *self, fmi2ValueReference reference, double value) {
    const Row *row = row_of(self, reference);
    /* some Model Exchange hosts set states one by one instead of with fmi2SetContinuousStates */
    const int state = row->role == STATE && (self->state->phase & (INSTANTIATED | EVENT_MODE | CONTINUOUS));
    /* OpenModelica sets parameters after initialization, in the first event mode */
    const int early = (self->state->phase & (INSTANTIATED | INITIALIZING)) ||
                      (self->state->phase == EVENT_MODE && !self->state->started);
    const int settable = row->role == PARAMETER ? early : row->role == INPUT || state;
    if (settable && (row->kind == REAL || self->state->phase != CONTINUOUS) && isfinite(value) && value > row->above &&
        value >= row->min && value <= row->max)
        return 1;
    const Name name = name_of(row, reference - row->reference);
    if (row->role == CONSTANT)
        report(self, fmi2Error, "%s cannot be set: it is a constant", name.text);
    else if (row->role != PARAMETER && row->role != INPUT && !state)
        report(self, fmi2Error, "%s cannot be set: only parameters and inputs can", name.text);
    else if (row->role == PARAMETER && !early)
        report(self, fmi2Error, "%s is a fixed parameter: it cannot be set after initialization", name.text);
    else if (row->kind != REAL && self->state->phase == CONTINUOUS)
        report(self, fmi2Error, "%s cannot be set in continuous-time mode: it is of type %s", name.text,
               kind_name(row->kind));
    else if (!isfinite(value))
        report(self, fmi2Error, "%s = %s: must be a finite number", name.text, number(value).text);
    else if (value <= row->above)
        report(self, fmi2Error, "%s = %s%s: must be greater than %s", name.text, number(value).text, row->unit,
               number(row->above).text);
    else if (value < row->min)
        report(self, fmi2Error, "%s = %s%s: must be at least %s", name.text, number(value).text, row->unit,
               number(row->min).text);
    else
        report(self, fmi2Error, "%s = %s%s: must be at most %s", name.text, number(value).text, row->unit,
               number(row->max).text);
    return 0;
}

/* The start value of a state follows from the parameters; the value that a host sets is a guess (initial="approx"). */
static fmi2Status check_start_value(Instance *self, fmi2ValueReference reference, double value) {
    const Row *row = row_of(self, reference);
    const double start = value_of(self, reference);
    if (fabs(value - start) <= START_VALUE_TOLERANCE * fmax(1, fabs(start))) return fmi2OK;
    return report(self, fmi2Warning, "%s = %s has no effect: its start follows from the parameters and is %s%s",
                  name_of(row, reference - row->reference).text, number(value).text, number(start).text, row->unit);
}

static fmi2Status set_value(Instance *self, fmi2ValueReference reference, double value) {
    const Row *row = row_of(self, reference);
    if (row->role == STATE && self->state->phase == INSTANTIATED) return check_start_value(self, reference, value);
    double *vector = row->role == PARAMETER ? self->p : row->role == INPUT ? self->u : self->x;
    double *place = &vector[row->index + (reference - row->reference)];
    if (row->role == INPUT && memcmp(place, &value, sizeof value) == 0)
        return fmi2OK; /* hosts set all inputs before every step, changed or not */
    *place = value;
    self->state->memory.unchanged_for = 0;
    if (row->role == PARAMETER) {
        self->state->start_state_dirty = 1;
        self->state->parameters_unchecked = self->state->phase == EVENT_MODE;
    }
    instance_changed(self);
    if (self->state->parameters_unchecked)
        instance_update_start_state(self); /* in event mode a getter does not change the state */
    return fmi2OK;
}

/* Logs the note of an event. */
static fmi2Status report_note(Instance *self, const Note *note, double t) {
    return report(self, note->stop ? fmi2Error : fmi2Warning, "at t = %s s: %s", number(t).text, note->text);
}

/* Logs the notes of the events of the last step, each with the time of its first event; not as errors, because what was
 * computed is valid. */
static fmi2Status report_notes(Instance *self) {
    fmi2Status status = fmi2OK;
    for (size_t k = 0; k < model.ng; k++)
        if (!isnan(self->t_noted[k]))
            status = report(self, fmi2Warning, "at t = %s s: %s", number(self->t_noted[k]).text, model.notes[k].text);
    return status;
}

fmi2Status report_step(Instance *self) {
    if (self->events.failure)
        return report(self, fmi2Discard, "the step to t = %s s stopped at t = %s s: %s", number(self->t_end).text,
                      number(self->events.t).text, self->events.failure);
    return report_notes(self);
}

/* --- both interface types ----------------------------------------------------------------------------------------- */

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean loggingOn) {
    (void)fmuResourceLocation;
    (void)visible;
    const char *error = instantiation_error(instanceName, fmuType, fmuGUID, functions);
    if (!error && strcmp(fmuGUID, model.guid) != 0) error = WRONG_GUID;
    Instance *self = error ? NULL : instance_new(instanceName, fmuType, functions, loggingOn);
    if (!self) report_early(functions, instanceName, error ? error : "there is not enough memory");
    return self;
}

void fmi2FreeInstance(fmi2Component c) { instance_free(c); }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories,
                               const fmi2String categories[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_LOGGING) && given(self, categories, nCategories));
    unsigned chosen = nCategories == 0 ? 1u << LOG_ALL : 0;
    for (size_t i = 0; i < nCategories; i++) {
        int category = 0;
        while (category < LOG_CATEGORIES && (!categories[i] || strcmp(categories[i], CATEGORY_NAMES[category]) != 0))
            category++;
        if (category == LOG_CATEGORIES)
            return report(self, fmi2Error, "there is no log category %s", categories[i] ? categories[i] : "(null)");
        chosen |= 1u << category;
    }
    self->component.categories = loggingOn ? chosen : 0;
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real startTime,
                               fmi2Boolean stopTimeDefined, fmi2Real stopTime) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SETUP) &&
            valid_experiment(self, toleranceDefined, tolerance, startTime, stopTimeDefined, stopTime));
    self->state->stop_time = stopTimeDefined ? stopTime : INFINITY;
    self->state->t = startTime;
    self->state->tolerance = toleranceDefined ? tolerance : 0;
    instance_changed(self);
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_ENTER_INITIALIZATION));
    self->state->phase = INITIALIZING;
    return fmi2OK;
}

/* The checks at the end of initialization: requirements on the parameters, finite rates, guards. */
static fmi2Status check_start(Instance *self) {
    instance_update_start_state(self);
    model.requirements(&self->state->t, self->x, self->d, self->u, self->p, self->r, self->work);
    fmi2Status status = fmi2OK;
    for (size_t i = 0; i < model.nr; i++)
        if (!(self->r[i] > 0)) {
            status = report(self, model.cautions[i] ? fmi2Warning : fmi2Error, "%s", model.requirement_texts[i]);
            if (status == fmi2Error) return status;
        }
    const double *dx = instance_rates(self);
    for (size_t i = 0; i < model.nx; i++)
        if (!isfinite(dx[i]))
            return report(self, fmi2Error,
                          "the accelerations at the start are not finite: check masses, inertias and lengths");
    if (model.ng) model.guards(&self->state->t, self->x, self->d, self->u, self->p, self->g_now, self->work);
    for (size_t k = 0; k < model.ng; k++)
        if (self->g_now[k] <= 0 && model.notes[k].text) {
            status = report_note(self, &model.notes[k], self->state->t);
            if (status == fmi2Error) return status;
        }
    memcpy(self->g, self->g_now, model.ng * sizeof(double));
    self->state->parameters_unchecked = 0;
    return status;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_EXIT_INITIALIZATION));
    const fmi2Status status = check_start(self);
    if (status > fmi2Warning) return status;
    self->state->phase = self->component.type == fmi2CoSimulation ? STEPPING : EVENT_MODE;
    return status;
}

fmi2Status fmi2Terminate(fmi2Component c) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_TERMINATE));
    self->state->phase = TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_RESET));
    instance_reset(self);
    return fmi2OK;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET) && given(self, vr, nvr) && given(self, value, nvr) &&
            check_references(self, vr, nvr, REAL));
    for (size_t i = 0; i < nvr; i++) value[i] = value_of(self, vr[i]);
    return fmi2OK;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Integer value[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET) && given(self, vr, nvr) && given(self, value, nvr) &&
            check_references(self, vr, nvr, INTEGER));
    for (size_t i = 0; i < nvr; i++) value[i] = (fmi2Integer)lround(value_of(self, vr[i]));
    return fmi2OK;
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Boolean value[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET) && given(self, vr, nvr) && given(self, value, nvr) &&
            check_references(self, vr, nvr, BOOLEAN));
    for (size_t i = 0; i < nvr; i++) value[i] = value_of(self, vr[i]) != 0 ? fmi2True : fmi2False;
    return fmi2OK;
}

/* No mechanism has String variables: any reference is of another type. */
static fmi2Status no_strings(Instance *self, const Call *call, const fmi2ValueReference vr[], size_t n) {
    REQUIRE(legal(self, call) && given(self, vr, n));
    if (n == 0) return fmi2OK;
    const Row *row = row_of(self, vr[0]);
    return row ? report(self, fmi2Error, "%s is of type %s, not String", name_of(row, vr[0] - row->reference).text,
                        kind_name(row->kind))
               : fmi2Error;
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2String value[]) {
    (void)value;
    return no_strings(c, &CALL_GET, vr, nvr);
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2String value[]) {
    (void)value;
    return no_strings(c, &CALL_SET, vr, nvr);
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Real value[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SET) && given(self, vr, nvr) && given(self, value, nvr) &&
            check_references(self, vr, nvr, REAL));
    for (size_t i = 0; i < nvr; i++) REQUIRE(check_value(self, vr[i], value[i]));
    fmi2Status status = fmi2OK;
    for (size_t i = 0; i < nvr; i++)
        if (set_value(self, vr[i], value[i]) != fmi2OK) status = fmi2Warning;
    return status;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Integer value[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SET) && given(self, vr, nvr) && given(self, value, nvr) &&
            check_references(self, vr, nvr, INTEGER));
    for (size_t i = 0; i < nvr; i++) REQUIRE(check_value(self, vr[i], value[i]));
    for (size_t i = 0; i < nvr; i++) set_value(self, vr[i], value[i]);
    return fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Boolean value[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SET) && given(self, vr, nvr) && given(self, value, nvr) &&
            check_references(self, vr, nvr, BOOLEAN));
    for (size_t i = 0; i < nvr; i++) REQUIRE(check_value(self, vr[i], value[i]));
    for (size_t i = 0; i < nvr; i++) set_value(self, vr[i], value[i] ? 1 : 0);
    return fmi2OK;
}

/* --- FMU state ---------------------------------------------------------------------------------------------------- */

/* A saved state: a header that identifies FMU and interface type, then the block of memory. */
typedef struct {
    char format[8];
    char guid[40];
    int type; /* Co-Simulation or Model Exchange: their phases differ */
    int unused;
    unsigned long long size;
} Header;

static Header header(const Instance *self) {
    Header h;
    memset(&h, 0, sizeof h);
    memcpy(h.format, "mechfmu1", sizeof h.format);
    strncpy(h.guid, model.guid, sizeof h.guid - 1);
    h.type = self->component.type;
    h.size = instance_state_size();
    return h;
}

static size_t saved_size(void) { return sizeof(Header) + instance_state_size(); }

static int check_state(Instance *self, const void *saved) {
    const Header expected = header(self);
    if (memcmp(saved, &expected, sizeof expected) == 0) return 1;
    report(self, fmi2Error, "this is not a state of this FMU");
    return 0;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *FMUstate) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, FMUstate, 1));
    if (!*FMUstate) *FMUstate = malloc(saved_size());
    if (!*FMUstate) return report(self, fmi2Error, "there is not enough memory for the state");
    const Header h = header(self);
    memcpy(*FMUstate, &h, sizeof h);
    memcpy((char *)*FMUstate + sizeof h, self->state, instance_state_size());
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate FMUstate) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, FMUstate, 1) && check_state(self, FMUstate));
    memcpy(self->state, (const char *)FMUstate + sizeof(Header), instance_state_size());
    instance_changed(self);
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *FMUstate) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU));
    if (FMUstate) {
        free(*FMUstate);
        *FMUstate = NULL;
    }
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate FMUstate, size_t *size) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, FMUstate, 1) && given(self, size, 1));
    *size = saved_size();
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate FMUstate, fmi2Byte serializedState[], size_t size) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, FMUstate, 1) && given(self, serializedState, 1));
    if (size < saved_size())
        return report(self, fmi2Error, "the state needs %lu bytes, not %lu", (unsigned long)saved_size(),
                      (unsigned long)size);
    memcpy(serializedState, FMUstate, saved_size());
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte serializedState[], size_t size,
                                   fmi2FMUstate *FMUstate) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, serializedState, 1) && given(self, FMUstate, 1));
    if (size != saved_size())
        return report(self, fmi2Error, "the state has %lu bytes, not %lu", (unsigned long)saved_size(),
                      (unsigned long)size);
    REQUIRE(check_state(self, serializedState));
    if (!*FMUstate) *FMUstate = malloc(size);
    if (!*FMUstate) return report(self, fmi2Error, "there is not enough memory for the state");
    memcpy(*FMUstate, serializedState, size);
    return fmi2OK;
}

/* --- derivatives -------------------------------------------------------------------------------------------------- */

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference vUnknown_ref[], size_t nUnknown,
                                        const fmi2ValueReference vKnown_ref[], size_t nKnown, const fmi2Real dvKnown[],
                                        fmi2Real dvUnknown[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_DIRECTIONAL) && given(self, vUnknown_ref, nUnknown) && given(self, vKnown_ref, nKnown) &&
            given(self, dvKnown, nKnown) && given(self, dvUnknown, nUnknown) &&
            check_references(self, vUnknown_ref, nUnknown, REAL) && check_references(self, vKnown_ref, nKnown, REAL));
    const int initializing = self->state->phase == INITIALIZING;
    instance_update_start_state(self);
    memset(self->x_dot, 0, model.nx * sizeof(double));
    memset(self->d_seed, 0, model.nd * sizeof(double));
    memset(self->u_seed, 0, model.nu * sizeof(double));
    memset(self->p_seed, 0, model.np * sizeof(double));
    for (size_t i = 0; i < nKnown; i++) {
        const Row *row = row_of(self, vKnown_ref[i]);
        const size_t index = row->index + (vKnown_ref[i] - row->reference);
        if (row->role == INPUT)
            self->u_seed[index] += dvKnown[i];
        else if (row->role == STATE && !initializing)
            self->x_dot[index] += dvKnown[i];
        else if (row->role == PARAMETER && initializing)
            self->p_seed[index] += dvKnown[i];
        else
            return report(self, fmi2Error, "%s is not a known of the directional derivative here",
                          name_of(row, vKnown_ref[i] - row->reference).text);
    }
    if (initializing)
        model.initial_tangent(&self->state->t, self->x, self->d, self->u, self->p, self->p_seed, self->x_dot,
                              self->d_seed, self->work);
    instance_tangent(self, 0);
    for (size_t i = 0; i < nUnknown; i++) {
        const Row *row = row_of(self, vUnknown_ref[i]);
        const size_t index = row->index + (vUnknown_ref[i] - row->reference);
        if (row->role == OUTPUT)
            dvUnknown[i] = self->y_dot[index];
        else if (row->role == DERIVATIVE)
            dvUnknown[i] = self->dx_dot[index];
        else if (row->role == STATE)
            dvUnknown[i] = self->x_dot[index];
        else if (row->role == DISCRETE)
            dvUnknown[i] = self->d_seed[index]; /* 0 after initialization: no known changes it before an event */
        else
            return report(self, fmi2Error, "%s is not an unknown of the directional derivative",
                          name_of(row, vUnknown_ref[i] - row->reference).text);
    }
    return fmi2OK;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_INPUT_DERIVATIVES) && given(self, vr, nvr) && given(self, order, nvr) &&
            given(self, value, nvr) && check_references(self, vr, nvr, REAL));
    for (size_t i = 0; i < nvr; i++) {
        const Row *row = row_of(self, vr[i]);
        const Name name = name_of(row, vr[i] - row->reference);
        if (row->role != INPUT) return report(self, fmi2Error, "%s is not an input", name.text);
        if (order[i] < 1 || order[i] > INPUT_ORDERS)
            return report(self, fmi2Error, "derivative of order %d of %s: the order must be from 1 to %d", order[i],
                          name.text, INPUT_ORDERS);
        if (!isfinite(value[i]))
            return report(self, fmi2Error, "derivative of %s = %s: must be a finite number", name.text,
                          number(value[i]).text);
    }
    if (!self->state->polynomial) memset(self->u_dot, 0, INPUT_ORDERS * model.nu * sizeof(double));
    for (size_t i = 0; i < nvr; i++) {
        const Row *row = row_of(self, vr[i]);
        self->u_dot[(size_t)(order[i] - 1) * model.nu + row->index + (vr[i] - row->reference)] = value[i];
    }
    self->state->polynomial = 0; /* derivatives of zero change nothing */
    for (size_t i = 0; i < INPUT_ORDERS * model.nu; i++)
        if (self->u_dot[i] != 0) self->state->polynomial = 1;
    return fmi2OK;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_OUTPUT_DERIVATIVES) && given(self, vr, nvr) && given(self, order, nvr) &&
            given(self, value, nvr) && check_references(self, vr, nvr, REAL));
    for (size_t i = 0; i < nvr; i++) {
        const Row *row = row_of(self, vr[i]);
        const Name name = name_of(row, vr[i] - row->reference);
        if (row->role != OUTPUT && row->role != STATE) return report(self, fmi2Error, "%s is not an output", name.text);
        if (order[i] != 1)
            return report(self, fmi2Error, "derivative of order %d of %s: only order 1 is offered", order[i],
                          name.text);
    }
    memcpy(self->x_dot, instance_rates(self), model.nx * sizeof(double));
    memset(self->d_seed, 0, model.nd * sizeof(double));
    memcpy(self->u_seed, self->u_dot, model.nu * sizeof(double));
    memset(self->p_seed, 0, model.np * sizeof(double));
    instance_tangent(self, 1);
    for (size_t i = 0; i < nvr; i++) {
        const Row *row = row_of(self, vr[i]);
        const size_t index = row->index + (vr[i] - row->reference);
        value[i] = row->role == OUTPUT ? self->y_dot[index] : self->x_dot[index];
    }
    return fmi2OK;
}

/* --- Co-Simulation ------------------------------------------------------------------------------------------------ */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
                      fmi2Boolean noSetFMUStatePriorToCurrentPoint) {
    Instance *self = c;
    (void)noSetFMUStatePriorToCurrentPoint;
    REQUIRE(legal(self, &CALL_STEP) && valid_step(self, currentCommunicationPoint, communicationStepSize));
    const double t_end = currentCommunicationPoint + communicationStepSize;
    instance_step(self, t_end);
    return report_step(self);
}

/* --- Model Exchange ----------------------------------------------------------------------------------------------- */

fmi2Status fmi2EnterEventMode(fmi2Component c) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_ENTER_EVENT) && before_stop(self, self->state->t));
    self->state->phase = EVENT_MODE;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *fmi2eventInfo) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_NEW_DISCRETE) && given(self, fmi2eventInfo, 1));
    memset(fmi2eventInfo, 0, sizeof *fmi2eventInfo);
    const fmi2Status checked = self->state->parameters_unchecked ? check_start(self) : fmi2OK;
    if (checked > fmi2Warning) return checked;
    int changed, stopped;
    if (!instance_events(self, &changed, &stopped))
        return report(self, fmi2Error, "at t = %s s: events follow each other without end (chattering)",
                      number(self->state->t).text);
    fmi2eventInfo->valuesOfContinuousStatesChanged = changed ? fmi2True : fmi2False;
    fmi2eventInfo->terminateSimulation = stopped ? fmi2True : fmi2False;
    const fmi2Status noted = report_notes(self);
    return noted == fmi2OK ? checked : noted;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_ENTER_CONTINUOUS));
    const fmi2Status status = self->state->parameters_unchecked ? check_start(self) : fmi2OK;
    if (status > fmi2Warning) return status;
    self->state->phase = CONTINUOUS;
    self->state->started = 1;
    return status;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi2Boolean *enterEventMode, fmi2Boolean *terminateSimulation) {
    Instance *self = c;
    (void)noSetFMUStatePriorToCurrentPoint;
    REQUIRE(legal(self, &CALL_COMPLETED) && given(self, enterEventMode, 1) && given(self, terminateSimulation, 1) &&
            before_stop(self, self->state->t));
    *terminateSimulation = fmi2False;
    /* zero crossings are left to the event indicators: some hosts call this for steps that they reject later */
    *enterEventMode = instance_needs_projection(self) ? fmi2True : fmi2False;
    return fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SET_TIME));
    if (!isfinite(time)) return report(self, fmi2Error, "time %s: must be a finite number", number(time).text);
    self->state->t = time;
    instance_changed(self);
    return fmi2OK;
}

/* Whether the host's vector has the expected length. */
static int check_length(Instance *self, const void *array, size_t n, size_t expected, const char *what) {
    if (n == expected) return given(self, array, n);
    report(self, fmi2Error, "%lu %s, but there are %lu", (unsigned long)n, what, (unsigned long)expected);
    return 0;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SET_STATES) && check_length(self, x, nx, model.nx, "states"));
    for (size_t i = 0; i < nx; i++)
        if (!isfinite(x[i]))
            return report(self, fmi2Error, "state %lu = %s: must be a finite number", (unsigned long)i + 1,
                          number(x[i]).text);
    if (nx) memcpy(self->x, x, nx * sizeof *x);
    self->state->start_state_dirty = 0;
    instance_changed(self);
    return fmi2OK;
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET_CONTINUOUS) && check_length(self, x, nx, model.nx, "states"));
    instance_update_start_state(self);
    if (nx) memcpy(x, self->x, nx * sizeof *x);
    return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET_CONTINUOUS) && check_length(self, derivatives, nx, model.nx, "derivatives"));
    const double *rates = instance_rates(self);
    if (nx) memcpy(derivatives, rates, nx * sizeof *derivatives);
    return fmi2OK;
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real eventIndicators[], size_t ni) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET_CONTINUOUS) && check_length(self, eventIndicators, ni, model.ng, "event indicators"));
    if (ni) instance_indicators(self, eventIndicators);
    return fmi2OK;
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x_nominal[], size_t nx) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET_NOMINALS) && check_length(self, x_nominal, nx, model.nx, "nominal values"));
    if (nx) memcpy(x_nominal, model.x_nominal, nx * sizeof *x_nominal);
    return fmi2OK;
}
