/* Bursts of the exoskeleton's matrix form in flight: mass matrix and force of (25'), (26') written out, and a Cholesky
 * solve. */
#include "burst.h"

#include <math.h>

typedef struct {
    size_t n;
    const int *branch;                                       /* of each link: 0, 1, 2 */
    const int *rank;                                         /* place in its branch, from the hip */
    const double *sigma, *m, *mu, *nu, *I, *ja, *k, *l0, *d; /* mu, nu: m c and m c^2 with the masses beyond the link */
    double mass, gravity;
} Exoskeleton;

/* q = (x, y, phi), l and their rates one after the other; tau and Fa one after the other. A and b are scratch; the
 * accelerations end up in b. */
static void accelerations(const Exoskeleton *e, const double *q, const double *l, const double *qd, const double *ld,
                          const double *tau, const double *Fa, double *A, double *b, double *S, double *C) {
    const size_t n = e->n, N = 2 * n + 2;
    const double *phi = q + 2, *w = qd + 2;
    for (size_t i = 0; i < n; i++) {
        S[i] = sin(phi[i]);
        C[i] = cos(phi[i]);
    }
    A[0] = A[N + 1] = e->mass;
    A[N] = 0;
    b[0] = 0;
    b[1] = -e->gravity * e->mass;
    for (size_t i = 0; i < n; i++) {
        const size_t r = 2 + i, s = 2 + n + i;
        const double smu = e->sigma[i] * e->mu[i], lw = l[i] * w[i] * w[i], mixed = 2 * ld[i] * w[i];
        A[r * N] = -smu * l[i] * S[i];
        A[r * N + 1] = smu * l[i] * C[i];
        A[s * N] = smu * C[i];
        A[s * N + 1] = smu * S[i];
        b[0] += smu * (C[i] * lw + S[i] * mixed);
        b[1] += smu * (S[i] * lw - C[i] * mixed);
        b[r] = tau[i] - e->gravity * smu * l[i] * C[i];
        b[s] = -e->k[i] * (l[i] - e->l0[i]) - e->d[i] * ld[i] + Fa[i] - e->gravity * smu * S[i];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t outer = e->rank[i] > e->rank[j] ? i : j;
            const double weight = i == j ? e->nu[i] : e->branch[i] == e->branch[j] ? e->mu[outer] : 0;
            const double c = C[i] * C[j] + S[i] * S[j], s = S[i] * C[j] - C[i] * S[j];
            const double lw = l[j] * w[j] * w[j], mixed = 2 * ld[j] * w[j];
            const size_t r = 2 + i, t = 2 + n + i;
            if (j <= i) {
                A[r * N + 2 + j] = weight * l[i] * l[j] * c + (i == j ? e->I[i] : 0);
                A[t * N + 2 + n + j] = weight * c + (i == j ? e->ja[i] : 0);
            }
            A[t * N + 2 + j] = weight * l[j] * s;
            b[r] -= weight * l[i] * (s * lw + c * mixed);
            b[t] -= weight * (s * mixed - c * lw);
        }
    for (size_t j = 0; j < N; j++) { /* A = L L^T in its lower half */
        for (size_t i = j; i < N; i++) {
            double sum = A[i * N + j];
            for (size_t h = 0; h < j; h++) sum -= A[i * N + h] * A[j * N + h];
            A[i * N + j] = i == j ? sqrt(sum) : sum / A[j * N + j];
        }
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t h = 0; h < i; h++) b[i] -= A[i * N + h] * b[h];
        b[i] /= A[i * N + i];
    }
    for (size_t i = N; i-- > 0;) {
        for (size_t h = i + 1; h < N; h++) b[i] -= A[h * N + i] * b[h];
        b[i] /= A[i * N + i];
    }
}

/* `count` evaluations at the points (x[i] = q, l, q', l'; u[i] = tau, Fa), one after the other and again from the
 * first; results stay in out[i]. */
double dense_burst(size_t n, const int *branch, const int *rank, const double *links, double gravity, size_t points,
                   const double *x, const double *u, double *A, double *trig, double *out, size_t count) {
    Exoskeleton e = {.n = n,
                     .branch = branch,
                     .rank = rank,
                     .sigma = links,
                     .m = links + n,
                     .mu = links + 2 * n,
                     .nu = links + 3 * n,
                     .I = links + 4 * n,
                     .ja = links + 5 * n,
                     .k = links + 6 * n,
                     .l0 = links + 7 * n,
                     .d = links + 8 * n,
                     .mass = 0,
                     .gravity = gravity};
    const size_t nx = 4 * n + 4, N = 2 * n + 2;
    for (size_t i = 0; i < n; i++) e.mass += e.m[i];
    const double began = cpu_seconds();
    for (size_t i = 0, k = 0; i < count; i++, k = k + 1 == points ? 0 : k + 1) {
        const double *q = x + k * nx, *v = u + k * 2 * n;
        accelerations(&e, q, q + n + 2, q + N, q + N + n + 2, v, v + n, A, out + k * N, trig, trig + n);
    }
    return (cpu_seconds() - began) / (double)count;
}
