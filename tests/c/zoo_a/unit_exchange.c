/* Model Exchange. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>

#include "defect.h"
#include "unit.h"

/* The position of state k in the vectors: swapped by some of the defects. */
static int state_at(int k) {
    static const int SWAPPED[STATES] = {X_ROOM, X_HEATER, X_ENERGY};
    return SWAPPED[k];
}

static int exchange(Unit *u, int phases, Text what) {
    if (!legal(u, phases, what)) return 0;
    if (u->kind == MODEL_EXCHANGE || IS("r1_no_checks")) return 1;
    refuse(u, "the instance is for Co-Simulation");
    return 0;
}

static int vector(Unit *u, const void *x, size_t n, size_t expected) {
    if (n == expected && (x || !n)) return 1;
    refuse(u, "a vector of another length");
    return 0;
}

Status fmi2EnterEventMode(void *c) {
    Unit *u = c;
    int phases = EVENT | CONTINUOUS;
    if (IS("d3_no_event_mode_twice")) phases &= ~EVENT;
    if (!exchange(u, phases, "fmi2EnterEventMode")) return FAILED;
    u->m.p.phase = EVENT;
    u->m.p.last_point = u->m.p.r[TIME];
    evaluate(u);
    return OK;
}

Status fmi2NewDiscreteStates(void *c, EventInfo *info) {
    Unit *u = c;
    if (u && IS("r1_event_iteration_crashes") && u->m.p.phase == CONTINUOUS) abort();
    if (!exchange(u, EVENT, "fmi2NewDiscreteStates")) return FAILED;
    if (!info) return refuse(u, "a null pointer");
    Plain *p = &u->m.p;
    double t = p->r[TIME];
    info->new_discrete_states_needed = update_discrete(u, info);
    if (!IS("d14_next_time_untouched")) info->next_time_defined = 1;
    info->next_time = p->next_event;
    if (IS("d14_never_ends")) info->new_discrete_states_needed = 1;
    if (IS("d14_never_ends_late") && p->serviced) info->new_discrete_states_needed = 1;
    if (IS("d14_next_time_in_past") && t > 0) info->next_time = t - 0.5;
    if (IS("d14_next_time_is_now") && t > 0) info->next_time = t;
    if (IS("d14_next_time_nan") && p->serviced) info->next_time = NAN;
    if (IS("d14_next_time_too_late")) info->next_time += 0.4;
    if (IS("d14_values_always_changed")) info->values_changed = 1;
    if (IS("d14_values_never_changed")) info->values_changed = 0;
    if (IS("d14_nominals_always_changed")) info->nominals_changed = 1;
    if (IS("d14_nominals_never_changed")) info->nominals_changed = 0;
    if (IS("c_terminates_me") && t > 46) info->terminate_simulation = 1;
    if (IS("d14_terminate_untouched")) info->terminate_simulation = 77;
    if (IS("c_terminates_itself") && t > 75) info->terminate_simulation = 1;
    if (info->terminate_simulation == 1) say(u, OK, LOG_EVENTS, "the unit wants to stop: the fuse has blown");
    return OK;
}

Status fmi2EnterContinuousTimeMode(void *c) {
    Unit *u = c;
    if (!exchange(u, EVENT, "fmi2EnterContinuousTimeMode")) return FAILED;
    u->m.p.phase = CONTINUOUS;
    u->cache_valid = 0;
    u->m.p.last_point = u->m.p.r[TIME];
    if (IS("d14_state_jumps_on_enter") && u->m.p.r[TIME] > 1) u->m.p.r[X_ROOM] += 0.05;
    return OK;
}

Status fmi2CompletedIntegratorStep(void *c, int no_set_prior, int *enter_event_mode, int *terminate) {
    Unit *u = c;
    (void)no_set_prior;
    if (!exchange(u, CONTINUOUS, "fmi2CompletedIntegratorStep")) return FAILED;
    if (!enter_event_mode || !terminate) return refuse(u, "a null pointer");
    Plain *p = &u->m.p;
    if (p->stop_defined && p->r[TIME] > p->stop + 1e-9 * fmax(1, fabs(p->stop)) && !IS("d5_past_stop_time_me"))
        return refuse(u, "past the stop time"); /* a solver may try times beyond it, but not accept them */
    *enter_event_mode = 0;
    *terminate = 0;
    p->last_point = p->r[TIME];
    waste_resources(u);
    if (IS("d14_completed_moves_states")) p->r[X_ROOM] += 1e-3;
    if (IS("d14_completed_untouched")) *enter_event_mode = 77;
    if (IS("d14_completed_always_event")) *enter_event_mode = 1;
    if (IS("c_terminates_step") && p->r[TIME] > 46) {
        say(u, OK, LOG_EVENTS, "the unit wants to stop");
        *terminate = 1;
    }
    return OK;
}

