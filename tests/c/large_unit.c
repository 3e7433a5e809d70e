/* An FMU with as many variables as one likes, for the tests of the checker:
 *
 *     y[i] = 2 k[i]  for COUNT parameters or inputs k,        x[j]' = k[j] - x[j]  for STATES states x
 *
 * Co-Simulation and Model Exchange, FMU states, directional derivatives. -DCOUPLED: the last y depends on k[0] too. */
#include "fmi2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K = 0, Y = COUNT, X = 2 * COUNT, DX = X + STATES, REALS = DX + STATES };
#ifdef COUPLED
#define COUPLING 1.0
#else
#define COUPLING 0.0
#endif

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
    KNOWN_SETTABLE = INPUTS ? INSTANTIATED | INITIALIZATION | STEPPING | EVENT_MODE | CONTINUOUS
                            : INSTANTIATED | INITIALIZATION
};

typedef struct {
    Phase phase;
    double t, stop, k[COUNT], x[STATES];
} State;

typedef struct {
    State s;
    fmi2Type type;
    char *name;
    fmi2CallbackFunctions callbacks;
} Unit;

static fmi2Status error(Unit *c, const char *text) {
    c->callbacks.logger(c->callbacks.componentEnvironment, c->name, fmi2Error, "logStatusError", text);
    return fmi2Error;
}

#define REQUIRE(phases) \
    do { \
        if (!c) return fmi2Error; \
        if (!(((Unit *)c)->s.phase & (Phase)(phases))) return error(c, "not in this state"); \
    } while (0)

static double output(const double *k, size_t i) { return 2 * k[i] + (i == COUNT - 1 ? COUPLING * k[0] : 0); }

static double value(const Unit *c, fmi2ValueReference vr) {
    if (vr < Y) return c->s.k[vr];
    if (vr < X) return output(c->s.k, vr - Y);
    return vr < DX ? c->s.x[vr - X] : c->s.k[vr - DX] - c->s.x[vr - DX];
}

static void start(Unit *c) {
    memset(&c->s, 0, sizeof c->s);
    c->s.phase = INSTANTIATED;
    for (size_t i = 0; i < COUNT; i++) c->s.k[i] = 1;
}

/* --- lifecycle ---------------------------------------------------------------------------------------------------- */

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging) {
    (void)resources;
    (void)visible;
    (void)logging;
    if (!name || !guid || !callbacks || !callbacks->logger) return NULL;
    if (strcmp(guid, "{large}") != 0) {
        callbacks->logger(callbacks->componentEnvironment, name, fmi2Error, "logStatusError", "the GUID is wrong");
        return NULL;
    }
    Unit *c = calloc(1, sizeof *c);
    c->name = calloc(strlen(name) + 1, 1);
    memcpy(c->name, name, strlen(name));
    c->type = type;
    c->callbacks = *callbacks;
    start(c);
    return c;
}

void fmi2FreeInstance(fmi2Component component) {
    Unit *c = component;
    if (c) free(c->name);
    free(c);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean logging, size_t n, const fmi2String categories[]) {
    (void)logging;
    (void)n;
    (void)categories;
    REQUIRE(ANY);
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real t,
                               fmi2Boolean stop_defined, fmi2Real stop) {
    (void)tolerance_defined;
    (void)tolerance;
    REQUIRE(INSTANTIATED);
    ((Unit *)c)->s.t = t;
    ((Unit *)c)->s.stop = stop_defined ? stop : INFINITY;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    REQUIRE(INSTANTIATED);
    ((Unit *)c)->s.phase = INITIALIZATION;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    REQUIRE(INITIALIZATION);
    Unit *u = c;
    u->s.phase = u->type == fmi2CoSimulation ? STEPPING : EVENT_MODE;
    return fmi2OK;
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

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[]) {
    REQUIRE(READABLE);
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= REALS) return error(c, "there is no such variable");
        values[i] = value(c, vr[i]);
    }
    return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[]) {
    REQUIRE(ANY);
    Unit *u = c;
    for (size_t i = 0; i < n; i++) {
        const int known = vr[i] < Y && (u->s.phase & (Phase)KNOWN_SETTABLE);
        const int state =
            vr[i] >= X && vr[i] < DX && (u->s.phase & (Phase)(INSTANTIATED | INITIALIZATION | CONTINUOUS));
        if (!known && !state) return error(c, "it cannot be set");
        if (!isfinite(values[i])) return error(c, "not a finite number");
        *(known ? &u->s.k[vr[i]] : &u->s.x[vr[i] - X]) = values[i];
    }
    return fmi2OK;
}

