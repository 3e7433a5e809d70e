/* Step-size control, the choice between the methods, and events. */
#include "steps.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LOOKS = 8 }; /* at the guards, in one step of the size that the error control wants */
enum { SUSPICIONS = 15, DENIALS = 6 }; /* steps that look stiff before the implicit method takes over; steps that clear the suspicion */
enum { SHORT = 5, REFUSALS = 10 }; /* a step is short when it is so many times shorter than wanted; steps until the next try after a bad one */
static const double SHORT_ERROR = 0.1; /* of a short step, in units of the tolerance: there are many of them */
static const double EVENT_TIME_TOLERANCE = 1e-10; /* s */

static size_t doubles_needed(size_t n, size_t n_guards) {
    return n * (4 + MOST_STAGES + DENSE_ROWS) + 2 * n * n + 3 * n_guards;
}

size_t solver_size(size_t n, size_t n_guards) {
    return sizeof(Solver) + doubles_needed(n, n_guards) * sizeof(double) + n * sizeof(size_t);
}

Solver *solver_init(void *memory, size_t n, size_t n_guards) {
    Solver *s = memory;
    double *next = (double *)(s + 1);
    s->n = n;
    s->n_guards = n_guards;
    s->steps = s->evaluations = 0;
    s->g_known = 0;
    s->slope_known = 0;
    s->slope_after = NULL;
    double **vectors[] = {&s->x, &s->slope, &s->x_new, &s->stage};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++, next += n) *vectors[i] = next;
    for (int i = 0; i < MOST_STAGES; i++, next += n) s->k[i] = next;
    for (int i = 0; i < DENSE_ROWS; i++, next += n) s->dense[i] = next;
    s->jacobian = next;
    s->factors = next + n * n;
    s->g_old = next + 2 * n * n;
    s->g_new = s->g_old + n_guards;
    s->g_trial = s->g_new + n_guards;
    s->pivots = (size_t *)(s->g_trial + n_guards);
    return s;
}

long solver_steps(const Solver *s) { return s->steps; }

long solver_evaluations(const Solver *s) { return s->evaluations; }

void solver_guards_before(Solver *s, const double *g) {
    memcpy(s->g_old, g, s->n_guards * sizeof *g);
    s->g_known = 1;
}

const double *solver_guards_last(const Solver *s) { return s->g_old; }

void solver_slope_before(Solver *s, const double *slope) {
    memcpy(s->slope, slope, s->n * sizeof *slope);
    s->slope_known = 1;
}

const double *solver_slope_after(const Solver *s) { return s->slope_after; }

/* A first step from the size of the state and its slope: the explicit Euler step that changes the state by a hundredth of itself. */
static double first_step(const Solver *s, double tolerance) {
    double size = 0, slope = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double scale = tolerance * (1 + fabs(s->x[i]));
        size += (s->x[i] / scale) * (s->x[i] / scale);
        slope += (s->slope[i] / scale) * (s->slope[i] / scale);
    }
    return size < 1e-10 || slope < 1e-10 ? 1e-6 : 0.01 * sqrt(size / slope);
}

static void between(const Solver *s, int stiff, double theta, double *x) {
    if (stiff)
        implicit_between(s, theta, x);
    else
        explicit_between(s, theta, x);
}

static void guards_at(Solver *s, const Problem *problem, int stiff, double theta, double *g) {
    between(s, stiff, theta, s->stage);
    evaluate_guards(s, problem, s->t + theta * s->h, s->stage, g);
}

/* The moment between fractions a and b of the accepted step just after guard k, with values ga > 0 and gb <= 0 there, has fallen through zero:
 * regula falsi, Illinois variant, with a bisection now and then. */
static double fall(Solver *s, const Problem *problem, int stiff, size_t k, double a, double b, double ga, double gb) {
    const double tolerance = fmax(EVENT_TIME_TOLERANCE / s->h, 4 * DBL_EPSILON);
    int side = 0;
    for (int i = 0; i < 200 && b - a > tolerance; i++) {
        double c = i % 3 == 2 ? 0.5 * (a + b) : (a * gb - b * ga) / (gb - ga);
        if (!(c > a && c < b)) c = 0.5 * (a + b);
        guards_at(s, problem, stiff, c, s->g_trial);
        if (s->g_trial[k] > 0) {
            a = c;
            ga = s->g_trial[k];
            if (side == 1) gb *= 0.5;
            side = 1;
        } else {
            b = c;
            gb = s->g_trial[k];
            if (side == -1) ga *= 0.5;
            side = -1;
        }
    }
    return b;
}

