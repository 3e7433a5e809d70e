/* The part that instances of native and Python FMUs share: the host's callbacks and the phase of the lifecycle. */
#ifndef MECHFMU_COMPONENT_H
#define MECHFMU_COMPONENT_H

#include "fmi2.h"

/* Bits, for sets of phases. */
typedef enum {
    INSTANTIATED = 1,
    INITIALIZING = 2,
    STEPPING = 4,    /* Co-Simulation */
    EVENT_MODE = 8,  /* Model Exchange */
    CONTINUOUS = 16, /* Model Exchange */
    TERMINATED = 32
} Phase;

/* The first member of every instance: an fmi2Component points to one. */
typedef struct {
    fmi2CallbackFunctions callbacks;
    char *name;
    fmi2Type type;
    unsigned categories; /* logged categories, as bits */
    int *phase;          /* in the part that FMU states save */
    double *t;
    double *stop_time; /* of the experiment; INFINITY when it has none */
    int wants_to_stop; /* the last step was discarded permanently: fmi2Terminated */
} Component;

/* 0 when there is not enough memory. */
int component_init(Component *self, const char *name, fmi2Type type, const fmi2CallbackFunctions *callbacks,
                   fmi2Boolean logging, int *phase, double *t, double *stop_time);
void component_release(Component *self);

#endif
