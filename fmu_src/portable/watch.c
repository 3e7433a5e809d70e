#include "watch.h"

#include <string.h>

enum { MAX_BYTES = 1 << 20 }; /* for a host that reads again and again without a step */

int watch_read(Watch *self, const fmi2ValueReference *vr, size_t n, void *values) {
    const size_t bytes = n * sizeof *vr;
    if (n == 0) return 1;
    const int known = self->values.size && (self->at + n) * sizeof *vr <= self->wanted.size &&
                      memcmp(self->wanted.data + self->at * sizeof *vr, vr, bytes) == 0;
    if (self->read.size + bytes < MAX_BYTES) put(&self->read, vr, bytes);
    if (known) {
        memcpy(values, self->values.data + self->at * self->width, n * self->width);
        self->at += n;
    }
    return known;
}

int watch_begin_step(Watch *self) {
    watch_clear(self);
    const int same = self->read.size == self->wanted.size &&
                     (self->read.size == 0 || memcmp(self->read.data, self->wanted.data, self->read.size) == 0);
    if (!same) {
        const Buffer other = self->wanted;
        self->wanted = self->read;
        self->read = other;
    }
    buffer_clear(&self->read);
    return !same;
}

int watch_fill(Watch *self, Buffer *reply) {
    const size_t bytes = self->wanted.size / sizeof(fmi2ValueReference) * self->width;
    const void *values = take(reply, bytes);
    if (!values) return 0;
    put(&self->values, values, bytes);
    return 1;
}

void watch_clear(Watch *self) {
    self->at = 0;
    buffer_clear(&self->values);
}

void watch_release(Watch *self) {
    buffer_release(&self->wanted);
    buffer_release(&self->read);
    buffer_release(&self->values);
}
