/* Step-size control, choice of the method, event location. */
#include "steps.h"

#include "event_limits.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* --- constants ---------------------------------------------------------------------------------------------------- */

/* Step-size control (Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, II.4; names as in SciPy): the
 * next step size is h * SAFETY * error^(-1 / order), the factor within these limits. */
static const double SAFETY = 0.9;
static const double MIN_FACTOR = 0.2;
static const double MAX_FACTOR = 6;
static const double MAX_FACTOR_AFTER_REJECTION = 1; /* for the first step that is accepted after a rejected one */
static const double MAX_FACTOR_OF_REJECTED = 0.9;   /* a rejected step is repeated with a smaller one */
static const double FACTOR_NOT_FINITE = 0.1;        /* the step failed: its error is not a number */
static const double EXPLICIT_ORDER = 8;
static const double IMPLICIT_ORDER = 5;

/* The first step (the same book, II.4): an explicit Euler step that changes the state by a hundredth of itself. */
static const double FIRST_STEP_CHANGE = 0.01;
static const double FIRST_STEP_DEFAULT = 1e-6;          /* s, where state or slope are below the next limit */
static const double FIRST_STEP_NEGLIGIBLE_SIZE = 1e-10; /* sum of squares in units of the tolerance */

static const double MIN_STEP = 4 * DBL_EPSILON; /* relative to the time */
static const double END_ROUNDING = 1e-9;        /* a step that leaves less than this part of the rest takes it all */
enum { MAX_CROSSING_ITERATIONS = 200 };
enum { BISECTION_PERIOD = 3 }; /* every third iteration of the search for a zero crossing is a bisection */

enum { STIFF_STEPS_TO_SWITCH = 15 };  /* steps that look stiff before the implicit method takes over */
enum { NONSTIFF_STEPS_TO_CLEAR = 6 }; /* steps that do not look stiff before the count starts again */

enum { SHORT_STEP_RATIO = 5 };    /* a final step is short when the error control allows one so many times larger */
enum { SHORT_STEP_BACKOFF = 10 }; /* final steps until a short one is tried again after one was rejected */
static const double SHORT_STEP_ERROR = 0.1; /* allowed in a short step, in units of the tolerance: there are many */

/* --- memory ------------------------------------------------------------------------------------------------------- */

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
    s->g_known = s->g_unchanged = 0;
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

void solver_guards_before(Solver *s, const double *g, int unchanged) {
    memcpy(s->g_old, g, s->n_guards * sizeof *g);
    s->g_known = 1;
    s->g_unchanged = unchanged;
}

const double *solver_guards_last(const Solver *s) { return s->g_old; }

void solver_slope_before(Solver *s, const double *slope) {
    memcpy(s->slope, slope, s->n * sizeof *slope);
    s->slope_known = 1;
}

const double *solver_slope_after(const Solver *s) { return s->slope_after; }

/* The size of the first step, from the sizes of the state and its slope. */
static double first_step(const Solver *s, double tolerance) {
    double size = 0, slope = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double scale = tolerance * (1 + fabs(s->x[i]));
        size += (s->x[i] / scale) * (s->x[i] / scale);
        slope += (s->slope[i] / scale) * (s->slope[i] / scale);
    }
    if (size < FIRST_STEP_NEGLIGIBLE_SIZE || slope < FIRST_STEP_NEGLIGIBLE_SIZE) return FIRST_STEP_DEFAULT;
    return FIRST_STEP_CHANGE * sqrt(size / slope);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static void prepare_dense_output(Solver *s, const Problem *problem, int stiff) {
    if (stiff)
        implicit_prepare_dense_output(s);
    else
        explicit_prepare_dense_output(s, problem);
}

static void dense_output(const Solver *s, int stiff, double theta, double *x) {
    if (stiff)
        implicit_dense_output(s, theta, x);
    else
        explicit_dense_output(s, theta, x);
}

