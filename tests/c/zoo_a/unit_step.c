/* The solver of the Co-Simulation: Runge-Kutta of order 4 with small steps, events by bisection. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "defect.h"
#include "unit.h"

static double input_at(const Plain *p, int at, double since) {
    const double *d = p->slope[at];
    if (IS("d15_input_slope_ignored")) return p->r[at];
    if (IS("d15_input_slope_twice")) since *= 2;
    if (IS("d15_input_slope_from_end")) since -= p->last_point;
    return p->r[at] + since * (d[1] + since / 2 * (d[2] + since / 3 * d[3]));
}

static void rates(const Plain *p, const double x[STATES], double since, double dx[STATES]) {
    Number r[REALS];
    for (int k = 0; k < REALS; k++) r[k] = p->r[k];
    for (int k = 0; k < STATES; k++) r[STATE_REF[k]] = x[k];
    r[T_AMB] = input_at(p, T_AMB, since);
    r[Q_SUN] = input_at(p, Q_SUN, since);
    equations(p, r);
    for (int k = 0; k < STATES; k++) dx[k] = creal(r[DERIVATIVE_REF[k]]);
}

static void advance(const Plain *p, const double x0[STATES], double since, double h, double x1[STATES]) {
    double a[STATES], b[STATES], c[STATES], d[STATES], x[STATES];
    rates(p, x0, since, a);
    for (int k = 0; k < STATES; k++) x[k] = x0[k] + h / 2 * a[k];
    rates(p, x, since + h / 2, b);
    for (int k = 0; k < STATES; k++) x[k] = x0[k] + h / 2 * b[k];
    rates(p, x, since + h / 2, c);
    for (int k = 0; k < STATES; k++) x[k] = x0[k] + h * c[k];
    rates(p, x, since + h, d);
    for (int k = 0; k < STATES; k++) x1[k] = x0[k] + h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
}

static int crossed(const Plain *p, const double x[STATES]) {
    Plain probe = *p;
    double z[INDICATORS];
    for (int k = 0; k < STATES; k++) probe.r[STATE_REF[k]] = x[k];
    indicators(&probe, z);
    return (p->b[RELAY] ? z[0] <= 0 : z[0] > 0) || (p->b[HAS_ALARM] && (p->b[ALARM] ? z[1] <= 0 : z[1] > 0));
}

static int settle(Unit *u) {
    EventInfo info;
    for (int round = 0; round < 20; round++)
        if (!update_discrete(u, &info)) return 1;
    return 0;
}

static const double INNER_STEP = 0.01;

/* From `point` to `end` with internal events. */
static Status integrate(Unit *u, double point, double end) {
    Plain *p = &u->m.p;
    p->r[TIME] = point;
    p->last_point = end - point;
    if (!settle(u)) return refuse(u, "the event iteration does not end");
    for (int rounds = 0; p->r[TIME] < end; rounds++) {
        if (u->cancel) return FAILED;
        double t = p->r[TIME], limit = fmin(end, p->next_event), h = fmin(INNER_STEP, limit - t);
        if (limit - t - h < 1e-12 * fmax(1, fabs(limit))) h = limit - t;
        double x0[STATES], x1[STATES], since = t - point;
        for (int k = 0; k < STATES; k++) x0[k] = p->r[STATE_REF[k]];
        if (IS("d11_small_steps_lost") && end - point < 0.02)
            for (int k = 0; k < STATES; k++) x1[k] = x0[k];
        else
            advance(p, x0, since, h, x1);
        int event = crossed(p, x1);
        if (event) {
            double low = 0, high = h;
            for (int k = 0; k < 60 && high - low > 1e-13; k++) {
                double middle = (low + high) / 2;
                advance(p, x0, since, middle, x1);
                if (crossed(p, x1))
                    high = middle;
                else
                    low = middle;
            }
            h = high;
            advance(p, x0, since, h, x1);
        }
        for (int k = 0; k < STATES; k++) p->r[STATE_REF[k]] = x1[k];
        p->r[TIME] = !event && h == limit - t ? limit : t + h;
        if (end - p->r[TIME] < 1e-12 * fmax(1, fabs(end))) p->r[TIME] = end;
        if (!isfinite(x1[1])) {
            if (!IS("d13_nan_derivative_late")) return refuse(u, "the solver diverged");
            p->r[TIME] = end;
            return OK;
        }
        if ((event || p->r[TIME] >= p->next_event) && !settle(u)) return refuse(u, "the event iteration does not end");
    }
    return OK;
}

/* Inputs move to the end of the step, their derivatives are used up. */
static void move_inputs(Plain *p, double size) {
    static const int INPUTS[] = {T_AMB, Q_SUN};
    for (int k = 0; k < 2; k++) {
        int at = INPUTS[k];
        double *d = p->slope[at];
        double value = input_at(p, at, size);
        p->end_slope[at] = IS("d15_input_slope_ignored") ? 0 : d[1] + size * (d[2] + size / 2 * d[3]);
        p->r[at] = value;
        d[1] = d[2] = d[3] = 0;
    }
}

Status compute_step(Unit *u, double point, double size) {
    Plain *p = &u->m.p;
    double end = point + size;
    note_evaluation(u);
    waste_resources(u);
    if (IS("d5_multiples_only")) end = point + floor(size / 0.02 + 1e-9) * 0.02;
    if (IS("d5_float_time")) end = (float)end;
    if (end > 46 && IS("d13_error_late")) return refuse(u, "the table of the boiler ends here");
    if (end > 46 && IS("d13_fatal_late")) return say(u, FATAL, LOG_ERROR, "internal error"), FATAL;
    if (end > 46 && IS("d13_hang_late"))
        for (volatile int forever = 1; forever;) {}
    if (p->r[TIME] > 46 && p->r[TIME] < 47.1 && IS("d13_slow_late")) nanosleep(&(struct timespec){3, 0}, NULL);
    if (IS("d13_slow_always")) nanosleep(&(struct timespec){0, 300000000}, NULL);
    Status status = integrate(u, point, end);
    if (status != OK) return status;
    move_inputs(p, size);
    if (IS("d11_filter_per_step")) p->r[X_HEATER] += 5e-3 * (p->r[X_ROOM] - p->r[X_HEATER]);
    p->last_good = end;
    p->last_point = point;
    p->set_since_step = 0;
    evaluate(u);
    return OK;
}
