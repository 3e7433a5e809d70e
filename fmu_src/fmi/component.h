/* What every instance has, whatever computes behind it: who the host is, and in which phase of its lifecycle the instance is. */
#ifndef MECHFMU_COMPONENT_H
#define MECHFMU_COMPONENT_H

#include "fmi2.h"

/* Bits, so that sets of phases can be written down. */
typedef enum {
    INSTANTIATED = 1,
    INITIALIZING = 2,
    STEPPING = 4,    /* Co-Simulation */
    EVENT_MODE = 8,  /* Model Exchange */
    CONTINUOUS = 16, /* Model Exchange */
    TERMINATED = 32
} Phase;

/* The first member of every instance: a fmi2Component points to one. */
typedef struct {
    fmi2CallbackFunctions callbacks;
    char *name;
    fmi2Type type;
    unsigned categories; /* those that are logged, as bits */
    int *phase;          /* where the saved state keeps it */
    double *t;
    int wants_to_stop;   /* the last step was discarded for good: fmi2Terminated */
} Component;

/* 0 when there is no memory. */
int component_init(Component *self, const char *name, fmi2Type type, const fmi2CallbackFunctions *callbacks, fmi2Boolean logging, int *phase, double *t);
void component_release(Component *self);

#endif