static void guards_at(Solver *s, const Problem *problem, int stiff, double theta, double *g) {
    dense_output(s, stiff, theta, s->stage);
    evaluate_guards(s, problem, s->t + theta * s->h, s->stage, g);
}

/* Whether guard k crosses zero between g_old and g_new. */
static int crosses_zero(const Solver *s, size_t k) { return s->g_old[k] > 0 && s->g_new[k] <= 0; }

/* The zero crossing of guard k between fractions a and b of the accepted step, where its values are ga > 0 and gb <= 0:
 * the end of the last bracket, at which the guard is not positive. Regula falsi, Illinois variant, with bisections. */
static double locate_zero_crossing(Solver *s, const Problem *problem, int stiff, size_t k, double a, double b) {
    const double tolerance = fmax(EVENT_TIME_TOLERANCE / s->h, 4 * DBL_EPSILON);
    double ga = s->g_old[k], gb = s->g_new[k];
    int side = 0;
    for (int i = 0; i < MAX_CROSSING_ITERATIONS && b - a > tolerance; i++) {
        const int bisect = i % BISECTION_PERIOD == BISECTION_PERIOD - 1;
        double c = bisect ? 0.5 * (a + b) : (a * gb - b * ga) / (gb - ga);
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

/* Whether guards have crossed zero before the run begins; the first of them is *guard. */
static int event_at_start(Solver *s, const Problem *problem, size_t *guard) {
    const int known = s->g_known, unchanged = s->g_unchanged;
    s->g_known = s->g_unchanged = 0;
    if (unchanged) return 0;
    evaluate_guards(s, problem, s->t, s->x, s->g_trial);
    for (size_t k = 0; known && k < s->n_guards; k++)
        if (s->g_old[k] > 0 && s->g_trial[k] <= 0) {
            *guard = k;
            return 1;
        }
    memcpy(s->g_old, s->g_trial, s->n_guards * sizeof *s->g_old);
    return 0;
}

/* The number of samples of the guards in the accepted step, in which a guard may cross zero twice. A step that could
 * have been larger by the growth factor needs fewer, unless a guard is at zero at its start, as after an impact: then
 * it may become positive and cross zero again. */
static int event_samples(const Solver *s, double growth_factor) {
    for (size_t k = 0; k < s->n_guards; k++)
        if (s->g_old[k] <= 0) return EVENT_SAMPLES_PER_STEP;
    if (growth_factor >= EVENT_SAMPLES_PER_STEP) return 1;
    return (int)fmin(EVENT_SAMPLES_PER_STEP, ceil(EVENT_SAMPLES_PER_STEP / growth_factor));
}

/* The earliest zero crossing between fractions a and b of the step, with guards g_old and g_new; 0 when there is none.
 * Guards that cross zero at the same time, within the tolerance, are one event, and *theta is the last of them. */
static int first_crossing(Solver *s, const Problem *problem, int stiff, double a, double b, size_t *guard,
                          double *theta) {
    int found = 0;
    for (size_t k = 0; k < s->n_guards; k++) {
        if (!crosses_zero(s, k)) continue;
        const double crossing = locate_zero_crossing(s, problem, stiff, k, a, b);
        if (!found || crossing < *theta) {
            *theta = crossing;
            *guard = k;
        }
        found = 1;
    }
    if (!found) return 0;
    double last = 0;
    for (size_t k = 0; k < s->n_guards; k++) {
        if (!crosses_zero(s, k)) continue;
        const double crossing = locate_zero_crossing(s, problem, stiff, k, a, b);
        if (crossing <= *theta + 2 * EVENT_TIME_TOLERANCE / s->h) last = fmax(last, crossing);
    }
    *theta = last;
    guards_at(s, problem, stiff, last, s->g_trial);
    return 1;
}

/* The first event in the accepted step, from the guards g_old at its start: its guard, and the fraction of the step at
 * which it occurs. 0 when there is none; g_old then holds the guards at the end. */
static int first_event(Solver *s, const Problem *problem, int stiff, double growth_factor, size_t *guard,
                       double *theta) {
    const int n = event_samples(s, growth_factor);
    int prepared = n > 1;
    if (prepared) prepare_dense_output(s, problem, stiff);
    for (int sample = 1; sample <= n; sample++) {
        const double a = (double)(sample - 1) / n, b = (double)sample / n;
        if (sample < n)
            guards_at(s, problem, stiff, b, s->g_new);
        else
            evaluate_guards(s, problem, s->t + s->h, s->x_new, s->g_new);
        for (size_t k = 0; k < s->n_guards && !prepared; k++)
            if (crosses_zero(s, k)) {
                prepare_dense_output(s, problem, stiff);
                prepared = 1;
            }
        if (first_crossing(s, problem, stiff, a, b, guard, theta)) return 1;
        memcpy(s->g_old, s->g_new, s->n_guards * sizeof *s->g_old);
    }
    return 0;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* Whether explicit steps of size h take longer for a run of this length than one implicit step, with its Jacobian. */
static int implicit_pays(const Solver *s, double run, double h) {
    return explicit_cost() * run > implicit_cost(s->n) * h;
}

/* Hairer's test: the explicit method is at its stability limit in step after step; here also: this costs more than the
 * implicit method. */
static int looks_stiff(const Solver *s, SolverMemory *memory, double run) {
    if (explicit_stiffness(s) > 1 && implicit_pays(s, run, s->h)) {
        memory->nonstiff_steps = 0;
        return ++memory->stiff_steps >= STIFF_STEPS_TO_SWITCH;
    }
    if (memory->stiff_steps > 0 && ++memory->nonstiff_steps >= NONSTIFF_STEPS_TO_CLEAR)
        memory->stiff_steps = memory->nonstiff_steps = 0;
    return 0;
}

/* A short final step with the cheaper method. 0: there may be an event in it, or its error is too large. */
static int short_final_step(Solver *s, const Problem *problem, double tolerance, SolverMemory *memory) {
    for (size_t k = 0; k < s->n_guards; k++)
        if (s->g_old[k] <= 0) return 0; /* it may become positive and cross zero within the step */
    if (memory->short_step_backoff > 0) {
        memory->short_step_backoff--;
        return 0;
    }
    s->steps++;
    if (!(short_step(s, problem, tolerance) < SHORT_STEP_ERROR)) {
        memory->short_step_backoff = SHORT_STEP_BACKOFF;
        return 0;
    }
    if (s->n_guards == 0) return 1;
    evaluate_guards(s, problem, s->t + s->h, s->x_new, s->g_new);
    for (size_t k = 0; k < s->n_guards; k++)
        if (!(s->g_new[k] > 0)) return 0;
    memcpy(s->g_old, s->g_new, s->n_guards * sizeof *s->g_old);
    return 1;
}

/* Step-size control. */
typedef struct {
    double h_next;        /* the step size that the error control wants next */
    double growth_factor; /* by which the last accepted step could have been larger */
    int rejected;         /* the last step was */
} Control;

/* Tries the step s->h, which is h_wanted or was cut to end at the end of the run; 0 when it is rejected. */
static int try_step(Solver *s, const Problem *problem, double tolerance, int stiff, double h_wanted, Control *control) {
    s->steps++;
    const double error =
        stiff ? implicit_step(s, problem, tolerance, control->rejected) : explicit_step(s, problem, tolerance);
    const double order = stiff ? IMPLICIT_ORDER : EXPLICIT_ORDER;
    const double limit = control->rejected ? MAX_FACTOR_AFTER_REJECTION : MAX_FACTOR;
    control->growth_factor = SAFETY * pow(error, -1 / order);
    const double factor = isfinite(error) ? fmin(fmax(control->growth_factor, MIN_FACTOR), limit) : FACTOR_NOT_FINITE;
    control->rejected = !(error < 1);
    if (control->rejected) {
        control->h_next = s->h * fmin(factor, MAX_FACTOR_OF_REJECTED);
        return 0;
    }
    const double h_next = s->h * factor;
    control->h_next = s->h < h_wanted ? fmax(control->h_next, h_next) : h_next; /* a cut step never lowers it */
    return 1;
}

/* Integrates from (s->t, s->x) to t_end or to the first event, which is then at (*t, x). */
static Outcome integrate(Solver *s, const Problem *problem, const SolverOptions *options, SolverMemory *memory,
                         double t_end, Control *control, double *t, double *x, size_t *guard) {
    const double tolerance = options->relative_tolerance;
    const double run = t_end - s->t;
    const size_t bytes = s->n * sizeof *x;
    for (;;) {
        if (s->evaluations >= options->evaluation_limit) return TOO_MANY_EVALUATIONS;
        const double left = t_end - s->t;
        const double h = options->max_step > 0 ? fmin(control->h_next, options->max_step) : control->h_next;
        const int last = h >= left * (1 - END_ROUNDING);
        const int stiff = s->implicit;
        s->h = last ? left : h;
        if (!last && !(s->h > MIN_STEP * fabs(s->t))) return STEP_TOO_SMALL;
        if (!stiff && last && SHORT_STEP_RATIO * left <= h && short_final_step(s, problem, tolerance, memory)) {
            if (s->t + s->h == t_end) s->slope_after = short_end_slope(s);
            memcpy(s->x, s->x_new, bytes);
            s->t = t_end;
            return ARRIVED;
        }
        if (!try_step(s, problem, tolerance, stiff, h, control)) continue;
        if (options->method == AUTOMATIC && !stiff && looks_stiff(s, memory, run)) {
            memory->stiff = s->implicit = 1;
            memory->explicit_step = s->h;
        }
        double theta = 1;
        if (s->n_guards && first_event(s, problem, stiff, control->growth_factor, guard, &theta)) {
            dense_output(s, stiff, theta, x);
            *t = s->t + theta * s->h;
            return EVENT;
        }
        if (last && !stiff && s->t + s->h == t_end) s->slope_after = explicit_end_slope(s);
        s->t = last ? t_end : s->t + s->h;
        memcpy(s->x, s->x_new, bytes);
        if (last) return ARRIVED;
        if (stiff)
            evaluate_rates(s, problem, s->t, s->x, s->slope);
        else
            memcpy(s->slope, explicit_end_slope(s), bytes);
    }
}

Outcome solver_run(Solver *s, const Problem *problem, const SolverOptions *options, SolverMemory *memory, double t_end,
                   double *t, double *x, size_t *guard) {
    const int slope_known = s->slope_known;
    s->slope_known = 0;
    s->slope_after = NULL;
    s->steps = s->evaluations = 0;
    memcpy(s->x, x, s->n * sizeof *x);
    s->t = *t;
    if (s->n_guards && event_at_start(s, problem, guard)) return EVENT;
    /* nothing to integrate, or only the rest after an event at the very end */
    if (s->n == 0 || t_end - *t <= NEGLIGIBLE_INTERVAL * EVENT_TIME_TOLERANCE) {
        *t = t_end;
        return ARRIVED;
    }
    if (options->method != AUTOMATIC) memory->stiff = options->method == IMPLICIT;
    s->implicit = options->method == IMPLICIT || (memory->stiff && implicit_pays(s, t_end - *t, memory->explicit_step));
    if (!slope_known) evaluate_rates(s, problem, s->t, s->x, s->slope);
    const double step = s->implicit ? memory->implicit_step : memory->explicit_step;
    Control control = {.h_next = step > 0 ? step : first_step(s, options->relative_tolerance)};
    const Outcome outcome = integrate(s, problem, options, memory, t_end, &control, t, x, guard);
    if (outcome != EVENT) {
        *t = s->t;
        memcpy(x, s->x, s->n * sizeof *x);
    }
    *(s->implicit ? &memory->implicit_step : &memory->explicit_step) = control.h_next;
    return outcome;
}
