/* Which call is legal when, and the checks of arguments that need no model. A check that fails logs the reason. */
#ifndef MECHFMU_CALLS_H
#define MECHFMU_CALLS_H

#include "component.h"

typedef struct {
    const char *what;       /* the message for an illegal call */
    unsigned co_simulation; /* the phases in which it is legal */
    unsigned model_exchange;
} Call;

extern const Call CALL_SETUP, CALL_ENTER_INITIALIZATION, CALL_EXIT_INITIALIZATION, CALL_TERMINATE, CALL_RESET,
    CALL_LOGGING, CALL_GET, CALL_SET, CALL_STATE_OF_FMU, CALL_DIRECTIONAL, CALL_STEP, CALL_INPUT_DERIVATIVES,
    CALL_OUTPUT_DERIVATIVES, CALL_ENTER_EVENT, CALL_NEW_DISCRETE, CALL_ENTER_CONTINUOUS, CALL_COMPLETED, CALL_SET_TIME,
    CALL_SET_STATES, CALL_GET_CONTINUOUS, CALL_GET_NOMINALS;

/* `component` is an instance of any kind, or NULL. */
int legal(fmi2Component component, const Call *call);

/* Whether an array of n elements is not a null pointer; it may be one for n = 0. */
int given(fmi2Component component, const void *array, size_t n);

/* What is wrong with the arguments of fmi2Instantiate, or NULL. */
const char *instantiation_error(fmi2String name, fmi2Type type, fmi2String guid,
                                const fmi2CallbackFunctions *callbacks);
extern const char *const WRONG_GUID;

int valid_experiment(fmi2Component component, fmi2Boolean tolerance_defined, double tolerance, double start,
                     fmi2Boolean stop_defined, double stop);
int valid_step(fmi2Component component, double t, double h);
/* Whether t is not past the stop time of the experiment. */
int before_stop(fmi2Component component, double t);

#define REQUIRE(condition) \
    do { \
        if (!(condition)) return fmi2Error; \
    } while (0)

#endif
