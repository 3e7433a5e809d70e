/* The FMI 2.0 functions of a native FMU. Each checks what it may do now (calls.h), its arguments, and then hands on to the instance. An error leaves the
 * instance as it was: it remains usable. */
#include "calls.h"
#include "instance.h"
#include "messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double GUESS_TOLERANCE = 1e-9; /* relative: hosts print and read the start values of the description */

/* --- variables -------------------------------------------------------------------------------------------------------------- */

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
        report(self, fmi2Error, "there is no variable with value reference %u (they go from 0 to %u)", reference, model.n_variables - 1);
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
    report(self, fmi2Error, "%s is of type %s, not %s", name_of(row, reference - row->reference).text, kind_name(row->kind), kind_name(kind));
    return NULL;
}

static int all_known(Instance *self, const fmi2ValueReference vr[], size_t n, Kind kind) {
    for (size_t i = 0; i < n; i++)
        if (!row_of_kind(self, vr[i], kind)) return 0;
    return 1;
}

static double value_of(Instance *self, fmi2ValueReference reference) {
    const Row *row = row_of(self, reference);
    return instance_get(self, row, row->index + (reference - row->reference));
}

/* Whether a variable may be given this value now. */
static int acceptable(Instance *self, fmi2ValueReference reference, double value) {
    const Row *row = row_of(self, reference);
    const Name name = name_of(row, reference - row->reference);
    /* some Model Exchange hosts set states one by one instead of by fmi2SetContinuousStates */
    const int state = row->role == STATE && (self->state->phase & (INSTANTIATED | EVENT_MODE | CONTINUOUS));
    /* OpenModelica sets parameters after initialization, in the first event mode */
    const int early = (self->state->phase & (INSTANTIATED | INITIALIZING)) || (self->state->phase == EVENT_MODE && !self->state->started);
    if (row->role != PARAMETER && row->role != INPUT && !state)
        report(self, fmi2Error, "%s cannot be set: only parameters and inputs can", name.text);
    else if (row->role == PARAMETER && !early)
        report(self, fmi2Error, "%s is a fixed parameter: it cannot be set after initialization", name.text);
    else if (row->kind != REAL && self->state->phase == CONTINUOUS)
        report(self, fmi2Error, "%s cannot be set in continuous-time mode: it is of type %s", name.text, kind_name(row->kind));
    else if (!isfinite(value))
        report(self, fmi2Error, "%s = %s: must be a finite number", name.text, number(value).text);
    else if (value <= row->above)
        report(self, fmi2Error, "%s = %s%s: must be greater than %s", name.text, number(value).text, row->unit, number(row->above).text);
    else if (value < row->min)
        report(self, fmi2Error, "%s = %s%s: must be at least %s", name.text, number(value).text, row->unit, number(row->min).text);
    else if (value > row->max)
        report(self, fmi2Error, "%s = %s%s: must be at most %s", name.text, number(value).text, row->unit, number(row->max).text);
    else
        return 1;
    return 0;
}

/* The start of a state follows from the parameters: what the host sets is a guess (initial="approx"). */
static fmi2Status take_guess(Instance *self, fmi2ValueReference reference, double value) {
    const Row *row = row_of(self, reference);
    const double start = value_of(self, reference);
    if (fabs(value - start) <= GUESS_TOLERANCE * fmax(1, fabs(start))) return fmi2OK;
    return report(self, fmi2Warning, "%s = %s has no effect: its start follows from the parameters and is %s%s",
                  name_of(row, reference - row->reference).text, number(value).text, number(start).text, row->unit);
}

static fmi2Status put(Instance *self, fmi2ValueReference reference, double value) {
    const Row *row = row_of(self, reference);
    if (row->role == STATE && self->state->phase == INSTANTIATED) return take_guess(self, reference, value);
    double *vector = row->role == PARAMETER ? self->p : row->role == INPUT ? self->u : self->x;
    double *place = &vector[row->index + (reference - row->reference)];
    if (row->role == INPUT && memcmp(place, &value, sizeof value) == 0) return fmi2OK; /* hosts set all inputs before every step, changed or not */
    *place = value;
    if (row->role == PARAMETER) {
        self->state->stale = 1;
        self->state->unchecked = self->state->phase == EVENT_MODE;
    }
    instance_changed(self);
    if (self->state->unchecked) instance_freshen(self); /* in event mode reading changes nothing */
    return fmi2OK;
}

