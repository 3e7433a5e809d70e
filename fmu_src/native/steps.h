/* One step of each method, and its dense output. Private to the solver. */
#ifndef MECHFMU_STEPS_H
#define MECHFMU_STEPS_H

#include "solver.h"

enum { MOST_STAGES = 16, DENSE_ROWS = 7 };

struct Solver {
    size_t n, n_guards;
    long steps;
    long evaluations; /* of the equations, by this run */
    /* the step being made, from (t, x) by h to x_new; slope is f(t, x) */
    double t, h;
    double *x, *slope, *x_new;
    double *stage;             /* a point inside the step */
    double *k[MOST_STAGES];    /* slopes (explicit) or increments (implicit) */
    double *dense[DENSE_ROWS]; /* coefficients of the dense output, once prepared */
    double *jacobian, *factors;
    size_t *pivots;
    double *g_old, *g_new, *g_trial;
    int g_known;               /* g_old holds the guards before the next run */
    int g_unchanged;           /* they are the guards at its start as well */
    int slope_known;           /* slope is the one at the start of the next run */
    int implicit;              /* the method of this run */
    const double *slope_after; /* at the end of the last run; NULL: not known */
};

/* The problem's functions, counted. */
static inline void evaluate_rates(Solver *s, const Problem *problem, double t, const double *x, double *dx) {
    s->evaluations++;
    problem->rates(problem->context, t, x, dx);
}

static inline void evaluate_tangent(Solver *s, const Problem *problem, double t_dot, const double *x_dot,
                                    double *dx_dot) {
    s->evaluations++;
    problem->tangent(problem->context, s->t, s->x, t_dot, x_dot, dx_dot);
}

static inline void evaluate_guards(Solver *s, const Problem *problem, double t, const double *x, double *g) {
    s->evaluations++;
    problem->guards(problem->context, t, x, g);
}

/* Each computes the trial step s->h and returns its error in units of the tolerance (not finite: the step failed). */
double explicit_step(Solver *s, const Problem *problem, double tolerance);
double implicit_step(Solver *s, const Problem *problem, double tolerance, int jacobian_is_fresh);

/* The same for a step that is much shorter than the error of explicit_step allows: half the work, no dense output. */
double short_step(Solver *s, const Problem *problem, double tolerance);

/* The evaluations of the rates that take as long as a step. */
double explicit_cost(void);
double implicit_cost(size_t n);

/* The explicit step in units of the stability limit: stiff above 1. */
double explicit_stiffness(const Solver *s);

/* The slope at t + h, the end of the accepted step. */
const double *explicit_end_slope(const Solver *s);
const double *short_end_slope(const Solver *s);

/* Dense output of the accepted step: prepare once, then evaluate at t + theta * h, 0 <= theta <= 1. */
void explicit_prepare_dense_output(Solver *s, const Problem *problem);
void explicit_dense_output(const Solver *s, double theta, double *x);
void implicit_prepare_dense_output(Solver *s);
void implicit_dense_output(const Solver *s, double theta, double *x);

#endif
