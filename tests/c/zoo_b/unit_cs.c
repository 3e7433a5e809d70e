/* Co-Simulation: a Runge-Kutta solver that locates events, and the functions around a step. */
#define _POSIX_C_SOURCE 200809L
#include "tank.h"

#include <math.h>
#include <string.h>

#define MAX_STATES 8
#define MAX_INDICATORS 8
#define TINY(t) (1e-11 * (1.0 + fabs(t)))

typedef struct {
    size_t n;
    size_t at[MAX_INPUTS];
    double value[MAX_INPUTS]; /* at the beginning of the step */
    double from;
} Inputs;

static int input_number(Unit *u, const Variable *wanted) {
    int n = 0;
    for (size_t i = 0; i < u->model->count; i++) {
        const Variable *v = &u->model->variables[i];
        if (v->kind != REAL || !(v->role & INPUT) || v->role & DISCRETE) continue;
        if (v == wanted) return n < MAX_INPUTS ? n : -1;
        n++;
    }
    return -1;
}

static void inputs_begin(Unit *u, Inputs *in) {
    in->n = 0;
    in->from = *unit_time(u);
    for (size_t i = 0; i < u->model->count && in->n < MAX_INPUTS; i++) {
        const Variable *v = &u->model->variables[i];
        if (v->kind != REAL || !(v->role & INPUT) || v->role & DISCRETE) continue;
        in->at[in->n] = v->at;
        in->value[in->n++] = *real_at(u, v->at);
    }
}

static void inputs_at(Unit *u, const Inputs *in, double t) {
    double d = t - in->from;
    for (size_t i = 0; i < in->n; i++) {
        const double *s = u->core.du[i];
        double first = BUG(slopes_ignored) ? 0.0 : BUG(slopes_twice) ? 2.0 * s[1] : s[1];
        if (BUG(slopes_first_input) && i) first = 0.0;
        *real_at(u, in->at[i]) = in->value[i] + d * (first + d * (s[2] / 2.0 + d * s[3] / 6.0));
        u->core.slope[i] = first + d * (s[2] + d * s[3] / 2.0);
    }
}

static void load(Unit *u, const double *x) {
    for (size_t i = 0; i < u->model->nx; i++) *real_at(u, u->model->states[i]) = x[i];
}

static void store(Unit *u, double *x) {
    for (size_t i = 0; i < u->model->nx; i++) x[i] = *real_at(u, u->model->states[i]);
}

static void slope(Unit *u, const Inputs *in, double t, double *dx) {
    *unit_time(u) = t;
    inputs_at(u, in, t);
    u->model->evaluate(u);
    for (size_t i = 0; i < u->model->nx; i++) dx[i] = *real_at(u, u->model->derivatives[i]);
}

/* one step of the classical method from the states x at t */
static void runge_kutta(Unit *u, const Inputs *in, const double *x, double t, double h) {
    static const double NODE[] = {0.0, 0.5, 0.5, 1.0};
    static const double WEIGHT[] = {1.0, 2.0, 2.0, 1.0};
    double k[MAX_STATES] = {0}, sum[MAX_STATES] = {0}, y[MAX_STATES];
    size_t n = u->model->nx;
    for (int stage = 0; stage < 4; stage++) {
        for (size_t i = 0; i < n; i++) y[i] = x[i] + h * NODE[stage] * k[i];
        load(u, y);
        slope(u, in, t + h * NODE[stage], k);
        for (size_t i = 0; i < n; i++) sum[i] += WEIGHT[stage] * k[i];
    }
    for (size_t i = 0; i < n; i++) y[i] = x[i] + h / 6.0 * sum[i];
    load(u, y);
    *unit_time(u) = t + h;
    inputs_at(u, in, t + h);
    u->model->evaluate(u);
}

static void move(Unit *u, const Inputs *in, const double *x, double t, double h) {
    if (u->model->advance) {
        load(u, x);
        *unit_time(u) = t + h;
        u->model->advance(u, h);
        u->model->evaluate(u);
    } else
        runge_kutta(u, in, x, t, h);
}

static int crossed(Unit *u, const double *before) {
    double z[MAX_INDICATORS];
    if (!u->model->nz) return 0;
    u->model->indicators(u, z);
    for (size_t i = 0; i < u->model->nz; i++)
        if ((z[i] > 0.0) != (before[i] > 0.0)) return 1;
    return 0;
}