/* Guards that have fallen at the very start of a run; the first of them is *guard. */
static int fallen_before(Solver *s, const Problem *problem, size_t *guard) {
    const int known = s->g_known;
    s->g_known = 0;
    evaluate_guards(s, problem, s->t, s->x, s->g_trial);
    for (size_t k = 0; known && k < s->n_guards; k++)
        if (s->g_old[k] > 0 && s->g_trial[k] <= 0) {
            *guard = k;
            return 1;
        }
    memcpy(s->g_old, s->g_trial, s->n_guards * sizeof *s->g_old);
    return 0;
}

static void prepare(Solver *s, const Problem *problem, int stiff) {
    if (stiff)
        implicit_prepare(s);
    else
        explicit_prepare(s, problem);
}

/* How often the guards are looked at in the accepted step: one may fall and rise again in it. A step that could have been `longer` times as long needs
 * fewer looks, unless a guard stands at zero at its start as it does after a bounce: then it may rise and fall again. */
static int looks(const Solver *s, double longer) {
    for (size_t k = 0; k < s->n_guards; k++)
        if (s->g_old[k] <= 0) return LOOKS;
    return longer >= LOOKS ? 1 : (int)fmin(LOOKS, ceil(LOOKS / longer));
}

/* The earliest fall in the accepted step, from the guards g_old at its start: the guard, and the fraction of the step at which it happens. 0 when there is
 * none, and g_old is then at the end. */
static int first_fall(Solver *s, const Problem *problem, int stiff, double longer, size_t *guard, double *theta) {
    const int n = looks(s, longer);
    int prepared = n > 1;
    if (prepared) prepare(s, problem, stiff);
    for (int look = 1; look <= n; look++) {
        const double a = (double)(look - 1) / n, b = (double)look / n;
        int found = 0;
        if (look < n)
            guards_at(s, problem, stiff, b, s->g_new);
        else
            evaluate_guards(s, problem, s->t + s->h, s->x_new, s->g_new);
        for (size_t k = 0; k < s->n_guards && !prepared; k++)
            if (s->g_old[k] > 0 && s->g_new[k] <= 0) {
                prepare(s, problem, stiff);
                prepared = 1;
            }
        double together = 0; /* the end of the moment in which guards fall together */
        for (int round = 0; round < 2; round++)
            for (size_t k = 0; k < s->n_guards; k++) {
                if (!(s->g_old[k] > 0 && s->g_new[k] <= 0)) continue;
                const double when = fall(s, problem, stiff, k, a, b, s->g_old[k], s->g_new[k]);
                if (round == 0 && (!found || when < *theta)) {
                    *theta = when;
                    *guard = k;
                }
                if (round == 1 && when <= *theta + 2 * EVENT_TIME_TOLERANCE / s->h) together = fmax(together, when);
                found = 1;
            }
        if (found) {
            *theta = together;
            guards_at(s, problem, stiff, together, s->g_trial);
            return 1;
        }
        memcpy(s->g_old, s->g_new, s->n_guards * sizeof *s->g_old);
    }
    return 0;
}

/* Hairer's test: the explicit method is at its stability limit in step after step. */
static int looks_stiff(const Solver *s, SolverMemory *memory) {
    if (explicit_stiffness(s) > 1) {
        memory->denials = 0;
        return ++memory->suspicions >= SUSPICIONS;
    }
    if (memory->suspicions > 0 && ++memory->denials >= DENIALS) memory->suspicions = memory->denials = 0;
    return 0;
}

