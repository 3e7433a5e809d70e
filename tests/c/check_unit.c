/* A small correct FMU for the tests of the checker, with a few defects that can be switched on.
 *
 *     x' = v,  v' = -k x - d v + u,  y = x + 2 u         hits counts how often x has dropped below -0.5
 *
 * Co-Simulation and Model Exchange, all types of variables, FMU states, directional derivatives, an event. The tests
 * write the name of a defect over the placeholder in the binary, so that the library is compiled once. */
#include "fmi2.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const volatile char DEFECT[64] = "@defect:none                                                  ";

static int has(const char *defect) {
    size_t i = 0;
    for (; defect[i]; i++)
        if (DEFECT[8 + i] != defect[i]) return 0;
    return DEFECT[8 + i] == ' ';
}

static void hang(void) {
    volatile int on = 1;
    while (on) {}
}

static void take_memory(void) {
    for (int i = 0; i < 128; i++) {
        char *part = malloc(1 << 24);
        if (part) memset(part, 1, 1 << 24);
    }
}

static void crash(void) {
    volatile int *nowhere = NULL;
    *nowhere = 1;
}

typedef enum {
    INSTANTIATED = 1,
    INITIALIZATION = 2,
    STEPPING = 4,
    EVENT_MODE = 8,
    CONTINUOUS = 16,
    TERMINATED = 32
} Phase;
enum {
    READABLE = INITIALIZATION | STEPPING | EVENT_MODE | CONTINUOUS | TERMINATED,
    ANY = READABLE | INSTANTIATED,
    TEXT = 1000
};
enum { TIME, K, D, X_START, U, X, V, DX, DV, Y, ONE, REALS };

typedef struct {
    Phase phase;
    double t, stop, k, d, x_start, u, x, v;
    int n, mode, flag, hits, below;
    char label[TEXT];
} State;

typedef enum { LOG_ERROR, LOG_ALL, CATEGORIES } Category;
static const char *const CATEGORY[CATEGORIES] = {"logStatusError", "logAll"};

typedef struct {
    State s;
    fmi2Type type;
    char *name;
    fmi2CallbackFunctions callbacks;
    int logging, on[CATEGORIES];
} Unit;

static const char *category_name(Category category) { return has("no-categories") ? NULL : CATEGORY[category]; }

static fmi2Status log_message(Unit *c, fmi2Status status, Category category, const char *text) {
    if (status >= fmi2Error || (c->logging && c->on[category]))
        c->callbacks.logger(c->callbacks.componentEnvironment, c->name, status, category_name(category), text);
    return status;
}

static fmi2Status error(Unit *c, const char *text) { return log_message(c, fmi2Error, LOG_ERROR, text); }

#define REQUIRE(phases) \
    do { \
        if (!c) return fmi2Error; \
        if (!(((Unit *)c)->s.phase & (Phase)(phases))) return error(c, "not in this state"); \
    } while (0)

/* --- the model ---------------------------------------------------------------------------------------------------- */

static double acceleration(const Unit *c, double x, double v) { return -c->s.k * x - c->s.d * v + c->s.u; }

static double value(const Unit *c, fmi2ValueReference vr) {
    switch (vr) {
    case TIME: return c->s.t;
    case K: return c->s.k;
    case D: return c->s.d;
    case X_START: return c->s.x_start;
    case U: return c->s.u;
    case X: return c->s.x;
    case V: return c->s.v;
    case DX: return c->s.v;
    case DV: return acceleration(c, c->s.x, c->s.v);
    case Y: return c->s.x + 2 * c->s.u;
    default: return 1;
    }
}

static void start(Unit *c) {
    const State s = {.phase = INSTANTIATED,
                     .stop = INFINITY,
                     .k = 4,
                     .d = 0.3,
                     .x_start = 1,
                     .x = 1,
                     .n = 3,
                     .mode = 1,
                     .flag = 1,
                     .label = "spring"};
    memset(&c->s, 0, sizeof c->s); /* the padding too, since saved states are compared byte by byte */
    c->s = s;
}