static int before_last(Unit *u, double t, double end) {
    if (BUG(cs_whole_substeps)) return t < end - u->model->dt * 0.6;
    return t < end - TINY(end);
}

static void solve(Unit *u, double end) {
    Inputs in;
    fmi2EventInfo info;
    double x[MAX_STATES], z[MAX_INDICATORS];
    double dt = BUG(cs_whole_substeps) ? 0.03 : u->model->dt;
    inputs_begin(u, &in);
    iterate_events(u, &info);
    while (before_last(u, *unit_time(u), end)) {
        double t = *unit_time(u), next = t + dt;
        int timed = 0;
        if (next > end - TINY(end) && !BUG(cs_whole_substeps)) next = end;
        if (info.nextEventTimeDefined && info.nextEventTime <= next) {
            next = info.nextEventTime;
            timed = 1;
        }
        store(u, x);
        if (u->model->nz) u->model->indicators(u, z);
        if (next > t) move(u, &in, x, t, next - t);
        if (next > t && crossed(u, z) && !BUG(cs_late_events)) {
            double low = 0.0, high = next - t;
            while (high - low > 1e-13 * (1.0 + fabs(t))) {
                double middle = 0.5 * (low + high);
                if (middle <= low || middle >= high) break;
                move(u, &in, x, t, middle);
                if (crossed(u, z))
                    high = middle;
                else
                    low = middle;
            }
            move(u, &in, x, t, high);
            iterate_events(u, &info);
        } else if (timed) {
            *unit_time(u) = next;
            iterate_events(u, &info);
        }
    }
    *unit_time(u) = end;
    if (BUG(end_by_clock)) *unit_time(u) = floor(end / 0.01 + 1e-6) * 0.01;
    if (BUG(cs_sample_by_step) && u->model == &TANK) {
        Tank *k = u->data;
        k->next_sample = *unit_time(u) - 1e9;
    }
    iterate_events(u, &info);
    for (size_t i = 0; i < in.n; i++) memset(u->core.du[i], 0, sizeof u->core.du[i]);
    u->model->evaluate(u);
}

static fmi2Status compute(Unit *u) {
    double from = u->step_from, to = u->step_to;
    fmi2Status status;
    u->core.steps++;
    u->core.unread = 0;
    memset(u->core.slope, 0, sizeof u->core.slope);
    life_on_step(u);
    if (life_status(u, &status)) {
        if (status == fmi2Discard) u->core.mode = FAILED;
        return status;
    }
    if ((BUG(stops_late) && to > LATE) || (BUG(stops_beyond) && to > 20.5)) {
        double part = BUG(stops_late) ? LATE : 20.5;
        if (part > from) solve(u, part);
        u->core.last_success = *unit_time(u);
        u->core.wants_stop = 1;
        u->core.mode = FAILED;
        say(u, fmi2Discard, "logStatusDiscard", "the tank is worn out, the simulation ends");
        return fmi2Discard;
    }
    if (BUG(discards) && u->core.steps % 9 == 8) {
        double part = from + 0.5 * (to - from);
        solve(u, part);
        u->core.last_success = part;
        u->core.mode = FAILED;
        say(u, fmi2Discard, "logStatusDiscard", "the step was too long");
        return fmi2Discard;
    }
    solve(u, to);
    u->core.last_success = to;
    return fmi2OK;
}

static void *work(void *argument) {
    Unit *u = argument;
    fmi2Status status = compute(u);
    pthread_mutex_lock(&u->lock);
    u->result = status;
    u->done = 1;
    pthread_mutex_unlock(&u->lock);
    if (!BUG(pending_no_callback)) u->callbacks.stepFinished(u->callbacks.componentEnvironment, status);
    return NULL;
}

/* ends a pending step whose computation is over */
void settle(Unit *u) {
    int done;
    if (u->core.mode != PENDING || !u->threaded) return;
    pthread_mutex_lock(&u->lock);
    done = u->done;
    pthread_mutex_unlock(&u->lock);
    if (!done) return;
    if (pthread_equal(pthread_self(), u->worker))
        pthread_detach(u->worker);
    else
        pthread_join(u->worker, NULL);
    u->threaded = 0;
    u->core.mode = u->result == fmi2OK ? STEPPED : FAILED;
}

