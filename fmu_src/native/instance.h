/* One instance of a mechanism. Its whole state is in one block of memory, so that saving and restoring it is a copy. */
#ifndef MECHFMU_INSTANCE_H
#define MECHFMU_INSTANCE_H

#include "component.h"
#include "model.h"
#include "solver.h"

enum { INPUT_ORDERS = 3 }; /* the highest derivative of an input that can be set */

typedef struct {
    double t;
    double tolerance; /* of the experiment; 0: not defined */
    double stop_time; /* of the experiment; INFINITY: not defined */
    SolverMemory memory;
    int phase;
    int start_state_dirty;    /* the states are to be computed from the start parameters again */
    int polynomial;           /* input derivatives have been set for the next step */
    int started;              /* Model Exchange: continuous-time mode has been entered */
    int parameters_unchecked; /* Model Exchange: parameters were set after initialization and not checked yet */
    int unused;
    /* x, d, u, p, g, then INPUT_ORDERS times the derivatives of u, then the solver's long step. g: the guards at the
     * end of the last step; in Model Exchange positive where a guard has not crossed zero. */
    double values[];
} State;

/* What happened in a step or in an event iteration. */
typedef struct {
    const char *failure; /* why it failed, or NULL */
    double t;            /* where it failed */
    int stopped;         /* by an event whose note ends the simulation */
} Events;

typedef struct {
    Component component;
    State *state;
    double *x, *d, *u, *p, *g, *u_dot; /* in state->values */
    /* caches and scratch memory: never part of the state */
    int outputs_known, rates_known, guards_known;
    double *y, *dx;
    double *x_new, *d_new, *d_step, *u_now, *g_now, *g_before, *g_crossed, *r;
    double *t_noted; /* when the event of a guard with a note first occurred in the last step; NAN: it did not */
    double *x_dot, *d_seed, *u_seed, *p_seed, *dx_dot, *y_dot;
    double *work;
    Solver *solver;
    /* the step being made */
    double t_end, t_run; /* t_run: where the next run of the solver begins */
    int run_count;       /* runs of the solver that have ended with an event */
    int ended;           /* there is no further run */
    SolverMemory memory;
    SolverOptions options;
    Events events;
} Instance;

/* Lifecycle. instance_new returns NULL when there is no memory. */
Instance *instance_new(const char *name, fmi2Type type, const fmi2CallbackFunctions *callbacks, fmi2Boolean logging);
void instance_free(Instance *self);
void instance_reset(Instance *self);

/* Values. A change must be followed by instance_changed. */
void instance_changed(Instance *self);
void instance_update_start_state(Instance *self); /* from the parameters, when they have changed */
double instance_get(Instance *self, const Row *row, size_t index);
const double *instance_rates(Instance *self);

/* The block of memory that is the state. */
size_t instance_state_size(void);

/* Derivative of outputs and rates (self->y_dot, self->dx_dot) along self->x_dot, self->d_seed, self->u_seed,
 * self->p_seed and time. */
void instance_tangent(Instance *self, double t_dot);

/* Co-Simulation: integrates to the time t_end. 0 when it failed, as self->events says; the instance has not changed
 * then. */
int instance_step(Instance *self, double t_end);

/* The same in parts, as in solver.h: instance_calculate, or a batch, does what self->solver needs. */
Need instance_step_begin(Instance *self, double t_end);
void instance_calculate(Instance *self, Need need);
Need instance_step_continue(Instance *self, Need need);
int instance_step_end(Instance *self);

/* Logs what the step has to say, and returns its status (fmi2.c). */
fmi2Status report_step(Instance *self);

/* Model Exchange: handles the events of guards that have crossed zero since the last call, and projects states that
 * violate their constraints by more than the tolerance. *changed: whether the states changed; *stopped: whether an
 * event ends the simulation. 0: the event iteration does not converge. */
int instance_events(Instance *self, int *changed, int *stopped);

/* Model Exchange: the event indicators, with a hysteresis: a guard that rests at zero does not change their sign. */
void instance_indicators(Instance *self, double *z);

/* Model Exchange: whether the states violate their constraints by more than the tolerance. */
int instance_needs_projection(Instance *self);

#endif