static void count_hits(Unit *c) {
    const int below = c->s.x + 0.5 <= 0;
    if (below && !c->s.below) c->s.hits++;
    c->s.below = below;
}

static void integrate(Unit *c, double h) {
    const int n = (int)ceil(h / 1e-3 - 1e-9);
    h /= n;
    for (int i = 0; i < n; i++) {
        const double x = c->s.x, v = c->s.v;
        const double a1 = acceleration(c, x, v), v2 = v + h / 2 * a1;
        const double a2 = acceleration(c, x + h / 2 * v, v2), v3 = v + h / 2 * a2;
        const double a3 = acceleration(c, x + h / 2 * v2, v3), v4 = v + h * a3;
        const double a4 = acceleration(c, x + h * v3, v4);
        c->s.x += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
        c->s.v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        count_hits(c);
    }
}

/* --- lifecycle ---------------------------------------------------------------------------------------------------- */

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging) {
    (void)resources;
    (void)visible;
    if (!name || !guid || !callbacks || !callbacks->logger) return NULL;
    if (strcmp(guid, "{zoo}") != 0) {
        callbacks->logger(callbacks->componentEnvironment, name, fmi2Error, category_name(LOG_ERROR),
                          "the GUID is wrong");
        return NULL;
    }
    Unit *c = calloc(1, sizeof *c);
    c->name = calloc(strlen(name) + 1, 1);
    memcpy(c->name, name, strlen(name));
    c->type = type;
    c->callbacks = *callbacks;
    c->logging = logging;
    for (int i = 0; i < CATEGORIES; i++) c->on[i] = 1;
    start(c);
    return c;
}

void fmi2FreeInstance(fmi2Component component) {
    Unit *c = component;
    if (!c) return;
    free(c->name);
    free(c);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean logging, size_t n, const fmi2String categories[]) {
    REQUIRE(ANY);
    if (n && !categories) return error(c, "there is no array");
    Unit *u = c;
    u->logging = logging;
    for (int i = 0; i < CATEGORIES; i++) {
        u->on[i] = n == 0;
        for (size_t j = 0; j < n; j++)
            if (categories[j] && (!strcmp(categories[j], CATEGORY[i]) || !strcmp(categories[j], "logAll")))
                u->on[i] = 1;
    }
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real t,
                               fmi2Boolean stop_defined, fmi2Real stop) {
    (void)tolerance_defined;
    (void)tolerance;
    REQUIRE(INSTANTIATED);
    if (!isfinite(t) || (stop_defined && !(stop > t))) return error(c, "the experiment has no duration");
    ((Unit *)c)->s.t = t;
    ((Unit *)c)->s.stop = stop_defined ? stop : INFINITY;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    REQUIRE(INSTANTIATED);
    Unit *u = c;
    u->s.x = u->s.x_start;
    u->s.phase = INITIALIZATION;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    REQUIRE(INITIALIZATION);
    Unit *u = c;
    u->s.below = u->s.x + 0.5 <= 0;
    u->s.phase = u->type == fmi2CoSimulation ? STEPPING : EVENT_MODE;
    return log_message(u, fmi2OK, LOG_ALL, "initialized");
}

fmi2Status fmi2Terminate(fmi2Component c) {
    REQUIRE(STEPPING | EVENT_MODE | CONTINUOUS);
    ((Unit *)c)->s.phase = TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c) {
    REQUIRE(ANY);
    start(c);
    return fmi2OK;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static int missing(Unit *c, const void *vr, size_t n, const void *values) {
    if (n == 0) return 0;
    if (vr && values) return 0;
    if (has("null")) crash();
    error(c, "there is no array");
    return 1;
}

#define CHECK(limit) \
    do { \
        if (missing(c, vr, n, values)) return fmi2Error; \
        for (size_t i = 0; i < n; i++) \
            if (vr[i] >= (limit)) return error(c, "there is no such variable"); \
    } while (0)

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[]) {
    REQUIRE(READABLE);
    CHECK(REALS);
    for (size_t i = 0; i < n; i++) values[i] = value(c, vr[i]);
    return fmi2OK;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer values[]) {
    REQUIRE(READABLE);
    CHECK(3u);
    const Unit *u = c;
    for (size_t i = 0; i < n; i++) values[i] = vr[i] == 0 ? u->s.n : vr[i] == 1 ? u->s.mode : u->s.hits;
    return fmi2OK;
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean values[]) {
    REQUIRE(READABLE);
    CHECK(1u);
    for (size_t i = 0; i < n; i++) values[i] = ((Unit *)c)->s.flag;
    return fmi2OK;
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String values[]) {
    REQUIRE(READABLE);
    CHECK(1u);
    for (size_t i = 0; i < n; i++) values[i] = ((Unit *)c)->s.label;
    return fmi2OK;
}