/* Passes on the note of a guard that has fallen. */
static fmi2Status tell(Instance *self, const Note *note, double t) {
    return report(self, note->stop ? fmi2Error : fmi2Warning, "at t = %s s: %s", number(t).text, note->text);
}

/* --- both interface types --------------------------------------------------------------------------------------------------- */

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources, const fmi2CallbackFunctions *callbacks,
                              fmi2Boolean visible, fmi2Boolean logging) {
    (void)resources;
    (void)visible;
    const char *complaint = instantiation_complaint(name, type, guid, callbacks);
    if (!complaint && strcmp(guid, model.guid) != 0) complaint = WRONG_GUID;
    Instance *self = complaint ? NULL : instance_new(name, type, callbacks, logging);
    if (!self) report_early(callbacks, name, complaint ? complaint : "there is not enough memory");
    return self;
}

void fmi2FreeInstance(fmi2Component c) { instance_free(c); }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean logging, size_t n, const fmi2String categories[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_LOGGING) && given(self, categories, n));
    unsigned chosen = n == 0 ? 1u << LOG_ALL : 0;
    for (size_t i = 0; i < n; i++) {
        int category = 0;
        while (category < LOG_CATEGORIES && (!categories[i] || strcmp(categories[i], CATEGORY_NAMES[category]) != 0)) category++;
        if (category == LOG_CATEGORIES)
            return report(self, fmi2Error, "there is no log category %s", categories[i] ? categories[i] : "(null)");
        chosen |= 1u << category;
    }
    self->component.categories = logging ? chosen : 0;
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start, fmi2Boolean stop_defined,
                               fmi2Real stop) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SETUP) && valid_experiment(self, tolerance_defined, tolerance, start, stop_defined, stop));
    self->state->t = start;
    self->state->tolerance = tolerance_defined ? tolerance : 0;
    instance_changed(self);
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_ENTER_INITIALIZATION));
    self->state->phase = INITIALIZING;
    return fmi2OK;
}

/* Parameters that do not fit together are refused; the guards take their places. */
static fmi2Status check_start(Instance *self) {
    instance_freshen(self);
    model.requirements(&self->state->t, self->x, self->d, self->u, self->p, self->r, self->work);
    fmi2Status status = fmi2OK;
    for (size_t i = 0; i < model.nr; i++)
        if (!(self->r[i] > 0)) {
            status = report(self, model.cautions[i] ? fmi2Warning : fmi2Error, "%s", model.requirement_texts[i]);
            if (status == fmi2Error) return status;
        }
    const double *dx = instance_rates(self);
    for (size_t i = 0; i < model.nx; i++)
        if (!isfinite(dx[i])) return report(self, fmi2Error, "the accelerations at the start are not finite: check masses, inertias and lengths");
    if (model.ng) model.guards(&self->state->t, self->x, self->d, self->u, self->p, self->g_now, self->work);
    for (size_t k = 0; k < model.ng; k++)
        if (self->g_now[k] <= 0 && model.notes[k].text) {
            status = tell(self, &model.notes[k], self->state->t);
            if (status == fmi2Error) return status;
        }
    memcpy(self->g, self->g_now, model.ng * sizeof(double));
    self->state->unchecked = 0;
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

/* --- values ----------------------------------------------------------------------------------------------------------------- */

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET) && given(self, vr, n) && given(self, values, n) && all_known(self, vr, n, REAL));
    for (size_t i = 0; i < n; i++) values[i] = value_of(self, vr[i]);
    return fmi2OK;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer values[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET) && given(self, vr, n) && given(self, values, n) && all_known(self, vr, n, INTEGER));
    for (size_t i = 0; i < n; i++) values[i] = (fmi2Integer)lround(value_of(self, vr[i]));
    return fmi2OK;
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean values[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET) && given(self, vr, n) && given(self, values, n) && all_known(self, vr, n, BOOLEAN));
    for (size_t i = 0; i < n; i++) values[i] = value_of(self, vr[i]) != 0 ? fmi2True : fmi2False;
    return fmi2OK;
}

