/* Co-Simulation: steps, their status, derivatives of inputs and outputs. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "defect.h"
#include "pin.h"
#include "unit.h"

static int asynchronous(void) {
    return IS("c_pending") || IS("c_pending_now_and_then") || IS("d5_pending_undeclared") || IS("d5_pending_forever") ||
           IS("d5_pending_without_callback") || IS("d5_pending_lost_status");
}

static int slave(Unit *u, int phases, Text what) {
    if (!legal(u, phases, what)) return 0;
    if (u->kind == CO_SIMULATION || IS("r1_no_checks")) return 1;
    refuse(u, "the instance is for Model Exchange");
    return 0;
}

static double close_to(double t) { return 1e-9 * fmax(1, fabs(t)); }

static void finish(Unit *u, Status status) {
    Plain *p = &u->m.p;
    p->phase = status == OK ? COMPLETE : STEP_FAILED;
}

static void *work(void *argument) {
    Unit *u = argument;
    int slow = IS("c_pending") ? 2000000 : 200000;
    nanosleep(&(struct timespec){0, slow}, NULL);
    u->m.p.phase = COMPLETE; /* the equations of this thread; the table says IN_PROGRESS until worker_done */
    Status status = compute_step(u, u->point, u->size);
    u->worker_status = status;
    while (IS("d5_pending_forever") && !u->cancel) nanosleep(&(struct timespec){0, 10000000}, NULL);
    u->worker_done = 1;
    if (u->call.step_finished && !IS("d5_pending_without_callback")) u->call.step_finished(u->call.environment, status);
    return NULL;
}

/* Waits for the worker when it has finished. */
int collected(Unit *u) {
    if (!u->working) return 1;
    if (!u->worker_done) return 0;
    if (pthread_equal(pthread_self(), u->worker))
        pthread_detach(u->worker);
    else
        pthread_join(u->worker, NULL);
    u->working = 0;
    finish(u, u->worker_status);
    return 1;
}

static Status start_worker(Unit *u, double point, double size) {
    u->point = point;
    u->size = size;
    u->worker_done = u->cancel = 0;
    u->m.p.phase = IN_PROGRESS;
    if (pthread_create(&u->worker, NULL, work, u)) {
        u->m.p.phase = COMPLETE;
        return refuse(u, "no thread");
    }
    u->working = 1;
    return PENDING;
}

static Status stopped(Unit *u, double last, int terminated) {
    u->m.p.wants_to_stop = terminated;
    u->m.p.last_good = last;
    u->m.p.phase = STEP_FAILED;
    say(u, DISCARD, LOG_DISCARD, terminated ? "the unit wants to stop: the fuse has blown" : "the step is too long");
    return DISCARD;
}

/* Steps that end early, by defect or variant: 1 when the step is answered with *status. */
static int ends_early(Unit *u, double point, double size, Status *status) {
    double end = point + size;
    int ends = 0;
    if (IS("c_terminates_itself") && end > 75.000001) ends = 1;
    if (IS("c_terminates_cs") && end > 46.000001) ends = 1;
    if (ends) {
        double until = IS("c_terminates_itself") ? 75 : 46;
        if (point < until) compute_step(u, point, until - point);
        *status = stopped(u, fmax(point, until), 1);
        return 1;
    }
    int wrong = IS("d5_last_time_wrong") || IS("d5_status_fails") || IS("d13_discards_late");
    if (wrong && point < 46.1 && end > 46.1000001) {
        compute_step(u, point, 46.1 - point);
        *status = stopped(u, IS("d5_last_time_wrong") ? end : 46.1, 0);
        return 1;
    }
    return 0;
}

