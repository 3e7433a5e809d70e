#include "instance.h"

#include "event_limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(number) #number
#define DIGITS(number) TEXT(number)
static const char TOO_LONG[] = DIGITS(EVALUATION_LIMIT) " evaluations of the equations were not enough: use a smaller "
                                                        "communication step or a larger tolerance";

/* A guard has to be beyond zero by this much before its event indicator changes its sign: far more than rounding, far
 * less than matters. */
static const double HYSTERESIS = 1e-11;

/* Violation of the constraints, in units of the tolerance, at which an event is requested from the host. The rates
 * stabilize the constraints anyway; a projection restarts the host's solver, and with a smaller limit results were
 * worse (exoskeleton, tolerances 1e-4 and 1e-6). */
static const double PROJECTION_LIMIT = 100;

/* Correction by a projection, in units of the tolerance, that is not worth it: without one the next step of the solver
 * begins with the slope and the guards that it knows. */
static const double NEGLIGIBLE_PROJECTION = 1e-3;

static size_t values_count(void) {
    return model.nx + model.nd + model.nu * (1 + INPUT_ORDERS) + model.np + model.ng + solver_long_step_size(model.nx);
}

size_t instance_state_size(void) { return sizeof(State) + values_count() * sizeof(double); }

static void lay_out(Instance *self) {
    self->x = self->state->values;
    self->d = self->x + model.nx;
    self->u = self->d + model.nd;
    self->p = self->u + model.nu;
    self->g = self->p + model.np;
    self->u_dot = self->g + model.ng;
}

Instance *instance_new(const char *name, fmi2Type type, const fmi2CallbackFunctions *callbacks, fmi2Boolean logging) {
    const size_t scratch =
        model.ny * 2 + model.nx * 4 + model.nd * 3 + model.nu * 2 + model.np + model.ng * 4 + model.nr + model.work;
    Instance *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->state = calloc(1, instance_state_size());
    self->y = calloc(scratch + 1, sizeof(double));
    void *solver = calloc(1, solver_size(model.nx, model.ng));
    if (!self->state || !self->y || !solver ||
        !component_init(&self->component, name, type, callbacks, logging, &self->state->phase, &self->state->t,
                        &self->state->stop_time)) {
        free(solver);
        instance_free(self);
        return NULL;
    }
    lay_out(self);
    self->solver = solver_init(solver, model.nx, model.ng, self->u_dot + INPUT_ORDERS * model.nu);
    double *next = self->y + model.ny;
    struct {
        double **vector;
        size_t size;
    } vectors[] = {{&self->dx, model.nx},       {&self->x_new, model.nx},     {&self->d_new, model.nd},
                   {&self->d_step, model.nd},   {&self->u_now, model.nu},     {&self->g_now, model.ng},
                   {&self->g_before, model.ng}, {&self->g_crossed, model.ng}, {&self->t_noted, model.ng},
                   {&self->r, model.nr},        {&self->x_dot, model.nx},     {&self->d_seed, model.nd},
                   {&self->u_seed, model.nu},   {&self->p_seed, model.np},    {&self->dx_dot, model.nx},
                   {&self->y_dot, model.ny},    {&self->work, model.work}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i].vector = next;
        next += vectors[i].size;
    }
    instance_reset(self);
    return self;
}

void instance_free(Instance *self) {
    if (!self) return;
    free(self->solver);
    free(self->y);
    free(self->state);
    component_release(&self->component);
    free(self);
}

void instance_reset(Instance *self) {
    memset(self->state, 0, instance_state_size());
    self->state->phase = INSTANTIATED;
    self->state->stop_time = INFINITY;
    self->state->start_state_dirty = 1;
    if (model.nu) memcpy(self->u, model.u_start, model.nu * sizeof(double));
    if (model.np) memcpy(self->p, model.p_start, model.np * sizeof(double));
    instance_changed(self);
}

/* --- values ------------------------------------------------------------------------------------------------------- */

void instance_changed(Instance *self) { self->outputs_known = self->rates_known = self->guards_known = 0; }

void instance_update_start_state(Instance *self) {
    if (!self->state->start_state_dirty) return;
    model.initial(&self->state->t, self->x, self->d, self->u, self->p, self->x_new, self->d_new, self->work);
    memcpy(self->x, self->x_new, model.nx * sizeof(double));
    memcpy(self->d, self->d_new, model.nd * sizeof(double));
    self->state->start_state_dirty = 0;
}