Status fmi2SetTime(void *c, double time) {
    Unit *u = c;
    if (!exchange(u, CONTINUOUS, "fmi2SetTime")) return FAILED;
    Plain *p = &u->m.p;
    if (!isfinite(time)) return refuse(u, "not a finite time");
    if (IS("d14_no_way_back") && time < p->r[TIME]) return refuse(u, "back in time");
    if (time != p->r[TIME]) u->cache_valid = 0;
    p->r[TIME] = time;
    return OK;
}

Status fmi2SetContinuousStates(void *c, const double x[], size_t n) {
    Unit *u = c;
    if (!exchange(u, CONTINUOUS, "fmi2SetContinuousStates") || !vector(u, x, n, STATES)) return FAILED;
    for (int k = 0; k < STATES; k++)
        if (!isfinite(x[k])) {
            say(u, DISCARD, LOG_DISCARD, "a state is not finite");
            return DISCARD;
        }
    int swap = IS("d14_order_of_states") || IS("d14_order_when_set");
    for (int k = 0; k < STATES; k++) u->m.p.r[swap ? state_at(k) : STATE_REF[k]] = x[k];
    if (IS("d14_states_not_set_late") && u->m.p.r[TIME] > 46) u->m.p.r[X_ENERGY] = x[2] * 0.999;
    return OK;
}

Status fmi2GetContinuousStates(void *c, double x[], size_t n) {
    Unit *u = c;
    if (!exchange(u, READABLE, "fmi2GetContinuousStates") || !vector(u, x, n, STATES)) return FAILED;
    if (u->m.p.phase == INITIALIZING) evaluate(u);
    int swap = IS("d14_order_of_states") || IS("d14_order_when_read");
    for (int k = 0; k < STATES; k++) x[k] = u->m.p.r[swap ? state_at(k) : STATE_REF[k]];
    return OK;
}

Status fmi2GetDerivatives(void *c, double dx[], size_t n) {
    Unit *u = c;
    int phases = READABLE;
    if (IS("d3_no_rates_initializing")) phases &= ~INITIALIZING;
    if (!exchange(u, phases, "fmi2GetDerivatives") || !vector(u, dx, n, STATES)) return FAILED;
    Plain *p = &u->m.p;
    note_evaluation(u);
    if (IS("d13_error_late_me") && p->r[TIME] > 46) return refuse(u, "the table of the boiler ends here");
    if (IS("d13_hang_late_me") && p->r[TIME] > 46)
        for (volatile int forever = 1; forever;) {}
    evaluate(u);
    for (int k = 0; k < STATES; k++) dx[k] = p->r[DERIVATIVE_REF[k]];
    if (IS("d14_order_of_states") || IS("d14_order_of_derivatives")) dx[0] = p->r[D_ROOM], dx[1] = p->r[D_HEATER];
    if (IS("d14_stale_derivative") && p->phase == CONTINUOUS) { /* only a new time makes it compute again */
        memcpy(u->cache_valid ? dx : u->cached, u->cache_valid ? u->cached : dx, sizeof u->cached);
        u->cache_valid = 1;
    }
    return OK;
}

Status fmi2GetEventIndicators(void *c, double z[], size_t n) {
    Unit *u = c;
    int phases = READABLE;
    if (IS("d3_no_indicators_initializing")) phases &= ~INITIALIZING;
    if (IS("d3_no_indicators_terminated")) phases &= ~DONE;
    if (!exchange(u, phases, "fmi2GetEventIndicators") || !vector(u, z, n, INDICATORS)) return FAILED;
    Plain *p = &u->m.p;
    evaluate(u);
    indicators(p, z);
    if (IS("d14_indicator_nan_late") && p->r[TIME] > 46) z[1] = NAN;
    if (IS("d14_indicator_never_crosses")) z[0] = fabs(z[0]) + 0.01;
    if (IS("d14_indicator_flat")) z[0] = p->b[RELAY] ? 1 : -1;
    if (IS("d14_indicator_zero_after_event") && p->b[RELAY] && p->r[TIME] == p->last_point) z[0] = 0;
    if (IS("d14_alarm_without_indicator")) z[1] = 1;
    if (IS("d14_indicator_moves") && p->phase == CONTINUOUS) z[1] = -1 - 0.1 * (p->evaluations++ % 7);
    return OK;
}

Status fmi2GetNominalsOfContinuousStates(void *c, double x[], size_t n) {
    Unit *u = c;
    int phases = ANY;
    if (IS("d3_no_nominals_instantiated")) phases &= ~INSTANTIATED;
    if (!exchange(u, phases, "fmi2GetNominalsOfContinuousStates") || !vector(u, x, n, STATES)) return FAILED;
    x[0] = 40;
    x[1] = 20;
    x[2] = u->m.p.energy_nominal;
    if (IS("d14_nominal_zero")) x[2] = 0;
    if (IS("d14_nominal_negative")) x[0] = -40;
    if (IS("d14_nominal_nan")) x[1] = NAN;
    return OK;
}
