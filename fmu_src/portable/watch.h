/* A cache of values: hosts read the same variables after every step, so the reply to a step contains them, and reading
 * them needs no call to the Python process. */
#ifndef MECHFMU_WATCH_H
#define MECHFMU_WATCH_H

#include "buffer.h"
#include "fmi2.h"
#include "protocol.h"

typedef struct {
    size_t width;  /* bytes of a value */
    Buffer wanted; /* references of the values in the reply to a step */
    Buffer read;   /* references that the host has read since the last step */
    Buffer values; /* the values after the last step; empty: none */
    size_t at;     /* number of values that the host has read: it reads them in the same order each time */
} Watch;

/* Reads values from the cache; 0 when they are not in it. The references are recorded either way. */
int watch_read(Watch *self, const fmi2ValueReference *vr, size_t n, void *values);

/* Before a step: the references that were read since the last step become `wanted`. 1 when they differ from before. */
int watch_begin_step(Watch *self);

/* After a step: takes the values from its reply. 0: the reply is too short. */
int watch_fill(Watch *self, Buffer *reply);

/* Empties the cache, because something has changed. */
void watch_clear(Watch *self);

void watch_release(Watch *self);

#endif
