/* One running mechanism. All that makes its future is in one block of memory, so that saving and restoring it is a copy. */
#ifndef MECHFMU_INSTANCE_H
#define MECHFMU_INSTANCE_H

#include "component.h"
#include "model.h"
#include "solver.h"

enum { INPUT_ORDERS = 3 }; /* inputs may be polynomials of this degree within a step */

typedef struct {
    double t;
    double tolerance; /* of the experiment; 0: not defined */
    SolverMemory memory;
    int phase;
    int stale;        /* the states still follow the start parameters */
    int polynomial;   /* input derivatives have been set for the next step */
    int started;      /* Model Exchange: continuous-time mode has been entered */
    int unchecked;    /* Model Exchange: parameters were set after initialization, and not checked together */
    int unused;
    double values[];  /* x, d, u, p, g, then INPUT_ORDERS times the derivatives of u; g: guards at the end of the last step; in Model Exchange positive where
                         a guard stands, that is, has not fallen */
} State;

typedef struct {
    Component component;
    State *state;
    double *x, *d, *u, *p, *g, *u_dot; /* in state->values */
    /* caches and scratch memory: never part of the state */
    int outputs_known, rates_known;
    double *y, *dx;
    double *x_new, *d_new, *d_step, *u_now, *g_now, *g_standing, *g_falls, *r;
    double *x_dot, *d_seed, *u_seed, *p_seed, *dx_dot, *y_dot;
    double *work;
    Solver *solver;
} Instance;

/* Life. instance_new returns NULL when there is no memory. */
Instance *instance_new(const char *name, fmi2Type type, const fmi2CallbackFunctions *callbacks, fmi2Boolean logging);
void instance_free(Instance *self);
void instance_reset(Instance *self);

/* Values. A change must be followed by instance_changed. */
void instance_changed(Instance *self);
void instance_freshen(Instance *self); /* makes the start state, when it still follows the parameters */
double instance_get(Instance *self, const Row *row, size_t index);
const double *instance_rates(Instance *self);

/* The block of memory that is the state. */
size_t instance_state_size(void);

/* Derivative of outputs and rates (self->y_dot, self->dx_dot) along self->x_dot, self->d_seed, self->u_seed, self->p_seed and time. */
void instance_tangent(Instance *self, double t_dot);

/* Co-Simulation: to the time t_end. 0 when it failed: the instance is as before, *why is a reason and *at where it stopped.
 * *warned is the guard of the last event with a note, when there was one, and *warned_at its time; otherwise NULL. */
int instance_step(Instance *self, double t_end, const char **why, double *at, const Note **warned, double *warned_at);

/* Model Exchange: guards that have fallen since the last call do what they do, and states that have left their constraints by more than the tolerance
 * are projected onto them. *changed tells whether the states changed, *told is the note of the last. 0: events do not come to an end. */
int instance_events(Instance *self, int *changed, const Note **told);

/* Model Exchange: the event indicators. They keep their sign when a guard comes to rest at zero. */
void instance_indicators(Instance *self, double *z);

/* Model Exchange: whether the states have left their constraints by more than the tolerance. */
int instance_needs_projection(Instance *self);

#endif