static fmi2Status fixed(Unit *c) {
    return c->s.phase & (INSTANTIATED | INITIALIZATION) ? fmi2OK : error(c, "a fixed parameter");
}

static int inside(fmi2ValueReference vr, double value) {
    switch (vr) {
    case K: return value >= 0.1 && value <= 1000;
    case D: return value >= 0;
    case X_START: return value >= -1000 && value <= 1000;
    default: return 1;
    }
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[]) {
    REQUIRE(INSTANTIATED | INITIALIZATION | STEPPING | EVENT_MODE | CONTINUOUS);
    CHECK(REALS);
    Unit *u = c;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i])) return error(c, "not a finite number");
        const int state = vr[i] == X || vr[i] == V;
        if (vr[i] == TIME || (vr[i] >= X && !(state && u->s.phase == CONTINUOUS))) return error(c, "it cannot be set");
        if (vr[i] < U && fixed(c) != fmi2OK) return fmi2Error;
        if (!inside(vr[i], values[i])) return error(c, "out of range");
        if (vr[i] == K) u->s.k = values[i];
        if (vr[i] == D) u->s.d = values[i];
        if (vr[i] == X_START) u->s.x_start = u->s.x = values[i];
        if (vr[i] == U) u->s.u = values[i];
        if (vr[i] == X) u->s.x = values[i];
        if (vr[i] == V) u->s.v = values[i];
    }
    return fmi2OK;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer values[]) {
    REQUIRE(INSTANTIATED | INITIALIZATION | STEPPING | EVENT_MODE);
    CHECK(3u);
    for (size_t i = 0; i < n; i++) {
        if (vr[i] == 2) return error(c, "it cannot be set");
        if (fixed(c) != fmi2OK) return fmi2Error;
        if (vr[i] == 0 ? values[i] < 0 || values[i] > 10 : values[i] < 1 || values[i] > 2)
            return error(c, "out of range");
        if (vr[i] == 0) ((Unit *)c)->s.n = values[i];
        if (vr[i] == 1) ((Unit *)c)->s.mode = values[i];
    }
    return fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean values[]) {
    REQUIRE(INSTANTIATED | INITIALIZATION | STEPPING | EVENT_MODE);
    CHECK(1u);
    if (n && fixed(c) != fmi2OK) return fmi2Error;
    for (size_t i = 0; i < n; i++) ((Unit *)c)->s.flag = values[i];
    return fmi2OK;
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String values[]) {
    REQUIRE(INSTANTIATED | INITIALIZATION | STEPPING | EVENT_MODE);
    CHECK(1u);
    if (n && fixed(c) != fmi2OK) return fmi2Error;
    for (size_t i = 0; i < n; i++) {
        if (!values[i]) return error(c, "no text");
        char *label = ((Unit *)c)->s.label;
        memset(label, 0, TEXT);
        snprintf(label, TEXT, "%s", values[i]);
    }
    return fmi2OK;
}

/* --- FMU state ---------------------------------------------------------------------------------------------------- */

typedef struct Saved {
    struct Saved *next;
    State state;
} Saved;

typedef struct {
    unsigned long long sum;
    State state;
} Bytes;

static Saved *all_saved; /* of all instances, so that a state that was freed is recognized */

