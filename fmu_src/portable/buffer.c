#include "buffer.h"

#include <stdlib.h>
#include <string.h>

enum { INITIAL_CAPACITY = 4096, LARGEST_KEPT = 1 << 20 };

int buffer_reserve(Buffer *self, size_t capacity) {
    if (capacity <= self->capacity) return 1;
    size_t larger = self->capacity ? self->capacity : INITIAL_CAPACITY;
    while (larger < capacity) larger = larger > capacity / 2 ? capacity : 2 * larger;
    char *data = realloc(self->data, larger);
    if (!data) return 0;
    self->data = data;
    self->capacity = larger;
    return 1;
}

void buffer_clear(Buffer *self) {
    if (self->capacity > LARGEST_KEPT) buffer_release(self);
    self->size = self->at = 0;
    self->broken = 0;
}

void buffer_release(Buffer *self) {
    free(self->data);
    memset(self, 0, sizeof *self);
}

void put(Buffer *self, const void *bytes, size_t n) {
    if (self->broken || !buffer_reserve(self, self->size + n)) {
        self->broken = 1;
        return;
    }
    if (n) memcpy(self->data + self->size, bytes, n);
    self->size += n;
}

void put_u32(Buffer *self, unsigned value) { put(self, &value, sizeof value); }
void put_u64(Buffer *self, unsigned long long value) { put(self, &value, sizeof value); }
void put_real(Buffer *self, double value) { put(self, &value, sizeof value); }

void put_text(Buffer *self, const char *bytes, size_t n) {
    put_u64(self, n);
    put(self, bytes, n);
    put(self, "", 1);
}

const void *take(Buffer *self, size_t n) {
    if (self->broken || n > self->size - self->at) {
        self->broken = 1;
        return NULL;
    }
    const char *here = self->data + self->at;
    self->at += n;
    return here;
}

unsigned take_u32(Buffer *self) {
    unsigned value = 0;
    const void *here = take(self, sizeof value);
    if (here) memcpy(&value, here, sizeof value);
    return value;
}

double take_real(Buffer *self) {
    double value = 0;
    const void *here = take(self, sizeof value);
    if (here) memcpy(&value, here, sizeof value);
    return value;
}

const char *take_text(Buffer *self, size_t *n) {
    unsigned long long size = 0;
    const void *here = take(self, sizeof size);
    if (here) memcpy(&size, here, sizeof size);
    *n = (size_t)size;
    const char *text = take(self, *n);
    return take(self, 1) ? text : NULL;
}
