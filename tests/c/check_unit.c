/* A small correct FMU for the tests of the checker, with defects that can be switched on.
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

static void crash(void) {
    volatile int *nowhere = NULL;
    *nowhere = 1;
}

static void at_exit(void) { abort(); }

__attribute__((constructor)) static void loaded(void) {
    if (has("load-crash")) crash();
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
    TEXT = 100
};
enum { TIME, K, D, X_START, U, X, V, DX, DV, Y, ONE, REALS };

typedef struct {
    Phase phase;
    double t, k, d, x_start, u, x, v;
    int n, mode, flag, hits, below;
    char label[TEXT];
} State;

typedef struct {
    State s;
    fmi2Type type;
    char *name;
    const char *name_of_host;
    const fmi2CallbackFunctions *callbacks;
    int logging, only_events;
    int discarded;
    char *forgotten;
} Unit;

static int alive, registered; /* shared by all instances, for two of the defects */

static fmi2Status log_message(Unit *c, fmi2Status status, const char *category, const char *text) {
    if (status < fmi2Error && !has("chatty")) {
        if (!c->logging) return status;
        if (c->only_events && strcmp(category, "logEvents") != 0 && !has("categories")) return status;
    }
    const char *name = has("name") ? c->name_of_host : c->name;
    c->callbacks->logger(has("environment") ? NULL : c->callbacks->componentEnvironment, name, status,
                         has("category") ? "logSecrets" : category, text);
    return status;
}

static fmi2Status error(Unit *c, const char *text) { return log_message(c, fmi2Error, "logStatusError", text); }

#define REQUIRE(phases) \
    do { \
        if (!c) return fmi2Error; \
        if (!(((Unit *)c)->s.phase & (Phase)(phases))) return error(c, "not in this state"); \
    } while (0)

/* --- the model ---------------------------------------------------------------------------------------------------- */

static double stiffness(const Unit *c) { return c->s.k * (c->type == fmi2ModelExchange && has("exchange") ? 3 : 1); }

static double acceleration(const Unit *c, double x, double v) { return -stiffness(c) * x - c->s.d * v + c->s.u; }

static double value(const Unit *c, fmi2ValueReference vr) {
    switch (vr) {
    case TIME: return c->s.t - (has("time") && c->s.phase == STEPPING ? 0.01 : 0);
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
    State s = {INSTANTIATED, 0, 4, has("start") ? 0.31 : 0.3, 1, 0, 1, 0, 3, 1, 1, 0, 0, "spring"};
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

const char *fmi2GetTypesPlatform(void) { return has("platform") ? "standard32" : "default"; }
const char *fmi2GetVersion(void) { return has("version") ? "2.1" : "2.0"; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging) {
    (void)resources;
    (void)visible;
    if (strcmp(guid, "{zoo}") != 0 && !has("guid")) {
        if (!has("guid-silent"))
            callbacks->logger(callbacks->componentEnvironment, name, fmi2Error, "logStatusError", "the GUID is wrong");
        return NULL;
    }
    if (has("instantiate")) return NULL;
    if (has("exit-abort") && !registered++) atexit(at_exit);
    alive++;
    Unit *c = calloc(1, sizeof *c);
    c->name = calloc(strlen(name) + 1, 1);
    memcpy(c->name, name, strlen(name));
    c->name_of_host = name;
    c->type = type;
    c->callbacks = callbacks;
    c->logging = logging;
    c->forgotten = has("leak") ? malloc(64) : NULL;
    start(c);
    return c;
}

void fmi2FreeInstance(fmi2Component component) {
    Unit *c = component;
    if (!c) {
        if (has("free-null-instance")) crash();
        return;
    }
    alive--;
    free(c->name);
    free(c);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean logging, size_t n, const fmi2String categories[]) {
    REQUIRE(ANY);
    ((Unit *)c)->logging = logging;
    ((Unit *)c)->only_events = n == 1 && strcmp(categories[0], "logEvents") == 0;
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real t,
                               fmi2Boolean stop_defined, fmi2Real stop) {
    (void)tolerance_defined;
    (void)tolerance;
    (void)stop_defined;
    (void)stop;
    REQUIRE(INSTANTIATED);
    ((Unit *)c)->s.t = t;
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
    if (has("init-crash")) crash();
    u->s.below = u->s.x + 0.5 <= 0;
    u->s.phase = u->type == fmi2CoSimulation ? STEPPING : EVENT_MODE;
    return log_message(u, fmi2OK, "logAll", "initialized");
}

fmi2Status fmi2Terminate(fmi2Component c) {
    REQUIRE(STEPPING | EVENT_MODE | CONTINUOUS);
    ((Unit *)c)->s.phase = TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c) {
    REQUIRE(ANY);
    Unit *u = c;
    if (has("reset-refused") && u->s.phase == TERMINATED) return error(u, "no");
    const double k = u->s.k;
    start(u);
    if (has("reset")) u->s.k = k;
    return fmi2OK;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static int missing(Unit *c, const void *vr, size_t n, const void *values) {
    if (n == 0) return 0;
    if (vr && values) return 0;
    if (has("null")) crash();
    if (has("null-accepted")) return 2;
    error(c, "there is no array");
    return 1;
}

#define CHECK(limit) \
    do { \
        const int lacks = missing(c, vr, n, values); \
        if (lacks) return lacks == 2 ? fmi2OK : fmi2Error; \
        for (size_t i = 0; i < n; i++) \
            if (vr[i] >= (limit)) { \
                if (has("reference-crash") && vr[i] > 1000000) crash(); \
                return has("unknown") ? fmi2OK : error(c, "there is no such variable"); \
            } \
    } while (0)

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[]) {
    REQUIRE(READABLE | (has("get-early") ? INSTANTIATED : 0));
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
    if (c->s.phase & (INSTANTIATED | INITIALIZATION)) return fmi2OK;
    return has("fixed") && c->s.phase != TERMINATED ? fmi2OK : error(c, "a fixed parameter");
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[]) {
    REQUIRE(INSTANTIATED | INITIALIZATION | STEPPING | EVENT_MODE | CONTINUOUS);
    CHECK(REALS);
    Unit *u = c;
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i]) && has("nan-hang")) hang();
        if (!isfinite(values[i])) return error(c, "not a finite number");
        if (vr[i] >= X && vr[i] != Y) return error(c, "it cannot be set");
        if (vr[i] == Y && !has("set-output")) return error(c, "it cannot be set");
        if (vr[i] == TIME) return error(c, "it cannot be set");
        if (vr[i] < U && fixed(c) != fmi2OK) return fmi2Error;
        if (vr[i] == K) u->s.k = values[i];
        if (vr[i] == D) u->s.d = values[i];
        if (vr[i] == X_START) u->s.x_start = u->s.x = values[i];
        if (vr[i] == U) u->s.u = values[i];
    }
    return fmi2OK;
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer values[]) {
    REQUIRE(INSTANTIATED | INITIALIZATION | STEPPING | EVENT_MODE);
    CHECK(3u);
    for (size_t i = 0; i < n; i++) {
        if (vr[i] == 2) return error(c, "it cannot be set");
        if (fixed(c) != fmi2OK) return fmi2Error;
        if (vr[i] == 0) ((Unit *)c)->s.n = values[i];
        if (vr[i] == 1) ((Unit *)c)->s.mode = values[i];
    }
    return fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean values[]) {
    REQUIRE(INSTANTIATED | INITIALIZATION | STEPPING | EVENT_MODE);
    CHECK(1u);
    if (n && fixed(c) != fmi2OK) return fmi2Error;
    for (size_t i = 0; i < n; i++)
        if (!has("forget")) ((Unit *)c)->s.flag = values[i];
    return fmi2OK;
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String values[]) {
    REQUIRE(INSTANTIATED | INITIALIZATION | STEPPING | EVENT_MODE);
    CHECK(1u);
    if (n && fixed(c) != fmi2OK) return fmi2Error;
    for (size_t i = 0; i < n; i++) snprintf(((Unit *)c)->s.label, TEXT, "%s", values[i]);
    return fmi2OK;
}