const double *instance_rates(Instance *self) {
    instance_update_start_state(self);
    if (!self->rates_known) model.rates(&self->state->t, self->x, self->d, self->u, self->p, self->dx, self->work);
    self->rates_known = 1;
    return self->dx;
}

static const double *outputs(Instance *self) {
    if (!self->outputs_known) model.outputs(&self->state->t, self->x, self->d, self->u, self->p, self->y, self->work);
    self->outputs_known = 1;
    return self->y;
}

double instance_get(Instance *self, const Row *row, size_t index) {
    instance_update_start_state(self);
    switch (row->role) {
    case PARAMETER:
    case CONSTANT: return self->p[index];
    case INPUT: return self->u[index];
    case STATE: return self->x[index];
    case DISCRETE: return self->d[index];
    case OUTPUT: return outputs(self)[index];
    case DERIVATIVE: return instance_rates(self)[index];
    }
    return NAN;
}

void instance_tangent(Instance *self, double t_dot) {
    model.tangent(&self->state->t, self->x, self->d, self->u, self->p, &t_dot, self->x_dot, self->d_seed, self->u_seed,
                  self->p_seed, self->dx_dot, self->y_dot, self->work);
}

/* --- the solver's problem ----------------------------------------------------------------------------------------- */

/* The inputs at time t: constant, or Taylor polynomials around the time of the instance. */
static const double *inputs_at(Instance *self, double t) {
    if (!self->state->polynomial) return self->u;
    const double s = t - self->state->t;
    for (size_t i = 0; i < model.nu; i++) {
        double sum = 0;
        for (int order = INPUT_ORDERS; order >= 1; order--)
            sum = (sum + self->u_dot[(size_t)(order - 1) * model.nu + i]) * s / order;
        self->u_now[i] = self->u[i] + sum;
    }
    return self->u_now;
}

/* Time derivative of the inputs at time t. */
static const double *input_rates_at(Instance *self, double t) {
    const double s = t - self->state->t;
    for (size_t i = 0; i < model.nu; i++) {
        double sum = 0;
        for (int order = INPUT_ORDERS; order >= 2; order--)
            sum = (sum + self->u_dot[(size_t)(order - 1) * model.nu + i]) * s / (order - 1);
        self->u_seed[i] = self->state->polynomial ? self->u_dot[i] + sum : 0;
    }
    return self->u_seed;
}

static void rates(void *context, double t, const double *x, double *dx) {
    Instance *self = context;
    model.rates(&t, x, self->d_step, inputs_at(self, t), self->p, dx, self->work);
}

static void guards(void *context, double t, const double *x, double *g) {
    Instance *self = context;
    model.guards(&t, x, self->d_step, inputs_at(self, t), self->p, g, self->work);
}

static void tangent(void *context, double t, const double *x, double t_dot, const double *x_dot, double *dx_dot) {
    Instance *self = context;
    const double *u_dot = input_rates_at(self, t);
    if (t_dot == 0)
        for (size_t i = 0; i < model.nu; i++) self->u_seed[i] = 0;
    memset(self->d_seed, 0, model.nd * sizeof(double));
    memset(self->p_seed, 0, model.np * sizeof(double));
    model.tangent(&t, x, self->d_step, inputs_at(self, t), self->p, &t_dot, x_dot, self->d_seed, u_dot, self->p_seed,
                  dx_dot, self->y_dot, self->work);
}

/* --- events and steps --------------------------------------------------------------------------------------------- */

static void forget_notes(Instance *self) {
    for (size_t k = 0; k < model.ng; k++) self->t_noted[k] = NAN;
}

/* The event of guard k at time t: its jump changes x_new and d_step. */
static void handle_event(Instance *self, size_t k, double t, Events *events) {
    const Note *note = &model.notes[k];
    if (note->text && !note->only_at_start) {
        if (isnan(self->t_noted[k])) self->t_noted[k] = t;
        if (note->stop) {
            events->stopped = 1;
            events->failure = note->text;
            return;
        }
    }
    /* x_dot and d_new are unused here: jumps must not write where they read */
    model.jumps[k](&t, self->x_new, self->d_step, inputs_at(self, t), self->p, self->x_dot, self->d_new, self->work);
    memcpy(self->x_new, self->x_dot, model.nx * sizeof(double));
    memcpy(self->d_step, self->d_new, model.nd * sizeof(double));
}

