/* Small units with exact solutions: only time, events without states, stiff, many state events, many variables, very
 * long and very short experiments. The kind is chosen like a defect. */
#include <math.h>
#include <stdlib.h>

#include "api.h"
#include "defect.h"
#include "pin.h"

const volatile char defect_tag[64] = "@defect:none";

enum { PARAMETERS = 1000, OUTPUTS = 998 };
typedef enum { READY = 1, INITIAL = 2, EVENT = 4, FLOW = 8, STEP = 16, DONE = 32 } Phase;

typedef struct {
    Callbacks call;
    char *name;
    Kind kind;
    Phase phase;
    int set_up, count, up, logging, stop_defined;
    double t, stop, x[2], u, p[PARAMETERS];
} Lab;

static int states(void) {
    if (IS("lab_time_only") || IS("lab_events") || IS("lab_every_step")) return 0;
    return IS("lab_stiff") ? 2 : 1;
}

static int indicators(void) { return IS("lab_relay") ? 1 : 0; }
static double period(void) { return IS("lab_events") ? 0.5 : IS("lab_every_step") ? 0.1 : 0; }
static double rate(void) { return IS("lab_long") ? 1e-6 : IS("lab_short") ? 1e6 : 1; }

static Status refuse(Lab *m, Text why) {
    if (m && m->call.logger) m->call.logger(m->call.environment, m->name, FAILED, NULL, "%s", why);
    return FAILED;
}

static int legal(Lab *m, int phases) {
    if (m && m->phase & (Phase)phases) return 1;
    refuse(m, "not allowed in this state");
    return 0;
}

static void reset(Lab *m) {
    m->phase = READY;
    m->set_up = m->count = m->stop_defined = 0;
    m->up = 1;
    m->t = m->u = 0;
    m->x[0] = IS("lab_relay") ? 0 : 1;
    m->x[1] = 1;
    for (int k = 0; k < PARAMETERS; k++) m->p[k] = k + 1;
}

Text fmi2GetTypesPlatform(void) { return "default"; }
Text fmi2GetVersion(void) { return "2.0"; }

void *fmi2Instantiate(Text name, Kind kind, Text guid, Text resources, const Callbacks *callbacks, int visible,
                      int logging) {
    (void)resources;
    (void)visible;
    if (!name || !*name || !guid || !callbacks) return NULL;
    if (strcmp(guid, "{lab-7c1d}") || strspn(name, " \t\n") == strlen(name)) {
        if (callbacks->logger) callbacks->logger(callbacks->environment, name, FAILED, NULL, "wrong GUID or name");
        return NULL;
    }
    Lab *m = calloc(1, sizeof *m);
    size_t size = strlen(name) + 1;
    char *copy = malloc(size);
    if (!m || !copy) {
        free(m);
        free(copy);
        return NULL;
    }
    m->name = memcpy(copy, name, size);
    m->call = *callbacks;
    m->kind = kind;
    m->logging = logging;
    reset(m);
    return m;
}

void fmi2FreeInstance(void *c) {
    Lab *m = c;
    if (!m) return;
    free(m->name);
    free(m);
}

Status fmi2SetDebugLogging(void *c, int on, size_t n, const Text categories[]) {
    Lab *m = c;
    (void)categories;
    if (!legal(m, 63)) return FAILED;
    if (n) return refuse(m, "the unit has no categories");
    m->logging = on;
    return OK;
}

Status fmi2SetupExperiment(void *c, int tolerance_defined, double tolerance, double start, int stop_defined,
                           double stop) {
    Lab *m = c;
    (void)tolerance_defined;
    (void)tolerance;
    if (!legal(m, READY)) return FAILED;
    if (!isfinite(start) || (stop_defined && !(stop >= start))) return refuse(m, "not an experiment");
    m->t = start;
    m->stop_defined = stop_defined;
    m->stop = stop;
    m->set_up = 1;
    return OK;
}

Status fmi2EnterInitializationMode(void *c) {
    Lab *m = c;
    if (!legal(m, READY)) return FAILED;
    if (!m->set_up) return refuse(m, "fmi2SetupExperiment was not called");
    m->phase = INITIAL;
    return OK;
}

