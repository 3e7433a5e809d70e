/* The host's side of fmi2Instantiate for WebAssembly, where the host cannot pass functions of its own: the callbacks,
 * and a log that collects the messages for the host to read. A host makes one for each instance, and frees it after
 * the instance. The module has no imports and no state of its own. */
#include "fmi2.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LOG = 1 << 20 }; /* in bytes; messages that do not fit are dropped */

/* A message is its status as one byte, then its category and its text, each with a zero at the end. */
typedef struct {
    fmi2CallbackFunctions callbacks; /* the first member: a host passes this address to fmi2Instantiate */
    size_t length, capacity;
    char *messages;
} Host;

FMI2_EXPORT Host *mechfmu_host_new(void);
FMI2_EXPORT void mechfmu_host_free(Host *self);
FMI2_EXPORT const char *mechfmu_host_messages(const Host *self);
FMI2_EXPORT size_t mechfmu_host_length(const Host *self);
FMI2_EXPORT void mechfmu_host_clear(Host *self);

/* Returns whether there is room for so many more bytes. */
static int reserve(Host *self, size_t more) {
    size_t capacity = self->capacity ? self->capacity : 1024;
    if (more > LONGEST_LOG - self->length) return 0;
    while (capacity < self->length + more) capacity *= 2;
    if (capacity == self->capacity) return 1;
    char *grown = realloc(self->messages, capacity);
    if (!grown) return 0;
    self->messages = grown;
    self->capacity = capacity;
    return 1;
}

static void log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String message, ...) {
    Host *self = environment;
    (void)name;
    if (!category) category = "";
    va_list arguments, again;
    va_start(arguments, message);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, message, arguments);
    const size_t before = strlen(category) + 2;
    if (length >= 0 && reserve(self, before + (size_t)length + 1)) {
        char *place = self->messages + self->length;
        place[0] = (char)status;
        strcpy(place + 1, category);
        vsnprintf(place + before, (size_t)length + 1, message, again);
        self->length += before + (size_t)length + 1;
    }
    va_end(again);
    va_end(arguments);
}

static void *allocate(size_t count, size_t size) { return calloc(count, size); }

static void release(void *block) { free(block); }

Host *mechfmu_host_new(void) {
    Host *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    const fmi2CallbackFunctions callbacks = {log_message, allocate, release, NULL, self};
    memcpy(&self->callbacks, &callbacks, sizeof callbacks);
    return self;
}

void mechfmu_host_free(Host *self) {
    if (self) free(self->messages);
    free(self);
}

const char *mechfmu_host_messages(const Host *self) { return self->messages; }

size_t mechfmu_host_length(const Host *self) { return self->length; }

void mechfmu_host_clear(Host *self) { self->length = 0; }