static fmi2Status start_pending(Unit *u) {
    u->core.mode = PENDING;
    u->polls = 0;
    u->done = 0;
    u->result = fmi2Pending;
    if (u->callbacks.stepFinished && !BUG(pending_never)) {
        u->threaded = 1;
        if (pthread_create(&u->worker, NULL, work, u)) {
            u->threaded = 0;
            u->core.mode = STEPPED;
            return compute(u);
        }
    }
    return fmi2Pending;
}

static fmi2Status check_step(Unit *u, double point, double size) {
    double t = *unit_time(u), slack = 1e-9 * (1.0 + fabs(t));
    if (BUG(r3_hang) && !(size > 0.0))
        for (volatile double wait = 0;; wait += 1.0) {}
    if (BUG(r3_crash) && isnan(size)) __builtin_trap();
    if (!isfinite(point) || !isfinite(size)) return fail(u, "the step is not a number");
    if (!(size > 0.0) && !BUG(r3_size_accepted)) return fail(u, "the step size is not positive");
    if (BUG(point_exact) && point != t) return fail(u, "the communication point is not the time");
    if (BUG(r3_gap_accepted)) return fmi2OK;
    if (point < t - slack && BUG(r3_back_accepted)) return fmi2OK;
    if (fabs(point - t) > slack) return fail(u, "the communication point %g is not the time %g", point, t);
    return fmi2OK;
}

EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real point, fmi2Real size, fmi2Boolean no_prior) {
    Unit *u = c;
    static double newest;
    double end = point + size;
    if (BUG(r1_step_crash) && u && u->core.mode != STEPPED) __builtin_trap();
    if (!allowed(u, STEPPED, "fmi2DoStep")) return fmi2Error;
    if (u->type != fmi2CoSimulation) return fail(u, "fmi2DoStep is for Co-Simulation");
    if (check_step(u, point, size) != fmi2OK) return fmi2Error;
    if (u->core.stop_defined && end > u->core.stop + 1e-9 * (1.0 + fabs(u->core.stop)) && !BUG(past_stop_ok))
        return fail(u, "past the stop time");
    if (BUG(past_stop_clamps) && u->core.stop_defined && end > u->core.stop) end = u->core.stop;
    if (BUG(beyond_default_refused) && end > 20.0 + 1e-9) return fail(u, "the tables end at 20 s");
    if (BUG(prior_refused) && !no_prior) return fail(u, "results were flushed");
    if (u->core.first_size == 0.0) u->core.first_size = size;
    if ((BUG(variable_refused) || BUG(fixed_size)) && fabs(size - u->core.first_size) > 1e-9 * (1.0 + fabs(point)))
        return fail(u, "the step size is fixed");
    if (BUG(small_refused) && size < 0.02) return fail(u, "the step size is below the sample time of the solver");
    if (BUG(back_refused)) {
        if (u->core.steps == 0) newest = point;
        if (point < newest - 1e-9) return fail(u, "time runs forward");
        newest = point;
    }
    u->core.wants_stop = 0;
    u->step_from = point;
    u->step_to = end;
    if (BUG(pending_undeclared) && u->core.steps % 5 == 4) return start_pending(u);
    if (BUG(pending) || BUG(pending_no_callback) || BUG(pending_never) || BUG(pending_status_ok))
        return start_pending(u);
    return compute(u);
}

EXPORT fmi2Status fmi2CancelStep(fmi2Component c) {
    Unit *u = c;
    if (!allowed(u, PENDING, "fmi2CancelStep")) return fmi2Error;
    if (u->threaded) pthread_join(u->worker, NULL);
    u->threaded = 0;
    u->core.mode = CANCELED;
    return fmi2OK;
}

static int may_inquire(Unit *u, const char *what) { return allowed(u, STEPPED | FAILED | PENDING | TERMINATED, what); }