Status fmi2DoStep(void *c, double point, double size, int no_set_prior) {
    Unit *u = c;
    if (!slave(u, COMPLETE, "fmi2DoStep")) return FAILED;
    Plain *p = &u->m.p;
    if (IS("d5_flag_refused") && !no_set_prior) return refuse(u, "the slave flushes its buffers");
    if (IS("r3_zero_step") && size == 0) abort();
    if (IS("r3_negative_step") && size < 0) abort();
    if (IS("r3_nan_step") && isnan(size))
        for (volatile int forever = 1; forever;) {}
    if (IS("r3_any_step_ok") && !(size > 0)) return OK;
    if (!isfinite(point) || !isfinite(size) || !(size > 0) || size > 1e5) return refuse(u, "not a step");
    int gap = fabs(point - p->r[TIME]) > close_to(point);
    if (IS("d5_exact_time")) gap = point != p->r[TIME];
    if (IS("d5_multiples_only") || IS("d5_float_time")) gap = fabs(point - p->r[TIME]) > 0.05;
    if (gap && IS("r3_gap_crash")) abort();
    if (gap && !(IS("r3_gap_ok") && point > p->r[TIME]) && !(IS("r3_back_ok") && point < p->r[TIME]) &&
        !(IS("d5_start_time_ignored")))
        return refuse(u, "the step does not start where the last one ended");
    if (IS("d5_start_time_ignored") && gap) return refuse(u, "the first step starts at 0");
    double end = point + size;
    if (p->stop_defined && end > p->stop + close_to(p->stop) && !IS("d5_past_stop_time")) {
        if (IS("d5_past_stop_time_discards")) return stopped(u, point, 0);
        return refuse(u, "past the stop time");
    }
    if (IS("d5_default_stop_time") && end > 60 + 1e-6) return refuse(u, "past the end of the table");
    int other_size = p->first_size > 0 && fabs(size - p->first_size) > 1e-9 * p->first_size;
    if ((IS("c_constant_step") || IS("d5_constant_step")) && other_size)
        return refuse(u, "the step size must not change");
    if (IS("d5_no_short_steps") && size < 0.05) return refuse(u, "the step is too short");
    if (p->first_size == 0) p->first_size = size;
    Status early;
    if (ends_early(u, point, size, &early)) return early;
    if (asynchronous() && !(IS("c_pending_now_and_then") && p->steps % 2)) return start_worker(u, point, size);
    Status status = compute_step(u, point, size);
    if (status == OK && IS("c_warns") && p->steps % 40 == 0) {
        say(u, WARNING, LOG_WARNING, "the relay is worn");
        return WARNING;
    }
    return status;
}

Status fmi2CancelStep(void *c) {
    Unit *u = c;
    if (!slave(u, IN_PROGRESS | COMPLETE, "fmi2CancelStep")) return FAILED;
    if (!u->working) return refuse(u, "no step is pending");
    u->cancel = 1;
    pthread_join(u->worker, NULL);
    u->working = 0;
    u->cancel = 0;
    u->m.p.phase = CANCELED;
    return OK;
}

static int asked(Unit *u, const void *value, Text what) {
    if (u && u->working) collected(u);
    if (!slave(u, COMPLETE | IN_PROGRESS | STEP_FAILED | DONE, what)) return 0;
    if (value) return 1;
    refuse(u, "a null pointer");
    return 0;
}

static Status unknown_status(Unit *u) {
    if (IS("d3_status_crashes")) abort();
    if (IS("d5_status_fails")) return FAILED;
    say(u, DISCARD, LOG_DISCARD, "this status is not available");
    return DISCARD;
}

Status fmi2GetStatus(void *c, StatusKind kind, Status *value) {
    Unit *u = c;
    if (!u) return FAILED;
    int pending = u->working && !u->worker_done;
    if (!value) return refuse(u, "a null pointer");
    if (kind == STEP_STATUS && pending) {
        *value = PENDING;
        return OK;
    }
    if (!asked(u, value, "fmi2GetStatus")) return FAILED;
    if (kind != STEP_STATUS || !asynchronous()) return unknown_status(u);
    *value = IS("d5_pending_lost_status") ? FAILED : u->worker_status;
    return OK;
}

Status fmi2GetRealStatus(void *c, StatusKind kind, double *value) {
    Unit *u = c;
    if (!asked(u, value, "fmi2GetRealStatus")) return FAILED;
    if (kind != LAST_TIME || IS("d5_status_fails")) return unknown_status(u);
    *value = u->m.p.last_good;
    return OK;
}

Status fmi2GetIntegerStatus(void *c, StatusKind kind, int *value) {
    (void)kind;
    return asked(c, value, "fmi2GetIntegerStatus") ? unknown_status(c) : FAILED;
}