/* No mechanism has String variables: any reference is of another type. */
static fmi2Status no_strings(Instance *self, const Call *call, const fmi2ValueReference vr[], size_t n) {
    REQUIRE(legal(self, call) && given(self, vr, n));
    if (n == 0) return fmi2OK;
    const Row *row = row_of(self, vr[0]);
    return row ? report(self, fmi2Error, "%s is of type %s, not String", name_of(row, vr[0] - row->reference).text, kind_name(row->kind)) : fmi2Error;
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String values[]) {
    (void)values;
    return no_strings(c, &CALL_GET, vr, n);
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String values[]) {
    (void)values;
    return no_strings(c, &CALL_SET, vr, n);
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SET) && given(self, vr, n) && given(self, values, n) && all_known(self, vr, n, REAL));
    for (size_t i = 0; i < n; i++) REQUIRE(acceptable(self, vr[i], values[i]));
    fmi2Status status = fmi2OK;
    for (size_t i = 0; i < n; i++)
        if (put(self, vr[i], values[i]) != fmi2OK) status = fmi2Warning;
    return status;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer values[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SET) && given(self, vr, n) && given(self, values, n) && all_known(self, vr, n, INTEGER));
    for (size_t i = 0; i < n; i++) REQUIRE(acceptable(self, vr[i], values[i]));
    for (size_t i = 0; i < n; i++) put(self, vr[i], values[i]);
    return fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean values[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SET) && given(self, vr, n) && given(self, values, n) && all_known(self, vr, n, BOOLEAN));
    for (size_t i = 0; i < n; i++) REQUIRE(acceptable(self, vr[i], values[i]));
    for (size_t i = 0; i < n; i++) put(self, vr[i], values[i] ? 1 : 0);
    return fmi2OK;
}

/* --- the whole state ---------------------------------------------------------------------------------------------------------- */

/* A saved state: a header that says what it belongs to, then the block of memory. */
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

static int fits(Instance *self, const void *saved) {
    const Header expected = header(self);
    if (memcmp(saved, &expected, sizeof expected) == 0) return 1;
    report(self, fmi2Error, "this is no state of this FMU");
    return 0;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *saved) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, saved, 1));
    if (!*saved) *saved = malloc(saved_size());
    if (!*saved) return report(self, fmi2Error, "there is not enough memory for the state");
    const Header h = header(self);
    memcpy(*saved, &h, sizeof h);
    memcpy((char *)*saved + sizeof h, self->state, instance_state_size());
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate saved) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, saved, 1) && fits(self, saved));
    memcpy(self->state, (const char *)saved + sizeof(Header), instance_state_size());
    instance_changed(self);
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *saved) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU));
    if (saved) {
        free(*saved);
        *saved = NULL;
    }
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate saved, size_t *size) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, saved, 1) && given(self, size, 1));
    *size = saved_size();
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate saved, fmi2Byte bytes[], size_t size) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, saved, 1) && given(self, bytes, 1));
    if (size < saved_size()) return report(self, fmi2Error, "the state needs %lu bytes, not %lu", (unsigned long)saved_size(), (unsigned long)size);
    memcpy(bytes, saved, saved_size());
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *saved) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_STATE_OF_FMU) && given(self, bytes, 1) && given(self, saved, 1));
    if (size != saved_size()) return report(self, fmi2Error, "the state has %lu bytes, not %lu", (unsigned long)saved_size(), (unsigned long)size);
    REQUIRE(fits(self, bytes));
    if (!*saved) *saved = malloc(size);
    if (!*saved) return report(self, fmi2Error, "there is not enough memory for the state");
    memcpy(*saved, bytes, size);
    return fmi2OK;
}