static Saved *find(const void *pointer) {
    Saved *saved = all_saved;
    while (saved && saved != pointer) saved = saved->next;
    return saved;
}

static unsigned long long checksum(const State *state) {
    const unsigned char *byte = (const unsigned char *)state;
    unsigned long long sum = 14695981039346656037ull;
    for (size_t i = 0; i < sizeof *state; i++) sum = (sum ^ byte[i]) * 1099511628211ull;
    return sum;
}

static fmi2Status save(Unit *c, const State *state, fmi2FMUstate *place) {
    Saved *saved = *place ? find(*place) : calloc(1, sizeof *saved);
    if (!saved) return error(c, "not a saved state");
    if (!*place) {
        saved->next = all_saved;
        all_saved = saved;
    }
    memcpy(&saved->state, state, sizeof *state);
    *place = saved;
    return fmi2OK;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *saved) {
    REQUIRE(ANY);
    return saved ? save(c, &((Unit *)c)->s, saved) : error(c, "no room for the state");
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
    REQUIRE(ANY);
    const Saved *saved = find(state);
    if (!saved) return error(c, "not a saved state");
    Unit *u = c;
    const double v = u->s.v;
    memcpy(&u->s, &saved->state, sizeof(State));
    if (has("state-lost")) u->s.v = v;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
    REQUIRE(ANY);
    if (!state || !*state) return fmi2OK;
    Saved *saved = find(*state), **place = &all_saved;
    if (!saved) return error(c, "not a saved state");
    while (*place != saved) place = &(*place)->next;
    *place = saved->next;
    free(saved);
    *state = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
    REQUIRE(ANY);
    if (!find(state) || !size) return error(c, "not a saved state");
    *size = sizeof(Bytes);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
    REQUIRE(ANY);
    const Saved *saved = find(state);
    if (!saved || !bytes || size < sizeof(Bytes)) return error(c, "not a saved state, or no room for it");
    Bytes packed;
    packed.sum = checksum(&saved->state);
    memcpy(&packed.state, &saved->state, sizeof(State));
    memcpy(bytes, &packed, sizeof packed);
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
    REQUIRE(ANY);
    Bytes packed;
    if (!bytes || !state || size != sizeof packed) return error(c, "not a serialized state");
    memcpy(&packed, bytes, sizeof packed);
    if (packed.sum != checksum(&packed.state)) return error(c, "not a serialized state");
    return save(c, &packed.state, state);
}

/* --- derivatives -------------------------------------------------------------------------------------------------- */

static double partial(const Unit *c, fmi2ValueReference unknown, fmi2ValueReference known) {
    const int init = c->s.phase == INITIALIZATION;
    const double x = known == X || (init && known == X_START), v = known == V, u = known == U;
    const double k = init && known == K, d = init && known == D;
    switch (unknown) {
    case X: return x;
    case V: return v;
    case DX: return v;
    case DV: return -c->s.k * x - c->s.d * v + u - k * c->s.x - d * c->s.v;
    case Y: return x + 2 * u;
    default: return 0;
    }
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown,
                                        const fmi2ValueReference known[], size_t n_known, const fmi2Real seed[],
                                        fmi2Real derivative[]) {
    REQUIRE(READABLE);
    for (size_t i = 0; i < n_unknown; i++) {
        derivative[i] = 0;
        for (size_t j = 0; j < n_known; j++) {
            if (unknown[i] >= REALS || known[j] >= REALS) return error(c, "there is no such variable");
            derivative[i] += partial(c, unknown[i], known[j]) * seed[j];
        }
    }
    return fmi2OK;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real values[]) {
    (void)vr;
    (void)n;
    (void)order;
    (void)values;
    return c ? error(c, "inputs are not interpolated") : fmi2Error;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real values[]) {
    (void)vr;
    (void)n;
    (void)order;
    (void)values;
    return c ? error(c, "there are no output derivatives") : fmi2Error;
}

