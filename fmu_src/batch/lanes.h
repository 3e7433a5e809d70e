/* The model and the explicit steps of the solver for several instances at once, one in each SIMD lane. Element i of a
 * vector of lane l is at [i * width + l]. */
#ifndef MECHFMU_LANES_H
#define MECHFMU_LANES_H

#include <stddef.h>

typedef struct {
    size_t width;
    double *t, *x, *d, *u, *p; /* the point */
    /* a step from there, as in explicit_step.h */
    double *h, *tolerance, *slope, *x_new, *error, *stiffness;
    double *dx, *y, *g; /* results of the model's functions */
    void *memory, *block;
} Lanes;

size_t lanes_width(void);

/* 0: there is not enough memory. */
int lanes_init(Lanes *lanes);
void lanes_release(Lanes *lanes);

/* The slope at a stage of the step just made; a row of the dense output of a long one. */
const double *lanes_stage(const Lanes *lanes, int stage);
const double *lanes_dense(const Lanes *lanes, int row);

/* Copies a vector of n elements for each lane into the lanes, or for the first `count` lanes back. */
void lanes_gather(double *vector, size_t n, const double *const *sources);
void lanes_scatter(const double *vector, size_t n, size_t count, double *const *targets);

/* The functions of the model at the point: into dx, y, g. */
void lanes_rates(Lanes *lanes);
void lanes_outputs(Lanes *lanes);
void lanes_guards(Lanes *lanes);

/* Trial steps: x_new, error, stiffness (not of a short or long step) and the slopes at the stages. */
void lanes_explicit_step(Lanes *lanes);
void lanes_short_step(Lanes *lanes);
void lanes_long_step(Lanes *lanes);

/* The guards at the points that divide the step just made into samples[lane] parts, its end included: into g, one point
 * after the other. */
void lanes_guards_in_step(Lanes *lanes, const int *samples);

#endif
