/* Values that come with a step: hosts read the same variables after every step, so the next step brings them along, and reading them costs nothing. */
#ifndef MECHFMU_WATCH_H
#define MECHFMU_WATCH_H

#include "buffer.h"
#include "fmi2.h"
#include "protocol.h"

typedef struct {
    size_t width;   /* bytes of a value */
    Buffer wanted;  /* references of the values that come with a step */
    Buffer read;    /* references that the host has read since the last step */
    Buffer values;  /* the values that came with the last step; empty: none */
    size_t at;      /* how many of them the host has read: it reads in the same order each time */
} Watch;

/* The values of the references, when they came with the last step: 1. Either way they are remembered. */
int watch_read(Watch *self, const fmi2ValueReference *vr, size_t n, void *values);

/* Before a step: whether other values are wanted than those of the last step; they are then. */
int watch_turn(Watch *self);

/* After a step: its values. 0: the message ends before them. */
int watch_fill(Watch *self, Buffer *reply);

/* Something has changed: the values are no longer true. */
void watch_clear(Watch *self);

void watch_release(Watch *self);

#endif