#define NO_VALUES(action, type, constant) \
    fmi2Status fmi2##action##type(fmi2Component c, const fmi2ValueReference vr[], size_t n, \
                                  constant fmi2##type values[]) { \
        (void)vr; \
        (void)values; \
        REQUIRE(ANY); \
        return n ? error(c, "there is no such variable") : fmi2OK; \
    }
NO_VALUES(Get, Integer, )
NO_VALUES(Get, Boolean, )
NO_VALUES(Get, String, )
NO_VALUES(Set, Integer, const)
NO_VALUES(Set, Boolean, const)
NO_VALUES(Set, String, const)

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown,
                                        const fmi2ValueReference known[], size_t n_known, const fmi2Real seed[],
                                        fmi2Real derivative[]) {
    REQUIRE(READABLE);
    double *direction = calloc(REALS, sizeof *direction);
    for (size_t i = 0; i < n_known; i++)
        if (known[i] < REALS) direction[known[i]] += seed[i];
    for (size_t i = 0; i < n_unknown; i++) {
        const fmi2ValueReference vr = unknown[i];
        if (vr < Y || (vr >= X && vr < DX))
            derivative[i] = direction[vr];
        else
            derivative[i] = vr < X ? output(direction, vr - Y) : direction[vr - DX] - direction[vr - STATES];
    }
    free(direction);
    return fmi2OK;
}

/* --- FMU state ---------------------------------------------------------------------------------------------------- */

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
    REQUIRE(ANY);
    if (!*state) *state = calloc(1, sizeof(State));
    memcpy(*state, &((Unit *)c)->s, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
    REQUIRE(ANY);
    memcpy(&((Unit *)c)->s, state, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
    REQUIRE(ANY);
    free(*state);
    *state = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
    (void)state;
    REQUIRE(ANY);
    *size = sizeof(State);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
    REQUIRE(ANY);
    if (size < sizeof(State)) return error(c, "no room for the state");
    memcpy(bytes, state, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
    REQUIRE(ANY);
    if (size != sizeof(State)) return error(c, "not a serialized state");
    *state = calloc(1, sizeof(State));
    memcpy(*state, bytes, sizeof(State));
    return fmi2OK;
}

/* --- Co-Simulation ------------------------------------------------------------------------------------------------ */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_earlier_state) {
    (void)no_earlier_state;
    REQUIRE(STEPPING);
    Unit *u = c;
    if (!isfinite(h) || h <= 0) return error(c, "the step size must be greater than 0");
    for (size_t j = 0; j < STATES; j++) u->s.x[j] = u->s.k[j] + (u->s.x[j] - u->s.k[j]) * exp(-h);
    if (t + h > u->s.stop + 1e-9) return error(c, "the step ends after the stop time");
    u->s.t = t + h;
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

fmi2Status fmi2CancelStep(fmi2Component c) { return c ? error(c, "there is no step to cancel") : fmi2Error; }

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *t) {
    REQUIRE(STEPPING | TERMINATED);
    if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
    *t = ((Unit *)c)->s.t;
    return fmi2OK;
}

#define NO_STATUS(name, type) \
    fmi2Status fmi2Get##name(fmi2Component c, const fmi2StatusKind kind, type *value) { \
        (void)kind; \
        (void)value; \
        REQUIRE(STEPPING | TERMINATED); \
        return fmi2Discard; \
    }
NO_STATUS(Status, fmi2Status)
NO_STATUS(IntegerStatus, fmi2Integer)
NO_STATUS(BooleanStatus, fmi2Boolean)
NO_STATUS(StringStatus, fmi2String)

/* --- Model Exchange ----------------------------------------------------------------------------------------------- */

fmi2Status fmi2EnterEventMode(fmi2Component c) {
    REQUIRE(EVENT_MODE | CONTINUOUS);
    ((Unit *)c)->s.phase = EVENT_MODE;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
    REQUIRE(EVENT_MODE);
    memset(info, 0, sizeof *info);
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

static fmi2Status vector(Unit *c, fmi2Real values[], size_t n, fmi2ValueReference first) {
    if (n != STATES) return error(c, "another number of states");
    for (size_t j = 0; j < n; j++) values[j] = value(c, first + (fmi2ValueReference)j);
    return fmi2OK;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n) {
    REQUIRE(CONTINUOUS);
    if (n != STATES) return error(c, "another number of states");
    memcpy(((Unit *)c)->s.x, x, n * sizeof *x);
    return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real dx[], size_t n) {
    REQUIRE(READABLE);
    return vector(c, dx, n, DX);
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
    REQUIRE(READABLE);
    return vector(c, x, n, X);
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t n) {
    REQUIRE(ANY);
    for (size_t j = 0; j < n; j++) nominals[j] = 1;
    return fmi2OK;
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real g[], size_t n) {
    (void)g;
    REQUIRE(READABLE);
    return n ? error(c, "there are no event indicators") : fmi2OK;
}