/* The rest of a run, when it is short, in one step of the cheaper method. 0: something happens in it, or it is not good enough. */
static int arrives_shortly(Solver *s, const Problem *problem, double tolerance, SolverMemory *memory) {
    for (size_t k = 0; k < s->n_guards; k++)
        if (s->g_old[k] <= 0) return 0; /* it may rise and fall again within the step */
    if (memory->refusals > 0) {
        memory->refusals--;
        return 0;
    }
    s->steps++;
    if (!(short_step(s, problem, tolerance) < SHORT_ERROR)) {
        memory->refusals = REFUSALS;
        return 0;
    }
    if (s->n_guards == 0) return 1;
    evaluate_guards(s, problem, s->t + s->h, s->x_new, s->g_new);
    for (size_t k = 0; k < s->n_guards; k++)
        if (!(s->g_new[k] > 0)) return 0;
    memcpy(s->g_old, s->g_new, s->n_guards * sizeof *s->g_old);
    return 1;
}

Outcome solver_run(Solver *s, const Problem *problem, const SolverOptions *options, SolverMemory *memory, double t_end, double *t, double *x,
                   size_t *guard) {
    const size_t n = s->n;
    const double tolerance = options->relative_tolerance;
    const int slope_known = s->slope_known;
    s->slope_known = 0;
    s->slope_after = NULL;
    s->steps = s->evaluations = 0;
    memcpy(s->x, x, n * sizeof *x);
    s->t = *t;
    if (s->n_guards && fallen_before(s, problem, guard)) return EVENT;
    if (n == 0 || t_end - *t <= 1e-3 * EVENT_TIME_TOLERANCE) { /* nothing to integrate, or only the rest after an event at the very end */
        *t = t_end;
        return ARRIVED;
    }
    memory->stiff = options->method == IMPLICIT || (options->method == AUTOMATIC && memory->stiff);
    if (!slope_known) evaluate_rates(s, problem, s->t, s->x, s->slope);
    double wanted = memory->step > 0 ? memory->step : first_step(s, tolerance);
    int rejected = 0;
    Outcome outcome;
    for (;;) {
        if (s->evaluations >= options->evaluation_limit) {
            outcome = TOO_MANY_EVALUATIONS;
            break;
        }
        const double left = t_end - s->t;
        double h = options->max_step > 0 ? fmin(wanted, options->max_step) : wanted;
        const int last = h >= left * (1 - 1e-9);
        s->h = last ? left : h;
        if (!(s->h > 4 * DBL_EPSILON * fabs(s->t)) && !last) {
            outcome = STEP_TOO_SMALL;
            break;
        }
        if (!memory->stiff && last && SHORT * left <= h && arrives_shortly(s, problem, tolerance, memory)) {
            memcpy(s->x, s->x_new, n * sizeof *x);
            if (s->t + s->h == t_end) s->slope_after = short_end_slope(s);
            s->t = t_end;
            outcome = ARRIVED;
            break;
        }
        s->steps++;
        const double error = memory->stiff ? implicit_step(s, problem, tolerance, rejected) : explicit_step(s, problem, tolerance);
        const double order = memory->stiff ? 5 : 8;
        const double longer = 0.9 * pow(error, -1 / order);
        const double factor = isfinite(error) ? fmin(fmax(longer, 0.2), rejected ? 1 : 6) : 0.1;
        if (!(error < 1)) {
            wanted = s->h * fmin(factor, 0.9);
            rejected = 1;
            continue;
        }
        /* a step that was cut to fit says little: it may raise what is wanted, not lower it */
        const double proposal = s->h * factor;
        wanted = s->h < h ? fmax(wanted, proposal) : proposal;
        rejected = 0;
        const int was_stiff = memory->stiff;
        if (options->method == AUTOMATIC && !memory->stiff && looks_stiff(s, memory)) memory->stiff = 1;
        if (s->n_guards) {
            double theta = 1;
            if (first_fall(s, problem, was_stiff, longer, guard, &theta)) {
                between(s, was_stiff, theta, x);
                *t = s->t + theta * s->h;
                memory->step = wanted;
                return EVENT;
            }
        }
        if (last && !was_stiff && s->t + s->h == t_end) s->slope_after = explicit_end_slope(s);
        s->t = last ? t_end : s->t + s->h;
        memcpy(s->x, s->x_new, n * sizeof *x);
        if (last) {
            outcome = ARRIVED;
            break;
        }
        if (was_stiff)
            evaluate_rates(s, problem, s->t, s->x, s->slope);
        else
            memcpy(s->slope, explicit_end_slope(s), n * sizeof *x);
    }
    *t = s->t;
    memcpy(x, s->x, n * sizeof *x);
    memory->step = wanted;
    return outcome;
}
