/* The solver's memory, and the implicit step. Private to the solver and to batches of solvers. */
#ifndef MECHFMU_STEPS_H
#define MECHFMU_STEPS_H

#include "event_limits.h"
#include "explicit_step.h"
#include "solver.h"

struct Solver {
    Step step; /* the step being made */
    size_t n_guards;
    long steps;
    long evaluations; /* of the equations, by this run */
    double *jacobian, *factors;
    size_t *pivots;
    double *g_old, *g_new, *g_trial;
    double *crossings;         /* where in the step each guard crosses zero, while an event is located */
    double *g_samples;         /* the guards at EVENT_SAMPLES_PER_STEP points of the step */
    int g_known;               /* g_old holds the guards before the next run */
    int g_unchanged;           /* they are the guards at its start as well */
    int slope_known;           /* step.slope is the one at the start of the next run */
    int implicit;              /* the method of this run */
    const double *slope_after; /* at the end of the last run; NULL: not known */
    double *long_step;         /* the one that is kept: state at its start, then the rows of the dense output */
    int long_step_made;        /* by this run: step.x_new is the state at its start, step.dense the dense output */

    /* the run, between two of the calculations that it needs */
    double t_begin, t_end, span;
    double h_wanted;      /* the step size before it was cut to end at the end of the run */
    double h_next;        /* the step size that the error control wants next */
    double growth_factor; /* by which the last accepted step could have been larger */
    int rejected;         /* the last step was */
    int last, short_step; /* the step is the final one; with the cheaper method */
    int stiff;            /* the step is implicit */
    Outcome outcome;
    size_t guard; /* of the event */

    /* the results of the calculations */
    double error, stiffness; /* of a step, in units of the tolerance and of the stability limit */
    int samples;             /* how many g_samples are needed, the last one at the end of the step */
    int dense_prepared;      /* the dense output is */
};

/* Computes the trial step and returns its error in units of the tolerance (not finite: the step failed). */
double implicit_step(Solver *s, const Problem *problem, double tolerance, int jacobian_is_fresh);

/* The evaluations of the rates that take as long as a step. */
double implicit_cost(size_t n);

/* Dense output of the accepted step: prepare once, then evaluate at t + theta * h, 0 <= theta <= 1. */
void implicit_prepare_dense_output(Step *s);
void implicit_dense_output(const Step *s, double theta, double *x);

static const double END_ROUNDING = 1e-9; /* a step that leaves less than this part of the rest takes it all */

/* Whether a long step is to be tried at the beginning of the run; its size is then step.h. */
int long_step_pays(Solver *s, const SolverMemory *memory);

/* The error of its dense output, in units of the tolerance: it can be far larger than that at the end of the step. */
double long_step_error_inside(const Solver *s, double tolerance);

/* Goes to the end of the run, inside the long step just accepted or, where that goes on, the one that is kept. */
void long_step_enter(Solver *s, SolverMemory *memory);
int long_step_goes_on(const Solver *s, const SolverMemory *memory);
void long_step_continue(Solver *s, const SolverMemory *memory);

/* Goes back to the beginning of the run: there is an event before its end, and no long step any more. */
void long_step_leave(Solver *s, SolverMemory *memory);

#endif
