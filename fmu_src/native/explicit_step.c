/* The explicit method: Dormand-Prince 8(5,3), and 5(4) for steps that are much shorter than the former allows. */
#include "steps.h"

#include "dop853.h"
#include "dopri5.h"

#include <math.h>
#include <string.h>

/* Weight of the estimate of order 3 in the error, and the limit of stability on the negative real axis: both from
 * Hairer's DOP853. */
static const double THIRD_ORDER_WEIGHT = 0.01;
static const double STABILITY_LIMIT = 6.1;

/* out = x + h * sum over j < count of a[j] * k[j] */
static void combine(const Solver *s, const double *a, int count, double *out) {
    const double *terms[MOST_STAGES];
    double factors[MOST_STAGES];
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
        double sum[4] = {0, 0, 0, 0};
        for (int j = 0; j < used; j++) {
            const double factor = factors[j], *k = terms[j] + i;
            sum[0] += factor * k[0];
            sum[1] += factor * k[1];
            sum[2] += factor * k[2];
            sum[3] += factor * k[3];
        }
        for (size_t h = 0; h < 4; h++) out[i + h] = s->x[i + h] + sum[h];
    }
    for (; i < s->n; i++) {
        double sum = 0;
        for (int j = 0; j < used; j++) sum += factors[j] * terms[j][i];
        out[i] = s->x[i] + sum;
    }
}

double explicit_step(Solver *s, const Problem *problem, double tolerance) {
    const size_t n = s->n;
    memcpy(s->k[0], s->slope, n * sizeof *s->slope);
    for (int stage = 1; stage < DOP_STAGES; stage++) {
        combine(s, DOP_A[stage], stage, s->stage);
        evaluate_rates(s, problem, s->t + DOP_C[stage] * s->h, s->stage, s->k[stage]);
    }
    combine(s, DOP_A[DOP_STAGES], DOP_STAGES, s->x_new);
    evaluate_rates(s, problem, s->t + s->h, s->x_new, s->k[DOP_STAGES]);

    double sum5 = 0, sum3 = 0;
    for (size_t i = 0; i < n; i++) {
        double e5 = 0, e3 = 0;
        for (int j = 0; j <= DOP_STAGES; j++) {
            e5 += DOP_E5[j] * s->k[j][i];
            e3 += DOP_E3[j] * s->k[j][i];
        }
        const double scale = tolerance * (1 + fmax(fabs(s->x[i]), fabs(s->x_new[i])));
        sum5 += (e5 / scale) * (e5 / scale);
        sum3 += (e3 / scale) * (e3 / scale);
    }
    const double mixed = sum5 + THIRD_ORDER_WEIGHT * sum3;
    return mixed > 0 ? fabs(s->h) * sum5 / sqrt(mixed * (double)n) : mixed; /* mixed may also be NaN: keep it */
}

double short_step(Solver *s, const Problem *problem, double tolerance) {
    memcpy(s->k[0], s->slope, s->n * sizeof *s->slope);
    for (int stage = 1; stage < DP5_STAGES; stage++) {
        combine(s, DP5_A[stage], stage, s->stage);
        evaluate_rates(s, problem, s->t + DP5_C[stage] * s->h, s->stage, s->k[stage]);
    }
    combine(s, DP5_A[DP5_STAGES], DP5_STAGES, s->x_new);
    evaluate_rates(s, problem, s->t + s->h, s->x_new, s->k[DP5_STAGES]);
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double e = 0;
        for (int j = 0; j <= DP5_STAGES; j++) e += DP5_E[j] * s->k[j][i];
        const double scale = tolerance * (1 + fmax(fabs(s->x[i]), fabs(s->x_new[i])));
        sum += (e / scale) * (e / scale);
    }
    return fabs(s->h) * sqrt(sum / (double)s->n);
}

double explicit_cost(void) { return DOP_STAGES; } /* the slope at its end is that of the next step */

double explicit_stiffness(const Solver *s) {
    /* the last stage and the end are nearby points at the same time: the difference of their slopes estimates the
     * dominant eigenvalue */
    double slopes = 0, points = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double a = s->k[DOP_STAGES][i] - s->k[DOP_STAGES - 1][i], b = s->x_new[i] - s->stage[i];
        slopes += a * a;
        points += b * b;
    }
    return points > 0 ? fabs(s->h) * sqrt(slopes / points) / STABILITY_LIMIT : 0;
}

const double *explicit_end_slope(const Solver *s) { return s->k[DOP_STAGES]; }

const double *short_end_slope(const Solver *s) { return s->k[DP5_STAGES]; }

void explicit_prepare_dense_output(Solver *s, const Problem *problem) {
    for (int stage = DOP_STAGES + 1; stage < DOP_DENSE_STAGES; stage++) {
        combine(s, DOP_A[stage], stage, s->stage);
        evaluate_rates(s, problem, s->t + DOP_C[stage] * s->h, s->stage, s->k[stage]);
    }
    for (size_t i = 0; i < s->n; i++) {
        const double change = s->x_new[i] - s->x[i], first = s->h * s->k[0][i], last = s->h * s->k[DOP_STAGES][i];
        s->dense[0][i] = change;
        s->dense[1][i] = first - change;
        s->dense[2][i] = 2 * change - (first + last);
        for (int row = 0; row < DOP_DENSE_ROWS; row++) {
            double sum = 0;
            for (int j = 0; j < DOP_DENSE_STAGES; j++) sum += DOP_D[row][j] * s->k[j][i];
            s->dense[3 + row][i] = s->h * sum;
        }
    }
}

void explicit_dense_output(const Solver *s, double theta, double *x) {
    for (size_t i = 0; i < s->n; i++) {
        double y = 0;
        for (int row = DENSE_ROWS - 1; row >= 0; row--) y = (y + s->dense[row][i]) * (row % 2 == 0 ? theta : 1 - theta);
        x[i] = s->x[i] + y;
    }
}