/* --- derivatives ---------------------------------------------------------------------------------------------------------------- */

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown, const fmi2ValueReference known[],
                                        size_t n_known, const fmi2Real seed[], fmi2Real derivative[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_DIRECTIONAL) && given(self, unknown, n_unknown) && given(self, known, n_known) && given(self, seed, n_known) &&
            given(self, derivative, n_unknown) && all_known(self, unknown, n_unknown, REAL) && all_known(self, known, n_known, REAL));
    const int initializing = self->state->phase == INITIALIZING;
    instance_freshen(self);
    memset(self->x_dot, 0, model.nx * sizeof(double));
    memset(self->d_seed, 0, model.nd * sizeof(double));
    memset(self->u_seed, 0, model.nu * sizeof(double));
    memset(self->p_seed, 0, model.np * sizeof(double));
    for (size_t i = 0; i < n_known; i++) {
        const Row *row = row_of(self, known[i]);
        const size_t index = row->index + (known[i] - row->reference);
        if (row->role == INPUT)
            self->u_seed[index] += seed[i];
        else if (row->role == STATE && !initializing)
            self->x_dot[index] += seed[i];
        else if (row->role == PARAMETER && initializing)
            self->p_seed[index] += seed[i];
        else
            return report(self, fmi2Error, "%s is not a known of the directional derivative here", name_of(row, known[i] - row->reference).text);
    }
    if (initializing) model.initial_tangent(&self->state->t, self->x, self->d, self->u, self->p, self->p_seed, self->x_dot, self->d_seed, self->work);
    instance_tangent(self, 0);
    for (size_t i = 0; i < n_unknown; i++) {
        const Row *row = row_of(self, unknown[i]);
        const size_t index = row->index + (unknown[i] - row->reference);
        if (row->role == OUTPUT)
            derivative[i] = self->y_dot[index];
        else if (row->role == DERIVATIVE)
            derivative[i] = self->dx_dot[index];
        else if (row->role == STATE)
            derivative[i] = self->x_dot[index];
        else
            return report(self, fmi2Error, "%s is not an unknown of the directional derivative", name_of(row, unknown[i] - row->reference).text);
    }
    return fmi2OK;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], const fmi2Real values[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_INPUT_DERIVATIVES) && given(self, vr, n) && given(self, order, n) && given(self, values, n) && all_known(self, vr, n, REAL));
    for (size_t i = 0; i < n; i++) {
        const Row *row = row_of(self, vr[i]);
        const Name name = name_of(row, vr[i] - row->reference);
        if (row->role != INPUT) return report(self, fmi2Error, "%s is not an input", name.text);
        if (order[i] < 1 || order[i] > INPUT_ORDERS)
            return report(self, fmi2Error, "derivative of order %d of %s: the order must be from 1 to %d", order[i], name.text, INPUT_ORDERS);
        if (!isfinite(values[i])) return report(self, fmi2Error, "derivative of %s = %s: must be a finite number", name.text, number(values[i]).text);
    }
    if (!self->state->polynomial) memset(self->u_dot, 0, INPUT_ORDERS * model.nu * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const Row *row = row_of(self, vr[i]);
        self->u_dot[(size_t)(order[i] - 1) * model.nu + row->index + (vr[i] - row->reference)] = values[i];
    }
    if (n) self->state->polynomial = 1;
    return fmi2OK;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], fmi2Real values[]) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_OUTPUT_DERIVATIVES) && given(self, vr, n) && given(self, order, n) && given(self, values, n) && all_known(self, vr, n, REAL));
    for (size_t i = 0; i < n; i++) {
        const Row *row = row_of(self, vr[i]);
        const Name name = name_of(row, vr[i] - row->reference);
        if (row->role != OUTPUT && row->role != STATE) return report(self, fmi2Error, "%s is no output", name.text);
        if (order[i] != 1) return report(self, fmi2Error, "derivative of order %d of %s: only order 1 is offered", order[i], name.text);
    }
    memcpy(self->x_dot, instance_rates(self), model.nx * sizeof(double));
    memset(self->d_seed, 0, model.nd * sizeof(double));
    memcpy(self->u_seed, self->u_dot, model.nu * sizeof(double));
    memset(self->p_seed, 0, model.np * sizeof(double));
    instance_tangent(self, 1);
    for (size_t i = 0; i < n; i++) {
        const Row *row = row_of(self, vr[i]);
        const size_t index = row->index + (vr[i] - row->reference);
        values[i] = row->role == OUTPUT ? self->y_dot[index] : self->x_dot[index];
    }
    return fmi2OK;
}

