/* Many runs, or many instances that step together; called from Python (components/mechfmu/simulation/batch.py). */
#ifndef MECHFMU_BATCH_H
#define MECHFMU_BATCH_H

#include "fmi2.h"

#include <stddef.h>

enum { MESSAGE_LENGTH = 512 };

/* Runs of the times t[0] to t[n_points - 1]. Several batches, each in its own thread, share them. */
typedef struct {
    size_t n_runs, n_points;
    const double *t;
    double tolerance; /* 0: that of the mechanism */
    /* parameters and constant inputs that are set: values[run][k] */
    size_t n_set;
    const fmi2ValueReference *set;
    const double *values;
    /* inputs that change at the points, where they are held until the next one: for each an array with its strides */
    size_t n_inputs;
    const fmi2ValueReference *inputs;
    const double *const *input_values;
    const size_t *input_run_strides, *input_point_strides;
    /* what is recorded: results[run][point][k] */
    size_t n_outputs;
    const fmi2ValueReference *outputs;
    double *results;
    char *messages; /* why a run failed, or nothing: MESSAGE_LENGTH for each */
    char *warnings; /* likewise the first warning */
    size_t *next;   /* the next run to be begun */
    size_t *finished;
    volatile int *cancelled;
} Rollout;

typedef struct Batch Batch;

FMI2_EXPORT size_t batch_width(void);

/* `count` instances; NULL: there is not enough memory. */
FMI2_EXPORT Batch *batch_new(size_t count);
FMI2_EXPORT void batch_free(Batch *batch);

/* Makes runs with the instances of the batch until there are none. 0: there is not enough memory. */
FMI2_EXPORT int batch_rollout(Batch *batch, const Rollout *rollout);

/* Instance i at its start, with some values set; at all times its inputs. 0: it failed. */
FMI2_EXPORT int batch_start(Batch *batch, size_t i, double tolerance, size_t n, const fmi2ValueReference *references,
                            const double *values);
FMI2_EXPORT void batch_set(Batch *batch, size_t i, size_t n, const fmi2ValueReference *references,
                           const double *values);

/* A step of size h by the wanted instances; one that has failed stays where it is until it is started again. */
FMI2_EXPORT void batch_step(Batch *batch, double h, const unsigned char *wanted);

/* Values of the wanted instances: values[i][k]. 0: there is not enough memory. */
FMI2_EXPORT int batch_get(Batch *batch, const unsigned char *wanted, size_t n, const fmi2ValueReference *references,
                          double *values);

/* Why an instance has failed, or what it warned of in its last step; empty: nothing. */
FMI2_EXPORT const char *batch_error(const Batch *batch, size_t i);
FMI2_EXPORT const char *batch_warning(const Batch *batch, size_t i);

#endif
