/* Long steps: explicit steps over several short runs, which end at points of the dense output. */
#include "steps.h"

#include <math.h>
#include <string.h>

/* A long step is at least so many times as long as the run: it has 15 evaluations and the next one its first, a short
 * step has 6. */
enum { LONG_STEP_RATIO = 5 };

/* The error of the dense output inside a step, in parts of its last coefficient (measured: exoskeleton, from a ten
 * billionth of the tolerance to ten thousand times the tolerance, 1 / 860 to 1 / 740). */
static const double LAST_ROW_ERROR = 1.0 / 800;

size_t solver_long_step_size(size_t n) { return (1 + DENSE_ROWS) * n; }

int long_step_pays(Solver *s, const SolverMemory *memory) {
    Step *step = &s->step;
    if (!s->long_step || s->implicit || step->t != s->t_begin) return 0;
    for (size_t k = 0; k < s->n_guards; k++)
        if (s->g_old[k] <= 0) return 0; /* it may become positive and cross zero between the ends of runs */
    /* not longer than nothing has changed, so that one that is not used up has cost little */
    const double runs = floor(fmin(s->h_wanted, memory->unchanged_for) / s->span * (1 + END_ROUNDING));
    if (runs < LONG_STEP_RATIO) return 0;
    step->h = s->h_wanted = runs * s->span; /* its error says what the next size is to be */
    return 1;
}

double long_step_error_inside(const Solver *s, double tolerance) {
    const Step *step = &s->step;
    double sum = 0;
    for (size_t i = 0; i < step->n; i++) {
        const double scale = tolerance * (1 + fmax(fabs(step->x[i]), fabs(step->x_new[i])));
        const double e = LAST_ROW_ERROR * step->dense[DENSE_ROWS - 1][i] / scale;
        sum += e * e;
    }
    return sqrt(sum / (double)step->n);
}

/* Goes to the end of the run; x_new becomes the state at its beginning. */
static void go_to_end(Solver *s, const Step *long_step, const SolverMemory *memory) {
    Step *step = &s->step;
    const size_t bytes = step->n * sizeof *step->x;
    explicit_dense_output(long_step, fmin((s->t_end - memory->long_t) / memory->long_h, 1), step->stage);
    memcpy(step->x_new, step->x, bytes);
    memcpy(step->x, step->stage, bytes);
    step->t = s->t_end;
}

void long_step_enter(Solver *s, SolverMemory *memory) {
    s->long_step_made = 1;
    memory->long_t = s->step.t;
    memory->long_h = s->step.h;
    go_to_end(s, &s->step, memory);
}

int long_step_goes_on(const Solver *s, const SolverMemory *memory) {
    const double rounding = END_ROUNDING * s->span;
    return s->long_step && memory->unchanged_for > 0 && LONG_STEP_RATIO * (s->span - rounding) <= memory->long_h &&
           s->t_end <= memory->long_t + memory->long_h + rounding;
}

void long_step_continue(Solver *s, const SolverMemory *memory) {
    Step kept = {.n = s->step.n, .x = s->long_step};
    for (size_t row = 0; row < DENSE_ROWS; row++) kept.dense[row] = s->long_step + (1 + row) * kept.n;
    go_to_end(s, &kept, memory);
}

void long_step_leave(Solver *s, SolverMemory *memory) {
    memcpy(s->step.x, s->step.x_new, s->step.n * sizeof *s->step.x);
    s->step.t = s->t_begin;
    s->long_step_made = 0;
    memory->unchanged_for = memory->long_h = 0;
}

void solver_keep_long_step(const Solver *s) {
    const size_t n = s->step.n;
    if (!s->long_step_made) return;
    memcpy(s->long_step, s->step.x_new, n * sizeof *s->long_step);
    for (size_t row = 0; row < DENSE_ROWS; row++)
        memcpy(s->long_step + (1 + row) * n, s->step.dense[row], n * sizeof *s->long_step);
}
