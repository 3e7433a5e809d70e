/* Bursts of MuJoCo's mj_forward for a model saved as a binary file. */
#include "burst.h"

#include <mujoco/mujoco.h>

#include <stdlib.h>
#include <string.h>

typedef struct {
    mjModel *model;
    mjData *data;
} Chain;

void *mujoco_chain(const char *file) {
    Chain *chain = malloc(sizeof *chain);
    chain->model = mj_loadModel(file, NULL);
    chain->data = mj_makeData(chain->model);
    return chain;
}

void mujoco_free(void *chain) {
    Chain *c = chain;
    mj_deleteData(c->data);
    mj_deleteModel(c->model);
    free(c);
}

/* `count` evaluations at the points (q[i], dq[i], tau[i]), one after the other and again from the first; the last
 * results stay in qdd[i]. */
double mujoco_burst(void *chain, size_t points, const double *q, const double *dq, const double *tau, double *qdd,
                    size_t count) {
    const Chain *c = chain;
    const size_t n = (size_t)c->model->nv, size = n * sizeof(double);
    const double began = cpu_seconds();
    for (size_t i = 0, k = 0; i < count; i++, k = k + 1 == points ? 0 : k + 1) {
        memcpy(c->data->qpos, q + k * n, size);
        memcpy(c->data->qvel, dq + k * n, size);
        memcpy(c->data->qfrc_applied, tau + k * n, size);
        mj_forward(c->model, c->data);
        memcpy(qdd + k * n, c->data->qacc, size);
    }
    return (cpu_seconds() - began) / (double)count;
}