/* --- Co-Simulation ---------------------------------------------------------------------------------------------------------------- */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_earlier_state) {
    Instance *self = c;
    (void)no_earlier_state;
    REQUIRE(legal(self, &CALL_STEP) && valid_step(self, t, h));
    const char *why;
    const Note *warned;
    double at, warned_at;
    if (!instance_step(self, t + h, &why, &at, &warned, &warned_at))
        return report(self, fmi2Discard, "the step to t = %s s stopped at t = %s s: %s", number(t + h).text, number(at).text, why);
    return warned ? tell(self, warned, warned_at) : fmi2OK;
}

/* --- Model Exchange ----------------------------------------------------------------------------------------------------------------- */

fmi2Status fmi2EnterEventMode(fmi2Component c) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_ENTER_EVENT));
    self->state->phase = EVENT_MODE;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_NEW_DISCRETE) && given(self, info, 1));
    memset(info, 0, sizeof *info);
    const fmi2Status checked = self->state->unchecked ? check_start(self) : fmi2OK;
    if (checked > fmi2Warning) return checked;
    const Note *told;
    int changed;
    if (!instance_events(self, &changed, &told))
        return report(self, fmi2Error, "at t = %s s: events follow each other without end (chattering)", number(self->state->t).text);
    info->valuesOfContinuousStatesChanged = changed ? fmi2True : fmi2False;
    if (!told) return checked;
    info->terminateSimulation = told->stop ? fmi2True : fmi2False;
    return report(self, fmi2Warning, "at t = %s s: %s", number(self->state->t).text, told->text);
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_ENTER_CONTINUOUS));
    const fmi2Status status = self->state->unchecked ? check_start(self) : fmi2OK;
    if (status > fmi2Warning) return status;
    self->state->phase = CONTINUOUS;
    self->state->started = 1;
    return status;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_earlier_state, fmi2Boolean *enter_event_mode, fmi2Boolean *terminate) {
    Instance *self = c;
    (void)no_earlier_state;
    REQUIRE(legal(self, &CALL_COMPLETED) && given(self, enter_event_mode, 1) && given(self, terminate, 1));
    *terminate = fmi2False;
    /* events are a matter of the indicators: some hosts call this for steps that they reject later */
    *enter_event_mode = instance_needs_projection(self) ? fmi2True : fmi2False;
    return fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SET_TIME));
    if (!isfinite(t)) return report(self, fmi2Error, "time %s: must be a finite number", number(t).text);
    self->state->t = t;
    instance_changed(self);
    return fmi2OK;
}

/* Whether a vector of the host has the length of ours. */
static int as_long(Instance *self, const void *array, size_t n, size_t expected, const char *what) {
    if (n == expected) return given(self, array, n);
    report(self, fmi2Error, "%lu %s, but there are %lu", (unsigned long)n, what, (unsigned long)expected);
    return 0;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_SET_STATES) && as_long(self, x, n, model.nx, "states"));
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return report(self, fmi2Error, "state %lu = %s: must be a finite number", (unsigned long)i + 1, number(x[i]).text);
    if (n) memcpy(self->x, x, n * sizeof *x);
    self->state->stale = 0;
    instance_changed(self);
    return fmi2OK;
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET_CONTINUOUS) && as_long(self, x, n, model.nx, "states"));
    instance_freshen(self);
    if (n) memcpy(x, self->x, n * sizeof *x);
    return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real dx[], size_t n) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET_CONTINUOUS) && as_long(self, dx, n, model.nx, "derivatives"));
    const double *rates = instance_rates(self);
    if (n) memcpy(dx, rates, n * sizeof *dx);
    return fmi2OK;
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real g[], size_t n) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET_CONTINUOUS) && as_long(self, g, n, model.ng, "event indicators"));
    if (n) instance_indicators(self, g);
    return fmi2OK;
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t n) {
    Instance *self = c;
    REQUIRE(legal(self, &CALL_GET_NOMINALS) && as_long(self, nominals, n, model.nx, "nominal values"));
    if (n) memcpy(nominals, model.x_nominal, n * sizeof *nominals);
    return fmi2OK;
}