Status fmi2ExitInitializationMode(void *c) {
    Lab *m = c;
    if (!legal(m, INITIAL)) return FAILED;
    m->phase = m->kind == MODEL_EXCHANGE ? EVENT : STEP;
    if (period() > 0) m->up = (int)floor(m->t / period() + 1e-6) + 1;
    return OK;
}

Status fmi2Terminate(void *c) {
    Lab *m = c;
    if (!legal(m, EVENT | FLOW | STEP)) return FAILED;
    m->phase = DONE;
    return OK;
}

Status fmi2Reset(void *c) {
    Lab *m = c;
    if (!legal(m, 63)) return FAILED;
    reset(m);
    return OK;
}

static double derivative(const Lab *m, int k) {
    if (IS("lab_relay")) return m->up ? 1 : -1;
    if (IS("lab_stiff") && k == 0) return -1e6 * (m->x[0] - m->x[1]);
    return -rate() * (m->x[k] - m->u);
}

/* references: 0 time, 1 and 2 states, 3 and 4 derivatives, 5 input, 1000... parameters, 3000... outputs */
Status fmi2GetReal(void *c, const Ref vr[], size_t n, double value[]) {
    Lab *m = c;
    if (!legal(m, INITIAL | EVENT | FLOW | STEP | DONE)) return FAILED;
    if (n && (!vr || !value)) return refuse(m, "a null array");
    for (size_t k = 0; k < n; k++) {
        Ref r = vr[k];
        if (r == 0)
            value[k] = m->t;
        else if (r >= 1 && (int)r <= states())
            value[k] = m->x[r - 1];
        else if (r >= 3 && (int)r <= states() + 2)
            value[k] = derivative(m, (int)r - 3);
        else if (r == 5 && states())
            value[k] = m->u;
        else if (r >= 1000 && r < 1000 + PARAMETERS && IS("lab_many"))
            value[k] = m->p[r - 1000];
        else if (r >= 3000 && r < 3000 + OUTPUTS && IS("lab_many"))
            value[k] = m->p[r - 3000] * m->x[0];
        else
            return refuse(m, "unknown value reference");
    }
    return OK;
}

Status fmi2SetReal(void *c, const Ref vr[], size_t n, const double value[]) {
    Lab *m = c;
    if (!legal(m, READY | INITIAL | EVENT | FLOW | STEP)) return FAILED;
    if (n && (!vr || !value)) return refuse(m, "a null array");
    for (size_t k = 0; k < n; k++) {
        Ref r = vr[k];
        if (!isfinite(value[k]) || fabs(value[k]) > 1e12) return refuse(m, "not a useful number");
        if (r == 5 && states())
            m->u = value[k];
        else if (r >= 1 && (int)r <= states() && m->phase & (READY | INITIAL | FLOW))
            m->x[r - 1] = value[k];
        else if (r >= 1000 && r < 1000 + PARAMETERS && IS("lab_many") && m->phase & (READY | INITIAL))
            m->p[r - 1000] = value[k];
        else
            return refuse(m, "cannot be set");
    }
    return OK;
}

Status fmi2GetInteger(void *c, const Ref vr[], size_t n, int value[]) {
    Lab *m = c;
    if (!legal(m, INITIAL | EVENT | FLOW | STEP | DONE)) return FAILED;
    if (n && (!vr || !value)) return refuse(m, "a null array");
    for (size_t k = 0; k < n; k++) {
        if (vr[k] != 0 || !(period() > 0 || IS("lab_relay"))) return refuse(m, "unknown value reference");
        value[k] = m->count;
    }
    return OK;
}

Status fmi2SetInteger(void *c, const Ref vr[], size_t n, const int value[]) {
    Lab *m = c;
    if (!legal(m, READY | INITIAL | EVENT | STEP)) return FAILED;
    if (n && (!vr || !value)) return refuse(m, "a null array");
    for (size_t k = 0; k < n; k++) {
        if (vr[k] != 0 || !(period() > 0) || !(m->phase & (READY | INITIAL))) return refuse(m, "cannot be set");
        m->count = value[k];
    }
    return OK;
}

static Status nothing(Lab *m, int phases, size_t n) {
    if (!legal(m, phases)) return FAILED;
    return n ? refuse(m, "unknown value reference") : OK;
}