EXPORT fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value) {
    Unit *u = c;
    if (!may_inquire(u, "fmi2GetStatus")) return fmi2Error;
    if (!value) return fail(u, "no place for the status");
    if (kind != fmi2DoStepStatus) return fmi2Discard;
    if (u->core.mode != PENDING) {
        *value = u->result;
        return fmi2OK;
    }
    if (u->threaded || ++u->polls < 3 || BUG(pending_never)) {
        *value = fmi2Pending;
        return fmi2OK;
    }
    u->core.mode = STEPPED;
    u->result = compute(u);
    *value = BUG(pending_status_ok) ? fmi2Discard : u->result;
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, double *value) {
    Unit *u = c;
    if (!may_inquire(u, "fmi2GetRealStatus")) return fmi2Error;
    if (!value) return fail(u, "no place for the status");
    if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
    if (BUG(last_time_refused)) return fail(u, "unknown");
    *value = BUG(last_time_end) && u->core.mode == FAILED ? u->step_to : u->core.last_success;
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, int *value) {
    Unit *u = c;
    (void)kind;
    (void)value;
    return may_inquire(u, "fmi2GetIntegerStatus") ? fmi2Discard : fmi2Error;
}

EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, int *value) {
    Unit *u = c;
    if (!may_inquire(u, "fmi2GetBooleanStatus")) return fmi2Error;
    if (!value) return fail(u, "no place for the status");
    if (kind != fmi2Terminated) return fmi2Discard;
    *value = BUG(terminated_true) ? u->core.mode == FAILED : u->core.wants_stop;
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value) {
    Unit *u = c;
    if (!may_inquire(u, "fmi2GetStringStatus")) return fmi2Error;
    if (!value) return fail(u, "no place for the status");
    if (kind != fmi2PendingStatus) return fmi2Discard;
    *value = u->core.mode == PENDING ? "the step is being computed" : "no step is pending";
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const unsigned vr[], size_t n, const int order[],
                                              const double value[]) {
    Unit *u = c;
    if (!allowed(u, INSTANTIATED | INITIALIZING | STEPPED, "fmi2SetRealInputDerivatives")) return fmi2Error;
    if (u->type != fmi2CoSimulation || BUG(flags_false)) return fail(u, "input derivatives are not supported");
    if (BUG(slopes_refused)) return fail(u, "input derivatives are not supported");
    if (n && (!vr || !order || !value)) return fail(u, "input derivatives without arrays");
    for (size_t i = 0; i < n; i++) {
        const Variable *v = find(u, REAL, vr[i]);
        int number = v ? input_number(u, v) : -1;
        if (number < 0 || order[i] < 1 || order[i] > MAX_ORDER || !isfinite(value[i]))
            return fail(u, "no such input derivative");
        u->core.du[number][order[i]] = value[i];
    }
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const unsigned vr[], size_t n, const int order[],
                                               double value[]) {
    Unit *u = c;
    unsigned known[MAX_STATES + MAX_INPUTS + 1];
    double seed[MAX_STATES + MAX_INPUTS + 1];
    size_t nk = 0, input = 0;
    if (!allowed(u, STEPPED | FAILED | CANCELED | TERMINATED, "fmi2GetRealOutputDerivatives")) return fmi2Error;
    if (u->type != fmi2CoSimulation || !u->model->differentiate || BUG(flags_false))
        return fail(u, "output derivatives are not supported");
    if (n && (!vr || !order || !value)) return fail(u, "output derivatives without arrays");
    refresh(u);
    for (size_t i = 0; i < u->model->count; i++) {
        const Variable *v = &u->model->variables[i];
        if (v->kind != REAL) continue;
        if (v->role & TIME)
            seed[nk] = 1.0;
        else if (v->role & STATE) {
            size_t s = 0;
            while (u->model->states[s] != v->at) s++;
            seed[nk] = *real_at(u, u->model->derivatives[s]);
        } else if (v->role & INPUT && !(v->role & DISCRETE))
            seed[nk] = u->core.slope[input++];
        else
            continue;
        known[nk++] = v->vr;
    }
    for (size_t i = 0; i < n; i++) {
        size_t from = BUG(rates_reversed) ? n - 1 - i : i;
        const Variable *v = find(u, REAL, vr[from]);
        if (!v || !(v->role & OUTPUT) || order[i] != 1) return fail(u, "no such output derivative");
        u->model->differentiate(u, &vr[from], 1, known, nk, seed, &value[i]);
        if (BUG(rates_zero)) value[i] = 0.0;
        if (BUG(rates_late) && *unit_time(u) > LATE) value[i] *= -1.0;
    }
    return fmi2OK;
}
