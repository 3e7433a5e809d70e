/* The explicit method: Dormand-Prince 8(5,3), and 5(4) for steps that are much shorter than the former allows. For one
 * instance, and in SIMD lanes (real.h) for several at once. */
#ifndef MECHFMU_EXPLICIT_STEP_H
#define MECHFMU_EXPLICIT_STEP_H

#include "dop853.h"
#include "dopri5.h"
#include "real.h"

#include <stddef.h>

enum { MOST_STAGES = 16, DENSE_ROWS = 7 };

/* The step from (t, x) by h to x_new. */
typedef struct {
    size_t n;
    Real t, h;
    Real *x, *slope, *x_new; /* slope is f(t, x) */
    Real *stage;             /* a point inside the step */
    Real *k[MOST_STAGES];    /* slopes (explicit) or increments (implicit) */
    Real *dense[DENSE_ROWS]; /* coefficients of the dense output, once prepared */
} Step;

/* dx/dt = rates(t, x) */
typedef void Rates(void *context, Real t, const Real *x, Real *dx);

/* Evaluations of the rates. The slope at the end of a step is that at the start of the next one. */
enum { EXPLICIT_EVALUATIONS = DOP_STAGES, SHORT_EVALUATIONS = DP5_STAGES };
enum { DENSE_EVALUATIONS = DOP_DENSE_STAGES - DOP_STAGES - 1 };

enum { EXPLICIT_END = DOP_STAGES, SHORT_END = DP5_STAGES }; /* the slope at t + h is that k */

/* Weight of the estimate of order 3 in the error, and the limit of stability on the negative real axis: both from
 * Hairer's DOP853. */
static const double THIRD_ORDER_WEIGHT = 0.01;
static const double STABILITY_LIMIT = 6.1;

/* out = x + h * sum over j < count of a[j] * k[j] */
static inline void combine(const Step *s, const double *a, int count, Real *out) {
    const Real *terms[MOST_STAGES];
    Real factors[MOST_STAGES];
    int used = 0;
    for (int j = 0; j < count; j++) {
        if (a[j] != 0) {
            terms[used] = s->k[j];
            factors[used++] = s->h * a[j];
        }
    }
    size_t i = 0;
    for (; i + 4 <= s->n;
         i += 4) { /* four at a time, so that compilers vectorize it; the order of each sum stays the same */
        Real sum[4] = {real(0), real(0), real(0), real(0)};
        for (int j = 0; j < used; j++) {
            const Real factor = factors[j], *k = terms[j] + i;
            sum[0] += factor * k[0];
            sum[1] += factor * k[1];
            sum[2] += factor * k[2];
            sum[3] += factor * k[3];
        }
        for (size_t h = 0; h < 4; h++) out[i + h] = s->x[i + h] + sum[h];
    }
    for (; i < s->n; i++) {
        Real sum = real(0);
        for (int j = 0; j < used; j++) sum += factors[j] * terms[j][i];
        out[i] = s->x[i] + sum;
    }
}

/* Computes the step and returns its error in units of the tolerance; not finite: it failed. */
static inline Real explicit_step(Step *s, Rates *rates, void *context, Real tolerance) {
    const size_t n = s->n;
    memcpy(s->k[0], s->slope, n * sizeof *s->slope);
    for (int stage = 1; stage < DOP_STAGES; stage++) {
        combine(s, DOP_A[stage], stage, s->stage);
        rates(context, s->t + DOP_C[stage] * s->h, s->stage, s->k[stage]);
    }
    combine(s, DOP_A[DOP_STAGES], DOP_STAGES, s->x_new);
    rates(context, s->t + s->h, s->x_new, s->k[DOP_STAGES]);

    Real sum5 = real(0), sum3 = real(0);
    for (size_t i = 0; i < n; i++) {
        Real e5 = real(0), e3 = real(0);
        for (int j = 0; j <= DOP_STAGES; j++) {
            e5 += DOP_E5[j] * s->k[j][i];
            e3 += DOP_E3[j] * s->k[j][i];
        }
        const Real scale = tolerance * (1.0 + maximum(magnitude(s->x[i]), magnitude(s->x_new[i])));
        sum5 += (e5 / scale) * (e5 / scale);
        sum3 += (e3 / scale) * (e3 / scale);
    }
    const Real mixed = sum5 + THIRD_ORDER_WEIGHT * sum3;
    const Real error = magnitude(s->h) * sum5 / square_root(mixed * (double)n);
    return choose((Truth)(mixed > 0.0), error, mixed); /* mixed may also be NaN: keep it */
}

