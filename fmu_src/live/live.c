/* What a live page (components/mechfmu/live) calls beside the functions of FMI 2.0. */
#include "instance.h"

/* Changes a parameter while the simulation runs, as the user moves a slider; in FMI it is fixed. `index` is that in p.
 * Returns NULL, or why the value is not allowed; the parameter keeps its value then. */
FMI2_EXPORT const char *mechfmu_set_parameter(fmi2Component c, unsigned index, double value) {
    Instance *self = c;
    const double before = self->p[index];
    self->p[index] = value;
    model.requirements(&self->state->t, self->x, self->d, self->u, self->p, self->r, self->work);
    for (size_t i = 0; i < model.nr; i++)
        if (!(self->r[i] > 0) && !model.cautions[i]) {
            self->p[index] = before;
            return model.requirement_texts[i];
        }
    instance_changed(self);
    return NULL;
}