Status fmi2GetBooleanStatus(void *c, StatusKind kind, int *value) {
    Unit *u = c;
    if (!asked(u, value, "fmi2GetBooleanStatus")) return FAILED;
    if (kind != TERMINATED_STATUS || IS("d5_status_fails")) return unknown_status(u);
    *value = u->m.p.wants_to_stop;
    return OK;
}

Status fmi2GetStringStatus(void *c, StatusKind kind, Text *value) {
    Unit *u = c;
    if (!value || !u) return FAILED;
    if (kind == PENDING_STATUS && u->working && !u->worker_done) {
        *value = "computing";
        return OK;
    }
    return asked(u, value, "fmi2GetStringStatus") ? unknown_status(u) : FAILED;
}

Status fmi2SetRealInputDerivatives(void *c, const Ref vr[], size_t n, const int order[], const double value[]) {
    Unit *u = c;
    int phases = INSTANTIATED | INITIALIZING | COMPLETE;
    if (IS("d3_no_slopes_instantiated")) phases &= ~INSTANTIATED;
    if (!slave(u, phases, "fmi2SetRealInputDerivatives")) return FAILED;
    if (IS("c_no_optional_functions")) return refuse(u, "inputs are not interpolated");
    if (n && (!vr || !order || !value)) return refuse(u, "a null array");
    Ref base = IS("c_huge_references") ? 4000000000U : 0;
    for (size_t k = 0; k < n; k++)
        if (vr[k] - base >= REALS || REAL_ROLE[vr[k] - base] != INPUT_CONTINUOUS || order[k] < 1 || !isfinite(value[k]))
            return refuse(u, "not the derivative of a continuous input");
    for (size_t k = 0; k < n; k++) {
        if (order[k] > MAX_ORDER || (IS("d15_first_input_only") && k)) continue;
        u->m.p.slope[vr[k] - base][order[k]] = value[k];
    }
    u->m.p.set_since_step = 1;
    return OK;
}

/* d/dt of an output along the solution, at the end of the step. */
static double output_slope(const Plain *p, int at) {
    if (at == POWER) return 0;
    const double tiny = 1e-150;
    Number r[REALS];
    for (int k = 0; k < REALS; k++) r[k] = p->r[k];
    for (int k = 0; k < STATES; k++) r[STATE_REF[k]] += tiny * p->r[DERIVATIVE_REF[k]] * I;
    r[T_AMB] += tiny * p->end_slope[T_AMB] * I;
    r[Q_SUN] += tiny * p->end_slope[Q_SUN] * I;
    equations(p, r);
    return cimag(r[at]) / tiny;
}

Status fmi2GetRealOutputDerivatives(void *c, const Ref vr[], size_t n, const int order[], double value[]) {
    Unit *u = c;
    if (!slave(u, COMPLETE | STEP_FAILED | CANCELED | DONE, "fmi2GetRealOutputDerivatives")) return FAILED;
    if (IS("c_no_optional_functions")) return refuse(u, "derivatives of outputs are not provided");
    if (n && (!vr || !order || !value)) return refuse(u, "a null array");
    Ref base = IS("c_huge_references") ? 4000000000U : 0;
    for (size_t k = 0; k < n; k++) {
        Ref at = vr[k] - base;
        if (at >= REALS || order[k] < 1) return refuse(u, "not the derivative of an output");
        if (REAL_ROLE[at] != OUTPUT && at != X_ROOM && at != X_ENERGY) return refuse(u, "not an output");
    }
    evaluate(u);
    for (size_t k = 0; k < n; k++) {
        double slope = output_slope(&u->m.p, (int)(vr[k] - base));
        if (IS("d15_output_zero")) slope = 0;
        if (IS("d15_output_per_hour")) slope *= 3600;
        if (IS("d15_output_sign")) slope = -slope;
        if (IS("d15_output_late") && u->m.p.serviced) slope *= 1.5;
        if (IS("d15_first_output_only") && k) slope = 0;
        if (order[k] > 1 && !IS("d15_second_is_first")) slope = 0;
        value[k] = slope;
    }
    return OK;
}