#define READ (INITIAL | EVENT | FLOW | STEP | DONE)
#define WRITE (READY | INITIAL | EVENT | STEP)
Status fmi2GetBoolean(void *c, const Ref vr[], size_t n, int value[]) {
    return (void)vr, (void)value, nothing(c, READ, n);
}
Status fmi2GetString(void *c, const Ref vr[], size_t n, Text value[]) {
    return (void)vr, (void)value, nothing(c, READ, n);
}
Status fmi2SetBoolean(void *c, const Ref vr[], size_t n, const int value[]) {
    return (void)vr, (void)value, nothing(c, WRITE, n);
}
Status fmi2SetString(void *c, const Ref vr[], size_t n, const Text value[]) {
    return (void)vr, (void)value, nothing(c, WRITE, n);
}

/* The time of the next event of the counter: the first multiple of the period after t. */
static double next_tick(const Lab *m) {
    double p = period();
    return (floor(m->t / p + 1e-6) + 1) * p;
}

static const double BAND = 0.01;

/* The exact solution over h, without events. */
static void flow(Lab *m, double h) {
    if (IS("lab_relay")) {
        m->x[0] += (m->up ? h : -h);
    } else if (IS("lab_stiff")) {
        double a = m->x[1] - m->u, factor = a * 1e6 / (1e6 - 1), rest = m->x[0] - m->u - factor;
        m->x[1] = m->u + a * exp(-h);
        m->x[0] = m->u + factor * exp(-h) + rest * exp(-1e6 * h);
    } else if (states()) {
        m->x[0] = m->u + (m->x[0] - m->u) * exp(-rate() * h);
    }
}

Status fmi2DoStep(void *c, double point, double size, int no_set_prior) {
    Lab *m = c;
    (void)no_set_prior;
    if (!legal(m, STEP)) return FAILED;
    if (!isfinite(point) || !(size > 0) || !(size < 1e9)) return refuse(m, "not a step");
    if (fabs(point - m->t) > 1e-9 * fmax(size, fabs(point))) return refuse(m, "not where the last step ended");
    double end = point + size;
    if (m->stop_defined && end > m->stop + 1e-9 * fmax(size, fabs(m->stop))) return refuse(m, "past the stop time");
    double left = size;
    if (period() > 0) {
        double first = floor(point / period() + 1e-6), last = floor(end / period() + 1e-6);
        m->count += (int)(last - first);
    } else if (IS("lab_relay")) {
        for (;;) {
            double room = m->up ? BAND - m->x[0] : m->x[0] + BAND;
            if (room > left) break;
            if (room > 0) flow(m, room), left -= room;
            m->x[0] = m->up ? BAND : -BAND;
            m->up = !m->up;
            m->count++;
        }
        flow(m, left);
    } else {
        flow(m, size);
    }
    m->t = end;
    return OK;
}

Status fmi2EnterEventMode(void *c) {
    Lab *m = c;
    if (!legal(m, EVENT | FLOW)) return FAILED;
    m->phase = EVENT;
    return OK;
}

Status fmi2NewDiscreteStates(void *c, EventInfo *info) {
    Lab *m = c;
    if (!legal(m, EVENT)) return FAILED;
    if (!info) return refuse(m, "a null pointer");
    *info = (EventInfo){0};
    if (period() > 0) {
        int ticks = (int)floor(m->t / period() + 1e-6);
        if (ticks > m->up - 1) m->count += ticks - (m->up - 1), m->up = ticks + 1;
        info->next_time_defined = 1;
        info->next_time = next_tick(m);
    }
    if (IS("lab_relay") && (m->up ? m->x[0] >= BAND : m->x[0] <= -BAND)) {
        m->up = !m->up;
        m->count++;
        info->new_discrete_states_needed = 1;
    }
    return OK;
}

Status fmi2EnterContinuousTimeMode(void *c) {
    Lab *m = c;
    if (!legal(m, EVENT)) return FAILED;
    m->phase = FLOW;
    return OK;
}

Status fmi2CompletedIntegratorStep(void *c, int no_set_prior, int *enter_event_mode, int *terminate) {
    Lab *m = c;
    (void)no_set_prior;
    if (!legal(m, FLOW)) return FAILED;
    if (!enter_event_mode || !terminate) return refuse(m, "a null pointer");
    if (m->stop_defined && m->t > m->stop + 1e-9 * fabs(m->stop)) return refuse(m, "past the stop time");
    *enter_event_mode = *terminate = 0;
    return OK;
}