/* --- Co-Simulation ------------------------------------------------------------------------------------------------ */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_earlier_state) {
    (void)no_earlier_state;
    if (has("step-state-crash") && c && ((Unit *)c)->s.phase == INSTANTIATED) crash();
    REQUIRE(STEPPING);
    Unit *u = c;
    if (has("step-hang")) hang();
    if (has("step-exit") || (has("stiff-exit") && u->s.k > 100)) exit(0);
    if (has("step-memory")) take_memory();
    if (has("late-crash") && t > 0.5) crash();
    if (has("late-nan") && t > 0.5) u->s.x = NAN;
    if (!isfinite(h) || h <= 0) return error(c, "the step size must be greater than 0");
    if (!(fabs(t - u->s.t) <= 1e-9)) return error(c, "the step does not begin where the last one ended");
    if (t + h > u->s.stop + 1e-9) return error(c, "the step ends after the stop time");
    integrate(u, h);
    u->s.t = t + h;
    return log_message(u, fmi2OK, LOG_ALL, "step");
}

fmi2Status fmi2CancelStep(fmi2Component c) { return c ? error(c, "there is no step to cancel") : fmi2Error; }

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *status) {
    (void)kind;
    REQUIRE(STEPPING | TERMINATED);
    *status = fmi2OK;
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *t) {
    REQUIRE(STEPPING | TERMINATED);
    if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
    *t = ((Unit *)c)->s.t;
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *status) {
    (void)kind;
    (void)status;
    REQUIRE(STEPPING | TERMINATED);
    return fmi2Discard;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *ended) {
    REQUIRE(STEPPING | TERMINATED);
    if (kind != fmi2Terminated) return fmi2Discard;
    *ended = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *status) {
    (void)kind;
    (void)status;
    REQUIRE(STEPPING | TERMINATED);
    return fmi2Discard;
}

/* --- Model Exchange ----------------------------------------------------------------------------------------------- */

fmi2Status fmi2EnterEventMode(fmi2Component c) {
    REQUIRE(EVENT_MODE | CONTINUOUS);
    if (((Unit *)c)->s.t > ((Unit *)c)->s.stop + 1e-9) return error(c, "the event is after the stop time");
    ((Unit *)c)->s.phase = EVENT_MODE;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
    REQUIRE(EVENT_MODE);
    memset(info, 0, sizeof *info);
    count_hits(c);
    return fmi2OK;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
    REQUIRE(EVENT_MODE);
    ((Unit *)c)->s.phase = CONTINUOUS;
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_earlier_state, fmi2Boolean *enter_event_mode,
                                       fmi2Boolean *terminate) {
    (void)no_earlier_state;
    REQUIRE(CONTINUOUS);
    if (((Unit *)c)->s.t > ((Unit *)c)->s.stop + 1e-9) return error(c, "the step ends after the stop time");
    *enter_event_mode = *terminate = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t) {
    REQUIRE(EVENT_MODE | CONTINUOUS);
    ((Unit *)c)->s.t = t;
    return fmi2OK;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n) {
    REQUIRE(CONTINUOUS);
    if (n != 2) return error(c, "there are 2 states");
    ((Unit *)c)->s.x = x[0];
    ((Unit *)c)->s.v = x[1];
    return fmi2OK;
}

static fmi2Status two(Unit *c, fmi2Real values[], size_t n, double first, double second) {
    if (n != 2) return error(c, "there are 2 states");
    values[0] = first;
    values[1] = second;
    return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real dx[], size_t n) {
    REQUIRE(INITIALIZATION | EVENT_MODE | CONTINUOUS | TERMINATED);
    return two(c, dx, n, value(c, DX), value(c, DV));
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
    REQUIRE(INITIALIZATION | EVENT_MODE | CONTINUOUS | TERMINATED);
    return two(c, x, n, value(c, X), value(c, V));
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t n) {
    REQUIRE(ANY);
    return two(c, nominals, n, 1, 1);
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real g[], size_t n) {
    REQUIRE(INITIALIZATION | EVENT_MODE | CONTINUOUS | TERMINATED);
    if (n != 1) return error(c, "there is 1 event indicator");
    g[0] = ((Unit *)c)->s.x + 0.5;
    return fmi2OK;
}