/* The event iteration of both interface types: handles the events of guards that were positive in `before` and are not
 * any more, then of those that cross zero because of them, until none does. `located` is a guard whose zero crossing
 * was found at t, or model.ng. On return g_before holds the guards, negative where one has crossed zero and not become
 * positive since. */
static void iterate_events(Instance *self, double t, const double *before, size_t located, Events *events) {
    memcpy(self->g_before, before, model.ng * sizeof(double));
    for (int round = 0; round < EVENT_ROUNDS; round++) {
        int any = 0;
        guards(self, t, self->x_new, self->g_now);
        for (size_t k = 0; k < model.ng; k++) {
            const int crossed = self->g_before[k] > 0 && self->g_now[k] <= 0;
            self->g_crossed[k] = crossed || (round == 0 && k == located);
            if (!crossed)
                self->g_before[k] = self->g_now[k]; /* a guard that has become positive can cross zero again */
        }
        for (size_t k = 0; k < model.ng; k++) {
            if (!self->g_crossed[k]) continue;
            any = 1;
            self->g_before[k] = -1;
            handle_event(self, k, t, events);
            if (events->failure) return;
        }
        if (!any) return;
    }
    events->failure = "events follow each other without end in one moment (chattering)";
}

static Problem problem_of(Instance *self) { return (Problem){model.nx, model.ng, rates, tangent, guards, self}; }

static Need begin_run(Instance *self) {
    return solver_begin(self->solver, &self->options, &self->memory, self->t_end, self->t_run, self->x_new);
}

/* A run of the solver to the end of the step has ended: what the next one needs, after an event. */
static Need end_run(Instance *self) {
    Events *events = &self->events;
    size_t guard = 0;
    const Outcome outcome = solver_end(self->solver, &self->t_run, self->x_new, &guard);
    events->t = self->t_run;
    self->options.evaluation_limit -= solver_evaluations(self->solver);
    self->ended = outcome == ARRIVED;
    if (self->ended) return NOTHING;
    if (outcome == TOO_MANY_EVALUATIONS) events->failure = TOO_LONG;
    if (outcome == STEP_TOO_SMALL)
        events->failure =
            "the internal step size became too small: the solution is no longer finite or changes too fast";
    if (outcome == EVENT && self->run_count++ == EVENT_LIMIT) events->failure = "too many events";
    if (!events->failure) iterate_events(self, self->t_run, solver_guards_last(self->solver), guard, events);
    self->ended = events->failure != NULL;
    return self->ended ? NOTHING : begin_run(self);
}

/* Inputs at the end of a step: they stay where the polynomials took them; the first derivative is kept for the outputs'
 * derivatives. */
static void complete_inputs(Instance *self, double t_end) {
    if (self->state->polynomial) {
        const double *u_dot = input_rates_at(self, t_end);
        memcpy(self->u, inputs_at(self, t_end), model.nu * sizeof(double));
        memset(self->u_dot, 0, INPUT_ORDERS * model.nu * sizeof(double));
        memcpy(self->u_dot, u_dot, model.nu * sizeof(double));
        self->state->polynomial = 0;
    } else {
        memset(self->u_dot, 0, INPUT_ORDERS * model.nu * sizeof(double));
    }
}

static double tolerance_of(const Instance *self) {
    return self->state->tolerance > 0 ? self->state->tolerance : self->p[model.tolerance_index];
}

/* Whether the states a and b differ by more than `limit`, relative to the larger of nominal value and state b. */
static int states_differ(const double *a, const double *b, double limit) {
    for (size_t i = 0; i < model.nx; i++)
        if (!(fabs(a[i] - b[i]) <= limit * fmax(model.x_nominal[i], fabs(b[i])))) return 1;
    return 0;
}

/* Puts x_new back onto the constraints, as x; 0 when it stays. */
static int project(Instance *self, double t) {
    if (model.projects) {
        model.project(&t, self->x_new, self->d_step, self->u, self->p, self->x, self->work);
        if (states_differ(self->x, self->x_new, NEGLIGIBLE_PROJECTION * tolerance_of(self))) return 1;
    }
    memcpy(self->x, self->x_new, model.nx * sizeof(double));
    return 0;
}

/* What the step needs: as its run, or as the next one where that has ended. */
static Need next_need(Instance *self, Need need) {
    while (need == NOTHING && !self->ended) need = end_run(self);
    return need;
}

