/* The model's functions under exported names, and a simulation in one call, for the c engine of the Python library. Not
 * part of an FMU. */
#include "fmi2.h"
#include "model.h"

FMI2_EXPORT size_t engine_work(void);
FMI2_EXPORT Function engine_rates, engine_outputs, engine_guards, engine_project, engine_requirements;
FMI2_EXPORT Jump engine_initial, engine_jump;
FMI2_EXPORT void engine_choose(double *w, size_t guard);
FMI2_EXPORT Tangent engine_tangent;
FMI2_EXPORT size_t engine_run(fmi2Component c, const double *t, size_t n, const fmi2ValueReference *vr, size_t n_vr,
                              double *out);

size_t engine_work(void) { return model.work; }

void engine_initial(POINT, double *restrict x_new, double *restrict d_new, double *restrict w) {
    model.initial(t, x, d, u, p, x_new, d_new, w);
}
void engine_rates(POINT, double *restrict out, double *restrict w) { model.rates(t, x, d, u, p, out, w); }
void engine_outputs(POINT, double *restrict out, double *restrict w) { model.outputs(t, x, d, u, p, out, w); }
void engine_guards(POINT, double *restrict out, double *restrict w) { model.guards(t, x, d, u, p, out, w); }
void engine_project(POINT, double *restrict out, double *restrict w) { model.project(t, x, d, u, p, out, w); }
void engine_requirements(POINT, double *restrict out, double *restrict w) { model.requirements(t, x, d, u, p, out, w); }

/* Selects the guard of engine_jump, in the number after the work array, so that there is no global state. */
void engine_choose(double *w, size_t guard) { w[model.work] = (double)guard; }
void engine_jump(POINT, double *restrict x_new, double *restrict d_new, double *restrict w) {
    model.jumps[(size_t)w[model.work]](t, x, d, u, p, x_new, d_new, w);
}

void engine_tangent(POINT, const double *t_dot, const double *x_dot, const double *d_dot, const double *u_dot,
                    const double *p_dot, double *restrict dx_dot, double *restrict y_dot, double *restrict w) {
    model.tangent(t, x, d, u, p, t_dot, x_dot, d_dot, u_dot, p_dot, dx_dot, y_dot, w);
}

/* Simulates from t[0] to t[n - 1] and writes a row of n_vr values at each time. Returns the number of rows: fewer than
 * n after an error. */
size_t engine_run(fmi2Component c, const double *t, size_t n, const fmi2ValueReference *vr, size_t n_vr, double *out) {
    for (size_t k = 0; k < n; k++) {
        if (k > 0 && fmi2DoStep(c, t[k - 1], t[k] - t[k - 1], fmi2True) > fmi2Warning) return k;
        if (fmi2GetReal(c, vr, n_vr, out + k * n_vr) > fmi2Warning) return k;
    }
    return n;
}
