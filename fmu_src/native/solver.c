/* Step-size control, choice of the method, event location. */
#include "steps.h"

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
enum { MAX_CROSSING_ITERATIONS = 200 };
enum { BISECTION_PERIOD = 3 }; /* every third iteration of the search for a zero crossing is a bisection */

enum { STIFF_STEPS_TO_SWITCH = 15 };  /* steps that look stiff before the implicit method takes over */
enum { NONSTIFF_STEPS_TO_CLEAR = 6 }; /* steps that do not look stiff before the count starts again */

enum { SHORT_STEP_RATIO = 5 };    /* a final step is short when the error control allows one so many times larger */
enum { SHORT_STEP_BACKOFF = 10 }; /* final steps until a short one is tried again after one was rejected */
static const double SHORT_STEP_ERROR = 0.1; /* allowed in a short step, in units of the tolerance: there are many */

/* --- memory ------------------------------------------------------------------------------------------------------- */

static size_t doubles_needed(size_t n, size_t n_guards) {
    return n * (4 + MOST_STAGES + DENSE_ROWS) + 2 * n * n + (4 + EVENT_SAMPLES_PER_STEP) * n_guards;
}

size_t solver_size(size_t n, size_t n_guards) {
    return sizeof(Solver) + doubles_needed(n, n_guards) * sizeof(double) + n * sizeof(size_t);
}

Solver *solver_init(void *memory, size_t n, size_t n_guards, double *long_step) {
    Solver *s = memory;
    double *next = (double *)(s + 1);
    Step *step = &s->step;
    step->n = n;
    s->n_guards = n_guards;
    s->steps = s->evaluations = 0;
    s->g_known = s->g_unchanged = 0;
    s->slope_known = 0;
    s->slope_after = NULL;
    s->long_step = long_step;
    s->long_step_made = 0;
    double **vectors[] = {&step->x, &step->slope, &step->x_new, &step->stage};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++, next += n) *vectors[i] = next;
    for (int i = 0; i < MOST_STAGES; i++, next += n) step->k[i] = next;
    for (int i = 0; i < DENSE_ROWS; i++, next += n) step->dense[i] = next;
    s->jacobian = next;
    s->factors = next + n * n;
    s->g_old = next + 2 * n * n;
    s->g_new = s->g_old + n_guards;
    s->g_trial = s->g_new + n_guards;
    s->crossings = s->g_trial + n_guards;
    s->g_samples = s->crossings + n_guards;
    s->pivots = (size_t *)(s->g_samples + EVENT_SAMPLES_PER_STEP * n_guards);
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
    memcpy(s->step.slope, slope, s->step.n * sizeof *slope);
    s->slope_known = 1;
}

const double *solver_slope_after(const Solver *s) { return s->slope_after; }

/* --- events ------------------------------------------------------------------------------------------------------- */

static void evaluate_guards(Solver *s, const Problem *problem, double t, const double *x, double *g) {
    s->evaluations++;
    problem->guards(problem->context, t, x, g);
}

static void prepare_dense_output(Solver *s, const Problem *problem) {
    if (s->stiff)
        implicit_prepare_dense_output(&s->step);
    else
        explicit_prepare_dense_output(&s->step, problem->rates, problem->context);
    s->dense_prepared = 1;
}

static void dense_output(const Solver *s, double theta, double *x) {
    if (s->stiff)
        implicit_dense_output(&s->step, theta, x);
    else
        explicit_dense_output(&s->step, theta, x);
}

static void guards_at(Solver *s, const Problem *problem, double theta, double *g) {
    Step *step = &s->step;
    dense_output(s, theta, step->stage);
    evaluate_guards(s, problem, step->t + theta * step->h, step->stage, g);
}

/* Whether guard k crosses zero between g_old and g_new. */
static int crosses_zero(const Solver *s, size_t k) { return s->g_old[k] > 0 && s->g_new[k] <= 0; }

/* The zero crossing of guard k between fractions a and b of the accepted step, where its values are ga > 0 and gb <= 0:
 * the end of the last bracket, at which the guard is not positive. Regula falsi, Illinois variant, with bisections. */