Need instance_step_begin(Instance *self, double t_end) {
    self->memory = self->state->memory;
    self->options = (SolverOptions){
        self->state->tolerance > 0 ? fmax(self->state->tolerance, MIN_TOLERANCE) : self->p[model.tolerance_index],
        self->p[model.max_step_index],
        (Method)self->p[model.method_index],
        EVALUATION_LIMIT,
    };
    if (self->state->polynomial) self->memory.unchanged_for = 0;
    self->t_end = t_end;
    self->t_run = self->state->t;
    self->run_count = self->ended = 0;
    self->events = (Events){.t = self->state->t};
    forget_notes(self);
    instance_update_start_state(self);
    memcpy(self->x_new, self->x, model.nx * sizeof(double));
    memcpy(self->d_step, self->d, model.nd * sizeof(double));
    if (self->rates_known) solver_slope_before(self->solver, self->dx);
    /* inputs that were set since the last step can cause events */
    solver_guards_before(self->solver, self->g, self->guards_known);
    return next_need(self, begin_run(self));
}

void instance_calculate(Instance *self, Need need) {
    const Problem problem = problem_of(self);
    solver_calculate(self->solver, &problem, &self->options, need);
}

Need instance_step_continue(Instance *self, Need need) {
    const Problem problem = problem_of(self);
    return next_need(self, solver_continue(self->solver, &problem, &self->options, &self->memory, need));
}

int instance_step_end(Instance *self) {
    const double t_end = self->t_end;
    for (size_t i = 0; i < model.nx; i++)
        if (!isfinite(self->x_new[i]) && !self->events.failure)
            self->events.failure = "the solution is no longer finite";
    if (self->events.failure) return 0;
    const int projected = project(self, t_end);
    memcpy(self->d, self->d_step, model.nd * sizeof(double));
    memcpy(self->g, solver_guards_last(self->solver), model.ng * sizeof(double));
    instance_changed(self);
    const double *slope = projected || self->state->polynomial ? NULL : solver_slope_after(self->solver);
    if (slope) { /* nothing has changed since the solver evaluated it */
        memcpy(self->dx, slope, model.nx * sizeof(double));
        self->rates_known = self->guards_known = 1;
    }
    complete_inputs(self, t_end);
    self->state->t = t_end;
    self->state->memory = self->memory;
    solver_keep_long_step(self->solver);
    return 1;
}

int instance_step(Instance *self, double t_end) {
    Need need = instance_step_begin(self, t_end);
    while (need != NOTHING) {
        instance_calculate(self, need);
        need = instance_step_continue(self, need);
    }
    return instance_step_end(self);
}

/* --- Model Exchange ----------------------------------------------------------------------------------------------- */

/* Whether states violate their constraints by more than the tolerance allows; self->x_dot is then their projection. */
static int violates_constraints(Instance *self, const double *x, const double *d) {
    if (!model.projects) return 0;
    model.project(&self->state->t, x, d, self->u, self->p, self->x_dot, self->work);
    return states_differ(self->x_dot, x, PROJECTION_LIMIT * tolerance_of(self));
}

int instance_events(Instance *self, int *changed, int *stopped) {
    const double t = self->state->t;
    Events events = {.t = t};
    forget_notes(self);
    instance_update_start_state(self);
    memcpy(self->x_new, self->x, model.nx * sizeof(double));
    memcpy(self->d_step, self->d, model.nd * sizeof(double));
    iterate_events(self, t, self->g, model.ng, &events);
    if (!events.failure && violates_constraints(self, self->x_new, self->d_step)) {
        memcpy(self->x_new, self->x_dot, model.nx * sizeof(double));
        memcpy(self->g, self->g_before, model.ng * sizeof(double));
        iterate_events(self, t, self->g, model.ng, &events); /* the projection may have changed a guard */
    }
    *stopped = events.stopped;
    if (events.failure && !events.stopped) return 0;
    *changed = memcmp(self->x, self->x_new, model.nx * sizeof(double)) != 0;
    memcpy(self->x, self->x_new, model.nx * sizeof(double));
    memcpy(self->d, self->d_step, model.nd * sizeof(double));
    memcpy(self->g, self->g_before, model.ng * sizeof(double));
    instance_changed(self);
    return 1;
}

void instance_indicators(Instance *self, double *z) {
    instance_update_start_state(self);
    model.guards(&self->state->t, self->x, self->d, self->u, self->p, z, self->work);
    for (size_t k = 0; k < model.ng; k++) z[k] += self->g[k] > 0 ? HYSTERESIS : -HYSTERESIS;
}

int instance_needs_projection(Instance *self) { return violates_constraints(self, self->x, self->d); }
