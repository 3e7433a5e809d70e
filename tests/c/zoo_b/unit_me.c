/* Model Exchange. */
#define _POSIX_C_SOURCE 200809L
#include "tank.h"

#include <math.h>
#include <string.h>

#define SHOWN (INITIALIZING | EVENT | CONTINUOUS | TERMINATED | BROKEN)

static int model_exchange(Unit *u, unsigned modes, const char *what) {
    if (!allowed(u, modes, what)) return 0;
    if (u->type == fmi2ModelExchange) return 1;
    fail(u, "%s is for Model Exchange", what);
    return 0;
}

/* trial evaluations of a solver may lie past the stop time, accepted steps and events may not */
static int past_stop(const Unit *u, double t) {
    return u->core.stop_defined && t > u->core.stop + 1e-9 * (1.0 + fabs(u->core.stop));
}

/* events until nothing changes any more; for the solver inside */
void iterate_events(Unit *u, fmi2EventInfo *info) {
    for (int i = 0; i < 100; i++) {
        memset(info, 0, sizeof *info);
        u->model->evaluate(u);
        u->model->event(u, info);
        if (!info->newDiscreteStatesNeeded) return;
    }
}

EXPORT fmi2Status fmi2EnterEventMode(fmi2Component c) {
    Unit *u = c;
    if (!model_exchange(u, EVENT | CONTINUOUS, "fmi2EnterEventMode")) return fmi2Error;
    if (BUG(event_twice_refused) && u->core.mode == EVENT) return fail(u, "already in event mode");
    if (past_stop(u, *unit_time(u))) return fail(u, "past the stop time");
    u->core.mode = EVENT;
    return fmi2OK;
}

EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
    Unit *u = c;
    Tank *k;
    if (!model_exchange(u, EVENT, "fmi2NewDiscreteStates")) return fmi2Error;
    if (!info) return fail(u, "no place for the event information");
    memset(info, 0, sizeof *info);
    u->model->evaluate(u);
    u->model->event(u, info);
    u->model->evaluate(u);
    k = u->data;
    if (BUG(values_always)) info->valuesOfContinuousStatesChanged = 1;
    if (BUG(values_at_samples) && info->newDiscreteStatesNeeded && k->samples % 5 == 4)
        info->valuesOfContinuousStatesChanged = 1;
    if (BUG(values_never)) info->valuesOfContinuousStatesChanged = 0;
    if (BUG(values_jump) && k->leaking && k->path == 0.0) {
        k->path = 1.0;
        k->r.w *= 0.9;
    }
    if (BUG(nominals_always)) info->nominalsOfContinuousStatesChanged = 1;
    if (BUG(iteration_endless)) info->newDiscreteStatesNeeded = 1;
    if (BUG(iteration_endless_late) && k->leaking) info->newDiscreteStatesNeeded = 1;
    if (BUG(me_stops_at_start)) info->terminateSimulation = 1;
    if (BUG(me_stops_late) && *unit_time(u) > LATE) info->terminateSimulation = 1;
    if ((BUG(stops_late) && *unit_time(u) > LATE) || (BUG(stops_beyond) && *unit_time(u) > 20.5)) {
        info->terminateSimulation = 1;
        say(u, fmi2OK, "logAll", "the tank is worn out, the simulation ends");
    }
    if (BUG(start_event_past) && *unit_time(u) <= u->core.start) info->nextEventTime = u->core.start - 1.0;
    return fmi2OK;
}

EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
    Unit *u = c;
    if (!model_exchange(u, EVENT, "fmi2EnterContinuousTimeMode")) return fmi2Error;
    u->core.mode = CONTINUOUS;
    if (u->model == &TANK) ((Tank *)u->data)->cached = 0;
    return fmi2OK;
}

EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_prior, fmi2Boolean *enter,
                                              fmi2Boolean *terminate) {
    Unit *u = c;
    fmi2Status status;
    (void)no_prior;
    if (!model_exchange(u, CONTINUOUS, "fmi2CompletedIntegratorStep")) return fmi2Error;
    if (!enter || !terminate) return fail(u, "no place for the answer");
    if (past_stop(u, *unit_time(u))) return fail(u, "past the stop time");
    *enter = 0;
    *terminate = 0;
    u->core.steps++;
    life_on_step(u);
    if (life_status(u, &status)) return status;
    if (BUG(completed_drifts) || BUG(completed_hidden)) ((Tank *)u->data)->r.w += 1e-3;
    if (BUG(completed_counts)) ((Tank *)u->data)->pulses++;
    if (BUG(completed_terminates) && *unit_time(u) > LATE) *terminate = 1;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
    Unit *u = c;
    int discrete = u && u->model->nx == 0;
    if (!model_exchange(u, CONTINUOUS | (discrete ? EVENT : 0), "fmi2SetTime")) return fmi2Error;
    if (!isfinite(time)) return fail(u, "the time is not a number");
    if (BUG(settime_back_refused) && time < *unit_time(u)) return fail(u, "time runs forward");
    if (BUG(settime_accumulates) && time < *unit_time(u)) ((Tank *)u->data)->path += *unit_time(u) - time;
    *unit_time(u) = time;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component c, const double x[], size_t nx) {
    Unit *u = c;
    if (!model_exchange(u, CONTINUOUS, "fmi2SetContinuousStates")) return fmi2Error;
    if (nx != u->model->nx || (nx && !x)) return fail(u, "there are %d states", (int)u->model->nx);
    for (size_t i = 0; i < nx; i++) {
        if (!isfinite(x[i])) return fail(u, "state %d is not a number", (int)i);
        if (BUG(set_states_skips_last) && i == nx - 1) continue;
        *real_at(u, u->model->states[BUG(states_reversed) ? nx - 1 - i : i]) = x[i];
    }
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component c, double x[], size_t nx) {
    Unit *u = c;
    if (!model_exchange(u, SHOWN, "fmi2GetContinuousStates")) return fmi2Error;
    if (nx != u->model->nx || (nx && !x)) return fail(u, "there are %d states", (int)u->model->nx);
    refresh(u);
    for (size_t i = 0; i < nx; i++) x[i] = *real_at(u, u->model->states[BUG(states_reversed) ? nx - 1 - i : i]);
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetDerivatives(fmi2Component c, double x[], size_t nx) {
    Unit *u = c;
    if (!model_exchange(u, SHOWN, "fmi2GetDerivatives")) return fmi2Error;
    if (BUG(derivatives_init_refused) && u->core.mode == INITIALIZING) return fail(u, "not initialized yet");
    if (nx != u->model->nx || (nx && !x)) return fail(u, "there are %d states", (int)u->model->nx);
    refresh(u);
    for (size_t i = 0; i < nx; i++) x[i] = *real_at(u, u->model->derivatives[i]);
    if (BUG(states_reversed))
        for (size_t i = 0; i < nx; i++) x[i] = *real_at(u, u->model->derivatives[nx - 1 - i]);
    if (BUG(derivatives_swapped)) {
        x[0] = *real_at(u, u->model->derivatives[1]);
        x[1] = *real_at(u, u->model->derivatives[0]);
    }
    if (BUG(residual)) {
        static int calls;
        for (size_t i = 0; i < nx; i++) x[i] += 1e-40 * ++calls;
    }
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component c, double z[], size_t nz) {
    Unit *u = c;
    if (!model_exchange(u, SHOWN, "fmi2GetEventIndicators")) return fmi2Error;
    if (BUG(indicators_init_refused) && u->core.mode == INITIALIZING) return fail(u, "not initialized yet");
    if (nz != u->model->nz || (nz && !z)) return fail(u, "there are %d event indicators", (int)u->model->nz);
    refresh(u);
    if (nz) u->model->indicators(u, z);
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, double x[], size_t nx) {
    Unit *u = c;
    if (!model_exchange(u, INSTANTIATED | SHOWN, "fmi2GetNominalsOfContinuousStates")) return fmi2Error;
    if (BUG(nominals_early_refused) && u->core.mode == INSTANTIATED) return fail(u, "not initialized yet");
    if (nx != u->model->nx || (nx && !x)) return fail(u, "there are %d states", (int)u->model->nx);
    if (u->model->nominals)
        u->model->nominals(u, x);
    else
        for (size_t i = 0; i < nx; i++) x[i] = 1.0;
    return fmi2OK;
}
