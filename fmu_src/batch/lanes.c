#include "lanes.h"

#include "event_limits.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lanes_target.h" /* LANES, and the instruction set of the functions from here on */

#include "explicit_step.h"
#include "lane_functions.h"

#include "model_lanes.h" /* the model's functions for lanes, and its sizes */

typedef struct {
    Step step;
    Real *d, *u, *p, *dx, *y, *g, *g_now, *work;
    Real tolerance, error, stiffness;
} LaneMemory;

size_t lanes_width(void) { return LANES; }

/* The places of all vectors in a block of memory, or without one only its length. */
static size_t lay_out(LaneMemory *m, Real *block) {
    Step *s = &m->step;
    struct {
        Real **vector;
        size_t size;
    } vectors[] = {{&s->x, MODEL_NX},     {&s->slope, MODEL_NX},  {&s->x_new, MODEL_NX},
                   {&s->stage, MODEL_NX}, {&m->d, MODEL_ND},      {&m->u, MODEL_NU},
                   {&m->p, MODEL_NP},     {&m->dx, MODEL_NX},     {&m->y, MODEL_NY},
                   {&m->g_now, MODEL_NG}, {&m->work, MODEL_WORK}, {&m->g, (size_t)EVENT_SAMPLES_PER_STEP * MODEL_NG}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; used += vectors[i++].size)
        if (block) *vectors[i].vector = block + used;
    for (int i = 0; i < MOST_STAGES; i++, used += MODEL_NX)
        if (block) s->k[i] = block + used;
    for (int i = 0; i < DENSE_ROWS; i++, used += MODEL_NX)
        if (block) s->dense[i] = block + used;
    return used;
}

/* Memory for lanes, aligned to them: calloc, with the distance to its start in front. */
static void *aligned_new(size_t count) {
    char *start = calloc(count + 2, sizeof(Real));
    if (!start) return NULL;
    const size_t shift = sizeof(Real) - (uintptr_t)start % sizeof(Real);
    char *aligned = start + shift;
    if (shift < sizeof shift) aligned += sizeof(Real);
    const size_t distance = (size_t)(aligned - start);
    memcpy(aligned - sizeof distance, &distance, sizeof distance);
    return aligned;
}

static void aligned_free(void *aligned) {
    size_t distance;
    if (!aligned) return;
    memcpy(&distance, (char *)aligned - sizeof distance, sizeof distance);
    free((char *)aligned - distance);
}

int lanes_init(Lanes *lanes) {
    LaneMemory *m = aligned_new(sizeof *m / sizeof(Real) + 1);
    Real *block = aligned_new(lay_out(m, NULL) + 1);
    *lanes = (Lanes){.width = LANES, .memory = m, .block = block};
    if (!m || !block) {
        lanes_release(lanes);
        return 0;
    }
    lay_out(m, block);
    Step *s = &m->step;
    s->n = MODEL_NX;
    lanes->t = (double *)&s->t;
    lanes->h = (double *)&s->h;
    lanes->tolerance = (double *)&m->tolerance;
    lanes->error = (double *)&m->error;
    lanes->stiffness = (double *)&m->stiffness;
    lanes->x = (double *)s->x;
    lanes->slope = (double *)s->slope;
    lanes->x_new = (double *)s->x_new;
    lanes->d = (double *)m->d;
    lanes->u = (double *)m->u;
    lanes->p = (double *)m->p;
    lanes->dx = (double *)m->dx;
    lanes->y = (double *)m->y;
    lanes->g = (double *)m->g;
    return 1;
}

void lanes_release(Lanes *lanes) {
    aligned_free(lanes->memory);
    aligned_free(lanes->block);
}

const double *lanes_stage(const Lanes *lanes, int stage) {
    const LaneMemory *m = lanes->memory;
    return (const double *)m->step.k[stage];
}

const double *lanes_dense(const Lanes *lanes, int row) {
    const LaneMemory *m = lanes->memory;
    return (const double *)m->step.dense[row];
}

void lanes_gather(double *vector, size_t n, const double *const *sources) {
    for (size_t i = 0; i < n; i++)
        for (int l = 0; l < LANES; l++) vector[i * LANES + l] = sources[l][i];
}

void lanes_scatter(const double *vector, size_t n, size_t count, double *const *targets) {
    for (size_t l = 0; l < count; l++)
        for (size_t i = 0; i < n; i++) targets[l][i] = vector[i * LANES + l];
}

/* --- the model's functions ---------------------------------------------------------------------------------------- */

static void rates(void *context, Real t, const Real *x, Real *dx) {
    const LaneMemory *m = context;
    model_rates(&t, x, m->d, m->u, m->p, dx, m->work);
}

static void guards(const LaneMemory *m, Real t, const Real *x, Real *g) {
    model_guards(&t, x, m->d, m->u, m->p, g, m->work);
}

void lanes_rates(Lanes *lanes) {
    LaneMemory *m = lanes->memory;
    rates(m, m->step.t, m->step.x, m->dx);
}

void lanes_outputs(Lanes *lanes) {
    LaneMemory *m = lanes->memory;
    model_outputs(&m->step.t, m->step.x, m->d, m->u, m->p, m->y, m->work);
}

void lanes_guards(Lanes *lanes) {
    LaneMemory *m = lanes->memory;
    guards(m, m->step.t, m->step.x, m->g);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

void lanes_explicit_step(Lanes *lanes) {
    LaneMemory *m = lanes->memory;
    m->error = explicit_step(&m->step, rates, m, m->tolerance);
    m->stiffness = explicit_stiffness(&m->step);
}

void lanes_short_step(Lanes *lanes) {
    LaneMemory *m = lanes->memory;
    m->error = short_step(&m->step, rates, m, m->tolerance);
}

void lanes_long_step(Lanes *lanes) {
    LaneMemory *m = lanes->memory;
    m->error = explicit_step(&m->step, rates, m, m->tolerance);
    explicit_prepare_dense_output(&m->step, rates, m);
}

void lanes_guards_in_step(Lanes *lanes, const int *samples) {
    LaneMemory *m = lanes->memory;
    Step *s = &m->step;
    int most = 1;
    for (int l = 0; l < LANES; l++)
        if (samples[l] > most) most = samples[l];
    if (most > 1) explicit_prepare_dense_output(s, rates, m);
    for (int sample = 1; sample <= most; sample++) {
        Real theta = real(0), t = s->t + s->h;
        Truth inside = (Truth)(theta < theta);
        for (int l = 0; l < LANES; l++) {
            inside[l] = sample < samples[l] ? -1 : 0;
            theta[l] = (double)sample / samples[l];
        }
        t = choose(inside, s->t + theta * s->h, t);
        if (most > 1) explicit_dense_output(s, theta, s->stage);
        for (size_t i = 0; i < s->n; i++)
            s->stage[i] = most > 1 ? choose(inside, s->stage[i], s->x_new[i]) : s->x_new[i];
        guards(m, t, s->stage, m->g + (size_t)(sample - 1) * MODEL_NG);
    }
}

LANES_END
