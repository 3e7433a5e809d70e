#include "calls.h"

#include "event_limits.h"
#include "messages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNNING (STEPPING | EVENT_MODE | CONTINUOUS)
#define ANY (INSTANTIATED | INITIALIZING | RUNNING | TERMINATED)
#define READABLE (INITIALIZING | RUNNING | TERMINATED)

const Call CALL_SETUP = {"the experiment cannot be set up", INSTANTIATED, INSTANTIATED};
const Call CALL_ENTER_INITIALIZATION = {"initialization cannot begin", INSTANTIATED, INSTANTIATED};
const Call CALL_EXIT_INITIALIZATION = {"initialization cannot end", INITIALIZING, INITIALIZING};
const Call CALL_TERMINATE = {"the instance cannot be terminated", STEPPING, EVENT_MODE | CONTINUOUS};
const Call CALL_RESET = {"the instance cannot be reset", ANY, ANY};
const Call CALL_LOGGING = {"logging cannot be changed", ANY, ANY};
const Call CALL_GET = {"values cannot be read", READABLE, READABLE};
const Call CALL_SET = {"values cannot be set", INSTANTIATED | INITIALIZING | STEPPING,
                       INSTANTIATED | INITIALIZING | EVENT_MODE | CONTINUOUS};
const Call CALL_STATE_OF_FMU = {"the FMU state cannot be used", ANY, ANY};
const Call CALL_DIRECTIONAL = {"directional derivatives cannot be computed", READABLE, READABLE};
const Call CALL_STEP = {"a step cannot be made", STEPPING, 0};
const Call CALL_INPUT_DERIVATIVES = {"input derivatives cannot be set", INSTANTIATED | INITIALIZING | STEPPING, 0};
const Call CALL_OUTPUT_DERIVATIVES = {"output derivatives cannot be read", STEPPING | TERMINATED, 0};
const Call CALL_ENTER_EVENT = {"event mode cannot be entered", 0, EVENT_MODE | CONTINUOUS};
const Call CALL_NEW_DISCRETE = {"discrete states cannot be updated", 0, EVENT_MODE};
const Call CALL_ENTER_CONTINUOUS = {"continuous-time mode cannot be entered", 0, EVENT_MODE};
const Call CALL_COMPLETED = {"a step cannot be completed", 0, CONTINUOUS};
const Call CALL_SET_TIME = {"the time cannot be set", 0, EVENT_MODE | CONTINUOUS};
const Call CALL_SET_STATES = {"the states cannot be set", 0,
                              EVENT_MODE | CONTINUOUS}; /* OpenModelica does so in event mode */
const Call CALL_GET_CONTINUOUS = {"continuous quantities cannot be read", 0,
                                  INITIALIZING | EVENT_MODE | CONTINUOUS | TERMINATED};
const Call CALL_GET_NOMINALS = {"nominal values cannot be read", 0, ANY};
static const Call CANCEL = {"there is no step to cancel", 0, 0};
static const Call STATUS = {"there is no status", STEPPING | TERMINATED, 0};

int component_init(Component *self, const char *name, fmi2Type type, const fmi2CallbackFunctions *callbacks,
                   fmi2Boolean logging, int *phase, double *t, double *stop_time) {
    self->name = calloc(strlen(name) + 1, 1);
    if (!self->name) return 0;
    memcpy(self->name, name, strlen(name));
    self->type = type;
    self->callbacks = *callbacks;
    self->categories = logging ? 1u << LOG_ALL : 0;
    self->phase = phase;
    self->t = t;
    self->stop_time = stop_time;
    self->wants_to_stop = 0;
    return 1;
}

void component_release(Component *self) { free(self->name); }

static const char *phase_name(int phase) {
    switch (phase) {
    case INSTANTIATED: return "instantiated";
    case INITIALIZING: return "in initialization";
    case STEPPING: return "stepping";
    case EVENT_MODE: return "in event mode";
    case CONTINUOUS: return "in continuous-time mode";
    default: return "terminated";
    }
}

