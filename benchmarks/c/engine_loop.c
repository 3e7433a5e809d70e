/* Bursts of calls of a compiled mechanism's functions. */
#include "burst.h"

typedef void Rates(const double *t, const double *x, const double *d, const double *u, const double *p, double *out,
                   double *w);
typedef void Tangent(const double *t, const double *x, const double *d, const double *u, const double *p,
                     const double *t_dot, const double *x_dot, const double *d_dot, const double *u_dot,
                     const double *p_dot, double *dx_dot, double *y_dot, double *w);

/* `count` evaluations at the points (x[i], u[i]), one after the other and again from the first; the last results stay
 * in out[i]. */
double rates_burst(Rates *rates, size_t points, size_t nx, size_t nu, const double *x, const double *u, const double *p,
                   double *out, double *w, size_t count) {
    const double t = 0, d = 0, began = cpu_seconds();
    for (size_t i = 0, k = 0; i < count; i++, k = k + 1 == points ? 0 : k + 1)
        rates(&t, x + k * nx, &d, u + k * nu, p, out + k * nx, w);
    return (cpu_seconds() - began) / (double)count;
}

/* The same for the directional derivative, along x_dot at every point. */
double tangent_burst(Tangent *tangent, size_t points, size_t nx, size_t nu, const double *x, const double *u,
                     const double *p, const double *x_dot, const double *u_dot, const double *p_dot, double *dx_dot,
                     double *y_dot, double *w, size_t count) {
    const double t = 0, d = 0, t_dot = 0, d_dot = 0, began = cpu_seconds();
    for (size_t i = 0, k = 0; i < count; i++, k = k + 1 == points ? 0 : k + 1)
        tangent(&t, x + k * nx, &d, u + k * nu, p, &t_dot, x_dot, &d_dot, u_dot, p_dot, dx_dot, y_dot, w);
    return (cpu_seconds() - began) / (double)count;
}
