/* Bursts of a function in the form that CasADi writes: (q, v, tau, p) -> vdot. */
#include "burst.h"

typedef int Graph(const double **arg, double **res, long long *iw, double *w, int memory);

/* `count` evaluations at the points (q[i], v[i], tau[i]), one after the other and again from the first; the last
 * results stay in vdot[i]. */
double graph_burst(Graph *graph, size_t points, size_t nq, size_t nv, const double *q, const double *v,
                   const double *tau, const double *p, double *vdot, double *w, size_t count) {
    const double began = cpu_seconds();
    for (size_t i = 0, k = 0; i < count; i++, k = k + 1 == points ? 0 : k + 1) {
        const double *arg[] = {q + k * nq, v + k * nv, tau + k * nv, p};
        double *res[] = {vdot + k * nv};
        graph(arg, res, 0, w, 0);
    }
    return (cpu_seconds() - began) / (double)count;
}