/* --- FMU state ---------------------------------------------------------------------------------------------------- */

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *saved) {
    REQUIRE(ANY);
    if (has("state-crash")) crash();
    if (has("state-refused")) return error(c, "no");
    if (!*saved) *saved = malloc(sizeof(State));
    memcpy(*saved, &((Unit *)c)->s, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate saved) {
    REQUIRE(ANY);
    if (!saved) return error(c, "no state");
    Unit *u = c;
    const double v = u->s.v;
    memcpy(&u->s, saved, sizeof(State));
    if (has("state-lost")) u->s.v = v;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *saved) {
    REQUIRE(ANY);
    if (!*saved) return has("free-null") ? error(c, "no state") : fmi2OK;
    free(*saved);
    *saved = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate saved, size_t *size) {
    REQUIRE(ANY);
    if (!saved) return error(c, "no state");
    *size = sizeof(State);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate saved, fmi2Byte bytes[], size_t size) {
    REQUIRE(ANY);
    if (!saved || size < sizeof(State)) return error(c, "no state, or no room for it");
    memcpy(bytes, saved, sizeof(State));
    if (has("serialize")) ((State *)(void *)bytes)->x += 0.1;
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *saved) {
    REQUIRE(ANY);
    if (size != sizeof(State)) return error(c, "no state");
    if (!*saved) *saved = malloc(sizeof(State));
    memcpy(*saved, bytes, size);
    return fmi2OK;
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
    case DV:
        return -stiffness(c) * x - c->s.d * v + (has("derivative") ? -u : u) -
               k * c->s.x * (has("exchange") && c->type == fmi2ModelExchange ? 3 : 1) - d * c->s.v;
    case Y: return x + 2 * (has("derivative") ? -u : u);
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
    REQUIRE(STEPPING | (has("step-early") ? INSTANTIATED : 0));
    Unit *u = c;
    if (has("step-hang")) hang();
    if (has("step-exit") || (has("stiff-exit") && u->s.k > 100)) exit(0);
    if (has("step-memory"))
        while (malloc(1 << 24)) {}
    if (has("step-error")) return error(c, "cannot");
    if (has("late-crash") && t > 0.5) crash();
    if (has("late-nan") && t > 0.5) u->s.x = NAN;
    if (isnan(h) || (h <= 0 && !has("h-negative"))) return error(c, "the step size must be greater than 0");
    if (has("freeze") && t != u->s.t) return fmi2OK;
    if (fabs(t - u->s.t) > 1e-9 && !has("gap")) return error(c, "the step does not begin where the last one ended");
    if (has("discard") && h > 0.05) {
        u->discarded = 1;
        return log_message(u, fmi2Discard, "logStatusDiscard", "too long");
    }
    if (has("shared")) u->s.v += 1e-3 * (alive - 1);
    if (has("coarse")) u->s.v += 0.01;
    if (h > 0) integrate(u, h);
    u->s.t = t + h;
    return log_message(u, fmi2OK, "logAll", "step");
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
    if (kind != fmi2LastSuccessfulTime || (has("discard") && ((Unit *)c)->discarded)) return fmi2Discard;
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
    if (has("rates-state-crash") && c && ((Unit *)c)->s.phase == INSTANTIATED) crash();
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