/* The same for a step that is much shorter than the error of explicit_step allows: half the work, no dense output. */
static inline Real short_step(Step *s, Rates *rates, void *context, Real tolerance) {
    memcpy(s->k[0], s->slope, s->n * sizeof *s->slope);
    for (int stage = 1; stage < DP5_STAGES; stage++) {
        combine(s, DP5_A[stage], stage, s->stage);
        rates(context, s->t + DP5_C[stage] * s->h, s->stage, s->k[stage]);
    }
    combine(s, DP5_A[DP5_STAGES], DP5_STAGES, s->x_new);
    rates(context, s->t + s->h, s->x_new, s->k[DP5_STAGES]);
    Real sum = real(0);
    for (size_t i = 0; i < s->n; i++) {
        Real e = real(0);
        for (int j = 0; j <= DP5_STAGES; j++) e += DP5_E[j] * s->k[j][i];
        const Real scale = tolerance * (1.0 + maximum(magnitude(s->x[i]), magnitude(s->x_new[i])));
        sum += (e / scale) * (e / scale);
    }
    return magnitude(s->h) * square_root(sum / (double)s->n);
}

/* The explicit step in units of the stability limit: stiff above 1. */
static inline Real explicit_stiffness(const Step *s) {
    /* the last stage and the end are nearby points at the same time: the difference of their slopes estimates the
     * dominant eigenvalue */
    Real slopes = real(0), points = real(0);
    for (size_t i = 0; i < s->n; i++) {
        const Real a = s->k[DOP_STAGES][i] - s->k[DOP_STAGES - 1][i], b = s->x_new[i] - s->stage[i];
        slopes += a * a;
        points += b * b;
    }
    const Real stiffness = magnitude(s->h) * square_root(slopes / points) / STABILITY_LIMIT;
    return choose((Truth)(points > 0.0), stiffness, real(0));
}

/* Dense output of the accepted step: prepare once, then evaluate at t + theta * h, 0 <= theta <= 1, into a vector other
 * than the step's x. */
static inline void explicit_prepare_dense_output(Step *s, Rates *rates, void *context) {
    for (int stage = DOP_STAGES + 1; stage < DOP_DENSE_STAGES; stage++) {
        combine(s, DOP_A[stage], stage, s->stage);
        rates(context, s->t + DOP_C[stage] * s->h, s->stage, s->k[stage]);
    }
    for (size_t i = 0; i < s->n; i++) {
        const Real change = s->x_new[i] - s->x[i], first = s->h * s->k[0][i], last = s->h * s->k[DOP_STAGES][i];
        s->dense[0][i] = change;
        s->dense[1][i] = first - change;
        s->dense[2][i] = 2.0 * change - (first + last);
        for (int row = 0; row < DOP_DENSE_ROWS; row++) {
            Real sum = real(0);
            for (int j = 0; j < DOP_DENSE_STAGES; j++) sum += DOP_D[row][j] * s->k[j][i];
            s->dense[3 + row][i] = s->h * sum;
        }
    }
}

static inline void explicit_dense_output(const Step *s, Real theta, Real *x) {
    for (size_t i = 0; i < s->n; i++) x[i] = real(0);
    for (int row = DENSE_ROWS - 1; row >= 0; row--) { /* row by row, so that compilers vectorize it */
        const Real factor = row % 2 == 0 ? theta : 1.0 - theta, *coefficients = s->dense[row];
        for (size_t i = 0; i < s->n; i++) x[i] = (x[i] + coefficients[i]) * factor;
    }
    for (size_t i = 0; i < s->n; i++) x[i] = s->x[i] + x[i];
}

#endif