static double locate_zero_crossing(Solver *s, const Problem *problem, size_t k, double a, double b) {
    const double tolerance = fmax(EVENT_TIME_TOLERANCE / s->step.h, 4 * DBL_EPSILON);
    double ga = s->g_old[k], gb = s->g_new[k];
    int side = 0;
    for (int i = 0; i < MAX_CROSSING_ITERATIONS && b - a > tolerance; i++) {
        const int bisect = i % BISECTION_PERIOD == BISECTION_PERIOD - 1;
        double c = bisect ? 0.5 * (a + b) : (a * gb - b * ga) / (gb - ga);
        if (!(c > a && c < b)) c = 0.5 * (a + b);
        guards_at(s, problem, c, s->g_trial);
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

/* Whether guards have crossed zero before the run begins, where they are g_trial. */
static int event_at_start(Solver *s) {
    const int known = s->g_known;
    s->g_known = 0;
    for (size_t k = 0; known && k < s->n_guards; k++)
        if (s->g_old[k] > 0 && s->g_trial[k] <= 0) {
            s->guard = k;
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
static int first_crossing(Solver *s, const Problem *problem, double a, double b, size_t *guard, double *theta) {
    int found = 0;
    for (size_t k = 0; k < s->n_guards; k++) {
        s->crossings[k] = INFINITY;
        if (!crosses_zero(s, k)) continue;
        s->crossings[k] = locate_zero_crossing(s, problem, k, a, b);
        if (!found || s->crossings[k] < *theta) {
            *theta = s->crossings[k];
            *guard = k;
        }
        found = 1;
    }
    const double latest = *theta + 2 * EVENT_TIME_TOLERANCE / s->step.h;
    for (size_t k = 0; found && k < s->n_guards; k++)
        if (s->crossings[k] <= latest) *theta = fmax(*theta, s->crossings[k]);
    return found;
}

/* The first event in the accepted step, from the guards g_old at its start and its samples: the fraction of the step at
 * which it occurs is *theta. 0 when there is none; g_old then holds the guards at the end. */
static int first_event(Solver *s, const Problem *problem, double *theta) {
    const int n = s->samples;
    for (int sample = 1; sample <= n; sample++) {
        const double a = (double)(sample - 1) / n, b = (double)sample / n;
        int any = 0;
        memcpy(s->g_new, s->g_samples + (size_t)(sample - 1) * s->n_guards, s->n_guards * sizeof *s->g_new);
        for (size_t k = 0; k < s->n_guards; k++) any |= crosses_zero(s, k);
        if (any && !s->dense_prepared) prepare_dense_output(s, problem);
        if (any && first_crossing(s, problem, a, b, &s->guard, theta)) return 1;
        memcpy(s->g_old, s->g_new, s->n_guards * sizeof *s->g_old);
    }
    return 0;
}

/* The size of the first step, from the sizes of the state and its slope. */
static double first_step(const Step *s, double tolerance) {
    double size = 0, slope = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double scale = tolerance * (1 + fabs(s->x[i]));
        size += (s->x[i] / scale) * (s->x[i] / scale);
        slope += (s->slope[i] / scale) * (s->slope[i] / scale);
    }
    if (size < FIRST_STEP_NEGLIGIBLE_SIZE || slope < FIRST_STEP_NEGLIGIBLE_SIZE) return FIRST_STEP_DEFAULT;
    return FIRST_STEP_CHANGE * sqrt(size / slope);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* Whether explicit steps of size h take longer for a run of this length than one implicit step, with its Jacobian. */
static int implicit_pays(const Solver *s, double h) {
    return EXPLICIT_EVALUATIONS * s->span > implicit_cost(s->step.n) * h;
}

/* Hairer's test: the explicit method is at its stability limit in step after step; here also: this costs more than the
 * implicit method. */
static int looks_stiff(const Solver *s, SolverMemory *memory) {
    if (s->stiffness > 1 && implicit_pays(s, s->step.h)) {
        memory->nonstiff_steps = 0;
        return ++memory->stiff_steps >= STIFF_STEPS_TO_SWITCH;
    }
    if (memory->stiff_steps > 0 && ++memory->nonstiff_steps >= NONSTIFF_STEPS_TO_CLEAR)
        memory->stiff_steps = memory->nonstiff_steps = 0;
    return 0;
}

/* Step-size control: whether the step is accepted. */
static int accept(Solver *s) {
    const double order = s->stiff ? IMPLICIT_ORDER : EXPLICIT_ORDER;
    const double limit = s->rejected ? MAX_FACTOR_AFTER_REJECTION : MAX_FACTOR;
    const double h = s->step.h;
    s->growth_factor = SAFETY * pow(s->error, -1 / order);
    const double factor = isfinite(s->error) ? fmin(fmax(s->growth_factor, MIN_FACTOR), limit) : FACTOR_NOT_FINITE;
    s->rejected = !(s->error < 1);
    if (s->rejected)
        s->h_next = h * fmin(factor, MAX_FACTOR_OF_REJECTED);
    else
        s->h_next = h < s->h_wanted ? fmax(s->h_next, h * factor) : h * factor; /* a cut step never lowers it */
    return !s->rejected;
}

/* Whether a short final step with the cheaper method is to be tried. */
static int try_short_step(const Solver *s, SolverMemory *memory) {
    if (s->implicit || !s->last || SHORT_STEP_RATIO * s->step.h > s->h_wanted) return 0;
    for (size_t k = 0; k < s->n_guards; k++)
        if (s->g_old[k] <= 0) return 0; /* it may become positive and cross zero within the step */
    if (memory->short_step_backoff > 0) {
        memory->short_step_backoff--;
        return 0;
    }
    return 1;
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

static Need end_run(Solver *s, SolverMemory *memory, Outcome outcome) {
    s->outcome = outcome;
    memory->unchanged_for = outcome == ARRIVED ? memory->unchanged_for + s->span : 0;
    *(s->implicit ? &memory->implicit_step : &memory->explicit_step) = s->h_next;
    return NOTHING;
}

static Need need_step(Solver *s) {
    s->steps++;
    s->short_step = 0;
    s->stiff = s->implicit;
    return s->stiff ? IMPLICIT_STEP : EXPLICIT_STEP;
}

static Need need_guards_in_step(Solver *s, int samples) {
    s->samples = samples;
    s->dense_prepared = 0;
    return GUARDS_IN_STEP;
}

static Need next_step(Solver *s, const SolverOptions *options, SolverMemory *memory) {
    Step *step = &s->step;
    if (s->evaluations >= options->evaluation_limit) return end_run(s, memory, TOO_MANY_EVALUATIONS);
    const double left = s->t_end - step->t;
    s->h_wanted = options->max_step > 0 ? fmin(s->h_next, options->max_step) : s->h_next;
    s->last = s->h_wanted >= left * (1 - END_ROUNDING);
    step->h = s->last ? left : s->h_wanted;
    if (!s->last && !(step->h > MIN_STEP * fabs(step->t))) return end_run(s, memory, STEP_TOO_SMALL);
    const int is_long = s->last && long_step_pays(s, memory);
    if (!is_long && !try_short_step(s, memory)) return need_step(s);
    s->steps++;
    s->short_step = !is_long;
    s->stiff = 0;
    return is_long ? LONG_STEP : SHORT_STEP;
}

/* The accepted step has no event. */
static Need end_step(Solver *s, const Problem *problem, const SolverOptions *options, SolverMemory *memory) {
    Step *step = &s->step;
    const size_t bytes = step->n * sizeof *step->x;
    const double *end_slope = step->k[s->short_step ? SHORT_END : EXPLICIT_END];
    if (s->last && !s->stiff && step->t + step->h == s->t_end) s->slope_after = end_slope;
    step->t = s->last ? s->t_end : step->t + step->h;
    memcpy(step->x, step->x_new, bytes);
    if (s->last) return end_run(s, memory, ARRIVED);
    if (s->stiff) {
        s->evaluations++;
        problem->rates(problem->context, step->t, step->x, step->slope);
    } else {
        memcpy(step->slope, end_slope, bytes);
    }
    return next_step(s, options, memory);
}

/* An explicit or implicit step has been tried. */
static Need judge_step(Solver *s, const Problem *problem, const SolverOptions *options, SolverMemory *memory) {
    if (!accept(s)) return next_step(s, options, memory);
    if (options->method == AUTOMATIC && !s->stiff && looks_stiff(s, memory)) {
        memory->stiff = s->implicit = 1;
        memory->explicit_step = s->step.h;
    }
    if (s->n_guards) return need_guards_in_step(s, event_samples(s, s->growth_factor));
    return end_step(s, problem, options, memory);
}

static Need judge_short_step(Solver *s, const Problem *problem, const SolverOptions *options, SolverMemory *memory) {
    if (!(s->error < SHORT_STEP_ERROR)) {
        memory->short_step_backoff = SHORT_STEP_BACKOFF;
        return need_step(s);
    }
    return s->n_guards ? need_guards_in_step(s, 1) : end_step(s, problem, options, memory);
}

/* The run has gone to its end inside a long step. */
static Need judge_end(Solver *s, SolverMemory *memory) {
    for (size_t k = 0; k < s->n_guards; k++)
        if (!(s->g_trial[k] > 0)) {
            long_step_leave(s, memory);
            return GUARDS_AT_START;
        }
    memcpy(s->g_old, s->g_trial, s->n_guards * sizeof *s->g_old);
    s->g_known = s->g_unchanged = s->slope_known = 0;
    return end_run(s, memory, ARRIVED);
}

static Need need_guards_at_end(Solver *s, SolverMemory *memory) {
    return s->n_guards ? GUARDS_AT_END : judge_end(s, memory);
}

static Need judge_long_step(Solver *s, const SolverOptions *options, SolverMemory *memory) {
    const double inside = long_step_error_inside(s, options->relative_tolerance);
    s->error = inside < s->error ? s->error : inside; /* NaN stays */
    if (!accept(s)) return next_step(s, options, memory);
    long_step_enter(s, memory);
    return need_guards_at_end(s, memory);
}

static Need judge_guards(Solver *s, const Problem *problem, const SolverOptions *options, SolverMemory *memory) {
    Step *step = &s->step;
    double theta = 1;
    if (s->short_step) {
        for (size_t k = 0; k < s->n_guards; k++)
            if (!(s->g_samples[k] > 0)) return need_step(s); /* there may be an event in it */
        memcpy(s->g_old, s->g_samples, s->n_guards * sizeof *s->g_old);
    } else if (first_event(s, problem, &theta)) {
        dense_output(s, theta, step->stage);
        memcpy(step->x, step->stage, step->n * sizeof *step->x);
        step->t = step->t + theta * step->h;
        return end_run(s, memory, EVENT);
    }
    return end_step(s, problem, options, memory);
}

/* The run begins: its start has no event. */
static Need begin_steps(Solver *s, const SolverOptions *options, SolverMemory *memory) {
    Step *step = &s->step;
    /* nothing to integrate, or only the rest after an event at the very end */
    if (step->n == 0 || s->t_end - step->t <= NEGLIGIBLE_INTERVAL * EVENT_TIME_TOLERANCE) {
        step->t = s->t_end;
        s->slope_known = 0;
        s->outcome = ARRIVED;
        return NOTHING;
    }
    if (options->method != AUTOMATIC) memory->stiff = options->method == IMPLICIT;
    s->implicit = options->method == IMPLICIT || (memory->stiff && implicit_pays(s, memory->explicit_step));
    if (s->slope_known) return solver_continue(s, NULL, options, memory, SLOPE);
    s->evaluations++;
    return SLOPE;
}

Need solver_begin(Solver *s, const SolverOptions *options, SolverMemory *memory, double t_end, double t,
                  const double *x) {
    s->slope_after = NULL;
    s->steps = s->evaluations = 0;
    s->rejected = 0;
    memcpy(s->step.x, x, s->step.n * sizeof *x);
    s->step.t = s->t_begin = t;
    s->t_end = t_end;
    s->span = t_end - t;
    s->long_step_made = 0;
    if (long_step_goes_on(s, memory)) {
        s->implicit = 0;
        s->h_next = memory->explicit_step;
        long_step_continue(s, memory);
        return need_guards_at_end(s, memory);
    }
    memory->long_h = 0;
    if (s->n_guards && !s->g_unchanged) return GUARDS_AT_START;
    s->g_known = s->g_unchanged = 0;
    return begin_steps(s, options, memory);
}

Need solver_continue(Solver *s, const Problem *problem, const SolverOptions *options, SolverMemory *memory, Need need) {
    const double step = s->implicit ? memory->implicit_step : memory->explicit_step;
    switch (need) {
    case GUARDS_AT_START:
        s->evaluations++;
        if (!event_at_start(s)) return begin_steps(s, options, memory);
        s->slope_known = 0;
        memory->unchanged_for = 0;
        s->outcome = EVENT;
        return NOTHING;
    case SLOPE:
        s->slope_known = 0;
        s->h_next = step > 0 ? step : first_step(&s->step, options->relative_tolerance);
        return next_step(s, options, memory);
    case EXPLICIT_STEP: s->evaluations += EXPLICIT_EVALUATIONS; return judge_step(s, problem, options, memory);
    case IMPLICIT_STEP: return judge_step(s, problem, options, memory);
    case SHORT_STEP: s->evaluations += SHORT_EVALUATIONS; return judge_short_step(s, problem, options, memory);
    case LONG_STEP:
        s->evaluations += EXPLICIT_EVALUATIONS + DENSE_EVALUATIONS;
        return judge_long_step(s, options, memory);
    case GUARDS_AT_END: s->evaluations++; return judge_end(s, memory);
    case GUARDS_IN_STEP:
        s->evaluations += s->samples + (s->samples > 1 && !s->stiff ? DENSE_EVALUATIONS : 0);
        return judge_guards(s, problem, options, memory);
    case NOTHING: break;
    }
    return NOTHING;
}

void solver_calculate(Solver *s, const Problem *problem, const SolverOptions *options, Need need) {
    Step *step = &s->step;
    const double tolerance = options->relative_tolerance;
    switch (need) {
    case SLOPE: problem->rates(problem->context, step->t, step->x, step->slope); break;
    case GUARDS_AT_START:
    case GUARDS_AT_END: problem->guards(problem->context, step->t, step->x, s->g_trial); break;
    case EXPLICIT_STEP:
        s->error = explicit_step(step, problem->rates, problem->context, tolerance);
        s->stiffness = explicit_stiffness(step);
        break;
    case SHORT_STEP: s->error = short_step(step, problem->rates, problem->context, tolerance); break;
    case LONG_STEP:
        s->error = explicit_step(step, problem->rates, problem->context, tolerance);
        explicit_prepare_dense_output(step, problem->rates, problem->context);
        break;
    case IMPLICIT_STEP: s->error = implicit_step(s, problem, tolerance, s->rejected); break;
    case GUARDS_IN_STEP:
        if (s->samples > 1) prepare_dense_output(s, problem);
        for (int sample = 1; sample <= s->samples; sample++) {
            double *g = s->g_samples + (size_t)(sample - 1) * s->n_guards;
            const int inside = sample < s->samples;
            const double theta = (double)sample / s->samples;
            if (inside) dense_output(s, theta, step->stage);
            problem->guards(problem->context, inside ? step->t + theta * step->h : step->t + step->h,
                            inside ? step->stage : step->x_new, g);
        }
        break;
    case NOTHING: break;
    }
}

Outcome solver_end(const Solver *s, double *t, double *x, size_t *guard) {
    *t = s->step.t;
    memcpy(x, s->step.x, s->step.n * sizeof *x);
    if (s->outcome == EVENT) *guard = s->guard;
    return s->outcome;
}

Outcome solver_run(Solver *s, const Problem *problem, const SolverOptions *options, SolverMemory *memory, double t_end,
                   double *t, double *x, size_t *guard) {
    Need need = solver_begin(s, options, memory, t_end, *t, x);
    while (need != NOTHING) {
        solver_calculate(s, problem, options, need);
        need = solver_continue(s, problem, options, memory, need);
    }
    return solver_end(s, t, x, guard);
}
