/* The implicit method: Rodas5P, with a dense Jacobian whose columns come from directional derivatives. */
#include "steps.h"

#include "rodas5p.h"

#include <math.h>

/* A factorization counts as n^2 / FACTORIZATION_RATIO evaluations, which take about as long (measured: link chain, 100
 * to 1000 links). */
enum { FACTORIZATION_RATIO = 200 };

enum { TANGENT_RATIO = 5 }; /* evaluations that take as long as a directional derivative (measured: TALOS, 66 states) */

/* LU factorization of the n x n matrix a, by rows, with partial pivoting; 0 when it is singular. */
static int factorize(double *a, size_t *pivots, size_t n) {
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t r = c + 1; r < n; r++)
            if (fabs(a[r * n + c]) > fabs(a[best * n + c])) best = r;
        pivots[c] = best;
        if (!(fabs(a[best * n + c]) > 0)) return 0;
        if (best != c)
            for (size_t i = 0; i < n; i++) {
                const double swap = a[c * n + i];
                a[c * n + i] = a[best * n + i];
                a[best * n + i] = swap;
            }
        for (size_t r = c + 1; r < n; r++) {
            const double factor = a[r * n + c] /= a[c * n + c];
            if (factor != 0)
                for (size_t i = c + 1; i < n; i++) a[r * n + i] -= factor * a[c * n + i];
        }
    }
    return 1;
}

/* Solves with the factors; b becomes the solution. */
static void solve(const double *a, const size_t *pivots, size_t n, double *b) {
    for (size_t r = 0; r < n; r++) {
        const double swap = b[r];
        b[r] = b[pivots[r]];
        b[pivots[r]] = swap;
    }
    for (size_t r = 1; r < n; r++)
        for (size_t i = 0; i < r; i++) b[r] -= a[r * n + i] * b[i];
    for (size_t r = n; r-- > 0;) {
        for (size_t i = r + 1; i < n; i++) b[r] -= a[r * n + i] * b[i];
        b[r] /= a[r * n + r];
    }
}

/* The problem's functions, counted. */
static void evaluate_rates(Solver *s, const Problem *problem, double t, const double *x, double *dx) {
    s->evaluations++;
    problem->rates(problem->context, t, x, dx);
}

static void evaluate_tangent(Solver *s, const Problem *problem, double t_dot, const double *x_dot, double *dx_dot) {
    s->evaluations++;
    problem->tangent(problem->context, s->step.t, s->step.x, t_dot, x_dot, dx_dot);
}

static void fill_jacobian(Solver *s, const Problem *problem) {
    Step *step = &s->step;
    const size_t n = step->n;
    double *seed = step->stage, *column = step->k[0];
    for (size_t i = 0; i < n; i++) seed[i] = 0;
    for (size_t c = 0; c < n; c++) {
        seed[c] = 1;
        evaluate_tangent(s, problem, 0, seed, column);
        seed[c] = 0;
        for (size_t r = 0; r < n; r++) s->jacobian[r * n + c] = column[r];
    }
}

double implicit_cost(size_t n) {
    const double size = (double)n;
    return size * TANGENT_RATIO + size * size / FACTORIZATION_RATIO + RODAS_STAGES;
}

double implicit_step(Solver *s, const Problem *problem, double tolerance, int jacobian_is_fresh) {
    Step *step = &s->step;
    const size_t n = step->n;
    if (!jacobian_is_fresh) fill_jacobian(s, problem);
    for (size_t i = 0; i < n * n; i++) s->factors[i] = -s->jacobian[i];
    for (size_t i = 0; i < n; i++) s->factors[i * n + i] += 1 / (step->h * RODAS_GAMMA);
    s->evaluations += (long)(n * n / FACTORIZATION_RATIO);
    if (!factorize(s->factors, s->pivots, n)) return INFINITY;

    double *time_slope = step->dense[0]; /* unused until the dense output is prepared */
    for (size_t i = 0; i < n; i++) step->stage[i] = 0;
    evaluate_tangent(s, problem, 1, step->stage, time_slope);

    for (int stage = 0; stage < RODAS_STAGES; stage++) {
        double *k = step->k[stage];
        if (stage == 0) {
            for (size_t i = 0; i < n; i++) k[i] = step->slope[i];
        } else {
            for (size_t i = 0; i < n; i++) {
                double sum = 0;
                for (int j = 0; j < stage; j++) sum += RODAS_A[stage][j] * step->k[j][i];
                step->stage[i] = step->x[i] + sum;
            }
            evaluate_rates(s, problem, step->t + RODAS_C_NODES[stage] * step->h, step->stage, k);
        }
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < stage; j++) sum += RODAS_C[stage][j] * step->k[j][i];
            k[i] += sum / step->h + step->h * RODAS_D[stage] * time_slope[i];
        }
        solve(s->factors, s->pivots, n, k);
    }
    double sum = 0;
    const double *last = step->k[RODAS_STAGES - 1];
    for (size_t i = 0; i < n; i++) {
        step->x_new[i] = step->stage[i] + last[i];
        const double e = last[i] / (tolerance * (1 + fmax(fabs(step->x[i]), fabs(step->x_new[i]))));
        sum += e * e;
    }
    return sqrt(sum / (double)n);
}

void implicit_prepare_dense_output(Step *s) {
    for (size_t i = 0; i < s->n; i++)
        for (int row = 0; row < RODAS_DENSE_ROWS; row++) {
            double sum = 0;
            for (int j = 0; j < RODAS_STAGES; j++) sum += RODAS_H[row][j] * s->k[j][i];
            s->dense[row][i] = sum;
        }
}

void implicit_dense_output(const Step *s, double theta, double *x) {
    for (size_t i = 0; i < s->n; i++) {
        const double inner = s->dense[0][i] + theta * (s->dense[1][i] + theta * s->dense[2][i]);
        x[i] = (1 - theta) * s->x[i] + theta * (s->x_new[i] + (1 - theta) * inner);
    }
}