Status fmi2SetTime(void *c, double time) {
    Lab *m = c;
    if (!legal(m, FLOW | (states() ? 0 : EVENT))) return FAILED;
    if (!isfinite(time)) return refuse(m, "not a time");
    m->t = time;
    return OK;
}

static int vector(Lab *m, int phases, const void *x, size_t n, int expected) {
    if (!legal(m, phases)) return 0;
    if (n == (size_t)expected && (x || !n)) return 1;
    refuse(m, "a vector of another length");
    return 0;
}

Status fmi2SetContinuousStates(void *c, const double x[], size_t n) {
    Lab *m = c;
    if (!vector(m, FLOW, x, n, states())) return FAILED;
    for (size_t k = 0; k < n; k++) m->x[k] = x[k];
    return OK;
}

Status fmi2GetContinuousStates(void *c, double x[], size_t n) {
    Lab *m = c;
    if (!vector(m, READ, x, n, states())) return FAILED;
    for (size_t k = 0; k < n; k++) x[k] = m->x[k];
    return OK;
}

Status fmi2GetDerivatives(void *c, double dx[], size_t n) {
    Lab *m = c;
    if (!vector(m, READ, dx, n, states())) return FAILED;
    for (size_t k = 0; k < n; k++) dx[k] = derivative(m, (int)k);
    return OK;
}

Status fmi2GetEventIndicators(void *c, double z[], size_t n) {
    Lab *m = c;
    if (!vector(m, READ, z, n, indicators())) return FAILED;
    if (n) z[0] = (m->up ? BAND - m->x[0] : -BAND - m->x[0]) / BAND;
    return OK;
}

Status fmi2GetNominalsOfContinuousStates(void *c, double x[], size_t n) {
    Lab *m = c;
    if (!vector(m, READY | READ, x, n, states())) return FAILED;
    for (size_t k = 0; k < n; k++) x[k] = IS("lab_relay") ? BAND : 1;
    return OK;
}

static Status absent(void *c) { return refuse(c, "this function is not supported"); }

Status fmi2GetFMUstate(void *c, void **s) { return (void)s, absent(c); }
Status fmi2SetFMUstate(void *c, void *s) { return (void)s, absent(c); }
Status fmi2FreeFMUstate(void *c, void **s) { return (void)s, absent(c); }
Status fmi2SerializedFMUstateSize(void *c, void *s, size_t *n) { return (void)s, (void)n, absent(c); }
Status fmi2SerializeFMUstate(void *c, void *s, char b[], size_t n) { return (void)s, (void)b, (void)n, absent(c); }
Status fmi2DeSerializeFMUstate(void *c, const char b[], size_t n, void **s) {
    return (void)b, (void)n, (void)s, absent(c);
}
Status fmi2GetDirectionalDerivative(void *c, const Ref a[], size_t n, const Ref b[], size_t k, const double d[],
                                    double e[]) {
    return (void)a, (void)n, (void)b, (void)k, (void)d, (void)e, absent(c);
}
Status fmi2SetRealInputDerivatives(void *c, const Ref vr[], size_t n, const int order[], const double value[]) {
    return (void)vr, (void)n, (void)order, (void)value, absent(c);
}
Status fmi2GetRealOutputDerivatives(void *c, const Ref vr[], size_t n, const int order[], double value[]) {
    return (void)vr, (void)n, (void)order, (void)value, absent(c);
}
Status fmi2CancelStep(void *c) { return absent(c); }

static Status no_status(Lab *m) {
    if (!legal(m, STEP | DONE)) return FAILED;
    if (m->call.logger) m->call.logger(m->call.environment, m->name, DISCARD, NULL, "not available");
    return DISCARD;
}

Status fmi2GetStatus(void *c, StatusKind kind, Status *value) { return (void)kind, (void)value, no_status(c); }
Status fmi2GetRealStatus(void *c, StatusKind kind, double *value) { return (void)kind, (void)value, no_status(c); }
Status fmi2GetIntegerStatus(void *c, StatusKind kind, int *value) { return (void)kind, (void)value, no_status(c); }
Status fmi2GetBooleanStatus(void *c, StatusKind kind, int *value) { return (void)kind, (void)value, no_status(c); }
Status fmi2GetStringStatus(void *c, StatusKind kind, Text *value) { return (void)kind, (void)value, no_status(c); }
