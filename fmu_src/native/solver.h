/* Integration with error control: an explicit and an implicit one-step method, event location on their dense output. */
#ifndef MECHFMU_SOLVER_H
#define MECHFMU_SOLVER_H

#include <stddef.h>

/* dx/dt = rates(t, x); an event is a fall of a guard through zero. */
typedef struct {
    size_t n, n_guards;
    void (*rates)(void *context, double t, const double *x, double *dx);
    void (*tangent)(void *context, double t, const double *x, double t_dot, const double *x_dot, double *dx_dot);
    void (*guards)(void *context, double t, const double *x, double *g);
    void *context;
} Problem;

typedef enum { EXPLICIT = 1, IMPLICIT = 2, AUTOMATIC = 3 } Method;

/* What the solver remembers from one call to the next: plain numbers, part of the FMU state. */
typedef struct {
    double step;              /* the step size that the error control wants next; 0: none yet */
    int stiff;                /* the implicit method has taken over */
    int suspicions, denials;  /* of stiffness */
    int refusals;             /* short steps that are not tried, because the last one was not good enough */
} SolverMemory;

typedef struct {
    double relative_tolerance;  /* also the absolute one */
    double max_step;            /* 0: free */
    Method method;
    long evaluation_limit;      /* of the problem's functions; looked at between steps */
} SolverOptions;

typedef enum { ARRIVED, EVENT, TOO_MANY_EVALUATIONS, STEP_TOO_SMALL } Outcome;

typedef struct Solver Solver;

/* The size of a solver's memory for n states and n_guards guards; solver_init lays the solver out in it. */
size_t solver_size(size_t n, size_t n_guards);
Solver *solver_init(void *memory, size_t n, size_t n_guards);

/* The guards as they stood before whatever changed since (inputs at a communication point): what has fallen by then is an event at the very start
 * of the next run. */
void solver_guards_before(Solver *solver, const double *g);

/* The guards at the end of a run that has arrived; before the event of a run that has ended with one. */
const double *solver_guards_last(const Solver *solver);

/* The slope f(t, x) at the start of the next run, for a caller who knows it; and at the end of a run that has arrived, or NULL when the solver does not
 * know it. The very numbers that an evaluation would give: they save one. */
void solver_slope_before(Solver *solver, const double *slope);
const double *solver_slope_after(const Solver *solver);

/* From (*t, x) to t_end or to the first event, whose first guard is then *guard. On failure *t and x are where it stopped. */
Outcome solver_run(Solver *solver, const Problem *problem, const SolverOptions *options, SolverMemory *memory,
                   double t_end, double *t, double *x, size_t *guard);

/* Steps taken (accepted and rejected) by the last run. */
long solver_steps(const Solver *solver);

/* Evaluations of the problem's functions by the last run; a factorization of the Jacobian counts as many as take equally long. */
long solver_evaluations(const Solver *solver);

#endif
