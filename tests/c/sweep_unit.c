/* A small FMU for the tests of sweeps. The words in its GUID choose what kind of FMU it is; all make one Euler step per
 * call of fmi2DoStep.
 *
 *     x' = mode u - k x,    x(0) = x_start + a term of the kind
 *
 *     fixed         steps of another length than the first one fail
 *     once          a second instance in one process fails
 *     latch         x(0) includes twice the input that was set in initialization mode
 *     experiment    x(0) includes start time, stop time and tolerance
 *     sticky        fmi2Reset and fmi2SetFMUstate leave x as it is, and a new instance begins where the last one ended
 *     grumble       fmi2DoStep logs an error for k > 50, but returns fmi2OK
 *
 * k from 100 on: fmi2DoStep hangs; k from 200 on: it ends the process; k from 300 on: it ends the process with status
 * 0; k < 0: fmi2Error. */
#include "fmi2.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { K = 1, X_START, U, X, MODE, ON };

typedef struct {
    char kind[100];
    double k, x_start, u, x, h, start, stop, tolerance;
    int mode, on;
    const fmi2CallbackFunctions *callbacks;
} Unit;

static double kept;

static int is(const Unit *c, const char *word) { return strstr(c->kind, word) != NULL; }

static void begin(Unit *c) {
    c->k = 1;
    c->x_start = 0;
    c->u = 0;
    c->h = 0;
    c->mode = 1;
    c->on = 1;
}

static int first_in_process(void) { /* also when the library was unloaded in between */
    char here[20];
    const char *before = getenv("SWEEP_UNIT_PROCESS");
    snprintf(here, sizeof here, "%d", (int)getpid());
    if (before && !strcmp(before, here)) return 0;
    setenv("SWEEP_UNIT_PROCESS", here, 1);
    return 1;
}

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging) {
    if (strstr(guid, "once") && !first_in_process()) return NULL;
    Unit *c = calloc(1, sizeof *c);
    strncpy(c->kind, guid, sizeof c->kind - 1);
    c->callbacks = callbacks;
    begin(c);
    return c;
}

void fmi2FreeInstance(fmi2Component p) {
    if (p) kept = ((Unit *)p)->x;
    free(p);
}

fmi2Status fmi2SetupExperiment(fmi2Component p, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop) {
    Unit *c = p;
    c->tolerance = has_tolerance ? tolerance : 0;
    c->start = start;
    c->stop = has_stop ? stop : 0;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component p) { return fmi2OK; }

fmi2Status fmi2ExitInitializationMode(fmi2Component p) {
    Unit *c = p;
    if (!is(c, "sticky")) c->x = 0;
    c->x += c->x_start + (is(c, "sticky") ? kept : 0) + (is(c, "latch") ? 2 * c->u : 0);
    if (is(c, "experiment")) c->x += c->start + 10 * c->stop + 100 * c->tolerance;
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component p) { return fmi2OK; }

fmi2Status fmi2Reset(fmi2Component p) {
    begin(p);
    return fmi2OK;
}

fmi2Status fmi2DoStep(fmi2Component p, fmi2Real t, fmi2Real h, fmi2Boolean no_set_state) {
    Unit *c = p;
    if (c->h == 0) c->h = h;
    if (is(c, "fixed") && fabs(h - c->h) > 1e-9 * c->h) return fmi2Error;
    if (c->k < 0) return fmi2Error;
    if (c->k >= 300) exit(0);
    if (c->k >= 200) abort();
    for (volatile int hanging = c->k >= 100; hanging;) {}
    if (is(c, "grumble") && c->k > 50)
        c->callbacks->logger(c->callbacks->componentEnvironment, "unit", fmi2Error, "logStatusError",
                             "this is not right");
    c->x += h * ((c->on ? c->mode * c->u : 0) - c->k * c->x);
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component p, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
    Unit *c = p;
    for (size_t i = 0; i < n; i++)
        value[i] = vr[i] == K ? c->k : vr[i] == X_START ? c->x_start : vr[i] == U ? c->u : c->x;
    return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component p, const fmi2ValueReference vr[], size_t n, const fmi2Real value[]) {
    Unit *c = p;
    for (size_t i = 0; i < n; i++) *(vr[i] == K ? &c->k : vr[i] == X_START ? &c->x_start : &c->u) = value[i];
    return fmi2OK;
}

fmi2Status fmi2SetInteger(fmi2Component p, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[]) {
    for (size_t i = 0; i < n; i++) ((Unit *)p)->mode = value[i];
    return fmi2OK;
}

fmi2Status fmi2SetBoolean(fmi2Component p, const fmi2ValueReference vr[], size_t n, const fmi2Boolean value[]) {
    for (size_t i = 0; i < n; i++) ((Unit *)p)->on = value[i];
    return fmi2OK;
}

fmi2Status fmi2GetFMUstate(fmi2Component p, fmi2FMUstate *state) {
    *state = malloc(sizeof(Unit));
    memcpy(*state, p, sizeof(Unit));
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component p, fmi2FMUstate state) {
    double x = ((Unit *)p)->x;
    memcpy(p, state, sizeof(Unit));
    if (is(p, "sticky")) ((Unit *)p)->x = x;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component p, fmi2FMUstate *state) {
    free(*state);
    *state = NULL;
    return fmi2OK;
}

/* Not called by the tests, but importers load them. */
fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[]) {
    return fmi2OK;
}
fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[]) {
    return fmi2Error;
}
fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean value[]) {
    return fmi2Error;
}
fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String value[]) {
    return fmi2Error;
}
fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String value[]) {
    return fmi2Error;
}
fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) { return fmi2Error; }
fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
    return fmi2Error;
}
fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
    return fmi2Error;
}
fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference z[], size_t n,
                                        const fmi2ValueReference v[], size_t m, const fmi2Real dv[], fmi2Real dz[]) {
    return fmi2Error;
}
fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer order[], const fmi2Real value[]) {
    return fmi2Error;
}
fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer order[], fmi2Real value[]) {
    return fmi2Error;
}
fmi2Status fmi2CancelStep(fmi2Component c) { return fmi2Error; }
fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value) { return fmi2Error; }
fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value) { return fmi2Error; }
fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value) { return fmi2Error; }
fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value) { return fmi2Error; }
fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value) { return fmi2Error; }