int legal(fmi2Component component, const Call *call) {
    const Component *self = component;
    if (!self) return 0;
    if ((self->type == fmi2CoSimulation ? call->co_simulation : call->model_exchange) & (unsigned)*self->phase)
        return 1;
    report(self, fmi2Error, "%s: the instance is %s", call->what, phase_name(*self->phase));
    return 0;
}

int given(fmi2Component component, const void *array, size_t n) {
    if (array || n == 0) return 1;
    report(component, fmi2Error, "%lu values, but no array of them (a null pointer)", (unsigned long)n);
    return 0;
}

const char *const WRONG_GUID =
    "the GUID is not that of this FMU: modelDescription.xml and binary do not belong together";

const char *instantiation_error(fmi2String name, fmi2Type type, fmi2String guid,
                                const fmi2CallbackFunctions *callbacks) {
    if (!callbacks || !callbacks->logger) return "there is no logger";
    if (!name || !*name) return "the instance has no name";
    if (!guid) return "the GUID is missing";
    if (type != fmi2CoSimulation && type != fmi2ModelExchange)
        return "the FMU type is neither Co-Simulation nor Model Exchange";
    return NULL;
}

int valid_experiment(fmi2Component self, fmi2Boolean tolerance_defined, double tolerance, double start,
                     fmi2Boolean stop_defined, double stop) {
    if (!isfinite(start))
        report(self, fmi2Error, "start time %s: must be a finite number", number(start).text);
    else if (tolerance_defined && !(tolerance > 0 && isfinite(tolerance)))
        report(self, fmi2Error, "tolerance %s: must be greater than 0", number(tolerance).text);
    else if (stop_defined && !(stop >= start))
        report(self, fmi2Error, "stop time %s: must not be before the start time", number(stop).text);
    else
        return 1;
    return 0;
}

int before_stop(fmi2Component component, double t) {
    const double stop = *((const Component *)component)->stop_time;
    if (!(t > stop + TIME_TOLERANCE * fmax(1, fabs(stop)))) return 1;
    report(component, fmi2Error, "step to t = %s: the stop time of the experiment is %s", number(t).text,
           number(stop).text);
    return 0;
}

int valid_step(fmi2Component component, double t, double h) {
    const double now = *((const Component *)component)->t;
    if (!isfinite(t) || !isfinite(h) || h <= 0)
        report(component, fmi2Error, "step of size %s at t = %s: the size must be greater than 0", number(h).text,
               number(t).text);
    else if (fabs(t - now) > TIME_TOLERANCE * fmax(1, fabs(now)))
        report(component, fmi2Error, "step from t = %s: the simulation is at t = %s", number(t).text, number(now).text);
    else
        return before_stop(component, t + h);
    return 0;
}

/* --- FMI functions that are the same for every model -------------------------------------------------------------- */

const char *fmi2GetTypesPlatform(void) { return "default"; }

const char *fmi2GetVersion(void) { return "2.0"; }

fmi2Status fmi2CancelStep(fmi2Component c) {
    REQUIRE(legal(c, &CANCEL));
    return fmi2Error;
}

static fmi2Status no_such_status(fmi2Component c) {
    return report(c, fmi2Discard, "this status is not available: steps are never pending");
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind s, fmi2Status *value) {
    REQUIRE(legal(c, &STATUS) && given(c, value, 1));
    if (s != fmi2DoStepStatus) return no_such_status(c);
    *value = fmi2OK;
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind s, fmi2Real *value) {
    REQUIRE(legal(c, &STATUS) && given(c, value, 1));
    if (s != fmi2LastSuccessfulTime) return no_such_status(c);
    *value = *((const Component *)c)->t;
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind s, fmi2Integer *value) {
    (void)s;
    REQUIRE(legal(c, &STATUS) && given(c, value, 1));
    return no_such_status(c);
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind s, fmi2Boolean *value) {
    REQUIRE(legal(c, &STATUS) && given(c, value, 1));
    if (s != fmi2Terminated) return no_such_status(c);
    *value = ((const Component *)c)->wants_to_stop ? fmi2True : fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind s, fmi2String *value) {
    (void)s;
    REQUIRE(legal(c, &STATUS) && given(c, value, 1));
    return no_such_status(c);
}
