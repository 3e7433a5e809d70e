/* Messages being written and read. A buffer keeps track of errors, so that it suffices to check `broken` at the end. */
#ifndef MECHFMU_BUFFER_H
#define MECHFMU_BUFFER_H

#include <stddef.h>

typedef struct {
    char *data;
    size_t size, capacity;
    size_t at;  /* where the next item is read */
    int broken; /* out of memory while writing, or read beyond the end */
} Buffer;

int buffer_reserve(Buffer *self, size_t capacity); /* 0: no memory */
void buffer_clear(Buffer *self);                   /* releases the memory of a very long message */
void buffer_release(Buffer *self);

void put(Buffer *self, const void *bytes, size_t n);
void put_u32(Buffer *self, unsigned value);
void put_u64(Buffer *self, unsigned long long value);
void put_real(Buffer *self, double value);
void put_text(Buffer *self, const char *bytes, size_t n);

const void *take(Buffer *self, size_t n); /* NULL when fewer bytes are left */
unsigned take_u32(Buffer *self);
double take_real(Buffer *self);
const char *take_text(Buffer *self, size_t *n);

#endif
