/* Integration with error control: an explicit and an implicit one-step method, event location on their dense output. */
#ifndef MECHFMU_SOLVER_H
#define MECHFMU_SOLVER_H

#include <stddef.h>

/* dx/dt = rates(t, x); an event is a zero crossing of a guard: it was positive and is not any more. */
typedef struct {
    size_t n, n_guards;
    void (*rates)(void *context, double t, const double *x, double *dx);
    void (*tangent)(void *context, double t, const double *x, double t_dot, const double *x_dot, double *dx_dot);
    void (*guards)(void *context, double t, const double *x, double *g);
    void *context;
} Problem;

typedef enum { EXPLICIT = 1, IMPLICIT = 2, AUTOMATIC = 3 } Method;

/* The solver's memory between calls: plain numbers, part of the FMU state. */
typedef struct {
    double explicit_step;   /* the step size that the error control wants next; 0: none yet */
    double implicit_step;   /* likewise */
    double unchanged_for;   /* how long inputs have not changed and no event has occurred, s */
    double long_t, long_h;  /* the long step that has been made: from long_t by long_h; long_h 0: there is none */
    int stiff;              /* stability has limited the explicit steps, and the implicit method has taken over */
    int stiff_steps;        /* explicit steps that looked stiff */
    int nonstiff_steps;     /* explicit steps that did not, since the last one that did */
    int short_step_backoff; /* short final steps not to try, because the error of the last one was too large */
} SolverMemory;

typedef struct {
    double relative_tolerance; /* also the absolute one */
    double max_step;           /* 0: no limit */
    Method method;
    long evaluation_limit; /* of the problem's functions; checked between steps */
} SolverOptions;

typedef enum { ARRIVED, EVENT, TOO_MANY_EVALUATIONS, STEP_TOO_SMALL } Outcome;

typedef struct Solver Solver;

/* Long steps. A run that is much shorter than the step that the error control wants ends inside a step of the size of
 * several runs, and so do the next ones, as long as each begins where the last one ended: there the state comes from
 * the dense output. Whoever changes inputs or states in between sets unchanged_for to 0, which ends the long step. */
size_t solver_long_step_size(size_t n); /* of the long step, in numbers */

/* The size of a solver's memory for n states and n_guards guards; solver_init lays the solver out in it. `long_step`:
 * where the long step is kept that has been made, together with the SolverMemory; NULL: none is made. */
size_t solver_size(size_t n, size_t n_guards);
Solver *solver_init(void *memory, size_t n, size_t n_guards, double *long_step);

/* Keeps the long step that the last run has made, if it has. */
void solver_keep_long_step(const Solver *solver);

/* The guards before a change of inputs, parameters or states at the start of the next run. A guard that crosses zero by
 * that change is an event at the start of the run. `unchanged`: nothing has changed. */
void solver_guards_before(Solver *solver, const double *g, int unchanged);

/* The guards at the end of a run that has arrived, or before the event of a run that has ended with one. */
const double *solver_guards_last(const Solver *solver);

/* The slope f(t, x): solver_slope_before sets it for the start of the next run, solver_slope_after returns it at the
 * end of a run that has arrived, or NULL where it was not computed. Each saves an evaluation and has the same value. */
void solver_slope_before(Solver *solver, const double *slope);
const double *solver_slope_after(const Solver *solver);

/* What a run needs to go on: nothing when it has ended, otherwise a calculation that depends on the problem alone. */
typedef enum {
    NOTHING,
    SLOPE,           /* the rates at the start */
    GUARDS_AT_START, /* the guards there */
    EXPLICIT_STEP,   /* a trial step */
    SHORT_STEP,      /* one with the cheaper explicit method */
    LONG_STEP,       /* an explicit one that goes beyond the end of the run, with its dense output */
    GUARDS_AT_END,   /* the guards at the end of the run, inside a long step */
    IMPLICIT_STEP,
    GUARDS_IN_STEP /* the guards at points inside and at the end of the accepted step */
} Need;

/* A run in parts: solver_begin and solver_continue return what it needs; solver_calculate, or a batch for several
 * solvers at once, does the calculation, before solver_continue. At the end of the run solver_end returns its outcome
 * as solver_run does. */
Need solver_begin(Solver *solver, const SolverOptions *options, SolverMemory *memory, double t_end, double t,
                  const double *x);
void solver_calculate(Solver *solver, const Problem *problem, const SolverOptions *options, Need need);
Need solver_continue(Solver *solver, const Problem *problem, const SolverOptions *options, SolverMemory *memory,
                     Need need);
Outcome solver_end(const Solver *solver, double *t, double *x, size_t *guard);

/* Integrates from (*t, x) to t_end or to the first event, whose first guard is then *guard. On failure (*t, x) is the
 * last point that was reached. */
Outcome solver_run(Solver *solver, const Problem *problem, const SolverOptions *options, SolverMemory *memory,
                   double t_end, double *t, double *x, size_t *guard);

/* Steps taken (accepted and rejected) by the last run. */
long solver_steps(const Solver *solver);

/* Evaluations of the problem's functions by the last run. A factorization of the Jacobian counts as the number of
 * evaluations that take as long. */
long solver_evaluations(const Solver *solver);

#endif
