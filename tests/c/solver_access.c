/* Single steps of both methods, without error control, and their dense output: for the tests of their order. */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

#if defined _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

EXPORT size_t access_solver_size(size_t n, size_t n_guards) { return solver_size(n, n_guards); }

EXPORT size_t access_long_step_size(size_t n) { return solver_long_step_size(n); }

EXPORT Outcome access_run(void *memory, const Problem *problem, const SolverOptions *options, SolverMemory *remembered,
                          double *long_step, double t_end, double *t, double *x, size_t *guard, long *steps) {
    Solver *solver = solver_init(memory, problem->n, problem->n_guards, long_step);
    const Outcome outcome = solver_run(solver, problem, options, remembered, t_end, t, x, guard);
    solver_keep_long_step(solver);
    *steps = solver_steps(solver);
    return outcome;
}

/* From (t, x) by h; x becomes the new point, inside[i] the point at t + theta[i] * h. Returns the error estimate in
 * units of the tolerance. */
EXPORT double access_step(void *memory, const Problem *problem, int implicit, double t, double h, double tolerance,
                          double *x, size_t n_theta, const double *theta, double *inside) {
    Solver *s = solver_init(memory, problem->n, problem->n_guards, NULL);
    Step *step = &s->step;
    step->t = t;
    step->h = h;
    memcpy(step->x, x, step->n * sizeof *x);
    problem->rates(problem->context, t, x, step->slope);
    const double error = implicit ? implicit_step(s, problem, tolerance, 0)
                                  : explicit_step(step, problem->rates, problem->context, tolerance);
    memcpy(x, step->x_new, step->n * sizeof *x);
    if (n_theta) {
        if (implicit)
            implicit_prepare_dense_output(step);
        else
            explicit_prepare_dense_output(step, problem->rates, problem->context);
    }
    for (size_t i = 0; i < n_theta; i++) {
        if (implicit)
            implicit_dense_output(step, theta[i], inside + i * step->n);
        else
            explicit_dense_output(step, theta[i], inside + i * step->n);
    }
    return error;
}
